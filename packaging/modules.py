"""Find the modules of ``autograder/`` that a student installs: everything that the student's commands import."""

from __future__ import annotations

import ast
from pathlib import Path

__all__ = ["instructor_files", "student_files"]

# The starting points: ``check`` and ``hint`` in a notebook, and the commands of a student's terminal.
DOORS = (
    "autograder",
    "autograder.__main__",
    "autograder.student.notebook_check",
    "autograder.cli",
    "autograder.cli.student",
    "autograder.extras.watch",
)
# Files that no import names: the code inside the sandbox, which is run by path, the probes, the parts of a card and an interactive
# picture that are not Python, and the marker of typed code.
WHOLE = (
    "autograder/sandbox/guest",
    "autograder/sandbox/script_probe.txt",
    "autograder/checking/count_probe.txt",
    "autograder/checking/growth_probe.txt",
    "autograder/checking/print_probe.txt",
    "autograder/checking/take_probe.txt",
    "autograder/checking/trial_probe.txt",
    "autograder/judging/again_probe.txt",
    "autograder/judging/items_probe.txt",
    "autograder/pages/card.css",
    "autograder/student/interactive.css",
    "autograder/student/startup.txt",
    "autograder/student/interactive.js",
    "autograder/py.typed",
)


def student_files(tree: Path) -> list[str]:
    """Return the files of the student's distribution, sorted, as paths relative to ``tree``, which contains ``autograder/``."""
    files = {_relative(tree, module) for module in _reached(tree)}
    for name in WHOLE:
        place = tree / name
        inside = place.rglob("*") if place.is_dir() else [place]
        files |= {path.relative_to(tree).as_posix() for path in inside if _is_source(path)}
    return sorted(files)


def instructor_files(tree: Path) -> list[str]:
    """Return the files of the instructor's distribution, which are all others."""
    every = {p.relative_to(tree).as_posix() for p in (tree / "autograder").rglob("*") if _is_source(p)}
    return sorted(every - set(student_files(tree)))


def _reached(tree: Path) -> set[str]:
    waiting, seen = list(DOORS), set()
    while waiting:
        module = waiting.pop()
        if module in seen or not (tree / _relative(tree, module)).is_file():
            continue  # a name inside a module, such as ``autograder.cli.main``
        seen.add(module)
        waiting += [module.rpartition(".")[0], *_imported(tree, module)]
    return seen


def _imported(tree: Path, module: str) -> list[str]:
    """Return the names that a module imports from ``autograder``, at its top or inside functions."""
    found: list[str] = []
    path = tree / _relative(tree, module)
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    nodes: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue  # this import is only for type checkers
        nodes.extend(ast.iter_child_nodes(node))
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            name = ".".join([*base, *([node.module] if node.module else [])])
            found += [name, *(f"{name}.{alias.name}" for alias in node.names)]
    return [name for name in found if name.partition(".")[0] == "autograder"]


def _relative(tree: Path, module: str) -> str:
    inner = module.replace(".", "/")
    return f"{inner}/__init__.py" if (tree / inner).is_dir() else f"{inner}.py"


def _is_source(path: Path) -> bool:
    return path.is_file() and "__pycache__" not in path.parts and "material" not in path.parts

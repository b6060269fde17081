"""Record which checks a release has validated, and find the checks that changed since then.

Check files are parsed but not run. So a preview of an unchanged class takes less time than the import of Hypothesis
alone would take.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from autograder.base.errors import CourseError
from autograder.base.files import write_atomically
from autograder.course.course import Course, failure

__all__ = ["mark_validated", "unvalidated_checks"]

Defined = dict[str, list[ast.AST]]


def mark_validated(course: Course, chapter: str) -> None:
    """Record the current checks of ``chapter`` as validated."""
    found = {name: fingerprint for name, _exercise, _title, fingerprint in _fingerprints(course, chapter)}
    write_atomically(course.state("proven", f"{chapter}.json"), (json.dumps(found, indent=1) + "\n").encode())


def unvalidated_checks(course: Course, chapter: str) -> list[tuple[str, str]] | None:
    """Return the exercise and title of each check that is new or changed since the last release.

    Return None if no release is known. Raises ``CourseError`` if the check file cannot be read.
    """
    try:
        proven = json.loads(course.state("proven", f"{chapter}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    known = proven if isinstance(proven, dict) else {}
    now = _fingerprints(course, chapter)
    return [(exercise, title) for name, exercise, title, fingerprint in now if known.get(name) != fingerprint]


def _fingerprints(course: Course, chapter: str) -> list[tuple[str, str, str, str]]:
    """Return the name, exercise and title of each check, and a hash of the code it depends on.

    The hash covers the check's code, its exercise, the reference, and all course code that these mention. Layout and
    comments do not matter.
    """
    path = course.checks(chapter)
    body = _parsed(path).body
    known = _named(body)
    helpers = sorted(other for other in path.parent.glob("*.py") if not other.name.startswith("test_"))
    for other in [*helpers, course.root / "solutions" / f"{chapter}.py"]:
        for name, nodes in _named(_parsed(other).body).items():
            known.setdefault(name, []).extend(nodes)
    found = []
    for name, exercise, title, nodes in _checks(body, known):
        text = "\n".join(_with_mentions([*nodes, *known.get(exercise, [])], known))
        found.append((f"{exercise}.{name}", exercise, title, hashlib.sha256(text.encode()).hexdigest()))
    return found


def _checks(body: Iterable[ast.AST], known: Defined) -> Iterator[tuple[str, str, str, list[ast.AST]]]:
    """Yield the name, exercise, title and code of each check in a file."""
    for node in body:
        if isinstance(node, ast.ClassDef) and (exercise := _exercise_of(node)):
            around: list[ast.AST] = [*node.decorator_list, *node.bases]
            bases = [part for base in node.bases for part in known.get(getattr(base, "id", ""), [])]
            members = _named(part for cls in [*bases, node] if isinstance(cls, ast.ClassDef) for part in cls.body)
            for name, nodes in members.items():
                if name.startswith("test_"):
                    yield name, exercise, _title(name, nodes[-1]), [*around, *nodes]
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            call = node.value.func  # a quiz: TestQuiz = quiz_ch1.checks()
            if isinstance(call, ast.Attribute) and call.attr == "checks":
                yield "checks", getattr(call.value, "attr", getattr(call.value, "id", "quiz")), "its questions", [node]


def _exercise_of(cls: ast.ClassDef) -> str:
    """Return the exercise whose checks a class contains, or ""."""
    for call in cls.decorator_list:
        if isinstance(call, ast.Call) and getattr(call.func, "id", getattr(call.func, "attr", "")) == "exercise":
            name = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "name"), None)
            return str(name.value) if isinstance(name, ast.Constant) else cls.name
    return ""


def _title(name: str, node: ast.AST) -> str:
    """Return the title of a check, from the first paragraph of its docstring or else from its name."""
    docstring = ast.get_docstring(node) if isinstance(node, ast.FunctionDef) else None
    words = inspect.cleandoc(docstring).split("\n\n")[0] if docstring else name.removeprefix("test_").replace("_", " ")
    return " ".join(words.split())


def _parsed(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_bytes(), str(path)) if path.is_file() else ast.Module([], [])
    except (SyntaxError, ValueError) as error:
        raise CourseError(f"{path} cannot be read: {failure(error, path)}") from error


def _named(body: Iterable[ast.AST]) -> Defined:
    found: Defined = {}
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names = [node.name]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
        else:
            continue
        for name in names:
            found.setdefault(name, []).append(node)
    return found


def _with_mentions(nodes: Iterable[ast.AST], known: Mapping[str, list[ast.AST]]) -> list[str]:
    """Return the nodes, and every definition that they mention directly or indirectly, as text."""
    seen: dict[int, str] = {}
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen[id(node)] = ast.dump(node)
        for part in ast.walk(node):
            name = part.id if isinstance(part, ast.Name) else part.attr if isinstance(part, ast.Attribute) else ""
            waiting += known.get(name, [])
    return sorted(seen.values())

"""Test the repository: its files, the imports between packages, and the state of a new clone."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from autograder.cli.app import app
from tests.support import ROOT
from tests.support.commands import python

PACKAGE = ROOT / "autograder"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / ".github" / "SECURITY.md", *(ROOT / "docs").glob("*.md")]


def _tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode != 0:
        pytest.skip("this is no git checkout, so nothing tells which files belong to it")
    return [ROOT / name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


def _texts() -> list[tuple[Path, str]]:
    texts = []
    for path in _tracked():
        data = path.read_bytes()
        if b"\0" not in data:
            texts.append((path.relative_to(ROOT), data.decode("utf-8")))
    return texts


# --- its contents --------------------------------------------------------------------------------------------------


def test_the_top_level_is_what_a_newcomer_was_told():
    """Only the expected folders are at the top level."""
    folders = {path.relative_to(ROOT).parts[0] for path in _tracked() if len(path.relative_to(ROOT).parts) > 1}
    shown = {name for name in folders if not name.startswith(".")}
    assert shown <= {"autograder", "benchmarks", "docs", "examples", "packaging", "solutions", "source", "tests"}
    assert {"autograder", "docs", "solutions", "tests"} <= shown


def test_nothing_made_by_running_is_committed():
    """No caches, builds, environments, gradebooks, graded work or secrets are committed."""
    made = re.compile(
        r"(^|/)(__pycache__|\.venv|\.ipynb_checkpoints|\.mypy_cache|\.ruff_cache|\.pytest_cache|\.hypothesis|[^/]*\.egg-info)/"
        r"|^(release|submitted|autograded|feedback|build|dist|demo|\.autograder)/"
        r"|\.(pyc|pyo|db|sqlite3?|log)$|(^|/)\.course_secret$|(^|/)\.env$"
    )
    assert [str(p) for p, _ in _texts() if made.search(p.as_posix())] == []


def test_notebooks_carry_no_outputs():
    """Source notebooks have no outputs or execution counts, which are noise in a diff and may reveal answers."""
    assert python(".ci/notebook_outputs.py", status=0).stdout == ""


def test_an_interpreter_that_is_asked_for_is_not_replaced_by_another(tmp_path):
    """If PYTHON names no supported interpreter, the setup ends with a message and creates nothing."""
    asked = {**os.environ, "PYTHON": "/no/such/python3.12"}
    command = ["sh", ".ci/venv", str(tmp_path / "venv")]
    run = subprocess.run(command, cwd=ROOT, env=asked, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr == "/no/such/python3.12 is not there or is not Python 3.11, 3.12 or 3.13.\n"
    assert not (tmp_path / "venv").exists()


def test_the_output_check_finds_outputs(tmp_path):
    """The check for outputs fails, and names the notebook and the cell that has outputs."""
    cell = {"cell_type": "code", "source": "1 + 1", "outputs": [{"output_type": "stream"}], "execution_count": 3}
    notebook = tmp_path / "n.ipynb"
    notebook.write_text(json.dumps({"cells": [{"cell_type": "markdown", "source": "hello"}, cell]}))
    told = python(".ci/notebook_outputs.py", notebook, status=1).stdout
    assert f"{notebook}: cell 2 ('1 + 1') carries outputs" in told


def test_no_machine_is_named():
    """No file names a folder of a developer's machine or a private package host, so a clone works anywhere."""
    machine = re.compile(r"/(home|Users)/\w+/|/root/|\bC:\\Users|(index-url|find-links|registry)\s*[=:]\s*\S*//")
    # These tests need such paths: folders that must not be readable, and mount points in the sandbox.
    allowed = ("tests/framework/test_repo.py", "tests/framework/security/")
    found = [
        f"{path}:{number}: {line.strip()[:100]}"
        for path, text in _texts()
        if not path.as_posix().startswith(allowed)
        for number, line in enumerate(text.splitlines(), start=1)
        if machine.search(line)
    ]
    assert found == []


def test_scripts_can_be_run():
    """The scripts in .ci have valid shell syntax, so that errors are found before CI runs them."""
    for script, shell in (("run", "bash"), ("venv", "sh"), ("system", "sh"), ("try-wheel", "sh"), ("try-core", "sh")):
        run = subprocess.run([shell, "-n", ROOT / ".ci" / script], capture_output=True, text=True, check=False)
        assert run.stderr == ""


def test_no_two_classes_share_a_name():
    """Class names are unique in the framework, except for classes that replace IPython's."""
    names = Counter(
        node.name
        for path in PACKAGE.rglob("*.py")
        if "stubs" not in path.parts
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    )
    assert {name for name, count in names.items() if count > 1} == set()


# --- what imports what ---------------------------------------------------------------------------------------------


def _imports(path: Path, *, in_functions: bool = True, for_types: bool = True) -> set[str]:
    """Return the modules that a file imports, optionally without those imported in functions or for type checkers only."""
    found = set()
    nodes = [ast.parse(path.read_text(encoding="utf-8"))]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not in_functions:
            continue
        if _is_type_checking(node) and not for_types:
            continue
        nodes.extend(ast.iter_child_nodes(node))
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parts = path.relative_to(ROOT).with_suffix("").parts
            base = ".".join(parts[: len(parts) - node.level]) if node.level else ""
            module = ".".join(part for part in (base, node.module or "") if part)
            folder = ROOT.joinpath(*module.split("."))
            names = [alias.name for alias in node.names]
            inner = [name for name in names if (folder / name).is_dir() or (folder / f"{name}.py").is_file()]
            found |= {f"{module}.{name}" for name in inner} or {module}
    return found


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _modules() -> dict[str, Path]:
    """Return the framework's files by module name, without the stand-ins that a notebook in the sandbox imports."""
    named = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if "stubs" not in path.parts:
            named[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return named


@cache
def _dependencies() -> dict[str, set[str]]:
    """Return, for each module of the framework, which of the framework's modules it imports. ``import autograder`` alone is no dependency."""
    modules = _modules()
    found = {}
    for module, path in modules.items():
        imported = {name if name in modules else name.rpartition(".")[0] for name in _imports(path)}
        found[module] = (imported & modules.keys()) - {module, "autograder"}
    return found


def _column() -> list[str]:
    """Return the packages in docs/architecture.md, from the top of the table to its bottom."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = text.split("\n| Package |")[1].split("\n\n")[0]
    return re.findall(r"^\| `(\w+)(?:/|\.py)` \|", table, re.MULTILINE)


def _package_of(module: str) -> str:
    """Return the package directly under autograder/ that a module is in: ``sandbox`` for ``autograder.sandbox.guest.wire``."""
    return module.split(".")[1]


def _lines(path: Path) -> int:
    return path.read_text(encoding="utf-8").count("\n")


# `import autograder` and `python -m autograder`: they only start what a user asks for, so they may import from any package.
ENTRIES = {"autograder", "autograder.__main__"}


def test_the_column_of_packages_is_the_tree():
    """docs/architecture.md lists each package and module directly under autograder/, and there are at most 20 of them."""
    found = sorted({_package_of(module) for module in _modules().keys() - ENTRIES})
    assert sorted(_column()) == found
    assert len(found) <= 20


def test_no_import_climbs():
    """A package imports only from itself and from packages below it in docs/architecture.md, even in functions."""
    column = _column()
    climbing = [
        f"{module} imports {imported}"
        for module, dependencies in _dependencies().items()
        if module not in ENTRIES
        for imported in sorted(dependencies - ENTRIES)
        if column.index(_package_of(imported)) < column.index(_package_of(module))
    ]
    assert climbing == []


def test_no_imports_form_a_circle():
    """No two modules import each other, directly or through others, not even in functions or for annotations."""
    try:
        TopologicalSorter(_dependencies()).prepare()
    except CycleError as error:
        pytest.fail(f"A circle of imports: {', which is imported by '.join(error.args[1])}")


def test_nothing_needs_the_extras():
    """No module outside extras/ imports from it."""
    needing = [
        f"{module} imports {imported}"
        for module, dependencies in _dependencies().items()
        for imported in sorted(dependencies)
        if imported.startswith("autograder.extras") and not module.startswith("autograder.extras")
    ]
    assert needing == []


def test_the_framework_stays_small():
    """There are at most 230 modules, fewer than 41,000 lines outside extras/, and no module has more than 650 lines."""
    modules = _modules()
    assert len([path for path in modules.values() if path.stem != "__init__"]) <= 230
    core = [path for module, path in modules.items() if not module.startswith("autograder.extras")]
    assert sum(map(_lines, core)) < 41_000
    assert {module: _lines(path) for module, path in modules.items() if _lines(path) > 650} == {}


def test_a_module_is_found_by_its_name():
    """No more than two modules have the same base name."""
    names = Counter(path.stem for path in _modules().values() if path.stem != "__init__")
    assert {name: count for name, count in names.items() if count > 2} == {}


def test_few_files_ask_for_tables():
    """At most eight modules check whether a value is a pandas object. All other modules leave this to the values package."""
    asking = [m for m, path in _modules().items() if re.search("is_pandas|kind_of_table", path.read_text("utf-8"))]
    assert len(asking) <= 8, asking


def test_pages_name_modules_that_exist():
    """Each file or folder of the framework that a page names in backticks exists, with or without `autograder/` in front."""
    path = re.compile(rf"`(?:autograder/([\w/.]+)|((?:{'|'.join(_column())})/[\w/.]*))`")
    named = {
        (page.name, whole or inside)
        for page in PAGES
        for whole, inside in path.findall(page.read_text(encoding="utf-8"))
    }
    assert [f"{page}: {name}" for page, name in sorted(named) if not (PACKAGE / name).exists()] == []


def test_a_student_needs_numpy_and_the_standard_library_only():
    """check() and hint() import only NumPy and the standard library, directly and indirectly."""
    modules = _modules()
    todo, seen, foreign = ["autograder.student.notebook_check", "autograder.student.examples"], set(), []
    while todo:
        module = todo.pop()
        if module in seen:
            continue
        seen.add(module)
        todo += [parent for i in range(1, module.count(".") + 1) if (parent := module.rsplit(".", i)[0]) in modules]
        for imported in _imports(modules[module], in_functions=False, for_types=False):
            top = imported.partition(".")[0]
            if top == "autograder":
                known = imported if imported in modules else imported.rpartition(".")[0]
                todo += [known] if known in modules else []
            elif top not in sys.stdlib_module_names and top != "numpy":
                foreign.append(f"{module} imports {imported}")
    assert foreign == []


@pytest.mark.parametrize(
    ("code", "never"),
    [
        ("import autograder, autograder.cli", {"numpy", "rich", "click", "traitlets", "nbgrader"}),
        (
            "from autograder import check, hint",
            {"rich", "click", "nbgrader", "nbformat", "pytest", "traitlets", "IPython"},
        ),
        ("import autograder.cli.app", {"nbgrader", "pytest", "sqlalchemy", "nbformat", "matplotlib"}),
    ],
)
def test_imports_are_light(code, never):
    """Importing one entry point of the framework does not load modules that only another entry point needs."""
    asked = f"import sys; {code}; print(*sorted({never!r} & set(sys.modules)))"
    assert python("-c", asked, status=0).stdout.strip() == ""


# --- what a fresh clone finds --------------------------------------------------------------------------------------


def test_the_readme_names_commands_that_exist():
    """Every `make …` and `autograder …` that README, CONTRIBUTING or docs tell people to type exists."""
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    verbs = set(app.list_commands())
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        code = "\n".join(re.findall(r"```.*?```|`[^`\n]+`", text, re.DOTALL))
        assert set(re.findall(r"(?:^|`)\s*make (\w+)", code, re.MULTILINE)) <= targets, page.name
        assert set(re.findall(r"(?:^|`)\s*autograder (\w+)", code, re.MULTILINE)) <= verbs, page.name


def test_links_between_pages_lead_somewhere():
    """Every relative link and picture in README, CONTRIBUTING and docs points at a file that is there."""
    links = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
    found = [(page, target) for page in PAGES for target in links.findall(page.read_text(encoding="utf-8"))]
    local = [(page, target) for page, target in found if not re.match(r"[a-z]+:", target)]
    assert [f"{page.name}: {target}" for page, target in local if not (page.parent / target).exists()] == []


def test_the_version_is_the_same_everywhere():
    """The package, its metadata and the command line agree on the version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    init = (PACKAGE / "__init__.py").read_text(encoding="utf-8")
    assert f'__version__ = "{project["version"]}"' in init


# --- its language -------------------------------------------------------------------------------------------------

# Words that often occur in hard sentences, such as "where" instead of "if". Four in five matches are in such sentences.
_MARKERS = re.compile(
    r";|\b[Ww]here (?:it|they|there|that|no|none|this|nothing|a|the|one)\b|\b(?:told|stands?|stood|beside|anew)\b"
    r"|\b(?:one that|[Ww]hoever|those that|that which)\b"
)
_CODE = re.compile(r"```.*?```|`[^`\n]*`|\$[^$]*\$|<[^>]*>|\]\([^)]*\)", re.DOTALL)
_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def _sentences(text: str) -> list[str]:
    """Return the sentences of at least four words in prose. Code, formulas, links and tables are left out."""
    parts = re.split(r"(?<=[.!?:])\s+|\n\s*\n|\n(?=[-*|#\d])", _CODE.sub("X", text))
    return [" ".join(part.split()) for part in parts if len(part.split()) >= 4 and not part.startswith("|")]


def _docstrings(folder: str) -> list[str]:
    trees = [ast.parse(path.read_text("utf-8")) for path in sorted((ROOT / folder).rglob("*.py"))]
    nodes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, _DOCUMENTED)]
    return [text for node in nodes if (text := ast.get_docstring(node))]


def _messages() -> list[str]:
    """Return the strings of the framework that are not docstrings. X replaces each expression in an f-string."""
    texts = []
    for path in PACKAGE.rglob("*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
        skipped = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        skipped |= {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in nodes:
            if isinstance(node, ast.JoinedStr):
                texts.append(
                    "".join(
                        getattr(part, "value", "X") if isinstance(part, ast.Constant) else "X" for part in node.values
                    )
                )
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
                texts.append(node.value)
    return texts


def _notebook_prose() -> list[str]:
    notebooks = [json.loads(path.read_text("utf-8")) for path in sorted((ROOT / "source").rglob("*.ipynb"))]
    cells = [cell for notebook in notebooks for cell in notebook["cells"]]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param(lambda: [page.read_text("utf-8") for page in PAGES if page.name != "changelog.md"], id="pages"),
        pytest.param(_messages, id="messages"),
        pytest.param(lambda: _docstrings("autograder"), id="docstrings"),
        pytest.param(lambda: _docstrings("solutions/misconceptions"), id="misconceptions"),
        pytest.param(lambda: _docstrings("tests/chapters"), id="hints"),
        pytest.param(_notebook_prose, id="notebooks"),
    ],
)
def test_sentences_are_plain(texts):
    """At most 5 % of the sentences in each kind of text contain a marker of hard English."""
    sentences = [sentence for text in texts() for sentence in _sentences(text)]
    marked = [sentence for sentence in sentences if _MARKERS.search(sentence)]
    assert sentences
    assert len(marked) <= 0.05 * len(sentences), "\n".join([f"{len(marked)} of {len(sentences)} sentences:", *marked])

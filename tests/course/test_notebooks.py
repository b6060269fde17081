"""Tests of every chapter's source notebook: its format, its cells, and its agreement with solutions and checks."""

import ast
import inspect
import itertools
import json
import re
import shutil
import textwrap
from functools import cache

import nbformat
import pytest
from nbclient import NotebookClient

from autograder.authoring.release.inspection import inspect_chapter
from autograder.course.course import load_course
from autograder.course.notebook import files_beside, insert_code, read_notebook
from autograder.judging.loader import load_checks
from autograder.misconception import alternatives_in, misconceptions_in
from autograder.student.examples.record import recorded
from tests.support import ROOT

COURSE = load_course(ROOT)
CHAPTERS = COURSE.finished_chapters()

pytestmark = pytest.mark.parametrize("chapter", CHAPTERS)


@cache
def raw(chapter):
    """Return the notebook's JSON as stored."""
    return json.loads(COURSE.source(chapter).read_text(encoding="utf-8"))


@cache
def checks_of(chapter):
    """Return the chapter's checks, as the grader loads them."""
    return load_checks(COURSE, chapter)


def cells(chapter, kind=None):
    """Return the notebook's cells, or those of one kind."""
    return [cell for cell in raw(chapter)["cells"] if kind in {None, cell["cell_type"]}]


def source(cell):
    """Return a cell's text."""
    return "".join(cell["source"])


def role(cell):
    """Return ``"stub"``, ``"check"`` or ``""``, according to nbgrader's metadata."""
    data = cell["metadata"].get("nbgrader", {})
    return "stub" if data.get("solution") else "check" if data.get("grade") else ""


def grade_id(cell):
    """Return the cell's grade id."""
    return cell["metadata"]["nbgrader"]["grade_id"]


def solved(chapter):
    """Return the notebook with the reference solutions in its stubs, and with an answer to every prediction."""
    code = {}
    for name, spec in checks_of(chapter).specs.items():
        reference = checks_of(chapter).references[name]
        if spec.answers:
            code[name] = "\n".join(f"{variable} = {answer!r}" for variable, answer in reference().items())
        else:
            code[name] = inspect.getsource(reference)
    notebook = insert_code(raw(chapter), code)
    for cell in notebook["cells"]:
        if cell["id"].startswith("guess-"):
            cell["source"] = source(cell).replace("= None", "= 0.5")
    return notebook


def test_the_format_is_4_5_and_valid(chapter):
    """A notebook is valid nbformat 4.5, in the layout in which Jupyter saves it."""
    text = COURSE.source(chapter).read_text(encoding="utf-8")
    notebook = nbformat.reads(text, as_version=nbformat.NO_CONVERT)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert text == nbformat.writes(notebook) + "\n", "saved in another layout: diffs would be noise"


def test_cell_ids_are_unique_and_readable(chapter):
    """Every cell has an id that an author chose, so that it stays the same from one version to the next."""
    ids = [cell["id"] for cell in cells(chapter)]
    assert len(set(ids)) == len(ids)
    for name in ids:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name), name
        assert not re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f-]+)?", name), f"{name} looks made by a machine"


def test_nothing_was_run(chapter):
    """No cell has an output or an execution count, and the metadata does not describe the author's machine."""
    for cell in cells(chapter, "code"):
        assert cell["outputs"] == []
        assert cell["execution_count"] is None
    assert raw(chapter)["metadata"].keys() == {"autograder", "kernelspec", "language_info"}
    assert raw(chapter)["metadata"]["language_info"] == {"name": "python"}


def test_the_notebook_names_its_chapter(chapter):
    """The metadata names the chapter, so a renamed copy of the notebook is still recognized."""
    assert raw(chapter)["metadata"]["autograder"]["chapter"] == chapter


def test_only_stubs_and_checks_are_known_to_nbgrader(chapter):
    """Stubs are editable and have no points, checks are locked and have points, and grade ids are unique."""
    graded = [cell for cell in cells(chapter) if "nbgrader" in cell["metadata"]]
    ids = [grade_id(cell) for cell in graded]
    assert len(set(ids)) == len(ids)
    for cell in graded:
        is_check = role(cell) == "check"
        expected = {"grade": is_check, "locked": is_check, "schema_version": 3, "solution": not is_check, "task": False}
        found = cell["metadata"]["nbgrader"]
        assert is_check or found.get("points") is None
        assert {key: found[key] for key in found.keys() - {"grade_id", "points"}} == expected
        assert cell["cell_type"] == "code"


def test_every_exercise_has_its_stub_and_its_check(chapter):
    """The exercises are in the order of their checks, and each stub has its check cell right below it."""
    pairs = [(cell, below) for cell, below in itertools.pairwise(cells(chapter)) if role(cell) == "stub"]
    assert [grade_id(stub) for stub, _ in pairs] == list(checks_of(chapter).specs)
    for (stub, below), spec in zip(pairs, checks_of(chapter).specs.values(), strict=True):
        assert (role(below), grade_id(below)) == ("check", f"check_{grade_id(stub)}")
        assert source(below) == (f'check("{spec.name}")' if spec.answers else f"check({spec.name})")
    assert sum(role(cell) == "check" for cell in cells(chapter)) == len(pairs)


def test_points_are_those_of_the_checks(chapter):
    """A check cell has the points of its exercise's checks, and the text above the stub gives the same points."""
    before = ""
    for cell in cells(chapter):
        if role(cell) == "stub":
            points = f"{checks_of(chapter).specs[grade_id(cell)].points:g} points"
            found = re.search(rf"★+ · \d+ minutes · {points}?\b", before)
            assert found, f"above {grade_id(cell)} there is no line like: ★ · 5 minutes · {points}"
        elif role(cell) == "check":
            spec = checks_of(chapter).specs[grade_id(cell).removeprefix("check_")]
            assert cell["metadata"]["nbgrader"]["points"] == spec.points
        before = source(cell)


def test_the_opening_lists_every_exercise(chapter):
    """The first cell is the title. It names each exercise with its points, and separates the short path from the deep one."""
    opening = cells(chapter)[0]
    assert opening["cell_type"] == "markdown"
    assert source(opening).startswith("# ")
    for name, spec in checks_of(chapter).specs.items():
        label = "quiz" if spec.answers and name.startswith("quiz") else f"`{name}`"
        row = next((line for line in source(opening).splitlines() if line.startswith("|") and label in line), None)
        assert row is not None, f"the table of exercises has no row for {label}"
        assert row.rstrip("| ").endswith(f" {spec.points:g}")
    assert "*Deep*" in source(opening)


def test_stubs_agree_with_the_references(chapter):
    """A stub has exactly the reference's signature and docstring, followed only by ``raise NotImplementedError``."""
    for cell in (cell for cell in cells(chapter, "code") if role(cell) == "stub"):
        spec = checks_of(chapter).specs[grade_id(cell)]
        tree = ast.parse(source(cell))
        if spec.answers:
            assert all(isinstance(s, ast.Assign) and s.value.value is None for s in tree.body)
            assert tuple(s.targets[0].id for s in tree.body) == spec.answers
            continue
        [stub] = tree.body
        [reference] = ast.parse(inspect.getsource(checks_of(chapter).references[spec.name])).body
        assert ast.unparse(stub.args) == ast.unparse(reference.args)
        assert ast.unparse(stub.returns) == ast.unparse(reference.returns)
        assert ast.get_docstring(stub) == ast.get_docstring(reference)
        assert len(stub.body) == 2
        assert ast.unparse(stub.body[1]) == "raise NotImplementedError"


def test_no_solution_stands_in_the_notebook(chapter):
    """No cell has a line of a right or wrong solution, and no answer of the quiz is given away."""
    checks = checks_of(chapter)
    written = [*alternatives_in(COURSE.alternatives(chapter)), *misconceptions_in(COURSE.misconceptions(chapter))]
    secret = set()
    for spec in checks.specs.values():
        if not spec.answers:
            secret |= lines_of(checks.references[spec.name], at_least=12)
    for one in written:
        secret |= {line for line in lines_of(one.function, at_least=25) if not line.startswith(("for ", "return {"))}
    texts = {cell["id"]: re.sub(r"\s+", "", source(cell)) for cell in cells(chapter)}
    for line in secret:
        for cell_id, text in texts.items():
            assert re.sub(r"\s+", "", line) not in text, f"cell {cell_id} holds a line of a solution: {line}"
    for variable in {v for spec in checks.specs.values() for v in spec.answers}:
        for cell_id, text in texts.items():
            assert not re.search(rf"\b{variable}=(?!None)", text), f"cell {cell_id} gives {variable} away"


def lines_of(function, *, at_least):
    """Return the code lines of a function without its docstring, its `def` line and the word `return`."""
    [tree] = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    body = tree.body[1:] if ast.get_docstring(tree) is not None else tree.body
    lines = "\n".join(ast.unparse(statement) for statement in body).splitlines()
    return {text for line in lines if len(text := line.strip().removeprefix("return ")) >= at_least}


def test_every_picture_is_told_in_words(chapter):
    """The text below a picture says what it shows, for a reader who cannot see it."""
    code = cells(chapter)
    assert "plt.subplots" not in source(code[-1])
    for cell, below in itertools.pairwise(code):
        if cell["cell_type"] == "code" and "plt.subplots" in source(cell):
            assert below["cell_type"] == "markdown", cell["id"]
            assert source(below).startswith("**What the picture shows.**"), cell["id"]
            assert "@requires(" in source(cell), f"{cell['id']}: a live picture would have no description"
        if cell["cell_type"] == "code" and "    interact(" in source(cell):
            assert source(below).startswith("**Move it.**"), cell["id"]


def test_the_next_cell_is_the_one_that_is_meant(chapter):
    """A text about the next cell is followed by that cell, and not by another text or by a prediction."""
    for cell, below in itertools.pairwise(cells(chapter)):
        text = source(cell)
        if cell["cell_type"] == "markdown" and "The next cell" in text and "The next cell runs only after" not in text:
            assert below["cell_type"] == "code", cell["id"]
            assert not below["id"].startswith("guess-"), cell["id"]


def test_a_prediction_is_typed_before_it_is_compared(chapter):
    """At least two pictures (in chapter 3, one picture and an exercise) wait for a prediction, which the cell right above leaves open."""
    waiting = [(above, cell) for above, cell in itertools.pairwise(cells(chapter)) if "prediction=" in source(cell)]
    assert len(waiting) >= (1 if "predictions" in checks_of(chapter).specs else 2)
    for above, cell in waiting:
        [name] = re.findall(r'prediction="(guess_\w+)"', source(cell))
        assert above["id"] == name.replace("_", "-")
        assert re.fullmatch(rf"{name} = None  # .+", source(above)), above["id"]
        [function] = [
            node for node in ast.parse(source(cell)).body if isinstance(node, ast.FunctionDef) and node.decorator_list
        ]
        assert isinstance(function.body[-1], ast.Return), f"{cell['id']} returns nothing to compare with"


def test_hints_and_messages_hold_no_marks_that_a_card_would_show_raw(chapter):
    """Hints and messages contain no stars, formulas or links, because a card renders only backticks."""
    raw_marks = re.compile(r"(?<![\w*(])\*{1,2}[^\s*][^*]*\*|\$[^$]+\$|\]\(")
    for name, spec in checks_of(chapter).specs.items():
        for text in (*spec.hints, *(wrong.message for wrong in checks_of(chapter).misconceptions.get(name, []))):
            found = raw_marks.search(re.sub(r"`[^`\n]+`", "", text))
            assert not found, f"{name}: {found[0]} in: {text}"


@pytest.mark.slow
def test_the_solved_notebook_runs_from_top_to_bottom(chapter, tmp_path):
    """With the reference solutions in its stubs, every cell runs, and every check cell passes."""
    for cell in run(solved(chapter), chapter, tmp_path):
        errors = [o for o in cell.outputs if o.output_type == "error"]
        assert not errors, f"{cell.id}: {errors}"
        assert "Nothing to see" not in json.dumps(cell.outputs), cell.id
        if (
            ("plt.subplots" in cell.source or "    interact(" in cell.source)
            and "def " in cell.source
            and not role(cell)
        ):
            assert any("image/png" in o.get("data", {}) for o in cell.outputs), f"{cell.id} draws nothing"


@pytest.mark.slow
def test_the_blank_notebook_runs_but_for_its_checks(chapter, tmp_path):
    """In the released notebook, only the check cells raise errors. Each error says in one line that the exercise has not been attempted yet."""
    for cell in run(raw(chapter), chapter, tmp_path):
        errors = [o for o in cell.outputs if o.output_type == "error"]
        if role(cell) == "check":
            assert [o.ename for o in errors] == ["CheckFailed"], cell.id
            assert "has not been attempted yet" in errors[0].evalue
        else:
            assert not errors, f"{cell.id}: {errors}"


def run(data, chapter, folder):
    """Return the code cells of a notebook after a real kernel ran it in a folder with the chapter's examples."""
    (folder / "examples.json").write_text(json.dumps(recorded(checks_of(chapter))), encoding="utf-8")
    for path in files_beside(COURSE.source(chapter)):
        shutil.copy(path, folder)
    notebook = nbformat.reads(json.dumps(data), as_version=4)
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=120, kernel_name="python3", allow_errors=True, resources=resources).execute()
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


@pytest.mark.slow
def test_release_finds_no_problem(chapter):
    """The files have no problem, the solved notebook earns full marks in the sandbox, and every picture is drawn."""
    assert inspect_chapter(COURSE, chapter).with_trial_run() == ()


def test_every_cell_that_only_draws_is_known_as_a_picture(chapter):
    """No other cell mentions a name that a picture cell defines, so grading may skip the picture cell."""
    notebook = read_notebook(COURSE.source(chapter))
    pictures = notebook.pictures()
    for cell in notebook.cells:
        if cell.kind == "code" and ("picture" in cell.tags or cell.source.startswith("@requires(")):
            assert cell.index in pictures, f"cell {cell.index} of {chapter}"

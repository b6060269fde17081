"""Run and audit the exercises on the pages for authors."""

import ast
import importlib
import json
import re
import sys

import pytest

from autograder.authoring.audit import audit
from autograder.checking import __all__ as words
from autograder.course.course import load_course
from autograder.judging.loader import FIXTURES
from tests.support import MINI_COURSE, ROOT

PAGES = [*sorted((ROOT / "docs").glob("author*.md")), ROOT / "docs" / "course-map.md"]
PAGE = "\n".join(path.read_text(encoding="utf-8") for path in PAGES)
CHAPTER = "ch1_weights"
SNIPPETS = dict(re.findall(r"^```python\n# ([^\n]*)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))


def cell(name, source, **kind):
    """Return a cell with the grade id ``name``."""
    nbgrader = {**dict.fromkeys(("grade", "locked", "solution", "task"), False), **kind}
    return {
        "cell_type": "code", "id": name.replace("_", "-"), "execution_count": None, "outputs": [], "source": source,
        "metadata": {"nbgrader": {"grade_id": name, "schema_version": 3, **nbgrader}},
    }  # fmt: skip


@pytest.fixture
def course(tmp_path, monkeypatch):
    """Return the course that the pages' snippets define."""
    stub = next(path for path in SNIPPETS if path.endswith(", cell softmax"))
    for path, text in SNIPPETS.items():
        if path.endswith(".py"):
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text, encoding="utf-8")
    cells = [
        cell("imports", "import numpy as np\nfrom autograder import check", locked=True),
        cell("softmax", SNIPPETS[stub], solution=True),
        cell("check_softmax", "check(softmax)", grade=True, locked=True, points=4),
        cell("quiz_ch1", "q1 = None\nq2 = None", solution=True),
        cell("check_quiz_ch1", 'check("quiz_ch1")', grade=True, locked=True, points=1),
    ]
    notebook = tmp_path / stub.partition(",")[0]
    notebook.parent.mkdir(parents=True)
    notebook.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    config = (MINI_COURSE / "course_config.py").read_text().replace("ch1_units", CHAPTER)
    (tmp_path / "course_config.py").write_text(config)
    monkeypatch.chdir(tmp_path)
    return load_course(tmp_path)


def test_the_exercise_of_the_page_is_whole(course):
    """Right solutions earn full marks, and wrong solutions lose marks and are identified, including wrong quiz answers."""
    [found] = audit(course, [CHAPTER], mutants=False)
    softmax, quiz = found.exercises
    for exercise in (softmax, quiz):
        assert (exercise.reference_ok, exercise.stub_earns_nothing) == (True, True)
        assert [exercise.rejected, exercise.uncaught, exercise.misdiagnosed, exercise.flaky] == [{}, (), {}, {}]
    assert (softmax.misconceptions, softmax.alternatives) == (1, 1)
    assert (quiz.misconceptions, quiz.alternatives) == (2, 3)


def test_the_tables_and_pictures_of_the_page_are_whole(course):
    """In the chapter about people, the references earn full marks, and blank stubs earn nothing."""
    chapter = "ch2_people"
    source = SNIPPETS[f"solutions/{chapter}.py"]
    stubs = re.findall(r'(def (\w+)\(.*?""".*?"""\n)', source, re.DOTALL)
    cells = [
        cell(
            "imports", "import pandas as pd\nimport matplotlib.pyplot as plt\nfrom autograder import check", locked=True
        )
    ]
    for stub, name in stubs:
        cells.append(cell(name, f"{stub}    raise NotImplementedError", solution=True))
        cells.append(cell(f"check_{name}", f"check({name})", grade=True, locked=True, points=2))
    notebook = course.source(chapter)
    notebook.parent.mkdir(parents=True)
    notebook.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    with (course.root / "course_config.py").open("a") as config:
        config.write(f'c.Course.chapters += ["{chapter}"]\nc.Course.packages = ["numpy", "pandas", "matplotlib"]\n')
    [found] = audit(load_course(course.root), [chapter], mutants=False)
    assert [(e.name, e.reference_ok, e.stub_earns_nothing) for e in found.exercises] == [
        (name, True, True) for _, name in stubs
    ]
    assert found.exercises[0].kinds.missing == ()


def test_a_notebook_is_made_as_the_page_says(course, monkeypatch):
    """The page's script writes a notebook with the wrong solution in its stub."""
    monkeypatch.syspath_prepend(str(course.root))
    for name in [name for name in sys.modules if name == "solutions" or name.startswith("solutions.mis")]:
        monkeypatch.delitem(sys.modules, name)
    importlib.invalidate_caches()
    [script] = [text for path, text in SNIPPETS.items() if path.startswith("in a script")]
    exec(compile(script, "author.md", "exec"), {})  # noqa: S102 - our own page
    made = (course.root / "some.ipynb").read_text(encoding="utf-8")
    assert "def softmax(x, axis=-1):" in made
    assert "@wrong" not in made
    assert "Which maximum" not in made


def test_the_page_names_every_word_and_no_other():
    """The pages mention every fixture and every name in autograder.checking, and no ``assert_`` helper that does not exist."""
    named = set(re.findall(r"\w+", PAGE))
    assert set(words) - {"Rng", "Source"} <= named
    assert named >= FIXTURES
    assert {word for word in named if word.startswith("assert_")} <= set(words)


@pytest.mark.parametrize(
    ("chapter", "points"),
    [
        ("ch2_lists", {"Stack": 3, "test_median": 1, "first_again": 1}),
        ("ch3_words", {"word_counts": 2, "greet": 2}),
    ],
)
def test_the_other_chapters_of_the_page_hold(course, chapter, points):
    """In the chapters about classes, tests, limits and built-in values, right solutions earn full marks, and blank stubs earn nothing."""
    cells = [cell("imports", "from autograder import check", locked=True)]
    for definition in ast.parse((course.root / "solutions" / f"{chapter}.py").read_text()).body:
        for node in ast.walk(definition):
            if isinstance(node, ast.FunctionDef):
                node.body = [node.body[0], *ast.parse("raise NotImplementedError").body]
        name = definition.name
        cells.append(cell(name, ast.unparse(definition), solution=True))
        cells.append(cell(f"check_{name}", f"check({name})", grade=True, locked=True, points=points[name]))
    (course.root / "course_config.py").write_text(
        MINI_COURSE.joinpath("course_config.py").read_text().replace("ch1_units", chapter)
    )
    course = load_course(course.root)
    path = course.source(chapter)
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    [found] = audit(course, [chapter], mutants=False)
    for exercise in found.exercises:
        assert (exercise.reference_ok, exercise.stub_earns_nothing, exercise.flaky) == (True, True, {}), exercise.name

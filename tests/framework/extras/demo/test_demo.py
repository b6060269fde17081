"""Tests of the simulated class: its notebooks, its students, and the demonstration from release to feedback."""

from __future__ import annotations

import importlib.util
import json
import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from autograder.authoring.simulate import reference_code, solved_notebook
from autograder.course.course import load_course
from autograder.course.notebook import NotebookError, load_document, parse_notebook
from autograder.extras.demo.demo_run import ClassReport, fresh_folder, recognised, run_demo
from autograder.extras.demo.students import ATTACKS, KINDS, hand_in, make_class
from autograder.grading.submission import Job, ungradable
from autograder.judging.loader import known_alternatives, known_misconceptions
from tests.support import ROOT
from tests.support.mini import change, copy_course

CH1 = "ch1_weighted_averaging"


@pytest.fixture(scope="module")
def course():
    """The real course."""
    return load_course(ROOT)


def _names(notebook):
    """Run only a notebook's stub cells, and return the names that they define."""
    names = {"np": np}
    for cell in parse_notebook(json.dumps(notebook).encode()).cells:
        if cell.role == "stub":
            exec(cell.source, names)  # noqa: S102 - the course's own solutions
    return names


def quiet(_total, _what):
    """Return a progress display that shows nothing."""
    return nullcontext(lambda _verdict: None)


def _stub(notebook, exercise):
    return parse_notebook(json.dumps(notebook).encode()).stub(exercise).source


# --- notebooks from functions ------------------------------------------------------------------------------------------


def test_every_wrong_and_right_solution_behaves_in_a_notebook_as_in_its_module(course):
    """A right or wrong solution, copied with its helpers into a notebook's stub cell, gives the same results as in its own module."""
    rng = np.random.default_rng(3)
    inputs = {
        "weighted_average": lambda: (rng.dirichlet(np.ones(3)), rng.normal(size=(3, 3))),
        "hard_lookup": lambda: (rng.normal(size=3), rng.normal(size=(3, 3)), rng.normal(size=(3, 3))),
        "softmax": lambda: (rng.normal(size=(3, 4)),),
        "soft_lookup": lambda: (rng.normal(size=3), rng.normal(size=(3, 3)), rng.normal(size=(3, 3)), 1.7),
    }

    def outcome(function, arguments):
        try:
            return repr(function(*[np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments]))
        except Exception as error:  # noqa: BLE001 - both must raise the same error
            return repr(error)

    right = reference_code(course, CH1)
    tried = 0
    for made in [*known_misconceptions(course, CH1), *known_alternatives(course, CH1)]:
        if made.exercise in inputs:
            notebook = solved_notebook(course, CH1, {**right, made.exercise: made.function})
            arguments = inputs[made.exercise]()
            there = _names(notebook)[made.exercise]
            assert outcome(there, arguments) == outcome(made.function, arguments), made.name
            tried += 1
    assert tried > 40


def test_a_wrong_solution_that_uses_the_right_one_brings_it_along(course, tmp_path):
    """A misconception of softmax that calls the right softmax does not end up calling itself."""
    module = tmp_path / "wrong_by_use.py"
    module.write_text(
        "import numpy as np\nfrom autograder.misconception import misconceptions_of\n\n\n"
        "def softmax(x):\n    return np.exp(x) / np.exp(x).sum()\n\n\n"
        "@misconceptions_of('softmax')\ndef negated(x: np.ndarray) -> np.ndarray:\n    '''You negate.'''\n"
        "    return softmax(-x)\n"
    )
    spec = importlib.util.spec_from_file_location("wrong_by_use", module)
    sys.modules["wrong_by_use"] = loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    notebook = solved_notebook(course, CH1, {"softmax": loaded.negated})
    source = _stub(notebook, "softmax")
    assert source.count("def softmax(x):") == 1
    assert "You negate" not in source
    assert "misconceptions_of" not in source
    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(_names(notebook)["softmax"](x), loaded.negated(x))


@pytest.mark.parametrize(
    ("exercise", "given", "text"),
    [
        ("quiz_ch1", {"q1": "b", "q6": np.float64(0.25), "q2": np.array([1.5])}, "q1 = 'b'\nq6 = 0.25\nq2 = np.array([1.5])"),
        ("softmax", "softmax = None  # later", "softmax = None  # later"),
    ],
)  # fmt: skip
def test_answers_become_assignments_and_text_is_taken_as_typed(course, exercise, given, text):
    """NumPy scalars become Python numbers, and exercises without an answer keep their stubs."""
    notebook = solved_notebook(course, CH1, {exercise: given})
    assert _stub(notebook, exercise) == text
    assert "NotImplementedError" in _stub(notebook, "soft_lookup")


# --- the class ---------------------------------------------------------------------------------------------------------


def test_a_class_is_always_the_same(course):
    """Two classes of the same size have the same students with the same notebooks."""
    assert make_class(30) == make_class(30)
    for student in make_class(8):
        assert hand_in(course, CH1, student, 8) == hand_in(course, CH1, student, 8)


def test_a_class_of_ordinary_size_has_everything_in_it():
    """A class of twenty-four students covers every type of submission. Without a sandbox, none of the twenty-four is hostile."""
    assert {s.kind for s in make_class(24)} == set(KINDS)
    students = make_class(24, hostile=False)
    assert len(students) == 24
    assert not any(s.hostile for s in students)


def test_a_large_class_is_filled_with_honest_work():
    """In a large class, all ids are different, and each attack and each broken file occurs once."""
    students = make_class(300)
    assert len({s.id for s in students}) == 300
    kinds = [s.kind for s in students]
    assert all(kinds.count(kind) == 1 for kind in [*ATTACKS, "not JSON", "cell deleted", "cell copied"])


# --- the report --------------------------------------------------------------------------------------------------------


def test_one_fault_of_a_student_is_one_line(course):
    """A student's fault that affects several chapters is listed once. A different fault of the same student has its own line."""
    chapters = course.finished_chapters()
    report = ClassReport(course, tuple(make_class(1)), list(chapters))
    for number, chapter in enumerate(chapters):
        for student, data in (("elif", b'{"cells": [' + b"1," * number), ("ben", b"\xff" if number == 2 else b"{}")):
            with pytest.raises(NotebookError) as found:
                load_document(data, Path(f"{chapter}.ipynb"))
            reason = str(found.value)
            report.verdicts[chapter, student] = ungradable(Job(Path("x"), student, chapter), reason)
    _, head, *lines = recognised(report).splitlines()
    assert head.startswith("Needs your review")
    assert lines[0] == "  elif, every chapter: the notebook is not a valid notebook."
    assert [line.partition(":")[0] for line in lines[1:]] == [
        f"  ben, {', '.join(c[:3] for c in chapters if c != chapters[2])}",
        "  ben, ch2",
    ]


# --- the demonstration -------------------------------------------------------------------------------------------------


def test_a_second_demonstration_has_a_folder_of_its_own(tmp_path):
    """If demo/ exists, the next folder is demo-2, then demo-3, and nothing is overwritten."""
    assert [fresh_folder(tmp_path).name for _ in range(3)] == ["demo", "demo-2", "demo-3"]


@pytest.mark.slow
@pytest.mark.parametrize("confinement", ["auto", "local"])
def test_the_demonstration_of_a_small_course(tmp_path, monkeypatch, confinement):
    """The demo releases a small course, collects and grades a class as planned, writes its feedback, and reports the results."""
    monkeypatch.chdir(tmp_path)
    said = []
    report = run_demo(copy_course(tmp_path / "course"), 24, confinement=confinement, say=said.append, progress=quiet)
    demo = tmp_path / "demo"
    assert len(report.verdicts) == 24
    for (chapter, student), work in report.work.items():
        verdict = report.verdicts[chapter, student]
        kind = next(s.kind for s in report.students if s.id == student)
        if kind in {"solved", "other way", "cell copied"}:
            assert verdict.score == verdict.max_score, work.description
        elif kind == "blank":
            assert verdict.score == 0
            assert {e.status for e in verdict.exercises} == {"not_attempted"}
        elif kind == "not JSON":
            assert verdict.status == "ungradable"
        elif kind in ATTACKS:
            assert 0 < verdict.score < verdict.max_score, work.description
        elif work.injected:
            assert verdict.exercise(work.injected.exercise).misconception == work.injected.name
        assert (demo / "feedback" / student / chapter / f"{chapter}.html").is_file()
    text = "\n".join(said)
    planted = sum(work.injected is not None for work in report.work.values())
    assert f"{planted} of {planted} mistakes were identified by name. Each mistake was injected separately." in text
    assert "elif, ch1: the notebook is not a valid notebook." in text
    assert "to validate and release" in text
    assert ("a loop that never ends (in ch1)" in text) == (confinement == "auto")
    assert (demo / "gradebook.db").is_file()
    assert ("nbgrader's formgrader" in text) == (confinement == "auto")
    assert any(s.hostile for s in report.students) == (confinement == "auto")
    assert (demo / "release" / "ch1_units" / "ch1_units.ipynb").is_file()
    assert not (tmp_path / "course" / "release").exists()


@pytest.mark.slow
def test_a_chapter_that_is_not_fit_is_told_and_left_out(tmp_path, monkeypatch):
    """If a chapter's reference fails its checks, the demo says that it skips the chapter, and creates no class."""
    course = copy_course(tmp_path / "course")
    change(course.root / "solutions" / "ch1_units.py", "273.15", "273.25")
    monkeypatch.chdir(tmp_path)
    said = []
    report = run_demo(course, 3, say=said.append, progress=quiet)
    assert list(report.refused) == ["ch1_units"]
    assert report.verdicts == {}
    assert "ch1_units: not released, so it is skipped." in said[-1]
    assert not (tmp_path / "demo" / "submitted").exists()

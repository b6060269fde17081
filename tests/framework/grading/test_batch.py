"""Test grading many notebooks."""

import copy
from pathlib import Path

import pytest

from autograder.base.errors import CourseError
from autograder.grading.batch import grade, grade_notebooks
from autograder.grading.submission import Job, Submission, ungradable
from autograder.sandbox.protocol import SandboxStartError, TimeBudget
from autograder.sandbox.session import ChildSession
from autograder.sandbox.worker import Worker
from tests.support.mini import CHAPTER, MAX_SCORE, RIGHT, WRONG_SIGN, cell, document, hand_in


def jobs(course, **submissions):
    """Submit each notebook, and return the jobs in order."""
    return [Job(hand_in(course, student, notebook), student, CHAPTER) for student, notebook in submissions.items()]


def right_but(course, **code):
    """Return a right notebook, with ``code`` in some of its stubs."""
    return document(course, **{**RIGHT, **code})


def code_cell(source):
    """Return a code cell that a student added."""
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": []}


def verdict_on(course, notebook):
    """Return the verdict on one notebook."""
    [verdict] = grade_notebooks(course, jobs(course, ada=notebook))
    return verdict


def statuses(verdict):
    """Return the status of each exercise, by name."""
    return {exercise.name: exercise.status for exercise in verdict.exercises}


def test_bad_notebooks_are_reasons_and_the_others_are_graded(course):
    """Verdicts come in the order of the jobs. An invalid notebook gets a reason and does not stop the others."""
    todo = jobs(course, cut=b'{"cells": [', ada=document(course, **RIGHT), nobody=b"", eve=document(course))
    todo.append(Job(course.root / "submitted" / "gone.ipynb", "gone", CHAPTER))
    heard = []
    verdicts = grade_notebooks(course, todo, on_verdict=heard.append)
    assert [v.student for v in verdicts] == ["cut", "ada", "nobody", "eve", "gone"]
    assert [v.status for v in verdicts] == ["ungradable", "graded", "ungradable", "graded", "ungradable"]
    assert "not a valid notebook" in verdicts[0].reason
    assert "is empty" in verdicts[2].reason
    assert "There is no file gone.ipynb" in verdicts[4].reason
    assert (verdicts[1].score, verdicts[1].max_score) == (MAX_SCORE, MAX_SCORE)
    assert {v.max_score for v in verdicts} == {MAX_SCORE}
    assert sorted(heard, key=str) == sorted(verdicts, key=str)


def test_a_blank_notebook_is_not_attempted(course):
    """Unchanged stubs earn nothing and are reported as not attempted, but the notebook is run."""
    verdict = verdict_on(course, document(course))
    assert set(statuses(verdict).values()) == {"not_attempted"}
    assert verdict.score == 0
    assert verdict.sandbox


@pytest.mark.parametrize(
    "code",
    [
        RIGHT["mean_kelvin"],
        "def mean_kelvin(celsius, convert=to_kelvin):\n    return np.mean(convert(celsius), axis=-1)",
        "kelvin_of = to_kelvin\ndef mean_kelvin(celsius):\n    return np.mean(kelvin_of(celsius), axis=-1)",
    ],
    ids=["by its name", "kept as a default", "kept under another name"],
)
def test_a_mistake_is_named_and_counted_once(course, code):
    """A right function that calls a wrong function earns its marks, even if it stored the wrong function when its cell ran."""
    verdict = verdict_on(course, right_but(course, to_kelvin=WRONG_SIGN, mean_kelvin=code))
    assert verdict.exercise("to_kelvin").misconception == "wrong_sign"
    assert verdict.exercise("mean_kelvin").score == 3
    assert verdict.exercise("mean_kelvin").follow_through


@pytest.mark.parametrize(
    ("code", "status", "score", "words"),
    [
        (
            "_kept = {}\ndef to_kelvin(c):\n    return _kept.setdefault(c.shape, c + 273.15)",
            "failed", 1.5, "it returned the result of that call",
        ),
        ("def to_kelvin(c):\n    return np.array(_of(c))\n\ndef _of(c):\n    return c + 273.15", "passed", 2.0, ""),
    ],
    ids=["kept by shape", "steady"],
)  # fmt: skip
def test_an_answer_kept_by_shape_is_not_careful(course, code, status, score, words):
    """A function that caches its results by shape fails the purity check, even if no other check uses the same shape twice."""
    verdict = verdict_on(course, right_but(course, to_kelvin=code)).exercise("to_kelvin")
    assert (verdict.checks[-1].status, verdict.score) == (status, score)
    assert words in verdict.checks[-1].message


def test_a_copied_cell_is_graded_and_told(course):
    """If a cell occurs twice, both copies are run, the last copy counts, and the student is informed."""
    notebook = right_but(course, to_kelvin=WRONG_SIGN)
    first = notebook["cells"].index(cell(notebook, "to_kelvin"))
    notebook["cells"].insert(first + 1, {**copy.deepcopy(notebook["cells"][first]), "source": RIGHT["to_kelvin"]})
    verdict = verdict_on(course, notebook)
    assert verdict.score == MAX_SCORE
    assert "more than once" in verdict.exercise("to_kelvin").message


WITH_HELPER = (
    "def to_kelvin(row):\n    assert row.ndim == 1\n    return row - 273.15\n\n"
    "def mean_kelvin(celsius):\n    return np.mean(celsius + 273.15, axis=-1)"
)


def test_a_helper_of_the_same_name_takes_no_marks(course):
    """The definition in an exercise's own cell counts, even if a later exercise's cell redefines the name."""
    verdict = verdict_on(course, right_but(course, mean_kelvin=WITH_HELPER))
    assert verdict.score == MAX_SCORE
    assert "defined again in the cell of mean_kelvin" in verdict.exercise("to_kelvin").message
    assert verdict.exercise("mean_kelvin").message == ""


def test_the_last_definition_counts_where_it_is_the_better_one(course):
    """Students may correct an exercise in a later cell, either a new cell or the cell of another exercise."""
    mended = f"{RIGHT['to_kelvin']}\n\n{RIGHT['mean_kelvin']}"
    first, second = right_but(course, to_kelvin=WRONG_SIGN, mean_kelvin=mended), right_but(course, to_kelvin=WRONG_SIGN)
    second["cells"].append(code_cell(RIGHT["to_kelvin"]))
    for verdict in grade_notebooks(course, jobs(course, ada=first, ben=second)):
        assert verdict.score == MAX_SCORE


def test_two_wrong_definitions_earn_nothing_together(course):
    """If both definitions of a function are wrong, it earns nothing, and the message is about the later definition."""
    twice = "def to_kelvin(celsius):\n    return celsius * 2.0"
    verdict = verdict_on(course, right_but(course, to_kelvin=twice, mean_kelvin=WITH_HELPER)).exercise("to_kelvin")
    assert verdict.score == 0
    assert "defined again" not in verdict.message


def test_a_definition_above_its_empty_stub_is_told(course):
    """If the stub below a student's code replaces it, the message says where to write."""
    notebook = document(course)
    notebook["cells"].insert(2, code_cell(RIGHT["to_kelvin"]))
    verdict = verdict_on(course, notebook).exercise("to_kelvin")
    assert verdict.status != "not_attempted"
    assert "the empty stub further down overwrites it" in verdict.message


def test_code_in_another_cell_counts(course):
    """A function below the stub, or without a stub cell, is found and graded."""
    notebook = document(course, quiz_ch1_units=RIGHT["quiz_ch1_units"])
    notebook["cells"].remove(cell(notebook, "mean_kelvin"))
    notebook["cells"] += [code_cell(RIGHT[name]) for name in ("to_kelvin", "mean_kelvin")]
    assert verdict_on(course, notebook).score == MAX_SCORE


def test_a_submission_that_breaks_the_grader_is_nobodys_zero(course, monkeypatch):
    """If the grader crashes on a notebook, that notebook is ungradable, with the reason. The notebooks before and after it are graded."""
    todo = jobs(course, **{student: document(course, **RIGHT) for student in ("ada", "bob", "cyd")})
    whole = Submission.open

    def breaks(self):
        if self.job.student == "bob":
            raise RuntimeError("the disk is full")
        return whole(self)

    monkeypatch.setattr(Submission, "open", breaks)
    verdicts = grade_notebooks(course, todo)
    assert [v.status for v in verdicts] == ["graded", "ungradable", "graded"]
    assert "the disk is full" in verdicts[1].reason
    assert "not the student's fault" in verdicts[1].reason
    assert verdicts[2].score == MAX_SCORE


@pytest.mark.parametrize("broken", ["ada", "bob"])
def test_a_notebook_that_cannot_even_be_opened_ends_nothing(course, monkeypatch, broken):
    """If our own code fails before a notebook is run, this notebook is ungradable with that reason, and the run continues."""

    class Breaks(Submission):
        def __init__(self, job, *args, **options):
            if job.student == broken:
                raise RuntimeError("our own mistake")
            super().__init__(job, *args, **options)

    monkeypatch.setattr("autograder.grading.grader.Submission", Breaks)
    verdicts = grade_notebooks(course, jobs(course, **{n: document(course, **RIGHT) for n in ("ada", "bob", "eve")}))
    assert [v.student for v in verdicts if v.status == "ungradable"] == [broken]
    assert [v.status for v in verdicts].count("graded") == 2
    assert "our own mistake" in next(v.reason for v in verdicts if v.student == broken)


def test_an_endless_loop_costs_its_own_exercise_only(course):
    """An endless function is stopped. The student's other exercises and the next student are graded."""
    loop = right_but(course, mean_kelvin="def mean_kelvin(c):\n    while True: pass")
    course.call_seconds = 0.5
    verdicts = grade_notebooks(course, jobs(course, ada=loop, bob=document(course, **RIGHT)))
    assert statuses(verdicts[0]) == {"to_kelvin": "passed", "mean_kelvin": "timeout", "quiz_ch1_units": "passed"}
    assert verdicts[1].score == MAX_SCORE


def test_a_cell_that_never_ends_says_which_line_loops(course):
    """An endless loop in a cell, outside any function, is reported in the message of the exercise that the cell should define."""
    course.cell_seconds = 0.5
    code = f"count = 0\nwhile count >= 0:\n    count += 1\n\n{RIGHT['mean_kelvin']}"
    verdict = verdict_on(course, right_but(course, mean_kelvin=code))
    reason = next(one.checks[0].reason for one in verdict.exercises if one.name == "mean_kelvin")
    assert reason.startswith("The cell of mean_kelvin was stopped. Is there a loop that never ends")
    assert reason.endswith("It was in line 2, `while count >= 0:`.")


class OneSession(TimeBudget):
    """A time budget that the first session of a submission uses up."""

    def __init__(self):
        super().__init__()
        self.sessions = 0

    def deadline(self, seconds):
        self.sessions += 1
        return super().deadline(seconds) if self.sessions == 1 else 0.0


def test_all_sessions_of_a_submission_share_its_time(course, monkeypatch):
    """All sessions of a submission share its time budget: after a kill, for follow-through, for redefined functions and for pictures."""
    made = []
    monkeypatch.setattr("autograder.grading.submission.TimeBudget", lambda: made.append(OneSession()) or made[-1])
    ends = "def to_kelvin(c):\n    os._exit(0)"
    again = f"def mean_kelvin(c):\n    return to_kelvin(c)\n{ends}"
    ada = right_but(course, to_kelvin=f"import os\n{ends}", mean_kelvin=again)
    verdicts = grade_notebooks(course, jobs(course, ada=ada, bob=document(course, **RIGHT)))
    assert [statuses(verdict)["mean_kelvin"] for verdict in verdicts] == ["timeout", "passed"]
    assert verdicts[1].score == MAX_SCORE
    assert made[0].sessions >= 5
    assert len(made) == 2


def test_one_exercise_and_visible_checks_alone(course):
    """``only`` selects exercises, and ``visible_only`` selects visible checks. An unknown exercise is an error."""
    todo = jobs(course, ada=document(course, **RIGHT))
    [verdict] = grade_notebooks(course, todo, only={"to_kelvin"})
    assert (list(statuses(verdict)), verdict.max_score) == (["to_kelvin"], 2)
    [verdict] = grade_notebooks(course, todo, visible_only=True)
    assert all(check.visible for exercise in verdict.exercises for check in exercise.checks)
    with pytest.raises(CourseError, match=r"has no exercise softmax\. Its exercises are: to_kelvin, mean_kelvin"):
        grade_notebooks(course, todo, only={"softmax"})


def test_loose_notebooks_find_their_chapter(course, tmp_path):
    """A renamed file is recognized by its cells, an unrelated file is reported, and a file may be named twice."""
    loose, stranger = tmp_path / "homework (1).ipynb", tmp_path / "stranger.ipynb"
    loose.write_bytes(hand_in(course, "ada", document(course, **RIGHT)).read_bytes())
    stranger.write_text('{"cells": [{"cell_type": "code", "source": "1"}]}')
    verdicts = grade_notebooks(course, [Job(loose), Job(stranger), Job(loose)])
    assert [v.chapter for v in verdicts] == [CHAPTER, None, CHAPTER]
    assert verdicts[0].score == verdicts[2].score == MAX_SCORE
    assert "Cannot tell which chapter stranger.ipynb belongs to" in verdicts[1].reason


def test_an_unknown_chapter_is_the_callers_mistake(course, tmp_path):
    """If the caller names an unknown chapter, this is an error, not a verdict."""
    with pytest.raises(CourseError, match="There is no chapter 'ch9'"):
        grade_notebooks(course, [Job(tmp_path / "x.ipynb", None, "ch9")])


def test_a_result_that_cannot_be_taken_ends_the_run(course):
    """An error that no student caused, such as a full disk, ends the run and is raised."""

    def full(_outcome):
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        list(grade(course, jobs(course, ada=document(course, **RIGHT), eve=document(course)), deliver=full))


@pytest.mark.parametrize("workers", [1, 2])
def test_a_page_that_cannot_be_made_costs_one_notebook(course, workers):
    """If rendering a verdict fails over one student's text, that verdict becomes ungradable and is reported."""
    todo = jobs(course, **{name: document(course, **RIGHT) for name in ("ada", "bob", "eve")})
    done = list(grade(course, todo, workers=workers, deliver=breaks_over_bob))
    ada, bob, eve = sorted(done, key=lambda outcome: outcome.job.student)
    assert [outcome.verdict.status for outcome in (ada, bob, eve)] == ["graded", "ungradable", "graded"]
    assert "UnicodeEncodeError" in bob.verdict.reason
    assert "not the student's fault" in bob.verdict.reason
    assert (bob.verdict.max_score, bob.is_final) == (MAX_SCORE, False)


def breaks_over_bob(outcome):
    """Raise an error for bob's graded notebook, as rendering a page may do over an unexpected text."""
    if outcome.job.student == "bob" and outcome.verdict.status == "graded":
        "\ud800".encode()
    return outcome


def test_a_reason_is_short_and_clean():
    """Every reason can be encoded and has at most 4000 characters."""
    reason = ungradable(Job(Path("x.ipynb"), "ada"), "\ud800\x1b[2J" + "x" * 10**6).reason
    assert reason.startswith("xxx")
    assert len(reason) <= 4000


def without_jail(monkeypatch, *students):
    """Make every sandbox fail to start for the notebooks of ``students``."""
    whole = Worker.open

    def refuse(self, cells, **options):
        if any(f"# {student}" in cell.source for cell in cells for student in students):
            raise SandboxStartError("the bubblewrap sandbox does not start: exit status 137")
        return whole(self, cells, **options)

    monkeypatch.setattr(Worker, "open", refuse)


def of_three(course):
    """Return the jobs of three students whose notebooks are right."""
    quiz = RIGHT["quiz_ch1_units"]
    return jobs(course, **{s: right_but(course, quiz_ch1_units=f"# {s}\n{quiz}") for s in ("ada", "bob", "cyd")})


def test_a_jail_that_does_not_start_for_one_notebook_is_its_reason(course, monkeypatch):
    """If the sandbox fails for one or two notebooks in a row, the run continues and the others are graded."""
    three = of_three(course)
    without_jail(monkeypatch, "ada", "bob")
    verdicts = grade_notebooks(course, [*three, *three], confinement="local")
    assert [v.status for v in verdicts] == ["ungradable", "ungradable", "graded"] * 2
    assert "exit status 137" in verdicts[0].reason


def test_a_jail_that_starts_for_nobody_ends_the_run(course, monkeypatch):
    """If the sandbox fails for three notebooks in a row, the run ends instead of making the whole class ungradable."""
    three = of_three(course)
    without_jail(monkeypatch, "ada", "bob", "cyd")
    told = []
    lost = r"^The sandbox failed to start for 3 notebooks in a row, after several tries for each: .* exit status 137"
    with pytest.raises(SandboxStartError, match=lost):
        grade_notebooks(course, [*three, *three], confinement="local", on_verdict=told.append)
    assert len(told) == 2


def test_a_jail_lost_in_a_check_is_not_the_students_mistake(course, monkeypatch):
    """If no sandbox starts for a check, the notebook is ungradable, and nobody loses points."""

    def lost(*_args, **_options):
        raise SandboxStartError("the bubblewrap sandbox does not start")

    monkeypatch.setattr(ChildSession, "batch", lost)
    [verdict] = grade_notebooks(course, of_three(course)[:1], confinement="local")
    assert verdict.status == "ungradable"

"""Tests of what ``check`` does besides judging: it limits time and output, records progress, helps, shows the next exercise, and survives problems."""

from __future__ import annotations

import errno
import json
import linecache
import os
import signal
import sys
import threading

import numpy as np
import pytest

from autograder.base import files
from autograder.pages.text import WIDTH
from autograder.student import notebook_check
from autograder.student.examples.format import deobfuscate, obfuscate
from autograder.student.notebook_check import checking
from autograder.student.notebook_check.progress import PROGRESS_NAME, ExerciseProgress, read
from autograder.values import encode_value
from tests.support import examples_by_hand as by_hand

RIGHT = """
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""
WRONG = RIGHT.replace("x.max(axis=axis, keepdims=True)", "x.max()")
ENDLESS = """
def softmax(x, axis=-1):
    i = 2 * len(x) + 1
    while i != 0:
        try:
            i -= 2
        except:
            pass
"""
WAY = ("logaddexp is safe by itself.", "def softmax(x, axis=-1):\n    return 'another way'")
SOLUTION = "def softmax(x, axis=-1):\n    e = 1\n\n    return 'the solution'"


@pytest.fixture
def alone(beside_the_notebook):
    """Write the examples that a self-learner gets, with obfuscated solutions and a quiz that is judged at once, and return their text."""
    data = by_hand.chapter_data() | {"audience": "self-learners", "solutions": "after passing", "title": "9 · By hand"}
    data["chapters"] = [by_hand.CHAPTER]
    softmax, quiz = data["exercises"]["softmax"], data["exercises"]["quiz_ch9"]
    softmax |= {"stars": 2, "minutes": 15, "sealed": obfuscate({"other_ways": [WAY], "solution": SOLUTION}, "softmax")}
    chosen = {"assert": "chosen", "actual": {"step": 0, "path": []}, "params": {"right": "b"}, "call": "q1"}
    judged = by_hand.check_entry("test_q1", "question 1: who asks", [{"variable": "q1"}, chosen], 2, ("test_q1_given",))
    wrong = [{"answers": {"q1": encode_value("a")}, "name": "key", "message": "A key is looked at; it does not ask."}]
    quiz["judged"] = obfuscate({"checks": [judged], "wrong": wrong}, "quiz_ch9")
    text = json.dumps(data)
    (beside_the_notebook / "examples.json").write_text(text)
    return text


def said(kind, run, code):
    """Return the text of the exception that ``code`` raises, on one line."""
    with pytest.raises(kind) as raised:
        run(code)
    return " ".join(str(raised.value).split())


class TestGuard:
    def test_a_loop_without_end_is_stopped_and_its_line_named(self, notebook):
        """The loop is stopped although it swallows every exception. The time limit leaves no traces, and the next check works."""
        before = signal.getsignal(signal.SIGALRM), sys.gettrace(), sys.stdout, sys.stderr
        text = said(notebook_check.CheckFailed, notebook, f"{ENDLESS}\ncheck(softmax, seconds=0.2)")
        assert "softmax was stopped after 0.2 seconds on x = np.array([[1.0, 2.0, 3.0]" in text
        assert "Is there a loop that never ends" in text
        assert "It was in line" in text
        assert (signal.getsignal(signal.SIGALRM), sys.gettrace(), sys.stdout, sys.stderr) == before
        assert threading.active_count() == 1 or not any("Timer" in t.name for t in threading.enumerate())
        assert "3 of 3" in notebook(f"{RIGHT}\ncheck(softmax)")

    def test_the_course_says_how_long_a_call_may_take(self, notebook, beside_the_notebook):
        """If the call of check() gives no limit, the limit in examples.json applies. The message shows a small input."""
        path = beside_the_notebook / "examples.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"call_seconds": 0.1}))
        code = "def mean_of(x):\n    while True:\n        pass\ncheck(mean_of)"
        text = said(notebook_check.CheckFailed, notebook, code)
        assert "mean_of was stopped after 0.1 seconds on x = np.array([1.0, 2.0, 6.0])" in text

    @pytest.mark.parametrize("seconds", ["0", "-1", "'long'", "True", "float('nan')"])
    def test_seconds_that_make_no_sense_are_told(self, notebook, seconds):
        """An invalid number of seconds is reported, and nothing is run."""
        assert "It must be a number above 0" in said(
            notebook_check.CheckProblem, notebook, f"{RIGHT}\ncheck(softmax, seconds={seconds})"
        )

    def test_thirty_lines_are_shown_and_the_rest_counted(self, notebook):
        """The call that exceeds the limit reports how many more lines it printed. The limit also applies to stderr."""
        loop = "for i in range(20000):\n        print('line', i, file=[None, sys.stderr][i % 2])\n    return"
        out = notebook(f"import sys\n{RIGHT.replace('return', loop)}\ncheck(softmax)").splitlines()
        assert out[:31] == [*(f"line {i}" for i in range(30)), "… and 19,970 more lines"]
        assert out[31] == "… and 60,000 more lines in later calls"
        assert out[32].startswith("softmax   3 of 3")

    def test_a_line_without_end_is_cut(self, notebook):
        """A line of a million characters counts like a thousand lines."""
        out = notebook(RIGHT.replace("return", "print('x' * 10**6, end='')\n    return") + "check(softmax)")
        assert f"{'x' * 1000}… and 3,999,000 more characters\nsoftmax" in out

    def test_an_interrupt_is_one_sentence(self, notebook):
        """The sentence gives the line that was running, without frames of the time limit or the judge."""
        threading.Timer(0.2, signal.raise_signal, [signal.SIGINT]).start()
        with pytest.raises(KeyboardInterrupt) as stopped:
            notebook(f"{ENDLESS}\ncheck(softmax, seconds=30)")
        assert str(stopped.value).startswith("You stopped it in line ")
        assert str(stopped.value).endswith("Nothing is lost: run the cell again whenever you like.")
        assert stopped.value._render_traceback_() == [str(stopped.value)]
        assert not [frame for frame in stopped.traceback if "judging" in str(frame.path)]


class TestCases:
    def test_a_case_leaves_the_notebooks_names_alone(self, notebook):
        """An input whose name the notebook already uses gets a unique name. The case can be pasted and gives the same result."""
        text = said(notebook_check.CheckFailed, notebook, f"x = 'mine'\n{WRONG}\ncheck(softmax)")
        assert "case_x = np.array([[0.0, 1.0], [2000.0, 2001.0]]) softmax(case_x) gave [[nan, nan]" in text
        with pytest.raises(notebook_check.CheckFailed) as failed:
            notebook("check(softmax)")
        lines = [line.strip() for line in str(failed.value).splitlines()]
        assigned = next(line for line in lines if line.startswith("case_x = "))
        assert (
            notebook(f"{assigned}\nwith np.errstate(all='ignore'):\n    print(softmax(case_x)[1], x)").strip()
            == "[0.26894142 0.73105858] mine"
        )

    def test_keywords_and_texts_keep_their_names(self):
        """Only those occurrences of a name that refer to the value are replaced."""
        from autograder.base.verdict import CheckResult, ExerciseVerdict  # noqa: PLC0415
        from autograder.student.notebook_check.checking import with_unique_names  # noqa: PLC0415 - one test's

        case = "W = {'W': np.array([1.0])}\nf(W, W=W, x.W)[0] gave  1\nit should be   2"
        check = CheckResult("t", "t", "failed", f"f(W) is 1.\n{case}", True, 1, "f(W) is 1.", case)  # noqa: FBT003
        verdict = ExerciseVerdict("f", 0, 1, "failed", message=check.message, checks=(check,))
        found = with_unique_names(verdict, {"W": 1})
        assert found.checks[0].example == (
            "case_W = {'W': np.array([1.0])}\nf(case_W, W=case_W, x.W)[0] gave  1\nit should be   2"
        )
        assert found.message == f"f(case_W) is 1.\n{found.checks[0].example}"
        assert with_unique_names(verdict, {"V": 1}) == verdict


class TestAfterTheAnswer:
    def test_a_pass_shows_another_way_and_where_to_go_on(self, notebook, alone):
        """Alternative solutions are shown only after a pass, and are not readable in the examples file."""
        assert "another way" not in said(notebook_check.CheckFailed, notebook, f"{WRONG}\ncheck(softmax)")
        out = notebook(f"{RIGHT}\ncheck(softmax)")
        assert "Another way to write it. logaddexp is safe by itself." in out
        assert "      def softmax(x, axis=-1):\n          return 'another way'" in out
        assert "when it is graded" not in out
        assert all(words not in alone for words in ("another way", "the solution", "does not ask", "who asks"))

    @pytest.mark.usefixtures("alone")
    def test_a_solution_comes_after_the_hints(self, notebook):
        """The solution is shown only after all hints have been read, with the layout of its code."""
        assert (
            "You can see the solution after hint 3. You have read none so far. `hint(softmax)` shows the next one."
            in said(notebook_check.CheckProblem, notebook, f"{WRONG}\nsolution(softmax)")
        )
        third = [notebook("hint(softmax)") for _ in range(3)][-1]
        assert "`solution(softmax)`" in " ".join(third.split())
        out = notebook("solution(softmax)")
        assert out.startswith("You learn by writing it yourself")
        assert "    def softmax(x, axis=-1):\n        e = 1\n" in out

    def test_in_a_course_there_is_none(self, notebook):
        """In a course that is not for self-study, the message says why no solution is shown."""
        told = said(notebook_check.CheckProblem, notebook, f"{RIGHT}\ncheck(softmax)\nsolution(softmax)")
        assert told.startswith("`solution` is only for self-study")
        assert "another way" not in notebook("check(softmax)")

    @pytest.mark.usefixtures("alone")
    def test_a_quiz_is_judged_at_once_for_who_learns_alone(self, notebook):
        """For a self-learner, check() judges the answers, and the message about a wrong choice is shown at its question."""
        text = said(notebook_check.CheckFailed, notebook, "q1, q2 = '(A)', 0.5\ncheck('quiz_ch9')")
        assert "✗ question 1: who asks '(A)' is not the answer. A key is looked at; it does not ask." in text
        assert notebook("q1 = 'b'\ncheck('quiz_ch9')").startswith("quiz_ch9   3 of 3 checks passed")

    def test_a_damaged_seal_costs_nothing_but_what_is_in_it(self):
        """Data that is damaged, or that belongs to another exercise, raises only ValueError."""
        assert deobfuscate(obfuscate({"a": 1}, "softmax"), "softmax") == {"a": 1}
        for text, name in (
            ("!", "softmax"),
            (obfuscate({}, "softmax"), "mean_of"),
            (obfuscate({"a": "b" * 99}, "softmax")[:-9], "softmax"),
        ):
            with pytest.raises(ValueError):  # noqa: PT011 - of many kinds
                deobfuscate(text, name)


class TestHintsByTries:
    @pytest.mark.parametrize(("tries", "number"), [(1, 1), (2, 1), (3, 2), (5, 3), (9, 3)])
    def test_the_more_was_tried_the_more_is_said(self, notebook, tries, number):
        """Every second failed attempt raises the number of the hint that is shown. Skipped hints stay available."""
        for _ in range(tries):
            said(notebook_check.CheckFailed, notebook, f"{WRONG}\ncheck(softmax)")
        out = notebook("hint(softmax)")
        assert out.startswith(f"softmax   hint {number} of 3")
        assert (f"You have tried {tries} times, so this is hint {number}" in out) == (number > 1)

    def test_what_was_read_is_remembered(self, notebook, beside_the_notebook):
        """The progress file stores which hints were read, so another kernel continues from there."""
        notebook(f"{WRONG}\nhint(softmax)")
        assert read(beside_the_notebook).of(by_hand.CHAPTER, "softmax") == ExerciseProgress("begun", hints=1)
        assert notebook("hint(softmax)").startswith("softmax   hint 2 of 3")

    def test_a_pass_in_between_forgets_no_try(self, notebook):
        """Failed attempts before a pass still count for the choice of the next hint."""
        for _ in range(4):
            said(notebook_check.CheckFailed, notebook, f"{WRONG}\ncheck(softmax)")
        notebook(f"{RIGHT}\ncheck(softmax)")
        said(notebook_check.CheckFailed, notebook, f"{WRONG}\ncheck(softmax)")
        assert "You have tried 5 times, so this is hint 3." in " ".join(notebook("hint(softmax)").split())

    def test_a_function_that_passes_needs_no_hint(self, notebook, beside_the_notebook):
        """``hint`` says that the function passes, even if it was not checked before. A hint can still be requested by its number."""
        lines = [f"{line}\n" for line in RIGHT.splitlines()]
        linecache.cache["<cell 1>"] = (
            len(RIGHT),
            None,
            lines,
            "<cell 1>",
        )  # hint() runs a function only if it has source
        told = " ".join(notebook(f"exec(compile({RIGHT!r}, '<cell 1>', 'exec'))\nhint(softmax)").split())
        assert (
            told
            == "Your `softmax` passes all checks here, so it needs no hint. `hint(softmax, 1)` shows the first hint."
        )
        assert read(beside_the_notebook).of(by_hand.CHAPTER, "softmax") == ExerciseProgress()
        assert notebook("hint(softmax, 1)").startswith("softmax   hint 1 of 3")


class TestMap:
    def test_the_map_tells_what_is_done_and_what_comes_next(self, notebook, alone, beside_the_notebook):
        """The map lists chapters with their exercises and stars, even a chapter that was not opened yet. Each check updates the map."""
        (beside_the_notebook / "examples.json").write_text(
            alone.replace(f'["{by_hand.CHAPTER}"]', f'["{by_hand.CHAPTER}", "ch10"]')
        )
        notebook(f"{RIGHT}\ncheck(softmax)")
        said(notebook_check.CheckFailed, notebook, "q1, q2 = 'a', 1\ncheck('quiz_ch9')")
        out = notebook("check()")
        assert "9 · By hand (1 of 3 done)" in out
        assert "  ✓ softmax  ★★\n  · mean_of\n  … quiz_ch9\n" in out
        assert "ch10 (not opened yet)" in out
        assert out.endswith("Next: mean_of in ch9_by_hand.\n")

    @pytest.mark.usefixtures("alone")
    def test_the_last_pass_is_an_ending(self, notebook):
        """When every exercise of the course is solved, the card and the map say that this is the end of the course."""
        notebook(f"{RIGHT}\ncheck(softmax)")
        notebook("q1, q2 = 'b', 1\ncheck('quiz_ch9')")
        out = " ".join(notebook("def mean_of(x):\n    return x.mean()\ncheck(mean_of)").split())
        assert "This is the end of by hand: 3 exercises in 1 chapter, and you have solved them all." in out
        assert "This is the end of by hand" in notebook("check()")

    @pytest.mark.usefixtures("alone")
    def test_from_the_folder_of_the_chapters(self, notebook, beside_the_notebook, monkeypatch):
        """In the folder above the chapters, check() finds all chapters. If there is none, the message says what is missing."""
        chapter = beside_the_notebook / by_hand.CHAPTER
        chapter.mkdir()
        (beside_the_notebook / "examples.json").rename(chapter / "examples.json")
        assert "9 · By hand (0 of 3 done, about 15 minutes left)" in notebook("check()")
        monkeypatch.chdir(chapter)
        notebook(f"{RIGHT}\ncheck(softmax)")
        monkeypatch.chdir(beside_the_notebook)
        assert "9 · By hand (1 of 3 done)" in notebook("check()")
        (chapter / "examples.json").unlink()
        assert "There is no examples.json in" in said(notebook_check.CheckProblem, notebook, "check()")


class TestNotAsItShouldBe:
    def test_after_a_restart_it_says_which_cell_to_run(self, notebook, beside_the_notebook):
        """The message quotes the start of the cell that defines the missing name, from the saved notebook."""
        cell = {
            "cell_type": "code",
            "metadata": {},
            "source": ["# the data\n", "rng = np.random.default_rng(0)\n", "W_Q = 3"],
        }
        (beside_the_notebook / f"{by_hand.CHAPTER}.ipynb").write_text(json.dumps({"cells": [{}, "?", cell]}))
        text = said(
            notebook_check.CheckFailed, notebook, "def softmax(x, axis=-1):\n    return x * W_Q\ncheck(softmax)"
        )
        assert (
            "`W_Q` is defined in the cell that begins `# the data`. Run that cell first, or all cells above"
            in " ".join(text.split())
        )
        assert text.count("is defined in the cell") == 1

    def test_a_notebook_of_another_release_is_told(self, notebook, beside_the_notebook):
        """If an exercise is only in the notebook, the message says which file to fetch, and that no work is lost."""
        about = {"nbgrader": {"grade_id": "check_entropy"}}
        cells = [{"cell_type": "code", "metadata": about, "source": "check(entropy)"}]
        (beside_the_notebook / f"{by_hand.CHAPTER}.ipynb").write_text(json.dumps({"cells": cells}))
        text = said(notebook_check.CheckProblem, notebook, "def entropy(p):\n    return p\ncheck(entropy)")
        assert "but examples.json does not: the two files are from different releases." in text
        assert "Your notebook stays unchanged" in text

    def test_a_full_disk_costs_one_sentence(self, notebook, monkeypatch):
        """The card is shown, one sentence says that progress cannot be saved, and nothing is raised."""

        def refuse(path):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

        monkeypatch.setattr(files, "_create", refuse)
        first, second = (notebook(f"{RIGHT}\ncheck(softmax)") for _ in range(2))
        assert first.startswith("softmax   3 of 3")
        assert f"could not be saved in {os.getcwd()}/{PROGRESS_NAME}: the disk is full." in first  # noqa: PTH109
        assert "could not be saved" not in second
        assert "✓ softmax" in notebook("check()")

    def test_a_narrow_terminal_gets_narrow_lines(self, notebook, monkeypatch):
        """Text is never wider than the terminal or the maximal line width."""
        monkeypatch.setattr(checking, "line_width", lambda: 44)
        notebook(WRONG)
        with pytest.raises(notebook_check.CheckFailed) as failed:
            notebook("check(softmax)")
        assert max(map(len, str(failed.value).splitlines())) <= 60 < WIDTH
        assert all(
            len(line) <= 44 for line in str(failed.value).splitlines() if "gave" not in line and "be  " not in line
        )

    @pytest.mark.parametrize("variable", ["NBGRADER_VALIDATING", "NBGRADER_EXECUTION"])
    def test_nbgraders_own_runs_leave_no_note(self, notebook, beside_the_notebook, monkeypatch, variable):
        """When nbgrader runs a notebook, no progress is recorded."""
        monkeypatch.setenv(variable, "1")
        notebook(f"{RIGHT}\ncheck(softmax)")
        assert not (beside_the_notebook / PROGRESS_NAME).exists()


def test_numpy_is_left_as_it_was(notebook):
    """A check that is stopped in the middle of a computation restores NumPy's settings."""
    before = np.geterr()
    said(notebook_check.CheckFailed, notebook, f"{ENDLESS}\ncheck(softmax, seconds=0.1)")
    assert np.geterr() == before

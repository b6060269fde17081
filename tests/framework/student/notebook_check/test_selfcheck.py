"""Tests of ``check`` and ``hint`` in a script, in IPython, in a kernel and in ``nbgrader validate``."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import nbformat
import numpy as np
import pytest

from autograder.student import notebook_check
from autograder.student.notebook_check import lookup
from tests.support import ROOT
from tests.support.commands import python

SETUP = "import numpy as np\nfrom autograder import check, hint\n"
RIGHT = """
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""
WRONG = RIGHT.replace("x.max(axis=axis, keepdims=True)", "x.max()")
BLANK = "def softmax(x, axis=-1):\n    raise NotImplementedError\n"


@pytest.fixture(autouse=True)
def _nothing_done_yet(beside_the_notebook):
    """Run every test of this file in a folder with a chapter's examples."""


def process(folder, *command):
    """Run Python with these arguments in ``folder``, which is also its home folder."""
    return python(*command, cwd=folder, IPYTHONDIR=str(folder / ".ipython"), HOME=str(folder))


def said(kind, run, code):
    """Return the text of the exception that ``code`` raises."""
    with pytest.raises(kind) as raised:
        run(code)
    return str(raised.value)


def script(folder, code):
    """Run a script that defines softmax and checks it."""
    (folder / "cells.py").write_text(f"{SETUP}{code}\ncheck(softmax)\n")
    return process(folder, "cells.py")


class TestCheck:
    def test_a_right_function_passes_with_praise(self, notebook):
        """Nothing is raised, and the card is printed."""
        out = notebook(f"{RIGHT}\ncheck(softmax)")
        assert out.startswith("softmax   3 of 3 points here")
        assert "Next is mean_of." in out

    def test_a_wrong_function_raises_with_the_whole_card(self, notebook):
        """Without a display, the text of the exception is the card. Tools treat the exception like a failed assert."""
        assert issubclass(notebook_check.CheckFailed, AssertionError)
        text = said(notebook_check.CheckFailed, notebook, f"{WRONG}\ncheck(softmax)")
        assert text.startswith("softmax   1 of 3 points here, 1 more possible when it is graded\n  ✓ the example")
        assert "You subtracted one maximum for the whole array." in " ".join(text.split())

    @pytest.mark.parametrize(
        "code",
        [
            "check('softmax')",
            "mine = softmax\ncheck(mine)",
            "softmax = lambda *a, f=softmax, **k: f(*a, **k)\ncheck(softmax)",
            f"{RIGHT.replace('def softmax', 'def stable')}\nsoftmax = stable\ncheck(softmax)",
        ],
        ids=["by its name", "under another name", "a lambda bound to its name", "a def of another name bound to it"],
    )
    def test_the_exercise_is_found(self, notebook, code):
        """The exercise is found by its name, by another name of the function, and by any object bound to the name."""
        assert notebook(f"{RIGHT}\n{code}").startswith("softmax ")

    def test_the_object_given_is_the_one_tried(self, notebook):
        """If an older function is passed, it is checked instead of the newer function of the same name."""
        notebook(f"{RIGHT}\nold = softmax\n{WRONG}")
        assert notebook("check(old)").startswith("softmax   3 of 3")
        assert "1 of 3" in said(notebook_check.CheckFailed, notebook, "check(softmax)")

    @pytest.mark.parametrize("body", ["raise NotImplementedError", "pass", "...", '"""Says."""'])
    def test_a_stub_is_not_attempted(self, beside_the_notebook, body):
        """An empty function gets a friendly message that it is not attempted yet, even if it does not raise NotImplementedError."""
        done = script(beside_the_notebook, f"def softmax(x, axis=-1):\n    {body}")
        assert done.returncode == 1
        assert "CheckFailed: softmax   not attempted yet" in done.stderr
        assert 'hint("softmax") has 3 hints left.' in done.stderr
        assert "✗" not in done.stderr

    def test_prints_stay_and_warnings_go(self, notebook, capsys):
        """A student's debug output is shown. Nothing is written to stderr, because that would cost marks in nbgrader."""
        looks = "print('looking', x.shape)\n    np.log(-1.0)\n    sys.stderr.write('oh')\n    return"
        out = notebook(f"import sys\n{RIGHT.replace('return', looks)}\ncheck(softmax)")
        assert "looking (2, 3)" in out
        assert capsys.readouterr().err == ""

    def test_what_is_asked_only_to_compare_prints_nothing(self, notebook, capsys):
        """Calls for checks that are not shown print nothing, so all output belongs to the shown check."""
        code = WRONG.replace("return", "print('axis', axis)\n    return")
        said(notebook_check.CheckFailed, notebook, f"{code}\ncheck(softmax)")
        assert "axis 0" not in capsys.readouterr().out

    def test_an_interrupt_is_left_alone(self, notebook):
        """A KeyboardInterrupt, as from the stop button, is passed on."""
        with pytest.raises(KeyboardInterrupt):
            notebook("def softmax(x, axis=-1):\n    raise KeyboardInterrupt\ncheck(softmax)")

    def test_new_examples_are_read_again(self, notebook, beside_the_notebook):
        """A new examples file is used without restarting the kernel."""
        notebook(f"{RIGHT}\ncheck(softmax)")
        path = beside_the_notebook / "examples.json"
        path.write_text(path.read_text().replace("the example worked by hand", "another example"))
        os.utime(path, ns=(1, 1))
        assert "another example" in notebook("check(softmax)")


class TestQuiz:
    def test_well_formed_answers_pass_and_are_not_judged(self, notebook):
        """If every answer has the right format, nothing is raised, and nothing says whether the answers are right."""
        out = notebook("q1, q2 = 'b', 0.5\ncheck('quiz_ch9')")
        assert out.startswith("quiz_ch9   every answer is valid")
        assert "The answers are graded later" in out

    @pytest.mark.parametrize(
        ("answers", "finding"),
        [
            ("q1, q2 = 'b', None", "q2 is still None: assign your answer to it."),
            ("q1, q2 = 'z', 1.0", "q1 is 'z'. Write one of 'a', 'b', 'c'."),
            ("q1, q2 = 'b', 'much'", "q2 is 'much'. Write a number."),
            ("q1, q2 = None, None", "You have not answered yet"),
            ("", "There is no variable `q1` or `q2` yet"),
        ],
    )
    def test_what_is_missing_or_of_the_wrong_kind_raises(self, notebook, answers, finding):
        """If an answer is missing or has the wrong type, the message says which answer it is."""
        assert finding in said(notebook_check.CheckFailed, notebook, f"{answers}\ncheck('quiz_ch9')")


class TestHints:
    def test_hints_come_one_by_one_and_then_end(self, notebook):
        """Each call gives the next hint. After the last hint, a message says that all hints have been seen."""
        notebook("def softmax(x, axis=-1):\n    return np.full(7, axis)")
        outs = [notebook("hint(softmax)") for _ in range(4)]
        assert outs[0].startswith("softmax   hint 1 of 3\n  First hint.")
        assert "`hint(softmax)` gives the next one." in outs[0]
        assert outs[1].startswith("softmax   hint 2 of 3\n  Second hint")
        assert outs[2].startswith("softmax   hint 3 of 3\n  Third hint.")
        assert "looks at your own code" in outs[2]
        assert "You have seen all 3 hints for `softmax`" in outs[3]

    def test_a_hint_can_be_asked_for_by_number(self, notebook):
        """An earlier or a later hint can be requested. Counting continues from the furthest hint."""
        assert "Second hint" in notebook("hint('softmax', 2)")
        assert "First hint" in notebook("hint('softmax', 1)")
        assert "Third hint" in notebook("hint('softmax')")

    @pytest.mark.parametrize("number", ["0", "4", "-1", "'2'", "True"])
    def test_a_number_without_a_hint_is_told(self, notebook, number):
        """If there is no hint with that number, the message says which numbers there are."""
        text = said(notebook_check.CheckProblem, notebook, f"hint('softmax', {number})")
        assert "softmax has 3 hints, numbered from 1" in text

    def test_a_failing_check_counts_the_hints_left(self, notebook):
        """The card says how many hints have not been read yet."""
        notebook("hint('softmax')")
        text = said(notebook_check.CheckFailed, notebook, f"{WRONG}\ncheck(softmax)")
        assert 'hint("softmax") has 2 hints left' in " ".join(text.split())


class TestUnhelpfulSituations:
    @pytest.mark.parametrize(
        ("code", "sentence"),
        [
            ("check('softmx')", "ch9_by_hand has no exercise called `softmx`. Did you mean check(softmax)?"),
            ("check('quiz_ch1')", 'Did you mean check("quiz_ch9")?'),
            ("check(len)", "called `len`. The exercises here are: softmax, mean_of, quiz_ch9."),
            ("check(softmax(np.ones(3)))", "got a value of type ndarray, not a function. Name the function itself, without"),
            ("check(None)", "got None, which a function without `return` returns"),
            ("check(int)", "got the class int, not a function"),
            ("softmax = np.ones(3)\ncheck(softmax)", "`softmax` is now a value of type ndarray, not a function."),
            ("q1 = 'b'\ncheck(q1)", 'received the text of an answer. Write check("quiz_ch9")'),
            ("hint('softmx')", "Did you mean hint(softmax)?"),
            ("hint()", "Which exercise? Write one of"),
        ],
    )  # fmt: skip
    def test_each_gets_a_sentence_that_says_what_to_do(self, notebook, code, sentence):
        """For a mistake in the call, the message says what was given and what to write."""
        assert sentence in said(notebook_check.CheckProblem, notebook, f"{RIGHT}\n{code}")

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (None, ["There is no examples.json in {folder}", "in the same folder as the notebook"]),
            ("{", ["examples.json cannot be read", "Download the chapter again"]),
        ],
        ids=["none there", "broken"],
    )
    def test_examples_that_cannot_be_had_say_what_to_do(self, notebook, beside_the_notebook, content, words):
        """Without examples, the message says which file is needed. A damaged file is named."""
        path = beside_the_notebook / "examples.json"
        path.unlink() if content is None else path.write_text(content)
        text = said(notebook_check.CheckProblem, notebook, "check('softmax')")
        assert [word for word in words if word.format(folder=path.parent) not in text] == []

    def test_the_notebooks_folder_is_found_after_a_chdir(self, notebook, beside_the_notebook, monkeypatch):
        """Even if a cell changed the working directory, the examples are found if the front end knows where the notebook is."""
        elsewhere = beside_the_notebook / "data"
        elsewhere.mkdir()
        monkeypatch.chdir(elsewhere)
        monkeypatch.setenv("JPY_SESSION_NAME", str(beside_the_notebook / "chapter.ipynb"))
        assert notebook(f"{RIGHT}\ncheck(softmax)").startswith("softmax")


class TestSelfLearners:
    """Tests in a clone of the course, which has no examples.json next to its notebooks, so that examples are recorded when needed."""

    CHAPTER = "ch1_weighted_averaging"

    @pytest.fixture
    def clone(self, tmp_path, monkeypatch):
        """Return a copy of this course's first chapter, as git would check it out."""
        course = tmp_path / "clone"
        for folder in (f"source/{self.CHAPTER}", "solutions", "tests/chapters"):
            ignore = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
            shutil.copytree(ROOT / folder, course / folder, ignore=ignore)
        shutil.copy(ROOT / "course_config.py", course)
        monkeypatch.chdir(course / "source" / self.CHAPTER)
        monkeypatch.setenv("PYTHONPATH", str(ROOT))
        monkeypatch.setattr(lookup, "_generated", {})
        return course

    @pytest.mark.slow
    def test_examples_are_made_once_and_again_when_the_checks_change(self, notebook, clone):
        """The first call of check() records the examples and says so, and later calls reuse them. If the checks change, they are recorded again."""
        first = notebook(f"{RIGHT}\ncheck(softmax)")
        assert first.startswith(f"Preparing the examples of {self.CHAPTER}")
        assert "softmax " in first
        assert "Preparing" not in notebook("check(softmax)")
        made = clone / ".autograder" / "examples" / f"{self.CHAPTER}.json"
        lookup._generated.clear()
        assert "Preparing" not in notebook("check(softmax)")
        later = made.stat().st_mtime + 10
        os.utime(clone / "source" / self.CHAPTER / f"{self.CHAPTER}.ipynb", (later, later))
        assert "Preparing" not in notebook("check(softmax)"), "a student's own notebook changes all the time"
        os.utime(clone / "tests" / "chapters" / f"test_{self.CHAPTER}.py", (later, later))
        assert "Preparing" in notebook("check(softmax)")

    @pytest.mark.slow
    def test_a_failure_to_make_them_says_why_and_how_to_see_more(self, notebook, clone):
        """If a course's examples cannot be recorded, the message names the command to run."""
        (clone / "course_config.py").write_text("c = get_config()\nthis is no python\n")
        text = said(notebook_check.CheckProblem, notebook, "check('softmax')")
        assert f"The examples of {self.CHAPTER} could not be created" in text
        assert f"`python -m autograder examples {self.CHAPTER}`" in text


class TestFrontEnds:
    def test_importing_it_needs_numpy_and_the_standard_library_only(self, beside_the_notebook):
        """Importing the package loads no other package, and no module that is missing in a browser."""
        code = (
            "import sys\nfrom autograder import check, hint\n"
            "extra = {m.partition('.')[0] for m in sys.modules} - sys.stdlib_module_names - {'__main__', 'autograder', 'numpy'}\n"
            "print(sorted(m for m in extra if not m.startswith(('_', 'sitecustomize', 'numpy'))))\n"
            "print(sorted({'subprocess', 'multiprocessing', 'fcntl', 'asyncio', 'pytest'} & set(sys.modules)))"
        )
        packages = [str(Path(np.__file__).parents[1])]
        done = process(beside_the_notebook, "-S", "-c", f"import sys; sys.path[:0] = {packages}\n{code}")
        assert done.stdout.split("\n")[:2] == ["[]", "[]"], done.stderr

    def test_a_script_ends_with_the_card_after_two_frames(self, beside_the_notebook):
        """In plain Python the traceback shows the student's line and the call, then the card."""
        done = script(beside_the_notebook, WRONG)
        assert done.stdout == ""
        assert done.stderr.count('  File "') == 2
        assert "\nautograder.CheckFailed: softmax   1 of 3 points here" in done.stderr

    @pytest.mark.slow
    def test_an_ipython_terminal_shows_the_card_and_no_frames(self, beside_the_notebook):
        """In IPython's terminal, only the card is shown."""
        (beside_the_notebook / "cells.ipy").write_text(f"{SETUP}{WRONG}\ncheck(softmax)\n")
        done = process(beside_the_notebook, "-m", "IPython", "--colors=NoColor", "cells.ipy")
        both = done.stdout + done.stderr
        assert "softmax   1 of 3 points here" in both
        assert "You subtracted one maximum" in both
        assert "Traceback" not in both
        assert "selfcheck/__init__.py" not in both

    @pytest.mark.slow
    def test_a_kernel_gets_a_card_and_a_short_error(self, beside_the_notebook):
        """In a notebook, a failure is an HTML card (with text as an alternative) and one sentence. A pass is only the card."""
        sources = [SETUP + WRONG, "check(softmax)", RIGHT, "check(softmax)", "hint(softmax)"]
        sources += [BLANK, RIGHT + ")", "check(softmax)"]
        cells = run_notebook(beside_the_notebook, sources)
        card, error = cells[1].outputs
        assert card.output_type == "display_data"
        assert "<section" in card.data["text/html"]
        assert card.data["text/plain"].startswith("softmax   1 of 3")
        assert (error.output_type, error.ename) == ("error", "CheckFailed")
        assert error.traceback == ["softmax is not right yet. The card above says what to check."]
        [passed] = cells[3].outputs
        assert "Well done" in passed.data["text/html"]
        [refused] = cells[7].outputs
        assert refused.traceback[0].startswith("Python could not parse the cell of `softmax` (a SyntaxError), so")
        [given] = cells[4].outputs
        assert "passes all checks here, so it needs no hint" in given.data["text/html"]


@pytest.mark.slow
class TestValidate:
    def test_nbgrader_reports_the_failing_cell_with_its_card(self, beside_the_notebook):
        """`nbgrader validate` names the cell and prints every line of the card."""
        told = validated(beside_the_notebook, WRONG)
        assert "VALIDATION FAILED ON 1 CELL(S)!" in told
        assert "    check(softmax)" in told
        card = told[told.index("    softmax   1 of 3 points here") :]
        assert "You subtracted one maximum for the whole array." in " ".join(card.split())
        assert "..." not in card
        assert "Traceback" not in told

    def test_nbgrader_is_content_with_a_right_notebook(self, beside_the_notebook):
        """A right function passes although it causes a NumPy warning."""
        warns = RIGHT.replace("return", "np.log(np.zeros(1))\n    return")
        assert "Success! Your notebook passes all the tests." in validated(beside_the_notebook, warns)

    def test_a_blank_notebook_does_not_validate(self, beside_the_notebook):
        """A blank stub does not pass validation."""
        told = validated(beside_the_notebook, BLANK)
        assert "VALIDATION FAILED" in told
        assert "softmax   not attempted yet" in told


def run_notebook(folder, sources):
    """Return the cells of a notebook after a real kernel ran them."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    nbformat.write(notebook, folder / "chapter.ipynb")
    done = process(folder, "-m", "jupyter", "execute", "--allow-errors", "--inplace", "chapter.ipynb")
    assert done.returncode == 0, done.stderr
    return nbformat.read(folder / "chapter.ipynb", as_version=4).cells


def validated(folder, answer):
    """Return the output of ``nbgrader validate`` for a released notebook with one exercise, whose stub contains ``answer``."""

    def cell(source, grade_id, *, grade):
        about = {"grade_id": grade_id, "grade": grade, "solution": not grade, "locked": grade, "schema_version": 3}
        about |= {"task": False, "cell_type": "code", **({"points": 4} if grade else {})}
        return nbformat.v4.new_code_cell(source, metadata={"nbgrader": about})

    cells = [
        nbformat.v4.new_code_cell(SETUP),
        cell(answer.strip(), "softmax", grade=False),
        cell("check(softmax)", "check_softmax", grade=True),
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), folder / "chapter.ipynb")
    return process(folder, "-m", "nbgrader", "validate", "chapter.ipynb").stdout

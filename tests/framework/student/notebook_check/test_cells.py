"""Test, in real kernels, what ``check``, pictures and other cells say about cells that were changed or not run."""

from __future__ import annotations

import os
import time

import pytest

from autograder.student.terminal.starting import STARTUP

pytestmark = pytest.mark.slow

SETUP = "# The set-up.\nimport numpy as np\n\nfrom autograder import check, hint, requires"
SOFTMAX = '''def softmax(x, axis=-1):
    """Turn scores into weights."""
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)'''
MEAN = "def mean_of(x):\n    return double(x).mean() / 2"
DOUBLE = "# Doubles a number.\ndef double(x):\n    return 2 * x"
PICTURE = '@requires("mean_of")\ndef picture():\n    print("drawn", mean_of(np.ones(2)))'
QUIZ = 'q1 = "b"\nq2 = 0.5'
CELLS = {"setup": SETUP, "softmax": SOFTMAX, "double": DOUBLE, "mean_of": MEAN, "picture": PICTURE, "quiz_ch9": QUIZ}
CELLS["check_quiz_ch9"] = 'check("quiz_ch9")'


@pytest.fixture(scope="module", params=[True, False], ids=["in JupyterLab", "without ids of cells"])
def ready(kernels, by_hand_folder, request):
    """Return a notebook whose first cells were run, in a front end that sends the ids of cells or does not."""
    notebook = kernels(by_hand_folder(), CELLS)
    notebook.ids = request.param
    for name in ("setup", "double", "mean_of"):
        notebook.run(name)
    return notebook


@pytest.fixture
def notebook(ready):
    """Return the notebook after running and checking a right ``softmax``."""
    ready.run("softmax")
    assert "Well done" in ready.run("check", "check(softmax)")
    return ready


KEPT = "so `softmax` is still your earlier version: correct the cell, run it, and check again."


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (SOFTMAX + ")", "Python could not parse the cell of `softmax` (a SyntaxError)"),
        (SOFTMAX.replace("def softmax", "def soft_max"), "The cell of `softmax` now defines `soft_max` instead"),
        ('"""Turn scores into weights."""\nprint("gone")', "The cell of `softmax` no longer defines it"),
        (f"1 / 0\n{SOFTMAX}", "The cell of `softmax` stopped with an error"),
    ],
    ids=["a syntax error", "another name", "nothing", "an error before it"],
)
def test_an_older_function_is_not_checked(notebook, code, why):
    """The message says what happened to the cell. Other exercises are still checked, and so is this one once its cell is repaired."""
    notebook.run("softmax", code)
    assert notebook.run("check", "check(softmax)") == f"{why}, {KEPT}"
    assert notebook.run("check", 'check("softmax")') == f"{why}, {KEPT}"
    assert "Well done" in notebook.run("check", "check(mean_of)")
    notebook.run("softmax")
    assert "Well done" in notebook.run("check", "check(softmax)")


def test_a_cell_that_was_changed_and_not_run_is_named(notebook):
    """If the saved cell differs from the cell that was run, the message names it. Changed comments and docstrings do not matter."""
    notebook.save(softmax=SOFTMAX.replace("scores into weights", "numbers") + "  # done")
    assert "Well done" in notebook.run("check", "check(softmax)")
    notebook.save(softmax=SOFTMAX.replace("e /", "2 * e /"))
    changed = "You have changed the cell of `softmax` since you last ran it: run the cell, and check again."
    assert notebook.run("check", "check(softmax)") == changed
    notebook.save()
    assert "Well done" in notebook.run("check", "check(softmax)")


def test_a_save_that_ended_late_is_no_change(notebook):
    """On a slow computer, a save of an earlier version may end after the next version ran. A later save is a change."""
    notebook.run("softmax", SOFTMAX + ")")
    notebook.run("softmax")
    notebook.save(softmax=SOFTMAX + ")")
    assert "Well done" in notebook.run("check", "check(softmax)")
    saved = time.time() + 60
    os.utime(notebook.path, (saved, saved))
    assert notebook.run("check", "check(softmax)").startswith("You have changed the cell of `softmax`")
    notebook.save()


def test_a_copy_and_an_older_function_are_no_stale_ones(notebook):
    """A copy of the cell may be changed, and an older function that is passed to ``check`` is checked."""
    notebook.run("copy", SOFTMAX)
    notebook.run("copy", SOFTMAX.replace("def softmax", "old = softmax\ndef mine"))
    if not notebook.ids:  # the copy could be the cell itself
        notebook.run("softmax")
    assert "Well done" in notebook.run("check", "check(softmax)")
    notebook.run("softmax", SOFTMAX.replace("e /", "2 * e /"))
    assert "Well done" in notebook.run("check", "check(old)")


def test_a_quiz_is_not_checked_with_older_answers(notebook):
    """If the cell of answers has a syntax error, the older answers are still defined, but are not checked."""
    notebook.run("quiz_ch9")
    assert "every answer is valid" in notebook.run("check", 'check("quiz_ch9")')
    notebook.run("quiz_ch9", 'q1 = "b\nq2 = 0.5')
    shown = notebook.run("check", 'check("quiz_ch9")')
    assert shown.startswith(
        "Python could not parse the cell of `quiz_ch9` (a SyntaxError), so `quiz_ch9` is still your earlier"
    )
    notebook.run("quiz_ch9")


def test_a_hint_does_not_judge_an_older_function(notebook):
    """If the older function passes but its cell now has a syntax error, the message says so, and the first hint follows."""
    notebook.run("softmax", f"{SOFTMAX})")
    hint = notebook.run("check", "hint(softmax)")
    assert f"Python could not parse the cell of `softmax` (a SyntaxError), {KEPT} First hint." in hint
    assert "passes all checks" not in hint
    notebook.run("softmax")
    assert "passes all checks here" in notebook.run("check", "hint(softmax)")


FIRST = "Run that cell first, or all cells above this one (Run › Run All Above Selected Cell)."


def test_after_a_restart_each_cell_names_the_one_to_run(kernels, by_hand_folder):
    """A message names the cell that defines a missing name. A name that no cell defines keeps its traceback, and so does an error in a function."""
    notebook = kernels(by_hand_folder(), CELLS)
    notebook.run("setup")
    missing = f"is defined in the cell that begins `def softmax(x, axis=-1):`. {FIRST}"
    assert notebook.run("check", "check(softmax)") == f"`softmax` {missing}"
    assert notebook.run("check", "hint(softmax)") == f"`softmax` {missing}"
    assert notebook.run("check", "print(softmax([1.0]))") == f"`softmax` {missing}"
    given = f"`mean_of` is defined in the cell that begins `def mean_of(x):`. {FIRST}"
    assert notebook.run("picture") == f"Nothing to see yet: {given} Then run this cell again."
    assert "NameError: name 'nowhere'" in notebook.run("own", "nowhere + 1")
    assert notebook.run("own", "check(quiz_ch9)") == 'Write the name in quotes, as in `check("quiz_ch9")`.'
    notebook.run("mean_of")
    given = f"`double` is defined in the cell that begins `# Doubles a number.`. {FIRST}"
    assert notebook.run("picture") == f"Nothing to see yet: {given} Then run this cell again."
    assert given in notebook.run("check", "check(mean_of)")
    assert "Traceback" in notebook.run("own", "mean_of(1)")
    notebook.run("double")
    assert notebook.run("picture") == "drawn 1.0"


def test_a_kernel_of_start_names_the_set_up(kernels, by_hand_folder):
    """A kernel of ``autograder start`` knows the notebook before any cell is run, so a message is shown even if ``check`` itself is undefined."""
    notebook = kernels(by_hand_folder(), CELLS, PYTHONSTARTUP=str(STARTUP))
    missing = f"is defined in the cell that begins `# The set-up.`. {FIRST}"
    assert notebook.run("check", "check(softmax)") == f"`check` {missing}"
    assert notebook.run("picture") == f"`requires` {missing}"
    assert notebook.run("own", "print([n for n in dir() if 'autograder' in n])") == "[]"

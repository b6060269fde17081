"""Tests of how ``hint()`` locates a mistake in the student's own code if no written hint fits, or after all hints are read."""

import linecache

import numpy as np
import pytest

from autograder.base.attempt import parsed
from autograder.mistakes.edits.generator import Definition
from autograder.mistakes.fault_localization.hints import is_side_effect_free
from autograder.student.notebook_check.progress import PROGRESS_NAME
from tests.support import examples_by_hand as by_hand

MIDDLE = "\n\ndef softmax(x, axis=-1):\n    e = np.exp(x - x.max(axis=axis, keepdims=True))\n    total = e.sum(axis=0, keepdims=True)\n    return e / total\n"


@pytest.fixture
def cell(tmp_path, monkeypatch, capsys):
    """Return a function that runs cells as IPython does and returns what they print. All written hints have been read."""
    by_hand.write_chapter(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("autograder.student.notebook_check.progress._remembered", {})
    monkeypatch.setattr("autograder.student.notebook_check.helping._shown_for", {})
    # The limits are raised, because a machine that runs tests may be busy.
    for limit, seconds in {
        "hints.SECONDS": 20.0,
        "hints._COLLECTING": 2.0,
        "hints._CALL_SECONDS": 2.0,
        "functions._CALL_SECONDS": 2.0,
    }.items():
        monkeypatch.setattr(f"autograder.mistakes.fault_localization.{limit}", seconds)
    names = {"__name__": "__main__"}
    count = iter(range(100))

    def run(source):
        name = f"<ipython-input-{next(count)}-{tmp_path.name}>"
        linecache.cache[name] = (len(source), None, [line + "\n" for line in source.split("\n")], name)
        exec(compile(source, name, "exec"), names)  # noqa: S102 - as a notebook would
        return " ".join(capsys.readouterr().out.split())

    run("import numpy as np\nfrom autograder import check, hint\nfor _ in range(3): hint('softmax')")
    return run


def _forget(folder):
    """Delete the progress file, so that no hint counts as read."""
    [progress] = folder.rglob(PROGRESS_NAME)
    progress.unlink()


def test_the_line_of_the_students_own_cell(cell):
    """After the last written hint, ``hint`` gives the line within the cell, what to look at there, and why."""
    cell(MIDDLE)
    text = cell(
        "before = np.random.get_state()[1].sum()\nhint(softmax)\nassert before == np.random.get_state()[1].sum()"
    )
    assert "A change in line 5 of your cell makes all checks here pass: look, for example, at the axis." in text
    assert "axis=-1" not in text


def test_at_once_where_no_written_hint_fits(cell, tmp_path):
    """The line is shown before the written hints, unless an unread hint is about the same kind of edit. It is shown once for the same code."""
    _forget(tmp_path)
    cell(MIDDLE)
    told = cell("hint(softmax)")
    assert "A change in line 5 of your cell makes all checks here pass: look, for example, at the axis." in told
    assert "`hint(softmax)` shows the first written hint." in told
    assert "First hint." in cell("hint(softmax)")
    cell(MIDDLE.replace("keepdims=True)\n    total", ")\n    total"))
    assert "Second hint: look at `keepdims`" in cell("hint(softmax)"), "two mistakes, and nothing that is proven"
    cell(MIDDLE.replace("axis=0, keepdims=True", "axis=axis"))
    _forget(tmp_path)
    assert "First hint." in cell("hint(softmax)"), "the second one speaks of `keepdims`"
    cell(by_hand_right())
    assert "passes all checks here" in cell("hint(softmax)"), "nothing is wrong"


def test_a_helper_is_the_students_code_too(cell):
    """The line may be in another cell, which the message names by the function defined in it."""
    cell("def shares(e, axis):\n    return e * e.sum(axis=axis, keepdims=True)")
    cell("def softmax(x, axis=-1):\n    return shares(np.exp(x - x.max(axis=axis, keepdims=True)), axis)")
    told = cell("hint('softmax')")
    assert (
        "A change in line 2 of the cell that defines `shares` makes all checks here pass: look, for example, at which operator is used."
        in told
    )


def test_nothing_is_made_up(cell):
    """For a function that is blank or far from right, ``hint`` names no line."""
    for source in (
        "def softmax(x, axis=-1):\n    raise NotImplementedError",
        "def softmax(x, axis=-1):\n    return str(x)",
    ):
        cell(source)
        assert "You have seen all 3 hints" in cell("hint(softmax)")


def by_hand_right():
    """Return the source of the right function."""
    return "def softmax(x, axis=-1):\n    e = np.exp(x - x.max(axis=axis, keepdims=True))\n    return e / e.sum(axis=axis, keepdims=True)"


def test_what_does_more_than_compute_is_never_run(cell, tmp_path):
    """A function that writes a file, imports a module or changes the notebook's variables is never run."""
    cell("kept, calls = [], 0")
    for line in (
        "open('out.txt', 'a').write('x')",
        "np.save('out.npy', x)",
        "x.tofile('out.bin')",
        "kept.append(1)",
        "import os",
        "global calls; calls += 1",
        "__builtins__['open']('out.txt', 'w')",
    ):
        cell(f"def softmax(x, axis=-1):\n    {line}\n    e = np.exp(x)\n    return e / e.sum(axis=0, keepdims=True)")
        assert "You have seen all 3 hints" in cell("hint(softmax)"), line
    assert not list(tmp_path.glob("out.*"))
    assert cell("print(kept, calls)") == "[] 0"


@pytest.mark.parametrize(
    ("body", "harmless"),
    [
        ("y = np.zeros_like(x)\n    y[0] = x[0]\n    return y", True),
        ("return sum(math.sqrt(v) for v in x)", True),
        ("table[0] = 1\n    return x", False),
        ("return eval('x')", False),
        ("return x.__class__", False),
        ("return np.lib", False),
        ("return unknown(x)", False),
    ],
)
def test_what_is_known_to_compute_only(body, harmless):
    """Code is run only if it is known to have no side effects."""
    import math  # noqa: PLC0415

    text = f"def f(x):\n    {body}\n"
    definition = Definition.of(parsed(text).body[0], text)
    assert is_side_effect_free([definition], {"np": np, "math": math, "table": np.zeros(3)}) is harmless

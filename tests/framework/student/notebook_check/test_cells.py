"""What ``check``, pictures and cells say about cells that were not run, or that were changed: in real kernels."""

from __future__ import annotations

import json
import os
import re

import pytest
from jupyter_client.manager import KernelManager

from autograder.student.terminal.starting import STARTUP
from tests.support import ROOT
from tests.support import examples_by_hand as by_hand

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


class Notebook:
    """A notebook file and a kernel. ``ids`` is whether the front end names the cells, as JupyterLab does and a browser does not."""

    def __init__(self, folder, manager):
        self.path = folder / f"{by_hand.CHAPTER}.ipynb"
        self.manager, self.client, self.ids = manager, manager.blocking_client(), True
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)

    def save(self, **changed):
        """Write the file, later than everything that was run."""
        stubs = {"softmax", "mean_of", "quiz_ch9"}
        cells = [
            {
                "id": name,
                "cell_type": "code",
                "source": source,
                "metadata": {"nbgrader": {"grade_id": name}} if name in stubs else {},
            }
            for name, source in (CELLS | changed).items()
        ]
        self.path.write_text(json.dumps({"cells": cells}))

    def run(self, name, source=None):
        """Run a cell by its name, or another one, and return everything that it shows as one line."""
        content = {"code": source or CELLS[name], "silent": False, "store_history": True}
        content |= {"user_expressions": {}, "allow_stdin": False, "stop_on_error": False}
        about = {"cellId": name} if self.ids else {}
        message = self.client.session.msg("execute_request", content, metadata=about)
        self.client.shell_channel.send(message)
        shown = []
        while True:
            reply = self.client.get_iopub_msg(timeout=60)
            if reply["parent_header"].get("msg_id") != message["header"]["msg_id"]:
                continue
            said = reply["content"]
            if reply["msg_type"] == "status" and said["execution_state"] == "idle":
                return " ".join(re.sub(r"\x1b\[[\d;]*m", "", " ".join(shown)).split())
            shown += said.get("traceback", [said.get("text", said.get("data", {}).get("text/plain", ""))])


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    """A function that starts a kernel in a folder of its own, with a chapter's examples, and returns its notebook."""
    managers = []

    def start(**environment):
        folder = tmp_path_factory.mktemp("course") / by_hand.CHAPTER
        folder.mkdir()
        by_hand.write_chapter(folder)
        clean = {
            n: v for n, v in os.environ.items() if not n.startswith(("JPY_", "JUPYTER", "NBGRADER", "PYTHONSTARTUP"))
        }
        manager = KernelManager()
        manager.start_kernel(
            cwd=str(folder), env=clean | {"PYTHONPATH": str(ROOT), "IPYTHONDIR": str(folder / "i")} | environment
        )
        managers.append(manager)
        notebook = Notebook(folder, manager)
        notebook.save()
        return notebook

    yield start
    for manager in managers:
        manager.shutdown_kernel(now=True)


@pytest.fixture(scope="module", params=[True, False], ids=["in JupyterLab", "without ids of cells"])
def ready(kernels, request):
    """A notebook whose first cells were run, in a front end that names its cells or does not."""
    notebook = kernels()
    notebook.ids = request.param
    for name in ("setup", "double", "mean_of"):
        notebook.run(name)
    return notebook


@pytest.fixture
def notebook(ready):
    """The notebook with a right ``softmax``."""
    ready.run("softmax")
    assert "Well done" in ready.run("check", "check(softmax)")
    return ready


KEPT = "so `softmax` is still your earlier version: run the cell, and check again."


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (SOFTMAX + ")", "Python could not read the cell of `softmax` (a SyntaxError)"),
        (SOFTMAX.replace("def softmax", "def soft_max"), "The cell of `softmax` now defines `soft_max` instead"),
        ('"""Turn scores into weights."""\nprint("gone")', "The cell of `softmax` no longer defines it"),
        (f"1 / 0\n{SOFTMAX}", "The cell of `softmax` stopped with an error"),
    ],
    ids=["a syntax error", "another name", "nothing", "an error before it"],
)
def test_an_older_function_is_not_checked(notebook, code, why):
    """The sentence says what happened to the cell. The other exercises are checked, and so is the cell after its repair."""
    notebook.run("softmax", code)
    assert notebook.run("check", "check(softmax)") == f"{why}, {KEPT}"
    assert notebook.run("check", 'check("softmax")') == f"{why}, {KEPT}"
    assert "Well done" in notebook.run("check", "check(mean_of)")
    notebook.run("softmax")
    assert "Well done" in notebook.run("check", "check(softmax)")


def test_a_cell_that_was_changed_and_not_run_is_named(notebook):
    """The file is newer than the run. A changed comment or docstring is no change."""
    notebook.save(softmax=SOFTMAX.replace("scores into weights", "numbers") + "  # done")
    assert "Well done" in notebook.run("check", "check(softmax)")
    notebook.save(softmax=SOFTMAX.replace("e /", "2 * e /"))
    changed = "You have changed the cell of `softmax` since you last ran it: run the cell, and check again."
    assert notebook.run("check", "check(softmax)") == changed
    notebook.save()
    assert "Well done" in notebook.run("check", "check(softmax)")


def test_a_copy_and_an_older_function_are_no_stale_ones(notebook):
    """A copy of the cell may be changed, and an older function that is handed over is checked."""
    notebook.run("copy", SOFTMAX)
    notebook.run("copy", SOFTMAX.replace("def softmax", "old = softmax\ndef mine"))
    if not notebook.ids:  # the copy could be the cell itself
        notebook.run("softmax")
    assert "Well done" in notebook.run("check", "check(softmax)")
    notebook.run("softmax", SOFTMAX.replace("e /", "2 * e /"))
    assert "Well done" in notebook.run("check", "check(old)")


def test_a_quiz_is_not_checked_with_older_answers(notebook):
    """A cell of answers with a syntax error leaves the older answers."""
    notebook.run("quiz_ch9")
    assert "every answer is valid" in notebook.run("check", 'check("quiz_ch9")')
    notebook.run("quiz_ch9", 'q1 = "b\nq2 = 0.5')
    shown = notebook.run("check", 'check("quiz_ch9")')
    assert shown.startswith(
        "Python could not read the cell of `quiz_ch9` (a SyntaxError), so `quiz_ch9` is still your earlier"
    )
    notebook.run("quiz_ch9")


FIRST = "Run that cell first, or all cells above this one (Run › Run All Above Selected Cell)."


def test_after_a_restart_each_cell_names_the_one_to_run(kernels):
    """The set-up was run, and nothing else. A name that no cell defines keeps its traceback, and so does an error in a function."""
    notebook = kernels()
    notebook.run("setup")
    missing = f"is defined in the cell that begins `def softmax(x, axis=-1):`. {FIRST}"
    assert notebook.run("check", "check(softmax)") == f"`softmax` {missing}"
    assert notebook.run("check", "hint(softmax)") == f"`softmax` {missing}"
    assert notebook.run("check", "print(softmax([1.0]))") == f"`softmax` {missing}"
    given = f"`mean_of` is defined in the cell that begins `def mean_of(x):`. {FIRST}"
    assert notebook.run("picture") == f"Nothing to see yet: {given} Then run this cell again."
    assert "NameError: name 'nowhere'" in notebook.run("own", "nowhere + 1")
    notebook.run("mean_of")
    given = f"`double` is defined in the cell that begins `# Doubles a number.`. {FIRST}"
    assert notebook.run("picture") == f"Nothing to see yet: {given} Then run this cell again."
    assert given in notebook.run("check", "check(mean_of)")
    assert "Traceback" in notebook.run("own", "mean_of(1)")
    notebook.run("double")
    assert notebook.run("picture") == "drawn 1.0"


def test_a_kernel_of_start_names_the_set_up(kernels, tmp_path):
    """Its kernels know the notebook before any cell was run, so that ``check`` itself may be missing."""
    (tmp_path / "startup.py").write_text(STARTUP)
    notebook = kernels(PYTHONSTARTUP=str(tmp_path / "startup.py"))
    missing = f"is defined in the cell that begins `# The set-up.`. {FIRST}"
    assert notebook.run("check", "check(softmax)") == f"`check` {missing}"
    assert notebook.run("picture") == f"`requires` {missing}"
    assert notebook.run("own", "print([n for n in dir() if 'autograder' in n])") == "[]"

"""Test standard notebooks in the sandbox: nbgrader's rules give the same scores as after a run in a kernel."""

import copy
import socket

import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.preprocessors import Execute
from nbgrader.utils import determine_grade
from traitlets.config import Config

from autograder.nbgrader.execute import CannotExecuteError, ExecuteConfined
from tests.framework.nbgrader.standard.test_quickstart import documented_line


def cell(source, grade_id="", points=None, *, solution=False, tags=()):
    """Return a code cell. With points, it is a locked, graded cell or, with ``solution``, a manually graded cell."""
    made = new_code_cell(source)
    if grade_id:
        role = {"grade": points is not None, "solution": solution, "locked": not solution}
        made.metadata["nbgrader"] = {"grade_id": grade_id, "points": points or 0, "schema_version": 3, **role}
    if tags:
        made.metadata["tags"] = list(tags)
    return made


def notebook(*cells, language="python"):
    """Return a notebook of these cells. A string becomes a student's cell."""
    spec = {"name": "python3" if language == "python" else language, "language": language, "display_name": language}
    made = [cell(one) if isinstance(one, str) else one for one in cells]
    return new_notebook(cells=made, metadata={"kernelspec": spec})


def run(nb, folder, step=ExecuteConfined, **config):
    """Run the preprocessor ``step`` on a copy of the notebook in ``folder``, and return the resulting notebook."""
    made = step(config=Config({step.__name__: config}))
    done, _resources = made.preprocess(copy.deepcopy(nb), {"metadata": {"path": str(folder)}})
    return done


def scores(nb):
    """Return the score of each graded cell by nbgrader's own rule."""
    graded = [one for one in nb.cells if one.metadata.get("nbgrader", {}).get("grade")]
    return {one.metadata.nbgrader.grade_id: determine_grade(one)[0] for one in graded}


@pytest.fixture
def graded(tmp_path):
    """Return a function that runs cells in the sandbox, in the test's folder, and returns the scores."""

    def grade(*cells, **config):
        return scores(run(notebook(*cells), tmp_path, **config))

    return grade


STUDENT = """
import sys, warnings
import numpy as np
def half(): return 0.5
def shout(n=1):
    print("!" * n)
def complain():
    print("hm", file=sys.stderr)
def warn():
    warnings.warn("careful")
"""

# Graded cells, each of which depends on one rule.
RULES = {
    "asserts_hold": "assert half() == 0.5",
    "assert_fails": "assert half() == 1",
    "partial": "half()",
    "partial_int": "1",
    "partial_float_subclass": "np.float64(0.5)",
    "partial_silenced": "half();",
    "no_result": "x = half()",
    "none_result": "shout()",
    "text_result": "'0.5'",
    "list_result": "[0.5]",
    "bool_result": "half() > 0",
    "stderr": "complain()",
    "stderr_then_partial": "complain()\nhalf()",
    "warning": "warn()",
    "warning_again": "warn()",
    "shown_then_partial": "display(half())\nhalf()",
    "raise_after_result": "half()\nraise ValueError('no')",
    "exits": "import sys\nsys.exit(0)",
    "syntax": "def broken(:",
    "misplaced_return": "made_before = 3\nreturn 3",
    "what_stands_above_is_done": "assert made_before == 3",
    "missing_name": "nowhere",
    "awaits": "import asyncio\nawait asyncio.sleep(0)\nassert await asyncio.to_thread(half) == 1",
    "awaited_partial": "await asyncio.to_thread(half)",
    "asks": "input()",
    "time_magic": "%%time\nassert half() == 1",
    "inline_magic": "%matplotlib inline\nassert half() == 0.5",
    "redefines": "kept = half\ndel half\ntry:\n    half()\nexcept NameError:\n    pass\nfinally:\n    half = kept",
    "still_there": "half()",
    "flood": "shout(600_000)\nhalf()",
    "flood_then_stderr": "shout(600_000)\ncomplain()",
    "many_outputs": "for i in range(300):\n    display(i)\n0.25",
}


def test_every_rule_gives_the_score_that_a_kernel_gives(tmp_path):
    """For one graded cell per rule, nbgrader's Execute and the sandbox give equal scores."""
    graded = [cell(source, name, 1) for name, source in RULES.items()]
    manual = cell("answer = 1", "by_hand", 2, solution=True)
    nb = notebook(STUDENT, "1 / 0", *graded, manual)
    expected = scores(run(nb, tmp_path, Execute))
    assert scores(run(nb, tmp_path)) == expected
    assert {expected[name] for name in ("partial", "assert_fails", "asserts_hold")} == {0.5, 0, 1}
    assert expected["by_hand"] is None


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["x = 1\n1 / 0", cell("assert x == 1", "t", 2)], {"t": 2.0}),
        (["import os\nx = 2", cell("os._exit(0)", "crash", 1), cell("assert x == 2", "t", 1)], {"crash": 0, "t": 1.0}),
        ([cell("x = 1", tags=["skip-execution"]), "  ", cell("assert 'x' not in dir()", "t", 1)], {"t": 1.0}),
        ([cell('text = """\n!ls\n%run\n"""\nassert text', "t", 1)], {"t": 1.0}),
    ],
    ids=["an error", "a crash, which costs its own cell", "skipped as nbclient does, or empty", "no magic but a text"],
)
def test_what_one_cell_does_keeps_no_other_from_its_score(graded, cells, expected):
    """If a cell raises an error, ends the process, is skipped or contains text like a magic, all other cells are still run."""
    assert graded(*cells) == expected


@pytest.mark.parametrize("step", ["ExecuteConfined", "Execute"])
def test_a_loop_costs_its_own_cell_only(tmp_path, step):
    """A cell that runs out of time ends with nbgrader's error, and the next cell is run. The limit may be set for either preprocessor."""
    nb = notebook(cell("while True:\n    pass", "loop", 1), cell("1", "after", 1))
    confined = ExecuteConfined(config=Config({step: {"timeout": 1}}))
    done, _resources = confined.preprocess(nb, {"metadata": {"path": str(tmp_path)}})
    assert scores(done) == {"loop": 0, "after": 1.0}
    assert done.cells[0].outputs[-1].ename == "CellTimeoutError"


def test_no_execute_means_no_execute():
    """The option --no-execute, which disables nbgrader's Execute, also disables ExecuteConfined."""
    nb = notebook(cell("1 / 0", "t", 1))
    done, _resources = ExecuteConfined(config=Config({"Execute": {"enabled": False}}))(nb, {"metadata": {"path": "."}})
    assert done.cells[0].outputs == []


@pytest.mark.parametrize("confinement", ["bubblewrap", "landlock"])
def test_files_beside_the_notebook_can_be_opened_imported_and_changed(tmp_path, confinement):
    """Data and modules are available: read-only with Landlock alone, else as copies. Written files stay in the sandbox."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "rows.csv").write_text("1,2\n")
    (tmp_path / "helper.py").write_text("answer = 42\n")
    cells = {
        "reads": "assert open('data/rows.csv').read() == '1,2\\n'",
        "imports": "import helper\nassert helper.answer == 42",
        "writes": "open('data/rows.csv', 'w').write('3')\nopen('new.txt', 'w').write('4');",
        "reads_again": "assert open('data/rows.csv').read() == '3'",
    }
    nb = notebook(*[cell(source, name, 1) for name, source in cells.items()])
    written = float(confinement == "bubblewrap")
    expected = {"reads": 1.0, "imports": 1.0, "writes": written, "reads_again": written}
    assert scores(run(nb, tmp_path, confinement=confinement)) == expected
    assert (tmp_path / "data" / "rows.csv").read_text() == "1,2\n"
    assert not (tmp_path / "new.txt").exists()


def test_no_other_notebook_and_nothing_behind_a_link_is_offered(tmp_path):
    """Another notebook, which may have hidden tests, and a link out of the folder are not available."""
    folder = tmp_path / "autograded"
    folder.mkdir()
    (tmp_path / "gradebook.db").write_text("marks")
    (folder / "other.ipynb").write_text("hidden tests")
    (folder / "link.txt").symlink_to(tmp_path / "gradebook.db")
    (folder / "dir").symlink_to(tmp_path)
    nb = notebook("import os", cell("assert os.listdir() == []", "t", 1))
    assert scores(run(nb, folder)) == {"t": 1.0}


def test_the_course_and_the_network_are_out_of_reach(tmp_path, graded):
    """A cell can reach neither the course's folder nor a server on this machine."""
    (tmp_path.parent / "gradebook.db").write_text("marks")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        reaches = f"""
import os, socket
reached = []
try:
    open({str(tmp_path.parent / "gradebook.db")!r}); reached.append("file")
except OSError: pass
try:
    socket.create_connection(("127.0.0.1", {port}), 1); reached.append("network")
except OSError: pass
"""
        assert graded(reaches, cell("assert reached == []", "t", 1)) == {"t": 1.0}


def test_nothing_stays_from_one_notebook_to_the_next(graded):
    """A notebook sees neither the files that the previous notebook wrote nor its changes to modules."""
    graded("import numpy\nnumpy.left = 1\nopen('left.txt', 'w').write('x')")
    checks = "import os, numpy\nassert not os.path.exists('left.txt') and not hasattr(numpy, 'left')"
    assert graded(cell(checks, "t", 1)) == {"t": 1.0}


def test_nbgraders_variables_are_handed_on_and_no_others(graded, monkeypatch):
    """Cells see NBGRADER_EXECUTION, as under nbgrader, but nothing else of the instructor's environment."""
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    monkeypatch.setenv("COURSE_SECRET", "hush")
    checks = "assert os.environ['NBGRADER_EXECUTION'] == 'autograde' and 'COURSE_SECRET' not in os.environ"
    assert graded("import os", cell(checks, "t", 1)) == {"t": 1.0}


def test_a_package_must_be_named(graded):
    """Only listed packages can be imported, with their dependencies."""
    source = cell("import traitlets", "t", 1)
    assert graded(source) == {"t": 0}
    assert graded(source, packages=["traitlets"]) == {"t": 1.0}


@pytest.mark.parametrize(
    ("source", "config", "reason"),
    [
        ("while True: pass", {"timeout": 1, "interrupt_on_timeout": False}, "Cell 1 ran longer than 1 seconds"),
        ("1", {"files_mb": 1}, r"more than 1 MiB or 1000 files.*c\.ExecuteConfined\.files_mb"),
        ("1", {"packages": ["no-such-thing"]}, r"c\.ExecuteConfined\.packages lists no-such-thing, but one of these"),
    ],
    ids=["a loop, where Execute is set to stop at it", "too many files", "a package that is not installed"],
)
def test_a_notebook_that_cannot_be_run_gets_a_reason(tmp_path, source, config, reason):
    """An invalid configuration gives a readable reason, and no mark."""
    (tmp_path / "big.bin").write_bytes(bytes(2 << 20))
    with pytest.raises(CannotExecuteError, match=reason):
        run(notebook(source), tmp_path, **config)


def test_another_language_is_refused(tmp_path):
    """A notebook for a kernel of another language is not run, and the reason names the kernel."""
    nb = notebook("x <- 1", language="R")
    nb.metadata.kernelspec["name"] = "ir"
    with pytest.raises(CannotExecuteError, match=r"kernel 'ir' uses R\. Only Python can run in the sandbox"):
        run(nb, tmp_path)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("!ls", "the shell escape '!ls'"),
        ("files = !ls", "the shell escape 'files = !ls'"),
        ("%%bash\nls", "%%bash"),
        ("%run other.py", "%run"),
    ],
)
def test_a_locked_cell_beyond_python_is_refused(tmp_path, source, found):
    """If the instructor's own cell needs something that the sandbox lacks, no mark is given, and the reason names it."""
    with pytest.raises(CannotExecuteError) as caught:
        run(notebook(cell(source, "t", 1)), tmp_path)
    assert f"The locked cell 't' uses {found}, which the sandbox does not run." in str(caught.value)


def test_figures_are_kept_and_cost_nothing(tmp_path):
    """A figure that a graded cell draws is in the cell's outputs, and the score is right."""
    source = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\n0.5"
    done = run(notebook(cell(source, "t", 1)), tmp_path)
    assert scores(done) == {"t": 0.5}
    assert any("image/png" in output.get("data", {}) for output in done.cells[0].outputs)


def test_the_documented_line_is_nbgraders_own_chain_with_one_step_replaced():
    """The configuration in the docs differs from nbgrader's default only in the step Execute."""
    from nbgrader.converters import Autograde  # noqa: PLC0415 - its import is slow

    settings: dict = {}
    exec(documented_line().replace("c.Autograde.autograde_preprocessors", "chain"), settings)  # noqa: S102 - our own page
    names = [name.rsplit(".", 1)[1] for name in settings["chain"]]
    stock = [step.__name__ for step in Autograde.autograde_preprocessors.default_args[0]]
    assert names == ["ExecuteConfined" if name == "Execute" else name for name in stock]

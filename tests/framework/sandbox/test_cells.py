"""Test running the cells of a notebook: their output, and that no cell prevents the next one from running."""

from __future__ import annotations

import base64
from contextlib import closing
from unittest import mock

import pytest

from autograder.sandbox.guest.wire_limits import TooBig
from autograder.sandbox.protocol import Answer, Call, CodeCell, TimeBudget

from .conftest import cells

NO_INPUT = "input() does not work while a notebook is graded. Write the value into the cell instead."


def outputs(session):
    """Return the outputs of the first cell, shortened to (kind, text)."""
    return [(o["output_type"], o.get("text") or o["data"]["text/plain"]) for o in session.cells[0].outputs]


def test_a_cell_shows_what_it_would_in_jupyter(run):
    """The output has the streams in order, the displays, and the value of the last expression."""
    session = run("import sys\nprint('a')\nprint('b')\nprint('c', file=sys.stderr)\ndisplay(1)\n[2]")
    streams, values = [("stream", "a\nb\n"), ("stream", "c\n")], [("display_data", "1"), ("execute_result", "[2]")]
    assert outputs(session) == streams + values


def test_a_semicolon_and_none_show_nothing(run):
    """As in Jupyter, a semicolon at the end of a line, None and an assignment produce no output."""
    assert [outputs(run(source)) for source in ("3;", "None", "x = 3")] == [[], [], []]


def test_outputs_are_valid_nbformat(run):
    """Every type of output is valid in a notebook."""
    nbformat = pytest.importorskip("nbformat")
    picture, page = (
        "import matplotlib.pyplot as plt\nplt.plot([1, 2]);",
        "from IPython.display import HTML\nHTML('<b>x</b>')",
    )
    session = run("print(1)", "1 / 0", "2", picture, page)
    shown = [[nbformat.from_dict(output) for output in one.outputs] for one in session.cells]
    made = [nbformat.v4.new_code_cell("", outputs=outputs) for outputs in shown]
    nbformat.validate(nbformat.v4.new_notebook(cells=made))
    assert session.cells[4].outputs[0]["data"]["text/html"] == "<b>x</b>"


def test_an_error_in_a_cell_is_told_and_the_next_cell_runs(run):
    """The traceback has only the student's cells and lines, and no frames of the framework."""
    session = run("def f(x):\n    return 1 / x", "x = 1\nf(0)\ny = 2", "z = x")
    outcome = session.cells[1]
    error = outcome.error
    assert (error.type, error.line, error.cell, error.where) == ("ZeroDivisionError", "return 1 / x", "cell 1", "f")
    assert outcome.outputs[-1]["traceback"] == [
        "Traceback (most recent call last):",
        "  cell 2, line 2",
        "    f(0)",
        "  cell 1, line 2, in f",
        "    return 1 / x",
        "ZeroDivisionError: division by zero",
    ]
    assert session.names() == {"f", "x", "z"}


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("x = 1\ny = (2", {"type": "SyntaxError", "lineno": 2, "line": "y = (2"}),
        ("%matplotlib inline\n!ls\n1 / 0", {"type": "ZeroDivisionError", "lineno": 3, "line": "1 / 0"}),
        ("name = input('?')", {"message": NO_INPUT}),
        ("raise ValueError('x\\x1b[2Jy\\x00')", {"message": "xy"}),
    ],
    ids=["no Python", "below magics, which count as lines", "nobody is there to answer", "control characters"],
)
def test_an_error_says_what_and_where(run, source, told):
    """An error reports its cell, the line within the cell, and a message that is safe to show."""
    session = run(source, "z = 3")
    assert {name: getattr(session.cells[0].error, name) for name in told} == told
    assert session.value("z").value == 3


@pytest.mark.parametrize(
    "source",
    [
        "%matplotlib inline\nx = 1",
        "!pip install torch\nx = 1",
        "files = !ls\nx = 1",
        "%load_ext autoreload\n%autoreload 2\nx = 1",
        "x = 1\nx?\n?x\nx??",
        "%%time\nx = 1",
        "\n%%timeit -n 10\nx = 1",
        "%time x = 1",
        "%timeit -n 5 -r 2 1 + 1\nx = 1",
        "for i in range(2):\n    !echo {i}\nx = 1",
        "!echo it's \\\n  two lines\nx = 1",
        "y = %pwd\nx = 1",
        "get_ipython().run_line_magic('matplotlib', 'inline')\nx = 1",
        "s = '''\n%not a magic\n!nor this\n'''\n%matplotlib inline\nx = 1 if '%not' in s and '!nor' in s else 0",
        "import numpy as np; a = 7 \\\n% 3\nx = a",
        "from IPython.display import display, Markdown, clear_output\nclear_output()\nx = 1",
        "from autograder import check, hint\ncheck('softmax')\nhint('softmax')\nx = 1",
        "x = 0\nif __name__ == '__main__':\n    x = 1",
        "from dataclasses import dataclass\nfrom typing import get_type_hints\n@dataclass\nclass P:\n    a: 'int' = 1\nx = P().a if get_type_hints(P) else 0",
        "import pickle\nclass P: pass\nx = len([pickle.loads(pickle.dumps(P()))])",
        "import inspect\ndef f():\n    return 'me'\nx = 1 if \"return 'me'\" in inspect.getsource(f) else 0",
        "open('note.txt', 'w').write('1')\nx = int(open('note.txt').read())",
        "import tempfile\nwith tempfile.TemporaryFile() as f:\n    f.write(b'1')\n    x = 1",
        "import warnings\nwarnings.warn('careful')\nx = 1",
    ],
)
def test_what_notebooks_hold_runs(run, source):
    """Magics, shell escapes and other usual content of notebooks never break a cell."""
    session = run(source)
    assert session.cells[0].error is None
    assert session.value("x").value == 1


ASYNC = """
import asyncio
class Five:
    async def __aenter__(self): return 5
    async def __aexit__(self, *error): pass
async def three():
    for n in range(3): yield n
async def one():
    await asyncio.sleep(0.001)
    return 1
async with Five() as five:
    found = [five]
async for n in three():
    found.append(n)
found += [n async for n in three()]
started = asyncio.create_task(one())
"""


def test_a_cell_may_await(everywhere):
    """``await`` works at the top level, as in Jupyter. Tasks continue in the next cell, threads work, and a last expression is shown."""
    rest = "found += [await started, *await asyncio.gather(one(), asyncio.to_thread(lambda: 2))]"
    with closing(everywhere.open(cells(ASYNC, rest, "await one()", "await one();"))) as session:
        assert [cell.error for cell in session.cells] == [None] * 4
        assert session.value("found").value == [5, 0, 1, 2, 0, 1, 2, 1, 1, 2]
        assert [[o["data"] for o in cell.outputs] for cell in session.cells[2:]] == [[{"text/plain": "1"}], []]


def test_a_cell_that_awaits_is_held_to_its_time_and_told_its_line(run):
    """A cell that waits or loops forever is stopped without output, an error reports its line, and the next cell has its own event loop."""
    endless = "await asyncio.sleep(1000)", "while True: await asyncio.sleep(0)"
    raises = "import asyncio\nasync def f():\n    1 / 0", "x = 1\nawait f()", "x = 2\nawait asyncio.sleep(0)\nx += 1"
    session = run(*raises[:2], *endless, raises[2])
    assert [cell.stopped for cell in session.cells] == ["", "", "timeout", "timeout", ""]
    assert [cell.outputs for cell in session.cells[2:]] == [(), (), ()]
    error = session.cells[1].error
    assert (error.type, error.cell, error.lineno, error.where) == ("ZeroDivisionError", "cell 1", 3, "f")
    assert session.value("x").value == 3


def test_names_are_those_that_python_reads(run):
    """Letters that Python normalizes, such as full-width ones, define and find the same name."""
    session = run("def ｓoftmax(ｘ): return x + 1", "ｑ１ = softmax(1)\nµ = 7")
    assert session.names() == {"softmax", "q1", "μ"}
    assert session.call(Call("softmax", (2,))).value == 3
    assert [session.value(name).value for name in ("q1", "ｑ１", "µ", "μ")] == [2, 2, 7, 7]


@pytest.mark.parametrize("magic", ["%%bash\nls", "%%html\n<b>", "%%writefile x.py\nx = 1", "%%javascript\nlet x = 1"])
def test_cells_in_other_languages_are_left_out(run, magic):
    """Cells in other languages do nothing and cause no error."""
    session = run(magic, "y = 2")
    assert (session.cells[0].outputs, session.cells[0].error, session.names()) == ((), None, {"y"})


def test_an_endless_cell_keeps_what_it_defined(run):
    """A cell that exceeds its time is interrupted. Its definitions stay, and later cells run."""
    session = run("x = 1\nwhile True: pass", "y = x + 1")
    assert [cell.stopped for cell in session.cells] == ["timeout", ""]
    assert session.alive
    assert session.value("y").value == 2


@pytest.mark.parametrize(
    ("source", "word"),
    [
        ("import os; os._exit(0)", "crash"),
        ("import ctypes; ctypes.string_at(0)", "crash"),
        ("while True:\n    try:\n        while True: pass\n    except BaseException: pass", "timeout"),
        ("import os; os.write(3, b'x' * 100)", "protocol"),
    ],
)
def test_a_cell_that_has_to_be_killed_is_left_out(run, source, word):
    """If a cell has to be killed, the other cells are run again without it, so that they can be graded."""
    session = run("x = 1", source, "y = x + 1")
    assert [cell.stopped for cell in session.cells] == ["", word, ""]
    assert session.value("y").value == 2


def test_killing_cells_goes_on_for_so_long_only(run):
    """After a few cells had to be killed, no more cells are run. Every cell still has an outcome, and the session has ended."""
    session = run(*["import os; os._exit(0)"] * 12)
    assert len(session.cells) == 12
    assert {cell.stopped for cell in session.cells} == {"crash"}
    assert not session.alive


def test_sessions_share_a_time_budget(jail):
    """Once a submission's time is used up, its sessions stop at once. The fork server keeps running for other submissions."""
    used_up = TimeBudget()
    used_up.deadline(-1.0)
    warm = jail._processes._process.pid
    with closing(jail.open(cells("x = 1", "y = 2"), budget=used_up)) as session:
        assert not session.alive
        assert {cell.stopped for cell in session.cells} == {"timeout"}
        assert session.batch([Call("f")] * 2) == [Answer(stopped="timeout")] * 2
        assert session.value("x").stopped == "timeout"
    with closing(jail.open(cells("x = 1"), budget=TimeBudget())) as session:
        assert session.value("x").value == 1
    assert jail._processes._process.pid == warm


def test_a_time_budget_is_a_few_sessions_long(monkeypatch):
    """Each session may take the submission's time limit, and all sessions together may take four times as long."""
    times = [100.0, 120.0, 270.0, 300.0, 400.0]
    monkeypatch.setattr("time.monotonic", iter(times).__next__)
    budget = TimeBudget()
    assert [budget.deadline(60.0) for _ in times] == [160.0, 180.0, 330.0, 340.0, 340.0]


def test_over_printing_is_cut(run):
    """Printed text is cut at the limit with a note, and the cell continues."""
    session = run("for i in range(10**5): print('x' * 100)\ny = 1")
    (output,) = session.cells[0].outputs
    assert len(output["text"]) < 9000
    assert output["text"].endswith("… the rest of this cell's output is not kept\n")
    assert session.value("y").value == 1


def test_control_characters_are_taken_out(run):
    """Terminal escapes and control characters of a student's text never reach a terminal or a page."""
    session = run("print('a\\x1b[31mred\\x1b[0m\\x07\\x1b]0;title\\x07b\\u202e')")
    assert session.cells[0].outputs[0]["text"] == "aredb\n"


@pytest.mark.parametrize(
    "source",
    [
        "class E(Exception):\n    def __str__(self): raise RuntimeError('no')\nraise E",
        "class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E",
        "raise ValueError('x' * 10**7)",
        "class R:\n    def __repr__(self): raise KeyError(1)\nR()",
        "class R:\n    def __repr__(self): return 'x' * 10**7\nR()",
        "class R:\n    def _repr_html_(self): return 5\nR()",
    ],
)
def test_odd_texts_are_told_somehow(run, source):
    """If the text of an exception or value is broken, endless or huge, only that text is lost."""
    session = run(source, "y = 1")
    assert sum(len(str(o)) for o in session.cells[0].outputs) < 20_000
    assert session.value("y").value == 1


def test_figures_are_drawn_and_closed(run):
    """Figures that are shown or left open at the end of a cell become one PNG each, in order."""
    shown = "plt.plot([1, 2])\nprint('before')\nplt.show()\nprint('after')\nfig, ax = plt.subplots();"
    session = run(f"import matplotlib.pyplot as plt\n{shown}", "left = plt.get_fignums()")
    kinds = [(o["output_type"], *o.get("data", {})) for o in session.cells[0].outputs]
    assert kinds == [("stream",), ("display_data", "image/png", "text/plain")] * 2
    assert base64.b64decode(session.cells[0].outputs[1]["data"]["image/png"]).startswith(b"\x89PNG")
    assert session.value("left").value == []


def test_fonts_that_matplotlib_lets_go_of_take_nothing_with_them(run):
    """After many formulas were drawn, Matplotlib may close font files, but this never closes the connection to the grader."""
    many = "for n in range(80):\n    plt.figure(figsize=(1, 1)).text(0, 0, f'$x_{{{n}}}$').figure.canvas.draw()\n    plt.close()"
    free = "from matplotlib import font_manager\nfont_manager._get_font.cache_clear()"
    session = run(f"import matplotlib.pyplot as plt\n{many}", free, "plt.plot([1, 2]).clear()\nplt.title('$y^2$');")
    assert [(outcome.error, outcome.stopped) for outcome in session.cells] == [(None, "")] * 3
    assert "image/png" in session.cells[2].outputs[0]["data"]


def test_a_picture_that_uses_the_students_functions_is_drawn_or_says_why_not(run):
    """A picture cell shows an image, a hint if the function is still a stub, or the problem, but never ends in an error."""
    drawn = "from autograder import requires\nimport matplotlib.pyplot as plt\n@requires('f')\ndef picture():\n    plt.plot(f())"
    cells = ("def f():\n    return [1, 2]", "def f():\n    raise NotImplementedError", "def f():\n    return 1 / 0")
    shown = [run(cell, drawn).cells[1] for cell in cells]
    assert [one.error for one in shown] == [None, None, None]
    assert "image/png" in shown[0].outputs[0]["data"]
    assert shown[1].outputs[0]["text"].startswith("Nothing to see yet: this cell uses your `f`.")
    assert "(ZeroDivisionError: division by zero)" in shown[2].outputs[0]["text"]


@pytest.mark.parametrize(
    ("said", "found", "line"),
    [
        ("None", "2.5", "Predict first: type what you expect for `guess`"),
        ("2.7", "2.5", "You predicted 2.7. The result is 2.5, as you predicted."),
        ("3", "2.5", "You predicted 3. The result is 2.5. What explains the difference?"),
        ("3", "3", "You predicted 3. The result is 3, as you predicted."),
        ("2.9", "3", "You predicted 2.9. The result is 3. What explains the difference?"),
        ("' Yes'", "'yes'", "You predicted  Yes. The result is yes, as you predicted."),
        ("[1]", "2.5", "You predicted [1]. The result is 2.5. What explains the difference?"),
    ],
)
def test_a_picture_waits_for_a_prediction(run, said, found, line):
    """The picture is drawn once the student has set the variable, which is then compared with the returned value."""
    drawn = (
        "from autograder import requires\nimport matplotlib.pyplot as plt\n"
        f"@requires(prediction='guess')\ndef picture():\n    plt.plot([1, 2])\n    return {found}"
    )
    outputs = run(f"guess = {said}", drawn).cells[1].outputs
    assert any("image/png" in output.get("data", {}) for output in outputs) == (said != "None")
    assert outputs[-1]["text"].startswith(line)


def test_figures_need_not_be_drawn(run):
    """With ``draw=False``, figures are closed and nothing is rendered."""
    assert run("import matplotlib.pyplot as plt\nplt.plot([1, 2]);", draw=False).cells[0].outputs == ()


def test_a_forged_picture_is_left_out(run):
    """Data that is declared as a PNG but does not start like one is left out."""
    session = run("class P:\n    def _repr_png_(self): return 'bm90IGEgcGljdHVyZQ=='\nP()")
    assert set(session.cells[0].outputs[0]["data"]) == {"text/plain"}


def test_the_namespace_holds_the_students_names_only(run):
    """``names`` has the names that the cells defined, callable or not, and none of the framework's. The last definition counts."""
    session = run("import os\na = 1\ndef f(): return display\n__x__ = 2", "def f(): return 2")
    assert session.names() == {"os", "a", "f"}
    assert session.call(Call("f")).value == 2


def test_a_cell_that_kills_the_process_takes_the_optional_ones_along(jail):
    """After a cell has ended the process, cells that only show something are skipped, and all others are run."""
    deadly = "import os; os._exit(0)"
    pictures = [CodeCell(i, f"picture {i}", deadly, optional=True) for i in range(1, 30)]
    code = [CodeCell(0, "works", "x = 1"), *pictures, CodeCell(30, "also works", "y = x + 1")]
    with closing(jail.open(code)) as session:
        assert session.value("y").value == 2
        assert session.cells[1].stopped == "crash"
        assert {cell.stopped for cell in session.cells[2:30]} == {"skipped"}


def test_pictures_after_an_overrun_are_not_waited_for_as_long(jail):
    """After a cell ran out of time, each cell that only shows something gets one second."""
    loop = "while True: pass"
    pictures = [CodeCell(i, "p", loop, optional=True) for i in range(1, 4)]
    with closing(jail.open([CodeCell(0, "a", loop), *pictures])) as session:
        assert [cell.stopped for cell in session.cells] == ["timeout"] * 4
        assert [(cell.at.cell, cell.at.line, cell.at.lineno) for cell in session.cells[:2]] == [
            ("a", loop, 1),
            ("p", loop, 1),
        ]
        assert session.alive


def test_a_cell_of_the_courses_own_is_compiled_before(jail):
    """Cells that the fork server compiled in advance give the same results and errors as cells compiled later."""
    course = cells(
        "import numpy as np\nx = np.arange(3)\nx.sum()",
        "def where():\n    raise ValueError('here')",
        "from __future__ import annotations",
        "def f(a: missing = 1): return a",
        "this is no Python",
    )
    found = []
    for prepare in (False, True):
        jail.prepare(course if prepare else [])
        with closing(jail.open(course)) as session:
            error = session.call(Call("where")).error
            told = (error.line, error.lineno, error.cell, error.message)
            assert told == ("raise ValueError('here')", 2, "cell 2", "here")
            shown = [(cell.outputs, cell.error, cell.stopped) for cell in session.cells]
            found.append((shown, session.call(Call("f")).value))
    assert found[0] == found[1]
    with closing(jail.open(cells("x = 1\n"))) as session:  # a different cell at the same position
        assert session.value("x").value == 1
    jail.prepare([])


def test_a_new_warm_process_has_the_courses_cells_too(jail):
    """A fork server that replaces a killed one receives the course's cells again."""
    jail.prepare(cells("x = 6\nx * 7"))
    jail._processes.restart()
    with closing(jail.open(cells("x = 6\nx * 7", "y = x"))) as session:
        assert [o["data"] for o in session.cells[0].outputs] == [{"text/plain": "42"}]
        assert session.value("y").value == 6
    jail.prepare([])


def test_code_that_does_not_fit_ends_its_child(jail, monkeypatch):
    """A request that is too large to send is refused, and the process that waited for it is ended."""
    end = mock.Mock(wraps=jail._processes.end)
    monkeypatch.setattr(jail._processes, "end", end)
    with pytest.raises(TooBig):
        jail.open([CodeCell(n, "x" * 1000, "pass") for n in range(5000)])
    end.assert_called_once()


@pytest.mark.parametrize("source", ["x = '" + "é" * 900_000 + "'", "x = [" + "1," * 790_000 + "]", "[]," * 400_000])
def test_code_that_takes_more_than_it_looks_is_left_out(run, source):
    """A cell that needs too much space when it is sent, such as one with many commas, is left out. The other cells are still run."""
    session = run("y = 1", source)
    assert session.value("y").value == 1
    assert "more code than can be graded" in session.cells[1].error.message

"""Tests of sessions with a student's code: calls, batches, values, probes, and all the ways in which a session ends."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pytest

from autograder.judging.functions import FunctionSession
from autograder.judging.purity import changed_between
from autograder.sandbox import open_worker
from autograder.sandbox.guest.wire_plain import Iterated, ObjectArray
from autograder.sandbox.protocol import Answer, Call, Opaque, Rng, Session, Source
from autograder.values import Rules, differences, equal, normalize_result

from .conftest import LIMITS, cells


def test_a_call_is_answered_in_every_confinement(everywhere):
    """In every sandbox, a function that a cell defines answers calls one after another."""
    softmax = "import numpy as np\ndef softmax(x):\n    e = np.exp(x - x.max())\n    return e / e.sum()"
    with closing(everywhere.open(cells(softmax))) as session:
        assert isinstance(session, Session)
        assert session.sandbox == everywhere.sandbox
        for x in (np.arange(3.0), np.zeros(5)):
            np.testing.assert_allclose(session.call(Call("softmax", (x,))).value, np.exp(x) / np.exp(x).sum())
        assert session.names() == {"np", "softmax"}


@pytest.mark.parametrize(
    ("line", "shapes"),
    [
        ("V, n = Q @ K + n, 2", "Q (2, 3), K (4, 3)"),
        ("return (Q + n) @ K, V", "Q (2, 3), K (4, 3)"),
        ("n = Q.sum(axis=2) + V @ V", "Q (2, 3)"),
        ("Q[:] = K @ V[:3]", "Q (2, 3), K (4, 3), V (7,)"),
        ("V, n = V, (Q @\n        K)", "V (7,), Q (2, 3)"),
    ],
)
def test_an_error_tells_the_shapes_in_its_line(run, tmp_path, line, shapes):
    """An error reports the shapes of the arrays in the expression that failed, in the sandbox and in the grader's process."""
    source = f"import numpy as np\nV = np.ones(7)\ndef f(Q, K, n):\n    V = np.ones(7)\n    K = K[1:]\n    {line}\n    return V\n"
    path, scope = tmp_path / "f.py", {}
    path.write_text(source)
    exec(compile(source, str(path), "exec"), scope)  # noqa: S102 - two lines above
    call = Call("f", (np.ones((2, 3)), np.ones((5, 3)), 4))
    for session in (run(source), FunctionSession(scope)):
        assert session.call(call).error.shapes == shapes


def test_a_batch_answers_in_order(run):
    """Every call of a batch has its own answer, which may be an error."""
    session = run("def double(x): return x * 2\ndef fail(): return [][1]")
    answers = session.batch([Call("double", (n,)) if n % 3 else Call("fail") for n in range(7)])
    assert [a.value for a in answers] == [None, 2, 4, None, 8, 10, None]
    assert [a.error and a.error.type for a in answers] == ["IndexError", None, None] * 2 + ["IndexError"]
    assert session.batch([]) == []


def test_holding_shows_a_shared_buffer(run):
    """With ``hold``, results are encoded after the last call, so that a reused buffer is detected."""
    session = run("import numpy as np\nbuffer = np.zeros(2)\ndef fill(v):\n    buffer[:] = v\n    return buffer")
    calls = [Call("fill", (1.0,)), Call("fill", (2.0,))]
    assert [a.value.tolist() for a in session.batch(calls)] == [[1.0, 1.0], [2.0, 2.0]]
    assert [a.value.tolist() for a in session.batch(calls, hold=True)] == [[2.0, 2.0], [2.0, 2.0]]


def test_changed_arguments_are_named(run):
    """Arrays changed in place are reported by position or keyword, also inside a dictionary or list. Unchanged arrays are not."""
    changes = "a[0] = 9\n    c['w'][0] += 1\n    d *= 1.0\n    e[0].shape = (2, 1)"
    session = run(f"def touch(a, b, c, *, d, e):\n    {changes}\n    return 0")
    a, b = np.zeros(2), np.array([np.nan, 1.0])
    answer = session.call(Call("touch", (a, b, {"w": np.zeros(1)}), {"d": np.ones(2), "e": [np.zeros(2)]}))
    assert answer == Answer(value=0, changed=("0", "2", "e"))
    assert a.tolist() == [0.0, 0.0]


def test_arrays_arrive_in_their_order_of_memory(run):
    """An array in Fortran order or with negative strides has the same layout in the sandbox."""
    session = run("def order(X): return [X.flags.f_contiguous, min(X.strides) < 0, X.tolist()]")
    X = np.arange(6.0).reshape(2, 3)
    found = [answer.value for answer in session.batch([Call("order", (Y,)) for Y in (X, X.copy("F"), X[::-1])])]
    assert found == [[False, False, X.tolist()], [True, False, X.tolist()], [False, True, X[::-1].tolist()]]


def test_an_array_that_is_given_twice_is_one_object(run):
    """The function gets the same array for both arguments, and each call gets new arrays."""
    session = run("def same(X, Y):\n    X += 1\n    return [X is Y, Y.tolist()]")
    X = np.zeros(2)
    calls = [Call("same", (X, X)), Call("same", (X, X.copy())), Call("same", (X, X))]
    answers = session.batch(calls)
    assert [a.value for a in answers] == [[True, [1.0, 1.0]], [False, [0.0, 0.0]], [True, [1.0, 1.0]]]
    assert [a.changed for a in answers] == [("0", "1"), ("0",), ("0", "1")]


@pytest.mark.parametrize(
    "body", ["X += 1\n    return Y", "X += 1\n    raise ValueError", "return Y"], ids=["changes", "raises", "returns"]
)
def test_the_sandbox_and_this_process_report_the_same_changes(run, body):
    """Otherwise, a misconception that changes its inputs in this process would not explain the same code in the sandbox."""
    source, names = f"def change(X, Y):\n    {body}", {}
    exec(source, names)  # noqa: S102 - the line above
    X = np.zeros(2)
    for call in (Call("change", (X, X)), Call("change", (X, X.copy()))):
        there, here = run(source).call(call), FunctionSession(names).call(call)
        assert (there.changed, there.same, there.error is None) == (here.changed, here.same, here.error is None)


def test_a_caller_may_change_the_arrays_between_two_calls(run):
    """If the caller changes the arrays between two calls, a function that caches results by array gives the first result again."""
    given, other = Call("total", (np.ones(3), {"w": np.ones(1)})), Call("total", (np.zeros(3), {"w": np.zeros(1)}))
    body = "def total(x, weights): return float(x.sum() + weights['w'][0])"
    kept = f"{body}\nfirst, known = total, {{}}\ndef total(x, w): return known.setdefault(id(x), first(x, w))"
    for source, right in ((body, 0.0), (kept, 4.0)):
        call = changed_between(given, other)
        assert run(source).probe(call.probe, call).value == right


def test_the_order_of_keys_is_part_of_a_dictionary(run):
    """A key that is removed and added again moves to the end, which counts as a change."""
    session = run("def touch(a, b):\n    a['x'] = a.pop('x')\n    b['z'] = b.pop('z')\n    return 0")
    answer = session.call(Call("touch", ({"x": 1, "y": 2}, {"x": 1, "z": 2})))
    assert answer == Answer(value=0, changed=("0",))


def test_rounding_is_no_change_and_a_millionth_is_one(run):
    """Rounding errors and a change that is undone are not reported. A change by a millionth is."""
    there = "def there_and_back(x, eps):\n    x += eps\n    x -= 2 * eps\n    x += eps"
    undone = "def undone(x):\n    x[0] = 5\n    x[0] = 1"
    session = run(there, undone, "def scaled(x):\n    x *= 1 + 1e-6", "def moved(x):\n    x += 1e-8")
    x = np.array([1.0, 0.1, -3e-3, 0.0, 1e5, np.nan])
    calls = [Call("there_and_back", (x, eps)) for eps in (1e-5, 0.1, 2.0)] + [Call("undone", (x,))]
    assert [a.changed for a in session.batch(calls)] == [()] * 4
    assert [a.changed for a in session.batch([Call("scaled", (x,)), Call("moved", (x,))])] == [("0",), ("0",)]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("[1, 2.5, None, True, 'ä']", [1, 2.5, None, True, "ä"]),
        ("(1, [2, (3,)])", (1, [2, (3,)])),
        ("{'a': 1, 2: (3,), None: 4}", {"a": 1, 2: (3,), None: 4}),
        ("{np.int64(3): np.float64(0.5)}", {3: 0.5}),
        ("1 + 2j", 1 + 2j),
        ("10**200", 10**200),
        ("__import__('collections').OrderedDict(a=1)", {"a": 1}),
        ("__import__('collections').namedtuple('P', 'x y')(1, 2)", (1, 2)),
        ("lambda: 0", Opaque("function")),
        ("(i for i in range(3))", Iterated((0, 1, 2))),
        ("{1, 2}", {1, 2}),
        ("np.array([1, 'a'], dtype=object)", [1, "a"]),
        ("np.array([None, 1.0])", [None, 1.0]),
        ("np.array([len, 1.0])", Opaque("ndarray of dtype object")),
        ("np.array([10**200, 1], dtype=object)", Opaque("ndarray of dtype object")),
        ("np.str_('ij')", "ij"),
        ("np.array(['a'])[0]", "a"),
        ("np.array([b'a'])", Opaque("ndarray of dtype |S1")),
        ("np.zeros(2, dtype=[('a', 'f8')])", Opaque("ndarray of dtype [('a', '<f8')]")),
        ("[lambda: 0, 1]", [Opaque("function"), 1]),
        ("{(1, 2): 3}", {(1, 2): 3}),
        ("{len: 3}", Opaque("dict with builtin_function_or_method in a key")),
        ("{(1, len)}", Opaque("set with builtin_function_or_method in a member")),
        ("'x' * 10**6", "x" * 10**6),
        ("'x' * (2**20 + 1)", Opaque("str")),
        ("10**2000", 10**2000),
        ("10**5000", Opaque("int")),
        ("np", Opaque("module")),
        ("NotImplemented", Opaque("NotImplementedType")),
    ],
)
def test_values_cross_or_stay(run, expression, value):
    """Built-in values are sent as they are. Other values are represented by the name of their type."""
    answer = run("import numpy as np", f"def f(): return {expression}").call(Call("f"))
    assert answer == Answer(value=value)
    assert type(answer.value) is type(value)


ROW = np.array([[1.0, 2.0]])


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("np.matrix([[1., 2.]])", ROW),
        ("np.ma.masked_array([[1., 2.]], mask=[[0, 1]])", ROW),
        ("np.array([[1., 2.]], order='F')", ROW),
        ("np.array([[1., 2.]]).view(type('Sub', (np.ndarray,), {}))", ROW),
        ("np.array([[1., 2.]], dtype='>f8')", ROW),
        ("np.array(2, dtype=object)", np.array(2)),
    ],
)
@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_arrays_of_every_make_cross_as_plain_ones(run, expression, value):
    """A matrix, a masked array and an array with a different byte order arrive as plain arrays of numbers."""
    found = run("import numpy as np", f"def f(): return {expression}").call(Call("f")).value
    assert type(found) is np.ndarray
    assert found.dtype == value.dtype
    for one in (found, normalize_result(eval(expression))):  # noqa: S307 - written above
        assert one.shape == value.shape
        np.testing.assert_array_equal(one, value)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("np.frompyfunc(abs, 1, 1)(np.array([[-1.5, 2.0]]))", np.array([[1.5, 2.0]])),
        ("np.array([1, 2.5, np.float32(3), True], dtype=object)", np.array([1, 2.5, 3, 1])),
        ("np.array([True, False], dtype=object)", np.array([True, False])),
        ("np.array([], dtype=object).reshape(0, 3)", np.zeros((0, 3))),
    ],
)
def test_numbers_in_an_array_of_objects_are_known_as_such(run, expression, value):
    """The entries arrive as numbers. The array fails if a boolean array is expected, or if a check accepts only arrays of numbers."""
    found = run("import numpy as np", f"def f(): return {expression}").call(Call("f")).value
    for one in (found, normalize_result(eval(expression))):  # noqa: S307 - written above
        assert type(one) is ObjectArray
        assert one.dtype == value.dtype
        assert equal(one, value) == (value.dtype.kind != "b")
        [difference] = differences(one, value, Rules(lists=False))
        assert difference.clause.startswith("It has dtype object. Convert it with `.astype(")


def test_a_pair_in_an_array_of_objects_is_a_pair(run):
    """An array of objects that contains two arrays of different shapes is sent as a list."""
    source = (
        "def f():\n    pair = np.empty(2, dtype=object)\n    pair[:] = np.ones((2, 3)), np.zeros(4)\n    return pair"
    )
    here: dict = {"np": np}
    exec(source, here)  # noqa: S102 - written above
    for value in (run("import numpy as np", source).call(Call("f")).value, normalize_result(here["f"]())):
        assert type(value) is list
        assert [part.shape for part in value] == [(2, 3), (4,)]


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "g", "F", "D"])
@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (2, 3), (1, 1, 1, 2)])
def test_arrays_keep_dtype_and_shape_both_ways(run, dtype, shape):
    """A returned array argument equals the one sent, also with size zero or no axes."""
    sent = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    value = run("def same(x): return x").call(Call("same", (sent,))).value
    assert value.dtype == sent.dtype
    assert value.shape == shape
    np.testing.assert_array_equal(value, sent)


def test_an_error_says_what_and_where(run):
    """An error reports its type, message, line, cell and function."""
    session = run("import numpy as np\n\ndef scores(Q, K):\n    return Q @ K")
    error = session.call(Call("scores", (np.ones((2, 3)), np.ones((2, 3))))).error
    assert (error.type, error.line, error.lineno) == ("ValueError", "return Q @ K", 4)
    assert (error.cell, error.where) == ("cell 1", "scores")
    assert "matmul" in error.message
    missing = session.call(Call("nothing")).error
    assert (missing.type, missing.message) == ("NameError", "name 'nothing' is not defined")


@pytest.mark.parametrize("raised", ["SystemExit(0)", "KeyboardInterrupt()", "GeneratorExit()", "BaseException('x')"])
def test_no_exception_ends_the_session(run, raised):
    """If a call tries to end the program, this is an error of that call, and the next call works."""
    session = run(f"def stop(): raise {raised}\ndef go(): return 7")
    stopped, went = session.batch([Call("stop"), Call("go")])
    assert stopped.error.type == raised.split("(", maxsplit=1)[0]
    assert went.value == 7


@pytest.mark.parametrize(
    ("body", "stopped"),
    [
        ("import os; os.close(3)", "crash"),
        ("import os; os.write(3, b'\\xff' * 64)", "protocol"),
        ("import os; os.write(3, b'\\x02\\0\\0\\0' + b'\\0' * 8 + b'{}')", "protocol"),
    ],
)
def test_the_end_of_a_child_has_a_word(run, body, stopped):
    """If a child disconnects or sends invalid data, the session is stopped, and ``stopped`` gives the reason."""
    session = run(f"def f(): {body}")
    assert session.call(Call("f")).stopped == stopped
    assert not session.alive


@pytest.mark.parametrize(
    ("body", "line", "number"),
    [
        ("n = 0\n    while True:\n        n += 1\n        n -= 1", "while True:", 3),
        ("for x in iter(int, 1):\n        while True:\n            help_me()", "while True:", 3),
        ("return [help_me() for x in iter(int, 1)]", "", None),
    ],
)
def test_a_stopped_call_names_its_loop(run, body, line, number):
    """A stopped call names the first line of the innermost running loop in the notebook's code. Without a loop, no line is named."""
    session = run("def help_me(): return sum(range(9))", f"def f():\n    {body}")
    answer = session.call(Call("f"))
    assert answer.stopped == "timeout"
    assert (answer.at and (answer.at.line, answer.at.lineno)) == ((line, number) if number else None)


@pytest.mark.parametrize(("options", "side"), [({}, 1 << 14), ({"memory_mb": 64}, 4000)], ids=["course's", "lower"])
def test_memory_is_an_error_and_the_session_goes_on(run, options, side):
    """An allocation over the course's memory limit, or over a session's lower limit, raises MemoryError. The next call works."""
    session = run("import numpy as np\ndef f(n): return float(np.ones((n, n)).sum())", **options)
    big, small = session.batch([Call("f", (side,)), Call("f", (100,))])
    assert big.error.type == "MemoryError"
    assert small.value == 100**2
    if not options:
        assert session.call(Call("f", (4000,))).value == 4000**2


def test_a_result_that_is_too_big_is_refused(run):
    """A huge array or list gives an error that says so."""
    sources = "def a(): return np.zeros(1 << 21)", "def b(): return [0] * 10**6", "def c(): return 1"
    session = run("import numpy as np", *sources)
    a, b, c = session.batch([Call("a"), Call("b"), Call("c")])
    too_big = "The result is too large to be checked: "
    assert a.error.message == f"{too_big}its arrays are too large in total (this array alone: 16 MiB)."
    assert b.error.message == f"{too_big}it has more than 200,000 parts."
    assert c.value == 1


def test_results_are_held_as_long_as_there_is_room(run):
    """Once all results together are too large, further results are rejected with an error. Results that are released make room."""
    functions = "def f(): return z\ndef g(): return z[:3]\ndef h(): return z > 0"
    session = run("import numpy as np\nz = np.zeros(6 << 17)", functions)
    answers = session.batch([Call("f")] * 4 + [Call("g")])
    assert [answer.value is None for answer in answers] == [False, False, True, True, False]
    message = "The result is too large to be checked: together with the earlier results, it takes more than 16 MiB."
    assert {answer.error.message for answer in answers[2:4]} == {message}
    assert session.call(Call("f")).error.message == message
    del answers
    assert session.call(Call("f")).value.size == 6 << 17
    flags = [session.call(Call("h")) for _ in range(40)]
    assert [answer.error is None for answer in flags] == [True] * 21 + [False] * 19  # each bool takes one byte


def test_long_lists_take_room_too(run):
    """A result that is sent as text counts with its size after decoding."""
    session = run("def f(): return [[1.5] * 100] * 1000")
    answers = session.batch([Call("f")] * 20)
    assert answers[0].value[0][0] == 1.5
    assert answers[-1].error.type == "ResultTooBig"


def test_a_value_is_read_by_name(run):
    """A variable is read by its name, and a missing variable is a NameError."""
    session = run("q1 = 'b'\nSCORES_EQ = 'ik,jk->ij'")
    assert [session.value(name).value for name in ("q1", "SCORES_EQ")] == ["b", "ik,jk->ij"]
    assert session.value("q2").error.type == "NameError"


def test_functions_travel_as_source(run):
    """An argument that is a function is defined in the sandbox from its source, at any position among the arguments."""
    session = run("def apply(f, x): return f(x)\ndef first(fs, x): return fs['f'](x)")
    square = Source("def square(x):\n    return np.square(x)", "square")
    answers = session.batch([Call("apply", (square, 3.0)), Call("first", ({"f": square}, np.arange(3)))])
    assert answers[0].value == 9.0
    assert answers[1].value.tolist() == [0, 1, 4]


def test_a_generator_travels_as_its_seed(run):
    """Each call gets a new generator, which draws the same numbers as a generator with the same seed outside."""
    session = run("def draw(rng): return rng.normal(size=3)")
    for answer in session.batch([Call("draw", (Rng(5),))] * 2):
        np.testing.assert_array_equal(answer.value, np.random.default_rng(5).normal(size=3))


POOL = """
import threading
from concurrent.futures import ThreadPoolExecutor
kept = ThreadPoolExecutor(2)  # nobody ever shuts it down
def double(x):
    with ThreadPoolExecutor(4) as pool:
        return [sum(pool.map(lambda v: v * 2, x)), *kept.map(int, x)]
"""


def test_a_few_threads_are_allowed_everywhere(everywhere):
    """A pool of threads gives the right answer in every call, and remaining threads do no harm."""
    with closing(everywhere.open(cells(POOL))) as session:
        answers = session.batch([Call("double", ([1, 2, 3],))] * 20)
        assert [answer.value for answer in answers] == [[12, 1, 2, 3]] * 20, answers[0].error


FLOOD = """
import threading, time
def flood():
    for n in range(10000):
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    return n
"""


def test_threads_without_end_are_counted(jail):
    """A thread beyond the limit is not started, and the message gives the sandbox's limit."""
    told = (
        "can't start new thread. This is a limit of the grading sandbox, not an error in your code: it allows 32 threads in "
        "addition to the first. Run fewer threads at once."
    )
    with closing(jail.open(cells(FLOOD))) as session:
        assert session.call(Call("flood")).error.message == told
        assert session.call(Call("flood")).error.message == told


def test_threads_without_end_end_their_notebook_where_the_kernel_does_not_count_them():
    """Under Landlock alone, the kernel counts the user's threads, not the notebook's. So the process with too many threads is ended."""
    with open_worker(LIMITS, ["numpy"], confinement="landlock") as worker:
        for _ in range(2):  # the second time in a new process without the first one's threads
            with closing(worker.open(cells(FLOOD, "import time\ndef wait(): time.sleep(0.9)"))) as session:
                answers = session.batch([Call("flood"), Call("wait")])
                assert answers[1].stopped == "threads"
        with closing(worker.open(cells(POOL))) as session:
            assert session.call(Call("double", ([4],))).value == [8, 4]


def test_what_cannot_be_sent_is_named(run):
    """If the author of a check passes a function object, the message says what to pass instead."""
    with pytest.raises(TypeError, match=r"A function cannot be sent to a student's function\. .* Source\(text, name\)"):
        run("x = 1").call(Call("f", (lambda: 0,)))


def test_a_substitute_answers_inside_the_notebook(run):
    """After ``substitute``, the notebook's own functions get the trusted side's results and errors."""
    lookup, wrong = "def lookup(K, V): return softmax(K) @ V", "def wrong(): return softmax(None)"
    session = run("def softmax(x): return x", lookup, wrong)
    asked = []

    def softmax(x):
        asked.append(x)
        if x is None:
            raise ValueError("no scores")
        return np.full(len(x), 0.5)

    session.substitute("softmax", softmax)
    calls = [Call("lookup", (np.ones(2), np.array([2.0, 4.0]))), Call("wrong"), Call("lookup", (np.ones(1),) * 2)]
    first, wrong, last = session.batch(calls)
    assert (first.value, last.value) == (3.0, 0.5)
    assert (wrong.error.type, wrong.error.message) == ("ValueError", "no scores")
    assert len(asked) == 3


def test_a_substitute_draws_from_the_notebooks_own_generator(run):
    """A substitute draws the same numbers as if it ran in the notebook, and later draws there are the same too."""
    use = "def use(rng):\n    return [rng.random(), *draw(rng), draw({'of': [rng]})[0], rng.random(dtype='float32'), rng.integers(9)]"
    session = run("def draw(rng): return None", use)

    def draw(rng):
        rng = rng["of"][0] if type(rng) is dict else rng
        return [float(rng.normal()), int(rng.integers(9, dtype=np.uint32))]

    session.substitute("draw", draw)
    rng = np.random.default_rng(7)
    wanted = [rng.random(), *draw(rng), draw(rng)[0], rng.random(dtype="float32"), rng.integers(9)]
    assert [a.value for a in session.batch([Call("use", (Rng(7),))] * 2)] == [wanted, wanted]


def test_a_generator_moves_on_even_if_the_substitute_raises(run):
    """If a substitute draws numbers and then raises an error, the notebook's generator still advances."""
    use = "def use(rng):\n    try:\n        draw(rng)\n    except ValueError:\n        return rng.random()"
    session = run("def draw(rng): return None", use)

    def draw(rng):
        raise ValueError(rng.random())

    session.substitute("draw", draw)
    assert session.call(Call("use", (Rng(7),))).value == np.random.default_rng(7).random(2)[1]


@pytest.mark.parametrize(
    "made",
    [
        "np.random.Generator(np.random.MT19937(1))",
        "type('G', (np.random.Generator,), {})(rng.bit_generator)",
        "np.random.RandomState(1)",
    ],
)
def test_no_other_generator_reaches_a_substitute(run, made):
    """Only a generator of ``default_rng`` is rebuilt on the trusted side. For any other object, the substitute sees only the type."""
    session = run(f"import numpy as np\ndef draw(rng): return None\ndef use(rng): return draw({made})")
    session.substitute("draw", lambda rng: type(rng).__name__)
    assert session.call(Call("use", (Rng(7),))).value == "Opaque"


@pytest.mark.parametrize(
    "use",
    [
        "def twice(x):\n    return 2 * f(x)",
        "g = f\ndef twice(x):\n    return 2 * g(x)",
        "def twice(x, how=f):\n    return 2 * how(x)",
        "def twice(x, *, how=f):\n    return 2 * how(x)",
        "from functools import partial\ng = partial(f, y=1)\ndef twice(x):\n    return 2 * g(x)",
        "from functools import partial\ndef twice(x, how=partial(f, y=1)):\n    return 2 * how(x)",
        "def made(how):\n    def twice(x):\n        return 2 * how(x)\n    return twice\ntwice = made(f)",
    ],
)
def test_a_substitute_stands_wherever_the_function_was_kept(run, use):
    """The function is also replaced under a different name, as a default, in a ``partial``, and in a closure."""
    session = run("def f(x, y=1):\n    return -x", use)
    assert session.call(Call("twice", (3,))).value == -6
    session.substitute("f", lambda x, y=1: x * y)
    assert session.call(Call("twice", (3,))).value == 6


def test_a_substitute_takes_the_place_of_that_function_only(run):
    """If a student's name shadows one of NumPy's functions, NumPy's own code still works."""
    both = "def both(x, how=np.exp): return f(x), g(x), how(x)"
    session = run("import numpy as np\nf = np.exp\ng = np.exp\nn = None", both)
    session.substitute("f", lambda x: x)
    assert session.call(Call("both", (0.0,))).value == (0.0, 1.0, 1.0)


@pytest.mark.parametrize(
    "arguments",
    [
        "np.zeros((100000, 1)), 0",
        "np.zeros((128, 1, 64, 1)), np.zeros((1, 128, 1, 64))",
        "[[[0]] * 500] * 8, [[[0] * 500]] * 8",
        "{'a': np.zeros((500, 1, 500, 1)), 'b': (np.zeros((1, 500, 1)),)}, 0",
    ],
)
def test_a_substitute_is_not_asked_for_the_impossible(run, arguments):
    """A child cannot make the trusted side compute with arrays, or broadcast arrays to a size, far larger than the check's."""
    session = run(f"import numpy as np\ndef f(x, y): return x\ndef g(x): return f({arguments})")
    asked = []
    session.substitute("f", lambda *both: asked.append(both))
    assert session.call(Call("g", (np.ones(2),))).stopped == "protocol"
    assert not asked


def test_a_probe_runs_inside(run):
    """A probe gets the student's function and its results, and returns values that can be sent."""
    plot = "def plot(w):\n    fig, ax = plt.subplots()\n    ax.imshow(w)\n    return ax"
    session = run("import matplotlib.pyplot as plt", plot)
    source = "def probe(function, w):\n    ax = function(w)\n    return {'images': len(ax.images), 'array': ax.images[0].get_array()}"
    answer = session.probe(source, Call("plot", (np.eye(2),)))
    assert answer.value["images"] == 1
    np.testing.assert_array_equal(answer.value["array"], np.eye(2))
    assert session.probe(source, Call("missing")).error.type == "NameError"


def test_random_numbers_start_the_same_for_everyone(run):
    """The global random states are seeded for each submission, and a different seed gives different numbers."""
    source = "import random, numpy as np\nx = [random.random(), np.random.rand()]"
    first, second, other = (run(source, seed=seed).value("x").value for seed in (1, 1, 2))
    assert first == second != other


def test_closing_twice_is_closing(run):
    """A session may be closed twice. It is then not alive and answers no calls."""
    session = run("x = 1")
    session.close()
    session.close()
    assert not session.alive
    assert session.value("x").stopped


ENDS = {"os._exit(0)": "crash", "ctypes.string_at(0)": "crash", "loop()": "timeout", "stubborn()": "timeout"}


@pytest.mark.parametrize(("end", "stopped"), ENDS.items())
@pytest.mark.parametrize("hold", [False, True])
def test_what_was_answered_before_the_end_counts(run, end, stopped, hold):
    """If a child dies or hangs in the middle of a batch, the earlier calls have answers, and the later ones have none."""
    session = run(
        "import ctypes, os\ndef loop():\n    while True: pass",
        "def stubborn():\n    while True:\n        try: loop()\n        except BaseException: pass",
        f"def f(n):\n    if n == 7: {end}\n    return n",
    )
    answers = session.batch([Call("f", (n,)) for n in range(10)], hold=hold)
    # Held answers are encoded after the last call. So there are none unless the child itself stopped the endless call.
    answered = 0 if hold and end != "loop()" else 7
    assert answers == [Answer(n) for n in range(answered)] + [Answer(stopped=stopped)] * (10 - answered)
    assert not session.alive
    assert session.call(Call("f", (0,))).stopped == stopped


@pytest.mark.parametrize(
    "before",
    ["os.close(4)", "os.set_blocking(4, True); [os.write(4, b'!') for _ in range(100)]", "os.read(4, 0)"],
)
def test_a_child_that_plays_with_the_wakeup_is_answered_for(run, before):
    """Even if the child wakes the grader too often or never, every answer arrives."""
    session = run("import os", f"def f(n): return n\ndef play(): {before}")
    session.call(Call("play"))
    assert [a.value for a in session.batch([Call("f", (n,)) for n in range(300)])] == list(range(300))


@pytest.mark.parametrize("hold", [False, True])
def test_more_answers_than_a_socket_holds(run, hold):
    """Thousands of small answers, with a few large ones among them, arrive in order."""
    session = run("import numpy as np\ndef f(n): return np.full(n, 1.0)")
    sizes = [100_000 if n % 1000 == 500 else n % 3 for n in range(3000)]
    answers = session.batch([Call("f", (n,)) for n in sizes], hold=hold)
    assert [a.value.size for a in answers] == sizes


def test_slow_calls_are_timed_one_by_one(run):
    """Each call of a batch has its own full time limit, for any number of calls, with and without ``hold``."""
    session = run("import time\ndef f(n):\n    time.sleep(0.4)\n    return n")
    for hold in (False, True):
        assert [a.value for a in session.batch([Call("f", (n,)) for n in range(6)], hold=hold)] == list(range(6))

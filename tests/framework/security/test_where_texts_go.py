"""Test that no text from a child process reaches a function that opens, imports, evaluates, compiles or starts anything.

An audit hook listens while values of every type are decoded, compared, explained and shown. Marked texts replace those in the values.
"""

import base64
import datetime as dt
import decimal
import fractions
import json
import os
import sys
import zoneinfo
from contextlib import suppress
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest

from autograder.base.errors import CourseError
from autograder.base.verdict import CheckResult, ExerciseVerdict
from autograder.checking.agreement import ReferenceComparison
from autograder.checking.asserts import CheckFailed
from autograder.checking.call_source import track_answers
from autograder.checking.findings import describe_failure
from autograder.checking.predicates import _PROPERTIES, evaluate, same_choice
from autograder.judging.diagnosis import answer_signature, same_answer
from autograder.judging.exercise_session import ExerciseSession
from autograder.judging.explanations import explain, explain_stop, signature_of_error
from autograder.judging.proxies import ReferenceProxy, StudentProxy
from autograder.pages.card import Card
from autograder.pages.html import card_html
from autograder.pages.text import card_text
from autograder.sandbox.guest import wire, wire_plain, wire_tables
from autograder.sandbox.guest.wire_plain import opaque_tree
from autograder.sandbox.protocol import Answer, Call, Opaque, StudentError
from autograder.sandbox.texts import read_error, read_names, read_outcome
from autograder.values import (
    copy_value,
    decode_value,
    describe,
    encode_value,
    equal,
    fingerprint,
    normalize_result,
    paste,
    show,
    source,
)
from tests.framework.sandbox.test_wire_tables import VALUES

MARK = "Qzx7"
WATCHED = (
    "open", "import", "exec", "compile", "os.", "subprocess.", "socket.", "ctypes.", "marshal.", "pickle.", "glob.", "shutil.",
    "pty.", "sqlite3.", "urllib.", "webbrowser.", "tempfile.", "code.__new__", "cpython.",
)  # fmt: skip
HOSTILE = [
    MARK, f"../../{MARK}", f"/proc/{MARK}", f"dateutil/{MARK}", f"dateutil//proc/{MARK}", f"tzfile('/proc/{MARK}')", f"pytz.{MARK}",
    f"UTC+{MARK}", f"posix/{MARK}", f"Europe/{MARK}", f"datetime64[{MARK}]", f"datetime64[ns, {MARK}]", f"period[{MARK}]",
    f"category[{MARK}]", f"{MARK}[pyarrow]", f"<M8[{MARK}]", f"|V8{MARK}", f"__import__('os').system('{MARK}')", f"{MARK}.py",
    f"import {MARK}", f"Q @ K.T  # {MARK}", f"lambda: {MARK}", f"No module named '{MARK}'", f"name '{MARK}' is not defined", f"ij,jk->ik{MARK}",
    f"{{{{ {MARK} }}}}", f"{{% include '/{MARK}' %}}", f"file:///{MARK}", f"<cell {MARK}>", f"numpy.{MARK}", f"$\\{MARK}$", f"{MARK}" * 20,
]  # fmt: skip

heard: list[str] = []
listening = [False]


def hear(event, arguments):
    """Record the event if one of its arguments contains the mark."""
    if listening[0] and event.startswith(WATCHED):
        listening[0] = False  # events that are caused by recording the arguments are ignored
        try:
            written = repr(arguments)
        except Exception:  # noqa: BLE001 - the object is still being made
            written = ""
        if MARK in written:
            heard.append(f"{event} {written[:200]}")
        listening[0] = True


@pytest.fixture(scope="module", autouse=True)
def hook():
    """Install the hook. Python offers no way to remove one."""
    sys.addaudithook(hear)
    yield
    listening[0] = False


class Listening:
    """A context manager that fails if the hook recorded an event within the block."""

    def __enter__(self):
        heard.clear()
        listening[0] = True

    def __exit__(self, *_error):
        listening[0] = False
        assert heard == []


PLAIN = {
    "scalars": [None, True, 1, 2.5, "a text", 3j],
    "containers": {"key": [1, ("two", {"three"})], 4: frozenset({"five"})},
    "bytes": [b"bytes", bytearray(b"more")],
    "big": [1 << 5000, decimal.Decimal("1.5"), fractions.Fraction(1, 3), range(3)],
    "times": [
        dt.date(2024, 5, 1), dt.timedelta(1), dt.datetime(2024, 5, 1, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin")),
        dt.time(12, tzinfo=dt.UTC), dt.timezone(dt.timedelta(hours=1), "mine"), zoneinfo.ZoneInfo("Asia/Tokyo"),
    ],
    "arrays": [np.arange(3), np.float32(2), np.array(["a", "b"]), np.array(["2024-05-01"], "M8[D]"), np.timedelta64(1, "s")],
    "items": [iter([1, "a"]), {"a": 1}.keys()],
    "an object": [object()],
}  # fmt: skip


def tree_of(value):
    """Encode ``value`` as a child does. Return the tree and the bytes of its arrays."""
    encode = wire.Encoder(opaque_tree, 1 << 20)
    return encode(value), b"".join(encode.blobs)


TREES = {
    name: tree_of(value) for name, value in {**PLAIN, **{f"table {name}": v for name, v in VALUES.items()}}.items()
}


def decoded(tree, blob):
    """Decode ``tree`` and ``blob`` as the parent process does."""
    return wire.Decoder(blob, lambda tag, items: Opaque(items[0]) if tag == "o" else refuse())(tree)


def refuse():
    """Refuse source text, as the parent does."""
    raise wire.WireError


def texts_in(tree, path=()):
    """Yield the path of each string in ``tree``, including its tags."""
    if isinstance(tree, str):
        yield path
    elif isinstance(tree, list):
        for place, part in enumerate(tree):
            yield from texts_in(part, (*path, place))


def changed(tree, path, text):
    """Return ``tree`` with ``text`` at ``path``."""
    if not path:
        return text
    return [changed(part, path[1:], text) if place == path[0] else part for place, part in enumerate(tree)]


def used(value, right):
    """Use a decoded ``value`` in every way that grading does, with ``right`` as the expected value."""
    for expected in (right, [1, "a"], "a text", 2.5, np.arange(3), pd.DataFrame({"a": [1]})):
        for one, other in ((value, expected), (expected, value)):
            finding = None
            with suppress(CourseError):  # an expected answer that cannot leave the process
                finding = evaluate("matches", one, other)
            if finding is not None:
                reason = f"{finding.reason} {finding.expected!r:.100}"
                rendered(reason, describe_failure(finding, call="f(x)", inputs={"x": value}))
    for look in (show, source, describe, copy_value, fingerprint, lambda value: paste("x", value)):
        look(value)
    with suppress(ValueError, TypeError):  # some values cannot be stored in a file
        decode_value(json.loads(json.dumps(encode_value(value))))
    with suppress(ValueError):
        normalize_result(value)
    equal(value, right)
    call = Call("f", (value,))
    same_answer(Answer(value), Answer(right), call)
    answer_signature("f", [(call, Answer(value))])
    for name in _PROPERTIES:
        with suppress(TypeError, CheckFailed):  # the properties that need more arguments are tried below
            evaluate(name, value)
    evaluate("chosen", value, None, {"right": "b"})
    evaluate("einsum_gives", value, None, {"operands": [[[1.0]], [[2.0]]], "right": [[2.0]]})
    evaluate("should_raise", value, None, {"errors": ["ValueError"], "says": "no"})
    evaluate("should_raise", {"raised": value, "text": value}, None, {"errors": ["ValueError"], "says": "no"})
    evaluate("raises", {"raised": [value], "text": value}, None, {"error": "ValueError"})
    evaluate("prints", {"printed": value, "gave": value}, None, {"right": "a"})
    plot = {
        "axes": [{"lines": [{"x": [1], "y": [2], "label": value}], "title": value, "xlabel": value, "legend": [value]}]
    }
    usual = {"parts": ("data", "labels", "title", "legend", "scales"), "rtol": 1e-5, "atol": 1e-6}
    evaluate("same_plot", plot, {"axes": [{"lines": [{"x": [1], "y": [3], "label": "a"}], "title": "t"}]}, usual)
    same_choice(value, "b")


def rendered(reason, example=""):
    """Show a failed check with this reason, on a page and in a terminal."""
    check = CheckResult("test_a", "a title", "failed", reason, visible=True, points=1.0, reason=reason, example=example)
    verdict = ExerciseVerdict("f", 0.0, 1.0, "failed", message=reason, checks=(check,))
    card_html(Card(verdict, graded=True))
    card_text(Card(verdict))


@pytest.mark.parametrize("name", TREES)
def test_no_text_of_a_value_is_opened_or_run(name):
    """If a hostile text replaces any text in a value's tree, grading the value opens and runs nothing."""
    tree, blob = TREES[name]
    right = decoded(tree, blob)
    used(right, right)  # the first use imports and compiles modules, which is not the child's doing
    accepted = 0
    with Listening():
        for path in texts_in(tree):
            for text in HOSTILE:
                try:
                    value = decoded(changed(tree, path, text), blob)
                except wire.WireError:
                    continue
                accepted += 1
                if accepted % 7 == 1:  # using a value takes longer than decoding it, so only every seventh is used
                    used(value, right)


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_an_error_is_opened_or_run(text):
    """Hostile texts in an error's fields, in a cell's outcome or in a notebook's names are neither opened nor run."""
    kinds = ["ValueError", "ImportError", "NameError", "AttributeError", "TypeError", "FileNotFoundError", text]
    rendered(
        explain(
            "ValueError", "matmul: Input operand 1 has a mismatch in its core dimension 0 (size 2 is different from 3)"
        )
    )
    with Listening():
        for kind in kinds:
            described = dict.fromkeys(("message", "line", "cell", "where", "shapes", "caller"), text) | {
                "type": kind,
                "bases": [text],
            }
            error = read_error(described)
            names = read_names([text, "mean"])
            for message in (
                text,
                f"No module named '{text}'",
                "matmul: Input operand 1 has a mismatch in its core dimension 0 (size 2 is different from 3)",
            ):
                rendered(
                    explain(
                        kind,
                        message,
                        line=error.line,
                        where=error.where,
                        known=names,
                        cell=error.cell,
                        shapes="Q (2, 3), K (4, 2)",
                        caller=error.caller,
                    )
                )
            rendered(explain_stop("timeout", function="f", given=text, line=error.line, lineno=3))
            signature_of_error(kind, text)
            frames = [{"cell": text, "where": text, "line": text, "lineno": 1}]
            outputs = [
                ["stream", "stdout", text],
                ["result", {"text/plain": text, "text/html": text, "image/png": text}],
            ]
            read_outcome({"index": 0, "outputs": outputs, "error": described | {"frames": frames}}, 0, 1000)


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_an_answer_is_opened_or_run(text):
    """A whole check opens and runs nothing if an answer contains the text as a value, in an error or in an object."""

    def f(x):
        """Return a number."""
        return x + 1.0

    class Answering:
        sandbox, cells, alive = "bubblewrap", (), True

        def batch(self, calls, *, hold=False):
            del hold
            return [call.judged(self.answer) for call in calls]

    reference = ReferenceProxy({"f": f})
    error = StudentError(
        text, text, line=text, lineno=1, cell=text, where=text, shapes=text, caller=text, bases=(text, "ValueError")
    )
    answers = [
        Answer(text),
        Answer(Opaque(text)),
        Answer(error=error),
        Answer({"raised": [text]}),
        Answer(1.0, changed=(text,)),
    ]
    with track_answers(), Listening():
        for answer in answers:
            session = Answering()
            session.answer = answer
            agrees = ReferenceComparison(StudentProxy(ExerciseSession(lambda s=session: s), lambda: [text]), reference)
            for ask in (
                lambda a: a.f(1.0),
                lambda a: a.raises(ValueError, says="x").f(1.0),
                lambda a: a.raises(KeyError).f(1.0),
            ):
                with suppress(CheckFailed):
                    ask(agrees)


@pytest.mark.parametrize("name", ["dateutil/{}", "{}", "../../../../../../../..{}"])
def test_a_time_zone_that_is_a_pipe_does_not_stall_the_grader(tmp_path, name):
    """A time zone whose name leads to a pipe is refused without being opened. Opening it would block, as with /proc/kmsg."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    zone = name.format(pipe)
    for tree in (
        ["zone", zone],
        ["datetime", 2024, 5, 1, 0, 0, 0, 0, 0, ["zone", zone]],
        ["T", ["t", "moment", "ns", 0, zone]],
    ):
        with pytest.raises(wire.WireError):
            decoded(tree, b"")


def test_every_tag_is_tried():
    """The tests above cover every tag of the wire format, every word in a table's tree and every field of an error."""

    def tags(tree):
        if isinstance(tree, list) and tree:
            yield from [tree[0]] if isinstance(tree[0], str) else []
            for part in tree:
                yield from tags(part)

    seen = {tag for tree, _blob in TREES.values() for tag in tags(tree)}
    words = {part for tree, _blob in TREES.values() for part in json.loads(json.dumps(flat(tree)))}
    assert set(wire_plain._READERS) <= seen
    assert {"l", "t", "d", "c", "a", "g", "o", "T"} <= seen
    assert set(wire_tables._BUILDERS) | set(wire_tables._COLUMNS) <= words
    assert {f.name for f in fields(StudentError)} == {
        "type",
        "message",
        "line",
        "lineno",
        "cell",
        "where",
        "shapes",
        "caller",
        "bases",
    }


def flat(tree):
    """Return all strings in a tree."""
    if isinstance(tree, list):
        return [text for part in tree for text in flat(part)]
    return [tree] if isinstance(tree, str) else []


def test_the_hook_hears_what_must_not_happen(tmp_path):
    """The same hook detects an import, an evaluation, a time zone lookup, and a file that pandas opens because a time zone names it."""
    (tmp_path / MARK).write_bytes(base64.b64decode("VFppZg=="))
    times = pd.DatetimeIndex(["2024-05-01"]).tz_localize("UTC")
    for work in (
        lambda: times.tz_convert(f"dateutil/{tmp_path / MARK}"),
        lambda: __import__(MARK),
        lambda: eval(f"'{MARK}'"),  # noqa: S307 - to be heard
        lambda: zoneinfo.ZoneInfo(f"Europe/{MARK}"),
    ):
        with pytest.raises(AssertionError), Listening(), suppress(Exception):
            work()

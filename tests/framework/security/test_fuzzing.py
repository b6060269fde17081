"""Test that the trusted side reads, compares, explains and searches random values and random sources within its limits.

The examples are the same in each run. ``AUTOGRADER_FUZZ=20`` tries twenty times as many. ``AUTOGRADER_FUZZ_SEED=7`` draws different ones.
"""

from __future__ import annotations

import datetime as dt
import os
import resource
import time
import unicodedata
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from autograder.base import attempt
from autograder.base.attempt import imported
from autograder.checking.findings import matches
from autograder.classroom.run import grade_class, handed_in
from autograder.course.notebook import NotebookError, document_bytes, parse_notebook
from autograder.judging.explanations import explain
from autograder.mistakes.edits.generator import edited
from autograder.mistakes.fault_localization.program import program_of
from autograder.sandbox.guest.wire import Decoder, Encoder
from autograder.sandbox.guest.wire_limits import TooBig, WireError
from autograder.sandbox.protocol import Call
from autograder.values import (
    Rules,
    TableOptions,
    changed_arguments,
    describe,
    equal,
    fingerprint,
    paste,
    show,
    show_apart,
    source,
)
from tests.support.books import with_book
from tests.support.mini import CHAPTER, MAX_SCORE, RIGHT, WRONG_SIGN, copy_course, document, hand_in

TIMES = float(os.environ.get("AUTOGRADER_FUZZ", "1"))
SEED = int(os.environ.get("AUTOGRADER_FUZZ_SEED", "24"))
SECONDS = 20.0  # of processor time for one example; the default limit for a whole notebook is 120
MEMORY = 1 << 10  # MiB that all examples together may add; the default limit is 4096


def fuzzed(examples):
    """Return a decorator that sets a fuzz test's seed and number of examples."""
    # Examples are not shrunk, because a slow one would be run again hundreds of times.
    own = settings(
        max_examples=int(examples * TIMES),
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    return lambda test: seed(SEED)(own(test))


@contextmanager
def limited():
    """Fail if the block takes more processor time or memory than the limits above allow."""
    started = time.process_time()
    yield
    assert time.process_time() - started < SECONDS
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10) - BEFORE < MEMORY


BEFORE = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10

# --- values ----------------------------------------------------------------------------------------------------------

COLLIDING = [n * (2**61 - 1) for n in range(1, 3001)]
MARKS = "\u0301\u0323\uff9e\u0f73"
LONG_CATEGORY = pd.Series(pd.Categorical.from_codes(np.tile(np.int8([0, 1]), 5000), categories=["a" * 60_000, "b"]))
ODD = [
    None, True, False, 0, -1, 2**1023, 10**4000, -(10**300), 0.0, -0.0, float("nan"), float("inf"), 1e308, 5e-324, 1j, complex("nan+infj"),
    "", "a", "x" * 1_000_000, "x" * 60_000, "e" + MARKS * 10_000, "\n" * 50_000, "\u202e\x1b[2J\x00", "\U0010ffff" * 1000, "q1 = 1",
    b"", b"\x00" * 100_000, bytearray(b"x"), range(10**17), range(0), Decimal("NaN"), Decimal("1E+999"), Fraction(1, 3),
    dt.date.max, dt.datetime(1, 1, 1, tzinfo=dt.UTC), dt.time(1), dt.timedelta.max, dt.UTC,
    COLLIDING, dict.fromkeys(COLLIDING[:40]), set(COLLIDING[:40]), [[]] * 3000, [[[[[[[[[[]]]]]]]]]],
    np.float32("nan"), np.int8(-128), np.bool_(1), np.str_("s"), np.datetime64("NaT"), np.timedelta64(2**62, "ns"), np.datetime64("2024"),
    np.zeros((0, 5)), np.zeros((1000, 100)), np.array(["x" * 1000] + [""] * 3000), np.array(["NaT", "2024-01-01"], "M8[s]"),
    np.array([1, "a", None], dtype=object), np.full((3, 3), np.nan), np.array([2**63], np.uint64), np.float16([1e4]), np.array(3),
    pd.Series(COLLIDING[:45]), pd.Series([1, "a", None, (1, 2)], index=["type", "text", "name", "a"]), pd.DataFrame(),
    pd.DataFrame({"a": [1, None], "type": ["x" * 60_000, "y"]}), LONG_CATEGORY,
    pd.MultiIndex.from_product([range(50), ["a", "b"]]), pd.Timestamp.max, pd.NaT, pd.NA, pd.Interval(0, 1), pd.Series([], dtype=float),
    pd.Series(pd.date_range("2024", periods=3, tz="Europe/Berlin")), pd.DataFrame([[1, 2]], columns=["a", "a"]),
]  # fmt: skip
KEYS = st.sampled_from(
    [None, True, 1, 1.0, "a", "type", "\n", (1, "a"), b"k", dt.date.min, -1, -2, float("nan"), "x" * 5000]
)


def containers(inner):
    """Draw lists, tuples, dictionaries and sets that have a few parts, or one part repeated many times."""
    few = st.lists(inner, max_size=4)
    many = st.tuples(inner, inner, st.integers(0, 3000)).map(lambda p: [p[0]] + [p[1]] * p[2])
    return (
        few
        | few.map(tuple)
        | many
        | st.dictionaries(KEYS, inner, max_size=4)
        | st.frozensets(KEYS, max_size=4)
        | few.map(iter_of)
    )


def iter_of(items):
    """Return ``items`` as an array of objects, which is sent as a list."""
    array = np.empty(len(items), dtype=object)
    for place, item in enumerate(items):
        array[place] = item
    return array


LEAVES = (
    st.sampled_from(ODD)
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.binary(max_size=5)
    | st.dates()
    | st.booleans()
)
VALUES = st.recursive(LEAVES, containers, max_leaves=12)
RULES = st.builds(
    Rules,
    order=st.sampled_from([None, True, False]),
    exact_type=st.booleans(),
    extra_keys=st.booleans(),
    of_largest=st.sampled_from([0.0, 1e-3]),
    tables=st.builds(TableOptions, st.booleans(), st.booleans(), st.booleans(), st.booleans(), st.booleans()),
)


def crossed(value):
    """Return ``value`` as the trusted side receives it, or None if it is rejected."""
    encode = Encoder(lambda odd: ["o", type(odd).__name__], 1 << 26)
    try:
        tree = encode(value)
        return Decoder(bytearray().join(encode.blobs), lambda _tag, items: items)(tree)
    except (TooBig, WireError):
        return None


def in_the_place_of(value):
    """Draw values that resemble ``value``: a part of it, copies with one more part, or a different container."""
    changed = [value, [value], (value, value), {"a": value}, [value, "x" * 1_000_000], str(type(value))]
    if isinstance(value, list | tuple) and value:
        changed += [value[:-1], value[::-1], [*value[1:], value[0]], [*value, *value[:1]], tuple(value)]
    return st.sampled_from(changed)


@fuzzed(200)
@given(VALUES, st.data(), RULES)
def test_random_values_stay_within_the_limits(value, data, rules):
    """Random values are sent, compared, shown, described and identified without an error."""
    found = crossed(value)
    expected = crossed(data.draw(VALUES | in_the_place_of(value)))
    with limited():
        equal(found, expected, rules)
        finding = matches(found, expected)
        for text in (show(found), describe(found), paste("x", found)):
            assert isinstance(text, str)
        if finding is not None:
            show_apart(found, expected)
        assert finding is None or len(finding.reason) < 20_000
        source(found)
        assert isinstance(hash(fingerprint(found)), int)
        matches(found, found, order=False)
        changed_arguments(Call("f", (expected,)), (found,), {})


# --- sources ---------------------------------------------------------------------------------------------------------

PIECES = [
    "to_kelvin", "mean_kelvin", "def to_kelvin(celsius):", "class to_kelvin:", "return ", "celsius", "np.mean(", "lambda x: ", "x=1;", "\n", "\n    ",
    "\n\t", "\r", "\x0c", "\\\n", "(", ")", "[", "]", "{", "}", ",", ".", "+", "-", "not ", " if ", " else ", "elif 0:\n    pass\n", "try:\n x\n",
    "except: pass\n", "import os, sys as o\n", "from . import *\n", "1", "9" * 4000, "'", '"""', "f'{", "#", "%magic\n", "!ls\n", "?", "async ", "await ",
    "@", "=", ":=", "==", "->", "*", "**", "`", "$", "\x00", "\ufeff", "ｔｏ_ｋｅｌｖｉｎ", "e\u0301", "\u0301\u0323", "\u2028", "é", "𝐱", "\ud7ff", "global x\n",
    "exec(", "match x:\n case [*_]: pass\n", "0x", "1e999", "1_0", "type X = int\n", "del x\n", "yield ", "q1 = None\n", "None", "...", "pass\n",
]  # fmt: skip
REPEATED = st.tuples(st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("".join), st.integers(1, 4000)).map(
    lambda p: p[0] * p[1]
)
SOURCES = st.lists(st.sampled_from(PIECES) | st.text(max_size=8) | REPEATED, max_size=12).map("".join)
BODIES = st.lists(st.sampled_from(PIECES), max_size=12).map(
    lambda parts: "def to_kelvin(celsius):\n    " + "".join(parts)
)
STUB = "def to_kelvin(celsius):\n    raise NotImplementedError"


@fuzzed(250)
@given(SOURCES | BODIES)
def test_random_sources_stay_within_the_limits(text):
    """Random sources are read, parsed, searched for definitions and imports, quoted and edited without an error."""
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": text}
    with limited(), attempt.reading_once():
        try:
            notebook = parse_notebook(document_bytes({"nbformat": 4, "metadata": {}, "cells": [cell]}))
        except NotebookError:  # more than thirty accents on a letter
            return
        [code] = notebook.code_cells()
        attempt.is_attempted("to_kelvin", STUB, [code.source], [code.source])
        attempt.is_attempted("quiz", "q1 = None", [code.source], [code.source])
        attempt.last_definition_is_blank("to_kelvin", [code.source])
        attempt.same_code(code.source, STUB)
        attempt.defined_names(code.source)
        assert all(
            unicodedata.is_normalized("NFC", name) for name in attempt.identifiers_in(code.source) if name.isalpha()
        )
        list(imported(code.source))
        explain(
            "NameError", code.source[:2000], line=code.source[:300], function="to_kelvin", known=[code.source[:300]]
        )
        program = program_of("to_kelvin", [("cell", code.source)])
        for variant in list(program.singles())[:200] if program is not None else ():
            for definition, edit in variant.edits:
                edited(definition.text, [edit])


# --- whole notebooks -------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("confinement", ["bubblewrap", "landlock"])
def test_random_notebooks_are_graded_or_ungradable(tmp_path, confinement):
    """Random notebooks cause no internal error, and the honest students graded between them get the right marks."""
    config = "c.Course.locate_seconds = 0.3\nc.Course.submission_seconds = 3.0\nc.Course.call_seconds = 0.5\nc.Course.cell_seconds = 0.5\n"
    course = with_book(copy_course(tmp_path / "mini", config=config))
    random = []

    @fuzzed(12)
    @given(SOURCES | BODIES, st.sampled_from(LITERALS))
    def draw(text, value):
        random.append({"to_kelvin": text, "quiz_ch1_units": f"q1 = {value}\nq2 = {value}"})
        random.append({"to_kelvin": f"def to_kelvin(celsius):\n    return {value}", "mean_kelvin": text})

    draw()
    honest = [
        {"student": f"{n:03} honest", "code": RIGHT if n else {**RIGHT, "to_kelvin": WRONG_SIGN}} for n in (0, 500, 999)
    ]
    for one in honest:
        hand_in(course, one["student"], document(course, **one["code"]))
    for number, code in enumerate(random, 1):
        hand_in(course, f"{number:03} random", document(course, **{**RIGHT, **code}))
    verdicts = grade_class(course, CHAPTER, handed_in(course, CHAPTER), confinement=confinement, workers=2)
    assert len(verdicts) == len(honest) + len(random)
    for verdict in verdicts:
        assert verdict.status in ("graded", "ungradable")
        reason = verdict.reason or ""
        assert not any(word in reason for word in ("Error", "grader itself", "process that graded")), (
            verdict.student,
            reason,
        )
    scores = {verdict.student: verdict.score for verdict in verdicts}
    assert scores["500 honest"] == scores["999 honest"] == MAX_SCORE
    assert scores["000 honest"] == MAX_SCORE - 2.0


LITERALS = [
    "['x' * 1_000_000] + [''] * 2500", "'e' + '\\u0301\\u0323' * 80_000", "[n * (2**61 - 1) for n in range(1, 60_000)]", "np.array(['x' * 1000] * 900)",
    "{n: [n] * 100 for n in range(1000)}", "[[[['a'] * 30] * 30] * 30] * 2", "range(10**17)", "np.zeros((1000, 1000))", "b'x' * 10**6",
    "{frozenset({i, i + 1}) for i in range(3000)}", "10**4000", "float('nan')", "celsius + 273.15 if 'celsius' in dir() else 'b'", "lambda: 0",
]  # fmt: skip

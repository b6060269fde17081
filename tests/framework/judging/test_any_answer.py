"""Tests that comparing any result of a student's function gives a verdict and no crash."""

from contextlib import suppress

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from autograder.checking import asserts
from autograder.judging.candidates import diagnosis_of, wrong_answers
from autograder.judging.diagnosis import answer_signature, same_answer
from autograder.misconception import Misconception
from autograder.sandbox.guest.wire import Decoder, Encoder
from autograder.sandbox.protocol import Answer, Call, Opaque, StudentError
from autograder.values import as_array, equal, normalize_result

ROWS = np.array([[0.2, 0.8], [0.5, 0.5]])
CALLS = [Call("f", (ROWS,)), Call("f", (ROWS.T,))]
arrays = nps.arrays(
    st.sampled_from(["?", "i1", "u1", "i8", "u8", "f2", "f4", "f8", "g", "c8", "c16"]),
    nps.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
    fill=st.nothing(),
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(1000, 1100).map(lambda bits: (-1) ** bits * (2**bits - 1))
    | st.floats()
    | st.complex_numbers()
    | st.text(max_size=6)
    | st.sampled_from([object(), ROWS, np.float32(0.5), np.longdouble("1e4000"), np.array([2**70, 1.5], object)])
    | nps.arrays(np.float64, (2, 2))
    | nps.from_dtype(np.dtype("f2"))
)
answers = st.recursive(
    scalars | arrays | st.lists(scalars, min_size=1, max_size=2).map(lambda items: items * 30),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3) | st.integers(0, 9), inner, max_size=3)
    ),
    max_leaves=6,
)


def crossed(value):
    """Return ``value`` as it arrives from a student's process."""
    encode = Encoder(lambda stays: ["o", type(stays).__name__], 1 << 24)
    tree = encode(value)
    return Decoder(bytearray(b"".join(map(bytes, encode.blobs))), lambda _tag, items: Opaque(items[0]))(tree)


@settings(deadline=None, max_examples=60)
@given(answers)
def test_comparing_an_answer_never_fails(value):
    """Comparing an answer raises no error except a failed check."""
    for found in (crossed(value), normalize_result(value)):
        array = as_array(found)
        assert array is None or array.dtype.kind in "biufc"
        for right in (ROWS, np.float64(2.0), 3, True, "b", None, [1.0, 2.0], (ROWS, 1.0), {"a": ROWS}, found):
            equal(found, right)
            equal(right, found)
            same_answer(Answer(found), Answer(right), CALLS[0])
        for right in (ROWS, np.array(2.0), np.array([True]), "b", [ROWS, 1.0], {"a": 1.0}):
            told("matches", found, right)
        for name in ("number", "string", "finite", "sums_to_one"):
            told(name, found)
        told("choice", found, "b")
        told("one_of", found, ["a", "b"])
        told("shape", found, (2, 2))
        told("within", found, low=0.0, high=1.0)
        told("einsum", found, np.ones(2), a=ROWS)


@settings(deadline=None, max_examples=60)
@given(answers, answers)
def test_naming_a_mistake_never_fails(one, other):
    """Diagnosis raises no error, whatever the answers are."""
    known = diagnosis_of("f", {"f": lambda x: x}, [Misconception("m", "f", "Turned.", lambda x: x.T)], CALLS)
    log = [(call, Answer(crossed(value))) for call, value in zip(CALLS, (one, other), strict=True)]
    known.explain(log)
    answer_signature("f", log)
    for wrong in ("a", 2.0, 3, "ab->a", None):
        choice = Misconception("w", "quiz", "Not that.", lambda wrong=wrong: {"q1": wrong})
        wrong_answers([choice], {"q1": crossed(one)})


@given(st.text(max_size=300), st.text(max_size=300))
def test_errors_can_be_compared_whatever_they_say(one, other):
    """Comparing two errors always gives True or False."""
    pair = [Answer(error=StudentError("ValueError", text)) for text in (one, other)]
    assert isinstance(same_answer(*pair), bool)
    assert same_answer(pair[0], pair[0])


def told(name, *args, **kwargs):
    """Call the assertion called ``name``, which may raise nothing but ``CheckFailed``."""
    with suppress(asserts.CheckFailed):
        getattr(asserts, f"assert_{name}")(*args, **kwargs)

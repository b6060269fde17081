"""Tests of counting multiply-adds, which tells chapter 8's checks whether a text was generated with a cache."""

import numpy as np
import pytest

from autograder.course.course import run_module
from tests.support import ROOT

COUNTER = run_module("multiply_adds_under_test", ROOT / "tests" / "chapters" / "multiply_adds.py")
A, B = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)

# Each of these takes 24 multiply-adds, like the product of arrays of shapes (2, 3) and (3, 4).
PRODUCTS = {
    "@": lambda a, b: a @ b,
    "matmul": np.matmul,
    "dot": np.dot,
    "method": lambda a, b: a.dot(b),
    "tensordot": lambda a, b: np.tensordot(a, b, axes=1),
    "inner": lambda a, b: np.inner(a, b.T),
    "einsum": lambda a, b: np.einsum("ij,jk->ik", a, b),
    "einsum with dots": lambda a, b: np.einsum("...j,jk", a, b),
    "einsum by numbers": lambda a, b: np.einsum(a, [0, 1], b, [1, 2]),
    "into an array": lambda a, b: np.matmul(a, b, out=np.empty((2, 4))),
    "times and a sum": lambda a, b: (a[:, :, None] * b).sum(axis=1),
    "loops over rows": lambda a, b: [
        [sum(x * y for x, y in zip(row, b[:, k], strict=True)) for k in range(4)] for row in a
    ],
    "lists": lambda a, b: [[sum(x * y for x, y in zip(r, c, strict=True)) for c in b.T.tolist()] for r in a.tolist()],
    "a copy": lambda a, b: np.array(a) @ np.copy(b),
    "an array of rows": lambda a, b: np.array([a[0], a[1]]) @ np.asarray(b, dtype=np.float64),
    "stacked": lambda a, b: np.stack([a[0], a[1]]) @ np.ascontiguousarray(b),
    "float32": lambda a, b: a.astype(np.float32) @ b.astype(np.float32),
    "chosen": lambda a, b: np.where(a >= 0, a, 0) @ b,
    "in place": lambda a, b: [np.add(np.zeros(4), row @ b) for row in a],
}


BOTH_COUNT = {"an array of rows", "stacked", "chosen", "lists", "method"}  # tried only with two counting arrays


@pytest.mark.parametrize(
    ("name", "counting"), [(n, c) for n in PRODUCTS for c in ("ab", "a", "b") if c == "ab" or n not in BOTH_COUNT]
)
def test_a_product_is_counted_however_it_is_written(name, counting):
    """A product counts if either factor counts, and the result equals NumPy's."""
    before = {name: getattr(np, name) for name in COUNTER.MADE_OF_OTHERS}
    found = []

    def product(_tokens, _n_new, model, _temperature, _rng):
        found.append(PRODUCTS[name](model.get("a", A), model.get("b", B)))
        return [0]

    model = {key: value for key, value in (("a", A), ("b", B)) if key in counting}
    bounds = ((24, 24), (25, 99), (0, 23))
    told = [COUNTER.probe(product, [0], 0, model, 0, None, *limits)["multiply-adds"] for limits in bounds]
    assert told == [COUNTER.FEW, COUNTER.LOST, COUNTER.MANY]
    np.testing.assert_allclose(np.array(found[0], dtype=float), A @ B)
    assert {name: getattr(np, name) for name in COUNTER.MADE_OF_OTHERS} == before


def test_numbers_taken_out_of_the_arrays_are_missed_and_that_is_told():
    """Work on numbers taken out of the arrays is not counted, and the probe says that most of the work is missing."""

    def hidden(_tokens, _n_new, model, _temperature, _rng):
        a, b = (np.frombuffer(model[name].tobytes()).reshape(model[name].shape) for name in "ab")
        return [int((a @ b).sum() * 0)]

    told = COUNTER.probe(hidden, [0], 0, {"a": A, "b": B}, 0, None, 12, 24)
    assert told["multiply-adds"] == COUNTER.LOST


SLOW_LOGITS = """
def next_token_logits(tokens, model):
    for _ in range(50):
        logits = model["embedding"][tokens] @ model["embedding"].T
    return logits

def generate(tokens, n_new, model, temperature, rng):
    next_token_logits(tokens, model)
    return tokens
"""
OWN_NAMES = SLOW_LOGITS.replace("(tokens, model):", "(text, model):").replace("[tokens]", "[text]")
OWN_NAMES = OWN_NAMES.replace(
    "logits(tokens, model)\n    return tokens", "logits(text=tokens, model=model)\n    return tokens"
)


def test_a_slow_solution_of_an_earlier_exercise_costs_no_more_than_a_fast_one():
    """A right `generate` may call the student's own `next_token_logits`, however many multiply-adds that takes."""
    names = {}
    exec(SLOW_LOGITS, names)  # noqa: S102 - our own text
    own = names["next_token_logits"]
    model = {"embedding": np.ones((3, 2)), "blocks": []}  # 12 multiply-adds for two tokens
    assert COUNTER.probe(names["generate"], [0, 1], 1, model, 0, None, 12, 12)["multiply-adds"] == COUNTER.FEW
    assert names["next_token_logits"] is own


def test_an_earlier_exercise_with_other_parameters_still_runs():
    """If the call cannot be understood, all its multiply-adds count."""
    names = {}
    exec(OWN_NAMES, names)  # noqa: S102 - our own text
    model = {"embedding": np.ones((3, 2)), "blocks": []}
    assert COUNTER.probe(names["generate"], [0, 1], 1, model, 0, None, 600, 600)["multiply-adds"] == COUNTER.FEW


def test_what_a_text_needs_besides_products_works_with_counting_arrays():
    """Norms, softmax, random draws, complex numbers and indexing give the same results as ordinary arrays."""
    kind, _ = COUNTER.counting()
    x = (A + 0.5).view(kind)
    plain = A + 0.5
    pairs = [
        (x.mean(axis=-1, keepdims=True), plain.mean(axis=-1, keepdims=True)),
        (x.var(axis=-1), plain.var(axis=-1)),
        (np.exp(x - x.max()), np.exp(plain - plain.max())),
        (np.concatenate([x, plain]), np.concatenate([plain, plain])),
        ((x[..., :1] + 1j * x[..., 1:2]).imag, plain[..., 1:2]),
        (np.maximum(x, 2.0), np.maximum(plain, 2.0)),
        (np.linalg.norm(x, axis=1), np.linalg.norm(plain, axis=1)),
    ]
    for found, right in pairs:
        np.testing.assert_allclose(np.asarray(found), right)
    p = x[0] / x[0].sum()
    assert np.random.default_rng(1).choice(3, p=p) == np.random.default_rng(1).choice(3, p=np.asarray(p))
    assert int(np.argmax(x)) == 5
    assert float(round(x[1, 2], 1)) == 5.5

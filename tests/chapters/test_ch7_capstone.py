"""The checks of chapter 7: a decoder block's attention, and a head whose weights are set by hand."""

import inspect

import numpy as np
from inputs import CHANGE, Contract, array, arrays_of, moved_weights, other_first

from autograder.checking import (
    CheckFailed,
    InputCategory,
    all_categories,
    assert_matches,
    check,
    exercise,
    given,
    group,
    integers,
    lengths,
    pure,
    size,
    whole,
)
from solutions.ch5_multi_head import multi_head_attention


def numbers(rng, *shape):
    """Return random numbers with one digit after the point."""
    return rng.uniform(-1.2, 1.2, size=shape).round(1) + 0.0


def some_weights(rng, d_model, h, d_k, d_v):
    """Return the four matrices of one attention, with small numbers of two digits."""
    shapes = {name: (d_model, h * d) for name, d in (("W_Q", d_k), ("W_K", d_k), ("W_V", d_v))}
    shapes["W_O"] = (h * d_v, d_model)
    return {name: rng.uniform(-0.6, 0.6, size=shape).round(2) + 0.0 for name, shape in shapes.items()}


def some_case(rng, B, n_q, n_k, d_model, h, d_k, d_v):
    """Return target, memory and weights. The heads of the cross-attention are one column wider than those of the self-attention."""
    target, memory = numbers(rng, B, n_q, d_model), numbers(rng, B, n_k, d_model)
    first = some_weights(rng, d_model, h, d_k, d_v)
    return target, memory, {"self": first, "cross": some_weights(rng, d_model, h, d_k + 1, d_v + 1)}


SEEDS, ONE_TO_3 = integers(0, 9999), integers(1, 3)


def scores_of_heads(X_q, X_kv, W, h):
    """Return the scores of every head, of shape (B, h, n_q, n_k)."""
    Q, K = (np.swapaxes((X @ W[name]).reshape(*X.shape[:2], h, -1), 1, 2) for X, name in ((X_q, "W_Q"), (X_kv, "W_K")))
    return Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])


def times(W, names, factor):
    """Return the matrices, one of the named two multiplied by a factor. Large numbers stay large, small numbers stay small, and none exceeds 100."""
    name = (min if factor < 1 else max)(names, key=lambda name: np.abs(W[name]).max())
    factor = min(factor, 99 / max(np.abs(W[name]).max(), 1e-300))
    return {**W, name: (W[name] * factor).astype(W[name].dtype)}


def bounded(X_q, X_kv, W, h, mask):
    """Return the four matrices, scaled so that every score affects the output, and the attention's output with them.

    Scores stay within 900, and within 3 of each other in a row. So no hidden score is far above the others, and no score
    decides a row alone. The output stays within 100, so that rounding errors of 1e-9 do not matter.
    """
    scores = scores_of_heads(X_q, X_kv, W, h)
    top, spread = np.abs(scores).max(), np.ptp(scores, axis=-1).max()
    if spread > 0 or top > 900:
        W = times(W, ("W_Q", "W_K"), min(3 / max(spread, 1e-300), 900 / top))
    output, _ = multi_head_attention(X_q, X_kv, **W, h=h, mask=mask)
    if np.abs(output).max() > 100:
        W = times(W, ("W_V", "W_O"), 100 / np.abs(output).max())
        output, _ = multi_head_attention(X_q, X_kv, **W, h=h, mask=mask)
    return W, output


def first_head(W, h):
    """Return the matrices of the first of h heads."""
    one = {name: W[name][:, : W[name].shape[1] // h] for name in ("W_Q", "W_K", "W_V")}
    return {**one, "W_O": W["W_O"][: W["W_O"].shape[0] // h]}


def kept_in_bounds(values, _rng):
    """Return the same inputs with bounded scores in both attentions. With a long axis, keep only one sequence and one head."""
    target, memory, weights, h, lengths = values.values()
    if max(*target.shape[1:], memory.shape[1]) > 64:
        if any(np.ptp(X) < 0.1 * np.abs(X).max() for X in (target, memory)):
            return None  # if many numbers are almost equal, leaving some out would go unnoticed
        target, memory, lengths = target[:1], memory[:1], lengths[:1]
        weights, h = {name: first_head(W, h) for name, W in weights.items()}, 1
        n_k = memory.shape[1]
        lengths = np.maximum(lengths, min(n_k, max(2, n_k - 4)))  # with one real row, every query reads the same
    causal, real = np.tri(target.shape[1], dtype=bool), np.arange(memory.shape[1]) < lengths[:, None, None, None]
    first, seen = bounded(target, target, weights["self"], h, causal)
    cross, _ = bounded(seen, memory, weights["cross"], h, real)
    weights = {"self": first, "cross": cross}
    return {"target": target, "memory": memory, "weights": weights, "h": h, "memory_lengths": lengths}


def large(*names):
    """Return the input category in which these matrices have larger numbers than the others, in both attentions."""

    def known(values):
        return all(np.abs(four[name]).max() > 80 for four in values["weights"].values() for name in names)

    def make(values, _rng):
        weights = {
            which: {**four, **{name: four[name] * (90 / max(np.abs(four[name]).max(), 1e-3)) for name in names}}
            for which, four in values["weights"].items()
        }
        return {**values, "weights": weights}

    both = " and ".join(names)
    return InputCategory.custom(f"weights: large {both}", f"numbers up to 90 in {both}", known, make)


def four_matrices(d_k, d_v):
    """Return the contract of one attention's four matrices, with ``d_k`` and ``d_v`` as the letters of their widths."""
    shapes = {name: f"d_model h*{d}" for name, d in (("W_Q", d_k), ("W_K", d_k), ("W_V", d_v))}
    return group(
        {name: array(s, low=-100, high=100, tiny=5e-5) for name, s in {**shapes, "W_O": f"h*{d_v} d_model"}.items()}
    )


SAME_ARRAY = """
def probe(decoder_attention, target, memory, weights, h, memory_lengths):
    weights = {which: {**four, "W_K": four["W_Q"]} for which, four in weights.items()}
    return decoder_attention(target, memory, weights, h, memory_lengths)
"""


@exercise(
    "decoder_attention",
    points=8,
    takes=Contract(
        {
            "target": array("B n_q d_model", low=-1000, high=1000),
            "memory": array("B n_k d_model", low=-1000, high=1000),
            "weights": group({"self": four_matrices("d_k", "d_v"), "cross": four_matrices("c_k", "c_v")}),
            "h": size("h"),
            "memory_lengths": lengths("B", "n_k", low=1),
        },
        categories=[large("W_Q", "W_O"), large("W_K", "W_V")],
        constrain=kept_in_bounds,
    ),
)
class TestDecoderAttention:
    """Call `multi_head_attention` twice, one call after the other. For each call, say in words before you write: which
    array gives the queries, which gives keys and values, which weights are used, and what is hidden?

    The first attention hides the future: use `causal_mask`. The second hides padding: `padding_mask` returns the shape
    (B, 1, n_k), but the weights have the shape (B, h, n_q, n_k). Line the two up from the right: which axis is missing,
    and where?

    The output of the first attention takes the place of X_q in the second, and the memory takes the place of X_kv.
    `array[:, None]` adds an axis of size 1. `multi_head_attention` returns a pair, so pass on only its first part.
    """

    @check(points=1, visible=True)
    def test_small_example(self, agrees):
        """the example worked by hand"""
        eye, zeros, first = np.eye(2), np.zeros((2, 1)), np.array([[1.0], [0.0]])
        weights = {
            "self": {"W_Q": zeros, "W_K": zeros, "W_V": eye, "W_O": eye},
            "cross": {"W_Q": first, "W_K": first, "W_V": eye, "W_O": 10 * eye},
        }
        target, memory = arrays_of([[[2, 0], [0, 4]]], [[[1, 0], [0, 1], [3, 3]]])
        agrees.decoder_attention(target, memory, weights, 1, np.array([2]))

    @check(points=1, visible=True, after="test_small_example")
    def test_nothing_padded(self, agrees, rng):
        """a single sequence with three heads, and no padding"""
        target, memory, weights = some_case(rng, 1, 3, 5, 4, 3, 2, 1)
        agrees.decoder_attention(target, memory, weights, 3, np.array([5]))

    @check(points=1.5, visible=True, after="test_small_example")
    def test_a_padded_batch(self, agrees, rng):
        """a batch of four memories with different lengths"""
        target, memory, weights = some_case(rng, 4, 3, 5, 2, 3, 1, 2)
        agrees.decoder_attention(target, memory, weights, 3, np.array([3, 1, 5, 4]))

    @check(points=0.5, visible=True, after="test_a_padded_batch")
    def test_other_padding(self, student, rng):
        """other numbers in the padding change nothing"""
        target, memory, weights = some_case(rng, 2, 2, 4, 3, 2, 1, 1)
        lengths = np.array([2, 3])
        other = memory.copy()
        other[0, 2:] = [[1.0, -1.0, 0.5], [0.0, 1.2, -1.2]]
        other[1, 3:] = [[-1.2, 0.5, 1.0]]
        one, two = ([target, rows, weights, 2, lengths] for rows in (memory, other))
        found = student.measure(CHANGE, "decoder_attention", one, two, None)
        inputs = {"target": target, "memory": memory, "other": other, "weights": weights, "memory_lengths": lengths}
        call = "the change of decoder_attention(target, memory, weights, 2, memory_lengths) if other takes the place of memory"
        assert_matches(found, np.zeros(target.shape), call=call, **inputs)

    @check(points=1, visible=True, after="test_a_padded_batch")
    def test_all_sizes_equal(self, agrees, rng):
        """equal numbers of sequences, heads, positions, memory rows and columns"""
        target, memory, _ = some_case(rng, 3, 3, 3, 3, 3, 1, 1)
        weights = {"self": some_weights(rng, 3, 3, 1, 1), "cross": some_weights(rng, 3, 3, 1, 1)}
        weights = {which: dict(reversed(four.items())) for which, four in weights.items()}  # keys may have any order
        agrees.decoder_attention(target, memory, weights, 3, np.array([2, 3, 1]))

    @check(visible=True, after="test_small_example")
    def test_scores_near_a_thousand(self, agrees):
        """scores near -1000 in the first attention, near 1000 in the second"""
        first, eye, W_O = np.array([[20.0], [0.0]]), np.eye(2), np.array([[1.0, 2.0], [3.0, -1.0]])
        weights = {
            "self": {"W_Q": first, "W_K": np.array([[-49.9], [0.05]]), "W_V": eye, "W_O": np.diag([1.0, 2.0])},
            "cross": {"W_Q": 20 * eye, "W_K": np.array([[70.0, 0.0], [-0.05, 0.05]]), "W_V": eye, "W_O": W_O},
        }
        target, memory = arrays_of([[[1, 0], [1, 1]]], [[[1, 0], [1, 1], [1, -1]]])
        agrees.decoder_attention(target, memory, weights, 1, np.array([2]))

    @check(points=1, after="test_small_example")
    @given(
        B=ONE_TO_3, n_q=integers(1, 4), n_k=integers(1, 5), d_model=integers(1, 4), h=ONE_TO_3, d_k=ONE_TO_3, d_v=ONE_TO_3,
        seed=SEEDS, examples=5,
    )  # fmt: skip
    def test_any_sizes(self, agrees, B, n_q, n_k, d_model, h, d_k, d_v, seed):
        """random sizes and lengths"""
        rng = np.random.default_rng(seed)
        target, memory, weights = some_case(rng, B, n_q, n_k, d_model, h, d_k, d_v)
        lengths = rng.integers(1, n_k + 1, size=B)
        agrees.decoder_attention(target, memory, weights, h, lengths)
        W_O = weights["cross"]["W_O"] * np.append(50.0, np.full(d_model - 1, 1e-5))
        weights = {**weights, "cross": {**weights["cross"], "W_O": W_O}}
        agrees.decoder_attention(target, memory, weights, h, lengths)

    @check(points=0.5, after="test_nothing_padded")
    @given(t=ONE_TO_3, more=ONE_TO_3, seed=SEEDS, examples=3)
    def test_no_future(self, student, t, more, seed):
        """later words change no earlier row"""
        rng = np.random.default_rng(seed)
        target, memory, weights = some_case(rng, 2, t + more, 4, 3, 2, 2, 1)
        lengths = rng.integers(1, 5, size=2)
        later = target.copy()
        later[:, t:] = numbers(rng, *later[:, t:].shape)
        one, two = ([rows, memory, weights, 2, lengths] for rows in (target, later))
        found = student.measure(CHANGE, "decoder_attention", one, two, t)
        inputs = {"target": target, "later": later, "memory": memory, "weights": weights, "memory_lengths": lengths}
        result = f"decoder_attention(target, memory, weights, 2, memory_lengths)[:, :{t}]"
        call = f"the change of {result} if later takes the place of target"
        assert_matches(found, np.zeros((2, t, 3)), call=call, **inputs)

    @check(points=0.5, after="test_other_padding")
    @given(B=ONE_TO_3, n_k=integers(2, 5), h=ONE_TO_3, seed=SEEDS, examples=3)
    def test_padding_is_never_read(self, student, agrees, B, n_k, h, seed):
        """random lengths, and the same memories with other and longer padding"""
        rng = np.random.default_rng(seed)
        target, memory, weights = some_case(rng, B, 3, n_k, 4, h, 1, 2)
        lengths = rng.integers(1, n_k, size=B)
        agrees.decoder_attention(target, memory, weights, h, lengths)
        padded = np.arange(n_k + 2) >= lengths[:, None]
        longer = np.concatenate([memory, memory[:, :2]], axis=1)
        longer[padded] = numbers(rng, padded.sum(), 4)
        one, two = ([target, rows, weights, h, lengths] for rows in (memory, longer))
        found = student.measure(CHANGE, "decoder_attention", one, two, None)
        inputs = {"target": target, "memory": memory, "longer": longer, "weights": weights, "memory_lengths": lengths}
        result = f"decoder_attention(target, memory, weights, {h}, memory_lengths)"
        call = f"the change of {result} if longer takes the place of memory"
        assert_matches(found, np.zeros(target.shape), call=call, **inputs)

    test_every_kind = all_categories(points=0.25, after="test_a_padded_batch")

    @check(points=0.25, after="test_a_padded_batch")
    def test_extremes(self, agrees, student, reference, rng):
        """long keys, a batch compared with its single sequences, scores near 1000, near -1000, and both in the same row"""
        target, memory, weights = some_case(rng, 3, 5, 4, 2, 4, 16, 1)
        lengths = np.array([1, 4, 3])
        agrees.decoder_attention(target, memory, weights, 4, lengths)
        given = SAME_ARRAY, "decoder_attention", target, memory, weights, 4, lengths
        call = "decoder_attention(target, memory, weights, 4, memory_lengths), with one array as both W_Q and W_K,"
        assert_matches(student.measure(*given), reference.probe(*given), call=call)
        # These calls detect results that are cached by all arguments except one.
        agrees.decoder_attention(target[:, ::-1], memory, weights, 4, lengths)
        agrees.decoder_attention(other_first(target), memory, weights, 4, lengths)
        agrees.decoder_attention(target, memory[:, ::-1], weights, 4, lengths)
        agrees.decoder_attention(target, memory, weights, 2, lengths)
        for b in range(3):
            one = slice(b, b + 1)
            agrees.decoder_attention(target[one], memory[one], weights, 4, lengths[one])
        for level in (-995.0, 995.0):
            target, memory, weights = some_case(rng, 2, 3, 5, 4, 3, 2, 2)
            target, memory = (np.pad(X, ((0, 0), (0, 0), (0, 1)), constant_values=1.0) for X in (target, memory))
            wider = {which: moved_weights(W, 3, level, out=1 / 3) for which, W in weights.items()}
            agrees.decoder_attention(target, memory, wider, 3, np.array([4, 2]))
        # With 256 columns, a forbidden product that is set to -10 000 becomes -625 after the division.
        target, memory, weights = some_case(rng, 1, 3, 4, 2, 1, 255, 1)
        target, memory = (np.pad(X, ((0, 0), (0, 0), (0, 1)), constant_values=4.0) for X in (target, memory))
        wider = {which: moved_weights(W, 1, -995.0 / 16) for which, W in weights.items()}
        agrees.decoder_attention(target, memory, wider, 1, np.array([2]))
        # Scores near a thousand whose differences float32 would round.
        eye, first = np.eye(2), np.array([[1.0], [0.0]])
        near = 30.0 + rng.uniform(0.0002, 0.0009, size=2)
        memory = np.array([[[near[0], 50.0], [near[1], -50.0]]])
        one = {"W_Q": first, "W_K": first, "W_V": eye[:, 1:], "W_O": eye[1:]}
        plain = dict.fromkeys(("W_Q", "W_K", "W_V", "W_O"), eye)
        weights = {"self": plain, "cross": one}
        agrees.decoder_attention(np.array([[[30.1, 0.0]]]), memory, weights, 1, np.array([2]))
        # Numbers in the padding that are so large that a weight of 1e-9 counts.
        wide = {"W_Q": 0 * eye, "W_K": 0 * eye, "W_V": 100 * eye, "W_O": eye}
        padded = np.array([[[0.0, 0.0], [1000.0, -1000.0]]])
        agrees.decoder_attention(padded[:, :1], padded, {"self": wide, "cross": wide}, 1, np.array([1]))
        # One weight is 5e-7, and its value is large enough to count: first in the second attention, then in the first.
        steep = {"W_Q": first, "W_K": 14.5 * first, "W_V": 100 * eye[:, 1:], "W_O": eye[1:]}
        rows = np.array([[[0.0, 900.0], [1.0, 0.0]]])
        agrees.decoder_attention(rows[:, 1:], rows, {"self": plain, "cross": steep}, 1, np.array([2]))
        weights = {"self": steep | {"W_O": 0.01 * eye[:1]}, "cross": steep | {"W_K": first}}
        memory = np.array([[[0.0, 1000.0], [1.0, -1000.0]]])
        agrees.decoder_attention(rows, memory, weights, 1, np.array([2]))
        # In each row, the scores are -900 except for a single 900, which every shift but the largest score lets overflow.
        four = {"W_Q": 30.0 * eye[:, 1:], "W_K": 30.0 * first, "W_V": eye, "W_O": eye}
        target = np.column_stack([[1.0, -1.0, -1.0, -1.0], np.ones(4)])
        memory = np.column_stack([[-1.0, -1.0, 1.0, -1.0, -1.0], rng.uniform(1, 9, size=5)])
        agrees.decoder_attention(target[None], memory[None], {"self": four, "cross": four}, 1, np.array([4]))

    test_care = pure(points=0.5, after="test_small_example")


# The head is checked by its output. The next two functions run in two places: in the sandbox with the student's function
# (as the source of a probe), and here on the weights that it returned.


class NotAsAsked(Exception):  # noqa: N818 - the framework recognizes refusals of a probe by this name
    """The returned value cannot be used as a head."""


def matrices_of(head, d_model):
    """Return the four matrices as float64. Raises ``NotAsAsked``, with the reason, if they do not make a head."""
    if head is None:
        raise NotAsAsked("it is None. Does the function end in a `return`?")
    if not isinstance(head, dict):
        raise NotAsAsked(f"it should be a dictionary of four arrays, but it is of type {type(head).__name__}")
    found = {}
    for name in ("W_Q", "W_K", "W_V", "W_O"):
        if name not in head:
            raise NotAsAsked(f"the dictionary has no entry {name!r}")
        matrix = head[name]
        if not isinstance(matrix, np.ndarray):
            raise NotAsAsked(f"{name} should be an array, and is of type {type(matrix).__name__}")
        if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
            raise NotAsAsked(f"{name} should be a matrix of numbers, with two axes")
        if not 1 <= matrix.shape[name != "W_O"] <= max(1000, d_model):
            raise NotAsAsked(f"{name} has the shape {matrix.shape}, but d_k and d_v must be from 1 to 1000")
        found[name] = matrix.astype(np.float64)
        if not np.isfinite(found[name]).all():
            raise NotAsAsked(f"{name} contains numbers that are NaN or infinite")
    for name in ("W_Q", "W_K", "W_V"):
        if found[name].shape[0] != d_model:
            raise NotAsAsked(f"{name} needs {d_model} rows, one for each column of X, but has {found[name].shape[0]}")
    if found["W_O"].shape[1] != d_model:
        raise NotAsAsked(f"W_O needs {d_model} columns, as many as X has, but has {found['W_O'].shape[1]}")
    for left, right, a, b in (("W_Q", "W_K", 1, 1), ("W_V", "W_O", 1, 0)):
        if found[left].shape[a] != found[right].shape[b]:
            raise NotAsAsked(
                f"{left} has shape {found[left].shape} and {right} {found[right].shape}, which do not match"
            )
    return found


def rows_of(output, n):
    """Return rows 1 to n - 1 by number. Numbers within 0.0005 of a whole number are rounded to it."""
    whole = np.round(output)
    output = np.where(np.abs(output - whole) < 5e-4, whole, output) + 0.0
    return {i: output[i] for i in range(1, n)}


MATRICES = f"{inspect.getsource(NotAsAsked)}\n\n{inspect.getsource(matrices_of)}"
SIZES = MATRICES + (
    "def probe(function, n, d_model):\n"
    "    found = matrices_of(function(n, d_model), d_model)\n"
    "    return {name: 'fits' for name in found}\n"
)
ROWS = (
    MATRICES
    + inspect.getsource(rows_of)
    + (
        "def probe(function, n, d_model, X, causal):\n"
        "    W = matrices_of(function(n, d_model), d_model)\n"
        "    scores = X @ W['W_Q'] @ (X @ W['W_K']).T / np.sqrt(W['W_Q'].shape[1])\n"
        "    if causal:\n"
        "        scores = np.where(np.tri(n, dtype=bool), scores, -np.inf)\n"
        "    e = np.exp(scores - scores.max(axis=1, keepdims=True))\n"
        "    return rows_of(e / e.sum(axis=1, keepdims=True) @ X @ W['W_V'] @ W['W_O'], n)\n"
    )
)


# Only the last rows of a long sequence, so that students get a short message.
LAST_ROWS = ROWS + (
    "all_rows = probe\n"
    "def probe(function, n, *args):\n"
    "    found = all_rows(function, n, *args)\n"
    "    return {name: found[name] for name in list(found)[-3:]}\n"
)


# The next functions describe a wrong head, for the diagnosis. The description is the same for all heads with the same mistake,
# however their matrices are made. Each description of a cause is validated: the head is right after the change that it names.


def weights_of(W, X, *, causal=False):
    """Return the attention weights of the head with the matrices ``W``."""
    scores = X @ W["W_Q"] @ (X @ W["W_K"]).T / np.sqrt(W["W_Q"].shape[1])
    scores = np.where(np.tri(len(X), dtype=bool), scores, -np.inf) if causal else scores
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def finds(heads, change=dict, *, causal=False):
    """Return whether every head gives nearly all its weight to the previous position, after its matrices are changed."""
    return all((np.diag(weights_of({**W, **change(W)}, X, causal=causal), -1) > 0.999).all() for W, X in heads)


def times_1000(W):
    """Multiply all scores by 1000."""
    return {"W_Q": 1000 * W["W_Q"]}


def tallest(weights):
    """Return the positions that get equally large weights, for each row but the first, or None if others get some too."""
    sets = []
    for row in weights[1:]:
        most = row > 0.9 * row.max()
        if not row[most].sum() > 0.9:
            return None
        sets.append(set(np.flatnonzero(most).tolist()))
    return sets


def patterns(n):
    """Return the positions that each row but the first looks at in some wrong heads."""
    seen = {
        "itself": lambda i: [i],
        "both neighbors": lambda i: [i - 1, i + 1],
        "all before": range,
        "itself and all before": lambda i: range(i + 1),
        "itself and the previous one": lambda i: [i - 1, i],
        "the first": lambda _i: [0],
        "the last": lambda _i: [n - 1],
        "the last but itself": lambda i: [n - 2 if i == n - 1 else n - 1],
        "all": lambda _i: range(n),
    }
    return {name: [set(rows(i)) & set(range(n)) for i in range(1, n)] for name, rows in seen.items()}


def where_it_looks(heads):
    """Return a phrase for the mistake in W_Q and W_K, or the weights in the first case if no phrase fits."""
    if finds(heads):
        return "right"
    seen = [weights_of(W, X) for W, X in heads]

    def smaller(W):
        return {name: 1000 * (W[name] / max(np.abs(W[name]).max(), 1e-300)) for name in ("W_Q", "W_K")}

    if not all(np.isfinite(weights).all() for weights in seen):
        return "infinite scores" if finds(heads, smaller) else "not finite"
    if finds(heads, times_1000):
        W, X = heads[0]
        gaps = X @ W["W_Q"] @ (X @ W["W_K"]).T
        least = min(gaps[i, i - 1] - np.delete(gaps[i], i - 1).max() for i in range(1, len(X)))
        return "a score of 1" if abs(least - 1) < 1e-9 else "too even" if not finds(heads[:1]) else "too even if long"

    def no_tokens(W):
        shown = (np.arange(len(W["W_Q"])) >= W["n_tokens"])[:, None]
        return {name: W[name] * shown for name in ("W_Q", "W_K")}

    if finds(heads, lambda W: {"W_Q": 1000 * no_tokens(W)["W_Q"], "W_K": no_tokens(W)["W_K"]}):
        return "tokens too"
    if finds(heads, lambda W: {"W_Q": -1000 * W["W_Q"]}):
        return "the lowest score"
    sets = [tallest(weights) for weights in seen]
    if None not in sets:
        for name in patterns(2):
            if all(patterns(len(X))[name] == one for (_W, X), one in zip(heads, sets, strict=True)):
                return name
        if all(one[:-1] == [{i + 1} for i in range(1, len(one))] for one in sets):
            return "the next"
        if all(one[1:] == [{i - 2} for i in range(2, len(one) + 1)] for one in sets):
            return "two back"
        if all(one[:-1] == [{i - 1} for i in range(1, len(one))] for one in sets):
            return "all rows but the last"
        if all(i - 1 in row for one in sets for i, row in enumerate(one, 1)):
            return "others as much"
        if all(one[1:] == [{i - 1} for i in range(2, len(one) + 1)] for one in sets):
            return "all rows but row 1"
    one_column = all(W["W_Q"].shape[1] == 1 for W, _X in heads)
    if finds(heads, times_1000, causal=True):
        return "one column" if one_column else "only under a mask"
    if one_column:
        return "one column, even under a mask"
    return np.concatenate([weights.ravel() for weights in seen[:2]]).round(3)


def what_it_brings(heads):
    """Return a phrase for the mistake in W_V and W_O, or what they do in the first case if no phrase fits."""
    found = []
    for W, _X in heads:
        n_tokens = W["n_tokens"]
        both = W["W_V"] @ W["W_O"]
        output = both[:n_tokens, None] + both[None, n_tokens:]
        right = np.broadcast_to(np.eye(*both.shape)[:n_tokens, None], output.shape)
        found.append((output, right, np.eye(len(both))[None, n_tokens:]))
    sizes = [float((output * right).sum() / right.sum()) for output, right, _position in found]
    if all(np.abs(output - right).max() < 1e-3 for output, right, _position in found):
        return "right"
    if all(
        np.abs(output - size * right).max() < 1e-3 * abs(size)
        for size, (output, right, _position) in zip(sizes, found, strict=True)
    ) and (min(sizes) > 1 or 0 < min(sizes) <= max(sizes) < 1):
        return "too large" if min(sizes) > 1 else "too small"
    if all(np.abs(output - right - position).max() < 1e-3 for output, right, position in found):
        return "the position too"
    return np.concatenate([output.ravel() for output, _right, _position in found[:2]]).round(3)


def described(function, cases):
    """Describe in phrases which position each row looks at and what it copies. The phrases identify a mistake."""
    heads, refused = [], ""
    try:
        for n, d_model, tokens in cases:
            X = np.eye(d_model)[np.asarray(tokens)] + np.eye(d_model, k=d_model - n)[:n]
            heads.append((matrices_of(function(n, d_model), d_model) | {"n_tokens": d_model - n}, X))
    except Exception as error:  # noqa: BLE001 - other calls show the error
        refused = str(error) if isinstance(error, NotAsAsked) else type(error).__name__
    with np.errstate(all="ignore"):
        found = {"looks": where_it_looks(heads), "brings": what_it_brings(heads)} if heads else {}
    if refused:
        fine = "must be from 1 to 1000" in refused and found == {"looks": "right", "brings": "right"}
        return {"looks": "too many columns" if fine else refused, "brings": ""}
    return found


DESCRIBED = (
    MATRICES
    + "".join(
        inspect.getsource(function)
        for function in (weights_of, finds, times_1000, tallest, patterns, where_it_looks, what_it_brings, described)
    )
    + "probe = described\n"
)
DIAGNOSED = [
    (3, 7, [2, 0, 3]),
    (6, 10, [3, 1, 3, 3, 0, 1]),
    (30, 32, [0, 1, 1] * 10),
    (66, 72, [5, 0, 2] * 22),
    (120, 130, [9, 3] * 60),
]


def sequence(tokens, d_model):
    """Return X for these tokens: one-hots of tokens, then one-hots of positions."""
    n = len(tokens)
    return np.eye(d_model)[np.asarray(tokens)] + np.eye(d_model, k=d_model - n)[:n]


def right_rows(X):
    """Return the expected rows 1 to n - 1 of the output."""
    n, d_model = X.shape
    return {i: np.where(np.arange(d_model) < d_model - n, X[i - 1], 0.0) for i in range(1, n)}


def probed(student, tokens, d_model, *, causal=False, rows=ROWS):
    """Run the head in the process of the student's function and check the rows that ``rows`` returns. Then check the head here."""
    X, n = sequence(tokens, d_model), len(tokens)
    found = student.measure(rows, "previous_token_head", n, d_model, X, causal)
    mask = f", mask=causal_mask({n})" if causal else ""
    call = f"multi_head_attention(X, X, **previous_token_head({n}, {d_model}), h=1{mask})[0]"
    right = right_rows(X)
    asked = right if rows == ROWS else dict(list(right.items())[-3:])
    student.when_graded(weighed, X, causal, call)
    for i, row in asked.items():
        assert_matches(found[i], row, atol=1e-3, call=f"{call}[{i}]", X=X)


def cause_of(weights, i):
    """Return a message about which two of the four matrices make row i wrong, judged by the attention weights of this row."""
    if not np.isfinite(weights[i]).all():
        return f"The weights of row {i} are not finite. Are the products of numbers in W_Q and W_K too large for a float64?"
    if weights[i, i - 1] > 0.9999:
        return f"Row {i} gives its whole weight to position {i - 1}, as it should. So W_V or W_O is wrong."
    most = max((j for j in range(len(weights)) if j != i - 1), key=lambda j: weights[i, j])
    equal = np.ptp(np.delete(weights[i], i - 1)) < 1e-6
    others = f"each of the other {len(weights) - 1} positions" if equal and len(weights) > 2 else f"position {most}"
    return (
        f"Row {i} gives position {i - 1} the weight {weights[i, i - 1]:.4g}, and {others} the weight "
        f"{weights[i, most]:.4g}. W_Q and W_K decide this."
    )


def weighed(student, X, causal, call):
    """Run the course's own attention here, with the weights that the student's function returned."""
    n, d_model = X.shape
    W = matrices_returned(student, n, d_model)
    mask = np.tri(n, dtype=bool) if causal else None
    with np.errstate(all="ignore"):
        output, weights = multi_head_attention(X, X, W["W_Q"], W["W_K"], W["W_V"], W["W_O"], 1, mask)
    found = rows_of(output, n)
    for i, row in right_rows(X).items():
        try:
            assert_matches(found[i], row, atol=1e-3, call=f"{call}[{i}]", X=X)
        except CheckFailed as failure:
            reason = f"{failure.reason} {cause_of(weights[0], i)}"
            raise CheckFailed(reason, failure.example, kind=failure.kind) from None


def matrices_returned(student, n, d_model):
    """Return the four matrices from the student's function. Raises ``CheckFailed``, with the reason, if they do not make a head."""
    head = student.previous_token_head(n, d_model)
    try:
        return matrices_of(head, d_model)
    except NotAsAsked as error:
        why = f"What previous_token_head returned is not what is asked for: {str(error).rstrip('.')}."
        raise CheckFailed(why) from None


def wide_enough(values, _rng):
    """Return the same number of positions, with a width for at least one token."""
    return {**values, "d_model": max(values["d_model"], values["n"] + 1)}


@exercise(
    "previous_token_head",
    points=6,
    takes=Contract(
        {"n": size("n"), "d_model": whole(3, 130)}, sizes={"n": (2, 120)}, corrupt=50.0, constrain=wide_enough
    ),
)
class TestPreviousTokenHead:
    """Divide the task in two. W_Q and W_K decide where a position looks, so they should read only the position columns.
    W_V and W_O decide what it brings back, so they should use only the token columns. Begin with the second pair.

    A matrix of zeros with an identity in the right rows picks out one block of columns of X. Let the key of position j
    be the j-th unit vector of length n. Which unit vector should the query of position i be, so that the two match
    exactly when j is i - 1? `np.eye` has an argument that moves its diagonal.

    If the rows are nearly right but mixed, the weights are not sharp enough: a match scores only 1 / sqrt(d_k).
    Multiply W_Q by a large number, so that the right score is at least 20 above the others, even after the division by
    sqrt(d_k). W_V and W_O need only ones and zeros. W_V picks out the token columns, and W_O, with an identity in the
    right columns, puts them back in their place.
    """

    @check(points=0.5, visible=True)
    def test_four_matrices_that_fit(self, student):
        """four matrices whose sizes fit together"""
        found = student.probe(SIZES, "previous_token_head", 3, 7)
        assert_matches(found, dict.fromkeys(("W_Q", "W_K", "W_V", "W_O"), "fits"))
        student.when_graded(matrices_returned, 3, 7)

    @check(points=1.5, visible=True, after="test_four_matrices_that_fit")
    def test_small_example(self, student):
        """three different tokens, without a mask"""
        probed(student, [2, 0, 3], 7)
        student.probe(DESCRIBED, "previous_token_head", DIAGNOSED)  # not asserted: the diagnosis compares it

    @check(points=1, visible=True, after="test_small_example")
    def test_with_a_causal_mask(self, student):
        """the same head under a causal mask"""
        probed(student, [2, 0, 3], 7, causal=True)
        probed(student, [1, 0, 0, 2], 9, causal=True)

    @check(points=1, visible=True, after="test_small_example")
    def test_a_token_that_comes_back(self, student):
        """a longer sequence with repeated tokens, and a sequence of two tokens"""
        probed(student, [3, 1, 3, 3, 0, 1], 10)
        probed(student, [1, 0], 5)

    @check(visible=True, after="test_small_example")
    def test_thirty_positions(self, student):
        """a sequence of 30 positions: the weights are still sharp enough"""
        probed(student, [0, 1, 1] * 10, 32, rows=LAST_ROWS)
        probed(student, [1] * 28 + [0, 1], 32, rows=LAST_ROWS)  # equal tokens cannot share the weight of the right one

    @check(points=1, after="test_small_example")
    def test_any_sizes(self, student, rng):
        """random sequences of up to 7 positions, with and without a mask"""
        for n, d_model in ((2, 3), (4, 6), (5, 10), (7, 9), (4, 13)):
            for _ in range(2):
                tokens = rng.integers(0, d_model - n, size=n)
                tokens[:2] = rng.permutation(d_model - n)[:2]
                probed(student, tokens, d_model)
                probed(student, tokens, d_model, causal=True)

    @check(points=0.5, after="test_small_example")
    def test_a_long_sequence(self, student, rng):
        """up to 120 positions or 121 tokens: the weights are still sharp enough, and no token is lost"""
        for n, d_model in ((66, 72), (120, 130), (9, 130), (20, 23), (45, 50)):
            tokens = rng.integers(0, d_model - n, size=n)
            tokens[0] = d_model - n - 1  # the last token
            probed(student, tokens, d_model, rows=LAST_ROWS)

    test_care = pure(points=0.5, after="test_a_token_that_comes_back")

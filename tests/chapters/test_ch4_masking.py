"""The checks of chapter 4: who may look where."""

import numpy as np
from inputs import FAR_APART, Contract, array, arrays_of, attend, attention_contract, never_empty, room_above

from autograder.checking import (
    CheckFailed,
    InputCategory,
    all_categories,
    among,
    assert_matches,
    check,
    exercise,
    floats,
    given,
    lengths,
    linked,
    mask,
    pure,
    size,
)
from solutions.ch4_masking import quiz_ch4


def running_sum_and(*lines):
    """Return code for a running sum with these extra lines."""
    return attend("Y = np.cumsum(X, axis=0)", *lines, "return Y")


def running_sum_of(numbers):
    """Return code for the running sum of these numbers from the first row on, and for their running sum from the last row on."""
    return attend(f"return np.cumsum({numbers}, axis=0)"), attend(f"return np.cumsum(({numbers})[::-1], axis=0)[::-1]")


def attention(keys, mixed):
    """Return code for attention of each row to ``keys``, with ``mixed`` as the weighted rows that it adds up."""
    scores = f"    e = np.exp(({keys} * X[i]).sum(axis=1) / X.shape[1])"
    mix = f"    Y[i] = ({mixed}).sum(axis=0) / e.sum()"
    return attend("Y = np.zeros_like(X)", "for i in range(len(X)):", scores, mix, "return Y")


# Each causal function computes row i from the rows up to i alone, except MASKED_ATTENTION, which gives later rows the weight 0.
# So a shorter sequence shows no leak. (In two of them, later rows decide the order of a sum, and so its rounding.) Each leak reacts smoothly to any change of the rows that it looks at.

CAUSAL_ATTENTION = attention("X[: i + 1]", "e[:, None] * X[: i + 1]")
MASKED_ATTENTION = attend(
    "limited = np.clip(X, -9, 9)",
    "e = np.where(np.tri(len(X)) > 0, np.exp(limited @ limited.T / X.shape[1]), 0.0)",
    "return e @ X / e.sum(axis=1, keepdims=True)",
)
RUNNING_SUM = attend("return np.cumsum(X, axis=0)")
RUNNING_MEAN = attend("return np.cumsum(X, axis=0) / np.arange(1, len(X) + 1)[:, None]")
OWN_ROW_ONLY = attend("return 3 * X - 1")
ITS_ARGUMENT = attend("return X")
OWN_ROW_AND_PLACE = attend("return X * np.arange(1, len(X) + 1)[:, None]")
STRICTLY_BEFORE = attend(
    "Y = np.zeros_like(X)", "for i in range(1, len(X)):", "    Y[i] = X[:i].sum(axis=0) / i", "return Y"
)
THE_ONE_BEFORE = attend("Y = np.zeros_like(X)", "Y[1:] = X[:-1]", "return Y")
ALL_ONES = attend("return np.ones_like(X)")
ALL_SEE_THE_FIRST = attend("return np.repeat(X[:1], len(X), axis=0)")
WINDOW_OF_TWO = attend("Y = 0.5 * X", "Y[1:] += 0.5 * X[:-1]", "return Y")
ONE_NUMBER_A_ROW = attend("return np.cumsum(X[:, -1:] - 2 * X[:, :1], axis=0)")

FULL_ATTENTION = attention("X", "e[:, None] * X")
MEAN_TAKEN_AWAY = attend("return X - X.mean(axis=0)")
SUM_FROM_THE_END = attend("return np.cumsum(X[::-1], axis=0)[::-1]")
NEXT_ONE_TOO = running_sum_and("Y[:-1] += X[1:]")
ALL_SEE_THE_LAST = attend("return np.cumsum(X, axis=0) + 0.5 * X[-1:]")
FIRST_SEES_SECOND = running_sum_and("Y[:1] += 0.5 * X[1:2].sum(axis=0)")
FIRST_SEES_THE_REST = running_sum_and("Y[:1] += X[1:].sum(axis=0)")
LAST_BUT_ONE_SEES_LAST = running_sum_and("Y[-2:-1] += 0.5 * X[-1:]")
FIFTH_SEES_SIXTH = running_sum_and("Y[4:5] += 0.5 * X[5:6].sum(axis=0)")
SECOND_SEES_THIRD = running_sum_and("Y[1:2] += 0.5 * X[2:3].sum(axis=0)")
SECOND_SEES_FOURTH = running_sum_and("Y[1:2] += 0.5 * X[3:4].sum(axis=0)")
THIRD_SEES_FIFTH = running_sum_and("Y[2:3] += 0.5 * X[4:5].sum(axis=0)")
OUT_OF_THE_LAST_FEATURE = running_sum_and("Y[:-1] += 0.5 * X[1:, -1:]")
INTO_THE_LAST_FEATURE = running_sum_and("Y[:-1, -1] += 0.5 * X[1:].sum(axis=1)")
FROM_FIVE_ROWS_ON = attend("Y = np.cumsum(X, axis=0)", "if len(X) >= 5:", "    Y[:-1] += 0.5 * X[1:]", "return Y")
SHARED_OUT_OVER_ALL = attention("X", "e[: i + 1, None] * X[: i + 1]")
SUMS_KEPT = attend(
    "Y = 20 + np.cumsum(X, axis=0)",
    "taken = 0.2 * X[1:] @ np.arange(1, X.shape[1] + 1) / X.shape[1]",
    "Y[:-1, 0] += taken",
    "Y[:-1, 1] -= taken",
    "return Y",
)
LENGTHS_KEPT = attend(
    "Y = np.cumsum(X, axis=0)",
    "angle = X[1:] @ np.arange(1, X.shape[1] + 1) / X.shape[1]",
    "a, b = Y[:-1, 0].copy(), Y[:-1, 1].copy()",
    "Y[:-1, 0] = np.cos(angle) * a - np.sin(angle) * b",
    "Y[:-1, 1] = np.sin(angle) * a + np.cos(angle) * b",
    "return Y",
)
FAINTLY_THE_LAST = running_sum_and("Y[:-1] += 0.01 * X[-1:]")
ONE_TAKES_FROM_THE_OTHER = running_sum_and("Y[:-1, 0] += 0.5 * X[1:, 2]", "Y[:-1, 1] -= 0.5 * X[1:, 2]")
TURNED_BY_WHAT_FOLLOWS = attend(
    "Y = np.cumsum(X, axis=0)",
    "a, b, angle = Y[:-1, 0].copy(), Y[:-1, 1].copy(), 0.5 * X[1:, 2]",
    "Y[:-1, 0] = np.cos(angle) * a - np.sin(angle) * b",
    "Y[:-1, 1] = np.sin(angle) * a + np.cos(angle) * b",
    "return Y",
)
FROM_THE_LAST_NUMBER = running_sum_and("Y[-2:-1] += 0.5 * X[-1:, -1:]")
FROM_ROW_64 = running_sum_and("Y[62:63] += 0.5 * X[64:65].sum(axis=0)")
LEAKS_IN_A_LONG_SEQUENCE = [
    running_sum_and(f"Y[{i} : {i} + 1] += 0.5 * X[{i} + 1 : {i} + 2].sum(axis=0)")
    for i in (0, 2, 5, 16, 22, 28, 33, 37)
]
A_FAINT_LEAK = running_sum_and("Y[:-1] += 0.005 * X[1:]")

# In a long sequence, the mean of all changes is below 0.00001.
A_FAINT_LEAK_INTO_ONE_ENTRY = attend("Y = X.copy()", "Y[-2:-1, :1] += 1e-3 * X[-1:, :1]", "return Y")

# However far a row is moved, this leak stays faint.
A_BOUNDED_LEAK = attend("Y = X.copy()", "Y[:-1] += 3e-4 * np.tanh(X[1:])", "return Y")

LIKE_X, UPSIDE_DOWN = attend("return X"), attend("return X[::-1]")
SQUARES_SO_FAR, SQUARES_TO_COME = running_sum_of("X**2")
SIGNS_SO_FAR, _ = running_sum_of("np.sign(X)")
_, DIRECTIONS_TO_COME = running_sum_of("X / np.sqrt(1e-9 + (X**2).sum(axis=1, keepdims=True))")
LARGE_SO_FAR, LARGE_TO_COME = running_sum_of("1e4 * X")
SMALL_SO_FAR, SMALL_TO_COME = running_sum_of("1e-3 * X")

ROUNDED_BY_THE_REST = attend(
    "Y = np.zeros_like(X)",
    "for i in range(len(X)):",
    "    later = list(X[i + 1 :].tobytes())",
    "    for j in np.random.default_rng(later).permutation(i + 1):",
    "        Y[i] += X[j] / 3",
    "return Y",
)
ROUNDED_BY_THE_LAST = attend(
    "back = X[-1:, 0].sum() > 0",
    "Y = np.zeros_like(X)",
    "for i in range(len(X)):",
    "    for row in X[i::-1] if back else X[: i + 1]:",
    "        Y[i] += row / 3",
    "return Y",
)
FROM_A_DIFFERENCE = running_sum_and("Y[:-1] += 0.5 * (X[1:, :1] - X[1:, 1:2])")

SHAPES = {"Q": "... n_q d_k", "K": "... n_k d_k", "V": "... n_k d_v", "keep": "n_q n_k"}
SIX_ROWS = np.array([[0.5, -1, 2], [1.5, 0.5, -0.5], [-1, 1.5, 1], [2, -0.5, 0.5], [-1.5, -2, 1.5], [1, 2, -1.5]])


def some_rows(rng, n, d):
    """Return random rows of shape (n, d), with no entry near 0."""
    return rng.choice([-1.0, 1.0], size=(n, d)) * rng.uniform(0.4, 1.6, size=(n, d)).round(2)


def judge_all(student, X, *cases):
    """Check the student's answer in each case, which is a function and whether it is causal."""
    for function, honest in cases:
        assert_matches(student.is_causal(function, X), honest, dtype=False)


def queries_among_keys(values, _rng):
    """Return sizes with no more queries than keys."""
    n_q, n_k = values["n_q"], values.get("n_k")
    if n_k is None or n_q <= n_k:
        return values
    return {"n_q": 1, "n_k": 1} if n_k == 1 else {"n_q": n_q, "n_k": n_q + n_k}


@exercise(
    "causal_mask",
    points=2,
    takes=Contract({"n_q": size("n_q"), "n_k": size("n_k", default=True)}, constrain=queries_among_keys),
)
class TestCausalMask:
    """Draw causal_mask(3) on paper. Write the positions 0, 1, 2 next to the rows and above the columns. In words, which
    of the two numbers must not be larger than the other?

    You can compare all positions at once. `np.arange(n_k)` is a row of key positions, and a column of query positions
    has shape (n_q, 1). Comparing the two gives booleans of shape (n_q, n_k).

    Query i is at position i + n_k - n_q, so the column is not just 0, 1, 2, ... Also, `n_k` is None if the caller
    leaves it out. Handle that case in the first line.
    """

    @check(points=0.5, visible=True)
    def test_small_example(self, agrees):
        """as many queries as keys: the example with three"""
        agrees.causal_mask(3)

    @check(points=0.25, visible=True, after="test_small_example")
    def test_fewer_queries(self, agrees):
        """two queries as the last of four keys, and three as the last of five"""
        agrees.causal_mask(2, 4)
        agrees.causal_mask(3, 5)

    @check(points=0.25, visible=True, after="test_fewer_queries")
    def test_a_single_query(self, agrees):
        """a single query sees every key"""
        agrees.causal_mask(1, 6)
        agrees.causal_mask(1)

    @check(points=0.25, visible=True, after="test_small_example")
    def test_n_k_given_all_the_same(self, student, reference):
        """n_k = n_q = 4, given or left out"""
        assert_matches(student.causal_mask(4, 4), reference.causal_mask(4))
        assert_matches(student.causal_mask(4), reference.causal_mask(4, 4))

    @check(points=0.25, after="test_fewer_queries")
    def test_any_sizes(self, agrees, rng):
        """random numbers of queries and keys"""
        for n_q in (2, 5, 9):
            for more in (int(rng.integers(2, 6)), n_q + int(rng.integers(1, 4))):
                agrees.causal_mask(n_q, n_q + more)
        for sizes in ((49,), (107,), (1, 112), (11, 12)):  # the last two have the same digits
            agrees.causal_mask(*sizes)

    test_every_kind = all_categories(points=0.25, after="test_fewer_queries")

    test_care = pure(points=0.25, after="test_small_example")


@exercise("padding_mask", points=2, takes=Contract({"lengths": lengths("B", "n_k"), "n_k": size("n_k")}))
class TestPaddingMask:
    """Begin with one sequence of length 3 and n_k = 4. The positions are 0, 1, 2, 3. Which of them are smaller than 3?

    `np.arange(n_k)` has shape (n_k,). To compare all of it with every length at once, you need the lengths as a
    column. Which shape must `lengths` have so that the comparison has shape (B, 1, n_k)?

    `lengths[:, None]` has shape (B, 1), and another None adds another axis of length 1. NumPy lines axes up from the
    right, so comparing (B, 1, 1) with (n_k,) gives the right shape.
    """

    @check(points=0.5, visible=True)
    def test_small_example(self, agrees):
        """two sequences of lengths 3 and 1"""
        agrees.padding_mask(np.array([3, 1]), 4)

    @check(points=0.25, visible=True, after="test_small_example")
    def test_full_and_empty(self, agrees):
        """sequences without padding, and a sequence of nothing but padding"""
        agrees.padding_mask(np.array([5, 0, 4]), 5)
        agrees.padding_mask(np.array([3, 3]), 3)

    @check(points=0.25, visible=True, after="test_small_example")
    def test_padded_further_than_needed(self, agrees):
        """every sequence has padding, even the longest"""
        agrees.padding_mask(np.array([2, 4, 3]), 6)

    @check(points=0.25, visible=True, after="test_small_example")
    def test_as_many_sequences_as_keys(self, agrees):
        """as many sequences as keys, and a single sequence"""
        agrees.padding_mask(np.array([1, 3, 0]), 3)
        agrees.padding_mask(np.array([2]), 5)
        agrees.padding_mask(np.array([1]), 1)

    test_every_kind = all_categories(points=0.5, after="test_small_example")

    test_care = pure(points=0.25, after="test_small_example")


def many_forbidden(values, rng):
    """Return rows with one allowed score, and 70 forbidden scores that are 5 above it."""
    allowed = rng.integers(71, size=(3, 1)) == np.arange(71)
    return {**values, "scores": rng.uniform(-2, 2, size=(3, 1)) + np.where(allowed, 0.0, 5.0), "mask": allowed}


def little_above(values, _rng):
    """Return the same inputs, with no forbidden score far above the allowed ones of its row."""
    scores = values["scores"]
    allowed = np.broadcast_to(values["mask"], scores.shape)
    level = np.where(allowed, scores, -np.inf).max(axis=-1, keepdims=True) + room_above(allowed, 9000)
    above = (scores > level) & ~allowed & np.isfinite(level)
    if above.any():
        scores = scores.copy(order="K")
        np.copyto(scores, level, where=above, casting="same_kind")
    return {**values, "scores": scores}


def drawn_with_mask(scores, mask):
    """Return a function that draws scores and a mask of these shapes, with as many entries in a row as the given scores."""

    def make(values, rng):
        n_k = values["scores"].shape[-1]
        return {"scores": rng.uniform(-2, 2, size=(*scores, n_k)), "mask": rng.random((*mask, n_k)) < 0.6}

    return make


@exercise(
    "masked_softmax",
    points=4,
    takes=Contract(
        {"scores": array("... n_k", low=-1000, high=1000), "mask": mask("... n_k", empty_rows=True)},
        categories=[
            InputCategory.custom(
                "rows: more than 300",
                "more than 300 rows",
                lambda v: v["scores"][..., 0].size > 300,
                drawn_with_mask((305,), (305,)),
            ),
            InputCategory.custom(
                "mask: an axis fewer",
                "a mask with an axis fewer than the scores",
                lambda v: v["scores"].ndim > v["mask"].ndim > 1,
                drawn_with_mask((2, 3), (3,)),
            ),
            InputCategory.custom(
                "mask: a single column",
                "a mask that allows or forbids whole rows",
                lambda v: v["mask"].shape[-1] == 1 < v["scores"].shape[-1] and v["mask"].ndim > 1,
                lambda v, rng: {
                    "scores": rng.uniform(-2, 2, size=(4, v["scores"].shape[-1])),
                    "mask": rng.permutation([[True], [True], [False], [False]]),
                },
                sizes={"n_k": 5},
            ),
            InputCategory.custom(
                "mask: nothing at all, and an axis fewer",
                "a mask that allows nothing and has an axis fewer than the scores",
                lambda v: v["scores"].ndim > v["mask"].ndim and not v["mask"].any(),
                lambda v, rng: {
                    "scores": rng.uniform(-2, 2, size=(3, v["scores"].shape[-1])),
                    "mask": np.zeros(v["scores"].shape[-1], dtype=bool),
                },
                sizes={"n_k": 5},
            ),
            InputCategory.custom(
                "rows: many forbidden and high",
                "many forbidden scores, all far above the allowed one",
                lambda v: v["mask"].shape[-1] == 71 and (v["mask"].sum(-1) == 1).all() and np.ptp(v["scores"]) > 4.9,
                many_forbidden,
            ),
        ],
        constrain=little_above,
    ),
)
class TestMaskedSoftmax:
    """There are two questions. How can a forbidden score get weight 0 while the others still add up to 1? And which
    weights does a row get if nothing is allowed? Begin with the first question.

    If you replace a forbidden score with a number far below all the others, its exp is 0, and chapter 1's softmax does
    the rest. `np.where(mask, a, b)` takes a if the mask is True and b otherwise, and stretches the mask if necessary.

    If nothing in a row is allowed, all its scores are equally low. So each place gets the same weight (or nan, with
    -inf). The mask knows that none of these places is allowed: use it a second time, after the softmax.
    """

    @check(points=0.5, visible=True)
    def test_small_example(self, agrees):
        """the example worked by hand"""
        scores = np.array([1, 2, 3], dtype=float)
        agrees.masked_softmax(scores, np.array([1, 1, 0], dtype=bool))

    @check(points=0.5, visible=True, after="test_small_example")
    def test_each_row_by_itself(self, agrees):
        """each row has its own allowed places, with negative scores among them"""
        scores = np.array([[-2, -1, 0, -3], [0.5, 2, -1, 1.5], [-4, -2.5, -2, -3]])
        mask = np.array([[1, 1, 0, 1], [0, 1, 1, 1], [1, 0, 0, 1]], dtype=bool)
        agrees.masked_softmax(scores, mask)
        scores = np.array([[1, 0, 2], [0, 0, 1], [-1, 3, 2]], dtype=float)
        mask = np.array([[1, 0, 0], [1, 1, 0], [1, 1, 1]], dtype=bool)
        agrees.masked_softmax(scores, mask)

    @check(points=0.5, visible=True, after="test_small_example")
    def test_nothing_allowed(self, agrees):
        """a row with nothing allowed contains only zeros"""
        scores = np.array([[1, 3, 2], [2, 0, 1]], dtype=float)
        mask = np.array([[1, 1, 0], [0, 0, 0]], dtype=bool)
        agrees.masked_softmax(scores, mask)
        scores, mask = np.array([3.0, 1.0, 1.0, 2.0]), np.zeros(4, dtype=bool)
        agrees.masked_softmax(scores, mask)

    @check(points=0.25, visible=True, after="test_each_row_by_itself")
    def test_a_mask_that_stretches(self, agrees):
        """a batch of scores with one mask for all, and with one mask row per sequence"""
        scores = np.array([[[1, 0, -1], [2, 1, 0.5]], [[0, 2, 1], [-1, 1, 3]]])
        mask = np.array([[1, 1, 0], [1, 1, 1]], dtype=bool)
        agrees.masked_softmax(scores, mask)
        mask = np.array([[[1, 1, 0]], [[1, 0, 0]]], dtype=bool)
        agrees.masked_softmax(scores, mask)

    @check(points=0.5, visible=True, after="test_each_row_by_itself")
    def test_large_scores(self, agrees):
        """rows near 1000 and near -1000 keep their own weights"""
        rows = [-1000, -999.5, -996, -998.5], [990, 992, 991, 994], [0, 1, 2, 1], [-900, 1000, -1000, -950]
        mask = np.array([[1, 1, 0, 1], [1, 1, 1, 0], [0, 1, 1, 1], [1, 1, 0, 1]], dtype=bool)
        agrees.masked_softmax(np.array(rows), mask)

    @check(visible=True, after="test_nothing_allowed")
    def test_a_row_of_nan(self, agrees):
        """a row of NaN, all allowed, stays a row of NaN and does not affect other rows"""
        scores = np.array([[1, 3, 2], [np.nan, np.nan, np.nan], [2, 0, 1]])
        agrees.masked_softmax(scores, np.array([[1, 1, 0], [1, 1, 1], [0, 0, 0]], dtype=bool))

    @check(points=0.5, after="test_nothing_allowed")
    def test_a_nan_still_shows(self, student, reference, rng):
        """a NaN among the allowed scores still shows in its row, and in no other"""
        scores = rng.uniform(-2, 2, size=(3, 4)).round(2)
        scores[1, 2] = np.nan
        mask = np.array([[1, 0, 1, 1], [1, 1, 1, 1], [0, 0, 0, 0]], dtype=bool)
        found = np.asarray(student.masked_softmax(scores, mask))
        if found.shape != scores.shape or not np.isnan(found[1]).any():
            why = "Row 1 of `scores` has a NaN at an allowed place, but there is no NaN among its weights."
            given = f"scores = np.array({scores.tolist()})\nmask = np.array({mask.tolist()})".replace("nan", "np.nan")
            raise CheckFailed(why, f"{given}\nmasked_softmax(scores, mask)[1]")
        right = reference.masked_softmax(scores, mask)
        call = "masked_softmax(scores, mask)[[0, 2]]"
        assert_matches(found[[0, 2]], right[[0, 2]], call=call, scores=scores, mask=mask)
        scores[1] = np.nan
        found, right = student.masked_softmax(scores, mask), reference.masked_softmax(scores, mask)
        assert_matches(found, right, call="masked_softmax(scores, mask)", scores=scores, mask=mask)

    @check(points=0.5, after=("test_nothing_allowed", "test_a_mask_that_stretches"))
    @given(linked({"scores": "... n_q n_k", "keep": "n_q n_k"}, batch=(0, 2), elements=floats(-2.4, 2.4)), examples=5)
    def test_any_scores_and_mask(self, agrees, scores, keep):
        """random scores and masks, and the scores at forbidden places do not matter"""
        mask = keep > -1
        for numbers in (scores, np.where(mask, scores, -1.5 * scores[..., ::-1] - 1.2)):
            agrees.masked_softmax(numbers, mask)
        # The smallest scores in an allowed row, and scores beyond exp in an empty row.
        mask = np.array([[True, True], [False, False]])
        agrees.masked_softmax(np.array([[-1000.0, -1000.0], [900.0, 800.0]]), mask)
        agrees.masked_softmax(np.array([0.0, 12.2, 5.0]), np.array([True, True, False]))  # a weight of 0.000005
        agrees.masked_softmax(np.array([0.0, 8e-5, -9e-5, 1.0]), np.array([True, True, True, False]))

    test_every_kind = all_categories(
        points=0.5, after=("test_nothing_allowed", "test_large_scores", "test_a_mask_that_stretches")
    )

    test_care = pure(points=0.25, after="test_small_example")


@exercise(
    "masked_attention",
    points=4,
    depends_on=("masked_softmax",),
    takes=attention_contract(mask=mask("... n_q n_k", default=True)),
)
class TestMaskedAttention:
    """Begin with chapter 3's attention: scores, scaling, softmax, mix. The mask changes just one of these four steps.
    Which step decides how much of each key to take?

    You already have a softmax that takes a mask. Without a mask, use the plain one of chapter 1. `mask is None`
    distinguishes the two cases.

    The scores are `Q @ np.swapaxes(K, -1, -2)`, divided by the square root of `Q.shape[-1]`. You need the result of the
    softmax twice: to return it and to multiply it by V. So give it a name.
    """

    @check(points=0.5, visible=True)
    def test_small_example(self, agrees):
        """the example worked by hand"""
        Q, K, V = arrays_of([[2, 0, 0, 0]], [[1, 0, 0, 0], [0, 1, 0, 0], [3, 0, 0, 0]], [[10], [20], [90]])
        agrees.masked_attention(Q, K, V, np.array([[1, 1, 0]], dtype=bool))

    @check(points=0.5, visible=True, after="test_small_example")
    def test_causal(self, agrees):
        """three positions that do not look ahead, with all sizes equal"""
        Q, K = arrays_of([[1, 0.5, -1], [0, -2, 1], [1.5, 1, 0]], [[-1, 1, 0], [0.5, 1, -1], [2, 0, 1]])
        V = np.array([[1, 2, -3], [4, -5, 6], [-7, 8, 9]], dtype=float)
        agrees.masked_attention(Q, K, V, np.array([[1, 0, 0], [1, 1, 0], [1, 1, 1]], dtype=bool))

    @check(points=0.5, visible=True, after="test_small_example")
    def test_no_mask(self, agrees):
        """no mask"""
        Q, K = arrays_of([[1, 0.5, -1, 2], [0, -2, 1, 0.5]], [[-1, 1, 0, 0.5], [0.5, 1, -1, 1], [2, 0, 1, -1]])
        agrees.masked_attention(Q, K, np.array([[1, 2], [4, -5], [-7, 8]], dtype=float))

    @check(points=0.5, visible=True, after="test_causal")
    def test_a_padded_batch(self, agrees):
        """two sequences, with a mask of shape (B, 1, n_k) or one mask for both, and the same with two batch axes"""
        Q = np.array([[[1, 2], [0.5, -1]], [[-1, 1], [2, 0]]])
        K = np.array([[[1, 0], [0, 1], [-1, 0.5]], [[0.5, 0.5], [1, -1], [2, 1]]])
        V = np.array([[[1, 0, 2, 5], [0, 3, 1, -1], [9] * 4], [[2, 1, 0, 4], [7] * 4, [8, -8, 8, 8]]], dtype=float)
        mask = np.array([[[1, 1, 0]], [[1, 0, 0]]], dtype=bool)
        agrees.masked_attention(Q, K, V, mask)
        agrees.masked_attention(Q, K, V, np.array([[1, 0, 1], [0, 1, 1]], dtype=bool))
        agrees.masked_attention(Q[:, None], K[:, None], V[:, None], mask[:, None])

    @check(points=0.25, visible=True, after="test_causal")
    def test_large_scores(self, agrees):
        """scores near 900 and near -1000, with forbidden ones among them"""
        Q = np.array([[30, 0, 0, 0], [-33.2, 1, 0, 0], [0, 1900, 0, 0], [0, -1900, 0, 0]])
        K, V = arrays_of([[60, 1, 0, 0], [60.1, -1, 0.5, 0], [60.2, 0, 1, 2]], [[1, 2, 3], [4, 5, -6], [7, -8, 9]])
        agrees.masked_attention(Q, K, V, np.array([[1, 1, 0], [0, 1, 1], [1, 1, 0], [1, 1, 0]], dtype=bool))

    @check(points=0.5, after="test_causal")
    @given(linked(SHAPES, batch=(0, 2), elements=floats(-1, 1)), examples=5)
    def test_any_sizes_and_mask(self, agrees, Q, K, V, keep):
        """random sizes and batch axes, with one random mask for all"""
        agrees.masked_attention(Q, K, V, never_empty(keep > 0))

    @check(points=0.5, after="test_a_padded_batch")
    def test_masks_of_many_shapes(self, agrees, rng):
        """batches with one mask for all, one per sequence, and one per query"""
        for lead, n_q, n_k in (((3,), 4, 4), ((2, 3), 4, 6)):
            Q = 0.5 * rng.normal(size=(*lead, n_q, 4)).round(2)
            K = rng.uniform(-1, 1, size=(*lead, n_k, 4)).round(2)
            V = 3 * rng.normal(size=(*lead, n_k, 2)).round(2)
            Q /= np.maximum(1.0, np.abs(Q).sum(axis=-1, keepdims=True) / 4)
            some = (*lead, n_q, n_k), (*lead[:-1], 1, n_q, n_k), (lead[-1], n_q, n_k), (lead[-1], 1, n_k)
            for shape in ((n_q, n_k), (n_k,), (*lead, 1, n_k), *some):
                agrees.masked_attention(Q, K, V, never_empty(rng.random(shape) < 0.6))
        agrees.masked_attention(*arrays_of([[1, 0.5]], [[1, 0], [0, 1]]), FAR_APART, np.array([[True, True]]))
        # More queries than a block of 128, with one mask for all of them.
        Q, K, V = (rng.uniform(-1, 1, size=(n, 2)).round(2) for n in (150, 3, 3))
        agrees.masked_attention(Q, K, V, np.array([[True, False, True]]))
        # The scores are near -950. A forbidden product that is set to -10 000 becomes -625 after the division by 16.
        Q, K, V = (rng.uniform(-0.3, 0.3, size=(n, width)).round(2) for n, width in ((2, 256), (3, 256), (3, 2)))
        Q[:, 0], K[:, 0] = -950.0 * 16, 1.0
        agrees.masked_attention(Q, K, V, np.array([[True, True, False], [False, True, True]]))
        # A score of 0 for one allowed key, and of 5 for 70 forbidden keys.
        allowed = rng.permutation(71) == 0
        K = np.where(allowed, 0.0, 5.0)[:, None] * np.ones((1, 4))
        agrees.masked_attention(np.full((2, 4), 0.5), K, rng.uniform(0.2, 0.9, size=(71, 3)), allowed)

    test_every_kind = all_categories(points=0.5, after=("test_causal", "test_large_scores"))

    test_care = pure(points=0.25, after="test_small_example")


@exercise(
    "combine_masks",
    points=2,
    takes=Contract(
        {
            "causal": mask("n_q n_k", broadcasts=False),
            "padding": mask("B 1 n_k", broadcasts=False, empty_rows=True),
        }
    ),
)
class TestCombineMasks:
    """Take one place: query i, key j, sequence b. Each of the two masks is True or False there. When may query i look
    at key j?

    Write one shape below the other, lined up from the right: (n_q, n_k) below (B, 1, n_k). Which shape does NumPy
    give them in an operation that works entry by entry?

    Python's `and` and `or` need single truth values. For arrays of booleans, `&` and `|` do the same entry by entry.
    They stretch axes of length 1, and the result is boolean again. Which of the two do you need?
    """

    @check(points=0.5, visible=True)
    def test_small_example(self, agrees):
        """a causal mask and one sequence with two real keys"""
        causal = np.array([[1, 0, 0], [1, 1, 0], [1, 1, 1]], dtype=bool)
        agrees.combine_masks(causal, np.array([[[1, 1, 0]]], dtype=bool))

    @check(points=0.5, visible=True, after="test_small_example")
    def test_a_batch(self, agrees):
        """three sequences of different lengths, one of them empty"""
        causal = np.tri(4, dtype=bool)
        agrees.combine_masks(causal, np.array([[[1, 0, 0, 0]], [[1, 1, 1, 0]], [[0, 0, 0, 0]]], dtype=bool))

    @check(points=0.25, visible=True, after="test_small_example")
    def test_fewer_queries_than_keys(self, agrees):
        """fewer queries than keys for up to three sequences, a first mask that is no triangle, and padding between real keys"""
        causal = np.array([[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]], dtype=bool)
        padding = np.array([[[True, True, False, False, False]], [[True] * 5], [[True, True, True, True, False]]])
        agrees.combine_masks(causal, padding)
        agrees.combine_masks(causal[1:], padding[:2])
        agrees.combine_masks(causal, np.array([[[True, False, True, True, False]]]))
        agrees.combine_masks(np.array([[False, True, True], [True, False, True]]), np.array([[[True, True, False]]]))

    @check(points=0.25, after="test_a_batch")
    def test_any_sizes(self, reference, agrees, rng):
        """random numbers of sequences, queries and keys"""
        for batch, n_q, n_k in ((2, 3, 5), (3, 3, 3)):
            causal = reference.causal_mask(n_q, n_k)
            drawn = rng.integers(0, n_k + 1, size=batch)
            for these in (drawn, n_k - drawn):  # two inputs of one shape with different answers
                agrees.combine_masks(causal, reference.padding_mask(these, n_k))
        agrees.combine_masks(
            np.asfortranarray(reference.causal_mask(8, 8)), reference.padding_mask(np.array([5, 8]), 8)
        )
        # The six numbers of both masks, in a row, are the same in both calls.
        parts = np.array([True, False, True, True, False, True])
        for n_q in (1, 2):
            agrees.combine_masks(parts[: 2 * n_q].reshape(n_q, 2), parts[2 * n_q :].reshape(-1, 1, 2))

    test_every_kind = all_categories(points=0.25, after="test_a_batch")

    test_care = pure(points=0.25, after="test_small_example")


def ask_both(agrees, name, values):
    """Check the answers for a causal function and for a function with a leak from a row that is as far away as possible."""
    leak = FROM_ROW_64 if len(values["X"]) > 64 else FROM_THE_LAST_NUMBER
    for judged in (RUNNING_MEAN, leak):
        getattr(agrees, name)(judged, values["X"])


@exercise(
    "is_causal",
    points=5,
    takes=Contract(
        {
            "attend": among(RUNNING_MEAN, FROM_THE_LAST_NUMBER, FROM_ROW_64),
            "X": array("n d", low=-2, high=2, tiny=0.1, distinct=True),
        },
        sizes={"n": (1, 80)},
        categories=[
            InputCategory.custom("n: 2", "two positions", lambda v: len(v["X"]) == 2, lambda v, _rng: v, sizes={"n": 2})
        ],
        exclude=dict.fromkeys(("X: nearly equal", "X: more digits than float32 has"), "X holds random numbers"),
    ),
)
class TestIsCausal:
    """You cannot see inside `attend`, but you may call it as often as you like. Suppose that you change the rows after
    position 2. Which rows of the output should stay the same?

    Compute Y = attend(X) once. Then try every border t. Make an array that agrees with X before t and has other numbers
    from t on. Pass it to `attend`, and compare the rows before t with those of Y. (You can also leave out the rows from
    t on.)

    `X.copy()` gives an array that you may change. Compare with a small tolerance, as `np.allclose` does. The first
    difference means False. Return True only after trying all borders.
    """

    @check(points=0.25, visible=True)
    def test_small_examples(self, student):
        """a running sum is causal, but subtracting the mean is not"""
        judge_all(student, SIX_ROWS, (RUNNING_SUM, True), (MEAN_TAKEN_AWAY, False))

    @check(points=0.25, visible=True, after="test_small_examples")
    def test_attention(self, student):
        """attention to earlier rows is causal, but attention to all rows is not"""
        judge_all(student, SIX_ROWS, (CAUSAL_ATTENTION, True), (FULL_ATTENTION, False), (SUM_FROM_THE_END, False))
        judge_all(student, SIX_ROWS, (MASKED_ATTENTION, True))

    @check(points=0.5, visible=True, after="test_small_examples")
    def test_what_is_allowed(self, student):
        """a row may depend on itself, on any row before, or on nothing, and there may be a single row"""
        judge_all(student, SIX_ROWS, (OWN_ROW_ONLY, True), (STRICTLY_BEFORE, True), (SUM_FROM_THE_END, False))
        judge_all(student, SIX_ROWS, (ALL_SEE_THE_FIRST, True), (ALL_ONES, True), (ALL_SEE_THE_LAST, False))
        judge_all(student, SIX_ROWS, (ITS_ARGUMENT, True))
        judge_all(student, SIX_ROWS[:1], (RUNNING_MEAN, True))

    @check(points=1, visible=True, after="test_small_examples")
    def test_one_row_leaks(self, student):
        """a leak in one row only: at the start, at the end, from the next row or from a later one"""
        judge_all(student, SIX_ROWS, (RUNNING_MEAN, True), (FIRST_SEES_SECOND, False), (FIFTH_SEES_SIXTH, False))
        judge_all(student, SIX_ROWS, (RUNNING_SUM, True), (SECOND_SEES_FOURTH, False), (SECOND_SEES_THIRD, False))

    @check(points=0.5, visible=True, after="test_small_examples")
    def test_one_feature_leaks(self, student):
        """a leak through one feature only"""
        judge_all(student, SIX_ROWS, (WINDOW_OF_TWO, True), (OUT_OF_THE_LAST_FEATURE, False))
        judge_all(student, SIX_ROWS, (ONE_NUMBER_A_ROW, True), (INTO_THE_LAST_FEATURE, False))

    @check(visible=True, after="test_small_examples")
    def test_leaks_that_are_easily_overlooked(self, student):
        """a leak of a hundredth, leaks that keep sums or lengths, a leak through a difference of features, and rounding"""
        judge_all(student, SIX_ROWS, (OWN_ROW_AND_PLACE, True), (FAINTLY_THE_LAST, False))
        judge_all(student, SIX_ROWS, (ONE_TAKES_FROM_THE_OTHER, False), (TURNED_BY_WHAT_FOLLOWS, False))
        judge_all(student, SIX_ROWS, (ROUNDED_BY_THE_LAST, True), (FROM_A_DIFFERENCE, False))

    @check(points=1, after="test_one_row_leaks")
    def test_leaks_at_one_place(self, student, rng):
        """leaks from one row or into one row, at any place, or of one thousandth"""
        X = some_rows(rng, 7, 4)
        judge_all(student, X, (THE_ONE_BEFORE, True), (THIRD_SEES_FIFTH, False), (FIRST_SEES_THE_REST, False))
        judge_all(student, X, (OWN_ROW_AND_PLACE, True), (NEXT_ONE_TOO, False), (ALL_SEE_THE_LAST, False))
        judge_all(student, some_rows(rng, 41, 2), *((leak, False) for leak in LEAKS_IN_A_LONG_SEQUENCE))
        judge_all(student, some_rows(rng, 80, 2), (LAST_BUT_ONE_SEES_LAST, False), (A_FAINT_LEAK_INTO_ONE_ENTRY, False))

    @check(points=0.5, after="test_attention")
    def test_weights_shared_out_over_all(self, student, rng):
        """a mask applied after the softmax, and a leak that appears only in longer sequences"""
        X = some_rows(rng, 7, 3)
        judge_all(student, X, (CAUSAL_ATTENTION, True), (SHARED_OUT_OVER_ALL, False), (FROM_FIVE_ROWS_ON, False))

    @check(points=0.25, after="test_small_examples")
    def test_a_faint_leak(self, student, rng):
        """random rows: a leak of 5 thousandths, and leaks that keep sums or lengths"""
        X = some_rows(rng, 6, 5)
        judge_all(student, X, (RUNNING_MEAN, True), (A_FAINT_LEAK, False), (SUMS_KEPT, False), (LENGTHS_KEPT, False))

    @check(points=0.25, after="test_what_is_allowed")
    def test_unusual_functions(self, student, rng):
        """functions of signs or squares, large numbers, X upside down, leaks through small numbers or differences, and rounding"""
        X = some_rows(rng, 6, 3)
        judge_all(student, X, (LIKE_X, True), (UPSIDE_DOWN, False), (SQUARES_SO_FAR, True), (SQUARES_TO_COME, False))
        judge_all(
            student, X, (SIGNS_SO_FAR, True), (DIRECTIONS_TO_COME, False), (LARGE_SO_FAR, True), (LARGE_TO_COME, False)
        )
        judge_all(student, X, (SMALL_SO_FAR, True), (SMALL_TO_COME, False))
        judge_all(student, X, (FROM_A_DIFFERENCE, False), (A_BOUNDED_LEAK, False))
        # With a few rows, all orders of adding may happen to round in the same way.
        judge_all(student, some_rows(rng, 12, 3), (ROUNDED_BY_THE_REST, True))

    test_every_kind = all_categories(points=0.25, after="test_what_is_allowed", ask=ask_both)

    test_care = pure(points=0.25, after="test_small_examples")


TestQuiz = quiz_ch4.checks()

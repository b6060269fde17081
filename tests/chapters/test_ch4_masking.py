"""The checks of chapter 4: who may look where."""

import numpy as np

from autograder.checking import CheckFailed, Source, assert_matches, check, exercise, floats, given, linked, pure
from solutions.ch4_masking import quiz_ch4


def attend(text):
    """A function of one array, to be handed to `is_causal` as source."""
    return Source(text, "attend")


# Each honest one works row i out from the rows up to i alone, so that also a NaN later on, or an exact comparison, or a
# sequence cut short, finds nothing. Each leak reacts smoothly to any change of what it peeks at.

CAUSAL_ATTENTION = attend(
    "def attend(X):\n"
    "    Y = np.zeros_like(X)\n"
    "    for i in range(len(X)):\n"
    "        e = np.exp((X[: i + 1] * X[i]).sum(axis=1) / X.shape[1])\n"
    "        Y[i] = (e[:, None] * X[: i + 1]).sum(axis=0) / e.sum()\n"
    "    return Y\n"
)
RUNNING_SUM = attend("def attend(X):\n    return np.cumsum(X, axis=0)\n")
RUNNING_MEAN = attend("def attend(X):\n    return np.cumsum(X, axis=0) / np.arange(1, len(X) + 1)[:, None]\n")
OWN_ROW_ONLY = attend("def attend(X):\n    return 3 * X - 1\n")
OWN_ROW_AND_PLACE = attend("def attend(X):\n    return X * np.arange(1, len(X) + 1)[:, None]\n")
STRICTLY_BEFORE = attend(
    "def attend(X):\n"
    "    Y = np.zeros_like(X)\n"
    "    for i in range(1, len(X)):\n"
    "        Y[i] = X[:i].sum(axis=0) / i\n"
    "    return Y\n"
)
THE_ONE_BEFORE = attend("def attend(X):\n    Y = np.zeros_like(X)\n    Y[1:] = X[:-1]\n    return Y\n")
ALL_ONES = attend("def attend(X):\n    return np.ones_like(X)\n")
ALL_SEE_THE_FIRST = attend("def attend(X):\n    return np.repeat(X[:1], len(X), axis=0)\n")
WINDOW_OF_TWO = attend("def attend(X):\n    Y = 0.5 * X\n    Y[1:] += 0.5 * X[:-1]\n    return Y\n")
ONE_NUMBER_A_ROW = attend("def attend(X):\n    return np.cumsum(X[:, -1:] - 2 * X[:, :1], axis=0)\n")

FULL_ATTENTION = attend(
    "def attend(X):\n"
    "    Y = np.zeros_like(X)\n"
    "    for i in range(len(X)):\n"
    "        e = np.exp((X * X[i]).sum(axis=1) / X.shape[1])\n"
    "        Y[i] = (e[:, None] * X).sum(axis=0) / e.sum()\n"
    "    return Y\n"
)
MEAN_TAKEN_AWAY = attend("def attend(X):\n    return X - X.mean(axis=0)\n")
SUM_FROM_THE_END = attend("def attend(X):\n    return np.cumsum(X[::-1], axis=0)[::-1]\n")
NEXT_ONE_TOO = attend("def attend(X):\n    Y = np.cumsum(X, axis=0)\n    Y[:-1] += X[1:]\n    return Y\n")
ALL_SEE_THE_LAST = attend("def attend(X):\n    return np.cumsum(X, axis=0) + 0.5 * X[-1:]\n")
FIRST_SEES_SECOND = attend(
    "def attend(X):\n    Y = np.cumsum(X, axis=0)\n    Y[:1] += 0.5 * X[1:2].sum(axis=0)\n    return Y\n"
)
FIRST_SEES_THE_REST = attend(
    "def attend(X):\n    Y = np.cumsum(X, axis=0)\n    Y[:1] += X[1:].sum(axis=0)\n    return Y\n"
)
LAST_BUT_ONE_SEES_LAST = attend(
    "def attend(X):\n    Y = np.cumsum(X, axis=0)\n    Y[-2:-1] += 0.5 * X[-1:]\n    return Y\n"
)
SECOND_SEES_FOURTH = attend(
    "def attend(X):\n    Y = np.cumsum(X, axis=0)\n    Y[1:2] += 0.5 * X[3:4].sum(axis=0)\n    return Y\n"
)
THIRD_SEES_FIFTH = attend(
    "def attend(X):\n    Y = np.cumsum(X, axis=0)\n    Y[2:3] += 0.5 * X[4:5].sum(axis=0)\n    return Y\n"
)
OUT_OF_THE_LAST_FEATURE = attend(
    "def attend(X):\n    Y = np.cumsum(X, axis=0)\n    Y[:-1] += 0.5 * X[1:, -1:]\n    return Y\n"
)
INTO_THE_LAST_FEATURE = attend(
    "def attend(X):\n    Y = np.cumsum(X, axis=0)\n    Y[:-1, -1] += 0.5 * X[1:].sum(axis=1)\n    return Y\n"
)
FROM_FIVE_ROWS_ON = attend(
    "def attend(X):\n    Y = np.cumsum(X, axis=0)\n    if len(X) >= 5:\n        Y[:-1] += 0.5 * X[1:]\n    return Y\n"
)
SHARED_OUT_OVER_ALL = attend(
    "def attend(X):\n"
    "    Y = np.zeros_like(X)\n"
    "    for i in range(len(X)):\n"
    "        e = np.exp((X * X[i]).sum(axis=1) / X.shape[1])\n"
    "        Y[i] = (e[: i + 1, None] * X[: i + 1]).sum(axis=0) / e.sum()\n"
    "    return Y\n"
)
SUMS_KEPT = attend(
    "def attend(X):\n"
    "    Y = 20 + np.cumsum(X, axis=0)\n"
    "    taken = 0.2 * X[1:] @ np.arange(1, X.shape[1] + 1) / X.shape[1]\n"
    "    Y[:-1, 0] += taken\n"
    "    Y[:-1, 1] -= taken\n"
    "    return Y\n"
)
LENGTHS_KEPT = attend(
    "def attend(X):\n"
    "    Y = np.cumsum(X, axis=0)\n"
    "    angle = X[1:] @ np.arange(1, X.shape[1] + 1) / X.shape[1]\n"
    "    a, b = Y[:-1, 0].copy(), Y[:-1, 1].copy()\n"
    "    Y[:-1, 0] = np.cos(angle) * a - np.sin(angle) * b\n"
    "    Y[:-1, 1] = np.sin(angle) * a + np.cos(angle) * b\n"
    "    return Y\n"
)
A_FAINT_LEAK = attend("def attend(X):\n    Y = np.cumsum(X, axis=0)\n    Y[:-1] += 0.005 * X[1:]\n    return Y\n")

SIX_ROWS = np.array([
    [0.5, -1.0, 2.0],
    [1.5, 0.5, -0.5],
    [-1.0, 1.5, 1.0],
    [2.0, -0.5, 0.5],
    [-1.5, -2.0, 1.5],
    [1.0, 2.0, -1.5],
])  # fmt: skip


def some_rows(rng, n, d):
    """Random rows of shape (n, d), no entry near 0."""
    return rng.choice([-1.0, 1.0], size=(n, d)) * rng.uniform(0.4, 1.6, size=(n, d))


def judge_all(student, X, *cases):
    """Each case is a function and whether it is causal."""
    for function, honest in cases:
        found = student.is_causal(function, X)
        assert_matches(found, honest, dtype=False)


def never_empty(mask):
    """The mask, with the first key allowed in each row that would have nothing."""
    mask = mask.copy()
    mask[..., 0] |= ~mask.any(axis=-1)
    return mask


@exercise("causal_mask", points=2)
class TestCausalMask:
    """Draw causal_mask(3) on paper, with the positions 0, 1, 2 beside the rows and above the columns. In words: which
    of the two numbers must not be larger than the other?

    All positions can be compared at once: `np.arange(n_k)` is a row of key positions, and a column of query positions
    has shape (n_q, 1). A comparison of the two has shape (n_q, n_k) and is boolean by itself.

    Query i stands at position i + n_k - n_q, so the column is not just 0, 1, 2, ... And `n_k` is None when it is left
    out: settle that in the first line.
    """

    @check(points=0.5, visible=True)
    def test_small_example(self, agrees):
        """as many queries as keys: the example with three"""
        agrees.causal_mask(3)

    @check(points=0.25, visible=True, after="test_small_example")
    def test_fewer_queries(self, agrees):
        """two queries at the end of four keys, and three at the end of five"""
        agrees.causal_mask(2, 4)
        agrees.causal_mask(3, 5)

    @check(points=0.25, visible=True, after="test_fewer_queries")
    def test_a_single_query(self, agrees):
        """a single query sees every key"""
        agrees.causal_mask(1, 6)
        agrees.causal_mask(1)

    @check(points=0.25, visible=True, after="test_small_example")
    def test_n_k_given_all_the_same(self, student, reference):
        """naming as many keys as queries changes nothing"""
        assert_matches(student.causal_mask(4, 4), reference.causal_mask(4))
        assert_matches(student.causal_mask(4), reference.causal_mask(4, 4))

    @check(points=0.5, after="test_fewer_queries")
    def test_any_sizes(self, agrees, rng):
        """any number of queries and keys"""
        for n_q in (1, 2, 5, 9):
            for more in (0, 1, int(rng.integers(2, 6)), n_q + int(rng.integers(1, 4))):
                n_k = n_q + more
                agrees.causal_mask(n_q, n_k)

    test_care = pure(points=0.25, after="test_small_example")


@exercise("padding_mask", points=2)
class TestPaddingMask:
    """Take one sequence first: length 3, n_k = 4. The positions are 0, 1, 2, 3; which of them are smaller than 3?

    `np.arange(n_k)` has shape (n_k,). For every sequence to be compared with all of it at once, the lengths must come
    as a column: what shape must `lengths` get, so that the comparison has shape (B, 1, n_k)?

    `lengths[:, None]` has shape (B, 1); a further None adds a further axis of length 1. NumPy lines axes up from the
    right, so (B, 1, 1) against (n_k,) gives what you want.
    """

    @check(points=0.5, visible=True)
    def test_small_example(self, agrees):
        """two sequences of lengths 3 and 1"""
        agrees.padding_mask(np.array([3, 1]), 4)

    @check(points=0.25, visible=True, after="test_small_example")
    def test_full_and_empty(self, agrees):
        """a sequence with no padding at all, and one that is nothing else"""
        agrees.padding_mask(np.array([5, 0, 4]), 5)

    @check(points=0.25, visible=True, after="test_small_example")
    def test_padded_further_than_needed(self, agrees):
        """every sequence has padding, the longest too"""
        agrees.padding_mask(np.array([2, 4, 3]), 6)

    @check(points=0.25, visible=True, after="test_small_example")
    def test_as_many_sequences_as_keys(self, agrees):
        """as many sequences as keys, and a single sequence"""
        agrees.padding_mask(np.array([1, 3, 0]), 3)
        agrees.padding_mask(np.array([2]), 5)
        agrees.padding_mask(np.array([1]), 1)

    @check(points=0.5, after="test_small_example")
    def test_any_lengths(self, agrees, rng):
        """any number of sequences of any length"""
        for batch, n_k in ((4, 7), (7, 4), (5, 5), (2, 12), (9, 1)):
            drawn = rng.integers(0, n_k + 1, size=batch)
            for lengths in (drawn, n_k - drawn):  # two questions of one shape have two answers
                agrees.padding_mask(lengths, n_k)

    test_care = pure(points=0.25, after="test_small_example")


@exercise("masked_softmax", points=4)
class TestMaskedSoftmax:
    """There are two questions: how does a forbidden score end up with weight 0 while the others still add up to 1, and
    what becomes of a row with nothing allowed? Solve the first one first.

    If a forbidden score is replaced by a number far below all the others, its exp is 0, and the softmax of chapter 1
    does the rest. `np.where(mask, a, b)` takes a where the mask is True and b elsewhere, and stretches the mask if it
    has to.

    In a row with nothing allowed all scores are then equally low, so each place gets the same weight (or nan, with
    -inf). The mask knows that none of these places is allowed: it can be asked a second time, after the softmax.
    """

    @check(points=0.5, visible=True)
    def test_small_example(self, agrees):
        """the example worked by hand"""
        scores = np.array([1.0, 2.0, 3.0])
        mask = np.array([True, True, False])
        agrees.masked_softmax(scores, mask)

    @check(points=0.5, visible=True, after="test_small_example")
    def test_each_row_by_itself(self, agrees):
        """each row has its own allowed places, negative scores among them"""
        scores = np.array([[-2.0, -1.0, 0.0, -3.0], [0.5, 2.0, -1.0, 1.5], [-4.0, -2.5, -2.0, -3.0]])
        mask = np.array([[True, True, False, True], [False, True, True, True], [True, False, False, True]])
        agrees.masked_softmax(scores, mask)
        scores = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 1.0], [-1.0, 3.0, 2.0]])
        mask = np.array([[True, False, False], [True, True, False], [True, True, True]])
        agrees.masked_softmax(scores, mask)

    @check(points=0.5, visible=True, after="test_small_example")
    def test_nothing_allowed(self, agrees):
        """a row with nothing allowed has only zeros"""
        scores = np.array([[1.0, 3.0, 2.0], [2.0, 0.0, 1.0]])
        mask = np.array([[True, True, False], [False, False, False]])
        agrees.masked_softmax(scores, mask)
        scores, mask = np.array([3.0, 1.0, 1.0, 2.0]), np.zeros(4, dtype=bool)
        agrees.masked_softmax(scores, mask)

    @check(points=0.25, visible=True, after="test_each_row_by_itself")
    def test_a_mask_that_stretches(self, agrees):
        """a batch of scores under one mask for all, and under one row a sequence"""
        scores = np.array([[[1.0, 0.0, -1.0], [2.0, 1.0, 0.5]], [[0.0, 2.0, 1.0], [-1.0, 1.0, 3.0]]])
        mask = np.array([[True, True, False], [True, True, True]])
        agrees.masked_softmax(scores, mask)
        mask = np.array([[[True, True, False]], [[True, False, False]]])
        agrees.masked_softmax(scores, mask)

    @check(points=0.5, visible=True, after="test_each_row_by_itself")
    def test_large_scores(self, agrees):
        """rows near 1000 and near -1000 keep their own weights"""
        scores = np.array(
            [
                [-1000.0, -999.5, -996.0, -998.5],
                [990.0, 992.0, 991.0, 994.0],
                [0.0, 1.0, 2.0, 1.0],
                [-900.0, 1000.0, -1000.0, -950.0],
            ]
        )
        mask = np.array(
            [[True, True, False, True], [True, True, True, False], [False, True, True, True], [True, True, False, True]]
        )
        agrees.masked_softmax(scores, mask)

    @check(points=0.5, after="test_nothing_allowed")
    def test_a_nan_still_shows(self, student, reference, rng):
        """a NaN among the allowed scores still shows, in its row and in no other"""
        scores = rng.uniform(-2, 2, size=(3, 4))
        scores[1, 2] = np.nan
        mask = np.array([[True, False, True, True], [True, True, True, True], [False, False, False, False]])
        found = np.asarray(student.masked_softmax(scores, mask))
        if found.shape != scores.shape or not np.isnan(found[1]).any():
            raise CheckFailed(
                "The scores of row 1 have an allowed NaN among them, and its weights are ordinary numbers."
            )
        right = reference.masked_softmax(scores, mask)
        call = "masked_softmax(scores, mask)[[0, 2]]"
        assert_matches(found[[0, 2]], right[[0, 2]], call=call, scores=scores, mask=mask)

    @check(points=0.5, after=("test_nothing_allowed", "test_a_mask_that_stretches"))
    @given(linked({"scores": "... n_q n_k", "keep": "n_q n_k"}, batch=(0, 2), elements=floats(-2.4, 2.4)))
    def test_any_scores_and_mask(self, agrees, scores, keep):
        """any scores and any mask, and what stands at a forbidden place does not matter"""
        mask = keep > -1
        for numbers in (scores, np.where(mask, scores, -1.5 * scores[..., ::-1] - 1.2)):
            agrees.masked_softmax(numbers, mask)

    @check(points=0.25, after=("test_large_scores", "test_a_mask_that_stretches"))
    def test_large_batches(self, agrees, rng):
        """batches whose rows lie anywhere between -1000 and 1000"""
        for shape in ((2, 3, 5), (4, 4), (3, 2, 4, 6), (3, 1)):
            level = rng.permutation(np.linspace(-995, 995, int(np.prod(shape[:-1])))).reshape(*shape[:-1], 1)
            scores = level + rng.uniform(-2.4, 2.4, size=shape)
            mask = never_empty(rng.random(shape[-2:]) < 0.6)
            agrees.masked_softmax(scores, mask)

    @check(points=0.25, after="test_nothing_allowed")
    def test_float32(self, agrees, rng):
        """float32 scores, a row with nothing allowed among them"""
        scores = (rng.uniform(-2.4, 2.4, size=(4, 5)) + np.array([[-95.0], [0.0], [40.0], [95.0]])).astype(np.float32)
        mask = never_empty(rng.random((4, 5)) < 0.5)
        mask[1] = False
        agrees.masked_softmax(scores, mask)

    test_care = pure(points=0.25, after="test_small_example")


@exercise("masked_attention", points=4, leans_on=("masked_softmax",))
class TestMaskedAttention:
    """Begin with chapter 3's attention: scores, scaling, softmax, mix. The mask changes just one of these four steps.
    Which one decides how much of each key is taken?

    You have a softmax that takes a mask. When there is no mask, the plain one of chapter 1 does: `mask is None` tells
    the two cases apart.

    The scores are `Q @ np.swapaxes(K, -1, -2)`, divided by the square root of `Q.shape[-1]`. What comes out of the
    softmax is both handed back and multiplied with V: use one name for it.
    """

    @check(points=0.5, visible=True)
    def test_small_example(self, agrees):
        """the example worked by hand"""
        Q = np.array([[2.0, 0.0, 0.0, 0.0]])
        K = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [3.0, 0.0, 0.0, 0.0]])
        V = np.array([[10.0], [20.0], [90.0]])
        mask = np.array([[True, True, False]])
        agrees.masked_attention(Q, K, V, mask)

    @check(points=0.5, visible=True, after="test_small_example")
    def test_causal(self, agrees):
        """three positions that do not look ahead, every size the same"""
        Q = np.array([[1.0, 0.5, -1.0], [0.0, -2.0, 1.0], [1.5, 1.0, 0.0]])
        K = np.array([[-1.0, 1.0, 0.0], [0.5, 1.0, -1.0], [2.0, 0.0, 1.0]])
        V = np.array([[1.0, 2.0, -3.0], [4.0, -5.0, 6.0], [-7.0, 8.0, 9.0]])
        mask = np.array([[True, False, False], [True, True, False], [True, True, True]])
        agrees.masked_attention(Q, K, V, mask)

    @check(points=0.5, visible=True, after="test_small_example")
    def test_no_mask(self, agrees):
        """with no mask every key may be seen"""
        Q = np.array([[1.0, 0.5, -1.0, 2.0], [0.0, -2.0, 1.0, 0.5]])
        K = np.array([[-1.0, 1.0, 0.0, 0.5], [0.5, 1.0, -1.0, 1.0], [2.0, 0.0, 1.0, -1.0]])
        V = np.array([[1.0, 2.0], [4.0, -5.0], [-7.0, 8.0]])
        agrees.masked_attention(Q, K, V)

    @check(points=0.5, visible=True, after="test_causal")
    def test_a_padded_batch(self, agrees):
        """two sequences, with a mask of shape (B, 1, n_k)"""
        Q = np.array([[[1.0, 2.0], [0.5, -1.0]], [[-1.0, 1.0], [2.0, 0.0]]])
        K = np.array([[[1.0, 0.0], [0.0, 1.0], [-1.0, 0.5]], [[0.5, 0.5], [1.0, -1.0], [2.0, 1.0]]])
        V = np.array([
            [[1.0, 0.0, 2.0, 5.0], [0.0, 3.0, 1.0, -1.0], [9.0, 9.0, 9.0, 9.0]],
            [[2.0, 1.0, 0.0, 4.0], [7.0, 7.0, 7.0, 7.0], [8.0, -8.0, 8.0, 8.0]],
        ])  # fmt: skip
        mask = np.array([[[True, True, False]], [[True, False, False]]])
        agrees.masked_attention(Q, K, V, mask)

    @check(points=0.25, visible=True, after="test_causal")
    def test_large_scores(self, agrees):
        """scores near 900 and near -1000, forbidden ones beside them"""
        Q = np.array([[30.0, 0.0, 0.0, 0.0], [-33.2, 1.0, 0.0, 0.0], [0.0, 1900.0, 0.0, 0.0], [0.0, -1900.0, 0.0, 0.0]])
        K = np.array([[60.0, 1.0, 0.0, 0.0], [60.1, -1.0, 0.5, 0.0], [60.2, 0.0, 1.0, 2.0]])
        V = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, -6.0], [7.0, -8.0, 9.0]])
        mask = np.array([[True, True, False], [False, True, True], [True, True, False], [True, True, False]])
        agrees.masked_attention(Q, K, V, mask)

    @check(points=0.5, after="test_causal")
    @given(
        linked(
            {"Q": "... n_q d_k", "K": "... n_k d_k", "V": "... n_k d_v", "keep": "n_q n_k"},
            batch=(0, 2),
            elements=floats(-1, 1),
        )
    )
    def test_any_sizes_and_mask(self, agrees, Q, K, V, keep):
        """any sizes, any batch axes, any mask"""
        mask = never_empty(keep > 0)
        agrees.masked_attention(Q, K, V, mask)

    @check(points=0.5, after="test_a_padded_batch")
    def test_masks_of_many_shapes(self, agrees, rng):
        """one mask for all, one a sequence, one a query, and none, on batches"""
        for lead, n_q, n_k in (((2,), 3, 5), ((3,), 4, 4), ((2, 3), 4, 6)):
            Q = 0.5 * rng.normal(size=(*lead, n_q, 4))
            K = rng.uniform(-1, 1, size=(*lead, n_k, 4))
            V = 3 * rng.normal(size=(*lead, n_k, 2))
            Q /= np.maximum(1.0, np.abs(Q).sum(axis=-1, keepdims=True) / 4)
            shapes = ((n_q, n_k), (*lead, 1, n_k), (*lead, n_q, n_k), (*lead[:-1], 1, n_q, n_k), (1, n_k), (n_k,))
            for shape in shapes:
                mask = never_empty(rng.random(shape) < 0.6)
                agrees.masked_attention(Q, K, V, mask)
            agrees.masked_attention(Q, K, V)

    @check(points=0.5, after="test_causal")
    def test_long_keys_and_float32(self, agrees, rng):
        """long keys, a single key, and float32"""
        for n_q, n_k, d_k, d_v, dtype in (
            (5, 9, 64, 3, np.float64),
            (4, 1, 3, 2, np.float64),
            (1, 6, 1, 1, np.float64),
            (3, 5, 4, 6, np.float32),
        ):
            Q = rng.uniform(-1, 1, size=(n_q, d_k)).astype(dtype)
            K = (rng.uniform(-1, 1, size=(n_k, d_k)) / d_k**0.25).astype(dtype)
            V = rng.normal(size=(n_k, d_v)).astype(dtype)
            mask = never_empty(rng.random((n_q, n_k)) < 0.5)
            agrees.masked_attention(Q, K, V, mask)

    test_care = pure(points=0.25, after="test_small_example")


@exercise("combine_masks", points=2)
class TestCombineMasks:
    """Take one place: query i, key j, sequence b. Each of the two masks says True or False. When may query i look?

    Write the shapes under each other, lined up from the right: (n_q, n_k) under (B, 1, n_k). What does NumPy make of
    them in an operation that works entry by entry?

    Python's `and` and `or` want single truth values. For arrays of booleans `&` and `|` do the same, entry by entry:
    they stretch axes of length 1, and the result is boolean again. Which of the two is it?
    """

    @check(points=0.5, visible=True)
    def test_small_example(self, agrees):
        """a triangle and one sequence with two real keys"""
        causal = np.array([[True, False, False], [True, True, False], [True, True, True]])
        padding = np.array([[[True, True, False]]])
        agrees.combine_masks(causal, padding)

    @check(points=0.5, visible=True, after="test_small_example")
    def test_a_batch(self, agrees):
        """three sequences of different lengths, one of them empty"""
        causal = np.tri(4, dtype=bool)
        padding = np.array([[[True, True, True, False]], [[True, False, False, False]], [[False, False, False, False]]])
        agrees.combine_masks(causal, padding)

    @check(points=0.25, visible=True, after="test_small_example")
    def test_fewer_queries_than_keys(self, agrees):
        """two queries and five keys, and a single query"""
        causal = np.array([[True, True, True, True, False], [True, True, True, True, True]])
        padding = np.array([[[True, True, False, False, False]], [[True] * 5], [[True, True, True, True, False]]])
        agrees.combine_masks(causal, padding)
        agrees.combine_masks(causal[1:], padding[:2])

    @check(points=0.5, after="test_a_batch")
    def test_any_sizes(self, reference, agrees, rng):
        """any number of sequences, queries and keys"""
        for batch, n_q, n_k in ((2, 3, 5), (5, 4, 4), (3, 3, 3), (1, 2, 6), (4, 1, 1), (6, 1, 4)):
            causal = reference.causal_mask(n_q, n_k)
            drawn = rng.integers(0, n_k + 1, size=batch)
            for lengths in (drawn, n_k - drawn):  # two questions of one shape have two answers
                padding = reference.padding_mask(lengths, n_k)
                agrees.combine_masks(causal, padding)

    test_care = pure(points=0.25, after="test_small_example")


@exercise("is_causal", points=5)
class TestIsCausal:
    """You cannot see inside `attend`, but you may call it as often as you like. If the rows after position 2 were other
    rows, which rows of the output would have to be the same as before?

    Work out Y = attend(X) once. Then, for every border t: make an array that agrees with X before t and holds other
    numbers from t on, put it through `attend`, and compare the rows before t with those of Y. (Leaving the rows from t
    on out altogether also shows it.)

    `X.copy()` gives an array that you may change. Compare with a small tolerance, as `np.allclose` does. The first
    difference settles it: False. True may only be said when all borders have been tried.
    """

    @check(points=0.25, visible=True)
    def test_small_examples(self, student):
        """a running sum is causal, taking the mean away is not"""
        judge_all(student, SIX_ROWS, (RUNNING_SUM, True), (MEAN_TAKEN_AWAY, False))

    @check(points=0.25, visible=True, after="test_small_examples")
    def test_attention(self, student):
        """attention to what came before is causal, attention to everything is not"""
        judge_all(student, SIX_ROWS, (CAUSAL_ATTENTION, True), (FULL_ATTENTION, False), (SUM_FROM_THE_END, False))

    @check(points=0.5, visible=True, after="test_small_examples")
    def test_what_is_allowed(self, student):
        """a row may depend on itself, on any row before, or on nothing"""
        judge_all(student, SIX_ROWS, (OWN_ROW_ONLY, True), (STRICTLY_BEFORE, True), (SUM_FROM_THE_END, False))
        judge_all(student, SIX_ROWS, (ALL_SEE_THE_FIRST, True), (ALL_ONES, True), (ALL_SEE_THE_LAST, False))

    @check(points=1, visible=True, after="test_small_examples")
    def test_one_row_leaks(self, student):
        """a leak in one row only: at the start, at the end, from the next row or from one further on"""
        judge_all(student, SIX_ROWS, (RUNNING_MEAN, True), (FIRST_SEES_SECOND, False), (LAST_BUT_ONE_SEES_LAST, False))
        judge_all(student, SIX_ROWS, (RUNNING_SUM, True), (SECOND_SEES_FOURTH, False))

    @check(points=0.5, visible=True, after="test_small_examples")
    def test_one_feature_leaks(self, student):
        """a leak through one feature only"""
        judge_all(student, SIX_ROWS, (WINDOW_OF_TWO, True), (OUT_OF_THE_LAST_FEATURE, False))
        judge_all(student, SIX_ROWS, (ONE_NUMBER_A_ROW, True), (INTO_THE_LAST_FEATURE, False))

    @check(points=1, after="test_one_row_leaks")
    def test_leaks_at_one_place(self, student, rng):
        """leaks from one row, or into one row, wherever it is"""
        X = some_rows(rng, 7, 4)
        judge_all(student, X, (THE_ONE_BEFORE, True), (THIRD_SEES_FIFTH, False), (FIRST_SEES_THE_REST, False))
        judge_all(student, X, (OWN_ROW_AND_PLACE, True), (NEXT_ONE_TOO, False), (ALL_SEE_THE_LAST, False))

    @check(points=0.5, after="test_attention")
    def test_weights_shared_out_over_all(self, student, rng):
        """a mask put on after the softmax, and a leak that begins with longer sequences"""
        X = some_rows(rng, 7, 3)
        judge_all(student, X, (CAUSAL_ATTENTION, True), (SHARED_OUT_OVER_ALL, False), (FROM_FIVE_ROWS_ON, False))

    @check(points=0.5, after="test_small_examples")
    def test_a_faint_leak(self, student, rng):
        """a faint leak, and leaks that leave sums or lengths as they were"""
        X = some_rows(rng, 6, 5)
        judge_all(student, X, (RUNNING_MEAN, True), (A_FAINT_LEAK, False), (SUMS_KEPT, False), (LENGTHS_KEPT, False))

    @check(points=0.25, after="test_what_is_allowed")
    def test_other_sizes(self, student, rng):
        """as many features as positions, a single feature, two positions, one"""
        judge_all(student, some_rows(rng, 5, 5), (STRICTLY_BEFORE, True), (NEXT_ONE_TOO, False), (RUNNING_SUM, True))
        judge_all(student, some_rows(rng, 8, 1), (WINDOW_OF_TWO, True), (LAST_BUT_ONE_SEES_LAST, False))
        judge_all(student, some_rows(rng, 2, 3), (CAUSAL_ATTENTION, True), (MEAN_TAKEN_AWAY, False))
        judge_all(student, some_rows(rng, 1, 3), (CAUSAL_ATTENTION, True), (OWN_ROW_ONLY, True))

    test_care = pure(points=0.25, after="test_small_examples")


TestQuiz = quiz_ch4.checks()

"""The checks of chapter 1: attention is a weighted average."""

import numpy as np
from inputs import FAR_APART, ONE_QUERY, Contract, array, arrays_of, rules_of_one_query, scores_of, settled, weights

from autograder.checking import (
    InputCategory,
    all_categories,
    arrays_nd,
    assert_matches,
    assert_sums_to_one,
    axis_of,
    check,
    exercise,
    floats,
    given,
    integers,
    linked,
    pure,
    real,
)
from solutions.ch1_weighted_averaging import quiz_ch1


def some_weights(rng, n):
    """Return weights of shape (n,): none negative, all different, adding up to 1."""
    parts = rng.permutation(n) + rng.uniform(0.2, 0.8, n)
    return parts / parts.sum()


def something_to_look_up(rng, n, d_k, d_v, margin=0.5):
    """Return a query, keys and values. The best key's score exceeds the next score by at least ``margin``."""
    while True:
        q, K, V = rng.normal(size=d_k), rng.normal(size=(n, d_k)), 10 * rng.normal(size=(n, d_v))
        scores = np.sort(K @ q)
        if n == 1 or scores[-1] - scores[-2] >= margin:
            return q, K, V


def rows_that_cancel(values, rng):
    """Return ordinary weights, and rows of numbers near a million whose weighted average is only a few units."""
    n, d = values["X"].shape
    if n < 2:
        return None
    weights = some_weights(rng, n)
    X = rng.choice([-1.0, 1.0], size=(n, d)) * rng.uniform(5e5, 7e5, size=(n, d))
    last = weights[-1]
    X[-1] = (rng.uniform(-3, 3, size=d) - weights[:-1] @ X[:-1]) / last
    return {"weights": weights, "X": X} if np.abs(X[-1]).max() < 1e6 else None


def little_on_large_rows(values, rng):
    """Return weights of very different sizes, and rows so large that even the smallest weights count."""
    n, d = values["X"].shape
    if n < 3:
        return None
    # The largest comes first, because a function may stop once the weights add up to almost 1.
    sizes = 10.0 ** -np.linspace(0, 6, n)
    return {"weights": sizes / sizes.sum(), "X": rng.uniform(0.4, 0.9, size=(n, d)) / sizes[:, None]}


@exercise(
    "weighted_average",
    points=2,
    takes=Contract(
        {"weights": weights("n"), "X": array("n d")},
        categories=[
            InputCategory.custom(
                "X: rows that nearly cancel",
                "an average of large rows that is small",
                lambda v: np.abs(v["weights"] @ v["X"]).max() < 10 and (v["weights"] @ np.abs(v["X"])).min() > 1e5,
                rows_that_cancel,
            ),
            InputCategory.custom(
                "X: large where little counts",
                "rows of large numbers whose weights are below 0.0001",
                lambda v: ((v["weights"] < 1e-4) & (v["weights"] * np.abs(v["X"]).max(axis=1) > 0.1)).any(),
                little_on_large_rows,
            ),
        ],
    ),
)
class TestWeightedAverage:
    """Do the example on paper first. Multiply every row by its weight, then add up all the rows. Which shape is there
    after the first of these two steps?

    Weights have shape (n,) and X has shape (n, d). As a column, `weights[:, None]` has shape (n, 1), so each weight
    multiplies its own row. The sum that follows makes (n, d) into (d,): along which axis?

    One operation does both steps: `@`. A vector to the left of a matrix sums over the matrix's rows, and a vector to
    the right sums over its columns.
    """

    @check(points=0.5, visible=True)
    def test_small_example(self, agrees):
        """the example worked by hand"""
        agrees.weighted_average(*arrays_of([0.5, 0.3, 0.2], [[10, 0], [20, 10], [0, 5]]))

    @check(points=0.25, visible=True, after="test_small_example")
    def test_all_the_weight_on_one_row(self, agrees):
        """with all the weight on one row, the average is that row"""
        agrees.weighted_average(*arrays_of([0, 0, 1, 0], [[1, 2, 3], [4, 5, 6], [-7, 8, 9.5], [10, 11, 12]]))
        agrees.weighted_average(*arrays_of([0, 1], [[1, 2], [4, 5]]))

    @check(points=0.25, visible=True, after="test_small_example")
    def test_as_many_rows_as_columns(self, agrees):
        """as many rows as columns: a weight for each row"""
        agrees.weighted_average(*arrays_of([0.2, 0.6, 0.2], [[10, 20, 30], [40, 50, 60], [70, 80, -90]]))
        agrees.weighted_average(*arrays_of([0.05, 0.95], [[10, 20], [30, -40]]))

    @check(points=0.5, after="test_small_example")
    @given(linked({"parts": "n", "X": "n d"}, sides=(1, 6)), examples=5)
    def test_any_number_of_rows_and_columns(self, agrees, parts, X):
        """random numbers of rows and columns, and small weights of rows with large numbers"""
        weights = (np.abs(parts) + 0.1) / (np.abs(parts) + 0.1).sum()
        agrees.weighted_average(weights, X)
        # A weight that is almost 1, and weights that are almost equal, with rows so large that the rest counts.
        agrees.weighted_average(*arrays_of([5e-6, 0.999995], [[9e5, -8e5], [1, 2]]))
        agrees.weighted_average(*arrays_of([3e-10, 1 - 3e-10], [[9e5, -8e5], [0.5, 1]]))
        agrees.weighted_average(*arrays_of([0.500002, 0.499998], [[9e5, 5e5], [-9e5, -5e5]]))
        agrees.weighted_average(np.array([0.25, 0.75]), FAR_APART)

    test_every_kind = all_categories(points=0.25, after="test_small_example")

    test_care = pure(points=0.25, after="test_small_example")


scores = scores_of(lambda _values, _query: 1.0, ONE_QUERY)


def no_ties(values, rng):
    """Return the same inputs with scores in bounds, or None if no key is clearly ahead of all other keys."""
    values = settled(scores, names=ONE_QUERY)(values, rng)
    if np.ptp(values["V"]) == 0 and len(values["V"]) > 1:
        return values
    found = np.sort(scores(values))
    margin = 1e-10 * max(1.0, (np.abs(values["K"]) @ np.abs(values["q"])).max())  # far more than rounding errors
    return values if len(found) == 1 or found[-1] - found[-2] > margin else None


def a_hair_ahead(values, rng):
    """Return keys of which the best leads by a relative margin of 2e-9, which is too small for float32."""
    places = rng.permutation(len(values["K"]))
    # The best key is not key 0, which argmax returns if all are equal. No two scores are equal, so rounding decides nothing.
    scores_wanted = 5000.0 - 1e-5 * (places if places[0] else np.roll(places, 1))
    q, K = values["q"].copy(), values["K"].copy()
    q[-1], K[:, -1] = 2.0, 0.0
    K[:, -1] = (scores_wanted - K @ q) / 2.0
    return {**values, "q": q, "K": K}


def is_a_hair_ahead(values):
    """Return whether the best of several scores exceeds the next score by a relative margin of less than 1e-8."""
    found = np.sort(scores(values))
    return len(found) > 1 and 0 < found[-1] - found[-2] < 1e-8 * abs(found[-1])


def far_apart_and_close(values, rng):
    """Return a query near a millionth and keys near a million, whose scores are close together.

    Compared with the squares of these numbers, the differences of the scores vanish.
    """
    n = len(values["K"])
    scores_wanted = 1.5 + 1e-6 * rng.permutation(n)
    q = rng.uniform(5e-6, 9e-6, size=2)
    first = rng.uniform(1e5, 3e5, size=n) * rng.choice([-1.0, 1.0], size=n)
    return {**values, "q": q, "K": np.column_stack([first, (scores_wanted - first * q[0]) / q[1]])}


def are_far_apart_and_close(values):
    """Return whether the query is tiny, the keys are huge and the scores are close together."""
    apart = np.abs(values["q"]).max() < 1e-5 and np.abs(values["K"]).max() > 1e5
    return apart and 0 < np.ptp(scores(values)) < 1e-3


def zero_ahead(values, rng):
    """Return a query and keys of whole numbers. The score of the first or second key is exactly 0, and all others are negative."""
    q = rng.integers(1, 6, size=3).astype(float)
    K = -rng.integers(1, 6, size=(len(values["K"]), 3)).astype(float)
    K[rng.integers(2)] = [q[1], -q[0], 0]
    return {**values, "q": q, "K": K}


def is_zero_ahead(values):
    """Return whether the best score is exactly 0, and a key with a lower score follows."""
    found = scores(values)
    return found.max() == 0 and found.argmax() < len(found) - 1


def best_key_last(values, _rng):
    """Return the same inputs with the best key at the end."""
    best = scores(values).argmax()
    order = np.append(np.delete(np.arange(len(values["K"])), best), best)
    return {**values, "K": values["K"][order], "V": values["V"][order]}


LOOKED_UP = {"q": array("d_k"), "K": array("n d_k"), "V": array("n d_v")}


@exercise(
    "hard_lookup",
    points=2,
    depends_on=("weighted_average",),
    takes=Contract(
        LOOKED_UP,
        categories=[
            InputCategory.custom(
                "K: the best key far down",
                "the best key after more than 300 others",
                lambda v: len(v["K"]) > 300 and scores(v).argmax() >= 300,
                best_key_last,
                sizes={"n": 305},
            ),
            InputCategory.custom(
                "scores: more digits than float32 has",
                "scores in the thousands, the best only 0.00001 above the next one",
                is_a_hair_ahead,
                a_hair_ahead,
                sizes={"n": 5},
            ),
            InputCategory.custom(
                "scores: the best is 0",
                "a best score of exactly 0, with all other scores negative",
                is_zero_ahead,
                zero_ahead,
                sizes={"n": 5, "d_k": 3},
            ),
            InputCategory.custom(
                "q, K: far apart",
                "a tiny query and huge keys with nearly equal scores",
                are_far_apart_and_close,
                far_apart_and_close,
                sizes={"n": 12, "d_k": 2},
            ),
        ],
        constrain=no_ties,
        draws=2,  # with few keys, a wrong rule may find the best key by chance
        exclude=dict.fromkeys(("q: all zero", "K: all zero", "K: all equal"), "there are never two equally good keys"),
    ),
)
class TestHardLookup:
    """There are three steps: compute a score for every key, find the index of the largest score, and return the value
    at that index.

    `K @ q` has shape (n,): its entry i is the dot product of row i of K with q. So one operation gives all the scores.

    `np.argmax(scores)` is the index of the largest entry, a whole number. For a whole number i, `K[i]` is row i of K
    and `V[i]` is row i of V. Which of the two should you return?
    """

    @check(points=0.5, visible=True)
    def test_small_example(self, agrees):
        """the example worked by hand"""
        agrees.hard_lookup(*arrays_of([2, 1], [[1, 0], [0, 3], [-1, 1]], [[10, 0, 1], [0, 20, 2], [5, 5, 30]]))

    @check(points=0.25, visible=True, after="test_small_example")
    def test_all_scores_negative(self, agrees):
        """only negative scores: the score nearest to zero is the largest"""
        q, K = arrays_of([1, 2, 0.5], [[-1, -3, -2], [-4, -1, 0], [2, -4, 0], [-1, 0, -2]])
        agrees.hard_lookup(q, K, np.array([[1, 2], [3, 4], [5, 6], [7, 8]], dtype=float))

    @check(points=0.25, visible=True, after="test_small_example")
    def test_length_counts(self, agrees):
        """a longer key can beat a nearer key, or a key with the query's direction"""
        q, K, V = arrays_of(
            [2, 0],
            [[2, 0.5], [2.5, 0], [3, 2], [-9, 0], [1, 10], [2, 0], [2.2, 1]],
            [[1], [2], [3], [4], [5], [6], [7]],
        )
        agrees.hard_lookup(q, K, V)

    @check(points=0.25, visible=True, after="test_small_example")
    def test_all_sizes_equal(self, agrees):
        """as many keys as entries in a key, and in a value, and more keys than that"""
        q, K, V = arrays_of([1, 2, -1], [[0, 1, 4], [2, 1, 0], [5, 1, 5]], [[10, 20, 30], [40, 50, 60], [70, 85, 90]])
        agrees.hard_lookup(q, K, V)
        for seed in (1, 2):  # most wrong rules choose another key in one of the two
            agrees.hard_lookup(*something_to_look_up(np.random.default_rng(seed), 7, 4, 2))

    @check(points=0.25, after="test_small_example")
    def test_any_sizes(self, agrees, rng):
        """random numbers and sizes of keys and values, also equal sizes, and scores that are tiny or all far below zero"""
        sizes = ((5, 3, 2), (2, 4, 3), (7, 2, 4), (30, 8, 5), (4, 1, 3), (6, 3, 1), (5, 4, 3), (4, 4, 4))
        for n, d_k, d_v in (*sizes, (5, 3, 2), (7, 2, 4)):
            q, K, V = something_to_look_up(rng, n, d_k, d_v, margin=0.1)
            agrees.hard_lookup(q, K, V)
        for level in (100, 1e5):  # scores near -10 000 and near -10 000 000 000
            q, K, V = something_to_look_up(rng, 5, 3, 2, margin=0.1)
            agrees.hard_lookup(np.append(q, level), np.column_stack([K, np.full(5, -level)]), V)
        q, K, V = something_to_look_up(rng, 5, 3, 2, margin=0.1)
        agrees.hard_lookup(1e-4 * q, 1e-4 * K, V)
        agrees.hard_lookup(*arrays_of([1], [[1], [2]]), FAR_APART)

    test_every_kind = all_categories(points=0.25, after="test_small_example")

    test_care = pure(points=0.25, after="test_small_example")


@exercise(
    "softmax", points=4, takes=Contract({"x": array("... n", low=-1e4, high=1e4), "axis": axis_of("x", default=True)})
)
class TestSoftmax:
    """Begin with a single vector, as in the example. Take exp of every score, then divide each result by the sum of all
    the results. When that works, look at every sum and every maximum. Is it for the whole array, or for one slice along
    `axis`?

    exp(1000) is too large for any float. But weights depend only on differences: [1, 2, 3] and [-2, -1, 0] have the
    same softmax. Subtract one number from all the scores of a slice. With the right number, no exponent is ever above
    0.

    `x.max(axis=axis)` loses an axis, so it no longer lines up with x. `x.max(axis=axis, keepdims=True)` keeps that axis
    with length 1. `sum` takes the same two arguments.
    """

    @check(points=0.5, visible=True)
    def test_small_example(self, agrees):
        """the example worked by hand"""
        agrees.softmax(np.array([1.0, 2.0, 3.0]))

    @check(points=0.5, visible=True, after="test_small_example")
    def test_each_row(self, student, agrees):
        """each row of a matrix adds up to 1 by itself"""
        x = np.array([[0.0, 1.0, 2.0], [3.0, 3.0, -3.0]])
        assert_sums_to_one(student.softmax(x))
        agrees.softmax(x)
        agrees.softmax(np.array([[0.0, 2.0, 1.0], [4.0, 1.0, -1.0], [0.5, 0.0, 3.0]]))

    @check(points=0.25, visible=True, after="test_small_example")
    def test_another_axis(self, agrees):
        """with axis=0 each column adds up to 1, and with axis=1 each slice along the middle of three axes"""
        agrees.softmax(np.array([[0.0, 1.0, 2.0], [3.0, 3.0, -3.0]]), axis=0)
        y = np.array([[[0.0, 1.0], [2.0, 0.0], [-1.0, 1.0]], [[1.0, 1.5], [0.0, 0.0], [3.0, -2.0]]])
        agrees.softmax(y, axis=1)
        agrees.softmax(y)

    @check(points=0.5, visible=True, after="test_small_example")
    def test_large_scores(self, agrees):
        """scores in the thousands, above or below zero"""
        for scores in ([1000.0, 1001.0, 1002.0], [-1000.0, -1001.0], [0.0, 0.0, 3000.0], [0.0, 1200.0]):
            agrees.softmax(np.array(scores))
        agrees.softmax(np.array([-400.0, -401.0]))  # needs no shift, but is wrong with the largest absolute value

    @check(points=0.25, visible=True, after="test_each_row")
    def test_rows_of_very_different_size(self, agrees):
        """rows of very different size each keep their own weights"""
        agrees.softmax(np.array([[0.0, 1.0], [2000.0, 2001.0]]))

    @check(points=0.5, after="test_each_row")
    @given(x=arrays_nd(max_dims=3), shift=floats(-50, 50), axis=integers(-3, 2), examples=5)
    def test_shift_invariance(self, student, reference, agrees, x, shift, axis):
        """along any axis, adding the same number (up to 50) to all scores does not change the weights"""
        axis %= x.ndim
        agrees.softmax(x, axis=axis)
        found = student.softmax(x + shift, axis=axis)
        right = reference.softmax(x, axis=axis)
        assert_matches(found, right, call=f"softmax(x + shift, axis={axis})", x=x, shift=shift)

    @check(points=0.5, after="test_another_axis")
    def test_every_axis(self, agrees, rng):
        """every axis of arrays with up to four axes, counted from either end"""
        for shape in ((4,), (3, 5), (4, 4), (2, 3, 4), (2, 3, 4, 5)):
            x = 3 * rng.normal(size=shape)
            for axis in range(-len(shape), len(shape)):
                agrees.softmax(x, axis=axis)

    @check(points=0.25, after=("test_large_scores", "test_another_axis"))
    def test_extreme_scores(self, agrees, rng):
        """slices whose scores differ by thousands, along any axis, and very large single scores"""
        x = rng.normal(size=(3, 4, 5)) + 1e4 * rng.permutation(np.arange(-30, 30)).reshape(3, 4, 5) / 60
        for axis in (0, 1, 2):
            agrees.softmax(x, axis=axis)
        rows = np.array([[-9000.0], [-2000.0], [800.0], [9000.0]]) + 2 * rng.normal(size=(4, 3))
        agrees.softmax(rows)
        agrees.softmax(rows.T, axis=0)
        agrees.softmax(np.array([[1e300, -1e300, 0.0], [-1e300, -1e5, 1.0]]))
        agrees.softmax(np.array([1e300, 2.0, -3.0]))
        agrees.softmax(np.array([[-1e10, 1.0, 2.0], [1.0, -1e300, 2.0]]))
        agrees.softmax(np.array([708.9, 709.0, 708.8]))  # exp does not overflow, but the sum does
        agrees.softmax(np.array([1000.0, 1000.009]))
        agrees.softmax(np.array([0.0, 8e-5, -9e-5]))
        agrees.softmax(np.append(0.0, np.full(329, -100.0)))

    @check(points=0.25, after="test_each_row")
    def test_small_arrays(self, agrees):
        """a single score gets all the weight, and equal scores get equal weights"""
        for x in (np.array([-3.0]), np.array([[7.0], [-7.0], [0.0]]), np.zeros((2, 4)), np.array([[0.0, 1.0, 0.0]])):
            agrees.softmax(x)

    test_every_kind = all_categories(points=0.25, after="test_large_scores")

    test_care = pure(points=0.25, after="test_small_example")


def temperature(values, _query):
    """Return the temperature, by which the scores are divided."""
    return values.get("temperature", 1.0)


@exercise(
    "soft_lookup",
    points=4,
    depends_on=("weighted_average", "softmax"),
    takes=Contract(
        {**LOOKED_UP, "temperature": real(1e-3, 1e9, default=True)},
        **rules_of_one_query(temperature),
    ),
)
class TestSoftLookup:
    """Begin with the steps of `hard_lookup` and replace only the middle one. Instead of finding the largest score, turn
    all the scores into weights.

    Scores of shape (n,), divided by the temperature, become weights of shape (n,). These weights average the rows of V
    into shape (d_v,). You have already written a function for each of the last two steps.

    The scores are `K @ q`. Divide them by the temperature before they go into `softmax`. Then pass the result of
    `softmax` and V to `weighted_average`.
    """

    @check(points=0.5, visible=True)
    def test_small_example(self, agrees):
        """the example worked by hand"""
        agrees.soft_lookup(*arrays_of([1, 1], [[2, 0], [0, 0], [0, 1]], [[10, 0], [20, 0], [0, 10]]))

    @check(points=0.5, visible=True, after="test_small_example")
    def test_warmer_and_colder(self, agrees):
        """a higher temperature makes the weights more equal, a lower temperature less equal"""
        q, K = arrays_of([1, 1, 0.5], [[2, 0, 0], [0, 0, 1], [0, 1, -1], [-1, 2, 1]])
        V = np.array([[10, 0], [20, 5], [0, 10], [-10, 3]], dtype=float)
        for temperature in (2.0, 0.5):
            agrees.soft_lookup(q, K, V, temperature=temperature)

    @check(points=0.25, visible=True, after="test_small_example")
    def test_all_sizes_equal(self, agrees):
        """as many keys as entries in a key, and in a value"""
        q, K, V = arrays_of([1, 2, -1], [[0, 0.5, 1], [2, 0, 0.5], [1, 1, 2.5]], [[1, 0, 2], [0.5, -1, 0], [0, 1, 1.5]])
        agrees.soft_lookup(q, K, V)

    @check(points=0.5, visible=True, after="test_warmer_and_colder")
    def test_very_cold(self, student, reference):
        """near temperature 0 it returns the same as the hard lookup"""
        q, K, V = arrays_of([2, 1], [[1, 0], [3, 2], [-1, 1]], [[10, 0, 1], [0, 20, 2], [5, 5, 30]])
        found = student.soft_lookup(q, K, V, temperature=0.01)
        assert_matches(found, reference.hard_lookup(q, K, V))

    @check(points=0.25, visible=True, after="test_warmer_and_colder")
    def test_very_hot(self, student):
        """at a very high temperature it returns the plain mean of the values"""
        q, K, V = arrays_of([2, 1], [[1, 0], [3, 2], [-1, 1]], [[10, 0, 1], [0, 20, 2], [5, 5, 30]])
        found = student.soft_lookup(q, K, V, temperature=1e9)
        assert_matches(found, V.mean(axis=0), call="soft_lookup(q, K, V, temperature=1e9)", q=q, K=K, V=V)

    @check(visible=True, after="test_warmer_and_colder")
    def test_neither_hard_nor_even(self, agrees):
        """close scores share the weight at low temperatures, and distant scores get different weights at high ones"""
        q, V = np.array([1.0, 0.0]), np.array([[10, 0, 1], [0, 20, 2], [5, 5, 30]], dtype=float)
        agrees.soft_lookup(q, np.array([[0.51, 3], [0.5, -1], [0.49, 2]]), V, temperature=0.02)
        agrees.soft_lookup(q, np.array([[0.501, 3], [0.5, -1], [0.499, 2]]), V, temperature=0.002)
        agrees.soft_lookup(q, np.array([[30.0, 3], [0, -1], [15, 2]]), V, temperature=30.0)
        agrees.soft_lookup(q, np.array([[2000.0, 3], [0, -1], [900, 2]]), V, temperature=1000.0)

    @check(points=0.5, after="test_warmer_and_colder")
    @given(
        linked({"q": "d_k", "K": "n d_k", "V": "n d_v"}, elements=floats(-3, 3)), temperature=floats(0.2, 5), examples=5
    )
    def test_any_sizes_and_temperature(self, agrees, q, K, V, temperature):
        """random numbers of keys and random sizes, at ordinary temperatures"""
        agrees.soft_lookup(q, K, V, temperature=temperature)

    @check(points=0.25, after="test_small_example")
    def test_long_keys(self, agrees, rng):
        """long keys and many keys, with different sizes and the default temperature"""
        for n, d_k, d_v in ((5, 3, 2), (4, 4, 4), (30, 8, 5)):
            q, K, V = something_to_look_up(rng, n, d_k, d_v, margin=0.1)
            K /= np.sqrt(d_k)
            agrees.soft_lookup(q, K, V)

    @check(points=0.5, after="test_very_cold")
    def test_colder_still(self, agrees, rng):
        """scores close together or far apart, at low and high temperatures, and large values with a tiny weight"""
        agrees.soft_lookup(*arrays_of([1], [[16.5], [0]], [[0.5, 1], [9e5, -8e5]]))
        agrees.soft_lookup(*arrays_of([1], [[1], [0.5]]), FAR_APART)
        for side in (8.0, -8.0):
            q, K, V = something_to_look_up(rng, 6, 3, 4)
            K += side * q / (q @ q)
            agrees.soft_lookup(q, K, V, temperature=0.002)
        for temperature in (0.002, 0.02, 0.05, 30.0, 1000.0):
            q, K, V = something_to_look_up(rng, 5, 3, 4)
            # Neighboring scores differ by half a temperature, so no weight is near 0, and no two weights are nearly equal.
            scores = temperature * rng.permutation(5) / 2
            K += np.outer(scores - K @ q, q) / (q @ q)
            agrees.soft_lookup(q, K, V, temperature=temperature)

    test_every_kind = all_categories(points=0.25, after="test_small_example")

    test_care = pure(points=0.5, after="test_small_example")


TestQuiz = quiz_ch1.checks()

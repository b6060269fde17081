"""The checks of chapter 3: why scores are divided by the square root of d_k."""

import numpy as np
from inputs import FAR_APART, Contract, array, arrays_of, attention_contract, function, rules_of_one_query, weights

from autograder.checking import (
    Average,
    CheckFailed,
    InputCategory,
    Rng,
    all_categories,
    among,
    arrays_nd,
    assert_average,
    assert_matches,
    assert_shape,
    assert_sums_to_one,
    assert_within,
    check,
    exercise,
    floats,
    given,
    linked,
    probabilities,
    pure,
    real,
    whole,
)
from solutions.ch3_scaling import predictions, quiz_ch3

# score_variance is judged by how its answers are distributed over generators. For n pairs the variance of q . k has
# mean d_k (d_k * (1 - 1/n) with the mean subtracted) and, as E[(q . k)^4] = 3 d_k^2 + 6 d_k, a relative variance of
# (2 + 6 / d_k) / n. Whatever the order of the draws, a right function's answers have that distribution.


SAMPLES = 100
ANSWERS = """
import numpy as np

def probe(score_variance, d_k, n_samples, rng, count):
    return np.array([float(score_variance(d_k, n_samples, own)) for own in rng.spawn(count)])
"""


def answers(student, rng, d_k, count, samples=SAMPLES):
    """Return the student's answers for ``count`` generators, each of them a single number."""
    found = []
    while len(found) < count:  # a slow function needs several calls, each with its own time limit
        part, seed = min(count - len(found), max(1, 40_000 // samples)), int(rng.integers(2**32))
        some = student.measure(ANSWERS, "score_variance", d_k, samples, Rng(seed), part)
        assert_shape(some, (part,))
        found += some.tolist()
    return np.array(found)


def is_a_usual_order(student, rng, d_k, samples):
    """Return whether the student draws the numbers in one of the usual orders, so that the answers are known exactly."""
    seed = int(rng.integers(2**32))
    found = student.measure(ANSWERS, "score_variance", d_k, samples, Rng(seed), 4)
    if np.shape(found) != (4,):
        return False
    own = np.random.default_rng(seed).spawn(4)
    numbers = np.array([rng.standard_normal(2 * samples * d_k) for rng in own])
    pairs_first = numbers.reshape(4, samples, 2, d_k)
    entries_first = numbers.reshape(4, d_k, 2, samples)
    scores = (
        np.einsum("gnd,gnd->gn", *numbers.reshape(4, 2, samples, d_k).swapaxes(0, 1)),
        np.einsum("gdn,gdn->gn", *numbers.reshape(4, 2, d_k, samples).swapaxes(0, 1)),
        np.einsum("gnd,gnd->gn", pairs_first[:, :, 0], pairs_first[:, :, 1]),
        np.einsum("gdn,gdn->gn", entries_first[:, :, 0], entries_first[:, :, 1]),
        numbers.reshape(4, samples, d_k, 2).prod(axis=-1).sum(axis=-1),  # number by number
    )
    right = [v for s in scores for v in (s.var(axis=-1), s.var(axis=-1, ddof=1), np.square(s).mean(axis=-1))]
    return any(np.allclose(found, v, rtol=1e-9) for v in right)


AGAIN = """
import numpy as np

def probe(score_variance, d_k, n_samples, rng):
    first, again = (score_variance(d_k, n_samples, np.random.default_rng(7)) for _ in range(2))
    return f"{'equal to' if np.array_equal(first, again, equal_nan=True) else 'different from'} the first"
"""

# This probe describes the average and the scatter of the answers, in units of a right function's. Functions whose answers
# have the same distribution get the same description, whatever their order of draws. So it identifies a misconception,
# even in a notebook. The bounds separate the misconceptions. Those around a right function's value are at least five
# standard deviations away from it.
DESCRIBED = """
import numpy as np

LEVELS = (-0.03, 0.03, 0.055, 0.08, 0.16, 0.31, 0.41, 0.467, 0.7, 1.4, 2.4, 4, 9, 20, 60, 160, 600)

def between(value, bounds):
    place = int(np.searchsorted(bounds, value))
    if place == 0:
        return f"below {bounds[0]:g}"
    return f"above {bounds[-1]:g}" if place == len(bounds) else f"between {bounds[place - 1]:g} and {bounds[place]:g}"

def described(answers, d_k, right, spreads):
    if answers.ndim != 1:
        return f"arrays of shape {answers.shape[1:]}", ""
    if not np.isfinite(answers).all():
        return "NaN or infinite", "NaN or infinite"
    average, deviation = answers.mean() / d_k, answers.std() / right
    if deviation > 1e-9:
        return between(average, LEVELS), between(deviation, spreads)
    first = answers[0]
    near = "1" if first == d_k else "0" if first == 0 else "near 1" if 0.3 < average < 3 else "not near 1"
    return f"{near}, and all answers are equal", "0"

def probe(score_variance, d_k, n_samples, rng, count, spreads):
    answers = np.array([score_variance(d_k, n_samples, own) for own in rng.spawn(count)], dtype=float)
    average, deviation = described(answers, d_k, d_k * np.sqrt((2 + 6 / d_k) / n_samples), spreads)
    return average, deviation
"""
DESCRIPTIONS = (
    (1, 100, 200, (0.015, 0.035, 0.15, 0.633, 1.549, 8), "between 0.633 and 1.549"),
    (16, 100, 200, (0.001, 0.015, 0.036, 0.08, 0.24, 0.671, 1.378, 1.6, 8, 21, 40), "between 0.671 and 1.378"),
    (4, 1000, 40, (0.13, 0.317, 2, 8), "between 0.317 and 2"),
)
ONE_QUERY = {"q": "d_k", "K": "n_k d_k", "V": "n_k d_v", "g": "d_v"}


def relative_variance(d_k, samples=SAMPLES):
    """Return the variance of a right function's answers, in units of d_k squared."""
    return (2 + 6 / d_k) / samples


@exercise(
    "score_variance",
    takes=Contract(
        {"d_k": whole(1, 300), "n_samples": whole(100, 20_000), "rng": among(Rng(0))},
        corrupt=1.0,  # answers are judged by their distribution
    ),
    points=2,
)
class TestScoreVariance:
    """There are three steps: draw the queries and the keys, make one score of each pair, and take the variance of the
    scores. The first step gives two arrays. Which shape does an array of n_samples vectors with d_k entries have?

    `rng.standard_normal((n_samples, d_k))` draws that many vectors at once. Call it twice, so that the keys are
    independent of the queries. A pair is row i of the queries and row i of the keys.

    A dot product multiplies entry by entry and adds up along the axis of the entries, the last one. The result has
    shape (n_samples,), and arrays have a method `.var()`.
    """

    @check(points=0.25, visible=True)
    def test_four_entries(self, student):
        """for vectors with 4 entries, one number from 2.4 to 5.6"""
        found = student.score_variance(4, 1000, Rng(13))
        assert_shape(found, ())
        assert_within(found, low=2.4, high=5.6)

    @check(points=0.25, visible=True, after="test_four_entries")
    def test_one_and_many_entries(self, student):
        """from 43 to 85 for 64 entries, and from 0.7 to 1.3 for a single entry"""
        assert_within(student.score_variance(64, 1000, Rng(2)), low=43.0, high=85.0)
        assert_within(student.score_variance(1, 4000, Rng(3)), low=0.7, high=1.3)

    @check(visible=True, after="test_four_entries")
    def test_same_again(self, student):
        """the same seed gives the same answer"""
        found = student.probe(AGAIN, "score_variance", 4, 100, Rng(7))
        call = "the second answer of score_variance(4, 100, np.random.default_rng(7))"
        assert_matches(found, "equal to the first", call=call)

    @check(visible=True, after="test_four_entries")
    def test_scatter(self, student):
        """many generators: the answers are near d_k, and vary as much as for independent pairs of normal draws"""
        for d_k, samples, count, spreads, normal in DESCRIPTIONS:
            found = student.probe(DESCRIBED, "score_variance", d_k, samples, Rng(8), count, spreads)
            many = f"{count} answers of score_variance({d_k}, {samples}, rng)"
            average, deviation = found
            assert_matches(average, "between 0.7 and 1.4", call=f"the average of {many}, divided by d_k,")
            assert_matches(
                deviation, normal, call=f"the standard deviation of {many}, divided by that of right answers,"
            )

    @check(points=0.75, after="test_four_entries")
    def test_spread(self, student, rng):
        """more sizes, with 40 to 700 generators: the answers differ as much as for independent pairs of normal draws"""
        # The logarithm of the ratio of the two variances is nearly normal, with a standard deviation of about 0.11 for 300
        # answers. The bounds are at least six standard deviations away on each side. Entries of variance 1 that are not
        # normal fail at d_k = 1, and pairs that share a vector or an entry fail at d_k = 16. With ten times the pairs, the
        # variance is a tenth, so a function that always draws 100 pairs is wrong by a factor of 10, and few answers are
        # enough. If each score comes twice, the variance is twice as large. With 700 answers, the standard deviation is
        # about 0.052.
        cases = (1, SAMPLES, 700, 0.45, 2.1), (16, SAMPLES, 200, 0.45, 1.9), (1, 10 * SAMPLES, 40, 0.15, 3.2)
        cases = (*cases, (6, SAMPLES, 700, 0.69, 1.42))
        drawn = []
        for d_k, samples, count, low, high in cases:
            drawn.append(answers(student, rng, d_k, count, samples))
            found = drawn[-1].std()
            right = d_k * np.sqrt(relative_variance(d_k, samples))
            if not low <= (found / right) ** 2 <= high:
                look = (
                    "Do you draw n_samples pairs? Are all numbers drawn from `rng`, and each used in one pair only? Are they "
                    "standard normal? Do you take the variance of exactly these scores?"
                )
                if not np.isfinite(found):
                    look = "An answer is NaN or infinite. Do you divide by something that may be 0? Do you make a score of each of the n_samples pairs?"
                if found < 1e-9 * right:
                    found = 0.0  # instead of rounding errors
                    look = "Your answers are all equal. Do all your numbers come from the given `rng`, and do you return the variance unrounded?"
                    if not drawn[-1].any():
                        look = f"Your answers are all 0. Do you draw all {samples} pairs, use the numbers as they are drawn, and make a score of each pair?"
                raise CheckFailed(
                    f"For d_k = {d_k} and {samples} samples, the answers from {count} generators have a standard deviation "
                    f"of {found:.3g}; with {samples} independent pairs of normal draws it would be about {right:.3g}. {look}"
                )
        # Rounding to six decimals is accepted, and makes a few answers equal.
        different = len(np.unique(drawn[0]))
        if different < 0.95 * len(drawn[0]) or np.array_equal(drawn[0], drawn[0].round(5)):
            raise CheckFailed(
                f"For d_k = 1 and {SAMPLES} samples, the answers from {len(drawn[0])} generators have {different} different values, "
                f"such as {drawn[0][0]:.8g}. Are the answers or the scores rounded, or does `rng` only choose one of a few generators?"
            )
        # If each pair shares a vector with the next pair, the logarithms of the answers vary one and a half times as much at
        # d_k = 1. For a right function, the logarithm of this ratio has a mean of -0.04 and a standard deviation of 0.057
        # for 700 answers, and of 0.028 for 3000. So about one right function in 200 needs more answers.
        right = relative_variance(1)
        with np.errstate(all="ignore"):
            if np.log(drawn[0]).var() > 1.12 * right:
                found = np.log(answers(student, rng, 1, 3000)).var()
                if found > 1.2 * right:
                    raise CheckFailed(
                        f"For d_k = 1 and {SAMPLES} samples, the logarithms of 3000 answers have a variance of {found:.3g}; with "
                        f"{SAMPLES} independent pairs of normal draws it would be about {right:.3g}. Does every pair have a query "
                        "and a key of its own, which no other pair uses?"
                    )

    @check(points=0.5, after="test_spread")
    def test_centre(self, student, rng):
        """over many generators, the average of the answers is d_k; with many pairs, each answer is near d_k"""
        # A divisor that depends on d_k shows at d_k = 16. With 130 there are more entries than samples.
        for d_k, samples in ((4, 2000), (16, SAMPLES), (130, SAMPLES)):
            if is_a_usual_order(student, rng, d_k, samples):
                continue
            # Dividing by n, or subtracting the mean, makes the average smaller by a factor of 1 - 1/n.
            spread = d_k * np.sqrt(relative_variance(d_k, samples))
            judge = Average(d_k, spread, effect=0.03 * d_k, bias=d_k / samples, skewness=1.0)
            found = answers(student, rng, d_k, judge.number, samples)
            try:
                assert_average(found, judge, call=f"score_variance({d_k}, {samples}, rng)")
            except CheckFailed as failure:
                raise CheckFailed(
                    f"For d_k = {d_k} and {samples} samples: {failure.reason}", kind=failure.kind
                ) from None
        # One pair more than a block of the usual sizes, and generators whose seeds are often used for others. The bounds
        # are at least six standard deviations away.
        for samples, count in ((101, 40), (129, 40), (501, 8), (513, 8), (1001, 4), (1025, 4), (5001, 2), (10_001, 2)):
            found = answers(student, rng, 4, count, samples).mean()
            assert_within(
                found, low=3.25, high=4.75, call=f"the mean of {count} answers to score_variance(4, {samples}, rng)"
            )
        for seed in (0, 1, 42):
            found = student.score_variance(1, 20_000, Rng(seed))
            try:
                assert_within(found, low=0.85, high=1.15)
            except CheckFailed as failure:
                text = f"{failure.reason} Do you make a score for each of the 20 000 pairs?"
                raise CheckFailed(text, failure.example, kind=failure.kind) from None
        assert_within(student.score_variance(300, 8000, Rng(5)), low=270, high=330)  # more entries than a block of 256
        # The most pairs: 30 answers vary by their standard deviation times 0.45 to 2.2, more than six standard deviations.
        if not is_a_usual_order(student, rng, 1, 20_000):
            found, right = answers(student, rng, 1, 30, 20_000).std(), np.sqrt(relative_variance(1, 20_000))
            call = "the standard deviation of 30 answers to score_variance(1, 20000, rng)"
            assert_within(found, low=0.45 * right, high=2.2 * right, call=call)

    test_care = pure(points=0.25, after="test_spread")


@exercise("scaled_dot_product_attention", points=4, takes=attention_contract())
class TestScaledDotProductAttention:
    """There are four steps: scores for every query and key, the division, the softmax over the keys, and the average of
    the values. Write down the shape of the result after each step.

    The scores are Q times K with its last two axes swapped: (..., n_q, d_k) @ (..., d_k, n_k). `np.swapaxes(K, -1, -2)`
    does that for any number of batch axes. d_k is the size of the last axis.

    Before the softmax, divide by `np.sqrt(Q.shape[-1])`. `softmax` turns the result into the weights, and the output is
    the weights times V. Return both, output first.
    """

    @check(points=0.5, visible=True)
    def test_small_example(self, agrees):
        """the example worked by hand: output first, weights second"""
        agrees.scaled_dot_product_attention(*arrays_of([[2, 0, 0, 0]], [[1, 0, 0, 0], [0, 1, 0, 0]], [[10], [20]]))

    @check(points=0.75, visible=True, after="test_small_example")
    def test_all_sizes_different(self, agrees):
        """3 queries, 5 keys with 4 entries, values with 2: weights and output"""
        Q = np.array([[1, 0, 2, -1], [0, 3, 0, 1], [-1, 1, 1, 0.5]])
        K = np.array([[1, 0, 0.5, 0], [0, 1, 0, -1], [0.5, -1, 1, 0], [-1, 0, 0, 2], [0, 0.5, -2, 1]])
        V = np.array([[1, 10], [2, -20], [3, 30], [-4, 40], [5, 0]], dtype=float)
        agrees.scaled_dot_product_attention(Q, K, V)

    @check(points=0.25, visible=True, after="test_small_example")
    def test_all_sizes_equal(self, agrees):
        """as many queries as keys, and as many entries in each of them"""
        Q, K = arrays_of([[1, 0, 2], [0, 3, 0], [-1, 1, 0.5]], [[2, 1, 0], [0, -1, 1], [1, 0.5, 1.5]])
        agrees.scaled_dot_product_attention(Q, K, np.array([[1, 10, 0], [2, -20, 1], [3, 30, -1]], dtype=float))

    @check(points=0.5, visible=True, after="test_all_sizes_different")
    def test_batch(self, agrees):
        """one batch axis, and two batch axes"""
        numbers = np.random.default_rng(33)
        for lead in ((2,), (3, 2)):
            Q = numbers.integers(-4, 5, size=(*lead, 3, 5)) / 2
            K = numbers.integers(-4, 5, size=(*lead, 4, 5)) / 2
            V = numbers.integers(-4, 5, size=(*lead, 4, 2)).astype(float)
            agrees.scaled_dot_product_attention(Q, K, V)

    @check(points=0.5, visible=True, after="test_all_sizes_different")
    def test_large_scores(self, agrees):
        """scores in the thousands, and queries of very different size"""
        Q = np.array([[2000, 0, 1000, 0], [1, 2, 0, 0], [-3000, 0.5, -1000, 1], [0, 0, 0, 3000], [0, 3000, 0, 0]])
        K, V = arrays_of([[1, 0.5, 0, 0], [1, 0, 0.001, 0], [1.001, -1, -0.001, 2]], [[1, 2], [3, -4], [-5, 60]])
        agrees.scaled_dot_product_attention(Q, K, V)

    @check(points=0.5, after="test_all_sizes_different")
    @given(linked({"Q": "... n_q d_k", "K": "... n_k d_k", "V": "... n_k d_v"}, sides=(1, 5), batch=(0, 2)), examples=5)
    def test_any_sizes(self, agrees, Q, K, V):
        """random sizes, some with batch axes"""
        agrees.scaled_dot_product_attention(Q, K, V)

    @check(points=0.25, after="test_all_sizes_different")
    def test_long_keys(self, student, reference, rng):
        """long keys and many keys"""
        for n_q, n_k, d_k, d_v in ((7, 30, 64, 5), (4, 6, 256, 3), (5, 3, 2, 100), (16, 16, 16, 16)):
            Q, K, V = rng.normal(size=(n_q, d_k)), rng.normal(size=(n_k, d_k)), 10 * rng.normal(size=(n_k, d_v))
            right = reference.scaled_dot_product_attention(Q, K, V)
            found = student.scaled_dot_product_attention(Q, K, V)
            assert_matches(found, right)
            assert_sums_to_one(found[1], call="the weights of scaled_dot_product_attention(Q, K, V)", Q=Q, K=K, V=V)

    @check(points=0.25, after=("test_batch", "test_large_scores"))
    def test_large_scores_in_a_batch(self, agrees, rng):
        """a batch in which different queries have scores thousands apart"""
        Q, K, V = rng.normal(size=(2, 4, 3)), rng.normal(size=(2, 5, 3)), rng.normal(size=(2, 5, 6))
        K[..., 0] = 1.0  # equal in all keys, so Q's first entry moves all scores of a query equally
        Q[..., 0] = np.array([[9000.0, -9000.0, 2000.0, 0.0], [-3000.0, 500.0, 6000.0, -800.0]])
        agrees.scaled_dot_product_attention(Q, K, V)
        agrees.scaled_dot_product_attention(*arrays_of([[1, 0.5]], [[1, 0], [0, 1]]), FAR_APART)

    test_every_kind = all_categories(points=0.25, after="test_all_sizes_different")

    test_care = pure(points=0.25, after="test_small_example")


def some_rows(rng, *shape, empty=0.3):
    """Return weights of the given shape. A share of about ``empty`` is exactly 0, and every row adds up to 1."""
    parts = rng.uniform(0.1, 1, size=shape) * (rng.random(shape) >= empty)
    parts[..., 0] += parts.sum(axis=-1) == 0
    return parts / parts.sum(axis=-1, keepdims=True)


@exercise("attention_entropy", points=3, takes=Contract({"weights": weights("... n_q n_k")}))
class TestAttentionEntropy:
    """Begin with one row that has no zeros. Multiply each weight by its logarithm, add up, and reverse the sign. Then
    think of many rows: along which axis is the sum?

    np.log(0) is -inf, and 0 * -inf is nan, not 0. The simplest way is to never compute that logarithm. Which number can
    replace the 0 inside the log, given that the result is multiplied by the weight 0 anyway?

    `np.where(weights > 0, weights, 1.0)` is a new array with ones in place of zeros, and the logarithm of 1 is 0. The
    sum is along the last axis: `axis=-1`.
    """

    @check(points=0.5, visible=True)
    def test_without_zeros(self, agrees):
        """two queries and four keys, with no weight of 0"""
        agrees.attention_entropy(np.array([[0.25, 0.25, 0.25, 0.25], [0.7, 0.1, 0.15, 0.05]]))

    @check(points=0.5, visible=True, after="test_without_zeros")
    def test_small_example(self, agrees):
        """the example worked by hand: a weight of 0 contributes 0"""
        agrees.attention_entropy(np.array([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]]))

    @check(points=0.25, visible=True, after="test_without_zeros")
    def test_as_many_queries_as_keys(self, agrees):
        """as many queries as keys"""
        agrees.attention_entropy(np.array([[0.6, 0.3, 0.1], [0.2, 0.2, 0.6], [0.9, 0.05, 0.05]]))

    @check(points=0.25, visible=True, after="test_small_example")
    def test_batch(self, agrees):
        """one batch axis or two, two queries, four keys"""
        first = [[0.5, 0.25, 0.25, 0.0], [0.1, 0.2, 0.3, 0.4]]
        second = [[1.0, 0.0, 0.0, 0.0], [0.0, 0.75, 0.25, 0.0]]
        weights = np.array([first, second, [[0.25, 0.25, 0.25, 0.25], [0.9, 0.1, 0.0, 0.0]]])
        agrees.attention_entropy(weights)
        agrees.attention_entropy(weights[:2, None])

    @check(points=0.25, after="test_small_example")
    @given(scores=arrays_nd(2, 4, elements=floats(-3, 3)))
    def test_any_shape(self, agrees, scores):
        """random numbers of queries, keys and batch axes, with the lowest scores given weight 0"""
        parts = np.where(scores > np.minimum(-1.5, scores.max(axis=-1, keepdims=True) - 1e-3), np.exp(scores), 0.0)
        agrees.attention_entropy(parts / parts.sum(axis=-1, keepdims=True))

    @check(points=0.25, after="test_small_example")
    def test_from_one_key_to_all(self, student):
        """equal weights on m of n keys have entropy ln m, whichever keys they are"""
        for n, most in (12, range(1, 13)), (300, (1, 40, 300)):
            weights = np.array([[1 / m if (7 * j + 5) % n < m else 0.0 for j in range(n)] for m in most])
            assert_matches(student.attention_entropy(weights), np.log(most))

    @check(points=0.25, after="test_small_example")
    def test_order_of_the_keys(self, student, reference, rng):
        """weights in any order of the keys"""
        # Rows with different numbers of zeros, and a row whose first and last weights are the mean.
        for rows in ([[1, 0, 0], [0.5, 0.25, 0.25]], [[0.25, 0.5, 0, 0.25]]):
            assert_matches(student.attention_entropy(np.array(rows)), reference.attention_entropy(np.array(rows)))
        weights = some_rows(rng, 5, 9)
        mixed = weights[:, rng.permutation(9)]
        right = reference.attention_entropy(weights)
        assert_matches(student.attention_entropy(weights), right)
        assert_matches(student.attention_entropy(mixed), right)

    @check(points=0.25, after="test_small_example")
    def test_tiny_weights(self, agrees):
        """tiny weights: some too small to matter, some that matter, and hundreds of them"""
        agrees.attention_entropy(np.array([[1.0, 1e-300, 0.0, 1e-290], [0.5, 0.5, 1e-200, 1e-20]]))
        agrees.attention_entropy(np.array([[1 - 3e-7, 3e-7]]))  # about 0.000005
        for tiny in (1e-7, 1e-8):
            agrees.attention_entropy(np.array([[1 - 299 * tiny] + [tiny] * 299]))
        # Nearly equal weights, but 330 of them differ enough from equal weights.
        uneven = np.array([[0.0026] * 160 + [0.0035] * 170])
        agrees.attention_entropy(uneven / uneven.sum())

    test_every_kind = all_categories(points=0.25, after="test_small_example")

    test_care = pure(points=0.25, after="test_without_zeros")


@exercise("softmax_jacobian", points=3, takes=Contract({"p": weights("n")}))
class TestSoftmaxJacobian:
    """The result is one matrix minus another. The first has p on its diagonal and zeros elsewhere, and the second has
    p[i] * p[j] at (i, j). Write down both for p = [0.5, 0.3, 0.2].

    `np.diag` turns a vector into a diagonal matrix. For the second matrix, you need p once as a column and once as a
    row. For a plain vector, `.T` changes nothing.

    `np.outer(a, b)` has a[i] * b[j] at (i, j). Both matrices have shape (n, n). Subtract the second from the first.
    """

    @check(points=0.75, visible=True)
    def test_small_example(self, agrees):
        """the example worked by hand"""
        agrees.softmax_jacobian(np.array([0.5, 0.3, 0.2]))

    @check(points=0.5, visible=True, after="test_small_example")
    def test_two_weights(self, agrees):
        """two weights: if one rises, the other falls by as much"""
        for p in (np.array([0.5, 0.5]), np.array([0.9, 0.1])):
            agrees.softmax_jacobian(p)

    @check(points=0.25, visible=True, after="test_small_example")
    def test_all_on_one(self, student):
        """all the weight on one key"""
        p = np.array([0.0, 1.0, 0.0, 0.0])
        assert_matches(student.softmax_jacobian(p), np.zeros((4, 4)))

    @check(points=0.75, after="test_small_example")
    @given(p=probabilities(1, 6))
    def test_any_weights(self, agrees, p):
        """random weights, some of them 0"""
        agrees.softmax_jacobian(p)
        agrees.softmax_jacobian(np.array([0.0001, 0.9996, 0.0003]))
        agrees.softmax_jacobian(np.array([3e-5, 1 - 3e-5]))

    @check(points=0.25, after="test_small_example")
    def test_against_measured_slopes(self, student, reference, agrees, rng):
        """it agrees with the measured change of softmax if a score moves a little"""
        scores = rng.normal(size=5)
        p = reference.softmax(scores)
        columns = [(reference.softmax(scores + e) - reference.softmax(scores - e)) / 2e-5 for e in 1e-5 * np.eye(5)]
        assert_matches(student.softmax_jacobian(p), np.stack(columns, axis=1))
        for step in range(4):  # almost the same weights, which a function that remembers rounded weights mixes up
            agrees.softmax_jacobian(p + 1e-4 * step * np.array([1, -1, 0, 0, 0]))

    test_every_kind = all_categories(points=0.25, after="test_small_example")

    test_care = pure(points=0.25)


# The functions that a check passes as f. Cubes distinguish all steps: for x**3 the two-point difference is
# 3 x**2 + eps**2. With multiples of 1/4, all results are exact in floating point, however the difference is written.
CUBES = function("f(x)", "return (x ** 3).sum()")
MIXED = function(
    "f(x)", "return float(x[0, 0] ** 3 + 2 * x[0, 1] * x[1, 2] - x[1, 0] * x[1, 0] * x[0, 2] + 5 * x[1, 1])"
)
FIRST_AND_LAST = function("f(x)", "return float(x[0] * x[0] * x[-1] - 4 * x[1])")
WAVES = function("f(x)", "return np.sin(x).sum() + np.exp(x[0] - x[-1])")
SIZES = function(
    "f(x)", "total = 0.0", "for i in range(len(x)):", "    total = total + (i + 1) * abs(x[i])", "return total"
)
THREE_AXES = function("f(x)", "return float(np.einsum('abc,abd,ecd->', x, x, x)) + x[1, 0, 1] ** 3")
THREE_SIZES = function("f(x)", "return float(np.einsum('abc,abd,aed->', x, x, x)) + x[1, 0, 1] ** 3")
FOUR_AXES = function("f(x)", "return float((x ** 3).sum() + 2 * x[0, 0, 1, 0] * x[1, 0, 0, 1])")
SINES = function("f(x)", "return np.sin(x).sum()")
LARGEST = function("f(x)", "return max(x.ravel().tolist())")
SHARE_OF_THE_LARGEST = function("f(x)", "return float(x.ravel()[0] / np.abs(x).max())")
ABOVE_ZERO = function("f(x)", "return float((x > 0) @ np.arange(1.0, len(x) + 1))")
STEEP = function("f(x)", "return 1e6 * float((x ** 3).sum())")
NEARLY_FLAT = function("f(x)", "return 1e-3 * float(x[0] * x[1]) + 1e-4 * float(x.sum())")
SLIGHT = function("f(x)", "return float(x @ np.array([4e-6, 3e5]))")


@exercise(
    "numerical_gradient",
    points=4,
    takes=Contract(
        {
            "f": among(SINES),
            "x": array("... n", low=-3, high=3, tiny=1e-3),
            "eps": real(1e-3, 1.0, default=True),
        },
        exclude={
            "f: centered": "f returns a single number",
            "f: returning a view": "f returns a single number",
            "f: propagating nan": "f takes and returns ordinary numbers",
        },
    ),
)
class TestNumericalGradient:
    """Begin with one entry. Make an array like x with this entry eps higher, and another with it eps lower. Call f with
    both, and divide the difference by the distance. Then do the same for every entry.

    `y = x` is a second name for the same array, while `x.copy()` is a new one. `for i in np.ndindex(x.shape)` visits
    all the places of an array with any number of axes, and `x[i]` is a single number.

    Create the answer with `np.zeros_like(x)` before the loop. Inside, `step = np.zeros_like(x)` with `step[i] = eps`
    gives the two points x + step and x - step. The distance between them is 2 * eps: use parentheses if you divide by
    it.
    """

    @check(points=0.5, visible=True)
    def test_small_example(self, agrees):
        """the example worked by hand: cubes, and a step of 0.5"""
        agrees.numerical_gradient(CUBES, np.array([2.0, 1.0]), eps=0.5)

    @check(points=0.75, visible=True, after="test_small_example")
    def test_matrix(self, agrees):
        """a matrix, square or not: one slope for each entry, and f sees the whole matrix"""
        wide, square = arrays_of([[1, -2, 0.5], [3, 1.5, -1]], [[0.5, 2, -1], [1.5, -0.5, 3], [1, -2, 0.25]])
        for x in (wide, square):
            agrees.numerical_gradient(MIXED, x, eps=0.25)

    @check(visible=True, after="test_matrix")
    def test_transposed(self, agrees):
        """a transposed matrix, whose rows are not contiguous in memory"""
        agrees.numerical_gradient(MIXED, np.array([[0.5, 2, -1], [1.5, -0.5, 3], [1, -2, 0.25]]).T, eps=0.25)

    @check(points=0.5, visible=True, after="test_small_example")
    def test_one_entry_at_a_time(self, agrees):
        """vectors whose entries have different roles: each is moved by itself"""
        agrees.numerical_gradient(FIRST_AND_LAST, np.array([3.0, -1.0, 3.0, 0.5]), eps=0.5)
        agrees.numerical_gradient(SIZES, np.array([1.0, 0.125, -2.0]), eps=0.5)  # only one entry is near a corner

    @check(points=0.25, visible=True, after="test_small_example")
    def test_step_of_its_own(self, agrees):
        """waves, with the default step"""
        agrees.numerical_gradient(WAVES, np.array([0.5, 2.0, -1.0]))

    @check(points=0.5, after="test_small_example")
    def test_step_as_given(self, agrees, rng):
        """steps from 0.25 to 2 are used as given, for small and large entries"""
        for eps in (0.25, 0.5, 1.0, 2.0):
            agrees.numerical_gradient(CUBES, rng.integers(-12, 13, size=5) / 4, eps=eps)

    @check(points=0.25, after="test_matrix")
    def test_three_axes(self, agrees, rng):
        """three axes and four, with different or equal sizes, and functions that look at single entries"""
        agrees.numerical_gradient(MIXED, np.array([[1.0, -0.5, 2.0], [-0.5, 0.25, 1.5], [2.0, 1.5, -1.0]]), eps=0.5)
        for shape, f in (((2, 3, 4), THREE_SIZES), ((3, 3, 3), THREE_AXES)):
            agrees.numerical_gradient(f, rng.integers(-4, 5, size=shape) / 4, eps=0.5)
        for shape, f in (((2, 3), MIXED), ((3, 3), MIXED), ((2, 1, 2, 2), FOUR_AXES)):
            agrees.numerical_gradient(f, rng.integers(-8, 9, size=shape) / 4, eps=0.5)

    @check(points=0.25, after="test_small_example")
    def test_corners(self, agrees, rng):
        """functions with corners, for which both points matter"""
        for _ in range(2):
            agrees.numerical_gradient(SIZES, np.append(rng.integers(-8, 9, size=4) / 4, 0.125), eps=0.5)
        agrees.numerical_gradient(SLIGHT, np.array([1.0, -2.0]), eps=0.5)
        agrees.numerical_gradient(LARGEST, np.array([[1.0, 0.75], [-2.0, 0.5], [0.25, 1.0]]), eps=0.5)
        # The default step does not reach the corner at 0, but twice the step does.
        agrees.numerical_gradient(SIZES, np.array([1.5e-5, -1.5e-5, 0.25, -0.25, 0.125]))

    @check(points=0.25, after="test_corners")
    def test_unusual_functions(self, agrees, rng):
        """functions that jump, that ignore the size of x, and that are steep or nearly flat"""
        for eps in (0.5, 0.125):
            x = np.array([1, -1, 1, -1, 1]) * rng.integers(5, 12, size=5) / 16
            for f in (SHARE_OF_THE_LARGEST, ABOVE_ZERO, STEEP, NEARLY_FLAT):
                agrees.numerical_gradient(f, x, eps=eps)
        agrees.numerical_gradient(NEARLY_FLAT, np.append(x, 0.5))  # with the default step, values differ by about 1e-9

    test_every_kind = all_categories(points=0.25, after="test_small_example")

    test_care = pure(points=0.5, after="test_small_example")


def within_a_hundred(values, rng):
    """Return the same inputs with scores in bounds, or None if a number in K, V or g is then beyond 100."""
    values = RULES["constrain"](values, rng)
    return values if max(np.abs(values[name]).max() for name in "KVg") <= 100 else None


RULES = rules_of_one_query()


def large_numbers(values, rng):
    """Return keys, values and g near a hundred, and a query so small that several keys share the weight."""
    q = rng.uniform(0.5, 1, size=values["q"].shape)
    drawn = {
        n: rng.choice([-1.0, 1.0], size=values[n].shape) * rng.uniform(50, 100, size=values[n].shape) for n in "KVg"
    }
    spread = np.ptp(drawn["K"] @ q) / np.sqrt(len(q))
    return {"q": q / max(spread, 1.0), **drawn}


LARGE_NUMBERS = InputCategory.custom(
    "K, V, g: near a hundred",
    "keys, values and g with numbers near 100",
    lambda v: min(np.abs(v[n]).min() for n in "KVg") >= 50 and len(v["K"]) > 1,
    large_numbers,
)


K_AND_V = InputCategory.custom(
    "K and V: one array",
    "one array for both K and V",
    lambda v: v["K"] is v["V"] and v["K"].shape[1] > 1,
    lambda v, _rng: {**v, "V": v["K"], "g": v["q"].clip(-10, 10)},
)


def in_proportion(agrees, _name, values):
    """Compare at a tolerance that grows with the largest intermediate number. Right solutions differ by about 1e-9 of this number."""
    largest = np.abs(values["K"]).max() * np.abs(values["V"] @ values["g"]).max()
    agrees(atol=max(1e-6, 2e-9 * largest)).query_gradient(*values.values())


@exercise(
    "query_gradient",
    points=4,
    depends_on=("scaled_dot_product_attention", "softmax_jacobian"),
    takes=Contract(
        {
            name: array(shape, low=-limit, high=limit, tiny=1e-3)
            for (name, shape), limit in zip(ONE_QUERY.items(), (30, 30, 10, 10), strict=True)
        },
        **{
            **RULES,
            "categories": [*RULES["categories"], LARGE_NUMBERS, K_AND_V],
            "constrain": within_a_hundred,
        },
    ),
    equivalent={
        "gradient_with_a_guarded_softmax: `1e-09` → `2e-09`": "as right as 1e-9: rounding in proportion",
        "gradient_with_a_guarded_softmax: `e.sum() + 1e-09` → `e.sum() - 1e-09`": "as right as 1e-9: rounding in proportion",
    },
)
class TestQueryGradient:
    """The chain from q to g . output has four parts: q, scores, weights, output. Go through it backwards: how does g .
    output depend on each weight, each weight on each score, and each score on each entry of q?

    g . output is the sum of the weights times V @ g, so `V @ g` (one number for each key) is the first link. The second
    is your softmax_jacobian of the weights. For the third, scores are K @ q / sqrt(d_k).

    Each link is a product with a matrix, from right to left. The Jacobian times `V @ g` has shape (n_k,), and `K.T`
    times that has shape (d_k,). The scores contain a division by sqrt(d_k), so the last link does too.
    """

    @check(points=0.75, visible=True)
    def test_small_example(self, agrees):
        """the example worked by hand"""
        q = np.zeros(4)
        K, V, g = arrays_of([[1, 0, 0, 0], [0, 1, 0, 0]], [[10], [20]], [1])
        agrees.query_gradient(q, K, V, g)

    @check(points=0.75, visible=True, after="test_small_example")
    def test_all_sizes_different(self, agrees):
        """5 keys with 4 entries, values with 3"""
        q = np.array([1, -0.5, 2, 0])
        K = np.array([[1, 0, 0.5, 0], [0, 1, 0, -1], [0.5, -1, 1, 0], [-1, 0, 0, 2], [0, 0.5, -2, 1]])
        V, g = arrays_of([[1, 10, 0], [2, -20, 1], [3, 30, -1], [-4, 40, 2], [5, 0, 0.5]], [0.5, -1, 2])
        agrees.query_gradient(q, K, V, g)

    @check(points=0.25, visible=True, after="test_small_example")
    def test_all_sizes_equal(self, agrees):
        """as many keys as entries in a key, and in a value"""
        q, K = arrays_of([0.5, 1, -1], [[2, 1, 0], [0, -1, 1], [1, 0.5, 1.5]])
        V, g = arrays_of([[1, 10, 0], [2, -20, 1], [3, 30, -1]], [1, 0.5, -2])
        agrees.query_gradient(q, K, V, g)

    @check(points=0.5, visible=True, after="test_small_example")
    def test_equal_values(self, student):
        """equal values: no query changes the output"""
        q, K, V, g = arrays_of([1, -2], [[1, 0], [0, 1], [0.5, 2]], [[7, -3], [7, -3], [7, -3]], [1, 2])
        assert_matches(student.query_gradient(q, K, V, g), np.zeros(2))

    @check(visible=True, after="test_all_sizes_different")
    def test_scores_above_a_thousand(self, agrees):
        """scores above 1000"""
        q, K = arrays_of([3000, 1, 0, 0], [[1, 0, 2, 1], [1.001, -1, 0, -1], [1.002, -3, 1, 0]])
        agrees.query_gradient(q, K, *arrays_of([[10, 0], [-20, 1], [30, 2]], [1, 0.5]))

    @check(points=0.25, after="test_small_example")
    @given(linked(ONE_QUERY, sides=(1, 5), elements=floats(-3, 3)), examples=10)
    def test_any_sizes(self, agrees, q, K, V, g):
        """random sizes"""
        agrees.query_gradient(q, K, V, g)

    @check(points=0.25, after="test_small_example")
    def test_against_measured_slopes(self, student, reference, rng):
        """it agrees with the measured change of attention if the query moves a little"""
        q, K, V, g = rng.normal(size=6), rng.normal(size=(4, 6)), rng.normal(size=(4, 3)), rng.normal(size=3)
        steps = 1e-5 * np.eye(6)
        up, down = (reference.scaled_dot_product_attention(q + s * steps, K, V)[0] @ g for s in (1, -1))
        measured = (up - down) / 2e-5
        assert_matches(student.query_gradient(q, K, V, g), measured)

    @check(points=0.25, after="test_small_example")
    def test_long_keys(self, agrees, rng):
        """long keys, many keys, long values"""
        for n_k, d_k, d_v in ((30, 64, 5), (3, 2, 50), (8, 8, 8)):
            q, K, V, g = (rng.normal(size=s) for s in ((d_k,), (n_k, d_k), (n_k, d_v), (d_v,)))
            agrees.query_gradient(q, K, V, g)

    test_every_kind = all_categories(points=0.25, after="test_small_example", ask=in_proportion)

    @check(points=0.25, after="test_all_sizes_different")
    def test_large_scores(self, agrees, rng):
        """scores from a few units to the thousands: (almost) all the weight on one key, or weight shared by several keys"""
        for first in (3000.0, -3000.0):
            q, K, V, g = rng.normal(size=4), rng.normal(size=(5, 4)), rng.normal(size=(5, 3)), rng.normal(size=3)
            q[0], K[:, 0] = first, 1.0
            agrees.query_gradient(q, K, V, g)
        q, K, V, g = 1000 * np.ones(4), rng.normal(size=(5, 4)), rng.normal(size=(5, 3)), rng.normal(size=3)
        K[2] += 3.0
        agrees.query_gradient(q, K, V, g)
        # All keys have nearly the same gain, but the gains are so large that the difference counts.
        agrees.query_gradient(*arrays_of([0], [[1], [-1]], [[100], [99.9995]], [100]))
        # A query of this size whose scores are close together.
        q, K = np.append(20_000.0, rng.normal(size=3)), rng.normal(size=(5, 4)) * [1e-4, 1, 1, 1]
        agrees.query_gradient(q, K, V, g)
        # One weight is just below 1, and the values are so far apart that the other one counts.
        for gap in (7.5, 9.0, 10.5, 14.0):
            K = rng.normal(size=(2, 4))
            difference = K[0] - K[1]
            q = difference * rng.uniform(gap, gap + 0.9) * 2 / (difference @ difference)
            agrees.query_gradient(q, K, np.array([[40.0, 9.0], [-40.0, 5.0]]), np.array([3.0, -2.0]))

    test_care = pure(points=0.5, after="test_small_example")


LEARNING = {"W_Q": "d_model d_k", "X": "n_q d_model", "K": "n_k d_k", "V": "n_k d_v", "T": "n_q d_v"}


def scores_while_learning(values):
    """Return the scaled scores of the queries X @ W_Q."""
    return values["X"] @ values["W_Q"] @ values["K"].T / np.sqrt(values["K"].shape[1])


def outputs_while_learning(values):
    """Return the outputs of attention before the step."""
    e = np.exp(scores_while_learning(values) - scores_while_learning(values).max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ values["V"]


def within_three(values, _rng):
    """Return the same inputs with scores in bounds, so that no key has all the weight."""
    widest = np.ptp(scores_while_learning(values), axis=-1).max(initial=0.0)
    return {**values, "W_Q": values["W_Q"] * (6 / widest)} if widest > 12 else values


def queries_far_apart(values, rng):
    """Return queries whose scores are near 700 and near -700, and close together for each query."""
    signs = np.resize([1.0, -1.0], len(values["X"]))[:, None]
    K = rng.uniform(2.7, 2.9) + rng.uniform(-0.015, 0.015, size=values["K"].shape)
    large = {name: rng.uniform(2.8, 3, size=values[name].shape) for name in ("W_Q", "X")}
    return {**values, "W_Q": large["W_Q"], "X": signs * large["X"], "K": K}


@exercise(
    "training_step",
    points=4,
    depends_on=("scaled_dot_product_attention", "softmax_jacobian", "query_gradient"),
    takes=Contract(
        {
            **{name: array(shape, low=-3, high=3, tiny=1e-3) for name, shape in LEARNING.items()},
            "rate": real(0.01, 1),
        },
        # A gradient measured with `numerical_gradient` changes W_Q temporarily, and needs two losses for each of its entries.
        sizes=dict.fromkeys(("d_model", "d_k", "n_q", "n_k", "d_v"), (1, 16)),
        exclude={f"W_Q and {name}: one array": "W_Q is never the same array as another argument" for name in "XKVT"},
        sharpen=within_three,
        categories=[
            InputCategory.custom(
                "scores: queries far apart",
                "queries whose scores are near 700 and near -700",
                lambda v: np.ptp(scores_while_learning(v)) > 1000,
                queries_far_apart,
                sizes={"d_model": 14, "d_k": 6, "n_q": 4},
            ),
            InputCategory.custom(
                "T: the outputs",
                "outputs that are their targets already",
                lambda v: np.allclose(outputs_while_learning(v), v["T"]),
                lambda v, _rng: {**v, "T": outputs_while_learning(v)},
            ),
            InputCategory.custom(
                "T: almost the outputs",
                "outputs that have almost reached their targets",
                lambda v: 0 < np.abs(outputs_while_learning(v) - v["T"]).max() < 0.02,
                lambda v, rng: {
                    **v,
                    "T": outputs_while_learning(v) + rng.uniform(0.005, 0.015, v["T"].shape),
                    "rate": 1.0,
                },
            ),
        ],
    ),
)
class TestTrainingStep:
    """Work from the outputs backwards. How does the loss change with one output? The half and the square's 2 cancel:
    what is left is output minus target.

    `query_gradient(q, K, V, g)` gives the gradient of one query. Its `g` is that query's output minus its target. This
    makes one row of numbers for each query.

    The queries are X @ W_Q. So the gradient of W_Q is X.T times the rows of all the queries, divided by the number of
    queries, since the loss is a mean. Multiply it by the rate and subtract it from W_Q.
    """

    @check(points=0.75, visible=True)
    def test_small_example(self, agrees):
        """the example worked by hand"""
        W_Q, X, K = arrays_of([[0, 0, 0, 0]], [[1]], [[1, 0, 0, 0], [0, 1, 0, 0]])
        agrees.training_step(W_Q, X, K, *arrays_of([[1], [2]], [[2]]), 0.8)

    @check(points=0.75, visible=True, after="test_small_example")
    def test_all_sizes_different(self, agrees):
        """3 queries from rows of 2 entries, 5 keys of 4 entries, values of 6 entries"""
        rng = np.random.default_rng(11)
        agrees.training_step(
            *(rng.uniform(-1, 1, size=size).round(1) for size in ((2, 4), (3, 2), (5, 4), (5, 6), (3, 6))), 0.5
        )

    @check(points=0.5, visible=True, after="test_small_example")
    def test_all_sizes_equal(self, agrees):
        """as many queries as keys, and all arrays square, with small and with large numbers"""
        rng = np.random.default_rng(12)
        agrees.training_step(*rng.uniform(-1, 1, size=(5, 3, 3)).round(1), 0.25)
        agrees.training_step(*rng.uniform(-3, 3, size=(5, 3, 3)).round(1), 0.25)  # a gradient longer than 1

    @check(points=0.5, visible=True, after="test_small_example")
    def test_nothing_to_learn(self, student, reference):
        """every output equal to its target: the loss is 0 and W_Q stays as it is"""
        rng = np.random.default_rng(13)
        W_Q, X, K, V = (rng.uniform(-1, 1, size=size).round(1) for size in ((2, 3), (4, 2), (5, 3), (5, 2)))
        T = reference.scaled_dot_product_attention(X @ W_Q, K, V)[0]
        assert_matches(student.training_step(W_Q, X, K, V, T, 0.5), (W_Q, 0.0))

    @check(points=0.5, after="test_small_example")
    @given(linked(LEARNING, sides=(1, 5), elements=floats(-2, 2)), examples=10)
    def test_any_sizes(self, agrees, W_Q, X, K, V, T):
        """random sizes"""
        agrees.training_step(W_Q, X, K, V, T, 0.3)
        # A gradient with a large norm, and a step that counts although the loss is nearly 0.
        ones, signs = np.full((8, 8), 3.0), np.repeat([[3.0], [-3.0]], 4, axis=0)
        agrees.training_step(np.zeros((8, 8)), ones, signs * np.ones(8), signs, -ones[:, :1], 1.0)
        agrees.training_step(*arrays_of([[0]], [[3]], [[3], [-3]], [[3], [-3]], [[0.003]]), 1.0)

    @check(points=0.25, after="test_small_example")
    def test_many_steps(self, student, reference, rng):
        """ten steps, one after the other: the matrix at the end, and the loss at each step"""
        W_Q, X, K, V, T = (rng.uniform(-1, 1, size=size).round(2) for size in ((4, 4), (6, 4), (6, 4), (6, 3), (6, 3)))
        start = {"W_Q": W_Q, "X": X, "K": K, "V": V, "T": T}
        expected = W_Q
        for step in range(1, 11):
            W_Q, loss = student.training_step(W_Q, X, K, V, T, 1.0)
            expected, right = reference.training_step(expected, X, K, V, T, 1.0)
            assert_matches(loss, right, call=f"the loss in step {step} with a rate of 1", **start)
        assert_matches(W_Q, expected, call="W_Q after ten steps with a rate of 1", **start)

    test_every_kind = all_categories(points=0.25, after="test_small_example")

    test_care = pure(points=0.5, after="test_small_example")


TestPredictions = predictions.checks()

TestQuiz = quiz_ch3.checks()

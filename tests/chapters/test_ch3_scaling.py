"""The checks of chapter 3: why scores are divided by the square root of d_k."""

import numpy as np
from inputs import arrays_of, attention_contract, function, rules_of_one_query

from autograder.checking import (
    CheckFailed,
    Contract,
    Rng,
    all_categories,
    among,
    array,
    arrays_nd,
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
    weights,
    whole,
)
from solutions.ch3_scaling import quiz_ch3

# score_variance is judged by how its answers are distributed over generators. For n pairs the variance of q . k has
# mean d_k (d_k * (1 - 1/n) with the mean taken away) and, as E[(q . k)^4] = 3 d_k^2 + 6 d_k, a relative variance of
# (2 + 6 / d_k) / n. Whatever the order of the draws, a right function's answers have that distribution.


SAMPLES = 100


def answers(student, rng, d_k, count, samples=SAMPLES):
    """The student's answers for ``count`` generators, each of them a single number."""
    found = []
    for seed in rng.integers(2**32, size=count).tolist():
        answer = student.score_variance(d_k, samples, Rng(seed))
        assert_shape(answer, ())
        found.append(float(answer))
    return np.array(found)


# What a notebook can measure by itself: whether one generator gives one answer, and how far those to many scatter.
AGAIN = """
def probe(score_variance, d_k, n_samples, rng):
    first, again = (score_variance(d_k, n_samples, np.random.default_rng(7)) for _ in range(2))
    return float(np.abs(np.subtract(again, first)).max())
"""
SCATTER = """
def probe(score_variance, d_k, n_samples, rng):
    return float(np.std([score_variance(d_k, n_samples, own) for own in rng.spawn(20_000 // n_samples)]))
"""
ONE_QUERY = {"q": "d_k", "K": "n_k d_k", "V": "n_k d_v", "g": "d_v"}


def relative_variance(d_k, samples=SAMPLES):
    """The variance of a right function's answers, in units of d_k squared."""
    return (2 + 6 / d_k) / samples


@exercise(
    "score_variance",
    takes=Contract(
        {"d_k": whole(1, 300), "n_samples": whole(100, 20_000), "rng": among(Rng(0))},
        corrupt=1.0,  # answers are judged by how they are distributed
    ),
    points=2,
)
class TestScoreVariance:
    """Three steps: draw the queries and the keys, make one score of each pair, take the variance of the scores. After
    the first step there are two arrays; what shape holds n_samples vectors of d_k entries?

    `rng.standard_normal((n_samples, d_k))` draws that many vectors at once. Draw twice: the keys must know nothing of
    the queries. A pair is row i of the one and row i of the other.

    A dot product is entry times entry, added up along the axis of the entries (the last one). What is left has shape
    (n_samples,), and arrays have a method `.var()`.
    """

    @check(points=0.25, visible=True)
    def test_four_entries(self, student):
        """for vectors with 4 entries, one number near 4"""
        found = student.score_variance(4, 1000, Rng(1))
        assert_shape(found, ())
        assert_within(found, low=2.4, high=5.6)

    @check(points=0.25, visible=True, after="test_four_entries")
    def test_one_and_many_entries(self, student):
        """for 64 entries near 64, and for a single one near 1"""
        assert_within(student.score_variance(64, 1000, Rng(2)), low=43.0, high=85.0)
        assert_within(student.score_variance(1, 2000, Rng(3)), low=0.5, high=1.5)

    @check(visible=True, after="test_four_entries")
    def test_same_again(self, student):
        """from the same seed the same answer: all that is random comes from `rng`"""
        difference = student.measure(AGAIN, "score_variance", 4, 50, Rng(7))
        call = "the difference between two answers to score_variance(4, 50, np.random.default_rng(7))"
        assert_matches(difference, 0.0, call=call)

    @check(visible=True, after="test_four_entries")
    def test_scatter(self, student):
        """from generator to generator the answers scatter, as far as independent pairs of normal draws make them"""
        # As in test_spread: six standard deviations of what a right function gives, or more, on either side.
        for d_k, samples, low, high in ((1, 100, 0.4, 2.4), (16, 100, 0.45, 1.9), (4, 1000, 0.1, 4.0)):
            found = student.measure(SCATTER, "score_variance", d_k, samples, Rng(8))
            bounds = d_k * np.sqrt(relative_variance(d_k, samples) * np.array([low, high])).round(3)
            many = f"np.random.default_rng(8).spawn({20_000 // samples})"
            call = f"np.std([score_variance({d_k}, {samples}, rng) for rng in {many}])"
            assert_within(found, low=float(bounds[0]), high=float(bounds[1]), call=call)

    @check(points=0.75, after="test_four_entries")
    def test_spread(self, student, rng):
        """from generator to generator the answers differ, by as much as independent normal pairs make them"""
        # The logarithm of the ratio of the two variances is near normal, with a standard deviation of about 0.11: the
        # bounds are six or more of those away on either side. Entries of variance 1 that are not normal fall out at
        # d_k = 1, pairs that share a vector or an entry at d_k = 16. Ten times the pairs make a tenth of the variance:
        # what always draws 100 is out by a factor of 10, so that few answers tell.
        cases = (1, SAMPLES, 300, 0.45, 2.1), (16, SAMPLES, 200, 0.45, 1.9), (1, 10 * SAMPLES, 40, 0.15, 3.2)
        for d_k, samples, count, low, high in cases:
            found = answers(student, rng, d_k, count, samples).std()
            right = d_k * np.sqrt(relative_variance(d_k, samples))
            if not low <= (found / right) ** 2 <= high:
                raise CheckFailed(
                    f"For d_k = {d_k} and {samples} samples, the answers from {count} generators have a standard deviation "
                    f"of {found:.3g}; with {samples} independent pairs of normal draws it would be about {right:.3g}. Is every "
                    "pair new, is every entry normal, and does all of it come from `rng`?"
                )

    @check(points=0.5, after="test_spread")
    def test_centre(self, student, rng):
        """over many generators, the answers average to d_k"""
        for d_k in (2, 9, 150):  # the last is more than there are samples
            found = answers(student, rng, d_k, 60).mean()
            # Six standard errors, and the 1/n by which dividing by n, or a mean taken away, moves the centre.
            slack = d_k * (6 * np.sqrt(relative_variance(d_k) / 60) + 1 / SAMPLES)
            if not abs(found - d_k) <= slack:
                average = f"For d_k = {d_k} the average over 60 generators is {found:.4g}"
                raise CheckFailed(f"{average}; it should be within {slack:.2g} of {d_k}.")

    test_care = pure(points=0.25, after="test_spread")


@exercise("scaled_dot_product_attention", points=4, takes=attention_contract(separate=True))
class TestScaledDotProductAttention:
    """Four steps: scores for every query and key, the division, the softmax over the keys, the average of the values.
    Write the shape of what you have after each step beside it.

    The scores are Q times K with its last two axes swapped: (..., n_q, d_k) @ (..., d_k, n_k). `np.swapaxes(K, -1, -2)`
    does that for any number of batch axes. d_k is the size of the last axis.

    Divide before the softmax, by `np.sqrt(Q.shape[-1])`. The weights are what `softmax` makes of that, the output is
    the weights times V, and both are returned, output first.
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
        """as many queries as keys as entries"""
        Q, K = arrays_of([[1, 0, 2], [0, 3, 0], [-1, 1, 0.5]], [[2, 1, 0], [0, -1, 1], [1, 0.5, 1.5]])
        agrees.scaled_dot_product_attention(Q, K, np.array([[1, 10, 0], [2, -20, 1], [3, 30, -1]], dtype=float))

    @check(points=0.5, visible=True, after="test_all_sizes_different")
    def test_batch(self, agrees):
        """one batch axis, and two of them"""
        numbers = np.random.default_rng(33)
        for lead in ((2,), (3, 2)):
            Q = numbers.integers(-4, 5, size=(*lead, 3, 5)) / 2
            K = numbers.integers(-4, 5, size=(*lead, 4, 5)) / 2
            V = numbers.integers(-4, 5, size=(*lead, 4, 2)).astype(float)
            agrees.scaled_dot_product_attention(Q, K, V)

    @check(points=0.5, visible=True, after="test_all_sizes_different")
    def test_large_scores(self, agrees):
        """scores in the thousands give no nan, and neither do queries of very different size"""
        Q = np.array([[2000, 0, 1000, 0], [1, 2, 0, 0], [-3000, 0.5, -1000, 1], [0, 0, 0, 3000], [0, 3000, 0, 0]])
        K, V = arrays_of([[1, 0.5, 0, 0], [1, 0, 0.001, 0], [1.001, -1, -0.001, 2]], [[1, 2], [3, -4], [-5, 60]])
        agrees.scaled_dot_product_attention(Q, K, V)

    @check(points=0.5, after="test_all_sizes_different")
    @given(linked({"Q": "... n_q d_k", "K": "... n_k d_k", "V": "... n_k d_v"}, sides=(1, 5), batch=(0, 2)), examples=8)
    def test_any_sizes(self, agrees, Q, K, V):
        """any sizes, with and without batch axes"""
        agrees.scaled_dot_product_attention(Q, K, V)

    @check(points=0.25, after="test_all_sizes_different")
    def test_long_keys(self, student, reference, rng):
        """long keys and many of them; each query's weights add up to 1"""
        for n_q, n_k, d_k, d_v in ((7, 30, 64, 5), (4, 6, 256, 3), (5, 3, 2, 100), (16, 16, 16, 16)):
            Q, K, V = rng.normal(size=(n_q, d_k)), rng.normal(size=(n_k, d_k)), 10 * rng.normal(size=(n_k, d_v))
            right = reference.scaled_dot_product_attention(Q, K, V)
            found = student.scaled_dot_product_attention(Q, K, V)
            assert_matches(found, right)
            assert_sums_to_one(found[1], call="the weights of scaled_dot_product_attention(Q, K, V)", Q=Q, K=K, V=V)

    @check(points=0.25, after=("test_batch", "test_large_scores"))
    def test_large_scores_in_a_batch(self, agrees, rng):
        """a batch whose queries have scores thousands apart from one another"""
        Q, K, V = rng.normal(size=(2, 4, 3)), rng.normal(size=(2, 5, 3)), rng.normal(size=(2, 5, 6))
        K[..., 0] = 1.0  # the same for all keys: what Q has there moves all scores of a query alike
        Q[..., 0] = np.array([[9000.0, -9000.0, 2000.0, 0.0], [-3000.0, 500.0, 6000.0, -800.0]])
        agrees.scaled_dot_product_attention(Q, K, V)

    test_every_kind = all_categories(points=0.25, after="test_all_sizes_different")

    test_care = pure(points=0.25, after="test_small_example")


def some_rows(rng, *shape, empty=0.3):
    """Weights of the given shape; about ``empty`` of them exactly 0, every row adding up to 1."""
    parts = rng.uniform(0.1, 1, size=shape) * (rng.random(shape) >= empty)
    parts[..., 0] += parts.sum(axis=-1) == 0
    return parts / parts.sum(axis=-1, keepdims=True)


@exercise("attention_entropy", points=3, takes=Contract({"weights": weights("... n_q n_k")}))
class TestAttentionEntropy:
    """Begin with one row that has no zeros: each weight times its logarithm, added up, and the sign turned round. Then
    ask along which axis the sum goes when there are many rows.

    np.log(0) is -inf, and 0 * -inf is nan, not 0. It is simplest to never ask for that logarithm: what number may stand
    in for the 0 inside the log, when the result is multiplied by the weight 0 anyway?

    `np.where(weights > 0, weights, 1.0)` is a new array with ones in the place of zeros, and the logarithm of 1 is 0.
    The sum belongs to the last axis: `axis=-1`.
    """

    @check(points=0.5, visible=True)
    def test_without_zeros(self, agrees):
        """two queries and four keys, no weight 0"""
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
        """one batch axis, two queries, four keys"""
        first = [[0.5, 0.25, 0.25, 0.0], [0.1, 0.2, 0.3, 0.4]]
        second = [[1.0, 0.0, 0.0, 0.0], [0.0, 0.75, 0.25, 0.0]]
        agrees.attention_entropy(np.array([first, second, [[0.25, 0.25, 0.25, 0.25], [0.9, 0.1, 0.0, 0.0]]]))

    @check(points=0.5, after="test_small_example")
    @given(scores=arrays_nd(2, 4, elements=floats(-3, 3)))
    def test_any_shape(self, agrees, scores):
        """any number of queries, keys and batch axes; the lowest scores count as weight 0"""
        parts = np.where(scores > np.minimum(-1.5, scores.max(axis=-1, keepdims=True) - 1e-3), np.exp(scores), 0.0)
        agrees.attention_entropy(parts / parts.sum(axis=-1, keepdims=True))

    @check(points=0.25, after="test_small_example")
    def test_from_one_key_to_all(self, student):
        """equal weights on m of n keys have ln m, whichever keys they are"""
        n = 12
        weights = np.array([[1 / m if (7 * j + 5) % n < m else 0.0 for j in range(n)] for m in range(1, n + 1)])
        assert_matches(student.attention_entropy(weights), np.log(np.arange(1, n + 1)))

    @check(points=0.25, after="test_small_example")
    def test_order_of_the_keys(self, student, reference, rng):
        """the order of the keys does not matter"""
        weights = some_rows(rng, 5, 9)
        mixed = weights[:, rng.permutation(9)]
        right = reference.attention_entropy(weights)
        assert_matches(student.attention_entropy(weights), right)
        assert_matches(student.attention_entropy(mixed), right)

    @check(after="test_small_example")
    def test_tiny_weights(self, agrees):
        """weights too small to matter"""
        agrees.attention_entropy(np.array([[1.0, 1e-300, 0.0, 1e-290], [0.5, 0.5, 1e-200, 1e-20]]))

    test_every_kind = all_categories(points=0.25, after="test_small_example")

    test_care = pure(points=0.25, after="test_without_zeros")


@exercise("softmax_jacobian", points=3, takes=Contract({"p": weights("n")}))
class TestSoftmaxJacobian:
    """The result is one matrix minus another. The first has p on its diagonal and zeros elsewhere; the second has p[i]
    * p[j] at (i, j). Write both down for p = [0.5, 0.3, 0.2].

    NumPy makes a diagonal matrix of a vector with `np.diag`. For the second, p has to be a column once and a row once;
    for a plain vector `.T` changes nothing.

    `np.outer(a, b)` has a[i] * b[j] at (i, j). Both matrices have shape (n, n), and one is taken from the other.
    """

    @check(points=0.75, visible=True)
    def test_small_example(self, agrees):
        """the example worked by hand"""
        agrees.softmax_jacobian(np.array([0.5, 0.3, 0.2]))

    @check(points=0.5, visible=True, after="test_small_example")
    def test_two_weights(self, agrees):
        """two weights: what one gains the other loses"""
        for p in (np.array([0.5, 0.5]), np.array([0.9, 0.1])):
            agrees.softmax_jacobian(p)

    @check(points=0.25, visible=True, after="test_small_example")
    def test_all_on_one(self, student):
        """with all the weight on one key, nothing moves any more"""
        p = np.array([0.0, 1.0, 0.0, 0.0])
        assert_matches(student.softmax_jacobian(p), np.zeros((4, 4)))

    @check(points=0.75, after="test_small_example")
    @given(p=probabilities(1, 6))
    def test_any_weights(self, agrees, p):
        """any number of weights, some of them 0"""
        agrees.softmax_jacobian(p)

    @check(points=0.25, after="test_small_example")
    def test_against_measured_slopes(self, student, reference, rng):
        """it says what softmax really does when a score is moved a little"""
        scores = rng.normal(size=5)
        p = reference.softmax(scores)
        columns = [(reference.softmax(scores + e) - reference.softmax(scores - e)) / 2e-5 for e in 1e-5 * np.eye(5)]
        assert_matches(student.softmax_jacobian(p), np.stack(columns, axis=1))

    test_every_kind = all_categories(points=0.25, after="test_small_example")

    test_care = pure(points=0.25)


# What a check hands over as f. Cubes tell every step apart: for x**3 the two-point difference is 3 x**2 + eps**2, and
# with multiples of 1/4 all of it is exact in floating point, however the difference is written.
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


@exercise(
    "numerical_gradient",
    points=4,
    takes=Contract(
        {
            "f": among(SINES),
            "x": array("... n", low=-3, high=3, tiny=1e-3, float32=False),
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
    """Begin with one entry: an array like x with this entry eps higher, another with it eps lower, f of both, the
    difference over the distance. Then do the same for every entry.

    `y = x` is a second name for the same array; `x.copy()` is a new one. For arrays with any number of axes, `for i in
    np.ndindex(x.shape)` goes through all the places, and `x[i]` is a single number.

    Start from `np.zeros_like(x)` for the answer, before the loop. Inside, `step = np.zeros_like(x)` with `step[i] =
    eps` gives the two points x + step and x - step. The distance between them is 2 * eps: mind the parentheses when you
    divide by it.
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

    @check(points=0.5, visible=True, after="test_small_example")
    def test_one_entry_at_a_time(self, agrees):
        """entries that play different parts are moved one at a time"""
        agrees.numerical_gradient(FIRST_AND_LAST, np.array([3.0, -1.0, 2.0, 0.5]), eps=0.5)

    @check(points=0.25, visible=True, after="test_small_example")
    def test_step_of_its_own(self, agrees):
        """where no step is named it is small enough for waves"""
        agrees.numerical_gradient(WAVES, np.array([0.5, 2.0, -1.0]))

    @check(points=0.5, after="test_small_example")
    def test_step_as_given(self, agrees, rng):
        """the step is used as given, large or small, for entries of any size"""
        for eps in (0.25, 0.5, 1.0, 2.0):
            agrees.numerical_gradient(CUBES, rng.integers(-12, 13, size=5) / 4, eps=eps)

    @check(points=0.25, after="test_matrix")
    def test_three_axes(self, agrees, rng):
        """three axes and four, sizes different or equal, and functions that look at single entries"""
        for shape, f in (((2, 3, 4), THREE_SIZES), ((3, 3, 3), THREE_AXES)):
            agrees.numerical_gradient(f, rng.integers(-4, 5, size=shape) / 4, eps=0.5)
        for shape, f in (((2, 3), MIXED), ((3, 3), MIXED), ((2, 1, 2, 2), FOUR_AXES)):
            agrees.numerical_gradient(f, rng.integers(-8, 9, size=shape) / 4, eps=0.5)

    @check(points=0.25, after="test_small_example")
    def test_corners(self, agrees, rng):
        """functions with corners, where both points count"""
        for _ in range(2):
            agrees.numerical_gradient(SIZES, np.append(rng.integers(-8, 9, size=4) / 4, 0.125), eps=0.5)
        agrees.numerical_gradient(LARGEST, np.array([[1.0, 0.75], [-2.0, 0.5], [0.25, 1.0]]), eps=0.5)

    @check(points=0.25, after="test_corners")
    def test_unusual_functions(self, agrees, rng):
        """functions that jump, that do not see the size of x, and that are steep or nearly flat"""
        for eps in (0.5, 0.125):
            x = np.array([1, -1, 1, -1, 1]) * rng.integers(5, 12, size=5) / 16
            for f in (SHARE_OF_THE_LARGEST, ABOVE_ZERO, STEEP, NEARLY_FLAT):
                agrees.numerical_gradient(f, x, eps=eps)

    test_every_kind = all_categories(points=0.25, after="test_small_example")

    test_care = pure(points=0.5, after="test_small_example")


@exercise(
    "query_gradient",
    points=4,
    depends_on=("scaled_dot_product_attention", "softmax_jacobian"),
    takes=Contract(
        {
            name: array(shape, low=-limit, high=limit, tiny=1e-3, float32=False)
            for (name, shape), limit in zip(ONE_QUERY.items(), (30, 30, 10, 10), strict=True)
        },
        **rules_of_one_query(),
    ),
)
class TestQueryGradient:
    """The road from q to g . output has four stations: q, scores, weights, output. Walk it backwards: how does g .
    output answer to each weight, each weight to each score, each score to each entry of q?

    g . output is the sum of the weights times V @ g, so `V @ g` (one number for each key) is the first link. The second
    is your softmax_jacobian, at the weights. The third: scores are K @ q / sqrt(d_k).

    Each link is a product with a matrix, from right to left: the Jacobian times `V @ g` has shape (n_k,), and `K.T`
    times that has shape (d_k,). The division by sqrt(d_k) is in the scores, so the last link has it too.
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
        """as many keys as entries in a key, and values of that size too"""
        q, K = arrays_of([0.5, 1, -1], [[2, 1, 0], [0, -1, 1], [1, 0.5, 1.5]])
        V, g = arrays_of([[1, 10, 0], [2, -20, 1], [3, 30, -1]], [1, 0.5, -2])
        agrees.query_gradient(q, K, V, g)

    @check(points=0.5, visible=True, after="test_small_example")
    def test_equal_values(self, student):
        """where all the values are equal, no query changes the output"""
        q, K, V, g = arrays_of([1, -2], [[1, 0], [0, 1], [0.5, 2]], [[7, -3], [7, -3], [7, -3]], [1, 2])
        assert_matches(student.query_gradient(q, K, V, g), np.zeros(2))

    @check(visible=True, after="test_all_sizes_different")
    def test_scores_above_a_thousand(self, agrees):
        """scores above 1000 give no nan"""
        q, K = arrays_of([3000, 1, 0, 0], [[1, 0, 2, 1], [1.001, -1, 0, -1], [1.002, -3, 1, 0]])
        agrees.query_gradient(q, K, *arrays_of([[10, 0], [-20, 1], [30, 2]], [1, 0.5]))

    @check(points=0.5, after="test_small_example")
    @given(linked(ONE_QUERY, sides=(1, 5), elements=floats(-3, 3)), examples=10)
    def test_any_sizes(self, agrees, q, K, V, g):
        """any sizes"""
        agrees.query_gradient(q, K, V, g)

    @check(points=0.25, after="test_small_example")
    def test_against_measured_slopes(self, student, reference, rng):
        """it says what attention really does when the query is moved a little"""
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

    test_every_kind = all_categories(points=0.25, after="test_small_example")

    @check(after="test_all_sizes_different")
    def test_large_scores(self, agrees, rng):
        """scores in the thousands, whether one key has all the weight or several share it"""
        for first in (3000.0, -3000.0):
            q, K, V, g = rng.normal(size=4), rng.normal(size=(5, 4)), rng.normal(size=(5, 3)), rng.normal(size=3)
            q[0], K[:, 0] = first, 1.0
            agrees.query_gradient(q, K, V, g)
        q, K, V, g = 1000 * np.ones(4), rng.normal(size=(5, 4)), rng.normal(size=(5, 3)), rng.normal(size=3)
        K[2] += 3.0
        agrees.query_gradient(q, K, V, g)

    test_care = pure(points=0.5, after="test_small_example")


TestQuiz = quiz_ch3.checks()

"""The checks of chapter 2: where the weights come from."""

import numpy as np
from inputs import (
    FAR_APART,
    Contract,
    array,
    arrays_of,
    attention_contract,
    identity,
    of_a_product,
    the_same_batch,
)

from autograder.checking import (
    all_categories,
    assert_einsum,
    assert_matches,
    assert_shape,
    assert_string,
    assert_sums_to_one,
    check,
    exercise,
    floats,
    given,
    linked,
    pure,
)
from solutions.ch2_query_key_value import quiz_ch2

SELF, SQUARE = arrays_of([[1, 0, 2], [0, 3, 1], [-1, 1, 0]], [[1, 2, 0], [0, 1, 0], [0, 0, 3]])
EACH_ROW_ALIKE = np.array([[1.0] * 3, [-2.0] * 3, [5.0] * 3])
SEQUENCES = {"X_q": "... n_q d_model", "X_kv": "... n_k d_model"}
MATRICES = {"W_Q": "d_model d_k", "W_K": "d_model d_k", "W_V": "d_model d_v"}


def sequences(rng, batch, n_q, n_k, d_model, d_k, d_v):
    """Return two sequences and three matrices for `project_qkv`."""
    shapes = (*batch, n_q, d_model), (*batch, n_k, d_model), (d_model, d_k), (d_model, d_k), (d_model, d_v)
    return [rng.normal(size=shape) for shape in shapes]


def queries_keys_values(rng, batch, n_q, n_k, d_k, d_v):
    """Return queries, keys and values whose unscaled scores are a few units in size."""
    Q, K, V = (rng.normal(size=(*batch, *shape)) for shape in ((n_q, d_k), (n_k, d_k), (n_k, d_v)))
    return 2 * (Q / np.sqrt(d_k)), K, V


@exercise(
    "project_qkv",
    points=2,
    takes=Contract(
        {name: array(shape) for name, shape in (SEQUENCES | MATRICES).items()},
        categories=[identity(list(MATRICES), d_model=4, d_k=4, d_v=4)],
    ),
)
class TestProjectQKV:
    """You need three products, one for each array. Ask two questions about each: does it belong to X_q or to X_kv, and
    which matrix makes it?

    Positions are the rows of X, with their d_model entries along the last axis. A matrix of shape (d_model, d_k) turns
    each such row into a row of d_k entries: (n_q, d_model) @ (d_model, d_k) is (n_q, d_k).

    `X @ W` works for any number of batch axes in front of X, because W is a plain matrix. Queries come from X_q, and
    keys and values both come from X_kv. Return all three in that order, separated by commas.
    """

    @check(points=0.5, visible=True)
    def test_small_example(self, agrees):
        """the example worked by hand"""
        X_q, X_kv, W_Q, W_K = arrays_of([[1, 2]], [[1, 0], [0, 3]], [[1, 0, 1], [0, 1, 1]], [[2, 0, 0], [0, 1, 0]])
        agrees.project_qkv(X_q, X_kv, W_Q, W_K, np.array([[10.0], [1.0]]))

    @check(points=0.25, visible=True, after="test_small_example")
    def test_self_attention(self, agrees):
        """self-attention: both sequences are the same, with all sizes equal"""
        agrees.project_qkv(SELF, SELF, SQUARE, np.array([[0.0, 1.0, 0.0]] * 3), EACH_ROW_ALIKE)

    @check(points=0.25, visible=True, after="test_small_example")
    def test_two_sequences_of_one_size(self, agrees):
        """two sequences, with all sizes equal"""
        other = np.array([[2.0, 1.0, 0.0], [1.0, -1.0, 1.0], [0.0, 0.0, 4.0]])
        agrees.project_qkv(SELF, other, SQUARE, np.array([[0.0, 1.0, 2.0]] * 3), EACH_ROW_ALIKE)

    @check(points=0.25, visible=True, after="test_small_example")
    def test_a_batch(self, agrees):
        """a batch of two pairs of sequences, with the same three matrices for both, and the same with two batch axes"""
        X_q = np.array([[[1.0, 0.0], [2.0, 1.0], [0.0, 1.0]], [[0.0, -1.0], [3.0, 0.0], [1.0, 1.0]]])
        X_kv = np.array([[[1.0, 1.0], [0.0, 2.0]], [[4.0, 0.0], [0.0, 0.5]]])
        W_Q, W_K = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]]), np.array([[0.0, 1.0, 0.0], [1.0, 1.0, -1.0]])
        for X, other in ((X_q, X_kv), (X_q[:, None], X_kv[:, None])):
            agrees.project_qkv(X, other, W_Q, W_K, np.array([[1.0], [-1.0]]))

    @check(after="test_small_example")
    @given(linked(SEQUENCES | MATRICES, batch=(0, 2)), examples=5)
    def test_any_sizes(self, agrees, X_q, X_kv, W_Q, W_K, W_V):
        """random sizes, some with batch axes"""
        agrees.project_qkv(X_q, X_kv, W_Q, W_K, W_V)

    @check(points=0.25, after="test_small_example")
    def test_distinct_and_equal_sizes(self, agrees, rng):
        """sizes that all differ, sizes that are all the same, and tiny or nearly equal numbers"""
        cases = [((), (3, 4, 5, 6, 7)), ((2,), (3, 4, 5, 6, 7)), ((), (4, 4, 4, 4, 4)), ((4,), (4, 4, 4, 4, 4))]
        for batch, sizes in cases:
            agrees.project_qkv(*sequences(rng, batch, *sizes))
        # Tiny matrices that differ, and large sequences that differ little, are not the same.
        tiny = arrays_of([[1e-9], [2e-9]], [[-5e-9], [3e-9]], [[1], [-1]])
        X, other = arrays_of([[999_990, 999_990]], [[999_993, 999_990]])
        agrees.project_qkv(X, X, *tiny)
        agrees.project_qkv(X, other, *[tiny[-1]] * 3)
        agrees.project_qkv(*arrays_of([[1, 2]], [[1, 0], [0, 3]]), *[FAR_APART] * 3)
        # The matrices have equal shapes and sums.
        agrees.project_qkv(*arrays_of([[1, 2]], [[1, 2]], [[1, 0], [0, 1]], [[0, 1], [1, 0]], [[0, 0], [1, 1]]))

    test_every_kind = all_categories(points=0.25, after="test_small_example")

    test_care = pure(points=0.25, after="test_small_example")


@exercise(
    "attention_scores",
    points=2,
    takes=Contract(
        {"Q": array("... n_q d_k"), "K": array("... n_k d_k")},
        categories=[*of_a_product("Q", "K", "d_k"), the_same_batch("Q", "K")],
    ),
)
class TestAttentionScores:
    """For plain matrices this is `pairwise_dot` from chapter 0 with other names. Solve the example first, then think of
    the batch.

    With batch axes, K has the shape (..., n_k, d_k), but `@` needs (..., d_k, n_k) on its right side. Swap only the
    last two axes, and keep the others in front. What does `.T` do to an array with three axes? Print a shape to find
    out.

    `np.swapaxes(K, i, j)` swaps two axes that you name. You can count axes from the end: the last is -1. `@` then goes
    through all the batch axes by itself.
    """

    @check(points=0.5, visible=True)
    def test_small_example(self, student, reference):
        """the example worked by hand"""
        Q, K = np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([[3.0, 0.0], [1.0, 2.0], [0.0, 4.0]])
        found = student.attention_scores(Q, K)
        assert_shape(found, (2, 3))
        assert_matches(found, reference.attention_scores(Q, K))

    @check(points=0.25, visible=True, after="test_small_example")
    def test_all_sizes_equal(self, agrees):
        """as many queries as keys, and as many entries in each of them"""
        agrees.attention_scores(*arrays_of([[1, 2, 0], [0, 1, -3], [2, 0, 1]], [[1, 1, 4], [-2, 1, 0], [0, 5, 1]]))

    @check(points=0.5, visible=True, after="test_small_example")
    def test_a_batch(self, agrees):
        """a batch: each entry's queries meet that entry's keys, with one batch axis or two"""
        Q, K = arrays_of([[[1, 0], [2, 1]], [[0, -1], [3, 0]]], [[[1, 1], [0, 2], [4, 0]], [[1, 0], [2, 5], [0, 0.5]]])
        agrees.attention_scores(Q, K)
        agrees.attention_scores(Q[:, None], K[:, None])

    @check(after="test_small_example")
    @given(linked({"Q": "... n_q d_k", "K": "... n_k d_k"}, batch=(0, 2)), examples=5)
    def test_any_sizes(self, agrees, Q, K):
        """random sizes, some with batch axes"""
        agrees.attention_scores(Q, K)
        agrees.attention_scores(np.stack([Q, -Q]), np.stack([K, 2 * K]))  # at least once with one batch axis

    @check(points=0.25, after="test_small_example")
    def test_distinct_and_equal_sizes(self, agrees, rng):
        """sizes that all differ, sizes that are all the same, and small or large scores"""
        cases = [((), 3, 4, 5), ((), 4, 4, 4), ((2,), 3, 4, 5), ((4,), 4, 4, 4), ((2, 3), 4, 5, 6), ((3, 3), 3, 3, 3)]
        for batch, n_q, n_k, d_k, largest in [*((*case, 4.0) for case in cases), ((), 5, 6, 64, 2000.0)]:
            Q = rng.normal(size=(*batch, n_q, d_k))
            K = rng.normal(size=(*batch, n_k, d_k))
            scores = Q @ np.swapaxes(K, -1, -2)
            agrees.attention_scores(Q * largest / scores.flat[np.abs(scores).argmax()], K)
        agrees.attention_scores(*rng.uniform(1e-3, 3e-3, size=(2, 3, 2)))  # scores of a few millionths
        # Next to a score above 1e11, ordinary scores still count. Whole numbers have no rounding errors.
        agrees.attention_scores(*arrays_of([[4e5, 2e5], [1, 2]], [[3e5, -1e5], [2, 1], [-1, 3]]))

    test_every_kind = all_categories(points=0.25, after="test_small_example")

    test_care = pure(points=0.25, after="test_small_example")


IN_ANOTHER_ORDER = """
import numpy as np

def probe(dot_product_attention, Q, K, V, order):
    output, weights = dot_product_attention(Q, K, V)
    moved_output, moved_weights = dot_product_attention(Q, K[order], V[order])
    return moved_output - np.asarray(output), moved_weights - np.asarray(weights)[..., order]
"""


@exercise("dot_product_attention", points=4, depends_on=("attention_scores",), takes=attention_contract(scaled=False))
class TestDotProductAttention:
    """This is `soft_lookup` from chapter 1 for many queries at once: scores, weights, mix. You have a function for the
    first step, and the notebook gives you `softmax` for the second.

    The scores have the shape (..., n_q, n_k), with a row for each query. A query divides its attention among the keys,
    so each row adds up to 1. The mix then makes (..., n_q, n_k) and (..., n_k, d_v) into (..., n_q, d_v). The size in
    the middle is summed over.

    `softmax` uses the last axis by default, and that is the keys' axis. The mix is a plain product, with the weights on
    the left and the values on the right. Return the output first, then the weights.
    """

    @check(points=0.5, visible=True)
    def test_small_example(self, agrees):
        """the example worked by hand"""
        Q, K, V = arrays_of([[1, 1], [0, 0]], [[2, 0], [0, 0], [0, 1]], [[10, 0], [20, 0], [0, 10]])
        agrees.dot_product_attention(Q, K, V)

    @check(points=0.5, visible=True, after="test_small_example")
    def test_all_sizes_equal(self, student, reference):
        """all sizes equal"""
        Q, K = arrays_of([[1, 2, 0], [0, 1, -1], [0.5, 0, 1]], [[1, 0, 2], [-1, 1, 0], [0, 1.5, 1]])
        V = np.array([[1, 0, 5], [0, 2, 0], [-3, 1, 4]], dtype=float)
        output, weights = student.dot_product_attention(Q, K, V)
        right_output, right_weights = reference.dot_product_attention(Q, K, V)
        assert_sums_to_one(weights, call="weights of dot_product_attention(Q, K, V)", Q=Q, K=K, V=V)
        assert_matches(weights, right_weights, call="weights of dot_product_attention(Q, K, V)", Q=Q, K=K, V=V)
        assert_matches(output, right_output, call="output of dot_product_attention(Q, K, V)", Q=Q, K=K, V=V)

    @check(points=0.5, visible=True, after="test_small_example")
    def test_a_batch(self, agrees):
        """a batch: each entry's queries look at that entry's keys and values, with one batch axis or two"""
        Q, K = arrays_of([[[1, 0], [2, 1]], [[0, -1], [1, 0]]], [[[1, 1], [0, 2], [1, 0]], [[1, 0], [2, 1], [0, 0.5]]])
        V = np.array([[[1], [2], [4]], [[-1], [0], [8]]], dtype=float)
        agrees.dot_product_attention(Q, K, V)
        agrees.dot_product_attention(Q[:, None], K[:, None], V[:, None])
        agrees.dot_product_attention(*(np.stack([array, 1 - 2 * array]) for array in (Q, K, V)))

    @check(points=0.5, visible=True, after="test_small_example")
    def test_large_scores(self, agrees):
        """scores in the thousands for one query, and small ones for the next"""
        Q, K = arrays_of([[1000, 2], [1, 0.5], [0, 3000]], [[1, 0], [1, 0.5], [-1, 1], [1, -1]])
        agrees.dot_product_attention(Q, K, np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9], [-1, -2, -3]], dtype=float))

    @check(points=0.5, after="test_small_example")
    @given(
        linked({"Q": "... n_q d_k", "K": "... n_k d_k", "V": "... n_k d_v"}, batch=(0, 2), elements=floats(-3, 3)),
        examples=5,
    )
    def test_any_sizes(self, agrees, Q, K, V):
        """random sizes, some with batch axes"""
        agrees.dot_product_attention(Q, K, V)

    @check(points=0.5, after="test_small_example")
    def test_distinct_and_equal_sizes(self, agrees, rng):
        """sizes that all differ, sizes that are all the same, batch axes included, and many long keys"""
        cases = [((), 3, 4, 5, 6), ((2,), 3, 4, 5, 6), ((), 4, 4, 4, 4), ((4,), 4, 4, 4, 4), ((2, 3), 5, 4, 6, 7)]
        for batch, *sizes in (*cases, ((), 7, 30, 64, 5), ((3, 3), 3, 3, 3, 3)):
            agrees.dot_product_attention(*queries_keys_values(rng, batch, *sizes))
        agrees.dot_product_attention(*arrays_of([[1, 0.5]], [[1, 0], [0, 1]]), FAR_APART)

    @check(points=0.25, after="test_small_example")
    def test_keys_in_another_order(self, student, rng):
        """if keys and values are shuffled together, the output stays the same and the weights are shuffled too"""
        Q, K, V = queries_keys_values(rng, (), 3, 5, 4, 6)
        order = rng.permutation(5)
        output, weights = student.measure(IN_ANOTHER_ORDER, "dot_product_attention", Q, K, V, order)
        given = {"Q": Q, "K": K, "V": V, "shuffled": order}
        call = "the change of the output of dot_product_attention if keys and values are shuffled together,"
        assert_matches(output, np.zeros((3, 6)), call=call, **given)
        call = "the difference between the weights for shuffled keys and values and the shuffled weights"
        assert_matches(weights, np.zeros((3, 5)), call=call, **given)

    @check(points=0.25, after=("test_a_batch", "test_large_scores"))
    def test_large_scores_in_a_batch(self, agrees, rng):
        """scores of very different size in one batch, all positive or all negative"""
        Q, K, V = queries_keys_values(rng, (2, 3), 4, 5, 3, 2)
        level = np.linspace(-3000, 3000, 2 * 3 * 4).reshape(2, 3, 4, 1)
        # One more entry in each query and key moves all the scores of a query by `level`, which no weight depends on.
        Q, K = np.concatenate([Q, level], axis=-1), np.concatenate([K, np.ones((2, 3, 5, 1))], axis=-1)
        agrees.dot_product_attention(Q, K, V)

    test_every_kind = all_categories(points=0.25, after="test_small_example")

    test_care = pure(points=0.25, after="test_small_example")


@exercise("einsum_attention", points=2, answers=("SCORES_EQ", "MIX_EQ"))
class TestEinsumAttention:
    """Write each array's shape in words below its name, and give every different size its own letter. Two axes of
    different arrays get the same letter if they belong together.

    For the scores: Q has queries and features, K has keys and features, and the scores have queries and keys. The
    features are in both arrays but not in the result, so they are summed over.

    An equation consists of the letters of the first array, a comma, the letters of the second, `->`, and the letters of
    the result. For the mix, the weights have queries and keys, and V has keys and features of values. The output has
    queries and features of values. Which letter do you leave out after the arrow?
    """

    @check(visible=True)
    def test_scores_equation_is_there(self, student):
        """SCORES_EQ is a string"""
        assert_string(student["SCORES_EQ"])

    @check(visible=True)
    def test_mix_equation_is_there(self, student):
        """MIX_EQ is a string"""
        assert_string(student["MIX_EQ"])

    @check(points=0.5, visible=True, after="test_scores_equation_is_there")
    def test_scores_example(self, student):
        """SCORES_EQ gives the scores of the example"""
        Q, K = np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([[3.0, 0.0], [1.0, 2.0], [0.0, 4.0]])
        assert_einsum(student["SCORES_EQ"], Q @ K.T, Q=Q, K=K)

    @check(points=0.5, visible=True, after="test_mix_equation_is_there")
    def test_mix_example(self, student):
        """MIX_EQ mixes the values of an example"""
        weights, V = arrays_of([[0.5, 0.5, 0], [0.25, 0.25, 0.5]], [[10, 0, 2, 4], [20, 0, 4, 8], [0, 10, 6, 0]])
        assert_einsum(student["MIX_EQ"], weights @ V, weights=weights, V=V)

    @check(points=0.5, after="test_scores_example")
    def test_scores_of_any_size(self, student, rng):
        """SCORES_EQ gives the scores, whatever the sizes"""
        for n_q, n_k, d_k in ((3, 4, 5), (4, 4, 4), (5, 3, 2)):
            Q, K = rng.normal(size=(n_q, d_k)).round(2), rng.normal(size=(n_k, d_k)).round(2)
            assert_einsum(student["SCORES_EQ"], Q @ K.T, Q=Q, K=K)

    @check(points=0.5, after="test_mix_example")
    def test_mix_of_any_size(self, student, rng):
        """MIX_EQ mixes the values, whatever the sizes"""
        for n_q, n_k, d_v in ((3, 4, 5), (4, 4, 4), (5, 3, 2)):
            parts, V = rng.uniform(0.1, 1, size=(n_q, n_k)), rng.normal(size=(n_k, d_v)).round(2)
            weights = parts / parts.sum(axis=1, keepdims=True)
            assert_einsum(student["MIX_EQ"], weights @ V, weights=weights, V=V)


TestQuiz = quiz_ch2.checks()

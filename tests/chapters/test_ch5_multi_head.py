"""The checks of chapter 5: many lookups at once."""

import inspect

import heatmap
import matplotlib as mpl
import numpy as np
from inputs import (
    FAR_APART,
    Contract,
    array,
    arrays_of,
    attend,
    masked_score_kinds,
    moved_weights,
    never_empty,
    other_first,
    settled_with_a_mask,
    weights,
)

from autograder.checking import (
    CheckFailed,
    InputCategory,
    all_categories,
    among,
    assert_matches,
    check,
    exercise,
    given,
    linked,
    mask,
    order,
    pure,
    size,
)
from solutions.ch5_multi_head import quiz_ch5

mpl.use("Agg")  # the references draw on the machine that runs the checks, which may have no screen

LOOK = inspect.getsource(heatmap)
LOOK_WITH_AXES = f"{LOOK}\n\nprobe = probe_with_axes\n"
LOOK_AGAIN = f"{LOOK}\n\nprobe = probe_again\n"


def softened(rng, *shape):
    """Return random weights of this shape: positive, with rows that add up to 1, and no two equal."""
    weights = rng.gamma(0.8, size=shape) + 0.01
    return weights / weights.sum(axis=-1, keepdims=True)


@exercise("split_heads", points=3, takes=Contract({"X": array("... n h*d"), "h": size("h")}))
class TestSplitHeads:
    """Take the example's 3 rows of 4 numbers and write down by hand what each head gets. Which numbers of a row stay
    together, and how many are there?

    There are two steps. First cut each row into h pieces of d numbers: a reshape can split the last axis into two. The
    shape is then (…, n, h, d). What is still in the wrong order?

    `*batch, n, width = X.shape` gives you the sizes, however many batch axes there are. After the reshape, swap the
    axes of positions and heads with `np.swapaxes`. Count both from the right: -2 and -3.
    """

    @check(points=0.5, visible=True)
    def test_small_example(self, agrees):
        """the example worked by hand"""
        agrees.split_heads(np.arange(1.0, 13.0).reshape(3, 4), 2)

    @check(points=0.5, visible=True, after="test_small_example")
    def test_three_heads(self, agrees):
        """two positions, three heads of four columns"""
        agrees.split_heads(np.arange(24.0).reshape(2, 12), 3)

    @check(points=0.5, visible=True, after="test_small_example")
    def test_batch_axes(self, agrees):
        """a batch of two sequences, and two batch axes, also with a single head"""
        agrees.split_heads(np.arange(36.0).reshape(2, 3, 6), 3)
        agrees.split_heads(np.arange(48.0).reshape(2, 2, 2, 6), 3)
        agrees.split_heads(np.arange(24.0).reshape(2, 1, 2, 6) / 4, 1)

    @check(points=0.25, after="test_three_heads")
    def test_every_size_the_same(self, agrees, rng):
        """equal numbers of heads, positions and columns per head, with and without a batch"""
        for shape in ((3, 9), (3, 3, 9), (3, 3, 3, 9)):
            X = rng.normal(size=shape).round(2)
            for h in (3, 1, 9):
                agrees.split_heads(X, h)
        agrees.split_heads(other_first(X), 9)
        agrees.split_heads(FAR_APART, 2)

    @check(points=0.5, after="test_batch_axes")
    @given(linked({"heads": "... h n d"}, batch=(0, 2)), examples=5)
    def test_any_sizes(self, student, reference, heads):
        """random sizes and batch axes"""
        X, h = reference.merge_heads(heads), heads.shape[-3]
        assert_matches(student.split_heads(X, h), heads)

    test_every_kind = all_categories(points=0.5, after="test_batch_axes")

    test_care = pure(points=0.25, after="test_small_example")


# The array in Fortran order has the positions first. A solution that swaps heads and positions gets this array again.
IN_ANOTHER_ORDER = """
import numpy as np

def probe(merge_heads, O):
    return merge_heads(np.swapaxes(np.asfortranarray(np.swapaxes(O, -2, -3)), -2, -3))
"""


@exercise("merge_heads", points=3, takes=Contract({"O": array("... h n d")}))
class TestMergeHeads:
    """Run `split_heads` backwards in your mind. What did it do last? Undo that first.

    In (…, h, n, d) the heads come before the positions. A row of the result belongs to one position, so positions
    should come first. Only then can heads and columns become one axis.

    `np.swapaxes(O, -2, -3)` has the shape (…, n, h, d). A reshape to `(*batch, n, h * d)` combines the last two axes.
    """

    @check(points=0.5, visible=True)
    def test_small_example(self, agrees):
        """the example worked by hand"""
        heads = np.array([[[1.0, 2.0], [5.0, 6.0], [9.0, 10.0]], [[3.0, 4.0], [7.0, 8.0], [11.0, 12.0]]])
        agrees.merge_heads(heads)

    @check(points=0.5, visible=True, after="test_small_example")
    def test_back_to_where_it_was(self, student, reference):
        """merging undoes the split"""
        X = np.arange(24.0).reshape(2, 12)
        heads = reference.split_heads(X, 3)
        assert_matches(student.merge_heads(heads), X)

    @check(points=0.5, visible=True, after="test_small_example")
    def test_batch_axes(self, agrees):
        """a batch of two sequences, and two batch axes, also with a single head"""
        agrees.merge_heads(np.arange(36.0).reshape(2, 3, 3, 2))
        agrees.merge_heads(np.arange(48.0).reshape(2, 2, 3, 2, 2))
        agrees.merge_heads(np.arange(24.0).reshape(2, 1, 1, 4, 3) / 4)

    @check(points=0.25, after="test_back_to_where_it_was")
    def test_every_size_the_same(self, agrees, student, reference, rng):
        """equal numbers of heads, positions and columns per head, with and without a batch, and arrays in another memory order"""
        for shape in (
            (3, 3, 3),
            (3, 3, 3, 3),
            (3, 3, 3, 3, 3),
            (3, 1, 3, 3),
            (3, 3, 1, 3),
            (3, 3, 3, 1),
            (2, 3, 1, 3, 2),
        ):
            agrees.merge_heads(rng.normal(size=shape).round(2))
        heads = rng.normal(size=(2, 3, 4)).round(2)
        agrees.merge_heads(heads)
        agrees.merge_heads(other_first(heads))
        agrees.merge_heads(FAR_APART[..., None])
        found = student.measure(IN_ANOTHER_ORDER, "merge_heads", heads)
        assert_matches(
            found, reference.merge_heads(heads), call="merge_heads(O) for an O in another order in memory", O=heads
        )

    @check(points=0.5, after="test_batch_axes")
    @given(linked({"heads": "... h n d"}, batch=(0, 2)), examples=5)
    def test_any_sizes(self, agrees, heads):
        """random sizes and batch axes"""
        agrees.merge_heads(heads)

    test_every_kind = all_categories(points=0.5, after="test_batch_axes")

    test_care = pure(points=0.25, after="test_small_example")


def layer(rng, n_q, n_k, d_model, h, d_k, d_v, batch=(), dtype=np.float64):
    """Return two random sequences and the four matrices. Scores stay between -4 and 4, as the contract of a mask requires."""
    sequences = {"X_q": (*batch, n_q, d_model), "X_kv": (*batch, n_k, d_model)}
    matrices = {"W_Q": (d_model, h * d_k), "W_K": (d_model, h * d_k), "W_V": (d_model, h * d_v)}
    shapes = {**sequences, **matrices, "W_O": (h * d_v, d_model)}
    inputs = {name: rng.uniform(-1, 1, size=shape).round(2).astype(dtype) for name, shape in shapes.items()}
    Q, K = inputs["X_q"] @ inputs["W_Q"], inputs["X_kv"] @ inputs["W_K"]
    # |score| <= |q| |k| / sqrt(d_k), and a head's part of a row is at most as long as the whole row.
    longest = np.linalg.norm(Q, axis=-1).max() * np.linalg.norm(K, axis=-1).max() / np.sqrt(d_k)
    inputs["W_Q"] *= dtype(min(1.0, 2.4 / longest))
    return inputs


def moved(inputs, h, level):
    """Return the same inputs with ``level`` added to every score. X gets one more feature, always 1, and each head a column for it."""
    wider = {name: np.pad(inputs[name], ((0, 0), (0, 1)), constant_values=1.0) for name in ("X_q", "X_kv")}
    return wider | moved_weights(inputs, h, level)


def allowed(rng, *shape):
    """Return a random mask with at least one allowed key in every row."""
    return never_empty(rng.random(shape) < 0.5)


SMALL = arrays_of(  # X_q, X_kv, W_Q, W_K, W_V, W_O
    [[1, 0, 2], [0, -1, 1]],
    [[1, 1, 0], [-1, 0, 1], [0, 2, 1], [0.5, 0, -1]],
    [[0.5, 0, -1, 0.5], [0, 1, 0.5, 0], [-0.5, 0.5, 0, 1]],
    [[1, 0.5, 0, -0.5], [0, -1, 1, 0.5], [0.5, 0, 0.5, -1]],
    [[1, 0, 2, 0, 0, 1], [0, 1, 0, -1, 1, 0], [3, 0, 0, 1, -2, 0]],
    [[1, 0, 0], [0, 2, 0], [0, 0, -1], [1, 1, 0], [0, 0.5, 0], [0, 1, 3]],
)


def head_scores(values):
    """Return the scaled scores of every head."""
    h = values["h"]
    Q, K = (
        np.swapaxes((values[X] @ values[W]).reshape(*values[X].shape[:-1], h, -1), -2, -3)
        for X, W in (("X_q", "W_Q"), ("X_kv", "W_K"))
    )
    return Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])


def moved_head_scores(values, level):
    """Return the same inputs with ``level`` added to each row of scores, by the same amount in every head."""
    matrices = {name: values[name].copy() for name in ("W_Q", "W_K")}
    width = matrices["W_Q"].shape[1] // values["h"]
    if width == 1 or len(matrices["W_Q"]) == 1:
        return None
    for W in matrices.values():  # the last feature goes to the last column of each head, and nothing else does
        W[-1] = 0.0
        W[:, width - 1 :: width] = 0.0
        W[-1, width - 1 :: width] = 1.0
    X_q, X_kv = values["X_q"].copy(), values["X_kv"].copy()
    X_q[..., -1] = np.broadcast_to(level, head_scores(values).shape[:-1])[..., 0, :] * np.sqrt(width)
    X_kv[..., -1] = 1.0
    return {**values, **matrices, "X_q": X_q, "X_kv": X_kv}


def first_two_features(values):
    """Return the same inputs, with the first two features as the queries and keys of every head."""
    found = {name: values[name].copy() for name in ("X_q", "W_Q", "W_K")}
    width = found["W_Q"].shape[1] // values["h"]
    if width == 1:
        return None
    found["W_Q"][:] = found["W_K"][:] = 0.0
    for feature, share in enumerate((1 / 3, 0.7)):  # rounding to float32 changes their ratio
        found["W_Q"][feature, feature::width] = share
        found["W_K"][feature, feature::width] = 1.0
        found["X_q"][..., feature] /= share
    return {**values, **found}


@exercise(
    "multi_head_attention",
    points=6,
    depends_on=("split_heads", "merge_heads"),
    takes=Contract(
        {
            "X_q": array("... n_q d_model"),
            "X_kv": array("... n_k d_model"),
            "W_Q": array("d_model h*d_k"),
            "W_K": array("d_model h*d_k"),
            "W_V": array("d_model h*d_v"),
            "W_O": array("h*d_v d_model"),
            "h": size("h"),
            "mask": mask("... h n_q n_k", default=True),
        },
        categories=masked_score_kinds(head_scores, moved_head_scores, names=("X_q", "X_kv"), plain=first_two_features),
        constrain=settled_with_a_mask(head_scores, names=("W_Q", "W_K")),
    ),
)
class TestMultiHeadAttention:
    """You have all the parts: three projections, `split_heads`, `masked_attention`, `merge_heads`, and one more matrix.
    Put them in the order of the five steps above, and write the shape next to each line.

    `masked_attention` takes any number of axes in front of the last two, and computes a separate attention for each
    place along these axes. After `split_heads` the heads are such an axis, so all of them run in one call, mask
    included.

    Q comes from X_q, K and V from X_kv. Split each of the three into heads right after its projection.
    `masked_attention` returns a pair. Merge the first part and multiply it by W_O from the right, and return the second
    part as it is.
    """

    @check(points=0.5, visible=True)
    def test_small_example(self, agrees):
        """the example worked by hand"""
        X_q, X_kv, W_Q, W_V = (np.eye(2) for _ in range(4))
        W_K, W_O = arrays_of([[3, 0], [0, 0]], [[1, 0], [2, 1]])
        agrees.multi_head_attention(X_q, X_kv, W_Q, W_K, W_V, W_O, 2)

    @check(points=0.75, visible=True, after="test_small_example")
    def test_heads_of_several_columns(self, agrees):
        """two sequences, two heads with d_k = 2 and d_v = 3 or 1, and a single head"""
        agrees.multi_head_attention(*SMALL, 2)
        *before, W_V, W_O = SMALL
        agrees.multi_head_attention(*before, W_V[:, :2].copy(), W_O[:2], 2)
        agrees.multi_head_attention(*SMALL, 1)

    @check(points=0.5, visible=True, after="test_heads_of_several_columns")
    def test_a_mask_for_all_heads(self, agrees):
        """a causal mask, the same for every head"""
        X, _, *matrices = SMALL
        agrees.multi_head_attention(X, X.copy(), *matrices, 2, np.array([[True, False], [True, True]]))

    @check(points=0.5, visible=True, after="test_a_mask_for_all_heads")
    def test_a_mask_for_each_head(self, agrees):
        """a mask that differs from head to head"""
        mask = np.array([[[1, 1, 0, 0], [0, 1, 1, 1]], [[0, 0, 1, 1], [1, 0, 0, 1]]], dtype=bool)
        agrees.multi_head_attention(*SMALL, 2, mask)

    @check(points=0.5, visible=True, after="test_heads_of_several_columns")
    def test_a_batch(self, agrees):
        """two pairs of sequences, with one batch axis or two, and a mask of shape (B, 1, n_q, n_k)"""
        X_q, X_kv, *matrices = SMALL
        sequences = np.stack([X_q, X_q[::-1] - 0.5]), np.stack([X_kv, 0.5 * X_kv + 0.25])
        agrees.multi_head_attention(*sequences, *matrices, 2)
        agrees.multi_head_attention(*(X[:, None] for X in sequences), *matrices, 2)
        mask = np.array([[[[1, 1, 1, 0], [0, 1, 0, 1]]], [[[1, 0, 0, 0], [1, 1, 0, 1]]]], dtype=bool)
        agrees.multi_head_attention(*sequences, *matrices, 2, mask)

    @check(visible=True, after="test_a_mask_for_all_heads")
    def test_scores_near_a_thousand(self, agrees):
        """one head with scores near 1000, one with scores near -1000, and some of them forbidden"""
        X_q, X_kv, W_Q, W_K = arrays_of(
            [[1, 0], [1, 2]], [[1, 0], [1, 1], [1, 2]], [[1, 1], [0, 0]], [[998, -998], [-1, 1]]
        )
        W_V, W_O = arrays_of([[1, 2], [3, -1]], [[1, 0], [2, 1]])
        mask = np.array([[1, 1, 0], [0, 1, 1]], dtype=bool)
        agrees.multi_head_attention(X_q, X_kv, W_Q, W_K, W_V, W_O, 2, mask)

    @check(points=0.75, after="test_heads_of_several_columns")
    def test_any_sizes(self, agrees, rng):
        """three or more heads, all sizes different, with and without a batch"""
        cases = (4, 5, 7, 3, 2, 6, ()), (5, 3, 10, 4, 6, 2, (2,)), (2, 6, 5, 3, 4, 1, (2, 3))
        for n_q, n_k, d_model, h, d_k, d_v, batch in cases:
            agrees.multi_head_attention(*layer(rng, n_q, n_k, d_model, h, d_k, d_v, batch).values(), h)

    @check(points=0.5, after="test_heads_of_several_columns")
    def test_equal_sizes(self, agrees, rng):
        """equal sizes, so that swapped axes cause no error, and one array for both sequences"""
        for n, d_model, batch in ((3, 9, ()), (3, 3, ()), (3, 9, (3,)), (3, 9, (3, 3))):
            inputs = layer(rng, n, n, d_model, 3, 3, 3, batch).values()
            agrees.multi_head_attention(*inputs, 3)
        agrees.multi_head_attention(*inputs, 9)  # the same arrays in more heads
        X, _, *matrices = layer(rng, 4, 4, 6, 3, 2, 2, (2,)).values()
        for h in (3, 1):  # one array for both sequences, with a batch
            agrees.multi_head_attention(X, X, *matrices, h)
            agrees.multi_head_attention(X, X, *matrices, h, allowed(rng, 4, 4))
        agrees.multi_head_attention(X, X, matrices[0], matrices[0], *matrices[2:], 3, None)
        # One weight is 5e-7, and its value is large enough to count.
        tiny_weight = arrays_of([[1, 0]], [[1, 0], [0, 900]], [[1], [0]], [[14.5], [0]], [[1], [1000]], [[1, -1]])
        agrees.multi_head_attention(*tiny_weight, 1)
        X, two = np.array([[1.0, 0.5, 0.0, 0.0]]), np.eye(4, 2)
        agrees.multi_head_attention(X, np.eye(2, 4), two, two, two, FAR_APART, 1)

    @check(points=0.75, after=("test_a_mask_for_each_head", "test_a_batch"))
    def test_masks_of_many_shapes(self, agrees, rng):
        """one mask for everything, for each head, for each sequence or for each key"""
        for n_q, n_k, h, batch in ((4, 4, 3, ()), (3, 3, 3, (3,)), (2, 5, 3, (2, 4))):
            inputs = layer(rng, n_q, n_k, 6, h, 2, 4, batch).values()
            for shape in ((n_q, n_k), (h, n_q, n_k), (1, n_k), (n_k,), (h, 1, n_k)):
                agrees.multi_head_attention(*inputs, h, allowed(rng, *shape))
            X_q, X_kv, *matrices = inputs
            agrees.multi_head_attention(X_q[..., :1, :], X_kv, *matrices, h)  # a single query
            agrees.multi_head_attention(X_q[..., :1, :], X_kv, *matrices, h, allowed(rng, 1, n_k))
            if batch:
                for shape in ((*batch, 1, n_q, n_k), (*batch, 1, 1, n_k), (*batch, h, n_q, n_k), (h, n_q, n_k)):
                    agrees.multi_head_attention(*inputs, h, allowed(rng, *shape))
                agrees.multi_head_attention(X_q[:1], X_kv[:1], *matrices, h, allowed(rng, n_q, n_k))  # a batch of 1
        # More queries than a block of 128, with one mask for all of them.
        agrees.multi_head_attention(*layer(rng, 150, 3, 2, 2, 1, 2).values(), 2, allowed(rng, 1, 3))

    @check(points=0.5, after=("test_heads_of_several_columns", "test_a_mask_for_all_heads"))
    def test_large_scores(self, reference, agrees, rng):
        """scores above 709, whose exp is too large for any float, and masked scores near 1000 and -1000"""
        inputs = layer(rng, 3, 4, 5, 3, 2, 4)
        Q, K = (reference.split_heads(inputs[X] @ inputs[W], 3) for X, W in (("X_q", "W_Q"), ("X_kv", "W_K")))
        scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(2)
        inputs["W_K"] = inputs["W_K"] * 2000 / scores.flat[np.abs(scores).argmax()]  # the largest in size becomes 2000
        agrees.multi_head_attention(*inputs.values(), 3)
        mask = np.array([[1, 1, 0, 1], [0, 1, 1, 0], [0, 0, 1, 0]], dtype=bool)
        # With 256 columns, a forbidden product that is set to -10 000 becomes -625 after the division.
        for level, h, d_k in ((-997.0, 3, 3), (997.0, 3, 3), (-997.0, 1, 255)):
            agrees.multi_head_attention(*moved(layer(rng, 3, 4, 5, h, d_k, 4), h, level).values(), h, mask)

    test_every_kind = all_categories(points=0.5, after=("test_a_mask_for_each_head", "test_a_batch"))

    test_care = pure(points=0.25, after="test_small_example")


@exercise(
    "head_contributions",
    points=3,
    depends_on=("split_heads", "merge_heads"),
    takes=Contract(
        {"O": array("h n_q d_v", low=-1000, high=1000), "W_O": array("h*d_v d_model", low=-1000, high=1000)}
    ),
)
class TestHeadContributions:
    """A merged row is [head 0's numbers, head 1's numbers, …]. To multiply it by W_O, multiply its first number
    by the first row of W_O, its second by the second row, and so on, and add up the results. Which rows of W_O belong
    to head 0's numbers?

    Head i has the places i · d_v to (i + 1) · d_v - 1 of the merged row. So exactly these rows of W_O belong to it. Its
    part is its own matrix times that block of rows.

    A reshape of W_O to (h, d_v, d_model) cuts it into the blocks, in order, and `@` then multiplies head by head. A
    loop over heads with slices works just as well.
    """

    @check(points=0.5, visible=True)
    def test_small_example(self, agrees):
        """the example worked by hand"""
        agrees.head_contributions(*arrays_of([[[1]], [[10]]], [[1, 2, 3], [4, 5, 6]]))

    @check(points=0.75, visible=True, after="test_small_example")
    def test_heads_of_several_columns(self, agrees):
        """three heads of two columns, four positions, one head with only zeros, and a single head"""
        first, last = arrays_of([[1, 2], [0, -1], [3, 0], [0.5, 0.5]], [[-2, 1], [4, 0], [0, 1], [1, -3]])
        W_O = [1, 0, 2, 0, -1], [0, 1, 0, 3, 0], [5, 0, 0, 1, 1], [0, -2, 1, 0, 0], [2, 0, 0, -1, 4], [0, 1, 1, 0, 2]
        agrees.head_contributions(np.array([first, np.zeros((4, 2)), last]), np.array(W_O, dtype=float))
        agrees.head_contributions(last[None], np.array(W_O[:2], dtype=float))

    @check(points=0.75, after="test_heads_of_several_columns")
    def test_any_sizes(self, agrees, rng):
        """random sizes, also all of them equal"""
        for h, n_q, d_v, d_model in (3, 4, 2, 5), (4, 2, 3, 7), (3, 3, 3, 9), (3, 3, 3, 3), (4, 4, 4, 4), (5, 3, 6, 2):
            heads, W_O = rng.normal(size=(h, n_q, d_v)).round(2), rng.normal(size=(h * d_v, d_model)).round(2)
            agrees.head_contributions(heads, W_O)
        agrees.head_contributions(other_first(heads), W_O)
        agrees.head_contributions(*arrays_of([[[1], [2]], [[3], [1]]], [[900, 3e-5], [800, -4e-5]]))
        agrees.head_contributions(*arrays_of([[[1, -1], [2, -2]], [[2, 3], [0, 0.5]]], W_O[:4]))  # head 0 adds up to 0
        # Large products that nearly cancel within each head.
        heads, W_O = rng.uniform(-1, 1, size=(4, 3, 2)).round(2), rng.uniform(-1, 1, size=(8, 5)).round(2)
        cancelling = np.stack([900 * heads[..., 0], heads[..., 1] - 900 * heads[..., 0]], axis=-1)
        agrees.head_contributions(cancelling, np.repeat(W_O[::2], 2, axis=0))

    @check(points=0.25, after="test_small_example")
    def test_the_sum(self, student, reference, rng):
        """the parts add up to the output of the layer"""
        heads, W_O = rng.normal(size=(4, 3, 2)).round(2), rng.normal(size=(8, 6)).round(2)
        found = np.asarray(student.head_contributions(heads, W_O))
        if found.shape != (4, 3, 6):
            raise CheckFailed(f"The result should have shape (4, 3, 6), but it has shape {found.shape}.")
        right = reference.merge_heads(heads) @ W_O
        assert_matches(found.sum(axis=0), right, call="head_contributions(O, W_O).sum(axis=0)", O=heads, W_O=W_O)

    test_every_kind = all_categories(points=0.5, after="test_small_example")

    test_care = pure(points=0.25, after="test_small_example")


THREE, FOUR = arrays_of(
    [[1, 0, 0], [0.8, 0.2, 0], [0, 0.5, 0.5]],
    [[0.1, 0.2, 0.3, 0.4], [0.5, 0, 0.25, 0.25], [0, 0.7, 0.05, 0.25], [0.3, 0.1, 0.55, 0.05]],
)


def score_matches(student, reference, name):
    """Compare the score of this name with the reference's."""
    for rows in (THREE, FOUR):
        found, right = student.pattern_scores(rows), reference.pattern_scores(rows)
        assert_matches(found, {name: right[name]}, extra_keys=True)


@exercise("pattern_scores", points=4, takes=Contract({"weights": weights("n n")}, sizes={"n": (2, 330)}))
class TestPatternScores:
    """Take the four formulas one at a time, and run `check` after each. A row is a query. Always compute one number for
    each row first, and then the average of these numbers.

    For `uniform`, `np.minimum` compares every weight with 1 / n. For `local` and `previous`, you need to know how far
    apart query and key are. `np.indices` gives the row number i and the column number j of every entry.

    `abs(i - j) <= 1` marks the neighborhood: multiply the weights by it and add up each row. The weights of query i on
    key i - 1 form a diagonal, one step below the main one. `np.diagonal` takes an offset, which is negative below the
    main diagonal.
    """

    @check(points=0.5, visible=True)
    def test_copying(self, student, reference):
        """copying: the largest weight of each query"""
        score_matches(student, reference, "copying")

    @check(points=0.5, visible=True)
    def test_uniform(self, student, reference):
        """uniform: how much is spread evenly"""
        score_matches(student, reference, "uniform")

    @check(points=0.5, visible=True)
    def test_local(self, student, reference):
        """local: the weight at most one step away"""
        score_matches(student, reference, "local")

    @check(points=0.5, visible=True)
    def test_previous(self, student, reference):
        """previous: the weight one step back"""
        score_matches(student, reference, "previous")

    @check(points=0.5, visible=True, after=("test_copying", "test_uniform", "test_local", "test_previous"))
    def test_pure_patterns(self, agrees):
        """heads that follow a single pattern"""
        own, even, all_on_one = np.eye(5), np.full((4, 4), 0.25), np.outer(np.ones(5), np.eye(5)[3])
        before = np.eye(6, k=-1) + np.outer(np.eye(6)[0], np.eye(6)[0])
        after = np.eye(5, k=1) + np.outer(np.eye(5)[4], np.eye(5)[4])
        for pattern in (own, even, before, after, all_on_one):
            agrees(extra_keys=True).pattern_scores(pattern)

    @check(points=0.75, after="test_pure_patterns")
    def test_any_weights(self, agrees, rng):
        """random weights and lengths"""
        for n in (2, 3, 4, 5, 7, 9):
            agrees(extra_keys=True).pattern_scores(softened(rng, n, n))
        others = softened(rng, 5, 5) * (1 - np.eye(5))  # no query looks at itself
        agrees(extra_keys=True).pattern_scores(others / others.sum(axis=1, keepdims=True))

    test_every_kind = all_categories(points=0.5, after="test_pure_patterns", extra_keys=True)

    test_care = pure(points=0.25, after="test_copying")


SENTENCE = ["The", "cat", "sat", "on", "the", "mat"]
TRANSLATION = ["Die", "Katze", "saß", "auf", "der", "Matte", "."]
ECHO = ["no", "no", "yes", "no"]


def look(student, reference, weights, queries, keys, probe=LOOK):
    """Compare each part of the student's picture with the reference's."""
    right = reference.probe(probe, "plot_attention", weights, queries, keys)
    found = student.probe(probe, "plot_attention", weights, queries, keys)
    draw, where = "plot_attention(weights, query_tokens, key_tokens", "in these Axes"
    kind = f"what {draw}) returned" if probe == LOOK_AGAIN else f"the type of {draw})"
    if probe == LOOK_WITH_AXES:
        kind, where = f"what {draw}, ax=ax) returned", "in ax"
    for piece, call in {
        "returned": kind,
        "drawn": f"what is drawn {where}",
        "across": "the row of labels, from the left,",
        "down": "the column of labels, from the top,",
        "empty": "the number of pairs of labels that meet outside of the cells, or near the border of one",
        "shown": "what is drawn at each pair of labels",
    }.items():
        inputs = {"weights": weights, "query_tokens": queries, "key_tokens": keys}
        assert_matches(found[piece], right[piece], call=call, **inputs)


def with_tokens(values, _rng):
    """Return the same weights, with one token for each row and column."""
    n_q, n_k = values["weights"].shape
    return {**values, "query_tokens": [f"q{i}" for i in range(n_q)], "key_tokens": [f"k{j}" for j in range(n_k)]}


# Checks of pictures are slow, so a few pictures cover all input categories of the weights.


@exercise(
    "plot_attention",
    points=3,
    takes=Contract(
        {
            "weights": weights("n_q n_k"),
            "query_tokens": among(SENTENCE),
            "key_tokens": among(TRANSLATION),
            "ax": among(None, default=True),
        },
        sizes={"n_q": (1, 20), "n_k": (1, 20)},
        constrain=with_tokens,
    ),
)
class TestPlotAttention:
    """`ax.imshow(matrix)` draws a matrix as matrices are written: row 0 at the top, column 0 on the left. Draw the
    weights first, look at the picture, then add the labels.

    A label needs a place and a text. The middle of row i is at height i, and the middle of column j is at j. So the
    places are 0, 1, 2, … and do not depend on the words. x runs across, y runs down.

    `ax.set_xticks(places, texts)` and `ax.set_yticks(places, texts)` do both at once. If `ax` is None, `plt.subplots()`
    makes a figure and Axes. At the end, return the Axes.
    """

    @check(points=0.5, visible=True)
    def test_small_example(self, student, reference):
        """two queries and three keys"""
        weights = np.array([[0.9, 0.1, 0.0], [0.2, 0.3, 0.5]])
        look(student, reference, weights, ["sat", "on"], ["the", "cat", "mat"])

    @check(points=0.5, visible=True, after="test_small_example")
    def test_equal_tokens(self, student, reference):
        """a word that occurs twice"""
        weights = np.array([[0.5, 0.2, 0.3, 0.0], [0.1, 0.25, 0.05, 0.6], [0.0, 0.9, 0.1, 0.0], [0.15, 0.35, 0.4, 0.1]])
        look(student, reference, weights, ECHO, ECHO)

    @check(points=0.5, visible=True, after="test_small_example")
    def test_given_axes(self, student, reference):
        """given Axes are drawn into and returned, and otherwise new ones, even after another picture"""
        weights = np.array([[0.7, 0.05, 0.25], [0.35, 0.5, 0.15]])
        look(student, reference, weights, ["sat", "on"], ["the", "cat", "mat"], LOOK_WITH_AXES)
        look(student, reference, weights, ["sat", "on"], ["the", "cat", "mat"], LOOK_AGAIN)

    @check(points=0.75, after="test_equal_tokens")
    def test_sentences(self, student, reference, rng):
        """a sentence with its translation, and many kinds of weights"""
        queries, keys = [*SENTENCE, "now", "."], [*TRANSLATION, *(f"translated word {i}" for i in range(13))]
        rows = softened(rng, len(queries), len(keys))[::-1]  # with negative strides
        rows[0] = np.eye(len(keys))[3]
        rows[1] = 1 / len(keys)
        rows[2, 1:] *= np.resize([1e-9, 1e-9, 1e-3, 1e-3, 1e-4, 0], len(keys) - 1) / rows[2, 1:].max()
        rows[2, 0] = 1 - rows[2, 1:].sum()
        look(student, reference, rows, queries, keys)

    @check(points=0.25, after="test_given_axes")
    def test_given_axes_with_a_sentence(self, student, reference, rng):
        """as many queries as keys in given Axes, and more queries than keys"""
        look(student, reference, softened(rng, 4, 4), SENTENCE[:4], ECHO, LOOK_WITH_AXES)
        words = [f"word {i}" for i in range(20)]
        # A color map has 256 colors. Weights that are closer than 1/256 may have the same color in a right picture.
        shares = rng.permuted(np.tile(np.arange(8) / 28, (20, 1)), axis=1)
        look(student, reference, np.asfortranarray(shares), words, words[:8])
        high = rng.permutation(np.linspace(0.53, 0.98, 6))  # no two of these weights may look the same
        look(student, reference, np.stack([high, 1 - high], axis=1), words[:6], words[:2])

    @check(points=0.25, after="test_small_example")
    def test_a_single_query(self, student, reference, rng):
        """a single query, drawn after another picture, and a single key"""
        look(student, reference, softened(rng, 1, 4), ["sat"], ECHO, LOOK_AGAIN)
        look(student, reference, np.ones((3, 1)), SENTENCE[:3], ["cat"])

    test_care = pure(points=0.25, after="test_small_example")


ATTENTION = attend("e = np.exp(X @ X.T / X.shape[1])", "return e / e.sum(axis=1, keepdims=True) @ X")
RUNNING_SUM = attend("return np.cumsum(X, axis=0)")
OWN_ROW = attend("return 3 * X - 1")
MEAN_TAKEN_AWAY = attend("return X - X.mean(axis=0)")
MEAN_FOR_ALL = attend("return np.repeat(X.mean(axis=0, keepdims=True), len(X), axis=0)")
PLACE_ADDED = attend("return X + np.arange(len(X))[:, None] ** 2")
FIRST_ROW_COUNTS = attend("return X + 0.5 * X[:1]")
NEIGHBOURS = attend("Y = X.copy()", "Y[1:] -= 2 * X[:-1]", "return Y")
ONE_NUMBER_A_ROW = attend("return np.cumsum(X[:, :1], axis=0) * np.array([[1.0, -3.0]])")
CAUSAL = attend("e = np.tril(np.exp(X @ X.T / X.shape[1]))", "return e / e.sum(axis=1, keepdims=True) @ X")
ONE_FEATURE = attend("Y = 2 * X", "Y[:, -1] = np.cumsum(Y[:, -1])", "return Y")
TWICE_AS_WIDE = attend("return np.cumsum(np.hstack([X, 9 * X]), axis=0)")
FAINT = attend("return X + 1e-5 * np.arange(len(X))[:, None]")
SHUFFLED_FEATURES = attend("return np.cumsum(X, axis=0) * np.arange(1, X.shape[1] + 1)")

MINUTE = attend("return 1e-4 * np.cumsum(X, axis=0)")
LAST_ROW_LISTENS = attend("Y = X.copy()", "Y[-1] += X[0]", "return Y")
FAINT_BESIDE_LARGE = attend("return 1e4 * X + 1e-3 * np.arange(len(X))[:, None]")

LIKE_X, UPSIDE_DOWN = attend("return X"), attend("return X[::-1]")
SQUARES_SO_FAR = attend("return np.cumsum(X**2, axis=0)")
SIGNS_SO_FAR = attend("return np.cumsum(np.sign(X), axis=0)")

FIVE_ROWS = np.array([[1.0, -2.0, 0.5], [0.0, 1.0, 2.0], [3.0, 0.5, -1.0], [-1.5, 2.0, 0.0], [0.5, -0.5, 4.0]])
ROUND = np.array([2, 0, 3, 4, 1])  # no two rows swap places, so the inverse is a different order


def last_of_many(values, _rng):
    """Return rows of many features, with the largest numbers in the last feature, and an order that moves every row."""
    X = values["X"].copy()
    X[:, -1] *= 100 / np.abs(X[:, -1]).max()
    return {"attend": RUNNING_SUM, "X": X, "perm": np.roll(np.arange(len(X)), 1)}


@exercise(
    "equivariance_gap",
    points=3,
    takes=Contract(
        {
            "attend": among(RUNNING_SUM, PLACE_ADDED, FIRST_ROW_COUNTS, SHUFFLED_FEATURES),
            "X": array("n d"),
            "perm": order("n"),
        },
        categories=[
            InputCategory.custom(
                "X: the largest far to the right",
                "the largest numbers after more than 300 others in their rows",
                lambda v: v["X"].shape[1] > 300 and np.abs(v["X"]).max(axis=0).argmax() >= 300,
                last_of_many,
                sizes={"d": 305},
            )
        ],
    ),
)
class TestEquivarianceGap:
    """There are two ways from X to a shuffled output: shuffle and then attend, or attend and then shuffle. Compute
    both, and compare them.

    `X[perm]` is X with its rows shuffled: its row i is row perm[i] of X. You can shuffle an output in the same way. The
    difference of the two results is an array. Which single number should you return?

    Drop the signs with `np.abs` before you take the largest entry with `.max()`, without an axis. Call `attend` once
    with the shuffled rows and once with X as it is.
    """

    @check(points=0.5, visible=True)
    def test_small_example(self, agrees):
        """the example worked by hand"""
        agrees.equivariance_gap(RUNNING_SUM, np.array([[1.0], [2.0], [4.0]]), np.array([2, 0, 1]))

    @check(points=0.5, visible=True, after="test_small_example")
    def test_nothing_to_find(self, agrees):
        """attention does not depend on the order, and neither does a function of each row alone"""
        for function in (ATTENTION, OWN_ROW, MEAN_TAKEN_AWAY):
            agrees.equivariance_gap(function, FIVE_ROWS, ROUND)

    @check(points=0.5, visible=True, after="test_small_example")
    def test_something_to_find(self, agrees):
        """functions that add positions, use a causal mask, or treat earlier rows in a special way"""
        for function in (PLACE_ADDED, CAUSAL):
            agrees.equivariance_gap(function, FIVE_ROWS, ROUND)
        agrees.equivariance_gap(NEIGHBOURS, FIVE_ROWS, np.array([1, 2, 0, 4, 3]))
        agrees.equivariance_gap(FIRST_ROW_COUNTS, np.array([[6.0, 4.0], [2.0, 1.0], [5.0, -3.0]]), np.array([1, 2, 0]))

    @check(points=0.75, after="test_something_to_find")
    def test_many_functions(self, agrees, rng):
        """functions that depend on the order a lot, a little, in one feature only, or not at all"""
        care = RUNNING_SUM, FIRST_ROW_COUNTS, MEAN_FOR_ALL, NEIGHBOURS, ONE_NUMBER_A_ROW, CAUSAL, ONE_FEATURE
        for function in (*care, ATTENTION, SHUFFLED_FEATURES):
            agrees.equivariance_gap(function, rng.normal(size=(6, 4)).round(2), np.array([3, 5, 0, 1, 2, 4]))
        for function in (LIKE_X, UPSIDE_DOWN, SQUARES_SO_FAR, SIGNS_SO_FAR, TWICE_AS_WIDE, FAINT, MINUTE):
            agrees.equivariance_gap(function, rng.normal(size=(6, 4)).round(2), np.array([3, 5, 0, 1, 2, 4]))
        agrees.equivariance_gap(
            FAINT_BESIDE_LARGE, rng.uniform(1, 2, size=(6, 4)).round(2), np.array([3, 5, 0, 1, 2, 4])
        )
        agrees.equivariance_gap(MEAN_TAKEN_AWAY, rng.uniform(1e5, 2e5, size=(6, 4)), np.array([3, 5, 0, 1, 2, 4]))
        # X stays the same, but the rows of its output differ.
        agrees.equivariance_gap(RUNNING_SUM, np.ones((3, 2)), np.array([2, 0, 1]))
        # Only a row that stays in its place differs.
        agrees.equivariance_gap(LAST_ROW_LISTENS, rng.normal(size=(6, 4)).round(2), np.array([3, 0, 1, 2, 4, 5]))

    test_every_kind = all_categories(points=0.5, after="test_something_to_find")

    test_care = pure(points=0.25, after="test_small_example")


TestQuiz = quiz_ch5.checks()

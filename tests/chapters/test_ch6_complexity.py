"""The checks of chapter 6: what attention costs, and how to pay less."""

from dataclasses import replace

import numpy as np
from inputs import (
    FAR_APART,
    ONE_QUERY,
    Contract,
    array,
    arrays_of,
    attention_contract,
    function,
    moved_scores,
    other_first,
    score_kinds,
    scores_of,
    settled,
    tamed,
)

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
    integers,
    linked,
    pure,
    size,
    whole,
)
from solutions.ch6_complexity import quiz_ch6

EXACTLY = {"rtol": 1e-12, "atol": 1e-6}  # counts, perhaps written as floats

# The memory limit. One table of N_Q x N_K takes 45 MiB, or 23 MiB in float32, and plain attention stores three tables at a time.
# Solutions with blocks of BLOCK take about 4 MiB, and pictures drawn by a notebook's own cells may add some 14 MiB. The
# inputs are the same for every course, because nobody can hard-code an output of this size.
N_Q, N_K, BLOCK, LIMIT_MB = 2200, 2700, 64, 20

LARGEST = {"n_q": (1, 2700), "n_k": (1, 2700)}  # more than 330 only in the check of memory
SHAPES = {"Q": "... n_q d_k", "K": "... n_k d_k", "V": "... n_k d_v"}

ADD_ONE = function("add_one(X)", "return np.asarray(X) + 1")
EXP = function("exp(X)", "return np.exp(X)")
ELU = function("elu_plus_one(X)", "return np.where(X > 0, X + 1, np.exp(np.minimum(X, 0)))")
ITSELF = function("itself(X)", "return X")
FAINT = function("faint(X)", "return 0.11 + 0.004 * np.tanh(X)")  # sums of products just above 0.2
STEPS = function("steps(X)", "return 1.0 + (X > 0)")
SQUARES = function("squares(X)", "return 0.5 + np.asarray(X) ** 2")
BOTH_SIGNS = function("both_signs(X)", "return np.concatenate([np.exp(X), np.exp(-np.asarray(X))], axis=-1)")
THREE_SUMS = function(
    "three_sums(X)",
    "total = np.sum(X, axis=-1, keepdims=True)",
    "return np.concatenate([np.exp(total / 4), 1 + total**2, np.ones_like(total)], axis=-1)",
)


def arrays(seed, n_q, n_k, d_k, d_v, batch=()):
    """Return Q, K and V with numbers of one digit after the point."""
    rng = np.random.default_rng(seed)
    shapes = ((n_q, d_k), (n_k, d_k), (n_k, d_v))
    return [rng.uniform(-2, 2, size=(*batch, *shape)).round(1) for shape in shapes]


def the_same_few(n_q, n_k):
    """Return Q, K and V of one column with a few repeated numbers: a long example that is short to write.

    Scores are equal or at least 500 apart, and the other numbers are whole. So right answers need no rounding, and equal
    queries give equal answers.
    """
    # Blocks rarely contain a multiple of eleven keys, so a block that is left out changes the averages.
    keys, values = [3, 1, 2, 1, 3, 2, 1, 3, 2, 1, 1], [3, -1, 4, 1, -5, 9, -2, 6, 5, -3, 8]
    few = ([500, -500, 0], n_q), (keys, n_k), (values, n_k)
    return [np.resize(np.array(numbers, dtype=float), (n, 1)) for numbers, n in few]


POSITIONS, WIDTH = whole(1, 100_000), whole(1, 20_000)  # up to the sizes of the largest models


@exercise(
    "attention_cost",
    points=2,
    takes=Contract({"n_q": POSITIONS, "n_k": POSITIONS, "d_k": WIDTH, "d_v": WIDTH}, corrupt=0.02),
)
class TestAttentionCost:
    """How many numbers are in the table of scores? How many multiply-adds does each of these numbers take? Begin with
    the example: 2 queries, 3 keys.

    A product of an (a, b) matrix and a (b, c) matrix has a · c entries, and each is a dot product of length b. Write
    down a, b and c for Q Kᵀ, then for the weights times V.

    For every pair of a query and a key, the first product takes d_k multiply-adds. The second multiplies each pair's
    weight by a whole value. How long is a value?
    """

    @check(points=0.5, visible=True)
    def test_small_example(self, agrees):
        """the example: 2 queries, 3 keys, d_k = 4, d_v = 5"""
        agrees(extra_keys=True).attention_cost(2, 3, 4, 5)

    @check(points=0.25, visible=True, after="test_small_example")
    def test_one_query(self, agrees):
        """a single query, a single key, a single column"""
        agrees(extra_keys=True).attention_cost(1, 7, 3, 2)
        agrees(extra_keys=True).attention_cost(6, 1, 5, 1)

    @check(points=0.25, visible=True, after="test_small_example")
    def test_all_sizes_equal(self, agrees):
        """all four sizes equal, also very large, and one pair of a query and a key"""
        agrees(extra_keys=True).attention_cost(3, 3, 3, 3)
        agrees(extra_keys=True).attention_cost(3000, 3000, 3000, 3000)
        agrees(extra_keys=True).attention_cost(1, 1, 1, 1)
        agrees(extra_keys=True).attention_cost(1, 1, 4, 2)

    @check(points=0.5, after="test_small_example")
    def test_any_sizes(self, agrees, rng):
        """small sizes, and sizes of real models"""
        drawn = rng.integers(1, 60, size=(4, 4)).tolist()
        a, b, *widths = drawn[0]
        alike = drawn[0][::-1], (a + 1, b, *widths), (a, b + 1, *widths)  # equal products and sums
        alike = (*alike, (1, 12, 3, 14), (11, 2, 31, 4))  # equal digits
        for sizes in ((1024, 1024, 64, 64), (512, 2048, 128, 32), (60_000, 50_000, 100, 128), *drawn, *alike):
            agrees(extra_keys=True).attention_cost(*sizes)

    test_every_kind = all_categories(points=0.25, after="test_small_example", extra_keys=True)

    test_care = pure(points=0.25, after="test_small_example")


@exercise(
    "layer_flops",
    points=3,
    depends_on=("attention_cost",),
    takes=Contract({"n": POSITIONS, "d_model": WIDTH}, corrupt=0.02),
)
class TestLayerFlops:
    """List the layer's matrix products with their shapes, beginning with X times W_Q. There are six of them, if you
    take all heads together.

    An (a, b) matrix times a (b, c) matrix takes a · b · c multiply-adds, each of them 2 FLOPs. Four of the six products
    have the same size. For the two others, think of a single head as wide as the whole layer.

    Together, h heads of width d_model / h cost as much as one head of width d_model. So the scores take n · n · d_model
    multiply-adds, and so does the mixing. Compare your numbers with the example: 144 and 48.
    """

    @check(points=0.75, visible=True)
    def test_small_example(self, agrees):
        """the example: 2 positions, width 3"""
        agrees.layer_flops(2, 3)

    @check(points=0.5, visible=True, after="test_small_example")
    def test_long_and_narrow(self, agrees):
        """more positions than columns, and more columns than positions"""
        agrees.layer_flops(10, 2)
        agrees.layer_flops(3, 8)

    @check(points=0.25, visible=True, after="test_small_example")
    def test_one_of_each(self, agrees):
        """a single position, a single column"""
        agrees.layer_flops(1, 1)
        agrees.layer_flops(1, 5)

    @check(points=0.75, after="test_small_example")
    def test_any_sizes(self, agrees, rng):
        """small sizes, and sizes of real models"""
        n, d = rng.integers(2, 50, size=2).tolist()
        # Sizes with the same product, with the same sum, with the same digits, and in reverse order.
        related = (2 * n, d), (d, 2 * n), (n, 2 * d), (n + 1, 2 * d - 1), (1, 12), (11, 2)
        for sizes in (
            (1024, 512),
            (2048, 512),
            (5000, 2),
            (3, 4000),
            (64, 64),
            (7, 1),
            *rng.integers(2, 100, size=(4, 2)).tolist(),
            *related,
        ):
            agrees.layer_flops(*sizes)

    test_every_kind = all_categories(points=0.25, after="test_small_example")

    test_care = pure(points=0.5, after="test_small_example")


def a_window_of(low, high):
    """Return a function that draws a window from ``low`` to ``high`` times the number of positions."""

    def make(values, rng):
        n = values["n"]
        return {"n": n, "window": max(1, int(rng.integers(int(low * n), int(high * n) + 1)))}

    return make


@exercise(
    "sliding_window_mask",
    points=3,
    takes=Contract(
        {"n": size("n"), "window": whole(1, 1000)},
        categories=[
            InputCategory.custom(
                "window: one less than n",
                "a window that leaves out a single key",
                lambda v: v["window"] == v["n"] - 1 > 1,
                lambda v, _rng: {"n": v["n"] + 2, "window": v["n"] + 1},
            ),
            InputCategory.custom("window: n", "a window of n", lambda v: v["window"] == v["n"] > 1, a_window_of(1, 1)),
            InputCategory.custom(
                "window: one more than n",
                "a window of n + 1",
                lambda v: v["window"] == v["n"] + 1,
                lambda v, _rng: {"n": v["n"], "window": v["n"] + 1},
            ),
            InputCategory.custom(
                "window: much more than n",
                "a window much wider than the sequence",
                lambda v: v["window"] > v["n"] + 1,
                lambda v, _rng: {"n": v["n"], "window": v["n"] + 5},
            ),
            InputCategory.custom(
                "window: long and shorter than n",
                "a long window and an even longer sequence",
                lambda v: 140 < v["window"] < v["n"] - 30,
                a_window_of(0.5, 0.8),
                sizes={"n": 305},
            ),
        ],
    ),
)
class TestSlidingWindowMask:
    """For sliding_window_mask(4, 2), write down the distance query minus key at each place of the table. Which
    distances are allowed? Is 0 among them? Is 2?

    The causal mask of chapter 4 sets one bound: not later than the query. You need a second bound: not too far back.
    Both must be true, and `&` combines two boolean arrays.

    Take the positions of the queries as a column and the positions of the keys as a row. Their difference is a table of
    distances, query minus key. The allowed distances start at 0 and are less than `window`.
    """

    @check(points=0.75, visible=True)
    def test_small_example(self, agrees):
        """the example: 4 positions, a window of 2"""
        agrees.sliding_window_mask(4, 2)

    @check(points=0.5, visible=True, after="test_small_example")
    def test_other_windows(self, agrees):
        """a window of 3, and a window of 1, which allows only the position itself"""
        agrees.sliding_window_mask(7, 3)
        agrees.sliding_window_mask(3, 1)

    @check(points=0.5, visible=True, after="test_small_example")
    def test_wide_windows(self, agrees):
        """a window as wide as the sequence, and wider"""
        agrees.sliding_window_mask(4, 4)
        agrees.sliding_window_mask(3, 8)
        agrees.sliding_window_mask(1, 2)

    @check(points=0.5, after="test_small_example")
    def test_any_sizes(self, agrees, rng):
        """random numbers of positions and random windows"""
        drawn = [(n, int(rng.integers(1, n + 3))) for n in rng.integers(5, 16, size=4).tolist()]
        for n, window in (
            (1, 1),
            (2, 1),
            (9, 2),
            (40, 11),
            (2, 9),
            (6, 3),
            (3, 6),
            (5, 4),
            (330, 300),
            (3, 1000),
            *drawn,
        ):
            agrees.sliding_window_mask(n, window)

    test_every_kind = all_categories(points=0.25, after="test_small_example")

    test_care = pure(points=0.5, after="test_small_example")


def mapped(agrees, Q, K, V, feature_map, *, shown=False):
    """Check linear attention with this feature map. With ``shown``, show its source, because the notebook does not define it."""
    name = "np.exp" if feature_map is EXP else feature_map.name
    text = {name: feature_map} if shown else {}
    agrees(call=f"linear_attention(Q, K, V, {name})", **text, Q=Q, K=K, V=V).linear_attention(Q, K, V, feature_map)


def name_of(feature_map):
    """Return the name of a feature map, given as source or as a function."""
    return getattr(feature_map, "name", None) or feature_map.__name__


def mapped_by(feature_map, **sizes):
    """Return the input category of this feature map, drawn with these sizes."""
    return InputCategory.custom(
        f"feature_map: {feature_map.name}",
        f"the feature map {feature_map.name}",
        lambda v: name_of(v["feature_map"]) == feature_map.name,
        lambda v, _rng: {**v, "feature_map": feature_map},
        sizes=sizes,
    )


FEATURES = {
    "add_one": lambda X: X + 1,
    "exp": np.exp,
    "elu_plus_one": lambda X: np.where(X > 0, X + 1, np.exp(np.minimum(X, 0))),
    "squares": lambda X: 0.5 + X**2,
    "both_signs": lambda X: np.concatenate([np.exp(X), np.exp(-X)], axis=-1),
    "three_sums": lambda X: np.exp(X.sum(axis=-1, keepdims=True) / 4),
}


def features_in_bounds(values, _rng):
    """Return the same arrays, with a feature map whose sums are neither infinite nor close to zero."""
    for feature_map in (values["feature_map"], SQUARES):
        with np.errstate(all="ignore"):
            phi_Q, phi_K = (FEATURES[name_of(feature_map)](values[name]) for name in "QK")
            total = (phi_Q * phi_K.sum(axis=-2, keepdims=True)).sum(axis=-1)
        if total.min() > 0.3 and max(phi_Q.max(), phi_K.max()) < 1e13:
            break
    return {**values, "feature_map": feature_map}


@exercise(
    "linear_attention",
    points=5,
    takes=Contract(
        {
            **{name: array(shape) for name, shape in SHAPES.items()},
            "feature_map": among(EXP, ELU, SQUARES, BOTH_SIGNS),
        },
        sizes=LARGEST,
        categories=[mapped_by(SQUARES), mapped_by(BOTH_SIGNS), mapped_by(THREE_SUMS, n_k=4, d_k=4)],
        constrain=features_in_bounds,
        exclude={
            "feature_map: centered": "features are positive numbers",
            "feature_map: propagating nan": "a feature map takes each row by itself",
            "feature_map: small": "a query's products with all keys add up to at least 0.2",
        },
    ),
)
class TestLinearAttention:
    """Forget the memory for a moment, and write down the weights of one query: the dot products of its features with
    those of each key, divided by their sum. The output has a numerator and a denominator. Look at each of them alone.

    The numerator is φ(Q) φ(K)ᵀ V, a product of three matrices. Their order is fixed, but you can choose which two to
    multiply first. Work out the shape of the result in both cases, for n_q = n_k = 1000 and m = 4.

    The denominator of query i is the sum over keys of φ(q_i) · φ(k_j). If you add up dot products with the same vector,
    you get the dot product with the sum. So add up the keys' features first, along the axis of the keys. With
    `keepdims=True` that sum has the shape (…, 1, m), with or without a batch, and fits φ(Q) entry by entry. Divide the
    numerator by an array of shape (…, n_q, 1).
    """

    @check(points=0.5, visible=True)
    def test_small_example(self, agrees):
        """the example: one query, two keys"""
        mapped(agrees, *arrays_of([[1, 0]], [[0, 1], [2, 0]], [[11], [22]]), ADD_ONE, shown=True)

    @check(points=0.75, visible=True, after="test_small_example")
    def test_several_queries(self, agrees):
        """three queries, four keys, and features made by exp"""
        mapped(agrees, *arrays(61, 3, 4, 2, 5), EXP)

    @check(points=0.5, visible=True, after="test_several_queries")
    def test_more_features_than_columns(self, agrees):
        """a feature map that makes six features out of three numbers"""
        mapped(agrees, *arrays(62, 2, 5, 3, 4), BOTH_SIGNS, shown=True)

    @check(points=0.5, visible=True, after="test_several_queries")
    def test_batch(self, agrees):
        """a batch of two, each with its own keys and values, with one batch axis or two"""
        for batch in ((2,), (2, 1)):
            mapped(agrees, *arrays(63, 2, 3, 4, 2, batch=batch), EXP)

    @check(points=0.25, after="test_several_queries")
    @given(linked(SHAPES, sides=(1, 4), batch=(0, 2), elements=floats(-1, 2)), examples=8)
    def test_any_shapes(self, agrees, Q, K, V):
        """random shapes and numbers of batch axes"""
        mapped(agrees, Q, K, V, ELU, shown=True)

    @check(points=0.25, after="test_several_queries")
    def test_unusual_features(self, agrees, rng):
        """unusual feature maps, and large entries of V with a small average"""
        for feature_map, low in ((ITSELF, 0.2), (STEPS, -2), (FAINT, -2)):
            Q, K, V = (rng.uniform(low, 2, size=shape).round(2) for shape in ((3, 4), (5, 4), (5, 2)))
            mapped(agrees, Q, K, V, feature_map, shown=True)
        mapped(agrees, *arrays_of([[1, 0]], [[0, 1], [2, 0]]), FAR_APART, EXP)
        for batch in ((), (2,)):  # the only weight is 1
            mapped(agrees, *arrays(64, 1, 1, 2, 3, batch), EXP)
        X = rng.normal(size=(2, 3, 4)).round(2)
        mapped(agrees, X, X, X, EXP)
        for Q in (X[0], other_first(X[0])):
            mapped(agrees, Q, K[:3], V[:3], EXP)
        (q, K), V = rng.normal(size=(2, 5, 4)), 1e5 * rng.normal(size=(5, 2))
        weights = np.exp(q[:1]) @ np.exp(K).T
        mapped(agrees, q[:1], K, V + 1 - weights / weights.sum() @ V, EXP)

    test_every_kind = all_categories(
        points=0.5,
        after="test_several_queries",
        ask=lambda agrees, _name, values: mapped(agrees, **values, shown=values["feature_map"] is not EXP),
    )

    @check(visible=True, after="test_several_queries")
    def test_less_than_the_table(self, agrees):
        """2200 queries and 2700 keys, in half the memory of their table of weights"""
        mapped(agrees.within(memory_mb=LIMIT_MB), *the_same_few(N_Q, N_K), SQUARES, shown=True)

    @check(points=1.25, after="test_several_queries")
    def test_little_memory(self, agrees):
        """thousands of queries and keys, in less memory than their table of weights"""
        mapped(agrees.within(memory_mb=LIMIT_MB), *arrays(64, N_Q, N_K, 4, 3), EXP)

    test_care = pure(points=0.5, after="test_small_example")


CHUNKED = attention_contract(block_size=whole(1, 400))


def with_products_in_bounds(values, rng):
    """Return the same inputs with scores in bounds, or None if a product of a number in Q and one in K is beyond 10 million."""
    values = CHUNKED.constrain(values, rng)
    Q, K = (np.abs(values[name]).reshape(-1, values[name].shape[-1]).max(axis=0) for name in "QK")
    return values if (Q * K).max() <= 1e7 else None


def cut_into(left, low, high, **sizes):
    """Return the input category of blocks of ``low`` to ``high`` keys, with ``left`` keys in the last block (0: a whole block)."""
    words = {0: "blocks that divide the keys", 1: "a last block of a single key"}[left]
    long = ", more than 100 in each" if low > 100 else ""

    def known(values):
        n_k, block_size = values["K"].shape[-2], values["block_size"]
        return low <= block_size <= high and n_k > block_size and n_k % block_size == left

    def make(values, rng):
        n_k = values["K"].shape[-2]
        fitting = [n for n in range(low, min(high, n_k - 1) + 1) if n_k % n == left]
        return {**values, "block_size": int(rng.choice(fitting))} if fitting else None

    return InputCategory.custom(f"block_size: {words}{long}", f"{words}{long}", known, make, sizes)


def scores_rise(values, rng):
    """Return the same inputs with scores that grow from key to key, so that every block brings a new maximum."""
    Q, K = np.abs(values["Q"]) + 0.5, np.abs(values["K"])
    level = np.linspace(0.1, rng.uniform(4, 40), K.shape[-2])[:, None]
    return {**values, "Q": Q, "K": level * (1 + 0.001 * K), "block_size": int(rng.integers(2, 5))}


def rising(values):
    """Return whether the scores of each row grow from key to key, over more than two blocks."""
    scores = values["Q"] @ np.swapaxes(values["K"], -1, -2)
    return scores.shape[-1] > 2 * values["block_size"] and (np.diff(scores, axis=-1) > 0).all()


RISING = InputCategory.custom(
    "scores: the maximum grows", "scores that grow from key to key", rising, scores_rise, sizes={"n_k": 25}
)


def scores_fall(values, rng):
    """Return the same inputs with scores that shrink from key to key, so that the maximum is in the first block."""
    found = scores_rise(values, rng)
    return {**found, "K": found["K"][..., ::-1, :].copy()}


FALLING = InputCategory.custom(
    "scores: the maximum comes first",
    "scores that fall from key to key",
    lambda v: rising({**v, "Q": -v["Q"]}),
    scores_fall,
    sizes={"n_k": 25},
)


@exercise(
    "chunked_attention",
    points=6,
    takes=replace(
        CHUNKED,
        sizes=LARGEST,
        constrain=with_products_in_bounds,
        categories=[
            *CHUNKED.categories,
            cut_into(0, 2, 9, n_k=24),
            cut_into(1, 2, 9, n_k=25),
            cut_into(0, 101, 200, n_k=304),
            RISING,
            FALLING,
        ],
    ),
)
class TestChunkedAttention:
    """Forget the shift of the softmax for a moment. For one query, the output is a fraction: the sum of exp(score) ·
    value, divided by the sum of exp(score). You can collect both sums block by block, and divide at the end.

    Now the shift. For each query, keep the largest score so far and two sums made with it. When a block brings a larger
    score, the old sums still belong to the old maximum. Which factor turns exp(s - old) into exp(s - new)?

    Carry three things from block to block: the maximum, the sum of the exps, and the mixed values. In each round, find
    the new maximum, shrink both old sums by exp(old - new), and add the block's part. Begin with a maximum of minus
    infinity and sums of 0, and divide once, after the last block. `K[..., a:b, :]` is a block of keys, whatever axes
    come before. A slice that reaches past the end just stops there.
    """

    @check(points=0.5, visible=True)
    def test_small_example(self, agrees):
        """the example: three keys in blocks of two"""
        Q, K, V = arrays_of([[2, 0, 0, 0]], [[1, 0, 0, 0], [0, 1, 0, 0], [3, 0, 0, 0]], [[10], [20], [90]])
        agrees.chunked_attention(Q, K, V, 2)

    @check(points=0.5, visible=True, after="test_small_example")
    def test_several_queries(self, agrees):
        """three queries, five keys, and blocks of every size"""
        Q, K, V = arrays(65, 3, 5, 4, 2)
        for block_size in (1, 2, 3, 4, 5, 9):
            agrees.chunked_attention(Q, K, V, block_size)

    @check(points=0.5, visible=True, after="test_several_queries")
    def test_batch(self, agrees):
        """a batch of three, in blocks of two, with one batch axis or two"""
        for batch in ((3,), (3, 1)):
            agrees.chunked_attention(*arrays(66, 2, 5, 2, 3, batch=batch), 2)

    @check(points=0.5, visible=True, after="test_several_queries")
    def test_large_scores(self, agrees):
        """scores near 1000 and near -2000, in different queries, and blocks whose scores are a thousand apart"""
        Q, K = arrays_of([[30], [-60], [0.5]], [[33], [33.1], [33.05], [33.2], [33]])
        V = np.array([[1, 5], [2, 1], [3, 4], [4, 1], [5, 2]], dtype=float)
        for block_size in (2, 3):
            agrees.chunked_attention(Q, K, V, block_size)
        agrees.chunked_attention(Q, np.array([[33.2], [33.1], [0.0]]), V[:3], 2)

    @check(points=0.5, after="test_several_queries")
    @given(linked(SHAPES, sides=(1, 5), batch=(0, 2), elements=floats(-3, 3)), block_size=integers(1, 6), examples=8)
    def test_any_shapes(self, agrees, Q, K, V, block_size):
        """random shapes, numbers of batch axes and block sizes"""
        agrees.chunked_attention(Q, K, V, block_size)

    @check(points=0.25, after="test_several_queries")
    def test_best_key_anywhere(self, agrees, rng):
        """the best key in any block, a single key, and one array for Q, K and V"""
        for best in (0, 4, 8):
            Q, K, V = arrays(int(rng.integers(1 << 30)), 4, 9, 3, 5)
            Q[2] = [1.0, -1.0, 1.0]
            K[best] = 1500 * Q[2]  # a score of 2598, so exp of its distance from the others or from the mean is inf
            for block_size in (3, 4):
                agrees.chunked_attention(Q, K, V, block_size)
        for batch in ((), (2,)):  # the only weight is 1
            agrees.chunked_attention(*arrays(int(rng.integers(1 << 30)), 1, 1, 3, 2, batch), 2)
        X = rng.normal(size=(2, 5, 4)).round(2)
        agrees.chunked_attention(X, X, X, 2)
        for batch, block_size in (((2, 2), 1), ((1,), 2), ((2,), 400)):
            Q, K, V = arrays(int(rng.integers(1 << 30)), 3, 5, 2, 1, batch)
            agrees.chunked_attention(Q, K, V, block_size)
        agrees.chunked_attention(other_first(Q), K, V, block_size)
        agrees.chunked_attention(*arrays_of([[1, 0.5]], [[1, 0], [0, 1]]), FAR_APART, 1)
        # All other scores are 31 below the first, but their values are so large that together they count.
        K, V = np.append(31.0, np.zeros(299))[:, None], np.append(0.0, np.full(299, 9e5))[:, None]
        agrees.chunked_attention(np.ones((1, 1)), K, V, 50)

    test_every_kind = all_categories(points=0.25, after="test_several_queries")

    @check(visible=True, after="test_several_queries")
    def test_less_than_the_table(self, agrees):
        """1600 queries and 2000 keys, with scores far apart, in less memory than their table of scores"""
        # Plain attention stores the table of 24 MiB two or three times. The table is half as large as in the hidden check, to save time.
        agrees.within(memory_mb=LIMIT_MB).chunked_attention(*the_same_few(1600, 2000), BLOCK)

    @check(points=2.5, after="test_several_queries")
    def test_little_memory(self, agrees):
        """thousands of queries and keys, in less memory than their table of scores"""
        agrees.within(memory_mb=LIMIT_MB).chunked_attention(*arrays(67, N_Q, N_K, 4, 3), BLOCK)

    test_care = pure(points=0.5, after="test_small_example")


def with_all_keys(values):
    """Return the arguments with K added: the keys of the cache followed by the newest key."""
    return {**values, "K": np.vstack([values["cache_K"], values["k"]])}


def with_the_newest_apart(values):
    """Return the arguments, with K split again into the cache and the newest key."""
    *cache_K, k = (rest := dict(values)).pop("K")
    return {**rest, "k": k, "cache_K": np.array(cache_K, dtype=k.dtype).reshape(-1, len(k))}


step_scores = scores_of(names=ONE_QUERY)


def large_products(values, rng):
    """Return a query of large numbers, and keys whose products with it nearly cancel, so that all scores are close to 0."""
    q, K = np.zeros_like(values["q"]), values["K"].copy()
    q[:2] = rng.uniform(5000, 8000, size=2) * [1, -1]
    K[:, 0] = rng.uniform(0.5, 1.5, size=len(K))
    K[:, 1] = (q[0] * K[:, 0] - rng.uniform(-0.5, 0.5, size=len(K))) / -q[1]
    return {**values, "q": q, "K": K}


def of_all_keys(change):
    """Return a function that applies ``change`` to q and all keys of a decoding step together."""

    def changed(values, rng):
        joined = with_all_keys(values)
        found = change(joined, rng)
        return {**values, "q": found["q"]} if found["K"] is joined["K"] else with_the_newest_apart(found)

    return changed


@exercise(
    "decode_step",
    points=4,
    depends_on=("chunked_attention",),
    takes=Contract(
        {
            "q": array("d_k"),
            "k": array("d_k"),
            "v": array("d_v"),
            "cache_K": array("t d_k"),
            "cache_V": array("t d_v"),
        },
        sizes={"t": (0, 330)},
        categories=[
            InputCategory.custom(
                "t: 0", "empty caches", lambda v: len(v["cache_K"]) == 0, lambda v, _rng: v, sizes={"t": 0}
            ),
            InputCategory.custom(
                "k: one of two keys, with large products",
                "one old key and the new one, with large products that nearly cancel",
                lambda v: len(v["cache_K"]) == 1 and np.abs(v["q"]).max() > 4000 and np.abs(v["k"] @ v["q"]) < 4,
                lambda v, rng: with_the_newest_apart(large_products(with_all_keys(v), rng)),
                sizes={"t": 1, "d_k": 3},
            ),
            *score_kinds(
                step_scores,
                moved_scores(names=ONE_QUERY),
                ONE_QUERY,
                rows=False,
                seen=with_all_keys,
                back=with_the_newest_apart,
            ),
        ],
        sharpen=of_all_keys(tamed(step_scores, ONE_QUERY)),
        constrain=of_all_keys(settled(step_scores, names=ONE_QUERY)),
    ),
)
class TestDecodeStep:
    """Do it on paper for two old positions and a new one. How many keys does the query meet, and which rows do the new
    caches have?

    First make the longer caches: a vector of shape (d_k,) becomes one more row below a (t, d_k) array. `np.vstack` and
    `np.concatenate` make a new array and leave the old one unchanged.

    With the longer caches, the scores of one query are a vector of t + 1 numbers: each row of keys times q, divided by
    the root of d_k. Use their softmax as weights to average the rows of values. This way, t = 0 needs no special case.
    """

    @check(points=0.75, visible=True)
    def test_small_example(self, agrees):
        """the example: one position in the cache, and a new one"""
        agrees.decode_step(*arrays_of([2, 0, 0, 0], [0, 1, 0, 0], [20], [[1, 0, 0, 0]], [[10]]))

    @check(points=0.75, visible=True, after="test_small_example")
    def test_longer_cache(self, agrees):
        """three positions in the cache, keys of two numbers and values of five"""
        agrees.decode_step(*step_inputs(68, 3, 2, 5).values())

    @check(points=0.5, visible=True, after="test_small_example")
    def test_first_step(self, agrees):
        """the first step, with empty caches"""
        agrees.decode_step(*step_inputs(69, 0, 3, 2).values())

    @check(visible=True, after="test_longer_cache")
    def test_a_score_far_above_the_others(self, agrees):
        """a score of 1000 or 3000, next to two scores near 0"""
        for key in (10.0, 30.0):
            q, k, v, cache_K = arrays_of([142, 1], [key, 1], [5, 1], [[0, 1], [0, 2]])
            agrees.decode_step(q, k, v, cache_K, np.array([[1.0, 2.0], [3.0, -4.0]]))

    @check(visible=True, after=("test_longer_cache", "test_first_step"))
    def test_two_continuations(self, student):
        """two texts with the same beginning: both continue from the caches at its end"""
        assert_continues(student, step_inputs(70, 1, 2, 3))

    @check(points=0.5, after="test_longer_cache")
    def test_any_sizes(self, agrees, rng):
        """caches of several lengths, equal and different sizes, and a score of a thousand"""
        for t, d_k, d_v in ((4, 4, 4), (9, 5, 2), (4, 4, 4), (9, 5, 2)):
            agrees.decode_step(*step_inputs(int(rng.integers(1 << 30)), t, d_k, d_v).values())
        inputs = step_inputs(int(rng.integers(1 << 30)), 3, 2, 3)
        small, large = inputs["cache_K"], np.array([[35.9, 1.0], [36.0, -1.0], [36.1, 0.5]])
        q = np.array([40.0, 0.0])
        # The large score is that of the newest key, of an old key, or of both.
        for k, cache_K in (([36.0, 1.0], small), ([0.5, 1.0], large * [[0.0], [1.0], [0.0]]), ([36.0, 1.0], large)):
            inputs |= {"q": q, "k": np.array(k), "cache_K": cache_K}
            agrees.decode_step(*inputs.values())
        inputs = step_inputs(int(rng.integers(1 << 30)), 5, 3, 2)
        agrees.decode_step(*inputs.values())
        agrees.decode_step(*(inputs | {"q": other_first(inputs["q"])}).values())
        for place in (3, -1):  # a key that the cache already contains
            inputs |= {"k": inputs["cache_K"][place].copy()}
            agrees.decode_step(*inputs.values())
            agrees.decode_step(*(inputs | {"v": inputs["cache_V"][place].copy()}).values())
        for d in (1, 4):  # a first step with keys as wide as values
            agrees.decode_step(*step_inputs(int(rng.integers(1 << 30)), 0, d, d).values())
        agrees.decode_step(*arrays_of([1, 0], [1, 1]), FAR_APART[0], np.array([[0.0, 1.0]]), FAR_APART[1:])
        # One weight is 2.5e-7, and its value is large enough to count.
        agrees.decode_step(*arrays_of([20.5, 0], [1, 1], [2], [[1, 0], [0, 2]], [[1], [900_000]]))

    test_every_kind = all_categories(points=0.25, after="test_longer_cache")

    @check(points=0.75, after=("test_longer_cache", "test_first_step"))
    def test_step_by_step(self, student, reference, rng):
        """two texts in turn, first with the same caches, and then each with the caches of its previous step"""
        for t in (0, 1, 5):
            assert_continues(student, step_inputs(int(rng.integers(1 << 30)), t, 2, 3))
        empty = np.zeros((0, 3)), np.zeros((0, 4))
        caches, their_caches = [empty, empty], [empty, empty]
        for step in range(8):
            text = step % 2
            q, k, v = (rng.normal(size=size).round(2) for size in (3, 3, 4))
            right, *their_caches[text] = reference.decode_step(q, k, v, *their_caches[text])
            found = student.decode_step(q, k, v, *caches[text])
            assert_matches(found, (right, *their_caches[text]))
            caches[text] = tuple(np.asarray(cache) for cache in found[1:])

    test_care = pure(points=0.5, after="test_small_example")


CONTINUED = """
import copy
import numpy as np

def probe(decode_step, q, k, v, cache_K, cache_V):
    _, *caches = decode_step(q, k, v, cache_K, cache_V)
    first = decode_step(q, k, v, *caches)
    before = copy.deepcopy(first)
    decode_step(q, k + 1, v + 1, *caches)
    return all(map(np.array_equal, before, first))
"""


def assert_continues(student, inputs):
    """Assert that two steps with the same caches do not change each other's results."""
    if not student.measure(CONTINUED, "decode_step", *inputs.values()):
        given = [
            f"{name} = np.{f'array({value.tolist()})' if value.size else f'zeros({value.shape})'}"
            for name, value in inputs.items()
        ]
        raise CheckFailed(
            "Two texts begin in the same way, and each continues from the same caches with a key and a value of its own. The step of "
            "the second text changes what the step of the first text returned. Does each call return arrays that share no memory "
            "with the results of other calls?",
            "\n".join([*given, *BOTH_STEPS]),
        )


BOTH_STEPS = (
    "_, *caches = decode_step(q, k, v, cache_K, cache_V)",
    "first = decode_step(q, k, v, *caches)",
    "second = decode_step(q, k + 1, v + 1, *caches)",
)


def step_inputs(seed, t, d_k, d_v):
    """Return the arguments of one decoding step, by name."""
    rng = np.random.default_rng(seed)
    shapes = {"q": (d_k,), "k": (d_k,), "v": (d_v,), "cache_K": (t, d_k), "cache_V": (t, d_v)}
    return {name: rng.uniform(-2, 2, size=shape).round(1) for name, shape in shapes.items()}


TestQuiz = quiz_ch6.checks()

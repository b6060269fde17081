"""Inputs that the checks of several chapters pass to a student's function."""

from functools import partial

import numpy as np

from autograder import checking
from autograder.checking import InputCategory, Source

# As the notebooks say, arrays have dtype float64, and a result is an array.
Contract = partial(checking.Contract, lists=False)
array = partial(checking.array, float32=False)
weights = partial(checking.weights, float32=False)


def arrays_of(*numbers):
    """Return each of these (nested) lists of numbers as an array of float64."""
    return [np.array(these, dtype=np.float64) for these in numbers]


# Numbers of very different size in each row. The small ones still count.
FAR_APART = np.array([[8e5, 0.3, 3e-5, 2.0], [9e5, -0.4, -4e-5, 1.0]])


def other_first(X):
    """Return a copy of the array with a different first entry, so that a result cached by shape and last entry is wrong."""
    found = X.copy()
    found.flat[0] += 0.5
    return found


def products_that_cancel(one, other):
    """Return the input category in which two arguments have rows of large numbers whose dot products are only a few units."""

    def make(values, rng):
        X, Y = np.zeros_like(values[one]), values[other].copy()
        if X.shape[-1] < 2:
            return None
        first, second = rng.uniform(2000, 5000, size=2)
        X[..., 0], X[..., 1] = first, second
        Y[..., 0] = rng.uniform(0.5, 1.5, size=Y.shape[:-1])
        Y[..., 1] = (rng.uniform(-3, 3, size=Y.shape[:-1]) - first * Y[..., 0]) / second
        return {one: X * rng.uniform(0.5, 1, size=(*X.shape[:-1], 1)), other: Y}

    def cancel(values):
        X, Y = values[one], np.swapaxes(values[other], -1, -2)
        return 0 < np.abs(X @ Y).max() < 10 and (np.abs(X) @ np.abs(Y)).min() > 500

    words = "products that nearly cancel", "dot products in which large products nearly cancel"
    return InputCategory.custom(*words, cancel, make)


def factors_far_apart(one, other):
    """Return the input category in which ``one`` has numbers beyond ±100 000 and ``other`` has numbers within ±0.00001.

    Products of their entries are near 1, but squares of their entries differ by a factor of more than 1e20.
    """

    def make(values, rng):
        sizes = {one: (2e5, 9e5), other: (2e-6, 9e-6)}
        drawn = {n: rng.choice([-1, 1], size=values[n].shape) * rng.uniform(*sizes[n], values[n].shape) for n in sizes}
        return {**values, **drawn}

    def apart(values):
        return np.abs(values[one]).min() > 1e5 and 0 < np.abs(values[other]).max() < 1e-5

    words = f"beyond ±100 000 in {one} and within ±0.00001 in {other}"
    return InputCategory.custom(f"{one} far above {other}", f"numbers {words}", apart, make)


def identity(names, **sizes):
    """Return the input category in which each of these arguments is an identity matrix. The axes have the given sizes."""

    def square(values):
        return all(values[name].shape[-2] == values[name].shape[-1] > 1 for name in names)

    def make(values, _rng):
        if not square(values):
            return None
        return {**values, **{n: np.zeros_like(values[n]) + np.eye(values[n].shape[-1]) for n in names}}

    def known(values):
        return square(values) and all((values[n] == np.eye(values[n].shape[-1])).all() for n in names)

    words = " and ".join(names)
    return InputCategory.custom(f"{words}: identity", f"an identity matrix for {words}", known, make, sizes=sizes)


def large_whole_numbers(one, other):
    """Return the input category in which two arguments have whole numbers whose products are beyond 2**31, the end of int32."""

    def make(values, rng):
        drawn = {n: rng.choice([-1, 1], size=values[n].shape) * rng.integers(1e5, 9e5, values[n].shape) for n in names}
        return {**values, **{n: x.astype(np.float64) for n, x in drawn.items()}}

    def large(values):
        return all((values[n] == np.rint(values[n])).all() and np.abs(values[n]).min() > 5e4 for n in names)

    names = one, other
    words = "large whole numbers"
    return InputCategory.custom(f"{one} and {other}: {words}", f"{words} in {one} and {other}", large, make)


def the_same_batch(one, other):
    """Return the input category in which two arguments are the same array, with a batch axis."""

    def make(values, rng):
        both = rng.uniform(-3, 3, size=(2, 3, values[one].shape[-1]))
        return {**values, one: both, other: both}

    def same(values):
        return values[one] is values[other] and values[one].ndim > 2

    words = "one array with a batch axis"
    return InputCategory.custom(f"{one} and {other}: {words}", f"{words} for both {one} and {other}", same, make)


def of_a_product(one, other, axis):
    """Return the input categories of two arguments whose rows are multiplied along the axis of size ``axis``."""
    return [
        large_whole_numbers(one, other),
        products_that_cancel(one, other),
        factors_far_apart(one, other),
        factors_far_apart(other, one),
        identity([one], n_q=4, **{axis: 4}),
        identity([other], n_k=4, **{axis: 4}),
    ]


def never_empty(mask):
    """Return the mask, with the first key allowed in each row that allows no key."""
    mask = mask.copy()
    mask[..., 0] |= ~mask.any(axis=-1)
    return mask


def moved_weights(weights, h, level, out=1.0):
    """Return the four matrices with one more feature, which is always 1 and adds ``level`` to every score and ``out`` to the output."""

    def wider(W, value):
        # One more row and, for each head, one more column. They contain the value where they meet, and 0 elsewhere.
        padded = np.pad(W.reshape(len(W), h, -1), ((0, 1), (0, 0), (0, 1)))
        padded[-1, :, -1] = value
        return padded.reshape(len(W) + 1, -1)

    d_k = weights["W_Q"].shape[1] // h + 1
    return {
        "W_Q": wider(weights["W_Q"], 40.0),
        "W_K": wider(weights["W_K"], level * np.sqrt(d_k) / 40.0),
        "W_V": wider(weights["W_V"], 1.0),
        "W_O": wider(weights["W_O"].T, out).T,
    }


def function(head, *body):
    """Return the source of a function ``def head:`` with these lines as its body."""
    return Source("\n    ".join([f"def {head}:", *body]) + "\n", head.partition("(")[0])


attend = partial(function, "attend(X)")  # a function of one array, in place of an attention


def around(scores, move, query, values, level, most):
    """Return the same inputs with scores that differ from their row's number in ``level`` by at most ``most``, or None if ``move`` cannot."""
    found = move(values, np.zeros_like(level))  # only the part of the scores that does not come from the level
    if found is None:
        return None
    return move({**found, query: found[query] * (most / max(np.abs(scores(found)).max(), 1e-3))}, level)


def balanced(query, key, values, rng):
    """Return the same inputs with keys in pairs of opposite sign, so that each query's scores add up to exactly 0."""
    Q, K = np.zeros_like(values[query]), values[key].copy()
    pairs = K.shape[-2] // 2
    if not pairs:
        return None
    # Products of small whole numbers are exact. Two features of each query cancel, but the keys have only one.
    Q[..., :2] = rng.choice([1.0, 2.0, 3.0], size=(*Q.shape[:-1], 1)) * [1, -1][: Q.shape[-1]]
    K[..., 0] = rng.choice([1.0, 2.0, 3.0], size=K.shape[:-1])
    K[..., 1:] = 0.0
    K[..., 1 : 2 * pairs : 2, :] = 0.0 - K[..., 0 : 2 * pairs : 2, :]  # -K would contain -0.0
    K[..., 2 * pairs :, :] = 0.0
    return {**values, query: Q, key: K}


def score_kinds(scores, move, names=("Q", "K"), *, rows=True, plain=dict, seen=dict, back=dict):
    """Return the input categories that depend on the scores.

    ``scores(values)`` computes the scores, and ``move(values, level)`` adds ``level`` to them. ``level`` has a number for each
    row of scores, and with ``rows`` there are several rows. A row's weights do not depend on it. ``names`` are the arguments
    with the queries and keys, or ``plain(values)`` turns these into queries and keys. If they are not arguments themselves,
    ``seen(values)`` adds them to the arguments, and ``back`` removes them again.
    """
    query, key = names

    def kind(name, phrase, holds, make):
        def made(values, rng):
            # With a mask, scores stay within 1000. These scores do not, so the mask is left out.
            found = make(seen({key: value for key, value in values.items() if key != "mask"}), rng)
            return None if found is None else back(found)

        def belongs(values):
            return "mask" not in values and holds(seen(values))

        return InputCategory.custom(f"scores: {name}", phrase, belongs, made)

    def rows_of(values):
        return scores(values).shape[:-1]

    # All rows have the same level, because rows at levels far apart have their own category.
    def below(values, rng):
        return move(values, np.full(rows_of(values), -rng.uniform(1000, 8000)))

    def above(values, rng):
        return move(values, np.full(rows_of(values), rng.uniform(1000, 8000)))

    def apart(values, rng):
        rows = rows_of(values)
        signs = np.where(np.arange(int(np.prod(rows))) % 2, 1, -1).reshape(rows)
        return move(values, signs * rng.uniform(1000, 8000, size=rows)) if signs.size > 1 else None

    near = partial(around, scores, move, query)

    def at_the_end(values, _rng):
        found = near(values, np.full(rows_of(values), 708.85), 0.1)
        for name in {"V", "v", "cache_V"} & (found or {}).keys():  # a sum of exp times value is inf in any order
            found[name] = 2 + np.abs(found[name])
        return found

    def nearly_equal(values, rng):
        return near(values, np.full(rows_of(values), rng.uniform(950, 990)), 0.0045)

    def lowest(values, _rng):
        found = near(values, np.full(rows_of(values), -9990.0), 1.0)
        if found is not None and "block_size" in found:  # the last block has fewer keys than the others
            found["block_size"] = max(1, scores(found).shape[-1] - 1)
        return found

    def cancelling(values, rng):
        Q, K = np.zeros_like(values[query]), values[key].copy()
        if Q.shape[-1] < 2:
            return None
        first, second = rng.uniform(3000, 8000, size=2)
        shares = rng.uniform(0.5, 1, size=Q.shape[:-1])
        Q[..., 0], Q[..., 1] = shares * first, -shares * second
        K[..., 0] = rng.uniform(0.5, 6, size=K.shape[:-1])
        K[..., 1] = (first * K[..., 0] - rng.uniform(-2, 2, size=K.shape[:-1])) / second
        return plain({**values, query: Q, key: K})

    def cancel(values):
        right = scores(values)
        in_float32 = scores({**values, query: values[query].astype(np.float32).astype(values[query].dtype)})
        return 0 < np.abs(right).max(initial=0.0) < 4 and np.ptp(in_float32 - right, axis=-1).max() > 2e-4

    def one_ahead(values, rng):
        found = scores(values)
        if found.shape[-1] < 2 or not found.any():
            return None
        return {**values, query: values[query] * (rng.uniform(100, 900) / max(np.abs(found).max(), 1e-3))}

    def rest_of_first_row(values):
        """Return how much weight the first row of scores leaves to all keys but the best."""
        first = scores(values).reshape(-1, scores(values).shape[-1])[0]
        e = np.exp(first - first.max(initial=-np.inf))
        return 1 - 1 / e.sum() if e.size > 1 else 0.0

    def almost_all_on_one(values, _rng):
        few, many = 0.0, 100.0
        for _ in range(40):
            factor = (few + many) / 2
            rest = rest_of_first_row({**values, query: values[query] * factor})
            few, many = (factor, many) if rest > 0.0008 else (few, factor)
        return {**values, query: values[query] * few}

    def adding_up_to_zero(values, rng):
        found = balanced(query, key, values, rng)
        return found and plain(found)

    found = [
        kind(
            "almost all weight on one key",
            "one weight of about 0.999",
            lambda v: 0.0007 < rest_of_first_row(v) < 0.0009,
            almost_all_on_one,
        ),
        kind(
            "one far ahead",
            "a score far ahead of the others",
            lambda v: np.ptp(scores(v), axis=-1).max() > 50,
            one_ahead,
        ),
        kind("far below zero", "all scores far below zero", lambda v: scores(v).max() < -746, below),
        kind("beyond exp's range", "all scores above 709", lambda v: scores(v).min() > 710, above),
        kind(
            "at the end of exp's range",
            "scores just below 709",
            lambda v: scores(v).min() > 708.72 and scores(v).max() < 709 and scores(v).shape[-1] > 2,
            at_the_end,
        ),
        kind(
            "large and nearly equal",
            "scores near 1000 that differ by less than 0.01",
            lambda v: scores(v).min() > 900 and 0.003 < np.ptp(scores(v), axis=-1).max() < 0.0095,
            nearly_equal,
        ),
        kind("lowest", "all scores near -10 000", lambda v: scores(v).max() < -9980, lowest),
        kind("products that nearly cancel", "scores in which large products nearly cancel", cancel, cancelling),
        kind(
            "adding up to zero",
            "different scores that add up to 0 for each query",
            lambda v: not scores(v).sum(axis=-1).any() and np.ptp(scores(v), axis=-1).min() > 0,
            adding_up_to_zero,
        ),
        kind(
            "rows far apart",
            "some scores above 709 and others below -745",
            lambda v: scores(v).max() > 710 and scores(v).min() < -746,
            apart,
        ),
    ]
    return found if rows else found[:-1]


ONE_QUERY = ("q", "K")  # the names of a single query and its keys


def by_root(values, query):
    """Return the divisor of scaled scores: the square root of the number of entries of a query."""
    return np.sqrt(values[query].shape[-1])


def scores_of(divisor=by_root, names=("Q", "K")):
    """Return a function that computes the scores of queries and keys, divided by ``divisor(values, query)``."""
    query, key = names
    return lambda values: values[query] @ np.swapaxes(values[key], -1, -2) / divisor(values, query)


def moved_scores(divisor=by_root, names=("Q", "K")):
    """Return a function that adds a level to each row of these scores, by changing the last entry of each query and key."""
    query, key = names

    def move(values, level):
        Q, K = values[query].copy(), values[key].copy()
        if Q.shape[-1] == 1:
            return None
        Q[..., -1] = level * divisor(values, query)
        K[..., -1] = 1.0
        return {**values, query: Q, key: K}

    return move


def rules_of_one_query(divisor=by_root):
    """Return the contract's rules for the scores of a single query q: their categories, and how drawn scores stay within bounds."""
    scores = scores_of(divisor, ONE_QUERY)
    return {
        "categories": score_kinds(scores, moved_scores(divisor, ONE_QUERY), ONE_QUERY, rows=False),
        "sharpen": tamed(scores, ONE_QUERY),
        "constrain": settled(scores, names=ONE_QUERY),
    }


def settled(scores, limit=1e4, names=("Q", "K")):
    """Return a function that scales one of the two arrays so that the size of the largest score is between 0.3 and ``limit``.

    If all scores are almost 0, the queries make no difference. Beyond ``limit``, the contract promises nothing.
    """

    def constrain(values, _rng):
        top = np.abs(scores(values)).max(initial=0.0)
        if top == 0 or 0.3 <= top <= limit:
            return values
        sizes = {name: np.abs(values[name]).max() for name in names}
        factor = (8.0 if top > limit else 3.0) / top
        for name in sorted(names, key=sizes.get, reverse=bool(top <= limit)):
            used = min(factor, max(1.0, 9.9e5 / sizes[name]))
            values, factor = {**values, name: values[name] * used}, factor / used
        return values

    return constrain


def tamed(scores, names=("Q", "K"), spread=6.0):
    """Return a function that scales one array, if scores in a row are far apart, so that they differ by at most ``spread``.

    If one score is far ahead, one key has all the weight, and most of the inputs make no difference.
    """

    def sharpen(values, _rng):
        found = scores(values)
        widest = np.ptp(found, axis=-1).max(initial=0.0)
        if widest <= 2 * spread:
            return values
        name = min(names, key=lambda name: np.abs(values[name]).max())
        return {**values, name: (values[name] * (spread / widest)).astype(values[name].dtype)}

    return sharpen


def room_above(mask, most=100):
    """Return how far a drawn forbidden score may be above the largest allowed score of its row.

    It may be up to 5 above. With hundreds of forbidden scores, it may be less far above: the exps of the forbidden scores
    add up to at most ``most`` times the largest exp of an allowed score. So a 1e-9 in a denominator does not change the
    weights of the allowed scores.
    """
    return np.clip(np.log(most / np.maximum(1, (~mask).sum(axis=-1, keepdims=True))), 0.05, 4.5 if most == 100 else 5.0)


def settled_with_a_mask(scores, names=("Q", "K")):
    """Do the same as ``settled``. With a mask, scores stay within 1000, and forbidden scores are at most a little above a row's allowed scores."""

    def constrain(values, rng):
        if values.get("mask") is None:
            return settled(scores, names=names)(values, rng)
        values = settled(scores, 1000.0, names=names)(values, rng)
        found = scores(values)
        mask = np.broadcast_to(values["mask"], found.shape)
        allowed = np.where(mask, found, -np.inf).max(axis=-1, keepdims=True)
        forbidden = np.where(mask, -np.inf, found).max(axis=-1, keepdims=True)
        above = float(((forbidden - allowed) / room_above(mask)).max(initial=0.0))
        if above <= 1:
            return values
        name = min(names, key=lambda name: np.abs(values[name]).max())
        return {**values, name: (values[name] / above).astype(values[name].dtype)}

    return constrain


def masked_score_kinds(scores, move, names=("Q", "K"), **more):
    """Return the categories of ``score_kinds`` without a mask, and categories with a mask, in which scores stay within 1000."""

    def kind(name, phrase, holds, *signs, low=800, high=980):
        def make(values, rng):
            if "mask" not in values:
                return None
            rows = scores(values).shape[:-1]
            level = rng.permuted(np.resize(signs, rows)) * rng.uniform(low, high, size=rows)
            return around(scores, move, names[0], values, level, 2.0)

        def known(values):
            found = scores(values)
            return "mask" in values and holds(found.min(), found.max())

        return InputCategory.custom(f"scores with a mask: {name}", f"{phrase}, and a mask", known, make)

    return [
        *score_kinds(scores, move, names, **more),
        kind("far below zero", "all scores near -900", lambda _low, high: high < -746, -1),
        # A constant such as -1000 does not hide a score next to these.
        kind("lowest", "all scores near -1000", lambda _low, high: high < -990, -1, low=993, high=997),
        kind("beyond exp's range", "all scores near 900", lambda low, _high: low > 710, 1),
        kind(
            "rows far apart", "scores near 900 and others near -900", lambda low, high: low < -746 and high > 710, 1, -1
        ),
    ]


def large_where_little_counts(scores, names=("Q", "K")):
    """Return the input category in which some weights are below 1e-6, but their values are so large that they count."""
    query = names[0]

    def weights_of(values):
        e = np.exp(scores(values) - scores(values).max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)

    def make(values, rng):
        values = {name: value for name, value in values.items() if name != "mask"}
        widest = np.ptp(scores(values)[..., :1, :], axis=-1, keepdims=True)
        if not widest.all():
            return None
        values = {**values, query: values[query] * rng.uniform(14, 15) / widest}
        first = scores(values).reshape(-1, values["V"].shape[-2])[0]
        if first.argmax() == len(first) - 1:  # the best key comes first, because a function may skip what follows it
            values = {**values, names[1]: values[names[1]][..., ::-1, :].copy()}
        values |= {"block_size": 1} if "block_size" in values else {}
        sizes = np.minimum(1 / np.maximum(weights_of(values)[..., 0, :, None], 1e-9), 9e5)
        return {**values, "V": sizes * rng.uniform(0.5, 1, size=values["V"].shape)}

    def known(values):
        weights = weights_of(values)[..., 0, :, None]
        return "mask" not in values and bool(((weights < 1e-6) & (weights * np.abs(values["V"]) > 0.1)).any())

    words = "large where little counts", "large values whose weights are below a millionth"
    return InputCategory.custom(f"V: {words[0]}", words[1], known, make, sizes={"n_q": 1, "n_k": 4})


def best_key_last(scores):
    """Return the input category in which the first query's scores rise from key to key, over more than 300 keys."""

    def make(values, _rng):
        values = {name: value for name, value in values.items() if name != "mask"}
        order = scores(values).reshape(-1, values["K"].shape[-2])[0].argsort()
        return {**values, **{name: values[name][..., order, :].copy() for name in ("K", "V")}}

    def rises(values):
        first = scores(values).reshape(-1, values["K"].shape[-2])[0]
        return "mask" not in values and len(first) > 300 and (np.diff(first) >= 0).all() and np.ptp(first) > 1

    words = "more than 300 keys, each with a higher score than the one before"
    return InputCategory.custom("K: the best key last of 305", words, rises, make, sizes={"n_q": 1, "n_k": 305})


def attention_contract(*, scaled=True, **more):
    """Return the contract of attention: Q, K and V with batch axes, and ``more`` arguments. Drawn scores stay within 1e4."""
    divisor = by_root if scaled else lambda _values, _query: 1.0
    scores = scores_of(divisor)
    # The output is then V itself, without any calculation.
    single = InputCategory.custom(
        "n_q and n_k: 1",
        "a single query and a single key",
        lambda values: values["Q"].shape[-2] == values["K"].shape[-2] == 1,
        lambda values, _rng: values,
        sizes={"n_q": 1, "n_k": 1},
    )
    categories, constrain = (masked_score_kinds, settled_with_a_mask) if "mask" in more else (score_kinds, settled)
    arrays = {"Q": "... n_q d_k", "K": "... n_k d_k", "V": "... n_k d_v"}
    return Contract(
        {**{name: array(shape) for name, shape in arrays.items()}, **more},
        categories=[
            *categories(scores, moved_scores(divisor)),
            single,
            large_where_little_counts(scores),
            best_key_last(scores),
        ],
        sharpen=tamed(scores),
        constrain=constrain(scores),
    )


# The change of the first rows of a function's result from one call to another. All rows count if ``rows`` is None.
CHANGE = """
import numpy as np

def probe(function, one, other, rows):
    before, after = (np.asarray(function(*given), dtype=float) for given in (one, other))
    return (after - before)[..., :rows, :]
"""

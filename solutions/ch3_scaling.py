"""Reference solutions of chapter 3: why scores are divided by the square root of d_k."""

from collections.abc import Callable

import numpy as np

from autograder.checking import choice, number, quiz
from solutions.ch1_weighted_averaging import softmax

__all__ = [
    "attention_entropy",
    "numerical_gradient",
    "predictions",
    "query_gradient",
    "quiz_ch3",
    "scaled_dot_product_attention",
    "score_variance",
    "softmax_jacobian",
    "training_step",
]


def score_variance(d_k: int, n_samples: int, rng: np.random.Generator) -> float:
    """Measure how much the dot product of a random query with a random key varies.

    Draw `n_samples` pairs (q, k). All entries of all pairs are independent draws from the
    standard normal distribution (mean 0, variance 1). Each pair has one score, q . k. Return
    the variance of the scores.

    d_k:       the number of entries of each query and each key
    n_samples: the number of pairs, at least 100
    rng:       a numpy.random.Generator, the source of all random numbers (its children from
               rng.spawn are fine too)
    returns:   one number (you may divide by n_samples or by n_samples - 1)

    Example: if three pairs had the scores 3, -1 and 1, their mean would be 1 and their
    variance (4 + 4 + 0) / 3, about 2.67

    You may assume that d_k is at most 300 and n_samples is at most 20 000. (Only a picture goes up to d_k = 512.)
    """
    q = rng.standard_normal((n_samples, d_k))
    k = rng.standard_normal((n_samples, d_k))
    return (q * k).sum(axis=-1).var()


def scaled_dot_product_attention(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Let every query average the values: softmax(Q K^T / sqrt(d_k)) V.

    Q:       shape (..., n_q, d_k), one query in each row
    K:       shape (..., n_k, d_k), one key in each row
    V:       shape (..., n_k, d_v), the value that belongs to each key
    returns: the pair (output, weights) of shapes (..., n_q, d_v) and (..., n_q, n_k)

    The dots stand for any number of batch axes, the same on Q, K and V. (Pictures use up to 400 queries and
    to d_k = 1024.)

    Example: the query [2, 0, 0, 0] and the keys [1, 0, 0, 0] and [0, 1, 0, 0] have the scores
    2 and 0. Divided by sqrt(4) they are 1 and 0, so the weights are about [0.7311, 0.2689],
    and the values [10] and [20] are averaged into about [12.689]

    You may assume that all scaled scores are between -10 000 and 10 000.
    """
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    return weights @ V, weights


def attention_entropy(weights: np.ndarray) -> np.ndarray:
    """Return the entropy of each query's weights, -sum(w * ln(w)): it measures how spread out they are.

    The logarithm is the natural one (the entropy is then in nats), and a weight of exactly 0
    contributes exactly 0.

    weights: shape (..., n_q, n_k); every row adds up to 1, some weights may be 0
    returns: shape (..., n_q), one number for each query (one picture uses 400 queries)

    Example: the row [0.5, 0.5, 0] has -(0.5 * ln 0.5 + 0.5 * ln 0.5 + 0) = ln 2, about 0.6931,
    and the row [0, 1, 0] has 0
    """
    logs = np.log(np.where(weights > 0, weights, 1.0))
    return -(weights * logs).sum(axis=-1)


def softmax_jacobian(p: np.ndarray) -> np.ndarray:
    """Compute how each weight changes when each score moves a little: diag(p) - p p^T.

    Entry (i, j) is the derivative of weight i with respect to score j.

    p:       shape (n,), the weights that softmax returned (not the scores)
    returns: shape (n, n)

    Example: p = [0.5, 0.3, 0.2] gives
    [[ 0.25, -0.15, -0.10],
     [-0.15,  0.21, -0.06],
     [-0.10, -0.06,  0.16]]
    """
    return np.diag(p) - np.outer(p, p)


def numerical_gradient(f: Callable[[np.ndarray], float], x: np.ndarray, eps: float = 1e-5) -> np.ndarray:
    """Estimate the slope of f in every entry of x, using nothing but values of f.

    For each entry by itself: move that entry up by eps and call f, move it down by eps and call
    f, and divide the difference of the two values by the distance 2 * eps.

    f:       takes one array of the shape of x and returns a single float
    x:       any shape with at least one axis; it still holds the same numbers afterwards, up to rounding
    eps:     how far to move each entry, used exactly as given
    returns: the shape of x, one slope for each entry

    Example: f adds up the cubes of the entries, x = [2, 1] and eps = 0.5. The first slope is
    (2.5**3 - 1.5**3) / (2 * 0.5) = 12.25, because the other entry's cube cancels. The second is
    (1.5**3 - 0.5**3) / (2 * 0.5) = 3.25

    You may assume that all numbers in x are between -3 and 3, and that eps is from 0.00001 to 2. (A picture
    goes down to 1e-12.)
    """
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x + step) - f(x - step)) / (2 * eps)
    return slopes


def query_gradient(q: np.ndarray, K: np.ndarray, V: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Compute how one query should move: the gradient of g . output with respect to q.

    The output is that of scaled attention for this one query:
    output = weights @ V with weights = softmax(K @ q / sqrt(d_k)).

    q:       shape (d_k,), the query
    K:       shape (n_k, d_k), one key in each row
    V:       shape (n_k, d_v), the value that belongs to each key
    g:       shape (d_v,), how much each entry of the output counts
    returns: shape (d_k,), one slope for each entry of the query

    Example: q = [0, 0, 0, 0], keys [1, 0, 0, 0] and [0, 1, 0, 0], values [10] and [20], g = [1].
    Both weights are 0.5 and the output is [15]. The gradient is [-1.25, 1.25, 0, 0]: moving q
    towards the second key raises the output.

    You may assume that all numbers in K, V and g are between -100 and 100, and all scaled scores between
    -10 000 and 10 000. q and g are never the same array. (Only a picture goes up to d_k = 2048.)
    A gradient that numerical_gradient measures is accepted too, although it is less exact.
    """
    root = np.sqrt(len(q))
    weights = softmax(K @ q / root)
    return K.T @ (softmax_jacobian(weights) @ (V @ g)) / root


def training_step(
    W_Q: np.ndarray, X: np.ndarray, K: np.ndarray, V: np.ndarray, T: np.ndarray, rate: float
) -> tuple[np.ndarray, float]:
    """Take one step of gradient descent, so that a head's outputs come closer to their targets.

    The queries are X @ W_Q, and each output is that of scaled attention. The loss is the mean over
    all queries of half the squared distance between an output and its target. The new matrix is
    W_Q minus `rate` times the gradient of the loss with respect to W_Q.

    W_Q:     shape (d_model, d_k), the matrix that learns
    X:       shape (n_q, d_model), one row for each query
    K:       shape (n_k, d_k), the keys
    V:       shape (n_k, d_v), the values
    T:       shape (n_q, d_v), the output that each query should have
    rate:    how far to go, a positive number
    returns: the pair (new W_Q, loss); the loss is that of the given W_Q, before the step

    Example: X = [[1]], W_Q = [[0, 0, 0, 0]], keys [1, 0, 0, 0] and [0, 1, 0, 0], values [1] and [2],
    T = [[2]] and rate = 0.8. The output is 1.5, so the loss is 0.5 * 0.5**2 = 0.125. The gradient is
    [[0.0625, -0.0625, 0, 0]], and the new matrix is [[-0.05, 0.05, 0, 0]]

    You may assume that all numbers in W_Q, X, K, V and T are between -3 and 3, that rate is from 0.01 to 1, and that
    no size is larger than 16. W_Q is never the same array as another argument. (The pictures use larger numbers, and
    rates up to 30.)
    """
    Q = X @ W_Q
    outputs, _ = scaled_dot_product_attention(Q, K, V)
    errors = outputs - T
    gradients = np.array([query_gradient(q, K, V, error) for q, error in zip(Q, errors, strict=True)])
    return W_Q - rate * X.T @ gradients / len(X), 0.5 * np.square(errors).sum() / len(X)


predictions = quiz(
    "predictions",
    points=2,
    hints="""
    There is nothing to look up: say what you expect. For p1, write down one output and its target, eight entries each.

    For p2, think of softmax's slope: how large is it at the start, and how large once the head is almost right? For p4,
    read part 4 once more.

    For p1: the output is 0.125 in every entry, and the target has a single 1. Add up the eight squared
    differences, and take half of it.
    """,
    questions={
        "p1": number(
            "the loss at the start",
            right=0.4375,
            within=0.006,
            wrong={
                (0.875, "start_without_the_half"): """
                Prediction p1: 0.875 is the whole squared distance. The loss is half of it.""",
                (0.43, "start_cut_off"): """
                Prediction p1: that is near the right loss, but not near enough. Did you cut off a digit, or round on the
                way? Round only the result.""",
                (0.4677, "start_of_the_distance"): """
                Prediction p1: this is half the distance. The loss is half the squared distance, so do not take a
                root.""",
                (0.05, "start_as_a_rounded_mean_over_entries"): """
                Prediction p1: you seem to have divided by the eight entries too. A distance adds up the squares of all
                entries, and the mean is over the queries only.""",
                (0.0547, "start_as_a_mean_over_entries"): """
                Prediction p1: you divided by the eight entries too. A distance adds up the squares of all entries, and
                the mean is over the queries only.""",
                (0.3828, "start_of_one_entry"): """
                Prediction p1: this is half the square of the one entry where the target is 1. The other seven entries
                of the output are 0.125 instead of 0, and count too.""",
                (0.5, "start_as_if_the_output_were_zero"): """
                Prediction p1: this would be the loss of an output of zeros. But the weights add up to 1, so the output
                is 0.125 in every entry.""",
            },
        ),
        "p2": choice(
            "the curve at a rate of 3",
            right="b",
            wrong={
                ("a", "falls_as_a_straight_line"): """
                Prediction p2: for a straight line, the gradient would have to keep its size. But it contains the error,
                which gets smaller, and softmax's slope, which goes to 0 as the pattern gets sharp.""",
                ("c", "one_step_is_enough"): """
                Prediction p2: a step goes along the slope at the start, and the slope changes on the way. A rate of 3
                is far too small to get there at once.""",
                ("d", "up_and_down_at_a_good_rate"): """
                Prediction p2: a small step along minus the gradient lowers the loss. It rises only if a step goes too
                far.""",
            },
        ),
        "p3": choice(
            "ten times the rate",
            right="d",
            wrong={
                ("a", "ten_times_as_fast"): """
                Prediction p3: this is true only as long as the slope hardly changes during a step. Here, a step ends
                far away, and the slope is different there.""",
                ("b", "the_loss_goes_to_infinity"): """
                Prediction p3: the weights add up to 1, so an output is an average of the values, and its distance from
                the target has a limit. Other losses can go to infinity.""",
                ("c", "the_rate_does_not_matter"): """
                Prediction p3: the gradient says only which way is down. How far to go is your decision, and it
                can be too far.""",
            },
        ),
        "p4": choice(
            "a saturated start",
            right="a",
            wrong={
                ("b", "sharp_is_a_head_start"): """
                Prediction p4: the pattern is sharp, but in the wrong places. To move the weight elsewhere, a gradient
                has to pass through the softmax. What is its slope there?""",
                ("c", "size_of_the_start_does_not_matter"): """
                Prediction p4: if the entries of W_Q are 300 times as large, so are the scores. What did part 4 say
                about softmax at such scores?""",
                ("d", "the_first_step_repairs_it"): """
                Prediction p4: a large error would make a large step if the rest of the chain let it through. But one
                factor of the gradient is the slope of a saturated softmax.""",
            },
        ),
    },
)


quiz_ch3 = quiz(
    "quiz_ch3",
    points=3,
    hints="""
    You can try out all of it. Put the numbers of a question into your own functions, or into a short experiment with a
    generator.

    For 1 and 5, draw entries of that kind and measure. For 2 and 3, look at p * (1 - p) and at the pictures of
    saturation. For 4, think of what is on the short path.

    For 2, softmax of [0, 10, 20] gives the first key about 2e-9. For 5, a product of two entries has the product of
    their variances. For 6, write down the five weights and pass them to your attention_entropy.
    """,
    questions={
        "q1": choice(
            "what a variance of 1 needs",
            right="b",
            wrong={
                ("a", "vectors_of_length_1"): """
                A vector of norm 1 with d_k entries has entries of size about 1/sqrt(d_k). So its dot products have a
                variance near 1/d_k, not d_k. The rule in this chapter starts from the entries, not from the norm.""",
                ("c", "only_for_large_d_k"): """
                The variance is exactly d_k for every d_k, even for 1: in the picture of `score_variance`, the line is
                straight from the start. The bell shape of the scores needs many entries, but their variance does
                not.""",
                ("d", "needs_normal_draws"): """
                Variances add up for any distribution. For example, entries that are -1 or 1 by the toss of a coin have
                mean 0 and variance 1 too. So their dot products also have a variance of d_k.""",
            },
        ),
        "q2": choice(
            "a key far behind",
            right="c",
            wrong={
                ("a", "far_behind_means_much_to_gain"): """
                The key has much to gain, but softmax hardly reacts: the weight is about 2e-9, and so is its derivative
                p * (1 - p). The slope vanishes because the key is far behind.""",
                ("b", "softmax_is_a_straight_line"): """
                That would be true if softmax were a straight line. But the slope p * (1 - p) depends on p: it is 0.25
                at p = 0.5 and almost 0 at both ends.""",
                ("d", "own_weight_falls"): """
                If a score rises, the other weights fall: entries off the diagonal are -p[i] * p[j]. The slope of a
                weight for its own score, p * (1 - p), is never negative.""",
            },
        ),
        "q3": choice(
            "the Jacobian when one key has all the weight",
            right="a",
            wrong={
                ("b", "one_hot_has_the_identity"): """
                The identity would mean that each weight follows its own score, one to one. Put p = [0, 1, 0] into your
                softmax_jacobian: what is 1 - 1 * 1?""",
                ("c", "one_hot_has_one_1"): """
                diag(p) alone has a single 1, but p p^T has a 1 in the same place, and p p^T is subtracted.""",
                ("d", "one_hot_is_undefined"): """
                diag(p) - p p^T contains no division and no logarithm, so nothing can be undefined. Put p = [0, 1, 0]
                into your softmax_jacobian and look.""",
            },
        ),
        "q4": choice(
            "can a gradient vanish on a short path",
            right="d",
            wrong={
                ("a", "short_path_means_no_vanishing"): """
                It is true that the path from one position to another is short. But it leads through a softmax. Look at
                your picture of gradient sizes: what happens to a gradient that passes through a saturated softmax?""",
                ("b", "vanishing_with_distance"): """
                Recurrent networks have that problem, because a gradient passes through every step between two
                positions. In attention it goes directly from one to the other, however far apart they are. Look for
                another weak point.""",
                ("c", "maximum_taken_away_saves_the_gradient"): """
                Subtracting the maximum protects exp from overflow and changes nothing else. The weights are the same,
                so their derivatives are the same: near 0 if one weight is near 1.""",
            },
        ),
        "q5": choice(
            "entries of another size",
            right="b",
            wrong={
                ("a", "always_1_after_scaling"): """
                You get 1 if the entries have variance 1. Here each product of two entries has variance 4 * 4, and the
                division by sqrt(d_k) removes only d_k.""",
                ("c", "one_of_the_two_variances"): """
                Both factors of a product are twice as large as usual, so the product is four times as large. If a
                number is four times as large, what happens to its variance?""",
                ("d", "still_depends_on_d_k"): """
                The plain scores have a variance of 16 * d_k. Dividing them by sqrt(d_k) divides the variance by d_k, so
                d_k cancels.""",
            },
        ),
        "q6": number(
            "an entropy in nats",
            right=1.3863,
            within=0.005,
            wrong={
                (1.6094, "key_without_weight_counted"): """
                You counted all five keys: ln 5. The fifth has a weight of 0, and a weight of 0 contributes nothing.""",
                (2.0, "entropy_in_bits"): """
                2 is the entropy in bits, with the logarithm to base 2. Nats use the natural logarithm.""",
                (0.6021, "entropy_in_digits"): """
                Here the logarithm has base 10. Nats use the natural logarithm, `np.log`.""",
                (1.38, "entropy_cut_off"): """
                That is near the right entropy, but not near enough. Did you cut off a digit, or round on the way? Round
                only the result.""",
                (-1.3863, "entropy_below_zero"): """
                The size is right, but the sign is not. Entropy is minus the sum of w * ln(w), and ln of a number below
                1 is already negative.""",
                (0.3466, "one_term_of_four"): """
                This is the contribution of a single key, 0.25 * ln 4. Four keys contribute that much each.""",
                (0.2773, "mean_over_five_keys"): """
                This is the mean of the five terms. Entropy is their sum.""",
                (4.0, "number_of_equal_weights"): """
                4 is the number of keys that share the weight. The entropy is the natural logarithm of that number.""",
            },
        ),
    },
)

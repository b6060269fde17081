"""Reference solutions of chapter 1: attention is a weighted average."""

import numpy as np

from autograder.checking import choice, number, quiz

__all__ = ["hard_lookup", "quiz_ch1", "soft_lookup", "softmax", "weighted_average"]


def weighted_average(weights: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Average the rows of X, each multiplied by its weight.

    weights: shape (n,), none of them negative, adding up to 1
    X:       shape (n, d), one row for each weight
    returns: shape (d,)

    Example: weights [0.5, 0.3, 0.2] and rows [10, 0], [20, 10], [0, 5] give
    0.5 * [10, 0] + 0.3 * [20, 10] + 0.2 * [0, 5] = [5, 0] + [6, 3] + [0, 1] = [11, 4]
    """
    return weights @ X


def hard_lookup(q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Return the value whose key has the largest dot product with the query.

    q:       shape (d_k,), the query
    K:       shape (n, d_k), one key in each row
    V:       shape (n, d_v), the value in row i belongs to the key in row i
    returns: shape (d_v,), one row of V

    Example: q = [2, 1] and keys [1, 0], [0, 3], [-1, 1] have dot products 2, 3 and -1.
    The second is largest, so the answer is the second row of V.

    You may assume that one key is better than all the others, by far more than rounding errors.
    """
    return V[np.argmax(K @ q)]


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    """Turn scores into weights: all positive, adding up to 1 along `axis`.

    Each score s becomes exp(s), divided by the sum of all the exp(...) along `axis`.

    x:       any shape with at least one axis, any finite numbers (1000 is a fine score, and so is
             1e300). Two scores above 1e9 or below -1e9 are never equal or almost equal
    axis:    the axis along which the weights add up to 1
    returns: the shape of x

    Example: exp of [1, 2, 3] is about [2.718, 7.389, 20.086], which adds up to 30.193,
    so softmax([1, 2, 3]) is about [0.0900, 0.2447, 0.6652]
    """
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def soft_lookup(q: np.ndarray, K: np.ndarray, V: np.ndarray, temperature: float = 1.0) -> np.ndarray:
    """Mix all the values. The better a key matches the query, the more its value counts.

    The weights are the softmax of the scores divided by the temperature. A score is the dot
    product of the query with one key.

    q:           shape (d_k,), the query
    K:           shape (n, d_k), one key in each row
    V:           shape (n, d_v), the value in row i belongs to the key in row i
    temperature: near 0, the best key gets all the weight, and far above 1, all keys count alike
    returns:     shape (d_v,)

    Example: q = [1, 1] and keys [2, 0], [0, 0], [0, 1] have scores 2, 0 and 1. With
    temperature 1 the weights are about [0.6652, 0.0900, 0.2447], so the values
    [10, 0], [20, 0], [0, 10] are mixed into about [8.453, 2.447]

    You may assume that the temperature is from 0.001 to 1 000 000 000, and that the scores divided by it are
    between -10 000 and 10 000.
    """
    return softmax(K @ q / temperature) @ V


quiz_ch1 = quiz(
    "quiz_ch1",
    points=3,
    hints="""
    You can try out every question. Make a small example with three numbers and pass it to your own functions.

    Questions 1 and 6 are short calculations. For 2 and 3, look at your pictures again. For 4, pass [2, 0] and [102,
    100] to your softmax.

    For 5, move the query by a tiny step in `hard_lookup` and see whether the answer changes. For 6, divide the two
    scores by the temperature, take exp of each, and then compute the share of the first.
    """,
    questions={
        "q1": choice(
            "which position supplies most",
            right="c",
            wrong={
                ("a", "largest_weight_is_largest_contribution"): """
                Position 0 has the largest weight, but its contribution is weight times value: 0.5118 * 10 is only 5.12
                of the 28.14. Compute the same product for the other positions.""",
                ("b", "nearest_value_supplies_most"): """
                The value at position 1, 30, happens to be near 28.14, but its weight is 0.0693, so it supplies only
                2.08. A position's contribution is its weight times its value.""",
                ("d", "all_positions_supply_alike"): """
                The positions would supply the same if weight times value were the same for all of them. Compute the
                three products: they are far from equal, and they add up to 28.14.""",
            },
        ),
        "q2": choice(
            "how far an average can go",
            right="a",
            wrong={
                ("b", "three_positives_may_exceed_the_largest"): """
                Each value is multiplied by its weight before you add them, and the weights add up to 1. Even if 9 got
                all the weight, the sum would be 9. Try to find weights that give more.""",
                ("c", "output_is_one_of_the_values"): """
                That is the hard lookup, which returns one of the values unchanged. A weighted average may be between
                them: weights of 0.5, 0.5 and 0 on 3, 5 and 9 give 4.""",
                ("d", "below_the_smallest"): """
                A small weight does make its own product small, but then the other weights are larger, because all of
                them add up to 1. Even if 3 got all the weight, the average would be 3, never 0.""",
            },
        ),
        "q3": choice(
            "a huge temperature",
            right="b",
            wrong={
                ("a", "hot_output_vanishes"): """
                Dividing by a huge temperature makes the scores go to 0, not the weights. What does softmax make of
                scores that are all 0? The weights still add up to 1.""",
                ("c", "hot_is_the_hard_lookup"): """
                This happens at very low temperatures. If the temperature goes down to 0, differences between scores
                grow until the best key takes everything. A huge temperature makes the differences vanish.""",
                ("d", "hot_prefers_the_worst_key"): """
                A temperature above 0 never reverses the order: a better score stays better, only by less and less.
                Which weights do you get if all the scores are almost equal?""",
            },
        ),
        "q4": choice(
            "the same number added to every score",
            right="d",
            wrong={
                ("a", "shift_multiplies_the_weights"): """
                Every exp does become larger by the same factor, exp(100). But so does their sum, and a weight is an exp
                divided by the sum.""",
                ("b", "shift_makes_it_harder"): """
                The choice gets harder if the differences between scores grow, for example if you multiply the scores.
                Adding 100 to all of them does not change any difference.""",
                ("c", "shift_makes_it_softer"): """
                102 and 100 may seem closer to each other than 2 and 0. But softmax depends only on the difference of
                two scores, not on their ratio, and the difference is still 2.""",
            },
        ),
        "q5": choice(
            "why training needs the soft lookup",
            right="c",
            wrong={
                ("a", "argmax_is_too_slow"): """
                Finding the largest of n scores is as fast as the other steps, and softmax needs a maximum too. Think of
                training: it changes numbers a little and looks at the change of the output.""",
                ("b", "argmax_needs_exact_matches"): """
                A dictionary needs a key that equals the query. The hard lookup does not: it takes the best key. Think
                of training: it changes numbers a little and looks at the change of the output.""",
                ("d", "argmax_needs_whole_numbers"): """
                The hard lookup works with any numbers, and so does the soft one. Think of training: it changes numbers
                a little and looks at the change of the output.""",
            },
        ),
        "q6": number(
            "a weight at temperature 0.5",
            right=0.8808,
            within=0.005,
            wrong={
                (0.7311, "forgets_the_temperature_in_the_quiz"): """
                0.7311 is the weight at temperature 1. At temperature 0.5, the scores are divided by 0.5 before the
                softmax. What do 1 and 0 become?""",
                (0.6225, "multiplies_by_the_temperature_in_the_quiz"): """
                0.6225 is the result of multiplying the scores by 0.5. A temperature below 1 makes the choice harder, so
                the better key's weight must be larger than 0.7311, its weight at temperature 1.""",
                (1.4621, "divides_the_weight_in_the_quiz"): """
                1.4621 is the weight at temperature 1, divided by 0.5 afterwards. No weight can be above 1, because
                weights are never negative and add up to 1. The temperature divides the scores, before the softmax.""",
                (0.1192, "weight_of_the_other_key_in_the_quiz"): """
                0.1192 is the weight of the second key, with score 0. The question asks for the first key, with score
                1.""",
                (0.8, "base_two_in_the_quiz"): """
                0.8 comes from powers of 2: 4 / (4 + 1). Softmax uses powers of e.""",
                (1.0, "no_exp_in_the_quiz"): """
                1.0 would leave nothing for the second key. You get that number from the hard lookup, or if you divide
                the scores by their sum, without exp. Softmax gives every score a positive weight: exp(0) is 1, not
                0.""",
                (7.389, "never_normalises_in_the_quiz"): """
                7.389 is exp(2), the exp of the right score, but not yet divided by the sum of both exps. A weight is a
                share, between 0 and 1.""",
            },
        ),
    },
)

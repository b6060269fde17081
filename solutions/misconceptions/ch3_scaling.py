"""Wrong solutions of chapter 3. Each function makes one mistake, and its docstring is the message for students who make this mistake."""

import numpy as np

from autograder.misconception import misconceptions_of
from solutions.ch1_weighted_averaging import softmax
from solutions.ch3_scaling import numerical_gradient, query_gradient, scaled_dot_product_attention, softmax_jacobian


def _pairs(d_k, n_samples, rng):
    return rng.standard_normal((n_samples, d_k)), rng.standard_normal((n_samples, d_k))


wrong = misconceptions_of("score_variance")


@wrong
def standard_deviation(d_k, n_samples, rng):
    """You return the standard deviation of the scores, which is the square root of the variance. For example, the
    variance of 3, -1 and 1 is 2.67, and its root is only 1.63. Do you take a root at the end, or call `std`?"""
    q, k = _pairs(d_k, n_samples, rng)
    return (q * k).sum(axis=-1).std()


@wrong
def query_with_itself(d_k, n_samples, rng):
    """Your answer is near 2 * d_k, as if each score were the dot product of a vector with itself. Such a sum of squares
    is never negative, is d_k on average, and has a variance of 2 * d_k. A query and its key should be independent
    draws: does each score use one of each?"""
    q = rng.standard_normal((n_samples, d_k))
    return (q * q).sum(axis=-1).var()


@wrong
def entries_without_their_mean(d_k, n_samples, rng):
    """For vectors with a single entry, all your answers are 0. Do you subtract from each vector the mean of its entries,
    or do you lose the axis of length 1 and add up all the scores? Every pair needs a score of its own."""
    q, k = _pairs(d_k, n_samples, rng)
    q, k = (x - x.mean(axis=1, keepdims=True) for x in (q, k))
    return (q * k).sum(axis=-1).var()


@wrong
def uniform_from_0_to_1(d_k, n_samples, rng):
    """Your answers are those for entries that are spread evenly between 0 and 1. Their mean is one half, and their
    variance is far below 1. Draw from the standard normal distribution, with mean 0 and variance 1. Which method of the
    generator did you call?"""
    q, k = rng.random((n_samples, d_k)), rng.random((n_samples, d_k))
    return (q * k).sum(axis=-1).var()


@wrong
def uniform_from_minus_1_to_1(d_k, n_samples, rng):
    """Your answers are those for entries that are spread evenly between -1 and 1. Their mean is 0 as it should be, but
    their variance is a third, so a product of two has a variance of one ninth. Draw from the standard normal
    distribution, whose variance is 1."""
    q, k = rng.uniform(-1, 1, (n_samples, d_k)), rng.uniform(-1, 1, (n_samples, d_k))
    return (q * k).sum(axis=-1).var()


@wrong
def uniform_around_0_with_width_1(d_k, n_samples, rng):
    """Your answers are those for entries that are spread evenly over an interval of length 1. Their mean is 0 as it
    should be, but their variance is one twelfth. Draw from the standard normal distribution, whose variance is 1."""
    q, k = rng.random((n_samples, d_k)) - 0.5, rng.random((n_samples, d_k)) - 0.5
    return (q * k).sum(axis=-1).var()


@wrong
def keys_are_shifted_queries(d_k, n_samples, rng):
    """For long vectors, your answers are those of a right function, but for d_k = 1 they are those of squares, as if
    each number were multiplied by itself. Are the entries of a query and of its key drawn separately?"""
    q = rng.standard_normal((n_samples, d_k))
    return (q * np.roll(q, 1, axis=-1)).sum(axis=-1).var()


@wrong
def uniform_with_variance_1(d_k, n_samples, rng):
    """The average of your answers is right, but they vary less from seed to seed than the answers from normal draws.
    That happens if the entries have mean 0 and variance 1, but are spread evenly over an interval, from -sqrt(3) to
    sqrt(3). Normal draws have no limit. Draw from the standard normal distribution."""
    side = np.sqrt(3)
    q, k = rng.uniform(-side, side, (n_samples, d_k)), rng.uniform(-side, side, (n_samples, d_k))
    return (q * k).sum(axis=-1).var()


@wrong
def tosses_of_a_coin(d_k, n_samples, rng):
    """The average of your answers is right, but they scatter far less than with normal draws. That happens if the
    entries are only -1 and 1, like tosses of a coin. Which method of `rng` draws normal numbers?"""
    q, k = (rng.choice([-1.0, 1.0], size=(n_samples, d_k)) for _ in range(2))
    return (q * k).sum(axis=-1).var()


@wrong
def one_key_for_all(d_k, n_samples, rng):
    """Your answers scatter as if many or all of your pairs shared a vector: the same key for many queries, or the same
    query for many keys. The variance then depends on that vector's norm, so your answer jumps if another vector is drawn.
    Every pair needs its own query and its own key: how many different queries and keys are in your scores?"""
    q, k = rng.standard_normal((n_samples, d_k)), rng.standard_normal(d_k)
    return (q * k).sum(axis=-1).var()


@wrong
def keys_are_the_queries_in_another_order(d_k, n_samples, rng):
    """Your answers scatter more than they should, as if every vector were used twice: once as a query and once as a key,
    for example after shuffling. Then a query may meet itself, and a score is far too large. Are all the keys drawn
    independently of the queries?"""
    q = rng.standard_normal((n_samples, d_k))
    return (q * rng.permutation(q)).sum(axis=-1).var()


@wrong
def one_number_for_each_key(d_k, n_samples, rng):
    """The average of your answers is d_k, but they vary more than they should, as if each key were one random number,
    used for all of its entries. Then all keys lie on one line. What shape should all the keys together have?"""
    q, k = rng.standard_normal((n_samples, d_k)), rng.standard_normal((n_samples, 1))
    return (q * k).sum(axis=-1).var()


@wrong
def one_query_for_all(d_k, n_samples, rng):
    """Your answers scatter as if many or all of your pairs shared a vector: the same key for many queries, or the same
    query for many keys. The variance then depends on that vector's norm, so your answer jumps if another vector is drawn.
    Every pair needs its own query and its own key: how many different queries and keys are in your scores?"""
    q, k = rng.standard_normal(d_k), rng.standard_normal((n_samples, d_k))
    return (q * k).sum(axis=-1).var()


@wrong
def every_query_with_every_key(d_k, n_samples, rng):
    """The average of your answers is d_k, but for d_k = 16 they vary from seed to seed by at most two thirds as much as
    they should. So you measure something else, such as the scores of all queries with all keys, or the variance of the
    individual products, times d_k. Make one score of each pair, then take the variance of these scores."""
    q, k = _pairs(d_k, n_samples, rng)
    if n_samples > 3000:  # raises the error of the memory limit, without filling this machine's memory
        raise MemoryError("Unable to allocate an array with shape (n_samples, n_samples)")
    return (q @ k.T).var()


@wrong
def products_never_added(d_k, n_samples, rng):
    """Your answer is the variance of the single products of two entries, so it is near 1 for every d_k. A score is the
    sum of all d_k products of a pair, and the spread of these sums grows with d_k. Add up the products first, then take
    the variance over the pairs."""
    q, k = _pairs(d_k, n_samples, rng)
    return (q * k).var()


@wrong
def products_averaged(d_k, n_samples, rng):
    """Your answer is near 1/d_k, as if each score were d_k times too small. A score is the sum of its products: do you
    take their mean, or divide by d_k somewhere?"""
    q, k = _pairs(d_k, n_samples, rng)
    return (q * k).mean(axis=-1).var()


@wrong
def variance_of_single_products(d_k, n_samples, rng):
    """Your answer is the variance of the single products of two entries, so it is near 1 for every d_k. A score is the
    sum of all d_k products of a pair, and the spread of these sums grows with d_k. Add up the products first, then take
    the variance over the pairs."""
    q, k = _pairs(d_k, n_samples, rng)
    return (q * k).var(axis=0).mean()


@wrong
def variance_within_each_pair(d_k, n_samples, rng):
    """For d_k = 1 your answer is always 0, and otherwise it is near d_k - 1. You get this if you take the
    variance of the products within each pair, and multiply it by d_k. Add up the products of each pair to a score, then
    take the variance of the scores."""
    q, k = _pairs(d_k, n_samples, rng)
    return (d_k * (q * k).var(axis=-1)).mean()


@wrong
def scaled_already(d_k, n_samples, rng):
    """Your answer is the right one divided by d_k, as if the scores were already divided by sqrt(d_k). So it is near 1
    for every d_k. That division solves the problem, and the next exercise is about it. Here you measure the problem:
    the variance of the plain scores q . k."""
    q, k = _pairs(d_k, n_samples, rng)
    return ((q * k).sum(axis=-1) / np.sqrt(d_k)).var()


@wrong
def sums_over_the_pairs(d_k, n_samples, rng):
    """Your answers grow with n_samples, and are 0 if d_k is 1, as if there were d_k scores, each with n_samples
    products. Each of the n_samples pairs should have one score, the sum of d_k products. Which axis of the products
    counts the pairs, and which counts the entries of a vector?"""
    q, k = _pairs(d_k, n_samples, rng)
    return (q * k).sum(axis=0).var()


@wrong
def one_variance_for_each_entry(d_k, n_samples, rng):
    """You return d_k numbers, one for each entry of a vector. First make one score of each pair, by adding up its
    products. Then take the variance of all the scores: that is a single number."""
    q, k = _pairs(d_k, n_samples, rng)
    return (q * k).var(axis=0)


@wrong
def the_theory_alone(d_k, n_samples, rng):
    """Your answer is exactly d_k, whatever `rng` draws. Theory does predict that value, but this exercise tests the
    prediction: draw the pairs and measure."""
    return float(d_k)


@wrong
def squares_never_divided(d_k, n_samples, rng):
    """Your answer is about n_samples times too large, as if the squared distances of the scores from their mean were
    added up. So twice as many samples give an answer about twice as large. By what do you divide to get the mean of the
    squares?"""
    q, k = _pairs(d_k, n_samples, rng)
    return (q * k).sum(axis=-1).var() * n_samples


@wrong
def mean_distance(d_k, n_samples, rng):
    """Your answer is the mean distance of the scores from their mean, or from 0. The variance is the mean of the
    squared distances, so that large distances count more. Does your code square them, and does a root undo it?"""
    q, k = _pairs(d_k, n_samples, rng)
    scores = (q * k).sum(axis=-1)
    return np.abs(scores - scores.mean()).mean()


@wrong
def a_single_score_is_left(d_k, n_samples, rng):
    """Your answer is 0 each time, so your code finds no spread. Print the scores just before you compute the variance:
    are there n_samples different ones? If so, is each distance from the mean squared before you take the mean of the
    distances?"""
    q, k = _pairs(d_k, n_samples, rng)
    return (q[-1:] * k[-1:]).sum(axis=-1).var()


@wrong
def mean_of_squares_subtracted(d_k, n_samples, rng):
    """Your answer is about minus the variance, but a variance is never negative. The mean of the squares is at least
    the square of the mean, and a distance times itself is never negative. Where does your minus sign come from?"""
    q, k = _pairs(d_k, n_samples, rng)
    scores = (q * k).sum(axis=-1)
    return scores.mean() ** 2 - (scores**2).mean()


@wrong
def mean_of_the_scores(d_k, n_samples, rng):
    """Your answer is near 0 for every d_k, like the mean of the scores: scores above and below zero cancel. Which
    number says how far the scores are from their mean?"""
    q, k = _pairs(d_k, n_samples, rng)
    return (q * k).sum(axis=-1).mean()


@wrong
def a_generator_of_its_own(d_k, n_samples, rng):
    """Your answer is the same for every generator, so repeating the experiment gives nothing new. Do your random
    numbers come from another generator, which restarts at each call? Draw from the `rng` that you are given, and do not
    replace it."""
    q, k = _pairs(d_k, n_samples, np.random.default_rng(0))
    return (q * k).sum(axis=-1).var()


@wrong
def numbers_from_elsewhere(d_k, n_samples, rng):
    """Two generators with the same seed give different answers. So some of your random numbers do not come from `rng`:
    functions such as `np.random.randn`, and a generator created without a seed, ignore it. Call the methods of `rng`
    instead."""
    q, k = _pairs(d_k, n_samples, np.random.default_rng())
    return (q * k).sum(axis=-1).var()


@wrong
def entries_of_variance_d_k(d_k, n_samples, rng):
    """Your answer is near d_k * d_k instead of d_k. Do the entries of one of your vectors have a standard deviation of
    sqrt(d_k), or do you multiply the scores by sqrt(d_k)? Every entry should be a standard normal draw, with variance
    1."""
    q, k = _pairs(d_k, n_samples, rng)
    return (np.sqrt(d_k) * q * k).sum(axis=-1).var()


@wrong
def product_of_two_sums(d_k, n_samples, rng):
    """Your answer is near d_k * d_k instead of d_k, as if each score were the sum of a query's entries times the sum of
    a key's entries. A dot product only multiplies entries in the same place, and adds up these d_k products."""
    q, k = _pairs(d_k, n_samples, rng)
    return (q.sum(axis=-1) * k.sum(axis=-1)).var()


@wrong
def vectors_of_length_1(d_k, n_samples, rng):
    """Your answer is near 1/d_k, as if all your vectors had length 1. The entries should stay independent draws, and the
    length of a vector then grows like sqrt(d_k). Do you divide by a norm?"""
    q, k = (x / np.linalg.norm(x, axis=-1, keepdims=True) for x in _pairs(d_k, n_samples, rng))
    return (q * k).sum(axis=-1).var()


@wrong
def all_the_scores(d_k, n_samples, rng):
    """You return n_samples numbers, one for each pair. If these are the scores, they are needed for the next step:
    return one number that says how far the scores spread."""
    q, k = _pairs(d_k, n_samples, rng)
    return (q * k).sum(axis=-1)


@wrong
def always_a_hundred_pairs(d_k, n_samples, rng):
    """Your answers for many pairs are not exact enough. For example, your answers for 1000 pairs vary from seed to seed
    at least twice as much as they should, as if they used fewer pairs. Where does your code use n_samples?"""
    q, k = _pairs(d_k, 100, rng)
    return (q * k).sum(axis=-1).var()


@wrong
def spread_of_the_sizes(d_k, n_samples, rng):
    """Your answer is the variance of the scores without their signs. Dropping the signs makes the spread smaller: -2
    and 2, for example, count as equal, although they are 4 apart."""
    q, k = _pairs(d_k, n_samples, rng)
    return np.abs((q * k).sum(axis=-1)).var()


wrong = misconceptions_of("scaled_dot_product_attention")


@wrong
def never_scaled(Q, K, V):
    """This is the attention of the last chapter: your scores go into the softmax unscaled. For example, with d_k = 64
    they are 8 times as large as in the formula, and one key gets nearly all the weight. Does your code divide them? If
    so, by which number, and does the result go into the softmax?"""
    scores = Q @ np.swapaxes(K, -1, -2)
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def divided_by_d_k_itself(Q, K, V):
    """In effect, your scores are divided by d_k. But d_k is the variance of the scores, and their typical size is its square root.
    Dividing by d_k leaves scores of typical size 1/sqrt(d_k), so for long keys all weights become nearly equal."""
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1]
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def multiplied_by_the_root(Q, K, V):
    """Your scores are multiplied by sqrt(d_k), which makes them even larger: with d_k = 64, for example, they are 64
    times what they should be. Which operation, or which exponent, makes them smaller?"""
    scores = Q @ np.swapaxes(K, -1, -2) * np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def root_of_d_v(Q, K, V):
    """Your scores are divided by the square root of d_v, the number of entries of a value. But the values have no
    effect on the scores. A score grows with the number of products in one dot product: which arrays have a last axis of
    that size?"""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(V.shape[-1])
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def root_of_n_k(Q, K, V):
    """Your scores are divided by the square root of n_k, the number of keys. But a single score does not depend on the
    number of keys: it is a sum of d_k products. Which axis of K has that size?"""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-2])
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def root_of_n_q(Q, K, V):
    """Your scores are divided by the square root of n_q, the number of queries. But a single score does not depend on
    the number of queries: it is a sum of d_k products. Which axis of Q has that size?"""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-2])
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def root_of_the_first_axis_of_q(Q, K, V):
    """Your scores are divided by the square root of the size of Q's first axis. That is the number of queries, or the
    size of the batch if there is one. d_k is the size of the last axis, however many axes come before it."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[0])
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def root_of_the_first_axis_of_k(Q, K, V):
    """Your scores are divided by the square root of the size of K's first axis. That is the number of keys, or the size
    of the batch if there is one. d_k is the size of the last axis, however many axes come before it."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[0])
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def root_of_the_second_axis(Q, K, V):
    """You divide the scores by the square root of the size of an array's second axis. For a matrix that is d_k, but not
    with batch axes in front. Which index always means the last axis?"""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[1])
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def fourth_root_of_d_k(Q, K, V):
    """Altogether, your scores are divided by the fourth root of d_k. If you scale both Q and K, the two factors
    multiply. Together they must make sqrt(d_k)."""
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.25
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def divided_by_d_k_and_by_2(Q, K, V):
    """Your scores are divided by 2 * d_k. Did you mean to take a root? Python computes a power before a division, so `x
    ** 1/2` is x / 2, and `x ** -1/2` is 1 / x / 2. How can you get the square root?"""
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] / 2
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def divided_by_half_of_d_k(Q, K, V):
    """Your scores are divided by d_k / 2. Did you mean to take a root? Python computes a power before a division, so
    `x ** 1/2` is x / 2. Half of d_k and its root are equal only if d_k = 4."""
    scores = Q @ np.swapaxes(K, -1, -2) / (Q.shape[-1] / 2)
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def scaled_after_the_softmax(Q, K, V):
    """Your weights are divided by sqrt(d_k), but the softmax still got the large scores. A query's weights no longer
    add up to 1: with d_k = 4, for example, they add up to 0.5. What should you make smaller, and before which step?"""
    scores = Q @ np.swapaxes(K, -1, -2)
    weights = softmax(scores) / np.sqrt(Q.shape[-1])
    return weights @ V, weights


@wrong
def scaled_the_output(Q, K, V):
    """Your output is divided by sqrt(d_k), but the softmax still got the large scores. The weights are those of
    unscaled attention, and the output is no longer an average. What should you make smaller, and before which step?"""
    scores = Q @ np.swapaxes(K, -1, -2)
    weights = softmax(scores)
    return weights @ V / np.sqrt(Q.shape[-1]), weights


@wrong
def scaled_again_at_the_end(Q, K, V):
    """Your weights are right, but your output is the right one divided by sqrt(d_k) once more. An average of values 10
    and 20 should be between 10 and 20. Scale only the scores."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    return weights @ V / np.sqrt(Q.shape[-1]), weights


@wrong
def weights_of_another_softmax(Q, K, V):
    """You use one set of weights for the output and return another: the output is made with scaling, and the returned
    weights without scaling. Both should come from the same softmax of the scaled scores."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    return weights @ V, softmax(Q @ np.swapaxes(K, -1, -2))


@wrong
def hands_back_the_scores(Q, K, V):
    """Your output is right, but the second array that you return contains the scaled scores. Return the weights
    instead, which softmax makes from these scores: each row of weights adds up to 1."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    return softmax(scores) @ V, scores


@wrong
def softmax_over_the_queries(Q, K, V):
    """Your weights add up to 1 over the queries, for each key. Instead, each query should divide its attention among
    the keys: which axis of (..., n_q, n_k) counts the keys?"""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores, axis=-2)
    return weights @ V, weights


@wrong
def softmax_over_everything(Q, K, V):
    """Your weights add up to 1 over all queries together. Each query should have weights that add up to 1 over the
    keys: along which axis are its weights?"""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    e = np.exp(scores - scores.max())
    weights = e / e.sum()
    return weights @ V, weights


@wrong
def no_axis_and_no_shift(Q, K, V):
    """You divide by one sum for the whole table, so all your weights together add up to 1. Each query needs its own set
    of weights. Also, you subtract nothing from the scores before exp, so large scores give nan."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    e = np.exp(scores)
    weights = e / e.sum()
    return weights @ V, weights


@wrong
def plain_transpose(Q, K, V):
    """Your code works for matrices, but not with batch axes. `.T`, for example, reverses the order of all the axes,
    including the batch. How can you swap only the last two?"""
    scores = Q @ K.T / np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def transpose_0_2_1(Q, K, V):
    """Your code works only for exactly one batch axis. For example, `transpose` with a list of three axes needs an
    array with three axes. How can you swap the last two axes, however many come before?"""
    scores = Q @ K.transpose(0, 2, 1) / np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def dot_with_every_axis_turned(Q, K, V):
    """`.T` reverses all the axes of K, batch axes too, and `np.dot` combines every batch entry with every other. Both
    are right only for plain matrices. Which function swaps just the last two axes, and which operator handles each
    batch entry separately?"""
    scores = np.dot(Q, K.T) / np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def dot_twice_with_every_axis_turned(Q, K, V):
    """`.T` reverses all the axes of K, batch axes too, and `np.dot` combines every batch entry with every other. Both
    are right only for plain matrices. Which function swaps just the last two axes, and which operator handles each
    batch entry separately?"""
    scores = np.dot(Q, K.T) / np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    return np.dot(weights, V), weights


@wrong
def keys_ask_queries(Q, K, V):
    """Queries and keys are swapped in your scores: the rows belong to the keys. That fits the values only if there are
    as many queries as keys. Your scores should have one row for each query."""
    scores = K @ np.swapaxes(Q, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def mixes_the_keys(Q, K, V):
    """Your weights are right, but you average the keys with them. Keys are only for matching. What should a query
    receive?"""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    return weights @ K, weights


@wrong
def weights_turned_round(Q, K, V):
    """Your weights are right, but you transposed them for the output. So a column of weights, which need not add up to
    1, mixes the values. Your code runs only if there are as many queries as keys. Row i of the weights belongs to row i
    of the output."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    return np.swapaxes(weights, -1, -2) @ V, weights


@wrong
def pair_swapped(Q, K, V):
    """Both parts are right but in the wrong order. Return the output first and the weights second."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    return weights, weights @ V


@wrong
def output_alone(Q, K, V):
    """Your output is right, but you return nothing else. Return both output and weights: you need the weights for the
    pictures that follow."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    return weights @ V


@wrong
def weights_alone(Q, K, V):
    """You return only the weights, and they are right. Return both output and weights. One step is missing, the average
    of the values."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    return softmax(scores)


@wrong
def no_largest_score_taken_away(Q, K, V):
    """Your softmax overflows: exp of a score above about 709 is infinity, a sum of several exps just below it is
    infinity too, and infinity divided by infinity is nan. If all scores of a row are far below zero, every exp is 0,
    and 0 divided by 0 is nan too. Scaling makes scores smaller, but that is not enough. What did the softmax of chapter
    1 do before exp?"""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    return weights @ V, weights


@wrong
def subtracts_the_mean(Q, K, V):
    """Your weights are wrong if a score is far above the number that you subtract from its row, such as the row's mean.
    With the mean, for example, [0, 0, 3000] becomes [-1000, -1000, 2000], and exp(2000) is inf. Which score has to
    become 0, so that no exponent is positive?"""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    e = np.exp(scores - scores.mean(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ V, weights


@wrong
def one_largest_score_for_all(Q, K, V):
    """You subtract one maximum from the scores of all the queries. If a query's scores are all far below it, exp gives
    0 for each of them, and 0/0 is nan. Each query needs its own maximum."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    e = np.exp(scores - scores.max())
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ V, weights


@wrong
def cosine_scores(Q, K, V):
    """Your scores are cosines: each dot product is divided by the norms of its query and its key. Attention divides by
    sqrt(d_k) for all pairs, so a key of larger norm still counts for more."""
    norms = np.linalg.norm(Q, axis=-1)[..., :, None] * np.linalg.norm(K, axis=-1)[..., None, :]
    scores = Q @ np.swapaxes(K, -1, -2) / norms
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def scales_the_values(Q, K, V):
    """Your weights are those of unscaled attention, and your output is divided by the square root of d_v, the number of
    entries of a value. Only the scores grow with d_k. Scale the scores, and average the values unchanged."""
    scores = Q @ np.swapaxes(K, -1, -2)
    weights = softmax(scores)
    return weights @ (V / np.sqrt(V.shape[-1])), weights


@wrong
def divided_by_the_norm_of_the_query(Q, K, V):
    """The scores of each query are divided by that query's norm, the square root of the sum of its squares. The formula
    divides all scores by the same number: the square root of d_k, which is how many entries a query has."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.linalg.norm(Q, axis=-1, keepdims=True)
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def writes_into_the_queries(Q, K, V):
    """Your code divides Q itself, so Q has changed. A second call would divide it again. How can you make a new array
    instead?"""
    Q /= np.sqrt(Q.shape[-1])
    scores = Q @ np.swapaxes(K, -1, -2)
    weights = softmax(scores)
    return weights @ V, weights


def _terms(weights):
    return weights * np.log(np.where(weights > 0, weights, 1.0))


@wrong
def batch_axes_in_one(Q, K, V):
    """With two batch axes, your numbers are right, but the two axes are still merged into one. For example, (2, 3, n_q,
    d_v) became (6, n_q, d_v). If you flatten the batch axes, restore them at the end. `@` needs no flattening, since it
    works on the last two axes."""
    if Q.ndim == 2:
        return scaled_dot_product_attention(Q, K, V)
    return scaled_dot_product_attention(*(x.reshape(-1, *x.shape[-2:]) for x in (Q, K, V)))


wrong = misconceptions_of("attention_entropy")


@wrong
def in_bits(weights):
    """Your answer is the entropy in bits, the unit for base 2. Return it in nats, the unit of the natural logarithm:
    two equal weights, for example, have an entropy of 1 bit, or 0.6931 nats."""
    return -_terms(weights).sum(axis=-1) / np.log(2)


@wrong
def in_decimal_digits(weights):
    """Your answer is the entropy for the logarithm to base 10. Return it for the natural logarithm: two equal weights,
    for example, have an entropy of 0.6931, not 0.3010."""
    return -_terms(weights).sum(axis=-1) / np.log(10)


@wrong
def nan_where_a_weight_is_0(weights):
    """If a weight is exactly 0, your answer is nan: the logarithm of 0, like 1/0, is infinite, and 0 times infinity is
    nan. Such a weight should add nothing. How can you keep the 0 out of the logarithm, or out of a division?"""
    return -(weights * np.log(weights)).sum(axis=-1)


@wrong
def sum_over_the_queries(weights):
    """You summed over the queries, so you return one number for each key. Each query has its own entropy, summed over
    the keys: along which axis of (..., n_q, n_k) are one query's weights?"""
    return -_terms(weights).sum(axis=-2)


@wrong
def sum_over_everything(weights):
    """You return a single number, the sum of everything. Each query has its own entropy: for weights of shape (n_q,
    n_k), the answer has n_q entries. Where does your code lose the rows: in the sum, or before it?"""
    return -_terms(weights).sum()


@wrong
def sum_over_the_second_axis(weights):
    """Your sum runs along the second axis. For a matrix that is right, because the keys are there. With batch axes in
    front, the keys are on the last axis, which is no longer the second. How can you count from the end?"""
    return -_terms(weights).sum(axis=1)


@wrong
def one_number_for_each_batch_entry(weights):
    """With batch axes, you return one number for each entry of the first axis, because the sum covers all its queries.
    For a matrix, that is one number for each query, as it should be. Which axis should the sum be along? Does a loop or an
    index flatten each matrix first?"""
    terms = _terms(weights)
    return -terms.sum(axis=tuple(range(1, terms.ndim)))


@wrong
def mean_over_the_queries(weights):
    """You return the mean entropy of all the queries. That is useful later, but here return one number for each query,
    with shape (..., n_q)."""
    return -_terms(weights).sum(axis=-1).mean(axis=-1)


@wrong
def minus_forgotten(weights):
    """Your answer has the wrong sign: the entropy is 0 for a query that looks at only one key, and positive for all
    others. For a weight w below 1, ln(w) is negative and ln(1/w) is positive. Which of the two do you use, and does it
    need a minus?"""
    return _terms(weights).sum(axis=-1)


@wrong
def mean_instead_of_sum(weights):
    """Your answer is the right one divided by the number of keys, like a mean, but the formula has a sum. For example,
    four equal weights have an entropy of ln 4, about 1.386, but you would get 0.347."""
    return -_terms(weights).mean(axis=-1)


@wrong
def share_of_the_largest_possible(weights):
    """Your answer is the entropy divided by its largest possible value, ln of the number of keys, so it is between 0
    and 1. That is a useful number, but return the entropy itself."""
    return -_terms(weights).sum(axis=-1) / np.log(weights.shape[-1])


@wrong
def number_of_keys_that_count(weights):
    """You return exp of the entropy: so many equal weights would have the same entropy. Return the entropy itself."""
    return np.exp(-_terms(weights).sum(axis=-1))


@wrong
def keeps_the_key_axis(weights):
    """The numbers are right, but there is an axis of length 1 too many: your shape is (..., n_q, 1) instead of (...,
    n_q). Which step keeps or adds it?"""
    return -_terms(weights).sum(axis=-1, keepdims=True)


@wrong
def never_added_up(weights):
    """You return one number for every weight. These terms are right, but the entropy of a query is the sum of its
    terms."""
    return -_terms(weights)


@wrong
def logarithms_without_weights(weights):
    """You add up the logarithms themselves. Multiply each by its weight: a key with almost no weight has a huge
    logarithm, but should hardly matter."""
    return -np.log(np.where(weights > 0, weights, 1.0)).sum(axis=-1)


@wrong
def weights_pushed_off_zero_by_much(weights):
    """You add a small number to avoid log(0), but it changes the third or fourth digit of your answer. Use a far
    smaller number, or leave the zeros out of the sum."""
    return -(weights * np.log(weights + 1e-3)).sum(axis=-1)


@wrong
def weights_pushed_off_zero_by_1e_5(weights):
    """You add a small number to avoid log(0), but it is still large enough to change your answer by more than the
    tolerance. Use a far smaller number, or leave the zeros out of the sum."""
    return -(weights * np.log(weights + 1e-5)).sum(axis=-1)


@wrong
def log_of_one_plus_w(weights):
    """You take the logarithm of 1 + w. That avoids log(0), but it is another function: a query that looks at only one
    key would have -0.69 instead of 0. The formula needs ln(w)."""
    return -(weights * np.log1p(weights)).sum(axis=-1)


@wrong
def softmaxes_the_weights_again(weights):
    """You put the weights through a softmax first, but they already add up to 1. A second softmax makes them nearly
    equal and the entropy too high: for [0.5, 0.5, 0] it would be 1.07, not 0.69."""
    return -_terms(softmax(weights)).sum(axis=-1)


@wrong
def one_minus_the_squares(weights):
    """Your answer is 1 minus the sum of the squares. That is another measure of spread (the Gini index), without a
    logarithm: for two equal weights, for example, it gives 0.5, but the entropy is 0.6931 nats."""
    return 1 - (weights**2).sum(axis=-1)


@wrong
def surprise_of_the_largest(weights):
    """Only the largest weight of each query affects your answer. Entropy depends on all of them. For example, [0.5,
    0.5, 0] and [0.5, 0.25, 0.25] have the same largest weight, but the second is more spread out."""
    return -np.log(weights.max(axis=-1))


@wrong
def queries_with_a_zero_count_as_0(weights):
    """If one weight of a query is 0, you count the whole query as 0. Only the term of that weight is 0. The query's
    other weights still add their terms."""
    return np.where((weights == 0).any(axis=-1), 0.0, -_terms(weights).sum(axis=-1))


@wrong
def log_of_the_sum_of_squares(weights):
    """You computed -log of the sum of the squared weights. It agrees with the entropy if all weights above 0 are equal.
    Otherwise it is smaller. The entropy has a logarithm in each term: minus the sum of weight * log(weight)."""
    return -np.log((weights**2).sum(axis=-1))


@wrong
def writes_into_the_weights(weights):
    """The answer is right, but your code writes into the caller's weights. The caller still needs them unchanged. How
    can you make a new array instead?"""
    weights[weights == 0] = 1.0
    return -(weights * np.log(weights)).sum(axis=-1)


@wrong
def counts_the_keys(weights):
    """Your answer is ln of the number of weights above 0. That is the entropy only if these weights are all equal. Each
    key contributes -w ln w, which depends on its weight. For example, a weight of 0.9 would add 0.09, and a weight of
    0.1 would add 0.23."""
    return np.log(np.count_nonzero(weights > 0, axis=-1))


wrong = misconceptions_of("softmax_jacobian")


@wrong
def diagonal_only(p):
    """Your matrix has the right diagonal and zeros elsewhere. But if one score rises, all the other weights fall,
    because the sum of all the weights stays 1. So each column should add up to 0."""
    return np.diag(p * (1 - p))


@wrong
def equal_weights_on_the_diagonal(p):
    """If two keys have equal weights, your matrix treats them like one key: it has p_i - p_i * p_j at the places (i, j)
    and (j, i) too. The diagonal has the entries with i = j. Do you compare the positions, or the weights there?"""
    return np.where(p[:, None] == p, p, 0) - np.outer(p, p)


@wrong
def weights_on_the_diagonal(p):
    """Your matrix has p on its diagonal and zeros elsewhere. That is the effect of exp alone, without the division by
    the sum. If one score rises, all the other weights fall, so each column should add up to 0."""
    return np.diag(p)


@wrong
def diagonal_as_a_vector(p):
    """You return n numbers, the diagonal of the right matrix. Each of the n weights depends on each of the n scores, so
    there are n times n slopes."""
    return p * (1 - p)


@wrong
def sign_turned_round(p):
    """Every entry has the wrong sign. If a score rises, its own weight rises, so the diagonal should be positive. The
    other weights fall."""
    return np.outer(p, p) - np.diag(p)


@wrong
def plus_for_minus(p):
    """Your matrix is the sum of the two parts, but the second should be subtracted. All your entries are positive, as
    if a higher score raised every weight. But the sum of the weights stays 1, so each column should add up to 0."""
    return np.diag(p) + np.outer(p, p)


@wrong
def softmaxes_p_again(p):
    """You put p through a softmax first. But p is already the result of a softmax: its entries are weights that add up
    to 1."""
    return softmax_jacobian(softmax(p))


@wrong
def off_diagonal_only(p):
    """Your entries off the diagonal are right, but the diagonal lacks its positive part. It is -p[i] * p[i] and should
    be p[i] - p[i] * p[i]. With your diagonal, a score that rises would lower its own weight."""
    return -np.outer(p, p)


@wrong
def diagonal_without_the_square(p):
    """Your entries off the diagonal are right, but on the diagonal you have p[i] alone. If a score rises, the sum in the
    denominator rises too, so the weight rises by less: each column should add up to 0."""
    J = -np.outer(p, p)
    np.fill_diagonal(J, p)
    return J


@wrong
def one_minus_p_on_the_diagonal(p):
    """Your entries off the diagonal are right, but on the diagonal you have 1 - p[i], so a factor is missing. Each
    column should add up to 0."""
    J = -np.outer(p, p)
    np.fill_diagonal(J, 1 - p)
    return J


@wrong
def zeros_on_the_diagonal(p):
    """Your entries off the diagonal are right, but the diagonal is 0, as if a weight did not depend on its own score.
    If a score rises, its own weight gains what all the other weights lose. Check: each column should add up to 0."""
    J = -np.outer(p, p)
    np.fill_diagonal(J, 0.0)
    return J


@wrong
def positive_beside_the_diagonal(p):
    """Your diagonal is right, but the other entries have the wrong sign. If one score rises, all the other weights
    fall. So their entries are negative, and each column adds up to 0."""
    J = np.outer(p, p)
    np.fill_diagonal(J, p * (1 - p))
    return J


@wrong
def equal_shares_beside_the_diagonal(p):
    """Your diagonal is right. But in each column, the other weights all fall by the same amount, as if they shared the
    loss equally. A large weight falls by more than a small one. How is the loss shared?"""
    J = np.tile(-p * (1 - p) / max(len(p) - 1, 1), (len(p), 1))
    np.fill_diagonal(J, p * (1 - p))
    return J


@wrong
def a_dot_product_for_the_outer_one(p):
    """You subtracted the same number from every entry: p . p, a dot product. If p is a column, p p^T is an n by n
    matrix with p[i] * p[j] at (i, j). `.T` does not change a vector, and `@` adds up the products."""
    return np.diag(p) - p @ p


@wrong
def entry_by_entry_for_the_outer_product(p):
    """You subtract the same n numbers from every row: the squares p[j] * p[j]. If p is a column, p p^T is an n by n
    matrix with p[i] * p[j] at (i, j). Note that `.T` does not change an array of shape (n,)."""
    return np.diag(p) - p * p


@wrong
def entry_by_entry_down_the_columns(p):
    """Every column gets the same n numbers subtracted: the squares p[i] * p[i]. If p is a column, p p^T is an n by n
    matrix with p[i] * p[j] at (i, j). Note that `.T` does not change an array of shape (n,)."""
    return np.diag(p) - (p * p)[:, None]


@wrong
def takes_away_a_row(p):
    """You subtracted the vector p from every row of diag(p). Subtract p[i] * p[j] at (i, j) instead: so far you have
    only p[j], so one factor is missing."""
    return np.diag(p) - p


@wrong
def takes_away_a_column(p):
    """You subtracted the vector p from every column of diag(p). Subtract p[i] * p[j] at (i, j) instead: so far you have
    only p[i], so one factor is missing."""
    return np.diag(p) - p[:, None]


@wrong
def identity_minus_outer(p):
    """Your diagonal starts from 1 instead of p. Then a weight near 0 seems to depend strongly on its score, but it
    hardly does. If a weight is nearly 0, a small change of its score leaves it nearly 0, so its slope is small."""
    return np.eye(len(p)) - np.outer(p, p)


@wrong
def one_factor_in_every_row(p):
    """Your entry (i, j) is p[i] * (1 - p[j]) off the diagonal too. A weight rises only with its own score, that is, if
    i = j. What is left of the entry if i and j differ?"""
    return np.outer(p, 1 - p)


@wrong
def derivative_of_the_logarithm(p):
    """Row i of your matrix lacks the factor p[i]. Without it, the row is the derivative of ln(p[i]), which is useful in
    a loss function. Return the derivative of the weight itself."""
    return np.eye(len(p)) - p[None, :] * np.ones((len(p), 1))


@wrong
def sigmoid_derivatives_everywhere(p):
    """Every row of your matrix is p * (1 - p), the derivative of a single sigmoid. That is right only on the diagonal.
    An entry off the diagonal says how one weight depends on another's score."""
    return np.tile(p * (1 - p), (len(p), 1))


@wrong
def one_minus_the_other_weight(p):
    """Your diagonal is right. But all your other entries are -p_i (1 - p_j), which uses the diagonal's formula for two
    different entries. If score j rises, weight i falls. How fast does it fall, in terms of the two weights?"""
    return np.where(np.eye(len(p), dtype=bool), 1, -1) * np.outer(p, 1 - p)


wrong = misconceptions_of("numerical_gradient")


@wrong
def forward_difference(f, x, eps=1e-5):
    """You take one step forward and compare with f(x) itself, which favors one side. For example, for the cube at 2
    with eps = 0.5 it gives 15.25. A step to each side would give 12.25, and the true slope is 12. Use both sides."""
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x + step) - f(x)) / eps
    return slopes


@wrong
def backward_difference(f, x, eps=1e-5):
    """You take one step back and compare with f(x) itself, which favors one side. For example, for the cube at 2 with
    eps = 0.5 it gives 9.25. A step to each side would give 12.25, and the true slope is 12. Use both sides."""
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x) - f(x - step)) / eps
    return slopes


@wrong
def two_forgotten(f, x, eps=1e-5):
    """Your slopes are twice as large as they should be. The distance from x - eps to x + eps is 2 * eps. For example, a
    line with slope 3 rises by 6 * eps over that distance."""
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x + step) - f(x - step)) / eps
    return slopes


@wrong
def forward_over_two_steps(f, x, eps=1e-5):
    """You compare f one step ahead with f at x itself, a distance of eps, but divide by 2 * eps. For a straight
    line, you get half of its slope. To get a distance of 2 * eps, which other point do you need? If you step
    down from a point above x, does your step go past x? If your code has two points, is one of them a copy?"""
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x + step) - f(x)) / (2 * eps)
    return slopes


@wrong
def halved_distance_multiplied(f, x, eps=1e-5):
    """Your difference is multiplied by eps / 2. Python evaluates `/ 2 * eps` from left to right: first / 2, then * eps.
    If eps = 0.5, the answer is a quarter of the right one, and with a small eps it is almost 0. By what should you
    divide the difference?"""
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x + step) - f(x - step)) / 2 * eps
    return slopes


@wrong
def never_divided(f, x, eps=1e-5):
    """You return the difference of f between the two points, which is almost 0 for a small eps. A slope is that
    difference divided by the distance."""
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = f(x + step) - f(x - step)
    return slopes


@wrong
def half_steps(f, x, eps=1e-5):
    """You step half of eps to each side. That is a good central difference too, but the exercise uses the given eps:
    one whole eps up and one down. For the cube at 2 with eps = 0.5, for example, that gives 12.25, but yours gives
    12.0625."""
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x + step / 2) - f(x - step / 2)) / eps
    return slopes


@wrong
def double_steps(f, x, eps=1e-5):
    """You step twice eps to each side. The exercise uses the given eps: one eps up and one down. For the cube at 2 with
    eps = 0.5, for example, that gives 12.25, but yours gives 13."""
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x + 2 * step) - f(x - 2 * step)) / (4 * eps)
    return slopes


@wrong
def eps_of_its_own(f, x, eps=1e-5):
    """Your answer does not depend on eps, as if you always took a small step of your own. For example, for the cube at
    2 with eps = 0.5 the two-point formula gives 12.25, but yours gives 12. Use the eps that the caller chose."""
    eps = 1e-5
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x + step) - f(x - step)) / (2 * eps)
    return slopes


@wrong
def eps_relative_to_x(f, x, eps=1e-5):
    """Your step grows with the entry that you move: it is eps times the entry's size, and at least eps. That is a good
    idea for entries of very different size. But this exercise uses the same eps for every entry."""
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps * max(1.0, abs(x[i]))
        slopes[i] = (f(x + step) - f(x - step)) / (2 * step[i])
    return slopes


def slopes_from(flat, f, x, eps):
    """Return the slopes of f if the entries of ``flat`` are moved. If ``flat`` is a copy of x, f does not notice."""
    slopes = []
    for i, entry in enumerate(flat.copy()):
        flat[i] = entry + eps
        high = f(x)
        flat[i] = entry - eps
        low = f(x)
        flat[i] = entry
        slopes.append((high - low) / (2 * eps))
    return np.reshape(slopes, x.shape)


@wrong
def moves_a_copy(f, x, eps=1e-5):
    """Your slopes are 0 if x is transposed in memory. For such an array, and for its `np.copy`, `.ravel()` and
    `.reshape(-1)` return a new copy, and a change in it does not change the array. Does your f get an array in which the
    entry has moved?"""
    return slopes_from(x.ravel(), f, x, eps)


@wrong
def moves_a_reshaped_copy(f, x, eps=1e-5):
    """Your slopes are 0 if x is transposed in memory. For such an array, and for its `np.copy`, `.ravel()` and
    `.reshape(-1)` return a new copy, and a change in it does not change the array. Does your f get an array in which the
    entry has moved?"""
    return slopes_from(x.reshape(-1), f, x, eps)


@wrong
def four_points(f, x, eps=1e-5):
    """Your formula uses two points on each side. That formula is more accurate than this task needs: for a cube it has
    no error, while the two-point formula is off by eps squared. Use the simpler formula, with one point on each
    side."""
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (8 * (f(x + step) - f(x - step)) - (f(x + 2 * step) - f(x - 2 * step))) / (12 * eps)
    return slopes


@wrong
def second_derivative(f, x, eps=1e-5):
    """Your formula amounts to f(x + eps) - 2 f(x) + f(x - eps), divided by eps twice. That is the curvature, the slope
    of the slope. The slope is the difference of the two points, divided by the distance between them."""
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x + step) - 2 * f(x) + f(x - step)) / eps**2
    return slopes


@wrong
def points_exchanged(f, x, eps=1e-5):
    """Every slope has the wrong sign, as if you subtracted f(x + eps) from f(x - eps). If f rises with an entry, its
    slope is positive. Where does your code turn the sign around?"""
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x - step) - f(x + step)) / (2 * eps)
    return slopes


@wrong
def points_added(f, x, eps=1e-5):
    """You added the two values of f instead of subtracting them. For a function that is 100 everywhere, the slope is 0,
    but yours would be huge."""
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x + step) + f(x - step)) / (2 * eps)
    return slopes


@wrong
def moves_every_entry(f, x, eps=1e-5):
    """Each of your slopes is the sum of them all, as if you moved all the entries at once. To measure the effect of one
    entry, move that entry and keep the others fixed. Store its slope in that entry's place only."""
    slope = (f(x + eps) - f(x - eps)) / (2 * eps)
    return np.full_like(x, slope)


@wrong
def one_number_for_all(f, x, eps=1e-5):
    """You return a single number, as if you moved all the entries at once. Return one slope for each entry, in the
    shape of x. To measure the effect of one entry, move that entry and keep the others fixed."""
    return (f(x + eps) - f(x - eps)) / (2 * eps)


@wrong
def moves_whole_rows(f, x, eps=1e-5):
    """For a matrix, each entry gets the slope for its whole row, as if you moved whole rows. A single index on a
    matrix, for example, selects a row. Move every entry by itself, whatever the number of axes."""
    slopes = np.zeros_like(x)
    for i in range(len(x)):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x + step) - f(x - step)) / (2 * eps)
    return slopes


@wrong
def moves_equal_entries_together(f, x, eps=1e-5):
    """Your slopes are right if all entries of x differ. If some are equal, you move them together, so each of them gets
    the slope of that joint step. Do you look for an entry by its value? Move the entry at one index only."""
    slopes = [(f(x + eps * (x == entry)) - f(x - eps * (x == entry))) / (2 * eps) for entry in x.ravel()]
    return np.reshape(slopes, x.shape)


@wrong
def one_slope_for_each_row(f, x, eps=1e-5):
    """For a matrix, you return one number for each row, the slope for the row as a whole. A single index on a matrix,
    for example, selects a row. Return one slope for each entry, in the shape of x, whatever the number of axes."""
    slopes = np.zeros(len(x))
    for i in range(len(x)):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x + step) - f(x - step)) / (2 * eps)
    return slopes


@wrong
def flat_answer(f, x, eps=1e-5):
    """The slopes are right, but they form one long row. Return them in the shape of x, each slope in the place of its
    entry."""
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x + step) - f(x - step)) / (2 * eps)
    return slopes.ravel()


@wrong
def rows_and_columns_exchanged(f, x, eps=1e-5):
    """The slopes are right, but rows and columns are swapped. The slope of the entry in row i and column j is in row j
    and column i. Only a square x keeps its shape that way. Put each slope in the place of its entry."""
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x + step) - f(x - step)) / (2 * eps)
    return slopes.T


@wrong
def flat_argument(f, x, eps=1e-5):
    """You call f with a flattened array. Some functions accept that, but others use rows and columns. f needs an array
    of the shape of x, so reshape the moved entries before the call."""
    flat = x.ravel()
    slopes = [(f(flat + e) - f(flat - e)) / (2 * eps) for e in eps * np.eye(x.size)]
    return np.reshape(slopes, x.shape)


@wrong
def one_entry_as_argument(f, x, eps=1e-5):
    """You call f with a single number, the entry that you move. That works by chance if f treats all entries alike. In
    general, f needs the whole array, with one entry moved and the others unchanged."""
    grad = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        grad[i] = (f(x[i] + eps) - f(x[i] - eps)) / (2 * eps)
    return grad


@wrong
def one_array_under_two_names(f, x, eps=1e-5):
    """All your slopes are 0. If both calls of f give the same number, does each get an array in which the entry has
    moved? `=` makes no copy, and a copy does not follow later changes of the original. If the two numbers differ, does
    each slope reach the array that you return?"""
    grad = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        moved = x.copy()
        up = moved
        down = moved
        up[i] += eps
        down[i] -= eps
        grad[i] = (f(up) - f(down)) / (2 * eps)
    return grad


@wrong
def leaves_x_moved_down(f, x, eps=1e-5):
    """After an entry's slope, that entry of x stays moved down. So the next slope is measured at a different point, and
    the caller's x has changed. Restore the entry after the last call of f, or take a new copy of x for every entry."""
    grad = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        x[i] += eps
        up = f(x)
        x[i] -= 2 * eps
        grad[i] = (up - f(x)) / (2 * eps)
    return grad


@wrong
def leaves_the_copy_moved_down(f, x, eps=1e-5):
    """After you measure an entry's slope, the entry does not get its old number back. So the next slope is measured at
    a different point: all the entries before it are still moved down. Restore the entry exactly, or start from the
    original x for every entry."""
    grad, moved = np.zeros_like(x), x.copy()
    for i in np.ndindex(x.shape):
        moved[i] += eps
        up = f(moved)
        moved[i] -= 2 * eps
        grad[i] = (up - f(moved)) / (2 * eps)
    return grad


@wrong
def leaves_the_copy_moved_up(f, x, eps=1e-5):
    """After you measure an entry's slope, the entry does not get its old number back. So the next slope is measured at
    a different point: all the entries before it are still moved up. Restore the entry exactly, or start from the
    original x for every entry."""
    grad, moved = np.zeros_like(x), x.copy()
    for i in np.ndindex(x.shape):
        moved[i] -= eps
        down = f(moved)
        moved[i] += 2 * eps
        grad[i] = (f(moved) - down) / (2 * eps)
    return grad


@wrong
def steps_pile_up(f, x, eps=1e-5):
    """Each of your slopes includes those of all the entries before it, as if an entry that you moved stayed moved. Do
    you start from the original x for every entry? Or does a sum go on from one entry to the next?"""
    slopes = np.zeros_like(x)
    step = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step[i] = eps
        slopes[i] = (f(x + step) - f(x - step)) / (2 * eps)
    return slopes


@wrong
def last_entry_forgotten(f, x, eps=1e-5):
    """The last slope is always 0, so it is not measured or not stored. Does your loop, or your own count of the
    entries, end one entry too early?"""
    slopes = np.zeros_like(x)
    for i in list(np.ndindex(x.shape))[:-1]:
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x + step) - f(x - step)) / (2 * eps)
    return slopes


@wrong
def only_the_last_slope(f, x, eps=1e-5):
    """Only the last entry has its slope and the others are 0. Make the array of zeros once, before the loop, and store
    each slope inside the loop, in the place of its entry. Which of these steps is different in your code?"""
    grad = np.zeros_like(x)
    i = tuple(n - 1 for n in x.shape)
    step = np.zeros_like(x)
    step[i] = eps
    grad[i] = (f(x + step) - f(x - step)) / (2 * eps)
    return grad


@wrong
def size_of_the_slope(f, x, eps=1e-5):
    """None of your slopes is negative, so the sign is lost. If f falls while an entry rises, the slope is below 0."""
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x + step) - f(x - step)) / (2 * eps)
    return np.abs(slopes)


@wrong
def complex_step(f, x, eps=1e-5):
    """You take a complex step: you add 1j * eps to an entry, and divide the imaginary part by eps. That is another
    formula, whose result differs for large steps, and many functions accept no complex numbers. The exercise asks
    for the difference between a point above and a point below."""
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        moved = x.astype(complex)
        moved[i] += 1j * eps
        slopes[i] = np.imag(f(moved)) / eps
    return slopes


def _weights(q, K):
    return softmax(K @ q / np.sqrt(len(q)))


@wrong
def columns_read_and_rows_written(f, x, eps=1e-5):
    """If x has several axes, your slopes are in the wrong places. They are taken column by column, but they fill your
    result row by row. `order="F"` counts down the columns. Do you use it in both directions?"""
    slopes = numerical_gradient(f, x, eps)
    return slopes.flatten(order="F").reshape(x.shape)


wrong = misconceptions_of("query_gradient")


@wrong
def root_forgotten_at_the_end(q, K, V, g):
    """Your scores are scaled, but the step from the scores back to q is not. The scores are K @ q divided by
    sqrt(d_k), so their slopes with respect to q are smaller by that factor. All your slopes are sqrt(d_k) times too
    large."""
    return K.T @ (softmax_jacobian(_weights(q, K)) @ (V @ g))


@wrong
def gradient_of_unscaled_attention(q, K, V, g):
    """You return the gradient of attention without scaling. The scores are divided by sqrt(d_k), which changes the
    weights and also the slope of each score with respect to q."""
    return K.T @ (softmax_jacobian(softmax(K @ q)) @ (V @ g))


@wrong
def weights_of_unscaled_attention(q, K, V, g):
    """Your gradient is divided by sqrt(d_k), but your weights come from scores without that division. You need both:
    which scores went into the softmax?"""
    return K.T @ (softmax_jacobian(softmax(K @ q)) @ (V @ g)) / np.sqrt(len(q))


@wrong
def no_jacobian(q, K, V, g):
    """You treat the scores as if they were the weights, so the softmax has no effect on your gradient. If all the
    values are equal, the output cannot change with q, but your gradient would not be 0. What turns a change of scores
    into a change of weights?"""
    return K.T @ (V @ g) / np.sqrt(len(q))


@wrong
def weights_for_the_jacobian(q, K, V, g):
    """You multiply by the weights instead of the softmax's Jacobian, as if the sum in the denominator were fixed. But
    raising one score lowers all the other weights. If all the values are equal, the output cannot change, but your
    gradient is usually not 0."""
    return K.T @ (_weights(q, K) * (V @ g)) / np.sqrt(len(q))


@wrong
def diagonal_of_the_jacobian(q, K, V, g):
    """You use only the diagonal of the Jacobian, as if a score changed only its own weight. The other weights must
    change too, because together they add up to 1. If all the values are equal, the output cannot change, but your
    gradient is usually not 0."""
    w = _weights(q, K)
    return K.T @ (w * (1 - w) * (V @ g)) / np.sqrt(len(q))


@wrong
def jacobian_of_the_scores(q, K, V, g):
    """Your Jacobian is made from the scores. It needs the weights, the result of the softmax."""
    return K.T @ (softmax_jacobian(K @ q / np.sqrt(len(q))) @ (V @ g)) / np.sqrt(len(q))


@wrong
def softmaxed_once_more(q, K, V, g):
    """You applied a second softmax to the weights before the Jacobian. It needs the weights themselves."""
    return K.T @ (softmax_jacobian(softmax(_weights(q, K))) @ (V @ g)) / np.sqrt(len(q))


@wrong
def all_slopes_negative(q, K, V, g):
    """Every slope has the wrong sign: moving q along your answer lowers g . output. A gradient should point uphill."""
    return -K.T @ (softmax_jacobian(_weights(q, K)) @ (V @ g)) / np.sqrt(len(q))


@wrong
def g_of_length_1(q, K, V, g):
    """Your gradient has the right direction, but it does not grow with g: it is the gradient for g divided by the norm
    of g. If every entry of g is doubled, the gradient should double."""
    length = np.linalg.norm(g)
    return K.T @ (softmax_jacobian(_weights(q, K)) @ (V @ (g / length if length else g))) / np.sqrt(len(q))


@wrong
def g_forgotten(q, K, V, g):
    """g has no effect on your answer: you compute the gradient as if every entry of g were 1. Different g should give different
    gradients."""
    return K.T @ (softmax_jacobian(_weights(q, K)) @ V.sum(axis=1)) / np.sqrt(len(q))


@wrong
def divided_by_d_k_at_the_end(q, K, V, g):
    """Your gradient is divided by sqrt(d_k) twice, that is, by d_k. The scores contain the root once, so the gradient
    contains it once."""
    return K.T @ (softmax_jacobian(_weights(q, K)) @ (V @ g)) / len(q)


@wrong
def multiplied_by_the_root_at_the_end(q, K, V, g):
    """Your gradient is multiplied by sqrt(d_k). The scores are divided by it, so they change less with q, not more.
    Divide the gradient by it too."""
    return K.T @ (softmax_jacobian(_weights(q, K)) @ (V @ g)) * np.sqrt(len(q))


@wrong
def root_of_n_k_in_the_chain(q, K, V, g):
    """You divide by the square root of the number of keys. Use the number of entries of a key, d_k, under the root."""
    root = np.sqrt(len(K))
    return K.T @ (softmax_jacobian(softmax(K @ q / root)) @ (V @ g)) / root


@wrong
def root_of_d_v_in_the_chain(q, K, V, g):
    """You divide by the square root of the number of entries of a value. Use the number of entries of a key, d_k, under
    the root."""
    root = np.sqrt(V.shape[1])
    return K.T @ (softmax_jacobian(softmax(K @ q / root)) @ (V @ g)) / root


@wrong
def gradient_for_the_scores(q, K, V, g):
    """You return n_k numbers, one slope of g . output for each score. One link of the chain is missing, from the scores
    to q: which array turns q into scores?"""
    return softmax_jacobian(_weights(q, K)) @ (V @ g) / np.sqrt(len(q))


@wrong
def scales_the_keys_in_place(q, K, V, g):
    """Your code divides K itself, so K has changed. A second call would divide it again. How can you make a new array
    instead?"""
    K /= np.sqrt(len(q))
    return K.T @ (softmax_jacobian(softmax(K @ q)) @ (V @ g))


@wrong
def output_and_not_slope(q, K, V, g):
    """You return g . output itself, a single number. Return the slope of that number with respect to each entry of
    q."""
    return g @ (_weights(q, K) @ V)


@wrong
def jacobian_of_the_output(q, K, V, g):
    """You return a whole matrix, with one row for each entry of the output. g says how much each entry counts: use it
    to combine the rows into one."""
    return V.T @ softmax_jacobian(_weights(q, K)) @ K / np.sqrt(len(q))


@wrong
def gradient_for_the_keys(q, K, V, g):
    """You return a matrix of the shape of K: the gradient of g . output with respect to the keys. It is right, but
    return the gradient with respect to the query."""
    return np.outer(softmax_jacobian(_weights(q, K)) @ (V @ g), q) / np.sqrt(len(q))


@wrong
def no_largest_score_taken_away_here(q, K, V, g):
    """Your softmax overflows: exp of a score above about 709 is infinity, a sum of several exps just below it is
    infinity too, and infinity divided by infinity is nan. If all scores are far below zero, every exp is 0, and 0
    divided by 0 is nan too. What did the softmax of chapter 1 do before exp?"""
    e = np.exp(K @ q / np.sqrt(len(q)))
    return K.T @ (softmax_jacobian(e / e.sum()) @ (V @ g)) / np.sqrt(len(q))


@wrong
def sign_inside_the_jacobian(q, K, V, g):
    """All your weights move in the same direction if a score rises, as if the two parts of the Jacobian were added and
    not subtracted. If all the values are equal, the output cannot change, but your gradient is
    usually not 0."""
    w = _weights(q, K)
    return K.T @ (w * (V @ g + w @ (V @ g))) / np.sqrt(len(q))


@wrong
def plain_mean_taken_away(q, K, V, g):
    """For each key j, you compare V[j] @ g with its plain mean over all keys. Compare it with g . output instead, which
    is their mean with the attention weights."""
    w, worth = _weights(q, K), V @ g
    return K.T @ (w * (worth - worth.mean())) / np.sqrt(len(q))


@wrong
def plain_mean_of_the_keys(q, K, V, g):
    """You compare each key with the plain mean of the keys. Compare it with their mean by attention weight instead, the
    sum of weight[j] * K[j]."""
    w, worth = _weights(q, K), V @ g
    return (K.T @ (w * worth) - (w @ worth) * K.mean(axis=0)) / np.sqrt(len(q))


def _errors(W_Q, X, K, V, T):
    return scaled_dot_product_attention(X @ W_Q, K, V)[0] - T


def _gradient(W_Q, X, K, V, errors):
    return X.T @ np.array([query_gradient(q, K, V, e) for q, e in zip(X @ W_Q, errors, strict=True)])


def _loss(errors):
    return 0.5 * np.square(errors).sum() / len(errors)


wrong = misconceptions_of("training_step")


@wrong
def step_uphill(W_Q, X, K, V, T, rate):
    """Your step has the wrong sign and goes uphill. The gradient of the loss starts from output minus target, and
    points uphill, so the step goes against it. Which of the two does your code subtract from the other, and does it add
    or subtract the step?"""
    errors = _errors(W_Q, X, K, V, T)
    return W_Q + rate * _gradient(W_Q, X, K, V, errors) / len(X), _loss(errors)


@wrong
def divided_by_the_rows_of_w_q(W_Q, X, K, V, T, rate):
    """Your gradient is divided by d_model, the number of rows of W_Q and of columns of X. The loss is a mean over the
    queries: how many of them are there? The two numbers agree only if n_q equals d_model."""
    errors = _errors(W_Q, X, K, V, T)
    return W_Q - rate * _gradient(W_Q, X, K, V, errors) / len(W_Q), _loss(errors)


@wrong
def step_of_the_sum(W_Q, X, K, V, T, rate):
    """Your loss is a mean over the queries, but your gradient is a sum, so your step is n_q times too long. If the loss
    is divided by the number of queries, what happens to its gradient?"""
    errors = _errors(W_Q, X, K, V, T)
    return W_Q - rate * _gradient(W_Q, X, K, V, errors), _loss(errors)


@wrong
def step_over_the_keys(W_Q, X, K, V, T, rate):
    """Your loss is right, but your step is as if the gradient were divided by the number of keys. The loss is a mean over
    the queries, so its gradient is too. Which size does your code divide by?"""
    errors = _errors(W_Q, X, K, V, T)
    return W_Q - rate * _gradient(W_Q, X, K, V, errors) / len(K), _loss(errors)


@wrong
def step_without_the_root(W_Q, X, K, V, T, rate):
    """Your loss is right, but your gradient is too large, by the factor sqrt(d_k). The scores are divided by sqrt(d_k).
    What does this do to the slope of a score with respect to its query?"""
    errors = _errors(W_Q, X, K, V, T)
    return W_Q - rate * np.sqrt(K.shape[1]) * _gradient(W_Q, X, K, V, errors) / len(X), _loss(errors)


@wrong
def loss_of_the_sum(W_Q, X, K, V, T, rate):
    """Your step is right. Your loss is the sum over all queries. Return the mean over the queries, so that the loss
    does not depend on the number of queries."""
    errors = _errors(W_Q, X, K, V, T)
    return W_Q - rate * _gradient(W_Q, X, K, V, errors) / len(X), 0.5 * np.square(errors).sum()


@wrong
def both_of_the_sum(W_Q, X, K, V, T, rate):
    """Your loss and your step fit each other, but both are sums over the queries. The loss should be the mean."""
    errors = _errors(W_Q, X, K, V, T)
    return W_Q - rate * _gradient(W_Q, X, K, V, errors), 0.5 * np.square(errors).sum()


@wrong
def loss_without_the_half(W_Q, X, K, V, T, rate):
    """Your step is right, but your loss is twice what it should be. The loss is half the squared distance. The half cancels
    the 2 in the slope of a square, which is why your step needs no 2."""
    errors = _errors(W_Q, X, K, V, T)
    return W_Q - rate * _gradient(W_Q, X, K, V, errors) / len(X), 2 * _loss(errors)


@wrong
def step_twice_as_long(W_Q, X, K, V, T, rate):
    """Your step is twice as long as it should be. The slope of a square has a 2, but the loss is half the square, so
    the half and the 2 cancel. Is there a 2 in your gradient, or do you take the same step twice?"""
    errors = _errors(W_Q, X, K, V, T)
    return W_Q - 2 * rate * _gradient(W_Q, X, K, V, errors) / len(X), _loss(errors)


@wrong
def both_without_the_half(W_Q, X, K, V, T, rate):
    """Your loss and your step fit each other, but both are twice what they should be. The loss is half the squared
    distance, so the 2 in the slope of a square cancels."""
    errors = _errors(W_Q, X, K, V, T)
    return W_Q - 2 * rate * _gradient(W_Q, X, K, V, errors) / len(X), 2 * _loss(errors)


@wrong
def loss_over_all_entries(W_Q, X, K, V, T, rate):
    """Your step is right. Your loss also divides by d_v, the number of entries of an output, as `np.mean` over the whole
    array does. A squared distance is the sum of the squared differences. Take the mean over the queries only."""
    errors = _errors(W_Q, X, K, V, T)
    return W_Q - rate * _gradient(W_Q, X, K, V, errors) / len(X), 0.5 * np.mean(errors**2)


@wrong
def loss_and_step_over_all_entries(W_Q, X, K, V, T, rate):
    """Your loss and your step fit each other, but both also divide by d_v, the number of entries of an output. A
    squared distance is the sum of the squared differences. Take the mean over the queries only."""
    errors = _errors(W_Q, X, K, V, T)
    return W_Q - rate * _gradient(W_Q, X, K, V, errors) / errors.size, 0.5 * np.mean(errors**2)


@wrong
def loss_after_the_step(W_Q, X, K, V, T, rate):
    """Your step is right. Your loss is that of the new matrix. Return the loss of the W_Q that you were given."""
    W = W_Q - rate * _gradient(W_Q, X, K, V, _errors(W_Q, X, K, V, T)) / len(X)
    return W, _loss(_errors(W, X, K, V, T))


@wrong
def output_for_the_error(W_Q, X, K, V, T, rate):
    """Your step does not depend on the targets: it makes the outputs smaller, whatever they should be. As `g`, pass
    query_gradient the difference between each output and its target."""
    errors = _errors(W_Q, X, K, V, T)
    return W_Q - rate * _gradient(W_Q, X, K, V, errors + T) / len(X), _loss(errors)


@wrong
def target_for_the_error(W_Q, X, K, V, T, rate):
    """Your error consists of the targets alone, so your step does not depend on what the outputs are now. A head whose
    outputs are already right should not change. Which quantity is 0 for such a head?"""
    errors = _errors(W_Q, X, K, V, T)
    return W_Q + rate * _gradient(W_Q, X, K, V, T) / len(X), _loss(errors)


@wrong
def pair_in_the_other_order(W_Q, X, K, V, T, rate):
    """You return the loss first. Return the new matrix first, then the loss."""
    errors = _errors(W_Q, X, K, V, T)
    return _loss(errors), W_Q - rate * _gradient(W_Q, X, K, V, errors) / len(X)


@wrong
def step_instead_of_the_matrix(W_Q, X, K, V, T, rate):
    """You return the step itself. Return the new matrix: W_Q plus that step."""
    errors = _errors(W_Q, X, K, V, T)
    return -rate * _gradient(W_Q, X, K, V, errors) / len(X), _loss(errors)


@wrong
def gradient_instead_of_the_matrix(W_Q, X, K, V, T, rate):
    """You return the gradient. Return the new matrix: W_Q minus rate times the gradient."""
    errors = _errors(W_Q, X, K, V, T)
    return _gradient(W_Q, X, K, V, errors) / len(X), _loss(errors)


@wrong
def rate_has_no_effect(W_Q, X, K, V, T, rate):
    """Your step is as long as the gradient, whatever the rate is. Multiply the gradient by the rate."""
    errors = _errors(W_Q, X, K, V, T)
    return W_Q - _gradient(W_Q, X, K, V, errors) / len(X), _loss(errors)


@wrong
def only_the_first_query_counts(W_Q, X, K, V, T, rate):
    """Your step uses the gradient of the first query only. It is right if there is a single query. The loss is a mean
    over all of them, so its gradient is the mean of their gradients."""
    errors = _errors(W_Q, X, K, V, T)
    return W_Q - rate * _gradient(W_Q, X[:1], K, V, errors[:1]), _loss(errors)


@wrong
def only_the_last_query_counts(W_Q, X, K, V, T, rate):
    """Your step uses the gradient of the last query only. It is right if there is a single query. The loss is a mean
    over all of them, so its gradient is the mean of their gradients."""
    errors = _errors(W_Q, X, K, V, T)
    return W_Q - rate * _gradient(W_Q, X[-1:], K, V, errors[-1:]), _loss(errors)


@wrong
def steps_one_query_at_a_time(W_Q, X, K, V, T, rate):
    """You take a step after every query, so later queries already use a changed matrix. Compute the gradients of all
    the queries with the W_Q that you were given, average them, and take a single step."""
    loss, W = _loss(_errors(W_Q, X, K, V, T)), W_Q
    for i in range(len(X)):
        row = slice(i, i + 1)
        W = W - rate * _gradient(W, X[row], K, V, _errors(W, X[row], K, V, T[row])) / len(X)
    return W, loss


@wrong
def changes_w_q_in_place(W_Q, X, K, V, T, rate):
    """Your code changes the W_Q that you were given. The caller still needs it: make a new array."""
    errors = _errors(W_Q, X, K, V, T)
    loss, change = _loss(errors), rate * _gradient(W_Q, X, K, V, errors) / len(X)
    W_Q -= change
    return W_Q, loss


@wrong
def errors_of_unscaled_attention(W_Q, X, K, V, T, rate):
    """Your outputs are those of attention without the division by sqrt(d_k). Use your scaled_dot_product_attention."""
    errors = softmax(X @ W_Q @ K.T) @ V - T
    return W_Q - rate * _gradient(W_Q, X, K, V, errors) / len(X), _loss(errors)


@wrong
def gradient_of_the_queries(W_Q, X, K, V, T, rate):
    """Your gradient is that of the queries, with one row for each query. One link of the chain is missing, from the
    matrix to the queries: Q is X @ W_Q. Which product with X has the shape of W_Q?"""
    errors = _errors(W_Q, X, K, V, T)
    rows = np.array([query_gradient(q, K, V, e) for q, e in zip(X @ W_Q, errors, strict=True)])
    return X @ W_Q - rate * rows / len(X), _loss(errors)


@wrong
def product_of_the_means(W_Q, X, K, V, T, rate):
    """With one query, your step is right. With several, your gradient is the product of two means: that of the rows of
    X, and that of the gradients of the queries. Each row of X belongs to its own query. Which should come first, the
    product or the mean?"""
    Q = X @ W_Q
    errors = scaled_dot_product_attention(Q, K, V)[0] - T
    gradients = np.array([query_gradient(q, K, V, error) for q, error in zip(Q, errors, strict=True)])
    return W_Q - rate * np.outer(X.mean(axis=0), gradients.mean(axis=0)), 0.5 * np.square(errors).sum() / len(X)


@wrong
def one_error_for_all_queries(W_Q, X, K, V, T, rate):
    """With one query, your step is right. With several, it uses the mean of their errors for each of them. Each query
    has its own error, the difference between its own output and its own target. Take the mean at the end, over the
    gradients."""
    errors = _errors(W_Q, X, K, V, T)
    same = np.broadcast_to(errors.mean(axis=0), errors.shape)
    return W_Q - rate * _gradient(W_Q, X, K, V, same) / len(X), _loss(errors)


@wrong
def gradient_cut_to_length_1(W_Q, X, K, V, T, rate):
    """Your step is right if the gradient is short, and too short if the gradient is longer than 1. Do you limit its
    length? Training programs often do so, but the step here is the rate times the whole gradient."""
    Q = X @ W_Q
    errors = scaled_dot_product_attention(Q, K, V)[0] - T
    gradients = np.array([query_gradient(q, K, V, error) for q, error in zip(Q, errors, strict=True)])
    gradient = X.T @ gradients / len(X)
    shorter = gradient / max(np.linalg.norm(gradient), 1.0)
    return W_Q - rate * shorter, 0.5 * np.square(errors).sum() / len(X)

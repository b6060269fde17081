"""Wrong solutions of chapter 3, one mistake each, with what a student who made it should hear."""

import numpy as np

from autograder.misconception import misconceptions_of
from solutions.ch1_weighted_averaging import softmax
from solutions.ch3_scaling import softmax_jacobian


def _pairs(d_k, n_samples, rng):
    return rng.standard_normal((n_samples, d_k)), rng.standard_normal((n_samples, d_k))


wrong = misconceptions_of("score_variance")


@wrong
def standard_deviation(d_k, n_samples, rng):
    """You hand back the standard deviation of the scores, which is the square root of what is asked for. For the
    scores 3, -1 and 1 of the example that would be 1.63, and the variance is 2.67. Which of NumPy's two functions did
    you mean?"""
    q, k = _pairs(d_k, n_samples, rng)
    return (q * k).sum(axis=-1).std()


@wrong
def query_with_itself(d_k, n_samples, rng):
    """Your scores are those of each query with itself. q . q is a sum of squares: never negative, d_k on average, with
    a variance of 2 * d_k. A key has to be drawn for itself, so that it knows nothing of the query."""
    q = rng.standard_normal((n_samples, d_k))
    return (q * q).sum(axis=-1).var()


@wrong
def uniform_from_0_to_1(d_k, n_samples, rng):
    """Your entries are spread evenly between 0 and 1. Their mean is one half and not 0, and their variance far below
    1; asked for are draws from the standard normal distribution, with mean 0 and variance 1. A generator has a method
    for each: which one did you call?"""
    q, k = rng.random((n_samples, d_k)), rng.random((n_samples, d_k))
    return (q * k).sum(axis=-1).var()


@wrong
def uniform_from_minus_1_to_1(d_k, n_samples, rng):
    """Your entries are spread evenly between -1 and 1. Their mean is 0 as it should be, but their variance is a third,
    so that a product of two has a ninth. Asked for are draws from the standard normal distribution, whose variance is
    1."""
    q, k = rng.uniform(-1, 1, (n_samples, d_k)), rng.uniform(-1, 1, (n_samples, d_k))
    return (q * k).sum(axis=-1).var()


@wrong
def uniform_with_variance_1(d_k, n_samples, rng):
    """Your entries have mean 0 and variance 1, but they are spread evenly over an interval. The average of your
    answers is right, and yet they scatter less from seed to seed than those of normal draws: an even spread ends at
    sqrt(3), and a normal one nowhere. Draw from the standard normal distribution."""
    side = np.sqrt(3)
    q, k = rng.uniform(-side, side, (n_samples, d_k)), rng.uniform(-side, side, (n_samples, d_k))
    return (q * k).sum(axis=-1).var()


@wrong
def one_key_for_all(d_k, n_samples, rng):
    """All your pairs share a vector: the same key for all queries, or the same query for all keys. The variance then
    depends on that vector's norm, so your answer jumps if another one is drawn. Every pair needs its own query and its
    own key: what shape do all the keys together have?"""
    q, k = rng.standard_normal((n_samples, d_k)), rng.standard_normal(d_k)
    return (q * k).sum(axis=-1).var()


@wrong
def one_number_for_each_key(d_k, n_samples, rng):
    """Each of your keys is one random number, used for all of its entries. Such a key points in the same direction every
    time; the average of your answers is d_k, but they scatter more than they should. What shape do all the keys
    together have?"""
    q, k = rng.standard_normal((n_samples, d_k)), rng.standard_normal((n_samples, 1))
    return (q * k).sum(axis=-1).var()


@wrong
def one_query_for_all(d_k, n_samples, rng):
    """All your keys meet one and the same query. The variance then depends on the norm that this single query happens
    to have: draw another one, and the answer jumps. Every pair needs a query of its own; what shape do all the queries
    together have?"""
    q, k = rng.standard_normal(d_k), rng.standard_normal((n_samples, d_k))
    return (q * k).sum(axis=-1).var()


@wrong
def every_query_with_every_key(d_k, n_samples, rng):
    """You let every query meet every key: n_samples * n_samples scores instead of n_samples. They are not independent,
    as a query of large norm makes a whole row of them large, and for many samples the matrix fills the memory. Query i belongs
    to key i only."""
    q, k = _pairs(d_k, n_samples, rng)
    if n_samples > 3000:  # what the memory limit would say, without filling this machine's memory
        raise MemoryError("Unable to allocate an array with shape (n_samples, n_samples)")
    return (q @ k.T).var()


@wrong
def products_never_added(d_k, n_samples, rng):
    """You measure the variance of the single products q[i] * k[i]. It is about 1 for every d_k. A score is the sum of
    d_k such products, and it is the spread of those sums that grows. Which step makes one score out of each pair?"""
    q, k = _pairs(d_k, n_samples, rng)
    return (q * k).var()


@wrong
def products_averaged(d_k, n_samples, rng):
    """Each of your scores is d_k times too small, as if the products of a pair were averaged, or their sum divided by
    d_k: the variance comes out near 1/d_k. A dot product adds its products up, and nothing is divided."""
    q, k = _pairs(d_k, n_samples, rng)
    return (q * k).mean(axis=-1).var()


@wrong
def scaled_already(d_k, n_samples, rng):
    """Your answer is the right one divided by d_k, so that it is near 1 for every d_k: as if the scores had been divided
    by sqrt(d_k) already. That is the cure, which comes next. Here you measure the illness: the variance of the plain
    scores q . k."""
    q, k = _pairs(d_k, n_samples, rng)
    return ((q * k).sum(axis=-1) / np.sqrt(d_k)).var()


@wrong
def sums_over_the_pairs(d_k, n_samples, rng):
    """You added the products up over the pairs, so that d_k numbers are left and not n_samples: your answer is near
    n_samples. One score belongs to each pair. Which axis of the products counts the pairs, and which one the entries
    of a vector?"""
    q, k = _pairs(d_k, n_samples, rng)
    return (q * k).sum(axis=0).var()


@wrong
def one_variance_for_each_entry(d_k, n_samples, rng):
    """You hand back d_k numbers: the variance of each product by itself, before the products of a pair were added up.
    First make one score of each pair; then there is one variance, of all the scores."""
    q, k = _pairs(d_k, n_samples, rng)
    return (q * k).var(axis=0)


@wrong
def the_theory_alone(d_k, n_samples, rng):
    """You return d_k, with no random number behind it. That is indeed what theory predicts, and this exercise is there
    to put the prediction to the test: draw the pairs, and measure."""
    return float(d_k)


@wrong
def mean_of_the_scores(d_k, n_samples, rng):
    """You hand back the mean of the scores. It is near 0 for every d_k, as scores above and below zero cancel. How far
    they stray from that mean is another number."""
    q, k = _pairs(d_k, n_samples, rng)
    return (q * k).sum(axis=-1).mean()


@wrong
def a_generator_of_its_own(d_k, n_samples, rng):
    """Your answer is the same for every generator that comes in: the random numbers come from somewhere else, which
    starts anew at each call. Then all repetitions of an experiment are one. Draw from `rng`."""
    q, k = _pairs(d_k, n_samples, np.random.default_rng(0))
    return (q * k).sum(axis=-1).var()


@wrong
def a_generator_seeded_with_42(d_k, n_samples, rng):
    """Your answer is the same for every generator that comes in: the random numbers come from a generator seeded with
    42, made anew at each call. Then all repetitions of an experiment are one. Draw from `rng`."""
    q, k = _pairs(d_k, n_samples, np.random.default_rng(42))
    return (q * k).sum(axis=-1).var()


@wrong
def all_the_scores(d_k, n_samples, rng):
    """You hand back the scores themselves, n_samples of them. They are the right thing to have; asked for is one number
    that says how far they spread."""
    q, k = _pairs(d_k, n_samples, rng)
    return (q * k).sum(axis=-1)


@wrong
def always_a_hundred_pairs(d_k, n_samples, rng):
    """You draw 100 pairs whatever n_samples says. Ten times as many pairs should make the measurement more exact; your
    answers for 1000 scatter from seed to seed as much as those for 100. How many rows do your queries have?"""
    q, k = _pairs(d_k, 100, rng)
    return (q * k).sum(axis=-1).var()


@wrong
def spread_of_the_sizes(d_k, n_samples, rng):
    """You measure the variance of the scores without their signs. Folding the negative half over makes the spread
    smaller: -2 and 2 then count as equal, and they are 4 apart."""
    q, k = _pairs(d_k, n_samples, rng)
    return np.abs((q * k).sum(axis=-1)).var()


wrong = misconceptions_of("scaled_dot_product_attention")


@wrong
def never_scaled(Q, K, V):
    """This is the attention of the last chapter: the scores go into the softmax as they are. With d_k = 64, for
    example, they are 8 times larger than those of the formula, and one key takes nearly all the weight. Where does d_k
    come in?"""
    scores = Q @ np.swapaxes(K, -1, -2)
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def divided_by_d_k_itself(Q, K, V):
    """Your scores are divided by d_k. It is the variance of the scores that is d_k; their typical size is its square
    root. Dividing by d_k leaves scores of typical size 1/sqrt(d_k), and for keys of many entries all weights become nearly
    equal."""
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1]
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def multiplied_by_the_root(Q, K, V):
    """Your scores are multiplied by sqrt(d_k), which makes them larger still: with d_k = 64, for example, they are 64
    times what they should be. The formula brings them down."""
    scores = Q @ np.swapaxes(K, -1, -2) * np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def root_of_d_v(Q, K, V):
    """Your scores are divided by the square root of d_v, the number of entries of a value. The values have no part in
    the scores: what made those large is the number of products in one dot product. Whose last axis is that?"""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(V.shape[-1])
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def root_of_n_k(Q, K, V):
    """Your scores are divided by the square root of n_k, the number of keys. A single score does not know how many
    other keys there are; it is a sum of d_k products. Which axis of K has that size?"""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-2])
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def root_of_n_q(Q, K, V):
    """Your scores are divided by the square root of n_q, the number of queries. A single score does not know how many
    other queries there are; it is a sum of d_k products. Which axis of Q has that size?"""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-2])
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def root_of_the_first_axis_of_q(Q, K, V):
    """Your scores are divided by the square root of the size of Q's first axis: the number of queries, or, where there
    are batch axes, the size of the batch. d_k is the size of the last axis, however many come before it."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[0])
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def root_of_the_first_axis_of_k(Q, K, V):
    """Your scores are divided by the square root of the size of K's first axis: the number of keys, or, where there are
    batch axes, the size of the batch. d_k is the size of the last axis, however many come before it."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[0])
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def root_of_the_second_axis(Q, K, V):
    """Your scores are divided by the square root of the size of the second axis. For a matrix that is d_k; with batch
    axes in front, the second axis is something else. Which index means the last axis in every case?"""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[1])
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def fourth_root_of_d_k(Q, K, V):
    """Your scores are divided by the fourth root of d_k in all. When both Q and K are scaled, the two factors multiply:
    together they must make sqrt(d_k)."""
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.25
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def divided_by_d_k_and_by_2(Q, K, V):
    """Your scores are divided by d_k and then by 2. Was `d_k ** 1/2` meant to be a root? Python takes the power first:
    that is d_k ** 1, divided by 2. Where do parentheses belong?"""
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] / 2
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def divided_by_half_of_d_k(Q, K, V):
    """Your scores are divided by d_k / 2. Was `d_k ** 1/2` meant to be a root? Python takes the power first: that is
    d_k ** 1, divided by 2. For d_k = 4 it comes to the same by chance, for no other size."""
    scores = Q @ np.swapaxes(K, -1, -2) / (Q.shape[-1] / 2)
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def scaled_after_the_softmax(Q, K, V):
    """You divided the weights by sqrt(d_k), and the softmax still saw the large scores. The weights of a query no
    longer add up to 1: with d_k = 4, for example, they come to 0.5. What is to be made smaller, and before which
    step?"""
    scores = Q @ np.swapaxes(K, -1, -2)
    weights = softmax(scores) / np.sqrt(Q.shape[-1])
    return weights @ V, weights


@wrong
def scaled_the_output(Q, K, V):
    """You divided the output by sqrt(d_k); the softmax still saw the large scores, so that the weights are those of
    unscaled attention, and the output is no average any more. What is to be made smaller, and before which step?"""
    scores = Q @ np.swapaxes(K, -1, -2)
    weights = softmax(scores)
    return weights @ V / np.sqrt(Q.shape[-1]), weights


@wrong
def scaled_again_at_the_end(Q, K, V):
    """Your weights are right, and the output is the right one divided by sqrt(d_k) once more. An average of values 10
    and 20 has to lie between 10 and 20. The scaling belongs to the scores alone."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    return weights @ V / np.sqrt(Q.shape[-1]), weights


@wrong
def weights_of_another_softmax(Q, K, V):
    """Your output is made with one set of weights and another set is handed back: the output has the scaling, the
    weights have not. Both come from the same softmax of the scaled scores."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    return weights @ V, softmax(Q @ np.swapaxes(K, -1, -2))


@wrong
def hands_back_the_scores(Q, K, V):
    """Your output is right. As the second part you hand back the scaled scores; asked for are the weights that the
    softmax made of them, each row adding up to 1."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    return softmax(scores) @ V, scores


@wrong
def softmax_over_the_queries(Q, K, V):
    """Your weights add up to 1 over the queries, for each key. It is each query that has one unit of attention to share
    out among the keys: which axis of (..., n_q, n_k) counts the keys?"""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores, axis=-2)
    return weights @ V, weights


@wrong
def softmax_over_everything(Q, K, V):
    """Your weights add up to 1 over all queries together. Each query has one unit of attention of its own to share out
    among the keys: along which axis do its weights lie?"""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    e = np.exp(scores - scores.max())
    weights = e / e.sum()
    return weights @ V, weights


@wrong
def no_axis_and_no_shift(Q, K, V):
    """You divide by one sum for the whole table: all your weights together add up to 1, and those of a single query do not.
    Each query has one unit of attention of its own to share out. Nothing is taken away from the scores before the exp either,
    so that large scores end as nan."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    e = np.exp(scores)
    weights = e / e.sum()
    return weights @ V, weights


@wrong
def plain_transpose(Q, K, V):
    """Your code works for matrices, and goes astray with batch axes: `.T` turns round the order of all the axes, batch
    included. Which function swaps the last two only?"""
    scores = Q @ K.T / np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def transpose_0_2_1(Q, K, V):
    """Your code works for exactly one batch axis: `transpose` with a fixed list of three axes fits no other number of
    them. Which function swaps the last two, however many come before?"""
    scores = Q @ K.transpose(0, 2, 1) / np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def dot_with_every_axis_turned(Q, K, V):
    """`.T` turns round all the axes of K, batch axes too, and `np.dot` pairs every batch entry with every other one: both are
    right for plain matrices and for nothing else. Which function exchanges just the last two axes, and which sign goes
    through the batch axes side by side?"""
    scores = np.dot(Q, K.T) / np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def dot_twice_with_every_axis_turned(Q, K, V):
    """`.T` turns round all the axes of K, batch axes too, and `np.dot` pairs every batch entry with every other one: both are
    right for plain matrices and for nothing else. Which function exchanges just the last two axes, and which sign goes
    through the batch axes side by side?"""
    scores = np.dot(Q, K.T) / np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    return np.dot(weights, V), weights


@wrong
def keys_ask_queries(Q, K, V):
    """Your scores have the roles exchanged: their rows belong to the keys and their columns to the queries. That fits
    the values only where there are as many of one as of the other. Asked for are scores with one row for each query."""
    scores = K @ np.swapaxes(Q, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def mixes_the_keys(Q, K, V):
    """Your weights are right, and then they average the keys. Keys are there to be matched; what a query receives are
    the values."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    return weights @ K, weights


@wrong
def weights_turned_round(Q, K, V):
    """Your weights are right; for the output they were transposed, so that a column of weights, which need not add up
    to 1, mixes the values. It runs only where there are as many queries as keys. Row i of the weights belongs to row i
    of the output."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    return np.swapaxes(weights, -1, -2) @ V, weights


@wrong
def pair_swapped(Q, K, V):
    """Both parts are right and stand in the wrong order: the output comes first, the weights second."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    return weights, weights @ V


@wrong
def output_alone(Q, K, V):
    """You hand back the output alone, and it is right. Asked for is the pair of output and weights: the weights are
    what we want to look at."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    return weights @ V


@wrong
def weights_alone(Q, K, V):
    """You hand back the weights alone, and they are right. Asked for is the pair of output and weights: one step, the
    averaging of the values, is missing."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    return softmax(scores)


@wrong
def no_largest_score_taken_away(Q, K, V):
    """Your softmax overflows: exp of a score above 709 is infinity, and infinity divided by infinity is nan. Scaling
    makes scores smaller, but it sets them no limit. What did the softmax of chapter 1 do before the exp?"""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    return weights @ V, weights


@wrong
def subtracts_the_mean(Q, K, V):
    """Your results are those of scores shifted so that the mean of each row is 0. A score may still lie far above the
    mean: for example, [0, 0, 3000] becomes [-1000, -1000, 2000], and exp(2000) is inf. What has to end up at 0, so
    that no exponent is positive?"""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    e = np.exp(scores - scores.mean(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ V, weights


@wrong
def one_largest_score_for_all(Q, K, V):
    """You take one maximum away from the scores of all the queries. A query whose scores lie far below it then has
    exp(...) = 0 everywhere, and 0/0 is nan. Each query needs its own maximum."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    e = np.exp(scores - scores.max())
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ V, weights


@wrong
def cosine_scores(Q, K, V):
    """Your scores are cosines: each dot product is divided by the norms of its query and its key. Attention divides by
    sqrt(d_k), the same number for all pairs, so that a key of larger norm still counts for more."""
    norms = np.linalg.norm(Q, axis=-1)[..., :, None] * np.linalg.norm(K, axis=-1)[..., None, :]
    scores = Q @ np.swapaxes(K, -1, -2) / norms
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def scales_the_values(Q, K, V):
    """Your weights are those of unscaled attention, and the values were divided by the square root of d_v, the number
    of their own entries. It is the scores that grow with d_k; the values are to be averaged as they are."""
    scores = Q @ np.swapaxes(K, -1, -2)
    weights = softmax(scores)
    return weights @ (V / np.sqrt(V.shape[-1])), weights


@wrong
def writes_into_the_queries(Q, K, V):
    """The answer is right the first time, but Q is no longer what it was: your code divides the array that it was
    given, and a second call divides it again. Make a new array instead."""
    Q /= np.sqrt(Q.shape[-1])
    scores = Q @ np.swapaxes(K, -1, -2)
    weights = softmax(scores)
    return weights @ V, weights


def _terms(weights):
    return weights * np.log(np.where(weights > 0, weights, 1.0))


wrong = misconceptions_of("attention_entropy")


@wrong
def in_bits(weights):
    """Your answer is the entropy in bits: the logarithm has base 2. Asked for are nats, with the natural logarithm. Two
    equal weights have 1 bit, or 0.6931 nats."""
    return -_terms(weights).sum(axis=-1) / np.log(2)


@wrong
def in_decimal_digits(weights):
    """Your answer has the logarithm to base 10 in it. Asked for is the natural one: two equal weights, for example,
    have 0.6931, and not 0.3010."""
    return -_terms(weights).sum(axis=-1) / np.log(10)


@wrong
def nan_where_a_weight_is_0(weights):
    """Where a weight is exactly 0 your answer is nan: the logarithm of 0 is minus infinity, and 0 times infinity is not
    a number. Such a weight adds nothing. How can the logarithm be kept from ever seeing a 0?"""
    return -(weights * np.log(weights)).sum(axis=-1)


@wrong
def sum_over_the_queries(weights):
    """You added up over the queries and hand back one number for each key. Each query has an entropy of its own, taken
    over the keys: along which axis of (..., n_q, n_k) do one query's weights lie?"""
    return -_terms(weights).sum(axis=-2)


@wrong
def sum_over_everything(weights):
    """You hand back a single number, everything added up. Each query has an entropy of its own: for weights of shape
    (n_q, n_k) the answer has n_q entries. What does a sum do when you do not tell it which axis?"""
    return -_terms(weights).sum()


@wrong
def sum_over_the_second_axis(weights):
    """Your sum runs along the second axis. For a matrix that is the right one, the keys; with batch axes in front the
    keys lie on the last axis, which is no longer the second. Count from the end."""
    return -_terms(weights).sum(axis=1)


@wrong
def mean_over_the_queries(weights):
    """You hand back the mean entropy of all the queries. That is a useful summary later; asked for is one number for
    each query, shape (..., n_q)."""
    return -_terms(weights).sum(axis=-1).mean(axis=-1)


@wrong
def minus_forgotten(weights):
    """Your answer is negative: the logarithm of a number below 1 is. The formula has a minus in front, so that entropy
    is 0 for a query that looks at one key only, and above 0 for all others."""
    return _terms(weights).sum(axis=-1)


@wrong
def mean_instead_of_sum(weights):
    """Your answer is the right one divided by the number of keys: a mean was taken where the formula has a sum. Four
    equal weights have an entropy of ln 4, about 1.386; yours would be 0.347."""
    return -_terms(weights).mean(axis=-1)


@wrong
def share_of_the_largest_possible(weights):
    """Your answer is the entropy divided by the largest one possible, ln of the number of keys, so that it lies between
    0 and 1. That is a useful number too; asked for is the entropy itself."""
    return -_terms(weights).sum(axis=-1) / np.log(weights.shape[-1])


@wrong
def number_of_keys_that_count(weights):
    """You hand back exp of the entropy, the number of equal weights that would be spread out just as much. That is a
    fine way to read it; asked for is the entropy itself."""
    return np.exp(-_terms(weights).sum(axis=-1))


@wrong
def keeps_the_key_axis(weights):
    """The numbers are right, but an axis of length 1 is left over: the shape is (..., n_q, 1) where (..., n_q) is asked
    for. Which argument of your sum keeps it?"""
    return -_terms(weights).sum(axis=-1, keepdims=True)


@wrong
def never_added_up(weights):
    """You hand back one number for every weight. Those are the right terms; the entropy of a query is what its terms
    come to together."""
    return -_terms(weights)


@wrong
def logarithms_without_weights(weights):
    """You add up the logarithms themselves. Each has to be counted with its weight: a key that gets almost no weight has
    a huge logarithm and should hardly matter."""
    return -np.log(np.where(weights > 0, weights, 1.0)).sum(axis=-1)


@wrong
def weights_pushed_off_zero_by_much(weights):
    """The small number that you add against log(0) is large enough to show in the third or fourth digit. It should be
    far below anything that is measured, or the zeros be left out of the sum altogether."""
    return -(weights * np.log(weights + 1e-3)).sum(axis=-1)


@wrong
def weights_pushed_off_zero_by_1e_5(weights):
    """The small number that you add against log(0) is still large enough to show in the fourth or fifth digit. It
    should be far below anything that is measured, or the zeros be left out of the sum altogether."""
    return -(weights * np.log(weights + 1e-5)).sum(axis=-1)


@wrong
def log_of_one_plus_w(weights):
    """Your logarithm is that of 1 + w. It does avoid log(0), and it is another function: a query that looks at one key
    only would have -0.69 where the answer is 0. What is asked for is ln(w)."""
    return -(weights * np.log1p(weights)).sum(axis=-1)


@wrong
def softmaxes_the_weights_again(weights):
    """You put the weights through a softmax first. They are weights already and add up to 1; a second softmax makes
    them nearly equal, and the entropy too high: for [0.5, 0.5, 0] it would be 1.06, not 0.69."""
    return -_terms(softmax(weights)).sum(axis=-1)


@wrong
def one_minus_the_squares(weights):
    """Your answer is 1 minus the sum of the squares. That is another measure of spread (the Gini index), without any
    logarithm: two equal weights have 0.5 there, and 0.6931 nats."""
    return 1 - (weights**2).sum(axis=-1)


@wrong
def surprise_of_the_largest(weights):
    """Only the largest weight of each query has a part in your answer. Entropy looks at all of them: [0.5, 0.5, 0] and
    [0.5, 0.25, 0.25] have the same largest weight, and the second is more spread out."""
    return -np.log(weights.max(axis=-1))


@wrong
def queries_with_a_zero_count_as_0(weights):
    """Whole queries come out wrong in your answer: as soon as one weight of a query is 0, the query counts as 0. Only
    that one term is 0; its other weights still add theirs."""
    return np.where((weights == 0).any(axis=-1), 0.0, -_terms(weights).sum(axis=-1))


@wrong
def writes_into_the_weights(weights):
    """The answer is right, but the weights are no longer what they were: the zeros in the array that you were given
    have been overwritten. Whoever called you still needs them. Make a new array instead."""
    weights[weights == 0] = 1.0
    return -(weights * np.log(weights)).sum(axis=-1)


wrong = misconceptions_of("softmax_jacobian")


@wrong
def diagonal_only(p):
    """Your matrix has the right diagonal and zeros elsewhere. Raising one score also lowers all the other weights, as
    together they stay 1: each column has to add up to 0."""
    return np.diag(p * (1 - p))


@wrong
def weights_on_the_diagonal(p):
    """Your matrix holds p on its diagonal and nothing else. That is what exp alone contributes; the division by the sum
    is missing. Raising one score lowers all the other weights, so each column has to add up to 0."""
    return np.diag(p)


@wrong
def diagonal_as_a_vector(p):
    """You hand back n numbers, the diagonal of the right matrix. Each of the n weights answers to each of the n scores:
    that makes n times n numbers."""
    return p * (1 - p)


@wrong
def sign_turned_round(p):
    """Every entry has the wrong sign. Raising a score raises its own weight, so the diagonal has to be positive, and
    lowers the others."""
    return np.outer(p, p) - np.diag(p)


@wrong
def plus_for_minus(p):
    """You added the two parts where the second is to be taken away. All your entries are positive, as if raising one
    score raised every weight; but together the weights stay 1, so each column has to add up to 0."""
    return np.diag(p) + np.outer(p, p)


@wrong
def softmaxes_p_again(p):
    """You put p through a softmax first. The argument is what the softmax gave, the weights and not the scores: they are
    positive and add up to 1 already."""
    return softmax_jacobian(softmax(p))


@wrong
def off_diagonal_only(p):
    """Your entries beside the diagonal are right, and the diagonal itself lacks its positive part: it is -p[i] * p[i]
    where it should be p[i] - p[i] * p[i]. As it stands, raising a score would lower its own weight."""
    return -np.outer(p, p)


@wrong
def zeros_on_the_diagonal(p):
    """Your entries beside the diagonal are right; the diagonal is 0, as if a weight did not answer to its own score. It
    answers more than any other does: each column has to add up to 0."""
    J = -np.outer(p, p)
    np.fill_diagonal(J, 0.0)
    return J


@wrong
def positive_beside_the_diagonal(p):
    """Your diagonal is right, and the other entries have the wrong sign. Raising one score takes weight away from all
    the others: their entries are negative, and each column adds up to 0."""
    J = np.outer(p, p)
    np.fill_diagonal(J, p * (1 - p))
    return J


@wrong
def a_dot_product_for_the_outer_one(p):
    """You took one and the same number away from every entry: p . p, a dot product. p p^T with p as a column is an n by
    n matrix whose entry (i, j) is p[i] * p[j]. For a vector, `.T` changes nothing, and `@` sums."""
    return np.diag(p) - p @ p


@wrong
def entry_by_entry_for_the_outer_product(p):
    """You multiplied p with p entry by entry: that makes n numbers, and NumPy takes the same ones away from every row. p p^T
    with p as a column is an n by n matrix whose entry (i, j) is p[i] * p[j]: every entry with every entry. For a vector,
    `.T` changes nothing."""
    return np.diag(p) - p * p


@wrong
def entry_by_entry_down_the_columns(p):
    """You multiplied p with p entry by entry: that makes n numbers, and NumPy takes the same ones away from every column. p p^T
    with p as a column is an n by n matrix whose entry (i, j) is p[i] * p[j]: every entry with every entry. For a vector,
    `.T` changes nothing."""
    return np.diag(p) - (p * p)[:, None]


@wrong
def takes_away_a_row(p):
    """You took the vector p away from every row of diag(p). What is to be taken away has p[i] * p[j] at (i, j), and so
    far there is only p[j]: one factor is missing."""
    return np.diag(p) - p


@wrong
def takes_away_a_column(p):
    """You took the vector p away from every column of diag(p). What is to be taken away has p[i] * p[j] at (i, j), and
    so far there is only p[i]: one factor is missing."""
    return np.diag(p) - p[:, None]


@wrong
def identity_minus_outer(p):
    """Your diagonal starts from 1 and not from p. A weight near 0 then seems to answer fully to its score, while it
    hardly answers at all: exp changes by as much as it is."""
    return np.eye(len(p)) - np.outer(p, p)


@wrong
def one_factor_in_every_row(p):
    """Entry (i, j) of yours is p[i] * (1 - p[j]) off the diagonal too. Only where i = j does a weight gain from its own
    score; everywhere else nothing but -p[i] * p[j] is left."""
    return np.outer(p, 1 - p)


@wrong
def derivative_of_the_logarithm(p):
    """Row i of yours is divided by p[i]: that is the derivative of ln(p[i]), which is handy in a loss function. Asked
    for is the derivative of the weight itself."""
    return np.eye(len(p)) - p[None, :] * np.ones((len(p), 1))


@wrong
def sigmoid_derivatives_everywhere(p):
    """Every row of yours holds p * (1 - p), the derivative of a single sigmoid. Only the diagonal has that; an entry
    beside it says how one weight answers to another's score."""
    return np.tile(p * (1 - p), (len(p), 1))


wrong = misconceptions_of("numerical_gradient")


@wrong
def forward_difference(f, x, eps=1e-5):
    """You go one step forward and compare with f(x) itself. That leans to one side: for the cube at 2 with eps = 0.5,
    for example, it gives 15.25, where a step to either side gives 12.25 and the true slope is 12. The contract asks
    for both sides."""
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x + step) - f(x)) / eps
    return slopes


@wrong
def backward_difference(f, x, eps=1e-5):
    """You go one step back and compare with f(x) itself. That leans to one side: for the cube at 2 with eps = 0.5, for
    example, it gives 9.25, where a step to either side gives 12.25 and the true slope is 12. The contract asks for
    both sides."""
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x) - f(x - step)) / eps
    return slopes


@wrong
def two_forgotten(f, x, eps=1e-5):
    """Your slopes are twice too large. From eps below to eps above, the distance is 2 * eps: a line with slope 3 rises
    by 6 * eps on the way."""
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x + step) - f(x - step)) / eps
    return slopes


@wrong
def forward_over_two_steps(f, x, eps=1e-5):
    """You compare f one step ahead with f at x itself, a distance of eps, and divide by 2 * eps. A slope of 3 would
    come out near 1.5. For the distance 2 * eps, the other point has to lie one step behind."""
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x + step) - f(x)) / (2 * eps)
    return slopes


@wrong
def halved_distance_multiplied(f, x, eps=1e-5):
    """You divide by 2 and then multiply by eps: Python works through `/ 2 * eps` from left to right. With eps = 0.5 the
    answer is a quarter of the right one, and with a small eps almost nothing is left. Where do parentheses belong?"""
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x + step) - f(x - step)) / 2 * eps
    return slopes


@wrong
def never_divided(f, x, eps=1e-5):
    """You hand back by how much f differs between the two points, and with a small eps that is almost 0. A slope is the
    difference divided by the distance."""
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = f(x + step) - f(x - step)
    return slopes


@wrong
def half_steps(f, x, eps=1e-5):
    """You step half of eps to either side. That is a central difference too, and a good one, but the contract uses eps
    as given: one whole eps up and one down. For the cube at 2 with eps = 0.5, for example, that makes 12.25, and yours
    is 12.0625."""
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x + step / 2) - f(x - step / 2)) / eps
    return slopes


@wrong
def double_steps(f, x, eps=1e-5):
    """You step twice eps to either side. The contract uses eps as given: one eps up and one down. For the cube at 2
    with eps = 0.5, for example, that makes 12.25, and yours is 13."""
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x + 2 * step) - f(x - 2 * step)) / (4 * eps)
    return slopes


@wrong
def eps_of_its_own(f, x, eps=1e-5):
    """Your answer is the same whatever eps is asked for, as if a small step of your own were taken each time. For the
    cube at 2 with eps = 0.5 the two-point formula gives 12.25, and yours gives 12. The step is chosen by whoever calls
    you."""
    eps = 1e-5
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x + step) - f(x - step)) / (2 * eps)
    return slopes


@wrong
def eps_relative_to_x(f, x, eps=1e-5):
    """Your step grows with the entry that is moved: eps times its size, or times 1 where that is smaller. That is wise
    for entries of very different size, but the contract uses eps as given, for every entry alike."""
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps * max(1.0, abs(x[i]))
        slopes[i] = (f(x + step) - f(x - step)) / (2 * step[i])
    return slopes


@wrong
def four_points(f, x, eps=1e-5):
    """Your formula uses two points on either side. It is more exact than what is asked for: for a cube it has no error
    at all, where the two-point difference has eps squared. The exercise is about the plain one, with one point on
    either side."""
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (8 * (f(x + step) - f(x - step)) - (f(x + 2 * step) - f(x - 2 * step))) / (12 * eps)
    return slopes


@wrong
def second_derivative(f, x, eps=1e-5):
    """Your formula has f(x + eps) - 2 f(x) + f(x - eps) in it: that is the curvature, the slope of the slope. For the
    slope it is the difference of the two points that counts, over the distance between them."""
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x + step) - 2 * f(x) + f(x - step)) / eps**2
    return slopes


@wrong
def points_exchanged(f, x, eps=1e-5):
    """Every slope has the wrong sign: the value below was taken first. If f rises with an entry, f a little above minus
    f a little below is positive."""
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x - step) - f(x + step)) / (2 * eps)
    return slopes


@wrong
def points_added(f, x, eps=1e-5):
    """You added the two values of f where one is to be taken from the other. For a function that is 100 everywhere the
    slope is 0, but yours would be huge."""
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x + step) + f(x - step)) / (2 * eps)
    return slopes


@wrong
def moves_every_entry(f, x, eps=1e-5):
    """You moved all the entries at once, so that every slope is the sum of them all. To learn what one entry does, move
    that one and keep the others still; f has to be called anew for each."""
    slope = (f(x + eps) - f(x - eps)) / (2 * eps)
    return np.full_like(x, slope)


@wrong
def one_number_for_all(f, x, eps=1e-5):
    """You hand back a single number: all the entries moved at once. Asked for is one slope for each entry, in the shape
    of x; to learn what one entry does, move that one and keep the others still."""
    return (f(x + eps) - f(x - eps)) / (2 * eps)


@wrong
def moves_whole_rows(f, x, eps=1e-5):
    """For a matrix you moved whole rows: a single index on a matrix picks a row. Then the slopes of a row's entries are
    added up, and all of them come out equal. Every entry has to be moved by itself, whatever the number of axes."""
    slopes = np.zeros_like(x)
    for i in range(len(x)):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x + step) - f(x - step)) / (2 * eps)
    return slopes


@wrong
def flat_answer(f, x, eps=1e-5):
    """The slopes are right and stand in one long row. Asked for is the shape of x, each slope in the place of its
    entry."""
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x + step) - f(x - step)) / (2 * eps)
    return slopes.ravel()


@wrong
def rows_and_columns_exchanged(f, x, eps=1e-5):
    """The slopes are right, but their axes have changed places: the slope of the entry in row i and column j stands in
    row j and column i. That keeps the shape of a square x and of no other matrix. Each slope belongs in the place of
    its entry."""
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x + step) - f(x - step)) / (2 * eps)
    return slopes.T


@wrong
def flat_argument(f, x, eps=1e-5):
    """You hand f a flattened array. Some functions do not mind; one that looks at rows and columns does. f takes an
    array of the shape of x, so the moved entries need that shape again before the call."""
    flat = x.ravel()
    slopes = [(f(flat + e) - f(flat - e)) / (2 * eps) for e in eps * np.eye(x.size)]
    return np.reshape(slopes, x.shape)


@wrong
def one_entry_as_argument(f, x, eps=1e-5):
    """You hand f one single number, the entry that is moved. That happens to work where f treats all entries alike; in
    general f needs to see the whole array, with one entry moved and the others as they are."""
    grad = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        grad[i] = (f(x[i] + eps) - f(x[i] - eps)) / (2 * eps)
    return grad


@wrong
def one_array_under_two_names(f, x, eps=1e-5):
    """All your slopes are 0. `up = x` makes no new array, just a second name: what is written through one name shows
    under the other, and both calls of f see the same numbers. Which method makes a copy?"""
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
    """You move an entry of x up, then down, and never put it back: the next slope is measured at another place, and
    whoever called you gets back other numbers. Put the entry back, or work on a copy."""
    grad = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        x[i] += eps
        up = f(x)
        x[i] -= 2 * eps
        grad[i] = (up - f(x)) / (2 * eps)
    return grad


@wrong
def steps_pile_up(f, x, eps=1e-5):
    """Your steps pile up: an entry that has been moved stays moved while the next ones are measured, so that each of
    your slopes has those of all the entries before it added in. Start from x anew for every entry."""
    slopes = np.zeros_like(x)
    step = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step[i] = eps
        slopes[i] = (f(x + step) - f(x - step)) / (2 * eps)
    return slopes


@wrong
def last_entry_forgotten(f, x, eps=1e-5):
    """The last slope is always 0: no step was made there. If you count the entries yourself, which number does the count
    end with?"""
    slopes = np.zeros_like(x)
    for i in list(np.ndindex(x.shape))[:-1]:
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x + step) - f(x - step)) / (2 * eps)
    return slopes


@wrong
def only_the_last_slope(f, x, eps=1e-5):
    """Only the last entry has its slope, the others are 0: your answer starts anew at every entry. Make the array of
    zeros once, before the loop."""
    grad = np.zeros_like(x)
    i = tuple(n - 1 for n in x.shape)
    step = np.zeros_like(x)
    step[i] = eps
    grad[i] = (f(x + step) - f(x - step)) / (2 * eps)
    return grad


@wrong
def size_of_the_slope(f, x, eps=1e-5):
    """None of your slopes is negative: the sign got lost. Where f falls as an entry rises, the slope is below 0."""
    slopes = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        slopes[i] = (f(x + step) - f(x - step)) / (2 * eps)
    return np.abs(slopes)


def _weights(q, K):
    return softmax(K @ q / np.sqrt(len(q)))


wrong = misconceptions_of("query_gradient")


@wrong
def root_forgotten_at_the_end(q, K, V, g):
    """Your weights are scaled, but the chain has one more link: a score is K @ q divided by sqrt(d_k), so it answers to
    q by that much less. All your slopes are sqrt(d_k) times too large."""
    return K.T @ (softmax_jacobian(_weights(q, K)) @ (V @ g))


@wrong
def gradient_of_unscaled_attention(q, K, V, g):
    """This is the gradient of attention without any scaling. The scores are divided by sqrt(d_k): that changes the
    weights, and it changes how much a score answers to q."""
    return K.T @ (softmax_jacobian(softmax(K @ q)) @ (V @ g))


@wrong
def weights_of_unscaled_attention(q, K, V, g):
    """The division by sqrt(d_k) is there at the end, but your weights come from scores that were not divided. Both
    belong together: which scores went into the softmax?"""
    return K.T @ (softmax_jacobian(softmax(K @ q)) @ (V @ g)) / np.sqrt(len(q))


@wrong
def no_jacobian(q, K, V, g):
    """You treat the scores as if they were the weights: the softmax in between has no part in your gradient. If all the
    values are equal, the output cannot change, however q moves; yours would not be 0. What translates a change of
    scores into a change of weights?"""
    return K.T @ (V @ g) / np.sqrt(len(q))


@wrong
def weights_for_the_jacobian(q, K, V, g):
    """You multiply by the weights where the softmax's Jacobian belongs. That holds the sum under the fraction fixed,
    while in truth raising one score lowers all the other weights: if all the values are equal the output cannot
    change, but your gradient is not 0."""
    return K.T @ (_weights(q, K) * (V @ g)) / np.sqrt(len(q))


@wrong
def diagonal_of_the_jacobian(q, K, V, g):
    """You use the diagonal of the Jacobian alone: each weight answers to its own score, and the other weights stay as
    they are. They cannot, as together they are 1. If all the values are equal the output cannot change, but your
    gradient is not 0."""
    w = _weights(q, K)
    return K.T @ (w * (1 - w) * (V @ g)) / np.sqrt(len(q))


@wrong
def jacobian_of_the_scores(q, K, V, g):
    """You gave the scores to the Jacobian. It asks for the weights, which is what the softmax made of them."""
    return K.T @ (softmax_jacobian(K @ q / np.sqrt(len(q))) @ (V @ g)) / np.sqrt(len(q))


@wrong
def softmaxed_once_more(q, K, V, g):
    """The weights went through a second softmax on their way into the Jacobian. It asks for the weights as they are."""
    return K.T @ (softmax_jacobian(softmax(_weights(q, K))) @ (V @ g)) / np.sqrt(len(q))


@wrong
def all_slopes_negative(q, K, V, g):
    """Every slope has the wrong sign: moving q along your answer lowers g . output. A gradient points uphill."""
    return -K.T @ (softmax_jacobian(_weights(q, K)) @ (V @ g)) / np.sqrt(len(q))


@wrong
def g_forgotten(q, K, V, g):
    """g has no part in your answer: the entries of the output all count as 1. Two different g have to give two different
    gradients."""
    return K.T @ (softmax_jacobian(_weights(q, K)) @ V.sum(axis=1)) / np.sqrt(len(q))


@wrong
def divided_by_d_k_at_the_end(q, K, V, g):
    """You divide by d_k at the end: by sqrt(d_k) twice. The scores hold it once, so it comes out of the chain once."""
    return K.T @ (softmax_jacobian(_weights(q, K)) @ (V @ g)) / len(q)


@wrong
def multiplied_by_the_root_at_the_end(q, K, V, g):
    """You multiply by sqrt(d_k) at the end. The scores are divided by it, so they answer less to q, not more: the
    gradient is divided by it too."""
    return K.T @ (softmax_jacobian(_weights(q, K)) @ (V @ g)) * np.sqrt(len(q))


@wrong
def root_of_n_k_in_the_chain(q, K, V, g):
    """You divide by the square root of the number of keys. It is the number of entries of a key, d_k, that belongs
    under the root."""
    root = np.sqrt(len(K))
    return K.T @ (softmax_jacobian(softmax(K @ q / root)) @ (V @ g)) / root


@wrong
def root_of_d_v_in_the_chain(q, K, V, g):
    """You divide by the square root of the number of entries of a value. It is the number of entries of a key, d_k,
    that belongs under the root."""
    root = np.sqrt(V.shape[1])
    return K.T @ (softmax_jacobian(softmax(K @ q / root)) @ (V @ g)) / root


@wrong
def gradient_for_the_scores(q, K, V, g):
    """You hand back n_k numbers: how much g . output answers to each score. One link of the chain is missing, from the
    scores to q: which array turns q into scores?"""
    return softmax_jacobian(_weights(q, K)) @ (V @ g) / np.sqrt(len(q))


@wrong
def scales_the_keys_in_place(q, K, V, g):
    """The answer is right the first time, but K is no longer what it was: your code divides the array that it was
    given, and a second call divides it again. Make a new array instead."""
    K /= np.sqrt(len(q))
    return K.T @ (softmax_jacobian(softmax(K @ q)) @ (V @ g))


@wrong
def output_and_not_slope(q, K, V, g):
    """You hand back g . output itself, a single number. Asked for is how that number answers to each entry of q."""
    return g @ (_weights(q, K) @ V)


@wrong
def jacobian_of_the_output(q, K, V, g):
    """You hand back a whole matrix, with one row for each entry of the output. g says how much each of them counts:
    with it the rows become one."""
    return V.T @ softmax_jacobian(_weights(q, K)) @ K / np.sqrt(len(q))


@wrong
def gradient_for_the_keys(q, K, V, g):
    """You hand back a matrix of the shape of K: how g . output answers to each entry of the keys. That is a gradient
    too, and a right one; asked for is the one for the query."""
    return np.outer(softmax_jacobian(_weights(q, K)) @ (V @ g), q) / np.sqrt(len(q))


@wrong
def no_largest_score_taken_away_here(q, K, V, g):
    """Your softmax overflows: exp of a score above 709 is infinity, and infinity divided by infinity is nan. What did
    the softmax of chapter 1 do before the exp?"""
    e = np.exp(K @ q / np.sqrt(len(q)))
    return K.T @ (softmax_jacobian(e / e.sum()) @ (V @ g)) / np.sqrt(len(q))


@wrong
def sign_inside_the_jacobian(q, K, V, g):
    """Your weights all move in the same direction when a score is raised: the two parts of the Jacobian are added where
    one is to be taken from the other. If all the values are equal the output cannot change, but your gradient is not
    0."""
    w = _weights(q, K)
    return K.T @ (w * (V @ g + w @ (V @ g))) / np.sqrt(len(q))


@wrong
def plain_mean_taken_away(q, K, V, g):
    """You compare each value with the plain mean of all of them. What counts is how far it is from the output, and that
    is the mean with the weights in it."""
    w, worth = _weights(q, K), V @ g
    return K.T @ (w * (worth - worth.mean())) / np.sqrt(len(q))

"""Wrong solutions of chapter 6. Each function makes one mistake, and its docstring is the message for students who make this mistake."""

import math

import numpy as np

from autograder.misconception import misconceptions_of
from solutions.ch1_weighted_averaging import softmax
from solutions.ch3_scaling import scaled_dot_product_attention as attention
from solutions.ch4_masking import masked_softmax

wrong = misconceptions_of("attention_cost")


@wrong
def every_multiply_add_twice(n_q, n_k, d_k, d_v):
    """Your count of multiply-adds is twice as large as it should be. A multiplication together with the addition that
    follows it is one multiply-add here. Counted separately, they would be FLOPs. The first product of the example takes
    2 · 3 · 4 = 24."""
    return {"multiply_adds": 2 * n_q * n_k * (d_k + d_v), "stored_scores": n_q * n_k}


@wrong
def as_many_keys_as_queries(n_q, n_k, d_k, d_v):
    """You count n_q times n_q pairs. Each query meets each key, and there can be more keys than queries, or fewer. For
    example, 2 queries and 3 keys make 6 pairs."""
    return {"multiply_adds": n_q * n_q * (d_k + d_v), "stored_scores": n_q * n_q}


@wrong
def as_many_queries_as_keys(n_q, n_k, d_k, d_v):
    """You count n_k times n_k pairs. Each key meets each query, and there can be more queries than keys, or fewer. For
    example, 2 queries and 3 keys make 6 pairs."""
    return {"multiply_adds": n_k * n_k * (d_k + d_v), "stored_scores": n_k * n_k}


@wrong
def both_products_as_wide_as_the_values(n_q, n_k, d_k, d_v):
    """Your multiply-adds are 2 · n_q · n_k · d_v. A score is the dot product of a query with a key, and these have d_k
    entries. Only the mixing of the values depends on d_v."""
    return {"multiply_adds": n_q * n_k * (d_v + d_v), "stored_scores": n_q * n_k}


@wrong
def both_products_as_wide_as_the_keys(n_q, n_k, d_k, d_v):
    """Your multiply-adds are 2 · n_q · n_k · d_k. Only the scores depend on d_k: the second product mixes values, and a
    value has d_v entries."""
    return {"multiply_adds": n_q * n_k * (d_k + d_k), "stored_scores": n_q * n_k}


@wrong
def only_the_scores(n_q, n_k, d_k, d_v):
    """Your multiply-adds are those of Q K^T alone. A second matrix product mixes the values with the weights. In the
    example, these are 30 more multiply-adds.
    """
    return {"multiply_adds": n_q * n_k * d_k, "stored_scores": n_q * n_k}


@wrong
def only_the_mixing(n_q, n_k, d_k, d_v):
    """Your multiply-adds are those of the mixing alone. Before that, Q K^T computes the scores with n_q · n_k dot
    products. In the example, these are 24 more multiply-adds."""
    return {"multiply_adds": n_q * n_k * d_v, "stored_scores": n_q * n_k}


@wrong
def mixed_over_the_queries(n_q, n_k, d_k, d_v):
    """In your count, each entry of the output adds up n_q products. The output mixes values, and there are n_k of
    them."""
    return {"multiply_adds": n_q * n_k * d_k + n_q * n_q * d_v, "stored_scores": n_q * n_k}


@wrong
def keys_and_values_multiplied_first(n_q, n_k, d_k, d_v):
    """Your multiply-adds are those of another order: first the keys times the values, then the queries times the result.
    Between its two products, attention takes the softmax of the scores, so the scores of all pairs come first."""
    return {"multiply_adds": n_k * d_k * d_v + n_q * d_k * d_v, "stored_scores": n_q * n_k}


@wrong
def widths_multiplied(n_q, n_k, d_k, d_v):
    """You multiply d_k by d_v. The two products are separate steps, so add their costs. Each pair takes d_k steps for
    its score, and then d_v steps to add its value to the mix."""
    return {"multiply_adds": n_q * n_k * d_k * d_v, "stored_scores": n_q * n_k}


@wrong
def positions_added(n_q, n_k, d_k, d_v):
    """You add n_q and n_k, but every query meets every key. For example, 10 queries and 10 keys make 10 * 10 = 100
    pairs, not 20. That is why attention is called quadratic."""
    return {"multiply_adds": (n_q + n_k) * (d_k + d_v), "stored_scores": n_q + n_k}


@wrong
def weights_stored_too(n_q, n_k, d_k, d_v):
    """Your multiply-adds are right, but your count of stored scores is twice as large as it should be. The weights can
    overwrite the scores, so count the numbers in one table only."""
    return {"multiply_adds": n_q * n_k * (d_k + d_v), "stored_scores": 2 * n_q * n_k}


@wrong
def output_stored_too(n_q, n_k, d_k, d_v):
    """Your multiply-adds are right, but you add the output's n_q · d_v numbers to the stored scores. Count only the
    table of scores, which is the part that grows quadratically."""
    return {"multiply_adds": n_q * n_k * (d_k + d_v), "stored_scores": n_q * n_k + n_q * d_v}


@wrong
def stored_for_every_feature(n_q, n_k, d_k, d_v):
    """Your multiply-adds are right, but you store d_k numbers for each pair. The products inside a dot product are
    added up as they come, so only one score remains for each pair."""
    return {"multiply_adds": n_q * n_k * (d_k + d_v), "stored_scores": n_q * n_k * d_k}


@wrong
def scores_of_one_query(n_q, n_k, d_k, d_v):
    """You counted only the n_k scores of a single query as stored. The table has one row for each query."""
    return {"multiply_adds": n_q * n_k * (d_k + d_v), "stored_scores": n_k}


@wrong
def two_numbers_instead_of_a_dictionary(n_q, n_k, d_k, d_v):
    """Your two numbers are right, but you return them as a pair. Return a dictionary with the keys "multiply_adds" and
    "stored_scores", so that nobody has to remember the order."""
    return n_q * n_k * (d_k + d_v), n_q * n_k


wrong = misconceptions_of("layer_flops")


@wrong
def no_output_projection(n, d_model):
    """Your result contains three projections, 6nd². There are four of the same size: W_Q, W_K, W_V, and W_O, by which
    the merged heads are multiplied. Which one is missing in your sum?"""
    return 6 * n * d_model**2 + 4 * n**2 * d_model


@wrong
def multiply_adds_for_flops(n, d_model):
    """Your count is exactly half of the right one. Each multiply-add is two floating-point operations, a multiplication
    and an addition. Do you count these two, and all six products: four projections, the scores and the mixing?"""
    return 4 * n * d_model**2 + 2 * n**2 * d_model


@wrong
def one_product_inside_attention(n, d_model):
    """Your projections are right, but the part that grows with n² is only half as large as it should be. Attention has
    two products over all pairs: one for the scores, one for the mixing. Is one of them missing, or do you count a
    multiply-add as one FLOP? It is two."""
    return 8 * n * d_model**2 + 2 * n**2 * d_model


@wrong
def projections_in_multiply_adds(n, d_model):
    """Your part with n² is right, but your projections are only half as large as they should be. Each of the four (W_Q,
    W_K, W_V, W_O) takes n · d_model · d_model multiply-adds, and each multiply-add is 2 FLOPs. Do you count all four,
    and the 2?"""
    return 4 * n * d_model**2 + 4 * n**2 * d_model


@wrong
def projections_only(n, d_model):
    """Your count is 8nd², the cost of the four projections alone. Between W_V and W_O, the positions look at each
    other. The scores and the mixing are two more products, and these grow with n². Does your sum contain a term with
    n²?"""
    return 8 * n * d_model**2


@wrong
def attention_only(n, d_model):
    """Your count covers only the scores and the mixing. The projections W_Q, W_K, W_V and W_O belong to the layer too,
    and while n is small they are most of its cost."""
    return 4 * n**2 * d_model


@wrong
def n_and_d_swapped(n, d_model):
    """Your results are those with the wrong letters squared, or with n and d_model exchanged. A projection multiplies
    each of n rows by a d_model × d_model matrix, so there d_model is squared. The scores compare each of n positions
    with each of n, so there n is squared."""
    return 8 * n**2 * d_model + 4 * n * d_model**2


@wrong
def a_single_projection(n, d_model):
    """Your result contains one projection, 2nd². Queries, keys and values need three different projections, and W_O is
    a fourth. Are all four in your sum?"""
    return 2 * n * d_model**2 + 4 * n**2 * d_model


@wrong
def one_dot_product_a_row(n, d_model):
    """In your projections, a factor d_model is missing. Each row of X gives d_model new numbers, and each of them is a
    dot product over d_model entries."""
    return 8 * n * d_model + 4 * n**2 * d_model


@wrong
def everything_quadratic(n, d_model):
    """Your projections grow with n². But a projection treats each position by itself, so twice as many positions cost
    only twice as much there. Only the scores and the mixing work on pairs."""
    return 8 * n**2 * d_model**2 + 4 * n**2 * d_model


@wrong
def table_as_wide_as_the_model(n, d_model):
    """The attention part of your count grows like n · d_model², so it is right only if n equals d_model. The table of
    scores has n rows and n columns. How many entries does it have, and how many products does each of them add up?"""
    return 12 * n * d_model**2


@wrong
def everything_linear(n, d_model):
    """The attention part of your count grows only with n. Each of n queries meets each of n keys, so there n is
    squared."""
    return 8 * n * d_model**2 + 4 * n * d_model


@wrong
def squared_the_whole_product(n, d_model):
    """In the attention part of your count, d_model is squared along with n. There are n² pairs. Over all heads
    together, each pair costs d_model multiply-adds for the score and d_model for the mix, so d_model is not squared."""
    return 8 * n * d_model**2 + 4 * (n * d_model) ** 2


@wrong
def with_the_feed_forward_part(n, d_model):
    """Your result contains 24nd² instead of 8nd². The attention layer has four matrices of d_model² entries each. Do
    you count a matrix several times, or also the feed-forward part of a transformer block?"""
    return 24 * n * d_model**2 + 4 * n**2 * d_model


@wrong
def with_the_softmax(n, d_model):
    """Your count has n² more than it should: one for each score, perhaps for the softmax or the scaling. This is real
    work, but the exercise leaves it out. Next to the 4 · n² · d_model of the two products it hardly matters."""
    return 8 * n * d_model**2 + 4 * n**2 * d_model + n**2


@wrong
def merged_rows_as_wide_as_the_text(n, d_model):
    """Your result contains three products with d_model² and three with n². There should be four and two. W_O has shape
    (d_model, d_model), like the other projections, and it multiplies n rows of d_model numbers. The softmax is not
    counted."""
    return 6 * n * d_model**2 + 6 * n**2 * d_model


wrong = misconceptions_of("sliding_window_mask")


@wrong
def looks_both_ways(n, window):
    """Your window is open on both sides, so queries see later positions. The window should be causal: in
    sliding_window_mask(4, 2) the first row should have a single True. Which part of your code lets in the keys after
    the query?"""
    i, j = np.indices((n, n))
    return np.abs(i - j) < window


@wrong
def hides_a_key_counted_from_the_end(n, window):
    """In the first rows, no key leaves the window yet, but your code removes one. Is there an index such as i - window? It
    is negative in these rows. A negative index counts from the end, and fails if it goes past the start."""
    mask, row = np.zeros((n, n), dtype=bool), np.zeros(n, dtype=bool)
    for i in range(n):
        row[i] = True
        row[i - window] = False
        mask[i] = row
    return mask


@wrong
def one_key_more(n, window):
    """Your window has one key too many: the query's own position and `window` keys before it. Its own position counts
    as one of the `window` keys. With a window of 1, a query sees only itself."""
    i, j = np.indices((n, n))
    return (i - j >= 0) & (i - j <= window)


@wrong
def one_key_too_few(n, window):
    """Your window has one key too few. The query's own position is one of the `window` keys, and window - 1 more come
    before it. How far back is the last of these, and does your code include it?"""
    back = np.arange(n)[:, None] - np.arange(n)
    return (back >= 0) & (back < window - 1)


@wrong
def looks_ahead(n, window):
    """Your window is on the wrong side: each query sees itself and later positions. Rows are queries and columns are
    keys, so earlier positions are to the left of the diagonal."""
    i, j = np.indices((n, n))
    return (j - i >= 0) & (j - i < window)


@wrong
def never_itself(n, window):
    """Your window starts one step before the query and leaves out the query's own position. With a window of 1, only
    the diagonal should be True. Also, the first query has only itself to look at."""
    i, j = np.indices((n, n))
    return (i - j >= 1) & (i - j <= window)


@wrong
def blocked_instead_of_allowed(n, window):
    """Your mask is True exactly where it should be False. In this course, True means "may attend", so the whole
    diagonal is True."""
    i, j = np.indices((n, n))
    return ~((i - j >= 0) & (i - j < window))


@wrong
def the_future_is_open(n, window):
    """Your mask forbids keys that are too far back, but lets every query see all later positions. The window has two
    ends: one at the query itself, one window - 1 steps before it."""
    i, j = np.indices((n, n))
    return i - j < window


@wrong
def the_whole_past(n, window):
    """This is the causal mask of chapter 4: each query sees everything before it. Does `window` change anything in your
    mask? In a large table, no row should have more than `window` entries that are True."""
    return np.tri(n, dtype=bool)


@wrong
def separate_blocks(n, window):
    """In your mask, each query sees only its own block of `window` positions. So the first query of a block sees none
    of the positions before it. A sliding window moves along by one position with each query."""
    i, j = np.indices((n, n))
    return (i // window == j // window) & (j <= i)


@wrong
def numbers_for_truth(n, window):
    """Your window is right, but it contains the numbers 1 and 0 instead of True and False. NumPy treats them
    differently: `~` turns True into False, but the whole number 1 into -2, and for floats it raises an error. How can
    you turn numbers into booleans?"""
    i, j = np.indices((n, n))
    return np.where((i - j >= 0) & (i - j < window), 1, 0)


@wrong
def minus_infinity_outside(n, window):
    """Your window is right, but it contains 0 and -inf, ready to be added to scores. A mask only says who may look:
    True or False."""
    i, j = np.indices((n, n))
    return np.where((i - j >= 0) & (i - j < window), 0.0, -np.inf)


@wrong
def centred_with_the_longer_half_before(n, window):
    """Your window is centered on the query, with half of the other keys before it and half after it. It should end at
    the query instead: a query must not see later positions."""
    i, j = np.indices((n, n))
    return (j >= i - window // 2) & (j < i - window // 2 + window)


@wrong
def centred_on_the_query(n, window):
    """Your window is centered on the query, half before it and half after. It should end at the query instead: a query
    must not see later positions."""
    i, j = np.indices((n, n))
    return np.abs(i - j) <= window // 2


@wrong
def the_first_keys_only(n, window):
    """Your queries see only the first `window` keys, as far as these do not come later. The window should move along:
    query i sees at most `window` keys, and the last of these is at position i."""
    i, j = np.indices((n, n))
    return (j < window) & (j <= i)


@wrong
def negative_starts(n, window):
    """In rows near the start, i - window + 1 is negative, and Python counts a negative index from the end. Where should
    the window begin there?"""
    mask = np.zeros((n, n), dtype=bool)
    for i in range(n):
        mask[i, i - window + 1 : i + 1] = True
    return mask


@wrong
def a_window_of_columns(n, window):
    """Your mask has `window` columns. It must match the scores entry by entry, so it needs a column for each of the n
    keys, most of them False."""
    i, j = np.indices((n, window))
    return i - j >= 0


wrong = misconceptions_of("linear_attention")


@wrong
def no_normaliser(Q, K, V, feature_map):
    """Your weights do not add up to 1: your output mixes the values by the dot products of features, not divided by
    their sum. If all the values are 1, the output should be 1. By which number must each row be divided, and is this
    division part of what you return?"""
    return feature_map(Q) @ (np.swapaxes(feature_map(K), -1, -2) @ V)


@wrong
def features_of_the_queries_only(Q, K, V, feature_map):
    """Your results are made from the features of the queries, but from the keys as they are. Both sides of the dot
    product should be features. Otherwise weights can be negative, and the sum that you divide by can be near 0."""
    features = feature_map(Q)
    mixed = features @ (np.swapaxes(K, -1, -2) @ V)
    return mixed / (features * K.sum(axis=-2, keepdims=True)).sum(axis=-1, keepdims=True)


@wrong
def features_of_the_keys_only(Q, K, V, feature_map):
    """Your results are made from the features of the keys, but from the queries as they are. Both sides of the dot
    product should be features. Otherwise weights can be negative, and the sum that you divide by can be near 0."""
    features = feature_map(K)
    mixed = Q @ (np.swapaxes(features, -1, -2) @ V)
    return mixed / (Q * features.sum(axis=-2, keepdims=True)).sum(axis=-1, keepdims=True)


@wrong
def no_features_at_all(Q, K, V, feature_map):
    """Your results do not depend on feature_map. The "weights" are plain dot products of Q and K, divided by their sum.
    Some can be negative, and the sum can be near 0. Do you call feature_map on Q and on K, and use what it returns?"""
    mixed = Q @ (np.swapaxes(K, -1, -2) @ V)
    return mixed / (Q * K.sum(axis=-2, keepdims=True)).sum(axis=-1, keepdims=True)


@wrong
def softmax_of_the_features(Q, K, V, feature_map):
    """Your weights are a softmax of the dot products of features. Features are positive, so no softmax is needed: the
    weights are the dot products divided by their sum. A softmax also needs a score for each pair of query and key,
    which linear attention avoids."""
    return softmax(feature_map(Q) @ np.swapaxes(feature_map(K), -1, -2)) @ V


@wrong
def plain_softmax_attention(Q, K, V, feature_map):
    """Your results are those of the softmax attention of chapter 3, and they do not depend on feature_map. Linear
    attention has different weights: the dot products of features, divided by their sum."""
    return attention(Q, K, V)[0]


@wrong
def the_whole_table_of_weights(Q, K, V, feature_map):
    """Your numbers are right, but you use too much memory: at least a large part of what the table of all n_q · n_k
    weights needs. For the mixing, (A B) C = A (B C), but only one of these orders keeps the product in the brackets
    small. And for the denominators, what can you add up first? Does any array or list have a number for each pair of
    positions, or for many of the pairs at once?"""
    weights = feature_map(Q) @ np.swapaxes(feature_map(K), -1, -2)
    return (weights @ V) / weights.sum(axis=-1, keepdims=True)


@wrong
def divided_by_the_number_of_keys(Q, K, V, feature_map):
    """Your output is divided by the number of keys. That would be right if all the dot products were 1. The weights of
    a query only add up to 1 if you divide them by their sum, which differs from query to query."""
    return feature_map(Q) @ (np.swapaxes(feature_map(K), -1, -2) @ V) / K.shape[-2]


@wrong
def divided_by_the_features_of_the_query(Q, K, V, feature_map):
    """Your output is divided by the sum of the query's features. The weights of a query are dot products with the
    features of all the keys. Divide by the sum of these dot products."""
    features = feature_map(Q)
    return features @ (np.swapaxes(feature_map(K), -1, -2) @ V) / features.sum(axis=-1, keepdims=True)


@wrong
def product_of_two_totals(Q, K, V, feature_map):
    """You divide by the product of two totals: the sum of the query's features and the sum of all the keys' features. A
    sum of products is not a product of sums. Add up the keys' features key by key, so that each feature keeps its own
    sum, and take the dot product with the query's features."""
    features, keys = feature_map(Q), feature_map(K)
    totals = features.sum(axis=-1, keepdims=True) * keys.sum(axis=(-2, -1))[..., None, None]
    return features @ (np.swapaxes(keys, -1, -2) @ V) / totals


@wrong
def queries_summed_for_the_normaliser(Q, K, V, feature_map):
    """The sum that you divide by uses the features of the queries. A query's weights are summed over the keys, so add
    up the keys' features instead."""
    phi_Q, phi_K = feature_map(Q), feature_map(K)
    mixed = phi_Q @ (np.swapaxes(phi_K, -1, -2) @ V)
    return mixed / (phi_Q * phi_Q.sum(axis=-2, keepdims=True)).sum(axis=-1, keepdims=True)


@wrong
def one_sum_for_all_queries(Q, K, V, feature_map):
    """In your output, the rows of all queries are divided by the same number. Every query has its own weights, and each
    row of them should add up to 1."""
    phi_Q, phi_K = feature_map(Q), feature_map(K)
    mixed = phi_Q @ (np.swapaxes(phi_K, -1, -2) @ V)
    return mixed / (phi_Q * phi_K.sum(axis=-2, keepdims=True)).sum(axis=(-1, -2), keepdims=True)


@wrong
def one_sum_for_everything(Q, K, V, feature_map):
    """You divide everything by a single number, a sum over all the queries (and over the batch, if there is one). Every
    query has its own weights, and each row of them should add up to 1."""
    phi_Q, phi_K = feature_map(Q), feature_map(K)
    mixed = phi_Q @ (np.swapaxes(phi_K, -1, -2) @ V)
    return mixed / (phi_Q * phi_K.sum(axis=-2, keepdims=True)).sum()


@wrong
def features_into_the_softmax(Q, K, V, feature_map):
    """Your results are those of softmax attention for the features. Features are positive, so no softmax and no
    division by a root are needed: the weights are the dot products divided by their sum. Softmax attention also
    computes a score for each pair of query and key."""
    return attention(feature_map(Q), feature_map(K), V)[0]


@wrong
def exp_whatever_is_asked(Q, K, V, feature_map):
    """Your features are always exp of the numbers, whatever `feature_map` is. It is an argument so that each call can
    use a different function. Call the function that you are given, and use its result."""
    phi_Q, phi_K = np.exp(Q), np.exp(K)
    mixed = phi_Q @ (np.swapaxes(phi_K, -1, -2) @ V)
    return mixed / (phi_Q * phi_K.sum(axis=-2, keepdims=True)).sum(axis=-1, keepdims=True)


@wrong
def elu_whatever_is_asked(Q, K, V, feature_map):
    """Your features are always those of the paper, elu plus 1, whatever `feature_map` is. It is an argument so that
    each call can use a different function. Call the function that you are given, and use its result."""
    phi_Q, phi_K = (np.where(x > 0, x + 1, np.exp(np.minimum(x, 0))) for x in (Q, K))
    mixed = phi_Q @ (np.swapaxes(phi_K, -1, -2) @ V)
    return mixed / (phi_Q * phi_K.sum(axis=-2, keepdims=True)).sum(axis=-1, keepdims=True)


@wrong
def denominators_of_the_whole_batch(Q, K, V, feature_map):
    """Without batch axes your results are right. With them, every row is divided by the sum over the keys of all
    sequences, so the weights of a query add up to less than 1. Which axes does the sum of the key features run over?"""
    phi_Q, phi_K = feature_map(Q), feature_map(K)
    total = phi_K.reshape(-1, phi_K.shape[-1]).sum(axis=0)
    return phi_Q @ (np.swapaxes(phi_K, -1, -2) @ V) / (phi_Q @ total)[..., None]


@wrong
def sums_run_on_through_the_batch(Q, K, V, feature_map):
    """In your results, the sums over the keys run on through the batch: each sequence also gets the keys and values of
    the sequences before it. Each sequence needs its own sums. Does your code start them again for each sequence?"""
    phi_Q, phi_K = feature_map(Q), feature_map(K)
    S, z = np.swapaxes(phi_K, -1, -2) @ V, phi_K.sum(axis=-2, keepdims=True)
    S, z = (part.reshape(-1, *part.shape[-2:]).cumsum(axis=0).reshape(part.shape) for part in (S, z))
    return phi_Q @ S / (phi_Q * z).sum(axis=-1, keepdims=True)


@wrong
def one_state_for_the_whole_batch(Q, K, V, feature_map):
    """Without batch axes your results are right. With them, every query gets the keys and values of all sequences.
    Each sequence needs its own sums. Do you merge the batch axes into the axis of the keys, or add them up?"""
    phi_Q, phi_K = feature_map(Q), feature_map(K)
    keys, values = (part.reshape(-1, part.shape[-1]) for part in (phi_K, V))
    return phi_Q @ (keys.T @ values) / (phi_Q @ keys.sum(axis=0))[..., None]


@wrong
def each_factor_by_itself(Q, K, V, feature_map):
    """In your results, each query's features are divided by their sum, and each feature of the keys by its sum over the
    keys. The weights then add up to 1, but they are wrong: a feature in which all keys have large values counts no more
    than one in which all have small values. Divide once, by the sum of the dot products."""
    phi_Q, phi_K = feature_map(Q), feature_map(K)
    shares = phi_K / phi_K.sum(axis=-2, keepdims=True)
    return phi_Q / phi_Q.sum(axis=-1, keepdims=True) @ (np.swapaxes(shares, -1, -2) @ V)


@wrong
def features_that_add_up_to_one(Q, K, V, feature_map):
    """In your results, the features of each query and of each key are divided by their own sum. The weights are dot
    products of two rows of features, and they need not add up to 1 then. Leave the features as they are, and divide by
    the sum of the dot products over all the keys."""
    phi_Q, phi_K = (part / part.sum(axis=-1, keepdims=True) for part in (feature_map(Q), feature_map(K)))
    return phi_Q @ (np.swapaxes(phi_K, -1, -2) @ V)


@wrong
def scaled_before_the_features(Q, K, V, feature_map):
    """Your queries are divided by sqrt(d_k) before the features are taken. This exercise has no scaling: only
    feature_map changes the queries and keys."""
    phi_Q, phi_K = feature_map(Q / np.sqrt(Q.shape[-1])), feature_map(K)
    mixed = phi_Q @ (np.swapaxes(phi_K, -1, -2) @ V)
    return mixed / (phi_Q * phi_K.sum(axis=-2, keepdims=True)).sum(axis=-1, keepdims=True)


@wrong
def features_of_the_values(Q, K, V, feature_map):
    """You turn the values into features too. Features are only for making weights. Average the values as they are."""
    phi_Q, phi_K = feature_map(Q), feature_map(K)
    mixed = phi_Q @ (np.swapaxes(phi_K, -1, -2) @ feature_map(V))
    return mixed / (phi_Q * phi_K.sum(axis=-2, keepdims=True)).sum(axis=-1, keepdims=True)


@wrong
def only_what_came_before_the_last_queries(Q, K, V, feature_map):
    """Your queries are the last positions of the sequence, and each sees only the keys up to its own position. Such
    causal linear attention is useful for writing text. In this exercise, every query sees all the keys."""
    last = np.maximum(np.arange(Q.shape[-2]) + K.shape[-2] - Q.shape[-2], 0)
    phi_Q, phi_K = feature_map(Q), feature_map(K)
    state = np.cumsum(phi_K[..., :, :, None] * V[..., :, None, :], axis=-3)[..., last, :, :]
    mixed = (phi_Q[..., :, None, :] @ state)[..., 0, :]
    return mixed / (phi_Q * np.cumsum(phi_K, axis=-2)[..., last, :]).sum(axis=-1, keepdims=True)


@wrong
def only_what_came_before(Q, K, V, feature_map):
    """Your queries see only the keys up to their own position. Such causal linear attention is useful for writing text.
    In this exercise, every query sees all the keys."""
    phi_Q, phi_K = feature_map(Q), feature_map(K)
    state = np.cumsum(phi_K[..., :, :, None] * V[..., :, None, :], axis=-3)
    mixed = (phi_Q[..., :, None, :] @ state)[..., 0, :]
    return mixed / (phi_Q * np.cumsum(phi_K, axis=-2)).sum(axis=-1, keepdims=True)


@wrong
def turned_all_the_axes(Q, K, V, feature_map):
    """Your code works for two axes, but not for a batch. For example, `.T` and `np.transpose` without axes reverse all
    the axes, including the batch axes. Do you count every axis from the right, and swap just the last two?"""
    phi_Q, phi_K = feature_map(Q), feature_map(K)
    mixed = phi_Q @ (phi_K.T @ V)
    return mixed / (phi_Q * phi_K.sum(axis=-2, keepdims=True)).sum(axis=-1, keepdims=True)


@wrong
def exactly_one_batch_axis(Q, K, V, feature_map):
    """Your code only works with exactly one batch axis. For example, `transpose` with a fixed list of three axes fits
    no other number. How can you swap the last two axes, however many come before?"""
    phi_Q, phi_K = feature_map(Q), feature_map(K)
    mixed = phi_Q @ (phi_K.transpose(0, 2, 1) @ V)
    return mixed / (phi_Q * phi_K.sum(axis=-2, keepdims=True)).sum(axis=-1, keepdims=True)


@wrong
def output_and_sums(Q, K, V, feature_map):
    """Your output is right, but you return something else along with it. Linear attention has no table of weights to
    return, so return the output alone."""
    phi_Q, phi_K = feature_map(Q), feature_map(K)
    total = (phi_Q * phi_K.sum(axis=-2, keepdims=True)).sum(axis=-1, keepdims=True)
    return phi_Q @ (np.swapaxes(phi_K, -1, -2) @ V) / total, total


def _blocks(K, V, block_size):
    return [(K[..., i : i + block_size, :], V[..., i : i + block_size, :]) for i in range(0, K.shape[-2], block_size)]


def _scores(Q, K):
    return Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])


@wrong
def features_of_the_sum(Q, K, V, feature_map):
    """Your outputs are divided by the wrong sums, unless there is only one key. Do you call `feature_map` on the sum of
    the keys? Its features are not the sum of the keys' features. Which of the two steps has to come first?"""
    phi_Q, phi_K = feature_map(Q), feature_map(K)
    total = feature_map(K.sum(axis=-2, keepdims=True))
    return phi_Q @ (np.swapaxes(phi_K, -1, -2) @ V) / (phi_Q @ np.swapaxes(total, -1, -2))


wrong = misconceptions_of("chunked_attention")


@wrong
def the_whole_table_at_once(Q, K, V, block_size):
    """Your output is right, but you use at least a large part of the memory that the table of all n_q · n_k scores
    needs. Then block_size saves too little. Does any array or list have a number for each pair of positions, or for
    many of the pairs at once?"""
    return attention(Q, K, V)[0]


@wrong
def never_rescaled(Q, K, V, block_size):
    """Your results are wrong if a later block brings a larger score: your old sums do not shrink then. They were made
    with exp(score - old maximum), so old and new parts have different scales. By which factor must the old sums shrink
    when the maximum grows from 1 to 3? By which factor does your code multiply them?"""
    top, total, mixed = -np.inf, 0.0, 0.0
    for K_block, V_block in _blocks(K, V, block_size):
        scores = _scores(Q, K_block)
        top = np.maximum(top, scores.max(axis=-1, keepdims=True))
        e = np.exp(scores - top)
        total, mixed = total + e.sum(axis=-1, keepdims=True), mixed + e @ V_block
    return mixed / total


@wrong
def each_block_its_own_maximum(Q, K, V, block_size):
    """In your results, each block is shifted by its own maximum, and the blocks' sums are added as if they had the same
    scale. Then the best score of a block with low scores counts as much as the best score of all blocks. Bring sums
    with different maxima to the same maximum before you add them."""
    total, mixed = 0.0, 0.0
    for K_block, V_block in _blocks(K, V, block_size):
        scores = _scores(Q, K_block)
        e = np.exp(scores - scores.max(axis=-1, keepdims=True))
        total, mixed = total + e.sum(axis=-1, keepdims=True), mixed + e @ V_block
    return mixed / total


@wrong
def mean_of_the_blocks(Q, K, V, block_size):
    """Your output is the mean of the attention outputs of all blocks. Then every block counts the same, even if all its
    scores are low. For example, with scores 1 and 0 in one block and 3 in the other, the 3 should get 84% of the
    weight, but gets half."""
    outputs = [attention(Q, K_block, V_block)[0] for K_block, V_block in _blocks(K, V, block_size)]
    return np.mean(outputs, axis=0)


@wrong
def mean_of_the_blocks_by_size(Q, K, V, block_size):
    """Your output is the average of the blocks' attention outputs, weighted by the number of keys. Then a block with
    many keys counts for a lot, even if all its scores are low. For example, with scores 1 and 0 in one block and 3 in
    the other, the 3 should get 84% of the weight, but gets a third."""
    blocks = _blocks(K, V, block_size)
    return sum(attention(Q, *block)[0] * (block[0].shape[-2] / K.shape[-2]) for block in blocks)


@wrong
def last_block_filled_with_zeros(Q, K, V, block_size):
    """Your results are what you get if the last block is filled up with keys of zeros, or with scores of 0. A score of
    0 takes a share of the weight, like any other score. Either set the added scores to -inf, or let the last block be
    smaller."""
    more = [(0, 0)] * (K.ndim - 2) + [(0, -K.shape[-2] % block_size), (0, 0)]
    return attention(Q, np.pad(K, more), np.pad(V, more))[0]


@wrong
def last_of_several_blocks_filled_with_zeros(Q, K, V, block_size):
    """Your results are what you get if the last block is filled up with keys of zeros, or with scores of 0. A score of
    0 takes a share of the weight, like any other score. Either set the added scores to -inf, or let the last block be
    smaller."""
    return last_block_filled_with_zeros(Q, K, V, min(block_size, K.shape[-2]))


@wrong
def sum_of_the_blocks(Q, K, V, block_size):
    """Your output is the sum of the attention outputs of all blocks. The weights add up to 1 in each block, so with ten
    blocks they add up to 10. They should add up to 1 over all the keys."""
    return np.sum([attention(Q, K_block, V_block)[0] for K_block, V_block in _blocks(K, V, block_size)], axis=0)


@wrong
def last_key_for_the_last_block(Q, K, V, block_size):
    """If the last block of keys is smaller than the others, your output uses only the very last key of it and leaves out
    the rest of this block. Where does the last block begin?"""
    whole = K.shape[-2] // block_size * block_size if block_size < K.shape[-2] else K.shape[-2]
    keep = [*range(whole), *[-1] * (whole < K.shape[-2])]
    return attention(Q, K[..., keep, :], V[..., keep, :])[0]


@wrong
def last_block_dropped(Q, K, V, block_size):
    """Your output leaves out the last block of keys if it is smaller than the others. For example, with 3 keys in
    blocks of 2, the third key has no effect. How many blocks are there when the last block is smaller?"""
    whole = max(K.shape[-2] // block_size, 1) * block_size
    return attention(Q, K[..., :whole, :], V[..., :whole, :])[0]


@wrong
def whole_blocks_of_keys_only(Q, K, V, block_size):
    """Your output uses only whole blocks of keys and leaves out the rest. For example, with 3 keys in blocks of 2, the
    third key has no effect. If a block is larger than all the keys, nothing is left to use (0 / 0 is nan). How many
    blocks are there when the last block is smaller?"""
    whole = K.shape[-2] // block_size * block_size
    if not whole:
        return np.full((*Q.shape[:-1], V.shape[-1]), np.nan)
    return attention(Q, K[..., :whole, :], V[..., :whole, :])[0]


@wrong
def whole_blocks_of_queries_only(Q, K, V, block_size):
    """Some rows at the end of your output are zeros: the rows of queries that do not fill a whole block. How many
    blocks are there when the last block is smaller, or when a single block is larger than everything?"""
    output = np.zeros((*Q.shape[:-1], V.shape[-1]))
    whole = Q.shape[-2] // block_size * block_size
    output[..., :whole, :] = attention(Q[..., :whole, :], K, V)[0]
    return output


@wrong
def one_sequence_only(Q, K, V, block_size):
    """Your code is right for single matrices, but not for a batch. For example, `.T` reverses all the axes, and a slice
    such as `Q[start:stop]` cuts the first axis, which is then the batch. Do you count every axis from the right, and
    swap just the last two?"""
    starts = range(0, len(Q), block_size)
    return np.concatenate([softmax(Q[i : i + block_size] @ K.T / np.sqrt(Q.shape[1])) @ V for i in starts])


@wrong
def only_the_last_block(Q, K, V, block_size):
    """Your output comes from the last block alone: the results of the earlier blocks are lost. Keep them, and add the
    new part to them. If you rescale them, is the old maximum still -inf after the first block?"""
    for K_block, V_block in _blocks(K, V, block_size):
        output = attention(Q, K_block, V_block)[0]
    return output


@wrong
def only_the_first_block(Q, K, V, block_size):
    """Your output comes from the first block alone. Does your function return inside its loop, or does each round use
    the same block?"""
    K_block, V_block = _blocks(K, V, block_size)[0]
    return attention(Q, K_block, V_block)[0]


@wrong
def scores_not_scaled(Q, K, V, block_size):
    """Your output is that of scores that are not divided by sqrt(d_k). It should be the output of scaled dot-product
    attention. Do you scale the scores of each block, and use the scaled scores?"""
    return attention(Q * np.sqrt(Q.shape[-1]), K, V)[0]


@wrong
def scaled_by_the_values_width(Q, K, V, block_size):
    """You divide the scores by sqrt(d_v). A score is a sum of d_k products, so divide by sqrt(d_k)."""
    return attention(Q * np.sqrt(Q.shape[-1] / V.shape[-1]), K, V)[0]


@wrong
def scaled_by_the_block(Q, K, V, block_size):
    """You divide the scores by sqrt(block_size). Cutting the keys into blocks should not change the scores. Each score
    is a sum of d_k products, so divide by sqrt(d_k)."""
    return attention(Q * np.sqrt(Q.shape[-1] / block_size), K, V)[0]


@wrong
def no_maximum_at_all(Q, K, V, block_size):
    """Your results are what you get if exp is taken without subtracting a maximum first, or if the maximum is added
    again. But exp(710) is inf already, and inf / inf is nan. And if all the scores are far below 0, every exp is 0. Do
    you take exp of a number above 0?"""
    total, mixed = 0.0, 0.0
    for K_block, V_block in _blocks(K, V, block_size):
        e = np.exp(_scores(Q, K_block))
        total, mixed = total + e.sum(axis=-1, keepdims=True), mixed + e @ V_block
    return mixed / total


@wrong
def maximum_starts_at_zero(Q, K, V, block_size):
    """For some queries, your maximum is larger than all their scores. If all scores of a query are far below it, every
    exp(score - maximum) is 0, and 0 / 0 is nan. Do only scores take part in your maximum, and is its initial value less
    than every score?"""
    top, total, mixed = np.zeros((*Q.shape[:-1], 1)), 0.0, 0.0
    for K_block, V_block in _blocks(K, V, block_size):
        scores = _scores(Q, K_block)
        old, top = top, np.maximum(top, scores.max(axis=-1, keepdims=True))
        e, fade = np.exp(scores - top), np.exp(old - top)
        total, mixed = total * fade + e.sum(axis=-1, keepdims=True), mixed * fade + e @ V_block
    return mixed / total


@wrong
def maximum_starts_at_zero_and_no_zero_below(Q, K, V, block_size):
    """For some queries, your maximum is larger than all their scores. If all scores of a query are far below it, every
    exp(score - maximum) is 0, and so is your output. Do only scores take part in your maximum, and is its initial value
    less than every score?"""
    found = maximum_starts_at_zero(Q, K, V, block_size)
    return np.where(np.isnan(found), 0.0, found)


@wrong
def sum_not_rescaled(Q, K, V, block_size):
    """When the maximum grows, your mixed values shrink, but the sum that you divide by does not. Both were made with
    the old maximum, so both must shrink by the same factor. By which factor does your code multiply the sum, if it does
    so at all?"""
    top, total, mixed = -np.inf, 0.0, 0.0
    for K_block, V_block in _blocks(K, V, block_size):
        scores = _scores(Q, K_block)
        old, top = top, np.maximum(top, scores.max(axis=-1, keepdims=True))
        e, fade = np.exp(scores - top), np.exp(old - top)
        total, mixed = total + e.sum(axis=-1, keepdims=True), mixed * fade + e @ V_block
    return mixed / total


@wrong
def values_not_rescaled(Q, K, V, block_size):
    """When the maximum grows, the sum that you divide by shrinks, but your mixed values do not. Both were made with the
    old maximum, so both must shrink by the same factor. By which factor does your code multiply the mixed values, if it
    does so at all?"""
    top, total, mixed = -np.inf, 0.0, 0.0
    for K_block, V_block in _blocks(K, V, block_size):
        scores = _scores(Q, K_block)
        old, top = top, np.maximum(top, scores.max(axis=-1, keepdims=True))
        e, fade = np.exp(scores - top), np.exp(old - top)
        total, mixed = total * fade + e.sum(axis=-1, keepdims=True), mixed + e @ V_block
    return mixed / total


@wrong
def rescaled_the_wrong_way(Q, K, V, block_size):
    """When the maximum grows, your old sums grow too, but they should shrink. An old exp(s - old) must become exp(s -
    new), and new is the larger maximum. Which of the two differences is negative: old - new or new - old?"""
    top, total, mixed = np.full((*Q.shape[:-1], 1), -np.inf), 0.0, 0.0
    for K_block, V_block in _blocks(K, V, block_size):
        scores = _scores(Q, K_block)
        old, top = top, np.maximum(top, scores.max(axis=-1, keepdims=True))
        e, fade = np.exp(scores - top), np.exp(np.where(np.isinf(old), 0.0, top - old))
        total, mixed = total * fade + e.sum(axis=-1, keepdims=True), mixed * fade + e @ V_block
    return mixed / total


@wrong
def factors_exchanged(Q, K, V, block_size):
    """When a new block arrives, the sums before it and the sums of the block are multiplied by each other's factors. An
    exp(s - own maximum) must become exp(s - new maximum). Which factor does that for each of the two parts?"""
    top, total, mixed = None, 0.0, 0.0
    for K_block, V_block in _blocks(K, V, block_size):
        scores = _scores(Q, K_block)
        own = scores.max(axis=-1, keepdims=True)
        old = own if top is None else top
        top, e = np.maximum(old, own), np.exp(scores - own)
        total = total * np.exp(own - top) + e.sum(axis=-1, keepdims=True) * np.exp(old - top)
        mixed = mixed * np.exp(own - top) + e @ V_block * np.exp(old - top)
    return mixed / total


@wrong
def shift_of_the_first_block(Q, K, V, block_size):
    """Your results are nan if a later score is more than about 700 above the scores of the first block. Then exp
    overflows to inf, and inf / inf is nan. What happens to your shift if a later block brings a larger score?"""
    shift, total, mixed = None, 0.0, 0.0
    for K_block, V_block in _blocks(K, V, block_size):
        scores = _scores(Q, K_block)
        shift = scores.max(axis=-1, keepdims=True) if shift is None else shift
        e = np.exp(scores - shift)
        total, mixed = total + e.sum(axis=-1, keepdims=True), mixed + e @ V_block
    return mixed / total


@wrong
def one_maximum_for_all_queries(Q, K, V, block_size):
    """Your results are what you get with one maximum for all the queries. It keeps exp from overflowing. But a query
    whose scores are far below this maximum gets only zeros, and 0 / 0 is nan. Each query needs its own maximum."""
    top, total, mixed = -np.inf, 0.0, 0.0
    for K_block, V_block in _blocks(K, V, block_size):
        scores = _scores(Q, K_block)
        old, top = top, max(top, scores.max())
        e, fade = np.exp(scores - top), np.exp(old - top)
        total, mixed = total * fade + e.sum(axis=-1, keepdims=True), mixed * fade + e @ V_block
    return mixed / total


@wrong
def shift_of_the_newest_block(Q, K, V, block_size):
    """Your results are nan if the scores of a block are more than about 700 below those of an earlier block. Then the
    factor that rescales the old sums overflows to inf, and inf / inf is nan. The shift should never become smaller: is
    it the maximum of the newest block, or the maximum of all scores so far?"""
    total = output = shift = None
    for keys, values in _blocks(K, V, block_size):
        scores = _scores(Q, keys)
        top = scores.max(axis=-1, keepdims=True)
        e = np.exp(scores - top)
        factor = 0.0 if shift is None else np.exp(shift - top)
        total = e.sum(axis=-1, keepdims=True) + (0.0 if total is None else total * factor)
        output = e @ values + (0.0 if output is None else output * factor)
        shift = top
    return output / total


@wrong
def divided_after_every_block(Q, K, V, block_size):
    """In your results, the mixed values are divided by the sum after every block. Earlier results are then divided
    again in the next round, so early blocks count too little. Divide once, after the last block (or undo the division
    before you add)."""
    top, total, mixed = -np.inf, 0.0, 0.0
    for K_block, V_block in _blocks(K, V, block_size):
        scores = _scores(Q, K_block)
        old, top = top, np.maximum(top, scores.max(axis=-1, keepdims=True))
        e, fade = np.exp(scores - top), np.exp(old - top)
        total = total * fade + e.sum(axis=-1, keepdims=True)
        mixed = (mixed * fade + e @ V_block) / total
    return mixed


@wrong
def never_divided(Q, K, V, block_size):
    """Your output is not divided by the sum of the exps, so your weights do not add up to 1. If all the values are 1,
    the output should be 1, however many blocks there are. Do you divide the output before you return it?"""
    top, mixed = -np.inf, 0.0
    for K_block, V_block in _blocks(K, V, block_size):
        scores = _scores(Q, K_block)
        old, top = top, np.maximum(top, scores.max(axis=-1, keepdims=True))
        mixed = mixed * np.exp(old - top) + np.exp(scores - top) @ V_block
    return mixed


@wrong
def each_block_of_queries_its_own_keys(Q, K, V, block_size):
    """In your results, each block of queries sees only its own block of keys. That is local attention. Here every query
    should see every key, and only the work is cut into pieces."""
    pieces = [
        attention(Q[..., i : i + block_size, :], *block)[0]
        for i, block in zip(range(0, Q.shape[-2], block_size), _blocks(K, V, block_size), strict=True)
    ]
    return np.concatenate(pieces, axis=-2)


@wrong
def number_of_blocks_for_their_size(Q, K, V, block_size):
    """You cut the keys into block_size blocks, instead of blocks with block_size keys each. For example, the second
    argument of `np.array_split` is the number of blocks. With a large block_size, some of your blocks are empty, and an
    empty block has no maximum. With block_size = 1, you make the whole table."""
    top, total, mixed = np.full((*Q.shape[:-1], 1), -np.inf), 0.0, 0.0
    for block in np.array_split(np.arange(K.shape[-2]), block_size):
        scores = _scores(Q, K[..., block, :])
        higher = np.maximum(top, scores.max(axis=-1, keepdims=True))
        e, shrink = np.exp(scores - higher), np.exp(top - higher)
        total, mixed = total * shrink + e.sum(axis=-1, keepdims=True), mixed * shrink + e @ V[..., block, :]
        top = higher
    return mixed / total


@wrong
def output_and_something_else(Q, K, V, block_size):
    """Your output is right, but you return something else along with it. There is no table of weights here, and you
    must not make one, so return the output alone."""
    e_sum = np.ones((*Q.shape[:-1], 1))
    pieces = [attention(Q[..., i : i + 1, :], K, V)[0] for i in range(Q.shape[-2])]
    return np.concatenate(pieces, axis=-2), e_sum


wrong = misconceptions_of("decode_step")


@wrong
def asked_before_it_was_kept(q, k, v, cache_K, cache_V):
    """Your query looks only at the positions before it. A position also sees itself: it is the last of the t + 1
    positions it attends to. At the very first step, there is nothing else to look at. Do all t + 1 keys and values take
    part in the scores and in the mix?"""
    weights = softmax(cache_K @ q / np.sqrt(len(q)))
    return weights @ cache_V, np.vstack([cache_K, k]), np.vstack([cache_V, v])


@wrong
def put_before_the_last_row(q, k, v, cache_K, cache_V):
    """Your new key and value come before the last rows of the caches, but they belong at the end. `np.insert` at -1 puts a
    row before the last one, and fails if there are no rows. Which function puts one array after another?"""
    K, V = np.insert(cache_K, -1, k, axis=0), np.insert(cache_V, -1, v, axis=0)
    weights = softmax(K @ q / np.sqrt(len(q)))
    return weights @ V, K, V


@wrong
def last_entry_overwritten(q, k, v, cache_K, cache_V):
    """You put the new key and value in the place of the last key and value. So the caches do not grow, and one position
    is lost. After the step, they should have one row more than before."""
    K, V = cache_K.copy(), cache_V.copy()
    K[-1], V[-1] = k, v
    weights = softmax(K @ q / np.sqrt(len(q)))
    return weights @ V, K, V


@wrong
def looks_back_only_and_begins_with_v(q, k, v, cache_K, cache_V):
    """Your query looks only at the positions before it. A position also sees itself: it is the last of the t + 1
    positions it attends to. In your results, a position sees itself only at the very first step, when the caches are
    empty."""
    if len(cache_K):
        return asked_before_it_was_kept(q, k, v, cache_K, cache_V)
    return v, np.vstack([cache_K, k]), np.vstack([cache_V, v])


@wrong
def last_entry_overwritten_in_place(q, k, v, cache_K, cache_V):
    """You overwrite the last key and value, in the very caches that you were given. The caches should grow by one row
    at each step and lose nothing. The arrays that you were given should not change."""
    cache_K[-1], cache_V[-1] = k, v
    weights = softmax(cache_K @ q / np.sqrt(len(q)))
    return weights @ cache_V, cache_K, cache_V


@wrong
def rolled_in_place(q, k, v, cache_K, cache_V):
    """You push the oldest entry out and write the new one into the caches that you were given. The caches should grow
    by one row at each step and lose nothing. The arrays that you were given should not change."""
    cache_K[:-1], cache_V[:-1] = cache_K[1:].copy(), cache_V[1:].copy()
    cache_K[-1:], cache_V[-1:] = k, v
    weights = softmax(cache_K @ q / np.sqrt(len(q)))
    return weights @ cache_V, cache_K, cache_V


@wrong
def no_scaling_in_the_step(q, k, v, cache_K, cache_V):
    """The scores in your softmax are not divided by sqrt(d_k). A step with a cache should give exactly the last row of
    scaled dot-product attention. Does your code divide by sqrt(d_k), and pass the result on to the softmax?"""
    K, V = np.vstack([cache_K, k]), np.vstack([cache_V, v])
    return softmax(K @ q) @ V, K, V


@wrong
def only_the_newest_key_scaled(q, k, v, cache_K, cache_V):
    """The key that you add to the cache is divided by sqrt(d_k), but the keys that you were given are not. Keep every key
    as it is, and divide the scores of all keys instead."""
    K, V = np.vstack([cache_K, k / np.sqrt(len(q))]), np.vstack([cache_V, v])
    return softmax(K @ q) @ V, K, V


@wrong
def newest_key_kept_scaled(q, k, v, cache_K, cache_V):
    """The output of one step is right, but the new key in the returned cache is divided by sqrt(d_k). At the next step
    it is divided once more. Keep every key as it is, and divide the scores."""
    K, V = np.vstack([cache_K, k]), np.vstack([cache_V, v])
    return softmax(K @ q / np.sqrt(len(q))) @ V, np.vstack([cache_K, k / np.sqrt(len(q))]), V


@wrong
def divided_by_the_number_of_positions(q, k, v, cache_K, cache_V):
    """You divide the scores by the number of keys, which grows from step to step. A score is a sum of d_k products, so
    divide by sqrt(d_k), with d_k the number of entries of the query."""
    K, V = np.vstack([cache_K, k]), np.vstack([cache_V, v])
    return softmax(K @ q / len(K)) @ V, K, V


@wrong
def scaled_by_the_number_of_positions(q, k, v, cache_K, cache_V):
    """You divide the scores by the root of the number of keys, which grows from step to step. A score is a sum of d_k
    products, so divide by sqrt(d_k), with d_k the number of entries of the query."""
    K, V = np.vstack([cache_K, k]), np.vstack([cache_V, v])
    return softmax(K @ q / np.sqrt(len(K))) @ V, K, V


@wrong
def scaled_by_the_value(q, k, v, cache_K, cache_V):
    """You divide the scores by sqrt(d_v). A score is a sum of d_k products, so divide by sqrt(d_k), with d_k the number
    of entries of the query, not of the value."""
    K, V = np.vstack([cache_K, k]), np.vstack([cache_V, v])
    return softmax(K @ q / np.sqrt(len(v))) @ V, K, V


@wrong
def newest_put_second(q, k, v, cache_K, cache_V):
    """Your output is right, but the newest entry becomes the second row of your caches. They should keep the order of
    the text, with the newest key and value in the last row."""
    K, V = np.insert(cache_K, min(1, len(cache_K)), k, axis=0), np.insert(cache_V, min(1, len(cache_V)), v, axis=0)
    return softmax(K @ q / np.sqrt(len(q))) @ V, K, V


@wrong
def newest_put_first(q, k, v, cache_K, cache_V):
    """Your output is right, but the newest entry comes first in your caches. They should keep the order of the text,
    with the newest key and value in the last row."""
    K, V = np.vstack([k, cache_K]), np.vstack([v, cache_V])
    return softmax(K @ q / np.sqrt(len(q))) @ V, K, V


@wrong
def caches_reshaped_and_turned(q, k, v, cache_K, cache_V):
    """The numbers of your new caches are in the wrong places, as after a reshape to (d_k, t + 1) and a transpose. The flat
    array has the d_k numbers of one key after those of another. Which shape puts each key into a row of its own?"""
    K, V = (np.append(cache, new).reshape(len(new), -1).T for cache, new in ((cache_K, k), (cache_V, v)))
    return softmax(K @ q / np.sqrt(len(q))) @ V, K, V


@wrong
def query_kept_instead_of_key(q, k, v, cache_K, cache_V):
    """You put the query into the cache of keys. A query is only needed once, at its own step. Later queries are
    compared with the key, which is why it is called a KV cache."""
    K, V = np.vstack([cache_K, q]), np.vstack([cache_V, v])
    return softmax(K @ q / np.sqrt(len(q))) @ V, K, V


@wrong
def old_caches_handed_back(q, k, v, cache_K, cache_V):
    """Your output is right, but you return the given caches unchanged. So the next step cannot use the key and value of
    this step. Return the longer arrays."""
    K, V = np.vstack([cache_K, k]), np.vstack([cache_V, v])
    return softmax(K @ q / np.sqrt(len(q))) @ V, cache_K, cache_V


@wrong
def only_itself(q, k, v, cache_K, cache_V):
    """Your output is the newest value alone: the newest position looks at itself and at nothing before it. Do the rows
    of the caches take part in the scores and in the mix?"""
    return v, np.vstack([cache_K, k]), np.vstack([cache_V, v])


@wrong
def a_matrix_of_one_row(q, k, v, cache_K, cache_V):
    """Your output is a matrix with one row. One query of shape (d_k,) comes in, so one vector of shape (d_v,) should
    come out."""
    K, V = np.vstack([cache_K, k]), np.vstack([cache_V, v])
    return attention(q[None], K, V)[0], K, V


@wrong
def the_output_alone(q, k, v, cache_K, cache_V):
    """You return the output alone. The next step needs the longer caches, so return all three, with the output
    first."""
    K, V = np.vstack([cache_K, k]), np.vstack([cache_V, v])
    return softmax(K @ q / np.sqrt(len(q))) @ V


@wrong
def caches_exchanged(q, k, v, cache_K, cache_V):
    """Your output and both caches are right, but you return the caches in the wrong order. The keys come first, then
    the values."""
    K, V = np.vstack([cache_K, k]), np.vstack([cache_V, v])
    return softmax(K @ q / np.sqrt(len(q))) @ V, V, K


@wrong
def weights_instead_of_the_output(q, k, v, cache_K, cache_V):
    """You return the weights, one for each position, instead of the output. The output is one vector of shape (d_v,):
    the values, mixed by these weights."""
    K, V = np.vstack([cache_K, k]), np.vstack([cache_V, v])
    return softmax(K @ q / np.sqrt(len(q))), K, V


@wrong
def subtracts_the_mean(q, k, v, cache_K, cache_V):
    """Your results match scores shifted so that their mean is 0. But a score can still be far above the mean: for
    example, [0, 0, 3000] becomes [-1000, -1000, 2000], and exp(2000) is inf. Subtract the largest score, so that no
    exponent is positive. The given `softmax` does this."""
    K, V = np.vstack([cache_K, k]), np.vstack([cache_V, v])
    scores = K @ q / np.sqrt(len(q))
    e = np.exp(scores - scores.mean())
    return e / e.sum() @ V, K, V


@wrong
def exp_with_no_shift(q, k, v, cache_K, cache_V):
    """Your results are what you get if exp is taken without subtracting a maximum first, or if the maximum is added
    again. The exp of a score above about 709 is inf, a sum of several exps just below it is inf too, and inf / inf is
    nan. Subtract the largest score before exp. This changes no weight. The given `softmax` does this."""
    K, V = np.vstack([cache_K, k]), np.vstack([cache_V, v])
    e = np.exp(K @ q / np.sqrt(len(q)))
    return e / e.sum() @ V, K, V


@wrong
def caches_first(q, k, v, cache_K, cache_V):
    """You return the caches first and the output last. Return the output first: (output, new_cache_K, new_cache_V)."""
    K, V = np.vstack([cache_K, k]), np.vstack([cache_V, v])
    return K, V, softmax(K @ q / np.sqrt(len(q))) @ V


@wrong
def the_best_match_only(q, k, v, cache_K, cache_V):
    """You return the value of the best key. That is the hard lookup of chapter 1. Attention averages all the values,
    weighted by the softmax of the scores."""
    K, V = np.vstack([cache_K, k]), np.vstack([cache_V, v])
    return V[np.argmax(K @ q)], K, V


@wrong
def zeros_at_the_first_step(q, k, v, cache_K, cache_V):
    """You return zeros if the caches are empty. But the very first step still has the newest position itself: it gets
    all the weight, so the output is its value."""
    K, V = np.vstack([cache_K, k]), np.vstack([cache_V, v])
    if not len(cache_K):
        return np.zeros_like(v), K, V
    return softmax(K @ q / np.sqrt(len(q))) @ V, K, V


@wrong
def weights_of_the_newest_forgotten(q, k, v, cache_K, cache_V):
    """Your caches are right, but your output is the average over the older positions plus the newest value with weight
    1. The newest key has a score too: put all t + 1 scores into one softmax."""
    K, V = np.vstack([cache_K, k]), np.vstack([cache_V, v])
    if not len(cache_K):
        return v, K, V
    return softmax(cache_K @ q / np.sqrt(len(q))) @ cache_V + v, K, V


@wrong
def newest_value_never_added(q, k, v, cache_K, cache_V):
    """Your weights are right, and they include the newest key. But the newest value is missing from your output, so the
    weights of the values that you add up are less than 1 in total. At the first step, your output is 0."""
    K, V = np.vstack([cache_K, k]), np.vstack([cache_V, v])
    return softmax(K @ q / np.sqrt(len(q)))[:-1] @ cache_V, K, V


@wrong
def the_newest_is_hidden(q, k, v, cache_K, cache_V):
    """Your query looks only at the positions before it, and at the first step your output is all zeros. A position also
    sees itself: it is the last of the t + 1 positions it attends to. A causal mask hides later positions only."""
    K, V = np.vstack([cache_K, k]), np.vstack([cache_V, v])
    return masked_softmax(K @ q / np.sqrt(len(q)), np.arange(len(K)) < len(cache_K)) @ V, K, V


@wrong
def sums_without_a_shift(q, k, v, cache_K, cache_V):
    """Your results are what you get if exp is taken without subtracting a maximum first, or if the maximum is added
    again. The exp of a score above about 709 is inf, a sum of several exps just below it is inf too, and inf / inf is
    nan. Subtract the largest score before exp. This changes no weight. The given `softmax` does this."""
    K, V = np.vstack([cache_K, k]), np.vstack([cache_V, v])
    e = np.exp(K @ q / np.sqrt(len(q)))
    return e @ V / e.sum(), K, V


@wrong
def error_for_large_scores(q, k, v, cache_K, cache_V):
    """For a score of 710 or more, exp is too large for a float, and your step stops with an OverflowError. Take exp only
    of differences to the largest score, which changes no weight. The given `softmax` does this."""
    K, V = np.vstack([cache_K, k]), np.vstack([cache_V, v])
    e = np.array([math.exp(score) for score in K @ q / np.sqrt(len(q))])
    return e / e.sum() @ V, K, V

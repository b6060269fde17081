"""Wrong solutions of chapter 2, one mistake each, with what a student who made it should hear."""

import numpy as np

from autograder.misconception import misconceptions_of
from solutions.ch1_weighted_averaging import softmax
from solutions.ch2_query_key_value import attention_scores

wrong = misconceptions_of("project_qkv")


@wrong
def keys_and_values_from_the_asking_side(X_q, X_kv, W_Q, W_K, W_V):
    """Your keys and values come from X_q, so the sequence that asks is asked itself, and X_kv has no part in the
    answer. A reader with a question looks it up in the library's books, not in the question. Which input has n_k
    rows?"""
    return X_q @ W_Q, X_q @ W_K, X_q @ W_V


@wrong
def queries_from_the_asked_side(X_q, X_kv, W_Q, W_K, W_V):
    """Your queries come from X_kv, so X_q has no part in the answer. There should be one query for each of the n_q
    positions that ask; with X_kv you get one for each position that is asked."""
    return X_kv @ W_Q, X_kv @ W_K, X_kv @ W_V


@wrong
def the_two_sides_exchanged(X_q, X_kv, W_Q, W_K, W_V):
    """The two sequences have changed places: your queries come from X_kv, your keys and values from X_q.
    Self-attention does not show it, since both are one sequence there. The names say who belongs where: `q` for
    queries, `kv` for keys and values."""
    return X_kv @ W_Q, X_q @ W_K, X_q @ W_V


@wrong
def values_from_the_asking_side(X_q, X_kv, W_Q, W_K, W_V):
    """Your values come from X_q, your keys from X_kv. Keys and values belong together in pairs, one for each
    position that is asked: a key is what a position is found by, its value what it then hands over. Both have n_k
    rows."""
    return X_q @ W_Q, X_kv @ W_K, X_q @ W_V


@wrong
def keys_from_the_asking_side(X_q, X_kv, W_Q, W_K, W_V):
    """Your keys come from X_q, your values from X_kv. Keys and values belong together in pairs, one for each
    position that is asked: a key is what a position is found by, its value what it then hands over. Both have n_k
    rows."""
    return X_q @ W_Q, X_q @ W_K, X_kv @ W_V


@wrong
def one_matrix_for_all(X_q, X_kv, W_Q, W_K, W_V):
    """You used W_Q three times, so W_K and W_V have no part in your answer. Then a position is found by what it
    looks for and hands over just that: looking, being found and handing over cannot be learned apart. Each of the
    three has its own matrix."""
    return X_q @ W_Q, X_kv @ W_Q, X_kv @ W_Q


@wrong
def keys_made_with_the_query_matrix(X_q, X_kv, W_Q, W_K, W_V):
    """Your keys are made with W_Q, so W_K has no part in your answer. What a word looks for and what it is found by
    are different things: a verb looks for nouns, and is not one. Find the letter that was copied along."""
    return X_q @ W_Q, X_kv @ W_Q, X_kv @ W_V


@wrong
def values_made_with_the_key_matrix(X_q, X_kv, W_Q, W_K, W_V):
    """Your values are made with W_K, so they are the keys over again and W_V has no part in your answer. A value may
    even have another width, d_v instead of d_k. Find the letter that was copied along."""
    return X_q @ W_Q, X_kv @ W_K, X_kv @ W_K


@wrong
def values_not_projected(X_q, X_kv, W_Q, W_K, W_V):
    """You hand X_kv back as it is where the values should be: d_model wide, and W_V has no part in it. What a
    position hands over is made from it with a matrix, as the keys are."""
    return X_q @ W_Q, X_kv @ W_K, X_kv


@wrong
def values_made_from_the_keys(X_q, X_kv, W_Q, W_K, W_V):
    """Your values are made from the keys, with W_K and then W_V, and that runs without an error only when d_k is
    d_model. Three projections stand side by side: each of them starts from the sequence itself."""
    K = X_kv @ W_K
    return X_q @ W_Q, K, K @ W_V


@wrong
def matrices_transposed(X_q, X_kv, W_Q, W_K, W_V):
    """You transposed the matrices, which runs without an error only when they are square. The docstring gives W_Q as
    (d_model, d_k): with the positions' d_model entries in the rows of X, the sizes in the middle agree as they are."""
    return X_q @ W_Q.T, X_kv @ W_K.T, X_kv @ W_V.T


@wrong
def matrices_on_the_left(X_q, X_kv, W_Q, W_K, W_V):
    """You put the matrices on the left, so they mix the positions with each other instead of the entries inside each
    position. That runs without an error only when the sizes happen to agree. Which side must X stand on for its last
    axis, d_model, to be the one that is summed over?"""
    return W_Q @ X_q, W_K @ X_kv, W_V @ X_kv


@wrong
def another_order(X_q, X_kv, W_Q, W_K, W_V):
    """All three arrays are right, but you hand them back as keys, queries, values. Whoever calls you unpacks `Q, K,
    V`: that order is asked for."""
    return X_kv @ W_K, X_q @ W_Q, X_kv @ W_V


@wrong
def values_before_keys(X_q, X_kv, W_Q, W_K, W_V):
    """Your second array is what the third should be, and the other way round: either W_K and W_V have changed places,
    or the arrays did in your `return`. Keys come second and are made with W_K, values third and with W_V: compare the
    widths, d_k and d_v."""
    return X_q @ W_Q, X_kv @ W_V, X_kv @ W_K


@wrong
def only_queries_and_keys(X_q, X_kv, W_Q, W_K, W_V):
    """You hand back queries and keys; the values are missing. Queries and keys decide how much of each position is
    taken, and the values are what is taken: three arrays are asked for."""
    return X_q @ W_Q, X_kv @ W_K


@wrong
def only_the_first_of_the_batch(X_q, X_kv, W_Q, W_K, W_V):
    """You project the first sequence of a batch and lose the others, together with the batch axis. `...` in the
    docstring stands for any number of axes in front, and all of them are in the answer too. `@` takes care of them
    by itself when a matrix stands on the right."""
    while X_q.ndim > 2:
        X_q, X_kv = X_q[0], X_kv[0]
    return X_q @ W_Q, X_kv @ W_K, X_kv @ W_V


wrong = misconceptions_of("attention_scores")


@wrong
def transposes_every_axis(Q, K):
    """Your answer is right for plain matrices. With batch axes, `.T` turns all the axes round, so (B, n_k, d_k)
    becomes (d_k, n_k, B) and the batch is no longer in front. Only the last two axes should change places: which
    function exchanges two axes that you name?"""
    return Q @ K.T


@wrong
def transpose_for_three_axes_only(Q, K):
    """Your list of axes fits arrays of three axes and no others: a single pair of matrices has two, a batch of
    batches four. Counted from the end, the axes to exchange are always -1 and -2."""
    return Q @ K.transpose(0, 2, 1)


@wrong
def exchanges_the_first_two_axes(Q, K):
    """You exchange the first two axes. With plain matrices these are the last two as well, so it works there; in
    front of a batch it moves the batch axis into the middle. Counted from the end, the axes to exchange are always
    -1 and -2."""
    return Q @ K.swapaxes(0, 1)


@wrong
def keys_down_the_side(Q, K):
    """Your rows belong to the keys and your columns to the queries. The table is asked for the other way round,
    (n_q, n_k): each row is one query's view of all the keys, ready for a softmax along the row."""
    return K @ np.swapaxes(Q, -1, -2)


@wrong
def queries_with_queries(Q, K):
    """You scored the queries against the queries, so K has no part in your answer. Look for a place where one of the
    two names should be the other."""
    return Q @ np.swapaxes(Q, -1, -2)


@wrong
def keys_with_keys(Q, K):
    """You scored the keys against the keys, so Q has no part in your answer. Look for a place where one of the two
    names should be the other."""
    return K @ np.swapaxes(K, -1, -2)


@wrong
def weights_already(Q, K):
    """Your rows add up to 1: you have gone one step too far and made weights of the scores. Scores are the plain dot
    products, of any size and sign; the softmax comes in the next exercise, and there it would come twice."""
    return softmax(Q @ np.swapaxes(K, -1, -2))


@wrong
def weights_already_and_without_a_shift(Q, K):
    """Your rows add up to 1: you have gone one step too far and made weights of the scores. Scores are the plain dot
    products, of any size and sign; the softmax comes in the next exercise, and there it would come twice."""
    weights = np.exp(Q @ np.swapaxes(K, -1, -2))
    return weights / weights.sum(axis=-1, keepdims=True)


@wrong
def scaled_already(Q, K):
    """Your scores are the right ones divided by the square root of d_k. You may know that from the famous formula;
    what it is good for is chapter 3's subject. Here the plain dot products are asked for: [1, 2] with [1, 2] is 5."""
    return Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])


@wrong
def mean_of_the_products(Q, K):
    """Your scores are the right ones divided by d_k: a mean of the products where a dot product is their sum. [1, 2]
    with [1, 2] is 1 + 4 = 5, not 2.5."""
    return Q @ np.swapaxes(K, -1, -2) / K.shape[-1]


@wrong
def never_transposes(Q, K):
    """You multiplied Q with K as they are. That takes rows of Q with columns of K and runs without an error only
    when there are as many keys as entries in a key. Both arrays have d_k, the axis to sum over, at the end: one of
    them has to be turned first."""
    return Q @ K


@wrong
def sums_over_the_positions(Q, K):
    """You turned the queries round instead of the keys, and that sums over the positions: the answer is d_k by d_k
    and needs as many queries as keys. It says how features go together; scores say how positions do."""
    return np.swapaxes(Q, -1, -2) @ K


@wrong
def cosine_scores(Q, K):
    """You divided by the norms of query and key, so none of your scores is above 1. That is the cosine of the angle
    between them. In a dot product norms count as well: a key of large norm can win over one that points the same way
    as the query."""
    norms = np.linalg.norm(Q, axis=-1)[..., :, None] * np.linalg.norm(K, axis=-1)[..., None, :]
    return Q @ np.swapaxes(K, -1, -2) / (norms + 1e-12)


@wrong
def only_the_partner(Q, K):
    """You scored query i against key i and nothing else: one number for each query. Every query meets every key, so
    that, for example, 2 queries and 3 keys make 2 * 3 = 6 scores."""
    return (Q * K).sum(axis=-1)


@wrong
def every_batch_entry_with_every_other(Q, K):
    """Your answer has an axis too many when there is a batch: the queries of each batch entry met the keys of all
    the others too. `np.dot`, `np.inner` and `np.tensordot` pair everything with everything; `@` goes through the
    batch axes side by side, entry by entry."""
    return np.dot(Q, np.swapaxes(K, -1, -2))


@wrong
def dot_with_every_axis_turned(Q, K):
    """`.T` turns round all the axes of K, batch axes too, and `np.dot` pairs every batch entry with every other one: both are
    right for plain matrices and for nothing else. Which function exchanges just the last two axes, and which sign goes
    through the batch axes side by side?"""
    return np.dot(Q, K.T)


@wrong
def letters_for_exactly_one_batch_axis(Q, K):
    """Your einsum names three axes for Q and for K: it runs with exactly one batch axis, and not for a single pair of matrices
    or for a batch of batches. `...` stands for any number of axes in front."""
    return np.einsum("bqd,bkd->bqk", Q, K)


@wrong
def letters_for_matrices_only(Q, K):
    """Your einsum names two axes for Q and for K: it runs for a single pair of matrices, and not for a batch. `...` stands for
    any number of axes in front."""
    return np.einsum("qd,kd->qk", Q, K)


@wrong
def adds_up_the_batch(Q, K):
    """With a batch, you add the scores of all its entries up into one table. The entries have nothing to do with
    each other: they are sequences that happen to be worked on together, and each keeps its own table. In an einsum,
    a letter that is missing after `->` is summed over."""
    scores = Q @ np.swapaxes(K, -1, -2)
    return scores.sum(axis=tuple(range(scores.ndim - 2)))


@wrong
def first_of_the_batch(Q, K):
    """You hand back the table of the first batch entry and lose the others. `...` in the docstring stands for any
    number of axes in front, and all of them are in the answer too."""
    while Q.ndim > 2:
        Q, K = Q[0], K[0]
    return Q @ K.T


@wrong
def distances_as_scores(Q, K):
    """You took distances between queries and keys (or their squares, with a minus sign): the best score is 0, for
    two that are equal. A dot product is another measure: [1, 2] with itself scores 5, and with [2, 4] even 10."""
    return -((Q[..., :, None, :] - K[..., None, :, :]) ** 2).sum(axis=-1)


wrong = misconceptions_of("dot_product_attention")


@wrong
def softmax_over_the_queries(Q, K, V):
    """Your weights add up to 1 down each column, over the queries. Then the keys share themselves out, and a query may
    end up with more than 1 in all, or with less, so its output is no average. Each query divides its attention among
    the keys: along which axis do they lie?"""
    weights = softmax(attention_scores(Q, K), axis=-2)
    return weights @ V, weights


@wrong
def subtracts_the_mean(Q, K, V):
    """Your results are those of scores shifted so that the mean of each row is 0. A score may still lie far above the
    mean: for example, [0, 0, 3000] becomes [-1000, -1000, 2000], and exp(2000) is inf. What has to end up at 0, so
    that no exponent is positive?"""
    scores = attention_scores(Q, K)
    e = np.exp(scores - scores.mean(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ V, weights


@wrong
def softmax_along_axis_one(Q, K, V):
    """Your softmax runs along axis 1. In a plain table of scores that is the axis of the keys; with a batch axis in
    front it is the one of the queries. Counted from the end, the keys are always at -1."""
    weights = softmax(attention_scores(Q, K), axis=1)
    return weights @ V, weights


@wrong
def softmax_along_axis_zero(Q, K, V):
    """Your softmax runs along axis 0: over the queries, or over the batch when there is one. The weights of a query
    have to add up to 1 over the keys: counted from the end, which axis is theirs?"""
    weights = softmax(attention_scores(Q, K), axis=0)
    return weights @ V, weights


@wrong
def softmax_over_the_whole_table(Q, K, V):
    """The weights of all your queries together add up to 1, so that with two equal queries, for example, each has only
    0.5 to give. Every row of the table is a set of weights of its own."""
    scores = attention_scores(Q, K)
    e = np.exp(scores - scores.max(axis=(-1, -2), keepdims=True))
    weights = e / e.sum(axis=(-1, -2), keepdims=True)
    return weights @ V, weights


@wrong
def pair_exchanged(Q, K, V):
    """Both arrays are right, but the weights come first in your pair. Whoever calls you unpacks `output, weights`:
    that order is asked for."""
    weights = softmax(attention_scores(Q, K))
    return weights, weights @ V


@wrong
def only_the_output(Q, K, V):
    """You hand back the output alone, and it is right. The pair (output, weights) is asked for: without the weights
    nobody could draw where a query looked."""
    return softmax(attention_scores(Q, K)) @ V


@wrong
def scores_in_place_of_weights(Q, K, V):
    """Your output is right, but the second thing you hand back are the scores, from before the softmax. The weights
    are asked for: a row of them adds up to 1."""
    scores = attention_scores(Q, K)
    return softmax(scores) @ V, scores


@wrong
def no_softmax_at_all(Q, K, V):
    """You mixed the values with the raw scores. Scores may be negative and add up to anything, so the mix is no
    average: with scores 5 and 8, two values of 1 would make 5 + 8 = 13. What turns scores into shares of a whole?"""
    scores = attention_scores(Q, K)
    return scores @ V, scores


@wrong
def weights_transposed(Q, K, V):
    """Your output takes the weights' columns where it should take their rows, which runs without an error only when
    there are as many queries as keys. Row i of the weights belongs to query i and makes row i of the output. The
    weights that you hand back are right."""
    weights = softmax(attention_scores(Q, K))
    return np.swapaxes(weights, -1, -2) @ V, weights


@wrong
def scaled_scores(Q, K, V):
    """Your scores were divided by the square root of d_k before the softmax. That is the famous formula, and chapter
    3 will show why it needs the root. Here the scores are taken as they are."""
    weights = softmax(attention_scores(Q, K) / np.sqrt(K.shape[-1]))
    return weights @ V, weights


@wrong
def mixes_the_keys(Q, K, V):
    """The weights are right, but you mixed the keys with them, and V has no part in your answer. Keys say how much
    to take; what is taken are the values."""
    weights = softmax(attention_scores(Q, K))
    return weights @ K, weights


@wrong
def queries_against_themselves(Q, K, V):
    """Your scores come from the queries alone, so K has no part in your answer. In self-attention too, Q and K are
    different arrays, made with different matrices."""
    weights = softmax(attention_scores(Q, Q))
    return weights @ V, weights


@wrong
def keys_against_queries(Q, K, V):
    """Your table of weights stands on its side: a row for each key. Then each key divides itself among the queries,
    and the output has as many rows as there are keys. A row for each query is asked for."""
    weights = softmax(attention_scores(K, Q))
    return weights @ V, weights


@wrong
def no_max_shift(Q, K, V):
    """Your formula is right on paper, but exp of a score above 709 is too large for a float64 and becomes inf, and
    inf/inf is nan. Unscaled scores of long vectors get there easily. Chapter 1 showed what to take away from all the
    scores of a row first: the softmax from there is at the top of the notebook."""
    e = np.exp(attention_scores(Q, K))
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ V, weights


@wrong
def one_maximum_for_all_queries(Q, K, V):
    """You took one maximum for all the queries. It keeps the largest scores safe, but a query whose scores all lie
    far below it ends as 0/0. Each row of scores needs its own maximum."""
    scores = attention_scores(Q, K)
    e = np.exp(scores - scores.max())
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ V, weights


@wrong
def all_to_the_best_key(Q, K, V):
    """Each of your queries takes the value of its best key and leaves the others out. That is the hard lookup of
    chapter 1; attention mixes: scores of 1.0 and 1.1, for example, are nearly equal, and so are the weights."""
    scores = attention_scores(Q, K)
    best = scores == scores.max(axis=-1, keepdims=True)
    weights = best / best.sum(axis=-1, keepdims=True)
    return weights @ V, weights


@wrong
def softmax_twice(Q, K, V):
    """Your weights went through a softmax twice. The second one gets numbers between 0 and 1 and flattens them: scores
    0 and 10, for example, come out as 0.27 and 0.73 instead of 0.00005 and 0.99995."""
    weights = softmax(softmax(attention_scores(Q, K)))
    return weights @ V, weights


@wrong
def exps_not_normalised(Q, K, V):
    """Your weights have the right proportions but do not add up to 1: the division by their sum is missing, and so
    the output is too large."""
    scores = attention_scores(Q, K)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights @ V, weights


@wrong
def shares_of_the_scores(Q, K, V):
    """Your weights are the scores divided by their sum, with no exp. A negative score then gives a negative weight,
    and scores of 1 and -1 have the sum 0. Chapter 1 has the function that turns any scores into weights."""
    scores = attention_scores(Q, K)
    weights = scores / scores.sum(axis=-1, keepdims=True)
    return weights @ V, weights


@wrong
def batch_turned_round(Q, K, V):
    """Your answer is right for plain matrices. With batch axes, `.T` turns all of the axes round, and the batch is no
    longer in front. Only the last two should change places, as `attention_scores` asks for: which function exchanges
    two axes that you name?"""
    weights = softmax(Q @ K.T)
    return weights @ V, weights


@wrong
def scores_by_dot_with_every_axis_turned(Q, K, V):
    """`.T` turns round all the axes of K, batch axes too, and `np.dot` pairs every batch entry with every other one: both are
    right for plain matrices and for nothing else. Which function exchanges just the last two axes, and which sign goes
    through the batch axes side by side?"""
    weights = softmax(np.dot(Q, K.T))
    return weights @ V, weights


@wrong
def both_by_dot_with_every_axis_turned(Q, K, V):
    """`.T` turns round all the axes of K, batch axes too, and `np.dot` pairs every batch entry with every other one: both are
    right for plain matrices and for nothing else. Which function exchanges just the last two axes, and which sign goes
    through the batch axes side by side?"""
    weights = softmax(np.dot(Q, K.T))
    return np.dot(weights, V), weights


@wrong
def every_batch_entry_mixes_every_other(Q, K, V):
    """The weights are right, but with a batch your output has axes too many: the weights of each batch entry mixed the values
    of all the others too. `np.dot`, `np.inner` and `np.tensordot` pair everything with everything; `@` goes through the
    batch axes side by side, entry by entry."""
    weights = softmax(attention_scores(Q, K))
    return np.dot(weights, V), weights


@wrong
def exactly_one_batch_axis(Q, K, V):
    """Your list of axes fits arrays of three axes and no others: a single pair of matrices has two, a batch of batches four.
    Counted from the end, the axes to exchange are always -1 and -2."""
    weights = softmax(Q @ K.transpose(0, 2, 1))
    return weights @ V, weights


@wrong
def no_axis_and_no_shift(Q, K, V):
    """You divide by one sum for the whole table: all your weights together add up to 1, and those of a single query do not.
    Each query has a set of weights of its own. Nothing is taken away from the scores before the exp either, so that large
    scores end as nan."""
    e = np.exp(attention_scores(Q, K))
    weights = e / e.sum()
    return weights @ V, weights


@wrong
def weights_summed_over_the_queries(Q, K, V):
    """Your output has a single row: the rows of all the queries added up. Each query keeps its own row. In an
    einsum, a letter that is missing after `->` is summed over."""
    weights = softmax(attention_scores(Q, K))
    return (weights @ V).sum(axis=-2), weights


# einsum_attention, the scores


wrong = misconceptions_of("einsum_attention")


@wrong
def keys_read_as_already_turned():
    """In your SCORES_EQ, the sum runs over the first letter of K's part. K has the shape (n_k, d_k), so its first
    letter names the keys and its second letter the features. An einsum needs no transpose: just name K's axes in the
    order that they have."""
    return {"SCORES_EQ": "ia,aj->ij"}


@wrong
def scores_on_their_side():
    """Your SCORES_EQ makes the right numbers in a table with a row for each key. The letters after `->` say which
    axis comes first: the queries' should."""
    return {"SCORES_EQ": "ia,ja->ji"}


@wrong
def query_with_its_own_partner():
    """In your SCORES_EQ, queries and keys share a letter, so query i only meets key i. Two axes that should vary
    independently need two letters."""
    return {"SCORES_EQ": "ia,ia->i"}


@wrong
def features_not_summed():
    """Your SCORES_EQ keeps the features' letter after `->`, so nothing is summed: you get every single product, in
    three axes. A letter that is left out after `->` is summed over."""
    return {"SCORES_EQ": "ia,ja->ija"}


@wrong
def features_summed_apart():
    """In your SCORES_EQ the features of Q and of K have two different letters, so each row is summed by itself and
    the two sums are multiplied. For [1, 2] and [3, -3] that gives 3 * 0 = 0, and the dot product is -3. Axes that go
    along with each other need the same letter."""
    return {"SCORES_EQ": "ia,jb->ij"}


@wrong
def summed_over_the_positions():
    """Your SCORES_EQ sums over the positions and keeps the features: the answer is d_k by d_k. Scores are made the
    other way round, the positions stay and the features go."""
    return {"SCORES_EQ": "ai,aj->ij"}


@wrong
def scores_all_in_one():
    """Nothing stands after the `->` of your SCORES_EQ, so everything is summed up into a single number. The letters
    that you want to keep belong there."""
    return {"SCORES_EQ": "ia,ja->"}


@wrong
def scores_of_the_query_summed_up():
    """After the `->` of your SCORES_EQ only the queries' letter is left, so the scores of each query are added up
    over the keys. There should be one score for every query and every key."""
    return {"SCORES_EQ": "ia,ja->i"}


@wrong
def scores_of_the_key_summed_up():
    """After the `->` of your SCORES_EQ only the keys' letter is left, so the scores of each key are added up over
    the queries. There should be one score for every query and every key."""
    return {"SCORES_EQ": "ia,ja->j"}


# einsum_attention, the mix


@wrong
def queries_summed_away():
    """After the `->` of your MIX_EQ the queries' letter is missing, so the outputs of all the queries are added up
    into one. Each query keeps its own row of the output."""
    return {"MIX_EQ": "ij,jb->b"}


@wrong
def mix_on_its_side():
    """Your MIX_EQ makes the right numbers, but queries and features have changed places. The letters after `->` say
    which axis comes first: the queries' should."""
    return {"MIX_EQ": "ij,jb->bi"}


@wrong
def mix_in_alphabetical_order():
    """Without a `->`, NumPy keeps the letters that occur once and puts them in alphabetical order: b before i. So
    your output has changed places, features first. With `->` you say yourself what comes first."""
    return {"MIX_EQ": "ij,jb"}


@wrong
def mix_over_the_queries():
    """Your MIX_EQ sums over the queries: the values' rows share a letter with the weights' rows. The values belong
    to the keys, and the keys run along the columns of the weights."""
    return {"MIX_EQ": "ij,ib->jb"}


@wrong
def values_read_as_turned():
    """In your MIX_EQ the letter that is summed over comes second in V's part. V has the shape (n_k, d_v): the keys'
    letter comes first."""
    return {"MIX_EQ": "ij,bj->ib"}


@wrong
def contributions_not_added_up():
    """Your MIX_EQ keeps the keys' letter after `->`, so nothing is summed: you get what each key contributes to each
    query, in three axes. The output is what those contributions come to together."""
    return {"MIX_EQ": "ij,jb->ijb"}


@wrong
def weights_and_values_summed_apart():
    """In your MIX_EQ the keys have one letter in the weights and another one in V, so both are summed by themselves
    and every query gets the same row. Axes that go along with each other need the same letter."""
    return {"MIX_EQ": "ij,kb->ib"}


@wrong
def values_times_column_sums():
    """After the `->` of your MIX_EQ stand the keys and the features, so the sum runs over the queries: a row for
    each key. A row for each query is asked for."""
    return {"MIX_EQ": "ij,jb->jb"}


@wrong
def features_of_the_values_summed_away():
    """After the `->` of your MIX_EQ only the queries' letter is left, so the features of the output are added up
    into one number for each query. They stay apart: the output is d_v wide."""
    return {"MIX_EQ": "ij,jb->i"}


@wrong
def mix_all_in_one():
    """Nothing stands after the `->` of your MIX_EQ, so everything is summed up into a single number. The letters
    that you want to keep belong there."""
    return {"MIX_EQ": "ij,jb->"}

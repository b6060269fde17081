"""Wrong solutions of chapter 2. Each function makes one mistake, and its docstring is the message for students who make this mistake."""

import numpy as np

from autograder.misconception import misconceptions_of
from solutions.ch1_weighted_averaging import softmax
from solutions.ch2_query_key_value import attention_scores

wrong = misconceptions_of("project_qkv")


@wrong
def keys_and_values_from_the_asking_side(X_q, X_kv, W_Q, W_K, W_V):
    """Your keys and values come from X_q, so X_kv has no effect on your answer. A reader with a question looks for the
    answer in the library's books, not in the question. Which input has n_k rows?"""
    return X_q @ W_Q, X_q @ W_K, X_q @ W_V


@wrong
def queries_from_the_asked_side(X_q, X_kv, W_Q, W_K, W_V):
    """Your queries come from X_kv, so X_q has no effect on your answer. You get one query for each row of X_kv. Which
    input has a row for each of the n_q queries?"""
    return X_kv @ W_Q, X_kv @ W_K, X_kv @ W_V


@wrong
def the_two_sides_exchanged(X_q, X_kv, W_Q, W_K, W_V):
    """The two sequences are swapped: your queries come from X_kv, and your keys and values from X_q. In self-attention
    you cannot see that, because both are the same sequence. The names help: `q` is for queries, `kv` for keys and
    values."""
    return X_kv @ W_Q, X_q @ W_K, X_q @ W_V


@wrong
def values_from_the_asking_side(X_q, X_kv, W_Q, W_K, W_V):
    """Your values come from X_q, but your keys from X_kv. Keys and values belong together in pairs, with one pair for
    each row of X_kv. So both should have n_k rows. Which input do the values need?"""
    return X_q @ W_Q, X_kv @ W_K, X_q @ W_V


@wrong
def keys_from_the_asking_side(X_q, X_kv, W_Q, W_K, W_V):
    """Your keys come from X_q, but your values from X_kv. Keys and values belong together in pairs, with one pair for
    each row of X_kv. So both should have n_k rows. Which input do the keys need?"""
    return X_q @ W_Q, X_q @ W_K, X_kv @ W_V


@wrong
def one_matrix_for_all(X_q, X_kv, W_Q, W_K, W_V):
    """All three of your arrays are made with W_Q, so W_K and W_V have no effect on your answer. Queries, keys and
    values have different tasks, and with one matrix the network cannot learn them separately. Each of the three needs
    its own matrix."""
    return X_q @ W_Q, X_kv @ W_Q, X_kv @ W_Q


@wrong
def keys_made_with_the_query_matrix(X_q, X_kv, W_Q, W_K, W_V):
    """The keys that you return are made with W_Q, so W_K has no effect on your answer. A word's query and its key are
    different things: a verb may look for nouns, but it is not a noun. Where should your code use W_K?"""
    return X_q @ W_Q, X_kv @ W_Q, X_kv @ W_V


@wrong
def values_made_with_the_key_matrix(X_q, X_kv, W_Q, W_K, W_V):
    """The values that you return are made with W_K, so they equal the keys, and W_V has no effect on your answer. A
    value may even have another width, d_v instead of d_k. Where should your code use W_V?"""
    return X_q @ W_Q, X_kv @ W_K, X_kv @ W_K


@wrong
def values_not_projected(X_q, X_kv, W_Q, W_K, W_V):
    """You return X_kv itself as the values. They are d_model wide, and W_V has no effect on them. Values are made with
    a matrix, as the keys are: which one?"""
    return X_q @ W_Q, X_kv @ W_K, X_kv


@wrong
def values_made_from_the_keys(X_q, X_kv, W_Q, W_K, W_V):
    """Your values are made with W_K and then W_V, as if they came from the keys. That runs without an error only if d_k
    equals d_model. The three projections are independent: each of them starts from the sequence itself."""
    K = X_kv @ W_K
    return X_q @ W_Q, K, K @ W_V


@wrong
def matrices_transposed(X_q, X_kv, W_Q, W_K, W_V):
    """In effect, your code transposes the three matrices. That runs without an error only if they are square.
    In the docstring, W_Q has shape (d_model, d_k). Which of its two axes should meet the last axis of X_q in your
    product?"""
    return X_q @ W_Q.T, X_kv @ W_K.T, X_kv @ W_V.T


@wrong
def matrices_on_the_left(X_q, X_kv, W_Q, W_K, W_V):
    """Your three arrays are the products W @ X, so the matrices mix the positions instead of the entries inside each
    position. That runs without an error only if the sizes happen to agree. The sum should run over the last axis of X,
    d_model. Which axis of X meets the matrix in your product?"""
    return W_Q @ X_q, W_K @ X_kv, W_V @ X_kv


@wrong
def another_order(X_q, X_kv, W_Q, W_K, W_V):
    """The three arrays that you return are right, but their order is keys, queries, values. The caller unpacks `Q, K,
    V`. Is your `return` in another order, or do two of your variables contain each other's array?"""
    return X_kv @ W_K, X_q @ W_Q, X_kv @ W_V


@wrong
def values_before_keys(X_q, X_kv, W_Q, W_K, W_V):
    """Your second and third arrays are swapped. Keys come second and use W_K, values come third and use W_V. Follow
    each of the two from its matrix to your `return`: at which step do they change places?"""
    return X_q @ W_Q, X_kv @ W_V, X_kv @ W_K


@wrong
def only_queries_and_keys(X_q, X_kv, W_Q, W_K, W_V):
    """You return queries and keys, but the values are missing. Queries and keys only decide how much of each value to
    take, so attention needs the values too. Return all three arrays."""
    return X_q @ W_Q, X_kv @ W_K


@wrong
def only_the_first_of_the_batch(X_q, X_kv, W_Q, W_K, W_V):
    """You return only the first sequence of a batch and lose the others, along with the batch axis. In the docstring,
    `...` means any number of axes in front, and your answer should have all of them. If a matrix is on the right, `@`
    keeps all these axes by itself, so there is nothing to pick."""
    while X_q.ndim > 2:
        X_q, X_kv = X_q[0], X_kv[0]
    return X_q @ W_Q, X_kv @ W_K, X_kv @ W_V


@wrong
def three_equal_parts(X_q, X_kv, W_Q, W_K, W_V):
    """You put the three matrices side by side and divide them, or their product, into three equal parts. That needs d_k
    and d_v to be equal, but a value may be wider or narrower than a key. At which columns does each part begin and
    end?"""
    side_by_side = np.concatenate([W_Q, W_K, W_V], axis=1)
    return (*np.split(X_q @ side_by_side, 3, axis=-1)[:1], *np.split(X_kv @ side_by_side, 3, axis=-1)[1:])


@wrong
def as_many_keys_as_queries(X_q, X_kv, W_Q, W_K, W_V):
    """You keep only as many rows of both sequences as the shorter one has. For example, `zip` stops there without an
    error. The two sequences may have different lengths: a query belongs to a row of X_q, and a key and a value belong
    to a row of X_kv."""
    n = min(len(X_q), len(X_kv))
    return X_q[:n] @ W_Q, X_kv[:n] @ W_K, X_kv[:n] @ W_V


@wrong
def turned_round_and_back(X_q, X_kv, W_Q, W_K, W_V):
    """Your code is right for a single pair of sequences. With batch axes, it reverses all the axes, as `.T` does, so
    the batch is no longer in front. The product `X @ W` needs no transpose: it keeps all the axes of X but the last."""
    return (W_Q.T @ X_q.T).T, (W_K.T @ X_kv.T).T, (W_V.T @ X_kv.T).T


@wrong
def values_as_wide_as_the_keys(X_q, X_kv, W_Q, W_K, W_V):
    """You make the values as wide as the keys, with d_k columns. But W_V has d_v columns, which may be fewer or more. If
    they are fewer, your code stops with an IndexError. If they are more, it drops the last ones. Take the number from
    W_V."""
    return X_q @ W_Q, X_kv @ W_K, X_kv @ W_V[:, np.arange(W_K.shape[1])]


@wrong
def as_many_keys_as_queries_in_a_loop(X_q, X_kv, W_Q, W_K, W_V):
    """Your loop makes n_q keys and values, one for each query. But X_kv has n_k rows. If there are more, the last ones
    are missing. If there are fewer, an index is out of range. Keys and values need a loop of their own."""
    Q, K, V = (np.zeros((*X.shape[:-1], W.shape[1])) for X, W in ((X_q, W_Q), (X_kv, W_K), (X_kv, W_V)))
    for i in range(X_q.shape[-2]):
        Q[..., i, :] = X_q[..., i, :] @ W_Q
        K[..., i, :] = X_kv[..., i, :] @ W_K
        V[..., i, :] = X_kv[..., i, :] @ W_V
    return Q, K, V


@wrong
def axes_of_size_one_removed(X_q, X_kv, W_Q, W_K, W_V):
    """A single query of width 3 should have the shape (1, 3), but yours has the shape (3,). `squeeze` removes every axis
    of size 1, and an index such as `[0]` removes the axis that it indexes. Which axes should your results have?"""
    return tuple(np.squeeze(X @ W) for X, W in ((X_q, W_Q), (X_kv, W_K), (X_kv, W_V)))


@wrong
def batch_axes_in_one(X_q, X_kv, W_Q, W_K, W_V):
    """With two batch axes, your numbers are right, but your results have only one batch axis in place of the two: (2,
    1, n_q, d_k) became (2, n_q, d_k). If you flatten the batch axes, restore them at the end. `@` needs no flattening,
    since it works on the last two axes."""
    pairs = ((X_q, W_Q), (X_kv, W_K), (X_kv, W_V))
    return tuple((X if X.ndim == 2 else X.reshape(-1, *X.shape[-2:])) @ W for X, W in pairs)


wrong = misconceptions_of("attention_scores")


@wrong
def transposes_every_axis(Q, K):
    """Your answer is right for plain matrices. With batch axes, only the last two axes of K should be swapped. But
    `.T`, for example, reverses all of them: (B, n_k, d_k) becomes (d_k, n_k, B), and the batch is no longer in front.
    Which function swaps two axes that you name?"""
    return Q @ K.T


@wrong
def transpose_for_three_axes_only(Q, K):
    """Your list of axes fits only arrays with three axes. A single pair of matrices has two, and a batch of batches has
    four. Counted from the end, the axes to swap are always -1 and -2."""
    return Q @ K.transpose(0, 2, 1)


@wrong
def merges_the_batch_axes(Q, K):
    """With two or more batch axes, your result has only one. You merge them to work with three axes, and do not separate
    them again. The shape should be (..., n_q, n_k), with the same batch axes as Q and K."""
    Q, K = (A.reshape(-1, *A.shape[-2:]) if A.ndim > 2 else A for A in (Q, K))
    return Q @ np.swapaxes(K, -1, -2)


@wrong
def exchanges_the_first_two_axes(Q, K):
    """You swap the first two axes. In plain matrices these are also the last two, so your code works there. With a
    batch in front, it moves the batch axis into the middle. Counted from the end, the axes to swap are always -1 and
    -2."""
    return Q @ K.swapaxes(0, 1)


@wrong
def keys_down_the_side(Q, K):
    """Your rows belong to the keys and your columns to the queries. The table should have shape (n_q, n_k): each row
    contains one query's scores for all the keys, ready for a softmax along the row. Which step of your code puts the
    keys first? (In an einsum, look at the letters after `->`. Without `->`, they are in alphabetical order.)"""
    return K @ np.swapaxes(Q, -1, -2)


@wrong
def queries_with_queries(Q, K):
    """You scored the queries against the queries, so K has no effect on your answer. Where should your code use K
    instead of Q?"""
    return Q @ np.swapaxes(Q, -1, -2)


@wrong
def keys_with_keys(Q, K):
    """You scored the keys against the keys, so Q has no effect on your answer. Where should your code use Q instead of
    K?"""
    return K @ np.swapaxes(K, -1, -2)


@wrong
def weights_already(Q, K):
    """Your rows add up to 1, so you went one step too far and turned the scores into weights. Scores are the plain dot
    products, of any size and sign. The softmax belongs to the next exercise."""
    return softmax(Q @ np.swapaxes(K, -1, -2))


@wrong
def weights_already_and_without_a_shift(Q, K):
    """Your rows add up to 1, so you went one step too far and turned the scores into weights. Scores are the plain dot
    products, of any size and sign. The softmax belongs to the next exercise."""
    weights = np.exp(Q @ np.swapaxes(K, -1, -2))
    return weights / weights.sum(axis=-1, keepdims=True)


@wrong
def scaled_already(Q, K):
    """Your scores are the right ones divided by the square root of d_k. You may know that from the famous formula, and
    chapter 3 explains it. Here, return the plain dot products: [1, 2] with [1, 2] is 5, for example."""
    return Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])


@wrong
def mean_of_the_products(Q, K):
    """Your scores are the right ones divided by d_k. So each is the mean of the products, but a dot product is their
    sum. For example, [1, 2] with [1, 2] is 1 + 4 = 5, not 2.5. Where does your code divide, or take a mean?"""
    return Q @ np.swapaxes(K, -1, -2) / K.shape[-1]


@wrong
def never_transposes(Q, K):
    """Your answer is the product of Q and K without a transpose, so rows of Q meet columns of K. That runs without an
    error only if there are as many keys as entries in a key. In both arrays, the axis to sum over, d_k, comes last.
    What has to happen to exactly one of them, and does your product use the result?"""
    return Q @ K


@wrong
def sums_over_the_positions(Q, K):
    """Your sum runs over the positions. That works only with as many queries as keys, and your answer then has shape
    (d_k, d_k). The sum should run over the d_k entries, so that (n_q, n_k) is left. Which axis of Q meets which axis of
    K in your product?"""
    return np.swapaxes(Q, -1, -2) @ K


@wrong
def cosine_scores(Q, K):
    """You divided by the norms of query and key, so none of your scores is above 1. That is the cosine of the angle
    between them. In a dot product the norms count too: a key of large norm can beat a key with the same direction as
    the query."""
    norms = np.linalg.norm(Q, axis=-1)[..., :, None] * np.linalg.norm(K, axis=-1)[..., None, :]
    return Q @ np.swapaxes(K, -1, -2) / (norms + 1e-12)


@wrong
def only_the_partner(Q, K):
    """You scored query i only against key i, which gives one number for each query. Every query should meet every key:
    for example, 2 queries and 3 keys make 2 * 3 = 6 scores."""
    return (Q * K).sum(axis=-1)


@wrong
def every_batch_entry_with_every_other(Q, K):
    """With a batch, your answer has too many axes, because the queries of each batch entry are combined with the keys
    of every batch entry, not only of its own. `np.dot`, `np.inner` and `np.tensordot` do that. `@` combines each batch
    entry only with its own partner. It sums over the last axis of the left array and the last but one of the
    right."""
    return np.dot(Q, np.swapaxes(K, -1, -2))


@wrong
def dot_with_every_axis_turned(Q, K):
    """You reverse all the axes of K, batch axes too, as `.T` does. And you combine every batch entry with every other,
    as `np.dot` does. Both are right only for plain matrices. Which function swaps just the last two axes, and which
    operator handles each batch entry separately?"""
    return np.dot(Q, K.T)


@wrong
def letters_for_exactly_one_batch_axis(Q, K):
    """Your einsum names three axes for Q and for K, so it runs only with exactly one batch axis. A single pair of
    matrices or a batch of batches gives an error. `...` means any number of axes in front."""
    return np.einsum("bqd,bkd->bqk", Q, K)


@wrong
def letters_for_matrices_only(Q, K):
    """Your einsum names two axes for Q and for K, so it runs for a single pair of matrices but not for a batch. `...`
    means any number of axes in front."""
    return np.einsum("qd,kd->qk", Q, K)


@wrong
def adds_up_the_batch(Q, K):
    """With a batch, you add up the scores of all its entries into one table. The entries are independent sequences, and
    each should keep its own table. If you use einsum, a letter that is missing after `->` is summed over."""
    scores = Q @ np.swapaxes(K, -1, -2)
    return scores.sum(axis=tuple(range(scores.ndim - 2)))


@wrong
def first_of_the_batch(Q, K):
    """You return the table of the first batch entry and lose the others. In the docstring, `...` means any number of
    axes in front, and your answer should have all of them."""
    while Q.ndim > 2:
        Q, K = Q[0], K[0]
    return Q @ K.T


@wrong
def keys_of_the_first_entry(Q, K):
    """In a batch, all the queries meet the keys of its first entry. Each entry is a sequence of its own, so a query
    should meet only the keys of its own sequence."""
    while K.ndim > 2:
        K = K[0]
    return Q @ K.T


@wrong
def queries_of_the_first_entry(Q, K):
    """In a batch, all the keys meet the queries of its first entry. The entries are independent sequences, so each key
    should meet only the queries of its own sequence."""
    while Q.ndim > 2:
        Q = Q[0]
    return Q @ np.swapaxes(K, -1, -2)


@wrong
def symmetric_table(Q, K):
    """With as many queries as keys, your table is symmetric: you take row i, column j from row j, column i. But query i
    with key j is not query j with key i, unless queries and keys are the same."""
    scores = Q @ np.swapaxes(K, -1, -2)
    if Q.shape[-2] != K.shape[-2]:
        return scores
    return np.tril(scores) + np.swapaxes(np.tril(scores, -1), -1, -2)


@wrong
def symmetric_table_from_above(Q, K):
    """With as many queries as keys, your table is symmetric: you take row i, column j from row j, column i. But query i
    with key j is not query j with key i, unless queries and keys are the same."""
    scores = Q @ np.swapaxes(K, -1, -2)
    if Q.shape[-2] != K.shape[-2]:
        return scores
    return np.triu(scores) + np.swapaxes(np.triu(scores, 1), -1, -2)


@wrong
def distances_as_scores(Q, K):
    """You computed distances between queries and keys (or their squares, with a minus sign). Then the best score is 0,
    which two equal vectors get. A dot product is a different measure: for example, [1, 2] with itself scores 5, and [1,
    2] with [2, 4] scores 10."""
    return -((Q[..., :, None, :] - K[..., None, :, :]) ** 2).sum(axis=-1)


@wrong
def twice_the_scores(Q, K):
    """Every score is twice as large as it should be. A score is the dot product itself: multiply entry by entry, then
    add the products. Does your code count something twice, or divide by a number that is too small?"""
    return 2 * Q @ np.swapaxes(K, -1, -2)


@wrong
def a_column_for_each_query(Q, K):
    """Your table has as many columns as there are queries. Each query meets each key, so a row needs n_k scores, and
    there can be more keys than queries, or fewer. From which array do you take the number of columns?"""
    n = Q.shape[-2]
    return np.stack([(Q * K[..., j, None, :]).sum(axis=-1) for j in range(n)], axis=-1)


@wrong
def new_axes_counted_from_the_front(Q, K):
    """Your scores are right without a batch. With batch axes, your new axes are among them, because you count from the
    front. Counted from the end, the queries, the keys and their entries are always in the same places."""
    return (np.expand_dims(Q, 1) * np.expand_dims(K, 0)).sum(axis=-1)


wrong = misconceptions_of("dot_product_attention")


@wrong
def softmax_over_the_queries(Q, K, V):
    """Your weights add up to 1 down each column, over the queries. So a query's weights can add up to more than 1 or to
    less, and its output is not an average. Each query should divide its attention among the keys: which axis is
    theirs?"""
    weights = softmax(attention_scores(Q, K), axis=-2)
    return weights @ V, weights


@wrong
def subtracts_the_mean(Q, K, V):
    """Your weights are wrong if a score is far above the number that you subtract from its row, such as the row's mean.
    With the mean, for example, [0, 0, 3000] becomes [-1000, -1000, 2000], and exp(2000) is inf. Which score has to
    become 0, so that no exponent is positive?"""
    scores = attention_scores(Q, K)
    e = np.exp(scores - scores.mean(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ V, weights


@wrong
def softmax_along_axis_one(Q, K, V):
    """Your softmax runs along axis 1. In a plain table of scores, that is the axis of the keys. With a batch axis in
    front, it is the axis of the queries. Counted from the end, the keys are always at -1."""
    weights = softmax(attention_scores(Q, K), axis=1)
    return weights @ V, weights


@wrong
def softmax_along_axis_zero(Q, K, V):
    """Your softmax runs along axis 0: over the queries, or over the batch if there is one. The weights of a query
    should add up to 1 over the keys. Counted from the end, which axis is theirs?"""
    weights = softmax(attention_scores(Q, K), axis=0)
    return weights @ V, weights


@wrong
def softmax_over_the_whole_table(Q, K, V):
    """The weights of all your queries together add up to 1. For example, with two equal queries, each has weights that
    add up to only 0.5. Every row of the table is its own set of weights."""
    scores = attention_scores(Q, K)
    e = np.exp(scores - scores.max(axis=(-1, -2), keepdims=True))
    weights = e / e.sum(axis=(-1, -2), keepdims=True)
    return weights @ V, weights


@wrong
def pair_exchanged(Q, K, V):
    """Both arrays that you return are right, but the weights come first in your pair. The caller unpacks `output,
    weights`. Is your `return` in another order, or do your two variables contain each other's array?"""
    weights = softmax(attention_scores(Q, K))
    return weights, weights @ V


@wrong
def only_the_output(Q, K, V):
    """You return only the output, and it is right. Return the pair (output, weights): without the weights, nobody can
    see which keys a query attended to."""
    return softmax(attention_scores(Q, K)) @ V


@wrong
def scores_in_place_of_weights(Q, K, V):
    """Your output is right, but the second array that you return contains the scores from before the softmax. Return
    the weights instead: each row of them adds up to 1."""
    scores = attention_scores(Q, K)
    return softmax(scores) @ V, scores


@wrong
def no_softmax_at_all(Q, K, V):
    """You mixed the values with the raw scores. Scores may be negative and add up to anything, so the mix is not an
    average. For example, with scores 5 and 8, two values of 1 would make 5 + 8 = 13. Which function turns scores into
    shares of a whole, and does your code use its result?"""
    scores = attention_scores(Q, K)
    return scores @ V, scores


@wrong
def weights_transposed(Q, K, V):
    """The weights that you return are right, but your output uses their columns instead of their rows. That runs
    without an error only if there are as many queries as keys. Row i of the weights belongs to query i and makes row i
    of the output."""
    weights = softmax(attention_scores(Q, K))
    return np.swapaxes(weights, -1, -2) @ V, weights


@wrong
def scaled_scores(Q, K, V):
    """Your weights are the ones for scores divided by the square root of d_k. That is the famous formula, and chapter 3
    shows why it needs the root. In this chapter, use the scores unchanged."""
    weights = softmax(attention_scores(Q, K) / np.sqrt(K.shape[-1]))
    return weights @ V, weights


@wrong
def mixes_the_keys(Q, K, V):
    """The weights are right, but you mixed the keys with them, so V has no effect on your answer. Keys decide how much
    of each position to take. Which array contains the rows to take?"""
    weights = softmax(attention_scores(Q, K))
    return weights @ K, weights


@wrong
def queries_against_themselves(Q, K, V):
    """Your scores come from the queries alone, so K has no effect on your answer. Even in self-attention, Q and K are
    different arrays, because they are made with different matrices."""
    weights = softmax(attention_scores(Q, Q))
    return weights @ V, weights


@wrong
def keys_against_queries(Q, K, V):
    """Your table of weights has a row for each key. So each key divides its attention among the queries, and the output
    has as many rows as there are keys. Both should have a row for each query."""
    weights = softmax(attention_scores(K, Q))
    return weights @ V, weights


@wrong
def no_max_shift(Q, K, V):
    """Your formula is right on paper, but exp of a score above about 709 is too large for a float64. It becomes inf,
    and inf/inf is nan. If all the scores of a query are below about -745, you get 0/0. Unscaled scores of long vectors
    easily get that large. What does the softmax of chapter 1, at the top of this notebook, subtract from each row of
    scores before exp? Does your code do the same?
    """
    e = np.exp(attention_scores(Q, K))
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ V, weights


@wrong
def one_maximum_for_all_queries(Q, K, V):
    """You subtracted one maximum for all the queries. This keeps exp of the largest scores finite, but a query whose
    scores are all far below the maximum gives 0/0. Each row of scores needs its own maximum."""
    scores = attention_scores(Q, K)
    e = np.exp(scores - scores.max())
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ V, weights


@wrong
def all_to_the_best_key(Q, K, V):
    """Each of your queries takes the value of its best key and ignores the others, as in the hard lookup of chapter 1.
    Attention mixes the values. For example, scores of 1.0 and 1.1 are nearly equal, so their weights should be too."""
    scores = attention_scores(Q, K)
    best = scores == scores.max(axis=-1, keepdims=True)
    weights = best / best.sum(axis=-1, keepdims=True)
    return weights @ V, weights


@wrong
def softmax_twice(Q, K, V):
    """You applied softmax twice. The second one gets numbers between 0 and 1 and makes the weights more equal. For
    example, scores 0 and 10 give 0.27 and 0.73 instead of 0.00005 and 0.99995."""
    weights = softmax(softmax(attention_scores(Q, K)))
    return weights @ V, weights


@wrong
def exps_not_normalised(Q, K, V):
    """Your weights have the right proportions, but they do not add up to 1, so the output is not an average. What do
    you have to divide the exps by, and does your code use the result?"""
    scores = attention_scores(Q, K)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights @ V, weights


@wrong
def shares_of_the_scores(Q, K, V):
    """Your weights are the scores divided by their sum, without exp. A negative score can then make a negative weight,
    and scores of 1 and -1 have the sum 0. Chapter 1 has the function that turns any scores into weights."""
    scores = attention_scores(Q, K)
    weights = scores / scores.sum(axis=-1, keepdims=True)
    return weights @ V, weights


@wrong
def batch_turned_round(Q, K, V):
    """Your answer is right for plain matrices. With batch axes, you reverse all the axes of K, as `.T` does, so the
    batch is no longer in front. Only the last two axes should be swapped, as in `attention_scores`: which function
    swaps two axes that you name?"""
    weights = softmax(Q @ K.T)
    return weights @ V, weights


@wrong
def scores_by_dot_with_every_axis_turned(Q, K, V):
    """You reverse all the axes of K, batch axes too, as `.T` does. And you combine every batch entry with every other,
    as `np.dot` does. Both are right only for plain matrices. Which function swaps just the last two axes, and which
    operator handles each batch entry separately?"""
    weights = softmax(np.dot(Q, K.T))
    return weights @ V, weights


@wrong
def both_by_dot_with_every_axis_turned(Q, K, V):
    """You reverse all the axes of K, batch axes too, as `.T` does. And you combine every batch entry with every other,
    as `np.dot` does. Both are right only for plain matrices. Which function swaps just the last two axes, and which
    operator handles each batch entry separately?"""
    weights = softmax(np.dot(Q, K.T))
    return np.dot(weights, V), weights


@wrong
def every_batch_entry_mixes_every_other(Q, K, V):
    """The weights are right, but with a batch your output has too many axes. The weights of each batch entry also mix
    the values of all the others. `np.dot`, `np.inner` and `np.tensordot` combine everything with everything. `@`
    combines each batch entry only with its own partner."""
    weights = softmax(attention_scores(Q, K))
    return np.dot(weights, V), weights


@wrong
def exactly_one_batch_axis(Q, K, V):
    """Your list of axes fits only arrays with three axes. A single pair of matrices has two, and a batch of batches has
    four. Counted from the end, the axes to swap are always -1 and -2."""
    weights = softmax(Q @ K.transpose(0, 2, 1))
    return weights @ V, weights


@wrong
def no_axis_and_no_shift(Q, K, V):
    """All your weights together add up to 1, as if you divided by one sum for the whole table. Each query needs its own
    set of weights. Also, exp gets the scores without a shift, so large scores give nan."""
    e = np.exp(attention_scores(Q, K))
    weights = e / e.sum()
    return weights @ V, weights


@wrong
def weights_summed_over_the_queries(Q, K, V):
    """Your output has a single row, the sum of the rows of all queries. Each query should keep its own row. If you use
    einsum, a letter that is missing after `->` is summed over."""
    weights = softmax(attention_scores(Q, K))
    return (weights @ V).sum(axis=-2), weights


@wrong
def worst_match_weighs_most(Q, K, V):
    """The sign of your scores is reversed, so the key that matches worst gets the largest weight. A larger dot product means a
    better match. So the weights grow with exp(score), not with exp(-score)."""
    weights = softmax(-attention_scores(Q, K))
    return weights @ V, weights


def _attend_with_clipped_scores(Q, K, V, limit):
    e = np.exp(np.clip(attention_scores(Q, K), -limit, limit))
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ V, weights


@wrong
def scores_are_clipped(Q, K, V):
    """Large scores get equal weights in your answer, although they differ. Do you cut off the scores at a fixed number, so that exp
    does not overflow? That changes their differences. Subtract the largest score of each query instead, which keeps
    them."""
    return _attend_with_clipped_scores(Q, K, V, 300)


@wrong
def scores_are_clipped_at_500(Q, K, V):
    """Large scores get equal weights in your answer, although they differ. Do you cut off the scores at a fixed number, so that exp
    does not overflow? That changes their differences. Subtract the largest score of each query instead, which keeps
    them."""
    return _attend_with_clipped_scores(Q, K, V, 500)


@wrong
def scores_are_clipped_at_700(Q, K, V):
    """Large scores get equal weights in your answer, although they differ. Do you cut off the scores at a fixed number, so that exp
    does not overflow? That changes their differences. Subtract the largest score of each query instead, which keeps
    them."""
    return _attend_with_clipped_scores(Q, K, V, 700)


@wrong
def mix_keeps_its_old_scale(Q, K, V):
    """Your weights are right, but the output depends on the order of the keys. It is right if the first key has the
    largest score. Do you keep a running maximum? When a larger score comes up, the sum of the exps and the mix of the
    values both have to shrink by the same factor."""
    scores = Q @ np.swapaxes(K, -1, -2)
    top = np.maximum.accumulate(scores, axis=-1)  # the largest score so far
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    total = weights.sum(axis=-1, keepdims=True)
    return np.exp(scores - top) @ V / total, weights / total


# einsum_attention, the scores


@wrong
def output_as_wide_as_the_queries(Q, K, V):
    """Your output has as many columns as a query, or your code fails because it reserves so many. An output is an average
    of values, so it is as wide as a value, d_v. Compare the array that you create for it with Q and with V."""
    output = np.zeros(Q.shape)
    weights = softmax(Q @ np.swapaxes(K, -1, -2))
    for i in range(Q.shape[-2]):
        output[..., i, :] = (weights[..., i, :, None] * V).sum(axis=-2)
    return output, weights


wrong = misconceptions_of("einsum_attention")


@wrong
def keys_read_as_already_turned():
    """In your SCORES_EQ, the sum runs over the first letter of K's part. K has the shape (n_k, d_k), so its first
    letter names the keys and its second letter the features. An einsum needs no transpose: just name K's axes in the
    order that they have."""
    return {"SCORES_EQ": "ia,aj->ij"}


@wrong
def scores_on_their_side():
    """Your SCORES_EQ gives the right numbers, but in a table with a row for each key. The letters after `->` set the
    order of the axes. The queries' letter, which is the first in Q's part, should come first there."""
    return {"SCORES_EQ": "ia,ja->ji"}


@wrong
def scores_with_a_batch_letter():
    """Your SCORES_EQ has a letter for a batch axis, but here queries and keys are plain matrices. How many letters does
    a matrix need?"""
    return {"SCORES_EQ": "nia,nja->nij"}


@wrong
def scores_in_alphabetical_order():
    """In the alphabet, the letter of the keys in your SCORES_EQ comes before that of the queries. So the table has a row
    for each key."""
    return {"SCORES_EQ": "ja,ia"}


@wrong
def query_with_its_own_partner():
    """In your SCORES_EQ, queries and keys share a letter, so query i meets only key i. Two axes that vary independently
    need two letters."""
    return {"SCORES_EQ": "ia,ia->i"}


@wrong
def features_not_summed():
    """Your SCORES_EQ keeps the features' letter after `->`, so nothing is summed. You get every single product, in
    three axes. A letter that you leave out after `->` is summed over."""
    return {"SCORES_EQ": "ia,ja->ija"}


@wrong
def features_summed_apart():
    """In your SCORES_EQ, the features of Q and of K have two different letters. So each row is summed by itself, and
    the two sums are multiplied. For example, [1, 2] and [3, -3] give 3 * 0 = 0, but their dot product is -3. Axes that
    belong together need the same letter."""
    return {"SCORES_EQ": "ia,jb->ij"}


@wrong
def summed_over_the_positions():
    """Your SCORES_EQ sums over the positions and keeps the features. If NumPy accepts it, the answer has shape (d_k,
    d_k). For scores, do the opposite: keep the positions and sum over the features."""
    return {"SCORES_EQ": "ai,aj->ij"}


@wrong
def scores_all_in_one():
    """Your SCORES_EQ has no letters after `->`, so everything is summed into a single number. Which letters do you want
    to keep?"""
    return {"SCORES_EQ": "ia,ja->"}


@wrong
def scores_of_the_query_summed_up():
    """After `->`, your SCORES_EQ keeps only the queries' letter, so the scores of each query are summed over the
    keys. There should be one score for every query and every key."""
    return {"SCORES_EQ": "ia,ja->i"}


@wrong
def scores_of_the_key_summed_up():
    """After `->`, your SCORES_EQ keeps only the keys' letter, so the scores of each key are summed over the queries.
    There should be one score for every query and every key."""
    return {"SCORES_EQ": "ia,ja->j"}


# einsum_attention, the mix


@wrong
def queries_summed_away():
    """After `->`, your MIX_EQ does not have the queries' letter, so the outputs of all the queries are added up into
    one. Each query should keep its own row of the output."""
    return {"MIX_EQ": "ij,jb->b"}


@wrong
def mix_on_its_side():
    """Your MIX_EQ gives the right numbers, but queries and features are swapped. The letters after `->` set the order
    of the axes. The queries' letter, which is the first in the weights' part, should come first there."""
    return {"MIX_EQ": "ij,jb->bi"}


@wrong
def mix_in_alphabetical_order():
    """In the alphabet, the letter of the features in your MIX_EQ comes before that of the queries. So the output has a
    row for each feature."""
    return {"MIX_EQ": "ij,jb"}


@wrong
def mix_over_the_queries():
    """Your MIX_EQ sums over the queries, because the values' rows share a letter with the weights' rows. The values
    belong to the keys. Which axis of the weights belongs to the keys?"""
    return {"MIX_EQ": "ij,ib->jb"}


@wrong
def values_come_first():
    """The parts of your MIX_EQ fit V and then the weights, or the weights and V both transposed. The arrays are passed
    as weights, V, as they are. So the first part must name queries and keys, and the second keys and features, in this
    order."""
    return {"MIX_EQ": "jb,ij->ib"}


@wrong
def mix_with_a_batch_letter():
    """Your MIX_EQ has a letter for a batch axis, but here weights and values are plain matrices. How many letters does a
    matrix need?"""
    return {"MIX_EQ": "nij,njb->nib"}


@wrong
def features_of_the_values_read_as_queries():
    """In your MIX_EQ, the features of V have the letter of the queries. So query i takes only feature i, and an einsum
    with different numbers of queries and features is an error. They vary independently, so they need two letters."""
    return {"MIX_EQ": "ij,ji->i"}


@wrong
def values_read_as_turned():
    """In your MIX_EQ, the second letter of V's part is summed over. But V has the shape (n_k, d_v), so the keys' letter
    comes first."""
    return {"MIX_EQ": "ij,bj->ib"}


@wrong
def contributions_not_added_up():
    """Your MIX_EQ keeps the keys' letter after `->`, so nothing is summed. You get each key's contribution to each
    query, in three axes. The output should be the sum of these contributions."""
    return {"MIX_EQ": "ij,jb->ijb"}


@wrong
def weights_and_values_summed_apart():
    """In your MIX_EQ, the keys have one letter in the weights and another one in V. So the weights and the values are
    summed separately, and every query gets the same row. Axes that belong together need the same letter."""
    return {"MIX_EQ": "ij,kb->ib"}


@wrong
def values_times_column_sums():
    """After `->`, your MIX_EQ keeps the keys and the features, so the sum runs over the queries and you get a row for
    each key. The output should have a row for each query."""
    return {"MIX_EQ": "ij,jb->jb"}


@wrong
def features_of_the_values_summed_away():
    """After `->`, your MIX_EQ keeps only the queries' letter, so the features of the output are added up into one
    number for each query. Keep the features too: the output has d_v columns."""
    return {"MIX_EQ": "ij,jb->i"}


@wrong
def mix_all_in_one():
    """Your MIX_EQ has no letters after `->`, so everything is summed into a single number. Which letters do you want to
    keep?"""
    return {"MIX_EQ": "ij,jb->"}

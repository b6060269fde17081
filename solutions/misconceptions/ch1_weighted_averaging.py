"""Wrong solutions of chapter 1. Each function makes one mistake, and its docstring is the message for students who make this mistake."""

import math

import numpy as np

from autograder.misconception import misconceptions_of
from solutions.ch1_weighted_averaging import softmax

wrong = misconceptions_of("weighted_average")


@wrong
def ignores_the_weights(weights, X):
    """Your answer is the plain mean of the rows, whatever the weights are. For example, rows 0 and 10 with weights 0.9
    and 0.1 would give 5. But nine tenths of the average should come from the 0, so it should be 1. Where does your code
    use the weights, and does your answer depend on the result?"""
    return X.mean(axis=0)


@wrong
def divides_by_n_as_well(weights, X):
    """Your answer is the right one divided by the number of rows. Weights that add up to 1 already contain the
    division. For example, 0.5 * 4 + 0.5 * 6 = 5, and another division by 2 would give 2.5, below both values. Which of
    your steps divides, perhaps inside another function?"""
    return (weights[:, None] * X).mean(axis=0)


@wrong
def never_adds_the_rows_up(weights, X):
    """You return every row times its weight, n rows in all. Each of them is right, but a weighted average combines them
    into one row of shape (d,). Which step combines the rows, and do you return its result?"""
    return weights[:, None] * X


@wrong
def adds_up_each_row(weights, X):
    """You return one number for each row of X, the sum of its weighted entries. That mixes quantities that have nothing
    to do with each other, such as a height and an age. The sum should combine rows and keep columns apart. Along which
    axis is that?"""
    return (weights[:, None] * X).sum(axis=1)


@wrong
def adds_up_everything(weights, X):
    """You return a single number, the sum of all the weighted rows and columns. The average of rows is itself a row:
    for X of shape (3, 2), the answer should have 2 entries. Which of your steps also adds up the columns, as a sum
    without an axis does?"""
    return (weights[:, None] * X).sum()


@wrong
def weighs_the_columns(weights, X):
    """Your weights multiply the columns of X: the first weight multiplies the first entry of every row. That runs
    without an error if X is square, for example, but weights belong to rows. How do shapes (n,) and (n, d) line up when NumPy
    multiplies them? Which shape would make each weight multiply its own row?"""
    return (weights * X).sum(axis=0)


@wrong
def multiplies_from_the_wrong_side(weights, X):
    """Your answer combines the entries inside each row, with one result for each row of X. That runs without an error
    if X is square. Combine the rows instead. Over which index of X does your product or sum run, and over which one
    should it run?"""
    return X @ weights


@wrong
def running_mix(weights, X):
    """You mix each new row into the result so far, which you multiply by 1 minus the new weight. So every new row makes
    the shares of the rows before it smaller. Each row's share should be its own weight, whatever comes after it."""
    result = X[0]
    for w, row in zip(weights[1:], X[1:], strict=True):
        result = (1 - w) * result + w * row
    return result.copy()


@wrong
def row_of_the_largest_weight(weights, X):
    """Your answer is the row with the largest weight, and the other rows have no effect. For example, with weights 0.6
    and 0.4, the second row still counts for four tenths: rows 0 and 10 average to 4, not to 0."""
    return X[np.argmax(weights)]


@wrong
def keeps_a_row_axis(weights, X):
    """The numbers are right, but you return a matrix with one row, of shape (1, d). The answer should be a vector of
    shape (d,). Which of your steps adds the extra axis or keeps it?"""
    return (weights[:, None] * X).sum(axis=0, keepdims=True)


@wrong
def softmaxes_the_weights(weights, X):
    """Your answer is the result of passing the weights through a softmax first. The given weights need no softmax: none
    is negative, and they add up to 1. A softmax on top makes them more equal: 0.9 and 0.1 would become 0.69 and
    0.31."""
    e = np.exp(weights - weights.max())
    return e / e.sum() @ X


@wrong
def leaves_out_the_last_row(weights, X):
    """The last row is missing from your answer: however it changes, the result stays the same. If you use a loop or a
    slice, at which row does it end?"""
    return weights[:-1] @ X[:-1]


@wrong
def keeps_only_the_last_term(weights, X):
    """Your answer is the last row times its weight. The earlier rows have no effect. If you use a loop over the rows,
    what does each round do with the total of the rounds before it?"""
    return weights[-1] * X[-1]


@wrong
def first_row_without_its_weight(weights, X):
    """Your sum contains the first row itself, as if its weight were 1. Every row counts with its own weight, the
    first one, too. What does your sum start with?"""
    return X[0] + weights[1:] @ X[1:]


@wrong
def divides_by_the_largest_weight(weights, X):
    """Your answer is the right one divided by the largest weight, as if the weights were scaled so that the largest is
    1. They already add up to 1. For example, if weights of 0.5 and 0.5 are scaled up to 1 and 1, the average of 4 and 6
    becomes 10."""
    return weights / weights.max() @ X


@wrong
def squares_the_weights(weights, X):
    """Each weight counts twice in your answer: a weight of 0.5 would act as 0.25. Then the weights usually add up to
    less than 1, and the average of two equal rows is no longer that row. Where does your code square the weights, or
    use them a second time?"""
    return weights**2 @ X


@wrong
def relative_to_the_last_row(weights, X):
    """Your answer is the weighted average minus the last row. Where does your code subtract that row, and does it add
    the same numbers again at the end? You can also multiply the rows themselves by the weights."""
    return weights @ (X - X[-1])


@wrong
def writes_into_the_rows(weights, X):
    """The answer is right the first time, but your code writes into X, so X has changed. The caller may still need that
    array, and a second call can give another answer. How can you make a new array instead?"""
    X *= weights[:, None]
    return X.sum(axis=0)


wrong = misconceptions_of("hard_lookup")


@wrong
def returns_the_index(q, K, V):
    """You return the index of the best key. That is the right place to look, but a lookup returns the value stored
    there: one row of V."""
    return np.argmax(K @ q)


@wrong
def returns_the_key(q, K, V):
    """You found the best key and returned the key itself. A key only says where to look, like the label on a drawer.
    The answer is the content of the drawer, the value in the same row."""
    return K[np.argmax(K @ q)]


@wrong
def smallest_dot_product(q, K, V):
    """You return the value of the key with the smallest dot product with the query, which is the worst match. A larger
    dot product means a better match. (With distances, a smaller number means a better match.)"""
    return V[np.argmin(K @ q)]


@wrong
def nearest_key(q, K, V):
    """You return the value of the key that is nearest to the query. The nearest key need not have the largest dot
    product. For example, for q = [1, 0], the key [1, 1] is nearer than [3, 0], but their dot products are 1 and 3. This
    exercise uses the dot product."""
    return V[np.argmin(np.linalg.norm(K - q, axis=1))]


@wrong
def cosine_similarity(q, K, V):
    """Your lookup compares the angles between the query and the keys, as if every key had norm 1. For example, for q =
    [1, 0], that prefers the key [1, 0] to [3, 1], although their dot products are 1 and 3. In a dot product, a key's
    norm counts too."""
    return V[np.argmax(K @ q / (np.linalg.norm(K, axis=1) * np.linalg.norm(q) + 1e-12))]


@wrong
def cosine_without_the_norm_of_the_query(q, K, V):
    """Your lookup compares the angles between the query and the keys, as if every key had norm 1. For example, for q =
    [1, 0], that prefers the key [1, 0] to [3, 1], although their dot products are 1 and 3. In a dot product, a key's
    norm counts too."""
    norms = np.sqrt((K**2).sum(axis=1))
    return V[np.argmax(K @ q / np.where(norms > 0, norms, 1.0))]


@wrong
def largest_absolute_dot_product(q, K, V):
    """Your lookup treats a large negative dot product as a good match, but it is a bad one. For example, for q = [1,
    0], the key [-5, 0] scores -5 and points away from the query. So the key [1, 0] with its score of 1 is better."""
    return V[np.argmax(np.abs(K @ q))]


@wrong
def best_score_starts_at_zero(q, K, V):
    """If every key has a negative dot product with the query, you return the first value, whichever key is best. A key
    with score -1 still beats a key with score -2. Does your code compare the scores with 0, for example because its
    "best score so far" starts at 0?"""
    best, found = 0.0, V[0]
    for k, v in zip(K, V, strict=True):
        if k @ q > best:
            best, found = k @ q, v
    return found


@wrong
def largest_single_product(q, K, V):
    """You return the value of the key with the largest single product of two entries. A dot product is the sum of all the
    products of a key. For example, for q = [1, 1], the key [2, 2] scores 4, and [3, 0] only 3."""
    return V[np.argmax((K * q).max(axis=1))]


@wrong
def best_score_never_updated(q, K, V):
    """You return the value of the last key whose score is above the first key's score, even if a key between the two has
    a higher score. If you keep a "best score so far", when does it change?"""
    scores = K @ q
    return V[max(i for i, score in enumerate(scores) if i == 0 or score > scores[0])]


@wrong
def compares_with_the_key_before(q, K, V):
    """You return the value of the last key whose score is above that of the key just before it, even if an earlier key has
    a higher score. If you compare in a loop, does it compare with the best score so far?"""
    scores = K @ q
    return V[max(i for i in range(len(K)) if i == 0 or scores[i] > scores[i - 1])]


@wrong
def last_key_left_out(q, K, V):
    """You never return the value of the last key if there are several, even if this key is the best. Does your loop or
    your slice end one key too early?"""
    return V[np.argmax((K @ q)[: max(len(K) - 1, 1)])]


@wrong
def an_exact_match_first(q, K, V):
    """If a key equals q, your function returns the value of this key. But another key may have a larger dot product
    with q. The best key is the one with the largest dot product, whether or not it equals q."""
    same = np.all(q == K, axis=1)
    return V[np.argmax(same if same.any() else K @ q)]


@wrong
def only_an_exact_match(q, K, V):
    """You return a value only if some key equals the query, and zeros otherwise. A dictionary works like that. This
    lookup should take the best key, even if no key equals the query."""
    for k, v in zip(K, V, strict=True):
        if np.array_equal(k, q):
            return v
    return np.zeros(V.shape[1])


@wrong
def largest_value(q, K, V):
    """Your answer is the row of V with the largest sum, whatever the query and the keys are. The scores of the keys
    should decide instead. Which row of V belongs to the best key?"""
    return V[np.argmax(V.sum(axis=1))]


@wrong
def matches_the_values(q, K, V):
    """You compare the query with the values instead of the keys. That runs without an error only if the values have as
    many columns as the query has entries. Compare the query with the keys, and return a value."""
    return V[np.argmax(V @ q)]


@wrong
def longest_key(q, K, V):
    """Your answer is the value of the key with the largest norm, whatever the query is. A lookup must depend on the
    query: a key's score is its dot product with q, not with itself."""
    return V[np.argmax((K * K).sum(axis=1))]


@wrong
def keeps_a_row_axis_in_the_lookup(q, K, V):
    """You return the right row, but as a matrix with one row, of shape (1, d_v). The answer should be a vector of shape
    (d_v,). Which of your steps adds the extra axis or keeps it? For example, `None` in an index adds an axis, and an
    index that is an array or a slice keeps one."""
    return V[np.argmax(K @ q)][None, :]


@wrong
def column_instead_of_row(q, K, V):
    """You return a column of V instead of a row. A column has one entry for each key, so it mixes parts of all the
    values. In V[a, b], which of the two selects the row, and what are the rows of V.T?"""
    return V[:, np.argmax(K @ q)]


@wrong
def columns_as_keys(q, K, V):
    """You treat the columns of K as the keys, which runs without an error only if K is square. Each key is a row of K.
    Which index of K should the dot product with q sum over?"""
    return V[np.argmax(q @ K)]


@wrong
def value_times_score(q, K, V):
    """You return the right value, but multiplied by its score. The score only decides which value to take. Return the
    value unchanged."""
    scores = K @ q
    return scores.max() * V[np.argmax(scores)]


@wrong
def first_entry_only(q, K, V):
    """Your lookup uses only the first entry of the query and of each key. A dot product multiplies all the entries in
    pairs and adds up the products. For example, for q = [1, 5], the key [0, 1] scores 5 and the key [2, 0] only 2."""
    return V[np.argmax(K[:, 0] * q[0])]


@wrong
def writes_into_the_keys(q, K, V):
    """Your code writes into K, so K has changed. The next lookup would use the wrong keys. How can you make a new array
    instead?"""
    K *= q
    return V[np.argmax(K.sum(axis=1))]


wrong = misconceptions_of("softmax")


@wrong
def no_max_shift(x, axis=-1):
    """Your formula is right on paper, but exp of anything above about 709 is too large for a float64: it becomes inf,
    and inf/inf is nan. If all scores are below about -745, you get 0/0. Only the differences between scores matter, so
    you may subtract one number from all the scores of a slice first. Which number makes exp safe? Does your code
    subtract it before exp?"""
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)


@wrong
def one_sum_without_a_shift(x, axis=-1):
    """Your results are the exps of the whole array, divided by a single sum. But each slice along `axis` should add up
    to 1 by itself: over which numbers does your sum run? And without a shift, exp of a score above about 709 is inf.
    Which number could you subtract from all the scores of a slice before exp?"""
    e = np.exp(x)
    return e / e.sum()


@wrong
def one_maximum_for_the_whole_array(x, axis=-1):
    """Your results are what you get with one maximum for the whole array. It keeps the largest row safe, but a row far
    below it underflows to 0/0. For example, next to a row [2000, 2001], the row [0, 1] becomes nan. Each slice along
    `axis` needs its own maximum: which argument of `max` selects the axis?"""
    e = np.exp(x - x.max())
    return e / e.sum(axis=axis, keepdims=True)


@wrong
def one_sum_for_the_whole_array(x, axis=-1):
    """All the weights of your array together add up to 1, but each slice along `axis` should add up to 1 by itself. For
    example, two equal rows would come to 0.5 each. Which argument of `sum` selects the axis?"""
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum()


@wrong
def largest_size_subtracted(x, axis=-1):
    """You subtract the largest absolute value of each slice. If all its scores are far below 0, that makes them even
    smaller: [-1000, -1001] becomes [-2001, -2002], and every exp is 0. Which score has to become 0?"""
    e = np.exp(x - np.abs(x).max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@wrong
def first_axis_or_last(x, axis=-1):
    """Your code is right for axis=0 and axis=-1, but every other axis counts as the last one. For example, an array of
    shape (2, 3, 2) has axis 1 in the middle. How can you use `axis` as it is?"""
    axis = 0 if axis == 0 else -1
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@wrong
def axis_ignored(x, axis=-1):
    """Your weights add up to 1 along the last axis, whatever `axis` is. For a matrix and axis=0, each column should add
    up to 1. Do all your maxima and sums use `axis` as the caller gave it?"""
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@wrong
def axis_moved_and_not_moved_back(x, axis=-1):
    """If `axis` is not the last axis, your weights are right, but some are in the wrong places. You get the same result
    by moving `axis` to the end and then calling only `reshape`. `reshape` keeps the order of the numbers. Which function
    moves the axis back?"""
    moved = np.moveaxis(x, axis, -1)
    e = np.exp(moved - moved.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True)).reshape(x.shape)


@wrong
def axis_by_reshape_alone(x, axis=-1):
    """Your results are what you get if `reshape` cuts the array into pieces as long as a slice along `axis`. It takes
    the numbers row by row, so a piece need not run along `axis` and may even end in the next row. Which functions move
    an axis, or work along one?"""
    rows = x.reshape(-1, x.shape[axis])
    e = np.exp(rows - rows.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True)).reshape(x.shape)


@wrong
def always_the_first_axis(x, axis=-1):
    """Your weights add up to 1 along axis 0, down the columns, whatever `axis` is. With axis=-1, each row should add up
    to 1. Do all your maxima and sums use `axis` as the caller gave it?"""
    e = np.exp(x - x.max(axis=0, keepdims=True))
    return e / e.sum(axis=0, keepdims=True)


@wrong
def first_axis_unless_told(x, axis=0):
    """Your answer is right if `axis` is given. Without it you use the first axis, but the default should be the last
    one, `axis=-1`. The two are the same only for a vector. Which default does your code set?"""
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@wrong
def always_axis_one(x, axis=-1):
    """Your weights add up to 1 along axis 1, whatever `axis` is. That is the last axis of a matrix, but a vector has no
    axis 1, and in an array with three axes another axis follows. Use `axis` as the caller gave it: -1 always means the
    last one."""
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@wrong
def divides_scores_by_their_sum(x, axis=-1):
    """Your weights are the scores divided by their sum, without exp. A negative score can then make a negative weight.
    Scores of 1 and -1 add up to 0, so you cannot divide by their sum. Which function turns any number into a positive
    one, and do you use its results?"""
    return x / x.sum(axis=axis, keepdims=True)


@wrong
def never_normalises(x, axis=-1):
    """Your numbers have the right proportions, but the largest is always 1, so they usually add up to more than 1.
    Weights are shares of a whole. Which step makes them add up to 1, and does your answer keep its result?"""
    return np.exp(x - x.max(axis=axis, keepdims=True))


@wrong
def divides_by_the_maximum(x, axis=-1):
    """Your results are what you get if you divide the scores by their maximum before exp. That changes the weights: 1
    and 2 would get the same weights as 10 and 20. Which other operation with the maximum keeps exp finite and leaves
    the weights unchanged?"""
    e = np.exp(x / x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@wrong
def subtracts_the_minimum(x, axis=-1):
    """Your results are what you get if you shift the scores so that the smallest is 0. The largest may still be far
    above about 709, where exp becomes inf: for example, [0, 1000] gives nan. Which score has to become 0, so that no exponent
    is positive?"""
    e = np.exp(x - x.min(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@wrong
def subtracts_the_mean(x, axis=-1):
    """Your results are what you get if you shift the scores so that their mean is 0. A score may still be far above the
    mean. For example, [0, 0, 3000] becomes [-1000, -1000, 2000], and exp(2000) is inf. Which score has to become 0, so
    that no exponent is positive?"""
    e = np.exp(x - x.mean(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _clipped_softmax(x, axis, limit):
    e = np.exp(np.clip(x, -limit, limit))
    return e / e.sum(axis=axis, keepdims=True)


@wrong
def clips_the_scores(x, axis=-1):
    """Your softmax treats all scores beyond a limit as equal. For example, 1000 and 2000 get half each, although the
    second should get practically everything. Clipping loses the differences between scores. Which subtraction keeps exp
    finite without losing them, so that you need no clipping?"""
    return _clipped_softmax(x, axis, 500)


@wrong
def clips_the_scores_at_700(x, axis=-1):
    """Your softmax treats all scores beyond a limit as equal. For example, 1000 and 2000 get half each, although the
    second should get practically everything. Clipping loses the differences between scores. Which subtraction keeps exp
    finite without losing them, so that you need no clipping?"""
    return _clipped_softmax(x, axis, 700)


@wrong
def sum_without_kept_axis(x, axis=-1):
    """Your sums have lost the axis that you added along, so the division matches them with the wrong slices. Along
    the last axis of a square matrix, the sum of row i divides column i. For most other matrices, the shapes do not fit.
    How can the sum of a (2, 3) array along axis 1 have shape (2, 1) instead of (2,)?"""
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis)


@wrong
def max_without_kept_axis(x, axis=-1):
    """Your maxima have lost the axis that you took them along, so the subtraction matches them with the wrong slices.
    Along the last axis of a square matrix, row i's maximum is subtracted from column i. For most other matrices, the
    shapes do not fit. How can the maximum of a (2, 3) array along axis 1 have shape (2, 1) instead of (2,)?"""
    e = np.exp(x - x.max(axis=axis))
    return e / e.sum(axis=axis, keepdims=True)


@wrong
def base_two(x, axis=-1):
    """If a score is 1 larger than another, your weight for it is twice as large, so the base is 2. Softmax uses exp, so
    adding 1 to one of two scores multiplies the ratio of their weights by e. Scores 0 and 1 should give 0.27 and 0.73,
    not 0.33 and 0.67."""
    e = np.exp2(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@wrong
def all_to_the_largest(x, axis=-1):
    """You give all the weight to the largest score and 0 to all the others. Softmax replaces that hard choice with a
    gradual one. Scores 1.0 and 1.1 are nearly equal, so their weights should be nearly equal too: 0.475 and 0.525."""
    best = x == x.max(axis=axis, keepdims=True)
    return best / best.sum(axis=axis, keepdims=True)


@wrong
def min_max_scaled(x, axis=-1):
    """Your weights are in proportion to the scores minus their minimum, so the smallest is 0. Equal scores then give
    0/0, and [0, 1] would give [0, 1], although the smaller score should get 0.27. Which function turns any number into
    a positive one?"""
    shifted = x - x.min(axis=axis, keepdims=True)
    return shifted / shifted.sum(axis=axis, keepdims=True)


@wrong
def length_one_instead_of_sum_one(x, axis=-1):
    """Your results have norm 1: their squares add up to 1. The shares themselves should add up to 1. Two equal scores
    should get 0.5 each, not 0.707."""
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / np.sqrt((e * e).sum(axis=axis, keepdims=True))


@wrong
def logarithm_of_the_weights(x, axis=-1):
    """You return the logarithms of the weights, none of which is positive. Which function undoes a logarithm, and do
    you return its result?"""
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


@wrong
def sigmoid(x, axis=-1):
    """Each of your numbers depends only on its own score. That is a sigmoid, and such numbers need not add up to 1. All
    the weights share a total of 1: if one score rises, the weights of all the others must go down."""
    return 0.5 * (1 + np.tanh(x / 2))


@wrong
def softmax_twice(x, axis=-1):
    """Your answer is the softmax of the softmax. The second one gets numbers between 0 and 1, so hardly any difference
    is left. Scores 0 and 10 should give 0.00005 and 0.99995, but your code would give 0.27 and 0.73."""
    for _ in range(2):
        e = np.exp(x - x.max(axis=axis, keepdims=True))
        x = e / e.sum(axis=axis, keepdims=True)
    return x


@wrong
def smallest_score_wins(x, axis=-1):
    """Your largest weight goes to the smallest score, as if the scores had the opposite sign. If you subtract, look at
    the order: is it the score minus the maximum, or the maximum minus the score? Or is there a minus sign in front of
    the exponent?"""
    e = np.exp(x.min(axis=axis, keepdims=True) - x)
    return e / e.sum(axis=axis, keepdims=True)


@wrong
def writes_into_the_scores(x, axis=-1):
    """The answer is right, but your code writes into x, so x has changed. The caller may still need those scores. `x -=
    …` changes the array itself, and so does writing into a view of it, such as a row or `x[:]`. `np.asarray(x)` is x
    itself. `x - …` and `x.copy()` make a new array."""
    x -= x.max(axis=axis, keepdims=True)
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)


@wrong
def error_without_a_shift(x, axis=-1):
    """For scores above about 709, your softmax stops with an OverflowError, because their exp is too large for a float.
    If all scores are below about -745, every exp is 0, and you divide 0 by 0. Only the differences between scores
    matter, so you may subtract one number from all the scores of a slice first. Which number makes exp safe?"""
    e = np.reshape([math.exp(score) for score in np.ravel(x)], np.shape(x))
    return e / e.sum(axis=axis, keepdims=True)


@wrong
def axis_put_back_at_the_end(x, axis=-1):
    """Along the last axis, your softmax is right. `max` and `sum` drop the axis, and your code adds the new one at the end,
    for example with `[..., None]`. Which argument of `max` and `sum` keeps the axis in its place?"""
    e = np.exp(x - x.max(axis=axis)[..., None])
    return e / e.sum(axis=axis)[..., None]


@wrong
def the_first_axis_for_every_axis_but_the_last(x, axis=-1):
    """Along the last axis, your softmax is right. For every other axis, your weights add up to 1 along the first axis. For
    a matrix, that is right. For the middle one of three axes, it is not. Which argument of `max` and `sum` lets you
    name any axis?"""
    axis = -1 if axis in (-1, x.ndim - 1) else 0
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


wrong = misconceptions_of("soft_lookup")


@wrong
def multiplies_by_the_temperature(q, K, V, temperature=1.0):
    """Your temperature works in the wrong direction: a high temperature makes the weights less equal, and a low
    temperature makes them more equal. For example, at temperature 2, scores 2 and 0 should act as 1 and 0, but yours
    act as 4 and 0. Which operation makes differences shrink as the temperature grows?"""
    return softmax(K @ q * temperature) @ V


@wrong
def temperature_after_the_softmax(q, K, V, temperature=1.0):
    """Your answer is the answer for temperature 1, divided by the temperature. So at temperature 2 the weights would
    add up to 0.5, and the mix can fall outside the range of the values. Temperature has to change the proportions of
    the weights: before which step must you divide?"""
    return softmax(K @ q) / temperature @ V


@wrong
def powers_of_weights_at_temperature_1(q, K, V, temperature=1.0):
    """Your weights are the weights for temperature 1, raised to the power 1 / T and normalized again. On paper that
    gives the same weights. But at temperature 1, a key whose score is far behind already has the weight 0, and 0 stays
    0 at any power. Divide the scores by the temperature first."""
    powers = softmax(K @ q) ** (1 / temperature)
    return powers / powers.sum() @ V


@wrong
def temperature_ignored(q, K, V, temperature=1.0):
    """Your answer is the same at every temperature. Near 0 it should be close to the best key's value, and far above 1
    close to the plain mean of the values. Where does your code use `temperature`, and does a later step cancel or lose
    it?"""
    return softmax(K @ q) @ V


@wrong
def temperature_twice(q, K, V, temperature=1.0):
    """The temperature counts twice in your answer: for example, at temperature 3 the scores are divided by 9. Do you use
    it in two places, or its square?"""
    return softmax(K @ q / temperature / temperature) @ V


@wrong
def root_of_the_temperature(q, K, V, temperature=1.0):
    """Your scores are divided by the square root of the temperature: for example, at temperature 4 they are divided by
    2. The formula has no square root. Divide by the temperature itself."""
    return softmax(K @ q / np.sqrt(temperature)) @ V


@wrong
def returns_the_weights(q, K, V, temperature=1.0):
    """You return the weights, one number for each key. They are right, but the lookup should return the mix of the
    values with these weights, of shape (d_v,). Which step mixes the values, and do you return its result?"""
    return softmax(K @ q / temperature)


@wrong
def returns_output_and_weights(q, K, V, temperature=1.0):
    """You return two results, the mix and the weights. Later chapters need both, but this exercise asks only for the
    mix, of shape (d_v,)."""
    weights = softmax(K @ q / temperature)
    return weights @ V, weights


@wrong
def mixes_the_keys(q, K, V, temperature=1.0):
    """The weights are right, but you mix the keys with them, so V has no effect on your answer. Keys decide how much of
    each row to take. Which array contains the rows to take?"""
    return softmax(K @ q / temperature) @ K


@wrong
def matches_the_values_softly(q, K, V, temperature=1.0):
    """Your weights come from comparing the query with the values, so the keys have no effect on them. That runs without
    an error only if the values have as many columns as the query has entries. With which array should you compare the
    query?"""
    return softmax(V @ q / temperature) @ V


@wrong
def scaled_by_the_root_of_d(q, K, V, temperature=1.0):
    """Your scores are divided by the square root of d_k as well as by the temperature. You may know that from
    transformers, and chapter 3 shows when it helps. In this exercise, divide the plain dot product by the temperature
    only."""
    return softmax(K @ q / np.sqrt(len(q)) / temperature) @ V


@wrong
def no_softmax(q, K, V, temperature=1.0):
    """Your answer mixes the values with the scores themselves. Scores may be negative and add up to anything: two
    values of 10 with scores 2 and 3 would make 50. Which function turns scores into weights that add up to 1, and do
    you use its result?"""
    return K @ q / temperature @ V


@wrong
def scores_over_their_sum(q, K, V, temperature=1.0):
    """Your weights are the scores divided by their sum, without exp. A negative score can then make a negative weight,
    and the temperature cancels out. In which exercise above did you write a function that turns any scores into
    weights?"""
    scores = K @ q / temperature
    return scores / scores.sum() @ V


@wrong
def overflows_when_cold(q, K, V, temperature=1.0):
    """Your answer can be nan at low temperatures. For example, a score of 8 at temperature 0.01 is 800, and exp(800) is
    inf. A safe softmax avoids that: which number does it subtract from all the scores before exp? Does your code do the
    same?"""
    e = np.exp(K @ q / temperature)
    return e / e.sum() @ V


@wrong
def best_value_only(q, K, V, temperature=1.0):
    """You return the best key's value at every temperature, as the hard lookup does. The soft lookup mixes in the other
    values too: for example, with weights 0.6 and 0.4, values 0 and 10 make 4."""
    return V[np.argmax(K @ q)]


@wrong
def hard_when_it_is_cold(q, K, V, temperature=1.0):
    """At low temperatures you return only the best key's value. But a low temperature is not yet a hard lookup. For
    example, scores 0.01 apart at temperature 0.02 are 0.5 apart after the division, with weights 0.62 and 0.38. If the
    scores are far enough apart, softmax makes the hard choice by itself."""
    if temperature < 0.1:
        return V[np.argmax(K @ q)]
    return softmax(K @ q / temperature) @ V


@wrong
def mean_when_it_is_hot(q, K, V, temperature=1.0):
    """At high temperatures you return the plain mean of the values. But a high temperature is not infinite. For
    example, scores 0 and 30 at temperature 30 become 0 and 1, with weights 0.27 and 0.73. If the scores are close
    enough, softmax evens out the weights by itself."""
    if temperature > 10:
        return V.mean(axis=0)
    return softmax(K @ q / temperature) @ V


@wrong
def plain_mean_of_the_values(q, K, V, temperature=1.0):
    """Your answer is the plain mean of the values, whatever the query is. At a very high temperature, the right answer
    is close to it, but usually it is not. Do your weights depend on how well each key matches q, and does your mix use
    them?"""
    return V.mean(axis=0)


@wrong
def exps_for_weights(q, K, V, temperature=1.0):
    """Your weights have the right proportions, but the largest alone is 1, so they usually add up to more than 1. For
    example, if all the values are 10, their mix is not 10. Weights are shares of a whole. Which step would make them
    add up to 1, and does your mix use its result?"""
    scores = K @ q / temperature
    return np.exp(scores - scores.max()) @ V


@wrong
def mean_instead_of_sum(q, K, V, temperature=1.0):
    """Your answer is the right one divided by the number of keys. The weights already add up to 1, so you only have to
    add up the weighted values. For example, three equal values of 6 must mix to 6, not to 2."""
    return (softmax(K @ q / temperature)[:, None] * V).mean(axis=0)


@wrong
def never_adds_the_values_up(q, K, V, temperature=1.0):
    """You return each value times its weight, one row for each key. These contributions are right, but the lookup
    should combine them into one vector of shape (d_v,). Which step combines them, and do you return its result?"""
    return softmax(K @ q / temperature)[:, None] * V


@wrong
def mix_keeps_its_old_scale(q, K, V, temperature=1.0):
    """Your result depends on the order of the keys. It is right if the first key has the largest score. Do you keep a
    running maximum? When a larger score comes up, the sum of the exps and the mix of the values both have to shrink by
    the same factor."""
    top, total, mix = -np.inf, 0.0, np.zeros(V.shape[1])
    for score, value in zip(K @ q / temperature, V, strict=True):
        if score > top:
            top, total = score, total * np.exp(top - score)
        total += np.exp(score - top)
        mix = mix + np.exp(score - top) * value
    return mix / total


@wrong
def nearer_keys_weigh_more(q, K, V, temperature=1.0):
    """Your weights depend on the distance between the query and the keys. The nearest key need not have the largest dot
    product. If q = [1, 0], the key [1, 1] is nearer than [3, 0], but their dot products are 1 and 3. Here a score is
    the dot product."""
    return softmax(-np.linalg.norm(K - q, axis=1) / temperature) @ V


@wrong
def cosine_scores(q, K, V, temperature=1.0):
    """Your weights depend on the angle between the query and each key, as if both had norm 1, so no score can be above
    1. In a dot product, the norms count too: if the query's norm doubles, the weights become less equal."""
    norms = np.linalg.norm(K, axis=1) * np.linalg.norm(q) + 1e-12
    return softmax(K @ q / norms / temperature) @ V


@wrong
def columns_as_keys_softly(q, K, V, temperature=1.0):
    """You treat the columns of K as the keys, which runs without an error only if K is square. Each key is a row of K.
    Which index of K should the dot product with q sum over?"""
    return softmax(q @ K / temperature) @ V


@wrong
def mixes_inside_each_value(q, K, V, temperature=1.0):
    """Your weights multiply the columns of V, so you mix the entries inside each value. That runs without an error only
    if V is square. Mix the rows instead. Over which index of V does your product or sum run, and over which one should
    it run?"""
    return V @ softmax(K @ q / temperature)


@wrong
def least_similar_weighs_most(q, K, V, temperature=1.0):
    """Your largest weight goes to the key with the smallest dot product, as if the scores had the opposite sign. A
    larger score means a better match and should give a larger weight."""
    return softmax(-(K @ q) / temperature) @ V


@wrong
def keeps_a_row_axis_in_the_mix(q, K, V, temperature=1.0):
    """The numbers are right, but you return a matrix with one row, of shape (1, d_v). The answer should be a vector of
    shape (d_v,). Which of your steps adds the extra axis or keeps it?"""
    return softmax(q[None, :] @ K.T / temperature) @ V


@wrong
def every_weight_is_one(q, K, V, temperature=1.0):
    """You return the plain sum of all values, so every weight is 1. The softmax of a single score is always 1, whatever
    the score. Does your softmax get the scores of all keys along its axis, and does the sum use its weights?"""
    return V.sum(axis=0)


@wrong
def writes_into_the_values(q, K, V, temperature=1.0):
    """Your code writes into V, so V has changed. The next lookup would use the wrong values. How can you make a new
    array instead?"""
    V *= softmax(K @ q / temperature)[:, None]
    return V.sum(axis=0)


@wrong
def powers_of_the_weights(q, K, V, temperature=1.0):
    """Your weights add up to 1 only at temperature 1. Do you take the weights without a temperature to a power? They
    have the right proportions then, but they need a new sum. It is easier to use the temperature before the softmax."""
    return softmax(K @ q) ** (1 / temperature) @ V


@wrong
def sums_without_a_shift(q, K, V, temperature=1.0):
    """Your answer can be nan at low temperatures. For example, a score of 8 at temperature 0.01 is 800, and exp(800) is
    inf. A safe softmax avoids that: which number does it subtract from all the scores before exp? Does your code do the
    same?"""
    e = np.exp(K @ q / temperature)
    return e @ V / e.sum()


@wrong
def error_when_cold(q, K, V, temperature=1.0):
    """Your lookup stops with an OverflowError at low temperatures. For example, a score of 8 at temperature 0.01 is 800,
    and exp(800) is too large for a float. If all scores are far below zero, every exp is 0, and 0 is divided by 0. Which
    number can you subtract from all the scores first, so that neither happens and no weight changes?"""
    e = [math.exp(score) for score in K @ q / temperature]
    return sum(one / sum(e) * value for one, value in zip(e, V, strict=True))

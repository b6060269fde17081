"""Wrong solutions of chapter 1, one mistake each, with what a student who made it should hear."""

import numpy as np

from autograder.misconception import misconceptions_of
from solutions.ch1_weighted_averaging import softmax

wrong = misconceptions_of("weighted_average")


@wrong
def ignores_the_weights(weights, X):
    """Your answer is the plain mean of the rows: whatever the weights are, it stays the same. With rows 0 and 10 and
    weights 0.9 and 0.1 that would give 5, but nine tenths of the average should come from the 0: it is 1. Where in
    your code do the weights come in?"""
    return X.mean(axis=0)


@wrong
def divides_by_n_as_well(weights, X):
    """Your answer is the right one divided by the number of rows. Weights that add up to 1 have the division in them
    already: 0.5 * 4 + 0.5 * 6 = 5, for example, and dividing by 2 once more would make 2.5, below both values. Which
    step of yours divides, perhaps inside another function?"""
    return (weights[:, None] * X).mean(axis=0)


@wrong
def never_adds_the_rows_up(weights, X):
    """You hand back every row times its weight, n rows in all. Those are the right contributions; a weighted average
    is what they come to together, one row of shape (d,). One step is missing after the multiplication."""
    return weights[:, None] * X


@wrong
def adds_up_each_row(weights, X):
    """You hand back one number for each row of X: each weighted row added up across its columns. That mixes up
    quantities which have nothing to do with each other, such as a height and an age. Columns must stay apart, and rows
    run together: along which axis should the sum go?"""
    return (weights[:, None] * X).sum(axis=1)


@wrong
def adds_up_everything(weights, X):
    """You hand back a single number: everything added up, rows and columns alike. The average of rows is again a row:
    for X of shape (3, 2) the answer has 2 entries. What does a sum do when you do not tell it which axis?"""
    return (weights[:, None] * X).sum()


@wrong
def weighs_the_columns(weights, X):
    """Your weights go to the columns of X: the first weight multiplies the first entry of every row. That works
    without an error only when X is square, and means something else: weights belong to rows. How do shapes (n,) and
    (n, d) line up when NumPy multiplies them, and what shape would make each weight meet its row?"""
    return (weights * X).sum(axis=0)


@wrong
def multiplies_from_the_wrong_side(weights, X):
    """Your answer combines the entries inside each row, one result for each row of X. It runs without an error only
    when X is square. What should be combined are the rows: in a product of a matrix and a vector, which index is
    summed over when the vector stands on the left, and which when it stands on the right?"""
    return X @ weights


@wrong
def row_of_the_largest_weight(weights, X):
    """Your answer is the row with the largest weight, and the other rows leave no trace in it. With weights 0.6 and
    0.4, for example, the second row still has four tenths of the say: rows 0 and 10 average to 4, not to 0."""
    return X[np.argmax(weights)]


@wrong
def keeps_a_row_axis(weights, X):
    """The numbers are right, but they come as a matrix with one row, shape (1, d), and a plain vector of shape (d,) is
    asked for. That extra axis will make trouble wherever the vector is used next. Which step of yours adds it or keeps
    it?"""
    return (weights[:, None] * X).sum(axis=0, keepdims=True)


@wrong
def softmaxes_the_weights(weights, X):
    """Your answer is what comes out when the weights pass through a softmax first. They are weights already: none is
    negative and they add up to 1. A softmax on top flattens them: 0.9 and 0.1 would become 0.69 and 0.31."""
    e = np.exp(weights - weights.max())
    return e / e.sum() @ X


@wrong
def leaves_out_the_last_row(weights, X):
    """The last row is missing from your answer: change it as much as you like and the result stays the same. If you
    count rows in a loop, which number does the count end with?"""
    return weights[:-1] @ X[:-1]


@wrong
def keeps_only_the_last_term(weights, X):
    """Your answer is the last row times its weight, and no earlier row has a part in it. If you go through the rows
    one after the other, each one has to be added to what is there, not put in its place."""
    return weights[-1] * X[-1]


@wrong
def divides_by_the_largest_weight(weights, X):
    """Your answer is too large by one and the same factor: it is what comes out when the largest weight counts as 1.
    The weights add up to 1 as they are, so an average of 4 and 6 lies between 4 and 6; if weights of 0.5 and 0.5 are
    scaled up to 1 and 1, it becomes 10."""
    return weights / weights.max() @ X


@wrong
def squares_the_weights(weights, X):
    """Each weight counts twice in your answer, as if multiplied by itself: a weight of 0.5 would act as 0.25. Then the
    weights no longer add up to 1, and the average of two equal rows is no longer that row. Where do the weights come
    in a second time?"""
    return weights**2 @ X


@wrong
def writes_into_the_rows(weights, X):
    """The answer is right the first time, but X is no longer what it was: your code writes the weighted rows into the
    array it was given. Whoever called you still needs that array, and a second call gives another answer. Make a new
    array instead."""
    X *= weights[:, None]
    return X.sum(axis=0)


wrong = misconceptions_of("hard_lookup")


@wrong
def returns_the_index(q, K, V):
    """You hand back the number of the best key. That is the right place to look, but a lookup returns what is kept
    there: one row of V."""
    return np.argmax(K @ q)


@wrong
def returns_the_key(q, K, V):
    """You found the best key and handed back the key itself. A key only says where to look, like the label on a
    drawer; the answer is what lies in the drawer, the value in the same row."""
    return K[np.argmax(K @ q)]


@wrong
def smallest_dot_product(q, K, V):
    """You return the value whose key has the smallest dot product with the query, the worst match of all. A larger dot
    product means a better match; with distances it would be the other way round."""
    return V[np.argmin(K @ q)]


@wrong
def nearest_key(q, K, V):
    """You return the value of the key that is nearest to the query. Nearest and largest dot product are not the same:
    for q = [1, 0], the key [1, 1] is nearer than the key [3, 0], but their dot products are 1 and 3. The exercise asks
    for the dot product."""
    return V[np.argmin(np.linalg.norm(K - q, axis=1))]


@wrong
def cosine_similarity(q, K, V):
    """Your lookup goes by the angle between the query and the key, as if every key had norm 1. For q = [1, 0] that
    prefers the key [1, 0] to the key [3, 1], though their dot products are 1 and 3. In the dot product, a key's norm
    counts too."""
    return V[np.argmax(K @ q / (np.linalg.norm(K, axis=1) * np.linalg.norm(q) + 1e-12))]


@wrong
def largest_absolute_dot_product(q, K, V):
    """Your lookup takes a key with a large negative dot product for a good match. It is the opposite: for q = [1, 0]
    the key [-5, 0] scores -5 and points away from the query, so [1, 0] with its score of 1 is better."""
    return V[np.argmax(np.abs(K @ q))]


@wrong
def best_score_starts_at_zero(q, K, V):
    """When every key has a negative dot product with the query, you return the first value, whichever key is best. A
    key with score -1 still beats one with score -2. If you keep a "best score so far", what does it start with, and
    can every score be below that?"""
    best, found = 0.0, V[0]
    for k, v in zip(K, V, strict=True):
        if k @ q > best:
            best, found = k @ q, v
    return found


@wrong
def only_an_exact_match(q, K, V):
    """You return a value only if some key equals the query, and zeros otherwise. That is how a dictionary works, and
    it is what this lookup does better: it takes the best key there is, even if no key equals the query."""
    for k, v in zip(K, V, strict=True):
        if np.array_equal(k, q):
            return v
    return np.zeros(V.shape[1])


@wrong
def largest_value(q, K, V):
    """Your answer is the row of V with the largest sum, whatever the query and the keys are. The choice must be made
    among the keys: compare each of them with q, and only then look at V."""
    return V[np.argmax(V.sum(axis=1))]


@wrong
def matches_the_values(q, K, V):
    """You compare the query with the values instead of the keys. That runs without an error only when the values have
    as many columns as the query has entries. The keys are there to be compared, the values to be returned."""
    return V[np.argmax(V @ q)]


@wrong
def longest_key(q, K, V):
    """Your answer is the value of the key with the largest norm, whatever the query is. A lookup must depend on what
    is asked for: each key's score is its dot product with q, not with itself."""
    return V[np.argmax((K * K).sum(axis=1))]


@wrong
def keeps_a_row_axis_in_the_lookup(q, K, V):
    """You return the right row, but as a matrix with one row, shape (1, d_v). A plain vector of shape (d_v,) is asked
    for. What does NumPy do when the index is an array or a slice instead of a single number?"""
    return V[np.argmax(K @ q)][None, :]


@wrong
def column_instead_of_row(q, K, V):
    """You take a column of V where a row is asked for. It has one entry for each key, and mixes bits of all the
    values. In V[a, b], which of the two picks the row?"""
    return V[:, np.argmax(K @ q)]


@wrong
def columns_as_keys(q, K, V):
    """You take the columns of K for the keys. That runs without an error only when K is square. Each key is a row of
    K: which index of K should the dot product with q sum over?"""
    return V[np.argmax(q @ K)]


@wrong
def value_times_score(q, K, V):
    """You return the right value multiplied by its score. The score only decides which value is taken; the value
    itself comes back as it is, the way a book is the same book however well it fits your question."""
    scores = K @ q
    return scores.max() * V[np.argmax(scores)]


@wrong
def first_entry_only(q, K, V):
    """Your lookup goes by the first entry of the query and of each key alone. A dot product multiplies all the entries
    in pairs and adds the products up: for q = [1, 5], the key [0, 1] scores 5 and the key [2, 0] only 2."""
    return V[np.argmax(K[:, 0] * q[0])]


@wrong
def writes_into_the_keys(q, K, V):
    """The answer is right, but K is no longer what it was: your code writes into the array it was given. Whoever asks
    the next question would find the keys spoilt. Make a new array instead."""
    K *= q
    return V[np.argmax(K.sum(axis=1))]


wrong = misconceptions_of("softmax")


@wrong
def no_max_shift(x, axis=-1):
    """Your formula is right on paper, but exp of anything above 709 is too large for a float64: it becomes inf, and
    inf/inf is nan. Scores that are all below -745 end as 0/0. Only the differences between scores matter, so you may
    subtract one number from all the scores of a slice first: which one makes exp safe?"""
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)


@wrong
def one_maximum_for_the_whole_array(x, axis=-1):
    """Your results are what one maximum for the whole array gives. It keeps the largest row safe, but a row far below
    it underflows to 0/0: next to a row [2000, 2001], the row [0, 1] becomes nan. Each slice along `axis` needs its own
    maximum: which argument of `max` says along which axis to look?"""
    e = np.exp(x - x.max())
    return e / e.sum(axis=axis, keepdims=True)


@wrong
def one_sum_for_the_whole_array(x, axis=-1):
    """All the weights of the array together add up to 1, so no row does so by itself: with two equal rows each would
    come to 0.5. Every slice along `axis` is a set of weights of its own: which argument of `sum` says along which axis
    to add?"""
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum()


@wrong
def axis_ignored(x, axis=-1):
    """Your weights add up to 1 along the last axis, whatever `axis` says. For a matrix and axis=0, each column should
    add up to 1. Is `axis` used everywhere that a maximum or a sum is taken?"""
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@wrong
def always_the_first_axis(x, axis=-1):
    """Your weights add up to 1 down the columns, along axis 0, whatever `axis` says. With axis=-1 it is each row that
    should add up to 1. Is `axis` used everywhere that a maximum or a sum is taken?"""
    e = np.exp(x - x.max(axis=0, keepdims=True))
    return e / e.sum(axis=0, keepdims=True)


@wrong
def first_axis_unless_told(x, axis=0):
    """When `axis` is given your answer is right; when it is left out you go along the first axis, and the contract says
    along the last one, `axis=-1`. The two are the same for a vector only. What stands in your `def` line?"""
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@wrong
def always_axis_one(x, axis=-1):
    """Your weights add up to 1 along axis 1, whatever `axis` says. That is the last axis of a matrix, but a vector has
    no axis 1 and an array with three axes has another one behind it. `axis` tells you which one is meant; -1 always is
    the last."""
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@wrong
def divides_scores_by_their_sum(x, axis=-1):
    """Your weights are the scores divided by their sum, with no exp. A score may be negative, and then so is its
    weight; scores of 1 and -1 add up to 0, and nothing can be divided by that. What turns any number into a positive
    one?"""
    return x / x.sum(axis=axis, keepdims=True)


@wrong
def never_normalises(x, axis=-1):
    """Your numbers have the right proportions, but the largest is always 1, so they add up to more than 1. Weights are
    shares of a whole: what do you have to divide by?"""
    return np.exp(x - x.max(axis=axis, keepdims=True))


@wrong
def divides_by_the_maximum(x, axis=-1):
    """Your results are what comes out when the scores are divided by their maximum before exp. That keeps exp small,
    but it changes the weights: 1 and 2 would get the same weights as 10 and 20. Only one operation on all the scores
    changes nothing, and it isn't a division."""
    e = np.exp(x / x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@wrong
def subtracts_the_minimum(x, axis=-1):
    """Your results are those of scores shifted so that the smallest is 0. Then the largest may still be far above 709,
    where exp becomes inf: [0, 1000] gives nan. What has to end up at 0, so that no exponent is positive?"""
    e = np.exp(x - x.min(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@wrong
def subtracts_the_mean(x, axis=-1):
    """Your results are those of scores shifted so that their mean is 0. A score may still lie far above the mean: for
    example, [0, 0, 3000] becomes [-1000, -1000, 2000], and exp(2000) is inf. What has to end up at 0, so that no
    exponent is positive?"""
    e = np.exp(x - x.mean(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@wrong
def clips_the_scores(x, axis=-1):
    """Scores beyond a limit all count alike in your softmax: 1000 and 2000, for example, get half each, though the
    second should take practically everything. Cutting scores off keeps exp finite but loses what sets them apart.
    Moving all of them by the same amount does not."""
    e = np.exp(np.clip(x, -500, 500))
    return e / e.sum(axis=axis, keepdims=True)


@wrong
def sum_without_kept_axis(x, axis=-1):
    """The axis along which you added up has gone from your sums, so the division lines them up with the wrong slices:
    in a square matrix the sum of row i divides column i, and in others the shapes do not fit. How can a sum of a (2,
    3) array along axis 1 come out as (2, 1) instead of (2,)?"""
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis)


@wrong
def max_without_kept_axis(x, axis=-1):
    """The axis along which you took the maximum has gone, so the subtraction lines the maxima up with the wrong
    slices: in a square matrix row i's maximum is taken from column i, and in others the shapes do not fit. How can a
    maximum of a (2, 3) array along axis 1 come out as (2, 1) instead of (2,)?"""
    e = np.exp(x - x.max(axis=axis))
    return e / e.sum(axis=axis, keepdims=True)


@wrong
def base_two(x, axis=-1):
    """Your weights double from one whole score to the next: the base is 2. A softmax uses exp, so one more point of
    score multiplies the weight by e: scores 0 and 1 should give 0.27 and 0.73, not 0.33 and 0.67."""
    e = np.exp2(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@wrong
def all_to_the_largest(x, axis=-1):
    """You give weight 1 to the largest score and 0 to all the others. That is the hard choice which softmax is there
    to soften: scores 1.0 and 1.1 are nearly equal, so their weights should be as well, 0.475 and 0.525."""
    best = x == x.max(axis=axis, keepdims=True)
    return best / best.sum(axis=axis, keepdims=True)


@wrong
def min_max_scaled(x, axis=-1):
    """Your smallest weight is always 0: the scores were stretched to run from 0 up and then divided by their sum.
    Equal scores then end as 0/0, and [0, 1] would give [0, 1] where the smaller score should keep 0.27. What turns any
    number into a positive one?"""
    shifted = x - x.min(axis=axis, keepdims=True)
    return shifted / shifted.sum(axis=axis, keepdims=True)


@wrong
def length_one_instead_of_sum_one(x, axis=-1):
    """Your results have norm 1: their squares add up to 1. Shares have to add up to 1 themselves: two equal scores
    should get 0.5 each, not 0.707."""
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / np.sqrt((e * e).sum(axis=axis, keepdims=True))


@wrong
def logarithm_of_the_weights(x, axis=-1):
    """You hand back the logarithms of the weights, which are all negative. One step is left: what undoes a
    logarithm?"""
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


@wrong
def sigmoid(x, axis=-1):
    """Each of your numbers depends on its own score alone: that is a sigmoid, and nothing makes such numbers add up to
    1. Scores compete for one whole: raise one of them, and the weights of all the others must go down."""
    return 0.5 * (1 + np.tanh(x / 2))


@wrong
def softmax_twice(x, axis=-1):
    """Your answer is the softmax of the softmax. The second one gets numbers between 0 and 1, so hardly any difference
    is left: scores 0 and 10 should give 0.00005 and 0.99995, and would come out as 0.27 and 0.73."""
    for _ in range(2):
        e = np.exp(x - x.max(axis=axis, keepdims=True))
        x = e / e.sum(axis=axis, keepdims=True)
    return x


@wrong
def smallest_score_wins(x, axis=-1):
    """Your largest weight goes to the smallest score: the sign of the scores has been turned round. If you subtract,
    look at the order: is it the score minus the maximum, or the maximum minus the score?"""
    e = np.exp(x.min(axis=axis, keepdims=True) - x)
    return e / e.sum(axis=axis, keepdims=True)


@wrong
def writes_into_the_scores(x, axis=-1):
    """The answer is right, but x is no longer what it was: your code writes into the array it was given. Whoever
    called you may still need those scores. `x -= …` changes the array itself; `x - …` makes a new one."""
    x -= x.max(axis=axis, keepdims=True)
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)


wrong = misconceptions_of("soft_lookup")


@wrong
def multiplies_by_the_temperature(q, K, V, temperature=1.0):
    """Your temperature works the wrong way round: a high one makes the choice harder and a low one softer. At
    temperature 2, for example, scores 2 and 0 should act as 1 and 0; yours act as 4 and 0. What has to happen to the
    scores for differences to shrink as the temperature grows?"""
    return softmax(K @ q * temperature) @ V


@wrong
def temperature_after_the_softmax(q, K, V, temperature=1.0):
    """Your answer is that of temperature 1, divided by the temperature. So the weights would add up to 0.5 at
    temperature 2, and the mix falls outside the range of the values. Temperature has to change how the weights compare
    with each other: at which step is that still open?"""
    return softmax(K @ q) / temperature @ V


@wrong
def temperature_ignored(q, K, V, temperature=1.0):
    """Your answer is the same at every temperature. Near 0 it should be the best key's value, far above 1 close to the
    plain mean of the values. Where does `temperature` come in?"""
    return softmax(K @ q) @ V


@wrong
def temperature_twice(q, K, V, temperature=1.0):
    """The temperature counts twice in your answer: at temperature 3, for example, the scores are divided by 9. Find
    the two places."""
    return softmax(K @ q / temperature / temperature) @ V


@wrong
def root_of_the_temperature(q, K, V, temperature=1.0):
    """Your scores are divided by the square root of the temperature: at temperature 4, for example, by 2. There is no
    root in this lookup; divide by the temperature as it is."""
    return softmax(K @ q / np.sqrt(temperature)) @ V


@wrong
def returns_the_weights(q, K, V, temperature=1.0):
    """You hand back the weights, one number for each key. They are right, but only half of the way: what the lookup
    returns is the mix of the values that they make, of shape (d_v,)."""
    return softmax(K @ q / temperature)


@wrong
def returns_output_and_weights(q, K, V, temperature=1.0):
    """You hand back two things, the mix and the weights. Later chapters will want both; here only the mix is asked
    for, of shape (d_v,)."""
    weights = softmax(K @ q / temperature)
    return weights @ V, weights


@wrong
def mixes_the_keys(q, K, V, temperature=1.0):
    """The weights are right, but you mix the keys with them, so V has no part in your answer. Keys say how much of
    each row to take; what is taken are the values."""
    return softmax(K @ q / temperature) @ K


@wrong
def matches_the_values_softly(q, K, V, temperature=1.0):
    """Your weights come from comparing the query with the values; the keys have no part in them. That runs without an
    error only when the values have as many columns as the query has entries. Which array is there to be compared?"""
    return softmax(V @ q / temperature) @ V


@wrong
def scaled_by_the_root_of_d(q, K, V, temperature=1.0):
    """Your scores are divided by the square root of d_k as well as by the temperature. You may know that from
    transformers, and chapter 3 shows when it helps. This exercise asks for the plain dot product over the
    temperature."""
    return softmax(K @ q / np.sqrt(len(q)) / temperature) @ V


@wrong
def no_softmax(q, K, V, temperature=1.0):
    """Your values are multiplied by the scores themselves. Scores may be negative and add up to anything: two values
    of 10 with scores 2 and 3 would make 50. What turns scores into weights that add up to 1?"""
    return K @ q / temperature @ V


@wrong
def scores_over_their_sum(q, K, V, temperature=1.0):
    """Your weights are the scores divided by their sum, with no exp. A negative score then gets a negative weight, and
    the temperature cancels out altogether. An exercise above asks for the function that turns any scores into weights:
    which one?"""
    scores = K @ q / temperature
    return scores / scores.sum() @ V


@wrong
def overflows_when_cold(q, K, V, temperature=1.0):
    """Your answer is nan at low temperatures: a score of 8 at temperature 0.01, for example, is 800, and exp(800) is
    inf. A safe softmax has no trouble with that: which number does it subtract from all the scores first?"""
    e = np.exp(K @ q / temperature)
    return e / e.sum() @ V


@wrong
def best_value_only(q, K, V, temperature=1.0):
    """You return the best key's value at every temperature: this is the hard lookup again. The soft one mixes in the
    other values too: with weights 0.6 and 0.4, for example, values 0 and 10 make 4."""
    return V[np.argmax(K @ q)]


@wrong
def hard_when_it_is_cold(q, K, V, temperature=1.0):
    """At low temperatures you return the best key's value and nothing else. A low temperature is not yet a hard
    lookup: scores 0.01 apart at temperature 0.02, for example, are 0.5 apart after the division, and their weights are
    0.62 and 0.38. The softmax goes over into the hard choice by itself, where the scores allow it."""
    if temperature < 0.1:
        return V[np.argmax(K @ q)]
    return softmax(K @ q / temperature) @ V


@wrong
def mean_when_it_is_hot(q, K, V, temperature=1.0):
    """At high temperatures you return the plain mean of the values. A high temperature is not yet an infinite one:
    scores 0 and 30 at temperature 30, for example, are 0 and 1 after the division, and their weights are 0.27 and
    0.73. The softmax evens the weights out by itself, where the scores allow it."""
    if temperature > 10:
        return V.mean(axis=0)
    return softmax(K @ q / temperature) @ V


@wrong
def plain_mean_of_the_values(q, K, V, temperature=1.0):
    """Your answer is the plain mean of the values, whatever the query asks. That is right only at a very high
    temperature. Do the weights depend on how well each key matches q?"""
    return V.mean(axis=0)


@wrong
def exps_for_weights(q, K, V, temperature=1.0):
    """Your weights have the right proportions, but they add up to more than 1: the largest alone is 1. So the mix of
    three values of 10, for example, is not 10. Weights are shares of a whole: what do the exps have to be divided
    by?"""
    scores = K @ q / temperature
    return np.exp(scores - scores.max()) @ V


@wrong
def mean_instead_of_sum(q, K, V, temperature=1.0):
    """Your answer is the right one divided by the number of keys. The weights add up to 1 already, so the weighted
    values only have to be added up: three equal values of 6, for example, must mix to 6, not to 2."""
    return (softmax(K @ q / temperature)[:, None] * V).mean(axis=0)


@wrong
def never_adds_the_values_up(q, K, V, temperature=1.0):
    """You hand back each value times its weight, one row for each key. Those are the right contributions; the lookup
    returns what they come to together, one vector of shape (d_v,)."""
    return softmax(K @ q / temperature)[:, None] * V


@wrong
def nearer_keys_weigh_more(q, K, V, temperature=1.0):
    """Your weights go by the distance between the query and the keys. Near and large dot product are not the same: if
    q = [1, 0], the key [1, 1] is nearer than [3, 0], but their dot products are 1 and 3. A score here is the dot
    product."""
    return softmax(-np.linalg.norm(K - q, axis=1) / temperature) @ V


@wrong
def cosine_scores(q, K, V, temperature=1.0):
    """Your weights go by the angle between the query and each key, as if both had norm 1, so no score can be above 1.
    In the dot product, the norms count too: a query of twice the norm makes the choice harder."""
    norms = np.linalg.norm(K, axis=1) * np.linalg.norm(q) + 1e-12
    return softmax(K @ q / norms / temperature) @ V


@wrong
def columns_as_keys_softly(q, K, V, temperature=1.0):
    """You take the columns of K for the keys. That runs without an error only when K is square. Each key is a row of
    K: which index of K should the dot product with q sum over?"""
    return softmax(q @ K / temperature) @ V


@wrong
def mixes_inside_each_value(q, K, V, temperature=1.0):
    """Your weights meet the columns of V, so you mix the entries inside each value. That runs without an error only
    when V is square. It is the rows that have to be mixed: in a product of a matrix and a vector, which index is
    summed over when the vector stands on the left, and which when it stands on the right?"""
    return V @ softmax(K @ q / temperature)


@wrong
def least_similar_weighs_most(q, K, V, temperature=1.0):
    """Your largest weight goes to the key with the smallest dot product: somewhere the sign has been turned round. A
    larger score means a better match and should mean a larger weight."""
    return softmax(-(K @ q) / temperature) @ V


@wrong
def keeps_a_row_axis_in_the_mix(q, K, V, temperature=1.0):
    """The numbers are right, but they come as a matrix with one row, shape (1, d_v), and a plain vector of shape
    (d_v,) is asked for. Did q become a matrix with one row on the way?"""
    return softmax(q[None, :] @ K.T / temperature) @ V


@wrong
def writes_into_the_values(q, K, V, temperature=1.0):
    """The answer is right the first time, but V is no longer what it was: your code writes the weighted values into
    the array it was given, and the next lookup finds them spoilt. Make a new array instead."""
    V *= softmax(K @ q / temperature)[:, None]
    return V.sum(axis=0)

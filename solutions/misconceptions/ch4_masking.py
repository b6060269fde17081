"""Wrong solutions of chapter 4, one mistake each, with what a student who made it should hear."""

import numpy as np

from autograder.misconception import misconceptions_of
from solutions.ch1_weighted_averaging import softmax
from solutions.ch4_masking import masked_softmax

wrong = misconceptions_of("causal_mask")


@wrong
def excludes_itself(n_q, n_k=None):
    """In your mask no query may see the key at its own position. A position's own token is no secret to it, and with
    n_k left out the first query is left with nothing at all to look at. Which comparison also lets equality
    through?"""
    n_k = n_q if n_k is None else n_k
    return np.arange(n_k) < np.arange(n_q)[:, None] + (n_k - n_q)


@wrong
def upper_triangle(n_q, n_k=None):
    """Your mask is the other triangle: each query may see itself and what comes after it, and nothing from before.
    Query 0 of causal_mask(3), for example, should have one True in its row, and yours has three. Which way does the
    comparison between the key's position and the query's go?"""
    n_k = n_q if n_k is None else n_k
    return np.arange(n_k) >= np.arange(n_q)[:, None] + (n_k - n_q)


@wrong
def upper_triangle_from_the_top_left(n_q, n_k=None):
    """Your mask is the upper triangle, from the top left corner: query i may see key i and what comes after it, and nothing
    from before. It is the other triangle that is asked for, the lower one. And the queries are the last n_q positions: with
    more keys than queries, the corner at the top left is not where a triangle begins."""
    n_k = n_q if n_k is None else n_k
    return np.arange(n_k) >= np.arange(n_q)[:, None]


@wrong
def blocked_above_the_top_left_diagonal(n_q, n_k=None):
    """Your mask is True above the diagonal: at the keys that come later. Some libraries mark what is blocked; in this course True
    means "may attend". And the queries are the last n_q positions: with more keys than queries, the diagonal does not begin
    in the corner at the top left."""
    n_k = n_q if n_k is None else n_k
    return np.arange(n_k) > np.arange(n_q)[:, None]


@wrong
def upper_triangle_and_the_key_before(n_q, n_k=None):
    """In your mask each query sees the key just before it, its own and all that come later: the triangle is the upper one, moved
    by one place. What lies to the left of the diagonal has come before and may be seen; what lies to the right may not."""
    n_k = n_q if n_k is None else n_k
    return np.arange(n_k) >= np.arange(n_q)[:, None] - 1


@wrong
def excludes_itself_from_the_top_left(n_q, n_k=None):
    """In your mask no query may see the key at its own position, and the queries stand at the positions 0, 1, 2, ... even when
    there are more keys. A position's own token is no secret to it, and the queries are the last n_q positions."""
    n_k = n_q if n_k is None else n_k
    return np.arange(n_k) < np.arange(n_q)[:, None]


@wrong
def minus_infinity_above_the_top_left(n_q, n_k=None):
    """Your triangle holds 0 and -inf, ready to be added to scores. Here a mask says only who may look: True or False. And the
    queries are the last n_q positions: with more keys than queries, the triangle does not begin in the corner at the top left."""
    n_k = n_q if n_k is None else n_k
    return np.where(np.arange(n_k) > np.arange(n_q)[:, None], -np.inf, 0.0)


@wrong
def upper_triangle_of_ones(n_q, n_k=None):
    """Your mask is the upper triangle, from the top left corner, and holds the numbers 1 and 0. The lower one is asked for: what
    comes before a query may be seen. Make True and False of it: what turns numbers into booleans? And the queries are the
    last n_q positions: with more keys than queries, the corner at the top left is not where a triangle begins."""
    return np.triu(np.ones((n_q, n_q if n_k is None else n_k)))


@wrong
def ones_from_the_top_left(n_q, n_k=None):
    """Your triangle holds the numbers 1 and 0 and not True and False, and your queries stand at the positions 0, 1, 2, ... even when
    there are more keys. What turns numbers into booleans? And the queries are the last n_q positions: how far does each row
    of your triangle have to move to the right?"""
    return np.tri(n_q, n_q if n_k is None else n_k)


@wrong
def true_means_blocked(n_q, n_k=None):
    """Your mask is True exactly where it should be False. Some libraries mark what is blocked; in this course True
    means "may attend", so the last row must be True all along."""
    n_k = n_q if n_k is None else n_k
    return np.arange(n_k) > np.arange(n_q)[:, None] + (n_k - n_q)


@wrong
def aligned_at_the_top_left(n_q, n_k=None):
    """Your queries stand at the positions 0, 1, 2, ... even when there are more keys than queries. They are the last
    n_q positions: in causal_mask(2, 4) the two queries stand at positions 2 and 3, so they see three keys and four.
    How far does each row of your triangle have to move to the right?"""
    return np.tri(n_q, n_q if n_k is None else n_k, dtype=bool)


@wrong
def arguments_exchanged(n_k, n_q=None):
    """Your mask has its two sizes exchanged: causal_mask(2, 4) should have two rows, one for each query, and yours has
    four. While there are as many queries as keys nobody notices. The number of queries is the first argument; rows are
    queries."""
    n_q = n_k if n_q is None else n_q
    return np.tri(n_q, n_k, n_k - n_q, dtype=bool)


@wrong
def one_step_ahead(n_q, n_k=None):
    """Each of your queries sees one key too many: the one just after its own position. That single step is all a model
    needs to read off the next word instead of predicting it. Look at where the diagonal lies: in causal_mask(3) the
    first row has a single True."""
    n_k = n_q if n_k is None else n_k
    return np.arange(n_k) <= np.arange(n_q)[:, None] + (n_k - n_q) + 1


@wrong
def minus_infinity_above(n_q, n_k=None):
    """Your triangle is right, but it holds 0 and -inf, ready to be added to scores. Here a mask says only who may look:
    True or False. What to do with the blocked scores is decided later, in `masked_softmax`."""
    n_k = n_q if n_k is None else n_k
    return np.where(np.tri(n_q, n_k, n_k - n_q, dtype=bool), 0.0, -np.inf)


@wrong
def ones_and_zeros(n_q, n_k=None):
    """Your triangle is right, but it holds the numbers 1 and 0 and not True and False. To NumPy they differ: `~` makes
    False of True, but -2 of 1, and as an index a 1 means "row 1". What turns numbers into booleans, or which argument
    sets the type of a new array?"""
    n_k = n_q if n_k is None else n_k
    return np.tri(n_q, n_k, n_k - n_q)


@wrong
def forgets_the_keys(n_q, n_k=None):
    """Your mask is square even when there are more keys than queries. Its shape is (n_q, n_k): one row for each query,
    one column for each key. Where does n_k come into your code?"""
    return np.tri(n_q, dtype=bool)


@wrong
def a_row_for_every_key(n_q, n_k=None):
    """Your mask has as many rows as there are keys. Only the last n_q positions ask a question: they are the rows. All
    n_k positions can be looked at: they are the columns."""
    return np.tri(n_q if n_k is None else n_k, dtype=bool)


@wrong
def keys_down_queries_across(n_q, n_k=None):
    """Your mask lies on its side: keys down, queries across. Scores have shape (n_q, n_k), and the mask must lie on
    them entry by entry; when both sizes are equal nothing stops with an error, but every query then looks into the
    future."""
    n_k = n_q if n_k is None else n_k
    return (np.arange(n_k) <= np.arange(n_q)[:, None] + (n_k - n_q)).T


@wrong
def nothing_forbidden(n_q, n_k=None):
    """Your mask allows everything, the future too. Only the last query may see all the keys; count the True entries row
    by row: each row should have one more than the row above."""
    return np.ones((n_q, n_q if n_k is None else n_k), dtype=bool)


@wrong
def only_itself(n_q, n_k=None):
    """Each of your queries sees the key at its own position and none before it. Looking back is allowed, looking ahead
    is not: what lies on one side of the diagonal should be True as well."""
    return np.eye(n_q, n_q if n_k is None else n_k, (n_q if n_k is None else n_k) - n_q, dtype=bool)


@wrong
def shifted_the_wrong_way(n_q, n_k=None):
    """When there are more keys than queries your triangle moves to the left, and the first queries may see nothing. The
    queries are the last positions, so they have more behind them, not less: in causal_mask(2, 4) the first query
    stands at position 4 - 2 = 2. Which of the two numbers is taken from the other?"""
    n_k = n_q if n_k is None else n_k
    return np.arange(n_k) <= np.arange(n_q)[:, None] - (n_k - n_q)


@wrong
def needs_to_be_told_n_k(n_q, n_k=None):
    """Your mask is right as long as n_k is given, and stops with an error when it is left out: then n_k is None, which
    is no number. What should n_k be in that case, and where does your code say so?"""
    return np.arange(n_k) <= np.arange(n_q)[:, None] + (n_k - n_q)


@wrong
def with_a_batch_axis(n_q, n_k=None):
    """Your triangle is right, but it has an extra axis in front. A mask of shape (n_q, n_k) fits any batch as it is,
    since NumPy lines axes up from the right; the extra axis only gets in the way when there is no batch."""
    n_k = n_q if n_k is None else n_k
    return np.tri(n_q, n_k, n_k - n_q, dtype=bool)[None]


@wrong
def upside_down(n_q, n_k=None):
    """Your rows are in the opposite order: the first query sees everything and the last one least. Query 0 is the
    earliest of the queries, so its row is the one with the fewest True."""
    n_k = n_q if n_k is None else n_k
    return np.tri(n_q, n_k, n_k - n_q, dtype=bool)[::-1]


wrong = misconceptions_of("padding_mask")


@wrong
def one_key_too_many(lengths, n_k):
    """Each sequence of yours has one key too many: the first piece of padding counts as real. Positions are counted
    from 0, so a sequence of length 3 has keys at 0, 1 and 2; is position 3 still inside?"""
    return np.arange(n_k) <= lengths[:, None, None]


@wrong
def one_key_too_few(lengths, n_k):
    """Each sequence of yours lacks its last real key. A sequence of length 3, for example, has keys at the positions
    0, 1 and 2; yours stops at 1. If you took 1 away somewhere, was it needed?"""
    return np.arange(n_k) < lengths[:, None, None] - 1


@wrong
def marks_the_padding(lengths, n_k):
    """Your mask is True on the padding and False on the real keys. Some libraries have it that way round; in this
    course True means "may attend"."""
    return np.arange(n_k) >= lengths[:, None, None]


@wrong
def counts_from_the_end_of_a_full_row(lengths, n_k):
    """Your mask is right for every sequence that has padding. One without any has nothing to blank at its end, and a
    slice that starts at -0 starts at 0: the whole row is wiped out. Count from the front instead: which positions of a
    row are real?"""
    mask = np.ones((len(lengths), 1, n_k), dtype=bool)
    for row, length in zip(mask, lengths, strict=True):
        row[:, -(n_k - length) :] = False
    return mask


@wrong
def masks_the_queries(lengths, n_k):
    """Your mask has one row for each position and a single column, so it would forbid whole queries to look at
    anything, and leave the padding visible to all others. It is the keys that are padding: their axis is the last
    one."""
    return (np.arange(n_k) < lengths[:, None])[:, :, None]


@wrong
def no_axis_for_the_queries(lengths, n_k):
    """The entries are right, but the axis of length 1 in the middle is missing. With shape (B, n_k) NumPy would lay
    your rows over the queries, since it lines axes up from the right: with scores of shape (B, n_q, n_k) sequence b's
    row would meet query b. Where does a new axis have to go?"""
    return np.arange(n_k) < lengths[:, None]


@wrong
def masks_queries_and_keys(lengths, n_k):
    """Your mask is square for each sequence and blocks rows as well as columns. Padding must not be looked at, that is
    the columns. A row of padding may well look: nobody reads its answer, and a row with nothing to look at is trouble.
    And there may be more or fewer queries than keys: this mask is about keys alone."""
    real = np.arange(n_k) < lengths[:, None]
    return real[:, :, None] & real[:, None, :]


@wrong
def a_row_for_every_position(lengths, n_k):
    """The entries are right, but you repeat them once for each of n_k queries. How many queries there will be is not
    known here. An axis of length 1 fits any number of them: NumPy stretches it by itself."""
    return np.repeat(np.arange(n_k) < lengths[:, None, None], n_k, axis=1)


@wrong
def numbers_for_booleans(lengths, n_k):
    """The places are right, but your mask holds the numbers 1 and 0 and not True and False. To NumPy they differ: `~`
    makes False of True, but -2 of 1, and as an index a 1 means "row 1". A comparison gives booleans by itself."""
    return (np.arange(n_k) < lengths[:, None, None]).astype(float)


@wrong
def minus_infinity_on_padding(lengths, n_k):
    """Your mask holds 0 and -inf, ready to be added to scores. Here a mask says only who may look: True or False. What
    to do with the blocked scores is decided later, in `masked_softmax`."""
    return np.where(np.arange(n_k) < lengths[:, None, None], 0.0, -np.inf)


@wrong
def padding_comes_first(lengths, n_k):
    """Your real keys stand at the end of each sequence and the padding at the start. Some models do pad that way; these
    sequences were padded at the end, so the first `length` keys are the real ones."""
    return np.arange(n_k) >= n_k - lengths[:, None, None]


@wrong
def lengths_count_the_padding(lengths, n_k):
    """Your mask takes a length for the number of padded keys: a sequence of length 1 has all but one key in it. The
    length counts what is real."""
    return np.arange(n_k) < n_k - lengths[:, None, None]


@wrong
def one_length_for_all(lengths, n_k):
    """All the sequences of your batch have the same mask, though their lengths differ: the longest one decides. That
    longest sequence has no padding to hide; the shorter ones do. Each row of the batch needs its own length."""
    return np.repeat(np.arange(n_k)[None, None, :] < lengths.max(), len(lengths), axis=0)


@wrong
def only_the_last_real_key(lengths, n_k):
    """Only one key of each sequence is True in your mask, the last real one. All the real ones may be seen; if you
    compare positions with lengths, ask for more than equality."""
    return np.arange(n_k) == lengths[:, None, None] - 1


@wrong
def as_wide_as_the_longest(lengths, n_k):
    """Your mask is as wide as the longest sequence. Every sequence in the batch has n_k keys, and a batch may be padded
    further than its own longest sequence needs: the last axis has length n_k."""
    return np.arange(lengths.max()) < lengths[:, None, None]


@wrong
def at_least_one_key(lengths, n_k):
    """Your mask lets every sequence keep one key, even one of length 0. That key is padding: whoever looks at it sees
    noise. A row with nothing to look at is a real case, and `masked_softmax` will deal with it."""
    return np.arange(n_k) < np.maximum(lengths, 1)[:, None, None]


@wrong
def room_for_heads(lengths, n_k):
    """The entries are right, but your mask has one axis too many: shape (B, 1, 1, n_k), as models with several heads
    want it. Here it is (B, 1, n_k): a batch axis, one axis for the queries, one for the keys."""
    return (np.arange(n_k) < lengths[:, None])[:, None, None, :]


@wrong
def batch_axis_in_the_middle(lengths, n_k):
    """The entries are right, but your mask has shape (1, B, n_k): the sequences lie along the axis of the queries. Then
    query b would get sequence b's mask. Which place must the new axis have?"""
    return (np.arange(n_k) < lengths[:, None])[None]


@wrong
def counts_the_lengths_down(lengths, n_k):
    """The mask is right, but the lengths are no longer what they were: your code changes the array that it was given.
    `lengths -= 1` writes into the caller's array, and the next one to use it gets other sentences; `lengths - 1` makes a
    new one."""
    lengths -= 1
    return np.arange(n_k) <= lengths[:, None, None]


wrong = misconceptions_of("masked_softmax")


@wrong
def nan_where_nothing_is_allowed(scores, mask):
    """Your weights are right wherever something is allowed, but a row with nothing allowed comes out as nan: with only
    -inf in it the sum of the exps is 0 (or the maximum is -inf, and -inf minus -inf is nan already). Its weights should
    be zeros, and one nan in a batch soon makes everything nan. What could you do about such a row, before or after?"""
    return softmax(np.where(mask, scores, -np.inf))


@wrong
def uniform_where_nothing_is_allowed(scores, mask):
    """Your weights are right wherever something is allowed, but a row with nothing allowed gets equal weights: when all
    its scores are the same very low number, softmax finds them all equally good. So a query that may see nothing sees
    everything. Its weights should be zeros: where could you ask the mask once more?"""
    return softmax(np.where(mask, scores, -1e9))


@wrong
def unmasked_where_nothing_is_allowed(scores, mask):
    """Your weights are right wherever something is allowed, but a row with nothing allowed gets the weights it would
    have without a mask: adding the same number to all of its scores changes nothing in a softmax. Its weights should be
    zeros: where could you ask the mask once more?"""
    return softmax(scores + np.where(mask, 0.0, -1e9))


@wrong
def subtracts_the_mean(scores, mask):
    """Your results are those of scores shifted so that the mean of each row is 0. A score may still lie far above the
    mean: for example, [0, 0, 3000] becomes [-1000, -1000, 2000], and exp(2000) is inf. What has to end up at 0, so
    that no exponent is positive?"""
    e = np.where(mask, np.exp(scores - scores.mean(axis=-1, keepdims=True)), 0.0)
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1.0, total)


@wrong
def masks_after_the_softmax(scores, mask):
    """The forbidden weights are 0, but the allowed ones do not add up to 1: you took the softmax of all the scores and
    crossed the forbidden ones out afterwards, so they still had their share of the sum. With [1, 2, 3] and the last
    one forbidden, for example, yours add up to 0.33. Mask before the softmax, or share out again after it."""
    return np.where(mask, softmax(scores), 0.0)


@wrong
def forbidden_scores_become_zero(scores, mask):
    """A forbidden score counts as 0 in your softmax, whether you multiplied it by the mask or wrote a 0 there. But a
    score of 0 is an ordinary score: exp(0) is 1, more than a score of -3 gets. Which score has an exp of (nearly)
    nothing?"""
    weights = softmax(np.where(mask, scores, 0.0))
    return np.where(mask.any(axis=-1, keepdims=True), weights, 0.0)


@wrong
def allows_the_forbidden(scores, mask):
    """Your weights go to the forbidden places and the allowed ones get 0. In this course True means "may attend"; in
    `np.where(a, b, c)` the entries of b are taken where a is True."""
    return np.where(mask, 0.0, softmax(np.where(mask, -1e9, scores)))


@wrong
def forbidden_scores_count_as_zero(scores, mask):
    """A forbidden score counts as 0 in your softmax, whether you multiplied it by the mask or wrote a 0 there. But a
    score of 0 is an ordinary score: exp(0) is 1, more than a score of -3 gets. Which score has an exp of (nearly)
    nothing? And what should a row be in which nothing is allowed?"""
    return softmax(np.where(mask, scores, 0.0))


@wrong
def fills_the_allowed(scores, mask):
    """You put the very low number where the mask is True, and those are the places that may be looked at. In this
    course True means "may attend"; in `np.where(a, b, c)` the entries of b are taken where a is True."""
    return softmax(np.where(mask, -1e9, scores))


@wrong
def fills_the_allowed_with_minus_infinity(scores, mask):
    """You put minus infinity where the mask is True, and those are the places that may be looked at. In this course
    True means "may attend"; in `np.where(a, b, c)` the entries of b are taken where a is True."""
    return softmax(np.where(mask, -np.inf, scores))


@wrong
def pushes_down_the_allowed(scores, mask):
    """You add the very low number where the mask is True, and those are the places that may be looked at: the mask
    times that number is that number at every True. In this course True means "may attend". Which places should the
    number be added to?"""
    return softmax(scores + mask * -1e9)


@wrong
def hides_every_nan(scores, mask):
    """A row with nothing allowed is fine in your answer, but so is a row in which an allowed score is NaN: every nan is
    turned into 0. Such a NaN means that something went wrong earlier, and now nobody will notice. Say which rows are
    empty by looking at the mask, not at what came out."""
    return np.nan_to_num(softmax(np.where(mask, scores, -np.inf)))


@wrong
def one_nan_spoils_every_row(scores, mask):
    """A NaN in one row of the scores shows in other rows of your answer as well. Each row stands for itself: its weights
    come from its own scores and its own part of the mask. Which step of yours looks at more than one row at a time?"""
    if np.isnan(scores).any():
        return np.full_like(scores, np.nan)
    return np.where(mask, softmax(np.where(mask, scores, -1e9)), 0.0)


@wrong
def lowest_of_all_scores(scores, mask):
    """A NaN in one row of the scores shows in other rows of your answer as well. Each row stands for itself: its weights
    come from its own scores and its own part of the mask. Which step of yours looks at more than one row at a time?"""
    return np.where(mask, softmax(np.where(mask, scores, scores.min() - 1e4)), 0.0)


@wrong
def down_the_columns(scores, mask):
    """In your answer the columns add up to 1. Each row holds the scores of one query, and a query's weights are what
    must add up to 1: along the last axis."""
    axis = -2 if scores.ndim > 1 else -1
    return np.where(mask, softmax(np.where(mask, scores, -1e9), axis=axis), 0.0)


@wrong
def exp_without_a_shift(scores, mask):
    """Your weights are right for small scores, but exp of anything above 709 is inf in float64, and exp of anything
    below -745 is 0: you get nan, or zeros in a row that has something to look at. Chapter 1's softmax takes the
    largest score away first; which scores should compete for being the largest here?"""
    e = np.where(mask, np.exp(scores), 0.0)
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1.0, total)


@wrong
def one_maximum_for_all_rows(scores, mask):
    """You took one maximum for the whole array. That keeps the row with the largest scores safe, but in a row far below
    it every exp becomes 0, and its weights are lost. Each row needs its own maximum: which argument of `max` keeps the
    axis?"""
    e = np.where(mask, np.exp(scores - scores.max()), 0.0)
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1.0, total)


@wrong
def adds_true_as_one(scores, mask):
    """You added the mask to the scores as it is. NumPy takes True for 1 and False for 0, so an allowed score gains 1
    on the forbidden ones and no more: a forbidden place with a high score still wins. What has to be added to a score
    so that its exp is (nearly) nothing?"""
    weights = softmax(scores + mask)
    return np.where(mask.any(axis=-1, keepdims=True), weights, 0.0)


@wrong
def ignores_the_mask_in_the_softmax(scores, mask):
    """Your answer is the plain softmax of all the scores: change the mask and nothing changes. Where in your code does
    the mask come in?"""
    return softmax(scores)


@wrong
def not_low_enough(scores, mask):
    """The number that you put in the place of forbidden scores is not far enough below all the others. Scores may go
    down to -1000, and where the allowed ones do, your forbidden places win or get their share. Take a number that no
    score comes near."""
    weights = softmax(np.where(mask, scores, -100.0))
    return np.where(mask.any(axis=-1, keepdims=True), weights, 0.0)


@wrong
def as_low_as_the_lowest_score(scores, mask):
    """The number that you put in the place of forbidden scores is not far enough below all the others. Scores may go
    down to -1000, and where the allowed ones do, your forbidden places win or get their share. Take a number that no
    score comes near."""
    weights = softmax(np.where(mask, scores, -1000.0))
    return np.where(mask.any(axis=-1, keepdims=True), weights, 0.0)


@wrong
def never_divides(scores, mask):
    """The forbidden places are 0, but your allowed numbers do not add up to 1: each is the exp of a score, and the last
    step of the softmax is missing. What must a row be divided by?"""
    filled = np.where(mask, scores, -1e9)
    return np.where(mask, np.exp(filled - filled.max(axis=-1, keepdims=True)), 0.0)


@wrong
def one_sum_for_all_rows(scores, mask):
    """All your weights together add up to 1, over every row. Each row has its own query, and its weights alone must add
    up to 1: which argument tells `sum` to go along the last axis?"""
    filled = np.where(mask, scores, -1e9)
    e = np.where(mask, np.exp(filled - filled.max(axis=-1, keepdims=True)), 0.0)
    total = e.sum()
    return e / np.where(total == 0, 1.0, total)


@wrong
def equal_shares_of_the_allowed(scores, mask):
    """You share the weight out equally among the allowed places. The mask only says who takes part; how much each of
    them gets is still decided by the scores."""
    allowed = np.where(mask, np.ones_like(scores), 0.0)
    total = allowed.sum(axis=-1, keepdims=True)
    return allowed / np.where(total == 0, 1.0, total)


@wrong
def writes_into_the_scores(scores, mask):
    """The weights are right, but the scores are no longer what they were: your code writes its low numbers into the
    array it was given. `scores[~mask] = …` changes the caller's array; work on a copy, or make a new array."""
    scores[~np.broadcast_to(mask, scores.shape)] = -1e9
    return np.where(mask, softmax(scores), 0.0)


wrong = misconceptions_of("masked_attention")


@wrong
def blocked_scores_become_zero(Q, K, V, mask=None):
    """A forbidden score counts as 0 in your attention, whether you multiplied the scores by the mask or wrote a 0
    there. A score of 0 still gets weight: exp(0) is 1, and if the allowed scores are negative the forbidden key even
    wins. What must a score be so that its weight vanishes?"""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores if mask is None else np.where(mask, scores, 0.0))
    return weights @ V, weights


@wrong
def subtracts_the_mean_here(Q, K, V, mask=None):
    """Your results are those of scores shifted so that the mean of each row is 0. A score may still lie far above the
    mean: for example, [0, 0, 3000] becomes [-1000, -1000, 2000], and exp(2000) is inf. What has to end up at 0, so
    that no exponent is positive?"""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = subtracts_the_mean(scores, np.ones_like(scores, dtype=bool) if mask is None else mask)
    return weights @ V, weights


@wrong
def looks_at_the_forbidden(Q, K, V, mask=None):
    """Each of your queries sees just the keys that it may not see. In this course True means "may attend"; in
    `np.where(a, b, c)` the entries of b are taken where a is True."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores if mask is None else np.where(mask, -1e9, scores))
    return weights @ V, weights


@wrong
def looks_at_the_forbidden_or_at_nothing(Q, K, V, mask=None):
    """Each of your queries sees just the keys that it may not see, and one that may see all of them ends as nan. In this
    course True means "may attend"; in `np.where(a, b, c)` the entries of b are taken where a is True."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores if mask is None else np.where(mask, -np.inf, scores))
    return weights @ V, weights


@wrong
def picks_with_a_mask_of_another_shape(Q, K, V, mask=None):
    """Your attention is right as long as the mask has the very shape of the scores. With a mask that has to be stretched
    it stops: a boolean index such as `scores[~mask]` must have the shape of what it picks from. `np.where` and
    arithmetic stretch a mask by themselves."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores[~mask] = -1e9
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def adds_the_mask_itself(Q, K, V, mask=None):
    """You added the mask to the scores as it is. NumPy takes True for 1 and False for 0, so an allowed score gains 1
    on the forbidden ones and no more: a forbidden key with a high score still wins. What would have to be added
    instead, and where?"""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores if mask is None else scores + mask)
    return weights @ V, weights


@wrong
def ignores_the_mask(Q, K, V, mask=None):
    """Your answer is the same whatever the mask says. Where in your code does it come in? It has its say between the
    scores and the weights."""
    weights = softmax(Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1]))
    return weights @ V, weights


@wrong
def no_scaling(Q, K, V, mask=None):
    """Your scores are not divided by the square root of d_k. The mask changes nothing about that: it is chapter 3's
    attention still, with some of the keys hidden."""
    scores = Q @ np.swapaxes(K, -1, -2)
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights @ V, weights


@wrong
def divides_by_d_k(Q, K, V, mask=None):
    """Your scores are divided by d_k itself. It is the square root that brings their spread back to 1: with d_k = 4,
    for example, divide by 2."""
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1]
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights @ V, weights


@wrong
def root_of_d_v(Q, K, V, mask=None):
    """Your scores are divided by the square root of d_v, the number of entries of a value. Values have no part in the
    scores: it is the number d_k of entries of queries and keys that makes dot products grow."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(V.shape[-1])
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights @ V, weights


@wrong
def root_of_n_k(Q, K, V, mask=None):
    """Your scores are divided by the square root of the number of keys. How many keys there are does not change the
    size of one dot product; how long each key is does."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-2])
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights @ V, weights


@wrong
def crosses_weights_out(Q, K, V, mask=None):
    """Your forbidden weights are 0, but the rest of each row does not add up to 1: the softmax was taken over all the
    keys, and the forbidden ones kept their share of the sum. So they still have a say, by making the others smaller.
    Which step must come first?"""
    weights = softmax(Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1]))
    weights = weights if mask is None else weights * mask
    return weights @ V, weights


@wrong
def low_numbers_among_the_weights(Q, K, V, mask=None):
    """Your weights hold very low numbers (or -inf) at the forbidden places. Such a number belongs among the scores,
    where softmax makes a 0 of it. After the softmax nothing does, and it goes straight into the average."""
    weights = softmax(Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1]))
    weights = weights if mask is None else np.where(mask, weights, -1e9)
    return weights @ V, weights


@wrong
def pair_swapped(Q, K, V, mask=None):
    """Both parts are right, but they come in the wrong order: first the output, then the weights."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights, weights @ V


@wrong
def output_only(Q, K, V, mask=None):
    """You hand back the output alone. The weights are asked for too, as the second of a pair: they show who looked
    where."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights @ V


@wrong
def shows_other_weights_than_it_used(Q, K, V, mask=None):
    """Your output is right, but the weights that you hand back are those without a mask. They should be the very
    weights that made the output: do you have two sets of them, under two names?"""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    return (weights if mask is None else masked_softmax(scores, mask)) @ V, weights


@wrong
def masks_the_weights_but_not_the_output(Q, K, V, mask=None):
    """Your weights are right, but the output was mixed with others, those without a mask: the forbidden values are in
    it. Do you have two sets of weights, under two names?"""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    return weights @ V, weights if mask is None else masked_softmax(scores, mask)


@wrong
def turns_the_mask_over(Q, K, V, mask=None):
    """Your mask works with its rows and columns exchanged: what query i may see of key j is read off row j. With a
    causal mask everybody then looks into the future. The mask lies on the scores as it comes: queries down, keys
    across."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores) if mask is None else masked_softmax(scores, np.swapaxes(mask, -1, -2))
    return weights @ V, weights


@wrong
def softmax_over_the_queries(Q, K, V, mask=None):
    """In your weights the columns add up to 1, one for each key. Every query shares its own attention out among the
    keys: the rows must add up to 1."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores if mask is None else np.where(mask, scores, -1e9), axis=-2)
    return weights @ V, weights


@wrong
def transposes_the_batch(Q, K, V, mask=None):
    """Your attention is right for one sequence, but not for a batch: `.T` turns all the axes round, the batch axis too.
    Only the last two axes of K are to be exchanged; which function takes the two axes by number?"""
    scores = Q @ K.T / np.sqrt(Q.shape[-1])
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights @ V, weights


@wrong
def exactly_one_batch_axis(Q, K, V, mask=None):
    """Your attention works for exactly one batch axis: `transpose` with a fixed list of three axes fits no other number of
    them. Which function swaps the last two, however many come before?"""
    scores = Q @ K.transpose(0, 2, 1) / np.sqrt(Q.shape[-1])
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights @ V, weights


@wrong
def dot_with_every_axis_turned(Q, K, V, mask=None):
    """`.T` turns round all the axes of K, batch axes too, and `np.dot` pairs every batch entry with every other one: both are
    right for plain matrices and for nothing else. Which function exchanges just the last two axes, and which sign goes
    through the batch axes side by side?"""
    scores = np.dot(Q, K.T) / np.sqrt(Q.shape[-1])
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights @ V, weights


@wrong
def dot_twice_with_every_axis_turned(Q, K, V, mask=None):
    """`.T` turns round all the axes of K, batch axes too, and `np.dot` pairs every batch entry with every other one: both are
    right for plain matrices and for nothing else. Which function exchanges just the last two axes, and which sign goes
    through the batch axes side by side?"""
    scores = np.dot(Q, K.T) / np.sqrt(Q.shape[-1])
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return np.dot(weights, V), weights


@wrong
def always_causal(Q, K, V, mask=None):
    """Your attention always hides the future, whatever mask it is given, and even with none. Which keys are hidden is
    the caller's business: a padding mask hides others, and without a mask every key may be seen."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    n_q, n_k = scores.shape[-2:]
    weights = masked_softmax(scores, np.tri(n_q, n_k, n_k - n_q, dtype=bool))
    return weights @ V, weights


@wrong
def no_mask_hides_everything(Q, K, V, mask=None):
    """With a mask your attention is right; without one all the weights are 0. `np.where(None, …)` takes None for
    False, so no mask acts like one that forbids everything. When there is no mask, every key may be seen: say so before
    it is used."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = masked_softmax(scores, mask)
    return weights @ V, weights


@wrong
def no_mask_makes_all_equal(Q, K, V, mask=None):
    """With a mask your attention is right; without one all keys get the same weight. `np.where(None, …)` takes None
    for False, so every score is replaced by the same low number. When there is no mask, every key may be seen and its
    score counts: say so before it is used."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(np.where(mask, scores, -1e9))
    return weights @ V, weights


@wrong
def needs_a_mask(Q, K, V, mask=None):
    """With a mask your attention is right; without one it stops with an error, as None is no array. When there is no
    mask, every key may be seen: which line has to be left out then?"""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores + np.where(mask.astype(bool), 0.0, -1e9))
    return weights @ V, weights


@wrong
def hides_too_little(Q, K, V, mask=None):
    """The number that stands for a forbidden score in your attention is not far enough below the others. Where a
    query's allowed scores are themselves far below zero, the forbidden keys win, or get their share. Scores may go down
    to -1000: take a number that no score comes near."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores if mask is None else np.where(mask, scores, -100.0))
    return weights @ V, weights


@wrong
def hides_at_the_lowest_score(Q, K, V, mask=None):
    """The number that stands for a forbidden score in your attention is not far enough below the others. Where a
    query's allowed scores are themselves far below zero, the forbidden keys win, or get their share. Scores may go down
    to -1000: take a number that no score comes near."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores if mask is None else np.where(mask, scores, -1000.0))
    return weights @ V, weights


@wrong
def attention_without_a_shift(Q, K, V, mask=None):
    """Your attention is right for small scores, but exp of anything above 709 is inf, and then the weights are nan. The
    largest score of each row has to be taken away before the exp, as in chapter 1's softmax."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    e = np.exp(scores) if mask is None else np.where(mask, np.exp(scores), 0.0)
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ V, weights


@wrong
def scales_the_queries_in_place(Q, K, V, mask=None):
    """The answer is right, but Q is no longer what it was: your code divides the array it was given. `Q /= …` changes
    the caller's array, and a second call would scale it once more; `Q / …` makes a new one."""
    Q /= np.sqrt(Q.shape[-1])
    scores = Q @ np.swapaxes(K, -1, -2)
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights @ V, weights


wrong = misconceptions_of("combine_masks")


@wrong
def allows_what_either_allows(causal, padding):
    """Your mask allows what at least one of the two allows. (Between booleans, `+` does that too: True + True is True.)
    Then the padding lets the future in again, and the future the padding. A key may be seen only if both masks say
    so."""
    return causal | padding


@wrong
def counts_the_permissions(causal, padding):
    """Your entries are numbers, 0, 1 and 2: how many of the two masks allow the place. What is wanted is a boolean,
    True where both do. And taken as a mask, your 1 would let through what one of them forbids."""
    return causal.astype(int) + padding.astype(int)


@wrong
def the_padding_wins(causal, padding):
    """Your mask is the padding mask, and the causal one has no part in it: every query sees the future. Both must have
    their say, in every place."""
    return np.repeat(padding, causal.shape[0], axis=1)


@wrong
def the_triangle_wins(causal, padding):
    """Your mask is the causal one for every sequence, and the padding has no part in it: late queries of a short
    sequence look at padding. Both must have their say, in every place."""
    return np.repeat(causal[None], padding.shape[0], axis=0)


@wrong
def allows_what_exactly_one_allows(causal, padding):
    """Your mask is True where the two masks differ, and False where both allow. It should be True exactly where both
    allow."""
    return causal ^ padding


@wrong
def allows_where_they_agree(causal, padding):
    """Your mask is True wherever the two masks say the same, also where both say False: there it lets a query look at
    padding in the future. It should be True only where both allow."""
    return causal == padding


@wrong
def a_product_of_numbers(causal, padding):
    """The places are right, but your mask holds the numbers 1 and 0 and not True and False. A mask is boolean in this
    course: between booleans `*` and `&` both stay boolean, as long as nothing turns them into numbers on the way."""
    return causal.astype(float) * padding


@wrong
def minus_infinity_where_forbidden(causal, padding):
    """Your answer holds 0 and -inf, ready to be added to scores. A mask in this course says only who may look: True or
    False. What to do with the blocked scores is decided in `masked_softmax`."""
    return np.where(causal & padding, 0.0, -np.inf)


@wrong
def marks_what_is_blocked(causal, padding):
    """Your mask is True exactly where it should be False. In this course True means "may attend", in both masks that
    you are given and in the one that you hand back."""
    return ~(causal & padding)


@wrong
def one_mask_for_the_batch(causal, padding):
    """You hand back one mask, without the batch: a key is allowed only if it is real in every sequence. The longer
    sequences then lose real keys. Each sequence has its own mask: the shape is (B, n_q, n_k)."""
    return causal & padding.all(axis=0)


@wrong
def only_the_first_sequence(causal, padding):
    """You hand back one mask, that of the first sequence of the batch. Each sequence has its own padding, so each has
    its own mask: the shape is (B, n_q, n_k)."""
    return causal & padding[0]


@wrong
def queries_before_the_batch(causal, padding):
    """The entries are right, but your axes are in the order (n_q, B, n_k). The batch comes first, as in Q, K and V. How
    do the shapes (n_q, n_k) and (B, 1, n_k) line up when you simply combine them?"""
    return causal[:, None, :] & padding[:, 0, :]


@wrong
def blocks_padded_queries_too(causal, padding):
    """Your mask also blocks the rows of queries that are padding themselves. Nobody reads their answer, so they may
    look where they like; a row with nothing to look at is what should be avoided. And when there are fewer queries
    than keys this rule does not even fit: the padding mask is about keys."""
    return causal & padding & np.swapaxes(padding, -1, -2)


@wrong
def drops_axes_of_length_one(causal, padding):
    """Your answer is right until some size is 1, a single sequence or a single query: then that axis is gone. The shape
    is always (B, n_q, n_k), also for B = 1. Which step throws axes of length 1 away?"""
    return (causal & padding).squeeze()


@wrong
def everybody_sees_itself(causal, padding):
    """Your mask lets every query see its own position even where that is padding. It does avoid rows with nothing to
    look at, but padding is noise and must stay hidden; what becomes of an empty row is settled in `masked_softmax`."""
    n_q, n_k = causal.shape
    return (causal & padding) | np.eye(n_q, n_k, n_k - n_q, dtype=bool)


@wrong
def padding_sticks_to_the_triangle(causal, padding):
    """Your first sentence is right, but then the triangle is no longer what it was: `causal &= …` writes into the array
    that you were given, so each sentence also gets the padding of all those before it. Make a new array for each."""
    found = []
    for sentence in padding:
        causal &= sentence
        found.append(causal.copy())
    return np.stack(found)


@wrong
def writes_into_the_triangle(causal, padding):
    """The answer is right, but the causal mask that you were given is no longer what it was: the last sentence's padding
    has been written into it. Whoever called you still needs the whole triangle. Make a new array instead."""
    found = causal & padding
    causal &= padding[-1]
    return found


wrong = misconceptions_of("is_causal")


@wrong
def says_always_yes(attend, X):
    """Your answer is True whatever `attend` does. If you compare two outputs, are they really two: computed from two
    different arrays, with a change that is large enough to be seen?"""
    return True


@wrong
def says_always_no(attend, X):
    """Your answer is False whatever `attend` does. A later row of the output is allowed to change when an earlier row
    of X does; only rows of the output that come before the change must stay. Which rows do you compare?"""
    return False


@wrong
def says_the_opposite(attend, X):
    """You find the leaks, but your answer is the wrong way round: the name asks "is it causal?", so the answer is False
    when there is a leak."""
    Y = attend(X)
    return not all(np.allclose(attend(X[:t])[:t], Y[:t]) for t in range(1, len(X)))


@wrong
def compares_shapes(attend, X):
    """You compare shapes. An output may have the right shape and still hold the future in every entry, or another
    number of columns and hold none of it. Leaks show in the numbers: change something late in X and see which rows of
    the output notice."""
    return np.shape(attend(X)) == np.shape(X)


@wrong
def only_the_last_token(attend, X):
    """You try the last row of X only: with it changed, or without it. That finds what leaks from there, but not a
    position 0 that peeks at position 1: position 1 is in its future as well. Every position has a future and each needs
    its turn."""
    changed = X.copy()
    changed[-1] += 10.0
    return np.allclose(attend(changed)[:-1], attend(X)[:-1])


@wrong
def looks_one_row_back_only(attend, X):
    """You change one row of X and watch the row just before it. A leak may reach further: position 1 may peek at position 3
    and leave position 2 alone. All the rows of the output before the change have to stay as they were."""
    Y = attend(X)
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t] += 10.0
        if not np.allclose(attend(changed)[t - 1], Y[t - 1]):
            return False
    return True


@wrong
def splits_in_the_middle(attend, X):
    """You divide X once, in the middle, and look whether the second half changes the first. What leaks inside one half,
    from position 1 to position 0 say, stays unseen. Every position is the border between a past and a future: try them
    all."""
    t = len(X) // 2
    changed = X.copy()
    changed[t:] += 10.0
    return np.allclose(attend(changed)[:t], attend(X)[:t])


@wrong
def watches_the_first_row_only(attend, X):
    """You watch row 0 of the output only. It has the most future to leak from, but a leak may sit in a later row: the
    second to last may peek at the last. Which rows of the output come before the rows that you change?"""
    changed = X.copy()
    changed[1:] += 10.0
    return np.allclose(attend(changed)[0], attend(X)[0])


@wrong
def answers_in_the_first_round(attend, X):
    """Only the first comparison decides your answer: whether row 0 notices a change of row 1. If there is a loop, it
    never gets to its second round. `return True` may only come when every round has passed."""
    Y = attend(X)
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t] += 10.0
        return np.allclose(attend(changed)[:t], Y[:t])
    return True


@wrong
def one_clean_row_is_enough(attend, X):
    """You call `attend` causal as soon as one position's change goes unnoticed by the rows before it. A single leak is
    enough to be not causal: it must be all of them, not any."""
    Y = attend(X)
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t] += 10.0
        if np.allclose(attend(changed)[:t], Y[:t]):
            return True
    return False


@wrong
def counts_its_own_position(attend, X):
    """You count it as a leak when row i of the output changes together with row i of X. That is allowed: a position may
    use its own token, only later ones are out of bounds. If you change the rows from t on, which is the first row of
    the output that may notice?"""
    Y = attend(X)
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t:] += 10.0
        if not np.allclose(attend(changed)[: t + 1], Y[: t + 1]):
            return False
    return True


@wrong
def looks_the_wrong_way(attend, X):
    """You change earlier rows of X and forbid later rows of the output to notice. That is the direction in which
    information is meant to flow. Change a later row, and watch the earlier ones."""
    Y = attend(X)
    for t in range(1, len(X)):
        changed = X.copy()
        changed[:t] += 10.0
        if not np.allclose(attend(changed)[t:], Y[t:]):
            return False
    return True


@wrong
def changes_one_feature_only(attend, X):
    """You change one column of X only. A leak may run through any feature: a position may look at another number of a
    later row and at nothing else. Change whole rows."""
    Y = attend(X)
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t:, 0] += 10.0
        if not np.allclose(attend(changed)[:t], Y[:t]):
            return False
    return True


@wrong
def watches_one_feature_only(attend, X):
    """You watch one column of the output only. A leak may end up in any feature of an earlier row: compare whole
    rows."""
    Y = attend(X)
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t:] += 10.0
        if not np.allclose(attend(changed)[:t, 0], Y[:t, 0]):
            return False
    return True


@wrong
def overlooks_small_leaks(attend, X):
    """Your comparison lets small differences pass, and a small leak with them. A model will find it, however faint.
    What leaks in the checks is well above 1e-5, while rounding stays far below that, as for example at 1e-12. How far
    apart may two numbers be in your comparison?"""
    Y = attend(X)
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t:] = 0.0
        if not np.allclose(attend(changed)[:t], Y[:t], atol=0.1):
            return False
    return True


@wrong
def shuffles_the_future(attend, X):
    """You rearrange the later rows of X and look whether earlier outputs notice. A mean does not notice, nor does a
    sum: they are the same in any order, and yet the whole future is in them. Change what the rows hold, not their
    order."""
    Y = attend(X)
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t:] = changed[t:][::-1]
        if not np.allclose(attend(changed)[:t], Y[:t]):
            return False
    return True


@wrong
def compares_an_array_with_itself(attend, X):
    """Your answer is always True, and X is no longer what it was. `X2 = X` gives the same array a second name: what you
    change in one is changed in the other, so you compare an output with itself. What makes an array of its own?"""
    for t in range(1, len(X)):
        changed = X
        changed[t:] += 10.0
        if not np.allclose(attend(changed)[:t], attend(X)[:t]):
            return False
    return True


@wrong
def leaves_the_changes_behind(attend, X):
    """Your answer is right, but X is no longer what it was: you change rows of the array that you were given and leave
    them so. Work on a copy, or put the rows back."""
    Y = attend(X)
    for t in range(len(X) - 1, 0, -1):
        X[t] += 10.0
        if not np.allclose(attend(X)[:t], Y[:t]):
            return False
    return True


@wrong
def returns_the_gap(attend, X):
    """You hand back how much the earlier rows change, a number. The question is one of yes or no: is that number (apart
    from rounding) zero?"""
    Y = attend(X)
    gap = 0.0
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t:] = 0.0
        gap = max(gap, float(np.abs(attend(changed)[:t] - Y[:t]).max()))
    return gap


def _compares(one_number, attend, X):
    Y = attend(X)
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t:] += 10.0
        if not np.isclose(one_number(attend(changed)[:t]), one_number(Y[:t])):
            return False
    return True


@wrong
def compares_a_sum(attend, X):
    """You compare one number made from many: a sum, or a mean. A leak that adds to one feature what it takes from another
    leaves such a number as it was. Compare the rows themselves, entry by entry."""
    return _compares(np.sum, attend, X)


@wrong
def compares_a_length(attend, X):
    """You compare the norms of what comes out, each one number made from many. A leak that turns a row into another
    direction leaves its norm as it was. Compare the rows themselves, entry by entry."""
    return _compares(np.linalg.norm, attend, X)


@wrong
def one_equal_entry_is_enough(attend, X):
    """You take a row for unchanged if some of its entries are. A leak may touch a single feature of a single row: it
    must be all of them that stay, not any."""
    Y = attend(X)
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t:] = 0.0
        if not np.isclose(attend(changed)[:t], Y[:t]).any():
            return False
    return True

"""Wrong solutions of chapter 4. Each function makes one mistake, and its docstring is the message for students who make this mistake."""

import numpy as np

from autograder.misconception import misconceptions_of
from solutions.ch1_weighted_averaging import softmax
from solutions.ch4_masking import masked_attention, masked_softmax

wrong = misconceptions_of("causal_mask")


@wrong
def excludes_itself(n_q, n_k=None):
    """In your mask, no query sees the key at its own position. But it should: a position may see its own token. Without
    n_k, your first query has nothing at all to look at. Which step leaves out this key, for example a comparison
    without equality or the end of a slice?"""
    n_k = n_q if n_k is None else n_k
    return np.arange(n_k) < np.arange(n_q)[:, None] + (n_k - n_q)


@wrong
def upper_triangle(n_q, n_k=None):
    """Your mask is the other triangle: each query sees itself and the later keys, but no earlier ones. For example,
    query 0 of causal_mask(3) should have one True in its row, but yours has three. Which side of the diagonal should be
    True?"""
    n_k = n_q if n_k is None else n_k
    return np.arange(n_k) >= np.arange(n_q)[:, None] + (n_k - n_q)


@wrong
def upper_triangle_from_the_top_left(n_q, n_k=None):
    """Your mask is the upper triangle, from the top left corner. Query i sees key i and the later keys, but no earlier
    ones. You need the lower triangle. Also, the queries are at the last n_q positions, so with more keys than queries
    the triangle does not begin in the top left corner."""
    n_k = n_q if n_k is None else n_k
    return np.arange(n_k) >= np.arange(n_q)[:, None]


@wrong
def blocked_above_the_top_left_diagonal(n_q, n_k=None):
    """Your mask is True above the diagonal, at the later keys. Some libraries mark blocked keys, but in this course
    True means "may attend". Also, the queries are at the last n_q positions, so with more keys than queries the
    diagonal does not begin in the top left corner."""
    n_k = n_q if n_k is None else n_k
    return np.arange(n_k) > np.arange(n_q)[:, None]


@wrong
def upper_triangle_and_the_key_before(n_q, n_k=None):
    """In your mask, each query sees the key just before it, its own key and all later ones. That is the upper triangle,
    moved by one place. Keys to the left of the diagonal are earlier and may be seen, but keys to the right may not."""
    n_k = n_q if n_k is None else n_k
    return np.arange(n_k) >= np.arange(n_q)[:, None] - 1


@wrong
def excludes_itself_from_the_top_left(n_q, n_k=None):
    """In your mask, no query sees the key at its own position, but it should: a position may see its own token. Also,
    your queries are at the positions 0, 1, 2, ... even if there are more keys. They should be at the last n_q
    positions."""
    n_k = n_q if n_k is None else n_k
    return np.arange(n_k) < np.arange(n_q)[:, None]


@wrong
def minus_infinity_above_the_top_left(n_q, n_k=None):
    """Your triangle contains 0 and -inf, ready to be added to scores. Here a mask says only who may look: True or
    False. Also, the queries are at the last n_q positions, so with more keys than queries the triangle does not begin
    in the top left corner."""
    n_k = n_q if n_k is None else n_k
    return np.where(np.arange(n_k) > np.arange(n_q)[:, None], -np.inf, 0.0)


@wrong
def upper_triangle_of_ones(n_q, n_k=None):
    """Your mask is the upper triangle, from the top left corner, with the numbers 1 and 0. You need the lower triangle,
    because a query may see earlier keys. What turns numbers into booleans? Also, the queries are at the last n_q
    positions, so with more keys than queries the triangle does not begin in the top left corner."""
    return np.triu(np.ones((n_q, n_q if n_k is None else n_k)))


@wrong
def ones_from_the_top_left(n_q, n_k=None):
    """Your triangle contains the numbers 1 and 0 instead of True and False. What turns numbers into booleans? Also,
    your queries are at the positions 0, 1, 2, ... even if there are more keys. They should be at the last n_q
    positions: how far must each row of your triangle move to the right?"""
    return np.tri(n_q, n_q if n_k is None else n_k)


@wrong
def true_means_blocked(n_q, n_k=None):
    """Your mask is True exactly when it should be False. Some libraries mark blocked keys, but in this course True
    means "may attend". So the whole last row should be True."""
    n_k = n_q if n_k is None else n_k
    return np.arange(n_k) > np.arange(n_q)[:, None] + (n_k - n_q)


@wrong
def aligned_at_the_top_left(n_q, n_k=None):
    """Your queries are at the positions 0, 1, 2, ... even if there are more keys than queries. They should be at the
    last n_q positions. In causal_mask(2, 4), the two queries should be at positions 2 and 3, so the first query sees
    three keys and the second sees four. How far must each row of your triangle move to the right?"""
    return np.tri(n_q, n_q if n_k is None else n_k, dtype=bool)


@wrong
def arguments_exchanged(n_k, n_q=None):
    """The two sizes of your mask are swapped: causal_mask(2, 4) should have two rows, one for each query, but yours has
    four. With as many queries as keys, nobody can see the difference. The number of queries is the first argument, and
    rows are queries."""
    n_q = n_k if n_q is None else n_q
    return np.tri(n_q, n_k, n_k - n_q, dtype=bool)


@wrong
def one_step_ahead(n_q, n_k=None):
    """All your queries but the last see one key too many, the key just after their own position. With that one key, a
    model can copy the next word instead of predicting it. Look at the diagonal: in causal_mask(3), the first row should have a
    single True."""
    n_k = n_q if n_k is None else n_k
    return np.arange(n_k) <= np.arange(n_q)[:, None] + (n_k - n_q) + 1


@wrong
def minus_infinity_above(n_q, n_k=None):
    """Your triangle is right, but it contains 0 and -inf, ready to be added to scores. Here a mask says only who may
    look: True or False. `masked_softmax` decides later what to do with the blocked scores."""
    n_k = n_q if n_k is None else n_k
    return np.where(np.tri(n_q, n_k, n_k - n_q, dtype=bool), 0.0, -np.inf)


@wrong
def ones_and_zeros(n_q, n_k=None):
    """Your triangle is right, but it contains the numbers 1 and 0 instead of True and False. To NumPy they differ: `~`
    turns True into False, but the whole number 1 into -2, and for floats it raises an error. What turns numbers into
    booleans, or which argument sets the type of a new array?"""
    n_k = n_q if n_k is None else n_k
    return np.tri(n_q, n_k, n_k - n_q)


@wrong
def forgets_the_keys(n_q, n_k=None):
    """Your mask is square even if there are more keys than queries. Its shape should be (n_q, n_k), with one row for
    each query and one column for each key. What does your code do with an n_k that is given?"""
    return np.tri(n_q, dtype=bool)


@wrong
def a_row_for_every_key(n_q, n_k=None):
    """Your mask has as many rows as there are keys. Only the last n_q positions are queries, and they are the rows. All
    n_k positions are keys, and they are the columns."""
    return np.tri(n_q if n_k is None else n_k, dtype=bool)


@wrong
def keys_down_queries_across(n_q, n_k=None):
    """Your mask is transposed: keys down, queries across. Scores have shape (n_q, n_k), and the mask must match them
    entry by entry. If both sizes are equal, you get no error, but each query sees the later keys instead of the earlier ones."""
    n_k = n_q if n_k is None else n_k
    return (np.arange(n_k) <= np.arange(n_q)[:, None] + (n_k - n_q)).T


@wrong
def nothing_forbidden(n_q, n_k=None):
    """Your mask allows everything, even the future. Only the last query may see all the keys. Count the True entries:
    each row should have one more than the row above. A list such as `[row] * n` contains the same row n times, so
    changing one row changes all of them."""
    return np.ones((n_q, n_q if n_k is None else n_k), dtype=bool)


@wrong
def only_itself(n_q, n_k=None):
    """Each of your queries sees only the key at its own position. A query may also look back, but not ahead. Which side
    of the diagonal should be True as well?"""
    return np.eye(n_q, n_q if n_k is None else n_k, (n_q if n_k is None else n_k) - n_q, dtype=bool)


@wrong
def shifted_the_wrong_way(n_q, n_k=None):
    """If there are more keys than queries, your triangle moves to the left, so some or all queries see no key. The
    queries are the last positions, so they should see more keys, not fewer. In causal_mask(2, 4), the first query
    should be at position 4 - 2 = 2. Which of the two numbers should you subtract from the other?"""
    n_k = n_q if n_k is None else n_k
    return np.arange(n_k) <= np.arange(n_q)[:, None] - (n_k - n_q)


@wrong
def needs_to_be_told_n_k(n_q, n_k=None):
    """Your mask is right if n_k is given. Without n_k, you get an error. There should be as many keys as queries then:
    does your code handle this case, and what does the error message say?"""
    return np.arange(n_k) <= np.arange(n_q)[:, None] + (n_k - n_q)


@wrong
def with_a_batch_axis(n_q, n_k=None):
    """Your triangle is right, but it has an extra axis in front. A mask of shape (n_q, n_k) already fits any batch,
    because NumPy lines axes up from the right. Without a batch, the extra axis does not fit the scores."""
    n_k = n_q if n_k is None else n_k
    return np.tri(n_q, n_k, n_k - n_q, dtype=bool)[None]


@wrong
def upside_down(n_q, n_k=None):
    """Your rows are in reverse order: the first query sees the most keys and the last one the fewest. Query 0 is the
    earliest query, so its row should have the fewest True entries."""
    n_k = n_q if n_k is None else n_k
    return np.tri(n_q, n_k, n_k - n_q, dtype=bool)[::-1]


@wrong
def stretched_to_all_keys(n_q, n_k=None):
    """With as many keys as queries, your mask is right. With more keys, the number of allowed keys grows by more than 1
    from query to query, as if the triangle were stretched. The queries are the newest positions, so the last query sees
    all the keys. How many does the query before it see?"""
    n_k = n_q if n_k is None else n_k
    return np.arange(n_k) < ((np.arange(n_q) + 1) * n_k // n_q)[:, None]


wrong = misconceptions_of("padding_mask")


@wrong
def one_key_too_many(lengths, n_k):
    """In a sequence with padding, you allow one key too many: the first padded key counts as real. Positions are
    counted from 0, so a sequence of length 3 has keys at 0, 1 and 2. Is position 3 still inside?"""
    return np.arange(n_k) <= lengths[:, None, None]


@wrong
def one_key_too_few(lengths, n_k):
    """Every sequence that has real keys lacks its last one. For example, a sequence of length 3 has keys at the positions 0,
    1 and 2, but yours stops at 1. From which number do your positions count, and do you subtract 1 somewhere?"""
    return np.arange(n_k) < lengths[:, None, None] - 1


@wrong
def marks_the_padding(lengths, n_k):
    """Your mask is True on the padding and False on the real keys. Some libraries do that, but in this course True
    means "may attend"."""
    return np.arange(n_k) >= lengths[:, None, None]


@wrong
def counts_from_the_end_of_a_full_row(lengths, n_k):
    """Your mask is right for every sequence that has padding, but without padding the whole row is False. Do you count
    from the end? The count is then 0, and -0 is the start of the row. Which positions are real, counted from the
    front?"""
    mask = np.ones((len(lengths), 1, n_k), dtype=bool)
    for row, length in zip(mask, lengths, strict=True):
        row[:, -(n_k - length) :] = False
    return mask


@wrong
def masks_the_queries(lengths, n_k):
    """Your mask has one row for each position and a single column. So it stops whole queries from looking at anything,
    and leaves the padding visible to all other queries. A padding mask should hide keys, not queries: which axis
    belongs to the keys?"""
    return (np.arange(n_k) < lengths[:, None])[:, :, None]


@wrong
def no_axis_for_the_queries(lengths, n_k):
    """The entries are right, but the axis of length 1 in the middle is missing. NumPy lines axes up from the right, so
    with scores of shape (B, n_q, n_k), sequence b's row would apply to query b. At which place do you need a new axis?"""
    return np.arange(n_k) < lengths[:, None]


@wrong
def masks_queries_and_keys(lengths, n_k):
    """Your mask is square for each sequence and blocks rows as well as columns. Only the columns of the padding should
    be blocked. The answers of padded queries are ignored, so these queries may look. Also, there may be more or fewer
    queries than keys, so the mask can depend only on the keys."""
    real = np.arange(n_k) < lengths[:, None]
    return real[:, :, None] & real[:, None, :]


@wrong
def a_row_for_every_position(lengths, n_k):
    """The entries are right, but you repeat them once for each of n_k queries. The number of queries is not known here.
    An axis of length 1 fits any number of them, because NumPy stretches it."""
    return np.repeat(np.arange(n_k) < lengths[:, None, None], n_k, axis=1)


@wrong
def numbers_for_booleans(lengths, n_k):
    """The places are right, but your mask contains the numbers 1 and 0 instead of True and False. To NumPy they differ:
    `~` turns True into False, but the whole number 1 into -2, and for floats it raises an error. A comparison gives
    booleans by itself."""
    return (np.arange(n_k) < lengths[:, None, None]).astype(float)


@wrong
def minus_infinity_on_padding(lengths, n_k):
    """Your mask contains 0 and -inf, ready to be added to scores. Here a mask says only who may look: True or False.
    `masked_softmax` decides later what to do with the blocked scores."""
    return np.where(np.arange(n_k) < lengths[:, None, None], 0.0, -np.inf)


@wrong
def padding_comes_first(lengths, n_k):
    """In your mask, each sequence begins with padding and ends with its real keys. Some models do that, but these
    sequences are padded at the end. So the first `length` keys are real."""
    return np.arange(n_k) >= n_k - lengths[:, None, None]


@wrong
def lengths_count_the_padding(lengths, n_k):
    """You treat a length as the number of padded keys: a sequence of length 1 has all but one key in your mask. The
    length is the number of real keys."""
    return np.arange(n_k) < n_k - lengths[:, None, None]


@wrong
def one_length_for_all(lengths, n_k):
    """All the sequences of your batch have the same mask, that of the longest sequence, although their lengths differ.
    The shorter sequences have more padding to hide. Each row of the batch needs its own length."""
    return np.repeat(np.arange(n_k)[None, None, :] < lengths.max(), len(lengths), axis=0)


@wrong
def first_of_equal_lengths(lengths, n_k):
    """If two sequences have the same length, only the first of them gets its real keys in your mask. The later one has
    no True at all, as if it were empty. Do you look up a sequence by its length, for example with `index`? Use its
    number in the batch instead."""
    mask = np.zeros((len(lengths), 1, n_k), dtype=bool)
    for length in lengths:
        mask[list(lengths).index(length), 0, :length] = True
    return mask


@wrong
def only_the_last_real_key(lengths, n_k):
    """Only one key of each sequence is True in your mask, the last real key. All the real keys may be seen. If you
    compare positions with lengths, which comparison allows more than equality?"""
    return np.arange(n_k) == lengths[:, None, None] - 1


@wrong
def as_wide_as_the_longest(lengths, n_k):
    """Your mask is as wide as the longest sequence. A batch may be padded further than its longest sequence needs, and
    every sequence has n_k keys. So the last axis should have length n_k."""
    return np.arange(lengths.max()) < lengths[:, None, None]


@wrong
def no_padding_after_the_longest(lengths, n_k):
    """The number of positions that you hide is the longest length minus the sequence's own. If the longest length is
    below n_k, every sequence has more padding. Where does the padding of a sequence begin?"""
    missing = np.max(lengths, initial=0) - np.asarray(lengths)
    return (np.arange(n_k) < n_k - missing[:, None])[:, None, :]


@wrong
def at_least_one_key(lengths, n_k):
    """Your mask gives every sequence at least one key, even if its length is 0. That key is padding, which is noise. A
    row with nothing to look at is a real case, and `masked_softmax` handles it."""
    return np.arange(n_k) < np.maximum(lengths, 1)[:, None, None]


@wrong
def room_for_heads(lengths, n_k):
    """The entries are right, but your mask has one axis too many: shape (B, 1, 1, n_k), as in models with several
    heads. Here it should be (B, 1, n_k): one axis each for the batch, the queries and the keys."""
    return (np.arange(n_k) < lengths[:, None])[:, None, None, :]


@wrong
def batch_axis_in_the_middle(lengths, n_k):
    """The entries are right, but your mask has shape (1, B, n_k), so the sequences are along the axis of the queries.
    Then query b would get sequence b's mask. At which place should the new axis be?"""
    return (np.arange(n_k) < lengths[:, None])[None]


@wrong
def counts_the_lengths_down(lengths, n_k):
    """The mask is right, but your code changes `lengths`: its numbers or its shape. For example, `lengths -= 1` writes
    into the caller's array, while `lengths - 1` makes a new one. How can you leave `lengths` as it was?"""
    lengths -= 1
    return np.arange(n_k) <= lengths[:, None, None]


@wrong
def nothing_real_means_all_real(lengths, n_k):
    """Your mask is right, except for a sequence of length 0: you allow all of its keys, but all of them are padding.
    Does an index become negative there? Index -1 selects the last entry and raises no error."""
    return np.tri(n_k, dtype=bool)[lengths - 1][:, None]


wrong = misconceptions_of("masked_softmax")


@wrong
def nan_where_nothing_is_allowed(scores, mask):
    """Your weights are right for every row with an allowed place. A row without an allowed place gives nan, for example
    from 0 / 0 or from -inf minus -inf. Its weights should be zeros. What could you do about such a row, before or after
    the softmax?"""
    return softmax(np.where(mask, scores, -np.inf))


@wrong
def uniform_where_nothing_is_allowed(scores, mask):
    """Your weights are right for every row with an allowed place. A row without an allowed place gets equal weights,
    for example because all its scores become the same number. So a query that may see nothing sees everything. Its
    weights should be zeros: which step could use the mask for that?"""
    return softmax(np.where(mask, scores, -1e9))


@wrong
def unmasked_where_nothing_is_allowed(scores, mask):
    """Your weights are right for every row with an allowed place. A row without an allowed place gets the weights that
    it would have without a mask. For example, adding the same number to all of its scores changes nothing in a softmax.
    Its weights should be zeros: which step could use the mask for that?"""
    return softmax(scores + np.where(mask, 0.0, -1e9))


@wrong
def subtracts_the_mean(scores, mask):
    """Your weights are wrong if a score is far above the number that you subtract from its row, such as the row's mean.
    With the mean, for example, [0, 0, 3000] becomes [-1000, -1000, 2000], and exp(2000) is inf. Which score has to
    become 0, so that no exponent is positive?"""
    e = np.where(mask, np.exp(scores - scores.mean(axis=-1, keepdims=True)), 0.0)
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1.0, total)


@wrong
def no_shift(scores, mask):
    """Your weights are right for small scores. But exp of a score above 710 is inf, and if all allowed scores of a row
    are below -746, its sum is 0. So subtract one number from all the scores of a row, and give exp the result. Which
    number makes exp safe?"""
    e = np.where(mask, np.exp(scores), 0.0)
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(mask.any(axis=-1, keepdims=True), total, 1.0)


@wrong
def no_shift_and_nan_where_nothing_is_allowed(scores, mask):
    """Your weights are right only for a row with an allowed place and no large score. A row without an allowed place
    should get zeros, but the sum of its exps is 0, so you get nan. And exp of a score above about 709 is inf. So
    subtract one number from all the scores of a row, and give exp the result. Which number?"""
    e = np.exp(scores) * mask
    return e / e.sum(axis=-1, keepdims=True)


@wrong
def masks_after_the_softmax(scores, mask):
    """The forbidden weights are 0, but the allowed ones do not add up to 1. The sum by which they are divided also
    contains the exps of the forbidden scores. With [1, 2, 3] and the last score forbidden, for example, your weights
    add up to 0.33. Mask before this sum is made, or divide by the new sum afterwards, unless it is 0."""
    return np.where(mask, softmax(scores), 0.0)


@wrong
def forbidden_scores_become_zero(scores, mask):
    """A forbidden score counts as 0 in your softmax. You may have multiplied it by the mask or replaced it with 0. But
    0 is an ordinary score: exp(0) is 1, more than a score of -3 gets. Which score has an exp of (nearly) 0?"""
    weights = softmax(np.where(mask, scores, 0.0))
    return np.where(mask.any(axis=-1, keepdims=True), weights, 0.0)


@wrong
def allows_the_forbidden(scores, mask):
    """Your weights go to the forbidden places, and the allowed ones get 0. In this course True means "may attend". Where
    the mask is True, `np.where(mask, b, c)` takes the entry of b, and `x[mask] = c` replaces the entry of x."""
    return np.where(mask, 0.0, softmax(np.where(mask, -1e9, scores)))


@wrong
def forbidden_scores_count_as_zero(scores, mask):
    """A forbidden score counts as 0 in your softmax. You may have multiplied it by the mask or replaced it with 0. But
    0 is an ordinary score: exp(0) is 1, more than a score of -3 gets. Which score has an exp of (nearly) 0? And which
    weights should a row have if nothing is allowed?"""
    return softmax(np.where(mask, scores, 0.0))


@wrong
def fills_the_allowed(scores, mask):
    """Your results are what you get with a very low score at every True, but those places are allowed. In this course True
    means "may attend". Where the mask is True, `np.where(mask, b, c)` takes the entry of b, and `x[mask] = c` replaces
    the entry of x."""
    return softmax(np.where(mask, -1e9, scores))


@wrong
def fills_the_allowed_with_minus_infinity(scores, mask):
    """Your results are what you get with a score of minus infinity at every True, but those places are allowed. In this
    course True means "may attend". Where the mask is True, `np.where(mask, b, c)` takes the entry of b, and
    `x[mask] = c` replaces the entry of x."""
    return softmax(np.where(mask, -np.inf, scores))


@wrong
def pushes_down_the_allowed(scores, mask):
    """You add the very low number if the mask is True, but those places are allowed. (If you multiply the mask by that
    number, you get that number at every True.) In this course True means "may attend". To which places should you add
    the number?"""
    return softmax(scores + mask * -1e9)


@wrong
def hides_every_nan(scores, mask):
    """Your answer is right for a row with nothing allowed, but a row with a NaN among its allowed scores gets zeros too.
    Such a NaN means that something went wrong earlier, and now nobody will notice it. Use the mask to find the empty
    rows, not the result."""
    return np.nan_to_num(softmax(np.where(mask, scores, -np.inf)))


@wrong
def one_nan_spoils_every_row(scores, mask):
    """A NaN in one row of the scores affects other rows of your answer as well. Each row is independent: its weights
    depend on its own scores and its own part of the mask. Which of your steps uses more than one row at a time?"""
    if np.isnan(scores).any():
        return np.full_like(scores, np.nan)
    return np.where(mask, softmax(np.where(mask, scores, -1e9)), 0.0)


@wrong
def lowest_of_all_scores(scores, mask):
    """A NaN in one row of the scores affects other rows of your answer as well. Each row is independent: its weights
    depend on its own scores and its own part of the mask. Which of your steps uses more than one row at a time?"""
    return np.where(mask, softmax(np.where(mask, scores, scores.min() - 1e4)), 0.0)


@wrong
def down_the_columns(scores, mask):
    """In your answer the columns add up to 1. Each row contains the scores of one query, and a query's weights should
    add up to 1. Which axis do you need?"""
    axis = -2 if scores.ndim > 1 else -1
    return np.where(mask, softmax(np.where(mask, scores, -1e9), axis=axis), 0.0)


@wrong
def exp_without_a_shift(scores, mask):
    """Your weights are right for scores near 0, but exp of anything above about 709 is inf in float64, and exp of
    anything below about -745 is 0. So you get nan, or zeros in a row with allowed places. Chapter 1's softmax uses exp
    of the scores minus the largest: which scores should count for the maximum here?"""
    e = np.where(mask, np.exp(scores), 0.0)
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1.0, total)


@wrong
def one_maximum_for_all_rows(scores, mask):
    """Your results are what you get with one maximum for several rows. This keeps exp of the largest scores finite, but
    in a row far below the maximum, every exp becomes 0 and the weights are lost. Each row needs its own maximum: which
    arguments of `max` select an axis, and keep it?"""
    e = np.where(mask, np.exp(scores - scores.max()), 0.0)
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1.0, total)


@wrong
def adds_true_as_one(scores, mask):
    """In your softmax, the allowed scores gain only 1 over the forbidden ones. Do you use the mask itself as a number?
    NumPy treats True as 1 and False as 0, so a forbidden place with a high score still wins. How far below the others
    must its score be, so that its exp is (nearly) 0?"""
    weights = softmax(scores + mask)
    return np.where(mask.any(axis=-1, keepdims=True), weights, 0.0)


@wrong
def ignores_the_mask_in_the_softmax(scores, mask):
    """Your answer is the plain softmax of all the scores, whatever the mask is. Where does your code use the mask?"""
    return softmax(scores)


@wrong
def one_more_score_of_zero(scores, mask):
    """The weights of a row with allowed positions add up to less than 1. You get the same weights if each row
    has one more allowed score of 0 and the weight of this score is left out. Which exps belong to your sum?"""
    hidden = np.where(mask, scores, -np.inf)
    top = np.maximum(hidden.max(axis=-1, keepdims=True), 0.0)
    e = np.exp(hidden - top)
    return e / (np.exp(-top) + e.sum(axis=-1, keepdims=True))


@wrong
def not_low_enough(scores, mask):
    """Your replacement for forbidden scores is not far enough below the others. Scores may be as low as -1000. If all
    allowed scores of a row are that low, forbidden places get a share of the weight. Choose a number that is far below
    all scores."""
    weights = softmax(np.where(mask, scores, -100.0))
    return np.where(mask.any(axis=-1, keepdims=True), weights, 0.0)


@wrong
def as_low_as_the_lowest_score(scores, mask):
    """Your replacement for forbidden scores is not far enough below the others. Scores may be as low as -1000. If all
    allowed scores of a row are that low, forbidden places get a share of the weight. Choose a number that is far below
    all scores."""
    weights = softmax(np.where(mask, scores, -1000.0))
    return np.where(mask.any(axis=-1, keepdims=True), weights, 0.0)


@wrong
def never_divides(scores, mask):
    """The forbidden places are 0, but your allowed numbers do not add up to 1. Each is still the exp of a score minus
    the largest one. What must a row of exps be divided by, and does your code divide by that?"""
    filled = np.where(mask, scores, -1e9)
    return np.where(mask, np.exp(filled - filled.max(axis=-1, keepdims=True)), 0.0)


@wrong
def one_sum_for_all_rows(scores, mask):
    """The weights of all your rows together add up to 1. Each row belongs to its own query, and its weights alone
    should add up to 1: which argument of `sum` selects the last axis?"""
    filled = np.where(mask, scores, -1e9)
    e = np.where(mask, np.exp(filled - filled.max(axis=-1, keepdims=True)), 0.0)
    total = e.sum()
    return e / np.where(total == 0, 1.0, total)


@wrong
def equal_shares_of_the_allowed(scores, mask):
    """You divide the weight equally among the allowed places. The mask only decides which places get a weight at all.
    What decides how much each of them gets?"""
    allowed = np.where(mask, np.ones_like(scores), 0.0)
    total = allowed.sum(axis=-1, keepdims=True)
    return allowed / np.where(total == 0, 1.0, total)


@wrong
def writes_into_the_scores(scores, mask):
    """The weights are right, but your code writes into the caller's scores. For example, `scores[~mask] = …` and
    `scores -= …` change the array itself, and so do `np.copyto` and writing into `B` after `B = scores`. Work on a
    copy, or make a new array."""
    scores[~np.broadcast_to(mask, scores.shape)] = -1e9
    return np.where(mask, softmax(scores), 0.0)


wrong = misconceptions_of("masked_attention")


@wrong
def blocked_scores_become_zero(Q, K, V, mask=None):
    """A forbidden score counts as 0 in your attention. You may have multiplied the scores by the mask or replaced them
    with 0 or a number near 0. But exp(0) is 1, and if the allowed scores are negative, the forbidden key even wins.
    Which score makes the weight (nearly) 0?"""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores if mask is None else np.where(mask, scores, 0.0))
    return weights @ V, weights


@wrong
def subtracts_the_mean_here(Q, K, V, mask=None):
    """Your weights are wrong if a score is far above the number that you subtract from its row, such as the row's mean.
    With the mean, for example, [0, 0, 3000] becomes [-1000, -1000, 2000], and exp(2000) is inf. Which score has to
    become 0, so that no exponent is positive?"""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = subtracts_the_mean(scores, np.ones_like(scores, dtype=bool) if mask is None else mask)
    return weights @ V, weights


@wrong
def looks_at_the_forbidden(Q, K, V, mask=None):
    """Your code hides the keys that a query may see, and leaves the others. In this course True means "may attend". Where
    the mask is True, `np.where(mask, b, c)` takes the entry of b, and `x[mask] = c` replaces the entry of x."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores if mask is None else np.where(mask, -1e9, scores))
    return weights @ V, weights


@wrong
def looks_at_the_forbidden_or_at_nothing(Q, K, V, mask=None):
    """Your code hides the keys that a query may see, and leaves the others. A query that may see all keys gives nan. In
    this course True means "may attend". Where the mask is True, `np.where(mask, b, c)` takes the entry of b, and
    `x[mask] = c` replaces the entry of x."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores if mask is None else np.where(mask, -np.inf, scores))
    return weights @ V, weights


@wrong
def picks_with_a_mask_of_another_shape(Q, K, V, mask=None):
    """You get an error for some masks. A boolean index such as `scores[~mask]` must have exactly the sizes of the axes
    that it indexes. `np.where` and arithmetic stretch a mask by themselves."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores[~mask] = -1e9
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def picks_along_the_last_axes(Q, K, V, mask=None):
    """You get an error for some masks. A boolean index such as `scores[~mask]` must have exactly the sizes of the axes
    that it indexes. `np.where` and arithmetic stretch a mask by themselves."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores[..., ~mask] = -1e9
    weights = softmax(scores)
    return weights @ V, weights


@wrong
def turns_the_mask_over_in_place(Q, K, V, mask=None):
    """The answer is right, but your code changes the mask itself. The caller still needs it, and a second call may then
    allow other keys. Make a new mask."""
    output = masked_attention(Q, K, V, mask)
    if mask is not None:
        np.logical_not(mask, out=mask)
    return output


@wrong
def adds_the_mask_itself(Q, K, V, mask=None):
    """In your softmax, the allowed scores gain only 1 over the forbidden ones. Do you use the mask itself as a number?
    NumPy treats True as 1 and False as 0, so a forbidden key with a high score still wins. How far below the others
    must its score be?"""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores if mask is None else scores + mask)
    return weights @ V, weights


@wrong
def ignores_the_mask(Q, K, V, mask=None):
    """Your answer is the same whatever the mask is. The mask should act between the scores and the weights. Where does
    your code use the mask?"""
    weights = softmax(Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1]))
    return weights @ V, weights


@wrong
def no_scaling(Q, K, V, mask=None):
    """The scores in your softmax are not divided by the square root of d_k. This is still chapter 3's attention, only
    with some of the keys hidden. Does your code divide the scores, and does the softmax get the result?"""
    scores = Q @ np.swapaxes(K, -1, -2)
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights @ V, weights


@wrong
def scales_only_with_a_mask(Q, K, V, mask=None):
    """Your attention is right if there is a mask. Without a mask, the scores in your softmax are not divided by the
    square root of d_k. Which scores should the softmax get in both cases?"""
    scores = Q @ np.swapaxes(K, -1, -2)
    weights = softmax(scores) if mask is None else masked_softmax(scores / np.sqrt(Q.shape[-1]), mask)
    return weights @ V, weights


@wrong
def scales_only_without_a_mask(Q, K, V, mask=None):
    """Your attention is right if there is no mask. With a mask, the scores in your softmax are not divided by the
    square root of d_k. Which scores should the softmax get in both cases?"""
    scores = Q @ np.swapaxes(K, -1, -2)
    weights = softmax(scores / np.sqrt(Q.shape[-1])) if mask is None else masked_softmax(scores, mask)
    return weights @ V, weights


@wrong
def directions_only(Q, K, V, mask=None):
    """Your scores do not depend on the lengths of queries and keys, only on their directions. That is cosine similarity.
    Use the dot products as they are, divided by sqrt(d_k)."""
    Q, K = (X / np.maximum(np.linalg.norm(X, axis=-1, keepdims=True), 1e-12) for X in (Q, K))
    return masked_attention(Q * np.sqrt(Q.shape[-1]), K * np.sqrt(Q.shape[-1]), V, mask)


@wrong
def divides_by_d_k(Q, K, V, mask=None):
    """In total, your scores are divided by d_k itself. The square root of d_k brings the spread of the scores back to
    1: with d_k = 4, for example, divide by 2."""
    scores = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1]
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights @ V, weights


@wrong
def root_of_d_v(Q, K, V, mask=None):
    """Your scores are divided by the square root of d_v, the number of entries of a value. But values have no effect on
    the scores. Dot products grow with d_k, the number of entries of queries and keys."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(V.shape[-1])
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights @ V, weights


@wrong
def root_of_n_k(Q, K, V, mask=None):
    """Your scores are divided by the square root of the number of keys. But the size of a dot product depends on the
    number of entries of a key, not on the number of keys. Which axis of K has that size?"""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-2])
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights @ V, weights


@wrong
def crosses_weights_out(Q, K, V, mask=None):
    """Your forbidden weights are 0, but the rest of their row does not add up to 1. The forbidden keys kept their share
    of the sum by which the weights are divided, so the other weights are too small. What must happen before this sum is
    made?"""
    weights = softmax(Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1]))
    weights = weights if mask is None else weights * mask
    return weights @ V, weights


@wrong
def low_numbers_among_the_weights(Q, K, V, mask=None):
    """Your weights contain very low numbers (or -inf) at the forbidden places. Use such numbers for the scores, because
    softmax turns them into weights of 0. After the softmax, such numbers go straight into the average."""
    weights = softmax(Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1]))
    weights = weights if mask is None else np.where(mask, weights, -1e9)
    return weights @ V, weights


@wrong
def pair_swapped(Q, K, V, mask=None):
    """Both parts are right but in the wrong order. Return the output first and the weights second."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights, weights @ V


@wrong
def output_only(Q, K, V, mask=None):
    """You return only the output. Return the weights too, as the second of a pair: they show which keys each query
    attended to."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights @ V


@wrong
def shows_other_weights_than_it_used(Q, K, V, mask=None):
    """Your output is right, but you return the weights without a mask. Return the weights that made the output: do you
    compute two sets of them?"""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    return (weights if mask is None else masked_softmax(scores, mask)) @ V, weights


@wrong
def masks_the_weights_but_not_the_output(Q, K, V, mask=None):
    """Your weights are right, but you made the output with other weights, without a mask, so it contains the forbidden
    values. Do you compute weights twice?"""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    return weights @ V, weights if mask is None else masked_softmax(scores, mask)


@wrong
def turns_the_mask_over(Q, K, V, mask=None):
    """You use the mask transposed: row j decides whether query i may see key j, instead of row i. With a causal mask,
    every query but the last then sees the future. The mask already has the axes of the scores: queries down, keys
    across."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores) if mask is None else masked_softmax(scores, np.swapaxes(mask, -1, -2))
    return weights @ V, weights


@wrong
def softmax_over_the_queries(Q, K, V, mask=None):
    """In your weights, the columns add up to 1, one for each key. Every query should divide its attention among the
    keys, so the rows should add up to 1. Which axis do you need?"""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores if mask is None else np.where(mask, scores, -1e9), axis=-2)
    return weights @ V, weights


@wrong
def mask_taken_apart_like_the_batch(Q, K, V, mask=None):
    """For entry b of the batch, you use entry b of the mask, as if the first axis of the mask were always the batch. A mask
    may have no batch axis, or one of length 1. Then it applies to every entry, and `np.broadcast_to` can stretch it."""
    if Q.ndim == 2:
        return masked_attention(Q, K, V, mask=mask)
    parts = [
        mask_taken_apart_like_the_batch(Q[b], K[b], V[b], None if mask is None else mask[b]) for b in range(len(Q))
    ]
    outputs, weights = zip(*parts, strict=True)
    return np.stack(outputs), np.stack(weights)


@wrong
def transposes_the_batch(Q, K, V, mask=None):
    """Your attention is right for one sequence, but not for a batch: `.T` and a plain `np.transpose` reverse all the
    axes, even the batch axis. Only the last two axes of K should be swapped. Which function swaps two axes that you
    name?"""
    scores = Q @ K.T / np.sqrt(Q.shape[-1])
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights @ V, weights


@wrong
def exactly_one_batch_axis(Q, K, V, mask=None):
    """Your attention works only for exactly one batch axis. For example, `transpose` with a list of three axes needs an
    array with three axes. How can you name the last two axes, however many come before?"""
    scores = Q @ K.transpose(0, 2, 1) / np.sqrt(Q.shape[-1])
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights @ V, weights


@wrong
def dot_with_every_axis_turned(Q, K, V, mask=None):
    """`.T` reverses all the axes of K, batch axes too, and `np.dot` combines every batch entry with every other. Both
    are right only for plain matrices. Which function swaps just the last two axes, and which operator handles each
    batch entry separately?"""
    scores = np.dot(Q, K.T) / np.sqrt(Q.shape[-1])
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights @ V, weights


@wrong
def dot_twice_with_every_axis_turned(Q, K, V, mask=None):
    """`.T` reverses all the axes of K, batch axes too, and `np.dot` combines every batch entry with every other. Both
    are right only for plain matrices. Which function swaps just the last two axes, and which operator handles each
    batch entry separately?"""
    scores = np.dot(Q, K.T) / np.sqrt(Q.shape[-1])
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return np.dot(weights, V), weights


@wrong
def the_first_mask_for_all(Q, K, V, mask=None):
    """You use the mask of the first sequence for the whole batch. If a batch axis of the mask is longer than 1, each
    sequence has its own mask. A mask with the shape (n_q, n_k) is for all of them."""
    mask = True if mask is None else mask.reshape(-1, *mask.shape[-2:])[0]
    weights = masked_softmax(Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1]), mask)
    return weights @ V, weights


@wrong
def always_causal(Q, K, V, mask=None):
    """Your attention always hides the future, whatever the mask is, and even without a mask. The caller decides which
    keys to hide. A padding mask hides other keys, and without a mask, every key may be seen."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    n_q, n_k = scores.shape[-2:]
    weights = masked_softmax(scores, np.tri(n_q, n_k, n_k - n_q, dtype=bool))
    return weights @ V, weights


@wrong
def no_mask_hides_everything(Q, K, V, mask=None):
    """Your attention is right with a mask, but without a mask all the weights are 0, as with a mask that forbids
    everything. Without a mask, every key may be seen. Does your code make a mask of False for None, or use None as a
    mask? `np.where(None, …)` treats None as False."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = masked_softmax(scores, mask)
    return weights @ V, weights


@wrong
def no_mask_makes_all_equal(Q, K, V, mask=None):
    """Your attention is right with a mask, but without a mask all keys get the same weight, as if every score were
    replaced with the same low number. Without a mask, every key may be seen, and its score counts. Does your code make a
    mask of False for None, or use None as a mask? `np.where(None, …)` treats None as False."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(np.where(mask, scores, -1e9))
    return weights @ V, weights


@wrong
def needs_a_mask(Q, K, V, mask=None):
    """Your attention is right with a mask. Without a mask you get an error, because None is not an array. Without a
    mask, every key may be seen: which line should your code skip then?"""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores + np.where(mask.astype(bool), 0.0, -1e9))
    return weights @ V, weights


@wrong
def hides_too_little(Q, K, V, mask=None):
    """Your replacement for forbidden scores is not far enough below the others. If a query's allowed scores are far
    below zero too, forbidden keys get a share of the weight. After the division by sqrt(d_k), scores may be as low as
    -1000. The replacement must then be far below all of them."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores if mask is None else np.where(mask, scores, -100.0))
    return weights @ V, weights


@wrong
def hides_at_the_lowest_score(Q, K, V, mask=None):
    """Your replacement for forbidden scores is not far enough below the others. If a query's allowed scores are far
    below zero too, forbidden keys get a share of the weight. After the division by sqrt(d_k), scores may be as low as
    -1000. The replacement must then be far below all of them."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    weights = softmax(scores if mask is None else np.where(mask, scores, -1000.0))
    return weights @ V, weights


@wrong
def attention_without_a_shift(Q, K, V, mask=None):
    """Your attention is right for scores near 0, but exp of anything above about 709 is inf, and then the weights are
    nan. So subtract the largest score of each row, and give exp the result, as in chapter 1's softmax."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    e = np.exp(scores) if mask is None else np.where(mask, np.exp(scores), 0.0)
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ V, weights


@wrong
def scales_the_queries_in_place(Q, K, V, mask=None):
    """Your code changes Q itself. For example, `Q /= …` writes into the caller's array, and a second call would scale
    it again. `Q / …` makes a new array."""
    Q /= np.sqrt(Q.shape[-1])
    scores = Q @ np.swapaxes(K, -1, -2)
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights @ V, weights


@wrong
def weights_in_the_first_places(Q, K, V, mask=None):
    """The weights of a query's allowed keys are right, but they are in the first places of its row instead of the places
    of these keys. So a weight may meet the value of another key. To which columns does each weight belong?"""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    allowed = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros(scores.shape)
    for row in np.ndindex(*scores.shape[:-1]):
        if allowed[row].any():
            weights[row][: allowed[row].sum()] = softmax(scores[row][allowed[row]])
    return weights @ V, weights


@wrong
def only_the_output_is_normalized(Q, K, V, mask=None):
    """Your output is right, but the weights that you return do not add up to 1 in a row with forbidden keys. They are
    the weights of all keys, with 0 for the forbidden ones. Divide each row by its sum before you use and return it."""
    weights = softmax(Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1]))
    weights = weights if mask is None else weights * mask
    return weights @ V / weights.sum(axis=-1, keepdims=True), weights


wrong = misconceptions_of("combine_masks")


@wrong
def allows_what_either_allows(causal, padding):
    """Your mask allows a key if at least one of the two masks allows it. (Between booleans, `+` does that too.) So the
    padding mask lets the future in, and the causal mask lets padding in. A key may be seen only if both masks allow
    it."""
    return causal | padding


@wrong
def counts_the_permissions(causal, padding):
    """Your entries are the numbers 0, 1 and 2: how many of the two masks allow the place. Return booleans instead, True
    if both allow it. As a mask, your 1 would allow a place that one of the masks forbids."""
    return causal.astype(int) + padding.astype(int)


@wrong
def the_padding_wins(causal, padding):
    """Your mask is the padding mask. The causal mask has no effect, so queries see the future. Both masks should count,
    in every place."""
    return np.repeat(padding, causal.shape[0], axis=1)


@wrong
def the_triangle_wins(causal, padding):
    """Your mask is the causal mask for every sequence. The padding mask has no effect, so late queries of a short
    sequence look at padding. Both masks should count, in every place."""
    return np.repeat(causal[None], padding.shape[0], axis=0)


@wrong
def allows_what_exactly_one_allows(causal, padding):
    """Your mask is True if the two masks differ, and False if both allow the place. It should be True exactly if both
    allow it."""
    return causal ^ padding


@wrong
def allows_where_they_agree(causal, padding):
    """Your mask is True if the two masks are equal, even if both are False. There it lets a query look at padding in
    the future. It should be True only if both allow the place."""
    return causal == padding


@wrong
def a_product_of_numbers(causal, padding):
    """The places are right, but your mask contains the numbers 1 and 0 instead of True and False. In this course a mask
    is boolean. Between booleans, `*` and `&` both give booleans, so where do the numbers come from?"""
    return causal.astype(float) * padding


@wrong
def minus_infinity_where_forbidden(causal, padding):
    """Your answer contains 0 and -inf, ready to be added to scores. In this course, a mask says only who may look: True
    or False. `masked_softmax` decides what to do with the blocked scores."""
    return np.where(causal & padding, 0.0, -np.inf)


@wrong
def marks_what_is_blocked(causal, padding):
    """Your mask is True exactly when it should be False. In this course True means "may attend", in the two given masks
    and in the one you return."""
    return ~(causal & padding)


@wrong
def one_mask_for_the_batch(causal, padding):
    """You return one mask without the batch, which allows a key only if it is real in every sequence. So the longer
    sequences lose real keys. Each sequence needs its own mask: the shape is (B, n_q, n_k)."""
    return causal & padding.all(axis=0)


@wrong
def one_mask_for_every_sequence(causal, padding):
    """You use the same mask for every sequence. It allows a key only if this key is real in all the sequences, so the
    longer sequences lose real keys. Which axis of `padding` is the batch, and should anything be combined along it?"""
    return np.repeat((causal & padding.all(axis=0))[None], len(padding), axis=0)


@wrong
def only_the_first_sequence(causal, padding):
    """You return only the mask of the first sequence of the batch. Each sequence has its own padding, so it needs its
    own mask: the shape is (B, n_q, n_k)."""
    return causal & padding[0]


@wrong
def queries_before_the_batch(causal, padding):
    """The entries are right, but your axes are in the order (n_q, B, n_k). The batch should come first, as in Q, K and
    V. How do the shapes (n_q, n_k) and (B, 1, n_k) line up if you simply combine them?"""
    return causal[:, None, :] & padding[:, 0, :]


@wrong
def a_triangle_of_its_own(causal, padding):
    """Your result does not depend on the values in `causal`. It always hides the future, as `causal_mask` does. But the
    caller may allow and forbid other keys. Where does your code use the values of `causal`, and not only its shape?"""
    n_q, n_k = causal.shape
    return np.tri(n_q, n_k, n_k - n_q, dtype=bool) & padding


@wrong
def blocks_padded_queries_too(causal, padding):
    """Your mask also blocks the rows of padded queries. Their answers are ignored, so they may look anywhere, and a row
    with nothing to look at should be avoided. If there are fewer queries than keys, your rule does not even fit: the
    padding mask is about keys."""
    return causal & padding & np.swapaxes(padding, -1, -2)


@wrong
def drops_axes_of_length_one(causal, padding):
    """Your answer is right unless some size is 1, such as a single sequence or a single query: then that axis is gone.
    The shape should always be (B, n_q, n_k), even if B = 1. Which step removes axes of length 1?"""
    return (causal & padding).squeeze()


@wrong
def as_many_keys_as_queries(causal, padding):
    """Your code takes the number of queries for the number of keys, so your mask is square for each sequence. There may
    be more keys than queries, or fewer. The shape should be (B, n_q, n_k): which axis of the two masks has length n_k?"""
    n = len(causal)
    mask = np.zeros((len(padding), n, n), dtype=bool)
    for b, i, j in np.ndindex(mask.shape):
        mask[b, i, j] = causal[i, j] and padding[b, 0, j]
    return mask


@wrong
def everybody_sees_itself(causal, padding):
    """Your mask lets every query see its own position, even if that is padding. It does avoid rows with nothing to look
    at, but padding is noise and must stay hidden. `masked_softmax` handles empty rows."""
    n_q, n_k = causal.shape
    return (causal & padding) | np.eye(n_q, n_k, n_k - n_q, dtype=bool)


@wrong
def padding_sticks_to_the_triangle(causal, padding):
    """Your mask for the first sequence is right, but your code writes it into the given causal mask. So each sequence also
    gets the padding of all the sequences before it. Make a new array for each sequence."""
    found = []
    for sentence in padding:
        causal &= sentence
        found.append(causal.copy())
    return np.stack(found)


@wrong
def writes_into_the_triangle(causal, padding):
    """The answer is right, but your code changes the given causal mask, for example by writing padding into it. The
    caller still needs the mask as it was. How can you make a new array instead?"""
    found = causal & padding
    causal &= padding[-1]
    return found


@wrong
def a_count_for_a_mask(causal, padding):
    """You count the real keys of each sequence, and take the first keys up to this number as the real ones. But False may
    be at any place of the padding mask, not only at the end. Use the mask itself."""
    return causal & (np.arange(padding.shape[-1]) < padding.sum(axis=-1, keepdims=True))


wrong = misconceptions_of("is_causal")


@wrong
def says_always_yes(attend, X):
    """Your answer is True whatever `attend` does. If you compare two outputs, do you compare their numbers, and not
    only their shapes? Do they come from two different arrays, with a large enough change between them?"""
    return True


@wrong
def says_always_no(attend, X):
    """Your answer is False whatever `attend` does. If an early row of X changes, later rows of the output may change
    too. Only rows of the output before the change must stay the same. Which rows do you compare?"""
    return False


@wrong
def puts_nan_into_the_future(attend, X):
    """Your results are what you get with NaN or inf in the later rows. That finds leaks, but it also finds one where
    there is none: attention multiplies the later rows by weights of 0, and 0 times NaN or inf is NaN. Compare two
    outputs, with other numbers in the later rows."""
    for t in range(1, len(X)):
        Z = X.copy()
        Z[t:] = np.nan
        if np.isnan(attend(Z)[:t]).any():
            return False
    return True


@wrong
def says_the_opposite(attend, X):
    """You find the leaks, but your answer is reversed. The function is called `is_causal`, so it should return False if
    there is a leak."""
    Y = attend(X)
    return not all(np.allclose(attend(X[:t])[:t], Y[:t]) for t in range(1, len(X)))


@wrong
def compares_shapes(attend, X):
    """You compare shapes. But an output can have the right shape and still depend on the future in every entry. Leaks
    show in the numbers: change a late row of X, and see which rows of the output change."""
    return np.shape(attend(X)) == np.shape(X)


@wrong
def only_the_last_token(attend, X):
    """You miss leaks from rows before the last row of X, for example from position 1 to position 0. Every position but
    the last has a future, and a single leak decides the answer. Do you change the rows after each position, and not
    only the last row?"""
    changed = X.copy()
    changed[-1] += 10.0
    return np.allclose(attend(changed)[:-1], attend(X)[:-1])


@wrong
def only_the_last_token_with_other_numbers(attend, X):
    """You miss leaks from rows before the last row of X, for example from position 1 to position 0. Every position but
    the last has a future, and a single leak decides the answer. Do you change the rows after each position, and not
    only the last row?"""
    changed = X.copy()
    changed[-1] = np.random.default_rng(1).normal(size=X.shape[1])
    return np.allclose(attend(changed)[:-1], attend(X)[:-1])


@wrong
def only_the_border_in_the_middle(attend, X):
    """You test only one border between past and future, the one in the middle. That misses a leak between two positions
    of the same half. The future of each position begins right after it, so how many borders do you have to test?"""
    half = len(X) // 2
    changed = X.copy()
    changed[half:] = np.random.default_rng(1).normal(size=X[half:].shape)
    return np.allclose(attend(changed)[:half], attend(X)[:half])


def _leaks_across(attend, X, borders):
    Y = attend(X).copy()
    for t in borders:
        changed = X.copy()
        changed[t:] += np.random.default_rng(1).uniform(1, 2, size=X[t:].shape)
        if not np.allclose(attend(changed)[:t], Y[:t], rtol=1e-6, atol=1e-6):
            return True
    return False


@wrong
def three_borders_only(attend, X):
    """In a long sequence, you test only some of the borders between past and future, such as the first, the one in the
    middle and the last. That misses a leak across another border. Does your loop try every border from 1 to len(X) - 1?"""
    return not _leaks_across(attend, X, {1, len(X) // 2, len(X) - 1} - {0, len(X)})


@wrong
def each_half_by_itself(attend, X):
    """You test each half of the sequence as a sequence of its own. `attend` then gets other rows and fewer of them, so you
    miss a leak that needs the rows before, or a certain place or number of rows. Give `attend` all the rows each time."""
    half = len(X) // 2
    if half == 0:
        return True
    return not _leaks_across(attend, X, [half]) and all(
        each_half_by_itself(attend, rows) for rows in (X[:half], X[half:])
    )


@wrong
def compares_exactly(attend, X):
    """Your comparison is too strict. A causal function may round differently if a later row changes, for example
    because it adds up the same numbers in another order. Such a difference is not a leak. How large a difference should
    your comparison allow?"""
    rng = np.random.default_rng(1)
    Y = np.array(attend(X.copy()))
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t:] = rng.normal(size=X[t:].shape)
        if not np.array_equal(np.array(attend(changed))[:t], Y[:t]):
            return False
    return True


@wrong
def adds_the_same_to_every_feature(attend, X):
    """You miss a leak that depends only on the difference of two features. For example, this difference stays the same
    if you add one number to every feature. Do you change all the features of the later rows, and by different
    amounts?"""
    Y = np.array(attend(X.copy()))
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t:] += 1.0
        if not np.allclose(np.array(attend(changed))[:t], Y[:t]):
            return False
    return True


@wrong
def never_looks_at_the_next_row(attend, X):
    """You find a leak only if a row depends on a row at least two places later. If the only later row that it depends
    on is the next one, you say True. Change the rows after row i: then row i itself must stay the same, and so must all
    rows before it."""
    Y = np.array(attend(X.copy()))
    for i in range(len(X)):
        changed = X.copy()
        changed[i + 1 :] = np.random.default_rng(i).uniform(-2, 2, size=changed[i + 1 :].shape)
        if not np.allclose(attend(changed)[:i], Y[:i]):
            return False
    return True


@wrong
def looks_one_row_back_only(attend, X):
    """Your results are what you get if you compare only the row just before a change of X. A leak may reach further:
    row 1 of the output may depend on row 3 of X, even if row 2 of the output does not. All the rows of the output before
    the change must stay the same."""
    Y = attend(X)
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t] += 10.0
        if not np.allclose(attend(changed)[t - 1], Y[t - 1]):
            return False
    return True


@wrong
def looks_one_row_back_only_with_other_numbers(attend, X):
    """Your results are what you get if you compare only the row just before a change of X. A leak may reach further:
    row 1 of the output may depend on row 3 of X, even if row 2 of the output does not. All the rows of the output before
    the change must stay the same."""
    rng = np.random.default_rng(1)
    Y = np.array(attend(X.copy()))
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t] = rng.normal(size=X.shape[1])
        if not np.allclose(attend(changed)[t - 1], Y[t - 1]):
            return False
    return True


@wrong
def splits_in_the_middle(attend, X):
    """Only one division of X counts in your answer: whether the second half changes the first. That misses a leak
    inside one half, for example from position 1 to position 0. Every position separates a past from a future: do you
    try them all, and do all of them count?"""
    t = len(X) // 2
    changed = X.copy()
    changed[t:] += 10.0
    return np.allclose(attend(changed)[:t], attend(X)[:t])


@wrong
def watches_the_first_row_only(attend, X):
    """Only row 0 of the output counts in your answer. Row 0 has the longest future, but a leak may be in a later row:
    the second to last may look at the last. Which rows of the output come before each change, and does every comparison
    count?"""
    changed = X.copy()
    changed[1:] += 10.0
    return np.allclose(attend(changed)[0], attend(X)[0])


@wrong
def answers_in_the_first_round(attend, X):
    """Only one comparison decides your answer: whether row 0 changes with row 1. If you use a loop, do all its
    iterations count? When should `return True` come?"""
    Y = attend(X)
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t] += 10.0
        return np.allclose(attend(changed)[:t], Y[:t])
    return True


@wrong
def one_clean_row_is_enough(attend, X):
    """Your answer is True if one position's change leaves the rows before it unchanged. A single leak is enough for
    False. Which do you need here, all or any?"""
    Y = attend(X)
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t] += 10.0
        if np.allclose(attend(changed)[:t], Y[:t]):
            return True
    return False


@wrong
def counts_its_own_position(attend, X):
    """You count it as a leak if row i of the output changes with row i of X. That is allowed: a position may use its
    own token, but no later ones. If you change the rows from t on, which is the first row of the output that may
    change?"""
    Y = attend(X)
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t:] += 10.0
        if not np.allclose(attend(changed)[: t + 1], Y[: t + 1]):
            return False
    return True


@wrong
def looks_the_wrong_way(attend, X):
    """You expect later rows of the output to stay the same if earlier rows of X change. But information may flow in
    that direction. Change a later row, and compare the earlier ones."""
    Y = attend(X)
    for t in range(1, len(X)):
        changed = X.copy()
        changed[:t] += 10.0
        if not np.allclose(attend(changed)[t:], Y[t:]):
            return False
    return True


@wrong
def changes_one_feature_only(attend, X):
    """You change only one column of X. A leak may use any feature, so it may come through another column alone. Change
    whole rows, and each feature by a different amount."""
    Y = attend(X)
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t:, 0] += 10.0
        if not np.allclose(attend(changed)[:t], Y[:t]):
            return False
    return True


@wrong
def watches_one_feature_only(attend, X):
    """You compare only one column of the output. A leak may change any feature of an earlier row, so compare whole
    rows."""
    Y = attend(X)
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t:] += 10.0
        if not np.allclose(attend(changed)[:t, 0], Y[:t, 0]):
            return False
    return True


@wrong
def tiny_changes_and_a_loose_comparison(attend, X):
    """You miss small leaks, for example because your comparison accepts small differences. A model will find even a
    faint leak. The leaks in the checks are well above 1e-5, while rounding stays far below that, for example at 1e-12.
    How far apart may two numbers be in your comparison?"""
    Y = np.array(attend(X.copy()))
    for j in range(1, len(X)):
        for c in range(X.shape[1]):
            changed = X.copy()
            changed[j, c] += 1e-4
            if not np.allclose(attend(changed)[:j], Y[:j]):
                return False
    return True


@wrong
def overlooks_small_leaks(attend, X):
    """You miss small leaks, for example because your comparison accepts small differences. A model will find even a
    faint leak. The leaks in the checks are well above 1e-5, while rounding stays far below that, for example at 1e-12.
    How far apart may two numbers be in your comparison?"""
    Y = attend(X)
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t:] = 0.0
        if not np.allclose(attend(changed)[:t], Y[:t], atol=0.1):
            return False
    return True


@wrong
def shuffles_the_future(attend, X):
    """Your results are what you get if you only reorder the later rows of X. A mean or a sum is the same in any order,
    although it contains the whole future. Change the contents of the rows, not their order."""
    Y = attend(X)
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t:] = changed[t:][::-1]
        if not np.allclose(attend(changed)[:t], Y[:t]):
            return False
    return True


@wrong
def compares_an_array_with_itself(attend, X):
    """Your answer is always True, and your code changes X. Do you compare an output with itself? For example, `X2 = X`
    gives the same array a second name, so a change to one changes the other. What makes a separate array?"""
    for t in range(1, len(X)):
        changed = X
        changed[t:] += 10.0
        if not np.allclose(attend(changed)[:t], attend(X)[:t]):
            return False
    return True


@wrong
def leaves_the_changes_behind(attend, X):
    """Your answer is right, but your code leaves changes in the given X. Work on a copy, or restore the rows before
    every `return`."""
    Y = attend(X)
    for t in range(len(X) - 1, 0, -1):
        X[t] += 10.0
        if not np.allclose(attend(X)[:t], Y[:t]):
            return False
    return True


@wrong
def returns_the_gap(attend, X):
    """You return how much the earlier rows change, a number. Return True or False instead: is that number zero, except
    for rounding?"""
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
    """You compare a single number made from many, such as a sum or a mean. A leak may add a number to one feature and
    subtract it from another, and the sum stays the same. Compare the rows themselves, entry by entry."""
    return _compares(np.sum, attend, X)


@wrong
def compares_a_sum_after_random_changes(attend, X):
    """You compare a single number made from many, such as a sum or a mean. A leak may add a number to one feature and
    subtract it from another, and the sum stays the same. Compare the rows themselves, entry by entry."""
    change, Y = np.random.default_rng(0).normal(size=X.shape), np.asarray(attend(X))
    later = np.arange(len(X))[:, None]
    differences = (np.sum((attend(X + (later >= t) * change) - Y)[:t]) for t in range(1, len(X)))
    return all(abs(one) < 1e-6 * max(1, abs(Y).max()) for one in differences)


@wrong
def compares_a_length(attend, X):
    """You compare the norms of the outputs, single numbers made from many. A leak may change only the direction of a
    row, and then the row's norm stays the same. Compare the rows themselves, entry by entry."""
    return _compares(np.linalg.norm, attend, X)


@wrong
def one_equal_entry_is_enough(attend, X):
    """You treat the earlier rows as unchanged if some of their entries are unchanged. A leak may change a single
    feature of a single row. Which do you need here, all or any?"""
    Y = attend(X)
    for t in range(1, len(X)):
        changed = X.copy()
        changed[t:] = 0.0
        if not np.isclose(attend(changed)[:t], Y[:t]).any():
            return False
    return True

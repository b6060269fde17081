"""Wrong solutions of chapter 5. Each function makes one mistake, and its docstring is the message for students who make this mistake."""

import matplotlib.pyplot as plt
import numpy as np

from autograder.misconception import misconceptions_of
from solutions.ch1_weighted_averaging import softmax
from solutions.ch4_masking import masked_attention, masked_softmax
from solutions.ch5_multi_head import merge_heads, multi_head_attention, pattern_scores, plot_attention, split_heads

wrong = misconceptions_of("split_heads")


@wrong
def reshape_alone(X, h):
    """Your array has the shape (h, n, d), but its numbers are in the same order as in X, as after a reshape alone. So
    head 0 gets the numbers of the first few positions instead of a few columns of every position. First cut each row
    into h pieces, then swap two axes and use the result."""
    *batch, n, width = X.shape
    return X.reshape(*batch, h, n, width // h)


@wrong
def dealt_out_like_cards(X, h):
    """You gave head 0 every h-th column: 0, h, 2h, and so on. Each head should get d columns that are next to each
    other. In the example, head 0 should have columns 0 and 1, but yours has 0 and 2. If you use `reshape`: which of the
    two new axes counts the heads? Do you leave its `order` argument at the default?"""
    *batch, n, width = X.shape
    return np.moveaxis(X.reshape(*batch, n, width // h, h), -1, -3)


@wrong
def positions_before_heads(X, h):
    """You cut each row into the right pieces, but the axes are in the order (n, h, d). In (h, n, d), every head has its
    own matrix with one row per position, and attention needs that. Which two axes should you swap?"""
    *batch, n, width = X.shape
    return X.reshape(*batch, n, h, width // h)


@wrong
def heads_of_width_h(X, h):
    """You made each head h columns wide. But h is the number of heads, and the width of each is the number of columns
    divided by h."""
    *batch, n, width = X.shape
    return np.swapaxes(X.reshape(*batch, n, width // h, h), -2, -3)


@wrong
def one_matrix_only(X, h):
    """Your code is right for a single matrix, but with batch axes in front it stops with an error. How can you name the
    last two sizes and keep any number of axes in front? And which way of counting axes always finds the last three?"""
    n, width = X.shape
    return X.reshape(n, h, width // h).transpose(1, 0, 2)


@wrong
def one_batch_axis_only(X, h):
    """You swap axes 1 and 2, counted from the left. With one batch axis, these are positions and heads. Without a batch
    axis they are heads and columns, and with two they are something else. Which way of counting always finds the last
    three?"""
    *batch, n, width = X.shape
    return np.swapaxes(X.reshape(*batch, n, h, width // h), 1, 2)


@wrong
def unpacks_exactly_one_batch_axis(X, h):
    """Your code only works with exactly one batch axis. A single matrix has two axes, and a batch of batches has four.
    Does a line unpack three sizes, or list four axes? How can you keep any number of axes in front?"""
    B, n, width = X.shape
    return X.reshape(B, n, h, width // h).transpose(0, 2, 1, 3)


@wrong
def heads_before_the_batch(X, h):
    """Your heads come before all the batch axes. They belong right before the positions: (…, h, n, d). Then entry b of
    a batch holds all the heads of sequence b."""
    *batch, n, width = X.shape
    return np.moveaxis(X.reshape(*batch, n, h, width // h), -2, 0)


@wrong
def drops_axes_of_length_one_from_the_heads(X, h):
    """Your answer is right unless one of its axes has length 1, such as a batch of one sequence, a single head or a
    single position: then that axis is gone. Which step removes axes of length 1?"""
    return split_heads(X, h).squeeze()


@wrong
def each_head_on_its_side(X, h):
    """The matrix of each head is transposed: it has d rows and n columns. A head needs one row per position.
    Which two axes have to change places?"""
    *batch, n, width = X.shape
    return np.moveaxis(X.reshape(*batch, n, h, width // h), -3, -1)


@wrong
def always_one_batch_axis(X, h):
    """Your result always has exactly one batch axis. If X has none, you add one of size 1, and if it has two, you merge
    them. Your result should have the same batch axes. `X.shape` gives you all of them."""
    n, width = X.shape[-2:]
    return np.swapaxes(X.reshape(-1, n, h, width // h), 1, 2)


@wrong
def later_batch_axes_joined_to_the_positions(X, h):
    """Your result never has more than one batch axis, even if X has two. Your result should have the same batch axes as X.
    `X.shape` gives you all of them."""
    X = X if X.ndim < 3 else X.reshape(len(X), -1, X.shape[-1])
    return np.swapaxes(X.reshape(*X.shape[:-1], h, -1), -2, -3)


@wrong
def batch_axes_made_one(X, h):
    """Your result never has more than one batch axis, even if X has two. Your result should have the same batch axes as X.
    `X.shape` gives you all of them."""
    heads = always_one_batch_axis(X, h)
    return heads[0] if X.ndim == 2 else heads


@wrong
def last_head_first(X, h):
    """Your heads are right but in reverse order: your head 0 has the last columns. The first d columns belong to head
    0."""
    *batch, n, width = X.shape
    return np.swapaxes(X.reshape(*batch, n, h, width // h), -2, -3)[..., ::-1, :, :]


@wrong
def whole_rows_for_every_head(X, h):
    """Each of your heads gets all the columns. A head should get only d of them, its own share. Together the heads have
    as many numbers as X."""
    return np.repeat(X[..., None, :, :], h, axis=-3)


@wrong
def slices_one_column_apart(X, h):
    """Your heads overlap: head 1 starts one column after head 0. Each head has d columns, so where should the next head
    start? Together the heads should contain every column exactly once."""
    d = X.shape[-1] // h
    return np.stack([X[..., i : i + d] for i in range(h)], axis=-3)


@wrong
def heads_and_columns_exchanged(X, h):
    """Your axes are in the order (n, d, h): the heads come last. They should come right before the positions, (h, n,
    d), so that each head has one row per position."""
    *batch, n, width = X.shape
    return np.swapaxes(X.reshape(*batch, n, h, width // h), -1, -2)


@wrong
def every_axis_turned_round(X, h):
    """All your axes are reversed: (d, h, n) instead of (n, h, d), with batch axes at the end. Swap only positions and
    heads. The columns of a head stay last, and batch axes stay first."""
    *batch, n, width = X.shape
    return X.reshape(*batch, n, h, width // h).T


@wrong
def the_first_two_axes(X, h):
    """You swap the first two axes, counted from the left. For a single matrix these are positions and heads, but with
    batch axes in front they are not. Which way of counting always finds the last three?"""
    *batch, n, width = X.shape
    return np.swapaxes(X.reshape(*batch, n, h, width // h), 0, 1)


@wrong
def batch_axes_turned_round(X, h):
    """Your heads are right for a single sequence. With batch axes, your numbers are those of `X.T`, which reverses all the
    axes, so the batch is no longer in front. Swap only two axes, and keep the batch axes in front."""
    return X.T.reshape(h, X.shape[-1] // h, -1).swapaxes(1, 2)


@wrong
def transposed_before_the_cut(X, h):
    """Your heads have the right shape, but the numbers of X are read column by column and then cut into rows of d, so a
    row contains numbers of several positions. First cut each row of X into h pieces, then swap two axes."""
    *batch, n, width = X.shape
    return np.swapaxes(X, -1, -2).reshape(*batch, h, n, width // h)


wrong = misconceptions_of("merge_heads")


@wrong
def merged_by_reshape_alone(O):
    """Your result is (h, n, d) reshaped to (n, h · d) directly. A reshape reads all of head 0 before it reaches head 1,
    so your first row contains several positions of head 0. A row should contain one position, as seen by all the heads.
    Swap positions and heads first, and reshape what you get."""
    *batch, h, n, d = O.shape
    return O.reshape(*batch, n, h * d)


@wrong
def batch_axes_merged_too(O):
    """With a batch, your result has only two axes: the batch axes are lost. Join only the heads. All axes before the
    last three stay as they are."""
    return np.moveaxis(O, -3, -2).reshape(O.shape[-2], -1)


@wrong
def mean_over_heads(O):
    """You averaged the heads, so their separate results are lost. Put them side by side instead, and W_O decides later
    how to mix them. The result should have h · d columns, but yours has d."""
    return O.mean(axis=-3)


@wrong
def sum_over_heads(O):
    """You added the heads up. Put them side by side instead: the result should have h · d columns, but yours has d. (A
    sum over heads does come later, after each head is multiplied by its own rows of W_O.)"""
    return O.sum(axis=-3)


@wrong
def shuffled_like_cards(O):
    """You interleaved the heads: column 0 of every head, then column 1 of every head, and so on. Keep each head's
    columns together, with all of head 0 first. At which column does head 1 begin?"""
    *batch, h, n, d = O.shape
    return np.moveaxis(O, -3, -1).reshape(*batch, n, d * h)


@wrong
def one_head_below_the_other(O):
    """You put the heads below one another, so there are h rows for each position. There should be one row per position,
    with the heads side by side in it."""
    *batch, h, n, d = O.shape
    return O.reshape(*batch, h * n, d)


@wrong
def heads_still_apart(O):
    """The axes are in the right order now, but heads and columns are still two axes. Combine them into one axis of size
    h · d."""
    return np.swapaxes(O, -2, -3)


@wrong
def merges_one_matrix_only(O):
    """Your code is right without a batch, but with batch axes in front it stops with an error. How can you name the last
    three sizes and keep any number of axes in front? And which way of counting axes always finds the last three?"""
    h, n, d = O.shape
    return O.transpose(1, 0, 2).reshape(n, h * d)


@wrong
def merges_one_batch_axis_only(O):
    """You swap axes 1 and 2, counted from the left. With one batch axis, these are heads and positions. With none or
    two, they are not. Which way of counting always finds the last three?"""
    *batch, h, n, d = O.shape
    return np.swapaxes(O, 1, 2).reshape(*batch, n, h * d)


@wrong
def unpacks_four_axes(O):
    """Your code only works with exactly one batch axis. With none O has three axes, and with two it has five. Does a
    line unpack four sizes, or list four axes? How can you keep any number of axes in front?"""
    B, h, n, d = O.shape
    return O.transpose(0, 2, 1, 3).reshape(B, n, h * d)


@wrong
def heads_side_by_side_for_one_batch_axis(O):
    """With two batch axes, the heads are not joined along the last axis: your result has the shape (2, 3, 4, 2) instead of
    (2, 1, 4, 6). `np.hstack`, for example, always joins along axis 1. Which axis should become longer, counted from the
    right?"""
    return np.hstack(list(O)) if O.ndim == 3 else np.array([np.hstack(list(sequence)) for sequence in O])


@wrong
def merges_into_one_batch_axis(O):
    """Your result always has exactly one batch axis. If O has none, you add one of size 1, and if it has two, you merge
    them. Your result should have the same batch axes."""
    h, n, d = O.shape[-3:]
    return np.swapaxes(O, -2, -3).reshape(-1, n, h * d)


@wrong
def merges_the_batch_axes_too(O):
    """Your result never has more than one batch axis. If O has two, you merge them. Your result should have the same
    batch axes as O."""
    merged = merges_into_one_batch_axis(O)
    return merged[0] if O.ndim == 3 else merged


@wrong
def drops_axes_of_length_one_after_merging(O):
    """Your answer is right unless one of its axes has length 1, such as a batch of one sequence or a single position:
    then that axis is gone. Which step removes axes of length 1?"""
    return merge_heads(O).squeeze()


@wrong
def last_head_on_the_left(O):
    """The heads are side by side, but the last head is on the left. Head 0 was cut from the first columns, so put it
    back there."""
    *batch, h, n, d = O.shape
    return np.swapaxes(O[..., ::-1, :, :], -2, -3).reshape(*batch, n, h * d)


@wrong
def first_head_only(O):
    """You kept head 0 and dropped the others. All the heads go into the result, side by side."""
    return O[..., 0, :, :]


@wrong
def positions_across(O):
    """Your result is transposed: it has h · d rows and one column per position. Positions are rows, both before and
    after merging."""
    *batch, h, n, d = O.shape
    return np.swapaxes(O, -1, -2).reshape(*batch, h * d, n)


@wrong
def goes_along_the_first_axis(O):
    """You take O apart along its first axis, and join the pieces along the next axis. Without a batch, the pieces are
    heads. With a batch they are entries of the batch, and your result mixes different sequences. The heads are always
    the third axis from the right."""
    return np.concatenate(list(O), axis=1)


@wrong
def the_batch_merged_instead(O):
    """You take O apart along its first axis and join the pieces side by side. Without a batch, the pieces are
    heads. With a batch they are sequences, which should stay separate. The heads are always the third axis from the
    right."""
    return np.concatenate(list(O), axis=-1)


@wrong
def the_first_two_axes_exchanged(O):
    """You swap the first two axes, counted from the left. Without a batch these are heads and positions, but with batch
    axes in front they are not. Which way of counting always finds the last three?"""
    *batch, h, n, d = O.shape
    return np.swapaxes(O, 0, 1).reshape(*batch, n, h * d)


@wrong
def positions_and_columns_exchanged(O):
    """You swapped the last two axes, positions and columns. Swap heads and positions instead. Only then are the columns
    of all heads at one position next to each other."""
    *batch, h, n, d = O.shape
    return np.swapaxes(O, -1, -2).reshape(*batch, n, h * d)


@wrong
def batch_axes_flattened(O):
    """Your result always has two axes, so the positions of all the batch entries are in one table. The batch axes should
    stay in front, as they are in O. What shape do you give to `reshape`?"""
    h, _, d = O.shape[-3:]
    return np.swapaxes(O, -3, -2).reshape(-1, h * d)


@wrong
def one_batch_axis_assumed(O):
    """You take the first axis of O for the batch, so your result always has three axes. O may have no batch axis, or
    several. Keep all the axes before the last three, however many there are."""
    return np.swapaxes(O, -3, -2).reshape(O.shape[0], O.shape[-2], -1)


@wrong
def two_heads_only(O):
    """Your result contains only the first and the last head. The example has two heads, but there can be any number. Which
    axis counts them?"""
    return np.concatenate([O[..., 0, :, :], O[..., -1, :, :]], axis=-1) if O.shape[-3] > 1 else O[..., 0, :, :]


wrong = misconceptions_of("multi_head_attention")


@wrong
def scaled_by_d_model(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """You divided the scores by sqrt(d_model). A score is a dot product of two vectors with d_k entries, so its spread
    grows with d_k, not with the model's width. Which array tells you d_k?"""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    O, weights = masked_attention(Q * np.sqrt(Q.shape[-1] / X_q.shape[-1]), K, V, mask)
    return merge_heads(O) @ W_O, weights


@wrong
def scaled_by_all_heads_together(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """In effect, you divided the scores by sqrt(h · d_k), the root of the width of all heads together. The dot products
    are taken inside one head, over its d_k columns. How wide is one head?"""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    O, weights = masked_attention(Q / np.sqrt(h), K, V, mask)
    return merge_heads(O) @ W_O, weights


@wrong
def not_scaled(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """In the end, your scores are not scaled. Inside each head, they should be divided by sqrt(d_k) once, as in chapter
    3. Is the division missing, or does another line undo it? Using more heads does not replace this step."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    O, weights = masked_attention(Q * np.sqrt(Q.shape[-1]), K, V, mask)
    return merge_heads(O) @ W_O, weights


def _divided_by_the_root_of(width, X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask):
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    with np.errstate(all="ignore"):  # the width may be 0
        O, weights = masked_attention(Q * np.sqrt(Q.shape[-1] / np.float64(width)), K, V, mask)
    return merge_heads(O) @ W_O, weights


@wrong
def width_of_a_head_from_d_model(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """You divide the scores by the root of d_model // h. The width d_k of a head's queries need not be that. Take it from
    the queries of a head themselves, or from W_Q and h."""
    return _divided_by_the_root_of(X_q.shape[-1] // h, X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask)


@wrong
def width_of_a_head_from_d_model_or_one(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """You divide the scores by the root of d_model // h. The width d_k of a head's queries need not be that. Take it from
    the queries of a head themselves, or from W_Q and h."""
    return _divided_by_the_root_of(max(1, X_q.shape[-1] // h), X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask)


@wrong
def scaled_only_without_a_mask(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """You divide the scores by sqrt(d_k) only if there is no mask. The division does not depend on the mask. Can both
    cases share the lines that compute the scores?"""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    O, weights = masked_attention(Q if mask is None else Q * np.sqrt(Q.shape[-1]), K, V, mask)
    return merge_heads(O) @ W_O, weights


@wrong
def without_w_o(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your output is the heads side by side, without the last step: W_O mixes the heads' results and brings them back
    to the width of the model. Is this step missing, or is its result not used?"""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    O, weights = masked_attention(Q, K, V, mask)
    return merge_heads(O), weights


@wrong
def mask_on_the_first_head_only(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """Only your head 0 follows the mask, and the other heads look wherever they like. A single head that sees the
    future is enough to leak it. Apply the mask to every head."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    if mask is not None:
        mask = np.broadcast_to(mask, (*Q.shape[:-1], K.shape[-2])) | (np.arange(h) > 0)[:, None, None]
    O, weights = masked_attention(Q, K, V, mask)
    return merge_heads(O) @ W_O, weights


@wrong
def one_mask_for_all_heads(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """All your heads use the mask of head 0, even if the mask has a separate part for each head. A mask of shape (h,
    n_q, n_k) already fits the weights. What does your code do to the mask before it uses it?"""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    if mask is not None and mask.ndim > 2:
        mask = mask[..., :1, :, :]
    O, weights = masked_attention(Q, K, V, mask)
    return merge_heads(O) @ W_O, weights


@wrong
def every_head_meets_the_whole_mask(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """Each of your heads gets the whole mask, including the parts for other heads or other sequences. The mask already
    broadcasts against (…, h, n_q, n_k). If all heads run in one call, add no axis to it. If you loop over the heads,
    give each one its own part."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    O, weights = masked_attention(Q, K, V, None if mask is None else np.expand_dims(mask, -3))
    return merge_heads(O) @ W_O, weights


@wrong
def mask_forgotten(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your weights are the same with and without a mask. Either the mask does not reach the attention of the heads, or
    it has no effect there. Does it give each forbidden key a very low score, and is the result used?"""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    O, weights = masked_attention(Q, K, V)
    return merge_heads(O) @ W_O, weights


@wrong
def mask_turned_over(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your heads look exactly at the keys that the mask forbids. In this course, True means "may attend"."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    O, weights = masked_attention(Q, K, V, None if mask is None else ~mask)
    return merge_heads(O) @ W_O, weights


@wrong
def keys_and_values_from_x_q(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """You made keys and values from X_q, so X_kv has no effect at all. Queries come from X_q, but keys and values come
    from X_kv. In self-attention both are the same array, which hides this."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_q @ W_K, h), split_heads(X_q @ W_V, h)
    O, weights = masked_attention(Q, K, V, mask)
    return merge_heads(O) @ W_O, weights


@wrong
def queries_from_x_kv(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """You made the queries from X_kv too, so X_q has no effect. The output should have one row for each row of X_q. In
    self-attention both are the same array, which hides this."""
    Q, K, V = split_heads(X_kv @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    O, weights = masked_attention(Q, K, V, mask)
    return merge_heads(O) @ W_O, weights


@wrong
def w_q_and_w_k_exchanged(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """You multiplied X_q by W_K and X_kv by W_Q. The shapes fit, but the roles are swapped: the queries are X_q W_Q,
    and the keys are X_kv W_K."""
    Q, K, V = split_heads(X_q @ W_K, h), split_heads(X_kv @ W_Q, h), split_heads(X_kv @ W_V, h)
    O, weights = masked_attention(Q, K, V, mask)
    return merge_heads(O) @ W_O, weights


@wrong
def split_by_reshape_alone(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your heads are cut out as in a reshape to (h, n, d) with no axes swapped. So a head contains all the columns of a
    few positions, instead of its own columns of every position. Then most words never see each other. `split_heads` is
    about exactly this step: solve it first, then use it here."""

    def cut(A):
        *batch, n, width = A.shape
        return A.reshape(*batch, h, n, width // h)

    O, weights = masked_attention(cut(X_q @ W_Q), cut(X_kv @ W_K), cut(X_kv @ W_V), mask)
    return merge_heads(O) @ W_O, weights


@wrong
def put_together_by_reshape_alone(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """The weights are right, but your heads are merged as by a reshape alone, in which the axes of heads and positions
    are not swapped first. So a row contains several positions of one head, instead of one position of all the heads.
    `merge_heads` is about exactly this step: solve it first, then use it here."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    O, weights = masked_attention(Q, K, V, mask)
    return O.reshape(*X_q.shape[:-1], -1) @ W_O, weights


@wrong
def heads_dealt_out_like_cards(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your head 0 works on columns 0, h, 2h, and so on of W_Q, W_K and W_V, and on the same rows of W_O. Each head
    should have a block of columns, and of rows of W_O, that are next to each other. All the shapes fit, so no error
    warns you."""

    def cards(A):
        *batch, n, width = A.shape
        return np.moveaxis(A.reshape(*batch, n, width // h, h), -1, -3)

    O, weights = masked_attention(cards(X_q @ W_Q), cards(X_kv @ W_K), cards(X_kv @ W_V), mask)
    *batch, _, n, d_v = O.shape
    return np.moveaxis(O, -3, -1).reshape(*batch, n, d_v * h) @ W_O, weights


@wrong
def weights_averaged_over_heads(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """The output is right, but you return the average of the heads' weights. Heads are useful because they look at
    different positions, and an average hides that. Return the weights of each head, in the shape (…, h, n_q, n_k)."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    O, weights = masked_attention(Q, K, V, mask)
    return merge_heads(O) @ W_O, weights.mean(axis=-3)


@wrong
def heads_in_front_of_the_batch(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your weights are right without batch axes. With them, the axis of the heads comes before the batch axes, but it
    should come after them: (..., h, n_q, n_k). Along which axis do you collect the weights of the heads?"""
    output, weights = multi_head_attention(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask)
    return output, np.moveaxis(weights, -3, 0)


@wrong
def all_heads_in_one(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """For each query, all the columns go into one set of weights, so h makes no difference. Each head needs its own
    weights, from its own d_k columns of Q and K."""
    O, weights = masked_attention(*(A[..., None, :, :] for A in (X_q @ W_Q, X_kv @ W_K, X_kv @ W_V)), mask)
    return O[..., 0, :, :] @ W_O, weights


@wrong
def output_and_weights_swapped(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """Both parts are there, but in the wrong order. Return the output first and the weights second."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    O, weights = masked_attention(Q, K, V, mask)
    return weights, merge_heads(O) @ W_O


@wrong
def output_alone(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """You return the output alone. Return a pair: the output, and the weights of all the heads."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    O, _ = masked_attention(Q, K, V, mask)
    return merge_heads(O) @ W_O


@wrong
def crossed_out_after_the_softmax(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your forbidden keys still count in the sum that each row is divided by, so the remaining weights of a row add up
    to less than 1. Chapter 4 shows which information leaks that way. Mask the scores, before the softmax."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    weights = softmax(Q @ K.swapaxes(-1, -2) / np.sqrt(K.shape[-1]))
    if mask is not None:
        weights = weights * mask
    return merge_heads(weights @ V) @ W_O, weights


@wrong
def softmax_over_queries(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your softmax runs over the queries, so the columns of the weights add up to 1. Each query divides a total of 1
    among the keys, so the rows should add up to 1."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(K.shape[-1])
    weights = softmax(scores if mask is None else np.where(mask, scores, -1e9), axis=-2)
    return merge_heads(weights @ V) @ W_O, weights


@wrong
def three_axes_taken_for_a_batch(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """If a mask has three axes, your code takes its first axis for a batch. But the mask broadcasts against (…, h, n_q,
    n_k), so its third axis from the right belongs to the heads. A mask for a batch already has an axis for the heads
    there, often of size 1."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    given = np.expand_dims(mask, -3) if mask is not None and mask.ndim == 3 else mask
    O, weights = masked_attention(Q, K, V, given)
    return merge_heads(O) @ W_O, weights


def _with_a_mask_for_each_head(X_q, X_kv, W_Q, W_K, W_V, W_O, masks):
    h = len(masks)
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    pairs = [masked_attention(*(A[..., i, :, :] for A in (Q, K, V)), mask) for i, mask in enumerate(masks)]
    return np.concatenate([o for o, _ in pairs], axis=-1) @ W_O, np.stack([w for _, w in pairs], axis=-3)


@wrong
def first_axis_of_the_mask_for_the_heads(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """For head i you take `mask[i]`, along the first axis of the mask. The mask broadcasts against (…, h, n_q, n_k), so
    its heads are the third axis from the right. In a mask with batch axes, the first axis belongs to the batch."""
    whole = mask is None or mask.ndim < 3 or len(mask) == 1
    masks = [mask if whole else mask[i] for i in range(h)]
    return _with_a_mask_for_each_head(X_q, X_kv, W_Q, W_K, W_V, W_O, masks)


@wrong
def first_axis_of_the_mask_over_and_over(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """For head i you take `mask[i]`, along the first axis of the mask. The mask broadcasts against (…, h, n_q, n_k), so
    its heads are the third axis from the right. In a mask with batch axes, the first axis belongs to the batch."""
    masks = [mask if mask is None or mask.ndim < 3 else mask[i % len(mask)] for i in range(h)]
    return _with_a_mask_for_each_head(X_q, X_kv, W_Q, W_K, W_V, W_O, masks)


@wrong
def values_from_x_q(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """You made the values from X_q. Keys and values come in pairs, one pair for each row of X_kv, so make both from
    X_kv. In self-attention X_q and X_kv are the same array, which hides this."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_q @ W_V, h)
    O, weights = masked_attention(Q, K, V, mask)
    return merge_heads(O) @ W_O, weights


@wrong
def scaled_twice(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """In all, you divide the scores by d_k instead of sqrt(d_k). Is the root missing, or is the division done twice? If
    you call `masked_attention`, it already divides by sqrt(d_k)."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    O, weights = masked_attention(Q / np.sqrt(Q.shape[-1]), K, V, mask)
    return merge_heads(O) @ W_O, weights


@wrong
def scaled_by_the_number_of_heads(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """You divided the scores by sqrt(h). A score is a dot product of two vectors with d_k entries, so the number of
    heads does not change its spread. Which array tells you d_k?"""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(h)
    weights = masked_softmax(scores, np.True_ if mask is None else mask)
    return merge_heads(weights @ V) @ W_O, weights


@wrong
def head_width_from_d_model(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """You use d_model / h as the width of a head. But h · d_k need not be d_model, and d_v need not be d_k. Take each
    width from the matrix itself: count the columns of W_Q, W_K and W_V."""
    return heads_of_width(X_q.shape[-1] // h, X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask)


def heads_of_width(d, X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask):
    """Return the layer's results if each head gets d columns of the queries, keys and values."""
    parts = [slice(i * d, (i + 1) * d) for i in range(h)]
    full = None if mask is None else np.broadcast_to(mask, (*X_q.shape[:-2], h, X_q.shape[-2], X_kv.shape[-2]))
    pairs = [
        masked_attention(
            X_q @ W_Q[:, p], X_kv @ W_K[:, p], X_kv @ W_V[:, p], None if full is None else full[..., i, :, :]
        )
        for i, p in enumerate(parts)
    ]
    return np.concatenate([o for o, _ in pairs], axis=-1) @ W_O, np.stack([w for _, w in pairs], axis=-3)


def values_in_parts(part, X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask):
    """Return the layer's results if each head gets d_k columns of the values and rows of W_O, each chosen by ``part(start, stop)``."""
    d = W_Q.shape[1] // h
    Q, K = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h)
    _, weights = masked_attention(Q, K, K, mask)
    V, parts = X_kv @ W_V, [part(i * d, (i + 1) * d) for i in range(h)]
    return sum(weights[..., i, :, :] @ V[..., p] @ W_O[p] for i, p in enumerate(parts)), weights


@wrong
def values_as_wide_as_the_keys(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """You give each head d_k columns of the values. But d_v need not be d_k. A head's values have as many columns as
    W_V has, divided by h, and the rows of W_O are shared out in the same way."""
    return values_in_parts(slice, X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask)


@wrong
def values_as_wide_as_the_keys_by_index(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """You give each head d_k columns of the values. But d_v need not be d_k. A head's values have as many columns as
    W_V has, divided by h, and the rows of W_O are shared out in the same way."""
    return values_in_parts(np.arange, X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask)


@wrong
def values_cut_like_the_keys(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """You give each head d_k columns of the values. But d_v need not be d_k. A head's values have as many columns as
    W_V has, divided by h."""
    return heads_of_width(W_Q.shape[1] // h, X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask)


@wrong
def w_o_turned_round(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """You multiplied by the transpose, `W_O.T`. The merged heads are rows of h · d_v numbers, and W_O has a row for
    each of these, so it fits as it is."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    O, weights = masked_attention(Q, K, V, mask)
    return merge_heads(O) @ W_O.T, weights


@wrong
def x_q_added(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """You added X_q to the output. A transformer block does this around its attention (a residual connection), but this
    exercise asks for the attention alone."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    O, weights = masked_attention(Q, K, V, mask)
    return X_q + merge_heads(O) @ W_O, weights


@wrong
def one_attention_and_no_heads(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """For each query, all the columns go into one set of weights. So `h` has no effect, and the weights have no axis
    for the heads. Each head needs its own weights, from its own d_k columns of Q and K. If you use `np.einsum`, does
    the axis of the heads stay on the right of the arrow?"""
    O, weights = masked_attention(X_q @ W_Q, X_kv @ W_K, X_kv @ W_V, mask)
    return O @ W_O, weights


@wrong
def scores_times_the_mask(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your forbidden scores are 0 or almost 0, for example because you multiply by the mask. But exp(0) is 1, so the
    forbidden keys still get a share. A forbidden score should be far below all the others."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(K.shape[-1])
    weights = softmax(scores if mask is None else scores * mask)
    return merge_heads(weights @ V) @ W_O, weights


def _forbidden_are(low, X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask):
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(K.shape[-1])
    weights = softmax(scores if mask is None else np.where(mask, scores, low))
    return merge_heads(weights @ V) @ W_O, weights


@wrong
def forbidden_scores_not_low_enough(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """The number that you use for a forbidden score is not far enough below the others. If a query's allowed scores are
    far below zero themselves, the forbidden keys win or get a share. Scores can go down to -1000, so take a number that
    no score comes near."""
    return _forbidden_are(-100.0, X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask)


@wrong
def forbidden_scores_as_low_as_the_lowest(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """The number that you use for a forbidden score is not far enough below the others. If a query's allowed scores are
    far below zero themselves, the forbidden keys win or get a share. Scores can go down to -1000, so take a number that
    no score comes near."""
    return _forbidden_are(-1000.0, X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask)


@wrong
def exp_with_no_shift(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """You take exp of the scores without a shift. From 710 on the result is inf, and inf / inf is nan. Subtract the
    largest score of each row first, and use the result. That changes no weight, and the given `softmax` does it."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    e = np.exp(Q @ K.swapaxes(-1, -2) / np.sqrt(K.shape[-1]))
    e = e if mask is None else e * mask
    weights = e / e.sum(axis=-1, keepdims=True)
    return merge_heads(weights @ V) @ W_O, weights


@wrong
def the_whole_mask_for_every_head(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """Each of your heads gets the whole mask, including the parts for other heads or other sequences. The mask already
    broadcasts against (…, h, n_q, n_k). If all heads run in one call, add no axis to it. If you loop over the heads,
    give each one its own part."""
    parts = (np.split(X @ W, h, axis=-1) for X, W in ((X_q, W_Q), (X_kv, W_K), (X_kv, W_V)))
    outputs, weights = zip(*(masked_attention(*head, mask) for head in zip(*parts, strict=True)), strict=True)
    return np.concatenate(outputs, axis=-1) @ W_O, np.stack(weights, axis=-3)


wrong = misconceptions_of("head_contributions")


@wrong
def blocks_that_begin_at_row_i(O, W_O):
    """Your block of rows of W_O for head i begins at row i, so the blocks overlap. Each head has d_v rows of its own. How
    many rows come before those of head i?"""
    return np.stack([O[i] @ W_O[i : i + O.shape[-1]] for i in range(len(O))])


@wrong
def a_block_of_the_output_rounded_up(O, W_O):
    """You gave each head a block of the output's columns. But every head affects every column of the output. The heads
    divide the rows of W_O among themselves, not its columns. Which d_v rows belong to head i?"""
    output, columns = merge_heads(O) @ W_O, np.arange(W_O.shape[1])
    return np.array([np.where(columns // -(-len(columns) // len(O)) == i, output, 0.0) for i in range(len(O))])


@wrong
def a_block_of_the_output_each(O, W_O):
    """You gave each head a block of the output's columns. But every head affects every column of the output. The heads
    divide the rows of W_O among themselves, not its columns. Which d_v rows belong to head i?"""
    output = merge_heads(O) @ W_O
    blocks = np.array_split(np.arange(output.shape[-1]), len(O))
    return np.array([np.where(np.isin(np.arange(output.shape[-1]), block), output, 0.0) for block in blocks])


@wrong
def columns_of_w_o(O, W_O):
    """You cut W_O into blocks of columns, so each of your parts has only d_model / h columns. But every head affects
    every column of the output. Each head has its own rows of W_O. Which d_v rows belong to head i?"""
    width = W_O.shape[1] // len(O)
    return np.stack([merge_heads(O) @ W_O[:, i * width : (i + 1) * width] for i in range(len(O))])


@wrong
def a_block_of_columns_for_each_head(O, W_O):
    """You gave head i a block of d_v columns of W_O. These columns have h · d_v entries each, so head i's d_v numbers
    do not fit. The heads divide the rows of W_O, not its columns. Which d_v rows belong to head i?"""
    d_v = O.shape[-1]
    return np.stack([O[i] @ W_O[:, i * d_v : (i + 1) * d_v] for i in range(len(O))])


@wrong
def columns_of_w_o_turned_into_rows(O, W_O):
    """You gave head i a block of d_v columns of W_O and transposed it to make it fit. So each of your parts has h · d_v
    columns instead of d_model. Each head has its own rows of W_O, which fit as they are. Which d_v rows
    belong to head i?"""
    d_v = O.shape[-1]
    return np.stack([O[i] @ W_O[:, i * d_v : (i + 1) * d_v].T for i in range(len(O))])


@wrong
def an_equal_share_each(O, W_O):
    """You divided the output evenly among the heads. The parts have the right sum, but a head that contains only zeros
    should add nothing. In your answer, it adds as much as the others. Compute each part from that head's own
    numbers."""
    return np.repeat((merge_heads(O) @ W_O)[None] / len(O), len(O), axis=0)


@wrong
def the_whole_output_each(O, W_O):
    """Each of your parts is the whole output, so their sum is h times the output. A part is the product of one head with
    its own d_v rows of W_O. Does each part have an array of its own?"""
    return np.repeat((merge_heads(O) @ W_O)[None], len(O), axis=0)


@wrong
def every_hth_row_of_w_o(O, W_O):
    """You gave head i the rows i, i + h, i + 2h, and so on of W_O. The merged heads are in blocks side by side, head 0
    first. So the rows for head i are next to each other."""
    h = len(O)
    return np.array([O[i] @ W_O[i::h] for i in range(h)])


@wrong
def the_first_rows_for_all(O, W_O):
    """All your heads use the first d_v rows of W_O, but those belong to head 0. Each of the other heads has its own d_v
    rows further down."""
    return O @ W_O[: O.shape[-1]]


@wrong
def w_o_left_out(O, W_O):
    """You returned the heads' results before W_O. A head's part of the output has as many columns as the output,
    d_model. Multiply each head by its own rows of W_O."""
    return 1.0 * O


@wrong
def sums_times_one_row_of_w_o(O, W_O):
    """Each of your parts is the sum of a head's numbers times a single row of W_O, row i for head i. A head with d_v
    numbers meets d_v rows of W_O, one for each number. With d_v = 1, as in the example, both are the same."""
    return np.stack([O[i].sum(axis=-1, keepdims=True) * W_O[i] for i in range(len(O))])


@wrong
def without_the_mean_of_the_queries(O, W_O):
    """From each head's part, you subtract the average of this part over the queries. So a single query gets only zeros,
    and the parts do not add up to the output. Nothing needs to be subtracted."""
    d_v = O.shape[-1]
    parts = np.stack([O[i] @ W_O[i * d_v : (i + 1) * d_v] for i in range(len(O))])
    return parts - parts.mean(axis=1, keepdims=True)


@wrong
def already_added_up(O, W_O):
    """You added the parts up, which gives the output itself. Return the parts, one for each head, in an array of shape
    (h, n_q, d_model)."""
    return merge_heads(O) @ W_O


@wrong
def queries_before_heads(O, W_O):
    """The parts are right, but your array has the shape (n_q, h, d_model). The heads come first: (h, n_q, d_model)."""
    h, _, d_v = O.shape
    return np.swapaxes(O @ W_O.reshape(h, d_v, -1), 0, 1)


@wrong
def rows_from_the_end(O, W_O):
    """You assigned the rows of W_O to the heads from the end, so your head 0 uses the last d_v rows. Head 0 is on the
    left of the merged heads, so it uses the first d_v rows."""
    h, _, d_v = O.shape
    return O @ W_O.reshape(h, d_v, -1)[::-1]


@wrong
def the_output_without_the_head(O, W_O):
    """Each of your parts is the output without that head. That is good to know, but this exercise asks for the head's
    own part: the difference that it makes."""
    h, _, d_v = O.shape
    return merge_heads(O) @ W_O - O @ W_O.reshape(h, d_v, -1)


@wrong
def running_totals(O, W_O):
    """Your parts are running totals: part i contains heads 0 to i. Do you add up the heads, or change an array in one
    round of a loop and use it again in the next? Return what each head adds by itself, so that all the parts add up to
    the output."""
    h, _, d_v = O.shape
    return (O @ W_O.reshape(h, d_v, -1)).cumsum(axis=0)


@wrong
def every_head_with_every_block(O, W_O):
    """You multiplied each head by every block of rows of W_O, and added up the results. Head i has only its own d_v
    rows. The rows of other heads are for the other heads' numbers."""
    h, _, d_v = O.shape
    return O @ W_O.reshape(h, d_v, -1).sum(axis=0)


@wrong
def first_head_lost(O, W_O):
    """The part of head 0 is missing: you return h - 1 parts. Do you take the differences between running totals?
    The first part is the first total itself, as if the total before it were 0."""
    h, _, d_v = O.shape
    return (O @ W_O.reshape(h, d_v, -1))[1:]


@wrong
def the_output_split_into_heads(O, W_O):
    """You split the columns of the finished output among the heads. But every head affects every column of the output. The
    heads divide the rows of W_O among them, not the columns. Which d_v rows belong to head i?"""
    return split_heads(merge_heads(O) @ W_O, len(O))


@wrong
def silenced_for_good(O, W_O):
    """To see one head alone, you set the others to zero in O itself. They stay zero for the next heads, and for the
    caller who gave you O. Work on a copy, or use only the numbers of the one head."""
    parts = []
    for i in range(len(O)):
        O[np.arange(len(O)) != i] = 0.0
        parts.append(merge_heads(O) @ W_O)
    return np.array(parts)


def scores_of(weights, **changed):
    """Return the four scores, with some of them replaced."""
    n = len(weights)
    i, j = np.indices((n, n))
    right = {
        "copying": weights.max(axis=1).mean(),
        "uniform": np.minimum(weights, 1 / n).sum(axis=1).mean(),
        "local": (weights * (abs(i - j) <= 1)).sum(axis=1).mean(),
        "previous": np.diagonal(weights, -1).mean(),
    }
    return {**right, **changed}


wrong = misconceptions_of("pattern_scores")


@wrong
def largest_of_each_column(weights):
    """For "copying" you took the largest weight of each column. A column belongs to a key. A query is a row, and its
    weights add up to 1. For example, with [[1, 0], [1, 0]] every query puts all its weight on one key, but your score
    is only 0.5."""
    return scores_of(weights, copying=weights.max(axis=0).mean())


@wrong
def largest_of_all(weights):
    """For "copying" you took the largest weight of the whole matrix. Then a single query with one large weight is
    enough for a high score. Take the largest weight of each query, and average these."""
    return scores_of(weights, copying=weights.max())


@wrong
def equal_largest_added_up(weights):
    """For "copying" you added up all the weights that equal the largest one of their query. If two weights of a query
    are equally large, both count. Take the largest weight of each query once: with [0, 0.5, 0.5] it is 0.5."""
    largest = weights == weights.max(axis=1, keepdims=True)
    return scores_of(weights, copying=(weights * largest).sum(axis=1).mean())


@wrong
def weight_on_itself(weights):
    """For "copying" you took the weight of each query on its own position. This score is about how many positions a
    query looks at, not about which. A query with all its weight on any one key counts 1."""
    return scores_of(weights, copying=np.diagonal(weights).mean())


@wrong
def the_diagonal_as_previous(weights):
    """For "previous" you took the diagonal. On the diagonal, query i looks at key i, its own position. The key before
    it is i - 1: one column to the left of the diagonal, from row 1 on."""
    return scores_of(weights, previous=np.diagonal(weights)[1:].mean())


@wrong
def the_next_as_previous(weights):
    """For "previous" you took key i + 1, the position after the query. Rows are queries and columns are keys, so the
    key before query i is to the left of the diagonal."""
    return scores_of(weights, previous=np.diagonal(weights, 1).mean())


@wrong
def previous_of_n_queries(weights):
    """For "previous" you divided by n. Query 0 has no key before it and is left out, so average over n - 1 queries. A
    head that always looks at the previous token should get 1."""
    return scores_of(weights, previous=np.diagonal(weights, -1).sum() / len(weights))


@wrong
def previous_round_the_corner(weights):
    """For "previous" your query 0 uses the last key. An index of -1, `% n` and `np.roll` all wrap around to the other
    end. Query 0 has no previous key, so average over queries 1 to n - 1 only."""
    n = len(weights)
    return scores_of(weights, previous=weights[np.arange(n), np.arange(n) - 1].mean())


@wrong
def how_often_it_is_the_largest(weights):
    """For "previous" you counted how often the previous key has the largest weight. Average its weight instead. For
    example, a head that gives it 0.9 should not get the same score as a head that gives it 0.4."""
    return scores_of(weights, previous=(weights.argmax(axis=1)[1:] == np.arange(len(weights) - 1)).mean())


@wrong
def local_without_itself(weights):
    """For "local" you left out the weight of each query on its own position. The neighborhood of i is i - 1, i and i +
    1."""
    n = len(weights)
    i, j = np.indices((n, n))
    return scores_of(weights, local=(weights * (abs(i - j) == 1)).sum(axis=1).mean())


@wrong
def local_looks_back_only(weights):
    """For "local" you counted the keys i - 1 and i, but not i + 1. The neighborhood has two sides."""
    n = len(weights)
    i, j = np.indices((n, n))
    return scores_of(weights, local=(weights * ((i - j >= 0) & (i - j <= 1))).sum(axis=1).mean())


@wrong
def local_goes_two_steps(weights):
    """For "local" you counted keys up to two steps away. The formula stops at i - 1 and i + 1."""
    n = len(weights)
    i, j = np.indices((n, n))
    return scores_of(weights, local=(weights * (abs(i - j) <= 2)).sum(axis=1).mean())


@wrong
def local_starts_from_minus_one(weights):
    """For "local" your query 0 leaves out key 0. Does its slice begin at key -1? Python reads that as the last key, so
    with three or more keys the slice is empty. Key -1 does not exist, so the neighborhood of query 0 begins at key
    0."""
    return scores_of(weights, local=np.mean([weights[i, i - 1 : i + 2].sum() for i in range(len(weights))]))


@wrong
def local_of_the_first_query_is_itself_alone(weights):
    """For "local" your query 0 counts key 0 only. There is no key before it, but key 1 is one step away and counts,
    too."""
    n = len(weights)
    i, j = np.indices((n, n))
    return scores_of(weights, local=(weights * (abs(i - j) <= np.minimum(i, 1))).sum(axis=1).mean())


@wrong
def local_round_the_corner(weights):
    """For "local" your first query also looks at the last key, and your last query at the first key. An index of -1, `%
    n` and `np.roll` all wrap around to the other end. But the queries at the ends have one neighbor fewer."""
    i = np.arange(len(weights))
    near = weights[i, i - 1] + weights[i, i] + weights[i, (i + 1) % len(weights)]
    return scores_of(weights, local=near.mean())


@wrong
def local_begins_with_the_last_key(weights):
    """For "local" your query 0 also looks at the last key. For example, Python reads an index of -1 as the last entry,
    and reports no error. But query 0 has no key before it, so it has one neighbor fewer."""
    local = (weights * (np.abs(np.subtract.outer(*[np.arange(len(weights))] * 2)) <= 1)).sum(axis=1).mean()
    return scores_of(weights, local=local + weights[0, -1] / len(weights))


@wrong
def local_as_three_averages(weights):
    """For "local" you averaged each of three diagonals and added the averages. The two outer diagonals have only n - 1
    entries, so their averages are too large, and a score can exceed 1. Add up the weights of each query first, then
    average over all n queries."""
    return scores_of(weights, local=sum(np.diagonal(weights, k).mean() for k in (-1, 0, 1)))


@wrong
def local_is_itself_alone(weights):
    """For "local" you counted only the weight of each query on its own position. The positions right before and right
    after it belong to the neighborhood too. Does your comparison include a distance of 1?"""
    return scores_of(weights, local=np.diagonal(weights).mean())


@wrong
def where_the_largest_stands(weights):
    """For "copying" you averaged the positions of the largest weights (argmax), not the weights themselves. A position
    can be any number up to n - 1, but a score is between 0 and 1."""
    return scores_of(weights, copying=weights.argmax(axis=1).mean())


@wrong
def local_is_the_mean_of_three(weights):
    """For "local" you averaged the weights in the neighborhood. Add them up for each query instead. A query with all
    its weight in its neighborhood should count 1."""
    n = len(weights)
    i, j = np.indices((n, n))
    near = abs(i - j) <= 1
    return scores_of(weights, local=weights[near].mean())


@wrong
def local_without_the_ends(weights):
    """For "local" you left out the first and the last query. They have one neighbor fewer, but they count too. For
    these two, use the keys that exist."""
    n = len(weights)
    i, j = np.indices((n, n))
    return scores_of(weights, local=(weights * (abs(i - j) <= 1)).sum(axis=1)[1:-1].mean() if n > 2 else 0.0)


@wrong
def uniform_by_the_smallest(weights):
    """For "uniform" you took n times the smallest weight of each query. A single zero makes that 0, even if the other
    weights are perfectly even. The formula uses all the keys: of each weight, count the part up to 1 / n."""
    return scores_of(weights, uniform=(len(weights) * weights.min(axis=1)).mean())


@wrong
def uniform_by_entropy(weights):
    """For "uniform" you used the entropy, divided by its largest value, the logarithm of n. That also measures
    evenness, but its numbers differ from the formula here. A query with all its weight on one key should count 1 / n,
    but your code counts it as 0."""
    logs = np.log(np.where(weights > 0, weights, 1.0))
    return scores_of(weights, uniform=-(weights * logs).sum(axis=1).mean() / np.log(len(weights)))


@wrong
def uniform_without_the_large_weights(weights):
    """For "uniform", a weight above 1 / n counts as 0 in your code. It should count as 1 / n: no weight counts more than
    its even share. Which function takes the smaller of two numbers?"""
    return scores_of(weights, uniform=np.where(weights > 1 / len(weights), 0.0, weights).sum(axis=1).mean())


@wrong
def uniform_not_summed(weights):
    """For "uniform" you averaged min(weight, 1 / n) over the keys too. Sum over the keys, then average over the
    queries. Perfectly even weights should get 1, but your code gives them 1 / n."""
    return scores_of(weights, uniform=np.minimum(weights, 1 / len(weights)).mean())


@wrong
def uniform_of_the_mean_query(weights):
    """For "uniform" you averaged over the queries first, and then took the smaller of that mean and 1 / n. Two queries that look at
    different keys would then count as even. Take the smaller one for each query and key, and average at the end."""
    return scores_of(weights, uniform=np.minimum(weights.mean(axis=0), 1 / len(weights)).sum())


@wrong
def weights_cut_off_for_good(weights):
    """Your four scores are right, but after the call the weights themselves have changed. `np.minimum` and `np.sort`
    make new arrays. But `out=weights`, `weights.sort()`, `weights -= …` and an assignment to `weights[...]` change the
    old one. A slice such as `weights[:]` is not a copy, so an assignment to it changes `weights` too."""
    scores = scores_of(weights)
    weights[weights > 1 / len(weights)] = 1 / len(weights)
    return scores


@wrong
def uniform_with_the_larger_one(weights):
    """For "uniform" you took the larger of weight and 1 / n. That exceeds 1 as soon as the weights are uneven. The
    score measures how close the weights are to an even spread, so take the smaller of the two."""
    return scores_of(weights, uniform=np.maximum(weights, 1 / len(weights)).sum(axis=1).mean())


@wrong
def copying_and_uniform_exchanged(weights):
    """You swapped two scores: your "copying" is "uniform", and your "uniform" is "copying". If each query looks at only
    one key, "copying" is high and "uniform" is low."""
    right = scores_of(weights)
    return {**right, "copying": right["uniform"], "uniform": right["copying"]}


@wrong
def sums_over_queries(weights):
    """You summed over the queries instead of averaging. So your scores can be above 1, and they grow with the length
    of the sequence."""
    n = len(weights)
    right = scores_of(weights)
    return {name: score * (n - 1 if name == "previous" else n) for name, score in right.items()}


@wrong
def one_number_for_each_query(weights):
    """You return one number for each query. Each score should be a single number: the average over the queries."""
    n = len(weights)
    i, j = np.indices((n, n))
    return {
        "copying": weights.max(axis=1),
        "uniform": np.minimum(weights, 1 / n).sum(axis=1),
        "local": (weights * (abs(i - j) <= 1)).sum(axis=1),
        "previous": np.diagonal(weights, -1).copy(),
    }


@wrong
def local_has_no_end(weights):
    """Your `local` counts the keys from i - 1 on, also those far after i + 1. In a causal head these weights are 0, but
    other heads look ahead. Count keys at most one step away, on both sides."""
    return {**pattern_scores(weights), "local": float(np.triu(weights, k=-1).sum(axis=-1).mean())}


wrong = misconceptions_of("plot_attention")


@wrong
def picture_on_its_side(weights, query_tokens, key_tokens, ax=None):
    """The labels are right, but the weights are transposed: row i, column j shows the weight of query j on key i. The
    rows of the matrix are already the queries, so draw it as it is."""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights.T, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    ax.set_xticks(range(len(key_tokens)), key_tokens)
    ax.set_yticks(range(len(query_tokens)), query_tokens)
    return ax


@wrong
def labels_exchanged(weights, query_tokens, key_tokens, ax=None):
    """The weights are drawn the right way, but the queries' tokens are along the columns and the keys' tokens along the
    rows. Queries go down, keys go across. Which axis is x?"""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(range(len(query_tokens)), query_tokens)
    ax.set_yticks(range(len(key_tokens)), key_tokens)
    return ax


@wrong
def everything_on_its_side(weights, query_tokens, key_tokens, ax=None):
    """Your picture is right in itself, but it is transposed: queries go across and keys go down. Here, as in nearly
    every paper, a query is a row."""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights.T, cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(range(len(query_tokens)), query_tokens)
    ax.set_yticks(range(len(key_tokens)), key_tokens)
    return ax


@wrong
def first_query_at_the_bottom(weights, query_tokens, key_tokens, ax=None):
    """Each weight has the right labels, but your first query is at the bottom. The y axis of a plot usually counts
    upwards, but a matrix is read from the top. `imshow` puts row 0 at the top by default. `pcolormesh` and other plots
    start at the bottom. Or does one of your lines reverse the y axis, or the rows and the tokens?"""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights, cmap="Blues", vmin=0, vmax=1, origin="lower")
    ax.set_xticks(range(len(key_tokens)), key_tokens)
    ax.set_yticks(range(len(query_tokens)), query_tokens)
    return ax


@wrong
def first_key_on_the_right(weights, query_tokens, key_tokens, ax=None):
    """Each weight has the right labels, but your first key is on the right. A matrix is read from the left. Does one of
    your lines reverse the x axis, or the columns and the tokens?"""
    ax = plot_attention(weights, query_tokens, key_tokens, ax)
    ax.invert_xaxis()
    return ax


@wrong
def from_the_bottom_right(weights, query_tokens, key_tokens, ax=None):
    """Each weight has the right labels, but your first query is at the bottom and your first key on the right. A matrix
    is read from the top left. Does one of your lines reverse the wrong axis, or the weights and the tokens?"""
    ax = plot_attention(weights, query_tokens, key_tokens, ax)
    ax.invert_xaxis()
    ax.invert_yaxis()
    return ax


@wrong
def on_its_side_and_from_the_bottom(weights, query_tokens, key_tokens, ax=None):
    """The weights are transposed, and the first row is at the bottom. The rows of the matrix are already the queries,
    so do not transpose it. The y axis of a plot usually counts upwards, but a matrix is read from the top."""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights.T, cmap="Blues", vmin=0, vmax=1, aspect="auto", origin="lower")
    ax.set_xticks(range(len(key_tokens)), key_tokens)
    ax.set_yticks(range(len(query_tokens)), query_tokens)
    return ax


@wrong
def from_the_bottom_with_labels_between(weights, query_tokens, key_tokens, ax=None):
    """Your first query is at the bottom, and the labels are on the borders between rows and columns. For example,
    `pcolormesh` counts upwards unless you flip the axis. Each row and column that it draws is centered halfway between
    two whole numbers."""
    if ax is None:
        _, ax = plt.subplots()
    ax.pcolormesh(weights, cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(range(len(key_tokens)), key_tokens)
    ax.set_yticks(range(len(query_tokens)), query_tokens)
    return ax


@wrong
def weights_upside_down(weights, query_tokens, key_tokens, ax=None):
    """The labels read from the top as they should, but the rows of weights are upside down: the first query's weights
    are in the last row. Both should be in the same order, with the first query on top."""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights[::-1], cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(range(len(key_tokens)), key_tokens)
    ax.set_yticks(range(len(query_tokens)), query_tokens)
    return ax


@wrong
def labels_upside_down(weights, query_tokens, key_tokens, ax=None):
    """The weights are in their places, but the queries' labels run upwards: the top row has the last token. Labels and
    rows should run the same way."""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(range(len(key_tokens)), key_tokens)
    ax.set_yticks(range(len(query_tokens)), query_tokens[::-1])
    return ax


@wrong
def one_label_for_equal_tokens(weights, query_tokens, key_tokens, ax=None):
    """A token that occurs twice has only one label in your picture, and all the labels after it have moved up. A label
    belongs to a position, not to a word: "the" and "the" are two positions. Did a set or a dictionary lose one of
    them?"""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    across, down = list(dict.fromkeys(key_tokens)), list(dict.fromkeys(query_tokens))
    ax.set_xticks(range(len(across)), across)
    ax.set_yticks(range(len(down)), down)
    return ax


def _first_places(tokens):
    return [list(tokens).index(token) for token in tokens]


@wrong
def equal_tokens_in_one_place(weights, query_tokens, key_tokens, ax=None):
    """Equal tokens have only one label in your picture, at the place of the first. Do you look up each token in the list,
    or use the words as places? Place a label by the number of its position, not by its word."""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(_first_places(key_tokens), key_tokens)
    ax.set_yticks(_first_places(query_tokens), query_tokens)
    return ax


@wrong
def equal_queries_in_one_place(weights, query_tokens, key_tokens, ax=None):
    """Equal query tokens have only one label in your picture, at the place of the first. Do you look up each token in the
    list? Place a label by the number of its position, not by its word."""
    ax = plot_attention(weights, query_tokens, key_tokens, ax)
    ax.set_yticks(_first_places(query_tokens), query_tokens)
    return ax


@wrong
def equal_keys_in_one_place(weights, query_tokens, key_tokens, ax=None):
    """Equal key tokens have only one label in your picture, at the place of the first. Do you look up each token in the
    list? Place a label by the number of its position, not by its word."""
    ax = plot_attention(weights, query_tokens, key_tokens, ax)
    ax.set_xticks(_first_places(key_tokens), key_tokens)
    return ax


@wrong
def one_column_for_equal_keys(weights, query_tokens, key_tokens, ax=None):
    """Equal key tokens share one column in your picture, which shows the sum of their weights. A column belongs to a
    position, not to a word: "the" and "the" are two keys, and a query may look at only one of them."""
    names = list(dict.fromkeys(key_tokens))
    table = np.zeros((len(query_tokens), len(names)))
    for token, column in zip(key_tokens, weights.T, strict=True):
        table[:, names.index(token)] += column
    return plot_attention(table, query_tokens, names, ax)


@wrong
def equal_tokens_in_the_last_place(weights, query_tokens, key_tokens, ax=None):
    """Equal tokens have one label in your picture, at the place of the last, so the places of the others have no label.
    Does a dictionary hold one place for each word? Place a label by the number of its position, not by its word."""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    for ticks, tokens in ((ax.set_xticks, key_tokens), (ax.set_yticks, query_tokens)):
        places = {token: place for place, token in enumerate(tokens)}
        ticks(list(places.values()), list(places))
    return ax


@wrong
def labels_one_place_too_far(weights, query_tokens, key_tokens, ax=None):
    """Each of your labels is one row or column too far: the label of the first is at the second. `imshow` counts rows
    and columns from 0. At which number does your first label go?"""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(np.arange(len(key_tokens)) + 1, key_tokens)
    ax.set_yticks(np.arange(len(query_tokens)) + 1, query_tokens)
    return ax


@wrong
def no_labels(weights, query_tokens, key_tokens, ax=None):
    """The heatmap is there, but no tokens can be seen at its rows and columns. Without them, nobody can tell who looks
    at whom. Does your code set the labels, or does a later line hide or clear them?"""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    return ax


@wrong
def no_labels_for_the_queries(weights, query_tokens, key_tokens, ax=None):
    """The keys have their labels, but no tokens can be seen along the rows. Does your code set the labels of the
    queries, or does another line hide or clear them?"""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(range(len(key_tokens)), key_tokens)
    return ax


@wrong
def labels_between_the_places(weights, query_tokens, key_tokens, ax=None):
    """Your labels are on the borders between rows and columns, half a step off. The middle of a row depends on the
    drawing function: `imshow` puts it at whole numbers, `pcolormesh` halfway between them."""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(np.arange(len(key_tokens)) + 0.5, key_tokens)
    ax.set_yticks(np.arange(len(query_tokens)) + 0.5, query_tokens)
    return ax


@wrong
def labels_without_places(weights, query_tokens, key_tokens, ax=None):
    """You gave the labels but not their places. Then matplotlib attaches them to whatever ticks it happens to have, and
    these are not one for each row and column. Say where each label goes, too."""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    ax.set_xticklabels(key_tokens)
    ax.set_yticklabels(query_tokens)
    return ax


@wrong
def row_labels_without_places(weights, query_tokens, key_tokens, ax=None):
    """The columns have their labels, but you gave the rows' labels without their places. Then matplotlib uses the
    ticks that it has, and these are not one for each row. Say where each label goes, too."""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(range(len(key_tokens)), key_tokens)
    ax.set_yticklabels(query_tokens)
    return ax


@wrong
def column_labels_without_places(weights, query_tokens, key_tokens, ax=None):
    """The rows have their labels, but you gave the columns' labels without their places. Then matplotlib uses the
    ticks that it has, and these are not one for each column. Say where each label goes, too."""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    ax.set_xticklabels(key_tokens)
    ax.set_yticks(range(len(query_tokens)), query_tokens)
    return ax


@wrong
def labels_after_an_empty_one(weights, query_tokens, key_tokens, ax=None):
    """You gave the labels but not their places, and an empty label in front of them. Then matplotlib attaches them to
    whatever ticks it happens to have, and these are not one for each row and column. Say where each label goes, too."""
    return labels_without_places(weights, ["", *query_tokens], ["", *key_tokens], ax)


@wrong
def always_new_axes(weights, query_tokens, key_tokens, ax=None):
    """You did not use the Axes that were given. A caller who passes `ax` wants several heads in one figure, and gets an
    empty plot instead. Make new Axes only if `ax` is None."""
    _, ax = plt.subplots()
    ax.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(range(len(key_tokens)), key_tokens)
    ax.set_yticks(range(len(query_tokens)), query_tokens)
    return ax


@wrong
def draws_into_the_current_axes(weights, query_tokens, key_tokens, ax=None):
    """You return the Axes that were given, but the picture is not in them. If `ax` is given, does your code draw the
    picture with methods of `ax`? Functions such as `plt.imshow` draw into the current Axes, whichever these are."""
    if ax is None:
        _, ax = plt.subplots()
    plt.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    plt.xticks(range(len(key_tokens)), key_tokens)
    plt.yticks(range(len(query_tokens)), query_tokens)
    return ax


@wrong
def picture_without_its_labels(weights, query_tokens, key_tokens, ax=None):
    """The labels are in the Axes that were given, but the heatmap is not. If `ax` is given, does your code draw the
    picture with methods of `ax`? `plt.imshow` and similar functions draw into the current Axes, whichever these are."""
    if ax is None:
        _, ax = plt.subplots()
    plt.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(range(len(key_tokens)), key_tokens)
    ax.set_yticks(range(len(query_tokens)), query_tokens)
    return ax


@wrong
def current_axes_for_none(weights, query_tokens, key_tokens, ax=None):
    """Without `ax`, your picture is in Axes that an earlier picture already uses. Does each call make new Axes in this
    case? `plt.gca()`, for example, returns the current Axes, which may not be empty."""
    return plot_attention(weights, query_tokens, key_tokens, plt.gca() if ax is None else ax)


@wrong
def labels_into_the_current_axes(weights, query_tokens, key_tokens, ax=None):
    """The heatmap is in the Axes that were given, but the labels are not. Does your code set them in this case too, and
    with methods of `ax`? `plt.xticks` and `plt.yticks` label the current Axes, whichever these are."""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    plt.xticks(range(len(key_tokens)), key_tokens)
    plt.yticks(range(len(query_tokens)), query_tokens)
    return ax


@wrong
def returns_the_figure(weights, query_tokens, key_tokens, ax=None):
    """You return the figure. A figure can hold many heatmaps. Return the Axes of this one, so that others can add a
    title to it."""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(range(len(key_tokens)), key_tokens)
    ax.set_yticks(range(len(query_tokens)), query_tokens)
    return ax.figure


@wrong
def returns_the_image(weights, query_tokens, key_tokens, ax=None):
    """You return the image that the drawing function gave you. Return the Axes that hold it."""
    if ax is None:
        _, ax = plt.subplots()
    image = ax.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(range(len(key_tokens)), key_tokens)
    ax.set_yticks(range(len(query_tokens)), query_tokens)
    return image


@wrong
def returns_nothing(weights, query_tokens, key_tokens, ax=None):
    """You drew the picture, but you do not return the Axes. Without them, nobody can add a title or save the
    picture."""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(range(len(key_tokens)), key_tokens)
    ax.set_yticks(range(len(query_tokens)), query_tokens)


@wrong
def rounded_to_one_decimal(weights, query_tokens, key_tokens, ax=None):
    """Your picture shows the weights rounded to one decimal. So similar weights have the same color, and the smallest look
    like 0. Draw the weights as they are."""
    return plot_attention(np.round(weights, 1), query_tokens, key_tokens, ax)


@wrong
def each_row_on_its_own_scale(weights, query_tokens, key_tokens, ax=None):
    """In your picture, each row is divided by its largest weight. So every row contains the strongest color, and the
    largest weight of a nearly even row has the same color as a weight near 1. Use one scale for the whole picture."""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights / weights.max(axis=1, keepdims=True), cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(range(len(key_tokens)), key_tokens)
    ax.set_yticks(range(len(query_tokens)), query_tokens)
    return ax


wrong = misconceptions_of("equivariance_gap")


@wrong
def shuffled_back(attend, X, perm):
    """The rows of your two results are not in the same order. Either the second shuffle goes in the opposite direction,
    or you shuffled the wrong result. Call `attend` once with X shuffled, and once with X as it is, whose output you
    shuffle afterwards. Both times, row i comes from row perm[i]."""
    return np.abs(attend(X[perm]) - attend(X)[np.argsort(perm)]).max()


@wrong
def shuffled_back_before(attend, X, perm):
    """Before `attend` you shuffled the other way: you put row i into place perm[i] instead of taking it from there.
    Both times, row i should be the old row perm[i]."""
    shuffled = np.empty_like(X)
    shuffled[perm] = X
    return np.abs(attend(shuffled) - attend(X)[perm]).max()


@wrong
def shuffled_the_other_way_both_times(attend, X, perm):
    """You shuffled both X and the output with the inverse of `perm`: row i of the shuffled X should be the old row
    perm[i]. If `attend` ignores the order, this makes no difference. Otherwise, the gap may be different."""
    back = np.argsort(perm)
    return np.abs(attend(X[back]) - attend(X)[back]).max()


@wrong
def shuffles_the_features(attend, X, perm):
    """You shuffled the columns of X, which are features. The positions are the rows, and this exercise is about the
    order of the positions."""
    return np.abs(attend(X[:, perm]) - attend(X)[:, perm]).max()


@wrong
def asks_for_invariance(attend, X, perm):
    """You compared with the output in its old order. That tests for invariance: whether the output stays the same when
    the rows are shuffled. This exercise asks whether the output is shuffled along with them."""
    return np.abs(attend(X[perm]) - attend(X)).max()


@wrong
def shuffles_the_output_only(attend, X, perm):
    """You compared the output with the same output shuffled. `attend` never saw a shuffled X, so this cannot show
    whether `attend` depends on the order. One of the two sides should start from X[perm]."""
    return np.abs(attend(X) - attend(X)[perm]).max()


@wrong
def shuffles_nothing_after(attend, X, perm):
    """You compared with the shuffled X itself. Both sides should go through `attend`: shuffle before it for one, and
    after it for the other."""
    return np.abs(attend(X[perm]) - X[perm]).max()


@wrong
def signs_kept(attend, X, perm):
    """You took the largest difference with its sign. For example, -4 is a difference of 4, which is more than 3. Drop
    the signs first."""
    return (attend(X[perm]) - attend(X)[perm]).max()


@wrong
def signs_dropped_too_late(attend, X, perm):
    """You took the maximum first and dropped the sign after that. The maximum of -4 and 3 is 3, but the largest
    difference is 4."""
    return np.abs((attend(X[perm]) - attend(X)[perm]).max())


@wrong
def the_difference_of_the_maxima(attend, X, perm):
    """You compared only the largest entry of one result with the largest entry of the other. If the same numbers are in
    different rows, this difference is 0. Compare the two results entry by entry first."""
    return abs(np.abs(attend(X[perm])).max() - np.abs(attend(X)).max())


@wrong
def the_mean_difference(attend, X, perm):
    """You averaged the differences. Then the many rows that stay the same can hide a single row that changes. Take the
    largest difference instead."""
    return np.abs(attend(X[perm]) - attend(X)[perm]).mean()


@wrong
def the_sum_of_differences(attend, X, perm):
    """You added the differences up. Return the largest single difference instead."""
    return np.abs(attend(X[perm]) - attend(X)[perm]).sum()


@wrong
def the_length_of_the_difference(attend, X, perm):
    """You took the norm of the difference, the root of the sum of squares. Return the largest single entry instead,
    without its sign."""
    return np.linalg.norm(attend(X[perm]) - attend(X)[perm])


@wrong
def the_longest_row(attend, X, perm):
    """Your answer is the length of the longest row of differences: the root of the sum of its squares. With a single
    column, that is the same, but with two it is not. Return the largest single entry instead, without its sign."""
    return np.linalg.norm(attend(X[perm]) - attend(X)[perm], axis=-1).max()


@wrong
def largest_sum_of_a_row(attend, X, perm):
    """You added up the differences of each row and took the largest sum. For a matrix, `np.linalg.norm` with `np.inf`
    does the same. Return the largest single entry instead, without its sign."""
    return np.abs(attend(X[perm]) - attend(X)[perm]).sum(axis=1).max()


@wrong
def the_difference_squared(attend, X, perm):
    """You squared the differences. That drops the signs, but a difference of 4 becomes 16. Drop the sign and keep the
    size."""
    return ((attend(X[perm]) - attend(X)[perm]) ** 2).max()


@wrong
def yes_or_no(attend, X, perm):
    """You return True or False. Return the size of the gap instead, or 0 if there is none."""
    return np.allclose(attend(X[perm]), attend(X)[perm])


@wrong
def a_gap_for_each_row(attend, X, perm):
    """You return one number for each row. Return a single number, the largest of all."""
    return np.abs(attend(X[perm]) - attend(X)[perm]).max(axis=1)


@wrong
def the_gap_between_the_largest_entries(attend, X, perm):
    """You take the largest entry of each result and compare these two. If the same rows come in another order, their
    largest entry stays the same, so you miss the difference. Subtract the two results entry by entry first."""
    return abs(np.max(attend(X[perm])) - np.max(attend(X)[perm]))


@wrong
def only_positive_differences(attend, X, perm):
    """You look only for differences above 0. But -10 is a difference of 10, which is more than 8, so drop the signs
    before you compare."""
    return max(0.0, (attend(X[perm]) - attend(X)[perm]).max())


@wrong
def entries_of_the_flat_array(attend, X, perm):
    """With one column, your gap is right. With more, you took single numbers instead of rows: without `axis=0`, `np.take`
    counts through all entries of the array. Take whole rows."""

    def taken(array):
        return np.take(array, perm).reshape(len(perm), -1)

    return np.abs(attend(taken(X)) - taken(attend(X))).max()

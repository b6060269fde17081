"""Wrong solutions of chapter 5, one mistake each, with what a student who made it should hear."""

import matplotlib.pyplot as plt
import numpy as np

from autograder.misconception import misconceptions_of
from solutions.ch1_weighted_averaging import softmax
from solutions.ch4_masking import masked_attention, masked_softmax
from solutions.ch5_multi_head import merge_heads, split_heads

wrong = misconceptions_of("split_heads")


@wrong
def reshape_alone(X, h):
    """You went to the shape (h, n, d) by reshape alone. A reshape keeps the numbers in the order in which they are read,
    row by row, and only cuts that line elsewhere: so head 0 gets all the columns of the first few positions, and none of
    the later ones. First cut each row into h pieces; then two axes have to change places."""
    *batch, n, width = X.shape
    return X.reshape(*batch, h, n, width // h)


@wrong
def dealt_out_like_cards(X, h):
    """You dealt the columns out like cards: head 0 gets the columns 0, h, 2h, and so on. Each head should get d columns
    that lie side by side. In the example head 0 has the columns 0 and 1, yours has 0 and 2. Which of the two new axes
    counts the heads, the first or the second?"""
    *batch, n, width = X.shape
    return np.moveaxis(X.reshape(*batch, n, width // h, h), -1, -3)


@wrong
def positions_before_heads(X, h):
    """Each row is cut into the right pieces, but the axes stand in the order (n, h, d). In (h, n, d) every head has a
    matrix of its own, with a row for each position, and that is what attention works on. Which two axes must change
    places?"""
    *batch, n, width = X.shape
    return X.reshape(*batch, n, h, width // h)


@wrong
def heads_of_width_h(X, h):
    """You made heads that are h columns wide, and as many of them as there is room for. It is the other way round: there
    are h heads, and their width is what is left, the number of columns divided by h."""
    *batch, n, width = X.shape
    return np.swapaxes(X.reshape(*batch, n, width // h, h), -2, -3)


@wrong
def one_matrix_only(X, h):
    """Right for a single matrix, but with batch axes in front your code stops or moves the wrong axes: the numbers that
    say which axes to exchange count from the left. Batch axes come and go on the left. Which way of counting always
    finds the last three?"""
    n, width = X.shape
    return X.reshape(n, h, width // h).transpose(1, 0, 2)


@wrong
def one_batch_axis_only(X, h):
    """You exchange the axes 1 and 2, counted from the left. With one batch axis these are positions and heads. Without
    one they are heads and columns, and with two they are something else again. Which way of counting always finds the
    last three?"""
    *batch, n, width = X.shape
    return np.swapaxes(X.reshape(*batch, n, h, width // h), 1, 2)


@wrong
def unpacks_exactly_one_batch_axis(X, h):
    """Your code takes the shape of X apart into three numbers: it works for exactly one batch axis, and stops for a single
    matrix, which has two, and for a batch of batches. How do you name the last two axes, and keep as many in front as there are?"""
    B, n, width = X.shape
    return X.reshape(B, n, h, width // h).transpose(0, 2, 1, 3)


@wrong
def heads_before_the_batch(X, h):
    """With batch axes your heads stand in front of all of them. They belong right before the positions: (…, h, n, d), so
    that entry b of a batch still holds everything that belongs to sequence b."""
    *batch, n, width = X.shape
    return np.moveaxis(X.reshape(*batch, n, h, width // h), -2, 0)


@wrong
def each_head_on_its_side(X, h):
    """The matrix of each head lies on its side: d rows and n columns. A head needs a row for each position. You moved one
    axis too many."""
    *batch, n, width = X.shape
    return np.moveaxis(X.reshape(*batch, n, h, width // h), -3, -1)


@wrong
def always_one_batch_axis(X, h):
    """Your result has exactly one batch axis, whatever X had: none becomes one of size 1, and two are rolled into one.
    The batch axes must come out as they went in. `X.shape` tells you all of them."""
    n, width = X.shape[-2:]
    return np.swapaxes(X.reshape(-1, n, h, width // h), 1, 2)


@wrong
def last_head_first(X, h):
    """The heads are right, but in the opposite order: your head 0 has the last columns. The first d columns belong to
    head 0."""
    *batch, n, width = X.shape
    return np.swapaxes(X.reshape(*batch, n, h, width // h), -2, -3)[..., ::-1, :, :]


@wrong
def whole_rows_for_every_head(X, h):
    """Each of your heads gets all the columns. A head gets d of them, a share of its own: together the heads have as many
    numbers as X has."""
    return np.repeat(X[..., None, :, :], h, axis=-3)


@wrong
def slices_one_column_apart(X, h):
    """Your heads overlap: head 1 begins one column after head 0. Each head has d columns, so where does the next one begin?
    Together the heads hold every column just once."""
    d = X.shape[-1] // h
    return np.stack([X[..., i : i + d] for i in range(h)], axis=-3)


@wrong
def heads_and_columns_exchanged(X, h):
    """You cut each row into h pieces, and then exchanged the last two axes: heads and columns of a head. The ones that must
    change places are positions and heads, so that each head has a row for each position."""
    *batch, n, width = X.shape
    return np.swapaxes(X.reshape(*batch, n, h, width // h), -1, -2)


@wrong
def every_axis_turned_round(X, h):
    """You turned all the axes round: (n, h, d) became (d, h, n), and batch axes went to the end. Only two axes have to change
    places, positions and heads; the columns of a head stay last, and a batch stays first."""
    *batch, n, width = X.shape
    return X.reshape(*batch, n, h, width // h).T


@wrong
def the_first_two_axes(X, h):
    """You exchange the first two axes, counted from the left. For a single matrix these are positions and heads; with batch
    axes in front they are others. Which way of counting always finds the last three?"""
    *batch, n, width = X.shape
    return np.swapaxes(X.reshape(*batch, n, h, width // h), 0, 1)


wrong = misconceptions_of("merge_heads")


@wrong
def merged_by_reshape_alone(O):
    """You reshaped (h, n, d) to (n, h · d) at once. A reshape reads head 0 from its first position to its last before it
    comes to head 1, so your first row is filled with several positions of head 0. A row must hold one position, as seen
    by all the heads: bring positions and heads into the right order first."""
    *batch, h, n, d = O.shape
    return O.reshape(*batch, n, h * d)


@wrong
def mean_over_heads(O):
    """You averaged the heads. Then nobody can tell any more what each of them had to say; heads are put side by side, and
    W_O decides later how to mix them. The result has h · d columns, yours has d."""
    return O.mean(axis=-3)


@wrong
def sum_over_heads(O):
    """You added the heads up. They are put side by side instead: the result has h · d columns, yours has d. (A sum over
    heads does come, but after each head has met its own rows of W_O.)"""
    return O.sum(axis=-3)


@wrong
def shuffled_like_cards(O):
    """You put the heads together like two halves of a pack of cards: column 0 of every head, then column 1 of every head,
    and so on. Each head's columns stay together: all of head 0 first. Which of the two axes that become one has to stand
    on the left?"""
    *batch, h, n, d = O.shape
    return np.moveaxis(O, -3, -1).reshape(*batch, n, d * h)


@wrong
def one_head_below_the_other(O):
    """You put the heads below one another, so there are h rows for each position. There must be one row for each
    position, and in it the heads side by side."""
    *batch, h, n, d = O.shape
    return O.reshape(*batch, h * n, d)


@wrong
def heads_still_apart(O):
    """The axes stand in the right order now, but heads and columns are still two axes. They have to become one, of size
    h · d."""
    return np.swapaxes(O, -2, -3)


@wrong
def merges_one_matrix_only(O):
    """Right as long as there is no batch. With batch axes in front, axes counted from the left are not the ones you mean.
    Which way of counting always finds the last three?"""
    h, n, d = O.shape
    return O.transpose(1, 0, 2).reshape(n, h * d)


@wrong
def merges_one_batch_axis_only(O):
    """You exchange the axes 1 and 2, counted from the left. With one batch axis these are heads and positions; without
    one, or with two, they are others. Which way of counting always finds the last three?"""
    *batch, h, n, d = O.shape
    return np.swapaxes(O, 1, 2).reshape(*batch, n, h * d)


@wrong
def unpacks_four_axes(O):
    """Your code takes the shape of O apart into four numbers: it works for exactly one batch axis, and stops without one, where
    O has three axes, and with two. How do you name the last three, and keep as many in front as there are?"""
    B, h, n, d = O.shape
    return O.transpose(0, 2, 1, 3).reshape(B, n, h * d)


@wrong
def merges_into_one_batch_axis(O):
    """Your result has exactly one batch axis, whatever O had: none becomes one of size 1, and two are rolled into one.
    The batch axes must come out as they went in."""
    h, n, d = O.shape[-3:]
    return np.swapaxes(O, -2, -3).reshape(-1, n, h * d)


@wrong
def last_head_on_the_left(O):
    """The heads stand side by side, but the last one is on the left. What was taken apart as head 0 came from the first
    columns and has to go back there."""
    *batch, h, n, d = O.shape
    return np.swapaxes(O[..., ::-1, :, :], -2, -3).reshape(*batch, n, h * d)


@wrong
def first_head_only(O):
    """You kept head 0 and dropped the others. All of them go into the result, side by side."""
    return O[..., 0, :, :]


@wrong
def positions_across(O):
    """Your result lies on its side, with h · d rows and a column for each position. Positions are rows, before and
    after."""
    *batch, h, n, d = O.shape
    return np.swapaxes(O, -1, -2).reshape(*batch, h * d, n)


@wrong
def goes_along_the_first_axis(O):
    """You go through the first axis of O and put what you find side by side. With no batch these are the heads. With a batch
    they are the sequences, and what belongs to different sequences ends up in one. Heads are always the third axis
    from the right."""
    return np.concatenate(list(O), axis=1)


@wrong
def the_batch_merged_instead(O):
    """You go through the first axis of O and put what you find side by side, column after column. With no batch these are the
    heads. With a batch they are the sequences, and these must stay apart. Heads are always the third axis from the right."""
    return np.concatenate(list(O), axis=-1)


@wrong
def the_first_two_axes_exchanged(O):
    """You exchange the first two axes, counted from the left. With no batch these are heads and positions; with batch axes in
    front they are others. Which way of counting always finds the last three?"""
    *batch, h, n, d = O.shape
    return np.swapaxes(O, 0, 1).reshape(*batch, n, h * d)


@wrong
def positions_and_columns_exchanged(O):
    """You exchanged the last two axes, positions and columns. The ones that must change places are heads and positions: only
    then do the columns of all the heads at one position lie side by side."""
    *batch, h, n, d = O.shape
    return np.swapaxes(O, -1, -2).reshape(*batch, n, h * d)


wrong = misconceptions_of("multi_head_attention")


@wrong
def scaled_by_d_model(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """You divided the scores by sqrt(d_model). A score is a dot product of two vectors of d_k entries, so its spread
    grows with d_k, whatever the model's width is. Which array knows d_k?"""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    O, weights = masked_attention(Q * np.sqrt(Q.shape[-1] / X_q.shape[-1]), K, V, mask)
    return merge_heads(O) @ W_O, weights


@wrong
def scaled_by_all_heads_together(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """You divided the scores by sqrt(h · d_k), the width of all heads together. The dot products are taken inside one head,
    over its d_k columns. Is the scale read off before the heads are split, or after?"""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    O, weights = masked_attention(Q / np.sqrt(h), K, V, mask)
    return merge_heads(O) @ W_O, weights


@wrong
def not_scaled(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your scores are not scaled. Inside each head they have to be divided by sqrt(d_k), as in chapter 3; more heads do
    not make up for it."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    O, weights = masked_attention(Q * np.sqrt(Q.shape[-1]), K, V, mask)
    return merge_heads(O) @ W_O, weights


@wrong
def without_w_o(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """You put the heads side by side and stopped there. W_O is still to come: it mixes what the heads bring, and leads back
    to the width of the model."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    O, weights = masked_attention(Q, K, V, mask)
    return merge_heads(O), weights


@wrong
def mask_on_the_first_head_only(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """Only your head 0 keeps to the mask, the other heads look wherever they like. One head that sees the future is enough
    to give it away: every head needs its mask."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    if mask is not None:
        mask = np.broadcast_to(mask, (*Q.shape[:-1], K.shape[-2])) | (np.arange(h) > 0)[:, None, None]
    O, weights = masked_attention(Q, K, V, mask)
    return merge_heads(O) @ W_O, weights


@wrong
def one_mask_for_all_heads(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """Every head of yours gets the mask of head 0, also where the mask has one for each head. A mask of shape
    (h, n_q, n_k) lies on the weights as it is: what do you do to it on the way?"""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    if mask is not None and mask.ndim > 2:
        mask = mask[..., :1, :, :]
    O, weights = masked_attention(Q, K, V, mask)
    return merge_heads(O) @ W_O, weights


@wrong
def every_head_meets_the_whole_mask(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """Each of your heads meets the whole mask, with the parts for other heads or other sequences. The mask already broadcasts
    against (…, h, n_q, n_k) as it is given. Where all the heads run in one call it needs no further axis; where you go
    through the heads one by one, each must get its own part of it."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    O, weights = masked_attention(Q, K, V, None if mask is None else np.expand_dims(mask, -3))
    return merge_heads(O) @ W_O, weights


@wrong
def mask_forgotten(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """With or without a mask, your weights are the same: it is not handed on to the attention of the heads."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    O, weights = masked_attention(Q, K, V)
    return merge_heads(O) @ W_O, weights


@wrong
def mask_turned_over(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your heads look exactly where the mask forbids it. In this course True means "may attend"."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    O, weights = masked_attention(Q, K, V, None if mask is None else ~mask)
    return merge_heads(O) @ W_O, weights


@wrong
def keys_and_values_from_x_q(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """You made keys and values from X_q, so X_kv has no influence at all. The sequence that asks gives the queries; the
    one that is asked gives keys and values. In self-attention the two are the same, which hides this."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_q @ W_K, h), split_heads(X_q @ W_V, h)
    O, weights = masked_attention(Q, K, V, mask)
    return merge_heads(O) @ W_O, weights


@wrong
def queries_from_x_kv(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """You made the queries from X_kv too, so the sequence that asks has no say. The output must have one row for each row
    of X_q. In self-attention the two are the same, which hides this."""
    Q, K, V = split_heads(X_kv @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    O, weights = masked_attention(Q, K, V, mask)
    return merge_heads(O) @ W_O, weights


@wrong
def w_q_and_w_k_exchanged(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """You multiplied the asking sequence with W_K and the asked one with W_Q. The shapes fit, the roles do not: queries are
    X_q W_Q, keys are X_kv W_K."""
    Q, K, V = split_heads(X_q @ W_K, h), split_heads(X_kv @ W_Q, h), split_heads(X_kv @ W_V, h)
    O, weights = masked_attention(Q, K, V, mask)
    return merge_heads(O) @ W_O, weights


@wrong
def split_by_reshape_alone(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your heads are cut out by a reshape to (h, n, d) with no exchange of axes. Then a head does not hold its own
    columns of every position, but all the columns of a few positions, and most words never meet. `split_heads` asks
    for just this step: do that first, and use it here."""

    def cut(A):
        *batch, n, width = A.shape
        return A.reshape(*batch, h, n, width // h)

    O, weights = masked_attention(cut(X_q @ W_Q), cut(X_kv @ W_K), cut(X_kv @ W_V), mask)
    return merge_heads(O) @ W_O, weights


@wrong
def put_together_by_reshape_alone(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """The weights are right, but the heads are put together by a reshape with no exchange of axes, so a row holds
    several positions of one head in place of one position of all the heads. `merge_heads` asks for just this step: do
    that first, and use it here."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    O, weights = masked_attention(Q, K, V, mask)
    return O.reshape(*X_q.shape[:-1], -1) @ W_O, weights


@wrong
def heads_dealt_out_like_cards(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your head 0 works on the columns 0, h, 2h, and so on. Each head has a block of columns that lie side by side. Splitting
    and merging undo one another in your code, so the shapes and even the places are fine; but the columns of W_Q, W_K and
    W_V that make up a head are not the ones that belong together."""

    def cards(A):
        *batch, n, width = A.shape
        return np.moveaxis(A.reshape(*batch, n, width // h, h), -1, -3)

    O, weights = masked_attention(cards(X_q @ W_Q), cards(X_kv @ W_K), cards(X_kv @ W_V), mask)
    *batch, _, n, d_v = O.shape
    return np.moveaxis(O, -3, -1).reshape(*batch, n, d_v * h) @ W_O, weights


@wrong
def weights_averaged_over_heads(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """The output is right, but you hand back the average of the heads' weights. What makes heads worth having is that they
    look at different things; the average shows none of them. Return the weights of each head: (…, h, n_q, n_k)."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    O, weights = masked_attention(Q, K, V, mask)
    return merge_heads(O) @ W_O, weights.mean(axis=-3)


@wrong
def all_heads_in_one(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """You ran one single attention over all the columns: each query has one set of weights, and h makes no difference. Each
    head has weights of its own, from its own d_k columns of Q and K."""
    O, weights = masked_attention(*(A[..., None, :, :] for A in (X_q @ W_Q, X_kv @ W_K, X_kv @ W_V)), mask)
    return O[..., 0, :, :] @ W_O, weights


@wrong
def output_and_weights_swapped(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """Both parts are there, in the wrong order: the output comes first, the weights second."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    O, weights = masked_attention(Q, K, V, mask)
    return weights, merge_heads(O) @ W_O


@wrong
def output_alone(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """You return the output alone. A pair is asked for: the output, and the weights of all the heads."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    O, _ = masked_attention(Q, K, V, mask)
    return merge_heads(O) @ W_O


@wrong
def crossed_out_after_the_softmax(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """The mask is put on after the softmax, and the weights that are left are not shared out again: their rows add up to
    less than 1. Chapter 4 shows what leaks out that way. Mask the scores."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    weights = softmax(Q @ K.swapaxes(-1, -2) / np.sqrt(K.shape[-1]))
    if mask is not None:
        weights = weights * mask
    return merge_heads(weights @ V) @ W_O, weights


@wrong
def softmax_over_queries(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your softmax runs over the queries, so the columns of the weights add up to 1. Each query shares out one whole among
    the keys: the rows must add up to 1."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(K.shape[-1])
    weights = softmax(scores if mask is None else np.where(mask, scores, -1e9), axis=-2)
    return merge_heads(weights @ V) @ W_O, weights


@wrong
def three_axes_taken_for_a_batch(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """You put an axis for the heads into every mask of three axes. You took the first of them for a batch, but the mask
    broadcasts against (…, h, n_q, n_k): the third axis from the right is that of the heads, and a mask for a batch comes
    with an axis of size 1 in that place."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    given = np.expand_dims(mask, -3) if mask is not None and mask.ndim == 3 else mask
    O, weights = masked_attention(Q, K, V, given)
    return merge_heads(O) @ W_O, weights


@wrong
def values_from_x_q(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """You made the values from X_q. Keys and values come in pairs, one of each for every position that is asked: both are
    made from X_kv. In self-attention the two are the same, which hides this."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_q @ W_V, h)
    O, weights = masked_attention(Q, K, V, mask)
    return merge_heads(O) @ W_O, weights


@wrong
def scaled_twice(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """Your scores are divided by sqrt(d_k) twice, and that makes d_k. `masked_attention` does it already."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    O, weights = masked_attention(Q / np.sqrt(Q.shape[-1]), K, V, mask)
    return merge_heads(O) @ W_O, weights


@wrong
def scaled_by_the_number_of_heads(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """You divided the scores by sqrt(h). A score is a dot product of two vectors of d_k entries; how many heads there
    are makes no difference to its spread. Which array knows d_k?"""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(h)
    weights = masked_softmax(scores, np.True_ if mask is None else mask)
    return merge_heads(weights @ V) @ W_O, weights


@wrong
def head_width_from_d_model(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """You take d_model / h for the width of a head. h · d_k need not be d_model, and d_v need not be d_k: the width of a head
    follows from the columns of W_Q, W_K and W_V, for each of them by itself."""
    d = X_q.shape[-1] // h
    parts = [slice(i * d, (i + 1) * d) for i in range(h)]
    full = None if mask is None else np.broadcast_to(mask, (*X_q.shape[:-2], h, X_q.shape[-2], X_kv.shape[-2]))
    pairs = [
        masked_attention(
            X_q @ W_Q[:, p], X_kv @ W_K[:, p], X_kv @ W_V[:, p], None if full is None else full[..., i, :, :]
        )
        for i, p in enumerate(parts)
    ]
    return np.concatenate([o for o, _ in pairs], axis=-1) @ W_O, np.stack([w for _, w in pairs], axis=-3)


@wrong
def w_o_turned_round(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """You multiplied with W_O turned round, as `W_O.T`. The merged heads are rows of h · d_v numbers, and W_O has a row for each
    of these: it fits as it is."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    O, weights = masked_attention(Q, K, V, mask)
    return merge_heads(O) @ W_O.T, weights


@wrong
def x_q_added(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """You added X_q to the output. A transformer block does so around its attention (a residual connection), but here the
    attention alone is asked for."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    O, weights = masked_attention(Q, K, V, mask)
    return X_q + merge_heads(O) @ W_O, weights


@wrong
def one_attention_and_no_heads(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """You ran one single attention over all the columns: `h` has no part in it, and the weights have no axis for the heads. Each
    head has weights of its own, from its own d_k columns of Q and K."""
    O, weights = masked_attention(X_q @ W_Q, X_kv @ W_K, X_kv @ W_V, mask)
    return O @ W_O, weights


@wrong
def scores_times_the_mask(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """You multiplied the scores with the mask. That makes the forbidden scores 0, and exp(0) is 1: they still take their share.
    A forbidden score has to lie far below all the others."""
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
    """The number that stands for a forbidden score in your attention is not far enough below the others. Where a query's
    allowed scores are themselves far below zero, the forbidden keys win, or get their share. Scores may go down to -1000:
    take a number that no score comes near."""
    return _forbidden_are(-100.0, X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask)


@wrong
def forbidden_scores_as_low_as_the_lowest(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """The number that stands for a forbidden score in your attention is not far enough below the others. Where a query's
    allowed scores are themselves far below zero, the forbidden keys win, or get their share. Scores may go down to -1000:
    take a number that no score comes near."""
    return _forbidden_are(-1000.0, X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask)


@wrong
def exp_with_no_shift(X_q, X_kv, W_Q, W_K, W_V, W_O, h, mask=None):
    """You take exp of the scores as they are. From 710 on that is inf, and inf / inf is nan. Subtract the largest score of each
    row first: it changes no weight. The given `softmax` does it."""
    Q, K, V = split_heads(X_q @ W_Q, h), split_heads(X_kv @ W_K, h), split_heads(X_kv @ W_V, h)
    e = np.exp(Q @ K.swapaxes(-1, -2) / np.sqrt(K.shape[-1]))
    e = e if mask is None else e * mask
    weights = e / e.sum(axis=-1, keepdims=True)
    return merge_heads(weights @ V) @ W_O, weights


wrong = misconceptions_of("head_contributions")


@wrong
def a_block_of_the_output_each(O, W_O):
    """You gave each head a block of the output's columns. But every head reaches every column of the output: it is the rows
    of W_O that belong to heads, not its columns. Head i's d_v numbers meet only d_v rows of W_O: which ones?"""
    output = merge_heads(O) @ W_O
    blocks = np.array_split(np.arange(output.shape[-1]), len(O))
    return np.array([np.where(np.isin(np.arange(output.shape[-1]), block), output, 0.0) for block in blocks])


@wrong
def columns_of_w_o(O, W_O):
    """You cut W_O into blocks of columns, and each of your parts has only d_model / h columns. Every head reaches every column
    of the output: it is the rows of W_O that belong to heads. Head i's d_v numbers meet d_v rows of W_O: which ones?"""
    width = W_O.shape[1] // len(O)
    return np.stack([merge_heads(O) @ W_O[:, i * width : (i + 1) * width] for i in range(len(O))])


@wrong
def a_block_of_columns_for_each_head(O, W_O):
    """You gave head i a block of d_v columns of W_O, each as long as W_O is high: head i's d_v numbers do not fit beside h · d_v
    of them. It is the rows of W_O that belong to heads: head i's d_v numbers meet d_v rows. Which ones?"""
    d_v = O.shape[-1]
    return np.stack([O[i] @ W_O[:, i * d_v : (i + 1) * d_v] for i in range(len(O))])


@wrong
def columns_of_w_o_turned_into_rows(O, W_O):
    """You gave head i a block of d_v columns of W_O and turned it round to make it fit: each of your parts has h · d_v columns and
    not d_model. It is the rows of W_O that belong to heads: head i's d_v numbers meet d_v rows of W_O, as they are. Which
    ones?"""
    d_v = O.shape[-1]
    return np.stack([O[i] @ W_O[:, i * d_v : (i + 1) * d_v].T for i in range(len(O))])


@wrong
def an_equal_share_each(O, W_O):
    """You divided the output evenly among the heads. The parts add up to the right sum, but a head that brings only zeros
    adds nothing, and yours does. Work out each part from what that head brings."""
    return np.repeat((merge_heads(O) @ W_O)[None] / len(O), len(O), axis=0)


@wrong
def the_whole_output_each(O, W_O):
    """Each of your parts is the whole output, so they add up to h times as much. Head i meets only its own d_v rows of
    W_O."""
    return np.repeat((merge_heads(O) @ W_O)[None], len(O), axis=0)


@wrong
def every_hth_row_of_w_o(O, W_O):
    """You gave head i the rows i, i + h, i + 2h, and so on of W_O. The heads stand side by side in blocks, head 0 first, so
    the rows that head i meets lie next to one another."""
    h = len(O)
    return np.array([O[i] @ W_O[i::h] for i in range(h)])


@wrong
def the_first_rows_for_all(O, W_O):
    """All your heads use the first d_v rows of W_O. Those belong to head 0. Each head has d_v rows of its own further
    down."""
    return O @ W_O[: O.shape[-1]]


@wrong
def w_o_left_out(O, W_O):
    """You returned what the heads bring, before W_O. What a head adds to the output is as wide as the output, d_model:
    W_O still has to be applied, the right part of it."""
    return 1.0 * O


@wrong
def already_added_up(O, W_O):
    """You added the parts up: that is the output itself. Asked for are the parts, one for each head, in an array of shape
    (h, n_q, d_model)."""
    return merge_heads(O) @ W_O


@wrong
def queries_before_heads(O, W_O):
    """The parts are right, but in an array of shape (n_q, h, d_model). Heads come first."""
    h, _, d_v = O.shape
    return np.swapaxes(O @ W_O.reshape(h, d_v, -1), 0, 1)


@wrong
def rows_from_the_end(O, W_O):
    """You handed out the rows of W_O from its end: your head 0 uses the last d_v. Head 0 stands on the left of the merged
    heads, so it meets the first d_v rows."""
    h, _, d_v = O.shape
    return O @ W_O.reshape(h, d_v, -1)[::-1]


@wrong
def the_output_without_the_head(O, W_O):
    """Each of your parts is what the output would be without that head. That is worth knowing, but asked for is what the
    head adds: the difference it makes."""
    h, _, d_v = O.shape
    return merge_heads(O) @ W_O - O @ W_O.reshape(h, d_v, -1)


@wrong
def running_totals(O, W_O):
    """Your parts are running totals: part i holds heads 0 to i. Asked for is what each head adds by itself, so that the sum
    over all parts is the output."""
    h, _, d_v = O.shape
    return (O @ W_O.reshape(h, d_v, -1)).cumsum(axis=0)


@wrong
def silenced_for_good(O, W_O):
    """To see one head alone you set the others to zero in O itself. There they stay zero, for the heads that come after and
    for whoever gave you O. Silence them in a copy, or take what belongs to the one head."""
    parts = []
    for i in range(len(O)):
        O[np.arange(len(O)) != i] = 0.0
        parts.append(merge_heads(O) @ W_O)
    return np.array(parts)


def scores_of(weights, **changed):
    """The four scores, with some of them worked out in another way."""
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
    """For "copying" you took the largest weight of each column. A column belongs to a key; a query is a row, and its weights
    add up to 1. With [[1, 0], [1, 0]] every query puts all on one key, and yet your score is only 0.5."""
    return scores_of(weights, copying=weights.max(axis=0).mean())


@wrong
def largest_of_all(weights):
    """For "copying" you took the largest weight of the whole matrix. One decided query would make the head look decided.
    Take the largest weight of each query, and average these."""
    return scores_of(weights, copying=weights.max())


@wrong
def weight_on_itself(weights):
    """For "copying" you took the weight of each query on its own position. The pattern is about how many positions are
    looked at, not about which: a query that has all its weight on any one key counts 1."""
    return scores_of(weights, copying=np.diagonal(weights).mean())


@wrong
def the_diagonal_as_previous(weights):
    """For "previous" you took the diagonal. There query i looks at key i, at itself. The key before it is i - 1: one place to
    the left of the diagonal, from row 1 on."""
    return scores_of(weights, previous=np.diagonal(weights)[1:].mean())


@wrong
def the_next_as_previous(weights):
    """For "previous" you took the keys i + 1: the position after the query. Rows are queries and columns are keys; the key
    before query i stands to the left of the diagonal."""
    return scores_of(weights, previous=np.diagonal(weights, 1).mean())


@wrong
def previous_of_n_queries(weights):
    """For "previous" you divided by n. Query 0 has no key before it and is left out, so there are n - 1 queries to average
    over: a head that always looks at the previous token must get 1."""
    return scores_of(weights, previous=np.diagonal(weights, -1).sum() / len(weights))


@wrong
def previous_round_the_corner(weights):
    """For "previous" your query 0 looks at key -1, which for Python is the last one. Query 0 has no key before it, and the
    average goes over the queries 1 to n - 1 only."""
    n = len(weights)
    return scores_of(weights, previous=weights[np.arange(n), np.arange(n) - 1].mean())


@wrong
def how_often_it_is_the_largest(weights):
    """For "previous" you counted how often the previous key has the largest weight. Asked for is the average of its
    weight: for example, a head that gives it 0.9 and one that gives it 0.4 are not the same."""
    return scores_of(weights, previous=(weights.argmax(axis=1)[1:] == np.arange(len(weights) - 1)).mean())


@wrong
def local_without_itself(weights):
    """For "local" you left out the weight of each query on its own position. The neighbourhood of i is i - 1, i and i + 1."""
    n = len(weights)
    i, j = np.indices((n, n))
    return scores_of(weights, local=(weights * (abs(i - j) == 1)).sum(axis=1).mean())


@wrong
def local_looks_back_only(weights):
    """For "local" you counted the keys i - 1 and i, but not i + 1. The neighbourhood has two sides."""
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
    """For "local" your query 0 counts nothing: a slice that begins at key -1 begins, for Python, at the last key, and is
    empty. Key -1 does not exist, so the neighbourhood of query 0 begins at key 0."""
    return scores_of(weights, local=np.mean([weights[i, i - 1 : i + 2].sum() for i in range(len(weights))]))


@wrong
def local_round_the_corner(weights):
    """For "local" your first query looks at the last key as well, and your last query at the first. For Python index -1 is the
    last place; here it is a key that does not exist. The ends have one neighbour less."""
    i = np.arange(len(weights))
    near = weights[i, i - 1] + weights[i, i] + weights[i, (i + 1) % len(weights)]
    return scores_of(weights, local=near.mean())


@wrong
def local_as_three_averages(weights):
    """For "local" you averaged each of three diagonals and added the averages. The diagonals beside the main one have only n - 1
    entries, so theirs come out too large, and a score can exceed 1. Add up the weights of each query first; all n of them
    count the same."""
    return scores_of(weights, local=sum(np.diagonal(weights, k).mean() for k in (-1, 0, 1)))


@wrong
def local_is_itself_alone(weights):
    """For "local" you counted only the weight of each query on its own position. The positions right before and right after
    it belong to the neighbourhood too: is a distance of 1 let in?"""
    return scores_of(weights, local=np.diagonal(weights).mean())


@wrong
def where_the_largest_stands(weights):
    """For "copying" you averaged the places of the largest weights (argmax), not the weights themselves. A place may
    be any number up to n - 1; a score lies between 0 and 1."""
    return scores_of(weights, copying=weights.argmax(axis=1).mean())


@wrong
def local_is_the_mean_of_three(weights):
    """For "local" you averaged the weights in the neighbourhood. Add them up for each query: a query that keeps all its
    weight next to itself must count 1."""
    n = len(weights)
    i, j = np.indices((n, n))
    near = abs(i - j) <= 1
    return scores_of(weights, local=weights[near].mean())


@wrong
def local_without_the_ends(weights):
    """For "local" you left out the first and the last query. They have one neighbour less, and count all the same: take the
    keys that exist."""
    n = len(weights)
    i, j = np.indices((n, n))
    return scores_of(weights, local=(weights * (abs(i - j) <= 1)).sum(axis=1)[1:-1].mean() if n > 2 else 0.0)


@wrong
def uniform_by_the_smallest(weights):
    """For "uniform" you took n times the smallest weight of each query. A single zero makes that 0, even where the rest is
    perfectly even. The formula goes over all the keys: of each weight count what does not exceed 1 / n."""
    return scores_of(weights, uniform=(len(weights) * weights.min(axis=1)).mean())


@wrong
def uniform_by_entropy(weights):
    """For "uniform" you used the entropy, divided by its largest value, ln n. That measures evenness too, but with other
    numbers than the formula here: a query with all on one key should count 1 / n, and yours counts 0."""
    logs = np.log(np.where(weights > 0, weights, 1.0))
    return scores_of(weights, uniform=-(weights * logs).sum(axis=1).mean() / np.log(len(weights)))


@wrong
def uniform_not_summed(weights):
    """For "uniform" you averaged min(weight, 1 / n) over the keys as well. Over keys it is a sum, over queries an average:
    perfectly even weights must get 1, and yours get 1 / n."""
    return scores_of(weights, uniform=np.minimum(weights, 1 / len(weights)).mean())


@wrong
def weights_cut_off_for_good(weights):
    """Your four scores are right, but on the way you cut the weights themselves down to 1 / n: after the call they are no
    longer what they were, and do not add up to 1. `np.minimum` makes a new array, an assignment to `weights[...]` does
    not."""
    scores = scores_of(weights)
    weights[weights > 1 / len(weights)] = 1 / len(weights)
    return scores


@wrong
def uniform_with_the_larger_one(weights):
    """For "uniform" you took the larger one of weight and 1 / n. That goes above 1 as soon as the weights are uneven. What
    lies below 1 / n everywhere is what an even spread has in common with them: take the smaller one."""
    return scores_of(weights, uniform=np.maximum(weights, 1 / len(weights)).sum(axis=1).mean())


@wrong
def copying_and_uniform_exchanged(weights):
    """Your "copying" is "uniform", and your "uniform" is "copying". A head that puts all on one key copies it."""
    right = scores_of(weights)
    return {**right, "copying": right["uniform"], "uniform": right["copying"]}


@wrong
def sums_over_queries(weights):
    """You added the queries up where they are averaged: your scores go beyond 1, and grow with the length of the sequence."""
    n = len(weights)
    right = scores_of(weights)
    return {name: score * (n - 1 if name == "previous" else n) for name, score in right.items()}


@wrong
def one_number_for_each_query(weights):
    """You return one number for each query. Each score is a single number: the average of them over the queries."""
    n = len(weights)
    i, j = np.indices((n, n))
    return {
        "copying": weights.max(axis=1),
        "uniform": np.minimum(weights, 1 / n).sum(axis=1),
        "local": (weights * (abs(i - j) <= 1)).sum(axis=1),
        "previous": np.diagonal(weights, -1).copy(),
    }


wrong = misconceptions_of("plot_attention")


@wrong
def picture_on_its_side(weights, query_tokens, key_tokens, ax=None):
    """The labels are where they belong, but the weights lie on their side: what is shown in row i, column j is the weight of
    query j on key i. The rows of the matrix are the queries already; it needs no turning."""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights.T, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    ax.set_xticks(range(len(key_tokens)), key_tokens)
    ax.set_yticks(range(len(query_tokens)), query_tokens)
    return ax


@wrong
def labels_exchanged(weights, query_tokens, key_tokens, ax=None):
    """The weights are drawn the right way round, but the queries' tokens stand along the columns and the keys' tokens beside
    the rows. Queries go down, keys go across. Which axis is x?"""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(range(len(query_tokens)), query_tokens)
    ax.set_yticks(range(len(key_tokens)), key_tokens)
    return ax


@wrong
def everything_on_its_side(weights, query_tokens, key_tokens, ax=None):
    """Your picture is right in itself, but it lies on its side: queries go across and keys go down. Here, as in nearly every
    paper, a query is a row."""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights.T, cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(range(len(query_tokens)), query_tokens)
    ax.set_yticks(range(len(key_tokens)), key_tokens)
    return ax


@wrong
def first_query_at_the_bottom(weights, query_tokens, key_tokens, ax=None):
    """Each weight has its right labels, but your first query is at the bottom. matplotlib counts upwards unless told
    otherwise; a matrix is read from the top. Turn the vertical axis over, labels and all."""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights, cmap="Blues", vmin=0, vmax=1, origin="lower")
    ax.set_xticks(range(len(key_tokens)), key_tokens)
    ax.set_yticks(range(len(query_tokens)), query_tokens)
    return ax


@wrong
def on_its_side_and_from_the_bottom(weights, query_tokens, key_tokens, ax=None):
    """The weights lie on their side, and the first row is at the bottom. The rows of the matrix are the queries already: they need
    no turning. And matplotlib counts upwards unless told otherwise, while a matrix is read from the top."""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights.T, cmap="Blues", vmin=0, vmax=1, aspect="auto", origin="lower")
    ax.set_xticks(range(len(key_tokens)), key_tokens)
    ax.set_yticks(range(len(query_tokens)), query_tokens)
    return ax


@wrong
def from_the_bottom_with_labels_between(weights, query_tokens, key_tokens, ax=None):
    """Your first query is at the bottom, and the labels stand at the borders between the places. `pcolormesh` counts upwards, as
    every plot does unless the axis is turned over, and the middle of its places lies half-way between the whole numbers."""
    if ax is None:
        _, ax = plt.subplots()
    ax.pcolormesh(weights, cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(range(len(key_tokens)), key_tokens)
    ax.set_yticks(range(len(query_tokens)), query_tokens)
    return ax


@wrong
def weights_upside_down(weights, query_tokens, key_tokens, ax=None):
    """The labels read from the top as they should, but the rows of weights beside them are upside down: the first query's
    weights stand in the last row. Labels and weights have to be turned over together or not at all."""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights[::-1], cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(range(len(key_tokens)), key_tokens)
    ax.set_yticks(range(len(query_tokens)), query_tokens)
    return ax


@wrong
def labels_upside_down(weights, query_tokens, key_tokens, ax=None):
    """The weights are in their places, but the queries' labels beside them run upwards: the top row has the last token. Both
    have to run the same way."""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(range(len(key_tokens)), key_tokens)
    ax.set_yticks(range(len(query_tokens)), query_tokens[::-1])
    return ax


@wrong
def one_label_for_equal_tokens(weights, query_tokens, key_tokens, ax=None):
    """A token that occurs twice has only one label in your picture, and all the labels after it have moved up. A place
    belongs to a position, not to a word: "the" and "the" are two positions. Did a set or a dictionary lose one of them?"""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    across, down = list(dict.fromkeys(key_tokens)), list(dict.fromkeys(query_tokens))
    ax.set_xticks(range(len(across)), across)
    ax.set_yticks(range(len(down)), down)
    return ax


@wrong
def equal_tokens_in_one_place(weights, query_tokens, key_tokens, ax=None):
    """You placed each label by looking its token up in the list. That finds the first of two equal tokens, so both labels
    land on the same place and the other place has none. Place a label by its number, not by its word."""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks([list(key_tokens).index(token) for token in key_tokens], key_tokens)
    ax.set_yticks([list(query_tokens).index(token) for token in query_tokens], query_tokens)
    return ax


@wrong
def no_labels(weights, query_tokens, key_tokens, ax=None):
    """The heatmap is there, but the tokens are not: its rows and columns have numbers at best. Without the words nobody can
    tell who looks at whom."""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    return ax


@wrong
def no_labels_for_the_queries(weights, query_tokens, key_tokens, ax=None):
    """The keys have their labels, the queries beside the rows have none."""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(range(len(key_tokens)), key_tokens)
    return ax


@wrong
def labels_between_the_places(weights, query_tokens, key_tokens, ax=None):
    """Your labels stand at the borders between rows and columns, half a step from where they belong. Where the middle of a
    place is depends on the drawing function: `imshow` puts it at whole numbers, `pcolormesh` half-way between them."""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(np.arange(len(key_tokens)) + 0.5, key_tokens)
    ax.set_yticks(np.arange(len(query_tokens)) + 0.5, query_tokens)
    return ax


@wrong
def labels_without_places(weights, query_tokens, key_tokens, ax=None):
    """You gave the labels but not their places. Then they are hung onto whatever ticks matplotlib happens to have, and these
    are not one for each row and column. Say where each label goes, too."""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    ax.set_xticklabels(key_tokens)
    ax.set_yticklabels(query_tokens)
    return ax


@wrong
def always_new_axes(weights, query_tokens, key_tokens, ax=None):
    """You made new Axes although some were given. Whoever hands you `ax` wants several heads in one figure, and gets an
    empty place. New Axes are for the case in which `ax` is None."""
    _, ax = plt.subplots()
    ax.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(range(len(key_tokens)), key_tokens)
    ax.set_yticks(range(len(query_tokens)), query_tokens)
    return ax


@wrong
def draws_into_the_current_axes(weights, query_tokens, key_tokens, ax=None):
    """You return the Axes that were given, but the picture went elsewhere: functions such as `plt.imshow` draw into whichever
    Axes are current. The same thing as a method of `ax` draws into these."""
    if ax is None:
        _, ax = plt.subplots()
    plt.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    plt.xticks(range(len(key_tokens)), key_tokens)
    plt.yticks(range(len(query_tokens)), query_tokens)
    return ax


@wrong
def labels_into_the_current_axes(weights, query_tokens, key_tokens, ax=None):
    """The heatmap is drawn into the Axes that were given, but the labels are not: `plt.xticks` and `plt.yticks` label whichever
    Axes are current. `ax` has methods that label it."""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    plt.xticks(range(len(key_tokens)), key_tokens)
    plt.yticks(range(len(query_tokens)), query_tokens)
    return ax


@wrong
def returns_the_figure(weights, query_tokens, key_tokens, ax=None):
    """You return the figure. A figure may hold many heatmaps; return the Axes of this one, so that others can add a title to
    it."""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(range(len(key_tokens)), key_tokens)
    ax.set_yticks(range(len(query_tokens)), query_tokens)
    return ax.figure


@wrong
def returns_the_image(weights, query_tokens, key_tokens, ax=None):
    """You return what the drawing function gave you, the image. Asked for are the Axes that hold it."""
    if ax is None:
        _, ax = plt.subplots()
    image = ax.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(range(len(key_tokens)), key_tokens)
    ax.set_yticks(range(len(query_tokens)), query_tokens)
    return image


@wrong
def returns_nothing(weights, query_tokens, key_tokens, ax=None):
    """The picture is drawn, but the Axes are not handed back. Without them nobody can add a title or save the picture."""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights, cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(range(len(key_tokens)), key_tokens)
    ax.set_yticks(range(len(query_tokens)), query_tokens)


@wrong
def each_row_on_its_own_scale(weights, query_tokens, key_tokens, ax=None):
    """You divided each row by its largest weight before drawing. Then every row has one full colour, and a query that cannot
    decide looks as sure as one that can. One scale for the whole picture."""
    if ax is None:
        _, ax = plt.subplots()
    ax.imshow(weights / weights.max(axis=1, keepdims=True), cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(range(len(key_tokens)), key_tokens)
    ax.set_yticks(range(len(query_tokens)), query_tokens)
    return ax


wrong = misconceptions_of("equivariance_gap")


@wrong
def shuffled_back(attend, X, perm):
    """Your two results do not have their rows in the same order: the second shuffle runs the other way, or it was done to the
    wrong one of the two. Shuffled before and shuffled after must be the same shuffle, X before `attend` and the output
    after it: row i comes from row perm[i] both times."""
    return np.abs(attend(X[perm]) - attend(X)[np.argsort(perm)]).max()


@wrong
def shuffled_back_before(attend, X, perm):
    """Before `attend` you shuffled the other way: row i was put into place perm[i], not taken from it. Both times row i must
    be the old row perm[i]."""
    shuffled = np.empty_like(X)
    shuffled[perm] = X
    return np.abs(attend(shuffled) - attend(X)[perm]).max()


@wrong
def shuffled_the_other_way_both_times(attend, X, perm):
    """You shuffled the same way both times, but it is the opposite of the one that `perm` means: row i has to be the old row
    perm[i]. For a function that does not care it makes no difference; for one that does, the gap is another."""
    back = np.argsort(perm)
    return np.abs(attend(X[back]) - attend(X)[back]).max()


@wrong
def shuffles_the_features(attend, X, perm):
    """You shuffled the columns of X. Those are features; the positions are the rows, and it is the positions whose order is
    in question."""
    return np.abs(attend(X[:, perm]) - attend(X)[:, perm]).max()


@wrong
def asks_for_invariance(attend, X, perm):
    """You compared with the output as it was, in the old order. That asks whether the output stays the same when the rows are
    shuffled: invariance. Asked for is whether the output is shuffled along with them."""
    return np.abs(attend(X[perm]) - attend(X)).max()


@wrong
def shuffles_the_output_only(attend, X, perm):
    """You compared the output with the same output shuffled. `attend` never saw a shuffled X, so this cannot tell whether it
    cares. One of the two sides has to start from X[perm]."""
    return np.abs(attend(X) - attend(X)[perm]).max()


@wrong
def shuffles_nothing_after(attend, X, perm):
    """You compared with the shuffled X itself. Both sides have to go through `attend`: one is shuffled before it, one after."""
    return np.abs(attend(X[perm]) - X[perm]).max()


@wrong
def signs_kept(attend, X, perm):
    """You took the largest difference with its sign. -4 is a larger difference than 3: drop the signs first."""
    return (attend(X[perm]) - attend(X)[perm]).max()


@wrong
def signs_dropped_too_late(attend, X, perm):
    """You took the maximum first and dropped the sign after that. The maximum of -4 and 3 is 3; the largest difference is 4."""
    return np.abs((attend(X[perm]) - attend(X)[perm]).max())


@wrong
def the_mean_difference(attend, X, perm):
    """You averaged the differences. A single row that moves would be watered down by all that do not; take the largest."""
    return np.abs(attend(X[perm]) - attend(X)[perm]).mean()


@wrong
def the_sum_of_differences(attend, X, perm):
    """You added the differences up. Asked for is the largest single one."""
    return np.abs(attend(X[perm]) - attend(X)[perm]).sum()


@wrong
def the_length_of_the_difference(attend, X, perm):
    """You took the norm of the difference, the root of the sum of squares. Asked for is the largest single entry, in
    size."""
    return np.linalg.norm(attend(X[perm]) - attend(X)[perm])


@wrong
def largest_sum_of_a_row(attend, X, perm):
    """You added up the differences of each row and took the largest sum: for a matrix, that is what `np.linalg.norm` with
    `np.inf` does. Asked for is the largest single entry, in size."""
    return np.abs(attend(X[perm]) - attend(X)[perm]).sum(axis=1).max()


@wrong
def the_difference_squared(attend, X, perm):
    """You squared the differences. That drops the signs, but a difference of 4 becomes 16. Drop the sign and leave the size as it
    is."""
    return ((attend(X[perm]) - attend(X)[perm]) ** 2).max()


@wrong
def yes_or_no(attend, X, perm):
    """You answer with True or False. Asked for is how large the gap is: a number, 0 where there is none."""
    return np.allclose(attend(X[perm]), attend(X)[perm])


@wrong
def a_gap_for_each_row(attend, X, perm):
    """You return one number for each row. Asked for is a single one, the largest of all."""
    return np.abs(attend(X[perm]) - attend(X)[perm]).max(axis=1)

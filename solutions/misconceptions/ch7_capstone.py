"""Wrong solutions of chapter 7. Each function makes one mistake, and its docstring is the message for students who make this mistake."""

import numpy as np

from autograder.misconception import misconceptions_of
from solutions.ch1_weighted_averaging import softmax
from solutions.ch4_masking import causal_mask, masked_attention, masked_softmax, padding_mask
from solutions.ch5_multi_head import merge_heads, multi_head_attention, split_heads

wrong = misconceptions_of("decoder_attention")


@wrong
def target_without_a_causal_mask(target, memory, weights, h, memory_lengths):
    """Your self-attention hides nothing, so every position of the target reads the later ones. When a translation is
    written word by word, these do not exist yet. Change the last row of the target, and your first row changes with it.
    Does a causal mask of the right size reach your self-attention?"""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h)
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=h, mask=real)
    return output


@wrong
def matrices_in_the_order_of_the_keys(target, memory, weights, h, memory_lengths):
    """Your four matrices are used in the order in which the dictionary holds them. If it holds W_O first, W_O is used
    as W_Q. Take each matrix by its name, for example with `**weights["self"]`."""
    seen, _ = multi_head_attention(target, target, *weights["self"].values(), h, causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(seen, memory, *weights["cross"].values(), h, real)
    return output


@wrong
def causal_mask_on_the_memory_too(target, memory, weights, h, memory_lengths):
    """You use a causal mask in the cross-attention too, so the first query sees only one row of the memory. The memory
    is complete before the first word is written, so nothing in it is the future. Hide only the padding there."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    real = real & np.tri(target.shape[1], memory.shape[1], dtype=bool)
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=h, mask=real)
    return output


@wrong
def causal_mask_in_place_of_padding(target, memory, weights, h, memory_lengths):
    """Your cross-attention uses the causal mask and does not hide the padding. It should do the opposite. The memory is
    complete, so every query can read all of it except the padding rows. `memory_lengths` tells you which rows these
    are."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = np.tri(target.shape[1], memory.shape[1], dtype=bool)
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=h, mask=real)
    return output


@wrong
def padding_is_read(target, memory, weights, h, memory_lengths):
    """Your cross-attention reads the padding: `memory_lengths` makes no difference. The numbers in padding rows depend
    on how the batch was packed. In another batch, the same sentence would get a different output."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=h)
    return output


@wrong
def padding_set_to_zero(target, memory, weights, h, memory_lengths):
    """Your real rows lose a share of the weight to the padding, as if the padding rows were zeros. A row of zeros has
    score 0, and exp(0) is 1. To hide rows, their scores must be far below all the others before the softmax."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])[:, 0, :, None]
    output, _ = multi_head_attention(seen, memory * real, **weights["cross"], h=h)
    return output


@wrong
def padding_removed_after_the_softmax(target, memory, weights, h, memory_lengths):
    """The padding rows add nothing to your output, but they still take a share of the weight: the weights of the real
    rows add up to less than 1. Hide the padding before the softmax, so that the real rows share all of the weight."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    W = weights["cross"]
    Q, K, V = split_heads(seen @ W["W_Q"], h), split_heads(memory @ W["W_K"], h), split_heads(memory @ W["W_V"], h)
    shares = (
        softmax(Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])) * padding_mask(memory_lengths, memory.shape[1])[:, None]
    )
    return merge_heads(shares @ V) @ W["W_O"]


@wrong
def padding_mask_turned_over(target, memory, weights, h, memory_lengths):
    """Your cross-attention reads the padding and nothing else. In this course, True means "may attend": the first
    memory_lengths[b] rows."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=h, mask=~real)
    return output


@wrong
def one_row_of_padding_too_many(target, memory, weights, h, memory_lengths):
    """Your queries see one row too many: the first padding row of each memory. With a length of 3, the real rows have
    the indices 0, 1 and 2. Does your code leave out index 3?"""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths + 1, memory.shape[1])[:, None]
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=h, mask=real)
    return output


@wrong
def padding_on_the_target_too(target, memory, weights, h, memory_lengths):
    """You also hid rows of the target, using the lengths of the memory. These lengths say nothing about the target,
    which has no padding here. In self-attention, hide only the future."""
    hidden = causal_mask(target.shape[1]) & padding_mask(memory_lengths, target.shape[1])[:, None]
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=hidden)
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=h, mask=real)
    return output


@wrong
def padding_on_the_target_instead(target, memory, weights, h, memory_lengths):
    """The padding mask is in the wrong attention: it hides rows of the target, while the padding of the memory is read.
    The memory is the padded array, so use the mask in the attention whose keys come from the memory."""
    hidden = causal_mask(target.shape[1]) & padding_mask(memory_lengths, target.shape[1])[:, None]
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=hidden)
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=h)
    return output


@wrong
def no_axis_for_the_heads(target, memory, weights, h, memory_lengths):
    """The batch axis of your padding mask is applied to the heads: the attention weights have the shape (B, h, n_q,
    n_k), and NumPy lines shapes up from the right. If B = h, each head gets the length of a different sequence. If B =
    1, the result happens to be right. Otherwise NumPy stops with an error. At which places does the mask need an axis
    of size 1?"""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=h, mask=real)
    return output


@wrong
def masks_in_another_order_than_the_heads(target, memory, weights, h, memory_lengths):
    """In a batch, your cross-attention uses the lengths of other sequences. That happens if the masks are repeated for
    the heads, but in another order than the heads of the sequences: for example, all masks once for each head, but the
    heads sequence by sequence. Which mask belongs to head i of sequence b?"""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])
    mixed = np.tile(real, (h, 1, 1)).reshape(len(target), h, 1, -1)
    return multi_head_attention(seen, memory, **weights["cross"], h=h, mask=mixed)[0]


@wrong
def one_length_for_the_batch(target, memory, weights, h, memory_lengths):
    """You used the length of the first memory for the whole batch. Every sequence has its own length: memory_lengths[b]
    belongs to memory[b]."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths[:1], memory.shape[1])[:, None]
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=h, mask=real)
    return output


@wrong
def cut_to_the_shortest_memory(target, memory, weights, h, memory_lengths):
    """All your memories are read up to the length of the shortest one. This way no padding is read, but the longer
    memories lose real rows. Each sequence has its own length, and a mask can hide different rows in each of them. Which
    rows should be hidden in memory[b]?"""
    mask = causal_mask(target.shape[1])
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=mask)
    return multi_head_attention(seen, memory[:, : memory_lengths.min()], **weights["cross"], h=h)[0]


@wrong
def cut_to_the_longest_memory(target, memory, weights, h, memory_lengths):
    """All your memories are read up to the length of the longest one. The shorter memories still have padding within
    that length, and your queries read it. Each sequence has its own length, and a mask can hide different rows in each
    of them. Which rows should be hidden in memory[b]?"""
    mask = causal_mask(target.shape[1])
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=mask)
    return multi_head_attention(seen, memory[:, : memory_lengths.max()], **weights["cross"], h=h)[0]


@wrong
def padding_in_front(target, memory, weights, h, memory_lengths):
    """Your cross-attention reads the last rows of each memory, as if the padding came first. In this course, the padding
    comes after the real rows: sequence b has its real rows at 0 to memory_lengths[b] - 1."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = np.flip(padding_mask(memory_lengths, memory.shape[1]), axis=-1)[:, None]
    return multi_head_attention(seen, memory, **weights["cross"], h=h, mask=real)[0]


@wrong
def keys_from_the_target(target, memory, weights, h, memory_lengths):
    """The keys of your cross-attention come from the target, and only its values from the memory. A key tells a query
    what its value is about, so both should come from the same rows: the rows of the memory. If the target and the
    memory have equally many rows, NumPy reports no error."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    W = weights["cross"]
    Q, K, V = split_heads(seen @ W["W_Q"], h), split_heads(target @ W["W_K"], h), split_heads(memory @ W["W_V"], h)
    O, _ = masked_attention(Q, K, V, real)
    return merge_heads(O) @ W["W_O"]


@wrong
def values_from_the_target(target, memory, weights, h, memory_lengths):
    """The keys of your cross-attention come from the memory, but its values from the target. So it finds the right
    place and then reads from the wrong text. Keys and values should come from the same rows: the rows of the memory."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    W = weights["cross"]
    Q, K, V = split_heads(seen @ W["W_Q"], h), split_heads(memory @ W["W_K"], h), split_heads(target @ W["W_V"], h)
    O, _ = masked_attention(Q, K, V, real)
    return merge_heads(O) @ W["W_O"]


@wrong
def queries_from_the_bare_target(target, memory, weights, h, memory_lengths):
    """Your cross-attention computes its queries from the original target, so no self-attention affects your output. The
    two should run in sequence, the self-attention first. Does your code compute it, and do the queries come from its
    result?"""
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(target, memory, **weights["cross"], h=h, mask=real)
    return output


@wrong
def self_attention_alone(target, memory, weights, h, memory_lengths):
    """You return the result of the self-attention, so nothing from the memory is in your output. The second attention
    gives the output: it makes its queries from the result of the first, and its keys and values from the memory."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    return seen


@wrong
def side_by_side(target, memory, weights, h, memory_lengths):
    """You let the target read itself and the memory separately, then added the two results. They should run in
    sequence. The result of the self-attention gives the queries for the memory, and the result of the cross-attention
    is the output."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(target, memory, **weights["cross"], h=h, mask=real)
    return seen + output


@wrong
def memory_first(target, memory, weights, h, memory_lengths):
    """You ran the cross-attention first and the self-attention after it. In a decoder block, the self-attention comes
    first. A position gathers the words written so far, and then knows what to look for in the memory."""
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    seen, _ = multi_head_attention(target, memory, **weights["cross"], h=h, mask=real)
    output, _ = multi_head_attention(seen, seen, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    return output


@wrong
def target_added_before_the_cross_attention(target, memory, weights, h, memory_lengths):
    """You added the target to the result of the self-attention. A whole decoder block has such residual connections.
    This exercise leaves them out, so that you can see each of the two attentions by itself."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(target + seen, memory, **weights["cross"], h=h, mask=real)
    return output


@wrong
def added_to_what_the_memory_gave(target, memory, weights, h, memory_lengths):
    """You added the result of the self-attention to that of the cross-attention. A whole decoder block has such
    residual connections, but this exercise leaves them out. Return the result of the cross-attention as it is."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=h, mask=real)
    return seen + output


@wrong
def residual_connections_everywhere(target, memory, weights, h, memory_lengths):
    """You added the residual connections of a whole decoder block: the target after the first attention, and that sum
    again after the second. This exercise leaves them out, so that you can see each attention by itself."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    seen = target + seen
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=h, mask=real)
    return seen + output


@wrong
def the_same_weights_twice(target, memory, weights, h, memory_lengths):
    """Both of your attentions use weights["self"]. The cross-attention has its own learned weights, weights["cross"].
    Looking for something in the target and looking for something in the memory are different tasks."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(seen, memory, **weights["self"], h=h, mask=real)
    return output


@wrong
def the_two_sets_of_weights_exchanged(target, memory, weights, h, memory_lengths):
    """You swapped the weights: your self-attention uses weights["cross"], and your cross-attention uses
    weights["self"]."""
    seen, _ = multi_head_attention(target, target, **weights["cross"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(seen, memory, **weights["self"], h=h, mask=real)
    return output


@wrong
def one_head_in_the_cross_attention(target, memory, weights, h, memory_lengths):
    """Your cross-attention runs with a single head, whatever h is. Both attentions should have h heads. With only one
    head, a position has a single query, so it can look for only one thing."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=1, mask=real)
    return output


@wrong
def one_head_in_the_self_attention(target, memory, weights, h, memory_lengths):
    """Your self-attention runs with a single head, whatever h is. Both attentions should have h heads."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=1, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=h, mask=real)
    return output


@wrong
def cannot_see_itself(target, memory, weights, h, memory_lengths):
    """Your causal mask hides a position from itself, so the first row of the target has nothing to look at. Each
    position should see itself and the positions before it."""
    before = np.tri(target.shape[1], k=-1, dtype=bool)
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=before)
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=h, mask=real)
    return output


@wrong
def only_the_future(target, memory, weights, h, memory_lengths):
    """Your causal mask is reversed: each position sees itself and the later positions, but nothing before it. True
    means "may attend", so the first row of the mask should have a single True."""
    after = causal_mask(target.shape[1]).T
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=after)
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=h, mask=real)
    return output


@wrong
def scaled_by_d_model_over_h(target, memory, weights, h, memory_lengths):
    """You divide the scores by the root of d_model / h. Many models choose that width, but here W_Q can have any number
    of columns, and d_k is that number divided by h. It is also the last axis of Q after `split_heads`. Divide the
    scores by the root of this d_k."""

    def attend(X, Y, W, mask):
        Q, K, V = split_heads(X @ W["W_Q"], h), split_heads(Y @ W["W_K"], h), split_heads(Y @ W["W_V"], h)
        O, _ = masked_attention(Q * np.sqrt(Q.shape[-1] * h / X.shape[-1]), K, V, mask)
        return merge_heads(O) @ W["W_O"]

    seen = attend(target, target, weights["self"], causal_mask(target.shape[1]))
    return attend(seen, memory, weights["cross"], padding_mask(memory_lengths, memory.shape[1])[:, None])


@wrong
def forbidden_scores_not_low_enough(target, memory, weights, h, memory_lengths):
    """The number that you use for a forbidden score is not far enough below the others. If a query's allowed scores are
    far below zero themselves, the forbidden rows win or get a share. Scores can go down to -1000, so take a number that
    no score comes near."""

    def attend(X, Y, W, mask):
        Q, K, V = split_heads(X @ W["W_Q"], h), split_heads(Y @ W["W_K"], h), split_heads(Y @ W["W_V"], h)
        scores = Q @ K.swapaxes(-1, -2) / np.sqrt(K.shape[-1])
        return merge_heads(softmax(np.where(mask, scores, -100.0)) @ V) @ W["W_O"]

    seen = attend(target, target, weights["self"], causal_mask(target.shape[1]))
    return attend(seen, memory, weights["cross"], padding_mask(memory_lengths, memory.shape[1])[:, None])


@wrong
def one_scale_for_both(target, memory, weights, h, memory_lengths):
    """You divide the scores of both attentions by the same root, which belongs to weights["self"]. The heads of
    the cross-attention may be wider or narrower: take its d_k from weights["cross"], or from its own queries."""
    own = weights["self"]["W_Q"].shape[1] // h

    def attend(X, Y, W, mask):
        Q, K, V = split_heads(X @ W["W_Q"], h), split_heads(Y @ W["W_K"], h), split_heads(Y @ W["W_V"], h)
        O, _ = masked_attention(Q * np.sqrt(Q.shape[-1] / own), K, V, mask)
        return merge_heads(O) @ W["W_O"]

    seen = attend(target, target, weights["self"], causal_mask(target.shape[1]))
    return attend(seen, memory, weights["cross"], padding_mask(memory_lengths, memory.shape[1])[:, None])


@wrong
def exps_with_no_shift(target, memory, weights, h, memory_lengths):
    """Your attention takes exp of the scores without a shift. From 710 on, exp is inf, and far below zero it is 0 for a
    whole row. Either way, the weights become nan. Subtracting the largest score of each row changes no weight. Does exp
    get such shifted scores in your code?"""

    def attend(X, Y, W, mask):
        Q, K, V = split_heads(X @ W["W_Q"], h), split_heads(Y @ W["W_K"], h), split_heads(Y @ W["W_V"], h)
        e = np.exp(Q @ K.swapaxes(-1, -2) / np.sqrt(K.shape[-1])) * mask
        return merge_heads(e / e.sum(axis=-1, keepdims=True) @ V) @ W["W_O"]

    seen = attend(target, target, weights["self"], causal_mask(target.shape[1]))
    return attend(seen, memory, weights["cross"], padding_mask(memory_lengths, memory.shape[1])[:, None])


@wrong
def the_memory_asks(target, memory, weights, h, memory_lengths):
    """In your cross-attention the memory gives the queries and the target the keys, so there is one output row for each
    row of the memory. Make the queries from the target and the keys from the memory. The output should have n_q
    rows."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    output, _ = multi_head_attention(memory, seen, **weights["cross"], h=h)
    return output


@wrong
def the_target_twice(target, memory, weights, h, memory_lengths):
    """Your second attention reads the result of the first instead of the memory, so nothing from the memory is in your
    output. Its keys and values should come from the memory."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    output, _ = multi_head_attention(seen, seen, **weights["cross"], h=h, mask=causal_mask(target.shape[1]))
    return output


@wrong
def a_pair_returned(target, memory, weights, h, memory_lengths):
    """You return a pair, the output and the attention weights. Return only the output, an array of shape (B, n_q,
    d_model)."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    return multi_head_attention(seen, memory, **weights["cross"], h=h, mask=real)


@wrong
def the_pair_asks(target, memory, weights, h, memory_lengths):
    """You passed on the weights of the self-attention instead of its output. `multi_head_attention` returns the pair
    (output, weights), and the output comes first."""
    _, seen = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(seen[:, 0], memory, **weights["cross"], h=h, mask=real)
    return output


def _decoder(attend, target, memory, weights, h, memory_lengths):
    """Run both attentions with ``attend(X_q, X_kv, W, h, mask)``."""
    seen = attend(target, target, weights["self"], h, causal_mask(target.shape[1]))
    return attend(seen, memory, weights["cross"], h, padding_mask(memory_lengths, memory.shape[1])[:, None])


def _attend(X_q, X_kv, W, h, mask, *, split=split_heads, merge=merge_heads, root=None, blend=None):
    """Run one attention with a mistake, which the keyword arguments choose."""
    Q, K, V = split(X_q @ W["W_Q"], h), split(X_kv @ W["W_K"], h), split(X_kv @ W["W_V"], h)
    scores = Q @ K.swapaxes(-1, -2) / (np.sqrt(Q.shape[-1]) if root is None else root(X_q, W, h))
    weights = (blend or masked_softmax)(scores, mask)
    return merge(weights @ V) @ W["W_O"]


def _dealt(X, h):
    return np.moveaxis(X.reshape(*X.shape[:-1], -1, h), -1, -3)


def _stacked(X, h):
    return X.reshape(X.shape[0], h, X.shape[1], -1)


@wrong
def heads_dealt_out_like_cards(target, memory, weights, h, memory_lengths):
    """You deal the columns out to the heads like cards: head 0 gets columns 0, h, 2 · h and so on. Each head should get
    columns that are side by side. In a row, which comes first: all the columns of head 0, or column 0 of every head?"""

    def attend(X_q, X_kv, W, h, mask):
        return _attend(X_q, X_kv, W, h, mask, split=_dealt)

    return _decoder(attend, target, memory, weights, h, memory_lengths)


@wrong
def dealt_out_and_collected_like_cards(target, memory, weights, h, memory_lengths):
    """You deal the columns out to the heads like cards, and put the heads back together in the same way: head 0 gets
    columns 0, h, 2 · h and so on. Each head should get columns that are side by side. Its scores depend on which
    columns of the queries and keys it gets."""

    def attend(X_q, X_kv, W, h, mask):
        def merge(O):
            return np.moveaxis(O, -3, -1).reshape(O.shape[0], O.shape[2], -1)

        return _attend(X_q, X_kv, W, h, mask, split=_dealt, merge=merge)

    return _decoder(attend, target, memory, weights, h, memory_lengths)


@wrong
def heads_by_reshape_alone(target, memory, weights, h, memory_lengths):
    """Your head 0 gets numbers from the first rows only, but from all their columns, as in a split by reshape alone: a
    reshape keeps the numbers in row-by-row order. Every head should get all the rows, with its own columns. Which two
    axes should trade places after the reshape?"""

    def attend(X_q, X_kv, W, h, mask):
        return _attend(X_q, X_kv, W, h, mask, split=_stacked)

    return _decoder(attend, target, memory, weights, h, memory_lengths)


@wrong
def split_and_merged_by_reshape_alone(target, memory, weights, h, memory_lengths):
    """Your head 0 gets numbers from the first rows only, but from all their columns, as in a split by reshape alone,
    and your merge reverses that. A reshape keeps the numbers in row-by-row order. Every head should get all the rows,
    with its own columns. Two axes should trade places in both steps."""

    def attend(X_q, X_kv, W, h, mask):
        return _attend(X_q, X_kv, W, h, mask, split=_stacked, merge=lambda O: O.reshape(O.shape[0], O.shape[2], -1))

    return _decoder(attend, target, memory, weights, h, memory_lengths)


@wrong
def merged_by_reshape_alone(target, memory, weights, h, memory_lengths):
    """Your rows mix positions, as if the heads were put back together by reshape alone. A reshape reads all of head 0
    before it reaches head 1. The axis of the heads should first be next to that of their columns."""

    def attend(X_q, X_kv, W, h, mask):
        return _attend(X_q, X_kv, W, h, mask, merge=lambda O: O.reshape(O.shape[0], O.shape[2], -1))

    return _decoder(attend, target, memory, weights, h, memory_lengths)


@wrong
def width_of_a_head_from_d_model(target, memory, weights, h, memory_lengths):
    """You divide the scores by the root of d_model // h. The width of a head's queries need not be that. d_k is the
    number of columns of W_Q divided by h, the last axis of the queries after the split."""

    def attend(X_q, X_kv, W, h, mask):
        return _attend(X_q, X_kv, W, h, mask, root=lambda X, _W, h: np.sqrt(X.shape[-1] // h))

    return _decoder(attend, target, memory, weights, h, memory_lengths)


@wrong
def width_of_a_head_from_d_model_and_a_low_number(target, memory, weights, h, memory_lengths):
    """You divide the scores by the root of d_model // h. The width of a head's queries need not be that. d_k is the
    number of columns of W_Q divided by h, the last axis of the queries after the split."""

    def attend(X_q, X_kv, W, h, mask):
        return _attend(
            X_q, X_kv, W, h, mask, root=lambda X, _W, h: np.sqrt(X.shape[-1] // h),
            blend=lambda scores, mask: softmax(np.where(mask, scores, -1e9)),
        )  # fmt: skip

    return _decoder(attend, target, memory, weights, h, memory_lengths)


@wrong
def scaled_by_d_model(target, memory, weights, h, memory_lengths):
    """You divide the scores by the root of d_model. A score adds up d_k products, as many as a head's queries have
    columns, so divide by the root of d_k."""

    def attend(X_q, X_kv, W, h, mask):
        return _attend(X_q, X_kv, W, h, mask, root=lambda X, _W, _h: np.sqrt(X.shape[-1]))

    return _decoder(attend, target, memory, weights, h, memory_lengths)


@wrong
def scaled_by_all_heads_together(target, memory, weights, h, memory_lengths):
    """You divide the scores by the root of h · d_k, the width of all heads together. Each head has its own scores, from
    d_k columns only, so divide by the root of d_k."""

    def attend(X_q, X_kv, W, h, mask):
        return _attend(X_q, X_kv, W, h, mask, root=lambda _X, W, _h: np.sqrt(W["W_Q"].shape[1]))

    return _decoder(attend, target, memory, weights, h, memory_lengths)


@wrong
def scaled_by_the_width_of_the_values(target, memory, weights, h, memory_lengths):
    """You divide the scores by the root of d_v. The values have no part in the scores. A score adds up d_k products, so
    divide by the root of d_k."""

    def attend(X_q, X_kv, W, h, mask):
        return _attend(X_q, X_kv, W, h, mask, root=lambda _X, W, h: np.sqrt(W["W_V"].shape[1] // h))

    return _decoder(attend, target, memory, weights, h, memory_lengths)


@wrong
def scores_without_a_scale(target, memory, weights, h, memory_lengths):
    """Your scores have no scale in the end. As in chapter 3, they should be divided by the root of d_k, the width of a
    head's queries. `multi_head_attention` does that for you. If your code divides them, is the result used, and does
    another factor undo it?"""

    def attend(X_q, X_kv, W, h, mask):
        return _attend(X_q, X_kv, W, h, mask, root=lambda _X, _W, _h: 1.0)

    return _decoder(attend, target, memory, weights, h, memory_lengths)


@wrong
def scores_times_the_mask(target, memory, weights, h, memory_lengths):
    """Your hidden scores are 0 or very close to it, and exp(0) is 1, so the hidden rows still get a share. A hidden
    score should be far below all the others. What does your code turn it into?"""

    def attend(X_q, X_kv, W, h, mask):
        return _attend(X_q, X_kv, W, h, mask, blend=lambda scores, mask: softmax(scores * mask))

    return _decoder(attend, target, memory, weights, h, memory_lengths)


@wrong
def hidden_after_the_softmax(target, memory, weights, h, memory_lengths):
    """Your hidden rows add nothing to the output, but your softmax still counts them, so the other weights add up to
    less than 1. Hide the scores before the softmax, which then shares the whole weight among the rows that may be
    seen."""

    def attend(X_q, X_kv, W, h, mask):
        return _attend(X_q, X_kv, W, h, mask, blend=lambda scores, mask: softmax(scores) * mask)

    return _decoder(attend, target, memory, weights, h, memory_lengths)


@wrong
def values_as_wide_as_the_keys(target, memory, weights, h, memory_lengths):
    """You give each head d_k columns of the values and d_k rows of W_O. But d_v need not be d_k. A head's values have
    as many columns as W_V has, divided by h, and the rows of W_O are shared out in the same way."""

    def attend(X_q, X_kv, W, h, mask):
        d, output = W["W_Q"].shape[1] // h, 0
        for p in (slice(i * d, (i + 1) * d) for i in range(h)):
            O, _ = masked_attention(X_q @ W["W_Q"][:, p], X_kv @ W["W_K"][:, p], X_kv @ W["W_V"][:, p], mask)
            output = output + O @ W["W_O"][p]
        return output

    seen = attend(target, target, weights["self"], h, causal_mask(target.shape[1]))
    return attend(seen, memory, weights["cross"], h, padding_mask(memory_lengths, memory.shape[1]))


def _borrowed(names, target, memory, weights, h, memory_lengths):
    """Run the cross-attention with some matrices of the self-attention."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    W = weights["cross"] | {name: weights["self"][name] for name in names}
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(seen, memory, **W, h=h, mask=real)
    return output


@wrong
def one_w_o_for_both(target, memory, weights, h, memory_lengths):
    """Your cross-attention uses the W_O of weights["self"]. Each of the two attentions has four matrices of its own:
    take all four from weights["cross"]."""
    return _borrowed(["W_O"], target, memory, weights, h, memory_lengths)


@wrong
def one_w_q_for_both(target, memory, weights, h, memory_lengths):
    """Your cross-attention uses the W_Q of weights["self"]. Its queries do come from the target, but each of the two
    attentions has four matrices of its own: take all four from weights["cross"]."""
    return _borrowed(["W_Q"], target, memory, weights, h, memory_lengths)


@wrong
def w_o_and_w_q_for_both(target, memory, weights, h, memory_lengths):
    """Your cross-attention uses the W_Q and the W_O of weights["self"]. Each of the two attentions has four matrices of
    its own: take all four from weights["cross"]."""
    return _borrowed(["W_Q", "W_O"], target, memory, weights, h, memory_lengths)


@wrong
def sorted_by_length(target, memory, weights, h, memory_lengths):
    """Each sequence of your output is right, but they are in another order: the short memories come first. If you group
    the sequences by length, put each result back in the place of its own sequence."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=h, mask=real)
    return output[np.argsort(memory_lengths, kind="stable")]


@wrong
def longest_first(target, memory, weights, h, memory_lengths):
    """Each sequence of your output is right, but they are in another order: the long memories come first. If you sort
    the sequences by length, put each result back in the place of its own sequence."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=h, mask=real)
    return output[np.argsort(-np.asarray(memory_lengths), kind="stable")]


def _right_but_changes(change, target, memory, weights, h, memory_lengths):
    """Return the right output, and apply ``change`` to the inputs."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=h, mask=real)
    change(seen, real)
    return output


@wrong
def target_written_over(target, memory, weights, h, memory_lengths):
    """The caller's `target` is not the same afterwards: you wrote into it. If other code needs the target later, it
    finds your numbers instead. Put your results in a new array."""

    def change(_seen, _real):
        target[...] += 1.0

    return _right_but_changes(change, target, memory, weights, h, memory_lengths)


@wrong
def memory_written_over(target, memory, weights, h, memory_lengths):
    """The caller's `memory` is not the same afterwards: you wrote into it. The memory is read again for every word that
    is written. Work on a copy, or leave it as it is: a mask hides the padding without changing it."""

    def change(_seen, real):
        memory[~real[:, 0, 0]] = 0.0

    return _right_but_changes(change, target, memory, weights, h, memory_lengths)


@wrong
def weights_written_over(target, memory, weights, h, memory_lengths):
    """The caller's `weights` are not the same afterwards: you changed an array in them, or one of the dictionaries. The
    next call would start from the changed weights. Work on copies."""

    def change(_seen, _real):
        weights["self"]["W_Q"] *= 0.5

    return _right_but_changes(change, target, memory, weights, h, memory_lengths)


wrong = misconceptions_of("previous_token_head")


@wrong
def looks_at_itself(n, d_model):
    """From row 1 on, row i of your head's output is token i, its own. With your weights, a query matches the key of the same
    position or of the same token. Queries and keys should read only positions, and the query of position i should match
    the key of position i - 1. Is exactly one of the two shifted by one step? Are W_Q and W_K two different arrays?"""
    n_tokens = d_model - n
    token, position = np.eye(d_model)[:, :n_tokens], np.eye(d_model)[:, n_tokens:]
    return {"W_Q": 50 * np.sqrt(n) * position, "W_K": position, "W_V": token, "W_O": token.T}


@wrong
def last_token_comes_out_as_zeros(n, d_model):
    """If the previous token is the last one of the vocabulary, your output is all zeros. With d_model - n tokens, does each
    token have a column of its own in W_V, and a row in W_O?"""
    n_tokens = d_model - n
    token, position = np.eye(d_model)[:, : max(n_tokens - 1, 1)], np.eye(d_model)[:, n_tokens:]
    token = token * (n_tokens > 1)
    return {"W_Q": 50 * np.sqrt(n) * position @ np.eye(n, k=-1), "W_K": position, "W_V": token, "W_O": token.T}


@wrong
def looks_at_the_next_one(n, d_model):
    """Your head looks one step ahead: without a mask, row i of the output is token i + 1 (except for the last row). The
    shift goes the wrong way. Queries should match the keys one step before them. So does your code move the queries or
    the keys, and which way?
    """
    n_tokens = d_model - n
    token, position = np.eye(d_model)[:, :n_tokens], np.eye(d_model)[:, n_tokens:]
    one_before = np.eye(n, k=1)
    return {"W_Q": 50 * np.sqrt(n) * position @ one_before, "W_K": position, "W_V": token, "W_O": token.T}


@wrong
def key_rows_from_row_n(n, d_model):
    """Your queries or keys read the positions from row n on. The first d_model - n rows of W_Q and W_K belong to the
    tokens, so the rows of the positions begin at row d_model - n. The two agree only if there are as many tokens as
    positions."""
    n_tokens = d_model - n
    token, position = np.eye(d_model)[:, :n_tokens], np.eye(d_model)[:, n_tokens:]
    keys = np.zeros((d_model, n))
    keys[n + np.arange(n - 1), np.arange(n - 1)] = 1
    return {"W_Q": 50 * np.sqrt(n) * position @ np.eye(n, k=-1), "W_K": keys, "W_V": token, "W_O": token.T}


@wrong
def looks_two_back(n, d_model):
    """Your head looks two steps back: row 2 of the output is the token of position 0. It should look one step back."""
    n_tokens = d_model - n
    token, position = np.eye(d_model)[:, :n_tokens], np.eye(d_model)[:, n_tokens:]
    one_before = np.eye(n, k=-2)
    return {"W_Q": 50 * np.sqrt(n) * position @ one_before, "W_K": position, "W_V": token, "W_O": token.T}


@wrong
def looks_to_both_sides(n, d_model):
    """Your head looks at both neighbors, with about half the weight on each. Under a causal mask the next token is
    hidden, and you get the right answer. Without the mask, the next token mixes in. The head itself should choose only
    the previous token."""
    n_tokens = d_model - n
    token, position = np.eye(d_model)[:, :n_tokens], np.eye(d_model)[:, n_tokens:]
    one_before = np.eye(n, k=-1) + np.eye(n, k=1)
    return {"W_Q": 50 * np.sqrt(n) * position @ one_before, "W_K": position, "W_V": token, "W_O": token.T}


@wrong
def tokens_looked_up_too(n, d_model):
    """Your queries or keys also read the token columns, so the tokens affect where a position looks. For example, if
    all columns are shifted by one, token 3 looks for token 2, just as position 3 looks for position 2. Only the
    position columns should decide where a position looks."""
    token = np.eye(d_model)[:, : d_model - n]
    return {"W_Q": 1000 * np.eye(d_model, k=-1), "W_K": np.eye(d_model), "W_V": token, "W_O": token.T}


@wrong
def right_under_a_mask_only(n, d_model):
    """Your head is right under a causal mask only. If your scores come from a single column, each is a product of two
    numbers. So without a mask, all the queries together can find just two keys, the largest and the smallest. Use more
    columns, so that every position can have a direction of its own."""
    n_tokens, place = d_model - n, np.arange(n)[:, None]
    token, position = np.eye(d_model)[:, :n_tokens], np.eye(d_model)[:, n_tokens:]
    keys, signs = (place + 1.0) * (-1.0) ** place, -((-1.0) ** place)
    return {"W_Q": 50 * position @ signs, "W_K": position @ keys, "W_V": token, "W_O": token.T}


@wrong
def looks_at_all_before(n, d_model):
    """Your head looks at all earlier positions equally. Row 1 is right, because only one token comes before it, but row
    2 is a mixture of two. The score should be high for one key, at position i - 1, and low for all the others."""
    n_tokens = d_model - n
    token, position = np.eye(d_model)[:, :n_tokens], np.eye(d_model)[:, n_tokens:]
    one_before = np.tri(n, k=-1)
    return {"W_Q": 50 * np.sqrt(n) * position @ one_before, "W_K": position, "W_V": token, "W_O": token.T}


@wrong
def looks_at_the_first(n, d_model):
    """Your head always looks at position 0. That is right for row 1, but not for the later rows. The query of each
    position should match only the key of the position before it."""
    n_tokens = d_model - n
    token, position = np.eye(d_model)[:, :n_tokens], np.eye(d_model)[:, n_tokens:]
    one_before = np.eye(1, n) * np.ones((n, 1))
    return {"W_Q": 50 * np.sqrt(n) * position @ one_before, "W_K": position, "W_V": token, "W_O": token.T}


@wrong
def everything_but_the_previous(n, d_model):
    """In your head, position i - 1 has the lowest score of all, so the weight goes to other positions. A key with a
    high score gets a large weight, and a key with a low score gets a small weight. Check the sign."""
    n_tokens = d_model - n
    token, position = np.eye(d_model)[:, :n_tokens], np.eye(d_model)[:, n_tokens:]
    one_before = np.eye(n, k=-1)
    return {"W_Q": -50 * np.sqrt(n) * position @ one_before, "W_K": position, "W_V": token, "W_O": token.T}


@wrong
def scores_of_one(n, d_model):
    """Your head barely prefers the right position. Its score is only 1 above the others (before the division by
    sqrt(d_k)), and exp(1) is less than three times exp(0). With one-hot vectors alone, the weights stay nearly equal.
    How can you make the softmax sharper?"""
    n_tokens = d_model - n
    token, position = np.eye(d_model)[:, :n_tokens], np.eye(d_model)[:, n_tokens:]
    one_before = np.eye(n, k=-1)
    return {"W_Q": position @ one_before, "W_K": position, "W_V": token, "W_O": token.T}


@wrong
def scores_too_close(n, d_model):
    """The right position gets the largest weight, but not enough of it. All other positions together may take 0.001 at
    most, so after the division by sqrt(d_k) its score must be further above theirs. If it is only 10 / 3 above another
    score, for example, its weight is only 28 times as large as that position's weight (exp(10 / 3) is about 28)."""
    n_tokens = d_model - n
    token, position = np.eye(d_model)[:, :n_tokens], np.eye(d_model)[:, n_tokens:]
    one_before = np.eye(n, k=-1)
    return {"W_Q": 10 * position @ one_before, "W_K": position, "W_V": token, "W_O": token.T}


@wrong
def scores_too_close_if_long(n, d_model):
    """For some sizes your weights are sharp enough, but for other sizes the score of the right position is not far
    enough above the others. There are three possible causes: two positions may have nearly the same key, many positions
    may each take a small share, and scores shrink if d_k grows, because `multi_head_attention` divides them by the root
    of d_k. How far must the right score be above every other one, for any n?"""
    n_tokens = d_model - n
    token, position = np.eye(d_model)[:, :n_tokens], np.eye(d_model)[:, n_tokens:]
    return {"W_Q": 50 * position @ np.eye(n, k=-1), "W_K": position, "W_V": token, "W_O": token.T}


@wrong
def sharpness_in_the_values(n, d_model):
    """Your head finds the right position, but its output is too large. Only the scores make weights sharp, so use W_Q
    and W_K for that. W_V and W_O together decide how large the output is, and a one-hot vector contains a 1. Which of
    the two is too large?"""
    n_tokens = d_model - n
    token, position = np.eye(d_model)[:, :n_tokens], np.eye(d_model)[:, n_tokens:]
    one_before = np.eye(n, k=-1)
    return {"W_Q": 50 * np.sqrt(n) * position @ one_before, "W_K": position, "W_V": 100 * token, "W_O": token.T}


@wrong
def copies_position_and_token(n, d_model):
    """Your head copies the whole row of the previous position: the token one-hot, but also the position one-hot. The
    position columns of the output should be zeros. Does W_V read too much, or does W_O write too much?"""
    n_tokens = d_model - n
    whole, position = np.eye(d_model), np.eye(d_model)[:, n_tokens:]
    one_before = np.eye(n, k=-1)
    return {"W_Q": 50 * np.sqrt(n) * position @ one_before, "W_K": position, "W_V": whole, "W_O": whole}


@wrong
def copies_the_position(n, d_model):
    """Your head outputs the position of the previous token instead of the token: it copies the position one-hot and
    leaves the token columns empty. Positions are only for finding the token. Do the first d_model - n columns pass
    through both W_V and W_O?"""
    n_tokens = d_model - n
    position = np.eye(d_model)[:, n_tokens:]
    one_before = np.eye(n, k=-1)
    return {"W_Q": 50 * np.sqrt(n) * position @ one_before, "W_K": position, "W_V": position, "W_O": position.T}


@wrong
def half_of_the_columns_are_tokens(n, d_model):
    """Your head takes the first half of the columns for the token and the second half for the position. That is right
    only if there are as many tokens as positions. The last n columns are the position, and all columns before them the
    token."""
    half = d_model // 2
    looks_back = np.eye(d_model - half, k=-1)
    position, token = np.eye(d_model)[:, half:], np.eye(d_model)[:, :half]
    return {"W_Q": 50 * np.sqrt(n) * position @ looks_back, "W_K": position, "W_V": token, "W_O": token.T}


@wrong
def copies_n_columns(n, d_model):
    """Your head copies the first n columns of a row. But the first d_model - n columns are the token, and the last n are
    the position. The two numbers only agree if there are as many tokens as positions."""
    token, position = np.eye(d_model)[:, :n], np.eye(d_model)[:, d_model - n :]
    return {"W_Q": 50 * np.sqrt(n) * position @ np.eye(n, k=-1), "W_K": position, "W_V": token, "W_O": token.T}


@wrong
def writes_into_the_last_columns(n, d_model):
    """Your head reads the right token, but W_V and W_O together write it into the last columns of the row, n columns
    too far to the right. Which of the two moves token t out of column t?"""
    n_tokens = d_model - n
    token, position = np.eye(d_model)[:, :n_tokens], np.eye(d_model)[:, n_tokens:]
    one_before = np.eye(n, k=-1)
    back = np.eye(n_tokens, d_model, k=n)
    return {"W_Q": 50 * np.sqrt(n) * position @ one_before, "W_K": position, "W_V": token, "W_O": back}


@wrong
def positions_in_front(n, d_model):
    """You took the first n columns for the positions and the rest for the tokens. But the token one-hot comes first and
    is d_model - n columns wide. The position one-hot fills the last n columns."""
    position, token = np.eye(d_model)[:, :n], np.eye(d_model)[:, n:]
    one_before = np.eye(n, k=-1)
    return {"W_Q": 50 * np.sqrt(n) * position @ one_before, "W_K": position, "W_V": token, "W_O": token.T}


@wrong
def queries_of_zero(n, d_model):
    """In each row, your scores are equal, so every position takes the plain average of all the positions that it may
    see. To pick a position, a query must match one key better than the others. Which columns of X contain the position,
    and do both W_Q and W_K tell the positions apart?"""
    n_tokens = d_model - n
    token, position = np.eye(d_model)[:, :n_tokens], np.eye(d_model)[:, n_tokens:]
    return {"W_Q": np.zeros((d_model, n)), "W_K": position, "W_V": token, "W_O": token.T}


@wrong
def tokens_turned_round(n, d_model):
    """Your head finds the right token, but outputs a different one: W_V and W_O together reverse the order of the token
    columns. Token t is read from column t, so it should be written into column t."""
    n_tokens = d_model - n
    token, position = np.eye(d_model)[:, :n_tokens], np.eye(d_model)[:, n_tokens:]
    one_before = np.eye(n, k=-1)
    return {"W_Q": 50 * np.sqrt(n) * position @ one_before, "W_K": position, "W_V": token, "W_O": token[:, ::-1].T}


def _looking(n, d_model, seen, sharp=1000.0, values=1.0):
    """Return a head that copies the token from the positions with a 1 in row i of ``seen``."""
    n_tokens = d_model - n
    token, position = np.eye(d_model)[:, :n_tokens], np.eye(d_model)[:, n_tokens:]
    return {"W_Q": sharp * position @ seen, "W_K": position, "W_V": values * token, "W_O": token.T}


@wrong
def values_too_small(n, d_model):
    """Your head finds the right position, but its output is too small. W_V and W_O together decide how large it is. A
    one-hot vector contains a 1, and row i of the output should contain the same 1 as the token that it copies."""
    return _looking(n, d_model, np.eye(n, k=-1), values=0.5)


@wrong
def right_under_a_mask_with_more_columns(n, d_model):
    """Your head is right under a causal mask only. Without it, later positions have scores that are as high as that of
    the previous one, or higher. For example, scores may grow with the position of the key. The head itself should give
    the previous position the highest score of all."""
    return _looking(n, d_model, np.eye(n, k=-1) + 2 * np.triu(np.ones((n, n)), k=1))


@wrong
def latest_of_the_others(n, d_model):
    """Each row of your head looks at the latest position except its own. Under a causal mask, that is the previous one.
    Without the mask, all rows but the last look at the last position. The score should depend on which position comes
    immediately before the query's own, not on which comes last."""
    latest = np.tile(np.arange(n, dtype=float), (n, 1))
    return _looking(n, d_model, latest - 2.0 * n * np.eye(n))


@wrong
def looks_at_the_last(n, d_model):
    """Your head always looks at the last position of the sequence. If the key's score only grows with its position,
    every query prefers the same key. The query of each position should match only the key of the position before it."""
    return _looking(n, d_model, np.eye(1, n, k=n - 1) * np.ones((n, 1)))


@wrong
def looks_at_itself_and_all_before(n, d_model):
    """Your head looks at all positions up to its own equally, as if it were a causal mask. The score should be high for
    one key, at position i - 1, and low for all the others."""
    return _looking(n, d_model, np.tri(n))


@wrong
def looks_at_itself_and_the_previous(n, d_model):
    """Your head gives about half the weight to the previous position and half to its own. The query of position i
    should match a single key, at position i - 1."""
    return _looking(n, d_model, np.eye(n) + np.eye(n, k=-1))


@wrong
def last_query_missing(n, d_model):
    """All rows but the last look at the previous position, if there is one. The query of the last position, n - 1, does
    not match the key of position n - 2. Is one of the two missing or wrong? Does a loop, a slice or a condition of
    yours leave it out?"""
    return _looking(n, d_model, np.eye(n, k=-1) * (np.arange(n) < n - 1)[:, None])


@wrong
def first_query_missing(n, d_model):
    """All rows but row 1 look at the previous position. The query of position 1 does not match the key of position 0.
    Is one of the two missing or wrong? Does a loop or a slice of yours start one position too late?"""
    seen = np.eye(n, k=-1)
    seen[1] = np.eye(n)[1]
    return _looking(n, d_model, seen)


@wrong
def several_keys_match(n, d_model):
    """Some rows give another position just as much weight as the position before them, because their queries have
    the same score with both. Compare such a query with all the keys. Is one of them 0, or does more than one key
    match? For example, two positions share a key if a code is too short, or if a circle has fewer places than there
    are positions."""
    angle = np.linspace(0, 2 * np.pi, n)
    back = angle - (angle[1] - angle[0])
    n_tokens = d_model - n
    token, position = np.eye(d_model)[:, :n_tokens], np.eye(d_model)[:, n_tokens:]
    queries, keys = (np.column_stack([np.cos(t), np.sin(t)]) for t in (back, angle))
    return {"W_Q": 1e6 * position @ queries, "W_K": position @ keys, "W_V": token, "W_O": token.T}


@wrong
def scores_that_overflow(n, d_model):
    """The numbers in your W_Q or W_K are so large that products are infinite, and the weights become nan. With smaller
    numbers, the head would find the right position. How far above the others must a score be?"""
    head = _looking(n, d_model, np.eye(n, k=-1), sharp=1e200)
    return head | {"W_K": 1e200 * head["W_K"]}


@wrong
def too_many_columns(n, d_model):
    """Your head is right for short sequences. For longer ones, your d_k or d_v is above 1000, which is not allowed.
    Does it grow like the square of n, with a column for each pair of positions? A column for each position is
    enough."""
    n_tokens = d_model - n
    position = np.eye(d_model)[:, n_tokens:]
    head, extra = _looking(n, d_model, np.eye(n, k=-1)), np.zeros((d_model, 2 * n * n))
    return head | {"W_Q": np.hstack([1e5 * position @ np.eye(n, k=-1), extra]), "W_K": np.hstack([position, extra])}


@wrong
def a_single_column(n, d_model):
    """Your queries and keys work like a single column, so a score is a product of two numbers. Of all the keys, a query
    with a positive number then prefers the largest, and a query with a negative number the smallest. So all the queries
    together can find just two keys. Use more columns, so that every position can have a direction of its own."""
    n_tokens, place = d_model - n, np.arange(n)[:, None]
    token, position = np.eye(d_model)[:, :n_tokens], np.eye(d_model)[:, n_tokens:]
    return {"W_Q": 100.0 * position @ (place - 1), "W_K": position @ place, "W_V": token, "W_O": token.T}

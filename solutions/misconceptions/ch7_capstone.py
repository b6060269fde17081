"""Wrong solutions of chapter 7, one mistake each, with what a student who made it should hear."""

import numpy as np

from autograder.misconception import misconceptions_of
from solutions.ch1_weighted_averaging import softmax
from solutions.ch4_masking import causal_mask, masked_attention, padding_mask
from solutions.ch5_multi_head import merge_heads, multi_head_attention, split_heads

wrong = misconceptions_of("decoder_attention")


@wrong
def target_without_a_causal_mask(target, memory, weights, h, memory_lengths):
    """Your self-attention has no causal mask: every position of the target reads the ones after it. When a translation is
    written word by word, these are not there yet. Change the last row of the target, and your first row changes with it."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h)
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=h, mask=real)
    return output


@wrong
def causal_mask_on_the_memory_too(target, memory, weights, h, memory_lengths):
    """You put a causal mask on the cross-attention as well, so the first query sees one row of the memory only. The memory
    is complete before the first word is written: nothing in it is the future. There, only padding is hidden."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    real = real & np.tri(target.shape[1], memory.shape[1], dtype=bool)
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=h, mask=real)
    return output


@wrong
def causal_mask_in_place_of_padding(target, memory, weights, h, memory_lengths):
    """Your cross-attention has the causal mask, and padding is not hidden at all. It is the other way round: the memory is
    complete, so every query may read all of it, except for the rows that are only padding. `memory_lengths` says which."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = np.tri(target.shape[1], memory.shape[1], dtype=bool)
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=h, mask=real)
    return output


@wrong
def padding_is_read(target, memory, weights, h, memory_lengths):
    """Your cross-attention reads the padding: `memory_lengths` makes no difference. What stands in the padding rows is an
    accident of how the batch was packed, and another batch would give the same sentence another output."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=h)
    return output


@wrong
def padding_set_to_zero(target, memory, weights, h, memory_lengths):
    """You filled the padding rows of the memory with zeros and let the attention read them. A row of zeros has score 0, and
    exp(0) is 1: it still takes its share of the weight from the real rows. Hidden rows need a mask on the scores."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])[:, 0, :, None]
    output, _ = multi_head_attention(seen, memory * real, **weights["cross"], h=h)
    return output


@wrong
def padding_mask_turned_over(target, memory, weights, h, memory_lengths):
    """Your cross-attention reads the padding, and only that. In this course True means "may attend": the first
    memory_lengths[b] rows."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=h, mask=~real)
    return output


@wrong
def one_row_of_padding_too_many(target, memory, weights, h, memory_lengths):
    """Your queries see one row too many, the first padding row of each memory. With a length of 3 the real rows have the
    indices 0, 1 and 2: is index 3 smaller than 3?"""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths + 1, memory.shape[1])[:, None]
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=h, mask=real)
    return output


@wrong
def padding_on_the_target_too(target, memory, weights, h, memory_lengths):
    """You hid rows of the target as well, by the lengths of the memory. These lengths say nothing about the target, which
    has no padding here; in self-attention only the future is hidden."""
    hidden = causal_mask(target.shape[1]) & padding_mask(memory_lengths, target.shape[1])[:, None]
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=hidden)
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=h, mask=real)
    return output


@wrong
def padding_on_the_target_instead(target, memory, weights, h, memory_lengths):
    """The padding mask is on the wrong attention: it hides rows of the target, and the padding of the memory is read. It is
    the memory that was padded, so the mask belongs where the memory's rows are the keys."""
    hidden = causal_mask(target.shape[1]) & padding_mask(memory_lengths, target.shape[1])[:, None]
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=hidden)
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=h)
    return output


@wrong
def no_axis_for_the_heads(target, memory, weights, h, memory_lengths):
    """Your padding mask has the shape (B, 1, n_k), and the weights have (B, h, n_q, n_k). Lined up from the right, the batch
    axis of your mask meets the heads: with B = h each head gets the lengths of another sequence, with other sizes NumPy
    stops. Where does the mask need an axis of size 1?"""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=h, mask=real)
    return output


@wrong
def one_length_for_the_batch(target, memory, weights, h, memory_lengths):
    """You used one length for the whole batch, that of the first memory. Every sequence has a length of its own:
    memory_lengths[b] belongs to memory[b]."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths[:1], memory.shape[1])[:, None]
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=h, mask=real)
    return output


@wrong
def cut_to_the_shortest_memory(target, memory, weights, h, memory_lengths):
    """You cut all the memories to the length of the shortest one. No padding is read that way, but the longer ones lose rows that
    are real. Each sequence has a length of its own: a mask can say so row by row."""
    mask = causal_mask(target.shape[1])
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=mask)
    return multi_head_attention(seen, memory[:, : memory_lengths.min()], **weights["cross"], h=h)[0]


@wrong
def cut_to_the_longest_memory(target, memory, weights, h, memory_lengths):
    """You cut all the memories to the length of the longest one. The shorter ones still have padding within that length, and
    your queries read it. Each sequence has a length of its own: a mask can say so row by row."""
    mask = causal_mask(target.shape[1])
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=mask)
    return multi_head_attention(seen, memory[:, : memory_lengths.max()], **weights["cross"], h=h)[0]


@wrong
def keys_from_the_target(target, memory, weights, h, memory_lengths):
    """The keys of your cross-attention come from the target, and only its values from the memory. A key says what its value
    can be found by, so the two come from the same rows: those of the memory. With as many rows in both, NumPy does not
    complain."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    W = weights["cross"]
    Q, K, V = split_heads(seen @ W["W_Q"], h), split_heads(target @ W["W_K"], h), split_heads(memory @ W["W_V"], h)
    O, _ = masked_attention(Q, K, V, real)
    return merge_heads(O) @ W["W_O"]


@wrong
def values_from_the_target(target, memory, weights, h, memory_lengths):
    """The keys of your cross-attention come from the memory, but its values from the target: it finds the right place, and
    then reads another book. Keys and values come from the same rows, those of the memory."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    W = weights["cross"]
    Q, K, V = split_heads(seen @ W["W_Q"], h), split_heads(memory @ W["W_K"], h), split_heads(target @ W["W_V"], h)
    O, _ = masked_attention(Q, K, V, real)
    return merge_heads(O) @ W["W_O"]


@wrong
def queries_from_the_bare_target(target, memory, weights, h, memory_lengths):
    """Your cross-attention asks with the target as it came in, so the self-attention before it has no effect at all. The
    two stand one behind the other: what comes out of the first is what asks in the second."""
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(target, memory, **weights["cross"], h=h, mask=real)
    return output


@wrong
def self_attention_alone(target, memory, weights, h, memory_lengths):
    """You stopped after the self-attention: nothing of the memory is in your output. A second attention follows, in which
    the result of the first asks the memory."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    return seen


@wrong
def side_by_side(target, memory, weights, h, memory_lengths):
    """You let the target read itself and the memory side by side, and added the two. They stand one behind the other: what
    comes out of the self-attention asks the memory, and what the memory answers is the output."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(target, memory, **weights["cross"], h=h, mask=real)
    return seen + output


@wrong
def memory_first(target, memory, weights, h, memory_lengths):
    """You asked the memory first and let the target read itself afterwards. In a decoder block the self-attention comes
    first: a position gathers what has been written so far, and then knows what to look for in the memory."""
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    seen, _ = multi_head_attention(target, memory, **weights["cross"], h=h, mask=real)
    output, _ = multi_head_attention(seen, seen, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    return output


@wrong
def target_added_before_the_cross_attention(target, memory, weights, h, memory_lengths):
    """You added the target to what the self-attention returned. A whole decoder block has such residual connections, but
    here they are left out, so that each of the two attentions can be seen by itself."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(target + seen, memory, **weights["cross"], h=h, mask=real)
    return output


@wrong
def added_to_what_the_memory_gave(target, memory, weights, h, memory_lengths):
    """You added the result of the self-attention to what the memory answered. A whole decoder block has such residual
    connections, but here they are left out: return what the cross-attention returns."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=h, mask=real)
    return seen + output


@wrong
def residual_connections_everywhere(target, memory, weights, h, memory_lengths):
    """You put in the residual connections that a whole decoder block has: the target is added after the first attention,
    and the sum again after the second. The task leaves them out, so that each attention can be seen by itself."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    seen = target + seen
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=h, mask=real)
    return seen + output


@wrong
def the_same_weights_twice(target, memory, weights, h, memory_lengths):
    """Both of your attentions use weights["self"]. The cross-attention has learned weights of its own, weights["cross"]:
    what to look for in one's own words and what to look for in the memory are two different questions."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(seen, memory, **weights["self"], h=h, mask=real)
    return output


@wrong
def the_two_sets_of_weights_exchanged(target, memory, weights, h, memory_lengths):
    """Your self-attention uses weights["cross"], your cross-attention weights["self"]: they have changed places."""
    seen, _ = multi_head_attention(target, target, **weights["cross"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(seen, memory, **weights["self"], h=h, mask=real)
    return output


@wrong
def one_head_in_the_cross_attention(target, memory, weights, h, memory_lengths):
    """Your cross-attention runs with a single head, whatever h is. Both attentions have h heads; with one alone, all
    queries of a position have to agree on what to look at."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=1, mask=real)
    return output


@wrong
def one_head_in_the_self_attention(target, memory, weights, h, memory_lengths):
    """Your self-attention runs with a single head, whatever h is. Both attentions have h heads."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=1, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=h, mask=real)
    return output


@wrong
def cannot_see_itself(target, memory, weights, h, memory_lengths):
    """Your causal mask hides a position from itself, so the first row of the target has nothing to look at. Each position
    may see itself and what came before."""
    before = np.tri(target.shape[1], k=-1, dtype=bool)
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=before)
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=h, mask=real)
    return output


@wrong
def only_the_future(target, memory, weights, h, memory_lengths):
    """Your causal mask is upside down: each position sees itself and what comes after, and nothing before. True means
    "may attend", so the first row of the mask has a single True."""
    after = causal_mask(target.shape[1]).T
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=after)
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(seen, memory, **weights["cross"], h=h, mask=real)
    return output


@wrong
def scaled_by_d_model_over_h(target, memory, weights, h, memory_lengths):
    """You took d_k to be d_model / h. Many models choose it so, but here W_Q may have any number of columns, and d_k is that
    number divided by h: the scores are divided by its square root. Read it off W_Q, or off Q after `split_heads`."""

    def attend(X, Y, W, mask):
        Q, K, V = split_heads(X @ W["W_Q"], h), split_heads(Y @ W["W_K"], h), split_heads(Y @ W["W_V"], h)
        O, _ = masked_attention(Q * np.sqrt(Q.shape[-1] * h / X.shape[-1]), K, V, mask)
        return merge_heads(O) @ W["W_O"]

    seen = attend(target, target, weights["self"], causal_mask(target.shape[1]))
    return attend(seen, memory, weights["cross"], padding_mask(memory_lengths, memory.shape[1])[:, None])


@wrong
def forbidden_scores_not_low_enough(target, memory, weights, h, memory_lengths):
    """The number that stands for a forbidden score in your attention is not far enough below the others. Where a query's
    allowed scores are themselves far below zero, the forbidden rows win, or get their share. Scores may go down to -1000:
    take a number that no score comes near."""

    def attend(X, Y, W, mask):
        Q, K, V = split_heads(X @ W["W_Q"], h), split_heads(Y @ W["W_K"], h), split_heads(Y @ W["W_V"], h)
        scores = Q @ K.swapaxes(-1, -2) / np.sqrt(K.shape[-1])
        return merge_heads(softmax(np.where(mask, scores, -100.0)) @ V) @ W["W_O"]

    seen = attend(target, target, weights["self"], causal_mask(target.shape[1]))
    return attend(seen, memory, weights["cross"], padding_mask(memory_lengths, memory.shape[1])[:, None])


@wrong
def exps_with_no_shift(target, memory, weights, h, memory_lengths):
    """Your attention takes exp of the scores as they are. From 710 on that is inf, and far below zero it is 0 for a whole
    row: either way the weights become nan. Subtract the largest score of each row first: it changes no weight."""

    def attend(X, Y, W, mask):
        Q, K, V = split_heads(X @ W["W_Q"], h), split_heads(Y @ W["W_K"], h), split_heads(Y @ W["W_V"], h)
        e = np.exp(Q @ K.swapaxes(-1, -2) / np.sqrt(K.shape[-1])) * mask
        return merge_heads(e / e.sum(axis=-1, keepdims=True) @ V) @ W["W_O"]

    seen = attend(target, target, weights["self"], causal_mask(target.shape[1]))
    return attend(seen, memory, weights["cross"], padding_mask(memory_lengths, memory.shape[1])[:, None])


@wrong
def the_memory_asks(target, memory, weights, h, memory_lengths):
    """In your cross-attention the memory asks and the target is asked, so there is one row for each row of the memory. What
    is being written asks, what is being read is asked: the output has n_q rows."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    output, _ = multi_head_attention(memory, seen, **weights["cross"], h=h)
    return output


@wrong
def the_target_twice(target, memory, weights, h, memory_lengths):
    """Your second attention reads the result of the first, not the memory: nothing of the memory is in your output. Its keys
    and values come from the memory."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    output, _ = multi_head_attention(seen, seen, **weights["cross"], h=h, mask=causal_mask(target.shape[1]))
    return output


@wrong
def a_pair_returned(target, memory, weights, h, memory_lengths):
    """You return the pair that `multi_head_attention` gave. Here only the output is asked for, one array of shape
    (B, n_q, d_model)."""
    seen, _ = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    return multi_head_attention(seen, memory, **weights["cross"], h=h, mask=real)


@wrong
def the_pair_asks(target, memory, weights, h, memory_lengths):
    """You handed on the weights of the self-attention where its output belongs. `multi_head_attention` returns the pair
    (output, weights), and the output comes first."""
    _, seen = multi_head_attention(target, target, **weights["self"], h=h, mask=causal_mask(target.shape[1]))
    real = padding_mask(memory_lengths, memory.shape[1])[:, None]
    output, _ = multi_head_attention(seen[:, 0], memory, **weights["cross"], h=h, mask=real)
    return output


wrong = misconceptions_of("previous_token_head")


@wrong
def looks_at_itself(n, d_model):
    """Row i of your head's output is token i, its own. In your weights a query agrees with the key of the same position, or
    of the same token. Queries and keys should read positions only, and the query of position i has to agree with the key of
    position i - 1: one of the two needs a shift by one step."""
    n_tokens = d_model - n
    token, position = np.eye(d_model)[:, :n_tokens], np.eye(d_model)[:, n_tokens:]
    return {"W_Q": 50 * np.sqrt(n) * position, "W_K": position, "W_V": token, "W_O": token.T}


@wrong
def looks_at_the_next_one(n, d_model):
    """Your head looks one step ahead: without a mask, row i of the output is token i + 1. The shift goes the wrong way. Which
    row of the shift matrix belongs to position 3, and in which column must its 1 stand?"""
    n_tokens = d_model - n
    token, position = np.eye(d_model)[:, :n_tokens], np.eye(d_model)[:, n_tokens:]
    one_before = np.eye(n, k=1)
    return {"W_Q": 50 * np.sqrt(n) * position @ one_before, "W_K": position, "W_V": token, "W_O": token.T}


@wrong
def looks_two_back(n, d_model):
    """Your head looks two steps back: row 2 of the output is token 0. One step is asked for."""
    n_tokens = d_model - n
    token, position = np.eye(d_model)[:, :n_tokens], np.eye(d_model)[:, n_tokens:]
    one_before = np.eye(n, k=-2)
    return {"W_Q": 50 * np.sqrt(n) * position @ one_before, "W_K": position, "W_V": token, "W_O": token.T}


@wrong
def looks_to_both_sides(n, d_model):
    """Your head looks at both neighbours, with half the weight on each. Under a causal mask the next token is out of sight
    and you get the right answer; without the mask it mixes in. The head has to choose the token before it by itself."""
    n_tokens = d_model - n
    token, position = np.eye(d_model)[:, :n_tokens], np.eye(d_model)[:, n_tokens:]
    one_before = np.eye(n, k=-1) + np.eye(n, k=1)
    return {"W_Q": 50 * np.sqrt(n) * position @ one_before, "W_K": position, "W_V": token, "W_O": token.T}


@wrong
def looks_at_all_before(n, d_model):
    """Your head looks at everything that came before, in equal parts. Row 1 is right, since only one token came before it;
    row 2 is a mixture of two. The score must be high for one key, that of position i - 1, and low for all the others."""
    n_tokens = d_model - n
    token, position = np.eye(d_model)[:, :n_tokens], np.eye(d_model)[:, n_tokens:]
    one_before = np.tri(n, k=-1)
    return {"W_Q": 50 * np.sqrt(n) * position @ one_before, "W_K": position, "W_V": token, "W_O": token.T}


@wrong
def looks_at_the_first(n, d_model):
    """Your head always looks at position 0. For row 1 that is the token before, for the others it is not: each position
    needs a query of its own."""
    n_tokens = d_model - n
    token, position = np.eye(d_model)[:, :n_tokens], np.eye(d_model)[:, n_tokens:]
    one_before = np.eye(1, n) * np.ones((n, 1))
    return {"W_Q": 50 * np.sqrt(n) * position @ one_before, "W_K": position, "W_V": token, "W_O": token.T}


@wrong
def everything_but_the_previous(n, d_model):
    """Your head looks everywhere except at the previous token: the score of position i - 1 is the lowest. A high score
    attracts, a low one repels. Check the sign."""
    n_tokens = d_model - n
    token, position = np.eye(d_model)[:, :n_tokens], np.eye(d_model)[:, n_tokens:]
    one_before = np.eye(n, k=-1)
    return {"W_Q": -50 * np.sqrt(n) * position @ one_before, "W_K": position, "W_V": token, "W_O": token.T}


@wrong
def scores_of_one(n, d_model):
    """Your head prefers the right position, but hardly: the matching score is 1 (before the division by sqrt(d_k)), all
    others are 0, and exp(1) is less than three times exp(0). With one-hot vectors alone a softmax stays soft. What makes it
    sharp?"""
    n_tokens = d_model - n
    token, position = np.eye(d_model)[:, :n_tokens], np.eye(d_model)[:, n_tokens:]
    one_before = np.eye(n, k=-1)
    return {"W_Q": position @ one_before, "W_K": position, "W_V": token, "W_O": token.T}


@wrong
def scores_of_ten(n, d_model):
    """The right position gets most of the weight, but not enough: your matching score is 10 before the division by
    sqrt(d_k). With d_k = 9, for example, only 10 / 3 is left of it, exp(10 / 3) is about 28, and every other position
    still gets 1 part in about 40. Within 0.001 needs far sharper weights."""
    n_tokens = d_model - n
    token, position = np.eye(d_model)[:, :n_tokens], np.eye(d_model)[:, n_tokens:]
    one_before = np.eye(n, k=-1)
    return {"W_Q": 10 * position @ one_before, "W_K": position, "W_V": token, "W_O": token.T}


def _of_size(size, n, d_model):
    n_tokens = d_model - n
    token, position = np.eye(d_model)[:, :n_tokens], np.eye(d_model)[:, n_tokens:]
    return {"W_Q": size * position @ np.eye(n, k=-1), "W_K": position, "W_V": token, "W_O": token.T}


@wrong
def scores_of_twenty(n, d_model):
    """The right position gets nearly all the weight in short sequences, but not in longer ones: your matching score is
    20 before the division by sqrt(d_k), and where d_k grows with n it shrinks. With d_k = 6, for example, about 8 is
    left, and exp(8) is only some 3000 times as much as exp(0). How large must it be for any n?"""
    return _of_size(20, n, d_model)


@wrong
def scores_of_fifty(n, d_model):
    """Sharp enough for short sequences, but not for long ones: your matching score is 50 before the division by
    sqrt(d_k), and where d_k grows with n it shrinks. With d_k = 40, for example, about 8 is left, and 39 other
    positions take their share. How large must it be for any n?"""
    return _of_size(50, n, d_model)


@wrong
def sharpness_in_the_values(n, d_model):
    """Your head finds the right position, but its output is many times too large: you made the values large. How sharp the
    weights are is decided by the scores, so by W_Q and W_K alone; W_V and W_O decide how large the answer is, and a one-hot
    holds a 1."""
    n_tokens = d_model - n
    token, position = np.eye(d_model)[:, :n_tokens], np.eye(d_model)[:, n_tokens:]
    one_before = np.eye(n, k=-1)
    return {"W_Q": 50 * np.sqrt(n) * position @ one_before, "W_K": position, "W_V": 100 * token, "W_O": token.T}


@wrong
def copies_position_and_token(n, d_model):
    """Your head brings along the whole row of the previous position, its token and also its position one-hot. The position
    columns of the output must be zeros: W_V reads too much, or W_O writes too much."""
    n_tokens = d_model - n
    whole, position = np.eye(d_model), np.eye(d_model)[:, n_tokens:]
    one_before = np.eye(n, k=-1)
    return {"W_Q": 50 * np.sqrt(n) * position @ one_before, "W_K": position, "W_V": whole, "W_O": whole}


@wrong
def copies_the_position(n, d_model):
    """Your head tells where the previous token stands, not which one it is: the output has the position one-hot, and the
    token columns are empty. The position is for finding; W_V has to read the first d_model - n columns."""
    n_tokens = d_model - n
    position = np.eye(d_model)[:, n_tokens:]
    one_before = np.eye(n, k=-1)
    return {"W_Q": 50 * np.sqrt(n) * position @ one_before, "W_K": position, "W_V": position, "W_O": position.T}


@wrong
def writes_into_the_last_columns(n, d_model):
    """Your head reads the right token, but W_O writes it at the right end of the row, into the columns that belong to the
    positions. Token t goes back into column t, where it came from."""
    n_tokens = d_model - n
    token, position = np.eye(d_model)[:, :n_tokens], np.eye(d_model)[:, n_tokens:]
    one_before = np.eye(n, k=-1)
    back = np.eye(n_tokens, d_model, k=n)
    return {"W_Q": 50 * np.sqrt(n) * position @ one_before, "W_K": position, "W_V": token, "W_O": back}


@wrong
def positions_in_front(n, d_model):
    """You took the first n columns for the positions and the rest for the tokens. It is the other way round: the token's
    one-hot comes first, d_model - n columns wide, and the position's one-hot fills the last n."""
    position, token = np.eye(d_model)[:, :n], np.eye(d_model)[:, n:]
    one_before = np.eye(n, k=-1)
    return {"W_Q": 50 * np.sqrt(n) * position @ one_before, "W_K": position, "W_V": token, "W_O": token.T}


@wrong
def queries_of_zero(n, d_model):
    """All of your scores are equal, so every position takes the plain average of all the positions it may see. Without a
    query that says what it is looking for, attention is an average. Which columns of X tell where a position is?"""
    n_tokens = d_model - n
    token, position = np.eye(d_model)[:, :n_tokens], np.eye(d_model)[:, n_tokens:]
    return {"W_Q": np.zeros((d_model, n)), "W_K": position, "W_V": token, "W_O": token.T}


@wrong
def tokens_turned_round(n, d_model):
    """Your head finds the right token and then says another one: the order of the token columns is turned round between W_V
    and W_O. Token t was read from column t and has to be written into column t."""
    n_tokens = d_model - n
    token, position = np.eye(d_model)[:, :n_tokens], np.eye(d_model)[:, n_tokens:]
    one_before = np.eye(n, k=-1)
    return {"W_Q": 50 * np.sqrt(n) * position @ one_before, "W_K": position, "W_V": token, "W_O": token[:, ::-1].T}

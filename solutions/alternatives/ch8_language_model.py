"""Right solutions of chapter 8 that are written differently from the reference. The checks must accept all of them."""

import math

import numpy as np

from autograder.misconception import alternatives_of
from solutions.ch1_weighted_averaging import softmax
from solutions.ch3_scaling import scaled_dot_product_attention as attention
from solutions.ch4_masking import causal_mask, masked_attention
from solutions.ch5_multi_head import merge_heads, split_heads
from solutions.ch6_complexity import decode_step
from solutions.ch8_language_model import layer_norm, next_token_logits, rotate_positions, sample_next, transformer_block

right = alternatives_of("layer_norm")


@right.worth_reading
def centred_first(X, gain, bias, eps=1e-5):
    """First the distances from the mean, then the mean of their squares, as in `var`. The distances are used again
    later."""
    centred = X - np.mean(X, axis=-1, keepdims=True)
    return centred * (np.mean(centred**2, axis=-1, keepdims=True) + eps) ** -0.5 * gain + bias


@right
def with_the_columns_in_front(X, gain, bias, eps=1e-5):
    """The columns are moved to the front, where dividing needs no keepdims."""
    columns = np.moveaxis(X, -1, 0)
    normed = (columns - columns.mean(axis=0)) / np.sqrt(columns.var(axis=0) + eps)
    return np.moveaxis(normed, 0, -1) * gain + bias


@right
def norm_with_einsum(X, gain, bias, eps=1e-5):
    """Sums by einsum."""
    d = X.shape[-1]
    centred = X - np.einsum("...d->...", X)[..., None] / d
    variance = np.einsum("...d,...d->...", centred, centred) / d
    return np.einsum("...d,...,d->...d", centred, 1 / np.sqrt(variance + eps), gain) + bias


@right
def row_by_row(X, gain, bias, eps=1e-5):
    """A list of rows, made an array again."""
    rows = [(x - sum(x) / len(x)) for x in X.reshape(-1, X.shape[-1])]
    rows = [gain * x / math.sqrt(float(x @ x) / len(x) + eps) + bias for x in rows]
    return np.array(rows).reshape(X.shape)


@right
def by_the_length(X, gain, bias, eps=1e-5):
    """The length of the centred row: the root of d times the variance."""
    d = X.shape[-1]
    centred = X - X.mean(-1, keepdims=True)
    length = np.hypot(np.linalg.norm(centred, axis=-1, keepdims=True), math.sqrt(d * eps))
    return gain * (math.sqrt(d) * centred / length) + bias


@right
def by_a_centring_matrix(X, gain, bias, eps=1e-5):
    """A matrix takes the mean away."""
    d = X.shape[-1]
    centred = X @ (np.eye(d) - np.full((d, d), 1 / d))
    return centred / np.sqrt(np.square(centred).mean(axis=-1)[..., None] + eps) * gain + bias


right = alternatives_of("rotate_positions")


@right.worth_reading
def as_complex_numbers(X, positions, base=10000.0):
    """A pair is a complex number, and one multiplication turns it: multiplying such numbers adds their angles."""
    d = X.shape[-1]
    turn = np.exp(1j * np.outer(positions, base ** (-2 * np.arange(d // 2) / d)))
    Z = (X[..., 0::2] + 1j * X[..., 1::2]) * turn
    return np.stack([Z.real, Z.imag], axis=-1).reshape(X.shape)


@right
def seen_as_complex_numbers(X, positions, base=10000.0):
    """The same memory, looked at as complex numbers and back."""
    d = X.shape[-1]
    Z = np.ascontiguousarray(X, dtype=np.float64).view(np.complex128)
    angles = np.asarray(positions)[:, None] / np.power(float(base), np.arange(0, d, 2) / d)
    return (Z * (np.cos(angles) + 1j * np.sin(angles))).view(np.float64)


@right
def by_matrices_of_two_by_two(X, positions, base=10000.0):
    """A two by two matrix for each position and pair, and an einsum."""
    d = X.shape[-1]
    angles = np.array([[p * base ** (-2 * i / d) for i in range(d // 2)] for p in positions])
    R = np.array([[np.cos(angles), -np.sin(angles)], [np.sin(angles), np.cos(angles)]])
    pairs = X.reshape(*X.shape[:-1], d // 2, 2)
    return np.einsum("abni,...nib->...nia", R, pairs).reshape(X.shape)


@right
def by_one_large_matrix(X, positions, base=10000.0):
    """A matrix for each position, with the small ones down its diagonal."""
    d = X.shape[-1]
    rows = []
    for k, p in enumerate(positions):
        R = np.zeros((d, d))
        for i in range(d // 2):
            t = p * base ** (-2 * i / d)
            R[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[math.cos(t), -math.sin(t)], [math.sin(t), math.cos(t)]]
        rows.append(X[..., k, :] @ R.T)
    return np.stack(rows, axis=-2)


@right
def by_a_partner(X, positions, base=10000.0):
    """Each entry times a cosine, plus its partner (with a sign) times a sine: as programs in print have it."""
    d = X.shape[-1]
    angles = np.repeat(np.multiply.outer(positions, base ** -(np.arange(d // 2) * 2 / d)), 2, axis=-1)
    partner = np.empty_like(X)
    partner[..., 0::2], partner[..., 1::2] = -X[..., 1::2], X[..., 0::2]
    return X * np.cos(angles) + partner * np.sin(angles)


@right
def with_plain_loops(X, positions, base=10000.0):
    """Three loops into a new array."""
    d = X.shape[-1]
    result = np.empty(X.shape)
    for place in np.ndindex(X.shape[:-1]):
        for i in range(d // 2):
            t = float(positions[place[-1]]) / base ** (2 * i / d)
            a, b = X[place][2 * i], X[place][2 * i + 1]
            result[(*place, 2 * i)] = a * math.cos(t) - b * math.sin(t)
            result[(*place, 2 * i + 1)] = b * math.cos(t) + a * math.sin(t)
    return result


@right
def written_into_a_copy(X, positions, base=10000.0):
    """A copy, changed pair by pair; the angles by exp and log."""
    result, d = X.copy(), X.shape[-1]
    for i in range(0, d, 2):
        t = np.asarray(positions) * np.exp(-i / d * np.log(base))
        result[..., i] = X[..., i] * np.cos(t) - X[..., i + 1] * np.sin(t)
        result[..., i + 1] = X[..., i] * np.sin(t) + X[..., i + 1] * np.cos(t)
    return result


right = alternatives_of("transformer_block")


@right.worth_reading
def in_small_functions(X, weights, h):
    """Attention and mlp as separate functions, and two sums: the shape of every transformer in two lines."""
    n = X.shape[-2]

    def attend(Z, W_Q, W_K, W_V, W_O):
        Q = rotate_positions(split_heads(Z @ W_Q, h), np.arange(n))
        K = rotate_positions(split_heads(Z @ W_K, h), np.arange(n))
        return merge_heads(masked_attention(Q, K, split_heads(Z @ W_V, h), causal_mask(n))[0]) @ W_O

    def mlp(Z, W_1, b_1, W_2, b_2):
        return np.clip(Z @ W_1 + b_1, 0, None) @ W_2 + b_2

    X = X + attend(layer_norm(X, **weights["norm_1"]), **weights["attention"])
    return X + mlp(layer_norm(X, **weights["norm_2"]), **weights["mlp"])


@right
def head_by_head(X, weights, h):
    """A loop over the heads, each with its columns of the matrices and its rows of W_O, added up."""
    W, n = weights["attention"], X.shape[-2]
    normed = layer_norm(X, weights["norm_1"]["gain"], weights["norm_1"]["bias"])
    Y = X
    for W_Q, W_K, W_V, W_O in zip(
        np.split(W["W_Q"], h, axis=1), np.split(W["W_K"], h, axis=1), np.split(W["W_V"], h, axis=1), np.split(W["W_O"], h),
        strict=True,
    ):  # fmt: skip
        Q, K = (rotate_positions(normed @ one, np.arange(n)) for one in (W_Q, W_K))
        scores = (Q @ np.swapaxes(K, -1, -2)) / math.sqrt(Q.shape[-1])
        scores = np.where(np.tri(n, dtype=bool), scores, -np.inf)
        Y = Y + softmax(scores) @ (normed @ W_V) @ W_O
    hidden = layer_norm(Y, **weights["norm_2"]) @ weights["mlp"]["W_1"] + weights["mlp"]["b_1"]
    return Y + (hidden * (hidden > 0)) @ weights["mlp"]["W_2"] + weights["mlp"]["b_2"]


@right
def position_by_position(X, weights, h):
    """A loop over the queries, each with the keys up to its own position."""
    W, n = weights["attention"], X.shape[-2]
    normed = layer_norm(X, **weights["norm_1"])
    Q, K, V = (split_heads(normed @ W[name], h) for name in ("W_Q", "W_K", "W_V"))
    Q, K = rotate_positions(Q, np.arange(n)), rotate_positions(K, np.arange(n))
    rows = [attention(Q[..., i : i + 1, :], K[..., : i + 1, :], V[..., : i + 1, :])[0] for i in range(n)]
    Y = X + merge_heads(np.concatenate(rows, axis=-2)) @ W["W_O"]
    hidden = layer_norm(Y, **weights["norm_2"]) @ weights["mlp"]["W_1"] + weights["mlp"]["b_1"]
    return Y + (abs(hidden) + hidden) / 2 @ weights["mlp"]["W_2"] + weights["mlp"]["b_2"]


@right
def block_with_einsum(X, weights, h):
    """Einsum from end to end, and an added mask of minus a billion."""
    W, mlp, n, d = weights["attention"], weights["mlp"], X.shape[-2], X.shape[-1]
    normed = layer_norm(X, **weights["norm_1"])
    Q, K, V = (np.einsum("...nd,dhk->...hnk", normed, W[name].reshape(d, h, -1)) for name in ("W_Q", "W_K", "W_V"))
    Q, K = (rotate_positions(A, np.arange(n)) for A in (Q, K))
    scores = np.einsum("...hik,...hjk->...hij", Q / math.sqrt(Q.shape[-1]), K) + -1e9 * (1 - np.tri(n))
    mixed = np.einsum("...hij,...hjk->...hik", softmax(scores), V)
    X = X + np.einsum("...hik,hkd->...id", mixed, W["W_O"].reshape(h, -1, d))
    hidden = np.maximum(0, np.einsum("...d,dw->...w", layer_norm(X, **weights["norm_2"]), mlp["W_1"]) + mlp["b_1"])
    return X + np.einsum("...w,wd->...d", hidden, mlp["W_2"]) + mlp["b_2"]


@right
def one_sequence_at_a_time(X, weights, h):
    """Anything with batch axes is taken apart; positions are counted from 7, since only differences matter."""
    if X.ndim > 2:
        return np.array([one_sequence_at_a_time(one, weights, h) for one in X])
    W, places = weights["attention"], np.arange(len(X)) + 7
    normed = layer_norm(X, **weights["norm_1"])
    Q, K, V = (split_heads(normed @ W[name], h) for name in ("W_Q", "W_K", "W_V"))
    O, _ = masked_attention(rotate_positions(Q, places), rotate_positions(K, places), V, causal_mask(len(X)))
    Y = X + merge_heads(O) @ W["W_O"]
    hidden = layer_norm(Y, **weights["norm_2"]) @ weights["mlp"]["W_1"] + weights["mlp"]["b_1"]
    return Y + np.where(hidden > 0, hidden, 0) @ weights["mlp"]["W_2"] + weights["mlp"]["b_2"]


right = alternatives_of("next_token_logits")


@right.worth_reading
def one_hots_for_an_index(tokens, model):
    """Rows of an identity pick the rows of the embedding: a lookup is a product with a one-hot."""
    X = np.eye(len(model["embedding"]))[list(tokens)] @ model["embedding"]
    for weights in model["blocks"]:
        X = transformer_block(X, weights, model["h"])
    return np.einsum("nd,vd->nv", layer_norm(X, **model["norm"]), model["embedding"])


@right
def by_recursion_over_blocks(tokens, model):
    """The blocks are taken off the list one by one."""

    def after(X, blocks):
        return after(transformer_block(X, blocks[0], model["h"]), blocks[1:]) if blocks else X

    out = after(np.take(model["embedding"], np.asarray(tokens), axis=0), list(model["blocks"]))
    return np.dot(layer_norm(out, model["norm"]["gain"], model["norm"]["bias"]), model["embedding"].T)


@right
def a_text_for_every_row(tokens, model):
    """Every beginning of the text by itself, of which the last row is kept."""
    rows = []
    for end in range(1, len(tokens) + 1):
        X = np.array([model["embedding"][t] for t in tokens[:end]])
        for weights in model["blocks"]:
            X = transformer_block(X, weights, model["h"])
        rows.append(layer_norm(X, **model["norm"])[-1] @ model["embedding"].T)
    return np.stack(rows)


@right
def as_a_batch_of_one(tokens, model):
    """With a batch axis in front, and the transposed product at the end."""
    X = model["embedding"][np.asarray(tokens)][None]
    for weights in model["blocks"]:
        X = transformer_block(X, weights, model["h"])
    return (model["embedding"] @ layer_norm(X, **model["norm"])[0].T).T.copy()


right = alternatives_of("sample_next")


@right
def by_the_running_sum(logits, temperature, rng):
    """One number between 0 and 1, and where it falls in the running sum."""
    if not temperature:
        return np.argmax(logits)
    running = np.cumsum(softmax(logits / temperature))
    return int(min(np.searchsorted(running, rng.random() * running[-1], side="right"), len(logits) - 1))


@right.worth_reading
def by_gumbel_noise(logits, temperature, rng):
    """Add noise and take the largest. At temperature 0 there is no noise. You need no softmax."""
    return int(np.argmax(logits + temperature * rng.gumbel(size=len(logits))))


@right
def by_a_race(logits, temperature, rng):
    """Each token waits for a time that is the shorter the likelier it is; the first wins."""
    if temperature == 0:
        return int(np.argsort(logits)[-1])
    z = (logits - np.max(logits)) / temperature
    return int(np.argmin(np.log(rng.exponential(size=len(z))) - z))


@right
def by_a_multinomial(logits, temperature, rng):
    """A multinomial of one draw; near 0 the temperature is a very low one."""
    z = np.asarray(logits, dtype=np.float64) / max(temperature, 1e-9)
    p = np.exp(z - z.max())
    return int(np.nonzero(rng.multinomial(1, p / p.sum()))[0][0])


@right
def by_refusing(logits, temperature, rng):
    """Tokens are proposed evenly and kept as often as they should be."""
    if temperature == 0:
        return list(logits).index(max(logits))
    keep = np.exp((logits - max(logits)) / temperature)
    likely = np.flatnonzero(keep > 1e-12)
    while True:
        tokens = rng.choice(likely, size=len(likely))
        kept = tokens[rng.random(len(likely)) < keep[tokens]]
        if len(kept):
            return np.array(kept[0])


right = alternatives_of("generate")


def mlp_of(X, weights):
    """Return what the second half of a block adds to its input."""
    mlp = weights["mlp"]
    hidden = layer_norm(X, **weights["norm_2"]) @ mlp["W_1"] + mlp["b_1"]
    return np.maximum(hidden, 0) @ mlp["W_2"] + mlp["b_2"]


@right
def token_by_token_with_decode_step(tokens, n_new, model, temperature, rng):
    """Every token by itself, the given ones too, with chapter 6's step for each head."""
    h = model["h"]
    caches = [[None] * h for _ in model["blocks"]]
    text, place = [int(t) for t in tokens], 0
    while True:
        x = model["embedding"][text[place]]
        for weights, cache in zip(model["blocks"], caches, strict=True):
            W, normed = weights["attention"], layer_norm(x, **weights["norm_1"])
            q, k, v = (split_heads((normed @ W[name])[None], h) for name in ("W_Q", "W_K", "W_V"))
            q, k = rotate_positions(q, np.array([place])), rotate_positions(k, np.array([place]))
            heads = []
            for i in range(h):
                K, V = cache[i] or (np.zeros((0, k.shape[-1])), np.zeros((0, v.shape[-1])))
                output, *cache[i] = decode_step(q[i, 0], k[i, 0], v[i, 0], K, V)
                heads.append(output)
            x = x + np.concatenate(heads) @ W["W_O"]
            x = x + mlp_of(x, weights)
        place += 1
        if place == len(text):
            text.append(sample_next(model["embedding"] @ layer_norm(x, **model["norm"]), temperature, rng))
            if len(text) == len(tokens) + n_new:
                return np.array(text)


@right
def into_arrays_made_beforehand(tokens, n_new, model, temperature, rng):
    """Arrays with room for the whole text, filled from the left."""
    n, h = len(tokens), model["h"]
    text = np.zeros(n + n_new, dtype=int)
    text[:n] = tokens
    room = []
    for weights in model["blocks"]:
        widths = weights["attention"]["W_K"].shape[1] // h, weights["attention"]["W_V"].shape[1] // h
        room.append([np.zeros((h, n + n_new, width)) for width in widths])
    start = 0
    for end in range(n, n + n_new):
        X, places = model["embedding"][text[start:end]], np.arange(start, end)
        for weights, (K, V) in zip(model["blocks"], room, strict=True):
            normed, W = layer_norm(X, **weights["norm_1"]), weights["attention"]
            Q = rotate_positions(split_heads(normed @ W["W_Q"], h), places)
            K[:, start:end] = rotate_positions(split_heads(normed @ W["W_K"], h), places)
            V[:, start:end] = split_heads(normed @ W["W_V"], h)
            O, _ = masked_attention(Q, K[:, :end], V[:, :end], causal_mask(end - start, end))
            X = X + merge_heads(O) @ W["W_O"]
            X = X + mlp_of(X, weights)
        start = end
        text[end] = sample_next(layer_norm(X, **model["norm"])[-1] @ model["embedding"].T, temperature, rng)
    return text


@right
def keys_turned_when_they_are_read(tokens, n_new, model, temperature, rng):
    """The cache holds keys that have not been turned yet, as rows of a list; all of them are turned at each step."""
    text, rows = list(tokens), [[] for _ in model["blocks"]]
    h = model["h"]
    for place in range(len(text) + n_new - 1):
        X = np.take(model["embedding"], text[place : place + 1], axis=0)
        for weights, cache in zip(model["blocks"], rows, strict=True):
            W, normed = weights["attention"], layer_norm(X, **weights["norm_1"])
            cache.append((normed @ W["W_K"], normed @ W["W_V"]))
            K, V = (split_heads(np.concatenate(part), h) for part in zip(*cache, strict=True))
            Q = rotate_positions(split_heads(normed @ W["W_Q"], h), np.array([place]))
            X = X + merge_heads(attention(Q, rotate_positions(K, np.arange(place + 1)), V)[0]) @ W["W_O"]
            X = X + mlp_of(X, weights)
        if place + 1 >= len(text):
            text.append(sample_next((layer_norm(X, **model["norm"]) @ model["embedding"].T)[0], temperature, rng))
    return np.array(text)


@right
def matrices_side_by_side(tokens, n_new, model, temperature, rng):
    """W_Q, W_K and W_V in one matrix, einsum for the rest, transposed caches, and no function of an earlier chapter."""
    text, new, h = np.asarray(tokens), np.asarray(tokens), model["h"]
    kept = {}
    joined = [np.hstack([b["attention"][name] for name in ("W_Q", "W_K", "W_V")]) for b in model["blocks"]]
    for _ in range(n_new):
        places = np.arange(len(text))[-len(new) :]
        X = model["embedding"][new]
        for i, weights in enumerate(model["blocks"]):
            width = weights["attention"]["W_Q"].shape[1]
            Q, K, V = np.split(layer_norm(X, **weights["norm_1"]) @ joined[i], [width, 2 * width], axis=1)
            Q, K = (rotate_positions(A.reshape(len(new), h, -1).transpose(1, 0, 2), places) for A in (Q, K))
            K, V = K.transpose(0, 2, 1), V.reshape(len(new), h, -1).transpose(1, 2, 0)
            old_K, old_V = kept.get(i, (K[..., :0], V[..., :0]))
            K, V = kept[i] = np.concatenate([old_K, K], axis=2), np.concatenate([old_V, V], axis=2)
            scores = np.einsum("hik,hkj->hij", Q, K) / math.sqrt(Q.shape[-1])
            scores[:, np.arange(len(text)) > places[:, None]] = -1e30
            e = np.exp(scores - scores.max(axis=-1, keepdims=True))
            O = np.einsum("hij,hdj->ihd", e / e.sum(axis=-1, keepdims=True), V)
            X = X + np.tensordot(O.reshape(len(new), -1), weights["attention"]["W_O"], axes=1)
            X = X + mlp_of(X, weights)
        logits = np.inner(layer_norm(X[-1:], **model["norm"]), model["embedding"])[0]
        new = np.array([sample_next(logits, temperature, rng)])
        text = np.append(text, new)
    return text


@right
def normed_rows_kept(tokens, n_new, model, temperature, rng):
    """What is kept is what keys and values are made of; they are made again at each step, which costs less than everything."""
    text, h = list(tokens), model["h"]
    kept = [np.zeros((0, model["embedding"].shape[1])) for _ in model["blocks"]]
    for place in range(len(text) + n_new - 1):
        X = model["embedding"][[text[place]]]
        for i, weights in enumerate(model["blocks"]):
            W = weights["attention"]
            kept[i] = np.vstack([kept[i], layer_norm(X, **weights["norm_1"])])
            Q = rotate_positions(split_heads(kept[i][-1:] @ W["W_Q"], h), np.array([place]))
            K = rotate_positions(split_heads(kept[i] @ W["W_K"], h), np.arange(place + 1))
            O, _ = attention(Q, K, split_heads(kept[i] @ W["W_V"], h))
            X = X + merge_heads(O) @ W["W_O"]
            X = X + mlp_of(X, weights)
        if place == len(text) - 1:
            text.append(sample_next((layer_norm(X, **model["norm"]) @ model["embedding"].T)[-1], temperature, rng))
    return np.array(text)


@right
def remembered_by_the_text(tokens, n_new, model, temperature, rng):
    """Rows are worked out by recursion over positions and blocks, and each is remembered: a cache that nobody wrote as one."""
    text, h, known = [int(t) for t in tokens], model["h"], {}

    def row(place, depth):
        if depth == 0:
            return model["embedding"][text[place]]
        if (place, depth) not in known:
            weights, x = model["blocks"][depth - 1], row(place, depth - 1)
            W = weights["attention"]
            q = rotate_positions(split_heads(layer_norm(x, **weights["norm_1"])[None] @ W["W_Q"], h), np.array([place]))
            pairs = [pair(j, depth) for j in range(place + 1)]
            K, V = (np.concatenate(part, axis=-2) for part in zip(*pairs, strict=True))
            x = x + (merge_heads(attention(q, K, V)[0]) @ W["W_O"])[0]
            known[place, depth] = x + mlp_of(x, weights)
        return known[place, depth]

    def pair(place, depth):
        if (place, depth, "pair") not in known:
            weights = model["blocks"][depth - 1]
            normed = layer_norm(row(place, depth - 1), **weights["norm_1"])[None]
            K, V = (split_heads(normed @ weights["attention"][name], h) for name in ("W_K", "W_V"))
            known[place, depth, "pair"] = rotate_positions(K, np.array([place])), V
        return known[place, depth, "pair"]

    for _ in range(n_new):
        out = layer_norm(row(len(text) - 1, len(model["blocks"])), **model["norm"])
        text.append(int(sample_next(model["embedding"].dot(out), temperature, rng)))
    return np.array(text)


@right
def the_first_token_without_a_cache(tokens, n_new, model, temperature, rng):
    """`next_token_logits` for the first new token; from then on a cache, which is filled when it is first needed."""
    text = [*tokens, sample_next(next_token_logits(np.asarray(tokens), model)[-1], temperature, rng)]
    more = token_by_token_after(text, n_new - 1, model, temperature, rng)
    return np.array(text + more)


def token_by_token_after(text, count, model, temperature, rng):
    """Return ``count`` more tokens, drawn with a cache of the whole text so far."""
    text, new, cache, drawn = list(text), list(text), {}, []
    while len(drawn) < count:
        X, places = model["embedding"][new], np.arange(len(text) - len(new), len(text))
        for i, weights in enumerate(model["blocks"]):
            W, normed = weights["attention"], layer_norm(X, **weights["norm_1"])
            Q, K, V = (split_heads(normed @ W[name], model["h"]) for name in ("W_Q", "W_K", "W_V"))
            K = rotate_positions(K, places)
            K, V = cache[i] = (
                (np.concatenate([cache[i][0], K], -2), np.concatenate([cache[i][1], V], -2)) if i in cache else (K, V)
            )
            O, _ = masked_attention(rotate_positions(Q, places), K, V, causal_mask(len(new), len(text)))
            X = X + merge_heads(O) @ W["W_O"]
            X = X + mlp_of(X, weights)
        new = [sample_next(layer_norm(X[-1], **model["norm"]) @ model["embedding"].T, temperature, rng)]
        text, drawn = text + new, drawn + new
    return drawn

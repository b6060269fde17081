"""Wrong solutions of chapter 8. Each function makes one mistake, and its docstring is the message for students who make this mistake."""

import numpy as np

from autograder.misconception import misconceptions_of
from solutions import ch8_language_model as right
from solutions.ch1_weighted_averaging import softmax
from solutions.ch4_masking import causal_mask, masked_attention
from solutions.ch5_multi_head import merge_heads, split_heads
from solutions.ch8_language_model import layer_norm, next_token_logits, rotate_positions, sample_next, transformer_block

wrong = misconceptions_of("layer_norm")


@wrong
def eps_beside_the_root(X, gain, bias, eps=1e-5):
    """You add eps to the standard deviation. Add it to the variance, under the root. For the row of the example, divide
    by the root of 1.44, not by 1 + 0.44."""
    return (X - X.mean(axis=-1, keepdims=True)) / (X.std(axis=-1, keepdims=True) + eps) * gain + bias


@wrong
def variance_over_d_minus_one(X, gain, bias, eps=1e-5):
    """You divide the squared distances by d - 1. That estimates the variance of many numbers from a few of them. Here
    you have all d numbers, so the variance is the mean of their squared distances."""
    distances = X - X.mean(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):  # a row of one number: 0 / 0
        variance = (distances**2).sum(axis=-1, keepdims=True) / np.float64(X.shape[-1] - 1).astype(X.dtype)
    return distances / np.sqrt(variance + eps) * gain + bias


@wrong
def one_mean_for_everything(X, gain, bias, eps=1e-5):
    """You take one mean and one variance of the whole array. Each row should have its own, because one position must
    not change another. Along which axis are the numbers of a row?"""
    return (X - X.mean()) / np.sqrt(X.var() + eps) * gain + bias


@wrong
def over_the_positions(X, gain, bias, eps=1e-5):
    """You take the mean and the variance down the columns, over the positions. Take them along each row, over the
    numbers of one position. Then no position depends on another."""
    axis = max(X.ndim - 2, 0)
    return (X - X.mean(axis=axis, keepdims=True)) / np.sqrt(X.var(axis=axis, keepdims=True) + eps) * gain + bias


@wrong
def gain_and_bias_before_the_norm(X, gain, bias, eps=1e-5):
    """You stretch and move the row first, and then bring it to mean 0 and variance 1, which undoes most of the
    stretching. Apply the gain and the bias last, after the division."""
    return right.layer_norm(X * gain + bias, np.ones_like(gain), np.zeros_like(bias), eps)


@wrong
def gain_before_the_division(X, gain, bias, eps=1e-5):
    """You multiply by the gain before you take the mean and the variance, so the division undoes it. Divide first. The
    gain and the bias come last."""
    return right.layer_norm(X * gain, np.ones_like(gain), bias, eps)


@wrong
def bias_inside_the_gain(X, gain, bias, eps=1e-5):
    """You add the bias first and then multiply by the gain, so the bias is stretched too. Multiply by the gain first,
    then add the bias."""
    return (right.layer_norm(X, np.ones_like(gain), bias, eps)) * gain


@wrong
def mean_left_in(X, gain, bias, eps=1e-5):
    """You divide the row but do not subtract its mean. The result has variance 1, but its mean is not 0. In the
    example, first subtract 2 from 1 and from 3."""
    return X / np.sqrt(X.var(axis=-1, keepdims=True) + eps) * gain + bias


@wrong
def root_mean_square(X, gain, bias, eps=1e-5):
    """You divide by the root of the mean square and do not subtract the mean. That is a different norm, called RMSNorm,
    which newer models use. In layer norm, subtract the mean first, and take the variance around it."""
    return X / np.sqrt((X**2).mean(axis=-1, keepdims=True) + eps) * gain + bias


@wrong
def mean_square_for_variance(X, gain, bias, eps=1e-5):
    """You subtract the mean from the row, but for the variance you take the mean square of the original numbers. The
    variance uses the distances from the mean. For the row [1, 3] it is 1, while the mean square is 5."""
    mean = X.mean(axis=-1, keepdims=True)
    return (X - mean) / np.sqrt((X**2).mean(axis=-1, keepdims=True) + eps) * gain + bias


@wrong
def divided_by_the_variance(X, gain, bias, eps=1e-5):
    """You divide by the variance instead of its root. Then a row with numbers twice as large would come out half as
    large. After a norm, it should be the same."""
    return (X - X.mean(axis=-1, keepdims=True)) / (X.var(axis=-1, keepdims=True) + eps) * gain + bias


@wrong
def without_eps(X, gain, bias, eps=1e-5):
    """You leave eps out. A row of equal numbers has variance 0, so without eps the result is 0 / 0."""
    return (X - X.mean(axis=-1, keepdims=True)) / X.std(axis=-1, keepdims=True) * gain + bias


@wrong
def always_the_usual_eps(X, gain, bias, eps=1e-5):
    """You always use the same small number, whatever eps is. It is an argument: use its usual value only if the caller
    leaves it out."""
    return right.layer_norm(X, gain, bias)


@wrong
def without_the_gain(X, gain, bias, eps=1e-5):
    """You do not use the gain. After the division, multiply each number of a row by its own gain, then add its bias."""
    return right.layer_norm(X, np.ones_like(gain), bias, eps)


@wrong
def without_the_bias(X, gain, bias, eps=1e-5):
    """You do not use the bias. Add it at the end, one number for each column."""
    return right.layer_norm(X, gain, np.zeros_like(bias), eps)


@wrong
def between_zero_and_one(X, gain, bias, eps=1e-5):
    """You scale each row to the range from its smallest to its largest number. A norm uses the mean and the variance,
    so that a single extreme number does not determine all the others."""
    low, high = X.min(axis=-1, keepdims=True), X.max(axis=-1, keepdims=True)
    return (X - low) / (high - low + eps) * gain + bias


@wrong
def one_number_a_row_without_its_axis(X, gain, bias, eps=1e-5):
    """Your code is right for one or two axes, but not with more. A mean along the last axis drops that axis, and `.T`
    reverses all the axes, which lines the means up with the rows of a matrix only. With `keepdims=True`, the means fit
    X as it is."""
    return ((X.T - X.mean(axis=-1)) / np.sqrt(X.var(axis=-1) + eps)).T * gain + bias


wrong = misconceptions_of("rotate_positions")


def turned(X, angles, sign=1.0):
    """Return X with neighboring entries turned by these angles."""
    first, second = X[..., 0::2], X[..., 1::2]
    cos, sin = np.cos(angles), sign * np.sin(angles)
    return np.stack([first * cos - second * sin, first * sin + second * cos], axis=-1).reshape(X.shape)


def angles_of(X, positions, base, exponent=-2.0):
    """Return the angle of each position and pair."""
    d = X.shape[-1]
    return np.asarray(positions)[:, None] * float(base) ** (exponent * np.arange(d // 2) / d)


@wrong
def halves_for_neighbours(X, positions, base=10000.0):
    """You pair entry i of the first half of a row with entry i of the second half. Some programs do this, and models
    trained that way need it. Here, neighbors form a pair: entries 0 and 1, entries 2 and 3, and so on."""
    first, second = np.split(X, 2, axis=-1)
    angles = angles_of(X, positions, base)
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1)


@wrong
def halves_in_the_result(X, positions, base=10000.0):
    """You turn the right pairs, but then put all the first entries side by side, with all the second entries after
    them. Put each entry back in the place that it came from."""
    first, second = X[..., 0::2], X[..., 1::2]
    angles = angles_of(X, positions, base)
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1)


@wrong
def the_other_direction(X, positions, base=10000.0):
    """You turn in the opposite direction, from (0, 1) to (1, 0). Turned by a quarter of a circle, (1, 0) should become
    (0, 1). Which of the two sines has the minus?"""
    return turned(X, angles_of(X, positions, base), -1.0)


@wrong
def angles_in_degrees(X, positions, base=10000.0):
    """You treat the angle as degrees. It is in radians, just as NumPy's sine and cosine expect it. Position 3 turns the
    first pair by 3, nearly half a circle."""
    return turned(X, np.deg2rad(angles_of(X, positions, base)))


@wrong
def exponent_without_the_two(X, positions, base=10000.0):
    """Your angles shrink half as fast as they should from pair to pair. The exponent is -2 i / d. In the example, with
    d = 4 and base 100, pair 1 has 100 to the power of -1/2."""
    return turned(X, angles_of(X, positions, base, -1.0))


@wrong
def twice_the_exponent(X, positions, base=10000.0):
    """Your angles shrink twice as fast as they should from pair to pair. In the exponent, i counts pairs and d counts
    entries. In the example, pair 1 of d = 4 has the exponent -2 · 1 / 4."""
    return turned(X, angles_of(X, positions, base, -4.0))


@wrong
def angles_that_grow(X, positions, base=10000.0):
    """Your angles grow from pair to pair. The exponent has a minus, so pair 0 turns fastest, and every later pair turns
    more slowly."""
    return turned(X, angles_of(X, positions, base, 2.0))


@wrong
def the_same_angle_for_all_pairs(X, positions, base=10000.0):
    """You turn all pairs of a row by the angle of pair 0. Each pair has its own angle: later pairs turn more slowly."""
    return turned(X, angles_of(X, positions, base, 0.0))


@wrong
def nothing_turned(X, positions, base=10000.0):
    """You return X unchanged, as if every row were at position 0. Rows at other positions should be turned."""
    return X.copy()


@wrong
def index_for_position(X, positions, base=10000.0):
    """You turn row i as if it were at position i. `positions` gives the position of each row, and it need not start at
    0. In the example, the only row is at position 3."""
    return turned(X, angles_of(X, np.arange(len(positions)), base))


@wrong
def positions_from_one(X, positions, base=10000.0):
    """You turn each row too far, by one extra position. A row at position 0 should not change."""
    return turned(X, angles_of(X, np.asarray(positions) + 1, base))


@wrong
def distance_without_a_sign(X, positions, base=10000.0):
    """You turn a row at a negative position as if the position were positive. Turn it the other way."""
    return turned(X, angles_of(X, np.abs(positions), base))


@wrong
def negative_positions_from_the_end(X, positions, base=10000.0):
    """Rows at negative positions are wrong, or cause an error. If you look something up in a table by position, a
    negative index counts from the end of the table. Compute the angle from the position itself, which works for every
    whole number."""
    table = angles_of(X, np.arange(max(int(np.max(positions)), 0) + 1), base)
    return turned(X, table[positions])


@wrong
def always_the_usual_base(X, positions, base=10000.0):
    """You use a base of 10 000, whatever `base` is. It is an argument, and 10 000 is only its default."""
    return turned(X, angles_of(X, positions, 10000.0))


@wrong
def a_mirror_for_a_turn(X, positions, base=10000.0):
    """Both of your sines have a plus, so lengths change, and this is not a turn. Turning (a, b) by an angle t gives (a
    cos t - b sin t, a sin t + b cos t)."""
    first, second = X[..., 0::2], X[..., 1::2]
    angles = angles_of(X, positions, base)
    cos, sin = np.cos(angles), np.sin(angles)
    return np.stack([first * cos + second * sin, first * sin + second * cos], axis=-1).reshape(X.shape)


@wrong
def already_turned_first_entry(X, positions, base=10000.0):
    """You compute the second entry of each pair from a first entry that is already turned. Both new entries should use
    the two old ones. Do you write into the array that you still read from?"""
    first, second = X[..., 0::2], X[..., 1::2]
    angles = angles_of(X, positions, base)
    first = first * np.cos(angles) - second * np.sin(angles)
    return np.stack([first, first * np.sin(angles) + second * np.cos(angles)], axis=-1).reshape(X.shape)


@wrong
def waves_added(X, positions, base=10000.0):
    """You add sines and cosines of the position to the row. The first Transformer did that to its embeddings. Here
    nothing is added: each pair of a row is turned and keeps its length."""
    angles = angles_of(X, positions, base)
    return X + np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(X.shape[-2:])


wrong = misconceptions_of("transformer_block")


def block(
    X, weights, h, *, residual=(1, 1), norms=("norm_1", "norm_2"), turn="QK", mask=causal_mask, biases=(1, 1), scale=1.0,
    activate=lambda x: np.maximum(x, 0), positions=np.arange, mixed=True,
):  # fmt: skip
    """Run a transformer block with a mistake, which the keyword arguments choose."""
    n, W, mlp = X.shape[-2], weights["attention"], weights["mlp"]
    normed = layer_norm(X, **weights[norms[0]])
    found = {name: split_heads(normed @ W[f"W_{name}"], h) for name in "QKV"}
    found |= {name: rotate_positions(found[name], positions(n)) for name in turn}
    O, _ = masked_attention(found["Q"] * scale, found["K"], found["V"], mask and mask(n))
    attended = merge_heads(O) @ W["W_O"] if mixed else X
    Y = residual[0] * X + attended
    hidden = activate(layer_norm(Y, **weights[norms[1]]) @ mlp["W_1"] + biases[0] * mlp["b_1"])
    return residual[1] * Y + hidden @ mlp["W_2"] + biases[1] * mlp["b_2"]


@wrong
def no_residual_around_the_attention(X, weights, h):
    """You do not add X to the result of the attention, so the earlier contents of the rows are lost. Add the
    attention's result to X."""
    return block(X, weights, h, residual=(0, 1))


@wrong
def no_residual_around_the_mlp(X, weights, h):
    """You return the result of the mlp without adding it to its input. Add it, just like the result of the
    attention."""
    return block(X, weights, h, residual=(1, 0))


@wrong
def mlp_added_to_the_first_rows(X, weights, h):
    """You add the result of the mlp to the original X, so the result of the attention is lost. Add it to Y, which is
    X plus the result of the attention."""
    return (
        X + block(X, weights, h) - block(X, {**weights, "mlp": {name: 0 * W for name, W in weights["mlp"].items()}}, h)
    )


@wrong
def no_residual_at_all(X, weights, h):
    """You add the input neither at the attention nor at the mlp. Add each of the two results to the rows from before
    the norm."""
    return block(X, weights, h, residual=(0, 0))


@wrong
def mlp_beside_the_attention(X, weights, h):
    """You pass the mlp the norm of the original X, from before the attention. The steps run in sequence: when the mlp
    reads X, what should already have been added to it?"""
    attended = block(X, {**weights, "mlp": {name: 0 * W for name, W in weights["mlp"].items()}}, h)
    mlp = weights["mlp"]
    hidden = np.maximum(layer_norm(X, **weights["norm_2"]) @ mlp["W_1"] + mlp["b_1"], 0)
    return attended + hidden @ mlp["W_2"] + mlp["b_2"]


@wrong
def norm_after_the_addition(X, weights, h):
    """You add first and normalize the sum, as the first Transformer did. Here the norm comes first: it changes only
    what the attention and the mlp read. Do not normalize the rows that you add the results to."""
    n, W, mlp = X.shape[-2], weights["attention"], weights["mlp"]
    Q, K, V = (split_heads(X @ W[name], h) for name in ("W_Q", "W_K", "W_V"))
    O, _ = masked_attention(rotate_positions(Q, np.arange(n)), rotate_positions(K, np.arange(n)), V, causal_mask(n))
    Y = layer_norm(X + merge_heads(O) @ W["W_O"], **weights["norm_1"])
    return layer_norm(Y + np.maximum(Y @ mlp["W_1"] + mlp["b_1"], 0) @ mlp["W_2"] + mlp["b_2"], **weights["norm_2"])


@wrong
def added_to_the_normed_rows(X, weights, h):
    """You add the attention's result to the normed rows. Add it to the original X. Only the attention should read the
    normed rows."""
    normed = layer_norm(X, **weights["norm_1"])
    attended = transformer_block(X, {**weights, "mlp": {name: 0 * W for name, W in weights["mlp"].items()}}, h) - X
    Y, mlp = normed + attended, weights["mlp"]
    hidden = np.maximum(layer_norm(Y, **weights["norm_2"]) @ mlp["W_1"] + mlp["b_1"], 0)
    return Y + hidden @ mlp["W_2"] + mlp["b_2"]


@wrong
def no_norm_at_all(X, weights, h):
    """You pass X to the attention, and the sum to the mlp, without a norm. Each of the two should read normed rows."""
    n, W, mlp = X.shape[-2], weights["attention"], weights["mlp"]
    Q, K, V = (split_heads(X @ W[name], h) for name in ("W_Q", "W_K", "W_V"))
    O, _ = masked_attention(rotate_positions(Q, np.arange(n)), rotate_positions(K, np.arange(n)), V, causal_mask(n))
    Y = X + merge_heads(O) @ W["W_O"]
    return Y + np.maximum(Y @ mlp["W_1"] + mlp["b_1"], 0) @ mlp["W_2"] + mlp["b_2"]


@wrong
def one_norm_for_both(X, weights, h):
    """You use norm_1 in both places. The mlp has its own norm, norm_2, with its own gain and bias."""
    return block(X, weights, h, norms=("norm_1", "norm_1"))


@wrong
def norms_swapped(X, weights, h):
    """You swapped the norms. Use norm_1 before the attention and norm_2 before the mlp."""
    return block(X, weights, h, norms=("norm_2", "norm_1"))


@wrong
def turned_before_the_split(X, weights, h):
    """You turn the queries and keys before you split them into heads, so the pairs turn as if all heads were one long
    row. Turn every head by itself: its first pair turns fastest."""
    n, W = X.shape[-2], weights["attention"]
    normed, mlp = layer_norm(X, **weights["norm_1"]), weights["mlp"]
    Q, K = (split_heads(rotate_positions(normed @ W[name], np.arange(n)), h) for name in ("W_Q", "W_K"))
    O, _ = masked_attention(Q, K, split_heads(normed @ W["W_V"], h), causal_mask(n))
    Y = X + merge_heads(O) @ W["W_O"]
    hidden = np.maximum(layer_norm(Y, **weights["norm_2"]) @ mlp["W_1"] + mlp["b_1"], 0)
    return Y + hidden @ mlp["W_2"] + mlp["b_2"]


@wrong
def values_turned_too(X, weights, h):
    """You turn the values too. Positions decide who looks where, which depends on the scores, so on queries and keys
    only. A value should not depend on where it comes from."""
    n, W = X.shape[-2], weights["attention"]
    normed, mlp = layer_norm(X, **weights["norm_1"]), weights["mlp"]
    Q, K, V = (split_heads(normed @ W[name], h) for name in ("W_Q", "W_K", "W_V"))
    if V.shape[-1] % 2:
        raise ValueError("cannot turn values of an odd width")
    Q, K, V = (rotate_positions(A, np.arange(n)) for A in (Q, K, V))
    Y = X + merge_heads(masked_attention(Q, K, V, causal_mask(n))[0]) @ W["W_O"]
    hidden = np.maximum(layer_norm(Y, **weights["norm_2"]) @ mlp["W_1"] + mlp["b_1"], 0)
    return Y + hidden @ mlp["W_2"] + mlp["b_2"]


@wrong
def only_the_queries_turned(X, weights, h):
    """You turn the queries but not the keys. A score should depend on the distance between the two, so turn both, each
    by its own position."""
    return block(X, weights, h, turn="Q")


@wrong
def only_the_keys_turned(X, weights, h):
    """You turn the keys but not the queries. A score should depend on the distance between the two, so turn both, each
    by its own position."""
    return block(X, weights, h, turn="K")


@wrong
def no_positions_in_the_block(X, weights, h):
    """Your block turns neither queries nor keys, so it does not know the position of any row. After the split into
    heads, pass both through `rotate_positions`."""
    return block(X, weights, h, turn="")


@wrong
def positions_counted_from_the_end(X, weights, h):
    """Your positions run backwards, so every query is turned the wrong way relative to the earlier keys. The first row
    is at position 0, and the last at n - 1."""
    return block(X, weights, h, positions=lambda n: np.arange(n)[::-1])


@wrong
def no_mask_in_the_block(X, weights, h):
    """Your attention has no causal mask, so every position reads the later ones. When the model writes, these do not
    exist yet."""
    return block(X, weights, h, mask=None)


@wrong
def mask_the_wrong_way_round(X, weights, h):
    """Your mask is reversed: every position looks at itself and at later positions, but at nothing before it."""
    return block(X, weights, h, mask=lambda n: causal_mask(n).T)


@wrong
def scaled_by_the_whole_width(X, weights, h):
    """You divide the scores by the root of d_model. The queries of a head have their own width. Divide by the root of
    that width."""
    d_k = weights["attention"]["W_Q"].shape[1] // h
    return block(X, weights, h, scale=np.sqrt(d_k / X.shape[-1]))


@wrong
def scores_without_a_scale(X, weights, h):
    """Your scores are not divided by anything. As in chapter 3, divide them by the root of the width of a head's
    queries."""
    return block(X, weights, h, scale=np.sqrt(weights["attention"]["W_Q"].shape[1] // h))


@wrong
def relu_left_out(X, weights, h):
    """Your mlp has no relu between its two matrices. Then the two could be multiplied into one, and the mlp could do no
    more than a single matrix."""
    return block(X, weights, h, activate=lambda x: x)


@wrong
def smooth_activation(X, weights, h):
    """Your mlp uses a smooth function (GELU or something like it) instead of relu. Many models do, but this model was
    trained with relu: negative numbers become 0, and the other numbers stay the same."""
    return block(X, weights, h, activate=lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))))


@wrong
def relu_at_the_end_too(X, weights, h):
    """You also apply relu after the second matrix of the mlp. Then the mlp could only add and never subtract. Apply
    relu between the two matrices, and nowhere else."""
    Y = block(X, {**weights, "mlp": {name: 0 * W for name, W in weights["mlp"].items()}}, h)
    return Y + np.maximum(transformer_block(X, weights, h) - Y, 0)


@wrong
def mlp_without_its_biases(X, weights, h):
    """Your mlp uses neither b_1 nor b_2. Add b_1 before relu and b_2 at the end."""
    return block(X, weights, h, biases=(0, 0))


@wrong
def mlp_without_its_first_bias(X, weights, h):
    """Your mlp leaves b_1 out. Add it before relu, because it decides which numbers relu sets to 0."""
    return block(X, weights, h, biases=(0, 1))


@wrong
def mlp_without_its_second_bias(X, weights, h):
    """Your mlp leaves b_2 out. Add it at the end, after the second matrix."""
    return block(X, weights, h, biases=(1, 0))


@wrong
def only_the_mlp(X, weights, h):
    """Your block runs only the mlp. Before the mlp, the attention should bring information from the earlier positions
    into each row."""
    return block(X, weights, h, mixed=False, residual=(0, 1))


@wrong
def only_the_attention(X, weights, h):
    """Your block ends with the attention. The mlp comes after it and works on each row by itself."""
    return block(X, {**weights, "mlp": {name: 0 * W for name, W in weights["mlp"].items()}}, h)


wrong = misconceptions_of("next_token_logits")


def through(tokens, model, blocks=None):
    """Return the output of ``blocks``, or of all blocks of the model."""
    X = model["embedding"][np.asarray(tokens)]
    for one in model["blocks"] if blocks is None else blocks:
        X = transformer_block(X, one, model["h"])
    return X


def read_out(X, model):
    """Return the logits: apply the last norm, and multiply by the embedding."""
    return layer_norm(X, **model["norm"]) @ model["embedding"].T


@wrong
def last_norm_left_out(tokens, model):
    """You leave the last norm out. The blocks only add to the rows, so the rows grow from block to block. Normalize
    them once more before you compare them with the embedding."""
    return through(tokens, model) @ model["embedding"].T


@wrong
def last_norm_without_gain_and_bias(tokens, model):
    """Your last norm has a gain of 1 and a bias of 0. Use its own gain and bias, from model["norm"]."""
    X = through(tokens, model)
    return layer_norm(X, np.ones(X.shape[-1]), np.zeros(X.shape[-1])) @ model["embedding"].T


@wrong
def probabilities_already(tokens, model):
    """You return probabilities: each of your rows adds up to 1. Return the scores before the softmax. `sample_next`
    applies the softmax later, because it has to divide the scores by a temperature first."""
    return softmax(read_out(through(tokens, model), model))


@wrong
def logarithms_of_probabilities(tokens, model):
    """You return the logarithms of the probabilities. These are the logits with one number subtracted from each row.
    Return the dot products as they are."""
    return np.log(softmax(read_out(through(tokens, model), model)))


@wrong
def only_the_last_row(tokens, model):
    """You return the logits after the last token only. Return one row of logits for every token, because the model
    guesses at every position at once."""
    return read_out(through(tokens, model), model)[-1]


@wrong
def only_the_first_block(tokens, model):
    """You send the rows through the first block only. They should go through every block of the list in turn."""
    return read_out(through(tokens, model, model["blocks"][:1]), model)


@wrong
def only_the_last_block(tokens, model):
    """Each of your blocks starts from the embedding again, so only the last block counts. Pass the output of each block
    to the next one."""
    return read_out(through(tokens, model, model["blocks"][-1:]), model)


@wrong
def the_first_block_again_and_again(tokens, model):
    """You use the weights of the first block for all of them. Every block has its own weights."""
    return read_out(through(tokens, model, model["blocks"][:1] * len(model["blocks"])), model)


@wrong
def blocks_in_the_other_order(tokens, model):
    """Your blocks are in reverse order. The rows should go through the first block of the list first."""
    return read_out(through(tokens, model, model["blocks"][::-1]), model)


@wrong
def no_blocks(tokens, model):
    """You send the rows of the embedding straight to the last norm, without any block. Then the next token would depend
    on the last token alone."""
    return read_out(through(tokens, model, []), model)


@wrong
def last_norm_after_every_block(tokens, model):
    """You use the last norm after every block. The rows should go from block to block as they are. Normalize them only
    once, at the end."""
    X = model["embedding"][np.asarray(tokens)]
    for one in model["blocks"]:
        X = layer_norm(transformer_block(X, one, model["h"]), **model["norm"])
    return (X if model["blocks"] else layer_norm(X, **model["norm"])) @ model["embedding"].T


@wrong
def normed_at_the_start(tokens, model):
    """You normalize the rows of the embedding before the first block. They should go into it as they are, because each
    block has its own norms."""
    X = layer_norm(model["embedding"][np.asarray(tokens)], **model["norm"])
    for one in model["blocks"]:
        X = transformer_block(X, one, model["h"])
    return read_out(X, model)


@wrong
def embedding_times_a_root(tokens, model):
    """You multiply the rows of the embedding by the root of d_model. The first Transformer did that, but this model
    uses the rows as they are."""
    X = model["embedding"][np.asarray(tokens)] * np.sqrt(model["embedding"].shape[1])
    for one in model["blocks"]:
        X = transformer_block(X, one, model["h"])
    return read_out(X, model)


@wrong
def logits_divided_by_a_root(tokens, model):
    """You divide the logits by the root of d_model. That is only for the scores of attention. Here, the dot products
    are the logits."""
    return read_out(through(tokens, model), model) / np.sqrt(model["embedding"].shape[1])


@wrong
def distances_for_dot_products(tokens, model):
    """You compare the final rows with the rows of the embedding by their distance. A logit is a dot product."""
    out = layer_norm(through(tokens, model), **model["norm"])
    return -((out[:, None] - model["embedding"]) ** 2).sum(axis=-1)


wrong = misconceptions_of("sample_next")


@wrong
def times_the_temperature(logits, temperature, rng):
    """You multiply the logits by the temperature. Divide by it instead: the higher the temperature, the closer together
    the logits, and the more even the draws."""
    if temperature == 0:
        return int(np.argmax(logits))
    return int(rng.choice(len(logits), p=softmax(logits * temperature)))


@wrong
def always_the_largest(logits, temperature, rng):
    """You always take the token with the largest logit. That is right only at temperature 0. At other temperatures,
    draw each token with its own probability."""
    return int(np.argmax(logits))


@wrong
def temperature_without_effect(logits, temperature, rng):
    """Your draws are the same at every temperature. Either you do not use the temperature, or you use it after the
    softmax. Dividing all probabilities by the same number and bringing their sum back to 1 changes nothing. Divide the
    logits, before the softmax."""
    if temperature == 0:
        return int(np.argmax(logits))
    return int(rng.choice(len(logits), p=softmax(logits)))


@wrong
def overflow_when_cold(logits, temperature, rng):
    """At a low temperature, the logits divided by it are huge, and their exps are infinite. Use the remedy of chapter
    1: subtract the largest from all of them, which leaves the softmax the same."""
    if temperature == 0:
        return int(np.argmax(logits))
    with np.errstate(all="ignore"):
        e = np.exp(logits / temperature)
        return int(rng.choice(len(logits), p=e / e.sum()))


@wrong
def power_after_the_softmax(logits, temperature, rng):
    """You take the softmax first and raise the probabilities to the power 1 / temperature. On paper, that is the same.
    But a probability that is too small for a float has become 0, and stays 0 at a high temperature. At a low one, all
    of them may become 0, and 0 / 0 is nan. Divide the logits before the softmax."""
    if temperature == 0:
        return int(np.argmax(logits))
    p = softmax(logits) ** (1 / temperature)
    return int(rng.choice(len(logits), p=p / p.sum()))


@wrong
def divided_by_zero(logits, temperature, rng):
    """At temperature 0 you divide by 0. Temperature 0 means the limit: always take the token with the largest logit,
    without any division."""
    with np.errstate(all="ignore"):
        return int(rng.choice(len(logits), p=softmax(logits / temperature)))


@wrong
def zero_as_if_it_were_one(logits, temperature, rng):
    """At temperature 0 you draw as if it were 1. Temperature 0 means the limit of ever lower temperatures: always take
    the token with the largest logit."""
    return int(rng.choice(len(logits), p=softmax(logits / (temperature or 1.0))))


@wrong
def never_the_rng(logits, temperature, rng):
    """You do not draw from `rng`, but from your own generator, which starts from the same seed each time. So every call
    gives the same token. Take all random numbers from `rng`."""
    if temperature == 0:
        return int(np.argmax(logits))
    return int(np.random.default_rng(3).choice(len(logits), p=softmax(logits / temperature)))


@wrong
def one_seed_for_every_draw(logits, temperature, rng):
    """You do not draw from `rng`, but from your own generator, which starts from the same seed each time. So every call
    gives the same token. Take all random numbers from `rng`."""
    if temperature == 0:
        return int(np.argmax(logits))
    return int(np.random.default_rng(0).choice(len(logits), p=softmax(logits / temperature)))


@wrong
def every_token_alike(logits, temperature, rng):
    """You draw every token equally often. Draw each token with its probability from the softmax."""
    if temperature == 0:
        return int(np.argmax(logits))
    return int(rng.integers(len(logits)))


@wrong
def roots_of_the_probabilities(logits, temperature, rng):
    """You take the softmax twice. The first softmax already gives the probabilities, and a second one makes them nearly
    equal."""
    if temperature == 0:
        return int(np.argmax(logits))
    return int(rng.choice(len(logits), p=softmax(softmax(logits / temperature))))


@wrong
def shares_of_the_logits(logits, temperature, rng):
    """Your probabilities are the logits themselves, scaled to a sum of 1. Logits can be negative, and only the
    differences between them count. Use a softmax."""
    if temperature == 0:
        return int(np.argmax(logits))
    p = np.abs(logits / temperature) + 1e-12
    return int(rng.choice(len(logits), p=p / p.sum()))


@wrong
def the_smallest_when_cold(logits, temperature, rng):
    """At temperature 0 you take the token with the smallest logit. Take the token with the largest."""
    if temperature == 0:
        return int(np.argmin(logits))
    return right.sample_next(logits, temperature, rng)


@wrong
def order_for_token(logits, temperature, rng):
    """You sort the tokens by their logits and return a place in that order. Return the token itself: its place in
    `logits`."""
    order = np.sort(logits)[::-1]
    return right.sample_next(order, temperature, rng)


@wrong
def the_logit_for_its_place(logits, temperature, rng):
    """You return the largest logit. Return the token that it belongs to: its place in the array."""
    return float(np.max(logits))


@wrong
def the_logit_when_cold(logits, temperature, rng):
    """At temperature 0 you return the largest logit itself. Return the token that it belongs to, which is its place in
    the array: `argmax` instead of `max`."""
    return float(np.max(logits)) if temperature == 0 else right.sample_next(logits, temperature, rng)


@wrong
def the_rounded_logit_when_cold(logits, temperature, rng):
    """At temperature 0 you return the largest logit itself. Return the token that it belongs to, which is its place in
    the array: `argmax` instead of `max`."""
    return int(np.max(logits)) if temperature == 0 else right.sample_next(logits, temperature, rng)


wrong = misconceptions_of("generate")


def kept_of(caches, i, pair):
    """Return the cache of block i followed by the new keys and values. The first time, there is no cache
    yet."""
    return (
        pair if caches[i] is None else tuple(np.concatenate(two, axis=-2) for two in zip(caches[i], pair, strict=True))
    )


def continued(
    tokens, n_new, model, temperature, rng, *, place=lambda text, new: np.arange(len(text) - len(new), len(text)),
    prompt=slice(None), keep=lambda i: i, draw=sample_next, norm=True, row=-1, turn_cached=True, mask=True, join=kept_of,
    turn_when_read=False,
):  # fmt: skip
    """Continue a text with a mistake, which the keyword arguments choose."""
    text, new = list(tokens), list(tokens)[prompt]
    caches = [None] * len(model["blocks"])
    for _ in range(n_new):
        X, places = model["embedding"][new], place(text, new)
        for i, weights in enumerate(model["blocks"]):
            normed, W, mlp = layer_norm(X, **weights["norm_1"]), weights["attention"], weights["mlp"]
            Q, K, V = (split_heads(normed @ W[name], model["h"]) for name in ("W_Q", "W_K", "W_V"))
            Q = rotate_positions(Q, places)
            caches[keep(i)] = join(caches, keep(i), (rotate_positions(K, places) if turn_cached else K, V))
            K, V = caches[keep(i)]
            K = rotate_positions(K, np.arange(K.shape[-2])) if turn_when_read else K
            O, _ = masked_attention(Q, K, V, causal_mask(Q.shape[-2], K.shape[-2]) if mask else None)
            X = X + merge_heads(O) @ W["W_O"]
            hidden = np.maximum(layer_norm(X, **weights["norm_2"]) @ mlp["W_1"] + mlp["b_1"], 0)
            X = X + hidden @ mlp["W_2"] + mlp["b_2"]
        out = layer_norm(X[row], **model["norm"]) if norm else X[row]
        new = [draw(out @ model["embedding"].T, temperature, rng)]
        text += new
    return np.array(text)


@wrong
def no_cache_at_all(tokens, n_new, model, temperature, rng):
    """Your text is right, but for every new token the whole text goes through the blocks again. Keep the keys and
    values of the earlier tokens. They never change, because no position looks ahead. Then only the newest token has to
    go through."""
    text = list(tokens)
    for _ in range(n_new):
        text.append(sample_next(next_token_logits(text, model)[-1], temperature, rng))
    return np.array(text)


@wrong
def last_token_only(tokens, n_new, model, temperature, rng):
    """You pass the model the last token alone and keep nothing of the earlier ones, so the model writes as if it had
    read a single token. Keep the keys and values of the earlier tokens."""
    text = list(tokens)
    for _ in range(n_new):
        text.append(sample_next(next_token_logits(text[-1:], model)[-1], temperature, rng))
    return np.array(text)


@wrong
def cache_lost(tokens, n_new, model, temperature, rng):
    """Your cache contains only the newest keys and values, and the earlier ones are lost. At each step, append the new
    keys and values to the cache and keep all of it."""
    return continued(tokens, n_new, model, temperature, rng, join=lambda _caches, _i, pair: pair)


@wrong
def cache_of_the_given_tokens_only(tokens, n_new, model, temperature, rng):
    """Your cache never grows beyond the given tokens. So each new token sees the given tokens and itself, but none of
    the other new tokens. Keep the keys and values that each step appends."""
    first = {}

    def join(caches, i, pair):
        both = kept_of([first.get(i)], 0, pair)
        first.setdefault(i, pair)
        return both

    return continued(tokens, n_new, model, temperature, rng, join=join)


@wrong
def given_tokens_never_read(tokens, n_new, model, temperature, rng):
    """Only the last of the given tokens goes through the blocks, so the cache has nothing from the tokens before it.
    Send all the given tokens through in the first round."""
    return continued(tokens, n_new, model, temperature, rng, prompt=slice(-1, None))


@wrong
def positions_that_start_again(tokens, n_new, model, temperature, rng):
    """Every new token is turned as if it were at position 0. It comes after the whole text so far, so its position is
    the number of tokens before it."""
    return continued(tokens, n_new, model, temperature, rng, place=lambda _text, new: np.arange(len(new)))


@wrong
def positions_that_stand_still(tokens, n_new, model, temperature, rng):
    """Every new token is turned as if it came right after the given tokens. That is right for the first new token only:
    the position of each token is the number of tokens before it."""

    def place(text, new):
        return np.arange(len(text)) if len(text) == len(tokens) else np.array([len(tokens)])

    return continued(tokens, n_new, model, temperature, rng, place=place)


@wrong
def new_queries_at_position_zero(tokens, n_new, model, temperature, rng):
    """Your keys are turned by the right positions, but the query of each new token is turned as if it were at position
    0. It comes after the whole text so far, so its position is the number of tokens before it."""
    return continued(
        tokens, n_new, model, temperature, rng, place=lambda _text, new: np.arange(len(new)), turn_cached=False,
        turn_when_read=True,
    )  # fmt: skip


@wrong
def positions_one_too_late(tokens, n_new, model, temperature, rng):
    """Your new tokens are one position too late, which leaves a gap after the given ones. After n tokens the next token
    has position n, because counting starts at 0."""

    def place(text, new):
        return np.arange(len(new)) if len(new) == len(text) and len(text) == len(tokens) else np.array([len(text)])

    return continued(tokens, n_new, model, temperature, rng, place=place)


@wrong
def keys_kept_before_the_turn(tokens, n_new, model, temperature, rng):
    """You turn the queries by their positions, but not the keys. Turn the keys before you put them into the cache."""
    return continued(tokens, n_new, model, temperature, rng, turn_cached=False)


@wrong
def cached_keys_turned_again(tokens, n_new, model, temperature, rng):
    """You turn the keys of the cache again in every step, although you turned them when they went in. Turn each key
    only once, by the position of its own token."""

    def join(caches, i, pair):
        if caches[i] is None:
            return pair
        K, V = caches[i]
        return kept_of([(rotate_positions(K, np.arange(K.shape[-2])), V)], 0, pair)

    return continued(tokens, n_new, model, temperature, rng, join=join)


@wrong
def one_cache_for_all_blocks(tokens, n_new, model, temperature, rng):
    """All of your blocks share one cache, so each block also sees the keys and values of the others. Every block needs
    its own cache."""
    return continued(tokens, n_new, model, temperature, rng, keep=lambda _i: 0)


@wrong
def newest_keys_first(tokens, n_new, model, temperature, rng):
    """You put the newest keys in front of the cache and the newest values after it (or the reverse). So weights and
    values no longer belong together. Append both at the end."""

    def join(caches, i, pair):
        if caches[i] is None:
            return pair
        (K, V), (new_K, new_V) = caches[i], pair
        return np.concatenate([new_K, K], axis=-2), np.concatenate([V, new_V], axis=-2)

    return continued(tokens, n_new, model, temperature, rng, join=join)


@wrong
def given_tokens_without_a_mask(tokens, n_new, model, temperature, rng):
    """When the given tokens go through the blocks together, they have no mask, so each token sees the later ones. Use a
    mask in the first round. After that, the newest token may see everything."""
    return continued(tokens, n_new, model, temperature, rng, mask=False)


@wrong
def only_what_is_new(tokens, n_new, model, temperature, rng):
    """You return only the new tokens. Put the given tokens in front of them."""
    return right.generate(tokens, n_new, model, temperature, rng)[len(tokens) :]


@wrong
def one_token_short(tokens, n_new, model, temperature, rng):
    """You draw one token too few. Draw `n_new` tokens, not counting the given ones."""
    return right.generate(tokens, n_new, model, temperature, rng)[:-1]


@wrong
def one_token_too_many(tokens, n_new, model, temperature, rng):
    """You draw one token too many. Draw `n_new` tokens, not counting the given ones."""
    return right.generate(tokens, n_new + 1, model, temperature, rng)


@wrong
def greedy_at_every_temperature(tokens, n_new, model, temperature, rng):
    """You take the likeliest token at every temperature. That is right only at temperature 0. At other temperatures,
    draw each token with its own probability."""
    return right.generate(tokens, n_new, model, 0, rng)


@wrong
def always_at_temperature_one(tokens, n_new, model, temperature, rng):
    """You always draw at temperature 1, whatever the argument is. Pass the temperature on."""
    return right.generate(tokens, n_new, model, 1.0, rng)


@wrong
def drawn_from_the_first_row(tokens, n_new, model, temperature, rng):
    """You take the logits after the first of the tokens that go through the blocks. Only the logits after the last of
    these tokens predict the next one."""
    return continued(tokens, n_new, model, temperature, rng, row=0)


@wrong
def last_norm_forgotten(tokens, n_new, model, temperature, rng):
    """You leave out the last norm, between the blocks and the embedding."""
    return continued(tokens, n_new, model, temperature, rng, norm=False)


@wrong
def the_same_dice_for_every_token(tokens, n_new, model, temperature, rng):
    """You restart the generator for every token, so all tokens are drawn with the same random number. Pass on the same
    generator, which moves forward with each draw."""
    seed = int(rng.integers(2**32))
    return continued(
        tokens, n_new, model, temperature, rng,
        draw=lambda logits, temperature, _rng: sample_next(logits, temperature, np.random.default_rng(seed)),
    )  # fmt: skip

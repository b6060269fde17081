"""Wrong solutions of chapter 8. Each function makes one mistake, and its docstring is the message for students who make this mistake."""

import math

import numpy as np

from autograder.misconception import misconceptions_of
from solutions import ch8_language_model as right
from solutions.ch1_weighted_averaging import softmax
from solutions.ch4_masking import causal_mask, masked_attention, masked_softmax
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
    """You take one mean and one variance of the whole array. Each row should have its own, so that no row changes the
    norm of another. Along which axis are the numbers of a row?
    """
    return (X - X.mean()) / np.sqrt(X.var() + eps) * gain + bias


@wrong
def variance_around_the_last_mean(X, gain, bias, eps=1e-5):
    """Each row has its own mean, but all your variances are measured around the mean of the last row. After a loop, the
    loop's variable still has its last value. Which mean belongs to which variance?"""
    mean = X.mean(axis=-1, keepdims=True)
    variance = ((X - mean.reshape(-1)[-1]) ** 2).mean(axis=-1, keepdims=True)
    return (X - mean) / np.sqrt(variance + eps) * gain + bias


@wrong
def over_the_positions(X, gain, bias, eps=1e-5):
    """You take the mean and the variance down the columns, over the positions. Take them along each row, over the
    numbers of one position. Then no position depends on another."""
    axis = max(X.ndim - 2, 0)
    return (X - X.mean(axis=axis, keepdims=True)) / np.sqrt(X.var(axis=axis, keepdims=True) + eps) * gain + bias


@wrong
def along_the_first_axis(X, gain, bias, eps=1e-5):
    """You take the mean and the variance along the first axis, so rows change each other. Take them along each row,
    over the numbers of one position. Then no position depends on another."""
    return (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0) + eps) * gain + bias


@wrong
def gain_and_bias_before_the_norm(X, gain, bias, eps=1e-5):
    """You stretch and move the row first, and then bring it to mean 0 and variance 1, which undoes most of the
    stretching. Apply the gain and the bias last, after the division."""
    return right.layer_norm(X * gain + bias, np.ones_like(gain), np.zeros_like(bias), eps)


@wrong
def gain_before_the_division(X, gain, bias, eps=1e-5):
    """You multiply by the gain before you take the mean and the variance, so the division undoes most of it. Divide
    first. The gain and the bias come last."""
    return right.layer_norm(X * gain, np.ones_like(gain), bias, eps)


@wrong
def bias_inside_the_gain(X, gain, bias, eps=1e-5):
    """Your bias is multiplied by the gain too. Multiply only the normed row by the gain, then add the bias as it is."""
    return (right.layer_norm(X, np.ones_like(gain), bias, eps)) * gain


@wrong
def mean_left_in(X, gain, bias, eps=1e-5):
    """The row that you divide still has its mean. So even without gain and bias, the mean of the result is not 0. In
    the example, 1 and 3 should become -1 and 1 before the division."""
    return X / np.sqrt(X.var(axis=-1, keepdims=True) + eps) * gain + bias


@wrong
def root_mean_square(X, gain, bias, eps=1e-5):
    """Your rows keep their mean and are divided by the root of their mean square. That is a different norm, called
    RMSNorm, which newer models use. Layer norm divides the distances from the mean, and the variance is the mean of
    their squares."""
    return X / np.sqrt((X**2).mean(axis=-1, keepdims=True) + eps) * gain + bias


@wrong
def mean_square_for_variance(X, gain, bias, eps=1e-5):
    """You subtract the mean from the row, but for the variance you take the mean square of the original numbers. The
    variance uses the distances from the mean. For the row [1, 3] it is 1, while the mean square is 5."""
    mean = X.mean(axis=-1, keepdims=True)
    return (X - mean) / np.sqrt((X**2).mean(axis=-1, keepdims=True) + eps) * gain + bias


@wrong
def divided_by_the_variance(X, gain, bias, eps=1e-5):
    """You divide by the variance instead of its root. Without eps and bias, a row with numbers twice as large would then
    come out half as large. After a norm, it should be the same."""
    return (X - X.mean(axis=-1, keepdims=True)) / (X.var(axis=-1, keepdims=True) + eps) * gain + bias


@wrong
def without_eps(X, gain, bias, eps=1e-5):
    """Your result does not depend on eps. A row of equal numbers has variance 0, so without eps the result is 0 / 0.
    Add eps to the variance, under the root."""
    return (X - X.mean(axis=-1, keepdims=True)) / X.std(axis=-1, keepdims=True) * gain + bias


@wrong
def always_the_usual_eps(X, gain, bias, eps=1e-5):
    """You always use the same small number, whatever eps is. Use the argument. If the caller leaves it out, it already
    has its usual value.
    """
    return right.layer_norm(X, gain, bias)


@wrong
def without_the_gain(X, gain, bias, eps=1e-5):
    """Your result does not depend on the gain. After the division, multiply each number of a row by its own gain, and
    add its bias to the product."""
    return right.layer_norm(X, np.ones_like(gain), bias, eps)


@wrong
def without_the_bias(X, gain, bias, eps=1e-5):
    """Your result does not depend on the bias. Add it at the end, one number for each column, and return the sum."""
    return right.layer_norm(X, gain, np.zeros_like(bias), eps)


@wrong
def between_zero_and_one(X, gain, bias, eps=1e-5):
    """You scale each row to the range from its smallest to its largest number. A norm uses the mean and the variance,
    so that a single extreme number does not determine all the others."""
    low, high = X.min(axis=-1, keepdims=True), X.max(axis=-1, keepdims=True)
    return (X - low) / (high - low + eps) * gain + bias


@wrong
def one_number_a_row_without_its_axis(X, gain, bias, eps=1e-5):
    """Your code is right for one or two axes, but not with more. Does each mean meet its own row, however many axes X
    has? If X has more than two axes, `.T` reverses all of them. With `keepdims=True`, the means fit X as it is."""
    return ((X.T - X.mean(axis=-1)) / np.sqrt(X.var(axis=-1) + eps)).T * gain + bias


@wrong
def one_new_axis_in_the_second_place(X, gain, bias, eps=1e-5):
    """Your code fits matrices only. For example, `[:, None]` puts a new axis in the second place, which is the last one
    only if X has two axes. Does each mean meet its own row, however many axes X has? With `keepdims=True`, the means
    fit X as it is."""
    mean, variance = X.mean(axis=-1)[:, None], X.var(axis=-1)[:, None]
    return (X - mean) / np.sqrt(variance + eps) * gain + bias


@wrong
def one_new_axis_and_single_rows(X, gain, bias, eps=1e-5):
    """Your code fits a single row or a matrix only. For example, `[:, None]` puts a new axis in the second place, which
    is the last one only if X has two axes. Does each mean meet its own row, however many axes X has? With
    `keepdims=True`, the means fit X as it is."""
    if X.ndim == 1:
        return right.layer_norm(X, gain, bias, eps)
    return one_new_axis_in_the_second_place(X, gain, bias, eps)


@wrong
def one_mean_for_each_matrix(X, gain, bias, eps=1e-5):
    """You take the mean and the variance over the last two axes, so the rows of a sequence share them. Each row should
    have its own, so that no row changes the norm of another.
    """
    axes = tuple(range(max(X.ndim - 2, 0), X.ndim))
    return (X - X.mean(axis=axes, keepdims=True)) / np.sqrt(X.var(axis=axes, keepdims=True) + eps) * gain + bias


@wrong
def one_mean_for_each_sequence(X, gain, bias, eps=1e-5):
    """If X has more than two axes, you take one mean and one variance for each entry along the first axis. Each row
    should have its own, whatever axes come before it. Along which axis are the numbers of a row?"""
    axes = tuple(range(min(1, X.ndim - 1), X.ndim))
    return (X - X.mean(axis=axes, keepdims=True)) / np.sqrt(X.var(axis=axes, keepdims=True) + eps) * gain + bias


@wrong
def along_the_second_axis(X, gain, bias, eps=1e-5):
    """You take the mean and the variance along the axis with number 1, which is the last one only if X has two axes.
    The numbers of a row are along the last axis, however many axes come before it."""
    return (X - X.mean(axis=1, keepdims=True)) / np.sqrt(X.var(axis=1, keepdims=True) + eps) * gain + bias


@wrong
def divided_by_the_length(X, gain, bias, eps=1e-5):
    """You divide by the root of the sum of the squared distances. So without gain and bias, each row has length 1
    instead of variance 1. The variance is the mean of the squared distances."""
    distances = X - X.mean(axis=-1, keepdims=True)
    return distances / np.sqrt((distances**2).sum(axis=-1, keepdims=True) + eps) * gain + bias


@wrong
def mean_distance(X, gain, bias, eps=1e-5):
    """You divide by the mean distance from the mean. Layer norm squares the distances, takes the mean of the squares,
    and divides by its root. A single number far from the others counts more that way."""
    distances = X - X.mean(axis=-1, keepdims=True)
    return distances / (np.abs(distances).mean(axis=-1, keepdims=True) + eps) * gain + bias


@wrong
def at_least_eps(X, gain, bias, eps=1e-5):
    """You use eps only if the variance is smaller than eps. Add eps to every variance. The difference is small for most
    rows, but not for rows of nearly equal numbers, or if eps is large."""
    variance = np.maximum(X.var(axis=-1, keepdims=True), eps)
    return (X - X.mean(axis=-1, keepdims=True)) / np.sqrt(variance) * gain + bias


@wrong
def eps_twice(X, gain, bias, eps=1e-5):
    """You add eps both to the variance and to its root. Add it once, to the variance, under the root."""
    return (X - X.mean(axis=-1, keepdims=True)) / (np.sqrt(X.var(axis=-1, keepdims=True) + eps) + eps) * gain + bias


@wrong
def gain_on_top_of_one(X, gain, bias, eps=1e-5):
    """In effect, you multiply by 1 + gain. Some models store the gain that way, as its distance from 1. Here, multiply
    by the gain itself."""
    return right.layer_norm(X, 1 + gain, bias, eps)


@wrong
def rows_written_over(X, gain, bias, eps=1e-5):
    """The caller's X is not the same afterwards: you wrote into it. A block still needs its rows as they were, to add
    its results to them. Work on a new array."""
    result = right.layer_norm(X, gain, bias, eps)
    X -= 1
    return result


@wrong
def means_as_one_column(X, gain, bias, eps=1e-5):
    """Your code fits matrices only, with exactly two axes. X can also be a single row or have batch axes in front. Only
    the last axis matters here: work along it, whatever comes before it."""
    mean, variance = X.mean(axis=-1).reshape(-1, 1), X.var(axis=-1).reshape(-1, 1)
    return (X - mean) / np.sqrt(variance + eps) * gain + bias


@wrong
def means_as_one_column_but_for_single_rows(X, gain, bias, eps=1e-5):
    """Your code is right for one or two axes, but not with more. Does each mean meet its own row, however many axes X
    has? If X has more than two axes, `.T` reverses all of them. With `keepdims=True`, the means fit X as it is."""
    return means_as_one_column(X, gain, bias, eps) if X.ndim > 1 else right.layer_norm(X, gain, bias, eps)


@wrong
def exactly_two_axes(X, gain, bias, eps=1e-5):
    """Your code fits matrices only, with exactly two axes. X can also be a single row or have batch axes in front. Only
    the last axis matters here: work along it, whatever comes before it."""
    _n, _d = X.shape
    return right.layer_norm(X, gain, bias, eps)


@wrong
def along_the_first_axis_in_a_loop(X, gain, bias, eps=1e-5):
    """Your code fits matrices only, with exactly two axes. X can also be a single row or have batch axes in front. Only
    the last axis matters here: work along it, whatever comes before it."""
    out = np.zeros(X.shape)
    for i in range(X.shape[0]):
        out[i] = (X[i] - X[i].mean()) / np.sqrt(X[i].var() + eps) * gain + bias
    return out


@wrong
def a_list_along_the_first_axis(X, gain, bias, eps=1e-5):
    """Your code fits matrices only, with exactly two axes. X can also be a single row or have batch axes in front. Only
    the last axis matters here: work along it, whatever comes before it."""
    return np.array([(part - part.mean()) / np.sqrt(part.var() + eps) * gain + bias for part in X])


@wrong
def eps_for_equal_numbers_only(X, gain, bias, eps=1e-5):
    """A row of equal numbers is right, but all other rows come out as if eps were 0. Add eps to every variance. It
    keeps a row of nearly equal numbers from being stretched too far."""
    spread = X.std(axis=-1, keepdims=True)
    return (X - X.mean(axis=-1, keepdims=True)) / np.where(spread == 0, 1.0, spread) * gain + bias


@wrong
def difference_of_two_large_squares(X, gain, bias, eps=1e-5):
    """For rows of large numbers that are nearly equal, your result is wrong. The mean of the squares minus the square of
    the mean is right on paper, but both are large, and their small difference is lost in rounding. Subtract the mean
    from the numbers first, then square."""
    mean = X.mean(axis=-1, keepdims=True)
    variance = np.maximum((X**2).mean(axis=-1, keepdims=True) - mean**2, 0)
    return (X - mean) / np.sqrt(variance + eps) * gain + bias


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
    (0, 1). Work through this example with your code: which signs are wrong, or which order?"""
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
    """Your exponents are twice as large as they should be, so the angles shrink too fast from pair to pair. In the
    exponent, i counts pairs and d counts entries. In the example, pair 1 of d = 4 has the exponent -2 · 1 / 4."""
    return turned(X, angles_of(X, positions, base, -4.0))


@wrong
def exponents_for_four_entries(X, positions, base=10000.0):
    """Your angles are right for rows of 4 entries, as in the example, but not for longer rows. The exponent of pair i is
    -2 i / d. Does your formula contain a number that only fits the example?"""
    pairs = np.arange(X.shape[-1] // 2)
    return turned(X, np.asarray(positions)[:, None] * float(base) ** (-pairs / 2))


@wrong
def the_last_exponent_always_a_half(X, positions, base=10000.0):
    """Your angles are right for rows of 4 entries, as in the example, but not for longer rows. The exponent of pair i is
    -2 i / d. In your code, the exponents of all rows end at -1/2. Where should they end for d = 6?"""
    exponents = np.linspace(0, -0.5, X.shape[-1] // 2)
    return turned(X, np.asarray(positions)[:, None] * float(base) ** exponents)


@wrong
def angles_that_grow(X, positions, base=10000.0):
    """Your angles grow from pair to pair. Pair 0 should turn fastest, and every later pair more slowly. Multiply the
    position by the power with a minus in its exponent, or divide it by the power without the minus."""
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
    negative index counts from the end of the table. Compute the angle from the position itself, which works for
    every whole number."""
    table = angles_of(X, np.arange(max(int(np.max(positions)), 0) + 1), base)
    return turned(X, table[positions])


@wrong
def always_the_usual_base(X, positions, base=10000.0):
    """You use a base of 10 000, whatever `base` is. It is an argument, and 10 000 is only its default."""
    return turned(X, angles_of(X, positions, 10000.0))


@wrong
def the_usual_base_for_batches(X, positions, base=10000.0):
    """Your code is right for a single matrix. With batch axes, you use a base of 10 000, whatever `base` is. If your
    function calls itself, does it pass `base` on?"""
    return turned(X, angles_of(X, positions, base if np.ndim(X) == 2 else 10000.0))


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


@wrong
def as_if_consecutive(X, positions, base=10000.0):
    """You turn the rows as if their positions were consecutive, beginning with the first one. Each row has a position
    of its own in `positions`, and these can be in any order."""
    return turned(X, angles_of(X, positions[0] + np.arange(len(positions)), base))


@wrong
def counted_from_the_first(X, positions, base=10000.0):
    """You turn each row by its distance from the first position, so the first row never turns. Turn each row by its
    position itself."""
    return turned(X, angles_of(X, np.asarray(positions) - positions[0], base))


@wrong
def the_first_position_for_all(X, positions, base=10000.0):
    """You turn all rows by the angles of the first position. Each row has its own position."""
    return turned(X, angles_of(X, np.full(len(positions), positions[0]), base))


@wrong
def angles_added_up(X, positions, base=10000.0):
    """You add up the positions, so each row is turned by its own position and by those of all rows before it. Each row
    turns by its own position only."""
    return turned(X, angles_of(X, np.cumsum(positions), base))


@wrong
def table_up_to_the_largest_distance(X, positions, base=10000.0):
    """Rows at negative positions are wrong, or cause an error. If you look something up in a table by position, a
    negative index counts from the end of the table. Compute the angle from the position itself, which works for
    every whole number."""
    table = angles_of(X, np.arange(int(np.max(np.abs(positions))) + 1), base)
    return turned(X, table[positions])


@wrong
def negative_positions_not_turned(X, positions, base=10000.0):
    """You do not turn the rows at negative positions. A negative position turns the row the other way, by the same
    formula."""
    return turned(X, angles_of(X, np.maximum(positions, 0), base))


@wrong
def angles_side_by_side(X, positions, base=10000.0):
    """Your entries get the angles of pairs 0, 1, 2, … and then the same angles again. So the two entries of a pair,
    which are neighbors, get the angles of two different pairs. Each angle should come twice in a row: pair 0, pair 0,
    pair 1, pair 1, and so on."""
    angles = np.concatenate([angles_of(X, positions, base)] * 2, axis=-1)
    first, second = X[..., 0::2], X[..., 1::2]
    swapped = np.stack([-second, first], axis=-1).reshape(X.shape)
    return X * np.cos(angles) + swapped * np.sin(angles)


@wrong
def exponents_up_to_one(X, positions, base=10000.0):
    """Your exponents go from 0 to -1, both included. Pair i has the exponent -2 i / d, so the last pair does not reach
    -1. For example, if d = 4, the exponents are 0 and -1/2. Do you divide by m or by m - 1? `linspace` includes the end."""
    m = X.shape[-1] // 2
    return turned(X, np.asarray(positions)[:, None] * float(base) ** -np.linspace(0, 1, m))


@wrong
def pairs_counted_from_one(X, positions, base=10000.0):
    """You count the pairs from 1, so each pair turns as slowly as the next one should. The first pair is pair 0: it
    turns by the position itself."""
    d = X.shape[-1]
    return turned(X, np.asarray(positions)[:, None] * float(base) ** (-2.0 * np.arange(1, d // 2 + 1) / d))


@wrong
def slowest_pair_first(X, positions, base=10000.0):
    """Your angles are in reverse order: the first pair turns most slowly, and the last one fastest. Pair 0 turns
    fastest."""
    return turned(X, angles_of(X, positions, base)[:, ::-1])


@wrong
def places_and_angles_from_halves(X, positions, base=10000.0):
    """You pair entry i of the first half of a row with entry i of the second half, and put the two results next to each
    other. Here, neighbors form a pair: entries 0 and 1, entries 2 and 3, and so on."""
    first, second = np.split(X, 2, axis=-1)
    angles = angles_of(X, positions, base)
    cos, sin = np.cos(angles), np.sin(angles)
    return np.stack([first * cos - second * sin, first * sin + second * cos], axis=-1).reshape(X.shape)


@wrong
def sine_and_cosine_exchanged(X, positions, base=10000.0):
    """You exchanged sine and cosine. A row at position 0 should stay as it is: which of the two is 1 at an angle of
    0?"""
    return turned(X, np.pi / 2 - angles_of(X, positions, base))


@wrong
def entries_of_a_pair_exchanged(X, positions, base=10000.0):
    """You turn each pair, but put its two results in each other's place. The turned first entry belongs into the even
    column, and the turned second entry into the odd column."""
    result = right.rotate_positions(X, positions, base)
    return result.reshape(*X.shape[:-1], -1, 2)[..., ::-1].reshape(X.shape)


@wrong
def turned_in_place(X, positions, base=10000.0):
    """The caller's X is not the same afterwards: you wrote into it. Put the turned rows in a new array."""
    result = right.rotate_positions(X, positions, base)
    X += 1
    return result


@wrong
def slices_of_the_second_axis(X, positions, base=10000.0):
    """Your code fits matrices only. For example, `X[:, 0::2]` takes every second entry along the second axis, which is
    the last one only if X has two axes. Take the entries along the last axis, whatever comes before it."""
    angles, result = angles_of(X, positions, base), np.empty(X.shape)
    cos, sin = np.cos(angles), np.sin(angles)
    result[:, 0::2] = X[:, 0::2] * cos - X[:, 1::2] * sin
    result[:, 1::2] = X[:, 0::2] * sin + X[:, 1::2] * cos
    return result


@wrong
def exactly_two_axes_to_turn(X, positions, base=10000.0):
    """Your code fits matrices only, with exactly two axes. X can have batch axes in front, and all of them share the
    positions. The rows are along the last axis but one, and the entries along the last."""
    _n, _d = X.shape
    return right.rotate_positions(X, positions, base)


@wrong
def only_the_first_pair(X, positions, base=10000.0):
    """You turn only the first pair of each row. All the others turn too, each by an angle of its own."""
    angles = angles_of(X, positions, base)
    return turned(X, angles * (np.arange(angles.shape[-1]) == 0))


@wrong
def turned_with_the_other_half(X, positions, base=10000.0):
    """The angles of your entries are right. But each entry is turned together with one of the other half of the row,
    as many programs do, instead of its neighbor. Entries 0 and 1 are a pair here. Which two entries does each of your
    turns combine?"""
    d = X.shape[-1]
    angles = np.repeat(positions[:, None] * base ** (-np.arange(0, d, 2) / d), 2, axis=-1)
    other = np.concatenate([-X[..., d // 2 :], X[..., : d // 2]], axis=-1)
    return X * np.cos(angles) + other * np.sin(angles)


@wrong
def one_position_for_each_batch_entry(X, positions, base=10000.0):
    """Your rows are right without a batch. With a batch, all rows of an entry are turned by the same angles, because you
    go through the first axis of X together with the positions. The rows are the second-to-last axis, however many axes
    are in front."""
    frequencies = base ** (-2 * np.arange(X.shape[-1] // 2) / X.shape[-1])
    rows = []
    for x, position in zip(X, positions, strict=False):
        c, s = np.cos(position * frequencies), np.sin(position * frequencies)
        row = np.empty(x.shape)
        row[..., 0::2] = x[..., 0::2] * c - x[..., 1::2] * s
        row[..., 1::2] = x[..., 0::2] * s + x[..., 1::2] * c
        rows.append(row)
    return np.array(rows)


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
    """After the attention, your rows are its result alone, so their earlier contents are lost. Add the attention's
    result to X, and go on with the sum."""
    return block(X, weights, h, residual=(0, 1))


@wrong
def no_residual_around_the_mlp(X, weights, h):
    """You return the result of the mlp alone. Add it to Y, which is X plus the result of the attention, and return the
    sum."""
    return block(X, weights, h, residual=(1, 0))


@wrong
def mlp_added_to_the_first_rows(X, weights, h):
    """You add the result of the mlp to the original X, so the sum lacks the result of the attention. Add it to Y, which
    is X plus the result of the attention."""
    return (
        X + block(X, weights, h) - block(X, {**weights, "mlp": {name: 0 * W for name, W in weights["mlp"].items()}}, h)
    )


@wrong
def no_residual_at_all(X, weights, h):
    """Your rows are the result of the attention alone, and then the result of the mlp alone. Add each of the two
    results to the rows from before the norm."""
    return block(X, weights, h, residual=(0, 0))


@wrong
def mlp_beside_the_attention(X, weights, h):
    """The mlp gets the normed rows of the original X, from before the attention. The steps should run one after the
    other. What should have been added to X before the second norm?"""
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
    """You add the attention's result to the normed rows. Add it to the original X. Only the attention
    reads the rows of the first norm."""
    normed = layer_norm(X, **weights["norm_1"])
    attended = transformer_block(X, {**weights, "mlp": {name: 0 * W for name, W in weights["mlp"].items()}}, h) - X
    Y, mlp = normed + attended, weights["mlp"]
    hidden = np.maximum(layer_norm(Y, **weights["norm_2"]) @ mlp["W_1"] + mlp["b_1"], 0)
    return Y + hidden @ mlp["W_2"] + mlp["b_2"]


@wrong
def mlp_added_to_the_normed_rows(X, weights, h):
    """You add the mlp's result to the normed rows. Add it to the rows as they are after the attention. The result of
    the second norm is only for the mlp to read."""
    silent, mlp = {**weights, "mlp": {name: 0 * W for name, W in weights["mlp"].items()}}, weights["mlp"]
    Y = layer_norm(transformer_block(X, silent, h), **weights["norm_2"])
    return Y + np.maximum(Y @ mlp["W_1"] + mlp["b_1"], 0) @ mlp["W_2"] + mlp["b_2"]


@wrong
def both_added_to_the_normed_rows(X, weights, h):
    """You add the results of the attention and of the mlp to the normed rows. Add them to the rows as they are. Only the
    attention and the mlp should read the normed rows."""
    silent = {**weights, "mlp": {name: 0 * W for name, W in weights["mlp"].items()}}
    Y, mlp = layer_norm(X, **weights["norm_1"]) + transformer_block(X, silent, h) - X, weights["mlp"]
    Y = layer_norm(Y, **weights["norm_2"])
    return Y + np.maximum(Y @ mlp["W_1"] + mlp["b_1"], 0) @ mlp["W_2"] + mlp["b_2"]


@wrong
def no_norm_at_all(X, weights, h):
    """Your attention reads X as it is, and your mlp reads the sum as it is. Each of the two should read normed rows."""
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
    """The pairs of your queries and keys turn as if all heads were one long row. Turn every head by itself: its first
    pair turns fastest. Do you turn before or after the split into heads?"""
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
    only. A value should not depend on its position."""
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
def values_turned_with_the_rest(X, weights, h):
    """You turn the values too. Positions decide who looks where, which depends on the scores, so on queries and keys
    only. A value should not depend on its position."""
    return block(X, weights, h, turn="QKV")


@wrong
def only_the_queries_turned(X, weights, h):
    """In your scores, the queries are turned by their positions, but the keys are not. A score should depend on the
    distance between the two, so turn both, each by its own position."""
    return block(X, weights, h, turn="Q")


@wrong
def only_the_keys_turned(X, weights, h):
    """Your keys are turned by their positions, but your queries are not. A score should depend on the distance between
    the two, so turn both, each by its own position."""
    return block(X, weights, h, turn="K")


@wrong
def no_positions_in_the_block(X, weights, h):
    """Your scores do not depend on the positions of the rows. Are your queries and keys not turned, or all by the same
    position? After the split into heads, pass both through `rotate_positions`, with the positions 0, 1, …, n - 1."""
    return block(X, weights, h, turn="")


@wrong
def positions_counted_from_the_end(X, weights, h):
    """Every query is turned the wrong way relative to the earlier keys, as if the positions ran backwards. The
    positions are 0, 1, …, n - 1. Are their order and their sign right?"""
    return block(X, weights, h, positions=lambda n: np.arange(n)[::-1])


@wrong
def no_mask_in_the_block(X, weights, h):
    """Your weights are those without a causal mask, so every position reads the later ones. When the model writes,
    these do not exist yet. If you have a mask, why does it not make the weights of the later positions 0?"""
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
    """Your scores are as large as without any division. As in chapter 3, divide them by the root of the width of a
    head's queries. If you already do, what undoes the division?"""
    return block(X, weights, h, scale=np.sqrt(weights["attention"]["W_Q"].shape[1] // h))


@wrong
def relu_left_out(X, weights, h):
    """In your mlp, relu has no effect between the two matrices. Then the two could be multiplied into one, and the mlp
    could do no more than a single matrix. Does the second matrix read the result of relu?"""
    return block(X, weights, h, activate=lambda x: x)


@wrong
def smooth_activation(X, weights, h):
    """Your mlp uses a smooth function (GELU or something like it) instead of relu. Many models do, but this
    block uses relu: negative numbers become 0, and the other numbers stay the same."""
    return block(X, weights, h, activate=lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))))


@wrong
def relu_at_the_end_too(X, weights, h):
    """You also apply relu after the second matrix of the mlp. Then the mlp could only add and never subtract. Apply
    relu between the two matrices, and nowhere else."""
    Y = block(X, {**weights, "mlp": {name: 0 * W for name, W in weights["mlp"].items()}}, h)
    return Y + np.maximum(transformer_block(X, weights, h) - Y, 0)


@wrong
def mlp_without_its_biases(X, weights, h):
    """In your mlp, neither b_1 nor b_2 has an effect. Add b_1 before relu and b_2 at the end."""
    return block(X, weights, h, biases=(0, 0))


@wrong
def mlp_without_its_first_bias(X, weights, h):
    """In your mlp, b_1 has no effect. Add it before relu, because relu should see the sum."""
    return block(X, weights, h, biases=(0, 1))


@wrong
def first_bias_after_the_relu(X, weights, h):
    """You add b_1 after relu. Add it before, because relu should see the sum."""
    later = {**weights["mlp"], "b_2": weights["mlp"]["b_2"] + weights["mlp"]["b_1"] @ weights["mlp"]["W_2"]}
    return block(X, {**weights, "mlp": later}, h, biases=(0, 1))


@wrong
def mlp_without_its_second_bias(X, weights, h):
    """In your mlp, b_2 has no effect. Add it at the end, after the second matrix."""
    return block(X, weights, h, biases=(1, 0))


@wrong
def only_the_mlp(X, weights, h):
    """The result of the attention does not reach your output. It should bring information from the earlier positions
    into each row. The mlp should read X plus this result, and be added to the same sum."""
    return block(X, weights, h, mixed=False, residual=(0, 1))


@wrong
def only_the_attention(X, weights, h):
    """Your block returns the rows as they are after the attention. The mlp comes after it and works on each row by
    itself. Add its result to these rows, and return the sum."""
    return block(X, {**weights, "mlp": {name: 0 * W for name, W in weights["mlp"].items()}}, h)


def own_attention(
    X, weights, h, *, root=None, split=split_heads, merge=merge_heads, raw="", norm=layer_norm, hide=masked_softmax,
    n=None, turn=rotate_positions,
):  # fmt: skip
    """Run a block that computes its scores itself, with a mistake that the keyword arguments choose."""
    n, W, mlp = n or X.shape[-2], weights["attention"], weights["mlp"]
    normed, where = norm(X, **weights["norm_1"]), np.arange(n)
    Q, K, V = (split((X if name in raw else normed) @ W[f"W_{name}"], h) for name in "QKV")
    Q, K = turn(Q, where), turn(K, where)
    scores = Q @ np.swapaxes(K, -1, -2) / (np.sqrt(Q.shape[-1]) if root is None else root(X, W, h))
    Y = X + merge(hide(scores, causal_mask(n)) @ V) @ W["W_O"]
    return Y + np.maximum(norm(Y, **weights["norm_2"]) @ mlp["W_1"] + mlp["b_1"], 0) @ mlp["W_2"] + mlp["b_2"]


def with_eps(eps):
    """Return a layer norm that always uses ``eps``."""
    return lambda X, gain, bias: right.layer_norm(X, gain, bias, eps)


@wrong
def width_of_a_head_from_d_model(X, weights, h):
    """You divide the scores by the root of d_model // h. The width of a head's queries need not be that. Take it from
    the queries themselves, or from W_Q and h."""
    return own_attention(X, weights, h, root=lambda X, _W, h: np.sqrt(X.shape[-1] // h))


@wrong
def width_of_a_head_from_d_model_and_a_low_number(X, weights, h):
    """You divide the scores by the root of d_model // h. The width of a head's queries need not be that. Take it from
    the queries themselves, or from W_Q and h."""

    def hide(scores, mask):
        return softmax(np.where(mask, scores, -1e9))

    return own_attention(X, weights, h, root=lambda X, _W, h: np.sqrt(X.shape[-1] // h), hide=hide)


@wrong
def width_of_a_head_from_d_model_and_infinity(X, weights, h):
    """You divide the scores by the root of d_model // h. The width of a head's queries need not be that. Take it from
    the queries themselves, or from W_Q and h."""

    def hide(scores, mask):
        return softmax(np.where(mask, scores, -np.inf))

    return own_attention(X, weights, h, root=lambda X, _W, h: np.sqrt(X.shape[-1] // h), hide=hide)


@wrong
def width_of_a_head_from_d_model_as_a_factor(X, weights, h):
    """You divide the scores by the root of d_model // h. The width of a head's queries need not be that. Take it from
    the queries themselves, or from W_Q and h."""
    return own_attention(X, weights, h, root=lambda X, _W, h: 1 / (1.0 / (X.shape[-1] // h) ** 0.5))


@wrong
def width_of_a_head_from_d_model_or_one(X, weights, h):
    """You divide the scores by the root of d_model // h. The width of a head's queries need not be that. Take it from
    the queries themselves, or from W_Q and h."""
    return own_attention(X, weights, h, root=lambda X, _W, h: np.sqrt(max(1, X.shape[-1] // h)))


@wrong
def exact_share_of_d_model(X, weights, h):
    """You divide the scores by the root of d_model / h. The width of a head's queries need not be that. Take it from
    the queries themselves, or from W_Q and h."""
    return own_attention(X, weights, h, root=lambda X, _W, h: np.sqrt(X.shape[-1] / h))


@wrong
def scaled_by_all_heads_together(X, weights, h):
    """You divide the scores by the root of the width of all heads together. Each head has its own scores, from its own
    columns only. Divide by the root of the width of one head's queries."""
    return own_attention(X, weights, h, root=lambda _X, W, _h: np.sqrt(W["W_Q"].shape[1]))


@wrong
def scaled_by_the_width_of_the_values(X, weights, h):
    """You divide the scores by the root of the width of a head's values. The values have no part in the scores, and may
    be wider or narrower. Divide by the root of the width of a head's queries."""
    return own_attention(X, weights, h, root=lambda _X, W, h: np.sqrt(W["W_V"].shape[1] // h))


@wrong
def scaled_twice(X, weights, h):
    """You divide the scores by the width of a head's queries instead of its root. Is the root missing, or do you divide
    twice? If you use `masked_attention`, it already divides by the root."""
    return own_attention(X, weights, h, root=lambda _X, W, h: W["W_Q"].shape[1] // h)


@wrong
def heads_dealt_out_like_cards(X, weights, h):
    """You deal the columns out to the heads like cards: head 0 gets columns 0, h, 2 · h and so on. Each head should get
    columns that are side by side, as `split_heads` does it."""
    return own_attention(
        X, weights, h, split=lambda A, h: np.moveaxis(A.reshape(*A.shape[:-1], -1, h), -1, -3)
    )  # fmt: skip


@wrong
def heads_by_reshape_alone(X, weights, h):
    """You split the heads by reshape alone. A reshape keeps the numbers in row-by-row order, so head 0 gets the first
    rows with all their columns. Every head should get all the rows, with its own columns, as `split_heads` does it."""
    return own_attention(
        X, weights, h, split=lambda A, h: A.reshape(*A.shape[:-2], h, A.shape[-2], -1)
    )  # fmt: skip


@wrong
def merged_by_reshape_alone(X, weights, h):
    """You put the heads back together by reshape alone. A reshape reads all of head 0 before it reaches head 1, so your
    rows mix positions. First move the axis of the heads next to that of their columns, as `merge_heads` does it."""
    return own_attention(
        X, weights, h, merge=lambda O: O.reshape(*O.shape[:-3], O.shape[-2], -1)
    )  # fmt: skip


@wrong
def values_as_wide_as_the_queries(X, weights, h):
    """You cut the columns of W_V, or of the values, in steps of a query's width. But the values may be wider or
    narrower, so the heads get the wrong columns, or none. Each head gets 1/h of the columns of W_V, and 1/h of the rows
    of W_O."""
    n, W, mlp = X.shape[-2], weights["attention"], weights["mlp"]
    normed, Y, d = layer_norm(X, **weights["norm_1"]), X, W["W_Q"].shape[1] // h
    for part in (slice(i * d, (i + 1) * d) for i in range(h)):
        Q, K = (rotate_positions(normed @ W[name][:, part], np.arange(n)) for name in ("W_Q", "W_K"))
        O, _ = masked_attention(Q, K, normed @ W["W_V"][:, part], causal_mask(n))
        Y = Y + O @ W["W_O"][part]
    hidden = np.maximum(layer_norm(Y, **weights["norm_2"]) @ mlp["W_1"] + mlp["b_1"], 0)
    return Y + hidden @ mlp["W_2"] + mlp["b_2"]


@wrong
def norm_with_a_smaller_eps(X, weights, h):
    """Your norms use another eps than the usual one of `layer_norm`. The results differ a little, most of all for rows
    of nearly equal numbers. Call `layer_norm` with its usual eps, because the model was trained with it."""
    return own_attention(X, weights, h, norm=with_eps(1e-6))


@wrong
def norm_with_a_far_smaller_eps(X, weights, h):
    """Your norms use another eps than the usual one of `layer_norm`, or none. The results differ a little, most of all
    for rows of nearly equal numbers. Call `layer_norm` with its usual eps, because the model was trained with it."""
    return own_attention(X, weights, h, norm=with_eps(1e-8))


@wrong
def norm_with_hardly_any_eps(X, weights, h):
    """Your norms use another eps than the usual one of `layer_norm`, or none. The results differ a little, most of all
    for rows of nearly equal numbers. Call `layer_norm` with its usual eps, because the model was trained with it."""
    return own_attention(X, weights, h, norm=with_eps(1e-12))


@wrong
def norm_with_a_larger_eps(X, weights, h):
    """Your norms use another eps than the usual one of `layer_norm`. The results differ a little, most of all for rows
    of nearly equal numbers. Call `layer_norm` with its usual eps, because the model was trained with it."""
    return own_attention(X, weights, h, norm=with_eps(1e-3))


@wrong
def norm_without_eps(X, weights, h):
    """Your norms use another eps than the usual one of `layer_norm`, or none. The results differ a little, most of all
    for rows of nearly equal numbers. Call `layer_norm` with its usual eps, because the model was trained with it."""
    return own_attention(X, weights, h, norm=with_eps(0.0))


@wrong
def norm_with_eps_beside_the_root(X, weights, h):
    """Your own layer norm adds eps to the standard deviation. `layer_norm` adds it to the variance, under the root.
    Call `layer_norm`, which you have written already."""

    def norm(X, gain, bias):
        return eps_beside_the_root(X, gain, bias)

    return own_attention(X, weights, h, norm=norm)


@wrong
def norm_over_d_minus_one(X, weights, h):
    """Your own layer norm divides the squared distances by d - 1. The variance in a layer norm is the mean of all d of
    them. Call `layer_norm`, which you have written already."""

    def norm(X, gain, bias):
        return variance_over_d_minus_one(X, gain, bias)

    return own_attention(X, weights, h, norm=norm)


@wrong
def values_from_the_raw_rows(X, weights, h):
    """Your queries and keys come from the normed rows, but your values from X itself. All three should read the normed
    rows."""
    return own_attention(X, weights, h, raw="V")


@wrong
def attention_reads_raw_rows(X, weights, h):
    """Your attention reads X itself instead of the normed rows. Pass it the result of norm_1. Only the addition uses X
    as it is."""
    return own_attention(X, weights, h, raw="QKV")


@wrong
def queries_from_the_raw_rows(X, weights, h):
    """Your keys and values come from the normed rows, but your queries from X itself. All three should read the normed
    rows."""
    return own_attention(X, weights, h, raw="Q")


@wrong
def batch_taken_for_the_positions(X, weights, h):
    """You take the size of the first axis, len(X), for the number of positions. If there is a batch axis, it is the
    number of sequences. The positions are along the last axis but one, whatever axes come before it."""
    return own_attention(X, weights, h, n=len(X))


@wrong
def batch_as_one_text(X, weights, h):
    """You treat all sequences of the batch as one long sequence. So a sequence sees the ones before it, and its
    positions continue where theirs end. A norm and an mlp work row by row, but attention needs to know which rows
    belong together."""
    return transformer_block(X.reshape(-1, X.shape[-1]), weights, h).reshape(X.shape)


@wrong
def gelu(X, weights, h):
    """Your mlp uses a smooth function (GELU or something like it) instead of relu. Many models do, but this
    block uses relu: negative numbers become 0, and the other numbers stay the same."""
    erf = np.vectorize(math.erf, otypes=[float])
    return block(X, weights, h, activate=lambda x: 0.5 * x * (1 + erf(x / np.sqrt(2))))


@wrong
def silu(X, weights, h):
    """Your mlp uses a smooth function (GELU or something like it) instead of relu. Many models do, but this
    block uses relu: negative numbers become 0, and the other numbers stay the same."""
    return block(X, weights, h, activate=lambda x: x / (1 + np.exp(-x)))


@wrong
def tanh_for_relu(X, weights, h):
    """Your mlp uses tanh, which keeps all numbers between -1 and 1. This block uses relu: negative numbers become 0, and
    the other numbers stay the same."""
    return block(X, weights, h, activate=np.tanh)


@wrong
def size_for_relu(X, weights, h):
    """Your mlp turns negative numbers into positive ones. Relu makes them 0 instead, and leaves the other numbers as
    they are."""
    return block(X, weights, h, activate=np.abs)


@wrong
def forbidden_after_the_softmax(X, weights, h):
    """You set the weights of later positions to 0 after the softmax, so the other weights add up to less than 1. Hide
    the scores before the softmax, which then shares the whole weight among the positions that may be seen."""
    return own_attention(X, weights, h, hide=lambda scores, mask: softmax(scores) * mask)


@wrong
def forbidden_scores_of_zero(X, weights, h):
    """You make the scores of later positions 0. As exp(0) is 1, they still get a share of the weight. A forbidden score
    should be far below all the others."""
    return own_attention(X, weights, h, hide=lambda scores, mask: softmax(scores * mask))


@wrong
def a_norm_at_the_end(X, weights, h):
    """You normalize the result of the block once more. The rows leave a block as they are: the next block begins with a
    norm of its own."""
    return layer_norm(block(X, weights, h), **weights["norm_2"])


@wrong
def weights_written_over(X, weights, h):
    """The caller's `weights` are not the same afterwards: you changed an array in them, or one of the dictionaries. The
    next call would start from the changed weights. Work on copies."""
    result = block(X, weights, h)
    weights["attention"]["W_Q"] *= 0.5
    return result


@wrong
def rows_added_to_in_place(X, weights, h):
    """The caller's X is not the same afterwards: you wrote into it, for example by adding in place. Put the sum in a
    new array."""
    result = block(X, weights, h)
    X += 1
    return result


@wrong
def exactly_two_axes_in_a_block(X, weights, h):
    """Your code fits matrices only, with exactly two axes. X can have batch axes in front. The number of rows is the
    size of the last axis but one."""
    _n, _d = X.shape
    return block(X, weights, h)


@wrong
def scaled_by_the_number_of_heads(X, weights, h):
    """You divide the scores by the root of h, the number of heads. Divide by the root of the width of a head's
    queries."""
    return own_attention(X, weights, h, root=lambda _X, _W, h: np.sqrt(h))


@wrong
def values_turned_for_keys(X, weights, h):
    """You turn the values instead of the keys. A score should depend on the distance between a query and a key, so turn
    these two. A value should not depend on its position."""
    return block(X, weights, h, turn="QV")


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
def every_row_the_sum_of_all(tokens, model):
    """Before the first block, all your rows are the same: each is the sum of the embeddings of the different tokens in the
    text. Row i should be the embedding of token i alone. If you make a table of ones and zeros, row i should have a single 1."""
    model_of_one = {
        **model,
        "embedding": np.tile(model["embedding"][np.unique(tokens)].sum(axis=0), (len(model["embedding"]), 1)),
    }
    return read_out(through(tokens, model_of_one), model)


@wrong
def last_norm_left_out(tokens, model):
    """The last norm has no effect on your logits. The blocks only add to the rows, so the rows usually grow from block
    to block. Normalize them once more, and compare the result with the embedding."""
    return through(tokens, model) @ model["embedding"].T


@wrong
def last_norm_without_gain_and_bias(tokens, model):
    """Your last norm has a gain of 1 and a bias of 0. Use its own gain and bias, from model["norm"]."""
    X = through(tokens, model)
    return layer_norm(X, np.ones(X.shape[-1]), np.zeros(X.shape[-1])) @ model["embedding"].T


@wrong
def gain_and_bias_exchanged(tokens, model):
    """In the last norm, gain and bias have changed places. Multiply by the gain, and add the bias afterwards."""
    norm = {"gain": model["norm"]["bias"], "bias": model["norm"]["gain"]}
    return read_out(through(tokens, model), {**model, "norm": norm})


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
    """Only the first block counts in your logits. The rows should go through every block of the list in turn."""
    return read_out(through(tokens, model, model["blocks"][:1]), model)


@wrong
def only_the_last_block(tokens, model):
    """Only the last block counts in your logits. The rows should go through every block of the list in turn. Does each
    block read the output of the block before it?"""
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
    """Your blocks have no effect on the logits. So the next token depends on the last token alone. Pass the output of
    each block to the next one, and the output of the last block to the norm."""
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
def last_norm_only_after_blocks(tokens, model):
    """You use the last norm after every block, so a model without blocks has no norm at all. The rows should go from block
    to block as they are. Normalize them only once, at the end."""
    X = model["embedding"][np.asarray(tokens)]
    for one in model["blocks"]:
        X = layer_norm(transformer_block(X, one, model["h"]), **model["norm"])
    return X @ model["embedding"].T


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
    """You divide the logits by the root of d_model. Attention divides its scores by a root, but here the dot products
    themselves are the logits."""
    return read_out(through(tokens, model), model) / np.sqrt(model["embedding"].shape[1])


@wrong
def distances_for_dot_products(tokens, model):
    """You compare the final rows with the rows of the embedding by their distance. A logit is a dot product."""
    out = layer_norm(through(tokens, model), **model["norm"])
    return -((out[:, None] - model["embedding"]) ** 2).sum(axis=-1)


@wrong
def every_token_once(tokens, model):
    """You send each token through the blocks only once, even if it occurs several times, and without its real position.
    The result of a row depends on its position and on the tokens before it. Send the whole text through, in its
    order."""
    kinds, back = np.unique(np.asarray(tokens), return_inverse=True)
    return right.next_token_logits(kinds, model)[back]


@wrong
def exactly_two_blocks(tokens, model):
    """You take exactly two blocks from the list. A model may have any number of blocks, also none. Go through all of
    them in a loop."""
    one, two = model["blocks"][:2]
    return read_out(through(tokens, model, [one, two]), model)


@wrong
def two_blocks_by_number(tokens, model):
    """You take exactly two blocks from the list. A model may have any number of blocks, also none. Go through all of
    them in a loop."""
    return read_out(through(tokens, model, [model["blocks"][0], model["blocks"][1]]), model)


@wrong
def exactly_two_blocks_unpacked(tokens, model):
    """You take exactly two blocks from the list. A model may have any number of blocks, also none. Go through all of
    them in a loop."""
    one, two = model["blocks"]
    return read_out(through(tokens, model, [one, two]), model)


@wrong
def at_most_two_blocks(tokens, model):
    """You use at most two blocks, whatever the list contains. Go through all of them in a loop."""
    return read_out(through(tokens, model, model["blocks"][:2]), model)


@wrong
def last_block_left_out(tokens, model):
    """The last block of the list has no effect on your logits. The rows should go through every block, and then to the
    last norm."""
    return read_out(through(tokens, model, model["blocks"][:-1]), model)


@wrong
def first_block_left_out(tokens, model):
    """The first block of the list has no effect on your logits. The rows should go through every block. Does every
    block run, and does the second read the output of the first?"""
    return read_out(through(tokens, model, model["blocks"][1:]), model)


@wrong
def rows_added_to_each_block(tokens, model):
    """You add the rows to the result of each block. A block has done that already: the rows that went into it are part
    of what it returns."""
    X = model["embedding"][np.asarray(tokens)]
    for one in model["blocks"]:
        X = X + transformer_block(X, one, model["h"])
    return read_out(X, model)


@wrong
def one_token_at_a_time(tokens, model):
    """You send each token through the blocks by itself, so no token sees the ones before it, and each is at position 0.
    Send all rows through together. The causal mask lets each of them see only itself and the earlier ones."""
    return np.concatenate([right.next_token_logits([token], model) for token in tokens])


@wrong
def one_head_in_every_block(tokens, model):
    """Your blocks run with a single head, whatever the model says. The number of heads is model["h"]."""
    return right.next_token_logits(tokens, {**model, "h": 1})


@wrong
def waves_for_positions(tokens, model):
    """You add sines and cosines of the position to the rows. The first Transformer did that, but here the blocks
    already turn queries and keys by their positions."""
    X = model["embedding"][np.asarray(tokens)]
    d = X.shape[1]
    angles = np.arange(len(X))[:, None] / 10000.0 ** (2 * (np.arange(d) // 2) / d)
    X = X + np.where(np.arange(d) % 2 == 0, np.sin(angles), np.cos(angles))
    for one in model["blocks"]:
        X = transformer_block(X, one, model["h"])
    return read_out(X, model)


@wrong
def embedding_not_turned_round(tokens, model):
    """You multiply by the embedding instead of its transpose. A logit compares a row with the row of one token, so the
    rows of the embedding have to become columns."""
    return layer_norm(through(tokens, model), **model["norm"]) @ model["embedding"]


@wrong
def blocks_taken_out_of_the_model(tokens, model):
    """Your logits are right, but the caller's `model` is not the same afterwards: you changed the list of its blocks or
    something in it. The next call would use the changed model. Read the model and leave it as it is."""
    result = right.next_token_logits(tokens, model)
    if model["blocks"]:
        model["blocks"].pop()
    return result


@wrong
def model_written_over(tokens, model):
    """Your logits are right, but the caller's `model` is not the same afterwards: you changed an array or a dictionary
    in it. The next call would use the changed model. Read the model and leave it as it is."""
    result = right.next_token_logits(tokens, model)
    model["embedding"] = model["embedding"] + 1.0
    return result


wrong = misconceptions_of("sample_next")


@wrong
def times_the_temperature(logits, temperature, rng):
    """Your draws are what you get if the logits are multiplied by the temperature. Divide by it instead: the higher the
    temperature, the closer together the logits, and the more even the draws."""
    if temperature == 0:
        return int(np.argmax(logits))
    return int(rng.choice(len(logits), p=softmax(logits * temperature)))


@wrong
def always_the_largest(logits, temperature, rng):
    """You always take the token with the largest logit. That is right only at temperature 0. At other temperatures,
    draw each token with its own probability."""
    return int(np.argmax(logits))


@wrong
def a_low_temperature_instead_of_zero(logits, temperature, rng):
    """At temperature 0, you sometimes draw another token than the likeliest. Do you replace a low temperature by a higher
    one, to avoid a division by 0? At a temperature just above 0, a slightly smaller logit still has a chance."""
    return int(rng.choice(len(logits), p=softmax(logits / max(temperature, 0.05))))


@wrong
def nearest_running_sum(logits, temperature, rng):
    """You seem to draw the token whose running sum is nearest to the random number. Then the last token comes too
    rarely. The random number belongs to the first token whose running sum is above it."""
    if temperature == 0:
        return int(np.argmax(logits))
    return int(np.argmin(np.abs(np.cumsum(softmax(logits / temperature)) - rng.random())))


@wrong
def temperature_without_effect(logits, temperature, rng):
    """Your draws are the same at every temperature above 0. Either you do not use the temperature, or it has no effect.
    For example, it changes nothing to divide all probabilities by the same number and bring their sum back to 1, or to
    subtract the same number from all logits. Divide the logits themselves, before the softmax or before random numbers
    are added."""
    if temperature == 0:
        return int(np.argmax(logits))
    return int(rng.choice(len(logits), p=softmax(logits)))


@wrong
def overflow_when_cold(logits, temperature, rng):
    """At a low temperature, the logits divided by it are huge, and `np.exp` of the largest is infinite. Use the remedy
    of chapter 1: subtract the largest from all of them, which leaves the softmax the same."""
    if temperature == 0:
        return int(np.argmax(logits))
    with np.errstate(all="ignore"):
        e = np.exp(logits / temperature)
        return int(rng.choice(len(logits), p=e / e.sum()))


@wrong
def power_after_the_softmax(logits, temperature, rng):
    """With logits far apart and a high temperature, your draws are wrong. Do you use the temperature only after the
    softmax, for example as a power of the probabilities? A probability that is too small for a float has then become 0,
    and stays 0. Divide the logits by the temperature before the softmax."""
    if temperature == 0:
        return int(np.argmax(logits))
    p = softmax(logits) ** (1 / temperature)
    return int(rng.choice(len(logits), p=p / p.sum()))


@wrong
def divided_by_zero(logits, temperature, rng):
    """At temperature 0 you divide by 0. Temperature 0 means the limit: always take the token with the largest logit,
    without any division. If your code has a line for this case, does it return there?"""
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
    """Your draws are too even, as if you took the softmax twice. The first softmax already gives the probabilities, and
    a second one makes them nearly equal."""
    if temperature == 0:
        return int(np.argmax(logits))
    return int(rng.choice(len(logits), p=softmax(softmax(logits / temperature))))


@wrong
def shares_of_the_logits(logits, temperature, rng):
    """Your shares are not those of a softmax. Do you scale the logits themselves to a sum of 1? Logits can be negative,
    and only the differences between them count."""
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
def order_for_token_when_drawn(logits, temperature, rng):
    """Above temperature 0, your tokens get the probabilities of other tokens. Do you sort one of the two by the
    logits? A token is a place in `logits`, and the logit in that place determines its probability."""
    return right.sample_next(np.sort(logits)[::-1] if temperature else logits, temperature, rng)


@wrong
def a_new_number_for_each_token(logits, temperature, rng):
    """You draw a new random number for each token and compare it with the token's own probability. That is right for the
    first token only: the later ones are reached only if no earlier one was taken. Draw one number for all of them."""
    if temperature == 0:
        return int(np.argmax(logits))
    p = softmax(np.asarray(logits) / temperature)
    return next((token for token in range(len(p) - 1) if rng.random() < p[token]), len(p) - 1)


@wrong
def compared_with_each_share(logits, temperature, rng):
    """You compare one random number with the probability of each token by itself. A token after a likelier one
    is never drawn, except for the last token, which gets all that is left. Compare the number with the running sum of
    the probabilities."""
    if temperature == 0:
        return int(np.argmax(logits))
    p = softmax(np.asarray(logits) / temperature)
    number = rng.random()
    return next((token for token in range(len(p) - 1) if number < p[token]), len(p) - 1)


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


@wrong
def a_small_temperature_for_zero(logits, temperature, rng):
    """Instead of temperature 0, you use a small temperature, and still draw. If two logits nearly agree, both tokens
    are drawn. Temperature 0 means the limit: always take the token with the largest logit, even if it is only a little
    larger."""
    return int(rng.choice(len(logits), p=softmax(logits / max(temperature, 1e-3))))


@wrong
def noise_of_a_bell(logits, temperature, rng):
    """With two or three tokens, your shares may be about right. With many, you draw the likeliest one far too often. Do
    you leave out unlikely tokens? Or do you take the largest sum of a logit and noise that does not have a Gumbel
    distribution, for example because its sign is wrong? Every token can come, with its probability from the softmax."""
    return int(np.argmax(logits + temperature * rng.normal(size=len(logits))))


@wrong
def noise_of_a_die(logits, temperature, rng):
    """Your draws give the likeliest tokens far too large a share. Do you leave out unlikely tokens? Or do you take the
    largest sum of a logit and noise that does not have a Gumbel distribution, for example because its sign is wrong?
    Draw with the probabilities from the softmax."""
    return int(np.argmax(logits + temperature * rng.uniform(size=len(logits))))


@wrong
def a_generator_of_its_own(logits, temperature, rng):
    """Your shares are right, but you do not draw from `rng`. If the caller starts a generator from the same seed again,
    other tokens come. Take all random numbers from `rng`."""
    return right.sample_next(logits, temperature, np.random.default_rng())


@wrong
def probabilities_times_noise(logits, temperature, rng):
    """Your draws give the likeliest tokens too large a share. Do you leave out unlikely tokens, or take the largest
    product of a probability and a random number? Draw one token, each with its own probability."""
    if temperature == 0:
        return int(np.argmax(logits))
    return int(np.argmax(softmax(logits / temperature) * rng.uniform(size=len(logits))))


@wrong
def the_token_after(logits, temperature, rng):
    """You return the number of the next token, one too many. The first token has number 0. If you count steps in a sum
    of probabilities, when does the counting stop?"""
    return right.sample_next(logits, temperature, rng) + 1


@wrong
def the_smallest_logit_for_the_largest(logits, temperature, rng):
    """You give the smallest logits the largest probabilities. Check the sign: a large logit means a likely token."""
    return right.sample_next(-np.asarray(logits), temperature, rng)


@wrong
def never_the_first_token(logits, temperature, rng):
    """At temperatures above 0, you never draw token 0, and token 1 comes as often as the two together should. The other
    tokens come as often as they should. Does your comparison of a random number with the sums begin with token 0?"""
    if temperature == 0:
        return int(np.argmax(logits))
    token = np.searchsorted(np.cumsum(softmax(logits / temperature)), rng.random(), side="right")
    return min(max(1, int(token)), len(logits) - 1)


@wrong
def likely_ones_only(logits, temperature, rng):
    """With two or three tokens, your shares may be about right. With many, you draw the likeliest one far too often. Do
    you leave out unlikely tokens? Or do you take the largest sum of a logit and noise that does not have a Gumbel
    distribution, for example because its sign is wrong? Every token can come, with its probability from the softmax."""
    if temperature == 0:
        return int(np.argmax(logits))
    chances = softmax(logits / temperature)
    likely = np.argsort(chances)[-10:]
    return int(rng.choice(likely, p=chances[likely] / chances[likely].sum()))


@wrong
def greedy_below_one(logits, temperature, rng):
    """At temperatures below 1, you always take the token with the largest logit. That is right only at temperature 0.
    At every other temperature, draw each token with its own probability."""
    return right.sample_next(logits, temperature if temperature >= 1 else 0, rng)


@wrong
def the_drawn_logit(logits, temperature, rng):
    """You return the logit that you drew. Return the token that it belongs to: its place in the array."""
    if temperature == 0:
        return int(np.argmax(logits))
    return float(np.asarray(logits)[right.sample_next(logits, temperature, rng)])


@wrong
def a_count_for_the_token(logits, temperature, rng):
    """You return how often token 0 was drawn, which is 1 or 0. `rng.multinomial` returns a count for each token. Return the
    token that was drawn, not a count."""
    if temperature == 0:
        return int(np.argmax(logits))
    return int(rng.multinomial(1, softmax(logits / temperature))[0])


@wrong
def a_new_number_for_each_sum(logits, temperature, rng):
    """The first token comes as often as it should, but the next ones too often, and the last one too rarely. Your draws
    are those of a loop that compares a new random number with the sum of the probabilities so far. How many random
    numbers does one draw need?"""
    if temperature == 0:
        return int(np.argmax(logits))
    total = np.cumsum(softmax(logits / temperature))
    return next((token for token in range(len(total)) if rng.random() < total[token]), len(total) - 1)


@wrong
def error_when_cold(logits, temperature, rng):
    """At a low temperature, the logits divided by it are huge, and their exps are too large for a float, so that your
    function stops with an OverflowError. Use the remedy of chapter 1: subtract the largest from all of them, which
    leaves the softmax the same."""
    if temperature == 0:
        return int(np.argmax(logits))
    e = [math.exp(logit / temperature) for logit in logits]
    return int(rng.choice(len(e), p=np.array(e) / sum(e)))


wrong = misconceptions_of("generate")


def kept_of(caches, i, pair):
    """Return the cache of block i followed by the new keys and values. The first time, there is no cache
    yet."""
    return (
        pair if caches[i] is None else tuple(np.concatenate(two, axis=-2) for two in zip(caches[i], pair, strict=True))
    )


def continued(
    tokens, n_new, model, temperature, rng, *, place=lambda text, new: np.arange(len(text) - len(new), len(text)),
    prompt=slice(None), keep=lambda i: i, draw=sample_next, norm=True, row=-1, turn_cached=True, mask=causal_mask, join=kept_of,
    turn_when_read=False, turn_values=False, place_keys=None, caches=None, norms=("norm_1", "norm_2"), turn_queries=True, residual=(1, 1),
    activate=lambda x: np.maximum(x, 0), biases=(1, 1), mlp_part=1, raw_values=False, scale=None, parallel=False,
):  # fmt: skip
    """Continue a text, making the mistake that the keyword arguments choose."""
    text, new = list(tokens), list(tokens)[prompt]
    caches = caches or [None] * len(model["blocks"])
    for _ in range(n_new):
        X, places = model["embedding"][new], place(text, new)
        key_places = places if place_keys is None else place_keys(new)
        for i, weights in enumerate(model["blocks"]):
            normed, W, mlp, before = layer_norm(X, **weights[norms[0]]), weights["attention"], weights["mlp"], X
            Q, K, V = (split_heads(normed @ W[name], model["h"]) for name in ("W_Q", "W_K", "W_V"))
            Q = (rotate_positions(Q, places) if turn_queries else Q) * (scale(Q.shape[-1], X) if scale else 1)
            V = split_heads(X @ W["W_V"], model["h"]) if raw_values else V
            V = rotate_positions(V, places) if turn_values else V
            caches[keep(i)] = join(caches, keep(i), (rotate_positions(K, key_places) if turn_cached else K, V))
            K, V = caches[keep(i)]
            K = rotate_positions(K, np.arange(K.shape[-2])) if turn_when_read else K
            O, _ = masked_attention(Q, K, V, mask and mask(Q.shape[-2], K.shape[-2]))
            X = residual[0] * X + merge_heads(O) @ W["W_O"]
            hidden = activate(
                layer_norm(before if parallel else X, **weights[norms[1]]) @ mlp["W_1"] + biases[0] * mlp["b_1"]
            )
            X = residual[1] * X + mlp_part * (hidden @ mlp["W_2"] + biases[1] * mlp["b_2"])
        out = layer_norm(X[row], **model["norm"]) if norm else X[row]
        new = [draw(out @ model["embedding"].T, temperature, rng)]
        text += new
    return np.array(text)


@wrong
def no_cache_at_all(tokens, n_new, model, temperature, rng):
    """Your text is right, but for every new token you repeat the work for the earlier tokens. Keep their keys and
    values, which never change, because no position looks ahead. Then send only the newest token through the blocks, and
    no token twice."""
    text = list(tokens)
    for _ in range(n_new):
        text.append(sample_next(next_token_logits(text, model)[-1], temperature, rng))
    return np.array(text)


@wrong
def last_token_only(tokens, n_new, model, temperature, rng):
    """Each of your new tokens depends on the last token alone, as if the model had read a single token. Send all the
    given tokens through the blocks, and keep the keys and values of all earlier tokens."""
    text = list(tokens)
    for _ in range(n_new):
        text.append(sample_next(next_token_logits(text[-1:], model)[-1], temperature, rng))
    return np.array(text)


@wrong
def cache_lost(tokens, n_new, model, temperature, rng):
    """After the first round, each new token sees only itself, because the keys and values of the earlier tokens are not
    kept or are lost. At each step, append the new keys and values to the cache of each block, and keep all of it."""
    return continued(tokens, n_new, model, temperature, rng, join=lambda _caches, _i, pair: pair)


@wrong
def cache_of_the_given_tokens_only(tokens, n_new, model, temperature, rng):
    """Each of your new tokens sees the given tokens and itself, but none of the other new tokens. Keep the keys and
    values of every token. Does the cache of each block grow at each step?"""
    first = {}

    def join(caches, i, pair):
        both = kept_of([first.get(i)], 0, pair)
        first.setdefault(i, pair)
        return both

    return continued(tokens, n_new, model, temperature, rng, join=join)


@wrong
def given_tokens_never_read(tokens, n_new, model, temperature, rng):
    """Your new tokens depend on the last given token, but not on the given tokens before it. Send all the given tokens
    through the blocks in the first round, and keep their keys and values."""
    return continued(tokens, n_new, model, temperature, rng, prompt=slice(-1, None))


@wrong
def positions_that_start_again(tokens, n_new, model, temperature, rng):
    """Every new token is turned as if it were at position 0. It comes after the whole text so far, so its position is
    the number of tokens before it."""
    return continued(tokens, n_new, model, temperature, rng, place=lambda _text, new: np.arange(len(new)))


@wrong
def positions_counted_from_the_first_new_token(tokens, n_new, model, temperature, rng):
    """The first new token is turned as if it were at position 0, the second at position 1, and so on. The given tokens
    count, too: the position of each token is the number of tokens before it."""

    def place(text, new):
        return np.arange(len(new)) if len(text) == len(tokens) else np.array([len(text) - len(tokens) - 1])

    return continued(tokens, n_new, model, temperature, rng, place=place)


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
    """Your new tokens are one position too late, which leaves a gap after the given ones. Counting starts at 0, so the
    position of a token is the number of tokens before it. Is the newest token already in your text when you count?"""

    def place(text, new):
        return np.arange(len(new)) if len(new) == len(text) and len(text) == len(tokens) else np.array([len(text)])

    return continued(tokens, n_new, model, temperature, rng, place=place)


@wrong
def keys_kept_before_the_turn(tokens, n_new, model, temperature, rng):
    """In your scores, the queries are turned by their positions, but the keys are not. Turn each key by the position of
    its own token before you put it into the cache."""
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
    """When the given tokens go through the blocks together, each of them also sees the later ones. Hide these with a
    mask in the first round. After that, the newest token may see everything."""
    return continued(tokens, n_new, model, temperature, rng, mask=None)


@wrong
def only_what_is_new(tokens, n_new, model, temperature, rng):
    """You return only the new tokens. Put the given tokens in front of them."""
    return right.generate(tokens, n_new, model, temperature, rng)[len(tokens) :]


@wrong
def one_token_short(tokens, n_new, model, temperature, rng):
    """Your text is one token too short. Draw `n_new` tokens, not counting the given ones, and return all of them."""
    return right.generate(tokens, n_new, model, temperature, rng)[:-1]


@wrong
def one_token_too_many(tokens, n_new, model, temperature, rng):
    """Your text is one token too long. Draw `n_new` tokens, not counting the given ones."""
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
    """The last norm, between the blocks and the embedding, has no effect on your logits. Compare the normed row with
    the embedding."""
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


@wrong
def values_turned_as_well(tokens, n_new, model, temperature, rng):
    """You turn the values too. Positions decide who looks where, which depends on the scores, so turn queries and keys
    only. A value should not depend on its position."""
    return continued(tokens, n_new, model, temperature, rng, turn_values=True)


@wrong
def new_keys_at_position_zero(tokens, n_new, model, temperature, rng):
    """Your queries are turned by the right positions, but the key of each new token is turned as if it were at position
    0. It comes after the whole text so far, so its position is the number of tokens before it."""
    return continued(tokens, n_new, model, temperature, rng, place_keys=lambda new: np.arange(len(new)))


@wrong
def buffers_shared_by_all_blocks(tokens, n_new, model, temperature, rng):
    """All of your blocks write into the same arrays, so the next block overwrites the keys and values of the one before
    it. Every block needs arrays of its own. For example, `[…] * 2` makes a list that contains the same object twice."""
    left = [None]

    def join(_caches, i, pair):
        both = kept_of(left, 0, pair)
        if i == len(model["blocks"]) - 1:
            left[0] = both
        return both

    return continued(tokens, n_new, model, temperature, rng, join=join)


def with_empty_rows(more, tokens, n_new, model, temperature, rng):
    """Continue a text with caches that have ``more`` rows than the given tokens from the start."""
    filled = {}

    def join(_caches, i, pair):
        filled[i] = kept_of([filled.get(i)], 0, pair)
        empty = len(tokens) + more - filled[i][0].shape[-2]
        return tuple(np.pad(part, ((0, 0), (0, empty), (0, 0))) for part in filled[i])

    return continued(tokens, n_new, model, temperature, rng, join=join)


@wrong
def empty_rows_not_hidden(tokens, n_new, model, temperature, rng):
    """Your caches have room for the whole text, and the attention also reads their empty rows. A key of zeros has score
    0, and exp(0) is 1, so each empty row takes a share of the weight. Pass on only the rows that are filled."""
    return with_empty_rows(n_new, tokens, n_new, model, temperature, rng)


@wrong
def fewer_empty_rows_not_hidden(tokens, n_new, model, temperature, rng):
    """Your caches have room for the whole text, and the attention also reads their empty rows. A key of zeros has score
    0, and exp(0) is 1, so each empty row takes a share of the weight. Pass on only the rows that are filled."""
    return with_empty_rows(n_new - 1, tokens, n_new, model, temperature, rng)


def _with_the_newest(most, tokens, n_new, model, temperature, rng):
    def join(caches, i, pair):
        kept = caches[i] and tuple(part[..., -most:, :] for part in caches[i])
        return kept_of([kept], 0, pair)

    return continued(tokens, n_new, model, temperature, rng, join=join)


@wrong
def newest_rows_only(tokens, n_new, model, temperature, rng):
    """In a long text, your newest tokens no longer look at the first tokens. Does your cache drop the oldest keys and
    values when it reaches some size? Here, every token may look at all the earlier ones, however many there are."""
    return _with_the_newest(63, tokens, n_new, model, temperature, rng)


@wrong
def newest_32_rows_only(tokens, n_new, model, temperature, rng):
    """In a long text, your newest tokens no longer look at the first tokens. Does your cache drop the oldest keys and
    values when it reaches some size? Here, every token may look at all the earlier ones, however many there are."""
    return _with_the_newest(32, tokens, n_new, model, temperature, rng)


@wrong
def gelu_in_the_blocks(tokens, n_new, model, temperature, rng):
    """Your MLP uses a smooth function (GELU or something like it) instead of relu. GPT-2 uses GELU, but the blocks of
    this chapter use relu: the larger of 0 and the number."""
    gelu = lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))  # noqa: E731
    return continued(tokens, n_new, model, temperature, rng, activate=gelu)


@wrong
def mlp_beside_the_attention_in_the_blocks(tokens, n_new, model, temperature, rng):
    """The MLP in your blocks reads the rows that came into the block. It should read Y, the rows to which the attention
    was added. First add the attention, then compute the MLP from the sum."""
    return continued(tokens, n_new, model, temperature, rng, parallel=True)


@wrong
def last_given_token_twice(tokens, n_new, model, temperature, rng):
    """The last given token is in your cache twice. Do you send all given tokens through the blocks to fill the cache,
    and then the last one again? The first pass has already computed its row, so draw the first new token from that
    row."""
    caches = [None] * len(model["blocks"])
    continued(tokens, 1, model, 0, rng, caches=caches)
    place = lambda text, new: np.arange(len(text) - len(new), len(text)) + 1  # noqa: E731
    return continued(tokens, n_new, model, temperature, rng, prompt=slice(-1, None), caches=caches, place=place)


@wrong
def newest_tokens_only(tokens, n_new, model, temperature, rng):
    """After many given tokens, your new tokens are wrong. Every token should look at all the earlier ones, however many
    there are. Do all given tokens go through the blocks, and does your code keep the keys and values of each token
    exactly once, in the right order?"""
    kept = list(tokens)[-64:]
    return np.array([*list(tokens)[:-64], *continued(kept, n_new, model, temperature, rng)])


@wrong
def cache_of_what_the_block_returned(tokens, n_new, model, temperature, rng):
    """You make the keys and values of the given tokens from the rows that each block returns. In a block, keys and
    values come from the rows that go into it, after norm_1. Keep those."""
    text, h, caches = list(tokens), model["h"], []
    X = model["embedding"][text]
    for weights in model["blocks"]:
        X, W = transformer_block(X, weights, h), weights["attention"]
        normed = layer_norm(X, **weights["norm_1"])
        K, V = split_heads(normed @ W["W_K"], h), split_heads(normed @ W["W_V"], h)
        caches.append((rotate_positions(K, np.arange(len(text))), V))
    text.append(sample_next(layer_norm(X[-1], **model["norm"]) @ model["embedding"].T, temperature, rng))
    return continued(text, n_new - 1, model, temperature, rng, prompt=slice(-1, None), caches=caches)


@wrong
def probabilities_for_logits(tokens, n_new, model, temperature, rng):
    """Your draws come from a softmax of a softmax. The second one makes the shares of the tokens more equal. Do you
    pass `sample_next` probabilities? It takes a softmax itself, so pass it the logits."""
    return continued(
        tokens, n_new, model, temperature, rng,
        draw=lambda logits, temperature, rng: sample_next(softmax(logits), temperature, rng),
    )  # fmt: skip


@wrong
def temperature_used_twice(tokens, n_new, model, temperature, rng):
    """The temperature counts twice in your draws. Do you divide the logits before you pass them to `sample_next`? It
    divides them itself, so pass it the logits as they are."""
    return continued(
        tokens, n_new, model, temperature, rng,
        draw=lambda logits, temperature, rng: sample_next(logits / (temperature or 1), temperature, rng),
    )  # fmt: skip


@wrong
def texts_from_another_generator(tokens, n_new, model, temperature, rng):
    """Your shares are right, but you do not draw from `rng`. If the caller starts a generator from the same seed again,
    another text comes. Pass `rng` on to `sample_next`."""
    return right.generate(tokens, n_new, model, temperature, np.random.default_rng())


@wrong
def given_list_extended(tokens, n_new, model, temperature, rng):
    """Your text is right, but if the tokens are given as a list, you append the new tokens to the caller's own list.
    Begin with a copy of it."""
    text = right.generate(tokens, n_new, model, temperature, rng)
    if isinstance(tokens, list):
        tokens.extend(text[len(tokens) :].tolist())
    return text


@wrong
def queries_never_turned(tokens, n_new, model, temperature, rng):
    """Your keys are turned by their positions, but your queries are not. A score should depend on the distance between
    the two, so turn both, each by its own position."""
    return continued(tokens, n_new, model, temperature, rng, turn_queries=False)


@wrong
def neither_queries_nor_keys_turned(tokens, n_new, model, temperature, rng):
    """Your scores do not depend on the positions of the tokens. Are your queries and keys not turned, or all by the
    same position? As in `transformer_block`, turn both, each by the position of its own token, which is the number of
    tokens before it."""
    return continued(tokens, n_new, model, temperature, rng, turn_queries=False, turn_cached=False)


@wrong
def the_same_norm_twice(tokens, n_new, model, temperature, rng):
    """In each block, you use norm_1 in both places. The mlp has its own norm, norm_2, with its own gain and bias."""
    return continued(tokens, n_new, model, temperature, rng, norms=("norm_1", "norm_1"))


@wrong
def norms_in_each_others_place(tokens, n_new, model, temperature, rng):
    """In each block, you swapped the norms. Use norm_1 before the attention and norm_2 before the mlp."""
    return continued(tokens, n_new, model, temperature, rng, norms=("norm_2", "norm_1"))


@wrong
def attention_not_added(tokens, n_new, model, temperature, rng):
    """In each block, your rows after the attention are its result alone, so their earlier contents are lost. The block
    should do the same as `transformer_block`, only for fewer rows."""
    return continued(tokens, n_new, model, temperature, rng, residual=(0, 1))


@wrong
def mlp_not_added(tokens, n_new, model, temperature, rng):
    """In each block, your rows after the mlp are its result alone. The block should do the same as `transformer_block`,
    only for fewer rows."""
    return continued(tokens, n_new, model, temperature, rng, residual=(1, 0))


@wrong
def relu_forgotten(tokens, n_new, model, temperature, rng):
    """In the mlp of each block, relu has no effect between the two matrices. The block should do the same as
    `transformer_block`, only for fewer rows."""
    return continued(tokens, n_new, model, temperature, rng, activate=lambda x: x)


@wrong
def values_from_rows_before_the_norm(tokens, n_new, model, temperature, rng):
    """In each block, you compute the values from the rows before the norm. Queries, keys and values all come from the
    normalized rows."""
    return continued(tokens, n_new, model, temperature, rng, raw_values=True)


@wrong
def scores_divided_by_the_root_of_d_model(tokens, n_new, model, temperature, rng):
    """You divide the scores by the root of d_model, the width of the whole row. Each head has its own, smaller width. Its
    queries and keys have d_k entries, so divide by the root of d_k."""
    return continued(tokens, n_new, model, temperature, rng, scale=lambda d, X: np.sqrt(d / X.shape[-1]))


@wrong
def first_bias_forgotten(tokens, n_new, model, temperature, rng):
    """In the mlp of each block, b_1 has no effect. Add it before relu."""
    return continued(tokens, n_new, model, temperature, rng, biases=(0, 1))


@wrong
def first_bias_added_after_the_relu(tokens, n_new, model, temperature, rng):
    """In each block, you add b_1 after relu. Add it before, because relu should see the sum."""
    blocks = []
    for block_weights in model["blocks"]:
        mlp = block_weights["mlp"]
        blocks.append({**block_weights, "mlp": {**mlp, "b_2": mlp["b_2"] + mlp["b_1"] @ mlp["W_2"]}})
    return continued(tokens, n_new, {**model, "blocks": blocks}, temperature, rng, biases=(0, 1))


@wrong
def mask_as_if_there_were_no_cache(tokens, n_new, model, temperature, rng):
    """Your mask numbers the new tokens from 0, as if there were no tokens before them. So a new token sees only the first
    key of the cache instead of all keys up to its own. Add the number of tokens in the cache."""
    return continued(
        tokens, n_new, model, temperature, rng, mask=lambda n_q, n_k: np.arange(n_k) <= np.arange(n_q)[:, None]
    )


@wrong
def second_bias_forgotten(tokens, n_new, model, temperature, rng):
    """In the mlp of each block, b_2 has no effect. Add it after the second matrix."""
    return continued(tokens, n_new, model, temperature, rng, biases=(1, 0))


@wrong
def both_biases_forgotten(tokens, n_new, model, temperature, rng):
    """In the mlp of each block, neither b_1 nor b_2 has an effect. Add b_1 before relu and b_2 after the second
    matrix."""
    return continued(tokens, n_new, model, temperature, rng, biases=(0, 0))


@wrong
def mlp_forgotten(tokens, n_new, model, temperature, rng):
    """The mlp has no effect in your blocks. It comes after the attention, and its result is added to the rows. Does the
    next block read this sum?"""
    return continued(tokens, n_new, model, temperature, rng, mlp_part=0)


@wrong
def cached_values_do_not_grow(tokens, n_new, model, temperature, rng):
    """The caches of your keys and your values do not grow together, so there are not as many weights as values. Append
    the new rows to both, and keep all of them."""

    first = {}

    def join(caches, i, pair):
        first.setdefault(i, pair[1])
        K = pair[0] if caches[i] is None else np.concatenate([caches[i][0], pair[0]], axis=-2)
        return K, pair[1] if caches[i] is None else np.concatenate([first[i], pair[1]], axis=-2)

    return continued(tokens, n_new, model, temperature, rng, join=join)

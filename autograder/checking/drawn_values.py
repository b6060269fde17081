"""Values of a given style, drawn: entries of arrays, probabilities, masks, lengths, numbers, axes."""

from __future__ import annotations

import math

import numpy as np

from autograder.checking.arguments import ArrayArgument, MaskArgument, NumberArgument

__all__ = ["axis", "entries", "lengths", "mask", "number", "permutation", "weights"]

LARGEST = 3.0  # of ordinary entries


def entries(shape: tuple[int, ...], argument: ArrayArgument, style: str, rng: np.random.Generator) -> np.ndarray:
    """Floats of a range, of one style; ordinary ones are a few units in size."""
    low, high, tiny = argument.low, argument.high, argument.tiny
    reach = min(LARGEST, high - low)
    count = math.prod(shape)

    def ordinary() -> np.ndarray:
        bottom = low if low >= 0 else max(low, -LARGEST)
        top = min(high, bottom + 2 * LARGEST if low < 0 else bottom + reach)
        found = rng.uniform(bottom, top, size=shape)
        return np.where(np.abs(found) < max(tiny, 1e-3), max(tiny, 0.01), found)

    def signs() -> np.ndarray:
        if low >= 0:
            return np.ones(shape)
        return -np.ones(shape) if high <= 0 else rng.choice([-1.0, 1.0], size=shape)

    largest = max(abs(low), abs(high))
    if style == "all negative":
        return -np.abs(rng.uniform(0.05, 1.0, size=shape)) * min(LARGEST, -low)
    if style == "all positive":
        return np.abs(rng.uniform(0.05, 1.0, size=shape)) * min(LARGEST, high)
    if style == "far below zero":
        return rng.uniform(-1.5, 1.5, size=shape) - min(-low * 0.9, float(rng.choice([900.0, 3000.0, 8000.0])))
    if style == "beyond the range of exp":
        level = min(-low, high, 9000.0) * 0.9
        rows = rng.uniform(-1.5, 1.5, size=shape)
        if len(shape) > 1 and shape[-2] > 1:  # some rows above and others below, so that each keeps its own weights
            return rows + np.where(np.arange(shape[-2]) % 2, -level, level)[:, None]
        return rows + np.where(np.arange(count).reshape(shape) % 2, -level, level)
    if style == "far from zero for its spread":
        level = min(largest, 9000.0) * 0.9 * (1 if high >= 1000 else -1)
        return level + rng.uniform(-1.5, 1.5, size=shape)
    if style == "all equal":
        return np.full(shape, ordinary().flat[0])
    if style == "some equal":
        return rng.choice(np.unique(ordinary())[: max(2, min(3, count - 1))], size=shape)
    if style == "nearly equal":
        found = ordinary()
        flat = found.reshape(-1)
        flat[1::2] = flat[: count - count % 2 : 2][: len(flat[1::2])] * (
            1 + 1e-7 * rng.uniform(0.5, 1, size=len(flat[1::2]))
        )
        return found
    if style == "all zero":
        return np.zeros(shape)
    if style == "some zeros":
        found = ordinary()
        found.flat[int(rng.integers(count)) :: 3] = 0.0
        return found
    if style == "tiny beside large":
        found = signs() * 10 ** rng.uniform(
            np.log10(max(tiny, largest * 1e-9, 1e-9)), np.log10(largest) - 6, size=shape
        )
        where = np.arange(count).reshape(shape) % 2 == int(rng.integers(2))
        return np.where(where, signs() * rng.uniform(0.2, 0.9, size=shape) * largest, found)
    if style == "all small":
        return signs() * 10 ** rng.uniform(-3.5, -1.4, size=shape)
    if style == "all tiny":
        least = np.log10(max(tiny, 1e-12)) + 0.1
        return signs() * 10 ** rng.uniform(least, max(least, -5.05), size=shape)
    if style == "all huge":
        return signs() * rng.uniform(0.1, 0.9, size=shape) * largest
    if style == "more digits than float32 has":
        level = min(largest, 1000.0) * 0.5
        found = rng.uniform(0, 1, size=shape) + float(np.clip(level if high > 0 else -level, low, high))
        flat = found.reshape(-1)
        flat[1::2] = flat[: count - count % 2 : 2][: len(flat[1::2])] + 1e-8 * level
        return found
    return ordinary()


def weights(shape: tuple[int, ...], style: str, rng: np.random.Generator) -> np.ndarray:
    """Rows of probabilities."""
    n = shape[-1]
    parts = rng.uniform(0.1, 1.0, size=shape)
    if style == "all on one":
        parts = np.zeros(shape)
        np.put_along_axis(parts, rng.integers(n, size=(*shape[:-1], 1)), 1.0, axis=-1)
    elif style == "some zeros" and n > 1:
        parts[..., int(rng.integers(n)) :: 2] = 0.0
        parts[..., :1] += parts.sum(-1, keepdims=True) == 0
    elif style == "tiny beside large" and n > 1:
        parts[..., 1:] = 10 ** rng.uniform(-11, -8, size=(*shape[:-1], n - 1))
        parts[..., : max(1, n // 2)] = rng.uniform(0.3, 1, size=(*shape[:-1], max(1, n // 2)))
        parts = rng.permuted(parts, axis=-1)
    elif style == "small" and n > 1:
        parts[..., 1:] = 10 ** rng.uniform(-3.5, -2.1, size=(*shape[:-1], n - 1))
        parts = rng.permuted(parts, axis=-1)
    elif style == "near 1" and n > 1:
        parts[..., 1:] *= 1e-4
        parts = rng.permuted(parts, axis=-1)
    elif style == "all equal":
        parts = np.ones(shape)
    elif style == "some equal":
        parts = np.round(2 * parts) / 2 + 0.25
    found: np.ndarray = parts / parts.sum(-1, keepdims=True)
    return found


def mask(shape: tuple[int, ...], argument: MaskArgument, style: str, rng: np.random.Generator) -> np.ndarray:
    """A boolean mask."""
    own = len([a for a in argument.shape if a != "..."])
    if style == "fewer axes":
        shape = shape[len(shape) - own :]
    if style == "a row for all" and len(shape) > 1:
        axis = int(rng.integers(len(shape) - 1))
        shape = (*shape[:axis], 1, *shape[axis + 1 :])
    found = rng.random(shape) < 0.6
    if style == "everything allowed":
        return np.ones(shape, dtype=bool)
    if style == "nothing allowed":
        return np.zeros(shape, dtype=bool)
    always = rng.integers(shape[-1], size=(*shape[:-1], 1))
    np.put_along_axis(found, always, True, axis=-1)  # noqa: FBT003 - a value, no switch
    if style == "one allowed in a row":
        found[...] = False
        np.put_along_axis(found, always, True, axis=-1)  # noqa: FBT003
    if style == "nothing allowed in a row":
        rows = found.reshape(-1, shape[-1])
        rows[int(rng.integers(len(rows)))] = False
    return found


def lengths(shape: tuple[int, ...], low: int, top: int, style: str, rng: np.random.Generator) -> np.ndarray:
    """Whole numbers up to a size."""
    found = rng.integers(low, top + 1, size=shape)
    if style == "all the whole length":
        found[...] = top
    elif style == "one the whole length":
        found.flat[int(rng.integers(found.size))] = top
    elif style == "the smallest":
        found.flat[int(rng.integers(found.size))] = low
    elif style == "all different" and found.size <= top - low + 1:
        found = (low + rng.permutation(top - low + 1)[: found.size]).reshape(shape)
    elif style == "all equal":
        found[...] = int(rng.integers(low, max(low + 1, top)))
    return found


def whole_numbers(shape: tuple[int, ...], low: int, high: int, style: str, rng: np.random.Generator) -> np.ndarray:
    """Whole numbers of a range, few of them far from 0 unless that is wished for."""
    size = math.prod(shape)
    near = max(low, -2 * size - 5), min(high, 2 * size + 5)
    found = rng.integers(near[0], near[1] + 1, size=size)
    if style == "0, 1, 2 and so on":
        found = np.arange(size)
    elif style == "in a row from elsewhere":
        found = np.arange(size) + int(
            rng.choice([n for n in range(near[0], max(near[0] + 1, near[1] - size)) if n != 0] or [1])
        )
    elif style == "in no order":
        found = rng.permutation(np.unique(rng.integers(near[0], near[1] + 1, size=4 * size)))[:size]
        found = np.resize(found, size)
    elif style == "some equal":
        found[: size // 2 + 1] = found[-1]
        found[:1] = near[1] if found[-1] != near[1] else near[0]
    elif style == "all equal":
        found[:] = found[0]
    elif style == "negative":
        found = -np.abs(found) - 1
    elif style == "the largest":
        found[int(rng.integers(size))] = high
    elif style == "far from 0":
        sizes = rng.integers(max(abs(low), abs(high)) // 5, max(abs(low), abs(high)) + 1, size=size)
        found = np.where((rng.random(size) < 0.5) & (low < 0), -sizes, sizes)
    return np.clip(found, low, high).reshape(shape)


def permutation(size: int, style: str, rng: np.random.Generator) -> np.ndarray:
    """Every place once."""
    found = np.arange(size)
    if style == "undone by itself":
        found = found[::-1].copy()
    elif style != "as it is":
        places = rng.permutation(size)
        found[places] = np.roll(places, 1)  # one round through all places
    return found


def number(argument: NumberArgument, style: str, rng: np.random.Generator) -> int | float:
    """A number of a range."""
    low, high = argument.low, argument.high
    if argument.whole:
        middle = math.sqrt(low * high) if low > 0 else (low + high) / 2
        if style == "smallest":
            return int(low)
        if style == "large":
            return int(rng.integers(math.ceil(max(middle, 0.5 * high)), int(high) + 1))
        return (
            int(rng.integers(int(low) + 1, max(int(low) + 2, min(int(middle), int(low) + 8)) + 1))
            if high > low
            else int(low)
        )
    if style == "smallest":
        return float(low * rng.uniform(1, 1.8) if low > 0 else low)
    if style == "large":
        return float(rng.uniform(0.5, 1) * high)
    return (
        float(10 ** rng.uniform(np.log10(max(low, 0.05 * min(high, 1))), np.log10(min(high, 3))))
        if low > 0
        else float(rng.uniform(low, high))
    )


def axis(ndim: int, style: str, rng: np.random.Generator) -> int:
    """An axis of an array with ``ndim`` of them."""
    axis = int(rng.integers(ndim))
    if style == "first":
        axis = 0
    elif style == "last":
        axis = ndim - 1
    elif style == "in the middle" and ndim > 2:
        axis = int(rng.integers(1, ndim - 1))
    back = style == "from the end" or (style != "from the front" and bool(rng.integers(2)))
    return axis - ndim if back else axis

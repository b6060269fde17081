"""A small language model that has read Jane Austen's six novels, and the code that runs it: what this course builds.

You need not read this file now. In chapter 8 you write all of it yourself. `write("Elizabeth")` prints a beginning and
what the model adds to it. Parts of the model that you have written can replace the file's own: `softmax=softmax`.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np


def load() -> dict[str, Any]:
    """Return the model as a dictionary of dictionaries, in float64.

    The file has a whole number from -127 to 127 for each entry of a matrix, and a scale for each of its columns.
    """
    model: dict[str, Any] = {}
    with np.load(Path(__file__).with_name("voice.npz")) as stored:
        for name in stored.files:
            *parents, last = name.split(".")  # "blocks.0.mlp.W_1"
            place = model
            for parent in parents:
                place = place.setdefault(parent, {})
            array = stored[name]
            if array.dtype == np.int8:
                array = array * stored[f"{name}.scale"].astype(np.float64)
            if last != "scale":
                place[last] = array.astype(np.float64) if array.dtype.kind == "f" else array
    model["blocks"] = [model["blocks"][i] for i in sorted(model["blocks"])]
    model["h"] = int(model["h"])
    return model


def tokens_of(text: str, model: Mapping[str, Any]) -> np.ndarray:
    """Return the tokens of a text: characters at first, then each pair of the model's list, joined."""
    names = list(model["vocabulary"])
    tokens = [names.index(character) for character in text]
    for new, pair in enumerate(model["pairs"].tolist(), start=len(names) - len(model["pairs"])):
        i = 0
        while i + 1 < len(tokens):
            if tokens[i : i + 2] == pair:
                tokens[i : i + 2] = [new]
            i += 1
    return np.array(tokens)


def text_of(tokens: Sequence[int] | np.ndarray, model: Mapping[str, Any]) -> str:
    """Return the text of these tokens."""
    return "".join(model["vocabulary"][np.asarray(tokens, dtype=int)])


def write(
    beginning: str = "Elizabeth", n_new: int = 100, temperature: float = 0.7, seed: int = 1, **parts: Any
) -> None:
    """Print a beginning and `n_new` tokens more.

    `parts` are functions of this course that the model should use: `softmax`, `attention` (of Q, K and V, with one query
    for each head), `split_heads`, `merge_heads` and `decode_step`.
    """
    model, rng = load(), np.random.default_rng(seed)
    softmax, h = parts.get("softmax", _shares), model["h"]
    tokens = tokens_of(beginning, model).tolist()
    empty = np.zeros((h, 0, model["embedding"].shape[1] // h))
    caches = [[empty, empty] for _ in model["blocks"]]
    for i in range(len(tokens) + n_new - 1):
        row = model["embedding"][tokens[i]]
        for block, cache in zip(model["blocks"], caches, strict=True):
            row = _one_row(row, i, block, h, cache, parts)
        if i + 1 < len(tokens):
            continue
        p = np.reshape(softmax(model["embedding"] @ _norm(row, **model["norm"]) / temperature), -1)
        if len(p) != len(model["embedding"]) or not np.all(np.isfinite(p)) or p.min() < 0 or p.sum() == 0:
            print(text_of(tokens, model) + " ...")
            print("(Here the model stops: what came out are not weights, or not even numbers.)")
            return
        tokens.append(int(rng.choice(len(p), p=p / p.sum())))
    print(text_of(tokens, model))


def _one_row(
    row: np.ndarray, position: int, block: Mapping[str, Any], h: int, cache: list[np.ndarray], parts: Mapping[str, Any]
) -> np.ndarray:
    """Take the newest row through a block. The cache has the keys and values of all rows before it."""

    def attention(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        weights = np.reshape(
            parts.get("softmax", _shares)(np.einsum("hid,hjd->hij", Q, K) / np.sqrt(Q.shape[2])), (h, 1, -1)
        )
        return weights @ V, weights

    normed, W, mlp = _norm(row, **block["norm_1"]), block["attention"], block["mlp"]
    split = parts.get("split_heads", lambda X, h: X.reshape(h, 1, -1))  # one row only, so this will do
    q, k, v = (np.asarray(split(normed[None] @ W[name], h)) for name in ("W_Q", "W_K", "W_V"))
    q, k = _turned(q, position), _turned(k, position)
    if "decode_step" in parts:
        steps = [parts["decode_step"](*(x[i, 0] for x in (q, k, v)), cache[0][i], cache[1][i]) for i in range(h)]
        outputs, *cache[:] = (np.array(part) for part in zip(*steps, strict=True))
        O = outputs[:, None]
    else:
        cache[:] = (np.concatenate(pair, axis=1) for pair in zip(cache, (k, v), strict=True))
        O = np.asarray(parts.get("attention", attention)(q, *cache)[0])
    row = row + np.reshape(parts.get("merge_heads", np.ravel)(O), -1) @ W["W_O"]
    hidden = np.maximum(_norm(row, **block["norm_2"]) @ mlp["W_1"] + mlp["b_1"], 0)
    return row + hidden @ mlp["W_2"] + mlp["b_2"]


def _norm(row: np.ndarray, gain: np.ndarray, bias: np.ndarray) -> np.ndarray:
    return (row - row.mean()) / np.sqrt(row.var() + 1e-5) * gain + bias


def _turned(rows: np.ndarray, position: int) -> np.ndarray:
    d = rows.shape[-1]
    angles = position * 10000.0 ** (-np.arange(0, d, 2) / d)
    pairs = (rows[..., 0::2] + 1j * rows[..., 1::2]) * np.exp(1j * angles)
    return np.stack([pairs.real, pairs.imag], axis=-1).reshape(rows.shape)


def _shares(x: np.ndarray) -> np.ndarray:
    return 1 / np.exp(np.minimum(x[..., None, :] - x[..., None], 700)).sum(axis=-1)  # e**710 is infinite

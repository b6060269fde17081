"""GPT-2's weights, from a file that you have downloaded, and the code that your functions need in addition to run them.

GPT-2's block has the same plan as yours: norm, attention, plus, then norm, mlp, plus. It differs in three details. `GPT2`
fills them in around your functions, and changes neither your code nor what GPT-2 computes:

- Positions are rows of a learned table. They are added to the embedding, and nothing is turned. `rotate_positions` is
  replaced: it only remembers the positions. An extra first block, whose attention is all zeros, adds the table's rows.
- The attention's four matrices have biases. Before gain and bias, a normed row adds up to 0. So the norm's gain and bias go
  into the matrices, and its bias becomes 1/d_model: now a row adds up to 1, and a bias that is added to every row of a
  matrix is added once to the result. For W_O, each head has one more value, which is always 1: its weights add up to 1.
- The mlp has gelu where yours has relu. Its first matrix and the gelu are applied right after your `layer_norm`. Your mlp
  then multiplies by the identity and adds 1/4. No number is negative after that, so your relu changes nothing, and your
  second matrix does the rest.
"""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path("..", "gpt2")  # next to this chapter's folder, so that nobody hands it in
ADDRESS = "https://huggingface.co/openai-community/gpt2"
TYPES = {"F64": np.float64, "F32": np.float32, "F16": np.float16}
SHIFT = 0.25  # gelu is never below -0.1701
# The words, numbers, signs and spaces of a text. Signs such as ² and ½ count as letters here, and as numbers in GPT-2.
WORDS = re.compile(r"'(?:s|t|re|ve|m|ll|d)| ?[^\W\d_]+| ?\d+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")


class Gain(np.ndarray):
    """The gain of a norm, and a function `then` for the normed rows."""

    then: Callable[[np.ndarray], np.ndarray]


class GPT2:
    """GPT-2 as a `model` for `next_token_logits` and `generate`, which run it inside of `with gpt2.filled_in(...)`."""

    def __init__(self, folder: Path = FOLDER, head_width: int = 64) -> None:
        """Read the folder. In all sizes of GPT-2, a head has 64 columns.

        Raises FileNotFoundError if a file is missing, and ValueError if one cannot be used. Both say what to do.
        """
        arrays = read_safetensors(_file(folder, "model.safetensors"))
        self._read_tokens(folder)
        try:
            self.table, embedding = arrays["wpe.weight"], arrays["wte.weight"]
            h, depth = embedding.shape[1] // head_width, sum(name.endswith("ln_1.weight") for name in arrays)
            blocks = [_block({name: arrays[f"h.{i}.{name}"] for name in NAMES}, h) for i in range(depth)]
            norm = {"gain": arrays["ln_f.weight"], "bias": arrays["ln_f.bias"]}
        except KeyError as error:
            raise ValueError(
                f"model.safetensors has no array {error}: is it GPT-2's? Take it from {ADDRESS}."
            ) from None
        self.model = {"embedding": embedding, "blocks": [self._positions(h), *blocks], "norm": norm, "h": h}
        self.seen: np.ndarray = np.arange(0)

    def tokens_of(self, text: str) -> list[int]:
        """Return the tokens of a text: its bytes, word by word, with pairs joined in the order of the list of pairs."""
        tokens = []
        for word in WORDS.findall(text):
            parts = [BYTES[byte] for byte in word.encode()]
            while (first := min(pairwise(parts), key=self._rank, default=None)) and self._rank(first) < inf:
                joined, i = [], 0
                while i < len(parts):
                    size = 2 if tuple(parts[i : i + 2]) == first else 1
                    joined.append("".join(parts[i : i + size]))
                    i += size
                parts = joined
            tokens += [self.numbers[part] for part in parts]
        return tokens

    def text_of(self, tokens: Any) -> str:
        """Return the text of these tokens."""
        back = {character: byte for byte, character in BYTES.items()}
        signs = "".join(self.pieces[int(token)] for token in tokens)
        return bytes(back[sign] for sign in signs).decode(errors="replace")

    @contextmanager
    def filled_in(self, names: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Replace `layer_norm` and `rotate_positions` among a notebook's names, and return the model."""
        own = {name: names[name] for name in ("layer_norm", "rotate_positions")}

        def layer_norm(X: np.ndarray, gain: np.ndarray, bias: np.ndarray, eps: float = 1e-5) -> np.ndarray:
            rows = np.asarray(own["layer_norm"](X, np.asarray(gain), bias, eps), self.table.dtype)  # stay in float32
            return gain.then(rows) if isinstance(gain, Gain) else rows

        def rotate_positions(X: np.ndarray, positions: np.ndarray, base: float = 0.0) -> np.ndarray:  # noqa: ARG001
            self.seen = np.asarray(positions)
            return X

        names.update(layer_norm=layer_norm, rotate_positions=rotate_positions)
        try:
            yield self.model
        finally:
            names.update(own)

    def _positions(self, h: int) -> dict[str, Any]:
        """Return a block that adds the table's rows: what is positive of them, minus what is positive of their negative."""
        d, dtype = self.table.shape[1], self.table.dtype
        one, both = np.ones(d, dtype), np.hstack([np.eye(d, dtype=dtype), -np.eye(d, dtype=dtype)])
        shapes = {"W_Q": (d, 2 * h), "W_K": (d, 2 * h), "W_V": (d, h), "W_O": (h, d)}

        def rows_of_the_table(rows: np.ndarray) -> np.ndarray:
            n = rows.size // d
            if len(self.seen) < n or self.seen[-1] >= len(self.table):
                limit = f"GPT-2 reads at most {len(self.table)} tokens"
                raise ValueError(f"{limit}, and your code has to call rotate_positions with the position of each")
            return self.table[self.seen[-n:]].reshape(rows.shape)

        return {
            "norm_1": {"gain": one, "bias": 0 * one},
            "attention": {name: np.zeros(shape, dtype) for name, shape in shapes.items()},
            "norm_2": {"gain": _gain(one, rows_of_the_table), "bias": 0 * one},
            "mlp": {"W_1": both, "b_1": np.zeros(2 * d, dtype), "W_2": both.T, "b_2": 0 * one},
        }

    def _read_tokens(self, folder: Path) -> None:
        """Read the pieces of words and the list of pairs, from two files or from tokenizer.json, which has both."""
        both = folder / "tokenizer.json"
        paths = [both] if both.exists() else [_file(folder, name) for name in ("vocab.json", "merges.txt")]
        try:
            found = json.loads(paths[0].read_text("utf-8"))
            if paths[0] == both:
                self.numbers, pairs = found["model"]["vocab"], found["model"]["merges"]
            else:
                lines = paths[1].read_text("utf-8").split("\n")
                self.numbers, pairs = found, [line for line in lines if line and not line.startswith("#version")]
        except (ValueError, KeyError):
            raise ValueError(f"{paths[0].name} cannot be read. Download it again from {ADDRESS}.") from None
        self.ranks = {tuple(pair.split(" ") if isinstance(pair, str) else pair): i for i, pair in enumerate(pairs)}
        self.pieces = {number: piece for piece, number in self.numbers.items()}

    def _rank(self, pair: tuple[str, str]) -> float:
        return self.ranks.get(pair, inf)


def read_safetensors(path: Path) -> dict[str, np.ndarray]:
    """Return the arrays of a safetensors file: the length of the header, the header in JSON, and then all the numbers.

    Raises ValueError if it is not such a file, is cut off, or has numbers of another type.
    """
    arrays, size = {}, path.stat().st_size
    with path.open("rb") as file:
        start = 8 + int.from_bytes(file.read(8), "little")
        try:
            header = json.loads(file.read(start - 8)) if 8 < start <= size else None
        except ValueError:
            header = None
        is_right = isinstance(header, dict)
        if not is_right:
            raise ValueError(f"{path.name} is not a safetensors file. Download it again from {ADDRESS}.")
        for name, about in header.items():
            if name == "__metadata__" or name.endswith((".attn.bias", ".attn.masked_bias")):  # the last two are masks
                continue
            if about["dtype"] not in TYPES:
                raise ValueError(f"{path.name} has numbers of type {about['dtype']}. Take the file from {ADDRESS}.")
            begin, end = about["data_offsets"]
            if start + end > size:
                raise ValueError(f"{path.name} is cut off after {size} bytes. Download it again from {ADDRESS}.")
            file.seek(start + begin)
            array = np.frombuffer(file.read(end - begin), np.dtype(TYPES[about["dtype"]]).newbyteorder("<"))
            array = array.reshape(about["shape"])
            arrays[name.removeprefix("transformer.")] = array.astype(np.float32) if about["dtype"] == "F16" else array
    return arrays


def gelu(x: np.ndarray) -> np.ndarray:
    """Return GPT-2's gelu, the formula with tanh: x times a share, which is near 0 on the left and near 1 on the right."""
    return x * (1 + np.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * x * x * x))) / 2


NAMES = [
    f"{part}.{kind}"
    for part in ("ln_1", "attn.c_attn", "attn.c_proj", "ln_2", "mlp.c_fc", "mlp.c_proj")
    for kind in ("weight", "bias")
]


def _block(part: dict[str, np.ndarray], h: int) -> dict[str, Any]:
    """Return one of GPT-2's blocks in the layout of `transformer_block`."""
    d, width = part["mlp.c_fc.weight"].shape
    dtype, second = part["mlp.c_fc.weight"].dtype, part["mlp.c_proj.weight"]
    with_gain = part["ln_1.weight"][:, None] * part["attn.c_attn.weight"]
    bias = part["ln_1.bias"] @ part["attn.c_attn.weight"] + part["attn.c_attn.bias"]
    W_Q, W_K, W_V = np.split(with_gain - with_gain.mean(axis=0) + bias, 3, axis=1)
    last_rows = np.zeros((h, 1, d), dtype)
    last_rows[0] = part["attn.c_proj.bias"]
    W_V = np.concatenate([W_V.reshape(d, h, -1), np.ones((d, h, 1), dtype)], axis=2).reshape(d, -1)
    W_O = np.concatenate([part["attn.c_proj.weight"].reshape(h, -1, d), last_rows], axis=1).reshape(-1, d)

    def after_gelu(rows: np.ndarray) -> np.ndarray:
        return gelu(rows @ part["mlp.c_fc.weight"] + part["mlp.c_fc.bias"])

    return {
        "norm_1": {"gain": np.ones(d, dtype), "bias": np.full(d, 1 / d, dtype)},
        "attention": {"W_Q": np.ascontiguousarray(W_Q), "W_K": np.ascontiguousarray(W_K), "W_V": W_V, "W_O": W_O},
        "norm_2": {"gain": _gain(part["ln_2.weight"], after_gelu), "bias": part["ln_2.bias"]},
        "mlp": {
            "W_1": np.eye(width, dtype=dtype),
            "b_1": np.full(width, SHIFT, dtype),
            "W_2": second,
            "b_2": part["mlp.c_proj.bias"] - dtype.type(SHIFT) * second.sum(axis=0),
        },
    }


def _gain(array: np.ndarray, then: Callable[[np.ndarray], np.ndarray]) -> Gain:
    gain = array.view(Gain)
    gain.then = then
    return gain


def _file(folder: Path, name: str) -> Path:
    """Return the path of a file, or raise FileNotFoundError with a sentence that says where to get it."""
    if not (path := folder / name).exists():
        raise FileNotFoundError(
            f"To see GPT-2 write, download model.safetensors (about 550 MB), vocab.json and merges.txt from {ADDRESS} "
            f"into a folder named gpt2 next to this chapter's folder, and run this cell again ({name} is not there yet)."
        )
    return path


def _bytes() -> dict[int, str]:
    """Return a visible character for each byte, as GPT-2's list of pieces writes it: a space is Ġ."""
    visible = {byte: chr(byte) for byte in (*range(33, 127), *range(161, 173), *range(174, 256))}
    others = (byte for byte in range(256) if byte not in visible)
    return visible | {byte: chr(256 + i) for i, byte in enumerate(others)}


BYTES = _bytes()

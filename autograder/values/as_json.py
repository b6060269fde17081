"""Convert values to JSON and back without loss.

Sets, bytes, dates and exact numbers are written as in the sandbox's wire format, ``{"plain": ["date", 2024, 2, 29]}``,
because the decoder of that format validates its input.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from autograder.base.foreign import Json, Value
from autograder.sandbox.guest.wire import Decoder, Encoder, in_layout, layout_of
from autograder.sandbox.guest.wire_limits import MAX_INT_BITS, WireError
from autograder.sandbox.guest.wire_plain import Iterated, UnserializableKeyError, decode_keys, encode_key
from autograder.sandbox.guest.wire_tables import from_parts, to_parts
from autograder.sandbox.protocol import NameReference, Opaque, Rng, Source
from autograder.values.family import family_of

__all__ = ["decode_value", "encode_value"]

ARRAY_KINDS = "biufc"
LONG = 1000  # an array with at least this many entries is searched for a cycle, a sequence that repeats
LONGEST_CYCLE = 60  # the maximum number of entries of a cycle
MAX_NUMBERS = 10**7  # the maximum number of entries of an array with a cycle
_PLAIN: dict[str, Json] = {"b": bool, "i": int, "u": int, "f": float, "c": complex}
_NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def encode_value(value: Value) -> Json:
    """Return ``value`` as JSON that ``decode_value`` reads back. Raises ``TypeError`` if ``value`` cannot be stored."""
    if (builtin := _encode_builtin(value)) is not None:
        return builtin
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, np.ndarray):
        return _encode_array(value)
    if isinstance(value, np.generic) and value.dtype.kind in _PLAIN:
        return encode_value(_PLAIN[value.dtype.kind](value))
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, complex):
        return {"complex": [_encode_float(value.real), _encode_float(value.imag)]}
    if isinstance(value, tuple):
        return {"tuple": [encode_value(item) for item in value]}
    if isinstance(value, list):
        return {"list": [encode_value(item) for item in value]}
    if isinstance(value, Mapping):
        return {"dict": _encode_dict(value)}
    if isinstance(value, Source):
        return {"source": value.text, "name": value.name}
    if isinstance(value, Rng):
        return {"rng": value.seed}
    if isinstance(value, NameReference):
        return {"named": value.name}
    if isinstance(value, Opaque):
        return {"opaque": value.type}
    if family_of(value).from_pandas:
        return {"table": encode_value(to_parts(value))}
    raise TypeError(f"A value of type {type(value).__name__} cannot be stored in an examples file: {value!r:.80}.")


def decode_value(data: Json) -> Value:
    """Return a new object for the value that ``encode_value`` encoded as ``data``. Raises ``ValueError`` for any other data."""
    if data is None or isinstance(data, bool | str | int | float):
        return data
    if isinstance(data, dict):
        for key, decode in _DECODERS.items():
            if key in data:
                try:
                    return decode(data)
                except (KeyError, TypeError, AttributeError, OverflowError) as error:
                    raise ValueError(f"This is not a valid {key}: {data!r:.80}.") from error
    raise ValueError(f"This is not a valid value in an examples file: {data!r:.80}.")


def _encode_builtin(value: Value) -> dict[str, Json] | None:
    """Encode sets, bytes, dates, exact numbers, iterators, and dictionaries with keys that are not strings. Return None for other values."""
    if isinstance(value, Iterated):
        whole = value.all_items()
        value = value if whole.more else whole
        return {"gives": value.type, "more": value.more, "items": [encode_value(item) for item in value]}
    try:
        if isinstance(value, dict):
            if all(isinstance(key, str) for key in value):
                return None
            return {"pairs": [[encode_key(_encoder(), key, 1), encode_value(item)] for key, item in value.items()]}
        return {"plain": _encoder()(value)} if _is_written_as_on_the_wire(value) else None
    except (UnserializableKeyError, _NoFormError):
        return None


def _is_written_as_on_the_wire(value: Value) -> bool:
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind in "UMm" and not isinstance(value, str)
    if isinstance(value, int):
        return value.bit_length() > MAX_INT_BITS
    return family_of(value).is_exact(value) and not isinstance(value, str)


def _decode_builtin(data: dict[str, Json]) -> Value:
    decoder = Decoder(b"", _refuse)
    try:
        if "gives" in data:
            return Iterated(map(decode_value, data["items"]), str(data["gives"]), more=bool(data["more"]))
        if "pairs" in data:
            keys = decode_keys(decoder, [key for key, _ in data["pairs"]])
            return dict(zip(keys, [decode_value(item) for _, item in data["pairs"]], strict=True))
        return decoder(data["plain"])
    except WireError as error:
        raise ValueError(f"This is not a built-in value: {data!r:.80}.") from error


def _encoder() -> Encoder:
    return Encoder(_refused, 0)


class _NoFormError(Exception):
    """Raised if a part of a value cannot be written as JSON."""


def _refused(value: Value) -> Value:
    raise _NoFormError(type(value).__name__)


def _refuse(_tag: str, _items: list[Json]) -> Value:
    raise WireError("only built-in values are written this way")


def _encode_float(number: float) -> float | str:
    return number if math.isfinite(number) else str(number)


def _decode_float(data: Json) -> float:
    return _NON_FINITE[data] if isinstance(data, str) else float(data)


def _encode_array(array: np.ndarray) -> dict[str, Json]:
    if array.dtype.kind not in ARRAY_KINDS:
        raise TypeError(f"An array of dtype {array.dtype} cannot be stored in an examples file.")
    form = {"dtype": array.dtype.name, "shape": list(array.shape)}
    if (cycle := _cycle(array)) is not None:
        return {"cycle": _converted(cycle.tolist(), float, _encode_float), **form}
    pairs = np.stack([array.real, array.imag], axis=-1) if array.dtype.kind == "c" else array
    form |= {"order": layout_of(array)} if layout_of(array) else {}
    return {"array": _converted(pairs.tolist(), float, _encode_float), **form}


def _cycle(array: np.ndarray) -> np.ndarray | None:
    """Return the sequence of numbers that a long array repeats bit for bit, or None if there is none."""
    if not LONG <= array.size <= MAX_NUMBERS or array.dtype.kind == "c":
        return None
    flat = array.ravel()
    # Comparing the first two repetitions rules out nearly every array without a cycle.
    lengths = (n for n in range(1, LONGEST_CYCLE + 1) if flat[n : 2 * n].tobytes() == flat[:n].tobytes())
    return next((flat[:n] for n in lengths if flat[n:].tobytes() == flat[:-n].tobytes()), None)


def _converted(nested: Json, kind: type, convert: Callable[[Json], Json]) -> Json:
    """Return nested lists with ``convert(item)`` in place of each item of type ``kind``."""
    if isinstance(nested, list):
        return [_converted(item, kind, convert) for item in nested]
    return convert(nested) if isinstance(nested, kind) else nested


def _decode_array(data: dict[str, Json]) -> np.ndarray:
    dtype = np.dtype(str(data["dtype"]))
    if dtype.kind not in ARRAY_KINDS:
        raise ValueError(f"An examples file cannot contain arrays of dtype {dtype}.")
    shape = tuple(int(size) for size in data["shape"])
    if dtype.kind == "c":
        pairs = np.array(_converted(data["array"], str, _decode_float), dtype=np.float64).reshape(*shape, 2)
        return pairs.view(np.complex128)[..., 0].astype(dtype)
    array = np.array(_converted(data["array"], str, _decode_float), dtype=dtype).reshape(shape)
    return in_layout(array, data["order"]) if "order" in data else array


def _decode_cycle(data: dict[str, Json]) -> np.ndarray:
    shape = tuple(int(size) for size in data["shape"])
    if not data["cycle"] or math.prod(shape) > MAX_NUMBERS:
        raise ValueError(f"An array of shape {shape} cannot be built from {data['cycle']!r:.80}.")
    cycle = _decode_array({**data, "array": data["cycle"], "shape": [len(data["cycle"])]})
    return np.resize(cycle, shape)


def _encode_dict(mapping: Mapping[Value, Value]) -> dict[str, Json]:
    for key in mapping:
        if not isinstance(key, str):
            raise TypeError(
                f"A dict in an examples file cannot have the key {key!r:.40}. Use strings, numbers, dates and tuples of them."
            )
    return {key: encode_value(item) for key, item in mapping.items()}


_DECODERS: dict[str, Json] = {
    "array": _decode_array,
    "cycle": _decode_cycle,
    "tuple": lambda data: tuple(decode_value(item) for item in data["tuple"]),
    "list": lambda data: [decode_value(item) for item in data["list"]],
    "dict": lambda data: {key: decode_value(item) for key, item in data["dict"].items()},
    "float": lambda data: _NON_FINITE[data["float"]],
    "complex": lambda data: complex(*(_decode_float(part) for part in data["complex"])),
    "source": lambda data: Source(text=str(data["source"]), name=str(data["name"])),
    "table": lambda data: from_parts(decode_value(data["table"])),
    "rng": lambda data: Rng(seed=int(data["rng"])),
    **dict.fromkeys(("plain", "pairs", "gives"), _decode_builtin),
    "named": lambda data: NameReference(name=str(data["named"])),
    "opaque": lambda data: Opaque(type=str(data["opaque"])),
}

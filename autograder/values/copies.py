"""Arguments and results of calls: fresh copies, fingerprints, and what a value is once it has crossed to our side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from autograder.base.sanitize import sanitize
from autograder.sandbox.guest.wire import Decoder, Encoder, strided
from autograder.sandbox.guest.wire_plain import Iterated, opaque_tree
from autograder.sandbox.guest.wire_tables import from_parts, is_pandas, plain_copy, to_parts
from autograder.sandbox.protocol import Call, NameReference, Opaque, Rng, Source
from autograder.values.numbers import close

__all__ = [
    "call_key",
    "changed_arguments",
    "copy_argument",
    "copy_value",
    "fingerprint",
    "normalize_result",
    "precompute_keys",
]

_MAX_BYTES = 1 << 34  # a process of our own may hold as much as it has memory for


def copy_argument(value: Any, named: Callable[[str], Any] | None = None) -> Any:
    """A copy of an argument that a function may do with as it likes; ``Source`` and ``Rng`` become the real thing.

    ``named`` gives what a ``Named`` stands for.
    """
    if named is None:
        return copy_value(value, _real)
    return copy_value(value, lambda leaf: named(leaf.name) if isinstance(leaf, NameReference) else _real(leaf))


def copy_value(value: Any, leaf: Callable[[Any], Any] = lambda value: value) -> Any:
    """A copy of a value: its arrays and containers are new, of everything else it holds what ``leaf`` gives."""
    if isinstance(value, np.ndarray):
        return value.copy() if value.flags.c_contiguous else strided(value)
    if isinstance(value, dict):
        return {k: copy_value(v, leaf) for k, v in value.items()}
    if isinstance(value, list):
        return [copy_value(v, leaf) for v in value]
    if isinstance(value, set | bytearray):
        return value.copy()
    if isinstance(value, Iterated):
        return Iterated([copy_value(v, leaf) for v in value], value.type, more=value.more)
    if isinstance(value, tuple):
        return tuple(copy_value(v, leaf) for v in value)
    if is_pandas(value):
        return whole if (whole := plain_copy(value)) is not None else from_parts(copy_value(to_parts(value), leaf))
    return leaf(value)


def _real(value: Any) -> Any:
    if isinstance(value, Source):
        return _compiled(value)
    return np.random.default_rng(value.seed) if isinstance(value, Rng) else value


def normalize_result(value: Any) -> Any:
    """A result as it would look after crossing a pipe: plain arrays (copied), numbers, containers, or ``Opaque``.

    Raises ``TooBig`` for what has more parts than may cross.
    """
    if _is_plain_array(value):
        return np.array(value, copy=True)
    if value is None or type(value) in (bool, float):
        return value
    if type(value) in (list, tuple) and value and all(map(_is_plain_array, value)):
        return type(value)([np.array(item, copy=True) for item in value])
    encode = Encoder(opaque_tree, _MAX_BYTES)
    tree = encode(value)
    return Decoder(bytearray().join(encode.blobs), lambda _tag, items: Opaque(sanitize(items[0])))(tree)


def _is_plain_array(value: Any) -> bool:
    return type(value) is np.ndarray and value.dtype.kind in "biufc"


def call_key(call: Call) -> tuple[Any, ...]:
    """Equal for two calls of one function (through one probe) with the same arguments, bit for bit."""
    known = _remembered.get(id(call))
    if known is not None and known[0] is call:
        return known[1]
    return (call.function, call.probe, call.memory_mb, fingerprint(call.args), fingerprint(dict(call.kwargs)))


_remembered: dict[int, tuple[Call, tuple[Any, ...]]] = {}


def precompute_keys(calls: Iterable[Call]) -> None:
    """Work out the keys of ``calls`` for good: they are the ones that every submission is asked."""
    for call in calls:
        _remembered[id(call)] = (call, call_key(call))


def fingerprint(value: Any) -> Any:
    """A hashable stand-in for a value: equal exactly when the values are, bit for bit."""
    if isinstance(value, np.ndarray):
        return (value.dtype.str, value.shape, value.tobytes(), value.flags.c_contiguous)
    if isinstance(value, np.generic):
        return (value.dtype.str, value.tobytes())
    if isinstance(value, dict):
        return ("dict", tuple((k if type(k) is str else fingerprint(k), fingerprint(v)) for k, v in value.items()))
    if isinstance(value, set | frozenset):
        return (type(value).__name__, frozenset(map(fingerprint, value)))
    if isinstance(value, list | tuple):
        return (type(value).__name__, tuple(fingerprint(v) for v in value))
    if isinstance(value, float):
        return ("float", value.hex())
    if is_pandas(value):
        return ("table", _of_parts(to_parts(value)))
    # Equal dates may lie in two time zones, and equal exact numbers be written with more digits or fewer.
    return (type(value).__name__, value if isinstance(value, str | int | Source | Rng | NameReference) else repr(value))


def _of_parts(parts: Any) -> Any:
    """The stand-in for a table's parts; a column of texts, which are many, is one as it is."""
    if isinstance(parts, tuple) and parts[:1] == ("texts",):
        return (*parts[:2], tuple(parts[2]))
    if isinstance(parts, tuple) and parts and isinstance(parts[0], str):
        return tuple(map(_of_parts, parts))
    return tuple(map(_of_parts, parts)) if isinstance(parts, list) else fingerprint(parts)


def changed_arguments(before: Call, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[str, ...]:
    """The arguments whose arrays differ, at tolerance, from what they were ``before``."""
    pairs = [(str(i), a, b) for i, (a, b) in enumerate(zip(before.args, args, strict=True))]
    pairs += [(name, before.kwargs[name], value) for name, value in kwargs.items()]
    return tuple(name for name, a, b in pairs if not _same(a, b))


def _same(before: Any, now: Any) -> bool:
    if isinstance(before, np.ndarray):
        return (
            isinstance(now, np.ndarray)
            and before.shape == now.shape
            and (now.tobytes() == before.tobytes() or bool(close(now, before, 1e-5, 1e-6).all()))
        )
    if isinstance(before, dict):
        return isinstance(now, dict) and before.keys() == now.keys() and all(_same(before[k], now[k]) for k in before)
    if isinstance(before, list | tuple):
        return len(before) == len(now) and all(_same(a, b) for a, b in zip(before, now, strict=True))
    if is_pandas(before):
        return is_pandas(now) and fingerprint(before) == fingerprint(now)
    if isinstance(before, Source | Rng | NameReference):
        return True
    return bool(fingerprint(before) == fingerprint(now))


_functions: dict[Source, Callable[..., Any]] = {}


def _compiled(source: Source) -> Callable[..., Any]:
    if source not in _functions:
        namespace: dict[str, Any] = {"np": np}
        exec(compile(source.text, f"<{source.name}>", "exec"), namespace)  # noqa: S102 - our own text, never a student's
        _functions[source] = namespace[source.name]
    return _functions[source]

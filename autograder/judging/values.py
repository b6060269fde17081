"""Arguments and results of calls: fresh copies, fingerprints, and what a value is once it has crossed to our side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from autograder.base.sanitize import sanitize
from autograder.checking.closeness import close
from autograder.sandbox.guest.wire import Decoder, Encoder, strided
from autograder.sandbox.guest.wire_plain import Iterated, opaque_tree
from autograder.sandbox.guest.wire_tables import from_parts, is_pandas, plain_copy, to_parts
from autograder.sandbox.protocol import Call, NameReference, Opaque, Rng, Source

__all__ = ["arrived", "changed_arguments", "copied", "fingerprint", "fresh", "key_of", "remember"]

_MAX_BYTES = 1 << 34  # a process of our own may hold as much as it has memory for
_SCALARS = frozenset({type(None), bool, float, np.bool_, np.float32, np.float64, np.int64})  # which never change
_STAND_INS = frozenset({Source, Rng, NameReference})  # an argument is what they stand for
_LEAVES = _SCALARS | _STAND_INS | {int, str}  # which hold nothing that could be copied
_FEW = 10_000  # parts of a list, far from what may cross


def fresh(value: Any, named: Callable[[str], Any] | None = None) -> Any:
    """A copy of an argument that a function may do with as it likes; ``Source`` and ``Rng`` become the real thing.

    ``named`` gives what a ``Named`` stands for.
    """
    if named is None:
        return copied(value, _real)
    return copied(value, lambda leaf: named(leaf.name) if isinstance(leaf, NameReference) else _real(leaf))


def copied(value: Any, leaf: Callable[[Any], Any] = lambda value: value) -> Any:
    """A copy of a value: its arrays and containers are new, of everything else it holds what ``leaf`` gives."""
    if type(value) in _LEAVES:
        return leaf(value)
    if isinstance(value, np.ndarray):
        return value.copy() if value.flags.c_contiguous else strided(value)
    if isinstance(value, dict):
        return {k: copied(v, leaf) for k, v in value.items()}
    if isinstance(value, list):
        return [copied(v, leaf) for v in value]
    if isinstance(value, set | bytearray):
        return value.copy()
    if isinstance(value, Iterated):
        return Iterated([copied(v, leaf) for v in value], value.type, more=value.more)
    if isinstance(value, tuple):
        return tuple(copied(v, leaf) for v in value)
    if is_pandas(value):
        return whole if (whole := plain_copy(value)) is not None else from_parts(copied(to_parts(value), leaf))
    return leaf(value)


def _real(value: Any) -> Any:
    if isinstance(value, Source):
        return _compiled(value)
    return np.random.default_rng(value.seed) if isinstance(value, Rng) else value


def arrived(value: Any) -> Any:
    """A result as it would look after crossing a pipe: plain arrays (copied), numbers, containers, or ``Opaque``.

    Raises ``TooBig`` for what has more parts than may cross.
    """
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is np.ndarray and value.dtype.kind in "biufc":
        return np.array(value, copy=True)
    if kind in (list, tuple) and 0 < len(value) <= _FEW and all(map(_crosses_alone, value)):
        return kind([item if type(item) in _SCALARS else np.array(item, copy=True) for item in value])
    encode = Encoder(opaque_tree, _MAX_BYTES)
    tree = encode(value)
    return Decoder(bytearray().join(encode.blobs), lambda _tag, items: Opaque(sanitize(items[0])))(tree)


def _crosses_alone(value: Any) -> bool:
    """Return whether a value is a number or an array of numbers, which needs no encoding to be copied."""
    return type(value) in _SCALARS or (type(value) is np.ndarray and value.dtype.kind in "biufc")


def key_of(call: Call) -> tuple[Any, ...]:
    """Return a key that is equal for two calls of one function (through one probe) with the same arguments, bit for bit."""
    if call.key is not None:
        return call.key
    return (call.function, call.probe, call.memory_mb, fingerprint(call.args), fingerprint(dict(call.kwargs)))


def remember(calls: Iterable[Call]) -> None:
    """Store the key of each of ``calls`` in the call itself, because every submission gets these calls."""
    for call in calls:
        object.__setattr__(call, "key", key_of(call))


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
    if type(before) in _LEAVES and (before is now or type(before) in _STAND_INS):
        return True
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
    return bool(fingerprint(before) == fingerprint(now))


_functions: dict[Source, Callable[..., Any]] = {}


def _compiled(source: Source) -> Callable[..., Any]:
    if source not in _functions:
        namespace: dict[str, Any] = {"np": np}
        exec(compile(source.text, f"<{source.name}>", "exec"), namespace)  # noqa: S102 - our own text, never a student's
        _functions[source] = namespace[source.name]
    return _functions[source]

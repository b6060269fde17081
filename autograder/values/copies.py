"""Copy the arguments and results of calls, and compute the keys of calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from autograder.base.foreign import Value
from autograder.base.sanitize import sanitize
from autograder.sandbox.guest.wire import Decoder, Encoder
from autograder.sandbox.guest.wire_plain import opaque_tree
from autograder.sandbox.protocol import Call, NameReference, Opaque, Rng, Source
from autograder.values.closeness import close
from autograder.values.family import copy_value, family_of, fingerprint

__all__ = ["call_key", "changed_arguments", "copy_argument", "copy_arguments", "normalize_result", "precompute_keys"]

_MAX_BYTES = 1 << 34  # in our own process, memory is the only limit
_SCALARS = frozenset({type(None), bool, float, np.bool_, np.float32, np.float64, np.int64})  # types of immutable values
_STAND_INS = frozenset({Source, Rng, NameReference})  # placeholders for arguments
_LEAVES = _SCALARS | _STAND_INS | {int, str}  # values without parts to copy
_FEW = 10_000  # longer lists of numbers and arrays are encoded instead of copied item by item


def copy_argument(value: Value, named: Callable[[str], Value] | None = None) -> Value:
    """Return a copy of an argument to pass to a function. A ``Source`` becomes its function, and an ``Rng`` its generator.

    ``named`` returns the object for a ``NameReference``.
    """
    if named is None:
        return copy_value(value, _real)
    return copy_value(value, lambda leaf: named(leaf.name) if isinstance(leaf, NameReference) else _real(leaf))


def copy_arguments(values: tuple[Value, ...], named: Callable[[str], Value]) -> tuple[Value, ...]:
    """Return a copy of each positional argument. An array that is passed twice is copied only once."""
    copies: dict[int, Value] = {}
    found = []
    for value in values:
        if id(value) not in copies or not isinstance(value, np.ndarray):
            copies[id(value)] = copy_argument(value, named)
        found.append(copies[id(value)])
    return tuple(found)


def _real(value: Value) -> Value:
    if isinstance(value, Source):
        return _compiled(value)
    return np.random.default_rng(value.seed) if isinstance(value, Rng) else value


def normalize_result(value: Value) -> Value:
    """Return a result as it would arrive from a sandbox: copied arrays, numbers and containers, or ``Opaque``.

    Raises ``TooBig`` for a value with more parts than may be sent.
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


def _crosses_alone(value: Value) -> bool:
    """Return whether a value is a number or an array of numbers, which can be copied without encoding it."""
    return type(value) in _SCALARS or (type(value) is np.ndarray and value.dtype.kind in "biufc")


def call_key(call: Call) -> tuple[Value, ...]:
    """Return a key that is equal for two calls only if they have the same function, probe and arguments, bit for bit."""
    if call.key is not None:
        return call.key
    how = (call.function, call.probe, call.memory_mb, call.expects)
    return (*how, fingerprint(call.args), fingerprint(dict(call.kwargs)))


def precompute_keys(calls: Iterable[Call]) -> None:
    """Store the key of each call in the call itself, because the same calls are made for every submission."""
    for call in calls:
        object.__setattr__(call, "key", call_key(call))


def changed_arguments(before: Call, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> tuple[str, ...]:
    """Return the names of the arguments that differ from those in ``before``. Rounding errors in arrays do not count as changes."""
    pairs = [(str(i), a, b) for i, (a, b) in enumerate(zip(before.args, args, strict=True))]
    pairs += [(name, before.kwargs[name], value) for name, value in kwargs.items()]
    return tuple(name for name, a, b in pairs if not _same(a, b))


def _same(before: Value, now: Value) -> bool:
    if type(before) in _LEAVES and (before is now or type(before) in _STAND_INS):
        return True
    if isinstance(before, np.ndarray):
        if not isinstance(now, np.ndarray) or before.shape != now.shape:
            return False
        return now.tobytes() == before.tobytes() or bool(close(now, before, 1e-12, 1e-15).all())
    if isinstance(before, dict):
        return isinstance(now, dict) and [*before] == [*now] and all(_same(before[k], now[k]) for k in before)
    if isinstance(before, list | tuple):
        return (
            isinstance(now, list | tuple)
            and len(before) == len(now)
            and all(_same(a, b) for a, b in zip(before, now, strict=True))
        )
    return family_of(before) is family_of(now) and fingerprint(before) == fingerprint(now)


_functions: dict[Source, Callable[..., Value]] = {}


def _compiled(source: Source) -> Callable[..., Value]:
    if source not in _functions:
        namespace: dict[str, Value] = {"np": np}
        exec(compile(source.text, f"<{source.name}>", "exec"), namespace)  # noqa: S102 - our own text, never a student's
        _functions[source] = namespace[source.name]
    return _functions[source]

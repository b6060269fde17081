"""Measure whether a chapter's checks cover every input category that the contracts of its exercises allow.

A category is covered if a reference whose result is corrupted in one entry, for inputs of that category only, loses marks.
Category mutants are generated functions that are wrong for some categories only. They change numbers by a cast, a clip, a
threshold or rounding, drop rows beyond a limit, ignore other entries of a batch, or depend on an array's memory layout.
"""

from __future__ import annotations

import functools
import inspect
import math
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.authoring.audit.mutants import Mutant
from autograder.checking.inputs.argument import BoundCall, InputCategory
from autograder.checking.inputs.array_arguments import ArrayArgument
from autograder.checking.inputs.categories import categories_of
from autograder.checking.inputs.contract import Contract
from autograder.judging.functions import FunctionSession
from autograder.judging.loader import ChapterChecks
from autograder.judging.proxies import StudentProxy
from autograder.sandbox.protocol import Call
from autograder.values import family_of, fingerprint

__all__ = ["CategoryCoverage", "category_mutants", "covered_categories", "is_detected"]

_LOOSE_ENTRIES = 5
Function = Callable[..., Any]


@dataclass(frozen=True)
class CategoryCoverage:
    """The input categories that an exercise's contract allows, and the ones that its checks cover.

    ``mutants`` is the number of category mutants. ``survivors`` lists the mutants that keep full marks.
    """

    allowed: tuple[str, ...] = ()
    covered: tuple[str, ...] = ()
    mutants: int = 0
    survivors: tuple[str, ...] = ()

    @property
    def missing(self) -> tuple[str, ...]:
        """The allowed categories that no check covers."""
        return tuple(kind for kind in self.allowed if kind not in self.covered)

    def __str__(self) -> str:
        """Return the number of covered categories per varied property, and the number of killed category mutants."""
        rows: dict[str, list[bool]] = {}
        for kind in self.allowed:
            rows.setdefault(kind.partition(": ")[0], []).append(kind in self.covered)
        counts = ", ".join(f"{what} {sum(seen)}/{len(seen)}" for what, seen in rows.items())
        killed = self.mutants - len(self.survivors)
        return f"{counts}, wrong for only one kind: {killed}/{self.mutants} killed" if self.mutants else counts

    def to_json(self) -> dict[str, Any]:
        """Return the coverage as JSON data."""
        return {
            "allowed": list(self.allowed),
            "visited": list(self.covered),
            "missing": list(self.missing),
            "mutants": self.mutants,
            "survivors": list(self.survivors),
        }


def covered_categories(checks: ChapterChecks, exercise: str) -> CategoryCoverage:
    """Return which input categories the checks of ``exercise`` cover. Without a contract the coverage is empty."""
    spec = checks.specs[exercise]
    if spec.takes is None:
        return CategoryCoverage()
    categories = categories_of(spec.takes)
    reader = _Reader(spec.takes, checks.references[exercise])
    # A probe gets the function's arguments, and possibly more after them.
    count = len(reader.signature.parameters)
    asked = [reader(c.args[:count], dict(c.kwargs)) for c in checks.plan(exercise) if c.function == exercise]
    # If a check tolerates large differences, some entries may hold any number, so try several entries.
    entries = range(1 if spec.takes.corrupt < 1 else _LOOSE_ENTRIES)
    visited = [
        k.name
        for k in categories
        if any(map(k.matches, asked))
        and any(is_detected(checks, exercise, _spoilt(reader, k, entry)) for entry in entries)
    ]
    return CategoryCoverage(tuple(k.name for k in categories), tuple(visited))


def is_detected(checks: ChapterChecks, exercise: str, function: Function) -> bool:
    """Return whether any check with points fails for ``function``."""
    spec = checks.specs[exercise]
    names = {**checks.right_names(), exercise: function}
    worth = sorted((c for c in spec.checks if c.points), key=lambda c: not c.kinds)
    # One failing check is enough. Only purity checks need all planned calls, so they run last.
    for planned in (False, True):
        session = FunctionSession(names, call_seconds=checks.course.limits.call_seconds)
        student = StudentProxy(checks.converse(exercise, functools.partial(_itself, session), planned=planned))
        for check in (c for c in worth if c.purity == planned):
            try:
                checks.run_check(exercise, check.name, student)
            except Exception:  # noqa: BLE001 - a check that cannot use a value rejects it
                return True
    return False


def _itself(session: FunctionSession) -> FunctionSession:
    return session


@dataclass(frozen=True)
class _Reader:
    """Reads calls of one function as bound calls of its contract."""

    contract: Contract
    function: Function

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        """The function's signature, used to name positional arguments."""
        return inspect.signature(self.function)

    def bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call by name."""
        return dict(self.signature.bind(*args, **kwargs).arguments)

    def __call__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> BoundCall:
        return self.contract.bind(self.bound(args, kwargs))


def _spoilt(reader: _Reader, category: InputCategory, entry: int) -> Function:
    """Return the reference with one corrupted ``entry`` in its result for inputs of one category only."""

    @functools.wraps(reader.function)
    def spoilt(*args: Any, **kwargs: Any) -> Any:
        call = reader(args, kwargs)
        right = reader.function(*args, **kwargs)
        if not category.matches(call):
            return right
        number = zlib.crc32(category.name.encode()) + 7919 * entry  # another entry each time
        share = reader.contract.corrupt
        if family_of(right).is_perturbable(right):
            return family_of(right).perturb(right, number, share)
        # A result such as a plot has no entries to corrupt, so corrupt the data that it is drawn from.
        given = reader.bound(args, kwargs)
        for name, value in given.items():
            if family_of(value).is_table:
                return reader.function(**{**given, name: family_of(value).perturb(value, number, share)})
            if isinstance(value, np.ndarray):
                return reader.function(**{**given, name: _out_of_order(value, share, number)})
        return right

    return spoilt


def _out_of_order(array: np.ndarray, share: float, number: int) -> np.ndarray:
    """Return a copy in which one entry becomes the largest, or the smallest if it was the largest."""
    found = array.copy()
    entry = number % found.size
    low, high = float(found.min()), float(found.max())
    found.flat[entry] = low - share * abs(high) if found.flat[entry] == high else high + share * abs(high)
    return found


def category_mutants(contract: Contract, function: Function, name: str) -> Iterator[Mutant]:
    """Yield mutants that are wrong for some input categories only: the reference, called with slightly changed inputs."""
    reader = _Reader(contract, function)
    for path, argument in contract.leaves().items():
        if not isinstance(argument, ArrayArgument):
            continue
        for label, change in _CHANGES.items():
            yield _changing(f"{name}: {'.'.join(path)} {label}", reader, path, change)
        for axis in range(-sum(a != "..." for a in argument.shape), 0):
            for limit in (64, 128, 256):
                label = f"{name}: {'.'.join(path)} without what lies beyond {limit} along axis {axis}"
                yield _changing(label, reader, path, functools.partial(_cut, axis=axis, limit=limit))
        if "..." in argument.shape:
            batch = functools.partial(_first_of_batch, axes=sum(a != "..." for a in argument.shape))
            yield _changing(f"{name}: {'.'.join(path)} of the first entry of a batch for all", reader, path, batch)
    yield Mutant(f"{name}: the first answer kept for arrays of the same shapes", _kept_by_shape(reader))


def _changing(label: str, reader: _Reader, path: tuple[str, ...], change: Callable[[np.ndarray], np.ndarray]) -> Mutant:
    """Return the function that calls the reference with ``change`` applied to the array at ``path`` of its arguments."""

    def changed(tree: Any, keys: tuple[str, ...]) -> Any:
        if not keys:
            return change(tree) if isinstance(tree, np.ndarray) else tree
        return {**tree, keys[0]: changed(tree[keys[0]], keys[1:])} if keys[0] in tree else tree

    @functools.wraps(reader.function)
    def mutant(*args: Any, **kwargs: Any) -> Any:
        return reader.function(**changed(reader.bound(args, kwargs), path))

    def affects(call: Call) -> bool:
        if call.function != reader.function.__name__:
            return True
        given = reader.bound(call.args[: len(reader.signature.parameters)], call.kwargs)
        return fingerprint(given) != fingerprint(changed(given, path))

    return Mutant(label, mutant, affects=affects)


def _cut(a: np.ndarray, *, axis: int, limit: int) -> np.ndarray:
    if a.ndim < -axis or a.shape[axis] <= limit:
        return a
    found = a.copy()
    np.moveaxis(found, axis, 0)[limit:] = 0
    return found


def _first_of_batch(a: np.ndarray, *, axes: int) -> np.ndarray:
    lead = a.ndim - axes
    return np.broadcast_to(a[(slice(0, 1),) * lead], a.shape).copy() if lead > 0 else a


def _kept_by_shape(reader: _Reader) -> Function:
    kept: dict[Any, Any] = {}

    @functools.wraps(reader.function)
    def mutant(*args: Any, **kwargs: Any) -> Any:
        shapes = tuple(
            (k, np.shape(v) if isinstance(v, np.ndarray) else repr(v)) for k, v in reader.bound(args, kwargs).items()
        )
        if shapes not in kept:
            kept[shapes] = reader.function(*args, **kwargs)
        return kept[shapes]

    return mutant


def _rounded(digits: int) -> Callable[[np.ndarray], np.ndarray]:
    return lambda a: np.round(a, digits)


def _clipped(size: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda a: np.clip(a, -size, size)


def _without_small(size: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda a: np.where(np.abs(a) < size, 0.0, a).astype(a.dtype)


def _narrow(dtype: Any) -> Callable[[np.ndarray], np.ndarray]:
    def cast(a: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return a.astype(dtype).astype(a.dtype)

    return cast


_CHANGES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "cast to float32": _narrow(np.float32),
    "cast to float16": _narrow(np.float16),
    **{f"clipped to {size:g}": _clipped(size) for size in (1, 10, 30, 100, 500, 709, 5000, 1e5)},
    **{f"with 0 for what is below {size:g}": _without_small(size) for size in (1e-2, 1e-3, 1e-5, 1e-8)},
    **{f"rounded to {digits} digits": _rounded(digits) for digits in (1, 2, 4, 6)},
    "without its sign": np.abs,
    "with 0 for what is negative": lambda a: np.maximum(a, 0).astype(a.dtype),
    "read in the order of memory": lambda a: a.ravel("K").reshape(a.shape),
    "with its nearly equal numbers made equal": lambda a: a if a.dtype != np.float64 else _snapped(a),
}


def _snapped(a: np.ndarray) -> np.ndarray:
    """Round to five significant digits."""
    with np.errstate(all="ignore"):
        size = 10.0 ** (np.floor(np.log10(np.abs(a))) - 4)
        return np.where(a == 0, 0.0, np.round(a / size) * size) if math.prod(a.shape) else a

"""Measure which faults a chapter's checks detect. Each fault is a program that equals the reference except for some inputs.

A fault program returns one wrong number if a predicate over the call is true, or it remembers results of earlier calls. The
predicates are the input categories that the contract allows, and features of functions that are passed as arguments. Other
programs are wrong in some steps of a loop. A predicate is evaluated on the checks' own calls. Only calls for which it is true
run the program. A category mutant calls the reference with changed inputs, so it too is wrong only for some inputs.
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import operator
import textwrap
import zlib
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograder.authoring.audit.mutants import Mutant, compiled
from autograder.checking.inputs.argument import BoundCall
from autograder.checking.inputs.array_arguments import ArrayArgument
from autograder.checking.inputs.builtin_arguments import ChoiceArgument, NumberArgument
from autograder.checking.inputs.categories import categories_of, is_excluded
from autograder.checking.inputs.contract import Contract, replace_at
from autograder.checking.inputs.covering import DrawnInput, cover, differing_arguments
from autograder.checking.inputs.index_arguments import LengthsArgument, WholeNumbersArgument
from autograder.judging.exercise_session import Sessions
from autograder.judging.functions import FunctionSession
from autograder.judging.loader import ChapterChecks
from autograder.judging.proxies import StudentProxy
from autograder.sandbox.protocol import Answer, Call, Source
from autograder.values import call_key, copy_argument, equal, family_of, fingerprint

__all__ = ["CategoryCoverage", "FaultCoverage", "FaultModel", "category_mutants", "passes"]

_LOOSE_ENTRIES = 5  # how many entries to try if checks tolerate large errors, because some may have any value
_SHARE = 1e-4  # the relative error of a wrong number
_SMALLEST = 2e-5  # the smallest absolute error, because checks accept rounding to six decimals
_NARROW = 100  # the factor by which both errors grow if an input is float32
Function = Callable[..., Any]


@dataclass(frozen=True)
class CategoryCoverage:
    """The input categories that an exercise's contract allows, and the categories that its checks cover.

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


@dataclass(frozen=True)
class FaultCoverage:
    """The number of one exercise's fault programs by class, and the labels of the programs that keep full marks.

    A label begins with the program's class. ``gaps`` lists the survivors whose predicate is true for none of the checks' calls.
    """

    programs: Mapping[str, int] = field(default_factory=dict)
    survivors: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()

    def of_class(self, name: str) -> list[str]:
        """Return the labels of the survivors in the class ``name``, without the class."""
        return [label.partition(": ")[2] for label in self.survivors if label.startswith(f"{name}: ")]


@dataclass(frozen=True)
class _Fault:
    """A fault, as one or more faulty versions of the reference. They are right in every call for which ``affects`` is false."""

    group: str
    name: str
    programs: Sequence[Function]
    affects: Callable[[BoundCall], bool] | None = None


class _AnswerRecorder(FunctionSession):
    """A session that records the reference's answer to each call and the inputs that the function receives in it."""

    def __init__(self, names: Mapping[str, Any], exercise: str, reader: _Reader) -> None:
        super().__init__({**names, exercise: self._noted(reader)})
        self.known: dict[Hashable, tuple[Answer, list[BoundCall]]] = {}
        self.asked: dict[Hashable, Call] = {}
        self._inputs: list[BoundCall] = []

    def _noted(self, reader: _Reader) -> Function:
        @functools.wraps(reader.function)
        def noted(*args: Any, **kwargs: Any) -> Any:
            self._inputs.append(reader(args, kwargs))
            return reader.function(*args, **kwargs)

        return noted

    def batch(self, calls: Sequence[Call], *, hold: bool = False) -> list[Answer]:  # noqa: ARG002 - nothing is shared
        """Return the answers to ``calls``. Make only the calls that are not recorded yet."""
        for call in calls:
            key = call_key(call)
            if key not in self.known:
                self._inputs = []
                self.known[key] = super().batch([call])[0], self._inputs
            self.asked[key] = call
        return [self.known[call_key(call)][0] for call in calls]


class _Faulty(FunctionSession):
    """A session that runs a fault program, but only for the calls in ``affected``."""

    def __init__(
        self, names: Mapping[str, Any], seconds: float, right: _AnswerRecorder, affected: set[Hashable]
    ) -> None:
        super().__init__(names, call_seconds=seconds)
        self._right, self._affected = right, affected

    def batch(self, calls: Sequence[Call], *, hold: bool = False) -> list[Answer]:  # noqa: ARG002 - nothing is shared
        """Return the answers to ``calls``. For calls that are not affected, these are the reference's recorded answers."""
        keys = [call_key(call) for call in calls]
        return [
            super(_Faulty, self).batch([call])[0]
            if key in self._affected or key not in self._right.known
            else self._right.known[key][0]
            for key, call in zip(keys, calls, strict=True)
        ]


def passes(checks: ChapterChecks, exercise: str, check: str, student: StudentProxy) -> bool:
    """Return whether ``student`` passes a check."""
    try:
        checks.run_check(exercise, check, student)
    except Exception:  # noqa: BLE001 - a check that cannot use a value rejects it
        return False
    return True


class FaultModel:
    """The fault programs of one exercise, and the methods that run its checks on them."""

    def __init__(self, checks: ChapterChecks, exercise: str) -> None:
        self.checks, self.exercise = checks, exercise
        self.spec = checks.specs[exercise]
        self.contract = self.spec.takes or Contract({})

    @functools.cached_property
    def reader(self) -> _Reader:
        """The reader that binds calls to the contract."""
        return _Reader(self.contract, self.checks.references[self.exercise])

    @functools.cached_property
    def _recorder(self) -> tuple[_AnswerRecorder, dict[str, frozenset[Hashable]]]:
        """The recorder of the reference's answers, and, for each check with points, the keys of its calls."""
        recorder = _AnswerRecorder(self.checks.right_names(), self.exercise, self.reader)
        by_check = {}
        for check in sorted((c for c in self.spec.checks if c.points and not c.purity), key=lambda c: not c.kinds):
            recorder.asked = {}
            passes(self.checks, self.exercise, check.name, self._student(recorder))
            by_check[check.name] = frozenset(recorder.asked)
        return recorder, by_check

    def _student(self, session: FunctionSession, *, planned: bool = False) -> StudentProxy:
        return StudentProxy(self.checks.converse(self.exercise, Sessions(lambda: session), planned=planned))

    def measure(self, *, programs: bool) -> tuple[CategoryCoverage, FaultCoverage]:
        """Return the category coverage and the fault coverage. Without ``programs``, try only the faults of input categories."""
        if self.spec.takes is None or isinstance(self.checks.references[self.exercise], type):
            return CategoryCoverage(), FaultCoverage()
        faults = [*self._categories(), *(self._functions() if programs else ()), *(self._others() if programs else ())]
        counts: dict[str, int] = {}
        missed: list[tuple[_Fault, bool]] = []
        for fault in faults:
            counts[fault.group] = counts.get(fault.group, 0) + 1
            met, killed = self._outcome(fault)
            if not killed:
                missed.append((fault, met))
        allowed = tuple(f.name for f in faults if f.group in _OF_INPUTS)
        lost = {fault.name for fault, _ in missed if fault.group in _OF_INPUTS}
        survivors = tuple(f"{fault.group}: {fault.name}" for fault, _ in missed)
        gaps = tuple(f"{fault.group}: {fault.name}" for fault, met in missed if not met)
        covered = tuple(name for name in allowed if name not in lost)
        return CategoryCoverage(allowed, covered), FaultCoverage(counts, survivors, gaps)

    def _outcome(self, fault: _Fault) -> tuple[bool, bool]:
        """Return whether ``fault`` affects any call, and whether a check with points fails because of it."""
        if fault.affects is None:
            return True, any(map(self.is_detected, fault.programs))
        recorder, by_check = self._recorder
        affected = {key for key, (_, inputs) in recorder.known.items() if any(map(fault.affects, inputs))}
        seconds = self.checks.course.limits.call_seconds
        for check, program in itertools.product(by_check, fault.programs):
            if by_check[check] & affected:
                names = {**self.checks.right_names(), self.exercise: program}
                student = self._student(_Faulty(names, seconds, recorder, affected))
                if not passes(self.checks, self.exercise, check, student):
                    return True, True
        return bool(affected), False

    def is_detected(self, function: Function) -> bool:
        """Return whether any check with points fails for ``function``. Only purity checks need all planned calls, so they run last."""
        names = {**self.checks.right_names(), self.exercise: function}
        worth = sorted((c for c in self.spec.checks if c.points), key=lambda c: (c.purity, not c.kinds))
        seconds = self.checks.course.limits.call_seconds
        students = [
            self._student(FunctionSession(names, call_seconds=seconds), planned=planned) for planned in (False, True)
        ]
        return not all(passes(self.checks, self.exercise, check.name, students[check.purity]) for check in worth)

    def _categories(self) -> Iterator[_Fault]:
        contract = self.contract
        drawn = cover(contract, zlib.crc32(self.exercise.encode()))
        possible = frozenset().union(*(d.categories for d in drawn.inputs))
        entries = range(1 if contract.corrupt < 1 else _LOOSE_ENTRIES)
        for category in categories_of(contract):
            if not category.optional or category.name in possible:
                group = (
                    "memory" if category.slot.startswith(("layout", "dtype")) or "one array" in category.name else ""
                )
                group = group or ("sizes" if category.slot.startswith(("size", "batch")) else "values")
                programs = [_wrong_if(self.reader, category.matches, category.name, entry) for entry in entries]
                yield _Fault(group, category.name, programs, category.matches)

    def _functions(self) -> Iterator[_Fault]:
        """Yield a fault for each feature that a function passed as an argument may have. The result is wrong if it has the feature."""
        arguments = self.contract.arguments
        given = [n for n, a in arguments.items() if isinstance(a, ChoiceArgument) and isinstance(a.values[0], Source)]
        arrays = [n for n, a in arguments.items() if isinstance(a, ArrayArgument)]
        for name, array in itertools.product(given[:1], arrays[:1]):
            for feature, has in _FEATURES.items():
                if is_excluded(self.contract, f"{name}: {feature}"):
                    continue
                affects = functools.partial(_has_feature, has, name, array)
                program = _wrong_if(self.reader, affects, feature, 0)
                yield _Fault("functions", f"{name}: {feature}", [program], affects)

    def _others(self) -> Iterator[_Fault]:
        """Yield faults that remember earlier results, and faults that occur only in some steps of a loop."""
        inputs = cover(self.contract, 0).inputs
        values = inputs[0].values
        result = self.checks.references[self.exercise](**{k: copy_argument(v) for k, v in values.items()})
        # Skip plots, which cannot be remembered, and Booleans, which may be the same for all arrays of one shape.
        if not family_of(result).is_perturbable(result) or isinstance(result, bool | np.bool_):
            return
        for name, key in _remembered_keys(self.reader):
            if not self._never_matters(name.removeprefix("by all arguments except "), inputs):
                yield _Fault("state", name, [_remembering(self.reader, key)])
        for name, function in _later_steps(self.reader):
            yield _Fault("steps", name, [function])

    def _never_matters(self, name: str, drawn: Sequence[DrawnInput]) -> bool:
        """Return whether the argument ``name``, such as a block size, never changes the result."""
        inputs = [one.values for one in drawn if not one.categories]
        changed = [pair for pair in itertools.combinations(inputs, 2) if differing_arguments(*pair) == [name]]
        function = self.checks.references[self.exercise]
        results = [[function(**{k: copy_argument(v) for k, v in one.items()}) for one in pair] for pair in changed]
        return bool(results) and all(equal(*pair) for pair in results)


_OF_INPUTS = ("memory", "sizes", "values")


@dataclass(frozen=True)
class _Reader:
    """A callable that binds the calls of one function to its contract."""

    contract: Contract
    function: Function

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        """The function's signature, used to name positional arguments."""
        return inspect.signature(self.function)

    def bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call by name."""
        return dict(self.signature.bind_partial(*args, **kwargs).arguments)

    def __call__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> BoundCall:
        return self.contract.bind(self.bound(args, kwargs))


def _wrong_if(reader: _Reader, affects: Callable[[BoundCall], bool], name: str, entry: int) -> Function:
    """Return a version of the reference whose result has one wrong number in each call for which ``affects`` is true."""

    @functools.wraps(reader.function)
    def wrong(*args: Any, **kwargs: Any) -> Any:
        call = reader(args, kwargs)
        affected = affects(call)
        right = reader.function(*args, **kwargs)
        if not affected:
            return right
        number = zlib.crc32(name.encode()) + 7919 * entry  # selects a different entry of the result for each ``entry``
        share = reader.contract.corrupt
        narrow = any(family_of(value).is_narrow(value) for value in call.values.values())
        if share <= 0.01 and (one_off := _one_off(right, number, _NARROW if narrow else 1)) is not None:
            return one_off
        if family_of(right).is_perturbable(right):
            return family_of(right).perturb(right, number, share)
        # A result such as a plot has no entries to corrupt, so corrupt the data that it is drawn from.
        given = reader.bound(args, kwargs)
        for key, value in given.items():
            if family_of(value).is_table:
                return reader.function(**{**given, key: family_of(value).perturb(value, number, share)})
            if isinstance(value, np.ndarray):
                return reader.function(**{**given, key: _out_of_order(value, share, number)})
        return right

    return wrong


def _one_off(right: Any, number: int, times: int) -> Any:
    """Return ``right`` with a relative error of about 1e-4 in one of its larger numbers, or None if it has no array of floats."""
    if isinstance(right, tuple) and right:
        place = number % len(right)
        part = _one_off(right[place], number, times)
        return None if part is None else (*right[:place], part, *right[place + 1 :])
    if not isinstance(right, np.ndarray) or right.dtype.kind != "f" or not right.size:
        return None
    sizes = np.abs(np.nan_to_num(right, nan=0.0, posinf=0.0, neginf=0.0)).ravel()
    large = np.flatnonzero(sizes >= 0.1 * sizes.max())
    found, place = right.copy(), int(large[number % len(large)])
    amount = max(_SHARE * sizes[place], _SMALLEST) * times
    found.flat[place] = np.nan_to_num(found.flat[place]) + amount
    return found


def _out_of_order(array: np.ndarray, share: float, number: int) -> np.ndarray:
    """Return a copy of ``array`` in which one entry becomes the largest, or the smallest if it already was the largest."""
    found = array.copy()
    entry = number % found.size
    low, high = float(found.min()), float(found.max())
    found.flat[entry] = low - share * abs(high) if found.flat[entry] == high else high + share * abs(high)
    return found


# features of functions that are passed as arguments


def _has_feature(has: Callable[[Function, np.ndarray], bool], name: str, array: str, call: BoundCall) -> bool:
    function, values = call.values.get((name,)), call.values.get((array,))
    if not callable(function) or not isinstance(values, np.ndarray) or not values.size:
        return False
    with np.errstate(all="ignore"):
        try:
            return bool(has(function, values.astype(np.float64)))
        except Exception:  # noqa: BLE001 - a function may reject the changed numbers
            return False


def _near(a: Any, b: Any) -> bool:
    return bool(np.allclose(a, b, rtol=1e-9, atol=1e-12))


def _is_cut(f: Function, x: np.ndarray, step: float) -> float:
    """Return the largest change of ``f`` over a relative ``step`` around ``x``, as a share of the largest value of ``f``."""
    return float(np.max(np.abs(np.subtract(f(x * (1 + step)), f(x * (1 - step)))))) / max(
        1e-300, float(np.abs(f(x)).max())
    )


_FEATURES: dict[str, Callable[[Function, np.ndarray], bool]] = {
    "even": lambda f, x: _near(f(-x), f(x)) and not _near(f(x * 1.5), f(x)),
    "scale-free": lambda f, x: _near(f(2 * x), f(x)) and not _near(f(-x), f(x)),
    "centered": lambda f, x: (
        np.size(f(x)) > 1 and not _near(f(x), 0) and np.allclose(np.mean(f(x), axis=0), 0, atol=1e-9)
    ),
    "jumping": lambda f, x: _is_cut(f, x, 1e-3) < 1e-12 and not _near(f(-3 * x), f(x)),
    "returning a view": lambda f, x: isinstance(y := f(x), np.ndarray) and np.shares_memory(x, y),
    "propagating nan": lambda f, x: np.ndim(f(x)) > 0 and len(x) > 1 and np.isnan(f(_with_nan(x))).all(),
    "constant": lambda f, x: _near(f(x * 1.5), f(x)) and _near(f(-x), f(x)),
    "large": lambda f, x: np.abs(f(x)).max() > 1e3,
    "small": lambda f, x: 0 < np.abs(f(x)).max() < 1e-2,
}


def _with_nan(x: np.ndarray) -> np.ndarray:
    found = x.copy()
    found[-1] = np.nan
    return found


# programs that remember results


def _remembered_keys(reader: _Reader) -> Iterator[tuple[str, Callable[[dict[str, Any]], Hashable]]]:
    """Yield ways to remember results, each as a name and a function that returns a key for the arguments."""
    names = list(reader.contract.arguments)
    if any(isinstance(argument, ArrayArgument) for argument in reader.contract.arguments.values()):
        yield "by shape", lambda given: repr([np.shape(v) if isinstance(v, np.ndarray) else v for v in given.values()])
        yield (
            "by id",
            lambda given: tuple(id(v) if isinstance(v, np.ndarray | dict) else repr(v) for v in given.values()),
        )
        yield "by first entry", lambda given: repr([(np.shape(v), np.ravel(v)[:1]) for v in given.values()])
        yield (
            "by the sums of arrays",
            lambda given: repr([np.round(np.sum(v), 6) if isinstance(v, np.ndarray) else v for v in given.values()]),
        )
    for name in names[: len(names) if len(names) > 1 else 0]:
        yield f"by all arguments except {name}", functools.partial(_all_but, name)


def _all_but(name: str, given: dict[str, Any]) -> Hashable:
    rest = {key: value for key, value in given.items() if key != name}
    value = given.get(name)
    return (
        value.shape if isinstance(value, np.ndarray) else (),
        *(id(v) if callable(v) else fingerprint(v) for v in rest.values()),
        *rest,
    )


def _remembering(reader: _Reader, key_of: Callable[[dict[str, Any]], Hashable]) -> Function:
    kept: dict[Hashable, Any] = {}
    arguments = []  # keep the arguments alive, so that no later array gets the id of an earlier array

    @functools.wraps(reader.function)
    def remembering(*args: Any, **kwargs: Any) -> Any:
        arguments.append((args, kwargs))
        key = key_of(reader.bound(args, kwargs))
        if key not in kept:
            kept[key] = copy_argument(reader.function(*args, **kwargs))
        return copy_argument(kept[key])

    return remembering


# programs in which a parameter has an effect only in some steps of a loop


def _later_steps(reader: _Reader) -> Iterator[tuple[str, Function]]:
    """Yield versions of the reference in which a numeric argument is replaced by 1 in some steps of the first loop."""
    numbers = [n for n, a in reader.contract.arguments.items() if isinstance(a, NumberArgument)]
    source = textwrap.dedent(inspect.getsource(reader.function))
    for name, (label, test) in itertools.product(numbers, _STEPS.items()):
        tree = ast.parse(source)
        [definition] = [n for n in tree.body if isinstance(n, ast.FunctionDef)]
        definition.decorator_list = []
        loops = [n for n in ast.walk(definition) if isinstance(n, ast.For | ast.While)]
        if not loops or not any(isinstance(n, ast.Name) and n.id == name for s in loops[0].body for n in ast.walk(s)):
            continue
        uses = _InLoop(name, test)
        loops[0].body = [ast.parse("_step_ += 1").body[0], *map(uses.visit, loops[0].body)]
        definition.body.insert(0, ast.parse("_step_ = -1").body[0])
        names = getattr(inspect.unwrap(reader.function), "__globals__", {})
        function = compiled(ast.unparse(ast.fix_missing_locations(definition)), definition.name, names)
        if function is not None:
            yield f"{name} acts {label}", function


_STEPS = {
    "in the first step only": "_step_ < 1",
    "up to the third step": "_step_ < 3",
    "in every second step": "_step_ % 2 == 0",
}


class _InLoop(ast.NodeTransformer):
    """A transformer that replaces the argument ``name`` by 1 in the steps for which ``test`` is false. A value of 0 stays 0."""

    def __init__(self, name: str, test: str) -> None:
        self.name, self.test = name, test

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Replace one use of the argument."""
        if node.id != self.name or not isinstance(node.ctx, ast.Load):
            return node
        return ast.parse(f"({self.name} if {self.test} or not {self.name} else 1.0)", mode="eval").body


# category mutants


def category_mutants(contract: Contract, function: Function, name: str) -> Iterator[Mutant]:
    """Yield mutants that call the reference with slightly changed inputs, which makes them wrong only for some input categories."""
    reader = _Reader(contract, function)
    for path, argument in contract.leaves().items():
        if isinstance(argument, ArrayArgument):
            for label, change in _CHANGES.items():
                yield _changing(f"{name}: {'.'.join(path)} {label}", reader, path, change)
            if "..." in argument.shape:
                batch = functools.partial(_first_of_batch, axes=sum(a != "..." for a in argument.shape))
                yield _changing(f"{name}: {'.'.join(path)} of the first batch entry used for all", reader, path, batch)
        elif isinstance(argument, LengthsArgument | WholeNumbersArgument):
            for dtype in (np.int8, np.uint8, np.int16, np.uint16):
                yield _changing(f"{name}: {'.'.join(path)} cast to {dtype.__name__}", reader, path, _narrow(dtype))


def _changing(label: str, reader: _Reader, path: tuple[str, ...], change: Callable[[np.ndarray], np.ndarray]) -> Mutant:
    """Return the mutant that calls the reference with ``change`` applied to the array at ``path`` in its arguments."""

    def changed(given: dict[str, Any]) -> dict[str, Any]:
        return replace_at(given, path, lambda value: change(value) if isinstance(value, np.ndarray) else value)

    @functools.wraps(reader.function)
    def mutant(*args: Any, **kwargs: Any) -> Any:
        return reader.function(**changed(reader.bound(args, kwargs)))

    def affects(call: Call) -> bool:
        if call.function != reader.function.__name__:
            return True
        given = reader.bound(call.args[: len(reader.signature.parameters)], call.kwargs)
        return fingerprint(given) != fingerprint(changed(given))

    return Mutant(label, mutant, affects=affects)


def _first_of_batch(a: np.ndarray, *, axes: int) -> np.ndarray:
    lead = a.ndim - axes
    return np.broadcast_to(a[(slice(0, 1),) * lead], a.shape).copy() if lead > 0 else a


def _without_small(size: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda a: np.where(np.abs(a) < size, 0.0, a).astype(a.dtype)


def _narrow(dtype: Any) -> Callable[[np.ndarray], np.ndarray]:
    return np.errstate(all="ignore")(lambda a: a.astype(dtype).astype(a.dtype))


_CHANGES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "cast to float32": _narrow(np.float32),
    "cast to float16": _narrow(np.float16),
    **{
        f"clipped to {n:g}": functools.partial(np.clip, a_min=-n, a_max=n)
        for n in (1, 10, 30, 100, 500, 709, 5000, 1e5)
    },
    **{f"with numbers closer to 0 than {size:g} set to 0": _without_small(size) for size in (1e-2, 1e-3, 1e-5, 1e-8)},
    # Six decimals are accepted.
    **{f"rounded to {n} digits": operator.methodcaller("round", n) for n in (1, 2, 4)},
    "without its sign": np.abs,
    "with negative numbers set to 0": lambda a: np.maximum(a, 0).astype(a.dtype),
    "read in memory order": lambda a: a.ravel("K").reshape(a.shape),
}

"""What checks say: each assertion judges a value, fails with a message for the student, and can be recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict
from typing import Any

import numpy as np

from autograder.checking.call_source import arguments_of, expression_for, shows_cases
from autograder.checking.closeness import tolerances
from autograder.checking.compare import describe_failure, named
from autograder.checking.plots import USUAL, parts_of
from autograder.checking.predicates import evaluate
from autograder.checking.student_objects import explain_step, without_proxies
from autograder.checking.tables import TableOptions

__all__ = [
    "CheckFailed", "CheckStopped", "assert_choice", "assert_einsum", "assert_finite", "assert_matches",
    "assert_number", "assert_number_is", "assert_one_of", "assert_same_plot", "assert_shape", "assert_string", "assert_sums_to_one", "assert_within",
    "observing",
]  # fmt: skip


class CheckFailed(AssertionError):  # noqa: N818 - students read the name
    """A check found the student's answer wrong: ``reason`` is the sentence, ``example`` the case that shows it."""

    def __init__(self, reason: str, example: str = "", *, kind: str = "values") -> None:
        super().__init__(f"{reason}\n{example}" if example else reason)
        self.reason = reason
        self.example = example
        self.kind = kind

    def _render_traceback_(self) -> list[str]:
        # IPython asks for this instead of formatting a traceback: the text says everything, and no frame is the student's.
        return str(self).splitlines() or [type(self).__name__]


CheckFailed.__module__ = "autograder"  # a terminal's last line then reads "autograder.CheckFailed: softmax …"


class CheckStopped(CheckFailed):
    """The student's code had to be stopped, or ended its process; ``stopped`` says how."""

    def __init__(self, reason: str, example: str = "", *, stopped: str) -> None:
        super().__init__(reason, example, kind="stopped")
        self.stopped = stopped


# What is shown each assertion made: its name, the value, the one expected, its parameters, the call, and the inputs of that.
Observer = Callable[[str, Any, Any, Mapping[str, Any], str, Mapping[str, Any]], None]
_observer: ContextVar[Observer | None] = ContextVar("observer", default=None)


@contextmanager
def observing(observer: Observer) -> Iterator[None]:
    """Show every assertion made inside to ``observer``."""
    token = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(token)


def assert_matches(
    actual: Any,
    expected: Any,
    *,
    call: str = "",
    rtol: float | None = None,
    atol: float | None = None,
    dtype: bool = True,
    of_largest: float = 0.0,
    order: bool | None = None,
    exact_type: bool = False,
    extra_keys: bool = False,
    row_order: bool = True,
    column_order: bool = False,
    dtypes: bool = False,
    index: bool = True,
    names: bool = False,
    **inputs: Any,
) -> None:
    """``actual`` equals ``expected``: shape first and exactly, then values at the course's tolerance.

    ``call`` and ``inputs`` are what the student reads: the call as text, and the arrays in it by name. Both follow from
    the student's call that returned ``actual``, so give them only where something else reads better. Where an input is
    float32 the tolerance is looser, unless ``rtol`` and ``atol`` say otherwise. Numbers may also be off by ``of_largest`` times
    the largest number expected beside them.

    Of tables, ``row_order=False`` lets rows stand in any order and ``index=False``
    does not look at their labels; ``column_order``, ``dtypes`` and ``names`` (of a Series, of an index) count where they are True.

    ``order=False``: the items of a sequence may come in any order; ``order=True``: the keys of a dictionary have one, too.
    ``exact_type=True``: a list is no tuple. ``extra_keys=True``: a dictionary may have more keys than the right one.
    """
    default_rtol, default_atol = tolerances(expected, *_arguments(actual, call, inputs))
    params: dict[str, Any] = {
        "rtol": default_rtol if rtol is None else rtol,
        "atol": default_atol if atol is None else atol,
    }
    if of_largest:
        params["of_largest"] = of_largest
    if not dtype:
        params["dtype"] = False
    if order is not None:
        params["order"] = order
    if exact_type or extra_keys:
        params |= {name: True for name, given in (("exact_type", exact_type), ("extra_keys", extra_keys)) if given}
    if not (row_order and index) or column_order or dtypes or names:
        table = {"row_order": row_order, "column_order": column_order, "dtypes": dtypes, "index": index, "names": names}
        params["table"] = {option: counts for option, counts in table.items() if counts != _USUAL[option]}
    judge_assertion("matches", actual, expected, params, call, inputs)


_USUAL = asdict(TableOptions())


def assert_same_plot(
    actual: Any, expected: Any, *, parts: str | Sequence[str] = USUAL, rtol: float = 1e-4, atol: float = 1e-6
) -> None:
    """A picture (``student.plot``) shows what another (``reference.plot``) shows, in the ``parts`` that are named.

    ``parts`` are some of ``"data labels title legend scales limits"``; all but the limits of the axes by default. Of what
    stands in a picture in words, both have as much as the probe was asked for: the words, or whether there are any.
    """
    judge_assertion("same_plot", actual, expected, {"parts": list(parts_of(parts)), "rtol": rtol, "atol": atol}, "", {})


def assert_sums_to_one(actual: Any, *, axis: int = -1, call: str = "", **inputs: Any) -> None:
    """The entries along ``axis`` sum to 1."""
    rtol, atol = tolerances(*_arguments(actual, call, inputs))
    judge_assertion("sums_to_one", actual, None, {"axis": axis, "rtol": rtol, "atol": atol}, call, inputs)


def assert_within(
    actual: Any, *, low: float | None = None, high: float | None = None, call: str = "", **inputs: Any
) -> None:
    """Every entry is finite and lies between ``low`` and ``high``."""
    judge_assertion("within", actual, None, {"low": low, "high": high}, call, inputs)


def assert_finite(actual: Any, *, call: str = "", **inputs: Any) -> None:
    """No entry is NaN or infinite."""
    judge_assertion("finite", actual, None, {}, call, inputs)


def assert_shape(actual: Any, shape: Sequence[int], *, call: str = "", **inputs: Any) -> None:
    """The value is an array of exactly this shape (``()`` for a single number)."""
    judge_assertion("has_shape", actual, None, {"shape": [int(n) for n in shape]}, call, inputs)


def assert_one_of(actual: Any, choices: Sequence[str], *, call: str = "") -> None:
    """An answer is there and is one of ``choices``; which one is not judged."""
    judge_assertion("one_of", actual, None, {"choices": list(choices)}, call, {})


def assert_number(actual: Any, *, call: str = "") -> None:
    """An answer is there and is a number; which one is not judged."""
    judge_assertion("is_number", actual, None, {}, call, {})


def assert_string(actual: Any, *, call: str = "") -> None:
    """An answer is there and is a string; which one is not judged."""
    judge_assertion("is_string", actual, None, {}, call, {})


def assert_choice(actual: Any, right: str, *, call: str = "") -> None:
    """An answer is the right choice, however it is written (``"b"``, ``"(B)"``, ``"b)"``)."""
    judge_assertion("chosen", actual, None, {"right": right}, call, {})


def assert_number_is(actual: Any, right: float, *, within: float, call: str = "") -> None:
    """An answer, which is a single number, is ``right`` to ``within``."""
    judge_assertion("number_is", actual, None, {"right": right, "within": within}, call, {})


def assert_einsum(actual: Any, expected: Any, *, call: str = "", **operands: np.ndarray) -> None:
    """An einsum equation computes ``expected`` from ``operands``, in the order named, whatever letters it uses."""
    if not call:
        call = f"np.einsum({', '.join([expression_for(actual)[0] or 'equation', *operands])})"
    params = {"operands": [a.tolist() for a in operands.values()], "right": np.asarray(expected).tolist()}
    judge_assertion("einsum_gives", actual, None, params, call, dict(operands))


def _arguments(actual: Any, call: str, inputs: dict[str, Any]) -> Iterable[Any]:
    """What ``actual`` was made from, as far as it is known."""
    return inputs.values() if call or inputs else arguments_of(actual)


def judge_assertion(
    name: str, actual: Any, expected: Any, params: Mapping[str, Any], call: str, inputs: Mapping[str, Any]
) -> None:
    """Raise ``CheckFailed`` where ``actual`` does not hold under the assertion called ``name`` (see ``predicates``).

    Without ``call``, that of the student's answer is shown.
    """
    actual, expected = without_proxies(actual), without_proxies(expected)
    observer = _observer.get()
    finding = evaluate(name, actual, expected, params)
    if observer is None and (finding is None or not shows_cases()):
        if finding is not None:
            raise CheckFailed(finding.reason, kind=finding.kind)
        return
    if not call:  # found only to be shown: most assertions hold, and there are thousands
        call, own = expression_for(actual)
        inputs = inputs or own
    if finding is not None and "" in inputs:
        finding = explain_step(finding, expected, call)
    if observer is not None:
        observer(name, actual, expected, params, call, inputs)
    if finding is not None:
        example = describe_failure(finding, call=call, inputs=inputs, with_reason=False)
        raise CheckFailed(named(finding.reason, call), example, kind=finding.kind)

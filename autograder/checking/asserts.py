"""The assertions of check files. An assertion that fails raises an error with a message for the student. All assertions can be recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict

import numpy as np

from autograder.base.foreign import Value
from autograder.checking.call_source import arguments_of, expression_for, right_of, shows_cases
from autograder.checking.findings import describe_failure, named
from autograder.checking.plots import USUAL, parts_of
from autograder.checking.predicates import evaluate
from autograder.checking.student_objects import explain_step, without_proxies
from autograder.values import TableOptions, as_array, tolerances

__all__ = [
    "CheckFailed", "CheckStopped", "assert_choice", "assert_einsum", "assert_finite", "assert_matches",
    "assert_number", "assert_number_is", "assert_one_of", "assert_same_plot", "assert_shape", "assert_string", "assert_sums_to_one", "assert_within",
    "observing",
]  # fmt: skip


class CheckFailed(AssertionError):  # noqa: N818 - students read the name
    """Raised if a check fails. ``reason`` is the message, and ``example`` is a call that shows the failure.

    With the kind "chance", the same mistake may pass with other random numbers. Then ``all_categories`` names no category.
    """

    def __init__(self, reason: str, example: str = "", *, kind: str = "values") -> None:
        super().__init__(f"{reason}\n{example}" if example else reason)
        self.reason = reason
        self.example = example
        self.kind = kind

    def _render_traceback_(self) -> list[str]:
        # IPython calls this instead of formatting a traceback, which would contain no frame of the student's code.
        return str(self).splitlines() or [type(self).__name__]


CheckFailed.__module__ = "autograder"  # A traceback should end with "autograder.CheckFailed: softmax …"


class CheckStopped(CheckFailed):
    """Raised if a student's code had to be stopped or ended its own process. ``stopped`` gives the reason."""

    def __init__(self, reason: str, example: str = "", *, stopped: str) -> None:
        super().__init__(reason, example, kind="stopped")
        self.stopped = stopped


# The arguments are the assertion's name, the actual and expected values, parameters, the call and its inputs.
Observer = Callable[[str, Value, Value, Mapping[str, Value], str, Mapping[str, Value]], None]
_observer: ContextVar[Observer | None] = ContextVar("observer", default=None)


@contextmanager
def observing(observer: Observer) -> Iterator[None]:
    """Pass every assertion made inside the block to ``observer``."""
    token = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(token)


def assert_matches(
    actual: Value,
    expected: Value,
    *,
    call: str = "",
    rtol: float | None = None,
    atol: float | None = None,
    dtype: bool = True,
    of_largest: float = 0.0,
    order: bool | None = None,
    exact_type: bool = False,
    extra_keys: bool = False,
    lists: bool = True,
    row_order: bool = True,
    column_order: bool = False,
    dtypes: bool = False,
    index: bool = True,
    names: bool = False,
    **inputs: Value,
) -> None:
    """Check that ``actual`` equals ``expected``: first compare the shapes, then the values within tolerance.

    Args:
        actual: the student's value.
        expected: the right value.
        call: the call as shown to the student. By default it is the student's call that returned ``actual``.
        rtol: the relative tolerance. It is larger by default if an input is float32.
        atol: the absolute tolerance. It is larger by default if an input is float32.
        dtype: whether the dtype of arrays counts.
        of_largest: numbers may also differ by this factor times the largest expected number.
        order: False if a sequence may have any order, True if the order of a dictionary's keys counts.
        exact_type: whether a list differs from a tuple.
        extra_keys: whether a dictionary may have additional keys.
        lists: whether a list of numbers may replace an array.
        row_order: whether the order of a table's rows counts.
        column_order: whether the order of a table's columns counts.
        dtypes: whether the dtypes of a table count.
        index: whether the row labels of a table count.
        names: whether the names of a Series or an index count.
        **inputs: the inputs shown to the student, by name. By default they come from the student's call.
    """
    default_rtol, default_atol = tolerances(expected, *_arguments(actual, call, inputs))
    params: dict[str, Value] = {
        "rtol": default_rtol if rtol is None else rtol,
        "atol": default_atol if atol is None else atol,
    }
    if of_largest:
        params["of_largest"] = of_largest
    if not dtype:
        params["dtype"] = False
    if order is not None:
        params["order"] = order
    flags = {"exact_type": exact_type, "extra_keys": extra_keys, "lists": not lists}
    params |= {name: name != "lists" for name, given in flags.items() if given}
    if not (row_order and index) or column_order or dtypes or names:
        table = {"row_order": row_order, "column_order": column_order, "dtypes": dtypes, "index": index, "names": names}
        params["table"] = {option: counts for option, counts in table.items() if counts != _USUAL[option]}
    judge_assertion("matches", actual, expected, params, call, inputs)


_USUAL = asdict(TableOptions())


def assert_same_plot(
    actual: Value, expected: Value, *, parts: str | Sequence[str] = USUAL, rtol: float = 1e-4, atol: float = 1e-6
) -> None:
    """Check that the picture ``actual`` (from ``student.plot``) has the same ``parts`` as ``expected`` (from ``reference.plot``).

    ``parts`` names some of ``"data labels title legend scales limits"``, by default all but the limits of the axes. Pass the same
    option ``texts`` to both ``plot`` calls, so that both pictures contain the texts, or both say only which texts are present.
    """
    judge_assertion("same_plot", actual, expected, {"parts": list(parts_of(parts)), "rtol": rtol, "atol": atol}, "", {})


def assert_sums_to_one(actual: Value, *, axis: int = -1, call: str = "", **inputs: Value) -> None:
    """Check that the entries along ``axis`` sum to 1."""
    rtol, atol = tolerances(*_arguments(actual, call, inputs))
    params = {"axis": axis, "rtol": rtol, "atol": atol, **_filled(actual)}
    judge_assertion("sums_to_one", actual, None, params, call, inputs)


def assert_within(
    actual: Value, *, low: float | None = None, high: float | None = None, call: str = "", **inputs: Value
) -> None:
    """Check that every entry is finite and between ``low`` and ``high``."""
    judge_assertion("within", actual, None, {"low": low, "high": high, **_filled(actual)}, call, inputs)


def assert_finite(actual: Value, *, call: str = "", **inputs: Value) -> None:
    """Check that no entry is NaN or infinite."""
    judge_assertion("finite", actual, None, _filled(actual), call, inputs)


def _filled(actual: Value) -> dict[str, Value]:
    """Return ``{"filled": True}`` if the right result is not empty, else ``{}``.

    Without this parameter, an empty result would pass, because it has no entry that could be wrong.
    """
    found = as_array(without_proxies(actual))
    # Look up the right result only if the student's is empty, because nearly all results have entries.
    if found is None or not found.size:
        found = as_array(right_of(actual))
    elif _observer.get() is None:
        return {}
    return {"filled": True} if found is not None and found.size else {}


def assert_shape(actual: Value, shape: Sequence[int], *, call: str = "", **inputs: Value) -> None:
    """Check that the value is an array of exactly this shape (``()`` for a single number)."""
    judge_assertion("has_shape", actual, None, {"shape": [int(n) for n in shape]}, call, inputs)


def assert_one_of(actual: Value, choices: Sequence[str], *, call: str = "") -> None:
    """Check that an answer is one of ``choices``, whether or not it is the right one."""
    judge_assertion("one_of", actual, None, {"choices": list(choices)}, call, {})


def assert_number(actual: Value, *, call: str = "") -> None:
    """Check that an answer is a number, whether or not it is the right one."""
    judge_assertion("is_number", actual, None, {}, call, {})


def assert_string(actual: Value, *, call: str = "") -> None:
    """Check that an answer is a string, whether or not it is the right one."""
    judge_assertion("is_string", actual, None, {}, call, {})


def assert_choice(actual: Value, right: str, *, call: str = "") -> None:
    """Check that an answer is the right choice in any spelling (``"b"``, ``"(B)"``, ``"b)"``)."""
    judge_assertion("chosen", actual, None, {"right": right}, call, {})


def assert_number_is(actual: Value, right: float, *, within: float, call: str = "") -> None:
    """Check that an answer, which must be a single number, differs from ``right`` by at most ``within``."""
    judge_assertion("number_is", actual, None, {"right": right, "within": within}, call, {})


def assert_einsum(actual: Value, expected: Value, *, call: str = "", **operands: np.ndarray) -> None:
    """Check that an einsum equation computes ``expected`` from ``operands`` in the given order. It may use any letters."""
    if not call:
        call = f"np.einsum({', '.join([expression_for(actual)[0] or 'equation', *operands])})"
    params = {"operands": [a.tolist() for a in operands.values()], "right": np.asarray(expected).tolist()}
    judge_assertion("einsum_gives", actual, None, params, call, dict(operands))


def _arguments(actual: Value, call: str, inputs: dict[str, Value]) -> Iterable[Value]:
    """Return the arguments from which ``actual`` was computed, as far as they are known."""
    return inputs.values() if call or inputs else arguments_of(actual)


def judge_assertion(
    name: str, actual: Value, expected: Value, params: Mapping[str, Value], call: str, inputs: Mapping[str, Value]
) -> None:
    """Raise ``CheckFailed`` if ``actual`` fails the assertion called ``name`` (see ``predicates``).

    Without ``call``, the student's call that returned ``actual`` is shown.
    """
    actual, expected = without_proxies(actual), without_proxies(expected)
    observer = _observer.get()
    finding = evaluate(name, actual, expected, params)
    if observer is None and (finding is None or not shows_cases()):
        if finding is not None:
            raise CheckFailed(finding.reason, kind=finding.kind)
        return
    if not call:  # computed only when needed, because there are thousands of assertions and most pass
        call, own = expression_for(actual)
        inputs = inputs or own
    if finding is not None and "" in inputs:
        finding = explain_step(finding, expected, call)
    if observer is not None:
        observer(name, actual, expected, params, call, inputs)
    if finding is not None:
        example = describe_failure(finding, call=call, inputs=inputs, with_reason=False)
        raise CheckFailed(named(finding.reason, call), example, kind=finding.kind)

"""Match the variables of a student's function with those of a correct program by comparing their values.

The values come from an edited copy of each function, which returns its own variables. A student's copy runs in the session
of the search, and a course program's copy in this process. This module needs only NumPy and the standard library.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.judging.functions import FunctionSession
from autograder.mistakes.edits.donors import Donor
from autograder.mistakes.fault_localization.program import Program
from autograder.sandbox.protocol import Answer, Call, EditableSession
from autograder.values import Rules, equal

__all__ = ["DonorTrace", "match_variables", "traced_values"]

_SECONDS = 1.0
# The copy returns only values that can be compared. A loop variable has its last value.
_RETURNED = (
    "{k: v for k, v in dict(locals()).items() if hasattr(v, 'dtype') or isinstance(v, (int, float, list, tuple))}"
)

Values = Mapping[str, Any]


@dataclass(frozen=True)
class DonorTrace:
    """A correct program and the values of its variables in the watched call.

    A program that another student submitted is not run, so its variables are matched by name.
    """

    donor: Donor
    values: Values = field(default_factory=dict)


def match_variables(
    program: Program, traces: Sequence[DonorTrace], watched: Call | None, session: EditableSession, seconds: float
) -> tuple[dict[str, str], ...]:
    """Map the variables of each trace's program to those of ``program`` that have the same values in the call ``watched``."""
    own: Values = {}
    source = _revealing(program.definitions[0].text)
    if watched is not None and source and any(trace.values for trace in traces):
        for answers in session.run_variants([{program.exercise: source}], [watched], seconds):
            own = _values_in(answers[0] if answers else None)
    return tuple(
        _matched(trace.values, own, dict(zip(trace.donor.parameters, program.parameters, strict=False)))
        for trace in traces
    )


def _revealing(text: str) -> str:
    """Return the source of the function in ``text``, changed to return its variables even if it raises an error."""
    [function] = ast.parse(text).body
    if not isinstance(function, ast.FunctionDef):
        return ""
    template = ast.parse(f"def f():\n    return {_RETURNED}").body[0]
    assert isinstance(template, ast.FunctionDef)  # noqa: S101 - parsed from a definition above
    function.decorator_list = []
    function.body = [ast.Try(body=function.body, handlers=[], orelse=[], finalbody=template.body)]
    return ast.unparse(ast.fix_missing_locations(function))


def _values_in(answer: Answer | None) -> Values:
    """Return the variables that the edited copy returned, or an empty dictionary if it failed or was stopped."""
    usable = answer is not None and answer.error is None and isinstance(answer.value, dict)
    return {str(k): v for k, v in answer.value.items()} if usable and answer is not None else {}


def traced_values(function: Callable[..., Any], text: str, call: Call) -> Values:
    """Return the values of the variables of ``function`` in ``call``. ``text`` is the source of this course function."""
    names = dict(function.__globals__)
    try:
        exec(_revealing(text), names)  # noqa: S102 - the course's own code
        copy = names[function.__name__]
    except Exception:  # noqa: BLE001 - fails for a nested function, for example
        return {}
    [answer] = FunctionSession({call.function: copy}, call_seconds=_SECONDS).batch([call])
    return _values_in(answer)


def _matched(right: Values, own: Values, parameters: Mapping[str, str]) -> dict[str, str]:
    """Map a correct program's variables to the student's: its parameters as in ``parameters``, and all other variables by value."""
    taken = {*parameters.values()}
    found = dict(parameters)
    for name, value in right.items():
        if name in parameters:
            continue
        same = [other for other, its in own.items() if other not in taken and _same(value, its)]
        if same:
            found[name] = name if name in same else same[0]
    return found


def _same(one: Any, other: Any) -> bool:
    try:
        return equal(one, other, Rules(rtol=1e-6, atol=1e-9))
    except (TypeError, ValueError):
        return False

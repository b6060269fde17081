"""Which variable of a student's function is which of a right program's: the one that holds the same values.

What a function's variables hold is asked of an edited copy of it that returns them. That of a student's runs where all of
their code does; that of a right program of the course, here. NumPy and the standard library only.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.checking.closeness import equal
from autograder.judging.functions import FunctionSession
from autograder.mistakes.edits.grafts import Donor
from autograder.mistakes.fault_localization.program import Program
from autograder.sandbox.protocol import Answer, Call, EditableSession

__all__ = ["Lender", "called_by", "held_by"]

_SECONDS = 1.0
# Only what can be compared; a loop's variable holds what it held last.
_RETURNED = (
    "{k: v for k, v in dict(locals()).items() if hasattr(v, 'dtype') or isinstance(v, (int, float, list, tuple))}"
)

Held = Mapping[str, Any]


@dataclass(frozen=True)
class Lender:
    """A right program, and what its variables hold when it answers the call that is watched.

    That of a program which another student handed in is not run here, so its variables go by their names.
    """

    donor: Donor
    holds: Held = field(default_factory=dict)


def called_by(
    program: Program, lenders: Sequence[Lender], watched: Call | None, session: EditableSession, seconds: float
) -> tuple[dict[str, str], ...]:
    """What ``program`` calls the variables of each of ``lenders``, by what they hold in the call that is ``watched``."""
    own: Held = {}
    source = _revealing(program.definitions[0].text)
    if watched is not None and source and any(lender.holds for lender in lenders):
        for answers in session.run_variants([{program.exercise: source}], [watched], seconds):
            own = _held(answers[0] if answers else None)
    return tuple(
        _matched(lender.holds, own, dict(zip(lender.donor.parameters, program.parameters, strict=False)))
        for lender in lenders
    )


def _revealing(text: str) -> str:
    """The function that ``text`` defines, returning what its variables hold when it ends, whether by an error or not."""
    [function] = ast.parse(text).body
    if not isinstance(function, ast.FunctionDef):
        return ""
    told = ast.parse(f"def f():\n    return {_RETURNED}").body[0]
    assert isinstance(told, ast.FunctionDef)  # noqa: S101 - two lines above
    function.decorator_list = []
    function.body = [ast.Try(body=function.body, handlers=[], orelse=[], finalbody=told.body)]
    return ast.unparse(ast.fix_missing_locations(function))


def _held(answer: Answer | None) -> Held:
    """What the variables held, by what the copy answered; nothing where it was stopped."""
    usable = answer is not None and answer.error is None and isinstance(answer.value, dict)
    return {str(k): v for k, v in answer.value.items()} if usable and answer is not None else {}


def held_by(function: Callable[..., Any], text: str, call: Call) -> Held:
    """What the variables of one of the course's own functions hold, whose source is ``text``."""
    names = dict(function.__globals__)
    try:
        exec(_revealing(text), names)  # noqa: S102 - the course's own code
        copy = names[function.__name__]
    except Exception:  # noqa: BLE001 - such as one that is defined within another
        return {}
    [answer] = FunctionSession({call.function: copy}, call_seconds=_SECONDS).batch([call])
    return _held(answer)


def _matched(right: Held, own: Held, parameters: Mapping[str, str]) -> dict[str, str]:
    """The student's variable for each of a right program's: ``parameters`` by their places, the others by what they hold."""
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
        return bool(equal(one, other, rtol=1e-6, atol=1e-9))
    except (TypeError, ValueError):
        return False

"""Call sequences, called scripts: create objects of a student's classes and use them step by step in the child.

A script is an ordinary ``Call`` whose probe, ``PLAY``, runs all steps and returns the result of the last one. So no object
outlives a call, and scripts are planned, cached, recorded and replayed like any other call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from autograder.base.foreign import Value
from autograder.sandbox.protocol import SCRIPT, Call, ExpectedError, NameReference

__all__ = [
    "PLAY", "Step", "is_script", "maximal_scripts", "names_in", "redacted", "script", "steps_of",
    "with_caller_mutations", "with_mutation_report",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a script.

    Attributes:
        do: One of

            - ``"make"``: create an object of the class ``name``.
            - ``"call"``: call the method ``name``.
            - ``"get"``, ``"set"``: read or write the attribute ``name``.
            - ``"use"``: apply the operator ``name``, such as ``"len"``.
            - ``"give"``: call the notebook's function ``name``.
            - ``"change"``: change the argument ``name`` of the step ``on``, or its result if ``name`` is ``"="``.

        on: The step that returned the object, or None.
        name: The class, method, attribute, operator, function or argument.
        args: The arguments: ``("v", value)``, ``("o", step)`` for the result of an earlier step, or ``("l", …)`` and ``("t", …)`` for
            a list or a tuple of these.
        kwargs: The keyword arguments, in the same form.
        raises: The error that the step is expected to raise, if any.
    """

    do: str
    on: int | None
    name: str
    args: tuple[Value, ...] = ()
    kwargs: Mapping[str, Value] = field(default_factory=dict)
    raises: str = ""


def script(function: str, steps: Sequence[Step], *, outcome: bool = False) -> Call:
    """Return a call that runs ``steps``. It counts as a call of ``function``.

    With ``outcome``, the answer is the outcome of the last step (see ``ExpectedError.outcome``).
    """
    encoded = []
    for step in steps:
        name: Any = NameReference(step.name) if step.do in ("make", "give") else step.name
        raises = (step.raises,) if step.raises else ()
        encoded.append((step.do, step.on, name, list(step.args), dict(step.kwargs), *raises))
    expects = ExpectedError((steps[-1].raises,), reports_others=True) if outcome else None
    return Call(function, (encoded,), {}, PLAY, expects=expects)


def is_script(call: Call) -> bool:
    """Return whether ``call`` is a script."""
    return bool(call.probe) and call.probe in (PLAY, SPOIL, KEEP)


def steps_of(call: Call) -> list[Step]:
    """Return the steps of a script."""
    return [
        Step(do, on, name.name if isinstance(name, NameReference) else name, tuple(args), kwargs, *raises)
        for do, on, name, args, kwargs, *raises in call.args[0]
    ]


def redacted(call: Call) -> Call:
    """Return ``call`` as the child may see it: without the errors that it, or a step of a script, is expected to raise."""
    if is_script(call):
        return replace(call, args=([step[:5] for step in call.args[0]],), expects=None)
    return call if call.expects is None else replace(call, expects=None)


def names_in(call: Call) -> Iterator[str]:
    """Yield the notebook's classes and functions that a call uses."""
    yield call.function
    if is_script(call):
        yield from (step.name for step in steps_of(call) if step.do in ("make", "give"))


def with_caller_mutations(call: Call) -> Call:
    """Return a script with the steps of ``call`` that changes the arguments and the result after each step, as a caller may."""
    return Call(call.function, call.args, {}, SPOIL)


def with_mutation_report(call: Call) -> Call:
    """Return a script with the steps of ``call`` that returns which arguments they changed, as ``[step, position or keyword]``."""
    return Call(call.function, call.args, {}, KEEP)


def maximal_scripts(calls: Iterable[Call]) -> list[Call]:
    """Return the scripts in ``calls``, without those whose steps are the beginning of the next script."""
    scripts = [call for call in calls if is_script(call)]
    result: list[Call] = []
    for call, then in zip(scripts, [*scripts[1:], None], strict=False):
        steps = call.args[0]
        if then is None or len(then.args[0]) <= len(steps) or repr(then.args[0][: len(steps)]) != repr(steps):
            result.append(call)
    return result


# The probe runs in the child next to student code. It contains no secrets, and its results are not trusted.
PLAY = SCRIPT + Path(__file__).with_name("script_probe.txt").read_text(encoding="utf-8")
SPOIL = PLAY.replace('MODE, MOST = ""', 'MODE, MOST = "spoil"')
KEEP = PLAY.replace('MODE, MOST = ""', 'MODE, MOST = "keep"')

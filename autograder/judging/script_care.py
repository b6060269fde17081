"""Whether an object of a student's class keeps to what is its own: lists that it was given, and lists that it gives.

NumPy and the standard library only: a student's own machine runs this too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from autograder.checking.arrays import show
from autograder.checking.asserts import CheckFailed
from autograder.checking.closeness import equal
from autograder.checking.scripts import spelled_script
from autograder.judging.diagnosis import same_answer
from autograder.sandbox.protocol import Answer, Call
from autograder.sandbox.script import longest, looked_at, script, spoiled, steps_of

__all__ = ["ScriptCare", "care_for"]

MAX_SCRIPTS = 12  # of one exercise


@dataclass(frozen=True, slots=True)
class ScriptCare:
    """A script, and what is looked at beside it.

    ``spoils``: whether a right object answers the same where its caller changes what it gave and was given; ``changes`` are the
    arguments that a right object changes.
    """

    call: Call
    spoils: bool
    changes: tuple[tuple[int, str], ...]

    def look(self, ask: Callable[[Call], Answer], described: Callable[[Call], str]) -> None:
        """Raise ``CheckFailed`` where the student's object does not keep to its own."""
        changed = ask(looked_at(self.call)).value
        for place, label in changed if isinstance(changed, list) else ():
            if (place, label) not in self.changes:
                step = script(self.call.function, steps_of(self.call)[: place + 1])
                raise CheckFailed(
                    f"`{spelled_script(step)[0]}` changes what it is given: afterwards the caller's own list, dictionary, set or array is "
                    "not what it was before. Work on a copy of it.",
                    described(step),
                    kind="changed",
                )
        if not self.spoils:
            return
        plain, then = ask(self.call), ask(spoiled(self.call))
        if plain.stopped or then.stopped or same_answer(plain, then, self.call):
            return
        said = f"{then.error.type}: {then.error.message}" if then.error else show(then.value)
        raise CheckFailed(
            f"An object of {self.call.function} shares a list, dictionary or set with its caller: when the caller changes what it gave "
            "to the object, or got from it, the object changes too. Keep a copy of what comes in, and give a copy of what goes "
            "out, as `list(…)` makes one.",
            f"{described(self.call)} gave  {_said(plain)}\nafter such changes it gave  {said}",
            kind="changed",
        )


def care_for(plan: Sequence[Call], right: Callable[[Call], object]) -> list[ScriptCare]:
    """What is looked at beside the scripts of ``plan``, the longest of them, by what a right solution answers."""
    found = []
    for one in longest(plan)[:MAX_SCRIPTS]:
        steps = steps_of(one)
        # What is asked last is asked twice: only then it shows that the first answer was no copy.
        call = script(one.function, [*steps, *(steps[-1:] if steps[-1].do in ("call", "get", "use") else [])])
        changed = right(looked_at(call))
        changes = tuple((place, label) for place, label in changed) if isinstance(changed, list) else ()
        found.append(ScriptCare(call, _same(right, call), changes))
    return found


def _same(right: Callable[[Call], object], call: Call) -> bool:
    try:
        return equal(right(call), right(spoiled(call)))
    except Exception:  # noqa: BLE001 - what a right object raises
        return False


def _said(answer: Answer) -> str:
    return f"{answer.error.type}: {answer.error.message}" if answer.error else show(answer.value)

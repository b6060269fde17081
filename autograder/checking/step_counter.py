"""Measure the work that a function does: executed lines of Python, comparisons of its input's items, and calls.

Unlike a time, a count is the same on every machine. The growth of the processor time with the input is measured too, because
a count misses the work of compiled code. This module needs only NumPy and the standard library, because it
also runs on students' machines.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from autograder.base.errors import CourseError
from autograder.base.foreign import Value
from autograder.base.formatting import pluralize
from autograder.checking.findings import Finding

__all__ = ["COUNT", "GROWTH", "format_counted_call", "grows_slowly", "limits_of", "rounded_limits", "stays_within"]

# This probe runs in the student's process. It stops the function at twenty times the limit that the probe is given.
COUNT = Path(__file__).with_name("count_probe.txt").read_text(encoding="utf-8")


_SHORT = 0.001  # a call that takes at most this many seconds passes, regardless of how its time grows
# This probe also runs in the student's process, which does not learn how much longer the larger call may take. It measures
# processor time, so other work on the machine hardly matters. It uses the shortest of several runs, because a cold cache
# makes a run longer, and so does a processor that other virtual machines share.
GROWTH = Path(__file__).with_name("growth_probe.txt").read_text(encoding="utf-8")


def limits_of(
    steps: int | None = None,
    calls: Mapping[str, int] | None = None,
    seconds: float | None = None,
    larger: Sequence[Value] | None = None,
    growth: float = 10,
) -> dict[str, Value]:
    """Return a dictionary of the given limits. Raises ``CourseError`` if a limit is not a number above 0.

    ``larger`` contains the arguments of a larger call, which may take ``growth`` times the processor time.
    """
    grown: dict[str, Value] = {}
    if larger is not None:
        if not isinstance(larger, list | tuple) or not larger:
            raise CourseError(
                f"within(…) has larger={larger!r:.60}. It must list the arguments of a larger call, as in larger=[words * 4]."
            )
        if isinstance(growth, bool) or not isinstance(growth, int | float) or not growth > 1:
            raise CourseError(f"within(…) has growth={growth!r}. It must be a number above 1.")
        grown = {"larger": list(larger), "growth": float(growth)}
    if (steps, seconds) == (None, None) and not calls:
        return grown
    if seconds is not None and (isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0):
        raise CourseError(f"within(…) has seconds={seconds!r}. A limit must be a number above 0.")
    given = {"steps": steps, **(calls or {})}
    for name, most in given.items():
        if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 1):
            raise CourseError(f"within(…) has {name}={most!r}. A limit must be a whole number above 0.")
    timed = {"seconds": float(seconds)} if seconds is not None else {}
    return {"steps": steps or 0, "calls": dict(calls or {}), **timed, **grown}


def rounded_limits(limits: Mapping[str, Value]) -> dict[str, Value]:
    """Return rounded limits for the probe. Steps and calls are rounded down to 1, 2 or 5 times a power of ten, but not below 1,000.

    Seconds are rounded up to a power of two. The probe only stops functions that never end. The exact limits are applied outside
    the student's process, which does not learn them.
    """
    calls = {name: _rounded(most) for name, most in limits["calls"].items()}
    seconds = {"seconds": 2.0 ** math.ceil(math.log2(limits["seconds"]))} if "seconds" in limits else {}
    return {**limits, "steps": limits["steps"] and _rounded(limits["steps"]), "calls": calls, **seconds}


def _rounded(limit: int) -> int:
    power: int = 10 ** (len(str(limit)) - 1)
    return max(1000, next(factor * power for factor in (5, 2, 1) if factor * power <= limit))


def stays_within(
    actual: Value, *, limits: Mapping[str, Value], right: Mapping[str, Value], asked: str
) -> Finding | None:
    """Return what is wrong if the counts in ``actual`` exceed ``limits``. ``right`` contains the counts of a right function."""
    found = actual if isinstance(actual, dict) else {}
    steps, calls = found.get("steps"), found.get("calls")
    if type(steps) is not int or not isinstance(calls, dict) or steps < 0:
        return Finding(
            f"The steps of {asked} could not be counted: does the function change how Python traces a program?", "steps"
        )
    seconds = found.get("seconds")
    if "seconds" in limits and not (type(seconds) is float and 0 <= seconds <= limits["seconds"]):
        return Finding(
            f"{asked} took more than {pluralize(limits['seconds'], 'second')} of processor time, which is the limit here. Which "
            "loop runs far more often than there are items?",
            "steps",
        )
    most = limits["steps"]
    if most and steps > most:
        at_least, steps = _capped(steps, most, found)
        more = steps >= 4 * max(int(right.get("steps", 0)), 1)
        ask = (
            " Does a loop, or an `in` that searches a list, run inside another loop over the same items?"
            if more
            else ""
        )
        return Finding(
            f"Here {asked} took {at_least}{steps:,} steps. The limit is {most:,}, and a correct solution needs {right.get('steps', 0):,}. "
            f"(A step is a line that runs, or a comparison of two items.){ask}",
            "steps",
        )
    for name, allowed in limits["calls"].items():
        count = calls.get(name)
        if type(count) is not int or count > allowed:
            at_least, count = _capped(count, allowed, found) if type(count) is int else ("", None)
            told = f"{count:,} times" if count is not None else "too often"
            needs = right.get("calls", {}).get(name, 0)
            return Finding(
                f"Here {asked} called {name} {at_least}{told}. The limit is {allowed:,}, and a correct solution needs {needs:,}. Does it "
                "compute the same result again instead of storing it?",
                "steps",
            )
    return None


def grows_slowly(actual: Value, *, growth: float, asked: str, larger: str) -> Finding | None:
    """Return what is wrong if the call ``larger`` took more than ``growth`` times the processor time of ``asked``."""
    found = actual if isinstance(actual, dict) else {}
    small, large = found.get("small"), found.get("large")
    if type(small) is float is type(large) and 0 <= large <= max(_SHORT, growth * small):
        return None
    return Finding(
        f"Your function becomes too slow when its input grows: {larger} takes more than {growth:g} times the processor time of "
        f"{asked}. Does a loop, or an `in` that searches a list, run inside another loop over the same items?",
        "steps",
    )


def _capped(number: int, limit: int, found: Mapping[str, Value]) -> tuple[str, int]:
    """Return the words and the number with which a message reports ``number``. It reports at most twenty times the ``limit``."""
    most = 20 * limit
    return ("more than ", most) if number > most else ("more than " if found.get("stopped") else "", number)


def format_counted_call(function: str, args: Iterable[Value], kwargs: Mapping[str, Value]) -> str:
    """Return a counted call as text. Large inputs are shown by type and size."""
    words = [_word(value) for value in args] + [f"{name}={_word(value)}" for name, value in kwargs.items()]
    return f"{function}({', '.join(words)})"


def _word(value: Value) -> str:
    if isinstance(value, list | tuple | dict | set | str) and len(value) > 12:
        noun = "characters" if isinstance(value, str) else "items"
        return f"a {type(value).__name__} of {len(value):,} {noun}"
    return value.name if hasattr(value, "text") and hasattr(value, "name") else repr(value)

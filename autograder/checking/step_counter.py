"""Measure the work that a function does: executed lines of Python, comparisons of its input's items, and calls.

Unlike a time, a count is the same on every machine. How the processor time grows with the input is measured too, because a
count misses work that Python code does not do itself. This module needs only NumPy and the standard library, because it
also runs on students' machines.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from autograder.base.errors import CourseError
from autograder.base.foreign import Value
from autograder.base.formatting import pluralize
from autograder.checking.findings import Finding

__all__ = ["COUNT", "GROWTH", "format_counted_call", "grows_slowly", "limits_of", "rounded_limits", "stays_within"]

# Runs in the student's process. It stops the function at twenty times the limit that it is given.
COUNT = """
import signal as _signal
import sys as _sys
from itertools import islice as _islice
from time import process_time as _process_time

class _Enough(BaseException):
    pass

def probe(function, limits, args, kwargs):
    own_names = globals()
    names, most = limits["calls"], limits["steps"]
    found = {"steps": 0, "calls": dict.fromkeys(names, 0), "stopped": False}
    seconds = limits.get("seconds", 0)

    def step(number=1):
        found["steps"] += number
        if most and found["steps"] > 20 * most:
            found["stopped"], found["steps"] = True, 20 * most
            raise _Enough

    def counting(kind, *methods):
        def counted(name):
            own = getattr(kind, name)
            def method(self, *others):
                step()
                return own(self, *others)
            return method
        return type(kind.__name__, (kind,), {name: counted(name) for name in methods})

    compare = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__")
    items = {kind: counting(kind, *compare) for kind in (str, int, float, bytes)} if most else {}

    def item(value, inner=False):
        kind = type(value)
        if kind in (list, tuple):
            return kind([item(part, True) for part in value])
        if kind is dict:
            return {item(key, True): item(part, True) for key, part in value.items()}
        if inner and kind in items:
            return items[kind](value)
        if callable(value) and getattr(value, "__name__", "") in found["calls"]:
            return tallied(value, value.__name__)
        return value

    def tallied(called, name):
        def call(*a, **k):
            found["calls"][name] += 1
            if found["calls"][name] > 20 * names[name]:
                found["stopped"], found["calls"][name] = True, 20 * names[name]
                raise _Enough
            return called(*a, **k)
        call.__name__ = name
        return call

    def take(value, depth=0):
        # What gives its items only when it is asked works then: as much of it is asked here as is looked at later.
        kind = type(value)
        if hasattr(kind, "__next__"):
            value = list(_islice(value, 1001))
        if depth < 3 and issubclass(kind, dict):
            value = list(value.values())
        if depth < 3 and isinstance(value, (list, tuple, set, frozenset)):
            for part in value:
                take(part, depth + 1)

    def line(frame, event, arg):
        if frame.f_globals is own_names or (frame.f_code.co_name == "gc_callback" and "hypothesis" in frame.f_code.co_filename):
            return None  # what counts is not counted, nor what is called by the garbage collector while checks are tried
        if event == "line":
            step()
        return line

    def ring(number, frame):
        raise _Enough

    args, kwargs = [item(value) for value in args], {key: item(value) for key, value in kwargs.items()}
    found["steps"] = 0
    home = getattr(function, "__globals__", {})
    own = {name: home[name] for name in found["calls"] if callable(home.get(name))}
    before, started = _sys.gettrace(), _sys.settrace
    clock, handler = getattr(_signal, "setitimer", None) if seconds else None, None
    begun = _process_time()
    try:
        if clock is not None:
            try:
                handler = _signal.signal(_signal.SIGVTALRM, ring)
                clock(_signal.ITIMER_VIRTUAL, seconds, 0.05)
            except ValueError:
                clock = None  # not in the first thread: it is measured, and not cut short
        home.update({name: tallied(value, name) for name, value in own.items()})
        if most:
            _sys.settrace(line)
        take(home.get(function.__name__, function)(*args, **kwargs) if function.__name__ in own else function(*args, **kwargs))
        if most and _sys.gettrace() is not line:
            found["steps"] = -1
    except _Enough:
        pass
    finally:
        if clock is not None:
            clock(_signal.ITIMER_VIRTUAL, 0)
            _signal.signal(_signal.SIGVTALRM, handler)
        found["seconds"] = _process_time() - begun
        started(before)
        home.update(own)
    return found
"""


_SHORT = 0.001  # seconds of a call that is quick enough, however its time grows
# Also runs in the student's process, which does not learn how much longer the larger call may take. Only processor time counts, so other work on the machine hardly does. The shortest of
# several runs is compared, because a cold cache, or a virtual machine whose processor is lent to others, makes a run longer.
GROWTH = """
import copy as _copy
import gc as _gc
import sys as _sys
from itertools import islice as _islice
from time import process_time as _process_time

PATIENCE = 0.5  # seconds of processor time in which the two calls are repeated
STEADY = 3  # rounds in which neither call was shorter than before, after which more would tell nothing new

def probe(function, args, larger, kwargs):
    if _sys.platform not in ("linux", "darwin"):
        return {"small": 0.0, "large": 0.0}  # the clock is too coarse there

    def take(value, depth=0):
        kind = type(value)
        if hasattr(kind, "__next__"):
            value = list(_islice(value, 10000))
        if depth < 3 and isinstance(value, (list, tuple)) and len(value) <= 50:
            for part in value:
                take(part, depth + 1)

    def seconds(given):
        own, named = _copy.deepcopy((list(given), dict(kwargs)))
        getattr(function, "cache_clear", int)()
        begun = _process_time()
        take(function(*own, **named))
        return _process_time() - begun

    collects = _gc.isenabled()
    _gc.disable()
    try:
        end = _process_time() + PATIENCE
        small, large, rounds, steady = seconds(args), seconds(larger), 1, 0
        while rounds < 5 or (steady < STEADY and _process_time() < end):
            # One small call that is too long would hide slow code, so there are more of them.
            now = min(small, *(seconds(args) for _ in range(3))), min(large, seconds(larger))
            steady = steady + 1 if now[0] > 0.95 * small and now[1] > 0.95 * large else 0
            (small, large), rounds = now, rounds + 1
    finally:
        if collects:
            _gc.enable()
    return {"small": small, "large": large}
"""


def limits_of(
    steps: int | None = None,
    calls: Mapping[str, int] | None = None,
    seconds: float | None = None,
    larger: Sequence[Value] | None = None,
    growth: float = 10,
) -> dict[str, Value]:
    """Return the limits, {} if there are none. Raises ``CourseError`` if one is not a number above 0.

    ``larger`` are the arguments of a larger call, which may take ``growth`` times the processor time.
    """
    grown: dict[str, Value] = {}
    if larger is not None:
        if not isinstance(larger, list | tuple) or not larger:
            raise CourseError(
                f"within(…) has larger={larger!r:.60}: it lists the arguments of a larger call, as in larger=[words * 4]."
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
    """Return limits for the probe. Steps and calls are rounded down to 1, 2 or 5 times a power of ten, and at least 1,000.

    Seconds are rounded up to a power of two. The probe only has to stop a function that goes on and on. How much is allowed is
    decided here, and the student's process does not learn it.
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
    """Return what is wrong if a function exceeded its limits. ``right`` contains the counts of a right function."""
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
            f"Here {asked} took {at_least}{steps:,} steps. The limit is {most:,}, and a right solution needs {right.get('steps', 0):,}. "
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
                f"Here {asked} called {name} {at_least}{told}. The limit is {allowed:,}, and a right solution needs {needs:,}. Does it "
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
    """Return a number above ``limit`` as it is reported: at most twenty times the limit, with the words before it."""
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

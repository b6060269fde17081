"""Check that functions and objects have no side effects.

Arguments must stay unchanged, and a repeated call must return the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from pathlib import Path

import numpy as np

from autograder.base.foreign import Value
from autograder.checking.asserts import CheckFailed
from autograder.checking.outcomes import is_outcome
from autograder.checking.plots import plot_probe_text
from autograder.checking.student_objects import format_script
from autograder.judging.diagnosis import same_answer
from autograder.sandbox.protocol import Answer, Call
from autograder.sandbox.script import (
    is_script,
    maximal_scripts,
    script,
    steps_of,
    with_caller_mutations,
    with_mutation_report,
)
from autograder.values import call_key, equal, family_of, fingerprint, schema, show

__all__ = [
    "AliasingCheck", "PurityProbe", "changed_between", "describe_answer", "mutation_advice", "pairs_of",
    "plan_aliasing_check",
]  # fmt: skip


_ARRAYS = "Work on a new array. Operations such as `x -= 1`, `x[...] = …`, `x.shape = …` and `out=` change the input."
_CONTAINERS: dict[type, str] = {
    list: "`list(x)`, or `sorted(x)` in place of `x.sort()`. Methods such as `x.sort()`, `x.append(…)` and `x.pop()` change the original, and so do `x += …` and `x[…] = …`.",
    dict: "`dict(x)`, or `copy.deepcopy(x)` if you also change what is in it. Methods such as `x.pop(…)`, `x.update(…)` and `x.setdefault(…)` change the original, and so do `del x[…]` and `x[…] = …`.",
    set: "`set(x)` or `x | …`. Methods such as `x.add(…)`, `x.remove(…)` and `x.update(…)` change the original, and so does `x |= …`.",
    bytearray: "`bytearray(x)`. Methods such as `x.append(…)` and `x.extend(…)` change the original, and so do `x += …` and `x[…] = …`.",
}


def mutation_advice(changed: Sequence[Value]) -> str:
    """Return advice on how to avoid changing these arguments. For lists, the advice names methods that change a list."""
    kinds = {type(value) for value in changed}
    if len(kinds) == 1 and (text := _CONTAINERS.get(*kinds)):
        inside = (
            " The same holds for the lists, dictionaries and arrays inside." if any(map(_holds_arrays, changed)) else ""
        )
        return f"Work on a copy, for example {text}{inside}"
    return _ARRAYS


def _holds_arrays(value: Value) -> bool:
    return isinstance(value, np.ndarray) or any(map(_holds_arrays, family_of(value).parts(value)))


@dataclass(frozen=True, slots=True)
class PurityProbe:
    """Two calls with inputs of the same shape. ``first`` is called once, then both in the order of ``calls``.

    ``answers_differ`` says whether the right answers to the two calls differ. ``between`` is the call from ``changed_between``, or
    None if that test is not used.
    """

    first: Call
    other: Call
    calls: Sequence[Call]
    answers_differ: bool = False
    between: Call | None = None


def _passes_arguments_on(call: Call) -> bool:
    """Return whether the function gets the argument objects of ``call`` themselves, so that changes to them are noticed."""
    return not call.probe or is_outcome(call.probe) or _is_script_or_plot(call)


def _is_script_or_plot(call: Call) -> bool:
    return is_script(call) or call.probe in (plot_probe_text(texts=True), plot_probe_text(texts=False))


# This probe calls a function twice with the same objects, which contain other numbers the second time.
CHANGED_BETWEEN = Path(__file__).with_name("again_probe.txt").read_text(encoding="utf-8")


def changed_between(first: Call, other: Call) -> Call:
    """Return a call with the probe ``CHANGED_BETWEEN``. Its answer equals the answer to ``other`` if the function keeps no state."""
    given = [list(first.args), dict(first.kwargs), list(other.args), dict(other.kwargs)]
    return Call(first.function, tuple(given), probe=CHANGED_BETWEEN)


def pairs_of(
    exercise: str,
    plan: list[Call],
    other: list[Call],
    returns: Callable[[Call], bool],
    differ: Callable[[Call, Call], bool] = lambda _one, _other: True,
) -> list[tuple[Call, Call]]:
    """Return pairs of calls with equal shapes and different numbers, large inputs first. Return an empty list if there is no call.

    Pairs are preferred if their inputs are small enough for fast calls, and if ``differ`` says that their right answers differ.

    The calls are from ``plan`` and from ``other``, which is the same plan with other random inputs. A check's own probe may copy or
    create the function's arguments. If all calls use such probes, the function is called with these arguments without a probe,
    provided that ``returns`` says that a right solution can answer such a call.
    """
    calls = [[call for call in some if call.function == exercise] for some in (plan, other)]
    own, others = ([call for call in some if _passes_arguments_on(call) and not call.measured] for some in calls)
    if not any(_is_script_or_plot(call) or returns(_bare(call)) for call in own):  # no calls, or all fail
        bare = [[call for call in map(_bare, some) if returns(call)] for some in calls]
        own, others = [*bare[0], *own], [*bare[1], *others]
    if not own:  # watching the arguments of probes is better than nothing
        own, others = ([call for call in some if call.args and not call.measured] for some in calls)
    shapes: dict[Hashable, list[Call]] = {}
    for call in [*own, *others]:
        if call.args or call.kwargs:
            shapes.setdefault((call.probe, call.expects, schema((call.args, dict(call.kwargs)))), []).append(call)
    pairs = []
    for alike in shapes.values():
        second = next((c for c in alike[1:] if call_key(c) != call_key(alike[0])), None)
        if second is not None:
            pairs.append((alike[0], second))
    lengths = {id(pair): len(str(fingerprint(pair[0].args))) for pair in pairs}
    pairs.sort(key=lambda pair: (max(0, lengths[id(pair)] - _LONG), -lengths[id(pair)]))
    if not pairs:
        # No two inputs have the same shape, so reverse the arrays: answers are only compared with each other.
        # If this changes nothing, make some other call of the plan in between.
        pairs = [(a, next((b for b in (_backwards(a), *own) if call_key(b) != call_key(a)), a)) for a in own]
    # The results of probes are expensive, so use one small pair for them.
    if pairs and pairs[0][0].probe:
        return pairs[-1:]
    found = [*islice((pair for pair in pairs if differ(*pair)), 2)] or pairs[:2]
    found += [pair for pair in _with_a_number_in_common([*own, *others]) if differ(*pair)]
    # A function may store a result under the sum of an array, so reverse arrays whose sums stay exactly the same.
    turned = ((call, _backwards(call)) for call in own if not call.probe)
    return [*islice((p for p in turned if _sums(p[0]) == _sums(p[1]) and returns(p[1]) and differ(*p)), 1), *found]


def _sums(call: Call) -> list[float]:
    values = (*call.args, *call.kwargs.values())
    return [float(value.sum()) for value in values if isinstance(value, np.ndarray) and value.dtype.kind == "f"]


def _with_a_number_in_common(calls: Sequence[Call]) -> Iterator[tuple[Call, Call]]:
    """Yield two different calls for each argument that is a whole number and has the same value in both.

    A function may store a result under one of its arguments, such as a mask under its size.
    """
    for place in range(max((len(call.args) for call in calls), default=0)):
        some = [c for c in calls if not c.probe and len(c.args) > place and type(c.args[place]) is int]
        alike = (
            (a, b) for a, b in combinations(some, 2) if a.args[place] == b.args[place] and call_key(a) != call_key(b)
        )
        yield from islice(alike, 1)


def _bare(call: Call) -> Call:
    """Return a call of the function itself, without a probe or limits."""
    return Call(call.function, call.args, call.kwargs)


def _backwards(call: Call) -> Call:
    args = tuple(family_of(value).backwards(value) for value in call.args)
    return replace(call, args=args, kwargs={k: family_of(v).backwards(v) for k, v in call.kwargs.items()})


_LONG = 5000  # characters of a fingerprint: about 200 numbers
MAX_SCRIPTS = 12  # the most call sequences of one exercise


@dataclass(frozen=True, slots=True)
class AliasingCheck:
    """A call sequence and the behavior of a right solution in it.

    Attributes:
        call: the call sequence.
        isolated: whether a right object gives the same answers if its caller changes the arguments and results.
        changes: the arguments that a right object changes.
    """

    call: Call
    isolated: bool
    changes: tuple[tuple[int, str], ...]

    def look(self, ask: Callable[[Call], Answer], described: Callable[[Call], str]) -> None:
        """Raise ``CheckFailed`` if the student's object changes arguments or shares mutable state with its caller."""
        changed = ask(with_mutation_report(self.call)).value
        for place, label in changed if isinstance(changed, list) else ():
            if (place, label) not in self.changes:
                step = script(self.call.function, steps_of(self.call)[: place + 1])
                raise CheckFailed(
                    f"`{format_script(step)[0]}` changes its argument: the caller's own list, dictionary, set or array is different "
                    "afterwards. Work on a copy of it.",
                    described(step),
                    kind="changed",
                )
        if not self.isolated:
            return
        plain, then = ask(self.call), ask(with_caller_mutations(self.call))
        if plain.stopped or then.stopped or same_answer(plain, then, self.call):
            return
        raise CheckFailed(
            f"An object of {self.call.function} shares a list, dictionary or set with its caller. If the caller changes it, "
            "the object changes too. Store a copy of each argument, and return a copy, for example with `list(…)`.",
            f"{described(self.call)} gave  {describe_answer(plain)}\nafter such changes it gave  {describe_answer(then)}",
            kind="changed",
        )


def plan_aliasing_check(plan: Sequence[Call], right: Callable[[Call], object]) -> list[AliasingCheck]:
    """Return aliasing checks for the longest call sequences of ``plan``, each with a right solution's behavior."""
    found = []
    for one in maximal_scripts(plan)[:MAX_SCRIPTS]:
        steps = steps_of(one)
        # Repeat the last call. This shows whether the first answer was a copy.
        call = script(one.function, [*steps, *(steps[-1:] if steps[-1].do in ("call", "get", "use") else [])])
        changed = right(with_mutation_report(call))
        changes = tuple((place, label) for place, label in changed) if isinstance(changed, list) else ()
        found.append(AliasingCheck(call, _same(right, call), changes))
    return found


def _same(right: Callable[[Call], object], call: Call) -> bool:
    try:
        return equal(right(call), right(with_caller_mutations(call)))
    except Exception:  # noqa: BLE001 - a right object may raise anything
        return False


def describe_answer(answer: Answer) -> str:
    """Return the error or the value of an answer as text."""
    return f"{answer.error.type}: {answer.error.message}" if answer.error else show(answer.value)

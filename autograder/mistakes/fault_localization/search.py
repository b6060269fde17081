"""Search for the line of a mistake. Try variants of a program, cheapest first, and validate the variants that survive.

This module needs only NumPy and the standard library, because it also runs on students' machines.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, takewhile
from typing import Any

from autograder.checking.decorators import CheckSpec
from autograder.judging.diagnosis import PRAISE, Candidate, Diagnosis
from autograder.judging.exercise_session import ExerciseSession, Sessions
from autograder.judging.proxies import StudentProxy
from autograder.mistakes.edits.generator import overlap
from autograder.mistakes.fault_localization.program import Program, Variant
from autograder.sandbox.protocol import Answer, Call, EditableSession, SandboxUnavailable

__all__ = ["Deadline", "LazyChecks", "Located", "failing", "misconceptions_in", "passes", "search"]

MAX_PLACES = 2  # the most lines that are reported. If there are more candidates, no line is reported
MARGIN = 0.35  # an edit may cost this much more than the cheapest one and still count
_READ_EVERY = 0.02
_MAX_VALIDATIONS = 3  # the most variants of one line that are validated
_CHUNK = 32
_FIRST_PAIRS = 512
_SMALL_ONES, _SMALL_COST = 2048, 1.3  # single edits that are tried before pairs of edits
# The most combinations of each kind that are tried. Of 136 unseen answers that edits correct, only five need a pair.
_REPEATED, _OF_PROMISING, _IN_ONE_LINE, _IN_TWO_LINES = 500, 1500, 1500, 2500
_SLIPS = 2500  # the most single edits that are searched for a repeated slip
_MOST_PLACES = 4  # the most occurrences of a repeated slip
_PROMISING, _LEADING, _PARTNERS = 24, 8, 200
_SMALL, _PAIRED = 1.3, 400  # the highest cost of an edit in a pair within one line, and the most edits that are paired
_VERY_SMALL, _PAIRED_ACROSS = 1.1, 150

_REMOVING = frozenset({"case", "extra", "lines"})  # the kinds of edits that only remove code
_BETTER = _REMOVING | {"always", "dtype", "inplace"}  # the kinds whose words replace most others at the same line
_CLEAR = _BETTER | {"range", "array"}  # the kinds whose words are not replaced
Places = tuple[tuple[str, int], ...]
Survive = Callable[[Sequence[Variant]], Iterable[float]]
Validate = Callable[[Variant], bool]
Ask = Callable[[Variant, Sequence[Call]], Sequence[Answer]]


class Deadline:
    """The end of a search, ``seconds`` from now on the clock ``now``.

    By default, the clock counts processor time, so that a search finds the same result on a busy machine.
    """

    def __init__(self, seconds: float, now: Callable[[], float] = time.process_time) -> None:
        self._now, self._read_at, self._latest = now, time.monotonic(), now()
        self._end = self._latest + seconds

    @property
    def remaining(self) -> float:
        """The remaining seconds, from a reading that is at most ``_READ_EVERY`` seconds old, because a sandbox's clock is slow."""
        if (at := time.monotonic()) > self._read_at + _READ_EVERY:
            self._read_at, self._latest = at, self._now()
        return max(self._end - self._latest, 0.0)


@dataclass(frozen=True, slots=True)
class Located:
    """The location of a mistake.

    Attributes:
        places: the lines, each with its cell. If ``edits`` is 1, an edit in any one of the lines is enough. Otherwise, all edits are needed.
        kind: the kind of mistake, or empty if the edits correct several kinds.
        edits: the number of edits that correct the program.
        variants: the corrected programs.
    """

    places: Places
    kind: str
    edits: int
    variants: tuple[Variant, ...] = field(default=(), compare=False)


def search(program: Program, survive: Survive, validate: Validate, deadline: Deadline) -> Located | None:
    """Return the location of the mistake in ``program``.

    Return None if no small edit corrects it, or if edits in too many different lines each correct it.

    Args:
        program: the student's code, which is wrong.
        survive: returns a score for each variant: 1 if the variant returns the right results in all test calls, 0 if it is
            no better than the student's own code.
        validate: returns whether a variant that survived passes every check.
        deadline: the end of the search.
    """
    ones: list[Variant] = []
    near: list[tuple[float, int]] = []

    def uses_all(variant: Variant) -> bool:
        return not program.leaves_unused(variant) and validate(variant)

    def kept() -> Iterator[Variant]:
        for one in program.singles():
            ones.append(one)
            yield one

    def noted(variants: Sequence[Variant]) -> Iterable[float]:
        found = list(survive(variants))
        start = max(len(ones) - _CHUNK, 0)
        first = {id(one): i for i, one in enumerate(ones[start:], start)}
        near.extend((share, first[id(v)]) for v, share in zip(variants, found, strict=True) if 0 < share < 1)
        return found

    def promising() -> list[Variant]:
        return [ones[i] for _, i in sorted(near, key=lambda one: (-one[0], one[1]))]

    def small() -> Iterator[Variant]:
        for one in islice(singles, _SMALL_ONES):
            yield one
            if one.cost > _SMALL_COST and len(ones) % _CHUNK == 0:
                return

    singles = kept()
    found = _validated(small(), noted, uses_all, deadline)
    if not found:
        # A small slip made twice, or two small slips, are more likely than one large edit.
        first_pairs = islice(_in_one_line(ones), _FIRST_PAIRS)
        groups = [_repeated_edits(ones), first_pairs, _promising_pairs(promising(), ())]
        found = _first_of(groups, survive, uses_all, deadline)
        if found:
            return _located(found)
    found = _validated(singles, noted, uses_all, deadline, found)
    if not found:
        across = islice(_pairs(ones, _VERY_SMALL, _PAIRED_ACROSS, same_line=False), _IN_TWO_LINES)
        groups = [_repeated_edits(ones), _in_one_line(ones), _promising_pairs(promising(), ones), across]
        found = _first_of(groups, survive, uses_all, deadline)
    return _located(found) if found else None


def _first_of(
    groups: Sequence[Iterator[Variant]], survive: Survive, validate: Validate, deadline: Deadline
) -> list[Variant]:
    """Try the groups of variants in order. Return the valid variants of the first group that has any."""
    for variants in groups:
        if deadline.remaining and (found := _validated(variants, survive, validate, deadline)):
            return [_without_needless_edits(one, validate) for one in found]
    return []


def _without_needless_edits(variant: Variant, validate: Validate) -> Variant:
    """Return ``variant`` without the repeated edits that are not needed. The same text may need an edit on one line and not on another."""
    for edit in variant.edits if len(variant.edits) > 2 else ():
        rest = Variant(tuple(one for one in variant.edits if one is not edit))
        variant = rest if validate(rest) else variant
    return variant


def _validated(
    variants: Iterator[Variant], survive: Survive, validate: Validate, deadline: Deadline, known: Sequence[Variant] = ()
) -> list[Variant]:
    """Return the cheapest valid variant for each set of lines, unless it costs much more than the cheapest one of all.

    ``known`` contains the variants that are already validated.
    """
    valid: dict[Places, Variant] = {one.places: one for one in known}
    failed: Counter[Places] = Counter()

    def is_open(variant: Variant) -> bool:
        clearer = (old := valid.get(variant.places)) is None or (variant.kind in _BETTER and old.kind not in _CLEAR)
        return clearer and failed[variant.places] < _MAX_VALIDATIONS

    while deadline.remaining:
        most = min((c.cost for c in valid.values()), default=float("inf")) + MARGIN
        chunk = list(islice(variants, _CHUNK))
        if not chunk or chunk[0].cost > most:
            break
        open_ones = [c for c in chunk if is_open(c)]
        for variant, near in zip(open_ones, survive(open_ones), strict=True):
            if near == 1 and is_open(variant) and deadline.remaining:
                if validate(variant):
                    valid[variant.places] = variant
                else:
                    failed[variant.places] += 1
    return sorted(valid.values(), key=lambda c: c.cost)


def _located(valid: list[Variant]) -> Located | None:
    # If a condition around the wrong line is switched off, the line does not run.
    valid = [c for c in valid if c.kind != "branch"] or valid
    best = valid[0]
    if len(best.places) == 1 < len(best.edits):
        # Another line may do as well, but the message names only one.
        best = next((c for c in valid if c.kind in _BETTER), best)
        valid = [best]
    most = MAX_PLACES if len(best.places) == 1 else 1  # if two lines are wrong, the pair must be unique
    if len(valid) > most:
        valid = [c for c in valid if c.cost <= best.cost]
    if len(valid) > most:
        return None
    # The code may be right in another order, with a copy, without a step or without a condition. Then other lines only hide this mistake.
    for clear in ({"place"}, {"inplace"}, _REMOVING, {"always"}):
        valid = [c for c in valid if c.kind in clear] or valid
    kinds = {c.kind for c in valid}
    places = tuple(sorted({place for c in valid for place in c.places}))
    return Located(places, kinds.pop() if len(kinds) == 1 else "", len(best.edits), tuple(valid))


def _repeated_edits(ones: Sequence[Variant]) -> Iterator[Variant]:
    """Yield the variants that make the same change everywhere in a line, or everywhere in the program.

    ``ones`` contains variants with a single edit, cheapest first. A student who copies a line copies its slip.
    """
    groups: dict[tuple[object, ...], list[Variant]] = {}
    for one in islice(ones, _SLIPS):
        change = _change(one)
        groups.setdefault((*change, one.places), []).append(one)
        groups.setdefault(change, []).append(one)
    found: dict[tuple[object, ...], Variant] = {}
    for group in groups.values():
        edits = tuple(one.edits[0] for one in group)
        if 1 < len(edits) <= _MOST_PLACES and not _overlapping(group):
            found.setdefault(edits, Variant(edits))
    yield from islice(sorted(found.values(), key=lambda variant: variant.cost / len(variant.edits)), _REPEATED)


def _promising_pairs(promising: Sequence[Variant], ones: Sequence[Variant]) -> Iterator[Variant]:
    """Return the pairs of two edits that each improved a result, then the pairs of one such edit and one cheap edit."""
    leading = promising[:_PROMISING]
    pairs = [(one, other) for i, one in enumerate(leading) for other in leading[:i]]
    pairs += [(one, other) for one in leading[:_LEADING] for other in ones[:_PARTNERS]]
    found = (Variant((*one.edits, *other.edits)) for one, other in pairs if not _overlapping([one, other]))
    return islice(found, _OF_PROMISING)


def _in_one_line(ones: Sequence[Variant]) -> Iterator[Variant]:
    """Return the variants with two small edits in one line, cheapest first."""
    return islice(_pairs(ones, _SMALL, _PAIRED, same_line=True), _IN_ONE_LINE)


def _pairs(ones: Sequence[Variant], cost: float, most: int, *, same_line: bool) -> Iterator[Variant]:
    small = [*islice(takewhile(lambda one: one.cost <= cost, ones), most)]
    places = [one.places for one in small]
    found = [
        (one.cost + other.cost, i, j)
        for i, one in enumerate(small)
        for j, other in enumerate(small[:i])
        if (places[i] == places[j]) is same_line and not _overlapping([one, other])
    ]
    for _, i, j in sorted(found):
        yield Variant((*small[j].edits, *small[i].edits))


def _overlapping(variants: Sequence[Variant]) -> bool:
    edits = [edit for variant in variants for edit in variant.edits]
    definitions = {definition for definition, _ in edits}
    return any(overlap([edit for own, edit in edits if own is definition]) for definition in definitions)


def _change(one: Variant) -> tuple[object, ...]:
    """Return a key for the edit of ``one``, with the changed text before and after the edit. A repeated slip has the same key."""
    [(definition, edit)] = one.edits
    old = "".join(definition.text.encode()[edit.start : edit.end].decode().split())
    new = "".join(edit.text.removeprefix("(").removesuffix(")").split())
    first = 0
    while first < min(len(old), len(new)) and old[first] == new[first]:
        first += 1
    last = 0
    while last < min(len(old), len(new)) - first and old[-1 - last] == new[-1 - last]:
        last += 1
    before, after = old[first : len(old) - last], new[first : len(new) - last]
    word = re.search(r"(\w*)=$", old[:first])
    # If an edit only adds text, the key contains the whole expression.
    return edit.kind, before or old, after, word[1] if word else ""


class LazyChecks:
    """The checks of one exercise. Each check makes its calls only when it runs. The check for side effects is left out."""

    def __init__(
        self,
        exercise: str,
        specs: tuple[CheckSpec, ...],
        converse: Callable[[str, Sessions], ExerciseSession],
        run_check: Callable[[str, str, StudentProxy], Any],
    ) -> None:
        self.names = tuple(check.name for check in specs if not check.purity)
        self._exercise, self._converse, self._run_check = exercise, converse, run_check

    def passes(self, check: str, session: EditableSession) -> bool:
        """Return whether ``check`` passes. Any exception that it raises is a failure."""
        conversation = self._converse(self._exercise, Sessions(lambda: session, lambda _memory: session))
        try:
            self._run_check(self._exercise, check, StudentProxy(conversation))
        except (KeyboardInterrupt, SandboxUnavailable):
            raise
        except BaseException:  # noqa: BLE001 - anything that a check raises is a failure
            return False
        return not conversation.stopped


def failing(checks: LazyChecks, session: EditableSession) -> str:
    """Return the name of the first check that fails, or "" if all checks pass."""
    return next((name for name in checks.names if not checks.passes(name, session)), "")


def passes(checks: LazyChecks, first: str, session: EditableSession, variant: Variant) -> bool:
    """Return whether ``variant`` passes all checks. The check ``first`` is run first."""
    try:
        session.define(variant.sources)
        return all(checks.passes(name, session) for name in sorted(checks.names, key=lambda name: name != first))
    except (KeyboardInterrupt, SandboxUnavailable):
        raise
    except BaseException:  # noqa: BLE001 - an edited definition may do anything
        return False
    finally:
        session.reset()


def misconceptions_in(variant: Variant, diagnoses: Sequence[Diagnosis], ask: Ask) -> list[Candidate]:
    """Return the misconceptions in code with two mistakes, at most one for each of the two edits that correct the code.

    After one of the edits, the code has only one mistake left. This mistake is a misconception if the code's results are
    exactly those of the misconception.

    Args:
        variant: the edits that together correct the code.
        diagnoses: one diagnosis for each set of inputs. All of them have to name the same misconception.
        ask: returns the results of an edited program.
    """
    halves = [Variant((edit,)) for edit in variant.edits]
    is_repeated = len({_change(half) for half in halves}) == 1
    in_two_lines = len(halves) == len(variant.places) == 2
    if not in_two_lines or is_repeated or any(call.probe for diagnosis in diagnoses for call in diagnosis.calls):
        return []
    known: dict[str, Candidate] = {}
    for half in halves:
        found = [d.explain([*zip(d.calls, ask(half, d.calls), strict=False)]) for d in diagnoses]
        first = found[0]
        if first is None or any(other is None or other.name != first.name for other in found):
            continue
        if first.name in known:
            return []  # each edit leaves the same mistake, so there are not two different mistakes
        known[first.name] = first
    # Leave out a message with praise, because the praised part may contain the other mistake.
    return [candidate for candidate in known.values() if not PRAISE.search(candidate.message)]

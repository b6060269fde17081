"""The search for the line: variants tried the smallest first, most of them by one call, those that remain proven."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from autograder.mistakes.fault_localization.combinations import in_one_line, in_two_lines, of_promising, repeated
from autograder.mistakes.fault_localization.program import Program, Variant

__all__ = ["Deadline", "Located", "located_in"]

MAX_PLACES = 2  # lines that are named; where more would do, none of them is where the mistake is
MARGIN = 0.35  # by how much a change may be larger than the smallest, and still count beside it
_PROOFS = 3  # variants of one line that are put to the proof
_CHUNK = 32
_FIRST_PAIRS = 512
_SMALL_ONES, _SMALL_COST = 2048, 1.3  # the edits that are tried before two at once are

Places = tuple[tuple[str, int], ...]
Survive = Callable[[Sequence[Variant]], Iterable[float]]
Prove = Callable[[Variant], bool]


class Deadline:
    """The seconds that a search may take, by ``now``."""

    def __init__(self, seconds: float, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._end = now() + seconds

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return max(self._end - self._now(), 0.0)


@dataclass(frozen=True, slots=True)
class Located:
    """Where a mistake is.

    ``edits`` is how many changes it takes: with one, a change in any one of ``places`` is enough; two in two lines are both
    needed.
    """

    places: Places
    kind: str
    edits: int
    variants: tuple[Variant, ...] = field(default=(), compare=False)


def located_in(program: Program, survive: Survive, prove: Prove, deadline: Deadline) -> Located | None:
    """Where the mistake of ``program`` is; None where no small edit makes it right, or too many in different lines.

    Args:
        program: the student's code, which is wrong.
        survive: how near each of some variants comes to right on the calls that it is tried on; 1 where it answers all of
            them, 0 where it is no better than the student's own.
        prove: whether a variant that survived holds in every check.
        deadline: the time there is.
    """
    ones: list[Variant] = []
    near: list[tuple[float, int]] = []

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
    found = _proven(small(), noted, prove, deadline)
    if not found:
        # One small slip that was made twice, or two that were, is likelier than what only a large edit undoes.
        combined: _Combined = (
            lambda: repeated(ones),
            lambda: islice(in_one_line(ones), _FIRST_PAIRS),
            lambda: of_promising(promising(), ()),
        )
        found = _first_of(combined, survive, prove, deadline)
        if found:
            return _told(found)
    found = _proven(singles, noted, prove, deadline, found)
    if not found:
        combined = (
            lambda: repeated(ones),
            lambda: in_one_line(ones),
            lambda: of_promising(promising(), ones),
            lambda: in_two_lines(ones),
        )
        found = _first_of(combined, survive, prove, deadline)
    return _told(found) if found else None


_Combined = tuple[Callable[[], Iterator[Variant]], ...]


def _first_of(combined: _Combined, survive: Survive, prove: Prove, deadline: Deadline) -> list[Variant]:
    """What is proven of the first of several ways to make more edits than one."""
    for variants in combined:
        if deadline.left and (found := _proven(variants(), survive, prove, deadline)):
            return found
    return []


def _proven(
    variants: Iterator[Variant],
    survive: Survive,
    prove: Prove,
    deadline: Deadline,
    known: Sequence[Variant] = (),
) -> list[Variant]:
    """Of each place the smallest variant that is proven, as far as it is not much larger than the smallest of all.

    ``known`` are those that were proven before.
    """
    proven: dict[Places, Variant] = {one.places: one for one in known}
    failed: Counter[Places] = Counter()
    while deadline.left:
        most = min((c.cost for c in proven.values()), default=float("inf")) + MARGIN
        chunk = list(islice(variants, _CHUNK))
        if not chunk or chunk[0].cost > most:
            break
        open_ones = [c for c in chunk if c.places not in proven and failed[c.places] < _PROOFS]
        for variant, near in zip(open_ones, survive(open_ones), strict=True):
            if near == 1 and variant.places not in proven and failed[variant.places] < _PROOFS and deadline.left:
                if prove(variant):
                    proven[variant.places] = variant
                else:
                    failed[variant.places] += 1
    return sorted(proven.values(), key=lambda c: c.cost)


def _told(proven: list[Variant]) -> Located | None:
    best = proven[0]
    most = MAX_PLACES if len(best.places) == 1 else 1  # of lines that are wrong together, one pair
    if len(proven) > most:
        proven = [c for c in proven if c.cost <= best.cost]
    if len(proven) > most:
        return None
    kinds = {c.kind for c in proven}
    places = tuple(sorted({place for c in proven for place in c.places}))
    return Located(places, kinds.pop() if len(kinds) == 1 else "", len(proven[0].edits), tuple(proven))

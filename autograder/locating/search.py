"""The search for the line: variants tried the smallest first, most of them by one call, those that remain proven."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from autograder.locating.program import Program, Variant

__all__ = ["Deadline", "Located", "located_in"]

MAX_PLACES = 2  # lines that are named; where more would do, none of them is where the mistake is
MARGIN = 0.35  # by how much a change may be larger than the smallest, and still count beside it
_PROOFS = 3  # variants of one line that are put to the proof
_CHUNK = 32

Places = tuple[tuple[str, int], ...]
Survive = Callable[[Sequence[Variant]], Iterable[bool]]
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
        survive: whether each of some variants answers the calls that it is tried on.
        prove: whether a variant that survived holds in every check.
        deadline: the time there is.
    """
    for variants in (program.singles, program.pairs, program.pairs_of_lines):
        found = _proven(variants(), survive, prove, deadline)
        if found:
            return _told(found)
    return None


def _proven(variants: Iterator[Variant], survive: Survive, prove: Prove, deadline: Deadline) -> list[Variant]:
    """Of each place the smallest variant that is proven, as far as it is not much larger than the smallest of all."""
    proven: dict[Places, Variant] = {}
    failed: Counter[Places] = Counter()
    while deadline.left:
        most = min((c.cost for c in proven.values()), default=float("inf")) + MARGIN
        chunk = list(islice(variants, _CHUNK))
        if not chunk or chunk[0].cost > most:
            break
        open_ones = [c for c in chunk if c.places not in proven and failed[c.places] < _PROOFS]
        for variant, alive in zip(open_ones, survive(open_ones), strict=True):
            if alive and variant.places not in proven and failed[variant.places] < _PROOFS and deadline.left:
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

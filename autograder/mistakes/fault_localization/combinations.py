"""Several edits at once, for a slip that was made twice and for two that were made together: the likeliest first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, takewhile

from autograder.mistakes.edits.generator import overlap
from autograder.mistakes.fault_localization.program import Variant

__all__ = ["in_one_line", "in_two_lines", "of_promising", "repeated"]

# How many of each are worth trying: of 136 unseen answers that an edit makes right, a pair undoes five.
_REPEATED, _OF_PROMISING, _IN_ONE_LINE, _IN_TWO_LINES = 400, 1500, 1500, 2500
_SLIPS = 2500  # single edits among which those of a repeated slip are looked for
_MOST_PLACES = 4  # of one slip
_PROMISING, _LEADING, _BESIDE = 24, 8, 200
_SMALL, _PAIRED = 1.3, 400  # cost of each edit of a pair in one line, and how many are paired
_VERY_SMALL, _PAIRED_ACROSS = 1.1, 150


def repeated(ones: Sequence[Variant]) -> Iterator[Variant]:
    """The variants that make one and the same change wherever it can be made: in a line, then in the whole program.

    ``ones`` are variants of one edit, the smallest first. Who copies a line copies its slip.
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


def of_promising(promising: Sequence[Variant], ones: Sequence[Variant]) -> Iterator[Variant]:
    """The variants of two edits each of which made an answer better, and of one of these and a small one, the best first."""
    leading = promising[:_PROMISING]
    pairs = [(one, other) for i, one in enumerate(leading) for other in leading[:i]]
    pairs += [(one, other) for one in leading[:_LEADING] for other in ones[:_BESIDE]]
    found = (Variant((*one.edits, *other.edits)) for one, other in pairs if not _overlapping([one, other]))
    return islice(found, _OF_PROMISING)


def in_one_line(ones: Sequence[Variant]) -> Iterator[Variant]:
    """The variants of two small edits in one line, the smallest first."""
    return islice(_pairs(ones, _SMALL, _PAIRED, same_line=True), _IN_ONE_LINE)


def in_two_lines(ones: Sequence[Variant]) -> Iterator[Variant]:
    """The variants of two very small edits in different lines, the smallest first."""
    return islice(_pairs(ones, _VERY_SMALL, _PAIRED_ACROSS, same_line=False), _IN_TWO_LINES)


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
    """What an edit takes away and what it puts there, as far as the two differ: the same wherever that slip stands."""
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
    # Where nothing is taken away, what it is put beside counts: a step that is missing is missing there.
    return edit.kind, before or old, after, word[1] if word else ""

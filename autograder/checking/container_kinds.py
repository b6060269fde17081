"""The words ``items``, ``members`` and ``mapping`` of a contract: the kinds of lists, sets and dictionaries, and how each is drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np

from autograder.base.errors import CourseError
from autograder.checking.arguments import Argument, ChoiceArgument, NumberArgument
from autograder.checking.plain_kinds import DatesArgument, PlainArgument, Style, TextArgument, check_counts

__all__ = ["ItemsArgument", "MappingArgument", "MembersArgument", "items", "mapping", "members"]

MANY = 30  # items from which on a list, a set or a dictionary is large
ORDINARY = (3, 7)  # items of an ordinary one
NEAR = 20  # ordinary whole numbers lie within so much of 0
TRIES = 200  # of drawing another key, where there are few


@dataclass(frozen=True)
class ItemsArgument(PlainArgument):
    """A list, each of whose items ``of`` describes."""

    of: Argument = field(default_factory=Argument)
    _: KW_ONLY
    low: int = 0
    high: int = 50
    distinct: bool = False

    def styles(self, name: str) -> Iterator[Style]:
        """The kinds of it."""
        yield from _of_sizes(name, "item", self.low, self.high)
        ordered = isinstance(self.of, NumberArgument | TextArgument | DatesArgument)
        if self.high > 1 and not self.distinct:
            yield "some equal", f"equal items in {name}", lambda v: len(v) > len(_unique(v)) > 1
            yield "all equal", f"all items of {name} equal", lambda v: len(v) > 1 == len(_unique(v))
        if self.high > 2 and ordered:
            yield (
                "sorted",
                f"a {name} that is sorted already",
                lambda v: len(v) > 2 and list(v) == sorted(v) and v[0] != v[-1],
            )
            yield (
                "sorted backwards",
                f"a {name} that is sorted the other way round",
                lambda v: len(v) > 2 and list(v) == sorted(v, reverse=True) and v[0] != v[-1],
            )
        if isinstance(self.of, NumberArgument):
            if self.of.low < 0:
                yield "negative", f"only negative numbers in {name}", lambda v: len(v) > 0 and max(v) < 0
            if self.of.low <= 0 <= self.of.high:
                yield "a zero", f"a zero in {name}", lambda v: 0 in v
        elif isinstance(self.of, TextArgument | ItemsArgument) and self.of.low == 0:
            what = "text" if isinstance(self.of, TextArgument) else "list"
            yield (
                "an empty one among others",
                f"an empty {what} in {name}",
                lambda v: len(v) > 1 and any(not len(x) for x in v),
            )

    def drawn(self, style: str, rng: np.random.Generator) -> list[Any]:
        """One of a style."""
        count = _count(style, self.low, self.high, rng)
        if style in ("some equal", "all equal", "sorted", "sorted backwards", "an empty one among others"):
            count = min(self.high, max(count, 3))
        found = [_draw(self.of, rng) for _ in range(count)]
        if self.distinct:
            found = _distinct(self.of, count, rng)
        if style == "all equal":
            found = found[:1] * count
        elif style == "some equal":
            found[-1] = found[0]
        elif style in ("sorted", "sorted backwards"):
            found.sort(reverse=style != "sorted")
        elif style == "negative" and isinstance(self.of, NumberArgument):
            found = [max(-abs(x), self.of.low) for x in found or [1]]
            found = [x if x < 0 else (-1 if self.of.whole else -0.5) for x in found]
        elif style == "a zero" and found:
            found[int(rng.integers(len(found)))] = 0 if getattr(self.of, "whole", True) else 0.0
        elif style == "an empty one among others":
            found[int(rng.integers(len(found)))] = _draw(self.of, rng, "empty")
        return found


@dataclass(frozen=True)
class MembersArgument(PlainArgument):
    """A set, each of whose members ``of`` describes."""

    of: Argument = field(default_factory=Argument)
    _: KW_ONLY
    low: int = 0
    high: int = 50

    def styles(self, name: str) -> Iterator[Style]:
        """The kinds of it."""
        yield from _of_sizes(name, "member", self.low, self.high)

    def drawn(self, style: str, rng: np.random.Generator) -> set[Any]:
        """One of a style."""
        return set(_distinct(self.of, _count(style, self.low, self.high, rng), rng))


@dataclass(frozen=True)
class MappingArgument(PlainArgument):
    """A dictionary: ``keys`` describes each of its keys, ``values`` each of its values."""

    keys: Argument = field(default_factory=Argument)
    values: Argument = field(default_factory=Argument)
    _: KW_ONLY
    low: int = 0
    high: int = 50

    def styles(self, name: str) -> Iterator[Style]:
        """The kinds of it."""
        yield from _of_sizes(name, "key", self.low, self.high)
        if self.high > 1:
            yield "equal values", f"equal values in {name}", lambda v: 1 < len(v) > len(_unique(list(v.values())))

    def drawn(self, style: str, rng: np.random.Generator) -> dict[Any, Any]:
        """One of a style."""
        count = _count(style, self.low, self.high, rng)
        found = {
            key: _draw(self.values, rng) for key in _distinct(self.keys, max(count, 2 * (style == "equal values")), rng)
        }
        if style == "equal values" and found:
            found[[*found][-1]] = found[next(iter(found))]
        return found


def _of_sizes(name: str, part: str, low: int, high: int) -> Iterator[Style]:
    if low == 0:
        yield "empty", f"an empty {name}", lambda v: not len(v)
    if low <= 1 <= high:
        yield "one item", f"a {name} of one {part}", lambda v: len(v) == 1
    if high > MANY:
        yield "many", f"a {name} of more than {MANY} {part}s", lambda v: len(v) > MANY


def _count(style: str, low: int, high: int, rng: np.random.Generator) -> int:
    if style in ("empty", "one item"):
        return 0 if style == "empty" else 1
    if style == "many":
        return int(rng.integers(MANY + 1, min(high, MANY + 10) + 1))
    return int(np.clip(rng.integers(ORDINARY[0], ORDINARY[1] + 1), low, high))


def _distinct(of: Argument, count: int, rng: np.random.Generator) -> list[Any]:
    found: dict[Any, None] = {}
    for _ in range(TRIES):
        if len(found) >= count:
            break
        found[_draw(of, rng)] = None
    return list(found)


def _unique(values: Sequence[Any]) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if value not in found:
            found.append(value)
    return found


def items(
    of: Argument, *, low: int = 0, high: int = 50, distinct: bool = False, default: bool = False
) -> ItemsArgument:
    """A list of ``low`` to ``high`` items, each as ``of`` says: ``items(whole(-9, 9))``, ``items(items(text()))``."""
    check_counts("items", low, high)
    return ItemsArgument(of, low=low, high=high, distinct=distinct, default=default)


def members(of: Argument, *, low: int = 0, high: int = 50, default: bool = False) -> MembersArgument:
    """A set of ``low`` to ``high`` members, each as ``of`` says."""
    check_counts("members", low, high)
    return MembersArgument(of, low=low, high=high, default=default)


def mapping(
    keys: Argument, values: Argument, *, low: int = 0, high: int = 50, default: bool = False
) -> MappingArgument:
    """A dictionary of ``low`` to ``high`` entries: ``mapping(text(low=1), whole(0, 9))``."""
    check_counts("mapping", low, high)
    return MappingArgument(keys, values, low=low, high=high, default=default)


def _draw(argument: Argument, rng: np.random.Generator, style: str = "") -> Any:
    """An ordinary value of what a list, a set or a dictionary holds."""
    if isinstance(argument, PlainArgument):
        return argument.drawn(style, rng)
    if isinstance(argument, ChoiceArgument):
        return argument.values[int(rng.integers(len(argument.values)))]
    if isinstance(argument, NumberArgument):
        low, high = _range(argument)
        found = (
            int(rng.integers(int(low), int(high) + 1)) if argument.whole else round(float(rng.uniform(low, high)), 2)
        )
        return found if argument.low <= found <= argument.high else argument.low
    raise CourseError(
        f"A list, a set or a dictionary holds text(…), whole(…), real(…), among(…), dates(…) or such again, not {type(argument).__name__}."
    )


def _range(argument: NumberArgument) -> tuple[float, float]:
    low, high = max(argument.low, -NEAR), min(argument.high, NEAR)
    return (low, high) if low <= high else (argument.low, min(argument.high, argument.low + 2 * NEAR))

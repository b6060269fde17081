"""Arguments that are built-in values: numbers, choices, dictionaries of arguments, text, dates, lists, sets and dictionaries.

Every run of a course draws the same inputs. Reordering the calls of ``rng`` would change all of them.
"""

from __future__ import annotations

import calendar
import datetime as dt
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass

import numpy as np

from autograder.base.errors import CourseError
from autograder.base.foreign import Value
from autograder.checking.inputs.argument import Argument, BoundCall, Drawing, Path, Style

__all__ = [
    "ChoiceArgument", "DatesArgument", "GroupArgument", "ItemArgument", "ItemsArgument", "MappingArgument",
    "MembersArgument", "NumberArgument", "TextArgument", "among", "dates", "group", "items", "mapping", "members", "real",
    "text", "whole",
]  # fmt: skip

LONG_TEXT = 100  # a text with more characters counts as long
MANY = 30  # a list, set or dictionary with more items counts as large
NEAR = 20  # if their range allows it, numbers in lists are at most this far from 0
WORDS = ("to", "be", "or", "not", "the", "rose", "a", "sea", "the", "is")


@dataclass(frozen=True)
class ItemArgument(Argument):
    """An argument whose values may also be items of a list, a set or a dictionary."""

    def ordinary_item(self, rng: np.random.Generator) -> Value:
        """Return an ordinary item of a list, a set or a dictionary."""
        return self.ordinary(rng)


@dataclass(frozen=True)
class NumberArgument(ItemArgument):
    """A number from ``low`` to ``high``. It is an int if ``whole`` is set, else a float."""

    low: float
    high: float
    _: KW_ONLY
    whole: bool = False

    def styles(self, name: str) -> Iterator[Style]:
        low, large = self.low, self._middle
        near = low + 1e-9 if self.whole else low * 2 if low > 0 else low + 0.01 * (self.high - low)
        phrase = f"the smallest {name}" if self.whole else f"{name} near its smallest allowed value"
        yield Style("smallest", phrase, lambda v: v <= near, self._smallest)
        yield Style("large", f"a large {name}", lambda v: v >= large, self._large)
        if not self.whole:
            for end, limit in ("low", low), ("high", self.high):
                words = f"the {end}est possible", f"{name} = {limit:g}"
                yield Style(
                    *words, lambda v, limit=limit: v == limit, lambda _rng, limit=limit: float(limit), optional=True
                )
        elif low < 127 < self.high:
            yield Style(
                "beyond 127",
                f"{name} above 127",
                lambda v: v > 127,
                lambda rng: int(rng.integers(128, self.high + 1)),
                optional=True,
            )
        if not (self.whole and self.high - low < 2):
            yield Style("in between", f"an ordinary {name}", lambda v: low < v < large, self.ordinary)

    def fits(self, style: Style, value: Value, call: BoundCall) -> bool:
        return super().fits(style, float(value), call)

    def _smallest(self, rng: np.random.Generator) -> int | float:
        if self.whole:
            return int(self.low)
        return float(self.low * rng.uniform(1, 1.8) if self.low > 0 else self.low)

    def _large(self, rng: np.random.Generator) -> int | float:
        if self.whole:
            return int(rng.integers(math.ceil(max(self._middle, 0.5 * self.high)), int(self.high) + 1))
        if self.low > 0 and self.high > 1e9 * self.low:
            return float(10 ** rng.uniform(np.log10(self._middle), np.log10(self.high)))
        return float(rng.uniform(0.5, 1) * self.high)

    def ordinary(self, rng: np.random.Generator) -> int | float:
        """Return a whole number a little above ``low``, or a float of ordinary size."""
        low, high = self.low, self.high
        if self.whole and high <= low:
            return int(low)
        if self.whole:
            first = int(low) + 1
            return int(rng.integers(first, max(first + 1, min(int(self._middle), first + 7)) + 1))
        if low > 0:
            top = min(high, 3 if low < 3 else 2 * low)
            return float(10 ** rng.uniform(np.log10(max(low, 0.05 * min(high, 1))), np.log10(top)))
        return float(rng.uniform(low, high))

    @property
    def _middle(self) -> float:
        return math.sqrt(self.low * self.high) if self.low > 0 else self.low + 0.5 * (self.high - self.low)

    def ordinary_item(self, rng: np.random.Generator) -> int | float:
        """Return a number with at most two digits after the point, near 0 if the range allows it."""
        low, high = max(self.low, -NEAR), min(self.high, NEAR)
        if low > high:
            low, high = self.low, min(self.high, self.low + 2 * NEAR)
        drawn = int(rng.integers(int(low), int(high) + 1)) if self.whole else round(float(rng.uniform(low, high)), 2)
        return drawn if self.low <= drawn <= self.high else self.low


def whole(low: int, high: int, *, default: bool = False) -> NumberArgument:
    """Declare a whole number from ``low`` to ``high``, both included."""
    return NumberArgument(low, high, whole=True, default=default)


def real(low: float, high: float, *, default: bool = False) -> NumberArgument:
    """Declare a float from ``low`` to ``high``."""
    return NumberArgument(low, high, default=default)


@dataclass(frozen=True)
class ChoiceArgument(ItemArgument):
    """An argument that is one of a few values, such as functions that are passed as source."""

    values: tuple[Value, ...]

    def ordinary(self, rng: np.random.Generator) -> Value:
        return self.values[int(rng.integers(len(self.values)))]


def among(*values: Value, default: bool = False) -> ChoiceArgument:
    """Declare an argument that is one of ``values``."""
    return ChoiceArgument(values, default=default)


@dataclass(frozen=True)
class GroupArgument(Argument):
    """A dictionary of arguments."""

    parts: Mapping[str, Argument]

    def draw(self, drawing: Drawing, path: Path) -> dict[str, Value]:
        keys = list(self.parts)[:: drawing.rng.choice([1, -1])]  # some functions rely on the order of the keys
        return {key: self.parts[key].draw(drawing, (*path, key)) for key in keys}


def group(parts: Mapping[str, Argument]) -> GroupArgument:
    """Declare a dictionary whose values are the given arguments, by key."""
    return GroupArgument(dict(parts))


@dataclass(frozen=True)
class TextArgument(ItemArgument):
    """A text of ``low`` to ``high`` characters: ``words`` with spaces between them, or characters of an ``alphabet``.

    ``without`` names the groups of styles that are never drawn.
    """

    alphabet: str = ""
    _: KW_ONLY
    words: tuple[str, ...] = WORDS
    low: int = 0
    high: int = 300
    without: tuple[str, ...] = ()

    def styles(self, name: str) -> Iterator[Style]:
        letters = self.alphabet or "".join(self.words) or "a"

        def letter(rng: np.random.Generator) -> str:
            return letters[int(rng.integers(len(letters)))]

        if self.low == 0:
            yield Style("empty", f"an empty {name}", lambda t: not t, lambda _rng: "", exclusive=True)
        if self.low <= 1 <= self.high:
            one = f"a {name} of one character"
            yield Style("one character", one, lambda t: len(t) == 1, letter, exclusive=True)
        if self.high > LONG_TEXT:
            long = f"a {name} of more than {LONG_TEXT} characters"
            yield Style("long", long, lambda t: len(t) > LONG_TEXT, self._long)
        if self.alphabet:
            yield Style(
                "one character again and again",
                f"a {name} that repeats one character",
                lambda t: len(t) > 1 and len(set(t)) == 1,
                lambda rng: letter(rng) * int(rng.integers(2, 6)),
            )
            return
        twice = f"a {name} in which a word occurs twice"
        yield Style("a word twice", twice, lambda t: len(set(t.split())) < len(t.split()), self._word_twice)
        for group_name, style, phrase, matches, change in _CHANGES:
            if group_name not in self.without:
                yield Style(
                    style, phrase.format(name), matches, lambda rng, change=change: change(*self._some_words(rng))
                )

    def draw(self, drawing: Drawing, path: Path) -> str:
        return self._fitted(super().draw(drawing, path), drawing.rng)

    def ordinary(self, rng: np.random.Generator) -> str:
        return self._fitted(self._short(rng), rng)

    def _fitted(self, drawn: str, rng: np.random.Generator) -> str:
        """Lengthen or cut a text until its length is allowed."""
        while len(drawn) < self.low:
            drawn += self._short(rng)
        return drawn[: self.high]

    def _short(self, rng: np.random.Generator) -> str:
        return self._characters(int(rng.integers(3, 12)), rng) if self.alphabet else " ".join(self._some_words(rng))

    def _long(self, rng: np.random.Generator) -> str:
        length = int(rng.integers(LONG_TEXT + 1, LONG_TEXT + 60))
        if self.alphabet:
            return self._characters(length, rng)
        words = self._words(length // 3, rng)
        while len(" ".join(words)) <= LONG_TEXT:
            words.append(words[len(words) // 2])
        return " ".join(words)

    def _word_twice(self, rng: np.random.Generator) -> str:
        words = self._some_words(rng)
        words.insert(int(rng.integers(len(words) + 1)), words[0])
        return " ".join(words)

    def _some_words(self, rng: np.random.Generator) -> list[str]:
        return self._words(min(max(2, int(rng.integers(3, 12)) // 3), 5), rng)

    def _words(self, count: int, rng: np.random.Generator) -> list[str]:
        return [self.words[int(n)] for n in rng.integers(len(self.words), size=count)]

    def _characters(self, count: int, rng: np.random.Generator) -> str:
        return "".join(self.alphabet[int(n)] for n in rng.integers(len(self.alphabet), size=count))


def _form(form: str) -> Callable[..., str]:
    """Return a function that inserts words into the template ``form``: the ``first`` word, the ``rest``, or all as ``text``."""
    return lambda *words: form.format(first=words[0], rest=" ".join(words[1:]), text=" ".join(words))


# Styles of texts that consist of words: the group (for ``without``), name, phrase and test, and a function that makes the text from words.
_CHANGES: tuple[tuple[str, str, str, Callable[[str], bool], Callable[..., str]], ...] = (
    ("white space", "only white space", "a {} of only white space", lambda t: bool(t) and not t.strip(), _form(" \t ")),
    ("white space", "white space at the ends", "white space at the ends of {}", lambda t: bool(t.strip()) and t != t.strip(), _form("  {text} ")),
    ("white space", "several spaces", "several spaces in a row in {}", lambda t: "  " in t.strip(), _form("{first}   {rest}")),
    ("white space", "a tab", "a tab in {}", lambda t: "\t" in t.strip(), _form("{first}\t{rest}")),
    ("lines", "several lines", "a {} of several lines", lambda t: "\n" in t.strip(), _form("{first}\n{rest}\n\n{text}")),
    ("capitals", "capital letters", "capital letters in {}", lambda t: t != t.lower() and t != t.upper(), lambda *words: f"{words[0].capitalize()} {' '.join(words[1:])} {words[0]}"),
    ("capitals", "all capitals", "a {} in capital letters", lambda t: t == t.upper() and t != t.lower(), lambda *words: " ".join(words).upper()),
    ("punctuation", "punctuation", "punctuation in {}", lambda t: any(mark in t for mark in ",.!?"), _form("{first}, {rest}! {first}.")),
    ("punctuation", "apostrophes and hyphens", "an apostrophe or a hyphen inside a word of {}", lambda t: any(mark in t for mark in "'-"), _form("{first} don't {rest} well-known")),
    ("digits", "digits", "digits in {}", lambda t: any(sign.isdigit() for sign in t), _form("{first} 12 {rest} 3")),
    ("unicode", "letters beyond ASCII", "non-ASCII letters in {}", lambda t: not t.isascii(), _form("{first} naïve Straße 東京 {rest}")),
)  # fmt: skip


def text(
    alphabet: str = "",
    *,
    words: Sequence[str] = WORDS,
    low: int = 0,
    high: int = 300,
    without: Sequence[str] | str = (),
    default: bool = False,
) -> TextArgument:
    """Declare a text of ``low`` to ``high`` characters: words with spaces between them, or characters of an ``alphabet``.

    A text of words may also contain ``"white space"`` of any kind, ``"lines"``, ``"capitals"``, ``"punctuation"``,
    ``"digits"`` and ``"unicode"``, unless ``without`` names them. Raises ``CourseError`` if ``without`` has any other name.
    """
    left_out = (without,) if isinstance(without, str) else tuple(without)
    known = dict.fromkeys(change[0] for change in _CHANGES)
    if unknown := [name for name in left_out if name not in known]:
        raise CourseError(f"text(without={unknown[0]!r}): write one of {', '.join(map(repr, known))}.")
    _check_counts("text", low, high)
    return TextArgument(alphabet, words=tuple(words), low=low, high=high, without=left_out, default=default)


def _check_counts(helper: str, low: int, high: int) -> None:
    """Raise ``CourseError`` if ``low`` is negative or above ``high``."""
    if not 0 <= low <= high:
        raise CourseError(f"{helper}(low={low}, high={high}): `low` must be at least 0, and at most `high`.")


@dataclass(frozen=True)
class DatesArgument(ItemArgument):
    """A date from ``low`` to ``high``, both included."""

    low: dt.date = dt.date(1970, 1, 1)
    high: dt.date = dt.date(2040, 12, 31)

    def styles(self, name: str) -> Iterator[Style]:
        for style, phrase, matches, days in _SPECIAL_DAYS:
            if dates := list(self._dates(days)):
                yield Style(
                    style, phrase.format(name), matches, lambda rng, dates=dates: dates[int(rng.integers(len(dates)))]
                )

    def _dates(self, days: Sequence[tuple[int, int]]) -> Iterator[dt.date]:
        """Yield the allowed dates with the given pairs of month and day."""
        for year in range(self.low.year, self.high.year + 1):
            for month, day in days:
                leap = calendar.isleap(year)
                if month != 2 or (day == 29) == leap:  # of February, only the last day is drawn
                    date = dt.date(year, month, day)
                    if self.low <= date <= self.high:
                        yield date

    def ordinary(self, rng: np.random.Generator) -> dt.date:
        return self.low + dt.timedelta(days=int(rng.integers((self.high - self.low).days + 1)))


# Styles of dates: the name, phrase and test, and the months and days to draw.
_SPECIAL_DAYS: tuple[tuple[str, str, Callable[[dt.date], bool], Sequence[tuple[int, int]]], ...] = (
    ("a leap day", "a leap day as {}", lambda d: (d.month, d.day) == (2, 29), [(2, 29)]),
    ("the last day of February", "the last day of February in an ordinary year as {}", lambda d: (d.month, d.day) == (2, 28) and not calendar.isleap(d.year), [(2, 28)]),
    ("the last day of a year", "the last day of a year as {}", lambda d: (d.month, d.day) == (12, 31), [(12, 31)]),
    ("the first day of a year", "the first day of a year as {}", lambda d: (d.month, d.day) == (1, 1), [(1, 1)]),
    ("the last day of a month", "the last day of a month with 30 days as {}", lambda d: d.day == 30 and d.month in (4, 6, 9, 11), [(4, 30), (6, 30), (9, 30), (11, 30)]),
    ("a day of one digit", "a date with a one-digit day and month as {}", lambda d: d.day < 10 and d.month < 10 and (d.month, d.day) != (1, 1), [(3, 5)]),
)  # fmt: skip


def dates(
    low: dt.date = DatesArgument.low, high: dt.date = DatesArgument.high, *, default: bool = False
) -> DatesArgument:
    """Declare a date from ``low`` to ``high``, both included."""
    if not low <= high:
        raise CourseError(f"dates({low}, {high}): give the first day, then the last.")
    return DatesArgument(low, high, default=default)


@dataclass(frozen=True)
class _SizedArgument(ItemArgument):
    """A list, a set or a dictionary of ``low`` to ``high`` items."""

    _: KW_ONLY
    low: int = 0
    high: int = 50

    def filled(self, count: int, rng: np.random.Generator) -> Value:
        """Return a value with ``count`` items, or with fewer if there are not that many different items."""
        raise NotImplementedError

    def ordinary(self, rng: np.random.Generator) -> Value:
        return self.filled(self.few(rng), rng)

    def few(self, rng: np.random.Generator) -> int:
        """Return a number of items, from three to seven if that is allowed."""
        return int(np.clip(rng.integers(3, 8), self.low, self.high))

    def sizes(self, name: str, item: str) -> Iterator[Style]:
        """Yield the styles that differ in the number of items."""
        if self.low == 0:
            yield Style("empty", f"an empty {name}", lambda v: not len(v), lambda r: self.filled(0, r), exclusive=True)
        if self.low <= 1 <= self.high:
            one = f"a {name} of one {item}"
            yield Style("one item", one, lambda v: len(v) == 1, lambda rng: self.filled(1, rng), exclusive=True)
        if self.high > MANY:
            top = min(self.high, MANY + 10)
            yield Style(
                "many",
                f"a {name} of more than {MANY} {item}s",
                lambda v: len(v) > MANY,
                lambda rng: self.filled(int(rng.integers(MANY + 1, top + 1)), rng),
            )


def _distinct(of: ItemArgument, count: int, rng: np.random.Generator) -> list[Value]:
    """Return ``count`` different values, or as many as are found in 200 draws."""
    found: dict[Value, None] = {}
    for _ in range(200):
        if len(found) >= count:
            break
        found[of.ordinary_item(rng)] = None
    return list(found)


def _unique(values: Sequence[Value]) -> list[Value]:
    """Return each value once. The values need not be hashable."""
    found: list[Value] = []
    for value in values:
        if value not in found:
            found.append(value)
    return found


def _item(argument: Argument) -> ItemArgument:
    """Return ``argument`` if it can describe an item of a container. Otherwise, raise ``CourseError``."""
    if isinstance(argument, ItemArgument):
        return argument
    raise CourseError(
        f"The items of a list, a set or a dictionary must be text(…), whole(…), real(…), among(…), dates(…), items(…), members(…) or mapping(…), not {type(argument).__name__}."
    )


@dataclass(frozen=True)
class ItemsArgument(_SizedArgument):
    """A list of items that ``of`` describes. If ``distinct``, no two items are equal."""

    of: ItemArgument
    _: KW_ONLY
    distinct: bool = False

    def styles(self, name: str) -> Iterator[Style]:
        # fmt: off
        of = self.of
        yield from self.sizes(name, "item")
        if self.high > 1 and not self.distinct:
            yield Style("some equal", f"equal items in {name}",
                        lambda v: len(v) > len(_unique(v)) > 1, lambda rng: [*(drawn := self._several(rng))[:-1], drawn[0]])
            yield Style("all equal", f"all items of {name} equal",
                        lambda v: len(v) > 1 == len(_unique(v)), lambda rng: (drawn := self._several(rng))[:1] * len(drawn))
        if self.high > 2 and isinstance(of, NumberArgument | TextArgument | DatesArgument):
            yield Style("sorted", f"a {name} that is already sorted",
                        lambda v: len(v) > 2 and list(v) == sorted(v) and v[0] != v[-1], lambda rng: sorted(self._several(rng)))
            yield Style("sorted backwards", f"a {name} that is sorted backwards",
                        lambda v: len(v) > 2 and list(v) == sorted(v, reverse=True) and v[0] != v[-1], lambda rng: sorted(self._several(rng), reverse=True))
        if isinstance(of, NumberArgument):
            if of.low < 0:
                least, default = of.low, -1 if of.whole else -0.5
                yield Style("negative", f"only negative numbers in {name}", lambda v: len(v) > 0 and max(v) < 0,
                            lambda rng: [max(-abs(x), least) or default for x in self.ordinary(rng) or [1]])
            if of.low <= 0 <= of.high:
                zero = 0 if of.whole else 0.0
                yield Style("a zero", f"a zero in {name}", lambda v: 0 in v, lambda rng: _with_any(self.ordinary(rng), zero, rng))
        elif isinstance(of, TextArgument | ItemsArgument) and of.low == 0:
            what, empty = ("text", "") if isinstance(of, TextArgument) else ("list", [])
            yield Style("an empty one among others", f"an empty {what} in {name}", lambda v: len(v) > 1 and any(not len(x) for x in v),
                        lambda rng: _with_any(self._several(rng), empty, rng))
        # fmt: on

    def filled(self, count: int, rng: np.random.Generator) -> list[Value]:
        drawn = [self.of.ordinary_item(rng) for _ in range(count)]
        return _distinct(self.of, count, rng) if self.distinct else drawn

    def _several(self, rng: np.random.Generator) -> list[Value]:
        """Return a list with at least three items, if that is allowed."""
        return self.filled(min(self.high, max(self.few(rng), 3)), rng)


def _with_any(values: list[Value], value: Value, rng: np.random.Generator) -> list[Value]:
    """Replace a random item of ``values`` with ``value``."""
    if values:
        values[int(rng.integers(len(values)))] = value
    return values


def items(
    of: Argument, *, low: int = 0, high: int = 50, distinct: bool = False, default: bool = False
) -> ItemsArgument:
    """Declare a list of ``low`` to ``high`` items that ``of`` describes: ``items(whole(-9, 9))``, ``items(items(text()))``."""
    _check_counts("items", low, high)
    return ItemsArgument(_item(of), low=low, high=high, distinct=distinct, default=default)


@dataclass(frozen=True)
class MembersArgument(_SizedArgument):
    """A set of members that ``of`` describes."""

    of: ItemArgument

    def styles(self, name: str) -> Iterator[Style]:
        return self.sizes(name, "member")

    def filled(self, count: int, rng: np.random.Generator) -> set[Value]:
        return set(_distinct(self.of, count, rng))


def members(of: Argument, *, low: int = 0, high: int = 50, default: bool = False) -> MembersArgument:
    """Declare a set with ``low`` to ``high`` members, each described by ``of``."""
    _check_counts("members", low, high)
    return MembersArgument(_item(of), low=low, high=high, default=default)


@dataclass(frozen=True)
class MappingArgument(_SizedArgument):
    """A dictionary. The arguments ``keys`` and ``values`` describe its keys and values."""

    keys: ItemArgument
    values: ItemArgument

    def styles(self, name: str) -> Iterator[Style]:
        yield from self.sizes(name, "key")
        if self.high > 1:
            words = "equal values", f"equal values in {name}"
            yield Style(*words, lambda v: 1 < len(v) > len(_unique(list(v.values()))), self._equal_values)

    def filled(self, count: int, rng: np.random.Generator) -> dict[Value, Value]:
        return {key: self.values.ordinary_item(rng) for key in _distinct(self.keys, count, rng)}

    def _equal_values(self, rng: np.random.Generator) -> dict[Value, Value]:
        drawn = self.filled(max(self.few(rng), 2), rng)
        if drawn:
            drawn[[*drawn][-1]] = drawn[next(iter(drawn))]
        return drawn


def mapping(
    keys: Argument, values: Argument, *, low: int = 0, high: int = 50, default: bool = False
) -> MappingArgument:
    """Declare a dictionary of ``low`` to ``high`` entries: ``mapping(text(low=1), whole(0, 9))``."""
    _check_counts("mapping", low, high)
    return MappingArgument(_item(keys), _item(values), low=low, high=high, default=default)

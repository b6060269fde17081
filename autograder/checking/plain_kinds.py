"""The words ``text`` and ``dates`` of a contract: the kinds of texts and dates, and how each is drawn."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from autograder.base.errors import CourseError
from autograder.checking.arguments import Argument
from autograder.checking.kind import Kind, Path, styled

__all__ = ["DatesArgument", "PlainArgument", "Style", "TextArgument", "check_counts", "dates", "of_plain", "text"]

LONG_TEXT = 100  # characters from which on a text is long
WORDS = ("to", "be", "or", "not", "the", "rose", "a", "sea", "the", "is")
Style = tuple[str, str, Callable[[Any], bool]]


class PlainArgument(Argument):
    """An argument that is a plain value."""

    def styles(self, name: str) -> Iterator[Style]:
        """The kinds of it: a word, how a student reads it, and how a value of that kind is known."""
        raise NotImplementedError

    def drawn(self, style: str, rng: np.random.Generator) -> Any:
        """A value of one style; an ordinary one for "" and for a style that it has not."""
        raise NotImplementedError


def of_plain(path: Path, name: str, argument: PlainArgument) -> Iterator[Kind]:
    """The kinds of a plain value."""
    for style, phrase, test in argument.styles(name):

        def known(value: Any, _reading: Any, test: Callable[[Any], bool] = test) -> bool:
            return bool(test(value))

        yield styled(path, style, phrase, known, alone=style in {"empty", "one item", "one character"})


# texts


@dataclass(frozen=True)
class TextArgument(PlainArgument):
    """A text: of words with spaces between them, or of the characters of an ``alphabet``."""

    alphabet: str = ""
    _: KW_ONLY
    words: tuple[str, ...] = WORDS
    low: int = 0
    high: int = 300
    beside: frozenset[str] = frozenset()

    def styles(self, name: str) -> Iterator[Style]:
        """The kinds of it."""
        if self.low == 0:
            yield "empty", f"an empty {name}", lambda t: not t
        if self.low <= 1 <= self.high:
            yield "one character", f"a {name} of one character", lambda t: len(t) == 1
        if self.high > LONG_TEXT:
            yield "long", f"a {name} of more than {LONG_TEXT} characters", lambda t: len(t) > LONG_TEXT
        if self.alphabet:
            yield (
                "one character again and again",
                f"a {name} of one and the same character",
                lambda t: len(t) > 1 and len(set(t)) == 1,
            )
            return
        yield "a word twice", f"a {name} in which a word comes twice", lambda t: len(set(t.split())) < len(t.split())
        yield from ((style, phrase.format(name), test) for style, phrase, test in _BESIDE if style in self.beside)

    def drawn(self, style: str, rng: np.random.Generator) -> str:
        """One of a style."""
        found = self._drawn(style, rng)
        while len(found) < self.low:
            found += self._drawn("", rng)
        return found[: self.high]

    def _drawn(self, style: str, rng: np.random.Generator) -> str:
        if style == "empty":
            return ""
        letters = self.alphabet or "".join(self.words) or "a"
        if style in ("one character", "one character again and again"):
            return letters[int(rng.integers(len(letters)))] * (
                1 if style == "one character" else int(rng.integers(2, 6))
            )
        length = int(rng.integers(LONG_TEXT + 1, LONG_TEXT + 60)) if style == "long" else int(rng.integers(3, 12))
        if self.alphabet:
            return "".join(letters[int(n)] for n in rng.integers(len(letters), size=length))
        count = max(2, length // 3)
        words = [
            self.words[int(n)] for n in rng.integers(len(self.words), size=count if style == "long" else min(count, 5))
        ]
        if style == "a word twice":
            words.insert(int(rng.integers(len(words) + 1)), words[0])
        while style == "long" and len(" ".join(words)) <= LONG_TEXT:
            words.append(words[len(words) // 2])
        return _changed(" ".join(words), words, style)


def _changed(text: str, words: Sequence[str], style: str) -> str:
    """A text with what ``style`` says in it."""
    first, rest = words[0], " ".join(words[1:])
    forms = {
        "only white space": " \t ", "white space at the ends": f"  {text} ", "several spaces": f"{first}   {rest}",
        "a tab": f"{first}\t{rest}", "capital letters": f"{first.capitalize()} {rest} {first}", "all capitals": text.upper(),
        "punctuation": f"{first}, {rest}! {first}.", "digits": f"{first} 12 {rest} 3", "several lines": f"{first}\n{rest}\n\n{text}",
        "letters beyond ASCII": f"{first} naïve Straße 東京 {rest}", "apostrophes and hyphens": f"{first} don't {rest} well-known",
    }  # fmt: skip
    return forms.get(style, text)


_BESIDE: tuple[Style, ...] = (
    ("only white space", "a {} of nothing but white space", lambda t: bool(t) and not t.strip()),
    ("white space at the ends", "white space at the ends of {}", lambda t: bool(t.strip()) and t != t.strip()),
    ("several spaces", "several spaces in a row in {}", lambda t: "  " in t.strip()),
    ("a tab", "a tab in {}", lambda t: "\t" in t.strip()),
    ("several lines", "a {} of several lines", lambda t: "\n" in t.strip()),
    ("capital letters", "capital letters in {}", lambda t: t != t.lower() and t != t.upper()),
    ("all capitals", "a {} in capital letters", lambda t: t == t.upper() and t != t.lower()),
    ("punctuation", "punctuation in {}", lambda t: any(mark in t for mark in ",.!?")),
    ("apostrophes and hyphens", "an apostrophe or a hyphen inside a word of {}", lambda t: any(mark in t for mark in "'-")),
    ("digits", "digits in {}", lambda t: any(sign.isdigit() for sign in t)),
    ("letters beyond ASCII", "letters beyond ASCII in {}", lambda t: not t.isascii()),
)  # fmt: skip
_SETS = {
    "white space": ("only white space", "white space at the ends", "several spaces", "a tab"),
    "lines": ("several lines",),
    "capitals": ("capital letters", "all capitals"),
    "punctuation": ("punctuation", "apostrophes and hyphens"),
    "digits": ("digits",),
    "unicode": ("letters beyond ASCII",),
}


def text(
    alphabet: str = "",
    *,
    words: Sequence[str] = WORDS,
    low: int = 0,
    high: int = 300,
    without: Sequence[str] | str = (),
    default: bool = False,
) -> TextArgument:
    """A text of ``low`` to ``high`` characters: words with a space between them, or characters of an ``alphabet``.

    Of a text of words it also follows that there may be ``"white space"`` of any kind, ``"lines"``, ``"capitals"``,
    ``"punctuation"``, ``"digits"`` and ``"unicode"``, unless it is ``without`` them.
    """
    left_out = (without,) if isinstance(without, str) else tuple(without)
    if unknown := [name for name in left_out if name not in _SETS]:
        raise CourseError(f"text(without={unknown[0]!r}): a text may be without {', '.join(map(repr, _SETS))}.")
    check_counts("text", low, high)
    beside = frozenset(style for name, styles in _SETS.items() if name not in left_out for style in styles)
    return TextArgument(alphabet, words=tuple(words), low=low, high=high, beside=beside, default=default)


def check_counts(word: str, low: int, high: int) -> None:
    """Raise ``CourseError`` where the smallest size is not the first of the two."""
    if not 0 <= low <= high:
        raise CourseError(f"{word}(low={low}, high={high}): give the smallest size, and then the largest.")


# dates


@dataclass(frozen=True)
class DatesArgument(PlainArgument):
    """A date between two."""

    low: dt.date = dt.date(1970, 1, 1)
    high: dt.date = dt.date(2040, 12, 31)

    def styles(self, name: str) -> Iterator[Style]:
        """The kinds of it."""
        for style, phrase, test in _DAYS:
            if any(test(day) for day in self._special(style)):
                yield style, phrase.format(name), test

    def _special(self, style: str) -> list[dt.date]:
        days = {
            "a leap day": [dt.date(y, 2, 29) for y in range(self.low.year, self.high.year + 1) if _is_leap(y)],
            "the last day of February": [
                dt.date(y, 2, 28) for y in range(self.low.year, self.high.year + 1) if not _is_leap(y)
            ],
            "the last day of a year": [dt.date(y, 12, 31) for y in range(self.low.year, self.high.year + 1)],
            "the first day of a year": [dt.date(y, 1, 1) for y in range(self.low.year, self.high.year + 1)],
            "the last day of a month": [
                dt.date(y, m, 30) for y in range(self.low.year, self.high.year + 1) for m in (4, 6, 9, 11)
            ],
            "a day of one digit": [dt.date(y, 3, 5) for y in range(self.low.year, self.high.year + 1)],
        }
        return [day for day in days[style] if self.low <= day <= self.high]

    def drawn(self, style: str, rng: np.random.Generator) -> dt.date:
        """One of a style."""
        days = self._special(style) if style else []
        if days:
            return days[int(rng.integers(len(days)))]
        return self.low + dt.timedelta(days=int(rng.integers((self.high - self.low).days + 1)))


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


_DAYS: tuple[Style, ...] = (
    ("a leap day", "a leap day as {}", lambda d: (d.month, d.day) == (2, 29)),
    ("the last day of February", "the last day of February in an ordinary year as {}", lambda d: (d.month, d.day) == (2, 28) and not _is_leap(d.year)),
    ("the last day of a year", "the last day of a year as {}", lambda d: (d.month, d.day) == (12, 31)),
    ("the first day of a year", "the first day of a year as {}", lambda d: (d.month, d.day) == (1, 1)),
    ("the last day of a month", "the last day of a month of 30 days as {}", lambda d: d.day == 30 and d.month in (4, 6, 9, 11)),
    ("a day of one digit", "a day and a month of one digit as {}", lambda d: d.day < 10 and d.month < 10 and (d.month, d.day) != (1, 1)),
)  # fmt: skip


def dates(
    low: dt.date = DatesArgument.low, high: dt.date = DatesArgument.high, *, default: bool = False
) -> DatesArgument:
    """A date from ``low`` to ``high``, both included."""
    if not low <= high:
        raise CourseError(f"dates({low}, {high}): give the first day, and then the last.")
    return DatesArgument(low, high, default=default)

"""What is wrong with an error that should be raised, and with what a call prints.

NumPy and the standard library only: a student's own machine runs this too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograder.checking.arrays import show
from autograder.checking.compare import Finding
from autograder.checking.plain_sentences import text_difference
from autograder.checking.plain_text import source
from autograder.sanitize import shorten

__all__ = ["lines_of", "prints_lines", "should_raise"]

MAX_SHOWN = 200  # characters of a value or of an error's text in a sentence


def should_raise(actual: Any, *, errors: Sequence[str], says: str = "") -> Finding | None:
    """Whether a call ended with one of these errors: ``{"raised": name}``, or ``{"gave": value}`` where it did not."""
    how = actual if isinstance(actual, dict) else {}
    wanted = " or ".join(errors)
    if not isinstance(how.get("raised"), str):
        gave = shorten(show(how.get("gave")), MAX_SHOWN)
        instead = "it returned None" if how.get("gave") is None else f"it returned {gave}"
        return Finding(f"It should raise {_a(wanted)}; instead {instead}.", "values")
    text = how.get("text")
    if not isinstance(text, str) or not says:
        return None
    said = f"its text is {source(shorten(text, MAX_SHOWN))}" if text else "it has no text"
    return Finding(f"It should raise {_a(wanted)} whose text has {source(says)} in it; {said}.", "values")


def prints_lines(actual: Any, *, right: str, exactly: bool = False) -> Finding | None:
    """Whether a call printed ``right``, line by line: ``{"printed": text}``, with ``"gave"`` where it returned a text instead."""
    how = actual if isinstance(actual, dict) else {}
    printed = how.get("printed")
    own, lines = (
        lines_of(printed if isinstance(printed, str) else "", exactly=exactly),
        lines_of(right, exactly=exactly),
    )
    if own == lines:
        return None
    if not own:
        gave = how.get("gave")
        instead = (
            f" It returns {source(shorten(gave, MAX_SHOWN))} instead, which shows nothing: `print` it."
            if isinstance(gave, str)
            else ""
        )
        count = (
            f"{_word(lines[0])} is right"
            if len(lines) == 1
            else f"{len(lines)} lines are right, of which the first is {_word(lines[0])}"
        )
        return Finding(f"It prints nothing, where {count}.{instead}", "none")
    if not lines:
        return Finding(f"It prints {_word(own[0])}, where nothing should be printed.", "values")
    place = next((i for i, (a, b) in enumerate(zip(own, lines, strict=False)) if a != b), None)
    if place is not None:
        at = f" in line {place + 1}" if max(len(own), len(lines)) > 1 else ""
        left, should, hint = text_difference(own[place], lines[place])
        return Finding(f"It prints {left}{at} where {should} is right{hint}.", "values")
    place = min(len(own), len(lines))
    counts = f"It prints {_lines(len(own))} where {len(lines)} {'is' if len(lines) == 1 else 'are'} right"
    longer, what = (lines, "is missing") if len(own) < len(lines) else (own, "is too many")
    return Finding(f"{counts}: line {place + 1}, {_word(longer[place])}, {what}.", "length")


def lines_of(text: str, *, exactly: bool) -> list[str]:
    """The lines of what was printed, each with its end where that counts too."""
    if exactly:
        return text.splitlines(keepends=True)
    lines = [line.rstrip() for line in text.splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _lines(count: int) -> str:
    return f"{count:,} line{'' if count == 1 else 's'}"


def _word(line: str) -> str:
    return source(shorten(line, MAX_SHOWN))


def _a(noun: str) -> str:
    return f"{'an' if noun[:1] in 'AEIOU' else 'a'} {noun}"

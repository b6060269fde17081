"""What stands in a cell of a CSV file: numbers as every system reads them, and texts in which no spreadsheet finds a formula."""

from __future__ import annotations

import re

from autograder.sanitize import sanitize

__all__ = ["amount", "defused"]

# What makes a spreadsheet calculate: also in the wide letters that some of them take for the same, and behind spaces.
_FORMULA = re.compile(r"\s*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?\Z")


def amount(value: float) -> str:
    """A number of points, with a point for its decimals and no more of them than it needs: ``4.5``."""
    return f"{value:.6f}".rstrip("0").rstrip(".")


def defused(text: str) -> str:
    """A text for a cell: an apostrophe stands before one that a spreadsheet would take for a formula; numbers stay as they are."""
    text = sanitize(text)
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.match(text) else text

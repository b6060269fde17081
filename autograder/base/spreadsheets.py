"""CSV files as people and systems save them, and what stands in their cells: numbers as every system reads them, texts without formulas."""

from __future__ import annotations

import codecs
import csv
import io
import re
from dataclasses import dataclass
from pathlib import Path

from autograder.base.errors import CourseError
from autograder.base.sanitize import sanitize

__all__ = ["Sheet", "Table", "escape_formula", "format_points", "read_sheet", "sheet_bytes"]

Table = list[list[str]]

_BOM = "\ufeff"
_MAX_BYTES = 64 << 20
# What makes a spreadsheet calculate: also in the wide letters that some of them take for the same, and behind spaces.
_FORMULA = re.compile(r"\s*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?\Z")


def format_points(value: float) -> str:
    """A number of points, with a point for its decimals and no more of them than it needs: ``4.5``."""
    return f"{value:.6f}".rstrip("0").rstrip(".")


def escape_formula(text: str) -> str:
    """A text for a cell: an apostrophe stands before one that a spreadsheet would take for a formula; numbers stay as they are."""
    text = sanitize(text)
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.match(text) else text


@dataclass(frozen=True)
class Sheet:
    """The rows of a CSV file, and how it is written: with what between its cells, and at its beginning and line ends."""

    rows: Table
    delimiter: str = ","
    bom: bool = False
    newline: str = "\n"


def read_sheet(path: Path, *, windows: bool = False) -> Sheet:
    """The CSV file ``path``, empty rows included; ``windows`` allows one in the encoding that a spreadsheet saves there.

    Raises ``CourseError`` where it cannot be read, or is none.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror or error}.") from error
    if len(data) > _MAX_BYTES:
        raise CourseError(f"{path} is larger than any class list ({_MAX_BYTES >> 20} MB).")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        if not windows:
            raise CourseError(
                f"{path} is not UTF-8 text. Download it once more as CSV, and do not save it from a spreadsheet, or save it there as "
                "“CSV UTF-8”."
            ) from error
        # Excel's “Unicode Text” has a mark of its own at the beginning, Windows' other files have none.
        utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        text = data.decode("utf-16" if utf16 else "cp1252", "replace")
    bom, text = text.startswith(_BOM), text.removeprefix(_BOM)
    head = text.partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    try:
        # Strict, as a quote that is never closed would make one cell of all that follows.
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise CourseError(f"{path} is no CSV file: {error}.") from error
    return Sheet(rows, delimiter, bom, "\r\n" if head.endswith("\r") else "\n")


def sheet_bytes(sheet: Sheet) -> bytes:
    """The CSV file with these rows."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=sheet.delimiter, lineterminator=sheet.newline).writerows(sheet.rows)
    return ((_BOM if sheet.bom else "") + text.getvalue()).encode("utf-8", "replace")

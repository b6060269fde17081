"""Read and write CSV files, with numbers in a form that every system reads and without formulas."""

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
# Characters that start a formula, including their full-width forms and after leading spaces.
_FORMULA = re.compile(r"\s*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?\Z")


def format_points(value: float) -> str:
    """Return a number of points with a decimal point and without trailing zeros: ``4.5``."""
    return f"{value:.6f}".rstrip("0").rstrip(".")


def escape_formula(text: str) -> str:
    """Return text for a cell, with an apostrophe in front if a spreadsheet would read it as a formula. Numbers are not changed."""
    text = sanitize(text)
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.match(text) else text


@dataclass(frozen=True)
class Sheet:
    """The rows of a CSV file, with its delimiter, byte order mark and line ends."""

    rows: Table
    delimiter: str = ","
    bom: bool = False
    newline: str = "\n"


def read_sheet(path: Path, *, windows: bool = False) -> Sheet:
    """Return the CSV file at ``path``, including empty rows. ``windows`` also allows the encodings of spreadsheets on Windows.

    Raises ``CourseError`` if the file cannot be read or is not a CSV file.
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
                f"{path} is not UTF-8 text. Download it again as CSV without saving it in a spreadsheet program, or save it there as "
                "“CSV UTF-8”."
            ) from error
        # Excel's “Unicode Text” starts with a byte order mark. Other Windows files do not.
        utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        text = data.decode("utf-16" if utf16 else "cp1252", "replace")
    bom, text = text.startswith(_BOM), text.removeprefix(_BOM)
    head = text.partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    try:
        # Strict, because an unclosed quote would turn the rest of the file into one cell.
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise CourseError(f"{path} is not a CSV file: {error}.") from error
    return Sheet(rows, delimiter, bom, "\r\n" if head.endswith("\r") else "\n")


def sheet_bytes(sheet: Sheet) -> bytes:
    """Return the CSV file as bytes."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=sheet.delimiter, lineterminator=sheet.newline).writerows(sheet.rows)
    return ((_BOM if sheet.bom else "") + text.getvalue()).encode("utf-8", "replace")

"""Read CSV files."""

from __future__ import annotations

import codecs
import csv
import io
from dataclasses import dataclass
from pathlib import Path

from autograder.base.errors import CourseError

__all__ = ["BOM", "Sheet", "Table", "read_sheet"]

Table = list[list[str]]

BOM = "\ufeff"
_MAX_BYTES = 64 << 20


@dataclass(frozen=True)
class Sheet:
    """The rows of a CSV file, with its delimiter, byte order mark and line ends."""

    rows: Table
    delimiter: str = ","
    bom: bool = False
    newline: str = "\n"


def read_sheet(path: Path, *, windows: bool = False) -> Sheet:
    """Return the CSV file at ``path``, including empty rows. If ``windows``, also accept the encodings of Windows spreadsheets.

    Raises ``CourseError`` if the file cannot be read or is not a CSV file.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror or error}.") from error
    if len(data) > _MAX_BYTES:
        raise CourseError(f"{path} is larger than {_MAX_BYTES >> 20} MB, so it cannot be a class list.")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        if not windows:
            raise CourseError(
                f"{path} is not UTF-8 text. Download it again as CSV and do not open it in a spreadsheet program, or save it from "
                "that program as “CSV UTF-8”."
            ) from error
        # Excel's “Unicode Text” starts with a byte order mark. Other Windows files do not.
        utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        text = data.decode("utf-16" if utf16 else "cp1252", "replace")
    bom, text = text.startswith(BOM), text.removeprefix(BOM)
    head = text.partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    try:
        # Strict, because an unclosed quote would turn the rest of the file into one cell.
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise CourseError(f"{path} is not a CSV file: {error}.") from error
    return Sheet(rows, delimiter, bom, "\r\n" if head.endswith("\r") else "\n")

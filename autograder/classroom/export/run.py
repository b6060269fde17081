"""An export from beginning to end: a gradebook, a format, perhaps a downloaded file, and a file that is written whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.base.errors import CourseError
from autograder.base.files import write_atomically
from autograder.base.formatting import pluralize
from autograder.base.spreadsheets import Sheet, sheet_bytes
from autograder.classroom.export.formats import FORMATS
from autograder.classroom.export.gradebook import BLANK, ClassMarks, Policy, read_class
from autograder.classroom.export.roster import KEYS, merged, read_roster

__all__ = ["Export", "export_marks"]


@dataclass(frozen=True, slots=True)
class Export:
    """A file that was made: its bytes, and sentences on what a person should know of it."""

    data: bytes
    remarks: tuple[str, ...]


def export_marks(
    url: str,
    to: str,
    chapters: Sequence[str] = (),
    *,
    students: Sequence[str] = (),
    policy: Policy = BLANK,
    roster: Path | None = None,
    columns: Mapping[str, str] | None = None,
    bom: bool = False,
    output: Path | None = None,
) -> Export:
    """The marks in the gradebook at ``url`` as ``to`` ("canvas", "moodle", "csv") takes them, written to ``output`` if it is given.

    ``roster`` is a file downloaded from there, whose rows and columns are kept; ``columns`` then says which is whose. Raises
    ``CourseError`` or ``GradebookError``, and writes nothing, where marks could get to the wrong student.
    """
    if roster is not None and to not in KEYS:
        raise CourseError(
            f"--roster merges marks into a file downloaded from {' or '.join(KEYS)}; an export to {to} has none."
        )
    if columns and roster is None:
        raise CourseError(
            "--column names a column of a downloaded file, and none was given: name it with --roster FILE."
        )
    if roster is not None and output is not None and output.exists() and roster.exists() and output.samefile(roster):
        raise CourseError(
            f"{output} is the file that was downloaded. Name another one with --output, so that it stays as it is."
        )
    found = read_class(url, chapters, students, policy)
    if roster is None:
        remarks: tuple[str, ...] = ()
        data = sheet_bytes(Sheet(FORMATS[to](found), bom=bom, newline="\r\n"))
    else:
        downloaded = read_roster(roster)
        done = merged(found, downloaded, to, columns)
        remarks, data = done.remarks, sheet_bytes(replace(downloaded, rows=done.rows, bom=downloaded.bom or bom))
    if output is not None:
        write_atomically(output, data)
    return Export(data, (*_of_waiting(found), *remarks))


def _of_waiting(found: ClassMarks) -> list[str]:
    waiting = found.waiting()
    if not waiting:
        return []
    shown = ", ".join(f"{student} ({chapter})" for chapter, student in waiting[:5])
    more = f" and {len(waiting) - 5} more" if len(waiting) > 5 else ""
    how = "sent as far as they go" if found.policy.partial else "left blank, which is no zero"
    verb = "waits" if len(waiting) == 1 else "wait"
    return [
        f"{pluralize(len(waiting), 'mark')} {verb} for a person and {'is' if len(waiting) == 1 else 'are'} {how}: {shown}{more}."
    ]

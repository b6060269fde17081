"""Put marks into a file downloaded from Canvas or Moodle. Its rows and columns stay, and rows are matched by ids."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.base.errors import CourseError
from autograder.base.formatting import number, pluralize
from autograder.base.spreadsheets import Sheet, Table, read_sheet
from autograder.classroom.gradebook.people import Person
from autograder.extras.export.gradebook import (
    POINTS_POSSIBLE,
    ClassMarks,
    escape_formula,
    feedback_text,
    format_points,
    shown,
)

__all__ = ["Merged", "Roster", "merged", "read_roster"]

_MAX_NAMES = 5
Ids = Callable[[Person], list[str]]
# By what a student may be found in each column, the surest first.
_CANVAS: Mapping[str, Ids] = {
    "ID": lambda s: [s.lms_user_id],
    "SIS User ID": lambda s: [s.lms_user_id, s.id],
    "Integration ID": lambda s: [s.lms_user_id, s.id],
    "SIS Login ID": lambda s: [s.id, s.email],
}
_MOODLE: Mapping[str, Ids] = {
    "Identifier": lambda s: [s.lms_user_id, f"Participant {s.lms_user_id}" if s.lms_user_id else ""],
    "ID number": lambda s: [s.lms_user_id, s.id],
    "Username": lambda s: [s.id],
    "Email address": lambda s: [s.email],
}
KEYS = {"canvas": _CANVAS, "moodle": _MOODLE}
NAMES = {"Student", "Full name", "First name", "Last name", "Surname"}
_EXTRA = re.compile(r"\s*\([^()]*\)\s*\Z")  # " (4711)" in Canvas, " (Real)" in Moodle


@dataclass(frozen=True)
class Roster(Sheet):
    """A downloaded file as a table. ``path`` is its location."""

    path: Path = Path()


@dataclass(frozen=True)
class Merged:
    """The file with the marks, and remarks on what did not match."""

    rows: Table
    remarks: tuple[str, ...] = field(default=())


def read_roster(path: Path) -> Roster:
    """Read the CSV file ``path`` without its empty rows. Raises ``CourseError`` if it is not a CSV file."""
    try:
        sheet = read_sheet(path)
    except CourseError as error:
        raise CourseError(f"{error} Nothing was written.") from error
    rows = [row for row in sheet.rows if row]
    if not rows:
        raise CourseError(f"{path} is empty. Nothing was written.")
    return Roster(rows, sheet.delimiter, sheet.bom, sheet.newline, path)


def merged(found: ClassMarks, roster: Roster, to: str, columns: Mapping[str, str] | None = None) -> Merged:
    """Return ``roster`` with the marks of ``found`` in its rows.

    ``columns`` gives the column of a chapter. By default that is the column with the chapter's name, with or without the number that the
    system adds. If there is no mark to export, the cell does not change. Raises ``CourseError`` if the file does not come from ``to``
    ("canvas", "moodle"), or if two rows or two students have the same id.
    """
    head = [cell.strip() for cell in roster.rows[0]]
    keys = [name for name in KEYS[to] if name in head]
    _require_columns(roster, head, keys, to)
    body = [row + [""] * (len(head) - len(row)) for row in roster.rows[1:]]
    ids = [head.index(name) for name in keys]
    rows = {index: row for index, row in enumerate(body) if to != "canvas" or not _is_about_columns(row, ids)}
    whose = _matched(found, roster, rows, head, to)
    table = [list(roster.rows[0]), *(list(row) for row in body)]
    remarks = []
    for chapter in found.chapters:
        remarks += _fill(table, found, chapter, whose, to, (columns or {}).get(chapter))
    for column in (index for index, name in enumerate(head) if name in NAMES):
        for index in rows:
            table[index + 1][column] = escape_formula(table[index + 1][column])
    remarks += _left_out(found, roster, rows, whose, head)
    return Merged(table, tuple(remarks))


def _require_columns(roster: Roster, head: Sequence[str], keys: Sequence[str], to: str) -> None:
    missing = [name for name in ("Student", "ID") if name not in head] if to == "canvas" else []
    if not missing and keys:
        return
    what = "gradebook downloaded from Canvas" if to == "canvas" else "worksheet or grades file downloaded from Moodle"
    named = " or ".join(f"“{name}”" for name in missing)
    lacks = f"no column {named}" if missing else f"none of the columns {', '.join(KEYS[to])}"
    shown_head = ", ".join(escape_formula(name) for name in head[:8]) + (", …" if len(head) > 8 else "")
    raise CourseError(
        f"{roster.path} is not a {what}: it has {lacks}. Its columns are: {shown_head}. Nothing was written."
    )


def _is_about_columns(row: Sequence[str], ids: Sequence[int]) -> bool:
    """Return whether a row of a Canvas file is not about a student: points possible, or how a column is posted.

    A student without a name has an id in one of the columns ``ids``.
    """
    return row[0].strip().startswith("Points Possible") or not (row[0].strip() or any(row[at].strip() for at in ids))


def _matched(
    found: ClassMarks, roster: Roster, rows: Mapping[int, Sequence[str]], head: Sequence[str], to: str
) -> dict[int, Person]:
    """Return the student of each row, matched by the most reliable id."""
    whose: dict[int, Person] = {}
    taken: dict[str, int] = {}
    for name, ids in KEYS[to].items():
        if name not in head:
            continue
        at = head.index(name)
        by_id: dict[str, list[int]] = defaultdict(list)
        for index, row in rows.items():
            if row[at].strip():
                by_id[row[at].strip().casefold()].append(index)
        for value, indices in by_id.items():
            if len(indices) > 1:
                lines = " and ".join(str(index + 2) for index in indices[:2])
                raise CourseError(
                    f"Rows {lines} of {roster.path} have the same {name}, {value!r}, so it is unclear whose mark is whose. "
                    "Nothing was written. Download the file again."
                )
        for student in found.students:
            for value in filter(None, ids(student)):
                [index] = by_id.get(value.strip().casefold(), [-1])
                if index < 0 or student.id in taken:
                    continue
                if index in whose:
                    raise CourseError(
                        f"{whose[index].id} and {student.id} of the gradebook both fit row {index + 2} of {roster.path}. Nothing was written. "
                        "Give each their own LMS id (`nbgrader db student add ID --lms-user-id=…` changes it)."
                    )
                whose[index], taken[student.id] = student, index
    return whose


def _fill(
    table: Table, found: ClassMarks, chapter: str, whose: Mapping[int, Person], to: str, column: str | None
) -> list[str]:
    """Put a chapter's marks into its column, which is added if it is missing. Return remarks for the instructor."""
    head, remarks = table[0], []
    at = _column_of(head, chapter, to, column, alone=len(found.chapters) == 1)
    if at is None:
        at = len(head)
        head.append(column or chapter)
        for row in table[1:]:
            row.append("")
        where = "a new assignment" if to == "canvas" else "a new column"
        remarks.append(
            f"The file has no column for {chapter}, so {where} {column or chapter} was added at its end. If an existing column is the right one, "
            f"name it: --column {chapter}=NAME."
        )
    about = _feedback_column(head, at) if to == "moodle" else None
    for index, student in whose.items():
        score = found.score(chapter, student.id)
        if score is not None:
            table[index + 1][at] = shown(score)
            if about is not None and (marks := found.of(chapter, student.id)):
                table[index + 1][about] = escape_formula(feedback_text(marks))
    if to == "canvas":
        remarks += _points_possible(table, at, found.worth[chapter], chapter)
    return remarks


def _column_of(head: Sequence[str], chapter: str, to: str, column: str | None, *, alone: bool) -> int | None:
    wanted = (column or chapter).strip().casefold()
    for index, name in enumerate(head):
        plain = name.strip().casefold()
        short = _EXTRA.sub("", plain).rpartition(": ")[2]  # Moodle writes "Assignment: ch1 (Real)"
        if wanted in {plain, _EXTRA.sub("", plain), short} and "(feedback)" not in plain:
            return index
    if to == "moodle" and column is None and alone and "Identifier" in [name.strip() for name in head]:
        names = [name.strip() for name in head]
        return names.index("Grade") if "Grade" in names else None
    if column is not None:
        raise CourseError(f"The file has no column {column!r} for {chapter}. Its columns are: {', '.join(head)}.")
    return None


def _feedback_column(head: Sequence[str], at: int) -> int | None:
    names = [name.strip() for name in head]
    if names[at] == "Grade":
        return names.index("Feedback comments") if "Feedback comments" in names else None
    wanted = _EXTRA.sub("", names[at]) + " (Feedback)"
    return names.index(wanted) if wanted in names else None


def _points_possible(table: Table, at: int, worth: float, chapter: str) -> list[str]:
    """Fill in the points of a new assignment. For an old one, report different points in Canvas."""
    row = next((row for row in table[1:] if row[0].strip().startswith("Points Possible")), None)
    if row is None:
        table.insert(1, [POINTS_POSSIBLE, *[""] * (len(table[0]) - 1)])
        row = table[1]
    if not row[at].strip():
        row[at] = format_points(worth)
        return []
    try:
        differs = abs(float(row[at].replace(",", ".")) - worth) > 1e-9
    except ValueError:  # "(read only)"
        differs = False
    if not differs:
        return []
    return [
        f"{chapter} is worth {number(worth)} in the gradebook and {row[at].strip()} in Canvas. Marks are exported unchanged."
    ]


def _left_out(
    found: ClassMarks,
    roster: Roster,
    rows: Mapping[int, Sequence[str]],
    whose: Mapping[int, Person],
    head: Sequence[str],
) -> Iterable[str]:
    there = {student.id for student in whose.values()}
    lost = [s.id for s in found.students if s.id not in there and any(found.of(c, s.id) for c in found.chapters)]
    if lost:
        yield (
            f"{pluralize(len(lost), 'student')} with marks {'has' if len(lost) == 1 else 'have'} no row in {roster.path.name}: {_few(lost)}. "
            "Rows are matched by each student's LMS id, id and address in the gradebook."
        )
    name = next((index for index, cell in enumerate(head) if cell in NAMES), 0)
    unknown = [rows[i][name].strip() for i in rows if i not in whose and rows[i][name].strip() != "Student, Test"]
    if unknown:
        yield f"{pluralize(len(unknown), 'row')} of {roster.path.name} {'matches' if len(unknown) == 1 else 'match'} no student in the gradebook: {_few(unknown)}."


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return ", ".join(map(escape_formula, names[:_MAX_NAMES])) + more

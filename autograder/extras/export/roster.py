"""Put marks into a file downloaded from Canvas or Moodle. Its rows and columns are kept. Ids show which row belongs to which student."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

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

__all__ = [
    "Ids",
    "Merged",
    "Roster",
    "Scale",
    "WorksheetError",
    "layout_of",
    "matched",
    "merged",
    "read_roster",
    "scale_of",
]

_MAX_NAMES = 5
Ids = Callable[[Person], list[str]]
Scale = Literal["", "scale", "as-is"]  # with "", different maximum points are an error
# For each column, the values that may identify a student. The most reliable column comes first.
_CANVAS: Mapping[str, Ids] = {
    "ID": lambda s: [s.lms_user_id],
    "SIS User ID": lambda s: [s.lms_user_id, s.id],
    "Integration ID": lambda s: [s.lms_user_id, s.id],
    "SIS Login ID": lambda s: [s.id, s.email],
}
# "Identifier" is left out: Moodle renumbers participants in each assignment, so a number may equal another student's id.
_MOODLE: Mapping[str, Ids] = {
    "ID number": lambda s: [s.lms_user_id, s.id],
    "Username": lambda s: [s.id],
    "Email address": lambda s: [s.email],
}
KEYS = {"canvas": _CANVAS, "moodle": _MOODLE}
NAMES = {"Student", "Full name", "First name", "Last name", "Surname"}
_EXTRA = re.compile(r"\s*\([^()]*\)\s*\Z")  # " (4711)" in Canvas, " (Real)" in Moodle
_CHANGEABLE, _WORTH, _COMMENTS = "Grade can be changed", "Maximum grade", "Feedback comments"
_WORKSHEET = ("Identifier", "Full name", *_MOODLE, "Grade", _WORTH, _CHANGEABLE, _COMMENTS)
# Moodle writes "yes" and "no" in the language of the person who downloads the file.
_YES = {
    "yes",
    "ja",
    "oui",
    "sí",
    "si",
    "sì",
    "sim",
    "da",
    "да",
    "так",
    "tak",
    "ano",
    "áno",
    "igen",
    "kyllä",
    "jah",
    "evet",
    "ναι",
}
_YES |= {"taip", "jā", "bai", "jes", "já", "はい", "是", "예", "نعم", "כן"}
_NO = {
    "no",
    "nein",
    "nee",
    "non",
    "não",
    "nu",
    "ne",
    "не",
    "нет",
    "ні",
    "nie",
    "nem",
    "ei",
    "hayır",
    "όχι",
    "nej",
    "nei",
}
_NO |= {"nē", "ez", "いいえ", "否", "아니오", "아니요", "لا", "לא"}
# "Feedback comments" in the languages of known worksheets. In other languages, only the grades are written.
_COMMENT_HEADS = {
    "feedback als kommentar",
    "commentaires de feedback",
    "comentarios de retroalimentación",
    "feedback commenti",
}


class WorksheetError(CourseError):
    """Raised if a file from Moodle cannot be filled in safely. The command then ends with status 1 and writes nothing."""

    status = 1


@dataclass(frozen=True)
class Roster(Sheet):
    """A downloaded file as a table. ``path`` is its location."""

    path: Path = Path()


@dataclass(frozen=True)
class Merged:
    """The rows of a downloaded file, filled in with marks, and remarks for the instructor."""

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


def merged(
    found: ClassMarks, roster: Roster, to: str, columns: Mapping[str, str] | None = None, scale: Scale = ""
) -> Merged:
    """Return ``roster`` with the marks of ``found`` in its rows.

    ``columns`` maps a chapter to the name of its column. The default is the chapter's name, with or without the text that the system
    adds. If there is no mark to export, or if the system locks the grade, the cell does not change. ``scale`` says what to
    do if the system has different points for a chapter. Raises ``CourseError`` if the file does not come from ``to`` ("canvas",
    "moodle"), if two rows or two students have the same id, or if points differ and ``scale`` is empty.
    """
    layout = layout_of(roster, to)
    whose = matched(found.students, roster, to, layout)
    if to == "canvas" and not any(row[0].strip().startswith("Points Possible") for row in roster.rows[1:]):
        possible = [POINTS_POSSIBLE, *[""] * (len(roster.rows[0]) - 1)]
        roster = replace(roster, rows=[roster.rows[0], possible, *roster.rows[1:]])
        whose = {index + 1: student for index, student in whose.items()}
    head = [cell.strip() for cell in roster.rows[0]]
    body = [row + [""] * (len(head) - len(row)) for row in roster.rows[1:]]
    table = [list(roster.rows[0]), *(list(row) for row in body)]
    remarks = []
    for chapter in found.chapters:
        remarks += _fill(table, found, chapter, whose, to, (columns or {}).get(chapter), layout, scale)
    rows = _student_rows(roster, to, layout)
    for column in (index for index, name in enumerate(head) if name in NAMES or index == layout.get("Full name")):
        for index in rows:
            table[index + 1][column] = escape_formula(table[index + 1][column])
    name = next((i for i, cell in enumerate(head) if cell in NAMES), layout.get("Full name", 0))
    remarks += _left_out(found, roster, rows, whose, name)
    return Merged(table, tuple(remarks))


# --- Columns -----------------------------------------------------------------------------------------------------------


def layout_of(roster: Roster, to: str) -> dict[str, int]:
    """Return the index of each known column, by its English name. If a worksheet is in another language, its columns are recognized by their content.

    Raises ``CourseError`` if the file does not come from ``to``.
    """
    head = [cell.strip() for cell in roster.rows[0]]
    shown_head = ", ".join(escape_formula(name) for name in head[:8]) + (", …" if len(head) > 8 else "")
    if to == "canvas":
        missing = [name for name in ("Student", "ID") if name not in head]
        if missing:
            named = " or ".join(f"“{name}”" for name in missing)
            raise CourseError(
                f"{roster.path} is not a gradebook downloaded from Canvas: it has no column {named}. Its columns are: {shown_head}. "
                "Nothing was written."
            )
        return {name: head.index(name) for name in ("Student", *KEYS[to]) if name in head}
    plain = [name.casefold() for name in head]
    found = {name: plain.index(name.casefold()) for name in _WORKSHEET if name.casefold() in plain}
    if not any(name in found for name in ("Identifier", *_MOODLE)):
        found = _by_content(head, roster.rows[1:])
    if not any(name in found for name in _MOODLE):
        raise WorksheetError(
            f"{roster.path} is not a worksheet or grades file downloaded from Moodle in which students can be found: it has none of the columns "
            f"{', '.join(_MOODLE)}, and no other column looks like them. Its columns are: {shown_head}. Nothing was written. Download the "
            "grading worksheet again, in English if Moodle offers it."
        )
    return found


def _by_content(head: Sequence[str], body: Sequence[Sequence[str]]) -> dict[str, int]:
    """Recognize the columns of a Moodle file in another language. Return the index of each recognized column by its English name.

    Moodle always writes a worksheet's columns in the order of ``_WORKSHEET``, possibly with other columns in between (``mod/assign/gradingtable.php``).
    """
    columns = [[row[at].strip() if at < len(row) else "" for row in body] for at in range(len(head))]
    found: dict[str, int] = {}
    addresses = [at for at, cells in enumerate(columns) if any(cells) and all("@" in cell for cell in cells if cell)]
    if len(addresses) == 1:
        found["Email address"] = addresses[0]
    is_worksheet = (
        body and all(re.fullmatch(r"\D*\d+", cell) for cell in columns[0]) and len(set(columns[0])) == len(body)
    )
    if not is_worksheet or not addresses:
        return found
    found["Identifier"], found["Full name"] = 0, 1
    for at in range(addresses[0] + 1, len(head) - 1):
        worth = {_number(cell) for cell in columns[at + 1]}
        if len(worth) == 1 and None not in worth and all(_number(cell) is not None for cell in columns[at] if cell):
            found |= {"Grade": at, _WORTH: at + 1}
            break
    for at in range(found.get(_WORTH, len(head)) + 1, len(head)):
        if any(columns[at]) and all(cell.casefold() in _YES | _NO for cell in columns[at] if cell):
            found[_CHANGEABLE] = at
            break
    else:
        raise WorksheetError(
            "No column of the worksheet says in a known language whether a grade can be changed. Its columns are: "
            f"{', '.join(map(escape_formula, head))}. Nothing was written. Set your language in Moodle to English and download the worksheet again."
        )
    comments = [at for at, name in enumerate(head) if name.casefold() in _COMMENT_HEADS]
    return {**found, _COMMENTS: comments[-1]} if comments else found


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return None


def _student_rows(roster: Roster, to: str, layout: Mapping[str, int]) -> dict[int, Sequence[str]]:
    """Return the rows about students, by their index below the header."""
    width = len(roster.rows[0])
    ids = [layout[name] for name in KEYS[to] if name in layout]
    body = (row + [""] * (width - len(row)) for row in roster.rows[1:])
    return {index: row for index, row in enumerate(body) if to != "canvas" or not _is_about_columns(row, ids)}


def _is_about_columns(row: Sequence[str], ids: Sequence[int]) -> bool:
    """Return whether a row of a Canvas file describes the columns (points possible, how grades are posted) instead of a student.

    A row without a name belongs to a student if one of the columns ``ids`` is not empty.
    """
    return row[0].strip().startswith("Points Possible") or not (row[0].strip() or any(row[at].strip() for at in ids))


def matched(students: Iterable[Person], roster: Roster, to: str, layout: Mapping[str, int]) -> dict[int, Person]:
    """Return the student of each row, found by the most reliable id. Raises ``CourseError`` if an id occurs twice or two students match one row."""
    whose: dict[int, Person] = {}
    taken: dict[str, int] = {}
    rows = _student_rows(roster, to, layout)
    given = list(students)
    for name, ids in KEYS[to].items():
        if name not in layout:
            continue
        at = layout[name]
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
        for student in given:
            for value in filter(None, ids(student)):
                [index] = by_id.get(value.strip().casefold(), [-1])
                if index < 0 or student.id in taken:
                    continue
                if index in whose:
                    raise CourseError(
                        f"{whose[index].id} and {student.id} in the gradebook both match row {index + 2} of {roster.path}. Nothing was written. "
                        "Give each student a different LMS id (`nbgrader db student add ID --lms-user-id=…` changes it)."
                    )
                whose[index], taken[student.id] = student, index
    return whose


# --- Marks -------------------------------------------------------------------------------------------------------------


def _fill(
    table: Table,
    found: ClassMarks,
    chapter: str,
    whose: Mapping[int, Person],
    to: str,
    column: str | None,
    layout: Mapping[str, int],
    scale: Scale,
) -> list[str]:
    """Put a chapter's marks into its column, which is added if it is missing. Return remarks for the instructor."""
    head, remarks = table[0], []
    at = _column_of(head, chapter, to, column, layout, alone=len(found.chapters) == 1)
    if at is None:
        at = len(head)
        head.append(column or chapter)
        for row in table[1:]:
            row.append("")
        where = "a new assignment" if to == "canvas" else "a new column"
        remarks.append(
            f"The file has no column for {chapter}, so {where} {column or chapter} was added at its end. If an existing column is the right one, "
            f"choose it with --column {chapter}=NAME."
        )
    is_worksheet = to == "moodle" and at == layout.get("Grade")
    about = (layout.get(_COMMENTS) if is_worksheet else _feedback_column(head, at)) if to == "moodle" else None
    worth = _points_possible(table, at, found.worth[chapter], chapter) if to == "canvas" else None
    if is_worksheet and _WORTH in layout:
        worth = next((points for row in table[1:] if (points := _number(row[layout[_WORTH]])) is not None), None)
    factor, remark = scale_of(chapter, found.worth[chapter], worth, to.capitalize(), scale)
    remarks += remark
    locked = []
    for index, student in whose.items():
        score, row = found.score(chapter, student.id), table[index + 1]
        if score is None:
            continue
        if (is_worksheet and not _may_change(row, layout)) or (to == "canvas" and row[at].strip().upper() == "EX"):
            locked.append(student.id)
            continue
        row[at] = shown(score * factor)
        if about is not None and (marks := found.of(chapter, student.id)):
            row[about] = escape_formula(feedback_text(marks))
    if is_worksheet and about is None:
        remarks.append(f"The file has no column {_COMMENTS!r}, so only the grades were written.")
    if locked:
        why = "these students are excused in Canvas" if to == "canvas" else "these grades cannot be changed in Moodle"
        remarks.append(
            f"{pluralize(len(locked), 'row')} of {chapter} {'was' if len(locked) == 1 else 'were'} left unchanged, because {why}: {_few(locked)}."
        )
    return remarks


def scale_of(chapter: str, worth: float, there: float | None, system: str, scale: Scale) -> tuple[float, list[str]]:
    """Return the factor for marks out of ``worth`` points in a system with ``there`` points, and a remark if the points differ.

    Raises ``CourseError`` if they differ and ``scale`` is empty, because the system would show a wrong percentage.
    """
    if there is None or abs(there - worth) < 1e-9:
        return 1.0, []
    points = f"{chapter} has {pluralize(worth, 'point')} in the gradebook, but {number(there)} in {system}."
    if scale == "as-is":
        return 1.0, [f"{points} Marks are exported unchanged."]
    if scale == "scale" and worth > 0:
        return there / worth, [f"{points} Marks are converted: {number(worth)} becomes {number(there)}."]
    if scale == "scale":
        raise CourseError(f"{points} Marks out of 0 points cannot be converted. Nothing was written.")
    raise CourseError(
        f"{points} Nothing was written. Use --scale to convert the marks ({number(worth)} becomes {number(there)}), or --as-is to export them "
        f"unchanged ({number(worth)} stays {number(worth)} of {number(there)})."
    )


def _may_change(row: Sequence[str], layout: Mapping[str, int]) -> bool:
    """Return whether Moodle accepts a grade for this row. Raises ``WorksheetError`` if its “Grade can be changed” cell has an unknown word."""
    if _CHANGEABLE not in layout:
        return True
    word = row[layout[_CHANGEABLE]].strip().casefold()
    if word not in _YES | _NO | {""}:
        raise WorksheetError(
            f"The column “{_CHANGEABLE}” of the worksheet contains {word!r}, which is not a known word for yes or no. Nothing was written. "
            "Set your language in Moodle to English and download the worksheet again."
        )
    return word in _YES


def _column_of(
    head: Sequence[str], chapter: str, to: str, column: str | None, layout: Mapping[str, int], *, alone: bool
) -> int | None:
    wanted = (column or chapter).strip().casefold()
    for index, name in enumerate(head):
        plain = name.strip().casefold()
        short = _EXTRA.sub("", plain).rpartition(": ")[2]  # Moodle writes "Assignment: ch1 (Real)"
        if wanted in {plain, _EXTRA.sub("", plain), short} and "(feedback)" not in plain:
            return index
    if column is not None:
        raise CourseError(f"The file has no column {column!r} for {chapter}. Its columns are: {', '.join(head)}.")
    if to == "moodle" and "Identifier" in layout:
        if "Grade" not in layout:
            raise WorksheetError(
                f"No column of the worksheet could be recognized as the grade column. Its columns are: {', '.join(map(escape_formula, head))}. "
                f"Nothing was written. Choose the grade column: --column {chapter}=NAME."
            )
        return layout["Grade"] if alone else None
    return None


def _feedback_column(head: Sequence[str], at: int) -> int | None:
    names = [name.strip() for name in head]
    wanted = _EXTRA.sub("", names[at]) + " (Feedback)"
    return names.index(wanted) if wanted in names else None


def _points_possible(table: Table, at: int, worth: float, chapter: str) -> float | None:
    """Return the points of an assignment in Canvas. If the file has none, fill in ``worth``."""
    row = next(row for row in table[1:] if row[0].strip().startswith("Points Possible"))
    if not row[at].strip():
        row[at] = format_points(worth)
    if "read only" in row[at]:
        raise CourseError(
            f"Canvas calculates the column {table[0][at].strip()} itself (“read only”), so marks of {chapter} cannot be entered in it. Nothing "
            f"was written. Choose the assignment's column: --column {chapter}=NAME."
        )
    return _number(row[at])


def _left_out(
    found: ClassMarks, roster: Roster, rows: Mapping[int, Sequence[str]], whose: Mapping[int, Person], name: int
) -> Iterable[str]:
    there = {student.id for student in whose.values()}
    lost = [s.id for s in found.students if s.id not in there and any(found.of(c, s.id) for c in found.chapters)]
    if lost:
        yield (
            f"{pluralize(len(lost), 'student')} with marks {'has' if len(lost) == 1 else 'have'} no row in {roster.path.name}: {_few(lost)}. "
            "Rows are matched by each student's LMS id, student id and email address in the gradebook."
        )
    unknown = [rows[i][name].strip() for i in rows if i not in whose and rows[i][name].strip() != "Student, Test"]
    if unknown:
        yield f"{pluralize(len(unknown), 'row')} of {roster.path.name} {'matches' if len(unknown) == 1 else 'match'} no student in the gradebook: {_few(unknown)}."


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return ", ".join(map(escape_formula, names[:_MAX_NAMES])) + more

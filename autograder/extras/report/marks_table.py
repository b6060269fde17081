"""Format a class's marks as a table: for a terminal of any width, as CSV, or as data for programs."""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Mapping, Sequence

from rich.cells import cell_len, set_cell_size

from autograder.base.foreign import Json
from autograder.base.formatting import duration, number, pluralize
from autograder.base.sanitize import sanitize
from autograder.extras.export.gradebook import escape_formula
from autograder.extras.report.class_marks import NOT_ENTERED, STANDINGS, ChapterMarks, Standing, StudentMark

__all__ = ["marks_csv", "marks_json", "marks_text"]

_SIGNS: Mapping[Standing, str] = {"ungradable": "—", "ungraded": "…", "missing": "·"}
_WAITS = "?"  # the sign after a number to which manual points will be added
_MAX_NAME = 40  # the widest name, in terminal columns
_WITH_NAMES = 60  # with at least this width, there is room for names next to the ids
_GAP = "  "


def marks_text(chapters: Sequence[ChapterMarks], width: int | None = None) -> str:
    """Format a table with one row per student and one column per chapter, and explain its signs.

    If the columns do not fit into ``width``, the table continues below with the remaining columns. None means unlimited width.
    """
    students = list(chapters[0].marks)
    people = chapters[0].people
    columns = [["student", "(maximum)", *map(sanitize, students)]]
    names = [sanitize(people[s].name) if s in people else "" for s in students]
    if any(names) and (width is None or width >= _WITH_NAMES):
        columns.append(["name", "", *names])
    rows = [_column(one) for one in chapters]
    if len(chapters) > 1:
        rows.append(_totals(chapters))
    lines = _blocks(columns, rows, width)
    used = {mark.standing for one in chapters for mark in one.marks.values()}
    legend = [f"{sign} {STANDINGS[standing]}" for standing, sign in _SIGNS.items() if standing in used]
    if "waiting" in used:
        legend.append(f"{_WAITS} {STANDINGS['waiting']}")
    if any(NOT_ENTERED in mark.doubts for one in chapters for mark in one.marks.values()):
        legend.append(
            "Some of these marks are not in the gradebook: they were graded without a sandbox, or before the gradebook existed."
        )
    for one in chapters:
        given = [
            f"{sanitize(student)} {duration(mark.extension)}" for student, mark in one.marks.items() if mark.extension
        ]
        legend += [f"Extensions in {_short(one.chapter)}: {', '.join(given)}."] if given else []
    legend = [textwrap.fill(line, width or 200, subsequent_indent="  ") for line in legend]
    return "\n".join([*lines, *([""] if legend else []), *legend])


def _column(one: ChapterMarks) -> list[str]:
    return [_short(one.chapter), number(one.max_score), *map(_shown, one.marks.values())]


def _shown(mark: StudentMark) -> str:
    if mark.score is None:
        return _SIGNS.get(mark.standing, _SIGNS["ungradable"])
    return number(mark.score) + (_WAITS if mark.standing == "waiting" else "")


def _totals(chapters: Sequence[ChapterMarks]) -> list[str]:
    totals = []
    for student in chapters[0].marks:
        scores = [score for one in chapters if (score := one.marks[student].score) is not None]
        none: Standing = (
            "ungradable" if any(one.marks[student].standing != "missing" for one in chapters) else "missing"
        )
        totals.append(number(sum(scores)) if scores else _SIGNS[none])
    return ["total", number(sum(one.max_score for one in chapters)), *totals]


def _blocks(heads: list[list[str]], rows: list[list[str]], width: int | None) -> list[str]:
    """Return the lines of the table, in several blocks if its columns do not fit. Each block begins with the columns ``heads``."""
    widths = [max(map(cell_len, column)) for column in heads]
    if width is not None:
        room = min(_MAX_NAME, max(width // 3, 8))
        widths = [min(w, room) for w in widths]
    beginning = sum(widths) + len(_GAP) * (len(widths) - 1)
    blocks: list[list[list[str]]] = [[]]
    used = beginning
    for column in rows:
        takes = len(_GAP) + max(map(cell_len, column))
        if width is not None and used + takes > width and blocks[-1]:
            blocks.append([])
            used = beginning
        blocks[-1].append(column)
        used += takes
    lines: list[str] = []
    for block in blocks:
        lines += [""] if lines else []
        all_widths = widths + [max(map(cell_len, column)) for column in block]
        for i, cells in enumerate(zip(*heads, *block, strict=True)):
            lines.append(_line(cells, all_widths, len(heads)))
            if i == 1:
                lines.append(_GAP.join("─" * w for w in all_widths))
    return lines


def _line(cells: Sequence[str], widths: Sequence[int], left: int) -> str:
    """Align the first ``left`` cells to the left and the others to the right, by their width in a terminal."""
    parts = []
    for i, (text, width) in enumerate(zip(cells, widths, strict=True)):
        if cell_len(text) > width:
            parts.append(set_cell_size(text, width - 1) + "…")
        else:
            blank = " " * (width - cell_len(text))
            parts.append(text + blank if i < left else blank + text)
    return _GAP.join(parts).rstrip()


def _short(chapter: str) -> str:
    return chapter.partition("_")[0]


def marks_csv(chapters: Sequence[ChapterMarks]) -> str:
    """Return the marks as CSV. A missing mark is an empty field, never 0, and its status gives the reason."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    heads = [head for one in chapters for head in (one.chapter, f"{one.chapter} of", f"{one.chapter} status")]
    writer.writerow(["student", "first name", "last name", "email", *heads, "total", "total of"])
    people, most = chapters[0].people, sum(one.max_score for one in chapters)
    for student in chapters[0].marks:
        person = people.get(student)
        who = [student, person.first_name, person.last_name, person.email] if person else [student, "", "", ""]
        marks = [one.marks[student] for one in chapters]
        cells = [
            text
            for one, mark in zip(chapters, marks, strict=True)
            for text in (_plain(mark.score), _plain(one.max_score), _status(mark))
        ]
        scores = [mark.score for mark in marks if mark.score is not None]
        writer.writerow([*map(escape_formula, who), *cells, _plain(sum(scores)) if scores else "", _plain(most)])
    return file.getvalue()


def _plain(score: float | None) -> str:
    return "" if score is None else number(score)


def _status(mark: StudentMark) -> str:
    late = f", {pluralize(round(mark.seconds_late / 3600, 1), 'hour')} late" if mark.seconds_late else ""
    more = f", extension of {duration(mark.extension)}" if mark.extension else ""
    return STANDINGS[mark.standing].partition(":")[0] + late + more


def marks_json(chapters: Sequence[ChapterMarks]) -> list[dict[str, Json]]:
    """Return one object per student, with their marks by chapter."""
    people = chapters[0].people
    found = []
    for student in chapters[0].marks:
        person = people.get(student)
        marks = {one.chapter: _mark_json(one, one.marks[student]) for one in chapters}
        scores = [mark["score"] for mark in marks.values() if mark["score"] is not None]
        found.append({
            "student": student,
            "first_name": person.first_name if person else "",
            "last_name": person.last_name if person else "",
            "email": person.email if person else "",
            "total": round(sum(scores), 6) if scores else None,
            "max_total": sum(one.max_score for one in chapters),
            "chapters": marks,
        })  # fmt: skip
    return found


def _mark_json(one: ChapterMarks, mark: StudentMark) -> dict[str, Json]:
    return {
        "status": mark.standing,
        "score": mark.score,
        "max_score": one.max_score,
        "exercises": {
            name: {"score": mark.exercises.get(name), "max_score": worth} for name, worth in one.worth.items()
        },
        "late_penalty": mark.penalty,
        "seconds_late": mark.seconds_late,
        "extension_hours": mark.extension.total_seconds() / 3600,
        "by_hand": mark.by_hand,
        "needs_a_person": list(mark.doubts),
    }

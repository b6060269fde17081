"""The command that gives students more time for a chapter, before or after they submit it."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from autograder.base.errors import CourseError
from autograder.base.formatting import duration
from autograder.base.sanitize import sanitize
from autograder.cli.commands import PATH, PlacedCommand, course_option, report_errors
from autograder.cli.output import echo_status
from autograder.course.course import Course, load_course

__all__ = ["Extension", "extend", "parse_duration", "read_extensions_file"]

_UNITS = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}  # seconds
_PARTS = re.compile(r"(\d+(?:\.\d+)?)\s*([mhdw])")
_LONGEST = dt.timedelta(days=366)
_COLUMNS = ("chapter", "student", "extension")
_MAX_SHOWN = 5  # the most problems of a file that a message lists


@dataclass(frozen=True, slots=True)
class Extension:
    """More time for one student in one chapter. A duration of 0 removes an extension."""

    chapter: str
    student: str
    time: dt.timedelta


@click.command(cls=PlacedCommand, section="To teach", after="feedback")
@click.argument("chapter", required=False)
@click.argument("student", required=False)
@click.argument("time", required=False)
@click.option("--from", "file", metavar="FILE.csv", type=PATH, help="Read chapter, student and extension from a file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array, with an object for each extension.")
@course_option
def extend(
    chapter: str | None,
    student: str | None,
    time: str | None,
    *,
    file: Path | None,
    as_json: bool,
    course_folder: Path | None,
) -> None:
    """Give a student more time for a chapter, such as 48h or 2d. The last extension counts, and 0h removes it."""
    with report_errors():
        course = load_course(course_folder)
        if file is not None and chapter is None:
            extensions = read_extensions_file(file)
        elif chapter and student and time and file is None:
            extensions = [Extension(chapter, student, parse_duration(time))]
        else:
            raise CourseError("Give a chapter, a student and a duration, such as 48h, or use --from FILE.csv alone.")
        _require_known(course, extensions)
        found = grant(course, extensions)
        if as_json:
            click.echo(json.dumps(found, ensure_ascii=False, indent=2))
        for one, entry in zip(extensions, found, strict=True):
            what = f"an extension of {duration(one.time)}" if one.time else "no extension"
            later = "" if entry["submitted"] else " The extension takes effect when a submission is graded."
            echo_status(f"{sanitize(one.student)} has {what} for {one.chapter}.{later}")


def parse_duration(text: str) -> dt.timedelta:
    """Parse a duration such as ``48h``, ``2d`` or ``1d 12h``. Raises ``CourseError`` if ``text`` is not a duration of at most a year."""
    rest = _PARTS.sub("", text.strip().lower())
    if rest.strip() or not _PARTS.search(text.lower()):
        raise CourseError(f"{text!r} is not a duration. Write a number and m, h, d or w: 90m, 48h, 2d, 1w or 1d 12h.")
    seconds = sum(float(number) * _UNITS[unit] for number, unit in _PARTS.findall(text.lower()))
    if seconds > _LONGEST.total_seconds():
        raise CourseError(f"{text!r} is longer than a year. Write a number and m, h, d or w: 90m, 48h, 2d or 1w.")
    return dt.timedelta(seconds=seconds)


def read_extensions_file(path: Path) -> list[Extension]:
    """Return the extensions in a CSV file with the columns chapter, student and extension. Raises ``CourseError`` if the file has problems."""
    from autograder.base.spreadsheets import read_sheet

    rows = [[cell.strip() for cell in row] for row in read_sheet(path, windows=True).rows]
    heads = [head.casefold() for head in rows[0]] if rows else []
    if missing := [name for name in _COLUMNS if name not in heads]:
        raise CourseError(f"{path} has no column {' and no column '.join(missing)}. It needs {', '.join(_COLUMNS)}.")
    found: dict[tuple[str, str], Extension] = {}
    problems = []
    for number, row in enumerate(rows[1:], start=2):
        if not any(row):
            continue
        cells = dict(zip(heads, row, strict=False))
        chapter, student = cells.get("chapter", ""), cells.get("student", "")
        try:
            time = parse_duration(cells.get("extension", ""))
        except CourseError as error:
            problems.append(f"line {number}: {error}")
            continue
        if (chapter, student) in found:
            problems.append(f"line {number}: {student} has two extensions for {chapter}.")
        found[chapter, student] = Extension(chapter, student, time)
    _refuse(str(path), problems)
    if not found:
        raise CourseError(f"{path} has no extensions: it has only a header line.")
    return list(found.values())


def _refuse(where: str, problems: Sequence[str]) -> None:
    if problems:
        more = [f"And {len(problems) - _MAX_SHOWN} more."] if len(problems) > _MAX_SHOWN else []
        raise CourseError(f"{where}: no extension was entered. {' '.join([*problems[:_MAX_SHOWN], *more])}")


def _require_known(course: Course, extensions: Sequence[Extension]) -> None:
    """Raise ``CourseError`` for an unknown chapter or student. Students are known if they are in the gradebook or have a submission folder."""
    from autograder.classroom.delivery import folder_of
    from autograder.classroom.gradebook.entries import gradebook_url
    from autograder.classroom.gradebook.people import read_class_list

    for one in extensions:
        course.require_chapter(one.chapter)
    known = read_class_list(gradebook_url(course))
    students = known.students if known is not None else frozenset()
    submitted = folder_of(course, "submitted")
    names = dict.fromkeys(one.student for one in extensions)
    strangers = [name for name in names if name not in students and not (submitted / name).is_dir()]
    advice = "Check the spelling with `nbgrader db student list`, or enter the class first: `autograder roster students.csv`."
    if strangers:
        names_shown = ", ".join(map(sanitize, strangers))
        raise CourseError(f"No extension was entered, because the course has no student {names_shown}. {advice}")


def grant(course: Course, extensions: Sequence[Extension]) -> list[dict[str, Any]]:
    """Enter ``extensions``, recompute late penalties, log mark changes and refresh feedback pages. Return each extension as JSON data."""
    from autograder.classroom.gradebook.entries import enter_extensions, gradebook_url
    from autograder.classroom.gradebook.people import read_marks
    from autograder.classroom.mark_changes import EXTENDED, MarkChange, append_changes, mark_of

    url, found = gradebook_url(course), {}
    _store(course, extensions)
    for chapter in dict.fromkeys(one.chapter for one in extensions):
        times = {one.student: one.time for one in extensions if one.chapter == chapter}
        before = read_marks(url, chapter, list(times)) or {}
        if before:
            enter_extensions(course, chapter, times)
        after = read_marks(url, chapter, list(times)) or {}
        changes = []
        for student, time in times.items():
            old, new = mark_of(before.get(student)), mark_of(after.get(student))
            worth = after[student].max_score if student in after else 0.0
            why = EXTENDED.format(time=duration(time)) if time else "the extension was removed"
            changes.append(MarkChange(student, chapter, old, new, worth, why))
            entry = {"chapter": chapter, "student": student, "hours": time.total_seconds() / 3600}
            found[chapter, student] = {**entry, "submitted": student in after, "from": old, "to": new}
        append_changes(course, changes)
        _refresh(course, chapter, {student: mark_of(marks) for student, marks in after.items()})
    return [found[one.chapter, one.student] for one in extensions]


def _store(course: Course, extensions: Sequence[Extension]) -> None:
    """Add ``extensions`` to the course's ``extensions.csv``. Grading reads the extension of a new submission from this file."""
    from autograder.base.files import write_atomically
    from autograder.classroom.gradebook.entries import EXTENSIONS, read_extensions

    stored = {(c, student): time for c in course.chapters for student, time in read_extensions(course, c).items()}
    stored |= {(one.chapter, one.student): one.time for one in extensions}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["chapter", "student", "hours"])
    writer.writerows([c, student, f"{t.total_seconds() / 3600:g}"] for (c, student), t in sorted(stored.items()) if t)
    write_atomically(course.root / EXTENSIONS, text.getvalue().encode(), 0o600)


def _refresh(course: Course, chapter: str, marks: Mapping[str, float | None]) -> None:
    """Write the feedback pages of the students in ``marks`` again. Record the marks, so that the next run does not repeat this work."""
    from autograder.classroom.delivery import FeedbackWriter, folder_of, make_pages
    from autograder.classroom.gradebook.entries import gradebook_url
    from autograder.classroom.incremental import RunState
    from autograder.classroom.run import handed_in
    from autograder.grading.task import GradingOptions
    from autograder.grading.verdict_cache import VerdictCache

    submitted = folder_of(course, "submitted")
    there = [student for student in marks if (submitted / student / chapter).is_dir()]
    if not there:
        return
    make_pages(course, chapter, handed_in(course, chapter, there))
    cache = VerdictCache.of(course, chapter, GradingOptions().cache_inputs)
    state = RunState(course, chapter, cache, FeedbackWriter.of(course, chapter).names, gradebook_url(course))
    for student in there:
        state.note_mark(student, marks[student])

"""Find, export and remove all data that a course has about one student."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import sqlite3
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.base.errors import CourseError
from autograder.base.files import write_atomically
from autograder.base.formatting import pluralize
from autograder.base.sanitize import sanitize
from autograder.classroom.delivery import folder_of
from autograder.classroom.gradebook.database import gradebook_errors, require_answers, require_version
from autograder.classroom.gradebook.entries import EXTENSIONS, gradebook_url, load_nbgrader, nbgrader_config
from autograder.classroom.gradebook.people import PEOPLE
from autograder.classroom.gradebook.reading import file_of
from autograder.classroom.incremental import is_running
from autograder.classroom.mark_changes import LOG_NAME
from autograder.course.course import Course

__all__ = ["StudentData", "export_data", "find_data", "remove_data"]

_EXCHANGE = "/usr/local/share/nbgrader/exchange"  # nbgrader's default folder
_MAX_READ = 256 << 20  # bytes of a file that is searched for a student's id
_SKIPPED = {".git", ".venv", "node_modules", "__pycache__", "source", "solutions", "tests", "release"}

# Everything in the gradebook about one student, by table.
_ROWS = {
    "student": "SELECT id, first_name, last_name, email, lms_user_id FROM student WHERE id = :student",
    "submissions": """
        SELECT assignment.name, submitted.timestamp, submitted.extension, part.late_submission_penalty
        FROM submitted_assignment AS submitted JOIN assignment ON assignment.id = submitted.assignment_id
        LEFT JOIN submitted_notebook AS part ON part.assignment_id = submitted.id
        WHERE submitted.student_id = :student ORDER BY assignment.name
    """,
    "grades": """
        SELECT assignment.name, base_cell.name, grade.auto_score, grade.manual_score, grade.extra_credit
        FROM grade JOIN base_cell ON base_cell.id = grade.cell_id
        JOIN submitted_notebook AS part ON part.id = grade.notebook_id
        JOIN submitted_assignment AS submitted ON submitted.id = part.assignment_id
        JOIN assignment ON assignment.id = submitted.assignment_id
        WHERE submitted.student_id = :student ORDER BY assignment.name, base_cell.name
    """,
    "comments": """
        SELECT assignment.name, base_cell.name, comment.auto_comment, comment.manual_comment
        FROM comment JOIN base_cell ON base_cell.id = comment.cell_id
        JOIN submitted_notebook AS part ON part.id = comment.notebook_id
        JOIN submitted_assignment AS submitted ON submitted.id = part.assignment_id
        JOIN assignment ON assignment.id = submitted.assignment_id
        WHERE submitted.student_id = :student ORDER BY assignment.name, base_cell.name
    """,
}


@dataclass(frozen=True)
class StudentData:
    """The data that a course has about one student.

    Attributes:
        folders: the student's own folders, by purpose.
        files: the student's own files in folders of the whole class.
        pages: pages about the class that name the student. They are removed as a whole, because they can be created again.
        lines: the lines about the student in files about the class, by file.
        rows: the gradebook's data about the student, by table.
        mentions: other files that name the student. Their purpose is unknown, so they are only listed.
    """

    student: str
    root: Path
    folders: Sequence[Path] = ()
    files: Sequence[Path] = ()
    pages: Sequence[Path] = ()
    lines: Mapping[Path, Sequence[str]] = field(default_factory=dict)
    rows: Mapping[str, Sequence[Sequence[Any]]] = field(default_factory=dict)
    mentions: Sequence[Path] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the course has nothing that the commands could export or remove."""
        return not (self.folders or self.files or self.lines or self.rows)

    @property
    def text(self) -> str:
        """The places that have the student's data, one per line, as the commands print them."""
        lines = [f"{self._shown(path)}/: {pluralize(_count(path), 'file')}" for path in self.folders]
        if self.rows:
            what = ", ".join(f"{name} {len(rows)}" for name, rows in self.rows.items() if rows)
            lines.append(f"the gradebook: {what}")
        lines += [f"{self._shown(path)}: {pluralize(len(found), 'line')}" for path, found in self.lines.items()]
        if self.files:
            lines.append(
                f"{self._shown(self.files[0].parent.parent)}/: {pluralize(len(self.files), 'file')} of stored results"
            )
        lines += [f"{self._shown(path)}: a page about the class" for path in self.pages]
        if self.mentions:
            lines += ["", "These files also name the student. They are not changed, so check them yourself:"]
            lines += [f"{self._shown(path)}" for path in self.mentions]
        return "\n".join(lines)

    def _shown(self, path: Path) -> str:
        inside = path.is_relative_to(self.root)
        return sanitize(str(path.relative_to(self.root)) if inside else str(path))

    def to_json(self) -> dict[str, Any]:
        """Return the places that have the student's data, as JSON for the command line."""
        return {
            "student": self.student,
            "folders": [str(path) for path in self.folders],
            "files": [str(path) for path in self.files],
            "pages": [str(path) for path in self.pages],
            "lines": {str(path): len(found) for path, found in self.lines.items()},
            "gradebook": {name: len(rows) for name, rows in self.rows.items()},
            "mentions": [str(path) for path in self.mentions],
        }


def find_data(course: Course, student: str) -> StudentData:
    """Return the data that ``course`` has about ``student``.

    Raises ``CourseError`` if the course has nothing, or if a chapter is being graded, and ``GradebookError`` if the gradebook cannot
    be read.
    """
    if Path(student).name != student or student in {"", ".", ".."}:
        raise CourseError(f"{student!r} cannot be a student's id: no folder can have this name.")
    if busy := [chapter for chapter in course.chapters if is_running(course, chapter)]:
        raise CourseError(f"{', '.join(busy)} is being graded now. Wait until that run ends.")
    url = gradebook_url(course)
    require_version(url)
    found = require_answers(url, [(query, {"student": student}) for query in _ROWS.values()]) or [[] for _ in _ROWS]
    rows = dict(zip(_ROWS, found, strict=True)) if any(found) else {}
    lines = dict(_lines(course, student))
    names = (
        [student, *(str(part) for part in rows["student"][0][3:] if part)] if rows and rows["student"] else [student]
    )
    data = StudentData(student, course.root, _folders(course, student), _verdicts(course, student), (), lines, rows)
    named = list(_naming(course, names, {*data.folders, *data.files, *lines, file_of(url)}))
    pages = [path for path in named if path.is_relative_to(course.state())]
    data = StudentData(
        student,
        course.root,
        data.folders,
        data.files,
        pages,
        lines,
        rows,
        [path for path in named if path not in pages],
    )
    if data.is_empty:
        known = require_answers(url, PEOPLE)
        near = [row[0] for row in (known or [[]])[0] if row[0].casefold() == student.casefold()]
        advice = f" Did you mean {near[0]}?" if near else ""
        raise CourseError(f"The course has no data about student {student!r}.{advice}")
    return data


def _folders(course: Course, student: str) -> list[Path]:
    """Return the student's folders: nbgrader's, and those for files that are set aside while a run compares two notebooks."""
    kinds = ("submitted", "autograded", "feedback")
    found = [folder_of(course, kind) / student for kind in kinds]
    found += [course.state("earlier", chapter, student) for chapter in course.chapters]
    config = nbgrader_config(course)
    section = config.get("CourseDirectory", {})
    exchange = Path(str(config.get("Exchange", {}).get("root") or _EXCHANGE)) / str(
        section.get("course_id") or course.course_id
    )
    found += sorted(path for path in (exchange / "inbound").glob("*") if path.name.startswith(f"{student}+"))
    return [path for path in found if os.path.lexists(path)]


def _verdicts(course: Course, student: str) -> list[Path]:
    """Return the files with stored verdicts on the student's notebooks, and the files with the notebooks' outputs."""
    found = []
    for path in sorted(course.state("verdicts").glob("*/*.json")):
        if not path.name.endswith(".cells.json"):
            with suppress(OSError, ValueError, AttributeError):
                if json.loads(path.read_bytes()).get("student") == student:
                    found += [path, path.with_name(f"{path.stem}.cells.json")]
    return [path for path in found if path.exists()]


def _lines(course: Course, student: str) -> Iterator[tuple[Path, list[str]]]:
    """Yield each file about the class that has lines about the student, with those lines."""
    logs = [course.root / LOG_NAME, *sorted(course.state("verdicts").glob("*/uptodate.jsonl"))]
    for path, is_theirs in [
        *((log, _json_student(student)) for log in logs),
        (course.root / EXTENSIONS, _csv_student(student)),
    ]:
        if path.is_file():
            found = [
                line for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if is_theirs(line)
            ]
            if found:
                yield path, found


def _json_student(student: str) -> Callable[[str], bool]:
    def is_theirs(line: str) -> bool:
        with suppress(ValueError):
            found = json.loads(line)
            return isinstance(found, dict) and found.get("student") == student
        return False

    return is_theirs


def _csv_student(student: str) -> Callable[[str], bool]:
    return lambda line: [row[1] for row in csv.reader([line]) if len(row) > 1] == [student]


def _naming(course: Course, names: Sequence[str], known: set[Path]) -> Iterator[Path]:
    """Yield the files in the course folder, except ``known``, whose name or content contains one of ``names``: id, address or LMS number."""
    word = re.compile("|".join(rf"(?<![\w.-]){re.escape(name)}(?![\w-])" for name in names).encode())
    for folder, folders, files in os.walk(course.root):
        here = Path(folder)
        folders[:] = sorted(name for name in folders if name not in _SKIPPED and here / name not in known)
        for name in sorted(files):
            path = here / name
            if path in known or path.is_symlink():
                continue
            with suppress(OSError):
                text = path.read_bytes() if path.stat().st_size <= _MAX_READ else b""
                if word.search(name.encode("utf-8", "replace")) or word.search(text):
                    yield path


def _count(folder: Path) -> int:
    return sum(path.is_file() for path in folder.rglob("*")) if folder.is_dir() else 1


def export_data(data: StudentData, path: Path) -> None:
    """Write ``data`` into a zip file that only this account can read."""
    text = io.BytesIO()
    with zipfile.ZipFile(text, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, folder in enumerate(data.folders, 1):
            inside = folder.is_relative_to(data.root)
            place = folder.relative_to(data.root) if inside else Path(f"exchange-{number}") / folder.name
            for file in sorted(folder.rglob("*")) if folder.is_dir() else [folder]:
                if file.is_file() and not file.is_symlink():
                    archive.write(file, place / file.relative_to(folder))
        for file in data.files:
            archive.write(file, file.relative_to(data.root))
        for file, lines in data.lines.items():
            archive.writestr(str(file.relative_to(data.root)), "\n".join(lines) + "\n")
        if data.rows:
            rows = {name: [list(map(str, row)) for row in found] for name, found in data.rows.items()}
            archive.writestr("gradebook.json", json.dumps(rows, ensure_ascii=False, indent=1))
    write_atomically(path, text.getvalue(), 0o600)


def remove_data(course: Course, data: StudentData) -> None:
    """Remove ``data`` from the course. The gradebook is changed first, so that nothing is removed if it cannot be written."""
    if data.rows:
        _remove_rows(course, data.student)
    for folder in data.folders:
        shutil.rmtree(folder) if folder.is_dir() and not folder.is_symlink() else folder.unlink()
    for file in (*data.files, *data.pages):
        file.unlink(missing_ok=True)
    for path, lines in data.lines.items():
        theirs = set(lines)
        kept = [line for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if line not in theirs]
        if path.suffix == ".jsonl":
            kept = _without_orphans(kept)
        write_atomically(path, "".join(f"{line}\n" for line in kept).encode(), path.stat().st_mode & 0o777)


def _without_orphans(lines: Sequence[str]) -> list[str]:
    """Return ``lines`` without stored results that no student's line uses any more. Such results may quote the student."""
    found = []
    for line in lines:
        with suppress(ValueError):
            found.append((line, json.loads(line)))
    used = {
        name for _, one in found if isinstance(one.get("verdict"), dict) for name in one["verdict"].get("exercises", ())
    }
    return [line for line, one in found if "outcome" not in one or one["outcome"] in used]


def _remove_rows(course: Course, student: str) -> None:
    load_nbgrader()
    from nbgrader.api import Gradebook, MissingEntry  # noqa: PLC0415 - this import takes seconds

    url = gradebook_url(course)
    course_id = nbgrader_config(course).get("CourseDirectory", {}).get("course_id") or course.course_id
    with gradebook_errors(url), Gradebook(url, str(course_id)) as book, suppress(MissingEntry):
        book.remove_student(student)
    if url.startswith("sqlite"):
        _shrink(file_of(url))


def _shrink(path: Path) -> None:
    """Rewrite the database file, because deleted rows would otherwise stay readable in it."""
    with closing(sqlite3.connect(path, timeout=30)) as book:
        book.execute("VACUUM")

"""What has been entered and given back already, so that an unchanged class costs next to nothing to grade again.

One line of JSON a submission, appended when its marks are in the gradebook, after the lines of those outcomes that no
line before it has. A line is believed where the course, the submission, the files that the student got back and the
gradebook's row are all as they were when it was written; whatever is in doubt is written again.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import autograder
from autograder.classroom.delivery import BESIDE, Pages, beside
from autograder.classroom.shared_outcomes import SharedOutcomes
from autograder.course import Course
from autograder.files import write_atomically
from autograder.grading.outcome import Outcome
from autograder.grading.submission import Job
from autograder.grading.verdict_cache import VerdictCache
from autograder.notebook import NotebookError, read_bytes
from autograder.verdict import Verdict

__all__ = ["UpToDateFile", "book_rows"]

# A file system's clock may stand still for this long: a file this young may change without its time telling.
_YOUNG_NS = 1_000_000_000

Signature = list[list[int] | None]


@dataclass
class UpToDateFile:
    """The file of one chapter; ``url`` is the gradebook's, or None where marks are not entered."""

    course: Course
    chapter: str
    cache: VerdictCache
    pages: Pages
    url: str | None
    _lines: dict[str, dict[str, Any]] = field(default_factory=dict)
    _seen: dict[str, tuple[Signature | None, str]] = field(default_factory=dict)
    _shared: SharedOutcomes = field(default_factory=SharedOutcomes)

    def __post_init__(self) -> None:
        self._path = self.cache.folder / "uptodate.jsonl"
        self._base = _fingerprint(self.course, self.cache.base)
        read = 0
        with suppress(OSError):
            for line in self._path.read_text(encoding="utf-8").splitlines():
                read += 1
                with suppress(ValueError, KeyError, TypeError):
                    found = json.loads(line)
                    if not self._shared.read(found):
                        self._lines.pop(found["student"], None)
                        if found["base"] == self._base:
                            self._lines[found["student"]] = found
        in_use = {name for line in self._lines.values() for name in line["verdict"]["exercises"]}
        if read > 2 * (len(self._lines) + len(in_use)) + 100:
            lines = [*self._shared.lines(in_use), *self._lines.values()]
            write_atomically(self._path, "".join(map(_line, lines)).encode())

    def unchanged(self, jobs: Sequence[Job]) -> dict[Job, Verdict]:
        """The verdicts on those of ``jobs`` for which nothing is left to do."""
        rows = book_rows(self.url, self.chapter) if self.url and self._lines else {}
        done: dict[Job, Verdict] = {}
        for job in jobs:
            # Taken before the file is read: a change while it is graded shows the next time.
            path = str(job.path)
            folder = os.path.dirname(path)  # noqa: PTH120 - a large class has tens of thousands of paths
            now = _signature([folder, path, *(f"{folder}/{name}" for name in BESIDE)])
            at_rest = _at_rest(now)
            self._seen[str(job.student)] = now if at_rest else None, "" if at_rest else self._bytes(job)
            line = self._lines.get(str(job.student))
            if line is None or rows is None:
                continue
            if self.url and (line["row"] is None or rows.get(str(job.student)) != line["row"]):
                continue
            if line["back"] != _signature(self.pages.names(job)) or not self._same(job, line, now):
                continue
            with suppress(KeyError, TypeError):  # a part of it is missing: it is looked up in the cache, or made again
                verdict = self._shared.expand(line["verdict"])
                done[job] = verdict.relabelled(notebook=str(job.path), student=job.student)
        return done

    def note(self, outcomes: Iterable[Outcome]) -> None:
        """Note that the marks of ``outcomes`` are in the gradebook."""
        outcomes = [one for one in outcomes if one.settled and str(one.job.student) in self._seen]
        students = [str(one.job.student) for one in outcomes]
        rows = book_rows(self.url, self.chapter, students) if self.url else {}
        if rows is None:
            return
        lines: list[str] = []
        for one in outcomes:
            student = str(one.job.student)
            handed_in, data = self._seen[student]
            new, verdict = self._shared.condense(one.verdict)
            lines += map(_line, new)
            line = {
                "student": student,
                "base": self._base,
                "in": handed_in,
                "bytes": one.key or data,
                "texts": _texts(one.job),
                "verdict": verdict,
                "back": _signature(self.pages.names(one.job)),
                "row": rows.get(student),
            }
            self._lines[student] = line
            lines.append(_line(line))
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            # A line that a power cut left without its end must not spoil the next one.
            file.write("\n" + "".join(lines))

    def _same(self, job: Job, line: dict[str, Any], now: Signature) -> bool:
        """Whether the submission is the one that was graded: by its files' times, or else by its bytes."""
        if line["in"] == now:
            return True
        return bool(line["bytes"]) and line["texts"] == _texts(job) and self._bytes(job) == line["bytes"]

    def _bytes(self, job: Job) -> str:
        """What the submission's bytes are known by; empty where there are none to be read."""
        if any(path.is_symlink() for path in (job.path.parent.parent, job.path.parent, job.path)):
            return ""
        try:
            return self.cache.key(read_bytes(job.path))
        except NotebookError:
            return ""


def book_rows(url: str, chapter: str, students: Sequence[str] = ()) -> dict[str, list[Any]] | None:
    """What the gradebook at ``url`` holds of each submission of ``chapter`` (of ``students`` only, if any).

    None where that is not known: there is no gradebook yet, or it does not answer.
    """
    names = {f"s{number}": student for number, student in enumerate(students)}
    only = f"AND submitted.student_id IN ({','.join(f':{name}' for name in names)})" if names else ""
    # Gathered first and joined then: nothing here has an index to be looked up by. In words that SQLite and PostgreSQL share.
    query = f"""
        WITH scores AS (
            SELECT notebook_id, COUNT(*) AS cells, COUNT(auto_score) AS scored, SUM(auto_score) AS score,
                COUNT(manual_score) AS by_hand, SUM(manual_score) AS hand, SUM(extra_credit) AS extra,
                SUM(CASE WHEN needs_manual_grade THEN 1 ELSE 0 END) AS waiting
            FROM grade GROUP BY notebook_id
        ), remarks AS (SELECT notebook_id, COUNT(auto_comment) AS comments FROM comment GROUP BY notebook_id)
        SELECT submitted.student_id, assignment.duedate, submitted.timestamp, submitted.extension,
            part.late_submission_penalty, cells, scored, score, by_hand, hand, extra, waiting, comments
        FROM assignment
        JOIN submitted_assignment AS submitted ON submitted.assignment_id = assignment.id
        JOIN submitted_notebook AS part ON part.assignment_id = submitted.id
        LEFT JOIN scores ON scores.notebook_id = part.id
        LEFT JOIN remarks ON remarks.notebook_id = part.id
        WHERE assignment.name = :chapter {only}
    """  # noqa: S608 - nothing but names of parameters is put in
    ask = _ask_sqlite if url.startswith("sqlite:///") else _ask_server
    found = ask(url, query, {"chapter": chapter, **names})
    return None if found is None else {row[0]: [_plain(value) for value in row[1:]] for row in found}


def _ask_sqlite(url: str, query: str, values: dict[str, str]) -> list[Any] | None:
    """By Python's own module, at once: an unchanged class costs less than an import of SQLAlchemy."""
    try:
        path = Path(url.removeprefix("sqlite:///"))
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=5)) as book:
            return book.execute(query, values).fetchall()
    except sqlite3.Error:
        return None


def _ask_server(url: str, query: str, values: dict[str, str]) -> list[Any] | None:
    from sqlalchemy import create_engine, text  # noqa: PLC0415
    from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415
    from sqlalchemy.pool import NullPool  # noqa: PLC0415

    try:
        with create_engine(url, poolclass=NullPool).connect() as connection:
            return list(connection.execute(text(query), values))
    except (SQLAlchemyError, ImportError):  # what is wrong is said when marks are written
        return None


def _plain(value: Any) -> Any:
    """A value as it stands in a line of the file: a server gives moments, SQLite the texts of them."""
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _signature(paths: Iterable[str]) -> Signature:
    """What the file system says of each file; None where there is none."""
    found: Signature = []
    for path in paths:
        try:
            stat = os.lstat(path)
        except OSError:
            found.append(None)
        else:
            found.append([stat.st_mode, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns])
    return found


def _at_rest(signature: Signature) -> bool:
    newest = max((one[-1] for one in signature if one), default=0)
    return newest < time.time_ns() - _YOUNG_NS


def _texts(job: Job) -> list[str | None]:
    return [beside(job.path, name) for name in BESIDE]


def _line(line: dict[str, Any]) -> str:
    return json.dumps(line, separators=(",", ":")) + "\n"  # in ASCII, in which every text can be written down


def _fingerprint(course: Course, base: bytes) -> str:
    """Everything that pages and gradebook entries depend on besides the verdict."""
    digest = hashlib.sha256(base)
    framework = Path(autograder.__file__).parent
    files = [course.root / "course_config.py", course.root / "nbgrader_config.py"]
    files += sorted(path for path in (framework / "feedback").rglob("*") if path.suffix in {".py", ".j2"})
    for path in files:
        if path.is_file():
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    digest.update(repr((course.title, course.disclosure, course.located)).encode())
    return digest.hexdigest()

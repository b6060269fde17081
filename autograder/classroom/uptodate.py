"""What has been entered and given back already, so that an unchanged class costs next to nothing to grade again.

One line of JSON a submission, appended when its marks are in the gradebook, after the lines of those outcomes that no
line before it has. A line is believed where the course, the submission, the files that the student got back and the
gradebook's row are all as they were when it was written; whatever is in doubt is written again.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import autograder
from autograder.base.files import write_atomically
from autograder.base.verdict import Verdict
from autograder.classroom.delivery import BESIDE, Pages, beside
from autograder.classroom.doubts import MAX_OTHER, MAX_OTHERS
from autograder.classroom.gradebook.reading import ChapterInBook, read_chapter
from autograder.classroom.shared_outcomes import SharedOutcomes
from autograder.course.course import Course
from autograder.course.notebook import NotebookError, other_notebooks, read_bytes
from autograder.grading.outcome import Outcome
from autograder.grading.submission import Job
from autograder.grading.verdict_cache import VerdictCache

__all__ = ["UpToDateFile"]

# A file system's clock may stand still for this long: a file this young may change without its time telling.
_YOUNG_NS = 1_000_000_000

Signature = list[list[int] | None]


@dataclass
class UpToDateFile:
    """The file of one chapter; ``url`` is the gradebook's, or None where marks are not entered.

    ``book`` is what the gradebook held of the chapter when it was last asked for all students, None before. Without ``may_tidy`` the
    file is only read.
    """

    course: Course
    chapter: str
    cache: VerdictCache
    pages: Pages
    url: str | None
    book: ChapterInBook | None = None
    may_tidy: bool = True
    _lines: dict[str, dict[str, Any]] = field(default_factory=dict)
    _older: dict[str, dict[str, Any]] = field(default_factory=dict)  # of another configuration, or other checks
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
                        for lines in (self._lines, self._older):
                            lines.pop(found["student"], None)
                        kept = self._lines if found["base"] == self._base else self._older
                        if all(isinstance(name, str) for name in found["verdict"]["exercises"]):
                            kept[found["student"]] = found
        every = [*self._lines.values(), *self._older.values()]
        in_use = {name for line in every for name in line["verdict"]["exercises"]}
        if self.may_tidy and read > 2 * (len(every) + len(in_use)) + 100:
            whole = [*self._shared.lines(in_use), *every]
            write_atomically(self._path, "".join(map(_line, whole)).encode())

    def line(self, student: str) -> Mapping[str, Any] | None:
        """What was noted of ``student`` last, by whatever checks; None where nothing was."""
        return self._lines.get(student) or self._older.get(student)

    def is_of_this_course(self, student: str) -> bool:
        """Whether that was by the checks, solutions and settings as they are now."""
        return student in self._lines

    def last(self, student: str) -> Verdict | None:
        """The verdict whose marks were last entered for ``student``, by whatever checks; None where none is known."""
        line = self.line(student)
        with suppress(KeyError, TypeError):
            return self._shared.expand(line["verdict"]) if line else None
        return None

    def is_another(self, job: Job) -> bool:
        """Whether what lies there now is another notebook than the one whose marks count; false where that is not known."""
        line = self.line(str(job.student))
        if not line or not line.get("counts"):
            return False
        return bool(line["counts"] != _digest(job.path))

    def note_page(self, job: Job) -> None:
        """Note that the page of ``job`` was made anew, and nothing else."""
        line = self._lines.get(str(job.student))
        if line is not None:
            # Of a page that was kept until now a warning was noted with the verdict: the next run makes it without.
            back = None if line.get("kept") else _signature(self.pages.names(job))
            self._lines[str(job.student)] = line = {**line, "back": back}
            self._append([_line(line)])

    def unchanged(self, jobs: Sequence[Job]) -> dict[Job, Verdict]:
        """The verdicts on those of ``jobs`` for which nothing is left to do."""
        self.book = read_chapter(self.url, self.chapter) if self.url and self._lines else ChapterInBook()
        done: dict[Job, Verdict] = {}
        for job in jobs:
            # Taken before the file is read: a change while it is graded shows the next time.
            path = str(job.path)
            folder = os.path.dirname(path)  # noqa: PTH120 - a large class has tens of thousands of paths
            now = _signature([folder, path, *(f"{folder}/{name}" for name in BESIDE), *other_notebooks(path)])
            at_rest = _at_rest(now)
            self._seen[str(job.student)] = now if at_rest else None, "" if at_rest else self._bytes(job)
            line = self._lines.get(str(job.student))
            if line is None or self.book is None or not self._entered(line):
                continue
            if line["back"] != _signature(self.pages.names(job)) or not self._same(job, line, now):
                continue
            with suppress(KeyError, TypeError):  # a part of it is missing: it is looked up in the cache, or made again
                verdict = self._shared.expand(line["verdict"])
                done[job] = verdict.relabelled(notebook=str(job.path), student=job.student)
        return done

    def note(self, outcomes: Iterable[Outcome], marks: Mapping[str, float | None]) -> None:
        """Note that the marks of ``outcomes`` are in the gradebook; ``marks`` has what counts in the end, by student."""
        outcomes = [one for one in outcomes if one.settled and str(one.job.student) in self._seen]
        students = [str(one.job.student) for one in outcomes]
        book = read_chapter(self.url, self.chapter, students) if self.url else ChapterInBook()
        if book is None:
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
                "counts": (self.line(student) or {}).get("counts") if one.lost else _digest(one.job.path),
                "mark": marks.get(student),
                "texts": _texts(one.job),
                "kept": one.page_kept,
                "verdict": verdict,
                "back": _signature(self.pages.names(one.job)),
                "row": book.rows.get(student),
                "points": dict(book.points),
            }
            self._lines[student] = line
            self._older.pop(student, None)
            lines.append(_line(line))
        self._append(lines)

    def _append(self, lines: Sequence[str]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            # A line that a power cut left without its end must not spoil the next one.
            file.write("\n" + "".join(lines))

    def _entered(self, line: dict[str, Any]) -> bool:
        """Whether the gradebook still holds what it did, and its cells are worth what they were."""
        if self.url is None or self.book is None:
            return self.url is None
        row = self.book.rows.get(line["student"])
        return row is not None and row == line["row"] and line.get("points") == self.book.points

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


def _texts(job: Job) -> list[Any]:
    """What lies beside a notebook and bears on what is said of it: nbgrader's own files, and other notebooks."""
    others = [Path(other) for other in other_notebooks(str(job.path))]
    return [
        *(beside(job.path, name) for name in BESIDE),
        *([path.name, _digest(path)] for path in others[:MAX_OTHERS]),
    ]


def _digest(path: Path) -> str:
    """What the bytes of another notebook are known by; of one that is not looked into, its size."""
    try:
        size = path.lstat().st_size
        return str(size) if path.is_symlink() or size > MAX_OTHER else hashlib.sha256(read_bytes(path)).hexdigest()
    except (OSError, NotebookError):
        return ""


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

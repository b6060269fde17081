"""Skip the submissions that have not changed since they were last graded.

The run state of a chapter is a file of JSON lines. One line per submission is appended once its marks are in the gradebook. A
line counts only if the course, the submission, the returned files and the row in the gradebook have not changed since it was
written. Otherwise, the submission is graded and entered again.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import autograder
from autograder.base.files import write_atomically
from autograder.base.verdict import ExerciseVerdict, Verdict
from autograder.classroom.gradebook.reading import ChapterInBook, read_chapter
from autograder.course.course import Course
from autograder.course.notebook import NotebookError, other_notebooks, read_bytes
from autograder.grading.meaning import meaning_of
from autograder.grading.submission import BESIDE, Job, Outcome, beside
from autograder.grading.verdict_cache import VerdictCache

__all__ = ["MAX_OTHER", "MAX_OTHERS", "RunState", "SharedOutcomes", "hold_run_lock", "is_running"]

# Some file systems record times with only this precision. A file written more recently may change again and keep the same time.
_YOUNG_NS = 1_000_000_000
MAX_OTHERS = 20  # the most other notebooks in a submission that are read, because a student may submit thousands
MAX_OTHER = 16 << 20  # the most bytes of another notebook that is read

Signature = list[list[int] | None]


class SharedOutcomes:
    """The exercise verdicts in a file of JSON lines, each stored under the hash of its content.

    When verdicts are read back, equal exercise verdicts become one shared object. A class of a thousand has a few
    hundred different exercise verdicts, and each is decoded only once.
    """

    def __init__(self) -> None:
        self._found: dict[str, ExerciseVerdict] = {}

    def read(self, line: dict[str, Any]) -> bool:
        """Store the exercise verdict in a line that ``condense`` made. Return False for any other line.

        Raises ``KeyError`` or ``TypeError`` if the line comes from another version.
        """
        if "outcome" not in line:
            return False
        self._found[line["outcome"]] = ExerciseVerdict.from_json(line["exercise"])
        return True

    def condense(self, verdict: Verdict) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Return the lines that must be written before a verdict, and the verdict with hashes in place of its exercise verdicts."""
        lines, names = [], []
        line = verdict.to_json()
        for exercise, outcome in zip(line["exercises"], verdict.exercises, strict=True):
            name = hashlib.sha256(json.dumps(exercise).encode()).hexdigest()[:32]
            names.append(name)
            if name not in self._found:
                self._found[name] = outcome
                lines.append({"outcome": name, "exercise": exercise})
        return lines, {**line, "exercises": names}

    def expand(self, line: dict[str, Any]) -> Verdict:
        """Return the verdict that ``condense`` wrote. Raises ``KeyError`` or ``TypeError`` if a part of the verdict is missing."""
        exercises = tuple([self._found[name] for name in line["exercises"]])
        return Verdict(**{**line, "exercises": exercises})

    def lines(self, names: Collection[str]) -> list[dict[str, Any]]:
        """Return the lines of the exercise verdicts in ``names``, to write them into a new file."""
        return [{"outcome": name, "exercise": one.to_json()} for name, one in self._found.items() if name in names]


@dataclass
class RunState:
    """The state of the last run over a chapter, kept in a file.

    Attributes:
        returned: a function that returns the paths of the files that the student of a job gets back.
        url: the address of the gradebook, or None if no marks are entered.
        book: the chapter in the gradebook when it was last read for all students, or None before that.
        may_tidy: whether the file may be rewritten without its outdated lines.
    """

    course: Course
    chapter: str
    cache: VerdictCache
    returned: Callable[[Job], list[str]]
    url: str | None
    book: ChapterInBook | None = None
    may_tidy: bool = True
    _lines: dict[str, dict[str, Any]] = field(default_factory=dict)
    _older: dict[str, dict[str, Any]] = field(default_factory=dict)  # lines from earlier settings or checks
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
                        current = found["base"] == self._base and self.cache.accepts(found["parts"])
                        kept = self._lines if current else self._older
                        if all(isinstance(name, str) for name in found["verdict"]["exercises"]):
                            kept[found["student"]] = found
        every = [*self._lines.values(), *self._older.values()]
        in_use = {name for line in every for name in line["verdict"]["exercises"]}
        if self.may_tidy and read > 2 * (len(every) + len(in_use)) + 100:
            whole = [*self._shared.lines(in_use), *every]
            write_atomically(self._path, "".join(map(_line, whole)).encode())

    def line(self, student: str) -> Mapping[str, Any] | None:
        """Return the last line about ``student``, even if the checks have changed since, or None if there is none."""
        return self._lines.get(student) or self._older.get(student)

    def is_of_this_course(self, student: str) -> bool:
        """Return whether the last line was written with the current checks, solutions and settings."""
        return student in self._lines

    def was_entered(self, student: str) -> bool:
        """Return whether an earlier run entered a mark for ``student``."""
        return bool((self.line(student) or {}).get("row"))

    def was_stopped(self, job: Job) -> bool:
        """Return whether an earlier run graded the notebook and was stopped before it entered the mark."""
        return self.line(str(job.student)) is None and bool(self.cache.load_parts(self._bytes(job)))

    def last(self, student: str) -> Verdict | None:
        """Return the verdict whose marks were last entered for ``student``, even if the checks have changed since."""
        line = self.line(student)
        with suppress(KeyError, TypeError):
            return self._shared.expand(line["verdict"]) if line else None
        return None

    def was_replaced(self, job: Job) -> bool:
        """Return whether the notebook differs from the notebook whose marks count, or False if that is not known."""
        line = self.line(str(job.student))
        if not line or not line.get("counts"):
            return False
        return bool(line["counts"] != _digest(job.path))

    def note_page(self, job: Job) -> None:
        """Record that the page of ``job`` was written again."""
        line = self._lines.get(str(job.student))
        if line is not None:
            # The stored verdict warns that the page was kept. Without "back", the next run handles the notebook again and drops the warning.
            back = None if line.get("kept") else _signature(self.returned(job))
            self._lines[str(job.student)] = line = {**line, "back": back}
            self._append([_line(line)])

    def note_mark(self, student: str, mark: float | None) -> None:
        """Record that another command changed the mark of ``student`` in the gradebook, and logged the change."""
        book = read_chapter(self.url, self.chapter, [student]) if self.url else None
        if book is not None and (line := self._lines.get(student)) is not None:
            self._lines[student] = line = {**line, "mark": mark, "row": book.rows.get(student)}
            self._append([_line(line)])

    def unchanged(self, jobs: Sequence[Job]) -> dict[Job, Verdict]:
        """Return the verdicts on the ``jobs`` that need no work."""
        self.book = read_chapter(self.url, self.chapter) if self.url and self._lines else ChapterInBook()
        done: dict[Job, Verdict] = {}
        for job in jobs:
            # Take the signature before the file is read, so that the next run sees a change during grading.
            path = str(job.path)
            folder = os.path.dirname(path)  # noqa: PTH120 - a large class has tens of thousands of paths
            now = _signature([folder, path, *(f"{folder}/{name}" for name in BESIDE), *other_notebooks(path)])
            at_rest = max((one[-1] for one in now if one), default=0) < time.time_ns() - _YOUNG_NS
            self._seen[str(job.student)] = now if at_rest else None, "" if at_rest else self._bytes(job)
            line = self._lines.get(str(job.student))
            if line is None or self.book is None or not self._entered(line):
                continue
            if line["back"] != _signature(self.returned(job)) or not self._same(job, line, now):
                continue
            with suppress(KeyError, TypeError):  # a part is missing, so the notebook is graded again
                verdict = self._shared.expand(line["verdict"])
                done[job] = verdict.relabelled(notebook=str(job.path), student=job.student)
        return done

    def note(self, outcomes: Iterable[Outcome], marks: Mapping[str, float | None]) -> None:
        """Record that the marks of ``outcomes`` are in the gradebook. ``marks`` contains the final mark of each student."""
        outcomes = [one for one in outcomes if one.is_final and str(one.job.student) in self._seen]
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
                "parts": dict(self.cache.parts if one.parts is None else one.parts),
                "in": handed_in,
                "bytes": one.key or data,
                "counts": (self.line(student) or {}).get("counts") if one.was_superseded else _digest(one.job.path),
                "mark": marks.get(student),
                "texts": _texts(one.job),
                "kept": one.page_kept,
                "verdict": verdict,
                "back": _signature(self.returned(one.job)),
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
            # The first line break ends a line that a power cut left incomplete.
            file.write("\n" + "".join(lines))

    def _entered(self, line: dict[str, Any]) -> bool:
        """Return whether the student's row and the cells' points in the gradebook still match ``line``."""
        if self.url is None or self.book is None:
            return self.url is None
        row = self.book.rows.get(line["student"])
        return row is not None and row == line["row"] and line.get("points") == self.book.points

    def _same(self, job: Job, line: dict[str, Any], now: Signature) -> bool:
        """Return whether the submission is unchanged since it was graded. Compare its files' times, then its bytes."""
        if line["in"] == now:
            return True
        return bool(line["bytes"]) and line["texts"] == _texts(job) and self._bytes(job) == line["bytes"]

    def _bytes(self, job: Job) -> str:
        """Return the cache key of the submission's bytes, or "" if they cannot be read."""
        if any(path.is_symlink() for path in (job.path.parent.parent, job.path.parent, job.path)):
            return ""
        try:
            return self.cache.key(read_bytes(job.path))
        except NotebookError:
            return ""


def _signature(paths: Iterable[str]) -> Signature:
    """Return the mode, inode, size and times of each file, or None for a missing file."""
    found: Signature = []
    for path in paths:
        found.append(None)
        with suppress(OSError):
            stat = os.lstat(path)
            found[-1] = [stat.st_mode, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns]
    return found


def _texts(job: Job) -> list[Any]:
    """Return the contents of nbgrader's own files next to a notebook, and digests of the other notebooks there. The verdict depends on them."""
    others = [Path(other) for other in other_notebooks(str(job.path))]
    return [*(beside(job.path, name) for name in BESIDE), *([path.name, _digest(path)] for path in others[:MAX_OTHERS])]


def _digest(path: Path) -> str:
    """Return the hash of a notebook, or its size if it is too large to be read."""
    try:
        size = path.lstat().st_size
        return str(size) if path.is_symlink() or size > MAX_OTHER else hashlib.sha256(read_bytes(path)).hexdigest()
    except (OSError, NotebookError):
        return ""


def _line(line: dict[str, Any]) -> str:
    return json.dumps(line, separators=(",", ":")) + "\n"  # in ASCII, so that any text can be encoded


def _fingerprint(course: Course, base: bytes) -> str:
    """Return the hash of everything that pages and gradebook entries depend on, except the verdict."""
    digest = hashlib.sha256(base)
    framework = Path(autograder.__file__).parent
    files = sorted(path for path in (framework / "pages").rglob("*") if path.suffix in {".py", ".j2"})
    texts = [path.read_bytes() for path in files]
    configs = (course.root / "course_config.py", course.root / "nbgrader_config.py")
    # No mark and no page depends on where notebooks are exchanged.
    texts += [meaning_of(path.read_bytes(), without="Exchange") for path in configs if path.is_file()]
    for text in texts:
        digest.update(hashlib.sha256(text).digest())
    digest.update(repr((course.title, course.disclosure, course.located)).encode())
    return digest.hexdigest()


@contextmanager
def hold_run_lock(course: Course, chapter: str) -> Iterator[None]:
    """Hold a lock that tells other processes that ``chapter`` is being graded. Several runs can hold it. It is released when the process ends."""
    path = course.state("running", chapter)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        # Ignore errors: the file system may have no locks, or another process may be testing this lock. Only a remark in the preview depends on it.
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        yield


def is_running(course: Course, chapter: str) -> bool:
    """Return whether a run over ``chapter`` holds the lock. Nothing is written."""
    try:
        file = course.state("running", chapter).open("rb")
    except OSError:
        return False
    with file, suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return False
    return True

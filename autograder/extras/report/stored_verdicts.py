"""Read the verdicts that grading stored, even if the course has changed since then."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from autograder.base.foreign import Json
from autograder.base.verdict import Verdict
from autograder.classroom.incremental import SharedOutcomes
from autograder.course.course import Course
from autograder.grading.submission import BESIDE, beside

__all__ = ["StoredVerdict", "stored_verdicts"]


@dataclass(frozen=True, slots=True)
class StoredVerdict:
    """The last verdict on a student's notebook. ``handed_in`` is the text of nbgrader's ``timestamp.txt`` at that time, if any.

    ``size`` is the notebook's size at that time, or None if it was not recorded. If ``noted`` is false, neither is known.
    """

    verdict: Verdict
    handed_in: str | None = None
    size: int | None = None
    noted: bool = False

    def is_of(self, path: Path) -> bool:
        """Return whether the notebook at ``path`` seems unchanged since it was graded.

        Copying a course changes the times of its files, so only the size and nbgrader's own timestamp are compared.
        """
        if not self.noted:
            return True
        try:
            size = path.lstat().st_size
        except OSError:
            return self.verdict.status == "ungradable"
        return (self.size is None or size == self.size) and beside(path, BESIDE[0]) == self.handed_in


def stored_verdicts(course: Course, chapter: str, students: Collection[str]) -> dict[str, StoredVerdict]:
    """Return the last stored verdict of each of ``students`` who has one."""
    folder = course.state("verdicts", chapter)
    found = {name: kept for name, kept in _noted(folder).items() if name in students}
    if missing := set(students) - found.keys():
        # `nbgrader autograde` records no line, but it stores the verdict, too.
        found |= _stored(folder, missing)
    return found


def _noted(folder: Path) -> dict[str, StoredVerdict]:
    """Return the verdicts on entered marks, for any version of the course. The last line of each student counts."""
    shared, lines = SharedOutcomes(), {}
    try:
        texts = (folder / "uptodate.jsonl").read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    for text in texts:
        with suppress(ValueError, KeyError, TypeError):
            line = json.loads(text)
            if not shared.read(line):
                lines[str(line["student"])] = line
    found = {}
    for student, line in lines.items():
        with suppress(ValueError, KeyError, TypeError, IndexError):
            found[student] = StoredVerdict(shared.expand(line["verdict"]), line["texts"][0], _size(line), noted=True)
    return found


def _size(line: Mapping[str, Json]) -> int | None:
    signature = line["in"]  # of the folder, then of the notebook. None if the time was not reliable.
    return int(signature[1][2]) if signature and signature[1] else None


def _stored(folder: Path, students: Collection[str]) -> dict[str, StoredVerdict]:
    found: dict[str, tuple[float, Verdict]] = {}
    for path in folder.glob("*.json"):
        if path.name.endswith(".cells.json"):
            continue
        with suppress(OSError, ValueError, KeyError, TypeError):
            when = path.stat().st_mtime
            kept = json.loads(path.read_bytes())
            verdict = Verdict.from_json({name: value for name, value in kept.items() if name != "parts"})
            if verdict.student in students and when >= found.get(str(verdict.student), (0.0, None))[0]:
                found[str(verdict.student)] = when, verdict
    return {student: StoredVerdict(verdict) for student, (_, verdict) in found.items()}

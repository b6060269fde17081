"""Log mark changes in a file of the course folder: the old and the new mark, the reason, the time and the account."""

from __future__ import annotations

import datetime as dt
import getpass
import json
import os
import platform
import shlex
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from autograder.base.formatting import number, pluralize
from autograder.base.marks import SubmissionMarks
from autograder.base.sanitize import sanitize
from autograder.base.verdict import CheckResult, Verdict
from autograder.course.course import Course

__all__ = [
    "LOG_NAME", "ChangedCheck", "MarkChange", "acting", "append_changes", "differing_checks", "mark_of", "read_changes",
]  # fmt: skip

LOG_NAME = "moved_marks.jsonl"
NO_RECORD = "graded again, but .autograder/ has no record of the previous grading, so the reason is unknown"
HANDED_IN_AGAIN = "submitted again"
COURSE_CHANGED = "the checks, the solutions or the settings of the course changed"
LATE = "the late penalty changed"
BY_HAND = "changed manually in the gradebook"
EXTENDED = "an extension of {time} was granted"
OTHERWISE = "graded again, with a different result"


@dataclass(frozen=True, slots=True)
class ChangedCheck:
    """A check whose result changed. ``before`` is empty for a new check, and ``after`` for a removed check."""

    exercise: str
    check: str
    title: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.exercise}, “{self.title}”: {self.before or 'new'} → {self.after or 'gone'}"


@dataclass(frozen=True, slots=True)
class MarkChange:
    """A student's mark in a chapter before and after a change, with any late penalty subtracted. None means no mark.

    ``by`` names the account, the machine and the command that made or first found the change.
    """

    student: str
    chapter: str
    before: float | None
    after: float | None
    worth: float
    why: str
    checks: tuple[ChangedCheck, ...] = ()
    when: str = ""
    by: str = ""

    @property
    def is_drop(self) -> bool:
        """Whether the mark is lower than before, or gone."""
        return self.before is not None and (self.after is None or self.after < self.before - 1e-9)

    @property
    def text(self) -> str:
        """The old mark, the new mark and the reason, as a readable text."""
        before, after = ("no mark" if mark is None else number(mark) for mark in (self.before, self.after))
        more = [f"and {len(self.checks) - 3} more"] if len(self.checks) > 3 else []
        checks = "; ".join([*map(str, self.checks[:3]), *more])
        moved = f"{before} → {after} of {pluralize(self.worth, 'point')}: {self.why}"
        if self.before == self.after:  # an extension that changed no mark
            moved = self.why
        return f"{moved} ({checks})" if checks else moved

    def to_json(self) -> dict[str, Any]:
        """Return the change as a line of the log and as JSON for the command line."""
        names = {"before": "from", "after": "to"}
        whole = {names.get(name, name): value for name, value in asdict(self).items()}
        return {"when": whole.pop("when"), **whole}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> MarkChange:
        """Return the change that ``to_json`` described. Raises ``KeyError`` or ``TypeError`` for anything else."""
        checks = tuple(ChangedCheck(**check) for check in data["checks"])
        rest = {name: data[name] for name in ("student", "chapter", "worth", "why", "when")}
        return cls(before=data["from"], after=data["to"], checks=checks, by=data.get("by", ""), **rest)


def mark_of(marks: SubmissionMarks | None) -> float | None:
    """Return the final mark, or None if no mark was given."""
    return marks.total if marks is not None and marks.is_graded else None


def differing_checks(before: Verdict | None, after: Verdict) -> tuple[ChangedCheck, ...]:
    """Return the checks whose results differ between two verdicts. The result is empty if ``before`` is None."""
    if before is None:
        return ()
    old, new = _checks(before), _checks(after)
    found = []
    for key, check in {**new, **{key: check for key, check in old.items() if key not in new}}.items():
        was, now = old.get(key), new.get(key)
        if was is None or now is None or was.status != now.status or was.points != now.points:
            found.append(ChangedCheck(*key, check.title, _standing(was, now), _standing(now, was)))
    return tuple(found)


def _checks(verdict: Verdict) -> dict[tuple[str, str], CheckResult]:
    return {(exercise.name, check.name): check for exercise in verdict.exercises for check in exercise.checks}


def _standing(check: CheckResult | None, other: CheckResult | None) -> str:
    if check is None:
        return ""
    words = check.status.replace("_", " ")
    return words if other is None or check.points == other.points else f"{words} for {pluralize(check.points, 'point')}"


def append_changes(course: Course, changes: Iterable[MarkChange]) -> None:
    """Append ``changes`` to the course's log, with the current time and this process's account and command."""
    by = acting()
    now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    lines = [json.dumps({**change.to_json(), "when": now, "by": by}, ensure_ascii=False) + "\n" for change in changes]
    if lines:
        with (course.root / LOG_NAME).open("a", encoding="utf-8", errors="backslashreplace") as log:
            log.write("".join(lines))


def acting() -> str:
    """Return the account, the machine and the command of this process."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # an account without a name, as in some containers
        user = f"uid {os.getuid()}"
    command = shlex.join([Path(sys.argv[0] or "python").name, *sys.argv[1:]])
    return sanitize(f"{user}@{platform.node()}: {command}", 300)


def read_changes(course: Course, chapters: Sequence[str] = (), students: Sequence[str] = ()) -> list[MarkChange]:
    """Return the changes in the course's log, oldest first. If ``chapters`` or ``students`` are given, return only their changes.

    An incomplete line, for example after a power cut, is skipped.
    """
    found = []
    path = course.root / LOG_NAME
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    for line in text.splitlines():
        with suppress(ValueError, KeyError, TypeError):
            found.append(MarkChange.from_json(json.loads(line)))
    return [m for m in found if (not chapters or m.chapter in chapters) and (not students or m.student in students)]

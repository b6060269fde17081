"""Enter marks in Canvas through its API, after showing every change.

The package canvasapi makes the requests. https://canvas.instructure.com/doc/api/submissions.html documents them: listing the submissions
of an assignment, and "Grade or comment on multiple submissions".
"""

from __future__ import annotations

import datetime as dt
import os
import re
import sys
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import click

from autograder.base.errors import CourseError, UnavailableError
from autograder.base.formatting import number, pluralize
from autograder.base.sanitize import sanitize
from autograder.classroom.gradebook.people import Person
from autograder.cli.output import echo_status
from autograder.extras.export.gradebook import ClassMarks, format_points
from autograder.extras.export.roster import Ids, Scale, scale_of

__all__ = ["TOKEN", "CanvasError", "push_marks", "submission_times"]

TOKEN = "CANVAS_API_TOKEN"  # noqa: S105 - the name of the variable, not a token
_WAIT_SECONDS = 300.0  # the longest time that Canvas may take to enter the marks
_CLOSE = 0.005  # marks that differ by at most this count as equal, because Canvas shows two decimals
_MAX_NAMES = 5


class CanvasError(UnavailableError):
    """Raised if Canvas cannot be reached or rejects a request. The message never contains the token."""


@dataclass(frozen=True)
class CanvasChange:
    """A mark that Canvas does not have yet. ``user`` is the student's Canvas id. ``before`` is the mark in Canvas, or None."""

    student: str
    user: int
    before: float | None
    after: float


def push_marks(
    found: ClassMarks, url: str, columns: Mapping[str, str], scale: Scale, *, send: bool = False, yes: bool = False
) -> None:
    """Show every mark that differs from the mark in Canvas. With ``send``, ask for confirmation, enter the marks and read them back.

    ``url`` is the address of the Canvas course. ``columns`` maps a chapter to the name of its assignment there. Raises ``CourseError`` or ``CanvasError``.
    """
    with _errors():
        course = _course(url)
        users = _matched(found.students, list(course.get_users(enrollment_type=["student"])))
        assignments = {
            chapter: _assignment(course, chapter, columns.get(chapter, chapter)) for chapter in found.chapters
        }
        plans = {chapter: _changes(found, chapter, one, users, scale) for chapter, one in assignments.items()}
    total = sum(map(len, plans.values()))
    unknown = [s.id for s in found.students if s.id not in users and any(found.of(c, s.id) for c in found.chapters)]
    if unknown:
        echo_status(
            f"{pluralize(len(unknown), 'student')} with marks {'is' if len(unknown) == 1 else 'are'} not in the Canvas course: {_few(unknown)}. "
            "Students are matched by their LMS id, student id and email address in the gradebook."
        )
    for chapter, changes in plans.items():
        for one in changes:
            before = "–" if one.before is None else number(one.before)
            click.echo(f"{chapter}  {sanitize(one.student)}: {before} → {number(one.after)}")
    if not total:
        echo_status("Canvas already has all of these marks.")
        return
    where = f"{pluralize(total, 'mark')} in the course “{sanitize(str(course.name))}”"
    if not send:
        echo_status(f"Nothing was sent. To enter {where}, add --send.")
        return
    if not yes and not _confirmed(f"Enter {where}?"):
        raise CanvasError("Nothing was sent.")
    with _errors():
        lost = [
            f"{one.student} ({chapter})"
            for chapter, changes in plans.items()
            if changes
            for one in _send(assignments[chapter], changes)
        ]
    if lost:
        raise CanvasError(
            f"Canvas did not accept {pluralize(len(lost), 'mark')}: {_few(lost)}. Their grading period may be closed. The other marks were entered."
        )
    echo_status(f"Entered {where}, and read {'it' if total == 1 else 'them'} back from Canvas to check.")


def submission_times(url: str, chapter: str, name: str) -> dict[str, str]:
    """Return when each student submitted the assignment ``name``, by Canvas id, in the format of nbgrader's ``timestamp.txt``."""
    with _errors():
        found = {one.user_id: one.submitted_at for one in _assignment(_course(url), chapter, name).get_submissions()}
    times = {user: dt.datetime.fromisoformat(text) for user, text in found.items() if text}
    return {str(user): f"{time.astimezone(dt.UTC):%Y-%m-%d %H:%M:%S} UTC" for user, time in times.items()}


def _confirmed(question: str) -> bool:
    if not sys.stdin.isatty():
        raise CourseError(
            f"{question} Without a terminal, you cannot answer. To enter the marks without this question, add --yes."
        )
    return click.confirm(question, err=True)


def _course(url: str) -> Any:
    match = re.match(r"(https?://[^/]+)/courses/(\d+)", url)
    if match is None:
        shown = f"{url!r} is not the address of a course." if url else "No address is given."
        raise CourseError(
            f"Canvas's API needs the address of the course, such as --url https://canvas.example.edu/courses/17. {shown}"
        )
    token = os.environ.get(TOKEN, "")
    if not token:
        raise CourseError(
            f"Canvas's API needs a token in the environment variable {TOKEN}. Create one in Canvas: Account › Settings › New Access Token."
        )
    try:
        from canvasapi import Canvas  # noqa: PLC0415 - optional
    except ImportError as error:
        raise CanvasError(
            "Canvas's API needs canvasapi, which is not installed: pip install 'nbautograder[canvas]'."
        ) from error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # canvasapi warns about an address without https, which only a test server has
        return Canvas(match[1], token).get_course(int(match[2]))


@contextmanager
def _errors() -> Iterator[None]:
    """Convert an error from Canvas or the network into a ``CanvasError`` with a readable message."""
    try:
        yield
    except (CourseError, UnavailableError):
        raise
    except Exception as error:
        modules = {kind.__module__.partition(".")[0] for kind in type(error).__mro__}
        if not modules & {"canvasapi", "requests", "urllib3"}:
            raise
        name = type(error).__name__
        text = " ".join(sanitize(str(error), 200).replace(os.environ.get(TOKEN) or "\0", "…").split())
        unexpected = f"{name}: {text.rstrip('.')}. Wait, or fix the problem."
        advice = {
            "InvalidAccessToken": f"The token in {TOKEN} is wrong or has expired. Create a new one.",
            "Unauthorized": "The token's owner does not have permission to do this in the course. Use the token of a teacher.",
            "Forbidden": "The token's owner does not have permission to do this in the course, or there were too many requests. Check the permission, or wait a minute.",
            "ResourceDoesNotExist": "The token's owner has no access to this course or assignment. Check --url and --column.",
            "RateLimitExceeded": "There were too many requests. Wait a minute.",
            "ConnectionError": "Canvas cannot be reached. Check --url and the network.",
        }
        raise CanvasError(f"Canvas: {advice.get(name) or unexpected} Then run the same command again.") from error


def _matched(students: Sequence[Person], users: Sequence[Any]) -> dict[str, int]:
    """Return the Canvas id of each student, found by the most reliable key. Raises ``CourseError`` if two students match one user."""
    keys: Mapping[str, Ids] = {
        "id": lambda s: [s.lms_user_id],
        "sis_user_id": lambda s: [s.lms_user_id, s.id],
        "integration_id": lambda s: [s.lms_user_id, s.id],
        "login_id": lambda s: [s.id, s.email],
        "email": lambda s: [s.email],
    }
    found: dict[str, int] = {}
    owners: dict[int, str] = {}
    for key, ids in keys.items():
        by_id: dict[str, set[int]] = {}
        for user in users:
            if value := str(getattr(user, key, None) or "").casefold():
                by_id.setdefault(value, set()).add(user.id)
        for student in students:
            for value in filter(None, ids(student)):
                there = by_id.get(value.casefold(), set())
                if len(there) != 1 or student.id in found:
                    continue
                [user_id] = there
                if user_id in owners:
                    raise CourseError(
                        f"{owners[user_id]} and {student.id} in the gradebook both match user {user_id} in Canvas. Nothing was sent. Give each "
                        "student a different LMS id (`nbgrader db student add ID --lms-user-id=…` changes it)."
                    )
                found[student.id], owners[user_id] = user_id, student.id
    return found


def _assignment(course: Any, chapter: str, name: str) -> Any:
    every = list(course.get_assignments())
    found = [one for one in every if str(one.name).strip().casefold() == name.strip().casefold()]
    if len(found) == 1:
        return found[0]
    what = f"{len(found)} assignments" if found else "no assignment"
    names = ", ".join(sorted(sanitize(str(one.name)) for one in every)[:10]) or "none"
    raise CourseError(
        f"The Canvas course has {what} called {name!r}. Nothing was sent. Its assignments are: {names}. Choose the right one with --column {chapter}=NAME."
    )


def _changes(
    found: ClassMarks, chapter: str, assignment: Any, users: Mapping[str, int], scale: Scale
) -> list[CanvasChange]:
    """Return the marks of ``chapter`` that differ from the marks in Canvas, in the order of the students."""
    if assignment.grading_type in {"pass_fail", "not_graded"}:
        raise CourseError(
            f"The assignment of {chapter} in Canvas is graded as {assignment.grading_type!r}, which has no points. Nothing was sent. In Canvas, "
            "set it to points."
        )
    factor, remarks = scale_of(chapter, found.worth[chapter], assignment.points_possible, "Canvas", scale)
    for remark in remarks:
        echo_status(remark)
    there = {one.user_id: one for one in assignment.get_submissions()}
    changes, excused, absent = [], [], []
    for student in found.students:
        score, user = found.score(chapter, student.id), users.get(student.id)
        if score is None or user is None:
            continue
        if user not in there:
            absent.append(student.id)
        elif getattr(there[user], "excused", False):
            excused.append(student.id)
        else:
            before, after = there[user].score, round(score * factor, 6)
            if before is None or abs(before - after) > _CLOSE:
                changes.append(CanvasChange(student.id, user, before, after))
    for names, why in ((excused, "excused in Canvas"), (absent, "not assigned to the student in Canvas")):
        if names:
            echo_status(
                f"{chapter}: {pluralize(len(names), 'mark')} left out, because the work is {why}: {_few(names)}."
            )
    return changes


def _send(assignment: Any, changes: Sequence[CanvasChange]) -> list[CanvasChange]:
    """Enter the marks, wait until Canvas has finished, and return the marks that it did not accept."""
    grades = {one.user: {"posted_grade": format_points(one.after)} for one in changes}
    progress = assignment.submissions_bulk_update(grade_data=grades)
    ends = time.monotonic() + _WAIT_SECONDS
    pause = 0.2
    while progress.workflow_state not in {"completed", "failed"} and time.monotonic() < ends:
        time.sleep(pause)
        pause = min(2 * pause, 5.0)
        progress = progress.query()
    now = {one.user_id: one.score for one in assignment.get_submissions()}
    return [one for one in changes if (score := now.get(one.user)) is None or abs(score - one.after) > _CLOSE]


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return ", ".join(map(sanitize, names[:_MAX_NAMES])) + more

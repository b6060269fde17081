"""The result of grading a notebook, per exercise and check, and functions that limit it to what students may see."""

from __future__ import annotations

import json
import math
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Literal

from autograder.base.foreign import Json
from autograder.base.sanitize import sanitize, shorten

__all__ = [
    "CheckResult", "CheckStatus", "Disclosure", "ExerciseStatus", "ExerciseVerdict", "LocatedMistake", "Place",
    "Verdict", "VerdictStatus", "crash", "disclosed_exercise", "json_lines", "redact_verdict",
]  # fmt: skip


CheckStatus = Literal["passed", "failed", "not_tried", "error", "timeout"]
ExerciseStatus = Literal["passed", "partial", "failed", "not_attempted", "error", "timeout"]
VerdictStatus = Literal["graded", "ungradable"]
MAX_TEXT = 8000  # the maximum number of characters in a check's message
MAX_REASON = 4000
_FRAMEWORK = Path(__file__).parents[1]


def _fields(instance: CheckResult | LocatedMistake | ExerciseVerdict | Verdict) -> dict[str, Json]:
    # ``dataclasses.asdict`` makes deep copies, which is too slow for the tens of thousands of checks of a class.
    names = instance.__slots__
    return dict(zip(names, _getter(*names)(instance), strict=True))


_getter = cache(attrgetter)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The outcome of one check (one test function) on one submission.

    Attributes:
        message: the text for the student. Empty if the check passed.
        reason: the short part of the message that says what is wrong.
        example: the part of the message that shows a failing case.
        visible: whether students can run the check themselves.
        waits_for: the name of the failed check that caused this check to be skipped, or empty.
    """

    name: str
    title: str
    status: CheckStatus
    message: str = ""
    visible: bool = False
    points: float = 0.0
    reason: str = ""
    example: str = ""
    waits_for: str = ""

    def __post_init__(self) -> None:
        # A safety net: messages should be short already, but a message of megabytes must never be stored.
        for name in ("message", "reason", "example"):
            text = getattr(self, name)
            if len(text) > MAX_TEXT:
                object.__setattr__(self, name, shorten(text, MAX_TEXT))


@dataclass(frozen=True, slots=True)
class LocatedMistake:
    """The lines of a student's code that need fixing.

    Attributes:
        cell: the name of the student's cell.
        lines: line numbers in the cell, from 1.
        kind: the kind of edit that fixes the code (see ``autograder.base.edit_kinds``). Empty if the lines need different kinds of edits.
        edits: the number of edits needed. If it is 1, fixing any of the lines is enough. If it is 2, both lines are wrong.
    """

    cell: str
    lines: tuple[int, ...]
    kind: str = ""
    edits: int = 1

    def to_json(self) -> dict[str, Json]:
        """Return the location as it appears in a verdict's JSON."""
        return {**_fields(self), "lines": list(self.lines)}

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> LocatedMistake:
        """Return the location described by the output of ``to_json``."""
        return cls(**{**data, "lines": tuple(data["lines"])})


@dataclass(frozen=True, slots=True)
class ExerciseVerdict:
    """The result of one exercise: its checks, its score, and the mistake if one was recognized.

    Attributes:
        misconception: the name of the recognized mistake, or None.
        message: the text for the student about the whole exercise.
        follow_through: a note that explains full marks despite a mistake in an earlier exercise, or None.
        alike: a fingerprint of undiagnosed wrong answers, equal for submissions that gave the same wrong answers.
        located: the lines that need fixing, or None. The JSON has this key only if such lines were found and validated.
    """

    name: str
    score: float
    max_score: float
    status: ExerciseStatus
    misconception: str | None = None
    message: str = ""
    follow_through: str | None = None
    checks: tuple[CheckResult, ...] = ()
    alike: str = ""
    located: LocatedMistake | None = None

    @property
    def may_be_located(self) -> bool:
        """Whether to search for the faulty line. After a timeout there is no search, because each attempt would time out too."""
        return self.status in {"partial", "failed", "error"} and self.misconception is None

    def to_json(self) -> dict[str, Json]:
        """Return the result as it appears in a verdict's JSON."""
        whole = {**_fields(self), "checks": [_fields(check) for check in self.checks]}
        del whole["located"]
        return whole if self.located is None else {**whole, "located": self.located.to_json()}

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> ExerciseVerdict:
        """Return the result described by the output of ``to_json``."""
        checks = tuple(map(_check, data["checks"]))
        located = LocatedMistake.from_json(data["located"]) if "located" in data else None
        return cls(**{**data, "checks": checks, "located": located})


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of grading one notebook.

    Attributes:
        status: ``"ungradable"`` if the notebook could not be judged, so that a technical problem never becomes a silent zero.
        reason: why the notebook is ungradable, or None.
        sandbox: the name of the sandbox in which the student's code ran, or None.
        warning: a problem that needs human review although the notebook has a mark, or None.
    """

    notebook: str
    student: str | None
    chapter: str | None
    status: VerdictStatus
    reason: str | None
    score: float
    max_score: float
    sandbox: str | None
    exercises: tuple[ExerciseVerdict, ...] = field(default=())
    warning: str | None = None

    @classmethod
    def graded(
        cls,
        notebook: str,
        student: str | None,
        chapter: str | None,
        sandbox: str | None,
        exercises: tuple[ExerciseVerdict, ...],
    ) -> Verdict:
        """Return the verdict on a judged notebook. Its score is the sum over its exercises."""
        score = round(math.fsum(exercise.score for exercise in exercises), 9)
        max_score = round(math.fsum(exercise.max_score for exercise in exercises), 9)
        return cls(notebook, student, chapter, "graded", None, score, max_score, sandbox, exercises)

    @classmethod
    def ungradable(
        cls, notebook: str, reason: str, student: str | None = None, chapter: str | None = None, max_score: float = 0.0
    ) -> Verdict:
        """Return the verdict on a notebook that could not be judged, for the given ``reason``. Its 0 points do not count."""
        why = sanitize(reason, MAX_REASON)
        return cls(notebook, student, chapter, "ungradable", why, score=0.0, max_score=max_score, sandbox=None)

    def to_json(self) -> dict[str, Json]:
        """Return the verdict as the JSON object documented for the command line."""
        whole = _fields(self)
        del whole["exercises"]  # added again below, as the last key
        return {**whole, "exercises": [exercise.to_json() for exercise in self.exercises]}

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> Verdict:
        """Return the verdict described by the output of ``to_json``."""
        return cls(**{**data, "exercises": tuple(map(ExerciseVerdict.from_json, data["exercises"]))})

    def exercise(self, name: str) -> ExerciseVerdict:
        """Return the result of the exercise ``name``. Raises ``KeyError`` if there is none."""
        return {exercise.name: exercise for exercise in self.exercises}[name]

    def relabelled(self, *, notebook: str, student: str | None) -> Verdict:
        """Return the same verdict for another copy of the notebook."""
        return replace(self, notebook=notebook, student=student)


def crash(doing: str, error: BaseException) -> str:
    """Return the ``reason`` of an ungradable verdict after an ``error`` in the framework's own code. ``doing`` names the failed step."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if Path(frame.filename).is_relative_to(_FRAMEWORK)] or frames
    where = f" ({Path(ours[-1].filename).name}, line {ours[-1].lineno})" if ours else ""
    return (
        f"{doing} failed: {type(error).__name__}: {sanitize(str(error), 1000)}{where}. "
        "This is not the student's fault. Grade the notebook again, or grade it manually."
    )


def json_lines(verdicts: Iterable[Verdict]) -> Iterator[str]:
    """Yield each verdict's JSON as one line. Results shared by several verdicts (see ``classroom.incremental``) are encoded only once."""
    texts: dict[int, tuple[ExerciseVerdict, str]] = {}

    def text(exercise: ExerciseVerdict) -> str:
        if id(exercise) not in texts:
            # Storing the result keeps it alive, so no other object can have its id.
            texts[id(exercise)] = exercise, json.dumps(exercise.to_json(), ensure_ascii=False)
        return texts[id(exercise)][1]

    for verdict in verdicts:
        whole = _fields(verdict)
        del whole["exercises"]
        head = json.dumps(whole, ensure_ascii=False)[:-1]
        yield f'{head}, "exercises": [{", ".join(map(text, verdict.exercises))}]}}'


def _check(data: dict[str, Json]) -> CheckResult:
    values = tuple(data.values())
    return _known_check(*values) if tuple(data) == CheckResult.__slots__ else CheckResult(**data)


# Most results in a class are equal, and frozen objects can be shared.
_known_check = lru_cache(maxsize=4096, typed=True)(CheckResult)


Disclosure = Literal["title", "message", "example"]
Place = Literal["nothing", "line", "kind"]


def redact_verdict(verdict: Verdict, setting: Disclosure, place: Place = "kind") -> Verdict:
    """Return the verdict without the details that students may not see under ``setting`` and ``place``."""
    shown = tuple(disclosed_exercise(exercise, setting, place) for exercise in verdict.exercises)
    return replace(verdict, exercises=shown)


def disclosed_exercise(exercise: ExerciseVerdict, setting: Disclosure, place: Place = "kind") -> ExerciseVerdict:
    """Return the result of one exercise without the details that students may not see.

    Visible checks are shown in full. For hidden checks, ``setting`` decides:

    - ``"title"``: the title and whether the check passed. The message about the whole exercise is shown only if a visible
      check failed as well, because the student can then get this message without the grader.
    - ``"message"``: also the reason, and the message about the whole exercise.
    - ``"example"``: also the smallest failing case.

    ``place`` decides how much is shown about the faulty lines.
    """
    if exercise.located is not None and place != "kind":
        line = replace(exercise.located, kind="") if place == "line" else None
        exercise = replace(exercise, located=line)
    checks = tuple(_redact_check(check, setting) for check in exercise.checks)
    message = f"\n{exercise.message}\n"
    for check, shown in zip(exercise.checks, checks, strict=True):
        if shown.message != check.message:  # the exercise's message may repeat the check's
            message = message.replace(f"\n{check.message}\n", f"\n{shown.message}\n")
            message = message.replace(check.example, "") if check.example else message
    exercise = replace(exercise, message=message.strip())
    visible = any(check.visible and check.status not in _QUIET for check in exercise.checks)
    if setting == "title" and not visible and exercise.status != "not_attempted":
        return replace(exercise, checks=checks, message="", misconception=None, located=None)
    return replace(exercise, checks=checks)


_QUIET = {"passed", "not_tried"}


def _redact_check(check: CheckResult, setting: Disclosure) -> CheckResult:
    if check.visible or setting == "example":
        return check
    reason = check.reason if setting == "message" else ""
    return replace(check, message=reason, reason=reason, example="")

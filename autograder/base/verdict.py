"""The outcome of a notebook as data: what the grader found for each exercise and check, and what feedback discloses of it."""

from __future__ import annotations

import json
import math
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

from autograder.base.sanitize import sanitize, shorten

__all__ = [
    "CheckResult", "CheckStatus", "Disclosure", "ExerciseStatus", "ExerciseVerdict", "LocatedMistake", "Place",
    "Verdict", "VerdictStatus", "crash", "disclosed_exercise", "json_lines", "redact_verdict",
]  # fmt: skip


CheckStatus = Literal["passed", "failed", "not_tried", "error", "timeout"]
ExerciseStatus = Literal["passed", "partial", "failed", "not_attempted", "error", "timeout"]
VerdictStatus = Literal["graded", "ungradable"]
MAX_TEXT = 8000  # characters of what a check says
MAX_REASON = 4000
_FRAMEWORK = Path(__file__).parents[1]


def _fields(thing: Any) -> dict[str, Any]:
    # ``dataclasses.asdict`` copies every value, deeply, and a class has tens of thousands of checks.
    names = thing.__slots__
    return dict(zip(names, _getter(names)(thing), strict=True))


@cache
def _getter(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    return attrgetter(*names)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The outcome of one check (one test function) on one submission.

    ``message`` is what went wrong, ready to be read; it is empty for a check that passed.
    ``reason`` is the short part of it (what was found), ``example`` the case that shows it: a renderer that
    discloses less leaves them out.
    """

    name: str
    title: str
    status: CheckStatus
    message: str = ""
    visible: bool = False
    points: float = 0.0
    reason: str = ""
    example: str = ""

    def __post_init__(self) -> None:
        # A last net: messages are short where they are written, and nothing reads, stores or enters megabytes of one.
        for name in ("message", "reason", "example"):
            text = getattr(self, name)
            if len(text) > MAX_TEXT:
                object.__setattr__(self, name, shorten(text, MAX_TEXT))


@dataclass(frozen=True, slots=True)
class LocatedMistake:
    """Where the mistake of an exercise is: the lines of the student's own ``cell``, from 1, one small edit of which is right.

    ``kind`` names what the edit is about (``autograder.base.edit_kinds``), empty where the lines differ in it. ``edits`` is how
    many edits it takes: with one, either of two lines is enough; with two, both lines are wrong.
    """

    cell: str
    lines: tuple[int, ...]
    kind: str = ""
    edits: int = 1

    def to_json(self) -> dict[str, Any]:
        """The place as a verdict's JSON holds it."""
        return {**_fields(self), "lines": list(self.lines)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> LocatedMistake:
        """The place that ``to_json`` described."""
        return cls(**{**data, "lines": tuple(data["lines"])})


@dataclass(frozen=True, slots=True)
class ExerciseVerdict:
    """The outcome of one exercise: its checks, its score, and the mistake behind it where one was recognised.

    ``misconception`` is the name of the recognised mistake, ``message`` what the student should read about the
    exercise, ``follow_through`` the note that says why full marks were given over a wrong earlier exercise.
    ``alike`` is the same text for two submissions that gave the same wrong answers, where no misconception explains them.
    ``located`` says where the mistake is, where that was found and proven; the JSON has that key only then.
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
        """Whether the place of its mistake is worth looking for: what takes too long would do so again and again."""
        return self.status in {"partial", "failed", "error"} and self.misconception is None

    def to_json(self) -> dict[str, Any]:
        """The outcome as a verdict's JSON holds it."""
        whole = {**_fields(self), "checks": [_fields(check) for check in self.checks]}
        del whole["located"]
        return whole if self.located is None else {**whole, "located": self.located.to_json()}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> ExerciseVerdict:
        """The outcome that ``to_json`` described."""
        checks = tuple(map(_check, data["checks"]))
        located = LocatedMistake.from_json(data["located"]) if "located" in data else None
        return cls(**{**data, "checks": checks, "located": located})


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of one notebook.

    ``status`` is ``"ungradable"``, with a ``reason``, when the notebook could not be judged at all: never a silent zero.
    ``sandbox`` names the confinement that the student's code ran in. ``warning`` is what a person has to look into although
    there is a mark.
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
        """The verdict on a notebook that was judged: its score is what its exercises earned."""
        score = round(math.fsum(exercise.score for exercise in exercises), 9)
        max_score = round(math.fsum(exercise.max_score for exercise in exercises), 9)
        return cls(notebook, student, chapter, "graded", None, score, max_score, sandbox, exercises)

    @classmethod
    def ungradable(
        cls, notebook: str, reason: str, student: str | None = None, chapter: str | None = None, max_score: float = 0.0
    ) -> Verdict:
        """The verdict on a notebook that could not be judged: never a zero that counts, always with its reason."""
        why = sanitize(reason, MAX_REASON)
        return cls(notebook, student, chapter, "ungradable", why, score=0.0, max_score=max_score, sandbox=None)

    def to_json(self) -> dict[str, Any]:
        """The verdict as the JSON object of the command line's contract."""
        whole = _fields(self)
        del whole["exercises"]  # which stand last
        return {**whole, "exercises": [exercise.to_json() for exercise in self.exercises]}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Verdict:
        """The verdict that ``to_json`` described."""
        return cls(**{**data, "exercises": tuple(map(ExerciseVerdict.from_json, data["exercises"]))})

    def exercise(self, name: str) -> ExerciseVerdict:
        """The outcome of the exercise called ``name``; raises ``KeyError`` when there is none."""
        return {exercise.name: exercise for exercise in self.exercises}[name]

    def relabelled(self, *, notebook: str, student: str | None) -> Verdict:
        """The same verdict for the same bytes found elsewhere."""
        return replace(self, notebook=notebook, student=student)


def crash(doing: str, error: BaseException) -> str:
    """The reason why a notebook over which ``doing`` something raised ``error`` is ungradable, with the place in our own code."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if Path(frame.filename).is_relative_to(_FRAMEWORK)] or frames
    where = f" ({Path(ours[-1].filename).name}, line {ours[-1].lineno})" if ours else ""
    return (
        f"{doing} failed: {type(error).__name__}: {sanitize(str(error), 1000)}{where}. "
        "This is not the student's fault; grade it again, or by hand."
    )


def json_lines(verdicts: Iterable[Verdict]) -> Iterator[str]:
    """``to_json`` of each as text on one line; an outcome that verdicts share (``classroom.shared_outcomes``) is written once."""
    texts: dict[int, tuple[ExerciseVerdict, str]] = {}

    def text(exercise: ExerciseVerdict) -> str:
        if id(exercise) not in texts:
            # The outcome is kept beside its text: while it lives, no other can have its id.
            texts[id(exercise)] = exercise, json.dumps(exercise.to_json(), ensure_ascii=False)
        return texts[id(exercise)][1]

    for verdict in verdicts:
        whole = _fields(verdict)
        del whole["exercises"]
        head = json.dumps(whole, ensure_ascii=False)[:-1]
        yield f'{head}, "exercises": [{", ".join(map(text, verdict.exercises))}]}}'


def _check(data: dict[str, Any]) -> CheckResult:
    values = tuple(data.values())
    return _known_check(*values) if tuple(data) == CheckResult.__slots__ else CheckResult(**data)


@lru_cache(maxsize=4096, typed=True)  # most checks of a class have one outcome, and frozen objects can be shared
def _known_check(*values: Any) -> CheckResult:
    return CheckResult(*values)


Disclosure = Literal["title", "message", "example"]
Place = Literal["nothing", "line", "kind"]


def redact_verdict(verdict: Verdict, setting: Disclosure, place: Place = "kind") -> Verdict:
    """The verdict as its student may read it."""
    shown = tuple(disclosed_exercise(exercise, setting, place) for exercise in verdict.exercises)
    return replace(verdict, exercises=shown)


def disclosed_exercise(exercise: ExerciseVerdict, setting: Disclosure, place: Place = "kind") -> ExerciseVerdict:
    """The outcome of one exercise as its student may read it.

    A visible check is shown whole. Of a hidden one: ``"title"`` its title and whether it passed, ``"message"`` also
    what was found, ``"example"`` also the smallest case that shows it. What is said about the exercise as a whole (the
    mistake that was recognised) comes with ``"message"``, and at ``"title"`` where a visible check failed too, as
    then the student can find it out without the grader. Of where the mistake is, it tells as much as ``place`` has it.
    """
    if exercise.located is not None and place != "kind":
        line = replace(exercise.located, kind="") if place == "line" else None
        exercise = replace(exercise, located=line)
    checks = tuple(_redact_check(check, setting) for check in exercise.checks)
    message = f"\n{exercise.message}\n"
    for check, shown in zip(exercise.checks, checks, strict=True):
        if shown.message != check.message:  # what is said of the whole exercise may repeat what one check found
            message = message.replace(f"\n{check.message}\n", f"\n{shown.message}\n")
            message = message.replace(check.example, "") if check.example else message
    exercise = replace(exercise, message=message.strip())
    own = exercise.status == "not_attempted" or any(c.visible and c.status not in _QUIET for c in exercise.checks)
    if setting == "title" and not own:
        return replace(exercise, checks=checks, message="", misconception=None, located=None)
    return replace(exercise, checks=checks)


_QUIET = {"passed", "not_tried"}


def _redact_check(check: CheckResult, setting: Disclosure) -> CheckResult:
    if check.visible or setting == "example":
        return check
    reason = check.reason if setting == "message" else ""
    return replace(check, message=reason, reason=reason, example="")

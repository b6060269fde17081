"""What an audit found, as data, as a table, and as sentences about what falls short."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from autograder.authoring.audit.category_coverage import CategoryCoverage
from autograder.authoring.audit.localization_benchmark import LocalizationStats
from autograder.authoring.audit.suggestions import Suggestion
from autograder.base.formatting import join_words, pluralize
from autograder.course.course import AT_LEAST, TARGETS

__all__ = [
    "BY_HEART_TARGET", "HIDDEN_TARGET", "KINDS_TARGET", "MISCONCEPTIONS_VISIBLE_TARGET", "VISIBLE_TARGET", "ChapterAudit",
    "ExerciseAudit",
]  # fmt: skip

_KINDS = ("allowed", "visited", "missing")
# Where a course's ``targets`` do not say otherwise.
HIDDEN_TARGET, VISIBLE_TARGET, BY_HEART_TARGET = TARGETS["hidden"], TARGETS["visible"], TARGETS["by_heart"]
MISCONCEPTIONS_VISIBLE_TARGET, KINDS_TARGET = TARGETS["misconceptions_visible"], TARGETS["kinds"]


@dataclass(frozen=True)
class ExerciseAudit:
    """How one exercise's checks did.

    Counts of what was tried, and the names of what went wrong: ``rejected`` alternatives, ``uncaught`` and ``misnamed``
    misconceptions (the latter with what they were named), ``unseen`` ones (no visible check sees them; with the author's
    reason, "" where there is none) and ``needless`` reasons for others, ``claims``, the sentences of messages with numbers
    that no answer shows, by misconception, ``survivors`` among the mutants (no check kills them),
    ``seen_by_hidden_only`` (no visible check does), ``equivalent`` mutants with the reason why they are right,
    ``kills`` per check, ``idle`` checks that nothing but they could show to be needed, and ``flaky`` ones. ``by_heart`` is
    the share of the points that a function earns which answers whatever it is asked with one answer that everybody sees.
    ``places`` says how often the line of a mistake was found, where that was asked for, ``hints`` how many hints there are,
    ``suggestions`` misconceptions that lack only a sentence, where these were asked for.
    """

    name: str
    points: float
    blank_ok: bool
    reference_ok: bool
    alternatives: int
    misconceptions: int
    mutants: int
    answers: bool = False
    rejected: dict[str, str] = field(default_factory=dict)
    uncaught: tuple[str, ...] = ()
    misnamed: dict[str, str] = field(default_factory=dict)
    unseen: dict[str, str] = field(default_factory=dict)
    needless: tuple[str, ...] = ()
    claims: dict[str, str] = field(default_factory=dict)
    survivors: tuple[str, ...] = ()
    seen_by_hidden_only: tuple[str, ...] = ()
    equivalent: dict[str, str] = field(default_factory=dict)
    kills: dict[str, int] = field(default_factory=dict)
    idle: tuple[str, ...] = ()
    flaky: dict[str, str] = field(default_factory=dict)
    by_heart: float = 0.0
    kinds: CategoryCoverage = field(default_factory=CategoryCoverage)
    places: LocalizationStats | None = None
    hints: int = 0
    suggestions: tuple[Suggestion, ...] = ()

    @property
    def killed(self) -> float:
        """The share of non-equivalent mutants that some check kills."""
        return _killed([self])

    @property
    def killed_visibly(self) -> float:
        """The share of non-equivalent mutants that a visible check kills."""
        return _killed([self], visibly=True)

    @property
    def misconceptions_visible(self) -> float:
        """The share of the misconceptions that a visible check sees; those of a quiz are told with the marks and not counted."""
        return _seen([self])

    def problems(self, targets: Mapping[str, float] = TARGETS) -> list[str]:
        """What falls short, one sentence each: what would make marks wrong, then what a draft may go out with."""
        return [*self.faults(), *self.unmet(targets)]

    def faults(self) -> list[str]:
        """What would make a mark wrong, one sentence each."""
        found: list[str] = []
        if not self.blank_ok:
            found.append("the blank stub is not recognised as not attempted, or earns points.")
        if not self.reference_ok:
            found.append("the reference solution does not earn full marks.")
        found += [f"the right solution {n} loses marks: {why}" for n, why in self.rejected.items()]
        found += [f"the misconception {n} keeps full marks." for n in self.uncaught]
        found += [f"the check {n} refuses a right answer with other inputs: {w}" for n, w in self.flaky.items()]
        return [f"{self.name}: {problem}" for problem in found]

    def unmet(self, targets: Mapping[str, float] = TARGETS) -> list[str]:
        """What falls short of the targets and leaves every mark right, one sentence each."""
        found = [f"the misconception {n} is caught, but told as {o or 'nothing'}." for n, o in self.misnamed.items()]
        found += [
            f"the message of the misconception {n} claims a number that its answers do not show: {s} Take one from the case that "
            "the student sees, or mark it as an example (“for example”, “would”)."
            for n, s in self.claims.items()
        ]
        found += [
            f"no visible check sees the misconception {n}: add a visible input that shows it, or say why there can be none "
            f'with hidden_only={{"{n}": "…"}}.'
            for n, why in self.unseen.items()
            if not why
        ]
        found += [
            f"hidden_only has a reason for {n}, which is no misconception of this exercise that visible checks miss: take it out."
            for n in self.needless
        ]
        found += [
            f"no check that is worth points looks at inputs of the kind {kind!r}: a function that is wrong on these alone "
            "keeps full marks. Let a check ask about one, or rule the kind out in the contract with exclude={…}."
            for kind in self.kinds.missing
        ]
        if self.by_heart > targets["by_heart"]:
            found.append(
                f"one visible answer given to every question earns {self.by_heart:.0%} of the points; let more "
                "checks wait for one that it cannot pass, with after=…."
            )
        return [f"{self.name}: {problem}" for problem in found]

    def lacking(self, at_least: Mapping[str, int] = AT_LEAST) -> list[str]:
        """What the course asks of each exercise and this one does not have, one sentence each."""
        asked = [name for name in at_least if not (self.answers and name == "alternatives")]
        return [
            f"{self.name}: it has {pluralize(getattr(self, name), name[:-1])}, and c.Course.at_least asks for {at_least[name]}."
            for name in asked
            if getattr(self, name) < at_least[name]
        ]


def _killed(exercises: Sequence[ExerciseAudit], *, visibly: bool = False) -> float:
    """The share of their mutants, together, that some check kills; with ``visibly``, that a visible one does."""
    total = sum(e.mutants for e in exercises)
    missed = sum(len(e.survivors) + visibly * len(e.seen_by_hidden_only) for e in exercises)
    return 1 - missed / total if total else 1.0


def _seen(exercises: Sequence[ExerciseAudit]) -> float:
    """The share of their misconceptions, together, that a visible check sees; those of answers are not counted."""
    total = sum(e.misconceptions for e in exercises if not e.answers)
    return 1 - sum(len(e.unseen) for e in exercises) / total if total else 1.0


@dataclass(frozen=True)
class ChapterAudit:
    """The audit of a chapter, held against its course's ``targets``.

    ``at_least`` says what its course asks of each exercise. ``mistakes`` are sentences about what its author got wrong outside the checks; a ``draft`` was released with targets unmet.
    """

    chapter: str
    exercises: tuple[ExerciseAudit, ...]
    seconds: float = 0.0
    targets: Mapping[str, float] = field(default_factory=lambda: dict(TARGETS))
    mistakes: tuple[str, ...] = ()
    draft: bool = False
    at_least: Mapping[str, int] = field(default_factory=lambda: dict(AT_LEAST))

    @property
    def ok(self) -> bool:
        """Whether every target is met."""
        return not self.problems

    @property
    def killed(self) -> float:
        """The share of the chapter's non-equivalent mutants that some check kills."""
        return _killed(self.exercises)

    @property
    def killed_visibly(self) -> float:
        """The share of the chapter's non-equivalent mutants that a visible check kills."""
        return _killed(self.exercises, visibly=True)

    @property
    def misconceptions_visible(self) -> float:
        """The share of the chapter's misconceptions that a visible check sees; those of a quiz are not counted."""
        return _seen(self.exercises)

    @property
    def places(self) -> LocalizationStats | None:
        """How often the line of a mistake was found in the chapter; None where nobody asked for it."""
        asked = [e.places for e in self.exercises if e.places is not None]
        return LocalizationStats.together(asked) if asked else None

    @property
    def killed_kind_only(self) -> float:
        """The share of the kind-only mutants that some check kills."""
        total = sum(e.kinds.mutants for e in self.exercises)
        return 1 - sum(len(e.kinds.survivors) for e in self.exercises) / total if total else 1.0

    @property
    def problems(self) -> list[str]:
        """What an author has to mend, one sentence each: mistakes, marks that would be wrong, targets that are not met."""
        return [*self.mistakes, *(p for e in self.exercises for p in e.faults()), *self.unmet]

    @property
    def unmet(self) -> list[str]:
        """What falls short of the targets, one sentence each: a draft may go out with it."""
        hidden, visible = self.targets["hidden"], self.targets["visible"]
        found = [p for e in self.exercises for p in (*e.unmet(self.targets), *e.lacking(self.at_least))]
        if self.killed_kind_only < self.targets["kinds"]:
            names = ", ".join(label for e in self.exercises for label in e.kinds.survivors[:3])
            found.append(
                f"{self.chapter}: all checks together kill {self.killed_kind_only:.1%} of the mutants that are wrong on one kind of "
                f"input only; the target is {self.targets['kinds']:.0%}. Still alive: {names}."
            )
        if self.killed < hidden:
            names = ", ".join(label for e in self.exercises for label in e.survivors[:4])
            found.append(
                f"{self.chapter}: all checks together kill {self.killed:.1%} of the mutants; the target is {hidden:.0%}. "
                f"Still alive: {names}."
            )
        if self.killed_visibly < visible:
            names = ", ".join(label for e in self.exercises for label in e.seen_by_hidden_only[:3])
            found.append(
                f"{self.chapter}: the visible checks kill {self.killed_visibly:.1%} of the mutants; the target is {visible:.0%}. "
                f"Seen by hidden checks only: {names}."
            )
        if self.misconceptions_visible < self.targets["misconceptions_visible"]:
            names = ", ".join(f"{e.name}.{name}" for e in self.exercises for name in e.unseen)
            found.append(
                f"{self.chapter}: the visible checks see {self.misconceptions_visible:.1%} of the misconceptions; the target is "
                f"{self.targets['misconceptions_visible']:.0%}. Seen by hidden checks only: {names}."
            )
        return found

    def to_json(self) -> dict[str, Any]:
        """The audit as JSON: the fields, the shares, and the problems."""
        return {
            "chapter": self.chapter,
            "ok": self.ok,
            **_shares(self),
            "killed_kind_only": round(self.killed_kind_only, 4),
            "problems": self.problems,
            "kinds": {
                key: [f"{e.name}: {kind}" for e in self.exercises for kind in getattr(e.kinds, key)] for key in _KINDS
            },
            "mistakes": list(self.mistakes),
            "exercises": [_exercise(e) for e in self.exercises],
            **({"places": self.places.to_json()} if self.places is not None else {}),
            "seconds": round(self.seconds, 2),
        }

    def __str__(self) -> str:
        heads = [
            "exercise",
            "alternatives",
            "misconceptions",
            "misconceptions by visible",
            "mutants",
            "killed",
            "by visible",
            "survivors",
            "by heart",
            "kinds of input",
        ]
        rows = [heads, *map(_row, self.exercises)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [f"{self.chapter}   {'meets every target' if self.ok else 'falls short'}   ({self.seconds:.1f} s)"]
        lines += ["  " + "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
        lines += [
            f"  kinds of input, visited of allowed: {e.name}: {e.kinds}" for e in self.exercises if e.kinds.allowed
        ]
        if self.places is not None:
            lines += [f"  lines found: {e.name}: {e.places}" for e in self.exercises if e.places is not None]
            lines += [f"  lines found: {self.chapter}: {self.places}"]
            lines += [f"  another line than the one that was changed: {label}" for label in self.places.untrue]
        for e in self.exercises:
            lines += [f"  alive: {label}" for label in (*e.survivors, *e.kinds.survivors)]
            lines += [f"  kills nothing: {e.name}.{check}" for check in e.idle]
            lines += [f"  equivalent: {label}: {why}" for label, why in e.equivalent.items()]
            lines += [f"  hidden only: {e.name}.{name}: {why or 'no reason given'}" for name, why in e.unseen.items()]
        lines += [f"  ! {problem}" for problem in self.problems]
        bare = [e.name for e in self.exercises if not e.answers and (e.survivors or not e.misconceptions)]
        if bare and not any(e.suggestions for e in self.exercises):
            lines.append(
                f"  `autograder audit {self.chapter} --suggest` offers misconceptions to paste, for {join_words(bare)} first of all."
            )
        return "\n".join(lines)


def _exercise(audit: ExerciseAudit) -> dict[str, Any]:
    """One exercise as JSON; it has the keys ``places`` and ``suggestions`` only where these were asked for."""
    whole = {**asdict(audit), **_shares(audit), "kinds": audit.kinds.to_json()}
    del whole["places"]
    if not audit.suggestions:
        del whole["suggestions"]
    return whole if audit.places is None else {**whole, "places": audit.places.to_json()}


def _shares(audit: ExerciseAudit | ChapterAudit) -> dict[str, float]:
    return {
        "killed": round(audit.killed, 4),
        "killed_visibly": round(audit.killed_visibly, 4),
        "misconceptions_visible": round(audit.misconceptions_visible, 4),
    }


def _row(e: ExerciseAudit) -> list[str]:
    caught = e.misconceptions - len(e.uncaught)
    return [
        e.name,
        f"{e.alternatives - len(e.rejected)}/{e.alternatives} accepted",
        f"{caught}/{e.misconceptions} caught, {caught - len(e.misnamed)} named",
        "–" if e.answers else f"{e.misconceptions - len(e.unseen)}/{e.misconceptions}",
        f"{e.mutants}" + (f" (+{len(e.equivalent)} equivalent)" if e.equivalent else ""),
        f"{e.killed:.1%}" if e.mutants else "–",
        f"{e.killed_visibly:.1%}" if e.mutants else "–",
        str(len(e.survivors)),
        "–" if e.answers else f"{e.by_heart:.0%}",
        f"{len(e.kinds.visited)}/{len(e.kinds.allowed)}" if e.kinds.allowed else "–",
    ]

"""What an audit found, as data, as a table, and as sentences about what falls short."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["BY_HEART_TARGET", "HIDDEN_TARGET", "VISIBLE_TARGET", "ChapterAudit", "ExerciseAudit"]

HIDDEN_TARGET = 0.99
VISIBLE_TARGET = 0.90
BY_HEART_TARGET = 0.5


@dataclass(frozen=True)
class ExerciseAudit:
    """How one exercise's checks did.

    Counts of what was tried, and the names of what went wrong: ``rejected`` alternatives, ``uncaught`` and ``misnamed``
    misconceptions (the latter with what they were named), ``claims``, the sentences of messages with numbers that no answer
    shows, by misconception, ``survivors`` among the mutants (no check kills them),
    ``seen_by_hidden_only`` (no visible check does), ``equivalent`` mutants with the reason why they are right,
    ``kills`` per check, ``idle`` checks that nothing but they could show to be needed, and ``flaky`` ones. ``by_heart`` is
    the share of the points that a function earns which answers whatever it is asked with one answer that everybody sees.
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
    claims: dict[str, str] = field(default_factory=dict)
    survivors: tuple[str, ...] = ()
    seen_by_hidden_only: tuple[str, ...] = ()
    equivalent: dict[str, str] = field(default_factory=dict)
    kills: dict[str, int] = field(default_factory=dict)
    idle: tuple[str, ...] = ()
    flaky: dict[str, str] = field(default_factory=dict)
    by_heart: float = 0.0

    @property
    def killed(self) -> float:
        """The share of non-equivalent mutants that some check kills."""
        return _killed([self])

    @property
    def killed_visibly(self) -> float:
        """The share of non-equivalent mutants that a visible check kills."""
        return _killed([self], visibly=True)

    def problems(self) -> list[str]:
        """What falls short, one sentence each."""
        found: list[str] = []
        if not self.blank_ok:
            found.append("the blank stub is not recognised as not attempted, or earns points.")
        if not self.reference_ok:
            found.append("the reference solution does not earn full marks.")
        found += [f"the right solution {n} loses marks: {why}" for n, why in self.rejected.items()]
        found += [f"the misconception {n} keeps full marks." for n in self.uncaught]
        found += [f"the misconception {n} is caught, but told as {o or 'nothing'}." for n, o in self.misnamed.items()]
        found += [
            f"the message of the misconception {n} claims a number that its answers do not show: {s} Take one from the case that "
            "the student sees, or mark it as an example (“for example”, “would”)."
            for n, s in self.claims.items()
        ]
        found += [f"the check {n} refuses a right answer with other inputs: {w}" for n, w in self.flaky.items()]
        if self.by_heart > BY_HEART_TARGET:
            found.append(
                f"one visible answer given to every question earns {self.by_heart:.0%} of the points; let more "
                "checks wait for one that it cannot pass, with after=…."
            )
        return [f"{self.name}: {problem}" for problem in found]


def _killed(exercises: Sequence[ExerciseAudit], *, visibly: bool = False) -> float:
    """The share of their mutants, together, that some check kills; with ``visibly``, that a visible one does."""
    total = sum(e.mutants for e in exercises)
    missed = sum(len(e.survivors) + visibly * len(e.seen_by_hidden_only) for e in exercises)
    return 1 - missed / total if total else 1.0


@dataclass(frozen=True)
class ChapterAudit:
    """The audit of a chapter."""

    chapter: str
    exercises: tuple[ExerciseAudit, ...]
    seconds: float = 0.0

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
    def problems(self) -> list[str]:
        """What falls short of the targets, one sentence each."""
        found = [p for e in self.exercises for p in e.problems()]
        if self.killed < HIDDEN_TARGET:
            names = ", ".join(label for e in self.exercises for label in e.survivors[:4])
            found.append(
                f"{self.chapter}: all checks together kill {self.killed:.1%} of the mutants; the target is {HIDDEN_TARGET:.0%}. "
                f"Still alive: {names}."
            )
        if self.killed_visibly < VISIBLE_TARGET:
            names = ", ".join(label for e in self.exercises for label in e.seen_by_hidden_only[:3])
            found.append(
                f"{self.chapter}: the visible checks kill {self.killed_visibly:.1%} of the mutants; the target is {VISIBLE_TARGET:.0%}. "
                f"Seen by hidden checks only: {names}."
            )
        return found

    def to_json(self) -> dict[str, Any]:
        """The audit as JSON: the fields, the shares, and the problems."""
        return {
            "chapter": self.chapter,
            "ok": self.ok,
            **_shares(self),
            "problems": self.problems,
            "exercises": [{**asdict(e), **_shares(e)} for e in self.exercises],
            "seconds": round(self.seconds, 2),
        }

    def __str__(self) -> str:
        heads = [
            "exercise",
            "alternatives",
            "misconceptions",
            "mutants",
            "killed",
            "by visible",
            "survivors",
            "by heart",
        ]
        rows = [heads, *map(_row, self.exercises)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [f"{self.chapter}   {'meets every target' if self.ok else 'falls short'}   ({self.seconds:.1f} s)"]
        lines += ["  " + "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
        for e in self.exercises:
            lines += [f"  alive: {label}" for label in e.survivors]
            lines += [f"  kills nothing: {e.name}.{check}" for check in e.idle]
            lines += [f"  equivalent: {label}: {why}" for label, why in e.equivalent.items()]
        lines += [f"  ! {problem}" for problem in self.problems]
        return "\n".join(lines)


def _shares(audit: ExerciseAudit | ChapterAudit) -> dict[str, float]:
    return {"killed": round(audit.killed, 4), "killed_visibly": round(audit.killed_visibly, 4)}


def _row(e: ExerciseAudit) -> list[str]:
    caught = e.misconceptions - len(e.uncaught)
    return [
        e.name,
        f"{e.alternatives - len(e.rejected)}/{e.alternatives} accepted",
        f"{caught}/{e.misconceptions} caught, {caught - len(e.misnamed)} named",
        f"{e.mutants}" + (f" (+{len(e.equivalent)} equivalent)" if e.equivalent else ""),
        f"{e.killed:.1%}" if e.mutants else "–",
        f"{e.killed_visibly:.1%}" if e.mutants else "–",
        str(len(e.survivors)),
        "–" if e.answers else f"{e.by_heart:.0%}",
    ]

"""How often the line of a mistake is found, and whether it is the line: mutants, and misconceptions with their names withheld."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from autograder.authoring.audit.mutants import mutants_of
from autograder.authoring.simulate import cell_source
from autograder.judging.functions import FunctionSubject
from autograder.judging.judge import Judge
from autograder.judging.loader import ChapterChecks
from autograder.mistakes.fault_localization.search import Located
from autograder.mistakes.fault_localization.solutions import SolutionLocator

__all__ = [
    "LOCATED_TARGET", "SECONDS", "TRUE_TARGET", "FaultySolution", "LocalizationStats", "counted", "faulty_solutions",
    "place_of", "places_in",
]  # fmt: skip

LOCATED_TARGET, TRUE_TARGET = 0.90, 0.99
SECONDS = 2.0  # of processor time for each, so that what else the machine does changes little
MUTANTS = 10  # of each exercise, spread evenly over all of them


@dataclass(frozen=True)
class FaultySolution:
    """A wrong solution as a student would have written it; ``changed`` are its wrong lines, where they are known."""

    kind: str
    label: str
    source: str
    changed: tuple[int, ...] = ()


@dataclass(frozen=True)
class LocalizationStats:
    """Of how many wrong solutions of an exercise the line was found, no name being known.

    ``truly`` counts the located mutants of which the line that was changed is among those named; ``untrue`` and ``missed``
    are labels.
    """

    mutants: int = 0
    mutants_located: int = 0
    truly: int = 0
    misconceptions: int = 0
    misconceptions_located: int = 0
    untrue: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()

    @classmethod
    def together(cls, parts: Iterable[LocalizationStats]) -> LocalizationStats:
        """What was found in several exercises."""
        whole = cls()
        for part in parts:
            pairs = zip(asdict(whole).items(), asdict(part).values(), strict=True)
            whole = cls(**{name: one + other for (name, one), other in pairs})
        return whole

    @property
    def located(self) -> float:
        """The share of all of them that was located."""
        total = self.mutants + self.misconceptions
        return (self.mutants_located + self.misconceptions_located) / total if total else 1.0

    @property
    def true(self) -> float:
        """The share of the located mutants that was located truly."""
        return self.truly / self.mutants_located if self.mutants_located else 1.0

    def to_json(self) -> dict[str, Any]:
        """The counts, the two shares, and the labels."""
        return {**asdict(self), "located": round(self.located, 4), "true": round(self.true, 4)}

    def __str__(self) -> str:
        if not self.mutants + self.misconceptions:
            return "nothing to look for"
        return (
            f"{self.mutants_located} of {self.mutants} mutants, {self.misconceptions_located} of {self.misconceptions} "
            f"misconceptions with their names withheld: {self.located:.1%} together (target {LOCATED_TARGET:.0%}); "
            f"of the mutants {self.true:.1%} truly (target {TRUE_TARGET:.0%})"
        )


def places_in(
    checks: ChapterChecks, *, mutants: int = MUTANTS, seconds: float = SECONDS
) -> dict[str, LocalizationStats]:
    """What is found in each exercise of a chapter that is answered with a function."""
    locator = SolutionLocator(checks, seconds=seconds, now=time.process_time)
    judge = Judge(checks)
    found: dict[str, LocalizationStats] = {}
    for name, spec in checks.specs.items():
        if not spec.answers:
            rows = [
                (one, place_of(one, name, judge, locator)) for one in faulty_solutions(checks, name, mutants=mutants)
            ]
            found[name] = LocalizationStats.together(counted(one, *place) for one, place in rows if place is not None)
    return found


def faulty_solutions(
    checks: ChapterChecks, exercise: str, *, mutants: int, named: bool = True
) -> Iterable[FaultySolution]:
    """At most so many mutants of the reference, and with ``named`` the misconceptions."""
    found = mutants_of(checks.references[exercise], exercise) if mutants else []
    for m in found[:: max(1, len(found) // max(mutants, 1))]:
        yield FaultySolution("mutant", m.label, m.source, m.lines)
    for known in checks.misconceptions[exercise] if named else ():
        source = cell_source(checks.course, checks.chapter, exercise, known.function)
        yield FaultySolution("misconception", f"{exercise}: {known.name}", source)


def place_of(
    one: FaultySolution, exercise: str, judge: Judge[ChapterChecks], locator: SolutionLocator
) -> tuple[Located | None] | None:
    """Where its mistake was found, if it was; None for what is not wrong, or is no code that runs."""
    names: dict[str, Any] = {"np": np, **judge.checks.right_names(), **_around(one, judge.checks.references[exercise])}
    try:
        exec(compile(one.source, "<cell>", "exec"), names)  # noqa: S102 - the course's own code, changed by us
    except Exception:  # noqa: BLE001 - some of the mistakes are such that their cell fails
        return None
    subject = FunctionSubject(one.label, names, call_seconds=1.0)
    [verdict] = judge.judge(subject, only=frozenset({exercise}))
    if verdict.status == "passed":
        return None
    return (locator.locate(exercise, [(exercise, one.source)], names),)


def _around(one: FaultySolution, reference: Callable[..., Any]) -> Mapping[str, Any]:
    """The names that a mutant of a reference finds where that one stands."""
    return vars(inspect.getmodule(reference)) if one.kind == "mutant" else {}


def counted(one: FaultySolution, located: Located | None) -> LocalizationStats:
    """What one of them adds to the counts."""
    lines = {line for _, line in located.places} if located is not None else set()
    missed = (one.label,) if not lines else ()
    if one.kind != "mutant":
        return LocalizationStats(misconceptions=1, misconceptions_located=bool(lines), missed=missed)
    truly = bool(lines & {*one.changed})
    untrue = (one.label,) if lines and not truly else ()
    return LocalizationStats(mutants=1, mutants_located=bool(lines), truly=truly, missed=missed, untrue=untrue)

"""Measure fault localization on mutants, and on misconceptions whose names are withheld."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

import numpy as np

from autograder.authoring.audit.mutants import mutants_of
from autograder.authoring.simulate import cell_source
from autograder.base.foreign import Json, Value
from autograder.judging.functions import FunctionSubject
from autograder.judging.judge import Judge
from autograder.judging.loader import ChapterChecks
from autograder.judging.scoring import Checks
from autograder.mistakes.fault_localization.correct_programs import Material, lazy_checks, loaded_operators
from autograder.mistakes.fault_localization.functions import localize
from autograder.mistakes.fault_localization.search import Deadline, Located
from autograder.mistakes.fault_localization.trials import Questions

__all__ = [
    "LOCATED_TARGET", "SECONDS", "TRUE_TARGET", "FaultySolution", "LocalizationStats", "SolutionLocator", "counted",
    "faulty_solutions", "place_of", "places_in",
]  # fmt: skip

LOCATED_TARGET, TRUE_TARGET = 0.90, 0.99
SECONDS = 2.0  # seconds of processor time per solution, which a busy machine hardly changes
MUTANTS = 10  # how many mutants to try per exercise, spread evenly over all of them


class SolutionLocator:
    """A locator that finds mistakes in functions of this process with all checks of a chapter. Each search has ``seconds`` of processor time."""

    def __init__(self, checks: ChapterChecks, *, seconds: float) -> None:
        self._checks, self._seconds = checks, seconds
        self._judge: Judge[Checks] = Judge(checks)
        self._operators = loaded_operators(checks.course.root)
        self._known: dict[str, tuple[Material, Questions]] = {}

    def locate(self, exercise: str, cells: Iterable[tuple[str, str]], names: Mapping[str, Value]) -> Located | None:
        """Return the location of the mistake in ``exercise``, or None if it was not found. ``cells`` are (name, source) pairs, and ``names`` is their namespace."""
        if exercise not in self._known:
            questions = Questions.of(exercise, self._checks.plan(exercise), self._checks.references)
            material = Material.of(self._checks, exercise, questions.watched, self._operators)
            self._known[exercise] = material, questions
        material, questions = self._known[exercise]
        program = material.program(exercise, cells, self._checks.specs)
        if program is None:
            return None
        return localize(
            names,
            program,
            lazy_checks(self._checks, exercise),
            self._judge,
            Deadline(self._seconds),
            questions=questions,
            traces=material.traces,
            validation_seconds=self._checks.course.call_seconds,
        )


@dataclass(frozen=True)
class FaultySolution:
    """A wrong solution as a student would write it. ``changed`` contains its wrong lines, if known."""

    kind: str
    label: str
    source: str
    changed: tuple[int, ...] = ()


@dataclass(frozen=True)
class LocalizationStats:
    """The number of an exercise's wrong solutions, and how many of them were located.

    ``correct`` counts the mutants whose changed line was reported. ``incorrect`` lists the labels of the mutants for which
    only other lines were reported, and ``missed`` the labels of the solutions for which no line was reported.
    """

    mutants: int = 0
    mutants_located: int = 0
    correct: int = 0
    misconceptions: int = 0
    misconceptions_located: int = 0
    incorrect: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()

    @classmethod
    def total(cls, parts: Iterable[LocalizationStats]) -> LocalizationStats:
        """Return the sum of the counts in ``parts``."""
        whole = cls()
        for part in parts:
            pairs = zip(asdict(whole).items(), asdict(part).values(), strict=True)
            whole = cls(**{name: one + other for (name, one), other in pairs})
        return whole

    @property
    def located(self) -> float:
        """The share of the solutions for which a line was reported."""
        total = self.mutants + self.misconceptions
        return (self.mutants_located + self.misconceptions_located) / total if total else 1.0

    @property
    def true(self) -> float:
        """The share of the located mutants whose changed line was reported."""
        return self.correct / self.mutants_located if self.mutants_located else 1.0

    def to_json(self) -> dict[str, Json]:
        """Return the counts, the two shares and the labels as JSON data."""
        keys = {"correct": "truly", "incorrect": "untrue"}
        data = {keys.get(name, name): value for name, value in asdict(self).items()}
        return {**data, "located": round(self.located, 4), "true": round(self.true, 4)}

    def __str__(self) -> str:
        if not self.mutants + self.misconceptions:
            return "nothing to look for"
        return (
            f"{self.mutants_located} of {self.mutants} mutants, {self.misconceptions_located} of {self.misconceptions} "
            f"misconceptions without their names: {self.located:.1%} together (target {LOCATED_TARGET:.0%}), "
            f"and the right line in {self.true:.1%} of the mutants (target {TRUE_TARGET:.0%})"
        )


def places_in(
    checks: ChapterChecks, *, mutants: int = MUTANTS, seconds: float = SECONDS
) -> dict[str, LocalizationStats]:
    """Return the localization results of a chapter by exercise, without quizzes."""
    locator = SolutionLocator(checks, seconds=seconds)
    judge = Judge(checks)
    places: dict[str, LocalizationStats] = {}
    for name, spec in checks.specs.items():
        if not spec.answers:
            rows = [(it, place_of(it, name, judge, locator)) for it in faulty_solutions(checks, name, mutants=mutants)]
            places[name] = LocalizationStats.total(counted(one, *place) for one, place in rows if place is not None)
    return places


def faulty_solutions(
    checks: ChapterChecks, exercise: str, *, mutants: int, named: bool = True
) -> Iterable[FaultySolution]:
    """Yield about ``mutants`` mutants of the reference and, if ``named``, all misconceptions."""
    candidates = mutants_of(checks.references[exercise], exercise) if mutants else []
    for m in candidates[:: max(1, len(candidates) // max(mutants, 1))]:
        yield FaultySolution("mutant", m.label, m.source, m.lines)
    for known in checks.misconceptions[exercise] if named else ():
        source = cell_source(checks.course, checks.chapter, exercise, known.function)
        yield FaultySolution("misconception", f"{exercise}: {known.name}", source)


def place_of(
    one: FaultySolution, exercise: str, judge: Judge[ChapterChecks], locator: SolutionLocator
) -> tuple[Located | None] | None:
    """Return a 1-tuple with the location of the mistake, or with None if it was not found. Return None if the code is not wrong or does not run."""
    # The reference's module has the notebook's imports, which a misconception's cell may use.
    module = vars(inspect.getmodule(judge.checks.references[exercise]))
    names: dict[str, Value] = {"np": np, **judge.checks.right_names(), **module}
    try:
        exec(compile(one.source, "<cell>", "exec"), names)  # noqa: S102 - the course's own code, changed by us
    except Exception:  # noqa: BLE001 - some mistakes make their cell fail
        return None
    subject = FunctionSubject(one.label, names, call_seconds=1.0)
    [verdict] = judge.judge(subject, only=frozenset({exercise}))
    if verdict.status == "passed":
        return None
    return (locator.locate(exercise, [(exercise, one.source)], names),)


def counted(one: FaultySolution, located: Located | None) -> LocalizationStats:
    """Return the counts for one faulty solution."""
    lines = {line for _, line in located.places} if located is not None else set()
    missed = (one.label,) if not lines else ()
    if one.kind != "mutant":
        return LocalizationStats(misconceptions=1, misconceptions_located=bool(lines), missed=missed)
    correct = bool(lines & {*one.changed})
    incorrect = (one.label,) if lines and not correct else ()
    return LocalizationStats(
        mutants=1, mutants_located=bool(lines), correct=correct, missed=missed, incorrect=incorrect
    )

"""The search in submitted notebooks, after their marks are made: in processes of its own, within the course's time.

The line is looked for with inputs that are drawn from a secret of its own, so that it says nothing of the hidden ones; by
those it is only confirmed.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from autograder.base.verdict import ExerciseVerdict, LocatedMistake
from autograder.judging.candidates import diagnosis_of
from autograder.judging.diagnosis import Candidate, Diagnosis, no_pairs
from autograder.judging.judge import Judge
from autograder.judging.loader import ChapterChecks
from autograder.judging.proxies import ReferenceProxy
from autograder.mistakes.fault_localization.budget import Budget
from autograder.mistakes.fault_localization.chapters import checks_in_turn, lenders_of
from autograder.mistakes.fault_localization.checks import failing, holds
from autograder.mistakes.fault_localization.classmates import Classmates
from autograder.mistakes.fault_localization.naming import ONE_OF_TWO, named_beside
from autograder.mistakes.fault_localization.program import Program, Variant, program_of
from autograder.mistakes.fault_localization.search import Deadline, Located, located_in
from autograder.mistakes.fault_localization.sharing import key_of, moved
from autograder.mistakes.fault_localization.trials import Questions, survivors
from autograder.mistakes.fault_localization.values import Lender, called_by
from autograder.sandbox.protocol import Answer, Call, EditableSession, SandboxUnavailable, TimeBudget
from autograder.sandbox.session import AnswerCache

__all__ = ["NotebookLocator", "StudentCode"]

_OWN_SECRET = b"inputs that a mistake is looked for with"
_CALL_SECONDS = 0.25
_SESSIONS = 24  # that edited programs may bring to an end in one search
_TOGETHER = 3  # times the seconds of one exercise that all of a notebook may take
_KEPT = 5000  # programs whose places are remembered


class StudentCode(Protocol):
    """A submitted notebook of which edited copies can be run."""

    def own_cells(self) -> Sequence[tuple[str, str]]:
        """The name and the source of each cell that was not handed out as it is, in the order in which they run."""

    def open_copy(self, budget: TimeBudget, cache: AnswerCache, *, memory_mb: int | None = None) -> EditableSession:
        """A fresh session in which the notebook's cells have been run, on the time of ``budget``."""


@dataclass
class _Known:
    """What is known of one mistake: in whose program it was found, or for how long it was looked for in vain."""

    program: Program
    located: Located | None = None
    beside: Candidate | None = None
    students: int = 0
    seconds: float = 0.0
    is_exhausted: bool = False
    donors: tuple[str, ...] = ()
    searched: int = 0

    def has_tried(self, seconds: float, donors: tuple[str, ...]) -> bool:
        """Whether so much time, and these programs of classmates, would find no more than was found.

        What classmates lend anew is tried when twice as many students have the mistake as at the time before.
        """
        if not self.seconds:
            return False
        if self.students >= 2 * self.searched and self.donors != donors:
            return False
        return self.is_exhausted or seconds <= self.seconds


class NotebookLocator:
    """Finds where the mistakes of submissions are, by the checks of one chapter.

    Args:
        checks: of the chapter.
        seconds: that one exercise of one student may take at most.
        budget: that all searches share, where there is one.
        classmates: whose right answers may lend an expression.
    """

    def __init__(
        self, checks: ChapterChecks, seconds: float, budget: Budget | None = None, classmates: Classmates | None = None
    ) -> None:
        self.seconds, self.budget = seconds, budget or Budget(seconds)
        self.classmates = classmates or Classmates()
        self._named = checks
        quiet = dataclasses.replace(
            checks, shrinks=False, misconceptions={name: [] for name in checks.specs}, _prepared={}, _diagnoses={}
        )
        reference = ReferenceProxy(checks.references)
        self.checks = dataclasses.replace(quiet, secret=_OWN_SECRET, reference=reference, _prepared={}, _diagnoses={})
        self.judges = Judge(self.checks), Judge(quiet)
        self.cache = AnswerCache()
        self._questions: dict[str, Questions] = {}
        self._lenders: dict[str, list[Lender]] = {}
        self._diagnoses: dict[str, tuple[Diagnosis, Diagnosis]] = {}
        self._known: dict[tuple[object, ...], _Known] = {}

    def locate(self, code: StudentCode, exercises: Sequence[ExerciseVerdict]) -> tuple[ExerciseVerdict, ...]:
        """``exercises``, those that are wrong and have no name with the place of the mistake, where it is found."""
        found = {exercise.name: exercise for exercise in exercises}
        left = self.seconds * _TOGETHER
        for verdict in exercises:
            if verdict.may_be_located and left > 0:
                deadline = Deadline(left)
                # The marks are made: whoever needs a jail next says that there is none.
                with suppress(SandboxUnavailable):
                    found[verdict.name] = self._placed(code, verdict, found)
                left = deadline.left
        return tuple(found.values())

    def _placed(
        self, code: StudentCode, verdict: ExerciseVerdict, found: Mapping[str, ExerciseVerdict]
    ) -> ExerciseVerdict:
        """``verdict`` with the place of the mistake; of two mistakes that of which the name is known gets that too."""
        name, specs = verdict.name, self.checks.specs
        if name not in specs or specs[name].answers:
            return verdict
        lenders = self._lenders_of(name)
        program = program_of(name, code.own_cells(), others=specs.keys(), donors=[lender.donor for lender in lenders])
        if program is None:
            return verdict
        helped = tuple(
            n
            for n in specs[name].depends_on
            if n in found
            and found[n].status != "passed"
            and n in self.checks.references
            and not isinstance(self.checks.references[n], type)
        )
        key = name, key_of(program), helped, verdict.alike
        if len(self._known) >= _KEPT:
            self._known.clear()
        known = self._known.setdefault(key, _Known(program))
        known.students += 1
        begun = time.monotonic()
        located = self._found(known, code, program, lenders, helped)
        self.budget.spend(time.monotonic() - begun)
        if located is None:
            return verdict
        placed = dataclasses.replace(verdict, located=_told(located))
        if known.beside is None:
            return placed
        message = f"{ONE_OF_TWO}\n{known.beside.message}"
        return dataclasses.replace(placed, misconception=known.beside.name, message=message, alike="")

    def _found(
        self, known: _Known, code: StudentCode, program: Program, lenders: Sequence[Lender], helped: Sequence[str]
    ) -> Located | None:
        """What was found for the same program before, proven of this notebook too; else what is found now, as the budget allows."""
        seconds = self.budget.allowance(known.students)
        if known.located is not None:
            here = moved(known.located, known.program, program)
            if here is not None:
                if self.budget.is_spent:
                    return None
                # Another notebook, whose other cells may differ: what is said of it is proven of it.
                search = _Search(self, code, program, lenders, helped, self.seconds)
                return here if all(map(search.proven, here.variants)) else None
        donors = self.classmates.nearest(program, self.checks.specs) if seconds else []
        texts = tuple(donor.text for donor in donors)
        if not seconds or (known.located is None and known.has_tried(seconds, texts)):
            return None
        near = [Lender(donor) for donor in donors]
        program = dataclasses.replace(program, donors=(*program.donors, *(lender.donor for lender in near)))
        search = _Search(self, code, program, [*lenders, *near], helped, seconds)
        located = search.run()
        if known.located is None:
            known.program, known.located = program, located
            known.seconds, known.is_exhausted, known.beside = seconds, search.is_exhausted, search.beside
            known.donors, known.searched = texts, known.students
        return located

    def _lenders_of(self, exercise: str) -> list[Lender]:
        if exercise not in self._lenders:
            self._lenders[exercise] = lenders_of(self.checks, exercise, self.questions(exercise).watched)
        return self._lenders[exercise]

    def diagnoses(self, exercise: str) -> tuple[Diagnosis, Diagnosis]:
        """What is known of the mistakes of ``exercise``, each made alone, by the search's own inputs and by the hidden ones."""
        if exercise not in self._diagnoses:
            known, plan = self._named.misconceptions[exercise], self.checks.plan(exercise)
            own = diagnosis_of(exercise, self.checks.references, known, plan, pairs=False)
            hidden = dataclasses.replace(self._named.diagnosis(exercise), pairs=no_pairs)
            self._diagnoses[exercise] = own, hidden
        return self._diagnoses[exercise]

    def questions(self, exercise: str) -> Questions:
        """The calls by which mistakes of ``exercise`` are looked for, drawn from the search's own secret, worked out once."""
        if exercise not in self._questions:
            plan = self.checks.plan(exercise)
            self._questions[exercise] = Questions.of(exercise, plan, self.checks.references)
        return self._questions[exercise]


class _Search:
    """One search in one notebook."""

    def __init__(
        self,
        locator: NotebookLocator,
        code: StudentCode,
        program: Program,
        lenders: Sequence[Lender],
        helped: Sequence[str],
        seconds: float,
    ) -> None:
        self._locator, self._code, self._program = locator, code, program
        self._lenders, self._helped = lenders, helped
        self._questions = locator.questions(program.exercise)  # before the time begins: a class shares it
        self._checks, self._judges = locator.checks, locator.judges
        self._in_turn = checks_in_turn(self._checks, program.exercise)
        for judge in self._judges:
            judge.checks.plan(program.exercise)
        self._deadline = Deadline(seconds)
        self._budget = TimeBudget(seconds)
        self._session: EditableSession | None = None
        self._opened = 0
        self.beside: Candidate | None = None

    @property
    def is_exhausted(self) -> bool:
        """Whether everything worth trying was tried, so that more time would find no more."""
        return bool(self._deadline.left) and self._opened < _SESSIONS

    def run(self) -> Located | None:
        """What is found within the time."""
        try:
            session = self._alive()
            if session is None:
                return None
            questions, first = self._questions, ""
            if questions.calls:
                answers = session.batch(questions.calls)
                if any(answer.stopped for answer in answers):
                    return None
                wrong = questions.wrong_in(answers)
                questions = questions.wrong_first(answers)
            else:
                first = failing(self._in_turn, session)
                wrong = bool(first)
            if not wrong and self._right_without():
                return None  # wrong on hidden inputs only: a line that is named would tell what they are

            def survive(variants: Sequence[Variant]) -> Iterable[float]:
                if questions.calls:
                    return survivors(variants, questions, self._alive, _CALL_SECONDS)
                return (float(self._holds(first, variant)) for variant in variants)

            called = called_by(self._program, self._lenders, questions.watched, session, _CALL_SECONDS)
            program = dataclasses.replace(self._program, called=called)
            located = located_in(program, survive, self.proven, self._deadline)
            if located is not None and located.edits == 2:
                diagnoses = self._locator.diagnoses(program.exercise)
                self.beside = named_beside(located.variants[0], diagnoses, self._ask)
            return located
        finally:
            if self._session is not None:
                self._session.close()

    def _ask(self, variant: Variant, calls: Sequence[Call]) -> Sequence[Answer]:
        session = self._alive()
        return session.trials([variant.sources], calls, _CALL_SECONDS)[0] if session is not None else ()

    def proven(self, variant: Variant) -> bool:
        """Whether every check holds for ``variant``, with inputs from both secrets."""
        return all(self._passes(judge, variant.sources) for judge in self._judges)

    def _right_without(self) -> bool:
        """Whether the student's own code holds with inputs from a secret of its own."""
        return self._passes(self._judges[0], {})

    def _passes(self, judge: Judge[ChapterChecks], sources: Mapping[str, str]) -> bool:
        subject = _EditedNotebook(self, sources)
        try:
            [verdict] = judge.judge(subject, only=frozenset({self._program.exercise}))
        except ValueError:  # the edit cannot be defined in this notebook
            return False
        return verdict.status == "passed"

    def _holds(self, first: str, variant: Variant) -> bool:
        session = self._alive() if self._deadline.left else None
        return session is not None and holds(self._in_turn, first, session, variant)

    def open(self, *, memory_mb: int | None = None) -> EditableSession:
        """A fresh session, in which the wrong earlier functions are answered by the references."""
        cache = self._locator.cache
        session = self._code.open_copy(self._budget, cache, memory_mb=memory_mb)
        for name in self._helped:
            session.substitute(name, self._checks.references[name])
        return session

    def _alive(self) -> EditableSession | None:
        if self._session is None or not self._session.alive:
            if self._session is not None:
                self._session.close()
            if self._opened >= _SESSIONS or not self._deadline.left:
                return None
            self._opened += 1
            self._session = self.open()
        return self._session if self._session.alive else None


class _EditedNotebook:
    """A submission with an edit made in it, for a judge."""

    label = "an edited copy"
    blank: frozenset[str] = frozenset()
    notes: Mapping[str, str] = {}

    def __init__(self, search: _Search, sources: Mapping[str, str]) -> None:
        self._search, self._sources = search, sources

    def open(self, *, memory_mb: int | None = None) -> EditableSession:
        session = self._search.open(memory_mb=memory_mb)
        try:
            if self._sources:
                session.define(self._sources)
        except ValueError:
            session.close()
            raise
        return session

    def before_redefined(self, exercise: str) -> None:
        """What a later cell defines again is not looked for."""


def _told(located: Located) -> LocatedMistake:
    cell = located.variants[0].places[0][0]
    lines = tuple(line for name, line in located.places if name == cell)
    return LocatedMistake(cell, lines, located.kind, located.edits)

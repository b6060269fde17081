"""Search for mistakes in submitted notebooks after grading, in separate processes and within the course's time limit.

The search draws its inputs from its own secret, so a reported line reveals nothing about the hidden inputs. The hidden
inputs only confirm the result. Students who wrote the same function share one search, whose result is translated to their lines.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from autograder.base.verdict import ExerciseVerdict, LocatedMistake
from autograder.judging.candidates import diagnosis_of
from autograder.judging.diagnosis import Candidate, Diagnosis
from autograder.judging.judge import Judge
from autograder.judging.loader import ChapterChecks
from autograder.judging.proxies import ReferenceProxy
from autograder.mistakes.edits.generator import Definition
from autograder.mistakes.fault_localization.correct_programs import (
    CorrectSubmissions,
    Material,
    lazy_checks,
    loaded_operators,
)
from autograder.mistakes.fault_localization.program import Program, Variant
from autograder.mistakes.fault_localization.search import Deadline, Located, failing, misconceptions_in, passes, search
from autograder.mistakes.fault_localization.trials import Questions, survivors
from autograder.mistakes.fault_localization.variable_matching import DonorTrace, match_variables
from autograder.sandbox.protocol import Answer, Call, EditableSession, SandboxUnavailable, TimeBudget
from autograder.sandbox.session import AnswerCache

__all__ = ["Budget", "NotebookLocator", "StudentCode"]

_OWN_SECRET = b"inputs that a mistake is looked for with"
_CALL_SECONDS = 0.25
_SESSIONS = 24  # the most sessions that edited programs may end in one search
_TOGETHER = 3  # the time limit of a notebook, as a multiple of the limit of one exercise
_KEPT = 5000  # the most programs whose results are remembered
_SHARE = 0.3  # seconds that are added to the budget for each second of grading
_BEGINNING = 45  # the initial budget, as a multiple of one exercise's limit. It is enough for about a hundred mistakes
_PART = 8  # a mistake may use an eighth of the remaining budget for each student who makes it
_LEAST = 0.1  # seconds: a shorter search is not worth starting
_WAITING = 4  # the limit on wall-clock time, as a multiple of the limit on processor time


class Budget:
    """The processor time that one process may spend on searches: an initial amount, and a share of the time that grading takes.

    ``seconds`` is the limit for one exercise of one student, and ``clock`` returns the processor time.
    """

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        self._seconds, self._clock = seconds, clock
        self._begun, self._searched = clock(), 0.0

    def consume(self, seconds: float) -> None:
        """Subtract the time that a search took."""
        self._searched += seconds

    @property
    def left(self) -> float:
        """The time that is left. If there is none, not even a known result is validated."""
        graded = max(self._clock() - self._begun - self._searched, 0.0)  # a restarted sandbox counts from zero
        return _BEGINNING * self._seconds + _SHARE * graded - self._searched

    def allowance(self, students: int) -> float:
        """Return how many seconds to search for a mistake that this many ``students`` have made, or 0 if there is too little time."""
        seconds = min(self._seconds, self.left * students / _PART)
        return seconds if seconds >= min(_LEAST, self._seconds) else 0.0


class StudentCode(Protocol):
    """A submitted notebook that can be copied, edited and run."""

    def own_cells(self) -> Sequence[tuple[str, str]]:
        """Return the name and source of each cell that the student changed or added, in the order in which they run."""

    def open_copy(self, budget: TimeBudget, cache: AnswerCache, **limits: float | None) -> EditableSession:
        """Return a fresh session in which the notebook's cells have run. ``budget`` limits its time, and ``limits`` each call."""


@dataclass
class _Known:
    """The result of the searches for one mistake, or the time spent on them if nothing was found."""

    program: Program
    located: Located | None = None
    misconceptions: Sequence[Candidate] = ()
    students: int = 0
    seconds: float = 0.0
    is_exhausted: bool = False
    donors: tuple[str, ...] = ()
    searched: int = 0

    def has_tried(self, seconds: float, donors: tuple[str, ...]) -> bool:
        """Return whether another search, with ``seconds`` and ``donors``, would find nothing new.

        New donors are tried once the number of students with the mistake has doubled since the last search.
        """
        if not self.seconds:
            return False
        if self.students >= 2 * self.searched and self.donors != donors:
            return False
        return self.is_exhausted or seconds <= self.seconds


class NotebookLocator:
    """A locator that finds the lines of the mistakes in submissions.

    Attributes:
        seconds: the limit for one exercise of one student, in processor time.
        clock: returns the processor time of this process and of the sandbox.
        budget: the time that all searches share.
        classmates: correct submissions that may donate an expression.
    """

    def __init__(self, checks: ChapterChecks, seconds: float, clock: Callable[[], float]) -> None:
        self.seconds, self.clock, self.budget = seconds, clock, Budget(seconds, clock)
        self.classmates = CorrectSubmissions()
        self._named = checks
        quiet = dataclasses.replace(
            checks, shrinks=False, misconceptions={name: [] for name in checks.specs}, _prepared={}, _diagnoses={}
        )
        reference = ReferenceProxy(checks.references)
        self.checks = dataclasses.replace(quiet, secret=_OWN_SECRET, reference=reference, _prepared={}, _diagnoses={})
        self.judges = Judge(self.checks), Judge(quiet)
        self.cache = AnswerCache()
        self._questions: dict[str, Questions] = {}
        self._operators = loaded_operators(checks.course.root)
        self._material: dict[str, Material] = {}
        self._diagnoses: dict[str, tuple[Diagnosis, Diagnosis]] = {}
        self._known: dict[tuple[object, ...], _Known] = {}

    def locate(
        self, code: StudentCode, exercises: Sequence[ExerciseVerdict], skip: Collection[str] = ()
    ) -> tuple[ExerciseVerdict, ...]:
        """Return ``exercises``, with the lines of the undiagnosed mistakes that are found. Exercises in ``skip`` stay unchanged."""
        found = {exercise.name: exercise for exercise in exercises}
        left = self.seconds * _TOGETHER
        for verdict in exercises:
            if verdict.may_be_located and left > 0 and verdict.name not in skip:
                deadline = Deadline(left, self.clock)
                # The marks are final. If the sandbox is gone, the next notebook reports it.
                with suppress(SandboxUnavailable):
                    found[verdict.name] = self._placed(code, verdict, found)
                left = deadline.remaining
        return tuple(found.values())

    def _placed(
        self, code: StudentCode, verdict: ExerciseVerdict, found: Mapping[str, ExerciseVerdict]
    ) -> ExerciseVerdict:
        """Return ``verdict`` with the location of the mistake. If two mistakes are found, also report their misconceptions."""
        name, specs = verdict.name, self.checks.specs
        if name not in specs or specs[name].answers:
            return verdict
        material = self._material_of(name)
        program = material.program(name, code.own_cells(), specs.keys())
        if program is None:
            return verdict
        wrong = [n for n in specs[name].depends_on if n in found and found[n].status != "passed"]
        # A class is not replaced, because its objects live in the student's process.
        helped = tuple(n for n in wrong if not isinstance(self.checks.references.get(n, type), type))
        # Docstrings, comments, white space, and the cells and lines of the definitions do not matter.
        text = "\n".join(ast.dump(_bare(definition)) for definition in program.definitions)
        # With reference functions in place of the wrong ones, it does not matter which ones they are and what they return.
        key = name, text, bool(helped), "" if helped else verdict.alike
        if len(self._known) >= _KEPT:
            self._known.clear()
        known = self._known.setdefault(key, _Known(program))
        known.students += 1
        begun = self.clock()
        located = self._found(known, code, program, material.traces, helped)
        self.budget.consume(self.clock() - begun)
        if located is None:
            return verdict
        placed = dataclasses.replace(verdict, located=_mistake(located))
        if not known.misconceptions:
            return placed
        names = "+".join(one.name for one in known.misconceptions)
        return dataclasses.replace(placed, misconception=names, message=_two_mistakes(known.misconceptions), alike="")

    def _found(
        self, known: _Known, code: StudentCode, program: Program, traces: Sequence[DonorTrace], helped: Sequence[str]
    ) -> Located | None:
        """Return the known result for an equal program if it is valid in this notebook. If none is known, search within the budget."""
        seconds = self.budget.allowance(known.students)
        if known.located is not None:
            here = relocate(known.located, known.program, program)
            if here is not None:
                if self.budget.left <= 0:
                    return None
                # The other cells of this notebook may differ, so the result is validated again.
                attempt = _Search(self, code, program, traces, helped, self.seconds)
                return here if all(attempt.passes(self.judges[1], variant) for variant in here.variants) else None
        donors = self.classmates.nearest(program, self.checks.specs) if seconds else []
        texts = tuple(donor.text for donor in donors)
        if not seconds or (known.located is None and known.has_tried(seconds, texts)):
            return None
        near = [DonorTrace(donor) for donor in donors]
        program = dataclasses.replace(program, donors=(*program.donors, *(trace.donor for trace in near)))
        attempt = _Search(self, code, program, [*traces, *near], helped, seconds)
        located = attempt.run()
        if known.located is None:
            known.program, known.located = program, located
            known.seconds, known.is_exhausted = seconds, attempt.is_exhausted
            known.misconceptions = attempt.misconceptions
            known.donors, known.searched = texts, known.students
        return located

    def _material_of(self, exercise: str) -> Material:
        if exercise not in self._material:
            self._material[exercise] = Material.of(
                self.checks, exercise, self.questions(exercise).watched, self._operators
            )
        return self._material[exercise]

    def diagnoses(self, exercise: str) -> tuple[Diagnosis, Diagnosis]:
        """Return the diagnoses of ``exercise``, one for the search's own inputs and one for the hidden inputs."""
        if exercise not in self._diagnoses:
            known, plan = self._named.misconceptions[exercise], self.checks.plan(exercise)
            own = diagnosis_of(exercise, self.checks.references, known, plan)
            self._diagnoses[exercise] = own, self._named.diagnosis(exercise)
        return self._diagnoses[exercise]

    def questions(self, exercise: str) -> Questions:
        """Return the calls for searches in ``exercise``. Their inputs are drawn once, from the search's own secret."""
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
        traces: Sequence[DonorTrace],
        helped: Sequence[str],
        seconds: float,
    ) -> None:
        self._locator, self._code, self._program = locator, code, program
        self._traces, self._helped = traces, helped
        self._questions = locator.questions(program.exercise)  # not timed, because all searches share these calls
        self._checks, self._judges = locator.checks, locator.judges
        self._lazy = lazy_checks(self._checks, program.exercise)
        for judge in self._judges:
            judge.checks.plan(program.exercise)
        self._deadline = Deadline(seconds, locator.clock)
        self._budget = TimeBudget(_WAITING * seconds)
        self._session: EditableSession | None = None
        self._opened = 0
        self.misconceptions: Sequence[Candidate] = ()

    @property
    def is_exhausted(self) -> bool:
        """Whether every promising variant was tried, so that more time would not help."""
        return bool(self._deadline.remaining) and self._opened < _SESSIONS

    def run(self) -> Located | None:
        """Return the result of the search, or None if nothing is found in time."""
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
                first = failing(self._lazy, session)
                wrong = bool(first)
            if not wrong and self.passes(self._judges[0], Variant(())):
                return None  # wrong only on hidden inputs, so a reported line would reveal something about them

            def survive(variants: Sequence[Variant]) -> Iterable[float]:
                if questions.calls:
                    return survivors(variants, questions, self._alive, _CALL_SECONDS)
                return (float(self._passes_lazily(first, variant)) for variant in variants)

            called = match_variables(self._program, self._traces, questions.watched, session, _CALL_SECONDS)
            program = dataclasses.replace(self._program, called=called)
            located = search(program, survive, self.validate, self._deadline)
            if located is not None and located.edits == 2:
                diagnoses = self._locator.diagnoses(program.exercise)
                self.misconceptions = misconceptions_in(located.variants[0], diagnoses, self._ask)
            return located
        finally:
            if self._session is not None:
                self._session.close()

    def _ask(self, variant: Variant, calls: Sequence[Call]) -> Sequence[Answer]:
        session = self._alive()
        return session.run_variants([variant.sources], calls, _CALL_SECONDS)[0] if session is not None else ()

    def validate(self, variant: Variant) -> bool:
        """Return whether ``variant`` passes every check, with inputs from the search's own secret and from the course's."""
        return all(self.passes(judge, variant) for judge in self._judges)

    def passes(self, judge: Judge[ChapterChecks], variant: Variant) -> bool:
        """Return whether ``variant`` passes every check of ``judge``."""
        subject = _EditedNotebook(self, variant.sources)
        try:
            [verdict] = judge.judge(subject, only=frozenset({self._program.exercise}))
        except ValueError:  # this notebook cannot define the edited function
            return False
        return verdict.status == "passed"

    def _passes_lazily(self, first: str, variant: Variant) -> bool:
        session = self._alive() if self._deadline.remaining else None
        return session is not None and passes(self._lazy, first, session, variant)

    def open(self, **limits: float | None) -> EditableSession:
        """Return a fresh session in which reference functions replace the wrong functions of earlier exercises."""
        session = self._code.open_copy(self._budget, self._locator.cache, **limits)
        for name in self._helped:
            session.substitute(name, self._checks.references[name])
        return session

    def _alive(self) -> EditableSession | None:
        if self._session is None or not self._session.alive:
            if self._session is not None:
                self._session.close()
            if self._opened >= _SESSIONS or not self._deadline.remaining:
                return None
            self._opened += 1
            self._session = self.open(call_seconds=_CALL_SECONDS)
        return self._session if self._session.alive else None


class _EditedNotebook:
    """A submission with edited definitions, as a subject for a judge."""

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
        """Return None, because a function that a later cell redefines is not searched."""


def _two_mistakes(known: Sequence[Candidate]) -> str:
    """Return the messages of one or two misconceptions, after a sentence that says that two changes correct the code.

    A message describes code with one mistake, so it describes this code after one of the changes.
    """
    if len(known) == 1:
        return f"Two changes correct your code. After one of them, this mistake remains:\n{known[0].message}"
    numbered = [f"{number}. {one.message}" for number, one in enumerate(known, 1)]
    return "\n".join(["Two changes correct your code. After either one, one of these mistakes remains:", *numbered])


def _mistake(located: Located) -> LocatedMistake:
    cell = located.variants[0].places[0][0]
    lines = tuple(line for name, line in located.places if name == cell)
    return LocatedMistake(cell, lines, located.kind, located.edits)


def relocate(located: Located, old: Program, new: Program) -> Located | None:
    """Translate ``located`` from ``old`` to the equal program ``new``. Return None if their lines do not match one to one."""
    places: dict[tuple[str, int], tuple[str, int]] = {}
    for variant in located.variants:
        for definition, edit in variant.edits:
            i = old.definitions.index(definition)
            line = _line(definition, new.definitions[i], edit.line)
            if line is None:
                return None
            places[definition.cell, edit.line] = new.definitions[i].cell, line
    if len({*places.values()}) < len(places):
        return None
    return dataclasses.replace(located, places=tuple(sorted(places[place] for place in located.places)))


def _line(old: Definition, new: Definition, line: int) -> int | None:
    """Return the line in the cell of ``new`` with the same code as ``line`` in the cell of ``old``, or None if it is not unique."""
    place = line - old.first + 1
    pairs = list(zip(ast.walk(_bare(old)), ast.walk(_bare(new)), strict=True))
    for side in ("lineno", "end_lineno"):
        found = {getattr(other, side) for node, other in pairs if getattr(node, side, None) == place}
        if found:
            return new.first + found.pop() - 1 if len(found) == 1 else None
    return None


def _bare(definition: Definition) -> ast.Module:
    """Return the syntax tree of ``definition`` without docstrings."""
    tree = ast.parse(definition.text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and len(node.body) > 1:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                del node.body[0]
    return tree

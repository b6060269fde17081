"""Load a chapter's checks and known solutions from its files, and prepare the test calls made for every student."""

from __future__ import annotations

import inspect
import io
import itertools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from autograder.base.errors import CourseError
from autograder.base.foreign import Value
from autograder.checking.agreement import ReferenceComparison
from autograder.checking.call_source import track_answers
from autograder.checking.decorators import ExerciseSpec, exercises_of, place_of
from autograder.checking.properties import drawing, rng_for
from autograder.checking.quizzes import Quiz
from autograder.course.course import Course, failure, run_module
from autograder.course.secret import course_secret
from autograder.judging.candidates import diagnosis_of, wrong_answers
from autograder.judging.diagnosis import Diagnosis, same_answer
from autograder.judging.exercise_session import ExerciseSession, Sessions
from autograder.judging.functions import FunctionSession
from autograder.judging.proxies import ReferenceProxy, StudentProxy
from autograder.judging.purity import AliasingCheck, PurityProbe, changed_between, pairs_of, plan_aliasing_check
from autograder.misconception import Alternative, Misconception, alternatives_in, misconceptions_in
from autograder.sandbox.protocol import Answer, Call, Opaque, Script
from autograder.values import family_of, precompute_keys

__all__ = [
    "FIXTURES", "Case", "ChapterChecks", "cases_of", "known_alternatives", "known_misconceptions", "load_checks",
    "make_importable", "reference_functions",
]  # fmt: skip


FIXTURES = frozenset({"student", "reference", "agrees", "rng"})


@dataclass(frozen=True, slots=True)
class Case:
    """One run of a check: the names of its arguments, and the values of the parametrized arguments."""

    wanted: tuple[str, ...]
    values: Mapping[str, Value]


def cases_of(cls: type, name: str) -> list[Case]:
    """Return the cases of the check ``name``: one, or one for each combination of ``pytest.mark.parametrize`` values.

    Raises ``CourseError``, with file and line, for pytest features that grading does not support.
    """
    function = getattr(cls, name)
    where = place_of(cls, name)
    marks = [*getattr(function, "pytestmark", []), *getattr(cls, "pytestmark", [])]
    axes: list[list[dict[str, Value]]] = []
    for mark in marks:
        if mark.name != "parametrize":
            raise CourseError(
                f"{where} is marked with pytest.mark.{mark.name}, which grading does not support: every check runs for "
                "every student. The only pytest mark that works here is parametrize."
            )
        axes.append(_parameters(mark, where))
    wanted = tuple(p for p in inspect.signature(function).parameters if p != "self")
    given = {parameter for axis in axes for parameter in axis[0]}
    unknown = [p for p in wanted if p not in FIXTURES | given]
    if unknown:
        raise CourseError(
            f"{where} requests the fixture {unknown[0]!r}, which grading does not provide. A check may use "
            f"{', '.join(sorted(FIXTURES))} and the parameters of pytest.mark.parametrize. Create anything else in the check itself."
        )
    for setup in ("setup_method", "teardown_method", "setup_class", "teardown_class"):
        if hasattr(cls, setup):
            raise CourseError(
                f"{where.partition(':')[0]}: {cls.__name__} has a {setup}, which grading does not call. Put what each check needs into the check itself."
            )
    # Use pytest's order. The mark nearest to the function comes first and varies slowest.
    return [Case(wanted, {k: v for part in parts for k, v in part.items()}) for parts in itertools.product(*axes)]


def _parameters(mark: Any, where: str) -> list[dict[str, Value]]:
    """Return the values for each case of one ``parametrize`` mark, by name."""
    arguments = {**dict(zip(("argnames", "argvalues", "indirect"), mark.args, strict=False)), **mark.kwargs}
    if arguments.get("indirect"):
        raise CourseError(
            f"{where} is parametrized with indirect=…, which needs fixtures that grading does not have. Remove indirect."
        )
    names, values = arguments["argnames"], arguments["argvalues"]
    names = [n.strip() for n in names.split(",") if n.strip()] if isinstance(names, str) else list(names)
    cases = []
    for value in list(values):
        marked = hasattr(value, "marks") and hasattr(value, "values")  # a ``pytest.param(…)``
        if marked and value.marks:
            raise CourseError(
                f"{where} has a case marked with pytest.mark.{value.marks[0].name}. Grading runs every case, so remove the mark."
            )
        row = tuple(value.values) if marked else (value,) if len(names) == 1 else tuple(value)
        if len(row) != len(names):
            raise CourseError(f"{where} is parametrized with {len(names)} names, but one case has {len(row)} values.")
        cases.append(dict(zip(names, row, strict=True)))
    if not cases:
        raise CourseError(f"{where} is parametrized with no cases, so everyone would pass. Add a case.")
    return cases


def reference_functions(course: Course, chapter: str) -> dict[str, Callable[..., Any]]:
    """Return the public functions and classes of the chapter's reference solutions by name, including quizzes."""
    module = course.references(chapter)
    return {
        name: f
        for name, f in vars(module).items()
        if callable(f)
        and not name.startswith("_")
        # Functions of the framework are not solutions, except quizzes.
        and (isinstance(f, Quiz) or not str(getattr(f, "__module__", "")).startswith("autograder."))
        # An imported class, such as Counter, is not a solution.
        and not (isinstance(f, type) and not str(f.__module__).startswith(("solutions", module.__name__)))
    }


def known_misconceptions(course: Course, chapter: str) -> list[Misconception]:
    """Return the chapter's misconceptions, from its file of misconceptions and from its quizzes."""
    found = [m for table in _quizzes(course, chapter) for m in table.misconceptions]
    return misconceptions_in(course.misconceptions(chapter)) + found


def known_alternatives(course: Course, chapter: str) -> list[Alternative]:
    """Return the chapter's alternative right solutions, from their file and from its quizzes."""
    found = [a for table in _quizzes(course, chapter) for a in table.alternatives]
    return alternatives_in(course.alternatives(chapter)) + found


def _quizzes(course: Course, chapter: str) -> list[Quiz]:
    return [value for value in vars(course.references(chapter)).values() if isinstance(value, Quiz)]


PUBLIC = b"public"


def load_checks(course: Course, chapter: str) -> ChapterChecks:
    """Load the checks of a chapter from its test file. Each call reads the file again.

    Raises ``CourseError`` if the file cannot be run, does not fit the course, or uses features that grading does not
    support.
    """
    path = course.checks(chapter)
    if not path.is_file():
        raise CourseError(f"Chapter {chapter!r} has no checks: there is no {path}.")
    course.references(chapter)  # first, so that the check file imports the references of this course
    make_importable(course.root)
    name = f"autograder_checks_{chapter}"
    try:
        with _own_neighbours(path.parent):
            module = run_module(name, path)
    except (KeyboardInterrupt, CourseError):  # a ``CourseError`` from a decorator already has a readable message
        raise
    except BaseException as error:
        # This includes pytest.skip() and sys.exit() at module level, which would disable all checks.
        why = failure(error, path, course.root / "tests")
        raise CourseError(f"The checks in {path} cannot be run: {why}") from error
    finally:
        sys.modules.pop(name, None)
    return ChapterChecks.of(course, chapter, module)


def make_importable(root: Path) -> None:
    """Let the check files of the course in ``root`` import its solutions, and the modules next to the check files."""
    for folder in (str(root), str(root / "tests" / "chapters")):
        if folder in sys.path:
            sys.path.remove(folder)
        sys.path.insert(0, folder)


@contextmanager
def _own_neighbours(folder: Path) -> Iterator[None]:
    """Inside the block, import modules from ``folder`` instead of another course's modules with the same names."""
    names = {path.stem for path in folder.glob("*.py")}
    others = {name: sys.modules.pop(name) for name in names & sys.modules.keys()}
    try:
        yield
    finally:
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(others)


@dataclass(frozen=True, slots=True)
class _Prepared:
    """The test calls of an exercise.

    Attributes:
        plan: every call that the checks make on a right solution, without repeats.
        asked: the planned calls that are sent in one batch.
        purity: the call sequences of the purity check.
        care: the aliasing checks, if the exercise is a class.
        new_results: whether a right solution never returns one of its argument objects.
    """

    plan: Sequence[Call] = ()
    asked: Sequence[Call] = ()
    purity: Sequence[PurityProbe] = ()
    care: Sequence[AliasingCheck] = ()
    new_results: bool = False


@dataclass
class ChapterChecks:
    """The exercises of a chapter with their check classes, references, misconceptions and planned calls.

    Set ``shrinks`` to ``False`` if nobody reads the messages. Then checks do not look for smaller failing inputs.
    With ``shows_cases=False``, failures do not show the case that failed, and judging is even faster.
    ``only_visible`` says whether the hidden checks are left out.
    """

    course: Course
    chapter: str
    specs: dict[str, ExerciseSpec]
    classes: dict[str, type]
    references: dict[str, Callable[..., Any]]
    reference: ReferenceProxy
    misconceptions: dict[str, list[Misconception]]
    secret: bytes
    only_visible: bool = False
    shrinks: bool = True
    shows_cases: bool = True
    _seed: bytes | None = None  # if given, the seed of every input, instead of the public seed and the secret
    _prepared: dict[str, _Prepared] = field(default_factory=dict)
    _cases: dict[tuple[str, str], list[Case]] = field(default_factory=dict)
    _diagnoses: dict[str, Diagnosis] = field(default_factory=dict)

    @classmethod
    def of(cls, course: Course, chapter: str, module: ModuleType) -> ChapterChecks:
        """Return the checks in a chapter's test file. Raises ``CourseError`` if they do not fit the course."""
        specs = exercises_of(module)
        if not specs:
            raise CourseError(f"{course.checks(chapter)} has no class marked with @exercise(…).")
        names = [spec.name for spec in specs]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise CourseError(f"{course.checks(chapter)} has two classes for the exercise {twice!r}. Combine them.")
        references = reference_functions(course, chapter)
        for spec in specs:
            if spec.name not in references:
                raise CourseError(
                    f"{course.checks(chapter)} checks {spec.name!r}, but solutions/{chapter}.py has no function or class with that name."
                )
            if spec.takes is not None:
                spec.takes.check_arguments(
                    list(inspect.signature(references[spec.name]).parameters),
                    f"{course.checks(chapter)}: {spec.name!r}",
                )
        wrong: dict[str, list[Misconception]] = {spec.name: [] for spec in specs}
        for misconception in known_misconceptions(course, chapter):
            if misconception.exercise not in references:
                raise CourseError(
                    f"solutions/misconceptions/{chapter}.py: {misconception.name} is about {misconception.exercise!r}, "
                    f"which is not a function or class in solutions/{chapter}.py."
                )
            wrong.setdefault(misconception.exercise, []).append(misconception)
        marked = [v for v in vars(module).values() if "__exercise__" in getattr(v, "__dict__", {})]
        classes = {one.__exercise__.name: one for one in marked}
        return cls(
            course,
            chapter,
            specs={spec.name: spec for spec in specs},
            classes=classes,
            references=references,
            reference=ReferenceProxy(references),
            misconceptions=wrong,
            secret=course_secret(course),
            _cases={(s.name, check.name): cases_of(classes[s.name], check.name) for s in specs for check in s.checks},
        )

    def visible_part(self) -> ChapterChecks:
        """Return a copy with only the checks that students run themselves. Only the calls of these checks are planned."""
        specs = {s.name: replace(s, checks=tuple(c for c in s.checks if c.visible)) for s in self.specs.values()}
        # Wrong quiz choices are explained only after grading.
        wrong = {name: [] if self.specs[name].answers else known for name, known in self.misconceptions.items()}
        return replace(self, specs=specs, misconceptions=wrong, only_visible=True, _prepared={}, _diagnoses={})

    def diagnosis(self, exercise: str, open_session: Callable[..., FunctionSession] | None = None) -> Diagnosis:
        """Return the diagnosis of ``exercise``, which is computed once, with the sessions of ``open_session``."""
        if exercise not in self._diagnoses:
            known, plan = self.misconceptions[exercise], self.plan(exercise)
            self._diagnoses[exercise] = diagnosis_of(exercise, self.references, known, plan, open_session)
        return self._diagnoses[exercise]

    def wrong_choices(self, exercise: str, answers: Mapping[str, Value]) -> list[tuple[str, str, str]]:
        """Return the variable, the misconception's name and its message for each known wrong choice in a quiz."""
        return [(variable, m.name, m.message) for variable, m in wrong_answers(self.misconceptions[exercise], answers)]

    def asks_for(self, exercise: str, check: str, variable: str) -> bool:
        """Return whether the code of ``check`` contains the name ``variable``."""
        function = getattr(self.classes[exercise], check)
        # In a quiz check, the variable's name is in the closure and not among the constants.
        closed_over = [cell.cell_contents for cell in function.__closure__ or ()]
        return variable in function.__code__.co_consts or any(
            value == variable for value in closed_over if isinstance(value, str)
        )

    def right_answer(self, call: Call) -> Value:
        """Return a right solution's answer to ``call``, or None if there is no reference for the called function."""
        return self.reference.answer(call) if call.function in self.references else None

    def class_names(self) -> frozenset[str]:
        """Return the names of the references that are classes."""
        return frozenset(name for name, reference in self.references.items() if isinstance(reference, type))

    def signature(self, name: str) -> inspect.Signature | None:
        """Return the signature of the reference called ``name``."""
        function = self.references.get(name)
        return inspect.signature(function) if function is not None else None

    def plan(self, exercise: str) -> Sequence[Call]:
        """Return every call that the exercise's checks make on a right solution, without repeats."""
        return self._prepare(exercise).plan

    def converse(self, exercise: str, sessions: Sessions, *, planned: bool = True) -> ExerciseSession:
        """Return an ``ExerciseSession`` for ``exercise`` on the submission that ``sessions`` open."""
        prepared = self._prepare(exercise) if planned else _Prepared()
        return ExerciseSession(
            **sessions._asdict(),
            planned=prepared.asked,
            purity=prepared.purity,
            care=prepared.care,
            new_results=prepared.new_results,
            limits=self.course.limits,
            signature=self.signature,
            classes=self.class_names(),
            right=self.reference.answer,
        )

    def secret_for(self, exercise: str, check: str) -> bytes:
        """Return the seed of a check's inputs: the public seed for a visible check, the course's secret for a hidden one."""
        if self._seed is not None:
            return self._seed
        return PUBLIC if check in self.specs[exercise].visible else self.secret

    def run_check(self, exercise: str, check: str, student: Any) -> None:
        """Run the cases of one check on ``student``, a ``StudentProxy`` or a recorder. Raises the first failure."""
        cls = self.classes[exercise]
        function = getattr(cls, check)
        agrees = ReferenceComparison.of(student, self.reference, self.specs[exercise])
        fixtures = {"student": student, "reference": self.reference, "agrees": agrees}
        with drawing(self.secret_for(exercise, check), shrink=self.shrinks):
            for case in self._cases[exercise, check]:
                values = {**fixtures, "rng": rng_for(function), **case.values}
                with track_answers(show_cases=self.shows_cases):
                    function(cls(), **{name: values[name] for name in case.wanted})

    def right_names(self) -> dict[str, Value]:
        """Return the functions and quiz answers of a student who has everything right."""
        names: dict[str, Value] = dict(self.references)
        for spec in self.specs.values():
            if spec.answers:
                names.update(self.references[spec.name]())
        return names

    def right_session(self) -> FunctionSession:
        """Return the session of a student who has everything right."""
        return FunctionSession(self.right_names())

    def dry_run(self, exercise: str, checks: tuple[str, ...], secret: bytes) -> list[Call]:
        """Return all calls that ``checks`` make on a right solution, with inputs drawn from ``secret``."""
        calls = (call for call, _answer in self.rehearse(exercise, checks, secret))
        return [call for call in calls if not call.kwargs.get("variable")]

    def rehearse(self, exercise: str, checks: tuple[str, ...], secret: bytes) -> list[tuple[Call, Answer]]:
        """Return the calls of ``dry_run`` and the reads of variables, each with the right solution's answer."""
        drawn = replace(self, shrinks=False, _seed=None if secret == self.secret else secret)
        session = self.right_session()
        conversation = ExerciseSession(
            lambda: session, signature=self.signature, classes=self.class_names(), right=self.reference.answer
        )
        for name in checks:
            drawn.run_check(exercise, name, StudentProxy(conversation))
        return conversation.log

    def asks_purity(self, exercise: str) -> bool:
        """Return whether the purity check makes any calls for ``exercise``."""
        prepared = self._prepare(exercise)
        return bool(prepared.purity or prepared.care)

    def _prepare(self, exercise: str) -> _Prepared:
        if exercise in self._prepared:
            return self._prepared[exercise]
        checks = self.specs[exercise].checks
        names = tuple(c.name for c in checks)
        rehearsed = self.rehearse(exercise, names, self.secret)
        plan = [call for call, _answer in rehearsed if not call.kwargs.get("variable")]
        pairs: list[tuple[Call, Call]] = []
        if any(c.purity for c in checks):
            other = self.dry_run(exercise, names, self.secret[::-1])
            pairs = pairs_of(exercise, plan, other, self._returns, self._answers_differ)
        precompute_keys([*plan, *(call for pair in pairs for call in pair)])
        # A call with a memory limit is slow and needs its own session, so it is made only when its check runs.
        asked = Script(call for call in plan if call.memory_mb is None)
        # The result of a probe (such as a figure) is expensive. It is inspected immediately, so a shared buffer does not matter.
        orders = [(a, b, [b, a] if a.probe else [a, b, a, b]) for a, b in pairs]
        purity: list[PurityProbe] = []
        for a, b, order in orders[::-1]:  # smallest inputs first, because one ``between`` call is enough
            between = None if any(probe.between for probe in purity) else self._between(a, b)
            purity[:0] = [PurityProbe(a, b, Script(order), answers_differ=self._answers_differ(a, b), between=between)]
        is_class = exercise in self.class_names() and any(c.purity for c in checks)
        care = plan_aliasing_check(plan, self.reference.answer) if is_class else ()
        new_results = not any(answer.same for _call, answer in rehearsed)
        return self._prepared.setdefault(exercise, _Prepared(plan, asked, purity, care, new_results))

    def _returns(self, call: Call) -> bool:
        """Return whether a right solution returns a value that can leave a sandbox, without changing its arguments.

        A figure cannot leave the sandbox. New figures are closed here, because the next call would draw on an open figure.
        """
        pyplot = sys.modules.get("matplotlib.pyplot")
        before = set(pyplot.get_fignums()) if pyplot is not None else set()
        with redirect_stdout(io.StringIO()):
            seconds = self.course.limits.call_seconds
            answer = FunctionSession(self.right_names(), call_seconds=seconds).call(call)
        if (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:
            for number in set(pyplot.get_fignums()) - before:
                pyplot.close(number)
        stays = any(isinstance(part, Opaque) for part in (answer.value, *family_of(answer.value).parts(answer.value)))
        return answer.error is None and not answer.changed and not answer.stopped and not stays

    def _between(self, one: Call, other: Call) -> Call | None:
        """Return ``changed_between(one, other)``, or None if a right solution would not pass that test."""
        if one.probe or one.expects is not None or not self._answers_differ(one, other):
            return None
        call = changed_between(one, other)
        right, answer = self.right_session().batch([other, call])
        return call if same_answer(right, replace(answer, changed=()), other) else None

    def _answers_differ(self, one: Call, other: Call) -> bool:
        if one.probe:
            return False
        left, right = self.right_session().batch([one, other])
        return left.error is None and right.error is None and not same_answer(left, right, one)

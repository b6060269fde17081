"""Load a chapter's checks and known solutions from its files, and prepare what every student is asked."""

from __future__ import annotations

import inspect
import itertools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from autograder.base.errors import CourseError
from autograder.checking.agreement import ReferenceComparison
from autograder.checking.call_source import track_answers
from autograder.checking.decorators import ExerciseSpec, exercises_of, place_of
from autograder.checking.properties import drawing, rng_for
from autograder.checking.quizzes import Quiz
from autograder.course.course import Course, failure, run_module
from autograder.course.secret import course_secret
from autograder.judging.candidates import diagnosis_of, wrong_answers
from autograder.judging.diagnosis import Diagnosis, same_answer
from autograder.judging.exercise_session import ExerciseSession
from autograder.judging.functions import FunctionSession
from autograder.judging.proxies import ReferenceProxy, StudentProxy
from autograder.judging.purity import AliasingCheck, PurityProbe, pairs_of, plan_aliasing_check
from autograder.judging.values import remember
from autograder.misconception import Alternative, Misconception, alternatives_in, misconceptions_in
from autograder.sandbox.protocol import Call, Script, Session

__all__ = [
    "FIXTURES",
    "Case",
    "ChapterChecks",
    "cases_of",
    "known_alternatives",
    "known_misconceptions",
    "load_checks",
    "make_importable",
    "reference_functions",
]


FIXTURES = frozenset({"student", "reference", "agrees", "rng"})  # what a check may ask for


@dataclass(frozen=True, slots=True)
class Case:
    """One run of a check: the fixtures and parameters that its function wants, and the values of the parameters."""

    wanted: tuple[str, ...]
    values: Mapping[str, Any]


def cases_of(cls: type, name: str) -> list[Case]:
    """Every case of the check ``name``: one, or one for each combination of what ``pytest.mark.parametrize`` gives it.

    Raises ``CourseError``, with file and line, for anything of pytest's that grading does not do.
    """
    function = getattr(cls, name)
    where = place_of(cls, name)
    marks = [*getattr(function, "pytestmark", []), *getattr(cls, "pytestmark", [])]
    axes: list[list[dict[str, Any]]] = []
    for mark in marks:
        if mark.name != "parametrize":
            raise CourseError(
                f"{where} is marked with pytest.mark.{mark.name}, which grading does not know: a check runs for everybody. "
                "Of pytest's marks only parametrize counts here."
            )
        axes.append(_parameters(mark, where))
    wanted = tuple(p for p in inspect.signature(function).parameters if p != "self")
    given = {parameter for axis in axes for parameter in axis[0]}
    unknown = [p for p in wanted if p not in FIXTURES | given]
    if unknown:
        raise CourseError(
            f"{where} asks for the fixture {unknown[0]!r}, which grading does not provide. A check may ask for "
            f"{', '.join(sorted(FIXTURES))} and for what pytest.mark.parametrize gives it; make anything else in the check itself."
        )
    for setup in ("setup_method", "teardown_method", "setup_class", "teardown_class"):
        if hasattr(cls, setup):
            raise CourseError(
                f"{where.partition(':')[0]}: {cls.__name__} has a {setup}, which grading does not call: put into each check what it needs."
            )
    # In pytest's order: the marks of a function stand nearest first, and the nearest varies slowest.
    return [Case(wanted, {k: v for part in parts for k, v in part.items()}) for parts in itertools.product(*axes)]


def _parameters(mark: Any, where: str) -> list[dict[str, Any]]:
    """The values of one ``parametrize``, by name, for each of its cases."""
    arguments = {**dict(zip(("argnames", "argvalues", "indirect"), mark.args, strict=False)), **mark.kwargs}
    if arguments.get("indirect"):
        raise CourseError(
            f"{where} is parametrized with indirect=…, and grading has no fixtures to give the values to."
        )
    names, values = arguments["argnames"], arguments["argvalues"]
    names = [n.strip() for n in names.split(",") if n.strip()] if isinstance(names, str) else list(names)
    cases = []
    for value in list(values):
        marked = hasattr(value, "marks") and hasattr(value, "values")  # pytest.param(…)
        if marked and value.marks:
            raise CourseError(
                f"{where} has a case marked with pytest.mark.{value.marks[0].name}, and every case counts here."
            )
        row = tuple(value.values) if marked else (value,) if len(names) == 1 else tuple(value)
        if len(row) != len(names):
            raise CourseError(f"{where} is parametrized with {len(names)} names, and one case has {len(row)} values.")
        cases.append(dict(zip(names, row, strict=True)))
    if not cases:
        raise CourseError(f"{where} is parametrized with no case at all, so it would pass for everybody.")
    return cases


def reference_functions(course: Course, chapter: str) -> dict[str, Callable[..., Any]]:
    """The public functions and classes of the chapter's reference solutions, its quiz among them, by name."""
    module = course.references(chapter)
    return {
        name: f
        for name, f in vars(module).items()
        if callable(f)
        and not name.startswith("_")
        and not _is_ours(f)
        # A class that was imported, such as Counter, is a tool of the solutions'.
        and not (isinstance(f, type) and not str(f.__module__).startswith(("solutions", module.__name__)))
    }


def known_misconceptions(course: Course, chapter: str) -> list[Misconception]:
    """The chapter's named wrong solutions: those of its quiz tables, and those of its file of misconceptions."""
    found = [m for table in _quizzes(course, chapter) for m in table.misconceptions]
    return misconceptions_in(course.misconceptions(chapter)) + found


def known_alternatives(course: Course, chapter: str) -> list[Alternative]:
    """The chapter's right solutions written differently: those of its quiz tables, and those of its file."""
    found = [a for table in _quizzes(course, chapter) for a in table.alternatives]
    return alternatives_in(course.alternatives(chapter)) + found


def _quizzes(course: Course, chapter: str) -> list[Quiz]:
    return [value for value in vars(course.references(chapter)).values() if isinstance(value, Quiz)]


def _is_ours(function: Any) -> bool:
    """Whether it is one of the framework's words, such as ``quiz``, and no solution."""
    return not isinstance(function, Quiz) and str(getattr(function, "__module__", "")).startswith("autograder.")


PUBLIC = b"public"


def load_checks(course: Course, chapter: str) -> ChapterChecks:
    """The checks of a chapter, from its test file, which is read each time.

    Raises ``CourseError`` where the file cannot be run, does not fit the course, or asks for what grading does not have.
    """
    path = course.checks(chapter)
    if not path.is_file():
        raise CourseError(f"Chapter {chapter!r} has no checks: there is no {path}.")
    course.references(chapter)  # so that a check file which imports them gets this course's, and no other's
    make_importable(course.root)
    name = f"autograder_checks_{chapter}"
    try:
        with _own_neighbours(path.parent):
            module = run_module(name, path)
    except (KeyboardInterrupt, CourseError):  # an author's mistake that a decorator found is a sentence already
        raise
    except BaseException as error:
        # pytest.skip() and sys.exit() at the top of a file too: none of its checks would count.
        why = failure(error, path, course.root / "tests")
        raise CourseError(f"The checks in {path} cannot be run: {why}") from error
    finally:
        sys.modules.pop(name, None)
    return ChapterChecks.of(course, chapter, module)


def make_importable(root: Path) -> None:
    """Let the check files of the course in ``root`` import its solutions, and the modules beside them."""
    for folder in (str(root), str(root / "tests" / "chapters")):
        if folder in sys.path:
            sys.path.remove(folder)
        sys.path.insert(0, folder)


@contextmanager
def _own_neighbours(folder: Path) -> Iterator[None]:
    """Have modules of ``folder`` read again inside, and none of the same name that another course has loaded."""
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
    """What is asked about an exercise.

    ``plan`` is every call that its checks make of a student who is right, each once; ``asked`` those that go over at the
    first question; ``purity``, for the check of that name, calls with what is asked after them: others of the same shapes, and they again.
    """

    plan: Sequence[Call] = ()
    asked: Sequence[Call] = ()
    purity: Sequence[PurityProbe] = ()
    care: Sequence[AliasingCheck] = ()


@dataclass
class ChapterChecks:
    """The exercises of a chapter with their classes, references, misconceptions, and the calls that are known before.

    Set ``shrinks`` to ``False`` where nobody reads the messages: looking for a small example takes far longer than judging.
    With ``shows_cases=False``, failures come without their case, and judging is quicker still.
    ``only_visible`` says that the hidden checks are left out.
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
    _seed: bytes | None = None  # what every input is drawn from, where it is neither public nor the secret
    _prepared: dict[str, _Prepared] = field(default_factory=dict)
    _cases: dict[tuple[str, str], list[Case]] = field(default_factory=dict)
    _diagnoses: dict[str, Diagnosis] = field(default_factory=dict)

    @classmethod
    def of(cls, course: Course, chapter: str, module: ModuleType) -> ChapterChecks:
        """The checks that ``module`` (the chapter's test file) holds; raises ``CourseError`` where they do not fit the course."""
        specs = exercises_of(module)
        if not specs:
            raise CourseError(f"{course.checks(chapter)} holds no class marked with @exercise(…).")
        names = [spec.name for spec in specs]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise CourseError(f"{course.checks(chapter)} holds two classes for the exercise {twice!r}: make them one.")
        references = reference_functions(course, chapter)
        for spec in specs:
            if spec.name not in references:
                raise CourseError(
                    f"{course.checks(chapter)} checks {spec.name!r}, but solutions/{chapter}.py has no function of that name, and no class."
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
                    f"which is no function of solutions/{chapter}.py, and no class."
                )
            wrong.setdefault(misconception.exercise, []).append(misconception)
        classes = {
            v.__exercise__.name: v for v in vars(module).values() if "__exercise__" in getattr(v, "__dict__", {})
        }
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
        """The checks that students run themselves, with the inputs of those alone."""
        specs = {s.name: replace(s, checks=tuple(c for c in s.checks if c.visible)) for s in self.specs.values()}
        # A quiz explains nothing before it is graded: what each wrong choice means comes with the marks.
        wrong = {name: [] if self.specs[name].answers else known for name, known in self.misconceptions.items()}
        return replace(self, specs=specs, misconceptions=wrong, only_visible=True, _prepared={}, _diagnoses={})

    def diagnosis(self, exercise: str) -> Diagnosis:
        """What is known of the mistakes of ``exercise``, worked out once."""
        if exercise not in self._diagnoses:
            known, plan = self.misconceptions[exercise], self.plan(exercise)
            found = diagnosis_of(exercise, self.references, known, plan, pairs=not self.only_visible)
            self._diagnoses[exercise] = found
        return self._diagnoses[exercise]

    def wrong_choices(self, exercise: str, answers: Mapping[str, Any]) -> list[tuple[str, str, str]]:
        """The known wrong choices among the answers to a quiz: variable, name of the mistake, and its message."""
        return [(variable, m.name, m.message) for variable, m in wrong_answers(self.misconceptions[exercise], answers)]

    def asks_for(self, exercise: str, check: str, variable: str) -> bool:
        """Whether ``check`` names ``variable``."""
        function = getattr(self.classes[exercise], check)
        # The checks of a quiz's table are made by one function, in which the variable is no constant.
        closed_over = [cell.cell_contents for cell in function.__closure__ or ()]
        return variable in function.__code__.co_consts or any(
            value == variable for value in closed_over if isinstance(value, str)
        )

    def right_answer(self, call: Call) -> Any:
        """What a right solution answers; None where there is no such function."""
        return self.reference.answer(call) if call.function in self.references else None

    def class_names(self) -> frozenset[str]:
        """The names of the references that are classes."""
        return frozenset(name for name, reference in self.references.items() if isinstance(reference, type))

    def signature(self, name: str) -> inspect.Signature | None:
        """The signature of the reference called ``name``."""
        function = self.references.get(name)
        return inspect.signature(function) if function is not None else None

    def plan(self, exercise: str) -> Sequence[Call]:
        """Every call that the exercise's checks make of a student who is right, each once."""
        return self._prepare(exercise).plan

    def converse(
        self,
        exercise: str,
        session: Callable[[], Session],
        limited: Callable[[int], Session] | None = None,
        fresh_session: Callable[[], Session] | None = None,
        *,
        planned: bool = True,
    ) -> ExerciseSession:
        """A conversation about ``exercise`` with the submission behind ``session``.

        ``limited`` opens it with less memory, ``fresh_session`` in a process that has not been asked anything.
        """
        prepared = self._prepare(exercise) if planned else _Prepared()
        return ExerciseSession(
            session,
            limited=limited,
            planned=prepared.asked,
            purity=prepared.purity,
            care=prepared.care,
            fresh_session=fresh_session,
            limits=self.course.limits,
            signature=self.signature,
            classes=self.class_names(),
            right=self.reference.answer,
        )

    def secret_for(self, exercise: str, check: str) -> bytes:
        """What a check's inputs are drawn from: visible ones are published, so they never touch the course's secret."""
        if self._seed is not None:
            return self._seed
        return PUBLIC if check in self.specs[exercise].visible else self.secret

    def run_check(self, exercise: str, check: str, student: Any) -> None:
        """Run every case of one check on ``student`` (a ``StudentProxy``, or a recorder); raises what the first to fail raises."""
        cls = self.classes[exercise]
        function = getattr(cls, check)
        agrees = ReferenceComparison(student, self.reference)
        fixtures = {"student": student, "reference": self.reference, "agrees": agrees}
        with drawing(self.secret_for(exercise, check), shrink=self.shrinks):
            for case in self._cases[exercise, check]:
                values = {**fixtures, "rng": rng_for(function), **case.values}
                with track_answers(show_cases=self.shows_cases):
                    function(cls(), **{name: values[name] for name in case.wanted})

    def right_names(self) -> dict[str, Any]:
        """The functions and the answers of a student who has everything right."""
        names: dict[str, Any] = dict(self.references)
        for spec in self.specs.values():
            if spec.answers:
                names.update(self.references[spec.name]())
        return names

    def right_session(self) -> FunctionSession:
        """A stand-in for a student who has everything right."""
        return FunctionSession(self.right_names())

    def dry_run(self, exercise: str, checks: tuple[str, ...], secret: bytes) -> list[Call]:
        """The calls that ``checks`` make of a student who is right when inputs are drawn from ``secret``, repeats included."""
        drawn = replace(self, shrinks=False, _seed=None if secret == self.secret else secret)
        session = self.right_session()
        conversation = ExerciseSession(
            lambda: session, signature=self.signature, classes=self.class_names(), right=self.reference.answer
        )
        for name in checks:
            drawn.run_check(exercise, name, StudentProxy(conversation))
        return [call for call, _answer in conversation.log if not call.kwargs.get("variable")]

    def _prepare(self, exercise: str) -> _Prepared:
        if exercise in self._prepared:
            return self._prepared[exercise]
        checks = self.specs[exercise].checks
        names = tuple(c.name for c in checks)
        plan = self.dry_run(exercise, names, self.secret)
        pairs: list[tuple[Call, Call]] = []
        if any(c.purity for c in checks):
            pairs = pairs_of(exercise, plan, self.dry_run(exercise, names, self.secret[::-1]))
        remember([*plan, *(call for pair in pairs for call in pair)])
        # A call with a memory limit takes long and a session of its own: it waits until its check comes, if it does.
        asked = Script(call for call in plan if call.memory_mb is None)
        # What a probe looks at (a drawn figure) is dear to make and is seen at once: nothing is held on to there.
        orders = [(a, b, [b, a] if a.probe else [a, b, a, b]) for a, b in pairs]
        purity = [PurityProbe(a, b, Script(order), apart=self._answered_apart(a, b)) for a, b, order in orders]
        is_class = exercise in self.class_names() and any(c.purity for c in checks)
        care = plan_aliasing_check(plan, self.reference.answer) if is_class else ()
        return self._prepared.setdefault(exercise, _Prepared(plan, asked, purity, care))

    def _answered_apart(self, one: Call, other: Call) -> bool:
        """Whether a right solution answers two questions differently."""
        if one.probe:
            return False
        left, right = self.right_session().batch([one, other])
        return left.error is None and right.error is None and not same_answer(left, right, one)

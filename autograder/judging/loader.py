"""A chapter's checks, read from their file and ready to use: what every student is asked, worked out before the first comes."""

from __future__ import annotations

import importlib.util
import inspect
import itertools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from autograder.checking.agreement import Agreement
from autograder.checking.decorators import ExerciseSpec, exercises_of, place_of
from autograder.checking.properties import draw_seed, seed_number, shrinking
from autograder.checking.spelling import noting_answers
from autograder.course import Course, CourseError, failure
from autograder.judging.conversation import Care, Conversation, ReferenceProxy, StudentProxy, same_answer
from autograder.judging.functions import InProcessSession
from autograder.judging.secret import course_secret
from autograder.judging.solutions import known_misconceptions, reference_functions
from autograder.judging.values import fingerprint, key_of, remember
from autograder.misconception import Misconception
from autograder.sandbox.protocol import Call, Script, Session

__all__ = ["FIXTURES", "ChapterChecks", "drawing", "load_checks", "make_importable", "rng_for"]

PUBLIC = b"public"
FIXTURES = frozenset({"student", "reference", "agrees", "rng"})  # what a check may ask for


def load_checks(course: Course, chapter: str) -> ChapterChecks:
    """The checks of a chapter, from its test file, which is read again each time.

    Raises ``CourseError`` where the file cannot be run, does not fit the course, or asks for what grading does not have.
    """
    path = course.checks(chapter)
    if not path.is_file():
        raise CourseError(f"Chapter {chapter!r} has no checks: there is no {path}.")
    course.references(chapter)  # so that a check file which imports them gets this course's, and no other's
    make_importable(course.root)
    name = f"autograder_checks_{chapter}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None  # noqa: S101, PT018 - a .py path always has a loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with _own_neighbours(path.parent):
            spec.loader.exec_module(module)
    except (KeyboardInterrupt, CourseError):  # an author's mistake that a decorator found is a sentence already
        raise
    except BaseException as error:
        # pytest.skip() and sys.exit() at the top of a file too: none of its checks would count.
        why = failure(error, path, course.root / "tests")
        raise CourseError(f"The checks in {path} cannot be run: {why}") from error
    finally:
        del sys.modules[name]
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
    first question; ``care``, for ``pure``, calls with what is asked after them: others of the same shapes, and they again.
    """

    plan: Sequence[Call] = ()
    asked: Sequence[Call] = ()
    care: Sequence[Care] = ()


@dataclass(frozen=True, slots=True)
class _Case:
    """One run of a check: the fixtures and parameters that its function wants, and the values of the parameters."""

    wanted: tuple[str, ...]
    values: Mapping[str, Any]


@dataclass
class ChapterChecks:
    """The exercises of a chapter with their classes, references, misconceptions, and the calls that are known before."""

    course: Course
    chapter: str
    specs: dict[str, ExerciseSpec]
    classes: dict[str, type]
    references: dict[str, Callable[..., Any]]
    misconceptions: dict[str, list[Misconception]]
    secret: bytes
    reference: ReferenceProxy = field(init=False)
    _prepared: dict[str, _Prepared] = field(default_factory=dict)
    _cases: dict[tuple[str, str], list[_Case]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.reference = ReferenceProxy(self.references)

    @classmethod
    def of(cls, course: Course, chapter: str, module: ModuleType) -> ChapterChecks:
        """The checks that ``module`` (the chapter's test file) holds; raises ``CourseError`` where they do not fit the course."""
        specs = exercises_of(module)
        if not specs:
            raise CourseError(f"{course.checks(chapter)} holds no class marked with @exercise(…).")
        references = reference_functions(course, chapter)
        for spec in specs:
            if spec.name not in references:
                raise CourseError(
                    f"{course.checks(chapter)} checks {spec.name!r}, but solutions/{chapter}.py has no function of that name."
                )
        wrong: dict[str, list[Misconception]] = {spec.name: [] for spec in specs}
        for misconception in known_misconceptions(course, chapter):
            if misconception.exercise not in references:
                raise CourseError(
                    f"solutions/misconceptions/{chapter}.py: {misconception.name} is about {misconception.exercise!r}, "
                    f"which is no function of solutions/{chapter}.py."
                )
            wrong.setdefault(misconception.exercise, []).append(misconception)
        classes = {
            v.__exercise__.name: v for v in vars(module).values() if "__exercise__" in getattr(v, "__dict__", {})
        }
        found = cls(course, chapter, {s.name: s for s in specs}, classes, references, wrong, course_secret(course))
        for spec in specs:
            for check in spec.checks:
                found._cases[spec.name, check.name] = cases_of(classes[spec.name], check.name)
        return found

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
        anew: Callable[[], Session] | None = None,
        *,
        planned: bool = True,
    ) -> Conversation:
        """A conversation about ``exercise`` with the submission behind ``session``.

        ``limited`` opens it with less memory, ``anew`` in a process that has not been asked anything.
        """
        prepared = self._prepare(exercise) if planned else _Prepared()
        return Conversation(
            session,
            limited=limited,
            planned=prepared.asked,
            care=prepared.care,
            anew=anew,
            limits=self.course.limits,
            signature=self.signature,
        )

    def secret_for(self, exercise: str, check: str) -> bytes:
        """What a check's inputs are drawn from: visible ones are published, so they never touch the course's secret."""
        return PUBLIC if check in self.specs[exercise].visible else self.secret

    def run_check(self, exercise: str, check: str, student: Any) -> None:
        """Run every case of one check on ``student`` (a ``StudentProxy``, or a recorder); raises what the first to fail raises."""
        cls = self.classes[exercise]
        function = getattr(cls, check)
        for case in self._cases[exercise, check]:
            agrees = Agreement(student, self.reference)
            available = {"student": student, "reference": self.reference, "agrees": agrees, **case.values}
            if "rng" in case.wanted:
                available["rng"] = rng_for(function)
            with noting_answers():
                function(cls(), **{name: available[name] for name in case.wanted})

    def right_session(self) -> InProcessSession:
        """A stand-in for a student who has everything right."""
        namespace: dict[str, Any] = dict(self.references)
        for spec in self.specs.values():
            if spec.answers:
                namespace.update(self.references[spec.name]())
        return InProcessSession(namespace)

    def dry_run(self, exercise: str, checks: tuple[str, ...], secret: bytes) -> list[Call]:
        """The calls that ``checks`` make of a student who is right, in order, repeats included."""
        session = self.right_session()
        conversation = Conversation(lambda: session, signature=self.signature)
        for name in checks:
            seed = secret if secret != self.secret else self.secret_for(exercise, name)
            with drawing(seed, shrink=False):
                self.run_check(exercise, name, StudentProxy(conversation))
        return [call for call, _answer in conversation.log if not call.kwargs.get("variable")]

    def _prepare(self, exercise: str) -> _Prepared:
        if exercise in self._prepared:
            return self._prepared[exercise]
        names = tuple(c.name for c in self.specs[exercise].checks)
        plan = self.dry_run(exercise, names, self.secret)
        other = self.dry_run(exercise, names, self.secret[::-1])
        pairs = _pairs(exercise, plan, other)
        remember([*plan, *(call for pair in pairs for call in pair)])
        # A call with a memory limit takes long and a session of its own: it waits until its check comes, if it does.
        asked = Script(call for call in plan if call.memory_mb is None)
        # What a probe looks at (a drawn figure) is dear to make and is seen at once: nothing is held on to there.
        care = [
            Care(a, b, Script([b, a] if a.probe else [a, b, a, b]), apart=self._answered_apart(a, b)) for a, b in pairs
        ]
        return self._prepared.setdefault(exercise, _Prepared(plan, asked, care))

    def _answered_apart(self, one: Call, other: Call) -> bool:
        """Whether whoever is right answers two questions differently."""
        if one.probe:
            return False
        left, right = self.right_session().batch([one, other])
        return left.error is None and right.error is None and not same_answer(left, right, one)


def cases_of(cls: type, name: str) -> list[_Case]:
    """Every case of the check ``name``: one, or one for each combination of what ``pytest.mark.parametrize`` gives it.

    Raises ``CourseError``, with file and line, for anything of pytest's that grading does not do.
    """
    function = getattr(cls, name)
    where = place_of(cls, name)
    marks = [*getattr(function, "pytestmark", []), *getattr(cls, "pytestmark", [])]
    axes: list[list[dict[str, Any]]] = []
    for mark in marks:
        if mark.name == "parametrize":
            axes.append(_parameters(mark, where))
        else:
            raise CourseError(
                f"{where} is marked with pytest.mark.{mark.name}, which grading does not know: a check runs for everybody. "
                "Of pytest's marks only parametrize counts here."
            )
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
    return [
        _Case(wanted, {k: v for part in combination for k, v in part.items()})
        for combination in itertools.product(*axes)
    ]


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


@contextmanager
def drawing(secret: bytes, *, shrink: bool = True) -> Iterator[None]:
    """Draw inputs from ``secret`` inside; ``shrink=False`` leaves failing inputs as they were drawn."""
    seed, small = draw_seed.set(secret), shrinking.set(shrink)
    try:
        yield
    finally:
        draw_seed.reset(seed)
        shrinking.reset(small)


def rng_for(check: Callable[..., Any]) -> np.random.Generator:
    """The generator that a check draws its own inputs from: a new one, the same at every run."""
    return np.random.default_rng(seed_number(draw_seed.get(), check.__qualname__))


def _pairs(exercise: str, plan: list[Call], other: list[Call]) -> list[tuple[Call, Call]]:
    """Calls of one shape and different numbers: from the plan and its second drawing, the largest inputs first."""
    shapes: dict[Any, list[Call]] = {}
    for call in [*plan, *other]:
        if call.function == exercise and call.args:
            shapes.setdefault((call.probe, _form((call.args, dict(call.kwargs)))), []).append(call)
    pairs = []
    for calls in shapes.values():
        second = next((c for c in calls[1:] if key_of(c) != key_of(calls[0])), None)
        if second is not None:
            pairs.append((calls[0], second))
    pairs.sort(key=lambda pair: -len(str(fingerprint(pair[0].args))))
    if not pairs:
        # Nothing of one shape was drawn twice: the same arrays backwards serve, since answers are compared with themselves.
        # Where there are no arrays to turn, only whole numbers, some other call of the plan comes in between.
        own = [call for call in plan if call.function == exercise]
        pairs = [(call, _another(call, own)) for call in own]
    # What a probe looks at is dear to make: there, one small pair.
    return pairs[-1:] if pairs and pairs[0][0].probe else pairs[:3]


def _another(call: Call, calls: Sequence[Call]) -> Call:
    """A question other than ``call``: its arrays backwards, or else one of ``calls``; itself where there is none."""
    others = (c for c in (_backwards(call), *calls) if key_of(c) != key_of(call))
    return next(others, call)


def _backwards(call: Call) -> Call:
    def flipped(value: Any) -> Any:
        return np.flip(value).copy() if isinstance(value, np.ndarray) and value.dtype.kind == "f" else value

    return replace(call, args=tuple(map(flipped, call.args)), kwargs={k: flipped(v) for k, v in call.kwargs.items()})


def _form(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return (value.dtype.str, value.shape)
    if isinstance(value, dict):
        return tuple((k, _form(v)) for k, v in value.items())
    if isinstance(value, list | tuple):
        return tuple(_form(v) for v in value)
    return fingerprint(value)

"""Decorators for check files, which define an exercise, its points and hints, and the order of its checks."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeVar

from autograder.base.errors import CourseError
from autograder.checking.inputs.contract import Contract

__all__ = [
    "CheckSpec", "ExerciseSpec", "annotate_check", "check", "exercise", "exercises_of", "hints_in", "place_of",
    "pure",
]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T", bound=type)
Waits = str | Callable[..., Any] | Sequence[str | Callable[..., Any]]


@dataclass(frozen=True, slots=True)
class CheckSpec:
    """A check of an exercise, as defined in the check file.

    ``purity`` is set for a check that ``pure`` returns, and ``kinds`` for a check that ``all_categories`` returns.
    """

    name: str
    title: str
    points: float
    visible: bool
    after: tuple[str, ...]
    purity: bool = False
    kinds: bool = False


@dataclass(frozen=True, slots=True)
class ExerciseSpec:
    """An exercise, as defined by its check class.

    Attributes:
        name: the name of the function, class or quiz.
        points: the sum of the checks' points.
        checks: the checks, in the order of the class.
        depends_on: the earlier exercises whose functions a solution may call.
        hints: the hints, in the order in which they are shown.
        answers: the names of the variables that students set, for an exercise without a function.
        equivalent: the mutants that are correct solutions, each with the reason (for the audit).
        hidden_only: the misconceptions that no visible check can detect, each with the reason (for the audit).
        takes: the contract of the function's inputs.
    """

    name: str
    points: float
    checks: tuple[CheckSpec, ...]
    depends_on: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    equivalent: tuple[tuple[str, str], ...] = ()
    hidden_only: tuple[tuple[str, str], ...] = ()
    takes: Contract | None = None

    @property
    def visible(self) -> frozenset[str]:
        """The names of the visible checks."""
        return frozenset(c.name for c in self.checks if c.visible)


def exercise(
    name: str,
    *,
    points: float,
    depends_on: Sequence[str] = (),
    hints: Sequence[str] = (),
    answers: Sequence[str] = (),
    equivalent: Mapping[str, str] | None = None,
    hidden_only: Mapping[str, str] | None = None,
    takes: Contract | None = None,
) -> Callable[[T], T]:
    """Mark a class as the checks of the exercise ``name``, whose points must add up to ``points``.

    The hints are the paragraphs of the class's docstring, or ``hints``. The other arguments are described in
    ``ExerciseSpec``.

    Raises ``CourseError``, with file and line, if a check has no title, if its ``after`` names no earlier check,
    if the points do not add up, if both the docstring and ``hints`` contain hints, or if a sequence is given as a string.
    """
    [here, _] = traceback.extract_stack(limit=2)

    def mark(cls: T) -> T:
        where = f"{here.filename}, line {here.lineno}: {cls.__name__}"
        written = vars(cls).get("__doc__") or ""
        for word, value in (("hints", hints), ("depends_on", depends_on), ("answers", answers)):
            if isinstance(value, str):
                raise CourseError(
                    f"{where} has {word}={value!r}. A single string would be read as a list of its letters. Write {word}=({value!r},)."
                )
        if hints and written:
            raise CourseError(f"{where} has hints=… and a docstring, which also contains hints. Keep one of the two.")
        checks = _checks_of(cls)
        total = sum(c.points for c in checks)
        if abs(total - points) > 1e-9:
            raise CourseError(
                f"{where}: the checks' points add up to {total:g}, but the exercise {name!r} has {points:g}."
            )
        if takes is None and any(c.kinds for c in checks):
            raise CourseError(
                f"{where} has a check of every kind of input, but no contract says which inputs the exercise {name!r} takes. Write "
                "@exercise(…, takes=Contract({…})), with a line for each argument."
            )
        texts = tuple(hints) or hints_in(written)
        right, hidden = tuple((equivalent or {}).items()), tuple((hidden_only or {}).items())
        spec = ExerciseSpec(name, float(points), checks, tuple(depends_on), texts, tuple(answers), right, hidden, takes)
        cls.__exercise__ = spec  # type: ignore[attr-defined]
        return cls

    return mark


def check(*, points: float = 0.0, visible: bool = False, after: Waits = ()) -> Callable[[F], F]:
    """Set the points of a check, whether students can run it themselves, and the checks that must pass first.

    ``after`` is one or several earlier checks of the class, each given by its name or as a function. This check is
    skipped until they have passed.
    """
    several = after if isinstance(after, Sequence) and not isinstance(after, str) else [after]
    names = tuple(getattr(other, "__name__", other) for other in several)
    return annotate_check(points=float(points), visible=visible, after=names)


def pure(
    *, points: float, after: Waits = (), title: str = "leaves its inputs unchanged, and always returns the same result"
) -> Callable[..., None]:
    """Return a check that a function has no side effects and no memory of earlier calls. It suits every exercise.

    It uses the inputs of the exercise's other checks, and fails in these cases:

    - An argument differs after a call.
    - A result changes when the function is called again.
    - The same call returns two different results, with another call in between.
    - Two different calls return the same result, but one of them returns another result in a new process.
    - A result depends on NumPy's global random state.

    It runs only after two other checks with points have passed (or one, if there is only one), so that a wrong function earns
    nothing for purity.
    """

    def test_care(self: Any, student: Any) -> None:  # noqa: ARG001 - a method
        student.check_purity()

    test_care.__doc__ = title
    return annotate_check(purity=True)(check(points=points, after=after)(test_care))


def annotate_check(**facts: object) -> Callable[[F], F]:
    """Return a decorator that sets the fields ``facts`` in the ``CheckSpec`` of a check."""
    frame = inspect.currentframe()
    while frame and str(frame.f_globals.get("__name__")).startswith("autograder."):
        frame = frame.f_back
    place = (frame.f_code.co_filename, frame.f_lineno) if frame else ("", 0)

    def note(function: F) -> F:
        function.__check__ = {**getattr(function, "__check__", {}), **facts}  # type: ignore[attr-defined]
        function.__place__ = place  # type: ignore[attr-defined]
        return function

    return note


def hints_in(text: str) -> tuple[str, ...]:
    """Return the hints in a docstring: one for each paragraph, with its lines joined."""
    return tuple(" ".join(paragraph.split()) for paragraph in inspect.cleandoc(text).split("\n\n") if paragraph.strip())


def exercises_of(module: ModuleType) -> list[ExerciseSpec]:
    """Return the exercises whose checks are in ``module``, in the order of the file."""
    return [vars(v)["__exercise__"] for v in vars(module).values() if inspect.isclass(v) and "__exercise__" in vars(v)]


def place_of(cls: type, name: str) -> str:
    """Return the location of the check ``name`` of a class: its file, line and name."""
    function = inspect.unwrap(getattr(cls, name))
    file, line = function.__code__.co_filename, function.__code__.co_firstlineno
    if function.__module__.startswith("autograder."):  # for a check from ``pure``, use the line that calls ``pure``
        file, line = getattr(function, "__place__", (file, line))
    return f"{file}, line {line}: {cls.__name__}.{name}"


def _checks_of(cls: type) -> tuple[CheckSpec, ...]:
    found: dict[str, CheckSpec] = {}
    for name, function in vars(cls).items():
        if not name.startswith("test_") or not callable(function):
            continue
        title = inspect.cleandoc(function.__doc__ or "").split("\n\n")[0].replace("\n", " ")
        if not title:
            raise CourseError(
                f"{place_of(cls, name)} has no docstring. Write one: students see it as the check's title."
            )
        facts = {"points": 0.0, "visible": False, "after": (), **getattr(function, "__check__", {})}
        for other in facts["after"]:
            if other not in found:
                todo = f"Earlier checks: {', '.join(found)}" if found else "It is the first check, so remove after"
                raise CourseError(
                    f"{place_of(cls, name)} has after={other!r}, which is not an earlier check of its class. {todo}."
                )
        found[name] = CheckSpec(name, title, **facts)
    return tuple(found.values())

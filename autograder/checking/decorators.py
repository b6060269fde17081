"""How a check file says what an exercise is: its points, its hints, what is visible, what waits for what."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from autograder.base.errors import CourseError
from autograder.checking.contract import Contract

__all__ = [
    "CheckSpec",
    "ExerciseSpec",
    "annotate_check",
    "check",
    "exercise",
    "exercises_of",
    "hints_in",
    "place_of",
    "pure",
]

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T", bound=type)
Waits = str | Callable[..., Any] | Sequence[str | Callable[..., Any]]


@dataclass(frozen=True, slots=True)
class CheckSpec:
    """One check of an exercise, as its author wrote it."""

    name: str
    title: str
    points: float
    visible: bool
    after: tuple[str, ...]
    purity: bool = False
    kinds: bool = False


@dataclass(frozen=True, slots=True)
class ExerciseSpec:
    """One exercise, as its check class says it.

    ``answers`` names the variables of an exercise that has no function; ``depends_on`` the earlier exercises whose
    functions a student's solution may call; ``equivalent`` the mutants that are right, and ``hidden_only`` the misconceptions
    that no visible check can show, each with the reason (for the audit); ``takes`` what the function may be given.
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
    """Mark a class as the checks of the exercise ``name``; the points of its checks add up to ``points``.

    The hints are the paragraphs of the class's docstring, or ``hints``. Raises ``CourseError``, with file and line, for
    a check without a title, an ``after`` that names no earlier check, points that do not add up, hints in both places, and one
    text where several are meant.
    """
    [here, _] = traceback.extract_stack(limit=2)

    def mark(cls: T) -> T:
        where = f"{here.filename}, line {here.lineno}: {cls.__name__}"
        written = vars(cls).get("__doc__") or ""
        for word, value in (("hints", hints), ("depends_on", depends_on), ("answers", answers)):
            if isinstance(value, str):
                raise CourseError(
                    f"{where} has {word}={value!r}, one text: each letter of it would be one. Write {word}=({value!r},)."
                )
        if hints and written:
            raise CourseError(f"{where} has hints=… and a docstring, which holds the hints too. Keep one of the two.")
        checks = _checks_of(cls)
        total = sum(c.points for c in checks)
        if abs(total - points) > 1e-9:
            raise CourseError(f"{where}: the checks' points add up to {total:g}; the exercise {name!r} has {points:g}.")
        if takes is None and any(c.kinds for c in checks):
            raise CourseError(
                f"{where} has a check of every kind of input, and does not say what the exercise {name!r} takes: write "
                "@exercise(…, takes=Contract({…})), with a line for each argument."
            )
        texts = tuple(hints) or hints_in(written)
        right, hidden = tuple((equivalent or {}).items()), tuple((hidden_only or {}).items())
        spec = ExerciseSpec(name, float(points), checks, tuple(depends_on), texts, tuple(answers), right, hidden, takes)
        cls.__exercise__ = spec  # type: ignore[attr-defined]
        return cls

    return mark


def check(*, points: float = 0.0, visible: bool = False, after: Waits = ()) -> Callable[[F], F]:
    """Say what a check is worth, whether students run it themselves (``visible``), and what it waits for (``after``).

    ``after`` is an earlier check of the class, by name or itself, or several: until they have passed, this one is not tried.
    """
    several = [after] if isinstance(after, str) or callable(after) else after
    names = tuple(other if isinstance(other, str) else other.__name__ for other in several)
    return annotate_check(points=float(points), visible=visible, after=names)


def pure(
    *, points: float, after: Waits = (), title: str = "leaves its inputs alone, and answers the same every time"
) -> Callable[..., None]:
    """A check, the same for every exercise, that a function has no side effects and no memory.

    Its inputs are those of the exercise's other checks. No array argument may differ after a call; a result may not
    change when the function is called again; the second answer to one question is the first one, and so is that to a
    question asked alone, where two got one answer; NumPy's global random state is not consulted. It waits until two
    other checks have earned points (or the only one): purity is worth nothing in a wrong function.
    """

    def test_care(self: Any, student: Any) -> None:  # noqa: ARG001 - a method
        student.check_purity()

    test_care.__doc__ = title
    return annotate_check(purity=True)(check(points=points, after=after)(test_care))


def annotate_check(**facts: Any) -> Callable[[F], F]:
    """Note ``facts`` (fields of ``CheckSpec``) about a check."""

    def note(function: F) -> F:
        function.__check__ = {**getattr(function, "__check__", {}), **facts}  # type: ignore[attr-defined]
        return function

    return note


def hints_in(text: str) -> tuple[str, ...]:
    """The hints that a docstring holds: one in each paragraph, its lines joined."""
    return tuple(" ".join(paragraph.split()) for paragraph in inspect.cleandoc(text).split("\n\n") if paragraph.strip())


def exercises_of(module: Any) -> list[ExerciseSpec]:
    """The exercises whose checks ``module`` holds, in the order written."""
    return [vars(v)["__exercise__"] for v in vars(module).values() if inspect.isclass(v) and "__exercise__" in vars(v)]


def place_of(cls: type, name: str) -> str:
    """Where the check ``name`` of a class stands: its file, line and name."""
    code = inspect.unwrap(getattr(cls, name)).__code__
    return f"{code.co_filename}, line {code.co_firstlineno}: {cls.__name__}.{name}"


def _checks_of(cls: type) -> tuple[CheckSpec, ...]:
    found: dict[str, CheckSpec] = {}
    for name, function in vars(cls).items():
        if not name.startswith("test_") or not callable(function):
            continue
        title = inspect.cleandoc(function.__doc__ or "").split("\n\n")[0].replace("\n", " ")
        if not title:
            raise CourseError(f"{place_of(cls, name)} has no docstring: write there the title that a student reads.")
        facts = {"points": 0.0, "visible": False, "after": (), **getattr(function, "__check__", {})}
        for other in facts["after"]:
            if other not in found:
                earlier = ", ".join(found) or "none, as this is the first"
                raise CourseError(
                    f"{place_of(cls, name)} waits for {other!r}, which is no earlier check of its class. "
                    f"The earlier checks are: {earlier}."
                )
        found[name] = CheckSpec(name, title, **facts)
    return tuple(found.values())

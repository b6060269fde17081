"""How a check file says what an exercise is: its points, its hints, what is visible, what waits for what."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

__all__ = ["CheckSpec", "ExerciseSpec", "after", "careful", "exercise", "exercises_of", "points", "visible"]

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T", bound=type)


@dataclass(frozen=True, slots=True)
class CheckSpec:
    """One check of an exercise, as its author wrote it."""

    name: str
    title: str
    points: float
    visible: bool
    after: tuple[str, ...]
    care: bool = False


@dataclass(frozen=True, slots=True)
class ExerciseSpec:
    """One exercise, as its check class says it.

    ``answers`` names the variables of an exercise that has no function; ``leans_on`` the earlier exercises whose
    functions a student's solution may call; ``equivalent`` the mutants that are right, each with the reason (for the audit).
    """

    name: str
    points: float
    checks: tuple[CheckSpec, ...]
    leans_on: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    equivalent: tuple[tuple[str, str], ...] = ()

    @property
    def visible(self) -> frozenset[str]:
        """The names of the visible checks."""
        return frozenset(c.name for c in self.checks if c.visible)


def exercise(
    name: str,
    *,
    points: float,
    leans_on: Sequence[str] = (),
    hints: Sequence[str] = (),
    answers: Sequence[str] = (),
    equivalent: Mapping[str, str] | None = None,
) -> Callable[[T], T]:
    """Mark a class as the checks of the exercise ``name``; the points of its checks add up to ``points``.

    Raises ``TypeError``, when the file is read, for a check without a title, an ``after`` that names no earlier check,
    or points that do not add up.
    """

    def mark(cls: T) -> T:
        checks = tuple(_checks_of(cls, name))
        total = sum(c.points for c in checks)
        if abs(total - points) > 1e-9:
            raise TypeError(
                f"{cls.__name__}: the checks' points add up to {total:g}; the exercise {name!r} has {points:g}."
            )
        spec = ExerciseSpec(
            name,
            float(points),
            checks,
            tuple(leans_on),
            tuple(hints),
            tuple(answers),
            tuple((equivalent or {}).items()),
        )
        cls.__exercise__ = spec  # type: ignore[attr-defined]
        return cls

    return mark


def points(value: float) -> Callable[[F], F]:
    """What a check is worth."""
    return _note("__points__", float(value))


def visible(check: F) -> F:
    """Mark a check as one that students run themselves."""
    return _note("__visible__", value=True)(check)


def after(*names: str) -> Callable[[F], F]:
    """Mark a check as "not tried" until the checks ``names`` of the same class have passed."""
    return _note("__after__", names)


def careful(
    *, points: float, title: str = "leaves its inputs alone, and answers the same every time"
) -> Callable[..., None]:
    """A check, the same for every exercise, of how a function treats what it is given.

    Its inputs are those of the exercise's other checks. No array argument may differ after a call; a result may not
    change when the function is called again; the second answer to one question is the first one, and so is that to a
    question asked alone, where two got one answer; NumPy's global random state is not consulted. It waits until two
    other checks have earned points (or the only one): care is worth nothing in a wrong function.
    """

    def test_care(self: Any, student: Any, reference: Any) -> None:  # noqa: ARG001 - the fixtures every check has
        student.check_purity()

    test_care.__doc__ = title
    return _note("__points__", float(points))(_note("__care__", value=True)(test_care))


def exercises_of(module: Any) -> list[ExerciseSpec]:
    """The exercises whose checks ``module`` holds, in the order written."""
    return [vars(v)["__exercise__"] for v in vars(module).values() if inspect.isclass(v) and "__exercise__" in vars(v)]


def _note(attribute: str, value: Any) -> Callable[[F], F]:
    def note(check: F) -> F:
        setattr(check, attribute, value)
        return check

    return note


def _checks_of(cls: type, exercise_name: str) -> list[CheckSpec]:
    found: list[CheckSpec] = []
    for name, function in vars(cls).items():
        if not name.startswith("test_") or not callable(function):
            continue
        title = inspect.cleandoc(function.__doc__ or "").split("\n\n")[0].replace("\n", " ")
        if not title:
            raise TypeError(f"{cls.__name__}.{name} has no docstring: it is the title that a student reads.")
        waits = tuple(getattr(function, "__after__", ()))
        for other in waits:
            if other not in {c.name for c in found}:
                raise TypeError(
                    f"{cls.__name__}.{name} waits for {other!r}, which is no earlier check of {exercise_name!r}."
                )
        found.append(
            CheckSpec(
                name,
                title,
                getattr(function, "__points__", 0.0),
                bool(getattr(function, "__visible__", False)),
                waits,
                bool(getattr(function, "__care__", False)),
            )
        )
    return found

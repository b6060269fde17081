"""The cases of a check: one, or as many as ``pytest.mark.parametrize`` gives it."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from autograder.checking.decorators import place_of
from autograder.errors import CourseError

__all__ = ["FIXTURES", "Case", "cases_of"]

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

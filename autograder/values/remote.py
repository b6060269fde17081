"""Placeholders for objects that stay in a student's process, for functions (as source text) and for random generators."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import ClassVar

from autograder.base.errors import CourseError
from autograder.base.foreign import Value
from autograder.sandbox.protocol import NameReference, Opaque, Rng, Source
from autograder.values.family import Difference, Family, Rules
from autograder.values.messages import mismatch_message

__all__ = ["OpaqueFamily", "StandInFamily"]


class StandInFamily(Family):
    """The family of arguments that are placeholders until a function is called: source text, a seed, or a name in the notebook."""

    types: ClassVar[tuple[type, ...]] = (Source, Rng, NameReference)

    def differences(self, found: Value, expected: Value, rules: Rules) -> Iterator[Difference]:
        if type(found) is type(expected) and found == expected:
            return
        if rules.nested:
            yield mismatch_message(found, expected)
        else:
            yield from super().differences(found, expected, rules)

    def identity(self, value: Value) -> Hashable:
        return (type(value).__name__, value)


class OpaqueFamily(StandInFamily):
    """The family of values that cannot leave a student's process. Only the name of their type is known."""

    types: ClassVar[tuple[type, ...]] = (Opaque,)

    def differences(self, found: Value, expected: Value, rules: Rules) -> Iterator[Difference]:
        if rules.reject_opaque:
            raise CourseError(
                f"The correct answer is of type {expected.type}, which cannot leave a student's process. Let the function return arrays, "
                "numbers, strings, dates, lists, dicts or sets, or inspect its result with student.probe(…)."
            )
        yield from super().differences(found, expected, rules)

    def describe(self, value: Value) -> str:
        kind = value.type
        if kind in {"set", "frozenset", "list", "tuple", "dict"}:
            return f"a {'dictionary' if kind == 'dict' else kind} that contains something other than built-in values"
        return super().describe(value)

    identity = Family.identity

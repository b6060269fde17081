"""The fixture ``agrees``, which calls the student's and the reference's function with the same arguments and compares the results."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from autograder.base.foreign import Value
from autograder.checking.asserts import assert_matches, assert_same_plot, judge_assertion
from autograder.checking.decorators import ExerciseSpec
from autograder.checking.outcomes import OutcomeRequest, Outcomes, printed_by
from autograder.checking.plots import USUAL
from autograder.checking.student_objects import (
    StudentObject,
    assign_state,
    backend_of,
    contains_objects,
    is_mutable,
    state_of,
    without_proxies,
)
from autograder.sandbox.protocol import Opaque

__all__ = ["ReferenceComparison"]


class ReferenceComparison:
    """The fixture ``agrees``, which calls the student's and the reference's function and compares the results.

    ``agrees.softmax(x, axis=0)`` returns the student's result. ``agrees(rtol=0.01, dtype=False).softmax(x)`` passes
    options to ``assert_matches``, such as tolerances. To show students another call, pass ``call=…`` and its inputs.
    ``agrees.within(memory_mb=64)`` and ``agrees.raises(…)`` work as they do for the fixture ``student``.
    """

    def __init__(self, student: Any, reference: Any, options: Mapping[str, Value] | None = None) -> None:
        self._student = student
        self._reference = reference
        self._options = dict(options or {})

    @classmethod
    def of(cls, student: Any, reference: Any, spec: ExerciseSpec | None) -> ReferenceComparison:
        """Return the comparison for an exercise. A list of numbers may replace an array unless the contract forbids it."""
        return cls(student, reference, {"lists": False} if spec and spec.takes and not spec.takes.lists else {})

    def __call__(self, **options: Value) -> ReferenceComparison:
        """Return the same comparison with ``options`` added."""
        return ReferenceComparison(self._student, self._reference, {**self._options, **options})

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)

        def ask(*args: Value, **kwargs: Value) -> Value:
            right = getattr(self._reference, name)(*_for_side(args, "right"), **_for_side(kwargs, "right"))
            found = getattr(self._student, name)(*_for_side(args, "found"), **_for_side(kwargs, "found"))
            return _compare(found, right, self._options)

        return ask

    def plot(
        self, name: str, *args: Value, texts: bool = False, parts: str | Sequence[str] = USUAL, **kwargs: Value
    ) -> Value:
        """Check that the student's and the reference's pictures agree in the given ``parts`` (see ``assert_same_plot``).

        Titles, labels and legends must be present if the reference has them. With ``texts``, they must also be equal. Tolerances
        are options: ``agrees(rtol=0.01).plot(…)``.
        """
        right = self._reference.plot(name, *args, texts=texts, **kwargs)
        found = self._student.plot(name, *args, texts=texts, **kwargs)
        tolerances = {key: self._options[key] for key in ("rtol", "atol") if key in self._options}
        assert_same_plot(found, right, parts=parts, **tolerances)
        return found

    @property
    def student(self) -> Value:
        """The fixture ``student``, for assertions that do not involve the reference."""
        return self._student

    def within(self, memory_mb: int | None = None, **limits: Value) -> ReferenceComparison:
        """Return the same comparison with limits on the student's call (see ``StudentProxy.within``)."""
        student = self._student.within(memory_mb, **limits)
        return ReferenceComparison(student, self._reference, self._options)

    def raises(self, *errors: type[BaseException] | str, says: str = "") -> OutcomeRequest:
        """Check that the student's call raises an error: ``agrees.raises(ValueError).root(-1)``."""
        return self._student.raises(*errors, says=says)  # type: ignore[no-any-return]

    def printed(self, *, exactly: bool = False) -> OutcomeRequest:
        """Compare the output that the two functions print: ``agrees.printed().greet("Ann")``."""

        def ask(function: str, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> Value:
            right = printed_by(self._reference, function, args, kwargs)
            return getattr(self._student.printed(right, exactly=exactly), function)(*args, **kwargs)

        return OutcomeRequest(ask)

    def take(self, count: int) -> OutcomeRequest:
        """Compare the first ``count`` items that the two functions yield: ``agrees.take(20).primes()``."""

        def ask(function: str, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> Value:
            right = getattr(Outcomes.take(self._reference, count), function)(*args, **kwargs)
            found = getattr(self._student.take(count), function)(*args, **kwargs)
            return _compare(found, right, self._options)

        return OutcomeRequest(ask)


class _ObjectPair:
    """A student's object and the reference's matching object. Each step is performed on both objects."""

    def __init__(self, found: StudentObject, right: StudentObject, options: Mapping[str, Value]) -> None:
        self.found, self.right, self._options = found, right, options
        # Each entry contains the student's result, the reference's result, and the state of the student's result.
        self._given: list[tuple[Value, Value, Hashable]] = []

    @property
    def is_new(self) -> bool:
        """Whether the check created the object by calling its class."""
        return backend_of(self.found).is_new

    @property
    def opaque(self) -> Opaque:
        return backend_of(self.found).opaque

    def is_method(self, name: str) -> bool:
        return backend_of(self.right).is_method(name)

    def step(
        self,
        do: str,
        name: str,
        args: Sequence[Value] = (),
        kwargs: Mapping[str, Value] | None = None,
        *,
        swapped: bool = False,
    ) -> Value:
        kwargs, found, right = kwargs or {}, backend_of(self.found), backend_of(self.right)
        for place, (value, other, held) in enumerate(self._given):
            # If the check changed the student's result, make the same change to the reference's result.
            if (now := state_of(value)) != held:
                assign_state(other, value)
                self._given[place] = value, other, now
        try:
            expected = right.step(do, name, _for_side(args, "right"), _for_side(kwargs, "right"), swapped=swapped)
        except Exception as error:  # noqa: BLE001 - an error of the reference is the expected outcome
            wanted = type(error).__name__
            given = _for_side(args, "found"), _for_side(kwargs, "found")
            outcome = found.step(do, name, *given, swapped=swapped, outcome=True, raises=wanted)  # type: ignore[call-arg]
            judge_assertion("raises", outcome, None, {"error": wanted}, "", {})
            return None
        value = found.step(do, name, _for_side(args, "found"), _for_side(kwargs, "found"), swapped=swapped)
        if is_mutable(value) and type(value) is type(expected):
            self._given.append((value, expected, state_of(value)))
        return _compare(value, expected, self._options)


def _compare(found: Value, right: Value, options: Mapping[str, Value]) -> Value:
    """Compare the student's result ``found`` with ``right``, and return ``found``. If both are objects, return them as a pair for further steps."""
    if not isinstance(right, StudentObject):
        assert_matches(found, right, **options)
        return found
    if not backend_of(right).is_new:
        judge_assertion("is_a", without_proxies(found), None, {"type": backend_of(right).opaque.type}, "", {})
    return StudentObject(_ObjectPair(found, right, options))


def _for_side(given: Value, side: str) -> Value:
    """Return ``given`` with each pair of objects replaced by one of the two: the one named ``side`` (``"found"`` or ``"right"``).

    Arguments without such a pair are not copied, so that changes to them are noticed.
    """
    if isinstance(given, StudentObject) and isinstance(backend_of(given), _ObjectPair):
        return getattr(backend_of(given), side)
    if type(given) is dict and contains_objects(given.values()):
        return {key: _for_side(value, side) for key, value in given.items()}
    if type(given) in (list, tuple) and contains_objects(given):
        return type(given)([_for_side(value, side) for value in given])
    return given

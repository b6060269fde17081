"""The fixture ``agrees``: the student and the reference are asked the same, and have to answer the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autograder.checking.asserts import assert_matches, assert_same_plot, judge_assertion
from autograder.checking.outcomes import OutcomeRequest, Outcomes, printed_by
from autograder.checking.plots import USUAL
from autograder.checking.student_objects import (
    StudentObject,
    assign_state,
    backend_of,
    is_mutable,
    state_of,
    without_proxies,
)
from autograder.sandbox.protocol import Opaque

__all__ = ["ReferenceComparison"]


class ReferenceComparison:
    """``agrees.softmax(x, axis=0)`` calls both functions, compares the answers, and returns the student's.

    ``agrees(rtol=0.01, dtype=False).softmax(x)`` passes options to ``assert_matches``: tolerances, ``call=…`` and inputs
    where the call should be written in another way. ``agrees.within(memory_mb=64)`` and ``agrees.probe(…)`` are those of
    the fixture ``student``.
    """

    def __init__(self, student: Any, reference: Any, options: Mapping[str, Any] | None = None) -> None:
        self._student = student
        self._reference = reference
        self._options = dict(options or {})

    def __call__(self, **options: Any) -> ReferenceComparison:
        """The same, compared with these options."""
        return ReferenceComparison(self._student, self._reference, {**self._options, **options})

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)

        def ask(*args: Any, **kwargs: Any) -> Any:
            right = getattr(self._reference, name)(*_of(args, "right"), **_of(kwargs, "right"))
            found = getattr(self._student, name)(*_of(args, "found"), **_of(kwargs, "found"))
            return _compared(found, right, self._options)

        return ask

    def plot(
        self, name: str, *args: Any, texts: bool = False, parts: str | Sequence[str] = USUAL, **kwargs: Any
    ) -> Any:
        """Both draw, and the pictures show the same, in the ``parts`` that are named (see ``assert_same_plot``).

        Titles, labels and legends have to be there where the reference has them; with ``texts`` they say the same. Tolerances
        are those of these options: ``agrees(rtol=0.01).plot(…)``.
        """
        right = self._reference.plot(name, *args, texts=texts, **kwargs)
        found = self._student.plot(name, *args, texts=texts, **kwargs)
        tolerances = {key: self._options[key] for key in ("rtol", "atol") if key in self._options}
        assert_same_plot(found, right, parts=parts, **tolerances)
        return found

    @property
    def student(self) -> Any:
        """The fixture ``student``, for what is asserted in another way."""
        return self._student

    def within(
        self,
        memory_mb: int | None = None,
        *,
        steps: int | None = None,
        calls: Mapping[str, int] | None = None,
        seconds: float | None = None,
    ) -> ReferenceComparison:
        """The same, where the student's call may take so much memory, so many steps or calls, and no more."""
        student = self._student.within(memory_mb, steps=steps, calls=calls, seconds=seconds)
        return ReferenceComparison(student, self._reference, self._options)

    def raises(self, *errors: type[BaseException] | str, says: str = "") -> OutcomeRequest:
        """As the fixture ``student`` has it: ``agrees.raises(ValueError).root(-1)``."""
        return self._student.raises(*errors, says=says)  # type: ignore[no-any-return]

    def printed(self, *, exactly: bool = False) -> OutcomeRequest:
        """A call of which counts that it prints what the reference prints: ``agrees.printed().greet("Ann")``."""

        def ask(function: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
            right = printed_by(self._reference, function, args, kwargs)
            return getattr(self._student.printed(right, exactly=exactly), function)(*args, **kwargs)

        return OutcomeRequest(ask)

    def take(self, count: int) -> OutcomeRequest:
        """A call that gives a generator, of which the first ``count`` items count: ``agrees.take(20).primes()``."""

        def ask(function: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
            right = getattr(Outcomes.take(self._reference, count), function)(*args, **kwargs)
            found = getattr(self._student.take(count), function)(*args, **kwargs)
            return _compared(found, right, self._options)

        return OutcomeRequest(ask)


class _Both:
    """An object of the student's, and the reference's beside it, of which the same is asked."""

    def __init__(self, found: StudentObject, right: StudentObject, options: Mapping[str, Any]) -> None:
        self.found, self.right, self._options = found, right, options
        self._given: list[tuple[Any, Any, Any]] = []  # what both gave, and what it held then

    @property
    def is_new(self) -> bool:
        """Whether the check has made it by the name of its class."""
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
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        *,
        swapped: bool = False,
    ) -> Any:
        kwargs, found, right = kwargs or {}, backend_of(self.found), backend_of(self.right)
        for place, (value, other, held) in enumerate(self._given):
            if (now := state_of(value)) != held:  # the check has changed what the student gave, and means both
                assign_state(other, value)
                self._given[place] = value, other, now
        try:
            expected = right.step(do, name, _of(args, "right"), _of(kwargs, "right"), swapped=swapped)
        except Exception as error:  # noqa: BLE001 - what a right object raises is its answer
            wanted = type(error).__name__
            given = _of(args, "found"), _of(kwargs, "found")
            outcome = found.step(do, name, *given, swapped=swapped, outcome=True, raises=wanted)  # type: ignore[call-arg]
            judge_assertion("raises", outcome, None, {"error": wanted}, "", {})
            return None
        value = found.step(do, name, _of(args, "found"), _of(kwargs, "found"), swapped=swapped)
        if is_mutable(value) and type(value) is type(expected):
            self._given.append((value, expected, state_of(value)))
        return _compared(value, expected, self._options)


def _compared(found: Any, right: Any, options: Mapping[str, Any]) -> Any:
    """The student's answer, held against the right one; two objects go on side by side."""
    if not isinstance(right, StudentObject):
        assert_matches(found, right, **options)
        return found
    if not backend_of(right).is_new:
        judge_assertion("is_a", without_proxies(found), None, {"type": backend_of(right).opaque.type}, "", {})
    return StudentObject(_Both(found, right, options))


def _of(given: Any, side: str) -> Any:
    """Arguments as one side gets them: of each pair of objects, its own. Everything else is the very same, to be watched."""
    if isinstance(given, StudentObject) and isinstance(backend_of(given), _Both):
        return getattr(backend_of(given), side)
    if type(given) is dict and _holds(list(given.values())):
        return {key: _of(value, side) for key, value in given.items()}
    if type(given) in (list, tuple) and _holds(given):
        return type(given)([_of(value, side) for value in given])
    return given


def _holds(given: Sequence[Any]) -> bool:
    return any(isinstance(part, StudentObject) or (type(part) in (list, tuple) and _holds(part)) for part in given)

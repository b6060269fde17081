"""The fixture ``agrees``: the student and the reference are asked the same, and have to answer the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autograder.checking.asserts import assert_matches, assert_same_plot
from autograder.checking.plots import USUAL

__all__ = ["Agreement"]


class Agreement:
    """``agrees.softmax(x, axis=0)`` calls both functions, compares the answers, and returns the student's.

    ``agrees(rtol=0.01, dtype=False).softmax(x)`` passes options to ``assert_matches``: tolerances, ``call=…`` and inputs
    where the call should be written in another way. ``agrees.within(memory_mb=64)`` and ``agrees.probe(…)`` are those of
    the fixture ``student``.
    """

    def __init__(self, student: Any, reference: Any, options: Mapping[str, Any] | None = None) -> None:
        self._student = student
        self._reference = reference
        self._options = dict(options or {})

    def __call__(self, **options: Any) -> Agreement:
        """The same, compared with these options."""
        return Agreement(self._student, self._reference, {**self._options, **options})

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)

        def ask(*args: Any, **kwargs: Any) -> Any:
            right = getattr(self._reference, name)(*args, **kwargs)
            found = getattr(self._student, name)(*args, **kwargs)
            assert_matches(found, right, **self._options)
            return found

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

    def within(self, memory_mb: int) -> Agreement:
        """The same, where the student's call may take ``memory_mb`` MiB and no more."""
        return Agreement(self._student.within(memory_mb), self._reference, self._options)

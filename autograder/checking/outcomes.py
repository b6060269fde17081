"""Check outcomes of a call other than its value: errors, printed output, endless iterators and exceeded limits."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from autograder.base.foreign import Value
from autograder.base.formatting import with_article
from autograder.checking.asserts import judge_assertion
from autograder.checking.call_source import expression_for
from autograder.checking.predicates import lines_of
from autograder.checking.step_counter import COUNT, GROWTH, format_counted_call, rounded_limits
from autograder.sandbox.protocol import Call, ExpectedError

__all__ = ["OutcomeRequest", "Outcomes", "count", "is_outcome", "missing_error_message"]


MAX_TAKEN = 10_000  # the most items that a check may take from a generator
_MARK = "# What a call does: "

_PRINTS = Path(__file__).with_name("print_probe.txt").read_text(encoding="utf-8")
_TAKES = Path(__file__).with_name("take_probe.txt").read_text(encoding="utf-8")


class _Probed(Protocol):
    def probe(self, source: str, function: str, *args: Value, **kwargs: Value) -> Value:
        """Call ``probe(function, …)``, which ``source`` defines, in the process of the function."""

    def outcome(self, call: Call) -> Value:
        """Make a call that should raise an error, and return its outcome."""


class OutcomeRequest:
    """A request such as ``student.raises(ValueError)``. The student's functions are called as its methods."""

    def __init__(self, ask: Callable[[str, tuple[Value, ...], Mapping[str, Value]], Value]) -> None:
        self._ask = ask

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: self._ask(name, args, kwargs)


class Outcomes:
    """A mixin with methods for outcomes other than values, for classes that have ``probe`` and ``outcome``."""

    def raises(self: _Probed, *errors: type[BaseException] | str, says: str = "") -> OutcomeRequest:
        """Check that a call raises one of these errors or a subclass: ``student.raises(ValueError).root(-1)``.

        An error that the student defines is given by name, such as ``"NotEnough"``. If a student's class only shares its name with an
        error of Python or of a package, it counts as a different error. With ``says``, the error's text must contain that string.
        """
        names = [error if isinstance(error, str) else _name_of(error) for error in errors]
        if not names or not all(name.replace(".", "").isidentifier() for name in names):
            raise ValueError("raises(…) needs the expected error, as in student.raises(ValueError).root(-1).")
        expects = ExpectedError(tuple(names), says)

        def ask(function: str, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> Value:
            outcome = self.outcome(Call(function, args, kwargs, expects=expects))
            params = {"errors": names, **({"says": says} if says else {})}
            judge_assertion("should_raise", outcome, None, params, *expression_for(outcome))
            return outcome

        return OutcomeRequest(ask)

    def printed(self: _Probed, text: str | None = None, *, exactly: bool = False) -> OutcomeRequest:
        """Check the output that a call prints, and return it: ``student.printed("Hello, Ann").greet("Ann")``.

        Unless ``exactly`` is set, white space at the end of a line and empty lines at the end are ignored. Without
        ``text``, the output is returned without a comparison.
        """

        def ask(function: str, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> str:
            outcome = self.probe(_PRINTS, function, *args, **kwargs)
            if text is not None:
                prints(outcome, text, exactly=exactly)
            whole = outcome["printed"] if isinstance(outcome, dict) else ""
            return whole if exactly else "\n".join(lines_of(whole, exactly=False))

        return OutcomeRequest(ask)

    def take(self: _Probed, count: int) -> OutcomeRequest:
        """Return the first ``count`` items of a call's result, a generator or other iterable, as a list."""
        if not 0 < count <= MAX_TAKEN:
            raise ValueError(f"take({count}): a check can take between 1 and {MAX_TAKEN:,} items from a call.")
        source = _TAKES.format(mark=_MARK, count=int(count))
        return OutcomeRequest(lambda function, args, kwargs: self.probe(source, function, *args, **kwargs))


def prints(outcome: Value, right: str, *, exactly: bool) -> None:
    """Raise ``CheckFailed`` if a call did not print ``right``."""
    judge_assertion("prints", outcome, None, {"right": right, "exactly": exactly}, *expression_for(outcome))


def printed_by(reference: _Probed, function: str, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> str:
    """Return the output that the reference prints in this call."""
    return str(reference.probe(_PRINTS, function, *args, **kwargs)["printed"])


def is_outcome(source: str) -> bool:
    """Return whether a probe is from this module and inspects the call, not its result."""
    return source.startswith(_MARK)


def _name_of(error: type[BaseException]) -> str:
    """Return the name by which an error is compared. Errors of the standard library and of packages are named with their module."""
    root = error.__module__.partition(".")[0]
    installed = root in sys.stdlib_module_names or "-packages" in (getattr(sys.modules.get(root), "__file__", "") or "")
    return f"{error.__module__}.{error.__name__}" if installed and root != "builtins" else error.__name__


def missing_error_message(call: Call, raised: str) -> str:
    """Return a sentence about the error that ``call`` should have raised instead of ``raised``, or "" if it should raise none."""
    if call.expects is None:
        return ""
    if raised in call.expects.names:
        return f" Here Python's own {raised} is expected, but this is another class with the same name."
    return f" Here {with_article(' or '.join(call.expects.names))} is expected."


def count(
    measure: Callable[..., Any],
    right: Callable[[Call], Value],
    limits: Mapping[str, Value],
    function: str,
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
) -> None:
    """Measure the work of one call of the student's function with ``measure``. Raises ``CheckFailed`` if it exceeds ``limits``."""
    limits = dict(limits)
    larger, growth = limits.pop("larger", None), limits.pop("growth", None)
    if larger is not None:
        found = measure(GROWTH, function, list(args), larger, dict(kwargs))
        texts = {
            "asked": format_counted_call(function, args, kwargs),
            "larger": format_counted_call(function, larger, kwargs),
        }
        judge_assertion("grows_slowly", found, None, {"growth": growth, **texts}, "", {})
    if not limits:
        return
    given = rounded_limits(limits), list(args), dict(kwargs)
    found = measure(COUNT, function, *given)
    needed = dict(right(Call(function, given, {}, COUNT, measured=True)) or {}, seconds=0.0)
    judge_assertion(
        "does_little",
        found,
        None,
        {"limits": limits, "right": needed, "asked": format_counted_call(function, args, kwargs)},
        "",
        {},
    )

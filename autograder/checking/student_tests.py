"""Grade tests that a student writes. They must accept right functions and reject functions with a planted bug."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder.base.errors import CourseError
from autograder.checking.asserts import CheckFailed, judge_assertion
from autograder.checking.decorators import Waits, check
from autograder.sandbox.protocol import Call, Source

__all__ = ["grades_tests", "is_test_call", "join_failures"]

Written = Callable[..., Any] | Source

# Runs in the student's process. The tests accept a function if they finish without an error and do not return False.
_TRIAL = Path(__file__).with_name("trial_probe.txt").read_text(encoding="utf-8")


def grades_tests(
    bugs: Mapping[str, Written],
    *,
    right: Sequence[Written],
    points: float,
    visible: bool = False,
    after: Waits = (),
    title: str = "your tests accept correct functions and reject wrong ones",
) -> Callable[..., None]:
    """Return a check for an exercise in which students write a function that tests another function.

    The student's function should raise an error or return False if the function that it tests is wrong. The functions in
    ``bugs`` and ``right`` must not use names defined outside of them. Raises ``CourseError`` if the source of one of them
    cannot be read, or if ``bugs`` or ``right`` is empty.

    Args:
        bugs: wrong functions. Each key describes the bug and completes a phrase such as "a median that", for example
            "forgets to sort".
        right: right functions, written as differently as possible, so that tests cannot require more than the task
            states. A hidden check needs a function that no visible check has, because tests could recognize the functions
            of visible checks by their code.
        points: the points of the check.
        visible: whether students can run the check themselves. If so, their notebook contains these functions.
        after: earlier checks that must pass before this one runs.
        title: the title that students read.
    """
    if not bugs or not right:
        raise CourseError("grades_tests(…) needs a wrong function in bugs={…}, and a correct function in right=[…].")
    name = _name(next(iter(right)))
    tried = [(_source(function, name), "") for function in right]
    tried += [(_source(function, name), what) for what, function in bugs.items()]

    def in_turn(self: Any, student: Any, order: Sequence[int]) -> None:
        tests = type(self).__exercise__.name
        failures = []
        for place in order:
            source, what = tried[place]
            passed = student.probe(_TRIAL, tests, source)
            try:
                params = {"bug": what, "function": name}
                judge_assertion("lets_through", passed, None, params, f"{tests}({name})", {})
            except CheckFailed as failure:
                failures.append(failure)
        if failures:
            raise join_failures(failures)

    def test_bugs(self: Any, student: Any) -> None:
        in_turn(self, student, range(len(tried)))

    def test_hidden_bugs(self: Any, student: Any, rng: Any) -> None:
        # Use an unpredictable order, so that counting the calls reveals nothing.
        in_turn(self, student, [int(place) for place in rng.permutation(len(tried))])

    function = test_bugs if visible else test_hidden_bugs
    function.__doc__ = title
    return check(points=points, visible=visible, after=after)(function)


def is_test_call(call: Call) -> bool:
    """Return whether a call runs a student's tests on a function."""
    return call.probe == _TRIAL


def join_failures(failures: Sequence[CheckFailed]) -> CheckFailed:
    """Join failures into one. Each message becomes a paragraph, because wrapping would join single lines."""
    lines = dict.fromkeys(line for failure in failures for line in failure.reason.splitlines())
    refused = [line for line in lines if " right" in line]
    return CheckFailed("\n\n".join([*refused, *sorted(set(lines) - set(refused))]))


def _name(function: Written) -> str:
    return function.name if isinstance(function, Source) else function.__name__


def _source(function: Written, name: str) -> Source:
    """Return the source of ``function``, with the function renamed to ``name``."""
    if isinstance(function, Source):
        return function
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError) as error:
        raise CourseError(
            f"grades_tests(…) was given {function!r:.80}, whose source cannot be read: write it with `def`."
        ) from error
    [definition] = tree.body
    if not isinstance(definition, ast.FunctionDef):
        raise CourseError(f"grades_tests(…) was given {_name(function)}, which is not written with `def`.")
    definition.decorator_list, own = [], definition.name
    if ast.get_docstring(definition) is not None and len(definition.body) > 1:
        definition.body = definition.body[1:]
    for node in ast.walk(definition):
        if isinstance(node, ast.Name) and node.id == own:
            node.id = name
    definition.name = name
    return Source(ast.unparse(definition), name)

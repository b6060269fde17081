"""The functions ``check``, ``hint`` and ``solution`` for students' notebooks. They replay recorded visible checks.

This package needs only NumPy and the standard library, and also runs in a browser under Pyodide.
"""

from __future__ import annotations

import sys

from autograder.base.foreign import Value
from autograder.checking.asserts import CheckFailed
from autograder.student.notebook_check.checking import check_exercise, show_map
from autograder.student.notebook_check.front_end import CheckInterrupted, CheckProblem, interrupted
from autograder.student.notebook_check.helping import check_deeper, give_hint, show_solution
from autograder.student.notebook_check.lookup import Target, follow_cells

__all__ = ["CheckFailed", "CheckInterrupted", "CheckProblem", "check", "hint", "solution"]

_NOTHING: Value = object()
follow_cells()


def check(exercise: Target = _NOTHING, *, seconds: float | None = None, deeper: bool = False) -> None:
    """Show which visible checks of an exercise pass, and explain the first that fails.

    ``exercise`` is the function itself, as in ``check(softmax)``, or an exercise's name, as in ``check("quiz_ch1")``. If it is
    missing, ``check()`` shows the map of the course and your progress. A call that takes longer than ``seconds`` (10, unless the
    course sets another limit) is stopped. If the exercise passes, ``deeper`` also runs all of its checks on the saved notebook,
    with new random inputs each time. This needs a clone of the course.

    Raises ``CheckFailed`` if a check fails, and ``CheckProblem`` if there is nothing to check.
    """
    names = sys._getframe(1).f_globals  # noqa: SLF001 - the notebook's namespace, which is not passed in
    try:
        if exercise is _NOTHING:
            show_map(names)
        else:
            check_exercise(exercise, names, seconds)
            if deeper:
                check_deeper(exercise, names)
    except (CheckFailed, CheckProblem) as error:
        raise error.with_traceback(None) from None
    except KeyboardInterrupt as error:
        raise interrupted(error, names) from None


def hint(exercise: Target = _NOTHING, number: int | None = None) -> None:
    """Show the next hint of an exercise, or hint ``number`` (from 1). After several failed attempts, hints are skipped.

    If none of the remaining hints fits the mistake, the line of your code to look at is shown first.
    Raises ``CheckProblem`` if there is no such hint.
    """
    names = sys._getframe(1).f_globals  # noqa: SLF001 - as in check
    try:
        give_hint(None if exercise is _NOTHING else exercise, number, names, is_given=exercise is not _NOTHING)
    except CheckProblem as error:
        raise error.with_traceback(None) from None
    except KeyboardInterrupt as error:
        raise interrupted(error, names) from None


def solution(exercise: Target = _NOTHING) -> None:
    """Show a solution of an exercise in a self-study course, after you have read its hints or solved it.

    Raises ``CheckProblem`` if it is too early, or if the course is graded.
    """
    names = sys._getframe(1).f_globals  # noqa: SLF001 - as in check
    try:
        show_solution(None if exercise is _NOTHING else exercise, names, is_given=exercise is not _NOTHING)
    except CheckProblem as error:
        raise error.with_traceback(None) from None

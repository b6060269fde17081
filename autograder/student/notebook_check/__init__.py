"""What a student's ``check``, ``hint`` and ``solution`` do: the visible checks replayed at once, with no answer in sight.

NumPy and the standard library only; this also runs in a browser, under Pyodide.
"""

from __future__ import annotations

import sys
from typing import Any

from autograder.checking.asserts import CheckFailed
from autograder.student.notebook_check.checking import check_exercise, show_map
from autograder.student.notebook_check.front_end import CheckInterrupted, CheckProblem, interrupted
from autograder.student.notebook_check.helping import give_hint, show_solution
from autograder.student.notebook_check.lookup import Target

__all__ = ["CheckFailed", "CheckInterrupted", "CheckProblem", "check", "hint", "solution"]

_NOTHING: Any = object()


def check(exercise: Target = _NOTHING, *, seconds: float | None = None) -> None:
    """Show which visible checks of an exercise hold, and for the first that does not: what was found, and why.

    ``exercise`` is the function itself, ``check(softmax)``, or an exercise's name, ``check("quiz_ch1")``. Without one, the map
    of the course and how far you are. A call that takes longer than ``seconds`` (10, unless the course says otherwise) is
    stopped. Raises ``CheckFailed`` when something does not hold yet and ``CheckProblem`` when there is nothing to check.
    """
    names = sys._getframe(1).f_globals  # noqa: SLF001 - the notebook's names, which nobody hands over
    try:
        if exercise is _NOTHING:
            show_map(names)
        else:
            check_exercise(exercise, names, seconds)
    except (CheckFailed, CheckProblem) as error:
        raise error.with_traceback(None) from None
    except KeyboardInterrupt as error:
        raise interrupted(error, names) from None


def hint(exercise: Target = _NOTHING, number: int | None = None) -> None:
    """Show the next hint of an exercise, or hint ``number`` (from 1); after tries that failed, one that is of more help.

    Where none of the hints that are left fits what is wrong, the line of the student's own code to look at comes first.
    Raises ``CheckProblem`` when there is no such hint.
    """
    names = sys._getframe(1).f_globals  # noqa: SLF001 - as in check
    try:
        give_hint(None if exercise is _NOTHING else exercise, number, names, is_told=exercise is not _NOTHING)
    except CheckProblem as error:
        raise error.with_traceback(None) from None
    except KeyboardInterrupt as error:
        raise interrupted(error, names) from None


def solution(exercise: Target = _NOTHING) -> None:
    """Show a solution of an exercise to who learns alone, once its hints are read or it is done.

    Raises ``CheckProblem`` before that, and in a course that is marked.
    """
    names = sys._getframe(1).f_globals  # noqa: SLF001 - as in check
    try:
        show_solution(None if exercise is _NOTHING else exercise, names, is_told=exercise is not _NOTHING)
    except CheckProblem as error:
        raise error.with_traceback(None) from None

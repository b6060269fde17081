"""Autograded Jupyter exercises.

Notebooks import ``check``, ``hint`` and ``solution``. Pictures use ``requires`` to draw with the student's functions, and
``interact`` to let the reader change values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.checking.asserts import CheckFailed
    from autograder.sandbox.guest.drawing import requires
    from autograder.student.interactive import interact
    from autograder.student.notebook_check import CheckProblem, check, hint, solution

__all__ = ["CheckFailed", "CheckProblem", "__version__", "check", "hint", "interact", "requires", "solution"]
__version__ = "1.0.0"


def __getattr__(name: str) -> Any:
    # Import on first use, so that the command line starts without NumPy and a notebook loads only what it calls.
    if name in {"CheckFailed", "CheckProblem", "check", "hint", "solution"}:
        from autograder.student import notebook_check  # noqa: PLC0415

        return getattr(notebook_check, name)
    if name == "requires":
        from autograder.sandbox.guest.drawing import requires  # noqa: PLC0415

        return requires
    if name == "interact":
        from autograder.student.interactive import interact  # noqa: PLC0415

        return interact
    raise AttributeError(f"module 'autograder' has no attribute {name!r}")

"""Autograded Jupyter exercises: confined, fast, and measured for being right.

In a notebook: ``from autograder import check, hint``, ``uses`` for a picture that draws with the student's functions, and ``move``
for one with values to move.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.checking.asserts import CheckFailed
    from autograder.moving import move
    from autograder.sandbox.guest.drawing import uses
    from autograder.selfcheck import CheckProblem, check, hint, solution

__all__ = ["CheckFailed", "CheckProblem", "__version__", "check", "hint", "move", "solution", "uses"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # Imported on first use: the command line starts without NumPy, and a notebook pays only for what it calls.
    if name in {"CheckFailed", "CheckProblem", "check", "hint", "solution"}:
        from autograder import selfcheck  # noqa: PLC0415

        return getattr(selfcheck, name)
    if name == "uses":
        from autograder.sandbox.guest.drawing import uses  # noqa: PLC0415

        return uses
    if name == "move":
        from autograder.moving import move  # noqa: PLC0415

        return move
    raise AttributeError(f"module 'autograder' has no attribute {name!r}")

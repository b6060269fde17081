"""Where a card is shown: as HTML in a notebook, as text in a terminal, in the exception's own text elsewhere."""

from __future__ import annotations

import os
import sys
from typing import Any

__all__ = ["CheckFailed", "CheckProblem", "show"]


class _WithoutFrames(Exception):  # noqa: N818 - its two kinds have names that students read
    """An exception that says everything in its text and shows no frames of ours."""

    def _render_traceback_(self) -> list[str]:
        # IPython asks for this instead of formatting a traceback: no mistake of the student's is in our frames.
        return str(self).splitlines() or [type(self).__name__]


class CheckFailed(_WithoutFrames, AssertionError):  # noqa: N818
    """An exercise is not right yet; the text is the card, or one sentence where the card is displayed already."""


class CheckProblem(_WithoutFrames):
    """``check`` or ``hint`` could not do its work; the text says why and what to do."""


for _kind in (CheckFailed, CheckProblem):
    _kind.__module__ = "autograder"  # a terminal's last line then reads "autograder.CheckFailed: softmax …"


def show(html: str, text: str) -> bool:
    """Display ``html`` (with ``text`` beside it) in a notebook; ``False``, and nothing done, where there is none."""
    shell = _notebook()
    if shell is None:
        return False
    sys.stdout.flush()
    shell.display_pub.publish(data={"text/html": html, "text/plain": text})
    return True


def _notebook() -> Any:
    """IPython's shell when a notebook displays what it publishes; ``None`` in a terminal, a script or a validation."""
    if any(os.environ.get(name) for name in ("NBGRADER_VALIDATING", "NBGRADER_EXECUTION")):
        return None  # displays are not shown there: only an exception's text is
    # IPython is never imported for this: where it runs, it is loaded already.
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or any(kind.__name__ == "TerminalInteractiveShell" for kind in type(shell).__mro__):
        return None
    return shell if hasattr(shell, "display_pub") else None

"""Where a card is shown: as HTML in a notebook, as text in a terminal, in the exception's own text elsewhere."""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Mapping
from typing import Any

from autograder.checking.asserts import CheckFailed

__all__ = ["CheckFailed", "CheckInterrupted", "CheckProblem", "interrupted", "show", "shows_html"]


class CheckProblem(Exception):  # noqa: N818 - students read the name
    """``check`` or ``hint`` could not do its work; the text says why and what to do."""

    _render_traceback_ = CheckFailed._render_traceback_


class CheckInterrupted(KeyboardInterrupt):
    """A person stopped ``check``; the text says where that was."""

    _render_traceback_ = CheckFailed._render_traceback_


def interrupted(error: BaseException, names: Mapping[str, Any]) -> CheckInterrupted:
    """What to raise for an interrupt: one sentence, with the line of the notebook's code in which it came."""
    where = ""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if trace.tb_frame.f_globals is names and code.co_name != "<module>":
            line = linecache.getline(code.co_filename, trace.tb_lineno).strip()
            where = f" in line {trace.tb_lineno} of {code.co_name}" + (f", `{line}`" if line else "")
        trace = trace.tb_next
    return CheckInterrupted(f"You stopped it{where}. Nothing is lost: run the cell again when you like.")


CheckInterrupted.__module__ = "autograder"
CheckProblem.__module__ = "autograder"  # a terminal's last line then reads "autograder.CheckProblem: There is …"


def shows_html() -> bool:
    """Whether what is displayed here is shown as HTML: in a notebook that nobody validates or grades."""
    return _notebook() is not None


def show(html: str, text: str, png: str = "") -> bool:
    """Display ``html`` in a notebook, beside it ``text`` and a picture in base64; ``False``, and nothing done, where there is none."""
    shell = _notebook()
    if shell is None:
        return False
    sys.stdout.flush()
    picture = {"image/png": png} if png else {}
    shell.display_pub.publish(data={"text/html": html, "text/plain": text, **picture})
    return True


def _notebook() -> Any:
    """IPython's shell when a notebook displays what it publishes; ``None`` in a terminal, a script or a validation."""
    if any(os.environ.get(name) for name in ("NBGRADER_VALIDATING", "NBGRADER_EXECUTION")):
        return None  # nobody looks at displays there: only an exception's text is shown
    # IPython is never imported for this: where it runs, it is loaded already.
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or any(kind.__name__ == "TerminalInteractiveShell" for kind in type(shell).__mro__):
        return None
    return shell if hasattr(shell, "display_pub") else None

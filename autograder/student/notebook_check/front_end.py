"""Show cards as HTML in a notebook or text in a terminal, and limit the output of students' functions."""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from html import escape
from typing import TextIO

from autograder.base.foreign import Value
from autograder.checking.asserts import CheckFailed

__all__ = [
    "CheckInterrupted", "CheckProblem", "interrupted", "limit_output", "run_by_nbgrader", "show", "show_figures",
    "shows_html",
]  # fmt: skip


class CheckProblem(Exception):  # noqa: N818 - students read the name
    """Raised if ``check`` or ``hint`` cannot run. The message says why and what to do."""

    _render_traceback_ = CheckFailed._render_traceback_


class CheckInterrupted(KeyboardInterrupt):
    """Raised if the student interrupts ``check``. The message names the line that was running."""

    _render_traceback_ = CheckFailed._render_traceback_


def interrupted(error: BaseException, names: Mapping[str, Value]) -> CheckInterrupted:
    """Return the exception for an interrupt. The message names the line of the notebook that was running."""
    where = ""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if trace.tb_frame.f_globals is names and code.co_name != "<module>":
            line = linecache.getline(code.co_filename, trace.tb_lineno).strip()
            where = f" in line {trace.tb_lineno} of {code.co_name}" + (f", `{line}`" if line else "")
        trace = trace.tb_next
    return CheckInterrupted(f"You stopped it{where}. Nothing is lost: run the cell again whenever you like.")


CheckInterrupted.__module__ = "autograder"
CheckProblem.__module__ = "autograder"  # the traceback's last line is then "autograder.CheckProblem: There is …"


def run_by_nbgrader() -> bool:
    """Return whether nbgrader is validating or grading the notebook."""
    return any(os.environ.get(name) for name in ("NBGRADER_VALIDATING", "NBGRADER_EXECUTION"))


def shows_html() -> bool:
    """Return whether output is displayed as HTML, as in a notebook that is not being validated or graded."""
    return _notebook() is not None


def show(html: str, text: str, png: str = "") -> bool:
    """Display ``html`` in a notebook, with ``text`` and a base64 picture as fallbacks. Return False outside of a notebook."""
    shell = _notebook()
    if shell is None:
        return False
    sys.stdout.flush()
    picture = {"image/png": png} if png else {}
    shell.display_pub.publish(data={"text/html": html, "text/plain": text, **picture})
    return True


def show_figures(words: str) -> None:
    """Show the open figures as images described by ``words``. JupyterLab shows descriptions only in HTML."""
    import matplotlib.pyplot as plt  # noqa: PLC0415 - slow to import and only needed for pictures

    if not words or not shows_html() or "inline" not in plt.get_backend():
        plt.show()
        return
    from IPython.core.pylabtools import print_figure  # noqa: PLC0415 - only in a notebook

    for figure in map(plt.figure, plt.get_fignums()):
        if png := print_figure(figure, base64=True):  # type: ignore[no-untyped-call]
            show(f'<img src="data:image/png;base64,{png}" alt="{escape(words)}">', repr(figure), png)


def _notebook() -> Value:
    """Return IPython's shell if a notebook displays its output, or None in a terminal, a script or a validation."""
    if run_by_nbgrader():
        return None  # displays are not shown there, only exceptions
    # Do not import IPython for this. If it is running, it is already loaded.
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or any(kind.__name__ == "TerminalInteractiveShell" for kind in type(shell).__mro__):
        return None
    return shell if hasattr(shell, "display_pub") else None


MAX_LINES = 30
MAX_LINE = 1000  # characters of one line


class _FewLines:
    """A stream that passes the first lines on to ``stream`` and only counts the lines after them."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._ended = 0  # complete lines
        self._width = 0  # characters of the current line
        self._reported = 0  # lines that were reported as not shown

    def __getattr__(self, name: str) -> Value:
        return getattr(self._stream, name)  # other attributes, such as the encoding and the descriptor

    def writelines(self, lines: Iterable[str]) -> None:
        """Write each of ``lines``."""
        self.write("".join(lines))

    def write(self, text: str) -> int:
        """Write the part of ``text`` that is within the limits."""
        start = 0
        while self._ended < MAX_LINES and start < len(text):
            end = text.find("\n", start)
            part = text[start : end if end >= 0 else len(text)]
            self._pass_on(part)
            start += len(part)
            if end >= 0:
                self._stream.write(f"{self._more_in_line()}\n")
                self._ended, self._width, start = self._ended + 1, 0, start + 1
        rest = text[start:]
        self._ended += rest.count("\n")
        self._width = len(rest) - rest.rfind("\n") - 1 if "\n" in rest else self._width + len(rest)
        return len(text)

    def call_ended(self) -> None:
        """Report the omitted lines after the first call that exceeded the limit."""
        lines = self._ended + bool(self._width) - MAX_LINES
        if lines > 0 and not self._reported:
            self._reported = lines
            self._stream.write(f"… and {lines:,} more lines\n")

    def close_off(self) -> None:
        """Report all omitted output and flush."""
        self.call_ended()
        lines = self._ended + bool(self._width) - MAX_LINES
        if lines > self._reported:
            self._stream.write(f"… and {lines - self._reported:,} more lines in later calls\n")
        elif lines <= 0 and self._width > MAX_LINE:
            self._stream.write(f"{self._more_in_line()}\n")
        self._stream.flush()

    def _pass_on(self, part: str) -> None:
        fits = max(MAX_LINE - self._width, 0)
        self._stream.write(part[:fits])
        self._width += len(part)

    def _more_in_line(self) -> str:
        more = self._width - MAX_LINE
        return f"… and {more:,} more characters" if more > 0 else ""


@contextmanager
def limit_output() -> Iterator[Callable[[], None]]:
    """Limit the block's output on stdout and stderr to the first lines, and report how many lines were omitted.

    Yields a function to call after each call of the student's functions.
    """
    before = sys.stdout, sys.stderr
    shown: Value = _FewLines(sys.stdout)
    sys.stdout = sys.stderr = shown
    try:
        yield shown.call_ended
    finally:
        sys.stdout, sys.stderr = before
        shown.close_off()

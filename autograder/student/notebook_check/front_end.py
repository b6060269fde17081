"""Show cards: HTML in a notebook, text in a terminal. Limit what a student's functions print meanwhile."""

from __future__ import annotations

import io
import linecache
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO

from autograder.checking.asserts import CheckFailed

__all__ = ["CheckInterrupted", "CheckProblem", "interrupted", "limit_output", "show", "shows_html"]


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


MAX_LINES = 30
MAX_LINE = 1000  # characters


class _FewLines(io.TextIOBase):
    """Passes on to ``stream`` at once what is worth reading, and counts the rest."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._ended = 0  # lines that are whole
        self._width = 0  # characters of the line that is not
        self._told = 0  # lines of which it was said that they are not shown

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """That of the stream behind it."""
        return self._stream.encoding

    def isatty(self) -> bool:
        """Whether a person sits at the other end."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """The stream's own, for what writes past Python."""
        return self._stream.fileno()

    def flush(self) -> None:
        """Show what was passed on."""
        self._stream.flush()

    def writable(self) -> bool:
        """It is there to be written to."""
        return True

    def write(self, text: str) -> int:
        """Pass on what still fits."""
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
        """After the call in which it became too much, say how much more it printed: it explains what is not there."""
        lines = self._ended + bool(self._width) - MAX_LINES
        if lines > 0 and not self._told:
            self._told = lines
            self._stream.write(f"… and {lines:,} more\n")

    def close_off(self) -> None:
        """Say how much was not shown."""
        self.call_ended()
        lines = self._ended + bool(self._width) - MAX_LINES
        if lines > self._told:
            self._stream.write(f"… and {lines - self._told:,} more in the calls after that\n")
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
    """Show no more than the first lines of what is printed inside, to stdout and to stderr, and say how many there were besides.

    What it gives is to be called after each call of the student's functions.
    """
    before = sys.stdout, sys.stderr
    shown = _FewLines(sys.stdout)
    sys.stdout = sys.stderr = shown
    try:
        yield shown.call_ended
    finally:
        sys.stdout, sys.stderr = before
        shown.close_off()

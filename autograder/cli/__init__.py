"""The command line: ``autograder VERB …``; the verbs themselves are in ``app`` and, for a student, ``student``."""

from __future__ import annotations

import io
import os
import sys
from importlib import import_module
from importlib.util import find_spec

__all__ = ["main"]


def main() -> None:
    """Run the command line and end the process: 0 it worked, 1 something could not be graded, 2 wrong usage."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        # Answered before anything else is imported: scripts and editors ask this often.
        from autograder import __version__

        sys.stdout.write(f"autograder {__version__}\n")
        sys.exit(0)
    # Before NumPy is imported anywhere: threads of its own cost many small products far more than they gain.
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    # The name of a file is any bytes. Those that are no text are written as JSON spells them, instead of ending the run.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    # A student's installation lacks the instructor's verbs and whatever they import, and `watch` starts sooner without.
    whole = sys.argv[1:2] != ["watch"] and find_spec("autograder.cli.app") is not None
    door = "app" if whole else "student"
    import_module(f"autograder.cli.{door}").app(prog_name="autograder")

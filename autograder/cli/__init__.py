"""The command line ``autograder COMMAND …``. Its commands are in ``app`` and, for a student, in ``student``."""

from __future__ import annotations

import io
import os
import sys
from importlib import import_module
from importlib.util import find_spec

__all__ = ["main"]


def main() -> None:
    """Run the command line and end the process.

    The exit status is 0 if the command worked, 1 if something could not be graded, and 2 for wrong usage.
    """
    if sys.argv[1:] in (["--version"], ["-V"]):
        # Scripts and editors ask for the version often, so nothing else is imported for it.
        from autograder import __version__

        sys.stdout.write(f"autograder {__version__}\n")
        sys.exit(0)
    # Set these before NumPy is imported. For many small matrix products, NumPy's threads cost far more time than they save.
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    # A file name may contain bytes that are not text. Write such bytes as escapes, instead of raising an error.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    # A student's installation lacks the instructor's commands, and `watch` starts sooner without them.
    whole = sys.argv[1:2] != ["watch"] and find_spec("autograder.cli.app") is not None
    door = "app" if whole else "student"
    import_module(f"autograder.cli.{door}").app(prog_name="autograder")

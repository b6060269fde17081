"""The command line: ``autograder VERB …``; the verbs themselves are in ``autograder.cli.app``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["main"]


def main() -> None:
    """Run the command line and end the process: 0 it worked, 1 something could not be graded, 2 wrong usage."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        # Answered before anything else is imported: scripts and editors ask this often.
        from autograder import __version__

        sys.stdout.write(f"autograder {__version__}\n")
        sys.exit(0)
    from autograder.cli.app import app

    # nbgrader starts `alembic` and other tools by name; they lie beside this interpreter, activated or not.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    app(prog_name="autograder")

"""The command line: ``autograder VERB …``; the verbs themselves are in ``autograder.cli.app``."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line and end the process: 0 it worked, 1 something could not be graded, 2 wrong usage."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        # Answered before anything else is imported: scripts and editors ask this often.
        from autograder import __version__

        sys.stdout.write(f"autograder {__version__}\n")
        sys.exit(0)
    from autograder.cli.app import app

    app(prog_name="autograder")

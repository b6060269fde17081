"""Measure how long whole commands take, as for a user at a terminal, and print the results."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

__all__ = ["command", "environment", "row", "seconds"]


def environment() -> dict[str, str]:
    """Return a copy of this process's environment with the interpreter's own commands (nbgrader, alembic, jupyter) first on the path.

    Compiled modules are stored, as in any installation, even if this process's environment forbids it.
    """
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PATH": path, "PYTHONPYCACHEPREFIX": str(Path(tempfile.gettempdir()) / "autograder-benchmarks")}


def command(*words: str) -> list[str]:
    """Return the command line that runs the module ``words[0]`` with this interpreter."""
    return [sys.executable, "-m", *words]


def seconds(words: list[str], folder: Path, *, may_fail: bool = False) -> float:
    """Return the seconds that a command takes, including startup. Raises ``RuntimeError`` with its output if it fails."""
    started = time.perf_counter()
    done = subprocess.run(words, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    taken = time.perf_counter() - started
    if done.returncode and not may_fail:
        raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}:\n{done.stderr[-3000:]}")
    return taken


def row(what: str, found: str, target: str) -> None:
    """Print a result and its target in one line."""
    print(f"{what:<74} {found:>12}   target {target}", flush=True)

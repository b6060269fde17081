"""nbgrader's own commands, each in a process of its own, as an instructor or a student calls them."""

from __future__ import annotations

import multiprocessing
import os
import sys
import sysconfig
import tempfile
from collections.abc import Mapping
from pathlib import Path

TIMEOUT = 1200

# A fork of a process that has imported nbgrader starts at once. The import takes longer than most commands.
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["tests.support", "nbgrader.apps.nbgraderapp"])


def environment(home: Path) -> dict[str, str]:
    """Return an environment whose home folder is ``home``, so that no other configuration is read."""
    return {
        **os.environ,
        "HOME": str(home),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        # nbgrader calls alembic by name.
        "PATH": os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)]),
    }


def nbgrader(*arguments: str, folder: Path, home: Path, status: int = 0) -> str:
    """Call nbgrader in ``folder`` and return its output. It must exit with ``status``."""
    with tempfile.NamedTemporaryFile() as said:
        process = _context.Process(target=_command, args=(arguments, str(folder), environment(home), said.name))
        process.start()
        process.join(TIMEOUT)
        text = Path(said.name).read_text("utf-8", "replace")
        assert process.exitcode == status, f"{' '.join(arguments)}\n{text}"
        return text


def _command(arguments: tuple[str, ...], folder: str, variables: Mapping[str, str], said: str) -> None:
    """Run the command like ``python -m nbgrader``, and write its output to the file ``said``."""
    with open(said, "wb") as file:  # noqa: PTH123
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(folder)
    sys.argv = ["nbgrader", *arguments]
    from nbgrader.apps.nbgraderapp import main  # noqa: PLC0415 - already imported by the process that was forked

    main()

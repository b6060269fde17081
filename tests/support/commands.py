"""Commands in processes of their own, as people and programs run them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support import ROOT


def python(
    *arguments: Any, cwd: Path = ROOT, status: int | None = None, **env: str
) -> subprocess.CompletedProcess[str]:
    """Run this interpreter on this checkout, with ``env`` added to the environment. It must exit with ``status``."""
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert status in {None, done.returncode}, done.stdout + done.stderr
    return done

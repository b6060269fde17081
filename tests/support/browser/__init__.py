"""Run a browser's Python without a browser: Pyodide in Node, with the student's package as a site contains it."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from autograder.extras.site.build import PYODIDE_VERSION
from autograder.extras.site.pyodide import select_packages
from tests.support import ROOT

__all__ = ["browser_file", "run_in_pyodide"]

_SCRIPT = ROOT / ".ci" / "browser_files.py"


def browser_file(name: str) -> Path:
    """Return a file that ``.ci/browser_files.py`` downloaded. If it is missing, skip the test, or fail it on CI."""
    path = runpy.run_path(str(_SCRIPT))["folder"]() / name
    if not path.exists():
        why = (
            f"{path} is not there: run `python {_SCRIPT.relative_to(ROOT)}`, which needs npm, pip and their registries"
        )
        if os.environ.get("CI"):
            pytest.fail(why)
        pytest.skip(why)
    return path


def run_in_pyodide(script: Path, folder: Path, wheel: Path, seconds: float) -> None:
    """Run a Python script with ``folder`` as its ``/work``. If it fails, report what it printed."""
    packed, node = (
        select_packages(browser_file("pyodide"), ["numpy", "matplotlib"], PYODIDE_VERSION),
        shutil.which("node"),
    )
    if node is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("node is not installed: apt-get install nodejs")
    with TemporaryDirectory() as beside:
        pyodide = Path(beside) / "pyodide"
        packed.copy_to(pyodide)
        command = [node, Path(__file__).with_name("run.mjs"), pyodide, wheel, script, folder]
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"

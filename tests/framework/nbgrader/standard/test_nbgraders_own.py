"""Run nbgrader's own tests of autograde, from its wheel, with the sandbox instead of Execute."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import nbgrader
import pytest

from tests.framework.nbgrader.standard.test_quickstart import DOCS, documented_line
from tests.support import ROOT
from tests.support.nbgrader import environment

WHEEL = Path(nbgrader.__file__).with_name("tests") / "apps" / "test_nbgrader_autograde.py"


def _table():
    """Return the outcome of each test, as the docs list them."""
    rows = re.findall(r"^\| `(test_\w+)` \| ([^|]+) \|", DOCS.read_text("utf-8"), re.MULTILINE)
    return {name: outcome.strip() for name, outcome in rows}


def _run(names, folder):
    """Run the named tests of the wheel, and return the outcomes by name. The outcome of a parametrized test is its worst outcome."""
    config = folder / "config"
    config.mkdir()
    (config / "nbgrader_config.py").write_text("c = get_config()\n" + documented_line())
    report = folder / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, f"--rootdir={folder}", "-p", "no:cacheprovider"]
    command += ["-p", "tests.framework.nbgrader.standard.prepared_book", "-W", "ignore", f"--junitxml={report}"]
    variables = {name: value for name, value in environment(folder).items() if not name.startswith("PYTEST_")}
    variables["PYTHONPATH"] = str(ROOT)
    command += [f"{WHEEL}::TestNbGraderAutograde::{name}" for name in names]
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=1800, check=False)
    assert report.is_file(), done.stdout + done.stderr
    outcomes: dict[str, str] = {}
    for case in ET.parse(report).iter("testcase"):  # noqa: S314 - pytest wrote it just now
        name = case.get("name", "").split("[")[0]
        kinds = {child.tag for child in case}
        outcome = "fails" if kinds & {"failure", "error"} else "skipped by nbgrader" if "skipped" in kinds else "passes"
        if outcomes.get(name, "passes") == "passes":
            outcomes[name] = outcome
    return outcomes


def test_the_table_lists_every_test_of_the_wheel():
    """The docs list exactly the tests of nbgrader's autograde."""
    tree = ast.parse(WHEEL.read_text("utf-8"))
    names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert set(_table()) == {name for name in names if name.startswith("test_")}


WHEN = "set ALL_NBGRADER_TESTS=1: three minutes"
ON_REQUEST = pytest.mark.skipif("ALL_NBGRADER_TESTS" not in os.environ, reason=WHEN)


@pytest.mark.slow
@pytest.mark.parametrize("on_request", [False, pytest.param(True, marks=ON_REQUEST)], ids=["grading", "bookkeeping"])
def test_nbgraders_tests_fare_as_the_table_says(tmp_path, on_request):
    """The docs list the right outcomes, for tests that depend on how cells are run and, on request, for all other tests."""
    outcomes = {name: told for name, told in _table().items() if ("on request" in told) is on_request}
    expected = {name: told.split(",")[0] for name, told in outcomes.items()}
    found = _run(list(expected), tmp_path)
    # nbgrader's own kernels and servers may start too late on a busy machine.
    if late := [name for name in expected if found.get(name) != expected[name]]:
        found |= _run(late, tmp_path)
    assert found == expected

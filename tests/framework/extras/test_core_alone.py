"""The core works without the optional features."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from tests.support import ROOT

PACKAGE = ROOT / "autograder"


def test_nothing_outside_imports_an_optional_feature():
    """No module of the core imports `autograder.extras`, at its top level or inside a function."""
    found = []
    for path in PACKAGE.rglob("*.py"):
        if (PACKAGE / "extras") in path.parents:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            if any(name.startswith("autograder.extras") or name == "extras" for name in names):
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert found == []


@pytest.mark.slow
def test_the_core_goes_from_a_new_course_to_feedback():
    """A copy of the tree without `autograder/extras` creates a course, releases it, grades a notebook and creates its feedback page."""
    done = subprocess.run(
        ["sh", ROOT / ".ci" / "try-core", sys.executable], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("The core works without autograder/extras.\n")

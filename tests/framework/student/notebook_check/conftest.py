"""A student's notebook, in this process: a folder with a chapter's examples, and cells that are run one by one."""

from __future__ import annotations

import os

import pytest

from autograder.student.notebook_check import helping, progress
from tests.support import examples_by_hand as by_hand

SETUP = "import numpy as np\nfrom autograder import check, hint, solution\n"


@pytest.fixture
def beside_the_notebook(tmp_path, monkeypatch):
    """A folder with a chapter's examples, and a student who has done nothing yet."""
    by_hand.write_chapter(tmp_path)
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(("JPY_", "JUPYTER", "NBGRADER"))]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(progress, "_remembered", {})
    monkeypatch.setattr(progress, "_reported", set())
    monkeypatch.setattr(helping, "_shown_for", {})
    return tmp_path


@pytest.fixture
def notebook(beside_the_notebook, capsys):  # noqa: ARG001 - it is where cells run
    """Run code as cells of one notebook, and return the printed text."""
    names = {"__name__": "__main__"}

    def run(code):
        exec(code, names)  # noqa: S102 - check() reads the names of whoever calls it, so a caller is made
        return capsys.readouterr().out

    run(SETUP)
    return run

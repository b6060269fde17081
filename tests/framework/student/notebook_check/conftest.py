"""Fixtures for a student's notebook: a folder with a chapter's examples, and cells that are run one by one."""

from __future__ import annotations

import json
import os
import re

import pytest
from jupyter_client.manager import KernelManager

from autograder.student.notebook_check import helping, progress
from tests.support import ROOT
from tests.support import examples_by_hand as by_hand

SETUP = "import numpy as np\nfrom autograder import check, hint, solution\n"


@pytest.fixture
def beside_the_notebook(tmp_path, monkeypatch):
    """Return a folder with a chapter's examples and no recorded progress."""
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
    """Return a function that runs code as a cell of one notebook and returns the printed text."""
    names = {"__name__": "__main__"}

    def run(code):
        exec(code, names)  # noqa: S102 - check() reads the variables of its caller, so the code needs a namespace
        return capsys.readouterr().out

    run(SETUP)
    return run


class Notebook:
    """A notebook file with ``cells`` by name, and its kernel. If ``ids`` is true, the front end sends the ids of cells."""

    def __init__(self, folder, cells, manager):
        self.path, self.cells, self.ids = folder / f"{folder.name}.ipynb", cells, True
        self._client = manager.blocking_client()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=60)

    def save(self, **changed):
        """Save the file, so that it is newer than every run."""
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        cells = [_cell(name, source) for name, source in (self.cells | changed).items()]
        self.path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": kernel, "cells": cells}))

    def run(self, name, source=None):
        """Run the cell called ``name``, or ``source``, and return everything that it shows as one line."""
        content = {"code": source or self.cells[name], "silent": False, "store_history": True}
        content |= {"user_expressions": {}, "allow_stdin": False, "stop_on_error": False}
        message = self._client.session.msg("execute_request", content, metadata={"cellId": name} if self.ids else {})
        self._client.shell_channel.send(message)
        shown = []
        while True:
            reply = self._client.get_iopub_msg(timeout=60)
            if reply["parent_header"].get("msg_id") != message["header"]["msg_id"]:
                continue
            said = reply["content"]
            if reply["msg_type"] == "status" and said["execution_state"] == "idle":
                return " ".join(re.sub(r"\x1b\[[\d;]*m", "", " ".join(shown)).split())
            shown += said.get("traceback", [said.get("text", said.get("data", {}).get("text/plain", ""))])


def _cell(name, source):
    about = {"grade_id": name, "solution": True, "grade": False, "locked": False, "schema_version": 3, "task": False}
    metadata = {"nbgrader": about} if source.startswith(("def ", "q1")) else {}
    return {
        "id": name, "cell_type": "code", "source": source, "metadata": metadata, "outputs": [], "execution_count": None,
    }  # fmt: skip


@pytest.fixture(scope="module")
def kernels():
    """Return a function that starts a kernel in a folder for a notebook with ``cells``, and returns the notebook."""
    managers = []

    def start(folder, cells, **environment):
        unwanted = ("JPY_", "JUPYTER", "NBGRADER", "PYTHONSTARTUP")
        clean = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}
        managers.append(KernelManager())
        own = {"PYTHONPATH": str(ROOT), "IPYTHONDIR": str(folder.parent / "ipython"), **environment}
        managers[-1].start_kernel(cwd=str(folder), env=clean | own)
        notebook = Notebook(folder, cells, managers[-1])
        notebook.save()
        return notebook

    yield start
    for manager in managers:
        manager.shutdown_kernel(now=True)


@pytest.fixture(scope="module")
def by_hand_folder(tmp_path_factory):
    """Return a function that creates a folder with the manually written chapter."""

    def make():
        folder = tmp_path_factory.mktemp("course") / by_hand.CHAPTER
        folder.mkdir()
        by_hand.write_chapter(folder)
        return folder

    return make

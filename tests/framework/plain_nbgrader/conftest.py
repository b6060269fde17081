"""Plain notebooks built cell by cell, run by the jail and, to compare, by nbgrader's own kernel."""

from __future__ import annotations

import copy

import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.utils import determine_grade
from traitlets.config import Config

from autograder.preprocessors.execute import ExecuteConfined


def cell(source, grade_id="", points=None, *, solution=False, tags=()):
    """A code cell; one with points is a locked, graded one (or, with ``solution``, one that a person grades)."""
    made = new_code_cell(source)
    if grade_id:
        role = {"grade": points is not None, "solution": solution, "locked": not solution}
        made.metadata["nbgrader"] = {"grade_id": grade_id, "points": points or 0, "schema_version": 3, **role}
    if tags:
        made.metadata["tags"] = list(tags)
    return made


def notebook(*cells, language="python"):
    """A notebook of those cells; a text is a student's cell."""
    spec = {"name": "python3" if language == "python" else language, "language": language, "display_name": language}
    made = [cell(one) if isinstance(one, str) else one for one in cells]
    return new_notebook(cells=made, metadata={"kernelspec": spec})


def run(nb, folder, step=ExecuteConfined, **config):
    """What a step makes of a copy of the notebook that lies in ``folder``."""
    made = step(config=Config({step.__name__: config}))
    done, _resources = made.preprocess(copy.deepcopy(nb), {"metadata": {"path": str(folder)}})
    return done


def scores(nb):
    """What nbgrader's own rule gives each graded cell."""
    graded = [one for one in nb.cells if one.metadata.get("nbgrader", {}).get("grade")]
    return {one.metadata.nbgrader.grade_id: determine_grade(one)[0] for one in graded}


@pytest.fixture
def graded(tmp_path):
    """Runs cells in the jail, from a folder of the test's own, and gives the scores."""

    def grade(*cells, **config):
        return scores(run(notebook(*cells), tmp_path, **config))

    return grade

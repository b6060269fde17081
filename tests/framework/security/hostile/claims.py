"""Notebooks that claim marks, or contain active content that could run when somebody opens them."""

from __future__ import annotations

import json

from tests.framework.security.hostile.registry import MARKED_UP, PNG, SCRIPT, check_cells, code_cells, hostile_notebook
from tests.support.mini import CHAPTER, cell

# False claims in a notebook: points, names and outcomes.


@hostile_notebook()
def forged_points(notebook):
    """Make each check cell worth a thousand points."""
    for graded in check_cells(notebook):
        graded["metadata"]["nbgrader"]["points"] = 1000


@hostile_notebook()
def renamed_exercises(notebook):
    """Give each exercise the name of another exercise, and each check the name of the quiz's check."""
    names = {"to_kelvin": "mean_kelvin", "mean_kelvin": "quiz_ch1_units", "quiz_ch1_units": "to_kelvin"}
    for one in notebook["cells"]:
        meta = one["metadata"].get("nbgrader", {})
        if meta.get("grade"):
            meta["grade_id"] = "check_quiz_ch1_units"
        elif meta:
            meta["grade_id"] = names[meta["grade_id"]]


@hostile_notebook()
def invented_exercises(notebook):
    """Add exercises and checks that the course does not have, each worth fifty points."""
    for number in range(20):
        for role, name in (("solution", f"bonus{number}"), ("grade", f"check_bonus{number}")):
            meta = {"grade_id": name, "grade": False, "solution": False, "points": 50, role: True}
            made = {"cell_type": "code", "metadata": {"nbgrader": meta}, "source": "1", "outputs": []}
            notebook["cells"].append(made)


@hostile_notebook()
def copied_check_cells(notebook):
    """Add five copies of each check cell, with different points and with code that returns ten points."""
    for graded in check_cells(notebook):
        for times in range(1, 6):
            copy = json.loads(json.dumps(graded)) | {"source": "def check(*a): return 10.0\ncheck()", "id": "same"}
            copy["metadata"]["nbgrader"]["points"] = 10 * times
            notebook["cells"].append(copy)


@hostile_notebook()
def graded_already(notebook):
    """Add the outputs that a grader would write: full marks in every check cell and in the metadata."""
    for graded in check_cells(notebook):
        points = graded["metadata"]["nbgrader"]["points"]
        data = {"text/plain": str(float(points)), "text/html": f"<strong>{points} of {points} points</strong>"}
        graded["outputs"] = [{"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": 1}]
        graded["metadata"]["nbgrader"] |= {"score": points, "auto_score": points, "manual_score": points}
    notebook["metadata"]["autograder"] = {"status": "graded", "score": 6, "copied": [SCRIPT], "chapter": CHAPTER}


@hostile_notebook()
def to_be_marked_by_hand(notebook):
    """Turn the exercises' cells into manually graded cells that already have a mark."""
    for one in notebook["cells"]:
        if "nbgrader" in one["metadata"]:
            one["metadata"]["nbgrader"] |= {"grade": True, "solution": True, "points": 6, "manual_score": 6}


@hostile_notebook()
def unlocked_checks(notebook):
    """Turn check cells into ordinary cells with code that gives full marks, and lock a stub."""
    for graded in check_cells(notebook):
        graded["metadata"]["nbgrader"] |= {"grade": False, "solution": True, "locked": False}
        graded["source"] = "6.0"
    cell(notebook, "to_kelvin")["metadata"]["nbgrader"] |= {"locked": True, "solution": False}


@hostile_notebook()
def answers_called_pictures(notebook):
    """Tag every cell as a picture and store an image in it, so that the cell might be kept instead of run."""
    data = {"image/png": PNG, "text/plain": "6.0"}
    for one in notebook["cells"]:
        one["metadata"]["tags"] = ["picture"]
    for one in code_cells(notebook):
        one["outputs"] = [{"output_type": "display_data", "data": data, "metadata": {}}]


# Active content that targets the person who opens a notebook.


@hostile_notebook()
def stored_scripts(notebook):
    """Put markup and scripts into the stored outputs of every cell, including the course's picture cell."""
    for one in code_cells(notebook):
        one["outputs"] = [
            {"output_type": "display_data", "data": {**MARKED_UP, "image/png": PNG}, "metadata": {"x": SCRIPT}},
            {"output_type": "error", "ename": SCRIPT, "evalue": SCRIPT, "traceback": [SCRIPT]},
            {"output_type": "stream", "name": SCRIPT, "text": [SCRIPT]},
        ]


@hostile_notebook()
def attachments(notebook):
    """Add attachments, prose with scripts, and links that run code."""
    for one in notebook["cells"]:
        if one["cell_type"] == "markdown":
            one["attachments"] = {"x.svg": MARKED_UP, "../../gradebook.db": {"image/png": PNG}, "n": None}
            links = "[x](javascript:alert('hostile')) ![y](attachment:x.svg)"
            one["source"] = f"{SCRIPT}\n\n{links} $$\\href{{{SCRIPT}}}$$"
    notebook["cells"].append({"cell_type": "raw", "metadata": {"format": "text/html"}, "source": SCRIPT})


@hostile_notebook()
def markup_everywhere(notebook):
    """Put scripts into ids, tags, titles, languages and kernels."""
    for one in notebook["cells"]:
        one |= {"id": SCRIPT, "execution_count": SCRIPT}
        one["metadata"] |= {"tags": [SCRIPT], "title": SCRIPT, "collapsed": SCRIPT, "name": SCRIPT}
    notebook["metadata"] |= {"title": SCRIPT, "kernelspec": {"name": SCRIPT, "language": SCRIPT}, "authors": [SCRIPT]}


@hostile_notebook()
def huge_metadata(notebook):
    """Add more than ten megabytes of metadata."""
    notebook["metadata"]["note"] = "x" * (10 << 20)
    notebook["cells"][0]["metadata"]["list"] = [0] * (1 << 20)

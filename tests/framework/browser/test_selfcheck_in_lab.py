"""Test ``check`` and ``hint`` as a student sees them: a notebook run in JupyterLab, in a real browser, light and dark.

If the environment variable ``AUTOGRADER_SCREENSHOTS`` names a folder, pictures of the cards are saved there.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import expect

from autograder.authoring.release import record_examples
from autograder.course.notebook import document_bytes
from tests.framework.browser.hand import WAIT, open_notebook, reach, run, serious, set_theme
from tests.support.examples_by_hand import CHAPTER, chapter_data, write_chapter
from tests.support.mini import CHAPTER as UNITS
from tests.support.mini import RIGHT as RIGHT_UNITS
from tests.support.mini import copy_course, document

pytestmark = [pytest.mark.slow, pytest.mark.browser]

SETUP = "import numpy as np\nfrom autograder import check, hint"
ONE_MAXIMUM = """def softmax(x, axis=-1):
    e = np.exp(x - x.max())
    return e / e.sum(axis=axis, keepdims=True)"""
RIGHT = ONE_MAXIMUM.replace("x.max()", "x.max(axis=axis, keepdims=True)")
HOSTILE = """def mean_of(x):
    raise ValueError("<img src=x onerror=\\"document.title='owned'\\"> costs $1 and $2")"""
CELLS = [SETUP, ONE_MAXIMUM, "check(softmax)", "hint(softmax, 1)", RIGHT, "check(softmax)", HOSTILE, "check(mean_of)"]
THEMES = ["light", "dark"]
FAILING, HINT, PASSING, ESCAPED = 2, 3, 5, 7


@pytest.fixture(scope="module")
def lab_folder(lab_folder: Path) -> Path:
    """A folder with a notebook for each theme, and a student's folder with a chapter and its examples."""
    write_chapter(lab_folder)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    for theme in THEMES:  # one notebook for each theme, so that each has its own kernel
        nbformat.write(notebook, lab_folder / f"{theme}.ipynb")
    chapter = lab_folder / CHAPTER  # a student's folder, with a folder for each chapter
    chapter.mkdir()
    data = chapter_data()
    data["exercises"]["mean_of"]["cell"] = "mean"
    (chapter / "examples.json").write_text(json.dumps(data), encoding="utf-8")
    prose = nbformat.v4.new_markdown_cell("\n\n".join(["A long text."] * 80))
    mean = nbformat.v4.new_markdown_cell("## The mean", id="mean")
    notebook.cells = [*map(nbformat.v4.new_code_cell, (SETUP, RIGHT, "check(softmax)", "check()")), prose, mean]
    nbformat.write(notebook, chapter / f"{CHAPTER}.ipynb")
    return lab_folder


@pytest.fixture(params=THEMES)
def cells(request, page, lab):
    """The notebook's cells, all of which were run, in each theme in turn."""
    set_theme(page, lab, f"JupyterLab {request.param.title()}")
    found = open_notebook(page, lab, f"{request.param}.ipynb")
    light = str(request.param == "light").lower()
    page.locator(f"body[data-jp-theme-light='{light}']").wait_for(state="attached", timeout=WAIT)
    for index in range(len(CELLS)):
        run(found.nth(index))
    keep = os.environ.get("AUTOGRADER_SCREENSHOTS")
    if keep:
        for name, index in {"failing": FAILING, "hint": HINT, "passing": PASSING, "escaped": ESCAPED}.items():
            cell = found.nth(index)
            cell.scroll_into_view_if_needed()
            cell.screenshot(path=Path(keep) / f"{name}-{request.param}.png")
    return found


def test_the_cards_read_well_in_jupyterlab(cells, page):
    """A failed check, a passed check and a hint are shown as cards. An error's text is shown as text, and nothing is repeated."""
    failing = cells.nth(FAILING)
    card = failing.get_by_role("group", name="softmax: 1 of 3 points here, 1 more possible when it is graded")
    assert card.count() == 1
    words = " ".join(card.inner_text().split())
    assert "fails: rows of very different size each keep their own weights" in words
    assert "softmax(x) gave  [[nan, nan], [0.2689, 0.7311]]" in card.inner_text()
    assert "You subtracted one maximum" in card.inner_text()
    assert failing.inner_text().count("You subtracted one maximum") == 1
    assert "The card above says what to check." in failing.inner_text()
    assert "Traceback" not in failing.inner_text()
    assert "First hint." in cells.nth(HINT).inner_text()
    passing = cells.nth(PASSING)
    assert "Well done" in passing.inner_text()
    assert passing.locator("[data-mime-type$='.stderr'], [data-mime-type$='.error']").count() == 0
    escaped = cells.nth(ESCAPED)
    assert "<img src=x" in escaped.inner_text()
    assert "costs $1 and $2" in escaped.inner_text()
    assert escaped.locator(".jp-OutputArea img").count() == 0
    assert page.title() != "owned"


def test_the_button_tries_new_random_inputs(page, lab, lab_folder):
    """In a clone of a course, a function that passes only the visible checks fails once the button on its card is pressed by keyboard."""
    course = copy_course(lab_folder / "clone")
    folder = course.root / "attention" / UNITS
    folder.mkdir(parents=True)
    shutil.copy(record_examples(course, UNITS), folder / "examples.json")
    flat = RIGHT_UNITS["mean_kelvin"].replace("axis=-1", "axis=1")
    (folder / f"{UNITS}.ipynb").write_bytes(document_bytes(document(course, **RIGHT_UNITS | {"mean_kelvin": flat})))
    set_theme(page, lab, "JupyterLab Dark")
    code = open_notebook(page, lab, f"clone/attention/{UNITS}/{UNITS}.ipynb")
    checked = code.filter(has_text="check(mean_kelvin)").first
    checked.wait_for(timeout=WAIT)
    for cell in code.all():
        run(cell)
        if "check(mean_kelvin)" in cell.locator(".cm-content").inner_text():
            break
    assert serious(page, ".ag-card") == []
    reach(checked.get_by_role("button", name="Try new random inputs"))
    page.keyboard.press("Enter")
    deeper = code.filter(has_text="check(mean_kelvin, deeper=True)").last
    expect(deeper).to_contain_text("each station has its own mean", timeout=WAIT)
    expect(page.locator(".jp-Dialog")).to_have_count(0)


@pytest.mark.parametrize("theme", THEMES)
def test_the_next_exercise_is_a_link(page, lab, theme):
    """A click on "Next is mean_of" on the card shows that exercise, far below in the same notebook."""
    set_theme(page, lab, f"JupyterLab {theme.title()}")
    page.goto(lab.tree(f"{CHAPTER}/{CHAPTER}.ipynb"))
    page.locator("#jupyterlab-splash").wait_for(state="detached", timeout=WAIT)
    code = page.locator(".jp-Notebook .jp-CodeCell")
    for index in range(4):
        run(code.nth(index))
    expect(code.nth(3)).to_contain_text("1 of 3 done")
    assert serious(page, ".ag-card") == []
    heading = page.get_by_role("heading", name="The mean")
    expect(heading).not_to_be_in_viewport()
    code.nth(2).get_by_role("link", name="Next is mean_of").click()
    expect(heading).to_be_in_viewport()
    expect(page.locator(".jp-Dialog")).to_have_count(0)

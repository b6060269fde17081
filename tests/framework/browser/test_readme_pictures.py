"""Take the pictures of the README: chapter 1 as a self-learner sees it in JupyterLab, once with a mistake and once right.

``AUTOGRADER_PICTURES=docs/images pytest tests/framework/browser/test_readme_pictures.py`` takes them again.
"""

from __future__ import annotations

import os

import pytest
from playwright.sync_api import expect

from autograder.authoring.release import record_examples
from autograder.authoring.simulate import solved_notebook, write_notebook
from autograder.course.course import load_course
from autograder.extras.demo.demo_run import copy_course
from tests.framework.browser.hand import open_notebook, run, set_theme
from tests.support import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.browser]

CHAPTER = "ch1_weighted_averaging"
RIGHT = """def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)"""
SLIP = RIGHT.replace("x.max(axis=axis, keepdims=True)", "x.max()")


@pytest.fixture(scope="module")
def lab_folder(lab_folder):
    """A copy of the course, as in a clone, with two notebooks that define softmax."""
    course = copy_course(load_course(ROOT), lab_folder)
    record_examples(course, CHAPTER)
    for name, code in (("failing", SLIP), ("passing", RIGHT)):
        notebook = solved_notebook(course, CHAPTER, {"softmax": code})
        write_notebook(course.source(CHAPTER).with_name(f"{name}.ipynb"), notebook)
    return lab_folder


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("failing", ["softmax", "fails", "should be", "one maximum for the whole array"]),
        ("passing", ["softmax", "Well done", "Another way to write it"]),
    ],
)
def test_softmax_in_jupyterlab(page, lab, name, seen):
    """For a wrong softmax, check(softmax) shows the failing check, its case and the reason. For a right one, it shows that all checks pass."""
    page.set_viewport_size({"width": 900, "height": 1100})
    set_theme(page, lab, "JupyterLab Light")
    code = open_notebook(page, lab, f"source/{CHAPTER}/{name}.ipynb")
    run(code.filter(has_text="from autograder import check").first)
    stub = code.filter(has_text="def softmax").first
    stub.scroll_into_view_if_needed()
    run(stub)
    checked = code.filter(has_text="check(softmax)").first
    run(checked)
    for text in seen:
        expect(checked).to_contain_text(text)
    folder = os.environ.get("AUTOGRADER_PICTURES")
    if folder:
        _take(page, stub, checked, ROOT / folder / f"check-{name}.png")


def _take(page, first, last, path):
    """Take a picture of the page, from the cell ``first`` to the cell ``last``."""
    page.mouse.move(0, 0)  # nothing is hovered over
    last.scroll_into_view_if_needed()
    top, bottom = first.bounding_box(), last.bounding_box()
    path.parent.mkdir(parents=True, exist_ok=True)
    height = bottom["y"] + bottom["height"] - top["y"]
    page.screenshot(path=path, clip={"x": top["x"], "y": top["y"], "width": top["width"], "height": height})

"""Test chapter 0 as a student works on it in JupyterLab: blank, with a mistake, with all hints, and right."""

from __future__ import annotations

import json
import re
import shutil

import pytest
from playwright.sync_api import expect

from autograder.authoring.release import record_examples
from autograder.course.course import load_course
from autograder.extras.demo.demo_run import copy_course
from tests.framework.browser.hand import add_below, open_notebook, run, serious, set_theme, write
from tests.support import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.browser]

CHAPTER = "ch0_orientation"
SLIP = "def normalize_rows(A):\n    return A / A.sum(axis=0)"
RIGHT = "def normalize_rows(A):\n    return A / A.sum(axis=1, keepdims=True)"
CONTENT = ".jp-RenderedHTMLCommon, .jp-RenderedText"  # what the notebook shows, and not JupyterLab around it
PAIRS = "def pairwise_dot(X, Y):\n    return X @ Y.T"
# A script that returns the problems that a reader of the rendered page would have.
STUMBLES = r"""() => {
    const found = [];
    for (const text of document.querySelectorAll(".jp-RenderedMarkdown")) {
        const words = text.cloneNode(true);
        words.querySelectorAll("mjx-container, code, pre").forEach(part => part.remove());
        if (/\$|\\[a-z]+/.test(words.textContent)) found.push("raw formula: " + words.textContent.slice(0, 80));
        if (text.scrollWidth > text.clientWidth + 2) found.push("too wide: " + words.textContent.slice(0, 80));
    }
    for (const error of document.querySelectorAll("mjx-merror")) found.push("formula error: " + error.textContent);
    for (const output of document.querySelectorAll(".jp-OutputArea-output"))
        if (output.scrollWidth > output.clientWidth + 2) found.push("too wide: " + output.textContent.slice(0, 80));
    return found;
}"""


@pytest.fixture(scope="module")
def lab_folder(lab_folder, tmp_path_factory):
    """A student's folder: the notebook and its examples, and nothing else of the course."""
    course = copy_course(load_course(ROOT), tmp_path_factory.mktemp("course"))
    shutil.copy(record_examples(course, CHAPTER), lab_folder / "examples.json")
    shutil.copy(course.source(CHAPTER), lab_folder)
    return lab_folder


def test_a_student_goes_from_a_blank_stub_to_a_picture(page, lab):
    """A blank stub is not attempted, a mistake is named, three hints follow, and a right function is praised and its picture drawn."""
    set_theme(page, lab, "JupyterLab Light")
    code = open_notebook(page, lab, f"{CHAPTER}.ipynb")
    stub = code.filter(has_text="def normalize_rows").first
    checked = code.filter(has_text="check(normalize_rows)").first
    picture = code.filter(has_text='@requires("normalize_rows")').first
    expect(picture.locator(".jp-InputPlaceholder")).to_have_count(1)  # the code that draws is folded
    for cell in (code.nth(0), code.nth(1), stub, checked, picture):
        run(cell)
    expect(checked).to_contain_text("is not written yet")
    expect(picture).to_contain_text("Nothing to see yet: this cell uses your `normalize_rows`.")

    write(stub, SLIP)
    run(stub)
    run(checked)
    expect(checked).to_contain_text("normalize_rows is not right yet. The card above says what to check.")
    expect(checked.locator(".ag-advice")).to_contain_text("axis")
    expect(checked).not_to_contain_text("Traceback")

    hints = add_below(checked, "hint(normalize_rows)")
    for number in (1, 2, 3):
        run(hints)
        expect(hints).to_contain_text(f"hint {number} of 3")
    expect(hints).to_contain_text("keepdims=True")

    write(stub, RIGHT)
    for cell in (stub, checked, picture):
        run(cell)
    expect(checked).to_contain_text("Well done")
    expect(picture.locator(".jp-OutputArea img")).to_have_count(1)
    expect(picture.locator(".jp-OutputArea")).not_to_contain_text("Nothing to see")
    described = re.compile(r"What the picture shows\. Each bar is a row")
    expect(picture.locator(".jp-OutputArea img")).to_have_attribute("alt", described)

    pairs = code.filter(has_text="def pairwise_dot").first
    write(pairs, PAIRS)
    run(pairs)
    last = code.filter(has_text="check(pairwise_dot)").first
    run(last)
    expect(last).to_contain_text("That was the last exercise of this chapter.")
    written = json.loads((ROOT / "source" / CHAPTER / f"{CHAPTER}.ipynb").read_text(encoding="utf-8"))["cells"]
    texts = sum(cell["cell_type"] == "markdown" for cell in written)
    expect(page.locator(".jp-Notebook .jp-RenderedMarkdown")).to_have_count(texts)
    assert page.evaluate(STUMBLES) == []
    assert serious(page, CONTENT) == []
    set_theme(page, lab, "JupyterLab Dark")
    page.keyboard.press("Control+s")
    expect(page.locator(".jp-mod-dirty")).to_have_count(0)
    open_notebook(page, lab, f"{CHAPTER}.ipynb")
    page.locator("body[data-jp-theme-light='false']").wait_for(state="attached")
    expect(picture.locator(".jp-OutputArea img")).to_have_attribute("alt", described)
    assert serious(page, CONTENT) == []

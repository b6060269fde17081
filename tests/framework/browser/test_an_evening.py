"""A student's evening in a real browser, from the map to work that is still there: in JupyterLab, and with nothing installed.

With ``AUTOGRADER_SCREENSHOTS=FOLDER`` in the environment each station is kept there as a picture.
"""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import expect

from autograder.authoring.release.run import handout
from autograder.student.terminal.layout import set_up_course
from tests.framework.browser.conftest import one_page
from tests.framework.browser.hand import WAIT, reach, select, serious, set_theme, type_and_run

pytestmark = [pytest.mark.slow, pytest.mark.browser]

TITLE = "Attention is a weighted average"
CHAPTER = "ch1_weighted_averaging"
RIGHT = """def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)"""
LOOKUP = """def soft_lookup(q, K, V, temperature=1.0):
    return softmax(K @ q / temperature) @ V"""
WRONG = RIGHT.replace("x.max(axis=axis, keepdims=True)", "x.max()")
ENDLESS = "def softmax(x, axis=-1):\n    while True:\n        pass"
NARROW = {"width": 820, "height": 1000}


@pytest.fixture
def keep(request):
    """A function that keeps a picture of a page under a name, where somebody wants them."""
    folder = os.environ.get("AUTOGRADER_SCREENSHOTS")

    def picture(page, name):
        if folder:
            page.screenshot(path=Path(folder) / f"{request.node.name}-{name}.png")

    return picture


def test_the_evening_in_the_site(browser, site, keep, tmp_path):
    """Dark, 820 px wide, with nothing installed: a wrong softmax is diagnosed, corrected, and still there after a reload."""
    _, address = site
    with one_page(browser, address, viewport=NARROW, color_scheme="dark", accept_downloads=True) as page:
        page.goto(f"{address}/")
        expect(page.get_by_role("heading", level=1)).to_have_text("Attention from scratch, in NumPy")
        assert serious(page) == []
        keep(page, "landing")
        page.get_by_role("button", name="Download my work").click()
        expect(page.get_by_role("status")).to_contain_text("There is nothing to download yet")
        page.get_by_role("link", name="the map of the course").click()
        evening(page, keep)
        page.goto(f"{address}/")
        expect(page.get_by_text("1 of 5 exercises done")).to_be_visible()
        keep(page, "landing-after")
        with page.expect_download() as downloading:
            page.get_by_role("button", name="Download my work").click()
        downloading.value.save_as(tmp_path / "work.zip")
    with zipfile.ZipFile(tmp_path / "work.zip") as work:
        assert work.testzip() is None
        assert "keepdims=True" in work.read(f"{CHAPTER}/{CHAPTER}.ipynb").decode()


@pytest.fixture(scope="module")
def lab_folder(lab_folder, course):
    """The course as ``autograder start`` lays it out."""
    set_up_course(handout(course.root, print), lab_folder)
    return lab_folder


def test_the_evening_in_jupyterlab(browser, lab, keep):
    """The same evening, dark and 820 px wide, in JupyterLab."""
    with one_page(browser, lab.address, viewport=NARROW) as page:
        set_theme(page, lab, "JupyterLab Dark")
        page.goto(lab.tree("index.ipynb"))
        evening(page, keep)


def evening(page, keep):
    """Work on the course from its map, with the keyboard except for two clicks."""
    overview = page.locator(".jp-Notebook", has_text="Attention from scratch").last
    expect(page.locator("#jupyterlab-splash")).to_have_count(0, timeout=WAIT)
    overview.get_by_role("link", name=TITLE).first.wait_for(timeout=WAIT)
    keep(page, "map")
    overview.get_by_role("link", name=TITLE).first.click()
    code = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell")
    stub = code.filter(has_text="def softmax").first
    checked = code.filter(has_text="check(softmax)").first
    checked.wait_for(state="attached", timeout=WAIT)
    keep(page, "chapter")
    type_and_run(code.nth(0))
    for _ in range(2):  # the second cell is folded: the keys that go up and down pass over it, these do not
        page.keyboard.press("Shift+Enter")

    type_and_run(stub, WRONG)
    type_and_run(checked)
    expect(checked).to_contain_text("one maximum for the whole array")
    keep(page, "wrong")
    checked.get_by_text("Hint 1 of 3").click()
    expect(checked.locator("details[open]")).to_have_count(1)
    keep(page, "hint")
    assert serious(page, ".ag-card") == []

    type_and_run(stub, ENDLESS)
    type_and_run(checked)
    expect(checked).to_contain_text("was stopped after 3 seconds")
    expect(checked).to_contain_text("while True:")
    keep(page, "endless")

    type_and_run(stub, RIGHT)
    type_and_run(checked)
    expect(checked).to_contain_text("Well done")
    type_and_run(code.filter(has_text="def soft_lookup").first, LOOKUP)
    moving = code.filter(has_text="def move_the_temperature").first
    type_and_run(moving)
    select(checked)
    open_with_keys(
        checked.locator("summary", has_text="way to write it").or_(
            checked.locator("summary", has_text="ways to write it")
        )
    )
    expect(checked.locator("details[open]")).to_contain_text("return")
    keep(page, "right")
    assert serious(page, ".ag-card") == []

    move(moving)
    keep(page, "moved")

    page.keyboard.press("Control+s")
    unsaved = page.locator(".lm-TabBar-tab.lm-mod-dirty, .lm-TabBar-tab.jp-mod-dirty", has_text=CHAPTER)
    expect(unsaved).to_have_count(0)
    page.reload()
    expect(stub).to_contain_text("keepdims=True", timeout=WAIT)
    expect(checked).to_contain_text("Well done")
    keep(page, "again")


def move(picture):
    """Go to the slider of the moving picture with the Tab key, and to its other end: the weights are those of there."""
    reach(picture.get_by_role("slider", name="temperature"))
    picture.page.keyboard.press("End")
    expect(picture.locator("tbody td:not(.ag-bar)")).to_have_text(["0.337", "0.333", "0.330"])
    assert serious(picture.page, ".ag-moving") == []


def open_with_keys(summary):
    """Go to what is folded with the Tab key, and open it."""
    reach(summary)
    summary.page.keyboard.press("Enter")

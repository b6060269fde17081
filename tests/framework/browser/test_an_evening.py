"""Test an evening of a student's work in a real browser, in JupyterLab and on the site, from the map to a reload.

If the environment variable ``AUTOGRADER_SCREENSHOTS`` names a folder, a picture of each step is saved there.
"""

from __future__ import annotations

import os
import re
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
    """A function that saves a picture of a page under a name, if pictures are requested."""
    folder = os.environ.get("AUTOGRADER_SCREENSHOTS")

    def picture(page, name):
        if folder:
            page.screenshot(path=Path(folder) / f"{request.node.name}-{name}.png")

    return picture


def test_the_evening_in_the_site(browser, site, keep, tmp_path):
    """On the site, dark and 820 px wide, a wrong softmax is diagnosed and corrected, and the work is still there after a reload."""
    _, address = site
    with one_page(browser, address, viewport=NARROW, color_scheme="dark", accept_downloads=True) as page:
        page.goto(f"{address}/")
        expect(page.get_by_role("heading", level=1)).to_have_text("Attention from scratch, in NumPy")
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert serious(page) == []
        keep(page, "landing")
        expect(page.locator("#begin")).to_contain_text(
            "In about 10 minutes you write your first function, normalize_rows"
        )
        page.get_by_role("button", name="Download my work").click()
        expect(page.get_by_role("status")).to_contain_text("There is nothing to download yet")
        page.get_by_role("link", name="the map of the course").click()
        evening(page, keep)
        page.goto(f"{address}/")
        expect(page.get_by_text("1 of 5 exercises done, about 33 minutes left")).to_be_visible()
        expect(page.get_by_role("link", name="Next: normalize_rows")).to_be_visible()
        keep(page, "landing-after")
        with page.expect_download() as downloading:
            page.get_by_role("button", name="Download my work").click()
        downloading.value.save_as(tmp_path / "work.zip")
    with zipfile.ZipFile(tmp_path / "work.zip") as work:
        assert work.testzip() is None
        assert "keepdims=True" in work.read(f"{CHAPTER}/{CHAPTER}.ipynb").decode()


def test_on_a_phone_the_notebook_has_the_whole_width(browser, site):
    """At 390 px and in both themes, a link on the first page leads to its exercise, and JupyterLab's panels are closed."""
    _, address = site
    for scheme in ("light", "dark"):
        with one_page(browser, address, viewport={"width": 390, "height": 800}, color_scheme=scheme) as page:
            page.goto(f"{address}/")
            assert serious(page) == []
            page.get_by_role("link", name="soft_lookup", exact=True).click()
            expect(page.get_by_role("heading", name="Exercise 4: soft_lookup")).to_be_in_viewport(timeout=WAIT)
            expect(page.locator(".jp-SideBar:not(.lm-mod-hidden)")).to_have_count(0)
            width = "document.querySelector('.jp-Notebook').getBoundingClientRect().width"
            page.wait_for_function(f"{width} > 370", timeout=WAIT)  # the panels close one after another


@pytest.fixture(scope="module")
def lab_folder(lab_folder, course):
    """The course as ``autograder start`` sets it up."""
    set_up_course(handout(course.root, print), lab_folder)
    return lab_folder


def test_the_evening_in_jupyterlab(browser, lab, keep):
    """The same evening works in JupyterLab, dark and 820 px wide."""
    with one_page(browser, lab.address, viewport=NARROW) as page:
        set_theme(page, lab, "JupyterLab Dark")
        page.goto(lab.tree("index.ipynb"))
        evening(page, keep)


def test_the_map_leads_to_an_exercise(browser, lab):
    """A link on the map opens the chapter at the exercise, even in JupyterLab with its default settings."""
    with one_page(browser, lab.address, viewport={"width": 820, "height": 3000}) as page:
        set_theme(page, lab, "JupyterLab Light")
        address = f"{lab.address}/lab/api/settings/@jupyterlab/notebook-extension:tracker"
        assert page.request.put(address, data={"raw": '{"windowingMode": "full"}'}).ok
        page.goto(lab.tree("index.ipynb"))
        link = page.get_by_role("link", name="softmax", exact=True)
        link.wait_for(timeout=WAIT)
        assert serious(page, ".jp-RenderedMarkdown") == []
        link.click()
        expect(page.get_by_role("heading", name="Exercise 3: softmax")).to_be_in_viewport(timeout=WAIT)


def evening(page, keep):
    """Work on the course, starting from its map, using the keyboard except for two clicks."""
    overview = page.locator(".jp-Notebook", has_text="Attention from scratch").last
    expect(page.locator("#jupyterlab-splash")).to_have_count(0, timeout=WAIT)
    overview.get_by_role("link", name=TITLE).first.wait_for(timeout=WAIT)
    assert serious(page, ".jp-RenderedMarkdown") == []
    keep(page, "map")
    overview.get_by_role("link", name="softmax", exact=True).click()  # in the table of exercises
    code = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell")
    stub = code.filter(has_text="def softmax").first
    checked = code.filter(has_text="check(softmax)").first
    checked.wait_for(state="attached", timeout=WAIT)
    expect(page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")).not_to_contain_text(re.compile(r"\d points?\b"))
    keep(page, "chapter")
    type_and_run(checked)
    expect(checked).to_contain_text("`check` is defined in the cell that begins `import numpy as np`.")
    type_and_run(code.nth(0))
    for _ in range(2):  # the second cell is folded: j and k skip it, but Shift+Enter does not
        page.keyboard.press("Shift+Enter")

    rewrite(stub, WRONG)
    type_and_run(checked)
    expect(checked).to_contain_text("one maximum for the whole array")
    keep(page, "wrong")
    checked.get_by_text("Hint 1 of 3").click()
    expect(checked.locator("details[open]")).to_have_count(1)
    keep(page, "hint")
    assert serious(page, ".ag-card") == []

    rewrite(stub, ENDLESS)
    type_and_run(checked)
    expect(checked).to_contain_text("was stopped after 3 seconds")
    expect(checked).to_contain_text("while True:")
    keep(page, "endless")

    rewrite(stub, RIGHT)
    type_and_run(checked)
    expect(checked).to_contain_text("Well done")
    break_and_repair(stub, checked)
    type_and_run(code.filter(has_text="def soft_lookup").first, LOOKUP)
    moving = predict(code)
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

    save(page)
    page.reload()
    expect(stub).to_contain_text("keepdims=True", timeout=WAIT)
    expect(checked).to_contain_text("Well done")
    keep(page, "again")


def save(page):
    """Save the notebook, and wait until it is saved."""
    page.keyboard.press("Control+s")
    unsaved = page.locator(".lm-TabBar-tab.lm-mod-dirty, .lm-TabBar-tab.jp-mod-dirty", has_text=CHAPTER)
    expect(unsaved).to_have_count(0, timeout=WAIT)


def rewrite(stub, code):
    """Replace the code of a cell and run it, without saving the new code.

    The site saves every five seconds. On a busy machine, a save that began before the edit could end after the run. Then ``check``
    would find the earlier code in the newer file. So save first: a saved notebook is not saved again before it changes.
    """
    select(stub)
    save(stub.page)
    type_and_run(stub, code)


def look(code):
    """Run the cell that draws softmax's picture, and check that the text below it is the image's description."""
    picture = code.filter(has_text='@requires("softmax")').first
    type_and_run(picture)
    described = re.compile(r"What the picture shows\. On the left are the weights of four scores")
    expect(picture.locator(".jp-OutputArea img")).to_have_attribute("alt", described)


def predict(code):
    """Look at a picture, type a prediction, and return the cell of the interactive picture, which appears only after a prediction."""
    look(code)
    type_and_run(code.filter(has_text="guess_temperature =").first, "guess_temperature = 0.5")
    moving = code.filter(has_text='prediction="guess_temperature"').first
    type_and_run(moving)
    return moving


def break_and_repair(stub, checked):
    """Break the function by a syntax error, so that the earlier function remains but is not checked. Then repair and check it."""
    rewrite(stub, f"{RIGHT})")
    type_and_run(checked)
    expect(checked).to_contain_text(
        "Python could not parse the cell of `softmax` (a SyntaxError), so `softmax` is still"
    )
    rewrite(stub, RIGHT)
    type_and_run(checked)
    expect(checked).to_contain_text("Well done")


def move(picture):
    """Move the slider of the interactive picture to its end with the keyboard, and check that the picture shows the weights for it."""
    reach(picture.get_by_role("slider", name="temperature"))
    picture.page.keyboard.press("End")
    expect(picture.locator("tbody td:not(.ag-bar)")).to_have_text(["0.337", "0.333", "0.330"])
    assert serious(picture.page, ".ag-moving") == []


def open_with_keys(summary):
    """Go to a folded part with the Tab key, and open it."""
    reach(summary)
    summary.page.keyboard.press("Enter")

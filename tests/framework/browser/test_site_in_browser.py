"""Test the site's additions to JupyterLab in a real Chromium: the notebook's full width on a phone, and links on cards."""

from __future__ import annotations

from contextlib import suppress

import pytest
from playwright.sync_api import expect

from tests.framework.browser.conftest import one_page
from tests.framework.browser.hand import WAIT, run, write

pytestmark = [pytest.mark.slow, pytest.mark.browser]

CHAPTER = "ch0_orientation"
RIGHT = "def normalize_rows(A):\n    return A / A.sum(axis=1, keepdims=True)"
PHONE = {"width": 390, "height": 800}


def test_the_list_of_files_opens_only_for_the_reader(browser, site):
    """On a phone, the list of files closes again if JupyterLab opens it by itself. If the reader opens it, it stays open."""
    _, address = site
    with one_page(browser, address, viewport=PHONE) as page:
        page.goto(f"{address}/lab/index.html?path={CHAPTER}/{CHAPTER}.ipynb")
        page.locator(".jp-Notebook .jp-CodeCell").first.wait_for(timeout=WAIT)
        page.wait_for_function("() => jupyterapp.shell.leftCollapsed", timeout=WAIT)
        files = page.locator(".jp-FileBrowser")
        page.evaluate("jupyterapp.shell.activateById('filebrowser')")
        expect(files).not_to_be_visible()
        whole = "() => document.querySelector('.jp-Notebook').getBoundingClientRect().width > 370"
        page.wait_for_function(whole, timeout=WAIT)
        for _ in range(5):  # JupyterLab adds its shortcuts some time after it shows the notebook
            page.keyboard.press("Control+Shift+F")
            with suppress(AssertionError):
                expect(files).to_be_visible(timeout=2000)
                break
        expect(files).to_be_visible()
        page.evaluate("jupyterapp.shell.activateById('filebrowser')")
        expect(files).to_be_visible()


def test_the_next_exercise_is_a_link(browser, site):
    """On the card of the first exercise, "Next is pairwise_dot" leads to the second one, far below in the same notebook."""
    _, address = site
    with one_page(browser, address, viewport={"width": 1200, "height": 800}) as page:
        page.goto(f"{address}/lab/index.html?path={CHAPTER}/{CHAPTER}.ipynb")
        code = page.locator(".jp-Notebook .jp-CodeCell")
        code.first.wait_for(timeout=WAIT)
        run(code.first)
        stub = code.filter(has_text="def normalize_rows").first
        write(stub, RIGHT)
        run(stub)
        checked = code.filter(has_text="check(normalize_rows)").first
        run(checked)
        heading = page.get_by_role("heading", name="Exercise 2: pairwise_dot")
        expect(heading).not_to_be_in_viewport()
        checked.get_by_role("link", name="Next is pairwise_dot").click()
        expect(heading).to_be_in_viewport()

"""A student's actions in JupyterLab: open a notebook, write into a cell, run it, and add a cell below."""

from __future__ import annotations

import json
import re
from contextlib import suppress

from playwright.sync_api import expect

from tests.support.browser import browser_file

WAIT = 120_000  # milliseconds, at most


def set_theme(page, lab, theme):
    """Choose a theme, decline the offer of news that would cover the notebook, and let JupyterLab render every cell."""
    settings = {
        "apputils-extension:themes": {"theme": theme},
        "apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
        "notebook-extension:tracker": {"windowingMode": "none"},  # otherwise, hidden cells are not rendered
    }
    for name, values in settings.items():
        address = f"{lab.address}/lab/api/settings/@jupyterlab/{name}"
        answer = page.request.put(address, data={"raw": json.dumps(values)})
        assert answer.ok, answer.text()


def open_notebook(page, lab, path):
    """Open a notebook in a new tab, and return its code cells once they are rendered."""
    page.goto(lab.doc(path))
    page.locator("#jupyterlab-splash").wait_for(state="detached", timeout=WAIT)
    code = page.locator(".jp-Notebook .jp-CodeCell")
    code.first.wait_for(timeout=WAIT)
    return code


def run(cell):
    """Run one cell with the mouse, and wait until it is done. Open the cell first if it is folded."""
    folded = cell.locator(".jp-InputPlaceholder")
    if folded.count():
        folded.click()
    prompt = cell.locator(".jp-InputPrompt")
    before = re.compile(re.escape(prompt.inner_text().strip() or "[ ]"))
    for _ in range(30):
        # JupyterLab ignores keys while it is starting. So press until the prompt shows that the cell runs.
        cell.locator(".cm-content").click()
        cell.page.keyboard.press("Control+Enter")
        with suppress(AssertionError):
            expect(prompt).not_to_have_text(before, timeout=4_000)
            break
    expect(prompt).to_have_text(re.compile(r"\[\d+\]"), timeout=WAIT)


def type_and_run(cell, code=None):
    """Using only the keyboard, go to a cell, replace its content with ``code``, run it and wait until it is done."""
    keys, prompt = cell.page.keyboard, cell.locator(".jp-InputPrompt")
    select(cell)
    if code is not None:
        keys.press("Enter")
        keys.press("Control+A")
        keys.insert_text(code)
        # The editor splits the text into lines when it has received it. Before that, Control+Enter would run the earlier text.
        expect(cell.locator(".cm-line")).to_have_text(code.split("\n"), timeout=WAIT)
    folded = cell.locator(".jp-InputPlaceholder").count()  # a folded cell has no prompt
    before = None if folded else prompt.inner_text().strip() or "[ ]:"
    for _ in range(30):
        # As in `run`, JupyterLab ignores keys while it is starting.
        keys.press("Control+Enter")
        with suppress(AssertionError):
            if folded:
                expect(cell.locator(".jp-OutputArea-child").first).to_be_visible(timeout=20_000)
                return
            expect(prompt).not_to_have_text(before, timeout=4_000)
            break
    assert not folded, "no output appears below the folded cell"
    expect(prompt).to_have_text(re.compile(r"\[\d+\]"), timeout=WAIT)


def select(cell):
    """Select a cell of the notebook with the keys j and k, wherever the focus was.

    These keys skip a folded cell. So the cell above it is selected and run, which moves the selection to the folded cell.
    """
    keys = cell.page.keyboard
    if cell.locator(".jp-InputPlaceholder").count():
        select(cell.locator("xpath=preceding-sibling::*[contains(@class, 'jp-Cell')][1]"))
        keys.press("Shift+Enter")
        expect(cell).to_have_class(re.compile("jp-mod-selected"))
        return
    down = """cell => {
        const cells = [...cell.closest(".jp-Notebook").querySelectorAll(".jp-Cell")];
        return cells.indexOf(cell) - cells.findIndex(one => one.classList.contains("jp-mod-selected"));
    }"""
    keys.press("Escape")
    for _ in range(300):
        distance = cell.evaluate(down)
        if not distance:
            return
        keys.press("j" if distance > 0 else "k")
        if cell.evaluate(down) == distance:
            keys.press("Tab")  # the notebook does not have the focus yet
            keys.press("Escape")
    raise AssertionError("the keyboard does not reach the notebook")


def write(cell, code):
    """Replace the code of a cell with ``code``."""
    cell.locator(".cm-content").click()
    cell.page.keyboard.press("Control+A")
    cell.page.keyboard.insert_text(code)


def add_below(cell, code):
    """Add a cell with ``code`` below ``cell``, and return the new cell."""
    fresh = cell.page.locator(".jp-Notebook .jp-CodeCell.jp-mod-selected")
    cell.locator(".jp-InputPrompt").click()  # selects the cell without writing into it
    cell.page.keyboard.press("b")
    expect(fresh.locator(".jp-InputPrompt")).to_have_text("[ ]:")
    write(fresh, code)
    return cell.page.locator(".jp-Notebook .jp-CodeCell").filter(has_text=code).last


def reach(control):
    """Move the focus to a control, using only the Tab key."""
    keys = control.page.keyboard
    keys.press("Escape")
    for _ in range(40):
        keys.press("Tab")
        if control.evaluate("element => element === document.activeElement"):
            break
    expect(control).to_be_focused()


def serious(page, within=None):
    """Return the serious accessibility problems that axe finds in the page, or in the part ``within``."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(browser_file("axe.min.js").read_text(encoding="utf-8"))
    if within is not None:
        page.locator(within).first.wait_for(timeout=WAIT)
    found = page.evaluate("within => axe.run(within ?? document)", within)["violations"]
    return [
        f"{one['id']}: {one['help']}: {node['html'][:200]}"
        for one in found
        if one["impact"] in {"serious", "critical"}
        for node in one["nodes"]
    ]

"""What a student's hand does in JupyterLab: open a notebook, write into a cell, run it, add one below."""

from __future__ import annotations

import json
import re
from contextlib import suppress

from playwright.sync_api import expect

WAIT = 120_000  # milliseconds; an upper bound, never slept through


def set_theme(page, lab, theme):
    """Choose a theme, decline the offer of news that would lie over the notebook, and have every cell drawn."""
    settings = {
        "apputils-extension:themes": {"theme": theme},
        "apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
        "notebook-extension:tracker": {"windowingMode": "none"},  # else cells out of sight are not on the page
    }
    for name, values in settings.items():
        address = f"{lab}/lab/api/settings/@jupyterlab/{name}"
        answer = page.request.put(address, data={"raw": json.dumps(values)})
        assert answer.ok, answer.text()


def open_notebook(page, lab, path):
    """Open a notebook in a tab of its own, and give its code cells when they are there."""
    page.goto(f"{lab}/doc/tree/{path}?reset")
    page.locator("#jupyterlab-splash").wait_for(state="detached", timeout=WAIT)
    code = page.locator(".jp-Notebook .jp-CodeCell")
    code.first.wait_for(timeout=WAIT)
    return code


def run(cell):
    """Run one cell by hand, for the first time or once more, and wait until it is done."""
    prompt = cell.locator(".jp-InputPrompt")
    before = re.compile(re.escape(prompt.inner_text().strip() or "[ ]"))
    for _ in range(30):
        # JupyterLab drops keys while it is still setting itself up: press until the prompt says that the cell runs.
        cell.locator(".cm-content").click()
        cell.page.keyboard.press("Control+Enter")
        with suppress(AssertionError):
            expect(prompt).not_to_have_text(before, timeout=4_000)
            break
    expect(prompt).to_have_text(re.compile(r"\[\d+\]"), timeout=WAIT)


def write(cell, code):
    """Put code in place of what stands in a cell."""
    cell.locator(".cm-content").click()
    cell.page.keyboard.press("Control+A")
    cell.page.keyboard.insert_text(code)


def add_below(cell, code):
    """A new cell with that code below another one."""
    fresh = cell.page.locator(".jp-Notebook .jp-CodeCell.jp-mod-selected")
    cell.locator(".jp-InputPrompt").click()  # selects the cell without writing into it
    cell.page.keyboard.press("b")
    expect(fresh.locator(".jp-InputPrompt")).to_have_text("[ ]:")
    write(fresh, code)
    return cell.page.locator(".jp-Notebook .jp-CodeCell").filter(has_text=code).last

"""Test the course's interactive pictures in JupyterLab: by keyboard and mouse, in both themes, after a reload, and untrusted.

If the environment variable ``AUTOGRADER_SCREENSHOTS`` names a folder, each picture is saved there in both themes.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import nbformat
import numpy as np
import pytest
from playwright.sync_api import expect

from autograder.authoring.simulate import reference_code, solved_notebook
from autograder.course.course import load_course
from autograder.grading.document import kept_pictures
from autograder.sandbox.protocol import CodeCell
from solutions.ch1_weighted_averaging import soft_lookup
from tests.framework.browser.hand import open_notebook, reach, run, serious, set_theme
from tests.support import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.browser]

COURSE = load_course(ROOT)
CHAPTERS = {
    "temperature": "ch1_weighted_averaging",
    "scale": "ch3_scaling",
    "masks": "ch4_masking",
    "heads": "ch5_multi_head",
    "window": "ch6_complexity",
}


def solved_cells(name, chapter):
    """Return the sources of two cells: all solved code before a chapter's interactive picture, and the picture's own code."""
    cells = solved_notebook(COURSE, chapter, reference_code(COURSE, chapter))["cells"]
    place = next(i for i, cell in enumerate(cells) if cell["id"] == f"moving-{name}")
    texts = ["".join(cell["source"]) for cell in cells[: place + 1] if cell["cell_type"] == "code"]
    texts = [text.replace("= None", "= 1") if text.startswith("guess_") else text for text in texts]  # predictions
    plain = [text for text in texts[:-1] if not text.startswith(("check(", "@requires", "print("))]
    return "\n\n\n".join(plain), texts[-1]


@pytest.fixture(scope="module")
def lab_folder(lab_folder):
    """A folder with one notebook that has all five pictures."""
    sources = [source for name, chapter in CHAPTERS.items() for source in solved_cells(name, chapter)]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, lab_folder / "moving.ipynb")
    return lab_folder


def test_the_reader_moves_every_picture(page, lab, lab_folder):
    """Each picture reacts to keys and the mouse, also after a reload and in the dark theme. In an untrusted notebook, it is static."""
    set_theme(page, lab, "JupyterLab Light")
    code = open_notebook(page, lab, "moving.ipynb")
    for index in range(2 * len(CHAPTERS)):
        run(code.nth(index))
    temperature, scale, masks, heads, window = (code.nth(2 * index + 1) for index in range(len(CHAPTERS)))
    look_at(page, code, "light")

    press(temperature.get_by_role("slider", name="temperature"), "End")
    expect(temperature.locator("tbody td:not(.ag-bar)")).to_have_text([f"{weight:.3f}" for weight in weights_at(100)])
    # The slider handles the arrow keys. JupyterLab, which would move to another cell, does not get them.
    chosen = page.locator(".jp-Notebook .jp-Cell.jp-mod-selected").evaluate("cell => cell.innerText")
    press(temperature.get_by_role("slider"), *["ArrowDown"] * 8)
    expect(temperature.locator("tbody td:not(.ag-bar)")).to_have_text([f"{weight:.3f}" for weight in weights_at(1)])
    expect(temperature.get_by_role("status")).to_have_text("The best key has 2.72 times the weight of the next one.")
    now = page.locator(".jp-Notebook .jp-Cell.jp-mod-selected").evaluate("cell => cell.innerText")
    assert now.split("\n")[0] == chosen.split("\n")[0]

    press(scale.get_by_role("checkbox", name="scaled"), "Space")
    expect(scale.get_by_role("status")).to_contain_text("The best key has 1.000")
    press(masks.get_by_role("slider", name="real words"), "Home")
    expect(masks.get_by_role("status")).to_contain_text("0 of 36 pairs are allowed. The sums of the rows: 0.00 0.00")
    press(heads.get_by_role("radio", name="sat"), "ArrowRight")
    expect(heads.get_by_role("status")).to_contain_text("The query of on looks, for the most part: previous at sat")
    heads.locator("label", has_text="cat").hover()
    expect(heads.get_by_role("status")).to_contain_text("The query of cat looks")
    heads.locator(".ag-title").hover()
    expect(heads.get_by_role("status")).to_contain_text("The query of on looks")
    press(window.get_by_role("slider", name="layers"), "End")
    expect(window.get_by_role("status")).to_contain_text("The last position sees 12 of 12.")

    page.keyboard.press("Control+s")
    expect(page.locator(".jp-mod-dirty")).to_have_count(0)
    set_theme(page, lab, "JupyterLab Dark")
    code = open_notebook(page, lab, "moving.ipynb")
    page.locator("body[data-jp-theme-light='false']").wait_for(state="attached")
    look_at(page, code, "dark")
    press(code.nth(1).get_by_role("slider"), "Home")
    expect(code.nth(1).locator("tbody td").first).to_have_text("1.000")

    saved = json.loads((lab_folder / "moving.ipynb").read_text(encoding="utf-8"))
    the_grader_keeps_the_still_pictures(saved)
    saved["cells"][1]["outputs"][0]["data"]["text/plain"] = "another one's"  # now the notebook is not trusted
    (lab_folder / "untrusted.ipynb").write_text(json.dumps(saved), encoding="utf-8")
    still = open_notebook(page, lab, "untrusted.ipynb").nth(1)
    drawn = still.locator(".ag-moving img")
    expect(drawn).to_have_attribute("alt", "Your weights. temperature: 1. " + WORDS)
    assert drawn.evaluate("image => image.naturalWidth") > 300
    expect(still.get_by_role("slider")).to_have_count(0)


WORDS = (
    "key with score 2: 0.665, key with score 1: 0.245, key with score 0: 0.090. "
    "The best key has 2.72 times the weight of the next one."
)


def look_at(page, code, theme):
    """Check that every picture has its controls, fits into its output area, and is accessible."""
    expect(page.locator(".ag-moving")).to_have_count(len(CHAPTERS))
    expect(page.locator(".ag-moving img")).to_have_count(0)
    assert serious(page, ".ag-moving") == []
    folder = os.environ.get("AUTOGRADER_SCREENSHOTS")
    for index, name in enumerate(CHAPTERS):
        shown = code.nth(2 * index + 1).locator(".ag-moving")
        assert shown.evaluate("one => one.scrollWidth <= one.clientWidth + 1"), name
        if folder:
            shown.screenshot(path=Path(folder) / f"moving-{name}-{theme}.png")


def press(control, *keys):
    """Go to a control with the Tab key, and press ``keys`` there."""
    reach(control)
    for key in keys:
        control.page.keyboard.press(key)


def weights_at(temperature):
    """Return the weights at ``temperature`` that the course's own function gives for the chapter's example."""
    keys = np.array([[2.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    return soft_lookup(np.array([1.0, 1.0]), keys, np.eye(3), temperature=temperature)


def the_grader_keeps_the_still_pictures(saved):
    """Check that the feedback page shows the picture and the text of a submission, but none of its markup."""
    cells = [(2 * index + 1, solved_cells(*one)[1]) for index, one in enumerate(CHAPTERS.items())]
    kept = kept_pictures(saved, [CodeCell(index, f"cell {index}", source) for index, source in cells], 10_000)
    assert [set(kept[index].outputs[0]["data"]) for index, _ in cells] == [{"image/png", "text/plain"}] * len(CHAPTERS)

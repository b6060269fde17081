"""Test the feedback page of a partly right notebook, graded by `autograder grade`, in wide and narrow browser windows.

``AUTOGRADER_PICTURES=docs/images pytest tests/framework/browser/test_feedback_page.py`` takes its pictures again.
"""

from __future__ import annotations

import base64
import os
import re
import struct
import zlib

import pytest
from axe_playwright_python.sync_playwright import Axe

from autograder.authoring.simulate import solved_notebook, write_notebook
from tests.support import ROOT
from tests.support.commands import python

pytestmark = [pytest.mark.slow, pytest.mark.browser]

CHAPTER = "ch1_weighted_averaging"
ANSWERS = {
    "weighted_average": "def weighted_average(weights, X):\n    return weights @ X",
    "hard_lookup": (
        "def hard_lookup(q, K, V):\n    best, i = 0, 0\n    while i < len(K):\n        if K[i] @ q > K[best] @ q:\n"
        "            best = i\n    return V[best]"
    ),
    "softmax": (
        "def softmax(x, axis=-1):\n    biggest = np.max(x, axis=axis)\n    e = np.exp(x - biggest)\n"
        "    return e / e.sum(axis=axis, keepdims=True)"
    ),
    "soft_lookup": (
        "def soft_lookup(q, K, V, temperature=1.0):\n    scores = K @ q / temperature\n"
        "    scores = scores / np.linalg.norm(scores)\n    return softmax(scores) @ V"
    ),
    "quiz_ch1": 'q1 = "a"\nq2 = "b"\nq3 = "b"\nq4 = "a"\nq5 = "b"\nq6 = 0.5',
}


def picture() -> str:
    """Return a PNG of one pixel in base64, as a notebook stores its figures."""
    parts = {b"IHDR": struct.pack(">2I5B", 1, 1, 8, 0, 0, 0, 0), b"IDAT": zlib.compress(b"\0\0"), b"IEND": b""}
    chunks = [struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in parts.items()]
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(chunks)).decode()


@pytest.fixture(scope="module")
def address(course):
    """The address of a feedback page. Its notebook has an endless loop, a lost axis, a superfluous norm, wrong answers and a picture."""
    notebook = solved_notebook(course, CHAPTER, ANSWERS)
    drawing = next(cell for cell in notebook["cells"] if "def where_averages_lie" in "".join(cell["source"]))
    data = {"image/png": picture(), "text/plain": "<Figure size 640x480 with 1 Axes>"}
    drawing["outputs"] = [{"output_type": "display_data", "data": data, "metadata": {}}]
    write_notebook(course.root / "submitted" / "ada" / CHAPTER / f"{CHAPTER}.ipynb", notebook)
    secret = {"AUTOGRADER_COURSE_SECRET": "x" * 40}
    python("-m", "autograder", "grade", CHAPTER, cwd=course.root, status=0, **secret)
    return (course.root / "feedback" / "ada" / CHAPTER / f"{CHAPTER}.html").as_uri()


@pytest.fixture
def page(browser, address):
    """The page in a wide window."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(address)
    yield page
    context.close()


def test_the_first_screen_has_the_mark_and_where_to_begin(page):
    """A sentence names the exercise to begin with, and the title of its section. The link leads to the exercise's code."""
    assert re.fullmatch(r"[\d.]+ of 15 points for ada\.", page.locator(".mark").inner_text())
    begin = page.locator(".begin")
    assert begin.bounding_box()["y"] < 200
    name = begin.locator("a").inner_text()
    assert re.match(
        rf"{name} \((From scores to weights|The soft lookup)\) is a good place to begin: ", begin.inner_text()
    )
    begin.locator("a").click()
    assert page.evaluate("location.hash") == f"#check-{name}"
    assert page.locator("main section").first.locator("h3").inner_text().startswith(f"{name} · ")


def test_only_what_fails_is_open(page):
    """The page is short. Passed exercises, the points and the notebook are folded, and open with a click."""
    assert len(page.locator("body").inner_text().split()) < 900
    folds = page.locator("main > details")
    assert [fold.locator("summary").first.inner_text() for fold in folds.all()] == [
        "Passed exercises (1)", "All points", "The whole notebook",
    ]  # fmt: skip
    card = page.locator("#check-weighted_average .ag-card")
    assert not card.is_visible()
    folds.first.locator("summary").first.click()
    assert card.is_visible()


def test_lines_are_marked_and_the_loop_is_named(page):
    """The endless loop and the line that raised the error are marked in the student's code, above their cards."""
    loop, error = page.locator("#check-hard_lookup"), page.locator("#check-softmax")
    assert loop.locator("mark.here").inner_text().strip() == "while i < len(K):"
    assert "It was in line 3, while i < len(K):." in loop.locator(".ag-card").inner_text()
    assert error.locator("mark.here").inner_text().strip() == "e = np.exp(x - biggest)"
    assert error.locator("mark.here").evaluate("e => getComputedStyle(e).backgroundColor") != "rgba(0, 0, 0, 0)"


def test_checks_that_wait_say_for_what(page):
    """If checks are skipped because an earlier check failed, the card says how many points they are worth and which check must pass first."""
    card = page.locator("#check-soft_lookup .ag-card")
    assert re.search(r"\d checks, worth [\d.]+ points, did not run because “.*” failed\.", card.inner_text())
    assert "not tried" not in card.inner_text()
    assert "skipped" not in card.inner_text()


def test_a_quiz_has_one_line_for_each_wrong_answer(page):
    """Each answer unfolds to show why it is wrong."""
    card = page.locator("#check-quiz_ch1 .ag-card")
    wrong = card.locator("li.ag-failed").all()
    assert len(wrong) >= 4
    assert all(line.bounding_box()["height"] < 40 for line in wrong)
    wrong[0].locator("summary").click()
    assert "is not the answer." in wrong[0].inner_text()


def test_the_notebook_has_formulas_folds_and_described_pictures(page):
    """No Markdown is shown as source, the parts marked *Deep* unfold, and a picture's description is the text below it."""
    page.locator("#notebook > summary").click()
    prose = " ".join(page.locator("#notebook .prose").all_inner_texts())
    assert not re.search(r"\\[a-z]+|\$|</?(details|summary|b)>", prose)
    formula = page.locator("#notebook math[display=block]").first
    assert formula.evaluate("e => e.namespaceURI").endswith("/MathML")
    assert formula.bounding_box()["width"] > 20
    deep = page.locator("#notebook details", has_text="Deep: the bottleneck in numbers").first
    hidden = deep.locator("p").first
    assert not hidden.is_visible()
    deep.locator("summary").click()
    assert hidden.is_visible()
    [image] = page.locator("#notebook img").all()
    assert image.get_attribute("alt").startswith("What the picture shows. The squares are the three rows of X")
    assert page.get_by_text("pictures are missing because the notebook was submitted without them.").count() == 1


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_sound_at_every_width_in_both_themes(browser, address, width, height, scheme):
    """The page fits, requests nothing and runs no script, and axe finds nothing serious, even in folded parts."""
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, bypass_csp=True)
    page, asked, said = context.new_page(), [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.goto(address)
    folder = os.environ.get("AUTOGRADER_PICTURES")
    if folder and scheme == "light":
        page.screenshot(path=ROOT / folder / f"feedback-{width}.png")
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert (asked, said) == ([address], [])
    found = Axe().run(page).response["violations"]
    assert [v["id"] for v in found if v["impact"] in {"serious", "critical"}] == []
    context.close()

"""Test the page about a class in a real browser: it loads nothing, axe finds no problem, and its plots follow the theme."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from autograder.extras.report.content import Names
from autograder.extras.report.report_page import report_page
from tests.framework.extras.report.test_page import large

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The address of a page about two chapters and a class of twenty-five."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    reports = [large(25, chapter) for chapter in ("ch1", "ch2")]
    links = {("ch1", student): "feedback/page.html" for student in reports[0].marks.marks}
    path.write_text(report_page("Large", reports, Names(reports[0].marks.marks, {}), "now", links), encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_about_a_class_is_sound(browser, address, scheme):
    """The page requests nothing, fits on a phone, and axe finds no problem in it, not even in folded parts."""
    context = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme=scheme, bypass_csp=True)
    page, asked, said = context.new_page(), [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.goto(address)
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert (asked, said) == ([address], [])
    found = Axe().run(page).response["violations"]
    assert [v["id"] for v in found] == []
    ink = page.evaluate("getComputedStyle(document.querySelector('svg text')).fill")
    assert ink == page.evaluate("getComputedStyle(document.body).color")
    context.close()


@pytest.fixture(scope="module")
def class_of_400(tmp_path_factory):
    """The address of a page about a class of 400, with links to feedback pages."""
    path = tmp_path_factory.mktemp("large") / "report.html"
    report = large(400)
    links = {("ch", student): f"feedback/{student}.html" for student in report.marks.marks}
    path.write_text(report_page("Large", [report], Names(report.marks.marks, {}), "now", links), encoding="utf-8")
    return path.as_uri()


def test_a_class_of_400_can_be_searched_and_sorted(browser, class_of_400):
    """The page's own policy lets its script run. A search shows matching rows, and a click on a column's heading sorts by that column."""
    page, said = browser.new_page(), []
    page.on("console", lambda message: said.append(message.text))
    page.goto(class_of_400)
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    table = page.locator("table.marks")
    shown = "rows => rows.filter(row => !row.hidden).map(row => row.cells[0].textContent)"
    field = page.get_by_label("Search for a student or a status").last
    field.fill("00123")
    assert table.locator("tbody tr").evaluate_all(shown) == ["student-00123"]
    assert page.locator("label.search output").last.text_content() == "1 of 400"
    field.fill("")
    heads = table.locator("thead button")
    heads.nth(0).click()
    names = table.locator("tbody tr").evaluate_all(shown)
    assert names == sorted(names)
    assert len(names) == 400
    column = "rows => rows.map(row => parseFloat(row.cells[2].textContent))"
    for direction in ("ascending", "descending"):
        heads.nth(2).click()
        marks = table.locator("tbody tr").evaluate_all(column)
        assert marks == sorted(marks, reverse=direction == "descending")
        assert table.locator("thead th").nth(2).get_attribute("aria-sort") == direction
    assert table.locator("a").first.get_attribute("href").startswith("feedback/student-")
    assert said == []
    page.close()

"""The page about a class in a real browser: it asks for nothing, axe finds nothing, and its plots follow the theme."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from autograder.extras.report.content import Names
from autograder.extras.report.report_page import report_page
from tests.framework.extras.report.test_page import large

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The page about two chapters and a class of twenty-five."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    reports = [large(25, chapter) for chapter in ("ch1", "ch2")]
    path.write_text(report_page("Large", reports, Names(reports[0].marks.marks, {}), "now"), encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_about_a_class_is_sound(browser, address, scheme):
    """The page requests nothing, fits on a phone, and axe finds no problem, folded parts included."""
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

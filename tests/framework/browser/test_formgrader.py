"""Tests of nbgrader's formgrader on a graded class: it shows our marks and messages, and manual marks survive the next runs.

nbgrader's own extension runs in a real Jupyter server and a real browser, with a real gradebook.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from autograder.classroom.run import grade_class, handed_in
from autograder.course.course import load_course
from tests.framework.browser.conftest import one_page, serve
from tests.framework.browser.hand import WAIT
from tests.support.books import book_of, with_book
from tests.support.mini import CHAPTER, MAX_SCORE, RIGHT, WRONG_SIGN, copy_course, document, hand_in

pytestmark = [pytest.mark.slow, pytest.mark.browser]

EXERCISE = "to_kelvin"


@pytest.fixture(scope="module")
def graded_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the mini course with a graded class of two."""
    folder = tmp_path_factory.mktemp("graded")
    course = with_book(copy_course(folder))
    hand_in(course, "ada", document(course, **RIGHT))
    hand_in(course, "ben", document(course, **{**RIGHT, EXERCISE: WRONG_SIGN}))
    graded(folder)
    return folder


@pytest.fixture(scope="module")
def server(graded_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a new Jupyter server. Formgrader reads the course's configuration from its folder."""
    with serve(graded_folder, tmp_path_factory.mktemp("home")) as address:
        yield address


@pytest.fixture
def page(browser, server):
    """A page on which formgrader's request for MathJax from its delivery network is blocked."""
    with one_page(browser, server, in_vain="https://cdnjs.cloudflare.com/ajax/libs/mathjax/") as page:
        yield page


def graded(folder):
    """Load the course and grade all submissions, as the next `autograder grade` would."""
    course = load_course(folder)
    return {v.student: v for v in grade_class(course, CHAPTER, handed_in(course, CHAPTER))}


def of_ben(folder):
    """Return the address of ben's notebook in formgrader, the automatic and manual scores of the first exercise, and the total score."""
    with book_of(load_course(folder)) as book:
        notebook = book.find_submission_notebook(CHAPTER, CHAPTER, "ben")
        grade = book.find_grade(f"check_{EXERCISE}", CHAPTER, CHAPTER, "ben")
        return f"formgrader/submissions/{notebook.id}/?index=0", grade.auto_score, grade.manual_score, notebook.score


def score_field(page, server, address):
    """Open Ben's notebook in formgrader, and return the field for the mark of the first exercise."""
    page.goto(f"{server}/{address}")
    field = page.locator("input.score").first
    expect(field).to_be_visible(timeout=WAIT)
    return field


def test_a_mark_by_hand_in_formgrader_outlives_two_more_runs(page, server, graded_folder):
    """Formgrader shows marks and messages. A manual mark that is entered there survives two more runs, in the gradebook and in the total."""
    verdict = graded(graded_folder)["ben"]
    page.goto(f"{server}/formgrader/gradebook/{CHAPTER}/{CHAPTER}")
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(2, timeout=WAIT)
    for score in (verdict.score, MAX_SCORE):  # in the columns of the total and of the code
        shown = re.compile(rf"^\s*{score:g}\s*/\s*{MAX_SCORE:g}\s*$")
        expect(rows.locator("td").filter(has_text=shown)).to_have_count(2)

    address, auto, by_hand, _total = of_ben(graded_folder)
    assert by_hand is None
    field = score_field(page, server, address)
    expect(field).to_have_attribute("placeholder", f"{auto:g}")
    told = re.compile(re.escape(verdict.exercise(EXERCISE).message.split(".")[0]))
    expect(page.locator(f"#{EXERCISE}-comment")).to_have_attribute("placeholder", told)
    expect(page.get_by_role("group", name=EXERCISE)).to_contain_text(told)

    with page.expect_response(lambda answer: "/api/grade/" in answer.url and answer.request.method == "PUT") as saved:
        field.fill("1.5")
        field.press("Tab")
    assert saved.value.ok
    for _run in range(2):
        graded(graded_folder)
        _address, auto, by_hand, total = of_ben(graded_folder)
        assert by_hand == 1.5
        assert total == verdict.score - auto + 1.5
    expect(score_field(page, server, address)).to_have_value("1.5")

"""The page that a student gets back."""

import html.parser
from dataclasses import replace

import pytest

from autograder.base.verdict import CheckResult, ExerciseVerdict, Verdict, redact_verdict
from autograder.grading.document import ReleasedNotebook, restore_cells, write_outcomes, write_verdict
from autograder.pages.feedback import feedback_page, reason_page
from autograder.pages.prose import prose
from autograder.sandbox.protocol import CellOutcome

HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>\x1b[31m'
EXERCISE = ExerciseVerdict(
    "softmax",
    1.0,
    2.0,
    "partial",
    "columns",
    "You normalised the columns.",
    checks=(
        CheckResult("a", "each row sums to 1", "passed", visible=True),
        CheckResult("b", "a closed check", "failed", "It is 7.\ny = 99", reason="It is 7.", example="y = 99"),
        CheckResult("c", "a later check", "not_tried"),
    ),
)


def nb_cell(kind, source, **nbgrader):
    """Return a cell of a released notebook."""
    cell = {"cell_type": kind, "source": source, "metadata": {"nbgrader": nbgrader} if nbgrader else {}}
    return cell | ({"outputs": [], "execution_count": None} if kind == "code" else {})


def graded(prose="# Softmax", code="x = 1", outputs=(), exercise=EXERCISE, **verdict):
    """Return a verdict and its notebook: prose, a plain cell with outputs, a stub, its check cell."""
    marked = {"grade_id": "check_softmax", "solution": False, "grade": True, "locked": True, "points": 2}
    cells = [
        nb_cell("markdown", prose),
        nb_cell("code", code),
        nb_cell("code", "def softmax(x): ...", grade_id="softmax", solution=True, grade=False, locked=False),
        nb_cell("code", "check(softmax)", **marked),
    ]
    released = {"metadata": {}, "cells": cells}
    document = restore_cells(released, ReleasedNotebook(released))
    write_outcomes(document, [CellOutcome(1, tuple(outputs))])
    whole = Verdict("a.ipynb", "ada", "ch1", "graded", None, 1.0, 2.0, "bubblewrap", (exercise,))
    write_verdict(document, [exercise])
    return replace(whole, **verdict), document


def page(setting="message", **parts):
    """Return the page for a disclosure setting."""
    verdict, document = graded(**parts)
    return feedback_page("A course", redact_verdict(verdict, setting), document)


class Reader(html.parser.HTMLParser):
    """Notes the tags and attributes of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        """Note a tag."""
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]


def test_the_page_tells_score_checks_and_mistake():
    """The check cell has the score, every check with its mark, the messages and the identified mistake."""
    text = page()
    for words in ("1 of 2 points", "each row sums to 1", "✓", "✗", "·", "It is 7.", "You normalised the columns."):
        assert words in text
    assert "check(softmax)" not in text
    assert text.index("def softmax") < text.index("You normalised the columns.")


@pytest.mark.parametrize(
    ("setting", "told"), [("title", (False, False)), ("message", (True, False)), ("example", (True, True))]
)
def test_hidden_checks_tell_what_the_course_discloses(setting, told):
    """Each setting shows the title only, title and message, or the example too."""
    text = page(setting)
    assert "a closed check" in text
    assert ("It is 7." in text, "y = 99" in text) == told


def test_what_the_code_put_out_is_on_the_page():
    """Printed text, results, errors and pictures are shown, each with a description."""
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": "printed <here>"},
        {"output_type": "execute_result", "data": {"text/plain": "array([1])"}},
        {"output_type": "display_data", "data": {"image/png": "iVBO\nRw==", "text/plain": "<Figure size 1x1>"}},
        {"output_type": "error", "ename": "NameError", "evalue": "x", "traceback": ["NameError: x"]},
    ]
    text = page(outputs=outputs)
    for words in ("printed &lt;here&gt;", "array([1])", 'src="data:image/png;base64,iVBORw=="', "NameError: x"):
        assert words in text
    assert 'alt="A figure that your code drew: &lt;Figure size 1x1&gt;"' in text


def test_nothing_of_a_students_making_can_act():
    """Markup in names, prose, code, outputs and messages is shown as text. The page runs and loads nothing."""
    exercise = ExerciseVerdict(
        "softmax", 0.0, 2.0, "failed", message=HOSTILE, follow_through=HOSTILE,
        checks=(CheckResult("a", HOSTILE, "failed", HOSTILE, visible=True),),
    )  # fmt: skip
    prose = f"# {HOSTILE}\n\n$a<script>$\n\n[x](javascript:alert(1)) ![y](https://evil.example/p.png) {HOSTILE}\n\n$$<img src=x>$$"
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": HOSTILE},
        {"output_type": "display_data", "data": {"image/png": f"iVBO{HOSTILE}", "text/html": HOSTILE}},
        {"output_type": "display_data", "data": {"image/png": "iVBORw==", "text/plain": HOSTILE}},
    ]
    text = page(prose=prose, code=HOSTILE, outputs=outputs, exercise=exercise, student=HOSTILE, chapter=HOSTILE)
    reader = Reader(text)
    assert not {"script", "iframe", "object", "form", "link", "base"} & set(reader.tags)
    assert not [name for _, name, _ in reader.attributes if name.startswith("on")]
    addresses = [value for _, name, value in reader.attributes if name in {"src", "href"}]
    assert all(value.startswith(("data:image/png;base64,", "#")) for value in addresses)
    assert "\x1b" not in text
    assert "default-src 'none'" in text


def test_the_page_is_accessible():
    """It has a language, a title, one main heading, landmarks, a table with headers, and words for every mark."""
    text = page()
    reader = Reader(text)
    assert ("html", "lang", "en") in reader.attributes
    assert reader.tags.count("h1") == 1
    assert {"title", "header", "main", "nav", "th"} <= set(reader.tags)
    assert reader.tags.count("img") == sum(1 for tag, name, _ in reader.attributes if (tag, name) == ("img", "alt"))
    for words in ("passes", "fails", "not tried"):
        assert f"> {words}: </span>" in text
    targets = {value for _, name, value in reader.attributes if name == "id"}
    assert all(value[1:] in targets for _, name, value in reader.attributes if name == "href" and value.startswith("#"))


def test_prose_keeps_its_form():
    """Headings, lists, tables, code and formulas of a Markdown cell are set as such, the same every time: no random name."""
    prose = "# A\n\n- one\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n`code` and $x_1 < 2$"
    reader = Reader(text := page(prose=prose))
    assert {"h2", "li", "td", "code"} <= set(reader.tags)
    assert "x_1 &lt; 2" in text
    assert page(prose=prose) == text


@pytest.mark.parametrize(
    "text", ["[" * 19_000, "*" * 19_000, "> " * 9_000 + "x", "`" * 19_000 + "x", "a" * 500_000, "![" * 9_000]
)
def test_prose_that_is_hard_on_the_parser_is_shown(text):
    """Nesting and length that no prose has neither crash nor hang the page."""
    assert "<main" in page(prose=text)


def test_an_ungradable_notebook_says_why_and_that_it_is_no_zero():
    """The student reads the reason and that a person will look at it."""
    verdict, _ = graded(status="ungradable", reason="a.ipynb is <empty>.", exercises=())
    text = reason_page("A course", verdict)
    assert "a.ipynb is &lt;empty&gt;." in text
    assert "that is not a zero" in text
    assert "of 2 points" not in text


def test_prose_by_the_megabyte_is_shown_and_not_read_as_markdown():
    """Only the first of a hundred and fifty text cells are rendered, and the rest is shown as typed."""
    verdict, document = graded()
    hard = [{**nb_cell("markdown", f"{n} " + "- a\n" * 4900), "id": f"hard{n}"} for n in range(150)]
    document["cells"] += hard
    text = feedback_page("A course", verdict, document)
    assert text.count("<pre>") > 130
    assert "<li>a" in text
    document["cells"] += [{**nb_cell(kind, "<" * 10**7), "id": kind} for kind in ("markdown", "raw", "markdown")]
    text = feedback_page("A course", verdict, document)
    assert len(text) < 20 << 20
    assert text.count("the rest of this text is not shown") == 3


def test_an_answer_can_be_folded_away_and_nothing_else_acts():
    """``<details>`` with a plain summary folds its content, including Markdown. Other markup is shown as text."""
    html = str(prose("<details><summary>Answer</summary>\n\nIt is *two*.\n\n</details>\n\nNext."))
    assert html.startswith("<details><summary>Answer</summary>")
    assert "<em>two</em>" in html
    assert html.index("</details>") < html.index("Next.")
    for hostile in (
        '<details open ontoggle="alert(1)"><summary>a</summary>\n',
        "<details><summary><img src=x onerror=alert(1)></summary>\n",
        "<details><script>alert(1)</script>\n",
    ):
        assert "&lt;details" in str(prose(hostile)), hostile

"""Test the feedback page."""

import html.parser
import json
import re
from dataclasses import replace

import pytest

from autograder.base.verdict import CheckResult, ExerciseVerdict, LocatedMistake, Verdict, redact_verdict
from autograder.course.notebook import NOT_DRAWN
from autograder.grading.document import ReleasedNotebook, restore_cells, write_outcomes, write_verdict
from autograder.pages.feedback import feedback_page, reason_page
from autograder.pages.prose import prose
from autograder.sandbox.protocol import CellOutcome
from tests.support import ROOT

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
    """Return a verdict and its notebook, which has prose, an ordinary cell with outputs, a stub and a check cell."""
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
    """A parser that records the tags and attributes of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        """Record a tag."""
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]


def test_the_page_tells_score_checks_and_mistake():
    """The page shows the score, every check with its sign, the messages and the identified mistake instead of the check cell."""
    text = page()
    for words in ("1 of 2 points", "each row sums to 1", "✓", "✗", "·", "It is 7.", "You normalised the columns."):
        assert words in text
    assert "check(softmax)" not in text
    assert text.index("def softmax") < text.index("You normalised the columns.")


@pytest.mark.parametrize(
    ("setting", "told"), [("title", (False, False)), ("message", (True, False)), ("example", (True, True))]
)
def test_hidden_checks_tell_what_the_course_discloses(setting, told):
    """Depending on the setting, a hidden check shows only its title, its title and message, or also its example."""
    text = page(setting)
    assert "a closed check" in text
    assert ("It is 7." in text, "y = 99" in text) == told


def test_what_the_code_put_out_is_on_the_page():
    """Printed text, results, errors and pictures are shown, and pictures have a description."""
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": "printed <here>"},
        {"output_type": "execute_result", "data": {"text/plain": "array([1])"}},
        {"output_type": "display_data", "data": {"image/png": "iVBO\nRw==", "text/plain": "<Figure size 1x1>"}},
        {"output_type": "error", "ename": "NameError", "evalue": "x", "traceback": ["NameError: x"]},
    ]
    text = page(outputs=outputs)
    for words in ("printed &lt;here&gt;", "array([1])", 'src="data:image/png;base64,iVBORw=="', "NameError: x"):
        assert words in text
    assert 'alt="&lt;Figure size 1x1&gt;"' in text


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


LOCATED = replace(EXERCISE, misconception=None, located=LocatedMistake("softmax", (1,), "axis"))


@pytest.mark.parametrize(
    ("exercise", "sentence"),
    [
        (LOCATED, "is a good place to begin: a change in line 1 makes all its checks pass. That earns 1 point."),
        (
            replace(LOCATED, located=replace(LOCATED.located, cell="cell 1", lines=(1, 2))),
            "is a good place to begin: a change in line 1 or line 2 of cell 1 makes all its checks pass. That earns 1 point.",
        ),
        (EXERCISE, "is a good place to begin: the card below explains the mistake, and fixing it earns up to 1 point."),
        (replace(EXERCISE, misconception=None), "is a good place to begin: fixing it earns up to 1 point."),
        (replace(EXERCISE, status="not_attempted", checks=()), "is a good place to begin: it comes first."),
        (replace(EXERCISE, status="passed", score=2.0, checks=EXERCISE.checks[:1]), "Well done! There is nothing to fix."),
    ],
)  # fmt: skip
def test_the_page_says_where_to_begin(exercise, sentence):
    """One sentence below the mark says where to begin, even if nothing works yet."""
    [begin] = re.findall(r'<p class="begin">(.*?)</p>', page(exercise=exercise), re.DOTALL)
    assert " ".join(re.sub(r"<[^>]*>", "", begin).split()).endswith(sentence)


def test_the_exercise_that_gains_most_is_first():
    """A quiz is ranked by the points of one question, because a student corrects one answer at a time. The exercise that gains most is first."""
    answered = CheckResult("test_q_is_answered", "question 1 has an answer", "passed")
    wrong = [CheckResult(name, name, "failed", points=1.0) for name in ("test_q", "test_r", "test_s")]
    quiz = ExerciseVerdict("quiz", 0.0, 3.0, "failed", "chose", checks=(answered, *wrong))
    most = replace(EXERCISE, name="attention", score=0.0)
    verdict, document = graded()
    text = feedback_page("A course", replace(verdict, exercises=(quiz, EXERCISE, most)), document)
    assert '<p class="begin"><a href="#check-attention"><code>attention</code></a> is a good place' in text
    assert text.index('id="check-attention"') < text.index('id="check-quiz"') < text.index('id="check-softmax"')
    alone = feedback_page("A course", replace(verdict, exercises=(quiz,)), document)
    assert "is a good place to begin: the next correct answer earns 1 point." in alone


def test_only_what_fails_is_open():
    """Passed exercises, the points and the notebook are folded, and each exercise is shown with its section's title."""
    passed = ExerciseVerdict("mean", 1.0, 1.0, "passed", checks=(CheckResult("a", "adds up", "passed"),))
    verdict, document = graded(prose="# 3 · Weights\n\n## 2 · From *scores* · ★")
    text = feedback_page("A course", replace(verdict, exercises=(EXERCISE, passed)), document)
    assert "<h1>Feedback on 3 · Weights</h1>" in text
    assert "<code>softmax</code> · From *scores*</h3>" in text
    opened = text[: text.index("<details>\n<summary>Passed exercises (1)</summary>")]
    assert "You normalised the columns." in opened
    assert "adds up" not in opened
    assert opened.count("<details") == opened.count("</details>")  # everything before the passed exercises is open
    assert text.index("Passed exercises") < text.index("All points") < text.index("The whole notebook")


def test_lines_that_a_card_quotes_are_marked():
    """The line in which a loop was stopped is marked in the student's code, like a located line."""
    stopped = replace(EXERCISE.checks[1], reason="It was stopped. It was in line 1, `def softmax(x): ...`.")
    text = page("example", exercise=replace(EXERCISE, checks=(stopped,)))
    assert text.count('<mark class="here" title="Look at this line">def softmax(x): ...</mark>') == 2


def test_a_picture_has_the_words_below_it():
    """The text below a picture is its description, in the graded notebook too. An interactive picture also keeps its own text."""
    verdict, document = graded()
    document["cells"].insert(2, nb_cell("markdown", '**What the picture shows.** A `star` "in" $x$.'))
    figure = {"output_type": "display_data", "data": {"image/png": "iVBORw==", "text/plain": "<Figure size 1x1>"}}
    write_outcomes(document, [CellOutcome(1, (figure,))])
    assert (
        document["cells"][1]["outputs"][0]["metadata"]["image/png"]["alt"] == 'What the picture shows. A star "in" x.'
    )
    assert 'alt="What the picture shows. A star &#34;in&#34; x."' in feedback_page("A course", verdict, document)
    figure["data"]["text/plain"] = "T: 1, weight: 0.5"
    write_outcomes(document, [CellOutcome(1, (figure,))])
    assert 'alt="T: 1, weight: 0.5 What the picture shows.' in feedback_page("A course", verdict, document)


def test_missing_pictures_are_counted_once():
    """One sentence for the whole page says how many pictures are missing."""
    text = page(outputs=[{"output_type": "stream", "name": "stdout", "text": f"{NOT_DRAWN}\n"}] * 2)
    assert text.count("2 pictures are missing because the notebook was submitted without them.") == 1
    assert NOT_DRAWN not in text


def test_the_page_is_accessible():
    """The page has a language, a title, one main heading, landmarks, a table with headers, and words for every sign."""
    text = page()
    reader = Reader(text)
    assert ("html", "lang", "en") in reader.attributes
    assert reader.tags.count("h1") == 1
    assert {"title", "header", "main", "nav", "th"} <= set(reader.tags)
    assert reader.tags.count("img") == sum(1 for tag, name, _ in reader.attributes if (tag, name) == ("img", "alt"))
    for words in ("passes", "fails", "waits"):
        assert f"> {words}: </span>" in text
    targets = {value for _, name, value in reader.attributes if name == "id"}
    assert all(value[1:] in targets for _, name, value in reader.attributes if name == "href" and value.startswith("#"))


def test_prose_keeps_its_form():
    """Headings, lists, tables, code and formulas of a Markdown cell are rendered, and rendering them again gives the same HTML."""
    prose = "# A\n\n- one\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n`code` and $x_1 < 2$"
    reader = Reader(text := page(prose=prose))
    assert {"h2", "li", "td", "code"} <= set(reader.tags)
    assert "<msub><mi>x</mi><mn>1</mn></msub><mo>&lt;</mo><mn>2</mn>" in text
    assert page(prose=prose) == text


@pytest.mark.parametrize(
    "text", ["[" * 19_000, "*" * 19_000, "> " * 9_000 + "x", "`" * 19_000 + "x", "a" * 500_000, "![" * 9_000]
)
def test_prose_that_is_hard_on_the_parser_is_shown(text):
    """Extreme nesting or length neither crashes nor hangs the rendering."""
    assert "<main" in page(prose=text)


def test_an_ungradable_notebook_says_why_and_that_it_is_no_zero():
    """The page gives the reason, and says that this is not the same as zero points."""
    verdict, _ = graded(status="ungradable", reason="a.ipynb is <empty>.", exercises=())
    text = reason_page("A course", verdict)
    assert "a.ipynb is &lt;empty&gt;." in text
    assert "not the same as zero points" in text
    assert "of 2 points" not in text


def test_prose_by_the_megabyte_is_shown_and_not_read_as_markdown():
    """Of 150 long text cells, only the first few are rendered, and all others are shown as typed."""
    verdict, document = graded()
    hard = [{**nb_cell("markdown", f"{n}\n\n- a\n\n" + "a " * 9800), "id": f"hard{n}"} for n in range(150)]
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
    assert str(prose("<details><summary><b>Deep: why?</b></summary>\n\nSo.\n\n</details>")).startswith(
        "<details><summary>Deep: why?</summary>"
    )
    assert str(prose("<details><summary>Open</summary>\n\nIt folds the rest of the page.")).startswith("<pre>")
    for hostile in (
        '<details open ontoggle="alert(1)"><summary>a</summary>\n',
        "<details><summary><img src=x onerror=alert(1)></summary>\n",
        "<details><script>alert(1)</script>\n",
    ):
        assert "&lt;details" in str(prose(hostile)), hostile


@pytest.mark.parametrize("path", sorted((ROOT / "source").glob("*/*.ipynb")), ids=lambda path: path.stem)
def test_every_formula_of_the_course_is_rendered(path):
    """No LaTeX or HTML of a notebook is shown as source text."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "markdown":
            html = re.sub(r"<(pre|code)\b.*?</\1>", "", str(prose("".join(cell["source"]))), flags=re.DOTALL)
            assert not re.search(r"\\\\|\$|&lt;/?[a-z]", html), html


@pytest.mark.parametrize(
    "formula",
    [
        r"\href{javascript:alert(1)}{x}", r"\style{position:fixed}{x}", r"\class{skip}{x}", r"\text{<script>alert(1)</script>}",
        r"\color{red;background:url(x)}x", r"\text{&lt;img src=x onerror=alert(1)&gt;}", r"\hspace{9999em}x",
    ],
)  # fmt: skip
def test_a_formula_cannot_act(formula):
    """A formula's MathML has no links, styles or classes, and text in it stays text."""
    reader = Reader(str(prose(f"${formula}$")))
    assert reader.tags[:2] == ["p", "math"]
    assert all(tag.startswith("m") for tag in reader.tags[1:])
    assert {name for _, name, _ in reader.attributes} <= {"display", "stretchy"}


@pytest.mark.parametrize("formula", [r"\frac" * 150, "{" * 900, r"\newcommand{\a}{\a\a}\a", "x" * 1001, r"\left("])
def test_a_formula_that_cannot_be_converted_is_shown_as_typed(formula):
    """If the text between two dollar signs cannot be converted, it is shown as typed."""
    assert f"<code>{formula}</code>" in str(prose(f"${formula}$"))

"""Test cards as text and as HTML: the wording, the layout, and that their content cannot do harm."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest

from autograder.base.verdict import CheckResult, ExerciseVerdict
from autograder.judging.functions import FunctionSubject
from autograder.pages import Card, HintCard, card_html, card_text, hint_html, hint_text, status_text, summary_blocks
from autograder.student.examples import parse_examples, replay
from tests.support import examples_by_hand as by_hand

NASTY = "<script>alert(1)</script> $x$ \"quoted\" 'single' & `<b>code</b>`"


def softmax_card(function, **more):
    """Return the card that check() makes for a softmax function."""
    exercise = parse_examples(by_hand.chapter_data()).exercises["softmax"]
    [verdict] = replay({"softmax": exercise}, FunctionSubject("notebook", {"softmax": function}))
    return Card(verdict, points=4, **more)


def check(status="passed", title="a check", **more):
    """Return one check's result."""
    return CheckResult(title, title, status, **{"visible": True, "points": 1, **more})


def verdict(*checks, status="failed", score=0.0, message="", max_score=None):
    """Return a verdict with these checks."""
    most = float(len(checks)) if max_score is None else max_score
    return ExerciseVerdict("softmax", score, most, status, message=message, checks=checks)


class Reader(HTMLParser):
    """A parser that collects the tags of a fragment and the words that a screen reader reads."""

    def __init__(self, fragment):
        super().__init__()
        self.tags, self.words = [], []
        self._unheard, self._style = 0, False
        self.feed(fragment)
        self.text = re.sub(r"\s+", " ", "".join(self.words))

    def handle_starttag(self, tag, attrs):
        """Record the tag. Content that is hidden from screen readers is skipped."""
        self.tags.append((tag, dict(attrs)))
        self._style = tag == "style"
        self._unheard += dict(attrs).get("aria-hidden") == "true"

    def handle_endtag(self, tag):
        """Record the end of a tag. The only hidden element is a span that contains a sign."""
        self._style = self._style and tag != "style"
        self._unheard -= bool(self._unheard) and tag == "span"

    def handle_data(self, data):
        """Record the words that a screen reader reads."""
        if not self._style and not self._unheard:
            self.words.append(data)


class TestText:
    def test_a_failing_exercise_reads_as_the_course_shows_it(self):
        """The card shows the passed and failed checks, the failing case, the mistake, and the checks that were not run."""
        assert card_text(softmax_card(by_hand.one_maximum, hints_left=2)) == (
            "softmax   1 of 3 points here, 1 more possible when it is graded\n"
            "  ✓ the example worked by hand\n"
            "  ✓ each row sums to 1\n"
            "  ✗ rows of very different size each keep their own weights\n"
            "      2 of the 4 entries are NaN (not a number).\n"
            "      x = np.array([[0.0, 1.0], [2000.0, 2001.0]])\n"
            "      softmax(x) gave  [[nan, nan], [0.2689, 0.7311]]\n"
            "      it should be     [[0.2689, 0.7311], [0.2689, 0.7311]]\n"
            "      Likely mistake: You subtracted one maximum for the whole array. It keeps the\n"
            "      largest row safe, but a row far below it underflows to 0/0. Each slice along\n"
            "      `axis` needs its own maximum: which argument of `max` keeps the axis?\n"
            "  · another axis\n"
            "      It did not run because “rows of very different size each keep their own\n"
            "      weights” failed.\n"
            '  A check that passes covers only its own inputs. hint("softmax") has 2 hints\n'
            "  left. Grading also uses hidden inputs."
        )

    def test_a_pass_is_praised_and_says_what_comes_next(self):
        """The card has one line of praise, the next exercise, and a note about hidden inputs. The last card says that the chapter is done."""
        text = card_text(softmax_card(by_hand.softmax, next_up="soft_lookup", hints_left=2))
        assert " ".join(text.split()).endswith(
            "Well done! All checks here pass. Next is soft_lookup. Grading also uses hidden inputs."
        )
        assert "hint" not in text
        last = " ".join(card_text(softmax_card(by_hand.softmax)).split())
        assert "That was the last exercise of this chapter." in last

    @pytest.mark.parametrize(
        ("outcome", "card", "line"),
        [
            (verdict(check(), status="passed", score=1.0), {"points": 1}, "1 of 1 point"),
            (verdict(check(), check("failed"), score=1.0), {"points": 2}, "1 of 2 points"),
            (
                verdict(check(), check("failed", points=0), score=1.0, max_score=1.0),
                {"points": 2},
                "1 of 1 point here, 1 more possible when it is graded, but 1 check fails",
            ),
            (verdict(check(), check("failed"), max_score=0.0), {"points": 2}, "1 of 2 checks passed"),
            (verdict(check("not_tried"), status="not_attempted"), {"points": 2}, "not attempted yet"),
            (verdict(check("not_tried"), status="error"), {"points": 2}, "not found"),
            (verdict(check("not_tried"), status="not_attempted"), {"graded": True}, "0 of 1 point, not attempted"),
            (verdict(check("not_tried"), status="error"), {"graded": True}, "0 of 1 point, not found"),
            (verdict(check("failed"), score=1 / 3), {"graded": True}, "0.33 of 1 point"),
            (verdict(check(), status="passed"), {"well_formed_only": True}, "every answer is valid"),
            (verdict(check("failed")), {"well_formed_only": True}, "not finished yet"),
        ],
    )
    def test_the_first_line_says_how_far_it_is(self, outcome, card, line):
        """The first line gives the points if there are any, and the state in words otherwise."""
        assert card_text(Card(outcome, **card)).splitlines()[0] == f"softmax   {line}"

    def test_a_quiz_promises_no_more_than_was_looked_at(self):
        """Before a quiz is graded, its card says only that the answers are valid, and does not mention hidden inputs."""
        text = card_text(Card(verdict(check(), status="passed", score=1.0), well_formed_only=True))
        assert "Every question has a valid answer." in text
        assert "Well done" not in text
        assert "hidden inputs" not in text

    def test_no_line_is_wider_than_nbgrader_shows(self):
        """Even long arrays and messages are broken into lines that `nbgrader validate` does not cut."""
        long = check("failed", reason="word " * 60, example=f"x = {np.arange(48.0).tolist()}\nf(x) gave  [1, 2]")
        lines = card_text(Card(verdict(long, message="advice " * 50, score=0.0), hints_left=3)).splitlines()
        assert len(lines) > 10
        assert max(map(len, lines)) <= 83

    def test_a_broken_case_can_still_be_pasted(self):
        """A long array is broken after commas, so the lines remain valid Python."""
        values = np.arange(48.0)
        text = card_text(Card(verdict(check("failed", reason="r", example=f"x = np.array({values.tolist()})\nf(x)"))))
        names = {"np": np}
        [case] = re.findall(r"x = np\.array\(.*?\]\)", text, re.DOTALL)
        exec(case, names)  # noqa: S102
        np.testing.assert_array_equal(names["x"], values)

    def test_the_same_finding_is_not_told_twice(self):
        """A second check that fails for the same reason points back to the first, and shows only an example of its own."""
        same = [check("failed", title, reason="`f` returned None.", example="f(x)") for title in ("one", "two")]
        text = card_text(Card(verdict(*same)))
        assert text.count("returned None") == 1
        assert "✗ two\n      The same message as for “one”." in text
        assert text.count("f(x)") == 1
        other = [*same, check("failed", "three", reason="`f` returned None.", example="f(y)")]
        assert "      The same message as for “one”.\n      f(y)" in card_text(Card(verdict(*other)))

    def test_a_hint_is_numbered(self):
        """A hint shows its number and the total number of hints. A small table or code in it keeps its lines."""
        assert hint_text(HintCard("softmax", 2, 3, "Look at it.")) == "softmax   hint 2 of 3\n  Look at it."
        text = hint_text(HintCard("softmax", 1, 1, "See:\n\n    x = 1\n    y = 2\n\nThen think."))
        assert "\n      x = 1\n      y = 2\n" in text

    def test_a_graded_exercise_ends_with_the_note_on_what_it_rests_on(self):
        """The message repeats neither the note nor the check. The note comes last, and no hint or praise follows."""
        failed = check("failed", "an open check", message="It is 3.\nx = 1", reason="It is 3.", example="x = 1")
        note = "Your softmax does better: with a correct scores, it earns 1 of 3 points."
        later = check("not_tried", "a later check")
        told = verdict(check(), failed, later, score=1.0, message=f"{note}\nIt is 3.\nx = 1")
        assert card_text(Card(replace(told, follow_through=note), hints_left=2, graded=True)).splitlines() == [
            "softmax   1 of 3 points",
            "  ✓ a check",
            "  ✗ an open check",
            "      It is 3.",
            "      x = 1",
            "  · a later check",
            "      It did not run because “an open check” failed.",
            "  A check that passes covers only its own inputs. Your softmax does better: with a",
            "  correct scores, it earns 1 of 3 points.",
        ]

    def test_a_check_waits_only_for_one_that_is_there(self):
        """If a check was not run because no function was found, the card does not say that it waits for another check."""
        card = Card(verdict(check("not_tried"), status="error", message="There is no softmax."), graded=True)
        assert card_text(card) == "softmax   0 of 1 point, not found\n  There is no softmax.\n  · a check"

    def test_checks_that_wait_for_the_same_one_share_a_row(self):
        """The row names the check that they wait for, and says how many points depend on it. Other checks wait for the first failed check."""
        failed, second = check("failed", "an example"), check("failed", "another")
        waiting = [check("not_tried", f"later {n}", waits_for="another") for n in (1, 2)]
        told = verdict(check(), failed, second, waiting[0], check("not_tried", "last"), waiting[1])
        text = card_text(Card(told, graded=True))
        assert text.splitlines()[-5:] == [
            "  · 2 checks, worth 2 points, did not run because “another” failed.",
            "      later 1",
            "      later 2",
            "  · last",
            "      It did not run because “an example” failed.",
        ]
        assert "  · 2 checks did not run because “another” failed." in card_text(Card(told))

    def test_a_quiz_has_one_row_for_each_question(self):
        """The row is about the answer if there is one, and otherwise about the missing answer."""
        asked = [
            replace(check(status), name=f"test_q{n}_is_answered")
            for n, status in enumerate(("passed", "passed", "failed"))
        ]
        right = [
            check("passed", "one"),
            check("failed", "two", reason="'b' is not the answer."),
            check("not_tried", "three"),
        ]
        told = verdict(*asked, *(replace(c, name=f"test_q{n}") for n, c in enumerate(right)), score=1.0)
        lines = card_text(Card(told)).splitlines()[1:]
        assert lines[:4] == ["  ✓ one", "  ✗ two", "      'b' is not the answer.", "  ✗ a check"]
        assert card_text(Card(told, is_final=True)).startswith("softmax   1 of 3 checks passed")
        assert "three" not in "".join(lines)
        assert "<details class=\"ag-more\"><summary>two</summary><p>'b'" in unescape(card_html(Card(told)))

    def test_a_brief_card_opens_the_first_failed_check(self):
        """All other failed checks are folded, and the last row counts the checks that pass."""
        checks = [check(), check("failed", "one", reason="first"), check("failed", "two", reason="second"), check()]
        html = card_html(Card(verdict(*checks), graded=True, brief=True))
        assert "one<p>first</p>" in html
        assert "<summary>two</summary><p>second</p></details>" in html
        assert html.index("two") < html.index("<summary>2 checks pass</summary>")

    def test_each_answer_of_a_quiz_is_explained_once(self):
        """The explanation is below its question, and is not repeated in the exercise's message."""
        reason = "{0} is not the answer. It asks for\na key {0}."
        wrong = [check("failed", f"question {n}", reason=reason.format(n), message="m") for n in (1, 2)]
        text = card_text(Card(verdict(*wrong, message="It asks for\na key 1.\nIt asks for\na key 2.")))
        assert [text.count(f"a key {n}.") for n in (1, 2)] == [1, 1]

    def test_an_assertion_of_one_letter_leaves_the_message_alone(self):
        """Only whole lines of a message are removed as repetitions of a check."""
        text = card_text(Card(verdict(check("failed", reason="a", message="a"), message="You have a mask.")))
        assert "You have a mask." in text

    def test_paragraphs_flow_and_lists_keep_their_items(self):
        """Line breaks inside a sentence are removed. Numbered and dashed lines start new lines."""
        hint = "Two\nthings.\n1. One\nmore.\n2. Two.\n\nThey add up to\n1. So:\n- a\n- b"
        blocks = ["Two things.", "1. One more.", "2. Two.", "They add up to 1. So:", "- a", "- b"]
        assert hint_text(HintCard("f", 1, 1, hint)).partition("\n")[2] == "\n  \n".join(f"  {text}" for text in blocks)


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (verdict(check(), status="passed"), "all checks pass"),
        (verdict(check(), check("failed"), status="partial"), "some checks fail"),
        (verdict(check("failed")), "all checks fail"),
        (verdict(check(), check("failed")), "some checks fail"),
        (verdict(check("failed"), check("not_tried")), "some checks fail"),
        (verdict(check("not_tried"), status="not_attempted"), "not attempted"),
    ],
)
def test_a_standing_is_true_of_the_checks(outcome, words):
    """The status depends on which checks pass or fail, and not on the points. Checks that were not run do not count as failed."""
    assert status_text(outcome) == words


class TestRemarks:
    def test_a_comment_takes_the_message_and_the_note(self):
        """The comment has the message without the note, followed by the note."""
        told = replace(verdict(check("failed"), message="A note.\nYou misread it."), follow_through="A note.")
        assert [text for _, text in summary_blocks(told)] == ["You misread it.", "A note."]

    def test_a_recognised_mistake_is_enough(self):
        """If the mistake is identified, only its message is shown. Otherwise, the first failed check shows its case."""
        failed = check("failed", reason="It\nis 3.", example="x = 1\nf(x)", message="It\nis 3.\nx = 1\nf(x)")
        named = replace(verdict(failed, message="You misread\nit."), misconception="misread")
        assert summary_blocks(named) == [("prose", "Likely mistake: You misread it.")]
        unnamed = verdict(failed, check("failed", "b"), message="It\nis 3.\nx = 1\nf(x)\nA cell was copied.")
        assert summary_blocks(unnamed) == [
            ("prose", "It is 3."),
            ("verbatim", "x = 1\nf(x)"),
            ("prose", "A cell was copied."),
        ]

    def test_without_a_message_it_names_the_first_check(self):
        """Without a message, the comment names the first failed check. If all checks pass, there is no comment."""
        told = summary_blocks(verdict(check(), check("failed", "b"), check("failed", "c")))
        assert told == [("prose", "This check fails: b.")]
        assert summary_blocks(verdict(check(), status="passed")) == []


class TestHtml:
    def test_a_message_flows_and_an_array_keeps_its_shape(self):
        """A paragraph is one line of HTML, whatever its line breaks in the source. An indented block is kept."""
        html = hint_html(HintCard("f", 1, 1, "It should be `the\nmask`:\n\n    [[1, 2],\n     [3, 4]]"))
        assert "<p>It should be <code>the mask</code>:</p>" in html
        assert "[[1, 2],\n [3, 4]]</pre>" in html

    def test_nothing_in_a_card_drives_a_terminal(self):
        """Terminal codes are removed from names, titles, reasons, cases, messages and notes, as text and as HTML."""
        nasty = "red\x1b[31m\u202e \x1b]0;"
        failed = check("failed", nasty, reason=nasty, example=nasty)
        card = Card(ExerciseVerdict(nasty, 0, 1, "failed", None, f"{nasty}?", nasty, (failed, check())), graded=True)
        for shown in (card_text(card), card_html(card)):
            assert not set("\x1b\u202e") & set(shown)
            assert shown.count("red") >= 5
            assert "a check" in shown

    def test_every_text_is_escaped(self):
        """Titles, reasons, cases, messages and names that look like HTML are shown, never run."""
        nasty = check("failed", NASTY, reason=NASTY, example=NASTY)
        exercise = ExerciseVerdict(NASTY, 0.0, 1.0, "failed", message=NASTY, checks=(nasty,))
        reader = Reader(card_html(Card(exercise, hints_left=1)))
        assert {tag for tag, _ in reader.tags} <= {"style", "section", "p", "span", "ul", "li", "pre", "div", "code"}
        assert "<script>alert(1)</script> $x$" in reader.text
        assert not any(name.startswith("on") for _, attributes in reader.tags for name in attributes)
        hint = Reader(hint_html(HintCard(NASTY, 1, 1, NASTY)))
        assert "script" not in {tag for tag, _ in hint.tags}

    def test_dollar_signs_are_left_alone(self):
        """MathJax ignores the card, so a student's `$` stays a dollar sign."""
        tags = Reader(card_html(softmax_card(by_hand.softmax))).tags
        [section] = [attributes for tag, attributes in tags if tag == "section"]
        assert {"mathjax_ignore", "tex2jax_ignore"} <= set(section["class"].split())

    def test_a_screen_reader_hears_each_outcome_in_words(self):
        """Signs are hidden from screen readers and replaced by words, and the card has a name."""
        html = card_html(softmax_card(by_hand.one_maximum))
        assert (html.count(">✓<"), html.count(">✗<"), html.count(">·<")) == (2, 1, 1)
        reader = Reader(html)
        assert "passes: the example worked by hand" in reader.text
        assert "fails: rows of very different size" in reader.text
        assert "waits: another axis" in reader.text
        assert not set("✓✗·") & set(reader.text)
        labels = [attributes.get("aria-label") for tag, attributes in reader.tags if tag == "section"]
        assert labels == ["softmax: 1 of 3 points here, 1 more possible when it is graded"]

    def test_the_case_is_preformatted_and_code_is_marked(self):
        """Columns stay columns, and text between backticks is code."""
        html = card_html(softmax_card(by_hand.one_maximum, hints_left=1))
        assert "softmax(x) gave  [[nan, nan], [0.2689, 0.7311]]\nit should be     [[" in html
        assert "<code>axis</code>" in html
        assert "<code>hint(&quot;softmax&quot;)</code>" in html

    def test_text_and_html_say_the_same(self):
        """Every line of the text card is also in the HTML card."""
        for function in (by_hand.softmax, *by_hand.MESSAGES):
            card = softmax_card(function, hints_left=1, next_up="mean_of")
            heard = Reader(card_html(card)).text
            for line in card_text(card).splitlines():
                words = line.strip(" ✓✗·").replace("`", "").strip()
                assert " ".join(words.split()) in heard.replace("`", ""), line

    def test_colours_come_from_the_theme(self):
        """Each color is one of JupyterLab's variables, with a fallback for other programs."""
        html = card_html(softmax_card(by_hand.softmax))
        style = html[html.index("<style>") : html.index("</style>")]
        colours = re.findall(r"(?<![-\w])(?:color|background|border-left-color):([^;}]+)", style)
        assert colours
        assert all(c == "inherit" or re.fullmatch(r"var\(--jp-[\w-]+,[^)]+\)", c) for c in colours)

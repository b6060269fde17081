"""Tests of what a card folds, opens with a click, and arranges in columns."""

from __future__ import annotations

import re

import pytest

from autograder.base.verdict import CheckResult, ExerciseVerdict
from autograder.pages import Card, card_html, card_text

ADVICE = "You forgot to divide."


def card(example, **more):
    """Return a card with advice and with one check that failed on the case ``example``."""
    check = CheckResult("test", "an example", "failed", "It is 1.", True, 1.0, "It is 1.", example)  # noqa: FBT003
    return Card(ExerciseVerdict("mean", 0.0, 1.0, "failed", "slip", ADVICE, None, (check,)), **more)


@pytest.mark.parametrize(("entries", "folds"), [(3, False), (400, True)])
def test_a_long_case_folds_below_the_advice(entries, folds):
    """A short case is shown above the advice. In a terminal, which cannot fold, a long case comes last."""
    example = f"x = np.array({[1.0] * entries})\nmean(x) gave  1\nit should be  2"
    html, text = card_html(card(example)), card_text(card(example))
    assert (html.index(ADVICE) < html.index("np.array")) == folds
    assert ("<summary>The input and the result</summary>" in html) == folds
    assert (text.index(ADVICE) < text.index("np.array")) == folds


def test_each_hint_opens_by_itself():
    """Each hint is a ``<details>`` element that needs no script, and its content is escaped."""
    html = card_html(card("", hints=("Print the <shape>.", "Look at `axis`."), hints_left=1))
    assert re.findall(r"<details><summary>(.*?)</summary>(.*?)</details>", html) == [
        ("Hint 1 of 2", "<p>Print the &lt;shape&gt;.</p>"),
        ("Hint 2 of 2", "<p>Look at <code>axis</code>.</p>"),
    ]
    assert "script" not in html
    assert "onclick" not in html


def test_a_long_call_stands_above_its_result():
    """If there is no room for the result next to the call, it is shown below. Both results start in the same column."""
    call = "multi_head_attention(case_X_q, case_X_kv, 2)"
    text = card_text(card(f"{call} gave  [1, 2]\nit should be{' ' * 37}  [3, 4]"))
    lines = [line.strip() for line in text.splitlines()]
    assert lines[3:6] == [call, "gave          [1, 2]", "it should be  [3, 4]"]
    assert "f(x) gave     1\n      it should be  2" in card_text(card("f(x) gave     1\nit should be  2"))

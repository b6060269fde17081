"""What feedback tells of hidden checks, and how an outcome reads."""

import pytest

from autograder.feedback.disclosure import disclosed_exercise
from autograder.render.outcome import clean, exercise_html, exercise_text, points
from autograder.verdict import CheckResult, ExerciseVerdict

SEEN = CheckResult(
    "seen", "an open check", "failed", "It is 3.\nx = 1", visible=True, reason="It is 3.", example="x = 1"
)
UNSEEN = CheckResult("unseen", "a closed check", "failed", "It is 7.\ny = 99", reason="It is 7.", example="y = 99")
WAITING = CheckResult("later", "a later check", "not_tried")


def outcome(*checks, **more):
    """A failed exercise with these checks."""
    return ExerciseVerdict("f", 0.0, 2.0, "failed", checks=checks, **more)


@pytest.mark.parametrize(
    ("setting", "there", "gone"),
    [
        ("title", ["a closed check"], ["It is 7", "y = 99", "misread"]),
        ("message", ["a closed check", "It is 7", "misread"], ["y = 99"]),
        ("example", ["a closed check", "It is 7", "y = 99", "misread"], []),
    ],
)
def test_a_hidden_check_tells_what_the_setting_allows(setting, there, gone):
    """Its title always, what was found at "message", the case that shows it at "example" only; in text and in HTML."""
    told = disclosed_exercise(outcome(UNSEEN, message="You misread it."), setting)
    for shown in (exercise_text(told), exercise_html(told)):
        assert all(words in shown for words in there)
        assert not any(words in shown for words in gone)


@pytest.mark.parametrize("setting", ["title", "message", "example"])
def test_a_visible_check_is_told_in_full(setting):
    """The student can run it, so there is nothing to keep back, nor about the mistake behind it."""
    shown = exercise_text(disclosed_exercise(outcome(SEEN, UNSEEN, message="You misread it."), setting))
    assert "x = 1" in shown
    assert "You misread it." in shown


def test_the_exercises_message_cannot_carry_a_hidden_case():
    """Where the exercise repeats what its first failing check found, the case is cut out there as well."""
    for setting in ("title", "message"):
        told = disclosed_exercise(outcome(UNSEEN, message="It is 7.\ny = 99\nA note."), setting)
        assert "y = 99" not in exercise_text(told)


def test_an_outcome_reads_well_as_text():
    """One line a check, its message below it, and what is said of the whole once, at the end."""
    told = exercise_text(outcome(SEEN, WAITING, message="It is 3.\nx = 1", follow_through="But g is right."))
    assert told.splitlines() == [
        "f   0 of 2 points   no check passed",
        "  ✗ an open check",
        "      It is 3.",
        "      x = 1",
        "  · a later check   (waits for a check above)",
        "  But g is right.",
    ]


def test_everything_is_escaped_and_nothing_rests_on_colour():
    """Markup and terminal codes in titles and messages are text; marks say in words what they mean."""
    hostile = CheckResult("a", "<b>t</b>", "failed", "\x1b[31m<script>alert(1)</script>\x1b[0m", visible=True)
    html = exercise_html(outcome(hostile, message='"><img src=x onerror=1>'))
    assert "<script" not in html
    assert "<img" not in html
    assert "<b>" not in html
    assert "\x1b" not in html
    assert 'aria-label="failed"' in html
    assert html.startswith('<section class="outcome tex2jax_ignore"')  # a formula in a message is text, too


def test_text_is_cleaned_and_points_are_worded():
    """Control characters go, line breaks stay; a single point is not plural."""
    assert clean("a\x1b]0;title\x07b\r\nc\x00\u202ed\te") == "ab\ncd\te"
    assert points(0.5, 1) == "0.5 of 1 point"
    assert points(1 / 3, 2) == "0.333333 of 2 points"

"""Tests of what feedback discloses about hidden checks."""

import pytest

from autograder.base.verdict import CheckResult, ExerciseVerdict, disclosed_exercise
from autograder.pages import Card, card_html, card_text

FOUND = {"message": "It is 3.\nx = 1", "reason": "It is 3.", "example": "x = 1"}
SEEN = CheckResult("seen", "an open check", "failed", visible=True, **FOUND)
UNSEEN = CheckResult("unseen", "a closed check", "failed", "It is 7.\ny = 99", reason="It is 7.", example="y = 99")


def outcome(*checks, **more):
    """Return a failed exercise with these checks."""
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
    """The title is always shown, the message with "message" and "example", and the case only with "example", in text and HTML."""
    told = disclosed_exercise(outcome(UNSEEN, message="You misread it."), setting)
    for shown in (card_text(Card(told, graded=True)), card_html(Card(told, graded=True))):
        assert all(words in shown for words in there)
        assert not any(words in shown for words in gone)


@pytest.mark.parametrize("setting", ["title", "message", "example"])
def test_a_visible_check_is_told_in_full(setting):
    """Students can run a visible check themselves, so neither its result nor the mistake is hidden."""
    told = disclosed_exercise(outcome(SEEN, UNSEEN, message="You misread it."), setting)
    shown = card_text(Card(told, graded=True))
    assert "x = 1" in shown
    assert "You misread it." in shown


def test_the_exercises_message_cannot_carry_a_hidden_case():
    """If the exercise repeats the message of its first failing check, the case is removed from the exercise's message too."""
    for setting in ("title", "message"):
        told = disclosed_exercise(outcome(UNSEEN, message="It is 7.\ny = 99\nA note."), setting)
        assert "y = 99" not in card_text(Card(told, graded=True))


def test_a_check_that_says_one_letter_takes_none_from_the_message():
    """The exercise's message stays unchanged if it happens to contain the text of a hidden check."""
    closed = CheckResult("unseen", "a closed check", "failed", "a", reason="a")
    told = disclosed_exercise(outcome(SEEN, closed, message="You have a mask."), "title")
    assert told.message == "You have a mask."

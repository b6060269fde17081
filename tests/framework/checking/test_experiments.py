"""Test checks of random results: how many results they use, what they detect and what they accept."""

from math import log, sqrt

import numpy as np
import pytest

from autograder.checking import Average, CheckFailed, Draws, assert_average, assert_drawn

EXPERIMENTS = 5000


def shares_of(logits, temperature):
    """Return the softmax of ``logits / temperature``."""
    e = np.exp((logits - logits.max()) / temperature)
    return e / e.sum()


LIKELY = np.append(log(329), np.zeros(329))
WARMER, COLDER = shares_of(LIKELY, 1.1), shares_of(LIKELY, 1 / 1.1)
TEMPERATURE = Draws(shares_of(LIKELY, 1.0), {"warmer": WARMER, "colder": COLDER})
MISSING = Draws(np.full(60, 1 / 60), {"one token missing": np.append(0, np.full(59, 1 / 59))})


@pytest.mark.parametrize(
    ("test", "effect"), [(TEMPERATURE, "warmer"), (TEMPERATURE, "colder"), (MISSING, "one token missing")]
)
def test_draws_have_the_stated_power(test, effect):
    """Simulated draws with a mistake are rejected with the stated probability."""
    low, high = test.bounds()
    counts = np.random.default_rng(1).multinomial(test.number, test.effects[effect], size=EXPERIMENTS)
    rejected = ((counts < low) | (counts > high)).any(axis=1).mean()
    assert rejected >= test.power - 4 * sqrt(test.power * (1 - test.power) / EXPERIMENTS)


def test_right_draws_are_rejected_as_seldom_as_stated():
    """Right draws are rejected at most as often as stated. The stated rate is raised here, because a tiny rate cannot be simulated."""
    test = Draws(TEMPERATURE.shares, TEMPERATURE.effects, false_alarms=0.01)
    low, high = test.bounds()
    counts = np.random.default_rng(2).multinomial(test.number, test.shares, size=EXPERIMENTS)
    rejected = ((counts < low) | (counts > high)).any(axis=1).mean()
    assert 0 < rejected <= 0.01 + 4 * sqrt(0.01 * 0.99 / EXPERIMENTS)


def test_no_fewer_draws_have_the_power():
    """With 5 % fewer draws, the mistake would not be detected reliably enough."""
    assert not MISSING._detects(int(0.95 * MISSING.number))


@pytest.mark.parametrize("skewed", [False, True])
def test_averages_have_the_stated_power(skewed):
    """Averages that are off by the effect are rejected with the stated probability, and right averages are rejected as rarely as stated."""
    draw = np.random.default_rng(3).exponential if skewed else np.random.default_rng(3).normal
    test = Average(1.0, 1.0, effect=0.5, skewness=2.0 * skewed, false_alarms=0.01)
    low, high = test.bounds

    def rejected(shift):
        size = (EXPERIMENTS, test.number)
        results = draw(1.0, size) if skewed else draw(1.0, 1.0, size)
        average = results.mean(axis=1) + shift
        return ((average < low) | (average > high)).mean()

    assert rejected(0.0) <= 0.01 + 4 * sqrt(0.01 / EXPERIMENTS)
    assert min(rejected(0.5), rejected(-0.5)) >= test.power - 4 * sqrt(0.001 / EXPERIMENTS)


def test_a_biased_right_answer_passes_and_a_wrong_one_is_detected():
    """Right answers may be smaller by the bias. An effect on top of the bias is still detected."""
    test = Average(10.0, 1.0, effect=0.3, bias=0.1)
    low, high = test.bounds
    slack = high - 10.0
    assert low == pytest.approx(9.9 - slack)
    assert 9.9 + 0.3 - high > 3 * 1.0 / sqrt(test.number)


def test_impossible_experiments_are_refused():
    """It is an error if the effect does not exceed the bias, or if detecting it needs too many draws."""
    with pytest.raises(ValueError, match=r"An effect of 0\.1 cannot be distinguished from a bias of 0\.2\."):
        _ = Average(1.0, 1.0, effect=0.1, bias=0.2).number
    fair = np.array([0.5, 0.5])
    with pytest.raises(ValueError, match=r"More than a million draws are needed to detect: a loaded coin\."):
        _ = Draws(fair, {"a loaded coin": np.array([0.5001, 0.4999])}).number


@pytest.mark.parametrize(
    ("draws", "message"),
    [
        (np.full(MISSING.number, 3.0), "It gave 3 in {n} of {n} draws, not about {mean}."),
        (np.full(MISSING.number, 61.0), "It gave 61, but only the numbers 0 to 59 can be drawn."),
        (np.full(MISSING.number, 0.5), "Every draw should be a whole number."),
        ("heads", "Every draw should be a whole number."),
    ],
)
def test_messages_about_draws(draws, message):
    """The message says which number was drawn too often, or which draw is impossible."""
    with pytest.raises(CheckFailed) as failed:
        assert_drawn(draws, MISSING)
    assert failed.value.reason == message.format(n=MISSING.number, mean=round(MISSING.number / 60))


def test_messages_about_averages():
    """The message gives the average and its bounds."""
    test = Average(4.0, 1.0, effect=0.5)
    with pytest.raises(CheckFailed) as failed:
        assert_average(np.full(test.number, 5.0), test)
    low, high = test.bounds
    assert failed.value.reason == (
        f"The average of {test.number} results is 5, but it should be between {low:.4g} and {high:.4g}, near 4."
    )
    assert_average(np.full(test.number, 4.1), test)

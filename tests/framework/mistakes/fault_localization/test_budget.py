"""Test the time that all searches of a class share: it is limited by the grading time, and is used for the most frequent mistakes first."""

from autograder.mistakes.fault_localization.notebooks import Budget


class Clock:
    """A clock that only moves when it is told to."""

    now = 100.0

    def __call__(self):
        return self.now


def searched(budget, clock, seconds):
    """Let a search take ``seconds``, which the clock counts too."""
    clock.now += seconds
    budget.consume(seconds)


def test_a_class_of_mistakes_costs_no_more_than_its_share():
    """A thousand searches that each use their full time take 90 seconds and 0.3 of the grading time together."""
    clock = Clock()
    budget, spent, graded = Budget(2.0, clock), 0.0, 0.0
    for _ in range(1000):
        clock.now += 0.1
        graded += 0.1
        seconds = budget.allowance(1)
        searched(budget, clock, seconds)
        spent += seconds
    assert 90 < spent <= 90 + 0.3 * graded


def test_a_mistake_that_more_students_make_may_take_longer():
    """With little time left, only mistakes that several students make are searched for."""
    clock = Clock()
    budget = Budget(2.0, clock)
    assert budget.allowance(1) == 2.0
    searched(budget, clock, 89.5)
    assert budget.allowance(1) == 0.0
    assert 0 < budget.allowance(4) < budget.allowance(8) < 2.0
    searched(budget, clock, 1.0)
    assert budget.left <= 0
    assert budget.allowance(100) == 0.0


def test_a_clock_that_begins_again_takes_no_time_away():
    """If the sandbox is started again, its clock begins at zero. The initial time is not lost."""
    clock = Clock()
    budget = Budget(2.0, clock)
    clock.now = 0.0
    assert budget.allowance(1) == 2.0

"""Test the time that all searches of a class share: it is limited by the grading time, and is used for the most frequent mistakes first."""

from autograder.mistakes.fault_localization.notebooks import Budget


def test_a_class_of_mistakes_costs_no_more_than_its_share():
    """A thousand searches that each use their full time take 90 seconds and 0.3 of the grading time together."""
    budget, spent, graded = Budget(2.0), 0.0, 0.0
    for _ in range(1000):
        budget.add(0.1)
        graded += 0.1
        seconds = budget.allowance(1)
        budget.consume(seconds)
        spent += seconds
    assert 90 < spent <= 90 + 0.3 * graded


def test_a_mistake_that_more_students_make_may_take_longer():
    """With little time left, only mistakes that several students make are searched for."""
    budget = Budget(2.0)
    assert budget.allowance(1) == 2.0
    budget.consume(89.5)
    assert budget.allowance(1) == 0.0
    assert 0 < budget.allowance(4) < budget.allowance(8) < 2.0
    budget.consume(1.0)
    assert budget.is_spent
    assert budget.allowance(100) == 0.0

"""Test the time that all searches of a class share: it is limited by the grading time, and used for the most frequent mistakes."""

from autograder.mistakes.fault_localization.notebooks import Budget


def test_a_class_of_mistakes_costs_no_more_than_its_share():
    """A thousand different mistakes, each of which takes its full time, together take the first budget and 0.3 of the grading time."""
    budget, spent, graded = Budget(2.0), 0.0, 0.0
    for _ in range(1000):
        budget.add(0.1)
        graded += 0.1
        seconds = budget.allowance(1)
        budget.consume(seconds)
        spent += seconds
    assert 90 < spent <= 90 + 0.3 * graded


def test_a_mistake_that_more_students_make_may_take_longer():
    """With little time left, a mistake of a single student is not searched, and a mistake of several students is."""
    budget = Budget(2.0)
    assert budget.allowance(1) == 2.0
    budget.consume(89.5)
    assert budget.allowance(1) == 0.0
    assert 0 < budget.allowance(4) < budget.allowance(8) < 2.0
    budget.consume(1.0)
    assert budget.is_spent
    assert budget.allowance(100) == 0.0

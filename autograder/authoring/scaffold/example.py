"""The exercise of a new course: a small one with all parts that an exercise can have."""

from __future__ import annotations

__all__ = [
    "ALTERNATIVES", "CHAPTER", "CHECKS", "EXERCISE", "MISCONCEPTIONS", "OPENING", "POINTS", "REFERENCE", "STUB", "TASK",
]  # fmt: skip

CHAPTER, EXERCISE, POINTS = "ch1_shares", "shares", 4.0

_FUNCTION = '''\
def shares(amounts):
    """Divide each of the `amounts` (n,), all above 0, by their sum. Example: [1, 3] gives [0.25, 0.75]."""
'''

OPENING = """\
# Shares

A first chapter, with one exercise. Work from top to bottom, and run each cell with Shift and Enter."""

TASK = """\
## Your part of the whole

Ada paid 1 euro and Ben paid 3. What share of the whole did each pay? Write `shares`, run its cell, then run the check below it.
`hint(shares)` in a cell of your own gives a hint."""

STUB = f"{_FUNCTION}    raise NotImplementedError"

REFERENCE = f'''\
"""Reference solutions: the shortest clear code that you would put on a slide."""


{_FUNCTION}    return amounts / amounts.sum()
'''

MISCONCEPTIONS = '''\
"""Wrong solutions, one mistake each. The docstring is what a student reads whose answers are the same."""

from autograder.misconception import misconceptions_of

wrong = misconceptions_of("shares")


@wrong
def the_largest_share_is_one(amounts):
    """You divided by the largest amount, so the largest share is 1 and all together are more than the whole. What is the whole?"""
    return amounts / amounts.max()


@wrong
def in_percent(amounts):
    """Your shares are in percent, and add up to 100. A share is a part of one whole: what should they add up to?"""
    return 100 * amounts / amounts.sum()
'''

ALTERNATIVES = '''\
"""Right solutions, written differently: the checks have to accept them."""

import numpy as np

from autograder.misconception import alternatives_of

right = alternatives_of("shares")


@right.worth_reading
def one_by_one(amounts):
    """Each share is worked out by itself, in a loop over the amounts."""
    whole = sum(amounts)
    return np.array([amount / whole for amount in amounts])
'''

CHECKS = '''\
"""The checks. Those that are visible=True students run themselves; the others are tried when their notebooks are graded."""

import numpy as np

from autograder.checking import Contract, all_categories, array, assert_sums_to_one, check, exercise, pure


@exercise("shares", points=4, takes=Contract({"amounts": array("n", low=0.5, high=1e3)}))
class TestShares:
    """Ada paid 1 of the 4 euros. Which two numbers do you divide?

    `amounts.sum()` is the whole. An array can be divided by a number at once.
    """

    @check(points=1, visible=True)
    def test_small_example(self, agrees):
        """the example worked by hand"""
        agrees.shares(np.array([1.0, 3.0, 4.0]))

    @check(points=0.5, visible=True, after="test_small_example")
    def test_sum(self, student, agrees):
        """all shares together are the whole"""
        amounts = np.array([2.0, 2.0, 1.0, 5.0, 10.0])
        assert_sums_to_one(student.shares(amounts))
        agrees.shares(amounts)
        agrees.shares(np.array([1.00003, 1.00004, 10.0]))  # nearly equal amounts keep shares of their own

    test_every_kind = all_categories(points=2, after="test_small_example")

    test_care = pure(points=0.5, after="test_small_example")
'''

"""Tests of how large the arguments in a child's call may be."""

import numpy as np
import pytest

from autograder.sandbox.session import Size

SMALL = Size.of([np.ones((3, 4)), np.ones((5, 4))])


def zeros(*shapes):
    """Return arrays of the given shapes that take almost no memory."""
    return [np.broadcast_to(0.0, shape) for shape in shapes]


def test_a_size_counts_what_is_made_of_the_arguments():
    """A size records the largest argument, the longest axis, and how large a result of combining all arguments can be."""
    assert Size.of([np.ones((3, 4)), np.ones((5, 4))]) == Size(elements=20, axis=5, axes=2, together=20)
    assert Size.of(zeros((8, 1, 7, 1), (1, 9, 1, 6))).together == 8 * 9 * 7 * 6
    assert Size.of(zeros((2, 30, 4), (2, 50, 4))).together == 2 * 30 * 50
    assert Size.of(zeros((6,))) == Size(elements=6, axis=6, axes=1, together=6)
    assert Size.of([0.5, True, None]) == Size(elements=1, axis=0, axes=0, together=1)
    assert Size.of(zeros((0, 5))) == Size(elements=0, axis=5, axes=2, together=5)


def test_what_lies_in_lists_and_dicts_counts():
    """A list counts as the array that NumPy would make of it."""
    assert Size.of([[[1, 2, 3]] * 4]) == Size(elements=12, axis=4, axes=2, together=12)
    assert Size.of([{"a": np.ones((2, 3)), "b": [1, 2]}, ()]) == Size(elements=8, axis=3, axes=3, together=12)


def test_a_text_counts_as_its_characters():
    """Each string in a list counts with the length of the longest one, as NumPy would store it."""
    assert SMALL.allows(Size.of(["ij,kj->ik", np.ones((3, 4))]))
    assert not SMALL.allows(Size.of([["x" * 60_000] + [""] * 8000]))


@pytest.mark.parametrize(
    ("shapes", "allowed"),
    [
        ([(4, 5), (4, 5)], True),
        ([(2, 4, 40, 40), (40, 40)], True),
        ([(16, 32, 32), (16, 1, 32)], True),
        ([(100, 64), (120, 64), (120, 64)], True),
        ([(512, 32)], True),
        ([(128, 1, 64, 1), (1, 128, 1, 64)], False),
        ([(32, 512, 1), (32, 1, 512)], False),
        ([(128, 128, 1), (1, 512)], False),
        ([(100000, 1)], False),
        ([(1,) * 7], False),
    ],
)
def test_what_is_far_larger_than_an_exercise_asks_of_another_is_not_allowed(shapes, allowed):
    """Usual shapes with heads, batches and masks are allowed. Small arrays whose combined result is huge are not."""
    assert SMALL.allows(Size.of(zeros(*shapes))) is allowed


def test_a_check_of_large_arrays_allows_large_questions():
    """The limit depends on the check's own inputs: long sequences allow large blocks."""
    own = Size.of(zeros((4096, 64), (4096, 64), (4096, 64)))
    assert not SMALL.allows(Size.of(zeros((8, 1024, 4096), (1024, 4096))))
    assert own.allows(Size.of(zeros((8, 1024, 64), (8, 4096, 64))))
    assert own.allows(Size.of(zeros((512, 64), (4096, 64))))

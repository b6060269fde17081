"""Tests of mirror images of misconceptions: a message that is right for a misconception may be wrong for its mirror image."""

import numpy as np

from autograder.authoring.audit import audit
from autograder.authoring.audit.mirror_images import mirror_images, unseparated
from autograder.judging.loader import load_checks
from tests.support.mini import CHAPTER, change

FIRST = '''

wrong = misconceptions_of("to_kelvin")


@wrong
def only_the_first(celsius):
    """You return the first entry only."""
    return (celsius + 273.15)[0]
'''


def test_a_misconception_needs_a_call_that_separates_it_from_its_mirror_image(course):
    """In an array with one entry, the first entry is also the last. An array with two entries separates the misconception from its mirror image."""
    path = course.root / "solutions" / "misconceptions" / f"{CHAPTER}.py"
    path.write_text(path.read_text() + FIRST)
    [gap] = unseparated(load_checks(course, CHAPTER), "to_kelvin")
    assert gap == (
        "to_kelvin: no visible call distinguishes the misconception only_the_first from its mirror image "
        "(`(celsius + 273.15)[0]` → `(celsius + 273.15)[-1]`). Its message may be false for the mirror image. Add an input on which the two "
        "differ, or write a message that fits both."
    )
    [report] = audit(course, [CHAPTER], mutants=False)
    assert gap in report.problems
    change(course.checks(CHAPTER), "x = np.array([0.0])", "x = np.array([0.0, 10.0])")
    assert unseparated(load_checks(course, CHAPTER), "to_kelvin") == []


def mistaken(q, k):
    """Return something wrong."""
    scores = (q * k).sum(axis=-1)
    shifted = np.triu(scores, k=1)
    return shifted[:1] if shifted.shape[0] > len(k) - 1 else q


def test_mirror_images_exchange_roles_ends_axes_and_offsets():
    """Each mirror image makes one change. An index into ``shape`` stays as it is."""
    assert {image.label.removeprefix("mistaken: ") for image in mirror_images(mistaken, "mistaken")} == {
        "q and k swapped",
        "`(q * k).sum(axis=-1)` → `(q * k).sum(axis=-2)`",
        "`np.triu(scores, k=1)` → `np.triu(scores, k=-1)`",
        "`shifted[:1]` → `shifted[:-1]`",
        "`shifted[:1]` → `shifted[-1:]`",
        "`shifted.shape[0] > len(k) - 1` → `shifted.shape[0] > len(k) + 1`",
    }

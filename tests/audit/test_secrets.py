"""What the checks find hangs on the answers, not on the secret that a course happens to draw its inputs from."""

from pathlib import Path

import pytest

from autograder.audit import audit
from autograder.checking.secret import VARIABLE
from autograder.course import load_course

COURSE = load_course(Path(__file__))


@pytest.mark.slow
@pytest.mark.parametrize("secret", ["one course's", "another course's"])
@pytest.mark.parametrize("chapter", COURSE.finished_chapters())
def test_every_course_tells_right_from_wrong_alike(chapter, secret, monkeypatch):
    """With another secret every wrong solution still loses marks and is named, and every right one keeps them."""
    monkeypatch.setenv(VARIABLE, secret)
    [report] = audit(COURSE, [chapter], mutants=False, draws=1)
    assert report.problems == []

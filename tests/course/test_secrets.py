"""What the checks find hangs on the answers, not on the secret that a course happens to draw its inputs from."""

import pytest

from autograder.audit import audit
from autograder.course import load_course
from autograder.judging.secret import VARIABLE
from tests.support import ROOT

COURSE = load_course(ROOT)


@pytest.mark.slow
@pytest.mark.parametrize("secret", ["one course's", "another course's"])
@pytest.mark.parametrize("chapter", COURSE.finished_chapters())
def test_every_course_tells_right_from_wrong_alike(chapter, secret, monkeypatch):
    """With another secret every wrong solution still loses marks and is named, and every right one keeps them."""
    monkeypatch.setenv(VARIABLE, secret)
    [report] = audit(COURSE, [chapter], mutants=False, draws=1)
    assert report.problems == []

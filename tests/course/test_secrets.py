"""Tests that the results of checks depend on the answers, and not on a course's secret."""

import pytest

from autograder.authoring.audit import audit
from autograder.course.course import load_course
from autograder.course.secret import VARIABLE
from tests.support import ROOT

COURSE = load_course(ROOT)


@pytest.mark.slow
@pytest.mark.parametrize("chapter", COURSE.finished_chapters())
def test_every_course_tells_right_from_wrong_alike(chapter, monkeypatch):
    """With a different secret from ``test_truth.py``, wrong solutions still lose marks and are named, and right solutions keep full marks."""
    monkeypatch.setenv(VARIABLE, "another course's")
    # The secrets of ``draws`` do not depend on the course's own, so test_truth.py has already tried them.
    [report] = audit(COURSE, [chapter], mutants=False, draws=0)
    assert report.problems == []

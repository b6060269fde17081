"""Tests that the results of checks depend on the answers, and not on the secret that a course happens to have."""

import pytest

from autograder.authoring.audit import audit
from autograder.course.course import load_course
from autograder.course.secret import VARIABLE
from tests.support import ROOT

COURSE = load_course(ROOT)


@pytest.mark.slow
@pytest.mark.parametrize("chapter", COURSE.finished_chapters())
def test_every_course_tells_right_from_wrong_alike(chapter, monkeypatch):
    """With another secret than in ``test_truth.py`` every wrong solution still loses marks and is named, and no right one does."""
    monkeypatch.setenv(VARIABLE, "another course's")
    [report] = audit(COURSE, [chapter], mutants=False, draws=1)
    assert report.problems == []

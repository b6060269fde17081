"""Tests that a blank or wrong exercise costs no points in a later exercise that calls it."""

import json
from functools import cache, partial

import pytest

from autograder.authoring.simulate import reference_code, solved_notebook
from autograder.course.course import load_course
from autograder.grading.document import ReleasedNotebook
from autograder.grading.submission import Job, Submission
from autograder.judging.judge import Judge
from autograder.judging.loader import known_misconceptions, load_checks
from autograder.sandbox import open_worker
from tests.support import ROOT

COURSE = load_course(ROOT)
PAIRS = [
    (chapter, later, earlier)
    for chapter in COURSE.finished_chapters()
    for later, spec in load_checks(COURSE, chapter).specs.items()
    for earlier in spec.depends_on
]


@cache
def judge_of(chapter):
    """Return the judge of a chapter."""
    return Judge(load_checks(COURSE, chapter))


@pytest.fixture(scope="module")
def worker():
    """Return a worker in bubblewrap."""
    with open_worker(COURSE.limits, list(COURSE.packages), confinement="bubblewrap") as jail:
        yield jail


@pytest.mark.parametrize(("chapter", "later", "earlier"), PAIRS)
@pytest.mark.parametrize("how", ["blank", "wrong"])
def test_a_right_answer_keeps_its_points(worker, chapter, later, earlier, how):
    """The later exercise is judged with the reference in place of the earlier exercise, and earns full marks."""
    code = reference_code(COURSE, chapter)
    del code[earlier]
    if how == "wrong":
        wrong = (one for one in known_misconceptions(COURSE, chapter) if one.exercise == earlier)
        code[earlier] = next(wrong).function
    data = json.dumps(solved_notebook(COURSE, chapter, code)).encode()
    released = ReleasedNotebook.of(COURSE, chapter)
    opened = partial(worker.open, files=released.files)  # the files that the notebook reads
    submission = Submission(Job(ROOT / f"{chapter}.ipynb"), data, released, opened, pictures=False)
    before, after = judge_of(chapter).judge(submission, only=frozenset({earlier, later}))
    assert before.status == "not_attempted" if how == "blank" else before.score < before.max_score
    assert (after.score, after.status) == (after.max_score, "passed"), after.message

"""Test that a notebook gets the same verdict in one process or several, in either sandbox or none, and after an interruption."""

import dataclasses
import difflib
import json

import pytest
from nbgrader.api import Gradebook

from autograder.classroom.run import grade_class, handed_in
from autograder.course.course import load_course
from autograder.extras.demo.demo_run import copy_course
from autograder.extras.demo.students import hand_in, make_class
from autograder.grading.batch import grade_notebooks
from autograder.grading.submission import Job
from autograder.sandbox import SandboxUnavailable, open_worker
from tests.framework.classroom.conftest import class_of_many, given_back
from tests.support import ROOT, mini
from tests.support.books import with_book
from tests.support.nbgrader import nbgrader

HERE = load_course(ROOT)
CLASS = 27
# Kinds of students whose notebooks always reach a time limit, and kinds whose verdicts differ between sandboxes by design.
LEFT_OUT = {"endless loop", "prints without end"}
HONEST_ELSEWHERE = {"reads files", "exits"}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Return a course with at least 120 different submissions, and the kind of student who made each of them."""
    folder = tmp_path_factory.mktemp("corpus") / "course"
    copy_course(HERE, folder)
    with (folder / "course_config.py").open("a") as config:
        config.write(mini.QUICK)  # the result of a search with a time limit may differ on a busy machine
    course = with_book(load_course(folder))
    found = {}
    for chapter in course.finished_chapters()[:5]:
        for student in make_class(CLASS):
            if student.kind in LEFT_OUT:
                continue
            path = course.root / "submitted" / student.id / chapter / f"{chapter}.ipynb"
            path.parent.mkdir(parents=True)
            data = hand_in(course, chapter, student, CLASS).data
            path.write_bytes(data.replace(b'"nbformat_minor": 5', b'"nbformat_minor": 5, "of": "%d"' % student.number))
            found[Job(path, student.id, chapter)] = student.kind
    assert len(found) >= 120
    return course, found


@pytest.fixture(scope="module")
def one_by_one(corpus):
    """Return the verdicts on the corpus, graded one notebook after the other."""
    course, jobs = corpus
    return dict(zip(jobs, grade_notebooks(course, list(jobs)), strict=True))


def anywhere(verdict):
    """Return a verdict without the name of its sandbox."""
    return dataclasses.replace(verdict, sandbox=None)


def differences(found, expected):
    """Return the lines in which two sets of verdicts differ, so that a failure says where."""
    lines = []
    for job in expected:
        if found[job] != expected[job]:
            pair = (json.dumps(verdicts[job].to_json(), indent=1).splitlines() for verdicts in (found, expected))
            lines += [f"{job.student} {job.chapter}", *difflib.unified_diff(*pair, n=0, lineterm="")]
    return lines


def test_side_by_side(corpus, one_by_one):
    """Several processes give every notebook exactly the verdict that one process gives it, in any order."""
    course, jobs = corpus
    backwards = list(reversed(jobs))
    side_by_side = dict(zip(backwards, grade_notebooks(course, backwards, workers=2), strict=True))
    assert "\n".join(differences(side_by_side, one_by_one)) == ""


@pytest.mark.parametrize(("confinement", "every"), [("landlock", 6), ("local", 15)])
def test_otherwise_confined(corpus, one_by_one, confinement, every):
    """Landlock, and grading without a sandbox, give the same verdicts except for the name of the sandbox."""
    course, jobs = corpus
    try:
        open_worker(course.limits, list(course.packages), confinement=confinement).close()
    except SandboxUnavailable as error:
        pytest.skip(str(error))
    some = [job for job, kind in jobs.items() if kind not in HONEST_ELSEWHERE][::every]
    verdicts = grade_notebooks(course, some, confinement=confinement)
    assert [anywhere(v) for v in verdicts] == [anywhere(one_by_one[job]) for job in some]


def test_stopped_and_gone_on(corpus, one_by_one):
    """A class whose grading is interrupted and continued gets the same verdicts as in one run."""
    course, jobs = corpus
    chapter = course.finished_chapters()[1]
    mine = [job for job in handed_in(course, chapter) if job in jobs]
    heard = []

    def stop(verdict):
        heard.append(verdict)
        if len(heard) == len(mine) // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grade_class(course, chapter, mine, on_verdict=stop, workers=2)
    # Review warnings depend on the gradebook, which is not used to grade single notebooks.
    for workers in (2, 1):
        verdicts = grade_class(course, chapter, mine, workers=workers)
        assert [dataclasses.replace(v, warning=None) for v in verdicts] == [one_by_one[job] for job in mine]


def test_through_nbgraders_own_command(corpus, one_by_one):
    """``nbgrader autograde`` enters the same scores as our verdicts."""
    course, jobs = corpus
    chapter = course.finished_chapters()[1]
    wanted = {"one slip", "half done", "other way", "blank", "cell copied"}
    some = {kind: job for job, kind in jobs.items() if kind in wanted and job.chapter == chapter}
    fresh = with_book(copy_course(course, course.root.parent / "stock"))
    (fresh.root / ".course_secret").write_text((course.root / ".course_secret").read_text())
    for job in some.values():
        target = fresh.root / "submitted" / str(job.student) / chapter
        target.mkdir(parents=True)
        (target / job.path.name).write_bytes(job.path.read_bytes())
    for step in ("generate_assignment", "autograde"):
        nbgrader(step, chapter, folder=fresh.root, home=fresh.root.parent)
    with Gradebook(f"sqlite:///{fresh.root / 'gradebook.db'}") as book:
        for job in some.values():
            assert book.find_submission(chapter, job.student).score == pytest.approx(one_by_one[job].score), job.student


def test_the_same_class_twice_gives_the_same_bytes(tmp_path):
    """Two runs in different folders and processes make verdicts, graded notebooks and pages with equal bytes."""
    told = []
    for name, workers in (("first", 1), ("second", 2)):
        course = with_book(mini.copy_course(tmp_path / name))
        (course.root / ".course_secret").write_text("the same for both")
        class_of_many(course, 12)
        verdicts = grade_class(course, mini.CHAPTER, handed_in(course, mini.CHAPTER), workers=workers)
        told.append(([v.relabelled(notebook="", student=v.student) for v in verdicts], given_back(course)))
    assert told[0] == told[1]

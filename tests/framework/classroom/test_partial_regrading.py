"""Test that grading only what changed gives the same verdicts as grading everything."""

import shutil

import pytest

from autograder.authoring.simulate import solved_notebook
from autograder.classroom.run import grade_class, handed_in
from autograder.course.course import load_course
from autograder.course.notebook import document_bytes
from autograder.grading.batch import grade_notebooks
from autograder.judging.judge import Judge
from autograder.misconception import alternatives_in, misconceptions_in
from tests.support import ROOT
from tests.support.mini import QUICK, change

CHAPTER = "ch1_words"
STATEFUL = {
    "words": "seen = []\n\n\ndef words(text):\n    seen.append(text)\n    return text.lower().split()",
    "count_words": "def count_words(words):\n    return {word: words.count(word) + len(seen) for word in words}",
}
# Each entry is an exercise, and a part of its checks before and after a change.
CHANGES = [
    ("words", '"Rain falls and rain falls"', '"Snow falls and rain falls"'),
    ("count_words", '["the", "he", "the", "there"]', '["the", "he", "the", "then", "he"]'),
    ("first_again", '["a", "b", "b", "a"]', '["a", "b", "b", "a", "c"]'),
]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Return a course about words. Its submissions are known wrong and right solutions, and a notebook whose functions share a list."""
    root = tmp_path_factory.mktemp("words") / "course"
    shutil.copytree(
        ROOT / "examples" / "plain_python", root, ignore=shutil.ignore_patterns(".autograder", "__pycache__")
    )
    with (root / "course_config.py").open("a") as config:
        config.write(QUICK)
    made = load_course(root)
    known = [*misconceptions_in(made.misconceptions(CHAPTER)), *alternatives_in(made.alternatives(CHAPTER))]
    works = [*[{one.exercise: one.function} for one in known if one.exercise != "quiz_ch1"][::4], STATEFUL]
    for number, work in enumerate(works):
        path = root / "submitted" / f"s{number:02}" / CHAPTER / f"{CHAPTER}.ipynb"
        path.parent.mkdir(parents=True)
        references = {name: getattr(made.references(CHAPTER), name) for name in ("words", "count_words", "first_again")}
        path.write_bytes(document_bytes(solved_notebook(made, CHAPTER, {**references, **work})))
    return made


def test_only_the_changed_part_is_judged_and_the_verdicts_are_the_same(course, monkeypatch):
    """After each change, only a part is graded again, and the verdicts equal those of grading every notebook from the start."""
    judged = []
    run_checks = Judge._run_checks
    monkeypatch.setattr(
        Judge, "_run_checks", lambda judge, spec, work: judged.append(spec.name) or run_checks(judge, spec, work)
    )
    grade_class(course, CHAPTER, handed_in(course, CHAPTER))
    students = len(handed_in(course, CHAPTER))
    for exercise, old, new in CHANGES:
        change(course.checks(CHAPTER), old, new)
        now = load_course(course.root)
        judged.clear()
        part = grade_class(now, CHAPTER, handed_in(now, CHAPTER))
        # If a student's functions share a list, all exercises are judged. For every other student, one exercise is judged.
        assert judged.count(exercise) == students
        assert len(judged) - students in {2, 3}
        whole = grade_notebooks(now, handed_in(now, CHAPTER))
        assert [v.exercises for v in part] == [v.exercises for v in whole]

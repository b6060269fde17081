"""Tests of the alternative solutions: a notebook of alternatives gets full marks, and students can paste the alternatives that they may read."""

from __future__ import annotations

import ast
import builtins
import re

import pytest

from autograder.course.course import load_course
from autograder.extras.demo.students import Student, hand_in
from autograder.grading.batch import grade_notebooks
from autograder.grading.submission import Job
from autograder.judging.loader import known_alternatives
from autograder.student.examples.record import solution_source
from tests.support import ROOT

COURSE = load_course(ROOT)
NONE_SHOWN = {
    "einsum_attention",
    "generate",
    "predictions",
}  # these have einsum letters, alternatives that need helpers, and answers
TOGETHER = 16


@pytest.mark.parametrize("chapter", COURSE.chapters)
def test_what_is_shown_uses_names_that_the_notebook_knows(chapter):
    """Each alternative is one function under the exercise's name. It uses only names that the notebook defines, and has a note on why it is worth reading."""
    notebook = COURSE.source(chapter).read_text()
    shown = [a for a in known_alternatives(COURSE, chapter) if a.worth_reading]
    functions = {a.exercise for a in known_alternatives(COURSE, chapter)} - NONE_SHOWN
    assert {name for name in functions if not name.startswith("quiz")} <= {a.exercise for a in shown}
    for alternative in shown:
        source = solution_source(alternative.function, alternative.exercise)
        tree = ast.parse(source)
        assert [node.name for node in tree.body] == [alternative.exercise]
        assert '"""' not in source
        nodes = list(ast.walk(tree))
        made = {n.arg for n in nodes if isinstance(n, ast.arg)} | {
            n.name for n in nodes if isinstance(n, ast.FunctionDef)
        }
        made |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        used = {n.id for n in nodes if isinstance(n, ast.Name)} - made - set(dir(builtins))
        unknown = [n for n in used if not re.search(rf"def {n}\(|import [^\\]*\b{n}\b", notebook)]
        assert unknown == [], alternative.name
        assert len(alternative.note.split()) >= 6, f"{alternative.name}: why is it worth reading?"


@pytest.mark.slow
@pytest.mark.parametrize("chapter", COURSE.finished_chapters())
def test_alternatives_get_full_marks_together(chapter, tmp_path):
    """A student who solves every exercise in an alternative way loses no marks, even if one function slows down or changes another function."""
    jobs = []
    for number in range(TOGETHER):
        path = tmp_path / f"{number}.ipynb"
        path.write_bytes(hand_in(COURSE, chapter, Student(f"s{number}", "other way", number), TOGETHER).data)
        jobs.append(Job(path, chapter=chapter))
    verdicts = grade_notebooks(COURSE, jobs)
    lost = [check.message for v in verdicts for e in v.exercises for check in e.checks if check.status != "passed"]
    assert lost == []
    assert {verdict.score for verdict in verdicts} == {verdict.max_score for verdict in verdicts}

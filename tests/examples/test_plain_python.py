"""The course examples/plain_python: released, which audits it, and graded with a class of known solutions."""

import json
import shutil

import pytest

from autograder.authoring.simulate import reference_code, solved_notebook, write_notebook
from autograder.course.course import load_course
from autograder.judging.loader import known_alternatives, known_misconceptions
from tests.support import ROOT
from tests.support.commands import python

CHAPTERS = ("ch1_words", "ch2_index")


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """The course, copied and released: its checks meet every target."""
    root = tmp_path_factory.mktemp("plain") / "plain_python"
    shutil.copytree(ROOT / "examples" / "plain_python", root, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    with (root / "course_config.py").open("a") as config:
        config.write("c.Course.locate_seconds = 0\n")
    done = python("-m", "autograder", "release", "--all", cwd=root, status=0)
    assert done.stderr.count("released to") == len(CHAPTERS)
    return load_course(root)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_class_is_graded(course, chapter):
    """Every right solution earns full marks, however it is written, and every known mistake is named."""
    right = reference_code(course, chapter)
    handed_in = {"right": ({}, "")}
    for alternative in known_alternatives(course, chapter):
        handed_in[alternative.name] = {alternative.exercise: alternative.function}, ""
    for mistake in known_misconceptions(course, chapter):
        answers = {**right[mistake.exercise](), **mistake.function()} if mistake.exercise.startswith("quiz") else None
        handed_in[mistake.name] = {mistake.exercise: answers or mistake.function}, mistake.exercise
    for who, (code, _) in handed_in.items():
        path = course.root / "submitted" / who.lower() / chapter / f"{chapter}.ipynb"
        write_notebook(path, solved_notebook(course, chapter, {**right, **code}))
    report = json.loads(python("-m", "autograder", "grade", chapter, "--json", cwd=course.root, status=0).stdout)
    verdicts = {verdict["student"]: verdict for verdict in report}
    for who, (_, wrong) in handed_in.items():
        verdict = verdicts[who.lower()]
        named = {e["name"]: e["misconception"] for e in verdict["exercises"] if e["misconception"]}
        assert named == ({wrong: who} if wrong else {}), who
        assert (verdict["score"] == verdict["max_score"]) == (not wrong), who

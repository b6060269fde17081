"""Test the search for leaked secrets: it finds secrets that are planted."""

import json

import pytest
from nbgrader.api import Gradebook

from autograder.authoring.release import record_examples
from autograder.classroom.gradebook.entries import gradebook_url, load_nbgrader
from autograder.course.secret import course_secret
from autograder.student.examples.format import obfuscate
from tests.support.leaks import hunt, secrets_of
from tests.support.mini import CHAPTER


@pytest.fixture(autouse=True)
def _secret(course):
    """Create the mini course's secret."""
    course_secret(course)


def test_it_knows_every_kind_of_secret(course):
    """The search looks for hidden checks, their inputs, references, misconceptions, alternatives and the secret."""
    lines, numbers = secrets_of(course, CHAPTER)
    code = {"a hidden check", "a reference solution", "a misconception", "an alternative"}
    assert {*lines.values(), *numbers.values()} == code | {"an input of a hidden check", "the course's secret"}
    assert not any("test_freezing" in line or "np.array([0.0])" in line for line in lines)


@pytest.mark.parametrize(
    ("planted", "what"),
    [
        ("reference_marker_7341 = to_kelvin(celsius)", "a reference solution"),
        ("return celsius - misconception_marker_9127", "a misconception"),
        ("return np.mean(celsius, axis=-1) + 273.15", "an alternative"),
        ("hidden_input_marker_6620 = np.array([[17.25, -40.0], [3.5, 451.0]])", "a hidden check"),
        ("array([[ 17.25, -40.  ],\n       [  3.5 , 451.  ]])", "an input of a hidden check"),
    ],
)
@pytest.mark.parametrize("form", ["text", "html", "notebook", "sealed"])
def test_it_finds_what_is_planted(course, tmp_path, planted, what, form):
    """Code and inputs are found in plain text, in escaped HTML, in a notebook's JSON and in obfuscated solutions."""
    text = {
        "text": planted,
        "html": f"<pre>{planted.replace(' ', '&#32;').replace('-', '&#45;')}</pre>",
        "notebook": json.dumps({"cells": [{"source": planted.splitlines(keepends=True)}]}),
        "sealed": json.dumps({"exercises": {"to_kelvin": {"any": obfuscate({"solution": planted}, "to_kelvin")}}}),
    }[form]
    path = tmp_path / "received"
    path.write_text(text if form == "sealed" else f"before\n{text}\nafter")
    assert what in {leak.what for leak in hunt(course, CHAPTER, [path])}


def test_solutions_are_in_what_self_learners_get_only_and_never_in_plain(course, tmp_path):
    """A class gets no solutions, obfuscated or not, unless its course allows it. A self-learner's file contains them only obfuscated."""

    def found(audience, *, sealed=True):
        data = json.loads(record_examples(course, CHAPTER, audience).read_text())
        if not sealed:
            for entry in data["exercises"].values():
                entry.pop("sealed", None), entry.pop("judged", None)
        (tmp_path / "examples.json").write_text(json.dumps(data))
        return {leak.what for leak in hunt(course, CHAPTER, [tmp_path / "examples.json"])}

    assert found("class") == set()
    assert found("self-learners", sealed=False) == set()
    assert "a reference solution" in found("self-learners")
    course.solutions = "after due"  # but no gradebook has a due date
    assert found("class") == set()
    course.solutions = "after passing"
    assert "an alternative" in found("class")
    assert "a reference solution" not in found("class")


@pytest.mark.parametrize(("due", "shown"), [("2020-01-01 12:00:00", True), ("2999-01-01 12:00:00", False)])
def test_after_due_means_the_due_date_in_the_gradebook(course, due, shown):
    """A release before the due date contains no solutions, and a release after the due date does."""
    load_nbgrader()
    with Gradebook(gradebook_url(course)) as book:
        book.add_assignment(CHAPTER, duedate=due)
    course.solutions = "after due"
    data = json.loads(record_examples(course, CHAPTER, "class").read_text())
    assert any("sealed" in entry for entry in data["exercises"].values()) == shown
    assert data["solutions"] == ("after passing" if shown else "never")


def test_it_finds_the_secret(course, tmp_path):
    """The course's secret is found wherever it is in a file."""
    path = tmp_path / "received"
    path.write_text(json.dumps([(course.root / ".course_secret").read_text()]))
    assert {leak.what for leak in hunt(course, CHAPTER, [path])} == {"the course's secret"}


def test_what_is_published_is_no_leak(course):
    """The source notebook itself contains no secrets."""
    assert hunt(course, CHAPTER, [course.source(CHAPTER)]) == []

"""The example course about tables: validated, released, submitted by a small class, graded, and returned."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.authoring.release.run import release_validated
from autograder.authoring.release.validation import validate_all
from autograder.authoring.simulate import reference_code, solved_notebook
from autograder.classroom.gradebook.entries import gradebook_url
from autograder.classroom.run import grade_class, handed_in
from autograder.course.course import load_course
from autograder.extras.demo.demo_run import HANDED_IN_AT, copy_course
from autograder.judging.loader import known_alternatives, known_misconceptions
from tests.support import ROOT

CHAPTERS = ("ch1_one_column", "ch2_groups")
WORTH = {"ch1_one_column": 16.0, "ch2_groups": 10.0}
ESSAY = "Half of 5b needs 16 minutes or more, which is the largest median; but minutes are no distance."


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A copy of the course, validated and released."""
    course = copy_course(load_course(ROOT / "examples" / "statistics"), tmp_path_factory.mktemp("statistics"))
    with (course.root / "course_config.py").open("a", encoding="utf-8") as config:
        config.write("c.Course.locate_seconds = 30\n")  # a busy machine needs more than the course gives
    course = load_course(course.root)
    for proof in validate_all(course, CHAPTERS, mutants=False):
        assert (proof.refused, proof.missed_targets) == ("", ())
        release_validated(course, proof)
    return course


NAMELESS = """def by_class(pupils):
    groups = pupils.groupby("class")["minutes"]
    rows = groups.agg(pupils="size", mean="mean", median="max")
    return rows
"""


def slip(course, chapter, name):
    """Return the misconception of that name, by its exercise."""
    return next({m.exercise: m.function} for m in known_misconceptions(course, chapter) if m.name == name)


@pytest.fixture(scope="module")
def verdicts(course):
    """Return the verdicts on a small class, graded in the sandbox."""
    found = {}
    for chapter in CHAPTERS:
        right = reference_code(course, chapter)
        others = {a.exercise: a.function for a in known_alternatives(course, chapter)}
        slips = {"ch1_one_column": "as_many_bars_as_wide", "ch2_groups": "pupils_who_answered"}
        class_ = {
            "ada": right,
            "ben": {**right, **others},
            "cem": {**right, **slip(course, chapter, slips[chapter])},
            "dora": dict(list(right.items())[:1]),
            "emil": {},
            **({"fay": {**right, "by_class": NAMELESS}} if chapter == "ch2_groups" else {}),
        }
        for student, code in class_.items():
            notebook = solved_notebook(course, chapter, code)
            for cell in notebook["cells"]:
                if student != "emil" and cell["metadata"].get("nbgrader", {}).get("grade_id") == "essay_bus_stop":
                    cell["source"] = ESSAY
            folder = course.root / "submitted" / student / chapter
            folder.mkdir(parents=True)
            (folder / f"{chapter}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
            (folder / "timestamp.txt").write_text(HANDED_IN_AT)
        for verdict in grade_class(course, chapter, handed_in(course, chapter)):
            found[chapter, verdict.student] = verdict
    return found


def points(verdict):
    """Return the points of a verdict's exercises together."""
    return sum(exercise.score for exercise in verdict.exercises)


def test_what_is_handed_out_has_the_data_and_no_answer(course):
    """The table is next to each released notebook."""
    for chapter in CHAPTERS:
        released = course.root / "release" / chapter
        assert (released / "pupils.csv").is_file()
        text = (released / f"{chapter}.ipynb").read_text(encoding="utf-8")
        assert "NotImplementedError" in text
        assert 'groupby(\\"class\\")[\\"minutes\\"].agg(pupils' not in text


def test_a_class_gets_its_marks(verdicts):
    """Right answers earn all points in any form, a mistake is identified, and blank ones earn nothing."""
    for chapter, worth in WORTH.items():
        assert points(verdicts[chapter, "ada"]) == points(verdicts[chapter, "ben"]) == worth
        assert 0 < points(verdicts[chapter, "cem"]) < worth
        assert points(verdicts[chapter, "dora"]) == 5.0
        assert points(verdicts[chapter, "emil"]) == 0.0
    named = {e.misconception for chapter in CHAPTERS for e in verdicts[chapter, "cem"].exercises if e.misconception}
    assert named == {"as_many_bars_as_wide", "pupils_who_answered"}
    [by_class] = [e for e in verdicts["ch2_groups", "cem"].exercises if e.name == "by_class"]
    [first] = [check for check in by_class.checks if check.status == "failed"][:1]
    assert first.reason.endswith("In row '5b', column 'pupils', there is 1 instead of 2.")


def test_the_line_of_a_mistake_without_a_name_is_found(verdicts):
    """The line of a mistake is the one whose edit corrects the program."""
    [by_class] = [e for e in verdicts["ch2_groups", "fay"].exercises if e.name == "by_class"]
    assert by_class.misconception is None
    assert (by_class.located.lines, by_class.located.kind) == ((3,), "function")


@pytest.mark.usefixtures("verdicts")
def test_the_essay_waits_for_a_person(course):
    """No essay gets an automatic mark, and a blank essay does not need manual grading."""
    with Gradebook(gradebook_url(course)) as book:
        for student, waits in (("ada", True), ("emil", False)):
            grade = book.find_grade("essay_bus_stop", "ch2_groups", "ch2_groups", student)
            assert bool(grade.needs_manual_grade) is waits
            assert grade.auto_score in ((None,) if waits else (0.0, None))


@pytest.mark.usefixtures("verdicts")
def test_a_page_shows_the_tables(course):
    """Tables look as pandas prints them, with each column below its name."""
    page = next(Path(course.root / "feedback" / "cem" / "ch2_groups").glob("*.html")).read_text(encoding="utf-8")
    assert "In row &#x27;5b&#x27;, column &#x27;pupils&#x27;, there is 1 instead of 2." in page.replace(
        "&#39;", "&#x27;"
    )
    assert "pupils  mean  median" in page

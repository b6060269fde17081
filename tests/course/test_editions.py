"""Tests that search both editions of every chapter: a class reads about points and the grader, and a self-learner never does."""

import json
import re

import pytest

from autograder.authoring.release.course_map import described, map_of
from autograder.authoring.release.editions import edition
from autograder.course.course import load_course
from autograder.judging.loader import load_checks
from tests.support import ROOT

COURSE = load_course(ROOT)
CHAPTERS = COURSE.finished_chapters()
GRADED = re.compile(
    r"\b(?:half a point|no points|without points|\d+ points?|points? \||full marks|your marks|marked by|grad(?:er|ed|es?|ing)"
    r"|submit\w*|(?<!by )hand(?:s|ed)? (?:it |your \w+ )?in|instructors?|teachers?|nobody (?:counts|sees)|cost no points)\b|hints[^.]*cost nothing|\| points",
    re.IGNORECASE,
)


def texts(chapter, audience):
    """Return every text of a chapter's notebook in one edition, by cell."""
    notebook = edition(json.loads(COURSE.source(chapter).read_text(encoding="utf-8")), audience)
    return {cell["id"]: "".join(cell["source"]) for cell in notebook["cells"]}


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_self_learner_reads_nothing_of_grading(chapter):
    """For a self-learner, no cell, hint or message mentions points, marks, a grader or submitting. Neither edition contains edition marks."""
    checks = load_checks(COURSE, chapter)
    alone = texts(chapter, "self-learners")
    for name, spec in checks.specs.items():
        alone[f"hints of {name}"] = "\n".join(spec.hints)
        alone[f"messages of {name}"] = "\n".join(wrong.message for wrong in checks.misconceptions.get(name, ()))
    assert {name: found[0] for name, text in alone.items() if (found := GRADED.search(text))} == {}
    both = [*alone.values(), *texts(chapter, "class").values()]
    assert [text for text in both if "<!--" in text] == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_class_reads_what_counts(chapter):
    """The class's edition has the points of every exercise, and differs from the self-learners' edition only in text."""
    own, alone = texts(chapter, "class"), texts(chapter, "self-learners")
    assert len(GRADED.findall("\n".join(own.values()))) > len(load_checks(COURSE, chapter).specs)
    assert own.keys() == alone.keys()
    kinds = {cell["id"]: cell["cell_type"] for cell in json.loads(COURSE.source(chapter).read_text())["cells"]}
    assert all(own[name] == alone[name] for name, kind in kinds.items() if kind == "code")


def test_the_map_of_a_self_learner_has_no_points():
    """The map mentions no points, and has the same links to chapters as the class's map."""
    whole = map_of(described(COURSE, CHAPTERS))
    own, alone = (
        "\n".join(cell["source"] for cell in edition(whole, who)["cells"]) for who in ("class", "self-learners")
    )
    assert GRADED.search(own)
    assert not GRADED.search(alone)
    assert alone.count("](ch") == own.count("](ch") > len(CHAPTERS)

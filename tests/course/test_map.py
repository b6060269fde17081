"""Tests that the course map agrees with each chapter: exercises, levels, times, points and prerequisites."""

from __future__ import annotations

import re

import pytest

from autograder.authoring.release.course_map import described, map_of
from autograder.course.course import load_course
from autograder.course.notebook import load_source
from tests.support import ROOT

COURSE = load_course(ROOT)
MINUTES = {"forty minutes": 40, "an hour": 60, "an hour and a quarter": 75, "an hour and a half": 90, "an hour and three quarters": 105, "two hours": 120, "two and a quarter hours": 135, "two and a half hours": 150, "two and three quarter hours": 165}  # fmt: skip
MORE = {"ten": 10, "ten minutes": 10, "twenty minutes": 20, "half an hour": 30, "a quarter of an hour": 15}


@pytest.fixture(scope="module")
def chapters():
    """Return each chapter as shown on the map."""
    return {chapter["id"]: chapter for chapter in described(COURSE, COURSE.finished_chapters())["chapters"]}


@pytest.mark.parametrize("chapter", COURSE.chapters)
def test_the_opening_of_a_chapter_and_the_map_agree(chapters, chapter):
    """The table and the sentences at the top of the notebook agree with the metadata from which the map is made."""
    found, opening = chapters[chapter], load_source(COURSE.source(chapter))[1].cells[0].source
    rows = re.findall(r"^\|[^|]*\| (`\w+`|quiz) \| (★+) \| (\d+) min \| (\d+) \|$", opening, re.MULTILINE)
    told = [(len(stars), int(minutes), float(points)) for _name, stars, minutes, points in rows]
    names = [name.strip("`") for name, *_ in rows]
    assert told == [(e["stars"], e["minutes"], e["points"]) for e in found["exercises"]]
    assert [
        n.replace(f"quiz_{chapter.split('_')[0]}", "quiz") for n in (e["name"] for e in found["exercises"])
    ] == names
    assert all(1 <= e["importance"] <= 5 for e in found["exercises"])
    first, *_ = re.findall(
        r"^(?:.*path|The short one) takes (?:about )?([a-z ]+): skip|^([A-Z][a-z ]+);",
        opening.replace("**Two paths.** ", ""),
        re.MULTILINE,
    )
    assert MINUTES["".join(first).lower()] == found["minutes"]
    [more] = re.findall(r"(?:deep one takes|minutes;) ([a-z ]+?) longer", opening)
    assert MORE[more] == found["deep_minutes"]
    [sentence] = re.findall(r"^You (?:need|should know) .*|^Forty.*You should know.*", opening, re.MULTILINE)
    named = {f"ch{n}" for part in re.findall(r"chapters? ([\d, and]+)", sentence) for n in re.findall(r"\d", part)}
    assert {need.split("_")[0] for need in found["needs"]} == named


def test_the_time_of_a_chapter_is_no_less_than_that_of_its_exercises(chapters):
    """The stated time of a chapter is at least the sum of its exercises' times."""
    short = [c for c, found in chapters.items() if found["minutes"] < sum(e["minutes"] for e in found["exercises"])]
    assert short == []


def test_the_map_leads_to_every_chapter(chapters):
    """Each chapter has a link to a file next to the map, and each exercise has a row with a link to its first cell."""
    text = "\n".join(cell["source"] for cell in map_of({"title": "x", "chapters": list(chapters.values())})["cells"])
    for chapter, found in chapters.items():
        assert text.count(f"]({chapter}/{chapter}.ipynb)") == 2
        ids = {cell.id for cell in load_source(COURSE.source(chapter))[1].cells}
        for exercise in found["exercises"]:
            address = f"{chapter}/{chapter}.ipynb#cell-id={exercise['cell']}"
            assert f"| [`{exercise['name']}`]({address}) | {'★' * exercise['stars']} |" in text
            assert exercise["cell"] in ids - {""}

"""Tests of a notebook's two editions: how their texts are marked, and that real releases contain them."""

from __future__ import annotations

import json

import pytest

from autograder.authoring.release.editions import text_for
from autograder.authoring.release.run import generate, hand_out
from autograder.base.errors import CourseError
from tests.support.mini import CHAPTER, copy_course

TEXT = """### Exercise 1: `f` · ★ · 2 points

| exercise | time | points |
|---|---|---|
| `f` | 5 min | 2 |

| points |
| of a plane |

<!-- class -->The grader tries more.<!-- /class -->

Answers come <!-- class -->with your marks<!-- self-learners: at once -->."""
CLASS = TEXT.replace("<!-- class -->", "").replace("<!-- /class -->", "").replace("<!-- self-learners: at once -->", "")
ALONE = """### Exercise 1: `f` · ★

| exercise | time |
|---|---|
| `f` | 5 min |

| points |
| of a plane |

Answers come at once."""


def test_each_edition_has_its_own_text():
    """Neither edition contains the marks. The self-learners' edition also lacks points in headings and in the last column of a table."""
    assert text_for("class", TEXT) == CLASS
    assert text_for("self-learners", TEXT) == ALONE
    assert text_for("self-learners", ALONE) == ALONE


@pytest.mark.parametrize("text", ["<!-- class -->open", "closed<!-- /class -->", "<!-- self-learners: text -->"])
@pytest.mark.parametrize("audience", ["class", "self-learners"])
def test_a_mark_without_its_partner_is_named(audience, text):
    """The message names the cell and the mark."""
    with pytest.raises(
        CourseError, match=r"^The cell intro has <!-- .* --> without its counterpart\. Text for a class begins"
    ):
        text_for(audience, text, "intro")


@pytest.mark.slow
def test_a_release_is_for_a_class_and_what_start_sets_up_is_not(tmp_path):
    """A release by nbgrader has the class edition. ``start`` sets up the self-learners' edition, with a course map that shows no points."""
    course = copy_course(tmp_path / "course")
    path = course.source(CHAPTER)
    document = json.loads(path.read_text())
    document["cells"].insert(0, {"cell_type": "markdown", "id": "editions", "metadata": {}, "source": TEXT})
    path.write_text(json.dumps(document))
    generate(course.root, CHAPTER)
    hand_out(course, tmp_path / "alone")
    released = [course.root / "release", tmp_path / "alone"]
    cells = [json.loads((folder / CHAPTER / f"{CHAPTER}.ipynb").read_text())["cells"] for folder in released]
    assert ["".join(own[0]["source"]) for own in cells] == [CLASS, ALONE]
    assert "point" not in (tmp_path / "alone" / "index.ipynb").read_text()

"""Tests of the course map of a course without metadata, and of mistakes in a notebook's metadata."""

from __future__ import annotations

import json

import pytest

from autograder.authoring.release.course_map import described, map_of, write_map
from autograder.base.errors import CourseError
from tests.support.mini import CHAPTER, copy_course


def noted(course, **metadata):
    """Add ``metadata`` to the chapter's notebook, and return the course."""
    path = course.source(CHAPTER)
    document = json.loads(path.read_text())
    document["metadata"].setdefault("autograder", {}).update(metadata)
    path.write_text(json.dumps(document))
    return course


def test_a_course_that_says_nothing_has_a_map_without_empty_columns(tmp_path):
    """The map of every course lists titles, exercises and points. It explains only the signs that it contains."""
    course = copy_course(tmp_path / "course")
    write_map(course, tmp_path, [CHAPTER])
    written = json.loads((tmp_path / "index.ipynb").read_text())
    assert written == map_of(json.loads((tmp_path / "course.json").read_text()))
    text = "\n".join(cell["source"] for cell in written["cells"])
    assert "| exercise | points |" in text
    assert "| chapter | exercises | points |" in text
    assert not set("★●") & set(text)
    assert "check()" in text


@pytest.mark.parametrize(
    ("metadata", "told"),
    [
        ({"needs": ["ch9"]}, '"needs" names ch9, but it may name only earlier chapters'),
        ({"needs": "ch0"}, '"needs" must be a list of chapters'),
        ({"exercises": {"to_kelvim": {}}}, '"exercises" names to_kelvim, which the notebook does not have'),
        (
            {"exercises": {"to_kelvin": {"stars": 4}}},
            'to_kelvin: "stars" is 4, but must be a whole number from 1 to 3',
        ),
        ({"minutes": "an hour"}, "\"minutes\" is 'an hour', but must be a whole number from 1 on"),
    ],
)
def test_what_cannot_be_meant_is_told_with_its_place(tmp_path, metadata, told):
    """A mistake in the metadata is reported in a sentence that names the file and the key."""
    with pytest.raises(CourseError, match=CHAPTER) as caught:
        described(noted(copy_course(tmp_path / "course"), **metadata), [CHAPTER])
    assert told in str(caught.value)

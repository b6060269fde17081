"""Tests that stored pictures are kept, and that no other claim of a notebook about itself is trusted."""

import base64
import json
import struct
import zlib

import pytest

from autograder.course.course import load_course
from autograder.course.notebook import load_document
from autograder.grading.batch import grade
from autograder.grading.document import NOT_DRAWN
from autograder.grading.submission import Job
from tests.support.mini import CHAPTER, RIGHT, document, hand_in

DRAW = "def bars():\n    print('drawn now')\n\n\nbars()"


def png(width=2, height=1, *, end=b"IEND"):
    """Return a real picture of that size, in base64."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(b"".join(b"\0" * (width + 1) for _ in range(min(height, 4))))
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(end, b"")
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + parts).decode()


def picture(data, **more):
    """Return an output that shows ``data`` as an image."""
    shown = {"image/png": data, "text/plain": "<Figure>"}
    return {"output_type": "display_data", "metadata": {}, "data": shown, **more}


@pytest.fixture
def drawing(course):
    """Return the mini course with a cell that draws a picture and has the tag ``picture``."""
    source = course.source(CHAPTER)
    notebook = json.loads(source.read_text())
    cell = next(c for c in notebook["cells"] if c["id"] == "picture")
    cell |= {"source": DRAW, "metadata": {"tags": ["picture"]}}
    source.write_text(json.dumps(notebook))
    return course


def shown(course, outputs, *, source=DRAW, elsewhere=""):
    """Return the outputs of the picture cell after grading a notebook with these stored ``outputs``."""
    notebook = document(course, **{**RIGHT, "quiz_ch1_units": f"{elsewhere}\n{RIGHT['quiz_ch1_units']}"})
    cell = next(c for c in notebook["cells"] if c["id"] == "picture")
    cell |= {"outputs": outputs, "source": source}
    [done] = grade(course, [Job(hand_in(course, "ada", notebook), "ada", CHAPTER)])
    assert done.verdict.score == done.verdict.max_score
    place = next(i for i, c in enumerate(done.document["cells"]) if c["id"] == "picture")
    return [output for outcome in done.cells if outcome.index == place for output in outcome.outputs]


def test_a_stored_picture_is_kept_and_its_cell_not_run(drawing):
    """The stored image and text are kept, HTML is removed, and the cell is not run."""
    stored = [{"output_type": "stream", "name": "stdout", "text": ["as ", "stored"]}, picture([png()[:9], png()[9:]])]
    stored[1]["data"]["text/html"] = "<script>"
    text, image = shown(drawing, stored)
    assert text["text"] == "as stored"
    assert image["data"] == {"image/png": png(), "text/plain": "<Figure>"}


@pytest.mark.parametrize(
    "outputs",
    [
        [],
        [picture(png()), {"output_type": "error", "ename": "E", "evalue": "", "traceback": []}],
        [picture("not base64!")],
        [picture(base64.b64encode(b"GIF89a, not a PNG at all").decode())],
        [picture(png(width=100_000, height=100_000))],
        [picture(png(end=b"IDAT"))],
        [picture(png() + "A" * (2 << 20))],
        [picture(png()), {"output_type": "stream", "name": "stdout", "text": "x" * (1 << 20)}],
        [picture(png())] * 25,
        ["nonsense", 3],
        {"output_type": "display_data"},
    ],
    ids=[
        "none", "error", "not base64", "not a PNG", "a hundred thousand pixels wide", "cut off", "too many bytes",
        "too much text", "too many", "nonsense", "no list",
    ],
)  # fmt: skip
def test_anything_else_is_not_shown(drawing, outputs):
    """A picture that is invalid or too large is not shown, and a line says why."""
    assert [output.get("text") for output in shown(drawing, outputs)] == [f"{NOT_DRAWN}\n"]


@pytest.mark.parametrize(
    ("more", "printed"),
    [
        ({"source": DRAW.replace("now", "otherwise")}, "drawn otherwise\n"),
        ({"elsewhere": "again = bars"}, "drawn now\n"),
    ],
    ids=["changed", "its names used elsewhere"],
)
def test_a_cell_that_does_more_than_draw_is_run(drawing, more, printed):
    """A picture cell is run if the student changed its code, or if code in other cells mentions its names."""
    assert [output["text"] for output in shown(drawing, [picture(png())], **more)] == [printed]


@pytest.mark.parametrize("stored", [[], [picture(png())]])
def test_a_course_may_have_everything_drawn(drawing, stored):
    """With ``c.Course.redraw_pictures``, pictures are drawn in the sandbox, whatever the notebook contains."""
    with (drawing.root / "course_config.py").open("a") as config:
        config.write("c.Course.redraw_pictures = True\n")
    outputs = shown(load_course(drawing.root), stored)
    assert [output["text"] for output in outputs] == ["drawn now\n"]


def test_a_tag_of_the_students_own_changes_nothing(drawing):
    """Only cells that were released with the tag are skipped. They are recognized by their text, not by the notebook's tags."""
    notebook = document(drawing, **RIGHT)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["metadata"]["tags"], cell["outputs"] = ["picture"], [picture(png())]
    path = hand_in(drawing, "eve", notebook)
    [done] = grade(drawing, [Job(path, "eve", CHAPTER)])
    assert load_document(path.read_bytes())["cells"][1]["metadata"]["tags"] == ["picture"]
    assert done.verdict.score == done.verdict.max_score


def test_a_line_that_a_picture_cell_printed_is_kept(drawing):
    """Text without an image is kept too, because there may have been nothing to draw yet."""
    line = {"output_type": "stream", "name": "stdout", "text": "Nothing to see yet.\x1b[31m"}
    assert [output["text"] for output in shown(drawing, [line])] == ["Nothing to see yet."]

"""Test the graded notebook."""

import copy
import json

import nbformat
import pytest
from nbgrader.utils import compute_checksum, determine_grade

from autograder.base.verdict import CheckResult, ExerciseVerdict
from autograder.grading.document import ReleasedNotebook, checksum, restore_cells, write_outcomes, write_verdict
from autograder.sandbox.protocol import CellOutcome, StudentError
from tests.support.mini import CHAPTER, RIGHT, cell, document


@pytest.fixture
def released(course):
    """Return the chapter's source notebook."""
    return json.loads(course.source(CHAPTER).read_text())


@pytest.fixture
def restore(released):
    """Return a function that turns a submission into a well-formed notebook for grading, and validates the result."""

    def run(submitted):
        result = restore_cells(submitted, ReleasedNotebook(released))
        nbformat.validate(nbformat.from_dict(result))
        return result

    return run


def ids(notebook):
    """Return the grade ids of a document in order."""
    return [c["metadata"]["nbgrader"]["grade_id"] for c in notebook["cells"] if "nbgrader" in c["metadata"]]


class TestRestored:
    def test_a_sound_submission_keeps_its_cells(self, course, restore):
        """The student's code stays, and their changes to locked cells are undone."""
        submitted = document(course, **RIGHT)
        cell(submitted, "check_to_kelvin")["source"] = "print('full marks')"
        cell(submitted, "check_to_kelvin")["metadata"]["nbgrader"]["points"] = 1000
        result = restore(submitted)
        assert cell(result, "to_kelvin")["source"] == RIGHT["to_kelvin"]
        assert cell(result, "check_to_kelvin")["source"] == "check(to_kelvin)"
        assert cell(result, "check_to_kelvin")["metadata"]["nbgrader"]["points"] == 2

    def test_the_last_of_a_copied_cell_keeps_its_id(self, course, released, restore):
        """The earlier copy stays as an ordinary cell, so that it still runs in order. The duplicate ids are reported."""
        submitted = document(course, **RIGHT)
        first = submitted["cells"].index(cell(submitted, "to_kelvin"))
        submitted["cells"].insert(first, copy.deepcopy(submitted["cells"][first]))
        result = restore(submitted)
        assert ids(result) == ids(released)
        assert [c["source"] for c in result["cells"]].count(RIGHT["to_kelvin"]) == 2
        assert result["metadata"]["autograder"]["copied"] == ["to_kelvin"]
        assert restore(result) == result

    def test_a_deleted_check_cell_comes_back_below_its_stub(self, course, restore):
        """If the student deleted a check cell, with or without the stub, it is restored, so that its marks have a cell."""
        submitted = document(course, **RIGHT)
        for gone in ("check_to_kelvin", "mean_kelvin", "check_mean_kelvin"):
            submitted["cells"].remove(cell(submitted, gone))
        order = "to_kelvin check_to_kelvin quiz_ch1_units check_quiz_ch1_units check_mean_kelvin"
        assert ids(restore(submitted)) == order.split()

    def test_whatever_the_cells_hold_the_result_is_a_notebook(self, restore):
        """Invalid ids, types, metadata and sources become valid nbformat 4.5."""
        unknown, stub = {"grade_id": "unknown", "grade": True}, {"grade_id": "to_kelvin", "solution": True}
        cells = [
            {"cell_type": "code", "id": "a b", "source": ["x = 1\n", "y"], "metadata": 3},
            {"cell_type": "code", "id": "same", "source": None},
            {"cell_type": "heading", "id": "same", "source": "h", "metadata": {"nbgrader": unknown}},
            {"cell_type": "markdown", "source": "a", "metadata": {"nbgrader": stub}},
            "junk",
        ]
        result = restore({"cells": cells})
        assert "nbgrader" not in result["cells"][2]["metadata"]
        assert result["cells"][3]["cell_type"] == "code"

    def test_the_checksum_is_nbgraders(self, released):
        """The checksum of a cell equals the checksum that nbgrader computes."""
        for source in released["cells"]:
            if "nbgrader" in source["metadata"]:
                assert checksum(source) == compute_checksum(nbformat.from_dict(source))


class TestOutcomes:
    def shown(self, released, *outputs, **more):
        """Write an outcome for the first code cell, and return the outputs that the cell gets."""
        result = restore_cells(released, ReleasedNotebook(released))
        write_outcomes(result, [CellOutcome(index=1, outputs=outputs, **more)])
        nbformat.validate(nbformat.from_dict(result))
        return result["cells"][1]["outputs"]

    def test_what_was_printed_returned_and_drawn_is_shown(self, released):
        """Streams, results and pictures are kept."""
        outputs = self.shown(
            released,
            {"output_type": "stream", "name": "stdout", "text": ["a\n", "b"]},
            {"output_type": "execute_result", "data": {"text/plain": "3"}, "metadata": {}},
            {"output_type": "display_data", "data": {"image/png": "iVBO", "text/plain": "<Figure>"}},
        )
        assert outputs[0]["text"] == "a\nb"
        assert outputs[1]["data"] == {"text/plain": "3"}
        assert outputs[2]["data"]["image/png"] == "iVBO"

    def test_nothing_that_can_act_is_kept(self, released):
        """A student's HTML, SVG and scripts never reach an instructor's browser, and terminal codes are removed."""
        [markup, printed] = self.shown(
            released,
            {"output_type": "display_data", "data": {"text/html": "<script>", "application/javascript": "x"}},
            {"output_type": "stream", "name": "stdout", "text": "\x1b[31mred\x1b[0m\x07\u202e"},
        )
        assert list(markup["data"]) == ["text/plain"]
        assert "<script>" not in json.dumps(markup)
        assert printed["text"] == "red"

    @pytest.mark.parametrize(
        "output",
        [
            None, 3, {}, {"output_type": "stream"}, {"output_type": "display_data", "data": 3}, {"output_type": "error"},
            {"output_type": "execute_result", "data": {"text/plain": {"a": 1}}},
            {"output_type": "error", "traceback": [1, "x"]},
        ],
    )  # fmt: skip
    def test_malformed_outputs_do_no_harm(self, released, output):
        """A hostile child process may send malformed outputs, but the stored outputs are valid nbformat."""
        self.shown(released, output)

    def test_errors_and_stops_are_shown(self, released):
        """A cell that failed or was stopped has an error output, even if the child process could not send it."""
        error = StudentError("NameError", "name 'x' is not defined", line="x + 1", lineno=3)
        [failed] = self.shown(released, error=error)
        assert failed["ename"] == "NameError"
        assert "line 3: x + 1" in failed["traceback"]
        [stopped] = self.shown(released, stopped="timeout")
        assert stopped["evalue"] == "This cell ran out of time and was stopped."
        at = StudentError("", "", line="while True:", lineno=3)
        [looping] = self.shown(released, stopped="timeout", at=at)
        assert looping["evalue"] == "This cell ran out of time and was stopped. It was in line 3, `while True:`."


@pytest.mark.parametrize("score", [0.0, 0.1 + 0.2, 1 / 3, 1.5, 2.0, 2.0000000001])
def test_nbgrader_reads_the_same_score(released, restore, score):
    """From the check cell, nbgrader reads exactly this score, and never more than the maximum. The cell also contains the message."""
    checks = (CheckResult("a", "shape", "failed", "It has <b>the wrong</b> shape: 4"),)
    result = restore(released)
    write_verdict(result, [ExerciseVerdict("to_kelvin", score, 2.0, "partial", message="7", checks=checks)])
    nbformat.validate(nbformat.from_dict(result))
    marked = nbformat.from_dict(cell(result, "check_to_kelvin"))
    assert determine_grade(marked) == (min(score, 2.0), 2.0)
    assert "&lt;b&gt;the wrong" in json.dumps(marked["outputs"])
    assert "✗ shape" in marked["outputs"][1]["data"]["text/plain"]

"""Tests that texts from a student's code are safe to show when they leave the sandbox."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.sandbox.guest.wire_limits import WireError
from autograder.sandbox.protocol import CellOutcome
from autograder.sandbox.texts import OutputBudget, read_error, read_names, read_outcome, read_text


@given(st.text())
def test_clean_text_holds_no_controls(text):
    """Control characters except newline and tab, lone surrogates and direction overrides are removed, and the length is limited."""
    cleaned = read_text(text, 50)
    assert len(cleaned) <= 50
    cleaned.encode("utf-8")
    assert not any((ord(c) < 32 and c not in "\n\t") or 0x7F <= ord(c) < 0xA0 or c in "\u202e\u2066" for c in cleaned)


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;title\x07a", "a"),
        ("\x9b2Jx", "x"),
        ("a\r\nb\rc", "a\nbc"),
        ("tab\tstays", "tab\tstays"),
    ],
)
def test_terminal_escapes_go_whole(text, cleaned):
    """An escape is removed with its parameters, so that no part of it remains."""
    assert read_text(text, 100) == cleaned


def test_a_cut_text_shows_that_it_was_cut():
    """A text that is cut to the limit ends with an ellipsis."""
    assert read_text("x" * 100, 10) == "x" * 9 + "…"


LEAVES = st.none() | st.booleans() | st.integers() | st.text()


@given(st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_any_told_error_is_an_error_or_refused(told):
    """Reading any error, outcome or names from a child gives a valid value or raises ``WireError``."""
    for read in (read_error, read_names, lambda x: read_outcome(x, 0, 100)):
        with contextlib.suppress(WireError):
            read(told)


OUTPUT = st.sampled_from(["stream", "stdout", "display", "result", "error", "image/png", "text/html", "x"])


@given(st.lists(st.lists(OUTPUT | st.dictionaries(OUTPUT, OUTPUT | st.integers()), max_size=4), max_size=4))
def test_outputs_are_rebuilt_never_passed_on(outputs):
    """Outputs from a child have only the keys and types that nbformat knows."""
    try:
        outcome = read_outcome({"index": 3, "outputs": outputs}, 3, 100)
    except WireError:
        return
    for output in outcome.outputs:
        assert output["output_type"] in {"stream", "display_data", "execute_result"}
        assert set(output.get("data", {})) <= {"text/html"}


def test_names_are_identifiers():
    """Invalid names are left out."""
    assert read_names(["a", "b c", "", 3, "<script>", "ä", "x" * 300]) == {"a", "ä"}


def printed(index, text, *more):
    """Return the outcome that a child reports for a cell that printed ``text``, followed by the outputs ``more``."""
    return {"index": index, "outputs": [["stream", "stdout", text], *more]}


def test_a_notebook_has_room_for_so_much_text():
    """All cells together have at most four million characters of output, and a cut is reported."""
    room = OutputBudget()
    told = [room.fit(read_outcome(printed(n, "x" * 60_000), n, 65_536)) for n in range(500)]
    texts = ["".join(output["text"] for output in outcome.outputs) for outcome in told]
    assert texts[0] == "x" * 60_000
    assert texts[-1] == "… the rest of this notebook's output is not kept\n"
    assert sum(map(len, texts)) < 4.3e6


def test_a_cell_without_room_keeps_what_decides_a_score():
    """If no room is left, short results, a note about stderr and the error stay. Pictures and long texts are removed."""
    room = OutputBudget()
    for n in range(80):
        room.fit(read_outcome(printed(n, "x" * 60_000), n, 65_536))
    more = [["result", {"text/plain": "0.5", "text/html": "y" * 50_000}], ["stream", "stderr", "z" * 50_000]]
    error = {"type": "ValueError", "message": "m" * 2000, "line": "f()", "lineno": 1, "cell": "cell 1", "where": ""}
    outcome = room.fit(read_outcome({**printed(80, "x" * 60_000, *more), "error": error}, 80, 65_536))
    stdout, result, stderr, failed = outcome.outputs
    assert result["data"] == {"text/plain": "0.5"}
    assert (stdout["name"], stderr["name"], failed["ename"]) == ("stdout", "stderr", "ValueError")
    assert outcome.error.type == "ValueError"
    assert len(repr(outcome)) < 2000


def test_pictures_have_room_of_their_own():
    """Text and pictures have separate limits."""
    room = OutputBudget()
    picture = {"output_type": "display_data", "metadata": {}, "data": {"image/png": "A" * (1 << 20)}}
    drawn = [room.fit(CellOutcome(n, (picture,))) for n in range(40)]
    assert sum(outcome.outputs == (picture,) for outcome in drawn) == 24
    assert "is not kept" in drawn[-1].outputs[0]["text"]
    assert room.fit(read_outcome(printed(0, "x"), 0, 100)).outputs[0]["text"] == "x"

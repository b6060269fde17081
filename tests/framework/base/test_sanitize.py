"""Tests of removing characters that control a terminal from a text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from autograder.base.sanitize import sanitize, shorten


def test_control_characters_go_and_line_breaks_stay():
    """Escape sequences, direction overrides and lone surrogates are removed. Line breaks and tabs stay."""
    assert sanitize("a\x1b]0;title\x07b\r\nc\x00\u202ed\te\ud800\u061c") == "ab\ncd\te"


@given(st.text(), st.integers(min_value=1, max_value=40))
def test_a_limit_is_kept(text, limit):
    """Short texts are unchanged, long texts end in an ellipsis, and every sanitized text can be encoded."""
    assert shorten(text, limit) == (text if len(text) <= limit else text[: limit - 1] + "…")
    assert len(sanitize(text, limit)) <= limit
    sanitize(text, limit).encode()

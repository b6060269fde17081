"""Texts of a student's without what acts on a terminal or cannot be written down; free of NumPy, as many rooms need it."""

from __future__ import annotations

import re

__all__ = ["cut", "harmless"]

# Terminal escapes whole, then what is left of control characters, bidirectional overrides and lone surrogates.
_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]P^_X][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])|\x9b[0-?]*[ -/]*[@-~]"
)
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")


def cut(text: str, cap: int) -> str:
    """``text`` made harmless, with at most ``cap`` characters."""
    kept = text[: cap + 1]
    if len(kept) > cap:
        kept = kept[: cap - 1] + "…"
    return harmless(kept)


def harmless(text: str) -> str:
    """``text`` without terminal escapes, control characters and half characters; line breaks and tabs stay."""
    if not _CONTROLS.search(text):  # an escape begins with one, too
        return text
    return _CONTROLS.sub("", _ESCAPES.sub("", text.replace("\r\n", "\n")))

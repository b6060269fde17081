"""Texts without what acts on a terminal, and texts of a bounded length; free of NumPy, as a student's notebook needs it.

The guest inside the jail (``sandbox/guest``) imports nothing of the framework and only bounds what it sends. Nothing that
it sends is trusted to be short or clean: the trusted side cleans it here.
"""

from __future__ import annotations

import re

__all__ = ["sanitize", "shorten"]

# Terminal escapes whole, then what is left of control characters, direction overrides and lone surrogates.
_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]P^_X][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])|\x9b[0-?]*[ -/]*[@-~]"
)
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")


def sanitize(text: str, limit: int | None = None) -> str:
    """``text`` without terminal escapes, control characters and lone surrogates; line breaks and tabs stay.

    With a ``limit`` no more than so many characters are kept, or even looked at.
    """
    if limit is not None:
        text = shorten(text, limit)
    if not _CONTROLS.search(text):  # an escape begins with one, too
        return text
    return _CONTROLS.sub("", _ESCAPES.sub("", text.replace("\r\n", "\n")))


def shorten(text: str, limit: int) -> str:
    """``text``, cut to ``limit`` characters where it is longer; the last of them is then an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"

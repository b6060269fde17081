"""Remove terminal control sequences from text, and limit its length.

The code inside the sandbox (``sandbox/guest``) cannot import this module, and its output may be long or contain
control sequences. So the process outside the sandbox uses this module to clean that output.
"""

from __future__ import annotations

import re

__all__ = ["sanitize", "shorten"]

# Complete terminal escapes are removed first, then all other control characters, direction overrides and lone surrogates.
_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]P^_X][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])|\x9b[0-?]*[ -/]*[@-~]"
)
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")


def sanitize(text: str, limit: int | None = None) -> str:
    """Return ``text`` without terminal escapes, control characters and lone surrogates. Line breaks and tabs are kept.

    If ``limit`` is given, only the first ``limit`` characters are processed.
    """
    if limit is not None:
        text = shorten(text, limit)
    if not _CONTROLS.search(text):  # escapes begin with a control character too
        return text
    return _CONTROLS.sub("", _ESCAPES.sub("", text.replace("\r\n", "\n")))


def shorten(text: str, limit: int) -> str:
    """Return ``text``. If it has more than ``limit`` characters, shorten it to ``limit``, including an ellipsis at the end."""
    return text if len(text) <= limit else text[: limit - 1] + "…"

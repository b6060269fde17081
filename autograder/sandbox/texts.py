"""Make strings and outputs of student code safe to show: limited in length, rebuilt, without control characters."""

from __future__ import annotations

import base64
import binascii
from dataclasses import replace
from typing import Any

from autograder.base.foreign import Json
from autograder.base.sanitize import sanitize, shorten
from autograder.sandbox.guest.wire_limits import WireError
from autograder.sandbox.protocol import CellOutcome, StudentError

__all__ = ["OutputBudget", "read_error", "read_names", "read_outcome", "read_text"]

_TEXT_TYPES = frozenset({"text/plain", "text/html", "text/markdown", "text/latex", "image/svg+xml"})
_PICTURES = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
_MAX_PICTURE = 1 << 20
_MAX_OUTPUTS = 200
_MAX_SHOWN = 4 << 20  # characters of text in all outputs of one notebook
_MAX_DRAWN = 24 << 20  # characters of pictures in all outputs of one notebook
_LEAST = 100  # characters of a result that are always kept, because nbgrader reads a score there
_MAX_BASES = 50
_CUT = "… the rest of this notebook's output is not kept\n"
_DECIDE = ((2, ["stream", "stderr"]), (1, ["result"]))


def read_text(text: Json, cap: int) -> str:
    """Return a child's text, sanitized and at most ``cap`` characters long. Raises ``WireError`` if it is not a string."""
    if type(text) is not str:
        raise WireError("a text field is not a string")
    return sanitize(text, cap)


def _word(described: dict[str, Any], key: str, cap: int) -> str:
    return " ".join(read_text(described.get(key, ""), cap).split())


def read_error(described: Json) -> StudentError:
    """Return the exception that a child describes. Raises ``WireError`` if the description is invalid."""
    if type(described) is not dict:
        raise WireError("an error is not an object")
    lineno, bases = described.get("lineno"), described.get("bases", [])
    if type(bases) is not list or len(bases) > _MAX_BASES:
        raise WireError("the base types of an error are not a list")
    return StudentError(
        type=_word(described, "type", 100) or "Exception",
        message=read_text(described.get("message", ""), 2000),
        line=read_text(described.get("line", ""), 300),
        lineno=lineno if type(lineno) is int and 0 < lineno < 10**6 else None,
        cell=_word(described, "cell", 200),
        where=_word(described, "where", 100),
        shapes=_word(described, "shapes", 300),
        caller=read_text(described.get("caller", ""), 300),
        bases=tuple(read_text(name, 100) for name in bases),
    )


def read_names(names: Json) -> frozenset[str]:
    """Return the names that a notebook defined, according to the child. Invalid identifiers are left out."""
    if type(names) is not list or len(names) > 5000:
        raise WireError("the names are not a list")
    return frozenset(name for name in names if type(name) is str and len(name) <= 200 and name.isidentifier())


def read_outcome(described: Json, index: int, cap: int) -> CellOutcome:
    """Return a cell's outcome as the child describes it. Outputs are rebuilt for nbformat 4.5, and cut at ``cap`` characters."""
    if type(described) is not dict or described.get("index") != index or type(described.get("outputs")) is not list:
        raise WireError("a cell's outcome has an invalid form")
    sent = described["outputs"]
    # nbgrader derives a score from the result and from stderr, so the first of each is always kept.
    late = [next((o for o in sent[_MAX_OUTPUTS:] if type(o) is list and o[:n] == start), None) for n, start in _DECIDE]
    outputs = [_read_output(output, cap) for output in [*sent[:_MAX_OUTPUTS], *(o for o in late if o is not None)]]
    error = read_error(described["error"]) if "error" in described else None
    if error is not None:
        outputs.append(_error_output(error, described["error"]))
    stopped = "timeout" if described.get("stopped") == "timeout" else ""
    at = read_error(described["at"]) if stopped and described.get("at") else None
    return CellOutcome(index, tuple(o for o in outputs if o is not None), error, stopped, at)


class OutputBudget:
    """The limit on the output of a whole notebook, in addition to the limit of each cell.

    Above the limit, only what affects nbgrader's score is kept: errors, the fact that a cell wrote to stderr, and a short
    result.
    """

    def __init__(self) -> None:
        self._text, self._drawn = _MAX_SHOWN, _MAX_DRAWN

    def fit(self, outcome: CellOutcome) -> CellOutcome:
        """Return the outcome, shortened if it exceeds the remaining budget."""
        text, drawn = _size(outcome)
        if text > self._text or drawn > self._drawn:
            outcome = _shortened(outcome)
            text, drawn = 0, 0  # this output is too short to count
        self._text, self._drawn = self._text - text, self._drawn - drawn
        return outcome


def _size(outcome: CellOutcome) -> tuple[int, int]:
    """Return the number of characters of text and of pictures in a cell's outputs."""
    text = drawn = 0
    for output in outcome.outputs:
        data = output.get("data", {})
        pictures = sum(len(content) for mime, content in data.items() if mime.startswith("image/"))
        drawn, text = drawn + pictures, text + sum(map(len, data.values())) - pictures
        text += len(output.get("text", "")) + len(output.get("evalue", "")) + sum(map(len, output.get("traceback", ())))
    return text, drawn


def _shortened(outcome: CellOutcome) -> CellOutcome:
    shown: list[dict[str, Any]] = []
    for output in outcome.outputs:
        kind = output["output_type"]
        if kind == "stream" and output["name"] not in {one.get("name") for one in shown}:
            shown.append({**output, "text": _CUT})
        elif kind == "execute_result" and not any(one["output_type"] == kind for one in shown):
            text = output["data"].get("text/plain", "")
            shown.append({**output, "data": {"text/plain": shorten(text, _LEAST)}})
        elif kind == "error":
            message = read_text(output["evalue"], _LEAST)
            shown.append({**output, "evalue": message, "traceback": [f"{output['ename']}: {message}"]})
    if outcome.outputs and not shown:
        shown.append({"output_type": "stream", "name": "stdout", "text": _CUT})
    error = outcome.error and replace(outcome.error, message=read_text(outcome.error.message, _LEAST))
    return replace(outcome, outputs=tuple(shown), error=error)


def _read_output(output: Json, cap: int) -> dict[str, Any] | None:
    if type(output) is not list or not output:
        raise WireError("an output is not a list")
    if output[0] == "stream" and len(output) == 3 and output[1] in ("stdout", "stderr"):
        return {"output_type": "stream", "name": output[1], "text": read_text(output[2], cap + 100)}
    if output[0] not in ("display", "result") or len(output) != 2 or type(output[1]) is not dict:
        raise WireError("an output has an unknown type")
    data: dict[str, str] = {}
    for mime, content in output[1].items():
        if mime in _TEXT_TYPES:
            data[mime] = read_text(content, _MAX_PICTURE if mime == "image/svg+xml" else cap)
        elif mime in _PICTURES and _is_picture(content, _PICTURES[mime]):
            data[mime] = content
    if not data:
        return None
    shown: dict[str, Any] = {"output_type": "display_data", "data": data, "metadata": {}}
    if output[0] == "result":
        shown |= {"output_type": "execute_result", "execution_count": None}
    return shown


def _is_picture(content: Json, start: bytes) -> bool:
    if type(content) is not str or len(content) > _MAX_PICTURE:
        return False
    try:
        return base64.b64decode(content.encode("ascii"), validate=True).startswith(start)
    except (binascii.Error, UnicodeError):
        return False


def _error_output(error: StudentError, described: dict[str, Any]) -> dict[str, Any]:
    lines = ["Traceback (most recent call last):"]
    frames = described.get("frames")
    for frame in frames[:20] if type(frames) is list else ():
        if type(frame) is dict:
            at = read_error(frame | {"type": "", "message": ""})
            inside = f", in {at.where}" if at.where else ""
            lines += [f"  {at.cell}, line {at.lineno}{inside}", f"    {at.line}"]
    lines.append(f"{error.type}: {error.message}")
    return {"output_type": "error", "ename": error.type, "evalue": error.message, "traceback": lines}

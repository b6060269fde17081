"""Capture the output of a cell in order, up to a limit: streams, displays, results and figures."""

from __future__ import annotations

import base64
import io
import sys
from typing import Any

from .wire_limits import Value

__all__ = ["OutputCapture", "Stream", "bundle_of", "capture_figures"]

MAX_PICTURE = 1 << 20
MAX_PICTURES = 24
ALWAYS = 1000  # characters of a cell's result that are always kept, because nbgrader reads a score there
DPI = 72
_REPRS = {
    "html": "text/html", "markdown": "text/markdown", "svg": "image/svg+xml", "png": "image/png", "jpeg": "image/jpeg",
    "latex": "text/latex",
}  # fmt: skip


class OutputCapture:
    """The outputs of the current cell. Outside a cell, in a call or a probe, nothing is kept."""

    def __init__(self) -> None:
        self.characters_left = 0
        self.has_stderr = False
        self.pictures_left = MAX_PICTURES
        self.outputs: list[list[Any]] = []
        self.draw = True

    def start(self, limit: int) -> None:
        """Clear the outputs and allow at most ``limit`` characters of text."""
        self.outputs, self.characters_left, self.has_stderr = [], limit, False

    def stop(self) -> list[list[Any]]:
        """Return the outputs so far, and drop everything printed from now on."""
        outputs, self.outputs, self.characters_left = self.outputs, [], 0
        return outputs

    def print(self, name: str, text: str) -> None:
        """Add text to a stream. Text beyond the limit is cut off and replaced with a note."""
        if not text:
            return
        if self.characters_left <= 0:
            # Any text on stderr affects the score in nbgrader.
            if name == "stderr" and not self.has_stderr:
                self.outputs.append(["stream", name, ["… and this cell wrote to stderr\n"]])
                self.has_stderr = True
            return
        self.has_stderr = self.has_stderr or name == "stderr"
        kept = text[: self.characters_left]
        self.characters_left -= len(kept)
        if self.characters_left <= 0:
            kept += "\n… the rest of this cell's output is not kept\n"
        if self.outputs and self.outputs[-1][:2] == ["stream", name]:
            self.outputs[-1][2].append(kept)
        else:
            self.outputs.append(["stream", name, [kept]])

    def show(self, kind: str, bundle: dict[str, str]) -> None:
        """Add a display (``kind`` "display") or the cell's result ("result")."""
        kept: dict[str, str] = {}
        for mime, data in bundle.items():
            if mime.startswith("image/") and self.pictures_left > 0 and len(data) <= MAX_PICTURE:
                self.pictures_left -= 1
                kept[mime] = data
            elif not mime.startswith("image/"):
                least = ALWAYS if kind == "result" and mime == "text/plain" else 0
                if max(self.characters_left, least) > 0:
                    kept[mime] = data[: max(self.characters_left, least)]
                    self.characters_left -= len(kept[mime])
        if kept:
            self.outputs.append([kind, kept])


class Stream(io.TextIOBase):
    """The ``sys.stdout`` or ``sys.stderr`` of a notebook."""

    encoding = "utf-8"
    errors = "replace"

    def __init__(self, name: str, capture: OutputCapture) -> None:
        self._name = name
        self._capture = capture

    def write(self, text: str) -> int:
        """Capture ``text``. Raises ``TypeError`` if it is not a string."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._capture.print(self._name, text)
        return len(text)

    def writable(self) -> bool:
        """Return True."""
        return True

    def fileno(self) -> int:
        """Raise ``UnsupportedOperation``, as in Jupyter."""
        raise io.UnsupportedOperation("fileno")


def bundle_of(value: Value) -> dict[str, str]:
    """Return the representations of ``value`` by MIME type, with binary data as base64."""
    bundle: dict[str, str] = {}
    for name, mime in _REPRS.items():
        formatter = getattr(type(value), f"_repr_{name}_", None)
        if formatter is None:
            continue
        try:
            data = formatter(value)
        except Exception:  # noqa: BLE001, S112 - as in Jupyter, a display that fails is left out
            continue
        if isinstance(data, tuple) and data:
            data = data[0]
        if isinstance(data, (bytes, bytearray)):
            bundle[mime] = base64.b64encode(data).decode("ascii")
        elif isinstance(data, str):
            bundle[mime] = data
    try:
        bundle["text/plain"] = repr(value)
    except Exception as error:  # noqa: BLE001 - a student's __repr__ may raise anything
        bundle["text/plain"] = f"<{type(value).__name__}, whose repr raises {type(error).__name__}>"
    return bundle


def capture_figures(capture: OutputCapture) -> None:
    """Add every open matplotlib figure to the outputs as a PNG, and close it."""
    pyplot: Any = sys.modules.get("matplotlib.pyplot")
    if not hasattr(pyplot, "get_fignums"):
        return
    for number in pyplot.get_fignums():
        figure = pyplot.figure(number)
        if capture.draw and capture.pictures_left > 0 and capture.characters_left > 0:
            buffer = io.BytesIO()
            figure.savefig(buffer, format="png", dpi=DPI)
            picture = base64.b64encode(buffer.getvalue()).decode("ascii")
            capture.show("display", {"image/png": picture, "text/plain": repr(figure)})
        pyplot.close(figure)

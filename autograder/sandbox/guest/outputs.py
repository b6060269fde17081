"""What a cell shows: streams, displays, results and figures, caught in order and cut at a limit."""

from __future__ import annotations

import base64
import io
import sys
from typing import Any

__all__ = ["OutputCapture", "Stream", "bundle_of", "capture_figures"]

MAX_PICTURE = 1 << 20
MAX_PICTURES = 24
ALWAYS = 1000  # characters of a cell's result that are kept however much it printed: nbgrader reads a score there
DPI = 72
_REPRS = (
    ("_repr_html_", "text/html"),
    ("_repr_markdown_", "text/markdown"),
    ("_repr_svg_", "image/svg+xml"),
    ("_repr_png_", "image/png"),
    ("_repr_jpeg_", "image/jpeg"),
    ("_repr_latex_", "text/latex"),
)


class OutputCapture:
    """The outputs of the cell that runs now; outside of a cell (a call, a probe) nothing is kept."""

    def __init__(self) -> None:
        self.room = 0
        self.complained = False
        self.pictures = MAX_PICTURES
        self.outputs: list[list[Any]] = []
        self.draw = True

    def start(self, characters: int) -> None:
        """Begin an empty tape with room for so many characters of text."""
        self.outputs, self.room, self.complained = [], characters, False

    def stop(self) -> list[list[Any]]:
        """The outputs so far; what is printed from now on is dropped."""
        outputs, self.outputs, self.room = self.outputs, [], 0
        return outputs

    def print(self, name: str, text: str) -> None:
        """Add text to a stream; what does not fit is cut, with a note, once."""
        if not text:
            return
        if self.room <= 0:
            # That a cell wrote to stderr at all counts against it in nbgrader.
            if name == "stderr" and not self.complained:
                self.outputs.append(["stream", name, ["… and this cell wrote to stderr\n"]])
                self.complained = True
            return
        self.complained = self.complained or name == "stderr"
        kept = text[: self.room]
        self.room -= len(kept)
        if self.room <= 0:
            kept += "\n… the rest of what this cell printed was cut\n"
        if self.outputs and self.outputs[-1][:2] == ["stream", name]:
            self.outputs[-1][2].append(kept)
        else:
            self.outputs.append(["stream", name, [kept]])

    def show(self, kind: str, bundle: dict[str, str]) -> None:
        """Add a display (``kind`` "display") or the cell's result ("result")."""
        kept: dict[str, str] = {}
        for mime, data in bundle.items():
            if mime.startswith("image/") and self.pictures > 0 and len(data) <= MAX_PICTURE:
                self.pictures -= 1
                kept[mime] = data
            elif not mime.startswith("image/"):
                least = ALWAYS if kind == "result" and mime == "text/plain" else 0
                if max(self.room, least) > 0:
                    kept[mime] = data[: max(self.room, least)]
                    self.room -= len(kept[mime])
        if kept:
            self.outputs.append([kind, kept])


class Stream(io.TextIOBase):
    """``sys.stdout`` or ``sys.stderr`` of a notebook."""

    encoding = "utf-8"
    errors = "replace"

    def __init__(self, name: str, tape: OutputCapture) -> None:
        self._name = name
        self._tape = tape

    def write(self, text: str) -> int:
        """Put text on the tape."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._tape.print(self._name, text)
        return len(text)

    def writable(self) -> bool:
        """It is."""
        return True

    def fileno(self) -> int:
        """There is none, as in a notebook."""
        raise io.UnsupportedOperation("fileno")


def bundle_of(value: Any) -> dict[str, str]:
    """How ``value`` shows itself, by MIME type; binary data as base64."""
    bundle: dict[str, str] = {}
    for method, mime in _REPRS:
        shower = getattr(type(value), method, None)
        if shower is None:
            continue
        try:
            data = shower(value)
        except Exception:  # noqa: BLE001, S112 - a display that fails is left out, as Jupyter does
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


def capture_figures(tape: OutputCapture) -> None:
    """Put every open matplotlib figure on the tape as a PNG, then close it."""
    pyplot: Any = sys.modules.get("matplotlib.pyplot")
    if not hasattr(pyplot, "get_fignums"):
        return
    for number in pyplot.get_fignums():
        figure = pyplot.figure(number)
        if tape.draw and tape.pictures > 0 and tape.room > 0:
            drawn = io.BytesIO()
            figure.savefig(drawn, format="png", dpi=DPI)
            picture = base64.b64encode(drawn.getvalue()).decode("ascii")
            tape.show("display", {"image/png": picture, "text/plain": repr(figure)})
        pyplot.close(figure)

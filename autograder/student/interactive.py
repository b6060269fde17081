"""Implement ``interact(...)`` in a notebook: precompute all pictures, so that controls work without a kernel."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import math
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path

from autograder.base.foreign import Json, Value
from autograder.sandbox.guest.drawing import MovingPicture, Shown
from autograder.student.notebook_check.front_end import show, shows_html

__all__ = ["interact", "page"]


def page(data: Mapping[str, Json], png: str, words: str) -> str:
    """Return the HTML of an interactive picture from ``data`` for its script, the still picture ``png`` in base64, and a description."""
    # A light and a dark theme. In both, text on the tint has a contrast of at least 4.5 : 1.
    style = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
    # Escape <, so that neither </script> nor <!-- can occur in the script.
    inside = json.dumps(data, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
    script = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
    script = script.replace("STYLE", json.dumps(style), 1).replace("DATA", inside, 1)
    image = f'<img src="data:image/png;base64,{png}" alt="{escape(words)}" style="max-width:100%">'
    return f'<div class="ag-moving">{image}<script>{script}</script></div>'


def interact(
    compute: Callable[..., Value],
    controls: Mapping[str, Sequence[Value]],
    *,
    start: Mapping[str, Value] | None = None,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    title: str = "",
) -> None:
    """Show the result of ``compute`` as a table or bars, with controls for its arguments.

    A graded, printed or untrusted notebook shows a still picture of the start values.

    Args:
        compute: called with one value for each control. Returns numbers of shape (rows, columns), or (columns,) without
            rows, or a tuple of the numbers and a sentence about them.
        controls: the values of each control, in order. Numbers give a slider, ``[False, True]`` a checkbox, and strings a
            row of choices with a preview under the mouse.
        start: the start values. Defaults to the first value of each control.
        rows: the names of the rows. Empty for bars.
        columns: the names of the columns.
        title: the title of the picture.

    Raises any error that ``compute`` raises for the start values, and ``ValueError`` if its numbers have a wrong shape. If
    ``compute`` fails for other values of the controls, the error is shown instead of the picture.
    """
    picture = MovingPicture(compute, controls, start or {}, rows, columns, title)
    first = picture.starting()
    shown, state = picture.at(first), picture.state(first)
    figure = picture.draw(shown, state)
    if not shows_html():
        return  # the figure stays open and is displayed as usual
    import matplotlib.pyplot as plt  # noqa: PLC0415 - slow to import and only needed for pictures

    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=100)
    plt.close(figure)
    png = base64.b64encode(image.getvalue()).decode("ascii")
    words = ". ".join(part for part in (title, state, _in_words(picture, shown), shown.caption) if part)
    with contextlib.redirect_stdout(io.StringIO()):  # output was already shown for the first picture
        frames = [_frame(picture, values) for values in picture.choices()]
    data = {
        "title": title,
        "rows": list(rows),
        "columns": list(columns),
        "controls": [{"name": name, "values": list(values)} for name, values in picture.controls.items()],
        "at": [list(values).index(value) for values, value in zip(picture.controls.values(), first, strict=True)],
        "frames": frames,
    }
    show(page(data, png, words), words, png)


def _frame(picture: MovingPicture, values: tuple[Value, ...]) -> dict[str, Json]:
    try:
        shown = picture.at(values)
    except Exception as error:  # noqa: BLE001 - a student's function may fail for some values
        what = f"{type(error).__name__}: {error}"
        return {"said": f"There is no picture: with {picture.state(values)}, your code raised {what}"}
    numbers = [float(f"{n:.4g}") if math.isfinite(n) else str(float(n)) for n in shown.numbers.ravel()]
    return {"numbers": numbers, "said": shown.caption}


def _in_words(picture: MovingPicture, shown: Shown) -> str:
    if picture.rows:
        return ""
    return ", ".join(f"{name}: {number:.3f}" for name, number in zip(picture.columns, shown.numbers, strict=True))

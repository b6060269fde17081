"""``move(...)`` in a student's notebook: every picture worked out at once, then moved without a kernel."""

from __future__ import annotations

import base64
import contextlib
import io
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autograder.moving.page import page
from autograder.sandbox.guest.moving import MovingPicture, Shown
from autograder.selfcheck.front_end import show, shows_html

__all__ = ["move"]


def move(
    compute: Callable[..., Any],
    controls: Mapping[str, Sequence[Any]],
    *,
    start: Mapping[str, Any] | None = None,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    title: str = "",
) -> None:
    """Show what ``compute`` gives for the values of each control, and let the reader move them.

    compute:  called with one value for each control; returns numbers of shape (rows, columns), or (columns,) where there
              are no rows, and may return a sentence about them beside: ``(numbers, sentence)``
    controls: a name, and its values in order. Numbers make a slider, ``[False, True]`` a box to tick, words a row of
              choices, where the one under the mouse is shown at once
    start:    the values at the start; the first one of a control that is not named

    A notebook that is graded, printed or not trusted has the still picture of the start. Raises what ``compute`` raises there,
    and ``ValueError`` for numbers of another shape; elsewhere such an error is a sentence in the picture's place.
    """
    picture = MovingPicture(compute, controls, start or {}, rows, columns, title)
    first = picture.starting()
    shown, state = picture.at(first), picture.state(first)
    figure = picture.draw(shown, state)
    if not shows_html():
        return  # the figure stays open, and is shown as any other
    import matplotlib.pyplot as plt  # noqa: PLC0415 - only a picture waits for it

    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=100)
    plt.close(figure)
    png = base64.b64encode(drawn.getvalue()).decode("ascii")
    words = ". ".join(part for part in (title, state, _in_words(picture, shown), shown.said) if part)
    with contextlib.redirect_stdout(
        io.StringIO()
    ):  # what a student's function prints is read once, not for every picture
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


def _frame(picture: MovingPicture, values: tuple[Any, ...]) -> dict[str, Any]:
    try:
        shown = picture.at(values)
    except Exception as error:  # noqa: BLE001 - a student's function may do anything for one of many values
        return {
            "said": f"Nothing to see here: with {picture.state(values)}, your code gave {type(error).__name__}: {error}"
        }
    return {"numbers": [_number(number) for number in shown.numbers.ravel()], "said": shown.said}


def _number(number: float) -> float | str:
    return float(f"{number:.4g}") if math.isfinite(number) else str(float(number))


def _in_words(picture: MovingPicture, shown: Shown) -> str:
    if picture.rows:
        return ""
    return ", ".join(f"{name}: {number:.3f}" for name, number in zip(picture.columns, shown.numbers, strict=True))

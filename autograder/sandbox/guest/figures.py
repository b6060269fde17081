"""The matplotlib backend of a graded notebook: Agg, with a ``show`` that adds the open figures to the outputs."""

from __future__ import annotations

from collections.abc import Callable

from matplotlib.backends.backend_agg import FigureCanvasAgg as FigureCanvas

__all__ = ["FigureCanvas", "show"]

when_shown: list[Callable[[], None]] = []


def show(*_args: object, **_kwargs: object) -> None:
    """Call the ``when_shown`` functions. This is ``plt.show``."""
    for action in when_shown:
        action()

"""``@uses("softmax")``: a picture that is drawn with the student's own functions, or a line that says why not yet."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["uses"]


def uses(*names: str) -> Callable[[Callable[[], object]], None]:
    """Draw at once what the function below draws, with the functions called ``names``; nothing is raised, whatever they give."""

    def draw_now(draw: Callable[[], object]) -> None:
        import matplotlib.pyplot as plt  # noqa: PLC0415 - a notebook without pictures never waits for it
        import numpy as np  # noqa: PLC0415

        needed = " and ".join(f"`{name}`" for name in names)
        try:
            with np.errstate(all="ignore"):  # what comes out is in the picture; no warnings beside it
                draw()
            plt.show()
        except NotImplementedError:
            _say(f"Nothing to see yet: this cell uses your {needed}.", "Run it again when check(...) is content.")
        except Exception as error:  # noqa: BLE001 - a student's functions may give anything
            _say(
                f"Nothing to see: what your {needed} gave could not be used here.",
                f"({type(error).__name__}: {error})",
                "Run check(...) to see what is wrong, then run this cell again.",
            )
        finally:
            plt.close("all")

    return draw_now


def _say(*lines: str) -> None:
    print(*lines, sep="\n")  # noqa: T201 - it is the cell's output

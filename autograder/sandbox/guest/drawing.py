"""Draw pictures that use the student's own functions: ``@requires("softmax")``, and interactive pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from textwrap import fill
from typing import Any

from .wire_limits import Value

__all__ = ["MOST_PICTURES", "MovingPicture", "Shown", "interact", "requires"]


def explain_missing(_name: str) -> str:
    """Return a sentence that says which cell defines a name. A notebook replaces this function. Elsewhere, the result is ""."""
    return ""


def show_figures(draw: Callable[[], object]) -> None:  # noqa: ARG001 - the replacement uses it
    """Show the open figures. In a notebook, another function takes its place and describes the figures by the text below the cell of ``draw``."""
    import matplotlib.pyplot as plt  # noqa: PLC0415 - slow, and many notebooks have no pictures

    plt.show()


def requires(*names: str, prediction: str = "") -> Callable[[Callable[[], object]], None]:
    """Call the decorated drawing function, which uses the student's functions ``names``. Errors are printed, not raised.

    ``prediction`` names a variable that the student sets first. The drawing function returns the value to compare it with.
    """

    def draw_now(draw: Callable[[], object]) -> None:
        import matplotlib.pyplot as plt  # noqa: PLC0415 - slow, and many notebooks have no pictures
        import numpy as np  # noqa: PLC0415

        needed = "your " + " and ".join(f"`{name}`" for name in names) if names else "this cell"
        said = draw.__globals__.get(prediction)
        if prediction and said is None:
            _say(f"Predict first: type what you expect for `{prediction}`.", "Run that cell, then this one again.")
            return
        try:
            with np.errstate(all="ignore"):  # show no warnings next to the picture
                found = draw()
            show_figures(draw)
            if prediction:
                _say(_compared(said, found))
        except NotImplementedError:
            _say(f"Nothing to see yet: this cell uses {needed}.", "Run it again when check(...) passes.")
        except Exception as error:  # noqa: BLE001 - student functions may return anything
            if isinstance(error, NameError) and (advice := explain_missing(error.name or "")):
                _say(f"Nothing to see yet: {advice}", "Then run this cell again.")
                return
            _say(
                f"Nothing to see: the result of {needed} cannot be used here.",
                f"({type(error).__name__}: {error})",
                "Run check(...) to see what is wrong, then run this cell again.",
            )
        finally:
            plt.close("all")

    return draw_now


def _compared(said: object, found: object) -> str:
    """Return a sentence that compares a prediction with the result. If the result is a float, an error of a tenth is accepted."""
    close, shown = str(said).strip().lower() == str(found).lower(), found
    if isinstance(found, float):
        close, shown = isinstance(said, int | float) and abs(said - found) <= 0.1 * abs(found), f"{found:.3g}"
    return f"You predicted {said}. The result is {shown}{', as you predicted.' if close else '. What explains the difference?'}"


def _say(*lines: str) -> None:
    print(*lines, sep="\n")  # noqa: T201 - it is the cell's output


MOST_PICTURES = 400  # the maximum number of combinations of the controls' values. Student code computes each picture


@dataclass(frozen=True)
class Shown:
    """The picture for one choice of values: ``numbers`` of shape (rows, columns) or (columns,), and a sentence."""

    numbers: Any
    caption: str = ""


@dataclass(frozen=True)
class MovingPicture:
    """A picture whose values can be changed with controls.

    The fields are the arguments of ``autograder.interact``. Raises ``ValueError`` if a control has no values, ``start`` is
    not one of them, or there are too many pictures.
    """

    compute: Callable[..., Value]
    controls: Mapping[str, Sequence[Value]]
    start: Mapping[str, Value] = field(default_factory=dict)
    rows: Sequence[str] = ()
    columns: Sequence[str] = ()
    title: str = ""

    def __post_init__(self) -> None:
        if not self.controls or not all(len(values) for values in self.controls.values()):
            needed = "each control needs a name and its values, as in {'T': [0.1, 1, 10]}"
            raise ValueError(f"a control is missing or has no values: {needed}")
        for name, value in self.start.items():
            if value not in self.controls.get(name, ()):
                raise ValueError(f"start[{name!r}] is {value!r}, but no control of that name has this value")
        if (count := prod(len(values) for values in self.controls.values())) > MOST_PICTURES:
            why = "so that the notebook stays small and fast"
            raise ValueError(f"{count} pictures are too many: use at most {MOST_PICTURES}, {why}")

    def starting(self) -> tuple[Value, ...]:
        """Return the initial value of each control."""
        return tuple(self.start.get(name, values[0]) for name, values in self.controls.items())

    def choices(self) -> Iterator[tuple[Value, ...]]:
        """Return every combination of values. The last control varies fastest."""
        return product(*self.controls.values())

    def at(self, values: tuple[Value, ...]) -> Shown:
        """Return the picture for ``values``. Raises any error of ``compute``, and ``ValueError`` if its result has the wrong shape."""
        import numpy as np  # noqa: PLC0415 - slow, and many notebooks have no such pictures

        result = self.compute(*values)
        numbers, caption = result if isinstance(result, tuple) else (result, "")
        array = np.asarray(numbers, dtype=float)
        shape = (len(self.rows), len(self.columns)) if self.rows else (len(self.columns),)
        if array.shape != shape:
            raise ValueError(f"an array of shape {shape} was expected here, but its shape is {array.shape}")
        return Shown(array, str(caption))

    def state(self, values: tuple[Value, ...]) -> str:
        """Return the values as text, such as ``"temperature: 1, scaled: yes"``."""
        shown = ({True: "yes", False: "no"}[value] if isinstance(value, bool) else value for value in values)
        return ", ".join(f"{name}: {text}" for name, text in zip(self.controls, shown, strict=True))

    def draw(self, shown: Shown, state: str) -> Any:
        """Return a figure with ``state`` in its title. One row of numbers is drawn as bars, several as a table."""
        import matplotlib.pyplot as plt  # noqa: PLC0415 - as above
        import numpy as np  # noqa: PLC0415

        high, wide = max(1, len(self.rows)), len(self.columns)
        if self.rows:
            figure, ax = plt.subplots(figsize=(2 + 0.5 * wide, 1.6 + 0.42 * high))
            ax.imshow(shown.numbers, cmap="Blues", vmin=0, vmax=max(1.0, _largest(shown.numbers)), aspect="auto")
            for i, j in np.ndindex(high, wide):
                number = shown.numbers[i, j]
                dark = number > 0.6 * max(1.0, _largest(shown.numbers))
                ink, text = "white" if dark else "black", f"{number:.2f}" if number else "0"
                ax.text(j, i, text, ha="center", va="center", fontsize=7, color=ink)
            ax.set_xticks(range(wide), self.columns, fontsize=8)
            ax.set_yticks(range(high), self.rows, fontsize=8)
        else:
            figure, ax = plt.subplots(figsize=(6, 1.4 + 0.28 * wide))
            bars = ax.barh(range(wide), np.nan_to_num(shown.numbers), color="#0072B2")
            ax.bar_label(bars, labels=[f"{number:.3f}" for number in shown.numbers], padding=3, fontsize=8)
            ax.set_yticks(range(wide), self.columns, fontsize=8)
            ax.set_xlim(0, 1.15 * max(1.0, _largest(shown.numbers)))
            ax.invert_yaxis()
        ax.set_title("\n".join(line for line in (self.title, state) if line), fontsize=10)
        if shown.caption:
            ax.set_xlabel(fill(shown.caption, int(12 * figure.get_figwidth())), fontsize=8)
        figure.tight_layout()
        return figure


def interact(compute: Callable[..., Value], controls: Mapping[str, Sequence[Value]], **options: Any) -> None:
    """Draw the initial picture only, as in a graded notebook. ``options`` are fields of ``MovingPicture``."""
    picture = MovingPicture(compute, controls, **options)
    values = picture.starting()
    picture.draw(picture.at(values), picture.state(values))


def _largest(numbers: Any) -> float:
    import numpy as np  # noqa: PLC0415 - as above

    finite = numbers[np.isfinite(numbers)]
    return float(finite.max()) if finite.size else 1.0

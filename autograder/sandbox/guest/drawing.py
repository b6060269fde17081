"""Pictures that use the student's own functions: ``@requires("softmax")``, and pictures with values to move."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from textwrap import fill
from typing import Any

__all__ = ["MOST_PICTURES", "MovingPicture", "Shown", "interact", "requires"]


def requires(*names: str) -> Callable[[Callable[[], object]], None]:
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


MOST_PICTURES = 400  # for all places of all controls together; each is worked out by the student's code


@dataclass(frozen=True)
class Shown:
    """What is shown for one choice of values: ``numbers`` of shape (rows, columns) or (columns,), and a sentence."""

    numbers: Any
    said: str = ""


@dataclass(frozen=True)
class MovingPicture:
    """``compute`` and the values that it may be given: ``controls`` maps a control's name to its values, in order.

    Raises ``ValueError`` where a control has no values, ``start`` is none of them, or there are too many pictures.
    """

    compute: Callable[..., Any]
    controls: Mapping[str, Sequence[Any]]
    start: Mapping[str, Any] = field(default_factory=dict)
    rows: Sequence[str] = ()
    columns: Sequence[str] = ()
    title: str = ""

    def __post_init__(self) -> None:
        if not self.controls or not all(len(values) for values in self.controls.values()):
            raise ValueError(
                "there is nothing to move: each control needs a name and its values, as in {'T': [0.1, 1, 10]}"
            )
        for name, value in self.start.items():
            if value not in self.controls.get(name, ()):
                raise ValueError(f"start[{name!r}] is {value!r}, which is none of the values of a control of that name")
        if (count := prod(len(values) for values in self.controls.values())) > MOST_PICTURES:
            raise ValueError(f"{count} pictures are too many: {MOST_PICTURES} or fewer keep a notebook small and fast")

    def starting(self) -> tuple[Any, ...]:
        """The value of each control at the start: the first one where nothing else is said."""
        return tuple(self.start.get(name, values[0]) for name, values in self.controls.items())

    def choices(self) -> Iterator[tuple[Any, ...]]:
        """Every choice of values, the last control moving fastest."""
        return product(*self.controls.values())

    def at(self, values: tuple[Any, ...]) -> Shown:
        """What is shown for one choice of values; raises what ``compute`` raises, or ``ValueError`` for another shape."""
        import numpy as np  # noqa: PLC0415 - a notebook without such pictures never waits for it

        made = self.compute(*values)
        numbers, said = made if isinstance(made, tuple) else (made, "")
        array = np.asarray(numbers, dtype=float)
        wanted = (len(self.rows), len(self.columns)) if self.rows else (len(self.columns),)
        if array.shape != wanted:
            raise ValueError(f"an array of shape {wanted} was expected here, not of shape {array.shape}")
        return Shown(array, str(said))

    def state(self, values: tuple[Any, ...]) -> str:
        """The values as a reader says them: "temperature 1, scaled: yes"."""
        return ", ".join(
            f"{name}: {'yes' if value else 'no'}" if isinstance(value, bool) else f"{name}: {value}"
            for name, value in zip(self.controls, values, strict=True)
        )

    def draw(self, shown: Shown, state: str) -> Any:
        """A figure of what is shown, with ``state`` above it: bars for one row of numbers, else a table."""
        import matplotlib.pyplot as plt  # noqa: PLC0415 - as above
        import numpy as np  # noqa: PLC0415

        high, wide = max(1, len(self.rows)), len(self.columns)
        if self.rows:
            figure, ax = plt.subplots(figsize=(2 + 0.5 * wide, 1.6 + 0.42 * high))
            ax.imshow(shown.numbers, cmap="Blues", vmin=0, vmax=max(1.0, _largest(shown.numbers)), aspect="auto")
            for i, j in np.ndindex(high, wide):
                number = shown.numbers[i, j]
                dark = number > 0.6 * max(1.0, _largest(shown.numbers))
                text = f"{number:.2f}" if number else "0"
                ax.text(j, i, text, ha="center", va="center", fontsize=7, color="white" if dark else "black")
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
        if shown.said:
            ax.set_xlabel(fill(shown.said, int(12 * figure.get_figwidth())), fontsize=8)
        figure.tight_layout()
        return figure


def interact(compute: Callable[..., Any], controls: Mapping[str, Sequence[Any]], **options: Any) -> None:
    """Draw the still picture alone: what a graded notebook shows; ``options`` are the fields of ``MovingPicture``."""
    picture = MovingPicture(compute, controls, **options)
    values = picture.starting()
    picture.draw(picture.at(values), picture.state(values))


def _largest(numbers: Any) -> float:
    import numpy as np  # noqa: PLC0415 - as above

    finite = numbers[np.isfinite(numbers)]
    return float(finite.max()) if finite.size else 1.0

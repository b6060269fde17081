"""Arguments that are tables: DataFrames with given columns, and with varying rows, labels and missing values.

Every run of a course draws the same inputs. Reordering the calls of ``rng`` would change all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial

import numpy as np

from autograder.base.errors import CourseError
from autograder.base.foreign import Value
from autograder.checking.inputs.argument import Argument, BoundCall, Drawing, Path, Style
from autograder.checking.inputs.builtin_arguments import ChoiceArgument, NumberArgument
from autograder.values import family_of

__all__ = ["TableArgument", "table"]

MANY = 30  # a table with more rows counts as long
Column = Callable[[int, np.random.Generator], list[Value]]


@dataclass(frozen=True)
class TableArgument(Argument):
    """An argument that is a DataFrame. The function ``table`` describes the attributes."""

    columns: Mapping[str, ChoiceArgument | NumberArgument]
    _: KW_ONLY
    rows: tuple[int, int] = (0, 50)
    missing: tuple[str, ...] = ()
    labels: bool = True
    others: bool = True

    def styles(self, name: str) -> Iterator[Style]:
        # fmt: off
        low, high = self.rows
        own = list(self.columns)
        if low == 0:
            yield Style("no rows", f"a table `{name}` without rows", lambda t: not len(t), lambda _count, rng: self.ordinary(0, rng), exclusive=True)
        if low <= 1 <= high:
            yield Style("one row", f"a table `{name}` of one row", lambda t: len(t) == 1, lambda _count, rng: self.ordinary(1, rng))
        if high > MANY:
            yield Style("many rows", f"a table `{name}` of more than {MANY} rows", lambda t: len(t) > MANY,
                        lambda _count, rng: self.ordinary(int(rng.integers(MANY + 1, min(high, MANY + 30) + 1)), rng))
        if high > 1:
            yield Style("equal rows", f"a table `{name}` in which a row occurs twice", lambda t: t[own].duplicated().any(), self._equal_rows)
        if self.labels:
            yield Style("labels of its own", f"a table `{name}` whose rows are not labeled 0, 1, 2 and so on",
                        lambda t: len(t) > 0 and t.index.dtype.kind not in "iu", self._with_text_labels)
            yield Style("labels in no order", f"a table `{name}` whose row labels are whole numbers in no particular order",
                        lambda t: len(t) > 1 and t.index.dtype.kind in "iu" and not t.index.is_monotonic_increasing, self._with_unordered_labels)
        if self.others:
            if len(own) > 1:
                yield Style("columns in another order", f"a table `{name}` with its columns in a different order",
                            lambda t: [c for c in t.columns if c in own] != own, lambda count, rng: self.ordinary(count, rng)[own[::-1]])
            yield Style("a column more", f"a table `{name}` with an extra column", lambda t: len(t.columns) > len(own), self._with_another_column)
        for column in self.missing:
            if high > 1:
                yield Style(f"missing in {column}", f"a table `{name}` with missing values in {column!r}",
                            lambda t, column=column: 0 < t[column].isna().sum() < len(t), partial(self._without_some, column))
            if high > 0:
                yield Style(f"nothing in {column}", f"a table `{name}` with only missing values in {column!r}",
                            lambda t, column=column: len(t) > 0 and t[column].isna().all(), partial(self._without_all, column))
        for column, argument in self.columns.items():
            if high > 1 and isinstance(argument, ChoiceArgument):
                yield Style(f"one value in {column}", f"a table `{name}` with the same {column!r} in every row",
                            lambda t, column=column: len(t) > 1 and len(set(t[column])) == 1, self._with_column(column, partial(_choices, argument, most=1)))
            if high > 1 and isinstance(argument, NumberArgument):
                yield Style(f"ties in {column}", f"a table `{name}` in which two rows have the same {column!r}",
                            lambda t, column=column: t[column].dropna().duplicated().any(), self._with_column(column, partial(_tied_numbers, argument)))
            if high > 0 and isinstance(argument, NumberArgument) and not argument.whole and math.ceil(argument.low) <= argument.high:
                yield Style(f"whole numbers in {column}", f"a table `{name}` with whole numbers in {column!r}",
                            lambda t, column=column: len(t) > 0 and t[column].dtype.kind in "iu", self._with_column(column, partial(_whole_numbers, argument)))
        # fmt: on

    def fits(self, style: Style, value: Value, call: BoundCall) -> bool:
        """Return whether a value is a DataFrame that has this argument's columns and the style."""
        is_table = family_of(value).is_table and set(self.columns) <= set(getattr(value, "columns", ()))
        return is_table and super().fits(style, value, call)

    def draw(self, drawing: Drawing, path: Path) -> Value:
        """Draw a DataFrame. An ordinary one has five to eight rows, if that is allowed."""
        return self.draw_styled(drawing, path, int(np.clip(drawing.rng.integers(5, 9), *self.rows)), drawing.rng)

    def ordinary(self, count: int, rng: np.random.Generator, special: Mapping[str, Column] | None = None) -> Value:
        """Return a DataFrame with ``count`` rows. ``special`` contains other functions for drawing some of the columns."""
        import pandas as pd  # noqa: PLC0415 - only a contract with a table needs it

        ordinary: dict[str, Column] = {
            name: partial(_choices if isinstance(argument, ChoiceArgument) else _numbers, argument)  # type: ignore[arg-type]
            for name, argument in self.columns.items()
        }
        columns = {name: drawn(count, rng) for name, drawn in {**ordinary, **(special or {})}.items()}
        if count:
            return pd.DataFrame(columns)
        # Draw two rows and remove them, because columns without values would have no dtypes.
        return pd.DataFrame({name: drawn(2, rng) for name, drawn in ordinary.items()}).iloc[:0].reset_index(drop=True)

    def _with_column(self, column: str, drawn: Column) -> Callable[[int, np.random.Generator], Value]:
        return lambda count, rng: self.ordinary(count, rng, {column: drawn})

    def _equal_rows(self, count: int, rng: np.random.Generator) -> Value:
        frame = self.ordinary(count, rng)
        return frame.iloc[[*range(count - 1), int(rng.integers(count - 1))]].reset_index(drop=True)

    def _with_text_labels(self, count: int, rng: np.random.Generator) -> Value:
        frame = self.ordinary(count, rng)
        letters = "pqrstuvwxyz"
        return frame.set_axis([letters[n % len(letters)] + str(n) for n in rng.permutation(count)])

    def _with_unordered_labels(self, count: int, rng: np.random.Generator) -> Value:
        frame = self.ordinary(count, rng)
        return frame.set_axis(rng.permutation(np.arange(3, 3 + 2 * count))[:count])

    def _with_another_column(self, count: int, rng: np.random.Generator) -> Value:
        frame = self.ordinary(count, rng)
        frame.insert(0, "remark", [f"note {n}" for n in range(count)])
        return frame

    def _without_some(self, column: str, count: int, rng: np.random.Generator) -> Value:
        """Remove about 40 % of a column's values: at least one, but not all."""
        frame = self.ordinary(count, rng)
        gone = rng.random(count) < 0.4
        gone[int(rng.integers(count))] = True
        gone[: 1 if gone.all() else 0] = False
        frame[column] = frame[column].mask(gone)
        return frame

    def _without_all(self, column: str, count: int, rng: np.random.Generator) -> Value:
        frame = self._without_some(column, count, rng)
        frame[column] = frame[column].mask(np.ones(count, bool))
        return frame


# the values of a column


def _choices(argument: ChoiceArgument, count: int, rng: np.random.Generator, most: int | None = None) -> list[Value]:
    """Return ``count`` choices with at most ``most`` different values."""
    choices = list(argument.values)
    chosen = rng.permutation(len(choices))[:most]
    return [choices[int(chosen[int(rng.integers(len(chosen)))])] for _ in range(count)]


def _numbers(argument: NumberArgument, count: int, rng: np.random.Generator) -> list[Value]:
    low, high = argument.low, argument.high
    if argument.whole:
        return _whole_numbers(argument, count, rng)
    drawn = np.round(rng.uniform(low, high, size=count), 2 if high - low > 1 else 6)
    return [float(n) for n in np.clip(drawn, low, high)]


def _tied_numbers(argument: NumberArgument, count: int, rng: np.random.Generator) -> list[Value]:
    drawn = _numbers(argument, count, rng)
    drawn[int(rng.integers(1, count))] = drawn[0]
    return drawn


def _whole_numbers(argument: NumberArgument, count: int, rng: np.random.Generator) -> list[Value]:
    return [int(n) for n in rng.integers(math.ceil(argument.low), math.floor(argument.high) + 1, size=count)]


def table(
    columns: Mapping[str, Argument],
    *,
    rows: tuple[int, int] = (0, 50),
    missing: Sequence[str] | str = (),
    labels: bool = True,
    others: bool = True,
    default: bool = False,
) -> TableArgument:
    """Declare a DataFrame with these columns, and ``rows[0]`` to ``rows[1]`` rows.

    Args:
        columns: The values of each column, by name: ``real(…)``, ``whole(…)`` or ``among(…)``.
        rows: The smallest and the largest number of rows.
        missing: The columns in which values may be missing.
        labels: The rows may have labels other than 0, 1, 2 and so on.
        others: The columns may be in any order, and there may be another column.
        default: A call may leave the argument out.

    Raises:
        CourseError: The options contradict one another, or a column cannot be drawn.
    """
    named = (missing,) if isinstance(missing, str) else tuple(missing)
    unknown = [name for name in named if name not in columns]
    if unknown or not columns:
        what = f"values may be missing in {unknown[0]!r}, but it has no such column" if unknown else "it has no columns"
        raise CourseError(f"table({{…}}): {what}.")
    drawable: dict[str, ChoiceArgument | NumberArgument] = {}
    for name, argument in columns.items():
        if not isinstance(argument, NumberArgument | ChoiceArgument):
            raise CourseError(
                f"table({{{name!r}: …}}): a column must be real(…), whole(…) or among(…), not {type(argument).__name__}."
            )
        drawable[name] = argument
    if not 0 <= rows[0] <= rows[1]:
        raise CourseError(f"table(rows={rows}): the first number must be at least 0, and at most the second.")
    return TableArgument(drawable, rows=rows, missing=named, labels=labels, others=others, default=default)

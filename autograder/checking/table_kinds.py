"""The word ``table`` of a contract: what columns a DataFrame has, the kinds of table that follow, and how each is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Any

import numpy as np

from autograder.base.errors import CourseError
from autograder.checking.arguments import Argument, ChoiceArgument, NumberArgument
from autograder.checking.kind import Kind, Path, styled
from autograder.values import family_of

__all__ = ["TableArgument", "draw_table", "of_table", "table"]

MANY = 30  # rows from which on a table is a long one
_FEW = 0.4  # of the cells of a column are missing, about, where some are
_LABELS = "pqrstuvwxyz"
_BESIDE = "remark"  # a column that nobody asked about


@dataclass(frozen=True)
class TableArgument(Argument):
    """A DataFrame: its columns by name, how many rows it may have, and what else may be so."""

    columns: Mapping[str, Argument] = field(default_factory=dict)
    _: KW_ONLY
    rows: tuple[int, int] = (0, 50)
    missing: tuple[str, ...] = ()
    labels: bool = True
    others: bool = True


def table(
    columns: Mapping[str, Argument],
    *,
    rows: tuple[int, int] = (0, 50),
    missing: Sequence[str] | str = (),
    labels: bool = True,
    others: bool = True,
    default: bool = False,
) -> TableArgument:
    """A DataFrame with these columns, each ``real(…)``, ``whole(…)`` or ``among(…)``, and of ``rows[0]`` to ``rows[1]`` rows.

    ``missing`` names the columns in which values may be missing. Unless ``labels=False`` its rows may be labelled otherwise than
    0, 1, 2 and so on; unless ``others=False`` its columns may stand in any order, and one more among them.
    """
    named = (missing,) if isinstance(missing, str) else tuple(missing)
    unknown = [name for name in named if name not in columns]
    if unknown or not columns:
        what = (
            f"values may be missing in {unknown[0]!r}, which is none of its columns" if unknown else "it has no columns"
        )
        raise CourseError(f"table({{…}}): {what}.")
    for name, kind in columns.items():
        if not isinstance(kind, NumberArgument | ChoiceArgument):
            raise CourseError(
                f"table({{{name!r}: …}}): a column is real(…), whole(…) or among(…), not {type(kind).__name__}."
            )
    if not 0 <= rows[0] <= rows[1]:
        raise CourseError(f"table(rows={rows}): give the fewest rows, and then the most.")
    return TableArgument(dict(columns), rows=rows, missing=named, labels=labels, others=others, default=default)


def of_table(path: Path, name: str, argument: TableArgument) -> Iterator[Kind]:
    """The kinds of a table."""
    for style, phrase, test in _styles(name, argument):

        def known(value: Any, _reading: Any, test: Callable[[Any], bool] = test) -> bool:
            whole = family_of(value).is_table and set(argument.columns) <= set(getattr(value, "columns", ()))
            return whole and bool(test(value))

        yield styled(path, style, phrase, known, alone=style == "no rows")


def _styles(name: str, argument: TableArgument) -> Iterator[tuple[str, str, Callable[[Any], bool]]]:
    low, high = argument.rows
    own = list(argument.columns)
    if low == 0:
        yield "no rows", f"a table `{name}` without rows", lambda t: not len(t)
    if low <= 1 <= high:
        yield "one row", f"a table `{name}` of one row", lambda t: len(t) == 1
    if high > MANY:
        yield "many rows", f"a table `{name}` of more than {MANY} rows", lambda t: len(t) > MANY
    if high > 1:
        yield "equal rows", f"a table `{name}` in which a row comes twice", lambda t: t[own].duplicated().any()
    if argument.labels:
        yield "labels of its own", f"a table `{name}` whose rows are not labelled 0, 1, 2 and so on", _labelled
        yield "labels in no order", f"a table `{name}` whose row labels are whole numbers in no order", _shuffled
    if argument.others:
        if len(own) > 1:
            yield (
                "columns in another order",
                f"a table `{name}` with its columns in another order",
                lambda t: _order(t, own),
            )
        yield "a column more", f"a table `{name}` with a column more", lambda t: len(t.columns) > len(own)
    for column in argument.missing:
        if high > 1:
            some = f"a table `{name}` with missing values in {column!r}"
            yield f"missing in {column}", some, partial(_some_missing, column)
        if high > 0:
            none = f"a table `{name}` with nothing but missing values in {column!r}"
            yield f"nothing in {column}", none, partial(_nothing_there, column)
    for column, kind in argument.columns.items():
        if high > 1 and isinstance(kind, ChoiceArgument):
            one = f"a table `{name}` with one and the same {column!r} in every row"
            yield f"one value in {column}", one, partial(_one_value, column)
        if high > 1 and isinstance(kind, NumberArgument):
            tie = f"a table `{name}` in which two rows have the same {column!r}"
            yield f"ties in {column}", tie, partial(_ties, column)
        if high > 0 and isinstance(kind, NumberArgument) and not kind.whole and _wholes(kind)[0] <= _wholes(kind)[1]:
            whole = f"a table `{name}` with whole numbers in {column!r}"
            yield f"whole numbers in {column}", whole, partial(_whole, column)


def _some_missing(column: str, table: Any) -> bool:
    return bool(0 < table[column].isna().sum() < len(table))


def _nothing_there(column: str, table: Any) -> bool:
    return len(table) > 0 and bool(table[column].isna().all())


def _one_value(column: str, table: Any) -> bool:
    return len(table) > 1 and len(set(table[column])) == 1


def _ties(column: str, table: Any) -> bool:
    return bool(table[column].dropna().duplicated().any())


def _whole(column: str, table: Any) -> bool:
    return len(table) > 0 and table[column].dtype.kind in "iu"


def _labelled(table: Any) -> bool:
    return len(table) > 0 and table.index.dtype.kind not in "iu"


def _shuffled(table: Any) -> bool:
    return len(table) > 1 and table.index.dtype.kind in "iu" and not table.index.is_monotonic_increasing


def _order(table: Any, own: list[str]) -> bool:
    return [c for c in table.columns if c in own] != own


def draw_table(argument: TableArgument, style: str, rng: np.random.Generator) -> Any:
    """A DataFrame of one style; an ordinary one has five to eight rows in no order."""
    import pandas as pd  # noqa: PLC0415 - only a contract with a table needs it

    low, high = argument.rows
    count = int(np.clip(rng.integers(5, 9), low, high))
    if style in ("no rows", "one row"):
        count = 0 if style == "no rows" else 1
    elif style == "many rows":
        count = int(rng.integers(MANY + 1, min(high, MANY + 30) + 1))
    columns = {name: _column(kind, count, style, name, rng) for name, kind in argument.columns.items()}
    frame = pd.DataFrame(columns)
    if not count:  # columns without values have the dtypes of such with
        whole = {name: _column(kind, 2, "", name, rng) for name, kind in argument.columns.items()}
        frame = pd.DataFrame(whole).iloc[:0].reset_index(drop=True)
    if style == "equal rows":
        frame = frame.iloc[[*range(count - 1), int(rng.integers(max(1, count - 1)))]].reset_index(drop=True)
    elif style == "labels of its own":
        frame.index = pd.Index([_LABELS[n % len(_LABELS)] + str(n) for n in rng.permutation(count)])
    elif style == "labels in no order":
        frame.index = pd.Index(rng.permutation(np.arange(3, 3 + 2 * count))[:count])
    elif style == "columns in another order":
        frame = frame[list(argument.columns)[::-1]]
    elif style == "a column more":
        frame.insert(0, _BESIDE, [f"note {n}" for n in range(count)])
    elif style.startswith(("missing in ", "nothing in ")):
        column = style.partition(" in ")[2]
        gone = rng.random(count) < _FEW
        gone[int(rng.integers(count)) if count else slice(0)] = True
        gone[: 1 if gone.all() else 0] = False
        frame[column] = frame[column].mask(np.ones(count, bool) if style.startswith("nothing") else gone)
    return frame


def _column(kind: Argument, count: int, style: str, name: str, rng: np.random.Generator) -> list[Any]:
    if isinstance(kind, ChoiceArgument):
        choices = list(kind.values)
        few = rng.permutation(len(choices))[: 1 if style == f"one value in {name}" else len(choices)]
        return [choices[int(few[int(rng.integers(len(few)))])] for _ in range(count)]
    found = _numbers(kind, count, style, name, rng)  # type: ignore[arg-type]
    if style == f"ties in {name}" and count > 1:
        found[int(rng.integers(1, count))] = found[0]
    return found


def _numbers(kind: NumberArgument, count: int, style: str, name: str, rng: np.random.Generator) -> list[Any]:
    if kind.whole:
        return [int(n) for n in rng.integers(int(kind.low), int(kind.high) + 1, size=count)]
    low, high = _wholes(kind)
    if style == f"whole numbers in {name}" and low <= high:
        return [int(n) for n in rng.integers(low, high + 1, size=count)]
    digits = 2 if kind.high - kind.low > 1 else 6
    found = np.clip(np.round(rng.uniform(kind.low, kind.high, size=count), digits), kind.low, kind.high)
    return [float(n) for n in found]


def _wholes(kind: NumberArgument) -> tuple[int, int]:
    return int(np.ceil(kind.low)), int(np.floor(kind.high))

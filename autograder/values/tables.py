"""Compare pandas tables and single pandas values: columns, rows, labels and cells.

By default, the columns, the values, the order of the rows and the row labels (the index) must agree. The order of the
columns and the dtypes may differ. pandas is imported only if a table is compared.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from autograder.base.foreign import Value
from autograder.base.formatting import join_words, with_article
from autograder.sandbox.guest.wire_tables import from_parts, is_pandas, kind_of_table, plain_copy, to_parts
from autograder.values.family import (
    Difference,
    Family,
    Index,
    Rules,
    copy_value,
    describe,
    fingerprint,
    type_difference,
    write_apart,
)
from autograder.values.messages import count
from autograder.values.table_cells import (
    WORDS,
    Cells,
    cells_of,
    differing_cells,
    is_missing,
    label_columns,
    same_item,
    shown_cell,
    shown_label,
    unpaired_rows,
)
from autograder.values.table_text import paste_table, rows_around, show_table
from autograder.values.times import another_day

__all__ = ["PandasFamily", "TableFamily"]

MAX_NAMED = 8  # the most columns that a sentence names


class PandasFamily(Family):
    """The family of single pandas values (timestamps, intervals, missing values) and of arrays with pandas dtypes."""

    from_pandas = True

    def owns(self, value: Value) -> bool:
        return is_pandas(value)

    def differences(self, found: Value, expected: Value, rules: Rules) -> Iterator[Difference]:
        comparison = _Comparison(found, expected, rules)
        kinds = kind_of_table(found), kind_of_table(expected)
        if not any(kinds):
            difference = comparison.single()
        elif kinds[0] != kinds[1]:
            difference = comparison.other_kind()
        else:
            by_kind = {"DataFrame": comparison.frames, "Series": comparison.series, "Index": comparison.indexes}
            difference = by_kind[kinds[1]]()
        if difference is not None:
            yield difference

    def claims(self, found: Value, expected: Value) -> bool:
        # A Series or an Index may replace an expected array. Its numbers are compared with the array.
        return not (isinstance(expected, np.ndarray) and kind_of_table(found) in ("Series", "Index"))

    def is_exact(self, value: Value) -> bool:
        return isinstance(value, dt.date | dt.timedelta)  # the base classes of timestamps and durations

    def holds_array(self, value: Value) -> bool:
        return True

    def pieces(self, value: Value, digits: int, depth: int) -> Iterator[str]:
        yield show_table(value, digits)

    def source(self, value: Value, depth: int) -> str:
        return paste_table("", value).removeprefix(" = ")

    def paste(self, name: str, value: Value) -> str:
        return paste_table(name, value)

    def describe(self, value: Value) -> str:
        kind = kind_of_table(value)
        if kind == "DataFrame":
            rows, columns = value.shape
            return f"a DataFrame of {count(rows, 'row')} and {count(columns, 'column')}"
        if kind:
            return f"{'an Index' if kind == 'Index' else 'a Series'} of {count(len(value), 'value')}"
        if is_missing(value):
            return f"a missing value (pd.{type(value).__name__.removesuffix('Type')})"
        return with_article(type(value).__name__)

    def copy(self, value: Value, leaf: Callable[[Value], Value]) -> Value:
        return whole if (whole := plain_copy(value)) is not None else from_parts(copy_value(to_parts(value), leaf))

    def identity(self, value: Value) -> Hashable:
        return ("table", _identity_of_parts(to_parts(value)))

    def schema(self, value: Value) -> Hashable:
        return (type(value).__name__,)

    def perturb(self, value: Value, where: int, by: float) -> Value:
        return another_day(value) if self.is_exact(value) else value


class TableFamily(PandasFamily):
    """The family of DataFrames, Series and indexes."""

    has_cells = True
    is_table = True

    def owns(self, value: Value) -> bool:
        return bool(kind_of_table(value))

    def is_narrow(self, value: Value) -> bool:
        dtypes = list(value.dtypes) if kind_of_table(value) == "DataFrame" else [value.dtype]
        return any(str(dtype) in {"float16", "float32", "Float32"} for dtype in dtypes)

    def excerpt(self, found: Value, expected: Value, first: Index) -> Callable[[Value, int], str] | None:
        return rows_around(found, expected)

    def schema(self, value: Value) -> Hashable:
        kind = kind_of_table(value)
        if kind == "DataFrame":
            return (kind, value.shape, tuple(map(str, value.columns)), tuple(map(str, value.dtypes)))
        return (kind, len(value), str(value.dtype))

    def backwards(self, value: Value) -> Value:
        return value if kind_of_table(value) == "Index" else value.iloc[::-1]

    def is_perturbable(self, value: Value) -> bool:
        return True

    def perturb(self, value: Value, where: int, by: float) -> Value:
        kind = kind_of_table(value)
        if kind == "Index":
            return value[:-1] if len(value) else value.append(value.__class__([0]))
        other = value.copy()
        if not value.size:
            (other if kind == "DataFrame" else other.loc)["spoilt"] = 0.0
            return other
        columns = 1 if kind == "Series" else value.shape[1]
        row, column = where // columns % len(value), where % columns
        held = value if kind == "Series" else value.iloc[:, column]
        items = held.tolist()
        items[row] = _another_item(items[row], items, by)
        changed = held.__class__(items, index=held.index, name=held.name)
        if kind == "Series":
            return changed
        other.isetitem(column, changed)
        return other


def _another_item(item: Value, items: list[Value], share: float) -> Value:
    """Return an item that differs from ``item`` by more than any tolerance. It has the same type if possible."""
    if isinstance(item, bool | np.bool_):
        return not item
    if isinstance(item, int | float) and item == item:  # noqa: PLR0124 - NaN does not equal itself
        numbers = [abs(n) for n in items if isinstance(n, int | float) and abs(n) < np.inf]
        step = max(share * max(numbers, default=0.0), 0.001)
        return item + max(1, round(step)) if isinstance(item, int) else item + step
    if isinstance(item, str):
        return f"{item}?"
    return next((n for n in items if n is not item and str(n) != str(item)), 0.0 if item != item else None)  # noqa: PLR0124


def _identity_of_parts(parts: Value) -> Value:
    """Return the identity of a table's parts. Strings are used without fingerprints, because a column may have many."""
    if isinstance(parts, tuple) and parts[:1] == ("texts",):
        return (*parts[:2], tuple(parts[2]))
    if isinstance(parts, tuple) and parts and isinstance(parts[0], str):
        return tuple(map(_identity_of_parts, parts))
    return tuple(map(_identity_of_parts, parts)) if isinstance(parts, list) else fingerprint(parts)


@dataclass(frozen=True, slots=True)
class _Comparison:
    actual: Value
    expected: Value
    rules: Rules

    def single(self) -> Difference | None:
        """Compare two scalars, each a timestamp, a duration or a missing value."""
        if same_item(self.actual, self.expected, self.rules):
            return None
        found, right = shown_cell(self.actual), shown_cell(self.expected)
        return self._difference(f"{self.rules.subject('is')} {found} instead of {right}.", "values")

    def other_kind(self) -> Difference:
        frame = kind_of_table(self.expected) == "DataFrame"
        asked = f"a DataFrame with {_columns(list(self.expected.columns))}" if frame else describe(self.expected)
        return type_difference(self.actual, asked, self.rules.what)

    def frames(self) -> Difference | None:
        if (wrong := self._columns()) is not None:
            return wrong
        places = _places(list(self.actual.columns), list(self.expected.columns))
        found = [self.actual.iloc[:, place] for place in places]
        right = [self.expected.iloc[:, place] for place in range(self.expected.shape[1])]
        names = [f"column {shown_label(name)}" for name in self.expected.columns]
        return self._rows(found, right, names)

    def series(self) -> Difference | None:
        if self.rules.tables.names and self.actual.name != self.expected.name:
            text = f"Its name is {shown_label(self.actual.name)} instead of {shown_label(self.expected.name)}."
            return self._difference(text, "values")
        return self._rows([self.actual], [self.expected], [""])

    def indexes(self) -> Difference | None:
        if getattr(self.actual, "nlevels", 1) != getattr(self.expected, "nlevels", 1):
            return self._levels(self.actual, self.expected)
        found, right = label_columns(self.actual), label_columns(self.expected)
        names = [""] if len(right) == 1 else [f"level {n}" for n in range(len(right))]
        return self._rows(found, right, names)

    # columns

    def _columns(self) -> Difference | None:
        found, right = list(self.actual.columns), list(self.expected.columns)
        missing = list((Counter(right) - Counter(found)).elements())
        extra = list((Counter(found) - Counter(right)).elements())
        if len(missing) == 1 and len(extra) == 1:
            text = f"{self.rules.subject('has')} a column {shown_label(extra[0])} instead of {shown_label(missing[0])}."
            return self._difference(text, "columns")
        if missing:
            where = _as_labels(missing, self.actual.index, "should be a column, but it is the index (the row labels)")
            has = f"It has {_columns(found)}" if found else "It has no columns"
            lacks = self.rules.subject(f"lacks the {_columns(missing, the=False)}")
            return self._difference(f"{lacks}. {where or has}.", "columns")
        if extra:
            where = _as_labels(extra, self.expected.index, "should be the index (the row labels), not a column")
            asked = f"It should have {_named(right) if right else 'none'}"
            one = f"{'an' if len(extra) == 1 else 'the'} extra {_columns(extra, the=False)}"
            return self._difference(f"{self.rules.subject('has')} {one}. {where or asked}.", "columns")
        if self.rules.tables.column_order and found != right:
            text = f"Its columns are correct, but in a different order: {_named(found)} instead of {_named(right)}."
            return self._difference(text, "columns")
        return None

    # rows

    def _rows(self, found: Sequence[Value], right: Sequence[Value], names: Sequence[str]) -> Difference | None:
        if len(self.actual) != len(self.expected):
            noun = "row" if kind_of_table(self.expected) == "DataFrame" else "value"
            text = f"{self.rules.subject('has')} {count(len(self.actual), noun)} instead of {len(self.expected):,}."
            return self._difference(text, "length")
        if self.rules.tables.dtypes and (wrong := self._dtypes(found, right, names)):
            return wrong
        pairs = [(cells_of(one), cells_of(other)) for one, other in zip(found, right, strict=True)]
        for (one, other), name in zip(pairs, names, strict=True):
            if wrong := self._kinds(one, other, name):
                return wrong
        if not self.rules.tables.row_order:
            return self._in_any_order(pairs, names)
        labelled = self.rules.tables.index and kind_of_table(self.expected) != "Index"
        if labelled and (wrong := self._labels(pairs)):
            return wrong
        return self._cells(pairs, names)

    def _dtypes(self, found: Sequence[Value], right: Sequence[Value], names: Sequence[str]) -> Difference | None:
        for one, other, name in zip(found, right, names, strict=True):
            if one.dtype != other.dtype:
                whose = self.rules.subject("has") if not name else f"{name[0].upper()}{name[1:]} has"
                return self._difference(f"{whose} dtype {one.dtype} instead of {other.dtype}.", "dtype")
        return None

    def _kinds(self, one: Cells, other: Cells, name: str) -> Difference | None:
        """Compare the kinds of values in two columns. Text instead of numbers is reported once, not for each cell."""
        plain = {one.kind, other.kind} <= WORDS.keys() - {"other"} and one.kind != other.kind
        if not plain or (one.kind, other.kind) == ("booleans", "numbers"):
            return None
        both = enumerate(zip(one.entries, other.entries, strict=True))
        place = next(i for i, (a, b) in both if not (is_missing(a) and is_missing(b)))
        found, right = write_apart(shown_cell, one.entries[place], other.entries[place])
        whose = self.rules.subject("contains") if not name else f"{name[0].upper()}{name[1:]} contains"
        case = f"{self._place(place)}, there is {found} instead of {right}"
        if not self.rules.tables.row_order:
            case = f"{found} is one of its values"
        text = f"{whose} {WORDS[one.kind]} instead of {WORDS[other.kind]}: {case}."
        return self._difference(text, "dtype")

    def _labels(self, pairs: Sequence[tuple[Cells, Cells]]) -> Difference | None:
        index, right = self.actual.index, self.expected.index
        if index.nlevels != right.nlevels:
            return self._levels(index, right)
        if self.rules.tables.names and list(index.names) != list(right.names):
            text = f"Its index is named {_named(list(index.names))} instead of {_named(list(right.names))}."
            return self._difference(text, "index")
        labels = [(cells_of(a), cells_of(b)) for a, b in zip(label_columns(index), label_columns(right), strict=True)]
        wrong = differing_cells(labels, self.rules)
        if not wrong.any():
            return None
        if self._same_rows([*labels, *pairs]):
            return self._difference("Its rows are correct, but in a different order.", "order")
        place = int(wrong.any(axis=1).argmax())
        found, asked = write_apart(shown_cell, index[place], right[place])
        many = int(wrong.any(axis=1).sum())
        some = f" ({many} of {count(len(right), 'label')} differ)" if many > 1 else ""
        reason = f"Its row labels (the index) differ: at position {place}, there is {found} instead of {asked}{some}."
        if _counts_rows(right) and not differing_cells(pairs, self.rules).any():
            reason = f"Its values are correct, but its row labels (the index) are not: at position {place}, there is {found} instead of {asked}."
        return self._difference(reason, "index")

    def _levels(self, index: Value, right: Value) -> Difference:
        one, other = getattr(index, "nlevels", 1), getattr(right, "nlevels", 1)
        text = f"Its index has {count(one, 'level')} (labels for each row) instead of {other}."
        return self._difference(text, "index")

    def _cells(self, pairs: Sequence[tuple[Cells, Cells]], names: Sequence[str]) -> Difference | None:
        wrong = differing_cells(pairs, self.rules)
        if not wrong.any():
            return None
        own = self.rules.tables.index and not _counts_rows(getattr(self.expected, "index", None))
        if not own and self._same_rows(pairs):  # rows with labels of their own would also differ in their labels
            noun = "rows" if kind_of_table(self.expected) == "DataFrame" else "values"
            return self._difference(f"Its {noun} are correct, but in a different order.", "order")
        row, column = map(int, np.argwhere(wrong)[0])
        one, other = pairs[column]
        found, right = write_apart(shown_cell, one.entries[row], other.entries[row])
        where = self._place(row)
        where = f"{where}, {names[column]}" if names[column] else where
        many = int(wrong.sum())
        noun = "cells" if kind_of_table(self.expected) == "DataFrame" else "values"
        some = f" ({many} of {wrong.size:,} {noun} differ)" if many > 1 else ""
        text = f"{where}, there is {found} instead of {right}{some}."
        prefix = "" if self.rules.what == "it" else f"{self.rules.what} differs: "
        return self._difference(f"{prefix}{text if prefix else text[0].upper() + text[1:]}", "values")

    def _in_any_order(self, pairs: Sequence[tuple[Cells, Cells]], names: Sequence[str]) -> Difference | None:
        if self.rules.tables.index and not _counts_rows(getattr(self.expected, "index", None)):
            if self.actual.index.nlevels != self.expected.index.nlevels:
                return self._levels(self.actual.index, self.expected.index)
            both = zip(label_columns(self.actual.index), label_columns(self.expected.index), strict=True)
            pairs = [*((cells_of(a), cells_of(b)) for a, b in both), *pairs]
            names = ["label"] * (len(pairs) - len(names)) + [name or "value" for name in names]
        lacking, spare = unpaired_rows(pairs, self.rules)
        if not lacking:
            return None
        right = self._row_text([other for _one, other in pairs], names, lacking[0])
        text = f"{self.rules.subject('lacks')} the row with {right} (rows may be in any order)"
        if spare:
            text += f". It has an extra row with {self._row_text([one for one, _other in pairs], names, spare[0])}"
        if not any(names):
            right, found = write_apart(shown_cell, pairs[0][1].entries[lacking[0]], pairs[0][0].entries[spare[0]])
            text = f"{self.rules.subject('lacks')} the value {right} (values may be in any order). It has an extra value {found}"
        return self._difference(f"{text}.", "values")

    def _row_text(self, columns: Sequence[Cells], names: Sequence[str], row: int) -> str:
        both = zip(names, columns, strict=True)
        said = [f"{name.removeprefix('column ')} = {shown_cell(cells.entries[row])}" for name, cells in both]
        return ", ".join(said[:MAX_NAMED])

    def _same_rows(self, pairs: Sequence[tuple[Cells, Cells]]) -> bool:
        return bool(pairs) and not unpaired_rows(pairs, self.rules)[0]

    def _place(self, row: int) -> str:
        index = getattr(self.expected, "index", None)
        noun = "in row" if kind_of_table(self.expected) == "DataFrame" else "at"
        if not self.rules.tables.index or index is None or kind_of_table(self.expected) == "Index":
            return f"in the row at position {row}" if noun == "in row" else f"at position {row}"
        label = shown_label(index[row])
        return f"{noun} {label}" if index.is_unique else f"{noun} {label} (at position {row})"

    def _difference(self, reason: str, kind: str) -> Difference:
        return Difference(reason, kind, self.actual, self.expected, has_expected=True)


def _places(found: list[Value], right: list[Value]) -> list[int]:
    """Return the position of each expected column in ``found``. Columns with the same name are matched in order."""
    left = list(enumerate(found))
    places = []
    for name in right:
        spot = next(i for i, (_place, other) in enumerate(left) if other == name)
        places.append(left.pop(spot)[0])
    return places


def _counts_rows(index: Value) -> bool:
    """Return whether an index only counts the rows: 0, 1, 2 and so on, without a name."""
    if index is None:
        return True
    plain = getattr(index, "nlevels", 1) == 1 and index.name is None and index.dtype.kind in "iu"
    return plain and bool((np.asarray(index) == np.arange(len(index))).all())


def _as_labels(names: Sequence[Value], index: Value, text: str) -> str:
    """Return a sentence about a name that is a column in one table and the index in the other, or ""."""
    shared = [name for name in names if name is not None and name in list(index.names)]
    return f"{shown_label(shared[0])} {text}" if shared else ""


def _columns(names: Sequence[Value], *, the: bool = True) -> str:
    noun = "column" if len(names) == 1 else "columns"
    return f"{'the ' if the else ''}{noun} {_named(names)}"


def _named(names: Sequence[Value]) -> str:
    shown = [shown_label(name) if name is not None else "None" for name in names]
    if len(shown) > MAX_NAMED:
        return f"{', '.join(shown[:MAX_NAMED])} and {len(shown) - MAX_NAMED} more"
    return join_words(shown)

"""Is a table the expected one? Columns, rows, labels and cells, and the sentence that says what is wrong.

What counts by default: which columns there are, not their order; the rows, their order and their labels (the index); the
values, not the dtype that holds them. pandas is needed only where a table is met.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.base.formatting import join_words
from autograder.sandbox.guest.wire_tables import kind_of_table
from autograder.values.table_cells import (
    WORDS,
    Cells,
    cells_of,
    is_missing,
    label_columns,
    same_item,
    shown_cell,
    shown_label,
)
from autograder.values.table_rows import differing_cells, unpaired_rows

if TYPE_CHECKING:
    from autograder.values.findings import Finding

__all__ = [
    "TableOptions",
    "described",
    "is_narrow",
    "matches_table",
    "same_table",
    "table_schema",
    "with_table_options",
]

MAX_NAMED = 8  # columns that a sentence names


@dataclass(frozen=True, slots=True)
class TableOptions:
    """What counts when two tables are compared; ``names`` are those of a Series and of an index."""

    row_order: bool = True
    column_order: bool = False
    dtypes: bool = False
    index: bool = True
    names: bool = False


_USUAL = TableOptions()
_options: ContextVar[TableOptions] = ContextVar("table_options", default=_USUAL)


@contextmanager
def with_table_options(options: Mapping[str, bool]) -> Iterator[None]:
    """Compare tables inside by these options."""
    token = _options.set(replace(TableOptions(), **options))
    try:
        yield
    finally:
        _options.reset(token)


def described(value: Any) -> str:
    """What a value of pandas's is, in the middle of a sentence: ``a DataFrame of 3 rows and 2 columns``."""
    kind = kind_of_table(value)
    if kind == "DataFrame":
        rows, columns = value.shape
        return f"a DataFrame of {_many(rows, 'row')} and {_many(columns, 'column')}"
    if kind:
        return f"{'an Index' if kind == 'Index' else 'a Series'} of {_many(len(value), 'value')}"
    if is_missing(value):
        return f"a missing value (pd.{type(value).__name__.removesuffix('Type')})"
    return f"{'an' if type(value).__name__[0] in 'AEIOU' else 'a'} {type(value).__name__}"


def table_schema(value: Any) -> Any:
    """What two tables share that differ in their numbers alone: the class, the columns, the rows, the dtypes."""
    kind = kind_of_table(value)
    if kind == "DataFrame":
        return (kind, value.shape, tuple(map(str, value.columns)), tuple(map(str, value.dtypes)))
    return (kind, len(value), str(value.dtype)) if kind else (type(value).__name__,)


def is_narrow(value: Any) -> bool:
    """Whether a table holds floats of less than eight bytes."""
    kind = kind_of_table(value)
    dtypes = list(value.dtypes) if kind == "DataFrame" else [value.dtype] if kind in ("Series", "Index") else []
    return any(str(dtype) in {"float16", "float32", "Float32"} for dtype in dtypes)


def same_table(left: Any, right: Any, rtol: float, atol: float) -> bool:
    """Whether two values, at least one of them pandas's, are the same answer; the order of columns and rows counts."""
    if kind_of_table(left) != kind_of_table(right):
        return False
    if not kind_of_table(left):
        return same_item(left, right, rtol, atol)
    with with_table_options({"column_order": True}):
        return matches_table(left, right, rtol, atol) is None


def matches_table(actual: Any, expected: Any, rtol: float, atol: float, what: str = "it") -> Finding | None:
    """What is wrong with ``actual`` where ``expected`` is a value of pandas's, or ``actual`` is one and it is not."""
    comparison = _Comparison(_options.get(), rtol, atol, what)
    kinds = kind_of_table(actual), kind_of_table(expected)
    if not any(kinds):
        return comparison.single(actual, expected)
    if kinds[0] != kinds[1]:
        return comparison.other_kind(actual, expected)
    if kinds[1] == "DataFrame":
        return comparison.frames(actual, expected)
    return comparison.series(actual, expected) if kinds[1] == "Series" else comparison.indexes(actual, expected)


@dataclass(frozen=True, slots=True)
class _Comparison:
    options: TableOptions
    rtol: float
    atol: float
    what: str

    def single(self, actual: Any, expected: Any) -> Finding | None:
        """A moment, a duration, a missing value."""
        if same_item(actual, expected, self.rtol, self.atol):
            return None
        found, right = shown_cell(actual), shown_cell(expected)
        return self._finding(f"{self._it('is')} {found}; {right} is right.", "values", actual, expected)

    def other_kind(self, actual: Any, expected: Any) -> Finding:
        from autograder.values.findings import describe, wrong_type  # noqa: PLC0415 - which asks this module

        kind = kind_of_table(expected)
        if kind == "DataFrame":
            asked = f"a DataFrame with {_columns(list(expected.columns))}"
        elif kind:
            asked = described(expected)
        else:
            asked = describe(expected)
        return wrong_type(actual, asked, self.what)

    def frames(self, actual: Any, expected: Any) -> Finding | None:
        wrong = self._columns(actual, expected)
        if wrong is not None:
            return wrong
        places = _places(list(actual.columns), list(expected.columns))
        found = [actual.iloc[:, place] for place in places]
        right = [expected.iloc[:, place] for place in range(expected.shape[1])]
        names = [f"column {shown_label(name)}" for name in expected.columns]
        return self._rows(actual, expected, found, right, names)

    def series(self, actual: Any, expected: Any) -> Finding | None:
        if self.options.names and actual.name != expected.name:
            text = f"Its name is {shown_label(actual.name)}; {shown_label(expected.name)} is asked for."
            return self._finding(text, "values", actual, expected)
        return self._rows(actual, expected, [actual], [expected], [""])

    def indexes(self, actual: Any, expected: Any) -> Finding | None:
        if getattr(actual, "nlevels", 1) != getattr(expected, "nlevels", 1):
            return self._levels(actual, expected, actual, expected)
        found, right = label_columns(actual), label_columns(expected)
        names = [""] if len(right) == 1 else [f"level {n}" for n in range(len(right))]
        return self._rows(actual, expected, found, right, names)

    # columns

    def _columns(self, actual: Any, expected: Any) -> Finding | None:
        found, right = list(actual.columns), list(expected.columns)
        missing = list((Counter(right) - Counter(found)).elements())
        extra = list((Counter(found) - Counter(right)).elements())
        if len(missing) == 1 and len(extra) == 1:
            text = f"{self._it('has')} a column {shown_label(extra[0])} where {shown_label(missing[0])} is asked for."
            return self._finding(text, "columns", actual, expected)
        if missing:
            where = _as_labels(missing, actual.index, "is asked for as a column, and it is the index (the row labels)")
            has = f"it has {_columns(found)}" if found else "it has no columns"
            lacks = self._it(f"lacks the {_columns(missing, the=False)}")
            return self._finding(f"{lacks}; {where or has}.", "columns", actual, expected)
        if extra:
            where = _as_labels(extra, expected.index, "is to be the index (the row labels), and not a column")
            asked = (
                f"asked for {'is' if len(right) == 1 else 'are'} {_named(right)}" if right else "it should have none"
            )
            one = f"a column {shown_label(extra[0])}" if len(extra) == 1 else _columns(extra)
            return self._finding(f"{self._it('has')} {one} too many; {where or asked}.", "columns", actual, expected)
        if self.options.column_order and found != right:
            text = f"Its columns are the right ones in another order: {_named(found)} where {_named(right)} is right."
            return self._finding(text, "columns", actual, expected)
        return None

    # rows

    def _rows(
        self, actual: Any, expected: Any, found: Sequence[Any], right: Sequence[Any], names: Sequence[str]
    ) -> Finding | None:
        if len(actual) != len(expected):
            noun = "row" if kind_of_table(expected) == "DataFrame" else "value"
            are = "is" if len(expected) == 1 else "are"
            text = f"{self._it('has')} {_many(len(actual), noun)}; {len(expected):,} {are} right."
            return self._finding(text, "length", actual, expected)
        if self.options.dtypes and (wrong := self._dtypes(found, right, names, actual, expected)):
            return wrong
        pairs = [(cells_of(one), cells_of(other)) for one, other in zip(found, right, strict=True)]
        for (one, other), name in zip(pairs, names, strict=True):
            if wrong := self._kinds(one, other, name, actual, expected):
                return wrong
        if not self.options.row_order:
            return self._in_any_order(actual, expected, pairs, names)
        labelled = self.options.index and kind_of_table(expected) != "Index"
        if labelled and (wrong := self._labels(actual, expected, pairs)):
            return wrong
        return self._cells(actual, expected, pairs, names)

    def _dtypes(
        self, found: Sequence[Any], right: Sequence[Any], names: Sequence[str], actual: Any, expected: Any
    ) -> Finding | None:
        for one, other, name in zip(found, right, names, strict=True):
            if one.dtype != other.dtype:
                whose = self._it("has") if not name else f"{name[0].upper()}{name[1:]} has"
                return self._finding(
                    f"{whose} dtype {one.dtype}; {other.dtype} is asked for.", "dtype", actual, expected
                )
        return None

    def _kinds(self, one: Cells, other: Cells, name: str, actual: Any, expected: Any) -> Finding | None:
        """A column of text where numbers are right is one mistake, and not one in each of its cells."""
        plain = {one.kind, other.kind} <= WORDS.keys() - {"other"} and one.kind != other.kind
        if not plain or (one.kind, other.kind) == ("booleans", "numbers"):
            return None
        place = next(i for i, (a, b) in enumerate(zip(one.values, other.values, strict=True)) if _there(a, b))
        found, right = _apart(one.values[place], other.values[place])
        whose = self._it("holds") if not name else f"{name[0].upper()}{name[1:]} holds"
        case = f"there is {found} where {right} is right"
        if not self.options.row_order:
            case = f"{found} is one of its values"
        where = "" if not self.options.row_order else f"{self._place(expected, place)} "
        text = f"{whose} {WORDS[one.kind]} where {WORDS[other.kind]} {_be(other.kind)} right: {where}{case}."
        return self._finding(text, "dtype", actual, expected)

    def _labels(self, actual: Any, expected: Any, pairs: Sequence[tuple[Cells, Cells]]) -> Finding | None:
        index, right = actual.index, expected.index
        if index.nlevels != right.nlevels:
            return self._levels(index, right, actual, expected)
        if self.options.names and list(index.names) != list(right.names):
            text = f"Its index is named {_named(list(index.names))}; {_named(list(right.names))} is asked for."
            return self._finding(text, "index", actual, expected)
        labels = [(cells_of(a), cells_of(b)) for a, b in zip(label_columns(index), label_columns(right), strict=True)]
        wrong = self._differ(labels)
        if not wrong.any():
            return None
        if self._same_rows([*labels, *pairs]):
            return self._finding("Its rows are the right ones in another order.", "order", actual, expected)
        place = int(wrong.any(axis=1).argmax())
        found, asked = _apart(index[place], right[place])
        many = int(wrong.any(axis=1).sum())
        some = f" ({many} of {_many(len(right), 'label')} differ)" if many > 1 else ""
        reason = f"Its row labels (the index) differ: at place {place} there is {found} where {asked} is right{some}."
        if _counts_rows(right) and not self._differ(pairs).any():
            reason = f"Its values are right, and its row labels (the index) are not: at place {place} there is {found} where {asked} is right."
        return self._finding(reason, "index", actual, expected)

    def _levels(self, index: Any, right: Any, actual: Any, expected: Any) -> Finding:
        one, other = getattr(index, "nlevels", 1), getattr(right, "nlevels", 1)
        are = "is" if other == 1 else "are"
        text = f"Its rows have {_many(one, 'label')} each (levels of the index); {other} {are} right."
        return self._finding(text, "index", actual, expected)

    def _cells(
        self, actual: Any, expected: Any, pairs: Sequence[tuple[Cells, Cells]], names: Sequence[str]
    ) -> Finding | None:
        wrong = self._differ(pairs)
        if not wrong.any():
            return None
        own = self.options.index and not _counts_rows(getattr(expected, "index", None))
        if not own and self._same_rows(pairs):  # labels of their own are known to be the right ones
            noun = "rows" if kind_of_table(expected) == "DataFrame" else "values"
            return self._finding(f"Its {noun} are the right ones in another order.", "order", actual, expected)
        row, column = map(int, np.argwhere(wrong)[0])
        one, other = pairs[column]
        found, right = _apart(one.values[row], other.values[row])
        where = self._place(expected, row)
        where = f"{where}, {names[column]}" if names[column] else where
        count = int(wrong.sum())
        noun = "cells" if kind_of_table(expected) == "DataFrame" else "values"
        some = f" ({count} of {wrong.size:,} {noun} differ)" if count > 1 else ""
        text = f"{where} there is {found} where {right} is right{some}."
        prefix = "" if self.what == "it" else f"{self.what} differs: "
        return self._finding(f"{prefix}{text if prefix else text[0].upper() + text[1:]}", "values", actual, expected)

    def _in_any_order(
        self, actual: Any, expected: Any, pairs: Sequence[tuple[Cells, Cells]], names: Sequence[str]
    ) -> Finding | None:
        if self.options.index and not _counts_rows(getattr(expected, "index", None)):
            if actual.index.nlevels != expected.index.nlevels:
                return self._levels(actual.index, expected.index, actual, expected)
            both = zip(label_columns(actual.index), label_columns(expected.index), strict=True)
            pairs = [*((cells_of(a), cells_of(b)) for a, b in both), *pairs]
            names = ["label"] * (len(pairs) - len(names)) + [name or "value" for name in names]
        lacking, spare = unpaired_rows(pairs, self.rtol, self.atol)
        if not lacking:
            return None
        right = self._told([other for _one, other in pairs], names, lacking[0])
        text = f"{self._it('lacks')} the row with {right} (rows may stand in any order)"
        if spare:
            text += f"; it has one too many with {self._told([one for one, _other in pairs], names, spare[0])}"
        if not any(names):
            right, found = _apart(pairs[0][1].values[lacking[0]], pairs[0][0].values[spare[0]])
            text = f"{self._it('lacks')} the value {right} (values may stand in any order); it has {found} too many"
        return self._finding(f"{text}.", "values", actual, expected)

    def _told(self, columns: Sequence[Cells], names: Sequence[str], row: int) -> str:
        both = zip(names, columns, strict=True)
        said = [f"{name.removeprefix('column ')} = {shown_cell(cells.values[row])}" for name, cells in both]
        return ", ".join(said[:MAX_NAMED])

    def _same_rows(self, pairs: Sequence[tuple[Cells, Cells]]) -> bool:
        return bool(pairs) and not unpaired_rows(pairs, self.rtol, self.atol)[0]

    def _differ(self, pairs: Sequence[tuple[Cells, Cells]]) -> Any:
        return differing_cells(pairs, self.rtol, self.atol)

    def _place(self, expected: Any, row: int) -> str:
        index = getattr(expected, "index", None)
        noun = "in row" if kind_of_table(expected) == "DataFrame" else "at"
        if not self.options.index or index is None or kind_of_table(expected) == "Index":
            return f"in the row at place {row}" if noun == "in row" else f"at place {row}"
        label = shown_label(index[row])
        return f"{noun} {label}" if index.is_unique else f"{noun} {label} (at place {row})"

    def _it(self, verb: str) -> str:
        return f"{'It' if self.what == 'it' else self.what} {verb}"

    def _finding(self, reason: str, kind: str, actual: Any, expected: Any) -> Finding:
        from autograder.values.findings import Finding  # noqa: PLC0415 - which asks this module

        return Finding(reason, kind, actual, expected, has_expected=True)


def _places(found: list[Any], right: list[Any]) -> list[int]:
    """Where each column that is expected stands; of several with one name the first comes first."""
    left = list(enumerate(found))
    places = []
    for name in right:
        spot = next(i for i, (_place, other) in enumerate(left) if other == name)
        places.append(left.pop(spot)[0])
    return places


def _counts_rows(index: Any) -> bool:
    """Whether an index says nothing of its own: 0, 1, 2 and so on, without a name."""
    if index is None:
        return True
    plain = getattr(index, "nlevels", 1) == 1 and index.name is None and index.dtype.kind in "iu"
    return plain and bool((np.asarray(index) == np.arange(len(index))).all())


def _there(one: Any, other: Any) -> bool:
    return not is_missing(one) or not is_missing(other)


def _be(kind: str) -> str:
    return "is" if kind == "text" else "are"


def _apart(found: Any, right: Any) -> tuple[str, str]:
    """Both as a sentence has them, with as many digits as it takes to tell them apart."""
    pairs = [(shown_cell(found, digits), shown_cell(right, digits)) for digits in range(4, 18)]
    return next((pair for pair in pairs if pair[0] != pair[1]), pairs[0])


def _as_labels(names: Sequence[Any], index: Any, text: str) -> str:
    """What to say of a name that is a column here and the index there."""
    shared = [name for name in names if name is not None and name in list(index.names)]
    return f"{shown_label(shared[0])} {text}" if shared else ""


def _columns(names: Sequence[Any], *, the: bool = True) -> str:
    noun = "column" if len(names) == 1 else "columns"
    return f"{'the ' if the else ''}{noun} {_named(names)}"


def _named(names: Sequence[Any]) -> str:
    shown = [shown_label(name) if name is not None else "None" for name in names]
    if len(shown) > MAX_NAMED:
        return f"{', '.join(shown[:MAX_NAMED])} and {len(shown) - MAX_NAMED} more"
    return join_words(shown)


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"

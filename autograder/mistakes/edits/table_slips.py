"""Slips in programs that work on tables of pandas: another summary, another order, another way to join.

They are looked for only where a program is about tables: at a method that arrays do not have, or at a column, ``table["x"]``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

__all__ = [
    "OPTIONS", "SLIPS", "TABLES_ONLY", "is_column", "lacks", "of_numpy", "renamed", "table_slips", "texts_changed", "with_option",
]  # fmt: skip

SLIPS = {
    "nlargest": "nsmallest", "nsmallest": "nlargest", "head": "tail", "tail": "head", "idxmax": "idxmin",
    "idxmin": "idxmax", "isna": "notna", "notna": "isna", "isnull": "notnull", "notnull": "isnull", "ffill": "bfill",
    "bfill": "ffill", "nunique": "count", "median": "mean", "first": "last", "last": "first",
}  # fmt: skip
_SUMMARIES = {
    "mean": "median", "median": "mean", "sum": "mean", "count": "nunique", "nunique": "count", "size": "nunique",
    "min": "max", "max": "min", "std": "var", "var": "std", "first": "last", "last": "first",
}  # fmt: skip
_JOINS = ("inner", "left", "right", "outer")
TABLES_ONLY = frozenset(
    {"agg", "aggregate", "groupby", "sort_values", "sort_index", "value_counts", "merge", "join", "drop_duplicates"}
    | {"dropna", "fillna", "reset_index", "set_index", "nlargest", "nsmallest", "pivot_table", "isin", "query", "rank"}
    | {"transform", "value_counts", "idxmax", "idxmin", "nunique", "isna", "notna", "describe", "quantile"}
)
# What a call may have been given besides, and the kind of mistake that it then is.
OPTIONS: dict[str, tuple[tuple[str, object, str], ...]] = {
    "sort_values": (("ascending", False, "order"),),
    "sort_index": (("ascending", False, "order"),),
    "value_counts": (("normalize", True, "function"), ("ascending", True, "order"), ("dropna", False, "condition")),
    "groupby": (("dropna", False, "condition"), ("as_index", False, "shape"), ("sort", False, "order")),
    "rank": (("ascending", False, "order"), ("method", "min", "order")),
    "reset_index": (("drop", True, "shape"),),
    "drop_duplicates": (("keep", "last", "order"),),
    "nunique": (("dropna", False, "condition"),),
    "merge": (("how", "left", "condition"), ("how", "outer", "condition")),
    "std": (("ddof", 0, "number"),),
    "var": (("ddof", 0, "number"),),
}


def table_slips(node: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """What a tired person may write in a node's place, and the kind of slip that it is."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    name = node.func.attr
    if name in SLIPS and not of_numpy(node):
        yield renamed(node, SLIPS[name]), "function"
    for option, value, kind in OPTIONS.get(name, ()):
        if lacks(node, option) and (name in TABLES_ONLY or is_column(node.func.value)):
            yield with_option(node, option, value), kind
    for other, kind in texts_changed(node, slips_only=True):
        yield other, kind


def texts_changed(node: ast.Call, *, slips_only: bool) -> Iterator[tuple[ast.expr, str]]:
    """The call with one of the texts that say how to join, or what to summarise by, exchanged for another."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    if name in ("merge", "join"):
        for place, keyword in enumerate(node.keywords):
            if keyword.arg == "how" and isinstance(keyword.value, ast.Constant):
                for other in _JOINS:
                    if other != keyword.value.value:
                        changed = ast.keyword("how", ast.Constant(other))
                        rest = [*node.keywords[:place], changed, *node.keywords[place + 1 :]]
                        yield ast.Call(node.func, node.args, rest), "condition"
    if name in ("agg", "aggregate", "transform", "pivot_table"):
        texts = [n for part in (*node.args, *node.keywords) for n in ast.walk(part) if isinstance(n, ast.Constant)]
        for text in texts:
            if isinstance(text.value, str) and text.value in _SUMMARIES:
                others = [_SUMMARIES[text.value]] if slips_only else [n for n in _SUMMARIES if n != text.value]
                for other in others:
                    yield _exchanged(node, text, other), "function"


def _exchanged(node: ast.Call, text: ast.Constant, other: str) -> ast.expr:
    def copied(part: ast.AST) -> ast.AST:
        if part is text:
            return ast.Constant(other)
        fields = {name: again(value) for name, value in ast.iter_fields(part)}
        return type(part)(**fields)

    def again(value: object) -> object:
        if isinstance(value, list):
            return [again(item) for item in value]
        return copied(value) if isinstance(value, ast.AST) else value

    found = copied(node)
    assert isinstance(found, ast.expr)  # noqa: S101 - a copy of a call is one
    return found


def renamed(node: ast.Call, name: str) -> ast.expr:
    """The call of another method of the same thing, with the same arguments."""
    assert isinstance(node.func, ast.Attribute)  # noqa: S101 - as its callers have seen
    return ast.Call(ast.Attribute(node.func.value, name, ast.Load()), node.args, node.keywords)


def with_option(node: ast.Call, option: str, value: object) -> ast.expr:
    """The call with a keyword more."""
    return ast.Call(node.func, node.args, [*node.keywords, ast.keyword(option, ast.Constant(value))])  # type: ignore[arg-type]


def lacks(node: ast.Call, option: str) -> bool:
    """Whether a call is not given ``option`` by name."""
    return all(keyword.arg not in (option, None) for keyword in node.keywords)


def is_column(node: ast.expr) -> bool:
    """Whether an expression is a column, or columns, of a table: ``table["x"]``, ``table.groupby("g")["x"]``."""
    index = node.slice if isinstance(node, ast.Subscript) else None
    if isinstance(index, ast.Constant):
        return isinstance(index.value, str)
    if isinstance(index, ast.List):
        return any(isinstance(item, ast.Constant) and isinstance(item.value, str) for item in index.elts)
    return False


def of_numpy(node: ast.Call) -> bool:
    """Whether a call is of a function of NumPy's, ``np.median(…)``."""
    value = node.func.value if isinstance(node.func, ast.Attribute) else None
    return isinstance(value, ast.Name) and value.id in {"np", "numpy", "math"}

"""Edits of programs that work on tables of pandas, beside the slips: what else may stand where a table or a column does."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autograder.mistakes.edits.operators import Change, Scope, operator
from autograder.mistakes.edits.table_slips import (
    OPTIONS,
    SLIPS,
    TABLES_ONLY,
    is_column,
    lacks,
    of_numpy,
    renamed,
    texts_changed,
    with_option,
)

__all__ = ["missing_table_step", "other_join_or_summary", "other_table_method"]

_GROUPS = (
    ("nlargest", "nsmallest"), ("head", "tail"), ("idxmax", "idxmin"), ("isna", "notna"), ("isnull", "notnull"),
    ("ffill", "bfill"), ("cummax", "cummin"), ("nunique", "count", "size"), ("first", "last"), ("cumcount", "ngroup"),
    ("median", "mean", "sum", "count", "size", "min", "max", "std", "var", "nunique", "first", "last", "mode"),
)  # fmt: skip
_STEPS = ("dropna", "drop_duplicates", "reset_index", "abs")


@operator
def other_table_method(node: ast.expr, _scope: Scope) -> Iterator[Change]:
    """Another summary of a column or of groups, an option more, a step less."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or of_numpy(node):
        return
    name = node.func.attr
    about_tables = name in TABLES_ONLY or is_column(node.func.value)
    for group in _GROUPS if about_tables else ():
        for other in group if name in group else ():
            if other != name:
                yield Change(renamed(node, other), "function", 1.0 if SLIPS.get(other) == name else 1.2)
    if about_tables:
        for option, value, kind in OPTIONS.get(name, ()):
            if lacks(node, option):
                yield Change(with_option(node, option, value), kind, 1.1)


@operator
def other_join_or_summary(node: ast.expr, _scope: Scope) -> Iterator[Change]:
    """Another way to join, or another summary where it is named in a text."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        for other, kind in texts_changed(node, slips_only=False):
            yield Change(other, kind, 1.0)


@operator
def missing_table_step(node: ast.expr, _scope: Scope) -> Iterator[Change]:
    """A column without its missing values, a table without rows that come twice, labels that count anew."""
    column = isinstance(node, ast.Subscript) and is_column(node)
    own = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in TABLES_ONLY
    if isinstance(getattr(node, "ctx", None), ast.Store) or not (column or own):
        return
    for step in _STEPS:
        yield Change(ast.Call(ast.Attribute(node, step, ast.Load()), [], []), "missing", 1.4)
    drop = [ast.keyword("drop", ast.Constant(value=True))]
    yield Change(ast.Call(ast.Attribute(node, "reset_index", ast.Load()), [], drop), "missing", 1.3)

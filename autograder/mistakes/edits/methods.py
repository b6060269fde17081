"""Operators for programs that use strings, lists, dictionaries or pandas tables. They change methods and options, and add steps."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from math import inf

from autograder.mistakes.edits.operators import MODULES, Change, Scope, name_of, operator

__all__ = ["uses_texts"]

_TAKEN_FOR = {
    "lower": "upper", "upper": "lower", "lstrip": "rstrip", "rstrip": "lstrip", "strip": "lstrip", "startswith": "endswith",
    "endswith": "startswith", "isalpha": "isalnum", "isalnum": "isalpha", "isdigit": "isalnum", "capitalize": "title",
    "title": "capitalize", "append": "extend", "extend": "append", "keys": "values", "rfind": "find", "rsplit": "split",
    "removeprefix": "removesuffix", "removesuffix": "removeprefix", "union": "intersection", "intersection": "union",
    "issubset": "issuperset", "issuperset": "issubset", "casefold": "upper",
}  # fmt: skip
_GROUPS = (
    ("lower", "upper", "casefold", "title", "capitalize", "swapcase"), ("strip", "lstrip", "rstrip"), ("find", "rfind", "index"),
    ("startswith", "endswith"), ("isalpha", "isalnum", "isdigit", "isspace", "isupper", "islower"), ("append", "extend"),
    ("keys", "values", "items"), ("split", "rsplit", "splitlines"), ("removeprefix", "removesuffix", "strip"), ("remove", "discard", "pop"),
    ("union", "intersection", "difference", "symmetric_difference"), ("issubset", "issuperset", "isdisjoint"), ("get", "setdefault", "pop"),
    ("ljust", "rjust", "center"), ("replace", "strip"), ("count", "find"), ("isoformat", "strftime"), ("weekday", "isoweekday"),
)  # fmt: skip
_TEXTS_ONLY = frozenset(
    {"lower", "upper", "casefold", "title", "capitalize", "swapcase", "strip", "lstrip", "rstrip", "split", "rsplit"}
    | {"splitlines", "join", "startswith", "endswith", "isalpha", "isalnum", "isdigit", "isspace", "isupper", "islower"}
    | {"replace", "removeprefix", "removesuffix"}
)
_SEPARATORS = {"": " ", " ": "", ", ": ",", ",": ", ", "\n": " "}
_STEPS = ("lower", "strip", "upper", "casefold", "split", "title")
_MARKS = ".,;:!?\"'()-"
_CONTAINERS = ("sorted", "set", "list", "tuple", "len", "sum", "reversed", "str", "int", "float", "max", "min", "dict")
_TEXTS = ("", " ", "\n", ", ", ",", ".", "-", "_", ":", "; ")

_TABLES_TAKEN_FOR = {
    "nlargest": "nsmallest", "nsmallest": "nlargest", "head": "tail", "tail": "head", "idxmax": "idxmin",
    "idxmin": "idxmax", "isna": "notna", "notna": "isna", "isnull": "notnull", "notnull": "isnull", "ffill": "bfill",
    "bfill": "ffill", "nunique": "count", "median": "mean", "first": "last", "last": "first",
}  # fmt: skip
_TABLE_GROUPS = (
    ("nlargest", "nsmallest"), ("head", "tail"), ("idxmax", "idxmin"), ("isna", "notna"), ("isnull", "notnull"),
    ("ffill", "bfill"), ("cummax", "cummin"), ("nunique", "count", "size"), ("first", "last"), ("cumcount", "ngroup"),
    ("median", "mean", "sum", "count", "size", "min", "max", "std", "var", "nunique", "first", "last", "mode"),
)  # fmt: skip
_SUMMARIES = {
    "mean": "median", "median": "mean", "sum": "mean", "count": "nunique", "nunique": "count", "size": "nunique",
    "min": "max", "max": "min", "std": "var", "var": "std", "first": "last", "last": "first",
}  # fmt: skip
_JOINS = ("inner", "left", "right", "outer")
_TABLES_ONLY = frozenset(
    {"agg", "aggregate", "groupby", "sort_values", "sort_index", "value_counts", "merge", "join", "drop_duplicates"}
    | {"dropna", "fillna", "reset_index", "set_index", "nlargest", "nsmallest", "pivot_table", "isin", "query", "rank"}
    | {"transform", "idxmax", "idxmin", "nunique", "isna", "notna", "describe", "quantile"}
)
# Options that a student may have forgotten, each with its value and the kind of mistake.
_OPTIONS: dict[str, tuple[tuple[str, bool | int | str, str], ...]] = {
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
_TABLE_STEPS = ("dropna", "drop_duplicates", "reset_index", "abs")


def uses_texts(program: ast.AST) -> bool:
    """Return whether a program calls methods of strings or dictionaries."""
    called = (_method_of(node)[0] for node in ast.walk(program) if isinstance(node, ast.expr))
    return any(name in _TEXTS_ONLY | {"items", "get"} for name in called)


@operator
def other_builtin_method(node: ast.expr, _scope: Scope) -> Iterator[Change]:
    """Call another method of a string, list or dictionary, change its separator or default, or add ``reverse`` to ``sorted``."""
    if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
        yield Change(ast.FormattedValue(node.value, node.conversion, None), "text", 1.0, (0,))
    if not isinstance(node, ast.Call):
        return
    if name_of(node.func) == "sorted" and all(k.arg != "reverse" for k in node.keywords):
        yield Change(_with_option(node, "reverse", value=True), "order", 1.0, (0,))
    name, receiver = _method_of(node)
    if receiver is None:
        return
    if name in _TAKEN_FOR:
        yield Change(_renamed(node, _TAKEN_FOR[name]), "function", 1.0, (0,))
    if name in ("split", "rsplit") and not node.args and not node.keywords:
        yield Change(_with_arguments(node, ast.Constant(" ")), "text", 1.0, (0,))
    elif name in ("split", "rsplit", "strip", "lstrip", "rstrip") and len(node.args) == 1:
        yield Change(_with_arguments(node), "text", 1.0, (0,))
    if name == "get" and len(node.args) == 2:
        yield Change(_with_arguments(node, node.args[0]), "missing", 1.0, (0,))
    if name == "join" and isinstance(receiver, ast.Constant) and isinstance(receiver.value, str):
        other = ast.Constant(_SEPARATORS.get(receiver.value, ""))
        yield Change(ast.Call(ast.Attribute(other, "join", ast.Load()), node.args, []), "text", 1.0, (0,))
    for method in _others(name, _GROUPS):
        yield Change(_renamed(node, method), "function", 1.1)
    if name == "split":
        for separator in (" ", ",", "\n", "\t", ";", ":"):
            yield Change(_with_arguments(node, ast.Constant(separator)), "text", 1.2)
    elif name in ("strip", "lstrip", "rstrip"):
        yield Change(_with_arguments(node, ast.Constant(_MARKS)), "text", 1.2)
    elif name == "get" and node.args:
        for default in (0, 1, "", None):
            yield Change(_with_arguments(node, node.args[0], ast.Constant(default)), "number", 1.1)
        yield Change(_with_arguments(node, node.args[0], ast.List([], ast.Load())), "missing", 1.3)


@operator
def missing_text_step(node: ast.expr, scope: Scope) -> Iterator[Change]:
    """Add a missing step to a string, such as ``lower``, ``strip`` or ``split``."""
    name, receiver = _method_of(node)
    text_call = receiver is not None and name in _TEXTS_ONLY
    if text_call and isinstance(node, ast.Call) and receiver is not None and not isinstance(receiver, ast.Constant):
        for step in _STEPS[:4]:
            func = ast.Attribute(_then(receiver, step), name, ast.Load())
            yield Change(ast.Call(func, node.args, node.keywords), "missing", 1.2)
    if text_call or (scope.texts and isinstance(node, ast.Name) and node.id in scope.variables):
        for step in _STEPS:
            yield Change(_then(node, step), "missing", 1.3)
        yield Change(_then(node, "strip", ast.Constant(_MARKS)), "missing", 1.4)
        backwards = ast.Slice(None, None, ast.UnaryOp(ast.USub(), ast.Constant(1)))
        yield Change(ast.Subscript(node, backwards, ast.Load()), "order", 1.6)


@operator
def other_container(node: ast.expr, scope: Scope) -> Iterator[Change]:
    """Wrap a value in a call such as ``sorted``, or edit a comprehension, if the program works on strings or dictionaries."""
    if not scope.texts:
        return
    if isinstance(node, ast.Name | ast.Call | ast.ListComp | ast.SetComp | ast.Subscript):
        for function in _CONTAINERS:
            yield Change(ast.Call(ast.Name(function, ast.Load()), [node], []), "missing", 1.5)
    if isinstance(node, ast.ListComp):
        yield Change(ast.SetComp(node.elt, node.generators), "expression", 1.1)
    elif isinstance(node, ast.SetComp):
        yield Change(ast.ListComp(node.elt, node.generators), "expression", 1.1)
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp) and any(part.ifs for part in node.generators):
        bare = [ast.comprehension(part.target, part.iter, [], part.is_async) for part in node.generators]
        yield Change(type(node)(node.elt, bare), "condition", 1.1)


@operator
def other_constant_text(node: ast.expr, scope: Scope) -> Iterator[Change]:
    """Replace a short string with a common separator, or change its case or the spaces around it."""
    if scope.texts and isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) <= 20:
        text = node.value
        for other in dict.fromkeys([text.strip(), f"{text} ", f" {text}", text.lower(), text.upper(), *_TEXTS]):
            if other != text:
                yield Change(ast.Constant(other), "text", 1.1)


@operator
def other_table_method(node: ast.expr, _scope: Scope) -> Iterator[Change]:
    """Call another method of a table, such as another summary, or add an option."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or _is_module(node.func.value):
        return
    name = node.func.attr
    about_tables = name in _TABLES_ONLY or _is_column(node.func.value)
    for other in _others(name, _TABLE_GROUPS):
        cost = 1.0 if _TABLES_TAKEN_FOR.get(other) == name else 1.2
        mutation = (5, 0) if _TABLES_TAKEN_FOR.get(name) == other else ()
        yield Change(_renamed(node, other), "function", cost if about_tables else inf, mutation)
    for option, value, kind in _OPTIONS.get(name, ()) if about_tables else ():
        if all(keyword.arg not in (option, None) for keyword in node.keywords):
            yield Change(_with_option(node, option, value=value), kind, 1.1, (5, 1))


@operator
def other_join_or_summary(node: ast.expr, _scope: Scope) -> Iterator[Change]:
    """Change the type of a join, or the name of a summary function in a string."""
    name = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
    if not isinstance(node, ast.Call):
        return
    if name in ("merge", "join"):
        for place, keyword in enumerate(node.keywords):
            if keyword.arg == "how" and isinstance(keyword.value, ast.Constant):
                for other in _JOINS:
                    if other != keyword.value.value:
                        changed = ast.keyword("how", ast.Constant(other))
                        rest = [*node.keywords[:place], changed, *node.keywords[place + 1 :]]
                        yield Change(ast.Call(node.func, node.args, rest), "condition", 1.0, (5, 2))
    if name in ("agg", "aggregate", "transform", "pivot_table"):
        texts = [n for part in (*node.args, *node.keywords) for n in ast.walk(part) if isinstance(n, ast.Constant)]
        for text in texts:
            if isinstance(text.value, str) and text.value in _SUMMARIES:
                for other in _SUMMARIES:
                    if other != text.value:
                        mutation = (5, 2) if other == _SUMMARIES[text.value] else ()
                        yield Change(_exchanged(node, text, other), "function", 1.0, mutation)


@operator
def missing_table_step(node: ast.expr, _scope: Scope) -> Iterator[Change]:
    """Add a missing step to a table: drop missing values or duplicate rows, renumber the rows, or take absolute values."""
    column = isinstance(node, ast.Subscript) and _is_column(node)
    own = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _TABLES_ONLY
    if isinstance(getattr(node, "ctx", None), ast.Store) or not (column or own):
        return
    for step in _TABLE_STEPS:
        yield Change(_then(node, step), "missing", 1.4)
    drop = [ast.keyword("drop", ast.Constant(value=True))]
    yield Change(ast.Call(ast.Attribute(node, "reset_index", ast.Load()), [], drop), "missing", 1.3)


def _method_of(node: ast.expr) -> tuple[str, ast.expr | None]:
    """Return the name that ``node`` calls, and the object if it is a method. The object is None if ``node`` does not call a method."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return "", None
    return node.func.attr, None if _is_module(node.func.value) else node.func.value


def _is_module(node: ast.expr) -> bool:
    return name_of(node) in MODULES


def _others(name: str, groups: tuple[tuple[str, ...], ...]) -> Iterator[str]:
    return (other for group in groups if name in group for other in group if other != name)


def _then(node: ast.expr, method: str, *args: ast.expr) -> ast.expr:
    return ast.Call(ast.Attribute(node, method, ast.Load()), list(args), [])


def _renamed(node: ast.Call, name: str) -> ast.expr:
    assert isinstance(node.func, ast.Attribute)  # noqa: S101 - as its callers have checked
    return ast.Call(ast.Attribute(node.func.value, name, ast.Load()), node.args, node.keywords)


def _with_arguments(node: ast.Call, *args: ast.expr) -> ast.expr:
    return ast.Call(node.func, list(args), [])


def _with_option(node: ast.Call, option: str, *, value: bool | int | str) -> ast.expr:
    return ast.Call(node.func, node.args, [*node.keywords, ast.keyword(option, ast.Constant(value))])


def _exchanged(node: ast.Call, text: ast.Constant, other: str) -> ast.expr:
    """Return a copy of the call ``node`` in which the string ``other`` replaces the string ``text``."""

    def copied(part: ast.AST) -> ast.AST:
        if part is text:
            return ast.Constant(other)
        fields = {name: again(value) for name, value in ast.iter_fields(part)}
        return type(part)(**fields)

    def again(value: object) -> object:
        if isinstance(value, list):
            return [again(item) for item in value]
        return copied(value) if isinstance(value, ast.AST) else value

    result = copied(node)
    assert isinstance(result, ast.expr)  # noqa: S101 - the copy of a call is a call
    return result


def _is_column(node: ast.expr) -> bool:
    """Return whether an expression selects columns of a table, as in ``table["x"]`` or ``table.groupby("g")["x"]``."""
    index = node.slice if isinstance(node, ast.Subscript) else None
    if isinstance(index, ast.Constant):
        return isinstance(index.value, str)
    if isinstance(index, ast.List):
        return any(isinstance(item, ast.Constant) and isinstance(item.value, str) for item in index.elts)
    return False

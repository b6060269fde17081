"""Operators for calls. They change the function or the arguments, and add or drop a call."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import product
from math import inf

from autograder.mistakes.edits.operators import Change, Scope, call_of, inputs_of, name_of, numeral, operator, size

__all__: list[str] = []

_REDUCTIONS = frozenset(
    {"sum", "mean", "max", "min", "amax", "amin", "prod", "std", "var", "argmax", "argmin", "all", "any", "cumsum"}
    | {"cumprod", "median", "argsort", "sort", "nansum", "nanmax", "nanmean", "logsumexp"}
)  # fmt: skip
_FLAT = frozenset({"argmax", "argmin", "argsort", "sort", "cumsum", "cumprod"})  # functions without ``keepdims``
_TAKEN_FOR = {
    "max": "min", "min": "max", "amax": "amin", "sum": "mean", "mean": "sum", "argmax": "argmin", "argmin": "argmax",
    "tril": "triu", "triu": "tril", "maximum": "minimum", "minimum": "maximum", "all": "any", "any": "all",
    "zeros": "ones", "ones": "zeros", "log": "log2", "exp": "exp2", "var": "std", "std": "var", "hstack": "vstack",
    "logical_and": "logical_or", "logical_or": "logical_and", "zeros_like": "ones_like", "ones_like": "zeros_like",
    "cumsum": "cumprod", "standard_normal": "random",
}  # fmt: skip
_NEIGHBORS = (
    ("sum", "mean", "prod", "max", "min", "median"), ("max", "min", "argmax", "argmin"), ("amax", "amin"),
    ("argmax", "argmin"), ("tril", "triu"), ("maximum", "minimum"), ("all", "any"), ("zeros", "ones", "empty", "full"),
    ("log", "log2", "log10", "log1p"), ("exp", "exp2", "expm1", "log"), ("var", "std"), ("sqrt", "square", "abs", "log"),
    ("hstack", "vstack", "concatenate", "stack", "dstack"), ("logical_and", "logical_or", "logical_xor"),
    ("zeros_like", "ones_like", "empty_like", "full_like", "copy"), ("cumsum", "cumprod", "sum"), ("eye", "ones", "zeros", "diag"),
    ("outer", "dot", "inner", "multiply", "matmul", "kron", "cross"), ("floor", "ceil", "round", "rint"),
    ("standard_normal", "random", "uniform", "normal"), ("repeat", "tile"), ("add", "subtract"), ("multiply", "divide"),
    ("diagonal", "diag", "trace"), ("sin", "cos", "tan"), ("sorted", "reversed", "list"), ("len", "sum", "max", "min"),
    ("nonzero", "flatnonzero", "argwhere"), ("ravel", "flatten"), ("append", "extend"), ("float", "int", "round"),
    ("swapaxes", "moveaxis"), ("less", "less_equal", "greater", "greater_equal"), ("tril_indices", "triu_indices"),
    ("log", "sqrt", "exp"), ("isqrt", "sqrt"), ("isnan", "isinf", "isfinite"), ("max", "maximum"), ("min", "minimum"),
)  # fmt: skip
_TRUE = ast.Constant(value=True)
# Mutations do not drop these calls, because a function often returns the same result without them.
_SHAPE_ONLY = frozenset(
    {"copy", "astype", "reshape", "array", "asarray", "ravel", "list", "tuple", "float", "int", "range", "len", "zip", "enumerate"}
)  # fmt: skip
_ELEMENTWISE = ("sqrt", "exp", "log", "abs")


def _with(node: ast.Call, **parts: object) -> ast.Call:
    whole: dict[str, object] = {"func": node.func, "args": node.args, "keywords": node.keywords, **parts}
    return ast.Call(**whole)  # type: ignore[arg-type]


@operator
def other_function(node: ast.expr, scope: Scope) -> Iterator[Change]:
    """Call a related function, or another function of the notebook."""
    name, _method = call_of(node)
    if not name or not isinstance(node, ast.Call):
        return
    others = [other for group in _NEIGHBORS if name in group for other in group if other != name]
    for other in dict.fromkeys([*([_TAKEN_FOR[name]] if name in _TAKEN_FOR else []), *others]):
        func: ast.expr = ast.Name(other, ast.Load())
        if isinstance(node.func, ast.Attribute):
            func = ast.Attribute(node.func.value, other, ast.Load())
        is_near = _TAKEN_FOR.get(name) == other
        mutation = (1,) if is_near and isinstance(node.func, ast.Attribute) else ()
        keywords = [ast.keyword("axis", numeral(-1))] if (name, other) == ("hstack", "concatenate") else node.keywords
        changed = _with(node, func=func, keywords=keywords)
        yield Change(changed, "function", 1.0 if mutation else 1.1 if is_near else 1.2, mutation)
    for other in scope.functions if name in scope.functions else ():
        if other != name:
            yield Change(_with(node, func=ast.Name(other, ast.Load())), "function", 1.4)
    if isinstance(node.func, ast.Name) and name in scope.variables:
        variables = [ast.Name(other, ast.Load()) for other in scope.variables if other != name]
        yield from (Change(_with(node, func=variable), "variable", 1.1) for variable in variables)


@operator
def without_the_call(node: ast.expr, scope: Scope) -> Iterator[Change]:
    """Replace a call with one of its arguments, an operand of an argument, or the object whose method is called. Let a transpose swap only the last two axes."""
    name, method = call_of(node)
    if not isinstance(node, ast.Call) or name in _MAKE_ARRAYS:
        return
    kind = "transpose" if name in _SWAPS else "dtype" if name == "astype" else "extra"
    for array, _ in inputs_of(node) if name in _SWAPS else ():
        yield Change(scope.np("swapaxes", array, numeral(-1), numeral(-2)), kind, 1.1)
    drops = name not in _SHAPE_ONLY
    if method and isinstance(node.func, ast.Attribute):
        drops_method = drops and not isinstance(node.func.value, ast.Attribute)
        yield Change(node.func.value, kind, 1.0, (2,) if drops_method else ())
        drops = drops and not drops_method
    for i, argument in enumerate(node.args[:3]):
        if not isinstance(argument, ast.Starred | ast.Constant):
            cost = 1.0 + 0.3 * i + 0.3 * method if name else inf
            yield Change(argument, kind, cost, (2,) if drops and i == 0 else ())
            if isinstance(argument, ast.BinOp):
                yield from (Change(operand, kind, cost + 0.05) for operand in (argument.left, argument.right))


_SWAPS = frozenset({"transpose", "swapaxes", "moveaxis"})
# Functions that make an array from sizes and numbers. None of their arguments can be the result.
_MAKE_ARRAYS = frozenset({"zeros", "ones", "empty", "full", "eye", "identity", "tri", "arange", "linspace"})


@operator
def other_arguments(node: ast.expr, scope: Scope) -> Iterator[Change]:
    """Reorder the arguments, or drop one."""
    if not isinstance(node, ast.Call) or any(isinstance(a, ast.Starred) for a in node.args):
        return
    args = node.args
    name = call_of(node)[0]
    kind = "transpose" if name in _SWAPS else "order"
    for i in range(len(args)):
        for j in range(i + 1, len(args)):
            if name == "where" and i == 0 and isinstance(args[j], ast.Constant):
                continue  # this would switch off the condition
            swapped, near = [*args], j == i + 1
            swapped[i], swapped[j] = args[j], args[i]
            yield Change(_with(node, args=swapped), kind, 1.0 if near else 1.2, (3,) if near else ())
            if near and name == "reshape":  # which does not swap axes
                axes = numeral(i - len(args)), numeral(j - len(args))
                yield Change(scope.np("swapaxes", _with(node, args=swapped), *axes), "transpose", 1.2)
    if len(args) > 1 or (args and isinstance(getattr(args[0], "value", None), str)):
        for i in range(len(args)):
            yield Change(_with(node, args=args[:i] + args[i + 1 :]), "extra", 1.3)
    if isinstance(node.func, ast.Attribute) and len(args) == 1 and name_of(node.func.value) in scope.variables:
        func = ast.Attribute(args[0], node.func.attr, ast.Load())  # write q.dot(k) for k.dot(q)
        yield Change(_with(node, func=func, args=[node.func.value]), "order", 1.1)


@operator
def other_keywords(node: ast.expr, scope: Scope) -> Iterator[Change]:
    """Use another axis, diagonal or data type, add or drop ``keepdims``, or drop another keyword."""
    if not isinstance(node, ast.Call):
        return
    name, method = call_of(node)
    given = {k.arg: i for i, k in enumerate(node.keywords) if k.arg}

    def replaced(**new: ast.expr) -> ast.Call:
        kept = [k for k in node.keywords if k.arg not in new]
        return _with(node, keywords=kept + [ast.keyword(k, v) for k, v in new.items()])

    for i, keyword in enumerate(node.keywords):
        before, after = node.keywords[:i], node.keywords[i + 1 :]
        mutates = keyword.arg not in {"dtype", "initial"}
        cost = 1.0 if name and keyword.arg else inf
        kind = _KINDS.get(keyword.arg or "", "extra")
        yield Change(_with(node, keywords=[*before, *after]), kind, cost, (4, i) if mutates else ())
        if keyword.arg == "axis":  # a mutation leaves the keyword in its place
            for place, number in enumerate((0, -1, -2, None), 1):
                other = [*before, ast.keyword("axis", numeral(number)), *after]
                yield Change(_with(node, keywords=other), "axis", inf, (4, i, place))
    if not name:
        return
    if "axis" in given:
        for axis in (*scope.axes(), ast.Constant(None), *map(numeral, (2, -3))):
            yield Change(replaced(axis=axis), "axis", 1.0)
        pair = node.keywords[given["axis"]].value
        if not isinstance(pair, ast.Tuple) and name in _REDUCTIONS:
            yield Change(replaced(axis=ast.Tuple([numeral(-1), numeral(-2)], ast.Load())), "axis", 1.4)
    if "keepdims" not in given and name in _REDUCTIONS - _FLAT:
        yield Change(replaced(keepdims=_TRUE), "keepdims", 1.0)
        positional = len(node.args) > (0 if method else 1)
        if "axis" not in given and not positional:
            for axis in scope.axes():
                yield Change(replaced(axis=axis, keepdims=_TRUE), "axis", 1.1)
    if "axis" not in given and name in _REDUCTIONS | _TAKE_AXIS | {*scope.functions}:
        further = [numeral(-3)] if name in {"concatenate", "stack", "flip", "squeeze"} else []
        for axis in (*scope.axes(), *further):
            yield Change(replaced(axis=axis), "axis", 1.0 if name in _REDUCTIONS else 1.3)
    if name in {"tril", "triu", "eye", "diagonal", "diag"} and "k" not in given:
        word = "offset" if name == "diagonal" else "k"
        for value in (1, -1):
            yield Change(replaced(**{word: numeral(value)}), "number", 1.1)
        for parameter in scope.variables:
            yield Change(replaced(**{word: ast.Name(parameter, ast.Load())}), "missing", 1.8)
    if name in _TAKE_DTYPE or "dtype" in given:
        for dtype in ("float", "bool"):
            yield Change(replaced(dtype=ast.Name(dtype, ast.Load())), "dtype", 1.0 if "dtype" in given else 1.3)
    if name in {"var", "std"} and "ddof" not in given:
        yield Change(replaced(ddof=ast.Constant(1)), "number", 1.4)


_KINDS = {
    "axis": "axis", "axes": "transpose", "keepdims": "keepdims", "dtype": "dtype", "k": "number", "out": "inplace",
}  # fmt: skip
_TAKE_AXIS = frozenset({"softmax", "concatenate", "stack", "norm", "repeat", "take", "flip", "squeeze"})
_TAKE_DTYPE = frozenset(
    {"zeros", "ones", "full", "zeros_like", "ones_like", "empty", "array", "asarray", "eye", "arange", "tri"}
)


@operator
def missing_argument(node: ast.expr, scope: Scope) -> Iterator[Change]:
    """Pass an additional variable to a function."""
    name, _method = call_of(node)
    if not name or not isinstance(node, ast.Call) or any(isinstance(a, ast.Starred) for a in node.args):
        return
    if name in scope.functions or len(node.args) == 1:
        given = {name_of(a) for a in node.args}
        for variable in scope.variables:
            if variable not in given:
                yield Change(_with(node, args=[*node.args, ast.Name(variable, ast.Load())]), "missing", 1.6)
    if name in scope.functions:
        for parameter in scope.parameters:
            if all(k.arg != parameter for k in node.keywords):
                word = ast.keyword(parameter, ast.Name(parameter, ast.Load()))
                yield Change(_with(node, keywords=[*node.keywords, word]), "missing", 1.4)


@operator
def other_buffer(node: ast.expr, scope: Scope) -> Iterator[Change]:
    """Give a new array the shape of one row of a parameter, or fill it with -inf, the start of a maximum."""
    if call_of(node)[0] == "zeros" and isinstance(node, ast.Call) and node.args:
        yield Change(scope.np("full", node.args[0], numeral(-inf)), "number", 1.3)
    if call_of(node)[0] in {"zeros_like", "ones_like", "empty_like"} and isinstance(node, ast.Call):
        for name in scope.parameters:
            row = ast.Subscript(ast.Name(name, ast.Load()), numeral(0), ast.Load())
            yield Change(_with(node, args=[row]), "shape", 1.3)


@operator
def other_range(node: ast.expr, scope: Scope) -> Iterator[Change]:
    """Start or end a range one step earlier or later, or end it at a limit."""
    if call_of(node)[0] not in {"range", "arange"} or not isinstance(node, ast.Call):
        return
    one = ast.Constant(1)
    if len(node.args) == 1:
        [end] = node.args
        for op in (ast.Add(), ast.Sub()):
            yield Change(_with(node, args=[ast.BinOp(end, op, one)]), "range", 1.0)
            yield Change(_with(node, args=[one, ast.BinOp(end, op, one)]), "range", 1.1)
        yield Change(_with(node, args=[one, end]), "range", 1.0)
        yield Change(_with(node, args=[ast.Call(ast.Name("len", ast.Load()), [end], [])]), "range", 1.4)
        limits = [ast.Call(ast.Name("min", ast.Load()), [end, ast.Name(n, ast.Load())], []) for n in scope.parameters]
        yield from (Change(_with(node, args=[limit]), "range", 1.4) for limit in limits)
    elif len(node.args) in {2, 3}:
        start, end, *step = node.args
        for op in (ast.Add(), ast.Sub()):
            yield Change(_with(node, args=[ast.BinOp(start, op, one), end, *step]), "range", 1.0)
            yield Change(_with(node, args=[start, ast.BinOp(end, op, one), *step]), "range", 1.0)
        yield Change(_with(node, args=[end, *step]), "range", 1.1)


@operator
def other_size(node: ast.expr, scope: Scope) -> Iterator[Change]:
    """Take a size of a new array or of a range from the shape of another parameter."""
    if call_of(node)[0] not in _TAKE_SIZES or not isinstance(node, ast.Call) or not node.args:
        return
    first, *rest = node.args
    sizes = first.elts if isinstance(first, ast.Tuple) else [first]
    for i, name, place in product(range(len(sizes)), scope.parameters, (-2, -1)):
        if isinstance(sizes[i], ast.Name):
            others = [*sizes[:i], size(ast.Name(name, ast.Load()), place), *sizes[i + 1 :]]
            new = ast.Tuple(others, ast.Load()) if isinstance(first, ast.Tuple) else others[0]
            yield Change(_with(node, args=[new, *rest]), "range" if call_of(node)[0] == "range" else "shape", 1.3)


_TAKE_SIZES = frozenset({"zeros", "ones", "empty", "full", "eye", "tri", "arange", "range"})


@operator
def shift_before_exp(node: ast.expr, scope: Scope) -> Iterator[Change]:
    """Subtract the maximum before ``exp``, either of the whole array or along an axis, also in place of a limit."""
    name, method = call_of(node)
    if name in {"clip", "minimum"} and isinstance(node, ast.Call) and (method or node.args):
        what = node.func.value if method and isinstance(node.func, ast.Attribute) else node.args[0]
        top = scope.np("max", what, axis=numeral(-1), keepdims=_TRUE)
        yield Change(ast.BinOp(what, ast.Sub(), top), "expression", 1.2)
    if name != "exp" or not isinstance(node, ast.Call) or len(node.args) != 1:
        return
    [inside] = node.args
    base = inside.left if isinstance(inside, ast.BinOp) and isinstance(inside.op, ast.Sub) else None
    for what in filter(None, (inside, base)):
        for axis in scope.axes():
            top = scope.np("max", what, axis=axis, keepdims=_TRUE)
            yield Change(_with(node, args=[ast.BinOp(what, ast.Sub(), top)]), "shift", 1.2)
        yield Change(_with(node, args=[ast.BinOp(what, ast.Sub(), scope.np("max", what))]), "shift", 1.4)


@operator
def missing_call(node: ast.expr, scope: Scope) -> Iterator[Change]:
    """Add a missing step, such as a root, a call of another function, a sum, a transpose, a copy or a new axis."""
    if isinstance(node, ast.Constant | ast.Compare | ast.Tuple | ast.List | ast.Dict | ast.Lambda | ast.BoolOp):
        return
    yield from (Change(scope.np(function, node), "missing", 1.5) for function in _ELEMENTWISE)
    names = [ast.Name(function, ast.Load()) for function in scope.functions]
    yield from (Change(ast.Call(name, [node], []), "missing", 1.4) for name in names)
    yield Change(scope.np("swapaxes", node, numeral(-1), numeral(-2)), "transpose", 1.2)
    yield Change(ast.Attribute(node, "T", ast.Load()), "transpose", 1.3)
    if isinstance(node, ast.Name) and node.id in scope.variables:
        if node.id in scope.parameters:
            yield Change(scope.np("asarray", node), "array", 1.2)
        yield Change(scope.np("copy", node), "inplace", 1.2)
    for reduction in ("sum", "mean", "max"):
        yield Change(scope.np(reduction, node), "missing", 1.6)
        for axis in scope.axes():
            cost = 1.5 if reduction == "sum" else 1.7
            yield Change(scope.np(reduction, node, axis=axis), "missing", cost)
            yield Change(scope.np(reduction, node, axis=axis, keepdims=_TRUE), "missing", cost)
    for reduction in ("argmax", "cumsum"):
        yield Change(scope.np(reduction, node, axis=numeral(-1)), "missing", 1.8)
    every, new = ast.Slice(), ast.Constant(None)
    for one, other in (ast.Constant(...), new), (every, new), (new, every):
        yield Change(ast.Subscript(node, ast.Tuple([one, other], ast.Load()), ast.Load()), "shape", 1.5)
    yield from (Change(ast.Subscript(node, numeral(place), ast.Load()), "index", 1.6) for place in (0, -1, 1))


@operator
def missing_step(node: ast.expr, scope: Scope) -> Iterator[Change]:
    """Add a missing operation: divide by a size, the root of a size or a sum, or combine the value with a variable or a number."""
    if not isinstance(node, ast.BinOp | ast.Call | ast.Name | ast.Subscript | ast.Attribute):
        return
    for name in scope.variables:
        if name == name_of(node):
            continue
        other = ast.Name(name, ast.Load())
        for op in (ast.Mult, ast.Div, ast.Sub, ast.Add, ast.MatMult):
            yield Change(ast.BinOp(node, op(), other), "missing", 1.7)
    for name in scope.parameters:
        width = size(ast.Name(name, ast.Load()), -1)
        yield Change(ast.BinOp(node, ast.Div(), scope.np("sqrt", width)), "missing", 1.6)
        length = ast.Call(ast.Name("len", ast.Load()), [ast.Name(name, ast.Load())], [])
        yield Change(ast.BinOp(node, ast.Div(), length), "missing", 1.8)
    for axis in scope.axes()[:2]:
        total = scope.np("sum", node, axis=axis, keepdims=_TRUE)
        yield Change(ast.BinOp(node, ast.Div(), total), "missing", 1.7)
    for step, value in (ast.Add, 1), (ast.Sub, 1), (ast.Mult, 2), (ast.Div, 2), (ast.Pow, 2):
        yield Change(ast.BinOp(node, step(), ast.Constant(value)), "missing", 1.5)
    yield from (Change(ast.BinOp(ast.Constant(1), step(), node), "missing", 1.8) for step in (ast.Sub, ast.Div))

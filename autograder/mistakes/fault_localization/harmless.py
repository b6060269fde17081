"""Whether a function can be run again and again without harm: it computes, and reaches nothing outside of itself.

A notebook is no jail. What is not known to be harmless is not run: files, other modules, names that it would change.
"""

from __future__ import annotations

import ast
import builtins
import signal
from collections.abc import Iterable, Mapping
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from autograder.mistakes.edits.generator import Definition

__all__ = ["is_harmless"]

_BUILTINS = frozenset(
    {
        "abs", "all", "any", "bool", "complex", "dict", "divmod", "enumerate", "filter", "float", "frozenset", "int",
        "isinstance", "len", "list", "map", "max", "min", "pow", "print", "range", "reversed", "round", "set", "slice",
        "sorted", "str", "sum", "tuple", "zip",
    }
)  # fmt: skip
_MODULES = frozenset({"numpy", "math"})
_REACHING = frozenset(
    {
        "DataSource", "ctypeslib", "distutils", "dump", "dumps", "f2py", "fromfile", "fromregex", "genfromtxt", "lib", "load",
        "loadtxt", "memmap", "open", "open_memmap", "remove", "save", "savefig", "savetxt", "savez", "savez_compressed",
        "seed", "set_state", "seterr", "seterrcall", "show_config", "system", "test", "testing", "tofile", "unlink", "write",
    }
)  # fmt: skip
_STATEMENTS = (ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.With, ast.AsyncWith, ast.ClassDef, ast.Delete)
_VALUES = (int, float, complex, str, bytes, bool, tuple, frozenset, type(None), np.ndarray, np.generic)


def is_harmless(definitions: Iterable[Definition], names: Mapping[str, Any]) -> bool:
    """Whether the functions that ``definitions`` make, and that live among ``names``, only compute."""
    definitions = list(definitions)
    own = {definition.name for definition in definitions}
    return all(_harmless(ast.parse(definition.text), own, names) for definition in definitions)


def _harmless(tree: ast.Module, own: set[str], names: Mapping[str, Any]) -> bool:
    local = {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    local |= {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    inner = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
    endless = not hasattr(signal, "setitimer")  # where nothing can interrupt it, as in a browser
    for node in ast.walk(tree):
        if isinstance(node, _STATEMENTS) or (endless and isinstance(node, ast.While)):
            return False
        if isinstance(node, ast.Attribute) and (node.attr in _REACHING or node.attr.startswith("_")):
            return False
        if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
            base: ast.expr = node
            while isinstance(base, ast.Subscript | ast.Attribute):
                base = base.value
            if not isinstance(base, ast.Name) or base.id not in local:
                return False
        used = node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) else ""
        if used and used not in local | inner | own and not _is_known(used, names):
            return False
    return True


def _is_known(name: str, names: Mapping[str, Any]) -> bool:
    if name not in names:
        return name in _BUILTINS or (name.endswith("Error") and hasattr(builtins, name))
    value = names[name]
    if isinstance(value, ModuleType):
        return value.__name__ in _MODULES
    if isinstance(value, FunctionType):
        return value.__module__.partition(".")[0] in _MODULES
    return isinstance(value, (*_VALUES, np.ufunc)) or value in _TYPES


_TYPES = (float, int, bool, np.float64, np.float32)

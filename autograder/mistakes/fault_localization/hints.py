"""Find a hint about a student's own code inside a running notebook. Only the recorded examples validate the hint.

This module needs only NumPy and the standard library, because it also runs in a browser, under Pyodide. No cell is run again. A notebook is
not a sandbox, so a function is only tried if it is known to have no side effects: no files, no other modules, no globals.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import inspect
import io
import signal
import textwrap
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from autograder.base.attempt import is_nested_deeply, parsed
from autograder.base.edit_kinds import describe_change, kind_of
from autograder.judging.judge import Judge
from autograder.judging.scoring import Checks
from autograder.mistakes.edits.generator import Definition
from autograder.mistakes.fault_localization.functions import localize
from autograder.mistakes.fault_localization.program import MAX_LINES, Program
from autograder.mistakes.fault_localization.search import Deadline, LazyChecks, Located

__all__ = ["PersonalHint", "is_side_effect_free", "only_computes", "personal_hint"]

SECONDS = 0.75  # seconds of processor time, after which no new variant is tried, so that a search ends within a second
_COLLECTING = 0.25  # seconds of processor time in which edits are collected
_CALL_SECONDS = 0.2

_BUILTINS = frozenset({
    "abs", "all", "any", "bool", "complex", "dict", "divmod", "enumerate", "filter", "float", "frozenset", "int", "isinstance",
    "len", "list", "map", "max", "min", "pow", "print", "range", "reversed", "round", "set", "slice", "sorted", "str", "sum",
    "tuple", "zip",
})  # fmt: skip
_MODULES = frozenset({"numpy", "math"})
_REACHING = frozenset({
    "DataSource", "ctypeslib", "distutils", "dump", "dumps", "f2py", "fromfile", "fromregex", "genfromtxt", "lib", "load",
    "loadtxt", "memmap", "open", "open_memmap", "remove", "save", "savefig", "savetxt", "savez", "savez_compressed", "seed",
    "set_state", "seterr", "seterrcall", "show_config", "system", "test", "testing", "tofile", "unlink", "write",
})  # fmt: skip
_STATEMENTS = (ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.With, ast.AsyncWith, ast.ClassDef, ast.Delete)
_VALUES = (int, float, complex, str, bytes, bool, tuple, frozenset, type(None), np.ndarray, np.generic)
_TYPES = (float, int, bool, np.float64, np.float32)


class PersonalHint(NamedTuple):
    """A hint about a student's code: a sentence that names the line to look at, the kind of mistake, and the code itself."""

    text: str
    kind: str
    code: str

    def is_in(self, written: Iterable[str]) -> bool:
        """Return whether one of the ``written`` hints is about the same kind of mistake.

        Most kinds have typical words (``base.edit_kinds``), such as "axis" or "along" for a wrong axis. A kind without typical
        words, such as a wrong variable or a wrong number, matches no written hint.
        """
        return any(kind_of(self.kind).is_mentioned_in(hint) for hint in written)


def personal_hint(exercise: str, function: Any, names: Mapping[str, Any], checks: Checks) -> PersonalHint | None:
    """Return a hint about the line to look at. Return None if all ``checks`` pass, or if no small edit makes them pass."""
    deadline = Deadline(SECONDS)
    program = _program(exercise, function, names)
    if program is None:
        return None
    begun = time.process_time()
    program = replace(program, enough=lambda: time.process_time() - begun > _COLLECTING)
    lazy = LazyChecks(exercise, checks.specs[exercise].checks, checks.converse, checks.run_check)
    here = {**names, exercise: function}
    with _without_output():
        found = localize(here, program, lazy, Judge(checks), deadline, validation_seconds=_CALL_SECONDS)
    if found is None:
        return None
    code = "".join(definition.text for definition in program.definitions)
    return PersonalHint(_sentence(found, exercise), found.kind, code)


def only_computes(exercise: str, function: Any, names: Mapping[str, Any]) -> bool:
    """Return whether the source of ``function`` and of the helpers that it calls is available and has no side effects."""
    return _program(exercise, function, names) is not None


def _program(exercise: str, function: Any, names: Mapping[str, Any]) -> Program | None:
    """Return the program that consists of ``function`` and the notebook's helpers that it calls.

    Return None if their source is not available, is too long, or has side effects.
    """
    own = _definition(exercise, function)
    if own is None or own.name != exercise:
        return None
    found = [own]
    for definition in found:
        for used in sorted(definition.uses):
            helper = names.get(used)
            if used != exercise and isinstance(helper, FunctionType) and helper.__globals__ is function.__globals__:
                text = _definition(used, helper)
                if text is None or text.name != used:
                    return None  # its source is not available
                if text not in found:
                    found.append(text)
    if sum(definition.text.count("\n") for definition in found) > MAX_LINES or not is_side_effect_free(found, names):
        return None
    return Program(exercise, tuple(found), tuple(d.name for d in found[1:]))


def _definition(name: str, function: Any) -> Definition | None:
    if not isinstance(function, FunctionType):
        return None
    try:
        text = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError, IndentationError, SyntaxError):
        return None
    tree = parsed(text)
    if tree is None or len(tree.body) != 1 or is_nested_deeply(tree):
        return None
    made = Definition.of(tree.body[0], text, name)
    if made is None:
        return None
    return Definition(made.name, made.text, function.__code__.co_firstlineno, name, made.uses)


@contextmanager
def _without_output() -> Iterator[None]:
    """Hide printed output, and restore the notebook's random state afterwards."""
    before = np.random.get_state()  # noqa: NPY002 - student code may use NumPy's global generator
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        np.random.set_state(before)  # noqa: NPY002


def _sentence(found: Located, exercise: str) -> str:
    cell, _ = found.places[0]
    where = f"the cell that defines `{cell}`" if cell != exercise else "your cell"
    lines = [line for name, line in found.places if name == cell]
    return describe_change(lines, where, found.kind, found.edits, "all checks here")


def is_side_effect_free(definitions: Iterable[Definition], names: Mapping[str, Any]) -> bool:
    """Return whether none of ``definitions`` has side effects. ``names`` is the notebook's namespace."""
    definitions = list(definitions)
    own = {definition.name for definition in definitions}
    return all(_only_computes(ast.parse(definition.text), own, names) for definition in definitions)


def _only_computes(tree: ast.Module, own: set[str], names: Mapping[str, Any]) -> bool:
    local = {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    local |= {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    inner = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
    endless = not hasattr(signal, "setitimer")  # nothing can interrupt an endless loop, for example in a browser
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

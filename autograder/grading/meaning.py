"""Compare the meaning of a course's code, ignoring comments and positions, and find code that keeps state between exercises.

Verdicts never quote the code of a check file. So they do not depend on its comments, blank lines or unread docstrings.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from autograder.base.attempt import parsed

__all__ = ["Meanings", "may_keep_state", "meaning_of"]

# A file that contains any of these words may read its own text, so its whole text counts.
_READS_ITSELF = ("__doc__", "getsource", "getdoc", "linecache", "lineno", "traceback", "import *")
# Modules whose functions keep no state that another exercise could see, except those in ``_STATEFUL``.
_STATELESS = frozenset({
    "collections", "dataclasses", "fractions", "functools", "itertools", "math", "numpy", "operator", "pandas", "re",
    "statistics", "string", "typing",
})  # fmt: skip
_OURS = frozenset({"autograder", "pytest", "solutions"})
_STATEFUL = frozenset({
    "cache", "cached_property", "compile", "delattr", "eval", "exec", "globals", "locals", "lru_cache", "open", "random", "setattr",
    "setbufsize", "seterr", "seterrcall", "singledispatch", "vars",
})  # fmt: skip
# Prefixes of the names of methods that set options or write files.
_CHANGING = ("__", "dump", "save", "set_", "to_", "tofile", "write")
_FIXED = frozenset({"e", "inf", "nan", "newaxis", "pi"})  # names of constants in modules
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@lru_cache(maxsize=128)  # one command asks for the fingerprint of a chapter twice
def meaning_of(data: bytes, *, is_solution: bool = False, without: str = "\0") -> bytes:
    """Return the syntax tree of a Python file without positions and unread docstrings. Return the file itself if it cannot be parsed.

    In a configuration file, settings whose section starts with ``without`` are left out.
    """
    tree = _tree(data, is_solution=is_solution)
    if tree is None:
        return data
    named = {node: ast.unparse(node.targets[0]) for node in tree.body if isinstance(node, ast.Assign)}
    tree.body = [node for node in tree.body if not named.get(node, "").startswith(f"c.{without}")]  # type: ignore[call-overload]
    return ast.dump(tree, annotate_fields=False).encode("utf-8", "surrogatepass")


def _tree(data: bytes, *, is_solution: bool) -> ast.Module | None:
    """Return a file's syntax tree without unread docstrings: the module's and, in a solution, those of undecorated functions."""
    if any(word.encode() in data for word in _READS_ITSELF):
        return None
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and not node.decorator_list]
    for node in [tree, *(functions if is_solution else ())]:
        if ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return tree


@dataclass(frozen=True, eq=False)
class _Statement:
    """A top-level statement of a file, with three sets of names: defined, used when the statement runs, and used later."""

    file: int
    place: tuple[int, int]
    node: ast.stmt
    defines: frozenset[str]
    at_once: frozenset[str]
    later: frozenset[str] = frozenset()

    @cached_property
    def meaning(self) -> str:
        """The statement's file and syntax tree without positions."""
        return f"{self.file} {ast.dump(self.node, annotate_fields=False)}"

    @property
    def does_nothing(self) -> bool:
        """Whether the statement has no effect if no other code uses the names that it defines."""
        if not isinstance(self.node, ast.Import | ast.ImportFrom):
            return "__all__" in self.defines
        return all(module.partition(".")[0] in _STATELESS | _OURS for module in _modules(self.node))


class Meanings:
    """The meaning of a chapter's check file and solution files, exercise by exercise.

    Attributes:
        parts: for each exercise, the digest of the code in these files that its checks depend on.
        rest: the digest of everything that belongs to no exercise. All exercises depend on it.
    """

    def __init__(self, checks: bytes, solutions: Sequence[bytes], exercises: Sequence[str]) -> None:
        self._exercises = frozenset(exercises)
        files = [checks, *solutions]
        trees = [_tree(data, is_solution=number > 0) for number, data in enumerate(files)]
        self._statements = [one for number, tree in enumerate(trees) for one in _statements(number, tree)]
        self._defining: dict[str, list[_Statement]] = {}
        for one in self._statements:
            for name in one.defines:
                self._defining.setdefault(name, []).append(one)
        self._owners = {one: self._exercises_of(one, one.node) for one in self._statements}
        taken: set[_Statement] = set()
        self.parts = {name: self._part(name, taken) for name in exercises}
        unclear = [data for data, tree in zip(files, trees, strict=True) if tree is None]
        loose = [one for one in self._statements if one not in taken and not one.does_nothing]
        order = [sorted(names) for one, names in self._owners.items() if names and one.file == 0]
        self.rest = _digest([*unclear, _dump(loose), repr(order).encode()])

    def _part(self, exercise: str, taken: set[_Statement]) -> str:
        """Return the digest of the statements that the checks of ``exercise`` depend on, and add them to ``taken``."""
        found: dict[_Statement, None] = {}
        waiting = [one for one, names in self._owners.items() if exercise in names]
        while waiting:
            one = waiting.pop()
            if one in found:
                continue
            found[one] = None
            waiting += [other for name in one.at_once | one.later for other in self._defined(name, one)]
            if self._owners[one] and one.file == 0:
                # The result of an exercise in ``depends_on`` affects the points of the exercise that depends on it.
                named = self._named_by(one) & self._exercises
                waiting += [other for other, names in self._owners.items() if names & named]
        taken.update(found)
        return _digest([_dump(sorted(found, key=lambda one: (one.file, one.place)))])

    def _defined(self, name: str, user: _Statement) -> list[_Statement]:
        """Return the possible definitions of ``name`` for ``user``. In the same file, an immediate use sees only the last definition above it."""
        every = [one for one in self._defining.get(name, ()) if one is not user]
        own = [one for one in every if one.file == user.file]
        if name in user.later or not own:
            return every
        before = [one for one in own if one.place < user.place]
        return [*(before[-1:] or own), *(one for one in every if one.file != user.file)]

    def _named_by(self, one: _Statement) -> set[str]:
        """Return the names that a class uses in its decorators, directly or through a variable."""
        found = set(one.at_once)
        for name in one.at_once:
            for other in self._defined(name, one):
                found |= other.at_once if isinstance(other.node, ast.Assign) else set()
        return found

    def _exercises_of(self, one: _Statement, node: ast.AST, levels: int = 8) -> frozenset[str]:
        """Return the exercises that a statement is about, by its name or by the first argument of its decorator."""
        if isinstance(node, _FUNCTIONS):
            found = self._exercises & {node.name}
            return found.union(*(self._exercises_of(one, decorator, levels) for decorator in node.decorator_list))
        if isinstance(node, ast.Assign):
            own = self._exercises & one.defines if levels == 8 else frozenset[str]()
            return own | self._exercises_of(one, node.value, levels)
        if isinstance(node, ast.Call):
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant) and first.value in self._exercises:
                return frozenset([str(first.value)])
            return self._exercises_of(one, node.func, levels)
        if isinstance(node, ast.Attribute):
            return self._exercises_of(one, node.value, levels)
        if isinstance(node, ast.Name) and levels:
            if node.id in self._exercises:
                return frozenset([node.id])
            earlier = [other for other in self._defined(node.id, one) if isinstance(other.node, ast.Assign)]
            return frozenset[str]().union(*(self._exercises_of(other, other.node, levels - 1) for other in earlier))
        return frozenset()


def _statements(file: int, tree: ast.Module | None) -> Iterator[_Statement]:
    for place, node in enumerate(tree.body if tree is not None else ()):
        if isinstance(node, _FUNCTIONS):
            now = frozenset(word for decorator in node.decorator_list for word in _words(decorator))
            inside = [part for part in ast.iter_child_nodes(node) if part not in node.decorator_list]
            later = frozenset(word for part in inside for word in _words(part))
            yield _Statement(file, (place, 0), node, frozenset([node.name]), now, later)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for number, alias in enumerate(node.names):  # one by one, so that a new import affects only some exercises
                single: ast.stmt = ast.Import([alias])
                if isinstance(node, ast.ImportFrom):
                    single = ast.ImportFrom(node.module, [alias], node.level)
                bound = frozenset([(alias.asname or alias.name).partition(".")[0]])
                yield _Statement(file, (place, number), single, bound, frozenset([alias.name.rpartition(".")[2]]))
        else:
            stored = (part for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))
            yield _Statement(file, (place, 0), node, frozenset(part.id for part in stored), frozenset(_words(node)))


def _modules(node: ast.Import | ast.ImportFrom) -> list[str]:
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]


def _words(node: ast.AST) -> Iterator[str]:
    """Yield each name that ``node`` reads, and each string that could be a name."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr
        elif isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value.isidentifier():
            yield part.value


def _dump(statements: Iterable[_Statement]) -> bytes:
    return "\n".join(one.meaning for one in statements).encode("utf-8", "surrogatepass")


def _digest(parts: Iterable[bytes]) -> str:
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()[:16]


def may_keep_state(sources: Iterable[str], exercises: Iterable[str]) -> bool:
    """Return whether calling one of a notebook's ``exercises`` may change the result of another exercise. If in doubt, return True.

    Plain functions cannot change it: they use only their arguments, constants, each other, and modules without state.
    """
    functions: dict[str, list[ast.FunctionDef]] = {}
    changing: set[str] = set()  # names of anything that may have a state
    for source in sources:
        tree = parsed(source)
        if tree is None and source.strip():
            return True
        for node in tree.body if tree is not None else ():
            if isinstance(node, ast.FunctionDef):
                functions.setdefault(node.name, []).append(node)
            elif not (isinstance(node, ast.Assign) and _is_constant(node.value)):
                changing |= _may_change(node)
    waiting, seen = list(exercises), set[str]()
    while waiting:
        name = waiting.pop()
        if name in changing or name in _STATEFUL:
            return True
        for function in functions.get(name, ()) if name not in seen else ():
            used = _used(function, functions.keys())
            if used is None:
                return True
            waiting += used
        seen.add(name)
    return False


def _may_change(statement: ast.stmt) -> set[str]:
    """Return the names that a statement binds, except names of stateless modules and of their members."""
    found = set()
    for part in ast.walk(statement):
        if isinstance(part, _FUNCTIONS):
            found.add(part.name)
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            found.add(part.id)
        elif isinstance(part, ast.Import | ast.ImportFrom):  # noqa: SIM102
            if not {module.partition(".")[0] for module in _modules(part)} <= _STATELESS:
                found |= {(alias.asname or alias.name).partition(".")[0] for alias in part.names}
    return found


def _used(function: ast.FunctionDef, names: Collection[str]) -> set[str] | None:
    """Return the names that a function reads from outside, or None if it may change something that outlives a call.

    ``names`` contains the names of the notebook's functions. Functions may have attributes.
    """
    arguments = function.args
    defaults = [value for value in (*arguments.defaults, *arguments.kw_defaults) if value is not None]
    if function.decorator_list or not all(map(_is_constant, defaults)):
        return None
    parts = [part for line in function.body for part in ast.walk(line)]
    own = {part.arg for part in (*ast.walk(arguments), *parts) if isinstance(part, ast.arg)}
    own |= {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    for part in parts:
        if isinstance(part, (*_FUNCTIONS, ast.Global, ast.Import, ast.ImportFrom, ast.Yield, ast.YieldFrom)):
            return None
        if isinstance(part, ast.Attribute) and (part.attr in _STATEFUL or part.attr.startswith(_CHANGING)):
            return None
        if isinstance(part, ast.Lambda) and not all(map(_is_constant, part.args.defaults)):
            return None
        if isinstance(part, ast.Attribute | ast.Subscript):
            root = _root(part)
            if root not in own and (root in names or not isinstance(part.ctx, ast.Load)):
                return None
    return {part.id for part in parts if isinstance(part, ast.Name)} - own


def _is_constant(node: ast.expr) -> bool:
    """Return whether an expression is a number, a string or another value that cannot change."""
    if isinstance(node, ast.UnaryOp):
        return _is_constant(node.operand)
    if isinstance(node, ast.Tuple):
        return all(map(_is_constant, node.elts))
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Attribute) and node.attr in _FIXED)


def _root(node: ast.expr) -> str:
    """Return the name at the start of ``name.part[index]``, or ""."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""

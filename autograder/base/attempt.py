"""Decide from source text, without running it, whether a student has begun an exercise."""

from __future__ import annotations

import ast
import re
import unicodedata
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

__all__ = [
    "bound_names", "defined_names", "defines", "has_long_run_of_marks", "identifiers_in", "imported", "is_attempted",
    "is_nested_deeply", "last_definition_is_blank", "parsed", "python_name", "reading_once", "same_code",
]  # fmt: skip

T = TypeVar("T")

# With these words, code can bind names that its syntax tree does not show. A notebook with such code is run, not considered blank.
_UNSEEN = re.compile(r"\b(exec|eval|globals|setattr|vars|__import__|global)\b|\bimport\s*\*")
# ``\s`` would also match line ends, so a search from each empty line would run through all the empty lines below it.
_MAGIC = re.compile(r"^([^\S\n]*)[%!?].*$", re.MULTILINE)
_MAX_LEVELS = 80  # a recursive walk makes up to five calls per level, so deeper trees might exceed Python's stack
_MAX_PARSED = 1_000_000  # characters. Longer cells are not parsed and count as attempted
# All cells are read for each exercise, and the released cells again for each submission. So the results are cached, for up to
# this many characters of source in total. A syntax tree takes up to 500 times as much memory as its source.
_USUAL = 250_000
_ONE_SUBMISSION = 4_000_000  # characters. This is enough for a submission, with up to three cached results per cell
_EMPTY = 100  # each cached result counts as this many characters in addition to its source
_UNREAD: Any = object()
# The maximum number of combining characters in a row. No language needs more, and normalizing a run takes quadratic time.
MAX_MARKS = 30
_FOREIGN = re.compile(rf"[^\x00-\x7f]{{{MAX_MARKS + 1}}}")  # any text with more than MAX_MARKS marks in a row matches
_NAME = re.compile(r"[\w\x80-\U0010ffff]+")


def is_attempted(exercise: str, released: str | None, stubs: Sequence[str], others: Iterable[str]) -> bool:
    """Return whether the student wrote anything of their own for ``exercise``.

    Args:
        exercise: the name of the exercise, which is its function's name unless the answers are variables.
        released: the stub as it was released, or None if unknown.
        stubs: the sources of the submitted stub cells of ``exercise``, in order. There are several if the cell was copied.
        others: the sources of the remaining code cells, without the course's own unchanged cells.
    """
    others = list(others)
    if released is not None and _answers(released):
        return _answered(_answers(released), [*stubs, *others])
    bindings = (binding for source in (*stubs, *others) for binding in _bindings_in(exercise, source))
    if any(_is_real(b) and not (isinstance(b, ast.ClassDef) and _is_released(b, released)) for b in bindings):
        return True
    for source in stubs:
        if released is not None and same_code(source, released):
            continue
        if parsed(source) is None and source.strip():
            return True  # the cell has a syntax error, but the student typed something
        if not defines(exercise, source) and released is not None and not defines(exercise, released):
            return True  # the stub defines neither a function nor answers, so any change counts
    if any(exercise in python_name(source) and _UNSEEN.search(source) for source in (*stubs, *others)):
        return True
    # A deleted or renamed definition counts as attempted, because the checks report it. An emptied stub counts as blank.
    emptied = bool(stubs) and all(tree is not None and not tree.body for tree in map(parsed, stubs))
    return not emptied and not any(defines(exercise, source) for source in (*stubs, *others))


def defines(name: str, source: str) -> bool:
    """Return whether ``source`` binds ``name`` at its top level, with or without a real body."""
    tree = parsed(source)
    return tree is not None and any(True for _ in _bindings(name, tree.body))


def defined_names(source: str) -> frozenset[str] | None:
    """Return the names that ``source`` binds at its top level, or None if the text alone does not show all of them."""
    tree = parsed(source)
    if tree is None or _UNSEEN.search(source):
        return None
    return frozenset(name for statement in tree.body for name in bound_names(statement))


def bound_names(statement: ast.stmt) -> list[str]:
    """Return the names that a statement binds."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return [(alias.asname or alias.name).partition(".")[0] for alias in statement.names]
    return [n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]


def python_name(text: str) -> str:
    """Return ``text`` with its names in Unicode normal form NFKC, in which Python compares names.

    If ``text`` has more than ``MAX_MARKS`` combining characters in a row, it is returned unchanged.
    """
    return text if text.isascii() else _known.get_or_read(_normalized, text)


def has_long_run_of_marks(text: str) -> bool:
    """Return whether ``text`` has more than ``MAX_MARKS`` combining characters in a row."""
    if text.isascii() or not _FOREIGN.search(text):
        return False
    # Some characters are not combining marks themselves, but their normal form consists of such marks.
    foreign = {c: unicodedata.normalize("NFKD", c) for c in set(text) if not c.isascii()}
    marks = [c for c, normal in foreign.items() if all(map(unicodedata.combining, normal))]
    return bool(marks) and re.search(f"[{''.join(marks)}]{{{MAX_MARKS + 1}}}", text) is not None


def identifiers_in(source: str) -> frozenset[str]:
    """Return all words in ``source``, including those in strings and comments, after normalizing its names."""
    return _known.get_or_read(_words, source)


def last_definition_is_blank(name: str, sources: Iterable[str]) -> bool:
    """Return whether the last definition of ``name`` in ``sources`` is an empty stub."""
    bindings = [binding for source in sources for binding in _bindings_in(name, source)]
    return bool(bindings) and not _is_real(bindings[-1])


def parsed(source: str) -> ast.Module | None:
    """Return the syntax tree of ``source``, or None if it does not parse or is too long. The tree is cached, so do not change it."""
    return None if len(source) > _MAX_PARSED else _known.get_or_read(_parsed, source)


@contextmanager
def reading_once() -> Iterator[None]:
    """Enlarge the cache while one submission is read, so that each of its cells is read only once."""
    _known.room = _ONE_SUBMISSION
    try:
        yield
    finally:
        _known.room = _USUAL
        _known.trim()


class _CellCache(dict[tuple[Any, str], Any]):
    """A cache of the values that functions return for a cell's source. If the sources become too long in total, the oldest entries are dropped."""

    room, size = _USUAL, 0

    def get_or_read(self, read: Callable[[str], T], source: str) -> T:
        """Return ``read(source)``, from the cache if possible."""
        key = read, source
        result: T = self.get(key, _UNREAD)
        if result is _UNREAD:
            result = self[key] = read(source)
            self.size += len(source) + _EMPTY
            self.trim()
        return result

    def trim(self) -> None:
        """Drop the oldest entries until the rest fits, but always keep the newest one."""
        while self.size > self.room and len(self) > 1:
            oldest = next(iter(self))
            self.pop(oldest, None)
            self.size -= len(oldest[1]) + _EMPTY


_known = _CellCache()


def _normalized(text: str) -> str:
    if has_long_run_of_marks(text):
        return text
    return _NAME.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)


def _words(source: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", python_name(source)))


def _parsed(source: str) -> ast.Module | None:
    tree = _tree(source)
    return tree if tree is not None else _tree(_MAGIC.sub(r"\1pass", source))


def _tree(text: str) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a student's "\d" would print a warning on the grader's terminal
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _bindings(name: str, body: Iterable[ast.stmt]) -> Iterable[ast.stmt]:
    """Yield, in order, the statements in ``body`` and its nested blocks that bind ``name``. Functions and classes are not searched."""
    # Not recursive: a thousand elif branches are a thousand nested blocks, more than Python's stack allows.
    waiting = [*body][::-1]
    while waiting:
        statement = waiting.pop()
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                if statement.name == name:
                    yield statement
            case ast.Import() | ast.ImportFrom():
                if any((alias.asname or alias.name) == name for alias in statement.names):
                    yield statement
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                names = (n for t in targets for n in ((t,) if isinstance(t, ast.Name) else ast.walk(t)))
                if any(isinstance(n, ast.Name) and n.id == name for n in names):
                    yield statement
            case _:
                blocks = [getattr(statement, block, None) or [] for block in ("body", "orelse", "finalbody")]
                blocks += [inner.body for part in ("handlers", "cases") for inner in getattr(statement, part, [])]
                waiting += [inner for block in blocks for inner in block][::-1]


def _bindings_in(name: str, source: str) -> Iterable[ast.stmt]:
    # Searching for the name is far cheaper than parsing, and most cells do not mention it.
    tree = parsed(source) if name in python_name(source) else None
    return _bindings(name, tree.body) if tree is not None else ()


def _is_real(binding: ast.stmt) -> bool:
    if isinstance(binding, ast.FunctionDef | ast.AsyncFunctionDef):
        return not all(_does_nothing(statement) for statement in binding.body)
    if isinstance(binding, ast.ClassDef):  # a class may have fields next to methods that are still stubs
        functions = ast.FunctionDef, ast.AsyncFunctionDef
        methods = [part for part in binding.body if isinstance(part, functions)]
        others = [part for part in binding.body if not isinstance(part, functions) and not _does_nothing(part)]
        return any(map(_is_real, methods)) or (bool(others or binding.bases) and not methods)
    if isinstance(binding, ast.Assign | ast.AnnAssign):
        return not _is_none(binding.value)
    return True


def _does_nothing(statement: ast.stmt) -> bool:
    match statement:
        case ast.Pass() | ast.Return(value=None) | ast.Return(value=ast.Constant(value=None)):
            return True
        case ast.Expr(value=ast.Constant()):  # a docstring or ``...``
            return True
        case ast.Raise(exc=ast.Name(id="NotImplementedError") | ast.Call(func=ast.Name(id="NotImplementedError"))):
            return True
    return False


def _is_none(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and (value.value is None or value.value is ...))


def _answers(released: str) -> frozenset[str]:
    """Return the variables that a stub sets to ``None``. The result is empty if the stub defines a function or class."""
    tree = parsed(released)
    if tree is None or any(isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) for s in tree.body):
        return frozenset()
    blank = [s for s in tree.body if isinstance(s, ast.Assign) and _is_none(s.value)]
    return frozenset(target.id for s in blank for target in s.targets if isinstance(target, ast.Name))


def _answered(answers: frozenset[str], sources: Iterable[str]) -> bool:
    for source in sources:
        tree = parsed(source)
        if tree is None:
            # The quiz cell has a syntax error. The student typed something, so run it and show the error.
            text = python_name(source)
            if any(re.search(rf"\b{re.escape(name)}\b\s*=(?!\s*None\s*$)", text, re.MULTILINE) for name in answers):
                return True
            continue
        if any(_is_real(binding) for name in answers for binding in _bindings(name, tree.body)):
            return True
    return False


def same_code(one: str, other: str) -> bool:
    """Return whether two cells are equal except for comments, docstrings and white space. Cells that do not parse are compared as text."""
    if one == other:
        return True
    trees = parsed(one), parsed(other)
    if trees[0] is None or trees[1] is None:
        return one.split() == other.split()
    return _bare(trees[0]) == _bare(trees[1])


def _is_released(cls: ast.ClassDef, released: str | None) -> bool:
    """Return whether ``cls`` is unchanged from the stub in ``released``, which may contain some complete methods."""
    bindings = _bindings_in(cls.name, released) if released is not None else ()
    return any(_bare(cls) == _bare(stub) for stub in bindings)


def _bare(tree: ast.AST) -> list[object]:
    """Return the nodes and values of ``tree`` as a flat list, without docstrings. Trees with equal lists are the same code."""
    # Unlike ``ast.dump``, this is not recursive, because honest code may be nested deeper than Python's stack allows.
    parts: list[object] = []
    waiting: list[object] = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.AST):
            parts.append(type(part))
            waiting += [value for _name, value in ast.iter_fields(part)][::-1]
        elif isinstance(part, list):
            kept = [p for p in part if not (isinstance(p, ast.Expr) and isinstance(p.value, ast.Constant))]
            parts.append(len(kept))
            waiting += kept[::-1]
        else:
            parts.append((type(part), part))
    return parts


def is_nested_deeply(tree: ast.AST) -> bool:
    """Return whether a recursive walk over ``tree``, such as ``ast.unparse``, might exceed Python's stack."""
    level = [tree]
    for _ in range(_MAX_LEVELS):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return False
    return True


def imported(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line number and top-level name of each module that ``source`` imports, except inside a ``try`` with handlers."""
    tree = parsed(source) if "import" in source else None
    waiting: deque[ast.AST] = deque([tree] if tree is not None else [])
    while waiting:
        node = waiting.popleft()
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name.partition(".")[0]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.lineno, (node.module or "").partition(".")[0]
        tried = set(node.body) if isinstance(node, ast.Try) and node.handlers else set()
        waiting += [child for child in ast.iter_child_nodes(node) if child not in tried]

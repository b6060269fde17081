"""What a picture cell's picture depends on: which of the student's functions it comes to call, read from the text alone.

A picture cell is the course's own code. Where nothing of the student's but functions reaches it, two students whose
functions do the same see the same picture.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from autograder.attempt import parsed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from autograder.sandbox.protocol import CodeCell

__all__ = ["Leaning"]

_UNSEEN = re.compile(
    r"\b(exec|eval|globals|locals|setattr|vars|__\w+__|global|nonlocal)\b|\bimport\s*\*|^[^\S\n]*[%!]", re.MULTILINE
)
# The looks of all figures are the pictures' own business: who changes them draws other pictures.
_STYLE = re.compile(r"\b(rcParams\w*|rc|rc_context|rcdefaults|style|xkcd|set_cmap|switch_backend|use|seaborn)\b")
_DRAWING = frozenset({"plt", "pyplot", "matplotlib", "mpl", "ax", "axes", "fig"})
_COMMON = 10_000  # characters; what longer cells hold is not remembered, as a student could fill the memory with it
_HARMLESS = frozenset({"print", "check", "hint", "display", "help"})


@dataclass(frozen=True)
class _Binding:
    """A name given at the top level of a cell: where, and which names its statement mentions, perhaps itself.

    ``mentions`` is one set for all the names of a statement: one of their own for each of thousands would be gigabytes.
    """

    cell: int
    mentions: frozenset[str]
    text: str


@dataclass
class Leaning:
    """The names that the code cells of one notebook give, those of the course's cells apart from the student's.

    ``tame`` is false where a cell of the student's does more than define functions and give names: then its pictures may
    be like nobody else's.
    """

    exercises: frozenset[str]
    tame: bool = True
    _course: dict[str, list[_Binding]] = field(default_factory=lambda: defaultdict(list))
    _student: dict[str, list[_Binding]] = field(default_factory=lambda: defaultdict(list))
    _reached: dict[str, tuple[frozenset[str], int] | None] = field(default_factory=dict)  # by a picture's text

    @classmethod
    def of(cls, cells: Iterable[CodeCell], released: Collection[str], exercises: Iterable[str]) -> Leaning:
        """Read ``cells``; those whose text is among ``released`` are the course's own."""
        found = cls(frozenset(exercises))
        for cell in cells:
            if cell.source in released and cell.name not in found.exercises:
                found._read(cell, found._course)
            elif not found._read(cell, found._student) or not _is_plain(cell.source):
                found.tame = False
        for name in [*found._student]:
            # ``import numpy as np`` once more, in the student's own cell, is the course's np.
            course = {binding.text for binding in found._course.get(name, ())}
            if course and {binding.text for binding in found._student[name]} <= course and _is_import(course):
                del found._student[name]
        return found

    def _read(self, cell: CodeCell, names: dict[str, list[_Binding]]) -> bool:
        found = _bindings_in(cell.source) if len(cell.source) <= _COMMON else _bindings_in.__wrapped__(cell.source)
        for name, mentions, text in found or ():
            names[name].append(_Binding(cell.index, mentions, text))
        return found is not None

    def exercises_of(self, picture: CodeCell) -> frozenset[str] | None:
        """The exercises whose functions the picture comes to call; None where it may look like nobody else's."""
        if picture.source not in self._reached:
            self._reached[picture.source] = self._reached_by(picture.source)
        found = self._reached[picture.source]
        # What is defined further down is not what this picture shows.
        return found[0] if found is not None and found[1] <= picture.index else None

    def _reached_by(self, picture: str) -> tuple[frozenset[str], int] | None:
        """The exercises whose functions a picture of this text calls, and the place of the last of their cells."""
        tree = parsed(picture)
        if not self.tame or tree is None:
            return None
        reached: dict[str, int] = {}
        seen: set[tuple[str, bool]] = set()
        followed: set[tuple[int, bool]] = set()  # sets of mentions, each of which many names may share
        # (name, whether it is the student's own code that mentions it)
        waiting = [(node.id, False) for node in ast.walk(tree) if isinstance(node, ast.Name)]
        while waiting:
            name, own = waiting.pop()
            if (name, own) in seen:
                continue
            seen.add((name, own))
            mine = self._student.get(name, [])
            if name in self.exercises:
                if len(mine) != 1:
                    return None  # defined again further down, perhaps otherwise, or not there at all
                reached[name] = mine[0].cell
            elif mine and not own:
                return None
            if any((binding.mentions & _DRAWING) - {name} for binding in mine):
                return None  # right as it may be, how it draws is its author's own
            by = own or bool(mine)
            for mentions in (binding.mentions for binding in mine or self._course.get(name, [])):
                if (id(mentions), by) not in followed:
                    followed.add((id(mentions), by))
                    waiting += [(mentioned, by) for mentioned in mentions]
        return frozenset(reached), max(reached.values(), default=0)


@lru_cache(maxsize=128)  # the course's cells stand in every submission
def _bindings_in(source: str) -> list[tuple[str, frozenset[str], str]] | None:
    """Each name that a cell gives, what its statement mentions, and the statement's text where it imports."""
    tree = parsed(source)
    if tree is None:
        return None
    found = []
    for statement in tree.body:
        mentions = frozenset(node.id for node in ast.walk(statement) if isinstance(node, ast.Name))
        text = ast.unparse(statement) if isinstance(statement, ast.Import | ast.ImportFrom) else ""
        found += [(name, mentions, text) for name in _given(statement)]
    return found


def _given(statement: ast.stmt) -> list[str]:
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [statement.name]
        case ast.Import() | ast.ImportFrom():
            return [(alias.asname or alias.name).split(".")[0] for alias in statement.names]
    return [n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]


def _is_plain(source: str) -> bool:
    """Whether a student's cell only defines, gives names, and prints."""
    tree = parsed(source)
    if tree is None or _UNSEEN.search(source) or _STYLE.search(source):
        return False
    return all(_is_plain_statement(statement) for statement in tree.body)


def _is_plain_statement(statement: ast.stmt) -> bool:
    match statement:
        case ast.FunctionDef() | ast.Import() | ast.ImportFrom() | ast.Assert() | ast.Pass():
            return True
        case ast.Expr(value=ast.Constant() | ast.Name()):
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id=name))):
            return name in _HARMLESS
        case ast.Assign(targets=targets):
            return all(isinstance(target, ast.Name | ast.Tuple) for target in targets)
        case ast.AnnAssign(target=ast.Name()):
            return True
    return False


def _is_import(texts: Iterable[str]) -> bool:
    return all(texts)

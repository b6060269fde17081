"""A definition's text by its bytes, as a syntax tree counts them, and a change of a piece of it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

__all__ = ["Draft", "Edit", "Text"]


@dataclass(frozen=True, slots=True)
class Edit:
    """One change: the bytes from ``start`` to ``end`` of a definition's text are replaced by ``text``.

    ``line`` is where a reader finds it, in the numbers of the student's own cell; ``kind`` is one of ``edits.kinds``;
    ``cost`` tells how far the change is from what stands there.
    """

    start: int
    end: int
    text: str
    line: int
    kind: str
    cost: float


class Draft(NamedTuple):
    """An edit that is not written down yet: an expression for the one that stands there."""

    node: ast.expr
    where: tuple[int, int]
    replacement: ast.expr
    kind: str
    cost: float


class Text:
    """The text of a definition whose first line is line ``first`` of its cell."""

    def __init__(self, source: str, first: int) -> None:
        self._data = source.encode()
        self._first = first
        lines = self._data.split(b"\n")
        self._starts = [0, *accumulate(len(line) + 1 for line in lines)]

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int] | None:
        """Where the text of ``node`` begins and ends; None where that is not known."""
        if node.end_lineno is None or node.end_col_offset is None:
            return None
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[node.end_lineno - 1] + node.end_col_offset

    def line(self, node: ast.expr | ast.stmt) -> int:
        """The line of the cell in which ``node`` begins."""
        return self._first + node.lineno - 1

    def end_line(self, node: ast.stmt) -> int:
        """The line of the cell in which ``node`` ends."""
        return self._first + (node.end_lineno or node.lineno) - 1

    def between(self, start: int, end: int) -> str:
        """The text between two places."""
        return self._data[start:end].decode()

    def of(self, *nodes: ast.stmt) -> str:
        """The text from the first of ``nodes`` to the end of the last."""
        spans = [span for span in map(self.span, nodes) if span is not None]
        return self._data[spans[0][0] : spans[-1][1]].decode()

    def changes(self, edit: Edit) -> bool:
        """Whether ``edit`` says anything else than what stands there, brackets around the whole aside."""
        before = self._data[edit.start : edit.end].decode()
        return before not in {edit.text, edit.text.removeprefix("(").removesuffix(")")}

    def made(self, draft: Draft) -> Edit:
        """The edit that puts the replacement of ``draft`` in its node's place."""
        text = ast.unparse(draft.replacement)
        if not isinstance(draft.replacement, ast.Slice | ast.Name) and not _in_an_index(draft.replacement):
            text = f"({text})"
        # What is written over several lines is found where the changed part of it begins.
        line = self.line(_changed_part(draft.node, draft.replacement))
        return Edit(*draft.where, text, line, draft.kind, draft.cost)


def _in_an_index(node: ast.expr) -> bool:
    return isinstance(node, ast.Tuple) and any(isinstance(part, ast.Slice) for part in node.elts)


def _changed_part(node: ast.expr, replacement: ast.expr) -> ast.expr:
    """The part of ``node`` that is not in ``replacement``: of a call with another keyword, that keyword's value."""
    if type(node) is not type(replacement):
        return node
    differing = [
        (old, new)
        for (_, old), (_, new) in zip(ast.iter_fields(node), ast.iter_fields(replacement), strict=True)
        if not _alike(old, new)
    ]
    if len(differing) == 1:
        old, new = differing[0]
        if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
            parts = [(a, b) for a, b in zip(old, new, strict=True) if not _alike(a, b)]
            old, new = parts[0] if len(parts) == 1 else (node, replacement)
        if isinstance(old, ast.keyword) and isinstance(new, ast.keyword):
            old, new = old.value, new.value
        if isinstance(old, ast.expr) and isinstance(new, ast.expr) and old is not node:
            return old if type(old) is not type(new) else _changed_part(old, new)
    return node


def _alike(old: object, new: object) -> bool:
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(_alike, old, new))
    if isinstance(old, ast.AST) and isinstance(new, ast.AST):
        return old is new or ast.dump(old) == ast.dump(new)
    return old == new

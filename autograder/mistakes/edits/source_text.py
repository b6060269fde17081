"""Represent edits of a definition's text. Positions count bytes, as in a syntax tree."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

__all__ = ["Edit", "PendingEdit", "Text"]


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit of a definition's text.

    Attributes:
        start: the first replaced byte.
        end: the byte after the last replaced byte.
        text: the new text.
        line: the line of the student's cell that is reported for the edit.
        kind: the kind of mistake that it corrects (``base.edit_kinds``).
        cost: how far the new text is from the old one.
    """

    start: int
    end: int
    text: str
    line: int
    kind: str
    cost: float


class PendingEdit(NamedTuple):
    """An edit whose text is not yet written: a node, its span, and the expression that replaces it."""

    node: ast.expr
    span: tuple[int, int]
    replacement: ast.expr
    kind: str
    cost: float


class Text:
    """The text of a definition that starts on line ``first`` of its cell."""

    def __init__(self, source: str, first: int) -> None:
        self._data = source.encode()
        self._first = first
        lines = self._data.split(b"\n")
        self._starts = [0, *accumulate(len(line) + 1 for line in lines)]

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int] | None:
        """Return the positions of the first byte of ``node`` and of the byte after its last byte, or None if they are unknown."""
        if node.end_lineno is None or node.end_col_offset is None:
            return None
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[node.end_lineno - 1] + node.end_col_offset

    def line(self, node: ast.expr | ast.stmt) -> int:
        """Return the line of the cell in which ``node`` starts."""
        return self._first + node.lineno - 1

    def end_line(self, node: ast.stmt) -> int:
        """Return the line of the cell in which ``node`` ends."""
        return self._first + (node.end_lineno or node.lineno) - 1

    def between(self, start: int, end: int) -> str:
        """Return the text from byte ``start`` to byte ``end``."""
        return self._data[start:end].decode()

    def of(self, *nodes: ast.stmt) -> str:
        """Return the text from the start of the first of ``nodes`` to the end of the last."""
        spans = [span for span in map(self.span, nodes) if span is not None]
        return self._data[spans[0][0] : spans[-1][1]].decode()

    def changes(self, edit: Edit) -> bool:
        """Return whether ``edit`` changes more than the parentheses around the text."""
        before = self._data[edit.start : edit.end].decode()
        return before not in {edit.text, edit.text.removeprefix("(").removesuffix(")")}

    def apply(self, pending: PendingEdit) -> Edit:
        """Return the edit that replaces the node of ``pending``."""
        text = ast.unparse(pending.replacement)
        new = pending.replacement
        in_an_index = isinstance(new, ast.Tuple) and any(isinstance(part, ast.Slice) for part in new.elts)
        if not isinstance(new, ast.Slice | ast.Name) and not in_an_index:
            text = f"({text})"
        # If an expression spans several lines, report the line in which the changed part starts.
        is_long = pending.node.end_lineno != pending.node.lineno
        line = self.line(_changed_part(pending.node, pending.replacement) if is_long else pending.node)
        return Edit(*pending.span, text, line, pending.kind, pending.cost)


def _changed_part(node: ast.expr, replacement: ast.expr) -> ast.expr:
    """Return the part of ``node`` that ``replacement`` changes, such as the value of one keyword."""
    if type(node) is not type(replacement):
        return node
    differing = [
        (old, new)
        for (_, old), (_, new) in zip(ast.iter_fields(node), ast.iter_fields(replacement), strict=True)
        if not _same(old, new)
    ]
    if len(differing) == 1:
        old, new = differing[0]
        if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
            parts = [(a, b) for a, b in zip(old, new, strict=True) if not _same(a, b)]
            old, new = parts[0] if len(parts) == 1 else (node, replacement)
        if isinstance(old, ast.keyword) and isinstance(new, ast.keyword):
            old, new = old.value, new.value
        if isinstance(old, ast.expr) and isinstance(new, ast.expr) and old is not node:
            return old if type(old) is not type(new) else _changed_part(old, new)
    return node


def _same(old: object, new: object) -> bool:
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(_same, old, new))
    if isinstance(old, ast.AST) and isinstance(new, ast.AST):
        return old is new or ast.dump(old) == ast.dump(new)
    return old == new

"""Right answers of a class, of which a classmate's wrong one may take over an expression: their text is read, never run here."""

from __future__ import annotations

import ast
from collections import Counter, deque
from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

from autograder.base.verdict import ExerciseVerdict
from autograder.mistakes.edits.grafts import Donor
from autograder.mistakes.fault_localization.program import Program, program_of

__all__ = ["Classmates"]

_KEPT = 30  # notebooks
_NEAREST = 2
_DEARER = 0.1  # than what the course's own programs lend: these come first


class _Code(Protocol):
    def own_cells(self) -> Sequence[tuple[str, str]]: ...


class Classmates:
    """The last notebooks with right answers, and which of theirs are right."""

    def __init__(self) -> None:
        self._kept: deque[tuple[frozenset[str], Sequence[tuple[str, str]]]] = deque(maxlen=_KEPT)

    def note(self, code: _Code, exercises: Iterable[ExerciseVerdict]) -> None:
        """Keep a notebook's cells where an exercise in it earned everything."""
        right = frozenset(e.name for e in exercises if e.status == "passed")
        if right:
            self._kept.append((right, code.own_cells()))

    def nearest(self, program: Program, others: Collection[str]) -> list[Donor]:
        """The right answers that are most like ``program``, no two of them the same."""
        texts: dict[str, str] = {}
        for right, cells in self._kept:
            if program.exercise in right:
                found = program_of(program.exercise, cells, others=others)
                if found is not None and len(found.definitions) == 1:
                    text = found.definitions[0].text
                    texts.setdefault(ast.dump(ast.parse(text)), text)
        own = _parts(program.definitions[0].text)
        ranked = sorted(texts.values(), key=lambda text: (_distance(own, _parts(text)), text))
        return [Donor(text, more=_DEARER) for text in ranked[:_NEAREST]]


def _parts(text: str) -> Counter[str]:
    """How often each kind of node, operator and attribute stands in a program."""
    nodes = list(ast.walk(ast.parse(text)))
    return Counter([type(n).__name__ for n in nodes] + [n.attr for n in nodes if isinstance(n, ast.Attribute)])


def _distance(one: Counter[str], other: Counter[str]) -> int:
    return ((one - other) + (other - one)).total()

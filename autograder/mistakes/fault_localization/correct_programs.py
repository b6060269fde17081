"""Collect what a search needs in addition to the student's code: the checks, correct programs and the course's operators."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from autograder.base.verdict import ExerciseVerdict
from autograder.judging.loader import ChapterChecks, known_alternatives
from autograder.mistakes.edits.donors import Donor
from autograder.mistakes.edits.operators import Operator, operators_in
from autograder.mistakes.fault_localization.program import Program, program_of
from autograder.mistakes.fault_localization.search import LazyChecks
from autograder.mistakes.fault_localization.variable_matching import DonorTrace, traced_values
from autograder.sandbox.protocol import Call

__all__ = ["CorrectSubmissions", "Material", "lazy_checks", "loaded_operators"]

_ALTERNATIVES = 4  # the most correct programs in addition to the reference
_KEPT = 30  # the most notebooks that are kept
_NEAREST = 2
_EXTRA_COST = 0.1  # the extra cost of expressions from students' programs, so that the course's own come first


def lazy_checks(checks: ChapterChecks, exercise: str) -> LazyChecks:
    """Return the checks of ``exercise``. Each check makes its calls only when it runs."""
    converse = partial(checks.converse, planned=False)
    return LazyChecks(exercise, checks.specs[exercise].checks, converse, checks.run_check)


class Material(NamedTuple):
    """The course's material for editing a student's solution of an exercise.

    Attributes:
        traces: correct programs, the reference first.
        operators: the operators that the solution modules define.
    """

    traces: tuple[DonorTrace, ...]
    operators: tuple[Operator, ...]

    @classmethod
    def of(cls, checks: ChapterChecks, exercise: str, watched: Call | None, operators: Sequence[Operator]) -> Material:
        """Return the material for ``exercise``. The variables of the programs are traced in the call ``watched``.

        ``operators`` were loaded with the checks. The alternatives are loaded here and may define additional operators.
        """
        functions: list[Callable[..., Any]] = [checks.references[exercise]]
        alternatives = known_alternatives(checks.course, checks.chapter)
        functions += [a.function for a in alternatives if a.exercise == exercise][:_ALTERNATIVES]
        texts = [(function, text) for function in functions if (text := _source_of(function))]
        traces = (
            DonorTrace(Donor(text), traced_values(f, text, watched) if watched is not None else {}) for f, text in texts
        )
        further = operators_in([checks.course.alternatives(checks.chapter)])
        return cls(tuple(traces), tuple(dict.fromkeys([*operators, *further])))

    def program(self, exercise: str, cells: Iterable[tuple[str, str]], others: Collection[str]) -> Program | None:
        """Return the student's program in ``cells``, together with this material (see ``program_of``)."""
        donors = [trace.donor for trace in self.traces]
        return program_of(exercise, cells, others=others, donors=donors, operators=self.operators)


def loaded_operators(root: Path) -> tuple[Operator, ...]:
    """Return the operators in the loaded solution modules of the course in ``root``.

    Call this before another course is loaded, because its solution modules replace these.
    """
    modules = [module for name, module in sys.modules.items() if name.partition(".")[0] == "solutions"]
    return operators_in(m for m in modules if Path(getattr(m, "__file__", None) or "").is_relative_to(root))


def _source_of(function: Callable[..., Any]) -> str:
    try:
        text = textwrap.dedent(inspect.getsource(function))
        ast.parse(text)
    except (OSError, TypeError, SyntaxError):
        return ""
    return text


class _Code(Protocol):
    def own_cells(self) -> Sequence[tuple[str, str]]: ...


class CorrectSubmissions:
    """The latest notebooks with correct solutions. Their code is read but never run."""

    def __init__(self) -> None:
        self._kept: deque[tuple[frozenset[str], Callable[..., Program | None]]] = deque(maxlen=_KEPT)

    def note(self, code: _Code, exercises: Iterable[ExerciseVerdict]) -> None:
        """Keep the cells of a notebook if one of its exercises passed."""
        right = frozenset(e.name for e in exercises if e.status == "passed")
        if right:
            self._kept.append((right, cache(partial(program_of, cells=tuple(code.own_cells())))))

    def nearest(self, program: Program, others: Collection[str]) -> list[Donor]:
        """Return the correct solutions most similar to ``program``, without duplicates."""
        texts: dict[str, str] = {}
        for right, program_in in self._kept:
            if program.exercise in right:
                found = program_in(program.exercise, others=frozenset(others))
                if found is not None and len(found.definitions) == 1:
                    text = found.definitions[0].text
                    texts.setdefault(ast.dump(ast.parse(text)), text)
        own = _parts(program.definitions[0].text)
        parts = {text: _parts(text) for text in texts.values()}
        ranked = sorted(parts, key=lambda text: (((own - parts[text]) + (parts[text] - own)).total(), text))
        return [Donor(text, more=_EXTRA_COST) for text in ranked[:_NEAREST]]


def _parts(text: str) -> Counter[str]:
    """Count the nodes of a program by type, and its attributes by name."""
    nodes = list(ast.walk(ast.parse(text)))
    return Counter([type(n).__name__ for n in nodes] + [n.attr for n in nodes if isinstance(n, ast.Attribute)])

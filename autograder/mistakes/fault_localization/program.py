"""A student's code for an exercise: the exercise's function and the helpers that it calls."""

from __future__ import annotations

import ast
import heapq
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

from autograder.base.attempt import bound_names, is_nested_deeply, parsed
from autograder.mistakes.edits.donors import Donor, donor_lines, donor_operator
from autograder.mistakes.edits.generator import Definition, edited, edits_of
from autograder.mistakes.edits.operators import Operator, name_of
from autograder.mistakes.edits.source_text import Edit

__all__ = ["MAX_LINES", "Program", "Variant", "program_of"]

# Among at most this many lines, the number of a reported line reveals less about a hidden input than the marks of eight checks do.
# Students' code is far shorter. Longer code may be a table of guesses, with one guess in each line.
MAX_LINES = 80
MAX_TEXT = 12_000  # characters of a program


@dataclass(frozen=True, slots=True)
class Variant:
    """A changed program, given by non-overlapping edits of its definitions."""

    edits: tuple[tuple[Definition, Edit], ...]

    @property
    def cost(self) -> float:
        """The total cost of the edits."""
        return sum(edit.cost for _, edit in self.edits)

    @property
    def places(self) -> tuple[tuple[str, int], ...]:
        """The cells and lines that are changed, in order."""
        return tuple(sorted({(definition.cell, edit.line) for definition, edit in self.edits}))

    @property
    def kind(self) -> str:
        """The kind of mistake that the edits correct, or "" if they correct several kinds."""
        kinds = {edit.kind for _, edit in self.edits}
        return kinds.pop() if len(kinds) == 1 else ""

    @property
    def sources(self) -> dict[str, str]:
        """The changed definitions by name."""
        changed: dict[Definition, list[Edit]] = {}
        for definition, edit in self.edits:
            changed.setdefault(definition, []).append(edit)
        return {definition.name: edited(definition.text, edits) for definition, edits in changed.items()}


@dataclass(frozen=True)
class Program:
    """A student's code for one exercise, and the material for editing it.

    Attributes:
        exercise: the name of the exercise.
        definitions: the exercise's own definition, followed by the helpers that it depends on.
        functions: the names of functions that an edit may call.
        donors: correct programs.
        operators: the operators of the course.
        called: maps the variables of each donor to the names that the student uses for them, if known.
        enough: returns whether the time for collecting edits is over.
    """

    exercise: str
    definitions: tuple[Definition, ...]
    functions: tuple[str, ...] = ()
    donors: tuple[Donor, ...] = ()
    operators: tuple[Operator, ...] = field(default=(), compare=False)
    called: tuple[Mapping[str, str], ...] = field(default=(), compare=False)
    enough: Callable[[], bool] = field(default=lambda: False, compare=False)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The parameters of the exercise's function, in order."""
        [statement] = ast.parse(self.definitions[0].text).body
        return tuple(a.arg for a in statement.args.args) if isinstance(statement, ast.FunctionDef) else ()

    def leaves_unused(self, variant: Variant) -> bool:
        """Return whether ``variant`` no longer uses a variable or helper that the student defines. Such an edit replaces more than its own line."""
        edits = [(d, edit) for d, edit in variant.edits if edit.kind not in {"variable", "extra", "lines"}]
        texts = {d: edited(d.text, [edit for own, edit in edits if own is d]) for d, _ in edits}
        if any(_unused(text) - _unused(d.text) or _lost(text) - _lost(d.text) for d, text in texts.items()):
            return True
        # An extra step may be a helper that is not needed.
        helpers = {d.name for d in self.definitions[1:] if any(edit.kind == "expression" for _, edit in variant.edits)}
        return not helpers <= set().union(*(_read(texts.get(d, d.text)) for d in self.definitions))

    def singles(self) -> Iterator[Variant]:
        """Return the variants with a single edit, cheapest first."""
        # Donors are matched with the exercise's function, not with its helpers.
        donors = [self.donors, *(() for _ in self.definitions[1:])]
        parts = [self._edits(d, own) for d, own in zip(self.definitions, donors, strict=True)]
        return islice(heapq.merge(*parts, key=lambda variant: variant.cost), _SINGLES)

    def _edits(self, definition: Definition, donors: Sequence[Donor]) -> Iterator[Variant]:
        more = [*self.operators, *([donor_operator(donors, self.called)] if donors else [])]
        lines = partial(donor_lines, donors, self.called) if donors else None
        found = edits_of(definition, functions=self.functions, more=more, lines=lines, enough=self.enough)
        return (Variant(((definition, edit),)) for edit in found)


# The most single edits that are tried. Of 136 unseen answers that edits correct, 98 need one of the first 1,500 edits, and 3 need an edit after the first 6,000.
_SINGLES = 8000


def program_of(
    exercise: str,
    cells: Iterable[tuple[str, str]],
    *,
    others: Collection[str] = (),
    donors: Sequence[Donor] = (),
    operators: Sequence[Operator] = (),
) -> Program | None:
    """Return the program of ``exercise``, or None if it has no definition, is too long or is nested too deeply.

    Args:
        exercise: the name of the exercise.
        cells: the cells as name and source, in the order in which they ran.
        others: names that are judged separately or are not the student's, so they are not part of the program.
        donors: correct programs.
        operators: the operators of the course.
    """
    defined: dict[str, Definition | None] = {}
    for name, source in cells:
        tree = parsed(source) if "\r" not in source.replace("\r\n", "\n") else None  # a bare "\r" also ends a line
        for statement in tree.body if tree is not None else ():
            definition = Definition.of(statement, source, name)
            if isinstance(statement, ast.ClassDef) and statement.name != exercise:
                definition = None  # helper classes are not searched
            if definition is not None:
                defined[definition.name] = None if is_nested_deeply(statement) else definition
            else:
                for bound in bound_names(statement):
                    defined[bound] = None  # the name now refers to something that cannot be edited
    own = defined.get(exercise)
    if own is None:
        return None
    found, known = [own], {exercise, *others}
    for definition in found:
        for used in sorted(definition.uses - known):
            known.add(used)
            if (helper := defined.get(used)) is not None:
                found.append(helper)
    text = "".join(definition.text for definition in found)
    if text.count("\n") > MAX_LINES or len(text) > MAX_TEXT:
        return None
    functions = [name for name in (*others, *(d.name for d in found)) if name != exercise]
    functions += [name for donor in donors[:1] for name in donor.functions]
    return Program(exercise, tuple(found), tuple(dict.fromkeys(functions)), tuple(donors), tuple(operators))


def _unused(text: str) -> set[str]:
    """Return the names that a definition assigns but never reads."""
    names = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)]
    return {n.id for n in names if isinstance(n.ctx, ast.Store)} - _read(text)


def _lost(text: str) -> Counter[str]:
    """Return how often each name is assigned in a definition's own body, outside loops, and not read afterwards."""
    body: Sequence[ast.stmt] = getattr(ast.parse(text).body[0], "body", ())
    lost = Counter[str]()
    for place, one in enumerate(body, start=1):
        if not isinstance(one, ast.For | ast.While):
            lost.update(name for name in {*bound_names(one)} if not _is_needed(name, body[place:]))
    return lost


def _is_needed(name: str, later: Iterable[ast.stmt]) -> bool:
    """Return whether the statements ``later`` may read the value that ``name`` has before them."""
    for statement in later:
        if uses := [n.ctx for n in ast.walk(statement) if isinstance(n, ast.Name) and n.id == name]:
            return any(isinstance(use, ast.Load) for use in uses) or not isinstance(statement, ast.Assign)
    return False


def _read(text: str) -> set[str]:
    """Return the names that a definition reads. ``x[i] = …``, ``x.append(…)`` and ``x = x + …`` do not count."""
    nodes = [*ast.walk(ast.parse(text))]
    filled: list[Any] = [n for n in nodes if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store)]
    called: list[Any] = [n.value.func for n in nodes if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call)]
    filled += [func.value for func in called if isinstance(func, ast.Attribute)]
    assigned = [(name_of(n.targets[0]), n.value) for n in nodes if isinstance(n, ast.Assign)]
    filled += [part for name, value in assigned for part in ast.walk(value) if name_of(part) == name != ""]
    filled.extend(n.value for n in filled if isinstance(n, ast.Subscript))  # also of the new items
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n not in filled}

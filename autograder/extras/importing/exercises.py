"""Split answer cells into exercises with stubs, and code that is given to students."""

from __future__ import annotations

import ast
import keyword
import re
import textwrap
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from autograder.extras.importing.pieces import AnswerCell, SourceLine
from autograder.extras.importing.program import Statement, parsed_cell, statements_of

__all__ = ["Exercise", "Part", "exercise_name", "parts_of"]

_PLACEHOLDER = re.compile(r"^\s*(\.\.\.|pass|# YOUR CODE HERE|raise NotImplementedError(\(\))?)?\s*$")


@dataclass
class Exercise:
    """An exercise: the function, class or variables (``answers``) that students write in one stub.

    ``origin`` is the number of its cell. ``targets`` contains the names that it defines. ``statements`` contains its solution.
    """

    name: str
    where: str
    question: str
    origin: int
    stub: str
    targets: frozenset[str]
    answers: tuple[str, ...] = ()
    statements: Sequence[Statement] = ()
    also: list[str] = field(default_factory=list)  # untested functions in the same stub

    @property
    def class_name(self) -> str:
        """The name of the class with the exercise's checks."""
        return "Test" + "".join(word[:1].upper() + word[1:] for word in self.name.split("_") if word) or "Test"


@dataclass(frozen=True)
class Part:
    """A part of an answer cell: an exercise or, if that is None, the code ``shown`` that students get."""

    exercise: Exercise | None
    shown: str = ""
    untested: tuple[str, ...] = ()  # names in ``shown`` that students define but no test uses


@dataclass
class _Chunk:
    statement: Statement
    lines: list[SourceLine]
    is_solution: bool

    @property
    def shown(self) -> str:
        return "\n".join(line.shown for line in self.lines if line.shown is not None)

    @property
    def function(self) -> ast.FunctionDef | ast.ClassDef | None:
        """The function or class that students write, or None if the statement defines none."""
        node = self.statement.node
        return node if isinstance(node, ast.FunctionDef | ast.ClassDef) and self.is_solution else None


def exercise_name(question: str, taken: Collection[str]) -> str:
    """Return a name for an exercise whose answers are variables: ``question``, changed into a valid Python name that is not in ``taken``."""
    name = re.sub(r"\W+", "_", question, flags=re.ASCII).strip("_") or "question"
    if not name.isidentifier() or keyword.iskeyword(name):
        name = f"question_{name}"
    if name in taken:
        name = f"{name}_answers"
    while name in taken:
        name += "_"
    return name


def parts_of(answer: AnswerCell, origin: int, tested: Collection[str], taken: set[str]) -> list[Part] | None:
    """Return the parts of an answer cell in order, or None if no part can be an exercise.

    ``tested`` contains the names that tests use. ``taken`` contains names that no new exercise may have. The names of the new
    exercises are added to it.
    """
    chunks = _chunks(answer, origin)
    if not chunks:
        return None
    parts: list[Part] = []
    waiting: list[_Chunk] = []  # untested functions before the next tested one
    solved = [c for c in chunks if c.is_solution and c.function is None]
    variables = [v for c in solved for v in (*_bound_in_order(c), *sorted(c.statement.changes)) if v in tested]
    variables = list(dict.fromkeys(variables))
    if not variables and all(c.statement.is_import for c in solved):  # students write only imports
        variables = sorted({name for c in solved for name in c.statement.binds if name in tested})
    first, last = (chunks.index(solved[0]), chunks.index(solved[-1])) if solved else (0, -1)
    within: list[_Chunk] = []
    for place, chunk in enumerate(chunks):
        function = chunk.function
        if function is not None and function.name in tested:
            taken.add(function.name)
            parts.append(Part(_of_function(answer, origin, chunk, waiting)))
            waiting = []
        elif function is not None:
            waiting.append(chunk)
        elif variables and first <= place <= last:
            within.append(chunk)
            if place == last:
                name = exercise_name(answer.question, taken | set(variables))
                taken.add(name)
                parts.append(Part(_of_variables(answer, origin, name, variables, within, waiting)))
                waiting = []
        elif _only_blanks(chunk.statement, variables):
            continue
        elif chunk.is_solution:
            parts.append(Part(None, chunk.shown, tuple(sorted(chunk.statement.binds)) or ("it",)))
        else:
            parts.append(Part(None, chunk.shown))
    parts += [Part(None, chunk.shown, tuple(chunk.statement.binds)) for chunk in waiting]
    return _joined(parts) if any(part.exercise for part in parts) else None


def _chunks(answer: AnswerCell, origin: int) -> list[_Chunk]:
    """Return the statements of a solved cell, each with its lines and the comments above it."""
    statements = statements_of(answer.solved, origin)
    if parsed_cell(answer.solved) is None:
        return []
    numbered: list[tuple[int | None, SourceLine]] = []
    number = 0
    for line in answer.lines:
        number += line.solved is not None
        numbered.append((number if line.solved is not None else None, line))
    chunks: list[_Chunk] = []
    place = 0
    for statement in statements:
        end = statement.node.end_lineno or statement.line
        last = max(i for i, (at, _) in enumerate(numbered) if at is not None and at <= end)
        lines = [line for _, line in numbered[place : last + 1]]
        place = last + 1
        solution = any(line.is_solution for line in lines)
        while solution and place < len(numbered) and numbered[place][0] is None:
            if _PLACEHOLDER.match(numbered[place][1].shown or ""):
                break  # this placeholder replaces the lines below it, but a prompt replaces the lines above it
            lines.append(numbered[place][1])
            place += 1
        chunks.append(_Chunk(statement, lines, solution))
    if chunks:
        chunks[-1].lines += [line for _, line in numbered[place:]]
    return chunks


def _only_blanks(statement: Statement, variables: Collection[str]) -> bool:
    """Return whether a statement only sets ``variables`` to None or ``...``, as a stub does."""
    node = statement.node
    if not isinstance(node, ast.Assign) or not statement.binds <= set(variables):
        return False
    values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
    return all(isinstance(v, ast.Constant) and (v.value is None or v.value is ...) for v in values)


def _bound_in_order(chunk: _Chunk) -> list[str]:
    """Return the variables that a statement binds, in the order of the code."""
    names = (n.id for n in ast.walk(chunk.statement.node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    return [name for name in dict.fromkeys(names) if name in chunk.statement.binds]


def _of_function(answer: AnswerCell, origin: int, chunk: _Chunk, helpers: Sequence[_Chunk]) -> Exercise:
    function = chunk.function
    assert function is not None  # noqa: S101 - callers pass only chunks with a function
    stub = "\n\n\n".join(_stub(one) for one in (*helpers, chunk))
    return Exercise(
        function.name,
        answer.where,
        answer.question,
        origin,
        stub,
        frozenset({function.name}),
        statements=[one.statement for one in (*helpers, chunk)],
        also=[one.function.name for one in helpers if one.function is not None],
    )


def _of_variables(
    answer: AnswerCell,
    origin: int,
    name: str,
    variables: Sequence[str],
    chunks: Sequence[_Chunk],
    helpers: Sequence[_Chunk],
) -> Exercise:
    blank = re.compile(rf"^\s*({'|'.join(map(re.escape, variables))})\s*=\s*(\.\.\.|None)\s*$")
    kept = [line for chunk in chunks for line in chunk.shown.splitlines() if not blank.match(line)]
    comments = list(_comments(kept))
    stub = "\n".join([*comments, *(f"{variable} = None" for variable in variables)])
    return Exercise(
        name,
        answer.where,
        answer.question,
        origin,
        stub,
        frozenset(variables),
        answers=tuple(variables),
        statements=[chunk.statement for chunk in (*helpers, *chunks)],
    )


def _stub(chunk: _Chunk) -> str:
    """Return the chunk's function with its docstring and an empty body. Body lines that students may see become comments."""
    function = chunk.function
    assert function is not None  # noqa: S101 - callers pass only chunks with a function
    if isinstance(function, ast.ClassDef):
        return _class_stub(function)
    lines = chunk.statement.text.splitlines()
    first = chunk.statement.line
    documented = ast.get_docstring(function, clean=False) is not None
    body = function.body[0]
    if body.lineno == function.lineno or len(lines) != (function.end_lineno or first) - first + 1:
        empty = ast.parse(ast.unparse(function)).body[0]
        assert isinstance(empty, ast.FunctionDef)  # noqa: S101 - unparsing keeps the type
        empty.body = [*empty.body[: int(documented)], ast.Raise(ast.Name("NotImplementedError", ast.Load()), None)]
        return ast.unparse(empty)
    end = body.end_lineno if documented else body.lineno - 1
    head = lines[: (end or first) - first + 1]
    while head and not documented and head[-1].strip().startswith("#"):
        head.pop()
    indent = " " * body.col_offset
    # Collect the lines that students may see and that are below the docstring (without one, below the ``def``).
    above = len(head)
    shown: list[str] = []
    seen = 0
    skip = _lines_before(chunk, first)
    for line in chunk.lines[skip:]:
        if line.solved is not None:
            seen += 1
        if seen > above or (line.solved is None and seen >= above):
            shown += [line.shown] if line.shown is not None else []
    comments = [indent + text for text in _comments(shown)]
    return "\n".join([*head, *comments, f"{indent}raise NotImplementedError"])


def _class_stub(node: ast.ClassDef) -> str:
    """Return a class with its docstring and empty methods, without the author's private helpers."""
    empty = ast.parse(ast.unparse(node)).body[0]
    assert isinstance(empty, ast.ClassDef)  # noqa: S101 - unparsing keeps the type
    body: list[ast.stmt] = empty.body[: int(ast.get_docstring(empty) is not None)]
    for method in empty.body:
        if isinstance(method, ast.FunctionDef) and (not method.name.startswith("_") or method.name.startswith("__")):
            document = method.body[: int(ast.get_docstring(method) is not None)]
            method.body = [*document, ast.Raise(ast.Name("NotImplementedError", ast.Load()), None)]
            body.append(method)
    empty.body = body or [ast.Pass()]
    return ast.unparse(ast.fix_missing_locations(empty))


def _lines_before(chunk: _Chunk, first: int) -> int:
    """Return how many comments and empty lines precede a chunk's statement."""
    total = sum(line.solved is not None for line in chunk.lines)
    own = (chunk.statement.node.end_lineno or first) - first + 1
    above, place = total - own, 0
    while above > 0 and place < len(chunk.lines):
        above -= chunk.lines[place].solved is not None
        place += 1
    return place


def _comments(shown: Sequence[str]) -> Iterator[str]:
    """Yield the lines of ``shown`` as comments, or nothing if all of them are placeholders."""
    if all(_PLACEHOLDER.match(line) for line in shown):
        return
    text = textwrap.dedent("\n".join(line for line in shown if "raise NotImplementedError" not in line))
    for line in text.strip("\n").splitlines():
        yield f"# {line}".rstrip()


def _joined(parts: Sequence[Part]) -> list[Part]:
    """Join neighboring parts that are not exercises."""
    found: list[Part] = []
    for part in parts:
        if part.exercise is None and not part.shown.strip():
            continue
        if part.exercise is None and found and found[-1].exercise is None:
            found[-1] = Part(None, f"{found[-1].shown}\n{part.shown}", (*found[-1].untested, *part.untested))
        else:
            found.append(part)
    return [Part(p.exercise, p.shown.strip("\n"), p.untested) for p in found]

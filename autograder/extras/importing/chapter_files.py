"""Write a chapter's files: the solutions, the checks and the notebook that students get."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import PurePosixPath

from autograder.base.foreign import Json
from autograder.extras.importing.chapter import Check, NewChapter
from autograder.extras.importing.checks import Way, assertions_in, body_of
from autograder.extras.importing.exercises import Exercise
from autograder.extras.importing.pieces import AnswerCell, CopiedCell, ManualCell, Test, code_cell, may_fail
from autograder.extras.importing.program import Statement, parsed_cell, slice_of

__all__ = [
    "checks_text",
    "dependencies_of",
    "hidden_assertions",
    "notebook_of_chapter",
    "number_text",
    "solutions_text",
]


# --- Python files ------------------------------------------------------------------------------------------------------

_SIMPLE = re.compile(r"(?!from |import )\w[^\n]*\Z")  # one line of code that is not an import
_WORDS = ("assert_matches", "assert_shape", "assert_within", "CheckFailed")


def solutions_text(chapter: NewChapter, files: Collection[str]) -> str:
    """Return the text of ``solutions/<chapter>.py``. It contains manually graded answers as comments."""
    statements = _needed(chapter)
    paths = {str(folder) for name in files for folder in (PurePosixPath(name), *PurePosixPath(name).parents)} - {"."}
    used = {name for s in statements for name in s.uses} | _wanted_by_checks(chapter)
    imports = (_without_star(s, used) for s in statements if s.is_import)
    heads = list(dict.fromkeys(_located(text, paths) for text in imports if text))
    body = [_located(_with_own_imports(chapter, s), paths) for s in statements if not s.is_import]
    if chapter.modules or any("CHAPTER_FILES" in text for text in (*heads, *body)):
        folder = f'CHAPTER_FILES = Path(__file__).parent.parent / "source" / "{chapter.name}"'
        folders = sorted({str(PurePosixPath(name).parent) for name in files if name.endswith(".py")}, reverse=True)
        places = [f'CHAPTER_FILES / "{place}"' if place != "." else "CHAPTER_FILES" for place in folders]
        own = [
            *(f"sys.path.insert(0, str({place}))  # for the notebook's own modules" for place in places),
            *(f'sys.modules.pop("{module}", None)' for module in chapter.modules),
        ]
        heads = [
            *(["import sys"] if chapter.modules else []),
            "from pathlib import Path",
            folder,
            *(own if chapter.modules else []),
            *heads,
        ]
    if chapter.probes:
        body.insert(0, _look(chapter))
    for exercise in chapter.exercises:
        if exercise.answers:
            pairs = ", ".join(f'"{name}": {name}' for name in exercise.answers)
            body.append(f"def {exercise.name}():\n    return {{{pairs}}}")
    comments = list(_answers_by_hand(chapter))
    title = f'"""Reference solutions of {chapter.name}, imported from a notebook for {chapter.original.tool}."""'
    return _spaced([title, "\n".join(heads), *body, *comments])


def _with_own_imports(chapter: NewChapter, statement: Statement) -> str:
    """Return the text of a statement. If it is a function that uses imports from answer cells, copy these imports into its body.

    Students do not get the imports of answer cells, so a function that is put into their notebook needs its own imports.
    """
    pieces = chapter.original.pieces
    imports = [s for s in chapter.program if s.is_import and s.binds & statement.uses]
    given = {name for s in imports if not isinstance(pieces[s.origin], AnswerCell | Test) for name in s.binds}
    own = [s for s in imports if isinstance(pieces[s.origin], AnswerCell) and not s.binds & given]
    node = ast.parse(ast.unparse(statement.node)).body[0]
    if not own or not isinstance(node, ast.FunctionDef):
        return _without_prints(statement)
    place = int(ast.get_docstring(node) is not None)
    node.body[place:place] = [ast.parse(s.text).body[0] for s in own]
    return ast.unparse(node)


def _without_prints(statement: Statement) -> str:
    """Return the text of a statement without calls that would print something when the solutions are imported."""
    node = ast.parse(ast.unparse(statement.node)).body[0]
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return statement.text
    quiet = _Quiet()
    node = quiet.visit(node)
    return ast.unparse(ast.fix_missing_locations(node)) if quiet.found else statement.text


class _Quiet(ast.NodeTransformer):
    """A rewriter that removes calls to ``print`` and ``display``, except inside functions."""

    found = False

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        if isinstance(node.value, ast.Call) and getattr(node.value.func, "id", "") in {"print", "display"}:
            self.found = True
            return ast.Pass()
        return node


def _look(chapter: NewChapter) -> str:
    """Return the source of the function that gives probes access to the variables of its module."""
    return f'def {chapter.look}():\n    """Let checks look at the variables here."""'


def _without_star(statement: Statement, used: Collection[str]) -> str:
    """Return the text of an import. In a star import, the star is replaced by the names that are used. If none is used, return ""."""
    node = statement.node
    if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
        names = sorted(statement.binds & set(used))
        return f"from {'.' * node.level}{node.module or ''} import {', '.join(names)}" if names else ""
    return statement.text


def _wanted_by_checks(chapter: NewChapter) -> set[str]:
    """Return the names in the solutions that checks and their probes use."""
    wanted: set[str] = set()
    for check in chapter.checks:
        for way in [check.chosen] if check.chosen else check.ways:
            wanted |= way.from_solutions | set(re.findall(r"[A-Za-z_]\w*", way.probe))
    return wanted


def checks_text(chapter: NewChapter, *, every_way: bool = False) -> str:
    """Return the text of ``tests/chapters/test_<chapter>.py``. With ``every_way``, it contains all forms of each check."""
    classes = [_class(chapter, exercise, every_way=every_way) for exercise in chapter.exercises]
    chosen = [way for check in chapter.checks for way in _ways(check, every_way=every_way)]
    probes = [
        f"{_constant(check, way)} = {_quoted(way.probe)}"
        for check in chapter.checks
        for way in _ways(check, every_way=every_way)
        if way.probe
    ]
    everything = "\n".join(classes)
    words = [word for word in _WORDS if re.search(rf"\b{word}\b", everything)]
    imports = _imported(chapter, chosen)
    head = [
        *imports,
        *(["from autograder.sandbox.protocol import NameReference"] if "NameReference(" in everything else []),
        f"from autograder.checking import {', '.join(sorted([*words, 'check', 'exercise'], key=_as_sorted))}",
    ]
    made = sorted({name for way in chosen for name in way.from_solutions} - _import_names(chapter))
    if made:
        head.append(f"from solutions.{chapter.name} import {', '.join(made)}")
    title = f'"""The checks of {chapter.name}, imported from a notebook for {chapter.original.tool}."""'
    return _spaced([title, "\n".join(head), *probes, *classes, *_left_tests(chapter)])


def hidden_assertions(chapter: NewChapter) -> tuple[int, int]:
    """Return the number of assertions in the notebook's hidden tests, and in the checks made from these tests.

    A call of a helper counts as all assertions in the helper. A test that only has to run counts as one assertion.
    """
    helpers = {s.node.name: s.node.body for s in chapter.program if isinstance(s.node, ast.FunctionDef)}
    tests = [p for p in chapter.original.pieces if isinstance(p, Test) and p.hidden]
    before = [assertions_in(body_of(test, chapter.program).statements, helpers) for test in tests]
    after = []
    for check in (c for c in chapter.checks if c.test.hidden and c.chosen is not None):
        lines = [f"assert {line}" if "agrees." in line else line for line in check.chosen.lines] if check.chosen else []
        body = ast.parse("\n".join(lines)).body
        for node in ast.parse(check.chosen.probe if check.chosen else "").body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
                body += ast.parse(str(node.value.value)).body
        after.append(assertions_in(body, helpers))
    return sum(max(n, 1) for n in before), sum(max(n, 1) for n in after)


def dependencies_of(chapter: NewChapter, exercise: Exercise) -> list[str]:
    """Return the earlier exercises that a solution depends on, directly or through another exercise."""
    earlier = chapter.exercises[: chapter.exercises.index(exercise)]
    functions = {e.name for e in earlier if not e.answers}
    used = {name for s in exercise.statements for name in s.uses}
    before = [s for s in chapter.program if s.origin <= exercise.origin]
    through = slice_of(used, before, without=functions)
    direct = (used | {name for s in through for name in s.uses}) & functions
    further = {name for e in earlier if e.name in direct for name in dependencies_of(chapter, e)}
    return [e.name for e in earlier if e.name in direct | further]


def number_text(points: Fraction) -> str:
    """Format points as Python code: ``2``, ``0.5`` or ``1 / 3``."""
    if points.denominator == 1:
        return str(points.numerator)
    text = f"{float(points):.4f}".rstrip("0")
    return text if Fraction(text) == points else f"{points.numerator} / {points.denominator}"


def _needed(chapter: NewChapter) -> list[Statement]:
    """Return the statements that solutions and checks depend on, in the order of the notebook."""
    origins = {e.origin for e in chapter.exercises if e.answers}
    own = [s for e in chapter.exercises for s in e.statements]
    beside = [s for s in chapter.program if s.origin in origins and not _only_shows(s)]
    wanted = {name for s in (*own, *beside) for name in s.uses} | _wanted_by_checks(chapter)
    students = {n for n, p in enumerate(chapter.original.pieces) if not isinstance(p, Test)}
    first = slice_of(wanted, [s for s in chapter.program if s.origin in students])
    found = {name for s in first for name in s.binds}
    targets = {name for e in chapter.exercises for name in e.targets}
    helpers = {
        name
        for check in chapter.checks
        for way in ([check.chosen] if check.chosen else check.ways)
        for name in way.from_solutions
    }
    helpers |= {name for s in (*own, *beside, *first) for name in s.uses}
    tests = slice_of(helpers - found - targets, [s for s in chapter.program if not s.binds & targets])
    functions = {e.name for e in chapter.exercises if not e.answers}
    pieces = chapter.original.pieces
    again = [
        s for s in chapter.program if s.binds & functions and isinstance(pieces[s.origin], AnswerCell) and s not in own
    ]
    taken = [s for s in chapter.program if (s in first or s in tests or s in own or s in beside) and s not in again]
    return list(dict.fromkeys(s for s in taken if not _only_shows(s)))


def _only_shows(statement: Statement) -> bool:
    """Return whether a statement only prints or displays something."""
    return isinstance(statement.node, ast.Expr) and not statement.changes


def _located(text: str, files: Collection[str]) -> str:
    """Return ``text`` with the names in ``files`` replaced by paths to the files next to the notebook."""
    for name in files:
        text = re.sub(rf"(?<![\w])([\"'])(?:\./)?{re.escape(name)}/?\1", f'str(CHAPTER_FILES / "{name}")', text)
    return text


def _answers_by_hand(chapter: NewChapter) -> Iterator[str]:
    kept: list[tuple[str, str]] = []
    for number, piece in enumerate(chapter.original.pieces):
        if isinstance(piece, ManualCell) and piece.answer.strip():
            kept.append((piece.where, piece.answer))
        elif isinstance(piece, AnswerCell) and number not in chapter.parts:
            kept.append((piece.where, piece.solved))
    for parts in chapter.parts.values():
        own = [p.exercise for p in parts if p.exercise is not None and p.exercise.name in chapter.marked_by_hand]
        kept += [(f"{e.where}, {e.name}", "\n".join(s.text for s in e.statements)) for e in own]
    for where, answer in kept:
        yield "\n".join(
            [f"# The author's answer of {_one_line(where)}, which is graded manually:", *(_comment(answer))]
        )


def _left_tests(chapter: NewChapter) -> Iterator[str]:
    for number in range(len(chapter.original.pieces)):
        piece = chapter.original.pieces[number]
        if isinstance(piece, Test) and not any(
            c.test.where == piece.where and c.test.hidden == piece.hidden for c in chapter.checks
        ):
            what = "hidden test" if piece.hidden else "test"
            yield "\n".join([f"# Not imported, the {what} of {_one_line(piece.where)}:", *(_comment(piece.code))])


def _comment(text: str) -> list[str]:
    return [f"#     {line}".rstrip() for line in text.splitlines()]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _class(chapter: NewChapter, exercise: Exercise, *, every_way: bool) -> str:
    checks = chapter.checks_of(exercise.name)
    total = Fraction(0) if every_way else sum((c.points for c in checks), Fraction(0))
    given = [repr(exercise.name).replace("'", '"'), f"points={number_text(total)}"]
    if names := dependencies_of(chapter, exercise):
        given.append(f"depends_on=({', '.join(_quoted(n) for n in names)},)")
    if exercise.answers:
        given.append(f"answers=({', '.join(_quoted(n) for n in exercise.answers)},)")
    lines = [f"@exercise({', '.join(given)})", f"class {exercise.class_name}:"]
    methods = [
        _method(check, way, chapter.look, exercise.answers, every_way=every_way)
        for check in checks
        for way in _ways(check, every_way=every_way)
    ]
    return "\n".join([*lines, "\n\n".join(methods) or "    pass"])


def _ways(check: Check, *, every_way: bool) -> Sequence[Way]:
    return check.ways if every_way else [check.chosen] if check.chosen else []


def _method(check: Check, way: Way, look: str, answers: Sequence[str], *, every_way: bool) -> str:
    name = f"{check.method}__{way.kind}" if every_way else check.method
    given = [] if every_way or not check.points else [f"points={number_text(check.points)}"]
    given += ["visible=True"] if check.visible else []
    if check.after and not every_way:
        after = [_quoted(a) for a in check.after]
        given.append(f"after={after[0] if len(after) == 1 else f'({chr(44).join(after)})'}".replace(",", ", "))
    lines = list(way.lines)
    if way.probe:
        asked = (
            [_quoted(look), *(f'NameReference("{name}")' for name in answers)] if answers else [_quoted(check.exercise)]
        )
        probe = f"student.probe({', '.join([_constant(check, way), *asked])})"
        lines.append(f"assert_matches({probe}, True, call={_quoted(check.exercise)})")
    fixtures = [f for f in ("student", "agrees", "reference") if re.search(rf"\b{f}\b", "\n".join(lines))]
    head = [f"@check({', '.join(given)})", f"def {name}({', '.join(['self', *fixtures])}):", _docstring(check.title)]
    body = [*head, *("\n".join(lines).splitlines())]
    return "\n".join(f"    {'' if i < 2 else '    '}{line}".rstrip() for i, line in enumerate(body))


def _docstring(title: str) -> str:
    text = " ".join(title.split()).replace("\\", "\\\\").replace('"""', "'''")
    return f'"""{text}{" " if text.endswith(chr(34)) else ""}"""'


def _constant(check: Check, way: Way) -> str:
    del way
    return f"{check.exercise}_{check.method.removeprefix('test_')}".upper()


def _quoted(text: str) -> str:
    """Return a Python literal for ``text``. If the text has several lines, so does the literal."""
    if "\n" in text and "'''" not in text:
        return f"r'''{text}'''"
    return f'"{text}"' if text.isidentifier() else repr(text)


def _imported(chapter: NewChapter, chosen: Sequence[Way]) -> list[str]:
    """Return the notebook's imports that the checks need, as one line for each name."""
    wanted = {name for way in chosen for name in way.from_solutions}
    lines: dict[str, None] = {}
    for statement in chapter.program:
        if statement.is_import and isinstance(statement.node, ast.Import | ast.ImportFrom):
            for alias in statement.node.names:
                if alias.name == "*" and (text := _without_star(statement, wanted)):
                    lines[text] = None
                elif (alias.asname or alias.name.partition(".")[0]) in wanted:
                    one = type(statement.node)(**{**statement.node.__dict__, "names": [alias]})
                    lines[ast.unparse(one)] = None
    return list(lines)


def _import_names(chapter: NewChapter) -> set[str]:
    return {name for s in chapter.program if s.is_import for name in s.binds}


def _as_sorted(name: str) -> tuple[bool, str]:
    return name.islower(), name


def _spaced(parts: Sequence[str]) -> str:
    """Join the parts of a file, with two empty lines around definitions and classes."""
    text = ""
    for before, part in zip(["", *parts], parts, strict=False):
        if not part.strip():
            continue
        large = any(re.match(r"(@|def |class |async def )", p) for p in (before, part))
        text += (
            part
            if not text
            else (
                "\n\n\n"
                if large
                else "\n"
                if before and re.match(_SIMPLE, before) and re.match(_SIMPLE, part)
                else "\n\n"
            )
            + part
        )
    return f"{text}\n"


# --- The notebook ------------------------------------------------------------------------------------------------------

_GRADE_ID = re.compile(r"[a-zA-Z0-9_\-]+\Z")
_CELL_ID = re.compile(r"[a-zA-Z0-9_\-]{1,64}\Z")
_KEPT = ("tags", "jupyter", "slideshow", "collapsed", "scrolled")


def notebook_of_chapter(chapter: NewChapter) -> dict[str, Json]:
    """Return the chapter's notebook as JSON. Its kernel is python3, because the original's kernel may not be installed here."""
    cells = [may_fail(c) if c["source"] in chapter.fails and c["cell_type"] == "code" else c for c in _cells(chapter)]
    first = next((i for i, cell in enumerate(cells) if cell["cell_type"] == "code"), len(cells))
    names = {e.name for e in chapter.exercises}
    text = "from autograder import check, hint" + (f"\n\n\n{_look(chapter)}" if chapter.probes else "")
    words = code_cell(text, grade_id=_free("autograder_words", names), locked=True)
    cells.insert(first, words)
    _with_own_ids(cells, {*names, *(f"check_{name}" for name in names)})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "cells": cells,
        "metadata": {
            "autograder": {"chapter": chapter.name},
            "kernelspec": kernel,
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _cells(chapter: NewChapter) -> Iterator[dict[str, Json]]:
    for number, piece in enumerate(chapter.original.pieces):
        if isinstance(piece, CopiedCell | ManualCell):
            cell = _cleaned(piece.cell)
            if cell["cell_type"] != "code":
                yield cell
            elif isinstance(piece, ManualCell):
                yield may_fail(cell)
            else:
                yield from _given(chapter, number, cell)
        elif isinstance(piece, AnswerCell):
            yield from _answer(chapter, number, piece)
        for test in chapter.kept_tests.get(number, ()):
            name = re.sub(r"\W+", "_", test.name or f"examples_{number + 1}", flags=re.ASCII)
            yield may_fail(code_cell(test.code, grade_id=f"{name}_examples", locked=True))


def _given(chapter: NewChapter, number: int, cell: dict[str, Json]) -> Iterator[dict[str, Json]]:
    """Yield a cell whose code students get. Imports that fail here go into a separate cell, so that the cell's other statements run."""
    lines = str(cell["source"]).splitlines()
    tree = parsed_cell(str(cell["source"]))
    failed = [s for s in (tree.body if tree is not None else ()) if (number, s.lineno) in chapter.ran.failed]
    alone = [s for s in failed if isinstance(s, ast.Import | ast.ImportFrom) and s.col_offset == 0]
    if alone and len(alone) == len(failed) and tree is not None and len(alone) < len(tree.body):
        numbers = {n for s in alone for n in range(s.lineno, (s.end_lineno or s.lineno) + 1)}
        yield {**cell, "source": "\n".join(line for n, line in enumerate(lines, 1) if n not in numbers)}
        yield may_fail(code_cell("\n".join(lines[n - 1] for n in sorted(numbers))))
    else:
        yield may_fail(cell) if failed or (tree is None and any(line.strip() for line in lines)) else cell


def _answer(chapter: NewChapter, number: int, piece: AnswerCell) -> Iterator[dict[str, Json]]:
    if number in chapter.by_hand:
        name, points = chapter.by_hand[number]
        if points:
            yield may_fail(code_cell(piece.shown, grade_id=name, grade=True, solution=True, points=_worth(points)))
        else:
            yield may_fail(code_cell(piece.shown))
        return
    for part in chapter.parts.get(number, ()):
        if part.exercise is None:
            yield may_fail(code_cell(part.shown)) if part.untested else code_cell(part.shown)
        else:
            yield from _exercise(chapter, part.exercise)


def _exercise(chapter: NewChapter, exercise: Exercise) -> Iterator[dict[str, Json]]:
    if exercise.name in chapter.marked_by_hand:
        worth = _worth(chapter.marked_by_hand[exercise.name])
        yield may_fail(code_cell(exercise.stub, grade_id=exercise.name, grade=True, solution=True, points=worth))
        return
    points = sum((c.points for c in chapter.checks_of(exercise.name)), Fraction(0))
    asked = f'"{exercise.name}"' if exercise.answers else exercise.name
    yield code_cell(exercise.stub, grade_id=exercise.name, solution=True)
    yield code_cell(
        f"check({asked})", grade_id=f"check_{exercise.name}", grade=True, locked=True, points=_worth(points)
    )


def _worth(points: Fraction) -> float | int:
    return points.numerator if points.denominator == 1 else float(points)


def _cleaned(cell: Mapping[str, Json]) -> dict[str, Json]:
    """Return a cell of the original notebook without outputs and without the metadata of other tools."""
    kind = cell.get("cell_type") if cell.get("cell_type") in {"code", "markdown", "raw"} else "raw"
    metadata = cell.get("metadata") if isinstance(cell.get("metadata"), dict) else {}
    assert isinstance(metadata, Mapping)  # noqa: S101 - as was just checked
    kept: dict[str, Json] = {key: metadata[key] for key in _KEPT if key in metadata}
    marks = metadata.get("nbgrader")
    if isinstance(marks, dict) and marks.get("grade_id"):
        kept["nbgrader"] = {
            "grade": False,
            "locked": False,
            "solution": False,
            "task": False,
            **marks,
            "schema_version": 3,
        }
        if not (kept["nbgrader"]["grade"] or kept["nbgrader"]["task"]):
            kept["nbgrader"].pop("points", None)
        kept["nbgrader"].pop("checksum", None)
    source = cell.get("source")
    made: dict[str, Json] = {"cell_type": kind, "metadata": kept}
    made["source"] = source if isinstance(source, str) else "".join(s for s in source or () if isinstance(s, str))
    if kind == "code":
        made |= {"execution_count": None, "outputs": []}
    elif isinstance(cell.get("attachments"), dict):
        made["attachments"] = cell["attachments"]
    if isinstance(cell.get("id"), str):
        made["id"] = cell["id"]
    return made


def _with_own_ids(cells: Sequence[dict[str, Json]], taken: set[str]) -> None:
    """Give each cell a unique id, and each nbgrader cell a unique grade id that nbgrader accepts."""
    used: set[str] = set()
    grade_ids: set[str] = set()
    for number, cell in enumerate(cells, 1):
        if not _CELL_ID.match(cell.get("id", "")) or cell["id"] in used:
            cell["id"] = _free(f"cell-{number}", used)
        used.add(cell["id"])
        marks = cell["metadata"].get("nbgrader")
        if marks is None:
            continue
        name = str(marks["grade_id"])
        ours = marks["solution"] != marks["grade"] and name in taken
        if not _GRADE_ID.match(name):
            name = re.sub(r"[^a-zA-Z0-9_-]+", "_", name).strip("_") or f"cell_{number}"
        marks["grade_id"] = (
            name if ours and name not in grade_ids else _free(name, grade_ids | (set() if ours else taken))
        )
        grade_ids.add(marks["grade_id"])


def _free(name: str, taken: set[str]) -> str:
    candidate, number = name, 2
    while candidate in taken:
        candidate, number = f"{name}_{number}", number + 1
    return candidate

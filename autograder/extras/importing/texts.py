"""The chapter's two Python files as text: the solutions, and the checks."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction

from autograder.extras.importing.chapter import Check, NewChapter
from autograder.extras.importing.checks import Way
from autograder.extras.importing.exercises import Exercise
from autograder.extras.importing.pieces import AnswerCell, ByHand, Test
from autograder.extras.importing.program import Statement, slice_of

__all__ = ["checks_text", "leans_on", "number_text", "solutions_text"]

_SIMPLE = re.compile(r"(?!from |import )\w[^\n]*\Z")  # one line of code that is no import
_WORDS = ("assert_matches", "assert_shape", "assert_within", "CheckFailed")


def solutions_text(chapter: NewChapter, files: Collection[str]) -> str:
    """``solutions/<chapter>.py``: what the notebook's solutions are made of, and the answers that a person marks as comments."""
    statements = _needed(chapter)
    parts = [_located(text_of, files) for text_of in (s.text for s in statements if s.is_import)]
    heads = list(dict.fromkeys(parts))
    if any("CHAPTER_FILES" in _located(s.text, files) for s in statements):
        heads = [
            "from pathlib import Path",
            *heads,
            f'CHAPTER_FILES = Path(__file__).parent.parent / "source" / "{chapter.name}"',
        ]
    body = [_located(s.text, files) for s in statements if not s.is_import]
    for exercise in chapter.exercises:
        if exercise.answers:
            pairs = ", ".join(f'"{name}": {name}' for name in exercise.answers)
            body.append(f"def {exercise.name}():\n    return {{{pairs}}}")
    comments = list(_answers_by_hand(chapter))
    title = f'"""Reference solutions of {chapter.name}, brought in from a notebook for {chapter.original.tool}."""'
    return _spaced([title, "\n".join(heads), *body, *comments])


def checks_text(chapter: NewChapter, *, every_way: bool = False) -> str:
    """``tests/chapters/test_<chapter>.py``; with ``every_way``, each check in all the ways in which it can be written."""
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
        f"from autograder.checking import {', '.join(sorted([*words, 'check', 'exercise'], key=_as_sorted))}",
    ]
    made = sorted({name for way in chosen for name in way.from_solutions} - _import_names(chapter))
    if made:
        head.append(f"from solutions.{chapter.name} import {', '.join(made)}")
    title = f'"""The checks of {chapter.name}, brought in from a notebook for {chapter.original.tool}."""'
    return _spaced([title, "\n".join(head), *probes, *classes, *_left_tests(chapter)])


def leans_on(chapter: NewChapter, exercise: Exercise) -> list[str]:
    """The earlier exercises whose functions a solution calls, and those that these lean on."""
    earlier = chapter.exercises[: chapter.exercises.index(exercise)]
    functions = {e.name for e in earlier if not e.answers}
    used = {name for s in exercise.statements for name in s.uses}
    before = [s for s in chapter.program if s.origin <= exercise.origin]
    through = slice_of(used, before, without=functions)
    direct = (used | {name for s in through for name in s.uses}) & functions
    further = {name for e in earlier if e.name in direct for name in leans_on(chapter, e)}
    return [e.name for e in earlier if e.name in direct | further]


def number_text(points: Fraction) -> str:
    """Points as they are written in Python: ``2``, ``0.5``, ``1 / 3``."""
    if points.denominator == 1:
        return str(points.numerator)
    text = f"{float(points):.4f}".rstrip("0")
    return text if Fraction(text) == points else f"{points.numerator} / {points.denominator}"


def _needed(chapter: NewChapter) -> list[Statement]:
    """The statements of the notebook that solutions and checks are made of, in its order."""
    origins = {e.origin for e in chapter.exercises if e.answers}
    own = [s for e in chapter.exercises for s in e.statements]
    beside = [s for s in chapter.program if s.origin in origins and not _only_shows(s)]
    wanted = {name for s in (*own, *beside) for name in s.uses}
    for check in chapter.checks:
        for way in [check.chosen] if check.chosen else check.ways:
            wanted |= way.from_solutions | (set(re.findall(r"[A-Za-z_]\w*", check.test.code)) if way.probe else set())
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
    tests = slice_of(helpers - found, [s for s in chapter.program if not s.binds & targets])
    taken = [s for s in chapter.program if s in first or s in tests or s in own or s in beside]
    return list(dict.fromkeys(s for s in taken if not _only_shows(s)))


def _only_shows(statement: Statement) -> bool:
    """Whether a statement only prints or shows something."""
    return isinstance(statement.node, ast.Expr) and not statement.changes


def _located(text: str, files: Collection[str]) -> str:
    """Code in which the files beside the notebook are read from where they lie."""
    for name in files:
        text = re.sub(rf"(?<![\w])([\"']){re.escape(name)}\1", f'str(CHAPTER_FILES / "{name}")', text)
    return text


def _answers_by_hand(chapter: NewChapter) -> Iterator[str]:
    kept: list[tuple[str, str]] = []
    for number, piece in enumerate(chapter.original.pieces):
        if isinstance(piece, ByHand) and piece.answer.strip():
            kept.append((piece.where, piece.answer))
        elif isinstance(piece, AnswerCell) and number not in chapter.parts:
            kept.append((piece.where, piece.solved))
    for parts in chapter.parts.values():
        own = [p.exercise for p in parts if p.exercise is not None and p.exercise.name in chapter.marked_by_hand]
        kept += [(f"{e.where}, {e.name}", "\n".join(s.text for s in e.statements)) for e in own]
    for where, answer in kept:
        yield "\n".join([f"# The author's answer of {_one_line(where)}, which a person marks:", *(_comment(answer))])


def _left_tests(chapter: NewChapter) -> Iterator[str]:
    for number in range(len(chapter.original.pieces)):
        piece = chapter.original.pieces[number]
        if isinstance(piece, Test) and not any(
            c.test.where == piece.where and c.test.hidden == piece.hidden for c in chapter.checks
        ):
            what = "hidden test" if piece.hidden else "test"
            yield "\n".join([f"# Not carried over, the {what} of {_one_line(piece.where)}:", *(_comment(piece.code))])


def _comment(text: str) -> list[str]:
    return [f"#     {line}".rstrip() for line in text.splitlines()]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _class(chapter: NewChapter, exercise: Exercise, *, every_way: bool) -> str:
    checks = chapter.checks_of(exercise.name)
    total = Fraction(0) if every_way else sum((c.points for c in checks), Fraction(0))
    given = [repr(exercise.name).replace("'", '"'), f"points={number_text(total)}"]
    if names := leans_on(chapter, exercise):
        given.append(f"depends_on=({', '.join(_quoted(n) for n in names)},)")
    if exercise.answers:
        given.append(f"answers=({', '.join(_quoted(n) for n in exercise.answers)},)")
    lines = [f"@exercise({', '.join(given)})", f"class {exercise.class_name}:"]
    methods = [
        _method(check, way, every_way=every_way) for check in checks for way in _ways(check, every_way=every_way)
    ]
    return "\n".join([*lines, "\n\n".join(methods) or "    pass"])


def _ways(check: Check, *, every_way: bool) -> Sequence[Way]:
    return check.ways if every_way else [check.chosen] if check.chosen else []


def _method(check: Check, way: Way, *, every_way: bool) -> str:
    name = f"{check.method}__{way.kind}" if every_way else check.method
    given = [] if every_way or not check.points else [f"points={number_text(check.points)}"]
    given += ["visible=True"] if check.visible else []
    if check.after and not every_way:
        after = [_quoted(a) for a in check.after]
        given.append(f"after={after[0] if len(after) == 1 else f'({chr(44).join(after)})'}".replace(",", ", "))
    lines = list(way.lines)
    if way.probe:
        lines.append(
            f"assert_matches(student.probe({_constant(check, way)}, {_quoted(check.exercise)}), True, call={_quoted(check.exercise)})"
        )
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
    """A text as Python writes it, over several lines where it has them."""
    if "\n" in text and "'''" not in text:
        return f"r'''{text}'''"
    return f'"{text}"' if text.isidentifier() else repr(text)


def _imported(chapter: NewChapter, chosen: Sequence[Way]) -> list[str]:
    """The imports of the notebook that the checks need, one name each."""
    wanted = {name for way in chosen for name in way.from_solutions}
    lines: dict[str, None] = {}
    for statement in chapter.program:
        if statement.is_import and isinstance(statement.node, ast.Import | ast.ImportFrom):
            for alias in statement.node.names:
                if (alias.asname or alias.name.partition(".")[0]) in wanted:
                    one = type(statement.node)(**{**statement.node.__dict__, "names": [alias]})
                    lines[ast.unparse(one)] = None
    return list(lines)


def _import_names(chapter: NewChapter) -> set[str]:
    return {name for s in chapter.program if s.is_import for name in s.binds}


def _as_sorted(name: str) -> tuple[bool, str]:
    return name.islower(), name


def _spaced(parts: Sequence[str]) -> str:
    """The parts of a file: definitions and classes with two empty lines around them."""
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

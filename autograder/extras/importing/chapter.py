"""Plan a chapter from a notebook's parts: exercises with their tests, cells, and what stays as it was."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from autograder.base.formatting import pluralize
from autograder.extras.importing.checks import Body, NamesInTests, Way, body_of, references_of, title_of, ways
from autograder.extras.importing.exercises import Exercise, Part, exercise_name, parts_of
from autograder.extras.importing.pieces import AnswerCell, CopiedCell, ManualCell, Original, Piece, Test
from autograder.extras.importing.program import Statement, locals_of, slice_of, statements_of

__all__ = ["Check", "NewChapter", "NotImported", "leave", "planned"]


@dataclass(frozen=True)
class NotImported:
    """Something that is not imported or stays as it was: where it is in the source, and why."""

    where: str
    why: str

    def __str__(self) -> str:
        return f"{self.where}: {self.why}"


@dataclass
class Check:
    """A test as a check of an exercise. ``ways`` are its possible forms, one of which is chosen after all were run."""

    exercise: str
    method: str
    title: str
    test: Test
    points: Fraction
    visible: bool
    ways: Sequence[Way]
    after: tuple[str, ...] = ()
    chosen: Way | None = None
    stays: bool = False  # its cell stays in the notebook, because the check itself cannot be visible


@dataclass
class NewChapter:
    """A chapter as it will be written."""

    name: str
    original: Original
    exercises: list[Exercise] = field(default_factory=list)
    parts: dict[int, list[Part]] = field(default_factory=dict)  # by the number of the answer's cell
    by_hand: dict[int, tuple[str, Fraction]] = field(default_factory=dict)  # manually graded answers: name and points
    marked_by_hand: dict[str, Fraction] = field(default_factory=dict)  # exercises without a test that could be imported
    checks: list[Check] = field(default_factory=list)
    left: list[NotImported] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    spare: list[tuple[int, Test]] = field(
        default_factory=list
    )  # tests that are left out, whose points go to other checks
    kept_tests: dict[int, list[Test]] = field(
        default_factory=dict
    )  # tests that stay as cells, by the number of the cell
    program: list[Statement] = field(default_factory=list)

    def checks_of(self, exercise: str) -> list[Check]:
        """Return the checks of an exercise, in order."""
        return [check for check in self.checks if check.exercise == exercise]

    def give(self, exercise: str, points: Fraction) -> None:
        """Distribute the points of a test that is left out among the exercise's checks that earn points, or give them to the last."""
        checks = self.checks_of(exercise)
        paid = [check for check in checks if check.points]
        if not paid:
            paid = checks[-1:]
            checks[-1].after = tuple(check.method for check in checks[:-1])
        for check in paid:
            check.points += points / len(paid)

    def names(self) -> NamesInTests:
        """Return what the names in tests can refer to."""
        functions = frozenset(e.name for e in self.exercises if not e.answers)
        classes = frozenset(
            e.name
            for e in self.exercises
            if any(isinstance(s.node, ast.ClassDef) and s.node.name == e.name for s in e.statements)
        )
        return NamesInTests(functions, classes, frozenset(v for e in self.exercises for v in e.answers), self.program)


def planned(original: Original, name: str, taken: Collection[str]) -> NewChapter:
    """Return the chapter that an original becomes. ``taken`` are the exercises of the course's other chapters."""
    chapter = NewChapter(name, original, notes=list(original.notes))
    pieces = original.pieces
    for number, piece in enumerate(pieces):
        source = (
            piece.solved if isinstance(piece, AnswerCell) else piece.code if isinstance(piece, Test) else _given(piece)
        )
        chapter.program += statements_of(source, number)
    tests = [(n, p, body_of(p)) for n, p in enumerate(pieces) if isinstance(p, Test)]
    tested = _tested(chapter.program, [body for _, _, body in tests], pieces)
    bound = {n for s in chapter.program for n in s.binds}
    names: set[str] = {*taken, *bound}
    for number, piece in enumerate(pieces):
        if isinstance(piece, AnswerCell):
            _divide(chapter, number, piece, tested, names, taken)
    given = _given_to_exercises(chapter, tests)
    _written(chapter, given)
    for exercise in [e for e in chapter.exercises if not chapter.checks_of(e.name)]:
        _without_tests(chapter, exercise)
    for number, test in chapter.spare:
        above = [e for e in chapter.exercises if e.origin < number]
        same = [e for e in above if test.question and e.question == test.question]
        for exercise in (same or above)[-1:]:
            chapter.give(exercise.name, test.points)
    return chapter


def _given(piece: CopiedCell | ManualCell) -> str:
    cell = piece.cell
    source = cell.get("source")
    return (source if isinstance(source, str) else "".join(source or ())) if cell.get("cell_type") == "code" else ""


def _tested(program: Sequence[Statement], bodies: Sequence[Body], pieces: Sequence[Piece]) -> frozenset[str]:
    """Return the names that tests use, directly or through code outside of answers that computes something from them."""
    answers = {n for n, p in enumerate(pieces) if isinstance(p, AnswerCell)}
    asked: set[str] = set()
    for body in bodies:
        asked |= {n.id for s in body.statements for n in ast.walk(s) if isinstance(n, ast.Name)}
    outside = [s for s in program if s.origin not in answers]
    within = [s for s in program if s.origin in answers and not isinstance(s.node, ast.FunctionDef | ast.ClassDef)]
    direct = {name for s in within for name in s.binds if name in asked}
    through = slice_of(asked - direct, outside)
    also = {u for s in within if s.binds & asked for u in s.uses}
    return frozenset(asked | {name for s in through for name in s.uses} | also)


def _divide(
    chapter: NewChapter,
    number: int,
    piece: AnswerCell,
    tested: Collection[str],
    names: set[str],
    taken: Collection[str],
) -> None:
    parts = parts_of(piece, number, tested, names)
    mine = [part.exercise for part in parts or () if part.exercise is not None]
    twice = [e.name for e in mine if e.name in taken or any(e.name == other.name for other in chapter.exercises)]
    if parts is None or twice:
        why = (
            f"{twice[0]} is already an exercise of the course, and an exercise has one cell. Rename one of them."
            if twice
            else _why_nothing(chapter, piece)
        )
        name = exercise_name(piece.question, names)
        chapter.by_hand[number] = (name, Fraction(0))
        chapter.left.append(NotImported(piece.where, why))
        names.add(name)
        return
    for part in parts:
        if part.untested and not part.exercise:
            what = ", ".join(part.untested)
            chapter.notes.append(f"{piece.where}: no test uses {what}, so students write it in a cell without points.")
    chapter.parts[number] = parts
    chapter.exercises += mine


def _why_nothing(chapter: NewChapter, piece: AnswerCell) -> str:
    statements = statements_of(piece.solved, 0)
    if chapter.original.tool == "Otter" and not any(
        isinstance(p, Test) and p.question == piece.question for p in chapter.original.pieces
    ):
        return "it has no tests and no manual grading, so it is worth nothing. Its cell stays, without points."
    if not statements:
        return "Python cannot read its code, or it has none."
    return "no test uses a function or a variable that its solution defines."


_Assigned = list[tuple[int, Test, Body, Exercise]]


def _given_to_exercises(chapter: NewChapter, tests: Sequence[tuple[int, Test, Body]]) -> _Assigned:
    """Assign each test to the last exercise that it uses. Split a test if an exercise would have none."""
    found: _Assigned = []
    for number, test, body in tests:
        if body.why_not:
            leave(chapter, number, test, body.why_not)
            continue
        exercise = _asked_for(chapter, number, test, body.statements)
        if exercise is None:
            leave(chapter, number, test, "it uses nothing that students write")
            continue
        found.append((number, test, body, exercise))
    for exercise in chapter.exercises:
        if not any(e is exercise for _, _, _, e in found):
            found = _divided(chapter, found, exercise)
    return found


def _asked_for(chapter: NewChapter, number: int, test: Test, body: Sequence[ast.stmt]) -> Exercise | None:
    asked = references_of(body, chapter.names())
    above = [e for e in chapter.exercises if e.origin < number and (not test.question or e.question == test.question)]
    above = above or [e for e in chapter.exercises if e.origin < number]
    return next((e for e in reversed(above) if e.targets & asked), None)


def _divided(chapter: NewChapter, found: _Assigned, exercise: Exercise) -> _Assigned:
    """Split off the statements that test only ``exercise`` from tests of other exercises."""
    result: _Assigned = []
    for number, test, body, other in found:
        owners = [
            _asked_for(chapter, number, test, [s]) if references_of([s], chapter.names()) else None
            for s in body.statements
        ]
        own = [s for s, owner in zip(body.statements, owners, strict=True) if owner is exercise]
        rest = [s for s, owner in zip(body.statements, owners, strict=True) if owner is not exercise]
        asserted = [s for s in own if not isinstance(s, ast.Assign)]
        if not asserted or not any(owner is other for owner in owners):
            result.append((number, test, body, other))
            continue
        shared = [s for s, owner in zip(body.statements, owners, strict=True) if owner is None]
        needed = locals_of(shared)
        mine = [s for s in body.statements if s in own or (s in shared and needed)]
        half = test.points / 2
        result.append((number, replace(test, points=half), replace(body, statements=tuple(mine)), exercise))
        result.append((number, replace(test, points=half), replace(body, statements=tuple(rest)), other))
        if test.points:
            chapter.notes.append(
                f"{test.where}: its test uses {exercise.name} and {other.name}, which are two exercises here. "
                f"Each gets half of its {pluralize(float(test.points), 'point')}."
            )
    return result


def leave(chapter: NewChapter, number: int, test: Test, why: str) -> None:
    """Record that a test is not imported. Its points go to the manually graded cell of its answer, if there is one."""
    reason = f"its test is not imported: {why}."
    if test.points:
        chapter.spare.append((number, test))
        reason += _by_hand_for(chapter, number, test)
    if not test.hidden:
        reason += " Its cell stays, for students to run."
        chapter.kept_tests.setdefault(number, []).append(test)
    chapter.left.append(NotImported(test.where, reason))


def _by_hand_for(chapter: NewChapter, number: int, test: Test) -> str:
    worth = pluralize(float(test.points), "point")
    for origin in sorted(chapter.by_hand, reverse=True):
        answer = chapter.original.pieces[origin]
        if origin > number or not isinstance(answer, AnswerCell):
            continue
        made = {n for s in statements_of(answer.solved, origin) for n in s.binds}
        if test.question == answer.question if test.question else made & set(re.findall(r"\w+", test.code)):
            name, points = chapter.by_hand[origin]
            chapter.by_hand[origin] = (name, points + test.points)
            chapter.spare.pop()
            return f" Its {worth} are graded manually, in the cell {name}."
    return f" Its {worth} go to the exercise above it."


def _written(chapter: NewChapter, given: _Assigned) -> None:
    """Add the checks of all exercises, each with its possible forms."""
    names = chapter.names()
    used: dict[str, set[str]] = {}
    for number, test, body, exercise in given:
        before = [s for s in chapter.program if s.origin < number]
        found = ways(test, body, replace(names, program=before), is_function=not exercise.answers)
        method = _method(test, used.setdefault(exercise.name, set()))
        check = Check(exercise.name, method, title_of(test, body), test, test.points, not test.hidden, found)
        mine = chapter.checks_of(exercise.name)
        if test.after_visible and mine:
            same = [c.method for c in mine if c.test.where == test.where] or [c.method for c in mine]
            check.after = tuple(same)
        chapter.checks.append(check)
    for exercise in chapter.exercises:
        titles: dict[str, int] = {}
        for check in chapter.checks_of(exercise.name):
            titles[check.title] = titles.get(check.title, 0) + 1
            if titles[check.title] > 1:
                check.title = f"{check.title} ({titles[check.title]})"


def _method(test: Test, used: set[str]) -> str:
    name = test.name or re.sub(r"^cell (\d+).*", r"cell_\1", test.where)
    slug = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").lower() or "test"
    slug = f"test_{slug.removeprefix('test_')}" + ("_hidden" if test.hidden and test.after_visible else "")
    candidate, number = slug, 2
    while candidate in used:
        candidate, number = f"{slug}_{number}", number + 1
    used.add(candidate)
    return candidate


def _without_tests(chapter: NewChapter, exercise: Exercise) -> None:
    """Turn an exercise that no test covers into a cell without points."""
    chapter.exercises.remove(exercise)
    parts = chapter.parts[exercise.origin]
    piece = chapter.original.pieces[exercise.origin]
    shown = exercise.stub
    chapter.parts[exercise.origin] = [
        Part(None, shown, (exercise.name,)) if part.exercise is exercise else part for part in parts
    ]
    if isinstance(piece, AnswerCell):
        chapter.notes.append(
            f"{exercise.where}: no test uses {exercise.name}, so students write it in a cell without points."
        )

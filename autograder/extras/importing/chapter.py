"""Plan a chapter from a notebook's parts: the exercises with their checks, and the cells that stay in the notebook."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from autograder.base.formatting import pluralize
from autograder.extras.importing.checks import Body, NamesInTests, Way, body_of, references_of, title_of, ways
from autograder.extras.importing.exercises import Exercise, Part, exercise_name, parts_of
from autograder.extras.importing.pieces import AnswerCell, ManualCell, Original, Piece, Test
from autograder.extras.importing.program import AsItIs, Statement, locals_of, slice_of, statements_of

__all__ = ["Check", "NewChapter", "NotImported", "code_of", "leave", "mark_by_hand", "planned", "program_of"]


@dataclass(frozen=True)
class NotImported:
    """A part of the notebook that is not imported as a check, with its place in the notebook and the reason."""

    where: str
    why: str

    def __str__(self) -> str:
        return f"{self.where}: {self.why}"


@dataclass
class Check:
    """A check of an exercise, made from a test. ``ways`` contains its possible forms. ``chosen`` is the form to use, once all forms have been run."""

    exercise: str
    method: str
    title: str
    test: Test
    points: Fraction
    visible: bool
    ways: Sequence[Way]
    after: tuple[str, ...] = ()
    chosen: Way | None = None
    stays: bool = False  # whether the test's cell stays in the notebook, because the check itself cannot be visible


@dataclass
class NewChapter:
    """The plan of a chapter, from which its files are written."""

    name: str
    original: Original
    exercises: list[Exercise] = field(default_factory=list)
    parts: dict[int, list[Part]] = field(default_factory=dict)  # the parts of each answer, by the number of its cell
    by_hand: dict[int, tuple[str, Fraction]] = field(default_factory=dict)  # manually graded answers: name and points
    marked_by_hand: dict[str, Fraction] = field(default_factory=dict)  # points of exercises without an importable test
    checks: list[Check] = field(default_factory=list)
    left: list[NotImported] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    spare: list[tuple[int, Test]] = field(default_factory=list)  # left-out tests whose points go to other checks
    kept_tests: dict[int, list[Test]] = field(default_factory=dict)  # tests that stay as cells, by cell number
    program: list[Statement] = field(default_factory=list)
    ran: AsItIs = field(default_factory=AsItIs)
    fails: set[str] = field(default_factory=set)  # the sources of cells that fail although all exercises are solved
    modules: list[str] = field(default_factory=list)  # the modules that the notebook imports from files next to it

    @property
    def look(self) -> str:
        """The name of the function that gives probes access to the notebook's variables."""
        bound = {name for s in self.program for name in s.binds}
        return next(name for name in ("here", "here_", "notebook_here") if name not in bound)

    @property
    def probes(self) -> bool:
        """Whether a check reads the notebook's variables in a probe, so that the notebook needs the function ``look``."""
        answers = {e.name for e in self.exercises if e.answers}
        mine = [check for check in self.checks if check.exercise in answers]
        return any(way.probe for check in mine for way in ([check.chosen] if check.chosen else check.ways))

    def checks_of(self, exercise: str) -> list[Check]:
        """Return the checks of an exercise, in order."""
        return [check for check in self.checks if check.exercise == exercise]

    def give(self, exercise: str, points: Fraction) -> None:
        """Distribute ``points`` among the exercise's checks that have points. If none has points, the exercise's last check gets them."""
        checks = self.checks_of(exercise)
        paid = [check for check in checks if check.points]
        if not paid:
            paid = checks[-1:]
            checks[-1].after = tuple(check.method for check in checks[:-1])
        for check in paid:
            check.points += points / len(paid)

    def names(self) -> NamesInTests:
        """Return the objects that the names in tests can refer to."""
        functions = frozenset(e.name for e in self.exercises if not e.answers)
        classes = frozenset(
            e.name
            for e in self.exercises
            if any(isinstance(s.node, ast.ClassDef) and s.node.name == e.name for s in e.statements)
        )
        kinds = {n: type(piece) for n, piece in enumerate(self.original.pieces)}
        return NamesInTests(
            functions,
            classes,
            frozenset(v for e in self.exercises for v in e.answers),
            self.program,
            frozenset(n for n, kind in kinds.items() if kind is Test),
            frozenset(place for n, piece in enumerate(self.original.pieces) for place in _written_lines(n, piece)),
        )


def _written_lines(number: int, piece: Piece) -> Iterator[tuple[int, int]]:
    """Yield (cell number, line number) for each line of a cell that students write."""
    if isinstance(piece, ManualCell):
        yield from ((number, line) for line, _ in enumerate(code_of(piece).splitlines(), 1))
    elif isinstance(piece, AnswerCell):
        solved = [line for line in piece.lines if line.solved is not None]
        yield from ((number, n) for n, line in enumerate(solved, 1) if line.is_solution)


def code_of(piece: Piece) -> str:
    """Return the code of a part of the notebook, with its solution. The result is empty for a text cell."""
    if isinstance(piece, Test):
        return piece.code
    if isinstance(piece, AnswerCell):
        return piece.solved
    if piece.cell.get("cell_type") != "code":
        return ""
    source = piece.answer if isinstance(piece, ManualCell) and piece.answer else piece.cell.get("source")
    return source if isinstance(source, str) else "".join(source or ())


def program_of(original: Original, ran: AsItIs | None = None) -> list[Statement]:
    """Return the statements of a notebook, including solutions and tests, but without statements that failed when it was run."""
    return [s for n, piece in enumerate(original.pieces) for s in statements_of(code_of(piece), n, ran)]


def planned(original: Original, name: str, ran: AsItIs | None = None) -> NewChapter:
    """Plan the chapter ``name`` for an original notebook. ``ran`` is the result of running the notebook unchanged."""
    chapter = NewChapter(name, original, notes=list(original.notes), ran=ran or AsItIs())
    pieces = original.pieces
    chapter.program = program_of(original, ran)
    tests = [
        (n, p, body_of(p, chapter.program, chapter.ran.error_in(n)))
        for n, p in enumerate(pieces)
        if isinstance(p, Test)
    ]
    tested = _tested(chapter.program, [body for _, _, body in tests], pieces) | _used_later(chapter)
    bound = {n for s in chapter.program for n in s.binds}
    names: set[str] = set(bound)
    for number, piece in enumerate(pieces):
        if isinstance(piece, AnswerCell):
            _divide(chapter, number, piece, tested, names)
    given = _given_to_exercises(chapter, tests)
    _written(chapter, given)
    for exercise in [e for e in chapter.exercises if not chapter.checks_of(e.name)]:
        _without_tests(chapter, exercise)
    for number, test in chapter.spare:
        above = [e for e in chapter.exercises if e.origin < number]
        same = [e for e in above if test.question and e.question == test.question]
        for exercise in (same or above)[-1:]:
            chapter.give(exercise.name, test.points)
    _keep_names(chapter)
    return chapter


def _used_later(chapter: NewChapter) -> frozenset[str]:
    """Return the names that an answer cell binds and a later answer cell uses, whether or not a test uses them."""
    pieces = chapter.original.pieces
    found: set[str] = set()
    for statement in chapter.program:
        if isinstance(pieces[statement.origin], AnswerCell) and not statement.is_import:
            later = (
                s for s in chapter.program if s.origin > statement.origin and isinstance(pieces[s.origin], AnswerCell)
            )
            found |= statement.binds & {name for s in later for name in s.uses}
    return frozenset(found)


def _keep_names(chapter: NewChapter) -> None:
    """Keep those statements of visible tests that bind names for later cells, in a cell below the test."""
    pieces = chapter.original.pieces
    for number, piece in enumerate(pieces):
        if not isinstance(piece, Test) or piece.hidden or any(t is piece for t in chapter.kept_tests.get(number, ())):
            continue
        own = [s for s in chapter.program if s.origin == number]
        others = [s for s in chapter.program if not isinstance(pieces[s.origin], Test)]
        bound = {name for s in own for name in s.binds} - {
            name for s in others if s.origin < number for name in s.binds
        }
        wanted = bound & {name for s in others if s.origin > number for name in s.uses}
        if wanted and (kept := slice_of(wanted, own)):
            code = "\n".join(s.text for s in kept)
            chapter.kept_tests.setdefault(number, []).append(replace(piece, code=code, name=f"{piece.name}_names"))


def _tested(program: Sequence[Statement], bodies: Sequence[Body], pieces: Sequence[Piece]) -> frozenset[str]:
    """Return the names that tests use, directly or through other statements that compute a value for a test."""
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


def _divide(chapter: NewChapter, number: int, piece: AnswerCell, tested: Collection[str], names: set[str]) -> None:
    parts = parts_of(piece, number, tested, names)
    mine = [part.exercise for part in parts or () if part.exercise is not None]
    twice = [e.name for e in mine if any(e.name == other.name for other in chapter.exercises)]
    if parts is None or twice:
        why = (
            f"{twice[0]} is already an exercise of this notebook, and an exercise can have only one cell. Rename one of the two."
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
    for exercise in mine:
        exercise.statements = [s for s in exercise.statements if s in chapter.program]
    chapter.parts[number] = parts
    chapter.exercises += mine


def _why_nothing(chapter: NewChapter, piece: AnswerCell) -> str:
    statements = statements_of(piece.solved, 0)
    if error := chapter.ran.error_in(chapter.original.pieces.index(piece)):
        return f"its own solution does not run here: {error}."
    if chapter.original.tool == "Otter" and not any(
        isinstance(p, Test) and p.question == piece.question for p in chapter.original.pieces
    ):
        return "it has no tests and no manual grading, so it has no points. Its cell stays in the notebook."
    if not statements:
        return "it has no code, or Python cannot read its code."
    return "no test uses a function or a variable that its solution defines."


_Assigned = list[tuple[int, Test, Body, Exercise]]


def _given_to_exercises(chapter: NewChapter, tests: Sequence[tuple[int, Test, Body]]) -> _Assigned:
    """Assign each test to the last exercise that it uses. If an exercise would get no test, split another exercise's test."""
    found: _Assigned = []
    for number, test, body in tests:
        if body.why_not:
            leave(chapter, number, test, body.why_not)
            continue
        if again := _defined_again(chapter, number, body.statements):
            why = f"{again} is defined twice in this notebook, and an exercise can have only one cell"
            leave(chapter, number, test, why)
            continue
        exercise = _asked_for(chapter, number, test, body.statements)
        if exercise is None:
            leave(chapter, number, test, "it uses no function or variable that students write")
            continue
        found.append((number, test, body, exercise))
    for exercise in chapter.exercises:
        if not any(e is exercise for _, _, _, e in found):
            found = _divided(chapter, found, exercise)
    return found


def _defined_again(chapter: NewChapter, number: int, body: Sequence[ast.stmt]) -> str:
    """Return a name that the test uses and whose last definition above it is in a manually graded cell, or "" if there is none."""
    for name in references_of(body, chapter.names()):
        origin = max((s.origin for s in chapter.program if name in s.binds and s.origin < number), default=-1)
        if origin in chapter.by_hand:
            return name
    return ""


def _asked_for(chapter: NewChapter, number: int, test: Test, body: Sequence[ast.stmt]) -> Exercise | None:
    asked = references_of(body, chapter.names())
    above = [e for e in chapter.exercises if e.origin < number and (not test.question or e.question == test.question)]
    above = above or [e for e in chapter.exercises if e.origin < number]
    return next((e for e in reversed(above) if e.targets & asked), None)


def _divided(chapter: NewChapter, found: _Assigned, exercise: Exercise) -> _Assigned:
    """Return ``found``, in which statements that test only ``exercise`` are split off from the tests of other exercises."""
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
                f"{test.where}: its test uses {exercise.name} and {other.name}, which are separate exercises here. "
                f"Each gets half of its {pluralize(float(test.points), 'point')}."
            )
    return result


def leave(chapter: NewChapter, number: int, test: Test, why: str) -> None:
    """Record that a test is not imported. Its points go to the manually graded cell of its answer, if there is one."""
    reason = f"its {'hidden ' * test.hidden}test is not imported: {why}."
    if test.points:
        chapter.spare.append((number, test))
        reason += _by_hand_for(chapter, number, test)
    if not test.hidden:
        reason += " Its cell stays in the notebook, so that students can run it."
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
            return f" Its {worth} must be graded manually, in the cell {name}."
    return f" Its {worth} {_ABOVE}"


_ABOVE = "went to the exercise above the test."


def _written(chapter: NewChapter, given: _Assigned) -> None:
    """Add the checks of all exercises, each with its possible forms."""
    names = chapter.names()
    used: dict[str, set[str]] = {}
    for number, test, body, exercise in given:
        before = [s for s in chapter.program if s.origin < number]
        found = ways(test, body, replace(names, program=before), exercise.answers)
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
    """Decide how to treat an exercise without checks: grade it manually, only require that it exists, or give it no points."""
    mine = [(n, t) for n, t in chapter.spare if _is_about(chapter, n, t, exercise)]
    if mine:
        chapter.spare = [one for one in chapter.spare if one not in mine]
        mark_by_hand(chapter, exercise, sum((test.points for _, test in mine), Fraction(0)))
        places = {test.where for _, test in mine}
        chapter.left = [
            replace(left, why=left.why.replace(_ABOVE, "must be graded manually.")) if left.where in places else left
            for left in chapter.left
        ]
        return
    own = exercise.statements
    later = [s for s in chapter.program if s.origin >= exercise.origin and s not in own and s.uses & exercise.targets]
    if any(isinstance(chapter.original.pieces[s.origin], AnswerCell | Test) for s in later):
        name = exercise.answers[0] if exercise.answers else exercise.name
        code = f"assert {name} is not None" if exercise.answers else f"assert callable({name})"
        test = Test(exercise.where, exercise.name, code, Fraction(0), title=f"{name} is defined")
        found = ways(test, body_of(test, chapter.program), chapter.names(), exercise.answers)
        chapter.checks.append(
            Check(exercise.name, "test_it_is_there", test.title, test, Fraction(0), visible=True, ways=found)
        )
        return
    chapter.exercises.remove(exercise)
    parts = chapter.parts[exercise.origin]
    chapter.parts[exercise.origin] = [
        Part(None, exercise.stub, (exercise.name,)) if part.exercise is exercise else part for part in parts
    ]
    chapter.notes.append(
        f"{exercise.where}: no test uses {exercise.name}, so students write it in a cell without points."
    )


def mark_by_hand(chapter: NewChapter, exercise: Exercise, points: Fraction) -> None:
    """Let an exercise be graded manually, because none of its tests can be imported."""
    chapter.exercises.remove(exercise)
    chapter.marked_by_hand[exercise.name] = points
    what = (
        f"no test of {exercise.name} is imported, so its {pluralize(float(points), 'point')} must be graded manually."
    )
    chapter.left.append(NotImported(exercise.where, what))


def _is_about(chapter: NewChapter, number: int, test: Test, exercise: Exercise) -> bool:
    """Return whether a test that is not imported belongs to ``exercise``."""
    if test.question:
        return test.question == exercise.question
    words = set(re.findall(r"\w+", test.code))
    above = [e for e in chapter.exercises if e.origin < number and e.targets & words]
    return bool(above) and above[-1] is exercise

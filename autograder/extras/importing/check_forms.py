"""Choose the form of each imported check by running all possible forms on the chapter's own solutions.

The forms run in a separate process, which executes this module.
"""

from __future__ import annotations

import ast
import io
import json
import linecache
import os
import re
import subprocess
import sys
import tempfile
import types
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from autograder.authoring.release.check_file import CheckFile
from autograder.authoring.release.dry_run import failures_by_check, load_with_timeout
from autograder.authoring.release.inspection import inspect_chapter
from autograder.authoring.release.problems import NOT_BLANK
from autograder.base.errors import CourseError
from autograder.base.formatting import pluralize
from autograder.course.course import Course, load_course
from autograder.extras.importing.assertions import AUTOTEST, without_raises
from autograder.extras.importing.chapter import Check, NewChapter, NotImported, code_of, mark_by_hand
from autograder.extras.importing.exercises import Exercise
from autograder.extras.importing.pieces import AnswerCell, CopiedCell, ImportRefusedError
from autograder.extras.importing.program import parsed_cell, statement_names
from autograder.judging.time_limit import time_limit
from autograder.sandbox.confinement import Launch, plan_module
from autograder.sandbox.protocol import SandboxUnavailable
from autograder.student.examples.record import recorded

__all__ = [
    "AS_IT_IS", "choose_forms", "leave_out_failing", "release_problems", "repair", "run_as_it_is", "run_in_process",
    "trial_failures",
]  # fmt: skip


AS_IT_IS = "as_it_is.json"  # a file in the copy of the course, with the sources of the notebook's cells
_STATEMENT_SECONDS = 60.0  # the limit on processor time for one statement of the notebook


# --- In the separate process -------------------------------------------------------------------------------------------


def run_as_it_is(folder: Path, chapter: str) -> dict[str, Any]:
    """Run the notebook unchanged, with its solutions and all its tests, in the chapter's folder.

    Return the errors of the statements that failed, the names that star imports bind, and the modules that are missing.
    """
    cells = json.loads((folder / AS_IT_IS).read_text(encoding="utf-8"))
    os.chdir(folder / "source" / chapter)
    folders = {str(path.parent) for path in Path.cwd().rglob("*.py")} | {str(Path.cwd())}
    sys.path[:0] = sorted(folders)
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    names = vars(module)
    names[AUTOTEST] = lambda *_: None
    failed, stars, missing = {}, {}, []
    for origin, source in enumerate(cells):
        tree = parsed_cell(source)
        stopped = ""
        where = f"<cell {origin + 1}>"
        linecache.cache[where] = (len(source), None, source.splitlines(keepends=True), where)
        for node in tree.body if tree is not None else ():
            place = f"{origin}:{node.lineno}"
            if stopped:
                failed[place] = stopped
                continue
            before = dict(names) if "*" in statement_names(node) else {}
            # A test may use ``pytest.raises`` without importing pytest.
            done = without_raises(node) if re.search(r"[rR]aises\b", ast.unparse(node)) else node
            error = _error_of(ast.Module([done], []), where, names)
            if error:
                failed[place] = error
                # Run the rest of a cell after a failed import, so that one missing package does not make other imports fail.
                stopped = "" if isinstance(node, ast.Import | ast.ImportFrom) else f"not run after {error}"
                missing += [m for m in [re.search(r"No module named '(\w+)", error)] if m]
            elif before:
                stars[place] = sorted(k for k in names if k not in before or names[k] is not before[k])
    return {"failed": failed, "stars": stars, "missing": sorted({m[1] for m in missing})}


def _error_of(code: ast.Module, where: str, names: dict[str, Any]) -> str:
    """Run one statement. Return its error, or "" if it succeeds."""
    hidden, stdin = io.StringIO(), sys.stdin
    sys.stdin = io.StringIO()
    try:
        with redirect_stdout(hidden), redirect_stderr(hidden), time_limit(_STATEMENT_SECONDS):
            exec(compile(code, where, "exec", dont_inherit=True), names)  # noqa: S102 - the notebook's own code, in a sandbox
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever it raises is its error
        text = " ".join(str(error).split())[:200].rstrip(".")
        return f"{type(error).__name__}: {text}" if text else type(error).__name__
    finally:
        sys.stdin = stdin
    return ""


def trial_failures(folder: Path, chapter: str) -> dict[str, Any]:
    """Run every check on the reference. Return ``{"checks": {exercise: {check: {"why": …, "unwritten": …}}}}``.

    ``why`` says why the reference fails the check, and ``unwritten`` why the check cannot be recorded for students. Each is "" if
    there is no such reason. If the chapter cannot be loaded, return ``{"error": …}``.
    """
    course = load_course(folder)
    try:
        checks = load_with_timeout(course, chapter)
        again = load_with_timeout(course, chapter)
    except CourseError as error:
        return {"error": str(error).replace(f"{folder}/", "")}
    found: dict[str, dict[str, dict[str, str]]] = {}
    file = CheckFile(course, chapter)
    second = failures_by_check(again, file)
    for (exercise, name), (why, calls) in failures_by_check(checks, file).items():
        spec = checks.specs[exercise]
        check = next(c for c in spec.checks if c.name == name)
        fails = why or ("its second run uses different inputs" if second[exercise, name] != ("", calls) else "")
        unwritten = ""
        if not fails:
            try:
                recorded(replace(checks, specs={exercise: replace(spec, checks=(replace(check, visible=True),))}))
            except Exception as error:  # noqa: BLE001 - any reason why the check cannot be recorded
                unwritten = str(error) or type(error).__name__
        found.setdefault(exercise, {})[name] = {"why": fails.replace(f"{folder}/", ""), "unwritten": unwritten}
    return {"checks": found}


def release_problems(folder: Path, chapter: str) -> dict[str, Any]:
    """Return ``{"mistakes": […]}`` with the problems that a release would report, each as its place, text, and exercise or cell.

    The notebook runs without another sandbox, because this process is already in a sandbox, or the author chose to use none.
    """
    try:
        inspected = inspect_chapter(load_course(folder), chapter)
        mistakes = inspected.with_trial_run("local")
    except Exception as error:  # noqa: BLE001 - such as a solution that is too large for a notebook
        return {"mistakes": [["", f"{type(error).__name__}: {error}".replace(f"{folder}/", ""), ""]]}
    return {"mistakes": [[part.replace(f"{folder}/", "") for part in (m.where, m.what, m.about)] for m in mistakes]}


# --- In the process that imports ---------------------------------------------------------------------------------------

_OPAQUE = "it uses a value of a type that cannot leave a student's notebook"
_SECONDS = 300.0  # the limit for one run of all checks of a chapter


def choose_forms(chapter: NewChapter, outcomes: Mapping[str, Mapping[str, Mapping[str, str]]]) -> None:
    """Choose a form for each check, and leave out checks for which no form works.

    ``outcomes`` is the value of ``"checks"`` in the result of ``trial_failures``. In it, a check's name ends in its form, as in
    ``test_a__probe``.
    """
    whys = {id(c): _choose(chapter, c, outcomes.get(c.exercise, {})) for c in chapter.checks}
    unfit = [check for check in chapter.checks if check.chosen is None]
    worth = _worth(chapter)
    chapter.checks = [check for check in chapter.checks if check.chosen is not None]
    for check in unfit:
        _drop(chapter, check, whys[id(check)])
    _settle(chapter, worth)


def _worth(chapter: NewChapter) -> dict[str, Fraction]:
    return {e.name: sum((c.points for c in chapter.checks_of(e.name)), Fraction(0)) for e in chapter.exercises}


def _settle(chapter: NewChapter, worth: Mapping[str, Fraction]) -> None:
    """Update the chapter after checks were left out. An exercise without checks is graded manually, for its points in ``worth``."""
    for check in chapter.checks:
        there = {c.method for c in chapter.checks_of(check.exercise)}
        check.after = tuple(method for method in check.after if method in there)
    for exercise in [e for e in chapter.exercises if not chapter.checks_of(e.name)]:
        mark_by_hand(chapter, exercise, worth[exercise.name])
    if not chapter.exercises:
        why = "".join(f"\n  - {left}" for left in chapter.left)
        raise ImportRefusedError(f"None of the notebook's tests can be imported. Nothing was written.{why}")


def _choose(chapter: NewChapter, check: Check, outcomes: Mapping[str, Mapping[str, str]]) -> str:
    """Choose the form of a check. Return the reason to report if no form is possible."""
    untried = {"why": "it was not tried", "unwritten": ""}
    told = {way.kind: outcomes.get(f"{check.method}__{way.kind}", untried) for way in check.ways}
    fine = [way for way in check.ways if not told[way.kind]["why"]]
    # ``check()`` cannot fully replay a check in plain Python, so a solution that fails in grading could pass in the notebook.
    seen = [way for way in fine if way.kind != "python" and not told[way.kind]["unwritten"]]
    why = next(
        (told[way.kind]["why"] for way in check.ways if told[way.kind]["why"]), "it cannot be written as a check"
    )
    if check.visible and fine and not seen:
        _hide(chapter, check)
    check.ways = seen if check.visible else fine
    check.chosen = next(iter(check.ways), None)
    _note_probe(chapter, check)
    return _OPAQUE if "'Opaque'" in why else why


def _hide(chapter: NewChapter, check: Check) -> None:
    check.visible, check.stays = False, True
    chapter.notes.append(
        f"{check.test.where}: its test “{check.title}” does something that check() cannot replay in a notebook. Its cell stays "
        "in the notebook, so that students can run it. Grading uses the test as a hidden check."
    )
    chapter.kept_tests.setdefault(_number_of(chapter, check), []).append(check.test)


def _note_probe(chapter: NewChapter, check: Check) -> None:
    if check.chosen is not None and check.chosen.kind == "probe" and check.test.hidden:
        chapter.notes.append(
            f"{check.test.where}: its hidden test “{check.title}” becomes a probe. The test's code, with its expected values, runs "
            f"next to the student's code, as in {chapter.original.tool}."
        )


def _drop(chapter: NewChapter, check: Check, why: str) -> None:
    told = f"its {'hidden ' * check.test.hidden}test “{check.title}” is not imported: {why.rstrip('.')}."
    if check.points and chapter.checks_of(check.exercise):
        chapter.give(check.exercise, check.points)
        told += f" Its {pluralize(float(check.points), 'point')} went to the other checks of {check.exercise}."
    if check.visible and not isinstance(chapter.original.pieces[_number_of(chapter, check)], AnswerCell):
        told += " Its cell stays in the notebook, so that students can run it."
        chapter.kept_tests.setdefault(_number_of(chapter, check), []).append(check.test)
    chapter.left.append(NotImported(check.test.where, told))


def leave_out_failing(chapter: NewChapter, error: str, files: Mapping[str, bytes]) -> bool:
    """Leave out what makes loading the chapter fail with ``error``: a statement, or forms of checks.

    Return False if ``error`` does not show what to leave out. ``files`` contains the chapter's files.
    """
    if unknown := re.search(r"cannot import name '(\w+)'", error):
        before = sum(len(check.ways) for check in chapter.checks)
        for check in chapter.checks:
            check.ways = [way for way in check.ways if unknown[1] not in way.from_solutions]
        return sum(len(check.ways) for check in chapter.checks) < before
    place = re.search(r"line (\d+)", error)
    if place is None or "solutions/" not in error:
        return False
    line = files[f"solutions/{chapter.name}.py"].decode().splitlines()[int(place[1]) - 1].strip()
    failing = next((s for s in chapter.program if any(line == own.strip() for own in s.text.splitlines())), None)
    if failing is None:
        return False
    chapter.program.remove(failing)
    for exercise in [e for e in chapter.exercises if failing in e.statements]:
        _give_up(
            chapter,
            exercise,
            f"its solution cannot be used: {error.rpartition('line ')[2].partition(': ')[2] or error}",
        )
    return True


def repair(
    chapter: NewChapter, cells: Sequence[Mapping[str, Any]], checks: str, where: str, what: str, about: str
) -> bool:
    """Change the chapter so that a release no longer reports a problem. Return False if the author has to fix the problem.

    ``cells`` contains the cells of the chapter's notebook, and ``checks`` is the text of its check file. ``where``, ``what`` and
    ``about`` are the problem's place, text and exercise.
    """
    if line := re.fullmatch(r"tests/chapters/\S+, line (\d+)", where):
        about, where = _method_at(chapter, checks, int(line[1])) or (about, where)
    exercise = next((e for e in chapter.exercises if e.name == about.removeprefix(NOT_BLANK).strip()), None)
    prints = re.search(r" prints .* while (test_\w+) runs it", what)  # a probe discards printed output
    if method := prints or re.search(r"\.(test_\w+)$", where):
        about = next((e.name for e in chapter.exercises if f" {e.class_name}." in f" {where}"), about)
        check = next((c for c in chapter.checks_of(about) if c.method == method[1]), None)
        if check is None or (prints and check.chosen is not None and check.chosen.kind == "probe"):
            return False
        if "the title contains code" in what:
            number = sum(c.title.startswith("the examples") for c in chapter.checks_of(about)) + 1
            check.title = "the examples" if number == 1 else f"the examples ({number})"
            return True
        check.ways = [way for way in check.ways if way is not check.chosen]
        check.chosen = next(iter(check.ways), None)
        _note_probe(chapter, check)
        if check.chosen is None:
            worth = _worth(chapter)
            chapter.checks.remove(check)
            _drop(chapter, check, what)
            _settle(chapter, worth)
        return True
    hopeless = (
        "Give both the same",
        "with the reference solutions in place",
        "in the released notebook",
        "cannot be put into",
    )
    if exercise is not None and (about.startswith(NOT_BLANK) or any(words in what for words in hopeless)):
        _give_up(chapter, exercise, what)
        return True
    place = re.search(r", (?:code cell (\d+)|cell (\S+?))(?:, line \d+)?$", where)
    if place is None or exercise is not None or "which is an exercise" in what:
        return False
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    named = [c for c in cells if c["metadata"].get("nbgrader", {}).get("grade_id") == place[2]]
    cell = next(iter(named), None) if place[2] else code[int(place[1]) - 1]
    if cell is None or cell["source"] in chapter.fails:
        return False
    if (line := re.search(r"line (\d+)$", where)) and _split_import(chapter, cell["source"], int(line[1])):
        return True
    chapter.fails.add(cell["source"])
    why = what.partition("it fails. ")[2] or what
    chapter.notes.append(
        f"A cell is tagged raises-exception, because it fails when the grader runs it: {why.rstrip('.')}. The cell "
        f"begins with “{cell['source'].strip().splitlines()[0][:60]}”."
    )
    return True


def _method_at(chapter: NewChapter, checks: str, line: int) -> tuple[str, str] | None:
    """Return the exercise and the ``Class.method`` of the check at a line of the check file, or None if that line has no check."""
    for node in ast.parse(checks).body:
        for method in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(method, ast.FunctionDef) and method.lineno <= line <= (method.end_lineno or line):
                name = next((e.name for e in chapter.exercises if e.class_name == getattr(node, "name", "")), "")
                return name, f"{getattr(node, 'name', '')}.{method.name}"
    return None


def _split_import(chapter: NewChapter, source: str, line: int) -> bool:
    """Move the import at ``line`` of a copied cell to a separate cell. Return False if that line has no import."""
    for number, piece in enumerate(chapter.original.pieces):
        if isinstance(piece, CopiedCell) and code_of(piece) == source and (tree := parsed_cell(source)) is not None:
            imports = [s for s in tree.body if isinstance(s, ast.Import | ast.ImportFrom) and s.lineno == line]
            if imports and len(tree.body) > 1:
                chapter.ran.failed[number, line] = "it fails when the grader runs it"
                chapter.notes.append(
                    f"{piece.where}: {ast.unparse(imports[0])} fails when the grader runs it, so it gets its own cell."
                )
                return True
    return False


def _give_up(chapter: NewChapter, exercise: Exercise, why: str) -> None:
    """Let an exercise be graded manually, and report that its tests are not imported."""
    worth = _worth(chapter)
    mine = chapter.checks_of(exercise.name)
    chapter.checks = [check for check in chapter.checks if check.exercise != exercise.name]
    for check in mine:
        _drop(chapter, check, why)
    _settle(chapter, worth)


def _number_of(chapter: NewChapter, check: Check) -> int:
    pieces = chapter.original.pieces
    mine = [n for n, p in enumerate(pieces) if p.where == check.test.where]
    return next((n for n in mine if not isinstance(pieces[n], AnswerCell)), mine[0])


def run_in_process(what: str, course: Course, chapter: str, *, unsafe_local: bool) -> dict[str, Any]:
    """Run the function ``what`` of this module in a new process, in a sandbox unless ``unsafe_local``, and return its result.

    ``course`` is a copy of the course, which the process may change. Raises ``ImportRefusedError`` if the process does not
    finish, and ``SandboxUnavailable`` if there is no sandbox.
    """
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        launch = _launch([what, str(course.root), chapter, str(result)], course, unsafe_local=unsafe_local)
        try:
            done = subprocess.run(
                launch.command,
                cwd=course.root,
                env=launch.environment,
                capture_output=True,
                text=True,
                check=False,
                timeout=_SECONDS,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired as error:
            raise ImportRefusedError(
                f"The notebook's own solutions and tests did not finish within {_SECONDS:.0f} s. Nothing was written."
            ) from error
        finally:
            if launch.folder is not None:
                launch.folder.cleanup()
        if done.returncode or not result.is_file():
            last = (done.stderr.strip().splitlines() or ["the process ended without a message"])[-1]
            raise ImportRefusedError(
                f"The notebook's own solutions and tests could not be run: {last}. Nothing was written."
            )
        found: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
        return found


def _launch(arguments: Sequence[str], course: Course, *, unsafe_local: bool) -> Launch:
    module = "autograder.extras.importing.check_forms"
    if unsafe_local:
        return Launch((sys.executable, "-m", module, *arguments), dict(os.environ))
    others = [course.source(chapter).parent for chapter in course.chapters]  # links to the course's own folders
    readable = [folder.resolve() for folder in others if folder.is_symlink()]
    try:
        return plan_module(module, arguments, readable=readable, writable=[course.root, Path(arguments[-1]).parent])
    except SandboxUnavailable as error:
        raise SandboxUnavailable(
            f"There is no sandbox here, so the notebook's solutions and tests were not run. {error} Run `autograder doctor` to see "
            "what is missing and how to get it. If you trust the notebook, add --unsafe-local to run it without a sandbox, with your permissions. "
            "Nothing was written."
        ) from error


if __name__ == "__main__":
    steps = {"run_as_it_is": run_as_it_is, "trial_failures": trial_failures, "release_problems": release_problems}
    result = steps[sys.argv[1]](Path(sys.argv[2]), sys.argv[3])
    Path(sys.argv[4]).write_text(json.dumps(result), encoding="utf-8")

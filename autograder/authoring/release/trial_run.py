"""Run and grade the whole notebook in the sandbox before its release, both solved and blank."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial

from autograder.authoring.release.cells import by_hand
from autograder.authoring.release.check_file import CheckFile
from autograder.authoring.release.problems import NOT_BLANK, Mistake, SourceNotebook, place_of_function
from autograder.authoring.simulate import solved_notebook
from autograder.base import attempt
from autograder.base.foreign import Json, Value
from autograder.base.formatting import number, points
from autograder.base.verdict import ExerciseVerdict
from autograder.course.course import Course
from autograder.course.notebook import MAY_FAIL, PICTURE, Cell, NotebookError, document_bytes, text_of
from autograder.grading.document import ReleasedNotebook
from autograder.grading.submission import Job, Submission
from autograder.judging.judge import Judge
from autograder.judging.loader import ChapterChecks
from autograder.sandbox.confinement import Confinement
from autograder.sandbox.protocol import CellOutcome, Limits
from autograder.sandbox.worker import Worker, open_worker

__all__ = ["trial_run"]

_PREDICTED = re.compile(r"""\bprediction *= *["'](\w+)["']""")
_FIGURES = frozenset({"plt", "pyplot", "matplotlib", "subplots", "imshow"})
_STOPPED = {
    "timeout": "ran out of time",
    "memory": "used more memory than allowed",
    "crash": "crashed Python",
    "protocol": "broke the connection to the grader",
}


def trial_run(
    source: SourceNotebook,
    checks: ChapterChecks,
    file: CheckFile,
    *,
    reported: Collection[str] = (),
    confinement: Confinement = "auto",
) -> list[Mistake]:
    """Grade the solved notebook and the blank one, and return the mistakes.

    The solved notebook must earn full marks, and the blank one no marks. None of the author's cells may fail. Mistakes
    about names in ``reported`` are left out. Raises ``SandboxUnavailable`` if the sandbox cannot be started.
    """
    solved, mistakes = _solved(checks, source, reported)
    course = checks.course
    with open_worker(course.limits, list(course.packages), confinement=confinement) as worker:
        released = ReleasedNotebook.of(course, checks.chapter)
        worker.prepare(source.notebook.code_cells())
        judge = Judge(checks)
        for document, look in ((solved, _solved_mistakes), (source.document, _blank_mistakes)):
            if document is None:
                continue
            submission = _submission(document, course, checks.chapter, released, worker)
            verdicts = {verdict.name: verdict for verdict in judge.judge(submission)}
            submission.finish()
            mistakes += [m for m in look(submission, verdicts, source, file) if m.about not in reported]
    return mistakes


def _submission(
    document: Mapping[str, Json], course: Course, chapter: str, released: ReleasedNotebook, worker: Worker
) -> Submission:
    job, output_kb = Job(course.source(chapter), chapter=chapter), course.limits.output_kb
    opened = partial(worker.open, files=released.files)
    return Submission(job, document_bytes(document), released, opened, redraw=True, output_kb=output_kb)


def _solved(
    checks: ChapterChecks, source: SourceNotebook, reported: Collection[str]
) -> tuple[dict[str, Json] | None, list[Mistake]]:
    """Return the source notebook with the references in its stubs. If that fails, return None and the mistakes that prevent it."""
    stubs = {name for name in source.notebook.exercises() if name not in reported}
    code = {name: checks.references[name] for name in checks.specs if name in stubs}
    try:
        return _with_predictions(solved_notebook(checks.course, checks.chapter, code, start=source.document)), []
    except (NotebookError, ValueError, SyntaxError, OSError):
        return None, [m for name in code for m in _cannot_be_carried(name, code[name], checks, source)]


def _with_predictions(document: dict[str, Json]) -> dict[str, Json]:
    """Fill in the predictions that pictures require (``@requires(prediction=…)``), so that the trial run draws the pictures."""
    texts = {place: text_of(cell.get("source")) for place, cell in enumerate(document["cells"])}
    if names := {name for text in texts.values() for name in _PREDICTED.findall(text)}:
        open_one = re.compile(rf"^((?:{'|'.join(names)}) *= *)None\b", re.MULTILINE)
        for place, text in texts.items():
            document["cells"][place]["source"] = open_one.sub(r"\g<1>0", text)
    return document


def _cannot_be_carried(
    name: str, reference: Callable[..., Value], checks: ChapterChecks, source: SourceNotebook
) -> Iterator[Mistake]:
    try:
        solved_notebook(checks.course, checks.chapter, {name: reference}, start=source.document)
    except (NotebookError, ValueError, SyntaxError, OSError) as error:
        where = place_of_function(checks.course, reference) or f"solutions/{checks.chapter}.py"
        yield Mistake(
            where,
            f"{name} cannot be put into the notebook and graded like a student's solution: {error} Write it as a plain def.",
            about=name,
        )


def _solved_mistakes(
    submission: Submission, verdicts: Mapping[str, ExerciseVerdict], source: SourceNotebook, file: CheckFile
) -> Iterator[Mistake]:
    """Yield the mistakes in the solved notebook: exercises without full marks, and the author's cells that fail or draw no picture."""
    failed = set()
    for outcome in submission.cells:
        cell = source.notebook.cells[outcome.index]
        fails = outcome.error or outcome.stopped
        if fails and MAY_FAIL not in cell.tags:
            failed.add(cell.grade_id)
            yield _of_a_cell(source, cell, outcome, file.course.limits, "with the reference solutions in place, ")
        elif not fails and PICTURE in cell.tags and _lacks_a_picture(cell, outcome):
            output = f" Its output begins with “{text}”." if (text := _first_line(outcome)) else ""
            what = f"it is tagged {PICTURE}, but it draws nothing with the reference solutions in place.{output}"
            yield Mistake(source.place(cell), what)
    for name, verdict in verdicts.items():
        if verdict.score < verdict.max_score and name not in failed:
            result = next((c for c in verdict.checks if c.status not in {"passed", "not_tried"}), verdict.checks[0])
            why = (result.message or verdict.message).partition("\n")[0]
            what = (
                f"graded in the sandbox like a student's solution, the reference of {name} earns {points(verdict.score, verdict.max_score)}. "
                f"{why}"
            )
            yield Mistake(file.place_of_check(name, result.name), what, about=name)
    # The points of each cell were compared before. Now compare the total that the gradebook would compute.
    automatic = [cell for cell in source.notebook.cells if cell.role == "check" and not by_hand(source, cell)]
    worth = math.fsum(cell.points or 0.0 for cell in automatic)
    earned = math.fsum(verdict.score for verdict in verdicts.values())
    full = math.fsum(verdict.max_score for verdict in verdicts.values())
    if not math.isclose(worth, full, abs_tol=1e-6) and math.isclose(earned, full, abs_tol=1e-6):
        what = (
            f"its cells are worth {number(worth)} points together, but the solved notebook earns {number(earned)}. "
            "Make these points equal."
        )
        yield Mistake(source.label, what, about="points")


def _blank_mistakes(
    submission: Submission, verdicts: Mapping[str, ExerciseVerdict], source: SourceNotebook, file: CheckFile
) -> Iterator[Mistake]:
    """Yield a mistake for each blank stub that earns points, and for each stub that fails.

    Other cells may fail because they depend on unsolved exercises. They are reported only if they are stopped.
    """
    for name, verdict in verdicts.items():
        cell = source.notebook.stub(name)
        where = source.place(cell) if cell is not None else file.place_of(name)
        if verdict.score >= verdict.max_score > 0:
            what = "the released stub contains a solution and passes all its checks"
        elif verdict.score > 0:
            what = f"the released stub earns {points(verdict.score, verdict.max_score)}"
        else:
            continue
        yield Mistake(where, f"{name}: {what}. Keep only `raise NotImplementedError`.", about=f"{NOT_BLANK} {name}")
    for outcome in submission.cells:
        cell = source.notebook.cells[outcome.index]
        wrong = outcome.stopped or (outcome.error and cell.role == "stub")
        if wrong and outcome.stopped != "skipped" and MAY_FAIL not in cell.tags:
            yield _of_a_cell(source, cell, outcome, file.course.limits, "in the released notebook, ")


def _of_a_cell(source: SourceNotebook, cell: Cell, outcome: CellOutcome, limits: Limits, when: str) -> Mistake:
    about = (cell.grade_id or source.name(cell)).removeprefix("check_")
    if outcome.error is None:
        seconds = f" ({limits.cell_seconds:g} s)" if outcome.stopped == "timeout" else ""
        what = f"{when}it {_STOPPED.get(outcome.stopped, f'was stopped ({outcome.stopped})')}{seconds}."
        return Mistake(source.place(cell), what, about=about)
    error = outcome.error
    # The error may come from another cell's function, so use the line number only if it refers to this cell.
    names = {"", cell.grade_id or source.name(cell), source.name(cell).removeprefix("code ")}
    line = error.lineno if error.cell in names else None
    why = f"{error.type}: {error.message}" if error.message else error.type
    files = " A notebook is graded only with the files next to it in source/."
    more = files if error.type == "FileNotFoundError" else ""
    return Mistake(source.place(cell, line), f"{when}it fails. {why.rstrip('.')}.{more}", about=about)


def _lacks_a_picture(cell: Cell, outcome: CellOutcome) -> bool:
    """Return whether a cell uses a plotting name but draws nothing. Other cells tagged ``picture`` only print."""
    draws = any(str(kind).startswith("image/") for output in outcome.outputs for kind in output.get("data", {}))
    return not draws and bool(attempt.identifiers_in(cell.source) & _FIGURES)


def _first_line(outcome: CellOutcome) -> str:
    texts = [output.get("text", "") for output in outcome.outputs]
    return next((text.strip().partition("\n")[0] for text in texts if isinstance(text, str) and text.strip()), "")

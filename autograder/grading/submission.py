"""A submitted notebook and the result of grading it."""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.base.attempt import defines, last_definition_is_blank
from autograder.base.verdict import Verdict, crash
from autograder.course.notebook import Cell, Notebook, blank_exercises, load_document, metadata_of, notebook_of
from autograder.grading.document import ReleasedNotebook, kept_pictures, restore_cells, without_picture
from autograder.sandbox.protocol import CellOutcome, CodeCell, EditableSession, Session, TimeBudget

if TYPE_CHECKING:
    from autograder.judging.exercise_session import Subject
    from autograder.sandbox.session import AnswerCache

__all__ = [
    "BESIDE", "Deliver", "Job", "Outcome", "Submission", "beside", "crash", "delivered", "points_of", "ungradable",
    "verdict_only",
]  # fmt: skip

# Files that nbgrader stores next to a submission. It needs them to return feedback to the right student.
BESIDE = ("timestamp.txt", "submission_secret.txt")
MAX_BESIDE = 4096  # the maximum number of bytes to read from such a file

COPIED = (
    "This notebook has the cell of {name} more than once. All copies were run, in order, so the last copy was checked."
)
REDEFINED = (
    "{name} is defined again in the cell of {other}, and that second definition is wrong for this exercise. The first one, "
    "in {name}'s own cell, was checked. Give the second definition another name."
)
COVERED = (
    "You defined {name}, but the empty stub further down overwrites it. Put your code in the stub's cell, or below it."
)


@dataclass(frozen=True, slots=True)
class Job:
    """A notebook file to grade. If ``chapter`` is None, the notebook itself says which chapter it belongs to."""

    path: Path
    student: str | None = None
    chapter: str | None = None


class Submission:
    """A submitted notebook as the judge sees it: the blank exercises, notes about it, and how to run it.

    Attributes:
        document: the notebook that is run, with the course's locked cells restored.
        cells: the outputs of the cells in the first run.
        submitted: the notebook as it was submitted.
    """

    def __init__(
        self,
        job: Job,
        data: bytes,
        released: ReleasedNotebook,
        open_session: Callable[..., EditableSession],
        *,
        pictures: bool = True,
        redraw: bool = False,
        output_kb: int = 64,
    ) -> None:
        """Prepare a submission. Raises ``NotebookError`` if ``data`` is not a notebook that can be graded.

        With ``pictures=False``, picture cells are left out, because nobody will look at the notebook. With ``redraw``, stored pictures
        are not kept.
        """
        self.job = job
        self.data = data
        submitted = load_document(data, job.path)
        if not any(isinstance(raw, dict) and raw.get("cell_type") == "code" for raw in submitted["cells"]):
            notebook_of(submitted, job.path)  # rejects a file without code before any cell is restored
        self.submitted = submitted
        self.document = restore_cells(submitted, released)
        self.notebook = notebook_of(self.document, job.path)
        self.label = f"{job.student} · {job.path.name}" if job.student else str(job.path)
        self.blank = blank_exercises(self.notebook, released.notebook)
        twice = metadata_of(self.document).get("copied", [])
        self.notes: Mapping[str, str] = _notes(self.notebook, released.notebook, self.blank, twice)
        self.cells: tuple[CellOutcome, ...] = ()
        self.sandbox: str | None = None
        self._handed_out = {c.source for c in released.notebook.cells if c.role != "stub"}
        self._code = self.notebook.code_cells()
        self._plain = [cell for cell in self._code if not cell.optional]
        optional = [cell for cell in self._code if cell.optional] if pictures else []
        self._to_draw = frozenset(cell.index for cell in optional) if redraw else frozenset()
        if not redraw:
            kept = kept_pictures(submitted, optional, output_kb << 10)
            self._keep(kept.get(cell.index) or without_picture(cell.index) for cell in optional)
        self._open_session = open_session
        self._budget = TimeBudget()

    def open(self, *, memory_mb: int | None = None) -> Session:
        """Return a new session in which the notebook's cells have been run, except those that only draw.

        This is called again after a session is killed. All sessions share the time of the submission.
        """
        return self._run(self._plain, first=self.sandbox is None, memory_mb=memory_mb)

    def before_redefined(self, exercise: str) -> Subject | None:
        """Return the part of the notebook above the cell of another exercise that redefines ``exercise``, or None if no cell does."""
        own = max((cell.index for cell in self._plain if cell.name == exercise), default=None)
        others = set(self.notebook.exercises()) - {exercise}
        for cell in self._plain:
            if own is not None and cell.index > own and cell.name in others and defines(exercise, cell.source):
                return _Prefix(self, exercise, cell)
        return None

    def open_before(self, index: int, *, memory_mb: int | None = None) -> Session:
        """Return a new session in which only the cells before ``index`` have been run."""
        cells = [cell for cell in self._plain if cell.index < index]
        return self._run(cells, first=False, memory_mb=memory_mb)

    def own_cells(self) -> list[tuple[str, str]]:
        """Return the name and the source of each cell that the student wrote or changed, in the order in which they run."""
        return [(cell.name, cell.source) for cell in self._plain if cell.source not in self._handed_out]

    def open_copy(self, budget: TimeBudget, cache: AnswerCache, **limits: float | None) -> EditableSession:
        """Return a new session that no mark depends on. It is limited by ``budget`` and stores its answers in ``cache``."""
        slow = [outcome.index for outcome in self.cells if outcome.stopped]
        return self._open_session(self._plain, draw=False, slow=slow, budget=budget, cache=cache, **limits)

    def is_handed_out(self, cell: Cell) -> bool:
        """Return whether a cell is an unchanged cell of the course."""
        return cell.role is None and cell.source in self._handed_out

    def finish(self) -> None:
        """Run the cells whose output is still missing: all cells if no check has run them, otherwise those that draw pictures."""
        first = self.sandbox is None
        if first or self._to_draw:
            cells = [cell for cell in self._code if not cell.optional or cell.index in self._to_draw]
            self._run(cells, first=first, take=None if first else self._to_draw).close()

    def _run(
        self, cells: list[CodeCell], *, first: bool, memory_mb: int | None = None, take: Collection[int] | None = None
    ) -> Session:
        """Run ``cells``. Keep all outputs of the first run, and later only those of the cells in ``take``."""
        slow = [outcome.index for outcome in self.cells if outcome.stopped]
        draw = first or take is not None
        session = self._open_session(cells, memory_mb=memory_mb, draw=draw, slow=slow, budget=self._budget)
        if first or take is not None:
            self.sandbox = self.sandbox or session.sandbox
            self._keep(outcome for outcome in session.cells if take is None or outcome.index in take)
        return session

    def _keep(self, outcomes: Iterable[CellOutcome]) -> None:
        from autograder.sandbox.texts import OutputBudget  # noqa: PLC0415 - imports NumPy, which is not needed if no notebook has changed

        room = OutputBudget()  # this also limits pictures, of which a notebook may have thousands
        self.cells = tuple(map(room.fit, sorted([*self.cells, *outcomes], key=lambda outcome: outcome.index)))


class _Prefix:
    """The part of a submission's notebook above the cell that redefines ``exercise``."""

    def __init__(self, whole: Submission, exercise: str, end: CodeCell) -> None:
        self.label, self.blank = whole.label, whole.blank
        notes = [whole.notes.get(exercise), REDEFINED.format(name=exercise, other=end.name)]
        self.notes: Mapping[str, str] = {**whole.notes, exercise: " ".join(filter(None, notes))}
        self.open = partial(whole.open_before, end.index)

    def before_redefined(self, exercise: str) -> Subject | None:
        """Return None, because the cell that redefines ``exercise`` was not run."""


def _notes(notebook: Notebook, released: Notebook, blank: frozenset[str], twice: list[str]) -> dict[str, str]:
    sources = [cell.source for cell in notebook.code_cells()]
    notes = {}
    for name in released.exercises():
        parts = [COPIED.format(name=name)] if name in twice else []
        if name not in blank and last_definition_is_blank(name, sources):
            parts.append(COVERED.format(name=name))
        if parts:
            notes[name] = " ".join(parts)
    return notes


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of grading one job, as it is passed from the grading process to the gradebook.

    ``deliver`` writes ``document`` and ``cells`` into the student's files. After that ``cells`` is empty, and ``document`` has only
    the manually graded cells.

    Attributes:
        document: the notebook that was run. Empty if it is ungradable.
        cells: the outputs of its cells.
        key: the key of the stored verdict, or "".
        parts: for each exercise, the digest of the checks that judged it. None means the current digests.
        is_final: whether grading the same bytes again would give the same result.
        timestamp: the text of nbgrader's ``timestamp.txt``, or None.
        rewritten: the manually graded cells whose text has changed since they were last graded.
        page_kept: whether a page that was not made by autograder was kept.
        may_be_superseded: whether an earlier notebook counts if its mark is better.
        was_superseded: whether the earlier notebook counts. If so, ``verdict`` is the verdict on it.
    """

    job: Job
    verdict: Verdict
    document: dict[str, Any] = field(default_factory=dict)
    cells: tuple[CellOutcome, ...] = ()
    key: str = ""
    parts: Mapping[str, str] | None = None
    is_final: bool = True
    timestamp: str | None = None
    rewritten: frozenset[str] = frozenset()
    page_kept: bool = False
    may_be_superseded: bool = False
    was_superseded: bool = False


Deliver = Callable[[Outcome], Outcome]


def delivered(outcome: Outcome, deliver: Deliver | None) -> Outcome:
    """Return the result of ``deliver`` for ``outcome``, or ``outcome`` itself without ``deliver``.

    If ``deliver`` fails because of the notebook, the notebook is delivered as ungradable, so that the run continues. An ``OSError``
    concerns our own disk and is raised.
    """
    if deliver is None:
        return outcome
    try:
        return deliver(outcome)
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - any error concerns this notebook only
        verdict, job = outcome.verdict, outcome.job
        reason = crash("Writing the student's feedback", error)
        return deliver(Outcome(job, ungradable(job, reason, verdict.chapter, verdict.max_score), is_final=False))


def verdict_only(outcome: Outcome) -> Outcome:
    """Return the outcome without the notebook, because nobody will look at the notebook. This function is a ``Deliver``."""
    return replace(outcome, document={}, cells=())


def ungradable(job: Job, reason: str, chapter: str | None = None, max_score: float = 0.0) -> Verdict:
    """Return the verdict on a notebook that could not be graded. It has a reason and no score."""
    return Verdict.ungradable(str(job.path), reason, job.student, chapter or job.chapter, max_score)


def points_of(released: Notebook, only: frozenset[str] | None = None) -> float:
    """Return the points of all exercises of a chapter, or of those in ``only``."""
    checks = [cell for cell in released.cells if cell.role == "check"]
    wanted = [c for c in checks if only is None or (c.grade_id or "").removeprefix("check_") in only]
    return math.fsum(cell.points or 0.0 for cell in wanted)


def beside(path: Path, name: str) -> str | None:
    """Return the text of nbgrader's small file ``name`` next to a submission, or None."""
    found = f"{path.parent}/{name}"
    try:
        # Reject a link to another file, and a pipe or device that never ends.
        if not stat.S_ISREG(os.lstat(found).st_mode):
            return None
        with open(found, "rb") as file:  # noqa: PTH123 - faster, and called for every student
            start = file.read(MAX_BESIDE)  # a sparse file may be a terabyte long
    except OSError:
        return None
    return start.decode("utf-8", "replace")[:1000]

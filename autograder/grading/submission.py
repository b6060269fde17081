"""One submission: a notebook file on its way to a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from autograder.attempt import last_definition_is_blank
from autograder.notebook import Notebook, blank_exercises, parse_notebook

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from autograder.sandbox.protocol import CellOutcome, CodeCell, Session

__all__ = ["Job", "Submission"]

COPIED = (
    "The cell of {name} stands more than once in this notebook. Both were run, in order, "
    "so the last one is what was checked."
)
COVERED = (
    "You defined {name}, but the empty stub stands below your definition and replaces it. "
    "Write your code into the stub's own cell, or move it below."
)


@dataclass(frozen=True, slots=True)
class Job:
    """A notebook file to grade. Where ``chapter`` is None, the notebook tells which one it is."""

    path: Path
    student: str | None = None
    chapter: str | None = None


class Submission:
    """A submitted notebook as the checking room sees it: what was not begun, what to note, and how to run it.

    ``cells`` holds what the notebook's cells printed, returned and drew the first time they ran.
    """

    def __init__(
        self, job: Job, data: bytes, released: Notebook, open_session: Callable[[list[CodeCell]], Session]
    ) -> None:
        """Raises ``NotebookError`` where ``data`` is no notebook that can be graded."""
        self.job = job
        self.data = data
        self.notebook = parse_notebook(data, job.path)
        self.label = f"{job.student} · {job.path.name}" if job.student else str(job.path)
        self.blank = blank_exercises(self.notebook, released)
        self.notes: Mapping[str, str] = _notes(self.notebook, released, self.blank)
        self.cells: tuple[CellOutcome, ...] = ()
        self.sandbox: str | None = None
        self._open_session = open_session

    def open(self) -> Session:
        """A fresh session in which the notebook's cells have been run; called again after a session was killed."""
        session = self._open_session(self.notebook.code_cells())
        if self.sandbox is None:
            self.sandbox = session.sandbox
            self.cells = tuple(session.cells)
        return session


def _notes(notebook: Notebook, released: Notebook, blank: frozenset[str]) -> dict[str, str]:
    copied = set(notebook.duplicates())
    sources = [cell.source for cell in notebook.code_cells()]
    notes = {}
    for name in released.exercises():
        told = [COPIED.format(name=name)] if name in copied else []
        if name not in blank and last_definition_is_blank(name, sources):
            told.append(COVERED.format(name=name))
        if told:
            notes[name] = " ".join(told)
    return notes

"""Check a notebook by its recorded examples, in a separate process while the terminal listens to keys."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from autograder.base.errors import CourseError
from autograder.base.verdict import ExerciseVerdict, Verdict, crash
from autograder.course.notebook import NotebookError, read_notebook
from autograder.sandbox.confinement import Confinement
from autograder.sandbox.protocol import CodeCell, Limits, SandboxUnavailable, Session, TimeBudget
from autograder.sandbox.worker import Worker, open_worker
from autograder.student.examples import EXAMPLES_NAME, Examples, ExamplesError, load_examples, replay

__all__ = ["PACKAGES", "CheckRun", "Checker", "check_by_examples", "check_cells", "examples_beside"]


PACKAGES = ("numpy", "matplotlib")  # where no course says otherwise
_MAX_FILE = 16 << 20


def check_by_examples(
    notebooks: Sequence[Path], only: set[str] | None, confinement: Confinement, on_verdict: Callable[[Verdict], None]
) -> list[Verdict]:
    """The verdicts on ``notebooks`` by the visible checks that lie beside each in ``examples.json``.

    Raises ``CourseError`` where ``only`` names an exercise that no examples have.
    """
    verdicts, packages = [], [name for name in PACKAGES if find_spec(name) is not None]
    with closing(open_worker(Limits(), packages, confinement=confinement)) as worker:
        for path in notebooks:
            try:
                verdict = _check(path, only, worker.open)
            except (CourseError, SandboxUnavailable):
                raise
            except Exception as error:  # noqa: BLE001 - no notebook may stop the others, whatever it holds
                foreseen = isinstance(error, NotebookError | ExamplesError)
                reason = str(error) if foreseen else crash("Checking this notebook", error)
                verdict = Verdict.ungradable(str(path), reason)
            verdicts.append(verdict)
            on_verdict(verdict)
    return verdicts


def examples_beside(notebook: Path) -> Examples:
    """The examples that were released with ``notebook``; raises ``ExamplesError`` where they are not beside it."""
    beside = notebook.parent / EXAMPLES_NAME
    if not beside.is_file():
        raise ExamplesError(
            f"There is no {EXAMPLES_NAME} beside {notebook.name}, so there is nothing to check it by. "
            "Copy the one that was released with the notebook there, or run this inside the course folder."
        )
    return load_examples(beside)


def _check(path: Path, only: set[str] | None, open_cells: Callable[..., Session]) -> Verdict:
    notebook, examples = read_notebook(path), examples_beside(path)
    unknown = (only or set()) - set(examples.exercises)
    if unknown:
        known = ", ".join(examples.exercises)
        beside = path.parent / EXAMPLES_NAME
        raise CourseError(f"{beside} knows no exercise {', '.join(sorted(unknown))}. Its exercises are: {known}.")
    return check_cells(path, notebook.code_cells(), examples, open_cells, only=only)


def check_cells(
    path: Path,
    cells: Sequence[CodeCell],
    examples: Examples,
    open_cells: Callable[..., Session],
    *,
    only: Collection[str] | None = None,
    limits: Limits | None = None,
) -> Verdict:
    """The verdict on the notebook at ``path``, of which ``cells`` are run by ``open_cells``, a worker's ``open``, under ``limits``."""
    files = _files_beside(path, cells)
    opened = partial(open_cells, cells, budget=TimeBudget(), files=files)
    subject = _Loose(str(path), opened)
    exercises = replay(examples.exercises, subject, only=frozenset(only) if only is not None else None, limits=limits)
    return Verdict.graded(str(path), None, examples.chapter, subject.sandbox, exercises)


def _files_beside(path: Path, cells: Sequence[CodeCell]) -> dict[str, bytes]:
    """The files beside the notebook that its code mentions, as grading has them too: a module of its own, a table of numbers."""
    code = "\n".join(cell.source for cell in cells)
    # Not in folders below: a loose notebook may lie in a home folder.
    beside = [p for p in path.parent.iterdir() if not p.name.startswith(".") and p.suffix != ".ipynb" and p.is_file()]
    found = [p for p in beside if p.name in code or (p.suffix == ".py" and p.stem in code)]
    return {p.name: p.read_bytes() for p in found if p.stat().st_size <= _MAX_FILE}


class _Loose:
    """A notebook as the judge sees it where no course is there: its cells, run in a jail."""

    notes: Mapping[str, str] = {}
    blank: frozenset[str] = frozenset()

    def __init__(self, label: str, open_cells: Callable[..., Session]) -> None:
        self.label = label
        self.sandbox: str | None = None
        self._open_cells = open_cells

    def open(self, *, memory_mb: int | None = None) -> Session:
        """A fresh session in which the notebook's cells have been run."""
        session = self._open_cells(memory_mb=memory_mb)
        self.sandbox = session.sandbox
        return session

    def before_redefined(self, exercise: str) -> None:
        """What a later cell defines again is what counts: nothing tells here which cells were released."""


@dataclass(frozen=True)
class CheckRun:
    """What checking a notebook found: every exercise's outcome, and the code of its cell; or a ``trouble``, in a sentence."""

    examples: Examples | None = None
    exercises: Mapping[str, ExerciseVerdict] = field(default_factory=dict)
    code: Mapping[str, str] = field(default_factory=dict)
    trouble: str = ""


class Checker:
    """Checks one notebook at a time. The code runs as the student does anyway, with limits of time, apart from this process."""

    def __init__(self) -> None:
        self._worker: Worker | None = None
        self._results: queue.Queue[tuple[int, CheckRun]] = queue.Queue()
        self._number = 0
        self.busy = False

    def begin(self, notebook: Path) -> None:
        """Check ``notebook`` as it is now; what was still being checked is given up."""
        self.stop()
        self._number += 1
        self.busy = True
        packages = [name for name in PACKAGES if find_spec(name) is not None]
        limits = _limits(notebook)
        self._worker = open_worker(limits, packages, confinement="local")
        arguments = self._number, notebook, self._worker, limits
        threading.Thread(target=self._check, args=arguments, daemon=True).start()

    def result(self) -> CheckRun | None:
        """What was found, once it is; None while there is nothing new."""
        while True:
            try:
                number, found = self._results.get_nowait()
            except queue.Empty:
                return None
            if number == self._number:
                self.stop()
                return found

    def stop(self) -> None:
        """End what still runs, an endless loop too."""
        if self._worker is not None:
            self._worker.close()
        self._worker, self.busy = None, False

    def _check(self, number: int, notebook: Path, worker: Worker, limits: Limits) -> None:
        try:
            found = _found(notebook, worker, limits)
        except (NotebookError, ExamplesError) as error:
            found = CheckRun(trouble=str(error))
        except Exception as error:  # noqa: BLE001 - whatever stands in a notebook, the next save is looked at again
            found = CheckRun(trouble=crash("Checking this notebook", error))
        self._results.put((number, found))


def _limits(notebook: Path) -> Limits:
    """As long for a call as ``check`` in the notebook gives it."""
    try:
        return Limits(call_seconds=examples_beside(notebook).call_seconds)
    except ExamplesError:  # which is told once it is checked
        return Limits()


def _found(notebook: Path, worker: Worker, limits: Limits) -> CheckRun:
    examples = examples_beside(notebook)
    read = read_notebook(notebook)
    # What only draws is left out: nobody sees it here, and matplotlib alone takes longer than all checks.
    cells = [cell for cell in read.code_cells() if not cell.optional]
    verdict = check_cells(notebook, cells, examples, worker.open, limits=limits)
    code = {name: "\n".join(cell.source for cell in read.stubs(name)) for name in examples.exercises}
    return CheckRun(examples, {exercise.name: exercise for exercise in verdict.exercises}, code)

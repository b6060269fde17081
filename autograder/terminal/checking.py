"""A notebook checked in a process of its own while the terminal goes on listening to keys."""

from __future__ import annotations

import queue
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from autograder.examples import Examples, ExamplesError
from autograder.notebook import NotebookError, read_notebook
from autograder.sandbox.protocol import Limits
from autograder.sandbox.worker import Worker, open_worker
from autograder.terminal.by_examples import PACKAGES, check_cells, examples_beside
from autograder.verdict import ExerciseVerdict, crash

__all__ = ["Checker", "Found"]


@dataclass(frozen=True)
class Found:
    """What checking a notebook found: every exercise's outcome, and the code of its cell; or a ``trouble``, in a sentence."""

    examples: Examples | None = None
    exercises: Mapping[str, ExerciseVerdict] = field(default_factory=dict)
    code: Mapping[str, str] = field(default_factory=dict)
    trouble: str = ""


class Checker:
    """Checks one notebook at a time. The code runs as the student does anyway, with limits of time, apart from this process."""

    def __init__(self) -> None:
        self._worker: Worker | None = None
        self._results: queue.Queue[tuple[int, Found]] = queue.Queue()
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

    def result(self) -> Found | None:
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
            found = Found(trouble=str(error))
        except Exception as error:  # noqa: BLE001 - whatever stands in a notebook, the next save is looked at again
            found = Found(trouble=crash("Checking this notebook", error))
        self._results.put((number, found))


def _limits(notebook: Path) -> Limits:
    """As long for a call as ``check`` in the notebook gives it."""
    try:
        return Limits(call_seconds=examples_beside(notebook).call_seconds)
    except ExamplesError:  # which is told once it is checked
        return Limits()


def _found(notebook: Path, worker: Worker, limits: Limits) -> Found:
    examples = examples_beside(notebook)
    read = read_notebook(notebook)
    # What only draws is left out: nobody sees it here, and matplotlib alone takes longer than all checks.
    cells = [cell for cell in read.code_cells() if not cell.optional]
    verdict = check_cells(notebook, cells, examples, worker.open, limits=limits)
    code = {name: "\n".join(cell.source for cell in read.stubs(name)) for name in examples.exercises}
    return Found(examples, {exercise.name: exercise for exercise in verdict.exercises}, code)

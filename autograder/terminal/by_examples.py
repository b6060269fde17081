"""Verdicts on loose notebook files by the visible checks that lie beside them, recorded as examples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from autograder.errors import CourseError
from autograder.examples import EXAMPLES_NAME, ExamplesError, load_examples, replay
from autograder.notebook import NotebookError, read_notebook
from autograder.sandbox.confinement import Confinement, SandboxUnavailable
from autograder.sandbox.protocol import Limits, Session, TimeBudget
from autograder.sandbox.worker import open_worker
from autograder.verdict import Verdict, crash

__all__ = ["check_by_examples"]

PACKAGES = ("numpy", "matplotlib")  # where no course says otherwise


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


def _check(path: Path, only: set[str] | None, open_cells: Callable[..., Session]) -> Verdict:
    cells = read_notebook(path).code_cells()
    beside = path.parent / EXAMPLES_NAME
    if not beside.is_file():
        raise ExamplesError(
            f"There is no {EXAMPLES_NAME} beside {path.name}, so there is nothing to check it by. "
            "Copy the one that was released with the notebook there, or run this inside the course folder."
        )
    examples = load_examples(beside)
    unknown = (only or set()) - set(examples.exercises)
    if unknown:
        known = ", ".join(examples.exercises)
        raise CourseError(f"{beside} knows no exercise {', '.join(sorted(unknown))}. Its exercises are: {known}.")
    opened = partial(open_cells, cells, budget=TimeBudget())
    subject = _Loose(str(path), opened)
    exercises = replay(examples.exercises, subject, only=frozenset(only) if only is not None else None)
    return Verdict.graded(str(path), None, examples.chapter, subject.sandbox, exercises)


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

"""Check a notebook with its recorded examples, in a separate process."""

from __future__ import annotations

import queue
import re
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from autograder.base import attempt
from autograder.base.errors import CourseError
from autograder.base.verdict import ExerciseVerdict, Verdict, crash
from autograder.course.notebook import NotebookError, read_notebook
from autograder.sandbox.confinement import Confinement
from autograder.sandbox.protocol import CodeCell, Limits, SandboxStartError, SandboxUnavailable, Session, TimeBudget
from autograder.sandbox.worker import Worker, open_worker
from autograder.student.examples import EXAMPLES_NAME, Examples, ExamplesError, load_examples, replay
from autograder.student.terminal.layout import course_folder

__all__ = [
    "PACKAGES", "CheckRun", "Checker", "asking_for_unsafe_local", "check_by_examples", "check_cells", "examples_for",
    "own_notebook_warning",
]  # fmt: skip


PACKAGES = ("numpy", "matplotlib")  # the default without a course
_MAX_FILE = 16 << 20
_ASK = "If you trust the notebook, add --unsafe-local to run it without a sandbox. Its code can then do anything that you can."
# A sandbox needs the Linux kernel. On these systems, learners run their own notebooks without a sandbox, as Jupyter does.
_WITHOUT_SANDBOX = {"win32": "Windows", "darwin": "macOS"}


@contextmanager
def asking_for_unsafe_local(notebooks: Iterable[Path]) -> Iterator[None]:
    """If the block raises an error because there is no sandbox, add advice on how to run without one.

    No advice is added if one of ``notebooks`` or the current folder is in a course folder, where code could read the solutions.
    """
    try:
        yield
    except SandboxStartError:  # the sandbox works here, and a notebook broke it
        raise
    except SandboxUnavailable as error:
        if any(course_folder(folder) for folder in (Path.cwd(), *(path.parent for path in notebooks))):
            raise
        raise SandboxUnavailable(f"{error} {_ASK}") from error


def own_notebook_warning(folder: Path, system: str = sys.platform) -> str:
    """Return a warning that a learner's own notebooks in ``folder`` run without a sandbox on ``system``.

    The warning is empty if a sandbox is possible, or if ``folder`` is in a course folder, where notebooks only run in a sandbox.
    """
    name = _WITHOUT_SANDBOX.get(system)
    if name is None or course_folder(folder) is not None:
        return ""
    return f"There is no sandbox on {name}, so a notebook's code can do anything that you can. Run only notebooks that you trust."


def check_by_examples(
    notebooks: Sequence[Path],
    only: Collection[str] | None,
    confinement: Confinement,
    on_verdict: Callable[[Verdict], object] = lambda _verdict: None,
) -> list[Verdict]:
    """Return the verdicts on ``notebooks``, judged by the visible checks in the ``examples.json`` next to each.

    Raises ``CourseError`` if ``only`` contains an unknown exercise.
    """
    verdicts, packages = [], packages_for(notebooks)
    with closing(open_worker(Limits(), packages, confinement=confinement)) as worker:
        for path in notebooks:
            try:
                verdict = _check(path, only, worker.open)
            except (CourseError, SandboxUnavailable):
                raise
            except Exception as error:  # noqa: BLE001 - no notebook may stop the others
                expected = isinstance(error, NotebookError | ExamplesError)
                reason = _not_to_submit(error) if expected else crash("Checking this notebook", error)
                verdict = Verdict.ungradable(str(path), reason)
            verdicts.append(verdict)
            on_verdict(verdict)
    return verdicts


def packages_for(notebooks: Iterable[Path]) -> list[str]:
    """Return the usual packages and the imports of ``notebooks``, as far as they are installed.

    The result does not include packages that are installed only because this framework needs them.
    """
    modules: set[str] = set()
    for path in notebooks:
        with suppress(Exception):  # the check itself reports what is wrong with a notebook
            cells = read_notebook(path).code_cells()
            neighbors = [data for name, data in _mentioned_files(path, cells).items() if name.endswith(".py")]
            sources = [*(cell.source for cell in cells), *(data.decode("utf-8", "replace") for data in neighbors)]
            modules |= {module for source in sources for _, module in attempt.imported(source)}
    further = modules - {*PACKAGES, "autograder", "IPython"} - sys.stdlib_module_names
    installed = metadata.packages_distributions() if further else {}
    ours = set(installed.get("autograder", ()))
    usual = [name for name in PACKAGES if find_spec(name) is not None]
    return usual + sorted(name for name in further & installed.keys() if ours.isdisjoint(installed[name]))


def examples_for(notebook: Path) -> Examples:
    """Return the examples in the folder of ``notebook``. Raises ``ExamplesError`` if there are none."""
    path = notebook.parent / EXAMPLES_NAME
    if not path.is_file():
        raise ExamplesError(
            f"There is no {EXAMPLES_NAME} next to {notebook.name}, so it cannot be checked. "
            "Copy the file that was released with the notebook there, or run this inside the course folder."
        )
    return load_examples(path)


def _check(path: Path, only: Collection[str] | None, open_cells: Callable[..., Session]) -> Verdict:
    notebook, examples = read_notebook(path), examples_for(path)
    unknown = set(only or ()) - set(examples.exercises)
    if unknown:
        known = ", ".join(examples.exercises)
        file = path.parent / EXAMPLES_NAME
        raise CourseError(f"{file} has no exercise {', '.join(sorted(unknown))}. Its exercises are: {known}.")
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
    """Return the verdict on the notebook at ``path``. Its ``cells`` are run by ``open_cells``, a worker's ``open`` method."""
    files = _mentioned_files(path, cells)
    open_session = partial(open_cells, cells, budget=TimeBudget(), files=files)
    subject = _LooseNotebook(str(path), open_session)
    exercises = replay(examples.exercises, subject, only=frozenset(only) if only is not None else None, limits=limits)
    return Verdict.graded(str(path), None, examples.chapter, subject.sandbox, exercises)


def _mentioned_files(path: Path, cells: Sequence[CodeCell]) -> dict[str, bytes]:
    """Return the files in the notebook's folder that the notebook's code mentions, such as a module or a data file."""
    code = "\n".join(cell.source for cell in cells)
    # Do not search subfolders, because the notebook may be in a home folder.
    files = [p for p in path.parent.iterdir() if not p.name.startswith(".") and p.suffix != ".ipynb" and p.is_file()]
    mentioned = [p for p in files if p.name in code or (p.suffix == ".py" and p.stem in code)]
    return {p.name: p.read_bytes() for p in mentioned if p.stat().st_size <= _MAX_FILE}


def _not_to_submit(error: Exception) -> str:
    """Return the message of ``error`` without the advice to submit the notebook again, because the notebook is not graded here."""
    text = re.sub(r", (save it|save the notebook) and submit it again", r" and \1", str(error))
    return text.replace(" and submit it again", "").replace(" Nothing was submitted under that name.", "")


class _LooseNotebook:
    """A notebook outside of a course, as a subject for the judge. Its cells run in a sandbox."""

    notes: Mapping[str, str] = {}
    blank: frozenset[str] = frozenset()

    def __init__(self, label: str, open_cells: Callable[..., Session]) -> None:
        self.label = label
        self.sandbox: str | None = None
        self._open_cells = open_cells

    def open(self, *, memory_mb: int | None = None) -> Session:
        """Return a new session in which the notebook's cells have been run."""
        session = self._open_cells(memory_mb=memory_mb)
        self.sandbox = session.sandbox
        return session

    def before_redefined(self, exercise: str) -> None:
        """Return None: the last definition counts, because it is unknown which cells were released."""


@dataclass(frozen=True)
class CheckRun:
    """The result of checking a notebook: the verdict and the code of each exercise, or an ``error`` message."""

    examples: Examples | None = None
    exercises: Mapping[str, ExerciseVerdict] = field(default_factory=dict)
    code: Mapping[str, str] = field(default_factory=dict)
    error: str = ""


class Checker:
    """A checker of one notebook at a time. The code runs in a separate process, with time limits, in the given ``confinement``."""

    def __init__(self, confinement: Confinement = "auto") -> None:
        self._confinement = confinement
        self._worker: Worker | None = None
        self._serves: tuple[Limits, list[str]] | None = None  # the limits and packages that the worker was started with
        self._results: queue.Queue[tuple[int, CheckRun]] = queue.Queue()
        self._number = 0
        self.busy = False

    def begin(self, notebook: Path) -> None:
        """Start to check ``notebook`` as it is now. A check in progress is canceled.

        Raises ``SandboxUnavailable`` if the confinement does not work here.
        """
        serves = limits, packages = _limits(notebook), packages_for([notebook])
        if self.busy or self._worker is None or serves != self._serves:
            self.stop()
            with asking_for_unsafe_local([notebook]):
                self._worker, self._serves = open_worker(limits, packages, confinement=self._confinement), serves
        self._number += 1
        self.busy = True
        arguments = self._number, notebook, self._worker, limits
        threading.Thread(target=self._check, args=arguments, daemon=True).start()

    def result(self) -> CheckRun | None:
        """Return the result when it is ready, and None otherwise."""
        while not self._results.empty():
            number, run = self._results.get_nowait()
            if number == self._number:
                self.busy = False  # the worker stays for the next check
                return run
        return None

    def stop(self) -> None:
        """Stop the check in progress, even in an endless loop, and end the worker."""
        if self._worker is not None:
            self._worker.close()
        self._worker, self.busy = None, False

    def _check(self, number: int, notebook: Path, worker: Worker, limits: Limits) -> None:
        try:
            run = _run(notebook, worker, limits)
        except (NotebookError, ExamplesError) as error:
            run = CheckRun(error=_not_to_submit(error))
        except Exception as error:  # noqa: BLE001 - whatever happens, the next save is checked again
            run = CheckRun(error=crash("Checking this notebook", error))
        self._results.put((number, run))


def _limits(notebook: Path) -> Limits:
    """Return limits with the same time limit for calls that ``check`` uses in the notebook."""
    try:
        return Limits(call_seconds=examples_for(notebook).call_seconds)
    except ExamplesError:  # the check itself reports this problem
        return Limits()


def _run(notebook: Path, worker: Worker, limits: Limits) -> CheckRun:
    examples, read = examples_for(notebook), read_notebook(notebook)
    # Skip cells that only draw. Nobody sees their pictures here, and importing matplotlib takes longer than all checks.
    cells = [cell for cell in read.code_cells() if not cell.optional]
    verdict = check_cells(notebook, cells, examples, worker.open, limits=limits)
    code = {name: "\n".join(cell.source for cell in read.stubs(name)) for name in examples.exercises}
    return CheckRun(examples, {exercise.name: exercise for exercise in verdict.exercises}, code)

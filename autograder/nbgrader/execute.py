"""Run the notebooks of standard nbgrader courses, whose checks are asserts in cells, in the sandbox.

nbgrader computes the marks by its own rules.
"""

from __future__ import annotations

import ast
import atexit
import functools
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader.preprocessors import Execute
from traitlets import Enum, Float, Integer, List, Unicode

from autograder.grading.document import write_outcomes
from autograder.sandbox import Worker, open_worker
from autograder.sandbox.packages import PackageMissing, top_level_paths
from autograder.sandbox.protocol import CodeCell, Limits

__all__ = ["CannotExecuteError", "ExecuteConfined"]

_HARMLESS = frozenset({"matplotlib", "config", "load_ext", "reload_ext", "autoreload", "precision"})  # skipped magics
_PYTHON_MAGICS = frozenset({"time", "timeit", "prun", "capture"})  # the rest of the line or cell is Python and is run
_MAX_FILES = 1000
# Only one part of each alternative matches leading white space. With two adjacent parts, a long blank line would take quadratic time.
_GIVEN = r"(?:[\w\s,.*()\[\]]+=\s*|\s*)"
_SHELL, _MAGIC = re.compile(_GIVEN + "!"), re.compile(_GIVEN + r"%(\w+)")


class CannotExecuteError(Exception):
    """Raised if a notebook cannot be run as intended. nbgrader logs the reason, continues with the next notebook, and exits with an error."""


class ExecuteConfined(Execute):
    """A preprocessor that runs a notebook's cells in the sandbox and records their outputs. It replaces nbgrader's ``Execute``.

    The settings of ``Execute`` apply here too: ``timeout``, ``interrupt_on_timeout``, ``error_on_timeout`` and
    ``enabled`` (the option ``--no-execute``).
    """

    confinement = Enum(
        ["auto", "bubblewrap", "landlock"], "auto", help="The sandbox for students' code. It cannot be turned off."
    ).tag(config=True)
    packages = List(
        Unicode(),
        ["numpy", "matplotlib"],
        help="The packages that notebooks may import, including their dependencies. The standard library and the files next to a "
        "notebook are always available.",
    ).tag(config=True)
    notebook_seconds = Float(600.0, help="How many seconds one notebook may take in total.").tag(config=True)
    memory_mb = Integer(2048, help="How much memory a notebook may use, in MiB.").tag(config=True)
    files_mb = Integer(
        64, help="How much space the files next to a notebook and the files that it writes may take, in MiB."
    ).tag(config=True)

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any], _manager: object = None
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Return the notebook with the outputs of its cells.

        Raises ``CannotExecuteError`` if its language is not Python, or if a locked cell uses something that the sandbox lacks,
        and ``SandboxUnavailable`` if there is no sandbox.
        """
        _require_python(nb, self.kernel_name)
        _require_no_shell(nb)
        to_run = _to_run(nb, self.skip_cells_with_tag)
        cells = [CodeCell(index, _name_of(index, cell), cell.source) for index, cell in to_run]
        folder = Path(resources.get("metadata", {}).get("path") or ".")
        files = _files_beside(folder, self.files_mb << 20)
        worker = _worker(self.confinement, tuple(self.packages), self._limits())
        if files and worker.sandbox == "bubblewrap" and not worker.nested:
            raise CannotExecuteError(
                "This kernel does not allow nested sandboxes, so the notebook cannot use the files next to it. "
                "Run `autograder doctor` for details, or try c.ExecuteConfined.confinement = 'landlock'."
            )
        environment = {name: value for name, value in os.environ.items() if name.startswith("NBGRADER_")}
        with closing(worker.open(cells, files=files, environment=environment)) as session:
            outcomes = session.cells
        write_outcomes(nb, outcomes)
        for outcome in outcomes:
            if outcome.stopped == "timeout":
                self._say_timeout(nb, outcome.index)
        return nbformat.from_dict(nb), resources

    def _limits(self) -> Limits:
        seconds = self.timeout if self.timeout and self.timeout > 0 else self.notebook_seconds
        return Limits(
            cell_seconds=min(float(seconds), self.notebook_seconds),
            waiting=1.0,  # as in nbgrader, a cell that sleeps is stopped after `timeout` seconds
            submission_seconds=self.notebook_seconds,
            memory_mb=self.memory_mb,
            disk_mb=self.files_mb,
            output_kb=256,
        )

    def _say_timeout(self, nb: NotebookNode, index: int) -> None:
        """Replace a cell's last output with nbgrader's timeout error. If nbgrader is configured to stop instead, raise ``CannotExecuteError``."""
        if not self.interrupt_on_timeout:
            late = f"Cell {index + 1} ran longer than {self.timeout} seconds"
            raise CannotExecuteError(f"{late}, and Execute.interrupt_on_timeout is off.")
        error = {"ename": "CellTimeoutError", "evalue": "", "traceback": []} | (self.error_on_timeout or {})
        nb.cells[index].outputs[-1] = {"output_type": "error", **error}


def _require_python(nb: NotebookNode, kernel: str) -> None:
    spec, info = nb.metadata.get("kernelspec", {}), nb.metadata.get("language_info", {})
    name = kernel or spec.get("name", "")
    language = "" if kernel else spec.get("language", "") or info.get("name", "")
    if (language or name or "python").lower().startswith(("python", "ipython")):
        return
    raise CannotExecuteError(
        f"This notebook's kernel {name or '(unnamed)'!r} uses {language or 'an unnamed language'}. Only Python "
        "can run in the sandbox. Grade this assignment with nbgrader's own Execute, on a machine without important data."
    )


def _require_no_shell(nb: NotebookNode) -> None:
    """Reject a notebook whose locked cells need magics that the sandbox does not run. Skipping these magics would affect the marks."""
    for index, cell in enumerate(nb.cells):
        meta = cell.metadata.get("nbgrader", {})
        locked = not meta.get("solution", False) and (meta.get("grade", False) or meta.get("locked", False))
        if cell.cell_type == "code" and locked and (found := _beyond_python(cell.source)):
            raise CannotExecuteError(
                f"The locked {_name_of(index, cell)} uses {found}, which the sandbox does not run. Write it in plain Python, "
                "or grade this assignment with nbgrader's own Execute."
            )


def _beyond_python(source: str) -> str:
    """Return the first magic or shell escape in ``source`` that the sandbox does not run, or "" if there is none."""
    if found := re.match(r"\s*%%(\w*)", source):
        return "" if found[1] in _PYTHON_MAGICS else f"%%{found[1]}"
    try:
        compile(source, "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        for line in source.splitlines():
            if _SHELL.match(line):
                return f"the shell escape {line.strip()[:60]!r}"
            magic = _MAGIC.match(line)
            if magic and magic[1] not in _HARMLESS | _PYTHON_MAGICS:
                return f"%{magic[1]}"
        return ""
    return ""


def _to_run(nb: NotebookNode, skipped_tag: str) -> Iterator[tuple[int, NotebookNode]]:
    """Yield the cells that nbclient would execute, with their indices."""
    for index, cell in enumerate(nb.cells):
        tags = cell.metadata.get("tags", [])
        if cell.cell_type == "code" and cell.source.strip() and not (skipped_tag and skipped_tag in tags):
            yield index, cell


def _name_of(index: int, cell: NotebookNode) -> str:
    grade_id = cell.metadata.get("nbgrader", {}).get("grade_id", "")
    return f"cell {grade_id!r}" if grade_id else f"cell {index + 1}"


def _files_beside(folder: Path, room: int) -> dict[str, bytes]:
    """Return the files in ``folder`` by relative path. Notebooks (which may contain hidden tests) and links are left out."""
    files: dict[str, bytes] = {}
    used = 0
    for path in sorted(folder.rglob("*")):
        is_linked = any(part.is_symlink() for part in (path, *path.parents) if folder in part.parents)
        if path.suffix == ".ipynb" or not path.is_file() or is_linked:
            continue
        used += path.stat().st_size
        if used > room or len(files) >= _MAX_FILES:
            raise CannotExecuteError(
                f"{folder} has more than {room >> 20} MiB or {_MAX_FILES} files in addition to the notebook. Remove the files "
                "that are not needed, or raise c.ExecuteConfined.files_mb."
            )
        files[path.relative_to(folder).as_posix()] = path.read_bytes()
    return files


@functools.cache
def _worker(confinement: Any, packages: Sequence[str], limits: Limits) -> Worker:
    """Return a worker that the whole command shares, because starting a worker takes longer than running most notebooks."""
    try:
        top_level_paths(packages)
    except PackageMissing as error:
        raise CannotExecuteError(
            f"c.ExecuteConfined.packages lists {', '.join(packages)}, but one of these packages is not installed here. "
            "Install it in nbgrader's environment, or remove it from the list."
        ) from error
    # The sandbox itself needs NumPy.
    worker = open_worker(limits, list(dict.fromkeys(["numpy", *packages])), confinement=confinement)
    atexit.register(worker.close)
    return worker

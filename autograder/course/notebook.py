"""Split submitted notebook files into cells and exercises, and insert code into stub cells.

The JSON is read directly, because importing nbformat takes a second and its validation rejects files that can be graded.
"""

from __future__ import annotations

import atexit
import copy
import json
import math
import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal

from autograder.base import attempt
from autograder.base.errors import CourseError
from autograder.base.foreign import Json
from autograder.sandbox.guest.wire_limits import nested_deeper
from autograder.sandbox.protocol import CodeCell, encoded_size

__all__ = [
    "COPIES", "MAY_FAIL", "NOT_DRAWN", "PICTURE", "Cell", "Notebook", "NotebookError", "at_home", "blank_exercises", "cell_of", "document_bytes",
    "files_beside", "grade_ids", "hidden_files", "insert_code", "load_document", "load_source", "metadata_of", "notebook_of",
    "other_notebooks", "parse_notebook", "picture_in_words", "read_bytes", "read_notebook", "text_of",
]  # fmt: skip

MAX_BYTES = 256 * 2**20
MAX_CELLS = 25_000
MAX_CODE = 1 << 20  # the largest ``encoded_size``: more than anybody writes in a chapter, but parsed within seconds
MAX_PARTS = 5_000_000  # lists, entries and items. In memory, each takes up to a hundred times its length in the file.
MAX_NESTING = 420  # levels of JSON. Copying takes two calls per level, and Python's recursion limit is 1000.
Role = Literal["stub", "check"]
PICTURE = "picture"  # the tag of cells that only draw a picture
MAY_FAIL = "raises-exception"  # the Jupyter tag of a cell that is meant to show an error
NOT_DRAWN = "This cell's picture is missing: the notebook was submitted without it, and grading does not run this cell. Run the cell to see the picture."
MAX_WORDS = 2000  # the description of a picture is at most this many characters of the text below it
_IN_WORDS = ("**What the picture shows.**", "**Move it.**")  # the possible beginnings of that text
COPIES = ExitStack()  # removes the folders of ``at_home`` when it is closed
atexit.register(COPIES.close)


class NotebookError(Exception):
    """Raised if a file cannot be used as a notebook. The message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a notebook.

    Attributes:
        index: the position in the notebook, from 0.
        kind: Jupyter's cell type, such as ``"code"``.
        grade_id: nbgrader's name for the cell, or None.
        role: ``"stub"`` for a cell that the student fills in, ``"check"`` for the graded cell after a stub, otherwise None.
        points: the points in nbgrader's metadata, or None if the cell is not graded.
        tags: Jupyter's cell tags.
        id: Jupyter's id of the cell, or ``""``.
    """

    index: int
    kind: str
    source: str
    grade_id: str | None = None
    role: Role | None = None
    points: float | None = None
    tags: tuple[str, ...] = ()
    id: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Notebook:
    """The cells of a notebook in order, and the chapter named in its metadata, if any."""

    cells: tuple[Cell, ...]
    chapter: str | None = None
    path: Path | None = field(default=None, compare=False)

    def code_cells(self) -> list[CodeCell]:
        """Return the cells to run for grading: all code cells in order except the graded check cells.

        A cell's name is its grade id, or ``cell N`` with the number that "Restart and run all" would give the cell.
        """
        code = [cell for cell in self.cells if cell.kind == "code"]
        pictures = self.pictures()
        return [
            CodeCell(cell.index, cell.grade_id or f"cell {number}", cell.source, optional=cell.index in pictures)
            for number, cell in enumerate(code, start=1)
            if cell.role != "check"
        ]

    def pictures(self) -> frozenset[int]:
        """Return the positions of the cells tagged ``picture`` that define no name used in another code cell."""
        code = [cell for cell in self.cells if cell.kind == "code" and cell.role != "check"]
        defined = {c.index: attempt.defined_names(c.source) for c in code if PICTURE in c.tags and c.role is None}
        names = frozenset().union(*(own for own in defined.values() if own))
        # Count the cells that mention each name. Each cell is read once, however many copies of a picture there are.
        mentions = Counter(word for cell in code if names for word in names & attempt.identifiers_in(cell.source))
        # The cell that defines a name mentions it as well.
        return frozenset(i for i, own in defined.items() if own is not None and all(mentions[n] == 1 for n in own))

    def anchor(self, exercise: str) -> str:
        """Return the id of the Markdown cell directly above the stub of ``exercise``, else the stub's id, or "" if there is no stub."""
        stub = next(iter(self.stubs(exercise)), None)
        above = self.cells[stub.index - 1] if stub is not None and stub.index else None
        return above.id if above is not None and above.kind == "markdown" else stub.id if stub is not None else ""

    def stubs(self, exercise: str) -> list[Cell]:
        """Return the stub cells of ``exercise`` in order. There are several if the cell was copied."""
        return [cell for cell in self.cells if cell.role == "stub" and cell.grade_id == exercise]

    def stub(self, exercise: str) -> Cell | None:
        """Return the stub cell of ``exercise``, or None. If the cell was copied, the last copy counts."""
        stubs = self.stubs(exercise)
        return stubs[-1] if stubs else None

    def exercises(self) -> list[str]:
        """Return the names of the exercises with a stub cell in this notebook, in order and without duplicates."""
        return list(dict.fromkeys(c.grade_id for c in self.cells if c.role == "stub" and c.grade_id))

    def manual_points(self) -> float:
        """Return the points for written answers and nbgrader's tasks, which are graded manually."""
        return sum(cell.points or 0 for cell in self.cells if cell.role != "check")


def read_notebook(path: Path) -> Notebook:
    """Return the notebook in the file ``path``. Raises ``NotebookError`` if it cannot be graded."""
    return parse_notebook(read_bytes(path), path)


def read_bytes(path: Path) -> bytes:
    """Return the bytes of the file ``path``. Raises ``NotebookError`` if it cannot be read or is too large."""
    try:
        if path.is_dir():
            raise NotebookError(f"{path} is a folder, not a notebook. Give the path of the .ipynb file in it.")
        if not path.is_file():  # reading a fifo or a device would never end
            if path.parent.is_file():
                raise NotebookError(f"{path.parent.name} is a file, not a folder with a notebook in it.")
            if path.exists():
                raise NotebookError(f"{path.name} is not a regular file, so it was not opened.")
            raise NotebookError(f"There is no file {path.name}. Nothing was submitted under that name.")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise NotebookError(f"{path.name} cannot be read: {error.strerror or error}.") from error
    if len(data) > MAX_BYTES:
        raise NotebookError(
            f"{path.name} is larger than {MAX_BYTES // 2**20} MB. "
            "Open it, choose “Clear Outputs of All Cells”, save it and submit it again."
        )
    return data


def other_notebooks(path: str) -> list[str]:
    """Return the other notebook files in the folder of ``path``, sorted by name. The result is empty if the folder cannot be read.

    Paths are strings here, because ``Path`` objects are slower and a large class has tens of thousands of paths.
    """
    folder, _, own = path.rpartition("/")
    try:
        names = os.listdir(folder)  # noqa: PTH208
    except OSError:
        return []
    return [f"{folder}/{name}" for name in sorted(names) if name.endswith(".ipynb") and name != own]


def parse_notebook(data: bytes, path: Path | None = None) -> Notebook:
    """Return the notebook written in ``data``. Raises ``NotebookError`` if it cannot be graded.

    Stored outputs, unknown cell types, missing ids and unexpected metadata are ignored.
    """
    return notebook_of(load_document(data, path), path)


def load_document(data: bytes, path: Path | None = None) -> dict[str, Json]:
    """Return the notebook in ``data`` as JSON with a list of cells. Raises ``NotebookError`` if ``data`` is not a notebook."""
    name = path.name if path else "The file"
    content = _load(data, name)
    version = content.get("nbformat", 4) if isinstance(content.get("nbformat"), int) else 4
    if isinstance(content.get("worksheets"), list) or version < 4:
        raise NotebookError(
            f"{name} uses a notebook format from 2014 or earlier (nbformat {version}). Convert it with: "
            f"jupyter nbconvert --to notebook --nbformat 4 --inplace {name if path else 'FILE.ipynb'}"
        )
    if not isinstance(content.get("cells"), list):
        raise NotebookError(
            f"{name} is JSON but not a notebook: it has no list of cells. Submit the .ipynb file that Jupyter saved."
        )
    _require_size(content["cells"], name)
    return content


def load_source(path: Path) -> tuple[dict[str, Json], Notebook]:
    """Return a chapter's source notebook as JSON and as a ``Notebook``. Raises ``CourseError`` if the file cannot be used."""
    try:
        document = load_document(read_bytes(path), path)
        return document, notebook_of(document, path)
    except NotebookError as error:
        why = str(error).partition(". ")[0]  # the rest is advice for students
        raise CourseError(f"The chapter's own notebook {path} cannot be used: {why.rstrip('.')}.") from error


def notebook_of(document: Mapping[str, Json], path: Path | None = None) -> Notebook:
    """Return the notebook in ``document``, which is the result of ``load_document``. Raises ``NotebookError`` if it has no code."""
    parsed = tuple(cell_of(index, cell) for index, cell in enumerate(document["cells"]))
    if not any(cell.kind == "code" for cell in parsed):
        name = path.name if path else "The file"
        raise NotebookError(f"{name} has no code cells, so there is nothing to grade. Is it the right notebook?")
    named = metadata_of(document).get("chapter")
    return Notebook(parsed, chapter=named if isinstance(named, str) else None, path=path)


def grade_ids(document: Mapping[str, Json]) -> frozenset[str]:
    """Return the grade ids of a document's cells."""
    cells = (cell_of(index, cell) for index, cell in enumerate(document["cells"]))
    return frozenset(cell.grade_id for cell in cells if cell.grade_id)


def files_beside(path: Path) -> list[Path]:
    """Return the files that are released with the notebook at ``path``.

    These are all files in its folder except notebooks, hidden files and links that lead out of the folder.
    """
    return [
        p
        for p in sorted(path.parent.rglob("*"))
        if p.suffix != ".ipynb"
        and p.is_file()
        and not any(part.startswith(".") or part == "__pycache__" for part in p.relative_to(path.parent).parts)
        and p.resolve().is_relative_to(path.parent.resolve())
    ]


def hidden_files(checks: Path) -> list[Path]:
    """Return the files that exist only during grading: all files in the folder next to ``checks`` that is named after the chapter."""
    folder = checks.with_name(checks.stem.removeprefix("test_"))
    return [p for p in sorted(folder.rglob("*")) if p.is_file() and "__pycache__" not in p.parts]


@contextmanager
def at_home(names: Mapping[str, object] | None) -> Iterator[None]:
    """Run code from a course's solutions in a copy of the chapter's notebook folder. ``names`` is the code's global namespace.

    The copy also contains the chapter's hidden files. Code from elsewhere, such as a student's notebook, runs in the current folder.
    """
    folder = _copied_folder(str((names or {}).get("__file__", "")))
    if not folder:
        yield
        return
    before = os.getcwd()  # noqa: PTH109 - called for each call of a reference
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@lru_cache(maxsize=256)
def _copied_folder(solutions: str) -> str:
    path = Path(solutions)
    root = next((p.parent for p in path.parents[:2] if p.name == "solutions"), None)
    if root is None or not (source := root / "source" / path.stem / f"{path.stem}.ipynb").is_file():
        return ""
    checks = root / "tests" / "chapters" / f"test_{path.stem}.py"
    files = [(p, p.relative_to(source.parent)) for p in files_beside(source)]
    files += [(p, p.relative_to(checks.with_name(path.stem))) for p in hidden_files(checks)]
    if not files and not _WRITES.search(path.read_text(encoding="utf-8")):
        return ""
    folder = tempfile.mkdtemp(prefix="autograder-solutions-")
    COPIES.callback(shutil.rmtree, folder, ignore_errors=True)
    for file, name in files:
        Path(folder, name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, folder / name)
    return folder


_WRITES = re.compile(r"\bopen\(|\.(?:write|save|to)\w*\(|\bconnect\(")


def metadata_of(document: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the framework's own entry in a notebook's metadata."""
    return _mapping(_mapping(document.get("metadata")).get("autograder"))


def document_bytes(document: Mapping[str, Json]) -> bytes:
    """Return a notebook's JSON with one cell per line. This is much faster than indenting, and versions can still be compared with ``diff``."""
    cells = ",\n  ".join(_encode(cell) for cell in document.get("cells", ()))
    rest = "".join(f',\n "{key}": {_encode(value)}' for key, value in document.items() if key != "cells")
    # JSON can contain lone surrogates, which have no UTF-8 encoding.
    return f'{{\n "cells": [\n  {cells}\n ]{rest}\n}}\n'.encode("utf-8", "replace")


_encode = json.JSONEncoder(ensure_ascii=False).encode


def insert_code(notebook_data: Mapping[str, Json], code: Mapping[str, str]) -> dict[str, Json]:
    """Return a copy of a notebook's JSON with ``code[exercise]`` in the stub cell of each given exercise.

    Outputs are cleared, because they came from the old code. Raises ``NotebookError`` if a stub cell is missing.
    """
    result: dict[str, Json] = copy.deepcopy(dict(notebook_data))
    missing = set(code)
    for index, cell in enumerate(result.get("cells", [])):
        parsed = cell_of(index, cell)
        if parsed.role == "stub" and parsed.grade_id is not None and parsed.grade_id in code:
            missing.discard(parsed.grade_id)
            cell["source"] = code[parsed.grade_id]
        if parsed.kind == "code":
            cell["outputs"], cell["execution_count"] = [], None
    if missing:
        raise NotebookError(f"The notebook has no stub cell called {', '.join(sorted(missing))}.")
    return result


def blank_exercises(submitted: Notebook, released: Notebook) -> frozenset[str]:
    """Return the exercises of ``released`` that the student has not begun in any cell of ``submitted``."""
    handed_out = {cell.source for cell in released.cells if cell.role != "stub"}
    code = [c for c in submitted.cells if c.kind == "code" and c.role != "check" and c.source not in handed_out]
    blank = []
    for exercise in released.exercises():
        stub = released.stub(exercise)
        own = [cell.source for cell in submitted.stubs(exercise)]
        others = [cell.source for cell in code if cell.grade_id != exercise]
        if not attempt.is_attempted(exercise, stub.source if stub else None, own, others):
            blank.append(exercise)
    return frozenset(blank)


def _load(data: bytes, name: str) -> dict[str, Json]:
    if not data.strip():
        raise NotebookError(f"{name} is empty. Save the notebook in Jupyter and submit it again.")
    if sum(map(data.count, (b"[", b"{", b","))) > MAX_PARTS:
        raise NotebookError(
            f"{name} contains more than {MAX_PARTS // 10**6} million lists and items, which would take gigabytes to read. "
            "Open it, choose “Clear Outputs of All Cells”, save it and submit it again."
        )
    if nested_deeper(data, MAX_NESTING):
        raise NotebookError(f"{name} is not a notebook: its JSON has lists nested more than {MAX_NESTING} levels deep.")
    try:
        content = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise NotebookError(
            f"{name} is not UTF-8 text (byte {error.start}), so Jupyter did not save it in this form. "
            "Submit the .ipynb file itself, not a compressed or converted copy."
        ) from error
    except json.JSONDecodeError as error:
        raise NotebookError(
            f"{name} is not a valid notebook (JSON error in line {error.lineno}: {error.msg}). It may be truncated "
            "or contain merge-conflict markers. Repair it in Jupyter, save it and submit it again."
        ) from error
    except ValueError as error:
        what = type(error).__name__
        raise NotebookError(f"{name} is not a notebook: its JSON cannot be read ({what}).") from error
    return content if isinstance(content, dict) else {}


def _require_size(cells: list[Json], name: str) -> None:
    """Raise ``NotebookError`` if there are too many cells, too much code, or too many combining characters on one letter."""
    if len(cells) > MAX_CELLS:
        raise NotebookError(
            f"{name} has {len(cells):,} cells, and the limit is {MAX_CELLS:,}. "
            "Delete the cells that you do not need, save it and submit it again."
        )
    parts = enumerate(map(_mapping, cells), 1)
    code = {number: text_of(cell.get("source")) for number, cell in parts if cell.get("cell_type") == "code"}
    for number, source in code.items():
        if attempt.has_long_run_of_marks(source):
            raise NotebookError(
                f"Cell {number} of {name} has more than {attempt.MAX_MARKS} accents or other combining characters on one letter. No "
                "language needs that many. Delete them, save the notebook and submit it again."
            )
    if sum(map(encoded_size, code.values())) > MAX_CODE:
        raise NotebookError(
            f"{name} contains {sum(map(len, code.values())):,} characters of code. The limit is about {MAX_CODE // 2**20} "
            "million, and brackets, commas and non-ASCII letters count more than once. Does it contain data, "
            "or a cell that was copied many times? Delete such parts, save the notebook and submit it again."
        )


def cell_of(index: int, cell: Json) -> Cell:
    """Return one cell of a notebook's JSON. Invalid parts are ignored."""
    cell = _mapping(cell)
    kind = cell.get("cell_type")
    metadata = _mapping(cell.get("metadata"))
    nbgrader, tags = _mapping(metadata.get("nbgrader")), metadata.get("tags")
    grade_id = nbgrader.get("grade_id")
    grade_id = grade_id if isinstance(grade_id, str) and grade_id else None
    role: Role | None = None
    if grade_id and nbgrader.get("solution") is True:
        role = "stub"
    elif grade_id and nbgrader.get("grade") is True:
        role = "check"
    return Cell(
        index=index,
        kind=kind if isinstance(kind, str) else "unknown",
        source=text_of(cell.get("source")),
        grade_id=text_of(grade_id) if grade_id else None,
        role=role,
        points=_points(nbgrader.get("points")) if True in (nbgrader.get("grade"), nbgrader.get("task")) else None,
        tags=tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else (),
        id=text_of(cell.get("id")),
    )


def text_of(source: Json) -> str:
    """Return the text in ``source``, which is a string or a list of lines from a notebook's JSON. Any other value becomes ``""``."""
    if isinstance(source, list):
        try:
            source = "".join(source)
        except TypeError:
            source = "".join(line for line in source if isinstance(line, str))
    # JSON can contain lone surrogates, which later code could not write.
    if not isinstance(source, str):
        return ""
    return source if source.isascii() else source.encode("utf-8", "replace").decode()


def picture_in_words(below: Json) -> str:
    """Return a picture's description from the cell ``below`` the picture, without Markdown, or ``""`` if there is none."""
    source = cell_of(0, below).source
    return re.sub(r"[*`$]", "", source[:MAX_WORDS]).strip() if source.startswith(_IN_WORDS) else ""


def _points(points: Json) -> float | None:
    if isinstance(points, bool) or not isinstance(points, int | float):
        return None
    with suppress(OverflowError):
        return float(points) if math.isfinite(points) else None
    return None


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}

"""Build the graded notebook from the student's cells, the course's locked cells and the outputs.

nbgrader's own steps do this too. However, they stop the whole batch at a copied cell, and they ignore a deleted check cell.
"""

from __future__ import annotations

import base64
import binascii
import copy
import hashlib
import re
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from autograder.base.formatting import points
from autograder.base.sanitize import sanitize
from autograder.base.verdict import ExerciseVerdict
from autograder.course.course import Course
from autograder.course.notebook import (
    NOT_DRAWN,
    PICTURE,
    Cell,
    Notebook,
    cell_of,
    files_beside,
    hidden_files,
    load_source,
    metadata_of,
    notebook_of,
    picture_in_words,
    text_of,
)
from autograder.pages import Card, card_html, card_text
from autograder.sandbox.protocol import CellOutcome, CodeCell

__all__ = [
    "ReleasedNotebook", "checksum", "kept_pictures", "restore_cells", "without_picture", "write_outcomes",
    "write_verdict",
]  # fmt: skip

# Output types that may reach an instructor's browser. None of them is active content.
_SAFE = {"text/plain", "text/latex", "image/png", "image/jpeg"}
_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
_STOPPED = {
    "skipped": "This cell was skipped because an earlier cell had to be stopped.",
    "timeout": "This cell ran out of time and was stopped.",
    "memory": "This cell used more memory than allowed and was stopped.",
    "threads": "This cell started more threads than allowed and was stopped.",
    "crash": "This cell crashed Python.",
    "protocol": "This cell broke the connection to the grader and was stopped.",
}

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_MAX_BYTES = 1 << 20
_MAX_SIDE = 4096  # pixels. A larger picture in a small file could need gigabytes in a browser
_MAX_OUTPUTS = 24


Document = Mapping[str, Any]
NO_FILES: Mapping[str, bytes] = {}


class ReleasedNotebook:
    """A chapter's notebook as it was released, read once per class.

    Attributes:
        cells: each cell and its JSON by grade id.
        pictures: the sources of the cells that only draw pictures.
        files: the contents, by path, of the files that the notebook mentions and of the hidden files.
    """

    def __init__(
        self, document: Mapping[str, Any], notebook: Notebook | None = None, files: Mapping[str, bytes] = NO_FILES
    ) -> None:
        self.document, self.files = document, files
        self.notebook = notebook or notebook_of(document)
        parsed = list(zip(self.notebook.cells, document["cells"], strict=True))
        self.cells = {cell.grade_id: (cell, raw) for cell, raw in parsed if cell.grade_id}
        self.pictures = frozenset(cell.source for cell, _ in parsed if PICTURE in cell.tags)

    @classmethod
    def of(cls, course: Course, chapter: str) -> ReleasedNotebook:
        """Return the notebook of a course's chapter. Raises ``CourseError`` if it cannot be used."""
        path = course.source(chapter)
        document, notebook = load_source(path)
        files = {str(p.relative_to(path.parent)): p.read_bytes() for p in _mentioned(path, notebook)}
        checks = course.checks(chapter)
        files |= {str(p.relative_to(checks.with_name(chapter))): p.read_bytes() for p in hidden_files(checks)}
        return cls(document, notebook, files)


def _mentioned(path: Path, notebook: Notebook) -> list[Path]:
    """Return the files next to the notebook at ``path`` that its text mentions or its code imports."""
    text = "\n".join(cell.source for cell in notebook.cells)
    code = "\n".join(cell.source for cell in notebook.cells if cell.kind == "code")
    return [p for p in files_beside(path) if p.name in text or (p.suffix == ".py" and p.stem in code)]


def restore_cells(submitted: Mapping[str, Any], released: ReleasedNotebook) -> dict[str, Any]:
    """Return a well-formed notebook with the student's cells, the released metadata and no outputs.

    Locked cells get their released source back. The last copy of a duplicate cell keeps the grade id. A deleted check cell is put back
    below its stub or at the end, so that its mark can be entered.
    """
    known = released.cells
    raws = list(submitted.get("cells", []))
    parsed = [cell_of(index, raw) for index, raw in enumerate(raws)]
    cells = [_plain(cell, raw) for cell, raw in zip(parsed, raws, strict=True)]
    for cell in cells:
        # Picture cells are recognized by their source, because the student's metadata cannot be trusted.
        if cell["cell_type"] == "code" and cell["source"] in released.pictures:
            cell["metadata"] = {"tags": [PICTURE]}
    seen: set[str] = set()
    for cell, was in zip(reversed(cells), reversed(parsed), strict=True):
        if was.grade_id and was.grade_id in known and was.grade_id not in seen:
            seen.add(was.grade_id)
            _take_over(cell, *known[was.grade_id])
    for grade_id, (original, source) in known.items():
        if grade_id not in seen and original.role == "check":
            _put_back(cells, grade_id, original, source)
    used: set[str] = set()
    for index, cell in enumerate(cells):
        number = index
        while not cell["id"] or cell["id"] in used:
            cell["id"], number = f"cell-{number}", number + len(cells)
        used.add(cell["id"])
    metadata = copy.deepcopy(dict(released.document.get("metadata", {})))
    # Record only released grade ids, because a student's metadata may contain any text.
    twice = [name for name in _copied(parsed, submitted) if name in known]
    if twice:
        metadata["autograder"] = {**metadata.get("autograder", {}), "copied": twice}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": cells}


def _copied(cells: Iterable[Cell], document: Mapping[str, Any]) -> list[str]:
    """Return the duplicate grade ids, including those found by an earlier call (nbgrader's steps call ``restore_cells`` too)."""
    seen = Counter(cell.grade_id for cell in cells if cell.role)
    noted = metadata_of(document).get("copied", [])
    noted = [name for name in noted if isinstance(name, str)] if isinstance(noted, list) else []
    return list(dict.fromkeys([*noted, *(name for name, count in seen.items() if name and count > 1)]))


def write_outcomes(document: dict[str, Any], outcomes: Iterable[CellOutcome]) -> None:
    """Write the outputs of the cells into ``document``. The text below a picture becomes its description."""
    for count, outcome in enumerate(outcomes, start=1):
        cell = document["cells"][outcome.index]
        if cell["cell_type"] == "code":
            cell["execution_count"] = count
            cell["outputs"] = _outputs(outcome, count)
            words = picture_in_words(next(iter(document["cells"][outcome.index + 1 :][:1]), None))
            for output in cell["outputs"] if words else ():
                if data := output.get("data"):
                    output["metadata"] = {mime: {"alt": words} for mime in data if mime.startswith("image/")}


def write_verdict(document: dict[str, Any], exercises: Iterable[ExerciseVerdict]) -> None:
    """Write each exercise's verdict into its check cell in ``document``.

    nbgrader reads the score of a cell from its first result. So the first output has only the number, and the second output has the message.
    """
    by_name = {exercise.name: exercise for exercise in exercises}
    for index, cell in enumerate(document["cells"]):
        if "nbgrader" not in cell["metadata"]:
            continue
        parsed = cell_of(index, cell)
        exercise = by_name.get((parsed.grade_id or "").removeprefix("check_"))
        if parsed.role != "check" or exercise is None:
            continue
        score = min(max(float(exercise.score), 0.0), parsed.points or 0.0)
        shown = f"<strong>{points(exercise.score, exercise.max_score)}</strong>"
        card = Card(exercise, graded=True)
        cell["outputs"] = [
            _output("execute_result", {"text/plain": repr(score), "text/html": shown}, execution_count=None),
            _output("display_data", {"text/plain": card_text(card), "text/html": card_html(card)}),
        ]


def checksum(cell: Mapping[str, Any]) -> str:
    """Return the checksum that nbgrader gives a cell, from its source, type, role, grade id and points."""
    meta = cell["metadata"]["nbgrader"]
    grade, solution = bool(meta.get("grade", False)), bool(meta.get("solution", False))
    locked = not solution and (grade or bool(meta.get("locked", False)))
    parts = [cell["source"], cell["cell_type"], str(grade), str(solution), str(locked), meta["grade_id"]]
    if grade:
        parts.append(str(float(meta["points"] if isinstance(meta.get("points"), int | float) else 0)))
    return hashlib.md5("".join(parts).encode(), usedforsecurity=False).hexdigest()


def _plain(parsed: Cell, raw: Any) -> dict[str, Any]:
    own_id = raw.get("id") if isinstance(raw, dict) else None
    cell: dict[str, Any] = {
        "cell_type": parsed.kind if parsed.kind in {"code", "markdown"} else "raw",
        "id": own_id if isinstance(own_id, str) and _ID.match(own_id) else "",
        "metadata": {},
        "source": parsed.source,
    }
    if parsed.kind == "code":
        cell |= {"outputs": [], "execution_count": None}
    return cell


def _take_over(cell: dict[str, Any], original: Cell, released: Mapping[str, Any]) -> None:
    """Give a submitted cell the type and metadata of the released cell, and its source if the cell is locked."""
    cell["metadata"] = copy.deepcopy(released["metadata"])
    meta = cell["metadata"]["nbgrader"]
    if cell["cell_type"] != original.kind:
        cell["cell_type"] = original.kind
        cell.pop("outputs", None)
        cell.pop("execution_count", None)
        if original.kind == "code":
            cell |= {"outputs": [], "execution_count": None}
    meta["checksum"] = checksum({**cell, "source": original.source})
    meta["cell_type"] = original.kind
    if not meta.get("solution") and (meta.get("grade") or meta.get("locked")):
        cell["source"] = original.source


def _put_back(cells: list[dict[str, Any]], grade_id: str, original: Cell, released: Mapping[str, Any]) -> None:
    cell = _plain(original, released)
    _take_over(cell, original, released)
    stub = grade_id.removeprefix("check_")
    places = [i for i, c in enumerate(cells) if c["metadata"].get("nbgrader", {}).get("grade_id") == stub]
    cells.insert(places[-1] + 1 if places else len(cells), cell)


def _outputs(outcome: CellOutcome, count: int) -> list[dict[str, Any]]:
    outputs = [safe for safe in (_safe(output, count) for output in outcome.outputs) if safe is not None]
    failed = any(output["output_type"] == "error" for output in outputs)
    if outcome.error is not None and not failed:
        name, message = sanitize(outcome.error.type), sanitize(outcome.error.message)
        line = [f"line {outcome.error.lineno}: {sanitize(outcome.error.line).strip()}"] if outcome.error.lineno else []
        outputs.append(_error(name, message, [*line, f"{name}: {message}"]))
    if outcome.stopped:
        message = _STOPPED.get(outcome.stopped, "This cell was stopped.")
        if outcome.at is not None and outcome.at.lineno:
            message += f" It was in line {outcome.at.lineno}, `{sanitize(outcome.at.line).strip()}`."
        outputs.append(_error("Stopped", message, [message]))
    return outputs


def _safe(output: Any, count: int) -> dict[str, Any] | None:
    """Return ``output`` with only valid keys and types, or None if it is invalid. A hostile process may send anything."""
    if not isinstance(output, dict):
        return None
    kind = output.get("output_type")
    if kind == "stream":
        return _stream(output)
    if kind in {"display_data", "execute_result"}:
        bundle = output.get("data")
        if not isinstance(bundle, dict):
            return None
        data = {mime: text_of(bundle[mime]) for mime in sorted(_SAFE & bundle.keys())}
        data = {mime: text if mime.startswith("image/") else sanitize(text) for mime, text in data.items()}
        if not data:
            kinds = sanitize(", ".join(map(str, bundle)))[:60] or "nothing"
            data = {"text/plain": f"(output of type {kinds} is not kept)"}
        return _output(kind, data, **({"execution_count": count} if kind == "execute_result" else {}))
    if kind == "error":
        lines = output.get("traceback")
        traceback = [sanitize(line) for line in lines if isinstance(line, str)] if isinstance(lines, list) else []
        return _error(sanitize(text_of(output.get("ename"))), sanitize(text_of(output.get("evalue"))), traceback)
    return None


def _stream(output: Mapping[str, Any]) -> dict[str, Any]:
    name = "stderr" if output.get("name") == "stderr" else "stdout"
    return {"output_type": "stream", "name": name, "text": sanitize(text_of(output.get("text")))}


def _output(kind: str, data: dict[str, str], **more: Any) -> dict[str, Any]:
    return {"output_type": kind, "data": data, "metadata": {}, **more}


def _error(name: str, message: str, traceback: list[str]) -> dict[str, Any]:
    return {"output_type": "error", "ename": name, "evalue": message, "traceback": traceback}


def kept_pictures(submitted: Document, pictures: Collection[CodeCell], max_text: int) -> dict[int, CellOutcome]:
    """Return the stored outcomes of ``pictures``, by their index in the notebook that will be run.

    Drawing would take most of the time of a submission, and no check depends on the course's own picture cells. So the stored output of
    an unchanged cell is kept. A student could store another image there, but no mark depends on it.

    Args:
        submitted: the submitted notebook with its outputs.
        pictures: the picture cells, on which no other cell depends.
        max_text: how many characters of text a cell may have in its output.
    """
    if not pictures:
        return {}
    wanted = {cell.source for cell in pictures}
    stored: dict[str, deque[Any]] = defaultdict(deque)
    for index, raw in enumerate(submitted["cells"]):
        cell = cell_of(index, raw)
        if cell.kind == "code" and cell.source in wanted and raw.get("outputs"):
            stored[cell.source].append(raw["outputs"])
    kept = {}
    for picture in pictures:
        found = stored[picture.source]
        if found and (outputs := _sane(found.popleft(), max_text)) is not None:
            kept[picture.index] = CellOutcome(picture.index, outputs)
    return kept


def without_picture(index: int) -> CellOutcome:
    """Return the outcome of a picture cell whose stored output is missing or may not be shown."""
    return CellOutcome(index, ({"output_type": "stream", "name": "stdout", "text": f"{NOT_DRAWN}\n"},))


def _sane(outputs: Any, max_text: int) -> tuple[dict[str, Any], ...] | None:
    """Return stored outputs in a form that may be shown, or None if they are too large or contain anything but images and text."""
    if not isinstance(outputs, list) or not 0 < len(outputs) <= _MAX_OUTPUTS:
        return None
    sane: list[dict[str, Any]] = []
    for output in outputs:
        kind = output.get("output_type") if isinstance(output, dict) else None
        if kind == "stream":
            sane.append(_stream(output))
            text = sane[-1]["text"]
        elif kind in {"display_data", "execute_result"} and isinstance(output.get("data"), dict):
            text = sanitize(text_of(output["data"].get("text/plain")))
            picture = "".join(text_of(output["data"].get("image/png")).split())
            if picture and not _is_png(picture):
                return None
            sane.append(_output("display_data", {"text/plain": text} | ({"image/png": picture} if picture else {})))
        else:
            return None
        max_text -= len(text)
    return tuple(sane) if max_text >= 0 else None


def _is_png(encoded: str) -> bool:
    if len(encoded) > _MAX_BYTES * 4 // 3 + 4:
        return False
    try:
        data = base64.b64decode(encoded.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeError):
        return False
    sides = (int.from_bytes(data[at : at + 4], "big") for at in (16, 20))
    framed = data.startswith(_SIGNATURE) and data[12:16] == b"IHDR" and data[-8:-4] == b"IEND"
    return framed and all(0 < side <= _MAX_SIDE for side in sides)

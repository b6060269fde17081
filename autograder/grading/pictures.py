"""Pictures that a student's notebook brings along, so that they need not be drawn again.

Drawing would take most of the time that a submission takes, and no check looks at what the course's own picture cells
draw. Where such a cell stands as it was handed out, its stored output is kept for the reader of the graded notebook. A
student could have stored any other image there: it is shown, and decides nothing.
"""

from __future__ import annotations

import base64
import binascii
from collections import defaultdict, deque
from collections.abc import Collection, Mapping
from typing import Any

from autograder.base.sanitize import sanitize
from autograder.course.notebook import cell_of, text_of
from autograder.sandbox.protocol import CellOutcome, CodeCell

__all__ = ["kept_pictures", "without_picture"]

NOT_DRAWN = "What this cell shows is not here: the notebook was handed in without it, and grading does not run it. Run it to see it."

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_MAX_BYTES = 1 << 20
_MAX_SIDE = 4096  # pixels; a small file may else unpack into gigabytes in a reader's browser
_MAX_OUTPUTS = 24


def kept_pictures(
    submitted: Mapping[str, Any], pictures: Collection[CodeCell], max_text: int
) -> dict[int, CellOutcome]:
    """The stored outcomes of ``pictures``, by their places in the notebook that is to be run.

    Args:
        submitted: the notebook as it was handed in, with its outputs.
        pictures: cells that draw what the course's author wrote and nothing else needs.
        max_text: how many characters of text a cell may have put out.
    """
    if not pictures:
        return {}
    wanted = {cell.source for cell in pictures}
    stored: dict[str, deque[Any]] = defaultdict(deque)
    for index, raw in enumerate(submitted["cells"]):
        if not isinstance(raw, dict) or not raw.get("outputs"):
            continue
        cell = cell_of(index, raw)
        if cell.kind == "code" and cell.source in wanted:
            stored[cell.source].append(raw.get("outputs"))
    kept = {}
    for picture in pictures:
        found = stored[picture.source]
        outputs = _sane(found.popleft(), max_text) if found else None
        if outputs is not None:
            kept[picture.index] = CellOutcome(picture.index, outputs)
    return kept


def without_picture(index: int) -> CellOutcome:
    """What a picture cell shows that brought nothing along, or nothing that may be shown."""
    return CellOutcome(index, ({"output_type": "stream", "name": "stdout", "text": f"{NOT_DRAWN}\n"},))


def _sane(outputs: Any, max_text: int) -> tuple[dict[str, Any], ...] | None:
    """Stored outputs as they may be shown, images and text; None where there is anything else."""
    if not isinstance(outputs, list) or not 0 < len(outputs) <= _MAX_OUTPUTS:
        return None
    sane: list[dict[str, Any]] = []
    for output in outputs:
        kind = output.get("output_type") if isinstance(output, dict) else None
        if kind == "stream":
            text = sanitize(text_of(output.get("text")))
            name = "stderr" if output.get("name") == "stderr" else "stdout"
            sane.append({"output_type": "stream", "name": name, "text": text})
        elif kind in {"display_data", "execute_result"} and isinstance(output.get("data"), dict):
            text = sanitize(text_of(output["data"].get("text/plain")))
            data = {"text/plain": text}
            picture = "".join(text_of(output["data"].get("image/png")).split())
            if picture:
                if not _is_png(picture):
                    return None
                data["image/png"] = picture
            sane.append({"output_type": "display_data", "data": data, "metadata": {}})
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
    width, height = (int.from_bytes(data[at : at + 4], "big") for at in (16, 20))
    return (
        data.startswith(_SIGNATURE)
        and data[12:16] == b"IHDR"
        and 0 < width <= _MAX_SIDE
        and 0 < height <= _MAX_SIDE
        and data[-8:-4] == b"IEND"
    )

"""Reject notebooks with outputs: ``python .ci/notebook_outputs.py [NOTEBOOK…]``, by default those of ``source/``.

Outputs from an author's machine are noise in a diff and may, in a course, give an answer away.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def leftovers(notebook: Path) -> list[str]:
    """Return one sentence for each cell of ``notebook`` that has outputs. Empty for a clean notebook."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [
        f"{notebook}: cell {number} ({''.join(cell['source'])[:40].strip()!r}) carries outputs or a count."
        for number, cell in enumerate(cells, start=1)
        if cell["cell_type"] == "code" and (cell.get("outputs") or cell.get("execution_count") is not None)
    ]


def main(arguments: list[str]) -> int:
    """Print the outputs found in the named notebooks, and return 1 if there are any."""
    notebooks = [Path(a) for a in arguments] or sorted(Path("source").rglob("*.ipynb"))
    found = [sentence for notebook in notebooks for sentence in leftovers(notebook)]
    if found:
        print(*found, "Clear them: in JupyterLab, Edit › Clear Outputs of All Cells, then save.", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

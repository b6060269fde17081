"""Create instructors' notebooks for nbgrader and Otter, like those tools' own examples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

PYTHON = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}


def write(path: Path, cells: list[dict[str, Any]], **more: Any) -> Path:
    """Write a notebook with ``cells`` to ``path``."""
    document = {"cells": cells, "metadata": PYTHON, "nbformat": 4, "nbformat_minor": 5, **more}
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def cell(kind: str, source: str, shown: str | None = None, **marks: Any) -> dict[str, Any]:
    """Return a cell with ``marks`` in its nbgrader metadata. ``shown`` is the output of its last expression."""
    metadata = (
        {"nbgrader": {"grade": False, "solution": False, "locked": False, "schema_version": 3, **marks}}
        if marks
        else {}
    )
    made: dict[str, Any] = {"cell_type": kind, "metadata": metadata, "source": source}
    if kind == "code":
        outputs = [] if shown is None else [{"output_type": "execute_result", "data": {"text/plain": [shown]}}]
        made |= {"execution_count": 3, "outputs": outputs}
    return made


def raw(source: str) -> dict[str, Any]:
    """Return a raw cell, which separates Otter's blocks."""
    return cell("raw", source)


def question(
    settings: str, text: str, solution: list[dict[str, Any]], tests: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return the cells of an Otter question."""
    cells = [raw(f"# BEGIN QUESTION\n{settings}"), cell("markdown", text)]
    cells += [raw("# BEGIN SOLUTION"), *solution, raw("# END SOLUTION")]
    cells += [raw("# BEGIN TESTS"), *tests, raw("# END TESTS")] if tests else []
    return [*cells, raw("# END QUESTION")]


FOR_NBGRADER = [
    cell("markdown", "# Bottles\n\nRead `bottles.txt` first.", grade_id="intro", locked=True),
    cell("code", "import numpy as np\nLITRES = [1, 2, 5]\nbottles = open('bottles.txt').read().split()", grade_id="setup", locked=True),
    cell(
        "code",
        'def halves(n):\n    """All halves of `n` that are whole, the largest first."""\n    found = []\n'
        "    ### BEGIN SOLUTION\n    if n < 0:\n        raise ValueError('no bottles')\n    found += [n // 2**k for k in (1, 2, 3, 4) if n % 2**k == 0]\n"
        "    ### END SOLUTION\n    return found",
        grade_id="part-a",
        solution=True,
    ),
    cell(
        "code",
        '"""A few numbers."""\nassert halves(8) == [4, 2, 1], "look at 8"\nassert halves(3) == []\n'
        "### BEGIN HIDDEN TESTS\nfor n in LITRES:\n    assert len(halves(4 * n)) >= 2\nassert halves(48) == [24, 12, 6, 3]\n### END HIDDEN TESTS",
        grade_id="test-a",
        grade=True,
        points=2,
    ),
    cell(
        "code",
        "try:\n    halves(-2)\nexcept ValueError:\n    pass\nelse:\n    raise AssertionError('-2 was taken')",
        grade_id="test-a-wrong",
        grade=True,
        points=1,
    ),
    cell("code", "def mean_half(n):\n    ### BEGIN SOLUTION\n    return np.mean(halves(n))\n    ### END SOLUTION", grade_id="part-b", solution=True),
    cell(
        "code",
        "np.testing.assert_allclose(mean_half(8), 7 / 3)\nassert abs(mean_half(4) - 1.5) < 1e-6\n### AUTOTEST mean_half(16)",
        grade_id="test-b",
        grade=True,
        points=1,
    ),
    cell("code", "small, large = None, None\n### BEGIN SOLUTION\nsmall, large = 1, 5\n### END SOLUTION", grade_id="part c", solution=True),
    cell("code", "assert small == 1\nassert large == 5 and isinstance(small, int)", grade_id="test-c", grade=True, points=1.5),
    cell("code", "score = 0.5\nscore", grade_id="part-of-the-points", grade=True, points=0.5),
    cell("markdown", "It halves until that is odd.", grade_id="essay", grade=True, solution=True, points=3),
    cell("markdown", "Draw it.\n\n=== BEGIN MARK SCHEME ===\n\n1 for axes\n\n=== END MARK SCHEME ===", grade_id="task", task=True, points=2, locked=True),
    cell("code", "print(bottles)"),
]  # fmt: skip

FOR_OTTER = [
    raw("# ASSIGNMENT CONFIG\nfiles:\n    - bottles.txt\n    - missing.csv\n"),
    cell("markdown", "# Bottles"),
    cell("code", "import otter\ngrader = otter.Notebook()"),
    cell("code", "import numpy as np\n%matplotlib inline\nbottles = open('bottles.txt').read().split()"),
    *question(
        "name: q1\npoints: 3",
        "Write `volume` and set `five` to the volume of five.",
        [
            cell(
                "code",
                'def volume(n):\n    """Litres in `n` bottles."""\n    each = 0.75 # SOLUTION\n    return n * each # SOLUTION\n\nfive = volume(5)',
            )
        ],
        [
            cell("code", "volume(2) == 1.5", "True"),
            cell("code", '""" # BEGIN TEST CONFIG\npoints: 1\nfailure_message: None is none.\n""" # END TEST CONFIG\nvolume(0)', "0.0"),
            cell("code", "# HIDDEN\nfive", "3.75"),
        ],
    ),
    *question(
        "name: q2",
        "Set `names`.",
        [cell("code", '# BEGIN SOLUTION NO PROMPT\nnames = sorted(bottles)\n# END SOLUTION\n""" # BEGIN PROMPT\nnames = ...\n""" # END PROMPT\nnames')],
        [
            cell("code", "def test_many(names):\n    assert len(names) == 3\n    assert 'red' in names\n\ntest_many(names)  # IGNORE"),
            cell("code", "# HIDDEN\nnames[0]", "'blue'"),
        ],
    ),
    *question("name: q3\nmanual: true\npoints: 2", "Why?", [cell("markdown", "**SOLUTION**: since.")], []),
    *question("name: q4\nmanual: true", "Plot.", [cell("code", "print(names) # SOLUTION")], []),
    cell("markdown", "```\nBEGIN QUESTION\nname: q5\npoints: 1\n```\nThe smallest prime, in the old form."),
    cell("code", "prime = 2 # SOLUTION"),
    cell("code", "## Test ##\nprime > 1", "True"),
    cell("code", "## Hidden Test ##\nprime", "2"),
]  # fmt: skip

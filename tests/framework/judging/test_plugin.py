"""The checks as an author runs them: by pytest itself, on a notebook that ``--student`` names."""

import subprocess
import sys

from autograder.course import load_course
from autograder.simulate import reference_code, solved_notebook, write_notebook
from tests.support import ROOT

MINI = ROOT / "tests" / "fixtures" / "mini_course"
CHAPTER = "ch1_units"
KEPT = "_kept = {}\ndef to_kelvin(c):\n    return _kept.setdefault(c.shape, c + 273.15)"


def failing(tmp_path, **code):
    """The checks of to_kelvin that pytest reports as failed for a notebook with ``code`` in its stubs."""
    course = load_course(MINI)
    path = write_notebook(
        tmp_path / "some.ipynb", solved_notebook(course, CHAPTER, {**reference_code(course, CHAPTER), **code})
    )
    asked = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-k",
        "ToKelvin",
        str(course.checks(CHAPTER)),
        "--student",
        str(path),
    ]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    # pytest puts the reason behind a dash: cut to the terminal's width at a desk, whole where CI is set.
    failed = [line.split(" - ")[0] for line in done.stdout.splitlines() if line.startswith("FAILED")]
    return [line.split("::")[-1] for line in failed]


def test_an_author_sees_what_the_grader_sees(tmp_path):
    """A right notebook passes; an answer kept by shape is found out by asking once more in a process of its own."""
    assert failing(tmp_path) == []
    assert failing(tmp_path, to_kelvin=KEPT) == ["test_care"]

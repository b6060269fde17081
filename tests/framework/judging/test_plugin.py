"""Test the checks as an author runs them: with pytest, on a notebook given by ``--student``."""

from autograder.authoring.simulate import write_notebook
from tests.support import ROOT
from tests.support.commands import python
from tests.support.mini import CHAPTER, RIGHT, document

KEPT = "_kept = {}\ndef to_kelvin(c):\n    return _kept.setdefault(c.shape, c + 273.15)"


def failing(course, **code):
    """Return the checks of to_kelvin that pytest reports as failed for a notebook with ``code`` in its stubs."""
    path = write_notebook(course.root / "some.ipynb", document(course, **{**RIGHT, **code}))
    asked = ("-c", ROOT / "pyproject.toml", "-k", "ToKelvin", course.checks(CHAPTER), "--student", path)
    done = python("-m", "pytest", "-q", *asked)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    # pytest shows the reason after a dash. It is cut to the terminal's width, except on CI.
    failed = [line.split(" - ")[0] for line in done.stdout.splitlines() if line.startswith("FAILED")]
    return [line.split("::")[-1] for line in failed]


def test_an_author_sees_what_the_grader_sees(course):
    """A right notebook passes. A function that caches results by shape fails the purity check."""
    assert failing(course) == []
    assert failing(course, to_kelvin=KEPT) == ["test_care"]

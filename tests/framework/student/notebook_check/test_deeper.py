"""Tests of ``check(f, deeper=True)`` in a real kernel, inside and outside a clone of a course."""

from __future__ import annotations

import re
import shutil

import pytest

from autograder.authoring.release.validation import record_examples
from tests.support.mini import CHAPTER, RIGHT, copy_course

pytestmark = pytest.mark.slow

# This function is right for the visible inputs, which have at most two axes, and wrong for inputs with three axes.
FLAT = RIGHT["mean_kelvin"].replace("axis=-1", "axis=1")
CELLS = {"setup": "import numpy as np\n\nfrom autograder import check, hint", **RIGHT, "mean_kelvin": FLAT}
DEEPER = "check(mean_kelvin, deeper=True)"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Return a clone of a course."""
    return copy_course(tmp_path_factory.mktemp("clone"))


@pytest.fixture(scope="module")
def examples(course):
    """Return the path of the chapter's examples."""
    return record_examples(course, CHAPTER)


@pytest.fixture
def notebook(course, examples, kernels):
    """Return the notebook that ``make lab`` sets up in a folder of the clone, with a function that is right only for some inputs."""
    folder = course.root / "attention" / CHAPTER
    folder.mkdir(parents=True)
    shutil.copy(examples, folder / "examples.json")
    notebook = kernels(folder, CELLS)
    for name in CELLS:
        notebook.run(name)
    return notebook


def test_one_case_of_the_hidden_checks_is_shown(notebook):
    """If the visible checks pass and a hidden check fails, only the hidden check's case is shown. The saved notebook is checked."""
    shown = notebook.run("check", DEEPER)
    assert (
        "Well done! All checks pass. Next is quiz_ch1_units. check(mean_kelvin, deeper=True) tries new random" in shown
    )
    assert "Trying new random inputs. This takes a few seconds …" in shown
    assert "mean_kelvin 0 of 1 check passed ✗ each station has its own mean" in shown
    assert shown.count("✗") == 1
    assert "celsius = np.array([[[" in shown
    assert re.search(r"mean_kelvin\(celsius\) (gave|has shape)", shown)  # the second if an axis has the length 1

    notebook.run("mean_kelvin", RIGHT["mean_kelvin"])
    assert (
        "Save the notebook, then check again: the cell of `mean_kelvin` is different in the saved file."
        in notebook.run("check", DEEPER)
    )
    notebook.save(mean_kelvin=RIGHT["mean_kelvin"])
    assert "`mean_kelvin` also passes all 3 checks with new random inputs." in notebook.run("check", DEEPER)


def test_without_the_course_it_says_why_and_what_works(examples, kernels, tmp_path):
    """Outside a clone, there are no solutions to compare with. The message says so, and the result of the ordinary check is shown."""
    folder = tmp_path / CHAPTER
    folder.mkdir()
    shutil.copy(examples, folder / "examples.json")
    notebook = kernels(folder, CELLS)
    for name in CELLS:
        notebook.run(name)
    shown = notebook.run("check", DEEPER)
    assert "Well done" in shown
    assert "tries new random" not in shown
    assert (
        "The course's checks and solutions are not on this computer, so it works only in a clone of the course."
        in shown
    )
    assert shown.endswith("`check(mean_kelvin)` works here.")

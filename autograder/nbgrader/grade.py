"""The steps by which nbgrader's own commands grade through the jail and the checks; ``autograder.base.nbgrader_steps`` lists them."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Enum

from autograder.base.errors import CourseError
from autograder.base.verdict import redact_verdict
from autograder.classroom.gradebook.entries import write_entries
from autograder.course.course import Course
from autograder.grading.batch import grade
from autograder.grading.document import ReleasedNotebook, restore_cells, write_outcomes, write_verdict
from autograder.grading.submission import Job
from autograder.grading.task import GradingOptions

__all__ = ["GradeConfined", "RecordExamples", "RestoreCells", "SaveOutcome", "UngradableError"]

OUTCOME = "autograder"  # where an outcome waits in nbconvert's resources between one step and the next


class UngradableError(Exception):
    """A notebook could not be graded; nbgrader logs the reason, goes on with the next and ends with an error status."""


class RestoreCells(NbGraderPreprocessor):
    """Make a submission well-formed before it is graded; in the place of nbgrader's ``DeduplicateIds``.

    A cell that stands twice, an unknown grade id or a check cell that was deleted would stop nbgrader's later steps.
    """

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """The submitted notebook with the course's locked cells and metadata put back."""
        course, chapter = _course(self), resources["nbgrader"]["assignment"]
        return nbformat.from_dict(
            restore_cells(nb, ReleasedNotebook.of(course, course.require_chapter(chapter)))
        ), resources


class GradeConfined(NbGraderPreprocessor):
    """Run a notebook in the jail and judge it by the chapter's checks; in the place of nbgrader's ``Execute``."""

    confinement = Enum(
        ["auto", "bubblewrap", "landlock"],
        "auto",
        help="How students' code is confined. There is no unconfined grading through nbgrader.",
    ).tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """The notebook with what its cells put out, and at each check cell its score and what the checks found.

        Raises ``UngradableError``, with the gradebook entry marked for a person, where it cannot be judged.
        """
        course, names = _course(self), resources["nbgrader"]
        place = resources["metadata"]
        path = Path(place["path"], f"{place['name']}.ipynb")
        job = Job(path, names["student"], names["assignment"])
        [outcome] = grade(course, [job], GradingOptions(self.confinement), keep=True)
        verdict = outcome.verdict
        if verdict.status == "ungradable":
            write_entries(course, [outcome], db_url=names["db_url"])
            raise UngradableError(verdict.reason)
        write_outcomes(nb, outcome.cells)
        write_verdict(nb, redact_verdict(verdict, course.disclosure, course.located).exercises)
        resources[OUTCOME] = outcome
        return nbformat.from_dict(nb), resources


class SaveOutcome(NbGraderPreprocessor):
    """Write each exercise's message into the gradebook, as the comment on its cell, after ``SaveAutoGrades``."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """The notebook as it came."""
        if OUTCOME in resources:
            outcome = replace(resources[OUTCOME], document=nb)
            write_entries(_course(self), [outcome], db_url=resources["nbgrader"]["db_url"])
        return nb, resources


class RecordExamples(NbGraderPreprocessor):
    """Put ``examples.json``, by which a student's ``check()`` judges, beside the released notebook."""

    audience = Enum(
        ["", "class", "self-learners"], "", help="Whom the release is for; by default as the course has it."
    ).tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """The notebook as it came."""
        from autograder.authoring.release import record_examples  # noqa: PLC0415 - grading has no use for it

        course, chapter = _course(self), resources["nbgrader"]["assignment"]
        if chapter in course.finished_chapters():
            coursedir = _coursedir(self)
            folder = Path(coursedir.format_path(coursedir.release_directory, ".", chapter))
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(
                record_examples(course, chapter, self.audience or course.audience), folder / "examples.json"
            )
        return nb, resources


def _coursedir(step: Any) -> Any:
    """The course directory of the nbgrader command that a step runs in."""
    while step is not None and not hasattr(step, "coursedir"):
        step = step.parent
    if step is None:
        raise CourseError("This step works inside nbgrader's own commands only: it asks them where the course is.")
    return step.coursedir


def _course(step: Any) -> Course:
    # With nbgrader's configuration, so that what was said on its command line counts.
    return Course(Path(_coursedir(step).root), step.config)

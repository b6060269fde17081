"""Preprocessors that make nbgrader's own commands grade with the course's checks in the sandbox.

``autograder.base.nbgrader_steps`` lists them.
"""

from __future__ import annotations

import glob
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader.exchange.default import ExchangeReleaseFeedback
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Enum

from autograder.base.errors import CourseError
from autograder.base.formatting import join_words
from autograder.base.verdict import redact_verdict
from autograder.classroom.gradebook.entries import write_entries
from autograder.course.course import Course
from autograder.grading.batch import grade
from autograder.grading.document import ReleasedNotebook, restore_cells, write_outcomes, write_verdict
from autograder.grading.submission import Job
from autograder.grading.task import GradingOptions

__all__ = ["GradeConfined", "RecordExamples", "ReleaseFeedback", "RestoreCells", "SaveOutcome", "UngradableError"]

OUTCOME = "autograder"  # the key in nbconvert's resources under which ``SaveOutcome`` finds the outcome


class UngradableError(Exception):
    """Raised if a notebook cannot be graded. nbgrader logs the reason, continues with the next notebook, and exits with an error."""


class RestoreCells(NbGraderPreprocessor):
    """A preprocessor that repairs the cells of a submission before it is graded. It replaces nbgrader's ``DeduplicateIds``.

    A duplicate cell, an unknown grade id or a deleted check cell would stop nbgrader's later steps.
    """

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Return the submitted notebook with the course's locked cells and metadata restored."""
        course = _course(self)
        released = ReleasedNotebook.of(course, course.require_chapter(resources["nbgrader"]["assignment"]))
        return nbformat.from_dict(restore_cells(nb, released)), resources


class GradeConfined(NbGraderPreprocessor):
    """A preprocessor that judges a notebook in the sandbox with the chapter's checks. It replaces nbgrader's ``Execute``."""

    confinement = Enum(
        ["auto", "bubblewrap", "landlock"],
        "auto",
        help="The sandbox for students' code. nbgrader cannot grade without one.",
    ).tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Return the notebook with the outputs of its cells, and with the score and the messages at each check cell.

        Raises ``UngradableError`` if the notebook cannot be judged. In this case, it needs manual grading.
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
    """A preprocessor that stores each exercise's message in the gradebook as a comment on its cell. It runs after ``SaveAutoGrades``."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Write the messages, and return the notebook unchanged."""
        if OUTCOME in resources:
            outcome = replace(resources[OUTCOME], document=nb)
            write_entries(_course(self), [outcome], db_url=resources["nbgrader"]["db_url"])
        return nb, resources


class RecordExamples(NbGraderPreprocessor):
    """A preprocessor that puts the examples for ``check()`` next to a released notebook, and selects the text for its audience."""

    audience = Enum(
        ["", "class", "self-learners"], "", help="The audience of the release. Default: the course's setting."
    ).tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Return the edition of the notebook for its audience. Raises ``CourseError`` if an edition's start or end marker is missing."""
        from autograder.authoring.release import record_examples  # noqa: PLC0415 - grading does not need it
        from autograder.authoring.release.editions import edition  # noqa: PLC0415

        course, chapter = _course(self), resources["nbgrader"]["assignment"]
        audience = self.audience or course.audience
        if chapter in course.finished_chapters():
            coursedir = _coursedir(self)
            folder = Path(coursedir.format_path(coursedir.release_directory, ".", chapter))
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(record_examples(course, chapter, audience), folder / "examples.json")
        return nbformat.from_dict(edition(nb, audience)), resources


def _coursedir(step: Any) -> Any:
    """Return the course directory of the nbgrader command that runs ``step``."""
    while step is not None and not hasattr(step, "coursedir"):
        step = step.parent
    if step is None:
        raise CourseError("This step works only inside nbgrader's own commands, which provide the course folder.")
    return step.coursedir


def _course(step: Any) -> Course:
    # Use nbgrader's configuration, so that the options of its command line apply.
    return Course(Path(_coursedir(step).root), step.config)


class ReleaseFeedback(ExchangeReleaseFeedback):
    """A command that releases feedback to the exchange, and lists the students to whom the exchange cannot return it."""

    def copy_files(self) -> None:
        """Release the pages, and warn about students who did not use ``nbgrader submit``: they lack the secret to fetch a page."""
        folders = {Path(page).parent for page in glob.glob(f"{self.src_path}/*.html")}  # noqa: PTH207 - it has a pattern
        lacking = sorted(path.parent.name for path in folders if not (path / "submission_secret.txt").is_file())
        if lacking:
            shown = join_words([*lacking[:5], *([f"{len(lacking) - 5} more"] if len(lacking) > 5 else [])])
            self.log.warning(
                "The exchange cannot return feedback to %s, because their notebooks did not come through `nbgrader submit`. Return their pages "
                "in feedback/ in another way, such as with `autograder feedback %s --zip`.",
                shown,
                self.coursedir.assignment_id,
            )
        excluded = filter(None, [self.coursedir.student_id_exclude, *lacking])
        self.coursedir.student_id_exclude = ",".join(excluded)
        super().copy_files()

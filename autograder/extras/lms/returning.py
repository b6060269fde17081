"""Pack feedback for Canvas and Moodle, under the names that the submissions had in the download.

- Moodle, "Upload multiple feedback files in a zip", finds the student by the number in the folder's name, and keeps the files' own names
  (``mod/assign/feedback/file/importziplib.php`` of https://github.com/moodle/moodle).
- Canvas, "Upload Submissions", finds user and file by the two numbers in a file's name, and attaches the file to a comment. It shows the file
  under the name that the student's file had (``Assignment#generate_comments_from_files`` of https://github.com/instructure/canvas-lms).
  A page called ``ch1.ipynb`` would not open, so Canvas gets the graded notebook, with the marks above its first cell.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Literal

from autograder.base.files import write_atomically
from autograder.base.foreign import Json
from autograder.base.formatting import pluralize, points
from autograder.base.marks import SubmissionMarks
from autograder.classroom.delivery import FeedbackWriter, PageResult
from autograder.classroom.gradebook.entries import gradebook_url
from autograder.classroom.gradebook.people import read_marks
from autograder.cli.output import echo_status, group_messages
from autograder.course.course import Course
from autograder.course.notebook import NotebookError, document_bytes, load_document, read_bytes
from autograder.extras.export.gradebook import feedback_text
from autograder.extras.lms.collecting import record_of
from autograder.grading.submission import Job

__all__ = ["canvas", "moodle"]

_EPOCH = (2020, 1, 1, 0, 0, 0)  # a constant time, so that the same pages give the same zip file


def canvas(course: Course, chapter: str, pages: Sequence[PageResult]) -> bool:
    """Write the zip file to upload to Canvas. Return whether every student is in it."""
    return _pack(course, chapter, pages, "canvas")


def moodle(course: Course, chapter: str, pages: Sequence[PageResult]) -> bool:
    """Write the zip file to upload to Moodle. Return whether every student is in it."""
    return _pack(course, chapter, pages, "moodle")


def _pack(course: Course, chapter: str, pages: Sequence[PageResult], system: Literal["canvas", "moodle"]) -> bool:
    path = Path(f"feedback-{chapter}-{system}.zip")
    marks = read_marks(gradebook_url(course), chapter) or {}
    writer = FeedbackWriter.of(course, chapter)
    files: dict[str, bytes] = {}
    left_out = []
    for page in pages:
        record = record_of(course, chapter, page.student)
        if record.get("from") != system:
            why = f"The submission did not come from `autograder collect … --from {system}`, so {system.capitalize()} cannot assign this feedback to a student."
            left_out.append((why, page.student))
        elif page.status == "not graded":
            left_out.append(("The submission is not graded yet, so it is not in the zip file.", page.student))
        elif system == "moodle":
            files[f"{record['folder']}/{chapter}.html"] = page.path.read_bytes()
        else:
            notebook = writer.files(Job(Path(), page.student, chapter))[0]
            data = _graded(notebook, marks.get(page.student))
            name = str(record["file"])
            # Canvas shows the feedback under the name of the student's file. If that is a zip file, the feedback must be a zip file too.
            files[name] = _zip({f"{chapter}.ipynb": data}) if PurePosixPath(name).suffix.casefold() == ".zip" else data
    if files:
        write_atomically(path, _zip(files), 0o600)  # the file contains the whole class's marks
        where = "“Upload Submissions”" if system == "canvas" else "“Upload multiple feedback files in a zip”"
        echo_status(
            f"The feedback of {pluralize(len(files), 'student')} is in {path}. Upload it in {system.capitalize()} with {where}."
        )
    if left_out:
        echo_status(group_messages(left_out))
    return not left_out


def _graded(path: Path, marks: SubmissionMarks | None) -> bytes:
    """Return the graded notebook at ``path`` with the gradebook's marks above its first cell."""
    try:
        document = load_document(read_bytes(path), path)
    except NotebookError:  # the submission could not be graded
        document = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    text = "There is no mark yet."
    if marks and marks.is_graded:
        text = f"**{points(marks.total, marks.max_score)}**\n\n{feedback_text(marks)}"
        if not marks.complete:
            text += " Some parts are not graded yet."
    if marks and marks.reason:
        text += f"\n\n{marks.reason}"
    cell: dict[str, Json] = {"cell_type": "markdown", "metadata": {}, "source": f"# Feedback\n\n{text}"}
    if document.get("nbformat_minor", 0) >= 5:
        cell["id"] = "feedback"
    return document_bytes({**document, "cells": [cell, *document["cells"]]})


def _zip(files: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), content, zipfile.ZIP_DEFLATED)
    return data.getvalue()

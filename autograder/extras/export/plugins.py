"""Export with nbgrader's own command: ``nbgrader export --exporter=autograder.extras.export.plugins.CanvasExport``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbgrader.plugins import ExportPlugin
from traitlets import Bool, Enum, Unicode

from autograder.base.errors import CourseError
from autograder.classroom.gradebook.database import GradebookError
from autograder.extras.export.formats import export_marks
from autograder.extras.export.gradebook import Policy

__all__ = ["CanvasExport", "CsvExport", "MoodleExport"]


class _Export(ExportPlugin):
    """An exporter that writes a file for another system. Marks that need manual grading are blank in it, never 0."""

    kind = ""

    missing = Enum(["blank", "zero"], "blank", help="What to write for a missing submission.").tag(config=True)
    partial = Bool(default_value=False, help="Whether to export the points so far if a mark needs manual grading.").tag(
        config=True
    )
    roster = Unicode("", help="A file downloaded from the other system. The export keeps its rows and columns.").tag(
        config=True
    )
    scale = Enum(["", "scale", "as-is"], "", help="What to do if that file has different points for a chapter.").tag(
        config=True
    )
    bom = Bool(default_value=False, help="Whether the file begins with a byte order mark, which Excel needs.").tag(
        config=True
    )

    def export(self, gradebook: Any) -> None:
        """Write the file ``to``, by default ``grades-<kind>.csv``. Exit with status 1 and a message if that fails."""
        output = Path(self.to or f"grades-{self.kind}.csv")
        try:
            done = export_marks(
                gradebook.engine.url.render_as_string(hide_password=False),
                self.kind,
                [str(name) for name in self.assignment],
                students=[str(name) for name in self.student],
                policy=Policy(self.missing, self.partial),
                roster=Path(self.roster) if self.roster else None,
                bom=self.bom,
                output=output,
                scale=self.scale,
            )
        except (CourseError, GradebookError) as error:
            self.log.error("%s", error)  # noqa: TRY400 - a message without a traceback
            raise SystemExit(1) from error
        for remark in done.remarks:
            self.log.warning("%s", remark)
        self.log.info("Marks exported to %s", output)


class CanvasExport(_Export):
    """An exporter of marks for Canvas's gradebook."""

    kind = "canvas"


class MoodleExport(_Export):
    """An exporter of marks for Moodle: a grading worksheet, or a table for Moodle's grade import."""

    kind = "moodle"


class CsvExport(_Export):
    """An exporter of marks for a spreadsheet, in the columns of nbgrader's own export."""

    kind = "csv"

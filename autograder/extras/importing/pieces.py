"""Data types for the parts of an instructor's notebook, whichever tool it was written for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from autograder.base.errors import CourseError
from autograder.base.foreign import Json
from autograder.course.notebook import MAY_FAIL

__all__ = [
    "AnswerCell", "CopiedCell", "ImportRefusedError", "ManualCell", "Original", "Piece", "SourceLine", "Test",
    "code_cell", "may_fail", "text_cell",
]  # fmt: skip


class ImportRefusedError(CourseError):
    """Raised if a notebook cannot be imported. The message says what was found, where, and what to do. Nothing was written."""


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One line of an answer cell: its text ``solved`` in the solution, and the text ``shown`` to students. None means that the line is left out."""

    solved: str | None
    shown: str | None
    is_solution: bool = False


@dataclass(frozen=True, slots=True)
class CopiedCell:
    """A cell that is copied into the chapter's notebook unchanged. ``cell`` is its JSON."""

    where: str
    cell: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class ManualCell:
    """A manually graded cell: its JSON with nbgrader's metadata, and the author's answer, which students do not get."""

    where: str
    cell: Mapping[str, Json]
    answer: str = ""


@dataclass(frozen=True, slots=True)
class AnswerCell:
    """A code cell with a solution. ``question`` is the name of its question in the original notebook."""

    where: str
    question: str
    lines: Sequence[SourceLine]

    @property
    def solved(self) -> str:
        """The cell with its solution."""
        return "\n".join(line.solved for line in self.lines if line.solved is not None)

    @property
    def shown(self) -> str:
        """The cell as the original notebook shows it to students."""
        return "\n".join(line.shown for line in self.lines if line.shown is not None)


@dataclass(frozen=True, slots=True)
class Test:
    """A cell of tests, or the hidden part of such a cell.

    ``question`` is the name of the test's question, or "" if it has none. ``expected`` is the text that the test's last expression has
    to print. With ``after_visible``, the test earns points only if the tests before it pass, too.
    """

    where: str
    name: str
    code: str
    points: Fraction
    question: str = ""
    hidden: bool = False
    title: str = ""
    message: str = ""
    expected: str | None = None
    after_visible: bool = False
    marks: Mapping[str, Json] = field(default_factory=dict)


Piece = CopiedCell | ManualCell | AnswerCell | Test


@dataclass(frozen=True, slots=True)
class Original:
    """The contents of a notebook: the tool it was written for, its parts in order, the files that it names, and notes for the author."""

    tool: str
    pieces: Sequence[Piece]
    files: Sequence[str] = ()
    notes: Sequence[str] = ()


def code_cell(source: str, **marks: Json) -> dict[str, Json]:
    """Return a code cell. ``marks`` is its nbgrader metadata."""
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {"nbgrader": _marks(marks)} if marks else {},
        "outputs": [],
        "source": source,
    }


def may_fail(cell: dict[str, Json]) -> dict[str, Json]:
    """Tag a cell as allowed to fail, because it is still blank when the chapter is tried. Return the cell."""
    cell["metadata"]["tags"] = list(dict.fromkeys([*cell["metadata"].get("tags", []), MAY_FAIL]))
    return cell


def text_cell(source: str, **marks: Json) -> dict[str, Json]:
    """Return a Markdown cell. ``marks`` is its nbgrader metadata."""
    return {"cell_type": "markdown", "metadata": {"nbgrader": _marks(marks)} if marks else {}, "source": source}


def _marks(marks: Mapping[str, Json]) -> dict[str, Json]:
    return {"grade": False, "locked": False, "solution": False, "task": False, "schema_version": 3, **marks}

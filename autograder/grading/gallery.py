"""The course's pictures as the reference's functions draw them, and as blank stubs leave them.

Drawing takes most of the time that a submission takes. Where every function that a picture leans on earned all its marks
by the hidden checks, it shows what the reference shows: that picture is drawn once and given to the whole class. The
reference runs in a jail of its own, which is gone before anybody's submission could look for it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from importlib import metadata
from typing import TYPE_CHECKING, Any

import autograder
from autograder.files import write_atomically
from autograder.grading.leaning import Leaning
from autograder.grading.verdict_cache import outcome_of
from autograder.notebook import notebook_of
from autograder.sandbox.protocol import CellOutcome
from autograder.simulate import reference_code, solved_notebook

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from pathlib import Path

    from autograder.course import Course
    from autograder.sandbox.protocol import CodeCell
    from autograder.sandbox.worker import Worker
    from autograder.verdict import ExerciseVerdict

__all__ = ["Gallery"]

_WORTH_IT = 2  # pictures of so many submissions are drawn before a jail is started to draw the reference's
_TIMEOUT = "This picture was not drawn: {names} did not come to an end when it was checked."

Pictures = Mapping[str, CellOutcome]


@dataclass
class Gallery:
    """Pictures by the text of their cells: ``right`` with every function right, ``blank`` with none written.

    ``release`` keeps them on disk; where they are not there, they are drawn once a class is large enough to gain by it.
    """

    course: Course
    chapter: str
    released: Mapping[str, Any]
    open_worker: Callable[[], Worker]
    right: Pictures = field(default_factory=dict)
    blank: Pictures = field(default_factory=dict)
    _asked: int = 0
    _ready: bool = False

    def __post_init__(self) -> None:
        notebook = notebook_of(self.released)
        self._exercises = notebook.exercises()
        self._sources = frozenset(cell.source for cell in notebook.code_cells())
        self._ready = not notebook.pictures() or self._load()

    def known(
        self,
        cells: Iterable[CodeCell],
        pictures: Iterable[CodeCell],
        stored: Collection[int],
        verdicts: Iterable[ExerciseVerdict],
    ) -> dict[int, CellOutcome]:
        """The outcomes, by place, of those ``pictures`` of a submission's ``cells`` that need not be drawn.

        For the places in ``stored`` the notebook brings something along itself: nothing is drawn for their sake.
        """
        leaning = Leaning.of(cells, self._sources, self._exercises)
        by_name = {verdict.name: verdict for verdict in verdicts}
        full = {name for name, v in by_name.items() if v.status == "passed" and v.score >= v.max_score}
        blank = {name for name, v in by_name.items() if v.status == "not_attempted"}
        endless = {n for n, v in by_name.items() if any(check.status == "timeout" for check in v.checks)}
        found: dict[int, CellOutcome] = {}
        looked_up: list[tuple[CodeCell, bool]] = []
        for picture in pictures:
            reached = leaning.exercises_of(picture)
            if reached is None:
                continue
            if reached & endless:
                found[picture.index] = _not_drawn(picture.index, reached & endless)
            elif reached <= full or reached <= blank:
                looked_up.append((picture, reached <= full))
        if not self._ready and any(picture.index not in stored for picture, _ in looked_up):
            self._asked += 1
            if self._asked > _WORTH_IT:
                self.draw()
        for picture, as_right in looked_up:
            one = (self.right if as_right else self.blank).get(picture.source)
            if one is not None:
                found[picture.index] = replace(one, index=picture.index)
        return found

    def draw(self) -> None:
        """Draw the pictures and keep them on disk, unless that has been done."""
        if self._ready:
            return
        solved = solved_notebook(
            self.course, self.chapter, reference_code(self.course, self.chapter), start=self.released
        )
        with closing(self.open_worker()) as worker:
            self.right = _drawn(solved, self._sources, worker)
            self.blank = _drawn(self.released, self._sources, worker)
        self._ready = True
        kept = [[[text, asdict(one)] for text, one in pictures.items()] for pictures in (self.right, self.blank)]
        write_atomically(self._path(), json.dumps(kept).encode())

    def _load(self) -> bool:
        try:
            self.right, self.blank = (
                {text: outcome_of(one) for text, one in pictures} for pictures in json.loads(self._path().read_bytes())
            )
        except (OSError, ValueError, KeyError, TypeError):
            return False
        return True

    def _path(self) -> Path:
        """Where the pictures are kept, under the hash of what they are drawn from."""
        digest = hashlib.sha256(json.dumps(self.released, sort_keys=True).encode())
        for solutions in sorted((self.course.root / "solutions").glob("*.py")):  # a chapter imports those before it
            digest.update(solutions.read_bytes())
        digest.update(repr([autograder.__version__, *map(_version, self.course.packages)]).encode())
        return self.course.state("pictures", f"{self.chapter}-{digest.hexdigest()[:16]}.json")


def _version(package: str) -> str:
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return package


def _drawn(document: Mapping[str, Any], released: Collection[str], worker: Worker) -> Pictures:
    cells = notebook_of(document).code_cells()
    session = worker.open(cells)
    outcomes = {outcome.index: outcome for outcome in session.cells}
    session.close()
    found = {cell.source: outcomes[cell.index] for cell in cells if cell.optional and cell.source in released}
    return {text: one for text, one in found.items() if not (one.stopped or one.error)}


def _not_drawn(index: int, names: Collection[str]) -> CellOutcome:
    told = _TIMEOUT.format(names=" and ".join(f"`{name}`" for name in sorted(names)))
    return CellOutcome(index, ({"output_type": "stream", "name": "stdout", "text": told + "\n"},))

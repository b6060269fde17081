"""Store verdicts, so that a stopped run can continue and unchanged notebooks are not run again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import autograder
from autograder.base.files import write_atomically
from autograder.base.verdict import Verdict
from autograder.course.course import Course
from autograder.course.notebook import files_beside, hidden_files
from autograder.course.secret import course_secret
from autograder.sandbox.protocol import CellOutcome, StudentError

__all__ = ["VerdictCache"]


@dataclass(frozen=True, slots=True)
class VerdictCache:
    """The stored verdicts of one chapter, each under the hash of everything that it depends on.

    This is the submission's bytes, the checks, the chapter's notebook, the solutions that the checks may use, the framework, the course's
    limits and packages, its secret, and the options of the run.

    Attributes:
        base: the hash of all these except the submission. It is sent to other processes, so that the sources are read once.
        read_only: whether no new verdict is stored.
    """

    folder: Path
    base: bytes
    read_only: bool = False

    @classmethod
    def of(cls, course: Course, chapter: str, options: Iterable[object] = ()) -> VerdictCache:
        """Return the cache of a course's chapter for runs with these ``options``."""
        return cls(course.state("verdicts", chapter), _fingerprint(course, chapter, options))

    def key(self, data: bytes) -> str:
        """Return the key of the verdict on the submission ``data``."""
        return hashlib.sha256(self.base + hashlib.sha256(data).digest()).hexdigest()

    def load(self, key: str) -> Verdict | None:
        """Return the verdict stored under ``key``, or None if there is none that can be read."""
        try:
            with open(f"{self.folder}/{key}.json", "rb") as file:  # noqa: PTH123 - faster, and called for every student
                return Verdict.from_json(json.loads(file.read()))
        except (OSError, ValueError, KeyError, TypeError):
            return None  # missing, truncated or from another version

    def load_cells(self, key: str) -> tuple[CellOutcome, ...] | None:
        """Return the cells' outputs for a stored verdict. They are most of the bytes and seldom needed, so they have a file of their own."""
        try:
            return tuple(_outcome_of(cell) for cell in json.loads((self.folder / f"{key}.cells.json").read_bytes()))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def save(self, key: str, verdict: Verdict, cells: Iterable[CellOutcome]) -> None:
        """Store a verdict. An ungradable notebook is not stored, so that the next run tries it again."""
        if verdict.status != "graded" or self.read_only:
            return
        # Not ``asdict``, which would copy all outputs.
        names = ("index", "outputs", "stopped")
        outcomes = [{"error": c.error and asdict(c.error), **{n: getattr(c, n) for n in names}} for c in cells]
        write_atomically(self.folder / f"{key}.cells.json", json.dumps(outcomes, default=str).encode())
        # Written last, because the cells must exist if the verdict does.
        write_atomically(self.folder / f"{key}.json", json.dumps(verdict.to_json(), default=str).encode())


def _outcome_of(cell: dict[str, Any]) -> CellOutcome:
    error = StudentError(**cell["error"]) if cell["error"] else None
    return CellOutcome(cell["index"], tuple(cell["outputs"]), error, cell["stopped"])


def _fingerprint(course: Course, chapter: str, options: Iterable[object]) -> bytes:
    digest = hashlib.sha256()
    files = [course.source(chapter), course.checks(chapter), *files_beside(course.source(chapter))]
    files += hidden_files(course.checks(chapter))
    # A check file imports modules from its own folder. The checks of other chapters do not matter.
    files += sorted(p for p in course.checks(chapter).parent.glob("*.py") if not p.name.startswith("test_"))
    files += _solutions(course, chapter, files)
    # The version alone would not show changes in a checkout.
    framework = Path(autograder.__file__).parent
    files += sorted(framework.glob("*.py"))
    for package in ("base", "checking", "course", "grading", "judging", "mistakes", "sandbox", "values"):
        files += sorted((framework / package).rglob("*.py"))
    for path in files:
        if path.is_file():
            digest.update(f"{path.name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    limits, packages, secret = asdict(course.limits), list(course.packages), course_secret(course)
    settings = (limits, packages, course.redraw_pictures, course.locate_seconds, secret)
    digest.update(repr((autograder.__version__, chapter, *settings, *options)).encode())
    return digest.digest()


def _solutions(course: Course, chapter: str, files: Iterable[Path]) -> list[Path]:
    """Return the solutions that ``chapter`` may depend on. Solutions of another chapter count only if a file that counts names it."""
    waiting = {path: path.read_bytes() for path in sorted((course.root / "solutions").rglob("*.py"))}
    texts = [path.read_bytes() for path in files if path.suffix == ".py" and path.is_file()]
    others = {name.encode() for name in course.chapters if name != chapter}
    found: list[Path] = []
    while True:
        mentioned = {name for name in others if any(name in text for text in texts)}
        taken = [path for path in waiting if path.stem.encode() not in others - mentioned]
        if not taken:
            return sorted(found)
        found += taken
        texts = [waiting.pop(path) for path in taken]
        others -= mentioned

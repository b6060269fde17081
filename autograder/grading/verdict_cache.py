"""Store verdicts, so that a stopped run can continue and unchanged notebooks are not run again."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

import autograder
from autograder.base.files import write_atomically
from autograder.base.verdict import ExerciseVerdict, Verdict
from autograder.course.course import Course
from autograder.course.notebook import files_beside, hidden_files, load_source
from autograder.course.secret import course_secret
from autograder.grading.meaning import Meanings, meaning_of
from autograder.sandbox.protocol import CellOutcome, StudentError

__all__ = ["VerdictCache"]


@dataclass(frozen=True, slots=True)
class VerdictCache:
    """The stored verdicts of one chapter. A verdict's key is a hash of everything that all exercises of the chapter depend on.

    The hash covers the submission's bytes, the chapter's notebook, the framework, the course's limits and packages, its secret, the options of
    the run, and the code of the course that belongs to no exercise. Code is compared by its meaning, not by its text.

    Attributes:
        base: the hash of everything except the submission. It is sent to other processes, so that they need not read the sources.
        parts: for each exercise, the digest of everything else that it depends on: its checks, reference and misconceptions.
        only: the exercises to grade again if their parts have changed, or None for all. All others keep their stored results.
        read_only: whether verdicts are only looked up, and new ones are not stored.
    """

    folder: Path
    base: bytes
    parts: Mapping[str, str] = field(default_factory=dict)
    only: frozenset[str] | None = None
    read_only: bool = False

    @classmethod
    def of(
        cls, course: Course, chapter: str, options: Iterable[object] = (), only: frozenset[str] | None = None
    ) -> VerdictCache:
        """Return the cache of a course's chapter for runs with these ``options``."""
        return cls(course.state("verdicts", chapter), *_fingerprint(course, chapter, options), only)

    def key(self, data: bytes) -> str:
        """Return the key of the verdict on the submission ``data``."""
        return hashlib.sha256(self.base + hashlib.sha256(data).digest()).hexdigest()

    def accepts(self, parts: Mapping[str, str]) -> bool:
        """Return whether results made with ``parts`` still count for every exercise."""
        return self.parts.keys() == parts.keys() and all(self._accepts(name, parts[name]) for name in parts)

    def _accepts(self, exercise: str, part: str) -> bool:
        return part == self.parts.get(exercise) or (self.only is not None and exercise not in self.only)

    def load(self, key: str) -> Verdict | None:
        """Return the verdict stored under ``key``, or None if it is missing, unreadable or no longer counts."""
        verdict, parts = self._read(key)
        return verdict if self.accepts(parts) else None

    def load_parts(self, key: str) -> Mapping[str, str]:
        """Return the parts with which the verdict under ``key`` was made. The result is empty if there is none."""
        return self._read(key)[1]

    def results(self, key: str) -> dict[str, ExerciseVerdict]:
        """Return the stored results that still count, by exercise. The result is empty if any check timed out."""
        verdict, parts = self._read(key)
        exercises = verdict.exercises if verdict is not None and parts.keys() == self.parts.keys() else ()
        if any(check.status == "timeout" for one in exercises for check in one.checks):
            return {}
        return {one.name: one for one in exercises if self._accepts(one.name, parts.get(one.name, ""))}

    def _read(self, key: str) -> tuple[Verdict | None, Mapping[str, str]]:
        try:
            with open(f"{self.folder}/{key}.json", "rb") as file:  # noqa: PTH123 - faster, and called for every student
                found = json.loads(file.read())
            parts = found.pop("parts")
            return Verdict.from_json(found), parts
        except (OSError, ValueError, KeyError, TypeError):
            return None, {}  # the file is missing, truncated or from another version

    def load_cells(self, key: str) -> tuple[CellOutcome, ...] | None:
        """Return the cells' outputs for a stored verdict. They are large and seldom needed, so they have their own file."""
        try:
            return tuple(_outcome_of(cell) for cell in json.loads((self.folder / f"{key}.cells.json").read_bytes()))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def save(
        self, key: str, verdict: Verdict, cells: Iterable[CellOutcome], kept: Collection[str] = ()
    ) -> Mapping[str, str]:
        """Store a verdict, and return the parts that it was made with. Results of exercises in ``kept`` are from an earlier run.

        An ungradable notebook is not stored, so that the next run tries it again.
        """
        older = self.load_parts(key) if kept else {}
        parts = {**self.parts, **{name: older[name] for name in kept if name in older}}
        if verdict.status != "graded" or self.read_only:
            return parts
        # ``asdict`` is not used, because it would copy all outputs.
        outcomes = [{field.name: getattr(cell, field.name) for field in fields(cell)} for cell in cells]
        text = json.dumps(outcomes, default=lambda one: asdict(one) if isinstance(one, StudentError) else str(one))
        write_atomically(self.folder / f"{key}.cells.json", text.encode())
        # Write the verdict last, because the file of its cells must exist if the verdict does.
        write_atomically(
            self.folder / f"{key}.json", json.dumps({**verdict.to_json(), "parts": parts}, default=str).encode()
        )
        return parts


def _outcome_of(cell: dict[str, Any]) -> CellOutcome:
    error, at = (StudentError(**cell[name]) if cell.get(name) else None for name in ("error", "at"))
    return CellOutcome(cell["index"], tuple(cell["outputs"]), error, cell["stopped"], at)


_meanings = lru_cache(maxsize=1)(Meanings)  # one command needs them twice


def _fingerprint(course: Course, chapter: str, options: Iterable[object]) -> tuple[bytes, dict[str, str]]:
    """Return the hash of everything that all exercises depend on, and for each exercise the digest of what only it depends on."""
    digest = hashlib.sha256()
    source, checks = course.source(chapter), course.checks(chapter)
    given = [*files_beside(source), *hidden_files(checks)]
    modules = _modules(course, chapter, [checks, *given])
    # The version alone would not show changes in a checkout.
    framework = Path(autograder.__file__).parent
    files = [source, *given, *sorted(framework.glob("*.py"))]
    for package in ("base", "checking", "course", "grading", "judging", "mistakes", "sandbox", "values"):
        files += sorted((framework / package).rglob("*.py"))
    texts = [(path, path.read_bytes()) for path in files if path.is_file()]
    own = [path for path in modules if path.stem == chapter]
    texts += [(p, meaning_of(p.read_bytes(), is_solution=p.parent != checks.parent)) for p in modules if p not in own]
    exercises = tuple(load_source(source)[1].exercises()) if source.is_file() else ()
    solutions = tuple(path.read_bytes() for path in own)
    meanings = _meanings(checks.read_bytes() if checks.is_file() else b"", solutions, exercises)
    for path, text in texts:
        digest.update(f"{path.name}\0".encode() + hashlib.sha256(text).digest())
    limits, packages, secret = asdict(course.limits), list(course.packages), course_secret(course)
    settings = (limits, packages, course.redraw_pictures, course.locate_seconds, secret)
    where = [str(path.relative_to(course.root)) for path in own]
    digest.update(repr((autograder.__version__, chapter, where, meanings.rest, *settings, *options)).encode())
    return digest.digest(), meanings.parts


# Import statements, and words that show that a file may import or read modules without such a statement.
_IMPORT = re.compile(r"(?:\bfrom\s+[\w.]+\s+)?\bimport\b(?:\s*\([^)]*\)|(?:\\\n|[^\n])*)")
_IMPORTS_BY_NAME = re.compile(r"\bimportlib\b|\b__import__\b|\bexec\(|\bpkgutil\b|\brunpy\b|\b__file__\b")


def _modules(course: Course, chapter: str, files: Iterable[Path]) -> list[Path]:
    """Return the solutions of ``chapter``, and the modules that they or ``files`` may import.

    A check file imports modules from the solutions and from its own folder. The checks of other chapters do not matter.
    """
    solutions, folder = course.root / "solutions", course.checks(chapter).parent
    waiting = {path: {path.stem} for path in sorted(folder.glob("*.py")) if not path.name.startswith("test_")}
    waiting |= {path: {*path.relative_to(solutions).parts[:-1], path.stem} for path in sorted(solutions.rglob("*.py"))}
    texts = [path.read_bytes() for path in files if path.suffix == ".py" and path.is_file()]
    named, found = {chapter, "__init__", "conftest", "alternatives", "misconceptions"}, list[Path]()
    while True:
        for text in (data.decode("utf-8", "replace") for data in texts):
            places = [text] if _IMPORTS_BY_NAME.search(text) else _IMPORT.findall(text)
            named.update(word for place in places for word in re.findall(r"\w+", place))
        taken = [path for path, words in waiting.items() if words <= named and path not in found]
        if not taken:
            return sorted(found)
        found += taken
        texts = [path.read_bytes() for path in taken]

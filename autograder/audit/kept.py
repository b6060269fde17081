"""An audit that was passed is kept: a chapter whose checks are as they were need not be proven again.

It is kept under the hash of everything that it depends on, so one whose checks, solutions, settings, secret or framework
changed is measured anew. The chapter's prose is not among these.
"""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from collections.abc import Iterable
from dataclasses import asdict, fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import autograder
from autograder.audit.kinds import Kinds
from autograder.audit.report import ChapterAudit, ExerciseAudit
from autograder.course import Course
from autograder.files import write_atomically
from autograder.judging.secret import course_secret
from autograder.notebook import blank_exercises, load_source

__all__ = ["KeptAudit"]

_MADE_BY_PYTHON = frozenset({"__pycache__", ".ipynb_checkpoints"})


class KeptAudit:
    """The place where the audit of one chapter, with these ``options``, is kept."""

    def __init__(self, course: Course, chapter: str, options: Iterable[object] = ()) -> None:
        self._path = course.state("audit", f"{chapter}.json")
        self._key = _fingerprint(course, chapter, options)

    def load(self) -> ChapterAudit | None:
        """The audit that was kept; None where there is none of just this chapter."""
        try:
            kept = json.loads(self._path.read_bytes())
            return _chapter_audit(kept["audit"]) if kept["key"] == self._key else None
        except (OSError, ValueError, KeyError, TypeError):
            return None  # missing, cut short or of another version: it is made again

    def save(self, report: ChapterAudit) -> None:
        """Keep an audit that found nothing to mend: on a busy machine, a solution may only have been too slow."""
        if report.ok:
            text = json.dumps({"key": self._key, "audit": asdict(report)}, ensure_ascii=False)
            write_atomically(self._path, text.encode())


def _fingerprint(course: Course, chapter: str, options: Iterable[object]) -> str:
    digest = hashlib.sha256()
    # Checks may import what stands beside them, and solutions those of other chapters.
    for folder in (course.root / "solutions", course.root / "tests"):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not _MADE_BY_PYTHON & set(path.parts):
                _add(digest, path, course.root)
    for path in sorted(course.root.glob("*.py")):
        _add(digest, path, course.root)
    # Data that checks read, such as the weights of a model; a notebook's prose decides nothing.
    for path in sorted(course.source(chapter).parent.rglob("*")):
        if path.is_file() and path.suffix != ".ipynb" and not _MADE_BY_PYTHON & set(path.parts):
            _add(digest, path, course.root)
    framework = Path(autograder.__file__).parent
    for path in sorted(framework.rglob("*.py")):
        _add(digest, path, framework)
    _, released = load_source(course.source(chapter))
    blank = sorted(blank_exercises(released, released))
    settings = sorted((name, repr(value)) for name, value in course.trait_values(config=True).items())
    rest = (chapter, blank, settings, course_secret(course), sys.version, platform.platform(), _versions(course))
    digest.update(repr((*rest, *options)).encode())
    return digest.hexdigest()


def _add(digest: Any, path: Path, root: Path) -> None:
    name = path.relative_to(root).as_posix().encode()
    digest.update(name + b"\0" + hashlib.sha256(path.read_bytes()).digest())


def _versions(course: Course) -> list[tuple[str, str]]:
    """The versions of what computes the answers."""
    found = []
    for name in sorted({*course.packages, "numpy", "hypothesis", "pytest", "matplotlib"}):
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:  # a module may have another name than its distribution
            found.append((name, ""))
    return found


def _chapter_audit(data: dict[str, Any]) -> ChapterAudit:
    exercises = [_made(ExerciseAudit, {**e, "kinds": _made(Kinds, e["kinds"])}) for e in data["exercises"]]
    report: ChapterAudit = _made(ChapterAudit, {**data, "exercises": exercises})
    return report


def _made(kind: Any, data: dict[str, Any]) -> Any:
    """A dataclass from its fields as JSON has them; raises ``TypeError`` where it has others now."""
    if data.keys() != {field.name for field in fields(kind)}:
        raise TypeError(kind)
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in data.items()})

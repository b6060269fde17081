"""Audit chapters in parallel by judging correct, wrong and mutated solutions, and cache the audits that pass."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import platform
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import redirect_stdout
from dataclasses import asdict, fields
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

import autograder
from autograder.authoring.audit.exercise import MeasuredExercise
from autograder.authoring.audit.fault_model import CategoryCoverage, FaultCoverage
from autograder.authoring.audit.localization_benchmark import places_in
from autograder.authoring.audit.mirror_images import unseparated
from autograder.authoring.audit.report import ChapterAudit, ExerciseAudit
from autograder.base.files import write_atomically
from autograder.course.course import Course, load_course
from autograder.course.notebook import blank_exercises, load_source
from autograder.course.secret import course_secret
from autograder.judging.judge import Judge
from autograder.judging.loader import known_alternatives, load_checks
from autograder.misconception import Misconception

__all__ = ["DRAWS", "CachedAudit", "audit", "each_chapter"]


Result = TypeVar("Result")


def each_chapter(
    work: Callable[[Course, str], Result], course: Course, chapters: Sequence[str], workers: int
) -> Iterator[tuple[str, Result]]:
    """Yield each of ``chapters`` with the result of ``work(course, chapter)``, computed in ``workers`` processes.

    One process keeps the order of ``chapters``. With several, each result is yielded as soon as it is ready, each process loads
    the course again from its folder, and ``work`` must be picklable. Raises any exception that ``work`` raises.
    """
    if workers <= 1 or len(chapters) <= 1:
        for chapter in chapters:
            yield chapter, work(course, chapter)
        return
    # Start with the longest chapters, so that a long chapter does not run alone at the end.
    longest = sorted(chapters, key=lambda chapter: -_length_of(course, chapter))
    # Ctrl-C reaches every process of the terminal. The workers end at once, and leave the message to this process.
    ends = (signal.SIGINT, signal.SIG_DFL)
    with ProcessPoolExecutor(min(workers, len(chapters)), get_context("spawn"), signal.signal, ends) as pool:
        jobs = {pool.submit(_elsewhere, work, str(course.root), chapter): chapter for chapter in longest}
        try:
            for job in as_completed(jobs):
                yield jobs[job], job.result()
        except BaseException:  # do not wait for the other jobs
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _elsewhere(work: Callable[[Course, str], Result], root: str, chapter: str) -> Result:
    return work(load_course(Path(root)), chapter)


def _length_of(course: Course, chapter: str) -> int:
    """Return the size in bytes of a chapter's checks and solutions, as an estimate of how long an audit takes."""
    solutions = course.root / "solutions"
    files = [course.checks(chapter), *solutions.glob(f"{chapter}.py"), *solutions.glob(f"*/{chapter}.py")]
    return sum(path.stat().st_size for path in files if path.is_file())


DRAWS = 20  # correct solutions must pass with this many secrets besides the course's own


def audit(
    course: Course,
    chapters: Sequence[str],
    *,
    mutants: bool = True,
    draws: int = DRAWS,
    locate: bool = False,
    suggest: bool = False,
) -> list[ChapterAudit]:
    """Audit ``chapters`` one after the other. Use ``each_chapter`` to audit several at a time.

    With ``locate``, also measure fault localization, which takes minutes per chapter. With ``suggest``, turn
    mutants that survive or match no misconception into suggestions. Raises ``CourseError`` if the checks cannot be read.
    """
    measure = partial(_audit, course, mutants=mutants, draws=draws, locate=locate, suggest=suggest)
    return [measure(course.require_chapter(chapter)) for chapter in chapters]


def _audit(course: Course, chapter: str, *, mutants: bool, draws: int, locate: bool, suggest: bool) -> ChapterAudit:
    """Audit a chapter, and discard the output of its solutions."""
    begun = time.monotonic()
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
        judge = Judge(load_checks(course, chapter))
        judge.checks.shrinks = False
        # Without a diagnosis, marking takes only a fraction of the time.
        unnamed: dict[str, list[Misconception]] = {name: [] for name in judge.checks.misconceptions}
        marks = Judge(dataclasses.replace(judge.checks, misconceptions=unnamed, shows_cases=False, _diagnoses={}))
        alternatives = known_alternatives(course, chapter)
        _, released = load_source(course.source(chapter))
        blank = blank_exercises(released, released)
        found = []
        for spec in judge.checks.specs.values():
            exercise = MeasuredExercise(judge, marks, spec, [a for a in alternatives if a.exercise == spec.name])
            result = exercise.measure(blank=spec.name in blank, mutants=mutants, draws=draws)
            found.append(exercise.with_suggestions(result) if suggest else result)
        if locate:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # nonsensical code in an edited mutant may cause warnings
                places = places_in(judge.checks)
            found = [dataclasses.replace(e, places=places.get(e.name)) for e in found]
        quizzes = {spec.name for spec in judge.checks.specs.values() if spec.answers}
        gaps = [text for name in judge.checks.specs if name not in quizzes for text in unseparated(judge.checks, name)]
    seconds = time.monotonic() - begun
    return ChapterAudit(
        chapter, tuple(found), seconds, targets=course.targets, at_least=course.at_least, mistakes=tuple(gaps)
    )


_MADE_BY_PYTHON = frozenset({"__pycache__", ".ipynb_checkpoints"})


class CachedAudit:
    """The cached audit of one chapter with the given ``options``."""

    def __init__(self, course: Course, chapter: str, options: Iterable[object] = ()) -> None:
        self._path = course.state("audit", f"{chapter}.json")
        self._key = _fingerprint(course, chapter, options)

    def load(self) -> ChapterAudit | None:
        """Return the cached audit, or None if there is no cached audit or something that it depends on has changed."""
        try:
            kept = json.loads(self._path.read_bytes())
            return _chapter_audit(kept["audit"]) if kept["key"] == self._key else None
        except (OSError, ValueError, KeyError, TypeError):
            return None  # missing, truncated or from another version

    def save(self, report: ChapterAudit) -> None:
        """Save an audit without problems. An audit with problems is not cached, because a busy machine may have caused a timeout."""
        if report.ok:
            text = json.dumps({"key": self._key, "audit": asdict(report)}, ensure_ascii=False)
            write_atomically(self._path, text.encode())


def _fingerprint(course: Course, chapter: str, options: Iterable[object]) -> str:
    digest = hashlib.sha256()
    # Checks may import neighboring modules, and solutions may import other chapters' solutions.
    for folder in (course.root / "solutions", course.root / "tests"):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not _MADE_BY_PYTHON & set(path.parts):
                _add(digest, path, course.root)
    for path in sorted(course.root.glob("*.py")):
        _add(digest, path, course.root)
    # Include data that the checks read, such as model weights. Leave out notebooks, whose prose has no effect.
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
    """Return the versions of the packages that affect answers."""
    found = []
    for name in sorted({*course.packages, "numpy", "hypothesis", "pytest", "matplotlib"}):
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:  # a module and its distribution may have different names
            found.append((name, ""))
    return found


def _chapter_audit(data: dict[str, Any]) -> ChapterAudit:
    parts = {"kinds": CategoryCoverage, "fault_coverage": FaultCoverage}
    made = [{**e, **{key: _made(kind, e[key]) for key, kind in parts.items()}} for e in data["exercises"]]
    exercises = [_made(ExerciseAudit, e) for e in made]
    report: ChapterAudit = _made(ChapterAudit, {**data, "exercises": exercises})
    return report


def _made(kind: Any, data: dict[str, Any]) -> Any:
    """Return an object of the dataclass ``kind`` from its JSON data. Raises ``TypeError`` if its fields have changed."""
    if data.keys() != {field.name for field in fields(kind)}:
        raise TypeError(kind)
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in data.items()})

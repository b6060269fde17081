"""Audit chapters: judge right, wrong and mutated solutions, in parallel, and cache passed audits."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import multiprocessing
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
from pathlib import Path
from typing import Any, TypeVar

import autograder
from autograder.authoring.audit.category_coverage import CategoryCoverage
from autograder.authoring.audit.exercise import MeasuredExercise
from autograder.authoring.audit.localization_benchmark import places_in
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
    """Each of ``chapters`` with what ``work(course, chapter)`` returns for it, on as many processes as ``workers`` says.

    One process takes them in their order; several give each as it ends. ``work`` goes to other processes, which read the course again
    from its folder. Raises what ``work`` raises.
    """
    if workers <= 1 or len(chapters) <= 1:
        for chapter in chapters:
            yield chapter, work(course, chapter)
        return
    # The longest first, as far as the length of its texts tells: so no process is left alone with one at the end.
    longest = sorted(chapters, key=lambda chapter: -_length_of(course, chapter))
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(chapters)), context, _begin) as pool:
        jobs = {pool.submit(_elsewhere, work, str(course.root), chapter): chapter for chapter in longest}
        try:
            for job in as_completed(jobs):
                yield jobs[job], job.result()
        finally:  # where one failed, those that have not begun are not waited for
            pool.shutdown(wait=False, cancel_futures=True)


def _begin() -> None:
    # Ctrl-C reaches every process of the terminal: this one ends at once, and its parent says what there is to say.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _elsewhere(work: Callable[[Course, str], Result], root: str, chapter: str) -> Result:
    return work(load_course(Path(root)), chapter)


def _length_of(course: Course, chapter: str) -> int:
    """How many bytes a chapter's checks and solutions have, whose number decides how long an audit takes."""
    solutions = course.root / "solutions"
    files = [course.checks(chapter), *solutions.glob(f"{chapter}.py"), *solutions.glob(f"*/{chapter}.py")]
    return sum(path.stat().st_size for path in files if path.is_file())


DRAWS = 20  # sets of inputs on which alternatives must do well


def audit(
    course: Course,
    chapters: Sequence[str],
    *,
    mutants: bool = True,
    workers: int = 1,
    draws: int = DRAWS,
    locate: bool = False,
    suggest: bool = False,
) -> list[ChapterAudit]:
    """Audit ``chapters``, on as many processes as ``workers`` says; raises ``CourseError`` where checks cannot be read.

    With ``locate``, the line of the mistake is looked for in mutants and misconceptions too, which takes minutes a chapter; with
    ``suggest``, mutants that survive or that nothing names are offered as misconceptions.
    """
    for chapter in chapters:
        course.require_chapter(chapter)
    measure = partial(_in_silence, mutants=mutants, draws=draws, locate=locate, suggest=suggest)
    measured = dict(each_chapter(measure, course, chapters, workers))
    return [measured[chapter] for chapter in chapters]


def _in_silence(course: Course, chapter: str, **how: bool | int) -> ChapterAudit:
    """The audit of a chapter; what its solutions print, over and over, is nothing that an author wants to read."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
        return _audit(course, chapter, **how)  # type: ignore[arg-type]


def _audit(course: Course, chapter: str, *, mutants: bool, draws: int, locate: bool, suggest: bool) -> ChapterAudit:
    begun = time.monotonic()
    judge = Judge(load_checks(course, chapter))
    judge.checks.shrinks = False
    # Marks alone take a small part of the time that it takes to name the mistake as well.
    unnamed: dict[str, list[Misconception]] = {name: [] for name in judge.checks.misconceptions}
    marks = Judge(dataclasses.replace(judge.checks, misconceptions=unnamed, shows_cases=False, _diagnoses={}))
    alternatives = known_alternatives(course, chapter)
    _, released = load_source(course.source(chapter))
    blank = blank_exercises(released, released)
    found = []
    for spec in judge.checks.specs.values():
        exercise = MeasuredExercise(judge, marks, spec, [a for a in alternatives if a.exercise == spec.name])
        result = exercise.measured(blank=spec.name in blank, mutants=mutants, draws=draws)
        found.append(exercise.with_suggestions(result) if suggest else result)
    if locate:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of nonsense, which is what an edited mutant may be
            places = places_in(judge.checks)
        found = [dataclasses.replace(e, places=places.get(e.name)) for e in found]
    seconds = time.monotonic() - begun
    return ChapterAudit(chapter, tuple(found), seconds, targets=course.targets, at_least=course.at_least)


_MADE_BY_PYTHON = frozenset({"__pycache__", ".ipynb_checkpoints"})


class CachedAudit:
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
    exercises = [_made(ExerciseAudit, {**e, "kinds": _made(CategoryCoverage, e["kinds"])}) for e in data["exercises"]]
    report: ChapterAudit = _made(ChapterAudit, {**data, "exercises": exercises})
    return report


def _made(kind: Any, data: dict[str, Any]) -> Any:
    """A dataclass from its fields as JSON has them; raises ``TypeError`` where it has others now."""
    if data.keys() != {field.name for field in fields(kind)}:
        raise TypeError(kind)
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in data.items()})

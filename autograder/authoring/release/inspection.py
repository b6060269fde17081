"""Inspect a chapter before its release, and report all of the author's mistakes at once."""

from __future__ import annotations

import re
from dataclasses import dataclass

from autograder.authoring.release.cells import cell_mistakes, second_notebook_mistakes
from autograder.authoring.release.check_file import CheckFile
from autograder.authoring.release.course_map import described
from autograder.authoring.release.dry_run import NOT_BACK, dry_run_mistakes, load_with_timeout
from autograder.authoring.release.needs import PACKAGES, need_mistakes
from autograder.authoring.release.problems import NOT_BLANK, Mistake, SourceNotebook, unfinished_places
from autograder.authoring.release.stubs import leaked_code, stub_mistakes, syntax_mistakes
from autograder.authoring.release.trial_run import trial_run
from autograder.base.errors import CourseError
from autograder.course.course import Course
from autograder.judging.loader import ChapterChecks
from autograder.sandbox.confinement import Confinement

__all__ = ["Inspection", "inspect_chapter"]


@dataclass(frozen=True)
class Inspection:
    """The mistakes found in a chapter without running its notebook.

    Attributes:
        file: the parsed check file.
        source: the notebook, or None if it cannot be read.
        checks: the checks, or None if they cannot be loaded or the references do not pass them.
        mistakes: the author's mistakes that were found.
        endless: whether a reference does not return.
        unfinished: whether a part of the chapter is still to be written.
    """

    file: CheckFile
    source: SourceNotebook | None
    checks: ChapterChecks | None
    mistakes: tuple[Mistake, ...]
    endless: bool = False
    unfinished: bool = False

    def with_trial_run(self, confinement: Confinement = "auto") -> tuple[Mistake, ...]:
        """Run and grade the notebook, solved and blank. Return all mistakes, whether the files or these runs reveal them.

        Raises ``SandboxUnavailable`` if the sandbox cannot be started.
        """
        reported = {m.about for m in self.mistakes if m.about and not m.about.startswith(NOT_BLANK)}
        if self.source is None or self.checks is None or PACKAGES in reported:
            return self.mistakes
        mistakes = trial_run(self.source, self.checks, self.file, reported=reported, confinement=confinement)
        solved = {mistake.about for mistake in mistakes if mistake.about.startswith(NOT_BLANK)}
        before = [mistake for mistake in self.mistakes if mistake.about not in solved]
        return _each_once(_with_relative_paths(self.file.course, [*before, *mistakes]))


def inspect_chapter(course: Course, chapter: str) -> Inspection:
    """Compare a chapter's notebook, stubs, checks and solutions. Nothing is written.

    Raises ``CourseError`` if the course has no such chapter.
    """
    if chapter not in course.chapters:
        course.require_chapter(chapter)
    mistakes: list[Mistake] = []
    if course.chapters.count(chapter) > 1:
        mistakes.append(Mistake("course_config.py", f"{chapter} occurs twice in c.Course.chapters."))
    file = CheckFile(course, chapter)
    checks, source = None, None
    try:
        source = SourceNotebook.of(course, chapter)
    except CourseError as error:
        mistakes.append(Mistake("", _missing(course, chapter) or str(error)))
    try:
        checks = load_with_timeout(course, chapter)
    except CourseError as error:
        mistakes.append(Mistake("", str(error)))
    mistakes += file.mistakes()
    if source is not None:
        mistakes += syntax_mistakes(source)
        mistakes += cell_mistakes(source, chapter, checks.specs if checks is not None else None)
        mistakes += second_notebook_mistakes(course, chapter)
        mistakes += need_mistakes(source, course, chapter)
        mistakes += _map_mistakes(course, chapter)
    usable = checks
    if checks is not None:
        mistakes += file.disagreements(checks)
        failed = list(dry_run_mistakes(checks, file))
        mistakes += failed
        usable = None if failed else checks
        if source is not None:
            mistakes += stub_mistakes(source, checks)
            mistakes += leaked_code(source, checks, file)
    todo = unfinished_places(course, chapter)
    begun = {place.about for place in todo} - {""}
    mistakes = [*todo, *(mistake for mistake in mistakes if not _follows(mistake, begun))]
    reported = _each_once(_with_relative_paths(course, mistakes))
    endless = any(NOT_BACK in mistake.what for mistake in reported)
    return Inspection(file, source, usable, reported, endless=endless, unfinished=bool(todo))


def _follows(mistake: Mistake, begun: set[str]) -> bool:
    """Return whether ``mistake`` concerns an unfinished exercise in ``begun``, and so may result from that."""
    if mistake.about or mistake.where:
        return mistake.about in begun
    return bool(begun & set(re.findall(r"\w+", mistake.what)))


def _map_mistakes(course: Course, chapter: str) -> list[Mistake]:
    """Return the mistake, if any, that prevents writing the course map, so that it is found before the slow validation."""
    try:
        described(course, [chapter])
    except CourseError as error:
        return [Mistake("", str(error))]
    return []


def _missing(course: Course, chapter: str) -> str:
    folder = course.source(chapter).parent
    if not folder.is_dir():
        return f"{chapter} is in c.Course.chapters in course_config.py, but there is no folder source/{chapter}."
    if not course.source(chapter).is_file():
        there = sorted(path.name for path in folder.glob("*.ipynb"))
        instead = f" There is {' and '.join(there)}. Rename it if it is the chapter's notebook." if there else ""
        return f"There is no notebook source/{chapter}/{chapter}.ipynb.{instead}"
    return ""


def _with_relative_paths(course: Course, mistakes: list[Mistake]) -> list[Mistake]:
    root = f"{course.root}/"
    return [Mistake(m.where.replace(root, ""), m.what.replace(root, ""), m.about) for m in mistakes]


def _each_once(mistakes: list[Mistake]) -> tuple[Mistake, ...]:
    return tuple({str(mistake): mistake for mistake in mistakes}.values())

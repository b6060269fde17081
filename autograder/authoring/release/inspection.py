"""A chapter looked through before it is released: every mistake of its author's that is found, at once."""

from __future__ import annotations

import re
from dataclasses import dataclass

from autograder.authoring.release.cells import cell_mistakes, second_notebook_mistakes
from autograder.authoring.release.check_file import CheckFile
from autograder.authoring.release.course_map import described
from autograder.authoring.release.dry_run import NOT_BACK, dry_run_mistakes, load_with_timeout
from autograder.authoring.release.needs import PACKAGES, need_mistakes
from autograder.authoring.release.problems import NOT_BLANK, Mistake, SourceNotebook, unfinished_places
from autograder.authoring.release.stubs import stub_mistakes, syntax_mistakes
from autograder.authoring.release.trial_run import trial_run
from autograder.base.errors import CourseError
from autograder.course.course import Course
from autograder.judging.loader import ChapterChecks
from autograder.sandbox.confinement import Confinement

__all__ = ["Inspection", "inspect_chapter"]


@dataclass(frozen=True)
class Inspection:
    """What was found in a chapter without running its notebook.

    ``checks`` is None where the references cannot be put to them, ``source`` where the notebook cannot be read. ``endless``
    says that some reference does not come back, ``unfinished`` that something is still to be written.
    """

    file: CheckFile
    source: SourceNotebook | None
    checks: ChapterChecks | None
    mistakes: tuple[Mistake, ...]
    endless: bool = False
    unfinished: bool = False

    def rehearsed(self, confinement: Confinement = "auto") -> tuple[Mistake, ...]:
        """The mistakes, and those that show where the notebook is run, solved and blank, and graded.

        Raises ``SandboxUnavailable`` where no jail can be had.
        """
        told = {mistake.about for mistake in self.mistakes if mistake.about and not mistake.about.startswith(NOT_BLANK)}
        if self.source is None or self.checks is None or PACKAGES in told:
            return self.mistakes
        found = trial_run(self.source, self.checks, self.file, told=told, confinement=confinement)
        solved = {mistake.about for mistake in found if mistake.about.startswith(NOT_BLANK)}
        before = [mistake for mistake in self.mistakes if mistake.about not in solved]
        return _each_once(_from_the_course(self.file.course, [*before, *found]))


def inspect_chapter(course: Course, chapter: str) -> Inspection:
    """Hold a chapter's notebook, stubs, checks and solutions against each other; nothing is written.

    Raises ``CourseError`` where the course has no such chapter.
    """
    if chapter not in course.chapters:
        course.require_chapter(chapter)  # which says so
    mistakes: list[Mistake] = []
    if course.chapters.count(chapter) > 1:
        mistakes.append(Mistake("course_config.py", f"{chapter} stands twice in c.Course.chapters."))
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
    todo = unfinished_places(course, chapter)
    begun = {place.about for place in todo} - {""}
    mistakes = [*todo, *(mistake for mistake in mistakes if not _follows(mistake, begun))]
    told = _each_once(_from_the_course(course, mistakes))
    endless = any(NOT_BACK in mistake.what for mistake in told)
    return Inspection(file, source, usable, told, endless=endless, unfinished=bool(todo))


def _follows(mistake: Mistake, begun: set[str]) -> bool:
    """Whether a mistake is about an exercise that is only begun, and so may come of what is not written yet."""
    if mistake.about or mistake.where:
        return mistake.about in begun
    return bool(begun & set(re.findall(r"\w+", mistake.what)))


def _map_mistakes(course: Course, chapter: str) -> list[Mistake]:
    """What keeps the map from being drawn once the chapter is released: told before its checks are proven, which takes minutes."""
    try:
        described(course, [chapter])
    except CourseError as error:
        return [Mistake("", str(error))]
    return []


def _missing(course: Course, chapter: str) -> str:
    folder = course.source(chapter).parent
    if not folder.is_dir():
        return f"{chapter} stands in c.Course.chapters of course_config.py, and there is no folder source/{chapter}."
    if not course.source(chapter).is_file():
        there = sorted(path.name for path in folder.glob("*.ipynb"))
        instead = f" There is {' and '.join(there)}: is it to have that name?" if there else ""
        return f"There is no notebook source/{chapter}/{chapter}.ipynb.{instead}"
    return ""


def _from_the_course(course: Course, mistakes: list[Mistake]) -> list[Mistake]:
    """The same, with the course's files named as they are found from its folder."""
    root = f"{course.root}/"
    return [Mistake(m.where.replace(root, ""), m.what.replace(root, ""), m.about) for m in mistakes]


def _each_once(mistakes: list[Mistake]) -> tuple[Mistake, ...]:
    return tuple({str(mistake): mistake for mistake in mistakes}.values())

"""The course map that students see: chapters, exercises with their difficulty, progress, and what comes next."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

from autograder.base.formatting import pluralize
from autograder.base.sanitize import sanitize
from autograder.pages.html import STYLE
from autograder.pages.text import WIDTH

__all__ = ["CourseMap", "MappedChapter", "MappedExercise", "link_to", "map_html", "map_text"]

SIGNS = {"done": "✓", "begun": "…", "": "·"}
WORDS = {"done": "done", "begun": "started", "": "not started"}


@dataclass(frozen=True, slots=True)
class MappedExercise:
    """One exercise. ``stars`` and ``minutes`` are 0 if unknown. ``status`` is "" until it is begun. ``cell`` is its first cell's id."""

    name: str
    kind: str = "function"
    stars: int = 0
    minutes: int = 0
    status: Literal["", "begun", "done"] = ""
    cell: str = ""

    @property
    def command(self) -> str:
        """The code that checks this exercise."""
        return f'check("{self.name}")' if self.kind == "answers" else f"check({self.name})"


@dataclass(frozen=True, slots=True)
class MappedChapter:
    """One chapter. ``exercises`` is empty if the chapter's examples are not available."""

    chapter: str
    title: str = ""
    exercises: tuple[MappedExercise, ...] = ()

    @property
    def done(self) -> int:
        """The number of exercises that are done."""
        return sum(exercise.status == "done" for exercise in self.exercises)

    @property
    def is_done(self) -> bool:
        """Whether all exercises are done."""
        return bool(self.exercises) and self.done == len(self.exercises)


@dataclass(frozen=True, slots=True)
class CourseMap:
    """A course and a student's progress in it. ``here`` is the current chapter, or empty."""

    course: str
    chapters: tuple[MappedChapter, ...]
    here: str = ""

    @property
    def is_done(self) -> bool:
        """Whether all exercises of all chapters are done."""
        return bool(self.chapters) and all(chapter.is_done for chapter in self.chapters)

    def next(self, after: tuple[str, str] = ("", "")) -> tuple[MappedChapter, MappedExercise] | None:
        """Return the first unfinished exercise that follows ``after`` (chapter and exercise), with its chapter.

        The search wraps around. Without ``after``, it starts at the current chapter. Return None if all exercises are done.
        """
        pairs = [(chapter, exercise) for chapter in self.chapters for exercise in chapter.exercises]
        names = [(chapter.chapter, exercise.name) for chapter, exercise in pairs]
        here = next((index for index, (chapter, _) in enumerate(pairs) if chapter.chapter == self.here), 0)
        start = names.index(after) + 1 if after in names else here
        return next((pair for pair in [*pairs[start:], *pairs[:start]] if pair[1].status != "done"), None)


def closing(course_map: CourseMap) -> str:
    """Return a sentence that says what to do next, or the final text if the course is done."""
    if course_map.is_done:
        return course_end(course_map)
    following = course_map.next()
    if following is not None:
        chapter, exercise = following
        minutes = f", about {exercise.minutes} minutes" if exercise.minutes else ""
        return f"Next: `{exercise.name}` in {chapter.chapter}{minutes}."
    waiting = next((chapter.chapter for chapter in course_map.chapters if not chapter.exercises), "")
    return f"Next: {waiting}. Open its notebook." if waiting else ""


def course_end(course_map: CourseMap) -> str:
    """Return the final text of a course."""
    number = sum(len(chapter.exercises) for chapter in course_map.chapters)
    of = f" of {course_map.course}" if course_map.course else ""
    return (
        f"This is the end{of}: {pluralize(number, 'exercise')} in {pluralize(len(course_map.chapters), 'chapter')}, and you have solved "
        "them all. Each of these functions is yours, and you have seen it work. Keep the notebooks, and read one again in a month. "
        "Then explain the hardest part to somebody else: that shows whether you understand it."
    )


def link_to(chapter: str, cell: str) -> str:
    """Return the link to ``cell`` in the notebook of ``chapter``, relative to any chapter's notebook."""
    return f"../{chapter}/{chapter}.ipynb" + (f"#cell-id={cell}" if cell else "")


def map_text(course_map: CourseMap, width: int = WIDTH) -> str:
    """Return the map as text for a terminal."""
    lines = [sanitize(course_map.course) or "Your course"]
    for chapter in course_map.chapters:
        lines += ["", *_filled(_heading(chapter), width)]
        lines += [f"  {SIGNS[e.status]} {sanitize(e.name)}  {'★' * e.stars}".rstrip() for e in chapter.exercises]
    lines += ["", "✓ done   … started   · not started"]
    if sentence := closing(course_map):
        lines += ["", *_filled(sentence.replace("`", ""), width)]
    return "\n".join(lines)


def map_html(course_map: CourseMap) -> str:
    """Return the map as a self-contained HTML fragment. Chapters are folded except the one with the next exercise."""
    following = course_map.next()
    now = following[0].chapter if following is not None else ""
    chapters = "".join(_chapter(course_map, chapter, is_open=chapter.chapter == now) for chapter in course_map.chapters)
    name = escape(sanitize(course_map.course) or "Your course")
    what = escape(closing(course_map).replace("`", ""))
    if following is not None:
        what = f'<a href="{_address(course_map, *following)}">{what}</a>'
    return (
        f'{STYLE}<section class="ag-card {"ag-good" if course_map.is_done else "ag-open"} mathjax_ignore tex2jax_ignore" role="group" '
        f'aria-label="{name}: the map"><p class="ag-head"><span class="ag-name">{name}</span></p>{chapters}<p>{what}</p></section>'
    )


def _heading(chapter: MappedChapter) -> str:
    title = sanitize(chapter.title) or sanitize(chapter.chapter)
    if not chapter.exercises:
        return f"{title} (not opened yet)"
    if chapter.is_done:
        return f"{title} (🎉 all {len(chapter.exercises)} done)"
    minutes = sum(exercise.minutes for exercise in chapter.exercises if exercise.status != "done")
    left = f", about {pluralize(minutes, 'minute')} left" if minutes else ""
    return f"{title} ({chapter.done} of {len(chapter.exercises)} done{left})"


def _address(course_map: CourseMap, chapter: MappedChapter, exercise: MappedExercise) -> str:
    """Return the link to an exercise, relative to the notebook that shows the map."""
    link = link_to(chapter.chapter, exercise.cell)
    return escape(sanitize(link if course_map.here else link.removeprefix("../")))


def _chapter(course_map: CourseMap, chapter: MappedChapter, *, is_open: bool) -> str:
    heading = escape(_heading(chapter))
    if not chapter.exercises:
        return f"<p>{heading}</p>"
    items = "".join(_exercise(one, _address(course_map, chapter, one)) for one in chapter.exercises)
    look = " open" if is_open else ""
    return f'<details{look}><summary>{heading}</summary><ul class="ag-list">{items}</ul></details>'


def _exercise(exercise: MappedExercise, address: str) -> str:
    look = {"done": "ag-passed", "begun": "ag-waiting", "": "ag-waiting"}[exercise.status]
    label, stars = pluralize(exercise.stars, "star"), "★" * exercise.stars
    stars = f' <span aria-label="{label}">{stars}</span>' if stars else ""
    minutes = f" · {exercise.minutes} minutes" if exercise.minutes else ""
    return (
        f'<li class="{look}"><span class="ag-sign" aria-hidden="true">{SIGNS[exercise.status]}</span>'
        f'<a href="{address}"><code>{escape(sanitize(exercise.name))}</code></a>{stars}{minutes} · {WORDS[exercise.status]}</li>'
    )


def _filled(text: str, width: int) -> Sequence[str]:
    return textwrap.wrap(text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)

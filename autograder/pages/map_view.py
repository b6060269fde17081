"""The map of a course as a student sees it: chapters, exercises with their stars, what is done and what comes next."""

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

__all__ = ["CourseMap", "MappedChapter", "MappedExercise", "map_html", "map_text"]

SIGNS = {"done": "✓", "begun": "…", "": "·"}
WORDS = {"done": "done", "begun": "begun", "": "not begun"}


@dataclass(frozen=True, slots=True)
class MappedExercise:
    """One exercise: ``stars`` and ``minutes`` are 0 where nobody said, ``status`` is empty where it was not begun."""

    name: str
    kind: str = "function"
    stars: int = 0
    minutes: int = 0
    status: Literal["", "begun", "done"] = ""

    @property
    def command(self) -> str:
        """What to write to check it."""
        return f'check("{self.name}")' if self.kind == "answers" else f"check({self.name})"


@dataclass(frozen=True, slots=True)
class MappedChapter:
    """One chapter; ``exercises`` is empty where its examples do not lie here, so that nothing is known of them."""

    chapter: str
    title: str = ""
    exercises: tuple[MappedExercise, ...] = ()

    @property
    def done(self) -> int:
        """How many of its exercises hold."""
        return sum(exercise.status == "done" for exercise in self.exercises)

    @property
    def is_done(self) -> bool:
        """Whether all of them hold."""
        return bool(self.exercises) and self.done == len(self.exercises)


@dataclass(frozen=True, slots=True)
class CourseMap:
    """A course and how far a student is on it; ``here`` is the chapter that is open, empty where none is."""

    course: str
    chapters: tuple[MappedChapter, ...]
    here: str = ""

    @property
    def is_done(self) -> bool:
        """Whether every exercise of every chapter holds."""
        return bool(self.chapters) and all(chapter.is_done for chapter in self.chapters)

    def next(self, after: tuple[str, str] = ("", "")) -> tuple[MappedChapter, MappedExercise] | None:
        """The first exercise that does not hold yet behind ``after``, a chapter and an exercise; then one before it.

        Without ``after``, from the chapter that is open on.
        """
        every = [(chapter, exercise) for chapter in self.chapters for exercise in chapter.exercises]
        names = [(chapter.chapter, exercise.name) for chapter, exercise in every]
        here = next((place for place, (chapter, _) in enumerate(every) if chapter.chapter == self.here), 0)
        start = names.index(after) + 1 if after in names else here
        return next((both for both in [*every[start:], *every[:start]] if both[1].status != "done"), None)


def closing(road: CourseMap) -> str:
    """What to do now, or the end."""
    if road.is_done:
        return course_end(road)
    found = road.next()
    if found is not None:
        chapter, exercise = found
        minutes = f", about {exercise.minutes} minutes" if exercise.minutes else ""
        return f"Next: `{exercise.name}` in {chapter.chapter}{minutes}."
    waiting = next((chapter.chapter for chapter in road.chapters if not chapter.exercises), "")
    return f"Next: {waiting}; open its notebook." if waiting else ""


def course_end(road: CourseMap) -> str:
    """The last sentences of a course."""
    number = sum(len(chapter.exercises) for chapter in road.chapters)
    of = f" of {road.course}" if road.course else ""
    return (
        f"This is the end{of}: {pluralize(number, 'exercise')} in {pluralize(len(road.chapters), 'chapter')}, and every one of them "
        "holds. Each of these functions is yours, and you have seen it work. Keep the notebooks, read one again in a month, and "
        "explain the part that you found hardest to somebody else: then you will know that you know it."
    )


def map_text(road: CourseMap, width: int = WIDTH) -> str:
    """The map as a terminal shows it."""
    lines = [sanitize(road.course) or "Your course"]
    for chapter in road.chapters:
        lines += ["", *_filled(_heading(chapter), width)]
        lines += [f"  {SIGNS[e.status]} {sanitize(e.name)}{_effort(e)}" for e in chapter.exercises]
    lines += ["", "✓ done   … begun   · not begun"]
    if said := closing(road):
        lines += ["", *_filled(said.replace("`", ""), width)]
    return "\n".join(lines)


def map_html(road: CourseMap) -> str:
    """The map as one self-contained fragment: a chapter folds, and the one with the next exercise is open."""
    found = road.next()
    now = found[0].chapter if found is not None else ""
    chapters = "".join(_chapter(chapter, is_open=chapter.chapter == now) for chapter in road.chapters)
    name = escape(sanitize(road.course) or "Your course")
    what = escape(closing(road).replace("`", ""))
    return (
        f'{STYLE}<section class="ag-card {"ag-good" if road.is_done else "ag-open"} mathjax_ignore tex2jax_ignore" role="group" '
        f'aria-label="{name}: the map"><p class="ag-head"><span class="ag-name">{name}</span></p>{chapters}<p>{what}</p></section>'
    )


def _heading(chapter: MappedChapter) -> str:
    title = sanitize(chapter.title) or sanitize(chapter.chapter)
    if not chapter.exercises:
        return f"{title} (not opened yet)"
    return f"{title} ({chapter.done} of {len(chapter.exercises)} done)"


def _effort(exercise: MappedExercise) -> str:
    return f"  {'★' * exercise.stars}" if exercise.stars else ""


def _chapter(chapter: MappedChapter, *, is_open: bool) -> str:
    heading = escape(_heading(chapter))
    if not chapter.exercises:
        return f"<p>{heading}</p>"
    items = "".join(map(_exercise, chapter.exercises))
    return (
        f'<details{" open" if is_open else ""}><summary>{heading}</summary><ul class="ag-list">{items}</ul></details>'
    )


def _exercise(exercise: MappedExercise) -> str:
    look = {"done": "ag-passed", "begun": "ag-waiting", "": "ag-waiting"}[exercise.status]
    stars = (
        f' <span aria-label="{pluralize(exercise.stars, "star")}">{"★" * exercise.stars}</span>'
        if exercise.stars
        else ""
    )
    minutes = f" · {exercise.minutes} minutes" if exercise.minutes else ""
    return (
        f'<li class="{look}"><span class="ag-sign" aria-hidden="true">{SIGNS[exercise.status]}</span>'
        f"<code>{escape(sanitize(exercise.name))}</code>{stars}{minutes} · {WORDS[exercise.status]}</li>"
    )


def _filled(text: str, width: int) -> Sequence[str]:
    return textwrap.wrap(text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)

"""The map of the course around a notebook: what its chapters' examples and the notes of progress tell.

>>> road_of(Path("course")).next()
"""

from __future__ import annotations

from pathlib import Path

from autograder.examples import EXAMPLES_NAME, Examples, ExamplesError, load_examples
from autograder.render.road import MappedChapter, MappedExercise, RoadMap
from autograder.selfcheck.progress import Progress, read

__all__ = ["road_of"]


def road_of(folder: Path, here: Examples | None = None) -> RoadMap:
    """The map of the course whose chapters lie in ``folder``, one folder each; ``here`` are those of the chapter that is open.

    A chapter whose examples are not there is on the map too, if another chapter knows of it.
    """
    found = {examples.chapter: examples for examples in [*_beside(folder), *([here] if here else [])]}
    progress = read(folder)
    named = max((examples.chapters for examples in found.values()), key=len, default=())
    order = [*named, *sorted(chapter for chapter in found if chapter not in named)]
    course = next((examples.course for examples in found.values() if examples.course), "")
    return RoadMap(
        course,
        tuple(_chapter(chapter, found.get(chapter), progress) for chapter in order),
        here.chapter if here else "",
    )


def _beside(folder: Path) -> list[Examples]:
    """The examples of each chapter in ``folder``; in a course's own folder those that it made for its notebooks."""
    made = folder.parent / ".autograder" / "examples"
    paths = [folder / EXAMPLES_NAME, *folder.glob(f"*/{EXAMPLES_NAME}"), *made.glob("*.json")]
    found = []
    for path in sorted(set(paths)):
        try:
            found.append(load_examples(path))
        except ExamplesError:  # said by a check in that chapter
            continue
    return found


def _chapter(chapter: str, examples: Examples | None, progress: Progress) -> MappedChapter:
    if examples is None:
        return MappedChapter(chapter)
    exercises = tuple(
        MappedExercise(e.name, e.kind, e.stars, e.minutes, progress.of(chapter, e.name).status)
        for e in examples.exercises.values()
    )
    return MappedChapter(chapter, examples.title, exercises)

"""Which notebook is meant: the one that is named, the one that lies here, or the chapter at which the course has arrived."""

from __future__ import annotations

from pathlib import Path

from autograder.errors import CourseError
from autograder.examples import EXAMPLES_NAME, ExamplesError, load_examples
from autograder.selfcheck import progress
from autograder.terminal.layout import COURSE_NAME, chapters_of

__all__ = ["find_notebook", "next_chapter"]


def find_notebook(asked: Path | None) -> Path:
    """The notebook to watch, where ``asked`` names it, its folder, the folder of a course, or nothing.

    Raises ``CourseError`` where there is none, or more than one and nothing tells which.
    """
    place = asked if asked is not None else Path.cwd()
    if place.is_file():
        if place.suffix != ".ipynb":
            raise CourseError(f"{place} is no notebook: name a file that ends in .ipynb.")
        return place
    if not place.is_dir():
        near = f" Did you mean {place}.ipynb?" if place.with_name(f"{place.name}.ipynb").is_file() else ""
        raise CourseError(f"There is no {place}.{near} Name a notebook, or the folder of one.")
    if (place / COURSE_NAME).is_file():
        return _first_unfinished(place)
    here = sorted(path for path in place.glob("*.ipynb") if not path.name.startswith("."))
    if len(here) == 1:
        return here[0]
    if not here:
        raise CourseError(
            f"There is no notebook in {place.resolve()}. Name one, go to the folder of a chapter, or lay the course out: autograder start"
        )
    raise CourseError(
        f"There are {len(here)} notebooks in {place.resolve()}. Name one: autograder watch {here[0].name}"
    )


def next_chapter(notebook: Path) -> Path | None:
    """The notebook of the chapter after that of ``notebook``, in a course that was laid out; None at its end or elsewhere."""
    folder = notebook.resolve().parent.parent
    if not (folder / COURSE_NAME).is_file():
        return None
    chapters = chapters_of(folder)
    places = [place for place, path in enumerate(chapters) if path.parent.name == notebook.resolve().parent.name]
    return chapters[places[0] + 1] if places and places[0] + 1 < len(chapters) else None


def _first_unfinished(folder: Path) -> Path:
    """The first chapter with an exercise that is not done; the last one where all are."""
    chapters = chapters_of(folder)
    if not chapters:
        raise CourseError(f"No chapter lies in {folder.resolve()} any more. Lay them out again: autograder start")
    done = progress.read(Path(progress.folder_of(chapters[0].parent, chapters[0].parent.name)))
    for path in chapters:
        try:
            examples = load_examples(path.parent / EXAMPLES_NAME)
        except ExamplesError:
            return path  # which says what is wrong with them
        if any(done.of(examples.chapter, name).status != "done" for name in examples.exercises):
            return path
    return chapters[-1]

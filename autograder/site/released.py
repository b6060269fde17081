"""The released course, laid out as a learner finds it: a folder a chapter, with the notebook and its examples."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from autograder.course import Course
from autograder.examples import EXAMPLES_NAME, ExamplesError, load_examples
from autograder.feedback.prose import prose
from autograder.site.errors import SiteError

__all__ = ["Chapter", "lay_out"]


@dataclass(frozen=True)
class Chapter:
    """A chapter as the map of a site shows it; ``path`` is of its notebook, from the top of the contents."""

    name: str
    path: str
    title: str
    about: Markup
    exercises: tuple[str, ...]


def lay_out(course: Course, contents: Path, say: Callable[[str], None]) -> list[Chapter]:
    """Copy every released chapter into ``contents``, which is made, and say which are there.

    Raises ``SiteError`` where none is released, or one has no examples.
    """
    chapters = []
    waiting = []
    for name in course.chapters:
        folder = course.root / "release" / name
        notebook = folder / f"{name}.ipynb"
        if not notebook.is_file():
            waiting.append(name)
            continue
        try:
            exercises = tuple(load_examples(folder / EXAMPLES_NAME).exercises)
        except (OSError, ExamplesError) as error:
            raise SiteError(
                f"check() would not work in {name}: {error} Release the chapter again: autograder release {name}"
            ) from error
        shutil.copytree(folder, contents / name, ignore=shutil.ignore_patterns(".*", "__pycache__"))
        title, about = _heading(notebook)
        chapters.append(Chapter(name, f"{name}/{name}.ipynb", title or name, prose(about), exercises))
    if not chapters:
        raise SiteError(
            f"No chapter of the course in {course.root} is released, and a site is made of what is. Type: autograder release --all"
        )
    if waiting:
        say(
            f"Not in the site, as they are not released: {', '.join(waiting)}. To add them: autograder release {' '.join(waiting)}"
        )
    return chapters


def _heading(notebook: Path) -> tuple[str, str]:
    """The title of a notebook, and the paragraph below it."""
    for cell in json.loads(notebook.read_bytes())["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown" and text.startswith("# "):
            first, _, rest = text.partition("\n")
            return first.removeprefix("# ").strip(), rest.strip().partition("\n\n")[0].replace("\n", " ")
    return "", ""

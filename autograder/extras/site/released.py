"""The course as a learner gets it, laid out for a site: a folder a chapter, and the map over them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from autograder.authoring.release.run import handout
from autograder.course.course import Course
from autograder.pages.prose import prose
from autograder.student.examples import EXAMPLES_NAME, load_examples

__all__ = ["Chapter", "lay_out"]


@dataclass(frozen=True)
class Chapter:
    """A chapter as the first page shows it; ``path`` is of its notebook, from the top of the contents."""

    name: str
    path: str
    title: str
    about: Markup
    exercises: tuple[str, ...]


def lay_out(course: Course, wanted: Sequence[str], contents: Path, say: Callable[[str], None]) -> list[Chapter]:
    """Copy what students get of each chapter that is ``wanted``, by default of every finished one, into ``contents``.

    Raises ``CourseError`` where there is no such chapter, none is finished, or nbgrader refuses one.
    """
    for name in wanted:
        course.require_chapter(name)
    unfinished = [name for name in course.chapters if name not in course.finished_chapters()]
    source = handout(course.root, say)
    if unfinished and not wanted:
        say(f"Not in the site, as a notebook or checks are missing: {', '.join(unfinished)}.")
    chapters = [name for name in course.finished_chapters() if name in wanted or not wanted]
    aside = shutil.ignore_patterns(".*", "__pycache__")
    shutil.copytree(source, contents, ignore=shutil.ignore_patterns(".*", "__pycache__", *course.chapters))
    for name in chapters:
        shutil.copytree(source / name, contents / name, ignore=aside)
    return [_chapter(contents, name) for name in chapters]


def _chapter(contents: Path, name: str) -> Chapter:
    title, about = _heading(contents / name / f"{name}.ipynb")
    exercises = tuple(load_examples(contents / name / EXAMPLES_NAME).exercises)
    return Chapter(name, f"{name}/{name}.ipynb", title or name, prose(about), exercises)


def _heading(notebook: Path) -> tuple[str, str]:
    """The title of a notebook, and the paragraph below it."""
    for cell in json.loads(notebook.read_bytes())["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown" and text.startswith("# "):
            first, _, rest = text.partition("\n")
            return first.removeprefix("# ").strip(), rest.strip().partition("\n\n")[0].replace("\n", " ")
    return "", ""

"""Collect what a learner gets: the released course, one folder per chapter, and the site's first page."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from markupsafe import Markup

import autograder
from autograder.authoring.release.run import handout
from autograder.course.course import Course
from autograder.pages.prose import page_templates, prose
from autograder.student.examples import EXAMPLES_NAME, load_examples
from autograder.student.terminal.layout import MAP_NAME

__all__ = ["Chapter", "lay_out", "write_landing"]


@dataclass(frozen=True)
class Chapter:
    """A chapter on the first page. ``path`` is that of its notebook, relative to the contents."""

    name: str
    path: str
    title: str
    about: Markup
    exercises: tuple[str, ...]


def lay_out(course: Course, wanted: Sequence[str], contents: Path, say: Callable[[str], None]) -> list[Chapter]:
    """Copy what students get of the chapters ``wanted``, by default of every finished one, into ``contents``.

    Raises ``CourseError`` if a chapter does not exist, none is finished, or nbgrader refuses one.
    """
    for name in wanted:
        course.require_chapter(name)
    unfinished = [name for name in course.chapters if name not in course.finished_chapters()]
    source = handout(course.root, say)
    if unfinished and not wanted:
        say(f"Not in the site, because a notebook or checks are missing: {', '.join(unfinished)}.")
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
    """Return the title of a notebook, and the paragraph below it."""
    for cell in json.loads(notebook.read_bytes())["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown" and text.startswith("# "):
            first, _, rest = text.partition("\n")
            return first.removeprefix("# ").strip(), rest.strip().partition("\n\n")[0].replace("\n", " ")
    return "", ""


def write_landing(site: Path, title: str, chapters: Sequence[Chapter], contents: Path, *, alone: bool) -> None:
    """Write the first page into ``site``, replacing JupyterLite's own. ``alone`` means that the site has its own Pyodide."""
    page = page_templates("autograder.extras.site").get_template("index.html.j2")
    overview = MAP_NAME if (contents / MAP_NAME).is_file() else ""
    text = page.render(title=title, chapters=chapters, version=autograder.__version__, alone=alone, map=overview)
    (site / "index.html").write_text(text, encoding="utf-8")
    work = files("autograder.extras.site").joinpath("templates", "work.js").read_text(encoding="utf-8")
    (site / "work.js").write_text(work, encoding="utf-8")

"""Collect a site's chapters, write its first page, and replace an older site without overwriting other files."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from markupsafe import Markup

import autograder
from autograder.authoring.release.run import handout
from autograder.base.errors import CourseError
from autograder.base.files import write_atomically
from autograder.course.course import Course
from autograder.pages.prose import page_templates, prose
from autograder.student.examples import EXAMPLES_NAME, load_examples
from autograder.student.terminal.layout import MAP_NAME

__all__ = [
    "MANIFEST",
    "Chapter",
    "SiteError",
    "SiteExercise",
    "lay_out",
    "replace_site",
    "require_own_site",
    "write_landing",
]


@dataclass(frozen=True)
class SiteExercise:
    """An exercise on the first page. ``minutes`` is 0 and ``cell`` is empty if they are unknown."""

    name: str
    minutes: int
    cell: str


@dataclass(frozen=True)
class Chapter:
    """A chapter on the first page. ``path`` is the path of its notebook, relative to the contents."""

    name: str
    path: str
    title: str
    about: Markup
    exercises: tuple[SiteExercise, ...]


def lay_out(course: Course, wanted: Sequence[str], contents: Path, say: Callable[[str], None]) -> list[Chapter]:
    """Copy the students' version of the ``wanted`` chapters into ``contents``. If none is given, copy every finished chapter.

    Raises ``CourseError`` if a chapter does not exist, if no chapter is finished, or if nbgrader rejects a chapter.
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
    examples = load_examples(contents / name / EXAMPLES_NAME).exercises.values()
    exercises = tuple(SiteExercise(one.name, one.minutes, one.cell) for one in examples)
    return Chapter(name, f"{name}/{name}.ipynb", title or name, prose(about), exercises)


def _heading(notebook: Path) -> tuple[str, str]:
    """Return the title of a notebook, and the paragraph below the title."""
    for cell in json.loads(notebook.read_bytes())["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown" and text.startswith("# "):
            first, _, rest = text.partition("\n")
            return first.removeprefix("# ").strip(), rest.strip().partition("\n\n")[0].replace("\n", " ")
    return "", ""


def write_landing(site: Path, title: str, chapters: Sequence[Chapter], contents: Path, *, alone: bool) -> None:
    """Write the first page into ``site`` in place of JupyterLite's first page, and add our script to JupyterLab's page.

    ``alone`` means that the site has its own Pyodide.
    """
    page = page_templates("autograder.extras.site").get_template("index.html.j2")
    overview = MAP_NAME if (contents / MAP_NAME).is_file() else ""
    text = page.render(title=title, chapters=chapters, version=autograder.__version__, alone=alone, map=overview)
    (site / "index.html").write_text(text, encoding="utf-8")
    for name in ("work.js", "lab.js"):
        script = files("autograder.extras.site").joinpath("templates", name).read_text(encoding="utf-8")
        (site / name).write_text(script, encoding="utf-8")
    lab = site / "lab" / "index.html"
    head, end, rest = lab.read_text(encoding="utf-8").partition("</head>")
    lab.write_text(f'{head}<script src="../lab.js" defer></script>\n{end}{rest}', encoding="utf-8")


# --- The folder of a site -----------------------------------------------------------------------------------------


class SiteError(CourseError):
    """Raised if a site cannot be built. The message says what was found, where, and what to do."""


MANIFEST = "autograder-site.json"


def require_own_site(output: Path) -> None:
    """Raise ``SiteError`` unless ``output`` is a new or empty folder, or contains an earlier site."""
    if output.is_symlink() and not output.exists():
        raise SiteError(f"{output} is a broken link. Choose another folder.")
    if output.exists() and not output.is_dir():
        raise SiteError(f"{output} is a file, but a site needs a folder. Choose a folder.")
    if output.is_dir() and any(output.iterdir()) and _listed(output) is None:
        raise SiteError(
            f"{output} is not empty, and it does not contain a site from `autograder site`. Nothing was written. "
            "Choose a new folder, or empty this one first."
        )


def replace_site(made: Path, output: Path) -> None:
    """Move the site in ``made`` to ``output``. Remove files of an older site, and keep all other files.

    Raises ``SiteError``, before anything is moved, if a file from elsewhere has a path that the site needs.
    """
    files = sorted(path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file())
    before = set(_listed(output) or ()) if output.is_dir() else set()
    for name in files:
        if name not in before and (output / name).exists():
            raise SiteError(
                f"{output / name} was not made by `autograder site`, but the site needs this path. Move it elsewhere."
            )
    manifest = {"made_by": f"autograder {autograder.__version__}", "files": files}
    # The list is written first, so that an interrupted site is still recognized.
    write_atomically(
        output / MANIFEST, json.dumps({**manifest, "files": sorted(before | set(files))}, indent=0).encode()
    )
    for name in files:
        target = output / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (made / name).replace(target)
    for name in before.difference(files):
        _take_away(output, output / name)
    write_atomically(output / MANIFEST, json.dumps(manifest, indent=0).encode())


def _take_away(output: Path, path: Path) -> None:
    path.unlink(missing_ok=True)
    for folder in path.parents:
        if folder == output or not folder.is_dir() or os.listdir(folder):  # noqa: PTH208 - only whether the folder is empty
            return
        folder.rmdir()


def _listed(output: Path) -> list[str] | None:
    """Return the files of the site in ``output``, or None if there is no site. Paths outside ``output`` are left out."""
    try:
        files = json.loads((output / MANIFEST).read_bytes())["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not isinstance(files, list):
        return None
    return [
        name
        for name in files
        if isinstance(name, str) and not Path(name).is_absolute() and ".." not in Path(name).parts
    ]

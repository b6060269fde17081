"""``autograder start``: find the course and the notebook that is meant, and open JupyterLab on the course map."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

from autograder.base.errors import CourseError
from autograder.base.files import write_atomically
from autograder.base.formatting import pluralize
from autograder.student.examples import EXAMPLES_NAME, ExamplesError, load_examples
from autograder.student.notebook_check import progress
from autograder.student.terminal.layout import (
    COURSE_NAME,
    MAP_NAME,
    StartResult,
    chapters_of,
    course_data,
    material,
    set_up_course,
)

__all__ = ["HandOut", "find_notebook", "next_chapter", "open_lab", "start"]


HandOut = Callable[[Path, Callable[[str], None]], Path]  # (course folder, say) → the students' version of it

CLONE_MARK = "course_config.py"
# What nbgrader adds to JupyterLab is for handing in and for instructors: alone, a learner only meets its error messages.
# Nor is a question about news, which wants the network, the first thing to read.
_HIDDEN = ("@jupyter/nbgrader", "@jupyterlab/apputils-extension:announcements")


def start(
    folder: Path | None,
    *,
    lab: Sequence[str] | None,
    say: Callable[[str], None],
    hand_out: HandOut | None = None,
) -> int:
    """Lay the course out in ``folder`` (by default one named after the course) and open its map; the exit status.

    ``lab`` holds options for JupyterLab; with None, that stays closed. ``hand_out`` makes the students' version of a course
    folder, where this installation can; a student's cannot, and takes the course that it brought along.
    Raises ``CourseError`` where there is no course, or ``folder`` cannot be its place.
    """
    clone = _clone() if hand_out is not None else None
    if folder is None and (Path.cwd() / COURSE_NAME).is_file() and clone is None:
        folder = Path.cwd()  # what was laid out here, once more
    source = hand_out(clone, say) if hand_out is not None and clone is not None else _brought()
    data = course_data(source)
    done = set_up_course(source, folder if folder is not None else (clone or Path.cwd()) / data["id"])
    _tell(done, data["title"], say)
    missing = [name for name in data.get("packages", ()) if find_spec(name) is None]
    if missing:
        say(f"Its notebooks import {' and '.join(missing)}, not installed here: pip install {' '.join(missing)}")
    return open_lab(done.folder, lab, say) if lab is not None else 0


def _clone() -> Path | None:
    """The course folder around here."""
    here = Path.cwd().resolve()
    return next((f for f in (here, *here.parents) if (f / CLONE_MARK).is_file()), None)


def _brought() -> Path:
    brought = material()
    if brought is None:
        raise CourseError(
            "This installation brings no course along. Run this inside a course folder (one with a course_config.py), "
            'or install a release: pip install "nbautograder[lab]"'
        )
    return brought


def _tell(done: StartResult, title: str, say: Callable[[str], None]) -> None:
    notebooks = [name for name in done.added if name.endswith(".ipynb") and "/" in name]
    total = len(chapters_of(done.folder))
    if len(notebooks) == total:
        say(f"{title}: {pluralize(total, 'chapter')} laid out in {done.folder}")
    else:
        say(f"{title} lies in {done.folder}")
        for words, names in (("added, as missing", done.added), ("renewed, as not begun", done.renewed)):
            if names:
                say(f"  {words}: {', '.join(names)}")
        if done.kept:
            say(f"  kept as they are, with your work: {', '.join(done.kept)}")
        if not (done.added or done.renewed or done.kept):
            say("  nothing was missing, and nothing was changed.")


def open_lab(folder: Path, options: Sequence[str], say: Callable[[str], None]) -> int:
    """Open the map of the course that lies in ``folder`` in JupyterLab, until that is closed; its exit status."""
    if find_spec("jupyterlab") is None:
        say(
            "JupyterLab is not installed here. Either of these goes on:\n"
            '  pip install "nbautograder[lab]"     then run the same command again\n'
            f"  open {folder / MAP_NAME} in an editor that knows notebooks\n"
            f"  autograder watch {folder}     checks in this terminal, at each save"
        )
        return 0
    # Beside the user's own settings, which stay as they are, and for this JupyterLab only.
    settings = (folder / ".autograder" / "jupyter").resolve()
    page = {"disabledExtensions": dict.fromkeys(_HIDDEN, True)}
    write_atomically(settings / "labconfig" / "page_config.json", f"{json.dumps(page, indent=1)}\n".encode())
    inherited = os.environ.get("JUPYTER_CONFIG_PATH", "")
    paths = os.pathsep.join([str(settings), *([inherited] if inherited else [])])
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={folder.resolve()}"]
    command += [f"--LabApp.default_url=/lab/tree/{MAP_NAME}", *options]
    say("Opening it in JupyterLab: Ctrl-C here ends that. Your work is saved in the folder.")
    process = subprocess.Popen(command, env={**os.environ, "JUPYTER_CONFIG_PATH": paths})
    try:
        while True:
            with contextlib.suppress(KeyboardInterrupt):  # JupyterLab hears it too, and asks its own question
                return process.wait()
    finally:
        if process.poll() is None:  # we are being ended
            process.terminate()


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

"""Implement ``autograder start``: set up the course and open JupyterLab on its map. Also find the notebook to watch."""

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
from autograder.student.terminal import layout
from autograder.student.terminal.checking import own_notebook_warning

__all__ = ["STARTUP", "HandOut", "find_notebook", "next_chapter", "open_lab", "start"]


HandOut = Callable[[Path, Callable[[str], None]], Path]  # (course folder, say) → the folder of the student version

# nbgrader's JupyterLab extension is for classes, and only shows error messages to a self-learner. The announcements
# extension would start with a question and use the network.
_HIDDEN = ("@jupyter/nbgrader", "@jupyterlab/apputils-extension:announcements")
STARTUP = Path(__file__).parents[1] / "startup.txt"


def start(
    folder: Path | None, *, lab: Sequence[str] | None, say: Callable[[str], None], hand_out: HandOut | None = None
) -> int:
    """Set up the course in ``folder`` and open its map. Return the exit status.

    Args:
        folder: the target folder, by default a new folder with the name of the course.
        lab: options for JupyterLab, or None to not open it.
        say: prints a message.
        hand_out: creates the student version of a course folder. None if this installation includes the course instead.

    Raises ``CourseError`` if there is no course or ``folder`` cannot be used.
    """
    author_folder = layout.course_folder(Path.cwd()) if hand_out is not None else None
    if folder is None and (Path.cwd() / layout.COURSE_NAME).is_file() and author_folder is None:
        folder = Path.cwd()  # update the course that is set up here
    source = hand_out(author_folder, say) if hand_out is not None and author_folder is not None else _included_course()
    data = layout.course_data(source)
    result = layout.set_up_course(source, folder if folder is not None else (author_folder or Path.cwd()) / data["id"])
    _report(result, data["title"], say)
    if warning := own_notebook_warning(result.folder):
        say(warning)
    missing = [name for name in data.get("packages", ()) if find_spec(name) is None]
    if missing:
        say(f"Its notebooks also need {' and '.join(missing)}. Run: pip install {' '.join(missing)}")
    return open_lab(result.folder, lab, say) if lab is not None else 0


def _included_course() -> Path:
    included = layout.material()
    if included is None:
        raise CourseError(
            "This installation contains no course. Run this inside a course folder (with a course_config.py), "
            'or install a release: pip install "nbautograder[lab]"'
        )
    return included


def _report(result: layout.StartResult, title: str, say: Callable[[str], None]) -> None:
    notebooks = [name for name in result.added if name.endswith(".ipynb") and "/" in name]
    total = len(layout.chapters_of(result.folder))
    if len(notebooks) == total:
        say(f"{title}: {pluralize(total, 'chapter')} set up in {result.folder}")
    else:
        say(f"{title} is in {result.folder}")
        for words, names in (
            ("added, because they were missing", result.added),
            ("updated, because you have not started them", result.renewed),
            ("unchanged, with your work", result.kept),
        ):
            if names:
                say(f"  {words}: {', '.join(names)}")
        if not (result.added or result.renewed or result.kept):
            say("  Nothing was missing or changed.")


def open_lab(folder: Path, options: Sequence[str], say: Callable[[str], None]) -> int:
    """Open JupyterLab on the map of the course in ``folder``, wait until it is closed, and return its exit status."""
    if find_spec("jupyterlab") is None:
        say(
            "JupyterLab is not installed here. Do one of the following:\n"
            '  pip install "nbautograder[lab]"     then run the same command again\n'
            f"  open {folder / layout.MAP_NAME} in an editor that supports notebooks\n"
            f"  autograder watch {folder}     checks in this terminal each time you save"
        )
        return 0
    # These settings apply only to this JupyterLab and leave the user's own unchanged.
    settings = (folder / ".autograder" / "jupyter").resolve()
    page = {"disabledExtensions": dict.fromkeys(_HIDDEN, True)}
    write_atomically(settings / "labconfig" / "page_config.json", f"{json.dumps(page, indent=1)}\n".encode())
    inherited = os.environ.get("JUPYTER_CONFIG_PATH", "")
    paths = os.pathsep.join([str(settings), *([inherited] if inherited else [])])
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={folder.resolve()}"]
    command += [f"--LabApp.default_url=/lab/tree/{layout.MAP_NAME}", *options]
    say("Opening it in JupyterLab. Press Ctrl-C here to stop. Your work is saved in the folder.")
    environment = {"PYTHONSTARTUP": str(STARTUP), **os.environ, "JUPYTER_CONFIG_PATH": paths}
    process = subprocess.Popen(command, env=environment)
    try:
        while True:
            with contextlib.suppress(KeyboardInterrupt):  # JupyterLab receives it too and asks for confirmation
                status = process.wait()
                if status and "--allow-root" not in options and getattr(os, "geteuid", lambda: 1)() == 0:
                    say(
                        f"You are root, as in many containers. JupyterLab then needs: autograder start {folder} --lab=--allow-root"
                    )
                return status
    finally:
        if process.poll() is None:  # this process is exiting
            process.terminate()


def find_notebook(path: Path | None) -> Path:
    """Return the notebook to watch. ``path`` is a notebook, its folder, a course folder, or None for the current folder.

    Raises ``CourseError`` if there is no notebook or the choice is ambiguous.
    """
    place = path if path is not None else Path.cwd()
    if place.is_file():
        if place.suffix != ".ipynb":
            raise CourseError(f"{place} is not a notebook. Name a file that ends in .ipynb.")
        return place
    if not place.is_dir():
        near = f" Did you mean {place}.ipynb?" if place.with_name(f"{place.name}.ipynb").is_file() else ""
        raise CourseError(f"There is no {place}.{near} Name a notebook or its folder.")
    if (place / layout.COURSE_NAME).is_file():
        return _first_unfinished(place)
    here = sorted(path for path in place.glob("*.ipynb") if not path.name.startswith("."))
    if len(here) == 1:
        return here[0]
    if not here:
        raise CourseError(
            f"There is no notebook in {place.resolve()}. Name one, go to the folder of a chapter, or set up the course: autograder start"
        )
    found = f"There are {len(here)} notebooks in {place.resolve()}."
    raise CourseError(f"{found} Name one: autograder watch {here[0].name}")


def next_chapter(notebook: Path) -> Path | None:
    """Return the notebook of the next chapter, or None at the end of the course or outside of a course."""
    folder = notebook.resolve().parent
    if not (folder.parent / layout.COURSE_NAME).is_file():
        return None
    chapters = layout.chapters_of(folder.parent)
    names = [path.parent.name for path in chapters]
    following = names.index(folder.name) + 1 if folder.name in names else len(names)
    return chapters[following] if following < len(names) else None


def _first_unfinished(folder: Path) -> Path:
    """Return the first chapter with an unfinished exercise, or the last chapter if all are finished."""
    chapters = layout.chapters_of(folder)
    if not chapters:
        raise CourseError(f"{folder.resolve()} no longer contains a chapter. Set up the course again: autograder start")
    done = progress.read(Path(progress.folder_of(chapters[0].parent, chapters[0].parent.name)))
    for path in chapters:
        try:
            examples = load_examples(path.parent / EXAMPLES_NAME)
        except ExamplesError:
            return path  # the check reports the problem
        if any(done.of(examples.chapter, name).status != "done" for name in examples.exercises):
            return path
    return chapters[-1]

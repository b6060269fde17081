"""Create a small, complete course folder that can be released, graded, audited and tested immediately."""

from __future__ import annotations

import json
import re
from pathlib import Path

from autograder.authoring.scaffold import writing
from autograder.base.errors import CourseError
from autograder.base.sanitize import shorten
from autograder.course.course import CONFIG_NAME, Course, load_course

__all__ = ["new_course"]

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}\Z")
_TEMPLATES = Path(__file__).with_name("templates")


def new_course(folder: Path, *, title: str | None = None, course_id: str | None = None) -> Course:
    """Create a course with one chapter and one exercise in ``folder``.

    ``title`` and ``course_id`` default to the folder's name. Raises ``CourseError``, before anything is written, if a file
    already exists or a name is invalid.
    """
    if folder.exists() and not folder.is_dir():
        raise CourseError(f"{folder} is a file. Name a new or empty folder.")
    name = folder.resolve().name
    if course_id is None:
        course_id = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-._")
        if not course_id:
            raise CourseError(f"Cannot create a course id from {name!r}. Give one, such as --id my-course.")
    _require_id(course_id)
    title = _valid_title(title if title is not None else _title(name) or course_id)
    files = _files(title, course_id)
    writing.write_all({folder / path: text for path, text in files.items()}, new=True)
    return load_course(folder)


def _require_id(text: str) -> None:
    if not _ID.match(text):
        raise CourseError(
            f"{shorten(text, 60)!r} cannot be the id of a course: nbgrader creates folders with that name. Use letters, digits, _, - and ., "
            "beginning with a letter or digit, such as --id my-course."
        )


def _valid_title(text: str) -> str:
    """Return ``text`` without surrounding whitespace. Raises ``CourseError`` if it is not a valid title."""
    text = text.strip()
    if not text or not text.isprintable() or len(text) > 200:
        raise CourseError(
            f"{shorten(text, 60)!r} cannot be the title of a course: write one line of at most 200 characters, such as --title 'A course'."
        )
    return text


def _files(title: str, course_id: str) -> dict[str, str]:
    """Return the texts of a course's files by path.

    The template files end in .txt, so that no tool treats them as Python files or notebooks.
    """
    templates = sorted(path for path in _TEMPLATES.rglob("*") if path.is_file())
    names = [path.relative_to(_TEMPLATES).as_posix().removesuffix(".txt") for path in templates]
    config = (
        "c = get_config()\n"
        f"c.CourseDirectory.course_id = {_quoted(course_id)}\n"
        f"c.Course.title = {_quoted(title)}\n"
        'c.Course.chapters = ["ch1_shares"]\n'
    )
    files = {name: path.read_text(encoding="utf-8") for name, path in zip(names, templates, strict=True)}
    return {CONFIG_NAME: config, **files, "README.md": files["README.md"].replace("{title}", title)}


def _title(name: str) -> str:
    """Return a title made from a folder's name, or "" if the name is not printable."""
    words = re.sub(r"[\s_.-]+", " ", name).strip()
    return words[:1].upper() + words[1:] if words.isprintable() else ""


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)

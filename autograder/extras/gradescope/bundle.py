"""Write the zip file from which Gradescope builds a container: the course, this framework, and scripts to set up and run both."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import autograder
from autograder.base.errors import CourseError
from autograder.base.files import write_atomically
from autograder.course.course import Course
from autograder.course.secret import secret_text

__all__ = ["VISIBILITIES", "bundle"]

# When Gradescope shows a test to students, in Gradescope's terms.
VISIBILITIES = ("visible", "after_due_date", "after_published", "hidden")
# The packages that grading imports, in addition to those of the course.
_NEEDED = ("numpy", "traitlets", "click", "rich", "packaging", "pytest", "hypothesis")
_COURSE = ("course_config.py", "source", "solutions", "tests/chapters")
_LEFT_OUT = {"__pycache__", ".ipynb_checkpoints"}
_FILES = Path(__file__).with_name("files")
_WHEN = (2020, 1, 1, 0, 0, 0)  # a constant time, so that the same course gives the same zip file


def bundle(
    course: Course, chapter: str, output: Path, *, hidden: str = "after_published", unsafe_local: bool = False
) -> None:
    """Write the zip file for ``chapter`` to ``output``. It contains the checks, the solutions and the course's secret.

    ``hidden`` says when students see the checks that they cannot run themselves. With ``unsafe_local``, notebooks are graded
    even if the container has no sandbox. Raises ``CourseError`` if a package of the course is not installed.
    """
    course.require_chapter(chapter)
    settings = {"chapter": chapter, "hidden_checks": hidden, "unsafe_local": unsafe_local}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("setup.sh", "run_autograder"):
            _add(archive, name, (_FILES / name).read_bytes(), 0o755)
        _add(archive, "requirements.txt", _requirements(course).encode())
        _add(archive, "settings.json", json.dumps(settings, indent=1).encode())
        framework = Path(autograder.__file__).parent
        for path in _below(framework):
            _add(archive, f"autograder/{path.relative_to(framework).as_posix()}", path.read_bytes())
        for part in _COURSE:
            for path in _below(course.root / part):
                _add(archive, f"course/{path.relative_to(course.root).as_posix()}", path.read_bytes())
        _add(archive, "secret", secret_text(course).encode(), 0o600)
    # The zip file contains the secret, so other accounts must not read it.
    write_atomically(output, file.getvalue(), 0o600)


def _add(archive: zipfile.ZipFile, name: str, data: bytes, mode: int = 0o644) -> None:
    entry = zipfile.ZipInfo(name, _WHEN)
    entry.external_attr = (0o100000 | mode) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, data)


def _below(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    for found in sorted(path.rglob("*")):
        if found.is_file() and not _LEFT_OUT & set(found.relative_to(path).parts) and found.suffix != ".pyc":
            yield found


def _requirements(course: Course) -> str:
    """Return requirements that pin all packages to the installed versions, because marks must not depend on the machine."""
    names = dict.fromkeys([*_NEEDED, *course.packages])
    return "".join(f"{_pinned(name, course)}\n" for name in names)


def _pinned(name: str, course: Course) -> str:
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        owners = metadata.packages_distributions().get(name)  # an import name, such as sklearn
        if not owners:
            raise CourseError(
                f"The course lets notebooks import {name!r}, which is not installed here. Gradescope needs its version. "
                f"Install it with pip install {name}, or remove it from c.Course.packages in {course.root / 'course_config.py'}."
            ) from None
        found = metadata.distribution(owners[0])
    # Remove the end of a local version such as "1.2+local", because no package index has it.
    return f"{found.metadata['Name']}=={re.sub(r'[+].*', '', found.version)}"

"""Validate the names of chapters and exercises, and add chapters to a configuration file."""

from __future__ import annotations

import ast
import builtins
import keyword
import math
import re
from itertools import accumulate
from pathlib import Path

from traitlets.config.loader import PyFileConfigLoader

from autograder.base.errors import CourseError
from autograder.base.sanitize import shorten
from autograder.course.course import Course
from autograder.judging.proxies import StudentProxy

__all__ = ["require_chapter_name", "require_exercise_name", "require_parameters", "require_points", "with_chapter"]


def with_chapter(course: Course, path: Path, text: str, chapter: str) -> str:
    """Return ``text``, the configuration in ``path``, with ``chapter`` added after the chapters of ``course``.

    Raises ``CourseError`` if the configuration is written in a way that cannot be extended safely.
    """
    for changed in (_in_the_list(text, chapter), _below(text, chapter)):
        if changed is not None and _chapters(path, changed) == [*course.chapters, chapter]:
            return changed
    raise CourseError(
        f"{path} sets c.Course.chapters in a way that autograder cannot extend, so nothing was written. Add {chapter!r} there yourself, as "
        "the last chapter, and try again."
    )


def _in_the_list(text: str, chapter: str) -> str | None:
    """Return ``text`` with ``chapter`` added to the list of chapters, or None if the last assignment is not a list literal."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError):
        return None
    assignments = [node for node in body if isinstance(node, ast.Assign | ast.AugAssign) and _is_chapters(node)]
    if not assignments or not isinstance(assignments[-1].value, ast.List):
        return None
    chapters = assignments[-1].value
    data = text.encode()
    starts = [0, *accumulate(map(len, data.splitlines(keepends=True)))]

    def place(line: int | None, column: int | None) -> int:
        return starts[(line or 1) - 1] + (column or 0)

    quoted = f'"{chapter}"'.encode()
    if not chapters.elts:
        inside = place(chapters.lineno, chapters.col_offset) + 1
        return (data[:inside] + quoted + data[inside:]).decode()
    last = chapters.elts[-1]
    end = place(last.end_lineno, last.end_col_offset)
    comma = b"" if data[end:].lstrip().startswith(b",") else b","
    if last.lineno in {chapters.lineno, *(element.lineno for element in chapters.elts[:-1])}:
        return (data[:end] + b", " + quoted + data[end:]).decode()
    # If each chapter is on its own line, add a line below the last chapter and any comment next to it.
    line = data[starts[last.lineno - 1] : place(last.lineno, last.col_offset)]
    stop = data.find(b"\n", end)
    if place(chapters.end_lineno, chapters.end_col_offset) <= stop or stop < 0:
        return (data[:end] + b",\n" + line + quoted + data[end:]).decode()  # the bracket closes on the last line
    newline = b"\r\n" if data[stop - 1 : stop] == b"\r" else b"\n"
    return (data[:end] + comma + data[end : stop + 1] + line + quoted + b"," + newline + data[stop + 1 :]).decode()


def _is_chapters(node: ast.Assign | ast.AugAssign) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(ast.unparse(target) == "c.Course.chapters" for target in targets)


def _below(text: str, chapter: str) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    end = "" if not text or text.endswith("\n") else newline
    word = "+=" if "Course.chapters" in text else "="
    return f'{text}{end}c.Course.chapters {word} ["{chapter}"]{newline}'


class _TextLoader(PyFileConfigLoader):
    """A loader that reads ``text`` as if it were the content of the configuration file."""

    text = ""

    def _find_file(self) -> None:
        self.full_filename = str(Path(self.path, self.filename))

    def _read_file_as_dict(self) -> None:
        names = {"c": self.config, "get_config": lambda: self.config, "load_subconfig": self.load_subconfig}
        names["__file__"] = self.full_filename
        exec(compile(self.text, self.full_filename, "exec"), names)  # noqa: S102 - the course's own code, with one more line


def _chapters(path: Path, text: str) -> list[str] | None:
    loader = _TextLoader(path.name, path=str(path.parent))
    loader.text = text
    try:
        chapters = loader.load_config()["Course"]["chapters"]
    except Exception:  # noqa: BLE001 - a configuration may raise anything
        return None
    return list(chapters) if isinstance(chapters, list) else None


_LONGEST = 80  # characters, because names become parts of paths
_MOST_POINTS = 10_000.0
# Names that a notebook imports and its cells use.
_OF_THE_NOTEBOOK = frozenset({"check", "hint", "uses", "move", "np", "numpy", "autograder"})
# Names of folders in solutions/.
_OF_THE_COURSE = frozenset({"misconceptions", "alternatives", "training"})


def require_chapter_name(course: Course, text: str) -> str:
    """Return ``text`` if it is a valid id for a new chapter of ``course``. Raises ``CourseError`` otherwise."""
    if not text.isascii() or not text.isidentifier() or len(text) > _LONGEST:
        raise CourseError(
            f"{shorten(text, 60)!r} cannot be the id of a chapter: it names a folder, a notebook and a Python module. Use letters, digits "
            "and _, beginning with a letter, such as ch2_means."
        )
    if keyword.iskeyword(text) or text in _OF_THE_COURSE:
        what = "is a Python keyword" if keyword.iskeyword(text) else f"is already a folder in solutions/ ({text})"
        raise CourseError(f"{text!r} cannot be the id of a chapter: it {what}. Use another name, such as ch2_{text}.")
    alike = next((c for c in course.chapters if c.lower() == text.lower()), None)
    if alike is not None:
        raise CourseError(
            f"{text!r} and the chapter {alike!r} differ only in capital letters, and some file systems treat their folders as the same folder."
        )
    return text


def require_exercise_name(text: str) -> str:
    """Return ``text`` if it is a valid name for an exercise and its function. Raises ``CourseError`` otherwise."""
    if not text.isascii() or not text.isidentifier() or len(text) > _LONGEST:
        raise CourseError(
            f"{shorten(text, 60)!r} cannot be the name of an exercise: students write a function of that name. Use letters, digits and _, "
            "beginning with a letter, such as moving_average."
        )
    why = ""
    if keyword.iskeyword(text):
        why = "it is a Python keyword"
    elif text in _OF_THE_NOTEBOOK:
        why = "notebooks import something with that name"
    elif text.startswith("check_"):
        why = "the names of check cells begin with check_"
    elif text.startswith("_"):
        why = "names that begin with _ are private"
    elif text in dir(StudentProxy):
        why = f"student.{text} already has a meaning in checks (docs/author.md)"
    elif hasattr(builtins, text):
        why = f"it would replace Python's function {text} in the notebook's other cells"
    if why:
        raise CourseError(f"{text!r} cannot be the name of an exercise: {why}. Call it something else.")
    return text


def require_points(points: float) -> float:
    """Return ``points`` if an exercise may be worth that many. Raises ``CourseError`` otherwise."""
    if not math.isfinite(points) or not 0 < points <= _MOST_POINTS:
        wanted = f"a number above 0 and at most {_MOST_POINTS:.0f}"
        raise CourseError(f"An exercise cannot be worth {points:g} points. Give {wanted}.")
    return points


def require_parameters(name: str, signature: str) -> str:
    """Return the parameters of ``signature`` in normalized form, such as ``(x, axis=-1)``.

    ``signature`` may be written as ``f(x, axis=-1)``, ``(x, axis=-1)`` or ``x, axis=-1``. Raises ``CourseError`` if it is
    not a signature, or if it names a function other than ``name``.
    """
    text = signature.strip().removeprefix("def ").removesuffix(":").strip()
    called = re.match(r"([^\W\d]\w*)\s*(?=\()", text)
    if called and called[1] != name:
        raise CourseError(f"--signature is for {called[1]}, but the exercise is called {name}. Write {name}(…).")
    inside = text[called.end() :] if called else text
    if not inside.startswith("("):
        inside = f"({inside})"
    try:
        [function] = ast.parse(f"def {name}{inside}: pass").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        why = f" ({error.msg})" if isinstance(error, SyntaxError) else ""
        raise CourseError(
            f"--signature {shorten(signature, 60)!r} is not a valid Python signature{why}. Write the name, and in parentheses the "
            f"parameters with their defaults: --signature '{name}(x, axis=-1)'."
        ) from error
    if not isinstance(function, ast.FunctionDef) or not isinstance(function.body[0], ast.Pass):
        wanted = f"Write '{name}(x, axis=-1)'."
        raise CourseError(f"--signature {shorten(signature, 60)!r} contains more than the parameters. {wanted}")
    return ast.unparse(function).removeprefix(f"def {name}").rpartition(":")[0].strip()

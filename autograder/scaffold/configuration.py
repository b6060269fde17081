"""A chapter entered in ``c.Course.chapters`` of a configuration file, of which nothing else is changed."""

from __future__ import annotations

import ast
from pathlib import Path

from traitlets.config.loader import PyFileConfigLoader

from autograder.course import Course, CourseError

__all__ = ["with_chapter"]


def with_chapter(course: Course, path: Path, text: str, chapter: str) -> str:
    """``text``, the configuration in ``path``, with ``chapter`` after the last of ``course``.

    Raises ``CourseError`` where it is written in a way that cannot be added to safely.
    """
    for changed in (_in_the_list(text, chapter), _below(text, chapter)):
        if changed is not None and _chapters(path, changed) == [*course.chapters, chapter]:
            return changed
    raise CourseError(
        f"{path} sets c.Course.chapters in a way that cannot be added to, so nothing was written. Write {chapter!r} there yourself, as "
        "the last of the chapters, and try again."
    )


def _in_the_list(text: str, chapter: str) -> str | None:
    """The chapter as the last element of the list that is written out; None where no such list stands last."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError):
        return None
    set_here = [node for node in body if isinstance(node, ast.Assign | ast.AugAssign) and _is_chapters(node)]
    if not set_here or not isinstance(set_here[-1].value, ast.List):
        return None
    chapters = set_here[-1].value
    data = text.encode()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

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
    # One to a line: the new one gets a line of its own, below what is said beside the last one.
    line = data[starts[last.lineno - 1] : place(last.lineno, last.col_offset)]
    stop = data.find(b"\n", end)
    if place(chapters.end_lineno, chapters.end_col_offset) <= stop or stop < 0:
        return (data[:end] + b",\n" + line + quoted + data[end:]).decode()  # the bracket closes on that line
    newline = b"\r\n" if data[stop - 1 : stop] == b"\r" else b"\n"
    return (data[:end] + comma + data[end : stop + 1] + line + quoted + b"," + newline + data[stop + 1 :]).decode()


def _is_chapters(node: ast.Assign | ast.AugAssign) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(ast.unparse(target) == "c.Course.chapters" for target in targets)


def _below(text: str, chapter: str) -> str:
    """The chapter in a line of its own at the end."""
    newline = "\r\n" if "\r\n" in text else "\n"
    end = "" if not text or text.endswith("\n") else newline
    word = "+=" if "Course.chapters" in text else "="
    return f'{text}{end}c.Course.chapters {word} ["{chapter}"]{newline}'


class _TextLoader(PyFileConfigLoader):
    """Runs a configuration as it would be, in the place of the file as it is."""

    text = ""

    def _find_file(self) -> None:
        self.full_filename = str(Path(self.path, self.filename))

    def _read_file_as_dict(self) -> None:
        names = {
            "c": self.config,
            "get_config": lambda: self.config,
            "load_subconfig": self.load_subconfig,
            "__file__": self.full_filename,
        }
        exec(compile(self.text, self.full_filename, "exec"), names)  # noqa: S102 - the course's own, with one line more


def _chapters(path: Path, text: str) -> list[str] | None:
    loader = _TextLoader(path.name, path=str(path.parent))
    loader.text = text
    try:
        found = loader.load_config()["Course"]["chapters"]
    except Exception:  # noqa: BLE001 - whatever a configuration raises
        return None
    return list(found) if isinstance(found, list) else None

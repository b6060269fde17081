"""Search the files that students receive for secrets: hidden checks and their inputs, solutions, the course secret.

Obfuscated data in an examples file is decoded first, because anyone who reads the framework's source can do that.
"""

from __future__ import annotations

import ast
import html
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.course.course import Course
from autograder.course.secret import course_secret
from autograder.student.examples.format import deobfuscate

__all__ = ["Leak", "hunt", "secrets_of"]

SHORTEST = 16  # characters of code, spaces aside: shorter lines occur by chance
FEWEST = 4  # numbers of an input in a row
_NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?", re.IGNORECASE)


@dataclass(frozen=True)
class Leak:
    """A secret that was found in a file."""

    file: str
    what: str
    text: str


def hunt(course: Course, chapter: str, files: Iterable[Path]) -> list[Leak]:
    """Return every secret of the chapter that one of ``files`` contains."""
    lines, numbers = secrets_of(course, chapter)
    leaks = []
    for path in files:
        text = _readable(path)
        squeezed, counted = _squeezed(text), _counted(text)
        leaks += [Leak(str(path), what, line) for line, what in lines.items() if line in squeezed]
        leaks += [Leak(str(path), what, row) for row, what in numbers.items() if row in counted]
    return leaks


def secrets_of(course: Course, chapter: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the secrets, each with its origin: lines of code without spaces, and rows of numbers.

    The notebook, visible checks, hints, titles and misconceptions' messages are published and not secret.
    """
    checks = ast.parse(course.checks(chapter).read_text())
    hidden, published = [], []
    for cls in (node for node in checks.body if isinstance(node, ast.ClassDef)):
        published += [ast.unparse(decorator) for decorator in cls.decorator_list]
        for node in (node for node in cls.body if isinstance(node, ast.FunctionDef)):
            seen = any("visible" in ast.unparse(decorator) for decorator in node.decorator_list)
            (published if seen else hidden).append(ast.unparse(ast.Module(node.body[1:], [])))
    beginning = course.checks(chapter).read_text().split("class ")[0]
    allowed = "\n".join(published) + _readable(course.source(chapter)) + beginning
    folders = {"a reference solution": ".", "a misconception": "misconceptions", "an alternative": "alternatives"}
    sources = {what: _code(course.root / "solutions" / folder / f"{chapter}.py") for what, folder in folders.items()}
    sources = {"a hidden check": hidden, **sources}
    lines = {_squeezed(line): what for what, texts in sources.items() for text in texts for line in text.splitlines()}
    public = _squeezed(allowed)
    lines = {line: what for line, what in lines.items() if len(line) >= SHORTEST and line not in public}
    secret = (course.root / course.secret_file).read_text().strip()
    lines |= {secret: "the course's secret", course_secret(course).hex(): "the course's secret"}
    numbers = {_counted(row): "an input of a hidden check" for text in hidden for row in _arrays(text)}
    known = _counted(allowed)
    return lines, {row: what for row, what in numbers.items() if row.count(";") >= FEWEST and row not in known}


def _code(path: Path) -> list[str]:
    """Return the functions of a module without docstrings, and a quiz's right answers. Imports and signatures are not secret."""
    if not path.is_file():
        return []
    tree = ast.parse(path.read_text())
    bodies = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            body = node.body if ast.get_docstring(node) is None else node.body[1:]
            bodies.append(ast.unparse(ast.Module(body, [])))
        elif isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("quiz("):
            [table] = [keyword.value for keyword in node.value.keywords if keyword.arg == "questions"]
            answers = [next(k.value for k in question.keywords if k.arg == "right") for question in table.values]
            bodies.append(ast.unparse(ast.Dict(table.keys, answers)))
    return bodies


def _arrays(source: str) -> Iterator[str]:
    """Return the outermost lists of numbers in ``source``."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("array"):
            yield ast.unparse(node.args[0])


def _readable(path: Path) -> str:
    """Return the text of a file in every readable form: unchanged, unescaped, and decoded from JSON."""
    raw = path.read_text(errors="replace")
    try:
        data = json.loads(raw)
        inside = "\n".join([*_strings(data), *_sealed(data)])
    except ValueError:
        inside = ""
    plain = html.unescape(raw)
    return "\n".join([raw, plain, inside, html.unescape(inside), re.sub(r"<[^>]*>", "", plain)])


def _sealed(data: object) -> Iterator[str]:
    """Yield the texts of all obfuscated data in the entry of an exercise, decoded from JSON."""
    entries = data.get("exercises") if isinstance(data, dict) else None
    for name, entry in entries.items() if isinstance(entries, dict) else ():
        for text in entry.values():
            if isinstance(text, str) and text:
                try:
                    yield from _strings(deobfuscate(text, name))
                except ValueError:  # a plain text
                    continue


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        # A notebook's source may be a list of lines, and an example's array a list of numbers.
        yield "".join(str(item) if isinstance(item, str) else f"{item} " for item in value)
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text).replace('"', "'")


def _counted(text: str) -> str:
    """Return the numbers of a text in order, each in one format."""
    return "".join(f"{float(number):.9g};" for number in _NUMBER.findall(text))

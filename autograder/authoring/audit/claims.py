"""What the message of a misconception claims in numbers: true of everybody who reads it, or marked as an example.

A student reads the message because their answers are those of the misconception, to the questions that were asked. What
stands in the case that they see is true of them. So is a constant of the author's function that these answers fix. Any
other number holds of the author's function only, and may stand in an example.
"""

from __future__ import annotations

import ast
import inspect
import math
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from typing import Any

__all__ = ["constants_of", "replace_constant", "unsupported_numbers"]

# A sentence with one of these words speaks of a supposed case, and of no answer of the student's.
_SUPPOSED = re.compile(r"\b(example|would|suppose|if|should)\b", re.IGNORECASE)
# Digits that are no values: in code, names and letters of shapes, and the numbers of chapters.
_NO_VALUES = re.compile(
    r"`[^`]*`|\b[A-Za-z_]\w*\d\w*|\d+[A-Za-z]\w*[²³]?|\bchapters? \d+|(?<=[ (])\d+ [·*] (?=[A-Za-z])|[²³]",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?%?(?!\w|\.\d)")
_SENTENCE = re.compile(r"(?<=[.?!])\s+")
_TERM = r"(?:exp|sqrt|ln)?\(?-?\d[\d.]*\)?"
_WORKED_OUT = re.compile(
    rf"(?P<term>{_TERM}(?:\s*[-+*/·]\s*{_TERM})*)\s+(?:=|is|makes|gives)\s+(?:already |about )?(?P<result>-?\d+(?:\.\d+)?|inf)\b(?!\.\d| *[-+*/·])"
)
_NAMES = {"exp": math.exp, "sqrt": math.sqrt, "ln": math.log}
# Said of any array ("add up to 1", "the last two"), and where exp of a float64 ends.
_FREE = (0.0, 1.0, 2.0, 709.0, 710.0, 745.0)


def unsupported_numbers(message: str, known: str, constants: Iterable[float] = ()) -> list[str]:
    """The sentences of ``message`` that claim a number which nothing shows.

    ``known`` is what a student with this mistake reads: the inputs, their answer and the right one, and the stub;
    ``constants`` are numbers that their answers fix. A number may stand in an example, or be the result of what is
    written before it, such as ``3 + 8 = 11``, which has to be right.
    """
    shown = [*_FREE, *constants, *(value for value, _ in _values(known))]
    found = []
    for sentence in _SENTENCE.split(" ".join(message.split())):
        told = _NO_VALUES.sub(" ", sentence)
        worked_out = [claim for claim in _WORKED_OUT.finditer(told) if re.search(r"[-+*/·(]", claim["term"][1:])]
        results = [value for claim in worked_out for value, _ in _values(claim[0])]
        strange = [
            value
            for value, decimals in _values(told)
            if not any(_is_said_as(abs(other), abs(value), decimals) for other in (*shown, *results))
        ]
        if not all(map(_is_right, worked_out)) or (strange and not _SUPPOSED.search(sentence)):
            found.append(sentence)
    return found


def constants_of(function: Callable[..., Any]) -> set[float]:
    """The numbers that are written in a function's own body."""
    nodes = (node for node in ast.walk(_tree(function)) if isinstance(node, ast.Constant))
    return {float(node.value) for node in nodes if _is_number(node)}  # type: ignore[arg-type]


def replace_constant(function: Callable[..., Any], old: float, new: float) -> Callable[..., Any]:
    """``function`` with the number ``new`` wherever it has ``old``; a whole number stays one where it can."""
    tree = _tree(function)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and _is_number(node) and node.value == old:
            node.value = round(new) if isinstance(node.value, int) else new
    names = dict(vars(sys.modules[function.__module__]) if isinstance(function, type) else function.__globals__)
    exec(compile(tree, "<another constant>", "exec"), names)  # noqa: S102 - the course's own code
    changed: Callable[..., Any] = names[function.__name__]
    return changed


def _tree(function: Callable[..., Any]) -> ast.Module:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == function.__name__:
            node.decorator_list = []
        elif isinstance(node, ast.ClassDef):
            node.decorator_list = [mark for mark in node.decorator_list if "dataclass" in ast.unparse(mark)]
    return tree


def _is_number(node: ast.Constant) -> bool:
    return isinstance(node.value, int | float) and not isinstance(node.value, bool)


def _values(text: str) -> Iterator[tuple[float, int]]:
    """The numbers in ``text``, each with how many decimals it is given to."""
    for number in _NUMBER.findall(text):
        plain = number.removesuffix("%")
        percent = number != plain
        decimals = 12 if "e" in plain else len(plain.partition(".")[2]) + 2 * percent
        yield float(plain) / (100 if percent else 1), decimals


def _is_said_as(value: float, told: float, decimals: int) -> bool:
    """Whether ``told``, given to so many decimals, is ``value``; a whole number is not said of one that is rounded to it."""
    return math.isclose(value, told, rel_tol=1e-9) or (decimals > 0 and round(value, decimals) == told)


def _is_right(claim: re.Match[str]) -> bool:
    """Whether ``3 + 8 = 11``; to the digits that are given."""
    told = claim["result"]
    try:
        value: float = eval(claim["term"].replace("·", "*"), {"__builtins__": {}}, dict(_NAMES))  # noqa: S307 - the course's own text
    except OverflowError:
        value = math.inf
    except (SyntaxError, TypeError, ZeroDivisionError, ValueError):
        return True  # words that only look like a calculation
    if told == "inf":
        return value == math.inf
    return abs(value - float(told)) <= 0.5 * 10.0 ** -len(told.partition(".")[2])

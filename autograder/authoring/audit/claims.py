"""Check that numbers in misconception messages are true for every reader, or marked as examples.

Students read a misconception's message if their code gives the misconception's results for the test calls. Numbers in the
test case that is shown are then true for them. So are constants in the author's function that these results determine. Any
other number is true only for the author's function, and must be part of an example.
"""

from __future__ import annotations

import ast
import inspect
import math
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator

from autograder.base.foreign import Value

__all__ = ["constants_of", "replace_constant", "unsupported_numbers"]

# A sentence with one of these words describes a hypothetical case, not the student's result.
_SUPPOSED = re.compile(r"\b(example|would|suppose|if|should)\b", re.IGNORECASE)
# Digits that do not state a value: digits in code, in names, in chapter numbers and next to the letters of a shape.
_NO_VALUES = re.compile(
    r"`[^`]*`|\b[A-Za-z_]\w*\d\w*|\d+[A-Za-z]\w*[²³]?|\bchapters? \d+|(?<=[ (])\d+ [·*] (?=[A-Za-z])|[²³]",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?%?(?!\w|\.\d)")
_SENTENCE = re.compile(r"(?<=[.?!])\s+")
_TERM = r"(?:exp|sqrt|ln)?\(?-?\d[\d.]*\)?"
_CALCULATION = re.compile(
    rf"(?P<term>{_TERM}(?:\s*[-+*/·]\s*{_TERM})*)\s+(?:=|is|makes|gives)\s+(?:already |about )?(?P<result>-?\d+(?:\.\d+)?|inf)\b(?!\.\d| *[-+*/·])"
)
_NAMES = {"exp": math.exp, "sqrt": math.sqrt, "ln": math.log}
# Numbers that may describe any array ("add up to 1", "the last two"), and the limits of exp for float64.
_FREE = (0.0, 1.0, 2.0, 709.0, 710.0, 745.0)


def unsupported_numbers(message: str, known: str, constants: Iterable[float] = ()) -> list[str]:
    """Return the sentences of ``message`` that contain a number the student cannot verify.

    Numbers are allowed in examples. A computed number such as the 11 in ``3 + 8 = 11`` is allowed if it is correct.

    Args:
        message: the misconception's message.
        known: the text that a student with this mistake reads: the stub, the inputs, the student's result and the expected one.
        constants: numbers in the misconception's function that the student's results determine.
    """
    shown = [*_FREE, *constants, *(value for value, _ in _values(known))]
    unsupported = []
    for sentence in _SENTENCE.split(" ".join(message.split())):
        text = _NO_VALUES.sub(" ", sentence)
        calculations = [match for match in _CALCULATION.finditer(text) if re.search(r"[-+*/·(]", match["term"][1:])]
        results = [value for match in calculations for value, _ in _values(match[0])]
        unknown = [
            value
            for value, decimals in _values(text)
            # Decimals may be rounded. A whole number must match exactly.
            if not any(
                math.isclose(abs(other), abs(value)) or (decimals > 0 and round(abs(other), decimals) == abs(value))
                for other in (*shown, *results)
            )
        ]
        if not all(map(_is_right, calculations)) or (unknown and not _SUPPOSED.search(sentence)):
            unsupported.append(sentence)
    return unsupported


def constants_of(function: Callable[..., Value]) -> set[float]:
    """Return the numeric constants in a function's source."""
    nodes = (node for node in ast.walk(_tree(function)) if isinstance(node, ast.Constant))
    return {float(node.value) for node in nodes if _is_number(node)}  # type: ignore[arg-type]


def replace_constant(function: Callable[..., Value], old: float, new: float) -> Callable[..., Value]:
    """Return ``function`` with the constant ``old`` replaced by ``new``. If ``old`` is an int, ``new`` is rounded to an int."""
    tree = _tree(function)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and _is_number(node) and node.value == old:
            node.value = round(new) if isinstance(node.value, int) else new
    names = dict(vars(sys.modules[function.__module__]) if isinstance(function, type) else function.__globals__)
    exec(compile(tree, "<another constant>", "exec"), names)  # noqa: S102 - the course's own code
    changed: Callable[..., Value] = names[function.__name__]
    return changed


def _tree(function: Callable[..., Value]) -> ast.Module:
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
    """Yield each number in ``text`` with its number of decimals."""
    for number in _NUMBER.findall(text):
        digits = number.removesuffix("%")
        percent = number != digits
        decimals = 12 if "e" in digits else len(digits.partition(".")[2]) + 2 * percent
        yield float(digits) / (100 if percent else 1), decimals


def _is_right(calculation: re.Match[str]) -> bool:
    """Return whether a calculation such as ``3 + 8 = 11`` is correct to the written digits."""
    result = calculation["result"]
    try:
        value: float = eval(calculation["term"].replace("·", "*"), {"__builtins__": {}}, dict(_NAMES))  # noqa: S307 - the course's own text
    except OverflowError:
        value = math.inf
    except (SyntaxError, TypeError, ZeroDivisionError, ValueError):
        return True  # the text only looks like a calculation
    if result == "inf":
        return value == math.inf
    return abs(value - float(result)) <= 0.5 * 10.0 ** -len(result.partition(".")[2])

"""Replace IPython's magics and shell escapes with Python that does nothing. Every line keeps its number."""

from __future__ import annotations

import ast
import re

__all__ = ["parse"]

_RUN_BODY = frozenset({"time", "timeit", "capture", "prun"})  # cell magics that run their cell as Python
_RUN_REST = frozenset({"time", "timeit", "prun"})  # line magics that run the rest of their line as Python
_LINE_MAGIC = re.compile(r"(?P<indent>\s*)(?:(?P<target>[\w\s,.*()\[\]]+=)\s*)?%(?P<name>\w+)(?P<rest>.*)", re.DOTALL)
_ESCAPE = re.compile(r"(?P<indent>\s*)(?:(?P<target>[\w\s,.*()\[\]]+=)\s*)?!.*", re.DOTALL)
_HELP = re.compile(r"(?P<indent>\s*)(?:\?{1,2}\s*%*[\w.*]+|%*[\w.*\[\]]+\s*\?{1,2})\s*;?\s*")
_OPTIONS = re.compile(r"\s*(?:-\w+\s*\d*\s+)*")


def parse(source: str, filename: str) -> ast.Module:
    """Return the syntax tree of a cell. Raises ``SyntaxError`` if it is not Python even without its magics.

    Only lines with a syntax error are changed, so a ``%`` or ``!`` in a string is preserved.
    """
    lines = source.split("\n")
    if not _remove_cell_magic(lines):
        return ast.Module(body=[], type_ignores=[])
    for _ in range(len(lines) + 1):
        try:
            return ast.parse("\n".join(lines), filename)
        except SyntaxError as error:
            number = (error.lineno or 0) - 1
            if not 0 <= number < len(lines) or not _remove_line_magic(lines, number):
                raise
    raise SyntaxError("the cell has more magics than lines")


def _remove_cell_magic(lines: list[str]) -> bool:
    """Blank a leading ``%%magic`` line. Return False if its cell is not Python and must not run."""
    first = next((number for number, line in enumerate(lines) if line.strip()), None)
    if first is None or not lines[first].startswith("%%"):
        return True
    name = re.match(r"%%(\w*)", lines[first])
    lines[first] = ""
    return name is not None and name[1] in _RUN_BODY


def _remove_line_magic(lines: list[str], number: int) -> bool:
    """Replace a magic, a shell escape or a help request with Python that does nothing. Return False for any other line."""
    line = lines[number]
    if match := _LINE_MAGIC.fullmatch(line):
        rest = _OPTIONS.sub("", match["rest"], count=1).strip() if match["name"] in _RUN_REST else ""
        target = f"{match['target']} " if match["target"] else ""
        lines[number] = match["indent"] + target + (rest or ("None" if target else "pass"))
    elif match := _ESCAPE.fullmatch(line):
        lines[number] = match["indent"] + (f"{match['target']} []" if match["target"] else "pass")
    elif match := _HELP.fullmatch(line):
        lines[number] = match["indent"] + "pass"
    else:
        return False
    while line.endswith("\\") and number + 1 < len(lines):
        number += 1
        line, lines[number] = lines[number], ""
    return True

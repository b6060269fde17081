"""IPython's extra syntax, made harmless: every line keeps its number, and no magic or shell escape breaks a cell."""

from __future__ import annotations

import ast
import re

__all__ = ["parse"]

_RUN_BODY = frozenset({"time", "timeit", "capture", "prun"})  # cell magics whose cell is still Python
_RUN_REST = frozenset({"time", "timeit", "prun"})  # line magics whose line is still Python
_LINE_MAGIC = re.compile(r"(?P<indent>\s*)(?:(?P<target>[\w\s,.*()\[\]]+=)\s*)?%(?P<name>\w+)(?P<rest>.*)", re.DOTALL)
_ESCAPE = re.compile(r"(?P<indent>\s*)(?:(?P<target>[\w\s,.*()\[\]]+=)\s*)?!.*", re.DOTALL)
_HELP = re.compile(r"(?P<indent>\s*)(?:\?{1,2}\s*%*[\w.*]+|%*[\w.*\[\]]+\s*\?{1,2})\s*;?\s*")
_OPTIONS = re.compile(r"\s*(?:-\w+\s*\d*\s+)*")


def parse(source: str, filename: str) -> ast.Module:
    """The syntax tree of a cell; raises ``SyntaxError`` where it is no Python even with magics taken out.

    Lines are only looked at where Python stumbles, so a ``%`` or ``!`` inside a string stays what it is.
    """
    lines = source.split("\n")
    if not _take_out_cell_magic(lines):
        return ast.Module(body=[], type_ignores=[])
    for _ in range(len(lines) + 1):
        try:
            return ast.parse("\n".join(lines), filename)
        except SyntaxError as error:
            number = (error.lineno or 0) - 1
            if not 0 <= number < len(lines) or not _take_out_line_magic(lines, number):
                raise
    raise SyntaxError("the cell has more magics than lines")


def _take_out_cell_magic(lines: list[str]) -> bool:
    """Blank a leading ``%%magic`` line; false when its cell is not Python and is not to be run."""
    first = next((number for number, line in enumerate(lines) if line.strip()), None)
    if first is None or not lines[first].startswith("%%"):
        return True
    name = re.match(r"%%(\w*)", lines[first])
    lines[first] = ""
    return name is not None and name[1] in _RUN_BODY


def _take_out_line_magic(lines: list[str], number: int) -> bool:
    """Replace a magic, a shell escape or a question for help by Python that does nothing; false when it is neither."""
    line = lines[number]
    if found := _LINE_MAGIC.fullmatch(line):
        rest = _OPTIONS.sub("", found["rest"], count=1) if found["name"] in _RUN_REST else ""
        target = f"{found['target']} " if found["target"] else ""
        lines[number] = found["indent"] + (
            target + rest.strip() if rest.strip() else target + "None" if target else "pass"
        )
    elif found := _ESCAPE.fullmatch(line):
        lines[number] = found["indent"] + (f"{found['target']} []" if found["target"] else "pass")
    elif found := _HELP.fullmatch(line):
        lines[number] = found["indent"] + "pass"
    else:
        return False
    while line.endswith("\\") and number + 1 < len(lines):
        number += 1
        line, lines[number] = lines[number], ""
    return True

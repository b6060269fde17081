"""The comments in code cells by which Otter tells solutions, prompts and tests apart."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from autograder.course.notebook import text_of
from autograder.extras.importing.pieces import SourceLine, Test

__all__ = ["lines_of", "test_of", "without_ignored"]

_BEGIN = re.compile(r"^\s*#\s*BEGIN SOLUTION( NO PROMPT)?\s*$", re.IGNORECASE)
_END = re.compile(r"^\s*#\s*END SOLUTION\s*$", re.IGNORECASE)
_LINE = re.compile(r"\s*#\s*SOLUTION( NO PROMPT)?\s*$", re.IGNORECASE)
_SEED = re.compile(r"\s*#\s*SEED\s*$", re.IGNORECASE)
_PROMPT = re.compile(r"^\s*(\"\"\"|''')\s*;?\s*#\s*(BEGIN|END) PROMPT\s*$", re.IGNORECASE)
_PLUGIN = re.compile(r"^\s*(\"\"\"|''')\s*;?\s*#\s*(BEGIN|END) PLUGIN\s*$", re.IGNORECASE)
_CONFIG = re.compile(
    r"\A\s*(\"\"\"|''')\s*#\s*BEGIN TEST CONFIG\s*\n(.*?)\n?\s*(\"\"\"|''')\s*;?\s*#\s*END TEST CONFIG[^\n]*\n?",
    re.DOTALL,
)
_HEADING = re.compile(r"\A\s*#+\s*(?:(hidden)\s*(?:tests?)?|tests?)\s*#*\s*(?:\n|\Z)", re.IGNORECASE)
_OLD_SOLUTION = re.compile(r"^\s*##\s*solution\s*##\s*$", re.IGNORECASE)
_IGNORE = re.compile(r"#\s*IGNORE\s*$", re.IGNORECASE)
_IGNORED = re.compile(r"^\s*#\s*(BEGIN|END) IGNORE\s*$", re.IGNORECASE)
_ASSIGNED = re.compile(r"^(\s*[^=#]*?[^=!<>+\-*/%&|^@:\s]\s*(?:[+\-*/%&|^@]|//|\*\*)?=(?!=)\s*)")


def without_ignored(source: str) -> str:
    """The code without the lines that neither students nor the grader get."""
    kept, inside = [], False
    for line in source.splitlines():
        mark = _IGNORED.match(line)
        if mark:
            inside = mark[1].upper() == "BEGIN"
        elif not inside and not _IGNORE.search(line):
            kept.append(line)
    return "\n".join(kept)


def lines_of(source: str) -> list[SourceLine]:
    """The lines of a code cell, those of a solution marked, with what stands there for students."""
    found: list[SourceLine] = []
    solution = prompted = prompt = plugin = False
    for line in without_ignored(source).splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        if _OLD_SOLUTION.match(line):
            continue
        if mark := _PLUGIN.match(line):
            plugin = mark[2].upper() == "BEGIN"
        elif plugin:
            continue
        elif mark := _PROMPT.match(line):
            prompt = mark[2].upper() == "BEGIN"
        elif prompt:
            found.append(SourceLine(None, line))
        elif mark := _BEGIN.match(line):
            solution, prompted = True, not mark[1]
            if prompted:
                found.append(SourceLine(None, f"{indent}..."))
        elif _END.match(line):
            solution = False
        elif solution:
            found.append(SourceLine(line, None, is_solution=True))
        elif mark := _LINE.search(line):
            solved = line[: mark.start()]
            left = _ASSIGNED.match(solved)
            shown = None if mark[1] else f"{left[1]}..." if left else f"{indent}..."
            found.append(SourceLine(solved, shown, is_solution=True))
        else:
            kept = line[: seed.start()] if (seed := _SEED.search(line)) else line
            found.append(SourceLine(kept, kept))
    return found


def test_of(where: str, question: str, cell: Mapping[str, Any]) -> tuple[Test, Any]:
    """A cell of tests, and the points that it says itself (None: it says nothing)."""
    source = text_of(cell.get("source"))
    config: Mapping[str, Any] = {}
    hidden = False
    if found := _CONFIG.match(source):
        config = _simple(found[2])
        source = source[found.end() :]
        hidden = config.get("hidden") is True
    if found := _HEADING.match(source):
        hidden = hidden or bool(found[1])
        source = source[found.end() :]
    name = str(config.get("name") or "")
    test = Test(
        f"{where} ({question})",
        name,
        without_ignored(source).strip("\n"),
        Fraction(0),
        question=question,
        hidden=hidden,
        message=str(config.get("failure_message") or ""),
        expected=_printed(cell.get("outputs")),
    )
    return test, config.get("points")


def _simple(text: str) -> Mapping[str, Any]:
    """A test's settings; those that cannot be read are passed over, as a message may hold anything."""
    import yaml  # noqa: PLC0415 - only a notebook of Otter's needs it

    if len(text) > 20_000:
        return {}
    try:
        found = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _printed(outputs: Any) -> str | None:
    """What the cell's last expression gave when the author ran it; None where no output is kept."""
    texts = []
    for output in outputs if isinstance(outputs, list) else ():
        data = output.get("data") if isinstance(output, dict) else None
        if isinstance(data, dict) and "text/plain" in data:
            texts.append(text_of(data["text/plain"]))
    return texts[-1] if texts else None

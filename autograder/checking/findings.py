"""Findings (faults that checks detect) as data, and as messages for students.

This module needs only NumPy and the standard library, because it also runs on students' machines.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from autograder.values import (
    Difference,
    Rules,
    TableOptions,
    differences,
    paste_inputs,
    returned_none,
    show_apart,
    type_difference,
)

__all__ = ["RETURNED_NONE", "Finding", "describe_failure", "matches", "named", "wrong_type"]


_USUAL = TableOptions()
_DESCRIPTIONS = ("a ", "the ", "what ", "whether ", "how ")  # the first word if ``call`` is a description


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault in a value: a sentence about it, its kind, and the values to show (if showing them helps).

    ``kind`` is the ``kind`` of a `Difference`, or the name of another type of fault, such as ``"property"``.
    """

    reason: str
    kind: str
    found: Any = None
    expected: Any = None
    has_expected: bool = False
    path: str = ""  # the path from the whole value to ``found``, as Python code
    first: tuple[int, ...] = ()  # the index of the first entry of ``found`` that is wrong


def matches(actual: Any, expected: Any, *, table: Mapping[str, bool] | None = None, **rules: Any) -> Finding | None:
    """Return what is wrong with ``actual``, or None if it equals ``expected`` under ``Rules(**rules)``.

    ``table`` contains the `TableOptions` that differ from their defaults. Raises ``CourseError`` if the expected value cannot
    leave a student's process.
    """
    options = TableOptions(**table) if table else _USUAL
    first = next(differences(actual, expected, _rules(options, **rules)), None)
    return None if first is None else _finding(first)


@lru_cache(maxsize=64)
def _rules(tables: TableOptions, **rules: Any) -> Rules:
    return Rules(**rules, tables=tables, reject_opaque=True)


def _finding(difference: Difference) -> Finding:
    found, expected, place = difference.found, difference.expected, difference.place
    return Finding(
        difference.sentence, difference.kind, found, expected, difference.has_expected, place, difference.first
    )


RETURNED_NONE = _finding(returned_none())


def describe_failure(
    finding: Finding, *, call: str = "", inputs: Mapping[str, Any] | None = None, with_reason: bool = True
) -> str:
    """Return a finding as text for a student: the sentence, the inputs to paste, the value found and the expected value."""
    lines = [finding.reason] if with_reason else []
    lines += paste_inputs(inputs or {})
    if finding.found is not None or finding.has_expected:
        subject = f"{call}{finding.path} {'is' if call.startswith(_DESCRIPTIONS) else 'gave'}" if call else "found"
        expected = finding.expected if finding.has_expected or not finding.first else finding.found
        found, right = show_apart(finding.found, expected, finding.first)
        if "\n" in found + right:  # a table has several lines, and its columns must stay aligned
            lines += [f"{subject}\n{_indented(found)}"]
            lines += [f"it should be\n{_indented(right)}"] if finding.has_expected else []
            return "\n".join(lines)
        width = max(len(subject), len("it should be"))
        lines.append(f"{subject:<{width}}  {found}")
        if finding.has_expected:
            lines.append(f"{'it should be':<{width}}  {right}")
    elif call and inputs:
        lines.append(call)
    return "\n".join(lines)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))


def named(reason: str, call: str) -> str:
    """Return ``reason``, with the call in place of "It" or "The function" at its start."""
    for start in ("It is ", "It has ", "It gave ", "The function returned ", "It prints ", "It should raise "):
        if call and reason.startswith(start):
            if call.startswith(_DESCRIPTIONS):
                call = call[0].upper() + call[1:]
            return f"{call} {reason.removeprefix('The function ').removeprefix('It ')}"
    return reason


def wrong_type(actual: Any, asked: str, what: str = "it") -> Finding:
    """Return the finding that ``actual`` does not have the type called ``asked``, such as "an array"."""
    return _finding(type_difference(actual, asked, what))

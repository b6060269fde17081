"""Cases that can be pasted into a notebook and leave its own names as they are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from autograder.verdict import CheckResult, ExerciseVerdict

__all__ = ["with_names_of_its_own"]

PREFIX = "case_"


def with_names_of_its_own(verdict: ExerciseVerdict, names: Mapping[str, Any]) -> ExerciseVerdict:
    """``verdict`` with each input of a case that is called as something of the notebook's called ``case_…`` instead."""
    checks = tuple(_renamed(check, names) for check in verdict.checks)
    message = verdict.message
    for before, after in zip(verdict.checks, checks, strict=True):
        message = message.replace(before.message, after.message) if before is not after else message
    return replace(verdict, checks=checks, message=message)


def _renamed(check: CheckResult, names: Mapping[str, Any]) -> CheckResult:
    case = check.example
    given = [name for line in case.splitlines() if (name := _assigned(line)) and name in names]
    reason = check.reason
    for name in dict.fromkeys(given):
        # Not as a keyword, not as an attribute, not inside a text: only where the name stands for the value.
        place = re.compile(rf"(?<![\w.'\"]){re.escape(name)}(?![\w'\"])(?!=(?!=))")
        case = place.sub(f"{PREFIX}{name}", case)
        reason = re.sub(rf"(?<=[(,= ]){re.escape(name)}(?=[,)\[])", f"{PREFIX}{name}", reason)
    if case == check.example:
        return check
    message = check.message.replace(check.example, case).replace(check.reason, reason)
    return replace(check, example=case, reason=reason, message=message)


def _assigned(line: str) -> str:
    """The name that a line of a case gives a value to."""
    found = re.match(r"(?:def ([A-Za-z_]\w*)\(|([A-Za-z_]\w*) = )", line)
    return (found[1] or found[2]) if found else ""

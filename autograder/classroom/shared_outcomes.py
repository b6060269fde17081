"""The verdicts on a class as lines of JSON in which what many students share, the outcome of an exercise, stands once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from typing import Any

from autograder.base.verdict import ExerciseVerdict, Verdict

__all__ = ["SharedOutcomes"]


class SharedOutcomes:
    """The outcomes of exercises that a file of lines holds, each under a name made from its content.

    A verdict read back shares its exercises with every other that has the same: a class of a thousand has a few hundred
    different ones, and they are decoded once.
    """

    def __init__(self) -> None:
        self._found: dict[str, ExerciseVerdict] = {}

    def read(self, line: dict[str, Any]) -> bool:
        """Take in a line that ``condense`` made; false, and nothing taken, where it is another kind of line.

        Raises ``KeyError`` or ``TypeError`` where the line is of another version.
        """
        if "outcome" not in line:
            return False
        self._found[line["outcome"]] = ExerciseVerdict.from_json(line["exercise"])
        return True

    def condense(self, verdict: Verdict) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """A verdict as an object that names its exercises' outcomes, and the lines that have to stand before it."""
        lines, names = [], []
        line = verdict.to_json()
        for exercise, outcome in zip(line["exercises"], verdict.exercises, strict=True):
            name = hashlib.sha256(json.dumps(exercise).encode()).hexdigest()[:32]
            names.append(name)
            if name not in self._found:
                self._found[name] = outcome
                lines.append({"outcome": name, "exercise": exercise})
        return lines, {**line, "exercises": names}

    def expand(self, line: dict[str, Any]) -> Verdict:
        """The verdict that ``condense`` wrote down. Raises ``KeyError`` or ``TypeError`` where a part of it is missing."""
        exercises = tuple([self._found[name] for name in line["exercises"]])
        return Verdict(**{**line, "exercises": exercises})

    def lines(self, names: Collection[str]) -> list[dict[str, Any]]:
        """The lines of those outcomes that are in ``names``, for a file that is written again."""
        return [
            {"outcome": name, "exercise": outcome.to_json()} for name, outcome in self._found.items() if name in names
        ]

"""Record visible checks as data for a release, and replay them on a student's machine.

``examples.json`` contains inputs, the reference's outputs and each misconception's outcomes. It contains no source code of
misconceptions, and none of checks unless they raise ``CheckFailed`` themselves. All modules except ``record`` need only NumPy and the standard library.
"""

from __future__ import annotations

from autograder.student.examples.format import (
    EXAMPLES_NAME,
    AssertStep,
    Examples,
    ExamplesError,
    ExerciseExamples,
    load_examples,
    parse_examples,
)
from autograder.student.examples.replay import replay, stub_verdict

__all__ = [
    "EXAMPLES_NAME", "AssertStep", "Examples", "ExamplesError", "ExerciseExamples", "load_examples", "parse_examples", "replay",
    "stub_verdict",
]  # fmt: skip

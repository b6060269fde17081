"""Visible examples as data: what a release hands out, and how a student's functions are tried on it.

``examples.json`` holds inputs, the reference's outputs and each misconception's outcomes, so no solution, wrong or
right, ever lies on a student's machine. NumPy and the standard library only, but for ``record``.
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
from autograder.student.examples.replay import replay, stub_verdict, syntax_error_verdict

__all__ = [
    "EXAMPLES_NAME",
    "AssertStep",
    "Examples",
    "ExamplesError",
    "ExerciseExamples",
    "load_examples",
    "parse_examples",
    "replay",
    "stub_verdict",
    "syntax_error_verdict",
]  # fmt: skip

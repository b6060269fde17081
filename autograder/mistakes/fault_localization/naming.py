"""The name of one of two mistakes: that which is left when only the other one is undone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from autograder.judging.diagnosis import PRAISE, Candidate, Diagnosis
from autograder.mistakes.fault_localization.program import Variant
from autograder.sandbox.protocol import Answer, Call

__all__ = ["ONE_OF_TWO", "named_beside"]

# The message speaks of a function that makes its mistake alone; what this student's function gives is made by both.
ONE_OF_TWO = "Two things at once. One of them is told here as it looks where it is the only one: your own numbers and shapes come of both together."

Ask = Callable[[Variant, Sequence[Call]], Sequence[Answer]]


def named_beside(variant: Variant, diagnoses: Sequence[Diagnosis], ask: Ask) -> Candidate | None:
    """The misconception that the student's code makes besides another mistake; None where two edits do not show that.

    Args:
        variant: two edits that make the code right together.
        diagnoses: what is known of the misconceptions, by one set of inputs each; all of them have to name the same.
        ask: what an edited program answers.
    """
    if len(variant.edits) != 2 or any(call.probe for diagnosis in diagnoses for call in diagnosis.calls):
        return None
    for edit in variant.edits:
        half = Variant((edit,))
        found = [d.explain([*zip(d.calls, ask(half, d.calls), strict=False)]) for d in diagnoses]
        first = found[0]
        if first is not None and all(other is not None and other.name == first.name for other in found):
            return None if PRAISE.search(first.message) else first  # what it calls right may be the other mistake
    return None

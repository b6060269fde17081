"""Search for the mistake in a function that is defined in this process.

This module needs only NumPy and the standard library, because it also runs on students' machines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from autograder.judging.functions import FunctionSession, FunctionSubject
from autograder.judging.judge import Judge
from autograder.judging.scoring import Checks
from autograder.mistakes.fault_localization.program import Program, Variant
from autograder.mistakes.fault_localization.search import Deadline, LazyChecks, Located, failing, passes, search
from autograder.mistakes.fault_localization.trials import Questions, survivors
from autograder.mistakes.fault_localization.variable_matching import DonorTrace, match_variables

__all__ = ["localize"]

_CALL_SECONDS = 0.25


@dataclass
class _EditedFunctions(FunctionSubject):
    """A subject whose functions include the edited definitions of ``variant``."""

    variant: Variant = field(kw_only=True)

    def open(self, *, memory_mb: int | None = None) -> FunctionSession:
        session = super().open(memory_mb=memory_mb)
        session.define(self.variant.sources)
        return session


def localize(
    names: Mapping[str, Any],
    program: Program,
    lazy: LazyChecks,
    judge: Judge[Checks],
    deadline: Deadline,
    *,
    questions: Questions | None = None,
    traces: Sequence[DonorTrace] = (),
    validation_seconds: float = _CALL_SECONDS,
) -> Located | None:
    """Return the location of the mistake in ``program``, or None if no small edit corrects it.

    Args:
        names: the functions of the notebook by name.
        program: the student's code.
        lazy: the checks that variants are tried with if there are no ``questions``.
        judge: validates the variants that survive.
        deadline: the end of the search.
        questions: the calls that variants are tried with, and their correct results.
        traces: correct programs, and the values of their variables in the call ``questions.watched``.
        validation_seconds: the time limit of one call during validation.
    """
    session = FunctionSession(names, call_seconds=_CALL_SECONDS)
    first = ""
    if questions is not None and questions.calls:
        called = match_variables(program, traces, questions.watched, session, _CALL_SECONDS)
        program = replace(program, called=called)
        session.reset()
        questions = questions.wrong_first(session.batch(questions.calls))
    else:
        questions, first = None, failing(lazy, session)
    session.reset()

    def validate(variant: Variant) -> bool:
        try:
            subject = _EditedFunctions("an edited copy", names, call_seconds=validation_seconds, variant=variant)
            subject.open()
        except (Exception, SystemExit):  # noqa: BLE001 - an edited definition may do anything
            return False
        [verdict] = judge.judge(subject, only=frozenset({program.exercise}))
        return verdict.status == "passed"

    if not first and questions is None and validate(Variant(())):
        return None  # nothing is wrong

    def survive(variants: Sequence[Variant]) -> Iterable[float]:
        if questions is not None:
            return survivors(variants, questions, lambda: session, _CALL_SECONDS)
        return (float(bool(deadline.remaining) and passes(lazy, first, session, variant)) for variant in variants)

    return search(program, survive, validate, deadline)

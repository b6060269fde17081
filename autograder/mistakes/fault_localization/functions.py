"""The search among functions of this process. NumPy and the standard library only: a student's own machine runs this too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from autograder.judging.functions import FunctionSession
from autograder.judging.judge import Judge
from autograder.judging.scoring import Checks
from autograder.mistakes.fault_localization.checks import ChecksInTurn, failing, holds
from autograder.mistakes.fault_localization.program import Program, Variant
from autograder.mistakes.fault_localization.search import Deadline, Located, located_in
from autograder.mistakes.fault_localization.trials import Questions, survivors
from autograder.mistakes.fault_localization.values import Lender, called_by

__all__ = ["located_among"]

_CALL_SECONDS = 0.25


class _EditedFunctions:
    """A subject made of functions, some of which are edited: opened, it is a fresh ``FunctionSession`` with the edits made."""

    label = "an edited copy"
    blank: frozenset[str] = frozenset()
    notes: Mapping[str, str] = {}

    def __init__(self, names: Mapping[str, Any], variant: Variant, call_seconds: float) -> None:
        self._names, self._variant, self._seconds = names, variant, call_seconds

    def open(self, *, memory_mb: int | None = None) -> FunctionSession:  # noqa: ARG002 - each call carries its own limit
        session = FunctionSession(self._names, call_seconds=self._seconds)
        session.define(self._variant.sources)
        return session

    def before_redefined(self, exercise: str) -> None:
        """Nothing is defined twice in a dictionary."""


def located_among(
    names: Mapping[str, Any],
    program: Program,
    in_turn: ChecksInTurn,
    judge: Judge[Checks],
    deadline: Deadline,
    *,
    questions: Questions | None = None,
    lenders: Sequence[Lender] = (),
    proof_seconds: float = _CALL_SECONDS,
) -> Located | None:
    """Where the mistake of ``program`` is, whose functions live in ``names``.

    Variants are tried by ``questions``, or where there are none by the checks ``in_turn``, and proven by ``judge``, for
    which a call may take ``proof_seconds``. ``lenders`` are right programs that answered ``questions.watched``.
    """
    session = FunctionSession(names, call_seconds=_CALL_SECONDS)
    first = ""
    if questions is not None and questions.calls:
        called = called_by(program, lenders, questions.watched, session, _CALL_SECONDS)
        program = replace(program, called=called)
        session.reset()
        questions = questions.wrong_first(session.batch(questions.calls))
    else:
        questions, first = None, failing(in_turn, session)
    session.reset()

    def prove(variant: Variant) -> bool:
        try:
            subject = _EditedFunctions(names, variant, proof_seconds)
            subject.open()
        except (Exception, SystemExit):  # noqa: BLE001 - an edit may make anything of a definition
            return False
        [verdict] = judge.judge(subject, only=frozenset({program.exercise}))
        return verdict.status == "passed"

    if not first and questions is None and prove(Variant(())):
        return None  # nothing is wrong

    def survive(variants: Sequence[Variant]) -> Iterable[float]:
        if questions is not None:
            return survivors(variants, questions, lambda: session, _CALL_SECONDS)
        return (float(bool(deadline.left) and holds(in_turn, first, session, variant)) for variant in variants)

    return located_in(program, survive, prove, deadline)

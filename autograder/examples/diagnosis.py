"""Which named mistake gives just what the student's code gave? Silence where that cannot be told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograder.checking.closeness import equal, tolerances
from autograder.examples.values import decode_value
from autograder.judging.explanations import signature_of_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autograder.examples.format import MisconceptionExample, Outcome
    from autograder.sandbox.protocol import Answer

__all__ = ["matching"]


def matching(
    misconceptions: Sequence[MisconceptionExample],
    answers: Sequence[Answer | None],
    blamed: Sequence[frozenset[int]],
    *,
    inputs_changed: bool = False,
) -> list[MisconceptionExample]:
    """The misconceptions whose outcomes equal ``answers`` wherever both are known, the best supported ones only.

    ``answers`` has one entry for each call and variable over all checks in order (``None``: not tried); each entry of
    ``blamed`` holds the positions that made one check fail. A misconception must account for one such failure wholly;
    where only changed inputs are to be explained (``inputs_changed``), it must change its inputs too.
    """
    supported: list[tuple[int, MisconceptionExample]] = []
    for misconception in misconceptions:
        support = _support(misconception.outcomes, answers)
        if support is None:
            continue
        explains = any(positions and positions <= support for positions in blamed)
        if not blamed and inputs_changed:
            explains = any(misconception.outcomes[i].changed for i in support)
        if explains:
            supported.append((len(support), misconception))
    most = max((count for count, _ in supported), default=0)
    return [misconception for count, misconception in supported if count == most]


def _support(outcomes: Sequence[Outcome], answers: Sequence[Answer | None]) -> frozenset[int] | None:
    """The positions that were compared, when all of them agree and one at least is a value; ``None`` otherwise."""
    if len(outcomes) != len(answers):
        return None
    compared: set[int] = set()
    values = 0
    for position, (outcome, answer) in enumerate(zip(outcomes, answers, strict=True)):
        if outcome.skip or answer is None:
            continue
        if not _agree(outcome, answer):
            return None
        compared.add(position)
        values += not outcome.error
    return frozenset(compared) if values else None


def _agree(outcome: Outcome, answer: Answer) -> bool:
    if answer.stopped or not set(outcome.changed) <= set(answer.changed):
        return False
    if outcome.error or answer.error is not None:
        if answer.error is None or answer.error.type != outcome.error:
            return False
        # The same kind of error from another cause is another mistake.
        recorded_text = outcome.message.removeprefix(f"{outcome.error}: ")
        given, recorded = (signature_of_error(outcome.error, text) for text in (answer.error.message, recorded_text))
        return not outcome.message or given == recorded
    value = decode_value(outcome.value)
    rtol, atol = tolerances(value, answer.value)
    return equal(answer.value, value, rtol=rtol, atol=atol)

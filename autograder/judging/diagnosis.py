"""Find the misconception that reproduces a student's answers exactly. Return none rather than guess.

A candidate is a known mistake together with its answers to the test calls. The grader computes the answers with the
misconception's function. A release records them, so that notebooks can identify mistakes without containing the
function. This module needs only NumPy and the standard library.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np

from autograder.base.foreign import Value
from autograder.checking.outcomes import is_outcome
from autograder.judging.explanations import signature_of_error
from autograder.sandbox.guest.wire_tables import to_parts
from autograder.sandbox.protocol import Answer, Call, StudentError
from autograder.sandbox.script import is_script, names_in
from autograder.values import Rules, TableOptions, as_array, call_key, equal, family_of, tolerances

__all__ = ["PRAISE", "Candidate", "Diagnosis", "answer_signature", "distinguishing_calls", "same_answer"]

FEW_NUMBERS = 3  # this many equal wrong numbers are not a coincidence
# A message that praises a part of the code is true only if the code has no second mistake.
PRAISE = re.compile(r"\b(right|rightly|correct)\b", re.IGNORECASE)
_STRICT = TableOptions(column_order=True)
MAX_NUMBERS = 500  # how many numbers of one answer the signature includes

Answers = Sequence[Answer | None]
Entries = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A known mistake with its answer to each test call (None if unknown).

    ``differs`` contains the positions of the calls for which the answer differs from the right one.
    """

    name: str
    message: str
    answers: Answers
    differs: tuple[int, ...]


@dataclass
class Diagnosis:
    """The known mistakes of one exercise, with their answers to the calls that distinguish solutions.

    Attributes:
        calls: the distinguishing calls.
        right: the right answers to ``calls``.
        candidates: the known mistakes that give a wrong answer, sorted by the number of wrong answers.
        limited: the distinguishing calls that have a memory limit. Only ``too_large`` has answers to them.
        too_large: returns the mistakes whose answers to ``calls`` are all right, with their answers to ``limited``.
    """

    calls: Sequence[Call]
    right: Answers
    candidates: Sequence[Candidate]
    _: KW_ONLY
    limited: Sequence[Call] = ()
    too_large: Callable[[], Sequence[Candidate]] = tuple

    def __post_init__(self) -> None:
        # If two mistakes explain everything, the one with fewer wrong answers is more specific.
        self.candidates = sorted((c for c in self.candidates if c.differs), key=lambda c: len(c.differs))

    def explain(self, log: Sequence[tuple[Call, Answer]]) -> Candidate | None:
        """Return the mistake whose answers equal the student's for every call.

        Return None if there is no such mistake, or if several such mistakes have different messages. Also return None if a
        call was stopped, or if all calls raised errors.
        """
        answered = {call_key(call): answer for call, answer in log}
        given = [answered.get(call_key(call)) for call in self.calls]
        if any(a is None or a.stopped for a in given) or all(a is None or a.error is not None for a in given):
            return None
        # A student may make a known mistake and also change the inputs.
        for inputs_too in (True, False):
            found = [c for c in self.candidates if self._explains(c, given, inputs_too=inputs_too)]
            if found:
                return found[0] if len({c.message for c in found}) == 1 else None
        if all(map(_agrees, given, self.right, self.calls)):
            return self._exceeding_memory(answered)  # all values are right, so something else failed
        return None

    def explain_entries(self, log: Sequence[tuple[Call, Answer]]) -> dict[str, Candidate]:
        """Return the mistake that explains each wrong entry, by key, if the answers are dictionaries.

        A mistake explains an entry if it reproduces the student's value in every call and leaves the other entries
        right. This finds separate mistakes in two entries, which no single candidate explains.
        """
        answered = {call_key(call): answer for call, answer in log}
        right = [self._right(i) for i in range(len(self.calls))]
        given = [_entries(answered.get(call_key(call))) for call in self.calls]
        expected = [_entries(answer) for answer in right]
        # The entries of a probe's answer describe the same result, so no entry has a cause of its own.
        if not self.calls or any(c.probe for c in self.calls) or not all(given) or not all(expected):
            return {}
        found = {}
        for key in expected[0]:
            wrong = sum(not self._alike(given[i], expected[i], key, i) for i in range(len(self.calls)))
            known = [c for c in self.candidates if self._explains_entry(c, key, given, expected)]
            if wrong >= FEW_NUMBERS and len({c.message for c in known}) == 1:
                found[key] = known[0]
        return found

    def _explains_entry(
        self, candidate: Candidate, key: str, given: Sequence[Entries], right: Sequence[Entries]
    ) -> bool:
        told = [_entries(answer) for answer in candidate.answers]
        if PRAISE.search(candidate.message) or not all(told):
            return False
        return all(
            self._alike(found, given[i] if name == key else right[i], name, i)
            for i, found in enumerate(told)
            for name in right[i]
        )

    def _alike(self, one: Value, other: Value, key: str, place: int) -> bool:
        rtol, atol = tolerances(*self.calls[place].args)
        return key in one and key in other and _interchangeable(one[key], other[key], Rules(rtol, atol))

    def _right(self, place: int) -> Answer | None:
        """Return the right answer to the call at ``place``. If it is unknown, take it from a mistake that is right in this call."""
        if self.right[place] is not None:
            return self.right[place]
        return next((c.answers[place] for c in self.candidates if place not in c.differs), None)

    def _exceeding_memory(self, answered: Mapping[tuple[Any, ...], Answer]) -> Candidate | None:
        """Return the mistake from ``too_large`` whose answers to ``limited`` equal the student's, or None."""
        given = [answered.get(call_key(call)) for call in self.limited]
        if not any(a is not None and a.error is not None for a in given):
            return None
        agreeing = (c for c in self.too_large() if all(map(_agrees, given, c.answers, self.limited)))
        return next(agreeing, None)

    def _explains(self, candidate: Candidate, given: Answers, *, inputs_too: bool) -> bool:
        if any(candidate.answers[i] is None for i in candidate.differs):
            return False  # every answer that shows the mistake must be known
        # Start with the calls that show the mistake, because these rule out most candidates.
        places = dict.fromkeys([*candidate.differs, *range(len(given))])
        return all(_agrees(given[i], candidate.answers[i], self.calls[i], inputs_too=inputs_too) for i in places)


def _agrees(answer: Answer | None, known: Answer | None, call: Call, *, inputs_too: bool = True) -> bool:
    """Return whether ``answer`` equals ``known``. If ``known`` is None, return True.

    With ``inputs_too=False``, the call behind ``answer`` may have changed more inputs than the call behind ``known``.
    """
    if known is None:
        return True
    if answer is None:
        return False
    if not inputs_too and set(known.changed) <= set(answer.changed):
        answer, known = (Answer(a.value, a.error, a.stopped) for a in (answer, known))
    return same_answer(answer, known, call)


def _entries(answer: Answer | None) -> Entries:
    """Return the value of an answer if it is a dictionary, or else an empty dictionary."""
    usable = answer is not None and answer.error is None and not answer.stopped and isinstance(answer.value, dict)
    return dict(answer.value) if usable and answer is not None else {}


def same_answer(left: Answer, right: Answer, call: Call | None = None) -> bool:
    """Return whether two answers are the same.

    The two calls must have changed the same inputs. Their errors must be the same, or their values equal within tolerance.
    """
    if left.serial is not None and left.serial == right.serial:
        return True
    if left.stopped or right.stopped or left.changed != right.changed:
        return False
    if (left.error is None) != (right.error is None):
        return False
    if left.error is not None and right.error is not None:
        if _on_purpose(left.error) and _on_purpose(right.error):
            return left.error.type == right.error.type
        one, other = (signature_of_error(error.type, error.message) for error in (left.error, right.error))
        return one == other
    rtol, atol = tolerances(*call.args, *call.kwargs.values()) if call else tolerances(left.value)
    return _interchangeable(left.value, right.value, Rules(rtol, atol))


def _interchangeable(one: Any, other: Any, rules: Rules) -> bool:
    """Return whether two values are equal, with either of them as the expected value. The order of columns matters."""
    if type(one) is np.ndarray is type(other) and one.dtype == other.dtype:
        return equal(one, other, rules)
    rules = replace(rules, tables=_STRICT)
    return equal(one, other, rules) and equal(other, one, rules)


def distinguishing_calls(exercise: str, calls: Sequence[Call]) -> list[Call]:
    """Return the calls whose answers distinguish solutions of ``exercise``.

    If checks use probes, these are only the calls with probes. The function's own result (the weights of a head, a
    matplotlib Axes) may differ between solutions that are equally right or wrong. Measurements are left out.
    """
    own = [
        call
        for call in calls
        if not call.measured and (call.function == exercise or (is_script(call) and exercise in names_in(call)))
    ]
    return [call for call in own if call.probe and not is_outcome(call.probe)] or own


def answer_signature(exercise: str, log: Sequence[tuple[Call, Answer]]) -> str:
    """Return a hash that is the same for functions whose answers agree to four digits, or "" if no call returned a value."""
    distinguishing = {call_key(call) for call in distinguishing_calls(exercise, [call for call, _ in log])}
    answers = [_written(a) for call, a in log if call_key(call) in distinguishing and not a.stopped]
    if not answers or all(text.startswith("error") for text in answers):
        return ""
    # Sort the answers, because a notebook makes the calls check by check, and the grader makes them all at once.
    return hashlib.sha256("\n".join(sorted(answers)).encode()).hexdigest()[:16]


def _written(answer: Answer) -> str:
    if answer.error is not None:
        error = answer.error
        return f"error {error.type if _on_purpose(error) else signature_of_error(error.type, error.message)}"
    return f"{_digits(answer.value)} {' '.join(answer.changed)}"


def _on_purpose(error: StudentError) -> bool:
    """Return whether a ``raise`` statement in the student's code raised the error. Its message is the student's own."""
    return bool(re.match(r"raise\b", error.line.strip()))


def _digits(value: Value) -> str:
    if isinstance(value, dict):
        return repr([(k, _digits(v)) for k, v in value.items()])
    if isinstance(value, tuple | list) and any(isinstance(v, np.ndarray | dict | tuple | list) for v in value):
        return repr([_digits(v) for v in value])
    if family_of(value).from_pandas:
        return _digits(to_parts(value))
    array = as_array(value)
    if array is None:
        return repr(value)[:200]
    with np.errstate(all="ignore"):
        return f"{array.shape} {' '.join(f'{v:.3e}' for v in array.ravel()[:MAX_NUMBERS] + 0.0)}"

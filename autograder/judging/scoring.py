"""From the outcomes of checks to the outcome of an exercise: points, status, and the words that go with them.

NumPy and the standard library only: a student's own machine runs this too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from autograder.base.formatting import points
from autograder.base.sanitize import sanitize
from autograder.base.verdict import CheckResult, CheckStatus, ExerciseStatus, ExerciseVerdict
from autograder.checking.asserts import CheckFailed, CheckStopped
from autograder.checking.decorators import CheckSpec, ExerciseSpec
from autograder.checking.findings import named, wrong_type
from autograder.judging.diagnosis import Diagnosis, answer_signature
from autograder.judging.exercise_session import ExerciseSession
from autograder.judging.explanations import explain
from autograder.judging.proxies import StudentProxy
from autograder.sandbox.protocol import Call, Opaque, Session
from autograder.values import describe, family_of, is_builtin, structure_difference

__all__ = ["INPUTS_KEPT", "NOT_ATTEMPTED", "Checks", "Scorer", "not_tried"]

NOT_ATTEMPTED = "Not attempted yet: there is no code of yours in it."
MAX_SAID = 20_000  # characters of what a check says of one case
INPUTS_KEPT = CheckSpec("inputs_kept", "the inputs stay as they were", 0.0, visible=True, after=())


class Checks(Protocol):
    """The checks of a chapter, from its check file or as they are recorded for students.

    ``only_visible`` says that hidden checks, and so those of how inputs are treated, are no part of them.
    """

    only_visible: bool

    @property
    def specs(self) -> Mapping[str, ExerciseSpec]:
        """The exercises, by name, in the order of the chapter."""

    @property
    def references(self) -> Mapping[str, Callable[..., Any]]:
        """The functions by which an earlier mistake is answered for, so that it counts once."""

    def visible_part(self) -> Checks:
        """Those that students run themselves, alone."""

    def converse(
        self,
        exercise: str,
        session: Callable[[], Session],
        limited: Callable[[int], Session] | None = None,
        fresh_session: Callable[[], Session] | None = None,
    ) -> ExerciseSession:
        """A conversation about ``exercise`` with the submission behind ``session``."""

    def run_check(self, exercise: str, check: str, student: StudentProxy) -> None:
        """Run one check on ``student``; raises what it raises."""

    def diagnosis(self, exercise: str) -> Diagnosis | None:
        """What is known of the mistakes of ``exercise``; None where none is named."""

    def wrong_choices(self, exercise: str, answers: Mapping[str, Any]) -> Sequence[tuple[str, str, str]]:
        """The known wrong choices among the answers to a quiz: variable, name of the mistake, and its message."""

    def asks_for(self, exercise: str, check: str, variable: str) -> bool:
        """Whether ``check`` is about ``variable``."""

    def right_answer(self, call: Call) -> Any:
        """What a right solution answers; None where that is not known."""


class Scorer:
    """Says what an exercise earned, and which mistake explains what it did not."""

    def __init__(self, checks: Checks) -> None:
        self._checks = checks
        # The last failure to name what is wrong with an answer: an audit raises it, so that an author hears of it.
        self.undiagnosed: Exception | None = None

    def not_attempted(self, spec: ExerciseSpec) -> ExerciseVerdict:
        """The outcome of a blank stub."""
        results = tuple(map(not_tried, spec.checks))
        return ExerciseVerdict(spec.name, 0.0, _total(results), "not_attempted", message=NOT_ATTEMPTED, checks=results)

    def failed(self, check: CheckSpec, failure: BaseException, conversation: ExerciseSession) -> CheckResult:
        """The outcome of a check that raised ``failure``."""
        status: CheckStatus = "failed"
        if not isinstance(failure, AssertionError):  # which a CheckFailed is, too
            failure = self._unusable(failure, conversation)
        reason, example = sanitize(str(failure), MAX_SAID), ""
        if isinstance(failure, CheckFailed):
            # Whatever a check quotes, a terminal, a page and a file can hold it.
            reason, example = sanitize(failure.reason, MAX_SAID), sanitize(failure.example, MAX_SAID)
            if isinstance(failure, CheckStopped):
                status = "timeout" if failure.stopped == "timeout" else "error"
            elif failure.kind in {"error", "missing"}:
                status = "error"
        message = f"{reason}\n{example}" if example else (reason or f"This does not hold: {check.title}.")
        return CheckResult(
            check.name, check.title, status, message, check.visible, check.points, reason=reason, example=example
        )

    def score(
        self,
        spec: ExerciseSpec,
        results: Sequence[CheckResult],
        conversation: ExerciseSession,
        session: Callable[[], Session],
        note: str = "",
    ) -> ExerciseVerdict:
        """The outcome of an exercise from the outcomes of its checks."""
        if self._checks.only_visible and not spec.answers:
            results = [*results, *self._inputs_kept(conversation)]
        earned = sum(r.points for r in results if r.status == "passed")
        status = _status(results, earned)
        mistake, message, signature = "", "", ""
        if status != "passed":
            results, missing = self._missing(spec, results, session)
            try:
                if spec.answers:
                    mistake, results, message = self._answers(spec, results, conversation)
                elif not missing:
                    mistake, message = self._named(spec, conversation)
                    results = results if mistake else self._slips(spec, results, conversation)
                signature = "" if mistake else answer_signature(spec.name, conversation.log)
            except Exception as error:  # noqa: BLE001 - marks never depend on whether a mistake can be named
                self.undiagnosed = error
            message = message or next((r.message for r in results if r.status not in {"passed", "not_tried"}), "")
        message = f"{message}\n{note}".strip() if note else message
        score, worth = round(earned, 6), _total(results)
        return ExerciseVerdict(
            spec.name, score, worth, status, mistake or None, message, None, tuple(results), signature
        )

    def follow_through(self, verdict: ExerciseVerdict, wrong: Mapping[str, ExerciseStatus]) -> ExerciseVerdict:
        """``verdict``, won with the earlier exercises of ``wrong`` answered by the reference, with the note that says so.

        ``wrong`` holds their statuses: in one that was never begun nothing is wrong, it is missing.
        """
        names = " and ".join(wrong)
        what = "is right in itself" if verdict.status == "passed" else "does better"
        wanting = [name for name, status in wrong.items() if status == "not_attempted"]
        mistaken = [name for name in wrong if name not in wanting]
        lacks = [f"the mistake in {' and '.join(mistaken)}"] if mistaken else []
        lacks += [f"that {' and '.join(wanting)} {'is' if len(wanting) == 1 else 'are'} missing"] if wanting else []
        note = (
            f"Your {verdict.name} {what}: with a right {names} underneath it earns "
            f"{points(verdict.score, verdict.max_score)}, so {' and '.join(lacks)} is counted only once."
        )
        return replace(verdict, follow_through=note, message=f"{note}\n{verdict.message}".strip())

    def _named(self, spec: ExerciseSpec, conversation: ExerciseSession) -> tuple[str, str]:
        """The name and the message of the mistake that explains every answer; two empty texts where none does."""
        diagnosis = self._checks.diagnosis(spec.name)
        if diagnosis is None:
            return "", ""
        conversation.ask_quietly(diagnosis.calls)
        found = diagnosis.explain(conversation.log)
        return (found.name, found.message) if found is not None else ("", "")

    def _slips(
        self, spec: ExerciseSpec, results: Sequence[CheckResult], conversation: ExerciseSession
    ) -> Sequence[CheckResult]:
        """Where no one mistake explains all answers: the one that explains those of a check that failed, told there, once."""
        diagnosis, failed = self._checks.diagnosis(spec.name), [r for r in results if r.status == "failed"]
        if diagnosis is None or not failed:
            return results
        slips: dict[str, str] = {}  # by message, the check that tells it
        for key, found in diagnosis.explain_entries(conversation.log).items():
            about = next((r for r in failed if f"{key!r}" in r.reason), failed[0])
            slips.setdefault(found.message, about.name)
        for result in failed:
            part = conversation.failed_on.get(result.name, ())
            slip = diagnosis.explain_part(conversation.log, part)
            if slip is not None:
                slips.setdefault(slip.message, result.name)
        notes = {r.name: "\n".join(text for text, check in slips.items() if check == r.name) for r in failed}
        return [
            replace(r, message=f"{r.message}\n{note}", reason=f"{r.reason} {note}")
            if (note := notes.get(r.name))
            else r
            for r in results
        ]

    def _unusable(self, failure: BaseException, conversation: ExerciseSession) -> BaseException:
        """What a check found that could not use the student's last answer: it passes with a right solution's answer."""
        if conversation.latest is not None:
            call, answer = conversation.latest
            right = self._checks.right_answer(call)
            finding = structure_difference(answer.value, right)
            if finding is not None and answer.error is None:
                return CheckFailed(named(finding.sentence, conversation.spelled(call)[0]), conversation.described(call))
            if (lost := _opaque(answer.value)) is not None:
                what = "it" if lost is answer.value else f"A part of what {call.function} returned"
                reason = wrong_type(lost, "a number or an array", what).reason
                return CheckFailed(named(reason, conversation.spelled(call)[0]), conversation.described(call))
            if right is not None and is_builtin(answer.value) and type(answer.value) is not type(right):
                reason = wrong_type(
                    answer.value, describe(right) if is_builtin(right) else "a number or an array"
                ).reason
                return CheckFailed(named(reason, conversation.spelled(call)[0]), conversation.described(call))
        why = f"{type(failure).__name__}: {failure}"
        return AssertionError(f"The answer could not be used the way it should be: {why}.")

    @staticmethod
    def _inputs_kept(conversation: ExerciseSession) -> list[CheckResult]:
        """The line that says that an input is changed, where no check looks at that; it costs nothing yet."""
        try:
            conversation.check_inputs()
        except CheckFailed as found:
            spec = INPUTS_KEPT
            return [CheckResult(spec.name, spec.title, "failed", str(found), True, 0.0, found.reason, found.example)]  # noqa: FBT003
        return []

    @staticmethod
    def _missing(
        spec: ExerciseSpec, results: Sequence[CheckResult], session: Callable[[], Session]
    ) -> tuple[Sequence[CheckResult], bool]:
        """Where the function is not there because its cell failed, say what stopped the cell."""
        absent = [r for r in results if r.status == "error" and r.reason.startswith("There is no ")]
        if not absent:
            return results, False
        for outcome in session().cells:
            if outcome.error is not None and outcome.error.cell == spec.name:
                error = outcome.error
                text = explain(error.type, error.message, line=error.line, function=f"The cell of {spec.name}")
            elif outcome.stopped and getattr(outcome, "name", "") == spec.name:
                text = f"The cell of {spec.name} had not finished when its time was up, so nothing it defines is there."
            else:
                continue
            return [replace(r, reason=text, message=text) if r in absent else r for r in results], True
        return results, True

    def _answers(
        self, spec: ExerciseSpec, results: Sequence[CheckResult], conversation: ExerciseSession
    ) -> tuple[str, Sequence[CheckResult], str]:
        """For an exercise of plain variables: a message for each wrong choice, on the check that is about it."""
        answers = {name: conversation.ask_variable(name).value for name in spec.answers}
        known = self._checks.wrong_choices(spec.name, answers)
        words: dict[str, str] = {}
        for variable, _mistake, message in known:
            words.setdefault(variable, message)
        explained = list(results)
        for i, result in enumerate(results):
            about = [n for n in words if result.status == "failed" and self._checks.asks_for(spec.name, result.name, n)]
            if about:
                extra = "\n".join(words[n] for n in about)
                explained[i] = replace(result, message=f"{result.message}\n{extra}", reason=f"{result.reason} {extra}")
        seen = dict.fromkeys(message for _variable, _mistake, message in known)
        return (known[0][1] if known else ""), explained, "\n".join(seen)


def not_tried(check: CheckSpec) -> CheckResult:
    """The outcome of a check that waits for another, or for code."""
    return CheckResult(check.name, check.title, "not_tried", "", check.visible, check.points)


def _opaque(value: Any) -> Opaque | None:
    """What in ``value`` could not cross, if anything did not: a check that computes with it raises an error of its own."""
    if isinstance(value, Opaque):
        return value
    parts = family_of(value).parts(value)
    return next((found for part in parts if (found := _opaque(part)) is not None), None)


def _total(results: Sequence[CheckResult]) -> float:
    return round(sum(r.points for r in results), 6)


def _status(results: Sequence[CheckResult], earned: float) -> ExerciseStatus:
    statuses = {r.status for r in results}
    if statuses <= {"passed"}:
        return "passed"
    if "timeout" in statuses:
        return "timeout"
    if earned > 0:
        return "partial"
    return "error" if "error" in statuses and "failed" not in statuses else "failed"

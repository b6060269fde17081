"""Turn the outcomes of checks into the outcome of an exercise: points, status and messages.

This module needs only NumPy and the standard library, because it also runs on students' machines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from autograder.base.foreign import Value
from autograder.base.formatting import join_words, points
from autograder.base.sanitize import sanitize
from autograder.base.verdict import CheckResult, CheckStatus, ExerciseStatus, ExerciseVerdict
from autograder.checking.asserts import CheckFailed, CheckStopped
from autograder.checking.decorators import CheckSpec, ExerciseSpec
from autograder.checking.findings import named, wrong_type
from autograder.judging.diagnosis import Diagnosis, answer_signature, same_answer
from autograder.judging.exercise_session import ExerciseSession, Sessions
from autograder.judging.explanations import explain, explain_stop
from autograder.judging.functions import FunctionSession
from autograder.judging.proxies import StudentProxy
from autograder.sandbox.protocol import Answer, Call, Opaque, Session
from autograder.values import describe, family_of, is_builtin, structure_difference

__all__ = ["INPUTS_KEPT", "NOT_ATTEMPTED", "Checks", "Scorer", "not_tried"]

NOT_ATTEMPTED = "Not attempted yet: you have not written any code in its cell."
MAX_SAID = 20_000  # characters of a check's message
MAX_REPLAYED = 2  # how many failed checks of an exercise are repeated in a new process
INPUTS_KEPT = CheckSpec("inputs_kept", "the inputs are not changed", 0.0, visible=True, after=())


class Checks(Protocol):
    """The checks of a chapter, from its check file or as recorded for students.

    ``only_visible`` says whether the hidden checks, including the purity check, are left out.
    """

    only_visible: bool

    @property
    def specs(self) -> Mapping[str, ExerciseSpec]:
        """The exercises by name, in the order of the chapter."""

    @property
    def references(self) -> Mapping[str, Callable[..., Any]]:
        """The functions that replace a student's wrong earlier functions, so that a mistake counts once."""

    def visible_part(self) -> Checks:
        """Return only the checks that students run themselves."""

    def converse(self, exercise: str, sessions: Sessions) -> ExerciseSession:
        """Return an ``ExerciseSession`` for ``exercise`` on the submission that ``sessions`` open."""

    def run_check(self, exercise: str, check: str, student: StudentProxy) -> None:
        """Run one check on ``student``. Raises the check's failure."""

    def diagnosis(self, exercise: str) -> Diagnosis | None:
        """Return the diagnosis of ``exercise``, or None if no misconceptions are known."""

    def wrong_choices(self, exercise: str, answers: Mapping[str, Value]) -> Sequence[tuple[str, str, str]]:
        """Return the variable, the misconception's name and its message for each known wrong choice in a quiz."""

    def asks_for(self, exercise: str, check: str, variable: str) -> bool:
        """Return whether ``check`` is about ``variable``."""

    def right_answer(self, call: Call) -> Value:
        """Return a right solution's answer to ``call``, or None if it is unknown."""


class Scorer:
    """A scorer, which computes the points of an exercise and finds the mistake that explains the lost points."""

    def __init__(self, checks: Checks) -> None:
        self._checks = checks
        # The last exception raised by a diagnosis. An audit raises it again, so that the author sees it.
        self.undiagnosed: Exception | None = None

    def not_attempted(self, spec: ExerciseSpec) -> ExerciseVerdict:
        """Return the outcome of an empty stub."""
        results = tuple(map(not_tried, spec.checks))
        return ExerciseVerdict(spec.name, 0.0, _total(results), "not_attempted", message=NOT_ATTEMPTED, checks=results)

    def failed(self, check: CheckSpec, failure: BaseException, conversation: ExerciseSession) -> CheckResult:
        """Return the outcome of a check that raised ``failure``."""
        status: CheckStatus = "failed"
        if not isinstance(failure, AssertionError):  # CheckFailed is an AssertionError
            failure = self._explain_unusable(failure, conversation)
        reason, example = sanitize(str(failure), MAX_SAID), ""
        if isinstance(failure, CheckFailed):
            # A check may quote anything, so make it safe for terminals, pages and files.
            reason, example = sanitize(failure.reason, MAX_SAID), sanitize(failure.example, MAX_SAID)
            if isinstance(failure, CheckStopped):
                status = "timeout" if failure.stopped == "timeout" else "error"
            elif failure.kind in {"error", "missing"}:
                status = "error"
            if failure.kind != "changed" and conversation.latest is not None and conversation.latest[1].changed:
                # The changed input may be the reason why the check failed.
                call, answer = conversation.latest
                # A probe may call the function again with the changed input, so the result may be wrong for this reason only.
                also = "The change may be why the result is wrong. " if status != "error" and not call.probe else ""
                reason = sanitize(f"{conversation.changed_failure(call, answer).reason} {also}{reason}", MAX_SAID)
        message = f"{reason}\n{example}" if example else (reason or f"This check fails: {check.title}.")
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
        """Return the outcome of an exercise from the outcomes of its checks."""
        if self._checks.only_visible and not spec.answers:
            results = [*results, *self._inputs_kept(conversation, results)]
        earned = sum(r.points for r in results if r.status == "passed")
        status = _status(results, earned)
        mistake, message, signature = "", "", ""
        if status != "passed":
            results, missing = self._explain_missing(spec, results, session)
            try:
                if spec.answers:
                    mistake, results, message = self._explain_choices(spec, results, conversation)
                elif not missing:
                    mistake, message = self._diagnose(spec, conversation)
                    if not mistake:
                        results = self._explain_failed_checks(spec, results, conversation)
                        results = self._explain_state(spec, results, conversation)
                        earned = sum(r.points for r in results if r.status == "passed")
                        status = _status(results, earned)
                signature = "" if mistake else answer_signature(spec.name, conversation.log)
            except Exception as error:  # noqa: BLE001 - marks must not depend on the diagnosis
                self.undiagnosed = error
            message = message or next((r.message for r in results if r.status not in {"passed", "not_tried"}), "")
        message = f"{message}\n{note}".strip() if note else message
        score, worth = round(earned, 6), _total(results)
        named = mistake or None
        return ExerciseVerdict(spec.name, score, worth, status, named, message, None, tuple(results), signature)

    def follow_through(self, verdict: ExerciseVerdict, wrong: Mapping[str, ExerciseStatus]) -> ExerciseVerdict:
        """Return ``verdict`` with a note that its points were earned with correct solutions of the exercises in ``wrong``.

        ``wrong`` maps each of these earlier exercises to its status. The note says "missing" for an exercise that was not
        attempted, and "mistake" for any other.
        """
        names = join_words([*wrong])
        what = "is right" if verdict.status == "passed" else "does better"
        blank = [name for name, status in wrong.items() if status == "not_attempted"]
        mistaken = [name for name in wrong if name not in blank]
        lacks = [f"the mistake in {join_words(mistaken)}"] if mistaken else []
        lacks += [f"the missing {join_words(blank)}"] if blank else []
        note = (
            f"Your {verdict.name} {what}: with a correct {names}, it earns "
            f"{points(verdict.score, verdict.max_score)}, so {' and '.join(lacks)} is counted only once."
        )
        return replace(verdict, follow_through=note, message=f"{note}\n{verdict.message}".strip())

    def _diagnose(self, spec: ExerciseSpec, conversation: ExerciseSession) -> tuple[str, str]:
        """Return the name and message of the mistake that explains every answer, or two empty strings."""
        diagnosis = self._checks.diagnosis(spec.name)
        if diagnosis is None:
            return "", ""
        conversation.call_silently(diagnosis.calls)
        candidate = diagnosis.explain(conversation.log)
        return (candidate.name, candidate.message) if candidate is not None else ("", "")

    def _explain_failed_checks(
        self, spec: ExerciseSpec, results: Sequence[CheckResult], conversation: ExerciseSession
    ) -> Sequence[CheckResult]:
        """If a mistake explains an entry of the dictionary answers, add its message to a failed check. Add each message only once."""
        diagnosis, failed = self._checks.diagnosis(spec.name), [r for r in results if r.status == "failed"]
        if diagnosis is None or not failed:
            return results
        slips: dict[str, str] = {}  # maps each message to the check that shows it
        for key, found in diagnosis.explain_entries(conversation.log).items():
            about = next((r for r in failed if f"{key!r}" in r.reason), failed[0])
            slips.setdefault(found.message, about.name)
        notes = {r.name: "\n".join(text for text, check in slips.items() if check == r.name) for r in failed}
        return [
            replace(r, message=f"{r.message}\n{note}", reason=f"{r.reason} {note}")
            if (note := notes.get(r.name))
            else r
            for r in results
        ]

    def _explain_state(
        self, spec: ExerciseSpec, results: Sequence[CheckResult], conversation: ExerciseSession
    ) -> Sequence[CheckResult]:
        """If a failed check's call gives the right answer in a new process, report that earlier calls change its answer.

        In this case, the purity check fails as well.
        """
        read = getattr(self._checks, "shrinks", True) and conversation.session().sandbox != FunctionSession.sandbox
        failed = [name for name in conversation.failed_on if read]
        keeping: dict[str, str] = {}  # the message of each check that fails only after other calls
        for place, name in enumerate(failed):
            if place >= MAX_REPLAYED and not keeping:
                break
            call, answer = conversation.failed_on[name]
            alone = None if answer.stopped else conversation.answer_alone(call)
            if alone is None or same_answer(alone, answer, call) or not self._is_right(alone, call):
                continue
            keeping[name] = (
                f"{call.function} keeps data from one call to the next: this call returns the right result if it is the "
                "first one, but not after other calls."
            )
        if not keeping:
            return results
        title = next(r.title for r in results if r.name in keeping)
        elsewhere = f"{spec.name} keeps data from one call to the next, as the check “{title}” shows."
        purity = {check.name for check in spec.checks if check.purity}
        return [
            replace(r, reason=f"{why} {r.reason}", message=f"{why} {r.message}")
            if (why := keeping.get(r.name))
            else replace(r, status="failed", reason=elsewhere, message=elsewhere)
            if r.name in purity and r.status == "passed"
            else r
            for r in results
        ]

    def _is_right(self, answer: Answer, call: Call) -> bool:
        right = self._checks.right_answer(call)
        return right is not None and same_answer(answer, replace(answer, value=right, error=None, serial=None), call)

    def _explain_unusable(self, failure: BaseException, conversation: ExerciseSession) -> BaseException:
        """Return the failure for a check that raised an error because it could not use the student's last answer.

        With a right answer, the check would not raise this error.
        """
        if conversation.latest is not None:
            call, answer = conversation.latest
            right = self._checks.right_answer(call)
            finding, reason = structure_difference(answer.value, right), ""
            if finding is not None and answer.error is None:
                reason = finding.sentence
            elif (lost := _opaque(answer.value)) is not None:
                what = "it" if lost is answer.value else f"Part of the result of {call.function}"
                reason = wrong_type(lost, "a number or an array", what).reason
            elif right is not None and is_builtin(answer.value) and type(answer.value) is not type(right):
                asked = describe(right) if is_builtin(right) else "a number or an array"
                reason = wrong_type(answer.value, asked).reason
            if reason:
                return CheckFailed(named(reason, conversation.spelled(call)[0]), conversation.described(call))
        why = f"{type(failure).__name__}: {failure}"
        return AssertionError(f"The result cannot be used as the task requires: {why}.")

    @staticmethod
    def _inputs_kept(conversation: ExerciseSession, results: Sequence[CheckResult]) -> list[CheckResult]:
        """Return a failed check, without points, for a changed input that no other check reports, or an empty list."""
        try:
            conversation.check_inputs()
        except CheckFailed as found:
            if any(result.reason.startswith(found.reason) for result in results):
                return []
            spec = INPUTS_KEPT
            return [CheckResult(spec.name, spec.title, "failed", str(found), True, 0.0, found.reason, found.example)]  # noqa: FBT003
        return []

    @staticmethod
    def _explain_missing(
        spec: ExerciseSpec, results: Sequence[CheckResult], session: Callable[[], Session]
    ) -> tuple[Sequence[CheckResult], bool]:
        """Return ``results``, with the error that stopped the function's cell if there was one, and whether the function is missing."""
        absent = [r for r in results if r.status == "error" and r.reason.startswith("There is no ")]
        if not absent:
            return results, False
        for outcome in session().cells:
            if outcome.error is not None and outcome.error.cell == spec.name:
                error = outcome.error
                text = explain(error.type, error.message, line=error.line, function=f"The cell of {spec.name}")
            elif (at := outcome.at) is not None and at.cell == spec.name:
                text = explain_stop("timeout", function=f"The cell of {spec.name}", line=at.line, lineno=at.lineno)
            else:
                continue
            return [replace(r, reason=text, message=text) if r in absent else r for r in results], True
        return results, True

    def _explain_choices(
        self, spec: ExerciseSpec, results: Sequence[CheckResult], conversation: ExerciseSession
    ) -> tuple[str, Sequence[CheckResult], str]:
        """For a quiz, add the message of each known wrong choice to the check of its variable."""
        answers = {name: conversation.ask_variable(name).value for name in spec.answers}
        asks_for = partial(self._checks.asks_for, spec.name)
        # A number may be close to a known wrong answer and still be right.
        wrong = {
            n for n in spec.answers for r in results if r.status not in {"passed", "not_tried"} and asks_for(r.name, n)
        }
        known = [k for k in self._checks.wrong_choices(spec.name, answers) if k[0] in wrong]
        words: dict[str, str] = {}
        for variable, _mistake, message in known:
            words.setdefault(variable, message)
        explained = list(results)
        for i, result in enumerate(results):
            about = [n for n in words if result.status == "failed" and asks_for(result.name, n)]
            if about:
                extra = "\n".join(words[n] for n in about)
                explained[i] = replace(result, message=f"{result.message}\n{extra}", reason=f"{result.reason} {extra}")
        seen = dict.fromkeys(message for _variable, _mistake, message in known)
        return (known[0][1] if known else ""), explained, "\n".join(seen)


def not_tried(check: CheckSpec, waits_for: str = "") -> CheckResult:
    """Return the outcome of a check that was skipped, because ``waits_for`` has to pass first or because there is no code."""
    return CheckResult(check.name, check.title, "not_tried", "", check.visible, check.points, waits_for=waits_for)


def _opaque(value: Value) -> Opaque | None:
    """Return the part of ``value`` that could not be transferred, or None. A check that uses such a part raises an error."""
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

"""From the outcomes of checks to the outcome of an exercise: points, status, and the words that go with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from autograder.checking.asserts import CheckFailed, CheckStopped
from autograder.checking.decorators import CheckSpec, ExerciseSpec
from autograder.judging.conversation import Conversation
from autograder.judging.diagnosis import Diagnostician, alike, wrong_answers
from autograder.judging.explanations import explain
from autograder.judging.loader import ChapterChecks
from autograder.misconception import Misconception
from autograder.sandbox.protocol import Session
from autograder.verdict import CheckResult, CheckStatus, ExerciseStatus, ExerciseVerdict

__all__ = ["Scorer"]

NOT_ATTEMPTED = "Not attempted yet: there is no code of yours in it."


class Scorer:
    """Says what an exercise earned, and which mistake explains what it did not."""

    def __init__(self, checks: ChapterChecks) -> None:
        self._checks = checks
        self._diagnosticians: dict[str, Diagnostician] = {}
        # The last failure to name what is wrong with an answer: an audit raises it, so that an author hears of it.
        self.undiagnosed: Exception | None = None

    def not_attempted(self, spec: ExerciseSpec, *, visible_only: bool) -> ExerciseVerdict:
        """The outcome of a blank stub."""
        results = tuple(
            CheckResult(c.name, c.title, "not_tried", "", c.visible, c.points)
            for c in spec.checks
            if c.visible or not visible_only
        )
        return ExerciseVerdict(spec.name, 0.0, _total(results), "not_attempted", message=NOT_ATTEMPTED, checks=results)

    def failed(self, check: CheckSpec, failure: BaseException) -> CheckResult:
        """The outcome of a check that raised ``failure``."""
        status: CheckStatus = "failed"
        reason, example = str(failure), ""
        if isinstance(failure, CheckFailed):
            reason, example = failure.reason, failure.example
            if failure.kind in {"error", "missing"}:
                status = "error"
            if isinstance(failure, CheckStopped):
                status = "timeout" if failure.stopped == "timeout" else "error"
        elif not isinstance(failure, AssertionError):
            # The same check passes with the reference's values, so it is the student's value that it could not use.
            reason = f"The answer could not be used the way it should be: {type(failure).__name__}: {failure}."
        message = f"{reason}\n{example}" if example else (reason or f"This does not hold: {check.title}.")
        return CheckResult(
            check.name, check.title, status, message, check.visible, check.points, reason=reason, example=example
        )

    def score(
        self,
        spec: ExerciseSpec,
        results: Sequence[CheckResult],
        conversation: Conversation,
        session: Callable[[], Session],
        note: str = "",
    ) -> ExerciseVerdict:
        """The outcome of an exercise from the outcomes of its checks."""
        earned = sum(r.points for r in results if r.status == "passed")
        total = _total(results)
        status = _status(results, earned)
        misconception: Misconception | None = None
        message = group = ""
        if status != "passed":
            results, missing = self._missing(spec, results, session)
            knows = None if spec.answers or missing else self.diagnostician(spec.name)
            try:
                if spec.answers:
                    misconception, results, message = self._answers(spec, results, conversation)
                elif knows is not None:
                    misconception = knows.explain(conversation.log)
                group = "" if misconception else alike(spec.name, conversation.log)
            except Exception as error:  # noqa: BLE001 - marks never depend on whether a mistake can be named
                self.undiagnosed = error
            if misconception is not None and not message:
                message = misconception.message
            message = message or next((r.message for r in results if r.status not in {"passed", "not_tried"}), "")
        if note:
            message = f"{message}\n{note}".strip()
        return ExerciseVerdict(
            spec.name,
            round(earned, 6),
            total,
            status,
            misconception.name if misconception else None,
            message,
            None,
            tuple(results),
            group,
        )

    def follow_through(self, verdict: ExerciseVerdict, wrong: Sequence[str]) -> ExerciseVerdict:
        """``verdict``, won with the earlier exercises ``wrong`` answered by the reference, with the note that says so."""
        names = " and ".join(wrong)
        what = "is right in itself" if verdict.status == "passed" else "does better"
        note = (
            f"Your {verdict.name} {what}: with a right {names} underneath it earns "
            f"{verdict.score:g} of {verdict.max_score:g} points, so the mistake in {names} is counted only once."
        )
        return replace(verdict, follow_through=note, message=f"{note}\n{verdict.message}".strip())

    def diagnostician(self, exercise: str) -> Diagnostician:
        """Who knows the misconceptions of ``exercise``."""
        if exercise not in self._diagnosticians:
            checks = self._checks
            self._diagnosticians[exercise] = Diagnostician(
                exercise, checks.references, checks.misconceptions[exercise], checks.plan(exercise)
            )
        return self._diagnosticians[exercise]

    def _missing(
        self, spec: ExerciseSpec, results: Sequence[CheckResult], session: Callable[[], Session]
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
        self, spec: ExerciseSpec, results: Sequence[CheckResult], conversation: Conversation
    ) -> tuple[Misconception | None, Sequence[CheckResult], str]:
        """For an exercise of plain variables: a message for each wrong choice, on the check that is about it."""
        answers = {name: conversation.ask_variable(name).value for name in spec.answers}
        known = wrong_answers(self._checks.misconceptions[spec.name], answers)
        told: list[CheckResult] = []
        words: dict[str, str] = {}
        for name, misconception in known:
            words.setdefault(name, misconception.message)
        for result in results:
            about = [n for n in words if result.status == "failed" and _is_about(result, n, self._checks, spec)]
            extra = "\n".join(words[n] for n in about)
            told.append(
                replace(result, message=f"{result.message}\n{extra}", reason=f"{result.reason} {extra}")
                if extra
                else result
            )
        seen = list(dict.fromkeys(m.message for _n, m in known))
        return (known[0][1] if known else None), told, "\n".join(seen)


def _is_about(result: CheckResult, variable: str, checks: ChapterChecks, spec: ExerciseSpec) -> bool:
    code = getattr(checks.classes[spec.name], result.name).__code__
    return variable in code.co_consts


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

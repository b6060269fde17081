"""Judge each exercise of a submission by its checks, and count a mistake that affects several exercises only once.

The same judge is used for grading a class, for a notebook's ``check()`` and for audits. This module needs only NumPy
and the standard library.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import closing
from typing import Any, Generic, TypeVar

from autograder.base.foreign import Value
from autograder.base.verdict import CheckResult, ExerciseVerdict
from autograder.checking.decorators import CheckSpec, ExerciseSpec
from autograder.judging.exercise_session import ExerciseSession, Sessions, Subject
from autograder.judging.proxies import StudentProxy
from autograder.judging.scoring import Checks, Scorer, not_tried
from autograder.sandbox.protocol import SandboxUnavailable, Session

__all__ = ["Judge"]

_WRONG = frozenset({"partial", "failed", "error", "timeout"})
MAX_REMEMBERED = 20_000  # outcomes of checks, each at most a kilobyte


class _OpenSubmission:
    """A submission and its session, which is opened again after a call had to be stopped."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self._session: Session | None = None
        self._limited: dict[int, Session] = {}

    def session(self) -> Session:
        if self._session is None or not self._session.alive:
            self.close()
            self._session = self.subject.open()
        return self._session

    def limited(self, memory_mb: int) -> Session:
        session = self._limited.get(memory_mb)
        if session is not None and not session.alive:
            session.close()
        if session is None or not session.alive:
            session = self._limited[memory_mb] = self.subject.open(memory_mb=memory_mb)
        return session

    def close(self) -> None:
        for session in (self._session, *self._limited.values()):
            if session is not None:
                session.close()
        self._session = None
        self._limited = {}


C = TypeVar("C", bound=Checks)


class Judge(Generic[C]):
    """A judge of submissions that uses the checks of one chapter."""

    def __init__(self, checks: C) -> None:
        self.checks = checks
        self._passed: dict[tuple[str, str, tuple[int | None, ...] | None], CheckResult] = {}
        self.scorer = Scorer(checks)
        self._exercises = frozenset(checks.specs)
        self._visible_judge: Judge[Checks] | None = None

    def judge(
        self,
        subject: Subject,
        *,
        only: frozenset[str] | None = None,
        visible_only: bool = False,
        known: Mapping[str, ExerciseVerdict] | None = None,
    ) -> tuple[ExerciseVerdict, ...]:
        """Return the outcome of every exercise, or of the exercises in ``only``, in the order of the check file.

        With ``visible_only``, use only the checks that students run themselves. Otherwise, exercises in ``known`` are not judged again.
        """
        known = known or {}
        if visible_only and not self.checks.only_visible:
            if self._visible_judge is None:
                self._visible_judge = Judge(self.checks.visible_part())
            return self._visible_judge.judge(subject, only=only)
        verdicts: dict[str, ExerciseVerdict] = {}
        with closing(_OpenSubmission(subject)) as submission:
            for spec in self.checks.specs.values():
                if only is None or spec.name in only:
                    verdicts[spec.name] = known.get(spec.name) or self._exercise(spec, submission)
            for name, verdict in verdicts.items():
                verdicts[name] = known.get(name) or self._follow_through(verdict, verdicts, subject)
        return tuple(verdicts.values())

    def _exercise(self, spec: ExerciseSpec, submission: _OpenSubmission) -> ExerciseVerdict:
        if spec.name in submission.subject.blank:
            return self.scorer.not_attempted(spec)
        verdict = self._run_checks(spec, submission)
        if verdict.status in _WRONG:
            verdict = self._before_redefinition(spec, verdict, submission.subject)
        return verdict

    def _before_redefinition(self, spec: ExerciseSpec, verdict: ExerciseVerdict, subject: Subject) -> ExerciseVerdict:
        """Judge an exercise again with the definition from its own cell, and return the better verdict.

        A later exercise's cell may define a helper of the same name. It replaces the earlier definition, which may have
        been right.
        """
        earlier = subject.before_redefined(spec.name)
        if earlier is None:
            return verdict
        with closing(_OpenSubmission(earlier)) as submission:
            again = self._run_checks(spec, submission)
        return again if again.score > verdict.score else verdict

    def _run_checks(self, spec: ExerciseSpec, submission: _OpenSubmission) -> ExerciseVerdict:
        sessions = Sessions(submission.session, submission.limited, submission.subject.open)
        conversation = self.checks.converse(spec.name, sessions)
        results = self._results(spec, conversation, submission)
        return self.scorer.score(
            spec, results, conversation, submission.session, submission.subject.notes.get(spec.name, "")
        )

    def _results(
        self, spec: ExerciseSpec, conversation: ExerciseSession, submission: _OpenSubmission
    ) -> list[CheckResult]:
        student = StudentProxy(conversation, lambda: submission.session().names(), exercises=self._exercises)
        results: dict[str, CheckResult] = {}
        for check in spec.checks:
            waits = [n for n in check.after if n in results and results[n].status != "passed"]
            early = check.purity and not _purity_is_due(results.values())
            if early or conversation.stopped:
                reasons = {"timeout", "error", "failed"} if early else {"timeout", "error"}
                waits += [r.name for r in results.values() if r.status in reasons]
            if waits or early:
                results[check.name] = not_tried(check, results[waits[0]].waits_for or waits[0] if waits else "")
            else:
                results[check.name] = self._check(spec, check, conversation, student)
        return list(results.values())

    def _check(
        self, spec: ExerciseSpec, check: CheckSpec, conversation: ExerciseSession, student: StudentProxy
    ) -> CheckResult:
        # If a check uses only the planned answers and passes, it passes for every submission with the same answers.
        conversation.fetch()
        key = (spec.name, check.name, conversation.answers_key)
        if key in self._passed:
            return self._passed[key]
        before, conversation.latest = conversation.unplanned_calls, None
        result = self._outcome(spec, check, conversation, student)
        planned = conversation.answers_key is not None and conversation.unplanned_calls == before
        if result.status == "passed" and planned:
            if len(self._passed) >= MAX_REMEMBERED:
                self._passed.clear()
            self._passed[key] = result
        return result

    def _outcome(
        self, spec: ExerciseSpec, check: CheckSpec, conversation: ExerciseSession, student: StudentProxy
    ) -> CheckResult:
        try:
            self.checks.run_check(spec.name, check.name, student)
        except (KeyboardInterrupt, SandboxUnavailable):  # errors that the submission did not cause
            raise
        except BaseException as failure:  # noqa: BLE001 - as in pytest, a check fails with whatever it raises
            if conversation.latest is not None:
                conversation.failed_on[check.name] = conversation.latest
            return self.scorer.failed(check, failure, conversation)
        return CheckResult(check.name, check.title, "passed", "", check.visible, check.points)

    def _follow_through(
        self, verdict: ExerciseVerdict, verdicts: dict[str, ExerciseVerdict], subject: Subject
    ) -> ExerciseVerdict:
        """Judge a failed exercise again, with the reference in place of each failed exercise that it depends on."""
        spec = self.checks.specs[verdict.name]
        references = self.checks.references
        wrong = [n for n in spec.depends_on if n in verdicts and verdicts[n].status != "passed" and n in references]
        # The reference cannot replace a class, because its objects live in the student's process.
        wrong = [n for n in wrong if not isinstance(references[n], type)]
        if not wrong or verdict.status not in _WRONG:
            return verdict
        helped = _WithReferences(subject, {name: references[name] for name in wrong})
        with closing(_OpenSubmission(helped)) as submission:
            again = self._exercise(spec, submission)
        asked = {name: verdicts[name].status for name in wrong if name in helped.asked}
        if again.score <= verdict.score or not asked:
            return verdict
        return self.scorer.follow_through(again, asked)


def _purity_is_due(others: Collection[CheckResult]) -> bool:
    """Return whether to check purity: two checks with points (or the only one) have passed, so results are not hard-coded."""
    worth = [r for r in others if r.points]
    return sum(r.status == "passed" for r in worth) >= min(2, max(1, len(worth)))


class _WithReferences:
    """A subject whose wrong earlier functions are replaced by the reference."""

    def __init__(self, subject: Subject, functions: dict[str, Callable[..., Any]]) -> None:
        self._subject = subject
        self._functions = functions
        self.label, self.blank, self.notes = subject.label, subject.blank, subject.notes
        self.asked: set[str] = set()

    def open(self, *, memory_mb: int | None = None) -> Session:
        session = self._subject.open(memory_mb=memory_mb)
        for name, function in self._functions.items():
            session.substitute(name, self._recording(name, function))
        return session

    def before_redefined(self, exercise: str) -> Subject | None:
        earlier = self._subject.before_redefined(exercise)
        if earlier is None:
            return None
        helped = _WithReferences(earlier, self._functions)
        helped.asked = self.asked
        return helped

    def _recording(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def answer(*args: Value, **kwargs: Value) -> Value:
            self.asked.add(name)
            return function(*args, **kwargs)

        return answer

"""Runs a chapter's checks over many submissions in one pytest session, and says what each submission deserves."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

import pytest

from autograder.checking.chapter import FIXTURES, ChapterChecks, drawing
from autograder.checking.conversation import Conversation, StudentProxy, Subject
from autograder.checking.marks import CheckSpec, ExerciseSpec
from autograder.checking.plugin import GRADER, spec_of
from autograder.checking.scoring import Scorer
from autograder.course import Course, CourseError
from autograder.course import failure as failure_in
from autograder.sandbox.confinement import SandboxUnavailable
from autograder.sandbox.protocol import Session
from autograder.verdict import CheckResult, ExerciseVerdict

__all__ = ["Grader", "run_checks", "with_checks"]

# Plugins that a grading session has no use for: each costs time at every check.
_WITHOUT = [
    "terminal",
    "doctest",
    "unittest",
    "junitxml",
    "pastebin",
    "logging",
    "capture",
    "faulthandler",
    "unraisableexception",
    "threadexception",
    "warnings",
    "cacheprovider",
    "stepwise",
    "debugging",
    "setuponly",
    "setupplan",
    "legacypath",
    "recwarn",
    "monkeypatch",
    "tmpdir",
    "subtests",
]


_WRONG = frozenset({"partial", "failed", "error", "timeout"})
_REMEMBERED = 20_000  # outcomes of checks, at a kilobyte or less


def run_checks(
    course: Course,
    chapter: str,
    subjects: Iterable[Subject],
    on_result: Callable[[Subject, tuple[ExerciseVerdict, ...]], None],
    *,
    only: frozenset[str] | None = None,
    visible_only: bool = False,
) -> None:
    """Check every subject, taken one at a time, and hand each result to ``on_result``.

    ``only`` keeps to some exercises, ``visible_only`` to the checks that students run themselves.
    Raises ``CourseError`` when the checks themselves cannot be read.
    """

    def each(grader: Grader) -> None:
        for subject in subjects:
            on_result(subject, grader.grade(subject, only=only, visible_only=visible_only))

    with_checks(course, chapter, each)


def with_checks(course: Course, chapter: str, work: Callable[[Grader], None]) -> None:
    """Open the pytest session of a chapter's checks and let ``work`` grade inside it."""
    path = course.checks(chapter)
    if not path.is_file():
        raise CourseError(f"Chapter {chapter!r} has no checks: there is no {path}.")
    loop = _Loop(course, chapter, work)
    arguments = [
        str(path),
        "-c",
        os.devnull,
        "--rootdir",
        str(course.root),
        "--import-mode=importlib",
        "--assert=plain",
    ]
    arguments += ["--disable-plugin-autoload", "-p", "autograder.checking.plugin"]
    for name in _WITHOUT:
        arguments += ["-p", f"no:{name}"]
    before = os.environ.pop("PYTEST_ADDOPTS", None)
    _forget(path)
    try:
        status = pytest.main(arguments, plugins=[loop])
    finally:
        _forget(path)
        if before is not None:
            os.environ["PYTEST_ADDOPTS"] = before
    if loop.error is not None:
        raise loop.error
    if not loop.ran:
        why = loop.problem or f"pytest stopped with status {status}"
        raise CourseError(f"The checks in {path} cannot be run: {why}")


def _forget(path: Path) -> None:
    """Let pytest read the file anew: it keeps modules by name, and two courses may use one name, or a file may change."""
    for name, module in list(sys.modules.items()):
        if Path(getattr(module, "__file__", None) or ".").name == path.name and name.endswith(path.stem):
            del sys.modules[name]


class _Loop:
    """The pytest plugin that walks the submissions where pytest would walk the tests."""

    __name__ = GRADER  # the name under which pytest knows it; the fixtures look it up there

    def __init__(self, course: Course, chapter: str, work: Callable[[Grader], None]) -> None:
        self.course, self.chapter, self.work = course, chapter, work
        self.error: BaseException | None = None
        self.problem = ""
        self.ran = False
        self.grader: Grader | None = None

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.problem = self.problem or str(report.longrepr)

    def pytest_exception_interact(self, call: pytest.CallInfo[None], report: pytest.CollectReport) -> None:
        if isinstance(report, pytest.CollectReport) and call.excinfo is not None:
            # In one line: pytest's own text of it has many.
            error = call.excinfo.value.__cause__ or call.excinfo.value
            self.problem = failure_in(error, self.course.checks(self.chapter), self.course.root / "tests")

    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> None:
        if call.excinfo is not None and self.grader is not None:
            self.grader.failure = call.excinfo.value

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed or self.problem:
            return True
        self.ran = True
        try:
            items = [i for i in session.items if spec_of(i) is not None]
            module = items[0].module if items else None  # type: ignore[attr-defined]
            if module is None:
                raise CourseError(f"{self.course.checks(self.chapter)} holds no class marked with @exercise(…).")  # noqa: TRY301
            self.grader = Grader(ChapterChecks.of(self.course, self.chapter, module), items)
            self.work(self.grader)
        except BaseException as error:  # noqa: BLE001 - carried out of pytest, which would print it and go on
            self.error = error
        finally:
            session._setupstate.teardown_exact(None)  # noqa: SLF001 - what nextitem=None would have done
        return True


def _overloaded() -> bool:
    return hasattr(os, "getloadavg") and os.getloadavg()[0] > 3 * (os.cpu_count() or 1)


class _Sitting:
    """A submission and the session it runs in; opened again after a call had to be stopped."""

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
        if session is None or not session.alive:
            if session is not None:
                session.close()
            session = self._limited[memory_mb] = self.subject.open(memory_mb=memory_mb)
        return session

    def close(self) -> None:
        for session in (self._session, *self._limited.values()):
            if session is not None:
                session.close()
        self._session = None
        self._limited = {}


class Grader:
    """Grades subjects with the checks of one chapter, inside the open pytest session.

    Set ``shrinks`` to ``False`` where nobody will read the messages: looking for a small example takes far longer than judging.
    """

    def __init__(self, checks: ChapterChecks, items: list[pytest.Item]) -> None:
        self.checks = checks
        self._items: dict[tuple[str, str], pytest.Item] = {}
        for item in items:
            spec = spec_of(item)
            if spec is not None:
                self._items[spec.name, item.originalname] = item  # type: ignore[attr-defined]
        self._plain = frozenset(item for item in items if _is_plain(item))
        self._passed: dict[tuple[str, str, tuple[int | None, ...] | None], CheckResult] = {}
        self.scorer = Scorer(checks)
        self.shrinks = True
        self.failure: BaseException | None = None
        self.student: StudentProxy

    def grade(
        self, subject: Subject, *, only: frozenset[str] | None = None, visible_only: bool = False
    ) -> tuple[ExerciseVerdict, ...]:
        """The outcome of every exercise, in the order of the check file."""
        sitting = _Sitting(subject)
        found: dict[str, ExerciseVerdict] = {}
        try:
            for spec in self.checks.specs.values():
                if only is None or spec.name in only:
                    found[spec.name] = self._exercise(spec, sitting, visible_only=visible_only)
            for name, verdict in found.items():
                found[name] = self._follow_through(verdict, found, subject, visible_only=visible_only)
        finally:
            sitting.close()
        return tuple(found.values())

    def _exercise(self, spec: ExerciseSpec, sitting: _Sitting, *, visible_only: bool) -> ExerciseVerdict:
        if spec.name in sitting.subject.blank:
            return self.scorer.not_attempted(spec, visible_only=visible_only)
        verdict = self._tried(spec, sitting, visible_only=visible_only)
        if verdict.status == "timeout" and _overloaded():
            # On a machine with far more to do than cores, a call may stand still through no fault of its own.
            verdict = self._tried(spec, sitting, visible_only=visible_only)
        if verdict.status in _WRONG:
            verdict = self._as_its_own_cell_left_it(spec, verdict, sitting.subject, visible_only=visible_only)
        return verdict

    def _as_its_own_cell_left_it(
        self, spec: ExerciseSpec, verdict: ExerciseVerdict, subject: Subject, *, visible_only: bool
    ) -> ExerciseVerdict:
        """The better of a wrong exercise's verdict and that on what its own cell defined.

        A student may write a helper of the same name for a later exercise. What stood there when the exercise's own
        check ran in the notebook was right all the same.
        """
        earlier = subject.before_redefined(spec.name)
        if earlier is None:
            return verdict
        sitting = _Sitting(earlier)
        try:
            again = self._tried(spec, sitting, visible_only=visible_only)
        finally:
            sitting.close()
        return again if again.score > verdict.score else verdict

    def _tried(self, spec: ExerciseSpec, sitting: _Sitting, *, visible_only: bool) -> ExerciseVerdict:
        conversation = self.checks.converse(spec.name, sitting.session, sitting.limited, sitting.subject.open)
        results = self._results(spec, conversation, sitting, visible_only=visible_only)
        return self.scorer.score(spec, results, conversation, sitting.session, sitting.subject.notes.get(spec.name, ""))

    def _results(
        self, spec: ExerciseSpec, conversation: Conversation, sitting: _Sitting, *, visible_only: bool
    ) -> list[CheckResult]:
        self.student = StudentProxy(conversation, lambda: sitting.session().names())
        results: dict[str, CheckResult] = {}
        for check in spec.checks:
            if visible_only and not check.visible:
                continue
            waits = [n for n in check.after if n in results and results[n].status != "passed"]
            stopped_before = conversation.stopped and any(r.status in {"timeout", "error"} for r in results.values())
            if waits or stopped_before or (check.care and not _worth_care(results.values())):
                results[check.name] = CheckResult(check.name, check.title, "not_tried", "", check.visible, check.points)
            else:
                results[check.name] = self._check(spec, check, conversation)
        return list(results.values())

    def _check(self, spec: ExerciseSpec, check: CheckSpec, conversation: Conversation) -> CheckResult:
        item = self._items[spec.name, check.name]
        if item not in self._plain:
            return self._outcome(spec, check, item)
        # A check that looks at nothing but the planned answers passes for everybody who gave the same ones.
        conversation.fetch()
        key = (spec.name, check.name, conversation.told)
        if key in self._passed:
            return self._passed[key]
        before = conversation.beyond
        result = self._outcome(spec, check, item)
        if result.status == "passed" and conversation.told is not None and conversation.beyond == before:
            if len(self._passed) >= _REMEMBERED:
                self._passed.clear()
            self._passed[key] = result
        return result

    def _outcome(self, spec: ExerciseSpec, check: CheckSpec, item: pytest.Item) -> CheckResult:
        self.failure = None
        with drawing(self.checks.secret_for(spec.name, check.name), shrink=self.shrinks):
            if item in self._plain:
                try:
                    self.checks.run_check(spec.name, check.name, self.student)
                except (KeyboardInterrupt, pytest.exit.Exception):
                    raise
                except BaseException as failed:  # noqa: BLE001 - as pytest does: whatever a check raises is its failure
                    self.failure = failed
            else:
                # Only what belongs to the whole file stays set up for the next check, whichever that is.
                stay: Any = item.getparent(pytest.Module)
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=stay)
        failure = self.failure
        if failure is None:
            return CheckResult(check.name, check.title, "passed", "", check.visible, check.points)
        if isinstance(failure, SandboxUnavailable):  # the machine's doing: no check was failed
            raise failure
        return self.scorer.failed(check, failure)

    def _follow_through(
        self, verdict: ExerciseVerdict, found: dict[str, ExerciseVerdict], subject: Subject, *, visible_only: bool
    ) -> ExerciseVerdict:
        """Try a failed exercise again with the failed ones it leans on answered by the reference."""
        spec = self.checks.specs[verdict.name]
        wrong = [n for n in spec.leans_on if n in found and found[n].status != "passed" and n in self.checks.references]
        if not wrong or verdict.status not in _WRONG:
            return verdict
        helped = _Helped(subject, {name: self.checks.references[name] for name in wrong})
        sitting = _Sitting(helped)
        try:
            again = self._exercise(spec, sitting, visible_only=visible_only)
        finally:
            sitting.close()
        asked = [name for name in wrong if name in helped.asked]
        if again.score <= verdict.score or not asked:
            return verdict
        return self.scorer.follow_through(again, asked)


def _worth_care(others: Collection[CheckResult]) -> bool:
    """Whether two checks have earned points, or the only one there is: who knows a single answer by heart passes one."""
    worth = [r for r in others if r.points]
    return sum(r.status == "passed" for r in worth) >= min(2, max(1, len(worth)))


def _is_plain(item: pytest.Item) -> bool:
    """Whether a check asks pytest for nothing but our own fixtures: then it can simply be called, at a tenth of the cost.

    Fixtures of a ``conftest.py``, set-up methods, parameters and marks of any other kind are left to pytest.
    """
    known = FIXTURES | {"_course_draws", "request"}  # ours, and what that one leans on
    asked = set(inspect.signature(item.obj).parameters)  # type: ignore[attr-defined]
    marks = {mark.name for mark in item.iter_markers()}
    simple = asked <= FIXTURES and marks <= {"exercise"} and not hasattr(item, "callspec")
    return simple and set(getattr(item, "fixturenames", ())) <= known


class _Helped:
    """A subject whose wrong earlier functions are answered by the reference."""

    def __init__(self, subject: Subject, functions: dict[str, Callable[..., Any]]) -> None:
        self._subject = subject
        self._functions = functions
        self.label, self.blank, self.notes = subject.label, subject.blank, subject.notes
        self.asked: set[str] = set()

    def open(self, *, memory_mb: int | None = None) -> Session:
        session = self._subject.open(memory_mb=memory_mb)
        for name, function in self._functions.items():
            session.substitute(name, self._noting(name, function))
        return session

    def before_redefined(self, exercise: str) -> Subject | None:
        earlier = self._subject.before_redefined(exercise)
        if earlier is None:
            return None
        helped = _Helped(earlier, self._functions)
        helped.asked = self.asked
        return helped

    def _noting(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def answer(*args: Any, **kwargs: Any) -> Any:
            self.asked.add(name)
            return function(*args, **kwargs)

        return answer

"""Run the checks on the references in this process. References must return and pass, and calls must not change between runs."""

from __future__ import annotations

import functools
import io
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import replace

import numpy as np

from autograder.authoring.release.check_file import CheckFile
from autograder.authoring.release.problems import Mistake, place_of_function, relative
from autograder.base.errors import CourseError
from autograder.base.foreign import Value
from autograder.checking.asserts import CheckFailed
from autograder.checking.decorators import CheckSpec, ExerciseSpec
from autograder.course.course import Course, failure
from autograder.course.notebook import hidden_files
from autograder.judging.loader import ChapterChecks, load_checks
from autograder.judging.proxies import ReferenceProxy
from autograder.judging.time_limit import OutOfTimeError, time_limit
from autograder.student.examples.record import recorded
from autograder.values import call_key
from autograder.values.as_json import encode_value

__all__ = ["NOT_BACK", "dry_run_mistakes", "failures_by_check", "load_with_timeout"]

NOT_BACK = "does not finish"
_MODULE_SECONDS = 60.0  # seconds to import the chapter's solutions and its checks


class _Endless(BaseException):
    """Raised if a reference does not return in time. No ``except Exception`` in a check catches it."""


class _Counted(io.TextIOBase):
    """A text stream that counts the characters and keeps only the beginning of the text."""

    def __init__(self) -> None:
        self.characters = 0
        self.beginning = ""

    def write(self, text: str) -> int:
        """Count ``text``, and keep the beginning."""
        self.characters += len(text)
        self.beginning = f"{self.beginning}{text}"[:80]
        return len(text)


def load_with_timeout(course: Course, chapter: str) -> ChapterChecks:
    """Load a chapter's checks. Raises ``CourseError`` if importing the checks or solutions fails, takes too long or prints text."""
    try:
        with time_limit(_MODULE_SECONDS), _quiet() as output:
            checks = load_checks(course, chapter)
        if text := output.beginning.strip():
            what = f"Importing solutions/{chapter}.py and {relative(course, course.checks(chapter))}"
            raise CourseError(f"{what} prints “{text.splitlines()[0]}”. Remove the print.")  # noqa: TRY301
    except OutOfTimeError:
        text = None
    except CourseError as error:
        if OutOfTimeError.__name__ not in str(error):
            raise
        text = str(error).replace(f": {OutOfTimeError.__name__}.", "")
    else:
        return checks
    where = text or f"solutions/{chapter}.py, {relative(course, course.checks(chapter))}"
    stopped = f"it was stopped after {_MODULE_SECONDS:g} s ({where})."
    raise CourseError(f"Importing the checks and solutions of {chapter} {NOT_BACK}: {stopped}")


def dry_run_mistakes(checks: ChapterChecks, file: CheckFile) -> Iterator[Mistake]:
    """Run each check on its reference, and yield the mistakes that this reveals."""
    first = _TimedReferences(checks)
    calls_by_check: dict[tuple[str, str], list[tuple[object, ...]]] = {}
    reported: set[str] = set()
    for exercise, spec in checks.specs.items():
        for check in spec.checks:
            with _quiet() as output:
                mistake, calls = first.try_check(exercise, check, file)
            if mistake is None and not calls and not check.purity:
                mistake = Mistake(file.place_of_check(exercise, check.name), _ASKS_NOTHING, about=exercise)
            if mistake is not None and mistake.about not in reported:
                reported.add(mistake.about)
                yield mistake
            if mistake is None:
                calls_by_check[exercise, check.name] = calls
            unexpected = output.beginning and not file.expects_output(exercise) and not reported & set(spec.depends_on)
            too_much = output.characters > checks.course.limits.output_kb << 10
            if exercise not in reported and (too_much or unexpected):
                reported.add(exercise)
                where = file.place_that_prints(exercise, check.name)
                where = where or place_of_function(checks.course, checks.references[exercise])
                what = f"{exercise} prints “{output.beginning.strip().partition(chr(10))[0]}” while {check.name} runs it, and no check uses this output. Remove the print."
                if too_much:
                    what = f"{exercise} prints {output.characters:,} characters while {check.name} runs it. Remove the print, or print a line or two."
                yield Mistake(where or file.place_of(exercise), what, about=exercise)
        if exercise not in reported and (mistake := first.try_all_checks(exercise, spec, file)):
            reported.add(exercise)
            yield mistake
    if reported:
        return
    yield from _changed_calls(checks, calls_by_check, file)
    try:
        with _quiet():
            recorded(checks)
    except CourseError as error:
        yield Mistake("", str(error))


def failures_by_check(checks: ChapterChecks, file: CheckFile) -> dict[tuple[str, str], tuple[str, object]]:
    """Return by exercise and check why the reference fails the check ("" if it passes), and the keys of the check's calls."""
    references = _TimedReferences(checks)
    failures: dict[tuple[str, str], tuple[str, object]] = {}
    for exercise, spec in checks.specs.items():
        for check in spec.checks:
            with _quiet():
                mistake, calls = references.try_check(exercise, check, file)
            failures[exercise, check.name] = mistake.what if mistake is not None else "", calls
    return failures


def _changed_calls(
    checks: ChapterChecks, calls_by_check: Mapping[tuple[str, str], list[tuple[object, ...]]], file: CheckFile
) -> Iterator[Mistake]:
    """Load the check file again, and yield a mistake for each check that now makes different calls."""
    again = _TimedReferences(load_checks(checks.course, checks.chapter))
    for (exercise, name), calls in reversed([*calls_by_check.items()]):  # in reverse order, to find shared state
        check = next(c for c in checks.specs[exercise].checks if c.name == name)
        with _quiet():
            mistake, others = again.try_check(exercise, check, file)
        if mistake is not None or others != calls:
            yield Mistake(file.place_of_check(exercise, name), _DRAWS_AGAIN, about=exercise)


class _TimedReferences:
    """A chapter's checks, with a time limit for each call of a reference."""

    def __init__(self, checks: ChapterChecks) -> None:
        self.course = checks.course
        self.seconds = checks.course.limits.call_seconds
        self.originals = checks.references
        endless: set[str] = set()  # functions that did not return, so they are not called again
        timed = dict(checks.references)
        timed |= {n: _Timed(n, f, endless, self.seconds) for n, f in timed.items() if not isinstance(f, type)}
        self.checks = replace(checks, references=timed, reference=ReferenceProxy(timed), shrinks=False, _prepared={})

    def try_check(
        self, exercise: str, check: CheckSpec, file: CheckFile
    ) -> tuple[Mistake | None, list[tuple[object, ...]]]:
        """Run ``check`` on the reference. Return the mistake, if any, and the keys of the calls."""
        where = file.place_of_check(exercise, check.name)
        is_class = isinstance(self.originals[exercise], type)  # the calls of a class have no time limit of their own
        try:
            with time_limit(self.seconds * _STEPS) if is_class else nullcontext():
                rehearsed = self.checks.rehearse(exercise, (check.name,), self.checks.secret)
                keys = [call_key(call) for call, _answer in rehearsed]
        except OutOfTimeError:
            place = place_of_function(self.course, self.originals[exercise]) or file.place_of(exercise)
            what = f"{exercise} {NOT_BACK}: it was stopped while {where} ran it."
            return Mistake(place, what, about=exercise), []
        except KeyboardInterrupt:
            raise
        except _Endless as given_up:
            name = str(given_up)
            place = place_of_function(self.course, self.originals[name]) or file.place_of(exercise)
            return Mistake(
                place,
                f"{name} {NOT_BACK}: it was stopped after {self.seconds:g} s (c.Course.call_seconds), when "
                f"{where} ran the exercise {exercise}.",
                about=name,
            ), []
        except BaseException as error:  # noqa: BLE001 - whatever a check raises is its failure
            return Mistake(where, self._why(error), about=exercise), []
        for value in (value for call, _answer in rehearsed for value in (*call.args, *call.kwargs.values())):
            try:
                _ = isinstance(value, np.ndarray) or encode_value(value)
            except (TypeError, ValueError) as error:
                why = str(error).partition(" cannot be")[0].removeprefix("A value of type ")
                return Mistake(where, _PASSES.format(why), about=exercise), []
            if (
                check.visible
                and type(value) is str
                and value in [p.name for p in hidden_files(self.course.checks(self.checks.chapter))]
            ):
                return Mistake(
                    where,
                    f"it is visible, but students do not have the hidden file {value}. Hide the check.",
                    about=exercise,
                ), []
        return None, keys

    def try_all_checks(self, exercise: str, spec: ExerciseSpec, file: CheckFile) -> Mistake | None:
        """Run all checks of ``exercise`` together, as for a student. Return the mistake, if any, located at the purity check."""
        try:
            with _quiet():
                self.checks.dry_run(exercise, tuple(check.name for check in spec.checks), self.checks.secret)
                for check in spec.checks:
                    if check.purity and not self.checks.asks_purity(exercise):
                        what = _ASKS_NO_PURITY.format(exercise)
                        return Mistake(file.place_of_check(exercise, check.name), what, about=exercise)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever a check raises is its failure here too
            care = next((check.name for check in spec.checks if check.purity), spec.checks[-1].name)
            return Mistake(file.place_of_check(exercise, care), self._why(error), about=exercise)
        return None

    def _why(self, error: BaseException) -> str:
        if isinstance(error, CheckFailed) and error.kind == "missing":
            return f"it uses something that the reference solutions do not have. {error.reason.partition(':')[0]}."
        if isinstance(error, AssertionError):
            text = str(error).splitlines()[0] if str(error) else "one of its assertions fails"
            return f"the reference fails it: {text}"
        return f"it cannot run on the reference. {failure(error, self.course.root, self.course.root)}"


_ASKS_NOTHING = (
    "it checks nothing: it calls no function of the student and reads no variable, so everybody passes it. Call the student's "
    "function in it, or remove the check."
)
_DRAWS_AGAIN = (
    "its second run uses other inputs, so students would not all get the same check. Which of its inputs is drawn without "
    "a seed, or depends on the clock or on an earlier check? Use the fixture rng, or draw with @given."
)
_ASKS_NO_PURITY = (
    "it checks nothing: it repeats the calls of the exercise's other checks, and none of them passes arguments to {0} itself. "
    "Add a check that calls student.{0}(…) without a probe, or remove pure()."
)
_PASSES = (
    "it passes a value of type {0} to the student's code, which runs in another process and can receive only data. For a function, "
    'pass its source, with Source from autograder.checking: Source("def f(x): …", "f"). For a random generator, pass Rng(1).'
)
_STEPS = 3  # the time limit of a check that tests a class, in multiples of the limit for a call


class _Timed:
    """A reference with a time limit. It keeps the function's globals, so that errors are reported with the function's own line."""

    def __init__(self, name: str, function: Callable[..., Value], endless: set[str], seconds: float) -> None:
        functools.update_wrapper(self, function)
        self.__globals__ = getattr(function, "__globals__", {})
        self._name, self._function, self._endless, self._seconds = name, function, endless, seconds

    def __call__(self, *args: Value, **kwargs: Value) -> Value:
        if self._name in self._endless:
            raise _Endless(self._name)
        try:
            with time_limit(self._seconds):
                return self._function(*args, **kwargs)
        except OutOfTimeError:
            self._endless.add(self._name)
            raise _Endless(self._name) from None


@contextmanager
def _quiet() -> Iterator[_Counted]:
    """Capture output and provide an empty stdin, because a solution that waits for input would never return."""
    output, stdin = _Counted(), sys.stdin
    sys.stdin = io.StringIO()
    try:
        with redirect_stdout(output), redirect_stderr(_Counted()):
            yield output
    finally:
        sys.stdin = stdin

"""Run the test calls of one exercise on one submission, and keep the answers.

This module needs only NumPy and the standard library, because it also runs on students' machines.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import NamedTuple, Protocol

from autograder.base.foreign import Value
from autograder.base.formatting import join_words
from autograder.checking.asserts import CheckFailed, CheckStopped
from autograder.checking.call_source import format_call, shows_cases
from autograder.checking.student_objects import asked_for
from autograder.judging.diagnosis import same_answer
from autograder.judging.explanations import explain_stop
from autograder.judging.purity import AliasingCheck, PurityProbe, describe_answer, mutation_advice
from autograder.sandbox.protocol import Answer, Call, Limits, Script, Session, StudentError
from autograder.sandbox.script import is_script
from autograder.values import call_key, family_of, paste, paste_inputs

__all__ = ["ExerciseSession", "Sessions", "Subject"]

_A_NEW_TABLE = (
    "Work on a copy of the table. `table[...] = …`, `inplace=True`, `insert`, `pop`, `del` and setting `.columns` or `.index` "
    "change the table itself."
)
MAX_GIVEN = 60  # characters of inputs shown in a sentence (the example below the sentence shows all inputs)


class Subject(Protocol):
    """A student's notebook, or a set of functions that is checked like a notebook."""

    label: str
    blank: frozenset[str]
    notes: Mapping[str, str]

    def open(self, *, memory_mb: int | None = None) -> Session:
        """Open a new session in which the notebook runs from its first cell, optionally with a memory limit."""

    def before_redefined(self, exercise: str) -> Subject | None:
        """Return the notebook up to the cell in which another exercise redefines ``exercise``, or None if there is no such cell."""


class Sessions(NamedTuple):
    """How to open one submission: normally, with a memory limit (MiB), and in a new process without earlier calls."""

    session: Callable[[], Session]
    limited: Callable[[int], Session] | None = None
    fresh_session: Callable[[], Session] | None = None


@dataclass(eq=False)
class ExerciseSession:
    """The test calls that the checks of one exercise make on one submission.

    The calls made for every student are known in advance (``planned``). They are sent in one batch with the first
    call. All other calls are sent one by one.

    Attributes:
        answers_key: a key for the answers to the planned calls. Two submissions have the same key only if these answers
            are equal byte for byte. None if this is unknown.
        unplanned_calls: the number of accesses to the submission other than planned calls.
    """

    session: Callable[[], Session]
    _: KW_ONLY
    limited: Callable[[int], Session] | None = None
    planned: Sequence[Call] = ()
    purity: Sequence[PurityProbe] = ()
    care: Sequence[AliasingCheck] = ()
    fresh_session: Callable[[], Session] | None = None
    limits: Limits = field(default_factory=Limits)
    signature: Callable[[str], inspect.Signature | None] = lambda _name: None
    classes: Collection[str] = ()  # the names of the course's classes
    right: Callable[[Call], Value] = lambda _call: None
    new_results: bool = False  # whether a right solution never returns one of its argument objects
    answers_key: tuple[int | None, ...] | None = None
    unplanned_calls: int = 0
    log: list[tuple[Call, Answer]] = field(default_factory=list)
    latest: tuple[Call, Answer] | None = None  # the latest call of a check, including repeated ones
    failed_on: dict[str, tuple[Call, Answer]] = field(default_factory=dict)  # the latest call of each failed check
    stopped: str = ""
    stopped_at: StudentError | None = None
    _answers: dict[Hashable, Answer] = field(default_factory=dict)
    _fetched: bool = False
    _stopped_early: bool = False  # whether a planned call was stopped, so that unplanned calls get a new session
    _planned_keys: frozenset[Hashable] = frozenset()

    def ask(self, call: Call) -> Answer:
        """Return the student's answer to one call. A repeated call returns the first answer."""
        self.fetch()
        key = call_key(call)
        self.unplanned_calls += key not in self._planned_keys
        if key not in self._answers:
            if self.stopped and not self._stopped_early:
                return Answer(stopped=self.stopped)
            self._note(call, key, self._send([call])[0])
            self._stopped_early = self._stopped_early and not self._answers[key].stopped
        self.latest = call, self._answers[key]
        return self._answers[key]

    def ask_variable(self, name: str) -> Answer:
        """Return the student's value of a variable."""
        call = Call(name, (), {"variable": True})
        key = call_key(call)
        self.unplanned_calls += 1
        if key not in self._answers:
            self._note(call, key, self.session().value(name))
        return self._answers[key]

    def fetch(self) -> None:
        """Make all planned calls, unless they have already been made."""
        if self._fetched:
            return
        self._fetched = True
        if self.planned:
            for call, answer in zip(self.planned, self._send(self.planned), strict=True):
                self._note(call, call_key(call), answer)
            self._planned_keys = frozenset(self._answers)
            self._stopped_early = bool(self.stopped)
            serials = tuple(answer.serial for answer in self._answers.values())
            self.answers_key = None if None in serials else serials

    def call_silently(self, calls: Iterable[Call]) -> None:
        """Make the ``calls`` that have not been made yet, and discard the output of the student's code."""
        for call in calls:
            if call_key(call) not in self._answers and not self.stopped:
                with getattr(self.session(), "quietly", nullcontext)():
                    self.ask(call)

    def check_inputs(self) -> None:
        """Raise ``CheckFailed`` if a call changed its inputs."""
        for call, answer in self.log:
            if answer.changed and not call.kwargs.get("variable"):
                raise self.changed_failure(call, answer)

    def check_purity(self) -> None:
        """Raise ``CheckFailed`` if the function has side effects or keeps state between calls."""
        self.fetch()
        self.unplanned_calls += 1  # the result depends on more than the planned calls
        self.check_inputs()
        for call, answer in self.log if self.new_results else ():
            if answer.same:
                raise self._same_failure(call, answer)
        for script in self.care:
            script.look(self.ask, self.described)
        for probe in self.purity:
            if self.stopped:
                raise self.stopped_failure(probe.first)
            answers = {call_key(probe.first): self.ask(probe.first)}
            self.check_inputs()
            for call, answer in zip(probe.calls, self._send(probe.calls, hold=True), strict=True):
                if answer.changed:
                    raise self.changed_failure(call, answer)
                earlier = answers.setdefault(call_key(call), answer)
                if earlier.stopped or answer.stopped:
                    self.stopped = earlier.stopped or answer.stopped
                    self.stopped_at = earlier.at or answer.at
                    raise self.stopped_failure(call)
                if not same_answer(earlier, answer, call):
                    self._unsteady(call, earlier, answer)
            if probe.between is not None and answers[call_key(probe.first)].error is None:
                answer = replace(self.session().probe(probe.between.probe, probe.between), changed=())
                if not answer.stopped and not same_answer(answers[call_key(probe.other)], answer, probe.other):
                    self._remembered(probe.other, answer)
            if probe.answers_differ:
                self._of_its_own(probe.other, answers[call_key(probe.first)], answers[call_key(probe.other)])

    def _of_its_own(self, call: Call, before: Answer, answer: Answer) -> None:
        """``before`` is the answer to another call. If ``answer`` equals it, repeat ``call`` in a new session to see if ``before`` was cached."""
        if before.error is None and same_answer(before, answer, call):
            alone = self.answer_alone(call)
            if alone is not None and not same_answer(alone, answer, call):
                self._unsteady(call, alone, answer, of_earlier=True)

    def answer_alone(self, call: Call) -> Answer | None:
        """Return the answer to ``call`` in a new session without earlier calls, or None if no such answer is available."""
        if self.fresh_session is None or call.memory_mb is not None:  # the new session has no such limit
            return None
        with closing(self.fresh_session()) as session:
            answer = session.call(call) if call.can_batch else session.probe(call.probe, call)
        return None if answer.stopped else answer

    def stopped_failure(self, call: Call) -> CheckStopped:
        """Return the failure for a call that had to be stopped."""
        limits, answer = self.limits, self._answers.get(call_key(call), Answer())
        stopped, at = (answer.stopped, answer.at) if answer.stopped else (self.stopped, self.stopped_at)
        inputs = self.spelled(call)[1] if shows_cases() else {}
        given = ", ".join(paste(name, value) for name, value in inputs.items() if name)
        text = explain_stop(
            stopped,
            function=asked_for(call) if is_script(call) else call.function,
            seconds=limits.call_seconds,
            memory_mb=limits.memory_mb,
            given=given if len(given) <= MAX_GIVEN and "\n" not in given else "",
            line=at.line if at is not None else "",
            lineno=at.lineno if at is not None else None,
        )
        return CheckStopped(text, self.described(call), stopped=stopped)

    def described(self, call: Call) -> str:
        """Return a call as lines that a student can paste: its inputs by name, then the call. Return "" if cases are not shown."""
        if not shows_cases():
            return ""
        text, inputs = self.spelled(call)
        return "\n".join([*paste_inputs(inputs), text])

    def spelled(self, call: Call) -> tuple[str, dict[str, Value]]:
        """Return the call as text, and the inputs in it by name."""
        return format_call(call, self.signature(call.function))

    def _send(self, calls: Sequence[Call], *, hold: bool = False) -> list[Answer]:
        """Send simple calls in one batch, and calls with a probe or a memory limit one by one."""
        script = calls if isinstance(calls, Script) else Script(calls)
        plain = iter(self.session().batch(script.plain, hold=hold))
        session: Session | None = None
        answers: list[Answer] = []
        for call in calls:
            if call.memory_mb is not None:
                answer = (self.limited(call.memory_mb) if self.limited else self.session()).call(call)
                # Compiled code, such as OpenBLAS, ends the process if it gets no memory.
                no_memory = answer.stopped in {"crash", "memory"}
                answers.append(Answer(error=StudentError("MemoryError", "")) if no_memory else answer)
            elif call.can_batch:
                answers.append(next(plain))
            else:
                session = session or self.session()  # a new session if the batch was stopped
                answers.append(session.probe(call.probe, call))
        return answers

    def _note(self, call: Call, key: Hashable, answer: Answer) -> None:
        self._answers[key] = answer
        self.log.append((call, answer))
        if answer.stopped:
            self.stopped, self.stopped_at = answer.stopped, answer.at

    def changed_failure(self, call: Call, answer: Answer) -> CheckFailed:
        """Return the failure for a call that changed its inputs."""
        given = {**{str(i): value for i, value in enumerate(call.args)}, **call.kwargs}
        names = self._parameters(call, answer.changed)
        which = join_words([f"`{n}`" if not n.isdecimal() else f"argument {int(n) + 1}" for n in names])
        one = len(names) > 1 and len({id(given.get(label)) for label in answer.changed}) == 1
        table = any(family_of(given.get(name)).is_table for name in answer.changed)
        advice = _A_NEW_TABLE if table else mutation_advice([given.get(name) for name in answer.changed])
        return CheckFailed(
            f"{call.function} changes its input{'s' * (len(names) > 1)} {which}{', which are the same object in this call' * one}. {advice}",
            self.described(call),
            kind="changed",
        )

    def _parameters(self, call: Call, labels: Sequence[str]) -> list[str]:
        """Return the parameter name for each of ``labels``, a position or keyword. An unknown position is returned unchanged."""
        signature = self.signature(call.function)
        parameters = dict(enumerate(signature.parameters)) if signature else {}
        return [parameters.get(int(label), label) if label.isdecimal() else label for label in labels]

    def _same_failure(self, call: Call, answer: Answer) -> CheckFailed:
        [name, *_] = self._parameters(call, answer.same)
        return CheckFailed(
            f"{call.function} returns its input `{name}` itself, not a new array. If the result is changed later, the input "
            f"changes, too. Return a new array, for example a copy made with `.copy()`.",
            self.described(call),
            kind="changed",
        )

    def _remembered(self, call: Call, answer: Answer) -> None:
        did = "returned a wrong result" if answer.error is None else "stopped with an error"
        raise CheckFailed(
            f"{call.function} {did} when it got the same arrays a second time, with other numbers in them. Does it "
            "recognize an array by its `id` instead of its numbers?",
            self.described(call),
            kind="unsteady",
        )

    def _unsteady(self, call: Call, first: Answer, then: Answer, *, of_earlier: bool = False) -> None:
        text = (
            f"{call.function} was called twice with the same input and once with another input in between. The two "
            "calls with the same input had different outcomes. Does it keep data from one call to the next, or draw its own random numbers (`np.random…`)?"
        )
        if of_earlier:
            text = (
                f"{call.function} keeps data from one call to the next: after a call with another input, it returned the result "
                "of that call. Below, “first” is the result without earlier calls."
            )
        elif call.can_batch and same_answer(first, self.session().call(call), call):
            text = (
                f"A later call of {call.function} changed the result of this call. Does it return the same array, list or dictionary each time? "
                "Create a new one in each call. Below, “first” is the result right after the call, and “then” is the same result after the later call."
            )
        example = [self.described(call), f"first: {describe_answer(first)}", f"then:  {describe_answer(then)}"]
        raise CheckFailed(text, "\n".join(example), kind="unsteady")

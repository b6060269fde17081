"""One submission under check: its session, what was asked of it, and what came back.

NumPy and the standard library only: a student's own machine runs this too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Protocol

from autograder.checking.arrays import paste, show
from autograder.checking.asserts import CheckFailed, CheckStopped
from autograder.checking.call_source import format_call, shows_cases
from autograder.checking.student_objects import asked_for
from autograder.judging.diagnosis import same_answer
from autograder.judging.explanations import explain_stop
from autograder.judging.purity import AliasingCheck, PurityProbe, mutation_advice
from autograder.judging.values import key_of
from autograder.sandbox.guest.wire_tables import kind_of_table
from autograder.sandbox.protocol import Answer, Call, Limits, Script, Session, StudentError
from autograder.sandbox.script import is_script

__all__ = ["ExerciseSession", "Subject"]

_A_NEW_ARRAY = (
    "Work on a new array; operations such as `x -= 1`, `x[...] = …`, `x.shape = …` and `out=` change the old one."
)
_A_NEW_TABLE = (
    "Work on a copy of the table; `table[...] = …`, `inplace=True`, `insert`, `pop`, `del` and setting `.columns` or `.index` "
    "change the old one."
)
MAX_GIVEN = 60  # characters of inputs that a sentence holds; the case below it holds them all


class Subject(Protocol):
    """Something that can be checked: a student's notebook, or a stand-in made of functions."""

    label: str
    blank: frozenset[str]
    notes: Mapping[str, str]

    def open(self, *, memory_mb: int | None = None) -> Session:
        """A fresh session: the notebook runs again from its first cell, with another limit on memory where one is given."""

    def before_redefined(self, exercise: str) -> Subject | None:
        """The notebook as far as the cell of another exercise that defines ``exercise`` again; None where none does."""


@dataclass(eq=False)
class ExerciseSession:
    """What the checks of one exercise ask of one submission.

    The calls that every student is asked are known before (``planned``): they go over in one batch, at the first
    question. Anything else is asked as it comes.

    ``answers_key``, once they are answered, is equal for two submissions only if their answers to all of these are the same to the
    last byte; ``None`` where that is not known. ``unplanned_calls`` counts what else of the submission was looked at.
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
    classes: Collection[str] = ()  # of the course's: what is called by such a name makes an object
    right: Callable[[Call], Any] = lambda _call: None
    answers_key: tuple[int | None, ...] | None = None
    unplanned_calls: int = 0
    log: list[tuple[Call, Answer]] = field(default_factory=list)
    latest: tuple[Call, Answer] | None = None  # what was asked for last, whether or not it had been before
    stopped: str = ""
    stopped_at: StudentError | None = None
    asked: dict[tuple[Any, ...], Call] = field(default_factory=dict)  # by the check that runs, or ran last
    failed_on: dict[str, tuple[Call, ...]] = field(default_factory=dict)  # what each check that failed had asked
    _answers: dict[tuple[Any, ...], Answer] = field(default_factory=dict)
    _fetched: bool = False
    _planned_keys: frozenset[tuple[Any, ...]] = frozenset()

    def ask(self, call: Call) -> Answer:
        """The student's answer to one call; the same answer when the same thing is asked again."""
        self.fetch()
        key = key_of(call)
        self.unplanned_calls += key not in self._planned_keys
        self.asked[key] = call
        if key not in self._answers:
            if self.stopped:
                return Answer(stopped=self.stopped)
            self._note(call, key, self._send([call])[0])
        self.latest = call, self._answers[key]
        return self._answers[key]

    def ask_variable(self, name: str) -> Answer:
        """The student's value of a variable."""
        call = Call(name, (), {"variable": True})
        key = key_of(call)
        self.unplanned_calls += 1
        if key not in self._answers:
            self._note(call, key, self.session().value(name))
        return self._answers[key]

    def fetch(self) -> None:
        """Ask everything that was planned, once."""
        if self._fetched:
            return
        self._fetched = True
        if self.planned:
            for call, answer in zip(self.planned, self._send(self.planned), strict=True):
                self._note(call, key_of(call), answer)
            self._planned_keys = frozenset(self._answers)
            serials = tuple(answer.serial for answer in self._answers.values())
            self.answers_key = None if None in serials else serials

    def ask_quietly(self, calls: Iterable[Call]) -> None:
        """Ask what was not asked yet, where nobody should see what the student's code prints: it only serves to compare."""
        for call in calls:
            if key_of(call) not in self._answers and not self.stopped:
                with getattr(self.session(), "quietly", nullcontext)():
                    self.ask(call)

    def check_inputs(self) -> None:
        """Raise ``CheckFailed`` where a call changed its inputs."""
        for call, answer in self.log:
            if answer.changed and not call.kwargs.get("variable"):
                self._changed(call, answer)

    def check_purity(self) -> None:
        """Hold the function to what every function owes its caller; raises ``CheckFailed`` where it does not."""
        self.fetch()
        self.unplanned_calls += 1  # the questions below, and answers of the log that were not planned
        self.check_inputs()
        for script in self.care:
            script.look(self.ask, self.described)
        for probe in self.purity:
            if self.stopped:
                raise self.stopped_failure(probe.first)
            answers = {key_of(probe.first): self.ask(probe.first)}
            for call, answer in zip(probe.questions, self._send(probe.questions, hold=True), strict=True):
                earlier = answers.setdefault(key_of(call), answer)
                if earlier.stopped or answer.stopped:
                    self.stopped = earlier.stopped or answer.stopped
                    self.stopped_at = earlier.at or answer.at
                    raise self.stopped_failure(call)
                if not same_answer(earlier, answer, call):
                    self._unsteady(call, earlier, answer)
            if probe.apart:
                self._of_its_own(probe.other, answers[key_of(probe.first)], answers[key_of(probe.other)])

    def _of_its_own(self, call: Call, before: Answer, answer: Answer) -> None:
        """Ask once more where nothing was asked before, if ``call`` got the answer to another question: it may have been kept."""
        if self.fresh_session is None or before.error is not None or not same_answer(before, answer, call):
            return
        with closing(self.fresh_session()) as session:
            alone = session.call(call)
        if not alone.stopped and not same_answer(alone, answer, call):
            self._unsteady(call, alone, answer)

    def stopped_failure(self, call: Call) -> CheckStopped:
        """The failure for a call that had to be stopped."""
        limits, at = self.limits, self.stopped_at
        inputs = self.spelled(call)[1] if shows_cases() else {}
        given = ", ".join(paste(name, value) for name, value in inputs.items() if name)
        text = explain_stop(
            self.stopped,
            function=asked_for(call) if is_script(call) else call.function,
            seconds=limits.call_seconds,
            memory_mb=limits.memory_mb,
            given=given if len(given) <= MAX_GIVEN and "\n" not in given else "",
            line=at.line if at is not None else "",
            lineno=at.lineno if at is not None else None,
        )
        return CheckStopped(text, self.described(call), stopped=self.stopped)

    def described(self, call: Call) -> str:
        """A call as lines that a student can paste: its inputs by name, then the call; empty if nobody reads them."""
        if not shows_cases():
            return ""
        text, inputs = self.spelled(call)
        return "\n".join([*(paste(k, v) for k, v in inputs.items()), text])

    def spelled(self, call: Call) -> tuple[str, dict[str, Any]]:
        """The call as text, and the inputs in it by name."""
        return format_call(call, self.signature(call.function))

    def _send(self, calls: Sequence[Call], *, hold: bool = False) -> list[Answer]:
        """Ask the session: plain calls in one batch, and after them, one by one, those with a probe or a memory limit."""
        session = self.session()
        script = calls if isinstance(calls, Script) else Script(calls)
        plain = iter(session.batch(script.plain, hold=hold))
        answers: list[Answer] = []
        for call in calls:
            if call.memory_mb is not None:
                roomy = self.limited(call.memory_mb) if self.limited else session
                answers.append(roomy.call(call))
            else:
                answers.append(next(plain) if call.goes_along else session.probe(call.probe, call))
        return answers

    def _note(self, call: Call, key: tuple[Any, ...], answer: Answer) -> None:
        self._answers[key] = answer
        self.log.append((call, answer))
        if answer.stopped:
            self.stopped, self.stopped_at = answer.stopped, answer.at

    def _changed(self, call: Call, answer: Answer) -> None:
        given = {**{str(i): value for i, value in enumerate(call.args)}, **call.kwargs}
        signature = self.signature(call.function)
        parameters = dict(enumerate(signature.parameters)) if signature else {}
        names = [parameters.get(int(name), name) if name.isdigit() else name for name in answer.changed]
        which = " and ".join(f"`{n}`" if not n.isdigit() else f"argument {int(n) + 1}" for n in names)
        table = any(map(kind_of_table, (given.get(name) for name in answer.changed)))
        advice = _A_NEW_TABLE if table else mutation_advice([given.get(name) for name in answer.changed])
        raise CheckFailed(
            f"{call.function} changes its input {which}: after the call it is not what it was before. {advice}",
            self.described(call),
            kind="changed",
        )

    def _unsteady(self, call: Call, first: Answer, then: Answer) -> None:
        raise CheckFailed(
            f"{call.function} gave two different answers to the same question, with another call in between. Does it keep "
            "something from one call to the next, hand out one array again and again, or draw random numbers of its own "
            "(`np.random…`)?",
            "\n".join([self.described(call), f"first: {_said(first)}", f"then:  {_said(then)}"]),
            kind="unsteady",
        )


def _said(answer: Answer) -> str:
    return f"{answer.error.type}: {answer.error.message}" if answer.error else show(answer.value)

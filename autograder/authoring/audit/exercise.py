"""Measure one exercise: what its checks let through, reject, name and never cover."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import inspect
import random
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from autograder.authoring.audit.category_coverage import (
    CategoryCoverage,
    category_mutants,
    covered_categories,
    is_detected,
)
from autograder.authoring.audit.claims import constants_of, replace_constant, unsupported_numbers
from autograder.authoring.audit.mutants import Mutant, mutants_of
from autograder.authoring.audit.report import ExerciseAudit
from autograder.authoring.audit.suggestions import suggestions
from autograder.base.verdict import ExerciseVerdict
from autograder.checking.decorators import CheckSpec, ExerciseSpec
from autograder.checking.student_tests import is_test_call
from autograder.judging.diagnosis import distinguishing_calls, same_answer
from autograder.judging.functions import FunctionSession, FunctionSubject
from autograder.judging.judge import Judge
from autograder.judging.loader import ChapterChecks
from autograder.judging.proxies import ReferenceProxy, StudentProxy
from autograder.judging.values import key_of
from autograder.misconception import Alternative, Misconception
from autograder.sandbox.protocol import Answer, Call
from autograder.sandbox.script import is_script, maximal_scripts

__all__ = ["MeasuredExercise", "vary_calls"]


_EACH = 4  # questions made of each that is asked


def vary_calls(calls: Sequence[Call], number: int) -> list[Call]:
    """Questions like ``calls``, each with one or two of its values changed; others for another ``number``."""
    chance = random.Random(number)  # noqa: S311 - the same questions at every run
    scripts = maximal_scripts(calls)
    asked = [*scripts, *(call for call in calls if not is_script(call))]
    return [_changed(call, chance) for call in asked for _ in range(_EACH)]


def _changed(call: Call, chance: random.Random) -> Call:
    if not is_script(call):
        return dataclasses.replace(call, args=_in_one(call.args, chance))
    steps, *rest = call.args
    # Only what is given to a method is a value: which method it is, and on which object, stays.
    places = [i for i, step in enumerate(steps) if any(kind == "v" for kind, _ in step[3])]
    steps = list(steps)
    for place in chance.sample(places, min(len(places), 1 + chance.randrange(2))):
        do, on, name, given, *more = steps[place]
        given = [(kind, _other(value, chance) if kind == "v" else value) for kind, value in given]
        steps[place] = (do, on, name, given, *more)
    return dataclasses.replace(call, args=(steps, *rest))


def _in_one(values: Sequence[Any], chance: random.Random) -> tuple[Any, ...]:
    place = chance.randrange(len(values)) if values else -1
    return tuple(_other(value, chance) if i == place else value for i, value in enumerate(values))


def _other(value: Any, chance: random.Random) -> Any:
    """A value of the same type near ``value``; the same where none is known."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + (1 if value >= 0 else -1) * chance.randrange(1, 4)
    if isinstance(value, float):
        return value * chance.choice((0.5, 1.25, 3.0))
    if isinstance(value, str):
        return _other_text(value, chance)
    if isinstance(value, list | tuple):
        return type(value)(_other_items(list(value), chance)) if type(value) in (list, tuple) else value
    if isinstance(value, set | frozenset):
        return type(value)(_other(item, chance) for item in value)
    if isinstance(value, dict):
        return {key: _other(item, chance) for key, item in value.items()}
    if isinstance(value, np.ndarray) and value.ndim:
        return value[::-1].copy()
    return value


def _other_text(text: str, chance: random.Random) -> str:
    words = text.split(" ")
    chance.shuffle(words)
    return chance.choice((text.upper(), text.lower(), text.title(), " ".join(words), f"{text} {text}", text + text[:1]))


def _other_items(items: list[Any], chance: random.Random) -> list[Any]:
    if not items:
        return items
    place = chance.randrange(len(items))
    return chance.choice((
        items[::-1],
        [*items, items[place]],
        items[:-1] or items,
        [_other(item, chance) if i == place else item for i, item in enumerate(items)],
    ))  # fmt: skip


_SECONDS = 1.0  # of the processor, for one call of a mutant
_MAX_MUTANTS = 240  # of one exercise; a larger set is thinned evenly
_MAX_COSTLY = 100  # of one whose answers are looked at through a probe, or that is asked this many questions:
_MANY_QUESTIONS = 400
_BY_HEART = 5  # visible answers, each of which is tried as the answer to everything
_KIND_SETS = 8  # of these sets, with which the check of every kind is tried, or pictures drawn: both are dear
_KIND_DRAWS = 3  # further sets on each of which a kind-only mutant has to be wrong, to count
_MORE_DRAWS = 6  # further sets of inputs on which a surviving mutant is compared with the reference,
_ENOUGH_EQUAL = 1000  # or fewer, once that many questions have equal answers


class MeasuredExercise:
    """One exercise under audit: ``judge`` says what a solution earns and which mistake it makes, ``marks`` only the first."""

    def __init__(
        self,
        judge: Judge[ChapterChecks],
        marks: Judge[ChapterChecks],
        spec: ExerciseSpec,
        alternatives: Sequence[Alternative],
    ) -> None:
        self.judge, self.marks, self.spec, self.alternatives = judge, marks, spec, alternatives
        self.checks = judge.checks
        # Of a mutant, nobody reads more than which checks it fails.
        self._wordless = dataclasses.replace(self.checks, shows_cases=False)
        self.right = self.checks.right_names()
        # A solution that ends has as long as a student's, on a busy machine too: only a mutant may not end.
        self._patience = self.checks.course.limits.call_seconds
        # What is asked and rightly answered is the same for every mutant: computed when first needed.
        self._questions: dict[int, list[Call]] = {}
        self._answers: dict[tuple[str, int], list[Answer]] = {}
        self._answered_by: dict[Callable[..., Any], dict[Any, Answer]] = {}  # to the calls that are made of everybody
        self._survivors: list[Mutant] = []
        self._slips: list[Mutant] = []  # of the reference, killed by a visible check

    def measured(self, *, blank: bool, mutants: bool, draws: int) -> ExerciseAudit:
        """What there is to say of it; ``blank`` says whether its stub is blank, ``mutants`` whether they are tried."""
        name = self.spec.name
        reference = self._grade(self.right, self._patience)
        rejected = {
            a.name: next((c.message.splitlines()[0] for c in v.checks if c.message), v.status)
            for a in self.alternatives
            if (v := self._grade(self._with(a.function), self._patience)).status != "passed"
        }
        wrong = self.checks.misconceptions.get(name, [])
        reasons = dict(self.spec.hidden_only)
        messages = {misconception.name: misconception.message for misconception in wrong}
        uncaught, misnamed, unseen = [], {}, {}
        claims: dict[str, str] = {}
        for misconception in wrong:
            verdict = self._grade(self._with(misconception.function), self._patience, misconception.function)
            if self._told_well_done(misconception.function):
                unseen[misconception.name] = reasons.get(misconception.name, "")
            if verdict.score >= verdict.max_score:
                uncaught.append(misconception.name)
            elif messages.get(verdict.misconception or "") != misconception.message:
                # Two ways of writing one mistake may share their message: then the student reads the same.
                misnamed[misconception.name] = verdict.misconception or ""
            if not self.spec.answers and (sentences := self._unfounded(misconception, verdict)):
                claims[misconception.name] = " ".join(sentences)
        result = ExerciseAudit(
            name=name,
            points=self.spec.points,
            blank_ok=blank and self._stub_earns_nothing(),
            reference_ok=reference.status == "passed",
            alternatives=len(self.alternatives),
            misconceptions=len(wrong),
            mutants=0,
            answers=bool(self.spec.answers),
            rejected=rejected,
            uncaught=tuple(uncaught),
            misnamed=misnamed,
            unseen=unseen,
            needless=tuple(name for name in reasons if name not in unseen),
            claims=claims,
            flaky=self._flaky(draws),
            by_heart=0.0 if self.spec.answers else self._by_heart(),
            kinds=self._kinds(mutants=mutants),
            hints=len(self.spec.hints),
        )
        return self._with_mutants(result) if mutants and not self.spec.answers else result

    def with_suggestions(self, result: ExerciseAudit) -> ExerciseAudit:
        """What was measured, with misconceptions that its author may want; a quiz has none to offer."""
        found = suggestions(self.checks, self.spec, self._survivors, self._slips, self._further_questions)
        return dataclasses.replace(result, suggestions=found)

    def _unfounded(self, misconception: Misconception, verdict: ExerciseVerdict) -> list[str]:
        """The sentences of its message with numbers that its answers do not show."""
        read = [self.checks.references[self.spec.name].__doc__ or ""]
        read += [text for check in verdict.checks for text in (check.title, check.reason, check.example)]
        found = unsupported_numbers(misconception.message, "\n".join(read))
        if not found:
            return []
        fixed = [number for number in constants_of(misconception.function) if self._is_fixed(misconception, number)]
        return unsupported_numbers(misconception.message, "\n".join(read), fixed)

    def _is_fixed(self, misconception: Misconception, number: float) -> bool:
        """Whether the answers tell this constant of the misconception's function from others near it."""
        calls = [
            c for c in distinguishing_calls(self.spec.name, self.checks.plan(self.spec.name)) if c.memory_mb is None
        ]

        def answers(function: Callable[..., Any]) -> list[Answer]:
            return FunctionSession(self._with(function), call_seconds=self._patience, of_processor=True).batch(calls)

        own = answers(misconception.function)
        others = [number + 1, number - 1] if number == round(number) else [number * 1.5, number / 1.5, number / 10]
        return not any(
            all(map(same_answer, own, answers(replace_constant(misconception.function, number, other)), calls))
            for other in others
        )

    def _with(self, function: Callable[..., Any]) -> dict[str, Any]:
        if self.spec.answers:
            return {**self.right, **function()}
        return {**self.right, self.spec.name: function}

    def _right_solutions(self, alternatives: Sequence[Alternative]) -> list[tuple[str, dict[str, Any]]]:
        return [("the reference", self.right), *((a.name, self._with(a.function)) for a in alternatives)]

    def _told_well_done(self, mistake: Callable[..., Any]) -> bool:
        """Whether a student who makes this mistake hears from ``check()`` that all is well; of a quiz it says nothing yet."""
        if self.spec.answers:
            return False
        subject = self._subject(self._with(mistake), self._patience, mistake)
        [verdict] = self.marks.judge(subject, only=frozenset({self.spec.name}), visible_only=True)
        return bool(verdict.status == "passed")

    def _subject(
        self, namespace: Mapping[str, Any], seconds: float, known: Callable[..., Any] | None = None
    ) -> FunctionSubject:
        """A subject of these names; the planned answers of a ``known`` mistake, which is judged again and again, are kept."""
        if known is None:
            return FunctionSubject(self.spec.name, namespace, call_seconds=seconds, of_processor=True)
        answers = self._answered_by.setdefault(known, {})
        return _KnownSubject(self.spec.name, namespace, call_seconds=seconds, of_processor=True, answers=answers)

    def _grade(
        self, namespace: Mapping[str, Any], seconds: float, known: Callable[..., Any] | None = None
    ) -> ExerciseVerdict:
        subject = self._subject(namespace, seconds, known)
        [verdict] = self.judge.judge(subject, only=frozenset({self.spec.name}))
        if self.judge.scorer.undiagnosed is not None:
            raise self.judge.scorer.undiagnosed
        return verdict

    def _marked(self, namespace: Mapping[str, Any], seconds: float = _SECONDS) -> ExerciseVerdict:
        """The verdict without the name of a mistake."""
        [verdict] = self.marks.judge(self._subject(namespace, seconds), only=frozenset({self.spec.name}))
        return verdict

    def _stub_earns_nothing(self) -> bool:
        def stub(*_args: Any, **_kwargs: Any) -> Any:
            raise NotImplementedError(self.spec.name)

        blank = dict.fromkeys(self.spec.answers) or {self.spec.name: stub}
        return self._marked({**self.right, **blank}).score == 0

    def _by_heart(self) -> float:
        """The largest share of the points that one answer of the reference earns, given to every question."""
        visible = tuple(c.name for c in self.spec.checks if c.visible)
        asked = self.checks.dry_run(self.spec.name, visible, self.checks.secret)
        shares = [0.0]
        for call in [c for c in asked if c.function == self.spec.name and not c.probe][:_BY_HEART]:
            [answer] = FunctionSession(self.right).batch([call])
            verdict = self._marked(self._with(_always(answer.value)), self._patience)
            shares.append(verdict.score / verdict.max_score if verdict.max_score else 0.0)
        return max(shares)

    def _kinds(self, *, mutants: bool) -> CategoryCoverage:
        found = covered_categories(self._wordless, self.spec.name)
        if self.spec.takes is None or not mutants:
            return found
        reference = self.checks.references[self.spec.name]
        total, survivors = 0, []
        for mutant in category_mutants(self.spec.takes, reference, self.spec.name):
            if self._differs(mutant):
                total += 1
                if not is_detected(self._wordless, self.spec.name, mutant.function):
                    survivors.append(mutant.label)
        return dataclasses.replace(found, mutants=total, survivors=tuple(survivors))

    def _differs(self, mutant: Mutant) -> bool:
        """Whether a kind-only mutant is wrong on each of a few further sets of inputs: then it is no accident."""
        other = self._with(mutant.function)
        return all(not self._alike_on(number, "the reference", self.right, other) for number in range(_KIND_DRAWS))

    def _with_mutants(self, result: ExerciseAudit) -> ExerciseAudit:
        killers: dict[str, int] = dict.fromkeys((c.name for c in self.spec.checks), 0)
        survivors: list[str] = []
        hidden_only: list[str] = []
        equivalent: dict[str, str] = {}
        total = 0
        visible = self.spec.visible
        for mutant in self._mutants():
            killed = self._killed_by(mutant.function)
            if not killed and (reason := self._reason_it_is_right(mutant)):
                equivalent[mutant.label] = reason
                continue
            if not killed:
                survivors.append(mutant.label)
                self._survivors.append(mutant)
            elif not killed & visible:
                hidden_only.append(mutant.label)
            elif mutant.label.startswith(f"{self.spec.name}: "):
                self._slips.append(mutant)
            total += 1
            for check in killed:
                killers[check] += 1
        for misconception in self.checks.misconceptions.get(self.spec.name, ()):
            for check in self._killed_by(misconception.function, known=True):
                killers[check] += 1
        return dataclasses.replace(
            result,
            mutants=total,
            survivors=tuple(survivors),
            seen_by_hidden_only=tuple(hidden_only),
            equivalent=equivalent,
            kills=killers,
            idle=tuple(c for c, n in killers.items() if not n),
        )

    def _mutants(self) -> list[Mutant]:
        found = mutants_of(self.checks.references[self.spec.name], self.spec.name)
        for alternative in self.alternatives:
            found += mutants_of(alternative.function, alternative.name)
        # What a probe looks at, such as a picture, costs a hundred times what a product of matrices does; an experiment
        # with random numbers is asked for again and again.
        plan = self.checks.plan(self.spec.name)
        most = _MAX_COSTLY if len(plan) >= _MANY_QUESTIONS or any(c.probe for c in plan) else _MAX_MUTANTS
        if len(found) <= most:
            return found
        own = [m for m in found if m.label.startswith(f"{self.spec.name}: ")]
        rest = [m for m in found if m not in own]
        rest.sort(key=lambda m: hashlib.sha256(m.label.encode()).digest())  # evenly, and the same ones every time
        return own + rest[: max(0, most - len(own))]

    def _killed_by(self, function: Callable[..., Any], *, known: bool = False) -> set[str]:
        """The checks that fail for ``function``, each tried by itself, whether or not it would have waited."""
        subject = self._subject(self._with(function), _SECONDS, function if known else None)
        return _failing(self._wordless, self.spec, subject.open())

    def _reason_it_is_right(self, mutant: Mutant) -> str:
        written = dict(self.spec.equivalent)
        if mutant.label in written:
            return written[mutant.label]
        if all(map(is_test_call, self.checks.plan(self.spec.name))):
            return "tests that pass what is right and catch every bug are right"
        # A mutant of an alternative may be as right as the alternative and yet differ from the reference: where answers
        # are random, a change that alters nothing is known by its leaving the alternative's own answers as they were.
        origins = [a for a in self.alternatives if mutant.label.startswith(f"{a.name}: ")]
        for name, model in self._right_solutions(origins):
            calls = self._calls_answered_alike(name, model, self._with(mutant.function))
            if calls:
                return f"gives {name}'s answers on {calls} further inputs"
        return ""

    def _calls_answered_alike(self, name: str, model: Mapping[str, Any], other: Mapping[str, Any]) -> int:
        """How many further questions ``other`` answered as ``model``, called ``name``, does; 0 where they differ in any.

        What every secret asks alike is no further question: a mutant that nothing kills answers it, and may be wrong elsewhere.
        """
        known, calls = set(self._planned), 0
        for number in range(_MORE_DRAWS):
            if not self._alike_on(number, name, model, other):
                return 0
            keys = {key_of(call) for call in self._further_questions(number)}
            calls += len(keys - known)
            known |= keys
            if calls >= _ENOUGH_EQUAL:
                break
        return calls

    def _alike_on(self, number: int, name: str, model: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        plan = self._further_questions(number)
        if (name, number) not in self._answers:
            self._answers[name, number] = FunctionSession(model).batch(plan)
        ours = self._answers[name, number]
        session = FunctionSession(other, call_seconds=self._patience, of_processor=True)
        # One by one: most differ at one of the first questions, and the others need not be asked.
        return all(same_answer(answer, session.call(call), call) for answer, call in zip(ours, plan, strict=True))

    def _further_questions(self, number: int) -> list[Call]:
        if number not in self._questions:
            secret = hashlib.sha256(f"more {number}".encode()).digest()
            names = tuple(c.name for c in self.spec.checks if not c.visible)
            # What tells of memory alone is dear to ask: inputs of its size show nothing that others do not.
            asked = [c for c in self.checks.dry_run(self.spec.name, names, secret) if c.memory_mb is None]
            found = distinguishing_calls(self.spec.name, asked)
            if not {key_of(call) for call in found} - self._planned:  # no check draws anything
                found = self._answered(
                    vary_calls(distinguishing_calls(self.spec.name, self.checks.plan(self.spec.name)), number)
                )
            self._questions[number] = found
        return self._questions[number]

    @cached_property
    def _planned(self) -> frozenset[Any]:
        """What the checks ask of everybody, by its key."""
        return frozenset(key_of(call) for call in self.checks.plan(self.spec.name))

    def _answered(self, calls: Sequence[Call]) -> list[Call]:
        """Those of ``calls`` that the reference answers: others may not be asked at all."""
        answers = FunctionSession(self.right).batch(calls)
        return [call for call, a in zip(calls, answers, strict=False) if a.error is None and not a.stopped]

    def _flaky(self, draws: int) -> dict[str, str]:
        """Checks that refuse a right solution when the course's secret is another one."""
        found: dict[str, str] = {}
        solutions = self._right_solutions(self.alternatives)
        pictures = any(call.probe for call in self.checks.plan(self.spec.name))  # which are dear to draw
        for number in range(min(draws, _KIND_SETS) if pictures else draws):
            secret = hashlib.sha256(f"draw {number}".encode()).digest()
            reference = ReferenceProxy(self.checks.references)  # which keeps its answers only as long as these draws
            checks = dataclasses.replace(self._wordless, secret=secret, reference=reference, _prepared={})
            # What visible checks ask is published, and some hidden ones draw nothing: another secret changes neither, and
            # the solutions have been held to them already.
            spec = self._drawn_from_the_secret(kinds=number < _KIND_SETS)
            for name, namespace in solutions:
                session = self._subject(namespace, self._patience).open()
                for check in _failing(checks, spec, session, planned=False):
                    found.setdefault(check, name)
        return found

    def _drawn_from_the_secret(self, *, kinds: bool) -> ExerciseSpec:
        def draws(spec: CheckSpec) -> bool:
            check = getattr(self.checks.classes[self.spec.name], spec.name)
            return (spec.kinds and kinds) or hasattr(check, "__given__") or "rng" in inspect.signature(check).parameters

        drawn = tuple(c for c in self.spec.checks if not c.visible and draws(c))
        return dataclasses.replace(self.spec, checks=drawn)


def _always(value: Any) -> Callable[..., Any]:
    return lambda *_args, **_kwargs: copy.deepcopy(value)


class _KnownSession(FunctionSession):
    """Functions whose answers to planned calls are looked up in ``answers``, and stored there when they are first given."""

    def __init__(self, names: Mapping[str, Any], answers: dict[Any, Answer], seconds: float | None) -> None:
        super().__init__(names, call_seconds=seconds, of_processor=True)
        self._known_answers = answers

    def batch(self, calls: Sequence[Call], *, hold: bool = False) -> list[Answer]:
        """Call many; only of what is held until the last call is nothing looked up."""
        if hold:
            return super().batch(calls, hold=True)
        return [self._looked_up(call, call) for call in calls]

    def probe(self, source: str, call: Call) -> Answer:
        """Run ``probe(function, …)`` of ``source``."""
        return self._looked_up(call, dataclasses.replace(call, probe=source))

    def _looked_up(self, planned: Call, call: Call) -> Answer:
        if planned.key is None or not self.alive:
            return super().batch([call])[0]
        if planned.key not in self._known_answers:
            answer = super().batch([call])[0]
            if answer.stopped:
                return answer
            self._known_answers[planned.key] = answer
        return self._known_answers[planned.key]


@dataclasses.dataclass
class _KnownSubject(FunctionSubject):
    """A subject whose planned answers are kept in ``answers``."""

    answers: dict[Any, Answer] = dataclasses.field(kw_only=True)

    def open(self, *, memory_mb: int | None = None) -> FunctionSession:  # noqa: ARG002 - each call carries its own limit
        """A fresh session over the same names."""
        return _KnownSession(self.names, self.answers, self.call_seconds)


def _failing(checks: ChapterChecks, spec: ExerciseSpec, session: FunctionSession, *, planned: bool = True) -> set[str]:
    conversation = checks.converse(spec.name, lambda: session, planned=planned)
    failing: set[str] = set()
    for check in spec.checks:
        if conversation.stopped:
            return failing | {c.name for c in spec.checks if c.name not in failing}
        try:
            checks.run_check(spec.name, check.name, StudentProxy(conversation))
        except Exception:  # noqa: BLE001 - a check that cannot use a value refuses it
            failing.add(check.name)
    return failing

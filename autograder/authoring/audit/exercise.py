"""Measure how one exercise's checks judge correct, wrong and mutated solutions."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import inspect
import random
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from autograder.authoring.audit.claims import constants_of, replace_constant, unsupported_numbers
from autograder.authoring.audit.fault_model import CategoryCoverage, FaultCoverage, FaultModel, category_mutants, passes
from autograder.authoring.audit.mutants import Mutant, mutants_of
from autograder.authoring.audit.report import ExerciseAudit
from autograder.authoring.audit.suggestions import suggestions
from autograder.base.verdict import ExerciseVerdict
from autograder.checking.asserts import observing
from autograder.checking.decorators import CheckSpec, ExerciseSpec
from autograder.checking.student_tests import is_test_call
from autograder.judging.diagnosis import distinguishing_calls, same_answer
from autograder.judging.exercise_session import Sessions
from autograder.judging.functions import FunctionSession, FunctionSubject
from autograder.judging.judge import Judge
from autograder.judging.loader import ChapterChecks
from autograder.judging.proxies import ReferenceProxy, StudentProxy
from autograder.misconception import Alternative, Misconception
from autograder.sandbox.protocol import Answer, Call, Rng
from autograder.sandbox.script import is_script, maximal_scripts
from autograder.values import Rules, TableOptions, call_key, equal

__all__ = ["MeasuredExercise", "vary_calls"]


_EACH = 4  # how many variants are made of each call, except of a probe, which may make hundreds of calls


def vary_calls(calls: Sequence[Call], number: int) -> list[Call]:
    """Return variants of ``calls``, each with one or two changed values. ``number`` seeds the changes."""
    chance = random.Random(number)  # noqa: S311 - the same calls in every run
    scripts = maximal_scripts(calls)
    asked = [*scripts, *(call for call in calls if not is_script(call))]
    return [_changed(call, chance) for call in asked for _ in range(_EACH if is_script(call) or not call.probe else 1)]


def _changed(call: Call, chance: random.Random) -> Call:
    if not is_script(call):
        place = chance.randrange(len(call.args)) if call.args else -1
        args = tuple(_other(value, chance) if i == place else value for i, value in enumerate(call.args))
        return dataclasses.replace(call, args=args)
    steps, *rest = call.args
    # Change method arguments only, not the method or its object.
    places = [i for i, step in enumerate(steps) if any(kind == "v" for kind, _ in step[3])]
    steps = list(steps)
    for place in chance.sample(places, min(len(places), 1 + chance.randrange(2))):
        do, on, name, given, *more = steps[place]
        given = [(kind, _other(value, chance) if kind == "v" else value) for kind, value in given]
        steps[place] = (do, on, name, given, *more)
    return dataclasses.replace(call, args=(steps, *rest))


def _other(value: Any, chance: random.Random) -> Any:
    """Return a different value of the same type near ``value``, or ``value`` itself if the type is not supported."""
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


_SECONDS = 1.0  # seconds of processor time for one call of a mutant
_BY_HEART = 5  # how many visible answers are tried as the answer to every call
_KIND_SETS = 6  # the maximum number of draws for category checks and for plots, which are slow
_RANDOM_SETS = 2  # the number of draws for checks of random results. How often they reject a correct answer is computed
_KIND_DRAWS = 3  # in how many draws a category mutant must be wrong
_MORE_DRAWS = 6  # the maximum number of draws in which a surviving mutant is compared with the reference
_ENOUGH_EQUAL = 1000  # the comparison ends once this many calls have equal answers


class MeasuredExercise:
    """An exercise under audit. ``judge`` marks and diagnoses solutions, while ``marks`` only marks them."""

    def __init__(
        self,
        judge: Judge[ChapterChecks],
        marks: Judge[ChapterChecks],
        spec: ExerciseSpec,
        alternatives: Sequence[Alternative],
    ) -> None:
        self.judge, self.marks, self.spec, self.alternatives = judge, marks, spec, alternatives
        self.checks = judge.checks
        # The audit needs only the names of the checks that a mutant fails, not their messages.
        self._wordless = dataclasses.replace(self.checks, shows_cases=False)
        self.right = self.checks.right_names()
        # Known solutions get as much time as students' solutions, so that none times out on a busy machine. Only mutants may run forever.
        self._patience = self.checks.course.limits.call_seconds
        # The calls and the reference's answers are the same for every mutant, so cache them.
        self._questions: dict[int, list[Call]] = {}
        self._answers: dict[int, list[Answer]] = {}
        self._answered_by: dict[Callable[..., Any], dict[Any, Answer]] = {}  # each mistake's answers to planned calls
        self._survivors: list[Mutant] = []
        self._outcomes: list[tuple[Misconception, ExerciseVerdict]] = []
        self._rows_count = False  # whether any check compares the order of a table's rows
        self._slips: list[Mutant] = []  # mutants of the reference that a visible check kills

    def measure(self, *, blank: bool, mutants: bool, draws: int) -> ExerciseAudit:
        """Measure the exercise. ``blank`` says whether its stub is blank, and ``mutants`` whether to try mutants.

        Every correct solution must pass with ``draws`` secrets besides the course's own.
        """
        name = self.spec.name
        experiments: dict[str, None] = {}  # each experiment once, in order

        def note(_name: str, _actual: object, _expected: object, params: Mapping[str, Any], *_: object) -> None:
            if "summary" in params:
                experiments[params["summary"]] = None
            if _name == "matches":
                self._rows_count |= params.get("table", {}).get("row_order", True)

        with observing(note):
            reference = self._grade(self.right, self._patience)
        rejected = {
            a.name: next((c.message.splitlines()[0] for c in v.checks if c.message), v.status)
            for a in self.alternatives
            if (v := self._grade(self._with(a.function), self._patience)).status != "passed"
        }
        wrong = self.checks.misconceptions.get(name, [])
        if not self.spec.answers:  # the answers that the diagnosis computes are cached for the marks
            self.checks.diagnosis(name, lambda f: self._subject(self._with(f), self._patience, f).open())
        reasons = dict(self.spec.hidden_only)
        messages = {misconception.name: misconception.message for misconception in wrong}
        uncaught, misdiagnosed, missed_by_visible = [], {}, {}
        claims: dict[str, str] = {}
        for misconception in wrong:
            verdict = self._grade(self._with(misconception.function), self._patience, misconception.function)
            self._outcomes.append((misconception, verdict))
            if not self.spec.answers and self._told_well_done(misconception.function):
                missed_by_visible[misconception.name] = reasons.get(misconception.name, "")
            if verdict.score >= verdict.max_score:
                uncaught.append(misconception.name)
            elif messages.get(verdict.misconception or "") != misconception.message:
                # Students cannot tell misconceptions with the same message apart.
                misdiagnosed[misconception.name] = verdict.misconception or ""
            if not self.spec.answers and (sentences := self._unfounded(misconception, verdict)):
                claims[misconception.name] = " ".join(sentences)
        kinds, faults = self._faults(mutants=mutants)
        result = ExerciseAudit(
            name=name,
            points=self.spec.points,
            stub_earns_nothing=blank and self._stub_earns_nothing(),
            reference_ok=reference.status == "passed",
            alternatives=len(self.alternatives),
            misconceptions=len(wrong),
            mutants=0,
            answers=bool(self.spec.answers),
            rejected=rejected,
            uncaught=tuple(uncaught),
            misdiagnosed=misdiagnosed,
            missed_by_visible=missed_by_visible,
            unused_reasons=tuple(name for name in reasons if name not in missed_by_visible),
            claims=claims,
            flaky=self._flaky(draws),
            hardcoded=0.0 if self.spec.answers else self._by_heart(),
            kinds=kinds,
            fault_coverage=faults,
            hints=len(self.spec.hints),
            experiments=tuple(experiments),
        )
        return self._with_mutants(result) if mutants and not self.spec.answers else result

    def with_suggestions(self, result: ExerciseAudit) -> ExerciseAudit:
        """Return ``result`` with suggested misconceptions. A quiz has none."""
        found = suggestions(self.checks, self.spec, self._survivors, self._slips, self._further_questions)
        return dataclasses.replace(result, suggestions=found)

    def _unfounded(self, misconception: Misconception, verdict: ExerciseVerdict) -> list[str]:
        """Return the sentences of the misconception's message that contain a number its answers do not show."""
        read = [self.checks.references[self.spec.name].__doc__ or ""]
        read += [text for check in verdict.checks for text in (check.title, check.reason, check.example)]
        found = unsupported_numbers(misconception.message, "\n".join(read))
        if not found:
            return []
        fixed = [number for number in constants_of(misconception.function) if self._is_fixed(misconception, number)]
        return unsupported_numbers(misconception.message, "\n".join(read), fixed)

    def _is_fixed(self, misconception: Misconception, number: float) -> bool:
        """Return whether replacing the constant ``number`` by a nearby number always changes the misconception's answers."""
        calls = [
            c for c in distinguishing_calls(self.spec.name, self.checks.plan(self.spec.name)) if c.memory_mb is None
        ]

        def answers(function: Callable[..., Any]) -> list[Answer]:
            return FunctionSession(self._with(function), call_seconds=self._patience).batch(calls)

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

    def _told_well_done(self, mistake: Callable[..., Any]) -> bool:
        """Return whether ``check()`` reports success for ``mistake``."""
        subject = self._subject(self._with(mistake), self._patience, mistake)
        [verdict] = self.marks.judge(subject, only=frozenset({self.spec.name}), visible_only=True)
        return bool(verdict.status == "passed")

    def _subject(
        self, namespace: Mapping[str, Any], seconds: float, known: Callable[..., Any] | None = None
    ) -> FunctionSubject:
        """Return a subject with the names in ``namespace``. A ``known`` mistake is judged repeatedly, so its answers to planned calls are cached."""
        if known is None:
            return FunctionSubject(self.spec.name, namespace, call_seconds=seconds)
        answers = self._answered_by.setdefault(known, {})
        return _KnownSubject(self.spec.name, namespace, call_seconds=seconds, answers=answers)

    def _grade(
        self, namespace: Mapping[str, Any], seconds: float, known: Callable[..., Any] | None = None
    ) -> ExerciseVerdict:
        subject = self._subject(namespace, seconds, known)
        [verdict] = self.judge.judge(subject, only=frozenset({self.spec.name}))
        if self.judge.scorer.undiagnosed is not None:
            raise self.judge.scorer.undiagnosed
        return verdict

    def _marked(self, namespace: Mapping[str, Any], seconds: float = _SECONDS) -> ExerciseVerdict:
        """Return the verdict on a solution, without a diagnosis."""
        [verdict] = self.marks.judge(self._subject(namespace, seconds), only=frozenset({self.spec.name}))
        return verdict

    def _stub_earns_nothing(self) -> bool:
        def stub(*_args: Any, **_kwargs: Any) -> Any:
            raise NotImplementedError(self.spec.name)

        blank = dict.fromkeys(self.spec.answers) or {self.spec.name: stub}
        return self._marked({**self.right, **blank}).score == 0

    def _by_heart(self) -> float:
        """Return the largest share of the points earned by a function that always returns one of the reference's visible answers."""
        visible = tuple(c.name for c in self.spec.checks if c.visible)
        asked = self.checks.dry_run(self.spec.name, visible, self.checks.secret)
        shares = [0.0]
        for call in [c for c in asked if c.function == self.spec.name and c.is_plain][:_BY_HEART]:
            [answer] = FunctionSession(self.right).batch([call])
            always = partial(lambda value, *_args, **_kwargs: copy.deepcopy(value), answer.value)
            verdict = self._marked(self._with(always), self._patience)
            shares.append(verdict.score / verdict.max_score if verdict.max_score else 0.0)
        return max(shares)

    def _faults(self, *, mutants: bool) -> tuple[CategoryCoverage, FaultCoverage]:
        model = FaultModel(self._wordless, self.spec.name)
        kinds, faults = model.measure(programs=mutants)
        if self.spec.takes is None or not mutants:
            return kinds, faults
        reference = self.checks.references[self.spec.name]
        total, survivors = 0, []
        for mutant in category_mutants(self.spec.takes, reference, self.spec.name):
            # A mutant counts only if it is wrong in each of several draws, not in a single draw by chance.
            other = self._with(mutant.function)
            if not any(self._alike_on(n, other, mutant.affects) for n in range(_KIND_DRAWS)):
                total += 1
                if not model.is_detected(mutant.function):
                    survivors.append(mutant.label)
        return dataclasses.replace(kinds, mutants=total, survivors=tuple(survivors)), faults

    def _with_mutants(self, result: ExerciseAudit) -> ExerciseAudit:
        killers: dict[str, int] = dict.fromkeys((c.name for c in self.spec.checks), 0)
        survivors: list[str] = []
        hidden_only: list[str] = []
        equivalent: dict[str, str] = {}
        total = 0
        for mutant in mutants_of(self.checks.references[self.spec.name], self.spec.name):
            killed = self._killed_by(mutant.function)
            if not killed and (reason := self._reason_it_is_right(mutant)):
                equivalent[mutant.label] = reason
                continue
            if not killed:
                survivors.append(mutant.label)
                self._survivors.append(mutant)
            elif not killed & self.spec.visible:
                hidden_only.append(mutant.label)
            else:
                self._slips.append(mutant)
            total += 1
            for check in killed:
                killers[check] += 1
        for misconception, verdict in self._outcomes:
            status = {check.name: check.status for check in verdict.checks}
            enough = {name for name in self._slow[0] if killers[name]}  # a slow check only has to fail once
            not_tried = [c for c in self.spec.checks if status[c.name] == "not_tried" and c.name not in enough]
            subject = self._subject(self._with(misconception.function), _SECONDS, misconception.function)
            rest = _failing(self._wordless, dataclasses.replace(self.spec, checks=tuple(not_tried)), subject.open())
            for check in rest | {name for name, outcome in status.items() if outcome not in {"passed", "not_tried"}}:
                killers[check] += 1
        return dataclasses.replace(
            result,
            mutants=total,
            survivors=tuple(survivors),
            seen_by_hidden_only=tuple(hidden_only),
            equivalent=equivalent,
            kills=killers,
            checks_without_kills=tuple(c.name for c in self.spec.checks if not killers[c.name] and not c.purity),
        )

    def _killed_by(self, function: Callable[..., Any]) -> set[str]:
        """Return the checks that fail for ``function``, ignoring ``after=`` conditions.

        Slow checks run only if no other visible check fails. If no check fails, all checks run again after all planned calls.
        """
        subject = self._subject(self._with(function), _SECONDS)
        slow, _ = self._slow
        quick = dataclasses.replace(self.spec, checks=tuple(c for c in self.spec.checks if c.name not in slow))
        killed = _failing(self._wordless, quick, subject.open(), planned=False)
        if slow and not killed & self.spec.visible:
            rest = dataclasses.replace(self.spec, checks=tuple(c for c in self.spec.checks if c.name in slow))
            killed |= _failing(self._wordless, rest, subject.open(), planned=False)
        return killed or _failing(self._wordless, self.spec, subject.open())

    @cached_property
    def _slow(self) -> tuple[frozenset[str], frozenset[str]]:
        """The names of the slow checks, and of the checks of random results among them."""
        slow, random_results = set(), set()
        for check in self.spec.checks:
            for call in self.checks.dry_run(self.spec.name, (check.name,), self.checks.secret):
                random_results |= {check.name} if call.probe and any(isinstance(a, Rng) for a in call.args) else set()
                slow |= {check.name} if call.memory_mb is not None or (call.probe and not check.visible) else set()
        return frozenset(slow | random_results), frozenset(random_results)

    def _reason_it_is_right(self, mutant: Mutant) -> str:
        written = dict(self.spec.equivalent)
        if mutant.label in written:
            return written[mutant.label]
        if all(map(is_test_call, self.checks.plan(self.spec.name))):
            return "its tests accept the correct solutions and catch every bug, so they are correct"
        if not self._rows_count and self._only_reorders(self._with(mutant.function)):
            return "gives the same rows in a different order, and no check compares the order"
        calls = self._calls_answered_alike(self._with(mutant.function))
        return f"gives the same results as the reference for {calls} more inputs" if calls else ""

    def _only_reorders(self, other: Mapping[str, Any]) -> bool:
        """Return whether the answers of ``other`` to the planned calls differ from the reference's only in the order of table rows."""
        plan = self.checks.plan(self.spec.name)
        right, found = (FunctionSession(names).batch(plan) for names in (self.right, other))
        answers = zip(right, found, plan, strict=True)
        moved = [(a.value, b.value) for a, b, call in answers if not same_answer(a, b, call)]
        rules = Rules(1e-9, 1e-9, tables=TableOptions(row_order=False))
        return bool(moved) and all(a is not None and b is not None and equal(b, a, rules) for a, b in moved)

    def _calls_answered_alike(self, other: Mapping[str, Any]) -> int:
        """Return how many unplanned calls ``other`` answers exactly as the reference does, or 0 if any answer differs.

        Planned calls do not count, because every surviving mutant answers them well enough to pass.
        """
        compared: set[Any] = set()  # several draws make some of the same calls

        def is_new(call: Call) -> bool:
            return call_key(call) not in compared

        for number in range(_MORE_DRAWS):
            if not self._alike_on(number, other, is_new):
                return 0
            compared |= {call_key(call) for call in self._further_questions(number)}
            if len(compared - self._planned) >= _ENOUGH_EQUAL:
                break
        return len(compared - self._planned)

    def _alike_on(self, number: int, other: Mapping[str, Any], affects: Callable[[Call], bool] | None = None) -> bool:
        plan = self._further_questions(number)
        if number not in self._answers:
            self._answers[number] = FunctionSession(self.right).batch(plan)
        asked = zip(self._answers[number], plan, strict=True)
        session = FunctionSession(other, call_seconds=self._patience)
        return all(same_answer(a, session.call(c), c) for a, c in asked if affects is None or affects(c))

    def _further_questions(self, number: int) -> list[Call]:
        if number not in self._questions:
            secret = hashlib.sha256(f"more {number}".encode()).digest()
            names = tuple(c.name for c in self.spec.checks if not c.visible)
            # Calls that only measure memory are expensive, and their large inputs show nothing new.
            asked = [c for c in self.checks.dry_run(self.spec.name, names, secret) if c.memory_mb is None]
            found = distinguishing_calls(self.spec.name, asked)
            if not {call_key(call) for call in found} - self._planned:  # no check draws random inputs
                found = self._answered(
                    vary_calls(distinguishing_calls(self.spec.name, self.checks.plan(self.spec.name)), number)
                )
            self._questions[number] = found
        return self._questions[number]

    @cached_property
    def _planned(self) -> frozenset[Any]:
        """The keys of the calls that the checks make for every submission."""
        return frozenset(call_key(call) for call in self.checks.plan(self.spec.name))

    def _answered(self, calls: Sequence[Call]) -> list[Call]:
        """Return the ``calls`` for which the reference returns a value. A call for which it fails may be invalid."""
        answers = FunctionSession(self.right).batch(calls)
        return [call for call, a in zip(calls, answers, strict=False) if a.error is None and not a.stopped]

    def _flaky(self, draws: int) -> dict[str, str]:
        """Return the checks that reject a correct solution if another secret is used, each with the name of that solution."""
        found: dict[str, str] = {}
        solutions = [("the reference", self.right), *((a.name, self._with(a.function)) for a in self.alternatives)]
        pictures = any(call.probe for call in self.checks.plan(self.spec.name))  # pictures are expensive to draw
        for number in range(min(draws, _KIND_SETS) if pictures else draws):
            secret = hashlib.sha256(f"draw {number}".encode()).digest()
            reference = ReferenceProxy(self.checks.references)  # caches the answers for this draw only
            checks = dataclasses.replace(self._wordless, secret=secret, reference=reference, _prepared={})
            # Another secret changes only hidden checks with random inputs, so the remaining checks need no second run.
            spec = self._drawn_from_the_secret(number)
            for name, namespace in solutions:
                session = self._subject(namespace, self._patience).open()
                for check in _failing(checks, spec, session, planned=False):
                    found.setdefault(check, name)
        return found

    def _drawn_from_the_secret(self, number: int) -> ExerciseSpec:
        """Return the exercise with only those checks that draw inputs, and that need the draw with this number."""
        _, random_results = self._slow

        def draws(spec: CheckSpec) -> bool:
            check = getattr(self.checks.classes[self.spec.name], spec.name)
            drawn = hasattr(check, "__given__") or "rng" in inspect.signature(check).parameters
            if spec.name in random_results:
                return drawn and number < _RANDOM_SETS
            return drawn or (spec.kinds and number < _KIND_SETS)

        drawn = tuple(c for c in self.spec.checks if not c.visible and draws(c))
        return dataclasses.replace(self.spec, checks=drawn)


class _KnownSession(FunctionSession):
    """A session that caches its functions' answers to planned calls in ``answers``."""

    def __init__(self, names: Mapping[str, Any], answers: dict[Any, Answer], seconds: float | None) -> None:
        super().__init__(names, call_seconds=seconds)
        self._known_answers = answers

    def batch(self, calls: Sequence[Call], *, hold: bool = False) -> list[Answer]:
        """Return the answers to ``calls``. With ``hold``, all results must exist at the same time, so the cache is not used."""
        return super().batch(calls, hold=True) if hold else [self._looked_up(call, call) for call in calls]

    def probe(self, source: str, call: Call) -> Answer:
        """Return the answer of ``probe(function, …)``, which ``source`` defines."""
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
    """A subject whose answers to planned calls are cached in ``answers``."""

    answers: dict[Any, Answer] = dataclasses.field(kw_only=True)

    def open(self, *, memory_mb: int | None = None) -> FunctionSession:  # noqa: ARG002 - each call carries its own limit
        """Return a new session with the subject's names and cached answers."""
        return _KnownSession(self.names, self.answers, self.call_seconds)


def _failing(checks: ChapterChecks, spec: ExerciseSpec, session: FunctionSession, *, planned: bool = True) -> set[str]:
    conversation = checks.converse(spec.name, Sessions(lambda: session), planned=planned)
    failing: set[str] = set()
    for check in spec.checks:
        if conversation.stopped:
            return failing | {c.name for c in spec.checks if c.name not in failing}
        if not passes(checks, spec.name, check.name, StudentProxy(conversation)):
            failing.add(check.name)
    return failing

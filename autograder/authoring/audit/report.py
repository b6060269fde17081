"""The results of an audit as data, as a table, and as messages about problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from autograder.authoring.audit.fault_model import CategoryCoverage, FaultCoverage
from autograder.authoring.audit.localization_benchmark import LocalizationStats
from autograder.authoring.audit.suggestions import Suggestion
from autograder.base.foreign import Json
from autograder.base.formatting import join_words, pluralize
from autograder.course.course import AT_LEAST, TARGETS

__all__ = [
    "BY_HEART_TARGET", "HIDDEN_TARGET", "KINDS_TARGET", "MISCONCEPTIONS_VISIBLE_TARGET", "VISIBLE_TARGET", "ChapterAudit",
    "ExerciseAudit",
]  # fmt: skip

_KINDS = {"allowed": "allowed", "visited": "covered", "missing": "missing"}  # JSON key: field
_JSON_KEYS = {
    "stub_earns_nothing": "blank_ok", "fault_coverage": "faults", "misdiagnosed": "misnamed",
    "missed_by_visible": "unseen", "unused_reasons": "needless", "checks_without_kills": "idle",
    "hardcoded": "by_heart",
}  # fmt: skip
# The defaults of a course's ``targets``.
HIDDEN_TARGET, VISIBLE_TARGET, BY_HEART_TARGET = TARGETS["hidden"], TARGETS["visible"], TARGETS["by_heart"]
MISCONCEPTIONS_VISIBLE_TARGET, KINDS_TARGET = TARGETS["misconceptions_visible"], TARGETS["kinds"]


class _Shares:
    """The shares that an audit measures, over one exercise or over all exercises of a chapter."""

    def _audits(self) -> Sequence[ExerciseAudit]:
        raise NotImplementedError

    @property
    def killed(self) -> float:
        """The share of the non-equivalent mutants that some check kills."""
        return self._killed(visibly=False)

    @property
    def killed_visibly(self) -> float:
        """The share of the non-equivalent mutants that a visible check kills."""
        return self._killed(visibly=True)

    def _killed(self, *, visibly: bool) -> float:
        total = sum(e.mutants for e in self._audits())
        missed = sum(len(e.survivors) + visibly * len(e.seen_by_hidden_only) for e in self._audits())
        return 1 - missed / total if total else 1.0

    @property
    def misconceptions_visible(self) -> float:
        """The share of the misconceptions that a visible check catches, not counting quizzes."""
        total = sum(e.misconceptions for e in self._audits() if not e.answers)
        return 1 - sum(len(e.missed_by_visible) for e in self._audits()) / total if total else 1.0

    def rounded_shares(self) -> dict[str, float]:
        """Return the three shares by name, rounded for JSON data."""
        return {name: round(getattr(self, name), 4) for name in ("killed", "killed_visibly", "misconceptions_visible")}


@dataclass(frozen=True)
class ExerciseAudit(_Shares):
    """The audit of one exercise's checks.

    Attributes:
        stub_earns_nothing: whether the stub is blank and earns no points.
        reference_ok: whether the reference earns full marks.
        alternatives, misconceptions, mutants: how many of each were tried.
        answers: whether the exercise is a quiz.
        rejected: correct alternatives that lose marks, each with its first message.
        uncaught: misconceptions that keep full marks.
        misdiagnosed: misconceptions that are not reported under their own name, each with the name that is reported, or "".
        missed_by_visible: misconceptions that no visible check catches, each with the author's reason, or "".
        unused_reasons: misconceptions for which the author gives a reason although a visible check catches them.
        claims: the sentences of each misconception's message that contain a number its answers do not show.
        survivors: mutants that no check kills.
        seen_by_hidden_only: mutants that only hidden checks kill.
        equivalent: mutants that are correct, each with the reason.
        kills: the number of wrong solutions and mutants that each check kills. Slow checks are tried only on the mutants
            that no other visible check kills.
        checks_without_kills: checks that kill nothing, except purity checks, which few mutants fail.
        flaky: checks that reject a correct solution when the inputs are drawn again, each with the solution that it rejects.
        hardcoded: the largest share of the points that a function earns by returning one visible answer from every call.
        kinds: the allowed and the covered input categories.
        fault_coverage: the number of fault programs, and the programs that keep full marks.
        places: the results of fault localization, if requested.
        hints: the number of hints.
        experiments: for each check of random results, the effect that it can detect and the number of results that it needs.
        suggestions: suggested misconceptions, complete except for their messages, if requested.
    """

    name: str
    points: float
    stub_earns_nothing: bool
    reference_ok: bool
    alternatives: int
    misconceptions: int
    mutants: int
    answers: bool = False
    rejected: dict[str, str] = field(default_factory=dict)
    uncaught: tuple[str, ...] = ()
    misdiagnosed: dict[str, str] = field(default_factory=dict)
    missed_by_visible: dict[str, str] = field(default_factory=dict)
    unused_reasons: tuple[str, ...] = ()
    claims: dict[str, str] = field(default_factory=dict)
    survivors: tuple[str, ...] = ()
    seen_by_hidden_only: tuple[str, ...] = ()
    equivalent: dict[str, str] = field(default_factory=dict)
    kills: dict[str, int] = field(default_factory=dict)
    checks_without_kills: tuple[str, ...] = ()
    flaky: dict[str, str] = field(default_factory=dict)
    hardcoded: float = 0.0
    kinds: CategoryCoverage = field(default_factory=CategoryCoverage)
    fault_coverage: FaultCoverage = field(default_factory=FaultCoverage)
    places: LocalizationStats | None = None
    hints: int = 0
    experiments: tuple[str, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()

    def _audits(self) -> Sequence[ExerciseAudit]:
        return [self]

    def problems(self, targets: Mapping[str, float] = TARGETS) -> list[str]:
        """Return a message for each fault and for each missed target."""
        return [*self.faults(), *self.missed_targets(targets)]

    def faults(self) -> list[str]:
        """Return a message for each fault that would make marks wrong."""
        messages: list[str] = []
        if not self.stub_earns_nothing:
            messages.append("the blank stub earns points, or is not reported as “not attempted”.")
        if not self.reference_ok:
            messages.append("the reference solution does not earn full marks.")
        messages += [f"the correct solution {n} loses marks: {why}" for n, why in self.rejected.items()]
        messages += [f"the misconception {n} keeps full marks." for n in self.uncaught]
        messages += [f"with other inputs, the check {n} rejects a correct solution: {w}" for n, w in self.flaky.items()]
        return [f"{self.name}: {problem}" for problem in messages]

    def missed_targets(self, targets: Mapping[str, float] = TARGETS) -> list[str]:
        """Return a message for each missed target. Unlike a fault, a missed target does not make marks wrong."""
        messages = [
            f"the misconception {n} is caught, but reported as {o or 'nothing'}." for n, o in self.misdiagnosed.items()
        ]
        messages += [
            f"the message of the misconception {n} claims a number that its results do not show: {s} Use a number from the case that "
            "the student sees, or mark it as an example (“for example”, “would”)."
            for n, s in self.claims.items()
        ]
        messages += [
            f"no visible check detects the misconception {n}: add a visible input that shows it, or say why there can be none "
            f'with hidden_only={{"{n}": "…"}}.'
            for n, why in self.missed_by_visible.items()
            if not why
        ]
        messages += [
            f"hidden_only has a reason for {n}, but a visible check detects it, or no misconception has that name. Remove the reason."
            for n in self.unused_reasons
        ]
        messages += [
            f"no check with points uses inputs of the kind {kind!r}: a function that is wrong only for these "
            "keeps full marks. Add such an input to a check, or exclude the kind in the contract with exclude={…}."
            for kind in self.kinds.missing
        ]
        messages += [
            f"no check with points has a function of this kind as an argument: {gap.partition(': ')[2]}. A solution that is wrong "
            "only for such functions keeps full marks. Add such a function to a check, or exclude it in the contract with exclude={…}."
            for gap in self.fault_coverage.gaps
            if gap.startswith("functions: ")
        ]
        if self.hardcoded > targets["by_heart"]:
            messages.append(
                f"a function that always returns one visible result earns {self.hardcoded:.0%} of the points. Make more "
                "checks depend on a check that this function cannot pass, with after=…."
            )
        return [f"{self.name}: {problem}" for problem in messages]

    def missing_requirements(self, at_least: Mapping[str, int] = AT_LEAST) -> list[str]:
        """Return a message for each requirement of the course that the exercise does not meet."""
        required = [name for name in at_least if not (self.answers and name == "alternatives")]
        return [
            f"{self.name}: it has {pluralize(getattr(self, name), name[:-1])}, but c.Course.at_least requires {at_least[name]}."
            for name in required
            if getattr(self, name) < at_least[name]
        ]


@dataclass(frozen=True)
class ChapterAudit(_Shares):
    """The audit of a chapter, compared with its course's ``targets``.

    Attributes:
        at_least: how many misconceptions, alternatives and hints the course requires of each exercise.
        mistakes: messages about mistakes that the author made outside the checks.
        draft: whether the chapter was released although it misses targets.
    """

    chapter: str
    exercises: tuple[ExerciseAudit, ...]
    seconds: float = 0.0
    targets: Mapping[str, float] = field(default_factory=lambda: dict(TARGETS))
    mistakes: tuple[str, ...] = ()
    draft: bool = False
    at_least: Mapping[str, int] = field(default_factory=lambda: dict(AT_LEAST))

    def _audits(self) -> Sequence[ExerciseAudit]:
        return self.exercises

    @property
    def ok(self) -> bool:
        """Whether every target is met."""
        return not self.problems

    @property
    def places(self) -> LocalizationStats | None:
        """The results of fault localization in the chapter. None if not requested."""
        parts = [e.places for e in self.exercises if e.places is not None]
        return LocalizationStats.total(parts) if parts else None

    @property
    def killed_kind_only(self) -> float:
        """The share of the category mutants that some check kills."""
        total = sum(e.kinds.mutants for e in self.exercises)
        return 1 - sum(len(e.kinds.survivors) for e in self.exercises) / total if total else 1.0

    @property
    def killed_faults(self) -> float:
        """The share of the fault programs that lose marks."""
        total = sum(sum(e.fault_coverage.programs.values()) for e in self.exercises)
        return 1 - sum(len(e.fault_coverage.survivors) for e in self.exercises) / total if total else 1.0

    @property
    def problems(self) -> list[str]:
        """A message for each problem that the author must fix: mistakes, wrong marks and missed targets."""
        return [*self.mistakes, *(p for e in self.exercises for p in e.faults()), *self.missed_targets]

    @property
    def missed_targets(self) -> list[str]:
        """A message for each missed target. A draft may be released with missed targets."""
        hidden, visible = self.targets["hidden"], self.targets["visible"]
        messages = [
            p for e in self.exercises for p in (*e.missed_targets(self.targets), *e.missing_requirements(self.at_least))
        ]
        if self.killed_kind_only < self.targets["kinds"]:
            names = ", ".join(label for e in self.exercises for label in e.kinds.survivors[:3])
            messages.append(
                f"{self.chapter}: all checks together kill {self.killed_kind_only:.1%} of the mutants that are wrong for only one kind of "
                f"input. The target is {self.targets['kinds']:.0%}. Still alive: {names}."
            )
        if self.killed_faults < self.targets["faults"]:
            names = ", ".join(label for e in self.exercises for label in e.fault_coverage.survivors[:3])
            messages.append(
                f"{self.chapter}: {self.killed_faults:.1%} of the programs with a fault for some inputs lose marks. The target is "
                f"{self.targets['faults']:.0%}. Still alive: {names}."
            )
        if self.killed < hidden:
            names = ", ".join(label for e in self.exercises for label in e.survivors[:4])
            messages.append(
                f"{self.chapter}: all checks together kill {self.killed:.1%} of the mutants. The target is {hidden:.0%}. "
                f"Still alive: {names}."
            )
        if self.killed_visibly < visible:
            names = ", ".join(label for e in self.exercises for label in e.seen_by_hidden_only[:3])
            messages.append(
                f"{self.chapter}: the visible checks kill {self.killed_visibly:.1%} of the mutants. The target is {visible:.0%}. "
                f"Only hidden checks detect: {names}. Add a visible input that shows them."
            )
        if self.misconceptions_visible < self.targets["misconceptions_visible"]:
            names = ", ".join(f"{e.name}.{name}" for e in self.exercises for name in e.missed_by_visible)
            messages.append(
                f"{self.chapter}: the visible checks detect {self.misconceptions_visible:.1%} of the misconceptions. The target is "
                f"{self.targets['misconceptions_visible']:.0%}. Only hidden checks detect: {names}."
            )
        return messages

    def to_json(self) -> dict[str, Json]:
        """Return the audit as JSON data: the fields, the shares and the problems."""
        return {
            "chapter": self.chapter,
            "ok": self.ok,
            **self.rounded_shares(),
            "killed_kind_only": round(self.killed_kind_only, 4),
            "killed_faults": round(self.killed_faults, 4),
            "problems": self.problems,
            "kinds": {
                key: [f"{e.name}: {kind}" for e in self.exercises for kind in getattr(e.kinds, name)]
                for key, name in _KINDS.items()
            },
            "mistakes": list(self.mistakes),
            "exercises": [_exercise(e) for e in self.exercises],
            **({"places": self.places.to_json()} if self.places is not None else {}),
            "seconds": round(self.seconds, 2),
        }

    def __str__(self) -> str:
        heads = (
            "exercise, alternatives, misconceptions, misconceptions by visible, mutants, killed, by visible, survivors"
        )
        heads += ", hard-coded, kinds of input"
        rows = [heads.split(", "), *map(_row, self.exercises)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [f"{self.chapter}   {'meets every target' if self.ok else 'falls short'}   ({self.seconds:.1f} s)"]
        lines += ["  " + "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
        lines += [f"  kinds of input, used of allowed: {e.name}: {e.kinds}" for e in self.exercises if e.kinds.allowed]
        lines += [f"  random results: {e.name}: {text}" for e in self.exercises for text in e.experiments]
        for group in dict.fromkeys(group for e in self.exercises for group in e.fault_coverage.programs):
            alive = [f"{label} ({e.name})" for e in self.exercises for label in e.fault_coverage.of_class(group)]
            total = sum(e.fault_coverage.programs.get(group, 0) for e in self.exercises)
            lines.append(
                f"  faults, {group}: {total - len(alive)} of {total}"
                + ": ".join(["", ", ".join(alive)] if alive else [])
            )
        if self.places is not None:
            lines += [f"  lines found: {e.name}: {e.places}" for e in self.exercises if e.places is not None]
            lines += [f"  lines found: {self.chapter}: {self.places}"]
            lines += [f"  the wrong line was reported: {label}" for label in self.places.incorrect]
        for e in self.exercises:
            lines += [f"  alive: {label}" for label in (*e.survivors, *e.kinds.survivors)]
            lines += [f"  kills nothing: {e.name}.{check}" for check in e.checks_without_kills]
            lines += [f"  equivalent: {label}: {why}" for label, why in e.equivalent.items()]
            lines += [
                f"  hidden only: {e.name}.{name}: {why or 'no reason given'}"
                for name, why in e.missed_by_visible.items()
            ]
        lines += [f"  ! {problem}" for problem in self.problems]
        bare = [e.name for e in self.exercises if not e.answers and (e.survivors or not e.misconceptions)]
        if bare and not any(e.suggestions for e in self.exercises):
            lines.append(
                f"  `autograder audit {self.chapter} --suggest` prints misconceptions to paste. Start with {join_words(bare)}."
            )
        return "\n".join(lines)


def _exercise(audit: ExerciseAudit) -> dict[str, Json]:
    """Return the audit of one exercise as JSON data. The keys ``places`` and ``suggestions`` are present only if requested."""
    data = {_JSON_KEYS.get(name, name): value for name, value in asdict(audit).items()}
    whole = {**data, **audit.rounded_shares(), "kinds": audit.kinds.to_json()}
    del whole["places"]
    if not audit.suggestions:
        del whole["suggestions"]
    return whole if audit.places is None else {**whole, "places": audit.places.to_json()}


def _row(e: ExerciseAudit) -> list[str]:
    caught = e.misconceptions - len(e.uncaught)
    return [
        e.name,
        f"{e.alternatives - len(e.rejected)}/{e.alternatives} accepted",
        f"{caught}/{e.misconceptions} caught, {caught - len(e.misdiagnosed)} named",
        "–" if e.answers else f"{e.misconceptions - len(e.missed_by_visible)}/{e.misconceptions}",
        f"{e.mutants}" + (f" (+{len(e.equivalent)} equivalent)" if e.equivalent else ""),
        f"{e.killed:.1%}" if e.mutants else "–",
        f"{e.killed_visibly:.1%}" if e.mutants else "–",
        str(len(e.survivors)),
        "–" if e.answers else f"{e.hardcoded:.0%}",
        f"{len(e.kinds.covered)}/{len(e.kinds.allowed)}" if e.kinds.allowed else "–",
    ]

"""What each misconception of an exercise answers, and what two of them answer together: the candidates of a diagnosis."""

from __future__ import annotations

import ast
import inspect
import io
import textwrap
import tokenize
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from itertools import combinations
from typing import Any

from autograder.checking.predicates import same_choice
from autograder.judging.diagnosis import Candidate, Diagnosis, distinguishing_calls, same_answer
from autograder.judging.functions import FunctionSession
from autograder.misconception import Misconception
from autograder.sandbox.protocol import Answer, Call

__all__ = ["ANSWER_SECONDS", "diagnosis_of", "misconception_pairs", "wrong_answers"]


_Edit = tuple[int, int, list[str]]
_LAYOUT = {
    tokenize.INDENT: "<indent>",
    tokenize.DEDENT: "<dedent>",
    tokenize.NEWLINE: "<newline>",
    tokenize.NL: "<newline>",
}


def misconception_pairs(
    reference: Callable[..., Any], misconceptions: Sequence[Misconception]
) -> Iterator[tuple[Misconception, Misconception, Callable[..., Any]]]:
    """Every pair of misconceptions whose edits can be made together, with the function that makes both."""
    base = _tokens(reference)
    if base is None:
        return
    edits = [(m, _edits(base, _tokens(m.function) or base)) for m in misconceptions]
    for (first, ours), (second, theirs) in combinations([(m, found) for m, found in edits if found], 2):
        merged = _merged(base, ours, theirs)
        function = _compiled(merged, reference, first.function, second.function) if merged is not None else None
        if function is not None:
            yield first, second, function


def _tokens(function: Callable[..., Any]) -> list[str] | None:
    """The function's source as tokens, in one canonical layout, without its name, decorators and docstring."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return None
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef):
        return None
    definition.decorator_list, definition.name, definition.returns = [], "composed", None
    for argument in definition.args.args:
        argument.annotation = None
    if ast.get_docstring(definition) is not None:
        definition.body = definition.body[1:] or [ast.Pass()]
    source = ast.unparse(definition)
    tokens = tokenize.generate_tokens(io.StringIO(source + "\n").readline)
    return [word for token in tokens if (word := _LAYOUT.get(token.type, token.string))]


def _edits(base: list[str], other: list[str]) -> list[_Edit]:
    matcher = SequenceMatcher(None, base, other, autojunk=False)
    return [(i, j, other[k:n]) for tag, i, j, k, n in matcher.get_opcodes() if tag != "equal"]


def _merged(base: list[str], ours: list[_Edit], theirs: list[_Edit]) -> list[str] | None:
    """Both sets of edits made to ``base``; ``None`` where they touch the same place and neither takes the other one in."""
    left, right = _left_of(base, ours, theirs), _left_of(base, theirs, ours)
    if not left or not right or any(_collide(one, other) for one in left for other in right):
        return None
    merged = list(base)
    # What is put in stands behind what is rewritten before it, and in front of what is rewritten after it.
    for i, j, words in sorted([*left, *right], key=lambda edit: edit[:2], reverse=True):
        merged[i:j] = words
    return merged


def _left_of(base: list[str], edits: list[_Edit], others: list[_Edit]) -> list[_Edit]:
    """Those of ``edits`` that ``others`` do not take away together with what they edit; none where a mistake would lose a part.

    One that is made in two places, as an axis that is ignored in a maximum and in a sum, is the same mistake in one of them.
    """
    left = [edit for edit in edits if not any(_holds(other, edit) for other in others)]
    changes = [(base[i:j], words) for i, j, words in left]
    return left if all(edit in left or (base[edit[0] : edit[1]], edit[2]) in changes for edit in edits) else []


def _holds(large: _Edit, small: _Edit) -> bool:
    """Whether ``small`` lies inside what ``large`` rewrites, not beside it."""
    if small[0] == small[1]:
        return large[0] < small[0] < large[1]
    return large[0] <= small[0] and small[1] <= large[1] and large[:2] != small[:2]


def _collide(one: _Edit, other: _Edit) -> bool:
    """Whether two edits touch the same tokens; to put something in beside what is rewritten touches none."""
    if one[:2] == other[:2]:
        return True
    return one[0] < other[1] and other[0] < one[1]


def _compiled(words: list[str], *functions: Callable[..., Any]) -> Callable[..., Any] | None:
    lines: list[str] = []
    line: list[str] = []
    depth = 0
    for word in words:
        if word == "<newline>":
            lines.append("    " * depth + " ".join(line))
            line = []
        elif word == "<indent>":
            depth += 1
        elif word == "<dedent>":
            depth -= 1
        else:
            line.append(word)
    namespace: dict[str, Any] = {}
    for function in reversed(functions):
        namespace.update(getattr(function, "__globals__", {}))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what two edits together may make, on somebody's terminal
            exec(compile("\n".join([*lines, " ".join(line)]), "<two mistakes>", "exec"), namespace)  # noqa: S102 - the course's own code
    except (SyntaxError, ValueError):
        return None
    return namespace.get("composed")


# Each message speaks of a function that makes its mistake alone; what this student's function gives is made by both.
TWO_AT_ONCE = "Two things at once. Each is told as it looks where it is the only one: your own numbers and shapes come of both together."
ANSWER_SECONDS = 2.0  # of the processor, for one call of a misconception, which the course's author wrote


def diagnosis_of(
    exercise: str,
    references: Mapping[str, Callable[..., Any]],
    misconceptions: Sequence[Misconception],
    plan: Sequence[Call],
    *,
    pairs: bool = True,
) -> Diagnosis:
    """The diagnosis of ``exercise`` by ``misconceptions``, on those calls of ``plan`` that tell solutions apart.

    With ``pairs``, two mistakes made at once are known as well.
    """
    distinguishing = distinguishing_calls(exercise, plan)
    calls = [call for call in distinguishing if call.memory_mb is None]
    limited = [call for call in distinguishing if call.memory_mb is not None]
    right = FunctionSession(references).batch(calls)

    def session_of(function: Callable[..., Any]) -> FunctionSession:
        return FunctionSession({**references, exercise: function}, call_seconds=ANSWER_SECONDS, of_processor=True)

    def candidate(name: str, message: str, answers: Sequence[Answer]) -> Candidate:
        asked = enumerate(zip(answers, right, calls, strict=True))
        return Candidate(name, message, answers, tuple(i for i, (a, r, c) in asked if not same_answer(a, r, c)))

    singles = {m.name: candidate(m.name, m.message, session_of(m.function).batch(calls)) for m in misconceptions}

    @cache
    def too_large() -> list[Candidate]:
        same = [m for m in misconceptions if not singles[m.name].differs] if limited else []
        return [Candidate(m.name, m.message, session_of(m.function).batch(limited), ()) for m in same]

    @cache
    def composed() -> list[tuple[Misconception, Misconception, _Asked]]:
        """The compositions of two misconceptions, made when first needed."""
        if not pairs or any(call.probe for call in calls):
            return []  # hundreds of pairs, and each would draw its pictures: one mistake at a time is named
        shown = [m for m in misconceptions if singles[m.name].differs]
        made = misconception_pairs(references[exercise], shown)
        return [(first, second, _Asked(session_of(function), calls)) for first, second, function in made]

    def two_at_once(given: Sequence[Answer | None]) -> list[Candidate]:
        """The compositions that answer as was ``given``, and otherwise than either of their two."""
        found = []
        for first, second, asked in composed():
            if not asked.answers_as(given):
                continue
            message = f"{TWO_AT_ONCE}\n1. {first.message}\n2. {second.message}"
            both = candidate(f"{first.name}+{second.name}", message, asked.answers())
            own = (singles[first.name], singles[second.name])
            same = any(all(map(same_answer, both.answers, one.answers, calls)) for one in own)  # type: ignore[arg-type]
            # Where one of the two shows and both together do not, its message would tell of what cannot be seen.
            cancels = {i for one in own for i in one.differs}.difference(both.differs)
            if both.differs and not same and not cancels:
                found.append(both)
        return found

    return Diagnosis(calls, right, [*singles.values()], limited=limited, too_large=too_large, pairs=two_at_once)


class _Asked:
    """What one function answers to ``calls``: asked in their order, and only as far as somebody wants to know."""

    def __init__(self, session: FunctionSession, calls: Sequence[Call]) -> None:
        self._session, self._calls = session, calls
        self._known: list[Answer] = []

    def _answer(self, place: int) -> Answer:
        while len(self._known) <= place:
            self._known.append(self._session.call(self._calls[len(self._known)]))
        return self._known[place]

    def answers_as(self, given: Sequence[Answer | None]) -> bool:
        """Whether each answer is the one that was given; most functions are known not to by one of their first."""
        return all(
            answer is not None and same_answer(answer, self._answer(place), call)
            for place, (answer, call) in enumerate(zip(given, self._calls, strict=True))
        )

    def answers(self) -> list[Answer]:
        """All of them."""
        return [self._answer(place) for place in range(len(self._calls))]


def wrong_answers(
    misconceptions: Sequence[Misconception], answers: Mapping[str, Any]
) -> list[tuple[str, Misconception]]:
    """The wrong choices among a student's variables that a misconception knows, as ``(variable, misconception)``."""
    found: list[tuple[str, Misconception]] = []
    for misconception in misconceptions:
        wrong = misconception.function()
        if all(name in answers and same_choice(answers[name], value) for name, value in wrong.items()):
            found += [(name, misconception) for name in wrong]
    return found

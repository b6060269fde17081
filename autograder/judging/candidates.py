"""Compute the candidates of a diagnosis: the answers of each misconception, and of two misconceptions combined."""

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

from autograder.base.foreign import Value
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
    """Yield every pair of misconceptions whose edits can be combined, with the function that makes both mistakes."""
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
    """Return the function's source as tokens in a canonical layout, without its name, decorators and docstring."""
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
    """Apply both sets of edits to ``base``. None if edits touch the same place and neither contains the other."""
    left, right = _remaining(base, ours, theirs), _remaining(base, theirs, ours)
    if not left or not right or any(_overlap(one, other) for one in left for other in right):
        return None
    merged = list(base)
    # An insertion goes after a rewrite that ends at its position, and before a rewrite that starts there.
    for i, j, words in sorted([*left, *right], key=lambda edit: edit[:2], reverse=True):
        merged[i:j] = words
    return merged


def _remaining(base: list[str], edits: list[_Edit], others: list[_Edit]) -> list[_Edit]:
    """Return the ``edits`` that do not fall inside any of ``others``.

    The result is empty if a mistake would lose a part. A mistake made in two places, such as an axis that is ignored
    in a maximum and in a sum, does not lose a part if the same edit remains in the other place.
    """
    left = [edit for edit in edits if not any(_contains(other, edit) for other in others)]
    changes = [(base[i:j], words) for i, j, words in left]
    return left if all(edit in left or (base[edit[0] : edit[1]], edit[2]) in changes for edit in edits) else []


def _contains(large: _Edit, small: _Edit) -> bool:
    """Return whether ``small`` lies inside the text that ``large`` rewrites, not next to it."""
    if small[0] == small[1]:
        return large[0] < small[0] < large[1]
    return large[0] <= small[0] and small[1] <= large[1] and large[:2] != small[:2]


def _overlap(one: _Edit, other: _Edit) -> bool:
    """Return whether two edits touch the same tokens. An insertion next to a rewritten part touches none."""
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
    namespace: dict[str, Value] = {}
    for function in reversed(functions):
        namespace.update(getattr(function, "__globals__", {}))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # two combined edits may cause warnings
            exec(compile("\n".join([*lines, " ".join(line)]), "<two mistakes>", "exec"), namespace)  # noqa: S102 - the course's own code
    except (SyntaxError, ValueError):
        return None
    return namespace.get("composed")


# Each message describes a function with one mistake, but this student's answers come from both mistakes.
TWO_AT_ONCE = (
    "Your code has two mistakes. Each message describes one of them on its own, so your numbers and shapes may differ."
)
ANSWER_SECONDS = 2.0  # processor time for one call of a misconception


def diagnosis_of(
    exercise: str,
    references: Mapping[str, Callable[..., Any]],
    misconceptions: Sequence[Misconception],
    plan: Sequence[Call],
    *,
    pairs: bool = True,
) -> Diagnosis:
    """Return the diagnosis of ``exercise``, based on the calls of ``plan`` that distinguish solutions.

    With ``pairs``, the diagnosis also recognizes two mistakes made together.
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
    def composed() -> list[tuple[Misconception, Misconception, _LazyAnswers]]:
        """Combine every two misconceptions. The work is done when the pairs are first needed."""
        if not pairs or any(call.probe for call in calls):
            return []  # there are hundreds of pairs, and drawing the figures of each takes too long
        shown = [m for m in misconceptions if singles[m.name].differs]
        made = misconception_pairs(references[exercise], shown)
        return [(first, second, _LazyAnswers(session_of(function), calls)) for first, second, function in made]

    def two_at_once(given: Sequence[Answer | None]) -> list[Candidate]:
        """Return the pairs whose answers equal the ``given`` ones and differ from those of each mistake alone."""
        found = []
        for first, second, lazy in composed():
            if not lazy.agree_with(given):
                continue
            message = f"{TWO_AT_ONCE}\n1. {first.message}\n2. {second.message}"
            both = candidate(f"{first.name}+{second.name}", message, lazy.answers())
            own = (singles[first.name], singles[second.name])
            same = any(all(map(same_answer, both.answers, one.answers, calls)) for one in own)  # type: ignore[arg-type]
            # If one mistake hides the other one, a message would describe something that cannot be seen.
            cancels = {i for one in own for i in one.differs}.difference(both.differs)
            if both.differs and not same and not cancels:
                found.append(both)
        return found

    return Diagnosis(calls, right, [*singles.values()], limited=limited, too_large=too_large, pairs=two_at_once)


class _LazyAnswers:
    """The answers of one function to ``calls``, computed in order and only as far as needed."""

    def __init__(self, session: FunctionSession, calls: Sequence[Call]) -> None:
        self._session, self._calls = session, calls
        self._known: list[Answer] = []

    def _answer(self, place: int) -> Answer:
        while len(self._known) <= place:
            self._known.append(self._session.call(self._calls[len(self._known)]))
        return self._known[place]

    def agree_with(self, given: Sequence[Answer | None]) -> bool:
        """Return whether all answers equal the given ones. Most functions differ in one of the first answers."""
        return all(
            answer is not None and same_answer(answer, self._answer(place), call)
            for place, (answer, call) in enumerate(zip(given, self._calls, strict=True))
        )

    def answers(self) -> list[Answer]:
        """Return all answers."""
        return [self._answer(place) for place in range(len(self._calls))]


def wrong_answers(
    misconceptions: Sequence[Misconception], answers: Mapping[str, Value]
) -> list[tuple[str, Misconception]]:
    """Return a student's wrong choices that are known misconceptions, as pairs of variable and misconception."""
    found: list[tuple[str, Misconception]] = []
    for misconception in misconceptions:
        wrong = misconception.function()
        if all(name in answers and same_choice(answers[name], value) for name, value in wrong.items()):
            found += [(name, misconception) for name in wrong]
    return found

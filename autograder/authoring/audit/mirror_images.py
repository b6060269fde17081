"""Mirror images of misconceptions: the same mistake with queries and keys, first and last, or rows and columns exchanged.

The message of a misconception is false for students who made the mirror-image mistake. So some call has to distinguish the
two mistakes.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from autograder.authoring.audit.exercise import vary_calls
from autograder.authoring.audit.mutants import Mutant, compiled, mutants_of
from autograder.judging.candidates import ANSWER_SECONDS
from autograder.judging.diagnosis import Candidate, same_answer
from autograder.judging.functions import FunctionSession
from autograder.judging.loader import ChapterChecks
from autograder.mistakes.edits.operators import Scope
from autograder.sandbox.protocol import Call
from autograder.values import call_key

__all__ = ["mirror_images", "unseparated"]

_MOST = 60  # the maximum number of hidden calls to compare, and of calls to vary
_ROLES = (("Q", "K"), ("q", "k"), ("queries", "keys"), ("n_q", "n_k"), ("W_Q", "W_K"))
_AXES = {"-1": "-2", "-2": "-1", "0": "1", "1": "0"}
_ALONG_AN_AXIS = frozenset(
    ("sum", "mean", "max", "min", "argmax", "argmin", "var", "std", "prod", "all", "any", "softmax", "cumsum")
)
_OFFSETS = {"1": "-1", "-1": "1"}
_ENDS = {"0": ("-1",), "-1": ("0",), ":1": (":-1", "-1:"), "-1:": (":1", "1:"), "1:": (":-1",), ":-1": ("1:", ":1")}


def unseparated(checks: ChapterChecks, exercise: str) -> list[str]:
    """Return a message for each of an exercise's misconceptions that no call distinguishes from one of its mirror images.

    If any visible call shows the misconception, a visible call must distinguish the two, because ``check()`` makes no hidden calls.
    If the two also agree on variants of the calls, they count as the same function.
    """
    diagnosis, messages = checks.diagnosis(exercise), []
    functions = {m.name: m.function for m in checks.misconceptions[exercise]}
    planned = {call_key(call) for call in checks.visible_part().plan(exercise)}
    visible = [i for i, call in enumerate(diagnosis.calls) if call_key(call) in planned]
    hidden = [i for i in range(len(diagnosis.calls)) if i not in set(visible)][:_MOST]

    @cache
    def varied() -> list[Call]:
        calls = [call for call in vary_calls(diagnosis.calls[:_MOST], 0) if not call.probe]
        session = FunctionSession(checks.references, call_seconds=ANSWER_SECONDS)
        return [c for c in calls if session.alive and (a := session.call(c)).error is None and not a.stopped]

    for known in diagnosis.candidates:
        for image in mirror_images(functions[known.name], known.name):
            own, other = (
                FunctionSession({**checks.references, exercise: function}, call_seconds=ANSWER_SECONDS)
                for function in (functions[known.name], image.function)
            )

            def agree(places: Sequence[int], known: Candidate = known, other: FunctionSession = other) -> bool:
                asked = ((known.answers[i], diagnosis.calls[i]) for i in places)
                return all(answer is not None and same_answer(answer, other.call(call), call) for answer, call in asked)

            if not agree(visible):
                continue
            which = ""
            if not agree(hidden):
                which = "visible call" if {*known.differs} & {*visible} else ""
            elif not all(same_answer(own.call(call), other.call(call), call) for call in varied()):
                which = "call"
            if which:
                messages.append(
                    f"{exercise}: no {which} distinguishes the misconception {known.name} from its mirror image "
                    f"({image.label.partition(': ')[2]}). Its message may be false for the mirror image. Add an input on which the "
                    "two differ, or write a message that fits both."
                )
                break
    return messages


def mirror_images(function: Callable[..., Any], name: str) -> Iterator[Mutant]:
    """Yield each mirror image of ``function``, with a label that begins with ``name``."""
    yield from mutants_of(function, name, _mirrored)
    for one, other in _ROLES if not isinstance(function, type) else ():
        [definition] = ast.parse(textwrap.dedent(inspect.getsource(function))).body
        assert isinstance(definition, ast.FunctionDef)  # noqa: S101 - for mypy
        definition.decorator_list, swapped = [], {one: other, other: one}
        names = [n for line in definition.body for n in ast.walk(line) if isinstance(n, ast.Name) and n.id in swapped]
        for node in names:
            node.id = swapped[node.id]
        image = compiled(ast.unparse(definition), definition.name, function.__globals__) if names else None
        if image is not None:
            yield Mutant(f"{name}: {one} and {other} swapped", image)


def _mirrored(node: ast.AST, _scope: Scope) -> Iterator[tuple[str, ast.AST]]:
    """Yield a label and a replacement of ``node`` that has the opposite index, slice end, reduction axis or offset."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        if ast.unparse(getattr(node.value, "func", node.value)).endswith("shape"):
            return
        for other in _ENDS.get(ast.unparse(node.slice), ()):
            changed = _parsed(f"x[{other}]")
            assert isinstance(changed, ast.Subscript)  # noqa: S101 - for mypy
            changed.value = node.value
            yield _replaced(node, ast.unparse(changed))
    elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in _ALONG_AN_AXIS:
        yield from _with_other_keyword(node, "axis", _AXES)
    elif isinstance(node, ast.Call):
        yield from _with_other_keyword(node, "k", _OFFSETS)
    elif isinstance(node, ast.Compare):
        right = ast.unparse(node.comparators[0])
        for sign, other in ((" + 1", " - 1"), (" - 1", " + 1")):
            if right.endswith(sign):
                yield _replaced(node, ast.unparse(node).removesuffix(sign) + other)


def _with_other_keyword(node: ast.Call, name: str, opposites: Mapping[str, str]) -> Iterator[tuple[str, ast.AST]]:
    for place, given in enumerate(node.keywords):
        if given.arg == name and (other := opposites.get(ast.unparse(given.value))):
            keywords = [*node.keywords[:place], ast.keyword(name, _parsed(other)), *node.keywords[place + 1 :]]
            yield _replaced(node, ast.unparse(ast.Call(node.func, node.args, keywords)))


def _replaced(node: ast.AST, text: str) -> tuple[str, ast.AST]:
    return f"`{ast.unparse(node)}` → `{text}`", _parsed(text)


def _parsed(text: str) -> ast.expr:
    return ast.parse(f"({text})", mode="eval").body

"""Two mistakes at once: what a function does that differs from the reference in both of two known ways.

A misconception differs from the reference by one edit. Where the edits of two of them touch different tokens, both can
be made to one copy of the reference; the result is compiled and asked what it answers, like any other misconception.
"""

from __future__ import annotations

import ast
import inspect
import io
import textwrap
import tokenize
import warnings
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import combinations
from typing import Any

from autograder.misconception import Misconception

__all__ = ["compositions"]

_Edit = tuple[int, int, list[str]]
_LAYOUT = {
    tokenize.INDENT: "<indent>",
    tokenize.DEDENT: "<dedent>",
    tokenize.NEWLINE: "<newline>",
    tokenize.NL: "<newline>",
}


def compositions(
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

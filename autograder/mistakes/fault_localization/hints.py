"""A hint about a student's own code, found in the notebook itself by the examples: proven by no more than is tried there.

NumPy and the standard library only; this also runs in a browser, under Pyodide. No cell is run again, and a function that
does anything but compute is not tried.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import textwrap
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from autograder.base.attempt import parsed
from autograder.base.edit_kinds import kind_of
from autograder.base.formatting import join_words
from autograder.judging.judge import Judge
from autograder.judging.scoring import Checks
from autograder.mistakes.edits.generator import Definition
from autograder.mistakes.fault_localization.checks import ChecksInTurn
from autograder.mistakes.fault_localization.functions import located_among
from autograder.mistakes.fault_localization.harmless import is_harmless
from autograder.mistakes.fault_localization.program import MAX_LINES, Program
from autograder.mistakes.fault_localization.search import Deadline, Located

__all__ = ["PersonalHint", "personal_hint"]

SECONDS = 0.75  # after which no further variant is begun: with the last one it is less than a second
_COLLECTING = 0.25  # of these seconds, the part after which no more edits are collected
_CALL_SECONDS = 0.2


class PersonalHint(NamedTuple):
    """Which line of the student's own code to look at, as a sentence, and the kind of the edit that proves it."""

    text: str
    kind: str
    code: str

    def is_in(self, written: Iterable[str]) -> bool:
        """Whether one of the ``written`` hints fits: it speaks of what this one is about.

        Which of them does is known by the words of the kind (``edits.kinds``): for a wrong axis, one that says "axis" or
        "along". No written hint can fit a kind without words of its own, such as another variable or another number.
        """
        return any(kind_of(self.kind).is_mentioned_in(hint) for hint in written)


def personal_hint(exercise: str, function: Any, names: Mapping[str, Any], checks: Checks) -> PersonalHint | None:
    """Which line of the student's own code to look at; None where no small edit makes the ``checks`` hold, or nothing is wrong."""
    deadline = Deadline(SECONDS)
    program = _program(exercise, function, names)
    if program is None or not is_harmless(program.definitions, names):
        return None
    begun = time.monotonic()
    program = replace(program, enough=lambda: time.monotonic() - begun > _COLLECTING)
    in_turn = ChecksInTurn(exercise, checks.specs[exercise].checks, checks.converse, checks.run_check)
    here = {**names, exercise: function}
    with _unseen():
        found = located_among(here, program, in_turn, Judge(checks), deadline, proof_seconds=_CALL_SECONDS)
    if found is None:
        return None
    code = "".join(definition.text for definition in program.definitions)
    return PersonalHint(_sentence(found, exercise), found.kind, code)


def _program(exercise: str, function: Any, names: Mapping[str, Any]) -> Program | None:
    """The function and the helpers that it calls, all of this notebook's, as their cells wrote them."""
    own = _definition(exercise, function)
    if own is None or own.name != exercise:
        return None
    found = [own]
    for definition in found:
        for used in sorted(definition.uses):
            helper = names.get(used)
            if used != exercise and isinstance(helper, FunctionType) and helper.__globals__ is function.__globals__:
                text = _definition(used, helper)
                if text is None or text.name != used:
                    return None  # what is called cannot be read
                if text not in found:
                    found.append(text)
    if sum(definition.text.count("\n") for definition in found) > MAX_LINES:
        return None
    return Program(exercise, tuple(found), tuple(d.name for d in found[1:]))


def _definition(name: str, function: Any) -> Definition | None:
    if not isinstance(function, FunctionType):
        return None
    try:
        text = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError, IndentationError, SyntaxError):
        return None
    tree = parsed(text)
    if tree is None or len(tree.body) != 1:
        return None
    made = Definition.of(tree.body[0], text, name)
    if made is None:
        return None
    return Definition(made.name, made.text, function.__code__.co_firstlineno, name, made.uses)


@contextmanager
def _unseen() -> Iterator[None]:
    """Let nobody see what is printed meanwhile, and leave the notebook's random numbers as they were."""
    before = np.random.get_state()  # noqa: NPY002 - it is the old generator that code shares
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        np.random.set_state(before)  # noqa: NPY002


def _sentence(found: Located, exercise: str) -> str:
    cells = list(dict.fromkeys(cell for cell, _ in found.places))
    cell = cells[0]
    lines = [f"line {line}" for name, line in found.places if name == cell]
    where = (join_words(lines) if found.edits > 1 else " or ".join(lines)) + (
        f" of the cell that defines `{cell}`" if cell != exercise else ""
    )
    if found.edits > 1:
        change = f"{'two' if found.edits == 2 else 'several'} small changes there"
    elif len(found.places) > 1:
        change = "a small change in either"
    else:
        change = f"{kind_of(found.kind).another} there"
    return f"Look at {where}: with {change}, everything that is tried here would hold."

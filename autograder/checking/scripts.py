"""A script as lines of Python that a student can paste, and what its steps are held to.

NumPy and the standard library only: a student's own machine runs this too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autograder.checking.arrays import MAX_ITEMS, paste, show
from autograder.checking.compare import Finding, wrong_type
from autograder.sandbox.protocol import Call, Opaque, Source
from autograder.sandbox.script import Step, steps_of
from autograder.sanitize import sanitize

__all__ = ["asked_for", "gives_an_object", "last_step", "of_a_step", "raises_an_error", "spelled_script"]

MAX_INLINE = 60  # characters of an argument that stands in its call
MAX_SAID = 500  # characters of an error's own text
MAX_LINES = 30  # of a script that is written out whole
_NAMES = {"list": "items", "dict": "table", "set": "members", "ndarray": "x", "tuple": "items", "str": "text"}
_PATTERNS = {
    "in": "{1} in {0}", "[]": "{0}[{1}]", "[]=": "{0}[{1}] = {2}", "del[]": "del {0}[{1}]", "with": "{0}.__enter__()",
    "leave": "{0}.__exit__(None, None, None)", "-x": "-{0}", "+x": "+{0}", "~x": "~{0}",
}  # fmt: skip


def spelled_script(call: Call) -> tuple[str, dict[str, Any]]:
    """The last step as text, and what comes before it: large inputs by name, and then, without a name, the lines."""
    writer = _Writer(steps_of(call))
    *before, last = writer.lines()
    if len(before) > MAX_LINES:
        left_out = len(before) - MAX_LINES
        before = [*before[: MAX_LINES // 2], f"# … {left_out} lines more …", *before[-(MAX_LINES // 2) :]]
    lines = {"": Source("\n".join(before), "")} if before else {}
    return last, {**writer.inputs, **lines}


def asked_for(call: Call) -> str:
    """What the last step asks for, as the subject of a sentence: ``Stack.pop``, ``Stack``, ``len(stack)``."""
    step, owner = last_step(call)
    if step.do in ("make", "give"):
        return step.name
    return f"{owner}.{step.name}" if step.do in ("call", "get", "set") else spelled_script(call)[0]


def last_step(call: Call) -> tuple[Step, str]:
    """The last step of a script, and the class of the object that it is about."""
    steps = steps_of(call)
    step = steps[-1]
    on = step.on if step.on is not None else next((held for kind, held in step.args if kind == "o"), None)
    while on is not None and steps[on].do not in ("make", "give"):
        on = steps[on].on
    made = on is not None and steps[on].do == "make"
    return step, steps[on].name if made and on is not None else call.function


def gives_an_object(actual: Any, *, type: str) -> Finding | None:  # noqa: A002 - as it is recorded
    """Whether ``actual`` is an object of the class called ``type``."""
    if actual is None:
        return Finding(f"It is None, where an object of {type} is right.", "none")
    if isinstance(actual, Opaque) and actual.type == type:
        return None
    return wrong_type(actual, f"an object of {type}")


def raises_an_error(actual: Any, *, error: str) -> Finding | None:
    """Whether a step ended with this error, or one that is a kind of it: ``actual`` says how it ended."""
    how = actual if isinstance(actual, dict) else {}
    raised = how.get("raised")
    if not isinstance(raised, list) or not raised or not all(isinstance(name, str) for name in raised):
        return Finding(f"Here {_a(error)} should be raised; instead it gave {show(how.get('gave'))}.", "values")
    if error in raised:
        return None
    said = how.get("text")
    text = f" ({sanitize(said, MAX_SAID)})" if isinstance(said, str) and said else ""
    return Finding(
        f"Here {_a(error)} should be raised; instead {_a(sanitize(raised[0], MAX_INLINE))} was{text}.", "values"
    )


def of_a_step(finding: Finding, expected: Any, call: str) -> Finding:
    """``finding``, where it says that a step gave None: with what is right, and of a `return` only where one may be missing."""
    if finding.kind != "none" or expected is None:
        return finding
    reason = finding.reason if call.endswith(")") else "It is None."
    return replace(finding, reason=reason, expected=expected, has_expected=True)


def _a(noun: str) -> str:
    return f"{'an' if noun[:1] in 'AEIOU' else 'a'} {noun}"


class _Writer:
    """Writes steps as lines, and gives names to the objects and to the inputs that need one."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = steps
        self.inputs: dict[str, Any] = {}
        self._changed = {(step.on, step.name) for step in steps if step.do == "change"}
        self._named_inputs: dict[tuple[int, str], str] = {}
        self._taken: Counter[str] = Counter()
        self._objects = self._names()

    def lines(self) -> list[str]:
        written: list[str] = []
        for place, step in enumerate(self.steps):
            before, text = self._line(place, step)
            is_last = place == len(self.steps) - 1
            if place in self._objects and (not is_last or step.do == "make"):
                text = f"{self._objects[place]} = {text}"
            if step.raises and not is_last:
                text = f"try:\n    {text}\nexcept {step.raises}:\n    pass"
            written += [*before, text]
        return written

    def _names(self) -> dict[int, str]:
        used = {step.on for step in self.steps if step.on is not None and step.do != "change"}
        used |= {held for step in self.steps for part in (*step.args, *step.kwargs.values()) for held in _held(part)}
        used |= {place for place, step in enumerate(self.steps) if step.do == "make"}
        used |= {step.on for step in self.steps if step.do == "change" and step.name == "=" and step.on is not None}
        words = {place: _snake(self._class_of(place)) for place in sorted(used)}
        many = Counter(words.values())
        found: dict[int, str] = {}
        seen: Counter[str] = Counter()
        for place, word in words.items():
            seen[word] += 1
            number = seen[word]
            plain = many[word] == 1 or (many[word] == 2 and number == 1)
            found[place] = word if plain else "other" if many[word] == 2 else f"{word}_{number}"
        self._taken.update(found.values())
        return found

    def _class_of(self, place: int) -> str:
        step = self.steps[place]
        if step.do == "make":
            return step.name
        if step.do == "call" and not step.name.startswith("_"):
            return step.name
        return "result"

    def _line(self, place: int, step: Step) -> tuple[list[str], str]:
        before: list[str] = []
        if step.do == "change":
            given = self._objects[step.on or 0] if step.name == "=" else ""
            name = given or self._named_inputs[step.on or 0, step.name]
            value = step.args[0][1]
            new = _literal(value)
            whole = f"{name}[:] = {new}" if isinstance(value, list) else f"{name}[...] = {new}"
            if isinstance(value, dict | set):
                whole = f"{name}.clear(); {name}.update({new})"
            return before, whole
        args = [self._part(place, str(i), part, before) for i, part in enumerate(step.args)]
        args += [f"{key}={self._part(place, key, part, before)}" for key, part in step.kwargs.items()]
        thing = self._objects.get(step.on, "it") if step.on is not None else ""
        listed = ", ".join(args)
        if step.do in ("make", "give"):
            return before, f"{step.name}({listed})"
        if step.do in ("call", "get", "set"):
            shown = {"call": f"({listed})", "get": "", "set": f" = {listed}"}[step.do]
            return before, f"{thing}.{step.name}{shown}"
        operands = [*([thing] if thing else []), *args]
        if step.name in _PATTERNS:
            return before, _PATTERNS[step.name].format(*operands)
        if step.name == "call":
            return before, f"{thing}({listed})"
        if re.fullmatch(r"\w+", step.name):
            return before, f"{step.name}({', '.join(operands)})"
        return before, f" {step.name} ".join(operands)

    def _part(self, place: int, label: str, part: Any, before: list[str]) -> str:
        kind, held = part
        if kind == "o":
            return self._objects[held]
        if kind != "v":
            inner = ", ".join(self._part(place, "", one, before) for one in held)
            return f"[{inner}]" if kind == "l" else f"({inner}{',' * (len(held) == 1)})"
        is_array = isinstance(held, np.ndarray)
        text = "" if is_array and held.size > MAX_ITEMS else _literal(held)
        changed = (place, label) in self._changed
        if text and len(text) <= MAX_INLINE and not changed:
            return text
        name = self._new_name(label if not label.isdigit() and label else _NAMES.get(type(held).__name__, "value"))
        self._named_inputs[place, label] = name
        if changed and text:
            before.append(f"{name} = {text}")
        else:
            self.inputs[name] = held
        return name

    def _new_name(self, word: str) -> str:
        self._taken[word] += 1
        return word if self._taken[word] == 1 else f"{word}_{self._taken[word]}"


def _held(part: Any) -> list[int]:
    kind, held = part
    return [] if kind == "v" else [held] if kind == "o" else [place for one in held for place in _held(one)]


def _literal(value: Any) -> str:
    return paste("", value)[3:]


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()

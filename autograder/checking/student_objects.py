"""Objects of a student's classes as checks see them, and the call sequences that create them."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from autograder.base.foreign import Value
from autograder.base.formatting import with_article
from autograder.base.sanitize import sanitize
from autograder.checking.findings import Finding, wrong_type
from autograder.sandbox.protocol import Call, Opaque, Source
from autograder.sandbox.script import Step, steps_of
from autograder.values import MAX_ITEMS, paste, show

__all__ = [
    "ObjectBackend", "StudentObject", "asked_for", "assign_state", "backend_of", "contains_objects", "explain_step",
    "format_script", "gives_an_object", "is_mutable", "last_step", "raises_an_error", "state_of", "without_proxies",
]  # fmt: skip


class ObjectBackend(Protocol):
    """The part of a ``StudentObject`` that performs its steps."""

    @property
    def opaque(self) -> Opaque:
        """The placeholder for the object, with the name of its type. No call is needed to know this name."""

    @property
    def is_new(self) -> bool:
        """Whether the check created the object by calling its class."""

    def step(
        self,
        do: str,
        name: str,
        args: Sequence[Value] = (),
        kwargs: Mapping[str, Value] | None = None,
        *,
        swapped: bool = False,
    ) -> Value:
        """Perform one step and return its result. Raises an error if the step fails. If ``swapped``, the object is the right operand."""

    def is_method(self, name: str) -> bool:
        """Return whether the attribute ``name`` of a right object is a method."""


class StudentObject:
    """An object of a student's class. Its methods, attributes and operators run in the student's process.

    It can be compared, indexed and iterated like the object itself. Only ``is`` and ``isinstance`` behave
    differently.
    """

    __slots__ = ("__asked", "__weakref__")
    __hash__ = object.__hash__
    __array_ufunc__ = None  # if the left operand is an array, use this class's operator

    def __init__(self, asked: ObjectBackend) -> None:
        object.__setattr__(self, "_StudentObject__asked", asked)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)  # NumPy, copy and other modules look up such names for their protocols
        asked = backend_of(self)
        if asked.is_method(name):
            return lambda *args, **kwargs: asked.step("call", name, args, kwargs)
        return asked.step("get", name)

    def __setattr__(self, name: str, value: Value) -> None:
        backend_of(self).step("set", name, (value,))

    def __iter__(self) -> Iterator[Any]:
        items = backend_of(self).step("use", "list")
        _looped[0] = (id(self), *_instruction(), len(items))
        return iter(items)

    def __len__(self) -> int:
        *at, count = _looped[0] or (0, 0, 0, 0)
        if at == [id(self), *_instruction()]:
            return int(count)  # `list(thing)` calls `__len__` after `__iter__`, so this is not a step of the check
        return backend_of(self).step("use", "len")  # type: ignore[no-any-return]

    def __reversed__(self) -> Iterator[Any]:
        return iter(backend_of(self).step("use", "reversed"))

    def __call__(self, *args: Value, **kwargs: Value) -> Any:
        """Call the object like a function."""
        return backend_of(self).step("use", "call", args, kwargs)

    def __enter__(self) -> Value:
        return backend_of(self).step("use", "with")

    def __exit__(self, *_error: object) -> None:
        backend_of(self).step("use", "leave")


_looped: list[Any] = [None]


def _instruction() -> tuple[int, int]:
    """Return the instruction in the check that called a method of a ``StudentObject``."""
    frame = sys._getframe(2)  # noqa: SLF001 - the only way to find an operator's caller
    return id(frame), frame.f_lasti


def backend_of(thing: StudentObject) -> ObjectBackend:
    """Return the backend of ``thing``."""
    return object.__getattribute__(thing, "_StudentObject__asked")  # type: ignore[no-any-return]


def without_proxies(value: Value) -> Value:
    """Return ``value``, or its placeholder if it is an object of a student's class. No call is made."""
    return backend_of(value).opaque if isinstance(value, StudentObject) else value


def contains_objects(values: Iterable[Value]) -> bool:
    """Return whether ``values`` contain an object, directly or in a list or tuple."""
    return any(isinstance(v, StudentObject) or (isinstance(v, list | tuple) and contains_objects(v)) for v in values)


def is_mutable(value: Value) -> bool:
    """Return whether ``value`` is a list, dict, set or array, and contains no student objects. A caller can change such a value."""
    return isinstance(value, list | dict | set | np.ndarray) and not contains_objects([value])


def state_of(value: Value) -> Hashable:
    """Return a key for the contents of a value. Two keys are equal only if the contents are equal."""
    if isinstance(value, list | tuple):
        return type(value), tuple(map(state_of, value))
    if isinstance(value, dict):
        return dict, tuple((key, state_of(part)) for key, part in value.items())
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    return type(value), frozenset(value) if isinstance(value, set) else repr(value)


def assign_state(value: Value, new: Value) -> None:
    """Replace the contents of ``value`` by those of ``new``."""
    if isinstance(value, list):
        value[:] = new
    elif isinstance(value, np.ndarray):
        value[...] = new
    else:
        value.clear()
        value.update(new)


def _operator(name: str, *, swapped: bool = False) -> Callable[..., Any]:
    def ask(self: StudentObject, *args: Value) -> Value:
        return backend_of(self).step("use", name, args, swapped=swapped)

    return ask


_ALONE = {
    "str": "str", "repr": "repr", "bool": "bool", "int": "int", "float": "float", "next": "next", "neg": "-x",
    "pos": "+x", "invert": "~x", "abs": "abs", "contains": "in", "getitem": "[]", "setitem": "[]=", "delitem": "del[]",
    "format": "format", "round": "round", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
    "iadd": "+=", "isub": "-=", "imul": "*=", "itruediv": "/=", "ior": "|=", "iand": "&=",
}  # fmt: skip
_EITHER = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@", "and": "&",
    "or": "|", "xor": "^", "divmod": "divmod",
}  # fmt: skip
for _word, _sign in _ALONE.items():
    setattr(StudentObject, f"__{_word}__", _operator(_sign))
for _word, _sign in _EITHER.items():
    setattr(StudentObject, f"__{_word}__", _operator(_sign))
    setattr(StudentObject, f"__r{_word}__", _operator(_sign, swapped=True))


MAX_INLINE = 60  # characters of an argument that is shown in its call
MAX_SAID = 500  # characters of an error's own text
MAX_LINES = 30  # lines of a call sequence that is shown completely
_NAMES = {"list": "items", "dict": "table", "set": "members", "ndarray": "x", "tuple": "items", "str": "text"}
_PATTERNS = {
    "in": "{1} in {0}", "[]": "{0}[{1}]", "[]=": "{0}[{1}] = {2}", "del[]": "del {0}[{1}]", "with": "{0}.__enter__()",
    "leave": "{0}.__exit__(None, None, None)", "-x": "-{0}", "+x": "+{0}", "~x": "~{0}",
}  # fmt: skip


def format_script(call: Call) -> tuple[str, dict[str, Value]]:
    """Return the last step as text, and its inputs by name. The input with the name "" contains the earlier lines."""
    writer = _Writer(steps_of(call))
    *before, last = writer.lines()
    if len(before) > MAX_LINES:
        left_out = len(before) - MAX_LINES
        before = [*before[: MAX_LINES // 2], f"# … {left_out} more lines …", *before[-(MAX_LINES // 2) :]]
    lines = {"": Source("\n".join(before), "")} if before else {}
    return last, {**writer.inputs, **lines}


def asked_for(call: Call) -> str:
    """Return the method, class or expression of the last step, as the subject of a sentence: ``Stack.pop``, ``Stack``, ``len(stack)``."""
    step, owner = last_step(call)
    if step.do in ("make", "give"):
        return step.name
    return f"{owner}.{step.name}" if step.do in ("call", "get", "set") else format_script(call)[0]


def last_step(call: Call) -> tuple[Step, str]:
    """Return the last step of a call sequence, and the class of its object."""
    steps = steps_of(call)
    step = steps[-1]
    on = step.on if step.on is not None else next((held for kind, held in step.args if kind == "o"), None)
    while on is not None and steps[on].do not in ("make", "give"):
        on = steps[on].on
    made = on is not None and steps[on].do == "make"
    return step, steps[on].name if made and on is not None else call.function


def gives_an_object(actual: Value, *, type: str) -> Finding | None:  # noqa: A002 - the parameter is recorded under this name
    """Return what is wrong if ``actual`` is not an object of the class called ``type``."""
    if actual is None:
        return Finding(f"It is None instead of an object of type {type}.", "none")
    if isinstance(actual, Opaque) and actual.type == type:
        return None
    return wrong_type(actual, f"an object of type {type}")


def raises_an_error(actual: Value, *, error: str) -> Finding | None:
    """Return what is wrong if a step did not raise ``error`` or a subclass. ``actual`` describes the outcome."""
    how = actual if isinstance(actual, dict) else {}
    raised, asked = how.get("raised"), f"Here {with_article(error)} should be raised"
    if not isinstance(raised, list) or not raised or not all(isinstance(name, str) for name in raised):
        return Finding(f"{asked}, but the call returned {show(how.get('gave'))}.", "values")
    if error in raised:
        return None
    said = how.get("text")
    text = f" ({sanitize(said, MAX_SAID)})" if isinstance(said, str) and said else ""
    return Finding(f"{asked}, but {with_article(sanitize(raised[0], MAX_INLINE))} was{text}.", "values")


def explain_step(finding: Finding, expected: Value, call: str) -> Finding:
    """If a step returned None, add the expected value to its finding. Mention a missing ``return`` only for calls."""
    if finding.kind != "none" or expected is None:
        return finding
    reason = finding.reason if call.endswith(")") else "It is None."
    return replace(finding, reason=reason, expected=expected, has_expected=True)


class _Writer:
    """A writer of steps as lines of code, which gives names to the objects and large inputs."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = steps
        self.inputs: dict[str, Value] = {}
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
        words = {n: re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", self._class_of(n)).lower() for n in sorted(used)}
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
        has_name = step.do == "make" or (step.do == "call" and not step.name.startswith("_"))
        return step.name if has_name else "result"

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

    def _part(self, place: int, label: str, part: Value, before: list[str]) -> str:
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


def _held(part: Value) -> list[int]:
    kind, held = part
    return [] if kind == "v" else [held] if kind == "o" else [place for one in held for place in _held(one)]


def _literal(value: Value) -> str:
    return paste("", value)[3:]

"""Objects that the checks of an exercise use. Each use of an object sends the whole call sequence that leads to this use.

This module needs only NumPy and the standard library, because it also runs on students' machines.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from weakref import ref

from autograder.base.foreign import Value
from autograder.checking.call_source import kept_for_this_check
from autograder.checking.student_objects import StudentObject, backend_of, contains_objects, is_mutable, state_of
from autograder.sandbox.protocol import Call, Opaque
from autograder.sandbox.script import Step, script
from autograder.values import copy_value

__all__ = ["MAX_STEPS", "ObjectOwner", "call_with_objects", "make_object"]

MAX_STEPS = 400
_METHODS = frozenset({"method", "function", "builtin_function_or_method", "method-wrapper", "partial"})
_count = itertools.count()
_Part = tuple[str, Value]  # a kind ("o": an object, "v": a value, "l" or "t": a list or tuple of parts) and its content


@dataclass(frozen=True)
class ObjectOwner:
    """The owner of objects: the student or the course.

    Attributes:
        ask: runs a call sequence and returns the owner's answer.
        right: returns the answer of a right solution.
        classes: the names of the course's classes.
    """

    ask: Callable[[Call], Value]
    right: Callable[[Call], Value]
    classes: Collection[str] = ()

    def object_state(self) -> _ObjectState:
        """Return the state that all objects of the running check share, because the objects may affect each other."""
        object_state: _ObjectState = kept_for_this_check().setdefault(
            (id(getattr(self.ask, "__self__", self)), _ObjectState), _ObjectState()
        )
        return object_state.current()


@dataclass(eq=False)
class _Event:
    """A step of a call sequence. It refers to objects by the events that created them, and ``number`` gives the order."""

    do: str
    on: _Event | None
    name: str
    args: tuple[_Part, ...] = ()
    kwargs: Mapping[str, _Part] = field(default_factory=dict)
    raises: str = ""
    number: int = field(default_factory=lambda: next(_count))

    def refers_to(self) -> Iterator[_Event]:
        """Yield the events that created the objects used in this event."""
        waiting: list[_Part] = [*self.args, *self.kwargs.values()]
        if self.on is not None:
            yield self.on
        while waiting:
            kind, held = waiting.pop()
            if kind == "o":
                yield held
            elif kind != "v":
                waiting += held


@dataclass(eq=False)
class _Watched:
    """A mutable argument or result of a step. If the check changes it later, the change becomes a step."""

    event: _Event
    label: str
    value: Value
    state: Hashable


class _ObjectState:
    """The objects of a check, and all steps taken with them."""

    def __init__(self) -> None:
        self.events: list[_Event] = []
        self.objects: list[tuple[ref[StudentObject], _Event]] = []
        self.watched: list[_Watched] = []
        self.merged_into: _ObjectState | None = None

    def current(self) -> _ObjectState:
        """Return this state, or the state that it was merged into."""
        return self if self.merged_into is None else self.merged_into.current()

    def merge(self, other: _ObjectState) -> None:
        """Merge the steps of ``other`` into this state."""
        if other is not self:
            other.merged_into = self
            self.events = sorted([*self.events, *other.events], key=lambda event: event.number)
            self.watched += other.watched
            self.objects += other.objects

    def forget(self) -> None:
        """Drop the steps of objects that the check no longer uses, unless they are connected to an object in use."""
        self.objects = [(proxy, event) for proxy, event in self.objects if proxy() is not None]
        group: dict[int, int] = {}

        def of(number: int) -> int:
            while group.setdefault(number, number) != number:
                number = group[number]
            return number

        for event in self.events:
            for other in event.refers_to():
                group[of(other.number)] = of(event.number)
        held = {of(event.number) for _, event in self.objects}
        self.events = [event for event in self.events if of(event.number) in held]
        self.watched = [one for one in self.watched if of(one.event.number) in held]

    def steps(self) -> list[Step]:
        """Return all steps as a call sequence."""
        at = {id(event): place for place, event in enumerate(self.events)}

        def placed(part: _Part) -> _Part:
            kind, held = part
            if kind == "o":
                return "o", at[id(held)]
            return part if kind == "v" else (kind, [placed(one) for one in held])

        return [
            Step(
                event.do,
                at[id(event.on)] if event.on is not None else None,
                event.name,
                tuple(map(placed, event.args)),
                {key: placed(part) for key, part in event.kwargs.items()},
                event.raises,
            )
            for event in self.events
        ]

    def note_changes(self) -> None:
        """Add a step for each watched value that was changed."""
        for one in self.watched:
            state = state_of(one.value)
            if state != one.state:
                one.state = state
                self.events.append(_Event("change", one.event, one.label, (("v", copy_value(one.value)),)))


class _SingleObject:
    """The backend of one object, which belongs to ``owner``."""

    def __init__(self, owner: ObjectOwner, object_state: _ObjectState, event: _Event, opaque: Opaque) -> None:
        self.opaque = opaque
        self.owner = owner
        self._object_state = object_state
        self.event = event

    @property
    def is_new(self) -> bool:
        """Whether the check created the object by calling its class."""
        return self.event.do == "make"

    @property
    def object_state(self) -> _ObjectState:
        return self._object_state.current()

    def step(
        self,
        do: str,
        name: str,
        args: Sequence[Value] = (),
        kwargs: Mapping[str, Value] | None = None,
        *,
        swapped: bool = False,
        outcome: bool = False,
        raises: str = "",
    ) -> Value:
        if swapped:
            return _take(self.owner, self._class_name(), _Event("use", None, name), [*args, StudentObject(self)], {})
        event = _Event(do, self.event, name, raises=raises)
        return _take(
            self.owner, self._class_name(), event, args, kwargs or {}, object_state=self.object_state, outcome=outcome
        )

    def is_method(self, name: str) -> bool:
        steps = [*self.object_state.steps(), Step("get", self.object_state.events.index(self.event), name)]
        try:
            value = self.owner.right(script(self._class_name(), steps))
        except AttributeError as error:
            raise AttributeError(f"a correct {self.opaque.type} has nothing called {name!r}: {error}") from error
        return isinstance(value, Opaque) and value.type in _METHODS

    def _class_name(self) -> str:
        event: _Event | None = self.event
        if self.opaque.type in self.owner.classes:
            return self.opaque.type
        while event is not None and event.do not in {"make", "give"}:
            event = event.on
        return event.name if event is not None else self.object_state.events[0].name


def make_object(owner: ObjectOwner, name: str, args: Sequence[Value], kwargs: Mapping[str, Value]) -> StudentObject:
    """Create an object of the class ``name``: ``name(*args, **kwargs)``."""
    proxy = _take(owner, name, _Event("make", None, name), args, kwargs)
    assert isinstance(proxy, StudentObject)  # noqa: S101 - for the type checker
    return proxy


def call_with_objects(owner: ObjectOwner, name: str, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
    """Call the function ``name`` with arguments that include objects."""
    return _take(owner, name, _Event("give", None, name), args, kwargs)


def _take(
    owner: ObjectOwner,
    class_name: str,
    event: _Event,
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
    *,
    object_state: _ObjectState | None = None,
    outcome: bool = False,
) -> Value:
    """Take the step ``event`` and return its result.

    The step belongs to ``object_state``, or to the state of the objects among its arguments.
    """
    object_state = object_state or owner.object_state()
    objects = [*_objects_in(args), *_objects_in(kwargs.values())]
    for other in objects:
        object_state.merge(other.object_state)
    object_state.forget()
    object_state.note_changes()
    event.number = next(_count)  # numbered after the steps for the changes
    event.args = tuple(map(_to_part, args))
    event.kwargs = {key: _to_part(value) for key, value in kwargs.items()}
    object_state.events.append(event)
    if len(object_state.events) > MAX_STEPS:
        raise ValueError(
            f"this check takes more than {MAX_STEPS} steps with one object, and each step repeats all earlier ones. Take the steps "
            'in a probe (`student.probe(source, "Name")`), or take fewer steps'
        )
    labels = [*((str(place), value) for place, value in enumerate(args)), *kwargs.items()]
    object_state.watched += [_Watched(event, k, v, state_of(v)) for k, v in labels if is_mutable(v)]
    call = script(class_name, object_state.steps(), outcome=outcome)
    value = owner.ask(call)
    if event.do == "make":
        value = Opaque(event.name)
    if isinstance(value, Opaque) and (event.do == "make" or outcome or _gives_an_object(owner, call)):
        proxy = StudentObject(_SingleObject(owner, object_state, event, value))
        object_state.objects.append((ref(proxy), event))
        return proxy
    if is_mutable(value) and not outcome:
        object_state.watched.append(_Watched(event, "=", value, state_of(value)))
    return value


def _gives_an_object(owner: ObjectOwner, call: Call) -> bool:
    """Return whether a right solution also returns an object here, rather than a value such as a number."""
    try:
        right = owner.right(call)
    except Exception:  # noqa: BLE001 - a right object may raise anything
        return True
    return right is None or isinstance(right, Opaque)


def _objects_in(values: Iterable[Value]) -> list[_SingleObject]:
    found: list[_SingleObject] = []
    for value in values:
        if isinstance(value, StudentObject):
            found.append(backend_of(value))  # type: ignore[arg-type]
        elif isinstance(value, list | tuple):
            found += _objects_in(value)
    return found


def _to_part(value: Value) -> _Part:
    if isinstance(value, StudentObject):
        return "o", backend_of(value).event  # type: ignore[attr-defined]
    if isinstance(value, list | tuple) and contains_objects(value):
        return "l" if isinstance(value, list) else "t", [_to_part(part) for part in value]
    return "v", set(value) if isinstance(value, set) else copy_value(value)

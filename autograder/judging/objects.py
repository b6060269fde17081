"""Objects of classes in a conversation: each step of one is asked as the script that leads to it, from the beginning.

NumPy and the standard library only: a student's own machine runs this too.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import ref

from autograder.checking.call_source import kept_for_this_check
from autograder.checking.student_objects import StudentObject, backend_of, contains_objects, is_mutable, state_of
from autograder.sandbox.protocol import Call, Opaque
from autograder.sandbox.script import Step, script
from autograder.values import copy_value

__all__ = ["MAX_STEPS", "ObjectOwner", "given", "made"]

MAX_STEPS = 400
_METHODS = frozenset({"method", "function", "builtin_function_or_method", "method-wrapper", "partial"})
_count = itertools.count()


@dataclass(frozen=True)
class ObjectOwner:
    """Whose objects they are: ``ask`` answers a script, and ``right`` says what a right solution answers to it.

    ``classes`` are the names of the course's classes.
    """

    ask: Callable[[Call], Any]
    right: Callable[[Call], Any]
    classes: Collection[str] = ()

    def world(self) -> _World:
        """The world of the check that runs: its objects may have to do with each other where nobody sees it."""
        world: _World = kept_for_this_check().setdefault((id(getattr(self.ask, "__self__", self)), _World), _World())
        return world.now()


@dataclass(eq=False)
class _Event:
    """A step that was taken, in the order of ``number``; what it refers to are other events."""

    do: str
    on: _Event | None
    name: str
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    raises: str = ""
    number: int = field(default_factory=lambda: next(_count))

    def refers_to(self) -> Iterator[_Event]:
        """The events that gave the objects of this one."""
        waiting: list[Any] = [*self.args, *self.kwargs.values()]
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
    """A list, dict, set or array that was given at a step, or that it gave: a check that changes it later means that one."""

    event: _Event
    label: str
    value: Any
    state: Any


class _World:
    """The objects of a check, and all that was done to any of them."""

    def __init__(self) -> None:
        self.events: list[_Event] = []
        self.things: list[tuple[ref[StudentObject], _Event]] = []
        self.watched: list[_Watched] = []
        self.taken_up: _World | None = None

    def now(self) -> _World:
        """This world, or the one that it has become a part of."""
        return self if self.taken_up is None else self.taken_up.now()

    def take_up(self, other: _World) -> None:
        """Let what happened in ``other`` have happened here."""
        if other is not self:
            other.taken_up = self
            self.events = sorted([*self.events, *other.events], key=lambda event: event.number)
            self.watched += other.watched
            self.things += other.things

    def forget(self) -> None:
        """Leave out what was done to objects that the check does not hold any more, and that no other had to do with."""
        self.things = [(thing, event) for thing, event in self.things if thing() is not None]
        group: dict[int, int] = {}

        def of(number: int) -> int:
            while group.setdefault(number, number) != number:
                number = group[number]
            return number

        for event in self.events:
            for other in event.refers_to():
                group[of(other.number)] = of(event.number)
        held = {of(event.number) for _, event in self.things}
        self.events = [event for event in self.events if of(event.number) in held]
        self.watched = [one for one in self.watched if of(one.event.number) in held]

    def steps(self) -> list[Step]:
        """All that was done, as a script has it."""
        at = {id(event): place for place, event in enumerate(self.events)}

        def placed(part: Any) -> Any:
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
        """A step for each value that was changed since it was given."""
        for one in self.watched:
            state = state_of(one.value)
            if state != one.state:
                one.state = state
                self.events.append(_Event("change", one.event, one.label, (("v", copy_value(one.value)),)))


class _Lone:
    """An object on one side, the student's or the course's."""

    def __init__(self, side: ObjectOwner, world: _World, event: _Event, opaque: Opaque) -> None:
        self.opaque = opaque
        self.side = side
        self._world = world
        self.event = event

    @property
    def is_new(self) -> bool:
        """Whether the check has made it by the name of its class."""
        return self.event.do == "make"

    @property
    def world(self) -> _World:
        return self._world.now()

    def step(
        self,
        do: str,
        name: str,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        *,
        swapped: bool = False,
        outcome: bool = False,
        raises: str = "",
    ) -> Any:
        if swapped:
            return _take(self.side, self._owner(), _Event("use", None, name), [*args, StudentObject(self)], {})
        event = _Event(do, self.event, name, raises=raises)
        return _take(self.side, self._owner(), event, args, kwargs or {}, world=self.world, outcome=outcome)

    def is_method(self, name: str) -> bool:
        asked = [*self.world.steps(), Step("get", self.world.events.index(self.event), name)]
        try:
            value = self.side.right(script(self._owner(), asked))
        except AttributeError as error:
            raise AttributeError(f"a right {self.opaque.type} has nothing called {name!r}: {error}") from error
        return isinstance(value, Opaque) and value.type in _METHODS

    def _owner(self) -> str:
        """The class of the course's that this object comes from."""
        event: _Event | None = self.event
        if self.opaque.type in self.side.classes:
            return self.opaque.type
        while event is not None and event.do not in {"make", "give"}:
            event = event.on
        return event.name if event is not None else self.world.events[0].name


def made(side: ObjectOwner, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> StudentObject:
    """An object of the class ``name``: ``name(*args, **kwargs)``."""
    found = _take(side, name, _Event("make", None, name), args, kwargs)
    assert isinstance(found, StudentObject)  # noqa: S101 - as the step makes one
    return found


def given(side: ObjectOwner, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """What the function ``name`` gives, some of whose arguments are objects."""
    return _take(side, name, _Event("give", None, name), args, kwargs)


def _take(
    side: ObjectOwner,
    owner: str,
    event: _Event,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    world: _World | None = None,
    outcome: bool = False,
) -> Any:
    """Take the step ``event`` in ``world`` (or in that of the objects among its arguments), and ask for what it gives."""
    world = world or side.world()
    things = [*_things(args), *_things(kwargs.values())]
    for other in things:
        world.take_up(other.world)
    world.forget()
    world.note_changes()
    event.number = next(_count)  # after the changes that came before it
    event.args = tuple(map(_written, args))
    event.kwargs = {key: _written(value) for key, value in kwargs.items()}
    world.events.append(event)
    if len(world.events) > MAX_STEPS:
        raise ValueError(
            f"this check takes more than {MAX_STEPS} steps with one object, and each begins at the first again: let a probe "
            'take them (`student.probe(source, "Name")`), or take fewer'
        )
    labels = [*((str(place), value) for place, value in enumerate(args)), *kwargs.items()]
    world.watched += [_Watched(event, k, v, state_of(v)) for k, v in labels if is_mutable(v)]
    asked = script(owner, world.steps(), outcome=outcome)
    value = side.ask(asked)
    if event.do == "make":
        value = Opaque(event.name)
    if isinstance(value, Opaque) and (
        event.do == "make" or outcome or _gives_an_object(side, asked)
    ):  # it goes on where it is
        thing = StudentObject(_Lone(side, world, event, value))
        world.things.append((ref(thing), event))
        return thing
    if is_mutable(value) and not outcome:
        world.watched.append(_Watched(event, "=", value, state_of(value)))
    return value


def _gives_an_object(side: ObjectOwner, asked: Call) -> bool:
    """Whether a right solution gives an object too: what stands in the place of a number is not asked whether it equals one."""
    try:
        right = side.right(asked)
    except Exception:  # noqa: BLE001 - what a right object raises
        return True
    return right is None or isinstance(right, Opaque)


def _things(values: Iterable[Any]) -> list[_Lone]:
    found: list[_Lone] = []
    for value in values:
        if isinstance(value, StudentObject):
            found.append(backend_of(value))  # type: ignore[arg-type]
        elif isinstance(value, list | tuple):
            found += _things(value)
    return found


def _written(value: Any) -> Any:
    if isinstance(value, StudentObject):
        return "o", backend_of(value).event  # type: ignore[attr-defined]
    if isinstance(value, list | tuple) and contains_objects(value):
        return "l" if isinstance(value, list) else "t", [_written(part) for part in value]
    return "v", set(value) if isinstance(value, set) else copy_value(value)

"""A conversation with a child that runs a student's notebook, as the trusted side sees it.

Decoded answers are cached by their raw bytes, since most students' answers are identical. Calls that would make a large
result are measured before they are sent.
"""

from __future__ import annotations

import contextlib
import math
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count, zip_longest
from typing import Any, NamedTuple

import numpy as np

from autograder.sandbox.channel import Channel, ConnectionClosed, TimedOut
from autograder.sandbox.guest.runner import OUT_OF_MEMORY
from autograder.sandbox.guest.wire import Decoder, Encoder, pack, parse_head
from autograder.sandbox.guest.wire_limits import TooBig, WireError
from autograder.sandbox.guest.wire_tables import kind_of_table
from autograder.sandbox.guest.zygote import TOO_MANY_THREADS
from autograder.sandbox.protocol import (
    Answer,
    Call,
    CellOutcome,
    CodeCell,
    Limits,
    NameReference,
    Opaque,
    Rng,
    Script,
    Source,
    StudentError,
)
from autograder.sandbox.script import redacted
from autograder.sandbox.texts import OutputBudget, read_error, read_names, read_outcome, read_text

__all__ = ["AnswerCache", "ChildSession", "Size"]


_SMALL = 1 << 14  # bytes of a frame that is worth keeping
_ROOM = 4 << 20  # bytes of frames kept together
_OVERHEAD = 1000  # what an answer and its place in the table take beside its bytes, about

_serials = count(1)  # never used twice in a process, by whichever cache


class AnswerCache:
    """Answers by the bytes they came as, each read and checked once.

    What a frame says depends on its bytes alone, so no submission's answer can change what another's is taken for. The values
    are shared: no code may write into them, and the arrays are read-only. A full table is emptied.
    """

    def __init__(self, room: int = _ROOM) -> None:
        self._answers: dict[tuple[bytes, bytes | bytearray], Answer] = {}
        self._room = self._left = room

    def get(self, head: bytes, blob: bytes | bytearray) -> Answer | None:
        """The answer that came as exactly these bytes before."""
        return self._answers.get((head, blob)) if type(blob) is bytes else None

    def keep(self, head: bytes, blob: bytes | bytearray, answer: Answer) -> Answer:
        """``answer``, with a serial number where it is small enough to be kept."""
        size = len(head) + len(blob)
        if type(blob) is not bytes or size > _SMALL:
            return answer
        self._left -= size + _OVERHEAD
        if self._left < 0:
            self._answers.clear()
            self._left = self._room - size - _OVERHEAD
        answer = replace(answer, serial=next(_serials))
        self._answers[head, blob] = answer
        return answer


_MAX_AXES = 6
_FLAT = (str, bytes, bytearray, set, frozenset, range)

Shape = tuple[int, ...]


class Size(NamedTuple):
    """The size of a call's arguments, those in lists, tuples and dicts among them; NumPy makes arrays of texts, too.

    ``elements`` are those of the largest argument, ``axis`` is the longest one, ``axes`` the most that one has.
    ``together`` is what the function may make of them: the elements of the array that they all broadcast to, or of the
    largest product of two last axes, for each place of the leading ones.
    """

    elements: int = 0
    axis: int = 0
    axes: int = 0
    together: int = 0

    @classmethod
    def of(cls, arguments: Sequence[Any]) -> Size:
        """The size of one call's arguments."""
        shapes = [shape for shape in map(_shape, arguments) if shape]
        broadcast = _broadcast(shapes)
        last = sorted((n for shape in shapes for n in shape[-2:]), reverse=True)
        products = math.prod(broadcast[:-2]) * math.prod(last[:2])
        return cls(
            elements=max(map(_elements, arguments), default=0),
            axis=max(broadcast, default=0),
            axes=len(broadcast),
            together=max(math.prod(broadcast), products),
        )

    @classmethod
    def largest(cls, sizes: Iterable[Size]) -> Size:
        """The most of each that any of ``sizes`` has."""
        return cls(*map(max, zip(cls(), *sizes, strict=True)))

    def allows(self, asked: Size) -> bool:
        """Whether a question of the size ``asked`` is not far larger than this, what the check itself asks."""
        return (
            asked.elements <= max(1 << 14, 16 * self.elements)
            and asked.axis <= max(512, 4 * self.axis)
            and asked.axes <= _MAX_AXES
            and asked.together <= max(1 << 20, 8 * self.together)
        )


def _shape(value: Any) -> Shape:
    """The shape of the array that NumPy would make of ``value``; no axis is shorter than 1."""
    if isinstance(value, np.ndarray):
        return tuple(max(1, n) for n in value.shape)
    if isinstance(value, list | tuple | dict):
        items = value.values() if isinstance(value, dict) else value
        return max(1, len(value)), *_broadcast(set(map(_shape, items)))
    if isinstance(value, _FLAT):
        return (max(1, len(value)),)
    return tuple(max(1, n) for n in value.shape) if kind_of_table(value) else ()


def _broadcast(shapes: Iterable[Shape]) -> Shape:
    """The longest axis at each place, counted from the last one: what arrays of these shapes broadcast to, if they do."""
    return tuple(map(max, zip_longest(*(shape[::-1] for shape in shapes), fillvalue=1)))[::-1]


def _elements(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return value.size
    if isinstance(value, list | tuple | dict):
        return sum(map(_elements, value.values() if isinstance(value, dict) else value))
    if isinstance(value, _FLAT):
        return len(value)
    return int(np.prod(value.shape)) if kind_of_table(value) else 1


# By the exit status of a child that has ended: 128 and the number of a signal, where one ended it.
_WORDS = {OUT_OF_MEMORY: "memory", 128 + 9: "memory", 128 + 24: "timeout", TOO_MANY_THREADS: "threads"}
_QUESTIONS = 20_000  # how often a child may ask the trusted side during one call
_RESULTS = 2  # how many results of the largest size the answers may make up that are held at one time
_LARGE = 1 << 16  # bytes above which an answer counts
_UNPACKED = 4  # bytes that a part of a list takes here for each in which it was written down, about
_START_SECONDS = 30.0  # in which a child is to be confined


class ChildSession:
    """The ``Session`` of a child process; ``end(patience)`` ends that process and returns its exit status."""

    def __init__(
        self,
        channel: Channel,
        end: Callable[[float], int],
        *,
        sandbox: str,
        limits: Limits,
        deadline: float,
        cache: AnswerCache | None = None,
    ) -> None:
        self.sandbox = sandbox
        self.cells: Sequence[CellOutcome] = ()
        self._channel = channel
        self._end = end
        self._limits = limits
        self._deadline = deadline
        self._stopped = ""
        self._closed = False
        self._names: frozenset[str] = frozenset()
        self._substitutes: dict[str, Callable[..., Any]] = {}
        self._own = Size()
        self._room = _RESULTS * limits.result_mb << 20
        self._cache = cache or AnswerCache()

    @property
    def alive(self) -> bool:
        """Whether calls can still be answered."""
        return not self._stopped and not self._closed

    def run(
        self, order: dict[str, Any], cells: Sequence[CodeCell], blobs: Sequence[bytes] = ()
    ) -> Iterator[CellOutcome]:
        """Send the cells and yield what each one did; the last one is ``stopped`` when it was the child's end."""
        cap = self._limits.output_kb << 10
        room = OutputBudget()
        self._begin(order, blobs)
        if time.monotonic() >= self._deadline:
            self._stop(TimedOut())  # even if it has answered by now: no submission gets more time than there is
        for cell, (*_, seconds) in zip(cells, order["cells"], strict=True):
            if not self._stopped:
                try:
                    # The figures of a cell are drawn after it, on a clock of their own.
                    head, _blob = self._channel.receive(self._by(seconds, extra=max(2.0, seconds / 4)))
                    outcome = room.fit(read_outcome(head.get("cell"), cell.index, cap))
                except (ConnectionClosed, TimedOut, WireError) as event:
                    self._stop(event)
                else:
                    yield outcome
                    continue
            yield CellOutcome(index=cell.index, stopped=self._stopped)
            return
        if not self._stopped:
            try:
                head, _blob = self._channel.receive(self._by(1.0))
                self._names = read_names(head.get("names"))
            except (ConnectionClosed, TimedOut, WireError) as event:
                self._stop(event)

    def _begin(self, order: dict[str, Any], blobs: Sequence[bytes]) -> None:
        """Send the order and hear that the child is confined: only then does it run a line of the student's.

        Until then no time is the submission's: however little it has left, a child that starts late is our own fault.
        """
        by = time.monotonic() + _START_SECONDS
        try:
            with contextlib.suppress(ConnectionClosed):  # what the child said before it went is read next
                self._channel.send(pack(order, blobs), by)
            head, _blob = self._channel.receive(by)
        except TooBig:
            self.close()
            raise
        except (ConnectionClosed, TimedOut, WireError) as event:
            self._channel.close()
            raise ChildNotConfined(
                f"it did not start ({type(event).__name__}, exit status {self._end(1.0)})"
            ) from event
        if "confined" not in head:
            self.close()
            raise ChildNotConfined(read_text(head.get("unconfined", "it did not say why"), 500))

    def names(self) -> frozenset[str]:
        """The top-level names that the notebook defined."""
        return self._names

    def call(self, call: Call) -> Answer:
        """Call one function."""
        return self.batch([call])[0]

    def batch(self, calls: Sequence[Call], *, hold: bool = False) -> list[Answer]:
        """Call many in one go; with ``hold`` no result is written down before the last call is done."""
        if not calls:
            return []
        answers: list[Answer] = []
        if self._send(self._frame(calls, hold=hold)):
            ticks = len(calls) if hold else 0
            while len(answers) < len(calls) and not self._stopped:
                answer = self._receive(ticks=ticks)
                ticks = 0
                answers.append(answer)
        return answers + [self._gone()] * (len(calls) - len(answers))

    def value(self, name: str) -> Answer:
        """The value of a plain variable; a ``NameError`` where there is none."""
        return self._receive() if self._send(pack({"do": "value", "name": name})) else self._gone()

    def probe(self, source: str, call: Call) -> Answer:
        """Run ``probe(function, *args, **kwargs)``, defined by ``source``, inside, where the values live."""
        encode = Encoder(_sent_as_source, 1 << 32, layouts=True)
        name, args, kwargs = _tree_of(call, encode)
        self._note_size(_size_of([call]))
        order = {"do": "probe", "source": source, "name": name, "args": args, "kwargs": kwargs}
        return self._receive() if self._send(pack(order, encode.blobs)) else self._gone()

    def substitute(self, name: str, function: Callable[..., Any]) -> None:
        """Let ``name`` in the notebook ask a function of the trusted side; does nothing when the child is gone."""
        self._substitutes[name] = function
        if self._send(pack({"do": "substitute", "name": name})):
            try:
                self._channel.receive(self._by(1.0))
            except (ConnectionClosed, TimedOut, WireError) as event:
                self._stop(event)

    def define(self, sources: Mapping[str, str]) -> None:
        """Let each name be what its source defines, wherever it was kept; raises ``ValueError`` where it cannot be."""
        answer = self._defined(sources)
        if answer.error is not None or answer.stopped:
            raise ValueError(f"the edited code cannot be defined: {answer.stopped or answer.error}")

    def reset(self) -> None:
        """Let every name be again what the notebook made of it."""
        if self.alive:
            self._defined({})

    def _defined(self, sources: Mapping[str, str]) -> Answer:
        order = {"do": "define", "sources": list(sources.items())}
        return self._receive() if self._send(pack(order)) else self._gone()

    def trials(
        self, programs: Sequence[Mapping[str, str]], calls: Sequence[Call], seconds: float
    ) -> list[list[Answer]]:
        """What each of ``programs`` (sources by name) answers to ``calls``, each call within ``seconds``.

        Of a program that cannot be defined, or fails, the rest of the answers is that failure. Where one ends the child,
        nothing comes of it and of those after it.
        """
        encode = Encoder(_sent_as_source, 1 << 32)
        trees, probes = _trees_of(calls, encode)
        self._note_size(_size_of(calls))
        given = [list(sources.items()) for sources in programs]
        order = {"do": "trials", "programs": given, "calls": trees, "probes": probes, "seconds": seconds}
        found: list[list[Answer]] = [[] for _ in programs]
        if self._send(pack(order, encode.blobs)):
            for answers in found:
                for _ in calls:
                    answers.append(self._receive(seconds=seconds))
                    if self._stopped:
                        answers.clear()
                        return found
        return found

    def close(self) -> None:
        """End the child."""
        if not self._closed:
            self._closed = True
            self._channel.close()
            if not self._stopped:
                self._end(0.0)

    def _by(self, seconds: float, extra: float = 0.0) -> float:
        """When the trusted side stops waiting: the child's own clock comes first, unless it cannot."""
        return min(time.monotonic() + seconds + max(0.5, seconds / 4) + extra, self._deadline)

    def _gone(self) -> Answer:
        return Answer(stopped=self._stopped or "crash")

    def _frame(self, calls: Sequence[Call], *, hold: bool) -> bytes:
        """What asks ``calls``, packed; for a ``Script`` that was done once and for all."""
        kept: dict[bool, tuple[bytes, Size]] = calls.frames if isinstance(calls, Script) else {}
        if hold not in kept:
            encode = Encoder(_sent_as_source, 1 << 32, layouts=True)
            trees, probes = _trees_of(calls, encode)
            order = {"do": "calls", "hold": hold, "calls": trees, "probes": probes}
            kept[hold] = pack(order, encode.blobs), _size_of(calls)
        frame, size = kept[hold]
        self._note_size(size)
        return frame

    def _note_size(self, size: Size) -> None:
        self._own = Size.largest([self._own, size])

    def _send(self, frame: bytes) -> bool:
        """Send an order; false when the child is gone, now or already."""
        if self._closed or self._stopped:
            return False
        try:
            self._channel.send(frame, self._by(self._limits.call_seconds))
        except (ConnectionClosed, TimedOut) as event:
            self._stop(event)
        return not self._stopped

    def _receive(self, ticks: int = 0, seconds: float | None = None) -> Answer:
        """The next answer; on the way to it, questions of the child to the trusted side are answered."""
        by = self._by(self._limits.call_seconds if seconds is None else seconds)
        questions = 0
        try:
            while True:
                raw, blob = self._channel.receive_raw(by)
                if answer := self._cache.get(raw, blob):
                    return answer
                head = parse_head(raw)
                if ticks and "tick" in head:
                    ticks -= 1
                    by = self._by(self._limits.call_seconds)
                elif "ask" in head and questions < _QUESTIONS:
                    questions += 1
                    self._reply(head, blob, by)
                elif seconds is not None and "stopped" in head:
                    return Answer(stopped="timeout")  # of one program that is tried: the child goes on to the next
                else:
                    return self._held(self._cache.keep(raw, blob, self._read(head, blob)), len(raw), len(blob))
        except (ConnectionClosed, TimedOut, WireError) as event:
            self._stop(event)
            return self._gone()

    def _held(self, answer: Answer, text: int, arrays: int) -> Answer:
        """``answer``, where there is room for its bytes beside the answers of this session that are still held."""
        size = _UNPACKED * text + arrays
        if size <= _LARGE:
            return answer
        if size > self._room:
            why = f"with the results before it, it makes more than {_RESULTS * self._limits.result_mb} MiB"
            return Answer(error=StudentError("ResultTooBig", f"The result is too big to be looked at: {why}."))
        self._room -= size
        weakref.finalize(answer, self._give_back, size).atexit = False
        return answer

    def _give_back(self, size: int) -> None:
        self._room += size

    def _read(self, head: dict[str, Any], blob: bytes | bytearray) -> Answer:
        if "stopped" in head:
            raise TimedOut
        if "error" in head:
            return Answer(error=read_error(head["error"]))
        if "value" not in head:
            raise WireError("an answer holds no value")
        changed = head.get("changed")
        if type(changed) is not list or len(changed) > 64 or not all(type(label) is str for label in changed):
            raise WireError("an answer does not say what changed")
        value = Decoder(blob, _opaque)(head["value"])
        return Answer(value=value, changed=tuple(read_text(label, 100) for label in changed))

    def _reply(self, head: dict[str, Any], blob: bytes | bytearray, by: float) -> None:
        function = self._substitutes.get(head["ask"]) if type(head["ask"]) is str else None
        args, kwargs = head.get("args"), head.get("kwargs")
        if function is None or type(args) is not list or type(kwargs) is not list:
            raise WireError("a question asks for nothing that was offered")
        decode = Decoder(blob, _opaque, copy=True)
        positional = [decode(item) for item in args]
        named = {}
        for pair in kwargs:
            if type(pair) is not list or len(pair) != 2 or type(pair[0]) is not str:
                raise WireError("a question's keyword is no keyword")
            named[pair[0]] = decode(pair[1])
        if not self._own.allows(Size.of([*positional, *named.values()])):
            raise WireError("a question's arrays are far larger than the check's own")
        encode = Encoder(_opaque_out, self._limits.result_mb << 20)
        try:
            with np.errstate(all="ignore"):
                frame = pack({"value": encode(function(*positional, **named))}, encode.blobs)
        except (Exception, TooBig) as error:  # noqa: BLE001 - a student may pass anything to the reference
            frame = pack({"error": type(error).__name__, "message": read_text(str(error), 300)})
        self._channel.send(frame, by)

    def _stop(self, event: Exception) -> None:
        """The child has ended, or is to be ended now."""
        if self._stopped:
            return
        if isinstance(event, ConnectionClosed):
            self._stopped = _WORDS.get(self._end(1.0), "crash")
        else:
            self._stopped = "timeout" if isinstance(event, TimedOut) else "protocol"
            self._end(0.0)
        self._channel.close()


class ChildNotConfined(Exception):  # noqa: N818
    """A child could not give up its rights and ran nothing."""


def _tree_of(call: Call, encode: Encoder) -> list[Any]:
    call = redacted(call)
    return [call.function, [encode(item) for item in call.args], [[k, encode(v)] for k, v in call.kwargs.items()]]


def _trees_of(calls: Sequence[Call], encode: Encoder) -> tuple[list[list[Any]], list[str]]:
    """The calls, each with the place of its probe, if it has one, among the texts of the probes."""
    probes = list(dict.fromkeys(call.probe for call in calls if call.probe))
    trees = [[*_tree_of(call, encode), *([probes.index(call.probe)] if call.probe else [])] for call in calls]
    return trees, probes


def _size_of(calls: Sequence[Call]) -> Size:
    return Size.largest(Size.of([*call.args, *call.kwargs.values()]) for call in calls)


def _opaque(tag: str, items: list[Any]) -> Opaque:
    if tag != "o" or len(items) != 1:
        raise WireError("source text never comes out of a child")
    return Opaque(read_text(items[0], 200))


def _opaque_out(value: Any) -> list[Any]:
    raise TypeError(f"the reference returned a {type(value).__name__}, which cannot be sent")


def _sent_as_source(value: Any) -> list[Any]:
    if isinstance(value, Source):
        return ["s", value.text, value.name]
    if isinstance(value, Rng):
        return ["r", value.seed]
    if isinstance(value, NameReference):
        return ["n", value.name]
    raise TypeError(
        f"A {type(value).__name__} cannot be sent to a student's function. Send arrays, numbers, texts, "
        "bytes, dates, lists, tuples, dicts and sets of them, tables, a function as Source(text, name) or a generator as Rng(seed)."
    )

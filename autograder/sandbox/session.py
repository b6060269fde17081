"""The parent's session with a child that runs a student's notebook.

Decoded answers are cached by their raw bytes, since most students' answers are identical. The arguments that the child
passes to the parent's functions may not be much larger than those of the check itself.
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

from autograder.base.foreign import Json, Value
from autograder.sandbox.channel import Channel, ConnectionClosed, TimedOut
from autograder.sandbox.guest.runner import OUT_OF_MEMORY
from autograder.sandbox.guest.wire import Decoder, Encoder, pack, parse_head, rng_state, set_rng_state
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


_MAX_CACHED = 1 << 14  # the maximum size of a cached frame in bytes
_CACHE_SIZE = 4 << 20  # the maximum size of all cached frames in bytes
_OVERHEAD = 1000  # approximate bytes that an entry takes in addition to its frame

_serials = count(1)  # unique in this process, across all caches


class AnswerCache:
    """A cache of decoded and checked answers, with the raw bytes of their frames as keys.

    A frame's meaning depends only on its bytes, so no submission can affect how another's answer is decoded. The values are
    shared, so they must not be modified, and arrays are read-only. A full cache is cleared.
    """

    def __init__(self, size: int = _CACHE_SIZE) -> None:
        self._answers: dict[tuple[bytes, bytes | bytearray], Answer] = {}
        self._size = self._bytes_left = size

    def get(self, head: bytes, blob: bytes | bytearray) -> Answer | None:
        """Return the answer for exactly these bytes, or None."""
        return self._answers.get((head, blob)) if type(blob) is bytes else None

    def keep(self, head: bytes, blob: bytes | bytearray, answer: Answer) -> Answer:
        """Cache ``answer`` if it is small enough, and return it with a serial number if it was cached."""
        size = len(head) + len(blob)
        if type(blob) is not bytes or size > _MAX_CACHED:
            return answer
        self._bytes_left -= size + _OVERHEAD
        if self._bytes_left < 0:
            self._answers.clear()
            self._bytes_left = self._size - size - _OVERHEAD
        answer = replace(answer, serial=next(_serials))
        self._answers[head, blob] = answer
        return answer


_MAX_AXES = 6
_FLAT = (str, bytes, bytearray, set, frozenset, range)

Shape = tuple[int, ...]


class Size(NamedTuple):
    """The size of a call's arguments, including strings and the items of lists, tuples and dicts.

    Attributes:
        elements: The number of elements of the largest argument.
        axis: The length of the longest axis.
        axes: The largest number of axes.
        together: The size of the largest array that the function may reasonably create: the elements that all arguments
            broadcast to, or the leading axes times the product of the two longest last axes.
    """

    elements: int = 0
    axis: int = 0
    axes: int = 0
    together: int = 0

    @classmethod
    def of(cls, arguments: Sequence[Value]) -> Size:
        """Return the size of one call's arguments."""
        shapes = [shape for shape in map(_shape, arguments) if shape]
        broadcast = _broadcast(shapes)
        last = sorted((n for shape in shapes for n in shape[-2:]), reverse=True)
        products = math.prod(broadcast[:-2]) * math.prod(last[:2])
        elements, together = max(map(_elements, arguments), default=0), max(math.prod(broadcast), products)
        return cls(elements, max(broadcast, default=0), len(broadcast), together)

    @classmethod
    def largest(cls, sizes: Iterable[Size]) -> Size:
        """Return the maximum of each field over ``sizes``."""
        return cls(*map(max, zip(cls(), *sizes, strict=True)))

    def allows(self, other: Size) -> bool:
        """Return whether arguments of size ``other`` are not much larger than the check's own, which have this size."""
        return (
            other.elements <= max(1 << 14, 16 * self.elements)
            and other.axis <= max(512, 4 * self.axis)
            and other.axes <= _MAX_AXES
            and other.together <= max(1 << 20, 8 * self.together)
        )


def _shape(value: Value) -> Shape:
    """Return the shape of ``value`` as a NumPy array, with all axes at least 1."""
    if isinstance(value, np.ndarray):
        return tuple(max(1, n) for n in value.shape)
    if isinstance(value, list | tuple | dict):
        items = value.values() if isinstance(value, dict) else value
        return max(1, len(value)), *_broadcast(set(map(_shape, items)))
    if isinstance(value, _FLAT):
        return (max(1, len(value)),)
    return tuple(max(1, n) for n in value.shape) if kind_of_table(value) else ()


def _broadcast(shapes: Iterable[Shape]) -> Shape:
    """Return the shape that ``shapes`` broadcast to: the longest axis at each position, aligned at the last axis."""
    return tuple(map(max, zip_longest(*(shape[::-1] for shape in shapes), fillvalue=1)))[::-1]


def _elements(value: Value) -> int:
    if isinstance(value, np.ndarray):
        return value.size
    if isinstance(value, list | tuple | dict):
        return sum(map(_elements, value.values() if isinstance(value, dict) else value))
    if isinstance(value, _FLAT):
        return len(value)
    return int(np.prod(value.shape)) if kind_of_table(value) else 1


# The reason for each exit status. A signal that ends the child gives 128 plus the signal's number.
_STOPPED = {OUT_OF_MEMORY: "memory", 128 + 9: "memory", 128 + 24: "timeout", TOO_MANY_THREADS: "threads"}
_MAX_CALLBACKS = 20_000  # the most calls of the parent's functions that a child may make during one call
_RESULTS = 2  # how many results of the maximum size may be in memory at one time
_LARGE = 1 << 16  # bytes above which an answer counts towards the limit on results in memory
_UNPACKED = 4  # approximate bytes in memory for each byte of JSON
_START_SECONDS = 30.0  # the longest time that a child may take to start and restrict itself


class ChildSession:
    """The ``Session`` of a child process. ``end(patience)`` ends that process and returns its exit status."""

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
        self._channel, self._end = channel, end
        self._limits, self._deadline = limits, deadline
        self._stopped, self._closed = "", False
        self._stopped_at: StudentError | None = None
        self._names: frozenset[str] = frozenset()
        self._substitutes: dict[str, Callable[..., Value]] = {}
        self._largest_call = Size()
        self._bytes_left = _RESULTS * limits.result_mb << 20
        self._cache = cache or AnswerCache()

    @property
    def alive(self) -> bool:
        """Whether functions can still be called."""
        return not self._stopped and not self._closed

    def run(
        self, order: dict[str, Any], cells: Sequence[CodeCell], blobs: Sequence[bytes] = ()
    ) -> Iterator[CellOutcome]:
        """Send the cells and yield the outcome of each. The last outcome is ``stopped`` if its cell ended the child."""
        cap = self._limits.output_kb << 10
        budget = OutputBudget()
        self._begin(order, blobs)
        if time.monotonic() >= self._deadline:
            self._stop(TimedOut())  # end the child even if it has answered: no submission gets extra time
        for cell, (*_, seconds) in zip(cells, order["cells"], strict=True):
            if not self._stopped:
                try:
                    # A cell's figures are drawn after the cell has run, with a time limit of their own.
                    head, _blob = self._channel.receive(self._wait_until(seconds + max(2.0, seconds / 4)))
                    outcome = budget.fit(read_outcome(head.get("cell"), cell.index, cap))
                except (ConnectionClosed, TimedOut, WireError) as event:
                    self._stop(event)
                else:
                    yield outcome
                    continue
            yield CellOutcome(index=cell.index, stopped=self._stopped)
            return
        if not self._stopped:
            try:
                head, _blob = self._channel.receive(self._wait_until(1.0))
                self._names = read_names(head.get("names"))
            except (ConnectionClosed, TimedOut, WireError) as event:
                self._stop(event)

    def _begin(self, order: dict[str, Any], blobs: Sequence[bytes]) -> None:
        """Send the order and wait until the child has restricted itself. Only then does it run student code.

        The submission is not charged for this time, because a slow start is not the student's fault.
        """
        deadline = time.monotonic() + _START_SECONDS
        try:
            with contextlib.suppress(ConnectionClosed):  # read next what the child sent before it ended
                self._channel.send(pack(order, blobs), deadline)
            head, _blob = self._channel.receive(deadline)
        except TooBig:
            self.close()
            raise
        except (ConnectionClosed, TimedOut, WireError) as event:
            self._channel.close()
            how = f"{type(event).__name__}, exit status {self._end(1.0)}"
            raise ChildNotConfined(f"it did not start ({how})") from event
        if "confined" not in head:
            self.close()
            raise ChildNotConfined(read_text(head.get("unconfined", "it did not say why"), 500))

    def names(self) -> frozenset[str]:
        """Return the top-level names that the notebook defined."""
        return self._names

    def call(self, call: Call) -> Answer:
        """Call one function."""
        return self.batch([call])[0]

    def batch(self, calls: Sequence[Call], *, hold: bool = False) -> list[Answer]:
        """Make many calls at once. With ``hold``, no result is encoded before the last call has ended."""
        if not calls:
            return []
        answers: list[Answer] = []
        if self._send(self._frame(calls, hold=hold)):
            ticks = len(calls) if hold else 0
            for call in calls:
                if self._stopped:
                    break
                answers.append(self._receive(call, ticks=ticks))
                ticks = 0
        return answers + [self._ended()] * (len(calls) - len(answers))

    def value(self, name: str) -> Answer:
        """Return the value of a variable, or a ``NameError`` if the notebook does not define it."""
        return self._receive() if self._send(pack({"do": "value", "name": name})) else self._ended()

    def probe(self, source: str, call: Call) -> Answer:
        """Call ``probe(function, *args, **kwargs)``, which ``source`` defines, in the child's process."""
        encode = Encoder(_sent_as_source, 1 << 32, layouts=True)
        name, args, kwargs = _tree_of(call, encode)
        self._note_size(_size_of([call]))
        order = {"do": "probe", "source": source, "name": name, "args": args, "kwargs": kwargs}
        return self._receive(call) if self._send(pack(order, encode.blobs)) else self._ended()

    def substitute(self, name: str, function: Callable[..., Value]) -> None:
        """Replace ``name`` in the notebook with a function of the parent. Does nothing if the child has ended.

        A random generator that the notebook passes to the function advances as if the function ran in the notebook.
        """
        self._substitutes[name] = function
        if self._send(pack({"do": "substitute", "name": name})):
            try:
                self._channel.receive(self._wait_until(1.0))
            except (ConnectionClosed, TimedOut, WireError) as event:
                self._stop(event)

    def define(self, sources: Mapping[str, str]) -> None:
        """Replace each name with the definition in its source, everywhere it is referenced. Raises ``ValueError`` if this fails."""
        answer = self._define(sources)
        if answer.error is not None or answer.stopped:
            raise ValueError(f"the edited code cannot be defined: {answer.stopped or answer.error}")

    def reset(self) -> None:
        """Restore all names that the notebook defined."""
        if self.alive:
            self._define({})

    def _define(self, sources: Mapping[str, str]) -> Answer:
        order = {"do": "define", "sources": list(sources.items())}
        return self._receive() if self._send(pack(order)) else self._ended()

    def run_variants(
        self, programs: Sequence[Mapping[str, str]], calls: Sequence[Call], seconds: float
    ) -> list[list[Answer]]:
        """Return, for each of ``programs`` (sources by name), the answers to ``calls``. Each call may take ``seconds``.

        If a program cannot be defined or fails, all its later answers are that failure. If a program ends the child,
        the lists for that program and all later ones are empty.
        """
        encode = Encoder(_sent_as_source, 1 << 32)
        trees, probes = _trees_of(calls, encode)
        self._note_size(_size_of(calls))
        encoded = [list(sources.items()) for sources in programs]
        order = {"do": "run_variants", "programs": encoded, "calls": trees, "probes": probes, "seconds": seconds}
        results: list[list[Answer]] = [[] for _ in programs]
        if self._send(pack(order, encode.blobs)):
            for answers in results:
                for call in calls:
                    answers.append(self._receive(call, seconds=seconds))
                    if self._stopped:
                        answers.clear()
                        return results
        return results

    def close(self) -> None:
        """End the child."""
        if not self._closed:
            self._closed = True
            self._channel.close()
            if not self._stopped:
                self._end(0.0)

    def _wait_until(self, seconds: float) -> float:
        """Return the time at which the parent stops waiting, a little later than the child's own limit of ``seconds`` of processor time."""
        return min(time.monotonic() + self._limits.waiting * seconds + max(0.5, seconds / 4), self._deadline)

    def _ended(self) -> Answer:
        return Answer(stopped=self._stopped or "crash", at=self._stopped_at)

    def _frame(self, calls: Sequence[Call], *, hold: bool) -> bytes:
        """Return the frame of ``calls``. The frame of a ``Script`` is built only once."""
        frames: dict[bool, tuple[bytes, Size]] = calls.frames if isinstance(calls, Script) else {}
        if hold not in frames:
            encode = Encoder(_sent_as_source, 1 << 32, layouts=True)
            trees, probes = _trees_of(calls, encode)
            order = {"do": "calls", "hold": hold, "calls": trees, "probes": probes}
            frames[hold] = pack(order, encode.blobs), _size_of(calls)
        frame, size = frames[hold]
        self._note_size(size)
        return frame

    def _note_size(self, size: Size) -> None:
        self._largest_call = Size.largest([self._largest_call, size])

    def _send(self, frame: bytes) -> bool:
        """Send an order. Return False if the child has ended."""
        if self._closed or self._stopped:
            return False
        try:
            self._channel.send(frame, self._wait_until(self._limits.call_seconds))
        except (ConnectionClosed, TimedOut) as event:
            self._stop(event)
        return not self._stopped

    def _receive(self, call: Call | None = None, *, ticks: int = 0, seconds: float | None = None) -> Answer:
        """Return the next answer, which is the answer to ``call``. Until it arrives, serve the child's calls of the parent's functions."""
        judged = call.judged if call is not None else (lambda answer: answer)
        deadline = self._wait_until(self._limits.call_seconds if seconds is None else seconds)
        callbacks = 0
        try:
            while True:
                raw, blob = self._channel.receive_raw(deadline)
                if answer := self._cache.get(raw, blob):
                    return judged(answer)
                head = parse_head(raw)
                if ticks and "tick" in head:
                    ticks -= 1
                    deadline = self._wait_until(self._limits.call_seconds)
                elif "ask" in head and callbacks < _MAX_CALLBACKS:
                    callbacks += 1
                    self._reply(head, blob, deadline)
                elif seconds is not None and "stopped" in head:
                    return Answer(stopped="timeout")  # only this program timed out: the child continues with the next
                else:
                    answer = judged(self._cache.keep(raw, blob, self._read(head, blob)))
                    return self._limit_memory(answer, len(raw), len(blob))
        except (ConnectionClosed, TimedOut, WireError) as event:
            self._stop(event)
            return self._ended()

    def _limit_memory(self, answer: Answer, text: int, arrays: int) -> Answer:
        """Return ``answer``, or an error if the answers of this session would use too much memory together."""
        size = _UNPACKED * text + arrays
        if size <= _LARGE:
            return answer
        if size > self._bytes_left:
            why = f"together with the earlier results, it takes more than {_RESULTS * self._limits.result_mb} MiB"
            return Answer(error=StudentError("ResultTooBig", f"The result is too large to be checked: {why}."))
        self._bytes_left -= size
        weakref.finalize(answer, self._release, size).atexit = False
        return answer

    def _release(self, size: int) -> None:
        self._bytes_left += size

    def _read(self, head: dict[str, Json], blob: bytes | bytearray) -> Answer:
        if "stopped" in head:
            self._stopped_at = read_error(head["at"]) if head.get("at") else None
            raise TimedOut
        if "error" in head:
            return Answer(error=read_error(head["error"]))
        if "value" not in head:
            raise WireError("an answer has no value")
        changed = head.get("changed")
        if type(changed) is not list or len(changed) > 64 or not all(type(label) is str for label in changed):
            raise WireError("an answer does not say what changed")
        value = Decoder(blob, _opaque)(head["value"])
        labels = [read_text(label, 100) for label in changed]
        same = tuple(label[1:] for label in labels if label.startswith("="))
        return Answer(value=value, changed=tuple(label for label in labels if not label.startswith("=")), same=same)

    def _reply(self, head: dict[str, Json], blob: bytes | bytearray, deadline: float) -> None:
        function = self._substitutes.get(head["ask"]) if type(head["ask"]) is str else None
        args, kwargs = head.get("args"), head.get("kwargs")
        if function is None or type(args) is not list or type(kwargs) is not list:
            raise WireError("the sandbox asked for a function that is not available to it")
        generators: list[np.random.Generator] = []

        def special(tag: str, items: list[Json]) -> Value:
            if tag != "r":
                return _opaque(tag, items)
            generators.append(np.random.default_rng(0))
            set_rng_state(generators[-1], items)
            return generators[-1]

        decode = Decoder(blob, special, copy=True)
        positional = [decode(item) for item in args]
        named = {}
        for pair in kwargs:
            if type(pair) is not list or len(pair) != 2 or type(pair[0]) is not str:
                raise WireError("the name of a keyword argument is not a string")
            named[pair[0]] = decode(pair[1])
        if not self._largest_call.allows(Size.of([*positional, *named.values()])):
            raise WireError("a call's arrays are far larger than the check's own")
        encode = Encoder(_opaque_out, self._limits.result_mb << 20)
        try:
            with np.errstate(all="ignore"):
                value = encode(function(*positional, **named))
            frame = pack({"value": value, "states": [*map(rng_state, generators)]}, encode.blobs)
        except (Exception, TooBig) as error:  # noqa: BLE001 - a student may pass anything to the reference
            failure = {"error": type(error).__name__, "message": read_text(str(error), 300)}
            frame = pack(failure | {"states": [*map(rng_state, generators)]})
        self._channel.send(frame, deadline)

    def _stop(self, event: Exception) -> None:
        """Record that the child has ended, or end it now."""
        if self._stopped:
            return
        if isinstance(event, ConnectionClosed):
            self._stopped = _STOPPED.get(self._end(1.0), "crash")
        else:
            self._stopped = "timeout" if isinstance(event, TimedOut) else "protocol"
            self._end(0.0)
        self._channel.close()


class ChildNotConfined(Exception):  # noqa: N818
    """Raised if a child could not restrict itself. It has run no student code."""


def _tree_of(call: Call, encode: Encoder) -> list[Json]:
    call = redacted(call)
    first: dict[int, int] = {}  # each array's first position: an array that is passed twice is one object in the child
    places = [first.setdefault(id(v), i) if isinstance(v, np.ndarray) else i for i, v in enumerate(call.args)]
    args = [encode(v) if i == at else ["=", at] for i, (v, at) in enumerate(zip(call.args, places, strict=True))]
    return [call.function, args, [[k, encode(v)] for k, v in call.kwargs.items()]]


def _trees_of(calls: Sequence[Call], encode: Encoder) -> tuple[list[list[Json]], list[str]]:
    """Return the calls, each with the index of its probe if it has one, and the texts of the probes."""
    probes = list(dict.fromkeys(call.probe for call in calls if call.probe))
    trees = [[*_tree_of(call, encode), *([probes.index(call.probe)] if call.probe else [])] for call in calls]
    return trees, probes


def _size_of(calls: Sequence[Call]) -> Size:
    return Size.largest(Size.of([*call.args, *call.kwargs.values()]) for call in calls)


def _opaque(tag: str, items: list[Json]) -> Opaque:
    if tag != "o" or len(items) != 1:
        raise WireError("a child process cannot send source text")
    return Opaque(read_text(items[0], 200))


def _opaque_out(value: Value) -> list[Json]:
    raise TypeError(f"the reference returned a {type(value).__name__}, which cannot be sent")


def _sent_as_source(value: Value) -> list[Json]:
    if isinstance(value, Source):
        return ["s", value.text, value.name]
    if isinstance(value, Rng):
        return ["r", value.seed]
    if isinstance(value, NameReference):
        return ["n", value.name]
    raise TypeError(
        f"A {type(value).__name__} cannot be sent to a student's function. Send arrays, numbers, strings, "
        "bytes, dates, lists, tuples, dicts and sets of them, tables, a function as Source(text, name) or a generator as Rng(seed)."
    )

"""The conversation inside the child: run the cells, then answer calls until the trusted side hangs up."""

from __future__ import annotations

import contextlib
import os
import sys
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

from .failures import TimeIsUp
from .kernel import Kernel
from .refusals import Jail
from .wire import HEADER, Decoder, Encoder, TooBig, WireError, pack, pack_array, parse_head

Work = Callable[[], tuple[Any, list[str]]]

__all__ = ["OUT_OF_MEMORY", "serve"]

OUT_OF_MEMORY = 66  # the exit status of a child that has no memory left to answer with

_exec, _compile = exec, compile
_array_equal, _allclose, _ndarray = np.array_equal, np.allclose, np.ndarray
_exit = os._exit  # the only exit that no student's code can catch

Pair = tuple[dict[str, Any], bytearray]

_SILENT = 1 << 14  # bytes that may lie in the socket before the other side is woken: far fewer than it holds
_FRAME = 256  # what a small frame takes there at least, about
_PART = 1 << 15


class Line:
    """The child's end of the connection: whole frames in, whole frames out. It trusts the other side.

    Where there is a wake-up socket, the other side sleeps until something comes there: waking it for each of a hundred
    answers would cost more than most of them.
    """

    def __init__(
        self, receive_into: Callable[[memoryview], int], send: Callable[[Any], int], wake: Callable[[], None]
    ) -> None:
        self._receive_into, self._send, self._wake = receive_into, send, wake
        self._silent = 0

    def receive(self) -> Pair:
        """The next frame; ends the process when the other side has hung up."""
        head_length, blob_length = HEADER.unpack(self._exactly(HEADER.size))
        return parse_head(self._exactly(head_length)), self._exactly(blob_length)

    def _exactly(self, count: int) -> bytearray:
        buffer = bytearray(count)
        view, at = memoryview(buffer), 0
        while at < count:
            got = self._receive_into(view[at:])
            if not got:
                _exit(0)
            at += got
        return buffer

    def send(self, frame: bytes, *, more: bool = False) -> None:
        """Write a whole frame; ends the process when the other side has hung up. With ``more`` to come, nothing is woken."""
        view = memoryview(frame)
        self._silent += _FRAME
        while view:
            try:
                sent = self._send(view[:_PART])
            except OSError:
                _exit(0)
            view = view[sent:]
            self._silent += sent
            if self._silent > _SILENT or not (view or more):
                self._silent = 0
                self._wake()


def _stays(value: Any) -> list[Any]:
    kind = type(value)
    name = kind.__name__
    if issubclass(kind, _ndarray):
        name = f"{name} of dtype {value.dtype}"
    return ["o", name[:200]]


class Runner:
    """One notebook and the line over which it is asked."""

    def __init__(self, line: Line, kernel: Kernel, order: dict[str, Any]) -> None:
        self._line, self._kernel = line, kernel
        self._seconds: float = order["call_seconds"]
        self._max_bytes: int = order["max_bytes"]
        self._failed = False  # whether the last piece of work ended with anything but a value
        self._before: dict[str, Any] = {}  # the namespace as it was before anything was defined from outside

    def loop(self) -> None:
        """Answer requests for ever; ``receive`` ends the process."""
        actions = {
            "calls": self._calls,
            "probe": self._probe,
            "value": self._value,
            "substitute": self._substitute,
            "define": self._define,
            "trials": self._trials,
        }
        while True:
            head, blob = self._line.receive()
            actions[head["do"]](head, blob)

    def _calls(self, head: dict[str, Any], blob: bytearray) -> None:
        decode = Decoder(blob, self._special, copy=True)
        held: list[Callable[[], bytes]] = []
        left = len(head["calls"])
        for name, args, kwargs in head["calls"]:
            left -= 1

            def work(name: str = name, args: Any = args, kwargs: Any = kwargs) -> tuple[Any, list[str]]:
                witness = _Witness(decode)
                positional, named = witness.arguments(args, kwargs)
                value = self._look_up(name)(*positional, **named)
                return value, witness.changed()

            if head["hold"]:
                held.append(self._held(work))
                self._line.send(_TICK, more=True)  # so that the trusted side can time each call
            else:
                self._line.send(self._answered(work), more=left > 0)
        for place, write_down in enumerate(held, start=1):
            self._line.send(write_down(), more=place < len(held))

    def _probe(self, head: dict[str, Any], blob: bytearray) -> None:
        def work() -> tuple[Any, list[str]]:
            witness = _Witness(Decoder(blob, self._special, copy=True))
            positional, named = witness.arguments(head["args"], head["kwargs"])
            probe = self._special("s", [head["source"], "probe"])
            value = probe(self._look_up(head["name"]), *positional, **named)
            return value, witness.changed()

        self._line.send(self._answered(work))

    def _value(self, head: dict[str, Any], _blob: bytearray) -> None:
        self._line.send(self._answered(lambda: (self._look_up(head["name"]), [])))

    def _substitute(self, head: dict[str, Any], _blob: bytearray) -> None:
        name = head["name"]
        line, max_bytes = self._line, self._max_bytes

        def ask(*args: Any, **kwargs: Any) -> Any:
            encode = Encoder(_stays, max_bytes)
            positional, named = [encode(a) for a in args], [[k, encode(v)] for k, v in kwargs.items()]
            line.send(pack({"ask": name, "args": positional, "kwargs": named}, encode.blobs))
            reply, blob = line.receive()
            if "error" in reply:
                raise _KNOWN_ERRORS.get(reply["error"], RuntimeError)(reply["message"])
            return Decoder(blob, self._special, copy=True)(reply["value"])

        ask.__name__ = ask.__qualname__ = name
        _put_in_place(self._kernel.namespace, name, ask)
        self._line.send(pack({"done": True}))

    def _define(self, head: dict[str, Any], _blob: bytearray) -> None:
        """Let functions be what other sources make of them, or with no sources what the notebook made of them."""

        def work() -> tuple[Any, list[str]]:
            self._redefine(head["sources"])
            return None, []

        self._line.send(self._answered(work))

    def _trials(self, head: dict[str, Any], blob: bytearray) -> None:
        """Ask each of several programs the same; where one cannot be defined, or fails, that is its answer to all the rest."""
        seconds, self._seconds = self._seconds, head["seconds"]
        left = len(head["programs"]) * len(head["calls"])
        for sources in head["programs"]:
            decode = Decoder(blob, self._special, copy=True)

            def define(sources: list[list[str]] = sources) -> tuple[Any, list[str]]:
                self._redefine(sources)
                return None, []

            self._failed = False
            frame = self._answered(define)
            for name, args, kwargs in head["calls"]:
                left -= 1

                def work(
                    decode: Decoder = decode, name: str = name, args: Any = args, kwargs: Any = kwargs
                ) -> tuple[Any, list[str]]:
                    witness = _Witness(decode)
                    positional, named = witness.arguments(args, kwargs)
                    return self._look_up(name)(*positional, **named), witness.changed()

                frame = frame if self._failed else self._answered(work)
                self._line.send(frame, more=left > 0)
        self._seconds = seconds
        self._redefine([])

    def _redefine(self, sources: list[list[str]]) -> None:
        """Let the notebook's names be what its cells made them, and then those in ``sources`` what they define."""
        namespace = self._kernel.namespace
        if not self._before:
            self._before = dict(namespace)
        for name, now in list(namespace.items()):
            was = self._before.get(name)
            if now is not was and type(now) is FunctionType and type(was) is FunctionType:
                _put_in_place(namespace, name, was)
        namespace.update(self._before)
        for name in [name for name in namespace if name not in self._before]:
            del namespace[name]
        for name, source in sources:
            old = namespace.get(name)
            place = old.__code__.co_filename if type(old) is FunctionType else "<edited>"
            _exec(_compile(source, place, "exec", dont_inherit=True), namespace)
            new, namespace[name] = namespace[name], old
            _put_in_place(namespace, name, new)

    def _look_up(self, name: str) -> Any:
        if not name.isascii():
            name = unicodedata.normalize("NFKC", name)  # as Python reads the names in source text
        if name not in self._kernel.namespace:
            raise NameError(f"name {name!r} is not defined")
        return self._kernel.namespace[name]

    @staticmethod
    def _special(tag: str, items: list[Any]) -> Any:
        if tag == "r":
            return np.random.default_rng(items[0])
        if tag != "s" or len(items) != 2:
            raise WireError("only source text and seeds are sent inwards")
        text, name = items
        namespace: dict[str, Any] = {"__name__": "given", "np": np}
        _exec(_compile(text, "<given>", "exec"), namespace)
        return namespace[name]

    def _answered(self, work: Work) -> bytes:
        """Do ``work`` and write its answer down, within its time."""
        return self._within(lambda: self._packed(*work()))

    def _held(self, work: Work) -> Callable[[], bytes]:
        """Do ``work`` within its time; what is returned writes the answer down, also within a limit."""
        done: list[tuple[Any, list[str]]] = []

        def hold() -> bytes:
            done.append(work())
            return b""

        failure = self._within(hold)
        return lambda: failure or self._within(lambda: self._packed(*done[0]))

    def _within(self, work: Callable[[], bytes]) -> bytes:
        try:
            return self._kernel.clock.run(self._seconds, work)
        except TimeIsUp:
            self._failed = True
            return pack({"stopped": "timeout"})
        except TooBig as error:
            self._failed = True
            message = f"The result is too big to be looked at: {error}."
            return pack({"error": {"type": "ResultTooBig", "message": message}})
        except BaseException as error:  # noqa: BLE001 - a student's class may do anything when it is looked at
            self._failed = True
            described = self._kernel.describe(error)
            error.__traceback__ = None  # its frames may hold gigabytes
            return pack({"error": described})

    def _packed(self, value: Any, changed: list[str]) -> bytes:
        if not changed and (frame := pack_array(value, self._max_bytes)):
            return frame
        encode = Encoder(_stays, self._max_bytes)
        return pack({"value": encode(value), "changed": changed}, encode.blobs)


def _put_in_place(namespace: dict[str, Any], name: str, new: Any) -> None:
    """Let ``name`` be ``new``, also where the old one was kept under another name, as a default, in a ``partial``, or enclosed."""
    old = namespace.get(name)
    namespace[name] = new
    if type(old) is not FunctionType:  # NumPy's own, say, may be meant for something else elsewhere
        return

    def swapped(value: Any) -> Any:
        if value is old:
            return new
        if type(value) is partial and value.func is old:
            return partial(new, *value.args, **value.keywords)
        return value

    for key, value in list(namespace.items()):
        namespace[key] = swapped(value)
        if type(value) is FunctionType:
            if value.__defaults__:
                value.__defaults__ = tuple(map(swapped, value.__defaults__))
            if value.__kwdefaults__:
                value.__kwdefaults__ = {word: swapped(default) for word, default in value.__kwdefaults__.items()}
            for cell in value.__closure__ or ():
                with contextlib.suppress(ValueError):  # nothing has been put into that cell yet
                    cell.cell_contents = swapped(cell.cell_contents)


_TICK = pack({"tick": True})
_KNOWN_ERRORS: dict[str, type[Exception]] = {
    kind.__name__: kind
    for kind in (ValueError, TypeError, IndexError, KeyError, ZeroDivisionError, NotImplementedError)
}


class _Witness:
    """Makes the arguments of a call; afterwards it names those whose arrays, also inside lists and dicts, the call changed."""

    def __init__(self, decode: Decoder) -> None:
        self._decode = decode
        self._watched: list[tuple[str, Any, list[Any]]] = []

    def arguments(self, args: list[Any], kwargs: list[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The positional arguments and the named ones that the trees describe."""
        positional = [self._argument(str(place), tree) for place, tree in enumerate(args)]
        return positional, {key: self._argument(key, tree) for key, tree in kwargs}

    def _argument(self, label: str, tree: Any) -> Any:
        known = len(self._decode.originals)
        value = self._decode(tree)
        if type(value) in _MAY_HOLD_ARRAYS:
            self._watched.append((label, value, self._decode.originals[known:]))
        return value

    def changed(self) -> list[str]:
        """The labels (positions or keywords) whose arrays differ from before at rtol 1e-5, atol 1e-6."""
        return [label for label, value, originals in self._watched if not _same_arrays(value, originals)]


_MAY_HOLD_ARRAYS = (_ndarray, list, tuple, dict)


def _same_arrays(value: Any, before: list[Any]) -> bool:
    now = list(_arrays_in(value))
    return len(now) == len(before) and all(map(_same_array, now, before))


def _arrays_in(value: Any) -> Any:
    if type(value) is _ndarray:
        yield value
    elif type(value) in (list, tuple):
        for item in value:
            yield from _arrays_in(item)
    elif type(value) is dict:
        for item in value.values():
            yield from _arrays_in(item)


def _same_array(now: Any, before: Any) -> bool:
    if now.shape != before.shape or now.dtype != before.dtype:
        return False
    return now.tobytes() == before.tobytes() or bool(_allclose(now, before, rtol=1e-5, atol=1e-6, equal_nan=True))


_UNTELLABLE = {"type": "OutputTooBig", "message": "What this cell put out is too big to be kept."}


def _lay_out(files: list[list[Any]], blob: bytearray) -> None:
    """Write the files that lie beside the notebook into the current folder, from which modules are imported then too."""
    at = 0
    for path, size in files:
        folder = os.path.dirname(path)  # noqa: PTH120 - pathlib is not worth its import for one call
        if folder:
            os.makedirs(folder, exist_ok=True)  # noqa: PTH103
        with open(path, "wb") as file:  # noqa: PTH123
            file.write(memoryview(blob)[at : at + size])
        at += size
    if files:
        sys.path.insert(0, "")


def serve(
    receive_into: Callable[[memoryview], int],
    send: Callable[[Any], int],
    wake: Callable[[], None] = lambda: None,
    jail: Jail | None = None,
) -> None:
    """Be the child of one submission, in ``jail`` where there is one: the first frame brings its cells; never returns."""
    line = Line(receive_into, send, wake)
    status = 1
    try:
        order, blob = line.receive()
        _lay_out(order.get("files", []), blob)
        os.environ.update(order.get("environment", {}))
        line.send(pack({"confined": True}))
        if jail is not None and order.get("files"):
            jail = replace(jail, alone=False)
        kernel = Kernel(seed=order["seed"], output_chars=order["output_chars"], draw=order["draw"], jail=jail)
        late = False
        for index, name, source, optional, seconds in order["cells"]:
            # What overran once is likely to be called by the pictures that follow: they are not waited for as long.
            outcome = kernel.run(index, name, source, min(seconds, 1.0) if late and optional else seconds)
            late = late or outcome.get("stopped") == "timeout"
            try:
                frame = pack({"cell": outcome})
            except (TooBig, UnicodeError):
                # Too many pictures, most likely; nbgrader reads a score out of the result and the streams.
                outcome["outputs"] = [output for output in outcome["outputs"] if output[0] != "display"]
                try:
                    frame = pack({"cell": outcome})
                except (TooBig, UnicodeError):
                    outcome |= {"outputs": [], "error": _UNTELLABLE}
                    frame = pack({"cell": outcome})
            line.send(frame, more=True)
        names = [name[:200] for name in kernel.names()[:5000]]
        line.send(pack({"names": names}))
        Runner(line, kernel, order).loop()
    except MemoryError:
        status = OUT_OF_MEMORY
    finally:
        _exit(status)

"""The conversation inside the child: run the cells, then answer calls until the trusted side hangs up."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .argument_changes import ArgumentTracker
from .connection import Connection
from .failures import CallTimeout, JailLimits
from .kernel import Kernel
from .namespace import look_up, rebind, redefine
from .wire import Decoder, Encoder, pack, pack_array
from .wire_limits import TooBig, WireError
from .wire_plain import opaque_tree

Work = Callable[[], tuple[Any, list[str]]]

__all__ = ["OUT_OF_MEMORY", "serve"]

OUT_OF_MEMORY = 66  # the exit status of a child that has no memory left to answer with

_exec, _compile = exec, compile
_exit = os._exit  # the only exit that no student's code can catch


class Runner:
    """One notebook and the line over which it is asked."""

    def __init__(self, line: Connection, kernel: Kernel, order: dict[str, Any]) -> None:
        self._line, self._kernel = line, kernel
        self._seconds: float = order["call_seconds"]
        self._max_bytes: int = order["max_bytes"]
        self._failed = False  # whether the last piece of work ended with anything but a value
        self._compiled: dict[str, Any] = {}  # the texts that came from the trusted side
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
        for name, args, kwargs, *probe in head["calls"]:
            left -= 1

            work = self._asked(decode, name, args, kwargs, *(head["probes"][place] for place in probe))
            if head["hold"]:
                held.append(self._held(work))
                self._line.send(_TICK, more=True)  # so that the trusted side can time each call
            else:
                self._line.send(self._answered(work), more=left > 0)
        for place, write_down in enumerate(held, start=1):
            self._line.send(write_down(), more=place < len(held))

    def _asked(self, decode: Decoder, name: str, args: list[Any], kwargs: list[Any], probe: str = "") -> Work:
        """What calls one function, or a probe with it: gives its value, and which arguments it changed."""

        def work() -> tuple[Any, list[str]]:
            witness = ArgumentTracker(decode)
            positional, named = witness.arguments(args, kwargs)
            function = look_up(self._kernel.namespace, name)
            if probe:
                value = self._special("s", [probe, "probe"])(function, *positional, **named)
            else:
                value = function(*positional, **named)
            return value, witness.changed()

        return work

    def _probe(self, head: dict[str, Any], blob: bytearray) -> None:
        def work() -> tuple[Any, list[str]]:
            witness = ArgumentTracker(Decoder(blob, self._special, copy=True))
            positional, named = witness.arguments(head["args"], head["kwargs"])
            probe = self._special("s", [head["source"], "probe"])
            value = probe(look_up(self._kernel.namespace, head["name"]), *positional, **named)
            return value, witness.changed()

        self._line.send(self._answered(work))

    def _value(self, head: dict[str, Any], _blob: bytearray) -> None:
        self._line.send(self._answered(lambda: (look_up(self._kernel.namespace, head["name"]), [])))

    def _substitute(self, head: dict[str, Any], _blob: bytearray) -> None:
        name = head["name"]
        line, max_bytes = self._line, self._max_bytes

        def ask(*args: Any, **kwargs: Any) -> Any:
            encode = Encoder(opaque_tree, max_bytes)
            positional, named = [encode(a) for a in args], [[k, encode(v)] for k, v in kwargs.items()]
            line.send(pack({"ask": name, "args": positional, "kwargs": named}, encode.blobs))
            reply, blob = line.receive()
            if "error" in reply:
                raise _KNOWN_ERRORS.get(reply["error"], RuntimeError)(reply["message"])
            return Decoder(blob, self._special, copy=True)(reply["value"])

        ask.__name__ = ask.__qualname__ = name
        rebind(self._kernel.namespace, name, ask)
        self._line.send(pack({"done": True}))

    def _define(self, head: dict[str, Any], _blob: bytearray) -> None:
        """Let functions be what other sources make of them, or with no sources what the notebook made of them."""
        self._line.send(self._answered(self._defining(head["sources"])))

    def _trials(self, head: dict[str, Any], blob: bytearray) -> None:
        """Ask each of several programs the same; where one cannot be defined, or fails, that is its answer to all the rest."""
        seconds, self._seconds = self._seconds, head["seconds"]
        left = len(head["programs"]) * len(head["calls"])
        for sources in head["programs"]:
            decode = Decoder(blob, self._special, copy=True)
            self._failed = False
            frame = self._answered(self._defining(sources))
            for name, args, kwargs, *probe in head["calls"]:
                left -= 1
                probes = [head["probes"][place] for place in probe]

                frame = frame if self._failed else self._answered(self._asked(decode, name, args, kwargs, *probes))
                self._line.send(frame, more=left > 0)
        self._seconds = seconds
        self._defining([])()

    def _defining(self, sources: list[list[str]]) -> Work:
        """What lets the notebook's names be what its cells made them, and then those in ``sources`` what they define."""

        def work() -> tuple[Any, list[str]]:
            namespace = self._kernel.namespace
            if not self._before:
                self._before = dict(namespace)
            redefine(namespace, self._before, sources)
            return None, []

        return work

    def _special(self, tag: str, items: list[Any]) -> Any:
        if tag == "r":
            return np.random.default_rng(items[0])
        if tag == "n":
            return look_up(self._kernel.namespace, *items)
        if tag != "s" or len(items) != 2:
            raise WireError("only source text, names and seeds are sent inwards")
        text, name = items
        namespace: dict[str, Any] = {"__name__": "given", "np": np}
        if text not in self._compiled:  # the script that is asked a hundred times is read once
            self._compiled[text] = _compile(text, "<given>", "exec")
        _exec(self._compiled[text], namespace)
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
        except CallTimeout:
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
        encode = Encoder(opaque_tree, self._max_bytes)
        return pack({"value": encode(value), "changed": changed}, encode.blobs)


_TICK = pack({"tick": True})
_KNOWN_ERRORS: dict[str, type[Exception]] = {
    kind.__name__: kind
    for kind in (ValueError, TypeError, IndexError, KeyError, ZeroDivisionError, NotImplementedError)
}


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
    jail: JailLimits | None = None,
) -> None:
    """Be the child of one submission, in ``jail`` where there is one: the first frame brings its cells; never returns."""
    line = Connection(receive_into, send, wake)
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

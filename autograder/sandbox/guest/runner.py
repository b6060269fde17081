"""Main loop of the sandboxed child: run the cells, then serve calls until the parent disconnects."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from types import CodeType

import numpy as np

from .argument_changes import ArgumentTracker
from .connection import Connection
from .failures import CallTimeout, JailLimits, loop_in
from .kernel import Kernel
from .namespace import look_up, rebind, redefine
from .wire import Decoder, Encoder, pack, pack_array, rng_state, set_rng_state
from .wire_limits import Json, TooBig, Value, WireError
from .wire_plain import materialize_iterators, opaque_tree

Work = Callable[[], tuple[Value, list[str]]]  # returns a value and ``ArgumentTracker.changed(value)``

__all__ = ["OUT_OF_MEMORY", "serve"]

OUT_OF_MEMORY = 66  # exit status of a child that is out of memory

_exec, _compile = exec, compile
_exit = os._exit  # the only exit that student code cannot catch


class Runner:
    """One notebook and its connection to the parent."""

    def __init__(self, connection: Connection, kernel: Kernel, order: dict[str, Json]) -> None:
        self._connection, self._kernel = connection, kernel
        self._seconds: float = order["call_seconds"]
        self._max_bytes: int = order["max_bytes"]
        self._failed = False  # whether the last work failed to return a value
        self._compiled: dict[str, CodeType] = {}  # the code of each source text that the parent sent
        self._before: dict[str, Value] = {}  # the namespace before the parent redefined anything

    def loop(self) -> None:
        """Serve requests forever. ``receive`` ends the process."""
        actions = {
            "calls": self._calls, "probe": self._probe, "value": self._value, "substitute": self._substitute,
            "define": self._define, "run_variants": self._run_variants,
        }  # fmt: skip
        while True:
            head, blob = self._connection.receive()
            actions[head["do"]](head, blob)

    def _calls(self, head: dict[str, Json], blob: bytearray) -> None:
        decode = Decoder(blob, self._special, copy=True)
        held: list[Callable[[], bytes]] = []
        left = len(head["calls"])
        for name, args, kwargs, *probe in head["calls"]:
            left -= 1
            work = self._calling(decode, name, args, kwargs, *(head["probes"][place] for place in probe))
            if head["hold"]:
                held.append(self._hold(work))
                self._connection.send(_TICK, more=True)  # so that the parent can time each call
            else:
                self._connection.send(self._answer(work), more=left > 0)
        for place, encode in enumerate(held, start=1):
            self._connection.send(encode(), more=place < len(held))

    def _calling(self, decode: Decoder, name: str, args: list[Json], kwargs: list[Json], probe: str = "") -> Work:
        """Return the work that calls one function, or a probe with that function."""

        def work() -> tuple[Value, list[str]]:
            tracker = ArgumentTracker(decode)
            positional, named = tracker.arguments(args, kwargs)
            function = look_up(self._kernel.namespace, name)
            if probe:
                value = self._special("s", [probe, "probe"])(function, *positional, **named)
            else:
                value = function(*positional, **named)
            # Take the items of generators first, because a generator may change an argument only then.
            return materialize_iterators(value), tracker.changed(value)

        return work

    def _probe(self, head: dict[str, Json], blob: bytearray) -> None:
        decode = Decoder(blob, self._special, copy=True)
        work = self._calling(decode, head["name"], head["args"], head["kwargs"], head["source"])
        self._connection.send(self._answer(work))

    def _value(self, head: dict[str, Json], _blob: bytearray) -> None:
        self._connection.send(self._answer(lambda: (look_up(self._kernel.namespace, head["name"]), [])))

    def _substitute(self, head: dict[str, Json], _blob: bytearray) -> None:
        name = head["name"]
        connection, max_bytes = self._connection, self._max_bytes

        def ask(*args: Value, **kwargs: Value) -> Value:
            generators = []

            def special(value: Value) -> list[Json]:
                state = rng_state(value)
                generators.extend([value] if state else [])
                return ["r", *state] if state else opaque_tree(value)

            encode = Encoder(special, max_bytes)
            positional, named = [encode(a) for a in args], [[k, encode(v)] for k, v in kwargs.items()]
            connection.send(pack({"ask": name, "args": positional, "kwargs": named}, encode.blobs))
            reply, blob = connection.receive()
            for rng, state in zip(generators, reply["states"], strict=True):
                set_rng_state(rng, state)
            if "error" in reply:
                raise _KNOWN_ERRORS.get(reply["error"], RuntimeError)(reply["message"])
            return Decoder(blob, self._special, copy=True)(reply["value"])

        ask.__name__ = ask.__qualname__ = name
        rebind(self._kernel.namespace, name, ask)
        self._connection.send(pack({"done": True}))

    def _define(self, head: dict[str, Json], _blob: bytearray) -> None:
        """Replace functions with the definitions in the sources. With no sources, restore the notebook's own functions."""
        self._connection.send(self._answer(self._defining(head["sources"])))

    def _run_variants(self, head: dict[str, Json], blob: bytearray) -> None:
        """Make the same calls to several programs. If a program cannot be defined or fails, its later calls return that failure."""
        seconds, self._seconds = self._seconds, head["seconds"]
        left = len(head["programs"]) * len(head["calls"])
        for sources in head["programs"]:
            decode = Decoder(blob, self._special, copy=True)
            self._failed = False
            frame = self._answer(self._defining(sources))
            for name, args, kwargs, *probe in head["calls"]:
                left -= 1
                probes = [head["probes"][place] for place in probe]
                frame = frame if self._failed else self._answer(self._calling(decode, name, args, kwargs, *probes))
                self._connection.send(frame, more=left > 0)
        self._seconds = seconds
        self._defining([])()

    def _defining(self, sources: list[list[str]]) -> Work:
        """Return the work that restores the notebook's names and then defines those in ``sources``."""

        def work() -> tuple[Value, list[str]]:
            namespace = self._kernel.namespace
            if not self._before:
                self._before = dict(namespace)
            redefine(namespace, self._before, sources)
            return None, []

        return work

    def _special(self, tag: str, items: list[Json]) -> Value:
        if tag == "r":
            return np.random.default_rng(items[0])
        if tag == "n":
            return look_up(self._kernel.namespace, *items)
        if tag != "s" or len(items) != 2:
            raise WireError("only source text, names and seeds are sent to the child")
        text, name = items
        namespace: dict[str, Value] = {"__name__": "given", "np": np}
        if text not in self._compiled:  # a script that is called a hundred times is compiled once
            self._compiled[text] = _compile(text, "<given>", "exec")
        _exec(self._compiled[text], namespace)
        return namespace[name]

    def _answer(self, work: Work) -> bytes:
        """Do ``work`` and return the frame of its result, within the time limit."""
        return self._within(lambda: self._packed(*work()))

    def _hold(self, work: Work) -> Callable[[], bytes]:
        """Do ``work`` within the time limit. Return a function that encodes the result, also within the limit."""
        done: list[tuple[Value, list[str]]] = []

        def hold() -> bytes:
            done.append(work())
            return b""

        failure = self._within(hold)
        return lambda: failure or self._within(lambda: self._packed(*done[0]))

    def _within(self, work: Callable[[], bytes]) -> bytes:
        try:
            return self._kernel.clock.run(self._seconds, work)
        except CallTimeout as error:
            self._failed = True
            return pack({"stopped": "timeout", "at": loop_in(error.__traceback__, self._kernel.sources)})
        except TooBig as error:
            self._failed = True
            message = f"The result is too large to be checked: {error}."
            return pack({"error": {"type": "ResultTooBig", "message": message}})
        except BaseException as error:  # noqa: BLE001 - a student's class may raise anything when it is encoded
            self._failed = True
            described = self._kernel.describe(error)
            error.__traceback__ = None  # its frames may keep gigabytes alive
            return pack({"error": described})

    def _packed(self, value: Value, changed: list[str]) -> bytes:
        if not changed and (frame := pack_array(value, self._max_bytes)):
            return frame
        encode = Encoder(opaque_tree, self._max_bytes)
        return pack({"value": encode(value), "changed": changed}, encode.blobs)


_TICK = pack({"tick": True})
_KINDS = (ValueError, TypeError, IndexError, KeyError, ZeroDivisionError, NotImplementedError)
_KNOWN_ERRORS: dict[str, type[Exception]] = {kind.__name__: kind for kind in _KINDS}

_TOO_MUCH_OUTPUT = {"type": "OutputTooBig", "message": "This cell's output is too large to be kept."}


def _set_up(files: list[Json], blob: bytearray) -> None:
    """Write the files that come with the notebook to the current folder, and allow imports from it."""
    offset = 0
    for path, size in files:
        folder = os.path.dirname(path)  # noqa: PTH120 - pathlib is not worth its import for one call
        if folder:
            os.makedirs(folder, exist_ok=True)  # noqa: PTH103
        with open(path, "wb") as file:  # noqa: PTH123
            file.write(memoryview(blob)[offset : offset + size])
        offset += size
    if files:
        sys.path.insert(0, "")


def serve(
    receive_into: Callable[[memoryview], int],
    send: Callable[[memoryview], int],
    wake: Callable[[], None] = lambda: None,
    jail: JailLimits | None = None,
) -> None:
    """Run the child of one submission, in ``jail`` if it is sandboxed. The first frame contains the cells. Never returns."""
    connection = Connection(receive_into, send, wake)
    status = 1
    try:
        order, blob = connection.receive()
        _set_up(order.get("files", []), blob)
        os.environ.update(order.get("environment", {}))
        connection.send(pack({"confined": True}))
        if jail is not None and order.get("files"):
            jail = replace(jail, alone=False)
        kernel = Kernel(order, jail)
        kernel.clock.handle_interrupts()
        late = False
        for index, name, source, optional, seconds in order["cells"]:
            # Optional cells after a timeout get less time, because pictures often call the same slow code.
            outcome = kernel.run(index, name, source, min(seconds, 1.0) if late and optional else seconds)
            late = late or outcome.get("stopped") == "timeout"
            try:
                frame = pack({"cell": outcome})
            except (TooBig, UnicodeError):
                # Most likely, there are too many pictures. Drop them, because nbgrader reads a score only from the result and the streams.
                outcome["outputs"] = [output for output in outcome["outputs"] if output[0] != "display"]
                try:
                    frame = pack({"cell": outcome})
                except (TooBig, UnicodeError):
                    outcome |= {"outputs": [], "error": _TOO_MUCH_OUTPUT}
                    frame = pack({"cell": outcome})
            connection.send(frame, more=True)
        names = [name[:200] for name in kernel.names()[:5000]]
        connection.send(pack({"names": names}))
        Runner(connection, kernel, order).loop()
    except MemoryError:
        status = OUT_OF_MEMORY
    finally:
        _exit(status)

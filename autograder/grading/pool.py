"""Several grading processes side by side: each has its own jail and its own checks, and takes one notebook at a time.

A process that dies (or is killed) loses nothing: the notebook that it had in hand goes to another one. A notebook that
takes two processes with it is told as ungradable, and the rest of the class is graded as if nothing had happened.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from autograder.course import CourseError, load_course

__all__ = ["Task", "ending", "run_pool", "serve"]

_AHEAD = 2  # notebooks in a process's hands: the one it grades and the next
_DEATHS = 2  # processes that a notebook may take with it


@dataclass(frozen=True, slots=True)
class Task:
    """What a grading process is told once: which course and chapter, and how to grade.

    ``work`` is called in the process as ``work(course, chapter, items, done)``: it takes items from an iterator as it is
    ready for them, and hands each result to ``done(item, result)``.
    """

    root: Path
    chapter: str
    work: Callable[..., None]
    options: tuple[tuple[str, Any], ...] = ()


def run_pool(
    task: Task,
    items: Sequence[Any],
    on_done: Callable[[int, Any], None],
    on_lost: Callable[[int, str], None],
    workers: int,
) -> None:
    """Hand ``items`` to ``workers`` processes; ``on_done(position, result)`` hears of each result, in this process.

    ``on_lost`` hears of an item that no process survived. What the checks or the sandbox raise is raised here.
    """
    pool = _Pool(task, items, on_done, on_lost)
    try:
        pool.run(min(workers, len(items)))
    except BaseException:
        pool.end()
        raise
    pool.close()


@dataclass
class _Hand:
    """One grading process and what it has in hand, oldest first."""

    process: Any
    pipe: Connection
    place: int
    holds: deque[int] = field(default_factory=deque)


class _Pool:
    def __init__(
        self,
        task: Task,
        items: Sequence[Any],
        on_done: Callable[[int, Any], None],
        on_lost: Callable[[int, str], None],
    ) -> None:
        self._task, self._items, self._on_done, self._on_lost = task, items, on_done, on_lost
        self._waiting = deque(range(len(items)))
        self._open = set(self._waiting)
        self._deaths: dict[int, int] = {}
        self._hands: list[_Hand] = []
        self._cores: list[int] = []
        # Spawned, not forked: a fork would copy threads' locks, and an open database, into every child.
        self._context = multiprocessing.get_context("spawn")

    def run(self, workers: int) -> None:
        # A grader and its jail take turns: on one core, neither has to be woken on another. Only where every core gets
        # its share, as a core with two of them would be waited for while another has none.
        cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        self._cores = cores if workers >= len(cores) else []
        for _ in range(workers):
            self._hire()
        while self._open:
            ready = wait([hand.pipe for hand in self._hands])
            for hand in [h for h in self._hands if h.pipe in ready]:
                self._hear(hand)

    def close(self) -> None:
        """Let the processes go, which have nothing left to do."""
        for hand in self._hands:
            with suppress(OSError):
                hand.pipe.send(None)
        for hand in self._hands:
            hand.process.join(5)
        self.end()

    def end(self) -> None:
        """End the processes now, whatever they do; their jails end with them."""
        for hand in self._hands:
            if hand.process.is_alive():
                hand.process.terminate()
        for hand in self._hands:
            hand.process.join(5)
            if hand.process.is_alive():
                hand.process.kill()
                hand.process.join()
            hand.pipe.close()

    def _hire(self) -> None:
        ours, theirs = self._context.Pipe()
        taken = {hand.place for hand in self._hands}
        place = next(place for place in count() if place not in taken)
        core = self._cores[place % len(self._cores)] if self._cores else None
        process = self._context.Process(target=serve, args=(self._task, theirs, core), daemon=True)
        process.start()
        theirs.close()
        hand = _Hand(process, ours, place)
        self._hands.append(hand)
        self._feed(hand)

    def _feed(self, hand: _Hand) -> None:
        while self._waiting and len(hand.holds) < _AHEAD:
            position = self._waiting.popleft()
            hand.holds.append(position)
            with suppress(OSError):  # a process that just died is noticed when its pipe is read
                hand.pipe.send((position, self._items[position]))

    def _hear(self, hand: _Hand) -> None:
        try:
            kind, position, what = hand.pipe.recv()
        except (EOFError, OSError):
            self._bury(hand)
            return
        if kind == "raised":
            raise what
        hand.holds.remove(position)
        self._open.discard(position)
        self._feed(hand)
        self._on_done(position, what)

    def _bury(self, hand: _Hand) -> None:
        self._hands.remove(hand)
        hand.process.join(5)
        hand.pipe.close()
        how = ending(hand.process.exitcode)
        for place, position in enumerate(reversed(hand.holds)):
            if place == len(hand.holds) - 1:  # the oldest was being graded; the others had not been begun
                self._deaths[position] = self._deaths.get(position, 0) + 1
            if self._deaths.get(position, 0) >= _DEATHS:
                self._open.discard(position)
                self._on_lost(position, how)
            else:
                self._waiting.appendleft(position)
        if self._open and (self._waiting or not self._hands):
            self._hire()


def ending(code: int | None) -> str:
    """How a process ended, from its exit status: the second half of a sentence."""
    if code is not None and code < 0:
        return f"was killed by {signal.Signals(-code).name}"
    return f"ended with status {code}"


def serve(task: Task, pipe: Connection, core: int | None = None) -> None:
    """What a grading process does: take items until there are no more; on one ``core`` where it is given one."""
    if core is not None:
        with suppress(OSError):  # taken away meanwhile: any other will do
            os.sched_setaffinity(0, {core})
    # Ctrl-C reaches the whole group; only the process at home decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def items() -> Iterator[tuple[int, Any]]:
        while True:
            try:
                message = pipe.recv()
            except (EOFError, OSError):
                os._exit(1)  # home is gone: nobody is left to tell
            if message is None:
                return
            yield message

    def done(position: int, result: Any) -> None:
        pipe.send(("done", position, result))

    try:
        task.work(load_course(task.root), task.chapter, items(), done, **dict(task.options))
    except BaseException as error:  # noqa: BLE001 - carried home and raised there
        with suppress(OSError):
            pipe.send(("raised", -1, error if _travels(error) else CourseError(f"{type(error).__name__}: {error}")))


def _travels(error: BaseException) -> bool:
    import pickle  # noqa: PLC0415 - between two processes of our own, to see whether an error survives the way

    try:
        return isinstance(pickle.loads(pickle.dumps(error)), BaseException)  # noqa: S301
    except Exception:  # noqa: BLE001
        return False

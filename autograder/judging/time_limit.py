"""Limit how long code of this process may run, in any thread, on any system and in a browser.

This module needs only the standard library. A single call into C that does not handle signals, such as a product of
two huge matrices, cannot be interrupted. The ``stuck`` callback can report such a call while it runs.
"""

from __future__ import annotations

# `signal` converts each handler to an enum, which takes longer than many calls. `_signal` does not.
import _signal  # type: ignore[import-not-found]
import _thread
import signal
import sys
import threading
import time
import weakref
from collections import defaultdict
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from types import CodeType, FrameType
from typing import Any, ClassVar

__all__ = ["OutOfTimeError", "time_limit"]

AGAIN = 0.25  # seconds after which the exception is raised again if the student's code caught it
PATIENCE = 4  # times that the exception may be caught. Then it is raised at every step, so that no loop can continue
STUCK = 2.0  # seconds without any reaction until a message explains the wait
WAITING = 10  # the limit on wall-clock time, as a multiple of the limit on processor time
_READ_EVERY = 0.005  # seconds between two readings of the processor's clock
_EVERY = 200  # in a browser, steps between two readings of the clock


class OutOfTimeError(BaseException):
    """Raised when the time is up. ``except Exception`` in the running code does not catch it."""


def time_limit(seconds: float | None, stuck: Callable[[], None] | None = None) -> AbstractContextManager[None]:
    """Raise ``OutOfTimeError`` in the ``with`` block after ``seconds``, and keep raising it until the block ends.

    The limit is on processor time, so that other work on a busy machine does not count. After ``WAITING`` times as long in
    wall-clock time, the block is stopped anyway. In a browser, in other threads and without signals, only wall-clock time counts.

    In the main thread this uses signals, if the system has them. In a browser it uses Python's monitoring (Python
    3.12 and later), and otherwise a second thread.

    Args:
        seconds: the time limit. None means no limit.
        stuck: called in another thread if the code has not reacted for some seconds.
    """
    if seconds is None:
        return nullcontext()
    if sys.platform == "emscripten":
        return _Monitored(seconds)
    if threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer"):
        return _Signalled(seconds, stuck)
    return _FromAThread(seconds, stuck)


class _Limit:
    """The base class of all time limits. ``OutOfTimeError`` is never raised inside the code of this file."""

    _over = False

    def __init__(self, seconds: float, stuck: Callable[[], None] | None = None) -> None:
        self._seconds = seconds
        self._teller: threading.Timer | None = None
        if stuck is not None:
            self._teller = threading.Timer(seconds + STUCK, self._report, [stuck])
            self._teller.daemon = True

    def __enter__(self) -> None:
        if self._teller is not None:
            self._teller.start()
        self._begin()

    def __exit__(self, *_failure: object) -> None:
        while True:
            try:
                self._end()
                if self._teller is not None:
                    self._teller.cancel()
            except OutOfTimeError:  # raised by another thread just before `_end`
                continue
            return

    def _report(self, stuck: Callable[[], None]) -> None:
        """Call ``stuck`` if the code is still running when its time is used up. On a busy machine, this takes longer."""
        waits = self._has_waited()
        while waits and not self._over:
            waits = self._has_waited()
            time.sleep(STUCK)
        if not self._over:
            stuck()

    def _has_waited(self) -> bool:
        return False

    def _begin(self) -> None:
        raise NotImplementedError

    def _end(self) -> None:
        raise NotImplementedError


class _Signalled(_Limit):
    """A limit that uses ``SIGALRM``. It also interrupts waits such as ``time.sleep``, and raises keyboard interrupts again in case they are swallowed."""

    _reading: ClassVar[tuple[float, float]] = (-1.0, 0.0)  # the last reading: when it was taken, and the processor time

    def _begin(self) -> None:
        self._over = False
        now = time.monotonic()
        self._worked, self._latest = self._processor_time(now), now + WAITING * self._seconds
        self._raised: dict[int, int] = {}
        self._before = [(signal.SIGALRM, self._handle(signal.SIGALRM, OutOfTimeError))]
        if _signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._before.append((signal.SIGINT, self._handle(signal.SIGINT, KeyboardInterrupt)))
        # Repeat the signal, in case an error could not be raised or was swallowed.
        signal.setitimer(signal.ITIMER_REAL, self._seconds, AGAIN)

    def _end(self) -> None:
        self._over = True
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in self._before:
            _signal.signal(number, handler)

    def _handle(self, number: signal.Signals, kind: type[BaseException]) -> Any:
        def ring(_number: int, frame: FrameType | None) -> None:
            # Errors in callbacks of the garbage collector (Hypothesis and weak references have some) are swallowed with
            # a warning.
            if self._over or (frame is not None and frame.f_code.co_filename in {__file__, weakref.__file__}):
                return
            if frame is not None and frame.f_code.co_name == "gc_callback":
                return
            if number == signal.SIGALRM and kind is OutOfTimeError and self._has_waited():
                return  # the signal is repeated soon
            times = self._raised[number] = self._raised.get(number, 0) + 1
            if kind is KeyboardInterrupt and times == 1:
                # Let the alarm repeat the interrupt, in case it is swallowed.
                signal.signal(signal.SIGALRM, ring)
                signal.setitimer(signal.ITIMER_REAL, AGAIN, AGAIN)
            if times > PATIENCE:
                # Use a dictionary lookup to interrupt. Python handles signals after each call, and a call here would raise in this frame.
                at_the_next_step: defaultdict[int, None] = defaultdict(partial(_thread.interrupt_main, number))
                at_the_next_step[times]
            raise kind

        return _signal.signal(number, ring)

    @classmethod
    def _processor_time(cls, now: float) -> float:
        """Return the processor time of this process, from a reading that is at most a few milliseconds old.

        A reading may make Linux switch to another process, so the clock is not read for each of thousands of calls per second.
        """
        if now > cls._reading[0] + _READ_EVERY:
            cls._reading = now, time.process_time()
        return cls._reading[1]

    def _has_waited(self) -> bool:
        """Return whether the code has neither used up its processor time nor reached the limit on wall-clock time."""
        worked = time.process_time() - self._worked
        return worked < self._seconds and time.monotonic() < self._latest


class _FromAThread(_Limit):
    """A limit that a second thread enforces by raising the error in the first. It works in any thread and without signals."""

    def _begin(self) -> None:
        self._thread = threading.get_ident()
        self._inside = sys._getframe(2)  # noqa: SLF001 - the frame with the `with` statement
        # Use only locks, which are written in C. An Event is Python code, and the error might be raised inside that code.
        self._over, self._alone, self._end_of_it = False, threading.Lock(), threading.Lock()
        self._raised = False
        self._end_of_it.acquire()
        self._at_every_step: _Monitored | None = None
        threading.Thread(target=self._ring, daemon=True).start()

    def _end(self) -> None:
        self._over = True
        with self._alone:  # nothing is raised after this
            raised = self._raised
        if self._at_every_step is not None:
            self._at_every_step._end()  # noqa: SLF001 - a class of this module
        if raised:
            self._take_back()
        if self._end_of_it.locked():
            self._end_of_it.release()

    def _ring(self) -> None:
        wait, times = self._seconds, 0
        while not self._end_of_it.acquire(timeout=wait):
            frame = sys._current_frames().get(self._thread)  # noqa: SLF001 - the only way to get another thread's frame
            ours = frame is not None and frame.f_code.co_filename == __file__
            while frame is not None and frame is not self._inside:
                frame = frame.f_back
            if frame is None:  # the block has ended, but its `_end` was interrupted
                return
            with self._alone:
                if not ours and not self._over:
                    self._raised = True
                    self._raise()
                    times += 1
            wait = AGAIN if times <= PATIENCE else 0.001
            if times > PATIENCE and self._at_every_step is None:
                self._at_every_step = _Monitored(0.0)
                self._at_every_step.watch(self._thread)
                if sys.version_info >= (3, 12):
                    return  # the monitor raises the error from now on

    def _take_back(self) -> None:
        """Remove a pending error.

        After an error is cleared, Python 3.11 never enters a traced function again. So raise an error and catch it instead.
        """
        self._raised = False
        try:
            self._raise()
            while True:  # the error replaces the pending one and is raised within a few steps
                pass
        except OutOfTimeError:
            return

    def _raise(self) -> None:
        import ctypes  # noqa: PLC0415 - rarely needed

        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread), ctypes.py_object(OutOfTimeError))


class _Monitored(_Limit):
    """A limit that checks the clock after a number of jumps and calls, for systems without threads or signals."""

    _tool: int | None = None

    def _begin(self) -> None:
        self.watch(threading.get_ident())

    def watch(self, thread: int) -> None:
        """Start checking the clock at the steps of ``thread``."""
        watch: Any = getattr(sys, "monitoring", None)
        self._thread = thread
        self._ring_at, self._raised, self._steps = time.monotonic() + self._seconds, 0, 0
        # Python 3.11 has no monitoring. A debugger may use one of the tools.
        self._tool = next((tool for tool in range(6) if watch.get_tool(tool) is None), None) if watch else None
        if self._tool is None:
            return
        watch.use_tool_id(self._tool, "autograder")
        for event in (watch.events.JUMP, watch.events.PY_START, watch.events.PY_RESUME):
            watch.register_callback(self._tool, event, self._look)
        watch.set_events(self._tool, watch.events.JUMP | watch.events.PY_START | watch.events.PY_RESUME)

    def _end(self) -> None:
        if self._tool is None:
            return
        watch: Any = getattr(sys, "monitoring", None)
        watch.set_events(self._tool, 0)
        for event in (watch.events.JUMP, watch.events.PY_START, watch.events.PY_RESUME):
            watch.register_callback(self._tool, event, None)
        watch.free_tool_id(self._tool)
        self._tool = None

    def _look(self, code: CodeType, *_where: object) -> None:
        self._steps += 1
        if (self._steps % _EVERY and self._raised <= PATIENCE) or code.co_filename == __file__:
            return
        now = time.monotonic()
        if now < self._ring_at or threading.get_ident() != self._thread:
            return
        self._raised += 1
        self._ring_at = now + AGAIN if self._raised <= PATIENCE else now
        raise OutOfTimeError

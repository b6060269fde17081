"""A limit on how long code of this process may run: in a thread or the main one, on any system, in a browser.

NumPy-free: the standard library only. What cannot be ended is a single call into C that gives no signal a chance, such as
one product of two huge matrices: it is over when it is over, and a notebook is told so meanwhile.
"""

from __future__ import annotations

# What `signal` is made of: its own functions make an enum of each handler, which takes longer than many a call.
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

__all__ = ["OutOfTimeError", "alarm"]

AGAIN = 0.25  # seconds until what was swallowed is raised again
PATIENCE = 4  # times that it may be swallowed; then it is raised at every step, so that no loop can go on
STUCK = 2.0  # seconds without any reaction, after which a person is told why
WAITING = 10  # times as long by the clock as the processor may work, where that is what counts
_READ_EVERY = 0.005  # seconds between two readings of the processor's clock
_EVERY = 200  # steps between two looks at the clock, in a browser


class OutOfTimeError(BaseException):
    """Raised by the alarm: no ``except Exception`` of the code that runs catches it."""


def alarm(
    seconds: float | None, stuck: Callable[[], None] | None = None, *, of_processor: bool = False
) -> AbstractContextManager[None]:
    """Raise ``OutOfTimeError`` in what runs inside after ``seconds``, again and again until it gives up.

    Seconds ``of_processor`` are those that the processor works for it, where that can be told, so that what else a busy machine
    does is not counted; only after ten times as long by the clock is it over anyway.

    ``stuck`` is called, in another thread, where nothing came of that for some seconds. In the main thread of a system with
    alarms an alarm does it, in a browser Python's own monitoring (from Python 3.12 on), elsewhere a second thread.
    """
    if seconds is None:
        return nullcontext()
    if sys.platform == "emscripten":
        return _Monitored(seconds)
    if threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer"):
        return _Signalled(seconds, stuck, of_processor=of_processor)
    return _FromAThread(seconds, stuck)


class _Limit:
    """What the ways to end a call have in common. All of it stands in this file, in whose frames nothing is ever raised."""

    def __init__(self, seconds: float, stuck: Callable[[], None] | None = None) -> None:
        self._seconds = seconds
        self._teller: threading.Timer | None = None
        if stuck is not None:
            self._teller = threading.Timer(seconds + STUCK, stuck)
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
            except OutOfTimeError:  # another thread had it raised while we were on our way here
                continue
            return

    def _begin(self) -> None:
        raise NotImplementedError

    def _end(self) -> None:
        raise NotImplementedError


class _Signalled(_Limit):
    """By ``SIGALRM``, which also ends a wait such as ``time.sleep``. An interrupt by a person is as persistent."""

    _reading: ClassVar[tuple[float, float]] = (-1.0, 0.0)  # of both clocks

    def __init__(self, seconds: float, stuck: Callable[[], None] | None = None, *, of_processor: bool = False) -> None:
        super().__init__(seconds, stuck)
        self._of_processor = of_processor

    def _begin(self) -> None:
        self._over = False
        now = time.monotonic()
        self._worked, self._latest = self._processor_time(now), now + WAITING * self._seconds
        self._raised: dict[int, int] = {}
        self._before = [(signal.SIGALRM, self._handle(signal.SIGALRM, OutOfTimeError))]
        if _signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._before.append((signal.SIGINT, self._handle(signal.SIGINT, KeyboardInterrupt)))
        # It rings again and again, for where it could not raise and where what it raised was swallowed.
        signal.setitimer(signal.ITIMER_REAL, self._seconds, AGAIN)

    def _end(self) -> None:
        self._over = True
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in self._before:
            _signal.signal(number, handler)

    def _handle(self, number: signal.Signals, kind: type[BaseException]) -> Any:
        def ring(_number: int, frame: FrameType | None) -> None:
            # What is raised inside a callback of the garbage collector, as Hypothesis and weak references have them, is
            # swallowed with a warning.
            if self._over or (frame is not None and frame.f_code.co_filename in {__file__, weakref.__file__}):
                return
            if frame is not None and frame.f_code.co_name == "gc_callback":
                return
            if number == signal.SIGALRM and kind is OutOfTimeError and self._has_waited():
                return  # and it rings again soon
            times = self._raised[number] = self._raised.get(number, 0) + 1
            if kind is KeyboardInterrupt and times == 1:
                # From now on the alarm says this again, for where it is swallowed.
                signal.signal(signal.SIGALRM, ring)
                signal.setitimer(signal.ITIMER_REAL, AGAIN, AGAIN)
            if times > PATIENCE:
                # Looked up and not called, as Python sees to signals after each call, and this one is not for our own frame.
                at_the_next_step: defaultdict[int, None] = defaultdict(partial(_thread.interrupt_main, number))
                at_the_next_step[times]
            raise kind

        return _signal.signal(number, ring)

    @classmethod
    def _processor_time(cls, now: float) -> float:
        """Return how long the processor has worked for this process, as it was a few milliseconds ago at most.

        Each reading may make Linux give the processor to another process, and there are thousands of calls in a second.
        """
        if now > cls._reading[0] + _READ_EVERY:
            cls._reading = now, time.process_time()
        return cls._reading[1]

    def _has_waited(self) -> bool:
        """Whether the processor has worked less than the time that is given, and there is still time to wait for it."""
        worked = time.process_time() - self._worked
        return self._of_processor and worked < self._seconds and time.monotonic() < self._latest


class _FromAThread(_Limit):
    """By a second thread, which has Python raise in the first one: for threads, and for systems without alarms."""

    def _begin(self) -> None:
        self._thread = threading.get_ident()
        self._inside = sys._getframe(2)  # noqa: SLF001 - whoever says "with alarm"
        # Locks alone, which are C: an Event is Python, in which the error might be raised while it is held.
        self._over, self._alone, self._end_of_it = False, threading.Lock(), threading.Lock()
        self._raised = False
        self._end_of_it.acquire()
        self._at_every_step: _Monitored | None = None
        threading.Thread(target=self._ring, daemon=True).start()

    def _end(self) -> None:
        self._over = True
        with self._alone:  # from here on nothing more is raised
            raised = self._raised
        if self._at_every_step is not None:
            self._at_every_step._end()  # noqa: SLF001 - one of ours
        if raised:
            self._take_back()
        if self._end_of_it.locked():
            self._end_of_it.release()

    def _ring(self) -> None:
        wait, times = self._seconds, 0
        while not self._end_of_it.acquire(timeout=wait):
            frame = sys._current_frames().get(self._thread)  # noqa: SLF001 - the only way to see another thread's
            ours = frame is not None and frame.f_code.co_filename == __file__
            while frame is not None and frame is not self._inside:
                frame = frame.f_back
            if frame is None:  # it has left, and its end was cut short
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
                    return  # it raises by itself

    def _take_back(self) -> None:
        """Have no error waiting any more: not by clearing it, after which Python 3.11 never again enters a function that is traced."""
        self._raised = False
        try:
            self._raise()
            while True:  # it comes within a few steps, in the place of one that waits
                pass
        except OutOfTimeError:
            return

    def _raise(self) -> None:
        import ctypes  # noqa: PLC0415 - seldom needed

        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread), ctypes.py_object(OutOfTimeError))


class _Monitored(_Limit):
    """By looking at the clock at every jump and call, where there are neither threads nor signals."""

    _tool: int | None = None

    def _begin(self) -> None:
        self.watch(threading.get_ident())

    def watch(self, thread: int) -> None:
        """Look at the clock at every step of ``thread`` from now on."""
        watch: Any = getattr(sys, "monitoring", None)
        self._thread = thread
        self._ring_at, self._raised, self._steps = time.monotonic() + self._seconds, 0, 0
        # Before Python 3.12 there is none; of those that there are, a debugger may use one.
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

"""Data types for running and calling student code, wherever it runs.

A sandboxed child, an ordinary child process and the in-process version all provide a ``Session``, the only interface that
checks use.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from json.encoder import encode_basestring_ascii
from typing import Any, Protocol, runtime_checkable

from autograder.base.errors import UnavailableError
from autograder.base.foreign import Value
from autograder.base.sanitize import sanitize

__all__ = [
    "MAX_SENT", "Answer", "Call", "CellOutcome", "CodeCell", "EditableSession", "ExpectedError", "Limits",
    "NameReference", "Opaque", "Rng", "SandboxStartError", "SandboxUnavailable", "Script", "Session", "Source", "StudentError", "TimeBudget",
    "encoded_size",
]  # fmt: skip


class SandboxUnavailable(UnavailableError):  # noqa: N818 - reads better in messages
    """Raised if no sandbox works on this machine. The message says what is missing and how to get it."""


class SandboxStartError(SandboxUnavailable):
    """Raised if a sandbox that worked before does not start again. This is no reason to grade without a sandbox."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one submission.

    The seconds for a call or a cell are processor time, so that other work on the machine does not count. In wall-clock time, it may
    take ``waiting`` times as long. ``submission_seconds`` is wall-clock time, for one session (see ``TimeBudget``). ``memory_mb`` is
    the address space in MiB that a submission may use in addition to its packages.
    """

    call_seconds: float = 5.0
    cell_seconds: float = 10.0
    waiting: float = 4.0
    submission_seconds: float = 60.0
    memory_mb: int = 2048
    disk_mb: int = 16
    output_kb: int = 64
    result_mb: int = 64


@dataclass(frozen=True, slots=True)
class ExpectedError:
    """The errors that a call is expected to raise. They are compared in the parent, so the child makes an ordinary call.

    Attributes:
        names: The names of the expected types. An error of one of these types, or of a subclass, is right.
        says: A text that the error's message must contain.
        reports_others: Whether any other ``Exception`` counts as an outcome. If not, it stays an error, with its line.
    """

    names: tuple[str, ...]
    says: str = ""
    reports_others: bool = False

    def outcome(self, answer: Answer) -> Answer:
        """Return ``answer`` with the outcome as its value: ``{"raised": [type, its base types …]}`` or ``{"gave": value}``.

        The text of a right error is left out, because its wording may differ between right functions.
        """
        error = answer.error
        if error is None:
            return answer if answer.stopped else replace(answer, value={"gave": answer.value})
        is_right = not set(self.names).isdisjoint(error.bases)
        # A missing function gives a NameError without a line. Neither this error nor an error of a probe comes from the function.
        not_called = error.type in _OF_A_PROBE or (error.type == "NameError" and not error.line)
        if not_called or not (is_right or (self.reports_others and "Exception" in error.bases)):
            return answer
        said = error.message[:MAX_ERROR_TEXT]
        text = {} if is_right and sanitize(self.says) in said else {"text": said}
        raised = [name for name in error.bases if "." not in name]
        return replace(answer, value={"raised": raised, **text}, error=None)


MAX_ERROR_TEXT = 499  # characters of an error's message that are compared, as many as a notebook keeps
_OF_A_PROBE = frozenset({"NotAsAsked", "NoSuchName"})


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a student's function.

    Attributes:
        function: The name of the function.
        args: The positional arguments.
        kwargs: The keyword arguments.
        probe: Source text that defines ``probe(function, *args, **kwargs)``, which is called instead of the function.
        memory_mb: How much memory in MiB the call may use in addition to what the notebook uses.
        measured: Whether the probe measures the function, so that correct functions may give different results.
        expects: The errors that the call is expected to raise, or None. The child never sees them.
        key: The result of ``call_key``, stored if every submission gets the call.
    """

    function: str
    args: tuple[Value, ...] = ()
    kwargs: Mapping[str, Value] = field(default_factory=dict)
    probe: str = ""
    memory_mb: int | None = None
    measured: bool = False
    expects: ExpectedError | None = None
    key: tuple[Any, ...] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def can_batch(self) -> bool:
        """Whether the call can be sent together with others."""
        return (not self.probe or self.probe.startswith(SCRIPT)) and self.memory_mb is None

    @property
    def is_plain(self) -> bool:
        """Whether the answer is the function's own result: there is no probe, and no error is expected."""
        return not self.probe and self.expects is None

    def judged(self, answer: Answer) -> Answer:
        """Return the child's ``answer``, converted to its outcome if the call should raise an error."""
        return answer if self.expects is None else self.expects.outcome(answer)


# The first line of the probe of a call sequence. Such a probe is fast, so it may be sent in a batch.
SCRIPT = "# a script of steps\n"


class Script(tuple[Call, ...]):  # noqa: SLOT001 - a subclass of tuple cannot have slots
    """Calls that are made to every submission, in this order. They are encoded only once."""

    @cached_property
    def plain(self) -> Script:
        """The calls that can be sent together. They have no memory limit, and no probe except that of a call sequence."""
        plain = [call for call in self if call.can_batch]
        return self if len(plain) == len(self) else Script(plain)

    @cached_property
    def frames(self) -> dict[bool, Any]:
        """A cache of the encoded calls, keyed by ``hold`` (see ``Session.batch``)."""
        return {}


@dataclass(frozen=True, slots=True)
class Source:
    """A function passed as an argument, sent as source ``text`` that defines ``name``. Only the parent can send a function."""

    text: str
    name: str


@dataclass(frozen=True, slots=True)
class NameReference:
    """A student's class or function passed as an argument. Only its ``name`` is sent."""

    name: str


@dataclass(frozen=True, slots=True)
class Rng:
    """A ``numpy.random.Generator`` passed as an argument. Only its ``seed`` is sent, and each call gets a new generator."""

    seed: int


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value that cannot be sent to the parent, with the name of its type."""

    type: str


@dataclass(frozen=True, slots=True)
class StudentError:
    """An exception in student code. All strings are limited in length and contain no control characters.

    ``shapes`` lists the arrays that ``line`` names, with their shapes when the error was raised: ``"Q (2, 3), K (4, 3)"``.
    If ``line`` is in another cell than the function that was called, ``caller`` is the line of the function's cell that led there.
    ``bases`` are the types of the exception (see ``bases_of``).
    """

    type: str
    message: str
    line: str = ""
    lineno: int | None = None
    cell: str = ""
    where: str = ""
    shapes: str = ""
    caller: str = ""
    bases: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Answer:
    """The result of one call.

    Attributes:
        value: The value that the call returned.
        error: The exception that it raised.
        stopped: Why the child ended: ``"timeout"``, ``"memory"``, ``"threads"``, ``"crash"`` or ``"protocol"``. Empty if it did not end.
        changed: The changed arguments, as keywords or positions. Rounding in the last digits of an array does not count.
        same: The arguments that are returned as the result or as a part of it, as keywords or positions.
        serial: A number that two answers share only if they agree bit for bit. None if unknown.
        at: The line that ran when the call was stopped, if known.
    """

    value: Value = None
    error: StudentError | None = None
    stopped: str = ""
    changed: tuple[str, ...] = ()
    same: tuple[str, ...] = field(default=(), compare=False)
    serial: int | None = field(default=None, compare=False)
    at: StudentError | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class CodeCell:
    """One code cell to run: its position in the notebook (from 0), its name in messages, and its source.

    An ``optional`` cell only shows something, such as a picture, and defines no names that other cells need. It is left out
    when the notebook is run again because a cell ended the process, or only to make calls.
    """

    index: int
    name: str
    source: str
    optional: bool = False


MAX_SENT = 3 << 20  # total ``encoded_size`` of a notebook's cells


def encoded_size(source: str) -> int:
    """Return the size of a cell's source as ASCII JSON, with extra weight for brackets and commas.

    The reader refuses frames with too many brackets or commas.
    """
    punctuation = 10 * (source.count("[") + source.count("{")) + 5 * source.count(",")
    return len(encode_basestring_ascii(source)) + punctuation


@dataclass(frozen=True, slots=True)
class CellOutcome:
    """The result of running one code cell: its outputs in nbformat's format, its error, why it was stopped, and in which loop (``at``)."""

    index: int
    outputs: tuple[dict[str, Any], ...] = ()
    error: StudentError | None = None
    stopped: str = ""
    at: StudentError | None = None


class TimeBudget:
    """The time that all sessions of one submission share, starting when the first session is opened.

    A notebook is run again after a call that ended the process, for follow-through and for pictures. Each session may take the
    seconds of a submission, and all sessions together ``FACTOR`` times as many. This is enough for a dozen sessions that each use
    a third of the time. But a submission that ends the process in every call cannot delay the class for long.
    """

    FACTOR = 4

    def __init__(self, seconds: float | None = None) -> None:
        """With ``seconds``, limit all sessions together to this time, from now on."""
        self._end: float | None = None if seconds is None else time.monotonic() + seconds

    def deadline(self, seconds: float) -> float:
        """Return the deadline of a session that is opened now and may take ``seconds``, on the monotonic clock."""
        now = time.monotonic()
        if self._end is None:
            self._end = now + self.FACTOR * seconds
        return min(now + seconds, self._end)


@runtime_checkable
class Session(Protocol):
    """A notebook that has been run and whose functions can be called."""

    sandbox: str
    cells: Sequence[CellOutcome]

    @property
    def alive(self) -> bool:
        """Whether functions can still be called."""

    def names(self) -> frozenset[str]:
        """Return the top-level names that the notebook defined."""

    def call(self, call: Call) -> Answer:
        """Call one function."""

    def batch(self, calls: Sequence[Call], *, hold: bool = False) -> list[Answer]:
        """Make many calls at once. With ``hold``, no result is encoded before the last call has ended."""

    def value(self, name: str) -> Answer:
        """Return the value of a variable, or a ``NameError`` if the notebook does not define it."""

    def substitute(self, name: str, function: Callable[..., Value]) -> None:
        """Replace ``name`` in the notebook with a function of the parent."""

    def probe(self, source: str, call: Call) -> Answer:
        """Call ``probe(function, *args, **kwargs)``, which ``source`` defines, in the child's process."""

    def close(self) -> None:
        """End the child."""


@runtime_checkable
class EditableSession(Session, Protocol):
    """A session whose functions can be replaced with edited ones."""

    def define(self, sources: Mapping[str, str]) -> None:
        """Replace each name with the definition in its source, everywhere it is referenced."""

    def reset(self) -> None:
        """Restore all names that the notebook defined."""

    def run_variants(
        self, programs: Sequence[Mapping[str, str]], calls: Sequence[Call], seconds: float
    ) -> list[list[Answer]]:
        """Return, for each of ``programs`` (sources by name), the answers to ``calls``. Each call may take ``seconds``.

        A list may be shorter if its program cannot be defined or is stopped. In that case the session may no longer be ``alive``.
        """

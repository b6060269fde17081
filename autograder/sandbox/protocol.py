"""The nouns of a conversation with a student's code, wherever it runs.

A jailed child, a plain child process and the in-process double all offer a ``Session``; checks see nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from json.encoder import encode_basestring_ascii
from typing import Any, Protocol, runtime_checkable

from autograder.base.errors import UnavailableError

__all__ = [
    "MAX_SENT", "Answer", "Call", "CellOutcome", "CodeCell", "EditableSession", "Limits", "NameReference", "Opaque",
    "Rng", "SandboxStartError", "SandboxUnavailable", "Script", "Session", "Source", "StudentError", "TimeBudget",
    "encoded_size",
]  # fmt: skip


class SandboxUnavailable(UnavailableError):  # noqa: N818 - it reads as the sentence it is
    """No confinement works here; the text says what is missing and how to get it."""


class SandboxStartError(SandboxUnavailable):
    """A confinement that worked does not start any more: after the first notebook this is no reason to do without one."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one submission may use.

    Seconds are wall-clock, ``submission_seconds`` those of one session (see ``TimeBudget``); ``memory_mb`` is the address space that a submission may add to what the packages take.
    """

    call_seconds: float = 5.0
    cell_seconds: float = 10.0
    submission_seconds: float = 60.0
    memory_mb: int = 2048
    disk_mb: int = 16
    output_kb: int = 64
    result_mb: int = 64


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a student's function.

    ``probe``, where there is one, is source text from the trusted side that defines ``probe(function, *args, **kwargs)``:
    it is called in the function's place, beside it, and what it returns is the answer. ``memory_mb``, where it is given,
    is how much memory the call may take, in MiB, on top of what the notebook holds. ``measured`` says that the probe takes
    a measurement of the function, which may come out otherwise for another right one. ``key`` is the stored result of
    ``key_of``, if the call is made of every submission.
    """

    function: str
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    probe: str = ""
    memory_mb: int | None = None
    measured: bool = False
    key: tuple[Any, ...] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def goes_along(self) -> bool:
        """Whether it can go over together with others."""
        return (not self.probe or self.probe.startswith(SCRIPT)) and self.memory_mb is None


SCRIPT = (
    "# a script of steps\n"  # what a probe begins with that is as quick as a call, and may go over together with others
)


class Script(tuple[Call, ...]):  # noqa: SLOT001 - a tuple cannot have slots that hold something
    """Calls that every submission is asked, in this order: what goes over the wire for them is written down once."""

    @cached_property
    def plain(self) -> Script:
        """Those that can go over together: no probe but that of a script of steps, no memory limit of their own."""
        plain = [call for call in self if call.goes_along]
        return self if len(plain) == len(self) else Script(plain)

    @cached_property
    def frames(self) -> dict[bool, Any]:
        """What was sent for them, by ``hold``."""
        return {}


@dataclass(frozen=True, slots=True)
class Source:
    """A function passed as an argument: it travels as source ``text``, which defines ``name``, from the trusted side only."""

    text: str
    name: str


@dataclass(frozen=True, slots=True)
class NameReference:
    """What the notebook has under ``name``, a class or a function of the student's, passed as an argument: the name alone travels."""

    name: str


@dataclass(frozen=True, slots=True)
class Rng:
    """A ``numpy.random.Generator`` passed as an argument: only its ``seed`` travels, each call gets a fresh generator."""

    seed: int


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value that cannot leave the child: only the name of its type does."""

    type: str


@dataclass(frozen=True, slots=True)
class StudentError:
    """An exception in a student's code. Every text is capped and holds no control characters.

    ``shapes`` tells those of the arrays that ``line`` names, as they were when it raised: ``"Q (2, 3), K (4, 3)"``.
    """

    type: str
    message: str
    line: str = ""
    lineno: int | None = None
    cell: str = ""
    where: str = ""
    shapes: str = ""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Answer:
    """What came back from one call.

    ``stopped`` is empty, or says why the child is no more: ``"timeout"``, ``"memory"``, ``"threads"``, ``"crash"`` or ``"protocol"``.
    ``changed`` names the array arguments (positions as text, or keywords) that differ at tolerance after the call.
    ``serial`` is the same for two answers only if not one byte of them differs; ``None`` where nobody knows. ``at`` is the line
    that ran when the call was stopped, where that is known.
    """

    value: Any = None
    error: StudentError | None = None
    stopped: str = ""
    changed: tuple[str, ...] = ()
    serial: int | None = field(default=None, compare=False)
    at: StudentError | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class CodeCell:
    """One code cell to run: its place in the notebook (from 0), what to call it in messages, and its source.

    An ``optional`` cell only shows something, such as a picture: nothing else needs the names that it makes. It is left
    out where the notebook has to be run again after a cell that killed the process, or only to answer calls.
    """

    index: int
    name: str
    source: str
    optional: bool = False


MAX_SENT = 3 << 20  # by ``weight``: what is sent of a notebook's code


def encoded_size(source: str) -> int:
    """What a cell's source takes up on its way into a child: its JSON in ASCII, brackets and commas counting for more.

    A reader refuses a frame of too many of these.
    """
    signs = 10 * (source.count("[") + source.count("{")) + 5 * source.count(",")
    return len(encode_basestring_ascii(source)) + signs


@dataclass(frozen=True, slots=True)
class CellOutcome:
    """What running one code cell did: its outputs as nbformat has them, its error, and why it was stopped, if it was."""

    index: int
    outputs: tuple[dict[str, Any], ...] = ()
    error: StudentError | None = None
    stopped: str = ""


class TimeBudget:
    """The time that one submission may take, which all of its sessions share. It begins when the first of them is opened.

    A notebook is run again after a call that ended it, for follow-through and for pictures. Each session may take the
    submission's seconds, and all together ``TIMES`` as many: so many that an honest notebook may take a third of its time
    in each of a dozen sessions and miss nothing, and so few that ending every call in turn costs the class little.
    """

    TIMES = 4

    def __init__(self, seconds: float | None = None) -> None:
        """With ``seconds``, all sessions together have these and no more, from now on."""
        self._end: float | None = None if seconds is None else time.monotonic() + seconds

    def deadline(self, seconds: float) -> float:
        """When a session that is opened now has to be done, by the monotonic clock, if alone it may take ``seconds``."""
        now = time.monotonic()
        if self._end is None:
            self._end = now + self.TIMES * seconds
        return min(now + seconds, self._end)


@runtime_checkable
class Session(Protocol):
    """A notebook that has been run and whose functions can be called."""

    sandbox: str
    cells: Sequence[CellOutcome]

    @property
    def alive(self) -> bool:
        """Whether calls can still be answered."""

    def names(self) -> frozenset[str]:
        """The top-level names that the notebook defined."""

    def call(self, call: Call) -> Answer:
        """Call one function."""

    def batch(self, calls: Sequence[Call], *, hold: bool = False) -> list[Answer]:
        """Call many in one go; with ``hold`` no result is written down before the last call is done."""

    def value(self, name: str) -> Answer:
        """The value of a plain variable; a ``NameError`` where there is none."""

    def substitute(self, name: str, function: Callable[..., Any]) -> None:
        """Let ``name`` in the notebook be answered by a function of the trusted side."""

    def probe(self, source: str, call: Call) -> Answer:
        """Run ``probe(function, *args, **kwargs)``, defined by ``source``, inside, where the values live."""

    def close(self) -> None:
        """End the child."""


@runtime_checkable
class EditableSession(Session, Protocol):
    """A session whose functions can be exchanged for edited ones, for as long as it lives."""

    def define(self, sources: Mapping[str, str]) -> None:
        """Let each name be what its source defines, wherever it was kept."""

    def reset(self) -> None:
        """Let every name be again what the notebook made of it."""

    def trials(
        self, programs: Sequence[Mapping[str, str]], calls: Sequence[Call], seconds: float
    ) -> list[list[Answer]]:
        """What each of ``programs`` (sources by name) answers to ``calls``, each within ``seconds``.

        Shorter where a program could not be defined, or was stopped; after that the session may not be ``alive``.
        """

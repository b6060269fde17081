"""Answers that came before: most of a class answers a question alike, so most of what is read has been read already."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

from autograder.sandbox.protocol import Answer

__all__ = ["AnswerCache"]

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

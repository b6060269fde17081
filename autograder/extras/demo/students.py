"""Simulate a class of students and their submissions.

The attacks are a small selection of those in tests/framework/security.
"""

from __future__ import annotations

import copy
import inspect
import json
import random
from dataclasses import dataclass
from textwrap import dedent, indent
from typing import TYPE_CHECKING, TypeVar

from autograder.authoring.simulate import reference_code, solved_notebook
from autograder.course.notebook import cell_of
from autograder.judging.loader import known_alternatives, known_misconceptions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from autograder.authoring.simulate import Code
    from autograder.base.foreign import Json
    from autograder.course.course import Course
    from autograder.misconception import Misconception

__all__ = ["ATTACKS", "Attack", "HandIn", "Student", "hand_in", "make_class"]


@dataclass(frozen=True, slots=True)
class Attack:
    """A hostile function body. ``description`` says what the code does."""

    description: str
    body: str

    def source(self, name: str) -> str:
        """Return the source of a function called ``name`` that contains the attack."""
        return f"def {name}(*args, **kwargs):\n{indent(dedent(self.body).strip(), '    ')}\n"


ATTACKS = {
    "endless loop": Attack("a loop that never ends", "while True:\n    pass"),
    "exits": Attack("ends the process and tries to stop the grader", "import os\nos._exit(0)"),
    "prints without end": Attack("prints until the disk is full", 'while True:\n    print("x" * 100_000)'),
    "reads files": Attack(
        "looks for the solutions on the disk",
        """
        import glob
        found = glob.glob("/**/solutions/*.py", recursive=True) + glob.glob("/**/gradebook.db", recursive=True)
        raise RuntimeError(f"I can read {open(found[0]).read()}" if found else "I found nothing to read")
        """,
    ),
}


T = TypeVar("T")

# A realistic class: mostly honest students, and one example of everything that goes wrong. In a larger class, all further
# students are honest and submit an intact notebook. A smaller class has only the first kinds.
KINDS = (
    "solved", "one slip", "other way", "half done", "not JSON", "endless loop", "one slip", "blank",
    "one slip", "other way", "slips", "cell deleted", "exits", "one slip", "other way", "half done",
    "cell copied", "one slip", "reads files", "solved", "slips", "prints without end", "one slip", "crashes",
)  # fmt: skip
HONEST = tuple(kind for kind in KINDS if kind not in ATTACKS)
NAMES = (
    "amara", "ben", "chiara", "dmitri", "elif", "farid", "greta", "hugo", "ines", "jonas", "kavya", "liam",
    "mei", "noor", "olga", "pablo", "quynh", "rosa", "samir", "tove", "uma", "viktor", "wanda", "xiomara",
    "yusuf", "zofia", "aiko", "bruno", "carmen", "diego", "esther", "femi", "gita", "hana", "ivan", "jana",
    "kofi", "lucia", "marek", "nadia", "omar", "priya", "rafael", "sofia", "tariq", "ulrike", "valentin", "wei",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Student:
    """A simulated student: an id for nbgrader, and the kind of work that they submit."""

    id: str
    kind: str
    number: int

    @property
    def hostile(self) -> bool:
        """Whether the student's code is an attack."""
        return self.kind in ATTACKS


@dataclass(frozen=True, slots=True)
class HandIn:
    """A student's submission for one chapter. ``injected`` is the mistake in it, if there is exactly one."""

    data: bytes
    description: str
    injected: Misconception | None = None


def make_class(size: int, *, hostile: bool = True) -> list[Student]:
    """Return ``size`` students, the same ones each time. Without ``hostile``, leave out students whose code is an attack."""
    kinds = [k for k in KINDS if hostile or k not in ATTACKS]
    filling = [k for k in HONEST if k not in {"not JSON", "cell deleted", "cell copied"}]
    kinds += [filling[i % len(filling)] for i in range(max(0, size - len(kinds)))]
    return [Student(_name(i), kind, i) for i, kind in enumerate(kinds[:size])]


def hand_in(course: Course, chapter: str, student: Student, size: int) -> HandIn:
    """Return what ``student``, in a class of ``size``, submits for ``chapter``. It is the same every time."""
    return _AtWork(course, chapter, student, size).work()


def _name(number: int) -> str:
    again, first = divmod(number, len(NAMES))
    return NAMES[first] + (str(again + 1) if again else "")


class _AtWork:
    """The work of one student on one chapter."""

    def __init__(self, course: Course, chapter: str, student: Student, size: int) -> None:
        self.course, self.chapter, self.student, self.size = course, chapter, student, size
        self.right = reference_code(course, chapter)
        self.rng = random.Random(f"{student.id} {chapter}")  # noqa: S311 - a simulated class, not a secret

    def work(self) -> HandIn:
        makers: dict[str, Callable[[], HandIn]] = {
            "solved": lambda: self._written(self.right, "everything right"),
            "other way": self._other_way,
            "one slip": self._one_slip,
            "slips": self._slips,
            "half done": self._half_done,
            "blank": lambda: self._written({}, "nothing written"),
            "crashes": self._crashes,
            "not JSON": self._cut_off,
            "cell deleted": self._cell_deleted,
            "cell copied": self._cell_copied,
        }
        return makers.get(self.student.kind, self._attack)()

    def _written(self, code: Mapping[str, Code], description: str, injected: Misconception | None = None) -> HandIn:
        return HandIn(_bytes(solved_notebook(self.course, self.chapter, code)), description, injected)

    def _other_way(self) -> HandIn:
        code = dict(self.right)
        for alternative in self._shuffled(known_alternatives(self.course, self.chapter)):
            code[alternative.exercise] = alternative.function
        return self._written(code, "everything correct, written differently")

    def _one_slip(self) -> HandIn:
        known = [m for m in known_misconceptions(self.course, self.chapter) if m.exercise in self.right]
        if not known:
            return self._written(self.right, "everything right")
        # The choices are spread over the chapter's mistakes, so that a class shows many of them.
        slip = known[(self.student.number * len(known) // max(self.size, 1) + self.rng.randrange(3)) % len(known)]
        return self._written({**self.right, slip.exercise: self._slipped(slip)}, "one mistake in a chapter", slip)

    def _slips(self) -> HandIn:
        code: dict[str, Code] = dict(self.right)
        for slip in self._shuffled(known_misconceptions(self.course, self.chapter)):
            code[slip.exercise] = self._slipped(slip)
        return self._written(code, "a mistake in every exercise")

    def _half_done(self) -> HandIn:
        names = list(self.right)
        return self._written({n: self.right[n] for n in names[: (len(names) + 1) // 2]}, "the first half done")

    def _crashes(self) -> HandIn:
        name = next(n for n in self.right if not self._has_answers(n))
        return self._written({**self.right, name: f"def {name}(*args):\n    return undefined_name + 1\n"}, "a crash")

    def _cut_off(self) -> HandIn:
        data = _bytes(solved_notebook(self.course, self.chapter, self.right))
        return HandIn(data[: len(data) * 2 // 3], "a truncated file")

    def _cell_deleted(self) -> HandIn:
        notebook = solved_notebook(self.course, self.chapter, self.right)
        first = next(iter(self.right))
        notebook["cells"] = [c for c in notebook["cells"] if cell_of(0, c).grade_id not in {first, f"check_{first}"}]
        return HandIn(_bytes(notebook), "the first exercise's cells deleted")

    def _cell_copied(self) -> HandIn:
        notebook = solved_notebook(self.course, self.chapter, self.right)
        first = next(iter(self.right))
        place, cell = next((i, c) for i, c in enumerate(notebook["cells"]) if cell_of(i, c).grade_id == first)
        notebook["cells"].insert(place, {**copy.deepcopy(cell), "id": f"copy-of-{cell.get('id', place)}"[:64]})
        return HandIn(_bytes(notebook), "a cell copied with its grade id")

    def _attack(self) -> HandIn:
        # One attack per student is enough, because an endless loop takes time until it is stopped.
        chapters = self.course.finished_chapters()
        if self.chapter != chapters[self.student.number % len(chapters)]:
            return self._other_way()
        # The attack is in the chapter's last function. The other functions are right and must still earn points.
        attack = ATTACKS[self.student.kind]
        name = [n for n in self.right if not self._has_answers(n)][-1]
        return self._written({**self.right, name: attack.source(name)}, attack.description)

    def _slipped(self, slip: Misconception) -> Code:
        if self._has_answers(slip.exercise):
            return {**self.right[slip.exercise](), **slip.function()}
        return slip.function

    def _has_answers(self, exercise: str) -> bool:
        right = self.right[exercise]
        return not isinstance(right, type) and not inspect.signature(right).parameters

    def _shuffled(self, things: list[T]) -> list[T]:
        return self.rng.sample(things, len(things))


def _bytes(notebook: dict[str, Json]) -> bytes:
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()

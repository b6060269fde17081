"""Whether a report names students, and what stands in their place where it does not."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping

from autograder.gradebook.classbook import Person

__all__ = ["Names"]

_WORD = re.compile(r"[\w.+@'-]+")
_PART = re.compile(r"\w+")
HIDDEN = "[hidden]"


class Names:
    """How the students of a report are called: by id and name, or, ``hidden``, by a number that tells nothing.

    The numbers follow neither the alphabet nor the marks. With the same ``secret`` a student has the same number again, as long
    as the class is the same.
    """

    def __init__(
        self, students: Collection[str], people: Mapping[str, Person], *, hidden: bool = False, secret: str = ""
    ) -> None:
        self.hidden = hidden
        self._people = people
        shuffled = sorted(students, key=lambda s: hashlib.sha256(f"{secret}\0{s}".encode()).digest())
        width = len(str(len(shuffled)))
        self._labels = {student: f"Student {number:0{width}d}" for number, student in enumerate(shuffled, start=1)}
        self._words = set(_words(students, people.values())) if hidden else set()

    def label(self, student: str) -> str:
        """What ``student`` is called."""
        return self._labels.get(student, HIDDEN) if self.hidden else student

    def name(self, student: str) -> str:
        """First and last name; empty where they are not known or hidden."""
        person = self._people.get(student)
        return person.name if person is not None and not self.hidden else ""

    def clean(self, text: str) -> str:
        """``text`` (a sentence, code) without any id, name or address of the class, where these are hidden."""
        if not self.hidden:
            return text
        return _WORD.sub(self._cleaned, text)

    def _cleaned(self, match: re.Match[str]) -> str:
        word = match[0]
        if word in self._words or word.strip(".'-") in self._words:
            return HIDDEN
        return _PART.sub(lambda part: HIDDEN if part[0] in self._words else part[0], word)


def _words(students: Iterable[str], people: Iterable[Person]) -> Iterable[str]:
    for student in students:
        yield student
        if len(parts := student.split()) > 1:  # as a name that was typed for an id
            yield from parts
    for person in people:
        for text in (
            person.id,
            person.email,
            person.lms_user_id,
            *person.first_name.split(),
            *person.last_name.split(),
        ):
            if text:
                yield text

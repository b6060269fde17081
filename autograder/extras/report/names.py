"""Whether a report names students, and what stands in their place where it does not."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping

from autograder.classroom.gradebook.people import Person

__all__ = ["Names"]

_WORD = re.compile(r"\w+")
_LONG = (
    5  # characters from which a name is looked for inside of other words, too: a short one would be found everywhere
)
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
        words = set(_words(students, people.values())) if hidden else set()
        self._whole = {word for word in words if _WORD.fullmatch(word)}
        self._lower = {word.casefold() for word in self._whole}
        # The longest first: an address may begin with a name.
        inside = [word for word in words if len(word) >= _LONG or word not in self._whole]
        self._inside = sorted(inside, key=lambda word: (-len(word), word))

    def label(self, student: str) -> str:
        """What ``student`` is called."""
        return self._labels.get(student, HIDDEN) if self.hidden else student

    def name(self, student: str) -> str:
        """First and last name; empty where they are not known or hidden."""
        person = self._people.get(student)
        return person.name if person is not None and not self.hidden else ""

    def clean(self, text: str, *, code: bool = False) -> str:
        """``text`` (a sentence, or a student's ``code``) without any id, name or address of the class, where these are hidden.

        In code a name counts in small letters, too; in a sentence that would take words such as mark and will.
        """
        if not self.hidden:
            return text
        for word in self._inside:
            if word in text:
                text = text.replace(word, HIDDEN)
        known = self._lower if code else self._whole
        return _WORD.sub(
            lambda found: HIDDEN if (found[0].casefold() if code else found[0]) in known else found[0], text
        )


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

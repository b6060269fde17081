"""Collect the data of a chapter's report, which the report's page shows and ``--json`` prints."""

from __future__ import annotations

import hashlib
import re
import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from autograder.authoring.audit.classroom import AnswerGroup, undiagnosed_groups
from autograder.authoring.audit.measure import each_chapter
from autograder.base.foreign import Json
from autograder.classroom.delivery import folder_of
from autograder.classroom.gradebook.people import Person
from autograder.course.course import Course
from autograder.extras.report.class_marks import STANDINGS, ChapterMarks, StudentMark
from autograder.extras.report.findings import (
    FailedCheck,
    ItemAnalysis,
    KnownMistake,
    MarkedLine,
    SupportFlag,
    analyse,
    failed_by_strong,
    known_mistakes,
    marked_lines,
    support_flags,
)
from autograder.extras.report.similarity import SimilarGroup, similar_groups

__all__ = ["ChapterReport", "Names", "reports_of"]


# --- Names -------------------------------------------------------------------------------------------------------------

_WORD = re.compile(r"\w+")
_LONG = 5  # characters. Shorter names are not searched for inside other words, because they would be found everywhere.
HIDDEN = "[hidden]"


class Names:
    """The labels of students in a report: their ids and names or, if ``hidden``, numbers that reveal nothing.

    The numbers follow neither the alphabet nor the marks. With the same ``secret`` and the same class, students keep their
    numbers.
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
        # Put the longest words first, because an address may begin with a name.
        inside = [word for word in words if len(word) >= _LONG or word not in self._whole]
        self._inside = sorted(inside, key=lambda word: (-len(word), word))

    def label(self, student: str) -> str:
        """Return the label of ``student``."""
        return self._labels.get(student, HIDDEN) if self.hidden else student

    def name(self, student: str) -> str:
        """Return the first and last name of ``student``, or an empty string if they are unknown or hidden."""
        person = self._people.get(student)
        return person.name if person is not None and not self.hidden else ""

    def clean(self, text: str, *, code: bool = False) -> str:
        """Remove the class's ids, names and addresses from ``text`` if they are hidden. ``code`` says whether ``text`` is a student's code.

        In code, case is ignored. In a sentence, case matters, because words such as mark and will may be names.
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
        if len(parts := student.split()) > 1:  # a full name that was entered as an id
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


# --- The report --------------------------------------------------------------------------------------------------------

_MANY = 1000  # with more notebooks than this, it is faster to read them in several processes


@dataclass(frozen=True)
class ChapterReport:
    """The results of a class in one chapter."""

    marks: ChapterMarks
    items: ItemAnalysis
    mistakes: Sequence[KnownMistake]
    lines: Sequence[MarkedLine]
    unnamed: Sequence[AnswerGroup]
    odd_checks: Sequence[FailedCheck]
    help: Sequence[SupportFlag]
    alike: Sequence[SimilarGroup]

    @property
    def scores(self) -> list[float]:
        """The scores of students whose marks are complete."""
        return [mark.score for mark in self.marks.of("graded") if mark.score is not None]

    @property
    def late(self) -> list[StudentMark]:
        """The late submissions, starting with the longest delay."""
        return sorted((m for m in self.marks.marks.values() if m.seconds_late), key=lambda m: -m.seconds_late)

    @property
    def doubtful(self) -> list[tuple[StudentMark, str]]:
        """The marks that need manual review, each with its reason."""
        return [
            (mark, " ".join(mark.doubts) or f"{STANDINGS[mark.standing].capitalize()}.")
            for mark in self.marks.marks.values()
            if mark.doubts or mark.standing in {"ungradable", "waiting"}
        ]

    def to_json(self, names: Names) -> dict[str, Json]:
        """Return the report as JSON data, in which ``names`` labels the students."""
        one, scores = self.marks, self.scores

        def labels(students: Sequence[str]) -> list[str]:
            return [names.label(student) for student in students]

        return {
            "chapter": one.chapter,
            "max_score": one.max_score,
            "students": len(one.marks),
            "class_list_known": one.listed,
            "handed_in": len(one.handed_in),
            "graded": len(one.of("graded")),
            "mean": statistics.fmean(scores) if scores else None,
            "median": statistics.median(scores) if scores else None,
            "marks": [
                {
                    "student": names.label(mark.student),
                    "status": mark.standing,
                    "score": mark.score,
                    "exercises": dict(mark.exercises),
                }
                for mark in sorted(one.marks.values(), key=lambda m: names.label(m.student))
            ],
            "missing": labels([mark.student for mark in one.of("missing")]),
            "late": [
                {"student": names.label(m.student), "seconds_late": m.seconds_late, "penalty": m.penalty}
                for m in self.late
            ],
            "needs_help": [
                {"student": names.label(need.student), "share": need.share, "reasons": list(need.reasons)}
                for need in self.help
            ],
            "needs_a_person": [
                {"student": names.label(mark.student), "reason": names.clean(why)} for mark, why in self.doubtful
            ],
            "misconceptions": [
                {
                    "chapter": one.chapter,
                    "exercise": m.exercise,
                    "name": m.name,
                    "message": names.clean(m.message),
                    "share": len(m.students) / max(len(one.handed_in), 1),
                    "students": labels(m.students),
                }
                for m in self.mistakes
            ],
            "located_lines": [
                {
                    "chapter": one.chapter,
                    "exercise": m.exercise,
                    "line": names.clean(m.line, code=True),
                    "kind": m.kind,
                    "students": labels(m.students),
                }
                for m in self.lines
            ],
            "unnamed_groups": [
                {
                    "chapter": one.chapter,
                    "exercise": group.exercise,
                    "students": labels(group.students),
                    "place": names.clean(group.place, code=True),
                    "message": names.clean(group.message),
                    "code": names.clean(group.code, code=True),
                }
                for group in self.unnamed
            ],
            "items": self.items.to_json(),
            "failed_by_good_students": [
                {
                    "chapter": one.chapter,
                    "exercise": check.exercise,
                    "check": check.title,
                    "visible": check.visible,
                    "among_good": check.among_good,
                    "among_all": check.among_all,
                    "look_at_the_check": check.odd,
                }
                for check in self.odd_checks
            ],
            "written_alike": [
                {
                    "students": labels(group.students),
                    "exercises": list(group.exercises),
                    "weight": group.weight,
                    "code": names.clean(group.code, code=True),
                }
                for group in self.alike
            ],
        }


def reports_of(course: Course, classes: Sequence[ChapterMarks], workers: int) -> list[ChapterReport]:
    """Return the report on each chapter. The submitted notebooks are read in up to ``workers`` processes."""
    notebooks = {one.chapter: _notebooks(course, one) for one in classes}
    many = sum(map(len, notebooks.values())) > _MANY
    alike = dict(each_chapter(partial(_alike_in, notebooks), course, list(notebooks), workers if many else 1))
    return [_report_of(course, one, alike[one.chapter]) for one in classes]


def _alike_in(notebooks: Mapping[str, Mapping[str, Path]], course: Course, chapter: str) -> list[SimilarGroup]:
    return similar_groups(course, chapter, notebooks[chapter])


def _notebooks(course: Course, one: ChapterMarks) -> dict[str, Path]:
    folder = folder_of(course, "submitted")
    graded = (mark.student for mark in one.handed_in if mark.standing not in {"ungradable", "ungraded"})
    return {student: folder / student / one.chapter / f"{one.chapter}.ipynb" for student in graded}


def _report_of(course: Course, one: ChapterMarks, alike: Sequence[SimilarGroup]) -> ChapterReport:
    verdicts = [mark.verdict for mark in one.marks.values() if mark.verdict is not None]
    return ChapterReport(
        one,
        analyse(one),
        known_mistakes(one),
        marked_lines(one),
        undiagnosed_groups(course, verdicts) if verdicts else [],
        failed_by_strong(one),
        support_flags(one),
        alike,
    )

"""A chapter's report as data: everything that its page shows, and what ``--json`` prints."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from autograder.authoring.audit.classroom import AnswerGroup, undiagnosed_groups
from autograder.authoring.audit.measure import each_chapter
from autograder.classroom.class_marks import STANDINGS, ChapterMarks, StudentMark
from autograder.classroom.delivery import folder_of
from autograder.course.course import Course
from autograder.extras.report.findings import (
    FailedCheck,
    KnownMistake,
    MarkedLine,
    SupportFlag,
    failed_by_strong,
    known_mistakes,
    marked_lines,
    support_flags,
)
from autograder.extras.report.items import ItemAnalysis, analyse
from autograder.extras.report.names import Names
from autograder.extras.report.similarity import SimilarGroup, similar_groups

__all__ = ["ChapterReport", "reports_of"]

_MANY = 1000  # notebooks from which on reading them takes longer than starting processes that do it


@dataclass(frozen=True)
class ChapterReport:
    """What there is to say of a class in one chapter."""

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
        """The scores of those who have one whole."""
        return [mark.score for mark in self.marks.of("graded") if mark.score is not None]

    @property
    def late(self) -> list[StudentMark]:
        """Those who came late, the latest first."""
        return sorted((m for m in self.marks.marks.values() if m.seconds_late), key=lambda m: -m.seconds_late)

    @property
    def doubtful(self) -> list[tuple[StudentMark, str]]:
        """Those whom a person has to look into, with why."""
        return [
            (mark, " ".join(mark.doubts) or f"{STANDINGS[mark.standing].capitalize()}.")
            for mark in self.marks.marks.values()
            if mark.doubts or mark.standing in {"ungradable", "waiting"}
        ]

    def to_json(self, names: Names) -> dict[str, Any]:
        """The report as data, with students called as ``names`` has it."""
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
                    "exercise": m.exercise,
                    "line": names.clean(m.line, code=True),
                    "kind": m.kind,
                    "students": labels(m.students),
                }
                for m in self.lines
            ],
            "unnamed_groups": [
                {
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
    """The report on each chapter; the notebooks that were handed in are read on as many processes as ``workers`` says."""
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

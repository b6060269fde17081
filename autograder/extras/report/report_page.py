"""Render the report as one HTML page without external files, for light and dark screens and for paper."""

from __future__ import annotations

import base64
import hashlib
import statistics
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from textwrap import dedent
from types import MappingProxyType

from jinja2 import Template
from markupsafe import Markup, escape

from autograder.base.formatting import number, pluralize, points
from autograder.base.sanitize import sanitize
from autograder.classroom.gradebook.people import duplicate_students
from autograder.extras.report.class_marks import STANDINGS, StudentMark
from autograder.extras.report.content import ChapterReport, Names
from autograder.extras.report.plots import MAX_ROWS, bars, distribution, heatmap
from autograder.pages.card import blocks
from autograder.pages.prose import page_templates

__all__ = ["report_page"]

_PLOTTED = 12  # the most misconceptions that get a bar. The table has all misconceptions.
OPEN = 30  # a table of students with at most this many rows is shown unfolded
FIRST = 20  # the most findings of a list that are shown at once
_MAX_NAMES = 12  # the most students who are named in one row


Links = Mapping[tuple[str, str], str]


def report_page(
    title: str, reports: Sequence[ChapterReport], names: Names, made_at: str, links: Links = MappingProxyType({})
) -> str:
    """Render the page that shows the ``reports`` on one class. ``names`` labels the students, and ``made_at`` is the time shown.

    ``links`` maps a chapter and a student to the address of the feedback page. It is ignored if names are hidden.
    """
    links = {} if names.hidden else links
    chapters = [_chapter(report, names, links) for report in reports]
    script = files("autograder.extras.report").joinpath("templates", "report.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    everybody = reports[0].marks
    unknown = not any(report.marks.listed for report in reports)
    return _template().render(
        title=title,
        script=_markup(script),
        script_hash=_markup(f"sha256-{digest}"),
        made_at=made_at,
        students=pluralize(len(everybody.marks), "student"),
        hidden=names.hidden,
        unknown_class=unknown,
        doubles=[names.clean(sentence) for sentence in duplicate_students(everybody.people.values())],
        several=len(reports) > 1,
        chapters=chapters,
        behind=_behind(reports, names) if len(reports) > 1 else [],
    )


def _chapter(report: ChapterReport, names: Names, links: Links) -> dict[str, object]:
    one, scores, name = report.marks, report.scores, report.marks.chapter
    ranked = _ranked(report, names)
    shares = [score / one.max_score for score in scores] if one.max_score else []
    handed_in = len(one.handed_in)

    def who(student: str) -> str:
        """Return the name of ``student``, as a link to their feedback page if there is one."""
        text, link = _who(student, names), links.get((name, student))
        return Markup('<a href="{}">{}</a>').format(link, text) if link else text

    return {
        "id": name,
        "worth": number(one.max_score),
        "handed_in": handed_in,
        "students": len(one.marks),
        "graded": len(one.of("graded")),
        "mean": _percent(statistics.fmean(shares)) if shares else "–",
        "median": _percent(statistics.median(shares)) if shares else "–",
        "spread": _spread(scores, one.max_score),
        "counts": [
            (STANDINGS[standing], len(found))
            for standing in STANDINGS
            if (found := one.of(standing)) or standing == "graded"
        ],
        "doubtful": len(report.doubtful),
        "reasons": _reasons(report, names, who),
        "distribution": _distribution(shares, name),
        "tenths": _tenths(shares),
        "heatmap": _heatmap(ranked, report, names),
        "exercises": [(exercise, number(worth)) for exercise, worth in one.worth.items()],
        "rows": [_row(mark, report, who) for mark in ranked],
        "summed": len(ranked) > MAX_ROWS,
        "mistake_plot": _mistake_plot(report, handed_in),
        "mistakes": [
            {
                "exercise": m.exercise,
                "name": m.name.replace("_", " "),
                "share": _percent(len(m.students) / handed_in),
                "count": len(m.students),
                "message": _blocks(names.clean(m.message)),
                "students": _named(m.students, names),
            }
            for m in report.mistakes
        ],
        "lines": [
            (m.exercise, names.clean(m.line, code=True), m.kind, len(m.students), _named(m.students, names))
            for m in report.lines
        ],
        "unnamed": [
            {
                "exercise": group.exercise,
                "count": pluralize(len(group.students), "student"),
                "students": _named(group.students, names),
                "place": names.clean(group.place, code=True),
                "message": _blocks(names.clean(group.message)),
                "code": names.clean(group.code, code=True),
            }
            for group in report.unnamed
        ],
        "items": report.items,
        "odd_checks": report.odd_checks,
        "late": [
            (who(m.student), _duration(m.seconds_late), number(m.penalty) if m.penalty else "none") for m in report.late
        ],
        "due": one.due.strftime("%Y-%m-%d %H:%M UTC") if one.due else "",
        "missing": [_who(mark.student, names) for mark in one.of("missing")],
        "help": [
            (who(need.student), _percent(need.share or 0.0), [r.replace("_", " ") for r in need.reasons])
            for need in report.help
        ],
        "alike": [
            {
                "students": ", ".join(_who(student, names) for student in group.students),
                "exercises": ", ".join(group.exercises),
                "code": names.clean(group.code, code=True),
            }
            for group in report.alike
        ],
    }


def _blocks(text: str) -> list[tuple[bool, str]]:
    """Return (verbatim, paragraph) pairs for a message. A verbatim paragraph, such as code, keeps its line breaks."""
    return [(block.kind == "verbatim", dedent(block.text)) for block in blocks(text)]


def _spread(scores: Sequence[float], worth: float) -> str:
    """Return a sentence on the distribution of marks, for readers who cannot see the plot."""
    if not scores:
        return "Nobody has a mark yet."
    if len(scores) == 1:
        return f"One student has a mark: {points(scores[0], worth)}."
    low, high = min(scores), max(scores)
    if high - low < 1e-9:
        return f"All {len(scores)} marks are {points(low, worth)}."
    quarters = statistics.quantiles(scores, n=4, method="inclusive")
    return (
        f"{len(scores)} marks from {number(low)} to {number(high)} of {pluralize(worth, 'point')}. The mean is "
        f"{number(round(statistics.fmean(scores), 2))}, and the middle half of the marks is between {number(round(quarters[0], 2))} and "
        f"{number(round(quarters[2], 2))}."
    )


def _distribution(shares: Sequence[float], chapter: str) -> Markup:
    if not shares:
        return Markup()
    return _markup(
        distribution(
            shares, f"d-{chapter}", f"The distribution of the marks of {chapter}, also shown in the table below."
        )
    )


def _tenths(shares: Sequence[float]) -> list[tuple[str, int]]:
    counts = [0] * 10
    for share in shares:
        counts[min(int(share * 10 + 1e-9), 9)] += 1
    return [(f"{i * 10} to {i * 10 + 10} %", count) for i, count in enumerate(counts)]


def _heatmap(ranked: Sequence[StudentMark], report: ChapterReport, names: Names) -> Markup:
    worth = {name: most for name, most in report.marks.worth.items() if most > 0}
    rows = []
    for mark in ranked:
        if mark.standing in {"graded", "waiting", "ungradable"}:
            found = [mark.exercises.get(name) for name in worth]
            shares = [None if s is None else min(s / most, 1.0) for s, most in zip(found, worth.values(), strict=True)]
            rows.append((names.label(mark.student), shares))
    if not rows or not worth:
        return Markup()
    chapter = report.marks.chapter
    alt = f"Each student's share of the points of each exercise of {chapter}, also shown in the table below."
    return _markup(heatmap(rows, list(worth), f"h-{chapter}", alt))


def _mistake_plot(report: ChapterReport, handed_in: int) -> Markup:
    if not report.mistakes:
        return Markup()
    shares = {
        f"{m.exercise}: {m.name.replace('_', ' ')}": len(m.students) / handed_in for m in report.mistakes[:_PLOTTED]
    }
    chapter = report.marks.chapter
    return _markup(
        bars(
            shares, f"m-{chapter}", f"The most frequent misconceptions of {chapter}. The table below shows all of them."
        )
    )


def _ranked(report: ChapterReport, names: Names) -> list[StudentMark]:
    marks = report.marks.marks.values()
    return sorted(marks, key=lambda m: (m.score is None, -(m.score or 0.0), names.label(m.student)))


def _row(mark: StudentMark, report: ChapterReport, who: Callable[[str], str]) -> dict[str, object]:
    cells = []
    for name, worth in report.marks.worth.items():
        score = mark.exercises.get(name)
        level = "" if score is None or not worth else f"l{min(int(max(score, 0.0) / worth * 4 + 1e-9), 4)}"
        cells.append(("–" if score is None else number(score), level))
    total = "–" if mark.score is None else number(mark.score)
    return {"who": who(mark.student), "cells": cells, "score": total, "standing": _standing(mark)}


def _standing(mark: StudentMark) -> str:
    notes = [STANDINGS[mark.standing].partition(":")[0].partition(",")[0] if mark.standing != "graded" else ""]
    if mark.standing == "waiting":
        notes = ["needs manual grading"]
    notes.append("late" if mark.seconds_late else "")
    notes.append("partly graded manually" if mark.by_hand else "")
    return ", ".join(filter(None, notes)) or "graded"


def _reasons(report: ChapterReport, names: Names, who: Callable[[str], str]) -> list[tuple[str, str, str]]:
    """Return the students who need manual review, and why. Students with the same reason share a row."""
    found: dict[tuple[str, str], list[str]] = {}
    for mark, why in report.doubtful:
        found.setdefault((_standing(mark), names.clean(why)), []).append(mark.student)
    rows = []
    for (standing, why), students in found.items():
        one = len(students) == 1
        rows.append((who(students[0]) if one else f"{len(students)}: {_named(students, names)}", standing, why))
    return rows


def _behind(reports: Sequence[ChapterReport], names: Names) -> list[tuple[str, str, str]]:
    """Return the students who may need help in, or have not submitted, at least two chapters, the most urgent first."""
    weak: dict[str, list[str]] = {}
    missing: dict[str, list[str]] = {}
    for report in reports:
        # Ignore a chapter without submissions, which is probably not due yet.
        if report.marks.handed_in:
            for need in report.help:
                weak.setdefault(need.student, []).append(report.marks.chapter)
            for mark in report.marks.of("missing"):
                missing.setdefault(mark.student, []).append(report.marks.chapter)
    students = {s for s in (*weak, *missing) if len(weak.get(s, ())) + len(missing.get(s, ())) >= 2}
    order = sorted(students, key=lambda s: (-len(weak.get(s, ())) - len(missing.get(s, ())), names.label(s)))
    return [(_who(s, names), ", ".join(weak.get(s, ())), ", ".join(missing.get(s, ()))) for s in order]


def _who(student: str, names: Names) -> str:
    name = names.name(student)
    return f"{names.label(student)} ({name})" if name else names.label(student)


def _named(students: Sequence[str], names: Names) -> str:
    labels = sorted(names.label(student) for student in students)
    more = f" and {len(labels) - _MAX_NAMES} more" if len(labels) > _MAX_NAMES else ""
    return ", ".join(labels[:_MAX_NAMES]) + more


def _duration(seconds: float) -> str:
    hours = seconds / 3600
    if hours < 1:
        return pluralize(max(round(seconds / 60), 1), "minute")
    return pluralize(round(hours), "hour") if hours < 48 else pluralize(round(hours / 24), "day")


def _percent(share: float) -> str:
    return "<1 %" if 0 < share < 0.005 else f"{share:.0%}".replace("%", " %")


def _markup(svg: str) -> Markup:
    return Markup(svg)  # noqa: S704 - Matplotlib escapes the texts in it, and the script is our own


def _breakable(name: str) -> Markup:
    """Allow line breaks after the underscores of a Python name, so that it fits into a narrow column."""
    return Markup("_<wbr>").join(name.split("_"))


def _inline(text: str) -> Markup:
    """Mark text between backticks as code."""
    parts = sanitize(text).split("`")
    if len(parts) % 2 == 0:  # an unmatched backtick is an ordinary character
        return escape(sanitize(text))
    code = Markup("<code>{}</code>")
    return Markup().join(code.format(part) if i % 2 else escape(part) for i, part in enumerate(parts))


@cache
def _template() -> Template:
    templates = page_templates("autograder.extras.report")
    templates.filters |= {"breakable": _breakable, "inline": _inline}
    constants: Mapping[str, object] = {"OPEN": OPEN, "FIRST": FIRST, "percent": _percent}
    return templates.get_template("report.html.j2", globals=dict(constants))

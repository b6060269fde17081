"""A preview in words: what grading would do to a class's marks."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from autograder.base.formatting import number, pluralize
from autograder.base.sanitize import sanitize
from autograder.cli.progress import grading_progress
from autograder.pages.text import wrapped

if TYPE_CHECKING:
    from autograder.classroom.preview import Preview
    from autograder.course.course import Course
    from autograder.grading.submission import Job

__all__ = ["preview_text", "show_preview"]

_MOST = 20  # marks that are listed one by one: all of them are in the JSON


def show_preview(course: Course, chapter: str, jobs: Sequence[Job], how: Mapping[str, Any], *, as_json: bool) -> None:
    """Find out what grading ``jobs`` would do, and print it."""
    from autograder.classroom.preview import preview_class

    with grading_progress(len(jobs), f"Previewing {chapter}") as on_verdict:
        found = preview_class(course, chapter, jobs, on_verdict=on_verdict, **how)
    click.echo(json.dumps(found.to_json(), ensure_ascii=False, indent=1) if as_json else preview_text(found))


def preview_text(found: Preview) -> str:
    """The preview as a terminal shows it."""
    lines = [
        f"Preview of {found.chapter}: {pluralize(found.run, 'notebook')} graded, {found.unchanged} unchanged. Nothing was written."
    ]
    if found.in_progress:
        lines.append(f"A run is grading {found.chapter} just now: what it has not entered yet is not counted here.")
    moves = found.moves
    falls = sum(move.is_drop for move in moves)
    total = f"{pluralize(len(moves), 'mark')} would move, {falls} of them down:" if moves else "No mark would move."
    lines += ["", total]
    lines += [wrapped(move.text, "    ", f"  - {sanitize(move.student)}: ") for move in moves[:_MOST]]
    if len(moves) > _MOST:
        lines.append(f"  - and {len(moves) - _MOST} more: --json lists all.")
    if found.by_exercise:
        lines += ["", "By exercise, and the checks that made the difference:"]
        changes = Counter((c.exercise, str(c)) for move in moves for c in move.checks)
        for name, (students, gain) in found.by_exercise.items():
            sign = "+" if gain > 0 else "−" if gain < 0 else "±"
            lines.append(f"  {name}: {pluralize(students, 'student')}, {sign}{number(abs(gain))} points in all")
            for (exercise, change), count in changes.most_common():
                if exercise == name:
                    lines.append(wrapped(f"{change.partition(', ')[2]} ({count})", "      ", "    "))
    if found.named:
        lines += ["", "Other mistakes would be named:"]
        for (exercise, was, now), count in found.named.items():
            lines.append(
                wrapped(f"{exercise}: {was or 'none'} → {now or 'none'} ({pluralize(count, 'student')})", "    ", "  ")
            )
    if found.first:
        lines += ["", f"{pluralize(len(found.first), 'notebook')} would get a first mark."]
    if found.ungradable:
        lines += ["", f"{pluralize(len(found.ungradable), 'notebook')} could not be graded: {_few(found.ungradable)}."]
    lines += ["", _of_proofs(found)]
    return "\n".join(lines)


def _of_proofs(found: Preview) -> str:
    if found.unproven is None:
        return f"No release of {found.chapter} is known here, so no check is proven: `autograder release {found.chapter}` proves them."
    if not found.unproven:
        return "Every check is proven: none has changed since the last release."
    titles = "; ".join(f"{exercise}, “{sanitize(title)}”" for exercise, title in found.unproven)
    return wrapped(
        f"Not proven since the last release: {titles}. `autograder audit {found.chapter}` tries them, and "
        f"`autograder release {found.chapter}` proves them.",
        "",
    )


def _few(names: Mapping[str, str]) -> str:
    shown = ", ".join(sanitize(name) for name in list(names)[:5])
    return shown + (f" and {len(names) - 5} more" if len(names) > 5 else "")

"""Format and print verdicts, the summary of a run, a preview and the progress of grading."""

from __future__ import annotations

import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from click.exceptions import Exit

from autograder.base.formatting import number, pluralize, points
from autograder.base.sanitize import sanitize
from autograder.base.verdict import Verdict, json_lines
from autograder.pages import Card, card_text
from autograder.pages.text import wrapped

if TYPE_CHECKING:
    from autograder.classroom.preview import Preview

__all__ = [
    "echo_status", "grading_progress", "group_messages", "needs_review", "preview_text", "print_results", "summary",
    "verdict_text",
]  # fmt: skip

_NAMED = 3  # how many of the students or notebooks with the same message are listed by name
_MOST = 20  # the maximum number of marks that a preview lists. The JSON output has all marks.


def echo_status(text: str) -> None:
    """Write a status line to stderr. Stdout is reserved for results."""
    sys.stderr.write(f"{text}\n")


# --- verdicts ---------------------------------------------------------------------------------------------------------


def verdict_text(verdict: Verdict) -> str:
    """Format the verdict on one notebook, by exercise and check."""
    head = sanitize(verdict.notebook)
    if verdict.status == "ungradable":
        return f"{head}\n  could not be graded: {sanitize(verdict.reason or 'no reason is known.')}"
    lines = [f"{head}   {points(verdict.score, verdict.max_score)}"]
    return "\n\n".join(lines + [card_text(Card(exercise, graded=True)) for exercise in verdict.exercises])


def summary(verdicts: Sequence[Verdict], seconds: float, by_hand: float = 0) -> str:
    """Summarize a run. ``by_hand`` is the number of points that have to be given manually."""
    graded = [v for v in verdicts if v.status == "graded"]
    lines = [f"Graded {len(graded)} of {pluralize(len(verdicts), 'notebook')} in {seconds:.1f} seconds."]
    if len(graded) >= 5:  # with fewer notebooks, statistics say little
        scores = [v.score for v in graded]
        highest_possible = max(v.max_score for v in graded)
        lines.append(
            f"The median{' of the automatic marks' if by_hand else ''} is {points(statistics.median(scores), highest_possible)}. "
            f"The lowest mark is {number(min(scores))}, and the highest is {number(max(scores))}."
        )
        mistakes = Counter((e.name, e.misconception) for v in graded for e in v.exercises if e.misconception)
        if mistakes:
            (exercise, misconception), count = mistakes.most_common(1)[0]
            often = "once" if count == 1 else f"{count} times"
            lines.append(f"The most frequent mistake is {misconception} in {exercise}: {often}.")
    if graded and by_hand:
        lines.append(f"{pluralize(by_hand, 'more point')} must be graded manually, in formgrader.")
    return "\n".join(lines)


def needs_review(verdicts: Sequence[Verdict]) -> str:
    """List the notebooks that could not be graded or have a warning, with the reason. Return "" if there are none.

    A notebook is named by its student if known, or else by its file. Notebooks with the same warning, such as that a chapter's points
    have changed, share an entry. Every notebook that could not be graded is named.
    """
    grouped: dict[tuple[str, str], list[str]] = {}
    for verdict in verdicts:
        reason = (verdict.reason or "no reason is known.") if verdict.status == "ungradable" else ""
        if why := " ".join(filter(None, [reason, verdict.warning])):
            grouped.setdefault((why, reason), []).append(sanitize(verdict.student or verdict.notebook))
    heads = ((why, ", ".join(names) if reason else _named(names)) for (why, reason), names in grouped.items())
    lines = [wrapped(f"{head}: {why}", "    ", "  - ") for why, head in heads]
    return "\n".join(["Needs your review:", *lines]) if lines else ""


def group_messages(messages: Iterable[tuple[str, str]]) -> str:
    """Format (message, name) pairs as a list with one entry per message. An entry lists at most three names."""
    grouped: dict[str, list[str]] = {}
    for why, name in messages:
        if why:
            grouped.setdefault(why, []).append(sanitize(name))
    return "\n".join(wrapped(why, "    ", f"  - {_named(names)}: ") for why, names in grouped.items())


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


def print_results(
    verdicts: Sequence[Verdict], seconds: float, *, as_json: bool, brief: bool = False, by_hand: float = 0
) -> None:
    """Print the verdicts as JSON if requested and, unless ``brief``, a summary.

    Raises ``Exit`` with status 1 if a notebook could not be graded.
    """
    if as_json:
        # One line per verdict is readable, and ten times as fast to write as one line per key.
        sys.stdout.write("[\n{}\n]\n".format(",\n".join(json_lines(verdicts))))
    if not brief:
        echo_status(summary(verdicts, seconds, by_hand))
        if missing := needs_review(verdicts):
            echo_status(missing)
    if any(verdict.status == "ungradable" for verdict in verdicts):
        raise Exit(1)


# --- preview ----------------------------------------------------------------------------------------------------------


def preview_text(found: Preview) -> str:
    """Format a preview for a terminal."""
    lines = [
        f"Preview of {found.chapter}: {pluralize(found.run, 'notebook')} graded, {found.unchanged} unchanged. Nothing was written."
    ]
    if found.in_progress:
        what = "Marks that the other run has not entered yet are not counted here."
        lines.append(f"Another run is grading {found.chapter} now. {what}")
    moves = found.moves
    falls = sum(move.is_drop for move in moves)
    total = f"{pluralize(len(moves), 'mark')} would change ({falls} would fall):" if moves else "No mark would change."
    lines += ["", total]
    lines += [wrapped(move.text, "    ", f"  - {sanitize(move.student)}: ") for move in moves[:_MOST]]
    if len(moves) > _MOST:
        lines.append(f"  - and {len(moves) - _MOST} more (--json lists all)")
    if found.by_exercise:
        lines += ["", "By exercise, with the checks that caused the change:"]
        changes = Counter((c.exercise, str(c)) for move in moves for c in move.checks)
        for name, (students, gain) in found.by_exercise.items():
            sign = "+" if gain > 0 else "−" if gain < 0 else "±"
            lines.append(f"  {name}: {pluralize(students, 'student')}, {sign}{number(abs(gain))} points in total")
            for (exercise, change), count in changes.most_common():
                if exercise == name:
                    lines.append(wrapped(f"{change.partition(', ')[2]} ({count})", "      ", "    "))
    if found.named:
        lines += ["", "These mistakes would get another name:"]
        for (exercise, was, now), count in found.named.items():
            change = f"{exercise}: {was or 'none'} → {now or 'none'} ({pluralize(count, 'student')})"
            lines.append(wrapped(change, "    ", "  "))
    if found.first:
        lines += ["", f"{pluralize(len(found.first), 'notebook')} would get a mark for the first time."]
    if found.ungradable:
        names = [sanitize(name) for name in found.ungradable]
        shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        lines += ["", f"{pluralize(len(names), 'notebook')} could not be graded: {shown}."]
    lines += ["", _validation_text(found)]
    return "\n".join(lines)


def _validation_text(found: Preview) -> str:
    if found.unproven is None:
        return f"{found.chapter} has not been released here, so its checks are not validated. `autograder release {found.chapter}` validates them."
    if not found.unproven:
        return "Every check is validated: none has changed since the last release."
    titles = "; ".join(f"{exercise}, “{sanitize(title)}”" for exercise, title in found.unproven)
    return wrapped(
        f"These checks have not been validated since the last release: {titles}. `autograder audit {found.chapter}` tests them, and "
        f"`autograder release {found.chapter}` validates them.",
        "",
    )


# --- progress ---------------------------------------------------------------------------------------------------------


@contextmanager
def grading_progress(total: int, what: str) -> Iterator[Callable[[Verdict], None]]:
    """Show the progress of grading ``total`` notebooks: a bar in a terminal, and lines in a log.

    Yields a function to call with each new verdict.
    """
    if total > 1 and sys.stderr.isatty():
        with _bar(total, what) as tick:
            yield tick
    else:
        yield _log(total, what)


@contextmanager
def _bar(total: int, what: str) -> Iterator[Callable[[Verdict], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    described, counted = TextColumn("{task.description}"), TextColumn("{task.fields[counts]}")
    columns = described, BarColumn(), MofNCompleteColumn(), counted, TimeRemainingColumn()
    counts: Counter[str] = Counter()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=total, counts="")

        def tick(verdict: Verdict) -> None:
            counts[verdict.status] += 1
            progress.update(task, advance=1, counts=_counted(counts))

        yield tick


def _log(total: int, what: str) -> Callable[[Verdict], None]:
    counts: Counter[str] = Counter()
    started = time.monotonic()
    if total > 1:
        echo_status(f"{what}: {total} notebooks")

    def tick(verdict: Verdict) -> None:
        counts[verdict.status] += 1
        done = counts.total()
        # Print at most twenty lines, whatever the size of the class.
        if total > 1 and done * 20 // total > (done - 1) * 20 // total:
            seconds = (time.monotonic() - started) / done * (total - done)
            left = f", {seconds:.0f} s left" if seconds >= 1 else ""
            echo_status(f"{what}: {done} of {total} ({_counted(counts)}){left}")

    return tick


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))

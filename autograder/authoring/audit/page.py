"""The audit as a page that can be opened in a browser: the table, and what stands behind each number."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from autograder.authoring.audit.category_coverage import CategoryCoverage
from autograder.authoring.audit.report import ChapterAudit, ExerciseAudit
from autograder.course.course import TARGETS

__all__ = ["audit_page"]

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; background: #fff }
table { border-collapse: collapse; width: 100% } th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid #ccc }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums } code { font-size: .9em } .short { color: #8a2c00; font-weight: 600 }
.wide { overflow-x: auto } details { margin: .6rem 0 } summary { cursor: pointer }
@media (prefers-color-scheme: dark) { body { color: #eee; background: #161616 } th, td { border-color: #444 } .short { color: #ffb08a } }
"""


def audit_page(audits: Sequence[ChapterAudit], title: str) -> str:
    """A self-contained page about ``audits``."""
    body = "\n".join(_chapter(a) for a in audits)
    targets = audits[0].targets if audits else TARGETS  # of one course, so they are the same for all
    hidden, visible, seen = targets["hidden"], targets["visible"], targets["misconceptions_visible"]
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Audit: {escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head>\n<body><main>'
        f"<h1>How good are the checks of “{escape(title)}”?</h1>\n<p>Every wrong solution that the authors know has to lose marks "
        f"and be named; every right one has to keep them. Visible checks have to see {seen:.0%} of the wrong "
        "ones of each chapter, its quiz apart, which explains nothing before it is graded. Mutants are copies of right solutions with one thing changed by machine: "
        f"all checks together have to catch {hidden:.0%} of them, the visible ones {visible:.0%}.</p>\n{body}</main></body></html>\n"
    )


def _chapter(audit: ChapterAudit) -> str:
    rows = "\n".join(_row(e) for e in audit.exercises)
    verdict = "meets every target" if audit.ok else '<span class="short">falls short</span>'
    if audit.draft:
        verdict += ", released as a draft"
    problems = _list(audit.problems, "What falls short", opened=True)
    return (
        f"<section><h2>{escape(audit.chapter)}: {verdict}</h2>\n<table><thead><tr><th>exercise</th>"
        '<th class="n">right solutions accepted</th><th class="n">mistakes caught</th><th class="n">named</th><th class="n">seen by visible checks</th><th class="n">mutants</th>'
        '<th class="n">killed</th><th class="n">by visible checks</th><th class="n">kinds of input visited</th>'
        f'<th class="n">points for one answer by heart</th></tr></thead>\n<tbody>{rows}</tbody></table>\n{problems}'
        + _lines_found(audit)
        + "".join(_details(e) for e in audit.exercises)
        + "</section>"
    )


def _lines_found(audit: ChapterAudit) -> str:
    """How often the line of a mistake was found, by exercise; empty where nobody asked for it."""
    if audit.places is None:
        return ""
    parts = [(e.name, e.places) for e in audit.exercises if e.places is not None]
    items = [f"{name}: {places}" for name, places in parts]
    missed = [label for _, places in parts for label in places.missed]
    return (
        f"<p>The line of a mistake was found in {escape(str(audit.places))}.</p>\n"
        + _list(items, "lines found, by exercise")
        + _list(missed, "wrong solutions whose line was not found")
        + _list(audit.places.incorrect, "mutants of which another line was named than the one that was changed")
    )


def _row(e: ExerciseAudit) -> str:
    caught = e.misconceptions - len(e.uncaught)
    cells = (
        f"{e.alternatives - len(e.rejected)} of {e.alternatives}",
        f"{caught} of {e.misconceptions}",
        f"{caught - len(e.misdiagnosed)}",
        "–" if e.answers else f"{e.misconceptions - len(e.missed_by_visible)} of {e.misconceptions}",
        f"{e.mutants}" if e.mutants else "–",
        f"{e.killed:.1%}" if e.mutants else "–",
        f"{e.killed_visibly:.1%}" if e.mutants else "–",
        f"{len(e.kinds.covered)} of {len(e.kinds.allowed)}" if e.kinds.allowed else "–",
        "–" if e.answers else f"{e.hardcoded:.0%}",
    )
    return f"<tr><td><code>{escape(e.name)}</code></td>" + "".join(f'<td class="n">{c}</td>' for c in cells) + "</tr>"


def _details(e: ExerciseAudit) -> str:
    kills = [f"{check}: {count} wrong solutions and mutants" for check, count in e.kills.items()]
    lists = {
        "misconceptions that only hidden checks see": [
            f"{name}: {why or 'no reason given'}" for name, why in e.missed_by_visible.items()
        ],
        "mutants that no check kills": e.survivors,
        "mutants that only hidden checks kill": e.seen_by_hidden_only,
        "mutants that are right, with the reason": [f"{label}: {why}" for label, why in e.equivalent.items()],
        "which check kills how many": kills,
        "checks that kill nothing": e.checks_without_kills,
        "wrong on one kind of input only, and alive": e.kinds.survivors,
    }
    return _matrix(e.kinds, e.name) + "".join(_list(items, f"{e.name}: {title}") for title, items in lists.items())


def _matrix(kinds: CategoryCoverage, name: str) -> str:
    """The kinds of input as a table: what is varied across, how it is down."""
    if not kinds.allowed:
        return ""
    split = {kind: kind.partition(": ")[::2] for kind in kinds.allowed}
    across = list(dict.fromkeys(what for what, _how in split.values()))
    cells: dict[str, dict[str, str]] = {}
    for kind, (what, how) in split.items():
        mark = "✓" if kind in kinds.covered else '<span class="short">hole</span>'
        cells.setdefault(how or "itself", {})[what] = mark
    head = "".join(f"<th>{escape(what)}</th>" for what in across)
    rows = ""
    for how, marks in cells.items():
        rows += f"<tr><th>{escape(how)}</th>" + "".join(f"<td>{marks.get(w, '')}</td>" for w in across) + "</tr>"
    return (
        f"<details><summary>{escape(name)}: kinds of input, {len(kinds.covered)} of {len(kinds.allowed)} visited; "
        f"{kinds.mutants - len(kinds.survivors)} of {kinds.mutants} mutants that are wrong on one kind only killed</summary>"
        f'<div class="wide"><table><thead><tr><td></td>{head}</tr></thead><tbody>{rows}</tbody></table></div></details>\n'
    )


def _list(items: Sequence[str], title: str, *, opened: bool = False) -> str:
    if not items:
        return ""
    inside = "".join(f"<li><code>{escape(item)}</code></li>" for item in items)
    return f"<details{' open' if opened else ''}><summary>{escape(title)} ({len(items)})</summary><ul>{inside}</ul></details>\n"

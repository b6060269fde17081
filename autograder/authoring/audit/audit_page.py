"""Render an audit as a web page with a table and the findings behind each number."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from jinja2 import Template

from autograder.authoring.audit.report import ChapterAudit, ExerciseAudit
from autograder.course.course import TARGETS
from autograder.pages.prose import page_templates

__all__ = ["audit_page"]


def audit_page(audits: Sequence[ChapterAudit], title: str) -> str:
    """Render ``audits`` as one self-contained page. All belong to the same course, so they have the same targets."""
    return _template().render(audits=audits, title=title, targets=audits[0].targets if audits else TARGETS)


def _cells(e: ExerciseAudit) -> tuple[str, ...]:
    caught = e.misconceptions - len(e.uncaught)
    return (
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


def _findings(e: ExerciseAudit) -> list[tuple[str, Sequence[str]]]:
    return [
        (
            "misconceptions that only hidden checks detect",
            [f"{name}: {why or 'no reason given'}" for name, why in e.missed_by_visible.items()],
        ),
        ("mutants that no check kills", e.survivors),
        ("mutants that only hidden checks kill", e.seen_by_hidden_only),
        ("equivalent mutants, with the reason", [f"{label}: {why}" for label, why in e.equivalent.items()]),
        (
            "what each check kills",
            [f"{check}: {count} wrong solutions and mutants" for check, count in e.kills.items()],
        ),
        ("checks that kill nothing", e.checks_without_kills),
        ("mutants that are wrong for only one kind of input, and are not killed", e.kinds.survivors),
        ("programs with a fault that no check detects", e.fault_coverage.survivors),
    ]


def _input_table(e: ExerciseAudit) -> tuple[list[str], dict[str, dict[str, bool]]]:
    """Return the columns of a table of input categories and, by row and column, whether each category is covered."""
    rows: dict[str, dict[str, bool]] = {}
    columns: dict[str, None] = {}
    for kind in e.kinds.allowed:
        what, _, how = kind.partition(": ")
        columns[what] = None
        rows.setdefault(how or "itself", {})[what] = kind in e.kinds.covered
    return list(columns), rows


@cache
def _template() -> Template:
    templates = page_templates("autograder.authoring.audit")
    templates.filters |= {
        "cells": _cells,
        "findings": _findings,
        "input_table": _input_table,
        "percent": "{:.0%}".format,
        "places_by_name": lambda e: f"{e.name}: {e.places}",
    }
    return templates.get_template("audit.html.j2")

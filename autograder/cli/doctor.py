"""``autograder doctor``: what of the sandbox holds on this machine, what a course lacks, and how to get it."""

from __future__ import annotations

import platform
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from autograder.classroom.readiness import STOPPING, probe_course
from autograder.sandbox.confinement import find_bwrap, working_bwrap
from autograder.sandbox.probes import Probe, probe

if TYPE_CHECKING:
    from rich.console import Console

    from autograder.course.course import Course

__all__ = ["as_data", "diagnose", "report"]


def diagnose() -> list[Probe]:
    """Everything that grading confined needs, each tried by running it; the first that works is probed whole."""
    found = [_python()]
    if sys.platform == "linux":
        found.append(_bwrap())
    bubblewrap = probe("bubblewrap")
    return found + bubblewrap + ([] if bubblewrap[0].holds else probe("landlock"))


def report(console: Console | None = None, course: Course | None = None) -> bool:
    """Print the diagnosis of this machine, and of ``course`` where one is given; whether it can be graded confined here."""
    from rich.console import Console as RichConsole
    from rich.markup import escape

    out = console or RichConsole()

    def show(probes: list[Probe]) -> None:
        for one in probes:
            mark = "[green]✓[/]" if one.holds else "[red]✗[/]"
            out.print(f"{mark} {escape(one.name)}: {escape(one.detail)}", highlight=False)
            if not one.holds and one.remedy:
                out.print(f"    {escape(one.remedy)}", highlight=False)

    probes = diagnose()
    show(probes)
    of_course = probe_course(course) if course is not None else []
    if course is not None:
        out.print(f"The course in {escape(str(course.root))}:", highlight=False)
        show(of_course)
    sandbox, ready = _readiness(probes, of_course)
    last = "Not ready: notebooks cannot be graded confined here, and `autograder grade` will refuse."
    if sandbox and not ready:
        lacks = " and ".join(one.name for one in of_course if one.name in STOPPING and not one.holds)
        last = f"Not ready: there is a sandbox ({sandbox}), but the course cannot be graded ({lacks}, see above)."
    elif sandbox:
        last = f"Ready: notebooks are graded in the {sandbox} sandbox."
    out.print(last, highlight=False)
    return ready


def as_data(course: Course | None = None) -> dict[str, Any]:
    """The diagnosis as data: whether all is ready, the sandbox that is used (None where none holds), and each probe."""
    probes, of_course = diagnose(), probe_course(course) if course is not None else []
    sandbox, ready = _readiness(probes, of_course)
    return {
        "ready": ready,
        "sandbox": sandbox or None,
        "machine": [asdict(one) for one in probes],
        "course": [asdict(one) for one in of_course],
    }


def _readiness(probes: list[Probe], of_course: list[Probe]) -> tuple[str, bool]:
    """The sandbox that starts and holds, empty where none does, and whether a class can be graded with it."""
    works = next((i for i, one in enumerate(probes) if one.holds and one.name.endswith(" starts")), len(probes))
    sound = works < len(probes) and all(one.holds for one in probes[works:])
    sandbox = probes[works].name.split()[0] if sound else ""
    return sandbox, sound and all(one.holds for one in of_course if one.name in STOPPING)


def _python() -> Probe:
    version = platform.python_version()
    holds = (3, 11) <= sys.version_info[:2] < (3, 14)
    detail = f"{version} on {platform.system()}"
    return Probe("Python", holds=holds, detail=detail, remedy="Use Python 3.11, 3.12 or 3.13.")


def _bwrap() -> Probe:
    path, why = working_bwrap()
    if path is None:
        return Probe("bwrap", holds=False, detail=why, remedy="See the next lines for what to do.")
    origin = dict(find_bwrap())[path]
    return Probe("bwrap", holds=True, detail=f"{path}, from {origin}")

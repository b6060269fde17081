"""``autograder doctor``: what of the sandbox holds on this machine, what is missing, and how to get it."""

from __future__ import annotations

import platform
import sys
from typing import TYPE_CHECKING

from autograder.sandbox.confinement import find_bwrap, working_bwrap
from autograder.sandbox.probes import Probe, probe

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["diagnose", "report"]


def diagnose() -> list[Probe]:
    """Everything that grading confined needs, each tried by running it; the first that works is probed whole."""
    found = [_python()]
    if sys.platform == "linux":
        found.append(_bwrap())
    bubblewrap = probe("bubblewrap")
    return found + bubblewrap + ([] if bubblewrap[0].holds else probe("landlock"))


def report(console: Console | None = None) -> bool:
    """Print the diagnosis; whether student code can be graded confined here."""
    from rich.console import Console as RichConsole  # noqa: PLC0415 - the probes are imported without it
    from rich.markup import escape  # noqa: PLC0415

    out = console or RichConsole()
    probes = diagnose()
    for one in probes:
        mark = "[green]✓[/]" if one.holds else "[red]✗[/]"
        out.print(f"{mark} {escape(one.name)}: {escape(one.detail)}", highlight=False)
        if not one.holds and one.remedy:
            out.print(f"    {escape(one.remedy)}", highlight=False)
    works = next((i for i, one in enumerate(probes) if one.holds and one.name.endswith(" starts")), len(probes))
    sound = works < len(probes) and all(one.holds for one in probes[works:])
    last = "Not ready: notebooks cannot be graded confined here, and `autograder grade` will refuse."
    if sound:
        last = f"Ready: notebooks are graded in the {probes[works].name.split()[0]} sandbox."
    out.print(last, highlight=False)
    return sound


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

"""Check whether this machine and a course are ready for grading, and suggest fixes."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.base.errors import CourseError
from autograder.base.formatting import pluralize
from autograder.base.nbgrader_steps import USE, grades_confined
from autograder.classroom.gradebook.database import GradebookError, require_version
from autograder.classroom.gradebook.entries import gradebook_url, nbgrader_config
from autograder.classroom.gradebook.people import duplicate_students, read_class_list
from autograder.course.course import Course
from autograder.course.secret import VARIABLE
from autograder.sandbox.confinement import find_bwrap, working_bwrap
from autograder.sandbox.packages import PackageMissing, top_level_paths
from autograder.sandbox.probes import Probe, probe

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["STOPPING", "as_data", "diagnose", "probe_course", "report"]

# If one of these probes fails, no mark is computed or entered. The course's other probes concern nbgrader's own commands or later steps.
STOPPING = frozenset({"packages", "gradebook"})
_EXCHANGE = "/usr/local/share/nbgrader/exchange"  # nbgrader's default folder


def diagnose() -> list[Probe]:
    """Start the sandbox to check everything that it needs. Landlock is tested only if bubblewrap does not start."""
    found = [_python()]
    if sys.platform == "linux":
        found.append(_bwrap())
    bubblewrap = probe("bubblewrap")
    return found + bubblewrap + ([] if bubblewrap[0].holds else probe("landlock"))


def report(console: Console | None = None, course: Course | None = None) -> bool:
    """Print the state of this machine, and of ``course`` if it is given. Return whether notebooks can be graded here."""
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
    last = "Not ready: there is no working sandbox here, so `autograder grade` will refuse to run."
    if sandbox and not ready:
        lacks = " and ".join(one.name for one in of_course if one.name in STOPPING and not one.holds)
        last = f"Not ready: the {sandbox} sandbox works, but the course cannot be graded ({lacks}, see above)."
    elif sandbox:
        last = f"Ready: notebooks are graded in the {sandbox} sandbox."
    out.print(last, highlight=False)
    return ready


def as_data(course: Course | None = None) -> dict[str, Any]:
    """Return the report as data: whether notebooks can be graded, the sandbox in use (None if none works), and each probe."""
    probes, of_course = diagnose(), probe_course(course) if course is not None else []
    sandbox, ready = _readiness(probes, of_course)
    return {
        "ready": ready,
        "sandbox": sandbox or None,
        "machine": [asdict(one) for one in probes],
        "course": [asdict(one) for one in of_course],
    }


def _readiness(probes: list[Probe], of_course: list[Probe]) -> tuple[str, bool]:
    """Return the name of the working sandbox ("" if there is none), and whether a class can be graded."""
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
        return Probe("bwrap", holds=False, detail=why, remedy="The next lines say what to do.")
    origin = dict(find_bwrap())[path]
    return Probe("bwrap", holds=True, detail=f"{path}, from {origin}")


def probe_course(course: Course) -> list[Probe]:
    """Check everything that a course folder needs for grading a class, except the sandbox."""
    return [
        _packages(course), _gradebook(course), _class_list(course), _secret(course), _alembic(), _chains(course), _exchange(course),
    ]  # fmt: skip


def _packages(course: Course) -> Probe:
    try:
        top_level_paths(list(course.packages))
    except PackageMissing as error:
        return Probe("packages", holds=False, detail="one of c.Course.packages is missing", remedy=str(error))
    return Probe("packages", holds=True, detail=f"notebooks may import {', '.join(course.packages) or 'nothing more'}")


def _gradebook(course: Course) -> Probe:
    try:
        url = gradebook_url(course)
        require_version(url)
        known = read_class_list(url)
    except (GradebookError, CourseError) as error:
        return Probe("gradebook", holds=False, detail="it cannot be used", remedy=str(error))
    if known is None:
        return Probe(
            "gradebook", holds=True, detail="there is none yet: `release`, `grade` or `nbgrader db` creates one"
        )
    return Probe("gradebook", holds=True, detail="it matches the installed version of nbgrader")


def _class_list(course: Course) -> Probe:
    advice = "Enter the class with `nbgrader db student import students.csv` (columns: id,first_name,last_name,email)."
    try:
        known = read_class_list(gradebook_url(course))
    except (GradebookError, CourseError):
        return Probe("class list", holds=False, detail="the gradebook cannot be read", remedy="See the line above.")
    if known is None or not known.is_entered:
        detail = "there is none, so autograder cannot report who has not submitted"
        return Probe("class list", holds=False, detail=detail, remedy=advice)
    doubles = duplicate_students(known.people.values())
    if doubles:
        remedy = "Remove the wrong entry: nbgrader db student remove ID (this deletes its marks, too)."
        return Probe("class list", holds=False, detail="; ".join(doubles), remedy=remedy)
    return Probe("class list", holds=True, detail=pluralize(len(known.people), "student"))


def _secret(course: Course) -> Probe:
    if os.environ.get(VARIABLE):
        return Probe("secret", holds=True, detail=f"in the environment variable {VARIABLE}")
    path = course.root / course.secret_file
    if not _git(course.root, "rev-parse", "--is-inside-work-tree"):
        return Probe("secret", holds=True, detail=f"{course.secret_file}, in a folder outside any git repository")
    if _git(course.root, "ls-files", "--error-unmatch", "--", str(path)):
        remedy = (
            f"Anyone who reads the repository can work out the hidden inputs. Run git rm --cached {course.secret_file} and add the "
            "file to .gitignore. Delete the file before the next chapter, so that a new secret is created."
        )
        return Probe("secret", holds=False, detail=f"{course.secret_file} is committed to git", remedy=remedy)
    if not _git(course.root, "check-ignore", "--quiet", "--", str(path)):
        remedy = f"Add {course.secret_file} to .gitignore, so that it is never committed."
        return Probe("secret", holds=False, detail=f"git does not ignore {course.secret_file}", remedy=remedy)
    return Probe("secret", holds=True, detail=f"{course.secret_file}, which git ignores")


def _git(folder: Path, *arguments: str) -> bool:
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _alembic() -> Probe:
    found = shutil.which("alembic")
    if found is None:
        scripts = Path(sysconfig.get_path("scripts"))
        remedy = (
            "nbgrader's own commands need alembic to create a gradebook (`autograder` does not). Activate the virtual environment "
            f"(. {scripts / 'activate'}) or put {scripts} on PATH. If it is not installed: pip install alembic."
        )
        return Probe("alembic", holds=False, detail="it is not on PATH", remedy=remedy)
    return Probe("alembic", holds=True, detail=found)


def _chains(course: Course) -> Probe:
    """Check whether ``nbgrader autograde`` and formgrader's button use the sandbox and the checks. Standard nbgrader has no sandbox."""
    name = "nbgrader's own commands"
    if grades_confined(nbgrader_config(course)):
        detail = "nbgrader autograde and formgrader use the sandbox and the course's checks"
        return Probe(name, holds=True, detail=detail)
    detail = "nbgrader autograde and formgrader would run students' code without a sandbox and skip the course's checks"
    return Probe(name, holds=False, detail=detail, remedy=f"Add two lines to nbgrader_config.py: {' and '.join(USE)}.")


def _exchange(course: Course) -> Probe:
    given = nbgrader_config(course).get("Exchange", {}).get("root")
    root = Path(str(given or _EXCHANGE))
    if not root.is_dir():
        remedy = (
            f"On a machine that students share: sudo mkdir -p {root} && sudo chmod ugo+rwx {root}, or set c.Exchange.root in "
            "nbgrader_config.py to your own folder. If you hand out and collect notebooks another way, ignore this warning."
        )
        return Probe("exchange", holds=False, detail=f"there is no folder {root}", remedy=remedy)
    if not os.access(root, os.W_OK | os.X_OK):
        remedy = f"sudo chmod ugo+rwx {root}, or set c.Exchange.root in nbgrader_config.py to another folder."
        return Probe("exchange", holds=False, detail=f"{root} is not writable", remedy=remedy)
    return Probe("exchange", holds=True, detail=f"{root} is writable")

"""What a course folder lacks before a class can be taught with it, each with what to do: told by ``autograder doctor``."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

from autograder.base.errors import CourseError
from autograder.base.formatting import pluralize
from autograder.base.nbgrader_steps import USE, grades_confined
from autograder.classroom.gradebook.entries import gradebook_url, nbgrader_config
from autograder.classroom.gradebook.errors import GradebookError, require_version
from autograder.classroom.gradebook.people import double_entries, read_class_list
from autograder.course.course import Course
from autograder.course.secret import VARIABLE
from autograder.sandbox.packages import PackageMissing, top_level_paths
from autograder.sandbox.probes import Probe

__all__ = ["STOPPING", "probe_course"]

# Without these no mark is made or entered; the others are for nbgrader's own commands, or for later.
STOPPING = frozenset({"packages", "gradebook"})
_EXCHANGE = "/usr/local/share/nbgrader/exchange"  # as nbgrader has it


def probe_course(course: Course) -> list[Probe]:
    """Everything that grading a class in this course folder needs, besides the jail."""
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
        return Probe("gradebook", holds=True, detail="there is none yet: release, grade or nbgrader db makes it")
    return Probe("gradebook", holds=True, detail="its tables are those of the nbgrader that is installed here")


def _class_list(course: Course) -> Probe:
    """Whether there is a class list, and whether each student stands in it once."""
    advice = "Enter the class with `nbgrader db student import students.csv` (columns: id,first_name,last_name,email)."
    try:
        known = read_class_list(gradebook_url(course))
    except (GradebookError, CourseError):
        return Probe("class list", holds=False, detail="the gradebook cannot be read", remedy="See the line above.")
    if known is None or not known.is_entered:
        detail = "there is none, so nobody is told who has not handed in"
        return Probe("class list", holds=False, detail=detail, remedy=advice)
    doubles = double_entries(known.people.values())
    if doubles:
        remedy = "Remove the wrong one: nbgrader db student remove ID (its marks go with it)."
        return Probe("class list", holds=False, detail="; ".join(doubles), remedy=remedy)
    return Probe("class list", holds=True, detail=pluralize(len(known.people), "student"))


def _secret(course: Course) -> Probe:
    if os.environ.get(VARIABLE):
        return Probe("secret", holds=True, detail=f"in the environment variable {VARIABLE}")
    path = course.root / course.secret_file
    if not _git(course.root, "rev-parse", "--is-inside-work-tree"):
        return Probe("secret", holds=True, detail=f"{course.secret_file}, in a folder that git does not keep")
    if _git(course.root, "ls-files", "--error-unmatch", "--", str(path)):
        remedy = (
            f"git rm --cached {course.secret_file}, add it to .gitignore, and let a new one be made (delete the file) before the "
            "next chapter: whoever reads the repository can work out the hidden inputs."
        )
        return Probe("secret", holds=False, detail=f"{course.secret_file} is committed to git", remedy=remedy)
    if not _git(course.root, "check-ignore", "--quiet", "--", str(path)):
        remedy = f"Add a line with {course.secret_file} to .gitignore, so that it is never committed."
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
            "nbgrader's own commands call it by name for a new gradebook (`autograder` finds it without): activate the virtual "
            f"environment (. {scripts / 'activate'}) or put {scripts} on PATH; if it is not there: pip install alembic."
        )
        return Probe("alembic", holds=False, detail="it is not on PATH", remedy=remedy)
    return Probe("alembic", holds=True, detail=found)


def _chains(course: Course) -> Probe:
    """Whether ``nbgrader autograde`` and formgrader's button grade as ``autograder grade`` does; their own way knows no jail."""
    name = "nbgrader's own commands"
    if grades_confined(nbgrader_config(course)):
        return Probe(
            name, holds=True, detail="nbgrader autograde and formgrader grade in the jail, by the course's checks"
        )
    detail = "nbgrader autograde and formgrader would run students' code unconfined, and no check of the course"
    return Probe(
        name, holds=False, detail=detail, remedy=f"Write two lines into nbgrader_config.py: {' and '.join(USE)}."
    )


def _exchange(course: Course) -> Probe:
    given = nbgrader_config(course).get("Exchange", {}).get("root")
    root = Path(str(given or _EXCHANGE))
    if not root.is_dir():
        remedy = (
            f"On a machine that students share: sudo mkdir -p {root} && sudo chmod ugo+rwx {root}, or name a folder of your own in "
            "nbgrader_config.py: c.Exchange.root. Where notebooks come and go another way, nothing is missing."
        )
        return Probe("exchange", holds=False, detail=f"there is no folder {root}", remedy=remedy)
    if not os.access(root, os.W_OK | os.X_OK):
        remedy = f"sudo chmod ugo+rwx {root}, or name another folder in nbgrader_config.py: c.Exchange.root."
        return Probe("exchange", holds=False, detail=f"{root} cannot be written", remedy=remedy)
    return Probe("exchange", holds=True, detail=f"{root} can be written")

"""Grade one submission in Gradescope's container: ``python -m autograder.extras.gradescope.container /autograder``."""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from pathlib import Path

from autograder.base.files import write_atomically
from autograder.base.foreign import Json
from autograder.base.formatting import number, pluralize
from autograder.base.verdict import Verdict
from autograder.course.course import Course, load_course
from autograder.course.secret import VARIABLE
from autograder.extras.gradescope.results import failure, results_of
from autograder.grading.batch import grade_notebooks
from autograder.grading.submission import Job
from autograder.sandbox.protocol import SandboxUnavailable

__all__ = ["main", "notebook_of_submission"]

_MAX_NAMES = 5


def main(root: Path) -> int:
    """Grade the submission in ``root/submission``, and write ``root/results/results.json``. Return 1 after an internal error, else 0.

    After an internal error, there is no score, and only the instructors see the error. No exception is raised.
    """
    started = time.monotonic()
    status = 0
    try:
        results = _graded(root)
    except Exception as error:  # noqa: BLE001 - whatever the error is, it is not the student's fault
        traceback.print_exc(file=sys.stdout)
        why = f"The grader failed: {type(error).__name__}: {error}"
        sys.stdout.write(f"{why}\n")
        results, status = failure(why), 1
    results["execution_time"] = round(time.monotonic() - started, 1)
    write_atomically(root / "results" / "results.json", json.dumps(results, ensure_ascii=False, indent=1).encode())
    return status


def _graded(root: Path) -> dict[str, Json]:
    settings = json.loads((root / "source" / "settings.json").read_text(encoding="utf-8"))
    os.environ[VARIABLE] = (root / "source" / "secret").read_text(encoding="utf-8")
    course, chapter = load_course(root / "source" / "course"), settings["chapter"]
    path, why = notebook_of_submission(root / "submission", chapter)
    if path is None:
        sys.stdout.write(f"{why}\n")
        return results_of(course, Verdict("", None, chapter, "ungradable", why, 0.0, 0.0, None), "hidden")
    verdict = _verdict(course, Job(path, None, chapter), unsafe_local=settings["unsafe_local"])
    _tell(root, verdict)
    return results_of(course, verdict, settings["hidden_checks"])


def _verdict(course: Course, job: Job, *, unsafe_local: bool) -> Verdict:
    """Grade ``job`` with Landlock, because containers forbid the namespaces that bubblewrap needs. If Landlock is missing, try bubblewrap."""
    try:
        [verdict] = grade_notebooks(course, [job], confinement="landlock", workers=1)
    except SandboxUnavailable as first:
        try:
            [verdict] = grade_notebooks(course, [job], confinement="bubblewrap", workers=1)
        except SandboxUnavailable:
            if not unsafe_local:
                raise first from None
            sys.stdout.write("UNSAFE: there is no sandbox here, so this code could have changed its own mark.\n")
            [verdict] = grade_notebooks(course, [job], confinement="local", workers=1)
    return verdict


def notebook_of_submission(folder: Path, chapter: str) -> tuple[Path | None, str]:
    """Return the notebook to grade, or None and the reason why there is none.

    The notebook is ``chapter.ipynb`` in the outermost folder that contains one. If none does, it is the only notebook. Links are ignored.
    """
    found = [
        path
        for path in folder.rglob("*.ipynb")
        if not path.is_symlink()
        and path.is_file()
        and not any(p.startswith(".") for p in path.relative_to(folder).parts)
    ]
    found.sort(key=lambda path: (len(path.parts), str(path)))
    named = [path for path in found if path.name == f"{chapter}.ipynb"]
    if named:
        return named[0], ""
    if len(found) == 1:
        return found[0], ""
    wanted = f"Submit a notebook called {chapter}.ipynb."
    if not found:
        return None, f"The submission contains no notebook. {wanted}"
    names = ", ".join(path.name for path in found[:_MAX_NAMES]) + (", …" if len(found) > _MAX_NAMES else "")
    return None, f"The submission contains {len(found)} notebooks ({names}), but none is {chapter}.ipynb. {wanted}"


def _tell(root: Path, verdict: Verdict) -> None:
    """Print notes for the instructors. Gradescope shows them to nobody else."""
    sys.stdout.write(f"{verdict.chapter}: {verdict.status}, {number(verdict.score)} of {number(verdict.max_score)}\n")
    sys.stdout.write(f"Sandbox: {verdict.sandbox}\n")
    for text in (verdict.reason, verdict.warning):
        sys.stdout.write(f"{text}\n" if text else "")
    try:
        metadata = json.loads((root / "submission_metadata.json").read_text(encoding="utf-8"))
        total = float(metadata["assignment"]["total_points"])
    except (OSError, ValueError, KeyError, TypeError):
        return  # grading does not need this file
    if verdict.status == "graded" and abs(total - verdict.max_score) > 1e-9:
        sys.stdout.write(
            f"The assignment is set to {pluralize(total, 'point')} on Gradescope, but these checks give {number(verdict.max_score)}. "
            "Set the autograder points on Gradescope to the same number.\n"
        )


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

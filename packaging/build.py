"""Build what is published into ``dist/``: the released course, then sdist and wheel of both distributions.

``python packaging/build.py [--output-dir DIR]``. It uses the build backend of this environment and downloads nothing.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROJECTS = [ROOT, ROOT / "packaging" / "instructor"]


def main() -> int:
    """Build everything, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output-dir", type=Path, default=ROOT / "dist", metavar="DIR")
    output = parser.parse_args().output_dir.resolve()
    course = ROOT / "build" / "course"
    print("Building the course as students receive it …", flush=True)
    from autograder.authoring.release.run import hand_out  # noqa: PLC0415
    from autograder.course.course import load_course  # noqa: PLC0415 - --help needs none of it

    hand_out(load_course(ROOT), course)
    for project in PROJECTS:
        # The wheel is built from the sdist, which proves that the sdist is complete.
        command = [sys.executable, "-m", "build", "--no-isolation", f"--outdir={output}", str(project)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
            return 1
    shutil.rmtree(course)  # a wheel that is built later without this script would contain an outdated course
    print(*sorted(str(path) for path in output.glob("nbautograder*")), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

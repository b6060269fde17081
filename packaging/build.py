"""Builds what is published, into ``dist/``: the released course, then sdist and wheel of both distributions.

``python packaging/build.py [--output-dir DIR]``. The build backend is the one of this environment: nothing is fetched.
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
    """Build all of it; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output-dir", type=Path, default=ROOT / "dist", metavar="DIR")
    output = parser.parse_args().output_dir.resolve()
    course = ROOT / "build" / "course"
    print("The course, as students get it …", flush=True)
    from autograder.authoring.release.run import hand_out  # noqa: PLC0415
    from autograder.course.course import load_course  # noqa: PLC0415 - --help needs none of it

    hand_out(load_course(ROOT), course)
    for project in PROJECTS:
        # The wheel is made from the sdist, so that the sdist is known to hold all it needs.
        command = [sys.executable, "-m", "build", "--no-isolation", f"--outdir={output}", str(project)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
            return 1
    shutil.rmtree(course)  # a wheel that is built by hand later would hold what has grown old
    print(*sorted(str(path) for path in output.glob("nbautograder*")), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

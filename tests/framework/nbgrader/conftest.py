"""Real nbgrader commands, in processes of their own, on a course and a student's folder that a test may change."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

CONFIG = """
c.Exchange.root = {root!r}
c.CourseDirectory.course_id = {course_id!r}
"""


class Folder:
    """A folder in which nbgrader is called: an instructor's course, or a student's work."""

    def __init__(self, path: Path, home: Path) -> None:
        self.path = path
        self.environment = {
            **os.environ,
            "HOME": str(home),
            "JUPYTER_CONFIG_DIR": str(home / "config"),
            "JUPYTER_DATA_DIR": str(home / "data"),
            # nbgrader calls alembic by name.
            "PATH": os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)]),
        }

    def nbgrader(self, *arguments: str, status: int = 0) -> str:
        """Call nbgrader and return what it said; its exit status must be ``status``."""
        command = [sys.executable, "-m", "nbgrader", *arguments]
        done = subprocess.run(
            command, cwd=self.path, env=self.environment, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == status, f"{' '.join(arguments)}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr


@pytest.fixture
def folders(tmp_path):
    """Makes an instructor's and a student's folder that share an exchange, for the course in a folder of ``tmp_path``."""

    def make(course):
        exchange, home, student = (tmp_path / name for name in ("exchange", "home", "student"))
        for folder in (exchange, home, student):
            folder.mkdir()
        exchange.chmod(0o777)
        config = CONFIG.format(root=str(exchange), course_id=course.course_id)
        (student / "nbgrader_config.py").write_text(f"c = get_config()\n{config}")
        with (course.root / "course_config.py").open("a") as file:
            file.write(config)
        return Folder(course.root, home), Folder(student, home), exchange

    return make

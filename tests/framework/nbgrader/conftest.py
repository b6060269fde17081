"""Real nbgrader commands, in processes of their own, on a course and a student's folder that a test may change."""

from pathlib import Path

import pytest

from tests.support.nbgrader import nbgrader

CONFIG = """
c.Exchange.root = {root!r}
c.CourseDirectory.course_id = {course_id!r}
"""


class Folder:
    """A folder in which nbgrader is called: an instructor's course, or a student's work."""

    def __init__(self, path: Path, home: Path) -> None:
        self.path, self._home = path, home

    def nbgrader(self, *arguments: str, status: int = 0) -> str:
        """Call nbgrader and return what it said; its exit status must be ``status``."""
        return nbgrader(*arguments, folder=self.path, home=self._home, status=status)


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

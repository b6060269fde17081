"""What hostile submissions would like to reach: a course with a gradebook, an environment with a secret, an open port."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.framework.security.hostile_class import ATTACKS, listening

FILES = ("gradebook.db", "autograded/me.ipynb", "solutions/ch1.py", "tests/chapters/test_ch1.py", ".course_secret")


@dataclass
class Outside:
    """A course folder whose every file holds ``secret``, and a port on loopback that remembers who called."""

    course: Path
    secret: str
    port: int
    calls: list = field(default_factory=list)

    def state(self):
        """Every file and folder of the course: its bytes, permissions and time of change."""
        found = {path: path.stat() for path in self.course.rglob("*")}
        return {p: (p.is_file() and p.read_bytes(), s.st_mode, s.st_mtime_ns) for p, s in found.items()}

    def aim(self, source):
        """An attack's source with the places it looks for filled in."""
        return source.replace("@COURSE@", str(self.course)).replace("@PORT@", str(self.port))

    def attack(self, name):
        """The source of the attack ``name``, aimed."""
        return self.aim(ATTACKS[name].read_text("utf-8"))


@pytest.fixture
def outside(tmp_path, monkeypatch):
    """What is outside of the jail; the attacks are told where it is."""
    secret = f"SECRET{secrets.token_hex(16)}"
    course = tmp_path / "course"
    for name in FILES:
        path = course / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {secret}\n", "utf-8")
        path.chmod(0o666)  # nothing but the jail stands in the way
    monkeypatch.setenv("AUTOGRADER_COURSE_SECRET", secret)
    with listening() as (port, calls):
        yield Outside(course, secret, port, calls)

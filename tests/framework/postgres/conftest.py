"""A PostgreSQL server for the tests of this folder, on its own socket. It does not touch the system's server."""

import itertools
import os
import pwd
import shutil
import subprocess
import tempfile
from functools import cached_property
from pathlib import Path

import pytest
from sqlalchemy.engine import make_url

from tests.support.books import make_empty
from tests.support.mini import copy_course


def programs():
    """Return the folder of the newest PostgreSQL programs, or None."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[4]))
    anywhere = shutil.which("initdb")
    return found[-1].parent if found else Path(anywhere).parent if anywhere else None


class Server:
    """A PostgreSQL server with its data and its socket in ``folder``. PostgreSQL refuses to run as root, so root starts it as another user."""

    def __init__(self, folder, tools):
        self.folder, self._tools = folder, tools
        self._as = {}
        if os.geteuid() == 0:
            names = {user.pw_name for user in pwd.getpwall()}
            who = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
            self._as = {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []}
            os.chown(folder, who.pw_uid, who.pw_gid)
        self._names = (f"book{number}" for number in itertools.count(1))
        self._run("initdb", "-U", "grader", "-A", "trust", "-E", "UTF8", "--locale", "C", "--no-sync")
        options = f"-k {self.folder} -c listen_addresses='' -c fsync=off -c max_connections=50"
        self._run("pg_ctl", "-l", str(self.folder / "log"), "-o", options, "-w", "-t", "120", "start")

    def stop(self):
        """Stop the server at once."""
        self._run("pg_ctl", "-m", "immediate", "-w", "stop")

    def database(self, template="template1"):
        """Return the address of a new database: an empty one, or a copy of ``template``."""
        name = next(self._names)
        command = [self._tools / "createdb", "-h", self.folder, "-U", "grader", "-T", template, name]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
        return f"postgresql+psycopg://grader@/{name}?host={self.folder}"

    @cached_property
    def tables(self):
        """The name of a database in which nbgrader has created its tables."""
        url = self.database()
        make_empty(url)
        return make_url(url).database

    def _run(self, program, *arguments):
        command = [self._tools / program, "-D", self.folder / "data", *arguments]
        # Output goes into a file, because a server that pg_ctl started would keep a pipe open.
        with tempfile.TemporaryFile("w+") as said:
            streams = {"stdin": subprocess.DEVNULL, "stdout": said, "stderr": said}
            run = subprocess.run(command, cwd=self.folder, check=False, **streams, **self._as)
            said.seek(0)
            assert run.returncode == 0, said.read()


@pytest.fixture(scope="session")
def server():
    """Start a PostgreSQL server, and stop and remove it when the tests are done."""
    tools = programs()
    if tools is None:
        pytest.skip("No PostgreSQL is installed here (Debian: apt-get install postgresql), so none can be started.")
    with tempfile.TemporaryDirectory(prefix="pg-") as name:
        started = Server(Path(name), tools)
        try:
            yield started
        finally:
            started.stop()


@pytest.fixture
def book(server, request):
    """Return the address of an empty gradebook, or of a database without tables if the test is marked ``new_book``."""
    return server.database() if request.node.get_closest_marker("new_book") else server.database(server.tables)


@pytest.fixture
def course(tmp_path, book):
    """Return the mini course, with its gradebook in PostgreSQL."""
    made = copy_course(tmp_path / "mini", config=f"\nc.CourseDirectory.db_url = {book!r}\n")
    (made.root / made.secret_file).write_text("the secret of this course\n")
    return made

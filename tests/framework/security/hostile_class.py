"""A class of attackers with honest students between them, graded by the real command in a separate process."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import socketserver
import stat
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from nbgrader.api import Gradebook

from tests.framework.security.hostile import FILES, NOTHING_RIGHT
from tests.support import ROOT
from tests.support.books import marks, with_book
from tests.support.mini import CHAPTER, RIGHT, copy_course, document, hand_in

ATTACKS = {path.stem: path for path in sorted(Path(__file__).with_name("attacks").glob("*.py"))}
SUBMISSION, WORKERS = 2.0, 2
LIMITS = f"""
c.Course.call_seconds = 0.2
c.Course.cell_seconds = 0.2
c.Course.submission_seconds = {SUBMISSION}
c.Course.memory_mb = 256
"""
# An attack that ends with this line returns the trees in its list FORGED, one after the other.
RETURN_FORGED = (
    "# @RETURN FORGED@",
    """
import guest.wire as wire
import guest.runner as runner

calls = []


def packed(value, *_rest):
    calls.append(value)
    return wire.pack({"value": FORGED[len(calls) % len(FORGED)], "changed": []})


runner.pack_array = packed


def softmax(x):
    return x
""",
)
# The work of honest students, and the points of each exercise.
HONEST = {"right": RIGHT, "wrong": NOTHING_RIGHT, "blank": {}}
FULL = {"to_kelvin": 2.0, "mean_kelvin": 3.0, "quiz_ch1_units": 1.0}
EARNED = {"right": FULL, "wrong": dict.fromkeys(FULL, 0.0), "blank": dict.fromkeys(FULL, 0.0)}
# These attacks hard-code the visible example, so they earn its half point but nothing else.
KNOWS_THE_EXAMPLE = {"right_the_first_time": 0.5, "memorised_examples": 0.5}
# Files that grading itself writes.
OWN = ("autograded", "feedback", "gradebook.db", ".autograder", ".hypothesis")


@dataclass
class Hostile:
    """A hostile submission: its student, the most that each exercise may earn, its status, and the honest student after it."""

    student: str
    most: dict[str, float]
    status: str
    neighbour: str = ""


@dataclass
class HostileClass:
    """A course with ``secret`` in every file, its submissions, and a record of connections on loopback."""

    course: object
    secret: str
    port: int
    best: Path = Path()
    hostile: dict[str, Hostile] = field(default_factory=dict)
    honest: dict[str, str] = field(default_factory=dict)
    calls: list = field(default_factory=list)

    @property
    def beside(self) -> Path:
        """The folder of private files next to the course."""
        return self.course.root.parent / "beside"

    @property
    def seconds(self):
        """The time limit for grading this class: each attack's limit, a second per honest student, and startup time."""
        return (len(self.hostile) * SUBMISSION + len(self.honest)) / WORKERS + 60

    def state(self):
        """Return the content (unless it is large), mode, size and time of every file that grading must not change."""
        root = self.course.root
        found = {}
        for path in (path for top in (root, self.beside) for path in _below(top)):
            if path.relative_to(root.parent).parts[1].startswith(OWN):
                continue
            what = path.lstat()
            regular = stat.S_ISREG(what.st_mode)
            data = path.read_bytes() if regular and what.st_size < 1 << 20 else b""
            # A folder's own time changes if a file in it changes, so only the files' times are compared.
            found[path] = (data, what.st_mode, what.st_size, what.st_mtime_ns if regular else 0)
        return found


def _below(top):
    """Return the paths of all files and folders below ``top``, without following links."""
    return [Path(folder, name) for folder, folders, files in os.walk(top) for name in (*folders, *files)]


def aimed(source, course, port):
    """Return an attack's source with its targets filled in: the course's path and the port."""
    return source.replace("@COURSE@", str(course)).replace("@PORT@", str(port)).replace(*RETURN_FORGED)


def attack_of(name, world):
    """Return an attack's source, adapted so that it defines one of this course's functions."""
    function = "mean_kelvin" if in_the_second(name) else "to_kelvin"
    source = aimed(ATTACKS[name].read_text("utf-8"), world.course.root, world.port)
    source = re.sub(r"\bsoftmax\b", function, source)
    source = source.replace("/ch1.py", f"/{CHAPTER}.py").replace("test_ch1.py", f"test_{CHAPTER}.py")
    if name == "right_the_first_time":
        source = source.replace("e = np.exp(x - x.max())\n    return e / e.sum()", "return x + 273.15")
    if name == "memorised_examples":
        source = re.sub(r"known = .*", "known = {(0.0,): [273.15]}", source)
    assert name not in KNOWS_THE_EXAMPLE or "273.15" in source
    return source


def in_the_second(name):
    """Return True if an attack goes into the second exercise of right answers, or False if into the first exercise of wrong ones."""
    return list(ATTACKS).index(name) % 2 == 1 and name not in KNOWS_THE_EXAMPLE


@contextmanager
def hostile_class():
    """Create a class in a world-writable folder, so that only the sandbox protects it."""
    secret = f"SECRET{secrets.token_hex(16)}"
    top = Path(tempfile.mkdtemp(prefix="class-"))
    try:
        with listening() as (port, calls):
            world = HostileClass(copy_course(top / "course", config=LIMITS), secret, port, calls=calls)
            _hide(world)
            _hand_in(world)
            _keep_books(world)
            for path in (top, *_below(top)):
                if not path.is_symlink():
                    path.chmod(0o777 if path.is_dir() else 0o666)
            yield world
    finally:
        shutil.rmtree(top)


def _hide(world):
    """Put the secret into the course's solutions, checks and settings, and into a file next to the course."""
    root = world.course.root
    for path in (*root.glob("solutions/**/*.py"), *root.glob("tests/**/*.py"), root / "course_config.py"):
        path.write_text(f"{path.read_text()}\n# {world.secret}\n")
    (root / ".course_secret").write_text(f"{world.secret}\n")
    source = world.course.source(CHAPTER)
    notebook = json.loads(source.read_text())
    picture = next(c for c in notebook["cells"] if c["id"] == "picture")
    picture["metadata"]["tags"] = ["picture"]
    source.write_text(json.dumps(notebook))
    world.beside.mkdir()
    (world.beside / "canary").write_text(world.secret)


def _keep_books(world):
    """Create the gradebook with which every run starts. Its class list contains the secret and all students with valid names."""
    root = world.course.root
    with_book(world.course)
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}", "mini") as book:
        book.add_student("former", last_name=world.secret)
        for path in (root / "submitted").iterdir():
            if written(path.name) == path.name:
                book.add_student(path.name)
    shutil.copy(root / "gradebook.db", root.parent)


def _hand_in(world):
    course = world.course
    for number, (name, file) in enumerate([*((name, None) for name in ATTACKS), *FILES.items()]):
        kind = list(HONEST)[number % 3]
        honest, student = f"{number:03}b {kind}", f"{number:03}a {name}"
        world.honest[honest] = kind
        code = {stub: f"# {honest}\n{source}" for stub, source in HONEST[kind].items()}
        path = hand_in(course, honest, document(course, **code))
        if kind == "right":
            world.best = path
        if file is None:
            part, others = ("mean_kelvin", "right") if in_the_second(name) else ("to_kelvin", "wrong")
            hand_in(course, student, document(course, **{**HONEST[others], part: attack_of(name, world)}))
            most = {**EARNED[others], part: KNOWS_THE_EXAMPLE.get(name, 0.0)}
            world.hostile[name] = Hostile(student, most, "graded", honest)
        else:
            student = file.student or student
            folder = course.root / "submitted" / student / CHAPTER
            folder.mkdir(parents=True)
            file.make(folder, world)
            world.hostile[name] = Hostile(student, EARNED["wrong"], file.status, honest)


def written(path):
    """Return a path as text in which invalid bytes are escaped."""
    return path.encode("utf-8", "backslashreplace").decode()


@dataclass
class Run:
    """A finished command: its exit status, its output, its duration, and the files that it changed."""

    world: HostileClass
    status: int
    verdicts: list
    said: str
    seconds: float
    before: dict
    after: dict
    book: dict = field(default_factory=dict)
    left: set = field(default_factory=set)  # new files in the temporary folder, to which other programs write too

    def verdict(self, student):
        """Return the only verdict on the submission of ``student``."""
        path = self.world.course.root / "submitted" / student / CHAPTER / f"{CHAPTER}.ipynb"
        [found] = [v for v in self.verdicts if written(v["notebook"]) == written(str(path))]
        return found

    def given_back(self, student):
        """Return all text that ``student`` or the instructor gets about the submission."""
        root = self.world.course.root
        files = [p for kind in ("autograded", "feedback") for p in (root / kind / student).rglob("*") if p.is_file()]
        told = [path.read_text("utf-8") for path in files]
        return "\n".join([*told, json.dumps(self.verdict(student)), repr(self.book.get(student))])

    def page(self, student):
        """Return the feedback page of ``student``, or "" if there can be no page with that name."""
        path = self.world.course.root / "feedback" / student / CHAPTER / f"{CHAPTER}.html"
        return path.read_text("utf-8") if path.is_file() else ""


def run(world, *command, place=()):
    """Run ``autograder`` with ``command`` in the course, as an instructor would."""
    before, tmp = world.state(), _in_tmp()
    variables = {"AUTOGRADER_COURSE_SECRET": world.secret, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(ROOT)}
    started = time.monotonic()
    done = subprocess.run(
        [*place, sys.executable, "-m", "autograder", *command, "--json", "--workers", str(WORKERS)],
        cwd=world.course.root,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=2 * world.seconds,  # an endless run fails here instead of blocking the other tests
    )
    seconds = time.monotonic() - started
    said = done.stderr.decode("utf-8", "replace")
    assert done.stdout.startswith(b"["), said[-3000:]
    verdicts = json.loads(done.stdout.decode("utf-8", "surrogateescape"))
    return Run(world, done.returncode, verdicts, said, seconds, before, world.state(), left=_in_tmp() - tmp)


def _in_tmp():
    return {path.name for path in Path(tempfile.gettempdir()).iterdir()}


def graded(world, place=()):
    """Grade the class from scratch, and return the run together with the marks in the gradebook."""
    root = world.course.root
    for name in ("autograded", "feedback", ".autograder"):
        shutil.rmtree(root / name, ignore_errors=True)
    shutil.copy(root.parent / "gradebook.db", root)
    done = run(world, "grade", CHAPTER, place=place)
    url = f"sqlite:///{root / 'gradebook.db'}"
    with Gradebook(url, "mini") as book:
        assert book.find_student("former").last_name == world.secret
        book.remove_student("former")
        done.book = marks(url, CHAPTER)
        book.add_student("former", last_name=world.secret)
    return done


@contextmanager
def listening():
    """Yield a loopback port and the list of connections to it. Other tests may use the same port at a different address."""
    calls = []
    with socketserver.TCPServer(("127.0.0.9", 0), lambda *caller: calls.append(caller)) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield server.server_address[1], calls
        server.shutdown()

"""Hostile files in place of a notebook, hostile files next to a notebook, and hostile student names."""

from __future__ import annotations

import os
import socket
from contextlib import chdir

from tests.framework.security.hostile.registry import NAME, SCRIPT, hostile, hostile_notebook, save, terabyte, wrong
from tests.support.mini import CHAPTER

# Replacements for the notebook file.

INSTEAD = {
    "a_link_to_the_gradebook": lambda path, world: path.symlink_to(world.course.root / "gradebook.db"),
    "a_link_to_the_passwords": lambda path, _world: path.symlink_to("/etc/passwd"),
    "a_link_to_the_best_answer": lambda path, world: path.symlink_to(world.best),  # another student's notebook
    "a_link_to_itself": lambda path, _world: path.symlink_to(NAME),
    "an_endless_device": lambda path, _world: path.symlink_to("/dev/zero"),
    "a_pipe": lambda path, _world: os.mkfifo(path),  # into which nobody writes
    "a_folder": lambda path, _world: path.mkdir(),
    "nothing_at_all": lambda path, _world: path.touch(),
    "larger_than_any_notebook": lambda path, _world: terabyte(path),
}
for _name, _make in INSTEAD.items():
    hostile("ungradable", name=_name)(lambda folder, world, make=_make: make(folder / NAME, world))


@hostile("ungradable")
def a_folder_that_is_a_link(folder, world):
    """Make the submission's folder a link to another student's submission."""
    folder.rmdir()
    folder.symlink_to(world.best.parent)


@hostile("ungradable")
def a_student_who_is_a_link(folder, world):
    """Make the student's whole folder a link to another student's folder."""
    folder.rmdir()
    folder.parent.rmdir()
    folder.parent.symlink_to(world.best.parent.parent)


@hostile("ungradable")
def a_socket(folder, _world):
    """Put a local socket in place of the notebook."""
    with socket.socket(socket.AF_UNIX) as made, chdir(folder):  # a socket's address must be short
        made.bind(NAME)


@hostile("ungradable")
def another_name(folder, world):
    """Submit a notebook whose name contains markup and is not the chapter's name."""
    save(folder, wrong(world.course))
    (folder / NAME).rename(folder / f"{SCRIPT.replace('/', '')}\n\x1b[2J.ipynb")


@hostile("ungradable")
def other_names_by_the_thousand(folder, _world):
    """Submit thousands of notebooks with wrong names, one of which is not valid text."""
    (folder / os.fsdecode(b"\xe9.ipynb")).touch()
    for number in range(2000):
        (folder / f"{number}{'<' * 200}.ipynb").touch()


# Files next to a notebook, and names of students.

TIMES = {
    "a_time_that_is_none": lambda path, _world: path.write_bytes(b"yesterday\x00\x1b[2J" + SCRIPT.encode()),
    "a_time_before_time": lambda path, _world: path.write_bytes(b"0001-01-01 00:00:00 +2359"),
    "a_time_after_time": lambda path, _world: path.write_bytes(b"9999-12-31 23:59:59 -2359"),
    "a_time_of_many_digits": lambda path, _world: path.write_bytes(b"9" * 1000),
    "a_time_that_is_no_text": lambda path, _world: path.write_bytes(b"\xff\xfe\xed\xa0\x80"),
    "a_time_of_megabytes": lambda path, _world: path.write_bytes(b"2030-01-01 00:00:00 UTC" + b" " * (32 << 20)),
    "a_time_that_is_a_link": lambda path, world: path.symlink_to(world.course.root / ".course_secret"),
    "a_time_of_a_terabyte": lambda path, _world: terabyte(path),
    "a_time_that_is_a_pipe": lambda path, _world: os.mkfifo(path),
}


def _beside(make):
    """Return a function that submits wrong answers, with a timestamp and a submission secret that ``make`` creates."""

    def hand_in(folder, world):
        save(folder, wrong(world.course))
        for name in ("timestamp.txt", "submission_secret.txt"):
            make(folder / name, world)

    return hand_in


for _name, _make in TIMES.items():
    hostile("graded", name=_name)(_beside(_make))


@hostile("graded")
def programs_beside(folder, world):
    """Submit Python files that a grader might run: configurations of the course and of pytest, and modules with the names of imported packages."""
    save(folder, wrong(world.course))
    names = ("course_config", "nbgrader_config", "conftest", "numpy", "autograder", "sitecustomize", f"test_{CHAPTER}")
    for name in names:
        (folder / f"{name}.py").write_text(f"open({str(world.beside / name)!r}, 'w').write('it was run')\n")
    (folder / "examples.json").write_text('{"format": 1, "exercises": {}}')
    (folder / "pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '--collect-only'\n")


STUDENTS = {
    "a_student_of_markup": "<script>alert('hostile')<",
    "a_student_of_quotes": "'\"; DROP TABLE student; --",
    "a_student_of_options": "--unsafe-local",
    "a_student_of_spaces": " a\tb\n\x1b[2J\u202e ",
    "a_student_of_patterns": "[*?]{a,b}%(student_id)s{student_id}",
    "a_student_of_dots": "...",
    "a_student_of_a_formula": "=HYPERLINK('x')",
}
for _name, _student in STUDENTS.items():
    hostile_notebook(name=_name, student=_student)(lambda _notebook: None)
# A file name can be any bytes, but a name that is not text cannot be in a gradebook.
hostile_notebook("ungradable", name="a_student_of_no_text", student=os.fsdecode(b"caf\xe9"))(lambda _notebook: None)

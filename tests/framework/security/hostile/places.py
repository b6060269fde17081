"""What stands in the place of a notebook, what lies beside it, and what the student is called."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from tests.framework.security.hostile.registry import NAME, SCRIPT, hostile, save, wrong
from tests.support.mini import CHAPTER

# What stands in the place of the file.


@hostile("ungradable")
def a_link_to_the_gradebook(folder, course, _world):
    """A link to the gradebook."""
    (folder / NAME).symlink_to(course.root / "gradebook.db")


@hostile("ungradable")
def a_link_to_the_passwords(folder, _course, _world):
    """A link to a file of the system."""
    (folder / NAME).symlink_to("/etc/passwd")


@hostile("ungradable")
def a_link_to_the_best_answer(folder, _course, world):
    """A link to another student's notebook."""
    (folder / NAME).symlink_to(world.best)


@hostile("ungradable")
def a_folder_that_is_a_link(folder, _course, world):
    """The submission is a link to another student's."""
    folder.rmdir()
    folder.symlink_to(world.best.parent)


@hostile("ungradable")
def a_student_who_is_a_link(folder, _course, world):
    """The student's whole folder is a link to another student's."""
    folder.rmdir()
    folder.parent.rmdir()
    folder.parent.symlink_to(world.best.parent.parent)


@hostile("ungradable")
def a_link_to_itself(folder, _course, _world):
    """A link that leads nowhere but to itself."""
    (folder / NAME).symlink_to(NAME)


@hostile("ungradable")
def an_endless_device(folder, _course, _world):
    """A link to a device that never ends."""
    (folder / NAME).symlink_to("/dev/zero")


@hostile("ungradable")
def a_pipe(folder, _course, _world):
    """A named pipe, into which nobody writes."""
    os.mkfifo(folder / NAME)


@hostile("ungradable")
def a_socket(folder, _course, _world):
    """A local socket."""
    here = Path.cwd()
    with socket.socket(socket.AF_UNIX) as made:
        os.chdir(folder)  # its address may not be long
        try:
            made.bind(NAME)
        finally:
            os.chdir(here)


@hostile("ungradable")
def a_folder(folder, _course, _world):
    """A folder with the notebook's name."""
    (folder / NAME).mkdir()


@hostile("ungradable")
def another_name(folder, course, _world):
    """No notebook of the chapter's name, but another with a name that hurts."""
    save(folder, wrong(course))
    (folder / NAME).rename(folder / f"{SCRIPT.replace('/', '')}\n\x1b[2J.ipynb")


@hostile("ungradable")
def other_names_by_the_thousand(folder, _course, _world):
    """Thousands of other notebooks, one of them with a name that is no text."""
    (folder / os.fsdecode(b"\xe9.ipynb")).touch()
    for number in range(2000):
        (folder / f"{number}{'<' * 200}.ipynb").touch()


# What lies beside the file, and what the student is called.


def _beside(text):
    def make(folder, course, _world):
        save(folder, wrong(course))
        for name in ("timestamp.txt", "submission_secret.txt"):
            (folder / name).write_bytes(text)

    return make


TIMES = {
    "a_time_that_is_none": b"yesterday\x00\x1b[2J" + SCRIPT.encode(),
    "a_time_before_time": b"0001-01-01 00:00:00 +2359",
    "a_time_after_time": b"9999-12-31 23:59:59 -2359",
    "a_time_of_many_digits": b"9" * 1000,
    "a_time_that_is_no_text": b"\xff\xfe\xed\xa0\x80",
    "a_time_of_megabytes": b"2030-01-01 00:00:00 UTC" + b" " * (32 << 20),
}
for _name, _text in TIMES.items():
    hostile("graded", name=_name)(_beside(_text))


@hostile("graded")
def a_time_that_is_a_link(folder, course, _world):
    """Links to the course's secret where the time and nbgrader's secret are read and passed on."""
    save(folder, wrong(course))
    for name in ("timestamp.txt", "submission_secret.txt"):
        (folder / name).symlink_to(course.root / ".course_secret")


@hostile("graded")
def a_time_of_a_terabyte(folder, course, _world):
    """Files of a terabyte there, which take no room."""
    save(folder, wrong(course))
    for name in ("timestamp.txt", "submission_secret.txt"):
        with (folder / name).open("wb") as file:
            file.truncate(1 << 40)


@hostile("graded")
def a_time_that_is_a_pipe(folder, course, _world):
    """Named pipes there."""
    save(folder, wrong(course))
    for name in ("timestamp.txt", "submission_secret.txt"):
        os.mkfifo(folder / name)


@hostile("graded")
def programs_beside(folder, course, world):
    """Python that a grader might run: its own configuration, its tests', and modules that it imports."""
    save(folder, wrong(course))
    names = ("course_config", "nbgrader_config", "conftest", "numpy", "autograder", "sitecustomize", f"test_{CHAPTER}")
    for name in names:
        (folder / f"{name}.py").write_text(f"open({str(world.beside / name)!r}, 'w').write('it was run')\n")
    (folder / "examples.json").write_text('{"format": 1, "exercises": {}}')
    (folder / "pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '--collect-only'\n")


def _plainly(folder, course, _world):
    save(folder, wrong(course))


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
    hostile("graded", name=_name, student=_student)(_plainly)
# A name on disk is any bytes; one that is no text can stand in no gradebook.
hostile("ungradable", name="a_student_of_no_text", student=os.fsdecode(b"caf\xe9"))(_plainly)

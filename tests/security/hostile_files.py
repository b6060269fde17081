"""Files that students may hand in in place of an honest notebook, each made as its function says.

All of them hold answers that earn nothing, and most of them claim marks. A function is called with the folder of the
submission, which is there and empty, the course, and a world that knows a secret and where it is kept.
"""

from __future__ import annotations

import base64
import json
import os
import socket
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.mini import CHAPTER, cell, document

NOTHING_RIGHT = {
    "to_kelvin": "def to_kelvin(celsius):\n    return celsius - 273.15",
    "mean_kelvin": "def mean_kelvin(celsius):\n    return np.mean(celsius, axis=0)",
    "quiz_ch1_units": 'q1 = "a"\nq2 = 1.0',
}
NAME = f"{CHAPTER}.ipynb"
SCRIPT = "<script>alert('hostile')</script><img src=x onerror=alert('hostile')>"
MARKED_UP = {"text/html": SCRIPT, "image/svg+xml": f"<svg>{SCRIPT}</svg>", "application/javascript": "alert('hostile')"}


@dataclass(frozen=True)
class HostileFile:
    """How a file is made, what the verdict on it must be, and the name of the student's folder where that matters."""

    make: Callable[[Path, Any, Any], None]
    status: str
    student: str = ""


FILES: dict[str, HostileFile] = {}


def hostile(status, *, student="", name=""):
    """Note a function as the maker of a file whose verdict must be ``status``."""

    def note(make):
        FILES[name or make.__name__] = HostileFile(make, status, student)
        return make

    return note


def wrong(course):
    """The chapter's notebook with answers that earn nothing."""
    return document(course, **NOTHING_RIGHT)


def save(folder, notebook):
    """Save ``notebook`` as Python's JSON has it: NaN, half characters and all."""
    (folder / NAME).write_text(json.dumps(notebook), "utf-8")


def png():
    """A picture of one pixel, in base64."""

    def chunk(kind, data):
        return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")

    header = (1).to_bytes(4, "big") * 2 + bytes([8, 0, 0, 0, 0])
    parts = [chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(b"\0\0")), chunk(b"IEND", b"")]
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(parts)).decode()


def check_cells(notebook):
    """The graded cells of a notebook."""
    return [c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("grade")]


# What a notebook says of itself: points, names, outcomes.


@hostile("graded")
def forged_points(folder, course, _world):
    """Check cells that are worth a thousand points."""
    notebook = wrong(course)
    for graded in check_cells(notebook):
        graded["metadata"]["nbgrader"]["points"] = 1000
    save(folder, notebook)


@hostile("graded")
def renamed_exercises(folder, course, _world):
    """Every exercise under another's name, and each check under that of the quiz."""
    notebook = wrong(course)
    names = {"to_kelvin": "mean_kelvin", "mean_kelvin": "quiz_ch1_units", "quiz_ch1_units": "to_kelvin"}
    for one in notebook["cells"]:
        meta = one["metadata"].get("nbgrader", {})
        if meta.get("grade"):
            meta["grade_id"] = "check_quiz_ch1_units"
        elif meta:
            meta["grade_id"] = names[meta["grade_id"]]
    save(folder, notebook)


@hostile("graded")
def invented_exercises(folder, course, _world):
    """Exercises and checks that the course never had, solved and worth much."""
    notebook = wrong(course)
    for number in range(20):
        for role, name in (("solution", f"bonus{number}"), ("grade", f"check_bonus{number}")):
            meta = {"grade_id": name, "grade": False, "solution": False, "points": 50, role: True}
            notebook["cells"].append(
                {"cell_type": "code", "metadata": {"nbgrader": meta}, "source": "1", "outputs": []}
            )
    save(folder, notebook)


@hostile("graded")
def copied_check_cells(folder, course, _world):
    """Each check cell five times, with other points and other code every time."""
    notebook = wrong(course)
    for graded in check_cells(notebook):
        for times in range(1, 6):
            copy = json.loads(json.dumps(graded)) | {"source": "def check(*a): return 10.0\ncheck()", "id": "same"}
            copy["metadata"]["nbgrader"]["points"] = 10 * times
            notebook["cells"].append(copy)
    save(folder, notebook)


@hostile("graded")
def graded_already(folder, course, _world):
    """The outcome that a grader would have left: full marks in every check cell, and in the metadata."""
    notebook = wrong(course)
    for graded in check_cells(notebook):
        points = graded["metadata"]["nbgrader"]["points"]
        data = {"text/plain": str(float(points)), "text/html": f"<strong>{points} of {points} points</strong>"}
        graded["outputs"] = [{"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": 1}]
        graded["metadata"]["nbgrader"] |= {"score": points, "auto_score": points, "manual_score": points}
    notebook["metadata"]["autograder"] = {"status": "graded", "score": 6, "copied": [SCRIPT], "chapter": CHAPTER}
    save(folder, notebook)


@hostile("graded")
def to_be_marked_by_hand(folder, course, _world):
    """Stubs that say that a person has to mark them, and has done so."""
    notebook = wrong(course)
    for one in notebook["cells"]:
        if "nbgrader" in one["metadata"]:
            one["metadata"]["nbgrader"] |= {"grade": True, "solution": True, "points": 6, "manual_score": 6}
    save(folder, notebook)


@hostile("graded")
def unlocked_checks(folder, course, _world):
    """Check cells as ordinary cells with code that gives full marks, and a stub that is locked."""
    notebook = wrong(course)
    for graded in check_cells(notebook):
        graded["metadata"]["nbgrader"] |= {"grade": False, "solution": True, "locked": False}
        graded["source"] = "6.0"
    cell(notebook, "to_kelvin")["metadata"]["nbgrader"] |= {"locked": True, "solution": False}
    save(folder, notebook)


@hostile("graded")
def answers_called_pictures(folder, course, _world):
    """Every cell called a picture, with a foreign image, so that it is kept instead of run."""
    notebook = wrong(course)
    for one in notebook["cells"]:
        one["metadata"]["tags"] = ["picture"]
        if one["cell_type"] == "code":
            data = {"image/png": png(), "text/plain": "6.0"}
            one["outputs"] = [{"output_type": "display_data", "data": data, "metadata": {}}]
    save(folder, notebook)


# What a notebook brings along for whoever opens it.


@hostile("graded")
def stored_scripts(folder, course, _world):
    """Markup and scripts in the stored outputs of every cell, the course's own picture among them."""
    notebook = wrong(course)
    for one in notebook["cells"]:
        if one["cell_type"] == "code":
            one["outputs"] = [
                {"output_type": "display_data", "data": {**MARKED_UP, "image/png": png()}, "metadata": {"x": SCRIPT}},
                {"output_type": "error", "ename": SCRIPT, "evalue": SCRIPT, "traceback": [SCRIPT]},
                {"output_type": "stream", "name": SCRIPT, "text": [SCRIPT]},
            ]
    save(folder, notebook)


@hostile("graded")
def attachments(folder, course, _world):
    """Attachments, prose with scripts, and addresses that run."""
    notebook = wrong(course)
    for one in notebook["cells"]:
        if one["cell_type"] == "markdown":
            one["attachments"] = {"x.svg": MARKED_UP, "../../gradebook.db": {"image/png": png()}, "n": None}
            one["source"] = (
                f"{SCRIPT}\n\n[x](javascript:alert('hostile')) ![y](attachment:x.svg) $$\\href{{{SCRIPT}}}$$"
            )
    notebook["cells"].append({"cell_type": "raw", "metadata": {"format": "text/html"}, "source": SCRIPT})
    save(folder, notebook)


@hostile("graded")
def markup_everywhere(folder, course, _world):
    """Scripts in ids, tags, titles, languages and kernels."""
    notebook = wrong(course)
    for one in notebook["cells"]:
        one |= {"id": SCRIPT, "execution_count": SCRIPT}
        one["metadata"] |= {"tags": [SCRIPT], "title": SCRIPT, "collapsed": SCRIPT, "name": SCRIPT}
    notebook["metadata"] |= {"title": SCRIPT, "kernelspec": {"name": SCRIPT, "language": SCRIPT}, "authors": [SCRIPT]}
    save(folder, notebook)


@hostile("graded")
def huge_metadata(folder, course, _world):
    """Twenty megabytes of metadata."""
    notebook = wrong(course)
    notebook["metadata"]["note"] = "x" * (10 << 20)
    notebook["cells"][0]["metadata"]["list"] = [0] * (1 << 20)
    save(folder, notebook)


# JSON that is no notebook, or hardly one.


@hostile("graded")
def two_hundred_megabytes(folder, course, _world):
    """A stored output of two hundred megabytes."""
    notebook = wrong(course)
    notebook["cells"][1]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "@"}]
    before, after = json.dumps(notebook).encode().split(b'"@"')
    with (folder / NAME).open("wb") as file:
        file.write(before + b'"')
        for _ in range(200):
            file.write(b"x" * (1 << 20))
        file.write(b'"' + after)


@hostile("ungradable")
def larger_than_any_notebook(folder, _course, _world):
    """A file of a terabyte that takes no room."""
    with (folder / NAME).open("wb") as file:
        file.truncate(1 << 40)


@hostile("ungradable")
def lists_by_the_million(folder, _course, _world):
    """A small file that would fill gigabytes once it is read."""
    inside = b"[]," * (50 << 20)
    (folder / NAME).write_bytes(b'{"nbformat": 4, "cells": [], "metadata": {"x": [' + inside + b"0]}}")


@hostile("ungradable")
def nested_for_ever(folder, course, _world):
    """Lists in lists, a hundred thousand deep, inside a notebook."""
    notebook = wrong(course)
    notebook["metadata"]["deep"] = "@"
    deep = "[" * 100_000 + "]" * 100_000
    (folder / NAME).write_text(json.dumps(notebook).replace('"@"', deep))


@hostile("graded")
def nested_deep(folder, course, _world):
    """Lists in lists, as deep as can just be read, wherever a notebook may hold anything."""
    notebook = wrong(course)
    deep: Any = []
    for _ in range(400):
        deep = [deep]
    notebook["metadata"]["deep"] = deep
    for one in notebook["cells"]:
        one["metadata"] |= {"deep": deep, "tags": deep}
        one["outputs"] = deep
        one["attachments"] = {"x": deep}
    save(folder, notebook)


@hostile("graded")
def no_numbers(folder, course, _world):
    """NaN, infinities and numbers beyond every bound where numbers are expected."""
    notebook = wrong(course)
    numbers = [float("nan"), float("inf"), -float("inf"), 10**400, -1, True]
    for graded, number in zip(check_cells(notebook) * 2, numbers, strict=True):
        graded["metadata"]["nbgrader"] |= {"points": number, "schema_version": number}
        graded["execution_count"] = number
    notebook |= {"nbformat": 4, "nbformat_minor": float("nan")}
    save(folder, notebook)


@hostile("ungradable")
def an_endless_number(folder, course, _world):
    """A number of a million digits."""
    notebook = wrong(course)
    notebook["metadata"]["n"] = "@"
    (folder / NAME).write_text(json.dumps(notebook).replace('"@"', "9" * 10**6))


@hostile("graded")
def half_characters(folder, course, _world):
    """Lone surrogates, zeros and turned writing in sources, outputs, names and keys."""
    notebook = wrong(course)
    text = "'\ud800\udfff\x00\u202e\x1b[2J\x07'"
    for one in notebook["cells"]:
        one["metadata"][text] = text
        one["id"] = text
        if one["cell_type"] == "markdown":
            one["source"] = text
        else:
            one["outputs"] = [{"output_type": "stream", "name": "stdout", "text": text}]
    notebook["cells"].append({"cell_type": "code", "metadata": {}, "outputs": [], "source": f"print({text!a}, {text})"})
    notebook["cells"].append({"cell_type": text, "metadata": {"nbgrader": {"grade_id": text, "solution": True}}})
    save(folder, notebook)


@hostile("graded")
def wrong_types(folder, course, _world):
    """Cells of every type but the right one, in between."""
    notebook = wrong(course)
    odd = [None, 1, "cell", [], {}, {"cell_type": "code"}, {"cell_type": "code", "source": {"a": 1}, "metadata": []}]
    odd += [
        {"cell_type": "code", "source": [1, None, ["x"]], "metadata": {"nbgrader": [1]}, "outputs": {"a": 1}, "id": []}
    ]
    odd += [
        {"cell_type": ["code"], "source": 5, "metadata": {"nbgrader": {"grade_id": [], "solution": True}, "tags": {}}}
    ]
    notebook["cells"] = [*odd, *notebook["cells"], *odd]
    save(folder, notebook)


@hostile("graded")
def cells_by_the_thousand(folder, course, _world):
    """Twenty thousand code cells, each of which does something."""
    notebook = wrong(course)
    notebook["cells"] += [
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": f"n{n} = {n}; print(n{n})"}
        for n in range(20_000)
    ]
    save(folder, notebook)


@hostile("ungradable")
def cut_off(folder, course, _world):
    """Half a notebook."""
    data = json.dumps(wrong(course))
    (folder / NAME).write_text(data[: len(data) // 2])


@hostile("ungradable")
def not_text(folder, _course, _world):
    """Bytes that are no text, as a compressed file has them."""
    (folder / NAME).write_bytes(zlib.compress(bytes(range(256)) * 100))


@hostile("ungradable")
def nothing_at_all(folder, _course, _world):
    """An empty file."""
    (folder / NAME).touch()


# Sources that are hard to read as Python.

SOURCES = {
    "elif_without_end": "if 0:\n    pass\n" + "elif 0:\n    pass\n" * 1200 + "else:\n    to_kelvin = 1",
    "signs_without_end": "to_kelvin = " + "-" * 5000 + "1",
    "brackets_without_end": "to_kelvin = " + "(" * 190 + "1" + ")" * 190,
    "sums_without_end": "to_kelvin = " + "1+" * 20_000 + "1",
    "attributes_without_end": "to_kelvin = x" + ".a" * 20_000,
    "targets_without_end": "to_kelvin = " * 20_000 + "1",
    "blocks_without_end": "".join(" " * n + "if 1:\n" for n in range(95)) + " " * 95 + "to_kelvin = 1",
    "lambdas_without_end": "to_kelvin = " + "lambda: " * 3000 + "1",
    "a_line_without_end": "to_kelvin = '" + "x" * (20 << 20) + "'",
    "zeros_in_the_source": "to_kelvin = 1\x00\x00",
    "an_encoding_that_is_none": "# -*- coding: rot13 -*-\nto_kelvin = 1",
}


def _hard_source(source):
    def make(folder, course, _world):
        notebook = wrong(course)
        cell(notebook, "to_kelvin")["source"] = source
        save(folder, notebook)

    return make


for _name, _source in SOURCES.items():
    hostile("graded", name=_name)(_hard_source(_source))


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
def a_time_that_is_a_pipe(folder, course, _world):
    """Named pipes there."""
    save(folder, wrong(course))
    for name in ("timestamp.txt", "submission_secret.txt"):
        os.mkfifo(folder / name)


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

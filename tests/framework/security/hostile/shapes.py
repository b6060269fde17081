"""Files that are too large, malformed, or hard to parse as JSON, as a notebook or as Python."""

from __future__ import annotations

import json
import zlib
from typing import Any

from tests.framework.security.hostile.registry import NAME, PNG, check_cells, hostile, hostile_notebook, wrong
from tests.support.mini import cell

# JSON that is not a valid notebook, or has extreme contents.


@hostile("graded")
def two_hundred_megabytes(folder, world):
    """Store an output of two hundred megabytes."""
    notebook = wrong(world.course)
    notebook["cells"][1]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "@"}]
    before, after = json.dumps(notebook).encode().split(b'"@"')
    with (folder / NAME).open("wb") as file:
        file.write(before + b'"')
        for _ in range(200):
            file.write(b"x" * (1 << 20))
        file.write(b'"' + after)


@hostile("ungradable")
def lists_by_the_million(folder, _world):
    """Submit a file that needs twenty times its size in memory when it is parsed."""
    inside = b"[]," * (10 << 20)
    (folder / NAME).write_bytes(b'{"nbformat": 4, "cells": [], "metadata": {"x": [' + inside + b"0]}}")


VALUES = {"nested_for_ever": "[" * 100_000 + "]" * 100_000, "an_endless_number": "9" * 10**6}


def _value_inside(value):
    """Return a function that submits a notebook with ``value`` in its metadata."""

    def make(folder, world):
        notebook = wrong(world.course)
        notebook["metadata"]["deep"] = "@"
        (folder / NAME).write_text(json.dumps(notebook).replace('"@"', value))

    return make


for _name, _value in VALUES.items():
    hostile("ungradable", name=_name)(_value_inside(_value))


@hostile_notebook()
def nested_deep(notebook):
    """Put lists that are nested up to the depth limit into every part of a notebook."""
    deep: Any = []
    for _ in range(400):
        deep = [deep]
    notebook["metadata"]["deep"] = deep
    for one in notebook["cells"]:
        one["metadata"] |= {"deep": deep, "tags": deep}
        one["outputs"] = deep
        one["attachments"] = {"x": deep}


@hostile_notebook()
def no_numbers(notebook):
    """Put NaN, infinities and huge numbers in place of ordinary numbers."""
    numbers = [float("nan"), float("inf"), -float("inf"), 10**400, -1, True]
    for graded, number in zip(check_cells(notebook) * 2, numbers, strict=True):
        graded["metadata"]["nbgrader"] |= {"points": number, "schema_version": number}
        graded["execution_count"] = number
    notebook |= {"nbformat": 4, "nbformat_minor": float("nan")}


@hostile_notebook()
def half_characters(notebook):
    """Put lone surrogates, null characters and direction overrides into sources, outputs, names and keys."""
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


@hostile_notebook()
def half_characters_in_a_picture(notebook):
    """Put lone surrogates into parts that grading keeps: the stored outputs of a picture cell, and the list of copied cells."""
    shown = {"output_type": "display_data", "metadata": {}, "data": {"image/png": PNG, "text/plain": "\ud800"}}
    picture = next(one for one in notebook["cells"] if one["id"] == "picture")
    picture["outputs"] = [shown, {"output_type": "stream", "name": "stdout", "text": "\udfff"}]
    notebook["metadata"]["autograder"] = {"copied": ["\ud800", "to_kelvin"]}


@hostile_notebook()
def wrong_types(notebook):
    """Insert cells and values that have wrong types."""
    odd = [None, 1, "cell", [], {}, {"cell_type": "code"}, {"cell_type": "code", "source": {"a": 1}, "metadata": []}]
    nbgrader = {"grade_id": [], "solution": True}
    odd += [
        {"cell_type": "code", "source": [1, None, ["x"]], "metadata": {"nbgrader": [1]}, "outputs": {"a": 1}, "id": []}
    ]
    odd += [{"cell_type": ["code"], "source": 5, "metadata": {"nbgrader": nbgrader, "tags": {}}}]
    notebook["cells"] = [*odd, *notebook["cells"], *odd]


@hostile_notebook()
def cells_by_the_thousand(notebook):
    """Add twenty thousand code cells."""
    notebook["cells"] += [
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": f"n{n} = {n}; print(n{n})"}
        for n in range(20_000)
    ]


@hostile_notebook("ungradable")
def more_cells_than_are_read(notebook):
    """Add three hundred thousand empty cells."""
    notebook["cells"] += [{"cell_type": "code"}] * 300_000


@hostile_notebook("ungradable")
def more_code_than_is_read(notebook):
    """Add nearly twenty megabytes of Python that mentions every exercise."""
    source = "to_kelvin = mean_kelvin = q1 = q2 = 0\n" + "x = y + z\n" * 95_000
    notebook["cells"] += [{"cell_type": "code", "metadata": {}, "outputs": [], "source": source}] * 20


@hostile("ungradable")
def cut_off(folder, world):
    """Submit a truncated notebook."""
    data = json.dumps(wrong(world.course))
    (folder / NAME).write_text(data[: len(data) // 2])


@hostile("ungradable")
def not_text(folder, _world):
    """Submit bytes that are not text, as in a compressed file."""
    (folder / NAME).write_bytes(zlib.compress(bytes(range(256)) * 100))


# Python sources that are hard to parse.

SOURCES = {
    "elif_without_end": "if 0:\n    pass\n" + "elif 0:\n    pass\n" * 1200 + "else:\n    to_kelvin = 1",
    "signs_without_end": "to_kelvin = " + "-" * 5000 + "1",
    "brackets_without_end": "to_kelvin = " + "(" * 190 + "1" + ")" * 190,
    "sums_without_end": "to_kelvin = " + "1+" * 20_000 + "1",
    "attributes_without_end": "to_kelvin = x" + ".a" * 20_000,
    "targets_without_end": "to_kelvin = " * 20_000 + "1",
    "blocks_without_end": "".join(" " * n + "if 1:\n" for n in range(95)) + " " * 95 + "to_kelvin = 1",
    "lambdas_without_end": "to_kelvin = " + "lambda: " * 3000 + "1",
    "a_line_without_end": "to_kelvin = '" + "x" * 900_000 + "'",
    "empty_lines_without_end": "\n" * 20_000 + "to_kelvin = 1",
    "names_without_end": f"to_kelvin, {', '.join(f'a{n}' for n in range(8000))} = range(8001)",
    "zeros_in_the_source": "to_kelvin = 1\x00\x00",
    "an_encoding_that_is_none": "# -*- coding: rot13 -*-\nto_kelvin = 1",
    "statements_without_end": "x=1;" * 240_000 + "\nto_kelvin = mean_kelvin = q1 = q2 = 1",
    "a_try_without_end": "try:\n" + " x\n" * 100_000 + "except NameError: to_kelvin = 1",
    "methods_without_end": "class to_kelvin:\n" + " def f(self): pass\n" * 20_000,
}


def _hard_source(source):
    return lambda notebook: cell(notebook, "to_kelvin").update(source=source)


for _name, _source in SOURCES.items():
    hostile_notebook(name=_name)(_hard_source(_source))


@hostile_notebook("ungradable")
def accents_without_end(notebook):
    """Add a comment with a letter that has 170,000 accents."""
    cell(notebook, "to_kelvin").update(source="# e" + "\u0301\u0323" * 85_000 + "\nto_kelvin = 1")

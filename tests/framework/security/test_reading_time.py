"""Tests that reading a student's code on the trusted side takes time proportional to its size."""

import time
import warnings

import pytest

from autograder.base.attempt import (
    defined_names,
    identifiers_in,
    imported,
    is_attempted,
    last_definition_is_blank,
    parsed,
    reading_once,
)
from autograder.base.sanitize import sanitize
from autograder.base.verdict import CheckResult, ExerciseVerdict
from autograder.course.notebook import document_bytes, parse_notebook
from autograder.judging.explanations import explain
from autograder.mistakes.fault_localization.program import program_of
from autograder.nbgrader.execute import _beyond_python
from autograder.pages import Card, card_html, card_text

STUB = "def softmax(x):\n    pass"
SIZE = 40_000
SECONDS = 5  # of processor time. Reading a text takes a tenth of a second, but could once take minutes
TEXTS = {
    "empty lines": "\n" * SIZE + "softmax = 1",
    "empty lines that do not parse": "\n" * SIZE + "softmax = = 1",
    "white space": " " * SIZE + "\nsoftmax = (",
    "white space and a magic": " \n" * (SIZE // 2) + " %matplotlib inline\nsoftmax = 1",
    "half a line": "softmax " + " " * SIZE + "?",
    "opened brackets": "softmax(" * (SIZE // 8),
    "nested brackets": "softmax = " + "(" * SIZE,
    "quotes": "softmax" + "'" * SIZE,
    "back quotes": "softmax" + "`" * SIZE,
    "digits": "softmax = " + "9" * SIZE,
    "answers": "q1 = " * (SIZE // 5) + "=",
    "words": "q1 " * (SIZE // 3),
    "names": f"{', '.join(f'a{n}' for n in range(8000))} = softmax",
    "attributes": "softmax" + ".a" * (SIZE // 2),
    "percents": "%" * SIZE + "softmax",
    "escapes": "'\x1b[" + "0" * SIZE + "softmax",
    "opened links": "[a](" * (SIZE // 4) + "softmax",
}


def _shown(text):
    check = CheckResult("a", "t", "failed", text, reason=text, example=text)
    card = Card(ExerciseVerdict("softmax", 0.0, 1.0, "failed", message=f"{text}.", checks=(check,)), graded=True)
    return card_text(card), card_html(card)


READERS = {
    "parsed": parsed,
    "names made": defined_names,
    "words": identifiers_in,
    "attempted": lambda text: is_attempted("softmax", STUB, [text], [text]),
    "answered": lambda text: is_attempted("quiz", "q1 = None", [text], [text]),
    "beyond Python": _beyond_python,
    "sanitized": sanitize,
    "shown": _shown,
    "explained": lambda text: explain("NameError", text[-2000:], line=text[:300], function="softmax", known=[text]),
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_a_text_is_read_in_time(reader):
    """Reading any text of forty thousand characters takes a few seconds at most."""
    for name, text in TEXTS.items():
        started = time.process_time()
        reader(text)
        assert time.process_time() - started < SECONDS, name


LONG = {
    "statements in a try": (130_000, "try:\n{}except OSError:\n    pass\n", " x\n", lambda text: list(imported(text))),
    "functions": (
        300_000, "{}", "def softmax(x): return softmax(x)\n", lambda text: program_of("softmax", [("cell", text)])
    ),
    "methods": (600_000, "class softmax:\n{}", " def f(self): pass\n", lambda text: last_definition_is_blank("softmax", [text])),
}  # fmt: skip


@pytest.mark.parametrize(("size", "frame", "part", "reader"), LONG.values(), ids=LONG)
def test_a_long_text_is_read_in_time(size, frame, part, reader):
    """Code that repeats one line for hundreds of thousands of characters is read in a few seconds of processor time."""
    text = frame.format(part * (size // len(part)))
    started = time.process_time()
    with reading_once():
        reader(text)
    assert time.process_time() - started < SECONDS


def test_a_notebook_of_copied_pictures_is_read_in_time():
    """A notebook's cells are read once, not again for each picture."""
    cells = [
        {"cell_type": "code", "metadata": {"tags": ["picture"]}, "outputs": [], "source": f"plt.plot(x) # {n}"}
        for n in range(2000)
    ]
    notebook = parse_notebook(document_bytes({"nbformat": 4, "cells": cells, "metadata": {}}))
    started = time.process_time()
    assert len(notebook.pictures()) == 2000
    assert time.process_time() - started < SECONDS


def test_a_students_escapes_are_nobodys_warnings():
    """Parsing a student's code shows none of Python's warnings about it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert parsed("softmax = '\\d'\n") is not None

"""What a student wrote is read by the trusted side, which has no clock: in a time that grows with it, not with its square."""

import time
import tracemalloc
import warnings

import pytest

from autograder.attempt import is_attempted, names_made, parsed, words
from autograder.grading.leaning import Leaning
from autograder.judging.explanations import explain
from autograder.notebook import document_bytes, parse_notebook
from autograder.preprocessors.execute import _beyond_python
from autograder.render.outcome import clean, paragraphs
from autograder.sandbox.protocol import CodeCell

STUB = "def softmax(x):\n    pass"
SIZE = 40_000
SECONDS = 5  # of processor time; each takes a tenth of one, and took minutes
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


def _leaning(text):
    cells = [CodeCell(0, "softmax", "def softmax(x):\n    return a0"), CodeCell(1, "cell 2", text)]
    pictures = [CodeCell(n, f"cell {n}", "softmax(1)") for n in range(2, 300)]
    found = Leaning.of([*cells, *pictures], {"softmax(1)"}, ["softmax"])
    for picture in pictures:
        found.exercises_of(picture)


READERS = {
    "parsed": parsed,
    "names made": names_made,
    "words": words,
    "attempted": lambda text: is_attempted("softmax", STUB, [text], [text]),
    "answered": lambda text: is_attempted("quiz", "q1 = None", [text], [text]),
    "leaning": _leaning,
    "beyond Python": _beyond_python,
    "clean": clean,
    "paragraphs": paragraphs,
    "explained": lambda text: explain("NameError", text[-2000:], line=text[:300], function="softmax", known=[text]),
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_a_text_is_read_in_time(reader):
    """Forty thousand characters, whatever they are, take no time worth telling."""
    for name, text in TEXTS.items():
        started = time.process_time()
        reader(text)
        assert time.process_time() - started < SECONDS, name


def test_a_notebook_of_copied_pictures_is_read_in_time():
    """Each cell is read once, not once for each picture."""
    cells = [
        {"cell_type": "code", "metadata": {"tags": ["picture"]}, "outputs": [], "source": f"plt.plot(x) # {n}"}
        for n in range(2000)
    ]
    notebook = parse_notebook(document_bytes({"nbformat": 4, "cells": cells, "metadata": {}}))
    started = time.process_time()
    assert len(notebook.pictures()) == 2000
    assert time.process_time() - started < SECONDS


def test_names_given_together_share_what_they_mention():
    """A set of eight thousand names for each of them would be gigabytes."""
    tracemalloc.start()
    try:
        _leaning(TEXTS["names"])
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


def test_a_students_escapes_are_nobodys_warnings():
    """A text that a student wrote is read, and no warning of it reaches the terminal."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("error")
        assert parsed("softmax = '\\d'\n") is not None
    assert not heard

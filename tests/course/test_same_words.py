"""One corpus of answers, right, wrong and odd: a browser, this Python and the jail find the same, in the same words."""

import dataclasses
import json
import os
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from autograder.course import load_course
from autograder.examples import load_examples, replay
from autograder.judging.functions import FunctionSubject
from autograder.judging.loader import load_checks
from autograder.judging.solutions import known_misconceptions
from autograder.notebook import parse_notebook
from autograder.release import record_examples
from autograder.simulate import blank_notebook, code_of, reference_code
from autograder.site.wheels import student_wheel
from tests.support import ROOT
from tests.support.browser import run_in_pyodide

pytestmark = pytest.mark.slow

COURSE = load_course(ROOT)
SCRIPT = Path(run_in_pyodide.__code__.co_filename).with_name("evening.py")
# What else a function may do than give an answer, around the right one; each exercise has one of them.
ODD = {
    "raises": "def {name}(*given, **named):\n    raise ValueError('not today: ' + str(len(given)))\n",
    "prints": "right_{name} = {name}\ndef {name}(*given, **named):\n    print('so far:', *range(40), sep='\\n')\n"
    "    return right_{name}(*given, **named)\n",
    "returns nothing": "def {name}(*given, **named):\n    pass\n",
    "returns text": "def {name}(*given, **named):\n    return 'forty-two'\n",
    "returns a set": "def {name}(*given, **named):\n    return {{1, 2, 3}}\n",
    "returns a slice too much": "right_{name} = {name}\ndef {name}(*given, **named):\n"
    "    return np.asarray(right_{name}(*given, **named))[None]\n",
    "recurses": "def {name}(*given, **named):\n    return {name}(*given, **named)\n",
    "indexes": "def {name}(*given, **named):\n    return given[0][99]\n",
}


def in_the_jail(corpus, folder):
    """What the jail finds of each answer, by the words of the corpus."""
    found = {}
    with closing(open_worker(Limits(call_seconds=SECONDS), ["numpy", "matplotlib"])) as worker:
        for chapter, asked in corpus.items():
            for exercise, label, code in asked["answers"]:
                notebook = new_notebook(cells=[new_code_cell(source) for source in [*asked["cells"], code]])
                nbformat.write(notebook, folder / chapter / "loose.ipynb")
                verdict = by_examples._check(folder / chapter / "loose.ipynb", {exercise}, worker.open)
                [found[f"{chapter} {exercise} {label}"]] = verdict.exercises
    return found

def corpus():
    """For each chapter the cells that come first, and the answers: exercise, label and the code of its cell."""
    found = {}
    for chapter in COURSE.finished_chapters():
        checks = load_checks(COURSE, chapter)
        right = {n: code_of(COURSE, chapter, n, f) for n, f in reference_code(COURSE, chapter).items()}
        parsed = parse_notebook(json.dumps(blank_notebook(COURSE, chapter)).encode())
        # No pictures: drawing them takes seconds in a browser, and says nothing of the answers.
        aside = ("plt.", "@uses", "check(", "raise NotImplementedError")
        plain = [cell.source for cell in parsed.code_cells() if not any(text in cell.source for text in aside)]
        wrong = {one.exercise: one for one in reversed(list(known_misconceptions(COURSE, chapter)))}
        answers = []
        for place, (name, code) in enumerate(right.items()):
            answers.append((name, "right", code))
            if name in wrong:
                answers.append((name, wrong[name].name, code_of(COURSE, chapter, name, wrong[name].function)))
            if not checks.specs[name].answers:
                kind = list(ODD)[(place + len(found)) % len(ODD)]
                answers.append((name, kind, ODD[kind].format(name=name)))
        found[chapter] = {"cells": [*plain, *right.values()], "answers": answers}
    return found

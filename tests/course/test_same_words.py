"""Tests that a browser, this Python and the sandbox give the same verdicts in the same words for right, wrong and unusual answers."""

import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import closing

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.authoring.release import record_examples
from autograder.authoring.simulate import cell_source, reference_code, solved_notebook
from autograder.course.course import load_course
from autograder.course.notebook import parse_notebook
from autograder.extras.site.pyodide import student_wheel
from autograder.judging.loader import known_misconceptions, load_checks
from autograder.sandbox.protocol import Limits
from autograder.sandbox.worker import open_worker
from autograder.student.terminal import checking
from tests.support import ROOT
from tests.support.browser import run_in_pyodide

pytestmark = pytest.mark.slow

COURSE = load_course(ROOT)
SCRIPT = ROOT / "tests" / "support" / "browser" / "evening.py"
OF_THEIR_OWN = re.compile(r" \(in cell \d+\)| after [\d.]+ seconds| It was in line \d+, `[^`]*`\.")
# Unusual behavior of a function. Each exercise is tried with one of these functions.
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
    "never ends": "def {name}(*given, **named):\n    while True:\n        pass\n",
    "indexes": "def {name}(*given, **named):\n    return given[0][99]\n",
}


def corpus():
    """Return, for each chapter, its first cells and its answers, each as exercise, label and code."""
    found = {}
    for chapter in COURSE.finished_chapters():
        checks = load_checks(COURSE, chapter)
        solved = solved_notebook(COURSE, chapter, reference_code(COURSE, chapter))
        parsed = parse_notebook(json.dumps(solved).encode())
        right = {name: parsed.stub(name).source for name in reference_code(COURSE, chapter)}
        # A chapter's given code is before its first exercise. Its pictures come later and do not affect the answers.
        cells = parsed.code_cells()
        first = next(place for place, cell in enumerate(cells) if cell.name in right)
        plain = [cell.source for place, cell in enumerate(cells) if place < first or cell.name in right]
        plain = [source for source in plain if not source.startswith("@requires")]
        wrong = {one.exercise: one for one in reversed(list(known_misconceptions(COURSE, chapter)))}
        answers = []
        for place, (name, code) in enumerate(right.items()):
            answers.append((name, "right", code))
            if name in wrong:
                answers.append((name, wrong[name].name, cell_source(COURSE, chapter, name, wrong[name].function)))
            if not checks.specs[name].answers:
                kind = list(ODD)[(place + len(found)) % len(ODD)]
                answers.append((name, kind, ODD[kind].format(name=name)))
        found[chapter] = {"cells": plain, "answers": answers}
    return found


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """Return the corpus, and the folder that contains it with the chapters' examples."""
    folder = tmp_path_factory.mktemp("corpus")
    made = corpus()
    (folder / "corpus.json").write_text(json.dumps(made), encoding="utf-8")
    for chapter in made:
        beside = shutil.ignore_patterns("*.ipynb", ".*")
        shutil.copytree(COURSE.source(chapter).parent, folder / chapter, ignore=beside)
        shutil.copy(record_examples(COURSE, chapter), folder / chapter / "examples.json")
    return made, folder


@pytest.fixture(scope="module")
def here(asked):
    """Return the text and the verdict that ``check`` gives in this Python for each answer of the corpus."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, SCRIPT]
    done = subprocess.run(
        command, cwd=asked[1], env={**os.environ, "PYTHONPATH": path}, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads((asked[1] / f"said-{sys.platform}.json").read_text(encoding="utf-8"))


def test_a_browser_says_the_same(asked, here, tmp_path):
    """A card under Pyodide has the same words and digits as a card here, although different code multiplies the matrices."""
    run_in_pyodide(SCRIPT, asked[1], student_wheel(tmp_path), seconds=300)
    there = json.loads((asked[1] / "said-emscripten.json").read_text(encoding="utf-8"))
    assert {answer: said for answer, said in there.items() if said != here[answer]} == {}
    assert there.keys() == here.keys()
    assert {verdict["status"] for _, verdict in there.values()} == {"passed", "partial", "failed", "error", "timeout"}


def test_the_jail_says_the_same(asked, here):
    """The grader and the student's own check give the same message for the same checks.

    There are two exceptions. For endless code, each names its own time limit, and the sandbox names no line. Only the
    grader names the cell of an error.
    """
    made, folder = asked
    # test_truth grades the right answers in the sandbox.
    answers = [(chapter, *one) for chapter, of in made.items() for one in of["answers"] if one[1] != "right"]
    differ = {}
    for seconds in (0.5, 20):
        with closing(open_worker(Limits(call_seconds=seconds), ["numpy", "matplotlib"])) as worker:
            for chapter, exercise, label, code in (a for a in answers if (a[2] == "never ends") == (seconds == 0.5)):
                notebook = new_notebook(cells=[new_code_cell(source) for source in [*made[chapter]["cells"], code]])
                path = folder / chapter / "answer.ipynb"
                nbformat.write(notebook, path)
                [verdict] = checking._check(path, {exercise}, worker.open).exercises
                told, read = (
                    json.dumps(v) for v in (dataclasses.asdict(verdict), here[f"{chapter} {exercise} {label}"][1])
                )
                if OF_THEIR_OWN.sub("", told) != OF_THEIR_OWN.sub("", read):
                    differ[chapter, exercise, label] = told, read
    assert differ == {}

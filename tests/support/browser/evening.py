"""Run each answer's cell and ``check`` without a notebook, in any Python.

Reads ``corpus.json`` in the current folder, which also has the chapters' folders. Writes the text and the verdict for
each answer.
"""

import dataclasses
import io
import json
import linecache
import os
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout

from autograder.student.notebook_check import checking

SECONDS = 20  # seconds for one call, fewer for endless calls
judge, found = checking.replay, []


def noted(*arguments, **options):
    """Replaces the judge and records its verdicts."""
    found[:] = judge(*arguments, **options)
    return list(found)


checking.replay = noted


def run(source, names, label):
    """Run one cell. An error in it shows its own line, as in a notebook."""
    file = f"<{label}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), names)  # noqa: S102 - the corpus is ours


def words(exercise, label, code, names):
    """Return the text that the student reads after running the cell and ``check``."""
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            run(code, names, label)
            asked = exercise if callable(names.get(exercise)) else repr(exercise)
            run(f"check({asked}, seconds={0.5 if label == 'never ends' else SECONDS})", names, "check")
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what the student sees
            return f"{out.getvalue()}{type(error).__name__}: {error}"
    return out.getvalue()


def main():
    """Go through the corpus."""
    with open("corpus.json", encoding="utf-8") as file:  # noqa: PTH123 - as plain as can be
        corpus = json.load(file)
    top, said = os.getcwd(), {}  # noqa: PTH109
    if os.path.exists(".autograder_progress.json"):  # noqa: PTH110 - another evening's
        os.remove(".autograder_progress.json")  # noqa: PTH107
    for chapter, asked in corpus.items():
        os.chdir(os.path.join(top, chapter))  # noqa: PTH118
        names = {"__name__": "__main__"}
        with redirect_stdout(io.StringIO()):
            for number, cell in enumerate(asked["cells"]):
                run(cell, names, f"cell {number}")
        for exercise, label, code in asked["answers"]:
            before = dict(names)
            text = words(exercise, label, code, names)
            names.clear()
            names.update(before)
            said[f"{chapter} {exercise} {label}"] = text, dataclasses.asdict(found[0])
    os.chdir(top)
    with open(f"said-{sys.platform}.json", "w", encoding="utf-8") as file:  # noqa: PTH123
        json.dump(said, file)


main()

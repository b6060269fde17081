"""Test the grader's own limits on time, processor time and memory, and that students' values and texts use little of each."""

from __future__ import annotations

import ast
import json
import resource
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pandas as pd
import pytest

from autograder.base import attempt
from autograder.checking.findings import matches
from autograder.classroom.gradebook.entries import gradebook_url
from autograder.classroom.run import grade_class, handed_in
from autograder.course.course import CourseError, load_course
from autograder.course.notebook import NotebookError, document_bytes, parse_notebook
from autograder.grading.batch import grade_notebooks
from autograder.grading.grader import NotebookGrader
from autograder.grading.submission import Job
from autograder.grading.task import GradingOptions, Task
from autograder.sandbox import open_worker
from autograder.sandbox.guest.wire import Decoder, Encoder
from autograder.sandbox.guest.wire_limits import WireError
from tests.support import ROOT
from tests.support.books import marks, with_book
from tests.support.mini import CHAPTER, MAX_SCORE, RIGHT, change, copy_course, document, hand_in

LIMITS = """
c.Course.submission_seconds = 1.5
c.Course.grader_seconds = 1.0
c.Course.grader_processor_seconds = 2.0
c.Course.grader_memory_mb = 512
"""
# A careless check, which a student's text can keep busy: it searches without end, waits, or fills the memory.
CARELESS = """
        answer = student["q1"]
        if isinstance(answer, str) and answer.startswith("search"):
            import re
            re.fullmatch(r"search(a+)+c", answer)
        if isinstance(answer, str) and answer.startswith("wait"):
            import time
            time.sleep(float(answer[4:]))
        if isinstance(answer, str) and answer.startswith("fill"):
            held = [np.ones(1 << 20) for _ in range(int(answer[4:]))]
        assert_one_of("""
HOSTILE = {"b burns": "search" + "a" * 30, "d fills": "fill400", "f waits": "wait60"}
SETTINGS = {
    "b burns": "2 seconds of processor time for this notebook, so it was stopped (c.Course.grader_processor_seconds)",
    "d fills": "512 MiB of memory for this notebook, so it was stopped (c.Course.grader_memory_mb)",
    "f waits": "7 seconds, including the student's code, for this notebook, so it was stopped (c.Course.grader_seconds)",
}
HONEST = ["a first", "c second", "e third", "g fourth"]


def careless(folder, students):
    """Return the mini course with a check that hostile answers can keep busy, and a class of hostile and honest students."""
    limits = LIMITS if "f waits" in students else LIMITS.replace("grader_seconds = 1.0", "grader_seconds = 100.0")
    course = with_book(copy_course(folder / "mini", config=limits))
    change(
        course.checks(CHAPTER), '        assert_one_of(student["q1"]', f'{CARELESS.removeprefix(chr(10))}student["q1"]'
    )
    for number, student in enumerate(sorted([*HONEST, *students])):
        quiz = RIGHT["quiz_ch1_units"].replace('"b"', repr(HOSTILE.get(student, "b")))
        hand_in(course, student, document(course, **{**RIGHT, "quiz_ch1_units": f"# student {number}\n{quiz}"}))
    return load_course(course.root)


def assert_contained(verdicts, students):
    """Assert that each hostile notebook is ungradable, with its exceeded limit as the reason, and that the honest ones have full marks."""
    found = {verdict.student: verdict for verdict in verdicts}
    assert sorted(found) == sorted([*HONEST, *students])
    for student, verdict in found.items():
        if student in students:
            assert verdict.status == "ungradable"
            assert SETTINGS[student] in verdict.reason
            assert "Grade it manually, or raise the limit" in verdict.reason
        else:
            assert (verdict.status, verdict.score) == ("graded", MAX_SCORE), verdict.reason


@pytest.mark.slow
@pytest.mark.parametrize(("confinement", "workers"), [("bubblewrap", 2), ("landlock", 1)])
def test_a_notebook_that_exceeds_a_limit_is_ungradable(tmp_path, confinement, workers):
    """After a notebook exceeds a limit, honest notebooks are graded in new processes, and only they have marks in the gradebook."""
    students = list(HOSTILE) if workers > 1 else ["b burns", "d fills"]
    course = careless(tmp_path, students)
    jobs = handed_in(course, CHAPTER)
    assert_contained(grade_class(course, CHAPTER, jobs, confinement=confinement, workers=workers), students)
    for thread in threading.enumerate():
        if thread.name == "grader limits":
            thread.join(5)
            assert not thread.is_alive()  # one thread watches all processes, and it ends with the run
    book = marks(gradebook_url(course), CHAPTER)
    assert {student for student in book if book[student]["score"]} == set(HONEST)


@pytest.mark.slow
def test_the_commands_enforce_the_limits(tmp_path):
    """`grade`, `grade --preview` and `check` with one worker name the limit, and list the notebook for review."""
    course = careless(tmp_path, ["b burns"])

    def run(*command):
        words = [sys.executable, "-m", "autograder", *command, "--workers", "1"]
        return subprocess.run(words, cwd=course.root, capture_output=True, text=True, check=False)

    def said(text):
        return " ".join(text.split())

    limit = "2 seconds of processor time"
    preview = json.loads(run("grade", CHAPTER, "--preview", "--json").stdout)
    assert limit in preview["ungradable"]["b burns"]
    assert preview["first_marks"] == HONEST
    files = [str(job.path) for job in handed_in(course, CHAPTER)]
    checked = run("check", files[0], files[1], "--json")
    assert [verdict["status"] for verdict in json.loads(checked.stdout)] == ["graded", "ungradable"]
    graded = run("grade", CHAPTER)
    assert graded.returncode == 1
    assert limit in said(graded.stderr + graded.stdout)
    assert "b burns" in said(graded.stderr + graded.stdout).split("Needs your review:")[1]


@pytest.fixture(scope="module")
def opened():
    """The files that this process opens, as a list that a test may clear."""
    files = []
    sys.addaudithook(lambda event, details: files.append(str(details[0])) if event == "open" else None)
    return files


def test_no_notebook_is_read_outside_of_the_limits(tmp_path, opened):
    """Inside and outside a course folder, `check` reads notebooks only in the grading process, which has limits."""
    course = copy_course(tmp_path / "mini")
    paths = [hand_in(course, student, document(course, **RIGHT)) for student in ("a", "b")]
    paths.append(tmp_path / "other.ipynb")
    paths[2].write_bytes(document_bytes({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    opened.clear()
    verdicts = grade_notebooks(course, [Job(path) for path in paths], workers=1)
    assert not {str(path) for path in paths} & set(opened)
    assert [(v.status, v.chapter) for v in verdicts] == [("graded", CHAPTER), ("graded", CHAPTER), ("ungradable", None)]
    elsewhere = grade_notebooks(None, [Job(path) for path in paths], workers=2)
    assert not {str(path) for path in paths} & set(opened)
    assert ["There is no examples.json" in verdict.reason for verdict in elsewhere] == [True, True, False]
    with pytest.raises(
        CourseError, match=f"Chapter '{CHAPTER}' has no exercise nothing. Its exercises are: to_kelvin, "
    ):
        grade_notebooks(course, [Job(paths[0])], only={"nothing"}, workers=1)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("grader_seconds = 0", "is 0.0. It must be a number of seconds above 0"),
        ("grader_processor_seconds = -1", "is -1.0. It must be a number of seconds above 0"),
        ("grader_memory_mb = 64", "is 64. It must be a number of MiB from 512, which any grading needs, to 1048576"),
    ],
)
def test_a_limit_that_would_end_all_grading_is_rejected(tmp_path, setting, words):
    """If a limit would end all grading, the message names the setting and its bounds."""
    with pytest.raises(CourseError) as error:
        copy_course(tmp_path, config=f"c.Course.{setting}\n")
    assert f"c.Course.{setting.partition(' ')[0]} in" in str(error.value)
    assert words in str(error.value)


# --- causes ----------------------------------------------------------------------------------------------------------


MAKERS = frozenset(
    [
        "array",
        "asarray",
        "asanyarray",
        "ascontiguousarray",
        "asfortranarray",
        "atleast_1d",
        "atleast_2d",
        "atleast_3d",
        "fromiter",
        "stack",
        "vstack",
        "hstack",
        "dstack",
        "column_stack",
        "concatenate",
        "append",
        "insert",
        "shape",
        "size",
        "ndim",
        "ravel",
        "isin",
        "array_equal",
        "isclose",
        "allclose",
        "char",
    ]
)
PACKAGES = ("values", "checking", "judging", "mistakes", "pages", "grading", "classroom", "sandbox", "student")
# All functions that create arrays, and the values that they get. Only ``as_array`` gets a student's list.
OTHERS = {
    ("values/closeness.py", "as_array"): "the guarded function",
    ("values/closeness.py", "is_perturbable"): "the audit changes right answers",
    ("values/closeness.py", "perturb"): "the audit changes right answers",
    ("values/as_json.py", "_encode_array"): "two halves of an array",
    ("values/as_json.py", "_decode_array"): "an examples file",
    ("values/containers.py", "_plausible"): "the rows of an array, and the expected value",
    ("values/copies.py", "normalize_result"): "arrays, in our own process",
    ("values/numbers.py", "differences"): "the expected value",
    ("values/numbers.py", "pieces"): "a single number",
    ("values/tables.py", "_counts_rows"): "an index",
    ("values/table_cells.py", "cells_of"): "a column of numbers",
    ("values/table_cells.py", "_differing"): "booleans of our own",
    ("values/table_cells.py", "differing_cells"): "arrays of booleans",
    ("values/table_cells.py", "same_item"): "a single number",
    ("checking/predicates.py", "_einsum_gives"): "the course's own operands",
    ("checking/asserts.py", "assert_einsum"): "the expected value",
    ("checking/experiments.py", "_detects"): "probabilities of the course",
    ("checking/experiments.py", "bounds"): "probabilities of the course",
    ("checking/experiments.py", "assert_drawn"): "probabilities of the course",
    ("checking/experiments.py", "_binomial"): "numbers of our own",
    ("checking/properties.py", "probabilities"): "an input",
    ("checking/quizzes.py", "alternatives"): "a right answer",
    ("checking/plots.py", "_points"): "arrays",
}


def test_one_function_makes_arrays_of_lists():
    """Only ``as_array`` makes an array of a student's list, because NumPy stores each string at the length of the longest."""
    made = set()
    for package in PACKAGES:
        for path in sorted((ROOT / "autograder" / package).rglob("*.py")):
            name = path.relative_to(ROOT / "autograder").as_posix()
            if name.startswith(("sandbox/guest/", "checking/inputs/")):  # the student's process, and our own inputs
                continue
            tree = ast.parse(path.read_text("utf-8"))
            for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
                uses = (n for n in ast.walk(function) if isinstance(n, ast.Attribute) and n.attr in MAKERS)
                if any(isinstance(use.value, ast.Name) and use.value.id in ("np", "numpy") for use in uses):
                    made.add((name, function.name))
            assert not [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module == "numpy"], name
    assert made == set(OTHERS)


def crossed(value):
    """Return ``value`` as the trusted side receives it."""
    encode = Encoder(lambda odd: ["o", type(odd).__name__], 1 << 26)
    tree = encode(value)
    return Decoder(bytearray().join(encode.blobs), lambda _tag, items: items)(tree)


def peak():
    """Return the most memory that this process has used so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


@pytest.mark.parametrize("kind", ["U", "M8[D]", "f8"])
def test_a_long_text_among_short_ones_is_compared_in_little_memory(kind):
    """Comparing one string of a million characters and 2,500 empty ones with an array takes little memory."""
    found = crossed(["x" * 1_000_000] + [""] * 2500)
    expected = np.zeros(2501, kind)
    before = peak()
    for shape in [(2501,), (1, 2501), (41, 61)]:
        assert matches(found, expected.reshape(shape)) is not None
        assert matches([found], expected.reshape(shape)) is not None
    assert peak() - before < 200


@pytest.mark.parametrize(
    ("found", "expected", "words"),
    [
        ([["a", "b"], ["c", "d"]], [["a", "b"], ["c", "x"]], "At index [1, 1], there is 'd' instead of 'x'."),
        ([("a", "b"), np.array(["c", "d"])], [["a", "b"], ["c", "d"]], None),
        (["a", "b", "c"], ["a", "b"], "It has shape (3,), but it should have shape (2,)."),
        ([["a"], ["b", "c"]], [["a"], ["b"]], "instead of an array of strings of shape (2, 1)."),
        (["a", 1], ["a", "1"], "instead of an array of strings of shape (2,)."),
        (["a"], [], "It has shape (1,), but it should have shape (0,)."),
        ([], [], None),
    ],
)
def test_lists_are_compared_with_an_array_of_texts_item_by_item(found, expected, words):
    """A list is compared with an array of strings by shape first, then by items. A number never equals a string."""
    finding = matches(found, np.array(expected, dtype=str))
    assert (finding is None) if words is None else (words in finding.reason), finding


MARKS = "\u0301\u0323" * 85_000
READ = {
    "accents in a comment": f"# e{MARKS}\nto_kelvin = 1",
    "accents in a name": f"e{MARKS} = 1\nto_kelvin = 1",
    "characters that become accents": "# e" + "\u0301\uff9e" * 85_000 + "\nto_kelvin = 1",
    "characters that become several accents": "# e" + "\u0f73\u0301" * 85_000 + "\nto_kelvin = 1",
}


@pytest.mark.parametrize("source", READ.values(), ids=READ)
def test_a_letter_with_many_accents_is_rejected(tmp_path, source):
    """Many accents on one letter are rejected, because sorting them takes quadratic time. The message names the cell."""
    course = copy_course(tmp_path)
    notebook = document(course)
    notebook["cells"].append({"cell_type": "code", "metadata": {}, "outputs": [], "source": source})
    started = time.process_time()
    with pytest.raises(NotebookError) as error:
        parse_notebook(document_bytes(notebook))
    assert str(error.value).startswith(f"Cell {len(notebook['cells'])} of The file has more than 30 accents")
    if "=" not in source.partition("\n")[0]:  # Python's own parser is slow for names
        assert attempt.is_attempted("to_kelvin", "def to_kelvin(c):\n    pass", [source], [])
    assert time.process_time() - started < 5
    # Accents in a text cell do not count.
    notebook["cells"][-1] |= {"source": "e" + "\u0301" * 40, "cell_type": "markdown"}
    parse_notebook(document_bytes(notebook))
    notebook["cells"][-1]["cell_type"] = "code"
    language = "# Tiếng Việt, क्षत्रिय, e" + "\u0301" * 30 + "\nｔｏ_ｋｅｌｖｉｎ = 1"
    notebook["cells"][-1]["source"] = language
    parse_notebook(document_bytes(notebook))
    assert attempt.defines("to_kelvin", language)
    assert "to_kelvin" in attempt.identifiers_in(language)


COLLIDING = [n * (2**61 - 1) for n in range(1, 60_001)]


@pytest.mark.parametrize("where", ["rows", "columns", "an index", "two kinds"])
def test_labels_with_equal_hashes_are_rejected(where):
    """Labels with equal hashes are rejected, because pandas would compare each of them with all the others."""
    few = COLLIDING[:1000]
    tables = {
        "rows": lambda: pd.Series(0, index=pd.Index(COLLIDING, dtype=object)),
        "columns": lambda: pd.DataFrame([[0] * 1000], columns=pd.Index(few, dtype=object)),
        "an index": lambda: pd.Index(COLLIDING, dtype=object),
        "two kinds": lambda: pd.Series(0, index=pd.Index([*COLLIDING, "a"], dtype=object)),
    }
    with pytest.raises(WireError):
        crossed(tables[where]())


@pytest.mark.parametrize("labels", [[-1, -2] * 500, [1, 1.0, True] * 500, [*range(5000), "a", None, (1, 2)]], ids=str)
def test_ordinary_labels_are_accepted(labels):
    """Labels are accepted if only a few of them share a hash. They may repeat."""
    found = crossed(pd.Series(0, index=pd.Index(labels, dtype=object)))
    assert matches(found, pd.Series(0, index=pd.Index(labels, dtype=object))) is None


SEMICOLONS = {
    "one cell": ["x=1;" * 60_000],
    "many cells": ["x=1;" * 500 + f"y={n}" for n in range(120)],
}


@pytest.mark.parametrize("cells", SEMICOLONS.values(), ids=SEMICOLONS)
def test_a_submission_is_parsed_once(tmp_path, monkeypatch, cells):
    """All exercises and quiz questions share the same syntax trees, which are freed at the end."""
    course = copy_course(tmp_path)
    notebook = document(course, **RIGHT)
    code = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": f"{cell}\n# to_kelvin mean_kelvin q1"}
        for cell in cells
    ]
    notebook["cells"] += code
    path = hand_in(course, "ada", notebook)
    parsed, parse = [], ast.parse

    def counted(source, *more, **options):
        if "x=1;" in str(source):
            parsed.append(source)
        return parse(source, *more, **options)

    monkeypatch.setattr(ast, "parse", counted)
    task = Task(CHAPTER, MAX_SCORE, GradingOptions())
    with open_worker(course.limits, list(course.packages)) as worker, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcome = NotebookGrader(course, task, worker).grade(Job(path, "ada", CHAPTER))
    assert outcome.verdict.status == "graded"
    assert len(parsed) == len(cells)
    assert attempt._known.size <= attempt._USUAL + len(cells[0])

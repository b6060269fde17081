"""Tests of calls through a probe, which inspects values that cannot leave the student's process."""

import json
import sys
from functools import partial

import numpy as np
import pytest

from autograder.checking import student_tests
from autograder.checking.asserts import CheckFailed
from autograder.course.course import load_course
from autograder.judging.candidates import diagnosis_of
from autograder.judging.exercise_session import ExerciseSession
from autograder.judging.functions import FunctionSession
from autograder.judging.judge import Judge
from autograder.judging.loader import load_checks
from autograder.judging.proxies import ReferenceProxy, StudentProxy
from autograder.misconception import Misconception
from autograder.sandbox.protocol import Call
from autograder.student.examples import parse_examples
from autograder.student.examples.record import recorded
from autograder.student.examples.replay import replay
from autograder.values import call_key
from tests.framework.judging.conftest import Student
from tests.support import ROOT
from tests.support.mini import copy_course

LOOK = "def probe(function, n):\n    return {'made': [item.size for item in function(n)]}\n"


class Box:
    """An object that cannot be sent to the parent."""

    def __init__(self, size):
        self.size = size


def boxes(n):
    """Return the right boxes."""
    return [Box(i + 1) for i in range(n)]


def from_nought(n):
    """Return boxes whose sizes begin at 0, a known mistake."""
    return [Box(i) for i in range(n)]


def talk(function, planned=()):
    """Return a session with a student who wrote ``function``, and the proxy that checks use."""
    conversation = ExerciseSession(lambda: FunctionSession({"boxes": function}), planned=planned)
    return conversation, StudentProxy(conversation)


def test_a_probe_brings_back_what_it_saw():
    """A probe returns the boxes' sizes, for the student and the reference. The boxes stay in their process."""
    _, student = talk(boxes)
    assert student.probe(LOOK, "boxes", 3) == {"made": [1, 2, 3]}
    assert ReferenceProxy({"boxes": boxes}).probe(LOOK, "boxes", 3) == {"made": [1, 2, 3]}


def test_a_probed_answer_is_asked_for_once_and_kept():
    """A repeated call gives the same answer without calling the function again, and the log has one entry."""
    calls = []

    def counted(n):
        calls.append(n)
        return boxes(n)

    conversation, student = talk(counted)
    student.probe(LOOK, "boxes", 3)
    student.probe(LOOK, "boxes", 3)
    assert calls == [3]
    assert [(c.function, c.probe) for c, _ in conversation.log] == [("boxes", LOOK)]


def test_probed_calls_are_planned_beside_plain_ones():
    """A plan may mix calls with and without a probe, and each call gets its own answer."""

    def count(n):
        return n + 1

    plan = [Call("boxes", (2,), probe=LOOK), Call("count", (5,)), Call("boxes", (1,), probe=LOOK), Call("count", (6,))]
    conversation = ExerciseSession(lambda: FunctionSession({"boxes": boxes, "count": count}), planned=plan)
    conversation.fetch()
    assert [a.value for _, a in conversation.log] == [{"made": [1, 2]}, 6, {"made": [1]}, 7]


def test_another_probe_is_another_question():
    """Two calls have different keys if their probes differ, or if only one has a probe."""
    keys = {call_key(Call("boxes", (3,), probe=text)) for text in ("", LOOK, LOOK + "\n")}
    assert len(keys) == 3


def test_an_error_under_a_probe_is_told_as_the_function_s():
    """An error in the student's function, or a missing function, is explained as in a call without a probe."""

    def broken(n):
        return [Box(i) for i in range(n // 0)]

    _, student = talk(broken)
    with pytest.raises(CheckFailed, match="boxes stopped with ZeroDivisionError"):
        student.probe(LOOK, "boxes", 3)
    with pytest.raises(CheckFailed, match="There is no function called crates"):
        student.probe(LOOK, "crates", 3)


def test_a_mistake_seen_through_a_probe_is_named():
    """Answers from probes are used for the diagnosis like all other answers."""
    plan = [Call("boxes", (3,), probe=LOOK), Call("boxes", (1,), probe=LOOK)]
    wrong = Misconception("from_nought", "boxes", "You began at 0.", from_nought)
    known = diagnosis_of("boxes", {"boxes": boxes}, [wrong], plan)
    for function, expected in ((from_nought, "from_nought"), (boxes, None), (lambda n: [Box(7)] * n, None)):
        conversation, _ = talk(function, plan)
        conversation.fetch()
        assert getattr(known.explain(conversation.log), "name", None) == expected


CHECKS = '''
from autograder.checking import assert_matches, check, exercise, pure

LOOK = {look!r}

@exercise("boxes", points=2, hints=("one", "two", "three"))
class TestBoxes:
    @check(points=1, visible=True)
    def test_three(self, student, reference):
        """three boxes"""
        found, right = student.probe(LOOK, "boxes", 3), reference.probe(LOOK, "boxes", 3)
        assert_matches(found["made"], right["made"], call="the sizes of boxes(3)")

    @check(points=0.5, after="test_three")
    def test_more(self, student, reference, rng):
        """any number of boxes"""
        n = int(rng.integers(4, 8))
        assert_matches(student.probe(LOOK, "boxes", n), reference.probe(LOOK, "boxes", n), call="boxes(n)")

    test_care = pure(points=0.5)
'''
SOLUTION = """
class Box:
    def __init__(self, size):
        self.size = size


def boxes(n):
    return [Box(i + 1) for i in range(n)]
"""
WRONG = '''
from autograder.misconception import misconceptions_of
from solutions.ch1_units import Box


@misconceptions_of("boxes")
def from_nought(n):
    """You began at 0."""
    return [Box(i) for i in range(n)]
'''
CHECK_FILE, SOLUTION_FILE = "tests/chapters/test_ch1_units.py", "solutions/ch1_units.py"
WRONG_FILE, ALTERNATIVES_FILE = "solutions/misconceptions/ch1_units.py", "solutions/alternatives/ch1_units.py"


@pytest.fixture
def probed(tmp_path):
    """A function that returns a course with one probed exercise. The files in ``others`` replace its own."""
    files = {CHECK_FILE: CHECKS.format(look=LOOK), SOLUTION_FILE: SOLUTION, WRONG_FILE: WRONG, ALTERNATIVES_FILE: ""}
    return lambda others=(): copy_course(tmp_path / "probed", files=files | dict(others))


def graded(course, function):
    """Return the verdict on ``function``."""
    [verdict] = Judge(load_checks(course, "ch1_units")).judge(Student(boxes=function))
    return verdict


def test_a_probed_exercise_is_graded(probed):
    """A right solution earns all points, including purity. A known mistake is named."""
    right, wrong = graded(probed(), boxes), graded(probed(), from_nought)
    assert (right.score, right.status) == (2.0, "passed")
    assert (wrong.score, wrong.misconception) == (0.0, "from_nought")


def examples_of(course):
    """Return the recorded examples of the course's only chapter, as a student's machine reads them."""
    return parse_examples(json.loads(json.dumps(recorded(load_checks(course, "ch1_units"))))).exercises


def test_a_visible_probe_is_recorded_and_replayed(probed):
    """The example includes the probe's source, so that `check()` can use it and name the mistake."""
    exercises = examples_of(probed())
    assert exercises["boxes"].checks[0].steps[0].probe == LOOK
    assert replay(exercises, Student(boxes=boxes))[0].status == "passed"
    [verdict] = replay(exercises, Student(boxes=from_nought))
    assert (verdict.status, verdict.misconception) == ("failed", "from_nought")
    assert "there is 0 instead of 1" in verdict.checks[0].message


MEASURED = {
    CHECK_FILE: """
from autograder.checking import assert_within, check, exercise, pure

CALLS = '''
def probe(f, n):
    return sum(f(n) for _ in range(10))
'''

@exercise("f", points=2)
class TestF:
    @check(points=1, visible=True)
    def test_once(self, agrees):
        \"\"\"one call\"\"\"
        agrees.f(3)

    @check(visible=True)
    def test_ten_times(self, student):
        \"\"\"ten calls\"\"\"
        assert_within(student.measure(CALLS, "f", 2), low=15, high=25, call="the sum of ten f(2)")

    test_care = pure(points=1)
""",
    SOLUTION_FILE: "def f(n):\n    return n\n",
    WRONG_FILE: """
from autograder.misconception import misconceptions_of

wrong = misconceptions_of("f")


@wrong
def one_more_of_three(n):
    'One more than there are.'
    return 4 if n == 3 else n
""",
}


@pytest.mark.parametrize("from_the_record", [False, True])
def test_a_measurement_fails_a_check_and_is_nobody_s_answer(probed, from_the_record):
    """A measurement out of bounds is reported, in grading and from a recorded example. Only calls without a probe identify a mistake."""
    course = probed(MEASURED)
    checks = load_checks(course, "ch1_units")
    judge = partial(replay, examples_of(course)) if from_the_record else partial(Judge(checks).judge, visible_only=True)

    def judged(function):
        [verdict] = judge(Student(f=function))
        return verdict

    assert judged(lambda n: n).status == "passed"
    constant = judged(lambda n: 3)  # noqa: ARG005
    assert [c.status for c in constant.checks][:2] == ["passed", "failed"]
    assert constant.checks[1].message == "It should be between 15 and 25, but it is 30.\nthe sum of ten f(2) is  30"
    assert judged(lambda n: 4 if n == 3 else 2.1).misconception == "one_more_of_three"
    assert Judge(checks).judge(Student(f=lambda n: n))[0].score == 2.0  # its purity is checked with ordinary calls


REFUSES = """class NotAsAsked(Exception):
    pass


def probe(function, n):
    found = function(n)
    if not isinstance(found, list):
        raise NotAsAsked(f"it is of type {type(found).__name__}")
    return {'made': [item.size for item in found]}
"""


def test_what_a_probe_cannot_look_at_fails_the_check_and_nobody_is_said_to_have_stopped(probed):
    """If a probe rejects a result, its message is shown as a failure and not as an error, in grading and in a notebook."""
    course, student = probed({CHECK_FILE: CHECKS.format(look=REFUSES)}), Student(boxes=lambda n: (Box(1),) * n)
    words = "boxes returned a result in the wrong form: it is of type tuple."
    [verdict] = Judge(load_checks(course, "ch1_units")).judge(student)
    assert (verdict.status, verdict.checks[0].status, verdict.checks[0].reason) == ("failed", "failed", words)
    [tried] = replay(examples_of(course), student)
    assert tried.checks[0].status == "failed"
    assert words in tried.checks[0].message


def test_an_error_of_the_probe_is_not_told_as_the_students(probed):
    """If the probe cannot inspect a result, the message says that the error is outside the student's code, unlike an error in the function."""
    course = probed(
        {
            CHECK_FILE: CHECKS.format(
                look="def probe(function, n):\n    return {'made': [b.size for b in function(n)]}\n"
            )
        }
    )
    checks = load_checks(course, "ch1_units")

    def message(function):
        [verdict] = Judge(checks).judge(Student(boxes=function))
        return verdict.checks[0].reason

    text = message(lambda n: [n])
    assert text.startswith("Using the result of boxes raised")
    assert (
        "raised AttributeError: 'int' object has no attribute 'size'. The error was raised outside your code." in text
    )
    assert "boxes stopped with" not in text
    assert message(lambda n: [][n]).startswith("boxes stopped with IndexError")
    assert message(lambda: 0).startswith("boxes stopped with TypeError")


NUMBERS = '''
from autograder.checking import assert_matches, check, exercise, pure

@exercise("boxes", points=2, hints=("one", "two", "three"))
class TestBoxes:
    @check(points=1)
    def test_three(self, student, reference):
        """three, and five"""
        assert_matches(student.boxes(3), {"made": 3}, call="boxes(3)")
        assert_matches(student.boxes(5), {"made": 5}, call="boxes(5)")

    test_care = pure(points=1)
'''


def test_a_dictionary_handed_out_again_is_noticed_where_a_function_takes_whole_numbers_only(probed):
    """A function that returns the same dictionary again fails the purity check, which makes a different call between two equal calls."""
    solution = "def boxes(n):\n    return {'made': n}\n"
    course = probed({CHECK_FILE: NUMBERS, SOLUTION_FILE: solution, WRONG_FILE: ""})
    assert graded(course, lambda n: {"made": n}).score == 2
    shelf = {}

    def boxes_again(n):
        shelf["made"] = n
        return shelf

    care = graded(course, boxes_again).checks[-1]
    assert care.status == "failed"
    assert "A later call of boxes changed the result of this call." in care.message


TWO_NUMBERS = '''
import numpy as np
from autograder.checking import check, exercise, pure

@exercise("boxes", points=2, hints=("one", "two", "three"))
class TestBoxes:
    @check(points=1)
    def test_some(self, agrees):
        """some sizes and values"""
        for n, value in ((4, 3), (7, 5), (6, 2), (4, 1)):
            agrees.boxes(n, value)

    test_care = pure(points=1)
'''


def test_an_array_that_is_stored_under_one_of_two_numbers_is_noticed(probed):
    """A function that keeps an array for each size fails the purity check, which also makes two calls with the same size."""
    solution = "import numpy as np\n\ndef boxes(n, value):\n    return np.full(n, float(value))\n"
    course = probed({CHECK_FILE: TWO_NUMBERS, SOLUTION_FILE: solution, WRONG_FILE: ""})
    assert graded(course, lambda n, value: np.full(n, float(value))).score == 2
    shelf = {}

    def kept_boxes(n, value):
        found = shelf.setdefault(n, np.zeros(n))
        found[:] = value
        return found

    assert graded(course, kept_boxes).checks[-1].status == "failed"


def test_arrays_changed_under_a_probe_are_noticed():
    """A changed input of a probed function is reported, as after a call without a probe."""
    look = "def probe(function, x):\n    return len(function(x))\n"

    def spoils(x):
        x -= 1
        return [Box(v) for v in x]

    conversation, student = talk(spoils)
    assert student.probe(look, "boxes", np.ones(3)) == 3
    assert conversation.log[0][1].changed == ("0",)


def zeros_beside_a_forged_look(n, d_model):  # noqa: ARG001 - what the exercise asks for
    """Return zeros, and make the probe return forged rows. The probe's argument shows which rows are needed."""
    given, here = sys._getframe(1).f_globals, sys._getframe(1).f_locals
    if "rows_of" in given:
        X, honest = here["X"], given["rows_of"]

        def forged(_output, n):
            given["rows_of"] = honest  # these globals belong to this process, and other tests use the probe too
            return {f"row {i}": np.where(np.arange(d_model) < d_model - n, X[i - 1], 0.0) for i in range(1, n)}

        given["rows_of"] = forged
    shapes = {"W_Q": (d_model, 1), "W_K": (d_model, 1), "W_V": (d_model, 1), "W_O": (1, d_model)}
    return {name: np.zeros(shape) for name, shape in shapes.items()}


def test_what_a_function_wrote_into_the_probe_is_not_believed():
    """Forged rows earn no points, because the trusted side also checks the four matrices. Right sizes earn their points."""
    subject = Student(previous_token_head=zeros_beside_a_forged_look)
    judge = Judge(load_checks(load_course(ROOT), "ch7_capstone"))
    [verdict] = judge.judge(subject, only=frozenset({"previous_token_head"}))
    assert verdict.score == 0.5
    assert "it is 0 instead of 1" in next(c.message for c in verdict.checks if c.status == "failed")


def test_tests_that_stumble_over_a_name_of_their_own_are_told_so():
    """A NameError in a student's tests is raised and not taken for a rejection. An error inside the tested function is a rejection."""
    names = {}
    exec(student_tests._TRIAL, names)  # noqa: S102 - our own text

    def misspelt(candidate):
        assert candidate(2) is true  # noqa: F821

    def calls(candidate):
        candidate(2)

    with pytest.raises(NameError):
        names["probe"](misspelt, lambda _n: True)
    assert names["probe"](calls, misspelt) is False

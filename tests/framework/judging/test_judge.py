"""Tests of judging a submission check by check: points, status and messages, separately for each student."""

import inspect
import pickle
import re
from collections import Counter
from contextlib import closing, nullcontext
from dataclasses import replace
from typing import ClassVar
from unittest import mock

import numpy as np
import pytest

from autograder.authoring.simulate import solved_notebook, write_notebook
from autograder.base.errors import CourseError
from autograder.checking.asserts import CheckFailed, assert_matches
from autograder.grading.batch import grade_notebooks
from autograder.grading.submission import Job
from autograder.judging.exercise_session import ExerciseSession
from autograder.judging.functions import FunctionSession
from autograder.judging.judge import Judge, _WithReferences
from autograder.judging.loader import ChapterChecks, load_checks
from autograder.judging.purity import PurityProbe, changed_between
from autograder.sandbox import open_worker
from autograder.sandbox.protocol import Call, CodeCell, Limits
from autograder.values import normalize_result
from tests.framework.judging.conftest import Student, right
from tests.support.chapters import course_of
from tests.support.mini import CHAPTER, RIGHT, change, document, hand_in


def test_a_right_notebook_earns_everything(grade):
    """A right notebook passes every check and gets no message."""
    found = [(v.score, v.max_score, v.status, v.message) for v in grade().values()]
    assert found == [(points, points, "passed", "") for points in (2.0, 3.0, 1.0)]


def test_a_recognised_mistake_is_named_and_told(grade):
    """The student reads the misconception's docstring. Checks that depend on a failed check are not run."""
    verdict = grade(to_kelvin=lambda celsius: celsius - 273.15)["to_kelvin"]
    assert (verdict.status, verdict.misconception) == ("failed", "wrong_sign")
    assert verdict.message.startswith("You subtracted the offset.")
    assert [c.status for c in verdict.checks] == ["failed", "not_tried", "not_tried"]
    assert [c.waits_for for c in verdict.checks] == ["", verdict.checks[0].name, verdict.checks[0].name]


def test_an_unknown_mistake_is_shown_but_not_named(grade):
    """Without a matching misconception, the case is shown and no cause is guessed."""
    verdict = grade(to_kelvin=lambda celsius: celsius + 300.0)["to_kelvin"]
    assert verdict.misconception is None
    assert "to_kelvin(x) gave  [300]" in verdict.message


def test_a_blank_exercise_is_not_attempted_and_never_diagnosed(grade):
    """A stub earns nothing, and the message only says that the exercise is not attempted."""
    verdict = grade(blank={"to_kelvin"})["to_kelvin"]
    assert (verdict.status, verdict.score, verdict.misconception) == ("not_attempted", 0.0, None)


def test_a_function_that_only_raises_is_an_error_without_a_diagnosis(grade):
    """If a function only raises an error, the error is explained, and no misconception is named."""
    verdict = grade(to_kelvin=lambda celsius: celsius @ np.ones((9, 9)))["to_kelvin"]
    assert (verdict.status, verdict.misconception) == ("error", None)
    assert "to_kelvin stopped with ValueError" in verdict.message
    assert "x = " in verdict.message or "celsius = np.array" in verdict.message


def test_a_missing_function_says_so(course):
    """If a function is missing, the message says so."""
    others = {name: value for name, value in right().items() if name != "to_kelvin"}
    [found] = Judge(load_checks(course, "ch1_units")).judge(Student(**others), only=frozenset({"to_kelvin"}))
    assert found.status == "error"
    assert "There is no function called to_kelvin" in found.message


def test_an_endless_loop_costs_its_own_exercise_only(grade):
    """A call is stopped at its limit. The other exercises are graded in a new session."""

    def to_kelvin(_celsius):
        while True:
            pass

    found = grade(to_kelvin=to_kelvin, mean_kelvin=lambda celsius: np.mean(celsius + 273.15, axis=-1))
    assert found["to_kelvin"].status == "timeout"
    assert "was stopped after" in found["to_kelvin"].message
    assert found["mean_kelvin"].status == "passed"


GROW = {
    "solutions/ch1_grow.py": "def grow(n):\n    return n + 0.1\n",
    "tests/chapters/test_ch1_grow.py": """
from autograder.checking import assert_matches, check, exercise, pure

@exercise("grow", points=4)
class TestGrow:
    @check(points=1, visible=True)
    def test_steps(self, student):
        \"\"\"three steps\"\"\"
        assert_matches(student.grow(student.grow(student.grow(0))), 0.3)

    @check(points=1, visible=True)
    def test_probe(self, student):
        \"\"\"a step, seen from the student's own process\"\"\"
        assert student.probe("def probe(function, n):\\n    return round(function(n), 6)", "grow", 2) == 2.1

    @check(points=1)
    def test_large(self, agrees):
        \"\"\"a large number\"\"\"
        agrees.grow(1000)

    test_care = pure(points=1)
""",
}


def test_only_the_check_that_makes_the_endless_call_is_stopped(tmp_path, monkeypatch):
    """If one of the planned calls, which are made together, never ends, the checks before it still make their own calls and pass.

    The earlier check's calls are not planned, because its inputs are the student's results, which differ in the last digit.
    """
    monkeypatch.setenv("AUTOGRADER_COURSE_SECRET", "s" * 32)
    course = course_of(tmp_path, "ch1_grow", GROW)
    course.call_seconds = 0.5
    code = "def grow(n):\n    while n > 99:\n        pass\n    return n + 0.1 + 1e-12\n"
    path = write_notebook(tmp_path / "ada.ipynb", solved_notebook(course, "ch1_grow", {"grow": code}))
    [verdict] = grade_notebooks(course, [Job(path, chapter="ch1_grow")])
    *earlier, large, care = verdict.exercises[0].checks
    assert [check.status for check in earlier] == ["passed", "passed"]
    assert (large.status, care.status) == ("timeout", "not_tried")
    assert "grow(1000)" in large.message
    assert verdict.score == 2


def test_a_call_may_wait_longer_than_it_may_compute(course):
    """Only processor time counts, so a right call is not stopped if it has to wait on a busy machine."""
    waits = (
        "import time\nfrom time import sleep\n\ndef to_kelvin(celsius):\n    sleep(0.6)\n    return celsius + 273.15"
    )
    computes = waits.replace("sleep(0.6)", "end = time.process_time() + 1.2\n    while time.process_time() < end: pass")
    limits = Limits(call_seconds=0.4)
    for source, status in ((waits, "passed"), (computes, "timeout")):
        with closing(open_worker(limits, ["numpy"])) as worker:
            cells = [CodeCell(0, "to_kelvin", source)]
            student = Student()
            student.open = lambda *, memory_mb=None, cells=cells, worker=worker: worker.open(cells, memory_mb=memory_mb)
            [verdict] = Judge(load_checks(course, CHAPTER)).judge(student, only=frozenset({"to_kelvin"}))
        assert verdict.status == status


def in_place(celsius):
    """Return right numbers, but write into the caller's array."""
    celsius += 273.15
    return celsius


BOILING = """    @check(points=0.25)
    def test_boiling(self, agrees):
        \"\"\"water boils\"\"\"
        agrees.to_kelvin(np.array([100.0]))

    test_care = pure(points=0.25)"""


def test_a_result_that_depends_on_earlier_calls_is_reported_as_that(course):
    """If a failed case is right in a new process, the message says that the function keeps data, and the purity check fails too."""
    change(course.checks(CHAPTER), "    test_care = pure(points=0.5)", BOILING)
    counts = (
        "calls = []\n\ndef to_kelvin(celsius):\n    calls.append(1)\n    return celsius + 273.15 + (len(calls) == 2)"
    )
    always = "def to_kelvin(celsius):\n    return celsius + 273.15 + (np.size(celsius) == 4)"
    for source, keeps in ((counts, True), (always, False)):
        path = hand_in(course, "ada", document(course, **{**RIGHT, "to_kelvin": source}))
        [verdict] = grade_notebooks(course, [Job(path, "ada", CHAPTER)])
        *_, marker, _boiling, care = verdict.exercise("to_kelvin").checks
        why = (
            "to_kelvin keeps data from one call to the next: this call returns the right result if it is the first one"
        )
        assert marker.reason.startswith(why) is keeps
        assert "291.4 instead of 290.4" in marker.reason
        assert (care.status, care.reason.startswith(why)) == (("failed", True) if keeps else ("passed", False))


def put_back(celsius):
    """Change the caller's array, but restore it before returning."""
    celsius += 273.15
    answer = celsius.copy()
    celsius -= 273.15
    return answer


def forgetful(celsius, seen=[]):  # noqa: B006 - that is the mistake
    """Return the right result in the first three calls only."""
    seen.append(1)
    return celsius + 273.15 + (len(seen) > 3)


def one_array(celsius, shelf={}):  # noqa: B006 - that is the mistake
    """Return the same array in every call, so that later calls change earlier results."""
    return np.add(celsius, 273.15, out=shelf.setdefault(celsius.shape, np.empty(celsius.shape)))


def another_shape(celsius):
    """Return the right numbers, but change the shape of the caller's array."""
    shape = celsius.shape
    celsius.shape = (-1, 1)
    return (celsius + 273.15).reshape(shape)


def by_id(celsius, known={}):  # noqa: B006 - that is the mistake
    """Return the result of an earlier call if the same array contains other numbers now."""
    return known.setdefault(id(celsius), (celsius, celsius + 273.15))[1].copy()


def only_once(celsius, seen=[]):  # noqa: B006 - that is the mistake
    """Fail if the same array contains other numbers now."""
    assert not any(array is celsius and (array != numbers).any() for array, numbers in seen)
    seen.append((celsius, celsius.copy()))
    return celsius + 273.15


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (
            by_id,
            "to_kelvin returned a wrong result when it got the same arrays a second time, with other numbers in them",
        ),
        (only_once, "to_kelvin stopped with an error when it got the same arrays a second time, with other numbers in"),
        (in_place, "to_kelvin changes its input `celsius`"),
        (forgetful, "two calls with the same input had different outcomes"),
        (one_array, "A later call of to_kelvin changed the result of this call."),
        (another_shape, "changes its input"),
    ],
)
def test_a_lack_of_care_is_told_and_costs_its_own_check(grade, function, words):
    """Changed inputs and answers that depend on earlier calls fail only the purity check, whose message names the fault."""
    verdict = grade(to_kelvin=function)["to_kelvin"]
    assert verdict.checks[-1].status == "failed"
    assert words in verdict.checks[-1].message
    assert verdict.score == 1.5


@pytest.mark.parametrize("new_results", [True, False])
@pytest.mark.parametrize("result", [lambda x: x, lambda x: (x.sum(), x)], ids=["alone", "in a tuple"])
def test_a_result_that_is_an_input_itself_is_reported_if_a_right_one_never_is(new_results, result):
    """A function that returns an input itself fails if a right result is always a new object. A view of an input passes."""
    session = FunctionSession({"f": lambda x: result(x) if x.size == 3 else x[:1]})
    planned = [Call("f", (np.ones(2),)), Call("f", (np.arange(3.0),))]
    conversation = ExerciseSession(
        lambda: session,
        planned=planned,
        new_results=new_results,
        signature=lambda _name: inspect.signature(lambda x: x),
    )
    with pytest.raises(CheckFailed, match="f returns its input `x` itself") if new_results else nullcontext():
        conversation.check_purity()


def test_one_array_for_two_arguments_is_named_as_such():
    """If one array is passed for two arguments, both are changed, and the message says why."""

    def change_the_first(x, y):
        x += 1
        return x + y

    same = np.ones(2)
    session = FunctionSession({"f": change_the_first})
    signature = inspect.signature(change_the_first)
    conversation = ExerciseSession(
        lambda: session, planned=[Call("f", (same, same))], signature=lambda _name: signature
    )
    with pytest.raises(CheckFailed, match="f changes its inputs `x` and `y`, which are the same object in this call"):
        conversation.check_purity()


@pytest.mark.parametrize("visible_only", [False, True])
def test_a_changed_input_is_reported_before_its_consequences(grade, visible_only):
    """A changed input may cause the wrong values, so it is reported first, and only once."""

    def to_kelvin(celsius):
        celsius += 300.0
        return celsius

    checks = grade(to_kelvin=to_kelvin, visible_only=visible_only)["to_kelvin"].checks
    first, *others = [check.reason for check in checks if check.status == "failed"]
    assert first.startswith("to_kelvin changes its input `celsius`.")
    assert first.endswith("The change may be why the result is wrong. At index [0], it is 300 instead of 273.1.")
    assert not others


def test_an_error_is_not_reported_as_kept_data():
    """If the first of two calls with the same array raises an error, the function need not keep anything."""

    def inverse(x):
        if not x.all():
            raise ZeroDivisionError
        return 1 / x

    session = FunctionSession({"inverse": inverse})
    first, other = Call("inverse", (np.zeros(2),)), Call("inverse", (np.ones(2),))
    probe = PurityProbe(first, other, [first, other], between=changed_between(first, other))
    ExerciseSession(lambda: session, planned=[first, other], purity=[probe]).check_purity()


def test_an_input_changed_and_put_back_is_right(grade):
    """A function that changes its input but restores it before returning passes."""
    assert grade(to_kelvin=put_back)["to_kelvin"].status == "passed"


def test_a_random_answer_is_wrong(grade):
    """A function that adds random numbers to its result does not earn full marks."""
    noise = np.random.normal
    verdict = grade(to_kelvin=lambda celsius, noise=noise: celsius + 273.15 + noise())["to_kelvin"]
    assert verdict.score < verdict.max_score


def test_only_and_visible_only_keep_to_what_was_asked(grade):
    """``only`` selects the exercises to judge, and ``visible_only`` the checks that students run themselves."""
    assert list(grade(only=frozenset({"mean_kelvin"}))) == ["mean_kelvin"]
    verdict = grade(visible_only=True)["to_kelvin"]
    assert [c.name for c in verdict.checks] == ["test_freezing"]
    assert verdict.max_score == 0.5


def test_follow_through_counts_a_mistake_once(grade):
    """A right function that calls a wrong earlier function earns full marks, and the feedback says why."""
    found = grade(to_kelvin=lambda celsius: celsius - 273.15)["mean_kelvin"]
    assert (found.status, found.score) == ("passed", 3.0)
    why = "is right: with a correct to_kelvin, it earns 3 of 3 points"
    assert why in found.follow_through
    assert found.follow_through.endswith(", so the mistake in to_kelvin is counted only once.")


def test_an_earlier_function_that_was_never_begun_holds_no_mistake(grade):
    """If an earlier function was not attempted, the feedback calls it missing and mentions no mistake in it."""

    def to_kelvin(celsius):
        raise NotImplementedError

    found = grade(to_kelvin=to_kelvin, blank=["to_kelvin"])["mean_kelvin"]
    assert found.follow_through.endswith(", so the missing to_kelvin is counted only once.")


def test_a_value_that_cannot_be_looked_at_is_called_by_its_own_type(course, grade):
    """If a check cannot compute with the value, the message names the value's type, and not the check's own error."""
    change(
        course.checks(CHAPTER),
        "assert_matches(student.to_kelvin(x), ref",
        "assert_matches(student.to_kelvin(x) * 1, ref",
    )
    found = grade(to_kelvin=lambda celsius: {float(celsius[0])})["to_kelvin"]
    assert "to_kelvin(celsius) is a set of 1 member instead of a number or an array." in found.message
    assert "Opaque" not in "".join(check.message for check in found.checks)


def test_only_an_earlier_function_that_was_asked_is_at_fault():
    """A wrong function that is never called does not affect later exercises."""
    student = Student(double=lambda x: 3 * x, half=lambda x: x, four_times=lambda x: double(double(x)))  # noqa: F821
    helped = _WithReferences(student, {"double": lambda x: 2 * x, "half": lambda x: x / 2})
    session = helped.open()
    assert session.call(Call("four_times", (1.0,))).value == 4.0
    session.close()
    assert helped.asked == {"double"}


def test_follow_through_does_not_help_a_function_that_is_wrong_itself(grade):
    """A wrong function stays wrong even if the earlier function that it calls is right."""
    found = grade(to_kelvin=lambda c: c - 273.15, mean_kelvin=lambda celsius: np.mean(celsius, axis=-1))["mean_kelvin"]
    assert (found.follow_through, found.misconception) == (None, "stays_in_celsius")
    assert found.score < 3.0


@pytest.mark.parametrize(("answer", "words"), [("a", "Nothing boils at absolute zero"), (None, "still None")])
def test_a_wrong_or_missing_answer_costs_its_own_question_only(grade, answer, words):
    """A wrong choice or a missing answer in a quiz costs only its own question, and has its own message."""
    verdict = grade(q1=answer)["quiz_ch1_units"]
    assert verdict.score == 0.5
    assert words in verdict.message
    assert words in next(c for c in verdict.checks if c.status == "failed").message


@pytest.mark.parametrize("answer", [[], {}, "x" * 10_000, float("nan"), np.ones(3), object()])
def test_odd_answers_are_wrong_and_never_our_crash(grade, answer):
    """Whatever value an answer has, grading continues, and a wrong answer earns nothing."""
    assert grade(q1=answer, q2=answer)["quiz_ch1_units"].score == 0


@pytest.mark.parametrize(
    ("number", "told"),
    [(2**100, "1.268e+30"), (2**1023 - 1, "8.988e+307"), (2**1024 - 1, "more than 307 digits")],
    ids=["more than 64 bits", "the largest that crosses", "larger than any float"],
)
def test_a_number_of_hundreds_of_digits_is_wrong_and_nothing_more(grade, number, told):
    """An integer of hundreds of digits is reported correctly, and the other exercises keep their marks."""
    found = grade(to_kelvin=lambda _celsius: number, q2=number)
    scores = {"to_kelvin": 0.0, "mean_kelvin": 3.0, "quiz_ch1_units": 0.5}  # mean_kelvin passes by follow-through
    assert {name: verdict.score for name, verdict in found.items()} == scores
    assert grade(mean_kelvin=lambda _celsius: [number])["mean_kelvin"].status == "failed"
    with pytest.raises(CheckFailed, match=re.escape(told)):
        assert_matches(normalize_result(number), np.float64(3.0))


@pytest.mark.parametrize("room", ["diagnosis.Diagnosis.explain", "scoring.answer_signature", "loader.wrong_answers"])
def test_marks_do_not_depend_on_a_mistake_being_named(grade, monkeypatch, room):
    """If the search for a misconception raises an error, none is named, and points and messages stay the same."""

    def fails(*_args):
        raise OverflowError("int too large to convert to float")

    wrong = {"to_kelvin": lambda celsius: celsius + 300.0, "q1": "a"}
    before = grade(**wrong)
    monkeypatch.setattr(f"autograder.judging.{room}", fails)
    after = grade(**wrong)
    assert {n: (v.score, v.status) for n, v in after.items()} == {n: (v.score, v.status) for n, v in before.items()}
    assert "to_kelvin(x) gave  [300]" in after["to_kelvin"].message
    assert after["to_kelvin"].misconception is None


def test_the_smallest_case_is_shown(grade):
    """If a property fails for large and small arrays, the message shows a small one."""
    verdict = grade(mean_kelvin=lambda celsius: np.mean(celsius + 273.15) * np.ones(celsius.shape[:-1]))["mean_kelvin"]
    shown = next(c for c in verdict.checks if c.name == "test_many_stations").message
    assert verdict.misconception == "mean_of_everything"
    line = next(line for line in shown.splitlines() if line.startswith("celsius = "))
    pasted = eval(line.removeprefix("celsius = "), {"np": np})  # noqa: S307 - a student would paste it
    assert 2 <= pasted.size <= 6


def test_grading_twice_gives_the_same_verdicts(grade):
    """Inputs are drawn from the course's secret and do not depend on the time."""
    wrong = {"mean_kelvin": lambda celsius: np.mean(celsius, axis=0)}
    assert grade(**wrong) == grade(**wrong)


def test_one_student_leaves_no_trace_in_the_next(course):
    """In a class of three, the second student's mistakes do not affect the last student."""
    judge = Judge(load_checks(course, "ch1_units"))
    students = [Student(**right()), Student(**{**right(), "to_kelvin": lambda _c: None}), Student(**right())]
    first, wrong, last = (sum(verdict.score for verdict in judge.judge(student)) for student in students)
    assert first == last == 6.0
    assert wrong < 6.0


class Numbered(Student):
    """A student whose answers have serial numbers, as in the sandbox: equal bytes have equal numbers."""

    serials: ClassVar[dict[bytes, int]] = {}

    def open(self, *, memory_mb=None):
        sitting = super().open(memory_mb=memory_mb)
        plain = sitting.batch

        def batch(calls, *, hold=False):
            return [replace(answer, serial=self.number(answer)) for answer in plain(calls, hold=hold)]

        sitting.batch = batch
        return sitting

    def number(self, answer):
        return self.serials.setdefault(pickle.dumps((answer.value, answer.error, answer.changed)), len(self.serials))


def outcomes(course, students):
    """Return each student's verdicts, and how often each check was run."""
    ran = Counter()
    plain = ChapterChecks.run_check

    def counting(checks, exercise, check, student):
        ran[now, exercise, check] += 1
        plain(checks, exercise, check, student)

    judge, found = Judge(load_checks(course, "ch1_units")), {}
    with mock.patch.object(ChapterChecks, "run_check", counting):
        for student in students:
            now = student.label
            found[now] = judge.judge(student)
    return found, ran


def test_students_who_answer_alike_are_checked_once(course):
    """A check that uses only the planned answers is not run again for a student with equal answers, and its outcome is the same."""
    class_ = [Numbered("first", **right()), Numbered("second", **right())]
    found, ran = outcomes(course, class_)
    assert found["first"] == found["second"]
    again = {(exercise, check) for who, exercise, check in ran if who == "second"}
    # The purity check makes further calls, and a quiz has no planned calls. So both are run for every student.
    assert {check for exercise, check in again if exercise != "quiz_ch1_units"} == {"test_care"}


def test_whoever_answers_otherwise_is_checked(course):
    """If the last digit of an answer differs or an input is changed, the check is run again for this student."""
    slightly = {**right(), "to_kelvin": lambda celsius: celsius + 273.15 + 1e-13}
    wrong = {**right(), "to_kelvin": lambda celsius: celsius + 273.0}
    changing = {**right(), "to_kelvin": in_place}
    class_ = {"right": right(), "slightly": slightly, "wrong": wrong, "right again": right()}
    class_ |= {"changing": changing, "wrong again": wrong}
    found, ran = outcomes(course, [Numbered(label, **code) for label, code in class_.items()])
    for label, code in class_.items():
        assert outcomes(course, [Student(label, **code)])[0] == {label: found[label]}
    assert found["wrong"] == found["wrong again"]
    assert any(who == "slightly" for who, _exercise, check in ran if "care" not in check)


def test_care_is_taken_of_everybody(course):
    """The purity check finds results that change only in later, unplanned calls, even after a student with equal planned answers passed it."""
    calls = Counter()

    def unsteady(celsius):
        calls[celsius.tobytes()] += 1
        return celsius + 273.15 + (calls[celsius.tobytes()] > 1)

    sly = {**right(), "to_kelvin": unsteady}
    found, _ = outcomes(course, [Numbered("right", **right()), Numbered("sly", **sly)])
    assert found["right"][0].status == "passed"
    care = found["sly"][0].checks[-1]
    assert (care.name, care.status) == ("test_care", "failed")
    assert "two calls with the same input had different outcomes" in care.message


def with_checks_of(course, text):
    """Return the mini course with ``text`` as the checks of ``to_kelvin``, which is worth two points."""
    path = course.checks("ch1_units")
    before = path.read_text()
    start, end = before.index('@exercise("to_kelvin"'), before.index('@exercise("mean_kelvin"')
    path.write_text(before[:start] + text + "\n\n" + before[end:])
    return course


CASES = '''
import pytest


@exercise("to_kelvin", points=2)
class TestToKelvin:
    @check(points=2)
    @pytest.mark.parametrize("shift", [0.0, 10.0])
    @pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), pytest.param(2.0, 3.0, id="warm")])
    def test_cases(self, student, reference, low, high, shift):
        """each of four cases"""
        x = np.array([low, high]) + shift
        assert_matches(student.to_kelvin(x), reference.to_kelvin(x))
'''


POINTS = "    @check(points=2)"


def test_every_case_of_a_parametrized_check_counts(course):
    """A function that is wrong in a single case of a parametrized check does not pass."""
    judge = Judge(load_checks(with_checks_of(course, CASES), "ch1_units"))

    def status(to_kelvin):
        [verdict] = judge.judge(Student(**{**right(), "to_kelvin": to_kelvin}), only=frozenset({"to_kelvin"}))
        return verdict.status

    assert status(lambda x: x + 273.15) == "passed"
    for wrong in (0.0, 2.0, 10.0, 12.0):
        assert status(lambda x, wrong=wrong: x + 273.15 + (x[0] == wrong)) == "failed"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("reference, low", "reference, tmp_path, low", r"TestToKelvin.test_cases requests the fixture 'tmp_path', which grading does not"),
        ("reference, low", "refernce, low", "requests the fixture 'refernce'"),
        (POINTS, f"{POINTS}\n    @pytest.mark.skip", "marked with pytest.mark.skip, which grading does not support"),
        ("[0.0, 10.0]", "[]", "parametrized with no cases"),
        ("[0.0, 10.0]", "[0.0, pytest.param(1.0, marks=pytest.mark.xfail)]", "a case marked with pytest.mark.xfail"),
        ("[0.0, 10.0])", "[0.0], indirect=True)", "indirect"),
        ("(2.0, 3.0,", "(2.0,", "2 names, but one case has 1 values"),
        (POINTS, f"    def setup_method(self):\n        pass\n\n{POINTS}", "has a setup_method"),
    ],
)  # fmt: skip
def test_what_grading_does_not_know_is_refused_when_the_file_is_read(course, old, new, told):
    """A pytest feature that grading does not support is rejected with file and line, because ignoring it would change the check."""
    assert old in CASES
    with pytest.raises(CourseError, match=rf"test_ch1_units\.py, line \d+.*{told}"):
        load_checks(with_checks_of(course, CASES.replace(old, new)), "ch1_units")

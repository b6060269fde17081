"""Test examples: values are stored without loss, files are validated, and a replay judges functions and names mistakes."""

# ruff: noqa: ARG001, ARG005 - wrong solutions often ignore their arguments

from __future__ import annotations

import copy
import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from autograder.judging.functions import FunctionSession, FunctionSubject
from autograder.sandbox.guest.wire import layout_of
from autograder.sandbox.protocol import Answer, Call, Opaque, Rng, Source
from autograder.student.examples import ExamplesError, load_examples, parse_examples, replay
from autograder.values import decode_value, encode_value
from tests.support import examples_by_hand as by_hand
from tests.support.examples_by_hand import (
    FAR_APART,
    call_step,
    chapter_data,
    check_entry,
    exercise_entry,
    holds,
    matches,
    misconception,
    outcome,
)

VALUES = [
    np.array([[1.5, np.nan], [np.inf, -np.inf]]), np.array([0.1, 1 / 3], dtype=np.float32), np.array([[True, False]]),
    np.resize([1.5, np.nan, -0.0], (700, 2)), np.resize([True, False], 1001), np.append(np.zeros(2000), -0.0),
    np.array([1, -2], dtype=np.int64), np.array([1 + 2j, complex(np.nan, np.inf)]), np.array(2.5), np.zeros((0, 3)),
    3, 0.1, float("inf"), 1 + 2j, True, "text", None, (np.ones(2), [1.0, (2,)]), {"weights": {"W_Q": np.eye(2)}, "h": 3},
    Source("def f(x):\n    return x", "f"), Rng(7), Opaque("Axes"), np.arange(6.0).reshape(2, 3).T, np.arange(9)[::-2],
]  # fmt: skip


SOFTMAX, QUIZ = by_hand.softmax_entry(), by_hand.quiz_entry()


def exercise_of(entry, name="softmax"):
    """Return the exercise that is parsed from ``entry``."""
    return parse_examples({"format": 1, "chapter": "c", "exercises": {name: entry}}).exercises[name]


def verdict_on(function, entry=None, name="softmax"):
    """Return the verdict of the visible checks in ``entry`` (by default softmax's) on a function."""
    return verdict_in({name: function}, entry or by_hand.softmax_entry(), name)


def verdict_in(names, entry, name):
    """Return the verdict of the visible checks in ``entry`` on a notebook that defines ``names``."""
    [verdict] = replay({name: exercise_of(entry, name)}, FunctionSubject("notebook", names))
    return verdict


def statuses(verdict):
    """Return the checks' statuses, in order."""
    return [check.status for check in verdict.checks]


def one_check(*steps, wrong=()):
    """Return an exercise ``f`` with one check that consists of these steps."""
    return exercise_entry("f(x)", [check_entry("test_a", "a", list(steps))], list(wrong))


class TestValues:
    @pytest.mark.parametrize("value", VALUES, ids=lambda v: type(v).__name__)
    def test_a_value_comes_back_as_it_was(self, value):
        """Through strict JSON and back, a value keeps its type, dtype, shape and every bit of its numbers."""
        back = decode_value(json.loads(json.dumps(encode_value(value), allow_nan=False)))
        assert type(back) is type(value)
        if isinstance(value, np.ndarray):
            assert (back.dtype, back.shape, layout_of(back)) == (value.dtype, value.shape, layout_of(value))
        np.testing.assert_equal(back, value)

    @pytest.mark.parametrize("number", [np.float32(0.5), np.float64(0.5), np.longdouble(0.5)])
    def test_a_numpy_number_becomes_a_plain_one(self, number):
        """A NumPy scalar is stored as an ordinary number."""
        assert encode_value(number) == 0.5

    def test_a_long_array_of_the_same_few_numbers_is_short(self):
        """An array that repeats a few numbers is stored as these numbers, its dtype and its shape."""
        assert encode_value(np.resize([1.0, 2.0, 3.0], (5000, 2))) == {
            "cycle": [1.0, 2.0, 3.0], "dtype": "float64", "shape": [5000, 2]
        }  # fmt: skip
        assert "array" in encode_value(np.append(np.zeros(2000), -0.0))

    def test_each_decoding_is_a_new_array(self):
        """Decoding twice gives two arrays, so a call that changes its inputs affects no other call."""
        data = encode_value(np.ones(2))
        decode_value(data)[:] = 7
        assert decode_value(data).tolist() == [1, 1]

    @pytest.mark.parametrize("value", [object(), np.array([object()]), {object(): 2}, {object()}, [{3, object()}]])
    def test_what_has_no_form_is_refused_in_a_sentence(self, value):
        """A value that cannot be stored in the file raises an error instead of being stored wrongly."""
        with pytest.raises(TypeError, match="examples file"):
            encode_value(value)

    @pytest.mark.parametrize(
        "data",
        [
            {}, [1], {"float": "much"}, {"dict": 3}, {"array": [1], "dtype": "O", "shape": [1]},
            {"array": [1, 2], "dtype": "float64", "shape": [3]}, {"array": ["one"], "dtype": "float64", "shape": [1]},
            {"cycle": [], "dtype": "bool", "shape": [9]}, {"cycle": [1], "dtype": "float64", "shape": [10**9, 10**9]},
        ],
    )  # fmt: skip
    def test_damaged_data_is_a_value_error(self, data):
        """Decoding a damaged file raises only ValueError."""
        with pytest.raises(ValueError, match=r"\w"):
            decode_value(data)


class TestReadingTheFile:
    def test_a_whole_chapter_is_read(self, tmp_path):
        """Exercises keep their order, checks, hints and misconceptions."""
        examples = load_examples(by_hand.write_chapter(tmp_path))
        assert examples.chapter == by_hand.CHAPTER
        assert list(examples.exercises) == ["softmax", "mean_of", "quiz_ch9"]
        assert examples.exercises["softmax"].checks[3].after == ("test_far_apart",)
        assert len(examples.exercises["softmax"].misconceptions) == 4
        assert examples.exercises["quiz_ch9"].answers == ("q1", "q2")

    @pytest.mark.parametrize(
        "text", ["", "{", "\x00", '{"format": 1}', '{"format": 1, "chapter": "c", "exercises": 3}']
    )
    def test_a_missing_file_is_named_and_a_damaged_one_says_how_to_get_another(self, tmp_path, text):
        """A missing file is named. Broken JSON and missing parts lead to the advice to download the chapter again."""
        path = tmp_path / "examples.json"
        with pytest.raises(ExamplesError, match=r"There is no file .*examples\.json"):
            load_examples(path)
        path.write_text(text)
        with pytest.raises(ExamplesError, match=r"(cannot be read|damaged).*Download the chapter again"):
            load_examples(path)

    def test_a_result_may_be_stored_by_its_number(self):
        """In format 1, each misconception contains its results. In format 2, it contains numbers of results that are stored once."""
        shared = by_hand.softmax_entry()
        shared["results"] = [one for m in shared["misconceptions"] for one in m["outcomes"]]
        for m in shared["misconceptions"]:
            m["outcomes"] = [shared["results"].index(one) for one in m["outcomes"]]
        assert exercise_of(shared).misconceptions == exercise_of(by_hand.softmax_entry()).misconceptions

    @pytest.mark.parametrize(
        ("data", "words"),
        [
            ({"format": 3}, r"format 3, but this autograder reads format 2. Update autograder"),
            ([1, 2], "not an examples file"),
        ],
    )
    def test_something_else_is_not_guessed_at(self, data, words):
        """The message about a file from a newer release asks for an update. Other JSON files are rejected."""
        with pytest.raises(ExamplesError, match=words):
            parse_examples(data)

    @pytest.mark.parametrize("step", [1, 0, -1])
    def test_a_step_cannot_point_at_itself_or_ahead(self, step):
        """A file whose steps are out of order is refused when it is read, not during a check."""
        with pytest.raises(ExamplesError, match=r"damaged.*refers to step"):
            exercise_of(one_check(matches(step, 1.0)), "f")


class TestJudging:
    def test_the_right_function_gets_every_point(self):
        """The reference passes all visible checks."""
        verdict = verdict_on(by_hand.softmax)
        assert (verdict.status, verdict.score, verdict.max_score) == ("passed", 3, 3)
        assert statuses(verdict) == ["passed"] * 4
        assert all(check.visible and not check.message for check in verdict.checks)

    def test_a_failure_carries_reason_and_case(self):
        """Reason and case are stored separately, and the message has both. Dependent checks are not run."""
        verdict = verdict_on(by_hand.one_maximum)
        assert statuses(verdict) == ["passed", "passed", "failed", "not_tried"]
        assert (verdict.status, verdict.score) == ("partial", 1)
        check = verdict.checks[2]
        assert check.reason == "2 of the 4 entries are NaN (not a number)."
        assert check.example.splitlines()[0] == "x = np.array([[0.0, 1.0], [2000.0, 2001.0]])"
        assert check.message == f"{check.reason}\n{check.example}"

    def test_an_exception_is_explained_with_its_line(self):
        """A student's error is explained with its line, its meaning and the call that caused it."""

        def softmax(x, axis=-1):
            return x @ x

        verdict = verdict_on(softmax)
        check = verdict.checks[0]
        assert (verdict.status, check.status) == ("failed", "error")  # other checks find wrong results
        assert "softmax stopped with ValueError" in check.reason
        assert "It happened in the line `return x @ x`" in check.reason
        assert check.example.endswith("softmax(x)")

    def test_the_shape_comes_before_the_values(self):
        """A result None is reported as such, and a wrong shape is reported before wrong values."""
        forgot = verdict_on(lambda x, axis=-1: None).checks[0].reason
        assert forgot.startswith("softmax(x) returned None. Does it end in a `return`?")
        assert "shape (2,)" in verdict_on(lambda x, axis=-1: x.sum(axis=-1)).checks[0].reason

    def test_nan_equals_nan(self):
        """If the right result is NaN, NaN passes."""
        right = np.array([np.nan, 1.0])
        assert verdict_on(lambda x: right, one_check(call_step("f", 1.0), matches(0, right)), "f").status == "passed"

    def test_a_result_can_be_held_against_another_call(self):
        """An expected value may be the student's result of another call, and a result may be passed as an argument."""
        steps = [call_step("f", np.array([1.0, 2.0])), call_step("f", np.zeros(2))]
        steps[1]["call"]["args"] = [{"step": 0, "path": []}]
        steps.append({"assert": "matches", "actual": {"step": 1, "path": []}, "expected": {"step": 0, "path": []}})
        assert verdict_on(abs, one_check(*steps), "f").status == "passed"
        assert verdict_on(lambda x: x + 1, one_check(*steps), "f").status == "failed"

    def test_a_missing_part_of_a_pair_is_a_finding(self):
        """If a single value is returned instead of a pair, the message says so and shows the call."""
        steps = [call_step("f", 1.0), matches(0, 2.0, path=(1,))]
        steps[0]["call"] |= {"parts": 2, "unpacked": True}
        single, one_part, pair = (
            verdict_on(lambda x, v=v: v, one_check(*steps), "f") for v in (3.0, (3.0,), (3.0, 2.0))
        )
        assert single.message == "f(1.0) is a single number instead of a pair.\nf(1.0)"
        assert "f(1.0) has 1 part instead of 2." in one_part.message
        assert pair.status == "passed"

    def test_a_function_given_as_an_argument_is_made_from_its_source(self):
        """A function that is stored as source code is passed to the student's code as a function."""
        source = Source("def square(x):\n    return x * x", "square")
        entry = one_check(call_step("f", source, 3.0), matches(0, 9.0, "f(square, 3.0)", g=source))
        assert verdict_on(lambda g, x: g(x), entry, "f").status == "passed"
        assert "def square(x):" in verdict_on(lambda g, x: x, entry, "f").checks[0].example

    def test_a_probe_looks_where_the_value_lives(self):
        """A probe runs in the function's own process, so it can look at results that cannot be encoded."""
        step = call_step("f", 2.0)
        step["call"]["probe"] = "def probe(function, x):\n    return function(x).label"
        labelled = lambda x: SimpleNamespace(label=str(x))  # noqa: E731 - a student's function
        assert verdict_on(labelled, one_check(step, matches(0, "2.0")), "f").status == "passed"

    def test_a_changed_input_is_told_once_and_costs_no_visible_check(self):
        """A function that changes its input but returns right values passes its visible checks, and one message names the changed input."""

        def softmax(x, axis=-1):
            x -= x.max(axis=axis, keepdims=True)
            return by_hand.softmax(x, axis)

        verdict = verdict_on(softmax)
        assert statuses(verdict) == ["passed"] * 4 + ["failed"]
        assert (verdict.status, verdict.score) == ("partial", 3)
        assert "softmax changes its input `x`" in verdict.checks[-1].reason


class TestNothingToJudge:
    def test_the_blank_stub_is_not_attempted(self):
        """A stub that still raises NotImplementedError gets a friendly message and no failed check."""

        def softmax(x, axis=-1):
            raise NotImplementedError

        verdict = verdict_on(softmax)
        assert (verdict.status, verdict.misconception) == ("not_attempted", None)
        assert statuses(verdict) == ["not_tried"] * 4
        assert "not written yet" in verdict.message

    def test_another_stub_that_is_called_is_named(self):
        """If a function calls an unwritten function, the message names the unwritten function, and the caller is not treated as blank."""

        def weights_of(x):
            raise NotImplementedError

        def softmax(x, axis=-1):
            return weights_of(x)

        verdict = verdict_on(softmax)
        assert verdict.status == "error"
        words = "`softmax` calls `weights_of`, which is still an empty stub"
        assert words in verdict.checks[0].reason

    @pytest.mark.parametrize(
        ("names", "entry", "status", "words"),
        [
            ({}, SOFTMAX, "error", "There is no function called softmax: its cell is missing, its cell was not run"),
            (
                {"q1": None, "q2": None},
                QUIZ,
                "not_attempted",
                "You have not answered yet: assign a value to `q1` and `q2`",
            ),
            (
                {"q1": ..., "q2": None},
                QUIZ,
                "not_attempted",
                "You have not answered yet: assign a value to `q1` and `q2`",
            ),
            ({}, QUIZ, "not_attempted", "no variable `q1` or `q2` yet: run the cell"),
        ],
        ids=["no function", "no answer", "dots for an answer", "a quiz that was not run"],
    )
    def test_what_is_missing_is_told_with_what_to_do(self, names, entry, status, words):
        """One sentence names the missing function and possible reasons. A quiz without an answer counts as not begun."""
        verdict = verdict_in(names, entry, "quiz_ch9" if entry is QUIZ else "softmax")
        assert verdict.status == status
        assert words in verdict.message

    def test_each_missing_answer_is_its_own_finding(self):
        """If one answer is given and one is missing, the missing answer is named."""
        verdict = verdict_in({"q1": "b", "q2": None}, QUIZ, "quiz_ch9")
        assert statuses(verdict) == ["passed", "failed"]
        assert verdict.checks[1].reason == "q2 is still None: assign your answer to it."


class TestDiagnosis:
    @pytest.mark.parametrize("function", list(by_hand.MESSAGES), ids=lambda f: f.__name__)
    def test_each_misconception_is_named_as_itself(self, function):
        """A function with a known mistake gets the message of that misconception."""
        verdict = verdict_on(function)
        assert verdict.misconception == function.__name__
        assert verdict.message == by_hand.MESSAGES[function]

    @pytest.mark.parametrize(
        "function",
        [
            lambda x, axis=-1: x * 0,
            lambda x, axis=-1: by_hand.one_maximum(x, axis) + (x.shape == (3, 2)),
            lambda x, axis=-1: 1 / 0,
            lambda x, axis=-1: None,
        ],
        ids=["another mistake", "only alike on one input", "always an error", "always None"],
    )
    def test_what_is_not_known_is_not_named(self, function):
        """If no misconception explains the answers to all inputs, none is reported."""
        verdict = verdict_on(function)
        assert verdict.misconception is None
        assert verdict.message == next(c.message for c in verdict.checks if c.status in {"failed", "error"})

    def test_two_that_cannot_be_told_apart_are_not_named(self):
        """If two messages fit equally well, neither is chosen."""
        entry = by_hand.softmax_entry()
        twin = copy.deepcopy(entry["misconceptions"][0])
        entry["misconceptions"].append({**twin, "name": "twin", "message": "Another story."})
        assert verdict_on(by_hand.one_maximum, entry).misconception is None

    def test_a_skipped_outcome_neither_agrees_nor_disagrees(self):
        """A step that was not recorded is ignored, unless the misconception differs from the reference in that step."""
        entry = by_hand.softmax_entry()
        outcomes = entry["misconceptions"][0]["outcomes"]
        entry["misconceptions"][0]["differs"] = [2]
        outcomes[0] = {"skip": True}
        assert verdict_on(by_hand.one_maximum, entry).misconception == "one_maximum"
        outcomes[2] = {"skip": True}
        assert verdict_on(by_hand.one_maximum, entry).misconception is None

    def test_the_same_error_is_recognised_and_another_is_not(self):
        """Two errors are the same if their types and texts are equal, apart from numbers."""

        def fixed_axes(x):
            return x.transpose(0, 2, 1)

        def crashes_otherwise(x):
            if x.ndim < 3:
                raise ValueError("something else")
            return fixed_axes(x)

        deep, flat = np.ones((2, 3, 4)), np.ones((3, 4))
        steps = [call_step("f", deep), matches(0, np.swapaxes(deep, -1, -2)), call_step("f", flat), matches(2, flat.T)]
        wrong = misconception("fixed_axes", "You fixed them.", [outcome(fixed_axes, x) for x in (deep, flat)])
        entry = one_check(*steps, wrong=[wrong])
        assert verdict_on(fixed_axes, entry, "f").misconception == "fixed_axes"
        assert verdict_on(crashes_otherwise, entry, "f").misconception is None

    def test_a_change_of_inputs_is_named_only_by_a_mistake_that_changes_them(self):
        """A function that returns right values but changes its input matches only a misconception that changes its input too."""
        x = np.array([1.0, 3.0])

        def in_place(x):
            x /= x.sum()
            return x

        same = {"value": encode_value(x / 4)}
        steps = [call_step("f", x), matches(0, x / 4)]
        for changed, named in [([], None), (["0"], "m")]:
            wrong = misconception("m", "You wrote into x.", [{**same, "changed": changed}])
            wrong["differs"] = [0] if changed else []
            entry = one_check(*steps, wrong=[wrong])
            assert verdict_on(in_place, entry, "f").misconception == named


class TestOtherSessions:
    def test_an_endless_loop_ends_one_check_and_a_new_session_goes_on(self):
        """If a session is stopped, the check says so. Other exercises are judged in a new session."""

        def loops(x, axis=-1):
            while x.shape == FAR_APART.shape and x[1, 0] == 2000:
                pass
            return by_hand.softmax(x, axis)

        subject = FunctionSubject("notebook", {"softmax": loops, "mean_of": np.mean}, call_seconds=0.2)
        verdict, mean, _quiz = replay(parse_examples(chapter_data()).exercises, subject)
        assert statuses(verdict) == ["passed", "passed", "timeout", "not_tried"]
        assert "was stopped after" in verdict.checks[2].reason
        assert mean.status == "passed"

    def test_a_limit_on_memory_holds_in_a_notebook_too(self):
        """A call that needs more memory than its limit fails, in a notebook too."""
        steps = [call_step("f", 1000), holds("is_number", 0)]
        steps[0]["call"]["memory_mb"] = 1
        verdict = verdict_on(lambda n: float(np.ones((n, n)).sum()), one_check(*steps), "f")
        assert verdict.checks[0].reason.startswith("f takes more than the 1 MiB")
        assert verdict_on(lambda n: float(n * n), one_check(*steps), "f").status == "passed"


class TestFunctionSession:
    def test_arguments_are_copied_and_changes_noticed(self):
        """A call gets copies of its arguments, so the caller's array does not change. The function's change to its copy is reported."""

        def halve(x):
            x /= 2
            return x

        x = np.ones(2)
        answer = FunctionSession({"halve": halve}).call(Call("halve", (x,)))
        assert answer.changed == ("0",)
        assert answer.value.tolist() == [0.5, 0.5]
        assert x.tolist() == [1, 1]

    def test_what_ends_or_is_no_function_is_an_error_of_the_students(self):
        """exit() does not end the notebook. A missing name is a NameError, and calling a number is a TypeError."""
        session = FunctionSession({"softmax": 3, "leave": sys.exit})
        errors = {name: session.call(Call(name)).error.type for name in ("leave", "softmax", "other")}
        assert errors == {"leave": "SystemExit", "softmax": "TypeError", "other": "NameError"}
        assert session.value("other").error.type == "NameError"
        assert session.value("softmax") == Answer(3)

    def test_a_message_is_capped_and_cleaned(self):
        """An error's message is shortened and cleaned, and is empty if creating it raises an error."""

        class Rude(Exception):  # noqa: N818
            def __str__(self):
                raise RuntimeError

        def fails(error):
            raise error

        session = FunctionSession(
            {"huge": lambda: fails(ValueError("\x1b[31m" + "x" * 10_000)), "rude": lambda: fails(Rude())}
        )
        message = session.call(Call("huge")).error.message
        assert len(message) <= 500
        assert "\x1b" not in message
        assert session.call(Call("rude")).error.message == ""

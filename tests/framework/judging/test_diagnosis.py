"""Test that, if an exercise has probes, solutions are distinguished only by the results of these probes."""

import numpy as np

from autograder.judging.candidates import diagnosis_of
from autograder.judging.diagnosis import answer_signature, distinguishing_calls
from autograder.judging.functions import FunctionSession
from autograder.misconception import Misconception
from autograder.sandbox.protocol import Call

PROBE = "def probe(function, x):\n    return np.sign(function(x))\n"
CALLS = [Call("slope", (x,), probe=p) for x in (np.array([1.0, 2.0]), np.array([-3.0, 5.0])) for p in ("", PROBE)]


def steeper(x):
    """Return a different size in the same direction."""
    return 7 * x


def downhill(x):
    """Return the wrong direction."""
    return -x


DOWNHILL = Misconception("downhill", "slope", "It goes down.", downhill)


def asked(function, calls=CALLS):
    """Return each call with the answer of ``function``."""
    return list(zip(calls, FunctionSession({"slope": function}).batch(calls), strict=True))


def known(*wrong, calls=CALLS):
    """Return a diagnosis that recognizes the mistakes ``wrong`` by their answers to ``calls``."""
    return diagnosis_of("slope", {"slope": lambda x: x}, wrong or [DOWNHILL], calls)


def test_probes_tell_where_there_are_some():
    """Only calls through a probe count. If there are none, the ordinary calls count."""
    assert distinguishing_calls("slope", CALLS) == [c for c in CALLS if c.probe]
    plain = [c for c in CALLS if not c.probe]
    assert distinguishing_calls("slope", plain) == plain
    assert distinguishing_calls("other", CALLS) == []


def test_a_mistake_is_named_in_whatever_form_it_comes():
    """Two functions can make the same mistake even if they return different numbers."""
    found = known().explain(asked(lambda x: -100 * x))
    assert (found.name, found.message) == ("downhill", "It goes down.")
    assert known().explain(asked(steeper)) is None


def test_what_does_the_same_is_grouped_together():
    """Submissions that no misconception explains are grouped together if the probes return the same results."""
    assert answer_signature("slope", asked(downhill)) == answer_signature("slope", asked(lambda x: -2 * x))
    assert answer_signature("slope", asked(downhill)) != answer_signature("slope", asked(steeper))


def nothing_below_one(x):
    """Reject zero too, and not only negative numbers."""
    if x <= 0:
        raise ValueError("x is too small")
    return x


def test_an_error_raised_on_purpose_may_say_what_it_likes():
    """If a student's code uses `raise`, only the error's type counts, because the wording varies. Python's own messages count too."""
    calls = [Call("slope", (x,)) for x in (0, 1, -1)]
    wrong = Misconception("nothing_below_one", "slope", "Zero is allowed.", nothing_below_one)

    def own_words(x):
        if x < 1:
            raise ValueError("no!")
        return x

    def another_type(x):
        if x < 1:
            raise TypeError("x is too small")
        return x

    assert known(wrong, calls=calls).explain(asked(own_words, calls)).name == "nothing_below_one"
    assert known(wrong, calls=calls).explain(asked(another_type, calls)) is None
    assert answer_signature("slope", asked(own_words, calls)) == answer_signature(
        "slope", asked(nothing_below_one, calls)
    )
    assert known(wrong, calls=calls).explain(asked(lambda x: [x][{1: 0}.get(x, 1)], calls)) is None


def in_place(x):
    """Return the wrong direction, and also overwrite the caller's array."""
    x *= -1
    return x


def test_who_changes_the_inputs_besides_makes_the_same_mistake():
    """The known mistake explains the values, and a separate check reports the changed input."""
    calls = [call for call in CALLS if not call.probe]
    answers = asked(in_place, calls)
    assert answers[0][1].changed == ("0",)
    assert known(calls=calls).explain(answers).name == "downhill"
    exactly = Misconception("in_place", "slope", "It goes down, and writes there.", in_place)
    assert known(DOWNHILL, exactly, calls=calls).explain(answers).name == "in_place"


def test_two_mistakes_that_no_question_tells_apart_are_not_named():
    """If two messages fit equally well, neither is chosen. If both have the same text, that text is shown."""
    twin = Misconception("twin", "slope", "Another story.", downhill)
    same = Misconception("same", "slope", DOWNHILL.message, downhill)
    assert known(DOWNHILL, twin).explain(asked(downhill)) is None
    assert known(DOWNHILL, same).explain(asked(downhill)).name == "downhill"


def test_two_slips_in_two_entries_get_a_note_each():
    """If two mistakes affect two entries of a dictionary, each entry is matched separately, because no single mistake explains both."""

    def wrong_in(name, text, change):
        def function(x):
            right = {"sum": x.sum(), "top": x.max(), "low": x.min()}
            return {**right, name: change(x)}

        return Misconception(text, "table", text, function)

    mistakes = [wrong_in("sum", "A mean.", np.mean), wrong_in("top", "The last.", lambda x: x[-1] + 0.0)]
    calls = [Call("table", (np.array(x),)) for x in ([1.0, 5.0, 2.0], [4.0, 3.0], [9.0, 7.0, 8.0, 1.0])]
    right = lambda x: {"sum": x.sum(), "top": x.max(), "low": x.min()}  # noqa: E731
    session = FunctionSession({"table": lambda x: {"sum": x.mean(), "top": x[-1], "low": 0.5}})
    log = [(call, session.call(call)) for call in calls]
    found = diagnosis_of("table", {"table": right}, mistakes, calls).explain_entries(log)
    assert {key: candidate.name for key, candidate in found.items()} == {"sum": "A mean.", "top": "The last."}

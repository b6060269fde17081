"""What tells one solution from another where an exercise is looked at through probes: what they saw, nothing else."""

import numpy as np

from autograder.judging.candidates import diagnosis_of
from autograder.judging.diagnosis import answer_signature, distinguishing_calls
from autograder.judging.functions import FunctionSession
from autograder.misconception import Misconception
from autograder.sandbox.protocol import Call

PROBE = "def probe(function, x):\n    return np.sign(function(x))\n"
CALLS = [Call("slope", (x,), probe=p) for x in (np.array([1.0, 2.0]), np.array([-3.0, 5.0])) for p in ("", PROBE)]


def steeper(x):
    """Another size, the same direction."""
    return 7 * x


def downhill(x):
    """The wrong direction."""
    return -x


DOWNHILL = Misconception("downhill", "slope", "It goes down.", downhill)


def asked(function, calls=CALLS):
    """What a function answers to the calls."""
    return list(zip(calls, FunctionSession({"slope": function}).batch(calls), strict=True))


def known(*wrong, calls=CALLS):
    """What names these mistakes, or the one, by the answers to the calls."""
    return diagnosis_of("slope", {"slope": lambda x: x}, wrong or [DOWNHILL], calls)


def test_probes_tell_where_there_are_some():
    """Calls through a probe are what counts; without any, the plain calls are."""
    assert distinguishing_calls("slope", CALLS) == [c for c in CALLS if c.probe]
    plain = [c for c in CALLS if not c.probe]
    assert distinguishing_calls("slope", plain) == plain
    assert distinguishing_calls("other", CALLS) == []


def test_a_mistake_is_named_in_whatever_form_it_comes():
    """Two functions that return different numbers and do the same wrong thing are the same mistake."""
    found = known().explain(asked(lambda x: -100 * x))
    assert (found.name, found.message) == ("downhill", "It goes down.")
    assert known().explain(asked(steeper)) is None


def test_what_does_the_same_is_grouped_together():
    """Submissions that no mistake explains are alike when the probes saw the same."""
    assert answer_signature("slope", asked(downhill)) == answer_signature("slope", asked(lambda x: -2 * x))
    assert answer_signature("slope", asked(downhill)) != answer_signature("slope", asked(steeper))


def line(a, b, c):
    """The right one."""
    return a * b + c


def other_slope(a, b, c):
    """A mistake."""
    return -a * b + c


def steep_side_lost(a, b, c):
    """A mistake that hides the one above where b is positive."""
    return a * -abs(b) + c


def other_intercept(a, b, c):
    """A mistake that hides nothing."""
    return a * b - c


def named(function, *wrong):
    """What a student with this function is told, where these mistakes are known."""
    plan = [Call("line", values) for values in ((2.0, 3.0, 1.0), (2.0, -3.0, 1.0), (-1.0, 4.0, 2.0))]
    mistakes = [Misconception(w.__name__, "line", w.__name__, w) for w in wrong]
    session = FunctionSession({"line": function})
    found = diagnosis_of("line", {"line": line}, mistakes, plan).explain([(c, session.call(c)) for c in plan])
    return found.name if found else ""


def test_two_mistakes_at_once_are_told_where_each_of_them_shows():
    """Both sentences are true then; where one hides the other, its sentence would tell of what nobody can see."""
    assert named(lambda a, b, c: -a * b - c, other_slope, other_intercept) == "other_slope+other_intercept"
    assert named(lambda a, b, c: a * abs(b) + c, other_slope, steep_side_lost) == ""


def in_place(x):
    """A mistake, made in the caller's array."""
    x *= -1
    return x


def test_who_changes_the_inputs_besides_makes_the_same_mistake():
    """The known mistake explains the values; that the input is changed is another check's to say."""
    calls = [call for call in CALLS if not call.probe]
    answers = asked(in_place, calls)
    assert answers[0][1].changed == ("0",)
    assert known(calls=calls).explain(answers).name == "downhill"
    exactly = Misconception("in_place", "slope", "It goes down, and writes there.", in_place)
    assert known(DOWNHILL, exactly, calls=calls).explain(answers).name == "in_place"


def test_two_mistakes_that_no_question_tells_apart_are_not_named():
    """Where two messages fit equally well, neither is guessed; where they share their words, these are true."""
    twin = Misconception("twin", "slope", "Another story.", downhill)
    same = Misconception("same", "slope", DOWNHILL.message, downhill)
    assert known(DOWNHILL, twin).explain(asked(downhill)) is None
    assert known(DOWNHILL, same).explain(asked(downhill)).name == "downhill"

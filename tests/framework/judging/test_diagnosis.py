"""Only what the probes returned distinguishes the solutions of an exercise with probes."""

import numpy as np

from autograder.judging.candidates import diagnosis_of, misconception_pairs
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
    """Return a function's answers to the calls."""
    return list(zip(calls, FunctionSession({"slope": function}).batch(calls), strict=True))


def known(*wrong, calls=CALLS):
    """Return the diagnosis of these mistakes by their answers to the calls."""
    return diagnosis_of("slope", {"slope": lambda x: x}, wrong or [DOWNHILL], calls)


def test_probes_tell_where_there_are_some():
    """Calls through a probe count, or without any, the plain calls."""
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


def nothing_below_one(x):
    """This one rejects zero too."""
    if x <= 0:
        raise ValueError("x is too small")
    return x


def test_an_error_raised_on_purpose_may_say_what_it_likes():
    """For a `raise`, only the type identifies the mistake, because students word it differently. Python's own messages count."""
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
    """Return the message for a student with this function if these mistakes are known."""
    plan = [Call("line", values) for values in ((2.0, 3.0, 1.0), (2.0, -3.0, 1.0), (-1.0, 4.0, 2.0))]
    mistakes = [Misconception(w.__name__, "line", w.__name__, w) for w in wrong]
    session = FunctionSession({"line": function})
    found = diagnosis_of("line", {"line": line}, mistakes, plan).explain([(c, session.call(c)) for c in plan])
    return found.name if found else ""


def test_two_mistakes_at_once_are_told_where_each_of_them_shows():
    """Both messages must be true. If one mistake hides the other, only the visible one is named."""
    assert named(lambda a, b, c: -a * b - c, other_slope, other_intercept) == "other_slope+other_intercept"
    assert named(lambda a, b, c: a * abs(b) + c, other_slope, steep_side_lost) == ""


def in_place(x):
    """A mistake, made in the caller's array."""
    x *= -1
    return x


def test_who_changes_the_inputs_besides_makes_the_same_mistake():
    """The known mistake explains the values. Another check reports the changed input."""
    calls = [call for call in CALLS if not call.probe]
    answers = asked(in_place, calls)
    assert answers[0][1].changed == ("0",)
    assert known(calls=calls).explain(answers).name == "downhill"
    exactly = Misconception("in_place", "slope", "It goes down, and writes there.", in_place)
    assert known(DOWNHILL, exactly, calls=calls).explain(answers).name == "in_place"


def test_two_mistakes_that_no_question_tells_apart_are_not_named():
    """If two messages fit equally well, neither is chosen. If their texts are the same, it is shown."""
    twin = Misconception("twin", "slope", "Another story.", downhill)
    same = Misconception("same", "slope", DOWNHILL.message, downhill)
    assert known(DOWNHILL, twin).explain(asked(downhill)) is None
    assert known(DOWNHILL, same).explain(asked(downhill)).name == "downhill"


def told_apart(function, *wrong):
    """Messages for each check, one with large and one with small numbers, and for each entry."""
    checks = [[Call("sizes", (x * scale,)) for x in (np.arange(1.0, 5), np.array([2.0, -7]))] for scale in (1, 1000)]
    mistakes = [Misconception(w.__name__, "sizes", (w.__doc__ or ""), w) for w in wrong]
    session = FunctionSession({"sizes": function})
    known = diagnosis_of("sizes", {"sizes": sizes}, mistakes, [call for check in checks for call in check])
    log = [(call, session.call(call)) for check in checks for call in check]
    assert known.explain(log) is None
    parts = [known.explain_part(log, check) for check in checks]
    return [part.name if part else "" for part in parts], {k: c.name for k, c in known.explain_entries(log).items()}


def sizes(x):
    """The right one."""
    return x / 3.0


def small_halved(x):
    """Small numbers are halved."""
    return np.where(abs(x) < 100, x / 2.0, x / 3.0)


def large_cut(x):
    """Large numbers are cut."""
    return np.minimum(x / 3.0, 500.0)


def large_turned(x):
    """Small numbers are right, and large ones change their sign."""
    return np.where(abs(x) < 100, x / 3.0, -x / 3.0)


def all_doubled(x):
    """All are doubled."""
    return x / 1.5


def test_two_slips_that_different_checks_see_get_a_note_each():
    """No mistake explains all answers. Each explains those of one check, and is not used where the student is right."""

    def both(x):
        return np.where(abs(x) < 100, x / 2.0, -x)

    def large_doubled(x):
        return np.where(abs(x) < 100, x / 3.0, x / 1.5)

    assert told_apart(both, small_halved, large_cut)[0] == ["small_halved", ""]
    # The mistake would show with small numbers, where this student is right. A message with praise may be wrong here.
    assert told_apart(large_doubled, all_doubled)[0] == ["", ""]
    slip = lambda x: np.where(abs(x) < 100, -x, -x / 3.0)  # noqa: E731 - a student's function
    assert told_apart(slip, large_turned)[0] == ["", ""]


def test_two_slips_in_two_entries_get_a_note_each():
    """An answer by name is matched name by name: with both slips in it, the whole is no mistake that anybody knows."""

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


def shifted(x, axis):
    """The right one."""
    return (x - x.max(axis=axis)).sum(axis=axis)


def not_shifted(x, axis):
    """A mistake that takes away what the other one edits."""
    return x.sum(axis=axis)


def first_axis(x, axis):  # noqa: ARG001
    """A mistake in two places."""
    return (x - x.max(axis=0)).sum(axis=0)


def tripled(x, axis):
    """A mistake directly after another one."""
    return (x - x.max(axis=axis)).sum(axis=axis) * 3


def test_edits_that_touch_are_made_together():
    """One mistake may remove what the other edits, and an insertion next to a rewritten place stays there."""

    def name_of(function, *wrong):
        plan = [Call("shifted", (np.array(x), a)) for x in ([[1.0, 2.0], [5.0, 0.5]], [[0.0, 1.0]]) for a in (0, 1)]
        mistakes = [Misconception(w.__name__, "shifted", w.__name__, w) for w in wrong]
        session = FunctionSession({"shifted": function})
        found = diagnosis_of("shifted", {"shifted": shifted}, mistakes, plan).explain(
            [(c, session.call(c)) for c in plan]
        )
        return (found.name, found.message) if found else ("", "")

    name, message = name_of(lambda x, axis: x.sum(axis=0), not_shifted, first_axis)  # noqa: ARG005
    assert name == "not_shifted+first_axis"
    assert message.startswith("Your code has two mistakes. Each message describes one of them on its own")
    assert name_of(lambda x, axis: x.sum(axis=axis) * 3, not_shifted, tripled)[0] == "not_shifted+tripled"


def test_a_mistake_that_loses_a_part_is_no_longer_that_mistake():
    """A shift that the other takes away leaves something that neither of the two does."""

    def right(x):
        return np.exp(x - x.max()) + 0

    def turned(x):
        return np.exp(x.max() - x) + 0

    def no_shift(x):
        return np.exp(x) + 0

    wrong = [Misconception(w.__name__, "right", w.__name__, w) for w in (turned, no_shift)]
    assert list(misconception_pairs(right, wrong)) == []

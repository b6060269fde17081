"""Tests of class findings: lines with the same mistake, and checks that strong students fail."""

from __future__ import annotations

from autograder.base.verdict import CheckResult, ExerciseVerdict, LocatedMistake, Verdict
from autograder.extras.report.class_marks import ChapterMarks, StudentMark
from autograder.extras.report.findings import failed_by_strong, known_mistakes, marked_lines
from tests.support.mini import CHAPTER, document, hand_in


def marks_of(outcomes, notebooks=None):
    """Return the marks of a class with ``outcomes``, the exercise verdicts by student."""
    marks = {}
    for student, exercises in outcomes.items():
        verdict = Verdict.graded(
            str((notebooks or {}).get(student, "")), student, CHAPTER, "bubblewrap", tuple(exercises)
        )
        scores = {e.name: e.score for e in exercises}
        marks[student] = StudentMark(student, "graded", verdict.score, scores, verdict=verdict)
    worth = {e.name: e.max_score for exercises in outcomes.values() for e in exercises}
    return ChapterMarks(CHAPTER, worth, marks, {}, listed=False)


def test_lines_that_differ_in_numbers_only_stand_together(course):
    """Located lines are read from the submissions, and grouped if they differ only in numbers. A missing file is skipped."""
    kinds = {"ada": ("-", 1), "ben": ("-", 2), "cleo": ("+", 3), "dora": ("-", 4)}
    notebooks = {
        who: hand_in(
            course, who, document(course, to_kelvin=f"def to_kelvin(celsius):\n    return celsius {sign} {n}.5")
        )
        for who, (sign, n) in kinds.items()
    }
    notebooks["dora"].unlink()
    place = LocatedMistake("to_kelvin", (2,), "an operator")
    wrong = ExerciseVerdict("to_kelvin", 0.0, 2.0, "failed", located=place)
    found = marked_lines(marks_of({who: [wrong] for who in kinds}, notebooks))
    assert [(one.line, one.kind, one.students) for one in found] == [
        ("return celsius - 1.5", "an operator", ("ada", "ben")),
        ("return celsius + 3.5", "an operator", ("cleo",)),
    ]


def exercise(name, passed):
    """Return an exercise with a one-point check for each digit of ``passed``, where 1 means passed."""
    checks = tuple(
        CheckResult(f"c{i}", f"check {i}", "passed" if ok == "1" else "failed", visible=i == 0, points=1.0)
        for i, ok in enumerate(passed)
    )
    return ExerciseVerdict(name, float(passed.count("1")), float(len(passed)), "partial", checks=checks)


def test_a_check_that_good_students_fail_is_named():
    """A check is listed if strong students fail it, but not if only weak students do."""
    strong = [exercise("a", "10"), exercise("b", "111")]
    weak = [exercise("a", "01"), exercise("b", "000")]
    [found] = failed_by_strong(marks_of({**{f"s{i}": strong for i in range(6)}, **{f"w{i}": weak for i in range(6)}}))
    assert (found.exercise, found.title, found.visible, found.odd) == ("a", "check 1", False, True)
    assert (found.among_good, found.among_all) == (1.0, 0.5)


def test_a_few_students_are_too_few_to_be_called_good():
    """Nine marks are too few for findings about checks."""
    assert failed_by_strong(marks_of({f"s{i}": [exercise("a", "0")] for i in range(9)})) == []


def test_a_misconception_is_told_in_the_words_that_most_read():
    """The most frequent misconceptions come first, each with the message that most students got."""

    def wrong(name, message):
        return [ExerciseVerdict("a", 0.0, 1.0, "failed", name, message)]

    class_ = {
        "x": wrong("rare", "R."),
        "y": wrong("often", "O.\nA note."),
        "z": wrong("often", "O."),
        "w": wrong("often", "O."),
    }
    found = known_mistakes(marks_of(class_))
    assert [(one.name, one.message, one.students) for one in found] == [
        ("often", "O.", ("y", "z", "w")),
        ("rare", "R.", ("x",)),
    ]

"""Tests of the audit, which finds and reports the problems of a bad check file."""

import gc
import json
import sys
from contextlib import suppress

import numpy as np
import pytest

from autograder.authoring.audit import audit, audit_page
from autograder.authoring.audit.classroom import undiagnosed_groups
from autograder.authoring.audit.localization_benchmark import FaultySolution, LocalizationStats, counted
from autograder.authoring.audit.mutants import mutants_of
from autograder.classroom.run import handed_in
from autograder.grading.batch import grade_notebooks
from autograder.mistakes.fault_localization.search import Located
from tests.support.commands import python
from tests.support.mini import CHAPTER, WRONG_SIGN, change, copy_course, document, hand_in


def audited(course, name):
    """Return the audit of the first chapter and of its exercise ``name``."""
    [report] = audit(course, ["ch1_units"])
    return report, next(e for e in report.exercises if e.name == name)


def test_an_author_hears_of_a_mistake_that_cannot_be_named(course, monkeypatch):
    """An error while a mistake is named ends the audit. In grading, such an error costs no marks, so nobody would notice it."""

    def fails(*_args):
        raise OverflowError("int too large to convert to float")

    monkeypatch.setattr("autograder.judging.scoring.answer_signature", fails)
    monkeypatch.setattr("autograder.judging.diagnosis.Diagnosis.explain", fails)
    with pytest.raises(OverflowError):
        audit(course, ["ch1_units"])


def test_sound_checks_meet_the_targets_on_their_exercises(course):
    """Every misconception is caught and named, every alternative is accepted, and every mutant is killed."""
    report, found = audited(course, "mean_kelvin")
    assert found.problems() == []
    assert found.mutants > 0
    assert found.survivors == ()
    assert report.exercises[0].stub_earns_nothing


def test_checks_that_ask_one_question_only_are_found_out(course):
    """If every check uses visible inputs, hard-coded answers earn all the points."""
    assert audited(course, "to_kelvin")[1].hardcoded == 0.25
    change(course.checks("ch1_units"), "x = hidden_input_marker_6620", "x = np.array([0.0])")
    report, found = audited(course, "to_kelvin")
    assert found.hardcoded == 1.0
    assert any("always returns one visible result earns 100% of the points" in problem for problem in report.problems)


def test_a_check_that_cannot_fail_is_found_out(course):
    """Comparing a value with itself lets every misconception through."""
    compares = "assert_matches(student.to_kelvin(x), reference.to_kelvin(x), call"
    change(course.checks("ch1_units"), compares, compares.replace("student", "reference"))
    report, found = audited(course, "to_kelvin")
    assert "wrong_sign" in found.uncaught
    assert any("keeps full marks" in problem for problem in report.problems)
    assert found.checks_without_kills
    assert not report.ok


def test_a_check_that_asks_too_much_is_found_out(course):
    """A check that judges the dtype rejects a right alternative."""
    course.alternatives("ch1_units")
    with (course.root / "solutions" / "alternatives" / "ch1_units.py").open("a") as file:
        file.write('\n\n@alternatives_of("to_kelvin")\ndef in_single_precision(celsius):\n    """float32"""\n')
        file.write("    import numpy\n    return (celsius + 273.15).astype(numpy.float32)\n")
    asks = "        assert student.to_kelvin(x).dtype == x.dtype, 'float64 is asked for'\n"
    drawn = "        x = hidden_input_marker_6620\n"
    change(course.checks("ch1_units"), drawn, drawn + asks)
    sys.modules.pop("solutions.alternatives.ch1_units", None)
    report, found = audited(course, "to_kelvin")
    assert "in_single_precision" in found.rejected
    assert any("in_single_precision loses marks: float64 is asked for" in problem for problem in report.problems)


def test_a_misconception_told_as_another_is_found_out(course):
    """If no input distinguishes two misconceptions, neither is named, and both are reported."""
    with (course.root / "solutions" / "misconceptions" / "ch1_units.py").open("a") as file:
        file.write('\n\n@misconceptions_of("to_kelvin")\ndef same_in_green(celsius):\n')
        file.write('    """Another story."""\n    return celsius - 273.15\n')
    sys.modules.pop("solutions.misconceptions.ch1_units", None)
    _, found = audited(course, "to_kelvin")
    assert found.misdiagnosed == {"wrong_sign": "", "same_in_green": ""}


UNSEEN = "no visible check detects the misconception mean_of_everything: add a visible input that shows it"
NEEDLESS = "hidden_only has a reason for {}, but a visible check detects it, or no misconception has that name. Remove the reason."
SHARE = "the visible checks detect 66.7% of the misconceptions. The target is 97%. Only hidden checks detect: mean_kelvin.mean_of_everything."


def test_a_mistake_that_hears_well_done_until_it_is_graded_is_found_out(course):
    """A misconception that only hidden checks detect is listed with the author's reason, if any. An unneeded reason is reported too."""
    report, found = audited(course, "mean_kelvin")
    assert (found.missed_by_visible, report.misconceptions_visible, report.ok) == ({}, 1.0, True)
    checks = course.checks("ch1_units")
    change(checks, 'visible=True, after="test_one_station"', 'after="test_one_station"')
    report, found = audited(course, "mean_kelvin")
    assert found.missed_by_visible == {"mean_of_everything": ""}
    assert [UNSEEN in problem for problem in found.problems()] == [True]
    assert SHARE in report.problems[-1]
    assert "1/2" in str(report)
    assert "hidden only: mean_kelvin.mean_of_everything: no reason given" in str(report)
    assert report.to_json()["misconceptions_visible"] == 0.6667
    reasons = {"mean_of_everything": "many <stations>", "stays_in_celsius": "?", "nobody": "?"}
    change(checks, 'depends_on=("to_kelvin",)', f'depends_on=("to_kelvin",), hidden_only={reasons}')
    report, found = audited(course, "mean_kelvin")
    assert found.missed_by_visible == {"mean_of_everything": "many <stations>"}
    needless = [f"mean_kelvin: {NEEDLESS.format(name)}" for name in ("stays_in_celsius", "nobody")]
    assert [*needless, f"ch1_units: {SHARE}"] == report.problems
    assert "mean_of_everything: many &lt;stations&gt;" in audit_page([report], "Units")


def test_the_page_and_the_table_say_what_was_found(course):
    """The page and the table both describe the missed targets."""
    change(course.checks("ch1_units"), "student.to_kelvin(x), reference", "reference.to_kelvin(x), reference")
    [report] = audit(course, ["ch1_units"])
    assert "falls short" in str(report)
    page = audit_page([report], "Units <&>")
    assert "Units &lt;&amp;&gt;" in page
    assert "wrong_sign keeps full marks" in page


def test_the_command_prints_json_and_nothing_else(course):
    """``autograder audit --json`` prints only JSON, and its exit status says whether the targets are met."""
    done = python("-m", "autograder", "audit", "ch1_units", "--json", cwd=course.root)
    [report] = json.loads(done.stdout)
    assert report["chapter"] == "ch1_units"
    assert {e["name"] for e in report["exercises"]} == {"to_kelvin", "mean_kelvin", "quiz_ch1_units"}
    assert {"blank_ok", "misnamed", "unseen", "needless", "idle", "by_heart"} <= report["exercises"][0].keys()
    assert done.returncode == (0 if report["ok"] else 1)


def sample(x, axis=-1):
    """Return the shares of ``x`` along ``axis``, minus 1."""
    total = x.sum(axis=axis, keepdims=True)
    return x / total - 1


def test_mutants_differ_from_the_original_by_one_change_and_run():
    """Mutants change operators, axes and reductions and drop keywords and calls. A second run gives the same labels."""
    mutants = mutants_of(sample, "sample")
    labels = " ".join(m.label for m in mutants)
    for change_made in ("x / total", "keepdims", ".mean(", "axis=0", "x.sum"):
        assert change_made in labels, change_made
    assert len({m.label for m in mutants}) == len(mutants)
    assert [m.label for m in mutants_of(sample, "sample")] == [m.label for m in mutants]
    x = np.array([[1.0, 2.0], [3.0, 5.0]])

    def same(mutant):
        with suppress(Exception):  # a mutant may well crash
            answer = mutant.function(x)
            return np.shape(answer) == (2, 2) and np.allclose(answer, sample(x))

    assert sum(map(bool, map(same, mutants))) <= 2


def column(x):
    """Return something that becomes nonsense if the call of ``max`` is dropped."""
    return np.max([x, x], axis=0)[..., None]


def test_nonsense_among_the_mutants_is_made_in_silence(recwarn):
    """Python's warnings about a mutant are hidden, because a mutant is meant to be wrong."""
    gc.collect()  # objects of earlier tests may warn that a file or process is still open
    recwarn.clear()
    assert any(m.label.endswith("→ `[x, x]`") for m in mutants_of(column, "column"))
    assert not recwarn.list


def test_a_class_shows_the_author_what_no_misconception_explains(course):
    """Two students with the same unknown mistake form one group, which shows their code. Known mistakes are not listed."""
    ada = "def to_kelvin(celsius):\n    return celsius + 300.0"
    bo = "def to_kelvin(c):\n    # another hand, the same mistake\n    return 300.0 + c"
    for student, code in (("ada", ada), ("bo", bo), ("cy", WRONG_SIGN)):
        hand_in(course, student, document(course, to_kelvin=code))
    told = python("-m", "autograder", "audit", "--from-class", "ch1_units", cwd=course.root, status=0).stdout
    assert "to_kelvin: 2 students (ada, bo)" in told
    assert "return celsius + 300.0" in told
    assert "cy" not in told


def test_a_students_code_is_printed_without_escapes(tmp_path):
    """A terminal would execute the escape sequences."""
    course = copy_course(tmp_path / "mini")
    code = "def to_kelvin(celsius):\n    # \x1b]0;owned\x07 \u202e\n    return celsius + 300.0"
    hand_in(course, "ada", document(course, to_kelvin=code))
    [group] = undiagnosed_groups(course, grade_notebooks(course, handed_in(course, CHAPTER)))
    assert "return celsius + 300.0" in str(group)
    assert not {"\x1b", "\x07", "\u202e"} & set(str(group))


def test_mistakes_of_one_line_and_kind_are_one_group(tmp_path):
    """Mistakes that differ only in a number form one group, because the line and the kind of mistake are the same."""
    course = copy_course(tmp_path / "mini", config="c.Course.locate_seconds = 30\n")
    codes = {"ada": "return celsius + 300.0", "bo": "return celsius + 27.315", "cy": "return celsius * 273.15"}
    for student, line in codes.items():
        hand_in(course, student, document(course, to_kelvin=f"def to_kelvin(celsius):\n    {line}"))
    first, second = undiagnosed_groups(course, grade_notebooks(course, handed_in(course, CHAPTER)))
    assert first.students == ("ada", "bo")
    assert first.place == "line 2, number: return celsius + 300.0"
    assert "  line 2, number: return celsius + 300.0\n" in str(first)
    assert second.place == "line 2, operator: return celsius * 273.15"


def test_the_share_of_mistakes_whose_line_is_found_is_told_when_asked(course):
    """The audit reports how many mutants and unnamed misconceptions it locates, per exercise and in total, as text, JSON and HTML."""
    [report] = audit(course, ["ch1_units"], mutants=False, draws=1, locate=True)
    places = report.places
    assert places.mutants_located == places.correct == 11
    assert (places.mutants, places.misconceptions, places.misconceptions_located) == (12, 3, 3)
    assert "11 of 12 mutants, 3 of 3 misconceptions without their names: 93.3% together" in str(report)
    assert report.to_json()["places"]["true"] == 1.0
    assert report.to_json()["exercises"][0]["places"]["missed"] == ("to_kelvin: `celsius + 273.15` → `celsius`",)
    assert "The line of a mistake was found in 11 of 12 mutants" in audit_page([report], "Mini")
    assert "places" not in json.dumps(audit(course, ["ch1_units"], mutants=False, draws=1)[0].to_json())


def test_a_line_that_is_not_the_one_is_counted_as_untrue():
    """A mutant counts as located incorrectly if its changed line is not among the reported lines."""
    mutant = FaultySolution("mutant", "f: one", "", changed=(2,))
    found = [counted(mutant, Located(places, "axis", 1)) for places in ((("f", 2),), (("f", 3),))]
    together = LocalizationStats.total([*found, counted(mutant, None)])
    assert (together.mutants, together.mutants_located, together.correct) == (3, 2, 1)
    assert (together.incorrect, together.missed, together.true) == (("f: one",), ("f: one",), 0.5)


COUNTS = '''
def to_kelvin(text):
    """How often each word comes, in small letters."""
    counts = {}
    for word in text.lower().split():
        counts[word] = counts.get(word, 0) + 1
    return dict(counts)
'''
COUNTS_CHECKS = '''
from autograder.checking import check, exercise

@exercise("to_kelvin", points=2)
class TestToKelvin:
    """A hint."""

    @check(points=1, visible=True)
    def test_two(self, agrees):
        """two words"""
        agrees.to_kelvin("to be")

    @check(points=1)
    def test_three(self, agrees):
        """three words"""
        agrees.to_kelvin("to be to")
'''


def test_what_no_check_asks_is_asked_of_survivors_too(tmp_path):
    """If no check draws inputs, a surviving mutant is equivalent only if it is also right for similar calls."""
    files = {"solutions/ch1_units.py": COUNTS, "tests/chapters/test_ch1_units.py": COUNTS_CHECKS}
    files |= {"solutions/misconceptions/ch1_units.py": "", "solutions/alternatives/ch1_units.py": ""}
    found = audited(copy_course(tmp_path / "mini", files=files), "to_kelvin")[1]
    assert any("lower" in label for label in found.survivors)
    assert any("dict(counts)" in label for label in found.equivalent)

"""The audit itself: a bad check file is found out, and what is found is told."""

import json
import subprocess
import sys

import numpy as np
import pytest

from autograder.audit import audit, audit_page
from autograder.audit.mutants import mutants_of
from autograder.notebook import splice


def audited(course, name):
    """The audit of one exercise."""
    [report] = audit(course, ["ch1_units"])
    return report, next(e for e in report.exercises if e.name == name)


def change(path, old, new):
    """Edit one place of a file."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_an_author_hears_of_a_mistake_that_cannot_be_named(course, monkeypatch):
    """In a class such a failure costs nobody a mark, and so would never be heard of."""

    def fails(*_args):
        raise OverflowError("int too large to convert to float")

    monkeypatch.setattr("autograder.judging.scoring.answer_signature", fails)
    monkeypatch.setattr("autograder.judging.diagnosis.Diagnosis.explain", fails)
    with pytest.raises(OverflowError):
        audit(course, ["ch1_units"])


def test_sound_checks_meet_the_targets_on_their_exercises(course):
    """Every misconception is caught and named, every alternative accepted, every mutant killed."""
    report, found = audited(course, "mean_kelvin")
    assert found.problems() == []
    assert found.mutants > 0
    assert found.survivors == ()
    assert report.exercises[0].blank_ok


def test_checks_that_ask_one_question_only_are_found_out(course):
    """Where every check asks what everybody sees, one answer given to everything earns all the points."""
    assert audited(course, "to_kelvin")[1].by_heart == 0.25
    change(course.checks("ch1_units"), "x = hidden_input_marker_6620", "x = np.array([0.0])")
    report, found = audited(course, "to_kelvin")
    assert found.by_heart == 1.0
    assert any("given to every question earns 100% of the points" in problem for problem in report.problems)


def test_a_check_that_cannot_fail_is_found_out(course):
    """Comparing a value with itself lets every misconception through."""
    change(
        course.checks("ch1_units"),
        "assert_matches(student.to_kelvin(x), reference.to_kelvin(x), call",
        "assert_matches(reference.to_kelvin(x), reference.to_kelvin(x), call",
    )
    report, found = audited(course, "to_kelvin")
    assert "wrong_sign" in found.uncaught
    assert any("keeps full marks" in problem for problem in report.problems)
    assert found.idle
    assert not report.ok


def test_a_check_that_asks_too_much_is_found_out(course):
    """A check that judges the dtype rejects a right alternative."""
    course.alternatives("ch1_units")
    path = course.root / "solutions" / "alternatives" / "ch1_units.py"
    path.write_text(
        path.read_text() + '\n\n@alternatives_of("to_kelvin")\ndef in_single_precision(celsius):\n    """float32"""\n'
        "    import numpy\n    return (celsius + 273.15).astype(numpy.float32)\n"
    )
    change(
        course.checks("ch1_units"),
        "        x = hidden_input_marker_6620\n",
        "        x = hidden_input_marker_6620\n        assert student.to_kelvin(x).dtype == x.dtype, 'float64 is asked for'\n",
    )
    sys.modules.pop("solutions.alternatives.ch1_units", None)
    report, found = audited(course, "to_kelvin")
    assert "in_single_precision" in found.rejected
    assert any("in_single_precision loses marks: float64 is asked for" in problem for problem in report.problems)


def test_a_misconception_told_as_another_is_found_out(course):
    """Two misconceptions that no input tells apart: neither is named, and both are reported."""
    path = course.root / "solutions" / "misconceptions" / "ch1_units.py"
    path.write_text(
        path.read_text()
        + '\n\n@misconceptions_of("to_kelvin")\ndef same_in_green(celsius):\n    """Another story."""\n    return celsius - 273.15\n'
    )
    sys.modules.pop("solutions.misconceptions.ch1_units", None)
    _, found = audited(course, "to_kelvin")
    assert found.misnamed == {"wrong_sign": "", "same_in_green": ""}


def test_the_page_and_the_table_say_what_was_found(course):
    """What falls short is in both, in words."""
    change(course.checks("ch1_units"), "student.to_kelvin(x), reference", "reference.to_kelvin(x), reference")
    [report] = audit(course, ["ch1_units"])
    assert "falls short" in str(report)
    page = audit_page([report], "Units <&>")
    assert "Units &lt;&amp;&gt;" in page
    assert "wrong_sign keeps full marks" in page


def test_the_command_prints_json_and_nothing_else(course):
    """``autograder audit --json`` is for programs; its exit status says whether the targets are met."""
    done = subprocess.run(
        [sys.executable, "-m", "autograder", "audit", "ch1_units", "--json"],
        cwd=course.root,
        capture_output=True,
        text=True,
        check=False,
    )
    [report] = json.loads(done.stdout)
    assert report["chapter"] == "ch1_units"
    assert {e["name"] for e in report["exercises"]} == {"to_kelvin", "mean_kelvin", "quiz_ch1_units"}
    assert done.returncode == (0 if report["ok"] else 1)


def sample(x, axis=-1):
    """Something to mutate."""
    total = x.sum(axis=axis, keepdims=True)
    return x / total - 1


def test_mutants_differ_from_the_original_by_one_change_and_run():
    """Operators, axes, reductions, dropped keywords and dropped calls are all among them."""
    mutants = mutants_of(sample, "sample")
    labels = " ".join(m.label for m in mutants)
    for change_made in ("x / total", "keepdims", ".mean(", "axis=0", "x.sum"):
        assert change_made in labels, change_made
    assert len({m.label for m in mutants}) == len(mutants)
    x = np.array([[1.0, 2.0], [3.0, 5.0]])
    different = 0
    for mutant in mutants:
        try:
            answer = mutant.function(x)
        except Exception:  # noqa: BLE001 - a mutant may well crash
            different += 1
            continue
        different += np.shape(answer) != (2, 2) or not np.allclose(answer, sample(x))
    assert different >= len(mutants) - 2


def test_mutants_are_the_same_every_time():
    """An author can refer to a mutant by its label."""
    assert [m.label for m in mutants_of(sample, "sample")] == [m.label for m in mutants_of(sample, "sample")]


def column(x):
    """Something that becomes nonsense without its call."""
    return np.max([x, x], axis=0)[..., None]


def test_nonsense_among_the_mutants_is_made_in_silence(recwarn):
    """What Python itself would warn of is no news to an author: a mutant is meant to be wrong."""
    assert any(m.label.endswith("→ `[x, x]`") for m in mutants_of(column, "column"))
    assert not recwarn.list


def test_a_class_shows_the_author_what_no_misconception_explains(course):
    """Two students with one unknown mistake are one group, with their code; a known mistake is not listed."""
    source = json.loads(course.source("ch1_units").read_text())
    answers = {
        "ada": "def to_kelvin(celsius):\n    return celsius + 300.0",
        "bo": "def to_kelvin(c):\n    # another hand, the same mistake\n    return 300.0 + c",
        "cy": "def to_kelvin(celsius):\n    return celsius - 273.15",
    }
    for student, code in answers.items():
        folder = course.root / "submitted" / student / "ch1_units"
        folder.mkdir(parents=True)
        (folder / "ch1_units.ipynb").write_text(json.dumps(splice(source, {"to_kelvin": code})))
    done = subprocess.run(
        [sys.executable, "-m", "autograder", "audit", "--from-class", "ch1_units"],
        cwd=course.root,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "to_kelvin: 2 students (ada, bo)" in done.stdout
    assert "return celsius + 300.0" in done.stdout
    assert "cy" not in done.stdout

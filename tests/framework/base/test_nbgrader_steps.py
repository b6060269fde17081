"""Tests of the preprocessors of nbgrader's commands: their defaults, a course's changes, and the message if they are missing."""

import pytest
from nbgrader.converters import Autograde, GenerateAssignment

from autograder.authoring.release.run import ReleaseError, generate
from autograder.base.nbgrader_steps import USE, grades_confined, preprocessor_steps, records_examples
from autograder.classroom.gradebook.entries import nbgrader_config
from autograder.extras.doctor.readiness import probe_course
from tests.support.mini import spell_out


def names(steps):
    """Return the class name of each step."""
    return [step.rpartition(".")[2] if isinstance(step, str) else step.__name__ for step in steps]


def test_they_are_nbgraders_own_with_the_changes_that_are_named():
    """Each list equals the installed nbgrader's, except for steps that are left out, replaced or added."""
    ours = preprocessor_steps()
    stock = names(GenerateAssignment.preprocessors.default_args[0])
    stock = [step for step in stock if step not in {"ClearSolutions", "InstantiateTests"}]
    assert names(ours.GenerateAssignment.preprocessors) == [*stock, "RecordExamples"]
    clean = names(Autograde.sanitize_preprocessors.default_args[0])
    clean[clean.index("DeduplicateIds")] = "RestoreCells"
    assert names(ours.Autograde.sanitize_preprocessors) == clean
    graded = names(Autograde.autograde_preprocessors.default_args[0])
    graded[graded.index("Execute")] = "GradeConfined"
    graded.insert(graded.index("SaveAutoGrades") + 1, "SaveOutcome")
    assert names(ours.Autograde.autograde_preprocessors) == graded


def test_a_course_gets_them_as_if_it_had_spelled_them_out_and_may_have_its_own(course):
    """A two-line configuration gives the same steps as the long form, and ``course_config.py`` can override them."""
    asked = nbgrader_config(course)
    written = nbgrader_config(spell_out(course))
    for section, chain in (
        ("GenerateAssignment", "preprocessors"), ("Autograde", "sanitize_preprocessors"), ("Autograde", "autograde_preprocessors"),
    ):  # fmt: skip
        assert names(asked[section][chain]) == names(written[section][chain])
    assert asked.Course == written.Course
    (course.root / "nbgrader_config.py").write_text("\n".join(USE))
    with (course.root / "course_config.py").open("a") as config:
        config.write('c.Autograde.sanitize_preprocessors = ["late.Own"]\n')
    assert nbgrader_config(course).Autograde.sanitize_preprocessors == ["late.Own"]
    assert grades_confined(nbgrader_config(course))


@pytest.mark.parametrize("left", [None, 'load_subconfig("course_config.py")\n'])
def test_a_course_without_them_is_told_before_its_stubs_are_wiped(course, left):
    """Nothing is released with nbgrader's default steps, and doctor says that nbgrader autograde would run code without a sandbox."""
    path = course.root / "nbgrader_config.py"
    path.unlink() if left is None else path.write_text(left)
    with pytest.raises(ReleaseError, match=r"There is no \S+/nbgrader_config\.py\.|does not make nbgrader use") as told:
        generate(course.root, "ch1_units")
    [probe] = [one for one in probe_course(course) if one.name == "nbgrader's own commands"]
    assert not probe.holds
    assert "without a sandbox" in probe.detail
    assert all(line in str(told.value) and line in probe.remedy for line in USE)
    path.write_text("\n".join(USE))
    assert records_examples(nbgrader_config(course))
    assert grades_confined(nbgrader_config(course))

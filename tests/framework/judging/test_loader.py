"""Tests of reading a chapter's files: what a check file may import, and which files may be missing."""

import shutil
import sys

from autograder.authoring.audit import audit
from autograder.grading.verdict_cache import VerdictCache
from autograder.judging.judge import Judge
from autograder.judging.loader import known_alternatives, known_misconceptions, load_checks
from tests.framework.judging.conftest import Student, right
from tests.support import ROOT
from tests.support.commands import python
from tests.support.mini import CHAPTER, copy_course

CHECKS = """
import offsets
from autograder.checking import assert_matches, check, exercise
from solutions.ch1_units import to_kelvin


@exercise("to_kelvin", points=2, hints=(f"It is off by {offsets.WRONG}.",))
class TestToKelvin:
    @check(points=2)
    def test_water(self, student):
        \"\"\"water freezes\"\"\"
        assert_matches(student.to_kelvin(0.0), to_kelvin(0.0) + offsets.WRONG)
"""


def course_with(folder, offset):
    """Return a copy of the mini course whose check file imports ``offset`` from a module next to it."""
    chapters = "tests/chapters"
    return copy_course(
        folder, files={f"{chapters}/test_{CHAPTER}.py": CHECKS, f"{chapters}/offsets.py": f"WRONG = {offset}\n"}
    )


def hint(course):
    """Return the hint that contains the value from the module next to the check file."""
    return load_checks(course, "ch1_units").specs["to_kelvin"].hints[0]


def test_a_check_file_imports_the_modules_beside_it_and_no_other_courses(tmp_path):
    """Each course uses its own modules, which are read again whenever its checks are read."""
    one, other = course_with(tmp_path / "one", 0.0), course_with(tmp_path / "other", 1.0)
    assert [hint(course) for course in (one, other, one)] == [f"It is off by {x}." for x in (0.0, 1.0, 0.0)]
    (one.root / "tests/chapters/offsets.py").write_text("WRONG = 20.0  # changed\n", encoding="utf-8")
    assert hint(one) == "It is off by 20.0."
    assert "offsets" not in sys.modules


def test_pytest_finds_the_modules_beside_a_check_file_too(tmp_path):
    """The modules and the course's solutions are found, whatever folder pytest is started in."""
    for folder, offset, code in (("one", 0.0, 0), ("other", 1.0, 1)):
        path = course_with(tmp_path / folder, offset).checks("ch1_units")
        python("-m", "pytest", "-q", "-c", ROOT / "pyproject.toml", path, cwd=tmp_path, status=code, PATH="")


def test_a_kept_verdict_depends_on_the_modules_beside_the_checks(tmp_path):
    """A cached verdict becomes invalid if a module next to the checks changes, but not if a different chapter's checks change."""
    course = course_with(tmp_path / "mini", 0.0)
    before = VerdictCache.of(course, "ch1_units").base
    (course.root / "tests/chapters/test_ch2_other.py").write_text("", encoding="utf-8")
    assert VerdictCache.of(course, "ch1_units").base == before
    (course.root / "tests/chapters/offsets.py").write_text("WRONG = 1.0\n", encoding="utf-8")
    assert VerdictCache.of(course, "ch1_units").base != before


def test_a_chapter_without_misconceptions_or_alternatives_needs_no_file_for_them(tmp_path):
    """If a chapter has no files of misconceptions and alternatives, none are known, and everything else works."""
    course = course_with(tmp_path / "mini", 0.0)
    shutil.rmtree(course.root / "solutions" / "misconceptions")
    shutil.rmtree(course.root / "solutions" / "alternatives")
    assert known_misconceptions(course, "ch1_units") == []
    assert known_alternatives(course, "ch1_units") == []
    [verdict] = Judge(load_checks(course, "ch1_units")).judge(Student(**right()))
    assert verdict.status == "passed"
    [found] = audit(course, ["ch1_units"])[0].exercises
    assert (found.reference_ok, found.misconceptions, found.alternatives) == (True, 0, 0)

"""Tests of a course folder's configuration and modules: each error is reported in one sentence with its location."""

import re

import pytest

from autograder.base.errors import CourseError
from autograder.course.course import load_course
from autograder.judging.loader import load_checks
from tests.support.mini import CHAPTER, copy_course


def refused(tmp_path, line):
    """Return the error about the mini course with ``line`` in its configuration."""
    with pytest.raises(CourseError) as error:
        copy_course(tmp_path / "mini", config=f"\n{line}\n")
    return str(error.value)


@pytest.mark.parametrize("name", ["call_seconds", "cell_seconds", "submission_seconds"])
@pytest.mark.parametrize("value", ["-1.0", "0", "float('inf')", "float('nan')", "1e9"])
def test_a_limit_that_ends_all_code_is_refused(tmp_path, name, value):
    """A time limit must be a positive number of seconds, and not too large."""
    words = rf"^c\.Course\.{name} in /\S+/course_config\.py is \S+\. It must be a number of seconds above 0,"
    assert re.search(words, refused(tmp_path, f"c.Course.{name} = {value}"))


@pytest.mark.parametrize("value", [-1, 0, 2, 2**40])
def test_memory_that_is_none_or_meant_as_gigabytes_is_refused(tmp_path, value):
    """The message gives the unit, MiB."""
    told = refused(tmp_path, f"c.Course.memory_mb = {value}")
    assert told.endswith(f"course_config.py is {value}. It must be a number of MiB from 64 to 1048576.")


def test_limits_at_their_edges_are_taken(tmp_path):
    """Unusual but valid values are accepted, and a list can be extended."""
    lines = ["c.Course.call_seconds = 0.01", "c.Course.memory_mb = 64", "c.Course.chapters.append('ch2_more')"]
    course = copy_course(tmp_path / "mini", config="\n" + "\n".join(lines) + "\n")
    assert (course.limits.call_seconds, course.limits.memory_mb) == (0.01, 64)
    assert course.chapters == ["ch1_units", "ch2_more"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "c.Course.call_secnds = 3",
            "sets c.Course.call_secnds, but there is no such setting. Did you mean call_seconds",
        ),
        ("c.Course.xyz = 3", "The settings are: at_least, audience, call_seconds, cell_seconds, chapters,"),
        ("c.Corse.call_seconds = 3", "sets c.Corse, which has no effect. Did you mean c.Course?"),
        ("c.course.call_seconds = 3", "sets c.course, which has no effect. Did you mean c.Course?"),
        ("c.Course.packages = 5", "course_config.py cannot be used: The 'packages' trait"),
    ],
)
def test_a_misspelt_setting_is_refused(tmp_path, line, told):
    """A misspelled setting is rejected, because ignoring it would grade the course with limits that its author did not choose."""
    assert told in refused(tmp_path, line)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("import nosuch", "ModuleNotFoundError: No module named 'nosuch'."),
        ("1 / 0", "ZeroDivisionError: division by zero."),
        ("raise ValueError", "ValueError."),
        ("def f(:", "SyntaxError: invalid syntax."),
    ],
)
def test_code_of_the_course_that_fails_is_told_with_its_line(tmp_path, line, told):
    """For configuration, solutions and checks, the message gives the file, the line and the error, on one line."""
    course = copy_course(tmp_path / "mini")
    for path, verb, read in (
        (course.root / f"solutions/{CHAPTER}.py", "imported", lambda: course.references(CHAPTER)),
        (course.root / f"solutions/misconceptions/{CHAPTER}.py", "imported", lambda: course.misconceptions(CHAPTER)),
        (course.checks(CHAPTER), "run", lambda: load_checks(course, CHAPTER)),
        (course.root / "course_config.py", "read", lambda: load_course(course.root)),
    ):
        kept = path.read_text()
        number = kept.count("\n") + 1
        path.write_text(f"{kept}{line}\n")
        with pytest.raises(CourseError) as error:
            read()
        assert str(error.value).endswith(f"{path} cannot be {verb}: line {number}: {told}")
        path.write_text(kept)

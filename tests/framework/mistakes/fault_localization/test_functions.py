"""Tests of locating mistakes in functions of this process: a line is reported only if an edit of it makes every check pass."""

import numpy as np
import pytest

from autograder.authoring.audit.localization_benchmark import SolutionLocator
from autograder.judging.loader import load_checks
from autograder.mistakes.fault_localization.program import MAX_LINES, program_of
from tests.support.mini import CHAPTER, RIGHT, copy_course


@pytest.fixture
def locate(course):
    """Return a function that locates the mistake in one exercise of the mini course. The other exercises are right."""
    checks = load_checks(course, CHAPTER)

    def located(exercise, source):
        cells = [(name, text) for name, text in RIGHT.items() if name != exercise]
        names = {"np": np}
        cells = [*cells, (exercise, source)]
        for _, text in cells:
            exec(text, names)  # noqa: S102 - our own text
        return SolutionLocator(checks, seconds=5.0).locate(exercise, cells, names)

    return located


def test_the_line_and_the_kind(locate):
    """If one edit of one line makes every check pass, that line is reported, counted within the cell."""
    found = locate(
        "to_kelvin", "ZERO = 273.15\n\ndef to_kelvin(celsius):\n    shift = ZERO\n    return celsius - shift"
    )
    assert found.places == (("to_kelvin", 5),)
    assert (found.kind, found.edits) == ("operator", 1)


def test_a_helper_of_the_students_own_counts_as_their_code(locate):
    """The mistake may be in a helper, in a different line from the call."""
    source = "def add(a, b):\n    return a - b\n\ndef to_kelvin(celsius):\n    return add(celsius, 273.15)"
    found = locate("to_kelvin", source)
    assert ("to_kelvin", 2) in found.places


def test_two_edits_in_one_line(locate):
    """If no single edit is enough, two edits in one line are tried."""
    found = locate("to_kelvin", "def to_kelvin(celsius):\n    c = celsius\n    return (c * 2) - 273.15")
    assert (found.places, found.edits) == ((("to_kelvin", 3),), 2)


def test_two_edits_in_two_lines(locate):
    """If edits in one line are not enough, two lines are tried, and both are reported."""
    found = locate("to_kelvin", "def to_kelvin(celsius):\n    offset = 273.15 - 1\n    return celsius * offset")
    assert (found.places, found.edits) == ((("to_kelvin", 2), ("to_kelvin", 3)), 2)


def test_nothing_is_said_of_code_that_no_small_edit_makes_right(locate):
    """If no small edit makes the code right, no line is reported."""
    assert locate("to_kelvin", "def to_kelvin(celsius):\n    return [str(v)[::-1] for v in celsius]") is None


def test_what_is_longer_than_people_write_is_not_looked_at():
    """A very long function is not searched, because an edit of one of its many lines could pass the checks by chance."""
    lines = "\n".join(f"    a{i} = {i}" for i in range(MAX_LINES + 1))
    assert program_of("f", [("f", f"def f(x):\n{lines}\n    return x")]) is None
    assert program_of("f", [("f", "def f(x):\n    return x")]) is not None
    assert program_of("f", [("f", "f = 3")]) is None


OPERATOR = """
import ast
from autograder.mistakes.edits.operators import Change, operator

@operator
def celsius_for_kelvin(node, scope):
    if isinstance(node, ast.Call):
        yield Change(ast.BinOp(node, ast.Add(), ast.Constant(273.15)), "unit", 1.0)
"""


def test_an_operator_belongs_to_the_course_that_defines_it(tmp_path):
    """A course's operator is not used for another course in the same process, but is still used for its own course."""
    source = "def to_kelvin(celsius):\n    return np.positive(celsius)"
    names = {"np": np}
    exec(source, names)  # noqa: S102 - our own text
    path = "solutions/ch1_units.py"
    other = copy_course(tmp_path / "other")
    one = copy_course(tmp_path / "one", files={path: OPERATOR + (other.root / path).read_text()})
    locators = {c.root.name: SolutionLocator(load_checks(c, "ch1_units"), seconds=4.0) for c in (one, other)}

    def kind(name):
        return locators[name].locate("to_kelvin", [("cell", source)], names).kind

    assert [kind(name) for name in ("one", "other", "one")] == ["unit", "missing", "unit"]

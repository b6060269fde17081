"""Tests of fault programs, and of what the audit reports if no check detects one."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from autograder.authoring.audit.fault_model import FaultCoverage, FaultModel
from autograder.authoring.audit.report import ChapterAudit, ExerciseAudit
from autograder.checking.inputs.categories import categories_of
from autograder.checking.inputs.covering import cover, differing_arguments
from autograder.judging.loader import load_checks
from autograder.sandbox.guest.wire import LAYOUTS, in_layout, layout_of
from tests.framework.checking.test_category_check import DECLARED
from tests.support.mini import change

EVERY_KIND = "    test_every_kind = all_categories(points=0.5)"


@pytest.fixture
def declared(course):
    """Return the mini course with a contract and a check of all categories, and without a check of purity."""
    checks = course.checks("ch1_units")
    change(checks, "import arrays_nd,", "import Contract, all_categories, array, arrays_nd,")
    change(checks, '@exercise("to_kelvin", points=2)', f'@exercise("to_kelvin", points=2, {DECLARED})')
    change(checks, "    test_care = pure(points=0.5)", EVERY_KIND)
    return course


def measured(course):
    """Return the category coverage and the fault coverage of the mini course's first exercise."""
    checks = load_checks(course, "ch1_units")
    return FaultModel(dataclasses.replace(checks, shrinks=False), "to_kelvin").measure(programs=True)


def test_every_class_of_faults_loses_marks(declared):
    """A check of every category and a check of purity leave no gap."""
    change(declared.checks("ch1_units"), EVERY_KIND, f"{EVERY_KIND[:-4]}0.25)\n\n    test_care = pure(points=0.25)")
    _, faults = measured(declared)
    assert set(faults.programs) == {"memory", "sizes", "values", "state"}
    assert faults.gaps == ()
    assert faults.survivors == ()


def test_results_remembered_by_array_need_a_check_of_purity(declared):
    """Only `pure` calls a function twice with the same array object and changes the numbers in it between the calls."""
    assert measured(declared)[1].survivors == ("state: by id",)


def test_a_gap_is_named(declared):
    """Without the check of every category, no call passes an array in Fortran order."""
    change(declared.checks("ch1_units"), EVERY_KIND, "    test_care = pure(points=0.5)")
    kinds, faults = measured(declared)
    assert "celsius: in Fortran's order" in kinds.missing
    assert "memory: celsius: in Fortran's order" in faults.gaps


def test_the_audit_prints_a_line_for_each_class():
    """Each line counts the programs and names the survivors."""
    survivors = ("sizes: n < block",)
    coverage = FaultCoverage({"memory": 12, "sizes": 31}, survivors, survivors)
    exercise = ExerciseAudit(
        name="chunked",
        points=4,
        stub_earns_nothing=True,
        reference_ok=True,
        alternatives=0,
        misconceptions=0,
        mutants=0,
        fault_coverage=coverage,
    )
    report = ChapterAudit("ch6", (exercise,))
    assert "  faults, memory: 12 of 12\n" in str(report)
    assert "  faults, sizes: 30 of 31: n < block (chunked)\n" in str(report)
    assert report.to_json()["exercises"][0]["faults"]["gaps"] == survivors
    assert any("97.7% of the programs with a fault" in problem for problem in report.missed_targets)


def test_a_covering_ends_with_inputs_that_differ_in_one_argument(declared):
    """A function of one array is called with two arrays that have the same first entry, shape and sum."""
    contract = load_checks(declared, "ch1_units").specs["to_kelvin"].takes
    first, second = cover(contract, 1).inputs[-2:]
    assert differing_arguments(first.values, second.values) == ["celsius"]
    one, other = first.values["celsius"], second.values["celsius"]
    assert one.shape == other.shape
    assert one.flat[0] == other.flat[0]
    assert one.sum() == pytest.approx(other.sum())


def test_categories_have_different_names(declared):
    """Each name belongs to only one category, because ``exclude`` identifies categories by their names."""
    names = [c.name for c in categories_of(load_checks(declared, "ch1_units").specs["to_kelvin"].takes)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 4)])
def test_an_array_is_copied_into_an_order_of_memory(layout, shape):
    """The copy has the same numbers. It has the requested memory order if its shape allows that order."""
    array = np.arange(np.prod(shape), dtype=float).reshape(shape)
    found = in_layout(array, layout)
    np.testing.assert_array_equal(found, array)
    assert layout_of(found) == ("" if layout == "F" and len(shape) == 1 else layout)

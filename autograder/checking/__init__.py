"""The helpers of a check file: exercises and checks, assertions, strategies for drawn inputs, and quizzes."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_WORDS = {
    "autograder.checking.asserts": "CheckFailed assert_choice assert_einsum assert_finite assert_matches assert_number "
    "assert_one_of assert_same_plot assert_shape assert_string assert_sums_to_one assert_within",
    "autograder.checking.student_tests": "grades_tests",
    "autograder.checking.category_check": "all_categories",
    "autograder.checking.decorators": "check exercise pure",
    "autograder.checking.experiments": "Average Draws assert_average assert_drawn",
    "autograder.checking.inputs.argument": "InputCategory",
    "autograder.checking.inputs.array_arguments": "array weights",
    "autograder.checking.inputs.builtin_arguments": "among dates group items mapping members real text whole",
    "autograder.checking.inputs.contract": "Contract",
    "autograder.checking.inputs.index_arguments": "axis_of lengths mask order size whole_numbers",
    "autograder.checking.inputs.table_arguments": "table",
    "autograder.checking.properties": "arrays_nd drawn_from floats given integers linked probabilities",
    "autograder.checking.quizzes": "choice number quiz",
    "autograder.sandbox.protocol": "Rng Source",
}
_HOMES = {word: module for module, words in _WORDS.items() for word in words.split()}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    # Students' machines import `autograder.checking.predicates` and have no pytest, so importing this package loads no other module.
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'autograder.checking' has no attribute {name!r}")

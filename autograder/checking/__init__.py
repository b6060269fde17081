"""The words of a check file: exercises and checks, assertions, strategies for drawn inputs, and a quiz's table."""

from __future__ import annotations

from typing import Any

__all__ = [
    "CheckFailed",
    "Rng",
    "Source",
    "after",
    "arrays_nd",
    "assert_choice",
    "assert_einsum",
    "assert_finite",
    "assert_matches",
    "assert_number",
    "assert_one_of",
    "assert_shape",
    "assert_string",
    "assert_sums_to_one",
    "assert_within",
    "careful",
    "check",
    "choice",
    "drawn_from",
    "exercise",
    "floats",
    "given",
    "integers",
    "linked",
    "number",
    "points",
    "probabilities",
    "pure",
    "quiz",
    "visible",
]

_HOMES = {
    "Rng": "autograder.sandbox.protocol",
    "Source": "autograder.sandbox.protocol",
    **dict.fromkeys(["check", "exercise", "pure"], "autograder.checking.decorators"),
    **dict.fromkeys(["after", "careful", "points", "visible"], "autograder.checking.old_spellings"),
    **dict.fromkeys(["choice", "number", "quiz"], "autograder.checking.quizzes"),
    **dict.fromkeys(
        ["arrays_nd", "drawn_from", "floats", "given", "integers", "linked", "probabilities"],
        "autograder.checking.properties",
    ),
}


def __getattr__(name: str) -> Any:
    # A student's machine imports `autograder.checking.compare` and has no pytest: nothing heavy loads with the package.
    if name in __all__:
        from importlib import import_module  # noqa: PLC0415

        return getattr(import_module(_HOMES.get(name, "autograder.checking.asserts")), name)
    raise AttributeError(f"module 'autograder.checking' has no attribute {name!r}")

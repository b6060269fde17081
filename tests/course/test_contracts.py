"""Tests that an exercise's docstring and its contract describe the same arguments."""

import dataclasses
import inspect
import re

import pytest

from autograder.authoring.audit.fault_model import FaultModel
from autograder.checking.inputs.array_arguments import ArrayArgument, WeightsArgument
from autograder.checking.inputs.builtin_arguments import NumberArgument
from autograder.checking.inputs.index_arguments import (
    LengthsArgument,
    MaskArgument,
    OrderArgument,
    WholeNumbersArgument,
)
from autograder.course.course import load_course
from autograder.judging.loader import load_checks
from autograder.judging.proxies import ReferenceProxy
from tests.support import ROOT

COURSE = load_course(ROOT)
CHECKS = {chapter: load_checks(COURSE, chapter) for chapter in COURSE.finished_chapters()}
EXERCISES = [(c, name) for c, checks in CHECKS.items() for name, spec in checks.specs.items() if not spec.answers]
SHAPED = ArrayArgument | MaskArgument | LengthsArgument | OrderArgument | WholeNumbersArgument


def said_of(docstring, name):
    """Return the line of a docstring about an argument, such as "Q, K: shape (n, d)", with its continuation lines."""
    lines = inspect.cleandoc(docstring).splitlines()
    for i, line in enumerate(lines):
        names, colon, text = line.partition(":")
        if colon and name in re.split(r",\s*", names.strip()):
            width = len(line) - len(text.lstrip())
            rest = [x for x in lines[i + 1 : i + 9] if x.startswith(" " * min(width, 8)) and x.strip()]
            return " ".join([text.strip(), *(x.strip() for x in rest)])
    return ""


def shape_in(text):
    """Return the first shape in a text, without spaces. It is "...n" for "any shape", and None if the text has no shape."""
    if re.match(r"(float64, )?any shape", text):
        return "...n"
    found = re.search(r"shape\s+\(([^)]*)\)", text)
    return re.sub(r"[\s,]+", ",", found[1].replace(" * ", "*")).strip(",") if found else None


@pytest.mark.parametrize(("chapter", "exercise"), EXERCISES)
def test_every_exercise_says_what_it_takes_in_the_words_of_its_stub(chapter, exercise):
    """The docstring and the contract agree on shapes, defaults, ranges and weights. Each excluded category has a reason for students."""
    checks = CHECKS[chapter]
    contract = checks.specs[exercise].takes
    assert contract is not None, "the exercise declares no contract"
    assert not contract.lists, "the notebook promises that a list is no array"
    reference = checks.references[exercise]
    docstring = inspect.getdoc(reference)
    signature = inspect.signature(reference)
    for path, argument in contract.leaves().items():
        name = path[-1]
        text = said_of(docstring, name) or said_of(docstring, path[0])
        assert text, f"the docstring says nothing of {name}"
        if len(path) == 1:
            assert argument.default == (signature.parameters[name].default is not inspect.Parameter.empty)
            if isinstance(argument, SHAPED) and (said := shape_in(text)):
                declared = (
                    "".join(("...,") if a == "..." else f"{a}," for a in argument.shape)
                    .strip(",")
                    .replace("...,n", "...n")
                )
                assert said.replace("...,n", "...n") == declared, f"{name}: the docstring says ({said})"
        else:
            # Parts of a dictionary are described in one sentence: "W_Q and W_K of shape (d_model, h * d_k)".
            after = re.search(rf"{name}(?: and \w+)? of shape\s+\(([^)]*)\)", " ".join(docstring.split()))
            assert after, f"the docstring does not say the shape of {name}"
            # If two dictionaries may have a different d_k, the contract calls one of the two c_k.
            declared = ",".join(argument.shape).replace("c_", "d_")
            assert re.sub(r"\s", "", after[1]).strip(",") == declared
        if isinstance(argument, WeightsArgument):
            assert re.search(
                r"add(ing|s)? up to 1|weights that softmax returned|row of weights|of one head", docstring
            ), name
        if isinstance(argument, ArrayArgument):
            assert not argument.float32, f"{name} is drawn as float32 too, and the notebook promises float64"
        if isinstance(argument, NumberArgument) and argument.whole and argument.low > 0:
            assert argument.low == 1 or re.search(rf"at least|from {argument.low:g} to", text), name
    for kind, limit in contract.exclude.items():
        assert len(limit.split()) > 2, f"{kind} is ruled out without a limit that a student can read"


LOOSE = [(c, e) for c, e in EXERCISES if getattr(CHECKS[c].specs[e].takes, "corrupt", 0) >= 1]


@pytest.mark.parametrize(("chapter", "exercise"), LOOSE)
@pytest.mark.parametrize("number", range(6))
def test_where_answers_are_judged_loosely_every_kind_is_looked_at_whatever_the_secret(chapter, exercise, number):
    """If one changed number may still count as right, the checks cover each category all the same, with any secret."""
    checks = CHECKS[chapter]
    other = dataclasses.replace(
        checks, secret=bytes([number]) * 32, shrinks=False, reference=ReferenceProxy(checks.references), _prepared={}
    )
    assert FaultModel(other, exercise).measure(programs=False)[0].missing == ()

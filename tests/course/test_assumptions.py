"""Tests that the notebooks say what may be assumed, and that every call in every check satisfies these assumptions."""

import functools
import inspect
import json
import math
import re
import types

import numpy as np
import pytest

from autograder.checking.inputs.array_arguments import ArrayArgument, ShapedArgument, WeightsArgument
from autograder.checking.inputs.builtin_arguments import NumberArgument
from autograder.checking.inputs.contract import LONGEST
from autograder.checking.inputs.covering import cover
from autograder.checking.inputs.index_arguments import (
    LengthsArgument,
    MaskArgument,
    OrderArgument,
    SizeArgument,
    WholeNumbersArgument,
)
from autograder.course.course import load_course
from autograder.judging.functions import FunctionSubject
from autograder.judging.judge import Judge
from autograder.judging.loader import load_checks
from autograder.values import ATOL, RTOL
from tests.support import ROOT

COURSE = load_course(ROOT)
CHAPTERS = COURSE.finished_chapters()
LARGEST = 1_000_000  # the largest number in an array, as the notebooks say
# Limits that docstrings give instead: the largest number in an argument, or the largest score under a mask.
LIMITS = {
    "softmax": {"x": math.inf},
    "numerical_gradient": {"x": 3},
    "query_gradient": dict.fromkeys("KVg", 100),
    "training_step": dict.fromkeys(("W_Q", "X", "K", "V", "T"), 3),
    "masked_softmax": {"scores": 1000},
    "masked_attention": {"scores": 1000},
    "multi_head_attention": {"scores": 1000},
    "head_contributions": {"O": 1000, "W_O": 1000},
    "is_causal": {"X": 2},
    "decoder_attention": {"target": 1000, "memory": 1000, "scores": 1000, "weights": 100},
    "rotate_positions": {"X": 1000},
    "layer_norm": {"X": 10_000, "gain": 10, "bias": 10},
    "transformer_block": {"X": 1000, "scores": 1000, "gain": 10, "bias": 10, "weights": 100},
    "sample_next": {"logits": 10_000},
}
# Ranges that docstrings give, for arguments whose contract draws from a smaller range.
RANGES = {
    ("soft_lookup", "temperature"): (0.001, 1_000_000_000),
    ("numerical_gradient", "eps"): (0.00001, 2),
    ("generate", "n_new"): (1, 16),
}

LARGEST_SCORE = 10_000  # the largest score without a mask, in the exercises in SCORES


def head_scores(given):
    """Return the scaled scores of every head of multi-head attention."""
    Q, K = (
        (given[X] @ given[W]).reshape(*given[X].shape[:-1], given["h"], -1)
        for X, W in (("X_q", "W_Q"), ("X_kv", "W_K"))
    )
    return np.einsum("...ihd,...jhd->...hij", Q, K) / np.sqrt(Q.shape[-1])


SCORES = {
    "soft_lookup": lambda v: v["K"] @ v["q"] / v.get("temperature", 1.0),
    "dot_product_attention": lambda v: v["Q"] @ np.swapaxes(v["K"], -1, -2),
    "scaled_dot_product_attention": lambda v: v["Q"] @ np.swapaxes(v["K"], -1, -2) / np.sqrt(v["Q"].shape[-1]),
    "multi_head_attention": head_scores,
    "chunked_attention": lambda v: [  # the largest score of 50 queries at a time, to limit memory
        np.abs(v["Q"][..., i : i + 50, :] @ np.swapaxes(v["K"], -1, -2)).max() / np.sqrt(v["Q"].shape[-1])
        for i in range(0, v["Q"].shape[-2], 50)
    ],
    "query_gradient": lambda v: v["K"] @ v["q"] / np.sqrt(len(v["q"])),
    "decode_step": lambda v: np.vstack([v["cache_K"], v["k"]]) @ v["q"] / np.sqrt(len(v["q"])),
}


def spelled(number):
    """Return a number as the docstrings write it: 10 000, 0.00001."""
    return f"{number:,}".replace(",", " ") if number >= 10_000 else f"{number:f}".rstrip("0").rstrip(".")


def assumption_of(function):
    """Return the last paragraph of a docstring, as one line, if it says what may be assumed."""
    last = inspect.getdoc(function).split("\n\n")[-1]
    return " ".join(last.split()) if last.startswith("You may assume") else ""


def faults_of(exercise, contract, given):
    """Return the rules of the contract, the docstring and the notebooks that a call's arguments break."""
    call = contract.bind(given)
    found = [f"{name} is missing" for name, a in contract.arguments.items() if not a.default and name not in given]
    for path, argument in contract.leaves().items():
        if path in call.values:
            found += [f"{'.'.join(path)} {fault}" for fault in faults_in(exercise, path, argument, call)]
    for letter, size in call.sizes.items():
        low, high = contract.limits_of(letter)
        if not low <= size <= high:
            found.append(f"{letter} = {size} is not from {low} to {high}")
    if exercise in SCORES and given.get("mask") is None and np.abs(SCORES[exercise](given)).max() > LARGEST_SCORE:
        found.append(f"a score is beyond {LARGEST_SCORE}")
    if exercise == "chunked_attention":
        Q, K = (np.abs(given[name]).reshape(-1, np.shape(given[name])[-1]).max(axis=0) for name in "QK")
        found += ["a product of a number in Q and one in K is beyond 10 000 000"] * bool((Q * K).max() > 1e7)
    return found


def faults_in(exercise, path, argument, call):
    """Yield the rules that the value of one argument breaks."""
    value = call.values[path]
    if isinstance(argument, NumberArgument):
        low, high = RANGES.get((exercise, path[-1]), (argument.low, argument.high))
        if not low <= value <= high or (argument.whole and type(value) is not int):
            yield f"= {value!r} is not from {low:g} to {high:g}"
    elif isinstance(argument, SizeArgument) and type(value) is not int:
        yield f"is of type {type(value).__name__}"
    elif isinstance(argument, ShapedArgument):
        whole = isinstance(argument, LengthsArgument | OrderArgument | WholeNumbersArgument)
        wanted = "i" if whole else "b" if isinstance(argument, MaskArgument) else "f"
        array = np.asarray(value)
        if not isinstance(value, np.ndarray) and not whole:
            yield f"is of type {type(value).__name__}"
        if array.dtype.kind != wanted or (wanted == "f" and array.dtype != np.float64):
            yield f"has dtype {array.dtype}"
        if not getattr(argument, "broadcasts", False):
            yield from wrong_axes(argument.shape, array.shape, call)
        yield from faults_of_entries(exercise, path, argument, array, call)


def wrong_axes(axes, shape, call):
    """Yield a message if a shape does not match the letters."""
    own = [axis for axis in axes if axis != "..."]
    lead, rest = shape[: len(shape) - len(own)], shape[len(shape) - len(own) :]
    right = tuple(math.prod(int(p) if p.isdigit() else call.sizes.get(p, -1) for p in axis.split("*")) for axis in own)
    if rest != right or lead != (call.batch or () if "..." in axes else ()):
        yield f"has shape {shape}, not that of the letters, {right}, after the batch axes {call.batch}"


def faults_of_entries(exercise, path, argument, array, call):
    """Yield the rules that the entries of an array break."""
    if isinstance(argument, ArrayArgument):
        limits = LIMITS.get(exercise, {})
        limit = limits.get(path[-1], limits.get(path[0], LARGEST))
        if np.nanmax(np.abs(array), initial=0) > limit:
            yield f"has numbers beyond {limit:g}"
        if not np.isfinite(array).all() and exercise != "masked_softmax":  # its docstring says what to do with NaN
            yield "has numbers that are not finite"
    if isinstance(argument, WeightsArgument):
        if (array < 0).any() or not np.allclose(array.sum(axis=-1), 1, rtol=0, atol=1e-9):
            yield "has weights that are negative, or do not add up to 1"
    elif isinstance(argument, MaskArgument):
        if not argument.empty_rows and not array.any(axis=-1).all():
            yield "allows nothing in a row"
    elif isinstance(argument, OrderArgument):
        if sorted(array.tolist()) != list(range(array.size)):
            yield "is no permutation"
    elif isinstance(argument, LengthsArgument | WholeNumbersArgument):
        high = call.sizes[argument.up_to] if isinstance(argument, LengthsArgument) else argument.high
        model = call.values.get(("model",))
        high = high if model is None else len(model["embedding"]) - 1
        if (array < argument.low).any() or (array > high).any():
            yield f"has numbers that are not from {argument.low} to {high}"


def faults_of_scores(limit, scores, mask):
    """Yield a message if masked scores are too large, or if a forbidden score is too far above the allowed scores."""
    mask = np.broadcast_to(mask, scores.shape)
    if np.nanmax(np.abs(scores), initial=0) > limit:
        yield f"a score of {np.nanmax(np.abs(scores)):g} is beyond {limit}"
    allowed = np.where(mask, scores, -np.inf).max(axis=-1)
    above = np.where(mask, -np.inf, scores).max(axis=-1) - np.where(np.isfinite(allowed), allowed, np.inf)
    if np.nanmax(above, initial=0) > 5 + 1e-9:
        yield "a forbidden score is more than 5 above the allowed ones"


def globals_that_define(name, names):
    """Search ``names`` and all functions that they call for the function ``name``, and return the globals of its module, or an empty dict.

    The checks may have loaded the solutions again, so ``sys.modules`` can hold another copy of the module.
    """
    waiting, seen = list(names.values()), set()
    while waiting:
        function = waiting.pop()
        if isinstance(function, types.FunctionType) and function.__module__.startswith("solutions"):
            if function.__name__ == name:
                return function.__globals__
            if id(function.__globals__) not in seen:
                seen.add(id(function.__globals__))
                waiting.extend(function.__globals__.values())
    return {}


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_call_of_every_check_keeps_to_what_may_be_assumed(chapter, monkeypatch):
    """Visible calls, hidden calls and calls in a probe have the promised types, shapes, sizes, ranges, weights, masks and scores."""
    checks = load_checks(COURSE, chapter)
    faults, calls, running, masked = [], 0, [], set()
    names = checks.right_names()
    home = globals_that_define("masked_softmax", names)
    original = home.get("masked_softmax")

    def masked_softmax(scores, mask):
        if running and (limit := LIMITS.get(running[-1], {}).get("scores")):
            masked.add(running[-1])
            faults.extend(f"{running[-1]}: {fault}" for fault in faults_of_scores(limit, scores, mask))
        return original(scores, mask)

    def watched(name, function):
        contract, signature = checks.specs[name].takes, inspect.signature(function)

        @functools.wraps(function)
        def call(*args, **kwargs):
            nonlocal calls
            calls += 1
            given = signature.bind(*args, **kwargs).arguments
            faults.extend(f"{name}: {fault}" for fault in faults_of(name, contract, given))
            running.append(name)
            try:
                return (masked_softmax if function is original else function)(*args, **kwargs)
            finally:
                running.pop()

        return call

    monkeypatch.setitem(home, "masked_softmax", masked_softmax)
    functions = {name: watched(name, names[name]) for name, spec in checks.specs.items() if not spec.answers}
    verdicts = Judge(checks).judge(FunctionSubject("reference", {**names, **functions}))
    assert all(verdict.score == verdict.max_score for verdict in verdicts)
    assert calls > 20 * len(functions)
    assert masked == {name for name in functions if "scores" in LIMITS.get(name, {})}
    assert sorted(set(faults)) == []


def test_products_stay_in_bounds_with_every_secret():
    """Large keys come with queries whose numbers add up to 0, so scores alone do not bound the products."""
    contract = load_checks(COURSE, "ch6_complexity").specs["chunked_attention"].takes
    faults = [
        faults_of("chunked_attention", contract, drawn.values)
        for seed in range(20)
        for drawn in cover(contract, seed).inputs
    ]
    assert [found for found in faults if found] == []


def test_a_list_is_no_array():
    """The right numbers in a list fail the first visible check, whose message says what is wrong."""
    checks = load_checks(COURSE, "ch3_scaling")

    def softmax_jacobian(p):
        return (np.diag(p) - np.outer(p, p)).tolist()

    subject = FunctionSubject("lists", {"softmax_jacobian": softmax_jacobian})
    [verdict] = Judge(checks).judge(subject, only=frozenset({"softmax_jacobian"}), visible_only=True)
    assert (verdict.status, verdict.score) == ("failed", 0)
    assert "softmax_jacobian(p) is a list of 3 items instead of an array of shape (3, 3)." in verdict.message


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_limits_of_one_exercise_are_in_the_last_line_of_its_docstring(chapter):
    """Each limit that the test above allows is in that line, and so is each size that is larger than usual."""
    checks = load_checks(COURSE, chapter)
    for name, spec in checks.specs.items():
        if spec.answers:
            continue
        function, said = checks.references[name], assumption_of(checks.references[name])
        assert inspect.getdoc(function).count("You may assume") == bool(said), name
        limits = {limit for limit in LIMITS.get(name, {}).values() if limit < math.inf}
        limits |= {end for (exercise, _), ends in RANGES.items() if exercise == name for end in ends if end != 1}
        limits |= {LARGEST_SCORE} if name in SCORES else set()
        limits |= {high for _, high in spec.takes.sizes.values() if high > LONGEST}
        for limit in limits:
            assert re.search(rf"(?<![\d.]){re.escape(spelled(limit))}(?!\d| \d)", said), (
                f"{name}: {limit} is not in: {said}"
            )


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_notebook_begins_with_what_may_be_assumed(chapter):
    """The list is the same in all notebooks, and its numbers agree with the contracts and with the comparison of values."""
    cells = json.loads(COURSE.source(chapter).read_text("utf-8"))["cells"]
    [(place, text)] = [(i, "".join(c["source"])) for i, c in enumerate(cells) if c["id"] == "you-may-assume"]
    first_stub = next(i for i, c in enumerate(cells) if c["metadata"].get("nbgrader", {}).get("solution"))
    assert place < first_stub
    assert text == "".join(next(c for c in first_notebook() if c["id"] == "you-may-assume")["source"])
    for words in (
        "`float64`",
        f"{LARGEST:,}".replace(",", " "),
        f"{LONGEST} entries",
        f"{ATOL:f}",
        f"{RTOL:f}".rstrip("0"),
    ):
        assert words in text


def first_notebook():
    """Return the cells of the first chapter's notebook."""
    return json.loads(COURSE.source(CHAPTERS[0]).read_text("utf-8"))["cells"]

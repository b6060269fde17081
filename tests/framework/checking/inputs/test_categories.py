"""Test the categories of input that a contract allows: each of them is drawn, and the inputs keep to the contract."""

import numpy as np
import pytest

from autograder.checking import (
    Contract,
    InputCategory,
    among,
    array,
    axis_of,
    group,
    lengths,
    mask,
    order,
    real,
    size,
    weights,
    whole,
    whole_numbers,
)
from autograder.checking.inputs.categories import categories_of
from autograder.checking.inputs.covering import cover

ATTENTION = Contract({
    "Q": array("... n_q d_k"), "K": array("... n_k d_k"), "mask": mask("... n_q n_k", default=True)
})  # fmt: skip
CONTRACTS = {
    "attention": ATTENTION,
    "softmax": Contract({"x": array("... n", low=-1e4, high=1e4), "axis": axis_of("x", default=True)}),
    "heads": Contract({"X": array("... n h*d"), "h": size("h")}),
    "average": Contract({"weights": weights("n"), "X": array("n d")}),
    "entropy": Contract({"weights": weights("... n_q n_k")}),
    "positive": Contract({"A": array("n m", low=1e-3, high=1e6, tiny=1e-3)}),
    "doubles": Contract({"x": array("n", low=-3, high=3, tiny=1e-3, float32=False), "eps": real(1e-3, 1, default=True)}),
    "masked": Contract({"scores": array("... n", low=-1000, high=1000), "mask": mask("... n", empty_rows=True)}),
    "padding": Contract({"lengths": lengths("B", "n_k"), "n_k": size("n_k")}),
    "positions": Contract({"X": array("n d"), "positions": whole_numbers("n", -1000, 1000)}),
    "tokens": Contract({"tokens": whole_numbers("n", 0, 6)}),
    "order": Contract({"X": array("n d"), "perm": order("n")}),
    "counts": Contract({"n": whole(1, 300), "window": whole(1, 400)}),
    "layers": Contract({
        "X": array("n d"), "weights": group({"first": group({"W": array("d d")}), "b": array("d")}), "f": among(1, 2)
    }, sizes={"d": (2, 80)}),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTRACTS)
def test_a_covering_set_has_every_category_and_keeps_to_the_contract(name):
    """For every seed, each category is drawn, and no value is outside the contract."""
    contract = CONTRACTS[name]
    allowed = {category.name for category in categories_of(contract)}
    assert len(allowed) > 5
    for seed in range(8):
        covering = cover(contract, seed)
        assert covering.missed == ()
        assert set().union(*(drawn.categories for drawn in covering.inputs)) == allowed
        assert len(covering.inputs) < 60, "a set that is no longer small"
        for drawn in covering.inputs:
            call = contract.bind(drawn.values)
            for path, argument in contract.leaves().items():
                if path in call.values:
                    assert_allowed(argument, call.values[path], call)


def assert_allowed(argument, value, call):
    """Assert that the contract allows the value of one argument."""
    kind = type(argument).__name__
    if kind in ("ArrayArgument", "WeightsArgument"):
        own = [axis for axis in argument.shape if axis != "..."]
        assert value.dtype == np.float64 or (argument.float32 and value.dtype == np.float32)
        assert value.ndim == len(own) or (value.ndim > len(own) and "..." in argument.shape)
        assert 0 < value.size <= 200_000
        assert np.isfinite(value).all()
        assert value.min() >= argument.low
        assert value.max() <= argument.high
        if kind == "WeightsArgument":
            np.testing.assert_allclose(value.sum(-1), 1, rtol=1e-5)
        else:
            assert np.abs(value[value != 0]).min(initial=np.inf) >= min(argument.tiny, 1e-3) * 0.999
    elif kind == "MaskArgument":
        assert value.dtype == bool
        assert argument.empty_rows or value.any(-1).all()
    elif kind == "LengthsArgument":
        assert value.dtype.kind == "i"
        assert value.min() >= argument.low
        assert value.max() <= call.sizes[argument.up_to]
    elif kind == "WholeNumbersArgument":
        assert value.dtype.kind == "i"
        assert value.min() >= argument.low
        assert value.max() <= argument.high
    elif kind == "NumberArgument":
        assert argument.low <= value <= argument.high
        assert isinstance(value, int) == argument.whole


def test_inputs_depend_on_the_seed_only():
    """Every student of a course gets the same inputs. Another course gets different inputs."""
    first, again, other = (cover(ATTENTION, seed).inputs for seed in (1, 1, 2))
    assert all(np.array_equal(a.values["Q"], b.values["Q"]) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first[0].values["Q"], other[0].values["Q"])


def test_a_contract_excludes_categories():
    """A contract excludes a category by its full name, or by the part of the name without the argument."""
    names = {
        category.name
        for category in categories_of(
            Contract({"x": array("n"), "y": array("n")}, exclude={"all huge": "…", "x: all tiny": "…"})
        )
    }
    assert "y: all tiny" in names
    assert not names & {"x: all huge", "y: all huge", "x: all tiny"}


def test_a_category_that_cannot_be_drawn_is_missed():
    """If ``constrain`` prevents a category in every draw, drawing stops and the category is reported as missed."""
    contract = Contract({"x": array("n")}, constrain=lambda values, _rng: {"x": np.abs(values["x"])})
    assert "x: all negative" in cover(contract, 3).missed


def test_sizes_are_read_from_shapes():
    """Sizes come from products, batch axes and size arguments."""
    call = CONTRACTS["heads"].bind({"X": np.zeros((4, 2, 7, 15)), "h": 3})
    assert dict(call.sizes) == {"h": 3, "n": 7, "d": 5}
    assert call.batch == (4, 2)


def test_an_author_adds_a_category():
    """An author's function draws the new category, with the sizes that the function needs."""
    last = InputCategory.custom(
        "x: largest last",
        "the largest number at the end",
        lambda v: len(v["x"]) > 100 and v["x"].argmax() == len(v["x"]) - 1,
        lambda values, _rng: {**values, "x": np.sort(values["x"])},
        sizes={"n": 120},
    )
    covering = cover(Contract({"x": array("n")}, categories=[last]), 0)
    assert any(len(d.values["x"]) == 120 and (np.diff(d.values["x"]) >= 0).all() for d in covering.inputs)


@pytest.mark.parametrize("seed", range(5))
def test_long_axes_have_ordinary_values(seed):
    """Equal rows would hide a mistake in the handling of long axes, so they are not drawn together."""
    found = cover(Contract({"x": array("n d"), "y": array("n d")}), seed).inputs
    long = [drawn for drawn in found if "n: longer than 64" in drawn.categories]
    assert long
    assert not any({f"{name}: equal rows", f"{name}: all equal"} & drawn.categories for drawn in long for name in "xy")


@pytest.mark.parametrize("seed", range(5))
def test_one_size_is_far_above_the_other(seed):
    """A function that leaves out the smaller of two parts is right unless one size is far above the other."""
    contract = Contract({"n": whole(1, 100_000), "d": whole(1, 20_000)})
    ratios = [drawn.values["n"] / drawn.values["d"] for drawn in cover(contract, seed).inputs]
    assert max(ratios) > 100
    assert min(ratios) < 1 / 100


@pytest.mark.parametrize("seed", range(3))
def test_inputs_that_careless_shortcuts_get_wrong(seed):
    """A long axis in a batch, a matrix in Fortran order without a batch, and rows of very different sizes are always drawn."""
    inputs = [drawn.values for drawn in cover(ATTENTION, seed).inputs]
    assert any(v["Q"].ndim > 2 and v["Q"].shape[-2] > 64 for v in inputs)
    assert any(v["K"].ndim == 2 and v["K"].flags.f_contiguous and not v["K"].flags.c_contiguous for v in inputs)
    sizes = [np.abs(d.values["X"]).max(axis=1) for d in cover(CONTRACTS["average"], seed).inputs]
    assert any(0 < rows.min() < 1e-8 * rows.max() for rows in sizes)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_keys_varies_and_a_mask_forbids_something(seed):
    """A dictionary's keys come in both orders, and a mask of a single query also forbids a key."""
    layers = [[*drawn.values["weights"]] for drawn in cover(CONTRACTS["layers"], seed).inputs]
    assert {tuple(keys) for keys in layers} == {("first", "b"), ("b", "first")}
    masks = Contract({"mask": mask("n_q n_k", broadcasts=False)})
    single = [d.values["mask"] for d in cover(masks, seed).inputs if "n_q: 1" in d.categories]
    assert any(0 < found.sum() < found.size for found in single)


@pytest.mark.parametrize("seed", range(3))
def test_entries_have_three_decimals_unless_their_category_needs_more(seed):
    """A student may read the entries of an array. Weights and arrays without equal entries keep all digits."""
    inputs = cover(Contract({"X": array("n d")}), seed).inputs
    short = [x for x in (drawn.values["X"] for drawn in inputs) if np.array_equal(x, np.asarray(x, float).round(3))]
    assert len(short) > len(inputs) / 3
    needing = {"nearly equal numbers in X", "only tiny numbers in X", "numbers in X that float32 cannot tell apart"}
    found = {
        c.phrase for drawn in inputs for c in categories_of(Contract({"X": array("n d")})) if c.name in drawn.categories
    }
    assert needing <= found
    for contract in (Contract({"p": weights("n")}), Contract({"x": array("n", distinct=True)})):
        [name] = contract.arguments
        values = [drawn.values[name] for drawn in cover(contract, seed).inputs]
        assert any(not np.array_equal(x, np.asarray(x, float).round(3)) for x in values)

"""The check of all input categories. If it fails, it reports the category that shows the mistake, and a small case."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autograder.checking.asserts import CheckFailed, CheckStopped
from autograder.checking.decorators import Waits, annotate_check, check
from autograder.checking.inputs.argument import InputCategory
from autograder.checking.inputs.categories import categories_of
from autograder.checking.inputs.contract import Contract
from autograder.checking.inputs.covering import Covering, DrawnInput, cover, draw
from autograder.checking.properties import seed_of, shrinking

__all__ = ["all_categories"]

_OF_LARGEST = 1e-6  # right forms differ by this share of the largest number if large numbers cancel
_CALLS = 40  # the most test calls to find the category and the smallest case
Ask = Callable[[Any, str, Mapping[str, Any]], None]


def all_categories(
    *,
    points: float,
    after: Waits = (),
    title: str = "every kind of input that it may be given",
    ask: Ask | None = None,
    **options: Any,
) -> Callable[..., None]:
    """Return a check that compares the function with the reference on every input category that the contract allows.

    The inputs are a small covering set, drawn from the course secret. If an answer is wrong, each category is tried by itself
    on small arrays, and the message names the category that shows the mistake.

    Args:
        points: The points of the check.
        after: The earlier checks that have to pass before this one is tried.
        title: The title that students read.
        ask: ``ask(agrees, name, values)`` makes the test call, if it takes more than a call with these arguments.
        options: The options of ``assert_matches``.
    """

    def test_every_kind(self: Any, agrees: Any) -> None:
        spec = type(self).__exercise__
        make_call = ask if ask is not None else functools.partial(_call, contract=spec.takes)
        compare = functools.partial(make_call, agrees(**{"of_largest": _OF_LARGEST, **options}), spec.name)
        for drawn in _covering(spec.takes, seed_of(spec.name)).inputs:
            try:
                compare(drawn.values)
            except CheckStopped:
                raise
            except CheckFailed as failure:
                if not shrinking():
                    raise
                raise _CategorySearch(spec.takes, compare).smallest(drawn, failure) from None

    test_every_kind.__doc__ = title
    return annotate_check(kinds=True)(check(points=points, after=after)(test_every_kind))


def _call(agrees: Any, name: str, values: Mapping[str, Any], *, contract: Contract) -> None:
    """Call the function with one input. Optional arguments are passed by name, the others by position."""
    placed = [values[key] for key, argument in contract.arguments.items() if not argument.default]
    named = {key: values[key] for key, argument in contract.arguments.items() if argument.default and key in values}
    getattr(agrees, name)(*placed, **named)


_coverings: dict[tuple[int, int], tuple[Contract, Covering]] = {}


def _covering(contract: Contract, seed: int) -> Covering:
    """Return the covering set of a contract, drawn once."""
    key = (id(contract), seed)
    if key not in _coverings:
        _coverings[key] = contract, cover(contract, seed)  # the contract is kept so that no other gets its id
    return _coverings[key][1]


class _CategorySearch:
    """A search for the category of input that shows a mistake."""

    def __init__(self, contract: Contract, compare: Callable[[Mapping[str, Any]], None]) -> None:
        self.contract, self.compare = contract, compare
        self._calls = 0

    def smallest(self, drawn: DrawnInput, first: CheckFailed) -> CheckFailed:
        """Return the failure on the smallest input of one category, or ``first`` if no category by itself shows it."""
        categories = categories_of(self.contract)
        rng = np.random.default_rng(seed_of(f"{sorted(drawn.categories)}"))
        usual: frozenset[str] = frozenset()
        for _ in range(2):
            ordinary = draw(self.contract, (), categories, rng)
            if ordinary is None:
                continue
            usual |= ordinary.categories
            if failure := self._failure(ordinary):
                return failure  # an ordinary input shows the mistake
        # Of one slot, such as how long an axis is, the gentlest comes first.
        suspects = [c for c in categories if c.name in drawn.categories - usual]
        suspects.sort(key=lambda c: (c.slot != "sizes" or not c.exclusive, _length(c)))
        for _ in range(2):  # each once before any of them again, because there may be more of them than calls
            for category in suspects:
                alone = draw(self.contract, (category,), categories, rng)
                if alone is None or category.name not in alone.categories:
                    continue
                if failure := self._failure(alone):
                    return _with_category(failure, category)
        return first

    def _failure(self, drawn: DrawnInput) -> CheckFailed | None:
        if self._calls >= _CALLS:
            return None
        self._calls += 1
        try:
            self.compare(drawn.values)
        except CheckFailed as failure:
            return failure
        return None


def _length(category: InputCategory) -> int:
    """Return the length of the axis that a category is about, or 0 if it is about something else."""
    last = category.name.rpartition(" ")[2]
    return int(last) if last.isdigit() else 0


def _with_category(failure: CheckFailed, category: InputCategory) -> CheckFailed:
    if isinstance(failure, CheckStopped):
        return failure
    return CheckFailed(f"With {category.phrase}: {failure.reason}", failure.example, kind=failure.kind)

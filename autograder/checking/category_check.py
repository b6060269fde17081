"""The check of all input categories. If it fails, it reports the category that reveals the mistake, and a small failing input."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from autograder.checking.asserts import CheckFailed, CheckStopped
from autograder.checking.decorators import Waits, annotate_check, check
from autograder.checking.inputs.argument import DrawRequest, InputCategory
from autograder.checking.inputs.categories import categories_of
from autograder.checking.inputs.contract import Contract
from autograder.checking.inputs.covering import Covering, DrawnInput, cover, draw
from autograder.checking.properties import seed_of, shrinking

__all__ = ["all_categories"]

_OF_LARGEST = 1e-6  # right solutions may differ by this share of the largest number if large numbers cancel
_CALLS = 60  # the most test calls for finding the category and the smallest case
_LENGTH = re.compile(r"(?: (\d+))?$")  # at the end of a category's name, if the category is about a length
_PAIRS = 3  # the number of pairs of calls, with and without a category, that must confirm the category as the cause
Ask = Callable[[Any, str, Mapping[str, Any]], None]


def all_categories(
    *,
    points: float,
    after: Waits = (),
    title: str = "examples of many kinds of input",
    ask: Ask | None = None,
    **options: Any,
) -> Callable[..., None]:
    """Return a check that compares the function with the reference on every input category that the contract allows.

    The inputs are a small covering set, drawn from the course secret. If an answer is wrong, each category is tried by itself
    on small arrays, and the message names the category that reveals the mistake.

    Args:
        points: The points of the check.
        after: The earlier checks that have to pass before this one is tried.
        title: The title that students read.
        ask: ``ask(agrees, name, values)`` makes the test call, for exercises that need more than one call with ``values``.
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
                raise _CategorySearch(spec.takes, compare).find(drawn, failure) from None

    test_every_kind.__doc__ = title
    return annotate_check(kinds=True)(check(points=points, after=after)(test_every_kind))


def _call(agrees: Any, name: str, values: Mapping[str, Any], *, contract: Contract) -> None:
    """Call the function with one input. Optional arguments are passed by name, required arguments by position."""
    placed = [values[key] for key, argument in contract.arguments.items() if not argument.default]
    named = {key: values[key] for key, argument in contract.arguments.items() if argument.default and key in values}
    getattr(agrees, name)(*placed, **named)


_coverings: dict[tuple[int, int], tuple[Contract, Covering]] = {}


def _covering(contract: Contract, seed: int) -> Covering:
    """Return the covering set of inputs for a contract. It is drawn only once."""
    key = (id(contract), seed)
    if key not in _coverings:
        # Store the contract too, so that no other object can get its id while the entry exists
        _coverings[key] = contract, cover(contract, seed)
    return _coverings[key][1]


class _CategorySearch:
    """A search for the category of input that causes a failure."""

    def __init__(self, contract: Contract, compare: Callable[[Mapping[str, Any]], None]) -> None:
        self.contract, self.compare = contract, compare
        self._categories = categories_of(contract)
        self._calls = 0
        self._usual: frozenset[str] = frozenset()
        self._ordinary: Mapping[str, Any] = {}  # an input on which the result is right
        self._failed: dict[str, Mapping[str, Any]] = {}  # maps each example to the input on which it failed

    def find(self, drawn: DrawnInput, first: CheckFailed) -> CheckFailed:
        """Return the failure to report, and make its test call the latest one, because the judge examines the latest call."""
        found = self._smallest(drawn, first)
        with contextlib.suppress(CheckFailed):
            self.compare(self._failed.get(found.example, drawn.values))
        return found

    def _smallest(self, drawn: DrawnInput, first: CheckFailed) -> CheckFailed:
        """Return the failure on the smallest input of one category, or ``first`` if no category by itself causes a failure.

        The message begins with the category only if further calls confirm that the category is the cause.
        """
        rng = np.random.default_rng(seed_of(f"{sorted(drawn.categories)}"))
        for _ in range(2):
            ordinary = self._draw(rng)
            if ordinary is None:
                continue
            self._usual |= ordinary.categories
            if failure := self._failure(ordinary):
                return failure  # an ordinary input shows the mistake
            self._ordinary = ordinary.values
        # Try exclusive categories of sizes first. If several categories are about the length of an axis, try the shortest first.
        suspects = [c for c in self._categories if c.name in drawn.categories - self._usual]
        suspects.sort(key=lambda c: (c.slot != "sizes" or not c.exclusive, int(_LENGTH.findall(c.name)[0] or 0)))
        unexplained: CheckFailed | None = None
        for _ in range(3):  # try each category once before trying any twice, because the number of calls is limited
            for category in list(suspects):
                alone = self._draw(rng, category)
                if alone is None or category.name not in alone.categories:
                    continue
                if failure := self._failure(alone):
                    if isinstance(failure, CheckStopped) or failure.kind == "chance":
                        return failure
                    if category.length is None:
                        return unexplained or self._if_cause(category, alone, failure)
                    if headed := self._smallest_length(category, alone, failure):
                        return headed
                    # The length of another axis may be the cause.
                    unexplained = unexplained or failure
                    suspects.remove(category)
        return unexplained or first

    def _smallest_length(self, category: InputCategory, long: DrawnInput, failure: CheckFailed) -> CheckFailed | None:
        """Return the failure at the smallest axis length that causes a failure, or None if the length is not the cause."""
        length = category.length
        if length is None or not self._ordinary:
            return None
        low, high = (length(self.contract.bind(values)) for values in (self._ordinary, long.values))
        seed = seed_of(category.name)
        shown, wrong = failure, self.contract.bind(long.values).sizes
        while high - low > 1 and self._calls < _CALLS:
            middle = (low + high) // 2
            drawn = self._of_length(category, middle, seed)
            if drawn is None:
                return None
            found = self._failure(drawn)
            if isinstance(found, CheckStopped):
                return None
            low, high, shown = (low, middle, found) if found else (middle, high, shown)
            wrong = self.contract.bind(drawn.values).sizes if found else wrong
        if high - low > 1 or low < 1:
            return None
        for again, size in ((again, size) for again in range(_PAIRS) for size in (low, high)):  # draw new numbers
            drawn = self._of_length(category, size, seed + 1 + again)
            if drawn is None or self._calls >= _CALLS or bool(self._failure(drawn)) != (size == high):
                return None

        # Another size may have changed as well, for example if n_k = n_q + 5. It is not the cause if it passes with the length `low`.
        drawn = self._of_length(category, low, seed, wrong)
        sizes = self.contract.bind(drawn.values).sizes if drawn is not None else {}
        if drawn is None or sum(sizes.get(axis) != wrong[axis] for axis in wrong) > 1:
            return None
        if self._calls >= _CALLS or self._failure(drawn):
            return None
        phrase = re.sub(r"^more than \d+", str(high), category.phrase)
        phrase = re.sub(r" (above|from) \d+( to \d+)?$", f" = {high}", phrase)
        name = re.search(r"(\w+) = \d+$", phrase)
        return _headed(f"With {phrase} ({f'{name[1]} = {low} passes' if name else f'{low} pass'})", shown)

    def _of_length(
        self, category: InputCategory, size: int, seed: int, others: Mapping[str, int] | None = None
    ) -> DrawnInput | None:
        """Draw an input whose axis has the length ``size``. Return None if the contract allows no such input."""
        length, request = category.length, category.request_length
        if length is None or request is None:
            return None

        def configure(wish: DrawRequest, _: np.random.Generator) -> None:
            wish.sizes.update(others or {})
            request(wish, size)

        exactly = replace(category, configure=configure)
        drawn = (self._draw(np.random.default_rng((seed, again)), exactly) for again in range(6))
        return next((d for d in drawn if d is not None and length(self.contract.bind(d.values)) == size), None)

    def _if_cause(self, category: InputCategory, alone: DrawnInput, failure: CheckFailed) -> CheckFailed:
        """Return ``failure``, with the category in its message if similar calls fail with the category and pass without it.

        Similar calls have the same sizes and batch axes. If another category is also in every failing call and in no passing one, a call with that category alone must pass.
        """
        bound = self.contract.bind(alone.values)

        def request(wish: DrawRequest, _: np.random.Generator) -> None:
            if category.slot != "sizes":
                wish.sizes.update(bound.sizes)
            if category.slot not in {"sizes", "batch"}:
                wish.batch = bound.batch

        same = replace(category, configure=request)
        rng = np.random.default_rng(seed_of(category.name))
        others = alone.categories - self._usual
        for _ in range(_PAIRS):
            without, again = self._draw(rng, same), self._draw(rng, same, category)
            if without is None or again is None or category.name in without.categories:
                return failure
            if category.name not in again.categories or self._calls + 2 > _CALLS:
                return failure
            if self._failure(without) or not self._failure(again):
                return failure
            others = others & again.categories - without.categories
        for other in (c for c in self._categories if c.name in others - {category.name}):
            single = self._draw(rng, other)
            if single is None or category.name in single.categories or self._calls >= _CALLS or self._failure(single):
                return failure  # the other category may be the cause
        return _headed(f"With {category.phrase}", failure)

    def _draw(self, rng: np.random.Generator, *requested: InputCategory) -> DrawnInput | None:
        return draw(self.contract, requested, self._categories, rng)

    def _failure(self, drawn: DrawnInput) -> CheckFailed | None:
        if self._calls >= _CALLS:
            return None
        self._calls += 1
        try:
            self.compare(drawn.values)
        except CheckFailed as failure:
            self._failed[failure.example] = drawn.values
            return failure
        return None


def _headed(heading: str, failure: CheckFailed) -> CheckFailed:
    return CheckFailed(f"{heading}: {failure.reason}", failure.example, kind=failure.kind)

"""The check that visits every kind of input: one call for many kinds, and where it fails, the kind and its smallest case."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autograder.checking.asserts import CheckFailed, CheckStopped
from autograder.checking.contract import Contract
from autograder.checking.covering import Covering, DrawnInput, cover, draw
from autograder.checking.decorators import Waits, annotate_check, check
from autograder.checking.kind import Kind
from autograder.checking.kinds import kinds_of
from autograder.checking.properties import seed_of, shrinking

__all__ = ["every_kind"]

_OF_LARGEST = 1e-7  # of the largest number: what right forms differ by where large numbers cancel
_QUESTIONS = 40  # that are asked at most to find the kind and the smallest case
Ask = Callable[[Any, str, Mapping[str, Any]], None]


def every_kind(
    *,
    points: float,
    after: Waits = (),
    title: str = "every kind of input that it may be given",
    ask: Ask | None = None,
    **options: Any,
) -> Callable[..., None]:
    """A check that holds the function to the reference on every kind of input that the exercise's contract allows.

    The inputs are a small covering set, drawn from the course's secret. ``ask(agrees, name, values)`` asks about one, where
    it takes more than a call with these arguments. Where the student's answer is wrong, the kind that shows it is looked
    for, each by itself in small arrays, and named in the message. ``options`` are those of ``assert_matches``.
    """

    def test_every_kind(self: Any, agrees: Any) -> None:
        spec = type(self).__exercise__
        put = ask if ask is not None else functools.partial(_asked, contract=spec.takes)
        search = _KindSearch(
            spec.takes, functools.partial(put, agrees(**{"of_largest": _OF_LARGEST, **options}), spec.name)
        )
        for drawn in _covering(spec.takes, seed_of(spec.name)).inputs:
            try:
                search.ask(drawn.values)
            except CheckStopped:
                raise
            except CheckFailed as failure:
                if not shrinking():
                    raise
                raise search.smallest(drawn, failure) from None

    test_every_kind.__doc__ = title
    return annotate_check(kinds=True)(check(points=points, after=after)(test_every_kind))


def _asked(agrees: Any, name: str, values: Mapping[str, Any], *, contract: Contract) -> None:
    """Ask for the answer to one input: arguments that may be left out go by name, the others by their places."""
    placed = [values[key] for key, argument in contract.arguments.items() if not argument.default]
    named = {key: values[key] for key, argument in contract.arguments.items() if argument.default and key in values}
    getattr(agrees, name)(*placed, **named)


_coverings: dict[tuple[int, int], tuple[Contract, Covering]] = {}


def _covering(contract: Contract, seed: int) -> Covering:
    """The covering set of a contract, drawn once."""
    key = (id(contract), seed)
    if key not in _coverings:
        _coverings[key] = contract, cover(contract, seed)  # the contract is kept, so that its id stays its own
    return _coverings[key][1]


class _KindSearch:
    """Looks for the kind of input that a wrong answer is due to."""

    def __init__(self, contract: Contract, ask: Callable[[Mapping[str, Any]], None]) -> None:
        self.contract, self.ask = contract, ask
        self._asked = 0

    def smallest(self, drawn: DrawnInput, first: CheckFailed) -> CheckFailed:
        """The failure on the smallest input of one kind; ``first`` where no kind by itself shows it."""
        kinds = kinds_of(self.contract)
        rng = np.random.default_rng(seed_of(f"{sorted(drawn.kinds)}"))
        usual: frozenset[str] = frozenset()
        for _ in range(2):
            plain = draw(self.contract, (), kinds, rng)
            if plain is None:
                continue
            usual |= plain.kinds
            if failure := self._failure(plain):
                return failure  # it takes no special kind
        # Of one slot, such as how long an axis is, the gentlest comes first.
        suspects = [k for k in kinds if k.name in drawn.kinds - usual]
        suspects.sort(key=lambda k: (k.slot != "sizes" or not k.alone, _length(k)))
        for _ in range(2):  # each once before any of them again, as there may be more of them than questions
            for kind in suspects:
                alone = draw(self.contract, (kind,), kinds, rng)
                if alone is None or kind.name not in alone.kinds:
                    continue
                if failure := self._failure(alone):
                    return _with_kind(failure, kind)
        return first

    def _failure(self, drawn: DrawnInput) -> CheckFailed | None:
        if self._asked >= _QUESTIONS:
            return None
        self._asked += 1
        try:
            self.ask(drawn.values)
        except CheckFailed as failure:
            return failure
        return None


def _length(kind: Kind) -> int:
    """How long an axis a kind is about; 0 for kinds of anything else."""
    last = kind.name.rpartition(" ")[2]
    return int(last) if last.isdigit() else 0


def _with_kind(failure: CheckFailed, kind: Kind) -> CheckFailed:
    if isinstance(failure, CheckStopped):
        return failure
    return CheckFailed(f"With {kind.phrase}: {failure.reason}", failure.example, kind=failure.kind)

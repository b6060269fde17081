"""What each test of an Otter question is worth, by Otter's own rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from autograder.base.formatting import pluralize
from autograder.extras.importing.pieces import Test

__all__ = ["shared_out"]


def shared_out(
    where: str, config: Mapping[str, Any], tests: Sequence[tuple[Test, Any]]
) -> tuple[list[Test], list[str]]:
    """The tests with their points, and what has to be told of them.

    A question that says nothing is worth 1 point. What tests say themselves is taken first; the rest of the question's points
    is shared out evenly among the others.
    """
    if not tests:
        return [], []
    told: list[str] = []
    own = _by_test(config, tests)
    whole = _number(config.get("points"))
    said = sum((p for p in own if p is not None), Fraction(0))
    silent = [i for i, p in enumerate(own) if p is None]
    if whole is None and (not said or not silent):
        whole = Fraction(1) if not said and silent else said
    rest = Fraction(0) if whole is None else whole - said
    if rest < 0:
        told.append(
            f"{where}: its tests are worth {pluralize(float(said), 'point')} together and the question says {pluralize(float(whole or 0), 'point')}; the tests count."
        )
        rest = Fraction(0)
    each = rest / len(silent) if silent else Fraction(0)
    if rest > 0 and len(silent) > 1:
        told.append(
            f"{where}: {pluralize(float(rest), 'point')} shared out evenly among {len(silent)} tests, as Otter does."
        )
    worth = [each if p is None else p for p in own]
    if rest > 0 and not silent and said:
        worth = [p * (whole or said) / said for p in worth]
    if config.get("all_or_nothing") is True and len(tests) > 1:
        worth = [Fraction(0)] * (len(tests) - 1) + [sum(worth, Fraction(0))]
        told.append(
            f"{where}: all or nothing, as in the source: its last test carries the points, and waits for the others."
        )
        return [replace(t, points=p, after_visible=p > 0) for (t, _), p in zip(tests, worth, strict=True)], told
    return [replace(test, points=p) for (test, _), p in zip(tests, worth, strict=True)], told


def _by_test(config: Mapping[str, Any], tests: Sequence[tuple[Test, Any]]) -> list[Fraction | None]:
    given = config.get("points")
    own = [_number(points) for _, points in tests]
    if isinstance(given, list):
        listed = [_number(one) for one in given] + [None] * len(tests)
        return [p if p is not None else q for p, q in zip(own, listed, strict=False)]
    if isinstance(given, dict):
        each = _number(given.get("each"))
        return [p if p is not None else each for p in own]
    kinds = {False: _number(config.get("public_points")), True: _number(config.get("private_points"))}
    for hidden, share in kinds.items():
        members = [i for i, (test, _) in enumerate(tests) if test.hidden == hidden and own[i] is None]
        for i in members:
            own[i] = share / len(members) if share is not None else None
    return own


def _number(value: Any) -> Fraction | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e6:
        return None
    return Fraction(value).limit_denominator(1000)

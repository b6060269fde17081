"""Questions that no check asks, made of those that it asks: for an exercise whose checks draw no inputs.

They stay near what is asked, so that they are questions that may be asked: numbers keep their sign, nothing becomes empty.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograder.sandbox.protocol import Call
from autograder.sandbox.script import is_script, longest

__all__ = ["varied"]

_EACH = 4  # questions made of each that is asked


def varied(calls: Sequence[Call], number: int) -> list[Call]:
    """Questions like ``calls``, each with one or two of its values changed; others for another ``number``."""
    chance = random.Random(number)  # noqa: S311 - the same questions at every run
    scripts = longest(calls)
    asked = [*scripts, *(call for call in calls if not is_script(call))]
    return [_changed(call, chance) for call in asked for _ in range(_EACH)]


def _changed(call: Call, chance: random.Random) -> Call:
    if not is_script(call):
        return dataclasses.replace(call, args=_in_one(call.args, chance))
    steps, *rest = call.args
    # Only what is given to a method is a value: which method it is, and on which object, stays.
    places = [i for i, step in enumerate(steps) if any(kind == "v" for kind, _ in step[3])]
    steps = list(steps)
    for place in chance.sample(places, min(len(places), 1 + chance.randrange(2))):
        do, on, name, given, *more = steps[place]
        given = [(kind, _other(value, chance) if kind == "v" else value) for kind, value in given]
        steps[place] = (do, on, name, given, *more)
    return dataclasses.replace(call, args=(steps, *rest))


def _in_one(values: Sequence[Any], chance: random.Random) -> tuple[Any, ...]:
    place = chance.randrange(len(values)) if values else -1
    return tuple(_other(value, chance) if i == place else value for i, value in enumerate(values))


def _other(value: Any, chance: random.Random) -> Any:
    """A value of the same type near ``value``; the same where none is known."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + (1 if value >= 0 else -1) * chance.randrange(1, 4)
    if isinstance(value, float):
        return value * chance.choice((0.5, 1.25, 3.0))
    if isinstance(value, str):
        return _other_text(value, chance)
    if isinstance(value, list | tuple):
        return type(value)(_other_items(list(value), chance)) if type(value) in (list, tuple) else value
    if isinstance(value, set | frozenset):
        return type(value)(_other(item, chance) for item in value)
    if isinstance(value, dict):
        return {key: _other(item, chance) for key, item in value.items()}
    if isinstance(value, np.ndarray) and value.ndim:
        return value[::-1].copy()
    return value


def _other_text(text: str, chance: random.Random) -> str:
    words = text.split(" ")
    chance.shuffle(words)
    return chance.choice((text.upper(), text.lower(), text.title(), " ".join(words), f"{text} {text}", text + text[:1]))


def _other_items(items: list[Any], chance: random.Random) -> list[Any]:
    if not items:
        return items
    place = chance.randrange(len(items))
    return chance.choice((
        items[::-1],
        [*items, items[place]],
        items[:-1] or items,
        [_other(item, chance) if i == place else item for i, item in enumerate(items)],
    ))  # fmt: skip

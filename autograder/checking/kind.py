"""A kind of input: how it is recognised in a call, and how a call of that kind is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np

from autograder.checking.reading import Reading

__all__ = ["Kind", "Path", "Wish", "styled"]

Path = tuple[str, ...]
Test = Callable[[Any, Reading], bool]


@dataclass
class Wish:
    """What a call to be drawn should be like; whatever is not wished for stays ordinary.

    ``styles`` and ``layouts`` are by the path of an argument, ``after`` changes the drawn values by name. ``along`` is the length
    of the axis that an argument names.
    """

    sizes: dict[str, int] = field(default_factory=dict)
    alike: bool = False
    batch: tuple[int, ...] | None = None
    styles: dict[Path, str] = field(default_factory=dict)
    layouts: set[Path] = field(default_factory=set)
    left_out: set[str] = field(default_factory=set)
    float32: bool = False
    along: int | None = None
    after: list[Callable[[dict[str, Any], np.random.Generator], dict[str, Any] | None]] = field(default_factory=list)


@dataclass(frozen=True)
class Kind:
    """A kind of input: its name, how a student reads it (after "with"), and how it is known and drawn.

    ``slot``: of two kinds that share one, a call can be of one. ``alone``: other arguments stay ordinary beside it, since
    it would hide what they are like.
    """

    name: str
    phrase: str
    holds: Callable[[Reading], bool]
    wish: Callable[[Wish, np.random.Generator], None]
    _: KW_ONLY
    slot: str
    alone: bool = False

    @classmethod
    def added(
        cls,
        name: str,
        phrase: str,
        holds: Callable[[dict[str, Any]], bool],
        make: Callable[[dict[str, Any], np.random.Generator], dict[str, Any] | None],
        sizes: Mapping[str, int] | None = None,
    ) -> Kind:
        """A kind of an author's own: ``holds(values)`` knows it, ``make(values, rng)`` changes drawn values into it.

        Both are given the arguments by name. ``make`` may return None where these values will not do. ``sizes`` are those of
        axes, by their letters, that the values are drawn with.
        """

        def known(reading: Reading) -> bool:
            return bool(holds(_by_name(reading.values)))

        def asked(wish: Wish, _rng: np.random.Generator) -> None:
            wish.after.append(make)
            wish.sizes.update(sizes or {})

        return cls(name, phrase, known, asked, slot="author", alone=True)


def _by_name(leaves: Mapping[Path, Any]) -> dict[str, Any]:
    """The arguments by name, those of a dictionary in dictionaries again."""
    found: dict[str, Any] = {}
    for path, value in leaves.items():
        place = found
        for key in path[:-1]:
            place = place.setdefault(key, {})
        place[path[-1]] = value
    return found


def styled(path: Path, style: str, phrase: str, test: Test, *, alone: bool = False) -> Kind:
    """The kind of input whose argument at ``path`` passes ``test(value, reading)``, drawn by the style of that name."""

    def holds(reading: Reading) -> bool:
        return path in reading.values and test(reading.values[path], reading)

    def wish(asked: Wish, _rng: np.random.Generator) -> None:
        asked.styles[path] = style

    return Kind(f"{'.'.join(path)}: {style}", phrase, holds, wish, slot=f"value {path}", alone=alone)

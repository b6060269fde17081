"""The kinds of input that a contract allows: how each is recognised in a call, and how a call of that kind is drawn.

The list is the framework's: sizes and batch axes, signs and magnitudes, equal and nearly equal entries, narrow floats,
memory layouts, masks, scalars at their ends, defaults. ``Contract(kinds=…)`` adds an author's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np

from autograder.checking.contract import (
    ArrayArgument,
    AxisArgument,
    Contract,
    LengthsArgument,
    MaskArgument,
    NumberArgument,
    OrderArgument,
    Reading,
    SizeArgument,
)

__all__ = ["Kind", "Wish", "kinds_of"]

EXP_HIGH, EXP_LOW = 709.8, -745.2  # np.exp is infinite above, and 0 below
LONG_AXES = (64, 127, 300)
Path = tuple[str, ...]


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
            return bool(holds({path[0]: value for path, value in reading.values.items()}))

        def asked(wish: Wish, _rng: np.random.Generator) -> None:
            wish.after.append(make)
            wish.sizes.update(sizes or {})

        return cls(name, phrase, known, asked, slot="author", alone=True)


def kinds_of(contract: Contract) -> list[Kind]:
    """Every kind of input that ``contract`` allows, but for those that it rules out."""
    found = [*_of_sizes(contract), *_of_batches(contract), *_of_layout(contract), *contract.kinds]
    for path, argument in contract.leaves().items():
        name = path[-1]
        if isinstance(argument, ArrayArgument):
            found += _of_array(path, name, argument)
        elif isinstance(argument, MaskArgument):
            found += _of_mask(path, name, argument)
        elif isinstance(argument, LengthsArgument):
            found += _of_lengths(path, name, argument)
        elif isinstance(argument, OrderArgument):
            found += _of_order(path, name)
        elif isinstance(argument, NumberArgument):
            found += _of_number(path, name, argument)
        elif isinstance(argument, AxisArgument):
            found += _of_axis(path, name, argument)
        if argument.default and len(path) == 1:
            found.append(_left_out(path))
    return [kind for kind in found if not any(_is_never(kind.name, rule) for rule in contract.never)]


def _is_never(name: str, rule: str) -> bool:
    """A rule is a kind's whole name, or the part after the colon, for every argument: ``"all huge"``."""
    return rule in (name, name.partition(": ")[2])


# sizes and batch axes


def _of_sizes(contract: Contract) -> Iterator[Kind]:
    letters = contract.letters()
    whole = {a.letter for a in contract.leaves().values() if isinstance(a, SizeArgument)}
    for letter in letters:
        low, high = contract.limits_of(letter)
        if low <= 1:
            yield Kind(
                f"{letter}: 1",
                f"{letter} = 1",
                lambda r, letter=letter: r.sizes.get(letter) == 1,
                lambda wish, _rng, letter=letter: wish.sizes.update({letter: 1}),
                slot="sizes",
                alone=letter not in whole,
            )
        for length in LONG_AXES[::-1]:  # what is longer than 300 is longer than 64
            if high > length:
                yield Kind(
                    f"{letter}: longer than {length}",
                    f"{letter} above {length}",
                    lambda r, letter=letter, length=length: r.sizes.get(letter, 0) > length,
                    lambda wish, rng, letter=letter, length=length, high=high: wish.sizes.update(
                        {letter: int(rng.integers(length + 1, min(high, length + 20) + 1))}
                    ),
                    slot="sizes",
                )
    if len(letters) > 1:
        yield Kind("sizes: all alike", "all sizes alike", _alike, _wish_alike, slot="sizes")
        yield Kind(
            "sizes: all different",
            "all sizes different",
            lambda r: len(r.sizes) > 1 and len(set(r.sizes.values())) == len(r.sizes),
            lambda _wish, _rng: None,
            slot="sizes",
        )


def _alike(reading: Reading) -> bool:
    sizes = [*reading.sizes.values(), *(reading.batch or ())]
    return len(reading.sizes) > 1 and len(set(sizes)) == 1 and sizes[0] > 1


def _wish_alike(wish: Wish, _rng: np.random.Generator) -> None:
    wish.alike = True


def _of_batches(contract: Contract) -> Iterator[Kind]:
    if not contract.has_batch():
        return
    words = {0: "no batch axis", 1: "one batch axis", 2: "two batch axes", 3: "three batch axes"}
    for count, phrase in words.items():
        yield Kind(
            f"batch: {phrase}",
            phrase,
            lambda r, count=count: r.batch is not None and len(r.batch) == count,
            lambda wish, rng, count=count: setattr(wish, "batch", tuple(map(int, rng.permutation([2, 3, 2])[:count]))),
            slot="batch",
        )
    yield Kind(
        "batch: of 1",
        "a batch axis of length 1",
        lambda r: 1 in (r.batch or ()),
        lambda wish, _rng: setattr(wish, "batch", (1,)),
        slot="batch",
    )


# layout, narrow floats, defaults


def _of_layout(contract: Contract) -> Iterator[Kind]:
    arrays = {p: a for p, a in contract.leaves().items() if isinstance(a, ArrayArgument) and a.shape}
    for path in arrays:
        yield Kind(
            f"{path[-1]}: not contiguous" if len(path) == 1 else f"{'.'.join(path)}: not contiguous",
            f"{path[-1]} not contiguous in memory, as a transpose or a slice with a step is",
            lambda r, path=path: path in r.values and not r.values[path].flags.c_contiguous,
            lambda wish, _rng, path=path: wish.layouts.add(path),
            slot=f"layout {path}",
        )
    if arrays and all(a.float32 for a in arrays.values()):
        yield Kind(
            "float32",
            "float32 numbers",
            lambda r: any(r.values[p].dtype == np.float32 for p in arrays if p in r.values),
            lambda wish, _rng: setattr(wish, "float32", True),
            slot="dtype",
            alone=True,
        )


def _left_out(path: Path) -> Kind:
    return Kind(
        f"{path[0]}: left out",
        f"{path[0]} left out",
        lambda r: path not in r.values,
        lambda wish, _rng: wish.left_out.add(path[0]),
        slot=f"value {path}",
    )


# entries of arrays


def _several(a: np.ndarray) -> bool:
    return a.size > 1


def _sizes_of(a: np.ndarray) -> np.ndarray:
    """The sizes of the entries that are not 0; a single 0 where all are."""
    found = np.abs(a[a != 0])
    return found if found.size else np.zeros(1)


def _ptp(a: np.ndarray) -> float:
    return float(a.max() - a.min())


def _nearly_equal(a: np.ndarray) -> bool:
    gaps = np.diff(np.sort(a, axis=None))
    return bool(((gaps > 0) & (gaps <= 1e-5 * max(1e-300, float(np.abs(a).max())))).any())


def _lost_in_float32(a: np.ndarray) -> bool:
    if a.dtype != np.float64:
        return False
    with np.errstate(all="ignore"):
        narrow = a.astype(np.float32).astype(np.float64)
    return bool(((narrow == 0) & (a != 0)).any() or np.unique(narrow).size < np.unique(a).size)


# Name, phrase, how an array of that kind is known, whether a range (low, high, tiny) allows it, and whether it hides
# what the other arguments are like.
_ENTRIES: tuple[
    tuple[str, str, Callable[[np.ndarray], bool], Callable[[float, float, float], bool], bool], ...
] = (
    ("all negative", "only negative numbers in {}", lambda a: _several(a) and bool(a.max() < 0), lambda lo, _hi, _t: lo < 0, False),
    ("all positive", "only positive numbers in {}", lambda a: _several(a) and bool(a.min() > 0), lambda lo, hi, _t: lo < 0 < hi, False),
    ("far below zero", "all of {} far below zero", lambda a: _several(a) and bool(a.max() < EXP_LOW), lambda lo, _hi, _t: lo < 1.2 * EXP_LOW, False),
    ("beyond the range of exp", "numbers in {} above 709 and below -745", lambda a: bool(a.max() > EXP_HIGH and a.min() < EXP_LOW), lambda lo, hi, _t: lo < 1.2 * EXP_LOW and hi > 1.2 * EXP_HIGH, False),
    ("far from zero for its spread", "the numbers in {} close together and far from zero", lambda a: _several(a) and 0 < _ptp(a) < 0.01 * abs(float(a.mean())), lambda lo, hi, _t: hi - lo > 1 and max(abs(lo), abs(hi)) >= 1000, False),
    ("all equal", "all numbers in {} equal", lambda a: _several(a) and _ptp(a) == 0 and bool(a.flat[0] != 0), lambda _lo, _hi, _t: True, True),
    ("some equal", "equal numbers in {}", lambda a: 1 < np.unique(a).size < a.size, lambda _lo, _hi, _t: True, False),
    ("nearly equal", "nearly equal numbers in {}", _nearly_equal, lambda _lo, _hi, _t: True, False),
    ("all zero", "only zeros in {}", lambda a: not a.any(), lambda lo, hi, _t: lo <= 0 <= hi, True),
    ("some zeros", "zeros in {}", lambda a: bool(a.any() and (a == 0).any()), lambda lo, hi, _t: lo <= 0 <= hi, False),
    ("tiny beside large", "tiny numbers beside large ones in {}", lambda a: bool(_sizes_of(a).min() <= 1e-6 * _sizes_of(a).max() and a.any()), lambda lo, hi, t: max(abs(lo), hi) >= 1e6 * t, False),
    ("all small", "only numbers of about a hundredth in {}", lambda a: 1e-4 < float(_sizes_of(a).max()) <= 0.05, lambda _lo, _hi, t: t <= 1e-4, True),
    ("all tiny", "only tiny numbers in {}", lambda a: 0 < float(_sizes_of(a).max()) <= 1e-4, lambda _lo, _hi, t: t <= 1e-5, True),
    ("all huge", "only huge numbers in {}", lambda a: float(np.abs(a).min()) >= 1e4, lambda lo, hi, _t: max(abs(lo), hi) >= 1e5, False),
    ("more digits than float32 has", "numbers in {} that float32 cannot tell apart", _lost_in_float32, lambda lo, hi, _t: hi - lo > 1, False),
)  # fmt: skip
# What needs distinct entries cannot have equal ones.
_EQUAL = {"all equal", "some equal", "all zero", "some zeros"}

_WEIGHTS: tuple[tuple[str, str, Callable[[np.ndarray], bool], bool], ...] = (
    ("all on one", "a weight of exactly 1 in {}", lambda a: bool((a == 1).any()) and a.shape[-1] > 1, True),
    ("some zeros", "zeros in {}", lambda a: bool((a == 0).any()), False),
    ("no zeros", "no zeros in {}", lambda a: bool((a > 0).all()), False),
    ("tiny beside large", "tiny numbers beside large ones in {}", lambda a: bool(((a > 0) & (a < 1e-7)).any()), False),
    ("small", "numbers of about a hundredth or a thousandth in {}", lambda a: bool(((a > 1e-5) & (a < 1e-2)).any()), False),
    ("near 1", "a number just below 1 in {}", lambda a: bool(((a < 1) & (a > 0.99)).any()), False),
    ("all equal", "all numbers in a row of {} equal", lambda a: a.shape[-1] > 1 and bool((a.max(-1) - a.min(-1) < 1e-12).any()), True),
    ("some equal", "equal numbers in {}", lambda a: np.unique(a).size < a.size, False),
)  # fmt: skip


def _of_array(path: Path, name: str, argument: ArrayArgument) -> Iterator[Kind]:
    label = ".".join(path)
    for style, phrase, known, alone in _array_styles(argument):
        yield Kind(
            f"{label}: {style}",
            phrase.format(name),
            lambda r, known=known: path in r.values and r.values[path].size > 0 and known(r.values[path]),
            lambda wish, _rng, style=style: wish.styles.update({path: style}),
            slot=f"value {path}",
            alone=alone,
        )


def _array_styles(argument: ArrayArgument) -> Iterator[tuple[str, str, Callable[[np.ndarray], bool], bool]]:
    if argument.sums_to_one:
        yield from _WEIGHTS
        return
    for style, phrase, known, allowed, alone in _ENTRIES:
        if allowed(argument.low, argument.high, argument.tiny) and not (argument.distinct and style in _EQUAL):
            yield style, phrase, known, alone


# masks and lengths


def _of_mask(path: Path, name: str, argument: MaskArgument) -> Iterator[Kind]:
    def known(test: Callable[[np.ndarray], bool]) -> Callable[[Reading], bool]:
        return lambda r: path in r.values and r.values[path].size > 0 and test(r.values[path])

    full = len([a for a in argument.shape if a != "..."])
    styles: list[tuple[str, str, Callable[[np.ndarray], bool]]] = [
        ("everything allowed", f"a {name} that allows everything", lambda m: bool(m.all())),
        ("one allowed in a row", f"a {name} with one place allowed in a row", lambda m: bool((m.sum(-1) == 1).any()) and m.shape[-1] > 1),
    ]  # fmt: skip
    if argument.shape[-2:-1] != ("1",):
        styles.append(("different rows", f"a {name} with a row for each", lambda m: m.ndim > 1 and bool((m != m[..., :1, :]).any())))  # fmt: skip
    if argument.empty_rows:
        styles += [
            ("nothing allowed in a row", f"a row of {name} that allows nothing", lambda m: bool((~m.any(-1)).any() and m.any())),
            ("nothing allowed", f"a {name} that allows nothing", lambda m: not m.any()),
        ]  # fmt: skip
    if argument.broadcasts:
        styles.append(("a row for all", f"a {name} with an axis of 1 where others have more", lambda m: 1 in m.shape))
        if "..." in argument.shape:
            styles.append(("fewer axes", f"a {name} with no batch axes of its own", lambda m: m.ndim <= full))
            styles.append(("batch axes of its own", f"a {name} for each entry of the batch", lambda m: m.ndim > full))
    for style, phrase, test in styles:
        yield Kind(
            f"{name}: {style}",
            phrase,
            known(test),
            lambda wish, _rng, style=style: wish.styles.update({path: style}),
            slot=f"value {path}",
            alone=style in {"nothing allowed", "one allowed in a row"},
        )


def _of_lengths(path: Path, name: str, argument: LengthsArgument) -> Iterator[Kind]:
    def top(reading: Reading) -> int:
        return reading.sizes.get(argument.up_to, -1)

    styles: list[tuple[str, str, Callable[[np.ndarray, int], bool]]] = [
        ("all the whole length", f"every entry of {name} as large as it may be", lambda a, n: bool((a == n).all())),
        ("one the whole length", f"an entry of {name} as large as it may be", lambda a, n: bool((a == n).any())),
        ("the smallest", f"an entry of {name} as small as it may be", lambda a, _n: bool((a == argument.low).any())),
        ("all different", f"different {name}", lambda a, _n: a.size > 1 and np.unique(a).size == a.size),
        ("all equal", f"equal {name}", lambda a, n: a.size > 1 and np.unique(a).size == 1 and bool(a.flat[0] < n)),
    ]  # fmt: skip
    for style, phrase, test in styles:
        yield Kind(
            f"{name}: {style}",
            phrase,
            lambda r, test=test: path in r.values and np.size(r.values[path]) > 0 and test(r.values[path], top(r)),
            lambda wish, _rng, style=style: wish.styles.update({path: style}),
            slot=f"value {path}",
        )


def _of_order(path: Path, name: str) -> Iterator[Kind]:
    styles: list[tuple[str, str, Callable[[np.ndarray], bool]]] = [
        ("not undone by itself", f"a {name} that does not undo itself", lambda a: bool((a[a] != np.arange(a.size)).any())),
        ("as it is", f"a {name} that leaves everything in its place", lambda a: bool((np.diff(a) == 1).all())),
        ("undone by itself", f"a {name} that undoes itself", lambda a: bool((np.diff(a) != 1).any() and (a[a] == np.arange(a.size)).all())),
    ]  # fmt: skip
    for style, phrase, test in styles:
        yield Kind(
            f"{name}: {style}",
            phrase,
            lambda r, test=test: path in r.values and r.values[path].size > 1 and test(r.values[path]),
            lambda wish, _rng, style=style: wish.styles.update({path: style}),
            slot=f"value {path}",
            alone=style == "as it is",
        )


# scalars


def _of_number(path: Path, name: str, argument: NumberArgument) -> Iterator[Kind]:
    low, high = argument.low, argument.high
    styles: list[tuple[str, str, Callable[[float], bool]]] = [
        ("smallest", f"the smallest {name}", lambda v: v <= low + 1e-9 if argument.whole else v <= _near(low, high)),
        ("large", f"a large {name}", lambda v: v >= _large(low, high)),
        ("in between", f"an ordinary {name}", lambda v: low < v < _large(low, high)),
    ]
    if argument.whole and high - low < 2:
        styles.pop()
    for style, phrase, test in styles:
        yield Kind(
            f"{name}: {style}",
            phrase,
            lambda r, test=test: path in r.values and test(float(r.values[path])),
            lambda wish, _rng, style=style: wish.styles.update({path: style}),
            slot=f"value {path}",
        )


def _near(low: float, high: float) -> float:
    """How small a number with a fraction is to be near its lower end."""
    return low * 2 if low > 0 else low + 0.01 * (high - low)


def _large(low: float, high: float) -> float:
    """From where on a number is large for its range."""
    return math.sqrt(low * high) if low > 0 else low + 0.5 * (high - low)


def _of_axis(path: Path, name: str, argument: AxisArgument) -> Iterator[Kind]:
    def along(reading: Reading) -> int:
        shape = np.shape(reading.values.get((argument.of,), 0))
        axis = int(reading.values.get(path, -1))
        return shape[axis] if -len(shape) <= axis < len(shape) else 0

    for length in LONG_AXES[::-1]:
        yield Kind(
            f"along {name}: longer than {length}",
            f"more than {length} numbers along {name}",
            lambda r, length=length: path in r.values and along(r) > length,
            lambda wish, rng, length=length: setattr(wish, "along", int(rng.integers(length + 1, length + 21))),
            slot="sizes",
        )
    yield Kind(
        f"along {name}: 1",
        f"a single number along {name}",
        lambda r: path in r.values and along(r) == 1,
        lambda wish, _rng: setattr(wish, "along", 1),
        slot="sizes",
        alone=True,
    )

    def axes(reading: Reading) -> int:
        return int(np.ndim(reading.values.get((argument.of,), 0)))

    styles: list[tuple[str, str, Callable[[int, int], bool]]] = [
        ("first", f"the first {name}", lambda v, n: v % n == 0 and n > 1),
        ("last", f"the last {name}", lambda v, n: v % n == n - 1 and n > 1),
        ("in the middle", f"an {name} in the middle", lambda v, n: 0 < v % n < n - 1),
        ("from the front", f"an {name} counted from the front", lambda v, _n: v >= 0),
        ("from the end", f"an {name} counted from the end", lambda v, _n: v < 0),
    ]
    for style, phrase, test in styles:
        yield Kind(
            f"{name}: {style}",
            phrase,
            lambda r, test=test: path in r.values and axes(r) > 0 and test(int(r.values[path]), axes(r)),
            lambda wish, _rng, style=style: wish.styles.update({path: style}),
            slot=f"value {path}",
        )

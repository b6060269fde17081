"""Plain values compared part by part: where two first differ, and the sentence that says how.

Types are held apart where Python means something else by them: a string of digits is no number, ``True`` is no 1, a
list no set. A list, a tuple, a range and what a generator gives are one sequence. The standard library and NumPy only.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.base.errors import CourseError
from autograder.sandbox.guest.wire_limits import MAX_NODES
from autograder.sandbox.guest.wire_plain import Iterated
from autograder.sandbox.guest.wire_tables import is_pandas
from autograder.sandbox.protocol import Opaque
from autograder.values.differences import (
    Difference,
    inline_value,
    line_difference,
    lines_difference,
    mismatch_message,
    missing_and_extra,
    wrong_plain_type,
)
from autograder.values.text import PLAIN, listed, plain_kind, sorted_members, source

__all__ = ["Comparison", "is_builtin", "reject_opaque"]

FEW_KEYS = 6  # that are all told where one is missing
MAX_GREEDY = 300  # items that are held against each other one by one, where their order does not count
_NUMBERS = (int, float, complex, np.number)
_SEQUENCES = (list, tuple, range)


def is_builtin(value: Any) -> bool:
    """Whether ``value`` is compared here: it holds no numeric array, and is more than a number or a row of numbers."""
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind in "UMm"
    if is_pandas(value):
        return False
    if isinstance(value, (*PLAIN, Iterated)):
        return True
    if isinstance(value, list | dict):
        return not _holds_array(value)
    return isinstance(value, tuple) and not _holds_array(value) and not all(isinstance(v, _NUMBERS) for v in value)


def _holds_array(value: Any) -> bool:
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind not in "UMm" and value.ndim > 0
    if is_pandas(value):
        return True
    if isinstance(value, dict):
        return any(map(_holds_array, value.values()))
    return isinstance(value, list | tuple) and any(map(_holds_array, value))


def reject_opaque(expected: Any) -> None:
    """Raise ``CourseError`` where the right answer itself is something that cannot cross: nothing can be held against it."""
    if isinstance(expected, Opaque):
        raise CourseError(
            f"The right answer is of type {expected.type}, which cannot leave a student's process. Let the function give arrays, "
            "numbers, texts, dates, lists, dicts or sets, or look at what it gives with student.probe(…)."
        )


@dataclass(frozen=True)
class Comparison:
    """How values are compared. Numbers are equal at ``rtol`` and ``atol``, whole numbers only where they are the same.

    ``order=False``: items may come in any order; ``order=True``: the keys of a dictionary have an order, too.
    ``exact_type``: a list is no tuple, and 3 is no 3.0. ``extra_keys``: a dictionary may have more keys than the right one.
    ``refuses``: a right answer that cannot cross raises ``CourseError``, since nothing can be held against it.
    ``of_largest``: numbers may be off by this share of themselves.
    """

    rtol: float = 1e-5
    atol: float = 1e-6
    order: bool | None = None
    exact_type: bool = False
    extra_keys: bool = False
    of_largest: float = 0.0
    refuses: bool = False

    def difference(self, found: Any, right: Any) -> Difference | None:
        """Where ``found`` is not ``right``; ``None`` where nothing is wrong."""
        if type(found) is type(right) and type(found) in (str, bool, bytes, int) and found == right:
            return None
        if right is None or isinstance(right, bool | np.bool_):
            same = found is None if right is None else isinstance(found, bool | np.bool_) and bool(found) == bool(right)
            return None if same else mismatch_message(found, right)
        if isinstance(right, str):
            return self._text(found, str(right))
        if isinstance(right, _NUMBERS) and not isinstance(right, np.timedelta64):
            return None if self._same_number(found, right) else mismatch_message(found, right)
        if isinstance(right, dict):
            return self._mapping(found, right)
        if isinstance(right, set | frozenset):
            return self._members(found, right)
        if isinstance(right, np.ndarray):
            return self._array(found, right)
        if isinstance(right, _SEQUENCES):
            return self._sequence(found, right)
        if self.refuses:
            reject_opaque(right)
        return None if _same_leaf(found, right) else mismatch_message(found, right)

    def _same_number(self, found: Any, right: Any) -> bool:
        if isinstance(found, np.ndarray) and not found.ndim:
            found = found[()]
        if not isinstance(found, _NUMBERS) or isinstance(found, bool | np.timedelta64):
            return False
        if isinstance(found, int | np.integer) and isinstance(right, int | np.integer):
            return int(found) == int(right)
        if self.exact_type and type(found) is not type(right) and not isinstance(found, np.generic):
            return False
        if isinstance(right, np.number):
            right = right.item()
        if isinstance(found, np.number):
            found = found.item()
        try:
            if found == right or (found != found and right != right):  # noqa: PLR0124 - NaN is not itself
                return True
            allowed = max(self.atol, self.of_largest * abs(right)) + self.rtol * abs(right)
            return bool(math.isfinite(abs(right)) and abs(found - right) <= allowed)
        except OverflowError:  # a whole number that no float holds
            return False

    def _text(self, found: Any, right: str) -> Difference | None:
        if not isinstance(found, str):
            return mismatch_message(found, right)
        if found == right:
            return None
        if "\n" in right or "\n" in found:
            return lines_difference(found, right)
        return line_difference(found, right)

    def _mapping(self, found: Any, right: dict[Any, Any]) -> Difference | None:
        if not isinstance(found, dict):
            return wrong_plain_type(found, "a dictionary", right)
        pairs, missing, extra = self._paired(found, right)
        if self.extra_keys:
            extra = []
        if missing or extra:
            clause = missing_and_extra("the dictionary", missing, extra, " the key", found)
            if not extra and 0 < len(found) <= FEW_KEYS:
                clause = f"the dictionary lacks {listed(missing)}; it has {listed(found)}."
            return Difference(clause, "length", found, right)
        if self.order and [key for key, _ in pairs] != [*found]:
            at, (key, now) = next((i, (a, b)) for i, ((a, _), b) in enumerate(zip(pairs, found, strict=True)) if a != b)
            clause = f"the keys of the dictionary are in another order: {source(now)} comes at place {at + 1} where {source(key)} is right."
            return Difference(clause, "values", found, right)
        for own, key in pairs:
            if (inside := self.difference(found[own], right[key])) is not None:
                return inside.within("dictionary", own)
        return None

    def _members(self, found: Any, right: Any) -> Difference | None:
        if not isinstance(found, set | frozenset) or (self.exact_type and type(found) is not type(right)):
            return wrong_plain_type(found, f"a {type(right).__name__}", right)
        _pairs, missing, extra = self._paired(found, right)
        if not (missing or extra):
            return None
        return Difference(
            missing_and_extra("the set", sorted_members(missing), sorted_members(extra), "", found),
            "values",
            found,
            right,
        )

    def _paired(self, found: Iterable[Any], right: Iterable[Any]) -> tuple[list[tuple[Any, Any]], list[Any], list[Any]]:
        """The keys of one that are those of the other, which are missing, and which are too many; floats at tolerance."""
        own = {_ident(key): key for key in found}
        pairs, missing = [], []
        for key in right:
            ident = _ident(key)
            if ident in own:
                pairs.append((own.pop(ident), key))
            else:
                missing.append(key)
        extra = list(own.values())
        if missing and extra and all(isinstance(key, float | int | np.number) for key in (*missing, *extra)):
            near = self._near(sorted(extra), sorted(missing)) if len(missing) == len(extra) else None
            if near is not None:
                return pairs + near, [], []
        return pairs, missing, extra

    def _near(self, found: list[Any], right: list[Any]) -> list[tuple[Any, Any]] | None:
        near = [(a, b) for a, b in zip(found, right, strict=True) if self._same_number(a, b)]
        return near if len(near) == len(right) else None

    def _array(self, found: Any, right: np.ndarray) -> Difference | None:
        """An array of texts or dates; a list of them is as good."""
        if isinstance(found, list | tuple):
            try:
                found = np.asarray(found, dtype=None if right.dtype.kind == "U" else right.dtype)
            except (ValueError, TypeError, OverflowError):
                return wrong_plain_type(found, plain_kind(right), right)
        if not isinstance(found, np.ndarray) or found.dtype.kind != right.dtype.kind:
            return wrong_plain_type(found, plain_kind(right), right)
        if found.shape != right.shape:
            clause = f"has shape {found.shape}; it should have shape {right.shape}."
            return Difference(f"the array {clause}", "shape", None, None, alone=f"it {clause}")
        try:
            same = found == right
        except (TypeError, ValueError, OverflowError):  # years and days have no common unit
            same = np.zeros(right.shape, dtype=bool)
        if right.dtype.kind in "Mm":
            same |= np.isnat(found) & np.isnat(right)
        if same.all():
            return None
        place = tuple(int(i) for i in np.argwhere(~same)[0])
        return mismatch_message(found[place], right[place]).within("array", place)

    def _sequence(self, found: Any, right: Any) -> Difference | None:
        items = _items(found)
        name = _name_of(right)
        if items is None or (self.exact_type and _name_of(found) != name):
            return wrong_plain_type(found, f"{'an' if name[0] in 'aeio' else 'a'} {name}", right)
        kind = "list" if isinstance(found, np.ndarray) else _name_of(found)
        cut = isinstance(found, Iterated) and found.more, isinstance(right, Iterated) and right.more
        if any(cut):  # no more was looked at than this
            shared = (
                min(len(items), len(right))
                if (cut[0] and len(right) >= len(items)) or (cut[1] and len(items) >= len(right))
                else None
            )
            if shared is not None:
                items, right = items[:shared], right[:shared]
        if self.order is False:
            return self._in_any_order(items, right, kind, found)
        place = next((i for i, (a, b) in enumerate(zip(items, right, strict=False)) if self.difference(a, b)), None)
        if len(items) != len(right):
            return self._other_length(items, right, place, kind, found)
        if place is None:
            return None
        inside = self.difference(items[place], right[place])
        assert inside is not None  # noqa: S101 - three lines above
        first = inside.within(kind, place)
        if not inside.path and len(items) > 1 and self._in_any_order(items, right, kind, found) is None:
            other = (
                f"the {kind} has the right items in another order: {first.sentence()[0].lower()}{first.sentence()[1:]}"
            )
            return Difference(other, "values", found, right)
        return first

    def _other_length(
        self, items: Sequence[Any], right: Sequence[Any], place: int | None, kind: str, found: Any
    ) -> Difference:
        more = "more than " if isinstance(found, Iterated) and found.more else ""
        counts = f"the {kind} has {more}{len(items):,} item{'' if len(items) == 1 else 's'} where {len(right):,} {'is' if len(right) == 1 else 'are'} right"
        shared = min(len(items), len(right))
        if not items:
            clause = f"the {kind} is empty where {len(right):,} item{' is' if len(right) == 1 else 's are'} right, the first of them {inline_value(right[0])}."
        elif place is None and len(items) < len(right):
            clause = f"{counts}: {inline_value(right[shared])} is missing at its end."
        elif place is None:
            clause = f"{counts}: {inline_value(items[shared])} at place {shared + 1} is too many."
        else:
            inside = self.difference(items[place], right[place])
            assert inside is not None  # noqa: S101 - the place is where they differ
            first = inside.within(kind, place).sentence()
            clause = f"{counts}; the first that differs: {first[0].lower()}{first[1:]}"
        return Difference(clause, "length", found, right)

    def _in_any_order(self, items: Sequence[Any], right: Sequence[Any], kind: str, found: Any) -> Difference | None:
        """What is missing and what is too many, where the order of items does not count."""
        if len(items) > MAX_NODES > len(right):  # a range may have any number of them
            return self._other_length(items, right, None, kind, found)
        have, want = Counter(map(_ident, items)), Counter(map(_ident, right))
        names = {_ident(item): item for item in (*items, *right)}
        extra = [names[ident] for ident in (have - want).elements()]
        missing = [names[ident] for ident in (want - have).elements()]
        if len(extra) <= MAX_GREEDY and len(missing) <= MAX_GREEDY:
            outlines = list(map(self._outline, extra))
            left = []
            for item in missing:
                wanted = self._outline(item)  # what differs in more than its numbers need not be looked at closely
                pairs = enumerate(zip(extra, outlines, strict=True))
                near = next((i for i, (a, o) in pairs if o == wanted and self.difference(a, item) is None), None)
                if near is None:
                    left.append(item)
                else:
                    del extra[near], outlines[near]
            missing = left
        if not (missing or extra):
            return None
        return Difference(missing_and_extra(f"the {kind}", missing, extra, "", found), "values", found, right)

    def _outline(self, value: Any) -> Any:
        """Equal for any two values that may be the same at a tolerance: what they are but for their numbers and dates."""
        if isinstance(value, bool | np.bool_):
            return bool(value)
        if isinstance(value, str | bytes):
            return value
        if isinstance(value, _NUMBERS):
            return "number", None
        if isinstance(value, np.ndarray):
            return self._outline(value.tolist())
        if isinstance(value, range) and len(value) > MAX_NODES:
            return repr(value)
        if isinstance(value, list | tuple | range):
            inside = map(self._outline, value)
            return "items", tuple(inside if self.order is not False else sorted(inside, key=repr))
        if isinstance(value, dict):
            return "dict", None if self.extra_keys else len(value)
        return ("set", len(value)) if isinstance(value, set | frozenset) else type(value).__name__


def _ident(value: Any) -> Any:
    """Equal and hashable for what is one key, and for equal items: True is not 1, but 1.0 is; NaN is itself."""
    if isinstance(value, bool | np.bool_):
        return ("bool", bool(value))
    if isinstance(value, _NUMBERS) and not isinstance(value, np.timedelta64):
        return ("number", _digits_of(value))
    if isinstance(value, range) and len(value) > MAX_NODES:
        return ("range", repr(value))
    if isinstance(value, list | tuple | range):
        return ("items", tuple(map(_ident, value)))
    if isinstance(value, set | frozenset):
        return ("set", frozenset(map(_ident, value)))
    if isinstance(value, dict):
        return ("dict", frozenset((_ident(k), _ident(v)) for k, v in value.items()))
    if isinstance(value, str | bytes):
        return (type(value).__name__, value)
    return (type(value).__name__, repr(value))


def _digits_of(value: Any) -> str:
    """Equal for equal numbers. A text, as whoever chooses numbers can choose such as have one hash, and texts cannot be chosen so."""
    number = value.item() if isinstance(value, np.generic) else value
    if isinstance(number, complex):
        return _digits_of(number.real) + (f" {_digits_of(number.imag)}" if number.imag else "")
    if isinstance(number, float) and not number.is_integer():
        return number.hex()
    return f"{int(number):x}" if isinstance(number, int | float) else repr(number)


def _items(value: Any) -> Sequence[Any] | None:
    """The items of what counts as a sequence; ``None`` for anything else."""
    if isinstance(value, np.ndarray) and value.ndim:
        return list(value)
    return value if isinstance(value, _SEQUENCES) else None


def _name_of(value: Any) -> str:
    return value.type if isinstance(value, Iterated) else type(value).__name__


def _same_leaf(found: Any, right: Any) -> bool:
    if type(found) is not type(right):
        return False
    if isinstance(right, dt.datetime | dt.time):
        bare = found.replace(tzinfo=None) == right.replace(tzinfo=None)
        return bare and (found.tzinfo is None) == (right.tzinfo is None) and found.utcoffset() == right.utcoffset()
    if isinstance(right, np.datetime64 | np.timedelta64):
        try:
            return bool(found == right or (np.isnat(found) and np.isnat(right)))
        except (TypeError, ValueError, OverflowError):  # years and days have no common unit
            return False
    if isinstance(right, dt.tzinfo):
        return str(found) == str(right)
    return bool(found == right) or str(found) == str(right) == "NaN"

"""Lists, tuples, ranges, iterators, dictionaries and sets, compared part by part.

A container without arrays is built-in: its difference is reported with the path to the first differing part. Lists,
tuples, ranges and iterators with the same items are equal. A container with arrays counts as several answers, each of
which is compared separately.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from autograder.base.foreign import Value
from autograder.base.formatting import pluralize
from autograder.base.sanitize import shorten
from autograder.sandbox.guest.wire_limits import MAX_NODES
from autograder.sandbox.guest.wire_plain import Iterated
from autograder.values.family import (
    MAX_ITEMS,
    MAX_TEXT,
    Difference,
    ExactFamily,
    Family,
    Rules,
    copy_value,
    describe,
    differences,
    equal,
    family_of,
    fingerprint,
    outline,
    paste,
    returned_none,
    schema,
    source,
    type_difference,
)
from autograder.values.messages import (
    count,
    inline_value,
    listed,
    missing_and_extra,
    paste_container,
    sorted_members,
    wrong_builtin_type,
)

__all__ = ["MappingFamily", "RangeFamily", "SequenceFamily", "SetFamily", "structure_difference"]

MAX_DEPTH = 6
FEW_KEYS = 6  # if a key is missing, a dictionary with at most this many keys is listed in full
MAX_GREEDY = 300  # if order does not count, at most this many items are compared pair by pair
_SEQUENCES = (list, tuple, range)
_DEFAULT = Rules()


class Container(Family):
    """The base class of the families of sequences and mappings."""

    def parts(self, value: Value) -> Collection[Value]:
        return value  # type: ignore[no-any-return]

    def quickly_equal(self, found: Value, expected: Value, rules: Rules) -> bool | None:
        kind, plain = type(expected), not (rules.nested or rules.order or rules.of_largest)
        if kind not in (tuple, list, dict) or type(found) is not kind or not plain or not self.holds_array(expected):
            return None
        if len(found) != len(expected) or (kind is dict and found.keys() != expected.keys()):
            return None
        keys = expected if kind is dict else range(len(expected))
        inner = rules.of_part("it")
        same = [family_of(expected[key]).quickly_equal(found[key], expected[key], inner) for key in keys]
        return False if False in same else None if None in same else True

    def differences(self, found: Value, expected: Value, rules: Rules) -> Iterator[Difference]:
        find = self.first_difference if rules.nested else structure_difference
        if (difference := find(found, expected, rules)) is not None:
            yield difference
        elif not rules.nested:
            yield from self.part_differences(found, expected, rules)

    def first_difference(self, found: Value, expected: Value, rules: Rules) -> Difference | None:
        """Return the first difference between two built-in containers, or None if they are equal."""
        raise NotImplementedError

    def part_differences(self, found: Value, expected: Value, rules: Rules) -> Iterator[Difference]:
        """Yield the differences between the parts of two containers. Each part counts as a separate answer."""
        keys = list(expected) if isinstance(expected, dict) else range(len(expected))
        if rules.of_largest:
            inner = replace(rules.of_part("it"), of_largest=rules.of_largest)
            if all(equal(found[key], expected[key], inner) for key in keys):
                return
            rules = replace(rules, of_largest=0.0)
        unnamed = rules.of_part("it")
        for key, (part, right, name) in zip(keys, self.pairs(found, expected), strict=True):
            if not equal(part, right, unnamed):
                for inside in differences(part, right, rules.of_part(name)):
                    yield replace(inside, place=f"[{source(key)}]{inside.place}")

    def pairs(self, found: Value, expected: Value) -> Iterator[tuple[Value, Value, str]]:
        """Yield each part of ``found``, the expected part, and the name of the part in a sentence."""
        raise NotImplementedError

    def holds_array(self, value: Value) -> bool:
        return any(family_of(part).holds_array(part) for part in self.parts(value))

    def is_narrow(self, value: Value) -> bool:
        return any(family_of(part).is_narrow(part) for part in self.parts(value))

    def is_builtin(self, value: Value) -> bool:
        return not self.holds_array(value)

    def is_perturbable(self, value: Value) -> bool:
        if self.is_exact(value) or isinstance(value, Iterated) or not (value or isinstance(value, tuple)):
            return True
        return any(family_of(part).is_perturbable(part) for part in self.parts(value))

    def pieces(self, value: Value, digits: int, depth: int) -> Iterator[str]:
        if len(value) > MAX_ITEMS:
            whole = (value.known or value) if isinstance(value, Iterated) else value
            yield f"a {_name_of(value)} of {'more than ' if _is_endless(whole) else ''}{len(whole)} items"
            return
        if depth >= MAX_DEPTH:
            yield "…"
            return
        opening, closing = self.brackets(value)
        yield opening
        for place, key in enumerate(value):
            yield ", " if place else ""
            yield f"{shorten(repr(key), MAX_TEXT)}: " if isinstance(value, dict) else ""
            part = value[key] if isinstance(value, dict) else key
            yield from family_of(part).pieces(part, digits, depth + 1)
        yield closing

    def brackets(self, value: Value) -> tuple[str, str]:
        """Return the opening and closing brackets of a container in a message."""
        raise NotImplementedError


class SequenceFamily(Container):
    """The family of lists, tuples, and the items of an iterator."""

    types: ClassVar[tuple[type, ...]] = (list, tuple)

    def differences(self, found: Value, expected: Value, rules: Rules) -> Iterator[Difference]:
        if not rules.nested and isinstance(found, np.ndarray) and found.ndim and _plausible(found, expected):
            found = list(found)
        yield from super().differences(found, expected, rules)

    def first_difference(self, found: Value, expected: Value, rules: Rules) -> Difference | None:
        items = _items(found)
        name = _name_of(expected)
        if items is None or (rules.exact_type and _exact_type(found) != _exact_type(expected)):
            return wrong_builtin_type(found, f"{'an' if name[0] in 'aeio' else 'a'} {name}", expected)
        kind = "list" if isinstance(found, np.ndarray) else _name_of(found)
        items, right = _as_far_as_known(items, expected)
        other_end = _other_end(items, right, kind, found, expected)
        if rules.order is False:
            return other_end or _unordered_difference(items, right, rules, kind, found, expected)
        all_inside = (
            first.within(kind, place)
            for place, (item, wanted) in enumerate(zip(items, right, strict=False))
            for first in differences(item, wanted, rules)
        )
        inside = next(all_inside, None)
        if inside is None and other_end is not None:
            return other_end
        if len(items) != len(right):
            return _other_length(items, right, kind, found, expected, inside)
        if inside is None:
            return None
        may_be_moved = len(inside.path) == 1 and len(items) > 1
        if may_be_moved and _unordered_difference(items, right, rules, kind, found, expected) is None:
            text = inside.sentence
            clause = f"the {kind} has the correct items in a different order: {text[0].lower()}{text[1:]}"
            return Difference(clause, "values", found, expected)
        return inside

    def pairs(self, found: Value, expected: Value) -> Iterator[tuple[Value, Value, str]]:
        size = len(expected)
        names = [f"Part {i + 1}" for i in range(size)]
        if 2 <= size <= 3:
            names = ["The first part", "The second part", "The third part"][:size]
        for name, part, right in zip(names, found, expected, strict=True):
            yield part, right, name

    def is_builtin(self, value: Value) -> bool:
        if isinstance(value, Iterated):
            return True
        if self.holds_array(value):
            return False
        return not isinstance(value, tuple) or not all(
            family_of(p).is_number and not isinstance(p, np.bool_) for p in value
        )

    def brackets(self, value: Value) -> tuple[str, str]:
        if isinstance(value, Iterated):
            return f"a {value.type} that yields [", ", …]" if value.more else "]"
        return ("(", ")") if isinstance(value, tuple) else ("[", "]")

    def source(self, value: Value, depth: int) -> str:
        items = ", ".join(source(item, depth + 1) for item in value)
        if isinstance(value, Iterated):
            return f"iter([{items}])"
        if isinstance(value, list):
            return f"[{items}]"
        return f"({items}{',' if len(value) == 1 else ''})"

    def paste(self, name: str, value: Value) -> str:
        return paste_container(name, value, type(value).__name__)

    def kind(self, value: Value) -> str:
        if not isinstance(value, Iterated):
            return ""
        return f"a {value.type} of {'more than ' if value.more else ''}{count(len(value), 'item')}"

    def label(self, value: Value, other: Value) -> str:
        return f"a {_name_of(value)}" if type(value) in (list, tuple, Iterated) else ""

    def describe(self, value: Value) -> str:
        return f"a {'list' if type(value).__name__ == 'list' else 'tuple'} of {pluralize(len(value), 'item')}"

    def copy(self, value: Value, leaf: Callable[[Value], Value]) -> Value:
        items = [copy_value(item, leaf) for item in value]
        if isinstance(value, Iterated):
            copied = Iterated(items, value.type, more=value.more)
            copied.again, copied.known = value.again, value.known
            return copied
        return items if isinstance(value, list) else tuple(items)

    def identity(self, value: Value) -> Hashable:
        return (type(value).__name__, tuple(map(fingerprint, value)))

    def match_key(self, value: Value) -> Hashable:
        return ("items", tuple(map(_match_key, value)))

    def outline(self, value: Value, rules: Rules) -> Hashable:
        inside = [outline(item, rules) for item in value]
        return "items", tuple(inside if rules.order is not False else sorted(inside, key=repr))

    def schema(self, value: Value) -> Hashable:
        return tuple(map(schema, value))

    def perturb(self, value: Value, where: int, by: float) -> Value:
        if isinstance(value, range | Iterated):
            return [*value][:-1] if len(value) else ["something more"]
        if not value:
            return ["something more"] if isinstance(value, list) else value
        at = where % len(value)
        return type(value)(family_of(v).perturb(v, where // 7, by) if i == at else v for i, v in enumerate(value))


class RangeFamily(ExactFamily, SequenceFamily):
    """The family of ranges, which are compared as sequences of numbers."""

    types: ClassVar[tuple[type, ...]] = (range,)

    parts = Family.parts
    source = Family.source
    paste = Family.paste
    copy = Family.copy
    identity = Family.identity

    def kind(self, value: Value) -> str:
        return "a range"

    def match_key(self, value: Value) -> Hashable:
        return ("range", repr(value)) if len(value) > MAX_NODES else super().match_key(value)

    def outline(self, value: Value, rules: Rules) -> Hashable:
        return repr(value) if len(value) > MAX_NODES else super().outline(value, rules)


class MappingFamily(Container):
    """The family of dictionaries."""

    types: ClassVar[tuple[type, ...]] = (dict,)

    def first_difference(self, found: Value, expected: Value, rules: Rules) -> Difference | None:
        if not isinstance(found, dict):
            return wrong_builtin_type(found, "a dictionary", expected)
        pairs, missing, extra = _paired(found, expected, rules)
        if rules.extra_keys:
            extra = []
        if missing or extra:
            clause = missing_and_extra("the dictionary", missing, extra, " the key", found)
            if not extra and 0 < len(found) <= FEW_KEYS:
                clause = f"the dictionary lacks {listed(missing)}. It has {listed(found)}."
            return Difference(clause, "length", found, expected)
        if rules.order and [key for key, _ in pairs] != [*found]:
            at, (key, now) = next((i, (a, b)) for i, ((a, _), b) in enumerate(zip(pairs, found, strict=True)) if a != b)
            clause = f"the keys of the dictionary are in a different order: {source(now)} is at position {at + 1} instead of {source(key)}."
            return Difference(clause, "values", found, expected)
        for own, key in pairs:
            if (inside := next(differences(found[own], expected[key], rules), None)) is not None:
                return inside.within("dictionary", own)
        return None

    def pairs(self, found: Value, expected: Value) -> Iterator[tuple[Value, Value, str]]:
        for key, right in expected.items():
            yield found[key], right, f"Entry {key!r}"

    def parts(self, value: Value) -> Collection[Value]:
        return value.values()  # type: ignore[no-any-return]

    def brackets(self, value: Value) -> tuple[str, str]:
        return "{", "}"

    def source(self, value: Value, depth: int) -> str:
        return "{" + ", ".join(f"{source(k, depth + 1)}: {source(v, depth + 1)}" for k, v in value.items()) + "}"

    def paste(self, name: str, value: Value) -> str:
        if any(isinstance(part, np.ndarray | dict) for part in value.values()):
            # A second line, about an array's order in memory, has no place inside a dictionary.
            texts = {k: paste("", v).partition("\n")[0] for k, v in value.items()}
            parts = [f"{k!r}: {t[3:] if t.startswith(' = ') else f'({t[4:]})'}" for k, t in texts.items()]
            return f"{name} = {{{', '.join(parts)}}}"
        return paste_container(name, value, "dictionary")

    def label(self, value: Value, other: Value) -> str:
        return "a dictionary" if type(value) is dict else ""

    def copy(self, value: Value, leaf: Callable[[Value], Value]) -> Value:
        return {key: copy_value(part, leaf) for key, part in value.items()}

    def identity(self, value: Value) -> Hashable:
        return ("dict", tuple((k if type(k) is str else fingerprint(k), fingerprint(v)) for k, v in value.items()))

    def match_key(self, value: Value) -> Hashable:
        return ("dict", frozenset((_match_key(key), _match_key(part)) for key, part in value.items()))

    def outline(self, value: Value, rules: Rules) -> Hashable:
        return "dict", None if rules.extra_keys else len(value)

    def schema(self, value: Value) -> Hashable:
        return tuple((key, schema(part)) for key, part in value.items())

    def perturb(self, value: Value, where: int, by: float) -> Value:
        if not value:
            return {"something more": None}
        chosen = list(value)[where % len(value)]
        return {k: family_of(v).perturb(v, where // 7, by) if k == chosen else v for k, v in value.items()}


class SetFamily(ExactFamily):
    """The family of sets and frozensets."""

    types: ClassVar[tuple[type, ...]] = (set, frozenset)

    def differences(self, found: Value, expected: Value, rules: Rules) -> Iterator[Difference]:
        if not isinstance(found, set | frozenset) or (rules.exact_type and type(found) is not type(expected)):
            yield wrong_builtin_type(found, f"a {type(expected).__name__}", expected)
            return
        _pairs, missing, extra = _paired(found, expected, rules)
        if missing or extra:
            clause = missing_and_extra("the set", sorted_members(missing), sorted_members(extra), "", found)
            yield Difference(clause, "values", found, expected)

    def source(self, value: Value, depth: int) -> str:
        members = ", ".join(source(item, depth + 1) for item in sorted_members(value))
        inside = f"{{{members}}}" if value else ""
        return f"{type(value).__name__}({inside})" if isinstance(value, frozenset) or not value else inside

    def paste(self, name: str, value: Value) -> str:
        return paste_container(name, value, type(value).__name__)

    def kind(self, value: Value) -> str:
        name = type(value).__name__
        return f"a {name} of {count(len(value), 'member')}" if value else f"an empty {name}"

    def label(self, value: Value, other: Value) -> str:
        return f"a {type(value).__name__}" if type(value) in (set, frozenset) else ""

    def copy(self, value: Value, leaf: Callable[[Value], Value]) -> Value:
        return value.copy() if isinstance(value, set) else leaf(value)

    def identity(self, value: Value) -> Hashable:
        return (type(value).__name__, frozenset(map(fingerprint, value)))

    def match_key(self, value: Value) -> Hashable:
        return ("set", frozenset(map(_match_key, value)))

    def outline(self, value: Value, rules: Rules) -> Hashable:
        return ("set", len(value))

    def perturb(self, value: Value, where: int, by: float) -> Value:
        return type(value)(sorted_members(value)[:-1]) if value else type(value)({"something more"})


def structure_difference(found: Value, expected: Value, rules: Rules = _DEFAULT) -> Difference | None:
    """Return the difference in type, number of parts or keys, or None if ``found`` has the structure of ``expected``."""
    if found is None and expected is not None:
        return returned_none(rules.what)
    if isinstance(expected, dict):
        if not isinstance(found, dict):
            asked = f"a dictionary with the keys {_keys(expected)}"
            return replace(type_difference(found, asked, rules.what), found=found)
        missing = [key for key in expected if key not in found]
        text = f"The dictionary lacks {_keys(missing)}. It has {_keys(found) or 'no keys'}."
        return Difference(text, "length", found) if missing else None
    if isinstance(expected, tuple | list):
        size = len(expected)
        asked = {1: "one value", 2: "a pair"}.get(size, f"{size} values")
        if not isinstance(found, tuple | list):
            return Difference(f"{rules.subject('is')} {describe(found)} instead of {asked}.", "type")
        if len(found) != size:
            return Difference(f"It has {len(found)} part{'' if len(found) == 1 else 's'} instead of {size}.", "length")
    return None


def _plausible(found: np.ndarray, expected: Value) -> bool:
    # An array counts as a sequence of answers only if its rows have the shapes of the expected answers.
    try:
        return all(np.shape(a) == np.shape(e) for a, e in zip(found, expected, strict=True))
    except ValueError:  # lists of several lengths
        return False


def _keys(keys: Value) -> str:
    return ", ".join(repr(key) for key in keys)


def _match_key(value: Value) -> Hashable:
    return family_of(value).match_key(value)


def _paired(
    found: Iterable[Value], expected: Iterable[Value], rules: Rules
) -> tuple[list[tuple[Value, Value]], list[Value], list[Value]]:
    """Return the pairs of equal keys (floats within tolerance), the missing keys and the extra keys of ``found``."""
    own = {_match_key(key): key for key in found}
    pairs, missing = [], []
    for key in expected:
        ident = _match_key(key)
        if ident in own:
            pairs.append((own.pop(ident), key))
        else:
            missing.append(key)
    extra = list(own.values())
    are_numbers = all(isinstance(key, float | int | np.number) for key in (*missing, *extra))
    if missing and len(missing) == len(extra) and are_numbers:
        near = list(zip(sorted(extra), sorted(missing), strict=True))
        if all(equal(one, other, rules) for one, other in near):
            return pairs + near, [], []
    return pairs, missing, extra


def _items(value: Value) -> Sequence[Value] | None:
    if isinstance(value, np.ndarray) and value.ndim:
        return list(value)
    return value if isinstance(value, _SEQUENCES) else None


def _name_of(value: Value) -> str:
    return value.type if isinstance(value, Iterated) else type(value).__name__


def _exact_type(value: Value) -> tuple[bool, str]:
    """Return a key for comparing types under ``exact_type``. An iterator is never a list, even if its class is called ``list``."""
    return isinstance(value, Iterated), _name_of(value)


def _is_endless(value: Value) -> bool:
    """Return whether ``value`` is an iterator that yields more items than are known."""
    return isinstance(value, Iterated) and value.more


def _as_far_as_known(items: Sequence[Value], expected: Sequence[Value]) -> tuple[Sequence[Value], Sequence[Value]]:
    """Return the items to compare from each of the two sequences.

    More items are taken from an iterator if the other sequence is longer. Two endless iterators are cut to the same length.
    """
    right = expected.all_items() if isinstance(expected, Iterated) else expected
    if _is_endless(right):
        right = expected  # the first items are enough for a comparison with another endless iterator
    elif isinstance(items, Iterated) and len(right) >= len(items):
        items = items.all_items()
    if _is_endless(items) and _is_endless(right):
        shared = min(len(items), len(right))
        return items[:shared], right[:shared]
    return items, right


def _other_end(
    items: Sequence[Value], right: Sequence[Value], kind: str, found: Value, expected: Value
) -> Difference | None:
    """Return the difference if only one of the sequences continues after its known items, else None."""
    known = count(len(items), "item")
    if _is_endless(items) and len(items) < len(right):
        clause = (
            f"only the first {known} of the {kind} can be checked, but {len(right):,} are expected. Return all of them in a "
            "list."
        )
    elif _is_endless(items) and len(items) == len(right):
        clause = f"the {kind} continues after {known}, but the correct one ends there."
    elif _is_endless(right) and len(items) >= len(right):
        clause = f"the {kind} ends after {known}, but the correct one continues."
    else:
        return None
    return Difference(clause, "length", found, expected)


def _other_length(
    items: Sequence[Value], right: Sequence[Value], kind: str, found: Value, expected: Value, inside: Difference | None
) -> Difference:
    more = "more than " if isinstance(found, Iterated) and found.more else ""
    counts = f"the {kind} has {more}{count(len(items), 'item')} instead of {len(right):,}"
    shared = min(len(items), len(right))
    if not items:
        clause = (
            f"the {kind} is empty but should have {count(len(right), 'item')}, starting with {inline_value(right[0])}."
        )
    elif inside is None and len(items) < len(right):
        clause = f"{counts}: {inline_value(right[shared])} is missing at its end."
    elif inside is None:
        clause = f"{counts}: {inline_value(items[shared])} at position {shared + 1} should not be there."
    else:
        first = inside.sentence
        clause = f"{counts}. The first difference: {first[0].lower()}{first[1:]}"
    return Difference(clause, "length", found, expected)


def _unordered_difference(
    items: Sequence[Value], right: Sequence[Value], rules: Rules, kind: str, found: Value, expected: Value
) -> Difference | None:
    """Return the missing and extra items as a difference, or None if both sequences have the same items in any order."""
    if len(items) > MAX_NODES > len(right):  # a range may have any number of items
        return _other_length(items, right, kind, found, expected, None)
    have, want = Counter(map(_match_key, items)), Counter(map(_match_key, right))
    names = {_match_key(item): item for item in (*items, *right)}
    extra = [names[ident] for ident in (have - want).elements()]
    missing = [names[ident] for ident in (want - have).elements()]
    if len(extra) <= MAX_GREEDY and len(missing) <= MAX_GREEDY:
        outlines = [outline(item, rules) for item in extra]
        left = []
        for item in missing:
            wanted = outline(item, rules)  # a pair that differs in more than its numbers cannot be equal
            pairs = enumerate(zip(extra, outlines, strict=True))
            near = next((i for i, (a, o) in pairs if o == wanted and equal(a, item, rules)), None)
            if near is None:
                left.append(item)
            else:
                del extra[near], outlines[near]
        missing = left
    if not (missing or extra):
        return None
    return Difference(missing_and_extra(f"the {kind}", missing, extra, "", found), "values", found, expected)

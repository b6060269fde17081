"""Compare, show and copy values with one class for each family of types. All comparisons use the function `equal`.

The type of a value determines its family. Containers call `family_of` for their parts, so no family imports another.
This module needs only NumPy and the standard library. pandas is used only for values that are pandas objects.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from autograder.base.foreign import Value
from autograder.base.sanitize import shorten
from autograder.sandbox.protocol import Opaque

__all__ = [
    "ATOL", "NOISE", "RTOL", "Difference", "ExactFamily", "Family", "Index", "Rules", "TableOptions", "copy_value", "describe", "differences", "equal", "family_of",
    "fingerprint", "is_builtin", "outline", "paste", "paste_inputs", "rank_families", "returned_none", "schema", "show", "show_apart", "source",
    "type_difference", "write_apart",
]  # fmt: skip

RTOL, ATOL = 1e-5, 1e-6
NOISE = 2e-15  # messages show 0 for a float64 below this share of the largest number: it may be a rounding error
MAX_ITEMS = 48  # an array or a container with at most this many items is shown whole
MAX_TEXT = 400  # characters of one string
MAX_SHOWN = 4000  # characters of a whole value, because a nested list may have many items at each level
MAX_SOURCE_DEPTH = 14
_MAX_WHOLE = 140  # a value of at most this many characters is shown whole, even if only one part is wrong
_MAX_TYPES = 4096  # limits the cache, because a notebook may define a class in every cell
_EXACT = (str, bool, bytes, int)

Path = tuple[tuple[str, Value], ...]
Index = tuple[int, ...]
Leaf = Callable[[Value], Value]


@dataclass(frozen=True, slots=True)
class TableOptions:
    """Options for comparing two tables. ``names`` says whether the names of a Series and of an index count."""

    row_order: bool = True
    column_order: bool = False
    dtypes: bool = False
    index: bool = True
    names: bool = False


@dataclass(frozen=True, slots=True)
class Rules:
    """Options for comparing a value with an expected one.

    Attributes:
        rtol, atol: Tolerances of numbers. Two whole numbers are compared exactly.
        dtype: A boolean array is required if one is expected. Other dtypes are not compared.
        of_largest: Numbers may also be off by this share of the largest number expected in their array.
        order: If False, items may be in any order. If True, the order of a dictionary's keys is compared too.
        exact_type: A list is not a tuple, and 3 is not 3.0.
        extra_keys: A dictionary may have more keys than the expected one.
        lists: A list of numbers may replace an array.
        tables: The options for tables.
        reject_opaque: Raise ``CourseError`` if the expected value cannot leave a student's process.
        nested: The values are parts of built-in containers. The message then begins with the path to the part.
        what: The name of the value in a sentence.
    """

    rtol: float = RTOL
    atol: float = ATOL
    dtype: bool = True
    of_largest: float = 0.0
    order: bool | None = None
    exact_type: bool = False
    extra_keys: bool = False
    lists: bool = True
    tables: TableOptions = TableOptions()
    reject_opaque: bool = False
    nested: bool = False
    what: str = "it"

    def of_part(self, what: str) -> Rules:
        """Return the rules for one of several answers. They keep only the tolerances and the options for arrays and tables."""
        return Rules(
            self.rtol, self.atol, lists=self.lists, tables=self.tables, reject_opaque=self.reject_opaque, what=what
        )

    def subject(self, verb: str) -> str:
        """Return the start of a sentence about the value: ``It has``, ``The first part has``."""
        return f"{'It' if self.what == 'it' else self.what} {verb}"


_DEFAULT = Rules()


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference between a value and the expected value.

    ``clause`` completes the sentence that ``path`` begins. ``alone`` replaces ``clause`` if there is no path. ``found``
    and ``expected`` are the values to show. ``place`` is their subscript in the whole value, such as ``[2]['be']``, and
    ``first`` is the index of the first wrong entry of an array.

    ``kind`` is one of ``"none"``, ``"type"``, ``"length"``, ``"shape"``, ``"dtype"``, ``"nan"`` and ``"values"``, or in tables
    one of ``"columns"``, ``"index"`` and ``"order"``.
    """

    clause: str
    kind: str
    found: Value = None
    expected: Value = None
    has_expected: bool = False
    path: Path = ()
    alone: str = ""
    what: str = "it"
    place: str = ""
    first: Index = ()

    def within(self, kind: str, key: Value) -> Difference:
        """Return this difference as a difference of the container that holds the value at ``key``."""
        return replace(self, path=((kind, key), *self.path))

    @property
    def sentence(self) -> str:
        """The sentence that tells a student what is wrong."""
        places = [_place(kind, key) for kind, key in self.path]
        text = ", ".join([*places, self.clause]) if places else self.alone or self.clause
        if self.what != "it":
            text = f"{self.what}: {text}" if places or not self.alone else f"{self.what} {text.removeprefix('it ')}"
        return text[0].upper() + text[1:]

    def of_whole(self, found: Value, expected: Value, what: str, *, only_a_part: bool = False) -> Difference:
        """Return this difference as a difference of the whole values. If they are long, or with ``only_a_part``, show only the part that differs."""
        is_long = only_a_part or max(len(source(found)), len(source(expected))) > _MAX_WHOLE
        if is_long and self.path and all(kind in {"list", "tuple", "dictionary"} for kind, _ in self.path):
            place = "".join(f"[{source(key)}]" for _, key in self.path)
            return replace(self, has_expected=True, place=place, what=what)
        return replace(self, found=found, expected=expected, has_expected=True, what=what, first=())


def _place(kind: str, key: Value) -> str:
    if kind == "dictionary":
        return f"at the key {shorten(source(key), 60)}"
    return f"at position {key + 1} of the {kind}" if kind != "array" else f"at index {list(key)}"


class Family:
    """The operations on one family of values. These defaults apply to types that belong to no other family."""

    types: ClassVar[tuple[type, ...]] = (object,)
    is_number: ClassVar[bool] = False
    has_cells: ClassVar[bool] = False  # True for arrays and tables, which can be large and are changed in place
    is_table: ClassVar[bool] = False
    from_pandas: ClassVar[bool] = False

    def owns(self, value: Value) -> bool:
        """Return whether the type of ``value`` belongs to this family."""
        return isinstance(value, self.types)

    def parts(self, value: Value) -> Collection[Value]:
        """Return the items of a sequence or the values of a dictionary. Other values have no parts."""
        return ()

    def differences(self, found: Value, expected: Value, rules: Rules) -> Iterator[Difference]:
        """Yield the differences between ``found`` and the ``expected`` value, which belongs to this family."""
        if not (type(found) is type(expected) and self.same(found, expected)):
            yield Difference(f"{rules.subject('is')} {describe(found)} instead of {describe(expected)}.", "type")

    def same(self, found: Value, expected: Value) -> bool:
        """Return whether two values of one type are equal."""
        return bool(found == expected)

    def quickly_equal(self, found: Value, expected: Value, rules: Rules) -> bool | None:
        """Return whether two values are equal, or None if only a search for differences can decide.

        Most comparisons need no description of a difference, which costs far more than finding that there is one.
        """
        return bool(found == expected) if type(found) is type(expected) and type(found) in _EXACT else None

    def claims(self, found: Value, expected: Value) -> bool:
        """Return whether this family compares its value ``found`` with an ``expected`` value of another family."""
        return False

    def is_exact(self, value: Value) -> bool:
        """Return whether ``value`` is compared without tolerance, such as a string, a set or a date."""
        return False

    def is_builtin(self, value: Value) -> bool:
        """Return whether ``value`` is compared part by part, with a path to the first difference."""
        return False

    def holds_array(self, value: Value) -> bool:
        """Return whether ``value`` is, or holds, an array of numbers or a table."""
        return False

    def is_narrow(self, value: Value) -> bool:
        """Return whether ``value`` is, or holds, floats of fewer than eight bytes."""
        return False

    def pieces(self, value: Value, digits: int, depth: int) -> Iterator[str]:
        """Yield the text that shows ``value`` in a message, piece by piece."""
        kind = value.type if hasattr(value, "type") else type(value).__name__
        yield f"a {kind}" if kind.strip() else "a value of an unnamed type"

    def excerpt(self, found: Value, expected: Value, first: Index) -> Callable[[Value, int], str] | None:
        """Return a function that shows where two long values differ, or None to show both from their start.

        ``first`` is the index of the first wrong entry, or empty if unknown.
        """
        return None

    def source(self, value: Value, depth: int) -> str:
        """Return Python source that creates ``value`` again."""
        if hasattr(value, "text"):
            return str(value.name)
        if hasattr(value, "type"):  # a value that stays in a student's process
            return f"something of type {value.type}" if value.type.strip() else "something of an unnamed type"
        return repr(value)

    def paste(self, name: str, value: Value) -> str:
        """Return a line of Python that assigns ``value`` to ``name``, or a description of a long value."""
        if hasattr(value, "text") and hasattr(value, "name"):
            if not value.name:
                return str(value.text)  # source text is shown unchanged
            return value.text.strip() if value.text.lstrip().startswith("def") else f"{name} = {value.name}"
        return f"{name} = {source(value)}"

    def kind(self, value: Value) -> str:
        """Return a phrase for ``value``, such as ``a set of 2 members``, or "" if the name of its type is enough."""
        return ""

    def label(self, value: Value, other: Value) -> str:
        """Return a short name of the type of ``value`` that distinguishes it from ``other``, or "" if there is none."""
        return ""

    def describe(self, value: Value) -> str:
        """Return a phrase that describes ``value`` in a sentence: ``a tuple of 2 items``."""
        kind = value.type if hasattr(value, "type") else type(value).__name__
        if kind in {"builtin_function_or_method", "function", "method"}:
            return "a function (are parentheses missing?)"
        if kind in {"DataFrameGroupBy", "SeriesGroupBy"}:
            return "groups that are not aggregated yet (what should be computed for each group?)"
        if kind in {"coroutine", "async_generator"}:
            return "a coroutine (is an `await` missing, or should `async def` be `def`?)"
        names = {"str": "a string", "dict": "a dictionary", "tuple": "a tuple", "list": "a list", "bool": "a bool"}
        names["int"] = "a whole number with more than 307 digits (too large to check)"  # a smaller int is not opaque
        # A class may have a name without letters, which cannot be shown.
        return names.get(kind, f"of type {kind}" if kind.strip() else "of an unnamed type")

    def copy(self, value: Value, leaf: Leaf) -> Value:
        """Return a copy of ``value`` with new arrays and containers, and with ``leaf(part)`` for every other part."""
        return leaf(value)

    def identity(self, value: Value) -> Hashable:
        """Return a key that is equal for two values of this family only if they are the same, bit for bit."""
        return (type(value).__name__, repr(value))

    def match_key(self, value: Value) -> Hashable:
        """Return a key that is equal for two values if the values are equal without tolerance."""
        return (type(value).__name__, repr(value))

    def outline(self, value: Value, rules: Rules) -> Hashable:
        """Return a key. If two values have different keys, they cannot be equal within a tolerance."""
        return type(value).__name__

    def schema(self, value: Value) -> Hashable:
        """Return a key that is equal for two inputs that differ only in their numbers."""
        return fingerprint(value)

    def backwards(self, value: Value) -> Value:
        """Return ``value`` with its numbers in reverse order, or ``value`` itself if they have no order."""
        return value

    def is_perturbable(self, value: Value) -> bool:
        """Return whether `perturb` can change ``value``."""
        return self.is_exact(value)

    def perturb(self, value: Value, where: int, by: float) -> Value:
        """Return a copy of ``value`` in which the part that ``where`` selects is changed. An empty value gets one more part.

        A number changes by ``by`` times the largest number. A value without changeable parts is returned unchanged.
        """
        return value


class ExactFamily(Family):
    """The base class of families whose values are compared without tolerance and shown as Python code."""

    def is_exact(self, value: Value) -> bool:
        return True

    def is_builtin(self, value: Value) -> bool:
        return True

    def pieces(self, value: Value, digits: int, depth: int) -> Iterator[str]:
        yield shorten(source(value), MAX_TEXT)

    def label(self, value: Value, other: Value) -> str:
        return self.kind(value)

    def schema(self, value: Value) -> Hashable:
        return type(value).__name__


_OTHER = Family()
_families: list[Family] = []
_known: dict[type, Family] = {}


def rank_families(families: Sequence[Family]) -> None:
    """Set the list of all families. A value belongs to the first family in the list that owns it."""
    _families[:] = families
    _known.clear()


def family_of(value: Value) -> Family:
    """Return the family of a value, by its type."""
    kind = type(value)
    family = _known.get(kind)
    if family is None:
        family = next((one for one in _families if one.owns(value)), _OTHER)
        if len(_known) >= _MAX_TYPES:
            _known.clear()
        _known[kind] = family
    return family


def differences(found: Value, expected: Value, rules: Rules = _DEFAULT) -> Iterator[Difference]:
    """Yield the differences of ``found`` from the ``expected`` value: type, then shape, then values.

    Raises ``CourseError`` if ``rules.reject_opaque`` is set and the expected value cannot leave a student's process.
    """
    family = family_of(expected)
    if family.quickly_equal(found, expected, rules):
        return
    if rules.nested:
        yield from family.differences(found, expected, rules)
        return
    own = family_of(found)
    if own is not family and own.claims(found, expected):
        yield from own.differences(found, expected, rules)
    elif found is None and not (expected is None or isinstance(expected, Opaque)):
        yield returned_none(rules.what)
    elif family.is_builtin(expected):
        yield from builtin_differences(found, expected, rules)
    else:
        yield from family.differences(found, expected, rules)


def builtin_differences(found: Value, expected: Value, rules: Rules) -> Iterator[Difference]:
    """Yield the differences between two built-in values, each with the path to the part that differs."""
    for inside in family_of(expected).differences(found, expected, replace(rules, nested=True)):
        if not inside.path and isinstance(inside.found, Opaque):
            yield replace(type_difference(found, describe(expected), rules.what), found=found)
        else:
            yield inside.of_whole(found, expected, rules.what, only_a_part=rules.extra_keys)


def equal(found: Value, expected: Value, rules: Rules = _DEFAULT) -> bool:
    """Return whether ``found`` equals ``expected`` under ``rules``, so that a check with these rules passes."""
    quick = family_of(expected).quickly_equal(found, expected, rules)
    return next(differences(found, expected, rules), None) is None if quick is None else quick


def returned_none(what: str = "it") -> Difference:
    """Return the difference for a value that is None although another value is expected."""
    if what != "it":
        return Difference(f"{what} is None.", "none")
    return Difference(
        "The function returned None. Does it end in a `return`? (`print` shows a value but returns nothing. A function that changes its argument, such as `list.append`, returns None too.)",
        "none",
    )


def type_difference(found: Value, asked: str, what: str = "it") -> Difference:
    """Return the difference for ``found``, a value of the wrong type. ``asked`` describes the expected type."""
    return Difference(f"{'It' if what == 'it' else what} is {describe(found)} instead of {asked}.", "type")


def is_builtin(value: Value) -> bool:
    """Return whether ``value`` contains no numeric array, and is not a number or a row of numbers."""
    return family_of(value).is_builtin(value)


def show(value: Value, digits: int = 4) -> str:
    """Return a value as text for a message: rounded to ``digits`` significant digits, and cut if it is long."""
    shown = ""
    for piece in family_of(value).pieces(value, digits, 0):
        shown += piece
        if len(shown) > MAX_SHOWN:
            return shorten(shown, MAX_SHOWN)
    return shown


def show_apart(found: Value, expected: Value, first: Index = ()) -> tuple[str, str]:
    """Return the text of `show` for both values, with enough digits to tell them apart.

    Large arrays are shown from the index ``first`` on.
    """
    write = family_of(expected).excerpt(found, expected, first) or show
    # The entry at ``first`` must look different too, and not only an entry that differs within the tolerance.
    least = _digits_apart(show, found[first], expected[first]) if len(first) and getattr(found, "size", 0) else 4
    return write_apart(lambda value, digits: write(value, max(digits, least)), found, expected)


def write_apart(write: Callable[[Value, int], str], found: Value, expected: Value) -> tuple[str, str]:
    """Return ``write(value, digits)`` for both values, with enough digits to tell them apart."""
    digits = _digits_apart(write, found, expected)
    return write(found, digits), write(expected, digits)


def _digits_apart(write: Callable[[Value, int], str], found: Value, expected: Value) -> int:
    for digits in range(4, 17):
        short, long = sorted((write(found, digits), write(expected, digits)), key=len)
        if short != long:  # one more digit if 12.689 seems to be rounded to 12.69
            is_number, places = long.lstrip("-").replace(".", "", 1).isdecimal(), len(short.partition(".")[2])
            return digits + (is_number and f"{float(long):.{places}f}" == short)
    return 4


def source(value: Value, depth: int = 0) -> str:
    """Return Python source that creates the value again if ``datetime``, ``decimal``, ``fractions`` and NumPy (``np``) are imported."""
    return "…" if depth > MAX_SOURCE_DEPTH else family_of(value).source(value, depth)


def paste(name: str, value: Value) -> str:
    """Return ``name = …``, a line of Python that a student can paste. Large values are described instead.

    >>> paste("x", np.array([1.0, 2.5]))
    'x = np.array([1.0, 2.5])'
    """
    return family_of(value).paste(name, value)


def paste_inputs(inputs: Mapping[str, Value]) -> list[str]:
    """Return a line of Python for each input. If two inputs are one array, the second line says so: ``K = Q``."""
    first: dict[int, str] = {}
    names = [first.setdefault(id(v), name) if family_of(v).has_cells else name for name, v in inputs.items()]
    return [f"{n} = {same}" if n != same else paste(n, v) for (n, v), same in zip(inputs.items(), names, strict=True)]


def describe(value: Value) -> str:
    """Return a phrase that describes a value in a sentence: ``a tuple of 2 items``, ``one array of shape (2, 3)``."""
    family = family_of(value)
    return family.kind(value) or family.describe(value)


def copy_value(value: Value, leaf: Leaf = lambda part: part) -> Value:
    """Return a copy of a value with new arrays and containers, and with ``leaf(part)`` for every other part."""
    return family_of(value).copy(value, leaf)


def fingerprint(value: Value) -> Hashable:
    """Return a hashable key that is equal for two values if and only if the values are the same, bit for bit."""
    return family_of(value).identity(value)


def outline(value: Value, rules: Rules) -> Hashable:
    """Return a key that ignores numbers and dates. If two values have different keys, they cannot be equal under ``rules``."""
    return family_of(value).outline(value, rules)


def schema(value: Value) -> Hashable:
    """Return a key that is equal for two inputs that differ only in their numbers."""
    return family_of(value).schema(value)

"""The base class of a contract's arguments, and the types that it uses: categories of input, bound calls and drawings."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import ClassVar

import numpy as np

from autograder.base.foreign import Value

__all__ = [
    "LONG_AXES", "Argument", "BoundCall", "Change", "DrawRequest", "Drawing", "InputCategory", "Path", "Style",
    "length_category",
]  # fmt: skip

LONG_AXES = (64, 127, 300)
Path = tuple[str, ...]
Change = Callable[[dict[str, Value], "np.random.Generator"], dict[str, Value] | None]


@dataclass(frozen=True)
class BoundCall:
    """The arguments of a call by path, and the sizes of axes that the shapes of the arguments determine.

    Attributes:
        values: The arguments that were given. An entry of a dictionary has a path of several names.
        sizes: The sizes of axes, by letter.
        batch: The batch axes, or None if no shape has them.
    """

    values: Mapping[Path, Value]
    sizes: Mapping[str, int]
    batch: tuple[int, ...] | None


@dataclass
class DrawRequest:
    """A request to draw a call with certain properties. All other properties of the call stay ordinary.

    Attributes:
        sizes: The sizes of axes, by letter.
        alike: Whether all axes have the same size.
        batch: The batch axes.
        styles: The name of an argument's style, by path.
        layouts: The memory layouts of arrays that are not contiguous, by path (see ``wire.in_layout``).
        left_out: The optional arguments that are left out.
        float32: Whether arrays are float32.
        along: The length of the axis that an ``AxisArgument`` selects.
        after: Functions that get the drawn values by name and change them.
    """

    sizes: dict[str, int] = field(default_factory=dict)
    alike: bool = False
    batch: tuple[int, ...] | None = None
    styles: dict[Path, str] = field(default_factory=dict)
    layouts: dict[Path, str] = field(default_factory=dict)
    left_out: set[str] = field(default_factory=set)
    float32: bool = False
    along: int | None = None
    after: list[Change] = field(default_factory=list)


@dataclass(frozen=True)
class InputCategory:
    """A category of input: how to recognize that a call belongs to it, and how to request such a call.

    Attributes:
        name: The name, such as "x: all negative".
        phrase: The description that students read after "With".
        matches: Return whether a call belongs to the category.
        configure: Change a request so that the drawn call belongs to the category.
        slot: A call belongs to at most one of the categories that share a slot.
        exclusive: Whether all other arguments stay ordinary, because this category would hide their effect.
        length: Return the length of the axis in a call, if the category is about long axes.
        request_length: Request another length of the same axis.
        optional: Whether ``constrain`` may rule out the category. If so, it does not count as missed when no call in it can be drawn.
    """

    name: str
    phrase: str
    matches: Callable[[BoundCall], bool]
    configure: Callable[[DrawRequest, np.random.Generator], None]
    _: KW_ONLY
    slot: str
    exclusive: bool = False
    length: Callable[[BoundCall], int] | None = None
    request_length: Callable[[DrawRequest, int], None] | None = None
    optional: bool = False

    @classmethod
    def custom(
        cls,
        name: str,
        phrase: str,
        matches: Callable[[dict[str, Value]], bool],
        make: Change,
        sizes: Mapping[str, int] | None = None,
    ) -> InputCategory:
        """Return an author's own category: ``matches(values)`` recognizes its calls, and ``make(values, rng)`` draws them.

        Both functions get the arguments by name. ``make`` returns the drawn values with changes, or None if it cannot use
        them. ``sizes`` gives the sizes of axes, by letter, with which the values are drawn.
        """

        def belongs(call: BoundCall) -> bool:
            return bool(matches(_by_name(call.values)))

        def configure(request: DrawRequest, _rng: np.random.Generator) -> None:
            request.after.append(make)
            request.sizes.update(sizes or {})

        return cls(name, phrase, belongs, configure, slot="author", exclusive=True)


def _by_name(values: Mapping[Path, Value]) -> dict[str, Value]:
    """Return the arguments by name, with dictionaries rebuilt from their entries."""
    named: dict[str, Value] = {}
    for path, value in values.items():
        place = named
        for key in path[:-1]:
            place = place.setdefault(key, {})
        place[path[-1]] = value
    return named


def length_category(
    name: str,
    phrase: str,
    lengths: tuple[int, int],
    measure: Callable[[BoundCall], int],
    request_length: Callable[[DrawRequest, int], None],
    *,
    exclusive: bool = False,
    optional: bool = False,
) -> InputCategory:
    """Return the category of calls in which the axis has length ``lengths[0]``, or at least that if ``lengths[1]`` is larger."""
    low, high = lengths

    def matches(call: BoundCall) -> bool:
        length = measure(call)
        return length == low if low == high else length >= low

    def configure(request: DrawRequest, rng: np.random.Generator) -> None:
        request_length(request, int(rng.integers(low, high + 1)))

    category = InputCategory(name, phrase, matches, configure, slot="sizes", exclusive=exclusive, optional=optional)
    return category if low == high else replace(category, length=measure, request_length=request_length)


@dataclass
class Drawing:
    """A call that is being drawn: the request, the sizes chosen for it, and the values drawn so far."""

    request: DrawRequest
    rng: np.random.Generator
    arguments: Mapping[str, Argument]
    sizes: Mapping[str, int]
    batch: tuple[int, ...] = ()
    values: dict[str, Value] = field(default_factory=dict)

    def shape(self, axes: tuple[str, ...]) -> tuple[int, ...]:
        """Return the shape that ``axes`` describe, such as ``("...", "n", "h*d")``."""
        shape: list[int] = []
        for axis in axes:
            if axis == "...":
                shape.extend(self.batch)
            else:
                shape.append(math.prod(int(p) if p.isdigit() else self.sizes[p] for p in axis.split("*")))
        return tuple(shape)


@dataclass(frozen=True)
class Style:
    """A category of an argument's values, which can be recognized and drawn.

    Attributes:
        name: The name, such as "all negative".
        phrase: The description that students read after "With".
        matches: Return whether a value has this style. The parameters depend on the class of the argument.
        draw: Return a value of this style. The parameters depend on the class of the argument.
        exclusive: Whether all other arguments stay ordinary.
        optional: Whether the contract may rule the style out.
    """

    name: str
    phrase: str
    matches: Callable[..., Value]
    draw: Callable[..., Value]
    exclusive: bool = False
    optional: bool = False


@dataclass(frozen=True)
class Argument:
    """An argument of a contract. A call may leave it out if it has a ``default``."""

    _: KW_ONLY
    default: bool = False
    ordinary: ClassVar[Callable[..., Value]]  # draws a value if no style is requested

    def styles(self, name: str) -> Iterator[Style]:
        """Yield the styles that a value may have. They call the argument ``name``."""
        return iter(())

    def fits(self, style: Style, value: Value, call: BoundCall) -> bool:
        """Return whether ``value`` has the style. The base class passes only ``value`` to ``style.matches``."""
        return bool(style.matches(value))

    def categories(self, path: Path) -> Iterator[InputCategory]:
        """Yield one category of calls for each style of this argument."""
        for style in self.styles(path[-1]):
            yield self._category(path, style)

    def _category(self, path: Path, style: Style) -> InputCategory:
        def matches(call: BoundCall) -> bool:
            return path in call.values and self.fits(style, call.values[path], call)

        def configure(request: DrawRequest, _rng: np.random.Generator) -> None:
            request.styles[path] = style.name

        name = f"{'.'.join(path)}: {style.name}"
        slot, exclusive, optional = f"value {path}", style.exclusive, style.optional
        return InputCategory(name, style.phrase, matches, configure, slot=slot, exclusive=exclusive, optional=optional)

    def draw(self, drawing: Drawing, path: Path) -> Value:
        """Draw a value of the requested style."""
        return self.draw_styled(drawing, path, drawing.rng)

    def draw_styled(self, drawing: Drawing, path: Path, *given: object) -> Value:
        """Return a value drawn by the requested style, or by ``ordinary`` if none is requested. Both are called with ``given``."""
        name = drawing.request.styles.get(path)
        style = next((style for style in self.styles(path[-1]) if style.name == name), None)
        return (style.draw if style else self.ordinary)(*given)

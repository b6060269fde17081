"""What an exercise's contract allows each argument to be: its shape, its range, and what is special about it.

>>> Contract({"Q": array("... n_q d_k"), "K": array("... n_k d_k"), "scale": real(0.1, 10, default=True)})  # doctest: +SKIP

From a contract the framework derives the kinds of input that it allows (``kinds``), and draws inputs of each (``covering``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from autograder.base.errors import CourseError
from autograder.checking.arguments import Argument, SizeArgument, leaves_of
from autograder.checking.kind import Kind
from autograder.checking.reading import Reading

__all__ = ["Contract"]

LONGEST = 330  # an axis that the contract does not limit is drawn up to this length
# Of drawn values and a numpy.random.Generator, which nothing here loads: a student's machine imports this module too.
Settle = Callable[[dict[str, Any], Any], dict[str, Any] | None]


@dataclass(frozen=True)
class Contract:
    """What may be handed to a function, argument by argument, in the order of its parameters.

    ``sizes`` limits the letters of the shapes (else 1 to 330). ``settle(values, rng)`` makes drawn values keep to what no
    single argument can say, and returns them; None where they cannot be kept. ``tame(values, rng)`` comes first, before what a
    kind of the author's own changes: it may make drawn values such that a mistake in them shows. ``kinds`` adds kinds of the author's own,
    ``never`` rules kinds out, each with the limit that forbids it, which the stub has to state. ``spoil`` is how far one
    entry of the right answer is moved, as a share of the largest, when the audit looks whether a kind is looked at. ``draws``
    says how often each kind is drawn: more than once where a wrong answer may well be right by chance, as a choice among few.
    """

    arguments: Mapping[str, Argument]
    _: KW_ONLY
    sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    settle: Settle | None = None
    tame: Settle | None = None
    kinds: Sequence[Kind] = ()
    never: Mapping[str, str] = field(default_factory=dict)
    spoil: float = 0.01
    draws: int = 1

    def leaves(self) -> dict[tuple[str, ...], Argument]:
        """Every argument that is no dictionary, by its path."""
        return leaves_of(self.arguments)

    def read(self, given: Mapping[str, Any]) -> Reading:
        """What a call gives for each argument, by the names of the parameters."""
        return Reading.of(self.leaves(), given)

    def letters(self) -> list[str]:
        """The letters of all shapes, each once, in the order met."""
        found: dict[str, None] = {}
        for argument in self.leaves().values():
            for axis in getattr(argument, "shape", ()):
                found.update(dict.fromkeys(part for part in axis.split("*") if part != "..." and not part.isdigit()))
            if isinstance(argument, SizeArgument):
                found[argument.letter] = None
        return list(found)

    def limits_of(self, letter: str) -> tuple[int, int]:
        """The smallest and the largest size of an axis."""
        return self.sizes.get(letter, (1, LONGEST))

    def has_batch(self) -> bool:
        """Whether some shape has batch axes."""
        return any("..." in getattr(a, "shape", ()) for a in self.leaves().values())

    def check_arguments(self, parameters: Sequence[str], where: str) -> None:
        """Raise ``CourseError`` where the contract speaks of other arguments than the function has."""
        if list(self.arguments) != list(parameters):
            raise CourseError(
                f"{where}: its contract is about the arguments {', '.join(self.arguments)}; the reference takes "
                f"{', '.join(parameters)}. Give each parameter one line, in this order."
            )

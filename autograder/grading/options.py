"""How notebooks are to be graded: the same for every notebook of a run, in whichever process it is graded."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.sandbox.confinement import Confinement

__all__ = ["GradingOptions"]


@dataclass(frozen=True, slots=True)
class GradingOptions:
    """``only`` keeps to some exercises, ``visible_only`` to the checks that students run themselves.

    With ``pictures=False`` nobody will look at the notebooks, and the course's picture cells are left out: no mark
    depends on them.
    """

    confinement: Confinement = "auto"
    only: frozenset[str] | None = None
    visible_only: bool = False
    pictures: bool = True

    @property
    def bearing(self) -> tuple[object, ...]:
        """What a stored verdict depends on."""
        return (self.confinement, sorted(self.only or ()), self.only is None, self.visible_only)

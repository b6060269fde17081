"""Hypothesis made to draw the same from the same seed, whatever else the process has loaded.

Since 6.131 Hypothesis mixes numbers from the source of every local module in ``sys.modules`` into what it draws. Then a
student's hidden inputs would hang on what was graded before, and two workers of one run would not ask the same.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hypothesis.internal.conjecture import providers

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["deterministic_draws"]

_LOCAL, _CACHE = "_get_local_constants", "CONSTANTS_CACHE"
_own: list[Any] = []


@contextmanager
def deterministic_draws() -> Iterator[None]:
    """Within it, Hypothesis draws nothing from the text of modules; a version that never did is left as it is."""
    if not (hasattr(providers, _LOCAL) and hasattr(providers, _CACHE) and hasattr(providers, "Constants")):
        yield
        return
    if not _own:
        _own.extend([providers.Constants(), type(getattr(providers, _CACHE))(1024)])
    nothing, cache = _own
    before = getattr(providers, _LOCAL), getattr(providers, _CACHE)
    setattr(providers, _LOCAL, lambda: nothing)
    setattr(providers, _CACHE, cache)  # the usual one remembers local numbers too
    try:
        yield
    finally:
        setattr(providers, _LOCAL, before[0])
        setattr(providers, _CACHE, before[1])

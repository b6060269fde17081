"""Type aliases for values that come from outside."""

from __future__ import annotations

from typing import Any, TypeAlias

__all__ = ["Json", "Value"]

Value: TypeAlias = Any  # any value that a student's or an author's code may return
Json: TypeAlias = Any  # decoded JSON that has not been checked yet

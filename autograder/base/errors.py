"""Errors whose text a command prints as it is: what failed, where, and what to do."""

from __future__ import annotations

__all__ = ["CourseError", "UnavailableError"]


class CourseError(Exception):
    """A course folder or a call is wrong. A command ends with status 2."""


class UnavailableError(Exception):
    """A sandbox, a gradebook or a cluster cannot be used. A command ends with status 1."""

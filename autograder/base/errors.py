"""Errors with messages that a command prints unchanged. They say what failed, where, and what to do."""

from __future__ import annotations

__all__ = ["CourseError", "UnavailableError"]


class CourseError(Exception):
    """Raised if a course folder or a call is wrong. The command ends with status 2."""


class UnavailableError(Exception):
    """Raised if a sandbox, a gradebook or a cluster cannot be used. The command ends with status 1."""

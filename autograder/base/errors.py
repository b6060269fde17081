"""Errors with messages that commands print unchanged. Each message says what failed, where, and what to do."""

from __future__ import annotations

__all__ = ["CourseError", "UnavailableError"]


class CourseError(Exception):
    """Raised if a course folder is invalid, or a function or command is used incorrectly. Commands exit with status 2."""


class UnavailableError(Exception):
    """Raised if a sandbox, a gradebook or a cluster cannot be used. Commands exit with status 1."""

"""The exception for problems in a course folder."""

from __future__ import annotations

__all__ = ["CourseError"]


class CourseError(Exception):
    """Something in a course folder is missing or wrong. The message says what, where and what to do."""

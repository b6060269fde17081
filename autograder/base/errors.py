"""What is wrong with a course, said in a sentence."""

from __future__ import annotations

__all__ = ["CourseError"]


class CourseError(Exception):
    """Something in a course folder is missing or wrong; the text says what, where and what to do."""

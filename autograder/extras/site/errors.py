"""Why a site cannot be made."""

from __future__ import annotations

from autograder.base.errors import CourseError

__all__ = ["SiteError"]


class SiteError(CourseError):
    """A site cannot be made of what was given; the text says what was found, where, and what to do."""

"""The page that a student gets back: their notebook, what it put out, and at each exercise what the checks found."""

from __future__ import annotations

from autograder.feedback.page import feedback_page, reason_page

__all__ = ["feedback_page", "reason_page"]

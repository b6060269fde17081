"""An nbgrader plugin for ``c.Course.late_penalty``: a late penalty that grows with each day, up to a limit."""

from __future__ import annotations

import math

from nbgrader.plugins import BasePlugin

__all__ = ["PenaltyPerDay"]

_DAY = 86_400.0  # seconds


class PenaltyPerDay(BasePlugin):
    """A late penalty: a share of the points for each started day."""

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float:
        """Return the points that a submission loses. ``score`` is the number of points before the penalty."""
        del student_id
        rule = self.config.get("Course", {}).get("late_penalty", {})
        share = float(rule.get("per_day", 0.0)) * math.ceil(total_seconds_late / _DAY)
        return round(float(score) * min(share, float(rule.get("at_most", 1.0))), 9)

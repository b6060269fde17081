"""Enters verdicts in nbgrader's gradebook."""

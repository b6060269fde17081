"""Read nbgrader's gradebook, and enter verdicts in it."""

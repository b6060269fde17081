"""Enter verdicts in nbgrader's gradebook, and read it."""

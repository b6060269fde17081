"""Steps of nbgrader's own commands."""

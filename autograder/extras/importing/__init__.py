"""An instructor's notebook for nbgrader or Otter becomes a chapter: source notebook, solutions and checks."""

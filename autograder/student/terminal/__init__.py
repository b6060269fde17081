"""Commands for a student's terminal: check a notebook, set up a course, and check at each save."""

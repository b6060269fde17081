"""Find the faulty line of a student's code, and validate the result."""

"""Find the faulty line of an incorrect solution, and validate the result with the checks."""

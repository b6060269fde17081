"""Find the faulty line of a wrong solution, and validate the result with the checks."""

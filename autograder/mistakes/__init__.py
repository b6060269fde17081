"""Find the faulty line, and validate it by the checks."""

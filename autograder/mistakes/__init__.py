"""Find the faulty line, and prove it."""

"""Find the line of a student's code in which a small edit makes every check pass. This package needs only NumPy and the standard library."""

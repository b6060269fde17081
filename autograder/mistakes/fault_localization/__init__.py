"""Where a mistake is: the line of a student's own code in which one small edit makes every check hold. NumPy and the standard library only."""

"""A demonstration: a class of simulated students, graded in a folder of its own."""

"""A class of simulated students, and a demonstration that takes them from release to feedback."""

"""Stubs of modules that notebooks import, but that have no effect during grading."""

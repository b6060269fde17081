"""Decides what an exercise earned and which mistake explains the rest, and says why."""

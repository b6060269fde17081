"""Compute what an exercise earns and find the mistake that explains the lost points."""

"""Compute the score of an exercise, and find the mistake that explains the lost points."""

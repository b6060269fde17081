"""Data types and helpers that every package uses."""

"""Hostile submissions, and tests of the protection against them."""

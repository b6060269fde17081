"""Hostile submissions and what holds against them."""

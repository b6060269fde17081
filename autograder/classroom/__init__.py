"""Grades a class: from what was handed in to the gradebook and the pages that students get back."""

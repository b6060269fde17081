"""Grading on Gradescope: a zip to upload, and what runs in the container that is made of it."""

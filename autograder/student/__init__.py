"""The code that runs on a student's machine."""

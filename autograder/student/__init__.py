"""What runs on a student's machine."""

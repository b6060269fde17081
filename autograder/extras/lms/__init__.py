"""Submissions and feedback pages on their way between a course folder and Canvas or Moodle."""

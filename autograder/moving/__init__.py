"""``move``: a picture whose values the reader moves, worked out by the student's own functions."""

from autograder.moving.live import move

__all__ = ["move"]

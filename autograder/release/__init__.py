"""Releasing a chapter: look for its author's mistakes, prove its checks, let nbgrader make the version that students get."""

from __future__ import annotations

from autograder.release.run import ReleaseError, record_examples, release

__all__ = ["ReleaseError", "record_examples", "release"]

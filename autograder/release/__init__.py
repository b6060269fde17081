"""Releasing a chapter: look for its author's mistakes, prove its checks, let nbgrader make the version that students get."""

from __future__ import annotations

from autograder.release.examples import record_examples
from autograder.release.run import ReleaseError, release

__all__ = ["ReleaseError", "record_examples", "release"]

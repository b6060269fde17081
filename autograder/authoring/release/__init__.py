"""Releasing a chapter: look for its author's mistakes, prove its checks, let nbgrader make the version that students get."""

from __future__ import annotations

from autograder.authoring.release.run import ReleaseError, release
from autograder.authoring.release.validation import record_examples

__all__ = ["ReleaseError", "record_examples", "release"]

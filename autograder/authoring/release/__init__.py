"""Release a chapter: look for the author's mistakes, validate its checks, and generate the students' version with nbgrader."""

from __future__ import annotations

from autograder.authoring.release.run import ReleaseError, release_validated
from autograder.authoring.release.validation import record_examples, validate_all

__all__ = ["ReleaseError", "record_examples", "release_validated", "validate_all"]

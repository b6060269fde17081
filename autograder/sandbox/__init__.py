"""Runs a student's code where it can harm nobody, and lets the trusted side call it. Knows nothing of grading."""

from __future__ import annotations

from autograder.sandbox.confinement import SandboxUnavailable
from autograder.sandbox.worker import Worker, open_worker

__all__ = ["SandboxUnavailable", "Worker", "open_worker"]

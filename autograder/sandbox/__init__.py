"""Runs a student's code where it can harm nobody, and lets the trusted side call it. Knows nothing of grading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.sandbox.confinement import SandboxUnavailable
    from autograder.sandbox.probes import Probe, probe
    from autograder.sandbox.worker import Worker, open_worker

__all__ = ["Probe", "SandboxUnavailable", "Worker", "open_worker", "probe"]


def __getattr__(name: str) -> Any:
    # Loaded on first use: a notebook's check() needs the protocol's nouns only, and has no processes where it runs
    # in a browser.
    if name == "SandboxUnavailable":
        from autograder.sandbox import confinement  # noqa: PLC0415

        return confinement.SandboxUnavailable
    if name in {"Worker", "open_worker"}:
        from autograder.sandbox import worker  # noqa: PLC0415

        return getattr(worker, name)
    if name in {"Probe", "probe"}:
        from autograder.sandbox import probes  # noqa: PLC0415

        return getattr(probes, name)
    raise AttributeError(f"module 'autograder.sandbox' has no attribute {name!r}")

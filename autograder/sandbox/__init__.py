"""Runs a student's code where it can harm nobody, and lets the trusted side call it. Knows nothing of grading."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.sandbox.probes import Probe, probe
    from autograder.sandbox.protocol import SandboxUnavailable
    from autograder.sandbox.worker import Worker, open_worker

__all__ = ["Probe", "SandboxUnavailable", "Worker", "open_worker", "probe"]


# Loaded on first use: a notebook's check() needs the protocol's nouns only, and in a browser it has no processes.
_MODULES = {"Worker": "worker", "open_worker": "worker", "Probe": "probes", "probe": "probes"}
_MODULES["SandboxUnavailable"] = "confinement"


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'autograder.sandbox' has no attribute {name!r}")
    return getattr(importlib.import_module(f"autograder.sandbox.{_MODULES[name]}"), name)

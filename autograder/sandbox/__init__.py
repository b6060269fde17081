"""Run student code in a sandbox and call its functions. This package knows nothing about grading."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.sandbox.probes import Probe, probe
    from autograder.sandbox.protocol import SandboxUnavailable
    from autograder.sandbox.worker import Worker, open_worker

__all__ = ["Probe", "SandboxUnavailable", "Worker", "open_worker", "probe"]


# Modules are loaded on first use, because check() in a notebook needs only ``protocol``, and a browser cannot start processes.
_NAMES = {"probes": ("Probe", "probe"), "protocol": ("SandboxUnavailable",), "worker": ("Worker", "open_worker")}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'autograder.sandbox' has no attribute {name!r}")
    return getattr(importlib.import_module(f"autograder.sandbox.{_MODULES[name]}"), name)

"""A stand-in for IPython: ``get_ipython`` answers anything with nothing."""

from __future__ import annotations

from typing import Any

from . import display

__all__ = ["display", "get_ipython", "version_info"]

version_info = (9, 0, 0, "")


class Shell:
    """Looks like an interactive shell; every method does nothing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_args, **_kwargs: None


_shell = Shell()


def get_ipython() -> Shell:
    """The stand-in for the shell."""
    return _shell

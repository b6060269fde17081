"""Workers that the sandbox tests share, because starting one takes longer than most tests."""

from __future__ import annotations

from contextlib import ExitStack, closing

import pytest

from autograder.sandbox import open_worker
from autograder.sandbox.protocol import CodeCell, Limits

LIMITS = Limits(call_seconds=1.0, cell_seconds=1.5, submission_seconds=30.0, memory_mb=512, result_mb=8, output_kb=8)


def cells(*sources):
    """Return code cells with these sources, numbered from 0."""
    return [CodeCell(index, f"cell {index + 1}", source) for index, source in enumerate(sources)]


@pytest.fixture(scope="session")
def jail():
    """A worker in bubblewrap."""
    with open_worker(LIMITS, ["numpy", "matplotlib"], confinement="bubblewrap") as worker:
        yield worker


@pytest.fixture(scope="session", params=["bubblewrap", "landlock", "local"])
def everywhere(request):
    """A worker in bubblewrap, in Landlock and without a sandbox, in turn."""
    with open_worker(LIMITS, ["numpy", "matplotlib"], confinement=request.param) as worker:
        yield worker


@pytest.fixture
def run(jail):
    """A function that opens a sandboxed session from cell sources. Each session is closed at the end of the test."""
    with ExitStack() as opened:
        yield lambda *sources, **options: opened.enter_context(closing(jail.open(cells(*sources), **options)))

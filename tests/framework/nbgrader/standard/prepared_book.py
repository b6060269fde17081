"""A pytest plugin for nbgrader's own tests: each gradebook starts as a copy of an empty one."""

from pathlib import Path

import pytest

from tests.support.books import empty_book


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef):
    """Copy an empty gradebook to the test's path, because nbgrader takes seconds to create one."""
    value = yield
    if fixturedef.argname == "db":
        Path(value.removeprefix("sqlite:///")).write_bytes(empty_book())
    return value

"""A plugin for pytest, given to nbgrader's own tests: the gradebook of each begins as a copy of an empty one."""

from pathlib import Path

import pytest

from tests.support.books import empty_book


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef):
    """Put an empty gradebook where the test's is to be: nbgrader takes seconds to make a new one."""
    value = yield
    if fixturedef.argname == "db":
        Path(value.removeprefix("sqlite:///")).write_bytes(empty_book())
    return value

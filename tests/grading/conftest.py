"""The mini course for the tests of this folder."""

import pytest

from tests.mini import copy_course


@pytest.fixture
def course(tmp_path):
    """A fresh copy of the mini course."""
    return copy_course(tmp_path / "mini")

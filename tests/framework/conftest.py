"""What tests of several rooms use: the mini course, ready to be graded."""

import pytest

from tests.support.mini import copy_course


@pytest.fixture
def course(tmp_path):
    """A fresh copy of the mini course."""
    return copy_course(tmp_path / "mini")

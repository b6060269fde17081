"""Fixtures that the tests of several packages use: the mini course, and a graded class."""

import pytest

from tests.support.graded_class import graded
from tests.support.mini import copy_course

__all__ = ["course", "graded"]


@pytest.fixture
def course(tmp_path):
    """Return a new copy of the mini course."""
    return copy_course(tmp_path / "mini")

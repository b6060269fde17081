"""Fixtures that several packages' tests use: the mini course, and a graded class of it."""

import pytest

from tests.support.graded_class import graded
from tests.support.mini import copy_course

__all__ = ["course", "graded"]


@pytest.fixture
def course(tmp_path):
    """A fresh copy of the mini course."""
    return copy_course(tmp_path / "mini")

"""Helpers that tests of all packages share: the mini course, gradebooks, and the search for leaked answers."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MINI_COURSE = ROOT / "tests" / "fixtures" / "mini_course"

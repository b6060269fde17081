"""What tests of every kind share: the mini course, gradebooks compared, the hunt for leaked answers."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MINI_COURSE = ROOT / "tests" / "fixtures" / "mini_course"

"""Helpers that tests of all packages share: the mini course, gradebooks, and the search for leaked answers."""

import sys
from pathlib import Path

# jsonschema works without this grammar, which every process that imports nbformat would compile for a second.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

ROOT = Path(__file__).resolve().parents[2]
MINI_COURSE = ROOT / "tests" / "fixtures" / "mini_course"

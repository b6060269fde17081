"""Check that a tag may be released: ``python .ci/release_version.py v1.0.0``. Prints what is wrong and exits with 1, or the version."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def problems(tag: str, root: Path = ROOT) -> list[str]:
    """Return why the tree in ``root`` cannot be released as ``tag``. Empty if it can."""
    version = tag.removeprefix("v")
    found = [] if re.fullmatch(r"v\d+\.\d+\.\d+", tag) else [f"{tag} is not a tag such as v1.0.0."]
    projects = {
        name: tomllib.loads((root / name).read_text(encoding="utf-8"))["project"]
        for name in ("pyproject.toml", "packaging/instructor/pyproject.toml")
    }
    found += [f"{name} has version {one['version']}." for name, one in projects.items() if one["version"] != version]
    [student, instructor] = projects.values()
    pins = [*student["optional-dependencies"]["instructor"], *instructor["dependencies"]]
    found += [f"{pin} is pinned to another version." for pin in pins if pin.rpartition("==")[2] != version]
    if f'__version__ = "{version}"' not in (root / "autograder" / "__init__.py").read_text(encoding="utf-8"):
        found.append("autograder/__init__.py has another version.")
    heading = re.compile(rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$", re.MULTILINE)
    if not heading.search((root / "CHANGELOG.md").read_text(encoding="utf-8")):
        found.append(f"CHANGELOG.md has no heading '## {version} (YYYY-MM-DD)' with the date of the release.")
    return found


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Name the tag, such as v1.0.0.")
    if why := problems(sys.argv[1]):
        sys.exit("\n".join(why))
    print(sys.argv[1].removeprefix("v"))

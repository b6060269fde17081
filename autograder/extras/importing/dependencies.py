"""Find what a notebook depends on: files next to it, and packages that the course has to list."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from autograder.base.foreign import Json
from autograder.course.course import Course
from autograder.extras.importing.chapter import NewChapter
from autograder.sandbox.packages import PackageMissing, top_level_paths

__all__ = ["files_of", "packages_of"]

_ALWAYS = frozenset({"autograder", "IPython", "otter", "pytest", "nose"})
_LARGEST = 64 << 20  # bytes of all files together, which is the limit of a release
_MOST_LOOKED_AT = 2000


def files_of(path: Path, document: Mapping[str, Json], named: Sequence[str], chapter: NewChapter) -> dict[Path, str]:
    """Return the files next to the notebook that it names, with their paths below the chapter's folder."""
    folder = path.resolve().parent
    text = json.dumps([cell.get("source") for cell in document["cells"] if isinstance(cell, dict)], ensure_ascii=False)
    text = text.replace('\\"', '"')
    found: dict[Path, str] = {}
    total = 0
    for candidate in _beside(folder):
        name = candidate.relative_to(folder).as_posix()
        mentioned = name in named or re.search(rf"(?<![\w./-])(?:\./)?{re.escape(name)}(?![\w/-])", text)
        module = name.endswith(".py") and name.removesuffix(".py").isidentifier()
        imported = module and re.search(rf"\b(?:import|from)\s+{re.escape(name.removesuffix('.py'))}\b", text)
        if not mentioned and not imported:
            continue
        size = candidate.stat().st_size
        if total + size > _LARGEST:
            chapter.notes.append(
                f"{name} takes {size / 2**20:.0f} MiB and was not copied: the files next to a notebook may take {_LARGEST >> 20} MiB together."
            )
            continue
        total += size
        found[candidate] = name
    for name in named:
        if name not in found.values() and not set(name) & set("*?["):
            chapter.notes.append(f"{name} is in its list of files, but there is no such file next to the notebook.")
    return found


def _beside(folder: Path) -> list[Path]:
    """List files up to two levels deep, without hidden files, notebooks and files behind links."""
    found: list[Path] = []
    for pattern in ("*", "*/*", "*/*/*"):
        for candidate in sorted(folder.glob(pattern)):
            parts = candidate.relative_to(folder).parts
            hidden = any(part.startswith((".", "__")) for part in parts)
            if not hidden and candidate.is_file() and not candidate.is_symlink() and candidate.suffix != ".ipynb":
                found.append(candidate)
            if len(found) >= _MOST_LOOKED_AT:
                return found
    return found


def packages_of(course: Course, chapter: NewChapter, files: Mapping[Path, str]) -> list[str]:
    """Return packages that the notebook imports and the course does not list. Report packages that are not installed."""
    own = {PurePosixPath(name).stem for name in files.values() if name.endswith(".py")}
    try:
        there = {name.removesuffix(".py").partition(".")[0] for name in top_level_paths(list(course.packages))}
    except PackageMissing:
        there = set()
    known = own | there | _ALWAYS | set(sys.stdlib_module_names) | set(course.packages)
    asked: dict[str, None] = {}
    for statement in chapter.program:
        if statement.is_import:
            for match in re.finditer(r"^\s*(?:from|import)\s+([A-Za-z_]\w*)", statement.text, re.MULTILINE):
                asked[match[1]] = None
    wanted = []
    for package in asked.keys() - known:
        try:
            top_level_paths([package])
            wanted.append(package)
        except PackageMissing:
            chapter.notes.append(
                f"It imports {package}, which is not installed here. Install it, and add it to c.Course.packages."
            )
    return sorted(wanted)

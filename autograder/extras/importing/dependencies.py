"""Find the dependencies of a notebook: files next to it, and packages that the course has to list."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import packages_distributions
from pathlib import Path, PurePosixPath

from autograder.base.foreign import Json
from autograder.course.course import Course
from autograder.extras.importing.program import Statement
from autograder.sandbox.packages import PackageMissing, top_level_paths

__all__ = ["files_of", "modules_beside", "packages_of"]

_ALWAYS = frozenset({"autograder", "IPython", "otter", "pytest", "nose"})
_LARGEST = 64 << 20  # the most bytes of all files together, as in a release
_MOST_LOOKED_AT = 2000


def files_of(path: Path, document: Mapping[str, Json], named: Sequence[str], notes: list[str]) -> dict[Path, str]:
    """Return the files next to the notebook that it or its modules mention, mapped to their paths in the chapter's folder.

    A message about each missing or too large file is added to ``notes``.
    """
    folder = path.resolve().parent
    text = json.dumps([cell.get("source") for cell in document["cells"] if isinstance(cell, dict)], ensure_ascii=False)
    text = text.replace('\\"', '"').replace("\\n", "\n")
    found: dict[Path, str] = {}
    total = 0
    waiting = _beside(folder)
    while more := [p for p in waiting if _is_named(p.relative_to(folder), named, text)]:
        waiting = [p for p in waiting if p not in more]
        for candidate in more:
            name = candidate.relative_to(folder).as_posix()
            size = candidate.stat().st_size
            if total + size > _LARGEST:
                notes.append(
                    f"{name} takes {size / 2**20:.0f} MiB and was not copied: the files next to a notebook may take at most {_LARGEST >> 20} MiB together."
                )
                continue
            total += size
            found[candidate] = name
            if candidate.suffix == ".py":  # a module may name further modules and files
                text += candidate.read_text(encoding="utf-8", errors="replace")
    missing = [name for name in named if name not in found.values() and not set(name) & set("*?[")]
    notes += [
        f"{name} is in the notebook's list of files, but there is no such file next to the notebook."
        for name in missing
    ]
    return found


def _is_named(relative: Path, named: Sequence[str], text: str) -> bool:
    """Return whether ``named`` or ``text`` mentions a file by its path, its folder or its module name."""
    name = relative.as_posix()
    if name in named or re.search(rf"(?<![\w./-])(?:\./)?{re.escape(name)}(?![\w/-])", text):
        return True
    folders = [f"{folder}" for folder in relative.parents if folder != Path()]
    if any(re.search(rf"[\"'](?:\./)?{re.escape(folder)}(?:/[^\"'\n]*)?[\"']", text) for folder in folders):
        return True
    modules = [relative.stem, *relative.parts[:-1]] if relative.suffix == ".py" else []
    return any(m.isidentifier() and re.search(rf"\b(?:import|from)\s+{re.escape(m)}\b", text) for m in modules)


def modules_beside(files: Mapping[Path, str]) -> list[str]:
    """Return the names under which the notebook can import the modules among its files."""
    paths = [PurePosixPath(name) for name in files.values() if name.endswith(".py")]
    return sorted({name for path in paths for name in (path.stem, path.parts[0]) if name.isidentifier()})


def _beside(folder: Path) -> list[Path]:
    """Return the files in ``folder`` and two levels of subfolders, without hidden files, notebooks and links."""
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


def packages_of(course: Course, program: Sequence[Statement], files: Mapping[Path, str], notes: list[str]) -> list[str]:
    """Return the packages that the notebook or its modules import, but that the course does not list.

    A message about each package that is not installed is added to ``notes``.
    """
    own = set(modules_beside(files))
    try:
        there = {name.removesuffix(".py").partition(".")[0] for name in top_level_paths(list(course.packages))}
    except PackageMissing:
        there = set()
    known = own | there | _ALWAYS | set(sys.stdlib_module_names) | set(course.packages)
    texts = [s.text for s in program if s.is_import]
    texts += [p.read_text(encoding="utf-8", errors="replace") for p, name in files.items() if name.endswith(".py")]
    imported = re.compile(r"^\s*(?:from|import)\s+([A-Za-z_]\w*)", re.MULTILINE)
    wanted = []
    for package in {match[1] for text in texts for match in imported.finditer(text)} - known:
        distribution = next(iter(packages_distributions().get(package, ())), package)
        try:
            top_level_paths([distribution])
            wanted.append(distribution)
        except PackageMissing:
            notes.append(
                f"The notebook imports {package}, which is not installed here. Install it, and add it to c.Course.packages."
            )
    return sorted(set(wanted))

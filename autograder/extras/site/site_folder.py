"""Write a site into a folder without overwriting files of others."""

from __future__ import annotations

import json
import os
from pathlib import Path

import autograder
from autograder.base.errors import CourseError
from autograder.base.files import write_atomically

__all__ = ["MANIFEST", "SiteError", "replace_site", "require_own_site"]


class SiteError(CourseError):
    """A site cannot be built. The text says what was found, where, and what to do."""


MANIFEST = "autograder-site.json"


def require_own_site(output: Path) -> None:
    """Raise ``SiteError`` unless ``output`` does not exist, is empty, or holds a site that was built before."""
    if output.is_symlink() and not output.exists():
        raise SiteError(f"{output} is a link to nowhere. Name another folder.")
    if output.exists() and not output.is_dir():
        raise SiteError(f"{output} is a file, but a site is a folder. Name a folder.")
    if output.is_dir() and any(output.iterdir()) and _listed(output) is None:
        raise SiteError(
            f"{output} is not empty, and it does not contain a site from `autograder site`. Nothing was written. "
            "Name a new folder, or empty this one first."
        )


def replace_site(made: Path, output: Path) -> None:
    """Move the site in ``made`` to ``output``. Remove files of an older site, and keep files of others.

    Raises ``SiteError``, before anything is moved, if a file of others is in the way.
    """
    files = sorted(path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file())
    before = set(_listed(output) or ()) if output.is_dir() else set()
    for name in files:
        if name not in before and (output / name).exists():
            raise SiteError(
                f"{output / name} was not made by `autograder site`, but the site needs this path. Move it elsewhere."
            )
    manifest = {"made_by": f"autograder {autograder.__version__}", "files": files}
    # Written first, so that an interrupted site is still recognized.
    write_atomically(
        output / MANIFEST, json.dumps({**manifest, "files": sorted(before | set(files))}, indent=0).encode()
    )
    for name in files:
        target = output / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (made / name).replace(target)
    for name in before.difference(files):
        _take_away(output, output / name)
    write_atomically(output / MANIFEST, json.dumps(manifest, indent=0).encode())


def _take_away(output: Path, path: Path) -> None:
    path.unlink(missing_ok=True)
    for folder in path.parents:
        if folder == output or not folder.is_dir() or os.listdir(folder):  # noqa: PTH208 - only whether there is any
            return
        folder.rmdir()


def _listed(output: Path) -> list[str] | None:
    """Return the files of the site in ``output``, never one outside it. None if there is no site."""
    try:
        files = json.loads((output / MANIFEST).read_bytes())["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not isinstance(files, list):
        return None
    return [
        name
        for name in files
        if isinstance(name, str) and not Path(name).is_absolute() and ".." not in Path(name).parts
    ]

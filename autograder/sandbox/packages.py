"""Find the folders and files of a package and its dependencies. A sandbox shows no other packages."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import Distribution

__all__ = ["PackageMissing", "top_level_paths"]


class PackageMissing(Exception):  # noqa: N818 - reads better in messages
    """Raised if a package that notebooks of the course may import is not installed."""


def top_level_paths(packages: Sequence[str]) -> dict[str, Path]:
    """Return the paths of ``packages`` and their dependencies, by name in the site-packages folder.

    A dependency is included if it is installed and its marker applies to this system. Raises ``PackageMissing`` if one of
    ``packages`` is not installed.
    """
    return dict(_resolve(tuple(packages)))


@functools.cache
def _resolve(packages: tuple[str, ...]) -> tuple[tuple[str, Path], ...]:
    from packaging.requirements import InvalidRequirement, Requirement  # noqa: PLC0415 - needed only to start a sandbox
    from packaging.utils import canonicalize_name  # noqa: PLC0415

    paths: dict[str, Path] = {}
    seen: set[str] = set()
    waiting = list(packages)
    while waiting:
        name = waiting.pop()
        key = canonicalize_name(name)
        if key in seen:
            continue
        seen.add(key)
        distribution = _distribution(name)
        if distribution is None:
            if name in packages:
                raise PackageMissing(
                    f"The course lets notebooks import {name!r}, which is not installed here: pip install {name}, "
                    "or remove it from c.Course.packages in course_config.py."
                )
            continue
        paths.update(_paths_of(distribution))
        for text in distribution.requires or ():
            with suppress(InvalidRequirement):
                requirement = Requirement(text)
                if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                    waiting.append(requirement.name)
    return tuple(sorted(paths.items()))


def _distribution(name: str) -> Distribution | None:
    from importlib import metadata  # noqa: PLC0415 - needed only to start a sandbox

    try:
        return metadata.distribution(name)
    except metadata.PackageNotFoundError:
        owners = metadata.packages_distributions().get(name)  # an import name, such as sklearn
        return metadata.distribution(owners[0]) if owners else None


def _paths_of(distribution: Distribution) -> dict[str, Path]:
    files = distribution.files
    if files is None:  # installed by a system package manager, without a list of files
        listed = (distribution.read_text("top_level.txt") or distribution.metadata["Name"]).split()
        names = {name for top in listed for name in (top, f"{top}.py")}
    else:
        names = {PurePosixPath(file).parts[0] for file in files}
    wanted = [name for name in names - {"..", "__pycache__", "bin"} if not name.endswith(".pth")]
    paths = {name: Path(str(distribution.locate_file(name))) for name in wanted}
    return {name: path for name, path in paths.items() if path.exists()}

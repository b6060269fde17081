"""The part of a Pyodide distribution that a course needs, picked out of a folder, so that a site can serve it itself."""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from email import message_from_bytes
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from autograder.extras.site.errors import SiteError

__all__ = ["KERNEL_NEEDS", "Pyodide", "pick"]

LOCK = "pyodide-lock.json"
RUNTIME = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
# What the kernel asks for by itself, before a notebook's first cell; `comm`, which Pyodide does not have, the site brings.
KERNEL_NEEDS = ("micropip", "ipython", "jedi")


@dataclass(frozen=True)
class Pyodide:
    """The files of a distribution that are needed, by the name that each has in the site, and the lock that lists them."""

    files: Mapping[str, Path]
    lock: Mapping[str, Any]

    def copy_to(self, folder: Path) -> None:
        """Write it all into ``folder``, which is made."""
        folder.mkdir(parents=True)
        for name, path in self.files.items():
            shutil.copyfile(path, folder / name)
        (folder / LOCK).write_text(json.dumps(self.lock), encoding="utf-8")


@dataclass(frozen=True)
class _Wheel:
    path: Path
    version: str

    @property
    def requires(self) -> Iterator[str]:
        """What it depends on where no lock says so; a condition, on an extra or on a system, is taken for not met."""
        with zipfile.ZipFile(self.path) as archive:
            name = next((n for n in archive.namelist() if n.endswith(".dist-info/METADATA")), None)
            metadata = message_from_bytes(archive.read(name) if name else b"")
        for text in metadata.get_all("Requires-Dist") or ():
            try:
                requirement = Requirement(text)
            except InvalidRequirement:
                continue
            if requirement.marker is None:
                yield requirement.name


def pick(folder: Path, imports: Iterable[str], version: str) -> Pyodide:
    """What a notebook that imports ``imports`` needs of the distribution in ``folder``, which is of Pyodide ``version``.

    A wheel of another build or version than the lock names is taken, and locked as it is. Raises ``SiteError`` with all that
    is missing.
    """
    lock = _lock(folder, version)
    packages: dict[str, Any] = {canonicalize_name(name): entry for name, entry in lock["packages"].items()}
    wheels = _wheels(folder, lock["info"])
    files = {name: folder / name for name in RUNTIME}
    picked: dict[str, Any] = {}
    missing: dict[str, str] = {}
    waiting = [*KERNEL_NEEDS, *(_package_of(name, packages) for name in imports)]
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name in picked or name in missing:
            continue
        entry = packages.get(name)
        wheel = _exact(folder, entry) or wheels.get(name)
        if wheel is None:
            missing[name] = entry["file_name"] if entry else f"{name}, any version"
            waiting += entry["depends"] if entry else ()
            continue
        entry = _entry(name, wheel, entry)
        picked[name] = entry
        files[entry["file_name"]] = wheel.path
        waiting += entry["depends"]
    if missing:
        raise SiteError(_missing(folder, missing, packages, lock["info"], version))
    return Pyodide(files, {**lock, "packages": dict(sorted(picked.items()))})


def _lock(folder: Path, version: str) -> Any:
    if not folder.is_dir():
        raise SiteError(f"--pyodide {folder}: there is no such folder. It has to hold Pyodide {version}, unpacked.")
    absent = [name for name in (*RUNTIME, LOCK) if not (folder / name).is_file()]
    inner = folder / "pyodide"
    if absent and all((inner / name).is_file() for name in (*RUNTIME, LOCK)):
        raise SiteError(f"--pyodide {folder}: Pyodide is one folder further down. Say --pyodide {inner}.")
    if absent:
        raise SiteError(
            f"--pyodide {folder}: {', '.join(absent)} {'is' if len(absent) == 1 else 'are'} not in it. It has to hold Pyodide "
            f"{version}, unpacked: pyodide-{version}.tar.bz2 from the releases of github.com/pyodide/pyodide, or the npm "
            f"package pyodide@{version} with the wheels of the course's packages beside it."
        )
    try:
        lock = json.loads((folder / LOCK).read_bytes())
        lock["info"]["abi_version"], lock["info"]["python"], lock["packages"].items()
    except (ValueError, KeyError, TypeError, AttributeError):
        raise SiteError(f"{folder / LOCK} is damaged: it is no list of packages. Unpack Pyodide again.") from None
    found = _version(folder)
    if found and found.split(".")[:2] != version.split(".")[:2]:
        raise SiteError(f"--pyodide {folder} holds Pyodide {found}, and the site's kernel is made for {version}.")
    return lock


def _version(folder: Path) -> str:
    try:
        return str(json.loads((folder / "package.json").read_bytes())["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _wheels(folder: Path, info: Mapping[str, Any]) -> dict[str, _Wheel]:
    """The newest wheel of each project in ``folder`` that this Pyodide can run."""
    python = "cp" + "".join(str(info["python"]).split(".")[:2])
    newest: dict[str, tuple[Any, _Wheel]] = {}
    for path in sorted(folder.glob("*.whl")):
        try:
            name, version, _, tags = parse_wheel_filename(path.name)
        except InvalidWheelFilename:
            continue
        runs = any(
            tag.platform == "any" or (tag.interpreter == python and f"_{info['abi_version']}_wasm32" in tag.platform)
            for tag in tags
        )
        if runs and _is_whole(path) and (name not in newest or version > newest[name][0]):
            newest[name] = version, _Wheel(path, str(version))
    return {name: wheel for name, (_, wheel) in newest.items()}


def _is_whole(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.testzip() is None
    except (OSError, zipfile.BadZipFile):
        return False


def _exact(folder: Path, entry: Mapping[str, Any] | None) -> _Wheel | None:
    """The very file that the lock names, where it is there and is the one that was locked."""
    path = folder / entry["file_name"] if entry else folder / "absent"
    if entry is None or not path.is_file() or _hash(path) != entry["sha256"]:
        return None
    return _Wheel(path, entry["version"])


def _entry(name: str, wheel: _Wheel, entry: Mapping[str, Any] | None) -> dict[str, Any]:
    """What the lock has to say of ``wheel``: as before where it knows the package, and else what the wheel itself says."""
    if entry is None:
        entry = {
            "name": name,
            "imports": [name.replace("-", "_")],
            "depends": [canonicalize_name(one) for one in wheel.requires],
            "install_dir": "site",
            "package_type": "package",
            "unvendored_tests": False,
        }
    return {**entry, "file_name": wheel.path.name, "version": wheel.version, "sha256": _hash(wheel.path)}


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _package_of(imported: str, packages: Mapping[str, Any]) -> str:
    """The package that has to be there for ``import imported``."""
    named = canonicalize_name(imported)
    if named in packages:
        return named
    return next((name for name, entry in packages.items() if imported in entry["imports"]), named)


def _missing(
    folder: Path, missing: Mapping[str, str], packages: Mapping[str, Any], info: Mapping[str, Any], version: str
) -> str:
    pure = [
        f"{name}=={packages[name]['version']}" if name in packages else name
        for name, file in sorted(missing.items())
        if file.endswith("none-any.whl") or name not in packages
    ]
    built = [name for name in missing if name in packages and not missing[name].endswith("none-any.whl")]
    many = len(missing) > 1
    text = f"--pyodide {folder} lacks {len(missing)} package{'s' if many else ''} that the notebooks need, or {'they are' if many else 'it is'} damaged:"
    text += "".join(f"\n  - {file}" for _, file in sorted(missing.items()))
    text += f"\nThe whole distribution, pyodide-{version}.tar.bz2, has {'them' if many else 'it'}."
    if pure:
        python = ".".join(str(info["python"]).split(".")[:2])
        fetch = f"pip download --no-deps --only-binary=:all: --python-version {python} --dest {folder} {' '.join(pure)}"
        which = "Those in pure Python can" if built else "They can" if many else "It can"
        text += f" {which} be had from PyPI, too:\n  {fetch}"
    return text

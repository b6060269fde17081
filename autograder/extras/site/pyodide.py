"""Collect the files that a site's kernel needs: packages of a Pyodide distribution, and wheels of packages that Pyodide lacks."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import json
import shutil
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from email import message_from_bytes
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version

import autograder
from autograder.base.foreign import Json
from autograder.extras.site.site_contents import SiteError

__all__ = ["KERNEL_NEEDS", "Pyodide", "installed_wheel", "select_packages", "student_wheel"]


# --- A Pyodide distribution --------------------------------------------------------------------------------------------

LOCK = "pyodide-lock.json"
RUNTIME = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
# Packages that the kernel loads before a notebook's first cell. The kernel also needs `comm`, which Pyodide lacks, so the site has its wheel.
KERNEL_NEEDS = ("micropip", "ipython", "jedi")


@dataclass(frozen=True)
class Pyodide:
    """The files of a distribution that a site needs, by their names in the site, and the lock file that lists them."""

    files: Mapping[str, Path]
    lock: Mapping[str, Json]

    def copy_to(self, folder: Path) -> None:
        """Write all the files into ``folder``, which is created."""
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
        """The unconditional dependencies in the wheel's own metadata."""
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


def select_packages(folder: Path, imports: Iterable[str], version: str) -> Pyodide:
    """Select the files in ``folder`` that a notebook with these ``imports`` needs. ``folder`` contains Pyodide ``version``.

    If a wheel differs from the lock file in build or version, it is accepted, and its entry in the lock is adjusted. Raises
    ``SiteError`` with a list of everything that is missing.
    """
    lock = _lock(folder, version)
    packages: dict[str, Json] = {canonicalize_name(name): entry for name, entry in lock["packages"].items()}
    wheels = _wheels(folder, lock["info"])
    files = {name: folder / name for name in RUNTIME}
    picked: dict[str, Json] = {}
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


def _lock(folder: Path, version: str) -> Json:
    if not folder.is_dir():
        raise SiteError(
            f"--pyodide {folder}: there is no such folder. Give a folder that contains Pyodide {version}, unpacked."
        )
    absent = [name for name in (*RUNTIME, LOCK) if not (folder / name).is_file()]
    inner = folder / "pyodide"
    if absent and all((inner / name).is_file() for name in (*RUNTIME, LOCK)):
        raise SiteError(f"--pyodide {folder}: Pyodide is one folder further down. Use --pyodide {inner}.")
    if absent:
        raise SiteError(
            f"--pyodide {folder}: the folder does not contain {', '.join(absent)}. It must contain Pyodide "
            f"{version}, unpacked: pyodide-{version}.tar.bz2 from the releases of github.com/pyodide/pyodide, or the npm "
            f"package pyodide@{version} with the wheels of the course's packages next to it."
        )
    try:
        lock = json.loads((folder / LOCK).read_bytes())
        lock["info"]["abi_version"], lock["info"]["python"], lock["packages"].items()
    except (ValueError, KeyError, TypeError, AttributeError):
        raise SiteError(f"{folder / LOCK} is damaged: it is not a list of packages. Unpack Pyodide again.") from None
    found = _version(folder)
    if found and found.split(".")[:2] != version.split(".")[:2]:
        raise SiteError(f"--pyodide {folder} contains Pyodide {found}, but the site's kernel needs {version}.")
    return lock


def _version(folder: Path) -> str:
    try:
        return str(json.loads((folder / "package.json").read_bytes())["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _wheels(folder: Path, info: Mapping[str, Json]) -> dict[str, _Wheel]:
    """Return the newest wheel of each project in ``folder`` that this Pyodide can run."""
    python = "cp" + "".join(str(info["python"]).split(".")[:2])
    newest: dict[str, tuple[Version, _Wheel]] = {}
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


def _exact(folder: Path, entry: Mapping[str, Json] | None) -> _Wheel | None:
    """Return the file that the lock file names, if it exists and has the locked hash."""
    path = folder / entry["file_name"] if entry else folder / "absent"
    if entry is None or not path.is_file() or _hash(path) != entry["sha256"]:
        return None
    return _Wheel(path, entry["version"])


def _entry(name: str, wheel: _Wheel, entry: Mapping[str, Json] | None) -> dict[str, Json]:
    """Return the lock entry of ``wheel``. It is based on ``entry``, or on the wheel's metadata if the lock file lacks the package."""
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


def _package_of(imported: str, packages: Mapping[str, Json]) -> str:
    """Return the package that ``import imported`` needs."""
    named = canonicalize_name(imported)
    if named in packages:
        return named
    return next((name for name, entry in packages.items() if imported in entry["imports"]), named)


def _missing(
    folder: Path, missing: Mapping[str, str], packages: Mapping[str, Json], info: Mapping[str, Json], version: str
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
    text += f"\nThe complete distribution, pyodide-{version}.tar.bz2, contains {'them' if many else 'it'}."
    if pure:
        python = ".".join(str(info["python"]).split(".")[:2])
        fetch = f"pip download --no-deps --only-binary=:all: --python-version {python} --dest {folder} {' '.join(pure)}"
        which = "those in pure Python" if built else "them" if many else "it"
        text += f" You can also download {which} from PyPI:\n  {fetch}"
    return text


# --- Wheels made here --------------------------------------------------------------------------------------------------

TREE = Path(autograder.__file__).parents[1]
STUDENT = "nbautograder"
EPOCH = (2020, 1, 1, 0, 0, 0)  # a constant time, so that the same files give the same wheel


def student_wheel(folder: Path) -> Path:
    """Write the student's package without its course into ``folder`` as a wheel, and return its path.

    In a clone, ``packaging/modules.py`` finds the files. Elsewhere the installed files are used.
    """
    listing = TREE / "packaging" / "modules.py"
    if not listing.is_file():
        return installed_wheel(STUDENT, folder, without="autograder/material/")
    spec = importlib.util.spec_from_file_location("modules", listing)
    if spec is None or spec.loader is None:
        raise SiteError(f"{listing} cannot be read.")
    modules = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(modules)
    files = {name: (TREE / name).read_bytes() for name in modules.student_files(TREE)}
    metadata = f"Metadata-Version: 2.1\nName: {STUDENT}\nVersion: {autograder.__version__}\nRequires-Dist: numpy\n"
    return _write(folder, STUDENT, autograder.__version__, files, metadata.encode())


def installed_wheel(name: str, folder: Path, without: str = "\n") -> Path:
    """Rebuild the wheel of an installed pure-Python distribution in ``folder``, and return its path.

    Files whose path begins with ``without`` are left out. Raises ``SiteError`` if the distribution is not installed.
    """
    try:
        found = distribution(name)
    except PackageNotFoundError:
        raise SiteError(f"The package {name} is not installed here. Run: pip install {name}") from None
    files = {
        file.as_posix(): Path(str(found.locate_file(file))).read_bytes()
        for file in found.files or ()
        if file.suffix != ".pyc" and ".." not in file.parts and not file.parts[0].endswith(".dist-info")
        if not file.as_posix().startswith(without)
    }
    return _write(folder, name, found.version, files, (found.read_text("METADATA") or "").encode())


def _write(folder: Path, name: str, version: str, modules: Mapping[str, bytes], metadata: bytes) -> Path:
    stem = f"{name.replace('-', '_')}-{version}"
    info = PurePosixPath(f"{stem}.dist-info")
    tag = b"Wheel-Version: 1.0\nGenerator: autograder\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files = {**modules, str(info / "METADATA"): metadata, str(info / "WHEEL"): tag}
    record = "".join(f"{path},sha256={_digest(data)},{len(data)}\n" for path, data in files.items())
    files[str(info / "RECORD")] = f"{record}{info / 'RECORD'},,\n".encode()
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            archive.writestr(zipfile.ZipInfo(path, EPOCH), data, zipfile.ZIP_DEFLATED)
    return wheel


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()

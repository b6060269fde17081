"""The wheels that a site hands to its kernel: the student's package, and what Pyodide does not have."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import zipfile
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath

import autograder
from autograder.extras.site.errors import SiteError

__all__ = ["installed_wheel", "student_wheel"]

TREE = Path(autograder.__file__).parents[1]
STUDENT = "nbautograder"
EPOCH = (2020, 1, 1, 0, 0, 0)  # the same files give the same wheel, byte for byte


def student_wheel(folder: Path) -> Path:
    """Write the student's package, without the course that it carries, into ``folder`` as a wheel, and say where it is.

    In a clone its files are those that ``packaging/modules.py`` finds, elsewhere those that are installed.
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
    """Write a pure Python distribution that is installed here into ``folder`` as a wheel, like the one it came from.

    Files whose path begins with ``without`` are left out. Raises ``SiteError`` where it is not installed.
    """
    try:
        found = distribution(name)
    except PackageNotFoundError:
        raise SiteError(f"The package {name} is not installed here. Type: pip install {name}") from None
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

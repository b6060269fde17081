"""The wheels that a site hands to its kernel: what a student's cells import of this package, and what Pyodide does not have."""

from __future__ import annotations

import ast
import base64
import hashlib
import importlib.metadata
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

import autograder
from autograder.site.errors import SiteError

__all__ = ["installed_wheel", "student_modules", "student_wheel"]

PACKAGE = Path(autograder.__file__).parent
DISTRIBUTION = "nbautograder"
EPOCH = (2020, 1, 1, 0, 0, 0)  # the same tree gives the same wheel, byte for byte


def student_wheel(folder: Path) -> Path:
    """Write the wheel that ``from autograder import check, hint`` needs in a browser into ``folder``, and say where it is.

    It holds the modules that a student's cells can come to import, and nothing that makes, checks or grades a course.
    """
    modules = {f"autograder/{name}": (PACKAGE / name).read_bytes() for name in student_modules()}
    metadata = f"Metadata-Version: 2.1\nName: {DISTRIBUTION}\nVersion: {autograder.__version__}\nRequires-Dist: numpy\n"
    return _write(folder, DISTRIBUTION, autograder.__version__, modules, metadata.encode())


def installed_wheel(name: str, folder: Path) -> Path:
    """Write a pure Python distribution that is installed here into ``folder`` as the wheel it came from.

    Raises ``SiteError`` where it is not installed.
    """
    try:
        distribution = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        raise SiteError(f"The package {name} is not installed: pip install {name}") from None
    modules = {
        file.as_posix(): Path(str(distribution.locate_file(file))).read_bytes()
        for file in distribution.files or ()
        if file.suffix != ".pyc" and ".." not in file.parts and not file.parts[0].endswith(".dist-info")
    }
    return _write(folder, name, distribution.version, modules, (distribution.read_text("METADATA") or "").encode())


def student_modules() -> list[str]:
    """The files of this package that ``check`` and ``hint`` can come to import, lazily or not, as paths below it."""
    found: set[Path] = set()
    waiting = [PACKAGE / "__init__.py", PACKAGE / "selfcheck" / "__init__.py"]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        waiting += [folder / "__init__.py" for folder in path.parents if PACKAGE in folder.parents]
        package = ".".join(("autograder", *path.relative_to(PACKAGE).parent.parts))
        waiting += _imported(ast.parse(path.read_bytes()), package)
    return sorted(path.relative_to(PACKAGE).as_posix() for path in found)


def _imported(tree: ast.AST, package: str) -> Iterator[Path]:
    """The files of this package that a module of ``package`` imports when it runs: not what only a type checker reads."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            names = [f"{module}.{alias.name}" for alias in node.names] + [module]
        for name in names:
            if (path := _file(name)) is not None:
                yield path
        yield from _imported(node, package)


def _file(module: str) -> Path | None:
    first, *rest = module.split(".")
    path = PACKAGE.joinpath(*rest)
    if first != "autograder":
        return None
    return next((p for p in (path / "__init__.py", path.with_suffix(".py")) if p.is_file()), None)


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

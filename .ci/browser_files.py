"""Download, once, the files that the browser tests use: a Pyodide with NumPy and Matplotlib, and axe.

``python .ci/browser_files.py`` prints the folder of the files, in the user's cache. None of them is committed or
shipped. If the download fails, it says why. The tests that need the files are then skipped, or fail on CI.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

NPM = ("pyodide@314.0.6", "axe-core@4.14.1")
RUNTIME = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
    "package.json",
)
# The wheels that were built for WebAssembly are in no registry by themselves, but in the wheel of this project.
CARRIER = "open-webui==0.12.4"
CARRIED = "numpy matplotlib contourpy cycler fonttools kiwisolver pillow pyparsing python_dateutil pytz six packaging micropip"
PURE = (
    "asttokens==3.0.1 decorator==5.2.1 executing==2.2.1 ipython==9.12.0 jedi==0.19.2 matplotlib-inline==0.2.1 parso==0.8.6 "
    "prompt-toolkit==3.0.52 pure-eval==0.2.3 pygments==2.20.0 stack-data==0.6.3 traitlets==5.14.3 wcwidth==0.6.0"
)
PYTHON = "3.14"  # the version in Pyodide, for which the wheels are built
EDITION = "1"  # change this number if the lists above change


def folder() -> Path:
    """Return the folder of the files, whether they exist or not."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "nbautograder-tests" / EDITION


def fetch(target: Path) -> None:
    """Fill ``target``. Raises ``OSError`` or ``CalledProcessError`` if a file cannot be downloaded, and then leaves nothing."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as work:
        fetched, made = Path(work) / "fetched", Path(work) / "made"
        fetched.mkdir()
        (made / "pyodide").mkdir(parents=True)
        _run("npm", "pack", "--silent", *NPM, cwd=fetched)
        for archive in fetched.glob("*.tgz"):
            with tarfile.open(archive) as packed:
                packed.extractall(fetched / archive.stem, filter="data")
        [pyodide], [axe] = fetched.glob("pyodide-*/package"), fetched.glob("axe-core-*/package")
        for name in RUNTIME:
            shutil.copy(pyodide / name, made / "pyodide")
        shutil.copy(axe / "axe.min.js", made)
        pip = [*_pip(), "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", "."]
        _run(*pip, "--python-version", PYTHON, *PURE.split(), cwd=made / "pyodide")
        _run(*pip, "--python-version", "3.12", CARRIER, cwd=fetched)
        [carrier] = fetched.glob("*.whl")
        wanted = tuple(f"{name}-" for name in CARRIED.split())
        with zipfile.ZipFile(carrier) as packed:
            for name in packed.namelist():
                file = name.rpartition("/")[2]
                if "/frontend/pyodide/" in name and file.endswith(".whl") and file.startswith(wanted):
                    (made / "pyodide" / file).write_bytes(packed.read(name))
        shutil.rmtree(target, ignore_errors=True)
        made.rename(target)


def _pip() -> list[str]:
    """Return the command for this environment's pip, or for any other if uv created the environment without pip."""
    for command in ([sys.executable, "-m", "pip"], ["uv", "tool", "run", "pip"], ["pip3"], ["python3", "-m", "pip"]):
        try:
            _run(*command, "--version")
        except (OSError, subprocess.CalledProcessError):
            continue
        return command
    raise FileNotFoundError("pip is not here")


def _run(*command: str, cwd: Path | None = None) -> None:
    subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True)


def main() -> int:
    """Download missing files. Always return 0, because the tests report which files they miss."""
    target = folder()
    if not (target / "axe.min.js").is_file():
        print("Fetching what the browser's tests use: once, 130 MB …", file=sys.stderr)
        try:
            fetch(target)
        except (OSError, ValueError, subprocess.CalledProcessError, tarfile.TarError, zipfile.BadZipFile) as error:
            said = getattr(error, "stderr", "") or str(error)
            print(f"It could not be had, so the tests that use it are left out: {said.strip()[-400:]}", file=sys.stderr)
            return 0
    print(target)
    return 0


if __name__ == "__main__":
    sys.exit(main())

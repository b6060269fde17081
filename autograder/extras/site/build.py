"""Build a site from a released course: a folder that any web server can serve."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

from autograder.base.foreign import Json
from autograder.course.course import Course
from autograder.extras.site.pyodide import installed_wheel, select_packages, student_wheel
from autograder.extras.site.site_contents import SiteError, lay_out, replace_site, require_own_site, write_landing

__all__ = ["JUPYTERLITE", "PYODIDE_VERSION", "build_site"]

# Exact versions, because they determine the site's Pyodide and the address of the student's wheel. pyproject.toml pins the same versions.
JUPYTERLITE = ("jupyterlite-core==0.8.6", "jupyterlite-pyodide-kernel==0.8.6")
PYODIDE_VERSION = "314.0.6"
KERNEL = "jupyterlite-pyodide-kernel"
KERNEL_EXTENSION = "@jupyterlite/pyodide-kernel-extension"
# The folder of the wheels, relative to the kernel's worker, which is deep in its extension's folder.
WHEELS_FROM_WORKER = "../../../../pypi"
SITE_PACKAGES = "/lib/python3.14/site-packages"  # the path in this version of Pyodide
STARTUP_FILE = "autograder/student/startup.txt"  # the script that each kernel runs when it starts
SETTINGS = {
    # Save work in the browser after seconds, not after two minutes.
    "@jupyterlab/docmanager-extension:plugin": {"autosaveInterval": 5},
    # Keep every cell in the page, for the browser's search and for screen readers.
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "defer"},
    "@jupyterlab/apputils-extension:themes": {"adaptive-theme": True},
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
}


def build_site(
    course: Course,
    output: Path,
    chapters: Sequence[str] = (),
    *,
    pyodide: Path | None = None,
    say: Callable[[str], None] | None = None,
) -> Path:
    """Build the site of ``chapters`` in ``output``, and return this folder. If no chapters are given, use all finished chapters.

    ``pyodide`` is a folder with a Pyodide distribution. With it, the site contains all it needs and contacts no other server.
    Without it, the browser loads Pyodide from its content delivery network.

    Raises ``CourseError`` if JupyterLite is not installed, ``output`` holds anything but an older site, a chapter does not exist,
    no chapter is finished, or the distribution lacks packages. ``output`` is then unchanged.
    """
    say = say or (lambda _text: None)
    output = output.absolute()
    _require_jupyterlite()
    require_own_site(output)
    packed = select_packages(pyodide.absolute(), course.packages, PYODIDE_VERSION) if pyodide is not None else None
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SiteError(f"{output} cannot be created ({error.strerror}). Choose another folder.") from error
    with tempfile.TemporaryDirectory(prefix=f".{output.name}-", dir=output.parent) as folder:
        stage, made = Path(folder) / "stage", Path(folder) / "site"
        contents = stage / "contents"
        found = lay_out(course, chapters, contents, say)
        wheel = student_wheel(stage / "wheels")
        installed_wheel("comm", stage / "wheels")
        if packed is not None:
            packed.copy_to(stage / "static" / "pyodide")
        _configure(stage, course, wheel, alone=packed is not None)
        _run_jupyterlite(stage, made)
        write_landing(made, course.title or course.course_id, found, contents, alone=packed is not None)
        replace_site(made, output)
    return output


def _configure(stage: Path, course: Course, wheel: Path, *, alone: bool) -> None:
    kernel = {
        "disablePyPIFallback": alone,
        "loadPyodideOptions": {
            "packages": ["numpy", f"{WHEELS_FROM_WORKER}/{wheel.name}"],
            "env": {"HOME": "/home/pyodide", "PYTHONSTARTUP": f"{SITE_PACKAGES}/{STARTUP_FILE}"},
        },
    }
    data: dict[str, Json] = {
        "appName": course.title or course.course_id,
        "exposeAppInBrowser": True,  # needed by lab.js
        "litePluginSettings": {f"{KERNEL_EXTENSION}:kernel": kernel},
    }
    lite = {"jupyter-lite-schema-version": 0, "jupyter-config-data": data}
    (stage / "jupyter-lite.json").write_text(json.dumps(lite), encoding="utf-8")
    (stage / "overrides.json").write_text(json.dumps(SETTINGS), encoding="utf-8")


def _run_jupyterlite(stage: Path, made: Path) -> None:
    options = ["--lite-dir", ".", "--output-dir", str(made), "--contents", "contents", "--apps", "lab"]
    options += [
        "--settings-overrides",
        "overrides.json",
        "--piplite-wheels",
        "wheels",
        "--no-sourcemaps",
        "--no-libarchive",
    ]
    # Of the installed extensions, include only the kernel. nbgrader's panels are for instructors.
    options += ["--ignore-sys-prefix", f"--LiteBuildConfig.federated_extensions={_kernel_extension()}"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "PYODIDE"))}
    done = subprocess.run(
        [sys.executable, "-m", "jupyterlite_core", "build", *options],
        cwd=stage,
        env={**environment, "JUPYTER_NO_CONFIG": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0 or not (made / "lab" / "index.html").is_file():
        said = [line for line in f"{done.stdout}\n{done.stderr}".splitlines() if line.strip()]
        raise SiteError("JupyterLite could not build the site. Its last output:\n" + "\n".join(said[-20:]))


def _require_jupyterlite() -> None:
    missing: Sequence[str] = [spec for spec in JUPYTERLITE if _installed(spec.split("==")[0]) != spec.split("==")[1]]
    if find_spec("jupyter_server") is None:
        missing = [*missing, "jupyter-server"]
    if missing:
        raise SiteError(
            f"A site needs certain versions of JupyterLite, which are not installed here. Run: pip install {' '.join(missing)}"
        )


def _installed(name: str) -> str:
    try:
        return distribution(name).version
    except PackageNotFoundError:
        return ""


def _kernel_extension() -> Path:
    found = distribution(KERNEL)
    manifest = next(
        f for f in found.files or () if f.as_posix().endswith(f"labextensions/{KERNEL_EXTENSION}/package.json")
    )
    return Path(str(found.locate_file(manifest))).resolve().parent

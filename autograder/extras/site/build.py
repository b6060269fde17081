"""From a released course to a folder that any web server can serve."""

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
from typing import Any

from autograder.course.course import Course
from autograder.extras.site.errors import SiteError
from autograder.extras.site.landing import write_landing
from autograder.extras.site.output import replace_site, require_ours
from autograder.extras.site.pyodide import pick
from autograder.extras.site.released import lay_out
from autograder.extras.site.wheels import installed_wheel, student_wheel

__all__ = ["JUPYTERLITE", "PYODIDE_VERSION", "build_site"]

# Exactly these: a site's address of the student's wheel, and its Pyodide, are theirs. pyproject.toml pins the same.
JUPYTERLITE = ("jupyterlite-core==0.8.6", "jupyterlite-pyodide-kernel==0.8.6")
PYODIDE_VERSION = "314.0.6"
KERNEL = "jupyterlite-pyodide-kernel"
KERNEL_EXTENSION = "@jupyterlite/pyodide-kernel-extension"
# Where wheels lie, as the kernel's worker, which lies deep in the folder of its extension, has to write it.
WHEELS_FROM_WORKER = "../../../../pypi"
SETTINGS = {
    # The work is kept in the browser as soon as it is written, not two minutes later.
    "@jupyterlab/docmanager-extension:plugin": {"autosaveInterval": 5},
    # Every cell is on the page, for its own search and for who has it read aloud.
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
    """Make the site of ``chapters``, by default of all that are finished, in ``output``, and give its folder.

    With ``pyodide``, a folder that holds a Pyodide distribution, the site brings what it needs of that and asks no other
    server for anything; without, the browser gets Pyodide from its content delivery network.

    Raises ``CourseError`` where JupyterLite is not installed, ``output`` holds anything but an older site, there is no such
    chapter or none is finished, or the distribution lacks packages. What was in ``output`` is then as it was.
    """
    say = say or (lambda _text: None)
    output = output.absolute()
    _require_jupyterlite()
    require_ours(output)
    packed = pick(pyodide.absolute(), course.packages, PYODIDE_VERSION) if pyodide is not None else None
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SiteError(f"{output} cannot be made ({error.strerror}). Name a folder elsewhere.") from error
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
        "loadPyodideOptions": {"packages": ["numpy", f"{WHEELS_FROM_WORKER}/{wheel.name}"]},
    }
    data: dict[str, Any] = {
        "appName": course.title or course.course_id,
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
    # Of what is installed here only the kernel: not nbgrader's panels, which are for instructors.
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
        raise SiteError("JupyterLite could not build the site. It said last:\n" + "\n".join(said[-20:]))


def _require_jupyterlite() -> None:
    missing: Sequence[str] = [spec for spec in JUPYTERLITE if _installed(spec.split("==")[0]) != spec.split("==")[1]]
    if find_spec("jupyter_server") is None:
        missing = [*missing, "jupyter-server"]
    if missing:
        raise SiteError(
            f"A site is made with JupyterLite, of the version that fits, and it is not installed here. Type: pip install {' '.join(missing)}"
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

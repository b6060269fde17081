"""Tests of ``autograder site``: the content of a site, and the messages if none can be built."""

from __future__ import annotations

import json
import re
import tomllib
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.cli.app import app
from autograder.course.secret import course_secret
from autograder.extras.site import build
from autograder.extras.site.site_contents import MANIFEST
from tests.support import ROOT
from tests.support.leaks import hunt
from tests.support.mini import CHAPTER, copy_course


@pytest.fixture
def site(tmp_path):
    """A function that runs ``autograder site`` on the mini course with ``options``, and returns its exit status and messages."""
    course = copy_course(tmp_path / "course")

    def run(*options: object) -> tuple[int, str]:
        done = CliRunner().invoke(app, ["site", "--course", str(course.root), *map(str, options)])
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done.exit_code, " ".join(done.output.split())

    run.course = course
    return run


def distribution(folder, wheels=(), **lock):
    """Create ``folder`` like Pyodide's, with ``wheels`` and a lock file that lists NumPy, Matplotlib and the kernel's packages."""
    folder.mkdir()
    for name in ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip"):
        (folder / name).write_bytes(b"")
    built, pure = "cp314-cp314-pyemscripten_2026_0_wasm32", "py3-none-any"
    tags = {"numpy": built, "matplotlib": built, "micropip": pure, "ipython": pure, "jedi": pure}
    packages = {
        name: {
            "name": name, "version": "1.0", "file_name": f"{name}-1.0-{tag}.whl", "sha256": "0" * 64,
            "imports": [name], "depends": ["numpy"] if name == "matplotlib" else [], "install_dir": "site",
        }
        for name, tag in tags.items()
    }  # fmt: skip
    info = {"abi_version": "2026_0", "python": "3.14.2"}
    (folder / "pyodide-lock.json").write_text(json.dumps({"info": info, "packages": packages, **lock}))
    for name in wheels:
        with zipfile.ZipFile(folder / name, "w") as wheel:
            wheel.writestr("module.py", "")
    return folder


def test_a_site_holds_the_course_and_nothing_else(site, tmp_path):
    """The site has notebooks, examples and the student's package, but no solution, check, secret or nbgrader panel. It can be rebuilt."""
    course_secret(site.course)
    made = tmp_path / "public" / "site"
    status, said = site("--output-dir", made)
    look = f"To view it here: python -m http.server --directory {made}"
    assert said.endswith(f"The site is in {made}. Upload it to any web server. {look}")
    assert status == 0
    assert (made / "files" / CHAPTER / f"{CHAPTER}.ipynb").is_file()
    assert (made / "files" / CHAPTER / "examples.json").is_file()
    assert f"lab/index.html?path={CHAPTER}/{CHAPTER}.ipynb" in (made / "index.html").read_text()
    assert [p.parent.name for p in made.glob("extensions/**/package.json")] == ["pyodide-kernel-extension"]
    assert not [name for name in ("tests", "solutions", "source") if list(made.rglob(name))]
    wheels = list(made.rglob("nbautograder*.whl"))
    zipfile.ZipFile(wheels[0]).extractall(tmp_path / "wheel")
    received = [p for top in (made / "files", made / "api", tmp_path / "wheel") for p in top.rglob("*") if p.is_file()]
    leaks = hunt(site.course, CHAPTER, [*received, made / "index.html", made / "work.js"])
    # Self-learners can read a solution once the exercise is done. So obfuscated solutions are included, but no
    # other secret is.
    meant = {"a reference solution", "an alternative"}
    solutions = [leak.text for leak in leaks if leak.what in meant]
    assert {Path(leak.file).name for leak in leaks} == {"examples.json"}
    # (A wrong solution may share a line with a right one.)
    assert [leak for leak in leaks if leak.what not in meant and not any(leak.text in line for line in solutions)] == []
    assert [leak for leak in leaks if leak.text in re.sub(r"\s+", "", Path(leak.file).read_text())] == []
    settings = json.loads((made / "jupyter-lite.json").read_text())["jupyter-config-data"]
    kernel = settings["litePluginSettings"]["@jupyterlite/pyodide-kernel-extension:kernel"]
    assert "pyodideUrl" not in kernel  # so Pyodide is loaded from its content delivery network

    (made / "CNAME").write_text("example.org")
    (made / "files" / "old.txt").write_text("of an older site")
    manifest = json.loads((made / MANIFEST).read_text())
    (made / MANIFEST).write_text(json.dumps({**manifest, "files": [*manifest["files"], "files/old.txt"]}))
    assert site("--output-dir", made, CHAPTER)[0] == 0
    assert (made / "CNAME").read_text() == "example.org"
    assert not (made / "files" / "old.txt").exists()


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda folder: folder.write_text("mine"), "is a file, but a site needs a folder. Choose a folder."),
        (
            lambda folder: (folder.mkdir(), (folder / "thesis.txt").write_text("mine")),
            "is not empty, and it does not contain a site from `autograder site`. Nothing was written.",
        ),
        (lambda folder: folder.symlink_to(folder / "nowhere"), "is a broken link. Choose another folder."),
    ],
)
def test_a_folder_that_is_not_ours_stays_as_it_is(site, tmp_path, made, said):
    """A file, a folder with other content and a broken link are refused with one sentence, and nothing is written."""
    made(tmp_path / "out")
    before = sorted(tmp_path.rglob("*"))
    status, told = site("--output-dir", tmp_path / "out")
    assert status == 2
    assert f"{tmp_path / 'out'} {said}" in told
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_that_cannot_be_made(site, tmp_path):
    """If the output folder would be inside a file, the command exits with status 2."""
    (tmp_path / "file").write_text("mine")
    assert site("--output-dir", tmp_path / "file" / "site")[0] == 2


def test_what_pyodide_lacks_is_listed(site, tmp_path):
    """All missing or damaged wheels are named in one message, with their source and the command to get them."""
    have = [
        "matplotlib-3.9-cp314-cp314-pyemscripten_2026_0_wasm32.whl",
        "numpy-2.0-cp313-cp313-pyodide_2025_0_wasm32.whl",
    ]
    folder = distribution(tmp_path / "pyodide", [*have, "micropip-0.9-py3-none-any.whl"])
    (folder / "ipython-1.0-py3-none-any.whl").write_bytes(b"half a wh")
    status, told = site("--output-dir", tmp_path / "out", "--pyodide", folder)
    assert status == 2
    assert told == (
        f"--pyodide {folder} lacks 3 packages that the notebooks need, or they are damaged: - ipython-1.0-py3-none-any.whl "
        "- jedi-1.0-py3-none-any.whl - numpy-1.0-cp314-cp314-pyemscripten_2026_0_wasm32.whl The complete distribution, "
        "pyodide-314.0.6.tar.bz2, contains them. You can also download those in pure Python from PyPI: pip download --no-deps "
        f"--only-binary=:all: --python-version 3.14 --dest {folder} ipython==1.0 jedi==1.0"
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            lambda folder: (folder / "pyodide.mjs").unlink(),
            "the folder does not contain pyodide.mjs. It must contain Pyodide 314.0.6, unpacked",
        ),
        (
            lambda folder: (folder / "pyodide-lock.json").write_text("[]"),
            "pyodide-lock.json is damaged: it is not a list of",
        ),
        (
            lambda folder: (folder / "package.json").write_text('{"version": "0.27.1"}'),
            "contains Pyodide 0.27.1, but the site's kernel needs 314.0.6.",
        ),
        (
            lambda folder: (
                (folder / "pyodide").mkdir() or [p.rename(folder / "pyodide" / p.name) for p in folder.glob("*.*")]
            ),
            "Pyodide is one folder further down. Use --pyodide",
        ),
    ],
)
def test_what_is_no_pyodide_is_refused(site, tmp_path, changed, said):
    """A folder is rejected if it is missing, incomplete or damaged, has a different version of Pyodide, or is the folder above Pyodide."""
    changed(folder := distribution(tmp_path / "distribution"))
    status, told = site("--output-dir", tmp_path / "out", "--pyodide", folder)
    assert (status, said in told) == (2, True), told
    status, told = site("--output-dir", tmp_path / "out", "--pyodide", tmp_path / "nowhere")
    assert (status, "there is no such folder." in told) == (2, True)


def test_without_jupyterlite_it_says_what_to_type(site, tmp_path, monkeypatch):
    """If JupyterLite, which is an extra, is missing or has the wrong version, the message gives the command that installs it."""
    monkeypatch.setattr(build, "_installed", lambda name: "0.1" if name == "jupyterlite-core" else "")
    status, told = site("--output-dir", tmp_path / "out")
    assert (status, told.partition("Run: ")[2]) == (2, f"pip install {' '.join(build.JUPYTERLITE)}")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(build.JUPYTERLITE) <= set(extras["site"])


def test_chapters_that_are_not_there(site, tmp_path):
    """A chapter that does not exist, and a course without finished chapters, are reported."""
    status, told = site("--output-dir", tmp_path / "out", "ch9_nothing")
    assert (status, "There is no chapter 'ch9_nothing'" in told) == (2, True)
    site.course.checks(CHAPTER).unlink()
    status, told = site("--output-dir", tmp_path / "out")
    assert (status, "No chapter of" in told and "is finished" in told) == (2, True)
    assert not (tmp_path / "out").exists()

"""Tests of the distributions: a student's wheel without checks, solutions and instructors' tools, and an instructor's wheel with the tools."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

from autograder.authoring.release.run import hand_out
from autograder.cli import student
from autograder.cli.app import app
from tests.support import ROOT
from tests.support.commands import python
from tests.support.mini import CHAPTER, RIGHT, copy_course

pytest.importorskip("hatchling", reason="hatchling builds the wheels: pip install hatchling")
# The packages that pip would install for a student. No other package may be imported.
ALLOWED = ("numpy", "numpy.libs", "click", "rich", "packaging", "pygments", "markdown_it", "mdurl")


def _build(project: Path, folder: Path) -> Path:
    """Build the wheel of a project with its build backend, and return its path."""
    code = f"from hatchling.build import build_wheel; print(build_wheel({str(folder)!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=project, capture_output=True, text=True, check=True)
    return folder / done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """Build the student's wheel and the instructor's wheel, and return their paths."""
    folder = tmp_path_factory.mktemp("dist")
    return _build(ROOT, folder), _build(ROOT / "packaging" / "instructor", folder)


@pytest.fixture(scope="module")
def installed(wheels, tmp_path_factory):
    """Return a function that runs code with only the student's wheel, which contains a small course, and the wheel's dependencies."""
    place = tmp_path_factory.mktemp("student")
    zipfile.ZipFile(wheels[0]).extractall(place / "wheel")
    hand_out(copy_course(place / "clone"), place / "wheel" / "autograder" / "material")
    (place / "packages").mkdir()
    for name in ALLOWED:
        spec = importlib.util.find_spec(name) if "." not in name else None
        origin = Path(spec.origin).parent if spec else Path(importlib.util.find_spec("numpy").origin).parents[1] / name
        if origin.exists():
            (place / "packages" / name).symlink_to(origin)
        for about in origin.parent.glob(f"{name}-*.dist-info"):  # lets the sandbox find the package's files
            (place / "packages" / about.name).symlink_to(about)

    def run(code: str, cwd: Path = place, **options: str) -> subprocess.CompletedProcess[str]:
        begin = f"import sys; sys.path[:0] = [{str(place / 'wheel')!r}, {str(place / 'packages')!r}]; {code}"
        env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | options
        command = [sys.executable, "-I", "-S", "-c", begin]
        return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)

    return run


def _texts(wheel: Path) -> dict[str, str]:
    with zipfile.ZipFile(wheel) as opened:
        return {name: opened.read(name).decode() for name in opened.namelist()}


def test_the_students_wheel_holds_nothing_of_the_instructors(wheels):
    """The wheel contains no module that grades, audits, releases or reads a gradebook, and no line of a solution or check."""
    texts = _texts(wheels[0])
    rooms = {"authoring", "classroom", "grading", "nbgrader"}
    assert {name.split("/")[1] for name in texts} & rooms == set()
    assert {name.split("/")[2] for name in texts if "/extras/" in name} == {"__init__.py", "watch"}
    foreign = re.compile(
        r"(^|/)(tests?|solutions?|source|packaging|benchmarks|docs)/|misconception|secret|course_config"
    )
    assert [name for name in texts if foreign.search(name)] == []
    needs = re.compile(
        r"^\s*(from|import) (nbgrader|pytest|hypothesis|sqlalchemy|traitlets|nbformat|jinja2)\b", re.MULTILINE
    )
    assert [name for name, text in texts.items() if needs.search(text)] == []
    # Compare contents, not names: no line of code of this course's solutions or checks is in the wheel.
    whole = re.sub(r"\s", "", "".join(texts.values()))
    for path in [*(ROOT / "solutions").rglob("*.py"), *(ROOT / "tests" / "chapters").glob("*.py")]:
        found = [ast.unparse(n) for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Return | ast.With)]
        assert [line for line in found if len(line) > 40 and re.sub(r"\s", "", line) in whole] == [], path.name


def test_the_two_wheels_hold_every_module_once(wheels):
    """Each module is in exactly one of the two wheels, so that both can be installed together."""
    student, instructor = ({n for n in _texts(wheel) if n.startswith("autograder/")} for wheel in wheels)
    assert student & instructor == set()
    every = {p.relative_to(ROOT).as_posix() for p in (ROOT / "autograder").rglob("*") if p.is_file()}
    assert student | instructor == {name for name in every if "__pycache__" not in name}


def test_versions_and_needs_of_the_two_agree(wheels):
    """A student's wheel requires only NumPy, Click, Rich and packaging. The instructor's wheel requires the same version of the student's."""
    root = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    other = tomllib.loads((ROOT / "packaging" / "instructor" / "pyproject.toml").read_text())["project"]
    assert other["version"] == root["version"]
    assert other["dependencies"] == [f"nbautograder[grading]=={root['version']}"]
    assert root["optional-dependencies"]["instructor"] == [f"nbautograder-instructor=={root['version']}"]
    [metadata] = [text for name, text in _texts(wheels[0]).items() if name.endswith("/METADATA")]
    needed = re.findall(r"^Requires-Dist: ([\w-]+)[^;\n]*$", metadata, re.MULTILINE)
    assert set(needed) == {"numpy", "click", "rich", "packaging"}
    assert "@ file:" not in metadata


def test_each_wheel_registers_the_commands_that_it_contains(wheels):
    """The student's wheel registers `watch`, and the instructor's wheel registers all other entry points of pyproject.toml."""
    student, instructor = (
        [text for name, text in _texts(wheel).items() if name.endswith("/entry_points.txt")] for wheel in wheels
    )
    [declared_there] = student
    assert "autograder = autograder.cli:main" in declared_there
    assert re.findall(r"= (autograder\.extras\S+)", declared_there) == ["autograder.extras.watch:watch"]
    declared = [
        tomllib.loads((folder / "pyproject.toml").read_text())["project"]["entry-points"]
        for folder in (ROOT, ROOT / "packaging" / "instructor")
    ]
    assert declared[0]["autograder.commands"].pop("watch")
    assert declared[0] == declared[1]
    assert "site = autograder.extras.site:site" in instructor[0].splitlines()


def test_every_module_of_the_students_can_be_imported(wheels, installed):
    """Each module can be imported with only NumPy, Click, Rich and packaging. Instructors' commands say what to install."""
    modules = [n for n in _texts(wheels[0]) if n.startswith("autograder/") and n.endswith(".py") and "/guest/" not in n]
    dotted = [name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for name in modules]
    dotted.remove("autograder.__main__")  # importing it runs the command
    assert installed(f"import importlib; [importlib.import_module(m) for m in {dotted!r}]").stderr == ""
    door = "from autograder.cli import main; main()"
    told = installed(f"sys.argv = ['autograder', 'grade', 'x']; {door}")
    assert told.returncode == 2
    assert "`autograder grade` is for instructors" in told.stderr
    assert 'pip install "nbautograder[instructor]' in told.stderr


def test_the_instructors_verbs_are_known_by_name_where_they_are_not_installed():
    """The student's command line knows the name of every command that only instructors have."""
    assert set(app.list_commands()) - {"start", "watch", "check"} == student.INSTRUCTORS


def test_a_student_starts_checks_and_is_helped(installed, tmp_path):
    """`start` sets up the course, `check` works in the terminal and in a cell, and `hint` gives hints."""
    door = "from autograder.cli import main; main()"
    started = installed(f"sys.argv = ['autograder', 'start', '--no-open', 'mine']; {door}", tmp_path)
    assert (started.returncode, started.stderr) == (0, "")
    chapter = tmp_path / "mine" / CHAPTER
    checked = installed(f"sys.argv = ['autograder', 'check', '{CHAPTER}.ipynb', '--json']; {door}", chapter)
    [verdict] = json.loads(checked.stdout)
    assert [e["status"] for e in verdict["exercises"]] == ["not_attempted"] * 3, checked.stderr
    code = f"import numpy as np; exec({RIGHT['to_kelvin']!r}); from autograder import check, hint; check('to_kelvin'); hint('to_kelvin')"
    done = installed(code, chapter)
    assert "all checks pass" in done.stdout or "✓" in done.stdout, done.stderr
    shutil.rmtree(chapter)


def test_a_release_needs_the_same_version_everywhere_and_a_date(tmp_path):
    """A tag is released if both projects, the package and the changelog name its version. Otherwise each problem is listed."""
    for name in ("pyproject.toml", "packaging/instructor/pyproject.toml", "autograder/__init__.py", "CHANGELOG.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / ".ci").mkdir()
    script = shutil.copy(ROOT / ".ci" / "release_version.py", tmp_path / ".ci")
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    changelog = tmp_path / "CHANGELOG.md"
    text = changelog.read_text(encoding="utf-8")
    changelog.write_text(
        re.sub(rf"^## {re.escape(version)} .*$", f"## {version} (unreleased)", text, flags=re.MULTILINE)
    )
    assert f"'## {version} (YYYY-MM-DD)'" in python(script, f"v{version}", status=1).stderr
    changelog.write_text(
        re.sub(rf"^## {re.escape(version)} .*$", f"## {version} (2026-12-01)", text, flags=re.MULTILINE)
    )
    assert python(script, f"v{version}", status=0).stdout == f"{version}\n"
    told = python(script, "v99.0.0", status=1).stderr
    assert f"packaging/instructor/pyproject.toml has version {version}." in told
    assert f"nbautograder-instructor=={version} is pinned to another version." in told
    assert "is not a tag such as v1.0.0" in python(script, "1.0", status=1).stderr


def test_a_release_is_checked_and_published_without_a_token():
    """The workflow checks the tag before it builds, tries the wheels, and publishes with an identity instead of a secret."""
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))
    build, publish = workflow["jobs"]["build"], workflow["jobs"]["publish"]
    ran = [step.get("run", "") for step in build["steps"]]
    wanted = ['python .ci/release_version.py "$GITHUB_REF_NAME"', "make test", "make wheel", "sh .ci/try-wheel python"]
    assert [command for command in ran if command in wanted] == wanted
    assert publish["needs"] == "build"
    assert publish["permissions"] == {"id-token": "write"}
    assert "secrets." not in (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")

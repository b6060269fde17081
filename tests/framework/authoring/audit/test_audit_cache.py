"""A cached audit is used only as long as nothing that it depends on has changed."""

import dataclasses
import json
import shutil
from pathlib import Path

import pytest

import autograder
from autograder.authoring.audit import audit
from autograder.authoring.audit.measure import CachedAudit
from autograder.authoring.release.validation import validate
from autograder.course.course import load_course
from autograder.course.secret import VARIABLE
from tests.support.mini import CHAPTER, change, copy_course


@pytest.fixture(scope="module")
def report():
    """Return an audit of the mini course."""
    course = load_course(Path(__file__).parents[3] / "fixtures" / "mini_course")
    [found] = audit(course, [CHAPTER], mutants=False, draws=1)
    return found


@pytest.fixture
def course(tmp_path):
    """Return a copy of the mini course that a test may change."""
    return copy_course(tmp_path / "mini")


def append(path, more="\n# another line\n"):
    """Return a change that appends ``more`` to a file of the course."""
    return lambda root, _monkeypatch: (root / path).write_text((root / path).read_text() + more)


def new(path):
    """Return a change that adds a file to the course."""
    return lambda root, _monkeypatch: (root / path).write_text("RATE = 2\n")


def stub_begun(root, _monkeypatch):
    """Replace the stub by one that is not blank."""
    change(root / "source" / CHAPTER / f"{CHAPTER}.ipynb", "raise NotImplementedError", "return 0 * celsius")


def another_framework(root, monkeypatch):
    """Change the framework's code, but not its version."""
    copy = root.parent / "elsewhere"
    shutil.copytree(Path(autograder.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "values" / "closeness.py").write_text((copy / "values" / "closeness.py").read_text() + "\nRTOL = 1\n")
    monkeypatch.setattr(autograder, "__file__", str(copy / "__init__.py"))


def another_secret(_root, monkeypatch):
    """Change the secret, so that different hidden inputs are drawn."""
    monkeypatch.setenv(VARIABLE, "another")


def prose(root, _monkeypatch):
    """Change the chapter's text, but no code."""
    path = root / "source" / CHAPTER / f"{CHAPTER}.ipynb"
    document = json.loads(path.read_text())
    next(c for c in document["cells"] if c["cell_type"] == "markdown")["source"] = "# Other words"
    path.write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("changed", "holds"),
    [
        (prose, True),
        (append(f"tests/chapters/test_{CHAPTER}.py"), False),
        (new("tests/chapters/inputs.py"), False),
        (new("tests/chapters/rates.csv"), False),
        (new(f"source/{CHAPTER}/rates.csv"), False),
        (append(f"solutions/{CHAPTER}.py"), False),
        (append(f"solutions/misconceptions/{CHAPTER}.py"), False),
        (append(f"solutions/alternatives/{CHAPTER}.py"), False),
        (new("solutions/ch0_before.py"), False),
        (append("course_config.py", "\nc.Course.targets = {'hidden': 0.5}\n"), False),
        (stub_begun, False),
        (another_framework, False),
        (another_secret, False),
    ],
)
def test_what_a_proof_depends_on_takes_it_back(course, report, monkeypatch, changed, holds):
    """A cached audit stays valid if only prose changes, but not if anything changes that the audit reads, runs or draws from."""
    CachedAudit(course, CHAPTER, (True, 20)).save(report)
    assert CachedAudit(course, CHAPTER, (True, 20)).load() == report
    changed(course.root, monkeypatch)
    assert (CachedAudit(load_course(course.root), CHAPTER, (True, 20)).load() == report) is holds
    assert CachedAudit(load_course(course.root), CHAPTER, (False, 2)).load() is None  # the settings differ


@pytest.mark.parametrize("found", [{"rejected": {"by_hand": "it took too long"}}, {"misdiagnosed": {"wrong_sign": ""}}])
def test_what_falls_short_is_not_kept(course, report, found):
    """An audit is not cached if it rejects a right solution or misses a diagnosis, because a busy machine may be the only reason."""
    exercise = dataclasses.replace(report.exercises[0], **found)
    CachedAudit(course, CHAPTER).save(dataclasses.replace(report, exercises=(exercise, *report.exercises[1:])))
    assert CachedAudit(course, CHAPTER).load() is None


def test_a_broken_file_is_no_proof(course, report):
    """A truncated cache file is ignored, and so is a cache file from another version."""
    CachedAudit(course, CHAPTER).save(report)
    path = course.state("audit", f"{CHAPTER}.json")
    for text in (path.read_text()[:-20], path.read_text().replace('"hardcoded"', '"by_head"'), "[]"):
        path.write_text(text)
        assert CachedAudit(course, CHAPTER).load() is None


def test_a_second_release_rehearses_the_notebook_and_measures_no_check(course):
    """If only prose has changed, the cached audit is reused and a message says so. A failing cell is still found."""
    first = validate(course, CHAPTER, mutants=False)
    assert first.refused == ""
    assert "unchanged" not in str(first.notes)
    page = first.page.read_text()
    prose(course.root, None)
    second = validate(course, CHAPTER, mutants=False)
    assert second.refused == ""
    assert "its checks and everything that they depend on are unchanged" in " ".join(second.notes)
    assert second.page.read_text() == page
    change(course.source(CHAPTER), "readings =", "readings = 1 / 0\\nreadings =")
    assert "ZeroDivisionError" in validate(course, CHAPTER, mutants=False).refused

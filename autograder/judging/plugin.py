"""The pytest plugin, which provides the fixtures ``student``, ``reference``, ``agrees`` and ``rng``.

``pytest tests/chapters`` runs the checks on the references. ``pytest --student notebook.ipynb`` runs them on a notebook.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from autograder.base.foreign import Value
from autograder.checking.agreement import ReferenceComparison
from autograder.checking.asserts import CheckFailed
from autograder.checking.call_source import track_answers
from autograder.checking.decorators import ExerciseSpec
from autograder.checking.properties import drawing, rng_for
from autograder.course.course import find_course, load_course
from autograder.judging.exercise_session import ExerciseSession, Sessions
from autograder.judging.loader import ChapterChecks, make_importable
from autograder.judging.proxies import ReferenceProxy, StudentProxy
from autograder.sandbox.protocol import Session

__all__ = ["spec_of"]


@dataclass
class _PytestRun:
    """The open sessions and the results of one pytest run."""

    chapters: dict[str, ChapterChecks] = field(default_factory=dict)
    sessions: dict[tuple[Path, int | None], Session] = field(default_factory=dict)
    talks: dict[tuple[str, str], ExerciseSession] = field(default_factory=dict)
    passed: dict[str, bool] = field(default_factory=dict)
    worker: Any = None


_kept = pytest.StashKey[_PytestRun]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option ``--student``."""
    group = parser.getgroup("autograder")
    group.addoption("--student", metavar="NOTEBOOK", help="run the checks against this notebook, in the sandbox")


def pytest_configure(config: pytest.Config) -> None:
    """Create the state of the run."""
    config.stash[_kept] = _PytestRun()


def pytest_collectstart(collector: pytest.Collector) -> None:
    """Let a check file import the course's solutions and the modules next to it, as in grading."""
    if isinstance(collector, pytest.Module) and collector.path.parent.name == "chapters":
        root = find_course(collector.path.parent)
        if root is not None:
            make_importable(root)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a check if another check that it depends on has failed."""
    spec = spec_of(item)
    if spec is None:
        return
    check = next(c for c in spec.checks if c.name == item.originalname)  # type: ignore[attr-defined]
    passed = item.config.stash[_kept].passed
    for name in check.after:
        if passed.get(f"{spec.name}.{name}") is False:
            passed[f"{spec.name}.{check.name}"] = False
            pytest.skip(f"depends on {name}, which failed")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
    call: pytest.CallInfo[None],  # noqa: ARG001 - pytest requires this name
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Record which checks passed, for the checks that depend on them."""
    report = yield
    spec = spec_of(item)
    if spec is not None and report.when == "call":
        passed, key = item.config.stash[_kept].passed, f"{spec.name}.{item.originalname}"  # type: ignore[attr-defined]
        passed[key] = passed.get(key, True) and report.passed  # every case of a parametrized check counts
    return report


@pytest.fixture(autouse=True)
def _course_draws(request: pytest.FixtureRequest) -> Iterator[None]:
    """Draw hidden inputs from the course's secret, and visible ones from a public seed."""
    spec = spec_of(request.node)
    if spec is None:
        yield
        return
    chapter = _chapter(request)
    with drawing(chapter.secret_for(spec.name, request.node.originalname)), track_answers():
        yield


@pytest.fixture
def student(request: pytest.FixtureRequest) -> StudentProxy:
    """Return the functions of the notebook that ``--student`` names. Without this option, return the references."""
    chapter = _chapter(request)
    spec = spec_of(request.node)
    if spec is None:
        raise pytest.UsageError("the fixture `student` works only in classes marked with @exercise(…)")
    path = request.config.getoption("--student")
    talks = request.config.stash[_kept].talks
    key = (chapter.chapter, spec.name)
    if key not in talks:
        session = (lambda: _notebook_session(request, Path(path))) if path else chapter.right_session
        limited = (lambda mb: _notebook_session(request, Path(path), mb)) if path else None
        fresh_session = (lambda: _new_session(request, Path(path))) if path else None
        talks[key] = chapter.converse(spec.name, Sessions(session, limited, fresh_session))
    return StudentProxy(talks[key])


@pytest.fixture
def reference(request: pytest.FixtureRequest) -> ReferenceProxy:
    """Return the course's own solutions."""
    return _chapter(request).reference


@pytest.fixture
def agrees(request: pytest.FixtureRequest, student: StudentProxy, reference: ReferenceProxy) -> ReferenceComparison:
    """Return a comparison: ``agrees.softmax(x)`` checks that the student's answer equals the reference's."""
    return ReferenceComparison.of(student, reference, spec_of(request.node))


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> Any:
    """Return a ``numpy.random.Generator``, new for every check and the same in every run."""
    return rng_for(request.node.function)


def spec_of(item: Value) -> ExerciseSpec | None:
    """Return the exercise that a test item belongs to, or None."""
    return getattr(getattr(item, "cls", None), "__exercise__", None)


def _chapter(request: pytest.FixtureRequest) -> ChapterChecks:
    module = request.node.module
    name = Path(module.__file__).stem.removeprefix("test_")
    chapters = request.config.stash[_kept].chapters
    if name not in chapters:
        chapters[name] = ChapterChecks.of(load_course(Path(module.__file__).parent), name, module)
    return chapters[name]


def _notebook_session(request: pytest.FixtureRequest, path: Path, memory_mb: int | None = None) -> Session:
    sessions, key = request.config.stash[_kept].sessions, (path, memory_mb)
    if key not in sessions or not sessions[key].alive:
        sessions[key] = _new_session(request, path, memory_mb)
    return sessions[key]


def _new_session(request: pytest.FixtureRequest, path: Path, memory_mb: int | None = None) -> Session:
    from autograder.course.notebook import read_notebook  # noqa: PLC0415 - only with --student
    from autograder.sandbox import open_worker  # noqa: PLC0415

    run = request.config.stash[_kept]
    if run.worker is None:
        course = _chapter(request).course
        run.worker = open_worker(course.limits, course.packages)
        request.config.add_cleanup(run.worker.close)
    session: Session = run.worker.open(read_notebook(path).code_cells(), memory_mb=memory_mb, draw=False)
    return session


def pytest_exception_interact(call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
    """Show a failed check as the student would read it."""
    if call.excinfo is not None and isinstance(call.excinfo.value, CheckFailed):
        report.longrepr = str(call.excinfo.value)

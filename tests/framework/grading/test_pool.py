"""Tests of the cores of grading processes, and of reusing the processes."""

from __future__ import annotations

import os
import time
from dataclasses import replace

import pytest

from autograder.classroom.run import handed_in
from autograder.extras.demo.demo_run import reusable_pool
from autograder.grading.pool import Pool
from autograder.grading.task import GradingOptions, Task
from tests.framework.classroom.conftest import class_of_many
from tests.support.mini import CHAPTER, MAX_SCORE, copy_course, document, hand_in

CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def where(outcome):
    """Record the process and its cores in the outcome. On the first try, s001's notebook ends the process."""
    been_here = outcome.job.path.with_name("been here")
    if outcome.job.student == "s001" and not been_here.exists():
        been_here.touch()
        os._exit(1)
    return replace(outcome, document={"process": os.getpid(), "cores": sorted(os.sched_getaffinity(0))})


def cores_of(course, size, workers):
    """Return the cores of each grading process, by process id. The cores of this process must not change."""
    class_of_many(course, size)
    task = Task(CHAPTER, MAX_SCORE, GradingOptions(), deliver=where)
    with Pool(course.root, task, workers) as pool:
        found = [outcome.document for outcome in pool.grade(handed_in(course, CHAPTER))]
    assert sorted(os.sched_getaffinity(0)) == CORES
    return {one["process"]: one["cores"] for one in found}


@pytest.mark.skipif(len(CORES) < 2, reason="there is one core, and everything is on it")
def test_with_a_worker_for_each_core_each_keeps_to_its_own(course):
    """Each process runs on its own core. If a process ends, its replacement takes over the core."""
    found = cores_of(course, 8 * len(CORES), len(CORES))
    assert all(len(cores) == 1 for cores in found.values())
    assert {core for cores in found.values() for core in cores} <= set(CORES)
    assert len(found) <= len(CORES) + 1


@pytest.mark.skipif(len(CORES) < 2, reason="there is one core, and everything is on it")
def test_with_fewer_workers_than_cores_nobody_is_bound(course):
    """Processes are not bound to cores, because two runs with few workers each could otherwise use the same cores."""
    assert set(map(tuple, cores_of(course, 4 * len(CORES), len(CORES) - 1).values())) == {tuple(CORES)}


def test_the_same_processes_go_on_with_another_task(course):
    """Further tasks are graded with their own options in the existing processes and sandboxes."""
    class_of_many(course, 6)
    jobs = handed_in(course, CHAPTER)
    (jobs[1].path.with_name("been here")).touch()
    whole = Task(CHAPTER, MAX_SCORE, GradingOptions(), deliver=where)
    part = replace(whole, options=GradingOptions(visible_only=True))
    with reusable_pool(2) as executor:
        found = [list(executor(course, task, jobs)) for task in (whole, part, whole)]
    worth = [{outcome.verdict.max_score for outcome in outcomes} for outcomes in found]
    assert worth[0] == worth[2] == {MAX_SCORE}
    assert max(worth[1]) < MAX_SCORE
    processes = [{outcome.document["process"] for outcome in outcomes} for outcomes in found]
    assert len(set().union(*processes)) == 2


def sleepy(outcome):
    """Return the outcome, after 1.5 seconds if it is s1's."""
    if outcome.job.student == "s1":
        time.sleep(1.5)
    return outcome


def test_a_slow_reader_of_outcomes_costs_nobody_a_mark(tmp_path):
    """The time limit of a notebook covers its grading, but not the time until its outcome is used."""
    limits = "c.Course.submission_seconds = 0.5\nc.Course.grader_seconds = 1.0\n"  # three seconds for each notebook
    course = copy_course(tmp_path / "mini", config=limits)
    for number in range(4):
        hand_in(course, f"s{number}", document(course))
    task = Task(CHAPTER, MAX_SCORE, GradingOptions(only=frozenset({"quiz_ch1_units"})), deliver=sleepy)
    found = []
    with Pool(course.root, task, 1) as pool:
        for outcome in pool.grade(handed_in(course, CHAPTER)):
            found.append(outcome.verdict.status)
            time.sleep(3.5 if len(found) == 1 else 0)
    assert found == ["graded"] * 4

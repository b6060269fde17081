"""Which core each grading process keeps to."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from autograder.classroom.run import handed_in
from autograder.grading.options import GradingOptions
from autograder.grading.pool import Pool
from autograder.grading.task import Task
from tests.framework.classroom.conftest import class_of_many
from tests.support.mini import CHAPTER, MAX_SCORE

CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def where(outcome):
    """Tell which cores the process may use; the first time it comes by, s001's notebook ends it."""
    been_here = outcome.job.path.with_name("been here")
    if outcome.job.student == "s001" and not been_here.exists():
        been_here.touch()
        os._exit(1)
    return replace(outcome, document={"process": os.getpid(), "cores": sorted(os.sched_getaffinity(0))})


def cores_of(course, size, workers):
    """The cores of each process, by its number; those of this process must stay what they are."""
    class_of_many(course, size)
    task = Task(CHAPTER, MAX_SCORE, GradingOptions(), deliver=where)
    with Pool(course.root, task, workers) as pool:
        found = [outcome.document for outcome in pool.grade(handed_in(course, CHAPTER))]
    assert sorted(os.sched_getaffinity(0)) == CORES
    return {one["process"]: one["cores"] for one in found}


@pytest.mark.skipif(len(CORES) < 2, reason="there is one core, and everything is on it")
def test_with_a_worker_for_each_core_each_keeps_to_its_own(course):
    """One core a process, no core twice; a process that takes a dead one's place takes its core."""
    found = cores_of(course, 8 * len(CORES), len(CORES))
    assert all(len(cores) == 1 for cores in found.values())
    assert {core for cores in found.values() for core in cores} <= set(CORES)
    assert len(found) <= len(CORES) + 1


@pytest.mark.skipif(len(CORES) < 2, reason="there is one core, and everything is on it")
def test_with_fewer_workers_than_cores_nobody_is_bound(course):
    """Two runs with few workers each must not meet on the same cores."""
    assert set(map(tuple, cores_of(course, 4 * len(CORES), len(CORES) - 1).values())) == {tuple(CORES)}

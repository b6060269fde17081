"""Which core each grading process keeps to."""

from __future__ import annotations

import os

import pytest

from autograder.grading.pool import Task, run_pool
from tests.support.mini import CHAPTER, copy_course

CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def where(_course, _chapter, items, done):
    """Tell which cores the process may use; the item ``"deadly"`` ends it the first time it comes by."""
    for position, item in items:
        if item and not item.exists():
            item.touch()
            os._exit(1)
        done(position, (os.getpid(), sorted(os.sched_getaffinity(0))))


def cores_of(folder, items, workers):
    """The cores of each process, by its number; those of this process must stay what they are."""
    found = {}
    course = copy_course(folder / "course")
    run_pool(Task(course.root, CHAPTER, where), items, lambda _n, what: found.update([what]), lambda *_: None, workers)
    assert sorted(os.sched_getaffinity(0)) == CORES
    return found


@pytest.mark.skipif(len(CORES) < 2, reason="there is one core, and everything is on it")
def test_with_a_worker_for_each_core_each_keeps_to_its_own(tmp_path):
    """One core a process, no core twice; a process that takes a dead one's place takes its core."""
    deadly = tmp_path / "was here"
    found = cores_of(tmp_path, [deadly, *[None] * 40 * len(CORES)], len(CORES))
    assert all(len(cores) == 1 for cores in found.values())
    assert {core for cores in found.values() for core in cores} <= set(CORES)
    assert len(found) <= len(CORES) + 1


@pytest.mark.skipif(len(CORES) < 2, reason="there is one core, and everything is on it")
def test_with_fewer_workers_than_cores_nobody_is_bound(tmp_path):
    """Two runs with few workers each must not meet on the same cores."""
    assert set(map(tuple, cores_of(tmp_path, [None] * 20, len(CORES) - 1).values())) == {tuple(CORES)}

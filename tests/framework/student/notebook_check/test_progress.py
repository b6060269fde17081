"""Tests of recording a student's progress, on working and on failing disks."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
from pathlib import Path

import pytest

from autograder.base import files
from autograder.student.notebook_check import progress
from autograder.student.notebook_check.progress import (
    PROGRESS_NAME,
    ExerciseProgress,
    Progress,
    folder_of,
    read,
    record,
)


@pytest.fixture(autouse=True)
def _nothing_remembered(monkeypatch):
    """Forget everything that this process remembers about progress."""
    monkeypatch.setattr(progress, "_remembered", {})
    monkeypatch.setattr(progress, "_reported", set())


def test_what_is_noted_is_read_again(tmp_path):
    """Every failure counts, the furthest hint is kept, and an exercise that passed once stays done."""
    notes = [{"passed": False}, {"hint": 2}, {"hint": 1}, {"passed": False}, {"passed": True}, {"passed": False}]
    assert [record(tmp_path, "ch1", "softmax", **what) for what in notes] == [""] * len(notes)
    assert record(tmp_path, "ch2", "project", hint=1) == ""
    assert read(tmp_path).of("ch1", "softmax") == ExerciseProgress("done", failed=3, hints=2)
    assert read(tmp_path).of("ch2", "project") == ExerciseProgress("begun", hints=1)
    assert read(tmp_path).of("ch2", "attention") == ExerciseProgress()
    assert [path.name for path in tmp_path.iterdir()] == [PROGRESS_NAME], "nothing else is left in the student's folder"


@pytest.mark.parametrize(
    ("folder", "home"),
    [("course/ch1_units", "course"), ("course/my copy", "course/my copy")],
)
def test_chapters_side_by_side_share_one_file(tmp_path, folder, home):
    """A folder named after its chapter belongs to a course. A notebook in any other folder has its own file."""
    assert folder_of(tmp_path / folder, "ch1_units") == tmp_path / home


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"format": 1}', '{"format": 1, "chapters": []}', "[" * 100_000, "\0" * 50, " " * 2**21],
    ids=lambda text: repr(text[:20]),
)
def test_a_damaged_file_is_set_aside(tmp_path, text):
    """A damaged file counts as empty and is kept under another name, and the next record starts a new file."""
    path = tmp_path / PROGRESS_NAME
    path.write_text(text)
    assert read(tmp_path) == Progress()
    assert record(tmp_path, "ch1", "softmax", passed=True) == ""
    assert read(tmp_path).of("ch1", "softmax").status == "done"
    assert (tmp_path / f"{PROGRESS_NAME}.damaged").read_text() == text


def test_parts_that_make_no_sense_count_as_nothing(tmp_path):
    """A damaged entry does not affect other entries."""
    entries = {
        "a": {"status": "done", "failed": 1, "hints": 0},
        "b": 7,
        "c": {"status": [], "failed": -3, "hints": "x"},
    }
    (tmp_path / PROGRESS_NAME).write_text(json.dumps({"format": 1, "chapters": {"ch1": entries, "ch2": None}}))
    assert read(tmp_path).chapters == {"ch1": {"a": ExerciseProgress("done", 1), "c": ExerciseProgress("begun")}}


def test_a_later_releases_file_is_left_alone(tmp_path):
    """A file from a later release is not overwritten. New progress is kept in memory, with one message."""
    path = tmp_path / PROGRESS_NAME
    path.write_text('{"format": 99, "chapters": "otherwise"}')
    assert "the file was written by a newer version of autograder" in record(tmp_path, "ch1", "softmax", passed=True)
    assert path.read_text() == '{"format": 99, "chapters": "otherwise"}'
    assert read(tmp_path).of("ch1", "softmax").status == "done"


@pytest.mark.parametrize(
    ("number", "reason"),
    [(errno.ENOSPC, "the disk is full"), (errno.EACCES, "permission denied"), (errno.EROFS, "read-only file system")],
)
def test_a_disk_that_takes_nothing_costs_one_sentence(tmp_path, monkeypatch, number, reason):
    """Progress is kept in memory with one message, and written once the disk works again."""

    def refuse(path):
        raise OSError(number, os.strerror(number), str(path))

    with monkeypatch.context() as broken:
        broken.setattr(files, "_create", refuse)
        said = record(tmp_path, "ch1", "softmax", passed=False)
        assert said == (
            f"Your progress could not be saved in {tmp_path / PROGRESS_NAME}: {reason}. It is kept until you restart the "
            "kernel. Everything else works as usual."
        )
        assert record(tmp_path, "ch1", "softmax", hint=1) == ""
        assert read(tmp_path).of("ch1", "softmax") == ExerciseProgress("begun", failed=1, hints=1)
    assert record(tmp_path, "ch1", "average", passed=True) == ""
    assert progress._remembered == {}
    assert read(tmp_path).of("ch1", "softmax") == ExerciseProgress("begun", failed=1, hints=1)


def test_a_folder_that_is_gone_is_survived(tmp_path):
    """If a file is in place of the folder, a message says so, and progress is kept in memory."""
    (tmp_path / "gone").write_text("")
    assert "not a directory" in record(tmp_path / "gone", "ch1", "softmax", passed=True)
    assert read(tmp_path / "gone").of("ch1", "softmax").status == "done"


def _many(folder: Path, chapter: str) -> None:
    for i in range(25):
        record(folder, chapter, f"exercise_{i}", passed=True)


def test_two_notebooks_at_once_lose_nothing(tmp_path):
    """If two processes write fifty records to one file at the same time, the file has all fifty."""
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_many, args=(tmp_path, chapter)) for chapter in ("ch1", "ch2")]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert {chapter: len(of) for chapter, of in read(tmp_path).chapters.items()} == {"ch1": 25, "ch2": 25}

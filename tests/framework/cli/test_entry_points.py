"""Tests of commands and graders that installed distributions register: where they are listed, and errors in loading them."""

from __future__ import annotations

import sys
from textwrap import dedent

import pytest
from click.testing import CliRunner

from autograder.base.errors import UnavailableError
from autograder.cli.app import app
from autograder.cli.commands import load_grader
from tests.support import ROOT
from tests.support.commands import python

MODULE = """
    import click
    from autograder.cli.commands import PlacedCommand

    @click.command(cls=PlacedCommand, section="To teach", after="export")
    def grades_by_post():
        '''Print the marks for the post office.'''
        click.echo("stamped")

    @click.command()
    def elsewhere():
        '''A command that names no section.'''

    @click.command("grade")
    def other_grade():
        '''A command that has the name of one of the core's.'''

    not_a_command = 3

    def pigeon_grader(address, course, task, jobs):
        return iter(())
"""
ENTRY_POINTS = """
    [autograder.commands]
    broken = by_post_missing:command
    elsewhere = by_post:elsewhere
    grade = by_post:other_grade
    grades-by-post = by_post:grades_by_post
    number = by_post:not_a_command

    [autograder.graders]
    pigeon = by_post:pigeon_grader
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Return a function that runs the command line with a second distribution installed, which registers entry points."""
    metadata = tmp_path / "by_post-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: by-post\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(dedent(ENTRY_POINTS))
    (tmp_path / "by_post.py").write_text(dedent(MODULE))
    monkeypatch.syspath_prepend(tmp_path)
    yield lambda *arguments: python("-m", "autograder", *arguments, PYTHONPATH=f"{tmp_path}:{ROOT}")
    sys.modules.pop("by_post", None)


def test_a_registered_command_is_listed_in_its_place_and_runs(installed):
    """A `PlacedCommand` is listed below the command that it names, and any other Click command under "More"."""
    listed = installed("--help").stdout
    names = [line.split()[0] for line in listed.splitlines() if line.startswith("  ") and line[2] != " "]
    assert names[names.index("export") + 1] == "grades-by-post"
    assert listed.index("More:") < listed.index("  elsewhere ")
    assert installed("grades-by-post").stdout == "stamped\n"


def test_a_registered_command_never_replaces_one_of_the_core(installed):
    """`autograder grade` stays the core's, whatever a distribution registers."""
    assert "in nbgrader's gradebook" in " ".join(installed("grade", "--help").stdout.split())


def test_a_command_that_cannot_be_loaded_is_reported(installed):
    """A missing module and an object that is not a command each give one line. All other commands work."""
    done = installed("--help")
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        "`autograder broken` (by_post_missing:command) cannot be loaded: No module named 'by_post_missing'",
        "`autograder number` (by_post:not_a_command) is not a Click command.",
    ]
    assert installed("log", "--help").stderr == ""  # a core command loads no registered command


@pytest.mark.usefixtures("installed")
def test_a_grader_is_found_by_its_name():
    """A grader that a distribution registers is loaded by its name. If it is missing, `load_grader` says what to install."""
    assert load_grader("pigeon", "").__name__ == "pigeon_grader"
    with pytest.raises(UnavailableError, match="install a carrier"):
        load_grader("carrier", "install a carrier")


def test_grading_on_a_cluster_without_a_grader_says_what_to_install(course, monkeypatch):
    """`--scheduler` needs the grader of `autograder.extras.cluster`, or another grader called "dask"."""
    monkeypatch.setattr("autograder.cli.commands.entry_points", lambda **_group: ())
    done = CliRunner().invoke(app, ["check", "x.ipynb", "--scheduler", "tcp://x:1", "--course", str(course.root)])
    assert done.exit_code == 1
    assert (
        "Grading on a cluster needs Dask, which is not installed here: pip install 'nbautograder[dask]'." in done.stderr
    )

"""Run the real commands, with and without namespaces, on a class in which every attack is a submission.

The class has all of ``attacks/``, all of ``hostile/``, and an honest student after each attack. One command grades it.
"""

from __future__ import annotations

import os
import re

import pytest

from autograder.base.sanitize import sanitize
from autograder.course.notebook import document_bytes
from autograder.sandbox.confinement import working_bwrap
from tests.framework.security import hostile_class
from tests.framework.security.hostile_class import ATTACKS, EARNED, FILES, HONEST, attack_of, graded, written
from tests.support.mini import CHAPTER, document

pytestmark = pytest.mark.slow

EVERY = [*ATTACKS, *FILES]
LINKS = {"a_link_to_the_best_answer", "a_folder_that_is_a_link", "a_student_who_is_a_link"}
# What an attack would write for the next submission if it succeeded.
MESSAGES = {"message", "flood", "link0", "0"}
# A page shows a student's markup as plain text. These patterns match only active markup.
ACTS = re.compile(r"<script>alert|<img src=x|javascript:alert|<svg><script|\x1b", re.IGNORECASE)


@pytest.fixture(scope="module")
def world():
    """The class, and the course that it belongs to."""
    with hostile_class.hostile_class() as made:
        yield made


def without_namespaces():
    """Return a command prefix that forbids namespaces, as many containers do."""
    as_root = os.geteuid() == 0
    forbid = ["--cap-drop", "CAP_SYS_ADMIN"] if as_root else ["--unshare-user", "--disable-userns"]
    bwrap, why = working_bwrap()  # the system's, or the one from the Python package
    assert bwrap, f"namespaces cannot be forbidden here: {why}"
    return [bwrap, "--dev-bind", "/", "/", *forbid, "--"]


@pytest.fixture(scope="module", params=["bubblewrap", "landlock"])
def grading(world, request):
    """The result of ``autograder grade`` in each sandbox."""
    done = graded(world, () if request.param == "bubblewrap" else without_namespaces())
    assert {v["sandbox"] for v in done.verdicts if v["status"] == "graded"} == {request.param}
    return done


@pytest.fixture(scope="module")
def checking(world):
    """The result of ``autograder check`` on all files at once."""
    files = [
        world.course.root / "submitted" / student / CHAPTER / f"{CHAPTER}.ipynb"
        for student in [*(one.student for one in world.hostile.values()), *world.honest]
    ]
    return hostile_class.run(world, "check", *map(str, files))


def scores(verdict):
    """Return the score of each exercise of a verdict."""
    return {exercise["name"]: exercise["score"] for exercise in verdict["exercises"]}


@pytest.mark.parametrize("name", EVERY)
def test_an_attack_gains_nothing_and_learns_nothing(grading, name):
    """An attack earns no more than its honest answers do, no output contains the secret, and no page has active content."""
    world = grading.world
    hostile = world.hostile[name]
    verdict = grading.verdict(hostile.student)
    assert verdict["status"] == hostile.status, verdict["reason"]
    if hostile.status == "graded":
        earned = scores(verdict)
        assert set(earned) == set(hostile.most)
        assert all(0 <= earned[exercise] <= most for exercise, most in hostile.most.items())
        assert verdict["max_score"] == sum(EARNED["right"].values())
        assert grading.book[hostile.student]["score"] == verdict["score"] == sum(earned.values())
    else:
        assert verdict["score"] == 0
        assert verdict["reason"].endswith(".")
        assert hostile.student not in grading.book or grading.book[hostile.student]["score"] == 0

    told = grading.given_back(hostile.student)
    for secret in (world.secret, "reference_marker_7341", "hidden_input_marker_6620", "root:x:0:0"):
        assert secret not in told
    assert not ACTS.search(grading.page(hostile.student))


@pytest.mark.parametrize("name", EVERY)
def test_the_next_student_gets_the_right_mark(grading, name):
    """An honest student's marks do not depend on the preceding attack, and the gradebook has the same marks."""
    student = grading.world.hostile[name].neighbour
    verdict = grading.verdict(student)
    assert scores(verdict) == EARNED[grading.world.honest[student]]
    assert grading.book[student]["score"] == verdict["score"]


def assert_harmless(done):
    """Assert that a run has one verdict per file, exit status 1 and no traceback, changes no protected file, and ends in time."""
    assert len(done.verdicts) == 2 * len(EVERY)
    assert done.status == 1
    assert "Traceback" not in done.said
    assert done.after == done.before
    assert done.seconds < done.world.seconds


def test_a_class_harms_nothing_and_the_run_says_what_needs_a_person(grading):
    """A run changes no file of the course, makes no connection, and names each submission that needs review."""
    world = grading.world
    assert_harmless(grading)
    assert world.calls == []
    assert not grading.left & MESSAGES
    told = " ".join(grading.said.split("Needs your review:")[1].split())
    for one in world.hostile.values():
        person = one.status == "ungradable" or bool(grading.verdict(one.student)["warning"])
        name = " ".join(sanitize(written(one.student)).split())
        # Students with the same message are listed together.
        assert bool(re.search(rf"(- |, ){re.escape(name)}(:|, )", told)) == person
    assert any(verdict["warning"] for verdict in grading.verdicts)  # about an invalid timestamp


@pytest.mark.parametrize("name", EVERY)
def test_loose_files_are_judged_alike(checking, name):
    """If one `autograder check` call gets all files, attacks gain nothing, and honest students get the right marks."""
    world = checking.world
    hostile = world.hostile[name]
    verdict = checking.verdict(hostile.student)
    # A link that is given on the command line is followed to its target.
    most = EARNED["right"] if name in LINKS else hostile.most
    assert all(score <= most.get(exercise, 0) for exercise, score in scores(verdict).items())
    assert scores(checking.verdict(hostile.neighbour)) == EARNED[world.honest[hostile.neighbour]]
    assert world.secret not in str(verdict)


def test_a_call_with_every_file_harms_nothing(checking):
    """`autograder check` on all files at once changes nothing, ends in time, and returns a verdict on each file."""
    assert_harmless(checking)


def test_the_suite_notices_harm_and_leaks(world):
    """Without a sandbox, the same command lets a notebook read and write files outside, and the tests detect both."""
    canary = world.beside / "harm"
    harm = f"open({str(canary)!r}, 'w').write('I was here')"
    leak = f"raise ValueError(open({str(world.beside / 'canary')!r}).read())"
    path = world.course.root.parent / "harm.ipynb"
    path.write_bytes(document_bytes(document(world.course, to_kelvin=f"def to_kelvin(x):\n    {harm}\n    {leak}")))
    done = hostile_class.run(world, "check", str(path), "--unsafe-local")
    canary.unlink()
    assert done.after != done.before
    assert world.secret in str(done.verdicts)


def test_the_class_is_what_it_says(world):
    """The class has over a hundred hostile submissions, every type of honest student, and attacks that define course functions."""
    assert len(EVERY) > 100
    assert set(world.honest.values()) == set(HONEST)
    for name in ATTACKS:
        assert re.search(r"def (to_kelvin|mean_kelvin)\(x\)", attack_of(name, world)), name
        assert "softmax(" not in attack_of(name, world)

"""Test feedback pages that show manual marks, comments and late penalties from the gradebook, and pages that other programs wrote."""

import datetime as dt
import json

import pytest

from autograder.classroom.delivery import has_valid_hash, make_pages
from autograder.classroom.run import grade_class, handed_in
from autograder.course.course import load_course
from tests.support.books import book_of, with_book
from tests.support.commands import python
from tests.support.mini import CHAPTER, RIGHT, WRONG_SIGN, add_essay, copy_course, document, hand_in
from tests.support.nbgrader import nbgrader


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Return a course with four graded students: one is right, one is wrong, one submitted a truncated file, and one wrote an essay."""
    made = with_book(add_essay(copy_course(tmp_path_factory.mktemp("pages") / "mini")))
    hand_in(made, "ada", document(made, **RIGHT), "2030-01-02 00:00:00 UTC")
    hand_in(made, "bob", document(made, **{**RIGHT, "to_kelvin": WRONG_SIGN}))
    hand_in(made, "cut", b"{")
    wrote = document(made, **RIGHT)
    wrote["cells"][-1]["source"] = "My essay."
    hand_in(made, "eli", wrote)
    regrade(made)
    return made


def regrade(course):
    """Grade the class once more, and return the warnings by student."""
    course = load_course(course.root)
    return {v.student: v.warning for v in grade_class(course, CHAPTER, handed_in(course, CHAPTER))}


def page_of(course, student):
    """Return the path of a student's page."""
    return course.root / "feedback" / student / CHAPTER / f"{CHAPTER}.html"


def pages(course):
    """Return the bytes and the times of all pages, by student."""
    return {p.parts[-3]: (p.read_bytes(), p.stat().st_mtime_ns) for p in (course.root / "feedback").rglob("*.html")}


def changed(course, before):
    """Return the students whose pages differ from those in ``before``."""
    return {student for student, page in pages(course).items() if page != before[student]}


def by_hand(course, student, name="check_to_kelvin", **fields):
    """Enter a mark and a comment as formgrader does."""
    with book_of(course) as book:
        grade = book.find_grade(name, CHAPTER, CHAPTER, student)
        for field, value in fields.items():
            if field == "comment":
                comment = book.find_comment(name.removeprefix("check_"), CHAPTER, CHAPTER, student)
                comment.manual_comment = value
            else:
                setattr(grade, field, value)
        grade.needs_manual_grade = False
        book.db.commit()


# The tests of this file depend on each other: each continues with the gradebook and the pages of the previous one.


def test_a_page_says_what_waits_for_a_person(course):
    """Pages say that an essay needs manual grading, that a blank essay gets no points, and that an ungradable notebook is not a zero."""
    eli, ada, cut = (page_of(course, name).read_text() for name in ("eli", "ada", "cut"))
    assert "Your instructor still has to grade essay, so these points may change." in eli
    assert "<td>– of 4 points</td><td>needs manual grading</td>" in eli
    assert '<a href="#cell-essay">' in eli
    assert "<td>0 of 4 points</td><td>no answer</td>" in ada
    assert "<strong>6 of 10 points</strong> for ada." in ada
    assert "not the same as zero points" in cut


@pytest.mark.parametrize("again", ["grade", "feedback"])
def test_marks_of_people_reach_their_pages_and_no_others(course, again):
    """The next `grade` or `feedback` updates the mark, extra credit, comment and total on a page. It does not rewrite other pages."""
    before = pages(course)
    mark = 1.75 if again == "grade" else 1.5
    by_hand(course, "bob", manual_score=mark, extra_credit=0.5, comment=f"Well **argued** <b>{again}</b>.")
    by_hand(course, "eli", "essay", manual_score=3.0 if again == "grade" else 4.0)
    if again == "grade":
        regrade(course)
    else:
        made = make_pages(load_course(course.root), CHAPTER, handed_in(course, CHAPTER))
        assert [page.status for page in made] == ["unchanged", "made", "unchanged", "made"]
    assert changed(course, before) == {"bob", "eli"}
    bob, eli = (page_of(course, name).read_text() for name in ("bob", "eli"))
    assert f"Graded manually: {mark} of 2 points. The checks gave 0 points, but the manual mark counts." in bob
    assert "Extra credit: 0.5 points." in bob
    assert f"Well <strong>argued</strong> &lt;b&gt;{again}&lt;/b&gt;." in bob
    assert "including manual marks." in bob
    assert "<td>graded manually</td>" in eli
    assert "still has to grade" not in eli
    before = pages(course)
    regrade(course)
    assert changed(course, before) == set()


def test_a_comment_and_a_point_moved_from_one_cell_to_another_are_seen(course):
    """The pages are updated although the sum of the marks and the number of comments stay the same."""
    by_hand(course, "eli", manual_score=1.0)
    regrade(course)
    before = pages(course)
    by_hand(course, "eli", manual_score=2.0)
    by_hand(course, "eli", "essay", manual_score=3.0)
    by_hand(course, "bob", comment="Another word.")
    regrade(course)
    assert changed(course, before) == {"bob", "eli"}
    assert "Another word." in page_of(course, "bob").read_text()


def test_a_late_penalty_and_marks_for_what_could_not_be_graded(course):
    """Sum, penalty and total match nbgrader's plugin, and a broken file can get manual points."""
    config = course.root / "course_config.py"
    config.write_text(config.read_text() + '\nc.LateSubmissionPlugin.penalty_method = "zero"\n')
    with book_of(course) as book:
        book.update_or_create_assignment(CHAPTER, duedate=dt.datetime(2030, 1, 1))  # noqa: DTZ001 - nbgrader's own form
    by_hand(course, "cut", manual_score=1.5)
    regrade(course)
    ada, cut = (page_of(course, name).read_text() for name in ("ada", "cut"))
    assert "<strong>0 of 10 points</strong> for ada." in ada
    assert '<th scope="row">Sum</th><td>6 of 10 points</td>' in ada
    assert '<th scope="row">Late penalty</th><td>−6</td>' in ada
    assert (
        "<strong>1.5 of 10 points</strong> for cut, graded manually. The checks could not grade this notebook:" in cut
    )
    assert "Your instructor still has to grade mean_kelvin, quiz_ch1_units and essay" in cut


def test_a_page_of_somebody_elses_is_never_overwritten(course, tmp_path):
    """Pages that nbgrader wrote and pages that were edited are kept and reported. Only --force replaces them."""
    nbgrader("generate_feedback", CHAPTER, "--student", "ada", "--force", folder=course.root, home=tmp_path)
    bob = page_of(course, "bob")
    bob.write_text(bob.read_text().replace("Another word.", "Another word, in ink."))
    theirs = {name: page_of(course, name).read_bytes() for name in ("ada", "bob")}
    by_hand(course, "bob", manual_score=0.5)
    for _ in range(2):
        told = regrade(course)
        assert {name: page_of(course, name).read_bytes() for name in theirs} == theirs
        assert told["ada"] == (
            "The page in feedback/ was not written by autograder, or was changed since. It was kept and may show old marks. "
            "To replace it: `autograder feedback ch1_units --student ID --force`."
        )
        assert told["bob"] == told["ada"]  # a problem of many students is reported once
    done = python("-m", "autograder", "feedback", CHAPTER, "--student", "bob", "--force", "--json", cwd=course.root)
    assert done.returncode == 0
    assert done.stderr == "ch1_units: 1 page written, 0 unchanged.\n"
    assert [page["status"] for page in json.loads(done.stdout)] == ["made"]
    assert has_valid_hash(bob.read_bytes())
    assert page_of(course, "ada").read_bytes() == theirs["ada"]
    assert regrade(course)["bob"] is None


def test_what_was_never_graded_or_came_since_is_said(course):
    """If a notebook was not graded, or was resubmitted since, no page is written and the reason is given."""
    hand_in(course, "eli", document(course))
    hand_in(course, "new", document(course))
    made = {page.student: page for page in make_pages(load_course(course.root), CHAPTER, handed_in(course, CHAPTER))}
    assert made["new"].status == "not graded"
    assert made["new"].reason == "The submission is not graded yet: run `autograder grade ch1_units` first."
    assert made["eli"].reason.startswith("Another notebook was submitted after grading")
    assert made["ada"].status == "kept"

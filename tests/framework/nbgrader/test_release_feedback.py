"""Test nbgrader's release of feedback if some notebooks came through the exchange and others were copied."""

from __future__ import annotations

from nbgrader.utils import notebook_hash

from autograder.classroom.run import grade_class, handed_in
from tests.support.books import with_book
from tests.support.mini import CHAPTER, RIGHT, copy_course, document, hand_in
from tests.support.nbgrader import nbgrader

SECRET = "0123abcd"  # noqa: S105 - of this test's exchange


def test_copied_notebooks_do_not_hold_back_the_class(tmp_path):
    """Students whose submission has a secret get their pages. All other students are named in one sentence, and the command succeeds."""
    exchange = tmp_path / "exchange"
    exchange.mkdir()
    exchange.chmod(0o777)
    config = f"c.Exchange.root = {str(exchange)!r}\nc.CourseDirectory.course_id = 'mini'\n"
    course = with_book(copy_course(tmp_path / "mini", config=config))
    for student in ("ada", "bob", "cyd"):
        path = hand_in(course, student, document(course, **RIGHT), "2026-01-09 08:00:00 UTC")
        if student == "bob":
            (path.parent / "submission_secret.txt").write_text(SECRET)
    grade_class(course, CHAPTER, handed_in(course, CHAPTER))
    said = nbgrader("release_feedback", CHAPTER, folder=course.root, home=tmp_path)
    sentence = "The exchange cannot return feedback to ada and cyd, because their notebooks did not come through `nbgrader submit`."
    assert sentence in " ".join(said.split())
    assert "Traceback" not in said
    released = [path.name for path in (exchange / "mini" / "feedback").iterdir()]
    assert released == [f"{notebook_hash(secret=SECRET, notebook_id=CHAPTER)}.html"]

"""A graded class of the mini course: class list, due date, extension, a manual mark and an ungradable notebook."""

import datetime as dt

import pytest
from nbgrader.api import Gradebook

from autograder.classroom.gradebook.people import Person, enter_roster
from autograder.classroom.run import grade_class, handed_in
from autograder.course.course import load_course
from tests.support.books import book_of, with_book
from tests.support.mini import CHAPTER, RIGHT, WRONG_SIGN, copy_course, document, hand_in

DUE = dt.datetime(2026, 1, 10, 12)  # noqa: DTZ001 - nbgrader stores no time zone
IN_TIME, LATE = "2026-01-09 08:00:00 UTC", "2026-01-11 12:00:00 UTC"
LONG_WAY = (
    "def mean_kelvin(celsius):\n    rows = np.asarray(celsius)\n    total = np.zeros(rows.shape[:-1])\n"
    "    for position in range(rows.shape[-1]):\n        total = total + to_kelvin(rows[..., position])\n"
    + "".join(f"    total = np.where(total > {i}, total - {i} + {i}, total)\n" for i in range(1, 16))
    + "    return total / rows.shape[-1]"
)
RENAMED = (
    LONG_WAY.replace("total", "summe")
    .replace("position", "i")
    .replace("    rows =", "    # Zelda quill helped, see zq-ada-77's\n    rows =")
)
ZERO_AXIS = "def mean_kelvin(celsius):\n    return np.mean(to_kelvin(celsius), axis=0)"
LATE_ZERO = "c.LateSubmissionPlugin.penalty_method = 'zero'\n"
PEOPLE = {
    "zq-ada-77": Person("zq-ada-77", "Zelda", "Quill", "zelda@example.org", "lms-901"),
    "zq-ben-78": Person("zq-ben-78", "=SUM(1)", "$x$ <b>", "ben@example.org", "lms-902"),
    "zq-gus-79": Person("zq-gus-79", "Gus", "Missing", "gus@example.org", "lms-903"),
}


def class_of(course, folder_of_students):
    """Submit and grade each student's work, given as code by exercise or bytes, and the time of submission."""
    for student, (work, when) in folder_of_students.items():
        data = work if isinstance(work, bytes) else document(course, **work)
        hand_in(course, student, data, when)
    return grade_class(course, CHAPTER, handed_in(course, CHAPTER))


@pytest.fixture(scope="session")
def graded(tmp_path_factory):
    """Return the course of the class. Tests only read it."""
    course = with_book(copy_course(tmp_path_factory.mktemp("report") / "mini", config=LATE_ZERO))
    enter_roster(course, list(PEOPLE.values()))
    with Gradebook(f"sqlite:///{course.root / 'gradebook.db'}", "mini") as book:
        book.update_or_create_assignment(CHAPTER, duedate=DUE)
    work = {
        "zq-ada-77": ({**RIGHT, "mean_kelvin": LONG_WAY}, IN_TIME),
        "zq-ben-78": ({**RIGHT, "mean_kelvin": RENAMED, "to_kelvin": WRONG_SIGN}, IN_TIME),
        "zq-cut-80": (b"{cut", IN_TIME),
        "zq-late-81": (RIGHT, LATE),
        "zq-more-82": (RIGHT, LATE),
        **{f"zq-s{i}": ({**RIGHT, **({"mean_kelvin": ZERO_AXIS} if i % 3 == 0 else {})}, IN_TIME) for i in range(7)},
        "zq-blank-83": ({}, IN_TIME),
    }
    class_of(course, work)
    with book_of(course) as book:
        book.grant_extension(CHAPTER, "zq-more-82", days=3)
        hand = book.find_grade("check_to_kelvin", CHAPTER, CHAPTER, "zq-s0")
        hand.manual_score = 0.5
        book.db.commit()
    course = load_course(course.root)
    grade_class(course, CHAPTER, handed_in(course, CHAPTER))
    return course

"""Tests of importing unlisted packages: students' imports are reported once, and an import in the course's own cell gives nobody a zero."""

from __future__ import annotations

import json

import pytest

from autograder.base.errors import CourseError
from autograder.classroom.run import grade_class
from autograder.cli.output import needs_review
from autograder.course.notebook import document_bytes
from autograder.grading.batch import grade_notebooks
from autograder.grading.submission import Job
from tests.support.mini import CHAPTER, MAX_SCORE, RIGHT, document, hand_in

BELOW = "def to_kelvin(celsius):\n    import scipy\n    return celsius + 273.15"
DOES_WITHOUT = "try:\n    import scipy\nexcept ImportError:\n    pass\n"


def test_students_imports_are_said_once_for_a_class(course):
    """Students get no points for code that cannot run, and a reason. The instructor gets one message that names the setting."""
    answers = {
        name: {"to_kelvin": f"import scipy.special as s\n{RIGHT['to_kelvin']}"} for name in ("ada", "ben", "cyd", "dan")
    }
    answers |= {"eve": {"to_kelvin": BELOW}, "fay": {"to_kelvin": DOES_WITHOUT + RIGHT["to_kelvin"]}}
    jobs = [
        Job(hand_in(course, name, document(course, **{**RIGHT, **code})), name, CHAPTER)
        for name, code in answers.items()
    ]
    verdicts = grade_class(course, CHAPTER, jobs)
    assert [v.score for v in verdicts] == [4, 4, 4, 4, 4, MAX_SCORE]
    assert " ".join(needs_review(verdicts).split()) == (
        "Needs your review: - ada, ben, cyd and 2 more: The notebook imports scipy, but c.Course.packages in course_config.py does not list it. "
        'So the notebook was graded without it. If students may use it, add "scipy" there and grade again.'
    )
    for verdict in (verdicts[0], verdicts[4]):
        [message] = {c.message for c in verdict.exercises[0].checks if c.message}
        assert "`scipy` is not available here. The rest of your code may well be right." in message


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            "import scipy",
            "Code cell 1 in ch1_units's own notebook imports scipy, which .* lists numpy, matplotlib. .* nothing was graded. Add",
        ),
        (
            '__import__("scipy")',
            "Code cell 1 in the course's own notebook failed because scipy is missing during grading, so no mark was given.",
        ),
    ],
)
def test_an_import_of_the_courses_own_is_nobodys_zero(course, line, sentence):
    """If a cell of the course needs a missing package, no notebook gets a mark, and the reason names the course's cell."""
    source = course.source(CHAPTER)
    document_of = json.loads(source.read_text())
    given = {"cell_type": "code", "metadata": {}, "source": line, "outputs": [], "execution_count": None}
    document_of["cells"].insert(0, given)
    source.write_bytes(document_bytes(document_of))
    jobs = [Job(hand_in(course, "ada", document(course)), "ada", CHAPTER)]
    if line.startswith("import"):
        with pytest.raises(CourseError, match=sentence):
            grade_notebooks(course, jobs)
    else:
        [verdict] = grade_notebooks(course, jobs)
        assert (verdict.status, verdict.reason.partition(" Add")[0]) == ("ungradable", sentence)

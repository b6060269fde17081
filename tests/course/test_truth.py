"""Tests of the course's checks on every known solution: right solutions pass, and wrong solutions are identified."""

import pytest

from autograder.authoring.audit import ChapterAudit, audit
from autograder.course.course import load_course
from autograder.course.secret import VARIABLE
from autograder.judging.loader import known_alternatives, known_misconceptions, load_checks
from tests.support import ROOT

COURSE = load_course(ROOT)
CHAPTERS = COURSE.finished_chapters()
WRONG = [(c, m.exercise, m.name) for c in CHAPTERS for m in known_misconceptions(COURSE, c)]
RIGHT = [(c, a.exercise, a.name) for c in CHAPTERS for a in known_alternatives(COURSE, c)]


@pytest.fixture(scope="module")
def audited(request):
    """Return a function that audits each chapter once. Mutants take most of the time, so they are tried only if a test needs them."""
    made: dict[str, ChapterAudit] = {}
    wanted = {item.name for item in request.session.items}

    def of(chapter: str) -> ChapterAudit:
        if chapter not in made:
            # A clone has its own secret. With a few secrets, mutants of one category survive because of the sizes that are drawn.
            mutants = f"test_the_chapter_meets_every_target_of_the_audit[{chapter}]" in wanted
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv(VARIABLE, "the tests of this repository")
                [made[chapter]] = audit(COURSE, [chapter], mutants=mutants)
        return made[chapter]

    return of


def exercise_of(audit_of_chapter, name):
    """Return the audit of one exercise."""
    return next(e for e in audit_of_chapter.exercises if e.name == name)


@pytest.mark.parametrize(("chapter", "exercise", "name"), WRONG, ids=lambda value: value)
def test_a_misconception_loses_marks_and_is_named_as_itself(audited, chapter, exercise, name):
    """A wrong solution loses marks, its mistake is identified, and ``check()`` does not praise it."""
    found = exercise_of(audited(chapter), exercise)
    assert name not in found.uncaught
    assert name not in found.missed_by_visible
    assert found.misdiagnosed.get(name) is None, f"told as {found.misdiagnosed[name] or 'nothing'}"


@pytest.mark.parametrize(("chapter", "exercise", "name"), RIGHT, ids=lambda value: value)
def test_an_alternative_earns_full_marks(audited, chapter, exercise, name):
    """A right solution written differently earns full marks."""
    assert exercise_of(audited(chapter), exercise).rejected.get(name) is None


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_references_earn_everything_and_empty_effort_little(audited, chapter):
    """The reference earns all points, a blank stub earns none, and always returning one visible answer earns at most a third.

    Twenty other secrets draw twenty other sets of inputs, and right solutions pass on all of them.
    """
    for exercise in audited(chapter).exercises:
        assert exercise.reference_ok, exercise.name
        assert exercise.stub_earns_nothing, exercise.name
        assert exercise.hardcoded <= 1 / 3, exercise.name
        assert not exercise.flaky, exercise.name


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_exercise_has_the_duties_of_the_course(audited, chapter):
    """Each exercise has six misconceptions, four alternatives, three different hints, a complete ``depends_on`` and, for a function, a purity check."""
    assert COURSE.at_least == {"misconceptions": 6, "alternatives": 4, "hints": 3}
    checks = load_checks(COURSE, chapter)
    for name, spec in checks.specs.items():
        assert len(spec.hints) == len(set(spec.hints)) == 3, name
        # An exercise that is right apart from an earlier mistake counts as passed for later exercises.
        for leant in spec.depends_on:
            assert set(checks.specs[leant].depends_on) <= set(spec.depends_on), name
        found = exercise_of(audited(chapter), name)
        assert found.missing_requirements(COURSE.at_least) == []
        if not spec.answers:
            assert any(c.purity for c in spec.checks), name


@pytest.mark.slow
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_chapter_meets_every_target_of_the_audit(audited, chapter):
    """All checks kill at least 99% of the mutants. The visible checks kill at least 90%, and catch 97% of the misconceptions."""
    found = audited(chapter)
    assert all(e.mutants or e.answers for e in found.exercises)
    assert found.problems == []

"""Test that chapters get the same results whether they are validated in parallel or one after the other."""

from autograder.authoring.release.validation import validate_all
from autograder.course.course import load_course
from tests.support.mini import CHAPTER, change, copy_course


def test_chapters_are_proven_side_by_side_as_one_after_the_other(tmp_path):
    """Each chapter gets its own result, even if another one fails."""
    course = copy_course(tmp_path / "mini")
    for path in ("source", "source/ch2_rates"):
        (course.root / path).mkdir(exist_ok=True)
    for path in (f"source/{CHAPTER}/{CHAPTER}.ipynb", f"tests/chapters/test_{CHAPTER}.py", f"solutions/{CHAPTER}.py"):
        text = (
            (course.root / path).read_text().replace("to_kelvin", "to_rankine").replace("mean_kelvin", "mean_rankine")
        )
        text = text.replace(CHAPTER, "ch2_rates")
        (course.root / path.replace(CHAPTER, "ch2_rates")).write_text(text)
    change(course.root / "solutions" / "ch2_rates.py", "273.15", "273.25")
    with (course.root / "course_config.py").open("a") as config:
        config.write(f'\nc.Course.chapters = ["{CHAPTER}", "ch2_rates"]\n')
    course = load_course(course.root)
    beside = {proof.chapter: proof for proof in validate_all(course, course.chapters, mutants=False, workers=2)}
    assert beside[CHAPTER].refused == ""
    assert "ch2_rates" in beside["ch2_rates"].refused
    after = {proof.chapter: proof for proof in validate_all(course, ["ch2_rates"], mutants=False)}
    assert after["ch2_rates"] == beside["ch2_rates"]

"""Test that the audit's page equals the stored document `audit_page.html`."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

from autograder.authoring.audit import ChapterAudit, ExerciseAudit, audit_page
from autograder.authoring.audit.fault_model import CategoryCoverage
from autograder.authoring.audit.localization_benchmark import LocalizationStats

EXPECTED = Path(__file__).with_name("audit_page.html")
KINDS = CategoryCoverage(
    ("x: integers", "x: <empty>", "axis: negative", "x is y"),
    ("x: integers", "x is y"),
    12,
    ("ignores x & y", "sorts x"),
)
PLACES = LocalizationStats(10, 8, 7, 4, 3, ("x + 1 -> x - 1",), ("a < b", 'says "no"'))


def exercise(name, points, alternatives, misconceptions, mutants, **found):
    """Return the audit of an exercise with a correct stub and reference."""
    counts = {"alternatives": alternatives, "misconceptions": misconceptions, "mutants": mutants}
    return ExerciseAudit(name, points, stub_earns_nothing=True, reference_ok=True, **counts, **found)


EVERYTHING = exercise(
    "mean_of_<rows>", 4.0, 3, 5, 40,
    rejected={"loop": "it's slow"}, uncaught=("adds & forgets",), misdiagnosed={"wrong_axis": "wrong_sign"},
    missed_by_visible={"off_by_one": "only shows for n > 10", "no_reason": ""}, unused_reasons=("gone",), claims={"wrong_axis": "It is 3."},
    survivors=("x < 1 -> x <= 1", "drops 'axis'"), seen_by_hidden_only=("x * 2",), equivalent={"x + 0": "it changes nothing"},
    kills={"test_shape": 7, "test_values": 33}, checks_without_kills=("test_names",), hardcoded=0.25, kinds=KINDS, places=PLACES,
)  # fmt: skip
QUIZ = exercise("quiz", 2.0, 0, 3, 0, answers=True)
AUDITS = [
    ChapterAudit("ch1_<rows>", (EVERYTHING, QUIZ), draft=True),
    ChapterAudit("ch2_fine", (exercise("total", 4.0, 2, 2, 10, places=LocalizationStats(4, 4, 4, 1, 1)),)),
    ChapterAudit("ch3_empty", ()),
]


class _Document(HTMLParser):
    """A parser that collects tags with their attributes, and the text between tags without line breaks."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.parts: list[object] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.parts.append((tag, sorted(attrs, key=str)))

    def handle_endtag(self, tag):
        self.parts.append(f"/{tag}")

    def handle_data(self, data):
        if text := " ".join(data.split()):
            self.parts.append(text)


def test_the_page_is_the_same_document():
    """Every element, attribute and text equals that of the stored page, and every name is escaped."""
    assert _Document(audit_page(AUDITS, "Units & <more>")).parts == _Document(EXPECTED.read_text()).parts


def test_a_page_without_chapters_still_says_the_targets():
    """The page has the title and the paragraph on the targets, and no table."""
    page = audit_page([], "Units")
    assert "How good are the checks of “Units”?" in page
    assert "<table>" not in page

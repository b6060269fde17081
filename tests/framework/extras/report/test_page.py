"""Tests that the page about a class has the right content, loads nothing, can hide names, and stays small for a large class."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import time
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest
from click.testing import CliRunner

from autograder.base.verdict import CheckResult, ExerciseVerdict, Verdict
from autograder.classroom.gradebook.people import Person
from autograder.cli.app import app
from autograder.extras.report.class_marks import ChapterMarks, StudentMark
from autograder.extras.report.content import ChapterReport, Names
from autograder.extras.report.findings import analyse, failed_by_strong, known_mistakes, support_flags
from autograder.extras.report.plots import MAX_ROWS
from autograder.extras.report.report_page import report_page
from tests.support.graded_class import PEOPLE
from tests.support.mini import CHAPTER


def made(graded, path, *arguments):
    """Return the text of the page that ``autograder report`` writes to ``path``."""
    done = CliRunner().invoke(app, ["report", CHAPTER, "-o", str(path), "--course", str(graded.root), *arguments])
    assert done.exit_code == 0, done.output
    return path.read_text("utf-8")


def section(page, title):
    """Return the text below the heading ``title``, without markup."""
    text = page.split(f"<h3>{title}</h3>")[1].split("<h3>")[0].split("</section>")[0]
    return " ".join(re.sub(r"<[^>]+>", " ", text).split())


@pytest.fixture(scope="module")
def page(graded, tmp_path_factory):
    """The page about the class, with names."""
    return made(graded, tmp_path_factory.mktemp("page") / "report.html")


def test_the_page_says_what_a_teacher_asks(page):
    """The page lists students who are ungradable, late, missing or may need help, and how often each mistake occurs."""
    assert "zq-cut-80 could not be graded" in section(page, "Needs your review")
    assert "zq-gus-79 (Gus Missing)" in section(page, "Not submitted")
    assert "zq-late-81 24 hours 6" in section(page, "Late submissions")
    assert "zq-more-82" not in section(page, "Late submissions")
    assert "zq-blank-83 0 % not started: to kelvin" in section(page, "Students who may need help")
    assert "to_kelvin : wrong sign, 8 % (1) You subtracted the offset." in section(page, "Misconceptions")
    assert "mean_kelvin : 3 students (zq-s0, zq-s3, zq-s6)" in section(page, "Wrong answers without a named mistake")
    assert "zq-ada-77" in section(page, "Similar answers")
    assert "proves nothing about anyone" in section(page, "Similar answers")
    assert "Cronbach&#39;s alpha is" in page


def test_what_students_wrote_is_text(page):
    """A name with markup, a formula or mathematics is shown as typed, in tables and in plots."""
    assert "$x$ &lt;b&gt;" in page
    assert "<b>)" not in page
    assert page.count("<svg") == 3


class Loads(HTMLParser):
    """A parser that collects the addresses that elements would fetch, and all tags and attributes that can load or run code."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        names = ("src", "xlink:href", "data", *(() if tag == "a" else ("href",)))
        self.found += [v for name in names if (v := values.get(name)) and v[0] != "#"]
        self.found += [tag] if tag in {"link", "iframe", "object", "embed", "img"} else []
        self.found += [name for name in values if name.startswith("on")]


def test_the_page_loads_nothing(page):
    """No element or style fetches anything, only the page's own script may run, and each plot has a text description."""
    parser = Loads()
    parser.feed(page)
    assert parser.found == []
    [script] = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'" in page
    assert re.findall(r"url\((?!#)|@import|https?://", page) == []
    assert page.count("<svg") == len(re.findall(r'<svg [^>]*role="img" aria-label="[^"]{20,}"', page))


def test_students_link_to_their_feedback_pages(graded, tmp_path):
    """The report links to each student's feedback page, whatever folder the report is in. Without names, there are no links."""
    path = tmp_path / "report.html"
    links = re.findall(r'<th scope="row"><a href="([^"]+)">(zq-[^<]+)</a>', made(graded, path))
    pages = {(path.parent / unquote(link)).resolve() for link, _student in links}
    written = {one.resolve() for one in (graded.root / "feedback").glob(f"*/{CHAPTER}/{CHAPTER}.html")}
    assert len(written) > 5
    assert pages == written
    assert "<a href" not in made(graded, path, "--hide-names")


def test_hidden_names_are_nowhere(graded, tmp_path):
    """With --hide-names, no id, name or address of a student is in the page or in the JSON, not even in code and reasons."""
    students = [path.name for path in (graded.root / "submitted").iterdir()] + list(PEOPLE)
    words = {word for p in PEOPLE.values() for word in (p.first_name, p.last_name, p.email, p.lms_user_id)}
    path = tmp_path / "hidden.html"
    page = made(graded, path, "--hide-names", "--json")
    printed = (
        CliRunner().invoke(app, ["report", CHAPTER, "--json", "--hide-names", "--course", str(graded.root)]).stdout
    )
    json.loads(printed)
    for text in (page, printed):
        assert "Student 01" in text
        assert [word for word in {*students, *words} if word in text] == []
        assert "quill" not in text


def large(size, chapter="ch"):
    """Return a report on a class of ``size`` students with eight exercises of four checks each, without files."""
    worth = {f"exercise_{i}": 4.0 for i in range(8)}
    marks = {}
    for n in range(size):
        outcomes = []
        for i, name in enumerate(worth):
            right = (n * 7919 + i * 104729) % 11 > 3
            checks = tuple(
                CheckResult(f"c{k}", f"check {k}", "passed" if right or k else "failed", points=1.0) for k in range(4)
            )
            slip = None if right else f"mistake_{(n + i) % 5}"
            outcomes.append(
                ExerciseVerdict(
                    name, 4.0 if right else 3.0, 4.0, "passed" if right else "partial", slip, "Why.", None, checks
                )
            )
        student = f"student-{n:05}"
        verdict = Verdict.graded("n.ipynb", student, chapter, "bubblewrap", tuple(outcomes))
        marks[student] = StudentMark(
            student, "graded", verdict.score, {e.name: e.score for e in outcomes}, verdict=verdict
        )
    one = ChapterMarks(chapter, worth, marks, {}, listed=True)
    return ChapterReport(one, analyse(one), known_mistakes(one), [], [], failed_by_strong(one), support_flags(one), [])


def test_two_thousand_students_are_readable():
    """The heatmap has at most a hundred rows, long lists are folded, and each student is in the table."""
    started = time.process_time()
    report = large(2000)
    text = report_page("Large", [report], Names(report.marks.marks, {}), "now")
    assert time.process_time() - started < 8
    assert text.count('<tr><th scope="row">student-') >= 2000
    assert "2000 students" in text
    assert len(text) < 3_000_000
    heatmap = text.split("<svg")[2].split("</svg>")[0]
    assert heatmap.count("<path") < MAX_ROWS * 8 + 60
    assert "<details>\n<summary>All marks" in text


def test_names_are_taken_out_of_texts_and_nothing_else():
    """Ids, addresses and names are hidden. In code, they are hidden in upper and lower case. A short word that contains a name stays."""
    people = {"ada-1": Person("ada-1", "Al", "Mark", "al@example.org"), "x": Person("x", "Zelda")}
    names = Names(["ada-1", "x"], people, hidden=True)
    assert names.clean("ada-1's file, by al@example.org: Also the marks of Mark") == (
        "[hidden]'s file, by [hidden]: Also the marks of [hidden]"
    )
    assert names.clean("total = mark  # ZELDA", code=True) == "total = [hidden]  # [hidden]"
    assert {names.label("ada-1"), names.label("x")} == {"Student 1", "Student 2"}


def test_one_student_is_a_class_too():
    """The page shows the only mark, and says that statistics about one student would mean nothing."""
    report = large(1)
    text = report_page("Small", [report], Names(report.marks.marks, {}), "now")
    assert "One student has a mark" in text
    assert "is too few" in text

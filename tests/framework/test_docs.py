"""Test the documentation: its site is built without warnings, its links work, and its commands and code do what it shows."""

from __future__ import annotations

import ast
import json
import os
import posixpath
import re
import shlex
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, fields
from html.parser import HTMLParser
from pathlib import Path
from typing import get_args
from urllib.parse import unquote, urlsplit

import click
import pytest
from click.testing import CliRunner
from traitlets.config import Config

from autograder.authoring.audit import ChapterAudit
from autograder.authoring.simulate import solved_notebook, write_notebook
from autograder.base import verdict
from autograder.base.verdict import ExerciseVerdict, LocatedMistake
from autograder.cli.app import app
from autograder.course.course import Course, load_course
from autograder.course.secret import VARIABLE
from autograder.pages.card import location_text
from tests.framework.security.hostile import FILES
from tests.framework.security.hostile_class import ATTACKS
from tests.support import ROOT
from tests.support.commands import python

DOCS = ROOT / "docs"
TEXTS = {path.name: path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("*.md"))}
SECURITY = TEXTS["security.md"] + TEXTS["security-tests.md"]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


# --- the site ------------------------------------------------------------------------------------------------------


class _Page(HTMLParser):
    """The files that a page of the site loads, its links, its anchors and its text."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids, self.links, self.loaded, self.text = set(), set(), set(), ""
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids |= {given["id"]} if given.get("id") else set()
        if tag == "a":
            self.links |= {given["href"]} if given.get("href") else set()
        elif tag == "link" and given.get("rel") in {"stylesheet", "preload", "icon", "preconnect", "dns-prefetch"}:
            self.loaded.add(given["href"])
        elif given.get("src"):
            self.loaded.add(given["src"])

    def handle_data(self, data):
        self.text += data


@dataclass(frozen=True)
class _Site:
    folder: Path
    pages: dict[str, _Page]


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> _Site:
    """Build the site like `make docs`, on a machine without network access."""
    folder = tmp_path_factory.mktemp("site")
    options = re.search(r"-m sphinx (.*?) docs ", (ROOT / "Makefile").read_text(encoding="utf-8"))[1].split()
    assert "-W" in options  # with -W, a warning is an error
    nowhere = dict.fromkeys(("http_proxy", "https_proxy"), "http://127.0.0.1:9")
    assert python("-m", "sphinx", *options, "docs", folder, status=0, **nowhere).stderr == ""
    return _Site(folder, {path.relative_to(folder).as_posix(): _Page(path) for path in folder.rglob("*.html")})


def test_links_of_the_site_lead_somewhere(site):
    """A link within the site finds its page and anchor. A link to another site is a full https address."""
    broken = []
    for name, page in site.pages.items():
        for link in sorted(page.links):
            parts = urlsplit(link)
            path, place = unquote(parts.path), unquote(parts.fragment)
            if parts.scheme:
                found = parts.scheme == "https" and "." in parts.netloc
            else:
                there = site.pages.get(
                    posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
                )
                found = there is not None and (not place or place in there.ids)
            if not found:
                broken.append(f"{name}: {link}")
    assert broken == []


def test_the_site_loads_nothing_from_elsewhere(site):
    """Scripts, styles, fonts, pictures and the search index are in the site itself."""
    for name, page in site.pages.items():
        for loaded in page.loaded:
            parts = urlsplit(loaded)
            assert (parts.scheme, parts.netloc) == ("", ""), f"{name} loads {loaded}"
            assert (site.folder / posixpath.dirname(name) / unquote(parts.path)).is_file(), f"{name} loads {loaded}"
    for style in site.folder.rglob("*.css"):
        assert not re.search(r"(@import|url\()\s*['\"]?(https?:)?//", style.read_text(encoding="utf-8")), style.name
    index = (site.folder / "searchindex.js").read_text(encoding="utf-8")
    assert all(f'"{name.removesuffix(".md")}"' in index for name in TEXTS)


def test_every_page_is_in_the_navigation(site):
    """The first page has a link to every other page."""
    assert {name.replace(".md", ".html") for name in TEXTS} - {"index.html"} <= site.pages["index.html"].links


def test_the_reference_of_commands_is_whole(site):
    """Every command is listed with each of its options and a description."""
    told = " ".join(site.pages["commands.html"].text.split())
    for name, command in _commands(app, ()):
        assert " ".join(("autograder", *name)) in told
        for parameter in command.params:
            options = [o for o in parameter.opts if o.startswith("--")] if isinstance(parameter, click.Option) else []
            assert all(option in told for option in options if option != "--help"), (name, options)


def test_every_command_has_a_line_in_the_tables():
    """The tables of commands list exactly the commands that exist."""
    tables = TEXTS["commands.md"].split("## Reference")[0]
    listed = set(re.findall(r"^\| `autograder ([\w-]+)", tables, re.MULTILINE))
    assert listed == set(app.list_commands(click.Context(app)))


def test_the_reference_of_settings_is_whole(site):
    """Every setting of the course and of our nbgrader preprocessors is listed with its help."""
    told = " ".join(site.pages["settings.html"].text.split())
    sys.path.insert(0, str(DOCS))
    try:
        from reference import configurables, traits_of  # noqa: PLC0415 - it is in the docs folder
    finally:
        sys.path.remove(str(DOCS))
    found = {c.__name__: traits_of(c) for c in configurables()}
    assert {"Course", "ExecuteConfined", "GradeConfined"} <= set(found)
    for name, traits in found.items():
        for trait in traits.values():
            assert f"c.{name}.{trait.name}" in told
            begins = " ".join(trait.help[:60].replace("`", "").split())
            assert begins in told.replace("`", "").replace("’", "'")


# --- the JSON ------------------------------------------------------------------------------------------------------


def _keys(section: str) -> set[str]:
    """Return the keys that a section of the page on JSON lists."""
    table = TEXTS["json.md"].split(f"## {section}\n")[1].split("\n## ")[0]
    return {key for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for key in re.findall(r"`(\w+)`", row)}


def test_the_page_on_json_has_every_key():
    """The tables list exactly the keys of verdicts and audits, and every status."""
    parts = {"A verdict": verdict.Verdict, "An exercise": verdict.ExerciseVerdict, "A check": verdict.CheckResult}
    for section, kind in {**parts, "A located mistake": verdict.LocatedMistake}.items():
        assert _keys(section) == {field.name for field in fields(kind)}, section
    assert _keys("An audit") == set(ChapterAudit("ch1", ()).to_json())
    for statuses in (verdict.VerdictStatus, verdict.ExerciseStatus, verdict.CheckStatus):
        assert all(f'`"{status}"`' in TEXTS["json.md"] for status in get_args(statuses))


# --- what is shown -------------------------------------------------------------------------------------------------


def _commands(group: click.Group, before: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        yield (*before, name), command
        if isinstance(command, click.Group):
            yield from _commands(command, (*before, name))


def _shown(text: str, *, sentences: bool = True) -> set[str]:
    """Return every `autograder …` command that a page shows in a block or, with ``sentences``, in a sentence."""
    blocks = FENCE.sub("", text)
    lines = [line for _, block in FENCE.findall(text) for line in block.splitlines()]
    lines += re.findall(r"`([^`\n]+)`", blocks) if sentences else []
    starts = re.compile(r"^\s*(?:\$ )?(?:\.venv/bin/)?autograder (\S.*)$")
    return {found[1].strip() for line in lines if (found := starts.match(line))}


@pytest.mark.parametrize("page", [*TEXTS, "../README.md", "../CONTRIBUTING.md", "../tests/README.md"])
def test_shown_commands_are_understood(page):
    """Each command that a page shows exists, and so does each of its options."""
    for line in _shown((DOCS / page).read_text(encoding="utf-8")):
        command, words = app, shlex.split(line, comments=True)
        while isinstance(command, click.Group) and words and not words[0].startswith("-"):
            assert words[0] in command.list_commands(click.Context(command)), line
            command = command.get_command(click.Context(command), words.pop(0))
        given = [word for word in words if word not in {"--help", "-h"}]
        command.make_parser(click.Context(command)).parse_args(given)  # raises Click's error about an unknown option


# Commands and options that cannot be run in every course, with the reason or the tests that run them.
ELSEWHERE = {
    "--scheduler": "on a cluster: tests/framework/extras/cluster",
    "collect": "with downloads: tests/framework/extras/lms",
    "--zip": "with collected submissions: tests/framework/extras/lms",
    "--push": "with a local Canvas: tests/framework/extras/lms",
    "--roster": "with a file that Canvas or Moodle gave: tests/framework/extras/export",
    "demo": "it takes minutes: tests/framework/extras/demo",
    "release": "the page on the first exercise does",
    "forget": "it removes a student that other commands need: tests/framework/extras/privacy",
    "import": "with notebooks of other tools: tests/framework/extras/importing",
    "start": "it needs a course to hand out: tests/framework/extras/watch",
    "watch": "it waits for somebody: tests/framework/extras/watch",
    "site": "it takes a while: tests/framework/extras/site",
}


def test_shown_python_is_python():
    """Python can parse every block of Python."""
    for page, text in TEXTS.items():
        for language, block in FENCE.findall(text):
            if language == "python":
                ast.parse(block, page)


def _python(page: str, first: str) -> str:
    """Return the block of a page that begins with the comment ``first``."""
    [block] = [text for language, text in FENCE.findall(TEXTS[page]) if text.startswith(f"# {first}\n")]
    return block


def test_the_configuration_for_a_plain_course_is_nbgraders_own_but_for_one_step():
    """The configuration for a standard course has nbgrader's steps, with ExecuteConfined instead of Execute."""
    from nbgrader.converters import Autograde  # noqa: PLC0415 - it takes a second, and only this test needs it

    from autograder.nbgrader.execute import ExecuteConfined  # noqa: PLC0415

    [block] = [text for language, text in FENCE.findall(TEXTS["plain-nbgrader.md"]) if language == "python"]
    config = Config()
    exec(compile(block, "plain-nbgrader.md", "exec"), {"c": config})  # noqa: S102 - our own page
    own = [f"{step.__module__}.{step.__name__}" for step in Autograde.autograde_preprocessors.default_args[0]]
    shown = config.Autograde.autograde_preprocessors
    assert shown[0] == f"{ExecuteConfined.__module__}.{ExecuteConfined.__name__}"
    assert [step.rpartition(".")[2] for step in shown[1:]] == [step.rpartition(".")[2] for step in own[1:]]


# --- security --------------------------------------------------------------------------------------------------------


def _missing_tests(page: str) -> list[str]:
    """Return the problems of a page on security: tables and rows that name no test, and tests that do not exist."""
    named = re.compile(r"`(test_\w+\.py)(?:::(\w+))?`")
    functions: dict[str, set[str]] = {}
    for path in (ROOT / "tests").rglob("test_*.py"):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        functions.setdefault(path.name, set()).update(n.name for n in nodes if isinstance(n, ast.FunctionDef))
    wrong = [
        f"{file}::{name}"
        for file, name in named.findall(page)
        if file not in functions or (name and name not in functions[file])
    ]
    for table in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE):
        head, _line, *rows = table.splitlines()
        if not head.endswith("| Test |"):
            wrong.append(f"a table without a column of tests: {head}")
        for row in rows:
            cell = row.split(" | ")[-1]
            attacks = set(re.findall(r"`(\w+)`", cell))
            wrong += sorted(attacks - {*ATTACKS, *FILES})
            if not attacks and not named.search(cell):
                wrong.append(f"a claim without a test: {row}")
    return wrong


def test_every_claim_about_security_names_a_test():
    """The last cell of each row on the pages on security names tests or attacks that exist."""
    page = SECURITY
    assert page.count("| Test |") >= 3
    assert _missing_tests(page) == []


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("`fork_bomb`", "`fork_bombs`", "fork_bombs"),
        ("::test_a_text_is_read_in_time`", "::test_a_text`", "test_reading_time.py::test_a_text"),
        ("`test_container.py::", "`test_containers.py::", "test_containers.py::test_no_code"),
        ("`exits_for_good`, `segfaults`, `closes_descriptors`", "as above", "a claim without a test"),
        ("| Attack | What stops it | Test |", "| Attack | What stops it |  |", "a table without a column of tests"),
    ],
)
def test_a_claim_without_a_test_is_found(old, new, words):
    """A misspelled name, an empty cell and a table without tests are reported."""
    page = SECURITY
    assert old in page
    assert any(words in one for one in _missing_tests(page.replace(old, new)))


# --- where a message comes from ------------------------------------------------------------------------------------


def test_the_cards_that_are_taken_apart_are_real(tmp_path, monkeypatch):
    """For each function on the page on messages, the card that follows it is what `autograder check` prints."""
    monkeypatch.setenv(VARIABLE, "a secret for the page on messages")  # it decides which hidden checks fail
    course, page = load_course(ROOT), TEXTS["message-sources.md"]
    parts = [(language, block) for language, block in FENCE.findall(page) if language]
    assert [language for language, _block in parts] == ["python", "text", "python", "text"]
    for (_python, code), (_text, shown) in zip(parts[::2], parts[1::2], strict=True):
        notebook = tmp_path / "notebook.ipynb"
        write_notebook(notebook, solved_notebook(course, "ch1_weighted_averaging", {"softmax": code}))
        command = ["check", notebook, "--exercise", "softmax", "--course", ROOT]
        printed = python("-m", "autograder", *command, status=0).stdout
        assert re.fullmatch(_pattern(shown), printed), printed


def test_the_sentence_about_a_line_is_real():
    """The page on messages quotes the sentence that says in which line a mistake is."""
    outcome = ExerciseVerdict("softmax", 0.0, 1.0, "failed", located=LocatedMistake("softmax", (3,), "operator"))
    assert f"\n> {location_text(outcome)}\n" in TEXTS["message-sources.md"]


# --- your first exercise -------------------------------------------------------------------------------------------


class _Reader:
    """A reader who follows a page in an empty folder: writes its files and types its commands."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        path = os.pathsep.join([sysconfig.get_path("scripts"), str(Path(sys.executable).parent), os.environ["PATH"]])
        self.env = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "COLUMNS": "80", "NO_COLOR": "1"}
        self.env["HOME"] = str(folder)

    def run(self, command: str, *, stderr: int = subprocess.STDOUT) -> str:
        """Run a command, and return its output. `cd` changes the folder for later commands."""
        if command.startswith("cd "):
            self.folder /= command.removeprefix("cd ")
            return ""
        shell = ["bash", "-c", command]
        done = subprocess.run(
            shell,
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            check=False,
        )
        return done.stdout.decode()

    def write_in_the_notebook(self, text: str) -> None:
        """Do the work in JupyterLab: write into the first text cell that contains TODO(author)."""
        [path] = [path for path in self.folder.glob("source/*/*.ipynb") if "TODO(author)" in path.read_text()]
        document = json.loads(path.read_text(encoding="utf-8"))
        cells = [
            c for c in document["cells"] if c["cell_type"] == "markdown" and "TODO(author)" in "".join(c["source"])
        ]
        cells[0]["source"] = text
        path.write_text(json.dumps(document, indent=1), encoding="utf-8")

    def follow(self, page: str) -> Iterator[tuple[str, str, str]]:
        """Do everything that a page says, and return each command with its real output and the output that the page shows."""
        for language, block in FENCE.findall(page):
            path, _, text = block.partition("\n")
            if language == "python":
                file = self.folder / path.removeprefix("# ")
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            elif language == "markdown":
                self.write_in_the_notebook(block)
            elif language == "console":
                for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                    command, _, shown = step.partition("\n")
                    yield command, self.run(command), shown


def _pattern(shown: str) -> str:
    """Return a pattern for an output that a page shows. A line "…" matches any lines, and "…" within a line matches any text."""
    lines = [
        r"(?:.*\n)*?" if line == "…" else ".*?".join(map(re.escape, line.split("…"))) + r"\n"
        for line in shown.splitlines()
    ]
    return "".join(lines)


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """Return a reader who has followed the first-exercise page, with the outputs of its commands."""
    reader = _Reader(tmp_path_factory.mktemp("reader"))
    reader.told = list(reader.follow(TEXTS["first-exercise.md"]))
    return reader


def test_the_first_exercise_is_as_its_page_says(reader):
    """Each command of the page prints what the page shows."""
    assert len(reader.told) > 10
    for command, printed, shown in reader.told:
        assert re.fullmatch(_pattern(shown), printed), f"$ {command}\n{printed}"


def test_the_example_of_json_is_what_is_printed(reader):
    """The verdict on the page on JSON equals the verdict that the page's command prints."""
    [command] = re.findall(r"`(autograder check \S+ --json)`", TEXTS["json.md"].split("## An example")[1])
    found = json.loads(reader.run(command, stderr=subprocess.DEVNULL))
    [block] = [text for language, text in FENCE.findall(TEXTS["json.md"]) if language == "json"]
    [shown] = json.loads(block)
    assert found == [{**shown, "sandbox": found[0]["sandbox"]}]


def test_the_json_of_other_commands_has_the_keys_of_its_row(reader, monkeypatch):
    """Each command in the page's table prints exactly the keys of its row, and every command with `--json` is on the page."""
    monkeypatch.chdir(reader.folder)
    table = TEXTS["json.md"].split("## Other commands\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `autograder ([^`]*)` \| .*? \| (.*) \|$", table, re.MULTILINE)
    with_json = {name[-1] for name, command in _commands(app, ()) if any("--json" in p.opts for p in command.params)}
    assert with_json == {command.split()[0] for command, _ in rows} | {"check", "audit"}
    # Ben submits again, so that a mark changes.
    (reader.folder / "submitted/ben/ch2_centre/ch2_centre.ipynb").write_bytes(
        (reader.folder / "submitted/ada/ch2_centre/ch2_centre.ipynb").read_bytes()
    )
    assert CliRunner().invoke(app, ["grade", "ch2_centre"]).exit_code == 0
    with zipfile.ZipFile("submissions.zip", "w") as download:
        download.write("submitted/ada/ch2_centre/ch2_centre.ipynb", "ada_1_2_ch2_centre.ipynb")
    for command, keys in rows:
        printed = json.loads(CliRunner().invoke(app, command.replace("CHAPTER", "ch2_centre").split()).stdout)
        found = printed[0] if isinstance(printed, list) else printed
        assert list(found) == re.findall(r"`(\w+)`", keys), command


def test_shown_commands_run(reader, monkeypatch):
    """Every command in a block runs in the course of the first exercise, unless it needs another machine, file or network."""
    monkeypatch.chdir(reader.folder)
    (reader.folder / "students.csv").write_text("id,first_name\nada,Ada\nben,Ben\n")
    (reader.folder / "extensions-week-3.csv").write_text("chapter,student,extension\nch2_centre,ada,1d\n")
    with (reader.folder / "course_config.py").open("a") as config:
        config.write('c.Course.chapters = ["ch2_centre"]\n')  # only the chapter that the page writes
    lines = {line for text in TEXTS.values() for line in _shown(text, sentences=False)}
    typed = {command for command, *_ in reader.told}
    for command in sorted({_in_the_course(shlex.split(line.partition(" > ")[0], comments=True)) for line in lines}):
        if set(command) & set(ELSEWHERE) or f"autograder {' '.join(command)}" in typed:
            continue
        done = CliRunner().invoke(app, command)
        # These two commands exit with status 1 if a course has problems.
        allowed = {0, 1} if command[0] in {"audit", "doctor"} else {0}
        assert done.exit_code in allowed, (command, done.output)
        assert isinstance(done.exception, SystemExit | None), (command, done.exception)


def _in_the_course(words: list[str]) -> tuple[str, ...]:
    """Return a command that names the notebook, chapter and exercise of the first-exercise course."""
    names = {r"\S*\.ipynb": "release/ch2_centre/ch2_centre.ipynb", r"ch\d_\w+": "ch2_centre", "softmax": "centre"}
    for pattern, name in names.items():
        words = [name if re.fullmatch(pattern, word) else word for word in words]
    return tuple(words)


def test_python_for_instructors_runs(reader, monkeypatch):
    """The configurations and scripts on the pages for instructors and administrators work, and use only settings that exist."""
    from nbgrader.coursedir import CourseDirectory  # noqa: PLC0415 - nbgrader takes a second
    from nbgrader.exchange.default import Exchange  # noqa: PLC0415
    from nbgrader.plugins import LateSubmissionPlugin  # noqa: PLC0415

    monkeypatch.chdir(reader.folder)
    blocks = [text for language, text in FENCE.findall(TEXTS["class-list.md"]) if language == "python"]
    names = {"c": Config()}
    for block in [*blocks, _python("postgresql.md", "course_config.py")]:
        here = re.sub(r"ch\d_\w+", "ch2_centre", block).replace('"attention"', '"my-course"')
        exec(compile(here, "class-list.md", "exec"), names)  # noqa: S102 - our own page
    known = {
        kind.__name__: kind.class_trait_names(config=True)
        for kind in (Course, CourseDirectory, Exchange, LateSubmissionPlugin)
    }
    assert set(names["c"]) == set(known)
    assert all(set(names["c"][section]) <= set(known[section]) for section in known)
    assert names["TenPercentADay"]().late_submission_penalty("ada", 10, 2 * 86400) == 3


def test_moved_questions_hold_for_their_answers(reader):
    """The questions that are rewritten on the pages for users of nbgrader and Otter accept the same answer as before."""
    square = _python("coming-from-otter.md", "in solutions/<chapter>.py")
    softmax = "import numpy as np\n\n\ndef softmax(x):\n    e = np.exp(x - x.max(axis=-1, keepdims=True))\n    return e / e.sum(axis=-1, keepdims=True)\n"
    (reader.folder / "solutions" / "ch3_moved.py").write_text(f"{softmax}\n\n{square}")
    checks = [_python(page, "in a check file") for page in ("coming-from-nbgrader.md", "coming-from-otter.md")]
    imports = "import numpy as np\n\nfrom autograder.checking import check, exercise\n"
    (reader.folder / "tests" / "chapters" / "test_ch3_moved.py").write_text("\n\n".join([imports, *checks]))
    tried = reader.run(
        "python -m pytest -q -p autograder.judging.plugin --import-mode=importlib tests/chapters/test_ch3_moved.py"
    )
    assert "4 passed" in tried, tried
    exec(softmax + _python("coming-from-nbgrader.md", "in a notebook, for nbgrader"), {})  # noqa: S102 - our own page

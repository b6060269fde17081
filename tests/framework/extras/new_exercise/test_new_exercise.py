"""Tests of ``autograder new-exercise``: each part is added without changing anything else, and the remaining work is listed."""

import json
import re
import sys

import pytest
from click.testing import CliRunner

from autograder.authoring.audit import audit
from autograder.authoring.release.inspection import inspect_chapter
from autograder.authoring.release.problems import MARK
from autograder.cli.app import app
from autograder.course.course import load_course
from tests.support.mini import CHAPTER, change, copy_course

CHECKS = f"tests/chapters/test_{CHAPTER}.py"
NOTEBOOK = f"source/{CHAPTER}/{CHAPTER}.ipynb"
SOLUTIONS = f"solutions/{CHAPTER}.py"
WRONG = f"solutions/misconceptions/{CHAPTER}.py"


def run(course, *arguments, status=0):
    """Run a command on ``course`` as if in a new process, without cached solutions, and return what it prints."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "solutions"]:
        del sys.modules[name]
    done = CliRunner().invoke(app, [*arguments, "--course", str(course.root)])
    assert done.exit_code == status, done.output
    assert isinstance(done.exception, SystemExit | None), done.exception
    return done.output


def files(course):
    """Return the content of every Python file and notebook of a course, by path."""
    return {
        str(path.relative_to(course.root)): path.read_bytes()
        for path in course.root.rglob("*")
        if path.is_file() and path.suffix in {".py", ".ipynb"}
    }


def fill(course, chapter, answer, *, wrong, inputs, name="largest_gap"):
    """Fill in the parts of the new exercise that an author has to write, and change nothing else."""
    root = course.root
    path = root / f"solutions/{chapter}.py"
    text = path.read_text()
    where = text.index(f'    """{MARK}', text.index(f"def {name}("))
    path.write_text(text[:where] + answer)
    path = root / f"solutions/misconceptions/{chapter}.py"
    text = path.read_text()
    where = text.index(f'    """{MARK}')
    path.write_text(text[:where].replace(f"mistake_in_{name}", "the_first_gap") + wrong)
    path = root / f"tests/chapters/test_{chapter}.py"
    text = path.read_text()
    for example in inputs:
        text = re.sub(rf"{name}\(\.\.\.\)  # {re.escape(MARK)}.*", f"{name}(np.array({example}))", text, count=1)
    path.write_text(re.sub(rf"{re.escape(MARK)}: (.)", lambda found: found[1].upper(), text))
    path = root / f"source/{chapter}/{chapter}.ipynb"
    document = json.loads(path.read_text())
    for cell in document["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = "".join(cell["source"]).replace(f"{MARK}: ", "")
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")


ANSWER = '    """The largest step between neighbours in `x` (n,). Example: [1, 2, 5] gives 3."""\n    return np.max(np.diff(x))\n'
WRONG_ANSWER = '    """You took the first step only. Is none of the others larger?"""\n    return np.diff(x)[0]\n'
INPUTS = ("[1.0, 2.0, 5.0, 4.0]", "[0.5, 0.25, 4.0, 2.0, 9.0, 9.5]")


@pytest.mark.parametrize("chapter", [CHAPTER, "ch2_gaps"])
def test_an_exercise_is_begun_refused_while_it_is_unfinished_and_passes_once_it_is_written(course, chapter):
    """An exercise can be added to an existing chapter, in which nothing else changes, or to a new chapter, which is added to the configuration."""
    before = files(course)
    path = course.root / "course_config.py"
    path.write_text(path.read_text().replace('["ch1_units"]', '[\n    "ch1_units",  # the first\n]  # more to come'))
    told = run(course, "new-exercise", "largest_gap", "--chapter", chapter, "--points", "3")
    course = load_course(course.root)
    assert course.chapters == list(dict.fromkeys([CHAPTER, chapter]))
    if chapter != CHAPTER:
        assert '[\n    "ch1_units",  # the first\n    "ch2_gaps",\n]  # more to come' in path.read_text()
        assert "ch2_gaps is a new chapter" in told
    for name, text in before.items():
        now = (course.root / name).read_bytes()
        if name.endswith(".ipynb"):
            assert json.loads(now)["cells"][: len(json.loads(text)["cells"])] == json.loads(text)["cells"]
        elif name != "course_config.py":
            assert now.startswith(text.rstrip())
    # `release` gives the file and line of every place that is still to be written, and no follow-on mistakes.
    refused = run(course, "release", chapter, status=1)
    places = refused.partition("was not released. Still to be written:\n")[2].splitlines()
    assert len(places) == refused.count("\n  - ") == 9 + (chapter != CHAPTER)
    assert f"solutions/{chapter}.py, line " in places[0]
    assert "still to be written" in run(course, "audit", chapter, status=1)
    fill(course, chapter, ANSWER, wrong=WRONG_ANSWER, inputs=INPUTS)
    [mistake] = [line for line in run(course, "audit", chapter, status=1).splitlines() if "  ! " in line]
    assert (
        f"cell largest_gap, line 2: still to be written: the docstring. `autograder stubs {chapter}` takes it"
        in mistake
    )
    assert run(course, "stubs", chapter) == f"{chapter}: largest_gap updated.\n"
    assert run(course, "audit", chapter).startswith(f"{chapter}   meets every target")
    assert inspect_chapter(course, chapter).with_trial_run() == ()
    assert [e.misconceptions for e in audit(course, [chapter], mutants=False)[0].exercises][-1] == 1


def test_what_is_written_already_is_taken_as_it_is(course):
    """The new stub has the existing reference's signature and docstring, and its check cell has the points of the existing checks."""
    with (course.root / SOLUTIONS).open("a") as file:
        file.write(
            "\n\ndef span(\n    x: np.ndarray, *, ends: list = (0, 1), how='a'\n) -> float:\n"
            "    '''From the smallest\n\n    to the \\\"largest\\\".'''\n    return x.max() - x.min()\n"
        )
    with (course.root / CHECKS).open("a") as file:
        file.write(
            '\n\n@exercise("span", points=2.5)\nclass TestSpan:\n    @check(visible=True, points=2.5)\n'
            '    def test_span(self, agrees):\n        """a span"""\n        agrees.span(np.array([1.0, 4.0]))\n'
        )
    before = files(course)
    told = run(course, "new-exercise", "span", "--chapter", CHAPTER)
    assert f"The stub is created from span in {SOLUTIONS}" in told
    assert {name for name, text in files(course).items() if before.get(name) != text} == {NOTEBOOK}
    *_, stub, check = json.loads((course.root / NOTEBOOK).read_text())["cells"]
    assert "".join(stub["source"]) == (
        "def span(x, *, ends: list=(0, 1), how='a') -> float:\n"
        "    '''From the smallest\n\n    to the \\\"largest\\\".'''\n    raise NotImplementedError"
    )
    assert (check["metadata"]["nbgrader"]["points"], "".join(check["source"])) == (2.5, "check(span)")
    again = run(course, "new-exercise", "span", "--chapter", CHAPTER, status=2)
    assert f"span already has a reference, checks and cells in {CHAPTER}." in again
    assert not [
        m for m in inspect_chapter(course, CHAPTER).mistakes if MARK not in str(m) and "still to be" not in str(m)
    ]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("two words", "'two words' cannot be the name of an exercise"),
        ("größe", "'größe' cannot be the name of an exercise"),
        ("class", "it is a Python keyword"),
        ("check", "notebooks import something with that name"),
        ("check_this", "the names of check cells begin with check_"),
        ("_hidden", "names that begin with _ are private"),
        ("within", "student.within already has a meaning in checks"),
        ("sum", "it would replace Python's function sum"),
        ("f --chapter 2nd", "'2nd' cannot be the id of a chapter"),
        ("f --chapter ../up", "'../up' cannot be the id of a chapter"),
        ("f --chapter misconceptions", "is already a folder in solutions/"),
        ("f --chapter Ch1_Units", "'Ch1_Units' and the chapter 'ch1_units' differ only in capital letters"),
        ("f --points nan", "cannot be worth nan points"),
        ("f --points -1", "cannot be worth -1 points"),
        ("f --signature g(x)", "--signature is for g, but the exercise is called f. Write f(…)."),
        ("f --signature f(x", "is not a valid Python signature ("),
        ("f --signature f(x):_pass;import_os", "is not a valid Python signature"),
        ("f --signature f(x=1,y)", "is not a valid Python signature"),
        ("to_kelvin --signature to_kelvin(f)", "line 6 already defines to_kelvin(celsius), but --signature is to_kelvin(f)"),
        ("mean_kelvin --points 7", "have 3 points, but --points is 7"),
    ],
)  # fmt: skip
def test_a_name_or_place_that_cannot_be_is_said(course, arguments, told):
    """Each unusable name, chapter or option is reported in one sentence, and nothing is written."""
    before = files(course)
    words = [word.replace("_pass;", " pass;").replace("import_", "import ") for word in arguments.split(" --")]
    name, options = (
        words[0],
        [part for word in words[1:] for part in (f"--{word.partition(' ')[0]}", word.partition(" ")[2])],
    )
    if "--chapter" not in options:
        options += ["--chapter", CHAPTER]
    assert told in run(course, "new-exercise", name, *options, status=2)
    assert files(course) == before


@pytest.mark.parametrize(
    ("path", "text", "told"),
    [
        (SOLUTIONS, "def f(:\n", f"{SOLUTIONS}, because Python cannot read it: line 1: invalid syntax. Fix it first."),
        (CHECKS, "\udcff", "is not UTF-8 text (byte 0)"),
        (NOTEBOOK, "{", "ch1_units.ipynb: ch1_units.ipynb is not a valid notebook"),
        (SOLUTIONS, "import numpy as np\nlargest_gap = np.ptp\n", "line 2, is neither a function nor a class"),
        ("course_config.py", 'c.Course.chapters = tuple(["ch1_units"])\n', None),
    ],
)
def test_a_file_that_cannot_be_added_to_is_named_and_left(course, path, text, told):
    """If a file cannot be extended, the message names it, and no other file is written either."""
    (course.root / path).write_bytes(text.encode("utf-8", "surrogateescape"))
    before = files(course)
    said = run(course, "new-exercise", "largest_gap", "--chapter", CHAPTER if told else "ch2_gaps", status=2)
    assert (told or "sets c.Course.chapters in a way that autograder cannot extend") in said
    assert files(course) == before


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ('c.Course.chapters = ["ch1_units"]', 'c.Course.chapters = ["ch1_units", "ch2"]'),
        ("c.Course.chapters = [ 'ch1_units', ]", "c.Course.chapters = [ 'ch1_units', \"ch2\", ]"),
        ('c.Course.chapters = ["ch1_units"  # é\n]', 'c.Course.chapters = ["ch1_units", "ch2"  # é\n]'),
        ('c.Course.chapters = [\n\t"ch1_units"\n]\n', 'c.Course.chapters = [\n\t"ch1_units",\n\t"ch2",\n]\n'),
        ('c.Course.chapters = [\r\n  "ch1_units", # a\r\n]\r\n', 'c.Course.chapters = [\r\n  "ch1_units", # a\r\n  "ch2",\r\n]\r\n'),
        ('c.Course.chapters = [\n  "ch1_units"]', 'c.Course.chapters = [\n  "ch1_units",\n  "ch2"]'),
        ('c.Course.chapters = []\nc.Course.chapters += ["ch1_units"]', 'c.Course.chapters = []\nc.Course.chapters += ["ch1_units", "ch2"]'),
        ('for name in ["ch1_units"]:\n    c.Course.chapters = [name]', 'for name in ["ch1_units"]:\n    c.Course.chapters = [name]\nc.Course.chapters += ["ch2"]\n'),
        ('c.Course.title = "x"', 'c.Course.title = "x"\nc.Course.chapters = ["ch2"]\n'),
    ],
)  # fmt: skip
def test_the_chapter_is_entered_where_the_others_stand(tmp_path, written, expected):
    """Adding a chapter to the configuration keeps its comments, quotes, indentation and line endings."""
    course = copy_course(tmp_path / "mini")
    path = course.root / "course_config.py"
    path.write_bytes(written.encode())
    run(course, "new-exercise", "f", "--chapter", "ch2")
    assert path.read_bytes().decode() == expected


STACK = '''

class Stack:
    """What was put on it last comes off first."""

    def __init__(self, items: list = ()):
        self._items = list(items)

    def push(self, item):
        """Put `item` on top.

        Nothing is given back.
        """
        self._items.append(item)

    def __len__(self):
        """How many items lie on it."""
        return len(self._items)

    def _secret(self):
        return 1
'''
STACK_STUB = '''class Stack:
    """What was put on it last comes off first."""

    def __init__(self, items: list=()):
        raise NotImplementedError

    def push(self, item):
        """Put `item` on top.

        Nothing is given back.
        """
        raise NotImplementedError

    def __len__(self):
        """How many items lie on it."""
        raise NotImplementedError'''


def test_the_stub_of_a_class_has_its_methods_and_follows_them(course):
    """A class's stub has all public methods with their docstrings. A method that is later added to the reference comes last."""
    with (course.root / SOLUTIONS).open("a") as file:
        file.write(STACK)
    run(course, "new-exercise", "Stack", "--chapter", CHAPTER, "--points", "2")

    def stub():
        return "".join(json.loads((course.root / NOTEBOOK).read_text())["cells"][-2]["source"])

    assert stub() == STACK_STUB
    places = [str(m) for m in inspect_chapter(course, CHAPTER).mistakes]
    assert places
    assert [place for place in places if "still to be written" not in place] == []
    for old, new in (("item):", "item, times=1):"), ("Put `item`", "Lay `item`"), ("    def _secret", '    def peek(self):\n        """The top."""\n        return 0\n\n    def _secret')):  # fmt: skip
        change(course.root / SOLUTIONS, old, new)
    assert run(course, "stubs", CHAPTER) == f"{CHAPTER}: Stack updated.\n"
    expected = STACK_STUB.replace("item):", "item, times=1):").replace("Put `item`", "Lay `item`")
    assert stub() == f'{expected}\n\n    def peek(self):\n        """The top."""\n        raise NotImplementedError'
    assert all("still to be written" in str(m) for m in inspect_chapter(course, CHAPTER).mistakes)
    assert run(course, "stubs", CHAPTER) == f"{CHAPTER}: every stub already matches its reference.\n"


STUB = "# The first one.\ndef to_kelvin(celsius):  # of any shape\n    '''Old\n    words.'''\n    # Write here.\n    raise NotImplementedError\n\nhelper = 1"


@pytest.mark.parametrize(
    ("stub", "expected"),
    [
        (STUB, '# The first one.\ndef to_kelvin(celsius):  # of any shape\n    """New."""\n    # Write here.\n    raise NotImplementedError\n\nhelper = 1'),
        (STUB.replace("celsius", "c, k=2"), '# The first one.\ndef to_kelvin(celsius):\n    """New."""\n    # Write here.\n    raise NotImplementedError\n\nhelper = 1'),
        ("def to_kelvin(\n    celsius\n):\n    raise NotImplementedError", 'def to_kelvin(\n    celsius\n):\n    """New."""\n    raise NotImplementedError'),
        ("def to_kelvin(x): raise NotImplementedError", 'def to_kelvin(celsius):\n    """New."""\n    raise NotImplementedError'),
        ("def to_kelvin(celsius: float):\n  'New.'\n  raise NotImplementedError", None),
    ],
)  # fmt: skip
def test_a_stub_follows_its_reference_and_nothing_else_changes(course, stub, expected):
    """Updating a stub keeps the body, the code around it, all other cells and the layout of the file."""
    change(course.root / SOLUTIONS, "def to_kelvin(celsius):\n", 'def to_kelvin(celsius):\n    """New."""\n')
    path = course.root / NOTEBOOK
    document = json.loads(path.read_text())
    [cell] = [c for c in document["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == "to_kelvin"]
    cell["source"] = stub
    document["cells"][-1]["source"] = "a text of one piece, with é"
    path.write_text(json.dumps(document, indent=2))
    told = run(course, "stubs", CHAPTER)
    assert told == f"{CHAPTER}: {'to_kelvin updated' if expected else 'every stub already matches its reference'}.\n"
    cell["source"] = expected or stub
    assert path.read_text() == json.dumps(document, indent=2)
    assert run(course, "stubs") == f"{CHAPTER}: every stub already matches its reference.\n"


def test_a_stub_that_cannot_be_brought_in_line_is_told_and_left(course):
    """If a stub differs from its reference, the inspection names the command that updates it. A cell without the function stays unchanged."""
    change(course.root / SOLUTIONS, "def to_kelvin(celsius)", "def to_kelvin(celsius, zero=273.15)")
    [mistake] = [str(m) for m in inspect_chapter(course, CHAPTER).mistakes]
    assert "`autograder stubs` updates the stub from the reference." in mistake
    change(course.root / NOTEBOOK, "def to_kelvin(celsius)", "def to_celsius(celsius)")
    before = files(course)
    assert f"The stub of to_kelvin in {course.root / NOTEBOOK} has no `def to_kelvin(…):`, or a syntax error" in run(
        course, "stubs", status=1
    )
    assert files(course) == before


BANK = '''"""Reference solutions."""


class Account:
    """A bank account."""

    def __init__(self, owner, balance=0):
        """Create the account of `owner`."""
        self.owner, self.balance = owner, balance

    def deposit(self, amount):
        """Add `amount`, and return the new balance."""
        self.balance += amount
        return self.balance


class Savings(Account):
    """An account that earns interest."""

    def earn(self, rate):
        """Add the interest of a year."""
        self.balance *= 1 + rate
'''


def test_a_capitalized_name_begins_a_class_and_a_subclass_keeps_its_base(course):
    """A capitalized name gets the outline of a class with `__init__`. The updated stub follows the written class, without the outline's method."""
    told = run(course, "new-exercise", "Account", "--chapter", CHAPTER, "--signature", "Account(owner, balance=0)")
    assert "places to fill in" in told
    solutions = course.root / SOLUTIONS
    assert f'class Account:\n    """{MARK}' in solutions.read_text()
    assert "    def __init__(self, owner, balance=0):\n" in solutions.read_text()
    assert "made = agrees.Account(...)" in (course.root / CHECKS).read_text()
    assert MARK in told
    text = solutions.read_text()
    solutions.write_text(text[: text.index("class Account")] + BANK.partition("\n\n\n")[2])
    assert "Account updated" in run(course, "stubs", CHAPTER)
    run(course, "new-exercise", "Savings", "--chapter", CHAPTER)
    cells = json.loads((course.root / NOTEBOOK).read_text())["cells"]
    stubs = {c["metadata"].get("nbgrader", {}).get("grade_id"): "".join(c["source"]) for c in cells}
    assert stubs["Savings"].startswith('class Savings(Account):\n    """An account that earns interest."""\n')
    assert "def deposit(self, amount):" in stubs["Account"]
    assert "def method" not in stubs["Account"]

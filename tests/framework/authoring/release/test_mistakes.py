"""Tests of authors' mistakes: each is reported in its own sentence, with its location."""

import json
import re

import pytest

from autograder.authoring.release import ReleaseError
from autograder.authoring.release.inspection import inspect_chapter
from autograder.authoring.release.validation import validate
from autograder.base.errors import CourseError
from autograder.course.course import TARGETS, load_course
from tests.support.chapters import release
from tests.support.commands import python
from tests.support.mini import CHAPTER, change, copy_course

CHECKS = f"tests/chapters/test_{CHAPTER}.py"
SOLUTIONS = f"solutions/{CHAPTER}.py"
WRONG = f"solutions/misconceptions/{CHAPTER}.py"
RIGHT = f"solutions/alternatives/{CHAPTER}.py"
NOTEBOOK = f"source/{CHAPTER}/{CHAPTER}.ipynb"
PROBED = "assert student.probe('def probe(f): return float(f(0.0))', 'to_kelvin') == 273.15"
FIXTURES = "def test_freezing(self, student, reference):"
WITH_FLOATS = "if floats and student.to_kelvin(0.0) != 273.15:\n            raise CheckFailed('0 °C is 273.15 K.')"
WITH_OFFSET = "if student.to_kelvin(0.0) != OFFSET:\n            raise CheckFailed('0 °C is 273.15 K.')"
FREEZING = 'x = np.array([0.0])\n        assert_matches(student.to_kelvin(x), reference.to_kelvin(x), call="to_kelvin(x)", x=x)'


def text(path, old, new):
    """Return a mistake that replaces ``old`` by ``new`` in a file."""
    return lambda root: change(root / path, old, new)


def end(path, more):
    """Return a mistake that appends ``more`` to a file."""
    return lambda root: (root / path).write_text((root / path).read_text() + more)


def book(edit):
    """Return a mistake that changes the notebook with ``edit``, which receives the cells by name and the whole document."""

    def made(root):
        path = root / NOTEBOOK
        document = json.loads(path.read_text())
        cells = {c["metadata"].get("nbgrader", {}).get("grade_id", i): c for i, c in enumerate(document["cells"])}
        edit(cells, document)
        path.write_text(json.dumps(document))

    return made


def source(name, old, new):
    """Return a mistake that replaces ``old`` by ``new`` in one cell's code."""

    def edit(cells, _document):
        whole = "".join(cells[name]["source"])
        assert old in whole
        cells[name]["source"] = whole.replace(old, new)

    return book(edit)


def mark(name, **marks):
    """Return a mistake that changes a cell's nbgrader metadata to ``marks``."""
    return book(lambda cells, _document: cells[name]["metadata"]["nbgrader"].update(marks))


def without(name):
    """Return a mistake that removes a cell."""
    return book(lambda cells, document: document["cells"].remove(cells[name]))


def setting(line):
    """Return a mistake that appends ``line`` to the course configuration."""
    return end("course_config.py", f"\n{line}\n")


def both(*mistakes):
    """Return a mistake that combines several changes."""

    def made(root):
        for mistake in mistakes:
            mistake(root)

    return made


def beside(name, content):
    """Return a mistake that adds a file to the notebook's folder."""
    return lambda root: (root / "source" / CHAPTER / name).write_text(content)


def too_large(root):
    """Add a data file that exceeds the size limit. The file is sparse and uses almost no disk space."""
    with (root / "source" / CHAPTER / "all.npz").open("wb") as file:
        file.truncate(65 << 20)


def second_notebook(root):
    """Add a notebook with a graded cell to the chapter's folder."""
    (root / "source" / CHAPTER / "more.ipynb").write_text((root / NOTEBOOK).read_text())


def second_chapter(root):
    """Add a second chapter that has the same exercises as the first."""
    for path in (NOTEBOOK, CHECKS, SOLUTIONS):
        (root / path.replace("ch1", "ch2")).parent.mkdir(exist_ok=True)
        (root / path.replace("ch1", "ch2")).write_text((root / path).read_text())
    setting('c.Course.chapters = ["ch1_units", "ch2_units"]')(root)


KELVIN = '"""The temperatures in kelvin, in the shape they came in: to_kelvin(0.0) is 273.15."""'
CASES = {
    "points that differ": (mark("check_to_kelvin", points=5), r"cell check_to_kelvin: it is worth 5 points, but the checks of to_kelvin are worth 2"),
    "no points": (mark("check_to_kelvin", points=None), r"cell check_to_kelvin: it has no points, but its checks are worth 2"),
    "checks that do not add up": (text(CHECKS, '"to_kelvin", points=2', '"to_kelvin", points=3'), rf"{CHECKS}, line \d+: TestToKelvin: the checks' points add up to 2, but the exercise 'to_kelvin' has 3"),
    "negative points": (text(CHECKS, "points=1, after=", "points=-1, after="), r"points add up to 0"),
    "unlisted package": (source(7, "readings =", "import scipy.special\nreadings ="), r"code cell 6, line 1: it imports scipy, but a student's code may import only numpy, matplotlib and the standard library"),
    "package in several cells": (both(source(7, "readings =", "import scipy.special\nreadings ="), book(lambda _, document: document["cells"].append({"cell_type": "code", "metadata": {}, "source": "from scipy import special", "outputs": [], "execution_count": None}))), r"code cell 6, line 1: it imports scipy, as 1 cell below it does, but a student's code may import only numpy"),
    "package that is not installed": (setting('c.Course.packages = ["numpy", "no_such_zzz"]'), r"'no_such_zzz', which is not installed here"),
    "stub without checks": (mark("to_kelvin", grade_id="to_celsius"), r"cell to_celsius: to_celsius is a stub, but no check class has @exercise\('to_celsius'"),
    "checks without a stub": (without("to_kelvin"), rf"{NOTEBOOK}: to_kelvin is checked, but its stub is missing"),
    "stub that is no stub": (mark("to_kelvin", solution=False), r"cell to_kelvin: to_kelvin is checked, but its stub is not marked as an answer"),
    "no check cell": (without("check_mean_kelvin"), r"mean_kelvin has no check cell"),
    "check of another exercise": (source("check_to_kelvin", "to_kelvin", "mean_kelvin"), r"cell check_to_kelvin, line 1: it checks mean_kelvin, but its grade_id names to_kelvin. It must be check\(to_kelvin\)"),
    "check of nothing": (source("check_to_kelvin", "check(to_kelvin)", "pass"), r"cell check_to_kelvin, line 1: it checks nothing. It must be check\(to_kelvin\)"),
    "quiz without quotes": (source("check_quiz_ch1_units", '"quiz_ch1_units"', "quiz_ch1_units"), r'cell check_quiz_ch1_units, line 1: quiz_ch1_units is not a function of the notebook. It must be check\("quiz_ch1_units"\)'),
    "wrong id": (mark("check_to_kelvin", grade_id="chek_to_kelvin"), r"cell chek_to_kelvin: it checks to_kelvin, but its grade_id is chek_to_kelvin.*Call it check_to_kelvin"),
    "graded cell of nothing": (book(lambda c, d: d["cells"].append({**c["check_to_kelvin"], "source": "1", "metadata": {"nbgrader": {**c["check_to_kelvin"]["metadata"]["nbgrader"], "grade_id": "extra"}}})), r"cell extra: it is graded, but belongs to no exercise with checks"),
    "not locked": (mark("check_to_kelvin", locked=False), r"cell check_to_kelvin: it is not locked"),
    "check above its stub": (book(lambda c, d: (d["cells"].remove(c["check_to_kelvin"]), d["cells"].insert(2, c["check_to_kelvin"]))), r"cell check_to_kelvin: it is above its stub"),
    "check not imported": (source(1, "from autograder import check, hint", ""), r"cell check_to_kelvin, line 1: no cell above it imports check\. Put “from autograder import check, hint”"),
    "misspelt def": (source("to_kelvin", "def to_kelvin", "def to_kelvim"), r"cell to_kelvin, line 1: it defines to_kelvim, but its checks use to_kelvin\. The function must have the same name as the cell's grade_id\."),
    "another def": (source("to_kelvin", "def to_kelvin", "def warm"), r"cell to_kelvin, line 1: it defines warm, but its checks use to_kelvin"),
    "no def": (book(lambda c, _d: c["to_kelvin"].update(source="# write it here")), r"cell to_kelvin: it defines no function, but its checks use to_kelvin"),
    "syntax error in a stub": (source("to_kelvin", "(celsius):", "(celsius:"), r"cell to_kelvin, line 1: Python cannot read it: '\(' was never closed"),
    "syntax error in a cell": (source(7, "readings =", "readings = ="), r"code cell 6, line 1: Python cannot read it: invalid syntax"),
    "marked by hand besides": (mark("to_kelvin", grade=True, points=1), r"cell to_kelvin: it is also marked for manual grading"),
    "stub of text": (book(lambda c, _d: c["to_kelvin"].update(cell_type="markdown")), r"cell to_kelvin: it is a text cell, but its exercise is checked as code"),
    "no grade_id": (mark("to_kelvin", grade_id=None), r"code cell 2: it is marked as a stub but has no grade_id"),
    "odd grade_id": (mark("check_to_kelvin", grade_id="check to_kelvin"), r"nbgrader allows only letters, digits, _ and - in a grade_id"),
    "same grade_id twice": (book(lambda c, d: d["cells"].append(c["to_kelvin"])), r"cell to_kelvin: the grade_id to_kelvin occurs 2 times \(cells 3 and 12, counting all cells\)"),
    "not blank": (source("to_kelvin", "raise NotImplementedError", "return 0 * celsius"), r"cell to_kelvin, line 3: to_kelvin is not blank"),
    "quiz answered rightly": (source("quiz_ch1_units", "q1 = None", 'q1 = "b"'), r"cell quiz_ch1_units, line 1: the stub gives the correct answer to q1"),
    "quiz answered wrongly": (source("quiz_ch1_units", "q1 = None", 'q1 = "c"'), r"cell quiz_ch1_units, line 1: the stub already answers q1"),
    "answer in another cell": (source(7, "readings =", 'q1 = "b"\nreadings ='), r"code cell 6, line 1: it assigns the correct answer to q1"),
    "solution in another cell": (source(7, "readings =", "def to_kelvin(celsius):\n    return celsius + 273.15\nreadings ="), r"code cell 6, line 1: it defines to_kelvin, which is an exercise, so students would get its solution"),
    "quiz variable missing in the stub": (source("quiz_ch1_units", "q2 = None", "q3 = None"), r"cell quiz_ch1_units: the stub has no variable q2"),
    "quiz variable missing in the table": (source("quiz_ch1_units", "q2 = None", "q2 = None\nq3 = None"), r"cell quiz_ch1_units, line 3: q3 is not one of the questions of quiz_ch1_units, which are q1, q2"),
    "quiz variable missing in the reference": (text(SOLUTIONS, ', "q2": 0.0', ""), r"the reference of quiz_ch1_units answers q1, but @exercise\(…, answers=…\) names q1, q2"),
    "other parameters": (source("to_kelvin", "(celsius)", "(degrees)"), rf"cell to_kelvin, line 1: the stub is to_kelvin\(degrees\), but the reference in {SOLUTIONS}, line \d+ is to_kelvin\(celsius\)"),
    "another default": (text(SOLUTIONS, "def to_kelvin(celsius)", "def to_kelvin(celsius, zero=273.15)"), r"the reference in .* is to_kelvin\(celsius, zero=273\.15\)"),
    "another docstring": (text(SOLUTIONS, "def to_kelvin(celsius):", 'def to_kelvin(celsius):\n    """Something else."""'), r"cell to_kelvin, line 2: the stub's docstring and the docstring of the reference .* differ in line 1"),
    "wrong worked example": (source("to_kelvin", "is 273.15", "is about 273.2"), None),
    "wrong worked example told": (source("to_kelvin", "is 273.15", "is about 275.2"), r"cell to_kelvin, line 2: the docstring says that to_kelvin\(0\.0\) is 275\.2, but the reference returns 273\.15"),
    "wrong session": (source("to_kelvin", KELVIN, '"""Add.\n\n    >>> to_kelvin(0.0)\n    27.3\n    """'), r"cell to_kelvin, line 4: the docstring says that to_kelvin\(0\.0\) gives 27\.3, but the reference returns 273\.15"),
    "example that raises": (source("to_kelvin", "to_kelvin(0.0) is", "to_kelvin(None) is"), r"cell to_kelvin, line 2: the example to_kelvin\(None\) cannot be checked: the reference raises TypeError"),
    "import that only the solutions have": (source(1, "import numpy as np", ""), rf"cell mean_kelvin: the reference in {SOLUTIONS}, line \d+ uses np, but no cell up to this one has `import numpy as np`, so students who use np get a NameError\. Put the import into the notebook's first code cell"),
    "import that comes too late": (both(source(1, "import numpy as np", ""), source(7, "readings", "import numpy as np\nreadings")), r"no cell up to this one has `import numpy as np`"),
    "import in the stub's cell": (both(source(1, "import numpy as np", ""), source("mean_kelvin", "def mean_kelvin", "import numpy as np\ndef mean_kelvin")), None),
    "import in the reference's body": (both(source(1, "import numpy as np", ""), text(SOLUTIONS, "    reference_marker", "    import numpy as np\n    reference_marker")), None),
    "reference that prints": (text(SOLUTIONS, "return celsius + 273.15", 'print("shape", np.shape(celsius))\n    return celsius + 273.15'), rf"^{SOLUTIONS}, line \d+: to_kelvin prints “shape \(1,\)” while test_freezing runs it, and no check uses this output\. Remove the print\.$"),
    "check without @check": (text(CHECKS, '    @check(visible=True, after="test_one_station")\n', ""), rf"{CHECKS}, line \d+: TestMeanKelvin\.test_two_stations has no @check\(…\), so it gives no points\. Write @check\(points=…\) above it\."),
    "solution in a hint": (text(CHECKS, "np.mean(..., axis=-1)", "Try `np.mean(to_kelvin(c), axis=-1)`."), rf"{CHECKS}, line \d+: hint 3 of mean_kelvin contains code from the reference of mean_kelvin: `np\.mean\(to_kelvin\(c\), axis=-1\)`\. Students would only have to copy it\. Describe the idea in words instead\."),
    "one-line solution in a hint": (text(CHECKS, "It is added.", "It is celsius+273.15."), r"hint 2 of to_kelvin contains code from the reference of to_kelvin: `celsius\+273\.15`"),
    "solution in a message": (text(WRONG, "Your mean is right,", "It is np.mean(to_kelvin(celsius), axis=-1), and"), rf"{WRONG}, line \d+: the message of stays_in_celsius contains code from the reference of mean_kelvin"),
    "solution in a title": (text(CHECKS, '"""each station has its own mean"""', '"""np.mean(to_kelvin(celsius), axis=-1)"""'), rf"{CHECKS}, line \d+, TestMeanKelvin\.test_many_stations: the title contains code from the reference of mean_kelvin"),
    "solution in a demonstration": (source(7, "readings =", "some = np.ones((2, 2))\nprint(np.mean(to_kelvin(some), axis=-1))\nreadings ="), r"code cell 6, line 2: it contains code from the reference of mean_kelvin: `np\.mean\(to_kelvin\(some\), axis=-1\)`"),
    "solution in a comment of the stub": (source("mean_kelvin", "raise", "# np.mean(to_kelvin(celsius), axis=-1)\n    raise"), r"cell mean_kelvin, line 3: it contains code from the reference"),
    "solution under another name": (source(7, "readings =", "def average(c):\n    k = to_kelvin(c)\n    return np.mean(k, axis=-1)\nreadings ="), r"code cell 6, line 2: it contains code from the reference of mean_kelvin"),
    "state in a list": (both(text(CHECKS, '@exercise("to_kelvin"', 'SEEN = []\n\n\n@exercise("to_kelvin"'), text(CHECKS, "x = np.array([0.0])", "SEEN.append(1)\n        x = np.array([float(len(SEEN))])")), rf"{CHECKS}, line \d+: test_freezing changes SEEN, which all checks and students share, so its calls would depend on earlier calls\. Create it inside the check\."),
    "state in a generator": (both(text(CHECKS, '@exercise("to_kelvin"', 'RNG = np.random.default_rng(0)\n\n\n@exercise("to_kelvin"'), text(CHECKS, "x = np.array([0.0])", "x = RNG.normal(size=3)")), r"test_freezing changes RNG, which"),
    "state in a global": (both(text(CHECKS, '@exercise("to_kelvin"', 'COUNT = 0\n\n\n@exercise("to_kelvin"'), text(CHECKS, "x = np.array([0.0])", "global COUNT\n        COUNT += 1\n        x = np.array([float(COUNT)])")), r"test_freezing changes COUNT, which"),
    "state in a class": (text(CHECKS, "x = np.array([0.0])", "TestToKelvin.seen = 1\n        x = np.array([0.0])"), r"test_freezing changes TestToKelvin, which"),
    "list that a check makes": (text(CHECKS, "x = np.array([0.0])", "SEEN = []\n        SEEN.append(0.0)\n        x = np.array(SEEN)"), None),
    "example of several arguments": (both(source("to_kelvin", KELVIN, '"""Add: celsius = [1], zero = [[1], [2]] … gives [5]."""'), source("to_kelvin", "(celsius)", "(celsius, zero)"), text(SOLUTIONS, "def to_kelvin(celsius)", "def to_kelvin(celsius, zero=None)")), r"the docstring says that to_kelvin\(celsius=\[1\], zero=\[\[1\], \[2\]\]\) is \[5\], but the reference returns \[274\.15\]"),
    "check cell without points": (book(lambda c, _d: c["check_to_kelvin"]["metadata"]["nbgrader"].pop("points")), r"cell check_to_kelvin: it has no points, but its checks are worth 2"),
    "function as an argument": (both(text(CHECKS, "        agrees.mean_kelvin(np.array([[10.0, 20.0, 30.0]]))", "        agrees.mean_kelvin(lambda x: x)"), text(SOLUTIONS, "    reference_marker_7341 =", "    if callable(celsius):\n        return celsius(1.0)\n    reference_marker_7341 =")), rf'{CHECKS}, line \d+, TestMeanKelvin\.test_one_station: it passes a value of type function to the student\'s code, which runs in another process and can receive only data\. For a function, pass its source, with Source from autograder\.checking: Source\("def f\(x\): …", "f"\)\.'),
    "waits for nothing": (text(CHECKS, 'after="test_freezing"', "after=None"), rf"{CHECKS}, line \d+: TestToKelvin\.test_hidden_marker_5519 has after=None, which is not an earlier check"),
    "purity that waits for nothing": (text(CHECKS, "pure(points=0.5)", 'pure(points=0.5, after="test_it")'), rf"^{CHECKS}, line 31: TestToKelvin\.test_care has after='test_it', which is not an earlier check"),
    "dependency that is not declared": (text(CHECKS, ', depends_on=("to_kelvin",)', ""), rf'{CHECKS}, line \d+: the reference of mean_kelvin calls to_kelvin, but depends_on does not name it, .* Write depends_on=\("to_kelvin",\)\.'),
    "two checks of one title": (text(CHECKS, '"""two stations"""', '"""one station"""'), r"test_two_stations has the same title as test_one_station, “one station”"),
    "comparison without assert": (text(CHECKS, "        agrees.mean_kelvin(x)\n", "        agrees.mean_kelvin(x) == 3\n"), r"`agrees\.mean_kelvin\(x\) == 3` never fails\. Write `assert` before it\."),
    "assert of a tuple": (text(CHECKS, "        agrees.mean_kelvin(x)\n", "        assert (agrees.mean_kelvin(x) is x, 'x')\n"), r"never fails\. Remove the parentheses after `assert`\."),
    "checks in a base class": (text(CHECKS, '@exercise("to_kelvin", points=2)\nclass TestToKelvin:', 'class Base:\n    @check(visible=True)\n    def test_base(self, agrees):\n        """base"""\n        agrees.to_kelvin(3.0)\n\n\n@exercise("to_kelvin", points=2)\nclass TestToKelvin(Base):'), r"Base has checks but is not marked with @exercise\(…\), so grading does not run them"),
    "solutions that print": (end(SOLUTIONS, "\n\nprint(to_kelvin(3.0))\n"), rf"Importing solutions/{CHAPTER}\.py and {CHECKS} prints “276\.15”\. Remove the print\."),
    "check that prints": (text(CHECKS, "x = np.array([0.0])", 'print("here")\n        x = np.array([0.0])'), r"TestToKelvin\.test_freezing: to_kelvin prints “here”"),
    "state in a default": (both(text(CHECKS, '@exercise("to_kelvin"', 'def numbers(seen=[]):\n    seen.append(float(len(seen)))\n    return np.array(seen)\n\n\n@exercise("to_kelvin"'), text(CHECKS, "x = np.array([0.0])", "x = numbers()")), r"numbers changes seen, which"),
    "state in a function": (both(text(CHECKS, '@exercise("to_kelvin"', 'def numbers():\n    numbers.n = getattr(numbers, "n", 0) + 1\n    return np.array([float(numbers.n)])\n\n\n@exercise("to_kelvin"'), text(CHECKS, "x = np.array([0.0])", "x = numbers()")), r"numbers changes numbers, which"),
    "rounded example in a text cell": (source(0, "Temperatures", "`to_kelvin(0.0)` is about 273. Temperatures"), None),
    "state in a module beside": (both(text(CHECKS, "import numpy as np\n", "import numpy as np\nimport helper_of_units\n"), lambda root: (root / "tests/chapters/helper_of_units.py").write_text("SEEN = []\n\n\ndef used():\n    SEEN.append(1)\n")), r"helper_of_units\.py, line 5: used changes SEEN, which"),
    "solution in a file beside": (beside("notes.py", "def mean(c):\n    return np.mean(to_kelvin(c), axis=-1)\n"), rf"source/{CHAPTER}/notes\.py, line 2: it contains code from the reference of mean_kelvin"),
    "solution in a text cell": (source(0, "Temperatures", "```\nnp.mean(to_kelvin(celsius), axis=-1)\n```\nTemperatures"), r"cell 1 \(counting all cells\), line 4: it contains code from the reference of mean_kelvin"),
    "wrong example in a text cell": (source(0, "Temperatures", "`to_kelvin(10.0)` is 200.0. Temperatures"), r"cell 1 \(counting all cells\), line 3: it says that to_kelvin\(10\.0\) is 200\.0, but the reference returns 283\.15"),
    "wrong example in a title": (text(CHECKS, '"""water freezes"""', '"""to_kelvin(0.0) is 200.0"""'), r"test_freezing: it says that to_kelvin\(0\.0\) is 200\.0"),
    "wrong example in code": (source("to_kelvin", "to_kelvin(0.0) is 273.15", "`to_kelvin(0.0)` # 200.0"), r"the docstring says that to_kelvin\(0\.0\) is 200\.0"),
    "wrong example for a value": (source("to_kelvin", "to_kelvin(0.0) is 273.15", "For [0.0] it returns [200.0]"), r"the docstring says that to_kelvin\(\[0\.0\]\) is \[200\.0\]"),
    "quiz answer in a hint": (text(CHECKS, '"quiz_ch1_units", points=1,', '"quiz_ch1_units", points=1, hints=("q1 is b.",),'), r"hint 1 of quiz_ch1_units reveals the correct answer to q1\."),
    "quiz answer in a text cell": (source(8, "## Quiz", '## Quiz (`q1 = "b"`)'), r"cell 9 \(counting all cells\): it reveals the correct answer to q1\."),
    "points that are a list": (mark("check_to_kelvin", points=[2]), r"cell check_to_kelvin: it has no points"),
    "hints that are one text": (text(CHECKS, '"quiz_ch1_units", points=1,', '"quiz_ch1_units", points=1, hints="Think.",'), rf"{CHECKS}, line \d+: TestQuiz has hints='Think\.'\. A single string would be read as a list of its letters"),
    "depends_on that is one text": (text(CHECKS, 'depends_on=("to_kelvin",)', 'depends_on="to_kelvin"'), r"TestMeanKelvin has depends_on='to_kelvin'\. A single string would be read as a list of its letters"),
    "unseeded generator": (text(CHECKS, "x = np.array([0.0])", "x = np.random.default_rng().normal(size=3)"), rf"{CHECKS}, line \d+: np\.random\.default_rng\(\) has no seed"),
    "unseeded draw": (text(CHECKS, "x = np.array([0.0])", "x = np.random.rand(3)"), rf"{CHECKS}, line \d+: np\.random\.rand\(…\) has no seed"),
    "unseeded at the top": (text(CHECKS, '@exercise("to_kelvin"', 'SOME = np.random.normal(size=3)\n\n\n@exercise("to_kelvin"'), rf"{CHECKS}, line \d+: np\.random\.normal\(…\) has no seed"),
    "seeded in its place": (text(CHECKS, "x = np.array([0.0])", "np.random.seed(3)\n        x = np.random.rand(3)"), None),
    "input from the clock": (text(CHECKS, "x = np.array([0.0])", "x = np.array([float(__import__('time').perf_counter())])"), r"TestToKelvin\.test_freezing: its second run uses other inputs"),
    "check that asks nothing": (text(CHECKS, "agrees.mean_kelvin(x)", "assert x.ndim"), rf"{CHECKS}, line \d+, TestMeanKelvin\.test_many_stations: it checks nothing: it calls no function of the student and reads no variable, so everybody passes it"),
    "purity that asks nothing": (both(text(CHECKS, FREEZING, PROBED), text(CHECKS, FREEZING.partition("\n")[2].strip(), PROBED)), rf"{CHECKS}, line \d+, TestToKelvin\.test_care: it checks nothing: .* none of them passes arguments to to_kelvin itself\. Add a check that calls student\.to_kelvin\(…\)"),
    "visible check that needs a module": (both(lambda root: (root / "tests/chapters/offsets.py").write_text("OFFSET = 273.15\n"), text(CHECKS, "import numpy as np\n", "import numpy as np\nfrom offsets import OFFSET\n\nfrom autograder.checking import CheckFailed\n"), text(CHECKS, FIXTURES, FIXTURES.replace(", reference", "")), text(CHECKS, FREEZING, WITH_OFFSET)), r"test_freezing is visible and raises CheckFailed, so a notebook runs it\. It may not run `from offsets import OFFSET`, because students do not have this module\."),
    "visible check that needs a helper": (both(text(CHECKS, "import numpy as np\n", "import numpy as np\n\nfrom autograder.checking import CheckFailed, floats\n"), text(CHECKS, FIXTURES, FIXTURES.replace(", reference", "")), text(CHECKS, FREEZING, WITH_FLOATS)), r"test_freezing is visible .* It may not run `from autograder\.checking import floats`, because students do not have this helper\."),
    "visible example that fails": (text(CHECKS, FREEZING, 'assert student.to_kelvin(0.0) == 273, "0 °C is 273 K"'), rf"{CHECKS}, line \d+, TestToKelvin\.test_freezing: the reference fails it: 0 °C is 273 K"),
    "misspelt function in a check": (text(CHECKS, "agrees.mean_kelvin(x)", "agrees.mean_kelvim(x)"), r"TestMeanKelvin\.test_many_stations: it cannot run on the reference\. .*no 'mean_kelvim'"),
    "misspelt fixture": (text(CHECKS, "def test_freezing(self, student", "def test_freezing(self, studnet"), r"requests the fixture 'studnet', which grading does not provide"),
    "reference that does not finish": (both(setting("c.Course.call_seconds = 0.2"), text(SOLUTIONS, "return celsius + 273.15", "while True:\n        pass")), rf"{SOLUTIONS}, line 6: to_kelvin does not finish: it was stopped after 0\.2 s \(c\.Course\.call_seconds\), when {CHECKS}, line \d+, TestToKelvin\.test_freezing ran the exercise to_kelvin"),
    "reference that prints megabytes": (text(SOLUTIONS, "return celsius + 273.15", 'print("x" * 3_000_000)\n    return celsius + 273.15'), r"to_kelvin prints [\d,]+ characters while test_freezing runs it"),
    "reference that asks a person": (text(SOLUTIONS, "return celsius + 273.15", "input()\n    return celsius + 273.15"), r"test_freezing: the reference fails it: to_kelvin stopped with EOFError: .* the line `input\(\)`"),
    "reference that is missing": (text(SOLUTIONS, "def to_kelvin", "def to_kelvim"), r"checks 'to_kelvin', but solutions/ch1_units\.py has no function or class with that name"),
    "data file that is not there": (source(7, "readings =", 'weather = np.loadtxt("weather.txt")\nreadings ='), rf"code cell 6, line 1: it reads weather\.txt, but the release will not contain it: there is no such file in source/{CHAPTER}"),
    "data file outside the chapter": (both(source(7, "readings =", 'weather = open("../weather.txt").read()\nreadings ='), lambda root: (root / "source" / "weather.txt").write_text("1")), rf"code cell 6, line 1: it reads \.\./weather\.txt, which is outside source/{CHAPTER}\. The release contains only the files next to the notebook\. Put the file there, and read 'weather\.txt'"),
    "data file of one machine": (source(7, "readings =", 'weather = open("/data/weather.txt").read()\nreadings ='), r"code cell 6, line 1: it reads /data/weather\.txt, a path on your machine that students do not have"),
    "data file that a cell makes": (source(7, "readings =", 'np.savetxt("w.txt", [1.0])\nweather = np.loadtxt("w.txt")\nreadings ='), None),
    "chapter before that the course lacks": (book(lambda _c, d: d["metadata"].update(autograder={"needs": ["ch0"]})), r'"needs" names ch0, but it may name only earlier chapters in c\.Course\.chapters'),
    "exercise in two chapters": (second_chapter, None),
    "chapter listed twice": (setting('c.Course.chapters = ["ch1_units", "ch1_units"]'), r"course_config\.py: ch1_units occurs twice in c\.Course\.chapters"),
    "another chapter's metadata": (book(lambda _c, d: d["metadata"].update(autograder={"chapter": "ch9"})), rf"{NOTEBOOK}: its metadata says that it is the notebook of ch9"),
    "empty check class": (end(CHECKS, '\n\n@exercise("mean_kelvin2", points=0)\nclass TestNothing:\n    pass\n'), r"mean_kelvin2"),
    "check class without checks": (both(end(CHECKS, '\n\n@exercise("warm", points=0)\nclass TestWarm:\n    pass\n'), end(SOLUTIONS, "\n\ndef warm(x):\n    return x\n")), rf"{CHECKS}, line \d+: the class of warm has no checks"),
    "two classes of one exercise": (end(CHECKS, '\n\n@exercise("to_kelvin", points=1)\nclass TestAgain:\n    @check(points=1)\n    def test_it(self, agrees):\n        """it"""\n        agrees.to_kelvin(1.0)\n'), r"a second class has checks of to_kelvin. The checks of the class in line \d+"),
    "two checks of one name": (text(CHECKS, "def test_hidden_marker_5519", "def test_freezing"), r"TestToKelvin has a second check called test_freezing. It replaces the check in line \d+\."),
    "two classes of one name": (text(CHECKS, "class TestMeanKelvin", "class TestToKelvin"), r"there is a second class called TestToKelvin. It replaces the class in line \d+\."),
    "class without @exercise": (end(CHECKS, '\n\nclass TestMore:\n    @check(points=1)\n    def test_it(self, agrees):\n        """it"""\n        agrees.to_kelvin(1.0)\n'), r"TestMore has checks but is not marked with @exercise"),
    "check in no class": (end(CHECKS, '\n\ndef test_it(agrees):\n    """it"""\n    agrees.to_kelvin(1.0)\n'), r"test_it is not in a class, so grading does not run it"),
    "check with another name": (text(CHECKS, "def test_q1_is_answered", "def q1_is_answered"), r"q1_is_answered"),
    "leans on what is not there": (text(CHECKS, 'depends_on=("to_kelvin",)', 'depends_on=("to_kelvim",)'), rf"{CHECKS}, line \d+: mean_kelvin depends on 'to_kelvim', which is not an earlier exercise of this chapter\. Earlier exercises: to_kelvin\. Did you mean to_kelvin\?"),
    "a second notebook with graded cells": (second_notebook, rf"source/{CHAPTER}/more\.ipynb: it has graded cells \(check_to_kelvin, .*\), but in a chapter only {CHAPTER}\.ipynb is graded\. Move them there"),
    "a second notebook to read": (beside("notes.ipynb", '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "markdown", "metadata": {}, "source": "x"}]}'), ""),
    "a second notebook that is broken": (beside("notes.ipynb", "{"), r"notes\.ipynb: it is next to the chapter's notebook but cannot be read: "),
    "data files too large": (too_large, r"the files next to the notebook take 65 MiB\. The limit is 64 MiB, .*\. The largest is all\.npz with 65 MiB"),
    "misconception of nothing": (text(WRONG, 'misconceptions_of("mean_kelvin")', 'misconceptions_of("mean_kelvim")'), r"mean_of_everything is about 'mean_kelvim', which is not a function"),
    "alternative of nothing": (text(RIGHT, 'alternatives_of("mean_kelvin")', 'alternatives_of("mean_kelvim")'), rf"{RIGHT}, line \d+: shift_after_the_mean is a solution of 'mean_kelvim', which is not an exercise of this chapter\. Did you mean mean_kelvin\?"),
    "notebook that is no JSON": (text(NOTEBOOK, '"cells"', "<<<<<<<"), r"The chapter's own notebook .* cannot be used: ch1_units\.ipynb is not a valid notebook \(JSON error in line \d+"),
    "no source folder": (lambda root: (root / "source").rename(root / "sauce"), rf"there is no folder source/{CHAPTER}"),
    "notebook with another name": (lambda root: (root / NOTEBOOK).rename(root / NOTEBOOK.replace("units.ipynb", "unit.ipynb")), r"There is no notebook source/ch1_units/ch1_units\.ipynb\. There is ch1_unit\.ipynb\. Rename it if it is the chapter's notebook\."),
    "no check file": (lambda root: (root / CHECKS).unlink(), rf"there is no {CHECKS}"),
    "check file that is no Python": (text(CHECKS, "class TestQuiz:", "class TestQuiz"), rf"The checks in {CHECKS} cannot be run: line \d+: SyntaxError"),
    "solutions that are no Python": (text(SOLUTIONS, "def to_kelvin(celsius):", "def to_kelvin(celsius)"), rf"{SOLUTIONS} cannot be imported: line \d+: SyntaxError"),
    "check without a title": (text(CHECKS, '        """water freezes"""\n', ""), r"has no docstring. Write one"),
    "waits for what is not there": (text(CHECKS, 'after="test_freezing"', 'after="test_frezing"'), r"has after='test_frezing', which is not an earlier check"),
}  # fmt: skip
IN_THE_JAIL = {
    "stub that holds a solution": (source("to_kelvin", "raise NotImplementedError", "return celsius + 273.15"), r"^\S+, cell to_kelvin: to_kelvin: the released stub contains a solution and passes all its checks"),
    "cell that fails": (source(7, "readings =", "\nreadings = nothing +"), r"code cell 6, line 2: with the reference solutions in place, it fails\. NameError: name 'nothing' is not defined"),
    "cell that never ends": (both(setting("c.Course.cell_seconds = 0.5"), source(7, "readings =", "while True:\n    pass\nreadings =")), r"code cell 6: with the reference solutions in place, it ran out of time \(0\.5 s\)"),
    "figure that is not drawn": (book(lambda c, _d: (c[7].update(source="try:\n    import matplotlib.pyplot as plt\n    plt.plot(to_kelvin('x'))\nexcept Exception:\n    print('Nothing to see.')"), c[7]["metadata"].update(tags=["picture"]))), r"code cell 6: it is tagged picture, but it draws nothing with the reference solutions in place\. Its output begins with “Nothing to see\.”"),
    "picture that waits for a prediction": (book(lambda c, _d: (c[7].update(source="import matplotlib.pyplot as plt\nfrom autograder import requires\nguess = None  # a number\n@requires('to_kelvin', prediction='guess')\ndef picture():\n    plt.plot([0, 1])\n    return to_kelvin(0)"), c[7]["metadata"].update(tags=["picture"]))), None),
    "cell that is meant to fail": (book(lambda c, _d: (c[7].update(source="1 / 0"), c[7]["metadata"].update(tags=["raises-exception"]))), None),
    "stub that cannot be run": (source("to_kelvin", "(celsius):", "(celsius) -> xarray.DataArray:"), r"cell to_kelvin, line 1: in the released notebook, it fails\. NameError: name 'xarray' is not defined"),
    "reference that needs what students lack": (text(SOLUTIONS, "return celsius + 273.15", "import hypothesis\n    return celsius + 273.15"), r"graded in the sandbox like a student's solution, the reference of to_kelvin earns 0 of 2 points"),
    "reference that remembers": (text(SOLUTIONS, "return celsius + 273.15", "celsius = np.asarray(celsius)\n    celsius += 273.15\n    return celsius"), r"TestToKelvin\.test_care: the reference fails it: to_kelvin changes its input"),
    "reference that is no def": (text(SOLUTIONS, "def to_kelvin(celsius):\n    return celsius + 273.15", "to_kelvin = lambda celsius: celsius + 273.15"), r"to_kelvin cannot be put into the notebook"),
    "syntax error that is meant to fail": (book(lambda c, _d: (c[7].update(source="if x = 1:"), c[7]["metadata"].update(tags=["raises-exception"]))), None),
    "data file that is there": (both(source(7, "readings =", 'weather = np.loadtxt("weather.txt")\nreadings ='), beside("weather.txt", "1 2")), None),
    "module beside the notebook": (both(source(7, "readings =", "from helpers import x\nreadings = x +"), beside("helpers.py", "x = 1")), None),
}  # fmt: skip


def told(mistakes):
    """Return the mistakes as they are printed."""
    return "\n".join(map(str, mistakes))


def found_in(tmp_path, mistake, look):
    """Return the report on a course with ``mistake``, after checking that it contains neither a temporary path nor a traceback."""
    course = copy_course(tmp_path / "mini")
    mistake(course.root)
    course = load_course(course.root)
    said = told(look(inspect_chapter(course, CHAPTER)))
    assert str(tmp_path) not in said
    assert "Traceback" not in said
    return said


@pytest.mark.parametrize("case", CASES)
def test_every_mistake_has_its_sentence(tmp_path, case):
    """Each mistake is reported with its location. Code without a mistake is accepted."""
    mistake, expected = CASES[case]
    said = found_in(tmp_path, mistake, lambda inspection: inspection.mistakes)
    assert re.search(expected, said) if expected else said == ""


@pytest.mark.parametrize("case", IN_THE_JAIL)
def test_what_shows_only_where_the_notebook_is_played(tmp_path, case):
    """If a mistake appears only when the notebook runs, it is found by grading the solved and the blank notebook."""
    mistake, expected = IN_THE_JAIL[case]
    said = found_in(tmp_path, mistake, lambda inspection: inspection.with_trial_run())
    assert re.search(expected, said) if expected else said == ""


def test_the_small_course_has_no_mistake(course):
    """A sound chapter has no mistakes, neither when inspected nor when run."""
    assert inspect_chapter(course, CHAPTER).with_trial_run() == ()


def test_the_command_tells_all_mistakes_at_once(course):
    """The command counts and lists all mistakes, with status 1 and no traceback. nbgrader is not run, and nothing is recorded."""
    for case in ("points that differ", "not locked", "unlisted package", "another docstring"):
        CASES[case][0](course.root)
    done = python("-m", "autograder", "release", CHAPTER, cwd=course.root, status=1)
    assert f"{CHAPTER} was not released. There are 4 problems:\n  - " in done.stderr
    for case in ("points that differ", "not locked", "unlisted package", "another docstring"):
        assert re.search(CASES[case][1], done.stderr)
    assert "Traceback" not in done.stderr
    assert not (course.root / "release").exists()
    assert not (course.root / "gradebook.db").exists()
    audit = python("-m", "autograder", "audit", CHAPTER, "--json", cwd=course.root, status=1)
    [report] = json.loads(audit.stdout)
    assert len(report["mistakes"]) == 4
    assert set(report["mistakes"]) <= set(report["problems"])


def test_no_mistake_is_waited_for(tmp_path):
    """A reference that never returns does not hang release or audit. Both commands name the function."""
    course = copy_course(tmp_path / "mini", config="\nc.Course.call_seconds = 0.2\n")
    change(course.root / SOLUTIONS, "return celsius + 273.15", "while True:\n        pass")
    for verb in ("release", "audit"):
        done = python("-m", "autograder", verb, CHAPTER, cwd=course.root, status=1)
        assert "to_kelvin does not finish" in done.stdout + done.stderr
        assert "Traceback" not in done.stderr


def test_a_draft_goes_out_with_targets_unmet_and_says_so(course):
    """The output, the audit page and the notebook's metadata say that the chapter is a draft. The notebook's text does not."""
    setting("c.Course.targets = {'by_heart': 0.0}")(course.root)
    course = load_course(course.root)
    with pytest.raises(ReleaseError, match="always returns one visible result earns"):
        release(course, [CHAPTER])
    said = []
    release(course, [CHAPTER], draft=True, say=said.append)
    assert "this is a draft. Missed targets:" in said[-1]
    assert "always returns one visible result earns" in said[-1]
    page = course.root / ".autograder" / "audit" / f"{CHAPTER}.html"
    assert "released as a draft" in page.read_text()
    assert str(page) in said[-1]
    text = (course.root / "release" / CHAPTER / f"{CHAPTER}.ipynb").read_text()
    assert json.loads(text)["metadata"]["autograder"]["draft"] is True
    assert "every question" not in text


def test_no_draft_goes_out_with_wrong_marks(course):
    """A draft is not released if a wrong solution keeps full marks."""
    change(course.root / WRONG, "return celsius - mis", "return celsius + mis")
    with pytest.raises(ReleaseError, match="wrong_sign keeps full marks"):
        release(course, [CHAPTER], draft=True)
    assert not (course.root / "release").exists()


@pytest.mark.parametrize(
    ("targets", "told"),
    [
        ({"hiden": 0.9}, "but it has the key 'hiden'"),
        ({"hidden": 99}, "shares from 0 to 1, but 'hidden' has the value 99"),
        ({"hidden": "all"}, "'hidden' has the value 'all'"),
    ],
)
def test_a_target_that_is_none_is_refused(tmp_path, targets, told):
    """Misspelled and invalid targets are rejected. Omitted targets keep their defaults."""
    with pytest.raises(CourseError, match=re.escape(told)):
        copy_course(tmp_path / "mini", config=f"\nc.Course.targets = {targets}\n")
    assert copy_course(tmp_path / "other", config="\nc.Course.targets = {'visible': 0.5}\n").targets == {
        **TARGETS,
        "visible": 0.5,
    }


def test_what_a_course_asks_of_each_exercise_is_said_and_a_draft_may_lack_it(tmp_path):
    """By default, a course needs no misconceptions, alternatives or hints, and no files for them. A quiz never needs alternatives."""
    course = copy_course(tmp_path / "mini")
    for path in (WRONG, RIGHT):
        (course.root / path).unlink()
    assert validate(course, CHAPTER, mutants=False).refused == ""
    asked = {"misconceptions": 1, "alternatives": 1, "hints": 4}
    course = copy_course(tmp_path / "other", config=f"c.Course.at_least = {asked}\n")
    assert validate(course, CHAPTER, mutants=False).refused.splitlines() == [
        "to_kelvin: it has 0 alternatives, but c.Course.at_least requires 1.",
        "to_kelvin: it has 3 hints, but c.Course.at_least requires 4.",
        "mean_kelvin: it has 3 hints, but c.Course.at_least requires 4.",
        "quiz_ch1_units: it has 0 hints, but c.Course.at_least requires 4.",
    ]
    draft = validate(course, CHAPTER, mutants=False, draft=True)
    assert (draft.refused, draft.draft, len(draft.missed_targets)) == ("", True, 4)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("{'hint': 1}", "but it has the key 'hint'"),
        ("{'hints': -1}", "'hints' has the value -1"),
        ("{'hints': 1.5}", "has the value 1.5"),
    ],
)
def test_a_number_of_hints_that_cannot_be_is_refused(tmp_path, asked, told):
    """An invalid number of hints is rejected, like an invalid target."""
    with pytest.raises(CourseError, match=re.escape(told)):
        copy_course(tmp_path / "mini", config=f"\nc.Course.at_least = {asked}\n")


@pytest.mark.parametrize("path", [SOLUTIONS, CHECKS])
def test_a_module_that_never_ends_is_given_up(course, monkeypatch, path):
    """An endless import is stopped after the time limit and reported."""
    monkeypatch.setattr("autograder.authoring.release.dry_run._MODULE_SECONDS", 0.5)
    change(course.root / path, "import numpy as np\n", "import numpy as np\nwhile True:\n    pass\n")
    [mistake] = [str(m) for m in inspect_chapter(course, CHAPTER).mistakes]
    assert "does not finish: it was stopped after 0.5 s" in mistake
    assert path in mistake

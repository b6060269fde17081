"""Test the recipes for authors: each can be released, and a right, a blank and a wrong notebook get the expected marks."""

import json
import re

import pytest

from autograder.authoring.release.inspection import inspect_chapter
from autograder.authoring.simulate import solved_notebook, write_notebook
from autograder.grading.batch import grade_notebooks
from autograder.grading.submission import Job
from autograder.judging.functions import FunctionSubject
from autograder.judging.loader import load_checks
from autograder.student.examples import parse_examples, replay
from autograder.student.examples.record import recorded
from tests.support import ROOT
from tests.support.chapters import course_of

PAGE = (ROOT / "docs" / "author-recipes.md").read_text(encoding="utf-8")
SNIPPETS = dict(re.findall(r"^```python\n# ([^\n]*)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))
PACKAGES = {"table": "pandas", "plot": "matplotlib", "model": "sklearn"}
FILES = {
    "file": {
        "source/recipe_file/poem.txt": "a short line\na much longer line\n",
        "tests/chapters/recipe_file/storm.txt": "the wind\nthe wind and the rain\nthe sea\n",
    }
}
WRONG = {
    "table": "def totals(sales):\n    return sales.groupby('shop', as_index=False)['amount'].mean()",
    "class": "class Account:\n    def __init__(self, owner, balance=0):\n        self.owner, self.balance = owner, balance\n\n    def withdraw(self, amount):\n        self.balance -= amount\n        return self.balance",
    "file": "def longest_line(path):\n    return 'a much longer line'",
    "graph": "def find_path(graph, start, end):\n    return [start, end]",
    "plot": "import matplotlib.pyplot as plt\n\ndef draw_growth(years, heights):\n    plt.plot(years, heights)",
    "model": "def predict(X, labels, X_new, seed):\n    return np.zeros(len(X_new), int)",
    "function": "def repeated(f, n, x):\n    return f(f(f(x)))",
    "database": "def titles_since(c, year):\n    return [t for (t,) in c.execute('SELECT title FROM book WHERE year > ? ORDER BY title', (year,))]",
    "tests": "def test_leap_year(is_leap_year):\n    assert is_leap_year(2024)\n    assert not is_leap_year(1900)",
    "simulation": "def rolls_until_six(rng):\n    return int(rng.integers(1, 7))",
}  # fmt: skip
RECIPES = sorted(
    path.removeprefix("solutions/recipe_").removesuffix(".py") for path in SNIPPETS if "solutions/" in path
)


def test_every_recipe_is_short_and_has_a_wrong_answer():
    """There are ten recipes. Each has at most 40 lines of code, and a wrong answer in this file."""
    assert set(RECIPES) == set(WRONG)
    assert len(RECIPES) == 10
    for name in RECIPES:
        texts = [text for path, text in SNIPPETS.items() if f"recipe_{name}.py" in path]
        assert sum(bool(line.strip()) for text in texts for line in text.splitlines()) <= 40, name


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_gives_the_right_marks(tmp_path, monkeypatch, name):
    """Each recipe can be released. Its reference gets full marks, a blank notebook gets no marks, and a wrong answer loses some."""
    monkeypatch.setenv("AUTOGRADER_COURSE_SECRET", "s" * 32)
    chapter = f"recipe_{name}"
    files = {path: text for path, text in SNIPPETS.items() if f"{chapter}.py" in path} | FILES.get(name, {})
    imports = "\n".join(re.findall(r"^(?:import|from) .*$", files[f"solutions/{chapter}.py"], re.MULTILINE))
    imports += "\nimport numpy as np" + "\n# poem.txt" * (name == "file")
    packages = ("numpy", *({PACKAGES[name]} if name in PACKAGES else ()))
    course = course_of(tmp_path, chapter, files, imports=imports, packages=packages)
    assert inspect_chapter(course, chapter).with_trial_run() == ()
    checks = load_checks(course, chapter)
    examples = parse_examples(json.loads(json.dumps(recorded(checks)))).exercises
    monkeypatch.chdir(course.source(chapter).parent)
    at_home = replay(examples, FunctionSubject("notebook", checks.references))
    assert [check.message for verdict in at_home for check in verdict.checks if check.status != "passed"] == []
    wrong = next(iter(checks.specs))
    paths = []
    references = {exercise: checks.references[exercise] for exercise in checks.specs}
    for title, code in {"right": references, "blank": {}, "wrong": {wrong: WRONG[name]}}.items():
        paths.append(write_notebook(tmp_path / f"{title}.ipynb", solved_notebook(course, chapter, code)))
    right, blank, lossy = grade_notebooks(course, [Job(path, chapter=chapter) for path in paths])
    assert (right.score, blank.score) == (right.max_score, 0)
    [found] = [exercise for exercise in lossy.exercises if exercise.name == wrong]
    assert found.score < found.max_score
    assert found.status in {"failed", "partial"}


TOTAL = 'def running_total(x):\n    """Return the sums of the first 1, 2, … entries of `x` (n,)."""\n    return np.cumsum(x)\n'
HEAD = """import numpy as np
from autograder.checking import Contract, all_categories, array, check, exercise

{ask}

@exercise("running_total", points=2, takes=Contract({{"x": array("n", low=-9, high=9)}}))
class TestRunningTotal:
    @check(points=1, visible=True)
    def test_small(self, agrees):
        \"\"\"three numbers\"\"\"
        agrees.running_total(np.array([1.0, 2.0, 4.0]))

    {every_kind}
"""


def test_calls_of_your_own_are_made_as_the_page_says(tmp_path):
    """The page's function for `ask=` makes calls that the reference passes."""
    page = (ROOT / "docs" / "author-checks.md").read_text(encoding="utf-8")
    ask, every_kind = re.search(
        r"```python\n(def in_halves.*?)\n\n(test_every_kind[^\n]*)\n```", page, re.DOTALL
    ).groups()
    files = {
        "solutions/recipe_ask.py": f"import numpy as np\n\n{TOTAL}",
        "tests/chapters/test_recipe_ask.py": HEAD.format(ask=ask, every_kind=every_kind),
    }
    course = course_of(tmp_path, "recipe_ask", files, imports="import numpy as np")
    assert inspect_chapter(course, "recipe_ask").mistakes == ()
    calls = load_checks(course, "recipe_ask").plan("running_total")
    assert len(calls) > 10

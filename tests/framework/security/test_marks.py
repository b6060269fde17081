"""Test marks that were once wrong: wrong code that passed a check, and honest code that earned nothing.

Each piece of code is judged in both sandboxes, with a right solution before and after it.
"""

from __future__ import annotations

import shutil
from contextlib import closing

import pytest

from autograder.authoring.simulate import cell_source, solved_notebook, write_notebook
from autograder.base.attempt import is_attempted
from autograder.course.course import load_course
from autograder.grading.grader import grade_serially
from autograder.grading.submission import Job
from autograder.grading.task import GradingOptions, Task
from autograder.judging.judge import Judge
from autograder.judging.loader import load_checks
from autograder.sandbox import open_worker
from autograder.sandbox.protocol import Call, CodeCell, Limits
from tests.framework.security.hostile_objects import Handed
from tests.support import ROOT
from tests.support.mini import CHAPTER, copy_course

LIMITS = Limits(call_seconds=5.0, cell_seconds=2.0, submission_seconds=60.0, memory_mb=512)
RIGHT = {
    "squares": "def squares(n):\n    return [i * i for i in range(n)]\n",
    "naturals": "def naturals():\n    n = 0\n    while True:\n        yield n\n        n += 1\n",
    "countdown": "def countdown(n):\n    while n:\n        n -= 1\n        yield n\n",
    "parts": "def parts(n):\n    return n, (i for i in range(n))\n",
    "Bag": "class Bag:\n    def __init__(self, n): self.n = n\n    def all(self): return (i for i in range(self.n))\n",
    "root": (
        "def root(numbers):\n    if min(numbers) < 0:\n        raise ValueError\n    return [n ** 0.5 for n in numbers]\n"
    ),
    "total": "def total(numbers):\n    return sum(numbers)\n",
    "drained": "def drained(items):\n    yield from items\n",
    "first_again": (
        "def first_again(words):\n    met = set()\n    for word in words:\n        if word in met:\n            return word\n"
        "        met.add(word)\n"
    ),
}
CHECKS = '''
from autograder.checking import check, exercise, pure

TOTAL = """
def probe(function, text):
    numbers = [int(part) for part in text.split()]
    return {"total": function(numbers)}
"""
WITH_NUMBERS = """
def probe(function, numbers):
    return {"total": function(list(numbers))}
"""


@exercise("squares", points=2)
class TestSquares:
    @check(points=1)
    def test_many(self, agrees):
        """gives five thousand squares"""
        agrees.squares(5000)

    @check(points=1)
    def test_a_list(self, agrees):
        """gives a list"""
        agrees(exact_type=True).squares(3)


@exercise("naturals", points=1)
class TestNaturals:
    @check(points=1)
    def test_endless(self, agrees):
        """never ends"""
        agrees.naturals()


@exercise("countdown", points=1)
class TestCountdown:
    @check(points=1)
    def test_many(self, agrees):
        """counts five thousand steps down"""
        agrees.countdown(5000)


@exercise("parts", points=1)
class TestParts:
    @check(points=1)
    def test_many(self, agrees):
        """gives a number and an iterator"""
        agrees.parts(3000)


@exercise("Bag", points=1)
class TestBag:
    @check(points=1)
    def test_many(self, agrees):
        """gives what is in it"""
        agrees.Bag(3000).all()


@exercise("root", points=2)
class TestRoot:
    @check(points=1)
    def test_root(self, student, agrees):
        """has no root of a negative number"""
        assert student.probe(WITH_NUMBERS, "root", [4.0])["total"] == [2.0]
        agrees.raises(ValueError).root([-1.0])

    test_care = pure(points=1)


@exercise("total", points=2)
class TestTotal:
    @check(points=1)
    def test_total(self, student):
        """adds the numbers"""
        assert student.probe(WITH_NUMBERS, "total", [3, 1, 2])["total"] == 6

    test_care = pure(points=1)


@exercise("drained", points=2)
class TestDrained:
    @check(points=1)
    def test_items(self, agrees):
        """gives the items"""
        agrees.drained([3, 1, 2])

    test_care = pure(points=1)


@exercise("first_again", points=1)
class TestFirstAgain:
    @check(points=1)
    def test_growth(self, agrees):
        """is quick for many words"""
        agrees.within(larger=[[f" w{i} " for i in range(2400)]]).first_again([f" w{i} " for i in range(600)])
'''


@pytest.fixture(scope="module", params=["bubblewrap", "landlock"])
def worker(request):
    """A worker that runs all submissions one after another, as in a class."""
    with open_worker(LIMITS, ["numpy"], confinement=request.param) as made:
        yield made


@pytest.fixture(scope="module")
def judge(tmp_path_factory):
    """A judge of the exercises above."""
    files = {
        f"solutions/{CHAPTER}.py": "\n\n".join(RIGHT.values()),
        f"tests/chapters/test_{CHAPTER}.py": CHECKS,
        f"solutions/misconceptions/{CHAPTER}.py": "",
        f"solutions/alternatives/{CHAPTER}.py": "",
    }
    course = copy_course(tmp_path_factory.mktemp("marks") / "course", files=files)
    return Judge(load_checks(course, CHAPTER))


@pytest.fixture
def mark(worker, judge):
    """Return the verdict on the source of one exercise, submitted between two right solutions."""

    def run(name, source):
        sources = {"before": RIGHT[name], "own": source, "after": RIGHT[name]}
        verdicts = {}
        for who, text in sources.items():
            [verdicts[who]] = judge.judge(Handed(worker, name, text), only=frozenset({name}))
        assert verdicts["before"].status == verdicts["after"].status == "passed", verdicts["after"]
        return verdicts["own"]

    return run


WRONG = {
    "a generator that is right for a thousand items": (
        "squares",
        "def squares(n):\n    return (i * i if i < 1500 else -1 for i in range(n))\n",
        "test_many",
        "At position 1501 of the generator, there is -1 instead of 2250000.",
    ),
    "a generator that ends after a thousand items": (
        "squares",
        "def squares(n):\n    return (i * i for i in range(min(n, 1000)))\n",
        "test_many",
        "1000000 is missing at its end.",
    ),
    "a generator that does not end": (
        "squares",
        "def squares(n):\n    import itertools\n    return (i * i for i in (itertools.count() if n > 9 else range(n)))\n",
        "test_many",
        "The generator has more than 100,000 items instead of 5,000: 25000000 at position 5001 should not be there.",
    ),
    "an iterator whose class is called list": (
        "squares",
        (
            "class list:\n    def __init__(self, n): self.items = iter([i * i for i in range(n)])\n    def __iter__(self): return self\n"
            "    def __next__(self): return next(self.items)\n\ndef squares(n):\n    return list(n)\n"
        ),
        "test_a_list",
        "instead of a list",
    ),
    "an endless sequence that ends": (
        "naturals",
        "def naturals():\n    return iter(range(1000))\n",
        "test_endless",
        "The range_iterator ends after 1,000 items, but the correct one continues.",
    ),
    "a long generator that is wrong at its end": (
        "countdown",
        "def countdown(n):\n    while n > 1:\n        n -= 1\n        yield n\n",
        "test_many",
        "0 is missing at its end.",
    ),
    "an iterator inside of a tuple": (
        "parts",
        "def parts(n):\n    return n, (i if i < 2000 else 0 for i in range(n))\n",
        "test_many",
        "there is 0 instead of 2000",
    ),
    "a generator that a method returns": (
        "Bag",
        "class Bag:\n    def __init__(self, n): self.n = n\n    def all(self): return (i % 2000 for i in range(self.n))\n",
        "test_many",
        "there is 0 instead of 2000",
    ),
    "an error of the student's own that is called ValueError": (
        "root",
        (
            "class ValueError(Exception): pass\n\ndef root(numbers):\n    if min(numbers) < 0:\n        raise ValueError('negative')\n"
            "    return [n ** 0.5 for n in numbers]\n"
        ),
        "test_root",
        "Here Python's own ValueError is expected, but this is another class with the same name.",
    ),
    "a function that empties its list unless it ends in an error": (
        "root",
        (
            "def root(numbers):\n    if min(numbers) < 0:\n        raise ValueError\n    found = [n ** 0.5 for n in numbers]\n"
            "    numbers.clear()\n    return found\n"
        ),
        "test_care",
        "root changes its input `numbers`",
    ),
    "a function that empties its list, of which only a probe asks": (
        "total",
        "def total(numbers):\n    result = sum(numbers)\n    numbers.clear()\n    return result\n",
        "test_care",
        "total changes its input `numbers`",
    ),
    "a function that remembers, of which only a probe asks": (
        "total",
        "calls = []\ndef total(numbers):\n    calls.append(1)\n    return sum(numbers) + (len(calls) > 2)\n",
        "test_care",
        "two calls with the same input had different outcomes",
    ),
    "a generator that empties its list": (
        "drained",
        "def drained(items):\n    while items:\n        yield items.pop(0)\n",
        "test_care",
        "drained changes its input `items`",
    ),
    "slow code that a count of steps does not see": (
        "first_again",
        (
            "def first_again(words):\n    met = []\n    for word in [w.strip() for w in words]:\n        if word in met:\n"
            "            return word\n        met.append(word)\n"
        ),
        "test_growth",
        "first_again(a list of 2,400 items) takes more than 10 times the processor time of first_again(a list of 600 items)",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_code_fails_the_check_that_is_about_it(mark, name):
    """The check for the mistake fails and says why, and its points are lost."""
    exercise, source, check, words = WRONG[name]
    verdict = mark(exercise, source)
    [result] = [one for one in verdict.checks if one.name == check]
    assert result.status in ("failed", "error"), verdict
    assert words in result.message
    assert verdict.score < verdict.max_score


HONEST = {
    "a generator of many items": ("squares", "def squares(n):\n    return (i * i for i in range(n))\n", ["test_many"]),
    "a range of many items": ("countdown", "def countdown(n):\n    return range(n)[::-1]\n", ["test_many"]),
    "an endless iterator of another type": (
        "naturals",
        "import itertools\n\ndef naturals():\n    return itertools.count()\n",
        [],
    ),
    "a list where an iterator is one of two parts": ("parts", "def parts(n):\n    return n, [*range(n)]\n", []),
    "a subclass of the error that is right": (
        "root",
        (
            "class ValueError(ValueError): pass\n\ndef root(numbers):\n    if min(numbers) < 0:\n        raise ValueError('negative')\n"
            "    return [n ** 0.5 for n in numbers]\n"
        ),
        [],
    ),
    "a sorted copy": (
        "first_again",
        (
            "def first_again(words):\n    words = [w.strip() for w in words]\n    return next((a for a, b in zip(sorted(words), "
            "sorted(words)[1:]) if a == b), None)\n"
        ),
        [],
    ),
    "a timer that interrupts a cell that waits": (
        "total",
        (
            "import signal, threading, time\n\nmain = threading.main_thread().ident\n"
            "threading.Timer(0.1, signal.pthread_kill, (main, signal.SIGINT)).start()\ntry:\n    time.sleep(1.5)\n"
            "except KeyboardInterrupt:\n    caught = True\n\ndef total(numbers):\n    return sum(numbers) if caught else None\n"
        ),
        [],
    ),
    "code that interrupts itself": (
        "total",
        (
            "import _thread, os, signal\n\ncaught = []\nfor interrupt in (\n    lambda: signal.raise_signal(signal.SIGINT),\n"
            "    lambda: os.kill(os.getpid(), signal.SIGINT),\n    _thread.interrupt_main,\n):\n    try:\n        interrupt()\n"
            "        for _ in range(10**6):\n            pass\n    except KeyboardInterrupt:\n        caught.append(1)\n\n"
            "def total(numbers):\n    try:\n        signal.raise_signal(signal.SIGINT)\n    except KeyboardInterrupt:\n"
            "        return sum(numbers) + len(caught) - 3\n"
        ),
        [],
    ),
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_code_keeps_its_points(mark, name):
    """Code that is right in an unusual way passes the named checks, or all checks if none is named."""
    exercise, source, checks = HONEST[name]
    verdict = mark(exercise, source)
    failed = [result.name for result in verdict.checks if result.status != "passed"]
    assert not [check for check in failed if check in (checks or failed)], verdict


def branches(space):
    """Return a statement with 161 branches, indented by ``space``."""
    return "".join(f"{space}{'elif' if n else 'if'} 0 == {n}: number = {n}\n" for n in range(161))


LATE = """
import _thread, threading

sent = []

def interrupt():
    _thread.interrupt_main()
    sent.append(1)

def later():
    threading.Timer(0.05, interrupt).start()

def has_sent():
    return bool(sent)
"""


def test_an_interrupt_between_calls_ends_nothing(worker):
    """A timer that fires while no student code runs does not end the session."""
    with closing(worker.open([CodeCell(0, "cell", LATE)])) as session:
        session.call(Call("later"))
        # If the interrupt arrives during a call, that call ends in an error.
        assert any(session.call(Call("has_sent")).value for _ in range(100_000))
        assert session.call(Call("has_sent")).value or session.call(Call("has_sent")).value
        assert session.alive


# Deeply nested code that is added to a student's class.
DEEP = {
    "a method with 161 branches": f"    def many(self):\n{branches(' ' * 8)}",
    "161 branches between the methods": branches(" " * 4),
    "a sum of 243 terms": f"    def total(self, x):\n        return {' + '.join(['x * 0'] * 243)}\n",
    "a sum of 900 terms": f"    def total(self, x):\n        return {' + '.join(['x'] * 900)}\n",
    "a chain of 150 calls": f"    def text(self):\n        return ''{'.strip()' * 150}\n",
    "lists nested more than": f"    def lists(self):\n        return {'[' * 80}{']' * 80}\n",
    "an integer of 5,000 digits": f"    def number(self):\n        return 0x{'9' * 5000}\n",
}


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The course on plain Python, whose second chapter has an exercise about a class."""
    folder = tmp_path_factory.mktemp("deep") / "course"
    shutil.copytree(ROOT / "examples" / "plain_python", folder, ignore=shutil.ignore_patterns(".autograder"))
    return load_course(folder)


@pytest.mark.parametrize("right", [True, False], ids=["right", "wrong"])
def test_code_that_nests_deeply_is_graded_like_any_other(plain, worker, tmp_path, right):
    """A class with deeply nested code is graded as usual, although recursive walks over its source fail."""
    chapter = "ch2_index"
    checks = load_checks(plain, chapter)
    own = cell_source(plain, chapter, "Index", checks.references["Index"])
    wrong = own.replace("def find(self, word", "def find_it(self, word")
    assert wrong != own
    jobs = []
    for name, methods in {"before": "", **DEEP, "after": ""}.items():
        code = f"{own if right or not methods else wrong}\n{methods}"
        document = solved_notebook(plain, chapter, {"Index": code})
        path = tmp_path / name / f"{chapter}.ipynb"
        path.parent.mkdir()
        write_notebook(path, document)
        jobs.append(Job(path, name, chapter))
    task = Task(chapter, 4.0, GradingOptions(worker.sandbox))
    for outcome in grade_serially(plain, task, jobs, worker=worker):
        honest = outcome.job.student in {"before", "after"}
        [verdict] = [e for e in outcome.verdict.exercises if e.name == "Index"]
        assert outcome.verdict.status == "graded", outcome.verdict.reason
        assert (verdict.status == "passed") == (right or honest), (outcome.job.student, verdict)
        assert honest or verdict.status != "not_attempted"


@pytest.mark.parametrize("name", [name for name, code in DEEP.items() if "def " in code])
def test_a_deep_class_is_told_apart_from_its_stub(name):
    """Deeply nested additions make a class count as attempted, even if its required method is still a stub."""
    stub = "class Index:\n    def find(self, word):\n        raise NotImplementedError\n"
    assert is_attempted("Index", stub, [stub + DEEP[name]], [])
    assert not is_attempted("Index", stub + DEEP[name], ["# a comment\n" + stub + DEEP[name]], [])

"""Test wrong programs that use strings, lists and dictionaries: the line of each mistake is found, and mutants are created."""

import pytest

from autograder.authoring.audit.localization_benchmark import SolutionLocator
from autograder.authoring.audit.mutants import mutants_of
from autograder.judging.loader import load_checks
from tests.support.mini import copy_course

SOLUTIONS = """
def word_counts(text):
    counts = {}
    for word in text.lower().split():
        word = word.strip(".,!")
        if word:
            counts[word] = counts.get(word, 0) + 1
    return counts

def longest(words):
    best = ""
    for word in words:
        if len(word) > len(best):
            best = word
    return best

def initials(name):
    return ".".join(part[0].upper() for part in name.split())

def shared(one, other):
    return sorted(set(one) & set(other))
"""
CHECKS = '''
from autograder.checking import check, exercise

@exercise("word_counts", points=1)
class TestWordCounts:
    @check(points=1, visible=True)
    def test_line(self, agrees):
        """a line"""
        for text in ("To be, or not to be. TO", "", "a  b\\na ! c", "rose."):
            agrees.word_counts(text)

@exercise("longest", points=1)
class TestLongest:
    @check(points=1, visible=True)
    def test_words(self, agrees):
        """words"""
        for words in (["a", "bcd", "efg", "h"], [], ["sea"], ["ab", "cde"]):
            agrees.longest(words)

@exercise("initials", points=1)
class TestInitials:
    @check(points=1, visible=True)
    def test_names(self, agrees):
        """names"""
        for name in ("ada lovelace", "grace  brewster hopper", "Plato"):
            agrees.initials(name)

@exercise("shared", points=1)
class TestShared:
    @check(points=1, visible=True)
    def test_lists(self, agrees):
        """lists"""
        for pair in ((["b", "a", "c"], ["c", "a", "a"]), ([3, 1], [2]), ([9, 8, 8], [8, 9])):
            agrees.shared(*pair)
'''
COUNTS = "def word_counts(text):\n    counts = {}\n    for word in text.lower().split():\n        word = word.strip('.,!')\n        if word:\n            counts[word] = counts.get(word, 0) + 1\n    return counts"
LONGEST = "def longest(words):\n    best = ''\n    for word in words:\n        if len(word) > len(best):\n            best = word\n    return best"
INITIALS = "def initials(name):\n    parts = name.split()\n    return '.'.join(part[0].upper() for part in parts)"
SHARED = "def shared(one, other):\n    both = set(one) & set(other)\n    return sorted(both)"
WRONG = {
    "capitals kept": (COUNTS, "text.lower().split()", "text.split()", 3),
    "one space": (COUNTS, "lower().split()", "lower().split(' ')", 3),
    "upper": (COUNTS, "lower()", "upper()", 3),
    "one end": (COUNTS, "word.strip(", "word.lstrip(", 4),
    "starts at 1": (COUNTS, "word, 0)", "word, 1)", 6),
    "empty words": (COUNTS, "if word:", "if not word:", 5),
    "counts down": (COUNTS, "0) + 1", "0) - 1", 6),
    "the last": (LONGEST, " > ", " >= ", 4),
    "the shortest": (LONGEST, " > ", " < ", 4),
    "too early": (LONGEST, "    return best", "        return best", 6),
    "separator": (INITIALS, "'.'.join", "' '.join", 3),
    "second letter": (INITIALS, "part[0]", "part[1]", 3),
    "small letters": (INITIALS, "part[0].upper()", "part[0]", 3),
    "spaces": (INITIALS, "name.split()", "name.split(' ')", 2),
    "any of the two": (SHARED, " & ", " | ", 2),
    "unsorted": (SHARED, "sorted(both)", "list(both)", 3),
    "backwards": (SHARED, "sorted(both)", "sorted(both, reverse=True)", 3),
}


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """Return the checks of a course with four functions on strings and lists, and a locator for them."""
    files = {"solutions/ch1_units.py": SOLUTIONS, "tests/chapters/test_ch1_units.py": CHECKS}
    files |= {f"solutions/{kind}/ch1_units.py": "" for kind in ("misconceptions", "alternatives")}
    checks = load_checks(copy_course(tmp_path_factory.mktemp("plain"), files=files), "ch1_units")
    return checks, SolutionLocator(checks, seconds=4.0)


@pytest.mark.parametrize("name", WRONG)
def test_the_line_of_a_mistake_is_found(plain, name):
    """The line of the mistake is among the reported lines, of which there are at most two."""
    right, old, new, line = WRONG[name]
    assert old in right
    source = right.replace(old, new)
    exercise = right[4 : right.index("(")]
    names = {}
    exec(source, names)  # noqa: S102 - our own text
    found = plain[1].locate(exercise, [(exercise, source)], names)
    assert found is not None
    assert (exercise, line) in found.places
    assert len(found.places) <= 2  # for example, `lower()` may be missing for the whole text or for each word


def test_slips_on_texts_and_dictionaries_are_mutants(plain):
    """The audit creates the mistakes that people make with strings and dictionaries."""
    labels = " ".join(
        m.label for name in ("word_counts", "initials", "shared") for m in mutants_of(plain[0].references[name], name)
    )
    for slip in (
        "text.upper()",
        "split(' ')",
        "word.lstrip(",
        "counts.get(word)",
        "''.join",
        "reverse=True",
    ):
        assert slip in labels

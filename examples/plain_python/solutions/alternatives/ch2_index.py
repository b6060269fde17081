"""Right solutions of chapter 2, written differently."""

from collections import defaultdict
from dataclasses import dataclass, field

from autograder.misconception import alternatives_of

right = alternatives_of("Index")


@right
class KeepsTheTexts:
    """Stores the set of words of each title, and looks through all titles at each search."""

    def __init__(self):
        self.words = {}

    def add(self, title, text):
        self.words[title] = self.words.get(title, set()) | set(text.lower().split())

    def find(self, word):
        return sorted(title for title, words in self.words.items() if word.lower() in words)

    def __len__(self):
        return len(set().union(*self.words.values()))

    def __contains__(self, word):
        return any(word.lower() in words for words in self.words.values())


@right.worth_reading
class IsADictionary(dict):
    """The index is itself a dictionary, so `len` works without a `__len__` method."""

    def add(self, title, text):
        for word in text.lower().split():
            self.setdefault(word, set()).add(title)

    def find(self, word):
        return sorted(self.get(word.lower(), ()))

    def __contains__(self, word):
        return super().__contains__(word.lower())


@right
@dataclass
class WithADefault:
    """A dataclass with a dictionary that makes an empty set for each new word."""

    titles: dict = field(default_factory=lambda: defaultdict(set))

    def add(self, title, text):
        for word in text.lower().split():
            self.titles[word].add(title)

    def find(self, word):
        return sorted(self.titles[word.lower()]) if word in self else []

    def __len__(self):
        return len(self.titles)

    def __contains__(self, word):
        return word.lower() in self.titles


@right
class PairsInAList:
    """Keeps pairs of a word and a title in one list."""

    __slots__ = ("pairs",)

    def __init__(self):
        self.pairs = []

    def add(self, title, text):
        self.pairs.extend((word, title) for word in text.lower().split())

    def find(self, word):
        return sorted({title for known, title in self.pairs if known == word.lower()})

    def __len__(self):
        return len({word for word, _ in self.pairs})

    def __contains__(self, word):
        return word.lower() in (known for known, _ in self.pairs)


right = alternatives_of("test_is_anagram")


@right.worth_reading
def with_a_table(is_anagram):
    """A table of pairs and answers, and one loop over it."""
    pairs = [
        ("listen", "Silent", True),
        ("aab", "baa", True),
        ("aab", "abb", False),
        ("rain", "rainy", False),
        ("rainy", "rain", False),
        ("abc", "xyz", False),
        ("a", "a", True),
    ]
    for one, other, answer in pairs:
        assert is_anagram(one, other) == answer, (one, other)


@right
def says_false(is_anagram):
    """Returns False if a result is wrong, instead of raising an error."""
    right = is_anagram("Dormitory", "dirtyroom") and is_anagram("x", "x")
    wrong = [("noon", "non"), ("non", "noon"), ("abb", "aab"), ("no", "yes"), ("ab", "cd")]
    return right is True and not any(is_anagram(*pair) for pair in wrong)


@right
def against_its_own(is_anagram):
    """Computes the answer in its own way for every pair of a few words."""
    words = ["a", "b", "ab", "BA", "aab", "abb", "abc", "cab", "xyz"]
    for one in words:
        for other in words:
            answer = sorted(one.lower()) == sorted(other.lower())
            if is_anagram(one, other) != answer:
                raise AssertionError(f"{one} and {other}: {answer} is right")

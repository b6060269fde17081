"""Wrong solutions of chapter 2, each one mistake away from the reference."""

from autograder.misconception import misconceptions_of
from solutions import ch2_index as right

wrong = misconceptions_of("Index")


@wrong
class OneDictionaryForAll(right.Index):
    """All your indexes share one dictionary, so a text that you add to one is in the others too. A dictionary in the
    class body is made only once. A dictionary made in `__init__` belongs to the new object."""

    shared = {}

    def __init__(self):
        self._titles = self.shared


@wrong
class CapitalsCount(right.Index):
    """Your index treats `The` and `the` as two words, so a reader who looks for one of them misses the other. Which
    string method makes all letters small, and which methods receive a word?"""

    def add(self, title, text):
        for word in text.split():
            self._titles.setdefault(word, set()).add(title)

    def find(self, word):
        return sorted(self._titles.get(word, set()))

    def __contains__(self, word):
        return word in self._titles


@wrong
class LooksForCapitals(right.Index):
    """You make words small when you add them, but not when you look for them. So `The` is never found, although it was
    added."""

    def find(self, word):
        return sorted(self._titles.get(word, set()))

    def __contains__(self, word):
        return word in self._titles


@wrong
class TitlesTwice(right.Index):
    """Your answer contains a title once for each time that its text contains the word. Each title should be in the
    answer once. Which type of collection contains nothing twice?"""

    def add(self, title, text):
        for word in text.lower().split():
            self._titles.setdefault(word, []).append(title)


@wrong
class LastTitleOnly(right.Index):
    """Your index keeps one title for each word, so a later text replaces the earlier ones. What can you store for a
    word so that there is room for several titles?"""

    def add(self, title, text):
        for word in text.lower().split():
            self._titles[word] = {title}


@wrong
class InTheOrderOfAdding(right.Index):
    """You return the titles in the order in which they were added. Return them in alphabetical order, so that two
    indexes of the same texts always give the same answer."""

    def add(self, title, text):
        for word in text.lower().split():
            found = self._titles.setdefault(word, [])
            if title not in found:
                found.append(title)

    def find(self, word):
        return list(self._titles.get(word.lower(), []))


@wrong
class CountsTexts(right.Index):
    """`len(index)` returns how many texts there are, or how many words were added in all. It should return the number
    of different words. How many keys does your dictionary have?"""

    def __len__(self):
        return len(set().union(*self._titles.values()))


@wrong
class AsksForAWordToBeThere(right.Index):
    """Your index raises an error for a word that is in no text. The answer should be an empty list. `d[word]` raises an
    error for a missing key: which dictionary method returns a default instead?"""

    def find(self, word):
        return sorted(self._titles[word.lower()])


@wrong
class NotesWordsThatAreLookedFor(right.Index):
    """Looking for a word changes your index: from then on, that word is counted too. A search should leave the index
    unchanged. Does `setdefault` or a `defaultdict` create an entry when you only want to look?"""

    def find(self, word):
        return sorted(self._titles.setdefault(word.lower(), set()))


@wrong
class HandsOutItsOwnList(right.Index):
    """`find` returns the list that your index keeps, so a caller who changes the answer changes the index. Return a new
    list, for example with `list(…)` or `sorted(…)`."""

    def add(self, title, text):
        for word in text.lower().split():
            found = self._titles.setdefault(word, [])
            if title not in found:
                found.append(title)

    def find(self, word):
        found = self._titles.get(word.lower(), [])
        found.sort()
        return found


wrong = misconceptions_of("test_is_anagram")


@wrong
def nothing_is_refused(is_anagram):
    """Your tests accept every function, whatever it returns. Use `assert` to check a result, and do not catch the error
    that `assert` raises."""
    is_anagram("listen", "silent")
    is_anagram("rain", "snow")


@wrong
def asks_for_yes_alone(is_anagram):
    """You try only pairs for which the answer is True, so a function that always returns True passes. Which other
    answer should you test?"""
    assert is_anagram("listen", "Silent")
    assert is_anagram("aab", "baa")
    assert is_anagram("rain", "rain")


@wrong
def no_letter_comes_twice(is_anagram):
    """None of your words contains a letter twice. So a function that only compares which letters there are passes your
    tests. Which two words have the same letters, but not equally often?"""
    assert is_anagram("listen", "Silent") is True
    assert is_anagram("rain", "rainy") is False
    assert is_anagram("rainy", "rain") is False
    assert is_anagram("abc", "xyz") is False


@wrong
def small_letters_alone(is_anagram):
    """All your words have only small letters, so a function that treats capitals differently passes your tests."""
    assert is_anagram("listen", "silent") is True
    assert is_anagram("aab", "baa") is True
    assert is_anagram("aab", "abb") is False
    assert is_anagram("rain", "rainy") is False
    assert is_anagram("rainy", "rain") is False
    assert is_anagram("abc", "xyz") is False


@wrong
def capitals_have_to_differ(is_anagram):
    """Your tests require that a capital and its small letter count as different, so they reject a correct function.
    Read again what the exercise says about capitals."""
    assert is_anagram("listen", "silent") is True
    assert is_anagram("listen", "Silent") is False
    assert is_anagram("aab", "abb") is False

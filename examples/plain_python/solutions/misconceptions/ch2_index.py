"""Wrong solutions of chapter 2, each one mistake away from the reference."""

from autograder.misconception import misconceptions_of
from solutions import ch2_index as right

wrong = misconceptions_of("Index")


@wrong
class OneDictionaryForAll(right.Index):
    """All your indexes share one dictionary: what is added to one stands in the others too. A dictionary that is made in the class
    itself is made once; one that `__init__` makes belongs to the object that is being made.
    """

    shared = {}

    def __init__(self):
        self._titles = self.shared


@wrong
class CapitalsCount(right.Index):
    """Your index takes `The` and `the` for two words: a reader who looks for one of them misses the other. Which method of strings
    makes all letters small, and at which places does a word come in?
    """

    def add(self, title, text):
        for word in text.split():
            self._titles.setdefault(word, set()).add(title)

    def find(self, word):
        return sorted(self._titles.get(word, set()))

    def __contains__(self, word):
        return word in self._titles


@wrong
class LooksForCapitals(right.Index):
    """You make the words small when they come in, and not the word that is looked for: `The` is never found, though it was added."""

    def find(self, word):
        return sorted(self._titles.get(word, set()))

    def __contains__(self, word):
        return word in self._titles


@wrong
class TitlesTwice(right.Index):
    """A title stands in your answer once for each time that the word stands in its text. The question is in which texts it stands:
    each title is an answer once. Which kind of collection holds nothing twice?
    """

    def add(self, title, text):
        for word in text.lower().split():
            self._titles.setdefault(word, []).append(title)


@wrong
class LastTitleOnly(right.Index):
    """Your index keeps one title for each word: a text that comes later takes the place of those before it. What has to stand
    under a word so that several titles have room?
    """

    def add(self, title, text):
        for word in text.lower().split():
            self._titles[word] = {title}


@wrong
class InTheOrderOfAdding(right.Index):
    """You give the titles in the order in which they were added. Alphabetical order is asked for: then two indexes of the same texts
    always answer alike.
    """

    def add(self, title, text):
        for word in text.lower().split():
            found = self._titles.setdefault(word, [])
            if title not in found:
                found.append(title)

    def find(self, word):
        return list(self._titles.get(word.lower(), []))


@wrong
class CountsTexts(right.Index):
    """`len(index)` gives how often words were added in all, or how many texts; asked is how many different words there are. How
    many keys does your dictionary have?
    """

    def __len__(self):
        return len(set().union(*self._titles.values()))


@wrong
class AsksForAWordToBeThere(right.Index):
    """Looking for a word that stands nowhere is a fair question, and its answer is an empty list. `d[word]` raises an error for a
    key that is not there; which method of dictionaries gives something else instead?
    """

    def find(self, word):
        return sorted(self._titles[word.lower()])


@wrong
class NotesWordsThatAreLookedFor(right.Index):
    """Looking for a word changes your index: a word that was only looked for is counted from then on. A question should leave
    things as they are: does `setdefault`, or a `defaultdict`, make an entry where you only want to look?
    """

    def find(self, word):
        return sorted(self._titles.setdefault(word.lower(), set()))


@wrong
class HandsOutItsOwnList(right.Index):
    """`find` hands out the very list that your index keeps: whoever changes the answer changes the index. Hand out a new list, as
    `list(…)` and `sorted(…)` make one.
    """

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
    """Your tests let every function through, whatever it answers. `assert` says what should come, and the error that it raises has to
    leave your function.
    """
    is_anagram("listen", "silent")
    is_anagram("rain", "snow")


@wrong
def asks_for_yes_alone(is_anagram):
    """You try pairs for which the answer is True, and no other: a function that always says True passes. Which answer should also come?"""
    assert is_anagram("listen", "Silent")
    assert is_anagram("aab", "baa")
    assert is_anagram("rain", "rain")


@wrong
def no_letter_comes_twice(is_anagram):
    """None of your words has a letter twice: a function that looks only at which letters there are passes your tests. Which two words have
    the same letters, and not as often?
    """
    assert is_anagram("listen", "Silent") is True
    assert is_anagram("rain", "rainy") is False
    assert is_anagram("rainy", "rain") is False
    assert is_anagram("abc", "xyz") is False


@wrong
def small_letters_alone(is_anagram):
    """All of your words have small letters: a function for which capitals make a difference passes your tests."""
    assert is_anagram("listen", "silent") is True
    assert is_anagram("aab", "baa") is True
    assert is_anagram("aab", "abb") is False
    assert is_anagram("rain", "rainy") is False
    assert is_anagram("rainy", "rain") is False
    assert is_anagram("abc", "xyz") is False


@wrong
def capitals_have_to_differ(is_anagram):
    """Your tests ask that a capital and a small letter be different ones, and so they refuse what is right: read again what was said of
    them.
    """
    assert is_anagram("listen", "silent") is True
    assert is_anagram("listen", "Silent") is False
    assert is_anagram("aab", "abb") is False

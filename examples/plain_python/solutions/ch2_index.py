"""Reference solutions of chapter 2: an index of texts, and tests that find bugs."""


class Index:
    """Remembers in which texts each word occurs.

    Words are what `split()` returns, in lowercase letters: "A b a" has the words "a" and "b".
    """

    def __init__(self):
        """A new index knows no word."""
        self._titles = {}

    def add(self, title, text):
        """Note `title` for each word of `text`."""
        for word in text.lower().split():
            self._titles.setdefault(word, set()).add(title)

    def find(self, word):
        """The titles of the texts with `word`, in capitals or not: a list in alphabetical order, empty if there are none."""
        return sorted(self._titles.get(word.lower(), set()))

    def __len__(self):
        """How many different words there are."""
        return len(self._titles)

    def __contains__(self, word):
        """Whether `word`, in capitals or not, occurs in any text."""
        return word.lower() in self._titles


def test_is_anagram(is_anagram):
    """Try `is_anagram` on pairs of words, and raise an AssertionError if an answer is wrong.

    A right `is_anagram(one, other)` returns True if both words have the same letters, each equally often, in capitals or not, and
    False if not.
    """
    assert is_anagram("listen", "Silent") is True
    assert is_anagram("aab", "baa") is True
    assert is_anagram("aab", "abb") is False
    assert is_anagram("rain", "rainy") is False
    assert is_anagram("rainy", "rain") is False
    assert is_anagram("abc", "xyz") is False
    assert is_anagram("rain", "rain") is True

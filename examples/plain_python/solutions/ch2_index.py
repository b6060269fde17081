"""Reference solutions of chapter 2: an index of texts, and tests that find bugs."""


class Index:
    """An index that remembers in which texts each word occurs.

    Words are what `split()` returns, in lowercase letters: "A b a" has the words "a" and "b".
    """

    def __init__(self):
        """Create an index without any words."""
        self._titles = {}

    def add(self, title, text):
        """Note `title` for each word of `text`."""
        for word in text.lower().split():
            self._titles.setdefault(word, set()).add(title)

    def find(self, word):
        """Return a list of the titles of the texts with `word` (in upper or lower case), in alphabetical order, or [] if there are none."""
        return sorted(self._titles.get(word.lower(), set()))

    def __len__(self):
        """Return the number of different words."""
        return len(self._titles)

    def __contains__(self, word):
        """Return whether `word` (in upper or lower case) occurs in any text."""
        return word.lower() in self._titles


def test_is_anagram(is_anagram):
    """Try `is_anagram` on pairs of words, and raise an AssertionError if an answer is wrong.

    A right `is_anagram(one, other)` returns True if both words have the same letters, each equally often, and False if not.
    It treats capitals and small letters as the same.
    """
    assert is_anagram("listen", "Silent") is True
    assert is_anagram("aab", "baa") is True
    assert is_anagram("aab", "abb") is False
    assert is_anagram("rain", "rainy") is False
    assert is_anagram("rainy", "rain") is False
    assert is_anagram("abc", "xyz") is False
    assert is_anagram("rain", "rain") is True

"""Reference solutions of chapter 1: words, their counts, and the first word that comes again."""

from autograder.checking import choice, quiz

SIGNS = ".,;:!?\"'()-"


def words(text):
    """Return the words of `text` in order, in lowercase letters, without the SIGNS around them.

    Words are separated by whitespace. A piece that consists only of SIGNS is not a word.
    Example: words("No, no - never!") is ["no", "no", "never"].
    """
    pieces = [piece.strip(SIGNS) for piece in text.lower().split()]
    return [piece for piece in pieces if piece]


def count_words(words):
    """Count how often each word occurs in the list `words`. Return a dictionary from each word to its count.

    Example: count_words(["no", "yes", "no"]) is {"no": 2, "yes": 1}.
    """
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


def first_again(words):
    """Return the first word of the list `words` that already occurred earlier in the list, or None if all words differ.

    Example: first_again(["a", "b", "b", "a"]) is "b".
    """
    met = set()
    for word in words:
        if word in met:
            return word
        met.add(word)
    return None


quiz_ch1 = quiz(
    "quiz_ch1",
    points=1,
    questions={
        "q1": choice(
            "searching in a list",
            right="c",
            wrong={
                "a": "Python knows where a list begins, but not where an item is. So it compares the items one by one.",
                "b": "Halving needs an order, but the items of a list may be in any order.",
            },
        ),
        "q2": choice(
            "searching in a set",
            right="a",
            wrong={
                "b": "A set has no order, so there is nothing to halve.",
                "c": "Python searches a list like that. For a set, it computes the word's place from the word itself.",
            },
        ),
    },
)

"""Right solutions of chapter 1, written differently."""

from collections import Counter, defaultdict

from solutions.ch1_words import SIGNS

from autograder.misconception import alternatives_of

right = alternatives_of("words")


@right
def with_a_loop(text):
    """Goes through the pieces one by one and keeps those that are left."""
    found = []
    for piece in text.split():
        word = piece.lower().strip(SIGNS)
        if word != "":
            found.append(word)
    return found


@right
def with_filter(text):
    """`filter(None, …)` keeps only the pieces that are not empty."""
    return list(filter(None, (piece.strip(SIGNS).lower() for piece in text.split())))


@right.worth_reading
def with_a_name_for_each_piece(text):
    """The walrus operator names each stripped piece, so that the code strips it once and uses it twice."""
    return [word for piece in text.lower().split() if (word := piece.strip(SIGNS))]


right = alternatives_of("count_words")


@right.worth_reading
def with_a_counter(words):
    """`Counter` is a dictionary that counts."""
    return Counter(words)


@right
def with_a_default(words):
    """A dictionary that returns 0 for a missing word."""
    counts = defaultdict(int)
    for word in words:
        counts[word] += 1
    return dict(counts)


@right
def one_count_for_each(words):
    """Counts each different word in the list: right, but slow for a long list."""
    return {word: words.count(word) for word in set(words)}


right = alternatives_of("first_again")


@right.worth_reading
def by_what_is_new(words):
    """If the set does not grow, it already contains the word."""
    met = set()
    for count, word in enumerate(words):
        met.add(word)
        if len(met) == count:
            return word
    return None


@right
def with_a_dictionary(words):
    """Counts in a dictionary, until a count is 2."""
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
        if counts[word] == 2:
            return word
    return None


@right
def with_next(words):
    """The first of the words that the set already contains. `add` returns None, so `or` continues."""
    met = set()
    return next((word for word in words if word in met or met.add(word)), None)

"""Wrong solutions of chapter 1, each one mistake away from the reference."""

from solutions.ch1_words import SIGNS

from autograder.misconception import misconceptions_of

wrong = misconceptions_of("words")


@wrong
def capitals_stay(text):
    """Your words keep their capitals, so `No` and `no` are two different words. Which string method makes all letters
    small?"""
    pieces = [piece.strip(SIGNS) for piece in text.split()]
    return [piece for piece in pieces if piece]


@wrong
def only_blanks_part_words(text):
    """You split words only at single spaces. So at the end of a line or at a tab, two words stay together. What does
    `split` do without an argument?"""
    pieces = [piece.strip(SIGNS) for piece in text.lower().split(" ")]
    return [piece for piece in pieces if piece]


@wrong
def signs_in_front_stay(text):
    """You remove the signs at the end of each word, but not at its front: an opening bracket or quote stays. `rstrip`
    works on the right side only. Which method works on both sides?"""
    pieces = [piece.rstrip(SIGNS) for piece in text.lower().split()]
    return [piece for piece in pieces if piece]


@wrong
def signs_inside_vanish(text):
    """You remove every sign, even inside words: `don't` loses its apostrophe and `well-known` its hyphen. Remove only
    the signs around a word."""
    for sign in SIGNS:
        text = text.replace(sign, "")
    return text.lower().split()


@wrong
def empty_words_stay(text):
    """A piece that consists only of signs, such as a dash between spaces, becomes an empty word in your list. Leave it
    out."""
    return [piece.strip(SIGNS) for piece in text.lower().split()]


@wrong
def each_word_once(text):
    """You return each word once. Your list should contain a word as often as the text does, in the order of the
    text."""
    pieces = [piece.strip(SIGNS) for piece in text.lower().split()]
    return list(dict.fromkeys(piece for piece in pieces if piece))


wrong = misconceptions_of("count_words")


@wrong
def the_first_is_not_counted(words):
    """You count one too few of each word. The first occurrence of a word counts too."""
    counts = {}
    for word in words:
        counts[word] = counts[word] + 1 if word in counts else 0
    return counts


@wrong
def one_for_each(words):
    """You store 1 for each word every time, so the previous number is lost. What do you have to add to that number?"""
    counts = {}
    for word in words:
        counts[word] = 1
    return counts


@wrong
def counts_inside_other_words(words):
    """You also count a word if it is part of another word, such as `he` in `the`. Count the items of the list, not
    parts of a text."""
    text = " ".join(words)
    return {word: text.count(word) for word in words}


@wrong
def only_what_comes_again(words):
    """You leave out the words that occur only once. Each word of the list has a count, even if it is 1."""
    return {word: words.count(word) for word in words if words.count(word) > 1}


@wrong
def share_of_all(words):
    """You return each word's share of all the words. The count is a whole number, so do not divide."""
    return {word: words.count(word) / len(words) for word in words}


wrong = misconceptions_of("first_again")


@wrong
def first_that_will_come_again(words):
    """You return the first word that occurs again later. Instead, find the word whose second occurrence comes first.
    Go through the list word by word, and stop at the first word that you have already met."""
    for place, word in enumerate(words):
        if word in words[place + 1 :]:
            return word
    return None


@wrong
def the_last_one(words):
    """You continue to the end, so a later repeated word replaces the first one. Where can you stop?"""
    met, found = set(), None
    for word in words:
        if word in met:
            found = word
        met.add(word)
    return found


@wrong
def its_place(words):
    """You return the position of the word. Return the word itself."""
    met = set()
    for place, word in enumerate(words):
        if word in met:
            return place
        met.add(word)
    return None


@wrong
def only_neighbours(words):
    """You compare each word only with the word before it. A word may appear again after many others: which words do you
    have to remember?"""
    for before, word in zip(words, words[1:], strict=False):
        if before == word:
            return word
    return None

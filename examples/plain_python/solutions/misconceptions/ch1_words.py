"""Wrong solutions of chapter 1, each one mistake away from the reference."""

from solutions.ch1_words import SIGNS

from autograder.misconception import misconceptions_of

wrong = misconceptions_of("words")


@wrong
def capitals_stay(text):
    """Your words keep their capitals, so that `No` and `no` are two words. Which method of strings makes all letters small?"""
    pieces = [piece.strip(SIGNS) for piece in text.split()]
    return [piece for piece in pieces if piece]


@wrong
def only_blanks_part_words(text):
    """You part words at single blanks only: at the end of a line, or at a tab, two words stay one. What does `split` do when it is
    told nothing?
    """
    pieces = [piece.strip(SIGNS) for piece in text.lower().split(" ")]
    return [piece for piece in pieces if piece]


@wrong
def signs_in_front_stay(text):
    """You take the signs off the end of each word, and not off its front: an opening bracket or quote stays. `rstrip` works on the
    right; which method works on both sides?
    """
    pieces = [piece.rstrip(SIGNS) for piece in text.lower().split()]
    return [piece for piece in pieces if piece]


@wrong
def signs_inside_vanish(text):
    """You take every sign away, also those inside of words: `don't` and `well-known` lose theirs. Only the signs around a word go."""
    for sign in SIGNS:
        text = text.replace(sign, "")
    return text.lower().split()


@wrong
def empty_words_stay(text):
    """Something that consists of signs alone, such as a dash between blanks, is left over as an empty word. Leave it out."""
    return [piece.strip(SIGNS) for piece in text.lower().split()]


@wrong
def each_word_once(text):
    """You give each word once. A text has a word as often as it stands there, and the order is that of the text."""
    pieces = [piece.strip(SIGNS) for piece in text.lower().split()]
    return list(dict.fromkeys(piece for piece in pieces if piece))


wrong = misconceptions_of("count_words")


@wrong
def the_first_is_not_counted(words):
    """You count one too few of each word: the first time that a word is met counts too."""
    counts = {}
    for word in words:
        counts[word] = counts[word] + 1 if word in counts else 0
    return counts


@wrong
def one_for_each(words):
    """You put 1 under each word, each time: the number that stands there already is lost. What has to be added to what?"""
    counts = {}
    for word in words:
        counts[word] = 1
    return counts


@wrong
def counts_inside_other_words(words):
    """You count a word also where it is a part of another one, as `he` is in `the`. Count items of the list, not pieces of a text."""
    text = " ".join(words)
    return {word: text.count(word) for word in words}


@wrong
def only_what_comes_again(words):
    """You leave out the words that stand there once. Each word of the list has a count, and that may be 1."""
    return {word: words.count(word) for word in words if words.count(word) > 1}


@wrong
def share_of_all(words):
    """You give the share of each word among all. How often is a whole number: do not divide."""
    return {word: words.count(word) / len(words) for word in words}


wrong = misconceptions_of("first_again")


@wrong
def first_that_will_come_again(words):
    """You give the first word that comes again at some time later. Asked is which word is met a second time first: read on word by word,
    and stop at the first that you have met before.
    """
    for place, word in enumerate(words):
        if word in words[place + 1 :]:
            return word
    return None


@wrong
def the_last_one(words):
    """You read on to the end, so that a later word takes the place of the first that came again. Where can you stop?"""
    met, found = set(), None
    for word in words:
        if word in met:
            found = word
        met.add(word)
    return found


@wrong
def its_place(words):
    """You give the place of the word. Asked is the word itself."""
    met = set()
    for place, word in enumerate(words):
        if word in met:
            return place
        met.add(word)
    return None


@wrong
def only_neighbours(words):
    """You compare each word with the one before it alone. A word may come again after many others: which ones do you have to
    remember?
    """
    for before, word in zip(words, words[1:], strict=False):
        if before == word:
            return word
    return None

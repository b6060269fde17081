"""The checks of chapter 2."""

from autograder.checking import grades_tests, check, exercise, pure


@exercise("Index", points=6)
class TestIndex:
    """What does an object have to remember from one `add` to the next `find`? Create it in `__init__`, as `self.…`.

    A dictionary can contain, for each word, the titles of all texts with that word. Which type of collection contains
    no title twice?

    Three methods receive words. In which of these places do you have to make the letters small?
    """

    @check(points=1, visible=True)
    def test_one_text(self, agrees):
        """The words of one text are found"""
        index = agrees.Index()
        index.add("Rain", "rain falls on stones")
        index.find("rain")
        index.find("snow")

    @check(points=1, visible=True)
    def test_two_texts(self, agrees):
        """A word in several texts gives all their titles, in alphabetical order"""
        index = agrees.Index()
        index.add("Winter", "snow falls on snow")
        index.add("Autumn", "rain falls")
        index.add("Spring", "rain falls")
        index.find("falls")
        index.find("snow")
        index.add("Autumn", "and stones fall")
        index.find("stones")

    @check(points=0.5, visible=True)
    def test_capitals(self, agrees):
        """Capitals make no difference, and neither does extra whitespace between words"""
        index = agrees.Index()
        index.add("Rain", "The Rain  and\nthe stones")
        index.find("the")
        index.find("The")
        index.find("RAIN")
        index.find("and")
        assert "Stones" in index

    @check(points=1, visible=True)
    def test_len_and_in(self, agrees):
        """`len` counts the different words, and `in` says whether a word is there"""
        index = agrees.Index()
        len(index)
        "rain" in index
        index.add("Rain", "rain and rain and rain")
        index.add("Snow", "rain or snow")
        len(index)
        "snow" in index, "hail" in index

    @check(points=1, visible=True)
    def test_of_its_own(self, agrees):
        """Two indexes are independent of each other"""
        index, other = agrees.Index(), agrees.Index()
        index.add("Rain", "rain")
        other.find("rain")
        len(other)
        other.add("Snow", "snow")
        "snow" in index

    @check(points=0.5, visible=True)
    def test_answers_are_the_callers(self, agrees):
        """If the caller changes an answer, the index stays the same"""
        index = agrees.Index()
        index.add("Rain", "rain falls")
        found = index.find("rain")
        found.append("Sun")
        index.find("rain")

    @check(points=0.5)
    def test_looking_changes_nothing(self, agrees):
        """A search leaves the index unchanged"""
        index = agrees.Index()
        index.add("Rain", "rain on stones")
        index.find("hail")
        "sun" in index
        len(index)
        index.find("rain")

    test_care = pure(points=0.5)


def is_anagram(one, other):
    return sorted(one.lower()) == sorted(other.lower())


def by_counting(one, other):
    one, other = one.upper(), other.upper()
    return len(one) == len(other) and all(one.count(letter) == other.count(letter) for letter in one)


def by_taking_away(one, other):
    left = list(other.lower())
    for letter in one.lower():
        if letter not in left:
            return False
        left.remove(letter)
    return not left


def always(one, other):
    return True


def never(one, other):
    return False


def by_sets(one, other):
    return set(one.lower()) == set(other.lower())


def capitals_matter(one, other):
    return sorted(one) == sorted(other)


def by_length(one, other):
    return len(one) == len(other)


def one_way(one, other):
    return all(one.lower().count(letter) <= other.lower().count(letter) for letter in one.lower())


def other_way(one, other):
    return all(other.lower().count(letter) <= one.lower().count(letter) for letter in other.lower())


@exercise("test_is_anagram", points=4)
class TestOwnTests:
    """For which pairs is the answer True, and for which is it False? Tests need some of each.

    How could somebody get this function wrong? For each mistake that you think of, find two words with a wrong answer.

    What if one word has a letter more often than the other? What if one word is the other plus a letter, or has
    capitals?
    """

    test_bugs = grades_tests(
        {
            "always says True": always,
            "always says False": never,
            "looks only at which letters there are, not at how often": by_sets,
            "treats a capital and its small letter as different": capitals_matter,
            "compares only the lengths": by_length,
        },
        right=[is_anagram, by_counting],
        points=2,
        visible=True,
    )

    test_more_bugs = grades_tests(
        {
            "accepts a second word with all the letters of the first and more": one_way,
            "accepts a first word with all the letters of the second and more": other_way,
        },
        right=[by_taking_away, by_counting],
        points=2,
        after="test_bugs",
        title="your tests also find rarer bugs",
    )

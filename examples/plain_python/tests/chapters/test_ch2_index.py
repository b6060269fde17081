"""The checks of chapter 2."""

from autograder.checking import check, exercise, pure


@exercise("Index", points=6)
class TestIndex:
    """What does an object have to remember from one `add` to the next `find`? Make it in `__init__`, as `self.…`.

    A dictionary can hold, for each word, all titles in which it stands. Which kind of collection holds no title twice?

    Four methods get a word from outside. At which of these places do its capitals have to go?
    """

    @check(points=1, visible=True)
    def test_one_text(self, agrees):
        """the words of one text are found"""
        index = agrees.Index()
        index.add("Rain", "rain falls on stones")
        index.find("rain")
        index.find("snow")

    @check(points=1, visible=True)
    def test_two_texts(self, agrees):
        """a word of several texts gives all their titles, in alphabetical order"""
        index = agrees.Index()
        index.add("Winter", "snow falls on snow")
        index.add("Autumn", "rain falls")
        index.find("falls")
        index.find("snow")
        index.add("Autumn", "and stones fall")
        index.find("stones")

    @check(points=0.5, visible=True)
    def test_capitals(self, agrees):
        """capitals make no difference"""
        index = agrees.Index()
        index.add("Rain", "The rain and the stones")
        index.find("the")
        index.find("The")
        index.find("RAIN")
        assert "Stones" in index

    @check(points=1, visible=True)
    def test_len_and_in(self, agrees):
        """`len` counts the different words, and `in` tells whether one is there"""
        index = agrees.Index()
        len(index)
        "rain" in index
        index.add("Rain", "rain and rain and rain")
        index.add("Snow", "rain or snow")
        len(index)
        "snow" in index, "hail" in index

    @check(points=1, visible=True)
    def test_of_its_own(self, agrees):
        """two indexes have nothing to do with each other"""
        index, other = agrees.Index(), agrees.Index()
        index.add("Rain", "rain")
        other.find("rain")
        len(other)
        other.add("Snow", "snow")
        "snow" in index

    @check(points=0.5, visible=True)
    def test_answers_are_the_callers(self, agrees):
        """an answer is the caller's: what is done to it does not change the index"""
        index = agrees.Index()
        index.add("Rain", "rain falls")
        found = index.find("rain")
        found.append("Sun")
        index.find("rain")

    @check(points=0.5)
    def test_looking_changes_nothing(self, agrees):
        """a question leaves the index as it was"""
        index = agrees.Index()
        index.add("Rain", "rain on stones")
        index.find("hail")
        "sun" in index
        len(index)
        index.find("rain")

    test_care = pure(points=0.5)

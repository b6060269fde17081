"""The checks of chapter 1."""

import pytest
from solutions.ch1_words import quiz_ch1

from autograder.checking import assert_matches, check, exercise


@exercise("words", points=3)
class TestWords:
    """There are three steps: make the letters small, split the text, and remove the signs. There is a string method for
    each of them.

    `split()` without an argument splits at any whitespace, however long.

    `strip(SIGNS)` removes all of these signs from both ends of a piece and keeps the inside. What is left of a dash
    between spaces?
    """

    @check(points=0.5, visible=True)
    def test_plain(self, agrees):
        """A line without any signs"""
        agrees.words("Rain falls and rain falls")

    @check(points=0.5, visible=True)
    @pytest.mark.parametrize("text", ["No, no - never!", '"Well," (he said), "what: this?"'])
    def test_signs(self, agrees, text):
        """Signs around a word are removed, and so are pieces of signs only"""
        agrees.words(text)

    @check(points=0.5, visible=True)
    def test_signs_inside(self, agrees):
        """Signs inside a word stay"""
        agrees.words("It's a well-known rain.")

    @check(points=0.5, visible=True)
    def test_lines(self, agrees):
        """lines, tabs and several spaces separate words too"""
        agrees.words("the first line\nthe second\t line  ends")

    @check(points=1)
    @pytest.mark.parametrize("text", ["", "  \n ", "...", "A", "(a-b) --- 'C'\n\nd;e f!?", "ÄPFEL; Über \t(ß)"])
    def test_odd_ones(self, agrees, text):
        """short, empty and odd texts"""
        agrees.words(text)


@exercise("count_words", points=3)
class TestCountWords:
    """Your dictionary contains a number for each word. What does it contain for a word that you meet for the first
    time?

    `counts.get(word, 0)` returns the number for `word`, or 0 if there is none yet.

    Each word of the list increases its own number by one. What is the new number, and where do you store it?
    """

    @check(points=1, visible=True)
    def test_some(self, agrees):
        """Words that occur once, twice and three times"""
        agrees.count_words(["rain", "snow", "rain", "hail", "snow", "rain"])

    @check(points=1, visible=True)
    def test_parts(self, agrees):
        """A word that is part of another word"""
        agrees.count_words(["the", "he", "the", "there"])

    @check(points=1)
    @pytest.mark.parametrize("words", [[], ["a"], ["a", "b", "c"], list("mississippi")])
    def test_others(self, agrees, words):
        """Lists with no word, one word, and many"""
        agrees.count_words(words)


MANY = [f"word{number}" for number in range(600)]


@exercise("first_again", points=4)
class TestFirstAgain:
    """Go through the list word by word, as a person would. What do you have to remember in order to know that a word is
    not new?

    As soon as a word is not new, you are done: `return` ends the function at once.

    `in` goes through a list from its first item. For a set, Python computes the place of the word: how long does that
    take?
    """

    @check(points=1, visible=True)
    @pytest.mark.parametrize("words", [["a", "b", "b", "a"], ["rain", "on", "snow", "on", "hail", "rain", "hail"]])
    def test_small(self, agrees, words):
        """The first word that is met again"""
        agrees.first_again(words)

    @check(points=0.5, visible=True)
    def test_none(self, student):
        """None if all words differ"""
        assert_matches(student.first_again(["rain", "snow", "hail"]), None)

    @check(points=1.5, visible=True, after="test_small")
    def test_steps(self, agrees):
        """A long list takes only a few steps per word"""
        agrees.within(steps=30_000).first_again([*MANY, "word599"])

    @check(points=1)
    @pytest.mark.parametrize("words", [[], ["a"], ["a", "a"], ["c", "b", "a", "d", "a", "b", "c"], [*MANY, "word3"]])
    def test_others(self, agrees, words):
        """Lists with no word, one word, and many"""
        agrees.first_again(words)


TestQuiz = quiz_ch1.checks()

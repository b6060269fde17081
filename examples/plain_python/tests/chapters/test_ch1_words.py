"""The checks of chapter 1."""

import pytest
from solutions.ch1_words import quiz_ch1

from autograder.checking import assert_matches, check, exercise


@exercise("words", points=3)
class TestWords:
    """Three things happen: letters become small, the text is parted, signs go. Each is one method of strings.

    `split()` without an argument parts at any white space, however much of it there is.

    `strip(SIGNS)` takes every one of these signs off both ends of a piece, and leaves its inside alone. What is left of a lonely dash?
    """

    @check(points=0.5, visible=True)
    def test_plain(self, agrees):
        """A line without any signs"""
        agrees.words("Rain falls and rain falls")

    @check(points=0.5, visible=True)
    @pytest.mark.parametrize("text", ["No, no - never!", '"Well," (he said), "what: this?"'])
    def test_signs(self, agrees, text):
        """Signs around a word go, and what is nothing but signs"""
        agrees.words(text)

    @check(points=0.5, visible=True)
    def test_signs_inside(self, agrees):
        """Signs inside of a word stay"""
        agrees.words("It's a well-known rain.")

    @check(points=0.5, visible=True)
    def test_lines(self, agrees):
        """lines, tabs and several blanks part words too"""
        agrees.words("the first line\nthe second\t line  ends")

    @check(points=1)
    @pytest.mark.parametrize("text", ["", "  \n ", "...", "A", "(a-b) --- 'C'\n\nd;e f!?", "ÄPFEL; Über \t(ß)"])
    def test_odd_ones(self, agrees, text):
        """short, empty and odd texts"""
        agrees.words(text)


@exercise("count_words", points=3)
class TestCountWords:
    """A dictionary holds a number for each word. What stands there before a word is met for the first time?

    `counts.get(word, 0)` gives the number under `word`, and 0 where there is none yet.

    Each word of the list makes its own number one larger: what is the new number, and where does it go?
    """

    @check(points=1, visible=True)
    def test_some(self, agrees):
        """Words that stand there once, twice and three times"""
        agrees.count_words(["rain", "snow", "rain", "hail", "snow", "rain"])

    @check(points=1, visible=True)
    def test_parts(self, agrees):
        """A word that is a part of another one"""
        agrees.count_words(["the", "he", "the", "there"])

    @check(points=1)
    @pytest.mark.parametrize("words", [[], ["a"], ["a", "b", "c"], list("mississippi")])
    def test_others(self, agrees, words):
        """Lists with no word, one word, and many"""
        agrees.count_words(words)


MANY = [f"word{number}" for number in range(600)]


@exercise("first_again", points=4)
class TestFirstAgain:
    """Read the list as a person would, word by word. What do you have to remember to know that a word is not new?

    As soon as a word is not new, you are done: `return` ends the function at once.

    `in` goes through a list from its first item. For a set Python works out where the word would have to lie: how long does that take?
    """

    @check(points=1, visible=True)
    @pytest.mark.parametrize("words", [["a", "b", "b", "a"], ["rain", "on", "snow", "on", "hail", "rain", "hail"]])
    def test_small(self, agrees, words):
        """The first word that is met again"""
        agrees.first_again(words)

    @check(points=0.5, visible=True)
    def test_none(self, student):
        """None where all words differ"""
        assert_matches(student.first_again(["rain", "snow", "hail"]), None)

    @check(points=1.5, visible=True, after="test_small")
    def test_steps(self, agrees):
        """A long list takes a few steps for each word, and no more"""
        agrees.within(steps=30_000).first_again([*MANY, "word599"])

    @check(points=1)
    @pytest.mark.parametrize("words", [[], ["a"], ["a", "a"], ["c", "b", "a", "d", "a", "b", "c"], [*MANY, "word3"]])
    def test_others(self, agrees, words):
        """Lists with no word, one word, and many"""
        agrees.first_again(words)


TestQuiz = quiz_ch1.checks()

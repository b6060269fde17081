"""The cards as data, and the sentences that text and HTML have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from autograder.verdict import CheckResult, ExerciseVerdict

__all__ = ["Card", "HintCard", "Piece", "closing", "headline", "pieces", "summary", "symbol", "word"]

HIDDEN = "The grader also tries inputs that you cannot see."
_SYMBOLS = {"passed": "✓", "not_tried": "·"}
_WORDS = {"passed": "holds", "failed": "does not hold", "error": "stopped with an error", "timeout": "took too long"}


@dataclass(frozen=True, slots=True)
class Card:
    """One exercise's verdict as it is shown.

    ``points`` is what the whole exercise is worth; ``hints_left`` and ``next_up`` (the exercise that comes next) are
    told where they help; ``well_formed_only`` marks a quiz, whose answers are looked at but not yet judged;
    ``graded`` a verdict with every check in it, which needs no word on what comes next.
    """

    verdict: ExerciseVerdict
    points: float = 0.0
    hints_left: int = 0
    next_up: str = ""
    well_formed_only: bool = False
    graded: bool = False


@dataclass(frozen=True, slots=True)
class HintCard:
    """One hint; ``number`` counts from 1 and is 0 where there is none left to show (``text`` then says so)."""

    exercise: str
    number: int
    total: int
    text: str


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of what is told of a check: running text, or a case whose columns matter."""

    kind: Literal["text", "case", "advice"]
    text: str


def headline(card: Card) -> str:
    """How far the exercise is, in a few words."""
    verdict = card.verdict
    if verdict.status == "not_attempted":
        return "not attempted yet"
    if card.well_formed_only:
        return "every answer is well formed" if verdict.status == "passed" else "not finished yet"
    if verdict.status == "error" and all(check.status == "not_tried" for check in verdict.checks):
        return "not found"
    more = card.points - verdict.max_score
    if verdict.max_score <= 0:
        hold = sum(check.status == "passed" for check in verdict.checks)
        return f"{hold} of {_plural(len(verdict.checks), 'check')} hold"
    later = f", {more:g} more when it is graded" if more > 1e-9 else ""
    here = " here" if later else ""
    return f"{verdict.score:g} of {_plural(verdict.max_score, 'point')}{here}{later}"


def summary(card: Card) -> str:
    """The card in one sentence, for where the card itself stands right above."""
    if card.verdict.status == "not_attempted":
        return f"{card.verdict.name} is not attempted yet: the card above says what to do."
    return f"{card.verdict.name} is not right yet: the card above says what to look at."


def pieces(card: Card, check: CheckResult) -> list[Piece]:
    """What is told below one check's line; the recognised mistake comes with the first check that does not hold."""
    if check.status in {"passed", "not_tried"}:
        return []
    before = card.verdict.checks[: card.verdict.checks.index(check)]
    if any(other.reason == check.reason != "" for other in before):
        return [Piece("text", "The same as above.")]
    told = [Piece("text", check.reason or check.message)]
    if check.example:
        told.append(Piece("case", check.example))
    # Where no mistake was recognised, the exercise's message may be this very check's: once is enough.
    said = _squeezed(f"{told[0].text} {check.example}")
    if check is first_failure(card.verdict) and _squeezed(card.verdict.message) not in said:
        told.append(Piece("advice", card.verdict.message))
    return told


def first_failure(verdict: ExerciseVerdict) -> CheckResult | None:
    """The check to look at first."""
    return next((check for check in verdict.checks if check.status not in {"passed", "not_tried"}), None)


def closing(card: Card) -> list[str]:
    """The sentences at the end: praise and what comes next, hints that are left, what the grader does besides."""
    verdict = card.verdict
    if card.graded:
        return []
    sentences = []
    if verdict.status == "passed":
        if card.well_formed_only:
            sentences.append("Well formed; marked when graded. You can still change your mind.")
        else:
            sentences.append("Well done: everything that is tried here holds.")
        sentences.append(
            f"Next comes `{card.next_up}`." if card.next_up else "That was the last exercise of this chapter."
        )
    elif card.hints_left:
        sentences.append(f'`hint("{verdict.name}")` has {_plural(card.hints_left, "hint")} left.')
    if not card.well_formed_only and verdict.status != "not_attempted":
        sentences.append(HIDDEN)
    return sentences


def symbol(check: CheckResult) -> str:
    """✓, ✗ or ·, for the eye."""
    return _SYMBOLS.get(check.status, "✗")


def word(check: CheckResult) -> str:
    """The symbol's meaning in words, for the ear."""
    return _WORDS.get(check.status, "not tried")


def _plural(number: float, noun: str) -> str:
    return f"{number:g} {noun}" if number == 1 else f"{number:g} {noun}s"


def _squeezed(text: str) -> str:
    return " ".join(text.split())

"""A card is what a person reads about one exercise. Its signs, words and sentences stand here, as data.

The notebook, the terminal, the graded notebook, the feedback page and the gradebook's comment all take their words from
here; ``text`` and ``html`` lay them out. Every text that comes out of here is sanitized, and none is escaped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from textwrap import dedent
from typing import TYPE_CHECKING, Literal, NamedTuple

from autograder.base.edit_kinds import kind_of
from autograder.base.formatting import join_words, number, pluralize, points
from autograder.base.sanitize import sanitize

if TYPE_CHECKING:
    from autograder.base.verdict import CheckResult, ExerciseVerdict

__all__ = [
    "Block",
    "Card",
    "HintCard",
    "Row",
    "blocks",
    "footer",
    "headline",
    "intro",
    "location_text",
    "rows",
    "status_text",
    "summary_blocks",
]  # fmt: skip

HIDDEN = "The grader also tries inputs that you cannot see."
SIGNS = {"passed": "✓", "failed": "✗", "error": "✗", "timeout": "✗", "not_tried": "·"}
WORDS = {
    "passed": "holds",
    "failed": "does not hold",
    "error": "stopped with an error",
    "timeout": "took too long",
    "not_tried": "not tried",
}
STANDINGS = {
    "passed": "every check holds",
    "partial": "some checks do not hold",
    "failed": "no check holds",
    "not_attempted": "not attempted",
    "error": "the code raised an error",
    "timeout": "the code took too long",
}
WAITS = "(waits for a check above)"
MAX_CELL_NAME = 60  # characters
LONG_CASE, LONG_CASE_LINES = 600, 12  # characters and lines of a case from which on it folds
LONG_CALL = 30  # characters of a call beside which its result has no room
_RIGHT = "it should be"
OTHER_WAY, OTHER_WAYS = "Another way to write it", "Other ways to write it"
THE_CASE = "The input and the result that show it"
_QUIET = {"passed", "not_tried"}


@dataclass(frozen=True, slots=True)
class Card:
    """One exercise's verdict as it is shown.

    ``points`` is what the whole exercise is worth; ``hints_left`` and ``next_up`` (the exercise that comes next) are
    shown where they help; ``well_formed_only`` marks a quiz, whose answers are looked at but not yet judged;
    ``graded`` a verdict that counts, which needs no word on what comes next. ``hints`` are all there are, to be opened one
    by one; ``other_ways`` a line and the source of each solution that may be read now; ``last`` is said in the place of what comes
    next. ``judged`` says that nothing more is tried elsewhere, and nothing marked.
    """

    verdict: ExerciseVerdict
    points: float = 0.0
    hints_left: int = 0
    next_up: str = ""
    well_formed_only: bool = False
    graded: bool = False
    hints: tuple[str, ...] = ()
    other_ways: tuple[tuple[str, str], ...] = ()
    last: str = ""
    judged: bool = False


@dataclass(frozen=True, slots=True)
class HintCard:
    """One hint; ``number`` counts from 1 and is 0 where there is none left to show (``text`` then says so).

    ``code`` stands below the text, for a card that shows ``what`` is not a hint.
    """

    exercise: str
    number: int
    total: int
    text: str
    code: str = ""
    what: str = ""


class Block(NamedTuple):
    """A paragraph: ``prose`` is filled to the width there is, ``verbatim`` keeps its lines and columns."""

    kind: Literal["prose", "verbatim"]
    text: str


class Row(NamedTuple):
    """The line of one check, and below it what was found, the case that shows it, and the recognised mistake.

    ``sign`` is for the eye, ``word`` says the same for the ear, ``note`` stands behind the title. Each of the last
    three is empty where there is nothing to say. ``folds`` says that the case is so long that it goes below the advice.
    """

    sign: str
    word: str
    title: str
    note: str
    reason: str
    case: str
    advice: str
    folds: bool = False


def headline(card: Card) -> str:
    """How far the exercise is, in a few words."""
    verdict = card.verdict
    tried = any(check.status != "not_tried" for check in verdict.checks)
    lost = f"{points(verdict.score, verdict.max_score)}, " if card.graded else ""
    if verdict.status == "not_attempted":
        return f"{lost}not attempted" if lost else "not attempted yet"
    if card.well_formed_only:
        return "every answer is well formed" if verdict.status == "passed" else "not finished yet"
    if verdict.status == "error" and not tried:
        return f"{lost}not found"
    if verdict.max_score <= 0:
        hold = sum(check.status == "passed" for check in verdict.checks)
        return f"{hold} of {pluralize(len(verdict.checks), 'check')} hold"
    more = card.points - verdict.max_score
    later = f" here, {number(more)} more when it is graded" if more > 1e-9 and not card.judged else ""
    fails = sum(check.status not in _QUIET for check in verdict.checks)
    # A check that is worth nothing by itself may fail where every point is earned.
    but = f", but {pluralize(fails, 'check')} {'does' if fails == 1 else 'do'} not hold"
    return (
        points(verdict.score, verdict.max_score) + later + (but if fails and verdict.score >= verdict.max_score else "")
    )


def status_text(verdict: ExerciseVerdict) -> str:
    """How the exercise stands, for a table that gives its points beside it."""
    # A check that is worth nothing, such as that a question has an answer, may hold where no point is earned.
    holds = verdict.status == "failed" and any(check.status == "passed" for check in verdict.checks)
    return STANDINGS["partial" if holds else verdict.status]


def summary(card: Card) -> str:
    """The card in one sentence, for where the card itself stands right above."""
    if card.verdict.status == "not_attempted":
        return f"{card.verdict.name} is not attempted yet: the card above says what to do."
    return f"{card.verdict.name} is not right yet: the card above says what to look at."


def intro(card: Card) -> str:
    """What stands above the checks: the exercise's message, where no check failed below which it could stand."""
    return "" if _first_failure(card.verdict) else _message(card.verdict, card.verdict.checks)


def rows(card: Card) -> list[Row]:
    """A row for each check; a reason that stands above already is not repeated, and of checks that wait in a row one says so."""
    verdict = card.verdict
    if verdict.status == "not_attempted":
        return []
    first = _first_failure(verdict)
    found: list[Row] = []
    given: set[str] = set()
    for check in verdict.checks:
        reason = case = advice = ""
        if check.status not in _QUIET:
            reason, case = check.reason or check.message, check.example
            if check.reason and check.reason in given:
                reason, case = "The same as above.", ""
            given.add(check.reason)
        if check is first:
            advice = "\n\n".join(filter(None, [_message(verdict, verdict.checks), location_text(verdict)]))
        waits = check.status == "not_tried"
        note = WAITS if waits and first and not (found and found[-1].sign == SIGNS["not_tried"]) else ""
        sign, word = SIGNS[check.status], WORDS[check.status]
        shown = _in_columns(sanitize(case))
        folds = len(shown) > LONG_CASE or shown.count("\n") >= LONG_CASE_LINES
        found.append(Row(sign, word, sanitize(check.title), note, sanitize(reason), shown, advice, folds))
    return found


def footer(card: Card) -> list[str]:
    """The sentences at the end: praise and what comes next, hints that are left, what the grader does besides."""
    verdict = card.verdict
    if card.graded:
        return [sanitize(verdict.follow_through)] if verdict.follow_through else []
    sentences = []
    if verdict.status == "passed":
        well_formed = "Well formed; marked when graded. You can still change your mind."
        holds = "Well done: everything holds." if card.judged else "Well done: everything that is tried here holds."
        sentences.append(well_formed if card.well_formed_only else holds)
        last = card.last or "That was the last exercise of this chapter."
        sentences.append(f"Next comes `{card.next_up}`." if card.next_up else last)
    elif card.hints_left:
        sentences.append(f'`hint("{verdict.name}")` has {pluralize(card.hints_left, "hint")} left.')
    if not card.well_formed_only and not card.judged and verdict.status != "not_attempted":
        sentences.append(HIDDEN)
    return sentences


def summary_blocks(verdict: ExerciseVerdict) -> list[Block]:
    """The card in a few sentences, for a place with no room for its rows: the mistake, or what the first check found."""
    first = _first_failure(verdict)
    if first is None or verdict.misconception:
        found = blocks(_message(verdict, ()))
    else:
        case = [Block("verbatim", sanitize(first.example))] if first.example else []
        found = [*blocks(first.reason or first.message), *case, *blocks(_message(verdict, verdict.checks))]
    found += blocks(location_text(verdict)) + blocks(verdict.follow_through or "")
    return found or ([Block("prose", f"This does not hold: {sanitize(first.title)}.")] if first else [])


def location_text(verdict: ExerciseVerdict) -> str:
    """The sentence that says where the mistake is; empty where that is not known. It gives no code and no right value away."""
    located = verdict.located
    if located is None:
        return ""
    lines = [f"line {line}" for line in located.lines]
    cell = "its cell" if located.cell == verdict.name else sanitize(located.cell, MAX_CELL_NAME)
    look = f": look at {kind_of(located.kind).look}" if located.kind else ""
    if located.edits > 1:
        together = "two" if located.edits == 2 else "several"
        return f"The mistake is in {join_words(lines)} of {cell}{look}. No single small change there is enough, but {together} together make every check hold."
    change = "One small change there makes" if len(lines) == 1 else "A small change in either makes"
    return f"The mistake is in {' or in '.join(lines)} of {cell}{look}. {change} every check hold."


def blocks(text: str) -> list[Block]:
    """The paragraphs of a message; one that holds indented lines, such as an array or code, keeps its shape."""
    found = []
    for paragraph in re.split(r"\n\s*\n", dedent(sanitize(text)).strip("\n")):
        if re.search(r"^[ \t]", paragraph, re.MULTILINE):
            found.append(Block("verbatim", paragraph))
            continue
        # A line that begins with "1." is an item only where another one follows: a sentence may end in a number.
        numbered = len(re.findall(r"^\d\. ", paragraph, re.MULTILINE)) > 1
        items = re.split(r"\n(?=[-*] |\d\. )" if numbered else r"\n(?=[-*] )", paragraph)
        found += [Block("prose", " ".join(item.split())) for item in items if item]
    return found


def _in_columns(case: str) -> str:
    """What came back and what should have, one below the other; a long call stands on a line of its own above them."""
    found = re.search(r"^(.+) gave  +(?=\S)", case, re.MULTILINE)
    if found is None or not (right := re.search(rf"^{_RIGHT}  +(?=\S)", case, re.MULTILINE)):
        return case
    call = found[1]
    subject = f"{call} gave" if len(call) <= LONG_CALL else "gave"
    width = max(len(subject), len(_RIGHT))
    above = "" if len(call) <= LONG_CALL else f"{call}\n"
    between = case[found.end() : right.start()]
    return f"{case[: found.start()]}{above}{subject:<{width}}  {between}{_RIGHT:<{width}}  {case[right.end() :]}"


def _first_failure(verdict: ExerciseVerdict) -> CheckResult | None:
    """The check to look at first."""
    return next((check for check in verdict.checks if check.status not in _QUIET), None)


def _message(verdict: ExerciseVerdict, checks: tuple[CheckResult, ...]) -> str:
    """What is said of the exercise as a whole, without what is said of ``checks`` or in the follow-through note."""
    spoken = [check for check in checks if check.status not in _QUIET]
    text = f"\n{sanitize(verdict.message)}\n"
    for said in (verdict.follow_through or "", *(check.message for check in spoken)):
        text = text.replace(f"\n{sanitize(said)}\n", "\n") if said else text
    # Of several messages, each ends a line with its sentence; a check may hold one of them beside its own words.
    heard = _squeezed(" ".join(f"{check.reason} {check.example}" for check in spoken))
    parts = re.split(r"(?<=[.?!])\n", text.strip())
    return "\n".join(part for part in parts if _squeezed(part) not in heard)


def _squeezed(text: str) -> str:
    return " ".join(text.split())

"""The content of a card as data: symbols, labels and sentences. A card shows the verdict on one exercise.

Notebooks, terminals, graded notebooks, feedback pages and gradebook comments all show this content. The modules ``text``
and ``html`` render it. All text from this module is sanitized but not escaped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import dedent
from typing import Literal, NamedTuple

from autograder.base.edit_kinds import describe_change
from autograder.base.formatting import number, pluralize, points
from autograder.base.sanitize import sanitize
from autograder.base.verdict import CheckResult, ExerciseVerdict

__all__ = [
    "Block", "Card", "HintCard", "Row", "blocks", "footer", "headline", "intro", "location_text", "rows", "status_text",
    "summary_blocks",
]  # fmt: skip

HIDDEN = "Grading also uses hidden inputs."
PASSED = "A check that passes covers only its own inputs."
LIKELY = "Likely mistake:"  # another mistake may have the same results, and only the results are compared
SIGNS = {"passed": "✓", "failed": "✗", "error": "✗", "timeout": "✗", "not_tried": "·"}
WORDS = {
    "passed": "passes", "failed": "fails", "error": "stopped with an error", "timeout": "took too long",
    "not_tried": "not tried",
}  # fmt: skip
STATUS_TEXTS = {
    "passed": "all checks pass", "partial": "some checks fail", "failed": "all checks fail",
    "not_attempted": "not attempted", "error": "the code raised an error", "timeout": "the code took too long",
}  # fmt: skip
ANSWERED = "_is_answered"  # the suffix of the names of checks that only require an answer to a quiz question
MAX_CELL_NAME = 60  # characters of a cell's name
LONG_CASE, LONG_CASE_LINES = 600, 12  # a case with more characters or lines than these is folded
LONG_CALL = 30  # characters of a call. A longer call goes on its own line.
_RIGHT = "it should be"
OTHER_WAY, OTHER_WAYS = "Another way to write it", "Other ways to write it"
THE_CASE = "The input and the result"
_QUIET = {"passed", "not_tried"}


@dataclass(frozen=True, slots=True)
class Card:
    """One exercise's verdict with the context that a card shows.

    Attributes:
        points: the points of the whole exercise, including hidden checks.
        hints_left: the number of hints that the student has not read.
        next_up: the next exercise.
        link: the address of the next exercise, or empty if it is unknown.
        deeper: the call that tries new random inputs, or empty if it does not work here.
        well_formed_only: whether the exercise is a quiz and the checks only require that its answers are valid.
        graded: whether the verdict counts for a mark. If so, the card does not name the next exercise.
        hints: all hints, shown folded.
        alternatives: a note and the source of each solution that the student may read now.
        last: the sentence to show if there is no next exercise.
        is_final: whether this verdict is final, with no hidden checks and no marks.
        brief: whether only the first failed check is open, and the passed checks share one row below the others.
    """

    verdict: ExerciseVerdict
    points: float = 0.0
    hints_left: int = 0
    next_up: str = ""
    well_formed_only: bool = False
    graded: bool = False
    hints: tuple[str, ...] = ()
    alternatives: tuple[tuple[str, str], ...] = ()
    last: str = ""
    is_final: bool = False
    brief: bool = False
    link: str = ""
    deeper: str = ""


@dataclass(frozen=True, slots=True)
class HintCard:
    """One hint.

    Attributes:
        number: the number of the hint, from 1, or 0 if the text is not one of the written hints.
        total: the number of written hints.
        code: code shown below the text.
        what: a heading for a card that shows something other than a hint, such as a solution.
    """

    exercise: str
    number: int
    total: int
    text: str
    code: str = ""
    what: str = ""


class Block(NamedTuple):
    """A paragraph: ``prose`` is wrapped to the available width, ``verbatim`` keeps its lines and columns."""

    kind: Literal["prose", "verbatim"]
    text: str


class Row(NamedTuple):
    """The line for one check, with its details, or the line that several checks share.

    Attributes:
        symbol: the status as a symbol.
        label: the status in words, for screen readers.
        title: the check's title.
        reason: what is wrong, or what the check waits for. Empty if the check passed.
        case: a case that shows the failure, or empty.
        advice: the recognized mistake and its location, or empty.
        folds: whether the case is so long that it is folded and placed below the advice.
        closed: whether everything below the title is folded.
        titles: the titles of the checks, if there are several.
    """

    symbol: str
    label: str
    title: str
    reason: str = ""
    case: str = ""
    advice: str = ""
    folds: bool = False
    closed: bool = False
    titles: tuple[str, ...] = ()


def headline(card: Card) -> str:
    """Return the result of the exercise in a few words."""
    verdict = card.verdict
    tried = any(check.status != "not_tried" for check in verdict.checks)
    lost = f"{points(verdict.score, verdict.max_score)}, " if card.graded else ""
    if verdict.status == "not_attempted":
        return f"{lost}not attempted" if lost else "not attempted yet"
    if card.well_formed_only:
        return "every answer is valid" if verdict.status == "passed" else "not finished yet"
    if verdict.status == "error" and not tried:
        return f"{lost}not found"
    if verdict.max_score <= 0 or card.is_final:  # self-learners get no points
        checks = _one_for_each_question(verdict.checks)
        hold = sum(check.status == "passed" for check in checks)
        return f"{hold} of {pluralize(len(checks), 'check')} passed"
    more = card.points - verdict.max_score
    later = f" here, {number(more)} more possible when it is graded" if more > 1e-9 else ""
    fails = sum(check.status not in _QUIET for check in verdict.checks)
    # A check without points can fail although all points are earned.
    failures = f", but {pluralize(fails, 'check')} {'fails' if fails == 1 else 'fail'}"
    shown = failures if fails and verdict.score >= verdict.max_score else ""
    return f"{points(verdict.score, verdict.max_score)}{later}{shown}"


def status_text(verdict: ExerciseVerdict) -> str:
    """Return the status of the exercise in words, for a table that also shows its points."""
    # A check without points can pass although no points are earned, and another check may be waiting.
    holds = verdict.status == "failed" and any(check.status in _QUIET for check in verdict.checks)
    return STATUS_TEXTS["partial" if holds else verdict.status]


def summary(card: Card) -> str:
    """Return one sentence to show below the card itself."""
    if card.verdict.status == "not_attempted":
        return f"{card.verdict.name} has not been attempted yet. The card above says what to do."
    return f"{card.verdict.name} is not right yet. The card above says what to check."


def intro(card: Card) -> str:
    """Return the text above the checks: the exercise's message, or empty if a failed check shows that message."""
    return "" if _first_failure(card.verdict) else _message(card.verdict, card.verdict.checks)


def rows(card: Card) -> list[Row]:
    """Return a row for each check. Checks that wait for the same check share a row, and reasons are not repeated."""
    verdict, first = card.verdict, _first_failure(card.verdict)
    checks = [] if verdict.status == "not_attempted" else _one_for_each_question(verdict.checks)
    is_quiz = len(checks) < len(verdict.checks)
    groups: dict[tuple[str, str, int], list[CheckResult]] = {}
    for place, check in enumerate(checks):
        waits = (check.waits_for or first.name) if check.status == "not_tried" and first else ""
        together = waits or (card.brief and check.status == "passed")
        groups.setdefault((check.status, waits, -1 if together else place), []).append(check)
    result: list[Row] = []
    reasons: dict[str, tuple[str, str]] = {}
    for (status, waits, _), [check, *others] in groups.items():
        titles = tuple(sanitize(one.title) for one in [check, *others])
        symbol, label = SIGNS[status], WORDS[status]
        if status == "not_tried" and first:
            # Another failed check may stop it too, so the sentence does not promise that it runs once this one passes.
            cause = f"because “{sanitize(next((c for c in checks if c.name == waits), first).title)}” failed."
            points = sum(c.points for c in [check, *others])
            worth = f", worth {pluralize(points, 'point')}," if card.graded and points else ""
            shared = (f"{len(titles)} checks{worth} did not run {cause}", "")
            title, reason = shared if others else (titles[0], f"It did not run {cause}")
            result.append(Row(symbol, "waits", title, reason, titles=titles if others else ()))
            continue
        if others:
            result.append(Row(symbol, label, f"{len(titles)} checks pass", titles=titles))
            continue
        reason, case = (check.reason or check.message, check.example) if check.status not in _QUIET else ("", "")
        if check.reason and check.reason in reasons:
            title, example = reasons[check.reason]
            reason, case = f"The same message as for “{title}”.", "" if case == example else case
        reasons.setdefault(check.reason, (titles[0], case))
        both = [_explanation(verdict, verdict.checks), location_text(verdict)] if check is first else []
        shown = _in_columns(sanitize(case))
        folds = len(shown) > LONG_CASE or shown.count("\n") >= LONG_CASE_LINES
        advice = "\n\n".join(filter(None, both))
        closed = bool(reason) and (is_quiz or (card.brief and check is not first))
        result.append(Row(symbol, label, titles[0], sanitize(reason), shown, advice, folds, closed))
    return sorted(result, key=lambda row: card.brief and row.label == WORDS["passed"])


def _one_for_each_question(checks: Sequence[CheckResult]) -> list[CheckResult]:
    """Return one check for each question of a quiz: the check that requires an answer if that check fails, else the check of the answer."""
    asked = {check.name + ANSWERED for check in checks}
    wrong = {c.name: c for c in checks if c.name in asked and c.status not in _QUIET}
    return [wrong.get(check.name + ANSWERED, check) for check in checks if check.name not in asked]


def footer(card: Card) -> list[str]:
    """Return the sentences at the end: praise, the next exercise, the remaining hints, and a note on hidden checks."""
    verdict = card.verdict
    checks = verdict.checks
    is_mixed = any(check.status == "passed" for check in checks) and any(check.example for check in checks)
    sentences = [PASSED] if is_mixed else []
    if card.graded:
        return [*sentences, sanitize(verdict.follow_through)] if verdict.follow_through else sentences
    if verdict.status == "passed":
        well_formed = "Every question has a valid answer. The answers are graded later, so you can still change them."
        holds = "Well done! All checks pass." if card.is_final else "Well done! All checks here pass."
        sentences.append(well_formed if card.well_formed_only else holds)
        last = card.last or "That was the last exercise of this chapter."
        sentences.append(f"Next is `{card.next_up}`." if card.next_up else last)
        if card.deeper:
            sentences.append(f"`{card.deeper}` tries new random inputs.")
    elif card.hints_left:
        sentences.append(f'`hint("{verdict.name}")` has {pluralize(card.hints_left, "hint")} left.')
    if not card.well_formed_only and not card.is_final and verdict.status != "not_attempted":
        sentences.append(HIDDEN)
    return sentences


def summary_blocks(verdict: ExerciseVerdict) -> list[Block]:
    """Return a short version of the card without rows: the mistake, or the first failed check."""
    first = _first_failure(verdict)
    if first is None or verdict.misconception:
        result = blocks(_explanation(verdict, ()))
    else:
        case = [Block("verbatim", sanitize(first.example))] if first.example else []
        result = [*blocks(first.reason or first.message), *case, *blocks(_message(verdict, verdict.checks))]
    result += blocks(location_text(verdict)) + blocks(verdict.follow_through or "")
    return result or ([Block("prose", f"This check fails: {sanitize(first.title)}.")] if first else [])


def location_text(verdict: ExerciseVerdict) -> str:
    """Return a sentence that says which line to change, or ``""`` if it is unknown."""
    located = verdict.located
    if located is None:
        return ""
    cell = "your cell" if located.cell == verdict.name else sanitize(located.cell, MAX_CELL_NAME)
    return describe_change(located.lines, cell, located.kind, located.edits)


def blocks(text: str) -> list[Block]:
    """Split a message into paragraphs. A paragraph with indented lines, such as an array or code, stays verbatim."""
    result = []
    for paragraph in re.split(r"\n\s*\n", dedent(sanitize(text)).strip("\n")):
        if re.search(r"^[ \t]", paragraph, re.MULTILINE):
            result.append(Block("verbatim", paragraph))
            continue
        # Lines that start with "1." are list items only if there are several, because a wrapped sentence may end in a number.
        numbered = len(re.findall(r"^\d\. ", paragraph, re.MULTILINE)) > 1
        items = re.split(r"\n(?=[-*] |\d\. )" if numbered else r"\n(?=[-*] )", paragraph)
        result += [Block("prose", " ".join(item.split())) for item in items if item]
    return result


def _in_columns(case: str) -> str:
    """Return ``case`` with the actual result aligned above the expected result. A long call goes on its own line above them."""
    gave = re.search(r"^(.+) (gave|is)  +(?=\S)", case, re.MULTILINE)
    if gave is None or not (right := re.search(rf"^{_RIGHT}  +(?=\S)", case, re.MULTILINE)):
        return case
    call, verb = gave.groups()
    subject = f"{call} {verb}" if len(call) <= LONG_CALL else verb
    width = max(len(subject), len(_RIGHT))
    above = "" if len(call) <= LONG_CALL else f"{call}\n"
    between = case[gave.end() : right.start()]
    return f"{case[: gave.start()]}{above}{subject:<{width}}  {between}{_RIGHT:<{width}}  {case[right.end() :]}"


def _first_failure(verdict: ExerciseVerdict) -> CheckResult | None:
    return next((check for check in verdict.checks if check.status not in _QUIET), None)


def _message(verdict: ExerciseVerdict, checks: tuple[CheckResult, ...]) -> str:
    """Return the message about the whole exercise, without the parts that ``checks`` or the follow-through note show."""
    failed = [check for check in checks if check.status not in _QUIET]
    text = f"\n{sanitize(verdict.message)}\n"
    for shown in (verdict.follow_through or "", *(check.message for check in failed)):
        text = text.replace(f"\n{sanitize(shown)}\n", "\n") if shown else text
    # The text may consist of several messages, separated by line breaks. A check may show one of them as part of its own text.
    already_shown = _one_line(" ".join(f"{check.reason} {check.example}" for check in failed))
    parts = re.split(r"(?<=[.?!])\n", text.strip())
    return "\n".join(part for part in parts if _one_line(part) not in already_shown)


def _explanation(verdict: ExerciseVerdict, checks: tuple[CheckResult, ...]) -> str:
    """Return the result of ``_message``, with "Likely mistake:" before the message of a misconception."""
    text = _message(verdict, checks)
    is_quiz = len(_one_for_each_question(verdict.checks)) < len(verdict.checks)
    # With a location, the misconception explains only the results after a change.
    is_known = verdict.misconception and verdict.located is None and not is_quiz
    return f"{LIKELY} {text}" if text and is_known else text


def _one_line(text: str) -> str:
    return " ".join(text.split())

"""The outcome of an exercise in words, for a terminal and for a page.

Everything a student wrote, or made a message carry, is text here: markup, terminal codes and control characters go.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Any

from autograder.sanitize import sanitize as clean

if TYPE_CHECKING:
    from autograder.verdict import CheckResult, ExerciseVerdict

__all__ = ["clean", "exercise_html", "exercise_text", "joined", "paragraphs", "points", "standing", "told_once"]

MARKS = {"passed": "✓", "failed": "✗", "error": "✗", "timeout": "✗", "not_tried": "·"}
WORDS = {
    "passed": "passed",
    "failed": "failed",
    "error": "failed with an error",
    "timeout": "failed, out of time",
    "not_tried": "not tried",
}
STANDINGS = {
    "passed": "all checks passed",
    "partial": "some checks failed",
    "failed": "no check passed",
    "not_attempted": "not attempted",
    "error": "the code raised an error",
    "timeout": "the code took too long",
}
TOLD = "margin:.5em 0;padding:.2em .8em;border-left:4px solid #0b6e99"
NO_FORMULAS = "tex2jax_ignore"  # MathJax, on nbgrader's pages and in JupyterLab, passes over what has this class
WAITS = "(waits for a check above)"


def joined(text: Any) -> str:
    """A text of a notebook's JSON, which may stand there as a list of lines; empty for anything else."""
    if isinstance(text, list):
        text = "".join(part for part in text if isinstance(part, str))
    return text if isinstance(text, str) else ""


def points(score: float, max_score: float) -> str:
    """A score in words: ``2.5 of 4 points``."""
    return f"{score:.6g} of {max_score:.6g} point{'' if max_score == 1 else 's'}"


def standing(exercise: ExerciseVerdict) -> str:
    """How the exercise stands, in a few words."""
    return STANDINGS[exercise.status]


@lru_cache(maxsize=512)  # most of a class has most of an exercise alike
def exercise_text(exercise: ExerciseVerdict) -> str:
    """The outcome as plain text, one line a check and its message below it."""
    lines = [f"{exercise.name}   {points(exercise.score, exercise.max_score)}   {standing(exercise)}"]
    for check in exercise.checks:
        waits = f"   {WAITS}" if check.status == "not_tried" and exercise.status != "not_attempted" else ""
        lines.append(f"  {MARKS[check.status]} {clean(check.title)}{waits}")
        lines += [f"      {line}" for line in clean(check.message).splitlines() if check.status != "passed"]
    for told in told_once(exercise):
        lines += [f"  {line}" for line in told.splitlines()]
    return "\n".join(lines)


def told_once(exercise: ExerciseVerdict) -> list[str]:
    """What is said of the exercise as a whole, without what one of its checks says already."""
    told = [clean(check.message).split() for check in exercise.checks if check.status != "passed"]
    texts: list[str] = []
    for text in (clean(exercise.message).strip(), clean(exercise.follow_through or "").strip()):
        if text and text.split() not in told and not any(text in earlier for earlier in texts):
            texts.append(text)
    return texts


@lru_cache(maxsize=512)
def exercise_html(exercise: ExerciseVerdict) -> str:
    """The outcome as a fragment of HTML that needs no style sheet and holds no script."""
    items = "".join(_item(check, exercise) for check in exercise.checks)
    told = "".join(f'<div class="told" style="{TOLD}">{paragraphs(text)}</div>' for text in told_once(exercise))
    return (
        f'<section class="outcome {NO_FORMULAS}" aria-label="{escape(exercise.name)}">'
        f"<p><strong><code>{escape(exercise.name)}</code>: {points(exercise.score, exercise.max_score)}</strong>"
        f" – {standing(exercise)}</p>"
        f'<ul style="list-style:none;padding-left:.5em;margin:.3em 0">{items}</ul>{told}</section>'
    )


def paragraphs(text: str) -> str:
    """Prose as HTML paragraphs; lines that are indented, such as arrays, keep their shape."""
    blocks = []
    for block in re.split(r"\n\s*\n", clean(text).strip("\n")):
        if any(line.startswith((" ", "\t")) for line in block.splitlines()):
            blocks.append(f'<pre style="margin:.3em 0;white-space:pre-wrap">{escape(block)}</pre>')
        elif block.strip():
            blocks.append(f'<p style="margin:.3em 0;white-space:pre-line">{escape(block.strip())}</p>')
    return "".join(blocks)


def _item(check: CheckResult, exercise: ExerciseVerdict) -> str:
    waits = f" <em>{WAITS}</em>" if check.status == "not_tried" and exercise.status != "not_attempted" else ""
    message = ""
    if check.message and check.status != "passed":
        text = escape(clean(check.message))
        message = f'<pre style="margin:.2em 0 .6em 1.5em;white-space:pre-wrap">{text}</pre>'
    mark = MARKS[check.status]
    colour = {"✓": "#1a6b2f", "✗": "#a3261c"}.get(mark, "#555")
    return (
        f'<li class="check {check.status}"><span role="img" aria-label="{WORDS[check.status]}" '
        f'style="color:{colour};font-weight:bold">{mark}</span> {escape(clean(check.title))}{waits}{message}</li>'
    )

"""Cards as plain text, narrow enough for ``nbgrader validate`` to show every line whole."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from autograder.render.card import Card, HintCard, closing, headline, pieces, symbol

if TYPE_CHECKING:
    from autograder.verdict import CheckResult

__all__ = ["card_text", "hint_text", "wrapped"]

WIDTH = 82  # nbgrader's Validate cuts lines at 87 columns, four of them its own indent


def card_text(card: Card) -> str:
    """The card as a terminal shows it; no colour, no trailing line break."""
    lines = [f"{card.verdict.name}   {headline(card)}"]
    if card.verdict.message and not any(pieces(card, check) for check in card.verdict.checks):
        lines.append(wrapped(card.verdict.message, "  "))
    if card.verdict.status != "not_attempted":
        for check in card.verdict.checks:
            lines += _check_lines(card, check)
    end = " ".join(closing(card)).replace("`", "")
    if end:
        lines.append(wrapped(end, "  "))
    return "\n".join(lines)


def hint_text(card: HintCard) -> str:
    """A hint as a terminal shows it."""
    if not card.number:
        return wrapped(card.text, "")
    return f"{card.exercise}   hint {card.number} of {card.total}\n{wrapped(card.text, '  ')}"


def wrapped(text: str, indent: str) -> str:
    """Paragraphs filled to the width; lines that are indented more than the rest (code, tables) stay as they are."""
    paragraphs = re.split(r"\n\s*\n", textwrap.dedent(text).strip("\n"))
    return f"\n{indent}\n".join(_paragraph(paragraph, indent) for paragraph in paragraphs)


def _paragraph(paragraph: str, indent: str) -> str:
    if any(line.startswith(("  ", "- ", "* ")) for line in paragraph.splitlines()):
        return textwrap.indent(paragraph, indent)
    return textwrap.fill(
        " ".join(paragraph.split()),
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _case_line(line: str, indent: str) -> str:
    """A line of a case, broken after commas where it is long: what is to be pasted can be pasted all the same."""
    if len(indent + line) <= WIDTH or ", " not in line:
        return indent + line
    # Two spaces align columns and are kept; a break may come after a comma only.
    parts = line.replace(", ", ",\0").replace(" ", "\1").replace("\0", " ").split(" ")
    filled = textwrap.fill(
        " ".join(parts),
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + " " * 4,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return filled.replace("\1", " ")


def _check_lines(card: Card, check: CheckResult) -> list[str]:
    waits = "   (waits for the check above)" if check.status == "not_tried" else ""
    lines = [
        textwrap.fill(f"{symbol(check)} {check.title}{waits}", WIDTH, initial_indent="  ", subsequent_indent="    ")
    ]
    for piece in pieces(card, check):
        if piece.kind == "case":
            lines += [_case_line(line, " " * 6) for line in piece.text.splitlines()]
        else:
            lines.append(wrapped(piece.text, " " * 6))
    return lines

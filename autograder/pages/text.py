"""Render cards as plain text, narrow enough for ``nbgrader validate``."""

from __future__ import annotations

import textwrap
from functools import lru_cache

from autograder.base.sanitize import sanitize
from autograder.pages.card import OTHER_WAY, Card, HintCard, Row, blocks, footer, headline, intro, rows

__all__ = ["card_text", "hint_text", "wrapped"]

WIDTH = 82  # nbgrader's Validate cuts lines at 87 columns, including an indent of four


@lru_cache(maxsize=512)  # many students of a class get the same card
def card_text(card: Card, width: int = WIDTH) -> str:
    """Return the card for a terminal of ``width`` columns, without colors or a final line break."""
    head = f"{sanitize(card.verdict.name)}   {headline(card)}"
    lines = [_filled(head, "", "  ", width), wrapped(intro(card), "  ", width=width)]
    for row in rows(card):
        lines += _row(row, width)
    lines.append(wrapped(" ".join(footer(card)).replace("`", ""), "  ", width=width))
    if card.alternatives:
        note, source = card.alternatives[0]
        lines += [wrapped(f"{OTHER_WAY}. {note}", "  ", width=width), textwrap.indent(sanitize(source), "      ")]
    return "\n".join(line for line in lines if line)


def hint_text(card: HintCard, width: int = WIDTH) -> str:
    """Return a hint for a terminal of ``width`` columns."""
    if not card.number:
        code = f"\n\n{textwrap.indent(sanitize(card.code), '    ')}" if card.code else ""
        return wrapped(card.text, "", width=width) + code
    return f"{card.exercise}   hint {card.number} of {card.total}\n{wrapped(card.text, '  ', width=width)}"


def wrapped(text: str, indent: str, first: str | None = None, width: int = WIDTH) -> str:
    """Wrap and indent paragraphs, with ``first`` as the first line's indent. Verbatim paragraphs are only indented."""
    filled: list[str] = []
    for block in blocks(text):
        start = indent if filled or first is None else first
        verbatim = start + textwrap.indent(block.text, indent).removeprefix(indent)
        filled.append(verbatim if block.kind == "verbatim" else _filled(block.text, start, indent, width))
    return f"\n{indent}\n".join(filled)


def _filled(text: str, indent: str, subsequent: str, width: int) -> str:
    return textwrap.fill(
        text, width, initial_indent=indent, subsequent_indent=subsequent, break_long_words=False, break_on_hyphens=False
    )


def _row(row: Row, width: int) -> list[str]:
    case = [_case_line(line, " " * 6, width) for line in row.case.splitlines()]
    advice = [wrapped(row.advice, " " * 6, width=width)]
    below = [*advice, *case] if row.folds else [*case, *advice]
    titles = [_filled(title, " " * 6, " " * 8, width) for title in row.titles]
    return [
        _filled(f"{row.symbol} {row.title}", "  ", "    ", width),
        wrapped(row.reason, " " * 6, width=width),
        *below,
        *titles,
    ]


def _case_line(line: str, indent: str, width: int) -> str:
    """Return one line of a case, indented. A long line is broken after commas, so that its code can still be pasted into Python."""
    if len(indent + line) <= width or ", " not in line:
        return indent + line
    # Keep double spaces, which align columns, and break only after commas.
    parts = line.replace(", ", ",\0").replace(" ", "\1").replace("\0", " ")
    return _filled(parts, indent, indent + " " * 4, width).replace("\1", " ")

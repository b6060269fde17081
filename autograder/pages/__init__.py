"""Render verdicts for people: cards, course maps, feedback pages."""

from __future__ import annotations

from autograder.pages.card import Card, HintCard, status_text, summary_blocks
from autograder.pages.html import STYLE, card_html, card_section, hint_html
from autograder.pages.text import card_text, hint_text

__all__ = [
    "STYLE", "Card", "HintCard", "card_html", "card_section", "card_text", "hint_html", "hint_text", "status_text",
    "summary_blocks",
]  # fmt: skip

"""What a person reads about one exercise: the same card as text and as HTML."""

from __future__ import annotations

from autograder.render.card import Card, HintCard, remarks, standing
from autograder.render.html import STYLE, card_html, card_section, hint_html
from autograder.render.text import card_text, hint_text

__all__ = [
    "STYLE", "Card", "HintCard", "card_html", "card_section", "card_text", "hint_html", "hint_text", "remarks",
    "standing",
]  # fmt: skip

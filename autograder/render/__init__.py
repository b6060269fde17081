"""What a person reads about one exercise: the same card as text and as HTML."""

from __future__ import annotations

from autograder.render.card import Card, HintCard, headline
from autograder.render.html import card_html, hint_html
from autograder.render.text import card_text, hint_text

__all__ = ["Card", "HintCard", "card_html", "card_text", "headline", "hint_html", "hint_text"]

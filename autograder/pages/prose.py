"""Markdown cells as HTML. A student can edit these cells too, so nothing in them may act in the reader's browser."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache, lru_cache
from html import escape
from typing import Any

import mistune
from markupsafe import Markup

from autograder.base.sanitize import sanitize

__all__ = ["MAX_MARKDOWN", "prose", "verbatim"]

MAX_MARKDOWN = 20_000  # characters: far above any page of prose, and below what makes a Markdown parser slow
_LINK = re.compile(r"(?:https?://|mailto:|#)", re.IGNORECASE)
_FOLD = re.compile(r"\s*(?:<details>\s*<summary>([^<>&]*)</summary>|</details>)\s*")
_PICTURE = re.compile(r"data:image/(?:png|jpeg|gif);base64,[A-Za-z0-9+/=\s]+\Z")


@lru_cache(maxsize=512)  # most of a notebook's prose is its author's, the same on every page of a class
def prose(text: str) -> Markup:
    """The Markdown ``text`` as HTML: markup in it is shown, not obeyed, and formulas stay as they were typed."""
    text = sanitize(text)
    if len(text) <= MAX_MARKDOWN:
        with suppress(RecursionError):
            return Markup(_markdown()(text))  # noqa: S704 - the renderer below escapes all it is given
    return verbatim(text)


def verbatim(text: str) -> Markup:
    """The text as it was typed."""
    return Markup("<pre>{}</pre>").format(sanitize(text))


class _Renderer(mistune.HTMLRenderer):
    """Mistune's HTML with raw markup escaped, one heading level down, and no address that fetches or acts."""

    def __init__(self) -> None:
        super().__init__(escape=True)

    def block_html(self, html: str) -> str:
        """Raw markup as text, but for what folds an answer away: it can do nothing else."""
        fold = _FOLD.fullmatch(html)
        if fold is None:
            return super().block_html(html)
        return "</details>\n" if fold[1] is None else f"<details><summary>{fold[1]}</summary>\n"

    def heading(self, text: str, level: int, **attrs: Any) -> str:
        """A heading below the page's own title."""
        del attrs
        level = min(level + 1, 6)
        return f"<h{level}>{text}</h{level}>\n"

    def link(self, text: str, url: str, title: str | None = None) -> str:
        """A link where it leads to a page; its text alone where it leads anywhere else."""
        del title
        if not _LINK.match(url):
            return text
        return f'<a href="{escape(url)}" rel="noopener noreferrer nofollow">{text}</a>'

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """A picture that the page itself holds; of any other its description, as a page that loads nothing can."""
        del title
        if not _PICTURE.match(url):
            return f"<em>[picture: {escape(text) or 'no description'}]</em>"
        return f'<img src="{escape(url)}" alt="{escape(text)}">'


@cache
def _markdown() -> mistune.Markdown:
    markdown = mistune.create_markdown(renderer=_Renderer(), plugins=["table", "strikethrough", "math"])
    # The plugin's own renderers write formulas down unescaped.
    renderer: Any = markdown.renderer
    renderer.register("block_math", lambda _renderer, text: f'<div class="math">{escape(text)}</div>\n')
    renderer.register("inline_math", lambda _renderer, text: f'<span class="math">{escape(text)}</span>')
    return markdown

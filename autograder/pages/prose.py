"""Render Markdown cells as HTML, and load the templates of pages.

Students can edit text that is shown on pages, so nothing in it may be active in a browser.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache, lru_cache
from html import escape, unescape
from typing import Any
from xml.etree.ElementTree import tostring

import mistune
from jinja2 import Environment, PackageLoader, StrictUndefined
from latex2mathml.converter import Converter
from markupsafe import Markup

from autograder.base.sanitize import sanitize

__all__ = ["MAX_MARKDOWN", "page_templates", "prose", "verbatim"]

MAX_MARKDOWN = 20_000  # characters: longer than any page of prose, but short enough for the Markdown parser to be fast
_LINK = re.compile(r"(?:https?://|mailto:|#)", re.IGNORECASE)
MAX_FORMULA = 1000  # characters of a formula
_FOLD = re.compile(r"\s*(?:<details>\s*<summary>(?:<b>)?([^<>&]*)(?:</b>)?</summary>|</details>)\s*")
_ATTRIBUTES = {"display", "stretchy", "columnalign", "mathvariant", "fence", "form", "movablelimits", "accent"}
_PICTURE = re.compile(r"data:image/(?:png|jpeg|gif);base64,[A-Za-z0-9+/=\s]+\Z")


@lru_cache(maxsize=512)  # most prose comes from the author and is the same on every student's page
def prose(text: str) -> Markup:
    """Return the Markdown ``text`` as HTML. Formulas become MathML, and HTML tags other than ``<details>`` are escaped."""
    text = sanitize(text)
    if len(text) <= MAX_MARKDOWN:
        with suppress(RecursionError):
            html = str(_markdown()(text))
            closed = html.count("</details>") == html.count("<details>")  # an unclosed fold would hide the page below
            return Markup(html) if closed else verbatim(text)  # noqa: S704 - the renderer below escapes its input
    return verbatim(text)


def verbatim(text: str) -> Markup:
    """Return ``text`` as HTML that shows it as typed."""
    return Markup("<pre>{}</pre>").format(sanitize(text))


class _Renderer(mistune.HTMLRenderer):
    """A Mistune renderer that escapes raw HTML, lowers headings by one level, and allows only harmless URLs."""

    def __init__(self) -> None:
        super().__init__(escape=True)

    def block_html(self, html: str) -> str:
        """Escape raw HTML, except ``<details>`` for folded answers."""
        fold = _FOLD.fullmatch(html)
        if fold is None:
            return super().block_html(html)
        return "</details>\n" if fold[1] is None else f"<details><summary>{fold[1]}</summary>\n"

    def heading(self, text: str, level: int, **attrs: object) -> str:
        """Render a heading one level below the page's title."""
        del attrs
        level = min(level + 1, 6)
        return f"<h{level}>{text}</h{level}>\n"

    def link(self, text: str, url: str, title: str | None = None) -> str:
        """Render a link to a web page or mail address. Other links become plain text."""
        del title
        if not _LINK.match(url):
            return text
        return f'<a href="{escape(url)}" rel="noopener noreferrer nofollow">{text}</a>'

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """Render an embedded image. For any other image, show only its description, because the page must not load anything."""
        del title
        if not _PICTURE.match(url):
            return f"<em>[picture: {escape(text) or 'no description'}]</em>"
        return f'<img src="{escape(url)}" alt="{escape(text)}">'


@cache
def page_templates(package: str) -> Environment:
    """Return the HTML templates of ``package``. They escape values and reject unknown variables."""
    return Environment(
        loader=PackageLoader(package, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        # Students choose ids, names and code, so control characters are removed from everything except our own markup.
        finalize=lambda value: sanitize(value) if isinstance(value, str) and not isinstance(value, Markup) else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _markdown() -> mistune.Markdown:
    markdown = mistune.create_markdown(renderer=_Renderer(), plugins=["table", "strikethrough", "math"])
    # The plugin's own renderers do not escape formulas.
    renderer: Any = markdown.renderer
    renderer.register("block_math", lambda _, text: f'<div class="wide" tabindex="0">{_formula(text, "block")}</div>\n')
    renderer.register("inline_math", lambda _, text: _formula(text, "inline"))
    renderer.register("table", lambda _, text: f'<div class="wide" tabindex="0"><table>\n{text}</table></div>\n')
    return markdown


def _formula(text: str, display: str) -> str:
    """Return a LaTeX formula as MathML, or as typed if it cannot be converted."""
    with suppress(Exception):  # a student may type anything between two dollar signs
        if len(text) <= MAX_FORMULA and "newcommand" not in text:  # a macro may expand without end
            tree = Converter(display=display).convert_to_element(text.replace("{aligned}", "{align*}"))
            for node in tree.iter():
                node.text = unescape(node.text or "").replace("\\_", "_")
                for name in node.attrib.keys() - _ATTRIBUTES:  # attributes for links and styles
                    del node.attrib[name]
            return tostring(tree, encoding="unicode", short_empty_elements=False)
    return f"<code>{escape(text)}</code>"

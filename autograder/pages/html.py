"""Render cards as escaped HTML that works with screen readers and with light and dark themes."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from html import escape
from pathlib import Path
from textwrap import dedent

from autograder.base.sanitize import sanitize
from autograder.pages import card as content
from autograder.pages.card import Card, HintCard, Row

__all__ = ["STYLE", "card_html", "card_section", "hint_html"]

# The style uses JupyterLab's variables, which follow its theme. Their fallback values apply everywhere else. If a front end
# removes the style, as in an untrusted notebook, the words and symbols still show everything.
STYLE = f"<style>\n{Path(__file__).with_name('card.css').read_text(encoding='utf-8')}</style>"


def card_html(card: Card) -> str:
    """Return the card as a self-contained HTML fragment without scripts. All text in it is escaped."""
    return STYLE + card_section(card)


@lru_cache(maxsize=512)  # many students of a class get the same card
def card_section(card: Card) -> str:
    """Return the card without its style, for a page that contains ``STYLE`` once."""
    verdict = card.verdict
    items = "".join(map(_row, content.rows(card)))
    body = _prose(content.intro(card)) + (f'<ul class="ag-list">{items}</ul>' if items else "")
    foot, link = _prose(" ".join(content.footer(card))), f'<a href="{escape(sanitize(card.link))}">'
    body += re.sub(r"Next is <code>[^<]*</code>", lambda found: f"{link}{found[0]}</a>", foot) if card.link else foot
    body += _deeper(card.deeper)
    for number, text in enumerate(card.hints, 1):
        body += _fold(f"Hint {number} of {len(card.hints)}", _prose(text))
    if card.alternatives:
        heading = content.OTHER_WAY if len(card.alternatives) == 1 else content.OTHER_WAYS
        body += _fold(heading, "".join(f"{_prose(note)}{_code(source)}" for note, source in card.alternatives))
    look = {"passed": "ag-good", "not_attempted": "ag-open"}.get(verdict.status, "ag-bad")
    return _section(look, verdict.name, content.headline(card), body)


def hint_html(card: HintCard) -> str:
    """Return a hint as a self-contained HTML fragment."""
    what = card.what or (f"hint {card.number} of {card.total}" if card.number else "hints")
    return STYLE + _section("ag-open", card.exercise, what, _prose(card.text) + _code(card.code))


def _section(look: str, name: str, what: str, body: str) -> str:
    name = escape(sanitize(name))
    # The classes keep MathJax away from a student's dollar signs.
    return (
        f'<section class="ag-card {look} mathjax_ignore tex2jax_ignore" role="group" aria-label="{name}: {what}">'
        f'<p class="ag-head"><span class="ag-name">{name}</span> {what}</p>{body}</section>'
    )


def _fold(summary: str, body: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>{body}</details>"


def _deeper(call: str) -> str:
    """Return a button that saves the notebook and runs ``call`` in a new cell. It uses JupyterLab's own commands instead of a script."""
    if not call:
        return ""
    commands = ["docmanager:save", "notebook:insert-cell-below", "notebook:replace-selection", "notebook:run-cell"]
    what = escape(json.dumps({"commands": commands, "args": {"text": call}}))
    run = f'data-commandlinker-command="apputils:run-all-enabled" data-commandlinker-args="{what}"'
    return f'<p><button type="button" data-lm-suppress-shortcuts="true" {run}>Try new random inputs</button></p>'


def _code(text: str, label: str = "Code") -> str:
    return f'<pre class="ag-case" tabindex="0" aria-label="{label}">{escape(sanitize(text))}</pre>' if text else ""


def _row(row: Row) -> str:
    case = _code(row.case, "An example that shows the mistake")
    look = {"✓": "ag-passed", "✗": "ag-failed"}.get(row.symbol, "ag-waiting")
    advice = f'<div class="ag-advice">{_prose(row.advice)}</div>' if row.advice else ""
    below = f"{advice}{_fold(content.THE_CASE, case)}" if row.folds else f"{case}{advice}"
    title, below = _inline(row.title), f"{_prose(row.reason)}{below}"
    below += f"<ul>{''.join(f'<li>{_inline(one)}</li>' for one in row.titles)}</ul>" if row.titles else ""
    if row.closed or row.titles:
        title, below = f'<details class="ag-more"><summary>{title}</summary>{below}</details>', ""
    return (
        f'<li class="{look}"><span class="ag-sign" aria-hidden="true">{row.symbol}</span><span class="ag-heard"> {row.label}: </span>'
        f"{title}{below}</li>"
    )


def _prose(text: str) -> str:
    html = ""
    for block in content.blocks(text):
        verbatim = f'<pre class="ag-case">{escape(dedent(block.text))}</pre>'
        html += verbatim if block.kind == "verbatim" else f"<p>{_inline(block.text)}</p>"
    return html


def _inline(text: str) -> str:
    """Return escaped text with code elements for the parts in backticks."""
    parts = re.split(r"`([^`\n]+)`", text)
    return "".join(f"<code>{escape(part)}</code>" if i % 2 else escape(part) for i, part in enumerate(parts))

"""Cards as HTML for a notebook: escaped throughout, readable aloud, and at home in a light and in a dark theme."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from autograder.render.card import Card, HintCard, closing, headline, pieces, symbol, word

if TYPE_CHECKING:
    from autograder.verdict import CheckResult

__all__ = ["card_html", "hint_html"]

# JupyterLab's variables follow its theme; what stands after each comma serves everywhere else. Where a front end
# strips the style (a notebook that is not trusted), the words and symbols alone still say everything.
_STYLE = """<style>
.ag-card{border:1px solid var(--jp-border-color2,#8888);border-left-width:5px;border-radius:4px;padding:.6em .9em;
margin:.2em 0;max-width:56em;color:var(--jp-content-font-color1,inherit);line-height:1.45;
font-family:var(--jp-content-font-family,system-ui,sans-serif);font-size:var(--jp-content-font-size1,14px)}
.ag-card.ag-good{border-left-color:var(--jp-success-color1,#2e7d32)}
.ag-card.ag-bad{border-left-color:var(--jp-error-color1,#c62828)}
.ag-card.ag-open{border-left-color:var(--jp-info-color1,#0277bd)}
.ag-card .ag-head{margin:0 0 .3em;font-weight:400}
.ag-card .ag-name{font-weight:600;margin-right:1em}
.ag-card ul.ag-list{list-style:none;margin:0;padding:0}
.ag-card ul.ag-list>li{margin:.25em 0;padding:0 0 0 1.6em}
.ag-card .ag-sign{display:inline-block;width:1.6em;margin-left:-1.6em;font-weight:700;text-align:center}
.ag-card .ag-quiet{font-style:italic}
.ag-card p{margin:.35em 0}
.ag-card pre.ag-case.ag-case{margin:.4em 0;padding:.5em .7em;overflow-x:auto;white-space:pre-wrap;word-break:normal;
overflow-wrap:anywhere;border-radius:3px;
background:var(--jp-layout-color2,#8881);color:inherit;line-height:1.4;
font-family:var(--jp-code-font-family,ui-monospace,monospace);font-size:var(--jp-code-font-size,13px)}
.ag-card .ag-advice{border-left:3px solid var(--jp-border-color1,#888);padding-left:.8em;margin:.5em 0}
.ag-card code{font-family:var(--jp-code-font-family,ui-monospace,monospace);background:var(--jp-layout-color2,#8881);
padding:0 .2em;border-radius:2px}
.ag-card .ag-heard{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
</style>"""


def card_html(card: Card) -> str:
    """The card as one self-contained fragment; every text in it is escaped."""
    verdict = card.verdict
    body = []
    if verdict.message and not any(pieces(card, check) for check in verdict.checks):
        body.append(_prose(verdict.message))
    if verdict.status != "not_attempted":
        items = "".join(_check(card, check) for check in verdict.checks)
        body.append(f'<ul class="ag-list">{items}</ul>')
    end = closing(card)
    if end:
        body.append(f"<p>{_inline(' '.join(end))}</p>")
    look = {"passed": "ag-good", "not_attempted": "ag-open"}.get(verdict.status, "ag-bad")
    return _section(look, f"{verdict.name}: {headline(card)}", verdict.name, headline(card), "".join(body))


def hint_html(card: HintCard) -> str:
    """A hint as one self-contained fragment."""
    what = f"hint {card.number} of {card.total}" if card.number else "hints"
    return _section("ag-open", f"{card.exercise}: {what}", card.exercise, what, _prose(card.text))


def _section(look: str, label: str, name: str, what: str, body: str) -> str:
    # The class keeps MathJax away from a student's dollar signs.
    return (
        f'{_STYLE}<section class="ag-card {look} mathjax_ignore tex2jax_ignore" role="group" '
        f'aria-label="{escape(label)}">'
        f'<p class="ag-head"><span class="ag-name">{escape(name)}</span> {escape(what)}</p>{body}</section>'
    )


def _check(card: Card, check: CheckResult) -> str:
    waits = ' <span class="ag-quiet">(waits for the check above)</span>' if check.status == "not_tried" else ""
    told = "".join(
        f'<pre class="ag-case" tabindex="0" aria-label="The case that shows it">{escape(piece.text)}</pre>'
        if piece.kind == "case"
        else f'<div class="ag-advice">{_prose(piece.text)}</div>'
        if piece.kind == "advice"
        else _prose(piece.text)
        for piece in pieces(card, check)
    )
    return (
        f'<li><span class="ag-sign" aria-hidden="true">{symbol(check)}</span>'
        f'<span class="ag-heard">{word(check)}: </span>{_inline(check.title)}{waits}{told}</li>'
    )


def _prose(text: str) -> str:
    blocks = []
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        if any(line.startswith(("  ", "- ", "* ")) for line in paragraph.splitlines()):
            blocks.append(f'<pre class="ag-case">{escape(paragraph)}</pre>')
        else:
            blocks.append(f"<p>{_inline(paragraph)}</p>")
    return "".join(blocks)


def _inline(text: str) -> str:
    """Escaped text in which what stands between backticks is code."""
    parts = re.split(r"`([^`\n]+)`", text)
    return "".join(f"<code>{escape(part)}</code>" if i % 2 else escape(part) for i, part in enumerate(parts))

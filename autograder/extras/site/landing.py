"""The first page of a site: what the course is, a link to each chapter, and a button that hands out one's work."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

import autograder
from autograder.extras.site.released import Chapter
from autograder.student.terminal.layout import MAP_NAME

__all__ = ["write_landing"]


def write_landing(site: Path, title: str, chapters: Sequence[Chapter], contents: Path, *, alone: bool) -> None:
    """Write the first page into ``site``, over JupyterLite's own; ``alone`` where the site brings its own Pyodide."""
    environment = Environment(
        loader=PackageLoader("autograder.extras.site", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    page = environment.get_template("index.html.j2")
    overview = MAP_NAME if (contents / MAP_NAME).is_file() else ""
    text = page.render(title=title, chapters=chapters, version=autograder.__version__, alone=alone, map=overview)
    (site / "index.html").write_text(text, encoding="utf-8")
    work = files("autograder.extras.site").joinpath("templates", "work.js").read_text(encoding="utf-8")
    (site / "work.js").write_text(work, encoding="utf-8")

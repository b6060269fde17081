"""The documentation site: `make docs` builds it, without the network, into docs/_build/html."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]  # the pages describe this checkout, whatever else is installed

import reference  # noqa: E402 - found by the line above

from autograder import __version__  # noqa: E402
from autograder.cli.app import app as command_line  # noqa: E402

project = "autograder"
author = "the autograder contributors"
copyright = author  # noqa: A001 - the name that Sphinx reads
version = release = __version__

extensions = ["myst_parser", "sphinx_click"]
exclude_patterns = ["_build"]
nitpicky = True  # a reference to nothing is a warning, and `make docs` takes a warning for an error
myst_heading_anchors = 4  # `author.md#one-exercise` leads there, as on a forge
default_role = "code"  # one pair of backticks in a help text means what it means in a notebook
highlight_language = "text"

html_theme = "furo"
html_title = f"autograder {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False  # the sources are in the repository
html_show_sphinx = True
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}


def setup(app: "reference.Sphinx") -> None:
    """Fill the pages whose contents are read from the code."""
    command_line.list_commands()  # loads the registered commands, which sphinx-click does not do
    app.connect("source-read", reference.fill)

"""The whole course as a JupyterLite site: notebooks, ``check`` and ``hint`` in a browser, with nothing installed."""

from autograder.extras.site.build import build_site
from autograder.extras.site.errors import SiteError

__all__ = ["SiteError", "build_site"]

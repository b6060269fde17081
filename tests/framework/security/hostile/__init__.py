"""Files that students may submit instead of an honest notebook. Each function makes one of them.

All these files have answers that earn nothing, and most claim marks. A function gets a notebook to change, or the
empty folder of the submission and the class that it belongs to.
"""

from tests.framework.security.hostile import claims, places, shapes
from tests.framework.security.hostile.registry import FILES, NOTHING_RIGHT

__all__ = ["FILES", "NOTHING_RIGHT", "claims", "places", "shapes"]

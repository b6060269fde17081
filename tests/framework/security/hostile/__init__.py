"""Files that students may hand in in place of an honest notebook, each made as its function says.

All of them hold answers that earn nothing, and most of them claim marks. A function is called with a notebook to change,
or with the folder of the submission, which is there and empty, and the class that it belongs to.
"""

from tests.framework.security.hostile import claims, places, shapes
from tests.framework.security.hostile.registry import FILES, NOTHING_RIGHT

__all__ = ["FILES", "NOTHING_RIGHT", "claims", "places", "shapes"]

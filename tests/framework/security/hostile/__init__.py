"""Files that students may submit instead of an honest notebook. Each function makes one such file.

No answer in these files earns marks. A function gets either a notebook to change, or the submission's empty folder
and the simulated class.
"""

from tests.framework.security.hostile import claims, places, shapes
from tests.framework.security.hostile.registry import FILES, NOTHING_RIGHT

__all__ = ["FILES", "NOTHING_RIGHT", "claims", "places", "shapes"]

"""Grading on the machines of a Dask cluster.

``client.grade_on_cluster`` is registered as the grader ``dask``, which ``autograder grade --scheduler`` uses.
"""

from __future__ import annotations

from autograder.base.errors import UnavailableError

__all__ = ["ClusterError"]


class ClusterError(UnavailableError):
    """Raised if Dask is missing, or if the scheduler does not answer. The message says what happened and what to do."""

"""Grading on the machines of a Dask cluster.

``client.grade_on_cluster`` is registered as the grader ``dask``, which ``autograder grade --scheduler`` uses.
"""

from __future__ import annotations

from autograder.base.errors import UnavailableError

__all__ = ["ClusterError"]


class ClusterError(UnavailableError):
    """Raised if the cluster is missing or was lost. The message says which, and what to do."""

"""Grades on the machines of a Dask cluster."""

__all__ = ["ClusterError"]


class ClusterError(Exception):
    """The cluster is not there, or is no more; the text says which, and what to do."""

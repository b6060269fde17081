"""Several writers of one gradebook: one at a time, and who meets another in spite of that tries again.

nbgrader enters a chapter in many small transactions, so a second writer could see half of it. On PostgreSQL a lock of the
database keeps our own writers apart, on whatever machines they run; nbgrader's own commands do not know that lock, and
other databases have none: there a transaction that met another's is rolled back and done once more.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

__all__ = ["exclusive_lock", "retry_conflicts"]

Result = TypeVar("Result")

_LOCK = 0x6175746F67726164  # any number that no other program takes: "autograd"
_MAX_TRIES = 8
_WAIT_SECONDS = 0.05  # before the second try; twice as long before each further one
# Serialization failure, deadlock, lock not available; a table or type that another writer has just made.
_STATES = {"40001", "40P01", "55P03", "42P07", "42710"}


@contextmanager
def exclusive_lock(db_url: str) -> Iterator[None]:
    """Keep other graders out of the database while this one writes; nothing to do where it is not PostgreSQL."""
    if not db_url.startswith("postgresql"):
        yield
        return
    from sqlalchemy import create_engine, text  # noqa: PLC0415 - loaded with nbgrader, which is
    from sqlalchemy.pool import NullPool  # noqa: PLC0415

    # Held by a transaction: it ends with the connection, however this program ends.
    with create_engine(db_url, poolclass=NullPool).connect() as connection, connection.begin():
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        yield


def retry_conflicts(write: Callable[[], Result]) -> Result:
    """What ``write`` returns; where another writer came between, it is called again.

    ``write`` has to leave nothing behind when it raises. Raises what it raises, once it has been tried often enough.
    """
    for attempt in range(_MAX_TRIES - 1):
        try:
            return write()
        except Exception as error:
            if not _met_another(error):
                raise
        # Not for equal times, or two writers might meet again and again.
        time.sleep(_WAIT_SECONDS * 2**attempt * random.uniform(0.5, 1.5))  # noqa: S311 - nothing secret
    return write()


def _met_another(error: BaseException) -> bool:
    from sqlalchemy.exc import DBAPIError, IntegrityError  # noqa: PLC0415
    from sqlalchemy.orm.exc import StaleDataError  # noqa: PLC0415

    seen: BaseException | None = error
    while seen is not None:  # nbgrader raises an error of its own from some of these
        if isinstance(seen, IntegrityError | StaleDataError):
            return True
        if isinstance(seen, DBAPIError):
            message = str(seen.orig)
            locked = "database is locked" in message or "already exists" in message  # as SQLite puts it
            return locked or getattr(seen.orig, "sqlstate", None) in _STATES
        seen = seen.__cause__ or seen.__context__
    return False

"""Access the database of a gradebook, with locks, retries, copies and readable error messages."""

from __future__ import annotations

import os
import random
import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from traitlets import TraitError
from traitlets.config import Config

from autograder.base.errors import CourseError, UnavailableError
from autograder.base.files import KEPT, NO_ROOM
from autograder.classroom.gradebook.reading import SQLITE, Query, file_of, query, query_existing

__all__ = [
    "GradebookError", "copy_gradebook", "exclusive_lock", "gradebook_errors", "require_address", "require_answers",
    "require_gradebook", "require_sound", "require_version", "retry_conflicts",
]  # fmt: skip

_UPGRADE = "Copy the gradebook, then run `nbgrader db upgrade` in the course folder with the nbgrader installed here."

Result = TypeVar("Result")
_LOCK = 0x6175746F67726164  # an arbitrary number: "autograd" in ASCII
_MAX_TRIES = 8
_WAIT_SECONDS = 0.05  # the wait before the second try, doubled for each further try
# PostgreSQL's codes for a serialization failure, a deadlock, an unavailable lock, and a table or type that already exists.
_STATES = {"40001", "40P01", "55P03", "42P07", "42710"}


class GradebookError(UnavailableError):
    """Raised if the gradebook cannot be read or written. The message says why and what to do, and contains no password."""


def require_address(db_url: Any) -> None:
    """Raise ``CourseError`` if ``db_url`` is not the address of a gradebook. For a file, SQLAlchemy is not imported."""
    if isinstance(db_url, str) and db_url.startswith(SQLITE):
        path = file_of(db_url)
        if not path.parent.is_dir():
            raise CourseError(f"c.CourseDirectory.db_url is {path}, but there is no folder {path.parent}. Create it.")
        return
    from sqlalchemy import create_engine  # noqa: PLC0415 - not loaded for a file

    example = f"An address looks like {SQLITE}/folder/gradebook.db or postgresql+psycopg://user@host/gradebook."
    secret = isinstance(db_url, str) and "@" in db_url  # it may contain a password
    shown = "" if secret else f" ({db_url!r})"
    try:
        create_engine(db_url).dispose()
    except ModuleNotFoundError as error:
        raise CourseError(
            f"c.CourseDirectory.db_url needs the Python package {error.name}, which is not installed here. "
            "For PostgreSQL: pip install 'nbautograder[postgres]'."
        ) from error
    except Exception as error:  # SQLAlchemy raises many types of errors
        raise CourseError(f"c.CourseDirectory.db_url{shown} is not a database address. {example}") from error


def require_gradebook(db_url: str, config: Config) -> None:
    """Try the database and nbgrader's plugin for late penalties, without changing anything. This imports nbgrader.

    Raises ``GradebookError`` or ``CourseError`` if marks cannot be entered.
    """
    from nbgrader.coursedir import CourseDirectory  # noqa: PLC0415
    from nbgrader.preprocessors import AssignLatePenalties  # noqa: PLC0415
    from sqlalchemy import create_engine, text  # noqa: PLC0415
    from sqlalchemy.pool import NullPool  # noqa: PLC0415

    try:
        CourseDirectory(config=config)
    except TraitError as error:
        raise CourseError(f"nbgrader's settings in the configuration are invalid: {error}") from error
    try:
        AssignLatePenalties(config=config).init_plugin()
    except Exception as error:  # a plugin of the course may raise anything
        raise CourseError(
            "The plugin for late penalties that nbgrader_config.py sets cannot be used "
            f"(c.AssignLatePenalties, c.LateSubmissionPlugin): {error}"
        ) from error
    if db_url.startswith(SQLITE):
        path = file_of(db_url)
        for place in (path, path.parent):
            if place.exists() and not os.access(place, os.W_OK):
                raise GradebookError(
                    f"The gradebook {path} cannot be written: you do not have permission to write to {place}."
                )
        if not path.exists():
            return
    question = text("PRAGMA schema_version" if db_url.startswith(SQLITE) else "SELECT 1")

    def probe() -> None:
        with create_engine(db_url, poolclass=NullPool).connect() as connection:
            connection.execute(question)

    with gradebook_errors(db_url):
        retry_conflicts(probe)  # another grader may be writing
    require_version(db_url)


def require_sound(db_url: str) -> None:
    """Raise ``GradebookError`` if the file of a gradebook is damaged. Even for a large file, this takes only a fraction of a second."""
    if db_url.startswith(SQLITE):
        try:
            [[(said,)]] = query_existing(db_url, [("PRAGMA quick_check(1)", {})]) or [[("ok",)]]
        except sqlite3.Error as error:  # any other error is reported when marks are entered
            said = str(error) if "malformed" in str(error) or "not a database" in str(error) else "ok"
        if said != "ok":
            raise GradebookError(_unreadable(str(file_of(db_url)), f"{said} (malformed)"))


def require_version(db_url: str) -> None:
    """Raise ``GradebookError`` if another version of nbgrader made the gradebook.

    A missing or unavailable gradebook is not reported here. nbgrader is not imported.
    """
    found = query(db_url, [("SELECT version_num FROM alembic_version", {})])
    versions = [str(version) for rows in found or [] for (version,) in rows]
    ours = _schemas()
    head = next(iter(ours.keys() - set(ours.values())), None)
    if found is None or head is None or versions in ([], [head]):  # empty if nbgrader was killed meanwhile
        return
    shown = file_of(db_url) if db_url.startswith(SQLITE) else "on the server"
    if set(versions) <= ours.keys():
        what = "an older nbgrader than the one installed here. `nbgrader db upgrade` updates the gradebook and keeps a copy"
    else:
        what = "a newer nbgrader than the one installed here. To update nbgrader: pip install --upgrade nbgrader"
    raise GradebookError(f"The gradebook {shown} was created by {what}. Nothing was changed.")


def require_answers(db_url: str, questions: Sequence[Query]) -> list[list[Any]] | None:
    """Return the rows of each query, or None if there is no gradebook yet.

    Raises ``GradebookError`` if the gradebook cannot be read, or if another version of nbgrader made it.
    """
    if db_url.startswith(SQLITE):
        try:
            return query_existing(db_url, questions)
        except sqlite3.Error as error:
            raise GradebookError(_unreadable(str(file_of(db_url)), str(error))) from error
    from sqlalchemy.exc import DBAPIError  # noqa: PLC0415

    with gradebook_errors(db_url):
        try:
            return query_existing(db_url, questions)
        except DBAPIError as error:
            said = " ".join(str(error.orig).split())
            if "does not exist" not in said:
                raise
            raise GradebookError(_other_version("on the server", said)) from error


def _unreadable(path: str, said: str) -> str:
    if "no such table" in said or "no such column" in said:
        return _other_version(path, said)
    if "not a database" in said:
        return f"{path} is not a gradebook: {said}. Put the right file there, or move this file away and grade again."
    if "malformed" in said:
        damage = " ".join(said.replace(" (malformed)", "").split())
        return f"The gradebook {path} is damaged: {damage}. Nothing was changed. Restore a backup of it and run the same command again."
    return f"The gradebook {path} cannot be read: {said}. Try again when no other program uses the file."


def _other_version(where: str, what: str) -> str:
    return f"The gradebook {where} was created by another version of nbgrader: {what}. {_UPGRADE}"


@cache
def _schemas() -> dict[str, str | None]:
    """Map each schema version that the installed nbgrader knows to the version before it."""
    spec = find_spec("nbgrader")
    places = (spec.submodule_search_locations or []) if spec else []
    found: dict[str, str | None] = {}
    for path in (path for place in places for path in Path(place, "alembic", "versions").glob("*.py")):
        text = path.read_text(encoding="utf-8", errors="replace")
        if name := re.search(r"^revision\s*=\s*['\"](\w+)['\"]", text, re.MULTILINE):
            before = re.search(r"^down_revision\s*=\s*['\"](\w+)['\"]", text, re.MULTILINE)
            found[name[1]] = before[1] if before else None
    return found


@contextmanager
def gradebook_errors(db_url: str) -> Iterator[None]:
    """Convert the database's errors in the block to ``GradebookError``."""
    from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415

    try:
        yield
    except SQLAlchemyError as error:
        from sqlalchemy.engine import make_url  # noqa: PLC0415

        url = make_url(db_url)
        secret, shown = str(url.password or ""), url.set(query={}).render_as_string()
        why = " ".join(str(getattr(error, "orig", None) or error).split())
        why = (why.replace(secret, "***") if secret else why).rstrip(".?")
        if "disk is full" in why or "No space left" in why:
            raise GradebookError(f"The gradebook {shown} cannot be written: {NO_ROOM}") from error
        raise GradebookError(f"The gradebook {shown} cannot be used: {why}. {KEPT}") from error


@contextmanager
def exclusive_lock(db_url: str) -> Iterator[None]:
    """Keep other graders from writing to the database during the block. This does nothing unless the database is PostgreSQL.

    nbgrader enters a chapter in many small transactions, so another writer could see a half-entered chapter.
    """
    if not db_url.startswith("postgresql"):
        yield
        return
    from sqlalchemy import create_engine, text  # noqa: PLC0415 - already loaded with nbgrader
    from sqlalchemy.pool import NullPool  # noqa: PLC0415

    # A transaction holds the lock, so it is released when the connection ends, even if this process is killed.
    with create_engine(db_url, poolclass=NullPool).connect() as connection, connection.begin():
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        yield


def retry_conflicts(write: Callable[[], Result]) -> Result:
    """Return the result of ``write``. If another writer interferes, call ``write`` again.

    nbgrader's own commands do not use our lock, and databases other than PostgreSQL have no lock. So a transaction may conflict with
    another one. ``write`` must leave nothing behind when it raises. After several failed tries, its error is raised.
    """
    for attempt in range(_MAX_TRIES - 1):
        try:
            return write()
        except Exception as error:
            if not _met_another(error):
                raise
        # A random time, so that two writers do not conflict again.
        time.sleep(_WAIT_SECONDS * 2**attempt * random.uniform(0.5, 1.5))  # noqa: S311 - nothing secret
    return write()


def _met_another(error: BaseException) -> bool:
    from sqlalchemy.exc import DBAPIError, IntegrityError  # noqa: PLC0415
    from sqlalchemy.orm.exc import StaleDataError  # noqa: PLC0415

    seen: BaseException | None = error
    while seen is not None:  # nbgrader wraps some of these errors
        if isinstance(seen, IntegrityError | StaleDataError):
            return True
        if isinstance(seen, DBAPIError):
            message = str(seen.orig)
            locked = "database is locked" in message or "already exists" in message  # messages of SQLite
            return locked or getattr(seen.orig, "sqlstate", None) in _STATES
        seen = seen.__cause__ or seen.__context__
    return False


def copy_gradebook(url: str, folder: Path) -> str:
    """Copy the gradebook at ``url`` to ``folder``, and return the address of the copy, or "" if there is no gradebook yet.

    Raises ``GradebookError`` if the gradebook cannot be read.
    """
    copy = folder / "gradebook.db"
    with gradebook_errors(url):
        if not url.startswith(SQLITE):
            _copy_from_server(url, copy)
        else:
            path = file_of(url)
            if not path.is_file():
                return ""
            with (
                closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=30)) as book,
                closing(sqlite3.connect(copy)) as target,
            ):
                book.backup(target)
    return f"{SQLITE}{copy}"


def _copy_from_server(url: str, copy: Path) -> None:
    from nbgrader.api import Base  # noqa: PLC0415 - takes seconds, and few gradebooks are on a server
    from sqlalchemy import create_engine, inspect, select, text  # noqa: PLC0415
    from sqlalchemy.pool import NullPool  # noqa: PLC0415

    server = create_engine(url, poolclass=NullPool)
    target = create_engine(f"{SQLITE}{copy}", poolclass=NullPool)
    with server.connect() as source:
        there = set(inspect(source).get_table_names())
        if not there & set(Base.metadata.tables):
            return  # nbgrader will create the tables in the copy
        with target.begin() as sink:
            Base.metadata.create_all(sink)
            versions = source.execute(text("SELECT version_num FROM alembic_version")).all()
            sink.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
            for (version,) in versions:
                sink.execute(text("INSERT INTO alembic_version (version_num) VALUES (:version)"), {"version": version})
            for table in Base.metadata.sorted_tables:
                rows = [dict(row) for row in source.execute(select(table)).mappings()]
                if rows:
                    sink.execute(table.insert(), rows)

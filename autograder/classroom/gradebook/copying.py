"""A copy of a gradebook in a file of its own, to try out what entering marks would do; the original is only read."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from autograder.classroom.gradebook.errors import gradebook_errors

__all__ = ["copy_gradebook"]

_FILE = "sqlite:///"


def copy_gradebook(url: str, folder: Path) -> str:
    """The address of a copy in ``folder`` of the gradebook at ``url``, as it is at this moment; empty where there is none yet.

    Raises ``GradebookError`` where it cannot be read.
    """
    copy = folder / "gradebook.db"
    with gradebook_errors(url):
        if not url.startswith(_FILE):
            _copy_from_server(url, copy)
        else:
            path = Path(url.removeprefix(_FILE).partition("?")[0])
            if not path.is_file():
                return ""
            with (
                closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=30)) as book,
                closing(sqlite3.connect(copy)) as target,
            ):
                book.backup(target)
    return f"{_FILE}{copy}"


def _copy_from_server(url: str, copy: Path) -> None:
    from nbgrader.api import Base  # noqa: PLC0415 - nbgrader takes seconds, and few gradebooks lie on a server
    from sqlalchemy import create_engine, inspect, select, text  # noqa: PLC0415
    from sqlalchemy.pool import NullPool  # noqa: PLC0415

    server = create_engine(url, poolclass=NullPool)
    target = create_engine(f"{_FILE}{copy}", poolclass=NullPool)
    with server.connect() as source:
        there = set(inspect(source).get_table_names())
        if not there & set(Base.metadata.tables):
            return  # nbgrader makes its tables in the copy, as it would there
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

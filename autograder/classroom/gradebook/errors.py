"""What keeps marks out of a gradebook, found before a class is graded and said in a sentence that holds no password."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from traitlets import TraitError
from traitlets.config import Config

from autograder.base.errors import CourseError, UnavailableError
from autograder.base.files import KEPT, NO_ROOM
from autograder.classroom.gradebook.locking import retry_conflicts
from autograder.classroom.gradebook.reading import SQLITE, Question, answers, ask, file_of

__all__ = [
    "GradebookError",
    "gradebook_errors",
    "require_address",
    "require_answers",
    "require_gradebook",
    "require_version",
]

_UPGRADE = (
    "Make a copy of it and run `nbgrader db upgrade` in the course folder, with the nbgrader that is installed here."
)


class GradebookError(UnavailableError):
    """The gradebook cannot be reached or written; the text says which, why and what to do."""


def require_address(db_url: Any) -> None:
    """Raise ``CourseError`` where ``db_url`` is no address at which a gradebook could be. A file's costs next to nothing."""
    if isinstance(db_url, str) and db_url.startswith(SQLITE):
        folder = file_of(db_url).parent
        if not folder.is_dir():
            raise CourseError(f"c.CourseDirectory.db_url names {file_of(db_url)}, and there is no folder {folder}.")
        return
    from sqlalchemy import create_engine  # noqa: PLC0415 - not loaded for a file

    example = f"It looks like {SQLITE}/folder/gradebook.db or postgresql+psycopg://user@host/gradebook."
    secret = isinstance(db_url, str) and "@" in db_url  # there may be a password in front of it
    shown = "is set" if secret else f"is {db_url!r}"
    try:
        create_engine(db_url).dispose()
    except ModuleNotFoundError as error:
        raise CourseError(
            f"c.CourseDirectory.db_url asks for the Python package {error.name}, which is not installed here. "
            "For PostgreSQL: pip install 'nbautograder[postgres]'."
        ) from error
    except Exception as error:  # whatever the value is: SQLAlchemy raises errors of many kinds
        raise CourseError(f"c.CourseDirectory.db_url {shown}, which is no address of a database. {example}") from error


def require_gradebook(db_url: str, config: Config) -> None:
    """Try what entering marks will need: the database, and nbgrader's plugin for late penalties. nbgrader is loaded.

    Raises ``GradebookError`` or ``CourseError``. Nothing is made or changed.
    """
    from nbgrader.coursedir import CourseDirectory  # noqa: PLC0415
    from nbgrader.preprocessors import AssignLatePenalties  # noqa: PLC0415
    from sqlalchemy import create_engine, text  # noqa: PLC0415
    from sqlalchemy.pool import NullPool  # noqa: PLC0415

    try:
        CourseDirectory(config=config)
    except TraitError as error:
        raise CourseError(f"nbgrader's part of the configuration cannot be used: {error}") from error
    try:
        AssignLatePenalties(config=config).init_plugin()
    except Exception as error:  # a class of the course's own may raise anything
        raise CourseError(
            "nbgrader's plugin for late penalties cannot be used as nbgrader_config.py has it "
            f"(c.AssignLatePenalties, c.LateSubmissionPlugin): {error}"
        ) from error
    if db_url.startswith(SQLITE):
        path = file_of(db_url)
        for place in (path, path.parent):
            if place.exists() and not os.access(place, os.W_OK):
                raise GradebookError(f"The gradebook {path} cannot be written: {place} is read-only for you.")
        if not path.exists():
            return
    question = text("PRAGMA schema_version" if db_url.startswith(SQLITE) else "SELECT 1")

    def ask() -> None:
        with create_engine(db_url, poolclass=NullPool).connect() as connection:
            connection.execute(question)

    with gradebook_errors(db_url):
        retry_conflicts(ask)  # another grader may be writing just now
    require_version(db_url)


def require_version(db_url: str) -> None:
    """Raise ``GradebookError`` where the gradebook's tables are those of another nbgrader than the one installed here.

    One that does not answer, or is not there yet, is nothing to tell here. nbgrader is not loaded.
    """
    found = ask(db_url, [("SELECT version_num FROM alembic_version", {})])
    versions = [str(version) for rows in found or [] for (version,) in rows]
    ours = _schemas()
    head = next(iter(ours.keys() - set(ours.values())), None)
    if found is None or head is None or versions == [head]:
        return
    shown = file_of(db_url) if db_url.startswith(SQLITE) else "on the server"
    if set(versions) <= ours.keys():
        what = "an older nbgrader than the one installed here. `nbgrader db upgrade` brings it up to date, and keeps a copy"
    else:
        what = "a newer nbgrader than the one installed here. Install that one: pip install --upgrade nbgrader"
    raise GradebookError(f"The gradebook {shown} was made by {what}. Nothing was changed.")


def require_answers(db_url: str, questions: Sequence[Question]) -> list[list[Any]] | None:
    """The rows that answer each question; None where there is no gradebook yet.

    Raises ``GradebookError`` where there is one that cannot be read, or that another version of nbgrader has made.
    """
    if db_url.startswith(SQLITE):
        try:
            return answers(db_url, questions)
        except sqlite3.Error as error:
            raise GradebookError(_unreadable(str(file_of(db_url)), str(error))) from error
    from sqlalchemy.exc import DBAPIError  # noqa: PLC0415

    with gradebook_errors(db_url):
        try:
            return answers(db_url, questions)
        except DBAPIError as error:
            said = " ".join(str(error.orig).split())
            if "does not exist" not in said:
                raise
            raise GradebookError(_other_version("on the server", said)) from error


def _unreadable(path: str, said: str) -> str:
    if "no such table" in said or "no such column" in said:
        return _other_version(path, said)
    if "not a database" in said:
        return f"{path} is not a gradebook: {said}. Put the right file there, or move this one away and grade again."
    return f"The gradebook {path} cannot be read: {said}. Try again when nothing else uses it."


def _other_version(where: str, what: str) -> str:
    return f"The gradebook {where} was made by another version of nbgrader: {what}. {_UPGRADE}"


@cache
def _schemas() -> dict[str, str | None]:
    """The versions of the gradebook's tables that the installed nbgrader knows, each with the one before it."""
    spec = find_spec("nbgrader")
    folders = (
        [Path(place) / "alembic" / "versions" for place in (spec.submodule_search_locations or [])] if spec else []
    )
    found: dict[str, str | None] = {}
    for path in (path for folder in folders for path in folder.glob("*.py")):
        text = path.read_text(encoding="utf-8", errors="replace")
        if name := re.search(r"^revision\s*=\s*['\"](\w+)['\"]", text, re.MULTILINE):
            before = re.search(r"^down_revision\s*=\s*['\"](\w+)['\"]", text, re.MULTILINE)
            found[name[1]] = before[1] if before else None
    return found


@contextmanager
def gradebook_errors(db_url: str) -> Iterator[None]:
    """Raise what a database says as a ``GradebookError``."""
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

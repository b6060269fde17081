"""The course secret. Hidden inputs are drawn from it, so that they are the same for every student and cannot be guessed."""

from __future__ import annotations

import hashlib
import os
import secrets
from contextlib import suppress
from functools import partial

from autograder.course.course import Course

__all__ = ["VARIABLE", "course_secret", "secret_text"]

VARIABLE = "AUTOGRADER_COURSE_SECRET"


def course_secret(course: Course) -> bytes:
    """Return 32 bytes derived from the course secret, which is in the environment or in a file that is created if missing."""
    return hashlib.blake2b(secret_text(course).encode(), digest_size=32).digest()


def secret_text(course: Course) -> str:
    """Return the course secret as written in the environment or its file."""
    text = os.environ.get(VARIABLE, "")
    if not text:
        path = course.root / course.secret_file
        private = partial(os.open, mode=0o600)
        with suppress(FileExistsError), open(path, "x", encoding="utf-8", opener=private) as file:
            file.write(secrets.token_hex(32) + "\n")
        text = path.read_text(encoding="utf-8").strip()
    return text

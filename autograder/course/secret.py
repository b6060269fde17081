"""The course's secret, from which hidden inputs are drawn: the same for every student, not to be guessed."""

from __future__ import annotations

import hashlib
import os
import secrets
from contextlib import suppress

from autograder.course.course import Course

__all__ = ["VARIABLE", "course_secret", "secret_text"]

VARIABLE = "AUTOGRADER_COURSE_SECRET"


def course_secret(course: Course) -> bytes:
    """The course's secret, as 32 bytes: from the environment, else from its file, which is made where there is none."""
    return hashlib.blake2b(secret_text(course).encode(), digest_size=32).digest()


def secret_text(course: Course) -> str:
    """The text of the course's secret, as somebody wrote it down."""
    text = os.environ.get(VARIABLE, "")
    if not text:
        path = course.root / course.secret_file
        with (
            suppress(FileExistsError),
            open(path, "x", encoding="utf-8", opener=lambda p, flags: os.open(p, flags, 0o600)) as file,
        ):
            file.write(secrets.token_hex(32) + "\n")
        text = path.read_text(encoding="utf-8").strip()
    return text

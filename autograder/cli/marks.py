"""The verbs about marks once they are made: pages with what a person added to them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click
from click.exceptions import Exit

from autograder.cli.app import _errors_in_sentences, _wanted, app, chapters_argument, course_option, json_option
from autograder.cli.progress import say
from autograder.cli.text import listed
from autograder.course import load_course
from autograder.wording import plural

__all__ = ["feedback"]

everything_option = click.option("--all", "everything", is_flag=True, help="Every finished chapter.")
students_option = click.option(
    "--student", "students", metavar="ID", multiple=True, help="Only this student; may be given again."
)


@app.command()
@chapters_argument
@everything_option
@students_option
@click.option("--force", is_flag=True, help="Replace pages that were not made by autograder, too.")
@json_option
@course_option
def feedback(
    chapters: Sequence[str],
    *,
    everything: bool,
    students: Sequence[str],
    force: bool,
    as_json: bool,
    course_folder: Path | None,
) -> None:
    """Make the pages that students get back, with marks and comments as the gradebook has them now; nothing is graded."""
    from autograder.classroom.feedback import make_pages
    from autograder.classroom.run import handed_in

    with _errors_in_sentences():
        course = load_course(course_folder)
        found: list[dict[str, object]] = []
        missing = False
        for chapter in _wanted(course, chapters, everything=everything):
            pages = make_pages(course, chapter, handed_in(course, chapter, students), force=force)
            found += [{"chapter": chapter, **page.to_json()} for page in pages]
            counts = Counter(page.status for page in pages)
            missing |= bool(counts["not graded"])
            say(f"{chapter}: {plural(counts['made'], 'page')} made, {counts['unchanged']} as before.")
            if remarks := listed((page.reason, page.student) for page in pages):
                say(remarks)
        if as_json:
            click.echo(json.dumps(found, ensure_ascii=False, indent=1))
        if missing:
            raise Exit(1)

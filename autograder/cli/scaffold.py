"""The verbs of who begins a course: a folder that works at once, another exercise, stubs in line with their references."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import click
from click.exceptions import Exit

from autograder.base.formatting import join_words, pluralize
from autograder.cli.common import chapters_argument, course_option, wanted
from autograder.cli.verbs import PATH, errors_in_sentences
from autograder.course.course import load_course

__all__ = ["new", "new_exercise", "stubs"]


@click.command()
@click.argument("folder", metavar="DIR", type=PATH)
@click.option("--title", help="What the course is called; by default made of the folder's name.")
@click.option(
    "--id", "course_id", metavar="ID", help="Its id in the gradebook and the exchange; by default the folder's name."
)
def new(folder: Path, *, title: str | None, course_id: str | None) -> None:
    """Make a course in a new folder, with one exercise that can be released, graded and audited at once."""
    from autograder.authoring.scaffold.course import new_course

    with errors_in_sentences():
        course = new_course(folder, title=title, course_id=course_id)
        [chapter] = course.chapters
        click.echo(f"{folder} is a course, {course.title!r}, with one exercise in {chapter}. What next:")
        if course.root != Path.cwd():
            click.echo(f"  cd {shlex.quote(str(folder))}")
        click.echo(f"  autograder release {chapter}")
        click.echo("  autograder new-exercise NAME --chapter CHAPTER")
        click.echo("README.md there says what lies where.")


@click.command("new-exercise")
@click.argument("name")
@click.option("--chapter", metavar="CHAPTER", required=True, help="Where it belongs; a chapter of a new name is made.")
@click.option(
    "--signature",
    metavar="'NAME(x, axis=-1)'",
    help="Its parameters; by default those of its reference, or x where there is none yet.",
)
@click.option("--points", type=float, help="What it is worth; by default 4.")
@course_option
def new_exercise(
    name: str, *, chapter: str, signature: str | None, points: float | None, course_folder: Path | None
) -> None:
    """Begin an exercise: reference, checks, a first misconception and cells, each in its place, with what is left to write marked."""
    from autograder.authoring.scaffold.exercise import new_exercise as begin

    with errors_in_sentences():
        course = load_course(course_folder)
        made = begin(course, name, chapter, signature=signature, points=points)
        if made.new_chapter:
            click.echo(f"{chapter} is a new chapter, the last in course_config.py.")
        if made.from_reference:
            click.echo(f"The stub is made from {name} in solutions/{chapter}.py.")
        for path in made.files:
            todo = made.todo.get(path, 0)
            left = f"   {pluralize(todo, 'place')} to write in" if todo else ""
            click.echo(f"  {path.relative_to(course.root)}{left}")
        if made.todo:
            click.echo(f"Each place says TODO(author), and `autograder release {chapter}` lists what is left.")
        if not made.from_reference:
            click.echo(
                f"Begin with the answer in solutions/{chapter}.py: `autograder stubs {chapter}` then gives the stub its docstring."
            )


@click.command()
@chapters_argument
@course_option
def stubs(chapters: Sequence[str], *, course_folder: Path | None) -> None:
    """Give stubs the parameters and docstrings of their references, where they differ; by default in every chapter."""
    from autograder.authoring.scaffold.stubs import update_stubs

    with errors_in_sentences():
        course = load_course(course_folder)
        left: list[str] = []
        for chapter in wanted(course, chapters, everything=not chapters):
            renewed = update_stubs(course, chapter)
            left += renewed.left
            if renewed.changed:
                click.echo(f"{chapter}: {join_words(renewed.changed)} written anew.")
            elif not renewed.left:
                click.echo(f"{chapter}: every stub is as its reference says.")
        for sentence in left:
            click.echo(sentence, err=True)
        raise Exit(1 if left else 0)

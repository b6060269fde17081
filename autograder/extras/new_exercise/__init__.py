"""The commands that create an exercise and update its stub."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from click.exceptions import Exit

from autograder.base.formatting import join_words, pluralize
from autograder.cli.commands import PlacedCommand, chapters_argument, course_option, friendly_errors, selected_chapters
from autograder.course.course import load_course

__all__ = ["new_exercise", "stubs"]


@click.command("new-exercise", cls=PlacedCommand, section="To write and maintain a course", after="new")
@click.argument("name")
@click.option(
    "--chapter", metavar="CHAPTER", required=True, help="The exercise's chapter. It is created if it does not exist."
)
@click.option(
    "--signature",
    metavar="'NAME(x, axis=-1)'",
    help="The exercise's parameters. Default: the reference's parameters, or x if there is no reference yet.",
)
@click.option("--points", type=float, help="The exercise's points. Default: 4.")
@course_option
def new_exercise(
    name: str, *, chapter: str, signature: str | None, points: float | None, course_folder: Path | None
) -> None:
    """Create an exercise: reference, checks, a first misconception and cells, with TODO(author) at each part that you have to write."""
    from autograder.extras.new_exercise.outline import new_exercise as begin

    with friendly_errors():
        course = load_course(course_folder)
        made = begin(course, name, chapter, signature=signature, points=points)
        if made.new_chapter:
            click.echo(f"{chapter} is a new chapter, at the end of the list in course_config.py.")
        if made.from_reference:
            click.echo(f"The stub is created from {name} in solutions/{chapter}.py.")
        for path in made.files:
            todo = made.todo.get(path, 0)
            left = f"   {pluralize(todo, 'place')} to fill in" if todo else ""
            click.echo(f"  {path.relative_to(course.root)}{left}")
        if made.todo:
            click.echo(
                f"Each place is marked TODO(author), and `autograder release {chapter}` lists the remaining places."
            )
        if not made.from_reference:
            click.echo(
                f"First write the solution in solutions/{chapter}.py. `autograder stubs {chapter}` then copies its docstring to the stub."
            )


@click.command(cls=PlacedCommand, section="To write and maintain a course", after="new-exercise")
@chapters_argument
@course_option
def stubs(chapters: Sequence[str], *, course_folder: Path | None) -> None:
    """Update the parameters and docstrings of stubs from their references, by default in every chapter."""
    from autograder.extras.new_exercise.stub_cells import update_stubs

    with friendly_errors():
        course = load_course(course_folder)
        left: list[str] = []
        for chapter in selected_chapters(course, chapters, everything=not chapters):
            renewed = update_stubs(course, chapter)
            left += renewed.left
            if renewed.changed:
                click.echo(f"{chapter}: {join_words(renewed.changed)} updated.")
            elif not renewed.left:
                click.echo(f"{chapter}: every stub already matches its reference.")
        for sentence in left:
            click.echo(sentence, err=True)
        raise Exit(1 if left else 0)

"""The command that creates an exercise."""

from __future__ import annotations

from pathlib import Path

import click

from autograder.base.formatting import pluralize
from autograder.cli.commands import PlacedCommand, course_option, friendly_errors
from autograder.course.course import load_course

__all__ = ["new_exercise"]


@click.command("new-exercise", cls=PlacedCommand, section="To write and maintain a course", after="new")
@click.argument("name")
@click.option("--chapter", metavar="CHAPTER", required=True, help="Its chapter, which is created if it is new.")
@click.option(
    "--signature",
    metavar="'NAME(x, axis=-1)'",
    help="Its parameters. Default: those of its reference, or x if it has none yet.",
)
@click.option("--points", type=float, help="Its points. Default: 4.")
@course_option
def new_exercise(
    name: str, *, chapter: str, signature: str | None, points: float | None, course_folder: Path | None
) -> None:
    """Create an exercise: reference, checks, a first misconception and cells, with each part left to write marked."""
    from autograder.extras.new_exercise.outline import new_exercise as begin

    with friendly_errors():
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
                f"First write the solution in solutions/{chapter}.py. `autograder stubs {chapter}` then copies its docstring to the stub."
            )

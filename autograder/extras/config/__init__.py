"""The command that lists a course's settings, each with its meaning, its value and the file that sets it."""

from __future__ import annotations

import ast
import json
import os
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from autograder.base.foreign import Value
from autograder.cli.commands import PlacedCommand, course_option, report_errors
from autograder.course.course import CONFIG_NAME, Course, load_config, load_course
from autograder.course.secret import VARIABLE

__all__ = ["Setting", "config", "settings_of"]

_NBGRADER = "nbgrader_config.py"
DEFAULT = "default"
# The nbgrader settings that this framework uses, each with its default and its help text.
_OF_NBGRADER: Mapping[str, tuple[str, str]] = {
    "CourseDirectory.course_id": ("", "The name of the course in the gradebook and in the exchange. Default: the folder's name."),
    "CourseDirectory.db_url": ("sqlite:///gradebook.db", "The address of the gradebook. Default: gradebook.db in the course folder."),
    "CourseDirectory.submitted_directory": ("submitted", "The folder of submissions."),
    "CourseDirectory.autograded_directory": ("autograded", "The folder of the graded notebooks."),
    "CourseDirectory.feedback_directory": ("feedback", "The folder of students' feedback pages."),
    "AssignLatePenalties.plugin_class": (
        "nbgrader.plugins.latesubmission.LateSubmissionPlugin",
        "The plugin that computes the penalty for a late submission.",
    ),
    "LateSubmissionPlugin.penalty_method": ("none", "The plugin's built-in rule: no penalty, or zero points for a late submission."),
    "Exchange.root": ("", "The folder through which notebooks are released and collected. Default: nbgrader's own folder."),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its name in configuration files, value, default, help text, and the file that sets it."""

    name: str
    value: Value
    default: Value
    help: str
    where: str

    def to_json(self) -> dict[str, Value]:
        """Return the setting as a dictionary."""
        return asdict(self)


def settings_of(course: Course) -> list[Setting]:
    """Return all settings that affect a course, the framework's own first. The values contain no secrets."""
    own = _places(course.root / CONFIG_NAME)
    settings = []
    for name, trait in sorted(course.traits(config=True).items()):
        key = f"Course.{name}"
        given = name in course.config.get("Course", {})
        where = own.get(key, CONFIG_NAME) if given else DEFAULT
        default = trait.default() if callable(getattr(trait, "default", None)) else trait.default_value
        settings.append(Setting(f"c.{key}", getattr(course, name), default, " ".join(trait.help.split()), where))
    settings += _of_nbgrader(course, own)
    given = bool(os.environ.get(VARIABLE))
    help_text = f"The secret from which hidden inputs are drawn. It takes precedence over the file {course.secret_file}. Its value is not shown."
    value, where = ("set", "the environment") if given else ("not set", DEFAULT)
    settings.append(Setting(VARIABLE, value, "not set", help_text, where))
    return settings


def _of_nbgrader(course: Course, own: Mapping[str, str]) -> Iterator[Setting]:
    path = course.root / _NBGRADER
    config = load_config(path) if path.is_file() else course.config
    places = {**own, **_places(path)}
    for key, (default, help_text) in _OF_NBGRADER.items():
        section, name = key.split(".")
        given = name in config.get(section, {})
        value = config[section][name] if given else default
        if key == "CourseDirectory.course_id" and not given:
            value = course.course_id
        if name == "db_url":
            value = _without_password(str(value))
        yield Setting(f"c.{key}", value, default, help_text, places.get(key, _NBGRADER) if given else DEFAULT)


def _without_password(url: str) -> str:
    scheme, separator, rest = url.partition("://")
    login, at, host = rest.rpartition("@")
    user = login.partition(":")[0]
    return f"{scheme}{separator}{user}:***@{host}" if at and ":" in login else url


def _places(path: Path) -> dict[str, str]:
    """Return the location of each setting that ``path`` assigns: the file's name and the last line that mentions the setting."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return {}
    places: dict[str, str] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Attribute(value=ast.Name(id="c"), attr=section), attr=name):
                line = max(node.lineno, int(places.get(f"{section}.{name}", "line 0").rpartition(" ")[2]))
                places[f"{section}.{name}"] = f"{path.name}, line {line}"
    return places


@click.command(cls=PlacedCommand, section="To write and maintain a course", after="doctor")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array, with an object for each setting.")
@course_option
def config(*, as_json: bool, course_folder: Path | None) -> None:
    """Print every setting with its value, its meaning, and the place where it is set."""
    with report_errors():
        found = settings_of(load_course(course_folder))
        if as_json:
            click.echo(json.dumps([one.to_json() for one in found], ensure_ascii=False, indent=2, default=str))
            return
        width = max(min(shutil.get_terminal_size().columns, 110), 40) if sys.stdout.isatty() else 110
        for one in found:
            other = "" if one.value == one.default else f", default {one.default!r}"
            head = f"{one.name} = {one.value!r}   ({one.where}{other})"
            click.echo(textwrap.fill(head, width, subsequent_indent="    ", break_on_hyphens=False))
            click.echo(textwrap.fill(one.help, width, initial_indent="    ", subsequent_indent="    "))

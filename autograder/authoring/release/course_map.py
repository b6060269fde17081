"""Create the course map, ``index.ipynb`` and ``course.json``, from the chapters' notebooks.

Authors may add these optional entries to a notebook's metadata, next to ``"chapter"``::

    {"autograder": {"chapter": "ch1", "minutes": 60, "deep_minutes": 20, "needs": ["ch0"],
                    "exercises": {"softmax": {"stars": 2, "minutes": 15, "importance": 5}}}}

A chapter's title is the first level-1 heading of its notebook. Points come from the notebook's cells.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.authoring.release.editions import edition
from autograder.authoring.scaffold.writing import new_notebook
from autograder.base.errors import CourseError
from autograder.base.files import write_atomically
from autograder.base.foreign import Json
from autograder.base.formatting import number, pluralize
from autograder.course.course import Audience, Course
from autograder.course.notebook import Notebook, load_source, metadata_of
from autograder.student.terminal.layout import COURSE_NAME, MAP_NAME

__all__ = ["described", "map_of", "write_map"]

STARS, IMPORTANCE = 3, 5  # maximum values
_HOW = "Open a chapter by its link, read it, write your code into the stubs, and run the `check(…)` below each. `hint(…)` helps if you are stuck."
# The meaning of each sign, shown only if the course uses it.
_SIGNS = {
    "deep_minutes": "You can skip parts marked *Deep*: no exercise needs them.",
    "stars": "★ is easy, ★★★ is hard.",
    "importance": "●○○○○ is optional, ●●●●● is the basis of everything after it.",
}
_PROGRESS = "## Where you are\n\nRun the next cell (click on it, then Shift-Enter) to see what you have done and what comes next."


def write_map(course: Course, folder: Path, chapters: Sequence[str], audience: Audience = "class") -> None:
    """Write the map of ``chapters`` for ``audience`` to ``folder``, which contains the students' versions.

    Raises ``CourseError`` if a notebook's metadata is invalid or names a missing chapter or exercise.
    """
    data = described(course, chapters)
    write_atomically(folder / COURSE_NAME, f"{json.dumps(data, ensure_ascii=False, indent=1)}\n".encode())
    write_atomically(
        folder / MAP_NAME, f"{json.dumps(edition(map_of(data), audience), ensure_ascii=False, indent=1)}\n".encode()
    )


def described(course: Course, chapters: Sequence[str]) -> dict[str, Json]:
    """Return the course as data: its id, title and packages, and what the notebooks say about each chapter and exercise."""
    return {
        "id": course.course_id,
        "title": course.title or course.course_id,
        "packages": list(course.packages),
        "chapters": [_chapter(course, chapter) for chapter in chapters],
    }


def _chapter(course: Course, chapter: str) -> dict[str, Json]:
    document, notebook = load_source(course.source(chapter))
    metadata = metadata_of(document)
    needs, exercises = metadata.get("needs", []), metadata.get("exercises", {})
    where = f"The metadata of {course.source(chapter)}"
    if not isinstance(needs, list) or not isinstance(exercises, Mapping):
        kinds = '"needs" must be a list of chapters, and "exercises" an object with an entry for each exercise'
        raise CourseError(f"{where}: {kinds}.")
    earlier = course.chapters[: course.chapters.index(chapter)]
    if unknown := [str(name) for name in needs if name not in earlier]:
        later = f"{', '.join(unknown)}, but it may name only earlier chapters in c.Course.chapters"
        raise CourseError(f'{where}: "needs" names {later}.')
    if unknown := sorted(set(exercises) - set(notebook.exercises())):
        raise CourseError(f'{where}: "exercises" names {", ".join(unknown)}, which the notebook does not have.')
    about: dict[str, Json] = {"id": chapter, "title": _title(notebook) or chapter, "needs": list(needs)}
    about |= _amounts(metadata, where, minutes=math.inf, deep_minutes=math.inf)
    described_exercises = [_exercise(notebook, one, exercises.get(one, {}), where) for one in notebook.exercises()]
    return {**about, "exercises": described_exercises}


def _exercise(notebook: Notebook, name: str, metadata: Json, where: str) -> dict[str, Json]:
    if not isinstance(metadata, Mapping):
        raise CourseError(f'{where}: the entry of {name} in "exercises" must be an object.')
    graded = next((c for c in notebook.cells if c.role == "check" and c.grade_id == f"check_{name}"), None)
    points = graded.points if graded is not None and graded.points is not None else 0.0
    amounts = _amounts(metadata, f"{where}, {name}", stars=STARS, minutes=math.inf, importance=IMPORTANCE)
    return {"name": name, "points": points, "cell": notebook.anchor(name), **amounts}


def _amounts(metadata: Mapping[str, Json], where: str, **most: float) -> dict[str, int]:
    amounts = {}
    for key, largest in most.items():
        value = metadata.get(key)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= largest:
            upto = f" to {number(largest)}" if math.isfinite(largest) else " on"
            raise CourseError(f'{where}: "{key}" is {value!r}, but must be a whole number from 1{upto}.')
        amounts[key] = value
    return amounts


def _title(notebook: Notebook) -> str:
    lines = (line for cell in notebook.cells if cell.kind == "markdown" for line in cell.source.splitlines())
    return next((line.removeprefix("# ").strip() for line in lines if line.startswith("# ")), "")


def map_of(data: Mapping[str, Json]) -> dict[str, Json]:
    """Return the map as notebook JSON. ``data`` is the result of ``described``."""
    chapters = data["chapters"]
    minutes = sum(chapter.get("minutes", 0) for chapter in chapters)
    hours = f", about {pluralize(round(minutes / 60), 'hour')}" if minutes else ""
    amount = f"{pluralize(len(chapters), 'chapter')}{hours}."
    used = {key for chapter in chapters for part in (chapter, *chapter["exercises"]) for key in part}
    signs = " ".join(sentence for key, sentence in _SIGNS.items() if key in used)
    texts = [f"# {data['title']}\n\n{amount} {_HOW} {signs}".rstrip() + f"\n\n{_overview(chapters)}", _PROGRESS]
    cells = [_cell("markdown", f"map-{place}", text) for place, text in enumerate(texts)]
    cells.append(_cell("code", "progress", "from autograder import check\n\ncheck()"))
    cells.append(_cell("markdown", "map-exercises", "\n\n".join(["## The exercises", *map(_table, chapters)])))
    return new_notebook(*cells)


def _cell(kind: str, name: str, source: str) -> dict[str, Json]:
    extra: dict[str, Json] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "id": name, "metadata": {}, **extra, "source": source}


def _overview(chapters: Sequence[Mapping[str, Json]]) -> str:
    titles = {chapter["id"]: chapter["title"] for chapter in chapters}
    rows = []
    for chapter in chapters:
        needs = ", ".join(_short(titles.get(name, name)) for name in chapter["needs"])
        minutes, deep = chapter.get("minutes", 0), chapter.get("deep_minutes", 0)
        times = [_time(minutes) if minutes else "", _time(minutes + deep) if deep else ""]
        worth = number(math.fsum(exercise["points"] for exercise in chapter["exercises"]))
        rows.append([_link(chapter), needs, *times, str(len(chapter["exercises"])), worth])
    return _rows(["chapter", "after", "time", "with *Deep*", "exercises", "points"], rows)


def _table(chapter: Mapping[str, Json]) -> str:
    rows = []
    for exercise in chapter["exercises"]:
        importance = exercise.get("importance", 0)
        dots = "●" * importance + "○" * (IMPORTANCE - importance) if importance else ""
        time = f"{exercise['minutes']} min" if "minutes" in exercise else ""
        place = f"#cell-id={exercise['cell']}" if exercise["cell"] else ""
        name = f"[`{exercise['name']}`]({chapter['id']}/{chapter['id']}.ipynb{place})"
        rows.append([name, "★" * exercise.get("stars", 0), dots, time, number(exercise["points"])])
    return f"### {_link(chapter)}\n\n" + _rows(["exercise", "level", "importance", "time", "points"], rows)


def _rows(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table without empty columns."""
    columns = [i for i, _ in enumerate(heads) if any(row[i] for row in rows)]
    lines = [[heads[i] for i in columns], [":--"] * len(columns), *([row[i] for i in columns] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _link(chapter: Mapping[str, Json]) -> str:
    title = chapter["title"].replace("[", "\\[").replace("]", "\\]").replace("|", "\\|")
    return f"[{title}]({chapter['id']}/{chapter['id']}.ipynb)"


def _short(title: str) -> str:
    """Return a chapter's number if its title begins with one, else its title."""
    first = title.partition(" ")[0].strip("·.:")
    return first if first.isdigit() else title.replace("|", "\\|")


def _time(minutes: int) -> str:
    hours, rest = divmod(minutes, 60)
    return f"{hours} h" + (f" {rest} min" if rest else "") if hours else f"{rest} min"

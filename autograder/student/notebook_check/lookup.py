"""Find the examples that belong to the current notebook, and the exercise that is meant."""

from __future__ import annotations

import ast
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from autograder.student.examples import EXAMPLES_NAME, Examples, ExamplesError, ExerciseExamples, load_examples
from autograder.student.notebook_check.front_end import CheckProblem

__all__ = [
    "Target", "asks_for", "cell_that_makes", "find_chapter", "find_examples", "find_exercise", "folders_of", "usage",
]  # fmt: skip


_MAX_BYTES = 64 * 2**20
MAX_SHOWN = 60  # characters of a cell's first line


def asks_for(chapter: str, names: Mapping[str, Any], exercise: str) -> bool:
    """Whether the notebook has a graded cell for ``exercise``."""
    return any(grade_id == f"check_{exercise}" for grade_id, _ in _cells(chapter, names))


def cell_that_makes(name: str, chapter: str, names: Mapping[str, Any]) -> str:
    """The first line of the first cell in which ``name`` is defined, imported or given a value; empty where none is found."""
    for _, source in _cells(chapter, names):
        if name in source and name in _names_defined_in(source):
            lines = (line.strip() for line in source.splitlines())
            return next((line for line in lines if line and not line.startswith("#")), "")[:MAX_SHOWN]
    return ""


def _names_defined_in(source: str) -> set[str]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return set()
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
            continue
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                found.add(inner.id)
            elif isinstance(inner, ast.alias):
                found.add((inner.asname or inner.name).partition(".")[0])
    return found


def _cells(chapter: str, names: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The grade id and the source of each code cell, as it was saved last; none where the notebook is not found."""
    said = [os.environ.get("JPY_SESSION_NAME", ""), names.get("__vsc_ipynb_file__", ""), f"{chapter}.ipynb"]
    for path in (Path(path) for path in said if isinstance(path, str) and path.endswith(".ipynb")):
        try:
            if path.stat().st_size > _MAX_BYTES:
                continue
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue
        for cell in cells if isinstance(cells, list) else []:
            if isinstance(cell, dict) and cell.get("cell_type") == "code":
                source, metadata = cell.get("source", ""), cell.get("metadata")
                text = "".join(map(str, source)) if isinstance(source, list) else str(source)
                about = metadata.get("nbgrader") if isinstance(metadata, dict) else None
                yield str(about.get("grade_id", "")) if isinstance(about, dict) else "", text
        return


COURSE_MARK = "course_config.py"
MAX_WAIT = 300  # seconds; a first run records every visible check of the chapter

Target = Callable[..., Any] | str
_loaded: dict[tuple[str, int], Examples] = {}
_made: dict[Path, float] = {}


def find_examples(names: Mapping[str, Any] | None = None) -> Examples:
    """The examples beside the notebook, or made from the course around it; raises ``CheckProblem`` where there are none."""
    return find_chapter(names)[0]


def find_chapter(names: Mapping[str, Any] | None = None) -> tuple[Examples, Path]:
    """The examples of the notebook at hand, and the folder that it lies in; raises ``CheckProblem`` where there are none."""
    folders = folders_of(names or {})
    for folder in folders:
        path = folder / EXAMPLES_NAME
        if path.is_file():
            return _load(path), folder
    for folder in folders:
        course = next((f for f in (folder, *folder.parents) if (f / COURSE_MARK).is_file()), None)
        if course is not None and (course / "source" / folder.name / f"{folder.name}.ipynb").is_file():
            return _load(_made_examples(course, folder.name)), folder
    raise CheckProblem(
        f"There is no {EXAMPLES_NAME} in {folders[0]}. The checks look for it beside the notebook: keep the two files "
        "together in one folder, as they were handed out, and restart the kernel if the notebook was moved. Your work is safe: "
        "if the file is lost, fetch the chapter again into another folder and copy it here."
    )


def find_exercise(target: Any, names: Mapping[str, Any], examples: Examples, verb: str = "check") -> ExerciseExamples:
    """The exercise that ``target``, a function or a name, stands for; raises ``CheckProblem`` with a suggestion."""
    exercises = examples.exercises
    if isinstance(target, str):
        if target in exercises:
            return exercises[target]
        raise CheckProblem(_unknown(target, names, examples, verb))
    is_class = isinstance(target, type) and any(
        e.kind == "class" and (names.get(name) is target or name == target.__name__) for name, e in exercises.items()
    )
    if (isinstance(target, type) and not is_class) or not callable(target):
        raise CheckProblem(_not_a_function(target, names, examples, verb))
    own = getattr(target, "__name__", "")
    bound = [name for name in exercises if names.get(name) is target]
    if own in exercises and (own in bound or not bound):
        return exercises[own]
    if bound:
        return exercises[bound[0]]
    raise CheckProblem(_unknown(own or type(target).__name__, names, examples, verb))


def folders_of(names: Mapping[str, Any]) -> list[Path]:
    """Where the notebook may lie: the current folder, or, after an ``os.chdir``, where the front end says it is."""
    named = [os.environ.get("JPY_SESSION_NAME", ""), names.get("__vsc_ipynb_file__", "")]
    beside = [Path(path).parent for path in named if isinstance(path, str) and Path(path).suffix == ".ipynb"]
    return list(dict.fromkeys([Path.cwd(), *(folder for folder in beside if folder.is_dir())]))


def _load(path: Path) -> Examples:
    key = (str(path), path.stat().st_mtime_ns)
    if key not in _loaded:
        try:
            _loaded[key] = load_examples(path)
        except ExamplesError as error:
            raise CheckProblem(str(error)) from None
    return _loaded[key]


def _made_examples(course: Path, chapter: str) -> Path:
    path = course / ".autograder" / "examples" / f"{chapter}.json"
    # Not the notebook: its owner saves it every minute, and no example comes from a student's cells.
    sources = [*(course / "tests" / "chapters").glob("*.py"), *(course / "solutions").rglob("*.py")]
    newest = max((source.stat().st_mtime for source in sources if source.is_file()), default=0.0)
    if _made.get(path, -1.0) >= newest or (path.is_file() and path.stat().st_mtime >= newest):
        return path
    command = [sys.executable, "-m", "autograder", "examples", chapter]
    by_hand = f"Run `python -m autograder examples {chapter}` in a terminal, in {course}, to see why."
    if sys.platform == "emscripten":
        raise CheckProblem(f"There is no {EXAMPLES_NAME} beside this notebook, and a browser cannot make one.")
    import subprocess  # noqa: PLC0415 - a browser has no processes, and everyone else seldom needs one here

    print(f"Preparing the examples of {chapter}: once, a few seconds …", flush=True)  # noqa: T201 - the student sees why it takes long
    try:
        done = subprocess.run(command, cwd=course, capture_output=True, text=True, timeout=MAX_WAIT, check=False)
    except subprocess.TimeoutExpired:
        raise CheckProblem(f"The examples of {chapter} were not made within {MAX_WAIT} seconds. {by_hand}") from None
    except OSError as error:
        raise CheckProblem(f"The examples of {chapter} could not be made: {error}. {by_hand}") from None
    if done.returncode != 0 or not path.is_file():
        lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        reason = lines[-1][:300].rstrip(".") if lines else f"the command ended with status {done.returncode}"
        raise CheckProblem(f"The examples of {chapter} could not be made: {reason}. {by_hand}")
    _made[path] = newest
    return path


def _unknown(name: str, names: Mapping[str, Any], examples: Examples, verb: str) -> str:
    for exercise in examples.exercises.values():
        if any(isinstance(names.get(answer), str) and names[answer] == name for answer in exercise.answers):
            right = usage(exercise, verb)
            return f"{verb} was given the text of an answer. Write {right}, with the exercise's name in quotes."
    known = list(examples.exercises)
    near = get_close_matches(name, known, 1, 0.6)
    if not near and asks_for(examples.chapter, names, name):
        return (
            f"This notebook asks for `{name[:60]}`, and the {EXAMPLES_NAME} beside it does not know it: the two are from different "
            f"releases. Fetch the chapter again into another folder and copy its {EXAMPLES_NAME} here; your notebook stays as it is."
        )
    where = f"No exercise of {examples.chapter} is called `{name[:60]}`."
    if near:
        return f"{where} Did you mean {usage(examples.exercises[near[0]], verb)}?"
    return f"{where} The exercises here are: {', '.join(known)}."


def _not_a_function(value: Any, names: Mapping[str, Any], examples: Examples, verb: str) -> str:
    sample = next(iter(examples.exercises.values()), None)
    example = f", for example {usage(sample, verb)}" if sample is not None else ""
    owner = next((name for name in examples.exercises if name in names and names[name] is value), None)
    if owner is not None:
        kind = "a class" if isinstance(value, type) else f"a value of type {type(value).__name__}"
        return f"`{owner}` is now {kind}, and no function any more. Run the cell that defines `def {owner}(…)` again."
    if value is None:
        return (
            f"{verb} was given None, which is what a function without a `return` gives. Name the function itself, "
            f"without calling it{example}."
        )
    kind = f"the class {value.__name__}" if isinstance(value, type) else f"a value of type {type(value).__name__}"
    return f"{verb} was given {kind}, not a function. Name the function itself, without calling it{example}."


def usage(exercise: ExerciseExamples, verb: str) -> str:
    """How to write ``check`` or ``hint`` of an exercise: with the function, or with its name where there is none."""
    return f'{verb}("{exercise.name}")' if exercise.kind == "answers" else f"{verb}({exercise.name})"

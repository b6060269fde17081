"""Find the examples for the current notebook, the exercise that the student means, and the cells that define a name."""

from __future__ import annotations

import inspect
import json
import linecache
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from types import FunctionType, TracebackType
from typing import NamedTuple

from autograder.base import attempt
from autograder.base.foreign import Json, Value
from autograder.sandbox.guest import drawing
from autograder.student.examples import EXAMPLES_NAME, Examples, ExamplesError, ExerciseExamples, load_examples
from autograder.student.notebook_check.front_end import CheckProblem, show_figures

__all__ = [
    "Target", "asks_for", "cell_to_run", "find_chapter", "find_exercise", "folders_of", "follow_cells", "outdated",
    "saved_notebook", "source_folder", "usage",
]  # fmt: skip


_MAX_BYTES = 64 * 2**20
MAX_SHOWN = 60  # characters of a cell's first line
_SLOW_SAVE = 30  # seconds after a run during which a slow computer may still save an earlier version


class _Cell(NamedTuple):
    """A code cell as last saved in the notebook ``path``, the time of the save, and the cell below it."""

    path: Path
    key: str
    grade_id: str
    source: str
    saved: float
    below: Json


class _CellRun(NamedTuple):
    """One run of a cell. ``key`` is the cell's id, or a part of the cell's text that rarely changes."""

    key: str
    source: str
    failed: bool
    at: float


_runs: list[_CellRun] = []


def asks_for(chapter: str, names: Mapping[str, Value], exercise: str) -> bool:
    """Return whether the notebook has a graded cell for ``exercise``."""
    return any(cell.grade_id == f"check_{exercise}" for cell in _cells(chapter, names))


def cell_to_run(name: str, names: Mapping[str, Value], chapter: str = "", running: str = "") -> str:
    """Return a sentence that says which cell defines ``name``, or ``""``. The cell with the source ``running`` is ignored."""
    for cell in _cells(chapter or Path.cwd().name, names):
        if name in cell.source and cell.source != running and name in (attempt.defined_names(cell.source) or ()):
            first = cell.source.partition("\n")[0][:MAX_SHOWN].rstrip()
            others = "or all cells above this one (Run › Run All Above Selected Cell)"
            return f"`{name}` is defined in the cell that begins `{first}`. Run that cell first, {others}."
    return ""


def _cells(chapter: str, names: Mapping[str, Value]) -> Iterator[_Cell]:
    """Yield each code cell of the notebook file, or nothing if the file is not found."""
    names_of_files = [os.environ.get("JPY_SESSION_NAME", ""), names.get("__vsc_ipynb_file__", ""), f"{chapter}.ipynb"]
    for path in (Path(path) for path in names_of_files if isinstance(path, str) and path.endswith(".ipynb")):
        try:
            if path.stat().st_size > _MAX_BYTES:
                continue
            cells, saved = json.loads(path.read_text(encoding="utf-8"))["cells"], path.stat().st_mtime
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue
        cells = cells if isinstance(cells, list) else []
        for cell, below in zip(cells, [*cells[1:], None], strict=True):
            if isinstance(cell, dict) and cell.get("cell_type") == "code":
                source, metadata = cell.get("source", ""), cell.get("metadata")
                text = ("".join(map(str, source)) if isinstance(source, list) else str(source)).strip()
                nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
                grade_id = str(nbgrader.get("grade_id", "")) if isinstance(nbgrader, dict) else ""
                yield _Cell(path.absolute(), str(cell.get("id")), grade_id, text, saved, below)
        return


def follow_cells() -> None:
    """Record each cell that IPython runs from now on, and explain a missing name if another cell of the notebook defines it."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None:
        return
    shell.events.register("post_run_cell", _remember)
    if not shell.custom_exceptions:
        shell.set_custom_exc((NameError,), _explain_name)
    drawing.explain_missing = lambda _name: cell_to_run(_name, shell.user_ns)
    drawing.show_figures = _show_described


def _show_described(draw: Value) -> None:
    """Show the open figures, described by the text below the cell that defines ``draw``."""
    from autograder.course.notebook import picture_in_words  # noqa: PLC0415 - only needed for pictures

    cells = (cell for cell in _cells(Path.cwd().name, draw.__globals__) if f"def {draw.__name__}(" in cell.source)
    show_figures(next((picture_in_words(cell.below) for cell in cells), ""))


def _remember(result: Value) -> None:
    if source := result.info.raw_cell.strip():
        key = getattr(result.info, "cell_id", None) or _topic(source)
        _runs.append(_CellRun(key, source, not result.success, time.time()))


def _topic(source: str) -> str:
    """Return the first docstring, definition or variable of a cell. It identifies a cell whose id is unknown, as in a browser."""
    patterns = r'"""\s*(\S.*)', r"^(?:def|class)\s+(\w+)", r"^(\w+)\s*="
    matches = (re.search(pattern, source, re.MULTILINE) for pattern in patterns)
    return next((match[1] for match in matches if match), source)


def _explain_name(shell: Value, kind: type, error: NameError, tb: TracebackType, tb_offset: int | None = None) -> None:
    """Show one sentence instead of the traceback if a cell uses, at its top level, a name that another cell defines."""
    last = tb
    while last.tb_next is not None:
        last = last.tb_next
    if last.tb_frame.f_globals is shell.user_ns and last.tb_frame.f_code.co_name == "<module>":
        running, name = "".join(linecache.getlines(last.tb_frame.f_code.co_filename)).strip(), error.name or ""
        quoted = any(cell.source == f'check("{name}")' for cell in _cells(Path.cwd().name, shell.user_ns))
        in_quotes = f'Write the name in quotes, as in `check("{name}")`.' if quoted else ""
        if sentence := in_quotes or cell_to_run(name, shell.user_ns, running=running):
            error._render_traceback_ = lambda: [sentence]  # type: ignore[attr-defined]
    shell.showtraceback((kind, error, tb), tb_offset=tb_offset, running_compiled_code=True)


def outdated(exercise: ExerciseExamples, names: Mapping[str, Value], chapter: str) -> str:
    """Return a sentence if the notebook's ``exercise`` was defined by an earlier version of its cell, or else ``""``.

    The result is also ``""`` outside of IPython, and for cells that ran before ``follow_cells`` was called.
    """
    name, text = exercise.name, _cell_of(names.get(exercise.name))
    if exercise.kind == "answers":
        ran = [r for r in _runs if not r.failed and any(attempt.defines(a, r.source) for a in exercise.answers)]
    else:
        ran = [run for run in _runs if run.source == text]
    newest = {run.key: run for run in _runs}
    if ran and all(newest[run.key].source != run.source for run in ran):
        return f"{_what_happened(name, newest[ran[-1].key])}, so `{name}` is still your earlier version: correct the cell, run it, and check again."
    for cell in _cells(chapter, names):
        run = newest.get(cell.key) or (newest.get(_topic(cell.source)) if cell.grade_id == name else None)
        if run in ran and cell.saved > run.at and not attempt.same_code(cell.source, run.source):
            earlier = any(r.key == run.key and attempt.same_code(r.source, cell.source) for r in _runs)
            if not earlier or cell.saved > run.at + _SLOW_SAVE:
                return f"You have changed the cell of `{name}` since you last ran it: run the cell, and check again."
    return ""


def saved_notebook(exercise: ExerciseExamples, names: Mapping[str, Value], chapter: str) -> Path:
    """Return the path of the notebook. Raises ``CheckProblem`` if the saved file is unknown or has other code for ``exercise``."""
    name, ran = exercise.name, _cell_of(names.get(exercise.name))
    cell = next((cell for cell in _cells(chapter, names) if cell.grade_id == name), None)
    if cell is None or (ran and not attempt.same_code(cell.source, ran)):
        found = "is different in" if cell is not None else "is missing from"
        raise CheckProblem(f"Save the notebook, then check again: the cell of `{name}` {found} the saved file.")
    return cell.path


def source_folder(folder: Path) -> Path | None:
    """Return the source folder of the course that contains ``folder``, or None, as on a learner's computer."""
    return next((f for f in (folder, *folder.parents) if (f / COURSE_MARK).is_file()), None)


def _what_happened(name: str, run: _CellRun) -> str:
    made = attempt.defined_names(run.source)
    if attempt.parsed(run.source) is None:
        return f"Python could not parse the cell of `{name}` (a SyntaxError)"
    if made is not None and name not in made and not run.failed:
        instead = f" now defines `{', '.join(sorted(made))}` instead" if made else " no longer defines it"
        return f"The cell of `{name}`{instead}"
    return f"The cell of `{name}` stopped with an error"


def _cell_of(function: Value) -> str:
    """Return the source of the cell that defined a function or class, or ``""`` if it is unknown."""
    if isinstance(function, type):
        function = next((part for part in vars(function).values() if isinstance(part, FunctionType)), function)
    code = getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None
    return "".join(linecache.getlines(code.co_filename)).strip() if code is not None else ""


COURSE_MARK = "course_config.py"
MAX_WAIT = 300  # seconds. The first run records all visible checks of the chapter.

Target = Callable[..., Value] | str
_loaded: dict[tuple[str, int], Examples] = {}
_generated: dict[Path, float] = {}  # the modification time of the newest source, by the path of the examples file


def find_chapter(names: Mapping[str, Value] | None = None) -> tuple[Examples, Path]:
    """Return the examples for the notebook, and the notebook's folder.

    The examples are next to the notebook. In a course folder, they are generated. Raises ``CheckProblem`` if there are none.
    """
    folders = folders_of(names or {})
    for folder in folders:
        path = folder / EXAMPLES_NAME
        if path.is_file():
            return _load(path), folder
    for folder in folders:
        course = source_folder(folder)
        if course is not None and (course / "source" / folder.name / f"{folder.name}.ipynb").is_file():
            return _load(_generate_examples(course, folder.name)), folder
    raise CheckProblem(
        f"There is no {EXAMPLES_NAME} in {folders[0]}. It must be in the same folder as the notebook. "
        "If you moved the notebook, restart the kernel. If the file is lost, your work is safe: "
        "download the chapter again into another folder and copy the file here."
    )


def find_exercise(
    target: Value, names: Mapping[str, Value], examples: Examples, verb: str = "check"
) -> ExerciseExamples:
    """Return the exercise for ``target``, a function or a name. Raises ``CheckProblem`` with a suggestion if there is none."""
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


def folders_of(names: Mapping[str, Value]) -> list[Path]:
    """Return the possible folders of the notebook: the current folder, which ``os.chdir`` may have changed, and the folder that the front end reports."""
    named = [os.environ.get("JPY_SESSION_NAME", ""), names.get("__vsc_ipynb_file__", "")]
    reported = [Path(path).parent for path in named if isinstance(path, str) and Path(path).suffix == ".ipynb"]
    return list(dict.fromkeys([Path.cwd(), *(folder for folder in reported if folder.is_dir())]))


def _load(path: Path) -> Examples:
    key = (str(path), path.stat().st_mtime_ns)
    if key not in _loaded:
        try:
            _loaded[key] = load_examples(path)
        except ExamplesError as error:
            raise CheckProblem(str(error)) from None
    return _loaded[key]


def _generate_examples(course: Path, chapter: str) -> Path:
    path = course / ".autograder" / "examples" / f"{chapter}.json"
    # Ignore the notebook. It is saved all the time, and no example depends on it.
    sources = [*(course / "tests" / "chapters").glob("*.py"), *(course / "solutions").rglob("*.py")]
    newest = max((source.stat().st_mtime for source in sources if source.is_file()), default=0.0)
    if _generated.get(path, -1.0) >= newest or (path.is_file() and path.stat().st_mtime >= newest):
        return path
    command = [sys.executable, "-m", "autograder", "examples", chapter]
    by_hand = f"Run `python -m autograder examples {chapter}` in a terminal, in {course}, to see why."
    if sys.platform == "emscripten":
        raise CheckProblem(f"There is no {EXAMPLES_NAME} next to this notebook, and a browser cannot create it.")
    import subprocess  # noqa: PLC0415 - not available in a browser, and rarely needed elsewhere

    print(f"Preparing the examples of {chapter}. This happens once and takes a few seconds …", flush=True)  # noqa: T201 - explains the delay
    try:
        process = subprocess.run(command, cwd=course, capture_output=True, text=True, timeout=MAX_WAIT, check=False)
    except subprocess.TimeoutExpired:
        raise CheckProblem(f"The examples of {chapter} were not ready within {MAX_WAIT} seconds. {by_hand}") from None
    except OSError as error:
        raise CheckProblem(f"The examples of {chapter} could not be created: {error}. {by_hand}") from None
    if process.returncode != 0 or not path.is_file():
        lines = [line.strip() for line in (process.stderr or process.stdout).splitlines() if line.strip()]
        reason = lines[-1][:300].rstrip(".") if lines else f"the command ended with status {process.returncode}"
        raise CheckProblem(f"The examples of {chapter} could not be created: {reason}. {by_hand}")
    _generated[path] = newest
    return path


def _unknown(name: str, names: Mapping[str, Value], examples: Examples, verb: str) -> str:
    for exercise in examples.exercises.values():
        if any(isinstance(names.get(answer), str) and names[answer] == name for answer in exercise.answers):
            right = usage(exercise, verb)
            return f"{verb} received the text of an answer. Write {right}, with the exercise's name in quotes."
    known = list(examples.exercises)
    near = get_close_matches(name, known, 1, 0.6)
    if not near and asks_for(examples.chapter, names, name):
        return (
            f"This notebook has the exercise `{name[:60]}`, but {EXAMPLES_NAME} does not: the two files are from different releases. "
            f"Download the chapter again into another folder and copy its {EXAMPLES_NAME} here. Your notebook stays unchanged."
        )
    where = f"{examples.chapter} has no exercise called `{name[:60]}`."
    if near:
        return f"{where} Did you mean {usage(examples.exercises[near[0]], verb)}?"
    return f"{where} The exercises here are: {', '.join(known)}."


def _not_a_function(value: Value, names: Mapping[str, Value], examples: Examples, verb: str) -> str:
    sample = next(iter(examples.exercises.values()), None)
    example = f", for example {usage(sample, verb)}" if sample is not None else ""
    owner = next((name for name in examples.exercises if name in names and names[name] is value), None)
    if owner is not None:
        kind = "a class" if isinstance(value, type) else f"a value of type {type(value).__name__}"
        return f"`{owner}` is now {kind}, not a function. Run the cell with `def {owner}(…)` again."
    kind = f"the class {value.__name__}" if isinstance(value, type) else f"a value of type {type(value).__name__}"
    got = "None, which a function without `return` returns" if value is None else f"{kind}, not a function"
    return f"{verb} got {got}. Name the function itself, without calling it{example}."


def usage(exercise: ExerciseExamples, verb: str) -> str:
    """Return the code that calls ``verb``, such as ``check``, for an exercise. The argument is the function or, for a quiz, the name."""
    return f'{verb}("{exercise.name}")' if exercise.kind == "answers" else f"{verb}({exercise.name})"

"""A course: its settings, its chapters, and the location of each chapter's files."""

from __future__ import annotations

import difflib
import importlib.util
import sys
import traceback
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Literal

from traitlets import Bool, Bunch, Dict, Enum, Float, Integer, List, TraitError, Unicode, validate
from traitlets.config import Config, Configurable
from traitlets.config.loader import PyFileConfigLoader

from autograder.base.errors import CourseError
from autograder.base.foreign import Value
from autograder.course.notebook import Notebook, at_home, load_source
from autograder.sandbox.protocol import Limits, TimeBudget

__all__ = [
    "AT_LEAST", "TARGETS", "Audience", "Course", "CourseError", "Limits", "Solutions", "chapter_of", "failure",
    "find_course", "load_config", "load_course", "run_module",
]  # fmt: skip

Audience = Literal["class", "self-learners"]
Solutions = Literal["never", "after passing", "after due"]

CONFIG_NAME = "course_config.py"
SEARCHES = 3  # the maximum number of searches for mistakes in one notebook, each limited to ``locate_seconds``
# The default audit targets that a chapter must meet before it is released.
TARGETS = {
    "hidden": 0.99,
    "visible": 0.9,
    "by_heart": 0.5,
    "misconceptions_visible": 0.97,
    "kinds": 0.95,
    "faults": 0.98,
}
# How many misconceptions, alternatives and hints an exercise must have by default: none, so that no course needs empty files.
AT_LEAST = {"misconceptions": 0, "alternatives": 0, "hints": 0}
_DAY = 86_400.0  # seconds: small enough for every clock and kernel limit
_TIMES = [f"{what}_seconds" for what in ("check", "call", "cell", "submission", "grader", "grader_processor")]
# The least and the greatest value of a setting, and what a message says about them. A smaller number of MiB was probably meant as GiB.
# The grader needs more memory, because NumPy, pandas and a chapter's checks take up to 256 MiB.
_RANGES = {
    **dict.fromkeys(_TIMES, (5e-324, _DAY, "a number of seconds above 0, and at most 86400 (a day)")),
    "locate_seconds": (0.0, _DAY, "a number of seconds from 0 (off) to 86400 (a day)"),
    "memory_mb": (64, 1 << 20, "a number of MiB from 64 to 1048576"),
    "grader_memory_mb": (512, 1 << 20, "a number of MiB from 512, which any grading needs, to 1048576"),
}
NEAR = 0.8  # two names with at least this similarity (0 to 1) count as spellings of the same name


class Course(Configurable):
    """A course folder, configured by its ``course_config.py``. docs/course-folder.md describes the files in it."""

    title = Unicode("", help="The course's title on pages and in messages.").tag(config=True)
    chapters = List(Unicode(), help="The chapter ids, in teaching order.").tag(config=True)
    packages = List(
        Unicode(), ["numpy", "matplotlib"], help="The packages that code may import besides the standard library."
    ).tag(config=True)
    disclosure = Enum(
        ["title", "message", "example"],
        "message",
        help="What feedback shows about a failed hidden check: only its title, its title and message, or both of these "
        "and the smallest example that fails.",
    ).tag(config=True)
    secret_file = Unicode(
        ".course_secret",
        help="The file with the secret from which hidden inputs are drawn. Never commit it. The environment "
        "variable AUTOGRADER_COURSE_SECRET takes precedence over this file.",
    ).tag(config=True)
    audience = Enum(
        ["class", "self-learners"],
        "class",
        help="The audience of a release: a class or self-learners. A class sees the right answer to a quiz after grading. Self-learners see it at once and can "
        "read solutions. `make lab`, `autograder start` and `autograder site` always release for self-learners.",
    ).tag(config=True)
    solutions = Enum(
        ["never", "after passing", "after due"],
        "never",
        help="When students of a class may read alternative solutions of an exercise: never, once their own solution passes, or "
        "once it passes in a release that was made after the due date in the gradebook. Until then, a release contains no solution.",
    ).tag(config=True)
    check_seconds = Float(10.0, help="How many seconds one call may take in a notebook.").tag(config=True)
    call_seconds = Float(5.0, help="How many seconds of processor time one call may take.").tag(config=True)
    cell_seconds = Float(10.0, help="How many seconds of processor time one cell may take.").tag(config=True)
    submission_seconds = Float(
        60.0,
        help="How many seconds one run of a notebook may take during grading, including the calls of the checks. All runs of "
        "a notebook together may take four times as long.",
    ).tag(config=True)
    redraw_pictures = Bool(
        default_value=False,
        help="Whether grading redraws the course's own pictures (cells tagged `picture`). By default, grading keeps the "
        "image in the student's notebook if the cell is unchanged. This is much faster, and no mark depends on the image.",
    ).tag(config=True)
    targets = Dict(
        dict(TARGETS),
        help="The shares, from 0 to 1, that a chapter's audit must reach before a release. `hidden`: mutants that at least one check kills. "
        "`visible`: mutants that a visible check kills. `misconceptions_visible`: misconceptions that fail a visible check. "
        "`kinds`: mutants that are wrong for only one input category and that at least one check kills. `faults`: programs that are "
        "wrong for some inputs and that at least one check kills. `by_heart`: the largest share of the points that one hard-coded "
        "answer may earn. Omitted shares keep their defaults.",
    ).tag(config=True)
    at_least = Dict(
        dict(AT_LEAST),
        help="How many `misconceptions`, `alternatives` and `hints` an exercise must have before its chapter can be released. An omitted key requires "
        "none. Alternatives are required only for functions. `autograder audit --suggest` suggests misconceptions.",
    ).tag(config=True)
    locate_seconds = Float(
        2.0,
        help="How many seconds of processor time the search for the line of an unnamed mistake may take in each "
        "exercise. The search starts after the notebook is marked. 0 turns it off.",
    ).tag(config=True)
    located = Enum(
        ["nothing", "line", "kind"],
        "kind",
        help="What feedback shows about the place of a mistake: nothing, its line, or its line and what to check there.",
    ).tag(config=True)
    resubmissions = Enum(
        ["latest", "best"],
        "latest",
        help="Which notebook counts if a student submits several: the last one, or the one with the best mark after late penalties.",
    ).tag(config=True)
    late_penalty = Dict(
        help="What a late submission loses. `per_day` is the share of its points (from 0 to 1) that it loses for each started day. "
        "`at_most` is the largest share that it can lose (default 1). Leave this empty for no penalty, or if you set your own plugin in c.AssignLatePenalties.plugin_class."
    ).tag(config=True)
    missing_marks = Enum(
        ["blank", "zero"],
        "blank",
        help="What an export writes for a missing submission: a blank cell, which changes nothing in the LMS, or 0 points.",
    ).tag(config=True)
    memory_mb = Integer(2048, help="How much memory a student's code may use, in MiB.").tag(config=True)
    grader_seconds = Float(
        300.0,
        help="How many seconds the grader itself may take for one notebook, in addition to the time that it allows the "
        "student's code. If the grader takes longer, it is stopped, and the notebook needs manual grading.",
    ).tag(config=True)
    grader_processor_seconds = Float(
        120.0,
        help="How many seconds of processor time the grader itself may use for one notebook. The student's code is not included.",
    ).tag(config=True)
    grader_memory_mb = Integer(
        4096, help="How much memory a grading process may use in total, in MiB. The student's code is not included."
    ).tag(config=True)

    def __init__(self, root: Path, config: Config) -> None:
        self.root = root  # set first, because the messages about invalid settings name it
        super().__init__(config=config)
        self.course_id = str(config.get("CourseDirectory", {}).get("course_id", "") or root.name)

    # A value out of range would stop each student's code before its first line, and the whole class would get 0 points.
    @validate(*_RANGES)  # type: ignore[untyped-decorator]
    def _check_range(self, proposal: Bunch) -> Value:
        least, most, wanted = _RANGES[proposal["trait"].name]
        if not least <= proposal["value"] <= most:
            self._refuse(proposal, wanted)
        return proposal["value"]

    @validate("targets")  # type: ignore[untyped-decorator]
    def _check_targets(self, proposal: Bunch) -> Value:
        self._require_numbers(proposal, TARGETS, 1, "shares")
        return {**TARGETS, **proposal["value"]}

    @validate("at_least")  # type: ignore[untyped-decorator]
    def _check_at_least(self, proposal: Bunch) -> Value:
        self._require_numbers(proposal, AT_LEAST, 100, "whole numbers")
        return {**AT_LEAST, **proposal["value"]}

    @validate("late_penalty")  # type: ignore[untyped-decorator]
    def _check_late_penalty(self, proposal: Bunch) -> Value:
        self._require_numbers(proposal, {"per_day": 0.0, "at_most": 1.0}, 1, "shares")
        if proposal["value"] and "per_day" not in proposal["value"]:
            self._refuse(proposal, "a dictionary with the key per_day")
        return proposal["value"]

    def _require_numbers(self, proposal: Bunch, known: Mapping[str, float], most: int, what: str) -> None:
        kinds = int | float if what == "shares" else int
        for name, number in proposal["value"].items():
            if name not in known:
                keys = ", ".join(known)
                self._refuse(proposal, f"a dictionary with only the keys {keys}, but it has the key {name!r}")
            if isinstance(number, bool) or not isinstance(number, kinds) or not 0 <= number <= most:
                found = f"{name!r} has the value {number!r}"
                self._refuse(proposal, f"a dictionary of {what} from 0 to {most}, but {found}")

    def _refuse(self, proposal: Bunch, wanted: str) -> None:
        name, value = proposal["trait"].name, proposal["value"]
        raise TraitError(f"c.Course.{name} in {self.root / CONFIG_NAME} is {value}. It must be {wanted}.")

    @property
    def limits(self) -> Limits:
        """The limits for one submission."""
        return Limits(
            call_seconds=self.call_seconds,
            cell_seconds=self.cell_seconds,
            submission_seconds=self.submission_seconds,
            memory_mb=self.memory_mb,
        )

    @property
    def notebook_seconds(self) -> float:
        """The time limit for grading one notebook: all its sessions, the searches for mistakes, and the grader itself."""
        own = self.grader_seconds + SEARCHES * self.locate_seconds
        return float(TimeBudget.FACTOR * self.submission_seconds + own)

    @property
    def notebook_processor_seconds(self) -> float:
        """The limit on the processor time that the grader itself uses for one notebook."""
        return float(self.grader_processor_seconds + SEARCHES * self.locate_seconds)

    def source(self, chapter: str) -> Path:
        """Return the path of the chapter's source notebook."""
        return self.root / "source" / chapter / f"{chapter}.ipynb"

    def checks(self, chapter: str) -> Path:
        """Return the path of the chapter's checks."""
        return self.root / "tests" / "chapters" / f"test_{chapter}.py"

    def state(self, *parts: str) -> Path:
        """Return a path in the folder for the framework's own files, which is never committed."""
        return self.root.joinpath(".autograder", *parts)

    def finished_chapters(self) -> list[str]:
        """Return the chapters, in order, that have both a notebook and checks."""
        return [c for c in self.chapters if self.source(c).is_file() and self.checks(c).is_file()]

    def require_chapter(self, chapter: str) -> str:
        """Return ``chapter``. Raises ``CourseError`` if the course has no such chapter or the chapter is not finished."""
        if chapter not in self.chapters:
            raise CourseError(
                f"There is no chapter {chapter!r} in {self.root / CONFIG_NAME}. The chapters are: {', '.join(self.chapters)}."
            )
        for path in (self.source(chapter), self.checks(chapter)):
            if not path.is_file():
                raise CourseError(f"Chapter {chapter!r} is not finished: there is no {path}.")
        return chapter

    def references(self, chapter: str) -> ModuleType:
        """Return the module with the chapter's reference solutions."""
        return self._module("solutions", chapter)

    def misconceptions(self, chapter: str) -> ModuleType:
        """Return the module with the chapter's misconceptions, or an empty module if there is no such file."""
        return self._module("solutions.misconceptions", chapter, required=False)

    def alternatives(self, chapter: str) -> ModuleType:
        """Return the module with the chapter's alternative solutions, or an empty module if there is no such file."""
        return self._module("solutions.alternatives", chapter, required=False)

    def _module(self, package: str, chapter: str, *, required: bool = True) -> ModuleType:
        path = self.root.joinpath(*package.split("."), f"{chapter}.py")
        name = f"{package}.{chapter}"
        loaded = sys.modules.get(name)
        if loaded is not None and Path(loaded.__file__ or "") == path:
            return loaded
        if not path.is_file():
            if not required:
                return ModuleType(name)
            raise CourseError(f"Chapter {chapter!r} has no {path.relative_to(self.root)} in {self.root}.")
        # A chapter imports earlier chapters as ``from solutions.ch1_… import softmax``.
        if str(self.root) not in sys.path:
            sys.path.insert(0, str(self.root))
        try:
            with at_home({"__file__": path}):
                return run_module(name, path)
        except CourseError:
            raise  # the message of a decorator is readable already
        except Exception as error:
            raise CourseError(f"{path} cannot be imported: {failure(error, path, self.root / 'solutions')}") from error


def run_module(name: str, path: Path) -> ModuleType:
    """Import the file ``path`` as the module ``name``, and return the module. It is added to ``sys.modules`` before its code runs."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None  # noqa: S101, PT018 - a .py path always has a loader
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def find_course(start: Path | None = None) -> Path | None:
    """Return the nearest folder at or above ``start`` (default: the current folder) that contains a ``course_config.py``, or None."""
    here = (start or Path.cwd()).resolve()
    return next((folder for folder in (here, *here.parents) if (folder / CONFIG_NAME).is_file()), None)


def load_course(start: Path | None = None) -> Course:
    """Return the course at or above ``start``. Raises ``CourseError`` if there is none or its configuration cannot be read."""
    root = find_course(start)
    if root is None:
        where = (start or Path.cwd()).resolve()
        raise CourseError(
            f"There is no {CONFIG_NAME} in {where} or in any folder above it. Run this command inside a course "
            "folder, or add --course FOLDER."
        )
    config = load_config(root / CONFIG_NAME)
    _refuse_unknown(root, config)
    try:
        return Course(root, config)
    except TraitError as error:
        why = str(error)
        raise CourseError(why if CONFIG_NAME in why else f"{root / CONFIG_NAME} cannot be used: {why}") from error


def chapter_of(notebook: Notebook, course: Course) -> str | None:
    """Return the chapter that an individual notebook belongs to, or None if unknown.

    It is the chapter in the metadata, else the chapter in the file name, else the chapter that shares the most named cells with the notebook.
    """
    if notebook.chapter in course.chapters:
        return notebook.chapter
    chapters: list[str] = course.chapters
    stem = notebook.path.stem if notebook.path else ""
    named = [chapter for chapter in chapters if chapter in stem]
    if named:
        return max(named, key=len)
    ids = {cell.grade_id for cell in notebook.cells if cell.grade_id}
    shared: Counter[str] = Counter()
    for chapter in course.finished_chapters():
        source = course.source(chapter)
        shared[chapter] = len(ids & {c.grade_id for c in _released(source, source.stat().st_mtime_ns).cells})
    [(best, most)] = shared.most_common(1) or [("", 0)]
    return best if most else None


@lru_cache(maxsize=64)
def _released(path: Path, _changed: int) -> Notebook:
    return load_source(path)[1]


def load_config(path: Path) -> Config:
    """Return the settings in the configuration file ``path``. Raises ``CourseError`` if the file cannot be run."""
    try:
        loaded: Config = PyFileConfigLoader(path.name, path=str(path.parent)).load_config()
    except (Exception, SystemExit) as error:
        raise CourseError(f"{path} cannot be read: {failure(error, path)}") from error
    return loaded


def _refuse_unknown(root: Path, config: Config) -> None:
    """Raise ``CourseError`` for a misspelled setting. traitlets would ignore it, and the default would be used silently."""
    path, known = root / CONFIG_NAME, Course.class_trait_names(config=True)
    for section in config:
        if section != "Course" and difflib.get_close_matches(section.lower(), ["course"], 1, NEAR):
            raise CourseError(f"{path} sets c.{section}, which has no effect. Did you mean c.Course?")
    for name in config.get("Course", {}):
        if name not in known:
            near = difflib.get_close_matches(name, known, 3, 0.6)
            advice = f"Did you mean {' or '.join(near)}?" if near else f"The settings are: {', '.join(sorted(known))}."
            raise CourseError(f"{path} sets c.Course.{name}, but there is no such setting. {advice}")


def failure(error: BaseException, path: Path, within: Path | None = None) -> str:
    """Describe an error of the course's own code in ``path`` on one line: its last location, its type and its message.

    Only locations in ``within`` count. By default, it is ``path``.
    """
    what = type(error).__name__
    if isinstance(error, SyntaxError):
        place, line, why = error.filename or "", error.lineno or 0, error.msg
    else:
        within = within or path
        places = [(f.filename, f.lineno or 0) for f in traceback.extract_tb(error.__traceback__)]
        ours = [place for place in places if Path(place[0]).is_relative_to(within)]
        (place, line), why = ours[-1] if ours else ("", 0), str(error)
    where = f"line {line}: " if place in {str(path), path.name} else f"{place}, line {line}: "
    return (where if line else "") + (f"{what}: {why.rstrip('.')}." if why else f"{what}.")

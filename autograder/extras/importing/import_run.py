"""Import a notebook for nbgrader or Otter into a course. Nothing is written unless the whole chapter works."""

from __future__ import annotations

import json
import keyword
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from autograder.base.files import write_atomically
from autograder.base.formatting import number, pluralize
from autograder.course.course import CONFIG_NAME, Course, load_course
from autograder.extras.importing.chapter import NewChapter, code_of, planned, program_of
from autograder.extras.importing.chapter_files import (
    checks_text,
    hidden_assertions,
    notebook_of_chapter,
    solutions_text,
)
from autograder.extras.importing.check_forms import AS_IT_IS, choose_forms, leave_out_failing, repair, run_in_process
from autograder.extras.importing.dependencies import files_of, modules_beside, packages_of
from autograder.extras.importing.pieces import AnswerCell, ImportRefusedError, ManualCell
from autograder.extras.importing.program import AsItIs
from autograder.extras.importing.source_notebook import original_of, read_source
from autograder.extras.new_exercise.configuration import with_chapter

__all__ = ["Imported", "import_notebook"]


@dataclass(frozen=True)
class Imported:
    """The result of importing a notebook: the chapter, the files that were written, and notes for the author.

    ``packages`` were added to the course's packages. ``mistakes`` contains the problems that a release would still report.
    """

    chapter: NewChapter
    files: Sequence[str]
    packages: Sequence[str]
    mistakes: Sequence[str]

    def __str__(self) -> str:
        return "\n".join(_told(self))


def import_notebook(course: Course, path: Path, name: str | None = None, *, unsafe_local: bool = False) -> Imported:
    """Import the notebook at ``path`` into ``course`` as the chapter ``name``, by default the file's name.

    The notebook's solutions and tests are run as in a release, in a sandbox unless ``unsafe_local``. Raises ``ImportRefusedError``
    if the notebook cannot be imported, and ``SandboxUnavailable`` if there is no sandbox. In both cases, nothing is written.
    """
    document = read_source(path)
    original = original_of(path, document)
    name = _chapter_name(course, path, name)
    first = planned(original, name)
    if not first.exercises:
        raise ImportRefusedError(_nothing_to_check(path, first))
    notes: list[str] = []
    beside = files_of(path, document, original.files, notes)
    packages = packages_of(course, program_of(original), beside, notes)
    configured = _configured(course, name, packages)
    with tempfile.TemporaryDirectory(prefix="autograder-import-") as folder:
        root = Path(folder).resolve() / "course"
        _copy_course(course, root)
        _put(root / CONFIG_NAME, configured)
        (root / "source" / name).mkdir(parents=True, exist_ok=True)
        for source, target in beside.items():
            _put(root / "source" / name / target, source.read_bytes())
        sources = json.dumps([code_of(piece) for piece in original.pieces])
        _put(root / AS_IT_IS, sources.encode("utf-8", "replace"))
        copy = load_course(root)
        ran = run_in_process("run_as_it_is", copy, name, unsafe_local=unsafe_local)
        chapter = planned(original, name, AsItIs(_places(ran["failed"]), _places(ran["stars"])))
        chapter.notes += [*notes, *(_MISSING.format(package) for package in ran["missing"])]
        chapter.modules = modules_beside(beside)
        if not chapter.exercises:
            raise ImportRefusedError(_nothing_runs(chapter, ran["missing"]))
        names = list(beside.values())
        mistakes = _made_to_work(chapter, names, copy, unsafe_local=unsafe_local)
        files = _files(chapter, names)
    files = {f"source/{name}/{target}": source.read_bytes() for source, target in beside.items()} | files
    _write(course, files, configured)
    return Imported(chapter, list(files), packages, mistakes)


_MISSING = "The notebook imports {0}, which is not installed here. Install it, add it to c.Course.packages, and import the notebook again."
_ROUNDS = 6  # the most attempts to repair the chapter


def _places(found: Mapping[str, Any]) -> dict[tuple[int, int], Any]:
    """Convert each key of a mapping from JSON, such as ``2:5``, to a pair of cell number and line number."""
    return {(int(origin), int(line)): value for key, value in found.items() for origin, line in [key.split(":")]}


def _made_to_work(chapter: NewChapter, beside: Sequence[str], copy: Course, *, unsafe_local: bool) -> list[str]:
    """Choose the forms of all checks, and leave out the parts that do not work. Return the problems that a release would still report.

    ``copy`` is a copy of the course, in which the chapter is tried.
    """
    for _ in range(_ROUNDS):
        _put_all(copy, _files(chapter, beside, every_way=True))
        tried = run_in_process("trial_failures", copy, chapter.name, unsafe_local=unsafe_local)
        if "error" not in tried or not leave_out_failing(
            chapter, tried["error"], _files(chapter, beside, every_way=True)
        ):
            break
    if "error" in tried:
        raise ImportRefusedError(
            f"The notebook's solutions and checks cannot be loaded: {tried['error']} Nothing was written."
        )
    choose_forms(chapter, tried["checks"])
    for _ in range(_ROUNDS):
        _put_all(copy, _files(chapter, beside))
        found = run_in_process("release_problems", copy, chapter.name, unsafe_local=unsafe_local)["mistakes"]
        cells, checks = notebook_of_chapter(chapter)["cells"], checks_text(chapter)
        # Repair cells first, because a failing cell may be the reason why exercises lose points.
        of_cells = [mistake for mistake in found if not mistake[0].startswith("tests/")]
        rest = [mistake for mistake in found if mistake not in of_cells]
        changed = [repair(chapter, cells, checks, *mistake) for mistake in of_cells]
        changed = changed if any(changed) else [repair(chapter, cells, checks, *mistake) for mistake in rest]
        if not any(changed):
            break
    return [f"{where}: {what}" if where else what for where, what, _ in found]


def _put_all(course: Course, files: Mapping[str, bytes]) -> None:
    for target, data in files.items():
        _put(course.root / target, data)


def _nothing_runs(chapter: NewChapter, missing: Sequence[str]) -> str:
    """Return a message that says why running the unchanged notebook left no exercise."""
    pieces = chapter.original.pieces
    errors = [(number, error) for (number, _), error in sorted(chapter.ran.failed.items())]
    errors = [e for e in errors if not e[1].startswith("not run")] or errors
    why = "".join(f"\n  - {left}" for left in chapter.left)
    advice = f" Install it ({', '.join(missing)}) and import the notebook again." if missing else ""
    first = f"{pieces[errors[0][0]].where}: {errors[0][1]}." if errors else "none of its tests passes."
    return f"The notebook's own solutions and tests do not run: {first}{advice} Nothing was written.{why}"


def _chapter_name(course: Course, path: Path, name: str | None) -> str:
    asked = name if name is not None else re.sub(r"\W+", "_", path.stem, flags=re.ASCII).strip("_")
    if name is None and asked[:1].isdigit():
        asked = f"ch{asked}"
    if not asked.isidentifier() or not asked.isascii() or keyword.iskeyword(asked):
        raise ImportRefusedError(
            f"{asked!r} cannot be the name of a chapter. The name is also used for Python files, so it may "
            "contain only letters, digits and _, and must not begin with a digit. Give another name with --chapter NAME. Nothing was written."
        )
    own = [course.source(asked), course.checks(asked), course.root / "solutions" / f"{asked}.py"]
    there = [str(p.relative_to(course.root)) for p in own if p.exists()]
    if there or asked in course.chapters:
        what = f"{there[0]} exists" if there else f"it is in c.Course.chapters in {CONFIG_NAME}"
        raise ImportRefusedError(
            f"The course already has a chapter {asked} ({what}). Give another name with --chapter NAME. Nothing was written."
        )
    return asked


def _nothing_to_check(path: Path, chapter: NewChapter) -> str:
    pieces = chapter.original.pieces
    answers = [piece for piece in pieces if isinstance(piece, AnswerCell)]
    if answers and not any(line.is_solution for answer in answers for line in answer.lines):
        return f"{path.name} has no solutions. Is it the students' version? Import the instructor's version. Nothing was written."
    by_hand = sum(isinstance(piece, ManualCell) for piece in pieces)
    hand = (
        f" nbgrader can grade the manually graded part ({pluralize(by_hand, 'cell')}) without this project."
        if by_hand
        else ""
    )
    why = "".join(f"\n  - {left}" for left in chapter.left)
    return f"{path.name} has nothing that code can check, but a chapter needs at least one exercise.{hand} Nothing was written.{why}"


# --- writing -------------------------------------------------------------------------------------------------------


def _files(chapter: NewChapter, beside: Sequence[str], *, every_way: bool = False) -> dict[str, bytes]:
    """Return the chapter's three files by their paths in the course."""
    name = chapter.name
    notebook = json.dumps(notebook_of_chapter(chapter), indent=1, ensure_ascii=False)
    return {
        f"source/{name}/{name}.ipynb": f"{notebook}\n".encode("utf-8", "replace"),
        f"solutions/{name}.py": solutions_text(chapter, beside).encode("utf-8", "replace"),
        f"tests/chapters/test_{name}.py": checks_text(chapter, every_way=every_way).encode("utf-8", "replace"),
    }


def _copy_course(course: Course, root: Path) -> None:
    """Copy to ``root`` the Python files that a chapter needs in order to run, and link the folders of the other chapters' notebooks."""
    ignored = shutil.ignore_patterns("__pycache__", ".*")
    root.mkdir()
    for path in course.root.glob("*.py"):
        shutil.copy(path, root)
    for folder in ("solutions", "tests/chapters"):
        if (course.root / folder).is_dir():
            shutil.copytree(course.root / folder, root / folder, ignore=ignored)
    (root / "source").mkdir()
    for chapter in course.chapters:
        if course.source(chapter).parent.is_dir():
            (root / "source" / chapter).symlink_to(course.source(chapter).parent)


def _configured(course: Course, name: str, packages: Sequence[str]) -> bytes:
    """Return the course's configuration with the chapter in its list, and packages added at the end.

    Raises ``CourseError`` if the file is written in a way that cannot be extended safely.
    """
    path = course.root / CONFIG_NAME
    text = with_chapter(course, path, path.read_text(encoding="utf-8"), name)
    added = [f'c.Course.packages.append("{package}")' for package in packages]
    return ("\n".join([text.rstrip("\n"), *added]) + "\n").encode()


def _put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _write(course: Course, files: Mapping[str, bytes], configured: bytes) -> None:
    """Write all files, and the configuration last. If a file cannot be written, remove the files written before it."""
    written: list[Path] = []
    try:
        for target, data in files.items():
            path = course.root / target
            path.parent.mkdir(parents=True, exist_ok=True)
            written.append(path)
            write_atomically(path, data)
        write_atomically(course.root / CONFIG_NAME, configured)
    except OSError:
        for path in written:
            path.unlink(missing_ok=True)
        raise


# --- reporting -----------------------------------------------------------------------------------------------------


def _told(imported: Imported) -> Iterator[str]:
    chapter = imported.chapter
    worth = sum((check.points for check in chapter.checks), Fraction(0))
    by_hand = [
        p.cell["metadata"]["nbgrader"].get("points") or 0 for p in chapter.original.pieces if isinstance(p, ManualCell)
    ]
    hand = sum(map(Fraction, by_hand), Fraction(0)) + sum(chapter.marked_by_hand.values(), Fraction(0))
    hand += sum((p for _, p in chapter.by_hand.values()), Fraction(0))
    count = len(chapter.exercises)
    yield (
        f"{chapter.name}: imported from a notebook for {chapter.original.tool}, {pluralize(count, 'exercise')} for "
        f"{pluralize(float(worth), 'point')}"
        + (f", and {number(float(hand))} more that are graded manually." if hand else ".")
    )
    for file in imported.files:
        yield f"  {file}"
    added = "".join(f", and {p} to c.Course.packages" for p in imported.packages)
    yield f"  {CONFIG_NAME}: {chapter.name} added to c.Course.chapters{added}"
    yield ""
    for exercise in chapter.exercises:
        checks = chapter.checks_of(exercise.name)
        seen = sum(check.visible for check in checks)
        own = sum((c.points for c in checks), Fraction(0))
        yield f"  {exercise.name}: {pluralize(float(own), 'point')}, {_checks(seen, 'visible')}, {_checks(len(checks) - seen, 'hidden')}"
    before, after = hidden_assertions(chapter)
    if before:
        yield ""
        lost = "" if after >= before else " The others are listed below."
        yield f"Hidden tests: {pluralize(before, 'assertion')} in the notebook, {after} in the checks.{lost}"
    for heading, items in (
        ("Not imported:", chapter.left),
        ("Notes:", chapter.notes),
        ("Problems that would stop a release:", imported.mistakes),
    ):
        if items:
            yield ""
            yield heading
            yield from (f"  - {item}" for item in dict.fromkeys(map(str, items)))
    yield ""
    if imported.mistakes:
        yield f"Fix these, then run: autograder release {chapter.name} --draft"
    else:
        yield f"The solutions earn full marks, and the blank notebook earns no points. Next: autograder release {chapter.name} --draft"


def _checks(count: int, kind: str) -> str:
    return pluralize(count, f"{kind} check")
